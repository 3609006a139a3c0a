"""Motion in its packed form: whole numbers on a regular timeline, in few bits.

A moving property of a node has three columns, of which those that stand still are left
out. The value of a column in a frame is a whole number of steps. Of every four frames
the first is stored as it is, the third as its distance from a cubic prediction by the
stored ones around it, the other two as their distance from the middle between their
neighbours. So a frame needs seven rows at most, wherever it is.

A rotation is `left * turn(v) * right`, with v the tangent of a quarter of the angle
along the axis: the factors are chosen so that the axes of v are those along which the
node's children feel it most and least. Between frames values go straight, rotations on
the shortest arc.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, freeze
from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.scene.character.clip import Clip, Path, Track

__all__ = [
    "BITS",
    "BLOCK",
    "LEVELS",
    "PATHS",
    "PackedClip",
    "track_bytes",
    "unpacked",
    "words_for",
]

BLOCK = 4  # frames from one stored value to the next
LEVELS = 3  # stored, in the middle, and between
# Bits of a number, by the four bits that say how many.
BITS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 17, 22], np.uint8)
PATHS: tuple[Path, ...] = ("translation", "scale")  # of vectors, by their number
MOST_FRAMES = 1 << 22
MOST_SEGMENT = 64
# Values of all frames: what a clip becomes when it is unpacked.
MOST_VALUES = 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class PackedClip:
    """A named motion of which most is packed; the rest are tracks as in `Clip`.

    start: seconds of the first frame; rate: frames a second; frames: how many;
    duration: seconds; segment: blocks of four frames that share the bits of their
    numbers, a power of two. rotation_nodes: uint16 (R,); turns: int16 (R, 8), left and
    right factor of each, xyzw; vector_nodes: uint16 (V,); vector_paths: uint8 (V,),
    rows of `PATHS`; bases: float32 (V, 3), what their columns are added to. slots:
    uint16 (D,), rising, the column's property times three plus its component, rotations
    before vectors; steps: float32 (D,). widths: uint8 (G, 3, half of D rounded up), for
    each segment and level four bits for each column, rows of `BITS`; words: uint32, the
    numbers, block by block: the first frame, the third, the second, the fourth. keyed:
    all other tracks. Takes ownership.
    """

    name: str
    start: float
    rate: float
    frames: int
    duration: float
    segment: int
    rotation_nodes: NDArray[np.uint16]
    turns: NDArray[np.int16]
    vector_nodes: NDArray[np.uint16]
    vector_paths: NDArray[np.uint8]
    bases: Floats
    slots: NDArray[np.uint16]
    steps: Floats
    widths: NDArray[np.uint8]
    words: NDArray[np.uint32]
    keyed: tuple[Track, ...] = ()
    carried: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("start", "rate", "duration"):
            put(self, name, float(getattr(self, name)))
            if not np.isfinite(getattr(self, name)):
                raise ShapeError(f"{name}: must be finite")
        for name in ("frames", "segment"):
            put(self, name, operator.index(getattr(self, name)))
        put(self, "keyed", tuple(self.keyed))
        if not 1 <= self.frames <= MOST_FRAMES:
            raise ShapeError(f"frames: {self.frames}, expected 1 to {MOST_FRAMES}")
        if not 1 <= self.segment <= MOST_SEGMENT:
            raise ShapeError(f"segment: {self.segment}, expected 1 to {MOST_SEGMENT}")
        if self.segment & (self.segment - 1):
            raise ShapeError(f"segment: {self.segment}, expected a power of two")
        if not self.rate > 0 or self.duration < 0:
            raise ShapeError("rate: must be above 0; duration: not below")
        turning, moving = len(self.rotation_nodes), len(self.vector_nodes)
        count = len(self.slots)
        shapes: dict[str, tuple[Any, tuple[int | None, ...]]] = {
            "rotation_nodes": (np.uint16, (turning,)),
            "turns": (np.int16, (turning, 8)),
            "vector_nodes": (np.uint16, (moving,)),
            "vector_paths": (np.uint8, (moving,)),
            "bases": (np.float32, (moving, 3)),
            "slots": (np.uint16, (count,)),
            "steps": (np.float32, (count,)),
            "widths": (np.uint8, (self.segments, LEVELS, (count + 1) // 2)),
            "words": (np.uint32, (None,)),
        }
        for name, (kind, shape) in shapes.items():
            put(self, name, freeze(getattr(self, name), kind, shape, name))
        self._check()

    def _check(self) -> None:
        """Refuse numbers that lead out of the arrays or to no motion."""
        finite = np.isfinite(self.bases).all() and np.isfinite(self.steps).all()
        if not finite or (self.steps < 0).any():
            raise ShapeError("bases, steps: must be finite, steps not below 0")
        if not (np.abs(self.turns.astype(np.int64)).reshape(-1, 2, 4).max(2) > 0).all():
            raise ShapeError("turns: a rotation without direction")
        if (self.vector_paths >= len(PATHS)).any():
            raise ShapeError(f"vector_paths: must lie in 0..{len(PATHS) - 1}")
        most = 3 * (len(self.rotation_nodes) + len(self.vector_nodes))
        if self.frames > 1 and not (
            len(self.slots) and most * self.frames <= MOST_VALUES
        ):
            raise ShapeError(f"frames: {self.frames}, too many for what they hold")
        slots = self.slots.astype(np.int64)
        if (slots >= most).any() or (np.diff(slots) <= 0).any():
            raise ShapeError(f"slots: must rise and stay below {most}")
        pairs = [(int(node), "rotation") for node in self.rotation_nodes]
        pairs += [
            (int(node), PATHS[path])
            for node, path in zip(self.vector_nodes, self.vector_paths, strict=True)
        ]
        pairs += [(track.node, track.path) for track in self.keyed]
        if len(set(pairs)) != len(pairs):
            raise ShapeError("two tracks for the same property of a node")
        need = self.first_bits()[1]
        # Eight bytes are read at once, from the byte on that a number begins in.
        if len(self.words) != words_for(need):
            raise ShapeError(f"words: {len(self.words)}, expected {words_for(need)}")

    @property
    def blocks(self) -> int:
        """How many blocks of four frames lie between the first and the last frame."""
        return -(-(self.frames - 1) // BLOCK)

    @property
    def segments(self) -> int:
        """How many segments; the last frame stored as it is belongs to one too."""
        return self.blocks // self.segment + 1

    @property
    def nbytes(self) -> int:
        """Bytes of all that is needed to sample it: arrays, numbers, keys."""
        arrays = (getattr(self, field.name) for field in fields(self))
        packed = sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))
        return packed + 5 * 4 + track_bytes(self.keyed)

    @property
    def nodes(self) -> set[int]:
        """Nodes that it moves."""
        packed = {*self.rotation_nodes.tolist(), *self.vector_nodes.tolist()}
        return packed | {track.node for track in self.keyed}

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The motion as tracks with a key for every frame, made anew on each call."""
        keys = self._times()
        made = list(self.keyed)
        values = self.values()
        for row, node in enumerate(self.rotation_nodes.tolist()):
            turned = _one_sign(self._rotation(row, values[:, 3 * row : 3 * row + 3]))
            made.append(Track(node, "rotation", keys, turned.astype(np.float32)))
        first = 3 * len(self.rotation_nodes)
        for row, node in enumerate(self.vector_nodes.tolist()):
            at = first + 3 * row
            moved = values[:, at : at + 3] + self.bases[row]
            path = PATHS[self.vector_paths[row]]
            made.append(Track(node, path, keys, moved.astype(np.float32)))
        return _lasting(made, self.duration)

    def _times(self) -> Floats:
        times = (self.start + np.arange(self.frames) / self.rate).astype(np.float32)
        if (np.diff(times) <= 0).any():
            raise ShapeError("rate: frames are closer than float32 can tell apart")
        return times

    def _rotation(self, row: int, v: NDArray[np.float64]) -> NDArray[np.float64]:
        left, right = quaternions.normalise(
            self.turns[row].reshape(2, 4).astype(np.float64)
        )
        square = (v * v).sum(1, keepdims=True)
        turn = np.concatenate([2 * v, 1 - square], 1) / (1 + square)
        product: NDArray[np.float64] = quaternions.multiply(
            quaternions.multiply(left, turn), right
        )
        return product

    def values(self) -> NDArray[np.float64]:
        """Values (frames, 3 * properties) of all columns; 0 where there is none."""
        properties = len(self.rotation_nodes) + len(self.vector_nodes)
        out = np.zeros((self.frames, 3 * properties))
        out[:, self.slots] = self.numbers() * self.steps.astype(np.float64)
        return out

    def first_bits(self) -> tuple[NDArray[np.int64], int]:
        """Where rows begin: of each segment (G, 5) its first bit, the bits of a row of
        each level and those of a block; and the number of all bits.
        """
        count = len(self.slots)
        codes = np.stack([self.widths & 15, self.widths >> 4], -1)
        bits = BITS[codes.reshape(self.segments, LEVELS, -1)[..., :count]]
        table = np.zeros((self.segments, 5), np.int64)
        table[:, 1:4] = bits.sum(2, dtype=np.int64)
        table[:, 4] = table[:, 1] + table[:, 2] + 2 * table[:, 3]
        table[1:, 0] = np.cumsum(table[:-1, 4]) * self.segment
        left = self.blocks - self.segment * (self.segments - 1)
        # After the last block comes one more stored frame.
        end = table[-1, 0] + left * table[-1, 4] + table[-1, 1]
        return table, int(end)

    def numbers(self) -> NDArray[np.int64]:
        """The whole numbers (frames, D) of all columns."""
        blocks = np.arange(self.blocks + 1)
        stored = self._read(blocks, 0)
        inner = blocks[:-1]
        padded = np.concatenate([stored[:1], stored, stored[-1:]])
        near = padded[1:-2] + padded[2:-1]
        far = padded[:-3] + padded[3:]
        middle = self._read(inner, 1) + ((9 * near - far + 8) >> 4)
        before = self._read(inner, 2) + ((stored[:-1] + middle) >> 1)
        after = self._read(inner, 3) + ((middle + stored[1:]) >> 1)
        rows = np.stack([stored[:-1], before, middle, after], 1)
        flat = rows.reshape(BLOCK * self.blocks, len(self.slots))
        whole: NDArray[np.int64] = np.concatenate([flat, stored[-1:]])
        return whole[: self.frames]

    def _read(self, blocks: NDArray[np.int64], row: int) -> NDArray[np.int64]:
        """Numbers (blocks, D) of one row of each block."""
        level = min(row, LEVELS - 1)
        table, _ = self.first_bits()
        part, inside = np.divmod(blocks, self.segment)
        before = [0, table[part, 1], table[part, 1] + table[part, 2]]
        before.append(before[-1] + table[part, 3])
        begin = table[part, 0] + inside * table[part, 4] + before[row]
        codes = np.stack([self.widths[:, level] & 15, self.widths[:, level] >> 4], -1)
        bits = BITS[codes.reshape(self.segments, -1)[:, : len(self.slots)]]
        bits = bits[part].astype(np.int64)
        at = begin[:, None] + np.cumsum(bits, 1) - bits
        words = self.words.astype(np.uint64)
        pair = words[at >> 5] | (words[(at >> 5) + 1] << np.uint64(32))
        shifted = pair >> (at & 31).astype(np.uint64)
        mask = (np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)
        field = (shifted & mask).astype(np.int64)
        numbers: NDArray[np.int64] = field - ((1 << bits) >> 1)
        return numbers


