"""Packed clips in a package: the arrays of all of them, one behind another.

packed: int32, six numbers of each clip: frames, blocks in a segment, rotations,
vectors, columns, words. packed_timing: float64, three of each: start, rate, duration.
The other arrays are those of `PackedClip`; nodes are those of rotations, then those of
vectors. Tracks that are not packed stand with those of other clips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import ShapeError
from flexor.files.package.tensors import TensorFile
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import LEVELS, MOST_FRAMES, PackedClip

__all__ = ["MOTION", "MOTION_FLOATS", "pack_motion", "read_motion"]

MOTION_FLOATS = {"packed_bases": ("F32", (3,)), "packed_steps": ("F32", ())}
MOTION = {
    "packed": ("I32", (6,)),
    "packed_timing": ("F64", (3,)),
    "packed_nodes": ("U16", ()),
    "packed_paths": ("U8", ()),
    "packed_turns": ("I16", (8,)),
    "packed_slots": ("U16", ()),
    "packed_widths": ("U8", ()),
    "packed_words": ("U32", ()),
}


def pack_motion(clips: Sequence[PackedClip], arrays: dict[str, NDArray[Any]]) -> None:
    """Put packed clips into `arrays`."""
    if not clips:
        return
    sizes = [
        (c.frames, c.segment, len(c.turns), len(c.bases), len(c.slots), len(c.words))
        for c in clips
    ]
    arrays["packed"] = np.array(sizes, np.int32)
    arrays["packed_timing"] = np.array([(c.start, c.rate, c.duration) for c in clips])
    nodes = [part for c in clips for part in (c.rotation_nodes, c.vector_nodes)]
    arrays["packed_nodes"] = np.concatenate(nodes)
    arrays["packed_widths"] = np.concatenate([c.widths.ravel() for c in clips])
    arrays["packed_paths"] = np.concatenate([c.vector_paths for c in clips])
    for name in ("turns", "bases", "slots", "steps", "words"):
        every = [getattr(c, name) for c in clips]
        arrays[f"packed_{name}"] = np.concatenate(every)


def read_motion(
    file: TensorFile, arrays: dict[str, Any], others: Sequence[Clip], nodes: int
) -> list[PackedClip]:
    """The packed clips of a file, checked; others: what is not packed of each of them;
    nodes: how many the skeleton has.
    """
    table = arrays["packed"]
    if len(table) != len(others) or len(arrays["packed_timing"]) != len(others):
        text = f"{len(table)}, the clips name {len(others)}"
        raise file.error("packed", text)
    if table.size and (table.min() < 0 or table[:, 0].max() > MOST_FRAMES):
        raise file.error("packed", "a number below 0, or more frames than can be")
    if (table[:, :2] < 1).any():
        raise file.error("packed", "no frames, or segments without any")
    if arrays["packed_nodes"].max(initial=0) >= max(nodes, 1):
        raise file.error("packed_nodes", "a node that does not exist")
    take = _Taker(file, arrays)
    clips = []
    for row, timing, other in zip(
        table.tolist(), arrays["packed_timing"].tolist(), others, strict=True
    ):
        frames, segment, turning, moving, count, words = row
        segments = -(-(frames - 1) // 4) // segment + 1
        half = (count + 1) // 2
        values = {
            "rotation_nodes": take("nodes", turning),
            "vector_nodes": take("nodes", moving),
            "turns": take("turns", turning),
            "vector_paths": take("paths", moving),
            "bases": take("bases", moving),
            "slots": take("slots", count),
            "steps": take("steps", count),
            "widths": take("widths", segments * LEVELS * half).reshape(
                segments, LEVELS, half
            ),
            "words": take("words", words),
        }
        start, rate, duration = timing
        try:
            clip = PackedClip(
                name=other.name,
                start=start,
                rate=rate,
                frames=frames,
                duration=duration,
                segment=segment,
                **values,
                keyed=other.tracks,
                carried=other.carried,
            )
        except ShapeError as error:
            raise file.error("packed", f"clip {other.name[:40]!r}: {error}") from None
        clips.append(clip)
    take.finish()
    return clips


class _Taker:
    """Takes the next part of an array, again and again, to its end."""

    def __init__(self, file: TensorFile, arrays: dict[str, Any]) -> None:
        self._file, self._arrays = file, arrays
        names = [*MOTION, *MOTION_FLOATS]
        self._at = {n: 0 for n in names if n not in ("packed", "packed_timing")}

    def __call__(self, name: str, count: int) -> NDArray[Any]:
        key = f"packed_{name}"
        first = self._at[key]
        part: NDArray[Any] = self._arrays[key][first : first + count]
        if len(part) != count:
            raise self._file.error(key, "fewer than the clips need")
        self._at[key] = first + count
        return part

    def finish(self) -> None:
        """Refuse what no clip has taken."""
        for key, at in self._at.items():
            if at != len(self._arrays[key]):
                raise self._file.error(key, f"{len(self._arrays[key])}, expected {at}")
