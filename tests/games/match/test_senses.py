"""What opponents see: how old it is, walls in the way, and sticks that go somewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.games.match.senses import Senses, is_blocked, stick_toward
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan
from flexor.scene.stage.zone import Zone
from tests.api.stage_play import play

pytestmark = pytest.mark.slow


def alone(**more: object) -> Stage:
    own = Actor(name="one", heading=math.pi / 2, control="free", opponent="none")
    return play(StagePlan(**{"cast": (own,), **more}))  # type: ignore[arg-type]


def test_what_was_before_a_stage_was_set_back_is_forgotten() -> None:
    stage, senses = alone(), Senses(10)
    for tick in range(30):
        stage.step(["right"])
        senses.look(stage)
        assert senses.age == min(tick, 10)
    stage.restart()
    senses.look(stage)
    assert senses.age == 0
    assert senses.known.places[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("degrees", [0, 70, 145, 260])
def test_a_stick_goes_where_it_is_to(degrees: int) -> None:
    """Wherever the camera is."""
    turn = math.radians(degrees)
    wanted = math.sin(turn), math.cos(turn)
    stage = alone(camera=CameraRule(rule="fixed", eye=(3, 2, 1), target=(0, 1, 0)))
    for _ in range(60):
        stage.step([stick_toward(stage, *wanted)])
    gone = stage.places[0, [0, 2]]
    assert np.hypot(*gone) > 0.5
    np.testing.assert_allclose(gone / np.hypot(*gone), wanted, atol=0.1)
    assert stick_toward(stage, 0.0, 0.0) == 0


@pytest.mark.parametrize(
    ("x", "z", "expected"),
    [
        (3, 0, True),
        (0.5, 0, False),  # the wall is farther
        (-3, 0, False),  # and on the other side
        (3, 6, False),  # beside it
        (1.5, 0, True),  # in it
    ],
)
def test_walls_in_the_way(x: float, z: float, expected: bool) -> None:
    wall = Zone(np.array([[1.0, -1], [2, -1], [2, 1], [1, 1]]), "out", "wall")
    assert is_blocked(alone(zones=(wall,)), 0, x, z) == expected
    assert not is_blocked(alone(), 0, x, z)
