"""How far attacks reach."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.reaches import find_reach
from tests.api.stage_play import MOVES, fighters, play, run

ONE = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))  # where two nodes are


@pytest.mark.parametrize("far", [0.3, 0.7])
def test_a_ball_reaches_as_far_as_it_is_held(far: float) -> None:
    """A hand of 5 cm, a trunk of 20 cm as high, and an arm that is no target."""
    ends = np.zeros((3, 2, 3))
    ends[:, :, 1] = 1.2
    ends[2, :, 2] = 0.0, far
    volumes = HitVolumes(
        np.array([0, 1, 1]),
        ends,
        np.array([0.2, 0.05, 0.05]),
        ("chest", "leftHand", "a arm"),
    )
    strike = ONE.copy()
    strike[1, 2, 3] = far
    found = find_reach(volumes, np.array([1], np.int32), strike[None], ONE)
    assert found == pytest.approx(far + 0.25, abs=0.041)
    assert find_reach(volumes, np.array([], np.int32), strike[None], ONE) == 0
    high = strike.copy()
    high[1, 1, 3] = 5.0
    assert find_reach(volumes, np.array([1], np.int32), high[None], ONE) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["punch", "kick"])
def test_who_stands_within_reach_is_met(name: str) -> None:
    number = MOVES.index(name)
    button = {"punch": "B", "kick": "C"}[name]
    reach = float(play(fighters()).state.fights.reaches[0, number])
    assert 0.8 < reach < 1.5
    for apart in (0.8, 0.9 * reach):
        stage = play(fighters(apart=apart))
        run(stage, 50, {0: [button]})
        assert stage.energy[1] < 100
    stage = play(fighters(apart=reach + 0.45))
    run(stage, 50, {0: [button]})
    assert stage.energy[1] == 100
