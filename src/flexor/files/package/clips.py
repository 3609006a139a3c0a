"""Clips in a package: all tracks in one table, all keys in two arrays.

tracks: int32, of all tracks the node, then of all the kind (which path and which
interpolation), the first key and the last key in `times`. times: float32, key times;
tracks may share them. values: float32, those of all tracks, one after another. A file
is checked at once; a clip is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import AssetError
from flexor.files.package.motion import pack_motion, read_motion
from flexor.files.package.records import (
    Checks,
    carried,
    flag,
    read_records,
    text,
    whole,
)
from flexor.files.package.tensors import TensorFile
from flexor.scene.character.clip import WIDTH, Clip, Interpolation, Path, Track
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["LazyClips", "pack_clips", "read_clips"]

KINDS = [(path, how) for path in get_args(Path) for how in get_args(Interpolation)]
FIRST_WEIGHTS = len(KINDS) - len(get_args(Interpolation))
# Numbers in a key of each kind; for morphs they depend on the node.
PARTS = [3 if how == "CUBICSPLINE" else 1 for _, how in KINDS]
CLIP: Checks = {
    "name": text,
    "title": text,
    "tracks": whole,
    "packed": flag,
    "carried": carried,
}
SIZES = np.array([WIDTH.get(p, 1) * n for (p, _), n in zip(KINDS, PARTS, strict=True)])


class LazyClips(Mapping[str, Clip | PackedClip]):
    """The clips of a package by name, each made when it is first asked for.

    items: of each clip its key, its name and what it carries; ends: the track behind
    its last one; tables: tracks, numbers in a key of each track, times and values, all
    checked. Packed clips are given to it. Pickled, it is a plain dict.
    """

    __slots__ = ("_begins", "_made", "_rows", "_tables")

    def __init__(
        self,
        items: Sequence[tuple[str, str, dict[str, Any] | None]],
        ends: list[int],
        tables: tuple[Ints, NDArray[np.int64], Floats, Floats],
    ) -> None:
        self._rows = {
            key: (name, carried, first, end)
            for (key, name, carried), (first, end) in zip(
                items, pairwise([0, *ends]), strict=True
            )
        }
        self._tables = tables
        self._begins: NDArray[np.int64] | None = None
        self._made: dict[str, Clip | PackedClip] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Clip | PackedClip:
        made = self._made.get(key)
        if made is None:
            # Of two threads that make the same clip, both get the one kept first.
            made = self._made.setdefault(key, self.tracks_of(key))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def __repr__(self) -> str:
        return f"LazyClips({list(self._rows)})"

    def give(self, key: str, clip: PackedClip) -> None:
        """Put a packed clip in its place."""
        self._made[key] = clip

    def tracks_of(self, key: str) -> Clip:
        """What is not packed of a clip: all of most of them."""
        name, carried, first, end = self._rows[key]
        tracks, sizes, all_times, all_values = self._tables
        if self._begins is None:  # where the values of each track begin
            numbers = sizes * (tracks[3] - tracks[2] + 1)
            self._begins = np.cumsum(numbers) - numbers
        part = slice(first, end)
        lines: dict[tuple[int, int], Floats] = {}
        made = []
        for node, kind, at, last, size, begin in zip(
            *tracks[:, part].tolist(),
            sizes[part].tolist(),
            self._begins[part].tolist(),
            strict=True,
        ):
            times = lines.get((at, last))
            if times is None:
                times = lines[at, last] = all_times[at : last + 1]
            path, how = KINDS[kind]
            count = last + 1 - at
            shape = (count, 3, size // 3) if how == "CUBICSPLINE" else (count, size)
            values = all_values[begin : begin + count * size].reshape(shape)
            made.append(Track.unchecked(node, path, times, values, how))
        return Clip(name, tuple(made), carried)


def read_clips(
    file: TensorFile,
    json: dict[str, Any],
    arrays: dict[str, Any],
    target_counts: list[int],
) -> LazyClips:
    """The clips of a file; target_counts: morph targets of each node."""
    tracks, times, values = arrays["tracks"], arrays["times"], arrays["values"]
    if len(tracks) % 4:
        raise file.error("tracks", f"{len(tracks)} numbers, expected four for each")
    tracks = tracks.reshape(4, -1)
    sizes = SIZES[:0]
    if tracks.size:
        sizes = _check_tracks(file, (tracks, times, values), target_counts)
    items, ends, packed, end = [], [], [], 0
    for item in read_records(file.path, json, "clips", CLIP):
        key = item.get("name", "")
        items.append((key, item.get("title", key), item.get("carried")))
        end += item.get("tracks", 0)
        ends.append(end)
        if item.get("packed", False):
            packed.append(key)
    if end != tracks.shape[1]:
        reason = f"{tracks.shape[1]} tracks, the clips name {end}"
        raise AssetError(file.path, "/clips", reason)
    clips = LazyClips(items, ends, (tracks, sizes, times, values))
    if len(clips) != len(items):
        raise AssetError(file.path, "/clips", "two clips have the same name")
    others = [clips.tracks_of(key) for key in packed]
    motion = read_motion(file, arrays, others, len(target_counts))
    for key, clip in zip(packed, motion, strict=True):
        clips.give(key, clip)
    return clips


def _check_tracks(
    file: TensorFile,
    tables: tuple[Ints, Floats, Floats],
    target_counts: list[int],
) -> NDArray[np.int64]:
    """Numbers in a key of each track. Times and values are known to be finite."""
    tracks, times, values = tables
    # Without a sign, what is below 0 is large.
    most_node, most_kind, *most_keys = tracks.view(np.uint32).max(1).tolist()
    if most_node >= len(target_counts) or most_kind >= len(KINDS):
        raise file.error("tracks", "a track of a missing node, or of an unknown kind")
    node, kind, first, last = tracks
    more = last - first  # keys behind the first one
    if max(most_keys) >= len(times) or int(more.min()) < 0:
        raise file.error("tracks", "a track has no keys, or others than there are")
    falls = times[1:] <= times[:-1]
    if falls.any():  # which is right only between the keys of different tracks
        count = np.concatenate([[0], np.cumsum(falls)])
        if (count[last] != count[first]).any():
            raise file.error("times", "must rise from key to key")
    sizes: NDArray[np.int64] = SIZES[kind]
    if most_kind >= FIRST_WEIGHTS:
        widths = np.array(target_counts, np.int64)[node]
        sizes = np.where(kind >= FIRST_WEIGHTS, sizes * widths, sizes)
        # Times may be shared, but not beyond all measure by tracks without values.
        if int(more[sizes == 0].sum(dtype=np.int64)) > len(times):
            raise file.error("tracks", "more keys than the file can justify")
    # No sum of products below can wrap if the largest possible one does not.
    is_small = int(sizes.max()) * len(times) * len(sizes) < 1 << 62
    if not is_small or int(sizes @ more) + int(sizes.sum()) != len(values):
        raise file.error("values", f"{len(values)}, other than the tracks need")
    return sizes


def pack_clips(
    clips: Mapping[str, Clip | PackedClip], arrays: dict[str, NDArray[Any]]
) -> list[dict[str, Any]]:
    """Put the tracks of all clips into `arrays`; return the JSON of the clips."""
    records = []
    rows: list[tuple[int, int, int, int]] = []
    lines: dict[bytes, int] = {}
    times: list[Floats] = []
    values: list[Floats] = []
    key_count = 0
    packed = [clip for clip in clips.values() if isinstance(clip, PackedClip)]
    for key, clip in clips.items():
        tracks = clip.keyed if isinstance(clip, PackedClip) else clip.tracks
        for track in tracks:
            line = track.times.tobytes()
            at = lines.get(line)
            if at is None or not track.values.size:
                at = lines[line] = key_count
                times.append(track.times)
                key_count += len(track.times)
            kind = KINDS.index((track.path, track.interpolation))
            rows.append((track.node, kind, at, at + len(track.times) - 1))
            values.append(track.values.ravel())
        record: dict[str, Any] = {"name": key, "tracks": len(tracks)}
        if isinstance(clip, PackedClip):
            record["packed"] = True
        if clip.name != key:
            record["title"] = clip.name
        if clip.carried is not None:
            record["carried"] = clip.carried
        records.append(record)
    if rows:
        arrays["times"] = np.concatenate(times)
        arrays["values"] = np.concatenate(values)
        arrays["tracks"] = np.array(rows, np.int32).T.ravel()
    pack_motion(packed, arrays)
    return records
