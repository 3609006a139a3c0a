"""A packed clip laid out for sampling: its bits as they are, the rest by lanes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bytes, Doubles, Floats, Ints, Longs
from flexor.maths import exact, quaternions
from flexor.pose.kernels.layout import AS_LANES, FIRST_ROW, TURNS, WIDTH
from flexor.pose.layout import ROWS, Layout
from flexor.scene.character.clip import Track
from flexor.scene.runtime.packed_clip import BITS, BLOCK, PATHS, PackedClip

__all__ = ["PackedTables", "lay_out_packed"]

PUT = 0.08  # what putting one rotation in its place costs, eight made being 1
CLOSE = exact.cos(math.radians(20))  # cosine of half the angle between close frames


@dataclass(frozen=True, slots=True, eq=False)
class PackedTables:
    """One packed clip as the sampling kernel wants it.

    timing: float64 (2,), start and rate; whole: int32, as in the kernel: numbers, what
    codes mean, place in a row of each column, lanes of rotations, and where vectors and
    what stands still go in a pose; parts: int64, six of each segment; codes: the clip's
    own; words: the clip's own, as bytes; floats: float32, steps of each place in a row,
    what makes rotations of them, what vectors are added to, what stands still.
    """

    timing: NDArray[np.float64]
    whole: Ints
    parts: NDArray[np.int64]
    codes: NDArray[np.uint8]
    words: NDArray[np.uint8]
    floats: Floats

    @property
    def width(self) -> int:
        """Numbers in one of the seven rows that a character keeps."""
        return int(self.whole[WIDTH])

    def arguments(self) -> tuple[Doubles, Ints, Longs, Bytes, Bytes, Floats]:
        """What the kernel takes first."""
        return (
            self.timing,
            self.whole,
            self.parts,
            self.codes,
            self.words,
            self.floats,
        )


def lay_out_packed(
    clip: PackedClip, still: tuple[Track, ...], layout: Layout
) -> PackedTables:
    """Lay a packed clip out; still: those of its other tracks that have one key."""
    lanes = layout.lane_count
    turning, moving = len(clip.rotation_nodes), len(clip.vector_nodes)
    spots, run, number, lane_table = _place_rotations(clip, layout)
    # Rows: three runs of rotations, then vectors, one place for nothing, padded.
    width = -(-(3 * run + 3 * moving + 1) // 8) * 8
    nodes = layout.lane_of_node[clip.vector_nodes]
    rows = np.array([FIRST_ROW[PATHS[path]] for path in clip.vector_paths], np.int32)
    places = [(rows * lanes + nodes)[:, None] + lanes * np.arange(3)]
    bases = [clip.bases]
    for track in still:
        wide = track.values.shape[1]
        first = FIRST_ROW[track.path] * lanes + int(layout.lane_of_node[track.node])
        places.append(first + lanes * np.arange(wide))
        bases.append(track.values)
    where = np.concatenate([part.ravel() for part in places])
    # Where each column goes in a row.
    which, component = np.divmod(clip.slots.astype(np.int64), 3)
    to = np.where(
        which < turning,
        component * run + np.append(spots, 0)[np.minimum(which, turning)],
        3 * run + 3 * (which - turning) + component,
    )
    spread = np.full(2 * clip.widths.shape[2], width - 1, np.int32)
    spread[: len(to)] = to
    steps = np.zeros(width, np.float32)
    steps[to] = clip.steps
    power = clip.segment.bit_length() - 1
    numbers = (clip.frames, power, clip.widths.shape[2], width, run, number)
    codes = BITS.astype(np.int32)
    whole = [
        np.array([*numbers, moving, len(where) - 3 * moving], np.int32),
        np.stack([codes, (1 << codes) - 1, (1 << codes) >> 1]).ravel(),
        spread,
        lane_table,
        where.astype(np.int32),
    ]
    turns = _turns(clip, spots, run)
    if number == AS_LANES:
        _rest_of_lanes(turns, spots, lane_table, layout)
    blocks = turns.reshape(TURNS, -1, 8).transpose(1, 0, 2)
    flat: list[NDArray[Any]] = [steps, blocks.ravel()]
    flat += [part.ravel() for part in bases]
    return PackedTables(
        np.array([clip.start, clip.rate]),
        np.concatenate(whole),
        np.concatenate([clip.first_bits()[0], _close(clip)], 1).ravel(),
        clip.widths.ravel(),
        clip.words.view(np.uint8),
        np.concatenate(flat).astype(np.float32),
    )


def _place_rotations(
    clip: PackedClip, layout: Layout
) -> tuple[NDArray[np.int64], int, int, Ints]:
    """Place of each rotation in its run, the run's length, their number or that they
    lie as in a pose, and the lanes that go with it.
    """
    count = len(clip.rotation_nodes)
    lanes = layout.lane_of_node[clip.rotation_nodes].astype(np.int64)
    eights = np.unique(lanes >> 3)
    run = -(-count // 8) * 8
    others = (t.path == "rotation" and len(t.times) > 1 for t in clip.keyed)
    # To put one rotation in its place takes about a tenth of making eight.
    if any(others) or len(eights) > run / 8 + PUT * count:
        return np.arange(count), run, count, lanes.astype(np.int32)
    spots = 8 * np.searchsorted(eights, lanes >> 3) + (lanes & 7)
    run = 8 * len(eights)
    return spots, run, AS_LANES, (8 * eights).astype(np.int32)


def _rest_of_lanes(
    turns: NDArray[np.float64], spots: NDArray[np.int64], firsts: Ints, layout: Layout
) -> None:
    """Let lanes without a packed rotation, among others that have one, be at rest."""
    rest = layout.rest.reshape(ROWS, -1)[3:7]
    every = (firsts[:, None] + np.arange(8)).ravel()
    is_free = np.ones(len(every), bool)
    is_free[spots] = False
    turns[9:, is_free] = rest[:, every[is_free]]


def _turns(clip: PackedClip, spots: NDArray[np.int64], run: int) -> NDArray[np.float64]:
    """A matrix and a quaternion (13, run) for each place in the run.

    left * turn * right = (left * right) * (turn, its axis seen through right)
    """
    factors = clip.turns.reshape(-1, 2, 4).astype(np.float64)
    left, right = quaternions.normalise(factors).transpose(1, 0, 2)
    seen = quaternions.to_matrix(right * np.array([-1, -1, -1, 1]))
    table = np.zeros((TURNS, run))
    table[:9, spots] = seen.reshape(-1, 9).T
    table[9:, spots] = quaternions.multiply(left, right).T
    return table


def _close(clip: PackedClip) -> NDArray[np.int64]:
    """Of each segment (G, 1) whether no rotation turns by more than 40 degrees from
    frame to frame.
    """
    turning = len(clip.rotation_nodes)
    v = clip.values()[:, : 3 * turning].reshape(clip.frames, turning, 3)
    square = (v * v).sum(2, keepdims=True)
    q = np.concatenate([2 * v, 1 - square], 2) / (1 + square)
    least = (q[1:] * q[:-1]).sum(2).min(1, initial=1.0)
    far = np.flatnonzero(least < CLOSE) // (BLOCK * clip.segment)
    close = np.ones((clip.segments, 1), np.int64)
    close[far] = 0
    return close
