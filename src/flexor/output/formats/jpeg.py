"""JPEG: small pictures without alpha, over white."""

from __future__ import annotations

from flexor.arrays import Pixels
from flexor.output.format import Format
from flexor.output.frames import flatten
from flexor.output.pillow import encode_with_pillow

__all__ = ["FORMAT", "encode_jpeg"]

QUALITY = 92


def encode_jpeg(pixels: Pixels) -> bytes:
    """A whole JPEG file of C-ordered pixels, uint8 (H, W, 4)."""
    return encode_with_pillow(flatten(pixels)[..., :3], "JPEG", quality=QUALITY)


FORMAT = Format(endings=(".jpg", ".jpeg"), encode=encode_jpeg, rank=20)
