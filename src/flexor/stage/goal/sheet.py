"""Sheets woven of nodes and strings, one or several that share the nodes of a seam."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints, freeze
from flexor.errors import SettingError
from flexor.stage.goal.layout import FIXED, FREE, SPRUNG
from flexor.stage.goal.plan import Hold, SheetPlan

__all__ = ["Sheet", "weave_sheets"]

HOLDS: dict[Hold, int] = {"free": FREE, "sprung": SPRUNG, "fixed": FIXED}
SAME = 1e-4  # metres: nodes of two sheets that are as near are one
MOST_NODES = 200_000
MOST_FACES = 31  # a bit each
CORNERS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Nodes, strings, and how they are held.

    places: float64 (M, 3), where nodes are before gravity has its way; strings: int32
    (E, 2), nodes; lengths: float64 (E,), metres; holds: int32 (M,), FREE, SPRUNG or
    FIXED; anchors: float64 (M, 3), of nodes that are sprung; masks: int32 (M,), bit f:
    the node is part of face f; flat: float32 (S, M, 2), where nodes lie on each of the
    S sheets spread out flat, 0 for those of others; cells: int32 (C, 6), nodes around
    each mesh, then -1; sheets: int32 (C,), which sheet each mesh is of.
    """

    places: Doubles
    strings: Ints
    lengths: Doubles
    holds: Ints
    anchors: Doubles
    masks: Ints
    flat: Floats
    cells: Ints
    sheets: Ints

    def __post_init__(self) -> None:
        count = len(self.places)
        for name, kind, shape in (
            ("places", np.float64, (count, 3)),
            ("strings", np.int32, (None, 2)),
            ("lengths", np.float64, (len(self.strings),)),
            ("holds", np.int32, (count,)),
            ("anchors", np.float64, (count, 3)),
            ("masks", np.int32, (count,)),
            ("flat", np.float32, (None, count, 2)),
            ("cells", np.int32, (None, CORNERS)),
            ("sheets", np.int32, (len(self.cells),)),
        ):
            value = freeze(getattr(self, name), kind, shape, name)
            object.__setattr__(self, name, value)

    def nodes_of(self, face: int) -> Ints:
        """The nodes of a face."""
        return np.flatnonzero(self.masks >> face & 1).astype(np.int32)

    def neighbours(self) -> tuple[Ints, Ints]:
        """For each node the first row (M + 1,) of those that strings join to it."""
        ends = np.concatenate([self.strings, self.strings[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        firsts = np.searchsorted(ends[:, 0], np.arange(len(self.places) + 1))
        return firsts.astype(np.int32), np.ascontiguousarray(ends[:, 1])


def weave_sheets(plans: Sequence[SheetPlan]) -> Sheet:
    """One net of all plans; where two have nodes in one place, these are one, held as
    the first plan says.
    """
    firsts = np.cumsum([0, *(len(plan.names) for plan in plans)]).tolist()
    if firsts[-1] > MOST_FACES:
        raise SettingError(f"{firsts[-1]} faces, expected {MOST_FACES} or less")
    parts = [_weave(plan, first) for plan, first in zip(plans, firsts, strict=False)]
    numbers, kept, there = _join(parts)
    masks = np.zeros(there, np.int32)
    flat = np.zeros((len(parts), there, 2), np.float32)
    for row, (part, rows) in enumerate(zip(parts, numbers, strict=True)):
        np.bitwise_or.at(masks, rows, part.masks)
        flat[row, rows] = part.flat[0]

    def gather(name: str) -> NDArray[Any]:
        own = zip(parts, kept, strict=True)
        return np.concatenate([getattr(part, name)[rows] for part, rows in own])

    pairs = list(zip(parts, numbers, strict=True))
    strings = np.concatenate([rows[part.strings] for part, rows in pairs])
    lengths = np.concatenate([part.lengths for part in parts])
    cells = np.concatenate(
        [np.where(p.cells >= 0, rows[p.cells], -1) for p, rows in pairs]
    )
    holds = gather("holds")
    # Each string once, and none that nothing can move.
    strings = np.sort(strings, axis=1)
    _, once = np.unique(strings, axis=0, return_index=True)
    once.sort()
    once = once[(holds[strings[once]] != FIXED).any(1)]
    return Sheet(
        gather("places"),
        strings[once],
        lengths[once],
        holds,
        gather("anchors"),
        masks,
        flat,
        cells,
        np.repeat(np.arange(len(parts)), [len(part.cells) for part in parts]),
    )


def _join(parts: Sequence[Sheet]) -> tuple[list[Ints], list[Ints], int]:
    """The number of each node in the whole, by sheet; the nodes that are new in each;
    and how many there are.
    """
    from scipy.spatial import cKDTree

    places = np.zeros((0, 3))
    numbers, kept = [], []
    for part in parts:
        rows = np.full(len(part.places), -1, np.int32)
        if len(places):
            away, near = cKDTree(places).query(part.places)
            rows[away < SAME] = near[away < SAME]
        new = np.flatnonzero(rows < 0).astype(np.int32)
        rows[new] = len(places) + np.arange(len(new))
        places = np.concatenate([places, part.places[new]])
        numbers.append(rows)
        kept.append(new)
    return numbers, kept, len(places)


def _counts(plan: SheetPlan, lower: Doubles, upper: Doubles) -> tuple[list[int], int]:
    """Strings along each face, and rows of nodes."""
    wide = np.linalg.norm((np.diff(lower, axis=0) + np.diff(upper, axis=0)) / 2, axis=1)
    tall = float(np.linalg.norm(upper - lower, axis=1).mean())
    columns = [max(1, round(float(w) / plan.pitch)) for w in wide]
    if plan.columns is not None:
        columns = list(plan.columns)
    high = plan.pitch * (math.sqrt(3) if plan.weave == "hexagons" else 1.0)
    rows = max(2, round(tall / high) + 1) if plan.rows is None else plan.rows
    if (sum(columns) + 1) * rows > MOST_NODES:
        count = (sum(columns) + 1) * rows
        raise SettingError(f"pitch: {count} nodes, expected {MOST_NODES} or less")
    return columns, rows


def _weave(plan: SheetPlan, first_face: int) -> Sheet:
    lower, upper = np.array(plan.lower), np.array(plan.upper)
    columns, rows = _counts(plan, lower, upper)
    count = sum(columns) + 1
    ends = np.cumsum([0, *columns])
    # Where columns are: 0 to the number of faces; and where in their face, 0 to 1.
    across = np.interp(np.arange(count), ends, np.arange(len(ends)))
    inside = across - np.floor(across)
    inside[-1] = 1.0
    r, j = np.indices((rows, count))
    up = np.broadcast_to(np.linspace(0, 1, rows)[:, None], r.shape).copy()
    is_high = (r + j) % 2 == 1
    is_edge = (r == 0) | (r == rows - 1) | (j == 0) | (j == count - 1)
    if plan.weave == "hexagons":
        zigzag = np.where(is_high, 1, -1) / (6 * (rows - 1))
        up += np.where(is_edge, 0.0, zigzag)
    low, high = (
        np.stack(
            [np.interp(across, np.arange(len(ends)), line[:, k]) for k in range(3)]
        )
        for line in (lower, upper)
    )
    places = low.T + (high - low).T * up[..., None]
    holds = np.full(r.shape, HOLDS[plan.middle])
    for edge, hold in (
        (r == 0, plan.bottom),
        (r == rows - 1, plan.top),
        (j == 0, plan.left),
        (j == count - 1, plan.right),
        (np.isin(j, ends[1:-1]), plan.corners),
    ):
        holds[edge] = np.maximum(holds[edge], HOLDS[hold])
    anchors = places.copy()
    anchors[..., 1] -= plan.sag * _sags(plan, inside, up)
    masks = np.zeros(count, np.int32)
    for face in range(len(columns)):
        masks[ends[face] : ends[face + 1] + 1] |= 1 << (first_face + face)
    wide = np.linalg.norm(np.diff((low + high).T / 2, axis=0), axis=1)
    along = np.concatenate([[0], np.cumsum(wide)])
    tall = np.linalg.norm(high - low, axis=0).mean()
    flat = np.stack([np.broadcast_to(along, r.shape), up * tall], -1)
    strings, is_up = _strings(plan, rows, count)
    points = places.reshape(-1, 3)
    lengths = np.linalg.norm(points[strings[:, 1]] - points[strings[:, 0]], axis=1)
    if not (lengths > 1e-6).all():
        raise SettingError("lower, upper: the sheet is nowhere wide or high")
    settled = np.where((holds == SPRUNG)[..., None], anchors, places)
    cells = _cells(is_up)
    return Sheet(
        settled.reshape(-1, 3),
        strings,
        lengths * np.where(_is_rope(strings, rows, count), 1.0, plan.slack),
        holds.ravel(),
        anchors.reshape(-1, 3),
        np.tile(masks, rows),
        flat.reshape(1, -1, 2),
        cells,
        np.zeros(len(cells), np.int32),
    )


def _sags(plan: SheetPlan, inside: Doubles, up: Doubles) -> Doubles:
    """How far anchors hang lower, 0 to 1: from edges that are sprung, and between."""
    s, t = np.broadcast_to(inside, up.shape), up
    bow_s, bow_t = 4 * s * (1 - s), 4 * t * (1 - t)
    sags = bow_s * bow_t
    for hold, bow, share in (
        (plan.left, bow_t, 1 - s),
        (plan.right, bow_t, s),
        (plan.bottom, bow_s, 1 - t),
        (plan.top, bow_s, t),
    ):
        if hold == "sprung":
            sags = sags + bow * share
    return sags


def _strings(plan: SheetPlan, rows: int, count: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Strings of one sheet (E, 2), and which nodes have one to the row above."""
    number = np.arange(rows * count).reshape(rows, count)
    r, j = np.indices((rows - 1, count))
    is_up = np.ones((rows - 1, count), bool)
    if plan.weave == "hexagons":
        is_up = ((r + j) % 2 == 1) | (j == 0) | (j == count - 1)
    beside = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)
    above = np.stack([number[:-1][is_up], number[1:][is_up]], 1)
    return np.concatenate([beside, above]).astype(np.int32), is_up


def _is_rope(strings: Ints, rows: int, count: int) -> NDArray[np.bool_]:
    """Which strings run along an edge of the sheet: these are never slack."""
    r, j = strings // count, strings % count
    on_edge = [r == 0, r == rows - 1, j == 0, j == count - 1]
    found: NDArray[np.bool_] = np.any([edge.all(1) for edge in on_edge], axis=0)
    return found


def _cells(is_up: NDArray[np.bool_]) -> Ints:
    """Meshes between two rows and two strings from row to row: (C, 6)."""
    count = is_up.shape[1]
    found = []
    for r, row in enumerate(is_up):
        for a, b in pairwise(np.flatnonzero(row).tolist()):
            below = [r * count + k for k in range(a, b + 1)]
            above = [(r + 1) * count + k for k in range(b, a - 1, -1)]
            around = below + above
            found.append(around + [-1] * (CORNERS - len(around)))
    return np.array(found, np.int32).reshape(-1, CORNERS)
