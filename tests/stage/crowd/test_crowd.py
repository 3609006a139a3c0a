"""Crowds: clocks, selection, work, and the same bytes for any number of threads."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.errors import SettingError, ShapeError
from flexor.maths import threads
from flexor.pose.clips.root_motion import steady_motion
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.stage.crowd import crowd as crowds
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
from tests.scenes import random_scene

Rng = np.random.Generator


def make_chain(joints: int = 12, *, speed: float = 0.0) -> CrowdKind:
    """A chain with three levels, of 12, 4 and 1 nodes, and 36, 18 and 9 vertices."""
    scene = chain(joints)
    hero = Character(scene)
    levels = make_hand_levels(scene, [(0, 3, 6, 9), (0,)], [0.5, 0.25], [0.05, 0.15])
    ways = {"bend": steady_motion(scene.clips["bend"].duration, (0, 0, speed), 0.3)}
    return make_kind(
        scene, hero.layout, levels, hero.clips, ways=ways if speed else None
    )


def scattered(rng: Rng, count: int = 40) -> CrowdState:
    state = init_crowd([make_chain()], [count])
    state.clip[:] = rng.integers(-1, 1, count)
    state.time[:] = rng.uniform(0, 0.4, count)
    state.place[:] = rng.uniform(-20, 20, (count, 3)) * (1, 0, 1)
    state.heading[:] = rng.uniform(-3, 3, count)
    state.size[:] = rng.uniform(0.5, 1.5, count)
    return state


CAMERA = Camera(eye=(0, 3, 25), target=(0, 1, 0))
SIZE = (640, 360)


def test_all_are_where_the_whole_evaluation_has_them(rng: Rng) -> None:
    """Nearest level: positions are those of the character's own deform."""
    scene = chain(12)
    hero = Character(scene)
    state = scattered(rng, 9)
    state.time[:] = 0.4 * rng.integers(0, 25, 9) / 24  # at frames
    state.level[:] = 0
    move_crowd(state)
    skin_crowd(state)
    (own,) = state.shown
    order = state.kinds[0].binds[0][0].blocks.order
    for row, n in enumerate(own.who.tolist()):
        pose = hero.pose("bend", state.time[n]) if state.clip[n] == 0 else hero.pose()
        (skin,) = hero.deform(pose)
        turn = oracle.about_y(state.heading[n])
        wanted = skin.positions @ turn.T * state.size[n] + state.place[n]
        np.testing.assert_allclose(own.positions[0][row], wanted[order], atol=2e-5)
        turned = skin.normals @ turn.T
        np.testing.assert_allclose(own.normals[0][row], turned[order], atol=2e-4)


@pytest.mark.jit
def test_bytes_are_the_same_for_any_number_of_threads(
    rng: Rng, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crowds, "LEAST_WORK", 1)
    answers = []
    for team in (1, 2, 3, 5):
        monkeypatch.setattr(threads, "thread_count", lambda team=team: team)
        state = scattered(np.random.default_rng(3), 57)
        advance_crowd(state, 0.13)
        see_crowd(state, CAMERA, SIZE)
        move_crowd(state)
        skin_crowd(state)
        parts = [
            [
                array.tobytes()
                for array in (own.who, own.matrices, *own.positions, *own.normals)
            ]
            for own in state.shown
        ]
        answers.append((parts, dataclasses.astuple(state.counts)))
    assert len(answers[0][0]) > 1
    assert all(answer == answers[0] for answer in answers[1:])


def test_work_is_counted_by_level() -> None:
    state = init_crowd([make_chain()], [10])
    state.level[:] = (0, 0, 0, 1, 1, 2, -1, -1, -1, 2)
    move_crowd(state)
    skin_crowd(state)
    binds = state.kinds[0].binds
    assert state.counts.shown == 7
    assert state.counts.nodes == 3 * 16 + 2 * 8 + 2 * 8
    places = [level[0].place_count for level in binds]
    assert state.counts.vertices == 3 * places[0] + 2 * places[1] + 2 * places[2]
    assert places[0] > places[1] > places[2]
    faces = [len(level[0].faces) for level in binds]
    assert state.counts.triangles == 3 * faces[0] + 2 * faces[1] + 2 * faces[2]


