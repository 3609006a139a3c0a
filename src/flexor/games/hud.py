"""Words and bars over pictures: drawn once by Pillow, kept, and laid over by NumPy.

Letters are drawn at the size that they have in the picture, each at its own part of a
pixel, with widths that are those of the letters when they are large: so texts are as
sharp and as evenly spaced at 320 x 240 as at 1920 x 1080.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Pixels
from flexor.maths.colour import linear_from_srgb, srgb_from_linear

__all__ = ["Anchor", "colour_of", "draw_bar", "draw_text", "shade", "text_size"]

Colour = tuple[int, int, int]
Anchor = Literal["left", "middle", "right"]
WHITE: Colour = (255, 255, 255)
DARK: Colour = (12, 14, 20)
LARGE = 256  # pixels: letters of this height say how wide those of others are
# Parts of a text's height: between letters, of a blank more, how much bolder letters
# are than they come, and their rim.
APART, BLANK, BOLD, RIM = 0.025, 0.11, 0.02, 0.065
RIM_STRENGTH = 0.85
SHINES = 28  # pixels: texts from this height on are brighter above than below
BRIGHTEST = 0.86  # of the brightest part of a colour that words have, linear


def colour_of(colour: tuple[float, float, float]) -> Colour:
    """The colour in which a name is written of someone whose own is `colour`, linear
    (see `Stage.colours`): of the same hue, and bright enough to be read.
    """
    parts = np.maximum(np.array(colour, np.float64), 0)
    parts *= BRIGHTEST / max(float(parts.max()), 1e-6)
    # The lower parts a little lower: small letters look paler than large surfaces.
    parts *= np.sqrt(parts / BRIGHTEST)
    dim = 0.35 - float((parts * (0.2126, 0.7152, 0.0722)).sum())
    parts += max(dim, 0.0) * 0.5
    red, green, blue = np.round(srgb_from_linear(np.minimum(parts, 1))).astype(int)
    return int(red), int(green), int(blue)


@lru_cache(maxsize=64)
def _font(height: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size=height)


@lru_cache(maxsize=512)
def _places(text: str) -> tuple[tuple[float, ...], float]:
    """Where letters begin and where the last ends, in parts of the text's height."""
    font = _font(LARGE)
    at, found = 0.0, []
    for number, letter in enumerate(text):
        if number:
            pair = text[number - 1 : number + 1]
            kern = font.getlength(pair) - sum(font.getlength(one) for one in pair)
            at += kern / LARGE + APART
        found.append(at)
        at += font.getlength(letter) / LARGE + (BLANK if letter == " " else 0.0)
    return tuple(found), at


