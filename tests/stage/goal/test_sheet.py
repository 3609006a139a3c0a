"""Sheets: which nodes there are, where, what joins them and how they are held."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.stage.goal.layout import FIXED, FREE, SPRUNG
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import NetSettings, SheetPlan
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.soccer import GoalSettings, make_goal

COLUMNS, ROWS = 41, 6  # nodes of the goal's walls
LEFT, BACK, RIGHT, TOP = range(4)  # faces of the goal
X, Y, DEPTH = 3.72, 2.5, 2.0  # axes of posts and bar, and the back


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


@pytest.fixture(scope="module")
def sheet(goal: Netting) -> Sheet:
    return goal.sheet


def pairs(sheet: Sheet) -> set[tuple[int, int]]:
    return {(int(min(a, b)), int(max(a, b))) for a, b in sheet.strings}


def make_plan(width: float = 3.0, height: float = 2.0, **words: Any) -> SheetPlan:
    """One upright face with its left lower corner at the origin."""
    return SheetPlan(
        lower=((0, 0, 0), (width, 0, 0)),
        upper=((0, height, 0), (width, height, 0)),
        **words,
    )


def area(points: Any) -> float:
    """Of a flat polygon (n, 3) or (n, 2)."""
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1]))).astype(np.float64)
    after = np.roll(points, -1, 0)
    return float(np.linalg.norm(np.cross(points, after).sum(0)) / 2)


def corners(cell: Any) -> Any:
    return cell[cell >= 0]


# The goal's walls, as the specification says.


def test_walls_are_rows_of_nodes_around_the_goal(sheet: Sheet) -> None:
    walls = sheet.places[: ROWS * COLUMNS].reshape(ROWS, COLUMNS, 3)
    assert COLUMNS % 2 == 1
    # From the left post back, along the back, and to the right post.
    low = walls[0]
    np.testing.assert_allclose(low[:, 1], 0)
    np.testing.assert_allclose(low[:9, 0], -X)
    np.testing.assert_allclose(low[:9, 2], np.linspace(0, -DEPTH, 9))
    np.testing.assert_allclose(low[8:33, 0], np.linspace(-X, X, 25), atol=1e-9)
    np.testing.assert_allclose(low[8:33, 2], -DEPTH)
    np.testing.assert_allclose(low[32:, 0], X)
    np.testing.assert_allclose(low[32:, 2], np.linspace(-DEPTH, 0, 9))
    # Above each other, and higher from row to row.
    is_held = sheet.holds[: ROWS * COLUMNS].reshape(ROWS, COLUMNS) == SPRUNG
    across = np.where(is_held[..., None], np.nan, walls)[1:5, :, [0, 2]]
    wanted = np.broadcast_to(low[:, [0, 2]], across.shape)
    np.testing.assert_allclose(across[:, 1:8], wanted[:, 1:8], atol=1e-12)
    np.testing.assert_allclose(across[:, 9:32], wanted[:, 9:32], atol=1e-12)
    assert (np.diff(walls[..., 1], axis=0) > 0.2).all()


def test_nodes_of_the_walls_are_joined_as_in_the_specification(sheet: Sheet) -> None:
    """Node i with i - 1 and i + 1; odd ones with i + c, even ones with i - c."""
    joined = pairs(sheet)
    for i in range(ROWS * COLUMNS):
        row, column = divmod(i, COLUMNS)
        if not 0 < row < ROWS - 1 or not 0 < column < COLUMNS - 1:
            continue
        near = {i - 1, i + 1, i + COLUMNS if i % 2 else i - COLUMNS}
        found = {a + b - i for a, b in joined if i in (a, b)}
        assert found == near


def test_edges_of_the_walls_are_irregular(sheet: Sheet) -> None:
    """Strings go up at both posts, where all is fixed: so these are left out, as is the
    lower edge; the upper edge is joined along, and once more by the roof's wider sides.
    """
    walls = {(a, b) for a, b in pairs(sheet) if b < ROWS * COLUMNS}
    roof = {(a, b) for a, b in walls if b == a + 2}
    first = (ROWS - 1) * COLUMNS
    sides = [first + k for k in (0, 2, 4, 6, 32, 34, 36, 38)]
    assert roof == {(a, a + 2) for a in sides}
    wanted = set()
    for i in range(ROWS * COLUMNS):
        row, column = divmod(i, COLUMNS)
        if column + 1 < COLUMNS and row:
            wanted.add((i, i + 1))
        if row + 1 < ROWS and i % 2 and 0 < column < COLUMNS - 1:
            wanted.add((i, i + COLUMNS))
    assert walls - roof == wanted


def test_no_string_joins_what_cannot_move(sheet: Sheet) -> None:
    assert ((sheet.holds[sheet.strings] != FIXED).any(1)).all()
    assert len(pairs(sheet)) == len(sheet.strings)
    assert (sheet.strings[:, 0] != sheet.strings[:, 1]).all()


def test_border_columns_are_joined_upward() -> None:
    """In a sheet that is free all around."""
    sheet = weave_sheets([make_plan(columns=(6,), rows=4)])
    found = pairs(sheet)
    for row in range(3):
        for column in range(7):
            i = row * 7 + column
            is_up = (row + column) % 2 == 1 or column in (0, 6)
            assert ((i, i + 7) in found) == is_up
    for i in range(28):
        assert ((i, i + 1) in found) == (i % 7 < 6)


def test_squares_are_joined_all_around() -> None:
    sheet = weave_sheets([make_plan(columns=(6,), rows=4, weave="squares")])
    wanted = {(i, i + 7) for i in range(21)}
    wanted |= {(i, i + 1) for i in range(28) if i % 7 < 6}
    assert pairs(sheet) == wanted
    slack = np.full((4, 6), 1.03)
    slack[[0, 3]] = 1
    np.testing.assert_allclose(sheet.lengths[:24], 0.5 * slack.ravel())
    slack = np.full((3, 7), 1.03)
    slack[:, [0, 6]] = 1
    np.testing.assert_allclose(sheet.lengths[24:], 2 / 3 * slack.ravel())
    assert (sheet.cells[:, 4:] == -1).all()
    assert (sheet.cells[:, :4] >= 0).all()
    assert len(sheet.cells) == 18
    wanted_places = np.stack(
        np.meshgrid(np.linspace(0, 3, 7), np.linspace(0, 2, 4), [0.0]), -1
    )
    np.testing.assert_allclose(sheet.places, wanted_places.reshape(-1, 3), atol=1e-12)


def test_hexagons_are_regular_within_the_sheet() -> None:
    """All strings are as long and meet at 120 degrees, but at the edges."""
    pitch = 0.2
    plan = make_plan(12 * pitch, 9 * pitch * 3**0.5, pitch=pitch, slack=1.0)
    sheet = weave_sheets([plan])
    assert len(sheet.places) == 13 * 10
    r, j = divmod(np.arange(130), 13)
    is_inner = (r > 0) & (r < 9) & (j > 0) & (j < 12)
    is_inside = is_inner[sheet.strings].all(1)
    edge = pitch * 2 / 3**0.5
    np.testing.assert_allclose(sheet.lengths[is_inside], edge, rtol=1e-9)
    firsts, near = sheet.neighbours()
    is_deep = (r > 1) & (r < 8) & (j > 1) & (j < 11)
    for i in np.flatnonzero(is_deep):
        around = sheet.places[near[firsts[i] : firsts[i + 1]]] - sheet.places[i]
        np.testing.assert_allclose(around @ around.T, edge**2 * (1.5 * np.eye(3) - 0.5))


@pytest.mark.parametrize("weave", ["hexagons", "squares"])
@pytest.mark.parametrize("rows", [2, 5])
def test_strings_are_as_long_as_the_sheet_needs_times_slack(
    weave: Any, rows: int
) -> None:
    """But for those along its edges, which are just as long."""
    for slack in (0.9, 1.0, 1.25):
        plan = make_plan(columns=(4,), rows=rows, weave=weave, slack=slack)
        sheet = weave_sheets([plan])
        a, b = sheet.places[sheet.strings].swapaxes(0, 1)
        middles = (a + b) / 2
        on_edge = np.isin(middles[:, 0], (0, 3)) | np.isin(middles[:, 1], (0, 2))
        assert on_edge.sum() == 2 * 4 + 2 * (rows - 1)
        wanted = np.where(on_edge, 1, slack) * np.linalg.norm(a - b, axis=1)
        np.testing.assert_allclose(sheet.lengths, wanted)


def test_strings_of_all_sheets_have_their_own_length() -> None:
    """In a goal that does not sag: as long as they are, or 3 % longer within sheets."""
    sheet = make_goal(GoalSettings(sag=0)).sheet
    a, b = sheet.places[sheet.strings].swapaxes(0, 1)
    slack = sheet.lengths / np.linalg.norm(a - b, axis=1)
    middles = (a + b) / 2
    # Ropes run along the upper edges; those on the ground and at posts and bar are left
    # out, as nothing there can move.
    at_top = np.abs(middles[:, 1] - Y) < 1e-9
    at_side = np.abs(np.abs(middles[:, 0]) - X) < 1e-9
    is_rope = at_top & (at_side | (np.abs(middles[:, 2] + DEPTH) < 1e-9))
    assert is_rope.sum() == 24 + 2 * 8 + 2 * 4
    np.testing.assert_allclose(slack, np.where(is_rope, 1, 1.03))


def test_neighbours_are_both_ends_of_strings(sheet: Sheet) -> None:
    firsts, near = sheet.neighbours()
    assert len(firsts) == len(sheet.places) + 1
    found = {
        (i, int(j))
        for i in range(len(sheet.places))
        for j in near[firsts[i] : firsts[i + 1]]
    }
    assert found == {p for a, b in pairs(sheet) for p in ((a, b), (b, a))}
    assert len(near) == 2 * len(sheet.strings)


# Cells, of which pictures are made.


@pytest.mark.parametrize("weave", ["hexagons", "squares"])
@pytest.mark.parametrize("columns", [2, 3, 7, 8])
@pytest.mark.parametrize("rows", [2, 3, 6])
def test_cells_cover_the_sheet_once(weave: Any, columns: int, rows: int) -> None:
    sheet = weave_sheets([make_plan(columns=(columns,), rows=rows, weave=weave)])
    areas = [area(sheet.places[corners(cell)]) for cell in sheet.cells]
    assert sum(areas) == pytest.approx(3.0 * 2.0)
    assert min(areas) > 0
    # Sides are shared by two cells, one each way, but around the sheet.
    sides: dict[Any, int] = {}
    for cell in sheet.cells:
        around = corners(cell).tolist()
        for side in zip(around, [*around[1:], around[0]], strict=True):
            assert side not in sides
            sides[side] = 1
            # Each is a string: cells are what strings enclose.
            assert tuple(sorted(side)) in pairs(sheet)
    alone = [side for side in sides if side[::-1] not in sides]
    assert len(alone) == 2 * columns + 2 * (rows - 1)
    # Their fronts look where that of the face does.
    for cell in sheet.cells:
        points = sheet.places[corners(cell)]
        normal = np.cross(points, np.roll(points, -1, 0)).sum(0)
        assert normal[2] > 0


def test_cells_have_six_corners_but_at_borders(sheet: Sheet) -> None:
    assert sheet.cells.shape[1] == 6
    sizes = (sheet.cells >= 0).sum(1)
    assert set(sizes.tolist()) == {4, 6}
    for cell, size in zip(sheet.cells, sizes, strict=True):
        if size == 4:
            nodes = cell[:4]
            at_post = (np.abs(sheet.places[nodes, 2]) < 1e-9).any()
            in_roof = (sheet.masks[nodes] >> TOP & 1).all()
            at_side = (np.abs(np.abs(sheet.places[nodes, 0]) - X) < 1e-9).any()
            assert at_post or (in_roof and at_side)


def test_the_goal_is_covered(goal: Netting) -> None:
    """As its faces are large; it sags, so not to the last bit."""
    wanted = sum(area(face.corners) for face in goal.faces)
    sheet = goal.sheet
    found = 0.0
    for cell in sheet.cells:
        points = sheet.places[corners(cell)]
        middle = points.mean(0)
        for a, b in itertools.pairwise([*points, points[0]]):
            found += area(np.stack([middle, a, b]))
    assert found == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("weave", ["hexagons", "squares"])
def test_a_sheet_lies_flat_as_it_is(weave: Any) -> None:
    """Spread out, faces at any angle are beside each other, each at its own size."""
    plan = SheetPlan(
        lower=((0, 0, 0), (0, 0, -2), (3, 0, -2), (3, 0, -1)),
        upper=((0, 2, 0), (0, 2, -2), (3, 2, -2), (3, 2, -1)),
        pitch=0.25,
        weave=weave,
    )
    sheet = weave_sheets([plan])
    assert sheet.flat.dtype == np.float32
    assert len(sheet.flat) == 1
    flat = sheet.flat[0]
    np.testing.assert_allclose(flat.min(0), 0, atol=1e-6)
    np.testing.assert_allclose(flat.max(0), [6, 2], atol=1e-6)
    a, b = sheet.strings.T
    away = np.linalg.norm(flat[a] - flat[b], axis=1)
    wanted = np.linalg.norm(sheet.places[a] - sheet.places[b], axis=1)
    np.testing.assert_allclose(away, wanted, atol=1e-5)
    assert not sheet.sheets.any()


def test_cells_of_every_sheet_lie_flat_as_they_are(sheet: Sheet) -> None:
    """So that the fine net on them is as fine as everywhere, also at the seam."""
    assert sheet.flat.shape == (2, len(sheet.places), 2)
    is_roof = np.array(
        [(sheet.masks[corners(cell)] >> TOP & 1).all() for cell in sheet.cells]
    )
    np.testing.assert_array_equal(sheet.sheets, is_roof.astype(int))
    for cell, row in zip(sheet.cells, sheet.sheets, strict=True):
        nodes = corners(cell)
        points, flat = sheet.places[nodes], sheet.flat[row, nodes]
        # Columns beside each other, whatever sags.
        wide = np.linalg.norm(np.diff(points, axis=0)[:, [0, 2]], axis=1)
        found = np.abs(np.diff(flat, axis=0))[:, 0]
        if row == 0:
            np.testing.assert_allclose(found, wide, atol=1e-5)
        else:
            across = np.abs(np.diff(points, axis=0)[:, [0, 2]])
            np.testing.assert_allclose(np.abs(np.diff(flat, axis=0)), across, atol=1e-5)
    # What is of one sheet alone is nowhere on the other.
    is_wall_alone = sheet.masks >> TOP & 1 == 0
    assert not sheet.flat[1, is_wall_alone].any()


# The seam of roof and walls, and the faces.


def test_roof_and_walls_share_the_nodes_of_their_seam(sheet: Sheet) -> None:
    """25 nodes along the back, and every second along both sides: 5 and 5 more, of
    which the two in the corners are counted already.
    """
    walls, roof = COLUMNS * ROWS, 25 * 5
    assert len(sheet.places) == walls + roof - 33
    is_roof = sheet.masks >> TOP & 1 == 1
    is_wall = sheet.masks & 0b111 > 0
    is_seam = is_roof & is_wall
    assert is_seam.sum() == 33
    assert is_roof.sum() == roof
    assert is_wall.sum() == walls
    # Every node of the roof along its back and sides is one of them.
    rim = is_roof & (
        (np.abs(np.abs(sheet.places[:, 0]) - X) < 1e-6)
        | (np.abs(sheet.places[:, 2] + DEPTH) < 1e-6)
    )
    np.testing.assert_array_equal(rim, is_seam)
    # They hang together: from any node that moves to any other along strings.
    reached = np.zeros(len(sheet.places), bool)
    reached[300] = True
    for _ in range(200):
        touched = reached[sheet.strings].any(1)
        reached[sheet.strings[touched]] = True
    assert reached[sheet.holds != FIXED].all()
    # No two nodes are in one place.
    away = np.linalg.norm(sheet.places[:, None] - sheet.places, axis=-1)
    assert (away + np.eye(len(away)) > 0.1).all()


def test_each_node_knows_its_faces(goal: Netting, sheet: Sheet) -> None:
    names = [face.name for face in goal.faces]
    assert names == ["A", "D", "B", "C"]
    counts = [len(sheet.nodes_of(face)) for face in range(4)]
    assert counts == [9 * ROWS, 25 * ROWS, 9 * ROWS, 125]
    for number, face in enumerate(goal.faces):
        nodes = sheet.nodes_of(number)
        assert nodes.dtype == np.int32
        plane = face.normal @ face.corners[0]
        beside = sheet.places[nodes] @ face.normal - plane
        assert np.abs(beside).max() < (0.4 if number == TOP else 1e-9)  # it sags
        others = np.setdiff1d(np.arange(len(sheet.places)), nodes)
        inside = sheet.places[others] @ face.normal - plane
        assert inside.min() > -1e-9
    columns = [0, 4, 8, 20, 32, 36, 40]
    wanted = [0b001, 0b001, 0b011, 0b010, 0b110, 0b100, 0b100]
    assert sheet.masks[COLUMNS : 2 * COLUMNS][columns].tolist() == wanted


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
