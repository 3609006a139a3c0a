"""A clip of one skeleton for another: each joint turns from its rest as its partner.

Turns are taken in model space and relative to rest, so that bones may have any local
axes, names, lengths and any number of joints between them. With O the orientation of a
joint (rotations and mirrorings of all above it, no sizes), C the turn from the axes of
the source to those of the target and B what brings the target's limb at rest to where
the source's is, a joint of the target stands at

    O_target(t) = C (O_source(t) O_source(rest)^-1) C^-1 B O_target(rest).

Places come from the hips alone (and from joints that a clip moves, where the skeletons
are alike), in proportion to the length of the legs, ankles on the ground as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.errors import ShapeError
from flexor.maths import exact, quaternions
from flexor.pose.clips.joint_motion import (
    Motion,
    at_rest,
    from_rest,
    in_motion,
    signs_of,
)
from flexor.pose.clips.retarget.feet import ground_shift, with_flat_soles
from flexor.pose.clips.retarget.places import joint_place, placed_joints
from flexor.pose.clips.retarget.plan import Moves, Plan, plan_retarget
from flexor.pose.clips.track_values import (
    AnyClip,
    as_keys,
    one_sign,
    sample_track,
    slerp,
)
from flexor.scene.character.clip import Clip, Path, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.tree import ancestors
from flexor.scene.human.human import Human

__all__ = ["retarget", "transfer"]


DENSE = 60.0  # keys a second where the source has curves
STEP_GAP = 1e-3  # seconds for a jump of the source
SAME_TIME = np.float32(1e-5)  # seconds: keys so close are at one time
LARGEST = float(np.finfo(np.float32).max)
STILL = 1e-6  # a track that changes by less has one key


def retarget(
    clip: AnyClip,
    source: Skeleton,
    target: Skeleton,
    name_map: Mapping[str, str] | None = None,
    *,
    travel: bool = True,
    align: bool | None = None,
    moves: Moves = "auto",
    bodies: tuple[Human, Human] | None = None,
) -> Clip:
    """The clip of the source as one of the target.

    Joints of equal names move each other, or the parts of human bodies. name_map:
    target name by source name, for what is to be otherwise; "" for a joint that is to
    move nothing, "*": "" for all that the map does not name. travel: whether the way
    over the ground is kept; if not, the hips stay above where they are at rest. align:
    whether limbs are to point as the source's do, also where one rests with arms down
    and the other with arms out; None: if both are humans. moves: "root" takes over the
    place of the hips alone, "all" every place and size that the clip changes, "auto"
    all where joints are matched by name. bodies: the human parts of both, where they
    are known better than by names.

    All tracks share one timeline: the key times of the source, and more where it has
    curves. What has no partner stays at rest. Morph weights are not taken over.
    """
    clip = as_keys(clip)
    plan = plan_retarget(
        source, target, name_map, clip=clip, align=align, moves=moves, bodies=bodies
    )
    return transfer(clip, plan, travel=travel)


def transfer(clip: AnyClip, plan: Plan, *, travel: bool = True) -> Clip:
    """A clip of the plan's source as one of its target; see `retarget`."""
    clip = as_keys(clip)
    count = len(plan.source)
    if any(not 0 <= track.node < count for track in clip.tracks):
        raise ShapeError(f"clip {clip.name!r}: moves a node that the source lacks")
    times = _moments(clip)
    if not len(times):
        return Clip(clip.name, ())
    source = in_motion(clip, plan.source, times.astype(np.float64))
    plan = with_flat_soles(plan, source, times.astype(np.float64))
    target = at_rest(plan.target)
    carried = placed_joints(clip, plan)
    moves: dict[int, Doubles] = {}
    local: dict[int, Doubles] = {}
    sizes = _sizes(clip, plan, times, source, target) if plan.has_moves else {}
    signs = signs_of(plan.target)
    skeleton = plan.target
    for node in _visits(plan):
        parent = int(skeleton.parents[node])
        above = target.turns[parent] if parent >= 0 else np.eye(3)[None]
        rest = quaternions.to_matrix(
            quaternions.normalise(skeleton.rotations[node].astype(np.float64))
        )
        if node in plan.match.feeds:
            turned = exact.multiply(
                _turned(plan, source, node), target.rest_turns[node]
            )
            target.turns[node] = turned
            rest = exact.multiply(np.swapaxes(above, -1, -2), turned) * signs[node]
            local[node] = rest
        else:
            target.turns[node] = exact.multiply(above, rest * signs[node])
        size = sizes.get(node, skeleton.scales[node].astype(np.float64)[None])
        linear = (rest if rest.ndim == 3 else rest[None]) * size[..., None, :]
        frame = target.worlds[parent] if parent >= 0 else np.eye(3, 4)[None]
        move = skeleton.translations[node].astype(np.float64)[None]
        place = joint_place(plan, source, target, node, carried, travel)
        if place is not None:
            move = moves[node] = _within(frame, place)
        world = np.empty((max(len(linear), len(move), len(frame)), 3, 4))
        world[..., :3] = exact.multiply(frame[..., :3], linear)
        world[..., 3] = (
            exact.multiply(frame[..., :3], move[..., None])[..., 0] + frame[..., 3]
        )
        target.worlds[node] = world
    shift = ground_shift(plan, source, target, times.astype(np.float64))
    for node in moves:
        line = ancestors(skeleton.parents, node)
        if shift.any() and not moves.keys() & set(line):
            frame = target.worlds[line[0]] if line else np.eye(3, 4)[None]
            frame = np.concatenate([frame[..., :3], np.zeros((len(frame), 3, 1))], -1)
            moves[node] = moves[node] + _within(frame, shift)
    return _as_clip(clip, plan, times, moves, local, sizes)


