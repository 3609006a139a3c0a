"""Marks: footprints in sand, rings on water."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.effect_settings import ChurnSettings, MarkSettings
from flexor.scene.stage.ground import Ground, make_ground
from flexor.stage.effects.churn import init_churn, step_churn
from flexor.stage.effects.kernels.marks import place_parts
from flexor.stage.effects.layout import (
    CHECKED,
    KICK_UP,
    LANDING,
    NONE,
    PLOUGHING,
    PRINT,
    RING,
)
from flexor.stage.effects.marks import Marks, init_marks, live_marks, step_marks
from tests.oracle import marks as plain

Rng = np.random.Generator
WORDS = {LANDING: "landing", KICK_UP: "kick-up", PLOUGHING: "ploughing", NONE: ""}


def level(surface: str = "sand") -> Ground:
    return make_ground(np.zeros((2, 2)), (-20, -20), 40.0, surface)


def body(left: Any, right: Any, heading: float = 0.0, lift: float = 0.0) -> Any:
    """Feet that point along a heading, at x and z, so high above the ground."""
    parts = np.full((1, len(CHECKED), 3), 50.0)
    way = np.array([math.sin(heading), 0, math.cos(heading)])
    for foot, (x, z) in enumerate((left, right)):
        parts[0, foot] = (x, 0.06 + lift, z) - 0.08 * way
        parts[0, foot + 6] = (x, 0.02 + lift, z) + 0.08 * way
    return parts


def play(state: Marks, way: list[Any], surface: str = "sand") -> None:
    heading = np.zeros(1)
    for before, now in pairwise(way):
        step_marks(state, before, now, heading, level(surface), None)


def test_feet_that_stand_leave_a_print_each() -> None:
    state = init_marks(1)
    stand = body((0.1, 0), (-0.1, 0.3), 0.5)
    play(state, [stand] * 10)
    rows, passed = live_marks(state, PRINT)
    assert len(rows) == state.live_count == 2
    np.testing.assert_allclose(state.places[rows, ::2], [[0.1, 0], [-0.1, 0.3]])
    ways = np.tile((math.sin(0.5), math.cos(0.5)), (2, 1))
    np.testing.assert_allclose(state.ways[rows], ways, atol=1e-6)
    assert (passed == np.float32(8 / 1200)).all()
    # Lifted and put down again: another one of each.
    up, there = body((0.1, 0.2), (-0.1, 0.3), 0, 0.3), body((0.1, 0.6), (-0.1, 0.3))
    play(state, [stand, up, up, there, there, there])
    assert len(live_marks(state, PRINT)[0]) == 4


def test_a_foot_on_its_tips_points_where_its_body_looks() -> None:
    state, stand = init_marks(1), body((0.1, 0), (-0.1, 0.3))
    stand[0, 6:8, [0, 2]] = stand[0, :2, [0, 2]]
    turn = np.array([0.7])
    for _ in range(4):
        step_marks(state, stand, stand, turn, level(), None)
    rows, _ = live_marks(state, PRINT)
    ways = np.tile((math.sin(0.7), math.cos(0.7)), (2, 1))
    np.testing.assert_allclose(state.ways[rows], ways, atol=1e-6)


@pytest.mark.parametrize("surface", ["plain", "water"])
def test_only_sand_takes_prints(surface: str) -> None:
    state = init_marks(1)
    play(state, [body((0.1, 0), (-0.1, 0.3))] * 5, surface)
    assert state.live_count == 0
    assert state.is_down.all()


def test_feet_in_the_air_or_on_their_way_leave_none() -> None:
    state = init_marks(1)
    play(state, [body((0.1, 0), (-0.1, 0), 0, 0.2)] * 5)
    fast = [body((0.1, 0.05 * n), (-0.1, 0.05 * n)) for n in range(20)]
    play(state, fast)
    assert state.live_count == 0


def test_one_that_slides_leaves_prints_now_and_then() -> None:
    state = init_marks(1)
    play(state, [body((0.1, 0.01 * n), (-0.1, 0.0)) for n in range(50)])
    rows, _ = live_marks(state, PRINT)
    left = state.places[rows][state.places[rows, 0] > 0, 2]
    assert len(left) == 5
    assert (np.diff(left) >= 0.12).all()


def test_prints_fade_in_their_time() -> None:
    state = init_marks(1, MarkSettings(prints=0.5))
    stand = body((0.1, 0), (-0.1, 0.3))
    play(state, [stand] * 31)
    assert state.live_count == 2
    assert live_marks(state, PRINT)[1].min() > 0.9
    play(state, [stand] * 2)
    assert state.live_count == 0
    off = init_marks(1, MarkSettings(prints=0))
    play(off, [stand] * 5)
    assert off.live_count == 0


def test_the_newest_are_kept() -> None:
    state = init_marks(1, MarkSettings(most=5))
    for step in range(10):
        here = body((0.1, step), (-0.1, step))
        play(state, [np.add(here, (0, 0.5, 0)), here, here])
    assert state.live_count == 5
    rows, _ = live_marks(state, PRINT)
    assert state.places[rows, 2].tolist() == [7, 8, 8, 9, 9]


def test_rings_where_feet_go_into_water() -> None:
    settings = ChurnSettings(parts=("foot",) * 8, base=500)
    churn = init_churn(1, np.random.default_rng(1), settings)
    state = init_marks(1)
    ground = make_ground(np.full((2, 2), -0.5), (-20, -20), 40.0, "water")
    heights = [0.3, 0.1, -0.1, -0.3, -0.3, -0.3]
    ways = [np.add(body((1, 2), (5, 5)), (0, high, 0)) for high in heights]
    for own in ways:
        own[:, [1, 7], 1] = 50.0  # the other leg is up
    for before, now in zip([ways[0], *ways], ways, strict=False):
        step_churn(churn, now, ground, water=0.0)
        step_marks(state, before, now, np.zeros(1), ground, churn)
    rows, passed = live_marks(state, RING)
    assert len(rows) == 1, "of the ankle; toes leave none"
    np.testing.assert_allclose(state.places[rows[0]], (1, 0, 1.92), atol=1e-6)
    assert state.sizes[rows[0]] == pytest.approx(0.12 + 3 * 0.15, abs=1e-6)
    assert 0 < passed[0] < 0.1


def test_every_mark_is_that_of_the_twin(rng: Rng) -> None:
    """The kernels `age_marks`, `leave_prints` and `leave_rings`."""
    ground = make_ground(
        rng.normal(size=(9, 9)) * 0.03, (-2, -2), 0.5, rng.integers(0, 3, (8, 8))
    )
    rules = MarkSettings(prints=0.5, rings=0.3, most=500)
    state = init_marks(3, rules)
    twin = plain.Stage(rules, [[plain.Foot() for _ in range(2)] for _ in range(3)])
    churn = init_churn(
        3, rng, ChurnSettings(parts=("foot",) * 8, touch=1.0, plough=0.2)
    )
    parts = rng.uniform((-2, 0, -2), (2, 0.3, 2), (3, 8, 3))
    headings = rng.uniform(-3, 3, 3)
    kinds = {"prints": 0, "rings": 0}
    for tick in range(150):
        before = parts.copy()
        step = 0.05 if tick % 20 < 8 else 0.004
        parts[:, :6] += rng.normal(size=(3, 6, 3)) * (step, 0.02, step)
        parts[..., 1] = np.clip(parts[..., 1], -0.05, 0.3)
        parts[:, 6:] = parts[:, :2] + rng.choice((0.0, 0.1), (3, 2, 3))
        step_churn(churn, parts, ground, water=0.02)
        step_marks(state, before, parts, headings, ground, churn)
        plain.age_marks(twin)
        plain.leave_prints(twin, before, parts, headings, ground)
        words = [[WORDS.get(int(n), "") for n in row] for row in churn.states]
        plain.leave_rings(twin, words, churn._moves, churn.lasts)
        assert state.live_count == len(twin.marks)
        for kind, name in ((PRINT, "prints"), (RING, "rings")):
            own = [mark for mark in twin.marks if mark.kind == name]
            own.sort(key=lambda mark: -mark.age)
            rows, _ = live_marks(state, kind)
            kinds[name] += len(own)
            assert state.ages[rows].tolist() == [mark.age for mark in own]
            if not own:
                continue
            wanted = np.array([(*m.place, *m.way, m.size) for m in own])
            have = np.column_stack(
                [state.places[rows], state.ways[rows], state.sizes[rows]]
            )
            np.testing.assert_allclose(
                have[np.lexsort(have.T.round(4))],
                wanted[np.lexsort(wanted.T.round(4))],
                atol=1e-4,
            )
    assert min(kinds.values()) > 50


def test_parts_are_found_where_the_twin_finds_them(rng: Rng) -> None:
    """The kernel `place_parts`."""
    world = rng.normal(size=(2, 5, 3, 4)).astype(np.float32)
    nodes = np.array([3, 0, -1, 4, 4, 1, -1, 2], np.int32)
    places, rows = rng.normal(size=(4, 3)), np.array([3, 1], np.int32)
    out = np.zeros((4, 8, 3))
    place_parts(world, nodes, rows, places, out)
    for n, row in enumerate(rows):
        wanted = plain.place_parts(world[n], nodes, places[row])
        np.testing.assert_array_equal(out[row], wanted)
    assert not out[[0, 2]].any()


def test_input_that_is_refused() -> None:
    state = init_marks(1)
    good, ground = body((0, 0), (1, 1)), level()
    step_marks(state, good, good, np.zeros(1), ground, None)
    for bad in (good[:, :4], good.astype(np.float32), None):
        with pytest.raises(ShapeError, match="now"):
            step_marks(state, good, bad, np.zeros(1), ground, None)  # type: ignore
    with pytest.raises(ShapeError, match="before"):
        step_marks(state, good[:, :4], good, np.zeros(1), ground, None)
    with pytest.raises(ShapeError, match="headings"):
        step_marks(state, good, good, np.zeros(2), ground, None)
    with pytest.raises(SettingError, match="ground"):
        step_marks(state, good, good, np.zeros(1), 3, None)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="count"):
        init_marks(-1)
    with pytest.raises(SettingError, match="settings"):
        init_marks(1, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"prints": -1}, "prints: -1"),
        ({"rings": math.nan}, "rings: nan"),
        ({"most": 0}, "most: 0, expected 1 to 10000"),
        ({"most": 2.0}, "most: 2.0"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        MarkSettings(**change)
