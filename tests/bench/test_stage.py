"""The bench of stages, small: what it gives, and that its figures can be."""

from __future__ import annotations

import pytest

from flexor.bench import stage

PLAYED = ("contacts", "foot_slide", "camera_near", "camera_outside", "camera_hidden")
PLAYED += (
    "limb_depth",
    "trunk_depth",
    "foot_depth",
    "outside",
    "broken",
    "parries_met",
)
PLAYED += ("parries_answered", "masher_wins")


@pytest.mark.slow
def test_names_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "TICKS", 40)
    monkeypatch.setattr(stage, "ROUNDS", 1)
    found = {
        one.name: one
        for one in stage.run((2,), replay=120, seeds=1, seconds=1, mashed=0)
    }
    rules = ("input", "falls", "moves", "pads", "circling", "slopes", "recoil", "apart")
    rules += ("zones", "standing", "attack", "motion", "effects", "camera", "view")
    assert list(found) == [
        "stage/tick/2",
        *(f"stage/tick/2/{rule}" for rule in rules),
        "stage/frame/2/skins",
        "stage/frame/2/shadows",
        "stage/not_needed/rest",
        "stage/not_needed/walk",
        "stage/replay_differs",
        *(f"stage/play/{name}" for name in PLAYED),
    ]
    assert found["stage/replay_differs"].value == 0
    parts = sum(found[f"stage/tick/2/{rule}"].value for rule in rules)
    assert found["stage/tick/2"].value == pytest.approx(parts)
    assert all(one.value > 0 for one in list(found.values())[:15])