def _within(frame: Doubles, place: Doubles) -> Doubles:
    """Points (T, 3) as a parent (T, 3, 4) sees them; one of no size sees no more."""
    linear = frame[..., :3]
    try:
        inner = exact.invert(linear)
    except np.linalg.LinAlgError:
        inner = exact.pseudo_invert(linear)
    seen: Doubles = exact.multiply(inner, (place - frame[..., 3])[..., None])[..., 0]
    return seen


def _moments(clip: Clip) -> Floats:
    """The times (T,) of all keys, with more where there are curves and jumps.

    Of times that are one but for rounding the first is taken, if they are of different
    tracks: side by side in one track they are a jump.
    """
    found: list[Floats] = [np.zeros(0, np.float32)]
    jumps: list[Floats] = [np.zeros(0, np.float32)]
    kinds = {track.interpolation for track in clip.tracks if len(track.times) > 1}
    for track in clip.tracks:
        gaps = np.diff(track.times)
        is_close = gaps < SAME_TIME
        jumps += [track.times[:-1][is_close], track.times[1:][is_close]]
        found.append(track.times)
        if track.interpolation == "STEP" and kinds != {"STEP"}:
            is_jump = np.abs(np.diff(track.values, axis=0)).max(1) > STILL
            before = track.times[1:] - np.minimum(gaps / 2, np.float32(STEP_GAP))
            jumps += [before[is_jump], track.times[1:][is_jump]]
        elif track.interpolation == "CUBICSPLINE":
            first, last = float(track.times[0]), float(track.times[-1])
            found.append(np.arange(first, last, 1 / DENSE).astype(np.float32))
    times = np.unique(np.concatenate(found))
    kept = np.append(True, np.diff(times) > SAME_TIME)[: len(times)]
    end = np.array([clip.duration], np.float32)[: len(clip.tracks)]
    return np.unique(np.concatenate([times[kept], *jumps, end]))


def _visits(plan: Plan) -> list[int]:
    """Every node of the target after its parent and after what it follows."""
    order: list[int] = []
    seen: set[int] = set()
    left = plan.target.order.tolist()[::-1]
    while left:
        node = left[-1]
        above = (int(plan.target.parents[node]), plan.follows.get(node, -1))
        first = [one for one in above if one >= 0 and one not in seen]
        if node in seen or not first:
            left.pop()
            if node not in seen:
                seen.add(node)
                order.append(node)
        else:
            left += first
    return order


