"""Many pictures in one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.draw.labels import text_strip
from flexor.draw.target import LONGEST_SIDE, MOST_PIXELS
from flexor.errors import SettingError, ShapeError

__all__ = ["join_pictures", "sheet_columns"]

WHITE = (255, 255, 255, 255)


def sheet_columns(count: int, cell: tuple[int, int], shape: float = 16 / 9) -> int:
    """Columns for `count` cells of (width, height) in a sheet of about width / height
    = `shape`, with no more empty places than needed.
    """
    if count < 1:
        return 1
    columns = round(math.sqrt(count * shape * cell[1] / cell[0]))
    columns = min(max(columns, 1), count)
    rows = -(-count // columns)
    return -(-count // rows)


def join_pictures(
    pictures: Sequence[NDArray[np.uint8]],
    captions: Sequence[str] | None = None,
    *,
    columns: int | None = None,
    gap: int = 4,
    background: tuple[int, int, int, int] = WHITE,
    caption_height: int = 18,
) -> NDArray[np.uint8]:
    """Pictures (H, W, 4) side by side, row by row, as one (H', W', 4).

    Those of different sizes stand in the middle of cells of the largest. captions: one
    below each; columns: None for about 16 : 9; gap: pixels between and around.
    """
    if not len(pictures):
        raise SettingError("pictures: none to join")
    for picture in pictures:
        if picture.ndim != 3 or picture.shape[2] != 4 or picture.dtype != np.uint8:
            have = picture.shape
            raise ShapeError(
                f"pictures: {picture.dtype} {have}, expected uint8 (H, W, 4)"
            )
    if captions is not None and len(captions) != len(pictures):
        raise ShapeError(f"captions: {len(captions)} for {len(pictures)} pictures")
    if columns is not None and columns < 1:
        raise SettingError(f"columns: {columns}, expected 1 or more")
    if gap < 0:
        raise SettingError(f"gap: {gap}, expected 0 or more pixels")
    tall = max(picture.shape[0] for picture in pictures)
    wide = max(picture.shape[1] for picture in pictures)
    strip = caption_height if captions is not None else 0
    across = columns or sheet_columns(len(pictures), (wide, tall + strip))
    across = min(across, len(pictures))
    down = -(-len(pictures) // across)
    height = down * (tall + strip + gap) + gap
    width = across * (wide + gap) + gap
    if max(height, width) > 4 * LONGEST_SIDE or height * width > 4 * MOST_PIXELS:
        raise SettingError(f"a sheet of {width} x {height} pixels is too large")
    sheet = np.empty((height, width, 4), np.uint8)
    sheet[:] = background
    for row, picture in enumerate(pictures):
        top = gap + row // across * (tall + strip + gap)
        left = gap + row % across * (wide + gap)
        high, broad = picture.shape[:2]
        y, x = top + (tall - high) // 2, left + (wide - broad) // 2
        sheet[y : y + high, x : x + broad] = picture
        if captions is not None:
            text = text_strip(captions[row], wide, strip, background)
            sheet[top + tall : top + tall + strip, left : left + wide] = text
    return sheet
