"""Structures, and looks at them, for tests of the view."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.scene.stage.structure import Structure

Rng = np.random.Generator


def pillar(x: float, z: float, radius: float, name: str = "pillar") -> Structure:
    return Structure(name=name, middle=(x, z), radius=radius)


def wall(a: Any, b: Any, thickness: float = 0.2, name: str = "wall") -> Structure:
    return Structure(name=name, ends=(tuple(a), tuple(b)), thickness=thickness)


# Examples that can be worked out by hand: camera in front, two characters.

EYE, PAIR = (0.0, 10.0), ((-4.0, 0.0), (4.0, 0.0))
