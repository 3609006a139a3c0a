"""Surfaces of crowds, their ground and their shadows, as things to draw."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.crowds import (
    DARK,
    FIELD,
    RIM,
    CrowdSurface,
    build_field,
    build_shadows,
    build_surface,
    lay_shadows,
    upload_field,
    upload_ground_disc,
    upload_shadow_disc,
    upload_surface,
)
from flexor.draw.scene.build import dress_scene
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import upload_scene
from flexor.draw.target import init_target
from flexor.errors import ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene
from tests.pose.crowd.test_node_motion import chain

Rng = np.random.Generator


def two_parts(rng: Rng) -> Scene:
    """One mesh of two primitives: one with texture coordinates, one with colours."""
    one = Primitive(
        rng.normal(size=(6, 3)), texcoords=(rng.random((6, 2)).astype(np.float32),)
    )
    other = Primitive(
        rng.normal(size=(3, 3)), colours=(rng.random((3, 3)).astype(np.float32),)
    )
    skeleton = Skeleton(
        ("a",),
        np.array([-1]),
        np.zeros((1, 3)),
        np.array([[0, 0, 0, 1]]),
        np.ones((1, 3)),
    )
    return Scene(skeleton, np.array([0]), np.array([-1]), (Mesh("m", (one, other)),))


def test_places_take_what_their_vertices_have(rng: Rng) -> None:
    scene = two_parts(rng)
    backend = open_backend("record")
    assets, _ = upload_scene(backend, scene)
    sources = np.array([[0, 0, 4], [0, 1, 2], [0, 0, 1], [0, 0, 4]], np.int32)
    made = upload_surface(assets, sources, np.array([[0, 1, 2]], np.int32))
    assert made is not None
    assert made.part == 0
    mesh = backend.meshes[made.number]  # type: ignore[attr-defined]
    first, second = scene.meshes[0].primitives
    assert mesh.vertex_count == 4
    np.testing.assert_array_equal(mesh.texcoords[[0, 2]], first.texcoords[0][[4, 1]])
    assert not mesh.texcoords[1].any()
    np.testing.assert_array_equal(mesh.colours[1, :3], second.colours[0][2])
    assert (mesh.colours[[0, 2, 3]] == 1).all()
    assert mesh.welded.tolist() == [0, 1, 2, 0]
    part = dress_scene(assets, DrawStyle()).parts[made.part]
    shape = np.zeros((2, 4, 3), np.float32), np.ones((2, 4, 3), np.float32)
    tints = np.ones((2, 4), np.float32)
    item = build_surface(made, part.look, part.strokes, *shape, tints)
    assert item.normals is None or item.normals is shape[1]
    assert item.tints is tints
    assert (item.mesh, len(item.positions)) == (made.number, 2)


def test_a_surface_without_faces_is_none(rng: Rng) -> None:
    backend = open_backend("record")
    assets, _ = upload_scene(backend, two_parts(rng))
    none = np.zeros((0, 3), np.int32)
    assert upload_surface(assets, none, none) is None


def test_parts_that_are_not_there_are_refused() -> None:
    backend = open_backend("record")
    assets, _ = upload_scene(backend, chain(3))
    sources = np.array([[0, 5, 1]] * 3, np.int32)
    with pytest.raises(ShapeError, match="no triangles in 5 at node 0"):
        upload_surface(assets, sources, np.array([[0, 1, 2]], np.int32))


def test_shadows_lie_under_their_characters() -> None:
    number = upload_shadow_disc(open_backend("record"))
    places = np.array([[1, 2, 3], [-4, 0, 0]], np.float32)
    item = build_shadows(number, places, np.array([0.5, 2], np.float32))
    assert item.positions.shape == (2, 1 + RIM, 3)
    np.testing.assert_allclose(
        item.positions.mean(1)[:, [0, 2]], places[:, [0, 2]], atol=1e-5
    )
    away = np.linalg.norm(
        (item.positions[:, 1:] - places[:, None])[..., [0, 2]], axis=-1
    )
    np.testing.assert_allclose(away, [[0.5] * RIM, [2] * RIM], rtol=1e-5)
    above = item.positions[..., 1] - places[:, None, 1]
    assert (above > 0).all()
    assert (above < 0.02).all()


def test_shadows_are_soft() -> None:
    """Dark in the middle, nothing at the rim."""
    backend = open_backend("record")
    mesh = backend.meshes[upload_shadow_disc(backend)]  # type: ignore[attr-defined]
    assert mesh.colours[0].tolist() == pytest.approx([0, 0, 0, DARK])
    assert not mesh.colours[1:].any()
    assert (mesh.faces[:, 0] == 0).all()


@pytest.mark.parametrize(
    ("style", "has_normals", "has_strokes"),
    [("shaded", True, False), ("flat", False, False), ("lines", True, True)],
)
def test_surfaces_wear_what_the_style_says(
    style: str, has_normals: bool, has_strokes: bool
) -> None:
    scene = chain(3)
    (primitive,) = scene.meshes[0].primitives
    normals = np.tile(np.array([0, 0, 1], np.float32), (len(primitive), 1))
    smooth = dataclasses.replace(primitive, normals=normals)
    scene = dataclasses.replace(scene, meshes=(Mesh("m", (smooth,)),))
    assets, _ = upload_scene(open_backend("record"), scene)
    (part,) = dress_scene(assets, style_of(style)).parts
    shape = np.zeros((2, 9, 3), np.float32), np.ones((2, 9, 3), np.float32)
    tints = np.ones((2, 4), np.float32)
    surface = CrowdSurface(0, 0)
    item = build_surface(surface, part.look, part.strokes, *shape, tints)
    assert (item.normals is shape[1]) is has_normals
    assert (item.normals is None) is not has_normals
    assert item.look is part.look
    assert item.strokes is part.strokes
    assert (item.strokes is not None) is has_strokes


@pytest.mark.parametrize("what", ["shadow", "laid", "field"])
def test_they_are_seen_from_above(what: str) -> None:
    backend = open_backend("raster")
    if what == "shadow":
        item = build_shadows(
            upload_shadow_disc(backend),
            np.zeros((1, 3), np.float32),
            np.ones(1, np.float32),
        )
    elif what == "laid":
        item = lay_shadows(
            upload_ground_disc(backend),
            np.zeros((1, 3), np.float32),
            np.ones(1, np.float32),
            lambda x, z: 0.1 * x + z * 0,
        )
    else:
        item = build_field(
            upload_field(backend),
            (0, 0),
            3.0,
            0.0,
            ((0, 0.5, 0), (0, 0.4, 0)),
            (1, 1, 1),
        )
    target = init_target((64, 64), 1, ())
    for eye, is_seen in (((0, 5, 1), True), ((0, -5, 1), False)):
        camera = Camera(eye=eye, target=(0, 0, 0))
        picture = backend.draw(DrawList(camera, (item,)), target)
        assert bool((picture[32, 32] != 255).any()) is is_seen


def test_the_field_fades_into_the_paper() -> None:
    number = upload_field(open_backend("record"))
    stripes = ((0.1, 0.2, 0.3), (0.2, 0.3, 0.4))
    item = build_field(number, (10.3, -7.0), 20.0, 0.5, stripes, (0.9, 0.8, 0.7))
    assert item.positions.shape == (4 * FIELD * FIELD, 3)
    assert (item.positions[:, 1] == 0.5).all()
    away = np.hypot(item.positions[:, 0] - 10.3, item.positions[:, 2] + 7)
    assert item.colours is not None
    near, far = item.colours[away < 5, :3], item.colours[away > 20.5, :3]
    low, high = (np.array(stripe, np.float32) for stripe in stripes)
    assert (near >= low - 1e-6).all()
    assert (near <= high + 1e-6).all()
    assert np.ptp(near[:, 0]) > 0.5 * (high - low)[0]
    np.testing.assert_allclose(far, np.tile([0.9, 0.8, 0.7], (len(far), 1)), rtol=1e-6)


def test_stripes_stay_where_they_are_when_the_camera_moves() -> None:
    number = upload_field(open_backend("record"))
    stripes = ((0, 0, 0), (1, 1, 1))
    edges = []
    for x in (0.0, 0.7, 30.0):
        item = build_field(number, (x, 0.0), 24.0, 0.0, stripes, (0, 0, 0))
        assert item.colours is not None
        light = item.colours[:, 0].reshape(-1, 4)[:, 0] > 0.5
        first = item.positions.reshape(-1, 4, 3)[light, :, 0].min(1)
        edges.append(set(np.round(first / 1.0).astype(int) % 2))
    assert edges[0] == edges[1] == edges[2]


def test_stripes_lie_on_multiples_of_their_width() -> None:
    """What is where does not depend on what the camera looks at, along z neither."""
    number = upload_field(open_backend("record"))
    stripes = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    tables = []
    for centre in ((0, 0), (0.7, 0.9), (-5, 1.1), (30, 17.3), (3.2, -41)):
        item = build_field(number, centre, 24.0, 0.0, stripes, None)
        assert item.colours is not None
        corners = item.positions.reshape(-1, 4, 3)
        cells = np.round(corners.min(1)[:, [0, 2]]).astype(int) % 2
        light = item.colours.reshape(-1, 4, 4)[:, :, 0]
        table = {}
        for x, z in ((0, 0), (0, 1), (1, 0), (1, 1)):
            values = light[(cells == (x, z)).all(1)]
            assert np.ptp(values) == 0
            table[x, z] = float(values[0, 0])
        tables.append(table)
        middle = corners[..., [0, 2]].mean((0, 1))
        assert np.abs(middle - centre).max() <= 1.001
    assert all(table == tables[0] for table in tables)
    table = tables[0]
    along_z, along_x = table[1, 0] - table[0, 0], table[0, 1] - table[0, 0]
    assert abs(along_z) > abs(along_x) > 0.1
    assert sorted(table.values())[::3] == pytest.approx([0, 1])


def test_a_field_without_paper_fades_to_nothing() -> None:
    number = upload_field(open_backend("record"))
    stripes = ((0.1, 0.2, 0.3), (0.2, 0.3, 0.4))
    item = build_field(number, (10.3, -7.0), 20.0, 0.5, stripes, None)
    assert item.look is not None
    assert item.look.alpha == "blend"
    assert item.colours is not None
    away = np.hypot(item.positions[:, 0] - 10.3, item.positions[:, 2] + 7)
    assert (item.colours[away < 5, 3] == 1).all()
    assert (item.colours[away > 20.5, 3] == 0).all()
    between = item.colours[(away > 12) & (away < 18), 3]
    assert ((between > 0) & (between < 1)).all()
    solid = build_field(number, (10.3, -7.0), 20.0, 0.5, stripes, (1, 1, 1))
    assert solid.look is not None
    assert solid.look.alpha == "opaque"
    assert solid.colours is not None
    assert (solid.colours[:, 3] == 1).all()
