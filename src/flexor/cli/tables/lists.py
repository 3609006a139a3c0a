"""The lists of an envelope, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexor.cli.tables.columns import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from rich.table import Table

    from flexor.convert.envelope.lists import EnvelopeLists

__all__ = ["LISTS_LEGEND", "print_lists", "say_rows"]

LISTS_LEGEND = (
    "vertices are rows of the file's primitive; native: pulled by this joint alone, "
    "start: by it first, middle, end: last. DRAW: draw the joint's own polygons now, "
    "DRAWCP n: put them into the non-drawing table as n, DRAWDP n: draw entry n of it. "
    "counter: distributed vertices until an area is full; --json has every number"
)
MOST_RUNS = 6  # of vertices in one cell
# Columns that are no numbers.
TEXTS = "area owner surface group joint vertices entries commands areas id".split()
TEXTS += ["vertex IDs", "allocated at", "released at"]


def say_rows(rows: Sequence[int], most: int = MOST_RUNS) -> str:
    """Numbers, those that follow each other as one: "0 6 12-20"."""
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][1] + 1:
            runs[-1][1] = row
        else:
            runs.append([row, row])
    said = [
        " ".join(str(row) for row in range(a, b + 1)) if b - a < 2 else f"{a}-{b}"
        for a, b in runs[:most]
    ]
    more = sum(b - a + 1 for a, b in runs[most:])
    return " ".join(said) + (f" and {say_count(more)} more" if more else "")


def print_lists(title: str, lists: EnvelopeLists) -> None:
    """All tables of an envelope."""
    from rich.text import Text

    console = open_console()
    for table in (
        _areas(title, lists),
        _buffer(lists),
        _vertex_lists(lists),
        _polygon_lists(lists),
        _not_drawn(lists),
    ):
        table.box, table.padding = None, (0, 1, 0, 0)
        for column in table.columns:
            column.overflow = "fold"  # names are not cut
            column.justify = "left" if column.header in TEXTS else "right"
        # A title of the table itself is broken where the table is narrow.
        console.print(Text(str(table.title), "italic"), soft_wrap=True)
        table.title = None
        console.print(table)
        console.print()


def _areas(title: str, lists: EnvelopeLists) -> Table:
    """When each area is needed."""
    table = new_table(
        f"{title}: areas of the common vertex buffer, peak {say_count(lists.peak)}",
        "area",
        "owner",
        "surface",
        "offset",
        "size",
        "counter",
        "allocated at",
        "released at",
    )
    for row, area in enumerate(lists.areas):
        add_row(
            table,
            str(row),
            area.owner,
            f"{area.node}/{area.primitive}",
            str(area.offset),
            say_count(len(area)),
            say_count(area.counter),
            area.allocated,
            area.released,
        )
    return table


def _buffer(lists: EnvelopeLists) -> Table:
    """What is where: runs that one joint stores, by area and place."""
    table = new_table(
        "common vertex buffer", "area", "vertex IDs", "group", "joint", "vertices"
    )
    for row, area in enumerate(lists.areas):
        stored = [
            (chunk.entries[0], visit.joint, chunk)
            for visit in lists.visits
            for chunk in visit.chunks
            if chunk.area == row and chunk.group in ("native", "start")
        ]
        for entry, joint, chunk in sorted(stored, key=lambda one: one[0]):
            ids = area.ids[entry : entry + len(chunk.entries)]
            place = f"vx{ids[0]}" + (f"-vx{ids[-1]}" if len(ids) > 1 else "")
            add_row(
                table, str(row), place, chunk.group, joint, say_rows(chunk.vertices)
            )
    return table


def _vertex_lists(lists: EnvelopeLists) -> Table:
    table = new_table(
        "vertex lists, in trace order",
        "joint",
        "group",
        "area",
        "offset",
        "count",
        "bytes",
        "entries",
        "vertices",
    )
    for visit in lists.visits:
        for number, chunk in enumerate(visit.chunks):
            add_row(
                table,
                visit.joint if not number else "",
                chunk.group,
                str(chunk.area),
                str(chunk.offset),
                say_count(len(chunk.entries)),
                say_count(chunk.bytes),
                say_rows(chunk.entries, 2),
                say_rows(chunk.vertices, 3),
            )
    return table


def _polygon_lists(lists: EnvelopeLists) -> Table:
    table = new_table(
        "polygon lists, in trace order", "joint", "polygons", "commands", "areas"
    )
    for visit in lists.visits:
        add_row(
            table,
            visit.joint,
            say_count(visit.polygons),
            ", ".join(visit.commands) or "-",
            " ".join(str(area) for area in visit.drawn) or "-",
        )
    return table


def _not_drawn(lists: EnvelopeLists) -> Table:
    table = new_table("non-drawing table", "id", "joint", "area")
    for number, area in enumerate(lists.not_drawn):
        add_row(table, str(number), lists.areas[area].owner, str(area))
    return table
