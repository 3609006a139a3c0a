"""Uneven ground: what is uploaded, how it is painted, its colours in the shade."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.items.ground import picture as ground_picture
from flexor.draw.items.ground.build import (
    build_ground,
    shade_colours,
    upload_ground,
)
from flexor.draw.items.ground.mesh import (
    EXACT,
    LOOSEST,
    flat_within,
    ground_faces,
)
from flexor.draw.items.ground.picture import COLOURS, MOST, paint_ground
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.layout import SURFACES
from flexor.scene.stage.zone import Zone


def is_like(light: Any, name: str) -> bool:
    """Whether the mean of a patch is about one of a surface's two colours."""
    mean = np.asarray(light).reshape(-1, 3).mean(0)
    return any(np.allclose(mean, one, rtol=0.3) for one in COLOURS[name])


@pytest.mark.parametrize("plain", ["grass", "stone"])
def test_cells_have_the_colours_of_their_surfaces(plain: Any) -> None:
    kinds = np.repeat([[0, 1, 2]], 3, 0)
    ground = make_ground(np.zeros((4, 4)), (0, 0), 1.0, kinds)
    picture = paint_ground(ground, plain)
    assert picture.pixels.shape == (192, 192, 4)
    for cell, name in enumerate((plain, "sand", "water")):
        middle = slice(64 * cell + 24, 64 * cell + 40)
        assert is_like(picture.light[88:104, middle], name)
    levels = linear_from_srgb(picture.pixels[..., :3])
    np.testing.assert_allclose(levels, picture.light, atol=0.006)
    assert (picture.pixels[..., 3] == 255).all()


def test_borders_are_smooth() -> None:
    rows, columns = np.indices((20, 20)) - 9.5
    kinds = (np.hypot(rows, columns) < 6).astype(int)
    ground = make_ground(np.zeros((21, 21)), (0, 0), 0.25, kinds)
    light = paint_ground(ground, "grass").light
    is_sand = light[..., 0] > 0.33
    # As long as a circle, not as the steps of its cells, which are 4 / pi as long.
    edges = np.abs(np.diff(is_sand.astype(int), axis=0)).sum()
    high, wide = is_sand.shape
    area = is_sand.sum() * (5 / high) * (5 / wide)
    assert area == pytest.approx(np.pi * 1.5**2, rel=0.06)
    radius = np.hypot(*(np.argwhere(is_sand).T - (high - 1) / 2)) * 5 / high
    outer = radius[radius > 0].max()
    assert edges > 0
    assert outer < 1.5 + 0.15


def test_large_grounds_have_pictures_of_bounded_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as small:
        small.setattr(ground_picture, "MOST", 400)  # to be quick
        picture = paint_ground(flat_ground(500.0))
    assert max(picture.pixels.shape) <= 400
    thin = paint_ground(make_ground(np.zeros((2, 400)), (0, 0), 1.0))
    assert thin.pixels.shape[1] <= MOST
    assert thin.pixels.shape[0] >= 4


def test_the_same_ground_is_painted_the_same() -> None:
    one, two = (paint_ground(flat_ground(8.0)).pixels for _ in range(2))
    assert (one == two).all()
    assert (one != paint_ground(flat_ground(8.0), seed=1).pixels).any()


def test_ground_is_its_mesh() -> None:
    rng = np.random.default_rng(3)
    backend: Any = open_backend("record")
    ground = make_ground(rng.normal(size=(4, 5)), (-1, 2), 0.5)
    assets = upload_ground(backend, ground)
    mesh = backend.meshes[assets.mesh]
    places, faces = ground.mesh()
    drawn = assets.positions[mesh.triangles]
    np.testing.assert_allclose(drawn, places[faces], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(assets.normals, axis=1), 1, atol=1e-6)
    wanted = (assets.positions[:, [0, 2]] - [-1, 2]) / [2.0, 1.5]
    np.testing.assert_allclose(mesh.texcoords, wanted, atol=1e-6)
    item = build_ground(assets)
    assert item.normals is assets.normals
    assert item.look.texture == assets.texture


