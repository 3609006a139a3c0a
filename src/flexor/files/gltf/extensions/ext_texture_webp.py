"""EXT_texture_webp: a texture's image as WebP. It is taken where there is no other."""

from __future__ import annotations

from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION"]

EXTENSION = Extension(names=("EXT_texture_webp",), is_texture_source=True)
