"""Keeps what it is given, for tests and for looking at draw lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.draw.check import check_list
from flexor.draw.drawlist import DrawList, DrawMesh, DrawTexture
from flexor.draw.target import Target, check_target
from flexor.errors import BackendError

__all__ = ["RecordBackend", "open"]


class RecordBackend:
    """meshes, textures: what was uploaded; lists: every draw list, oldest first."""

    def __init__(self) -> None:
        self.meshes: list[DrawMesh] = []
        self.textures: list[DrawTexture] = []
        self.lists: list[DrawList] = []
        self.is_closed = False

    def upload(self, asset: DrawMesh | DrawTexture) -> int:
        """Keep an asset; gives its number."""
        self._check_open()
        if isinstance(asset, DrawMesh):
            self.meshes.append(asset)
            return len(self.meshes) - 1
        self.textures.append(asset)
        return len(self.textures) - 1

    def draw(self, draw_list: DrawList, target: Target) -> NDArray[np.uint8]:
        """Keep the list; the picture is the background alone."""
        self._check_open()
        check_target(*target.size, target.samples)
        counts = [mesh.vertex_count for mesh in self.meshes]
        check_list(draw_list, counts, len(self.textures))
        self.lists.append(draw_list)
        target.colour[:] = draw_list.background
        for buffer, empty in (
            (target.depth, np.inf),
            (target.normal, 0),
            (target.part, -1),
            (target.heat, np.nan),
        ):
            if buffer is not None:
                buffer[:] = empty
        target.skipped = 0
        return target.colour

    def close(self) -> None:
        """Forget everything."""
        self.meshes, self.textures, self.lists = [], [], []
        self.is_closed = True

    def _check_open(self) -> None:
        if self.is_closed:
            raise BackendError("the backend is closed")


def open() -> RecordBackend:
    """A new backend that keeps draw lists."""
    return RecordBackend()
