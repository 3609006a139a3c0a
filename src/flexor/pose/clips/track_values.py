"""Tracks at points in time in double precision, for edits of clips (not for playing).

What the sampling kernels give in float32, here in plain NumPy over any number of times.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.maths import exact, quaternions
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = [
    "AnyClip",
    "angles_between",
    "as_keys",
    "follow_turns",
    "local_rows",
    "one_sign",
    "sample_slopes",
    "sample_track",
    "share_times",
    "slerp",
    "way_of",
]

AnyClip = Clip | PackedClip
NO_TWIST = 1e-6  # the least cosine of half a twist


def as_keys(clip: AnyClip) -> Clip:
    """The clip with all of its keys, also if it is packed."""
    if isinstance(clip, Clip):
        return clip
    return Clip(clip.name, clip.tracks, clip.carried)


def share_times(clip: Clip) -> Clip:
    """The clip, its tracks with one array of times where their times are equal.

    Files hold what is shared once.
    """
    known: dict[bytes, Floats] = {}
    tracks = []
    for track in clip.tracks:
        times = known.setdefault(track.times.tobytes(), track.times)
        tracks.append(track if track.times is times else replace(track, times=times))
    return replace(clip, tracks=tuple(tracks))


def sample_track(track: Track, times: Doubles) -> Doubles:
    """Values (..., C) of a track at times (...,), seconds, clamped to it.

    As the pose kernels do it: keys are used as stored; of CUBICSPLINE rotations the
    result is made unit.
    """
    if track.interpolation == "CUBICSPLINE":
        value = sample_slopes(track, times)[0]
        return quaternions.normalise(value) if track.path == "rotation" else value
    key, after, _, u = _places(track, times)
    values = track.values.astype(np.float64)
    if track.interpolation == "STEP":
        return values[key]
    if track.path == "rotation":
        return slerp(values[key], values[after], u)
    return values[key] + (values[after] - values[key]) * u[..., None]


def sample_slopes(track: Track, times: Doubles) -> tuple[Doubles, Doubles]:
    """Values and slopes (..., C) of a CUBICSPLINE track, rotations not made unit.

    times: (...,), seconds. Slopes are per second, those after a key; before the first
    key and from the last on they are 0.
    """
    key, after, length, u = _places(track, times)
    values = track.values.astype(np.float64)
    v, w = u[..., None], length[..., None]
    p0, m0 = values[key, 1], values[key, 2] * w
    p1, m1 = values[after, 1], values[after, 0] * w
    vv = v * v
    vvv = vv * v
    value = (
        (2 * vvv - 3 * vv + 1) * p0
        + (vvv - 2 * vv + v) * m0
        + (3 * vv - 2 * vvv) * p1
        + (vvv - vv) * m1
    )
    by_fraction = (
        (6 * vv - 6 * v) * (p0 - p1) + (3 * vv - 4 * v + 1) * m0 + (3 * vv - 2 * v) * m1
    )
    keys = track.times
    is_inside = (times >= keys[0]) & (times < keys[-1])
    slope = np.zeros_like(value)
    np.divide(by_fraction, w, out=slope, where=(w > 0) & is_inside[..., None])
    return value, slope


def _places(
    track: Track, times: Doubles
) -> tuple[NDArray[np.intp], NDArray[np.intp], Doubles, Doubles]:
    """Key before each time, key after it, seconds between them, fraction: (...,)."""
    keys = track.times.astype(np.float64)
    moments = np.clip(np.asarray(times, np.float64), keys[0], keys[-1])
    key = np.maximum(np.searchsorted(keys, moments, "right") - 1, 0)
    after = np.minimum(key + 1, len(keys) - 1)
    length = keys[after] - keys[key]
    u = np.divide(
        moments - keys[key], length, out=np.zeros_like(moments), where=length > 0
    )
    return key, after, length, u


def local_rows(
    clip: Clip | None, skeleton: Skeleton, times: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """Translations (T, J, 3), rotations (T, J, 4), scales (T, J, 3) at times (T,).

    Relative to the parent, rotations at unit length, links where they stand.
    """
    count = len(times)
    rests = (skeleton.translations, skeleton.rotations, skeleton.scales)
    moves, turns, sizes = (np.tile(rest.astype("f8"), (count, 1, 1)) for rest in rests)
    parts = {"translation": moves, "rotation": turns, "scale": sizes}
    for track in clip.tracks if clip is not None else ():
        if track.path != "weights":
            parts[track.path][:, track.node] = sample_track(track, times)
    turns = quaternions.normalise(turns)
    for node, link in skeleton.links.items():
        for rows, rest in ((moves, rests[0]), (sizes, rests[2])):
            start = rest[link.joint].astype(np.float64)
            part = way_of(link)
            rows[:, node] = start + (rows[:, link.joint] - start) * part
        start = quaternions.normalise(rests[1][link.joint].astype(np.float64))
        turns[:, node] = follow_turns(link, start, turns[:, link.joint])
    return moves, turns, sizes


def follow_turns(link: Link, rest: Doubles, turns: Doubles) -> Doubles:
    """Rotations of a link (..., 4) for those of its joint (..., 4), which are unit.

    rest: (4,), the joint's, unit.
    """
    fractions = np.full(turns.shape[:-1], link.fraction)
    start = np.broadcast_to(rest, turns.shape)
    if link.axis is None:
        return slerp(start, turns, fractions)
    across = quaternions.multiply(rest, np.array([*link.axis, 0.0]))
    cosines, sines = (turns * rest).sum(-1), (turns * across).sum(-1)
    sines = np.where(cosines < 0, -sines, sines)
    # A swing of half a turn has no twist; as in the kernel, it goes to none.
    cosines = np.maximum(np.abs(cosines), NO_TWIST)
    back = np.zeros(turns.shape)
    lengths = np.sqrt(sines * sines + cosines * cosines)
    back[..., :3] = -(sines / lengths)[..., None] * np.array(link.axis)
    back[..., 3] = cosines / lengths
    still = np.broadcast_to(np.array([0.0, 0, 0, 1]), turns.shape)
    given_back = np.ones(fractions.shape) if link.is_swing else 1 - fractions
    twisted: Doubles = quaternions.multiply(turns, slerp(still, back, given_back))
    return slerp(start, twisted, fractions) if link.is_swing else twisted


def way_of(link: Link) -> float:
    """The part of its joint's way that a link moves and grows, from its rest."""
    return link.fraction if link.axis is None or link.is_swing else 1.0


def slerp(a: Doubles, b: Doubles, u: Doubles) -> Doubles:
    """Between quaternions a, b (..., 4) on the shortest arc, at u (...,)."""
    dot = (a * b).sum(-1)
    b = np.where(dot[..., None] < 0, -b, b)
    angle = np.maximum(exact.acos_each(np.clip(np.abs(dot), 0, 1)), 1e-4)
    inverse = 1 / exact.sin_each(angle)
    first, second = (
        exact.sin_each((1 - u) * angle) * inverse,
        exact.sin_each(u * angle) * inverse,
    )
    between: Doubles = a * first[..., None] + b * second[..., None]
    return between


def angles_between(a: Doubles, b: Doubles) -> Doubles:
    """Angles (...,) between unit rotations a, b (..., 4), radians; good when small."""
    near = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    angles: Doubles = 4 * exact.asin_each(np.minimum(near / 2, 1))
    return angles


def one_sign(rows: Doubles) -> Doubles:
    """Rotations (T, ..., 4), unit, each on the side of the one before it."""
    dots = (rows[1:] * rows[:-1]).sum(-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    unit = quaternions.normalise(rows)
    unit[1:] *= signs[..., None]
    return unit
