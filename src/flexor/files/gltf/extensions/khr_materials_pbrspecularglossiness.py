"""KHR_materials_pbrSpecularGlossiness: an older way to describe a surface.

Its base colour is taken where the material has no other; all of it is carried.
"""

from __future__ import annotations

from typing import Any

from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extension import Extension
from flexor.files.gltf.texture_refs import read_ref

__all__ = ["EXTENSION", "glossy_of", "read_glossy"]

NAME = "KHR_materials_pbrSpecularGlossiness"
EXTENSION = Extension(names=(NAME,))


def glossy_of(extensions: Checked | None) -> Checked | None:
    """The JSON of this extension among those of a material, or None."""
    return None if extensions is None else extensions.object(NAME)


def read_glossy(glossy: Checked, texture_count: int) -> dict[str, Any]:
    """Fields of a Material that is described so."""
    return {
        "base_colour": glossy.vector("diffuseFactor", (1.0, 1.0, 1.0, 1.0)),
        "base_texture": read_ref(glossy, "diffuseTexture", texture_count),
        "metallic": 0.0,
    }
