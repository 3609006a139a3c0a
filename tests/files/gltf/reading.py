"""Read a built file, or show how it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flexor.errors import AssetError
from flexor.files.gltf.read import read_gltf
from flexor.scene.scene import Scene
from tests.gltf_builder import write_glb

__all__ = ["put", "read", "refuse"]


def read(folder: Path, gltf: dict[str, Any], data: bytes) -> Scene:
    """The scene of a .glb file made of these."""
    return read_gltf(write_glb(folder / "mini.glb", gltf, data))


def refuse(
    folder: Path, gltf: dict[str, Any], data: bytes, pointer: str, words: str
) -> None:
    """Expect an AssetError that names the file and the place, and has the words."""
    check_refusal(write_glb(folder / "mini.glb", gltf, data), pointer, words)


def check_refusal(path: Path, pointer: str, words: str) -> None:
    with pytest.raises(AssetError) as caught:
        read_gltf(path)
    error = caught.value
    assert (error.path, error.pointer) == (path, pointer), error
    assert words in error.text, error
    assert str(path) in str(error)


def put(gltf: Any, pointer: str, value: Any) -> None:
    """Set the value at a JSON pointer; a missing last key is made."""
    *above, last = pointer[1:].split("/")
    for key in above:
        gltf = gltf[int(key)] if isinstance(gltf, list) else gltf[key]
    gltf[int(last) if isinstance(gltf, list) else last] = value
