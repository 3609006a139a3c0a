"""The slow twin as a backend, so that the same tests hold for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.draw.check import check_list
from flexor.draw.drawlist import DrawList, DrawMesh, DrawTexture
from flexor.draw.target import Target, check_target
from flexor.errors import BackendError
from tests.oracle.raster.raster import draw_slow


class SlowBackend:
    """Draws with plain NumPy."""

    def __init__(self) -> None:
        self.meshes: list[DrawMesh] = []
        self.textures: list[DrawTexture] = []
        self.is_closed = False

    def upload(self, asset: DrawMesh | DrawTexture) -> int:
        self._check_open()
        kept: list = self.meshes if isinstance(asset, DrawMesh) else self.textures
        kept.append(asset)
        return len(kept) - 1

    def draw(self, draw_list: DrawList, target: Target) -> NDArray[np.uint8]:
        self._check_open()
        check_target(*target.size, target.samples)
        counts = [mesh.vertex_count for mesh in self.meshes]
        check_list(draw_list, counts, len(self.textures))
        draw_slow(draw_list, target, self.meshes, self.textures)
        return target.colour

    def close(self) -> None:
        self.is_closed = True

    def _check_open(self) -> None:
        if self.is_closed:
            raise BackendError("the backend is closed")
