"""Bodies keep apart, stop at steep ground, and stand, fall or jump."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.settings import FrictionSettings
from flexor.stage.movement.bodies import (
    REACH,
    Standing,
    has_steps,
    hold_at_steps,
    init_standing,
    push_apart,
    stand,
)
from flexor.stage.movement.ground import find_footing, init_footing
from tests.oracle import stage as oracle

Rng = np.random.Generator
DT, GRAVITY, CLIMB = 1 / 60, 9.81, 2.0


def overlap(radii: Any, places: Any) -> float:
    """Metres by which the two that are deepest in each other are."""
    line = places[:, None] - places[None]
    away = np.hypot(line[..., 0], line[..., 2])
    deep = radii[:, None] + radii[None] - away
    is_beside = np.abs(line[..., 1]) < oracle.TALL
    deep[~is_beside | np.eye(len(radii), dtype=bool)] = 0
    return float(deep.max(initial=0.0))


def test_every_push_is_that_of_the_twin(rng: Rng) -> None:
    for _ in range(200):
        count = int(rng.integers(2, 12))
        places = rng.uniform(-1, 1, (count, 3)) * (1, int(rng.integers(2)), 1)
        radii = rng.uniform(0.05, 0.5, count)
        is_solid = rng.random(count) < 0.8
        state = init_standing(count)
        for _ in range(4):
            order = state.order.copy()
            wanted, pairs = oracle.push_apart(radii, is_solid, order, places)
            assert push_apart(state, radii, is_solid, places) == pairs
            np.testing.assert_allclose(places, wanted, atol=1e-12)
            assert sorted(state.order.tolist()) == list(range(count))
            places += rng.normal(0, 0.1, places.shape) * (1, 0, 1)


def test_a_thousand_heaps_come_apart(rng: Rng) -> None:
    deepest = 0.0
    for _ in range(1000):
        count = int(rng.integers(2, 10))
        places = rng.normal(0, 0.3, (count, 3)) * (1, 0, 1)
        if rng.random() < 0.1:
            places[:] = places[0]  # all on one spot
        radii = rng.uniform(0.1, 0.5, count)
        middle = places.mean(0)
        state, solid = init_standing(count), np.ones(count, bool)
        for _ in range(240):
            if not push_apart(state, radii, solid, places):
                break
        assert np.isfinite(places).all()
        deepest = max(deepest, overlap(radii, places))
        np.testing.assert_allclose(places.mean(0), middle, atol=1e-12)
    assert deepest < 1e-3, "within four seconds"


def test_each_of_a_pair_gives_way_by_half() -> None:
    places = np.array([[0.0, 0, 0], [0.3, 0, 0.4]])
    assert push_apart(init_standing(2), np.array([0.3, 0.4]), np.ones(2, bool), places)
    np.testing.assert_allclose(places, [[-0.06, 0, -0.08], [0.36, 0, 0.48]], atol=1e-15)


def test_two_on_one_spot_are_parted() -> None:
    places = np.array([[2.0, 0, 3], [2, 0, 3]])
    push_apart(init_standing(2), np.array([0.3, 0.3]), np.ones(2, bool), places)
    assert overlap(np.array([0.3, 0.3]), places) < 1e-12
    np.testing.assert_allclose(places.mean(0), [2, 0, 3])


def test_who_only_touches_is_not_moved() -> None:
    places = np.array([[0.0, 0, 0], [0.75, 0, 0]])
    before = places.copy()
    radii = np.array([0.25, 0.5])
    assert push_apart(init_standing(2), radii, np.ones(2, bool), places) == 0
    np.testing.assert_array_equal(places, before)


def test_who_lies_or_is_above_is_in_nobodys_way() -> None:
    places = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 1.5, 0]])
    before, radii = places.copy(), np.full(3, 0.3)
    solid = np.array([True, False, True])
    assert push_apart(init_standing(3), radii, solid, places) == 0
    np.testing.assert_array_equal(places, before)


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_is_alone_in_the_way(count: int) -> None:
    places = np.zeros((count, 3))
    radii, solid = np.ones(count), np.ones(count, bool)
    assert push_apart(init_standing(count), radii, solid, places) == 0


def test_pushes_are_the_same_in_any_order_kept_before(rng: Rng) -> None:
    """The order that a call leaves only makes the next one quick."""
    places = rng.uniform(-1, 1, (9, 3)) * (1, 0, 1)
    radii, solid = rng.uniform(0.1, 0.4, 9), np.ones(9, bool)
    found = []
    for order in (np.arange(9), np.arange(9)[::-1], rng.permutation(9)):
        own, state = places.copy(), init_standing(9)
        state.order[:] = order
        push_apart(state, radii, solid, own)
        found.append(own)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def tick(
    state: Standing,
    places: Any,
    ground: Any,
    *,
    flying: bool = False,
    clock: float = 1.0,
) -> float:
    """One tick of one character over ground of a height; gives its own height."""
    stand(
        state,
        DT,
        GRAVITY,
        CLIMB,
        np.array([clock]),
        np.array([float(ground)]),
        np.array([flying]),
        places,
    )
    return float(places[0, 1])


@given(
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(0, 20),
    st.booleans(),
    st.booleans(),
    st.floats(0, 2),
)
def test_every_tick_is_that_of_the_twin(
    ground: float,
    height: float,
    fall: float,
    grounded: bool,
    flying: bool,
    clock: float,
) -> None:
    places, state = np.array([[1.0, height, 2.0]]), init_standing(1)
    state.falls[0], state.grounded[0], state.landed[0] = fall, grounded, True
    wanted = oracle.stand(
        DT * clock, GRAVITY, CLIMB, ground, flying, height, fall, grounded
    )
    tick(state, places, ground, flying=flying, clock=clock)
    assert places[0, [0, 2]].tolist() == [1, 2]
    found = places[0, 1], state.falls[0], state.grounded[0], state.landed[0]
    assert found == pytest.approx(wanted, abs=1e-12)


def test_falling_follows_gravity_and_lands_exactly() -> None:
    places, state = np.array([[0.0, 5, 0]]), init_standing(1)
    for ticks in range(1, 200):
        height = tick(state, places, 0.25)
        if state.grounded[0]:
            break
        assert not state.landed[0]
        assert state.falls[0] == pytest.approx(GRAVITY * ticks * DT)
        # Speeds are of the end of each tick: a tick more than the square says.
        wanted = 5 - GRAVITY * DT * DT * ticks * (ticks + 1) / 2
        assert height == pytest.approx(wanted)
    assert ticks == pytest.approx(math.sqrt(2 * 4.75 / GRAVITY) / DT, abs=1.5)
    assert height == 0.25
    assert state.landed[0]
    assert state.falls[0] == 0
    tick(state, places, 0.25)
    assert not state.landed[0], "once"


def test_a_slow_clock_falls_slower() -> None:
    places, state = np.array([[0.0, 5, 0]]), init_standing(1)
    for _ in range(30):
        tick(state, places, 0, clock=0.5)
    assert state.falls[0] == pytest.approx(GRAVITY * 15 * DT)


def walk_over(
    ground: Ground, speed: float, seconds: float, step: float = 9.0
) -> tuple[Any, Any]:
    """Heights of one who walks along +x and of the ground, and who was grounded."""
    places, state = np.array([[0.0, 0, 0]]), init_standing(1)
    footing, settings = init_footing(1), FrictionSettings()
    find_footing(ground, places, settings, out=footing)
    places[0, 1] = footing.heights[0]
    found = []
    for _ in range(int(seconds / DT)):
        before = places.copy()
        places[0, 0] += speed * DT
        hold_at_steps(ground, step, before, places, normals=np.zeros((1, 2)))
        find_footing(ground, places, settings, out=footing)
        tick(state, places, footing.heights[0])
        found.append((places[0, 1], footing.heights[0], state.grounded[0]))
    return np.array(found)[:, :2], np.array(found)[:, 2].astype(bool)


@pytest.mark.parametrize("fall", [0.1, 0.5, 1.0, 2.0])
def test_walking_down_a_slope_never_leaves_the_ground(fall: float) -> None:
    ground = make_ground(np.array([[0, -50 * fall]] * 2), (0, -1), 50)
    heights, grounded = walk_over(ground, 3.5, 3)
    assert grounded.all()
    np.testing.assert_array_equal(heights[:, 0], heights[:, 1])


def sheer_step(rise: float) -> Ground:
    """Ground that is higher by `rise` from 1 m along x on."""
    heights = np.where(np.arange(400) * 0.01 > 2, rise, 0.0)
    return make_ground(np.tile(heights, (2, 1)), (-1, -0.005), 0.01)


def test_a_high_step_down_is_fallen_and_a_low_one_gone_down() -> None:
    _, grounded = walk_over(sheer_step(-0.5), 1.35, 1.5)
    assert not grounded.all()
    assert grounded[-1]
    _, grounded = walk_over(sheer_step(-0.1), 1.35, 1.5)
    assert grounded.all()


def test_coming_up_a_step_is_no_faster_than_climb() -> None:
    heights, grounded = walk_over(sheer_step(0.14), 1.35, 2)
    steps = np.diff(heights[:, 0])
    assert steps.max() == pytest.approx(CLIMB * DT)
    assert (heights[:, 0] <= heights[:, 1]).all()
    assert heights[-1, 0] == 0.14
    assert grounded.all(), "who climbs is not in the air"


@pytest.mark.parametrize("rise", [0.2, 0.4, 0.6])
@pytest.mark.parametrize("speed", [1.35, 3.5, 30.0])
def test_nobody_is_deep_in_a_step(rise: float, speed: float) -> None:
    heights, grounded = walk_over(sheer_step(rise), speed, 2)
    assert (heights[:, 1] - heights[:, 0]).max() <= 0.15 + 1e-9
    assert heights[-1, 0] == rise
    assert grounded.all()


# Steep ground.

STEP = 0.4


def hills(rng: Rng) -> Ground:
    """Ground with all from gentle slopes to cliffs."""
    size, cell = int(rng.integers(8, 20)), float(rng.choice([0.1, 0.25, 0.4]))
    heights = rng.normal(0, rng.choice([0.05, 0.2, 0.6]), (size, size))
    heights += 2.0 * (rng.random((size, size)) < 0.2)
    return make_ground(heights, (-size * cell / 2, -size * cell / 2), cell)


def test_every_hold_is_that_of_the_twin(rng: Rng) -> None:
    held = 0
    for _ in range(150):
        ground = hills(rng)
        before = rng.uniform(-2.5, 2.5, (8, 3))
        before[:, 1] = [
            oracle.movement.look_down(ground, x, z)[0] for x, _, z in before
        ]
        before[:, 1] += rng.choice([0.0, 0.0, 0.3, -0.3], 8)
        places = before + rng.normal(0, rng.choice([0.03, 0.5]), (8, 3)) * (1, 0, 1)
        places[0] = before[0]
        wanted, ways = zip(
            *(
                oracle.hold_at_steps(ground, STEP, REACH, one, to)
                for one, to in zip(before, places, strict=True)
            ),
            strict=True,
        )
        normals = np.full((8, 2), 9.0)
        count = hold_at_steps(ground, STEP, before, places, normals=normals)
        np.testing.assert_allclose(places, wanted, atol=1e-9)
        np.testing.assert_allclose(normals, ways, atol=1e-9)
        assert count == np.count_nonzero(normals.any(1))
        held += count
    assert held > 200


def cliff(high: float, cell: float = 0.25) -> Ground:
    """Ground that is higher from 2 m along x on."""
    return shape_ground((12, 12), cell, [Patch(area=(2, -6, 6, 6), height=high)])


@pytest.mark.parametrize("cell", [0.05, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("speed", [0.3, 1.35, 3.5, 9.0, 30.0, 300.0])
def test_nobody_goes_up_a_cliff(cell: float, speed: float) -> None:
    for angle in (0.0, 0.4, -0.8, 1.3, 1.5):
        ground, places = cliff(2.0, cell), np.array([[0.9, 0, 0.1]])
        way = np.array([math.cos(angle), 0, math.sin(angle)]) * speed * DT
        for _ in range(int(min(200, 4 / (speed * DT))) + 3):
            before = places.copy()
            places += way
            hold_at_steps(ground, STEP, before, places, normals=np.zeros((1, 2)))
            height = oracle.movement.look_down(ground, *places[0, [0, 2]])[0]
            assert height <= 0.4
            places[0, 1] = max(height, 0.0)
        if angle == 0:
            reach = min(speed * DT, cell / 2)  # what it may stop short
            assert places[0, 0] > 2 - cell - REACH - reach
        elif abs(angle) > 1 and speed <= 30:
            along = 0.1 + way[2] * (int(min(200, 4 / (speed * DT))) + 3)
            assert places[0, 2] == pytest.approx(along, rel=0.2), "it goes along it"


@pytest.mark.parametrize("rise", [0.05, 0.15, 0.18, 0.3, 0.4])
@pytest.mark.parametrize("cell", [0.02, 0.1, 0.25])
def test_low_steps_are_gone_up_freely(rise: float, cell: float) -> None:
    before = np.array([[1.0, 0, 0]])
    for _ in range(100):
        places = before + np.array([1.35 * DT, 0, 0])
        normals = np.ones((1, 2))
        assert not hold_at_steps(
            cliff(rise, cell), STEP, before, places, normals=normals
        )
        assert not normals.any()
        places[0, 1] = oracle.movement.look_down(cliff(rise, cell), places[0, 0], 0)[0]
        before = places
    assert before[0, 1] == pytest.approx(rise)


def stairs(rise: float, deep: float, cell: float) -> Ground:
    """Ten steps up along x, from 0 on."""
    x = np.arange(-1, 6, cell)
    heights = rise * np.clip(np.floor(x / deep + 1e-9), 0, 10)
    return make_ground(np.tile(heights, (2, 1)), (-1, -cell / 2), cell)


@pytest.mark.parametrize("speed", [1.35, 3.5])
@pytest.mark.parametrize("cell", [0.02, 0.07])
def test_stairs_are_gone_up_and_nobody_is_deep_in_them(
    speed: float, cell: float
) -> None:
    ground = stairs(0.18, 0.28, cell)
    assert has_steps(ground, STEP)
    heights, grounded = walk_over(ground, speed, 3.5 / speed, STEP)
    assert heights[-1, 0] == pytest.approx(1.8)
    assert (heights[:, 1] - heights[:, 0]).max() <= 0.15 + 1e-9
    assert grounded.all()


def test_cliffs_are_gone_down() -> None:
    """From above, and who fell close to one can go away from it."""
    ground, normals = cliff(2.0), np.zeros((1, 2))
    before = np.array([[2.2, 2, 0]])
    places = before - (0.5, 0, 0)
    assert not hold_at_steps(ground, STEP, before, places, normals=normals)
    before = np.array([[1.7, 0, 0]])
    for way in ((-0.02, 0, 0), (-0.01, 0, 0.02)):
        places = before + way
        assert not hold_at_steps(ground, STEP, before, places, normals=normals)
    places = before + np.array([0.02, 0, 0])
    assert hold_at_steps(ground, STEP, before, places, normals=normals)
    np.testing.assert_array_equal(places, before)
    np.testing.assert_allclose(normals, [[-1, 0]], atol=1e-9)


def test_who_was_put_into_a_hill_can_walk_there() -> None:
    before = np.array([[4.0, 0, 0]])  # of a height that it had elsewhere
    places = before + np.array([0.3, 0, 0.3])
    assert not hold_at_steps(cliff(2.0), STEP, before, places, normals=np.zeros((1, 2)))


def test_which_grounds_have_steps() -> None:
    assert not has_steps(flat_ground(), 0.0)
    assert not has_steps(cliff(0.15), STEP)
    assert not has_steps(cliff(0.4, 0.02), STEP), "as high as may be"
    assert has_steps(cliff(0.42, 0.02), STEP)
    assert has_steps(cliff(2.0), STEP)
    assert has_steps(cliff(-2.0), STEP)
    for across, along in ((1, 0), (0, 1), (0.8, -0.6)):
        x, z = np.meshgrid(np.arange(9.0), np.arange(7.0))
        for slope, is_steep in ((1.59, False), (1.61, True)):
            heights = slope * (across * x + along * z)
            assert has_steps(make_ground(heights, (0, 0), 1.0), STEP) == is_steep


def test_a_jump_holds_and_ends_on_the_ground() -> None:
    places, state = np.zeros((1, 3)), init_standing(1)
    places[0, 1] = 1.0
    for _ in range(40):
        assert tick(state, places, 0.5, flying=True) == 1.0
        assert not state.grounded[0]
        assert state.falls[0] == 0
    for _ in range(60):
        tick(state, places, 0.5)
    assert places[0, 1] == 0.5
    assert state.grounded[0]
    assert tick(state, places, 0.8, flying=True) == 0.8, "never below the ground"


def test_a_jump_from_the_ground_lands_when_it_ends() -> None:
    places, state = np.zeros((1, 3)), init_standing(1)
    for _ in range(10):
        tick(state, places, 0, flying=True)
    tick(state, places, 0)
    assert state.landed[0]
    assert state.grounded[0]


def test_who_falls_to_the_ground_and_no_further_has_landed() -> None:
    state, places = init_standing(1), np.array([[0.0, 1.0, 0.0]])
    state.grounded[:] = False
    one, zero = np.ones(1), np.zeros(1)
    stand(state, 0.25, 16.0, CLIMB, one, zero, np.zeros(1, bool), places)
    assert places[0, 1] == 0
    assert (state.grounded[0], state.landed[0], state.falls[0]) == (True, True, 0.0)