def watertight(cells: Any, corners: Any, columns: int) -> tuple[Any, Any]:
    """Rows and columns of triangles' corners, if every edge is one of two faces."""
    row = cells // columns + np.array([0, 1, 1, 0])[corners]
    column = cells % columns + np.array([0, 0, 1, 1])[corners]
    spots = row * (columns + 1) + column
    edges: dict[Any, int] = {}
    for face in spots.tolist():
        for one, two in zip(face, face[1:] + face[:1], strict=True):
            edges[one, two] = edges.get((one, two), 0) + 1
    assert set(edges.values()) == {1}
    rows = int(row.max())
    for one, two in edges:
        if (two, one) not in edges:
            (r, c), (s, d) = divmod(one, columns + 1), divmod(two, columns + 1)
            assert r == s in (0, rows) or c == d in (0, columns), "a gap"
    return row, column


def test_flat_ground_is_drawn_with_few_triangles() -> None:
    rng = np.random.default_rng(2)
    heights = np.zeros((41, 53))
    heights[:, 20:] += 0.1 * np.arange(33)  # a slope
    heights[5:14, 30:37] += rng.normal(0, 0.1, (9, 7))
    within = np.full((40, 52), 5e-4)
    cells, corners = ground_faces(heights, within)
    row, column = watertight(cells, corners, 52)
    assert 100 < len(cells) < 0.3 * 2 * 40 * 52
    area = 0.5 * (
        (column[:, 1] - column[:, 0]) * (row[:, 2] - row[:, 0])
        - (column[:, 2] - column[:, 0]) * (row[:, 1] - row[:, 0])
    )
    assert (area < 0).all(), "seen from above"
    assert -area.sum() == 40 * 52
    # Cells that are not flat are their own two triangles.
    rough = (area == -0.5).sum()
    assert rough >= 2 * 8 * 6


def test_no_place_is_drawn_farther_from_where_it_is_than_it_may_be() -> None:
    rng = np.random.default_rng(7)
    heights = 0.02 * rng.random((33, 33)) + 0.01 * np.arange(33)
    within = np.full((32, 32), 5e-4)
    within[:, 16:] = 0.03
    ground = make_ground(heights, (0, 0), 1.0)
    backend: Any = open_backend("record")
    assets = upload_ground(backend, ground, within=within)
    assert len(assets.positions) < 0.65 * 33 * 33
    faces = backend.meshes[assets.mesh].triangles
    for a, b, c in assets.positions[faces].astype(np.float64):
        normal = np.cross(b - a, c - a)
        low, high = np.minimum(a, np.minimum(b, c)), np.maximum(a, np.maximum(b, c))
        for r in range(int(low[2]), int(high[2]) + 1):
            for q in range(int(low[0]), int(high[0]) + 1):
                sides = [
                    (t[0] - s[0]) * (r - s[2]) - (t[2] - s[2]) * (q - s[0])
                    for s, t in ((a, b), (b, c), (c, a))
                ]
                if max(sides) <= 0:
                    off = normal[0] * (q - a[0]) + normal[2] * (r - a[2])
                    y = a[1] - off / normal[1]
                    may = 0.06 if q > 16 else 1.1e-3
                    assert abs(y - heights[r, q]) <= may


def test_only_where_nobody_comes_may_ground_be_off() -> None:
    ground = make_ground(np.zeros((41, 41)), (-10, -10), 0.5)
    corners = np.array([(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)])
    for keeps, most in (("in", LOOSEST), ("out", 0.0)):
        within = flat_within(ground, (Zone(corners, keeps),))  # type: ignore[arg-type]
        assert within[15:25, 15:25].max() == EXACT
        assert within.max() == pytest.approx(EXACT + most)


