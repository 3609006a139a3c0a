"""KHR_texture_transform: coordinates of a texture that are scaled, turned and moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension
from flexor.scene.character.material import TextureRef

__all__ = ["EXTENSION", "add_transform", "read_transform"]

NAME = "KHR_texture_transform"
EXTENSION = Extension(names=(NAME,))


def read_transform(item: Checked, ref: TextureRef) -> TextureRef:
    """The reference, with the transform that its JSON `item` gives it, if any."""
    extensions = item.object("extensions")
    moved = None if extensions is None else extensions.object(NAME)
    if moved is None:
        return ref
    return replace(
        ref,
        texcoord=moved.integer("texCoord", ref.texcoord),
        has_transform=True,
        offset=moved.vector("offset", (0.0, 0.0)),  # type: ignore[arg-type]
        rotation=moved.number("rotation", 0.0),
        scale=moved.vector("scale", (1.0, 1.0)),  # type: ignore[arg-type]
    )


def add_transform(out: dict[str, Any], ref: TextureRef) -> None:
    """Put the transform of a reference, if it has one, into its JSON `out`."""
    if not ref.has_transform:
        return
    moved: dict[str, Any] = {}
    if ref.offset != (0.0, 0.0):
        moved["offset"] = list(ref.offset)
    if ref.rotation:
        moved["rotation"] = ref.rotation
    if ref.scale != (1.0, 1.0):
        moved["scale"] = list(ref.scale)
    out["extensions"] = {NAME: moved}