@lru_cache(maxsize=512)
def _masks(text: str, height: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How much of each pixel a text and its rim cover, 0 to 1: float32 (H, W) each."""
    from PIL import Image, ImageDraw

    font = _font(height)
    begins, end = _places(text)
    wide, high = _size(end, height)
    found = []
    for stroke in (BOLD * height, BOLD * height + _rim(height)):
        picture = Image.new("L", (wide, high), 0)
        draw = ImageDraw.Draw(picture)
        for letter, begin in zip(text, begins, strict=True):
            at = _edge(height) + begin * height, float(_edge(height))
            draw.text(at, letter, fill=255, font=font, stroke_width=stroke)
        mask = np.asarray(picture, np.float32) / np.float32(255)
        mask.flags.writeable = False
        found.append(mask)
    return found[0], found[1]


def _rim(height: int) -> float:
    """The width of the rim around a text, in pixels."""
    return max(RIM * height, 1.0)


def _edge(height: int) -> int:
    """Pixels around a text that its rim takes."""
    return int(_rim(height) + BOLD * height) + 2


def _size(end: float, height: int) -> tuple[int, int]:
    """Width and height of the mask of a text."""
    low = _font(height).getbbox("Ag|")[3]  # the same for all words: lines agree
    edge = 2 * _edge(height)
    return int(np.ceil(end * height)) + edge, int(np.ceil(low)) + edge


def text_size(text: str, height: int) -> tuple[int, int]:
    """Width and height of a text in pixels, without its rim."""
    wide, high = _size(_places(text)[1], height)
    edge = 2 * _edge(height)
    return max(wide - edge, 1), high - edge


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
    height = max(height, 6)
    keep, add = _ink(text, height, colour, strength)
    edge = _edge(height)
    wide = keep.shape[1] - 2 * edge
    x = at[0] - {"left": 0, "middle": wide // 2, "right": wide}[anchor]
    _lay_over(picture, keep, add, x - edge, at[1] - edge)


@lru_cache(maxsize=256)
def _ink(
    text: str, height: int, colour: Colour, strength: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A text and its rim as what they leave of a picture (H, W, 1) and what they add to
    it (H, W, 3): the rim, then the text itself, made one.
    """
    mask, rim = _masks(text, height)
    tone = np.broadcast_to(np.array(colour, np.float32), (*mask.shape, 3))
    if height >= SHINES:
        part = np.linspace(1.1, 0.84, len(mask), dtype=np.float32)[:, None, None]
        light = linear_from_srgb(np.array(colour)) * part
        tone = srgb_from_linear(np.clip(light, 0, 1)).astype(np.float32)
        tone = np.broadcast_to(tone, (*mask.shape, 3))
    covered = rim[..., None] * np.float32(RIM_STRENGTH * strength)
    keep = 1 - covered
    add = covered * np.array(DARK, np.float32)
    covered = mask[..., None] * np.float32(strength)
    keep = keep * (1 - covered)
    add = add + covered * (tone - add)
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
    if wide < 1 or high < 1:
        return
    rim = max(round(high / 7), 1)
    thin = max(rim // 2, 1)
    around = (x - rim - thin, y - rim - thin, wide + 2 * (rim + thin))
    _fill(picture, (*around, high + 2 * (rim + thin)), np.array([DARK]), 0.9)
    frame = (x - rim, y - rim, wide + 2 * rim, high + 2 * rim)
    _fill(picture, frame, np.array([[196, 202, 212]]), 0.85)
    # Empty, it is dark and shaded from above.
    depth = np.linspace(0.55, 1.25, high)[:, None]
    _fill(picture, box, np.array([[34, 30, 38]]) * depth, 1.0)
    full = wide * min(max(share, 0.0), 1.0)
    part = np.clip(full - np.arange(wide), 0, 1)  # the last column may be a part
    if from_right:
        part = part[::-1]
    # Glossy: bright above the middle, darker below it, a dim edge at the foot.
    level = (np.arange(high) + 0.5) / high
    light = np.where(level < 0.42, 1.12 - 0.35 * level, 0.86 - 0.22 * (level - 0.42))
    gloss = np.where(level < 0.42, 0.26 * (1 - level / 0.42), 0.0)
    own = linear_from_srgb(np.array(colour)) * (light * light)[:, None]
    own = srgb_from_linear(np.clip(own + gloss[:, None] * (1 - own) * 0.7, 0, 1))
    _fill(picture, box, own, part)


def _fill(
    picture: Pixels,
    box: tuple[int, int, int, int],
    rows: NDArray[np.floating],
    strength: float | NDArray[np.floating],
) -> None:
    """Fill a rectangle, cut off at the picture's edges; rows: (height or 1, 3), sRGB;
    strength: how much of what was there is covered, of all or of each column.
    """
    x, y, wide, high = box
    tops, sides = picture.shape[:2]
    top, bottom = max(y, 0), min(y + high, tops)
    left, right = max(x, 0), min(x + wide, sides)
    if bottom <= top or right <= left:
        return
    tone = np.broadcast_to(rows, (high, 3))[top - y : bottom - y, None]
    cover = np.broadcast_to(np.asarray(strength), (wide,))[left - x : right - x]
    part = picture[top:bottom, left:right, :3]
    share = cover[None, :, None]
    part[:] = np.clip(part * (1 - share) + tone * share + 0.5, 0, 255).astype(np.uint8)


def shade(picture: Pixels, box: tuple[int, int, int, int], strength: float) -> None:
    """Darken a rectangle: x, y, width, height."""
    x, y, wide, high = box
    tops, sides = picture.shape[:2]
    rows = slice(min(max(y, 0), tops), min(max(y + high, 0), tops))
    columns = slice(min(max(x, 0), sides), min(max(x + wide, 0), sides))
    part = picture[rows, columns, :3]
    part[:] = (part * (1 - strength)).astype(np.uint8)
