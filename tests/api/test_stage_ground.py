"""Ground under a stage: heights, surfaces, falls, walls, feet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.scene.stage.ground import flat_ground, make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.settings import FrictionSettings
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.camera import CLEAR
from flexor.stage.movement.ground import find_footing, init_footing
from tests.api.stage_play import (
    DT,
    fighters,
    hero,
    node,
    play,
    run,
    strike,
    walker,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("button", "part", "hit", "end"),
    [("B", "rightHand", 14, 40), ("C", "rightFoot", 20, 58)],
)
def test_attacks_reach_up_and_down(button: str, part: str, hit: int, end: int) -> None:
    level, level_off, _ = strike(0.0, button, part)
    for high, most in ((0.1, 0.1), (-0.1, -0.1), (0.6, 0.15), (-0.6, -0.15)):
        seen, off, stage = strike(high, button, part)
        assert stage.places[:, 1].tolist() == [0, pytest.approx(high)]
        lift = seen - level
        ticks = np.arange(62)
        wanted = np.where(
            ticks < hit, most * ticks / hit, most * (end - ticks) / (end - hit)
        )
        wanted[end:] = 0
        # A straight arm cannot be lifted as far: the rest is told.
        is_near = np.linalg.norm(lift - wanted[:, None] * (0, 1, 0), axis=1)
        # A foot that is low is not lowered: it would be in the ground.
        is_up = level[:, 1] > 0.3
        most_off = np.where(wanted == 0, 0, off) + level_off + 2e-4
        assert (is_near <= most_off)[is_up].all()
        assert abs(lift[hit, 1] - most) < 0.01
        np.testing.assert_array_equal(seen[end:], level[end:])


@pytest.mark.slow
def test_nothing_is_lifted_while_one_is_in_the_air() -> None:
    level, _, _ = strike(0.0, "B", "rightHand")
    seen, _, stage = strike(0.0, "B", "rightHand", drop=40.0)
    assert not stage.state.standing.grounded[1]
    np.testing.assert_allclose(seen, level, atol=2e-6)


# Ground, walls.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "pace"), [("plain", 1.0), ("sand", 0.8), ("water", 0.6)]
)
def test_sand_and_water_slow_down(surface: str, pace: float) -> None:
    stage = walker(make_ground(np.zeros((2, 2)), (-50, -50), 100, surface))
    run(stage, 60, ["right"])
    speed = stage.plan.walking.walk
    before = stage.places[0].copy()
    run(stage, 60, ["right"])
    way = stage.places[0] - before
    np.testing.assert_allclose(way, [speed * pace, 0, 0], atol=1e-9)
    run(stage, 20, ["right+R"])
    before = stage.places[0].copy()
    run(stage, 60, ["right+R"])
    run_speed = stage.plan.walking.run
    assert stage.places[0, 0] - before[0] == pytest.approx(run_speed * pace)
    assert stage.doing(0) == "run"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("surface", "factor"), [("plain", 1), ("sand", 2), ("water", 3)]
)
def test_friction_is_that_of_the_surface(surface: str, factor: float) -> None:
    settings = FrictionSettings()
    for off, is_still in ((-0.02, True), (0.02, False)):
        angle = math.atan(settings.still * factor) + off
        rise = 500 * math.tan(angle)
        ground = make_ground(np.array([[-rise, rise]] * 2), (-500, -500), 1000, surface)
        stage = walker(ground)
        run(stage, 60)
        if is_still:
            assert stage.places[0].tolist() == [0, 0, 0]
            continue
        pull, hold = math.sin(angle), settings.moving * factor * math.cos(angle)
        speed = (pull - hold) * settings.gravity
        assert stage.state.slides[0, 0] == pytest.approx(-speed, rel=1e-6)
        assert stage.places[0, 1] == pytest.approx(stage.places[0, 0] * math.tan(angle))


@pytest.mark.slow
def test_who_walks_over_an_edge_falls_and_lands() -> None:
    ground = shape_ground((20, 20), 0.1, [Patch(area=(-10, -10, 1, 10), height=2)])
    stage = walker(ground)
    done = run(stage, 120, ["right"])
    heights = stage.places[0, 1]
    assert heights == 0
    roles = [one for (one,) in done]
    assert "air" in roles
    assert roles[-1] == "walk"


@pytest.mark.slow
def test_a_jump_is_held_in_the_air_and_lands() -> None:
    stage = play(fighters(apart=3))
    grounded, landed = [], []
    for tick in range(60):
        stage.step(["Y" if tick == 0 else ""])
        grounded.append(bool(stage.state.standing.grounded[0]))
        landed.append(bool(stage.state.standing.landed[0]))
    assert grounded == [not 4 <= tick < 34 for tick in range(60)]
    assert landed.index(True) == 34
    assert landed.count(True) == 1


@pytest.mark.slow
def test_bodies_never_stand_in_each_other() -> None:
    stage = play(fighters(apart=0.1))
    script = ["right", "left"]
    run(stage, 90, script)
    away = math.dist(stage.places[0], stage.places[1])
    assert away == pytest.approx(stage.state.radii.sum(), abs=0.03)
    assert stage.places.mean(0)[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_walls_hold_for_recoil_too() -> None:
    wall = Zone(np.array([[-1.0, -3], [1.1, -3], [1.1, 3], [-1, 3]]), "in")
    stage = play(fighters(zones=(wall,)))
    radius = stage.state.radii[0]
    for tick in range(80):
        stage.step({0: ["B"], 8: ["", "X"]}.get(tick))
        assert stage.places[0, 0] >= -1 + radius - 1e-9
    assert stage.places[0, 0] == pytest.approx(-1 + radius), "up to the wall"
    assert stage.energy.tolist() == [100, 100]
    stage = play(fighters(zones=(wall,)))
    for tick in range(60):
        stage.step({0: ["B"]}.get(tick))
        assert stage.places[1, 0] <= 1.1 - radius + 1e-9
    assert stage.places[1, 0] == pytest.approx(1.1 - radius), "and who is pushed"


@pytest.mark.slow
def test_solid_structures_are_walls() -> None:
    for is_solid in (True, False):
        pillar = Structure(name="pillar", middle=(1, 0), radius=0.3, solid=is_solid)
        stage = walker(flat_ground(), structures=(pillar,))
        run(stage, 120, ["right"])
        assert (stage.places[0, 0] < 0.7) == is_solid


@pytest.mark.slow
def test_the_camera_is_never_in_a_hill() -> None:
    hill = shape_ground(
        (30, 30), 0.25, [Patch(middle=(0, 5), radius=2, height=6, edge=0.5)]
    )
    stage = play(fighters(2.0, ground=hill))
    below = init_footing(1)
    for tick in range(200):
        find_footing(hill, stage.state.camera.eye[None], FrictionSettings(), out=below)
        assert stage.camera.eye[1] >= below.heights[0] + CLEAR - 1e-9, tick
        stage.step(["up", "down"])


@pytest.mark.slow
def test_a_tick_is_a_tick_of_the_clip() -> None:
    stage = walker(flat_ground())
    for tick in range(5):
        world = hero().pose("stance", tick * DT).world
        turned = stage.state.bodies[0].world.matrices[0]
        np.testing.assert_allclose(turned[:, 1, 3], world[:, 1, 3], atol=1e-5)
        np.testing.assert_allclose(turned[:, 0, 3], world[:, 2, 3], atol=1e-5)
        stage.step()


@pytest.mark.slow
def test_feet_leave_a_slope_without_a_jump() -> None:
    """What a slope does to a foot comes and goes bit by bit: in a tick it moves as in
    the same jump on level ground, or less where the slope holds it up still, and by at
    most 2 cm more.
    """
    hill = shape_ground((12, 12), 0.25, [Patch(area=(-6, -6, 6, 6), tilt=(0.3, 0.0))])
    friction = FrictionSettings(still=2, moving=1)
    heights = []
    for own in (play(fighters(ground=hill, friction=friction)), play(fighters())):
        run(own, 60)
        seen = []
        for tick in range(60):
            own.step(["Y" if tick == 0 else "", ""])
            for name in ("l-ankle", "r-ankle"):
                seen.append(node(own, 0, name)[1] - own.places[0, 1])
        heights.append(np.array(seen).reshape(-1, 2))
    lifts = heights[0] - heights[1]
    assert np.abs(lifts).max() > 0.04, "the slope is felt"
    moved, level = np.diff(heights[0], axis=0), np.diff(heights[1], axis=0)
    assert (moved < np.maximum(level, 0) + 0.02).all()
    assert (moved > np.minimum(level, 0) - 0.02).all()
