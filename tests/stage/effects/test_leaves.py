"""Leaves: the wind's hold on them, how they fly, land and come to rest."""

from __future__ import annotations

import dataclasses
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.effect_settings import LeafSettings
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.stage.effects import leaves as module
from flexor.stage.effects.kernels import leaves as kernel_leaves
from flexor.stage.effects.leaves import (
    CLEAR,
    Leaves,
    init_leaves,
    leaf_quads,
    step_leaves,
)
from flexor.stage.effects.wind import Wind
from tests.oracle import leaves as plain

Rng = np.random.Generator
FLAT = flat_ground()


def hill(rng: Rng) -> Ground:
    return make_ground(rng.normal(size=(21, 17)) * 0.1, (-4.0, -5.0), 0.5)


def one(x: float = 0.0, z: float = 0.0, **settings: Any) -> Leaves:
    """A single leaf on flat ground."""
    rng = np.random.default_rng(0)
    return init_leaves(FLAT, [(x, z)], rng, LeafSettings(**settings))


def leaf_of(state: Leaves, row: int) -> plain.Leaf:
    return plain.Leaf(
        state.places[row].astype(np.float64),
        state.speeds[row].astype(np.float64),
        int(state.steps[row]),
        int(state.angles[row]),
        int(state.spins[row]),
        bool(state.is_aloft[row]),
        bool(state.is_moving[row]),
    )


def gusts(rng: Rng, count: int, reach: float = 4.0) -> list[Wind | None]:
    winds: list[Wind | None] = []
    for _ in range(count):
        place = *rng.uniform(-reach, reach, 2), 0.0
        up = float(rng.uniform(0.12, 1.0))
        side = rng.uniform(-0.6, 0.6, 2)
        wind = Wind((place[0], 0.3, place[1]), (side[0], up, side[1]))
        winds.append(wind if rng.random() < 0.7 else None)
    return winds


# What can be worked out by hand.


@pytest.mark.parametrize(
    ("away", "height", "factor"),
    [
        (0.0, 0.0, 1.0),
        (0.25, 0.0, 0.5),
        (0.4, 0.0, 0.2),
        (0.5, 0.0, 0.0),
        (0.7, 0.0, 0.0),
        (0.0, 0.5, 0.5),
        (0.25, 0.25, 0.375),
        (0.0, 1.0, 0.0),
        (0.0, 3.0, 0.0),
    ],
)
def test_a_wind_sets_speeds_by_height_and_distance(
    away: float, height: float, factor: float
) -> None:
    state = one(x=away)
    state.places[0, 1] = height
    state.speeds[0] = 9, 0, 9
    step_leaves(state, Wind((0, 0, 0), (0.2, 0.5, -0.1)), FLAT)
    if factor == 0:
        assert state.moving_count == 0
        assert state.speeds[0].tolist() == [9, 0, 9]
        return
    c = factor
    wanted = (0.2 * c * 0.87, 0.5 * c - 0.002, -0.1 * c * 0.87)
    assert state.speeds[0] == pytest.approx(wanted, abs=1e-6)
    begin = np.array([away, height, 0])
    assert state.places[0] == pytest.approx(begin + wanted, abs=1e-6)
    assert state.is_aloft[0]
    assert state.moving_count == 1


def test_upward_speed_is_added_and_sideways_speed_is_set() -> None:
    state = one()
    wind = Wind((0, 0, 0), (0.1, 0.2, 0.0))
    step_leaves(state, wind, FLAT)
    before, height = state.speeds[0].copy(), state.places[0, 1]
    away = state.places[0, 0]
    step_leaves(state, wind, FLAT)
    c = (1 - height) * (0.2 - away) / 0.2
    assert state.speeds[0, 0] == pytest.approx(0.1 * c * 0.87, rel=1e-5)
    assert state.speeds[0, 1] == pytest.approx(before[1] + 0.2 * c - 0.002, rel=1e-5)


