"""How pictures of characters look: settings."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

from flexor.draw.drawlist import RGBA, Order
from flexor.draw.target import Buffer
from flexor.errors import SettingError
from flexor.scene.character.light import Light
from flexor.scene.character.limits import Limits
from flexor.scene.checks import check_word

__all__ = ["DrawStyle", "Style", "View", "style_of"]

Style = Literal[
    "shaded", "gouraud", "flat", "unlit", "cel", "lines", "wire", "ghost", "heat"
]
View = Literal["sections", "areas", "ties", "limits"]
Background = tuple[int, int, int, int]

PAPER: Background = (234, 237, 240, 255)
WHITE: Background = (255, 255, 255, 255)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawStyle:
    """What a picture shows, and how.

    style: of the surface, see docs/guide/draw.md; samples: 4 for smooth edges, 1 for
    speed; background: sRGB and alpha, 0 to 255, None for the style's own; ground: a
    grid on the floor; shadow: a soft shadow where the character is near the floor, None
    for the style's own choice; floor: its height in metres, None to find it; bones: the
    skeleton on top; names: of the joints; heat: the joint whose weights are shown by
    the style "heat", and are in the heat buffer of any style; show: how the skin hangs
    on its bones, any of "sections", "areas", "ties" and "limits" (docs/guide/draw.md);
    joints: names or patterns of the joints that `show` is of, None for all (ties: those
    of `heat`, if it is set); limits: of the joints, for "limits", None for those of a
    human body; smooth: names of nodes,
    meshes, materials and joints that are smooth while the rest is flat, None for all;
    lights: None for daylight that stays with the camera; line_width: pixels, of strokes
    (wires are thinner), None for what suits the size of the picture; line_colour:
    linear, of strokes; crease: radians from which an edge gets a stroke; cel_bands:
    steps of light; opacity: share of the pixels that a "ghost" covers; buffers: what is
    kept beside the colour; order: "sort" draws polygons from far to near in place of a
    depth buffer.
    """

    style: Style = "shaded"
    samples: int = 4
    background: Background | None = None
    ground: bool = False
    shadow: bool | None = None
    floor: float | None = None
    bones: bool = False
    names: bool = False
    heat: str | None = None
    show: tuple[View, ...] = ()
    joints: tuple[str, ...] | None = None
    limits: Limits | None = None
    smooth: tuple[str, ...] | None = None
    lights: tuple[Light, ...] | None = None
    line_width: float | None = None
    line_colour: RGBA = (0.02, 0.02, 0.025, 1.0)
    crease: float = math.radians(50)
    cel_bands: int = 3
    opacity: float = 0.5
    buffers: tuple[Buffer, ...] = ()
    order: Order = "depth"

    def __post_init__(self) -> None:
        if self.style not in get_args(Style):
            known = ", ".join(get_args(Style))
            raise SettingError(f"style: {self.style!r}, expected one of {known}")
        if self.style == "heat" and self.heat is None:
            raise SettingError('style "heat": say which joint, heat="..."')
        several = "smooth", "lights", "buffers", "background", "line_colour"
        for name in (*several, "show", "joints"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise SettingError(f"{name}: {value!r}, expected several, as a tuple")
            if value is not None:
                object.__setattr__(self, name, tuple(value))
        if "heat" in self.buffers and self.heat is None:
            raise SettingError('buffers: "heat": say of which joint, heat="..."')
        for view in self.show:
            check_word(view, get_args(View), "show")
        if self.style == "heat" and "areas" in self.show:
            raise SettingError(
                'style "heat" and show "areas": both colour the skin; leave out one'
            )
        if self.floor is not None and not math.isfinite(self.floor):
            raise SettingError(f"floor: {self.floor}, expected metres")

    def for_height(self, height: int) -> DrawStyle:
        """The style with the width of lines that suits a picture of `height` pixels."""
        if self.line_width is not None:
            return self
        return replace(self, line_width=min(max(height / 250, 1.2), 6.0))

    @property
    def paper(self) -> Background:
        """The background: as set, or the style's own."""
        if self.background is not None:
            return self.background
        return WHITE if self.style == "lines" else PAPER

    @property
    def has_shadow(self) -> bool:
        """Whether there is a shadow: as set, or the style's own choice."""
        if self.shadow is not None:
            return self.shadow
        return self.style not in ("lines", "heat", "unlit")


def style_of(style: DrawStyle | str) -> DrawStyle:
    """A style by its name alone, or as it is."""
    if isinstance(style, DrawStyle):
        return style
    return DrawStyle(style=style)  # type: ignore[arg-type]
