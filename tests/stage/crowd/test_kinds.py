"""Several kinds in one crowd, ways of clips, and how often kernels are called."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.deform.kernels import crowd as skin_kernel
from flexor.maths import threads
from flexor.pose.clips.root_motion import RootMotion, steady_motion
from flexor.pose.crowd.kernels import clocks as kernel_crowd
from flexor.pose.crowd.kernels import nodes as kernel_nodes
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.runtime.packed_clip import PackedClip
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
from tests.scenes import plain_scene

Rng = np.random.Generator
CAMERA = Camera(eye=(0, 3, 25), target=(0, 1, 0))
SIZE = (640, 360)


def slowed(clip: Clip | PackedClip, name: str, factor: float) -> Clip:
    """The same clip, `factor` times as long."""
    assert isinstance(clip, Clip)
    tracks = (
        Track(t.node, t.path, (t.times * factor).astype(np.float32), t.values.copy())
        for t in clip.tracks
    )
    return Clip(name, tuple(tracks))


@functools.cache
def make_tall() -> CrowdKind:
    """Twelve joints, three levels, one surface, two clips that go different ways."""
    scene = chain(12)
    clips = {**scene.clips, "sway": slowed(scene.clips["bend"], "sway", 2.5)}
    levels = make_hand_levels(scene, [(0, 3, 6, 9), (0,)], [0.5, 0.25], [0.05, 0.15])
    ways = {
        "bend": steady_motion(clips["bend"].duration, (0, 0, 3.0), 0.3),
        "sway": steady_motion(clips["sway"].duration, (0.5, 0, -1.0)),
    }
    return make_kind(scene, Character(scene).layout, levels, clips, ways=ways)


@functools.cache
def make_small() -> CrowdKind:
    """Five joints, two levels, two surfaces, three clips, one of which goes a way."""
    scene = chain(5)
    (primitive,) = scene.meshes[0].primitives
    more = Primitive(3 * primitive.positions[:12], skin=_first(primitive, 12))
    scene = dataclasses.replace(scene, meshes=(Mesh("two", (primitive, more)),))
    bend = scene.clips["bend"]
    clips = {
        name: slowed(bend, name, factor)
        for name, factor in (("nod", 0.5), ("bow", 1.5), ("turn", 4.0))
    }
    levels = make_hand_levels(scene, [(0, 2)], [0.5], [0.1])
    ways = {"turn": steady_motion(clips["turn"].duration, (1.0, 0, 0.5), -1.0)}
    layout = Character(scene).layout
    return make_kind(scene, layout, levels, clips, ways=ways, expand=("bow",))


def _first(primitive: Primitive, count: int) -> Any:
    assert primitive.skin is not None
    return dataclasses.replace(
        primitive.skin,
        joints=primitive.skin.joints[:count],
        weights=primitive.skin.weights[:count],
    )


NAMES = ("clip", "time", "speed", "loops", "place", "heading", "size", "level")


def by_speed(view: Any) -> Any:
    """Fast ones coarse: a rule that needs the right one's speed."""
    return (view.speeds > 1.5).astype(int)


def frame(state: CrowdState, dt: float, rule: LevelRule | None) -> None:
    advance_crowd(state, dt)
    see_crowd(state, CAMERA, SIZE, rule)
    move_crowd(state)
    skin_crowd(state)


def test_two_kinds_together_do_as_each_alone(rng: Rng) -> None:
    kinds, counts = (make_tall(), make_small()), (9, 14)
    both = init_crowd(kinds, counts)
    total = sum(counts)
    both.clip[:9] = rng.integers(-1, 2, 9)
    both.clip[9:] = rng.integers(-1, 3, 14)
    both.time[:] = rng.uniform(0, 0.2, total)
    both.speed[:] = rng.uniform(-2, 2, total)
    both.loops[:] = rng.random(total) < 0.7
    both.place[:] = rng.uniform(-9, 9, (total, 3)) * (1, 0, 2)
    both.place[[3, 12]] = 0, 0, 90  # behind the camera
    both.heading[:] = rng.uniform(-3, 3, total)
    both.size[:] = rng.uniform(0.5, 1.5, total)
    alone = []
    for kind in range(2):
        one = init_crowd([kinds[kind]], [counts[kind]])
        for name in NAMES:
            getattr(one, name)[:] = getattr(both, name)[both.rows(kind)]
        alone.append(one)
    seen = set()
    for dt, rule in ((0.13, None), (0.4, LevelRule(by=by_speed)), (-0.21, None)):
        frame(both, dt, rule)
        for kind, one in enumerate(alone):
            frame(one, dt, rule)
            rows = both.rows(kind)
            for name in NAMES:
                mine = getattr(both, name)[rows]
                np.testing.assert_array_equal(mine, getattr(one, name), name)
            shown = [own for own in both.shown if own.kind == kind]
            assert [own.level for own in shown] == [own.level for own in one.shown]
            for own, wanted in zip(shown, one.shown, strict=True):
                seen.add((kind, own.level))
                np.testing.assert_array_equal(own.who - rows.start, wanted.who)
                pairs = [
                    (own.matrices, wanted.matrices),
                    *zip(own.positions, wanted.positions, strict=True),
                    *zip(own.normals, wanted.normals, strict=True),
                ]
                for mine, other in pairs:
                    assert mine.size
                    np.testing.assert_array_equal(mine, other)
        for name in ("shown", "nodes", "vertices", "triangles"):
            parts = [getattr(one.counts, name) for one in alone]
            assert getattr(both.counts, name) == sum(parts)
            assert all(parts)
    assert {(0, 0), (0, 1), (1, 0), (1, 1)} <= seen


