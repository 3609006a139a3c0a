"""Structures in the way fade, and come back."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.scene.stage.settings import ViewSettings
from flexor.stage.effects.kernels import view as kernel_view
from flexor.stage.effects.view import (
    SOFT,
    init_view,
    make_view,
    obstructs,
    see_from,
    step_view,
)
from tests.stage.effects.view_scenes import EYE, PAIR, Rng, pillar, wall

# Fading.


def test_a_structure_fades_and_comes_back() -> None:
    tables = make_view([pillar(0, 5, 1), pillar(30, 5, 1, "other")])
    state = init_view(tables, ViewSettings(fade=0.25))
    assert state.shown.tolist() == [1, 1]
    for k in range(20):
        step_view(state, EYE, PAIR)
        assert state.obstructed.tolist() == [True, False]
        assert state.shown == pytest.approx([max(1 - (k + 1) / 15, 0), 1], abs=1e-7)
        assert (state.shown[0] == 0) == (k >= 14)
    for k in range(20):
        step_view(state, EYE, [])
        assert state.shown == pytest.approx([min((k + 1) / 15, 1), 1], abs=1e-7)
        assert (state.shown[0] == 1) == (k >= 14)


@pytest.mark.parametrize("fade", [0.0, 0.01, 1 / 60])
def test_at_once(fade: float) -> None:
    state = init_view(make_view([pillar(0, 5, 1)]), ViewSettings(fade=fade))
    for characters, shown in ((PAIR, 0), ([], 1), (PAIR, 0), (PAIR, 0)):
        step_view(state, EYE, characters)
        assert state.shown.tolist() == [shown]


def test_a_structure_at_the_border_does_not_flicker(rng: Rng) -> None:
    settings = ViewSettings(fade=0.5, margin=0, keep=0)
    state = init_view(make_view([pillar(0, -1, 1)]), settings)
    last, found = 1.0, []
    for _ in range(300):
        pair = np.add(PAIR, (0, rng.normal(0, 0.01)))
        step_view(state, EYE, pair)
        found.append(bool(state.obstructed[0]))
        assert abs(state.shown[0] - last) < 0.0334
        assert 0 <= state.shown[0] <= 1
        last = state.shown[0]
    assert 0.2 < np.mean(found) < 0.8


def test_what_has_vanished_comes_back_when_it_is_some_way_out(rng: Rng) -> None:
    settings = ViewSettings(fade=0, margin=0, keep=0.3)
    state = init_view(make_view([pillar(0, -1, 1)]), settings)
    step_view(state, EYE, np.add(PAIR, (0, 0.1)))
    assert not state.obstructed[0], "it was not in the way before"
    step_view(state, EYE, np.add(PAIR, (0, -0.1)))
    assert state.obstructed[0]
    for _ in range(100):
        step_view(state, EYE, np.add(PAIR, (0, rng.uniform(-0.1, 0.25))))
        assert state.obstructed[0], "it stays away"
    step_view(state, EYE, np.add(PAIR, (0, 0.35)))
    assert not state.obstructed[0]


def test_the_part_of_a_wall_is_kept_while_it_fades() -> None:
    state = init_view(
        make_view([wall((-10, 5), (10, 5))]), ViewSettings(fade=0.1, margin=0)
    )
    assert (state.parts == 0).all()
    for _ in range(10):
        step_view(state, EYE, PAIR)
        assert state.parts[0] == pytest.approx((0.4, 0.6))
    for k in range(6):
        assert state.parts[0] == pytest.approx((0.4, 0.6))
        step_view(state, EYE, [])
        assert not state.obstructed[0]
        assert (state.shown[0] == 1) == (k == 5)
    assert (state.parts == 0).all()


def test_margin_of_settings() -> None:
    state = init_view(make_view([pillar(0, -1, 0.5)]), ViewSettings(fade=0, margin=0.6))
    step_view(state, EYE, PAIR)
    assert state.obstructed[0]


def test_kernels_fill_what_they_are_given() -> None:
    """`find_obstructing` says no to what is no number; `move_shown` stays in 0..1."""
    rows = make_view([pillar(0, 5, 1)]).rows
    room = np.empty((4, 2)), np.empty((4, 5)), np.ones(1, bool), np.ones((1, 2))
    for bad in (np.nan, np.inf, -1e6):
        points = np.array([[0.0, 0.0], [1.0, bad]])
        assert not kernel_view.find_obstructing(points, rows, 0.0, *room)
    assert kernel_view.find_obstructing(np.zeros((2, 2)), rows, 0.0, *room)
    assert not room[2][0]
    shown = np.array([0.1, 0.9])
    found, parts = np.ones((2, 2)), np.ones((2, 2))
    kernel_view.move_shown(np.array([True, False]), found, 0.3, shown, parts)
    assert shown.tolist() == [0, 1]
    assert parts.tolist() == [[1, 1], [0, 0]]


def test_any_camera_sees_past_what_is_in_its_way(rng: Rng) -> None:
    """Hidden as by the rule of the stage's own camera, whole where nothing is near."""
    tables = make_view(
        [
            *(
                pillar(x, z, 0.5, f"p{k}")
                for k, (x, z) in enumerate(rng.uniform(-9, 9, (12, 2)))
            ),
            *(
                wall(a, b, name=f"w{k}")
                for k, (a, b) in enumerate(rng.uniform(-9, 9, (8, 2, 2)))
            ),
        ]
    )
    settings = ViewSettings(margin=0.3)
    hits, near = np.zeros(20, bool), np.zeros(20, bool)
    parts = np.zeros((20, 2))
    for _ in range(50):
        eye, places = rng.uniform(-12, 12, 2), rng.uniform(-4, 4, (3, 2))
        shown, found = see_from(tables, settings, eye, places)
        obstructs(tables, eye, places, out=hits, margin=0.3)
        obstructs(tables, eye, places, out=near, parts=parts, margin=0.3 + SOFT)
        assert (shown[hits] == 0).all()
        assert (shown[~near] == 1).all()
        assert (shown[near & ~hits] > 0).all()
        assert (found[~near] == 0).all()
        np.testing.assert_allclose(found[hits], parts[hits], atol=0.5)
    assert see_from(tables, settings, EYE, [])[0].min() == 1


def test_nothing_jumps_as_another_camera_goes_by() -> None:
    tables = make_view([pillar(0, 5, 0.4)])
    seen = [
        see_from(tables, ViewSettings(), (x, 10.0), [(0.0, 0.0)])[0][0]
        for x in np.arange(-6, 6, 0.01)
    ]
    assert min(seen) == 0
    assert max(seen) == 1
    assert np.abs(np.diff(seen)).max() < 0.126
