"""Clips cut, put one after another, sampled anew, quicker, slower or backwards.

Clips are frozen: every function gives a new one. Cuts are exact: a piece of a clip,
sampled, is the clip sampled at the same moments, for each interpolation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.clips.join_places import go_on
from flexor.pose.clips.track_values import (
    AnyClip,
    angles_between,
    as_keys,
    one_sign,
    sample_slopes,
    sample_track,
    share_times,
    slerp,
)
from flexor.scene.character.clip import Clip, Interpolation, Path, Track
from flexor.scene.character.skeleton import Skeleton

__all__ = ["change_speed", "concatenate", "resample", "reverse", "trim"]

Place = tuple[int, Path]

SLACK = 1e-3  # seconds that an end may lie behind the clip's: texts are rounded
DENSE = 60.0  # keys a second where clips blend
STRAIGHT = (
    1e-3  # of the size of values: how far curves may be off the lines they become
)
MOST_PIECES = 64  # of a span
UNIT = 1e-6  # how far a rotation may be from unit length
CLOSE = 1e-6  # radians that a curve made of unit keys may be off
SAME = 1e-6  # values that differ by less are one key at a seam


def trim(clip: AnyClip, start: float = 0.0, end: float | None = None) -> Clip:
    """The clip from `start` to `end` seconds, beginning at 0; end None: its own.

    Every track gets keys exactly at the cuts, by its own interpolation; CUBICSPLINE
    rotations a few more in the spans that are cut, because keys have to be of unit
    length there and the curve between is not.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> round(trim(hero.clips["walk"], 0.25, 0.75).duration, 3)
    0.5
    """
    clip = as_keys(clip)
    last = clip.duration
    begin = _seconds(start, "start")
    until = last if end is None else _seconds(end, "end")
    if not 0 <= begin < until or until > last + SLACK:
        raise SettingError(
            f"{begin:g} to {until:g} s: clip {clip.name!r} lasts {last:g} s, expected "
            "a start before the end, both in it"
        )
    until = min(until, last)
    if begin >= until:
        raise SettingError(f"start: {begin:g} s is where clip {clip.name!r} ends")
    tracks = [_cut(track, begin, until) for track in clip.tracks]
    return _lasting(replace(clip, tracks=tuple(tracks)), until - begin)


def change_speed(clip: AnyClip, factor: float) -> Clip:
    """The clip `factor` times as quick; more than 0."""
    rate = _seconds(factor, "factor")
    if not rate > 0:
        raise SettingError(f"factor: {factor!r}, expected a number above 0")
    clip = as_keys(clip)
    tracks = []
    for track in clip.tracks:
        times, kept = _rising(track.times.astype(np.float64) / rate)
        values = track.values.astype(np.float64)
        if track.interpolation == "CUBICSPLINE":
            values[:, [0, 2]] *= rate
        tracks.append(_with(track, times, values[kept]))
    return share_times(replace(clip, tracks=tuple(tracks)))


def reverse(clip: AnyClip) -> Clip:
    """The clip backwards."""
    clip = as_keys(clip)
    last = clip.duration
    tracks = []
    for track in clip.tracks:
        times = last - track.times[::-1].astype(np.float64)
        values = track.values[::-1].astype(np.float64)
        if track.interpolation == "CUBICSPLINE":
            values = values[:, ::-1].copy()
            values[:, [0, 2]] *= -1
        elif track.interpolation == "STEP" and len(times) > 1:
            # A value holds until the key that was after it; the last one from the
            # start, if that is before its key.
            values = values[1:]
            times = times[:-1]
            if times[0] > 0:
                times = np.concatenate([[0.0], times])
                values = np.concatenate([track.values[-1:].astype("f8"), values])
        rising, kept = _rising(times)
        tracks.append(_with(track, rising, values[kept]))
    return _lasting(replace(clip, tracks=tuple(tracks)), last)


def resample(clip: AnyClip, rate: float) -> Clip:
    """The clip with keys `rate` times a second and at its end, LINEAR between them.

    All tracks share their key times. STEP tracks stay as they are: there is nothing
    between their keys.
    """
    per_second = _seconds(rate, "rate")
    if not 0 < per_second * max(clip.duration, 1e-9) < 1e7:
        raise SettingError(
            f"rate: {rate!r}, expected keys a second, above 0, at most ten million keys"
        )
    clip = as_keys(clip)
    times = _steps(0.0, clip.duration, per_second)
    tracks = [
        track
        if track.interpolation == "STEP"
        else _with(track, times, _sampled(track, times.astype("f8")), "LINEAR")
        for track in clip.tracks
    ]
    return _lasting(replace(clip, tracks=tuple(tracks)), clip.duration)


def concatenate(
    clips: Sequence[AnyClip],
    *,
    fades: float | Sequence[float] = 0.0,
    skeleton: Skeleton | None = None,
    onward: bool | None = None,
    name: str | None = None,
) -> Clip:
    """Clips one after another.

    fades: seconds for which a clip and the next overlap, one blending into the other;
    one number, or one for each seam. skeleton: what a track that a clip lacks is at
    meanwhile is taken from its rest; without it, the last value holds (before the
    first, the first). onward: whether a clip goes on over the ground where the one
    before it ended, and as it was turned; None: if one of the two travels and the
    skeleton is known. name: that of the first clip if it is not given.

    At a seam without a fade the next clip's first key stands; the last key before it
    goes a rounding step ahead if it differs, so that the motion jumps there and nowhere
    else. Tracks whose interpolations differ from clip to clip become LINEAR, and all
    that is not STEP does where there are fades.
    """
    if not clips:
        raise SettingError("clips: expected at least one")
    widths = _fades(clips, fades)
    keyed = [as_keys(clip) for clip in clips]
    if onward and skeleton is None:
        raise SettingError("onward: give the skeleton, too")
    if onward is not False and skeleton is not None:
        keyed = go_on(keyed, widths, skeleton, bool(onward))
    starts = [0.0]
    for clip, width in zip(keyed[:-1], widths, strict=True):
        starts.append(starts[-1] + clip.duration - width)
    places: dict[Place, None] = {}
    for clip in keyed:
        places |= dict.fromkeys((track.node, track.path) for track in clip.tracks)
    by_clip = [{(t.node, t.path): t for t in clip.tracks} for clip in keyed]
    tracks = []
    for place in places:
        pieces = _pieces(place, [own.get(place) for own in by_clip], skeleton)
        closed = [
            _closed(piece, clip.duration)
            for piece, clip in zip(pieces, keyed, strict=True)
        ]
        tracks.append(_join(_alike(closed, any(widths)), starts, widths))
    word = keyed[0].name if name is None else name
    return share_times(Clip(word, tuple(tracks), keyed[0].carried))


def _fades(clips: Sequence[AnyClip], fades: float | Sequence[float]) -> list[float]:
    """Seconds of overlap at each seam; refuses more than the clips last."""
    seams = len(clips) - 1
    if isinstance(fades, int | float):
        widths = [_seconds(fades, "fades")] * seams
    else:
        widths = [_seconds(width, "fades") for width in fades]
    if len(widths) != seams:
        raise SettingError(f"fades: {len(widths)} numbers for {seams} seams")
    around = [0.0, *widths, 0.0]
    for clip, before, after in zip(clips, around[:-1], around[1:], strict=True):
        if min(before, after) < 0 or before + after > clip.duration + 1e-6:
            raise SettingError(
                f"fades: {before:g} and {after:g} s around clip {clip.name!r}, which "
                f"lasts {clip.duration:g} s; expected no less than 0 and no more"
            )
    return widths


def _pieces(
    place: Place, tracks: list[Track | None], skeleton: Skeleton | None
) -> list[Track]:
    """A track for each clip; where there is none, one that holds still."""
    node, path = place
    first = next(track for track in tracks if track is not None)
    still = _value(first, 0)
    if skeleton is not None and path != "weights":
        rests = {
            "translation": skeleton.translations,
            "rotation": skeleton.rotations,
            "scale": skeleton.scales,
        }
        if not 0 <= node < len(skeleton):
            raise SettingError(f"skeleton: has no node {node}, which a clip moves")
        still = rests[path][node]
    found = []
    for track in tracks:
        if track is not None:
            found.append(track)
            if skeleton is None or path == "weights":
                still = _value(track, -1)
            continue
        kind = first.interpolation
        values = still[None]
        if kind == "CUBICSPLINE":
            values = np.stack([0 * still, still, 0 * still])[None]
        found.append(Track(node, path, np.zeros(1, "f4"), values.copy(), kind))
    return found


def _value(track: Track, key: int) -> Floats:
    values: Floats = track.values[key]
    return values[1] if track.interpolation == "CUBICSPLINE" else values


def _alike(tracks: list[Track], has_fades: bool) -> list[Track]:
    """The tracks with one interpolation: that of all, or LINEAR."""
    kinds = {track.interpolation for track in tracks}
    if len(kinds) == 1 and not (has_fades and "CUBICSPLINE" in kinds):
        return tracks
    return [_straight(track) for track in tracks]


def _straight(track: Track) -> Track:
    """The track as LINEAR: steps as two keys side by side, curves by many keys."""
    if track.interpolation == "LINEAR":
        return track
    if track.interpolation == "STEP":
        before = np.nextafter(track.times[1:], np.float32(-1))
        is_new = before > track.times[:-1]
        times = np.concatenate([track.times, before[is_new]])
        values = np.concatenate([track.values, track.values[:-1][is_new]])
        order = np.argsort(times, kind="stable")
        return _with(track, times[order], values[order], "LINEAR")
    times = _curve_times(track)
    return _with(track, times, _sampled(track, times.astype("f8")), "LINEAR")


def _curve_times(track: Track) -> Floats:
    """Key times (T,) between which a curve is nearly straight.

    A cubic is off its chord by at most an eighth of its largest second derivative,
    which it has at one of its ends, times the square of the step.
    """
    values, keys = track.values.astype(np.float64), track.times.astype(np.float64)
    length = np.diff(keys)[:, None]
    way = values[1:, 1] - values[:-1, 1]
    out, into = values[:-1, 2] * length, values[1:, 0] * length
    ends = np.stack([6 * way - 4 * out - 2 * into, -6 * way + 2 * out + 4 * into])
    bend = np.abs(ends).max(initial=0, axis=(0, 2)) / 8
    size = STRAIGHT * max(1.0, float(np.abs(values[:, 1]).max()))
    counts = np.clip(np.ceil(np.sqrt(bend / size)), 1, MOST_PIECES).astype(int).tolist()
    pieces = [
        np.linspace(keys[row], keys[row + 1], count, endpoint=False)
        for row, count in enumerate(counts)
    ]
    return _rising(np.concatenate([*pieces, keys[-1:]]))[0]


def _join(tracks: list[Track], starts: list[float], widths: list[float]) -> Track:
    """One track of those of each clip, of one interpolation, with keys at their ends.

    starts: seconds at which each begins; widths: how long each overlaps with the next.
    """
    times = tracks[0].times.astype(np.float64)
    values = tracks[0].values.astype(np.float64)
    for row in range(1, len(tracks)):
        track, start, width = tracks[row], starts[row], widths[row - 1]
        more = track.times.astype(np.float64) + start
        rows = track.values.astype(np.float64)
        if width > 0 and track.interpolation == "LINEAR":
            before = _with(track, times.astype("f4"), values)
            seam = _steps(start, start + width, DENSE).astype("f8")
            inner = np.concatenate([times, more])
            inside = (inner > start) & (inner < start + width)
            seam = np.unique(np.concatenate([seam, inner[inside]]).astype("f4"))
            seam = seam.astype("f8")
            u = (seam - start) / width
            u = u * u * (3 - 2 * u)
            one, other = sample_track(before, seam), sample_track(track, seam - start)
            if track.path == "rotation":
                blend = slerp(one, quaternions.normalise(other), u)
            else:
                blend = one + (other - one) * u[:, None]
            is_early, is_late = times < start, more > start + width
            times = np.concatenate([times[is_early], seam, more[is_late]])
            values = np.concatenate([values[is_early], blend, rows[is_late]])
            rising, kept = _rising(times)
            times, values = rising.astype("f8"), values[kept]
            continue
        # STEP tracks change in the middle of a fade.
        seam_at = start + width / 2
        if width > 0:
            first = sample_track(track, np.array([width / 2]))
            is_late = more > seam_at
            more = np.concatenate([[seam_at], more[is_late]])
            rows = np.concatenate([first, rows[is_late]])
            is_early = times < seam_at
            times, values = times[is_early], values[is_early]
        times, values = _abut(track, times, values, more, rows)
    rising, kept = _rising(times)
    return _with(tracks[0], rising, values[kept])


def _abut(
    track: Track, times: Doubles, values: Doubles, more: Doubles, rows: Doubles
) -> tuple[Doubles, Doubles]:
    """Keys and the next ones, whose first takes the place of the last at its time."""
    is_cubic = track.interpolation == "CUBICSPLINE"
    old, new = (values[-1, 1], rows[0, 1]) if is_cubic else (values[-1], rows[0])
    if track.path == "rotation" and (old * new).sum() < 0:
        rows, new = -rows, -new  # the same turns, on the side of those before
    seam = np.float32(more[0])
    if np.float32(times[-1]) >= seam:
        is_same = np.abs(old - new).max() <= SAME * max(1.0, np.abs(old).max())
        if is_same or track.interpolation == "STEP":
            if is_cubic:
                rows = rows.copy()
                rows[0, 0] = values[-1, 0]
            times, values = times[:-1], values[:-1]
        else:
            times, values, rows = times.copy(), values.copy(), rows.copy()
            times[-1] = np.nextafter(seam, np.float32(-1))
            if is_cubic:  # between the two keys nothing may swing out
                values[-1, 2], rows[0, 0] = 0, 0
    return np.concatenate([times, more]), np.concatenate([values, rows])


def _cut(track: Track, start: float, end: float) -> Track:
    """The track between two moments, from 0 on, with keys at both.

    One that has a single key keeps it alone.
    """
    if len(track.times) == 1:
        return _with(track, np.zeros(1, np.float32), track.values)
    return _between(track, start, end)


def _closed(track: Track, length: float) -> Track:
    """The track with keys at 0 and at `length` seconds."""
    if track.times[0] == 0 and track.times[-1] == np.float32(length):
        return track
    return _between(track, 0.0, length)


def _between(track: Track, start: float, end: float) -> Track:
    keys = track.times.astype(np.float64)
    inner = (keys > start) & (keys < end)
    ends = np.array([start, end])
    values = track.values.astype(np.float64)
    if track.interpolation == "CUBICSPLINE":
        value, slope = sample_slopes(track, ends)
        cuts = np.stack([slope, value, slope], 1)
        middle = values[inner]
        for cut, moment in enumerate(ends.tolist()):
            if (keys == moment).any():
                cuts[cut] = values[keys == moment][0]
        # Where the track holds still outside of its keys, the new span is flat.
        if len(middle) and start < keys[0]:
            middle[0, 0] = 0
        if len(middle) and end > keys[-1]:
            middle[-1, 2] = 0
        if start >= keys[-1]:
            cuts[0, 2] = 0
        if end <= keys[0]:
            cuts[1, 0] = 0
    else:
        cuts, middle = sample_track(track, ends), values[inner]
    moments = np.concatenate([[start], keys[inner], [end]])
    rows = np.concatenate([cuts[:1], middle, cuts[1:]])
    if track.path == "rotation" and track.interpolation == "CUBICSPLINE":
        moments, rows = _unit_ends(track, moments, rows)
    times, kept = _rising(moments - start)
    return _with(track, times, rows[kept])


def _unit_ends(
    track: Track, moments: Doubles, rows: Doubles
) -> tuple[Doubles, Doubles]:
    """Curves of rotations whose first and last keys (T, 3, 4) are of unit length.

    The curve itself is not: it is made unit after. So in a span that was cut the curve
    that has been made unit is followed, by as many keys as that takes.
    """
    is_off = np.abs(np.linalg.norm(rows[:, 1], axis=-1) - 1) > UNIT
    ends = {0, len(moments) - 2}
    for span in sorted(ends, reverse=True):  # the last first: rows before it stay
        if not is_off[span : span + 2].any():
            continue
        for count in (1, 2, 4, 8, 16, 32, 64):
            fine = np.linspace(moments[span], moments[span + 1], count + 1)
            value, slope = sample_slopes(track, fine)
            value[0], value[-1] = rows[span, 1], rows[span + 1, 1]
            slope[0], slope[-1] = rows[span, 2], rows[span + 1, 0]
            length = np.linalg.norm(value, axis=-1, keepdims=True)
            unit = value / length
            along = (slope - unit * (unit * slope).sum(-1, keepdims=True)) / length
            # Halfway between two keys of a cubic, of their values and slopes.
            step = fine[1] - fine[0]
            halfway = (unit[1:] + unit[:-1]) / 2 - (along[1:] - along[:-1]) * step / 8
            exact = sample_track(track, (fine[1:] + fine[:-1]) / 2)
            gaps = angles_between(quaternions.normalise(halfway), exact)
            if gaps.max() < CLOSE:
                break
        new = np.stack([along, unit, along], 1)
        new[0, 0], new[-1, 2] = rows[span, 0], rows[span + 1, 2]
        moments = np.concatenate([moments[:span], fine, moments[span + 2 :]])
        rows = np.concatenate([rows[:span], new, rows[span + 2 :]])
    return moments, rows


def _sampled(track: Track, times: Doubles) -> Doubles:
    rows = sample_track(track, times)
    return one_sign(rows) if track.path == "rotation" else rows


def _steps(start: float, end: float, rate: float) -> Floats:
    """Moments (T,) from start to end, both among them, `rate` a second between."""
    count = math.floor((end - start) * rate * (1 + 1e-9) + 1e-6)
    times = start + np.arange(count + 1) / rate
    if len(times) > 1 and times[-1] > end - 0.01 / rate:
        times[-1] = end
    else:
        times = np.append(times, end)
    return _rising(times)[0]


def _rising(times: Doubles) -> tuple[Floats, NDArray[np.bool_]]:
    """Times (T,) as float32, rising; which of them are kept.

    Of two that become equal the first goes a rounding step ahead, because steps are
    made of such keys; where there is no room for that it is dropped.
    """
    single = times.astype(np.float32)
    for row in np.flatnonzero(single[1:] <= single[:-1])[::-1].tolist():
        single[row] = np.nextafter(single[row + 1], np.float32(-1))
    kept = np.append(single[1:] > single[:-1], True)
    kept &= (single >= 0) | (times < 0)
    kept[1:] &= single[1:] > np.maximum.accumulate(np.where(kept, single, -1))[:-1]
    return single[kept], kept


def _with(
    track: Track,
    times: Floats,
    values: Doubles | Floats,
    interpolation: Interpolation | None = None,
) -> Track:
    kind = track.interpolation if interpolation is None else interpolation
    return Track(track.node, track.path, times, values.astype(np.float32), kind)


def _lasting(clip: Clip, length: float) -> Clip:
    """With a key at `length` seconds, at least in the first track; times shared."""
    if clip.tracks and clip.duration < np.float32(length):
        first = _closed(clip.tracks[0], length)
        clip = replace(clip, tracks=(first, *clip.tracks[1:]))
    return share_times(clip)


def _seconds(value: float, name: str) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SettingError(f"{name}: {value!r}, expected a finite number")
    return number
