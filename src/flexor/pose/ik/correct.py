"""Motions corrected while they run: a punch that still meets one who has stooped.

The last frames of a motion, its link region, bend its end to another target. An attack
on somebody at another height is lifted up to the impact and let down until recovery.
Both move the end of a limb and solve the limb again, so that all its parts follow.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles, Floats
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.clip_tables import pack_clip
from flexor.pose.clips.track_values import one_sign, sample_slopes
from flexor.pose.ik.reach import as_floats
from flexor.pose.ik.two_bone import (
    Limb,
    TwoBoneState,
    init_two_bone,
    limb_ends,
    solve_two_bone,
)
from flexor.pose.layout import ROWS, Layout
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip, Track

__all__ = [
    "bend_end",
    "bend_limbs",
    "level_offset",
    "lift_limbs",
    "link_frames",
    "link_part",
]


LINK_PART, LINK_MOST = 10, 10  # a tenth of the motion, and at most so many frames
LEVEL_MOST = 0.15  # metres


def link_frames(frames: int) -> int:
    """Frames of the link region of a motion of so many: the last tenth, 1 to 10."""
    if frames < 1:
        raise SettingError(f"frames: {frames}, expected at least 1")
    return min(max(frames // LINK_PART, 1), LINK_MOST)


def link_part(frame: ArrayLike, frames: int) -> Doubles:
    """How much of the way to its target a motion's end has gone at a frame, 0 to 1.

    frame: any shape, 1 to `frames`, fractions too; 0 before the link region, 1 from the
    last frame on.
    """
    region = link_frames(frames)
    since = np.asarray(frame, np.float64) - (frames - region)
    part: Doubles = np.clip(since / region, 0, 1)
    return part


def level_offset(
    difference: ArrayLike,
    frame: ArrayLike,
    impact: ArrayLike,
    recovery: ArrayLike,
    is_grounded: ArrayLike = True,
) -> Doubles:
    """Metres that an attack's hand or foot is lifted by, at a frame of its move.

    difference: metres that the other stands higher, taken as at most 0.15 either way;
    frame, impact, recovery: numbers of frames, recovery after impact, fractions too;
    is_grounded: whether both stand on the ground: if not, 0. All of shapes that go
    together. The offset rises evenly up to the impact and falls to 0 at recovery.
    """
    high = np.clip(np.asarray(difference, np.float64), -LEVEL_MOST, LEVEL_MOST)
    now, hit, end, known = np.broadcast_arrays(
        np.asarray(frame, np.float64),
        np.asarray(impact, np.float64),
        np.asarray(recovery, np.float64),
        high,
    )
    if not all(np.isfinite(part).all() for part in (known, now, end)):
        raise SettingError("difference, frame, recovery: must be finite")
    if not ((hit >= 0) & (end > hit)).all():
        raise SettingError("impact, recovery: expected 0 <= impact < recovery")
    rising = np.clip(now / np.where(hit > 0, hit, 1), 0, 1)
    falling = np.clip((end - now) / (end - hit), 0, 1)
    part = np.where(now < hit, rising, falling)
    offset: Doubles = known * part * np.asarray(is_grounded, bool)
    return offset


def bend_limbs(
    state: TwoBoneState,
    local: Floats,
    world: WorldState,
    targets: ArrayLike,
    parts: ArrayLike,
    *,
    poles: ArrayLike | None = None,
) -> TwoBoneState:
    """Bring the ends of limbs a part of the way to their targets.

    local: (N, 10 * L), changed; world: what `world_from_local` made of it before;
    targets: (N, M, 3), metres in the world; parts: (N, M), as `link_part` gives them:
    at 0 nothing is touched, at 1 the end is on its target.
    """
    shape = state.off.shape
    ends = limb_ends(state, world)
    share = as_floats(parts, shape, "parts")[..., None]
    at = as_floats(targets, (*shape, 3), "targets")
    # The way that is left, not the way gone: at part 1 it is the target to the bit.
    toward = at + (ends - at) * (1 - share)
    return solve_two_bone(
        state, local, world, toward, poles=poles, weights=(share > 0)[..., 0]
    )


def lift_limbs(
    state: TwoBoneState,
    local: Floats,
    world: WorldState,
    offsets: ArrayLike,
    *,
    poles: ArrayLike | None = None,
) -> TwoBoneState:
    """Lift the ends of limbs by offsets (N, M), metres, and let the limbs follow.

    local: (N, 10 * L), changed; world: what `world_from_local` made of it before. Limbs
    whose offset is 0 are not touched.
    """
    high = as_floats(offsets, state.off.shape, "offsets")
    raised = limb_ends(state, world)
    raised[..., 1] += high
    return solve_two_bone(state, local, world, raised, poles=poles, weights=high != 0)


def bend_end(
    clip: Clip,
    layout: Layout,
    limb: Limb,
    target: ArrayLike,
    *,
    rate: float = 60.0,
    pole: ArrayLike | None = None,
) -> Clip:
    """The clip, its end bent so that a limb comes to a target in its last frames.

    target: (3,), metres in model space; rate: frames a second; pole: (3,), a direction
    that the limb's middle points to. Before the link region nothing changes. Tracks
    keep their interpolation; a limb without tracks gets some.
    """
    if not (np.isfinite(rate) and rate > 0):
        raise SettingError(f"rate: {rate}, expected frames a second, above 0")
    frames = max(round(clip.duration * rate), 1)
    region = link_frames(frames)
    seconds = clip.duration - np.arange(region, -1, -1) / rate
    seconds = seconds[seconds >= 0]
    moments = seconds.astype(np.float32)
    sampled = sample(
        init_sample(pack_clip(clip, layout), layout, len(moments)), moments
    )
    local = sampled.local
    world = world_from_local(init_world(layout, len(local)), local)
    state = init_two_bone(layout, [limb], len(local))
    parts = 1 - np.arange(len(local))[::-1, None] / region
    goal = as_floats(target, (3,), "target")
    bend_limbs(state, local, world, goal, parts, poles=pole)
    turned = local.reshape(len(local), ROWS, -1)[:, 3:7]
    tracks = {(track.node, track.path): track for track in clip.tracks}
    for node in state.nodes[0]:
        old = tracks.get((node, "rotation"))
        if old is None:
            rest = layout.skeleton.rotations[node]
            old = Track(node, "rotation", np.zeros(1, np.float32), rest[None].copy())
        new = turned[:, :, layout.lane_of_node[node]].astype(np.float64)
        tracks[node, "rotation"] = _bent(old, seconds, new, len(seconds) > region)
    return replace(clip, tracks=tuple(tracks.values()))


def _bent(track: Track, seconds: Doubles, turned: Doubles, is_whole: bool) -> Track:
    """A rotation track with other values from the first of some moments on.

    is_whole: whether the first of them is still as it was.
    """
    before = track.times < np.float32(seconds[0])
    times = np.concatenate([track.times[before], seconds.astype(np.float32)])
    if track.interpolation == "CUBICSPLINE":
        kept = track.values[before].astype(np.float64)
        value, slope = sample_slopes(track, seconds[:1])
        # On the side that the curve is on, or it would turn round between two keys.
        line = one_sign(np.concatenate([quaternions.normalise(value), turned]))[1:]
        ways = np.gradient(line, seconds, axis=0) if len(line) > 1 else 0 * line
        keys = np.stack([ways, line, ways], 1)
        keys[0, 0] = slope[0]
        if is_whole:  # the curve goes on as it was up to there
            keys[0, 1] = value[0]
        values = np.concatenate([kept, keys])
    else:
        kept = track.values[before].astype(np.float64)
        values = one_sign(np.concatenate([kept, turned]))
    return replace(track, times=times, values=values.astype(np.float32))
