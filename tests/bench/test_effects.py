"""The bench of effects, small: what it gives, and that its figures can be."""

from __future__ import annotations

import pytest

from flexor.bench import effects


@pytest.mark.slow
def test_names_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "COUNTS", (500, 2000))
    found = {one.name: one for one in effects.run(rounds=1)}
    assert list(found) == [
        "effects/leaves500",
        "effects/leaves2000",
        "effects/leaves2000/threads1",
        "effects/leaves2000/quads",
        "effects/leaves2000/resting",
        "effects/leaves2000/resting/wind",
        "effects/snow500",
        "effects/snow2000",
        "effects/snow2000/threads1",
        "effects/snow2000/quads",
        "effects/churn20",
        "effects/churn20/quads",
        "effects/afterimages/keep",
        "effects/afterimages/draw",
        "effects/afterimages/transformed_again",
    ]
    assert found["effects/afterimages/transformed_again"].value == 0
    assert "0 afterimages are seen" not in found[
        "effects/afterimages/transformed_again"
    ].note.replace("40", "")
    resting = found["effects/leaves2000/resting"].value
    assert resting < found["effects/leaves2000"].value
