"""Cliffs, stairs and walls, and those who run at them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.scene.stage.ground import make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan, WalkSettings
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.movement.parry import push_back
from tests.api.stage_play import (
    DT,
    MOVES,
    play,
    run,
    walker,
)
from tests.api.stage_runs import cliff, go, runner

DASH = 30.0  # metres a second


@pytest.mark.slow
@pytest.mark.parametrize("buttons", ["right", "right+R", "right+R+up", "right+down"])
@pytest.mark.parametrize("cell", [0.1, 0.25, 0.5])
def test_nobody_runs_into_a_cliff(buttons: str, cell: float) -> None:
    stage = walker(cliff(2.0, cell))
    deep = []
    for _ in range(180):
        stage.step([buttons])
        deep.append(float(stage.state.footing.heights[0] - stage.places[0, 1]))
        assert stage.places[0, 1] < 0.1
    assert max(deep) <= 0.15
    assert 2 - cell - 0.6 < stage.places[0, 0] < 2
    if "+up" in buttons or "+down" in buttons:
        speed = 3.5 if "R" in buttons else 1.35
        along = speed * math.sqrt(0.5) * 175 * DT
        assert abs(stage.places[0, 2]) == pytest.approx(along, rel=0.1), "along it"


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, 0.5, -1.2])
def test_a_dash_does_not_jump_onto_a_cliff(angle: float) -> None:
    stage = runner(cliff(2.0))
    stage.headings[0] = math.pi / 2 + angle
    seen = go(stage, DASH, 0.0, 12)
    assert (seen[:, 0] < 2).all()
    assert (seen[:, 1] == 0).all()
    assert seen[-1, 0] > 1.3, "up to it"


@pytest.mark.slow
def test_pushes_and_slopes_do_not_lift_onto_a_cliff() -> None:
    stage = runner(cliff(2.0), moves=MOVES)
    stage.places[0, 0] = 1.2
    push_back(stage.state.fight.recoil, 0, (1.0, 0.0), 3.0, 12)
    seen = go(stage, 0.0, 0.0, 30)
    assert (seen[:, 1] == 0).all()
    assert seen[-1, 0] < 1.8
    patches = [
        Patch(area=(-12, -12, 0, 12), tilt=(-1.0, 0.0)),
        Patch(area=(1.5, -12, 12, 12), height=30),
    ]
    ground = shape_ground((24, 24), 0.25, patches)
    stage = runner(ground)
    stage.places[0] = (-4, 0, 0)
    go(stage, 0.0, 0.0, 1)
    stage.places[0, 1] = stage.state.footing.heights[0]
    seen = go(stage, 0.0, 0.0, 240)
    assert seen[:, 0].max() < 1.5
    assert np.abs(stage.state.slides).max() < 0.3, "the cliff takes its speed"


@pytest.mark.slow
@pytest.mark.parametrize(("high", "cell"), [(0.15, 0.25), (0.3, 0.1), (0.39, 0.02)])
@pytest.mark.parametrize("buttons", ["right", "right+R"])
def test_podiums_are_gone_up(high: float, cell: float, buttons: str) -> None:
    patch = Patch(area=(1, -3, 3, 3), height=high)
    stage = walker(shape_ground((6, 6), cell, [patch]))
    deep = 0.0
    for _ in range(100):
        stage.step([buttons])
        deep = max(deep, float(stage.state.footing.heights[0] - stage.places[0, 1]))
    assert stage.places[0, 0] > 1.5
    assert stage.places[0, 1] == pytest.approx(high)
    assert deep <= 0.15 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("buttons", ["right", "right+R"])
def test_stairs_are_gone_up_and_down(buttons: str) -> None:
    x = np.arange(-2, 9, 0.07)
    heights = 0.18 * np.clip(np.floor(x / 0.28), 0, 10)
    ground = make_ground(np.tile(heights, (2, 1)), (-2, -0.035), 0.07)
    stage = walker(ground)
    assert "steps" in dict(stage.state.rules)
    deep = 0.0
    for _ in range(240):
        stage.step([buttons])
        deep = max(deep, float(stage.state.footing.heights[0] - stage.places[0, 1]))
    assert stage.places[0, 1] == pytest.approx(1.8)
    assert deep <= 0.15 + 1e-9
    run(stage, 900, [buttons.replace("right", "left")])
    assert stage.places[0, 1] == pytest.approx(0)


@pytest.mark.slow
def test_who_goes_along_a_cliff_does_not_pass_a_wall() -> None:
    """The way that it wants goes past the end of a wall, and into the cliff."""
    thin = Structure(name="wall", ends=((0, 1.5), (1.62, 1.5)), thickness=0.02)
    own = Actor(name="one", radius=0.05, control="none", opponent="none")
    camera = CameraRule(rule="fixed")
    for structures, is_free in (((), True), ((thin,), False)):
        stage = play(
            StagePlan(
                cast=(own,), ground=cliff(2.0), camera=camera, structures=structures
            )
        )
        stage.places[0] = (1.2, 0, 1.2)
        stage.headings[0] = math.atan2(0.88, 0.47)
        seen = go(stage, 2 * DASH, 0.0, 5)
        assert (seen[:, 1] == 0).all()
        assert (seen[:, 2].max() > 1.5) == is_free


@pytest.mark.slow
def test_low_walls_of_ground_need_a_lower_step() -> None:
    walking = WalkSettings(step=0.1)
    stage = walker(cliff(0.15), walking=walking)
    run(stage, 150, ["right"])
    assert stage.places[0, 0] < 2


# Walls.


@pytest.mark.slow
def test_a_dash_does_not_pass_a_thin_wall() -> None:
    """Also one who went around it, and comes back from behind."""
    wall = Structure(name="wall", ends=((1, -2), (1, 2)), thickness=0.05)
    stage = runner(structures=(wall,))
    assert (go(stage, DASH, 0.0, 10)[:, 0] < 1).all()
    radius = float(stage.state.radii[0])
    assert stage.places[0, 0] == pytest.approx(1 - 0.025 - radius)
    go(stage, 0.0, 3.0, 60)  # along +z
    go(stage, 3.0, 0.0, 60)
    go(stage, 0.0, -3.0, 60)
    assert stage.places[0, 0] > 3
    assert abs(stage.places[0, 2]) < 0.1
    assert (go(stage, -DASH, 0.0, 20)[:, 0] > 1).all()
    assert stage.places[0, 0] == pytest.approx(1 + 0.025 + radius)


@pytest.mark.slow
def test_sliding_into_a_wall_stores_no_speed() -> None:
    """A slope along x pulls against a wall; nothing of it is left for later."""
    ground = make_ground(np.array([[20.0, -20.0]] * 2), (-20, -20), 40)
    zone = Zone(np.array([[-5.0, -5], [1, -5], [1, 5], [-5, 5]]), "in")
    stage = runner(ground, zones=(zone,))
    seen = go(stage, 0.0, 0.0, 180)
    assert seen[30, 0] > 0.3, "it slides"
    assert seen[-1, 0] == pytest.approx(1 - stage.state.radii[0])
    assert np.abs(stage.state.slides).max() < 1e-9
