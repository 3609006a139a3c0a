"""Reaction areas of faces, as tables for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.stage.goal.layout import BEFORE, FIXED, INSIDE, OUTSIDE
from flexor.stage.goal.plan import Gate, Push, SheetPlan
from flexor.stage.goal.sheet import Sheet

__all__ = [
    "AreaTables",
    "Face",
    "edge_push",
    "find_faces",
    "gate_tables",
    "make_areas",
]

FLAT = 0.02  # metres that a corner of a face may be beside its plane
# What a ball remembers, by what it remembered: through the opening against the normal
# of a gate, beside it; through it along the normal, beside it. So the side that a ball
# took is kept until it comes back the same way.
GATE_RULES = (
    *(INSIDE, INSIDE, OUTSIDE),
    *(OUTSIDE, INSIDE, OUTSIDE),
    *(BEFORE, BEFORE, OUTSIDE),
    *(BEFORE, INSIDE, BEFORE),
)
EDGE = Push(k1=3000.0, k2a=300.0, k2b=300.0, k3=12.0, k4=0.0, k5=0.0)
STEEP = 0.1  # cosine: planes that are turned further from a face do not limit it
SHORT = 0.05  # metres before a fixed edge at which a sheet is tight


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """A flat part of a sheet.

    corners: float64 (4, 3), left and right of the lower line, right and left of the
    upper; normal: (3,), unit, toward its front; sheet: which plan it is of; hang:
    metres before the corners' plane at which the sheet hangs; half: metres, half of its
    height if it stands on the ground, else 0; edges: planes (n, 4) of the edges that
    are fixed in
    the air, normals along the sheet, into the face.
    """

    name: str
    corners: Doubles
    normal: Doubles
    sheet: int
    hang: float
    half: float
    edges: Doubles
    plan: SheetPlan

    def place(self, push: float) -> float:
        """The offset of a plane `push` metres before where it hangs."""
        return (
            float(exact.multiply(self.normal, self.corners.mean(0))) + self.hang + push
        )


@dataclass(frozen=True, slots=True, eq=False)
class AreaTables:
    """Areas, marks and bounds: their columns stand in `layout`."""

    areas: Doubles
    marks: Ints
    bounds: Doubles


def find_faces(
    plans: Sequence[SheetPlan], sheet: Sheet, nodes: Doubles, ground: float
) -> list[Face]:
    """Every face of the plans, in order; nodes: (M, 3), where the sheet hangs."""
    found: list[Face] = []
    for sheet_row, plan in enumerate(plans):
        count = len(plan.names)
        for row, name in enumerate(plan.names):
            a, b = np.array(plan.lower[row]), np.array(plan.lower[row + 1])
            c, d = np.array(plan.upper[row + 1]), np.array(plan.upper[row])
            corners = np.stack([a, b, c, d])
            across, up = (b - a) + (c - d), (d - a) + (c - b)
            normal = np.cross(across, up)
            size = float(exact.norm(normal))
            if size < 1e-9:
                raise SettingError(f"face {name!r} has no area")
            normal /= size
            beside = np.abs(exact.multiply(corners - corners.mean(0), normal)).max()
            if beside > FLAT:
                raise SettingError(
                    f"face {name!r}: corners are {beside:.3g} m beside a plane, "
                    f"expected {FLAT:g} m or less"
                )
            held = (
                (plan.bottom, (a + b) / 2, up),
                (plan.top, (c + d) / 2, -up),
                (plan.left if row == 0 else "free", (a + d) / 2, across),
                (plan.right if row == count - 1 else "free", (b + c) / 2, -across),
            )
            edges = [
                _plane(way, middle)
                for hold, middle, way in held
                if hold == "fixed" and middle[1] > ground + 0.05
            ]
            low, high = corners[:, 1].min() - ground, corners[:, 1].max() - ground
            is_standing = low < 0.05 and abs(normal[1]) < 0.7
            half = high / 2 if is_standing else 0.0
            hang = plan.hang
            if hang is None:
                hang = _find_hang(sheet, nodes, len(found), normal, corners)
            planes = np.array(edges).reshape(-1, 4)
            found.append(
                Face(name, corners, normal, sheet_row, hang, float(half), planes, plan)
            )
    return found


def _find_hang(
    sheet: Sheet, nodes: Doubles, face: int, normal: Doubles, corners: Doubles
) -> float:
    """Metres before a face at which half of its nodes hang that can move."""
    own = sheet.nodes_of(face)
    own = own[sheet.holds[own] != FIXED]
    if not len(own):
        return 0.0
    return float(np.median(exact.multiply(nodes[own] - corners.mean(0), normal)))


def _plane(normal: Doubles, place: Doubles) -> Doubles:
    unit = normal / exact.norm(normal)
    return np.array([*unit, exact.multiply(unit, place)])


def make_areas(
    faces: Sequence[Face], gates: Sequence[Gate], radius: float
) -> AreaTables:
    """Areas of all faces on both sides; radius: metres, of balls.

    With gates the fronts of the faces make one hollow, in which all of them act at
    once, and their backs its outside; without, each face has two outsides.
    """
    if gates:
        _check_hollow(faces, gates)
    areas: list[list[float]] = []
    marks: list[list[int]] = []
    bounds: list[Doubles] = []
    for row, face in enumerate(faces):
        for sign in (1.0, -1.0):
            side = INSIDE if gates and sign > 0 else OUTSIDE
            sides = _sides(faces, row, gates) if side == OUTSIDE else []
            owner = len(areas)
            push = face.plan.push
            if gates and side == OUTSIDE:
                push = replace(push, limit=_room(face, sides, radius))
            group = 2 * face.sheet + (sign > 0)
            offset = sign * face.place(sign * push.front)
            areas.append(_area(sign * face.normal, offset, push, face.half))
            marks.append([side, -1, row, len(bounds), len(sides), group])
            bounds += sides
            for edge in face.edges:
                own, depth = edge_push(face.plan)
                plane = edge[3] + face.plan.reach
                areas.append(_area(edge[:3], plane, replace(own, limit=depth), 0.0))
                marks.append([side, owner, row, 0, 0, group])
    return AreaTables(
        np.array(areas),
        np.array(marks, np.int32),
        np.array(bounds).reshape(-1, 4),
    )


def edge_push(plan: SheetPlan) -> tuple[Push, float]:
    """How a sheet pushes balls away from its fixed edges, and metres at most."""
    own, reach = plan.edge or EDGE, plan.reach
    depth = reach - SHORT if reach > 2 * SHORT else reach / 2
    return replace(own, front=min(own.front, depth / 2)), depth


def _area(normal: Doubles, offset: float, push: Push, half: float) -> list[float]:
    """A row of areas; its columns stand in `layout`."""
    climb = push.k4 if half > 0 else 0.0
    numbers = push.front, push.limit, push.k1, push.k2a, push.k2b, push.k3, climb
    return [*normal.tolist(), offset, *numbers, push.k5, half]


def _room(face: Face, sides: Sequence[Doubles], radius: float) -> float:
    """How deep a ball may go into a hollow from outside: not out on the other side."""
    room = face.plan.push.limit
    for plane in sides:
        toward = float(exact.multiply(plane[:3], face.normal))
        if toward > STEEP:
            apart = (plane[3] - exact.multiply(face.corners, plane[:3])) / toward
            room = min(room, float(apart.min()) + face.plan.push.front - radius)
    least = 1.05 * face.plan.push.front
    if room < least:
        raise SettingError(
            f"face {face.name!r}: there is no room for a ball of {radius:g} m behind "
            f"it; a deeper hollow, or a smaller front than {face.plan.push.front:g} m"
        )
    return room


def _sides(faces: Sequence[Face], row: int, gates: Sequence[Gate]) -> list[Doubles]:
    """Planes (4,) that the region of an outside area lies behind: of a hollow the backs
    of its other faces and its gates, of a sheet its edges, and where two faces of a
    sheet meet the plane between them.
    """
    face = faces[row]
    if gates:
        others = [
            np.array([*-other.normal, -other.place(-other.plan.push.front)])
            for number, other in enumerate(faces)
            if number != row
        ]
        return others + [gate_plane(gate) for gate in gates]
    around = []
    for k in range(4):
        a, b = face.corners[k], face.corners[(k + 1) % 4]
        out = np.cross(b - a, face.normal)
        other = row + 1 if k == 1 else row - 1 if k == 3 else -1
        if 0 <= other < len(faces) and faces[other].sheet == face.sheet:
            into = faces[other].corners.mean(0) - (a + b) / 2
            into -= exact.multiply(into, b - a) / exact.multiply(b - a, b - a) * (b - a)
            apart = out / exact.norm(out) + into / exact.norm(into)
            if exact.norm(apart) > 1e-6:
                out = apart
        around.append(_plane(out, (a + b) / 2))
    return around


def gate_plane(gate: Gate) -> Doubles:
    """Normal and offset (4,) of a gate's plane."""
    return _plane(np.array(gate.normal), np.array(gate.middle))


