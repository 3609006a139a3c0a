"""Sheets of strings: how they are joined, how long strings are, what they cover."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from flexor.stage.goal.layout import FIXED, SPRUNG
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import SheetPlan
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.soccer import GoalSettings, make_goal
from tests.stage.goal.sheets import (
    COLUMNS,
    DEPTH,
    ROWS,
    TOP,
    X,
    Y,
    make_plan,
    pairs,
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
