"""Whole numbers of motion as bits: `PackedClip.numbers`, the other way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Longs
from flexor.scene.runtime.packed_clip import BITS, BLOCK, LEVELS, words_for

__all__ = ["SEGMENTS", "pack_numbers"]

SEGMENTS = (2, 4, 8, 16, 32)  # blocks in a segment that are tried


def pack_numbers(
    numbers: Longs,
) -> tuple[int, NDArray[np.uint8], NDArray[np.uint32]] | None:
    """Segment, widths and words of numbers (frames, D), for the fewest bytes.

    None if a number needs more bits than there are.
    """
    rows = _differences(numbers)
    if any(np.abs(row).max(initial=0) >= 1 << (int(BITS[-1]) - 1) for row in rows):
        return None
    needs = [_needed(row) for row in rows]
    # The two rows between the others are of one level.
    last = np.concatenate([needs[2], np.zeros_like(needs[0][:1])])
    late = np.concatenate([needs[3], np.zeros_like(needs[0][:1])])
    middle = np.concatenate([needs[1], np.zeros_like(needs[0][:1])])
    levels = np.stack([needs[0], middle, np.maximum(last, late)])
    best: tuple[int, NDArray[np.uint8]] | None = None
    fewest = 0
    for segment in SEGMENTS:
        codes = _codes(levels, segment)
        size = _size(codes, len(rows[1]), segment)
        if best is None or size < fewest:
            best, fewest = (segment, codes), size
    assert best is not None
    segment, codes = best
    return segment, _fold(codes), _write(rows, BITS[codes].astype(np.int64), segment)


def _differences(numbers: Longs) -> list[Longs]:
    """What is stored of the first, third, second and fourth frame of each block."""
    blocks = -(-(len(numbers) - 1) // BLOCK)
    more = BLOCK * blocks + 1 - len(numbers)
    whole = np.concatenate([numbers, np.repeat(numbers[-1:], more, 0)])
    stored, middle = whole[::BLOCK], whole[2::BLOCK]
    padded = np.concatenate([stored[:1], stored, stored[-1:]])
    near, far = padded[1:-2] + padded[2:-1], padded[:-3] + padded[3:]
    return [
        stored,
        middle - ((9 * near - far + 8) >> 4),
        whole[1::BLOCK] - ((stored[:-1] + middle) >> 1),
        whole[3::BLOCK] - ((middle + stored[1:]) >> 1),
    ]


def _needed(row: Longs) -> Longs:
    """Bits of each number with its sign; 0 for 0."""
    size = np.where(row < 0, -row - 1, row)
    bits = np.ceil(np.log2(size + 1.0)).astype(np.int64) + 1
    return np.where(row == 0, 0, bits)


def _codes(levels: Longs, segment: int) -> NDArray[np.uint8]:
    """Rows of `BITS` (G, 3, D) that hold the numbers of each segment."""
    starts = np.arange(0, levels.shape[1], segment)
    most = np.maximum.reduceat(levels, starts, axis=1).transpose(1, 0, 2)
    codes: NDArray[np.uint8] = np.searchsorted(BITS, most).astype(np.uint8)
    return codes


def _size(codes: NDArray[np.uint8], blocks: int, segment: int) -> int:
    """Bytes of widths and words."""
    bits = BITS[codes].sum(2, dtype=np.int64)
    of_block = bits[:, 0] + bits[:, 1] + 2 * bits[:, 2]
    full = np.full(len(bits), segment)
    full[-1] = blocks - segment * (len(bits) - 1)
    total = int(of_block @ full + bits[-1, 0])
    half = (int(codes.shape[2]) + 1) // 2
    return len(codes) * LEVELS * half + total // 8


def _fold(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Two columns in a byte."""
    if codes.shape[2] % 2:
        codes = np.concatenate([codes, np.zeros_like(codes[..., :1])], 2)
    folded = codes[..., ::2] | (codes[..., 1::2] << 4)
    return folded.astype(np.uint8)


def _write(rows: list[Longs], bits: Longs, segment: int) -> NDArray[np.uint32]:
    """All numbers, one behind another."""
    blocks = len(rows[1])
    part = np.arange(blocks + 1) // segment
    values, widths = [], []
    for block in range(blocks):
        values += [rows[0][block], rows[1][block], rows[2][block], rows[3][block]]
        own = bits[part[block]]
        widths += [own[0], own[1], own[2], own[2]]
    values.append(rows[0][blocks])
    widths.append(bits[part[blocks], 0])
    value, wide = np.concatenate(values), np.concatenate(widths)
    at = np.cumsum(wide) - wide
    end = int(at[-1] + wide[-1]) if len(at) else 0
    biased = (value + ((1 << wide) >> 1)).astype(np.uint64)
    shifted = biased << (at & 31).astype(np.uint64)
    words = np.zeros(words_for(end), np.uint64)
    # Fields do not overlap, so sums are the same as joined bits.
    np.add.at(words, at >> 5, shifted & np.uint64(0xFFFFFFFF))
    np.add.at(words, (at >> 5) + 1, shifted >> np.uint64(32))
    return words.astype(np.uint32)
