"""Single pictures, in any format that has them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from flexor.arrays import Pixels
from flexor.errors import SettingError
from flexor.files.replace import check_parent, replace_file, writing
from flexor.output.format import find_formats
from flexor.output.frames import check_frame

__all__ = ["IMAGES", "save_image"]

# By the ending: makes a whole file of a picture.
IMAGES: dict[str, Callable[[Pixels], bytes]] = {
    ending: form.encode
    for form in find_formats()
    if form.encode is not None
    for ending in form.endings
}


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