def _check_hollow(faces: Sequence[Face], gates: Sequence[Gate]) -> None:
    """Refuse faces whose fronts do not all look at one hollow before the gates."""
    for face in faces:
        for other in faces:
            apart = exact.multiply(other.corners - face.corners.mean(0), face.normal)
            if apart.min() < -FLAT:
                raise SettingError(
                    f"face {other.name!r} is behind face {face.name!r}; with a gate "
                    "all fronts must look into one hollow"
                )
        for gate in gates:
            plane = gate_plane(gate)
            if (exact.multiply(face.corners, plane[:3]) - plane[3]).max() > FLAT:
                raise SettingError(f"face {face.name!r} reaches out of the gate")


def gate_tables(gates: Sequence[Gate]) -> tuple[Doubles, Ints]:
    """Gates (G, 15) and their rules (G, 12), as `kernels.ball.pass_gates` has them."""
    rows = []
    for gate in gates:
        row = [*gate_plane(gate), *gate.middle]
        for way in (gate.across, gate.up):
            size = float(exact.norm(way))
            row += [*(np.array(way) / size), size]
        rows.append(row)
    rules = np.array([GATE_RULES] * len(rows), np.int32).reshape(-1, 12)
    return np.array(rows, np.float64).reshape(-1, 15), rules
