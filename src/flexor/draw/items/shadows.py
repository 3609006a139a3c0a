"""Shadows that lie on uneven ground, as what a backend draws."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGBA, DrawItem, DrawMesh, Look
from flexor.errors import ShapeError

__all__ = ["build_shadow", "upload_cast_shadow"]

SHADE: RGBA = (0.012, 0.014, 0.02, 1.0)
OPACITY = 0.5
GROUND = Look(cull="none", shading="unlit")  # that the sun does not reach


def upload_cast_shadow(backend: Backend, faces: Ints, count: int) -> int:
    """Upload the faces (F, 3) of a shadow of `count` vertices; gives its number."""
    return backend.upload(DrawMesh(count, np.array(faces, np.int32)))


def build_shadow(
    mesh: int,
    positions: Floats,
    *,
    tints: Floats | None = None,
    colours: Floats | None = None,
    opacity: float = OPACITY,
) -> DrawItem:
    """Shadows of n characters, flat on the ground: positions (n, P, 3).

    They must be a little above the ground. Both sides are drawn, as flattening turns
    half of the faces over. A shadow must be no darker where parts of it, or two of
    them, lie over each other, which blending would make it; so there are two ways:

    With tints (n, 4) or colours (P, 4), of `shade_colours`, it is drawn as ground that
    the sun does not reach, and nothing is seen through it: smooth, and true while it
    lies on that ground alone. Without, it is dark and seen through, over anything:
    opacity is the share of the pixels that is drawn, always the same ones.
    """
    if positions.ndim != 3:
        raise ShapeError(f"positions: shape {positions.shape}, expected (n, P, 3)")
    look = GROUND
    if tints is None and colours is None:
        look = Look(colour=SHADE, cull="none", shading="unlit", opacity=opacity)
    return DrawItem(mesh, positions, None, look, tints=tints, colours=colours)