def test_falls_to_rest_as_the_rule_says() -> None:
    state = one()
    step_leaves(state, Wind((0, 0, 0), (0.1, 0.12, 0.05)), FLAT)
    landed = 0
    for tick in range(2, 5000):
        speed, place = state.speeds[0].copy(), state.places[0].copy()
        was_aloft = bool(state.is_aloft[0])
        step_leaves(state, None, FLAT)
        assert state.steps[0] == tick % 32 or not state.is_moving[0]
        if state.moving_count == 0:
            break
        keep = 0.87 if was_aloft else 0.5
        assert state.speeds[0, ::2] == pytest.approx(speed[::2] * keep, rel=1e-5)
        if state.is_aloft[0]:
            fall = max(speed[1] - 0.002, -0.006)
            assert state.speeds[0, 1] == pytest.approx(fall, abs=1e-7)
            moved = place + state.speeds[0]
            assert state.places[0] == pytest.approx(moved, abs=1e-6)
        else:
            landed = landed or tick
            assert state.speeds[0, 1] == state.places[0, 1] == 0
    assert 0 < landed < tick < landed + 32
    assert state.steps[0] == 0, "it lies flat"
    assert state.speeds[0].tolist() == [0, 0, 0]
    assert not state.is_aloft[0]
    assert state.moving_count == 0


def test_falls_no_faster_than_that() -> None:
    state = one()
    step_leaves(state, Wind((0, 0, 0), (0, 1.0, 0)), FLAT)
    fastest = 0.0
    while state.is_aloft[0]:
        step_leaves(state, None, FLAT)
        fastest = min(fastest, float(state.speeds[0, 1]))
    assert fastest == pytest.approx(-0.006)


def test_how_high_winds_blow_leaves() -> None:
    """What the docstring of the settings says."""
    for lift, up, wanted in ((1, 0.12, 3.5), (1, 1.0, 250), (0.25, 0.12, 0.21)):
        state, highest = one(lift=lift), 0.0
        step_leaves(state, Wind((0, 0, 0), (0, up, 0)), FLAT)
        while state.speeds[0, 1] > 0:
            step_leaves(state, None, FLAT)
            highest = max(highest, float(state.places[0, 1]))
        assert highest == pytest.approx(wanted, rel=0.03)


def test_turns_about_y_by_its_own_angle(rng: Rng) -> None:
    state = init_leaves(FLAT, rng.uniform(-0.2, 0.2, (300, 2)), rng)
    before = state.angles.astype(int)
    step_leaves(state, Wind((0, 0, 0), (0, 1.0, 0)), FLAT)
    turned = (state.angles.astype(int) - before + 32768) % 65536 - 32768
    assert np.abs(turned).max() <= round(0.06 / (2 * math.pi) * 65536)
    assert turned.min() < -400 < 400 < turned.max()
    assert len(np.unique(turned)) > 100


# The twin.


@pytest.mark.parametrize("count", [1, 5, 256, 257, 700])
def test_every_tick_is_that_of_the_twin(rng: Rng, count: int) -> None:
    """The kernels `step_blocks` and `lay_down`, wind or none, on uneven ground."""
    ground = hill(rng)
    rules = LeafSettings(lift=0.1)  # so low that some land
    state = init_leaves(ground, rng.uniform(-4, 4, (count, 2)), rng, rules)
    watched = rng.choice(count, min(count, 40), replace=False)
    seen = {"aloft": 0, "ground": 0, "rest": 0}
    for wind in [*gusts(rng, 30), *[None] * 10, *gusts(rng, 20)]:
        twins = {row: leaf_of(state, row) for row in watched}
        step_leaves(state, wind, ground)
        for row, leaf in twins.items():
            if wind is not None:
                plain.blow(leaf, ground, wind.place, wind.speed, lift=0.1)
            plain.step_blocks(leaf, ground)
            gap = leaf.place[1] - plain.lay_down(ground, leaf.place[0], leaf.place[2])
            if leaf.is_aloft and abs(gap) < 1e-5:
                continue  # on the border: rounding decides whether it has landed
            np.testing.assert_allclose(state.places[row], leaf.place, atol=2e-5)
            np.testing.assert_allclose(state.speeds[row], leaf.speed, atol=2e-5)
            assert state.steps[row] == leaf.step
            assert state.angles[row] == leaf.angle
            assert state.is_aloft[row] == leaf.is_aloft
            assert state.is_moving[row] == leaf.is_moving
            key = "aloft" if leaf.is_aloft else "ground" if leaf.is_moving else "rest"
            seen[key] += 1
        assert state.moving_count == state.is_moving.sum()
    assert count < 250 or min(seen.values()) > 10, seen


