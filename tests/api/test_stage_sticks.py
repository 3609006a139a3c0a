"""Sticks in a played stage: half of one goes half as fast, and logs have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.files.text.input_log import read_log, write_log
from flexor.scene.stage.ground_shapes import shape_ground
from tests.api.stage_play import busy, fighters, play, presses, walker


def _far(held: str, ticks: int = 60) -> float:
    """Metres that one alone has gone in the second half of some ticks."""
    stage = walker(shape_ground((30, 30), 1.0))
    for tick in range(ticks):
        if tick == ticks // 2:
            before = stage.places[0].copy()
        stage.step([held])
    return float(np.linalg.norm(stage.places[0] - before))


@pytest.mark.slow
def test_half_a_stick_goes_half_as_far() -> None:
    for run in ("", "+R"):
        whole, stick = _far(f"right{run}"), _far(f"stick(1,0){run}")
        assert stick == whole
        half = _far(f"stick(0.5,0){run}")
        assert half / whole == pytest.approx(0.5, abs=0.01)
    stage = walker(shape_ground((30, 30), 1.0))
    stage.step(["right+stick(0,0)"])
    other = walker(shape_ground((30, 30), 1.0))
    other.step(["right"])
    assert stage.hash() == other.hash()


@pytest.mark.slow
def test_sticks_are_replayed(tmp_path: Path) -> None:
    stage, again = play(busy()), play(busy())
    chance = np.random.default_rng(3)
    stick = ""
    for tick, held in enumerate(presses(150, 3, 7)):
        if tick % 9 == 0:
            right, up = np.round(chance.uniform(-1, 1, 2), 2)
            stick = f"stick({right},{up})"
        stage.step([f"{held[0]}+{stick}" if held[0] else stick, held[1], held[2]])
    write_log(tmp_path / "match.log", stage.log)
    again.replay(read_log(tmp_path / "match.log"))
    assert again.hash() == stage.hash()
    np.testing.assert_array_equal(again.log.states, stage.log.states)


@pytest.mark.slow
def test_sticks_that_are_refused() -> None:
    stage = play(fighters())
    before = stage.hash()
    for wrong, text in (
        (["B+stick(nan,0)"], "stick: nan, expected -1 to 1"),
        (["stick(0,1.2)"], "stick: 1.2, expected -1 to 1"),
        (["stick(1)"], "expected such as"),
        ([0x80 << 16], "how far a stick is tilted"),
        ([1 << 32], "how far a stick is tilted"),
    ):
        with pytest.raises(SettingError, match=text):
            stage.step(wrong)
    assert stage.hash() == before
