"""KHR_lights_punctual: lamps. They are carried, and not drawn."""

from __future__ import annotations

from flexor.files.gltf.extension import Extension

__all__ = ["EXTENSION"]

EXTENSION = Extension(names=("KHR_lights_punctual",))
