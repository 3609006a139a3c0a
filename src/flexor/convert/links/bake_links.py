"""The movement of links as tracks of a clip, for engines that know no links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.maths import quaternions
from flexor.pose.clips.track_values import angles_between, one_sign, sample_track, slerp
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import PackedClip, unpacked

__all__ = ["TOLERANCE", "bake_links"]

TOLERANCE = 1e-4  # radians that a baked track may be off between its keys
ROUNDS = 12  # how often a span is halved at most: a turn that jumps never fits
MOST_KEYS = 256  # for each key of the joint
PROBES = np.array([0.25, 0.5, 0.75])  # places in a span at which it is judged

# What was baked before, by track and fractions: key times, and values of each link. The
# track stands beside them, so that no other gets its number.
Baked = dict[tuple[int, bytes, bytes, float], tuple[Track, Floats, tuple[Floats, ...]]]


def bake_links(
    clip: Clip | PackedClip,
    skeleton: Skeleton,
    links: Mapping[int, Link],
    tolerance: float = TOLERANCE,
    *,
    baked: Baked | None = None,
) -> Clip:
    """The clip with tracks for links (by node), after those it has.

    links: of the skeleton. A link gets a track for each that its joint has. Places and
    scales are blended exactly, key by key. Rotations keep STEP; others become LINEAR,
    at the joint's keys and at more between them, until no place looked at is off by
    more than `tolerance` radians. The links of one joint share their key times. A joint
    that goes through half a turn away from its rest makes its links jump to the other
    side; there keys stand close together.

    baked: rotations that were baked before, which are not baked again; those of this
    clip are added.
    """
    clip = unpacked(clip)
    baked = {} if baked is None else baked
    by_joint: dict[int, list[tuple[int, float]]] = {}
    for node, link in links.items():
        by_joint.setdefault(link.joint, []).append((node, link.fraction))
    tracks: list[Track] = []
    for track in clip.tracks:
        mine = by_joint.get(track.node, [])
        if not mine or track.path == "weights":
            continue
        if track.path == "rotation":
            rest = skeleton.rotations[track.node].astype(np.float64)
            tracks += _bake_rotation(track, rest, mine, tolerance, baked)
            continue
        rests = (
            skeleton.translations if track.path == "translation" else (skeleton.scales)
        )
        start = rests[track.node].astype(np.float64)
        tracks += [_bake_vector(track, start, *link) for link in mine]
    return replace(clip, tracks=(*clip.tracks, *tracks)) if tracks else clip


def _bake_vector(track: Track, rest: Doubles, node: int, fraction: float) -> Track:
    """A place or scale on the way from its rest (3,): exact for every interpolation."""
    values = track.values.astype(np.float64) * fraction
    keys = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
    keys += rest * (1 - fraction)
    return Track(
        node, track.path, track.times, values.astype("f4"), track.interpolation
    )


def _bake_rotation(
    track: Track,
    rest: Doubles,
    links: Sequence[tuple[int, float]],
    tolerance: float,
    baked: Baked,
) -> list[Track]:
    """Rotation tracks of one joint's links (node, fraction); rest: (4,)."""
    start = quaternions.normalise(rest)
    fractions = np.array([fraction for _, fraction in links])
    is_step = track.interpolation == "STEP"
    key = id(track), start.tobytes(), fractions.tobytes(), tolerance
    if key not in baked:
        times = track.times
        if not is_step:
            times = _dense_times(track, start, fractions, tolerance)
        rows = _blend(start, sample_track(track, times.astype("f8")), fractions)
        values = tuple(one_sign(row).astype("f4") for row in rows)
        baked[key] = track, times, values
    _, times, values = baked[key]
    word = track.interpolation if is_step else "LINEAR"
    return [
        Track(node, "rotation", times, own, word)
        for (node, _), own in zip(links, values, strict=True)
    ]


def _dense_times(
    track: Track, rest: Doubles, fractions: Doubles, tolerance: float
) -> Floats:
    """Key times (T,) between which slerp is within the tolerance, if any are."""
    times = track.times
    most = MOST_KEYS * len(times)
    open_spans = np.ones(len(times) - 1, bool)
    for _ in range(ROUNDS):
        spans = np.flatnonzero(open_spans)
        if not len(spans):
            break
        before, after = times[spans].astype("f8"), times[spans + 1].astype("f8")
        between = before + (after - before) * PROBES[:, None]
        moments = np.concatenate([before[None], after[None], between])
        blends = _blend(rest, sample_track(track, moments), fractions)
        probes = np.broadcast_to(PROBES[:, None], between.shape)
        got = slerp(blends[:, 0, None], blends[:, 1, None], probes)
        worst = angles_between(blends[:, 2:], got).max((0, 1))
        middles = ((before + after) / 2).astype(np.float32)
        is_between = (middles > times[spans]) & (middles < times[spans + 1])
        split = (worst > tolerance) & is_between
        if len(times) + np.count_nonzero(split) > most:
            break
        times = np.insert(times, spans[split] + 1, middles[split])
        # Both halves of a span that was split are judged in the next round.
        halves = np.where(split, 2, 1)
        open_all = np.zeros(len(open_spans), np.intp)
        open_all[spans] = split
        widths = np.ones(len(open_spans), np.intp)
        widths[spans] = halves
        open_spans = np.repeat(open_all > 0, widths)
    return times


def _blend(rest: Doubles, turned: Doubles, fractions: Doubles) -> Doubles:
    """Links (L, ..., 4) at fractions (L,) of the way from rest (4,) to (..., 4)."""
    unit = quaternions.normalise(turned)
    shape = (len(fractions), *[1] * (unit.ndim - 1))
    return slerp(
        np.broadcast_to(rest, unit.shape), unit[None], fractions.reshape(shape)
    )
