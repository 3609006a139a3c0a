"""Who goes where, and when: groups, areas of the common buffer, commands.

Nothing here knows coordinates. A distributed vertex is a pair of a vertex and a model
that pulls it. Each is in one group: native (the only pull on its vertex), start (the
first of several, in trace order), end (the last), middle.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Ints, Rows
from flexor.convert.envelope.parts import EnvelopePart, check_tree
from flexor.errors import SettingError
from flexor.scene.runtime.layout import END, MIDDLE, NATIVE, START

__all__ = [
    "Area",
    "Chunk",
    "Command",
    "EnvelopePlan",
    "Order",
    "Pulls",
    "VertexList",
    "check_trace",
    "depth_first",
    "part_pulls",
    "place_areas",
    "plan_envelope",
]

# Placing takes as long as the square of how many areas there are.
FEW_AREAS, MOST_AREAS = 300, 4000

Order = Literal["original", "joints"]
Command = tuple[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Vertices of one group and one part that one model pulls, by entry number.

    rows: (C,), of the part; entries: (C,), rising; weights: float32 (C,).
    """

    group: int
    part: int
    rows: Rows
    entries: Rows
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class VertexList:
    """What is done when a model is visited: its chunks, then its commands.

    Commands are ("DRAW", part), ("DRAWCP", id) and ("DRAWDP", id).
    """

    model: int
    chunks: tuple[Chunk, ...]
    commands: tuple[Command, ...]

    def _group(self, group: int) -> tuple[tuple[int, int], ...]:
        return tuple(
            (chunk.part, row)
            for chunk in self.chunks
            if chunk.group == group
            for row in chunk.rows.tolist()
        )

    @property
    def native(self) -> tuple[tuple[int, int], ...]:
        """(part, row) of vertices that this model alone pulls."""
        return self._group(NATIVE)

    @property
    def start(self) -> tuple[tuple[int, int], ...]:
        """(part, row) of vertices that it pulls first."""
        return self._group(START)

    @property
    def middle(self) -> tuple[tuple[int, int], ...]:
        """(part, row) of vertices that others pull before and after."""
        return self._group(MIDDLE)

    @property
    def end(self) -> tuple[tuple[int, int], ...]:
        """(part, row) of vertices that it pulls last."""
        return self._group(END)


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """Room of one part in the common buffer.

    owner: model; offset: its first place; vertices: (V,), the part's row at each entry
    number; counter: how many distributed vertices make it full.
    """

    owner: int
    offset: int
    vertices: Rows
    counter: int


@dataclass(frozen=True, slots=True, eq=False)
class EnvelopePlan:
    """One frame's work.

    trace: models in the order of visit; areas: of each part; lists: of each model in
    trace order; table: part of each id; peak: places in the common buffer.
    """

    trace: tuple[int, ...]
    areas: tuple[Area, ...]
    lists: tuple[VertexList, ...]
    table: tuple[int, ...]
    peak: int


@dataclass(frozen=True, slots=True, eq=False)
class Pulls:
    """The distributed vertices of a part, by vertex, then by rank in the trace.

    rows, ranks: (D,); weights: float32 (D,); groups: (D,); first: (V,), where each
    vertex begins.
    """

    rows: Rows
    ranks: Rows
    weights: NDArray[np.float32]
    groups: Rows
    first: Rows


def depth_first(parents: ArrayLike) -> list[int]:
    """The default trace: parent before children, children by number."""
    children: dict[int, list[int]] = {}
    for model, parent in enumerate(np.asarray(parents).tolist()):
        children.setdefault(parent, []).append(model)
    trace: list[int] = []
    left = children.get(-1, [])[::-1]
    while left:
        trace.append(left.pop())
        left += children.get(trace[-1], [])[::-1]
    return trace


