"""The bench of goals, small: what it gives, and that its figures can be."""

from __future__ import annotations

import pytest

from flexor.bench import goal
from flexor.errors import BackendMissing


@pytest.fixture
def no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise BackendMissing("not here")

    monkeypatch.setattr(goal, "NetPeer", missing)


@pytest.mark.slow
@pytest.mark.usefixtures("no_peer")
def test_names_and_figures() -> None:
    found = {one.name: one for one in goal.run(rounds=1, shots=300, watched=6)}
    assert list(found) == [
        "goal/frame",
        "goal/frame/balls",
        "goal/frame/net",
        "goal/frame/100",
        "goal/frame/100/threads",
        "goal/shots_wrong",
        "goal/shots/deepest",
        "goal/energy/rise",
        "goal/energy/left",
        "goal/rerun_differs",
    ]
    assert all(one.value >= 0 for one in found.values())
    assert found["goal/shots_wrong"].value == 0
    assert found["goal/rerun_differs"].value == 0
    assert 0.2 < found["goal/shots/deepest"].value < 1.3
    assert found["goal/energy/rise"].value < 0.1
    assert 0 < found["goal/energy/left"].value < 1
    assert "of 300: 0 not finite" in found["goal/shots_wrong"].note