def test_who_is_out_of_view_is_not_touched(rng: Rng) -> None:
    state = scattered(rng)
    state.place[::2, 2] = 200  # behind the camera
    see_crowd(state, CAMERA, SIZE)
    assert (state.level[::2] == -1).all()
    assert (state.level[1::2] >= 0).any()
    move_crowd(state)
    skin_crowd(state)
    seen = np.concatenate([own.who for own in state.shown])
    assert set(seen.tolist()) == set(np.flatnonzero(state.level >= 0).tolist())
    see_crowd(state, Camera(eye=(0, 3, 25), target=(0, 1, 50)), SIZE)
    assert (state.level[1::2] == -1).all()


def test_levels_follow_the_error_in_pixels() -> None:
    """Near ones in full, far ones coarse; a coarser rule moves the borders in."""
    state = init_crowd([make_chain()], [60])
    state.place[:, 2] = -np.arange(60.0) * 2
    see_crowd(state, CAMERA, SIZE)
    assert (np.diff(state.level) >= 0).all()
    assert set(state.level.tolist()) == {0, 1, 2}
    first = int(np.argmax(state.level > 0))
    kind = state.kinds[0]
    # Mean 0.05 m is a pixel where a pixel shows as much, at the nearest of the ball.
    near = 25 - state.place[first, 2] - kind.reaches[-1]
    assert math.isclose(near, 0.05 * CAMERA.scale(SIZE), rel_tol=0.2)
    state.level[:] = -1
    see_crowd(state, CAMERA, SIZE, LevelRule(pixels=3))
    assert int(np.argmax(state.level > 0)) < first


def test_larger_ones_are_off_by_more() -> None:
    """Twice the size: the borders are twice as far away."""
    state = init_crowd([make_chain()], [400])
    state.place[:, 2] = -np.linspace(0, 400, 400)
    borders = []
    for size in (0.5, 1.0):
        state.size[:] = size
        state.level[:] = -1
        see_crowd(state, CAMERA, SIZE)
        first = int(np.argmax(state.level > 1))
        borders.append(25 - state.place[first, 2])
    assert math.isclose(borders[1], 2 * borders[0], rel_tol=0.05)


def test_rules_may_be_functions_of_what_is_given_along(rng: Rng) -> None:
    state = scattered(rng)
    asked = []

    def by_hand(view):  # type: ignore[no-untyped-def]
        asked.append((view.time, view.extra))
        return np.full(len(view.places), view.extra["level"])

    see_crowd(state, CAMERA, SIZE, LevelRule(by=by_hand), time=2.5, extra={"level": 1})
    assert asked == [(2.5, {"level": 1})]
    assert set(state.level.tolist()) <= {-1, 1}


def test_speed_is_measured_from_the_last_look() -> None:
    state = init_crowd([make_chain(speed=3.0)], [2])
    state.clip[:] = 0, -1
    speeds = []

    def keep(view):  # type: ignore[no-untyped-def]
        speeds.append(view.speeds.copy())
        return np.zeros(2, int)

    see_crowd(state, CAMERA, SIZE, LevelRule(by=keep))
    for _ in range(5):
        advance_crowd(state, 0.02)
    see_crowd(state, CAMERA, SIZE, LevelRule(by=keep))
    np.testing.assert_allclose(speeds[0], 0)
    np.testing.assert_allclose(speeds[1], [3.0, 0], rtol=0.01)