def plan_envelope(
    parents: ArrayLike,
    parts: Sequence[EnvelopePart],
    *,
    trace: Sequence[int] | None = None,
    order: Order = "original",
) -> EnvelopePlan:
    """Plan one frame.

    parents: (M,), -1 for a root; trace: None for depth first; order: of the vertices
    that one model starts in an area: "original", or by all "joints" that pull them,
    so that what other models add goes to long runs as well.
    """
    above = np.array(parents, np.int32)
    check_tree(above, [str(model) for model in range(len(above))])
    visits = depth_first(above) if trace is None else list(trace)
    rank = check_trace(above, visits)
    if order not in get_args(Order):
        raise SettingError(f"order: {order!r}, expected one of {get_args(Order)}")
    pulls = [part_pulls(part, rank) for part in parts]
    entries = [_layout(pull, order) for pull in pulls]
    lists: list[list[Chunk]] = [[] for _ in visits]
    for row, (pull, vertices) in enumerate(zip(pulls, entries, strict=True)):
        for at, chunk in _chunks(row, pull, vertices):
            lists[at].append(chunk)
    for chunks in lists:
        chunks.sort(key=lambda chunk: (chunk.group, chunk.part))
    owners = [part.owner for part in parts]
    commands, table, drawn = _commands(
        visits, lists, owners, [len(p.rows) for p in pulls]
    )
    written = [int(p.ranks.min(initial=len(visits))) for p in pulls]
    sizes = [len(part) for part in parts]
    offsets, peak = place_areas(written, drawn, sizes)
    areas = (
        Area(part.owner, offset, vertices, len(pull.rows))
        for part, offset, vertices, pull in zip(
            parts, offsets, entries, pulls, strict=True
        )
    )
    return EnvelopePlan(
        tuple(visits),
        tuple(areas),
        tuple(
            VertexList(model, tuple(chunks), tuple(orders))
            for model, chunks, orders in zip(visits, lists, commands, strict=True)
        ),
        tuple(table),
        peak,
    )


def check_trace(parents: Ints, trace: Sequence[int]) -> Rows:
    """The rank (M,) of each model; refuses an order in which a child comes first."""
    if sorted(trace) != list(range(len(parents))):
        raise SettingError(f"trace: must name each of {len(parents)} models once")
    rank = np.empty(len(parents), np.intp)
    rank[list(trace)] = np.arange(len(trace))
    is_early = (parents >= 0) & (rank < rank[parents]) if len(parents) else parents
    if np.any(is_early):
        model = int(np.argmax(is_early))
        raise SettingError(
            f"trace: model {model} comes before its parent {parents[model]}"
        )
    return rank


