"""Keys that their neighbours interpolate well enough are dropped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.convert.motion.error import measure_motion
from flexor.convert.motion.plan import rest_reach
from flexor.pose.clip_tables import ClipTables, lay_out_tracks
from flexor.pose.clips.track_values import slerp
from flexor.scene.character.clip import Track

__all__ = ["drop_keys"]

SHARES = (0.5, 0.25, 0.12, 0.06)  # of the bound, for each track; the first that holds


def drop_keys(
    tracks: list[Track], tables: ClipTables, bound: float, shell: float
) -> list[Track]:
    """LINEAR tracks with fewer keys, so that points stay within the bound; all others
    as they are. tables: the original clip.
    """
    layout = tables.layout
    reach = rest_reach(layout, shell)
    times = np.unique(np.concatenate([t.times for t in tracks] or [np.zeros(1, "f4")]))
    middles = (times[1:] + times[:-1]) / np.float32(2)
    moments = np.unique(np.concatenate([times, middles])).astype(np.float32)
    for share in SHARES:
        fewer = [
            _drop(track, share * bound / reach[track.path][track.node])
            for track in tracks
        ]
        if all(
            len(a.times) == len(b.times) for a, b in zip(fewer, tracks, strict=True)
        ):
            break
        made = lay_out_tracks(tuple(fewer), tables.duration, layout)
        if measure_motion(tables, made, moments, shell).worst <= bound:
            return fewer
    return tracks


def _drop(track: Track, tolerance: float) -> Track:
    """The track with keys dropped that are within a tolerance of its own values."""
    if track.interpolation != "LINEAR" or len(track.times) < 3 or not tolerance > 0:
        return track
    times, values = track.times.astype(np.float64), track.values.astype(np.float64)
    if track.path == "rotation":
        flips = np.where((values[1:] * values[:-1]).sum(1) < 0, -1.0, 1.0)
        values[1:] *= np.cumprod(flips)[:, None]
    keep = np.zeros(len(times), bool)
    keep[[0, -1]] = True
    spans = [(0, len(times) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        inside = slice(first + 1, last)
        u = (times[inside] - times[first]) / (times[last] - times[first])
        between = _between(track.path, values[[first, last], None], u)
        off = np.sqrt(((between - values[inside]) ** 2).sum(1))
        worst = int(off.argmax())
        if off[worst] > tolerance:
            at = first + 1 + worst
            keep[at] = True
            spans += [(first, at), (at, last)]
    if keep.sum() == 2 and (values[0] == values[-1]).all():
        keep[-1] = False
    if keep.all():
        return track
    return Track(track.node, track.path, track.times[keep], track.values[keep])


def _between(path: str, ends: Doubles, u: Doubles) -> NDArray[np.float64]:
    """Values (n, C) at fractions u (n,) of the way between two; ends: (2, 1, C)."""
    if path == "rotation":
        turned: NDArray[np.float64] = slerp(ends[0], ends[1], u)
        return turned
    straight: NDArray[np.float64] = ends[0] + (ends[1] - ends[0]) * u[:, None]
    return straight
