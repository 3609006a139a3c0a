"""Plans of sheets."""

from __future__ import annotations

from typing import Any

from flexor.stage.goal.plan import SheetPlan
from flexor.stage.goal.sheet import Sheet


def pairs(sheet: Sheet) -> set[tuple[int, int]]:
    return {(int(min(a, b)), int(max(a, b))) for a, b in sheet.strings}


def make_plan(width: float = 3.0, height: float = 2.0, **words: Any) -> SheetPlan:
    """One upright face with its left lower corner at the origin."""
    return SheetPlan(
        lower=((0, 0, 0), (width, 0, 0)),
        upper=((0, height, 0), (width, height, 0)),
        **words,
    )
