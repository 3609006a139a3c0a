"""An envelope as lists to be read: the common buffer, vertex lists, commands, areas.

An envelope's steps are what a frame does, one after another. Here they are sorted back
into what they were made of: what is written for each joint, into which area, and when
each area is needed. Of vertices there are the rows that the file has them in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import (
    AREA,
    BLOCK,
    DRAW,
    DRAW_DEFERRED,
    END,
    FACES,
    GROUPS,
    MIDDLE,
    NATIVE,
    NO_DRAW,
    NODE,
    OWNER,
    PRIMITIVE,
    START,
    VERTICES,
)

__all__ = ["AreaLife", "Chunk", "EnvelopeLists", "Visit", "list_envelope"]

COMMANDS = {NO_DRAW: "DRAWCP", DRAW: "DRAW", DRAW_DEFERRED: "DRAWDP"}


@dataclass(slots=True)
class Chunk:
    """What one joint writes of one group into one area.

    continues: whether others add to these vertices later; bytes: of its data; offset:
    the first place of the area; entries: entry numbers in it; vertices: the file's;
    weights: of each, none where the joint alone pulls.
    """

    group: str
    area: int
    offset: int
    continues: bool
    bytes: int = 0
    entries: list[int] = field(default_factory=list)
    vertices: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Visit:
    """What is done when the turn of a joint comes: its chunks, then its commands.

    polygons: how many the areas have that it owns; drawn: the area of each command.
    """

    joint: str
    chunks: list[Chunk] = field(default_factory=list)
    polygons: int = 0
    commands: list[str] = field(default_factory=list)
    drawn: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AreaLife:
    """Room for one part in the common buffer, and when it is needed.

    owner: the joint whose polygons are drawn from it; node, primitive: the surface;
    offset: its first place; ids: vertex IDs, and vertices: the file's, of its places in
    turn; counter: distributed vertices that make it full; allocated, released: the
    joints in whose turn that is, "" for an area of no vertex.
    """

    owner: str
    node: str
    primitive: int
    offset: int
    polygons: int
    ids: list[int]
    vertices: list[int]
    counter: int = 0
    allocated: str = ""
    released: str = ""

    def __len__(self) -> int:
        return len(self.vertices)


@dataclass(frozen=True, slots=True)
class EnvelopeLists:
    """areas; visits, in the order in which they are made; not_drawn: the area of each
    id of the non-drawing table; peak: places in the common buffer.
    """

    areas: list[AreaLife]
    visits: list[Visit]
    not_drawn: list[int]
    peak: int


def list_envelope(envelope: Envelope, names: Sequence[str]) -> EnvelopeLists:
    """Sort the steps of an envelope by joints; names: of all nodes."""
    called = _distinct(names)
    areas = _areas(envelope, called)
    # Areas that share places are needed one after another: what is written to a place
    # belongs to the area that is drawn next of those that have it.
    turns = _draws(envelope)
    visits: dict[int, Visit] = {}
    model = -1
    for number, (op, row, entry, count, at) in enumerate(envelope.steps.tolist()):
        if op <= END:
            model = row
            visit = visits.setdefault(model, Visit(called[model]))
            area = _area_of(envelope, turns, number, entry)
            chunk = _chunk(visit, op, area, areas[area].offset)
            _write(chunk, areas[area], envelope, op, entry, count, at)
            areas[area].counter += count
            areas[area].allocated = areas[area].allocated or called[model]
            continue
        area = row if op == DRAW else int(envelope.table[row])
        if op != DRAW_DEFERRED:  # those stand in the list of the joint whose turn it is
            model = int(envelope.parts[area, OWNER])
        visit = visits.setdefault(model, Visit(called[model]))
        visit.commands.append(COMMANDS[op] if op == DRAW else f"{COMMANDS[op]} {row}")
        visit.drawn.append(area)
        visit.polygons += areas[area].polygons if op != DRAW_DEFERRED else 0
        if op != NO_DRAW and len(areas[area]):
            areas[area].released = called[model]
    found = list(visits.values())
    return EnvelopeLists(areas, found, envelope.table.tolist(), envelope.peak)


def _distinct(names: Sequence[str]) -> list[str]:
    """Names that tell nodes apart."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [
        name if name and seen[name] == 1 else f"{name or 'node'} ({row})"
        for row, name in enumerate(names)
    ]


def _areas(envelope: Envelope, called: Sequence[str]) -> list[AreaLife]:
    areas, first = [], 0
    for row, part in enumerate(envelope.parts.tolist()):
        begin = part[AREA] if envelope.addresses is None else first
        areas.append(
            AreaLife(
                called[part[OWNER]],
                called[part[NODE]],
                part[PRIMITIVE],
                part[AREA],
                part[FACES],
                list(range(begin, begin + part[VERTICES])),
                envelope.part_order(row).tolist(),
            )
        )
        first += part[VERTICES]
    return areas


def _draws(envelope: Envelope) -> list[tuple[int, int]]:
    """Steps that draw, and the areas that they draw."""
    found = []
    for number, (op, row, *_) in enumerate(envelope.steps.tolist()):
        if op in (DRAW, DRAW_DEFERRED):
            found.append((number, row if op == DRAW else int(envelope.table[row])))
    return found


def _area_of(
    envelope: Envelope, turns: Sequence[tuple[int, int]], number: int, entry: int
) -> int:
    """The area that a step writes to."""
    for turn, area in turns:
        first, size = envelope.parts[area, [AREA, VERTICES]].tolist()
        if turn > number and first <= entry < first + size:
            return area
    raise AssertionError("an envelope draws all that it writes")  # it was checked


def _chunk(visit: Visit, op: int, area: int, offset: int) -> Chunk:
    """The chunk of a visit that more is written to, or a new one."""
    for chunk in visit.chunks:
        if chunk.group == GROUPS[op] and chunk.area == area:
            return chunk
    visit.chunks.append(Chunk(GROUPS[op], area, offset, op in (START, MIDDLE)))
    return visit.chunks[-1]


def _write(
    chunk: Chunk,
    area: AreaLife,
    envelope: Envelope,
    op: int,
    entry: int,
    count: int,
    at: int,
) -> None:
    """Put the vertices of a step into its chunk."""
    first = entry - area.offset
    chunk.entries += range(first, first + count)
    chunk.vertices += area.vertices[first : first + count]
    blocks, rows = -(-count // BLOCK), 6 if op == NATIVE else 7
    size = blocks * rows * BLOCK
    chunk.bytes += size * envelope.data.itemsize
    if op != NATIVE:
        own = envelope.data[at : at + size].reshape(blocks, rows, BLOCK)[:, 6]
        chunk.weights += np.round(own.reshape(-1)[:count].astype(float), 7).tolist()
