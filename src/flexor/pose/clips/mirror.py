"""A clip with left and right changed.

The turn of a joint from its rest, in model space, is reflected in the plane between
left and right and given to its twin. In local rotations that is one product from the
left and one from the right, the same for all keys: times, interpolation and tangents
stay, and twice is the clip again. Local axes may differ from side to side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from flexor.errors import SettingError
from flexor.maths import exact, quaternions
from flexor.pose.clips.joint_motion import rest_turns, signs_of
from flexor.pose.clips.retarget.match_joints import Feed, Match
from flexor.pose.clips.retarget.plan import Plan
from flexor.pose.clips.retarget.retarget import transfer
from flexor.pose.clips.track_values import AnyClip, as_keys
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mirror_pairs import find_mirror, swap_side
from flexor.scene.character.skeleton import Skeleton, rest_world

__all__ = ["mirror_clip"]


def mirror_clip(
    clip: AnyClip, skeleton: Skeleton, pairs: Mapping[str, str] | None = None
) -> Clip:
    """The clip as in a mirror: what the left did, the right does.

    pairs: names of joints, left to right; without it they are found by name and place,
    or by name and tree. Where the rest pose is symmetric, joints go where the mirror
    image of their twins did. What hangs on one side alone, such as a sword, stays in
    its hand, with its own tracks; morph weights stay with their node.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> other = mirror_clip(hero.clips["kick"], hero.skeleton)
    >>> other.duration == hero.clips["kick"].duration
    True
    """
    clip = as_keys(clip)
    if any(not 0 <= track.node < len(skeleton) for track in clip.tracks):
        raise SettingError(f"clip {clip.name!r}: moves a node that the skeleton lacks")
    world = rest_world(skeleton)
    if pairs is None:
        mirror = find_mirror(skeleton.names, world)
        twins = _paired_by_tree(skeleton, mirror.twins)
    else:
        mirror = find_mirror(_called(skeleton, pairs), world)
        twins = mirror.twins
    flip = np.eye(3)
    flip[mirror.axis, mirror.axis] = -1
    twins, is_held = _held(skeleton, twins)
    kept = [t for t in clip.tracks if t.path == "weights" or is_held[t.node]]
    if not _is_even(skeleton, twins, is_held):
        done = _mirror_sampled(clip, skeleton, twins, is_held, flip)
        return replace(clip, tracks=(*done.tracks, *kept))
    turns = rest_turns(skeleton)
    tracks = [
        track
        if track.path == "weights" or is_held[track.node]
        else _mirror(track, skeleton, int(twins[track.node]), flip, turns, world)
        for track in clip.tracks
    ]
    return replace(clip, tracks=tuple(tracks))


def _called(skeleton: Skeleton, pairs: Mapping[str, str]) -> list[str]:
    """Names that say the given pairs and no others."""
    names = ["joint"] * len(skeleton)
    for row, (left, right) in enumerate(pairs.items()):
        for name, side in ((left, "L"), (right, "R")):
            node = skeleton.index(name)
            if names[node] != "joint":
                raise SettingError(f"pairs: {name!r} comes twice")
            names[node] = f"pair{row}x.{side}"
    return names


def _paired_by_tree(skeleton: Skeleton, twins: Ints) -> Ints:
    """Twins (J,), with those that hang alike and are called alike on both sides.

    At rest they need not stand where the other's mirror image is.
    """
    own = twins.copy()
    for node in skeleton.order.tolist():
        if own[node] != node:
            continue
        parent = int(skeleton.parents[node])
        other = int(own[parent]) if parent >= 0 else -1
        called = {name for name, _ in swap_side(skeleton.names[node])}
        for twin in skeleton.children(other):
            if own[twin] == twin != node and skeleton.names[twin] in called:
                own[[node, twin]] = twin, node
                break
    return own


def _held(skeleton: Skeleton, twins: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Twins (J,) without those of things that one side holds; which nodes these are.

    A sword has no twin, but hangs on a hand that has one: it stays in that hand, and so
    does all below it.
    """
    own, is_held = twins.copy(), np.zeros(len(twins), bool)
    while True:
        before = int(is_held.sum())
        for node in skeleton.order.tolist():
            parent = int(skeleton.parents[node])
            if parent < 0 or is_held[node]:
                continue
            if is_held[parent] or (own[node] == node and own[parent] != parent):
                is_held[node] = True
                other = int(own[node])
                own[[node, other]] = node, other
        if int(is_held.sum()) == before:
            return own, is_held