def test_leaves_that_wander_are_still_found_by_wind(rng: Rng) -> None:
    """Boxes of blocks (`fit_boxes`) hold all of their leaves at any time."""
    state = init_leaves(FLAT, rng.uniform(-4, 4, (1500, 2)), rng)
    for wind in [*gusts(rng, 60), *[None] * 40, *gusts(rng, 30)]:
        step_leaves(state, wind, FLAT)
        for block, box in enumerate(state._boxes):
            own = state.places[256 * block : 256 * (block + 1)]
            assert (own[:, 0] >= box[0]).all()
            assert (own[:, 0] <= box[1]).all()
            assert (own[:, 2] >= box[2]).all()
            assert (own[:, 2] <= box[3]).all()
    fresh = np.empty_like(state._boxes)
    kernel_leaves.fit_boxes(state.places, fresh)
    assert (fresh[:, ::2] >= state._boxes[:, ::2]).all()


def test_leaves_begin_flat_on_the_ground(rng: Rng) -> None:
    ground = hill(rng)
    spots = rng.uniform(-5, 5, (1000, 2))
    state = init_leaves(ground, spots, rng)
    order = np.lexsort(state.places[:, ::2].T)
    wanted = spots[np.lexsort(spots.T)]
    np.testing.assert_allclose(state.places[order][:, ::2], wanted, atol=1e-6)
    for x, y, z in state.places[::20].astype(np.float64):
        assert y == pytest.approx(plain.lay_down(ground, x, z), abs=1e-5)
    assert not state.is_moving.any()
    assert not state.steps.any()
    sizes = state.sizes
    assert np.float32(0.06) <= sizes.min() < sizes.max() <= np.float32(0.08)
    assert set(state.kinds.tolist()) == set(range(8))
    # Neighbours stand in one block: blocks are a few metres wide, not all ten.
    assert np.diff(state._boxes)[:, ::2].max() < 7


def test_leaves_at_rest_stay_as_they_are(rng: Rng) -> None:
    state = init_leaves(FLAT, rng.uniform(-4, 4, (1000, 2)), rng)
    before = copies(state)
    for wind in (None, Wind((50, 0, 0), (1, 1, 1)), None):
        step_leaves(state, wind, FLAT)
    assert all((a == b).all() for a, b in zip(before, copies(state), strict=True))


def copies(state: Leaves) -> list[Any]:
    arrays = state.places, state.speeds, state.steps, state.angles
    return [array.copy() for array in (*arrays, state.is_aloft, state.is_moving)]


def play(rng: Rng, count: int = 3000, ticks: int = 60) -> list[Any]:
    ground = hill(rng)
    state = init_leaves(ground, rng.uniform(-3, 3, (count, 2)), rng)
    quads = np.empty((count, 4, 3), np.float32)
    for wind in gusts(rng, ticks, 3.0):
        step_leaves(state, wind, ground)
    assert state.moving_count > count / 2
    return [*copies(state), leaf_quads(state, quads)]


