"""The slow twin of `fill_backdrop`: where each pixel looks to, and what is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.draw.drawlist import DrawBackdrop
from flexor.scene.character.camera import Camera


def level_for(backdrop: DrawBackdrop, camera: Camera, size: tuple[int, int]) -> Any:
    """The smaller picture whose columns are nearest to as wide as pixels."""
    if camera.height is not None:
        return backdrop.levels[-1]
    wide = backdrop.pixels.shape[1] / (2 * math.pi) / camera.scale(size)
    row = round(math.log2(wide)) if wide > 1 else 0
    return backdrop.levels[min(max(row, 0), len(backdrop.levels) - 1)]


def look_far(backdrop: DrawBackdrop, camera: Camera, size: tuple[int, int]) -> Any:
    """What is seen of a backdrop where there is nothing else: sRGB (H, W, 3), 0 to 255,
    no whole numbers.
    """
    level = level_for(backdrop, camera, size)
    texels = level[..., None].view(np.uint8)[..., :3].astype(np.float64)
    rows, columns = level.shape
    right, up, back = camera.axes()
    scale = camera.scale(size)
    seen = np.zeros((size[1], size[0], 3))
    for y in range(size[1]):
        for x in range(size[0]):
            across = (x + 0.5 - size[0] / 2) / scale
            above = (size[1] / 2 - y - 0.5) / scale
            if camera.height is not None:
                across = above = 0.0
            dx, dy, dz = -back + across * right + above * up
            around = math.atan2(dx, -dz) / (2 * math.pi) + 0.5
            tangent = dy / max(math.hypot(dx, dz), 1e-12)
            u = around * columns - 0.5
            v = (backdrop.high - tangent) / (backdrop.high - backdrop.low) * rows - 0.5
            v = min(max(v, 0.0), rows - 1.0)
            i, j = math.floor(u), min(math.floor(v), rows - 2)
            a, b = texels[j, i % columns], texels[j, (i + 1) % columns]
            c, d = texels[j + 1, i % columns], texels[j + 1, (i + 1) % columns]
            p, q = u - i, v - j
            seen[y, x] = (a + p * (b - a)) * (1 - q) + (c + p * (d - c)) * q
    return seen
