"""KHR_texture_basisu: a texture's image as KTX 2. It is kept, but cannot be drawn, so a
file that requires it is refused.
"""

from __future__ import annotations

from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION"]

EXTENSION = Extension(
    names=("KHR_texture_basisu",), may_be_required=False, is_texture_source=True
)
