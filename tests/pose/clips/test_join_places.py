"""Joined clips go on where the one before ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.clips.cut import concatenate
from flexor.pose.clips.join_places import go_on
from flexor.pose.clips.track_values import as_keys
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import find_human
from tests.pose.ik.turned_rigs import places_at
from tests.scenes import INTERPOLATIONS, random_clip, random_skeleton

FEW = settings(max_examples=40)


def gaps(skeleton: Skeleton, clip: Clip, moment: float) -> Any:
    """Distances (J, J) between all joints."""
    at = places_at(skeleton, clip, moment)
    return np.linalg.norm(at[:, None] - at[None], axis=-1)


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from([*INTERPOLATIONS, None]))
def test_the_next_is_moved_as_a_whole(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 6, roots=1)
    one = random_clip(rng, "a", 6, interpolation=kind)
    two = random_clip(rng, "b", 6, interpolation=kind)
    width = 0.1
    _, moved = go_on([one, two], [width], skeleton, True)
    # A root that no track moves stays: what is below it is moved.
    named = {track.node for track in (*one.tracks, *two.tracks)}
    kept = [n for n in range(6) if n in named or skeleton.parents[n] >= 0]
    for moment in np.linspace(0, two.duration, 5).tolist():
        before, after = (
            gaps(skeleton, c, moment)[np.ix_(kept, kept)] for c in (two, moved)
        )
        np.testing.assert_allclose(after, before, atol=1e-4 * max(1, before.max()))
        one_at, two_at = (places_at(skeleton, c, moment)[:, 1] for c in (two, moved))
        np.testing.assert_allclose(two_at, one_at, atol=1e-4 * max(1, before.max()))


def walk_of(hero: flexor.Character, speed: float, turn: float) -> Clip:
    """The walk of the mannequin that travels forward and turns, radians a second."""
    skeleton = hero.skeleton
    hips = find_human(skeleton)["hips"]
    clip = as_keys(hero.clips["walk"])
    top = [hips]
    while skeleton.parents[top[-1]] >= 0:
        top.append(int(skeleton.parents[top[-1]]))
    node, times = top[-1], np.linspace(0, clip.duration, 9, dtype="f4")
    heading = turn * times.astype(float)
    q = np.zeros((9, 4))
    q[:, 1], q[:, 3] = np.sin(heading / 2), np.cos(heading / 2)
    rest = skeleton.rotations[node].astype(float)
    turns = quaternions.multiply(q, np.broadcast_to(rest, q.shape))
    way = np.outer(times, [0, 0, speed]) + skeleton.translations[node]
    kept = [t for t in clip.tracks if t.node != node]
    more = (
        Track(node, "translation", times, way.astype("f4")),
        Track(node, "rotation", times, turns.astype("f4")),
    )
    return Clip("walk", (*more, *kept))


def way_of(skeleton: Skeleton, clip: Clip, node: int, moments: Any) -> Any:
    """Where one joint is, (T, 3); only tracks of what it hangs on are looked at."""
    above = [node]
    while skeleton.parents[above[-1]] >= 0:
        above.append(int(skeleton.parents[above[-1]]))
    own = Clip(clip.name, tuple(t for t in clip.tracks if t.node in above))
    return np.array([places_at(skeleton, own, t)[node] for t in moments.tolist()])


@pytest.mark.parametrize("turn", [0.0, 1.2, -2.0])
@pytest.mark.parametrize("fade", [0.0, 0.2])
def test_walks_go_on(turn: float, fade: float) -> None:
    hero = flexor.samples.mannequin()
    hips = find_human(hero.skeleton)["hips"]
    clip = walk_of(hero, 1.5, turn)
    both = concatenate([clip] * 3, fades=fade, skeleton=hero.skeleton)
    moments = np.arange(0, both.duration, 1 / 120)
    at = way_of(hero.skeleton, both, hips, moments)
    ways = np.linalg.norm(np.diff(at[:, [0, 2]], axis=0), axis=1) * 120
    alone = way_of(hero.skeleton, clip, hips, moments[:40])
    own = np.linalg.norm(np.diff(alone[:, [0, 2]], axis=0), axis=1) * 120
    assert ways.max() < 1.3 * own.max()
    assert ways.min() > 0.7 * own.min()
    back = concatenate([clip] * 3, fades=fade, skeleton=hero.skeleton, onward=False)
    end = places_at(hero.skeleton, back, back.duration)[hips]
    first = places_at(hero.skeleton, clip, clip.duration)[hips]
    np.testing.assert_allclose(end, first, atol=1e-4)


def test_who_stays_on_the_spot_stays() -> None:
    hero = flexor.samples.mannequin()
    clips = [as_keys(hero.clips[name]) for name in ("kick", "punch", "kick")]
    for done, clip in zip(go_on(clips, [0.1, 0.1], hero.skeleton), clips, strict=True):
        assert done is clip


def test_what_cannot_go_on(rng: np.random.Generator) -> None:
    still = Clip("still", ())
    skeleton = random_skeleton(rng, 3)
    assert go_on([still, still], [0.0], skeleton) == [still, still]
    clip = random_clip(rng, "a", 5)
    with pytest.raises(SettingError, match="has no node"):
        go_on([clip, clip], [0.0], skeleton)
    with pytest.raises(SettingError, match="give the skeleton"):
        concatenate([clip, clip], onward=True)
