"""Limits of joints as what a backend draws: fans, rings, and where each stands now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh, Look
from flexor.maths import quaternions
from flexor.maths.euler import from_euler

__all__ = [
    "Arc",
    "JointAngles",
    "LimitShapes",
    "build_limits",
    "make_arc",
    "upload_fan",
]

STEPS = 24  # of an arc
# Linear colours of turns about Z, Y and X: blue, green and red, as axes mostly are.
TURNS = ((0.05, 0.20, 0.85), (0.03, 0.42, 0.08), (0.80, 0.05, 0.04))
MARK = (0.02, 0.02, 0.025)
OUTSIDE = (1.0, 0.25, 0.0)  # of a mark that stands beyond its range
COVER = 0.30  # of what is behind it, by a fan
RIM, STANDS = 0.9, 1.5  # widths of lines, in those of strokes
# Radii: of the three arcs, of the hole in the ring, in those of the joint's arcs.
RADII, HOLE = (1.0, 0.82, 0.42), 0.30
RING = 0.62  # how far along the bone the ring is, in the same
BEYOND, NOTCH = 1.12, 0.86  # where marks end and notches begin, in radii
SLACK = 1e-3  # radians beyond a range that are none
LOOK = Look(shading="unlit", alpha="blend", cull="none")


@dataclass(frozen=True, slots=True, eq=False)
class LimitShapes:
    """Ranges of Q joints.

    nodes: int32 (Q,); frames: float64 (Q, 4), parent_from_bone at rest, X along the
    bone; low, high: float64 (Q, 3), radians about Z, Y and X; shown: bool (Q, 3), the
    ranges that have ends; radii: float64 (Q,), of the arcs, metres; widths: float64
    (Q,), of their lines, in those of strokes; mesh: number of the fan's mesh; part: as
    of SectionShapes.
    """

    nodes: Ints
    frames: Doubles
    low: Doubles
    high: Doubles
    shown: NDArray[np.bool_]
    radii: Doubles
    widths: Doubles
    mesh: int
    part: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class JointAngles:
    """Where Q joints are now.

    angles: float64 (Q, 3), radians from rest; places: float64 (Q, 3), metres; axes:
    float64 (Q, 3, 3), world_from_parent, without scale.
    """

    angles: Doubles
    places: Doubles
    axes: Doubles


def upload_fan(backend: Backend) -> int:
    """The shape of a fan, and of a piece of a ring: a strip between two arcs."""
    inner = np.arange(STEPS, dtype=np.int32)
    outer = inner + STEPS + 1
    faces = np.stack([inner, outer, outer + 1, inner + 1], 1)
    return backend.upload(DrawMesh(2 * (STEPS + 1), np.ascontiguousarray(faces)))


@dataclass(frozen=True, slots=True, eq=False)
class Arc:
    """The ranges of Q joints about one of their three axes, where they are now.

    axis: 0, 1, 2 for turns about Z, Y and X. Arcs about Z lie as at rest; those about Y
    go with the turn about Z, and rings about X stand across the bone as it points now:
    so do the three angles follow each other. frames: float64 (Q, 3, 3), world_from_arc;
    places: float64 (Q, 3); radii, low, high, stands: float64 (Q, 1), metres and
    radians; hole: where the arc begins, in radii.
    """

    axis: int
    frames: Doubles
    places: Doubles
    radii: Doubles
    low: Doubles
    high: Doubles
    stands: Doubles
    hole: float

    @property
    def sweep(self) -> Doubles:
        """Angles (Q, A) from low to high."""
        return self.low + np.linspace(0, 1, STEPS + 1) * (self.high - self.low)

    def points(self, radius: float, angles: Doubles) -> Doubles:
        """Points (Q, A, 3) at angles (Q, A); radius: in those of the arcs."""
        cosine, sine = np.cos(angles), np.sin(angles)
        local = np.zeros((*angles.shape, 3))
        if self.axis == 0:
            local[..., 0], local[..., 1] = cosine, sine
        elif self.axis == 1:
            local[..., 0], local[..., 2] = cosine, -sine
        else:
            local[..., 1], local[..., 2] = cosine, sine
        local *= radius
        if self.axis == 2:
            local[..., 0] = RING
        local *= self.radii[..., None]
        placed: Doubles = local @ self.frames.swapaxes(1, 2) + self.places[:, None]
        return placed


def make_arc(
    shapes: LimitShapes, now: JointAngles, axis: int, rows: NDArray[np.bool_]
) -> Arc:
    """The arcs about one axis of some of the joints, bool (Q,)."""
    before = now.angles[rows]
    before[:, axis:] = 0
    turned = quaternions.multiply(shapes.frames[rows], from_euler(before))
    return Arc(
        axis,
        now.axes[rows] @ quaternions.to_matrix(turned),
        now.places[rows],
        shapes.radii[rows, None],
        shapes.low[rows, axis, None],
        shapes.high[rows, axis, None],
        now.angles[rows, axis, None],
        HOLE if axis == 2 else 0.0,
    )


def build_limits(
    shapes: LimitShapes, now: JointAngles, width: float
) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
    """Fans, their rims, the rest, and where each joint stands, on top of everything.

    width: of strokes, pixels.
    """
    items: list[DrawItem] = []
    lines: list[DrawLines] = []
    marks: list[DrawLines] = []
    mesh, part = shapes.mesh, shapes.part
    for wide in np.unique(shapes.widths).tolist():
        for axis in range(3):
            rows = shapes.shown[:, axis] & (shapes.widths == wide)
            if rows.any():
                arc = make_arc(shapes, now, axis, rows)
                items.append(_fan(arc, mesh, part))
                lines += _edges(arc, width * wide, part)
                marks.append(_mark(arc, width * wide, part))
    return tuple(items), (*lines, *marks)


def _fan(arc: Arc, mesh: int, part: int) -> DrawItem:
    """What is between the ends of each range."""
    sides = [arc.points(radius, arc.sweep) for radius in (arc.hole, RADII[arc.axis])]
    strip = np.concatenate(sides, 1).astype(np.float32)
    tints = np.tile(np.array((*TURNS[arc.axis], COVER), np.float32), (len(strip), 1))
    return DrawItem(mesh, strip, None, LOOK, tints=tints, part=part, layer=1)


def _edges(arc: Arc, width: float, part: int) -> list[DrawLines]:
    """Around each fan, and a notch where the rest is."""
    hole, radius = arc.hole, RADII[arc.axis]
    edges = [_chain(arc.points(radius, arc.sweep))]
    if hole:
        edges.append(_chain(arc.points(hole, arc.sweep)))
    edges += [_spoke(arc, hole, radius, end) for end in (arc.low, arc.high)]
    notch = _spoke(arc, radius * NOTCH, radius, np.zeros_like(arc.low))
    colour = TURNS[arc.axis]
    return [
        _lines(np.concatenate(edges), colour, width * RIM, part),
        _lines(notch, colour, width * STANDS, part),
    ]


def _mark(arc: Arc, width: float, part: int) -> DrawLines:
    """Where each joint stands: of another colour where that is outside."""
    points = _spoke(arc, arc.hole, RADII[arc.axis] * BEYOND, arc.stands)
    is_out = (arc.stands < arc.low - SLACK) | (arc.stands > arc.high + SLACK)
    colours = np.where(is_out, np.array(OUTSIDE), np.array(MARK))
    return _lines(points, colours, width * STANDS, part)


def _spoke(arc: Arc, begin: float, end: float, angles: Doubles) -> Doubles:
    """Lines (Q, 2, 3) from one radius to another at angles (Q, 1)."""
    return np.concatenate([arc.points(begin, angles), arc.points(end, angles)], 1)


def _chain(points: Doubles) -> Doubles:
    """Lines (Q * (A - 1), 2, 3) along points (Q, A, 3)."""
    return np.stack([points[:, :-1], points[:, 1:]], 2).reshape(-1, 2, 3)


def _lines(
    points: Doubles, colours: tuple[float, ...] | Doubles, width: float, part: int
) -> DrawLines:
    """Opaque lines (L, 2, 3) on top; colours: linear, (3,) or (L, 3)."""
    rows = np.ones((len(points), 4), np.float32)
    rows[:, :3] = colours
    placed = np.ascontiguousarray(points, np.float32)
    return DrawLines(placed, rows, width, part, layer=1)