def test_normals_are_those_of_a_slope() -> None:
    backend: Any = open_backend("record")
    x, z = np.meshgrid(np.arange(5.0), np.arange(4.0))
    assets = upload_ground(backend, make_ground(0.3 * x - 0.2 * z, (0, 0), 1.0))
    wanted = np.array([-0.3, 1, 0.2]) / np.linalg.norm([-0.3, 1, 0.2])
    # One vertex for each corner of a block of cells, and one in the middle of each.
    assert 14 <= len(assets.normals) <= 20
    np.testing.assert_allclose(assets.normals - wanted, 0, atol=1e-6)


def test_steps_keep_their_edges_and_gentle_bends_are_round() -> None:
    backend: Any = open_backend("record")
    for rise, is_round in ((0.2, True), (2.0, False)):
        heights = np.zeros((3, 4))
        heights[:, 2:] = rise
        assets = upload_ground(backend, make_ground(heights, (0, 0), 1.0))
        faces = backend.meshes[assets.mesh].faces
        level = assets.normals[faces[0]]  # a cell before the rise
        # Cells share the vertices between them, but for those at an edge.
        assert len(assets.normals) == (12 if is_round else 18)
        corner = level[2]  # where it meets the cell that rises
        assert (corner[1] < 0.999) == is_round
        np.testing.assert_allclose(level[0], [0, 1, 0], atol=1e-6)


def test_shade_is_the_grounds_colour_in_less_light() -> None:
    kinds = np.repeat([[1, 2]], 2, 0)
    ground = make_ground(np.zeros((3, 3)), (0, 0), 1.0, kinds)
    assets = upload_ground(open_backend("record"), ground)
    places = np.array([[0.3, 0, 0.5], [1.7, 0, 0.5], [-9, 0, 0.2], [30, 0, 1.7]])
    left = (0.5, 0.25, 0.125)
    colours = shade_colours(assets, places.astype(np.float32), left)
    assert colours.shape == (4, 4)
    assert (colours[:, 3] == 1).all()
    picture = assets.picture.light
    np.testing.assert_allclose(
        colours[:, :3] / left,
        picture[[32, 32, 12, 108], [19, 108, 0, 127]],
        rtol=1e-5,
    )


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(SettingError, match="plain: 'mud'"):
        upload_ground(open_backend("record"), flat_ground(), "mud")  # type: ignore[arg-type]


# Room


def patches(cells: int, step: float) -> Ground:
    """Ground of all surfaces, uneven."""
    surfaces = np.zeros((cells, cells), np.uint8)
    surfaces[: cells // 3, : cells // 2] = SURFACES.index("sand")
    surfaces[-cells // 3 :, cells // 2 :] = SURFACES.index("water")
    x = np.arange(cells + 1)
    return Ground(0.1 * np.sin(x / 3) + 0 * x[:, None], (0.0, 0.0), step, surfaces)


@pytest.mark.parametrize("is_clear", [False, True])
def test_bands_make_no_difference(
    is_clear: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = patches(12, 0.25)
    whole = paint_ground(ground, is_clear=is_clear)
    assert whole.pixels.shape[0] > ground_picture.BAND_ROWS
    for rows in (7, 10_000):
        monkeypatch.setattr(ground_picture, "BAND_ROWS", rows)
        again = paint_ground(ground, is_clear=is_clear)
        np.testing.assert_array_equal(again.pixels, whole.pixels)
        np.testing.assert_array_equal(again.light, whole.light)


def test_large_grounds_take_little_more_room_than_their_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """80 metres, with half the pixels: what is kept, and no more than that again."""
    monkeypatch.setattr(ground_picture, "MOST", 1024)
    ground = patches(160, 0.5)
    upload_ground(open_backend("raster"), patches(4, 0.5))  # all is loaded
    backend = open_backend("raster")
    tracemalloc.start()
    try:
        assets = upload_ground(backend, ground)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert assets.picture.pixels.shape == (1024, 1024, 4)
    assert kept < 40e6
    assert peak < 60e6
