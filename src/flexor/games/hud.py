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
    keep, add = _ink(text, max(height, 6), colour, strength)
    rim = _rim(height)
    wide = keep.shape[1] - 2 * rim
    x = at[0] - {"left": 0, "middle": wide // 2, "right": wide}[anchor]
    _lay_over(picture, keep, add, x - rim, at[1] - rim)


def _rim(height: int) -> int:
    """The width of the rim around a text, in pixels."""
    return max(height // 14, 1)


@lru_cache(maxsize=256)
def _ink(
    text: str, height: int, colour: Colour, strength: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A text and its rim as what they leave of a picture (H, W, 1) and what they add to
    it (H, W, 3): five dark copies around, then the text itself, made one.
    """
    mask, rim = _mask(text, height), _rim(height)
    high, wide = mask.shape
    keep = np.ones((high + 2 * rim, wide + 2 * rim, 1), np.float32)
    add = np.zeros((*keep.shape[:2], 3), np.float32)
    around = ((rim, 0), (-rim, 0), (0, rim), (0, -rim), (rim, rim))
    copies = [(x, y, DARK, 0.55 * strength) for x, y in around]
    for x, y, tone, share in (*copies, (0, 0, colour, strength)):
        part = np.s_[rim + y : rim + y + high, rim + x : rim + x + wide]
        covered = mask[..., None] * np.float32(share)
        keep[part] *= 1 - covered
        add[part] += covered * (np.array(tone, np.float32) - add[part])
    add += np.float32(0.5)  # so that cutting to whole numbers rounds
    keep.flags.writeable = add.flags.writeable = False
    return keep, add


def _lay_over(
    picture: Pixels,
    keep: NDArray[np.float32],
    add: NDArray[np.float32],
    x: int,
    y: int,
) -> None:
    """Lay ink over a picture (H, W, 4); what is beyond it is cut off."""
    high, wide = picture.shape[:2]
    top, left = max(y, 0), max(x, 0)
    bottom, right = min(y + keep.shape[0], high), min(x + keep.shape[1], wide)
    if bottom <= top or right <= left:
        return
    inside = np.s_[top - y : bottom - y, left - x : right - x]
    part = picture[top:bottom, left:right, :3]
    part[:] = part * keep[inside] + add[inside]


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