def unpacked(clip: Clip | PackedClip) -> Clip:
    """The clip as one of plain tracks."""
    if isinstance(clip, Clip):
        return clip
    return Clip(clip.name, clip.tracks, clip.carried)


def _lasting(tracks: list[Track], duration: float) -> tuple[Track, ...]:
    """Tracks of which one lasts as long as the clip, if one can be made to."""
    end, ends = np.float32(duration), [track.times[-1] for track in tracks]
    if ends and max(ends) < end:
        for row, track in enumerate(tracks):
            if track.interpolation != "CUBICSPLINE":
                times = np.append(track.times, end)
                values = np.concatenate([track.values, track.values[-1:]])
                how = track.interpolation
                tracks[row] = Track(track.node, track.path, times, values, how)
                break
    return tuple(tracks)


def words_for(bits: int) -> int:
    """Words that hold so many bits, and so many more that any can be read."""
    return bits // 32 + 3


def track_bytes(tracks: tuple[Track, ...]) -> int:
    """Bytes of the keys of tracks; those that share their times share their bytes."""
    lines = {track.times.tobytes() for track in tracks}
    return sum(len(line) for line in lines) + sum(t.values.nbytes for t in tracks)


def _one_sign(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Neighbours (T, 4) in one hemisphere."""
    flips = np.where((q[1:] * q[:-1]).sum(1) < 0, -1.0, 1.0)
    signed: NDArray[np.float64] = q * np.append(1.0, np.cumprod(flips))[:, None]
    return signed