@given(
    st.floats(-3, 3),
    st.floats(0, 0.4),
    st.floats(-4, 4),
    st.booleans(),
)
def test_clocks_do_as_their_twin(
    dt: float, time: float, speed: float, is_loop: bool
) -> None:
    state = init_crowd([KIND], [1])
    state.clip[:], state.time[:], state.speed[:] = 0, time, speed
    state.loops[:] = is_loop
    advance_crowd(state, dt)
    duration = float(KIND.motion.durations[0])
    wanted = oracle.advance(dt, time, speed, duration, is_loop)
    apart = abs(float(state.time[0]) - wanted)
    assert min(apart, duration - apart if is_loop else apart) < 1e-9


KIND = make_chain()


def test_clips_carry_characters_on() -> None:
    """Many short steps and one long one lead to the same place, round after round."""
    kind = make_chain(speed=2.0)
    ends = []
    for steps in (1, 7, 200):
        state = init_crowd([kind], [2])
        state.clip[:] = 0
        state.heading[:] = 0, 1.3
        state.size[:] = 1, 1.5
        for _ in range(steps):
            advance_crowd(state, 1.7 / steps)
        ends.append((state.place.copy(), state.heading.copy()))
    for place, heading in ends[1:]:
        np.testing.assert_allclose(place, ends[0][0], atol=1e-6)
        np.testing.assert_allclose(heading, ends[0][1], atol=1e-9)
    place, heading = ends[0]
    np.testing.assert_allclose(heading - [0, 1.3], 1.7 * 0.3, atol=1e-9)
    np.testing.assert_allclose(
        place[1], oracle.about_y(1.3) @ place[0] * 1.5, atol=1e-9
    )
    # A circle: two metres a second, 0.3 radians a second.
    chord = 2 * (2 / 0.3) * math.sin(1.7 * 0.3 / 2)
    assert math.isclose(float(np.linalg.norm(place[0])), chord, rel_tol=1e-3)


def test_backward_clocks_carry_them_back() -> None:
    state = init_crowd([make_chain(speed=2.0)], [1])
    state.clip[:], state.time[:] = 0, 0.1
    advance_crowd(state, 1.33)
    advance_crowd(state, -1.33)
    np.testing.assert_allclose(state.place, 0, atol=1e-9)
    np.testing.assert_allclose(state.time, 0.1)
    np.testing.assert_allclose(state.heading, 0, atol=1e-12)


def test_several_kinds_have_their_own_rows(rng: Rng) -> None:
    state = init_crowd([make_chain(), make_chain(5)], [3, 4])
    assert (state.rows(0), state.rows(1)) == (slice(0, 3), slice(3, 7))
    state.level[:] = 0
    move_crowd(state)
    skin_crowd(state)
    assert [(own.kind, own.who.tolist()) for own in state.shown] == [
        (0, [0, 1, 2]),
        (1, [3, 4, 5, 6]),
    ]
    assert state.counts.nodes == 3 * 16 + 4 * 8


@pytest.mark.parametrize("count", [0, 1])
def test_small_crowds(count: int) -> None:
    state = init_crowd([make_chain()], [count])
    advance_crowd(state, 0.1)
    see_crowd(state, CAMERA, SIZE)
    move_crowd(state)
    skin_crowd(state)
    assert state.counts.shown == count
    assert len(state) == count


def test_room_is_used_again(rng: Rng) -> None:
    state = scattered(rng)
    state.level[:] = 0
    move_crowd(state)
    before = state.shown[0].positions[0]
    state.level[::3] = 1
    move_crowd(state)
    assert np.shares_memory(before, state.shown[0].positions[0])


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("clip", 1, "clip: 1, expected -1 to 0"),
        ("clip", -2, "clip: -2, expected -1 to 0"),
        ("time", np.nan, "time: nan at character 2"),
        ("speed", np.inf, "speed: inf at character 2"),
        ("speed", 1e12, r"speed: 1e\+12, expected 1e\+09 or less"),
        ("time", 1e12, r"time: 1e\+12, expected"),
        ("size", 1e12, r"size: 1e\+12, expected"),
        ("size", 0.0, "size: 0.0 at character 2, expected more"),
        ("size", -1.0, "size: -1.0 at character 2"),
        ("heading", np.nan, "heading: nan"),
        ("size", np.nan, "size: nan"),
    ],
)
def test_odd_values_are_refused(name: str, value: float, text: str) -> None:
    state = init_crowd([KIND], [4])
    getattr(state, name)[2] = value
    with pytest.raises(ShapeError, match=text):
        advance_crowd(state, 0.1)
    with pytest.raises(ShapeError, match=text):
        see_crowd(state, CAMERA, SIZE)


