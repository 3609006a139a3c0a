"""KHR_mesh_quantization: attributes as small integers.

Accessors give float32 of any type that a file may have, so there is nothing to do; what
is written is float32.
"""

from __future__ import annotations

from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION"]

EXTENSION = Extension(names=("KHR_mesh_quantization",), is_undone=True)
