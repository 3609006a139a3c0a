"""Single pictures: PNG, JPEG and WebP."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from flexor.arrays import Pixels
from flexor.errors import SettingError
from flexor.files.replace import check_parent, replace_file, writing
from flexor.output.frames import check_frame, flatten
from flexor.output.png import encode_png

__all__ = ["IMAGES", "encode_webp", "save_image"]


def save_image(path: str | os.PathLike[str], pixels: Pixels) -> None:
    """Write a picture, uint8 (H, W, 4), by the ending: .png, .jpg, .jpeg or .webp.

    The file appears under its name only when it is complete. PNG and WebP keep the
    alpha; JPEG has none, and gets the picture over white.
    """
    place = Path(path)
    encode = IMAGES.get(place.suffix.lower())
    if encode is None:
        known = ", ".join(IMAGES)
        raise SettingError(f"{place}: unknown ending for a picture, there are: {known}")
    pixels = check_frame(pixels, None, "pixels")
    check_parent(place)
    with writing(place):
        replace_file(place, encode(pixels))


def encode_webp(pixels: Pixels, quality: int = 90, method: int = 4) -> bytes:
    """A whole WebP file of one picture; method: 0 is fast, 6 is small."""
    return _encode(pixels, "WEBP", quality=quality, method=method)


def _encode_jpeg(pixels: Pixels) -> bytes:
    return _encode(flatten(pixels)[..., :3], "JPEG", quality=92)


def _encode(pixels: Pixels, kind: str, **options: Any) -> bytes:
    from PIL import Image

    file = BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)
    return file.getvalue()


IMAGES: dict[str, Callable[[Pixels], bytes]] = {
    ".png": encode_png,
    ".jpg": _encode_jpeg,
    ".jpeg": _encode_jpeg,
    ".webp": encode_webp,
}
