"""Ties as what a backend draws: lines from vertices to the bones that pull them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawLines

__all__ = ["TieShapes", "build_ties"]

FAINTEST = 0.05  # of the least weight; a weight of 1 is whole
CURVE = 1.4  # weights to this power: small ones fall behind
THIN, DOT = 0.6, 1.3  # widths of lines and vertices, in that of strokes


@dataclass(frozen=True, slots=True, eq=False)
class TieShapes:
    """T ties, the strongest last.

    parts, vertices: int32 (T,), which vertex of which part of the character; nodes:
    int32 (T,), of the bone; points: float32 (T, 3), the end on the bone, in the frame
    of its node; weights: float32 (T,); colours: float32 (T, 3), linear, of the bones;
    part: as of SectionShapes.
    """

    parts: Ints
    vertices: Ints
    nodes: Ints
    points: Floats
    weights: Floats
    colours: Floats
    part: int = 0


def build_ties(
    shapes: TieShapes, positions: Sequence[Floats], world: Floats, width: float
) -> tuple[DrawLines, ...]:
    """Lines of a pose on top of everything, brighter where the weight is larger.

    positions: float32 (V, 3) of each part; world: float32 (J, 3, 4), world_from_node;
    width: of strokes, pixels.
    """
    if not len(shapes.nodes):
        return ()
    ends = np.empty((len(shapes.nodes), 2, 3), np.float32)
    for part in np.unique(shapes.parts).tolist():
        own = shapes.parts == part
        ends[own, 0] = positions[part][shapes.vertices[own]]
    frames = world[shapes.nodes]
    with np.errstate(all="ignore"):  # what is not finite is not seen
        turned = (frames[:, :, :3] * shapes.points[:, None]).sum(2)
        ends[:, 1] = turned + frames[:, :, 3]
    colours = np.empty((len(ends), 4), np.float32)
    colours[:, :3] = shapes.colours
    share = np.clip(shapes.weights, 0, 1) ** CURVE
    colours[:, 3] = FAINTEST + (1 - FAINTEST) * share
    dots = np.repeat(ends[:, :1], 2, axis=1)
    return (
        DrawLines(ends, colours, width * THIN, shapes.part, layer=1),
        DrawLines(dots, colours, width * DOT, shapes.part, layer=1),
    )
