"""Levels of detail, as a table and in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexor.cli.tables.columns import add_row, new_table, open_console, say_count

if TYPE_CHECKING:
    from flexor.convert.levels.report import LevelReport
    from flexor.scene.runtime.levels import Levels

__all__ = ["LEVEL_LEGEND", "print_levels", "report_stored", "say_levels"]

LEVEL_LEGEND = (
    "joints: the most that pull a vertex; px, m: how tall in a picture of 720 rows, "
    "and how far away at a field of view of 35 degrees, a character is when the level "
    "takes over; mean, worst: pixels that its skin is off there; goal: whether both "
    "are small enough"
)
SAFE = 1 - 1e-6  # of a height: it is not to miss a goal by rounding


def report_stored(levels: Levels) -> list[LevelReport]:
    """Numbers of levels that were made before: each where it may take over.

    Levels do not keep the heights that they were made for. A level will do for every
    character that is no taller in the picture than where its errors are at the goals.
    """
    from flexor.convert.levels.report import report_level
    from flexor.scene.runtime.level_settings import ROWS, LevelSettings

    goals = LevelSettings()
    found = []
    for level, errors in enumerate(levels.errors.tolist()):
        height = float(ROWS)
        for error, goal in zip(errors, (goals.mean, goals.worst), strict=True):
            if error > 0 and levels.height > 0:
                height = min(height, goal * levels.height / error * SAFE)
        found.append(report_level(levels, level, "", height, goals))
    return found


def say_levels(reports: Sequence[LevelReport]) -> str:
    """How many triangles the levels have, to follow other words; empty without any."""
    if not reports:
        return ""
    counts = ", ".join(say_count(one.triangles) for one in reports)
    return f"; levels of {counts} triangles"


def print_levels(title: str, reports: Sequence[LevelReport]) -> None:
    """One row a level."""
    if not reports:
        return
    table = new_table(
        title,
        "level",
        "nodes",
        "vertices",
        "triangles",
        "joints",
        "bytes",
        "px",
        "m",
        "mean",
        "worst",
        "goal",
    )
    table.box, table.padding = None, (0, 1, 0, 0)  # 80 columns are enough
    for one in reports:
        is_whole = one.level == 0
        add_row(
            table,
            f"{one.level} {one.name}".strip(),
            say_count(one.nodes),
            say_count(one.vertices),
            say_count(one.triangles),
            say_count(one.influences),
            say_count(one.bytes),
            "" if is_whole else f"{one.height:.0f}",
            "" if is_whole else _metres(one.distance),
            "" if is_whole else f"{one.mean:.2f}",
            "" if is_whole else f"{one.worst:.2f}",
            "" if is_whole else ("met" if one.is_met else "missed"),
        )
    open_console().print(table)


def _metres(distance: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{distance:,.0f}" if distance >= 100 else f"{distance:.3g}"
