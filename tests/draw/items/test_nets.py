"""Nets: their picture, what is drawn between nodes, and balls that push them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.nets import (
    COLOUR,
    TILE,
    NetMesh,
    _shortfall,
    build_net,
    drape_net,
    make_net_mesh,
    net_picture,
    net_points,
    upload_net,
)
from flexor.draw.target import init_target
from flexor.errors import SettingError, ShapeError
from flexor.maths.colour import srgb_from_linear
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
COLUMN = 0.31  # metres between columns of nodes
BALL = 0.11
GAP, SLOPE = 0.015, 1.2


def honeycomb(columns: int = 13, rows: int = 7) -> tuple[Any, Any]:
    """Places (M, 2) of nodes, and cells (C, 6), of a net that stands on its corners."""
    high = math.sqrt(3) * COLUMN
    row, column = np.indices((rows, columns))
    y = row * high + np.where((row + column) % 2 == 1, high / 6, -high / 6)
    places = np.stack([column * COLUMN, y], -1).reshape(-1, 2).astype(np.float32)
    cells = [
        [(r + up) * columns + j + by for up, by in ROUND]
        for r in range(rows - 1)
        for j in range(columns - 2)
        if (r + j) % 2 == 1
    ]
    return places, np.array(cells, np.int32)


ROUND = ((0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0))


def make_flat(fine: int = 2, **more: Any) -> tuple[NetMesh, Any]:
    """A net of one face, and its nodes (1, M, 3) in the plane z = 0."""
    places, cells = honeycomb()
    masks = more.pop("masks", np.ones(len(places), np.int32))
    mesh = make_net_mesh(cells, masks, places, pitch=0.06, fine=fine, **more)
    nodes = np.zeros((1, len(places), 3), np.float32)
    nodes[0, :, :2] = places
    return mesh, nodes


def profile(aside: Any) -> Any:
    """How far beyond the middle of a ball a vertex must be that is so far aside."""
    reach = BALL + GAP
    turn = math.atan(SLOPE)
    front = np.sqrt(np.maximum(reach**2 - aside**2, 0))
    cone = reach * math.cos(turn) - SLOPE * (aside - reach * math.sin(turn))
    return np.where(aside < reach * math.sin(turn), front, cone)


def around_ball(points: Any, ball: Any, push: Any) -> tuple[Any, Any]:
    """How far points (..., 3) are beyond a ball's middle, and aside."""
    rel = points.astype(np.float64) - ball
    high = rel @ push
    return high, np.linalg.norm(rel - high[..., None] * push, axis=-1)


def inner_points(triangles: Any, points: Any, steps: int = 12) -> Any:
    """Points (T, S, 3) all over the triangles."""
    parts = [
        (i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)
    ]
    return np.einsum("sk,tkd->tsd", np.array(parts) / steps, points[triangles])


def near_triangles(mesh: NetMesh, points: Any, aside: Any) -> Any:
    """Triangles (T, 3) of which a point may be within two gaps of a ball or behind it.

    aside: (V,), how far the vertices are aside of its middle.
    """
    corners = points[mesh.triangles].astype(np.float64)
    sides = np.linalg.norm(corners - np.roll(corners, 1, 1), axis=-1).max(1)
    return mesh.triangles[aside[mesh.triangles].min(1) < BALL + 3 * GAP + sides]


def test_the_picture_is_of_cords_alone() -> None:
    picture = net_picture(128)
    assert picture.shape == (256, 128, 4)
    assert (picture[..., :3] == 255).all()  # smaller levels stay white
    alpha = picture[..., 3]
    assert (alpha == 0).mean() > 0.75
    assert (alpha == 255).mean() > 0.04
    assert ((alpha > 0) & (alpha < 255)).any()
    thick = net_picture(128, cord=0.3)[..., 3].mean()
    # Two hexagons a tile have six edges for themselves: cords without knots.
    thin = net_picture(128, cord=0.1, knot=0)[..., 3].mean()
    assert thin == pytest.approx(255 * 6 * 0.1 / (TILE[0] * TILE[1]), rel=0.05)
    assert thick > 2.4 * thin
    with pytest.raises(SettingError, match="side: 2"):
        net_picture(2)


