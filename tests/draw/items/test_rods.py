"""Round rods: closed, round, joined at corners, and turned by headings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.rods import PAINT, SIDES, RodAssets, build_rods, upload_rods
from flexor.draw.target import init_target
from flexor.errors import ShapeError
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
# Two posts and a bar, metres; nothing of it is alike on both sides.
GOAL = np.array(
    [
        [[-1, 0, 0.5], [-1, 2, 0.5]],
        [[-1, 2, 0.5], [3, 2, 0.5]],
        [[3, 2, 0.5], [3, 0, 0.5]],
    ],
    np.float32,
)
THICK = np.full(3, 0.06, np.float32)


def recorded(ends: Any, radii: Any) -> tuple[RodAssets, Any]:
    backend: Any = open_backend("record")
    assets = upload_rods(backend, ends, radii)
    return assets, backend.meshes[assets.mesh]


def to_rod(points: Any, ends: Any) -> Any:
    """How far points (P, 3) are from the line between two ends, and the way to them."""
    start, way = ends[0], ends[1] - ends[0]
    share = np.clip((points - start) @ way / max(way @ way, 1e-30), 0, 1)
    aside = points - start - share[:, None] * way
    return np.linalg.norm(aside, axis=1), aside


def test_rods_are_round_and_end_in_half_spheres(rng: Rng) -> None:
    ends = rng.normal(size=(7, 2, 3))
    ends[:3, 1] = ends[:3, 0] + np.diag([1, -2, 3])  # along the axes
    ends[3, 1] = ends[3, 0]  # a ball
    radii = rng.uniform(0.02, 0.3, 7)
    assets, mesh = recorded(ends, radii)
    each = len(assets.positions) // 7
    assert mesh.vertex_count == len(assets.positions) == 7 * each
    for rod in range(7):
        rows = slice(rod * each, (rod + 1) * each)
        away, aside = to_rod(assets.positions[rows].astype(np.float64), ends[rod])
        np.testing.assert_allclose(away, radii[rod], atol=1e-5)
        np.testing.assert_allclose(assets.normals[rows] * radii[rod], aside, atol=1e-5)
        # It reaches a radius beyond both ends.
        way = ends[rod, 1] - ends[rod, 0]
        way = way / np.linalg.norm(way) if way.any() else np.array([0, 1, 0])
        along = (assets.positions[rows] - ends[rod, 0]) @ way
        assert along.min() == pytest.approx(-radii[rod], abs=1e-5)
        beyond = (ends[rod, 1] - ends[rod, 0]) @ way + radii[rod]
        assert along.max() == pytest.approx(beyond, abs=1e-5)


def test_rods_are_closed_and_face_outward() -> None:
    assets, mesh = recorded(GOAL, THICK)
    faces = mesh.faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges)
    assert {(b, a) for a, b in there} == there
    a, b, c = assets.positions[faces].swapaxes(0, 1).astype(np.float64)
    outward = np.cross(b - a, c - a)
    assert (np.linalg.norm(outward, axis=1) > 1e-9).all()
    assert ((outward * assets.normals[faces].sum(1)).sum(1) > 0).all()
    # 16 sides enclose what a prism of so many does.
    solid = (a * outward).sum() / 6
    ring = SIDES / 2 * np.sin(2 * np.pi / SIDES) * 0.06**2
    assert solid == pytest.approx(ring * (8 + 3 * 4 / 3 * 0.06), rel=0.01)


def test_rods_turn_by_their_headings(rng: Rng) -> None:
    assets, _ = recorded(GOAL, THICK)
    places = rng.normal(size=(3, 3)).astype(np.float32)
    headings = np.array([0, np.pi / 2, 0.7], np.float32)
    item = build_rods(assets, places, headings)
    assert item.look is not None
    assert item.look.colour == PAINT
    x, y, z = assets.positions.T
    np.testing.assert_array_equal(item.positions[0], assets.positions + places[0])
    quarter = np.stack([z, y, -x], 1)  # +z becomes +x
    np.testing.assert_allclose(item.positions[1], quarter + places[1], atol=1e-6)
    c, s = np.cos(0.7), np.sin(0.7)
    for made, given, place in (
        (item.positions, assets.positions, places[2]),
        (item.normals, assets.normals, np.zeros(3)),
    ):
        assert made is not None
        turned = given @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        np.testing.assert_allclose(made[2], turned + place, atol=1e-6)


def test_corners_of_a_goal_look_joined() -> None:
    """No light comes through where a post meets the bar, nor anywhere between."""
    backend = open_backend("raster")
    assets = upload_rods(backend, GOAL, THICK)
    item = build_rods(assets, np.zeros((1, 3), np.float32), np.zeros(1, np.float32))
    target = init_target((200, 200), 1, ("depth",))
    camera = Camera((-1.2, 2.2, 4), (-0.8, 1.8, 0.5), height=0.6)
    backend.draw(DrawList(camera, (item,)), target)
    assert target.depth is not None
    is_rod = np.isfinite(target.depth)
    for end in GOAL[0]:
        steps = np.linspace(GOAL[1, 0], end, 400)
        bar = np.linspace(GOAL[1, 0], GOAL[1, 1], 400)
        x, y, _ = camera.project(np.concatenate([steps, bar]), (200, 200)).T
        inside = (x > 0) & (x < 200) & (y > 0) & (y < 200)
        assert inside.sum() > 50
        assert is_rod[y[inside].astype(int), x[inside].astype(int)].all()


def test_rods_that_are_none_are_refused() -> None:
    backend = open_backend("record")
    with pytest.raises(ShapeError, match="expected \\(R, 2, 3\\) and \\(R,\\)"):
        upload_rods(backend, GOAL, THICK[:2])
    with pytest.raises(ShapeError, match="radii above 0"):
        upload_rods(backend, GOAL, -THICK)
    assets, _ = recorded(GOAL, THICK)
    with pytest.raises(ShapeError, match="headings"):
        build_rods(assets, np.zeros((2, 3), np.float32), np.zeros(1, np.float32))