def test_a_place_that_is_none_is_not_seen() -> None:
    state = init_crowd([KIND], [3])
    state.place[1] = np.nan
    state.place[2] = 1e300
    see_crowd(state, CAMERA, SIZE)
    assert state.level[0] >= 0
    assert state.level[1:].tolist() == [-1, -1]


def test_levels_that_do_not_exist_are_refused() -> None:
    state = init_crowd([KIND], [3])
    state.level[:] = 3
    with pytest.raises(ShapeError, match="level: 3, expected -1 to 2"):
        move_crowd(state)


@pytest.mark.parametrize("dt", [np.nan, np.inf, "1", None, 10**400, 1j])
def test_steps_must_be_seconds(dt: object) -> None:
    with pytest.raises(SettingError, match="expected seconds"):
        advance_crowd(init_crowd([KIND], [1]), dt)  # type: ignore[arg-type]


def test_steps_are_not_longer_than_clocks_can_count() -> None:
    state = init_crowd([KIND], [1])
    state.speed[:] = 100
    with pytest.raises(SettingError, match="s or less on every clock"):
        advance_crowd(state, 1e8)


def test_times_that_were_written_go_into_the_clip_first() -> None:
    """A clip that loops goes round, one that does not stays at its ends."""
    kind = make_chain(speed=2.0)
    for written, at in ((7.3, 0.1), (-5.1, 0.1)):
        state = init_crowd([kind], [2])
        state.clip[:], state.time[:] = 0, written
        state.loops[:] = True, False
        state.level[:] = 0
        move_crowd(state)
        np.testing.assert_allclose(state.time, [at, written], atol=1e-5)
        advance_crowd(state, 0.05)
        np.testing.assert_allclose(state.time[0], at + 0.05, atol=1e-5)
        moved = np.linalg.norm(state.place, axis=1)
        assert math.isclose(moved[0], 0.1, rel_tol=0.01)
        assert abs(moved[1] - (0 if written > 0 else 0.1)) < 0.001


def test_kinds_may_have_other_numbers_of_clips() -> None:
    scene = chain(4)
    hero = Character(scene)
    bend = scene.clips["bend"]
    clips = {name: dataclasses.replace(bend, name=name) for name in "abc"}
    many = make_kind(scene, hero.layout, make_hand_levels(scene), clips)
    state = init_crowd([many, KIND], [2, 2])
    state.clip[:] = 2, 1, 0, -1
    state.level[:] = 0
    advance_crowd(state, 0.1)
    move_crowd(state)
    skin_crowd(state)
    assert state.counts.shown == 4
    state.clip[2] = 1
    with pytest.raises(ShapeError, match="clip: 1, expected -1 to 0"):
        move_crowd(state)


def test_a_rule_that_fails_changes_nothing(rng: Rng) -> None:
    state = init_crowd([KIND, KIND], [1, 1])
    see_crowd(state, CAMERA, SIZE)
    before = state.level.copy()
    state.place[:, 2] -= 100
    calls = []

    def fails(view):  # type: ignore[no-untyped-def]
        calls.append(len(view.places))
        if len(calls) == 2:
            raise KeyError("lost")
        with pytest.raises(ValueError, match="read-only"):
            view.places[:] = 0
        return np.full(len(view.places), 2)

    with pytest.raises(KeyError):
        see_crowd(state, CAMERA, SIZE, LevelRule(by=fails))
    np.testing.assert_array_equal(state.level, before)


