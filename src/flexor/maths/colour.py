"""sRGB levels, as pictures hold them, and linear light, in which colours are mixed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["linear_from_srgb", "srgb_from_linear"]


def linear_from_srgb(levels: ArrayLike) -> NDArray[np.float64]:
    """Linear light 0 to 1 of sRGB levels 0 to 255."""
    share = np.asarray(levels, np.float64) / 255
    curve = ((np.maximum(share, 0.04045) + 0.055) / 1.055) ** 2.4
    return np.where(share <= 0.04045, share / 12.92, curve)


def srgb_from_linear(light: ArrayLike) -> NDArray[np.float64]:
    """SRGB levels 0 to 255, not rounded, of linear light 0 to 1."""
    light = np.asarray(light, np.float64)
    curve = 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055
    return np.where(light <= 0.0031308, light * 12.92, curve) * 255
