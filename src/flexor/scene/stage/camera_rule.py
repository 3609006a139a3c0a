"""Where the camera of a stage is: its rule, and changes of it as a stage is played."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.character.light import Vector, as_vector
from flexor.scene.checks import check_kind, check_number, check_word
from flexor.scene.stage.layout import FARTHEST

__all__ = ["CameraChange", "CameraRule", "Rule", "vector_of"]

Rule = Literal["fixed", "side", "behind"]
Frames = Literal["all", "pair"]


def vector_of(value: Any, name: str, most: float) -> Vector:
    """Three numbers, none larger than `most`, or a fault that names them."""
    try:
        x, y, z = as_vector(value, name)
    except OverflowError:  # a whole number that no float can hold
        x = y = z = math.inf
    if not max(abs(x), abs(y), abs(z)) <= most:
        raise SettingError(f"{name}: {value!r}, expected numbers up to {most:g}")
    return x, y, z


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraRule:
    """Where the camera is.

    rule: "fixed": at eye, looking at target; "side": beside the line between a
    character and its opponent, on the side it is on, so far away that both are in
    the picture; "behind": behind a character, looking at its opponent. of: the name of
    that character, "" for the first; distance: metres, at least; height: metres above
    the ground, of its eye; ease: seconds in which it follows; fov: radians; frame: who
    is to be in the picture: "all" who are within 12 m of the two, or the "pair" alone.
    """

    rule: Rule = "side"
    eye: Vector = (0.0, 2.0, 7.0)
    target: Vector = (0.0, 1.0, 0.0)
    of: str = ""
    distance: float = 4.5
    height: float = 1.6
    ease: float = 0.25
    fov: float = math.radians(40)
    frame: Frames = "all"

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_word(self.rule, get_args(Rule), "rule")
        check_word(self.frame, get_args(Frames), "frame")
        check_kind(self.of, str, "of")
        for name in ("eye", "target"):
            put(self, name, vector_of(getattr(self, name), name, FARTHEST))
        if math.dist(self.eye, self.target) < 1e-3:
            raise SettingError(f"eye: {self.eye}, expected another place than target")
        far = 1000.0
        put(self, "distance", check_number(self.distance, "distance", 0.1, far))
        put(self, "height", check_number(self.height, "height", -far, far))
        put(self, "ease", check_number(self.ease, "ease", 0, 60))
        put(self, "fov", check_number(self.fov, "fov", 0.01, 3))


@dataclass(frozen=True, slots=True)
class CameraChange:
    """Another rule of a camera: before the tick of this number, about the character of
    this row.
    """

    tick: int
    row: int
    rule: CameraRule

    def __post_init__(self) -> None:
        for name in ("tick", "row"):
            value = getattr(self, name)
            is_whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not is_whole or not 0 <= value < 2**31 - 1:
                raise SettingError(f"{name}: {value!r}, expected a whole number from 0")
        check_kind(self.rule, CameraRule, "rule")
