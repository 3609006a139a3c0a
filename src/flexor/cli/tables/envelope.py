"""What envelopes cost and save, as a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.cli.tables.columns import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from flexor.convert.envelope.report import EnvelopeReport

__all__ = ["LEGEND", "print_envelopes"]

LEGEND = (
    "worked: vertices, those on cuts once for each part; peak: the most that wait at "
    "once; native to end: shares of vertices that joints store (native: alone, start) "
    "or add (middle, end); draw: parts finished with their own joint; later: others"
)


def print_envelopes(title: str, **kinds: EnvelopeReport) -> None:
    """A row for each: "multi", with all weights, "one", with one weight."""
    table = new_table(
        title,
        "weights",
        "vertices",
        "worked",
        "peak",
        "native",
        "start",
        "middle",
        "end",
        "draw",
        "later",
        "bytes",
    )
    table.box, table.padding = None, (0, 1, 0, 0)  # 80 columns are enough
    for kind, row in kinds.items():
        numbers = (
            row.vertices,
            row.worked,
            row.peak,
            row.native,
            row.start,
            row.middle,
            row.end,
            row.draws,
            row.deferred,
            row.data_bytes,
        )
        add_row(table, kind, *(say_count(number) for number in numbers))
    open_console().print(table)
