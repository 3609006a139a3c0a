"""Pictures that Pillow encodes."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from flexor.arrays import Pixels

__all__ = ["encode_with_pillow"]


def encode_with_pillow(pixels: Pixels, kind: str, **options: Any) -> bytes:
    """A whole file of one picture, uint8 (H, W, 3 or 4); kind: Pillow's name for it."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)
    return file.getvalue()
