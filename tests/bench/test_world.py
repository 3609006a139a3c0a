"""The bench of worlds, small: what it gives, and that its figures can be."""

from __future__ import annotations

import pytest

from flexor.bench import world


@pytest.mark.slow
@pytest.mark.usefixtures("made_once")
def test_names_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FRAMES", "WHOLE_FRAMES", "FIRST"):
        monkeypatch.setattr(world, name, 2)
    monkeypatch.setattr(world, "WIDE", (160, 90))
    monkeypatch.setattr(world, "GAME", (160, 90))
    found = {one.name: one for one in world.run(3, 12, 4)}
    names = []
    for base, memory in (
        ("world/3x12/frame720", "world/3x12/memory"),
        ("world/game960x540", "world/game/memory"),
    ):
        for kind in ("", "/whole"):
            names += [base + kind + part for part in ("", "/ticks", "/crowd")]
            names.append(f"{base}{kind}/drawing")
        names.append(memory)
    assert list(found) == names
    assert all(one.value > 0 for one in found.values())
    assert "15 shown" in found["world/3x12/frame720/whole"].note
    assert "5 shown" in found["world/game960x540/whole"].note
    assert "nodes" in found["world/game960x540"].note
