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

__all__ = ["JointAngles", "LimitShapes", "arc_points", "build_limits", "upload_fan"]

STEPS = 24  # of an arc
# Linear colours of turns about Z, Y and X: blue, green and red, as axes mostly are.
TURNS = ((0.05, 0.20, 0.85), (0.03, 0.42, 0.08), (0.80, 0.05, 0.04))
MARK = (0.02, 0.02, 0.025)
OUTSIDE = (1.0, 0.25, 0.0)  # of a mark that stands beyond its range
COVER = 0.30  # of what is behind it, by a fan
RIM, STANDS = 0.9, 1.7  # widths of lines, in those of strokes
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


def arc_points(
    shapes: LimitShapes, now: JointAngles, axis: int, radius: float, angles: Doubles
) -> Doubles:
    """Points (Q, A, 3) at angles (Q, A) about Z, Y or X (0, 1, 2).

    The arcs about Z lie as at rest; those about Y go with the turn about Z, and rings
    about X stand across the bone as it points now: so do the three angles follow each
    other. radius: in those of the joints' arcs.
    """
    before = now.angles.copy()
    before[:, axis:] = 0
    turned = quaternions.multiply(shapes.frames, from_euler(before))
    frames = now.axes @ quaternions.to_matrix(turned)
    cosine, sine = np.cos(angles), np.sin(angles)
    local = np.zeros((*angles.shape, 3))
    if axis == 0:
        local[..., 0], local[..., 1] = cosine, sine
    elif axis == 1:
        local[..., 0], local[..., 2] = cosine, -sine
    else:
        local[..., 1], local[..., 2] = cosine, sine
    local *= radius
    if axis == 2:
        local[..., 0] = RING
    local *= shapes.radii[:, None, None]
    points: Doubles = local @ frames.swapaxes(1, 2) + now.places[:, None]
    return points


def build_limits(
    shapes: LimitShapes, now: JointAngles, width: float
) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
    """Fans, their rims, the rest, and where each joint stands, on top of everything.

    width: of strokes, pixels.
    """
    items: list[DrawItem] = []
    lines: list[DrawLines] = []
    marks: list[DrawLines] = []
    for wide in np.unique(shapes.widths).tolist():
        for axis in range(3):
            own = shapes.shown[:, axis] & (shapes.widths == wide)
            if own.any():
                arc = _Arc(*_rows(shapes, now, own), axis)
                items.append(_fan(arc))
                lines += _edges(arc, width * wide)
                marks.append(_mark(arc, width * wide))
    return tuple(items), (*lines, *marks)


@dataclass(frozen=True, slots=True)
class _Arc:
    """Points about one axis: see `arc_points`."""

    shapes: LimitShapes
    now: JointAngles
    axis: int

    def __call__(self, radius: float, angles: Doubles) -> Doubles:
        return arc_points(self.shapes, self.now, self.axis, radius, angles)

    @property
    def hole(self) -> float:
        """Where the arc begins, in radii: rings have a hole."""
        return HOLE if self.axis == 2 else 0.0

    @property
    def low(self) -> Doubles:
        """(Q, 1), radians."""
        return self.shapes.low[:, self.axis, None]

    @property
    def high(self) -> Doubles:
        """(Q, 1), radians."""
        return self.shapes.high[:, self.axis, None]

    @property
    def sweep(self) -> Doubles:
        """Angles (Q, A) from low to high."""
        return self.low + np.linspace(0, 1, STEPS + 1) * (self.high - self.low)


def _fan(arc: _Arc) -> DrawItem:
    """What is between the ends of each range."""
    strip = np.concatenate(
        [arc(arc.hole, arc.sweep), arc(RADII[arc.axis], arc.sweep)], 1
    )
    tints = np.tile(np.array((*TURNS[arc.axis], COVER), np.float32), (len(strip), 1))
    mesh, part = arc.shapes.mesh, arc.shapes.part
    placed = strip.astype(np.float32)
    return DrawItem(mesh, placed, None, LOOK, tints=tints, part=part, layer=1)


def _edges(arc: _Arc, width: float) -> list[DrawLines]:
    """Around each fan, and a notch where the rest is."""
    axis, hole, radius = arc.axis, arc.hole, RADII[arc.axis]
    edges = [_chain(arc(radius, arc.sweep))]
    if hole:
        edges.append(_chain(arc(hole, arc.sweep)))
    for end in (arc.low, arc.high):
        edges.append(np.concatenate([arc(hole, end), arc(radius, end)], 1)[:, None])
    rest = np.zeros_like(arc.low)
    notch = np.concatenate([arc(radius * NOTCH, rest), arc(radius, rest)], 1)
    part = arc.shapes.part
    joined = np.concatenate([edge.reshape(-1, 2, 3) for edge in edges])
    return [
        _lines(joined, TURNS[axis], width * RIM, part),
        _lines(notch, TURNS[axis], width * STANDS, part),
    ]


def _mark(arc: _Arc, width: float) -> DrawLines:
    """Where each joint stands: of another colour where that is outside."""
    stands = arc.now.angles[:, arc.axis, None]
    ends = [arc(reach, stands) for reach in (arc.hole, RADII[arc.axis] * BEYOND)]
    is_out = (stands < arc.low - SLACK) | (stands > arc.high + SLACK)
    colours = np.where(is_out, np.array(OUTSIDE), np.array(MARK))
    points = np.concatenate(ends, 1)
    return _lines(points, colours, width * STANDS, arc.shapes.part)


def _rows(
    shapes: LimitShapes, now: JointAngles, rows: NDArray[np.bool_]
) -> tuple[LimitShapes, JointAngles]:
    """Some of the joints."""
    some = LimitShapes(
        shapes.nodes[rows],
        shapes.frames[rows],
        shapes.low[rows],
        shapes.high[rows],
        shapes.shown[rows],
        shapes.radii[rows],
        shapes.widths[rows],
        shapes.mesh,
        shapes.part,
    )
    return some, JointAngles(now.angles[rows], now.places[rows], now.axes[rows])


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
