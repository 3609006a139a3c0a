"""The contract that every backend keeps, and how one is opened."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from flexor.draw.drawlist import DrawList, DrawMesh, DrawTexture
from flexor.draw.target import Target
from flexor.errors import SettingError

__all__ = ["Backend", "backend_names", "open_backend"]


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


def backend_names() -> list[str]:
    """Every backend there is: the folders of `draw` that have a `backend.py`.

    That file has a function `open` without parameters, which gives a new backend.
    """
    return sorted(
        file.parent.name for file in Path(__file__).parent.glob("*/backend.py")
    )


def open_backend(name: str = "raster") -> Backend:
    """A new backend: "raster" draws on the CPU, "record" only keeps the lists."""
    names = backend_names()
    if name not in names:
        raise SettingError(f"no backend {name!r}; there are: {', '.join(names)}")
    return cast(Backend, import_module(f"flexor.draw.{name}.backend").open())