def test_tiles_meet_on_all_sides() -> None:
    """Laid side by side, 3 x 3 tiles have cells that are all alike, and no seams."""
    from scipy import ndimage

    alpha = net_picture(64)[..., 3].astype(int)
    tiled = np.tile(alpha, (3, 3))
    labels, _ = ndimage.label(tiled == 0)
    sizes = np.bincount(labels.ravel())[1:]
    border = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    inside = np.setdiff1d(np.arange(1, len(sizes) + 1), border)
    assert len(inside) == 3 * 3 * 2 - 5  # two a tile, less those that are cut
    np.testing.assert_allclose(sizes[inside - 1], sizes[inside[0] - 1], rtol=0.02)
    # Also the same when it is mirrored or moved by half of it both ways.
    np.testing.assert_array_equal(alpha, alpha[::-1])
    np.testing.assert_array_equal(alpha, alpha[:, ::-1])
    np.testing.assert_array_equal(alpha, np.roll(alpha, (64, 32), (0, 1)))


@pytest.mark.parametrize("fine", [1, 2, 3, 5])
def test_vertices_lie_between_their_parents(fine: int, rng: Rng) -> None:
    mesh, nodes = make_flat(fine)
    cells = len(mesh.cells)
    assert len(mesh.triangles) == 6 * cells * fine**2
    np.testing.assert_allclose(mesh.weights.sum(1), 1, atol=1e-6)
    assert (mesh.weights >= 0).all()
    many = np.concatenate([nodes, nodes + rng.normal(size=nodes.shape)]).astype("f4")
    points = net_points(mesh, many)
    assert points.shape == (2, len(mesh.parents), 3)
    assert points.dtype == np.float32
    middles = many[:, mesh.cells].mean(2)
    both = np.concatenate([many, middles], 1).astype(np.float64)
    expected = np.einsum("pk,npkd->npd", mesh.weights, both[:, mesh.parents])
    np.testing.assert_allclose(points, expected, atol=1e-5)
    # The flat net is covered once, and triangles go around alike.
    a, b, c = points[0][mesh.triangles].swapaxes(0, 1).astype(np.float64)
    areas = np.cross(b - a, c - a)[:, 2] / 2
    assert (areas > 0).all()
    hexagon = 2 * math.sqrt(3) * COLUMN**2
    assert areas.sum() == pytest.approx(hexagon * cells, rel=1e-4)
    np.testing.assert_allclose(areas, areas.mean(), rtol=1e-3)


@pytest.mark.parametrize("fine", [1, 2, 3])
def test_no_cracks_show_between_neighbours(fine: int, rng: Rng) -> None:
    """On edges between cells both sides have bit-identical points, however it hangs."""
    mesh, nodes = make_flat(fine)
    points = net_points(mesh, nodes + rng.normal(size=nodes.shape))[0]
    sides = mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ends = points[sides].view(np.int32).reshape(len(sides), 2, 3)
    bits = [tuple(sorted(map(tuple, side))) for side in ends.tolist()]
    there: dict[Any, int] = {}
    for side in bits:
        there[side] = there.get(side, 0) + 1
    around = {}
    for cell in mesh.cells.tolist():
        for pair in pairwise([*cell, cell[0]]):
            around[tuple(sorted(pair))] = around.get(tuple(sorted(pair)), 0) + 1
    assert set(there.values()) == {1, 2}
    # Only the border of the net has sides without a neighbour.
    border = sum(count == 1 for count in around.values())
    assert sum(count == 1 for count in there.values()) == border * fine
    assert len(np.unique(points, axis=0)) == len(points)