def test_the_same_bytes_again_and_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAST_WORK", 1)
    runs = []
    for threads in ("1", "2", "3", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        runs.append([array.tobytes() for array in play(np.random.default_rng(5))])
    assert runs[0] == runs[1] == runs[2] == runs[3]
    other = play(np.random.default_rng(6))
    assert other[0].tobytes() != runs[0][0]


def test_a_tick_makes_no_arrays(rng: Rng, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "1")
    state = init_leaves(FLAT, rng.uniform(-3, 3, (20_000, 2)), rng)
    winds = gusts(rng, 40, 3.0)
    for wind in winds:
        step_leaves(state, wind, FLAT)
    tracemalloc.start()
    for wind in winds:
        step_leaves(state, wind, FLAT)
    assert state.moving_count > 10_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000


# Drawing.


def test_corners_are_those_of_the_twin(rng: Rng) -> None:
    """The kernel `make_quads`."""
    state = init_leaves(FLAT, rng.uniform(-4, 4, (300, 2)), rng)
    state.steps[:] = rng.integers(0, 32, 300)
    state.places[:, 1] = rng.uniform(0, 2, 300)
    quads = np.empty((300, 4, 3), np.float32)
    assert leaf_quads(state, quads) is quads
    for row in range(300):
        size = float(state.sizes[row])
        wanted = plain.make_quads(leaf_of(state, row), size, float(CLEAR))
        np.testing.assert_allclose(quads[row], wanted, atol=1e-4)


def test_a_leaf_that_lies_is_flat_and_faces_up() -> None:
    state = one(sizes=(0.07, 0.07))
    state.angles[0] = 0
    (quad,) = leaf_quads(state, np.empty((1, 4, 3), np.float32))
    half = np.float32(0.035)
    wanted = [(-half, half), (half, half), (half, -half), (-half, -half)]
    np.testing.assert_allclose(quad[:, ::2], wanted)
    np.testing.assert_allclose(quad[:, 1], CLEAR)
    normal = np.cross(quad[1] - quad[0], quad[2] - quad[0])
    assert normal[1] > 0


# Strange input.


def test_no_leaves_at_all(rng: Rng) -> None:
    state = init_leaves(FLAT, np.zeros((0, 2)), rng)
    step_leaves(state, Wind((0, 0, 0), (1, 1, 1)), FLAT)
    assert len(state) == state.moving_count == 0
    assert leaf_quads(state, np.empty((0, 4, 3), np.float32)).size == 0


def test_leaves_beyond_the_ground(rng: Rng) -> None:
    state = init_leaves(FLAT, [(500.0, 0.0), (0.0, 0.0)], rng)
    step_leaves(state, Wind((500, 0, 0), (0.5, 0.5, 0)), FLAT)
    assert state.moving_count == 1
    for _ in range(200):
        step_leaves(state, None, FLAT)
    assert np.isfinite(state.places).all()


def test_input_that_is_refused(rng: Rng) -> None:
    state = one()
    with pytest.raises(SettingError, match="ground: int, expected Ground"):
        step_leaves(state, None, 3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="wind: tuple, expected Wind"):
        step_leaves(state, (0, 1, 0), FLAT)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="state: NoneType, expected Leaves"):
        step_leaves(None, None, FLAT)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="out: float64, expected float32"):
        leaf_quads(state, np.empty((1, 4, 3)))  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"out: shape \(2, 4, 3\)"):
        leaf_quads(state, np.empty((2, 4, 3), np.float32))
    for spots, text in (
        (np.zeros((3, 3)), r"spots: shape \(3, 3\), expected \(L, 2\)"),
        ([1, 2], "spots: shape"),
        ("leaves", "spots: cannot be made numbers"),
        ([(0, math.nan)], "spots: expected numbers within"),
    ):
        with pytest.raises((ShapeError, SettingError), match=text):
            init_leaves(FLAT, spots, rng)
    with pytest.raises(SettingError, match="rng: int, expected Generator"):
        init_leaves(FLAT, [(0, 0)], 1)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="settings"):
        init_leaves(FLAT, [(0, 0)], rng, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"lift": 0}, "lift: 0, expected above 0 to 100"),
        ({"drag": 1.5}, "drag: 1.5, expected 0 to 1"),
        ({"grip": -1}, "grip: -1"),
        ({"weight": 0}, "weight: 0"),
        ({"fastest": math.nan}, "fastest: nan"),
        ({"turn": 4}, "turn: 4"),
        ({"sizes": (2, 1)}, "sizes: .* expected least and most"),
        ({"sizes": 3}, "sizes: 3, expected least and most"),
        ({"sizes": (1, 2, 3)}, "sizes: .* expected least and most"),
        ({"kinds": 0}, "kinds: 0, expected 1 to 256"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        dataclasses.replace(LeafSettings(), **change)
