"""Feet on uneven ground, and none of a sole under it."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.maths.records import check_record
from flexor.samples import mannequin
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from flexor.stage.layout import ground_table
from flexor.stage.motion.feet import no_soles
from flexor.stage.motion.kernels import plant as kernel_plant
from flexor.stage.motion.layout import FREE, LOCKED, Soles
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.movement.layout import Feet
from tests.oracle import feet as oracle

Rng = np.random.Generator


@functools.cache
def hero() -> Character:
    return mannequin()


def random_soles(rng: Rng, limbs: int, nodes: int) -> Soles:
    """Soles of the first and the last limb, of three and four points."""
    soles = no_soles(limbs)
    for limb, points in ((0, 3), (limbs - 1, 4)):
        soles.nodes[limb, :points] = rng.integers(0, nodes, points)
        soles.points[limb, :points] = rng.uniform(-0.1, 0.1, (points, 3))
    soles.starts[:] = rng.integers(0, nodes, limbs)
    soles.lengths[:] = rng.uniform(0.5, 2, limbs)
    return check_record(soles)


def sole_places(soles: Soles, limb: int, world: Any) -> Any:
    """Points of a sole in a world (J, 3, 4), as its clip has them."""
    own = soles.nodes[limb] >= 0
    frames = world[soles.nodes[limb][own]].astype(np.float64)
    turned = (frames[..., :3] @ soles.points[limb][own][..., None])[..., 0]
    return turned + frames[..., 3]


def matrix_of(tilt: Any) -> Any:
    x, y, z, w = tilt.astype(np.float64)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_feet_are_put_as_by_the_twin(rng: Rng) -> None:
    for _ in range(100):
        ground = make_ground(rng.normal(0, 0.2, (5, 6)), (-2, -1.5), 0.7)
        count, limbs, nodes = 4, 3, 7
        rows = rng.permutation(6)[:count].astype(np.int32)
        ends = rng.permutation(nodes)[:limbs].astype(np.int32)
        flats = np.array([0.08, -1.0, 0.05])
        places = rng.uniform(-1, 1, (6, 3)) * (1, 0.3, 1)
        planted = rng.choice([0.0, 0.4, 1.0], 6)
        lifts = rng.uniform(-0.15, 0.15, (count, limbs)) * rng.integers(0, 2)
        sinks = rng.uniform(-0.2, 0, 6) * rng.integers(0, 2, 6)
        world = rng.uniform(-1, 1, (count, nodes, 3, 4)).astype(np.float32)
        offsets = rng.uniform(-0.3, 0.3, (count, limbs, 4)) * rng.integers(0, 2)
        phases = rng.choice([FREE, LOCKED], (count, limbs)).astype(np.int32)
        soles = random_soles(rng, limbs, nodes)
        targets = np.zeros((count, limbs, 3), np.float32)
        tilts = np.zeros((count, limbs, 4), np.float32)
        weights = np.zeros((count, limbs), np.float32)
        before, sunk = world.copy(), sinks.copy()
        is_any = kernel_plant.plant_feet(
            ground_table(ground),
            rows,
            places,
            planted,
            offsets,
            phases,
            soles,
            check_record(Feet(ends, flats, lifts, targets, tilts, weights)),
            sinks,
            world,
        )
        others = np.setdiff1d(np.arange(6), rows)
        np.testing.assert_array_equal(sinks[others], sunk[others])
        for k, n in enumerate(rows):
            own = before[k].astype(np.float64)
            wanted = oracle.plant_feet(
                ground,
                own[ends, :, 3],
                flats,
                places[n],
                float(planted[n]),
                lifts[k],
                sunk[n],
                offsets[k],
                phases[k] == LOCKED,
                [sole_places(soles, m, before[k]) for m in range(limbs)],
                own[soles.starts, :, 3],
                soles.lengths,
            )
            np.testing.assert_allclose(targets[k], wanted[0], atol=1e-6)
            for m in range(limbs):
                np.testing.assert_allclose(
                    matrix_of(tilts[k, m]), wanted[1][m], atol=1e-6
                )
            np.testing.assert_array_equal(weights[k], wanted[2])
            assert sinks[n] == pytest.approx(wanted[3], abs=1e-7)
            moved = world[k, :, :, 3] - before[k, :, :, 3]
            wanted_move = np.tile([0, wanted[3] - sunk[n], 0], (nodes, 1))
            np.testing.assert_allclose(moved, wanted_move, atol=1e-6)
        assert is_any == weights.any()


def test_a_foot_is_turned_where_the_slope_crosses_its_own_height() -> None:
    """It need not be lifted there, but its sole does not lie level."""
    ground = slope(0.0, 0.3)
    world = np.zeros((1, 1, 3, 4), np.float32)
    world[0, 0, :, 3] = 0.1, 0.08, 0.0
    targets, tilts = np.zeros((1, 1, 3), np.float32), np.zeros((1, 1, 4), np.float32)
    weights, sinks = np.zeros((1, 1), np.float32), np.zeros(1)
    first = np.zeros(1, np.int32)
    assert kernel_plant.plant_feet(
        ground_table(ground),
        first,
        np.zeros((1, 3)),
        np.ones(1),
        np.zeros((1, 1, 4)),
        np.zeros((1, 1), np.int32),
        no_soles(1),
        Feet(first, np.array([0.08]), np.zeros((1, 1)), targets, tilts, weights),
        sinks,
        world,
    )
    assert weights[0, 0] == 1
    assert 2 * math.asin(tilts[0, 0, 0]) == pytest.approx(-math.atan(0.3), abs=1e-6)


def alone(ground: Ground, heading: float = 0.0, **look: Any) -> Stage:
    """A mannequin that stands in its stance."""
    own = Actor(name="one", heading=heading, control="none", opponent="none")
    plan = StagePlan(cast=(own,), ground=ground, look=StageLook(**look))
    return Stage(plan, characters={"mannequin": hero()})


def slope(x: float, z: float) -> Ground:
    grid = np.arange(-10, 10.5, 1)
    return make_ground(x * grid + z * grid[:, None], (-10, -10), 1.0)


def ankles(stage: Stage) -> Any:
    """Both ankles, (2, 3)."""
    body = stage.state.bodies[0]
    rows = [list(body.plan.limbs).index(name) for name in ("leftFoot", "rightFoot")]
    return body.world.matrices[0, body.ends[rows], :, 3].astype(np.float64)


def over_ground(stage: Stage) -> Any:
    """Metres of both ankles over the ground under them."""
    found, places = init_footing(2), ankles(stage)
    find_footing(stage.plan.ground, places, stage.plan.friction, out=found)
    return places[:, 1] - found.heights


def bumps() -> Ground:
    return shape_ground((10, 10), 0.25, rough=0.15, seed=4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "ground",
    [slope(0.2, 0), slope(-0.3, 0), slope(0, 0.3), slope(0.15, -0.25), bumps()],
    ids=["right", "left", "up", "slant", "rough"],
)
@pytest.mark.parametrize("heading", [0.0, 1.0, math.pi])
def test_feet_stand_on_uneven_ground(ground: Ground, heading: float) -> None:
    stage, level = alone(ground, heading), alone(flat_ground(), heading)
    sinks = []
    for _ in range(60):
        stage.step()
        level.step()
        sinks.append(float(stage.state.sinks[0]))
    assert stage.places[0].tolist() == [0, pytest.approx(ground_at_middle(ground)), 0]
    higher = over_ground(stage) - over_ground(level)
    assert higher.min() > -1e-3
    assert higher.max() < 0.025, "only as far as toes would be in the slope"
    # Feet go straight up and down, each stays where the clip has it.
    np.testing.assert_allclose(
        ankles(stage)[:, [0, 2]], ankles(level)[:, [0, 2]], atol=1e-3
    )
    assert min(sinks) < 0, "one foot is lower: hips sink"
    steps = np.abs(np.diff([0, *sinks]))
    assert steps.max() < 0.3 * abs(min(sinks)) + 0.02, "softly"
    assert steps[-1] < 1e-3


def ground_at_middle(ground: Ground) -> float:
    found = init_footing(1)
    find_footing(ground, np.zeros((1, 3)), StagePlan().friction, out=found)
    return float(found.heights[0])


@pytest.mark.slow
def test_feet_are_left_as_they_are_if_they_should() -> None:
    stage, level = alone(slope(0.3, 0), feet=False), alone(flat_ground())
    for _ in range(30):
        stage.step()
        level.step()
    mine, theirs = (own.state.bodies[0].world.matrices for own in (stage, level))
    np.testing.assert_array_equal(mine, theirs)
    assert abs(over_ground(stage) - over_ground(level)).max() > 0.02


@pytest.mark.slow
def test_who_stands_on_flat_ground_is_left_as_the_clip_has_it() -> None:
    """Also where another part of the ground is not flat."""
    heights = np.zeros((21, 21))
    heights[:, 15:] = 0.5
    for ground in (flat_ground(), make_ground(heights, (-10, -10), 1.0)):
        with_feet, without = alone(ground), alone(ground, feet=False)
        for _ in range(30):
            with_feet.step()
            without.step()
        mine, theirs = (own.state.bodies[0].world for own in (with_feet, without))
        np.testing.assert_allclose(mine.matrices, theirs.matrices, atol=2e-3)
        assert with_feet.state.sinks[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("rise", [(0.0, 0.3), (-0.25, 0.1)])
def test_soles_lie_on_the_slope(rise: tuple[float, float]) -> None:
    stage, level = alone(slope(*rise)), alone(flat_ground())
    for _ in range(60):
        stage.step()
        level.step()
    body = stage.state.bodies[0]
    shares = []
    for foot, name in enumerate(("leftFoot", "rightFoot")):
        end = body.ends[list(body.plan.limbs).index(name)]
        turned, plain = (
            own.state.bodies[0].world.matrices[0, end, :, :3].astype(np.float64)
            for own in (stage, level)
        )
        # A heel that the clip lifts takes less of the slope, none from 12 cm on.
        over = over_ground(level)[foot] - body.plan.feet[name]
        shares.append(np.clip(1 - over / 0.12, 0, 1))
        up = np.array([-rise[0] * shares[-1], 1, -rise[1] * shares[-1]])
        up /= np.linalg.norm(up)
        np.testing.assert_allclose(turned @ plain.T @ (0, 1, 0), up, atol=1e-5)
    assert max(shares) > 0.5


@pytest.mark.slow
def test_hips_come_back_when_the_ground_is_flat_again() -> None:
    heights = np.zeros((41, 41))
    heights[:, :20] = -0.25 * np.arange(20, 0, -1)
    stage = alone(make_ground(heights, (-10, -10), 0.5))
    stage.places[0, 0] = -2.0
    for _ in range(40):
        stage.step()
    assert stage.state.sinks[0] < -0.01
    stage.places[0] = 3, 0, 0
    for _ in range(60):
        stage.step()
    assert stage.state.sinks[0] == 0
    plain = alone(flat_ground())
    for _ in range(100):
        plain.step()
    plain_ends, ends = ankles(plain), ankles(stage) - (3, 0, 0)
    np.testing.assert_allclose(ends, plain_ends, atol=1e-5)
