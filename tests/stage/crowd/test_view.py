"""Who of a crowd is in view, and how fast each is seen to go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.pose.clips.root_motion import steady_motion
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.character.clip import Clip, Track
from flexor.stage.crowd.crowd import (
    CrowdState,
    advance_crowd,
    init_crowd,
    move_crowd,
    see_crowd,
    skin_crowd,
)
from flexor.stage.crowd.kind import CrowdKind, make_kind
from tests.level_bodies import make_hand_levels
from tests.oracle import nodes as oracle
from tests.pose.crowd.test_node_motion import chain

Rng = np.random.Generator
AWAY = np.array([3.0, 1.0, 10.0])  # where a clip has its nodes, from the base point
FLAT = Camera(eye=(0, 0, 200), target=(0, 0, 0), height=20)
SIZE = (400, 200)  # pixels: 20 metres to each side, 10 up and down


def make_far(*expand: str) -> CrowdKind:
    """A clip that plays well away from the base point, and ways of two speeds."""
    scene = chain(4)
    times = np.array([0.0], np.float32)
    away = Track(0, "translation", times, AWAY[None].astype(np.float32))
    turns = scene.clips["bend"].tracks
    clips = {
        "away": Clip("away", (away, *turns)),
        "go": Clip("go", turns),
    }
    levels = make_hand_levels(scene, [(0,)], [0.5], [0.1])
    ways = {"go": steady_motion(clips["go"].duration, (0, 0, 3.0))}
    layout = Character(scene).layout
    return make_kind(scene, layout, levels, clips, ways=ways, expand=expand)


KIND = make_far()


@pytest.mark.parametrize("heading", [0.0, math.pi / 2, -math.pi / 2, math.pi, 0.6])
@pytest.mark.parametrize("size", [1.0, 3.0, 0.5])
def test_bodies_are_seen_where_they_are(heading: float, size: float) -> None:
    """Balls that just touch the picture at each side, from inside or from outside."""
    centre, reach = KIND.centres[0], float(KIND.reaches[0]) * size
    assert np.linalg.norm(centre - AWAY) < 2  # the body is there, not at the base
    middle = oracle.about_y(heading) @ centre * size
    sides = np.array([[20, 0, 0], [-20, 0, 0], [0, 10, 0], [0, -10, 0]])
    ways = sides / np.linalg.norm(sides, axis=1, keepdims=True)
    for off, is_seen in ((-0.01, True), (0.01, False)):
        state = init_crowd([KIND], [4])
        state.clip[:], state.heading[:], state.size[:] = 0, heading, size
        state.place[:] = sides + ways * (reach + off) - middle
        see_crowd(state, FLAT, SIZE)
        assert (state.level >= 0).tolist() == [is_seen] * 4


def test_expanded_clips_are_seen_where_they_are() -> None:
    kind = make_far("away")
    np.testing.assert_allclose(kind.centres[0], KIND.centres[0], atol=1e-5)
    np.testing.assert_allclose(kind.reaches, KIND.reaches, atol=1e-5)


def test_each_is_seen_by_the_clip_it_plays() -> None:
    """One place: the rest pose is in the picture there, the clip is not, and back."""
    state = init_crowd([KIND], [4])
    state.clip[:] = -1, 0, -1, 0
    state.heading[:] = math.pi / 2
    state.place[:, 0] = 15, 15, -29, -29  # ten metres along z are along x now
    see_crowd(state, FLAT, SIZE)
    assert (state.level >= 0).tolist() == [True, False, False, True]


def test_nobody_is_left_out_who_has_a_vertex_in_the_picture(rng: Rng) -> None:
    count = 300
    state = init_crowd([KIND], [count])
    state.clip[:] = rng.integers(-1, 2, count)
    state.time[:] = rng.uniform(0, 0.4, count)
    state.heading[:] = rng.uniform(-4, 4, count)
    state.size[:] = rng.uniform(0.2, 3, count)
    state.place[:] = rng.uniform(-40, 40, (count, 3))
    state.level[:] = 0
    move_crowd(state)
    skin_crowd(state)
    points = np.concatenate([own.positions[0] for own in state.shown])
    camera = Camera(eye=(0, 2, 30), target=(0, 0, 0))
    spots = camera.project(points, SIZE)
    with np.errstate(invalid="ignore"):
        is_in = (spots[..., :2] >= 0) & (spots[..., :2] <= SIZE)
    is_shown = (is_in.all(2) & (spots[..., 2] > camera.near)).any(1)
    see_crowd(state, camera, SIZE)
    is_seen = state.level >= 0
    assert 20 < is_shown.sum() < count - 20
    assert is_seen[is_shown].all()
    assert (is_seen & ~is_shown).sum() < 0.3 * count


def look(state: CrowdState) -> Any:
    """A look: the speeds (N,) that rules are told of."""
    told = []

    def keep(view: Any) -> Any:
        told.append(view.speeds.copy())
        return np.zeros(len(view.places), int)

    see_crowd(state, FLAT, SIZE, LevelRule(by=keep))
    return told[0]


def test_each_step_of_the_clock_measures() -> None:
    """Three metres a second, twice that, backward, a pause, and moved by hand."""
    state = init_crowd([KIND], [2])
    state.clip[:] = 1, -1
    state.place[:] = 9, 0, 7  # where they begin: nobody went there
    assert look(state).tolist() == [0, 0]
    advance_crowd(state, 0.1)
    np.testing.assert_allclose(look(state), [3, 0], rtol=1e-5)
    state.speed[:] = 2
    advance_crowd(state, 0.05)
    np.testing.assert_allclose(look(state), [6, 0], rtol=1e-5)
    advance_crowd(state, -0.1)
    np.testing.assert_allclose(look(state), [6, 0], rtol=1e-5)
    advance_crowd(state, 0.0)  # a pause: as fast as before
    np.testing.assert_allclose(look(state), [6, 0], rtol=1e-5)
    state.speed[:] = 0
    state.place[1, 0] += 2
    advance_crowd(state, 0.5)
    np.testing.assert_allclose(look(state), [0, 4], rtol=1e-5)


def test_nobody_has_a_speed_by_being_put_somewhere_before_the_first_step() -> None:
    state = init_crowd([KIND], [1])
    state.place[:] = 9, 0, 0
    advance_crowd(state, 1 / 60)
    assert look(state).tolist() == [0]


def test_how_often_one_looks_makes_no_difference() -> None:
    """Twelve metres a second are that at the second look of a frame, too."""
    rule = LevelRule(by="speed", borders=(6.0,))
    state = init_crowd([KIND], [1])
    state.clip[:], state.speed[:] = 1, 4
    advance_crowd(state, 0.1)
    for _ in range(3):
        see_crowd(state, Camera(eye=(0, 2, 60), target=(0, 0, 0)), SIZE, rule)
        assert state.level.tolist() == [1]
        np.testing.assert_allclose(look(state), [12], rtol=1e-5)
        state.level[:] = 1  # the look itself has put it at 0
