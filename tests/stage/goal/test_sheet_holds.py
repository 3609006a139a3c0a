"""How sheets are held and sag, what they share, and plans that are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.stage.goal.layout import FIXED, FREE, SPRUNG
from flexor.stage.goal.plan import NetSettings, SheetPlan
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.soccer import GoalSettings, make_goal
from tests.stage.goal.sheets import (
    BACK,
    COLUMNS,
    DEPTH,
    ROWS,
    TOP,
    X,
    Y,
    make_plan,
    pairs,
)

# How nodes are held.


def test_the_goal_is_held_as_in_the_specification(sheet: Sheet) -> None:
    holds = sheet.holds[: ROWS * COLUMNS].reshape(ROWS, COLUMNS)
    assert (holds[0] == FIXED).all()  # on the ground
    assert (holds[:, [0, -1]] == FIXED).all()  # to the posts
    assert (holds[-1, 1:-1] == SPRUNG).all()  # along the top
    assert (holds[1:-1, [8, 32]] == SPRUNG).all()  # where side and back meet
    inner = np.delete(holds[1:-1, 1:-1], [7, 31], axis=1)
    assert (inner == FREE).all()
    places = sheet.places
    is_roof = sheet.masks >> TOP & 1 == 1
    at_bar = is_roof & (np.abs(places[:, 2]) < 1e-9)
    assert (sheet.holds[at_bar] == FIXED).all()
    assert at_bar.sum() == 25
    assert (sheet.holds[is_roof & ~at_bar] == SPRUNG).all()


def test_what_is_held_twice_is_held_by_the_stronger() -> None:
    sheet = weave_sheets(
        [make_plan(columns=(4,), rows=3, left="fixed", top="sprung", bottom="free")]
    )
    wanted = [[2, 0, 0, 0, 0], [2, 0, 0, 0, 0], [2, 1, 1, 1, 1]]
    assert sheet.holds.reshape(3, 5).tolist() == wanted
    sheet = weave_sheets(
        [make_plan(columns=(4,), rows=3, middle="sprung", right="fixed")]
    )
    assert sheet.holds.reshape(3, 5).tolist() == [[1, 1, 1, 1, 2]] * 3


@pytest.mark.parametrize("name", ["left", "right", "bottom", "top"])
def test_each_edge_is_held_for_itself(name: str) -> None:
    held: dict[str, Any] = {name: "fixed"}
    sheet = weave_sheets([make_plan(columns=(4,), rows=4, **held)])
    x, y = sheet.places[:, 0], sheet.places[:, 1]
    is_edge = {"left": x == 0, "right": x == 3, "bottom": y == 0, "top": y == 2}[name]
    np.testing.assert_array_equal(sheet.holds == FIXED, is_edge)
    assert (sheet.holds[~is_edge] == FREE).all()


def test_the_roof_sags_most_in_its_middle(sheet: Sheet) -> None:
    """And its upper edges in theirs; corners and what is fixed do not."""
    is_roof = sheet.masks >> TOP & 1 == 1
    is_sprung = sheet.holds == SPRUNG
    below = Y - sheet.anchors[:, 1]
    x, z = sheet.anchors[:, 0], sheet.anchors[:, 2]
    back = is_roof & (np.abs(z + DEPTH) < 1e-9)
    share = (x[back] + X) / (2 * X)
    np.testing.assert_allclose(below[back], 0.12 * 4 * share * (1 - share), atol=1e-9)
    for sign in (-1, 1):
        side = is_sprung & (np.abs(x - sign * X) < 1e-9) & (below < 0.4)
        side &= (sheet.masks & 0b101 > 0) & (sheet.anchors[:, 1] > 2.3)
        share = -z[side] / DEPTH
        assert len(share) == 8
        wanted = 0.12 * 4 * share * (1 - share)
        np.testing.assert_allclose(below[side], wanted, atol=1e-9)
    # In between the bows of the edges go over into each other, and one is added.
    lowest = np.flatnonzero(is_roof)[np.argmax(below[is_roof])]
    assert abs(x[lowest]) < 0.4
    assert -1.5 < z[lowest] < -0.7
    assert 0.12 < below[is_roof].max() < 3 * 0.12
    corner = is_roof & (np.abs(np.abs(x) - X) < 1e-9) & (np.abs(z + DEPTH) < 1e-9)
    np.testing.assert_allclose(below[corner], 0, atol=1e-9)
    assert (below[is_roof & is_sprung] > -1e-9).all()


@pytest.mark.parametrize("name", ["left", "right", "bottom", "top"])
def test_sprung_edges_sag_in_their_middle(name: str) -> None:
    """By all of `sag` there, and not at their ends; what is not sprung stays."""
    held: dict[str, Any] = {name: "sprung"}
    plan = make_plan(columns=(4,), rows=5, weave="squares", sag=0.3, **held)
    flat = weave_sheets([make_plan(columns=(4,), rows=5, weave="squares")]).places
    sheet = weave_sheets([plan])
    edge = sheet.holds == SPRUNG
    assert edge.sum() == 5
    below = (flat - sheet.anchors)[edge]
    np.testing.assert_allclose(below[:, 1], 0.3 * np.array([0, 0.75, 1, 0.75, 0]))
    np.testing.assert_array_equal(below[:, [0, 2]], 0)
    # Those that are sprung begin at their anchors, the others where they lie.
    np.testing.assert_array_equal(sheet.places[edge], sheet.anchors[edge])
    np.testing.assert_array_equal(sheet.places[~edge], flat[~edge])


@pytest.mark.parametrize("name", ["left", "right", "bottom", "top"])
def test_the_sag_of_an_edge_fades_toward_the_other(name: str) -> None:
    """Where all is sprung: a bow of its own in the middle, and that of the edge."""
    held: dict[str, Any] = {name: "sprung"}
    plan = make_plan(
        columns=(4,), rows=5, weave="squares", sag=0.3, middle="sprung", **held
    )
    flat = weave_sheets([make_plan(columns=(4,), rows=5, weave="squares")]).places
    below = (flat - weave_sheets([plan]).anchors)[:, 1].reshape(5, 5) / 0.3
    bow, fade = np.array([0, 0.75, 1, 0.75, 0]), np.array([1, 0.75, 0.5, 0.25, 0])
    # From the edge, with its length across.
    turned = {
        "bottom": below,
        "top": below[::-1],
        "left": below.T,
        "right": below.T[::-1],
    }[name]
    wanted = np.outer(bow, bow) + np.outer(fade, bow)
    np.testing.assert_allclose(turned, wanted, atol=1e-12)


def test_a_sprung_middle_sags() -> None:
    plan = make_plan(columns=(4,), rows=5, weave="squares", sag=0.3, middle="sprung")
    flat = weave_sheets([make_plan(columns=(4,), rows=5, weave="squares")]).places
    below = (flat - weave_sheets([plan]).anchors)[:, 1].reshape(5, 5)
    bow = np.array([0, 0.75, 1, 0.75, 0])
    np.testing.assert_allclose(below, 0.3 * np.outer(bow, bow), atol=1e-12)


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