def _turned(plan: Plan, source: Motion, node: int) -> Doubles:
    """The turn (T, 3, 3) of a joint of the target from its rest, in its own axes."""
    feed = plan.match.feeds[node]
    turn = from_rest(source, feed.one)
    if feed.fraction > 0:
        ends = [
            quaternions.from_matrix(one)
            for one in (turn, from_rest(source, feed.other))
        ]
        part = np.full(len(turn), feed.fraction)
        turn = quaternions.to_matrix(slerp(ends[0], ends[1], part))
    turned: Doubles = exact.multiply(exact.multiply(plan.axes, turn), plan.axes.T)
    return exact.multiply(turned, plan.limbs[node]) if node in plan.limbs else turned


def _sizes(
    clip: Clip, plan: Plan, times: Floats, source: Motion, target: Motion
) -> dict[int, Doubles]:
    """Scales (T, 3) of joints whose partners change theirs, by the same factors."""
    tracks = {track.node: track for track in clip.tracks if track.path == "scale"}
    found = {}
    for node, one in plan.match.pairs.items():
        if one not in tracks:
            continue
        rest = plan.source.scales[one].astype(np.float64)
        now = sample_track(tracks[one], times.astype(np.float64))
        factors = np.divide(now, rest, out=np.ones_like(now), where=rest != 0)
        # The axes of one in those of the other: squares of a row add up to 1.
        across = exact.multiply(target.rest_turns[node].T, plan.axes)
        blend = np.square(exact.multiply(across, source.rest_turns[one]))
        found[node] = plan.target.scales[node].astype(np.float64) * exact.multiply(
            factors, blend.T
        )
    return found


def _as_clip(
    clip: Clip,
    plan: Plan,
    times: Floats,
    moves: dict[int, Doubles],
    local: dict[int, Doubles],
    sizes: dict[int, Doubles],
) -> Clip:
    """Rows of joints as tracks; what stays at rest gets none."""
    rest = plan.target
    kinds = {track.interpolation for track in clip.tracks if len(track.times) > 1}
    kind: Literal["STEP", "LINEAR"] = "STEP" if kinds == {"STEP"} else "LINEAR"
    turns: dict[int, Doubles] = {}
    if local:
        rows = np.stack(
            [np.broadcast_to(m, (len(times), 3, 3)) for m in local.values()]
        )
        q = one_sign(np.swapaxes(quaternions.from_matrix(rows), 0, 1))
        starts = rest.rotations[list(local)]
        q *= np.where((q[0] * starts).sum(-1) < 0, -1.0, 1.0)[:, None]
        turns = {node: q[:, row] for row, node in enumerate(local)}
    tracks: list[Track] = []
    spare: Track | None = None
    paths: tuple[tuple[Path, dict[int, Doubles], Floats], ...] = (
        ("translation", moves, rest.translations),
        ("rotation", turns, rest.rotations),
        ("scale", sizes, rest.scales),
    )
    for node in sorted({*moves, *turns, *sizes}):
        for path, parts, rests in paths:
            if node not in parts:
                continue
            values = np.broadcast_to(parts[node], (len(times), parts[node].shape[1]))
            if not np.abs(values).max() <= LARGEST:
                name = rest.names[node]
                raise ShapeError(
                    f"clip {clip.name!r}: {name!r} would go beyond float32"
                )
            track = Track(node, path, times, values.astype(np.float32), kind)
            spare = track if spare is None else spare
            scale = STILL * max(1.0, float(np.abs(values).max()))
            if np.abs(values - values[0]).max() > scale:
                tracks.append(track)
            elif np.abs(values[0] - rests[node]).max() > scale:
                first = track.values[:1].copy()
                tracks.append(Track(node, path, times[:1], first, kind))
    lasting = any(len(track.times) == len(times) for track in tracks)
    if spare is not None and not lasting:
        tracks = [t for t in tracks if (t.node, t.path) != (spare.node, spare.path)]
        tracks.insert(0, spare)  # so that it lasts as long
    return Clip(clip.name, tuple(tracks))
