"""Primitives and meshes: refusals, triangles, normals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.character.mesh import (
    LINE_LOOP,
    LINE_STRIP,
    LINES,
    POINTS,
    TRIANGLE_FAN,
    TRIANGLE_STRIP,
    TRIANGLES,
    Mesh,
    MorphTarget,
    Primitive,
)
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import SkinWeights


def make(count: int = 4, **changes: Any) -> Primitive:
    return Primitive(**{"positions": np.zeros((count, 3)), **changes})


def weights(count: int) -> SkinWeights:
    return SkinWeights(np.zeros((count, 1)), np.ones((count, 1)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"positions": np.zeros((4, 2))},
            r"positions: shape \(4, 2\), expected \(any, 3\)",
        ),
        ({"normals": np.zeros((3, 3))}, "normals: shape"),
        ({"tangents": np.zeros((4, 3))}, "tangents: shape"),
        ({"texcoords": (np.zeros((4, 2)), np.zeros((4, 3)))}, "texcoords: shape"),
        ({"colours": (np.zeros((4, 2)),)}, "colours: shape"),
        ({"colours": (np.zeros((3, 4)),)}, "colours: shape"),
        ({"indices": np.zeros((2, 3))}, "indices: shape"),
        ({"indices": [0, 1, 4]}, "indices: 4 with 4 vertices"),
        ({"indices": np.array([0, 1, -1])}, "indices: "),
        ({"mode": 7}, "mode: 7, expected 0 to 6"),
        ({"mode": -1}, "mode: -1, expected 0 to 6"),
        ({"skin": weights(3)}, "skin: 3 rows of weights for 4 vertices"),
        ({"targets": (MorphTarget(np.zeros((3, 3))),)}, "targets: 3 rows, 4 vertices"),
        ({"targets": (MorphTarget(normals=np.zeros((5, 3))),)}, "targets: 5 rows"),
        ({"targets": (MorphTarget(tangents=np.zeros((5, 3))),)}, "targets: 5 rows"),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


@pytest.mark.parametrize("name", ["positions", "normals", "tangents"])
def test_morph_refusals(name: str) -> None:
    with pytest.raises(ShapeError, match=f"{name}: shape"):
        MorphTarget(**{name: np.zeros((3, 4))})


def test_arrays_are_frozen() -> None:
    target = MorphTarget(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)))
    primitive = make(
        normals=np.zeros((4, 3)),
        tangents=np.zeros((4, 4)),
        texcoords=[np.zeros((4, 2))],
        colours=[np.zeros((4, 3)), np.zeros((4, 4))],
        indices=[0, 1, 2],
        targets=(target,),
    )
    arrays = [primitive.positions, primitive.normals, primitive.tangents]
    arrays += [*primitive.texcoords, *primitive.colours]
    arrays += [target.positions, target.normals, target.tangents]
    for array in arrays:
        assert array is not None
        assert array.dtype == np.float32
        assert not array.flags.writeable
    assert primitive.indices is not None
    assert primitive.indices.dtype == np.uint32
    assert not primitive.indices.flags.writeable
    assert [c.shape[1] for c in primitive.colours] == [3, 4]
    with pytest.raises(AttributeError):
        primitive.mode = 5  # type: ignore[misc]


def test_no_vertices() -> None:
    primitive = make(0)
    assert len(primitive) == 0
    assert primitive.triangles().shape == (0, 3)
    assert make(0, indices=[]).triangles().shape == (0, 3)
    assert vertex_normals(primitive).shape == (0, 3)


@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize(
    ("mode", "count", "faces"),
    [
        (TRIANGLES, 2, []),
        (TRIANGLES, 3, [[0, 1, 2]]),
        (TRIANGLES, 7, [[0, 1, 2], [3, 4, 5]]),
        (TRIANGLES, 8, [[0, 1, 2], [3, 4, 5]]),
        (TRIANGLE_STRIP, 2, []),
        (TRIANGLE_STRIP, 3, [[0, 1, 2]]),
        (TRIANGLE_STRIP, 4, [[0, 1, 2], [1, 3, 2]]),
        (TRIANGLE_STRIP, 6, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]),
        (TRIANGLE_FAN, 0, []),
        (TRIANGLE_FAN, 2, []),
        (TRIANGLE_FAN, 3, [[0, 1, 2]]),
        (TRIANGLE_FAN, 5, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]),
        (POINTS, 6, []),
        (LINES, 6, []),
        (LINE_LOOP, 6, []),
        (LINE_STRIP, 6, []),
    ],
)
def test_triangles(mode: int, count: int, faces: list[Any], is_indexed: bool) -> None:
    turned = np.arange(count)[::-1]
    primitive = make(count, mode=mode, indices=turned if is_indexed else None)
    made = primitive.triangles()
    assert made.dtype == np.int32
    expected = np.array(faces, int).reshape(-1, 3)
    np.testing.assert_array_equal(
        made, count - 1 - expected if is_indexed else expected
    )


@pytest.mark.parametrize("mode", [TRIANGLE_STRIP, TRIANGLE_FAN])
def test_unrolled_triangles_face_the_same_way(mode: int) -> None:
    strip = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0], [1, 2, 0]]
    turn = np.linspace(0, 3, 5)
    fan = [[0, 0, 0], *np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1)]
    primitive = Primitive(np.array(strip if mode == TRIANGLE_STRIP else fan), mode=mode)
    a, b, c = primitive.positions[primitive.triangles()].swapaxes(0, 1)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


def test_normals_are_the_mean_by_area() -> None:
    """A roof: the big face counts more where both meet."""
    positions = np.array([[0, 0, 0], [4, 0, 0], [0, 0, -1], [0, 2, 0]], float)
    primitive = Primitive(positions, indices=[0, 1, 3, 0, 3, 2])
    normals = vertex_normals(primitive)
    first, second = np.array([0, 0, 8.0]), np.array([-2.0, 0, 0])
    both = (first + second) / np.linalg.norm(first + second)
    expected = [both, [0, 0, 1], [-1, 0, 0], both]
    np.testing.assert_allclose(normals, expected, atol=1e-6)
    assert normals.dtype == np.float32


def test_unindexed_normals_are_flat(rng: np.random.Generator) -> None:
    positions = rng.normal(size=(9, 3))
    normals = vertex_normals(Primitive(positions))
    for face in range(3):
        a, b, c = positions[3 * face : 3 * face + 3]
        across = np.cross(b - a, c - a)
        expected = across / np.linalg.norm(across)
        np.testing.assert_allclose(
            normals[3 * face : 3 * face + 3], [expected] * 3, atol=1e-5
        )


def test_normals_without_area_are_z() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 5, 5]], float)
    primitive = Primitive(positions, indices=[0, 1, 2, 0, 0, 1])
    np.testing.assert_array_equal(vertex_normals(primitive), [[0, 0, 1]] * 4)
    points = Primitive(positions, mode=POINTS)
    np.testing.assert_array_equal(vertex_normals(points), [[0, 0, 1]] * 4)


def test_normals_of_a_tiny_surface() -> None:
    positions = np.array([[0, 0, 0], [1e-12, 0, 0], [0, 1e-12, 0]])
    np.testing.assert_allclose(vertex_normals(Primitive(positions)), [[0, 0, 1]] * 3)


def test_mesh_refuses_primitives_that_differ_in_morphs() -> None:
    target = MorphTarget(np.zeros((4, 3)))
    with pytest.raises(ShapeError, match="mesh 'face': primitives differ in morph"):
        Mesh("face", (make(), make(targets=(target,))))


def test_mesh_refuses_a_wrong_number_of_weights() -> None:
    target = MorphTarget(np.zeros((4, 3)))
    with pytest.raises(ShapeError, match="morph_weights: shape"):
        Mesh("face", (make(targets=(target,)),), np.zeros(2))
    with pytest.raises(ShapeError, match="morph_weights: shape"):
        Mesh("face", (), np.zeros(1))


def test_mesh() -> None:
    mesh = Mesh("face", [make(targets=(MorphTarget(),))], [0.5])  # type: ignore[arg-type]
    assert isinstance(mesh.primitives, tuple)
    assert not mesh.morph_weights.flags.writeable
    assert Mesh("empty", ()).morph_weights.shape == (0,)
