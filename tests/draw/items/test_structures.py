"""Structures: shapes that are closed, modes, and walls of which a part is changed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.items.stonework import FOOT, TILE, TONE, paint_stone
from flexor.draw.items.structures import build_structures, upload_structures
from flexor.draw.target import init_target
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.stage.structure import Fit, Mode, Structure
from flexor.scene.stage.zone import Zone

WHITE = (Light("ambient", (1.0, 1.0, 1.0)),)
PILLAR = Structure(
    name="pillar", middle=(1, -2), radius=0.5, low=-0.2, high=2.5, colour=(1, 0, 0)
)
WALL = Structure(
    name="wall", ends=((-2, 1), (2, 4)), thickness=0.4, high=3.0, colour=(0, 1, 0)
)
HUT = Structure(
    name="hut", corners=((-2, 1), (1, 1), (1, 2), (-2, 2)), fit="segment", high=2.2
)
ELL = Structure(
    name="ell",
    corners=((0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)),
    fit="circumscribed",
)
STAR = Structure(
    name="star",
    corners=tuple(
        (
            (2 - k % 2) * math.sin(k * math.pi / 7),
            (2 - k % 2) * math.cos(k * math.pi / 7),
        )
        for k in range(14)
    ),
)
SHAPES = [
    HUT,
    replace(HUT, corners=HUT.corners[::-1], name="other way round"),  # type: ignore[index]
    PILLAR,
    WALL,
    replace(WALL, ends=((2, 4), (-2, 1)), low=1.0, name="turned and raised"),
    replace(WALL, ends=((0, 0), (0, -3)), name="along z"),
    replace(WALL, ends=((1, 0), (-3, 0)), name="along x"),
]


def built(
    *structures: Structure,
    shown: Any = 1.0,
    parts: Any = (0.0, 0.0),
    backend: Any = None,
) -> tuple[list[DrawItem], list[DrawLines], Any]:
    """Items, lines and the meshes of the items."""
    own: Any = open_backend("record") if backend is None else backend
    assets = upload_structures(own, structures)
    count = len(structures)
    items, lines = build_structures(
        assets,
        np.broadcast_to(np.array(shown, np.float64), count),
        np.broadcast_to(np.array(parts, np.float64), (count, 2)),
    )
    meshes = [own.meshes[item.mesh] for item in items] if backend is None else []
    return items, lines, meshes


def triangles(item: DrawItem, mesh: Any) -> Any:
    """Corners (T, 3, 3)."""
    assert len(item.positions) == mesh.vertex_count
    return item.positions[mesh.triangles].astype(np.float64)


def volume(corners: Any) -> float:
    """Inside of a closed shape; below 0 if its faces look inward."""
    a, b, c = np.moveaxis(corners - corners.mean((0, 1)), 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("own", [*SHAPES, ELL, STAR], ids=lambda own: own.name)
def test_shapes_are_closed_and_look_outward(own: Structure) -> None:
    (item,), lines, (mesh,) = built(own)
    assert not lines
    corners = triangles(item, mesh)
    # Every edge is gone along once each way.
    edges: dict[Any, int] = {}
    for face in np.round(corners, 4).tolist():
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            way = (tuple(a), tuple(b))
            edges[way] = edges.get(way, 0) + 1
    assert set(edges.values()) == {1}
    assert all((b, a) in edges for a, b in edges)
    if own.corners is not None:
        area = abs(Zone(own.footprint).area)
    elif own.ends is None:
        assert own.radius is not None
        area = 16 * math.sin(math.pi / 16) * own.radius**2  # of 32 sides
    else:
        assert own.thickness is not None
        area = math.dist(*own.ends) * own.thickness
    assert volume(corners) == pytest.approx(area * (own.high - own.low), rel=1e-5)


@pytest.mark.parametrize("own", SHAPES, ids=lambda own: own.name)
def test_normals_look_outward(own: Structure) -> None:
    (item,), _, (mesh,) = built(own)
    assert item.normals is not None
    np.testing.assert_allclose(np.linalg.norm(item.normals, axis=1), 1, atol=1e-6)
    corners = triangles(item, mesh)
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    smooth = item.normals[mesh.triangles]
    # Those of corners are within half a side of a pillar from those of faces.
    assert ((smooth * flat[:, None]).sum(-1) > 0.99).all()
    middle = item.positions.mean(0)
    away = (item.positions - middle) * item.normals
    assert (away.sum(1) > 0).all()


def test_a_pillar_is_where_it_is_said() -> None:
    (item,), _, _ = built(PILLAR)
    places = item.positions
    assert places[:, 1].min() == np.float32(-0.2)
    assert places[:, 1].max() == 2.5
    away = np.hypot(places[:, 0] - 1, places[:, 2] + 2)
    np.testing.assert_allclose(away, 0.5, atol=1e-6)


def test_a_hut_has_its_corners() -> None:
    """Whatever stands for it where it may be in the way."""
    for fit in get_args(Fit):
        own = replace(HUT, fit=fit, middle=None, radius=None, ends=None, thickness=None)
        (item,), _, (mesh,) = built(own)
        low, high = item.positions.min(0), item.positions.max(0)
        np.testing.assert_allclose(low, [-2, 0, 1])
        np.testing.assert_allclose(high, [1, 2.2, 2], rtol=1e-6)
        roof = triangles(item, mesh)
        roof = roof[(roof[..., 1] > 2).all(1)]
        sizes = np.cross(roof[:, 1] - roof[:, 0], roof[:, 2] - roof[:, 0])[:, 1] / 2
        assert (sizes > 0).all()
        assert sizes.sum() == pytest.approx(3)
    # In the way, all of it is changed, as it has no parts.
    items, lines, _ = built(replace(HUT, mode="lines"), shown=0.5, parts=(0.2, 0.4))
    assert len(items) == 1
    assert len(lines[0].points) == 12


def test_a_wall_is_where_it_is_said() -> None:
    (item,), _, _ = built(WALL)
    way, side = np.array([0.8, 0.6]), np.array([-0.6, 0.8])
    flat = item.positions[:, [0, 2]].astype(np.float64) - (-2, 1)
    np.testing.assert_allclose(np.unique(np.round(flat @ way, 5)), [0, 5])
    np.testing.assert_allclose(np.unique(np.round(flat @ side, 5)), [-0.2, 0.2])
    assert np.unique(item.positions[:, 1]).tolist() == [0, 3]


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("own", [PILLAR, WALL], ids=lambda own: own.name)
def test_what_is_not_in_the_way_is_drawn_as_it_is(own: Structure, mode: Mode) -> None:
    (item,), lines, _ = built(replace(own, mode=mode))
    assert not lines
    assert item.look is not None
    assert item.look.alpha == "opaque"
    assert item.look.opacity == 1
    # Its own colour is the mean of its stones.
    mean = [TONE * part for part in item.look.colour[:3]]
    assert mean == pytest.approx(own.colour)
    assert item.look.colour[3] == 1


@pytest.mark.parametrize("own", [PILLAR, WALL], ids=lambda own: own.name)
def test_modes(own: Structure) -> None:
    def of(mode: Mode, shown: float) -> tuple[list[DrawItem], list[DrawLines]]:
        return built(replace(own, mode=mode), shown=shown, parts=(0, 1))[:2]

    assert of("hide", 0.0) == ([], [])
    (item,), lines = of("hide", 0.25)
    assert (item.look.colour[3], item.look.alpha) == (0.25, "blend")  # type: ignore[union-attr]
    assert not lines
    (item,), lines = of("mesh", 0.0)
    assert (item.look.opacity, item.look.alpha) == (0.5, "opaque")  # type: ignore[union-attr]
    assert not lines
    (item,), _ = of("mesh", 0.5)
    assert item.look.opacity == 0.75  # type: ignore[union-attr]
    (item,), lines = of("fade", 0.0)
    assert (item.look.colour[3], item.look.alpha) == (0.2, "blend")  # type: ignore[union-attr]
    assert not lines
    (item,), _ = of("fade", 0.5)
    assert item.look.colour[3] == pytest.approx(0.6)  # type: ignore[union-attr]
    items, (line,) = of("lines", 0.0)
    assert not items, "edges alone"
    assert line.colours[3] == 1
    (item,), (line,) = of("lines", 0.75)
    assert item.look.colour[3] == 0.75  # type: ignore[union-attr]
    assert line.colours[3] == pytest.approx(0.25)


def test_lines_are_the_edges() -> None:
    _, (line,), _ = built(replace(WALL, mode="lines"), shown=0.0, parts=(0, 1))
    assert line.points.shape == (12, 2, 3)
    lengths = np.linalg.norm(line.points[:, 0] - line.points[:, 1], axis=1)
    expected = [0.4] * 4 + [3.0] * 4 + [5.0] * 4
    np.testing.assert_allclose(sorted(lengths), expected, atol=1e-6)
    whole, _, _ = built(WALL)
    corners = {tuple(p) for p in np.round(whole[0].positions, 4).tolist()}
    ends = {tuple(p) for p in np.round(line.points.reshape(-1, 3), 4).tolist()}
    assert ends == corners
    _, (line,), _ = built(replace(PILLAR, mode="lines"), shown=0.0)
    heights = line.points[..., 1]
    uprights = line.points[heights[:, 0] != heights[:, 1]]
    assert len(uprights) == 8
    for end in (np.float32(-0.2), np.float32(2.5)):
        assert ((heights == end).all(1)).sum() == 32, "a rim"


@pytest.mark.parametrize("part", [(0.25, 0.5), (0.0, 0.5), (0.4, 1.0), (0.0, 1.0)])
def test_only_the_obstructed_part_of_a_wall_is_changed(
    part: tuple[float, float],
) -> None:
    items, _, meshes = built(replace(WALL, mode="mesh"), shown=0.0, parts=part)
    spans = []
    for item, mesh in zip(items, meshes, strict=True):
        assert volume(triangles(item, mesh)) > 0
        along = (item.positions[:, [0, 2]] - (-2, 1)) @ (0.8, 0.6) / 5
        assert item.look is not None
        spans.append((along.min(), along.max(), item.look.opacity))
    first, last = part
    wanted = [(0, first, 1.0), (first, last, 0.5), (last, 1, 1.0)]
    wanted = [one for one in wanted if one[1] > one[0]]
    np.testing.assert_allclose(spans, wanted, atol=1e-6)


def test_the_rest_of_a_hidden_wall_is_there() -> None:
    items, lines, _ = built(WALL, shown=0.0, parts=(0.25, 0.5))
    assert [item.look.alpha for item in items if item.look] == ["opaque"] * 2
    assert not lines
    items, _, _ = built(WALL, shown=0.0, parts=(0, 1))
    assert not items
    items, _, _ = built(WALL, shown=0.0, parts=(0, 0))
    assert len(items) == 1, "its end alone is in the way: the wall is seen"


def test_parts_do_not_matter_once_it_is_whole_again() -> None:
    items, _, _ = built(WALL, shown=1.0, parts=(0.25, 0.5))
    assert len(items) == 1


def test_each_has_its_own_share() -> None:
    own = [replace(PILLAR, mode="mesh"), replace(WALL, mode="mesh"), WALL]
    items, _, _ = built(*own, shown=[0.0, 1.0, 0.5], parts=[(0, 0), (0, 0), (0, 1)])
    looks = [(item.look.opacity, item.look.colour[3]) for item in items if item.look]
    assert looks == [(0.5, 1), (1, 1), (1, 0.5)]
    assert built()[:2] == ([], [])


def picture(own: Structure, camera: Camera, **more: Any) -> Any:
    backend = open_backend("raster")
    items, lines, _ = built(own, backend=backend, **more)
    draw_list = DrawList(camera, tuple(items), tuple(lines), WHITE, (0, 0, 0, 255))
    return backend.draw(draw_list, init_target((96, 96), 1)).astype(int)


@pytest.mark.parametrize("own", [PILLAR, WALL], ids=lambda own: own.name)
@pytest.mark.parametrize("height", [-5.0, 8.0])
def test_they_are_seen_from_below_and_above(own: Structure, height: float) -> None:
    (item,), _, _ = built(own)
    x, _, z = item.positions.mean(0).tolist()
    camera = Camera((x, height, z), (x, 1, z), up=(0, 0, -1), fov=0.4)
    assert picture(own, camera)[44:52, 44:52, :3].any(-1).all()


def test_pictures_of_modes() -> None:
    camera = Camera((1, 1, 4), (1, 1, -2), fov=0.8)
    whole = picture(PILLAR, camera)
    covered = whole[..., 0] > 0
    count = covered.sum()
    assert count > 300
    assert not picture(PILLAR, camera, shown=0.0)[..., :3].any()
    meshed = picture(replace(PILLAR, mode="mesh"), camera, shown=0.0)[..., 0] > 0
    assert meshed.sum() == pytest.approx(count / 2, rel=0.05)
    faded = picture(replace(PILLAR, mode="fade"), camera, shown=0.0)[..., 0]
    assert (faded[covered] > 0).mean() > 0.95
    assert faded.max() < whole[..., 0].max()


# On uneven ground.


def slope(spots: Any) -> Any:
    """Ground that is 5 m high at the origin, and 0.5 m higher a metre along x."""
    return 5.0 + 0.5 * spots[:, 0]


def heights_of(own: Structure, height_at: Any) -> tuple[float, float]:
    assets = upload_structures(open_backend("record"), [own], height_at)
    (item,), _ = build_structures(assets, np.ones(1), np.zeros((1, 2)))
    high = item.positions[:, 1]
    return float(high.min()), float(high.max())


def test_structures_stand_on_the_ground_under_their_middle() -> None:
    round_one = replace(PILLAR, low=0.0)  # at x = 1, half a metre to either side
    assert heights_of(round_one, slope) == pytest.approx((5.25, 8.0))
    long_one = replace(WALL, ends=((1, 0), (3, 0)), high=3.0)
    assert heights_of(long_one, slope) == pytest.approx((5.5, 9.0))
    across = replace(WALL, ends=((1, 0), (1, 9)), thickness=0.4)
    assert heights_of(across, slope) == pytest.approx((5.4, 8.5))


def test_a_dip_under_a_structure_is_filled() -> None:
    def dip(spots: Any) -> Any:
        return np.where(np.hypot(spots[:, 0] - 2.2, spots[:, 1]) < 0.1, -1.0, 0.0)

    own = replace(WALL, ends=((0, 0), (4, 0)), thickness=0.4, high=3.0)
    assert heights_of(own, dip) == (-1, 3)
    assert heights_of(replace(PILLAR, middle=(2, 0), low=0.0), dip) == (-1, 2.5)


def test_low_is_above_the_ground_or_deeper_in_it() -> None:
    raised = replace(PILLAR, low=1.0, high=2.0)
    assert heights_of(raised, slope) == pytest.approx((6.5, 7.5)), "in the air"
    deep = replace(PILLAR, low=-3.0)
    assert heights_of(deep, slope) == pytest.approx((2.5, 8.0))


def test_very_high_ground_is_none_that_is_refused() -> None:
    low, high = heights_of(PILLAR, lambda spots: np.full(len(spots), 9e4))
    assert (low, high) == pytest.approx((9e4 - 0.2, 9e4 + 2.5), abs=0.02)


# Stones.


def test_stone_is_as_bright_as_it_is_said_and_repeats() -> None:
    pixels = paint_stone().pixels
    light = linear_from_srgb(pixels[..., :3])
    np.testing.assert_allclose(light.mean((0, 1)), TONE, atol=0.01)
    assert light.std() > 0.05
    grey = light.mean(-1)
    for axis in (0, 1):
        steps = np.abs(np.diff(grey, axis=axis, append=np.take(grey, [0], axis)))
        rows = steps.mean(1 - axis)
        assert rows[-1] < 2 * np.quantile(rows, 0.98), "no seam"


@pytest.mark.parametrize("own", [*SHAPES, ELL], ids=lambda own: own.name)
def test_stones_are_as_large_on_every_side(own: Structure) -> None:
    (item,), _, (mesh,) = built(own)
    assert item.look is not None
    assert item.look.texture >= 0
    corners = triangles(item, mesh)
    spots = TILE * mesh.texcoords[mesh.triangles].astype(np.float64)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        wide = np.linalg.norm(corners[:, one] - corners[:, other], axis=1)
        seen = np.linalg.norm(spots[:, one] - spots[:, other], axis=1)
        # Of a pillar whole stones go around it, and its sides are flat.
        near = 0.25 if own.ends is None and own.corners is None else 1e-4
        np.testing.assert_allclose(seen, wide, rtol=near, atol=1e-5)
    light = mesh.colours[:, 0]
    y = item.positions[:, 1]
    np.testing.assert_allclose(light[y == y.min()], FOOT)
    np.testing.assert_allclose(light[y == y.max()], 1, rtol=1e-6)


def test_parts_of_a_wall_have_the_stones_of_the_whole() -> None:
    items, _, meshes = built(replace(WALL, mode="mesh"), shown=0.0, parts=(0.3, 0.6))
    (whole,), _, (mesh,) = built(WALL)

    def stones(item: DrawItem, mesh: Any) -> Any:
        (a, _, c), _ = item.look.texture_transform  # type: ignore[union-attr]
        way = np.array([4.0, 3.0]) / 5
        is_side = np.abs(item.normals[:, [0, 2]] @ way) < 0.5  # type: ignore[index]
        along = item.positions[:, [0, 2]] @ way
        return along[is_side], a * mesh.texcoords[is_side, 0] + c

    x, u = stones(whole, mesh)
    for item, part in zip(items, meshes, strict=True):
        places, found = stones(item, part)
        wanted = np.interp(places, [x.min(), x.max()], [u.min(), u.max()])
        np.testing.assert_allclose(found, wanted, atol=1e-5)
