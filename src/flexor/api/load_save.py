"""Files to characters and back, by the ending of the file's name."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from flexor.api.character import Character
from flexor.errors import AssetError, SettingError
from flexor.files.bvh import read_bvh
from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.runtime.envelope import SomeEnvelopes
from flexor.scene.runtime.package import Package
from flexor.scene.scene import Scene

__all__ = ["load", "save"]

READERS = {".glb": read_gltf, ".gltf": read_gltf, ".vrm": read_gltf, ".bvh": read_bvh}
WRITERS = {".glb", ".gltf", ".vrm"}
PACKAGE = ".flexor"


def load(path: str | os.PathLike[str]) -> Character:
    """Read a character: .glb, .gltf, .vrm, .flexor, or .bvh (skeleton and one clip).

    An AssetError names the file and the place in it where it cannot be read. What was
    odd but could be mended is in the result's `findings`. A package (.flexor) is
    mapped; damage is seen here, what stands in it is checked when it is first used.
    """
    place = Path(path)
    ending = place.suffix.lower()
    reader = READERS.get(ending)
    mode, reason = 0, ""
    try:
        mode = place.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a name no file can have
        reason = getattr(error, "strerror", None) or str(error)
    if stat.S_ISDIR(mode):
        raise AssetError(place, "", "is a folder, expected a file")
    if reader is None and ending != PACKAGE:
        known = ", ".join((*READERS, PACKAGE))
        raise AssetError(place, "", f"unknown kind of file, expected one of {known}")
    if reason:
        raise AssetError(place, "", f"cannot be read: {reason}")
    if not stat.S_ISREG(mode):
        # A pipe or a device may never end.
        raise AssetError(place, "", "is not a plain file")
    if reader is None:
        return Character(read_package(place))
    return Character(reader(place))


def save(character: Character, path: str | os.PathLike[str]) -> None:
    """Write a character as .glb or .vrm, as .gltf with all data inside, or as .flexor,
    a package that loads quickly, with levels of detail if the character was given some,
    and the envelopes that it was given; if none, that of one weight.

    A .vrm is a .glb with what VRM says of the character, as it was read: nodes, meshes
    and materials keep their numbers. Tracks of links are made here: what else reads the
    file knows no links. The file appears under its name only when it is complete.
    """
    place = Path(path)
    ending = place.suffix.lower()
    if ending == PACKAGE:
        envelopes = character.given_envelopes
        if envelopes is None:
            envelopes = SomeEnvelopes(one=character.envelopes.one)
        levels = character.given_levels
        write_package(Package(character.scene, envelopes, levels), place)
    elif ending in WRITERS:
        write_gltf(_with_link_tracks(character.scene), place)
    else:
        raise SettingError(f"{place}: can be written as .glb, .gltf, .vrm or .flexor")


def _with_link_tracks(scene: Scene) -> Scene:
    """The scene with the movement of links: what else reads the file knows no links."""
    if not scene.skeleton.links or not scene.clips:
        return scene
    from flexor.convert.links.export_tracks import with_link_tracks

    return with_link_tracks(scene)