def part_pulls(part: EnvelopePart, rank: Rows) -> Pulls:
    """The distributed vertices of a part; pulls by the same model count as one."""
    is_used = (part.joints >= 0) & (part.weights > 0)
    rows, columns = np.nonzero(is_used)
    ranks = rank[part.models[part.joints[rows, columns]]] if len(rows) else rows
    weights = part.weights[rows, columns].astype(np.float64)
    order = np.lexsort((ranks, rows))
    rows, ranks, weights = rows[order], ranks[order], weights[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (np.diff(rows) != 0) | (np.diff(ranks) != 0)
    begin = np.flatnonzero(is_new)
    if len(begin) < len(rows):
        weights = np.add.reduceat(weights, begin)
    rows, ranks = rows[begin], ranks[begin]
    count = np.bincount(rows, minlength=len(part))
    first = np.cumsum(count) - count
    groups = np.full(len(rows), MIDDLE, np.intp)
    groups[(first + count - 1)[count > 0]] = END
    groups[first[count > 0]] = START
    groups[first[count == 1]] = NATIVE
    return Pulls(rows, ranks, weights.astype(np.float32), groups, first)


def _layout(pulls: Pulls, order: Order) -> Rows:
    """The vertex at each entry of the area: native ones, then those that start."""
    is_first = pulls.groups <= START
    rows = pulls.rows[is_first]
    keys: list[NDArray[np.intp]] = [rows]
    if order == "joints" and len(rows):
        count = np.diff(np.append(pulls.first, len(pulls.rows)))
        last = int(pulls.ranks.max()) + 1
        for further in range(int(count.max()) - 1, 0, -1):
            # Those that nothing further pulls come last.
            at = np.minimum(pulls.first + further, len(pulls.rows) - 1)
            keys.append(np.where(count > further, pulls.ranks[at], last)[rows])
    keys += [pulls.ranks[is_first], pulls.groups[is_first]]
    return rows[np.lexsort(keys)]


def _chunks(part: int, pulls: Pulls, vertices: Rows) -> Iterator[tuple[int, Chunk]]:
    """The chunks of a part, with the rank of the model that each belongs to."""
    entry = np.empty(len(vertices), np.intp)
    entry[vertices] = np.arange(len(vertices))
    entries = entry[pulls.rows]
    by_chunk = np.lexsort((entries, pulls.groups, pulls.ranks))
    ranks, groups = pulls.ranks[by_chunk], pulls.groups[by_chunk]
    changes = np.flatnonzero((np.diff(ranks) != 0) | (np.diff(groups) != 0)) + 1
    for own in np.split(by_chunk, changes) if len(by_chunk) else []:
        chunk = Chunk(
            int(pulls.groups[own[0]]),
            part,
            pulls.rows[own],
            entries[own],
            pulls.weights[own],
        )
        yield int(pulls.ranks[own[0]]), chunk


def _commands(
    trace: Sequence[int],
    lists: Sequence[Sequence[Chunk]],
    owners: Sequence[int],
    counters: Sequence[int],
) -> tuple[list[list[Command]], list[int], list[int]]:
    """Commands of each visit, the table of ids, and the visit that draws each part."""
    left = list(counters)
    own: dict[int, list[int]] = {}
    for part, owner in enumerate(owners):
        own.setdefault(owner, []).append(part)
    commands: list[list[Command]] = []
    table: list[int] = []
    waiting: list[int] = []  # ids
    drawn = [-1] * len(left)
    for visit, (model, chunks) in enumerate(zip(trace, lists, strict=True)):
        for chunk in chunks:
            left[chunk.part] -= len(chunk.rows)
        orders: list[Command] = []
        for part in own.get(model, []):
            if left[part]:
                orders.append(("DRAWCP", len(table)))
                waiting.append(len(table))
                table.append(part)
            else:
                orders.append(("DRAW", part))
                drawn[part] = visit
        ready = [name for name in waiting if not left[table[name]]]
        waiting = [name for name in waiting if left[table[name]]]
        for name in ready:
            orders.append(("DRAWDP", name))
            drawn[table[name]] = visit
        commands.append(orders)
    return commands, table, drawn


def place_areas(
    written: Sequence[int], drawn: Sequence[int], sizes: Sequence[int]
) -> tuple[list[int], int]:
    """Offsets of areas that are alive from one visit to another, both included.

    Each takes the lowest room that is free all that time; once in the order in which
    they are first written, once the largest first (if there are not too many), and the
    better of both is kept. Gives the offsets and the peak.
    """
    used = [part for part in range(len(sizes)) if sizes[part]]
    if len(used) > MOST_AREAS:
        return _side_by_side(sizes)
    by_time = sorted(used, key=lambda part: (written[part], part))
    best = _place_by_time(by_time, written, drawn, sizes)
    if len(used) <= FEW_AREAS:
        by_size = sorted(used, key=lambda part: (-sizes[part], written[part], part))
        other = _place_in_order(by_size, written, drawn, sizes)
        if other[1] < best[1]:
            best = other
    return best


def _side_by_side(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Room of its own for each area."""
    ends = np.cumsum([0, *sizes]).tolist()
    return ends[:-1], ends[-1]


def _lowest_room(busy: Sequence[tuple[int, int]], size: int) -> int:
    """The lowest offset with `size` places free; busy: begin and end, sorted."""
    at = 0
    for begin, end in busy:
        if begin - at >= size:
            break
        at = max(at, end)
    return at


def _place_by_time(
    order: Sequence[int],
    written: Sequence[int],
    drawn: Sequence[int],
    sizes: Sequence[int],
) -> tuple[list[int], int]:
    """Areas in the order in which they are written: what is drawn before is gone."""
    offsets, peak = [0] * len(sizes), 0
    busy: list[tuple[int, int]] = []
    ends: list[tuple[int, tuple[int, int]]] = []  # a heap: when each is drawn
    for part in order:
        while ends and ends[0][0] < written[part]:
            busy.remove(heappop(ends)[1])
        at = _lowest_room(busy, sizes[part])
        room = at, at + sizes[part]
        insort(busy, room)
        heappush(ends, (drawn[part], room))
        offsets[part], peak = at, max(peak, room[1])
    return offsets, peak


def _place_in_order(
    order: Sequence[int],
    written: Sequence[int],
    drawn: Sequence[int],
    sizes: Sequence[int],
) -> tuple[list[int], int]:
    """Areas in any order: each beside all that are alive at any of its visits."""
    offsets, peak = [0] * len(sizes), 0
    placed: list[int] = []
    for part in order:
        busy = sorted(
            (offsets[other], offsets[other] + sizes[other])
            for other in placed
            if written[other] <= drawn[part] and written[part] <= drawn[other]
        )
        offsets[part] = _lowest_room(busy, sizes[part])
        peak = max(peak, offsets[part] + sizes[part])
        placed.append(part)
    return offsets, peak