def test_cells_may_have_fewer_corners() -> None:
    places = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0]], np.float32)
    cells = np.array([[0, 1, 2, 3, -1, -1], [1, 4, 2, -1, -1, -1]], np.int32)
    mesh = make_net_mesh(cells, np.ones(5, np.int32), places, pitch=0.1, fine=1)
    assert len(mesh.triangles) == 4 + 3
    nodes = np.concatenate([places, np.zeros((5, 1), np.float32)], 1)[None]
    points = net_points(mesh, nodes)[0]
    corners = points[mesh.triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert areas[:, 2].sum() / 2 == pytest.approx(1.5)
    is_middle = (mesh.parents >= 5).any(1)
    middles = sorted(points[is_middle].tolist())
    np.testing.assert_allclose(middles, [[0.5, 0.5, 0], [4 / 3, 1 / 3, 0]], atol=1e-6)


def test_masks_and_held_are_of_all_that_a_vertex_depends_on() -> None:
    places = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    cells = np.array([[0, 1, 2, 3, -1, -1]], np.int32)
    masks = np.array([0b11, 0b11, 0b01, 0b01], np.int32)
    held = np.array([True, True, False, False])
    mesh = make_net_mesh(cells, masks, places, held, pitch=0.1)
    x, y, _ = net_points(mesh, np.pad(places, ((0, 0), (0, 1)))[None])[0].T
    on_lower = y == 0  # its nodes 0 and 1, and what is between them
    assert on_lower.sum() == 3
    assert (mesh.masks[on_lower] == 0b11).all()
    assert (mesh.masks[~on_lower] == 0b01).all()
    assert mesh.held[on_lower].all()
    assert not mesh.held[~on_lower].any()
    assert sorted(x[on_lower]) == [0, 0.5, 1]


def test_texture_coordinates_follow_the_flat_sheet() -> None:
    """One tile is sqrt(3) pitches wide and 3 high, whatever the shape of cells."""
    mesh, nodes = make_flat(3)
    flat = net_points(mesh, nodes)[0]
    expected = flat[:, :2] / (0.06 * np.array([TILE[0], -TILE[1]]))
    np.testing.assert_allclose(mesh.texcoords, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"cells": [[0, 1, 2, -1, 3, -1]]}, "-1 behind them"),
        ({"cells": [[0, 1, -1, -1, -1, -1]]}, "3 to 6 nodes"),
        ({"cells": [[0, 1, 4, -1, -1, -1]]}, "node 4, there are 4"),
        ({"cells": [[0, 1, 2]]}, "cells: shape"),
        ({"places": np.zeros((3, 2))}, "expected \\(4, 2\\) and \\(4,\\)"),
        ({"held": np.zeros(3, bool)}, "expected \\(4, 2\\) and \\(4,\\)"),
    ],
)
def test_nets_that_cannot_be_are_refused(change: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {
        "cells": np.array([[0, 1, 2, 3, -1, -1]], np.int32),
        "masks": np.ones(4, np.int32),
        "places": np.zeros((4, 2), np.float32),
        "pitch": 0.1,
    }
    make_net_mesh(**given)
    with pytest.raises(ShapeError, match=text):
        make_net_mesh(**{**given, **change})
    with pytest.raises(SettingError, match="fine: 0"):
        make_net_mesh(**given, fine=0)


def random_pushes(rng: Rng, count: int) -> tuple[Any, Any]:
    """Balls (count, 1, 3) at and behind a flat net, and ways (count, 1, 3) they go."""
    balls = np.empty((count, 1, 3))
    balls[..., :2] = rng.uniform((1.2, 0.9), (2.5, 2.1), (count, 1, 2))
    balls[..., 2] = rng.uniform(-0.1, 0.6, (count, 1))
    pushes = rng.normal(size=(count, 1, 3)) * (0.3, 0.3, 0) + (0, 0, 1)
    pushes[: count // 2] = 0, 0, 1
    return balls, pushes / np.linalg.norm(pushes, axis=-1, keepdims=True)


def test_triangles_are_brought_out_of_a_ball_exactly(rng: Rng) -> None:
    """Against many points of each triangle, in any place, turned any way."""
    count, steps = 400, 60
    sizes = rng.uniform(0.05, 3, (count, 1, 1))
    corners = rng.normal(size=(count, 3, 3)) * sizes + rng.normal(size=(count, 1, 3))
    corners[:10, 2] = corners[:10, 1]  # lines
    corners[10:20, 1:] = corners[10:20, :1] + (0, 0, 1e-9)  # points
    push = rng.normal(size=(count, 3))
    push[:20] = 0, 0, 1
    push /= np.linalg.norm(push, axis=1, keepdims=True)
    corners[20:30, 1] = corners[20:30, 0] + 0.7 * push[20:30]  # seen as lines
    parts = [(i, j, steps - i - j) for i in range(steps + 1) for j in range(61 - i)]
    inner = np.einsum("sk,tkd->tsd", np.array(parts) / steps, corners)
    high = np.einsum("tsd,td->ts", inner, push)
    aside = np.linalg.norm(inner - high[..., None] * push[:, None], axis=-1)
    front = np.sqrt(np.maximum(1 - aside**2, 0))
    needed = np.where(aside <= 1, front - high, -np.inf).max(1)
    found = _shortfall(corners, push, 1.0)
    assert (found >= needed - 1e-9).all()
    is_met = np.isfinite(needed)
    assert is_met.sum() > 200
    # Points lie close only where they are, and the ball is steep at its rim.
    over = found[is_met] - needed[is_met]
    assert np.median(over) < 1e-3
    assert np.quantile(over, 0.9) < 0.05


@pytest.mark.parametrize("fine", [1, 2, 4])
@pytest.mark.parametrize("is_rough", [False, True])
def test_no_ball_shows_through(fine: int, is_rough: bool, rng: Rng) -> None:
    """Neither vertices nor anything between them is left inside a ball or behind it."""
    mesh, nodes = make_flat(fine)
    count = 40
    many = np.repeat(nodes, count, 0)
    if is_rough:
        many += rng.normal(0, 0.05, many.shape).astype(np.float32)
    balls, pushes = random_pushes(rng, count)
    before = net_points(mesh, many)
    points = before.copy()
    drape_net(mesh, points, balls, pushes, np.ones((count, 1), int), BALL)
    touched = 0
    for row in range(count):
        ball, push = balls[row, 0], pushes[row, 0]
        high, aside = around_ball(points[row], ball, push)
        assert (high >= profile(aside) - 1e-5).all()
        moved, drift = around_ball(points[row], before[row], push)
        assert (moved >= -1e-6).all()  # forward, and nowhere else
        assert drift.max() < 1e-5
        inner = inner_points(near_triangles(mesh, points[row], aside), points[row])
        away = np.linalg.norm(inner - ball, axis=-1)
        assert away.min() > BALL + 0.4 * GAP
        high, aside = around_ball(inner, ball, push)
        assert (high[aside < BALL] > 0).all()
        # Nothing is moved that need not be: what is high enough is as it was.
        first, aside = around_ball(before[row], ball, push)
        far = (first > profile(aside)) & (aside > BALL + 2 * COLUMN)
        np.testing.assert_array_equal(points[row][far], before[row][far])
        touched += (away.min() < BALL + 2 * GAP) and (points[row] != before[row]).any()
    assert touched > count / 4  # the net lies on balls, it does not flee from them


def test_a_bulge_is_a_cap_on_a_cone() -> None:
    """Finely cut, vertices lie where the ball and the cone on it are."""
    mesh, nodes = make_flat(8)
    points = net_points(mesh, nodes)
    ball, push = np.array([[[1.8, 1.4, 0.5]]]), np.array([[[0.0, 0.0, 1.0]]])
    drape_net(mesh, points, ball, push, np.ones((1, 1), int), BALL)
    high, aside = around_ball(points[0], ball[0, 0], push[0, 0])
    wanted = np.maximum(profile(aside), -0.5)  # the net hangs half a metre before it
    np.testing.assert_allclose(high, wanted, atol=0.012)
    away = aside > 0.2
    np.testing.assert_allclose(high[away], wanted[away], atol=1e-5)


def test_others_stay_where_they_are(rng: Rng) -> None:
    """Of other faces, of nets that nothing pushes, and what is held."""
    places, _ = honeycomb()
    masks = np.where(places[:, 0] < 1.85, 0b010, 0).astype(np.int32)
    masks[places[:, 0] > 1.55] |= 0b100
    held = (places[:, 1] < 1.2) | (places[:, 0] < 0.4)
    mesh, nodes = make_flat(2, masks=masks, held=held)
    before = net_points(mesh, np.repeat(nodes, 3, 0))
    points = before.copy()
    ball = np.repeat(np.array([[[1.7, 1.5, 0.3]]]), 3, 0)
    push = np.repeat(np.array([[[0.0, 0.0, 1.0]]]), 3, 0)
    push[1] = 0
    faces = np.array([[2], [2], [4]])
    drape_net(mesh, points, ball, push, faces, BALL)
    np.testing.assert_array_equal(points[1], before[1])
    for row, bit in ((0, 0b010), (2, 0b100)):
        is_free = (mesh.masks & bit > 0) & ~mesh.held
        np.testing.assert_array_equal(points[row][~is_free], before[row][~is_free])
        high, aside = around_ball(points[row], ball[row, 0], push[row, 0])
        assert (high >= profile(aside) - 1e-5)[is_free].all()
        assert (points[row][is_free] != before[row][is_free]).any()
    # A vertex between a held node and another may move.
    parts = mesh.weights * (mesh.parents < len(held))
    leans = (parts * held[np.minimum(mesh.parents, len(held) - 1)]).sum(1)
    partly = (leans > 0) & ~mesh.held
    assert (points[0][partly] != before[0][partly]).any()


def test_balls_that_push_one_net_all_count() -> None:
    mesh, nodes = make_flat()
    points = net_points(mesh, nodes)
    balls = np.array([[[1.2, 1.2, 0.4], [1.5, 1.3, 0.2], [2.4, 1.9, 0.5]]])
    pushes = np.array([[[0, 0, 1], [0, 0, 1], [0, 0, 1.0]]])
    drape_net(mesh, points, balls, pushes, np.ones((1, 3), int), BALL)
    for ball in balls[0]:
        high, aside = around_ball(points[0], ball, np.array([0, 0, 1.0]))
        assert (high >= profile(aside) - 1e-5).all()
        away = np.linalg.norm(inner_points(mesh.triangles, points[0]) - ball, axis=-1)
        assert away.min() > BALL


def test_arrays_that_do_not_fit_are_refused() -> None:
    mesh, nodes = make_flat()
    with pytest.raises(ShapeError, match="nodes: shape"):
        net_points(mesh, nodes[:, 1:])
    points = net_points(mesh, nodes)
    one, none = np.zeros((1, 1, 3)), np.zeros((1, 1), int)
    with pytest.raises(ShapeError, match="points"):
        drape_net(mesh, points[:, 1:], one, one, none, BALL)
    with pytest.raises(ShapeError, match="pushes: shape"):
        drape_net(mesh, points, one, one[0], none, BALL)


def test_a_net_is_drawn_from_both_sides() -> None:
    """White cords with clear cells, and far away a veil as light as they are thick."""
    backend = open_backend("raster")
    mesh, nodes = make_flat()
    item = build_net(upload_net(backend, mesh), net_points(mesh, nodes))
    target = init_target((128, 128), 1)
    middle = nodes[0].mean(0)
    cord = srgb_from_linear(COLOUR[:3]).round().astype(int)

    def seen(z: float, height: float) -> Any:
        eye = (float(middle[0]), float(middle[1]), z)
        camera = Camera(eye, (eye[0], eye[1], 0.0), height=height)
        scene = DrawList(camera, (item,), background=(0, 0, 0, 255))
        return backend.draw(scene, target).astype(int)[..., :3]

    front, behind = seen(3, 0.4), seen(-3, 0.4)
    for picture in (front, behind):
        np.testing.assert_allclose(picture.max((0, 1)), cord, atol=2)
        assert (picture.max(-1) == 0).mean() > 0.7
    np.testing.assert_allclose(front[:, ::-1].mean(), behind.mean(), rtol=0.05)
    share = net_picture()[..., 3].mean() / 255
    far = seen(3, 12.0)[60:68, 60:68]
    veil = srgb_from_linear(share * np.array(COLOUR[:3]))
    np.testing.assert_allclose(far.mean((0, 1)), veil, rtol=0.05)
    assert far.std() < 8  # no pattern that is not there
