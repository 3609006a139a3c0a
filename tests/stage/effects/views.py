"""Views of structures."""

from __future__ import annotations

from flexor.scene.stage.structure import Structure


def pillar(x: float, z: float, radius: float, name: str = "pillar") -> Structure:
    return Structure(name=name, middle=(x, z), radius=radius)