def test_triangles_are_those_of_each_kind() -> None:
    """Twelve triangles of one kind, five and four of the other."""
    state = init_crowd([make_tall(), make_small()], [2, 3])
    state.level[:] = 0
    move_crowd(state)
    skin_crowd(state)
    assert state.counts.triangles == 2 * 12 + 3 * (5 + 4)


def travelled(
    way: RootMotion, time: float, dt: float, duration: float
) -> tuple[Any, float]:
    """Where a looping clip carries one who stood at the origin, by matrices; and when
    in the clip that is.
    """

    def square(at: float) -> Any:
        return np.vstack([way.at(np.array(at)), [0, 0, 0, 1]])

    turns, after = divmod(time + dt, duration)
    start, end = square(0.0), square(duration)
    once = end @ np.linalg.inv(start)
    moved = np.linalg.inv(square(time))
    moved = moved @ np.linalg.matrix_power(once, int(turns)) @ square(after)
    return moved, after


@pytest.mark.parametrize("dt", [0.05, 0.3, 0.75, 5.1, -0.05, -0.3, -2.9])
def test_ways_may_climb_and_begin_anywhere(dt: float) -> None:
    """A path that begins at a place and a heading of its own, and goes upstairs."""
    scene = chain(4)
    duration = float(scene.clips["bend"].duration)
    times = np.array([0, 0.3, 0.6, 1]) * duration
    places = [[5, 2, -3], [5.3, 2.1, -2.5], [5.4, 2.3, -2], [6, 2.7, -2.2]]
    way = RootMotion(times, np.array(places), np.array([0.7, 0.9, 1.4, 1.2]))
    levels = make_hand_levels(scene)
    layout = Character(scene).layout
    kind = make_kind(scene, layout, levels, scene.clips, ways={"bend": way})
    state = init_crowd([kind], [2])
    state.clip[:], state.time[:] = 0, 0.1
    state.size[:] = 1, 1.5
    state.heading[:] = 0, -0.8
    state.place[1] = 4, 5, 6
    advance_crowd(state, dt)
    moved, after = travelled(way, 0.1, dt, duration)
    np.testing.assert_allclose(state.time, after, atol=1e-9)
    np.testing.assert_allclose(state.place[0], moved[:3, 3], atol=1e-9)
    wanted = oracle.about_y(-0.8) @ moved[:3, 3] * 1.5 + (4, 5, 6)
    np.testing.assert_allclose(state.place[1], wanted, atol=1e-9)
    turned = oracle.about_y(float(state.heading[0]))
    np.testing.assert_allclose(turned, moved[:3, :3], atol=1e-9)
    assert state.heading[1] + 0.8 == pytest.approx(state.heading[0], abs=1e-9)


def test_times_stay_in_the_clip_whatever_is_rounded() -> None:
    """Steps of years that end at the clip's end: what is left of them is rounded."""
    kind = make_tall()
    duration = float(kind.motion.durations[0])
    near = np.arange(2_400_000_000, 2_400_000_400) * duration
    ends = np.concatenate([near, np.nextafter(near, 0)])
    left = ends - np.floor(ends / duration) * duration
    odd = ends[(left < 0) | (left > duration)]
    assert len(odd)  # or the test says nothing
    state = init_crowd([kind], [1])
    state.clip[:] = 0
    for dt in odd[:20].tolist():
        state.time[:] = 0
        advance_crowd(state, dt)
        assert 0 <= state.time[0] <= duration


def counted(calls: Counter[str], name: str, kernel: Any) -> Any:
    """The kernel, and a count of its calls."""

    def call(*given: Any) -> Any:
        calls[name] += 1
        return kernel(*given)

    return call


@pytest.mark.slow
def test_a_frame_calls_its_kernels_as_often_for_ten_as_for_a_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each kernel once for each kind, or level, or surface, and once more for the
    second thread where that begins within one.
    """
    calls: Counter[str] = Counter()
    for module, name in (
        (kernel_crowd, "advance_crowd"),
        (kernel_nodes, "move_nodes"),
        (skin_kernel, "skin_places"),
    ):
        monkeypatch.setattr(module, name, counted(calls, name, getattr(module, name)))
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    monkeypatch.setattr(crowds, "LEAST_WORK", 1)
    kinds = make_tall(), make_small()
    found = []
    for count in (10, 1000):
        calls.clear()
        state = init_crowd(kinds, [count * 8 // 10, count * 2 // 10])
        state.clip[:] = 0
        state.level[:] = np.arange(count) % 4 // 3
        state.level[-1] = 1
        advance_crowd(state, 0.02)
        see_crowd(state, CAMERA, SIZE, LevelRule(by=lambda view: view.levels))
        assert (state.level >= 0).all()
        move_crowd(state)
        skin_crowd(state)
        assert len(state.shown) == 4
        found.append(dict(calls))
    assert found[0] == found[1]
    assert found[0]["advance_crowd"] == 2
    assert 4 <= found[0]["move_nodes"] <= 5
    assert 6 <= found[0]["skin_places"] <= 8


def test_a_skeleton_without_a_surface_makes_an_empty_crowd() -> None:
    scene = chain(4)
    bare = plain_scene(scene.skeleton, *scene.clips.values())
    hero = Character(bare)
    kind = make_kind(bare, hero.layout, make_hand_levels(bare), bare.clips)
    state = init_crowd([kind], [3])
    state.clip[:] = 0
    advance_crowd(state, 0.1)
    see_crowd(state, CAMERA, SIZE)
    move_crowd(state)
    skin_crowd(state)
    assert (kind.reaches == 0).all()
    assert state.counts.vertices == state.counts.triangles == 0
