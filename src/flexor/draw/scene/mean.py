"""The colour that a character has on the whole: the mean of its surfaces."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.draw.drawlist import RGB
from flexor.draw.scene.textures import read_texture
from flexor.maths.colour import linear_from_srgb
from flexor.scene.scene import Scene

__all__ = ["mean_colour"]


@lru_cache(maxsize=16)
def mean_colour(scene: Scene) -> RGB:
    """The mean colour of a scene's surfaces at their vertices, linear; white if it has
    none.
    """
    total, count = np.zeros(3), 0
    pictures: dict[int, NDArray[np.uint8]] = {}
    for node in np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist():
        for own in scene.meshes[scene.node_mesh[node]].primitives:
            colours = np.ones((len(own), 3))
            if own.colours:
                colours *= own.colours[0][:, :3]
            if own.material is not None:
                material = scene.materials[own.material]
                colours *= material.base_colour[:3]
                base = material.base_texture
                if base is not None and base.texcoord < len(own.texcoords):
                    texture, _ = read_texture(scene, base.texture, pictures)
                    coords = own.texcoords[base.texcoord].astype(np.float64)
                    colours *= _texels(texture.pixels, coords)
            total += colours.sum(0)
            count += len(own)
    if not count:
        return 1.0, 1.0, 1.0
    red, green, blue = (total / count).tolist()
    return red, green, blue


def _texels(pixels: NDArray[np.uint8], coords: Doubles) -> Doubles:
    """The texels at places (n, 2) of a texture that repeats: linear (n, 3)."""
    high, wide = pixels.shape[:2]
    u, v = np.where(np.isfinite(coords), coords, 0).T % 1.0
    column = np.minimum((u * wide).astype(np.intp), wide - 1)
    row = np.minimum((v * high).astype(np.intp), high - 1)
    return linear_from_srgb(pixels[row, column, :3]).astype(np.float64)
