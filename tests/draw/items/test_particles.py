"""Leaves, flakes, drops, water and afterimages: what is uploaded, and what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawItem, DrawList
from flexor.draw.items.afterimages import build_afterimage, upload_afterimages
from flexor.draw.items.effect_textures import LEAF_TILES, SPLASH_TILES
from flexor.draw.items.particles import (
    build_cloud_shadows,
    build_leaves,
    build_snow,
    build_splashes,
    upload_leaves,
    upload_snow,
    upload_splashes,
)
from flexor.draw.items.water import build_water, upload_water, water_cells
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import init_target
from flexor.samples import mannequin
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.stage.ground import make_ground

WHITE = (Light("ambient", (1.0, 1.0, 1.0)),)


def quads(count: int, size: float = 0.5) -> Any:
    """Squares side by side, seen from +z, from the lower left counter-clockwise."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) * size
    return (corners + np.arange(count)[:, None, None] * [1, 0, 0]).astype(np.float32)


def seen(backend: Any, *items: DrawItem, wide: float = 4) -> Any:
    camera = Camera((wide / 2 - 0.25, 0.25, 5), (wide / 2 - 0.25, 0.25, 0), height=1)
    background = (90, 120, 60, 255)
    target = init_target((100 * int(wide), 100), 1)
    draw_list = DrawList(camera, items, (), WHITE, background)
    return backend.draw(draw_list, target)[..., :3].astype(int)


