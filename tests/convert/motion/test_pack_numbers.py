"""Whole numbers as bits, and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.convert.motion.pack_numbers import SEGMENTS, pack_numbers
from tests.packed_clips import packed_clip


@pytest.mark.parametrize("frames", [1, 2, 4, 5, 8, 33, 200])
@pytest.mark.parametrize("size", [0, 1, 2, 100, 1 << 19])
def test_what_is_packed_comes_back(rng: Any, frames: int, size: int) -> None:
    numbers = rng.integers(-size, size + 1, (frames, 9))
    made = pack_numbers(numbers)
    assert made is not None
    segment, widths, words = made
    assert segment in SEGMENTS
    clip = packed_clip(rng, frames)
    again = dataclasses.replace(
        clip,
        segment=segment,
        slots=np.arange(9),
        steps=np.ones(9),
        widths=widths,
        words=words,
    )
    np.testing.assert_array_equal(again.numbers(), numbers)


def test_no_columns(rng: Any) -> None:
    made = pack_numbers(np.zeros((7, 0), np.int64))
    assert made is not None
    assert made[1].size == 0


def test_smooth_numbers_take_fewer_bits(rng: Any) -> None:
    smooth = (1000 * np.sin(np.arange(256) / 20)).astype(np.int64)[:, None]
    mixed = rng.permutation(smooth)
    sizes = [pack_numbers(one) for one in (smooth, mixed)]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert len(sizes[0][2]) < len(sizes[1][2]) / 2


def test_too_large() -> None:
    assert pack_numbers(np.full((5, 1), 1 << 21)) is None
    assert pack_numbers(np.full((5, 1), (1 << 21) - 1)) is not None
    assert pack_numbers(np.full((5, 1), -(1 << 40))) is None
