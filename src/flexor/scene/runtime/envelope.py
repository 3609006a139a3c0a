"""Envelopes: vertices sorted by the model that pulls them, and one frame's work.

A model is a node of the skeleton. A part is a piece of a surface that one model owns;
while a frame is worked, its vertices are in an area of the common vertex buffer, from
the first vertex that is written there until the part has been drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError
from flexor.scene.runtime.layout import (
    AREA,
    BLOCK,
    COUNT,
    DATA,
    DELTAS,
    DRAW,
    DRAW_DEFERRED,
    END,
    ENTRY,
    FACES,
    GROUPS,
    MODEL,
    MORPH_COUNT,
    MORPH_DATA,
    NATIVE,
    NO_DRAW,
    OP,
    START,
    VERTICES,
)

__all__ = ["Envelope", "Envelopes", "SomeEnvelopes"]


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """A character as the drawing library works it, frame by frame.

    steps: int32 (S, 5), done one after another. Vertices of one group that one model
    pulls are `group, model, entry, count, at`: they go to `count` places of the common
    buffer from `entry` on, and their numbers begin at `at` in `data`. Commands are
    `NO_DRAW, id`, `DRAW, part` and `DRAW_DEFERRED, id`; table: int32 (T,), the part of
    each id.
    data: float32 (D,), blocks of eight vertices: x y z nx ny nz in the space of the
    model, eight numbers each; of vertices with several influences multiplied by the
    weight, which follows as a seventh eight. Blocks are filled up with zeros.
    parts: int32 (P, 6): node and primitive in the file, model that owns it, first place
    of its area in the buffer, how many vertices, how many faces.
    order: int32 (E,), the primitive's vertex of each vertex of each part in turn;
    faces: int32 (F, 3), vertex IDs: places in the buffer, or, if there are addresses,
    rows of them; addresses: int32 (E,), the place of each ID, or None.
    morphs: int32 (R, 5): node, target, first number in `data`, how many, and where what
    is added to them at weight 1 begins in deltas: float32.
    peak: places in the common buffer. Takes ownership of the arrays.
    """

    steps: Ints
    table: Ints
    data: Floats
    parts: Ints
    order: Ints
    faces: Ints
    addresses: Ints | None
    morphs: Ints
    deltas: Floats
    peak: int
    models: NDArray[np.uint32] = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, width in (("steps", 5), ("parts", 6), ("faces", 3), ("morphs", 5)):
            value = freeze(getattr(self, name), np.int32, (None, width), name)
            put(self, name, value)
        for name in ("table", "order"):
            put(self, name, freeze(getattr(self, name), np.int32, (None,), name))
        for name in ("data", "deltas"):
            put(self, name, freeze(getattr(self, name), np.float32, (None,), name))
        if self.addresses is not None:
            shape = (len(self.order),)
            put(self, "addresses", freeze(self.addresses, np.int32, shape, "addresses"))
        self._check()
        is_list = self.steps[:, OP] <= END
        models = np.unique(self.steps[is_list, MODEL]).astype(np.uint32)
        put(self, "models", freeze(models, np.uint32, (None,), "models"))

    def _check(self) -> None:
        """Refuse numbers that lead outside of the arrays or the buffer."""
        # Every place is of a part; a part's area may be filled up to whole blocks.
        most = BLOCK * (len(self.order) + len(self.parts))
        if not 0 <= self.peak <= most:
            raise ShapeError(f"peak: {self.peak} places for {len(self.order)}")
        op = self.steps[:, OP]
        is_list = op <= END
        steps = self.steps[is_list].astype(np.int64)
        is_draw, is_by_id = op == DRAW, (op == NO_DRAW) | (op == DRAW_DEFERRED)
        blocks = -(-steps[:, COUNT] // BLOCK)
        rows = np.where(steps[:, OP] == NATIVE, 6, 7)
        _check_range("steps: op", op, 0, DRAW_DEFERRED + 1)
        _check_range("steps: model", steps[:, MODEL], 0, 1 << 20)
        _check_spans("steps: entry", steps[:, ENTRY], steps[:, COUNT], self.peak)
        sizes = blocks * rows * BLOCK
        _check_row("steps: data", steps[:, DATA], sizes, len(self.data))
        parts = self.parts.astype(np.int64)
        _check_range("steps: part", self.steps[is_draw, 1], 0, len(parts))
        _check_range("steps: id", self.steps[is_by_id, 1], 0, len(self.table))
        _check_range("table", self.table, 0, len(parts))
        _check_range("parts", parts, 0, 1 << 30)
        _check_spans("parts: area", parts[:, AREA], parts[:, VERTICES], self.peak)
        for name, column, rows_of in (
            ("order", VERTICES, self.order),
            ("faces", FACES, self.faces),
        ):
            if int(parts[:, column].sum()) != len(rows_of):
                raise ShapeError(f"{name}: {len(rows_of)} rows, parts name others")
        _check_range("order", self.order, 0, 1 << 30)
        first, last = self._id_bounds(parts)
        sums = np.repeat(np.stack([first, last], 1), parts[:, FACES], 0)
        if len(self.faces) and (
            (self.faces < sums[:, :1]).any() or (self.faces >= sums[:, 1:]).any()
        ):
            raise ShapeError("faces: a vertex ID is not of the face's part")
        if self.addresses is not None:
            area = np.repeat(parts[:, AREA], parts[:, VERTICES])
            size = np.repeat(parts[:, VERTICES], parts[:, VERTICES])
            if ((self.addresses < area) | (self.addresses >= area + size)).any():
                raise ShapeError("addresses: a place is not of the vertex's part")
        morphs = self.morphs.astype(np.int64)
        _check_range("morphs", morphs, 0, 1 << 31)
        count = morphs[:, MORPH_COUNT]
        if (count % BLOCK).any():
            raise ShapeError(f"morphs: count must be a multiple of {BLOCK}")
        _check_spans("morphs: data", morphs[:, MORPH_DATA], count, len(self.data))
        _check_row("morphs: deltas", morphs[:, DELTAS], count, len(self.deltas))
        self._check_padding(steps, rows)
        self._check_plan()

    def _check_padding(self, steps: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Refuse numbers that fill up blocks and are not zero: blocks are added whole.

        steps: those with vertices; rows: of eight numbers in a block of each.
        """
        over = -steps[:, COUNT] % BLOCK
        is_open = (over > 0) & (steps[:, COUNT] > 0)
        counts, widths = steps[is_open, COUNT], rows[is_open]
        last = steps[is_open, DATA] + counts // BLOCK * widths * BLOCK
        for width in (6, 7):
            own = widths == width
            lanes = np.arange(width * BLOCK).reshape(width, BLOCK)
            is_filler = np.arange(BLOCK) >= counts[own, None] % BLOCK
            places = last[own, None, None] + lanes
            if np.where(is_filler[:, None], self.data[places], 0).any():
                raise ShapeError("data: blocks must be filled up with zeros")

    def _check_plan(self) -> None:
        """Refuse a plan by which something is drawn that was never written.

        A place is stored once before it is added to, all places of a part are there
        when it is drawn, and every part is drawn once.
        """
        is_stored = np.zeros(self.peak, bool)
        left = set(range(len(self.parts)))
        areas = self.parts[:, [AREA, VERTICES]].tolist()
        for number, (op, row, entry, count, _) in enumerate(self.steps.tolist()):
            own = is_stored[entry : entry + count]
            if op <= START:
                if own.any():
                    raise ShapeError(f"steps: {number} stores what is still needed")
                own[:] = True
            elif op <= END:
                if not own.all():
                    raise ShapeError(f"steps: {number} adds to what was not stored")
            elif op != NO_DRAW:
                part = row if op == DRAW else int(self.table[row])
                begin, size = areas[part]
                own = is_stored[begin : begin + size]
                if part not in left or not own.all():
                    raise ShapeError(f"steps: {number} draws part {part} out of turn")
                left.remove(part)
                own[:] = False
        if left:
            raise ShapeError(f"steps: part {min(left)} is never drawn")

    def _id_bounds(
        self, parts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = parts[:, AREA]
        if self.addresses is not None:
            first = np.cumsum(parts[:, VERTICES]) - parts[:, VERTICES]
        return first, first + parts[:, VERTICES]

    def part_order(self, part: int) -> Ints:
        """The primitive's vertex (V,) of each vertex of a part."""
        begin = int(self.parts[:part, VERTICES].sum())
        return self.order[begin : begin + int(self.parts[part, VERTICES])]

    def part_faces(self, part: int) -> Ints:
        """Corners (F, 3) of the faces of a part, as rows of its own vertices."""
        begin = int(self.parts[:part, FACES].sum())
        faces = self.faces[begin : begin + int(self.parts[part, FACES])]
        if self.addresses is not None:
            faces = self.addresses[faces]
        entries: Ints = faces - self.parts[part, AREA]
        return entries

    def group_counts(self) -> dict[str, int]:
        """How many distributed vertices each of the four groups has."""
        lists = self.steps[self.steps[:, OP] <= END]
        sums = np.bincount(lists[:, OP], lists[:, COUNT], minlength=len(GROUPS))
        return {name: int(sums[row]) for row, name in enumerate(GROUPS)}

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        ints = [self.steps, self.table, self.parts, self.order, self.faces, self.morphs]
        if self.addresses is not None:
            ints.append(self.addresses)
        return sum(own.nbytes for own in ints) + self.data.nbytes + self.deltas.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Envelopes:
    """The same character twice: with all weights, and with one weight a vertex."""

    multi: Envelope
    one: Envelope


@dataclass(frozen=True, slots=True, eq=False)
class SomeEnvelopes:
    """Those of `Envelopes` that a package holds; None: not that one."""

    multi: Envelope | None = None
    one: Envelope | None = None


def _check_range(name: str, values: NDArray[np.integer], low: int, end: int) -> None:
    if values.size and not (low <= values.min() and values.max() < end):
        raise ShapeError(f"{name}: must lie in {low}..{end - 1}")


def _check_spans(
    name: str, begin: NDArray[np.int64], count: NDArray[np.int64], end: int
) -> None:
    if begin.size and (
        begin.min() < 0 or count.min() < 0 or (begin + count).max() > end
    ):
        raise ShapeError(f"{name}: leads outside of {end}")


def _check_row(
    name: str, begin: NDArray[np.int64], count: NDArray[np.int64], end: int
) -> None:
    """Spans must follow each other and fill all: none is used twice, so that work is
    bounded by the size of the data.
    """
    if (count < 0).any() or (begin != np.cumsum(count) - count).any():
        raise ShapeError(f"{name}: spans must follow each other")
    if int(count.sum()) != end:
        raise ShapeError(f"{name}: {end} numbers, the spans have {int(count.sum())}")
