"""What became of the motion of a file, as a table and in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexor.cli.tables.columns import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from flexor.convert.motion.reduce import MotionReport

__all__ = ["print_motion", "say_motion"]


def say_motion(reports: Sequence[MotionReport]) -> str:
    """Ratio and worst error of all clips, to follow other words; empty without any."""
    before, after = sum(r.raw_bytes for r in reports), sum(r.bytes for r in reports)
    worst = max((r.worst for r in reports if r.worst is not None), default=0.0)
    if not before or before == after:
        return ""
    ratio = before / max(after, 1)
    return f"; motion {ratio:.1f} : 1, off by at most {worst * 1e3:.3f} mm"


def print_motion(title: str, reports: Sequence[MotionReport]) -> None:
    """One row a clip."""
    if not reports:
        return
    table = new_table(
        f"{title}: motion",
        "clip",
        "bytes",
        "packed",
        "ratio",
        "99 % mm",
        "worst mm",
        "packed tracks",
    )
    table.box, table.padding = None, (0, 1, 0, 0)  # 80 columns are enough
    for one in reports:
        add_row(
            table,
            one.name,
            say_count(one.raw_bytes),
            say_count(one.bytes),
            f"{one.ratio:.1f}",
            _millimetres(one.p99),
            _millimetres(one.worst),
            f"{one.packed} of {one.tracks}",
        )
    open_console().print(table)


def _millimetres(metres: float | None) -> str:
    return "?" if metres is None else f"{metres * 1e3:.4f}"