def test_rules_are_asked_about_those_in_view() -> None:
    state = init_crowd([KIND], [4])
    state.place[1::2, 2] = 500
    asked = []

    def keep(view):  # type: ignore[no-untyped-def]
        asked.append(len(view.places))
        return np.zeros(len(view.places), int)

    see_crowd(state, CAMERA, SIZE, LevelRule(by=keep))
    assert asked == [2]
    assert state.level.tolist() == [0, -1, 0, -1]


@pytest.mark.parametrize("what", [(None, SIZE), (CAMERA, 5), (CAMERA, ("a", "b"))])
@pytest.mark.parametrize("more", [(CAMERA, (3,)), (CAMERA, (0, 5)), (CAMERA, None)])
def test_views_are_checked(what: object, more: object) -> None:
    for camera, size in (what, more):  # type: ignore[attr-defined]
        with pytest.raises(SettingError, match="expected"):
            see_crowd(init_crowd([KIND], [1]), camera, size)


def test_no_more_than_can_be_counted() -> None:
    with pytest.raises(SettingError, match="expected 10,000,000 or less"):
        init_crowd([KIND], [2**31])


@pytest.mark.parametrize("counts", [[1, 2], [-1], [True], [1.5], []])
def test_counts_are_checked(counts: list[int]) -> None:
    with pytest.raises(SettingError, match="counts"):
        init_crowd([KIND], counts)


def test_ways_are_checked() -> None:
    scene = chain(4)
    hero = Character(scene)
    levels = make_hand_levels(scene)
    for ways, text in (
        ({"x": steady_motion(1, (0, 0, 1))}, "no clip 'x'; there are: 'bend'"),
        ({"bend": steady_motion(1, (0, 0, 1))}, "1 s long, expected the clip's 0.4 s"),
    ):
        with pytest.raises(SettingError, match=text):
            make_kind(scene, hero.layout, levels, hero.clips, ways=ways)


@pytest.mark.slow
def test_the_ball_of_a_clip_holds_its_skin(rng: Rng) -> None:
    """Also of skin that several joints pull, and of nodes that grow."""
    for scale in ("one", "even", "uneven"):
        scene = random_scene(rng, scale=scale)  # type: ignore[arg-type]
        hero = Character(scene)
        kind = make_kind(scene, hero.layout, make_hand_levels(scene), hero.clips)
        still = hero.layout.rest_weights
        for row, (name, clip) in enumerate([*hero.clips.items(), (None, None)]):
            times = np.linspace(0, 0 if clip is None else clip.duration, 40)
            poses = hero.pose_many(name, times)
            poses = dataclasses.replace(poses, weights=np.tile(still, (40, 1)))
            skins = hero.deform_many(poses)
            points = np.concatenate([s.positions.reshape(-1, 3) for s in skins])
            away = np.linalg.norm(points - kind.centres[row], axis=1)
            assert away.max() <= kind.reaches[row] * (1 + 1e-5) + 1e-4
    away = 0.5 * 12 + 0.1  # along the chain at rest, from its first node on
    assert KIND.reaches[-1] < away


def test_rules_by_height_see_the_character_not_its_clip() -> None:
    state = init_crowd([KIND], [2])
    state.clip[:] = 0, -1
    state.size[:] = 1, 2
    seen = []

    def keep(view):  # type: ignore[no-untyped-def]
        seen.append((view.heights, view.widths))
        return np.zeros(2, int)

    see_crowd(state, Camera((0, 3, 200), (0, 3, 0)), SIZE, LevelRule(by=keep))
    (heights, widths) = seen[0]
    assert heights[1] == pytest.approx(2 * heights[0], rel=0.03)
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.03)
    share = KIND.levels.height * CAMERA.scale(SIZE) / 200 / SIZE[1]
    assert heights[0] == pytest.approx(share, rel=0.03)


def test_clocks_leave_the_rest_pose_alone() -> None:
    state = init_crowd([make_chain(speed=1.0)], [1])
    advance_crowd(state, 5.0)
    assert state.time[0] == 0
    assert not state.place.any()
