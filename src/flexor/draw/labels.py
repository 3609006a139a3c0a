"""Small texts on finished pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.scene.character.camera import Camera

__all__ = ["label_points", "text_strip"]

INK, HALO = (24, 26, 32, 255), (255, 255, 255, 235)


@cache
def load_font(pixels: int) -> Any:
    """The font that comes with Pillow."""
    from PIL import ImageFont

    return ImageFont.load_default(pixels)


def label_points(
    picture: NDArray[np.uint8],
    camera: Camera,
    points: ArrayLike,
    names: Sequence[str],
    *,
    pixels: int = 11,
) -> int:
    """Write names beside points of a picture, into the picture itself.

    picture: (H, W, 4), drawn with `camera`; points: (P, 3), metres. The nearest come
    first; a name that would lie over another, or outside, is left out. Gives how many
    were written.
    """
    height, width = picture.shape[:2]
    with np.errstate(all="ignore"):  # points behind the camera have no place
        seen = camera.project(points, (width, height))
        is_inside = ((seen[:, :2] >= 0) & (seen[:, :2] < (width, height))).all(1)
    order = np.argsort(np.where(is_inside, seen[:, 2], np.inf), kind="stable")
    taken: list[tuple[int, int, int, int]] = []
    for row in order[: int(is_inside.sum())].tolist():
        text = _short(names[row])
        if not text:
            continue
        label = label_picture(text, pixels)
        high, wide = label.shape[:2]
        left, top = round(seen[row, 0]) + 4, round(seen[row, 1]) - high // 2
        box = left, top, left + wide, top + high
        if top < 0 or box[2] > width or box[3] > height:
            continue
        if any(_overlap(box, other) for other in taken):
            continue
        _put_over(picture[top : box[3], left : box[2]], label)
        taken.append(box)
    return len(taken)


@lru_cache(maxsize=4096)
def label_picture(text: str, pixels: int) -> NDArray[np.uint8]:
    """Dark text with a light rim, (h, w, 4); kept, as most frames have the same."""
    from PIL import Image, ImageDraw

    font = load_font(pixels)
    left, top, right, bottom = font.getbbox(text, anchor="lm", stroke_width=1)
    size = max(1, math.ceil(right) - math.floor(left)), math.ceil(bottom - top)
    image = Image.new("RGBA", (size[0], max(1, size[1])), (*HALO[:3], 0))
    draw = ImageDraw.Draw(image)
    settings: dict[str, Any] = {"font": font, "anchor": "lm", "stroke_width": 1}
    place = -math.floor(left), -math.floor(top)
    draw.text(place, text, INK, stroke_fill=HALO, **settings)
    picture = np.array(image)
    picture.flags.writeable = False
    return picture


def _put_over(below: NDArray[np.uint8], above: NDArray[np.uint8]) -> None:
    """Lay a picture (h, w, 4) over a part of another of the same size."""
    cover = above[..., 3:].astype(np.float32) / 255
    left = below[..., 3:].astype(np.float32) / 255 * (1 - cover)
    alpha = cover + left
    mixed = above[..., :3] * cover + below[..., :3] * left
    below[..., :3] = np.rint(mixed / np.maximum(alpha, 1e-6))
    below[..., 3:] = np.rint(alpha * 255)


def text_strip(
    text: str, width: int, height: int, background: tuple[int, int, int, int]
) -> NDArray[np.uint8]:
    """A line of text in the middle of a strip of (width, height) pixels."""
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (width, height), background)
    is_light = sum(background[:3]) > 384 or background[3] < 128
    ink = INK if is_light else (240, 240, 240, 255)
    font = load_font(max(6, round(height * 0.62)))
    shown = _short(text, 200)
    draw = ImageDraw.Draw(image)
    while len(shown) > 1 and draw.textlength(shown, font=font) > width - 4:
        shown = shown[:-2] + "…" if len(shown) > 2 else shown[:1]
    draw.text((width / 2, height / 2), shown, ink, font=font, anchor="mm")
    return np.array(image)


def _short(text: str, most: int = 40) -> str:
    """Text on one line: names in files can be anything."""
    line = "".join(c if c.isprintable() else " " for c in text[: most + 1]).strip()
    return line if len(line) <= most else line[: most - 1] + "…"


def _overlap(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