def _is_even(skeleton: Skeleton, twins: Ints, is_held: NDArray[np.bool_]) -> bool:
    """Whether the parents of twins are twins, but for what is held."""
    above = np.append(twins, -1)[skeleton.parents]
    return bool((is_held | (skeleton.parents[twins] == above)).all())


def _mirror(
    track: Track,
    skeleton: Skeleton,
    node: int,
    flip: Doubles,
    turns: Doubles,
    world: Doubles,
) -> Track:
    """The track of a joint as one of its twin `node`.

    flip: (3, 3); turns: (J, 3, 3), orientations at rest; world: (J, 3, 4), at rest.
    """
    values = track.values.astype(np.float64)
    one = track.node
    above, over = int(skeleton.parents[one]), int(skeleton.parents[node])
    if track.path == "rotation":
        outer = exact.multiply(
            exact.multiply(_turn(turns, over).T, flip), _turn(turns, above)
        )
        signs = signs_of(skeleton)[[one, node]]
        inner = (
            signs[0][:, None]
            * exact.multiply(exact.multiply(turns[one].T, flip), turns[node])
            * signs[1]
        )
        # Both reflect, or neither: with the sign taken out of each they are turns.
        left, right = (
            quaternions.from_matrix(m * np.sign(exact.det(m))) for m in (outer, inner)
        )
        values = quaternions.multiply(quaternions.multiply(left, values), right)
    elif track.path == "translation":
        shift = exact.multiply(
            exact.multiply(_within(world, over), flip), _linear(world, above)
        )
        values = _moved(track, values, skeleton.translations, node, shift)
    else:
        blend = np.square(
            exact.multiply(exact.multiply(turns[node].T, flip), turns[one])
        )
        sizes = [skeleton.scales[n].astype(np.float64) for n in (one, node)]
        safe = np.where(sizes[0] == 0, 1.0, sizes[0])
        values = exact.multiply(values / safe, blend.T) * sizes[1]
    return Track(
        node, track.path, track.times, values.astype("f4"), track.interpolation
    )


def _moved(
    track: Track, values: Doubles, rests: NDArray[np.float32], node: int, shift: Doubles
) -> Doubles:
    """Places relative to the twin's rest, reflected; of tangents the slopes alone."""
    start, end = rests[track.node].astype("f8"), rests[node].astype("f8")
    moved: Doubles = exact.multiply(values, shift.T)
    keys = moved[:, 1] if track.interpolation == "CUBICSPLINE" else moved
    keys += end - exact.multiply(shift, start)
    return moved


def _turn(turns: Doubles, node: int) -> Doubles:
    return turns[node] if node >= 0 else np.eye(3)


def _linear(world: Doubles, node: int) -> Doubles:
    return world[node, :, :3] if node >= 0 else np.eye(3)


def _within(world: Doubles, node: int) -> Doubles:
    """The inverse of `_linear`; where a parent has no size, as near as there is."""
    return exact.pseudo_invert(_linear(world, node)).astype(np.float64)


def _mirror_sampled(
    clip: Clip,
    skeleton: Skeleton,
    twins: Ints,
    is_held: NDArray[np.bool_],
    flip: Doubles,
) -> Clip:
    """For trees that are not the same on both sides: key by key, in model space."""
    feeds = {
        node: Feed(int(twin), int(twin))
        for node, twin in enumerate(twins.tolist())
        if node not in skeleton.links and not is_held[node]
    }
    match = Match(feeds, "given")
    plan = Plan(skeleton, skeleton, match, flip, 1.0, {}, True, {})
    return transfer(clip, plan)
