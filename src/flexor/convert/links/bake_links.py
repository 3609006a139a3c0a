"""The movement of links as tracks of a clip, for engines that know no links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.maths import quaternions
from flexor.pose.clips.track_values import (
    angles_between,
    follow_turns,
    one_sign,
    sample_track,
    slerp,
    way_of,
)
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import PackedClip, unpacked

__all__ = ["TOLERANCE", "bake_links"]

TOLERANCE = 2e-4  # radians that a baked track may be off
DENSE = 0.25  # the part of it that keys put in between may use up
ROUNDS = 12  # how often a span is halved at most: a turn that jumps never fits
MOST_KEYS = 256  # for each key of the joint
PROBES = np.array([0.25, 0.5, 0.75])  # places in a span at which it is judged
# A place or scale no further from the rest is at rest: of the largest number there.
STILL = 1e-6

NONE: Mapping[int, float] = MappingProxyType({})


def bake_links(
    clip: Clip | PackedClip,
    skeleton: Skeleton,
    links: Mapping[int, Link],
    tolerance: float = TOLERANCE,
    *,
    tolerances: Mapping[int, float] = NONE,
) -> Clip:
    """The clip with tracks for links (by node), after those it has.

    links: of the skeleton. A link gets a track for each that its joint has, but for
    those that would only say that it stays at its rest. Places and scales are blended
    exactly, key by key. Rotations keep STEP; others become LINEAR, with as few keys as
    it takes that no place looked at is off by more than `tolerance` radians. The links
    of one joint share their key times. A joint that goes through half a turn away from
    its rest makes its links jump to the other side; there keys stand close together.

    tolerances: others for the links of some joints, by the joint's node.
    """
    clip = unpacked(clip)
    by_joint: dict[int, list[tuple[int, Link]]] = {}
    for node, link in links.items():
        by_joint.setdefault(link.joint, []).append((node, link))
    tracks: list[Track] = []
    for track in clip.tracks:
        mine = by_joint.get(track.node, [])
        least = tolerances.get(track.node, tolerance)
        if not mine or track.path == "weights":
            continue
        if track.path == "rotation":
            made = _bake_rotation(track, skeleton, mine, least)
        else:
            rests = _rests(skeleton, track)
            start = rests[track.node].astype(np.float64)
            made = [_bake_vector(track, start, *link) for link in mine]
        tracks += [own for own in made if not _is_still(own, skeleton, least)]
    return replace(clip, tracks=(*clip.tracks, *tracks)) if tracks else clip


def _rests(skeleton: Skeleton, track: Track) -> Floats:
    """Translations or scales of all nodes at rest, (J, 3)."""
    return skeleton.translations if track.path == "translation" else (skeleton.scales)


def _is_still(track: Track, skeleton: Skeleton, tolerance: float) -> bool:
    """Whether the track says no more than the node's rest does."""
    values = track.values.astype(np.float64)
    if track.path == "rotation":
        rest = quaternions.normalise(skeleton.rotations[track.node].astype(np.float64))
        angles = angles_between(quaternions.normalise(values), rest)
        return bool(angles.max() <= tolerance)
    rests = _rests(skeleton, track)
    if track.interpolation == "CUBICSPLINE":
        if np.abs(values[:, (0, 2)]).max() > 0:
            return False
        values = values[:, 1]
    off = np.abs(values - rests[track.node]).max()
    return bool(off <= STILL * np.abs(rests).max())


def _bake_vector(track: Track, rest: Doubles, node: int, link: Link) -> Track:
    """A place or scale on the way from its rest (3,): exact for every interpolation."""
    part = way_of(link)
    if part == 1:
        return replace(track, node=node)
    values = track.values.astype(np.float64) * part
    keys = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
    keys += rest * (1 - part)
    return Track(
        node, track.path, track.times, values.astype("f4"), track.interpolation
    )


def _bake_rotation(
    track: Track,
    skeleton: Skeleton,
    nodes: Sequence[tuple[int, Link]],
    tolerance: float,
) -> list[Track]:
    """Rotation tracks of one joint's links, by node."""
    rest = skeleton.rotations[track.node].astype(np.float64)
    start = quaternions.normalise(rest)
    links = tuple(link for _, link in nodes)
    is_step = track.interpolation == "STEP"
    times = track.times
    if not is_step:
        times = _dense_times(track, start, links, DENSE * tolerance)
    rows = _follow(start, sample_track(track, times.astype("f8")), links)
    signed = np.stack([one_sign(row) for row in rows])
    if not is_step:
        kept = _needed_keys(times, signed, (1 - DENSE) * tolerance)
        times, signed = times[kept], signed[:, kept]
    word = track.interpolation if is_step else "LINEAR"
    return [
        Track(node, "rotation", times, own, word)
        for (node, _), own in zip(nodes, signed.astype("f4"), strict=True)
    ]


def _dense_times(
    track: Track, rest: Doubles, links: Sequence[Link], tolerance: float
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
        blends = _follow(rest, sample_track(track, moments), links)
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


def _needed_keys(times: Floats, values: Doubles, tolerance: float) -> Ints:
    """Keys (K,) between which slerp is within the tolerance of all others.

    times: (T,); values: (L, T, 4), unit, of one sign. Where a key is too far off, the
    one that is furthest is kept (Douglas and Peucker), in all spans at once.
    """
    last = len(times) - 1
    is_kept = np.zeros(len(times), bool)
    is_kept[[0, last]] = True
    open_keys = np.arange(1, last)
    moments = times.astype(np.float64)
    while len(open_keys):
        kept = np.flatnonzero(is_kept)
        span = np.searchsorted(kept, open_keys) - 1
        before, after = kept[span], kept[span + 1]
        part = (moments[open_keys] - moments[before]) / (
            moments[after] - moments[before]
        )
        got = slerp(values[:, before], values[:, after], part[None])
        off = angles_between(got, values[:, open_keys]).max(0)
        # The furthest of each span, the first of those that are equally far.
        order = np.lexsort((-off, span))
        first = order[np.unique(span[order], return_index=True)[1]]
        is_far = off[first] > tolerance
        is_kept[open_keys[first[is_far]]] = True
        # Spans that fit are done.
        stays = np.isin(span, span[first[is_far]])
        open_keys = open_keys[stays & ~is_kept[open_keys]]
    return np.flatnonzero(is_kept).astype(np.int32)


def _follow(rest: Doubles, turned: Doubles, links: Sequence[Link]) -> Doubles:
    """Links (L, ..., 4) of a joint with that rest (4,) and rotations (..., 4)."""
    unit = quaternions.normalise(turned)
    return np.stack([follow_turns(link, rest, unit) for link in links])
