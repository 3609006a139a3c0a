"""Many pictures in one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.sheet import join_pictures, sheet_columns
from flexor.errors import SettingError, ShapeError


def plain(level: int, height: int = 20, width: int = 30) -> Any:
    return np.full((height, width, 4), level, np.uint8)


def test_row_by_row() -> None:
    pictures = [plain(level) for level in (10, 20, 30, 40, 50)]
    sheet = join_pictures(pictures, columns=3, gap=2, background=(1, 2, 3, 4))
    assert sheet.shape == (2 * 22 + 2, 3 * 32 + 2, 4)
    for row, picture in enumerate(pictures):
        y, x = 2 + row // 3 * 22, 2 + row % 3 * 32
        np.testing.assert_array_equal(sheet[y : y + 20, x : x + 30], picture)
        sheet[y : y + 20, x : x + 30] = 1, 2, 3, 4
    assert (sheet == (1, 2, 3, 4)).all()


def test_smaller_ones_stand_in_the_middle() -> None:
    sheet = join_pictures([plain(9, 10, 10), plain(8)], columns=2, gap=0)
    assert sheet.shape == (20, 60, 4)
    assert (sheet[5:15, 10:20] == 9).all()
    assert (sheet[:5, :30] == 255).all()


def test_captions_stand_below() -> None:
    plain_sheet = join_pictures([plain(0), plain(0)], columns=1, gap=3)
    sheet = join_pictures(
        [plain(0), plain(0)], ["ab", "cd"], columns=1, gap=3, caption_height=12
    )
    assert sheet.shape[0] == plain_sheet.shape[0] + 24
    for top in (23, 58):
        strip = sheet[top : top + 12, 3:33, :3]
        assert strip.min() < 100
        assert strip.max() == 255


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12, 64])
@pytest.mark.parametrize("cell", [(100, 100), (100, 300), (400, 50)])
def test_columns(count: int, cell: tuple[int, int]) -> None:
    columns = sheet_columns(count, cell)
    rows = -(-count // columns)
    assert 1 <= columns <= count
    assert (rows - 1) * columns < count  # no empty row
    assert rows * columns - count < rows  # no empty column
    assert sheet_columns(0, cell) == 1


def test_refusals() -> None:
    with pytest.raises(SettingError, match="none to join"):
        join_pictures([])
    with pytest.raises(ShapeError, match=r"expected uint8 \(H, W, 4\)"):
        join_pictures([np.zeros((3, 3, 3), np.uint8)])
    with pytest.raises(ShapeError, match="float64"):
        join_pictures([np.zeros((3, 3, 4))])
    with pytest.raises(ShapeError, match="1 for 2 pictures"):
        join_pictures([plain(0), plain(0)], ["one"])
    with pytest.raises(SettingError, match="columns"):
        join_pictures([plain(0)], columns=0)
    with pytest.raises(SettingError, match="gap"):
        join_pictures([plain(0)], gap=-1)
    with pytest.raises(SettingError, match="too large"):
        join_pictures([plain(0)] * 3, columns=1, gap=20_000)
