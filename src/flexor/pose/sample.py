"""Clips at points in time, for one character or many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bytes, Doubles, Floats, Ints, Longs, check_input
from flexor.errors import ShapeError
from flexor.pose.clip_tables import ClipTables
from flexor.pose.kernels import packed as kernel_packed
from flexor.pose.kernels import sample as kernel
from flexor.pose.kernels.layout import Sampled, Tracks
from flexor.pose.layout import ROWS, Layout

__all__ = ["PackedState", "SampleState", "init_packed", "init_sample", "sample"]


@dataclass(slots=True, eq=False)
class SampleState:
    """N characters on their way through one clip.

    cursors: int32 (N, G), the key each character is at in each timeline: a step forward
    looks at the next key only; local: float32 (N, 10 * L), their transforms; weights:
    float32 (N, W), their morph weights. Written by `sample` and nothing else.
    """

    clip: ClipTables
    weights: Floats
    _tracks: Tracks
    _to: Sampled
    _packed: PackedState | None = None

    @property
    def cursors(self) -> Ints:
        """The keys that characters are at."""
        return self._to.cursors

    @property
    def local(self) -> Floats:
        """Their transforms."""
        return self._to.local


@dataclass(slots=True, eq=False)
class PackedState:
    """What N characters keep of a packed clip.

    tables: of the clip, as the kernel takes them; blocks: int32 (N, 1), the block of
    frames each is in, -1 at first; rows: int32 (N, 7 * width), its numbers; work:
    float32 (32,).
    """

    tables: tuple[Doubles, Ints, Longs, Bytes, Bytes, Floats]
    blocks: Ints
    rows: Ints
    work: Floats


def init_packed(clip: ClipTables, count: int) -> PackedState | None:
    """What `count` characters keep of a clip; None if nothing of it is packed."""
    if clip.packed is None:
        return None
    return PackedState(
        clip.packed.arguments(),
        np.full((count, 1), -1, np.int32),
        np.zeros((count, kernel_packed.ROWS * clip.packed.width), np.int32),
        np.zeros(32, np.float32),
    )


def init_sample(clip: ClipTables, layout: Layout, count: int) -> SampleState:
    """State for `count` characters, at rest."""
    if clip.layout is not layout:
        raise ShapeError("clip: it was laid out for another character")
    lanes = layout.lane_count
    lines = len(clip.timelines)
    scratch = np.zeros((11, lanes), np.float32)
    scratch[0:4] = layout.rest.reshape(ROWS, lanes)[3:7]
    # Lanes that no track writes: no second key, a small angle, fraction 0.
    scratch[kernel.ANGLE] = kernel.STILL_ANGLE
    scratch[kernel.INVERSE] = kernel.STILL_INVERSE
    return SampleState(
        clip,
        np.tile(layout.rest_weights, (count, 1)),
        Tracks(clip.times, clip.timelines, clip.rotations, clip.vectors, clip.values),
        Sampled(
            np.zeros((count, lines), np.int32),
            np.zeros(2 * lines, np.float32),
            scratch.ravel(),
            np.tile(layout.rest, (count, 1)),
        ),
        init_packed(clip, count),
    )


def sample(state: SampleState, moments: Floats) -> SampleState:
    """Put every character where the clip is at its moment: float32 (N,), seconds.

    Moments before the first or after the last key of a track give that key.
    """
    clip, packed = state.clip, state._packed
    check_input(moments, np.float32, (len(state._to.local),), "moments")
    if packed is None or len(clip.rotations) or len(clip.vectors):
        kernel.sample(state._tracks, moments, state._to)
    if packed is not None:
        # After the others, which write the rest to all rotations they do not know.
        kernel_packed.sample_packed(
            *packed.tables,
            moments,
            packed.blocks,
            packed.rows,
            packed.work,
            state.local,
        )
    if len(clip.morphs):
        kernel.sample_weights(
            clip.times,
            clip.timelines,
            clip.morphs,
            clip.values,
            moments,
            state.cursors,
            state.weights,
        )
    return state
