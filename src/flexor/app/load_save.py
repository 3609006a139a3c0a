"""Files to characters and back, by the ending of the file's name."""

from __future__ import annotations

import os
from pathlib import Path

from flexor.app.character import Character
from flexor.errors import AssetError, SettingError
from flexor.files.bvh_read import read_bvh
from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf

__all__ = ["load", "save"]

READERS = {".glb": read_gltf, ".gltf": read_gltf, ".vrm": read_gltf, ".bvh": read_bvh}
WRITERS = {".glb", ".gltf", ".vrm"}


def load(path: str | os.PathLike[str]) -> Character:
    """Read a character: .glb, .gltf, .vrm, or .bvh (skeleton and one clip, no mesh).

    An AssetError names the file and the place in it where it cannot be read. What was
    odd but could be mended is in the result's `findings`.
    """
    place = Path(path)
    if place.is_dir():
        raise AssetError(place, "", "is a folder, expected a file")
    reader = READERS.get(place.suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise AssetError(place, "", f"unknown kind of file, expected one of {known}")
    return Character(reader(place))


def save(character: Character, path: str | os.PathLike[str]) -> None:
    """Write a character as .glb, or as .gltf with a .bin and images beside it.

    The file appears under its name only when it is complete.
    """
    place = Path(path)
    if place.suffix.lower() not in WRITERS:
        raise SettingError(f"{place}: can be written as .glb or .gltf")
    write_gltf(character.scene, place)
