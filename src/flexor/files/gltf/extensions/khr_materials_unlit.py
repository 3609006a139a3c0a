"""KHR_materials_unlit: a surface that no light changes; `Material.unlit`."""

from __future__ import annotations

from typing import Any

from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION", "NAME", "add_unlit", "is_unlit"]

NAME = "KHR_materials_unlit"
EXTENSION = Extension(names=(NAME,))


def is_unlit(extensions: Checked | None) -> bool:
    """Whether a material with these extensions is unlit."""
    return extensions is not None and extensions.has(NAME)


def add_unlit(out: dict[str, Any]) -> None:
    """Say in the JSON of a material that it is unlit."""
    out["extensions"] = {**out.get("extensions", {}), NAME: {}}
