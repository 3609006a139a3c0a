"""The contract that every backend keeps, and how one is opened."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from flexor.draw.drawlist import DrawList, DrawMesh, DrawTexture
from flexor.draw.target import Target
from flexor.errors import SettingError

__all__ = ["BACKENDS", "Backend", "open_backend"]

# Where each backend is: its module has a function `open` without parameters.
BACKENDS = {
    "raster": "flexor.draw.raster.backend",
    "record": "flexor.draw.record.backend",
}


class Backend(Protocol):
    """Draws draw lists. Several threads may call it at once."""

    def upload(self, asset: DrawMesh | DrawTexture) -> int:
        """Keep a mesh or a texture; gives the number by which draw lists name it.

        Meshes and textures are counted apart, each from 0.
        """
        ...

    def draw(self, draw_list: DrawList, target: Target) -> NDArray[np.uint8]:
        """Fill the arrays of `target`; gives its colour (H, W, 4)."""
        ...

    def close(self) -> None:
        """Give back what is held; the backend cannot be used afterwards."""
        ...


def open_backend(name: str = "raster") -> Backend:
    """A new backend: "raster" draws on the CPU, "record" only keeps the lists."""
    if name not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise SettingError(f"no backend {name!r}; there are: {known}")
    return cast(Backend, import_module(BACKENDS[name]).open())
