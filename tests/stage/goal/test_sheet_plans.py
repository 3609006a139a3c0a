"""Goals of other sizes, sheets that share nodes, and plans that are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import NetSettings, SheetPlan
from flexor.stage.goal.sheet import FIXED, FREE, SPRUNG, Sheet, weave_sheets
from flexor.stage.goal.soccer import GoalSettings, make_goal
from tests.stage.goal.sheet_plans import make_plan, pairs

LEFT, BACK, RIGHT, TOP = range(4)  # faces of the goal

X, Y, DEPTH = 3.72, 2.5, 2.0  # axes of posts and bar, and the back


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


@pytest.fixture(scope="module")
def sheet(goal: Netting) -> Sheet:
    return goal.sheet


# Other goals and other sheets.


@pytest.mark.parametrize("top_depth", [0.8, 1.5])
def test_the_roof_may_be_less_deep_than_the_ground(top_depth: float) -> None:
    goal = make_goal(GoalSettings(top_depth=top_depth))
    sheet = goal.sheet
    is_roof = sheet.masks >> TOP & 1 == 1
    is_wall = sheet.masks & 0b111 > 0
    assert sheet.places[is_roof, 2].min() == pytest.approx(-top_depth)
    assert sheet.places[:, 2].min() == pytest.approx(-DEPTH)
    # Back and roof still meet in all nodes, and sides and roof in every second.
    across = (is_roof & is_wall & (np.abs(sheet.places[:, 2] + top_depth) < 1e-6)).sum()
    gaps = max(1, round(top_depth / (3**0.5 * 0.31)))
    assert across == 25
    assert (is_roof & is_wall).sum() == 25 + 2 * gaps
    # The back leans: it is farther back below.
    normal = goal.faces[BACK].normal
    lean = np.array([0, -(DEPTH - top_depth), Y])
    np.testing.assert_allclose(normal, lean / np.linalg.norm(lean), atol=1e-9)


@pytest.mark.parametrize("pitch", [0.2, 0.27, 0.5])
@pytest.mark.parametrize(
    "size", [{}, {"width": 5.0, "height": 2.0}, {"width": 3.0, "depth": 1.1}]
)
def test_goals_of_other_sizes_hang_together(size: Any, pitch: float) -> None:
    settings = GoalSettings(pitch=pitch, **size)
    net = NetSettings(k11=2, k12=1, k13=0.02)  # stable for all of them
    sheet = make_goal(settings, net=net).sheet
    x = settings.width / 2 + settings.post
    assert sheet.places[:, 0].max() == pytest.approx(x)
    assert sheet.places[:, 1].max() == pytest.approx(settings.height + settings.post)
    assert sheet.places[:, 2].min() == pytest.approx(-settings.depth)
    gaps = max(1, round(settings.depth / (3**0.5 * pitch)))
    across = max(2, round(2 * x / pitch))
    is_seam = (sheet.masks >> TOP & 1 == 1) & (sheet.masks & 0b111 > 0)
    assert is_seam.sum() == 2 * gaps + across + 1
    sizes = (sheet.cells >= 0).sum(1)
    assert (sizes == 6).mean() > 0.5
    away = np.linalg.norm(np.diff(sheet.places[sheet.strings], axis=1), axis=2)
    assert np.median(away) == pytest.approx(pitch * 2 / 3**0.5, rel=0.15)


def test_columns_and_rows_follow_the_pitch() -> None:
    for pitch, weave, columns, rows in (
        (0.5, "squares", 6, 5),
        (0.5, "hexagons", 6, 3),
        (0.1, "squares", 30, 21),
        (9.0, "hexagons", 1, 2),
    ):
        sheet = weave_sheets([make_plan(pitch=pitch, weave=weave)])
        assert len(sheet.places) == (columns + 1) * rows
        assert sheet.places[columns, 0] == pytest.approx(3.0)


def test_sheets_that_share_nothing_stay_apart() -> None:
    one = make_plan(columns=(3,), rows=3)
    lower, upper = (((x, y, 1.0), (x + 1, y, 1.0)) for x, y in ((0, 0), (0, 1)))
    other = SheetPlan(lower=lower, upper=upper, columns=(2,), rows=2, top="fixed")
    sheet = weave_sheets([one, other])
    assert len(sheet.places) == 12 + 6
    assert sheet.masks.tolist() == [0b01] * 12 + [0b10] * 6
    assert (sheet.strings.max(1) < 12).sum() + (sheet.strings.min(1) >= 12).sum() == (
        len(sheet.strings)
    )
    assert (sheet.holds == FIXED).sum() == 3
    assert sheet.cells[-1].max() >= 12


def test_the_very_first_node_can_be_shared() -> None:
    one = make_plan(columns=(3,), rows=3)
    other = SheetPlan(
        lower=((0, 0, 0), (0, 0, 1)), upper=((0, 2, 0), (0, 2, 1)), columns=(2,), rows=3
    )
    sheet = weave_sheets([one, other])
    assert len(sheet.places) == 12 + 9 - 3
    assert np.flatnonzero(sheet.masks == 0b11).tolist() == [0, 4, 8]
    # Node 12 is beside node 0 in the second sheet.
    assert {(0, 12), (0, 1), (0, 4)} <= pairs(sheet)


def test_shared_nodes_are_held_as_the_first_plan_says() -> None:
    low = make_plan(height=1.0, columns=(3,), rows=2, weave="squares", top="sprung")
    high = SheetPlan(
        lower=low.upper,
        upper=((0, 2, 0), (3, 2, 0)),
        columns=(3,),
        rows=2,
        weave="squares",
        bottom="fixed",
    )
    sheet = weave_sheets([low, high])
    assert len(sheet.places) == 12
    assert sheet.holds.tolist() == [FREE] * 4 + [SPRUNG] * 4 + [FREE] * 4
    assert sheet.masks.tolist() == [1] * 4 + [3] * 4 + [2] * 4
    # The strings that both have are there once.
    assert len(sheet.strings) == len(pairs(sheet)) == 3 * 3 + 4 * 2
    turned = weave_sheets([high, low])
    assert (turned.holds == FIXED).sum() == 4


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"lower": ((0, 0, 0),)}, "1 and 2 points, expected as many of both"),
        ({"lower": ((0, 0, 0),) * 3}, "3 and 2 points, expected as many of both"),
        ({"lower": "here"}, "lower: 'here', expected points"),
        ({"lower": ((0, 0), (1, 0))}, "lower: .*expected x, y and z"),
        ({"upper": ((0, 0, "a"), (1, 0, 0))}, "upper: .*'a'"),
        ({"upper": ((0, 0, 2e4), (1, 0, 0))}, "upper: .*20000"),
        ({"upper": ((0, 0, np.nan), (1, 0, 0))}, "upper: .*nan"),
        ({"names": ("a", "b")}, "names: 2, expected 1, one a face"),
        ({"left": "tied"}, "left: 'tied', expected one of free, sprung, fixed"),
        ({"corners": None}, "corners: None, expected one of"),
        ({"weave": "triangles"}, "weave: 'triangles', expected one of hexagons"),
        ({"pitch": 0}, "pitch: 0, expected 0.001 to 1000"),
        ({"slack": 0.4}, "slack: 0.4, expected 0.5 to 2"),
        ({"sag": -1}, "sag: -1, expected 0 to 100"),
        ({"reach": 0}, "reach: 0, expected"),
        ({"hang": 101}, "hang: 101, expected -100 to 100"),
        ({"columns": (3, 4)}, r"columns: \(3, 4\), expected one a face"),
        ({"columns": (0,)}, "columns: 0, expected 1 to 1000"),
        ({"rows": 1}, "rows: 1, expected 2 to 1000"),
    ],
)
def test_plans_that_cannot_be_are_refused(words: Any, text: str) -> None:
    given: dict[str, Any] = {
        "lower": ((0, 0, 0), (1, 0, 0)),
        "upper": ((0, 1, 0), (1, 1, 0)),
    }
    SheetPlan(**given)
    with pytest.raises(SettingError, match=text):
        SheetPlan(**{**given, **words})


@pytest.mark.parametrize("words", [{"columns": (2.5,)}, {"rows": 2.5}])
def test_counts_that_are_not_whole_are_refused(words: Any) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(words))}: float, expected int"):
        make_plan(**words)


def test_sheets_that_cannot_be_woven_are_refused() -> None:
    words: dict[str, Any] = {"weave": "squares", "rows": 200}
    with pytest.raises(SettingError, match="200200 nodes, expected 200000 or less"):
        weave_sheets([make_plan(columns=(1000,), **words)])
    assert len(weave_sheets([make_plan(columns=(999,), **words)]).places) == 200_000
    with pytest.raises(SettingError, match="nowhere wide or high"):
        weave_sheets([make_plan(height=0.0)])
    with pytest.raises(SettingError, match="nowhere wide or high"):
        weave_sheets([make_plan(width=0.0)])
    plans = [make_plan(columns=(2,), rows=2)] * 31
    assert weave_sheets(plans).masks.max() == 2**31 - 1


def test_more_faces_than_there_are_bits_are_refused() -> None:
    plans = [make_plan(columns=(2,), rows=2)] * 31
    with pytest.raises(SettingError, match="32 faces, expected 31 or less"):
        weave_sheets([*plans, plans[0]])


def test_arrays_of_a_sheet_must_fit(sheet: Sheet) -> None:
    names = [field.name for field in dataclasses.fields(Sheet)]
    assert len(names) >= 9
    given = {name: getattr(sheet, name) for name in names}
    for name in names:
        wrong = {**given, name: given[name].astype(np.float16)[..., :1]}
        with pytest.raises(ShapeError, match=name):
            Sheet(**wrong)
    for name in names:
        with pytest.raises(ValueError, match="read-only"):
            getattr(sheet, name)[0] = 0