def test_leaves_show_the_tiles_of_their_kinds() -> None:
    backend: Any = open_backend("record")
    kinds = np.array([0, 3, 7, 8], np.uint8)
    assets = upload_leaves(backend, kinds)
    mesh = backend.meshes[assets.mesh]
    middles = mesh.texcoords.reshape(-1, 4, 2).mean(1)
    columns, rows = LEAF_TILES
    wanted = [((k % 8 % columns + 0.5) / columns, (k % 8 // columns + 0.5) / rows)
              for k in kinds.tolist()]  # fmt: skip
    np.testing.assert_allclose(middles, wanted, atol=1e-6)
    item = build_leaves(assets, quads(4))
    assert item.look.alpha == "mask"
    assert item.look.cull == "none"


def test_leaves_and_flakes_are_seen_and_seen_past() -> None:
    backend = open_backend("raster")
    bare = seen(backend)
    for item in (
        build_leaves(upload_leaves(backend, np.zeros(4, np.uint8)), quads(4)),
        build_snow(upload_snow(backend, 4), quads(4)),
    ):
        changed = (seen(backend, item) != bare).any(-1)
        assert 0.02 < changed.mean() < 0.25, "their shapes, not whole squares"
        for column in range(4):  # all four
            assert changed[:, 100 * column : 100 * column + 100].any()


def test_drops_show_their_pattern() -> None:
    backend: Any = open_backend("record")
    assets = upload_splashes(backend)
    patterns = np.array([2, 9, 9, 31, 9], np.uint8)
    is_water = np.array([True, True, False, True, True])
    light = (0.5, 0.6, 0.7)
    item = build_splashes(assets, quads(5), patterns, is_water, light)
    assert item is not None
    assert item.look.colour == (*light, 1.0)
    mesh = backend.meshes[item.mesh]
    have = item.positions.reshape(-1, 4, 3)
    size = np.ptp(have, axis=1)
    rows = np.flatnonzero(size.max(1) > 0)
    assert len(rows) == 4, "of the last pattern of water nothing is left"
    columns, high = SPLASH_TILES
    found = {}
    for row in rows:
        spots = mesh.texcoords[mesh.faces[row]].astype(float)
        u, v = spots.mean(0) * (columns, 2 * high)
        tile = int(u) + columns * int(v)
        # What is seen of the tile is where it would be if all of it were shown.
        number = int(have[row, :, 0].mean())
        inside = (spots[0] * (columns, 2 * high)) % 1
        corner = have[row, 0] - quads(5)[number, 0]
        np.testing.assert_allclose(corner[0] / 0.5, inside[0], atol=1e-5)
        np.testing.assert_allclose(1 - corner[1] / 0.5, inside[1] or 1, atol=1e-5)
        found[number] = tile
    assert found == {0: 2, 1: 9, 2: 32 + 9, 4: 9}
    assert build_splashes(assets, quads(0), patterns[:0], is_water[:0]) is None
    many = np.full(200, 5, np.uint8)
    item = build_splashes(assets, quads(200), many, many > 0)
    assert item is not None
    drawn = (np.ptp(item.positions.reshape(-1, 4, 3), axis=1).max(1) > 0).sum()
    assert drawn == 128, "of one pattern as many as there is room for"


def test_water_lies_where_the_ground_is_lower() -> None:
    heights = np.zeros((9, 9))
    heights[3:6, 3:6] = -0.3
    kinds = np.zeros((8, 8), int)
    kinds[3:5, 3:5] = 2
    ground = make_ground(heights, (-4, -4), 1.0, kinds)
    cells = water_cells(ground, -0.1)
    wanted = np.zeros((8, 8), bool)
    wanted[2:6, 2:6] = True  # all that reach below the surface
    assert (cells == wanted).all()
    assert not water_cells(ground, -0.5).any()
    dry = make_ground(heights, (-4, -4), 1.0)
    assert not water_cells(dry, -0.1).any(), "a hollow is no pool"


def test_water_is_seen_through() -> None:
    backend: Any = open_backend("record")
    kinds = np.full((2, 2), 2)
    ground = make_ground(np.zeros((3, 3)), (0, 0), 1.0, kinds)
    pictures = [np.full((8, 8, 4), level, np.uint8) for level in (10, 200)]
    assets = upload_water(backend, ground, 0.2, pictures)
    assert assets is not None
    (patch,) = assets.patches
    assert (patch.positions[:, 1] == np.float32(0.2)).all()
    mesh = backend.meshes[patch.mesh]
    assert len(mesh.faces) == 4
    edges = np.cross(
        *np.diff(patch.positions[mesh.faces[:, :3]], axis=1).swapaxes(0, 1)
    )
    assert (edges[:, 1] > 0).all(), "its front is above"
    eye, sky, light = (1, 5, 1), (0.4, 0.5, 0.6), (0.9, 0.9, 0.9)
    (item,) = build_water(assets, np.array([1], np.int32), eye, sky, light)
    assert item.look.texture == assets.textures[1]
    assert item.look.alpha == "blend"
    above = item.colours[:, 3]
    assert (above < 0.9).all()
    # Seen along the surface it shows the sky more than the floor.
    (item,) = build_water(assets, np.array([0], np.int32), (9, 0.5, 1), sky, light)
    assert item.look.texture == assets.textures[0]
    assert (item.colours[:, 3] > above).all()
    assert upload_water(backend, ground, -1.0, pictures) is None


def test_water_gets_clear_at_the_shore_and_dark_where_it_is_deep() -> None:
    backend: Any = open_backend("record")
    heights = np.tile(np.linspace(-1.5, 0.5, 9), (9, 1))  # a beach along x
    ground = make_ground(heights, (0, 0), 0.5, np.full((8, 8), 2))
    picture = [np.full((8, 8, 4), 99, np.uint8)]
    assets = upload_water(backend, ground, 0.0, picture)
    assert assets is not None
    (patch,) = assets.patches
    depth = 1.5 - patch.positions[:, 0] * 0.5
    order = np.argsort(depth)
    alpha = patch.colours[order, 3]
    assert (np.diff(alpha) >= -1e-6).all()
    assert (alpha[depth[order] <= 0] == 0).all()
    assert alpha[-1] > 0.6
    assert patch.colours[order[-1], 0] < patch.colours[order[0], 0]


def test_far_patches_of_water_show_other_pictures_than_near_ones() -> None:
    backend: Any = open_backend("record")
    ground = make_ground(np.zeros((5, 121)), (0, 0), 1.0, np.full((4, 120), 2))
    pictures = [np.full((8, 8, 4), level, np.uint8) for level in range(8)]
    assets = upload_water(backend, ground, 0.1, pictures)
    assert assets is not None
    assert 15 < len(assets.patches) <= 64
    assert sum(len(backend.meshes[p.mesh].faces) for p in assets.patches) == 4 * 480
    for patch in assets.patches:
        assert np.ptp(patch.positions[:, 0]) <= 6.5
    assert np.ptp(assets.middles[:, 0]) > 100
    frames = np.arange(len(assets.patches), dtype=np.int32) % 8
    items = list(build_water(assets, frames, (0, 2, 2), (0, 0, 0), (1, 1, 1)))
    found = [item.look.texture for item in items]
    assert found == [assets.textures[frame] for frame in frames]
    # However much there is, patches are few.
    ground = make_ground(np.zeros((201, 201)), (0, 0), 1.0, np.full((200, 200), 2))
    assets = upload_water(backend, ground, 0.1, pictures)
    assert assets is not None
    assert 16 < len(assets.patches) <= 64


def test_sand_in_the_air_darkens_the_ground_below() -> None:
    backend: Any = open_backend("record")
    assets = upload_splashes(backend)
    places = np.array([[0, 0.5, 0], [1, 0, 2]], np.float32)
    floors = np.zeros(2, np.float32)
    item = build_cloud_shadows(
        assets, places.repeat(3, 0), floors.repeat(3), 0.4, (0.5, -1.0, -0.25)
    )
    assert item is not None, "one shadow for three"
    middles = item.positions.reshape(-1, 4, 3)[:2].mean(1)
    np.testing.assert_allclose(middles[:, ::2], [[0.25, -0.125], [1, 2]], atol=1e-6)
    assert (middles[:, 1] < 0.05).all()
    assert item.colours is not None
    assert item.colours[0, 3] < item.colours[4, 3], "the higher, the fainter"
    assert build_cloud_shadows(assets, places, floors, 0.4, (1, 0, 0)) is None
    assert build_cloud_shadows(assets, places[:0], floors[:0], 0.4, (0, -1, 0)) is None


@pytest.mark.parametrize("style", ["transparent", "mesh", "lines"])
def test_afterimages_in_each_style(style: Any) -> None:
    backend: Any = open_backend("record")
    assets, _ = upload_scene(backend, mannequin().scene)
    whole = assets.parts[0].mesh
    assert whole is not None
    faces = whole.triangles[:50]
    rows, inside = np.unique(faces, return_inverse=True)
    own = upload_afterimages(
        assets, [rows.astype(np.int32)], [inside.reshape(-1, 3).astype(np.int32)]
    )
    mesh = backend.meshes[own.meshes[0]]
    assert mesh.vertex_count == len(rows)
    if whole.texcoords is not None:
        assert (mesh.texcoords == whole.texcoords[rows]).all()
    rng = np.random.default_rng(1)
    positions = rng.normal(size=(2, len(rows), 3)).astype(np.float32)
    tints = np.array([[1, 0, 0, 1], [0, 1, 0, 1]], np.float32)
    items, lines = build_afterimage(
        own, [positions], [positions], tints, 0.4, style, 1.5
    )
    if style == "lines":
        assert not items
        assert lines[0].colours[3] == np.float32(0.4)
        assert lines[0].width == 1.5
        assert len(lines[0].points) == 2 * len(own.edges[0])
        return
    (item,) = items
    assert not lines
    assert item.tints is tints
    assert item.positions is positions
    if style == "mesh":
        assert item.look.opacity == 0.4
    else:
        assert item.look.alpha == "blend"
        assert item.look.colour[3] == pytest.approx(0.4 * own.looks[0].colour[3])


def test_parts_without_faces_are_left_out() -> None:
    backend: Any = open_backend("record")
    assets, _ = upload_scene(backend, mannequin().scene)
    none = np.zeros(0, np.int32)
    own = upload_afterimages(assets, [none], [none.reshape(0, 3)])
    assert own.meshes == (-1,)
    empty = np.zeros((1, 0, 3), np.float32)
    tints = np.ones((1, 4), np.float32)
    assert build_afterimage(own, [empty], [empty], tints, 0.5) == ([], [])
