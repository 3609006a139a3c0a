"""Words and bars over pictures: drawn once by Pillow, kept, and laid over by NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Pixels

__all__ = ["Anchor", "draw_bar", "draw_text", "shade", "text_size"]

Colour = tuple[int, int, int]
Anchor = Literal["left", "middle", "right"]
WHITE: Colour = (255, 255, 255)
DARK: Colour = (16, 18, 24)


@lru_cache(maxsize=512)
def _mask(text: str, height: int) -> NDArray[np.float32]:
    """How much of each pixel a text covers, 0 to 1: float32 (H, W)."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=height)
    left, _, right, _ = font.getbbox(text or " ")
    _, _, _, low = font.getbbox("Ag|")  # the same for all words, so that lines agree
    wide, high = max(int(right - left) + 2, 1), int(low) + 2
    picture = Image.new("L", (wide, high), 0)
    ImageDraw.Draw(picture).text((1 - left, 1), text, fill=255, font=font)
    mask = np.asarray(picture, np.float32) / np.float32(255)
    mask.flags.writeable = False
    return mask


def text_size(text: str, height: int) -> tuple[int, int]:
    """Width and height of a text in pixels."""
    high, wide = _mask(text, height).shape
    return wide, high


def draw_text(
    picture: Pixels,
    text: str,
    at: tuple[int, int],
    height: int,
    colour: Colour = WHITE,
    anchor: Anchor = "left",
    strength: float = 1.0,
) -> None:
    """Write a text into a picture (H, W, 4), with a dark rim, so that it can be read
    over anything; at: x and y of its upper edge, at its left, middle or right; what is
    beyond the picture is cut off.
    """
    mask = _mask(text, max(height, 6))
    wide = mask.shape[1]
    x = at[0] - {"left": 0, "middle": wide // 2, "right": wide}[anchor]
    rim = max(height // 14, 1)
    for dx, dy in ((rim, 0), (-rim, 0), (0, rim), (0, -rim), (rim, rim)):
        _blend(picture, mask, x + dx, at[1] + dy, DARK, 0.55 * strength)
    _blend(picture, mask, x, at[1], colour, strength)


def _blend(
    picture: Pixels,
    mask: NDArray[np.float32],
    x: int,
    y: int,
    colour: Colour,
    strength: float,
) -> None:
    high, wide = picture.shape[:2]
    top, left = max(y, 0), max(x, 0)
    bottom, right = min(y + mask.shape[0], high), min(x + mask.shape[1], wide)
    if bottom <= top or right <= left:
        return
    part = picture[top:bottom, left:right, :3]
    share = mask[top - y : bottom - y, left - x : right - x, None] * strength
    part[:] = part + share * (np.array(colour, np.float32) - part)


def draw_bar(
    picture: Pixels,
    box: tuple[int, int, int, int],
    share: float,
    colour: Colour,
    *,
    from_right: bool = False,
) -> None:
    """A bar in a frame; box: x, y, width, height; share: how full, 0 to 1."""
    x, y, wide, high = box
    shade(picture, (x - 2, y - 2, wide + 4, high + 4), 0.75)
    full = round(wide * min(max(share, 0.0), 1.0))
    left = x + wide - full if from_right else x
    tops, sides = picture.shape[:2]
    rows = slice(max(y, 0), min(y + high, tops))
    columns = slice(max(left, 0), min(left + full, sides))
    light = np.linspace(1.12, 0.82, max(high, 1))[: rows.stop - rows.start]
    tone = np.clip(np.array(colour) * light[:, None], 0, 255)
    picture[rows, columns, :3] = tone[:, None].astype(np.uint8)


def shade(picture: Pixels, box: tuple[int, int, int, int], strength: float) -> None:
    """Darken a rectangle: x, y, width, height."""
    x, y, wide, high = box
    tops, sides = picture.shape[:2]
    rows = slice(min(max(y, 0), tops), min(max(y + high, 0), tops))
    columns = slice(min(max(x, 0), sides), min(max(x + wide, 0), sides))
    part = picture[rows, columns, :3]
    part[:] = (part * (1 - strength)).astype(np.uint8)
