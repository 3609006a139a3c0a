"""Pictures of a scene as textures that can be drawn. They are hostile until checked."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.draw.drawlist import DrawTexture, Wrap
from flexor.scene.character.material import CLAMP, MIRROR, Image, Sampler
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["CHECKER", "decode_image", "read_texture"]

FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 1 << 26
LONGEST_SIDE = 2048
NEAREST, LINEAR = 9728, 9729


def _checker(side: int = 64, squares: int = 8) -> NDArray[np.uint8]:
    """Magenta and grey squares, (side, side, 4): what stands for a lost picture."""
    rows, columns = np.indices((side, side)) * squares // side
    is_dark = (rows + columns) % 2 == 1
    return np.where(is_dark[..., None], (90, 90, 90, 255), (230, 40, 200, 255)).astype(
        np.uint8
    )


CHECKER = _checker()
CHECKER.flags.writeable = False


def read_texture(
    scene: Scene, row: int, pictures: dict[int, NDArray[np.uint8]]
) -> tuple[DrawTexture, list[Finding]]:
    """The texture in a row of the scene's table, and what was wrong with it.

    pictures: decoded images by their row, filled as they are needed. A texture without
    a picture that can be read is a checker.
    """
    texture = scene.textures[row]
    findings: list[Finding] = []
    sampler = Sampler()
    if texture.sampler is not None:
        sampler = scene.samplers[texture.sampler]
    if texture.image is None:
        findings.append(_lost(f"/textures/{row}", "the texture names no image"))
        pixels = CHECKER
    elif texture.image in pictures:
        pixels = pictures[texture.image]
    else:
        where = f"/images/{texture.image}"
        pixels, found = decode_image(scene.images[texture.image], where)
        pictures[texture.image] = pixels
        findings += found
    return (
        DrawTexture(
            pixels,
            _wrap(sampler.wrap_s),
            _wrap(sampler.wrap_t),
            is_nearest=sampler.mag_filter == NEAREST,
            has_mipmaps=sampler.min_filter not in (NEAREST, LINEAR),
        ),
        findings,
    )


def decode_image(
    image: Image, where: str, longest_side: int = LONGEST_SIDE
) -> tuple[NDArray[np.uint8], list[Finding]]:
    """Pixels (h, w, 4), sRGB and alpha, at most `longest_side` a side; and findings.

    What cannot be read, or has more than 64 million pixels, is a checker.
    """
    if not image.data:
        text = f"there is no file {image.uri!r}" if image.uri else "the image is empty"
        return CHECKER, [_lost(where, text)]
    from PIL import Image as Pillow

    try:
        with Pillow.open(BytesIO(image.data), formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                text = f"{width} x {height} pixels are too many"
                return CHECKER, [_lost(where, text)]
            picture.draft("RGB", (longest_side, longest_side))
            return _pixels(picture, longest_side), []
    except Exception as error:  # a broken file can raise anything in there
        kind = image.mime or "unknown"
        text = f"the image ({kind}) cannot be read: {error or type(error).__name__}"
        return CHECKER, [_lost(where, text)]


def _pixels(picture: Any, longest_side: int) -> NDArray[np.uint8]:
    """RGBA pixels of an open picture, (h, w, 4), reduced where it is too large."""
    from PIL import Image as Pillow

    if picture.mode.startswith("I"):  # 16 bits a pixel would be cut, not scaled
        grey = np.clip(np.asarray(picture, np.int64) >> 8, 0, 255).astype(np.uint8)
        picture = Pillow.fromarray(grey)
    picture = picture.convert("RGBA")
    if max(picture.size) > longest_side:
        factor = longest_side / max(picture.size)
        size = [max(1, round(side * factor)) for side in picture.size]
        picture = picture.resize(size, Pillow.Resampling.BOX)
    pixels = np.array(picture, np.uint8)
    pixels.flags.writeable = False
    return pixels


def _wrap(constant: int) -> Wrap:
    if constant == CLAMP:
        return "clamp"
    return "mirror" if constant == MIRROR else "repeat"


def _lost(where: str, text: str) -> Finding:
    return Finding("warning", "missing-texture", where, f"{text}; a checker stands in")
