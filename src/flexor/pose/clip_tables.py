"""A clip laid out for sampling: tracks as tables, keys in one flat array.

Tracks that share their key times (most do) share a timeline, so that the place in it is
found once per timeline and character.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.maths import exact
from flexor.pose.kernels.layout import (
    CUBIC,
    FIRST_ROW,
    LINEAR,
    ROTATION_KEY,
    SMALLEST_ANGLE,
    STEP,
    TRACK_NUMBERS,
)
from flexor.pose.layout import Layout
from flexor.pose.packed_tables import PackedTables, lay_out_packed
from flexor.scene.character.clip import Clip, Track
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["ClipTables", "lay_out_tracks", "pack_clip"]

KINDS = {"LINEAR": LINEAR, "STEP": STEP, "CUBICSPLINE": CUBIC}


@dataclass(frozen=True, slots=True, eq=False)
class ClipTables:
    """One clip as the sampling kernels want it.

    times: float32, all timelines; timelines: int32 (G, 2), start and count in `times`;
    rotations, vectors, morphs: int32 (n, 5) track tables, columns as in the kernel;
    values: float32, all keys; duration: seconds; layout: the lanes it is laid out for;
    packed: what of the clip is packed, None if nothing is; the tables before are of its
    other tracks, to be sampled first.
    """

    times: Floats
    timelines: Ints
    rotations: Ints
    vectors: Ints
    morphs: Ints
    values: Floats
    duration: float
    layout: Layout
    packed: PackedTables | None = None


def pack_clip(clip: Clip | PackedClip, layout: Layout) -> ClipTables:
    """Lay the clip out for a skeleton's lanes."""
    tracks: tuple[Track, ...]
    packed = None
    if isinstance(clip, PackedClip):
        still = tuple(t for t in clip.keyed if _is_still(t))
        tracks = tuple(t for t in clip.keyed if not _is_still(t))
        packed = lay_out_packed(clip, still, layout)
    else:
        tracks = clip.tracks
    return lay_out_tracks(tracks, clip.duration, layout, packed)


def _is_still(track: Track) -> bool:
    """Whether a track has one value that is used as it is."""
    is_plain = track.interpolation != "CUBICSPLINE" and track.path != "weights"
    return is_plain and len(track.times) == 1


def lay_out_tracks(
    tracks: tuple[Track, ...],
    duration: float,
    layout: Layout,
    packed: PackedTables | None = None,
) -> ClipTables:
    """Lay tracks out for a skeleton's lanes, beside what is packed."""
    lines: dict[bytes, int] = {}
    times: list[Floats] = []
    starts: list[tuple[int, int]] = []
    tables: dict[str, list[tuple[int, ...]]] = {"r": [], "v": [], "m": []}
    values: list[Floats] = []
    offset = key_count = 0
    for track in tracks:
        key = track.times.tobytes()
        if key not in lines:
            lines[key] = len(lines)
            starts.append((key_count, len(track.times)))
            key_count += len(track.times)
            times.append(track.times)
        line, kind = lines[key], KINDS[track.interpolation]
        keys = _pack_values(track)
        if track.path == "weights":
            first, width = layout.morph_columns[track.node]
            tables["m"].append((line, first, kind, width, offset))
        else:
            lane = int(layout.lane_of_node[track.node])
            name = "r" if track.path == "rotation" else "v"
            tables[name].append((line, FIRST_ROW[track.path], kind, lane, offset))
        values.append(keys)
        offset += len(keys)

    def table(name: str) -> Ints:
        return np.array(tables[name], np.int32).reshape(-1, TRACK_NUMBERS)

    return ClipTables(
        np.concatenate([*times, np.zeros(0, np.float32)]),
        np.array(starts, np.int32).reshape(-1, 2),
        table("r"),
        table("v"),
        table("m"),
        np.concatenate([*values, np.zeros(0, np.float32)]),
        duration,
        layout,
        packed,
    )


def _pack_values(track: Track) -> Floats:
    """Keys as one flat array; linear rotations with the angle to the next key."""
    if track.path != "rotation" or track.interpolation == "CUBICSPLINE":
        return track.values.ravel()
    keys = np.zeros((len(track.values), ROTATION_KEY), np.float32)
    keys[:, :4] = track.values
    if track.interpolation == "LINEAR" and len(keys) > 1:
        # One sign for neighbours: the shortest arc, once and for all.
        dots = (keys[1:, :4].astype(np.float64) * keys[:-1, :4]).sum(1)
        flips = np.cumprod(np.where(dots < 0, -1, 1))
        keys[1:, :4] *= flips[:, None].astype(np.float32)
        angles = exact.acos_each(np.clip(np.abs(dots), 0, 1))
        angles = np.maximum(angles, SMALLEST_ANGLE)
        keys[:-1, 4] = angles
        keys[:-1, 5] = 1 / exact.sin_each(angles)
    return keys.ravel()
