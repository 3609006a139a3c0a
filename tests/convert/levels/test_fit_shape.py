"""Coarse surfaces that fill fine ones."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.convert.levels.body import make_level_body
from flexor.convert.levels.fit_shape import _solve, fit_shape, rest_frames, shape_body
from flexor.maths import transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.scene import Scene
from tests.scenes import one_mesh_scene

Rng = np.random.Generator


def octahedron() -> tuple[np.ndarray, np.ndarray]:
    """Six corners on the axes, and eight faces seen from outside."""
    places = np.concatenate([np.eye(3), -np.eye(3)]).astype(np.float32)
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2)]
    faces += [(b, a, 5) for a, b in ((0, 1), (1, 3), (3, 4), (4, 0))]
    return places, np.array(faces, np.int32)


def ball(rng: Rng, count: int = 800) -> np.ndarray:
    points = rng.normal(size=(count, 3))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def test_a_coarse_ball_grows_to_fill_a_fine_one(rng: Rng) -> None:
    points = ball(rng)
    places, faces = octahedron()
    moved, turned = fit_shape(points, points, faces, places, places)
    sizes = np.linalg.norm(moved, axis=1)
    assert (sizes > 1.1).all()
    assert (sizes < 1.8).all()
    np.testing.assert_allclose(moved / sizes[:, None], places, atol=0.1)
    np.testing.assert_allclose(turned, places, atol=0.2)
    # Faces come out of the ball where they were inside of it.
    before = np.linalg.norm(places[faces].mean(1), axis=1)
    after = np.linalg.norm(moved[faces].mean(1), axis=1)
    assert (np.abs(1 - after) < 0.6 * (1 - before)).all()


def test_what_fits_stays(rng: Rng) -> None:
    places, faces = octahedron()
    shares = rng.dirichlet([1, 1, 1], len(faces) * 60)
    corners = places[faces[np.repeat(np.arange(len(faces)), 60)]]
    points = np.einsum("pk,pki->pi", shares, corners).astype(np.float32)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = across / np.linalg.norm(across, axis=1, keepdims=True)
    moved, _ = fit_shape(points, unit.astype(np.float32), faces, places, places)
    np.testing.assert_allclose(moved, places, atol=1e-5)


def test_vertices_of_a_seam_stay_together(rng: Rng) -> None:
    """Each face with corners of its own: those at one place move alike."""
    places, faces = octahedron()
    split = places[faces].reshape(-1, 3)
    own = np.arange(len(split), dtype=np.int32).reshape(-1, 3)
    points = ball(rng)
    whole, _ = fit_shape(points, points, faces, places, places)
    moved, turned = fit_shape(points, points, own, split, split)
    np.testing.assert_allclose(moved, whole[faces].reshape(-1, 3), atol=1e-5)
    # Normals are each face's own: they lean to its middle.
    middles = places[faces].mean(1)
    lean = np.einsum("fki,fi->fk", turned.reshape(-1, 3, 3), middles)
    assert (lean > np.einsum("fki,fi->fk", split.reshape(-1, 3, 3), middles)).all()


def test_points_of_another_side_do_not_pull(rng: Rng) -> None:
    """A second ball inside, seen from within, changes nothing."""
    points = ball(rng)
    places, faces = octahedron()
    alone, _ = fit_shape(points, points, faces, places, places)
    both = np.concatenate([points, np.float32(0.5) * points])
    normals = np.concatenate([points, -points])
    moved, _ = fit_shape(both, normals, faces, places, places)
    np.testing.assert_allclose(moved, alone, atol=1e-6)


def test_vertices_that_no_point_speaks_for_go_with_their_neighbours(rng: Rng) -> None:
    points = ball(rng)
    points = points[points[:, 2] < 0.2]
    places, faces = octahedron()
    moved, turned = fit_shape(points, points, faces, places, places)
    assert np.linalg.norm(moved - places, axis=1).max() < 0.8
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("what", ["faces", "points"])
def test_nothing_to_fit_is_left_alone(rng: Rng, what: str) -> None:
    places, faces = octahedron()
    points = ball(rng, 5)
    if what == "faces":
        faces = faces[:0]
    else:
        points = points[:0]
    moved, turned = fit_shape(points, points, faces, places, places)
    np.testing.assert_array_equal(moved, places)
    np.testing.assert_array_equal(turned, places)


def hanging(scale: float) -> Scene:
    """A ball of unit size on a node that turns, moves and scales it at rest."""
    side = 9
    u, v = np.meshgrid(np.linspace(0, np.pi, side), np.linspace(0, 2 * np.pi, side))
    points = np.stack([np.sin(u) * np.cos(v), np.cos(u), np.sin(u) * np.sin(v)], -1)
    rows = np.arange(side * side).reshape(side, side)
    quads = np.stack([rows[:-1, :-1], rows[1:, :-1], rows[1:, 1:], rows[:-1, 1:]], -1)
    faces = quads.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1)
    skeleton = Skeleton(
        ("a",),
        np.array([-1]),
        np.array([[1.0, 2, 3]]),
        np.array([[0.0, np.sin(0.4), 0, np.cos(0.4)]]),
        np.full((1, 3), scale),
    )
    flat = points.reshape(-1, 3).astype(np.float32)
    return one_mesh_scene(
        skeleton, Primitive(flat, normals=flat, indices=faces.astype(np.uint32)), None
    )


def test_bodies_are_shaped_in_the_spaces_of_their_meshes() -> None:
    """Turn and scale at rest make no difference to what a mesh becomes."""
    shapes = []
    for scale in (1.0, 2.0):
        scene = hanging(scale)
        body, _ = make_level_body(scene)
        rest = rest_world(scene.skeleton).astype(np.float32)
        np.testing.assert_allclose(
            transforms.apply(rest[0], body.positions), body.rest, atol=1e-5
        )
        coarse = body.faces[::5]
        rows = np.arange(len(body), dtype=np.int32)
        moved, turned = shape_body(body, rest_frames(body, rest), rows, coarse)
        is_used = np.isin(np.arange(len(body)), coarse)
        np.testing.assert_array_equal(moved[~is_used], body.positions[~is_used])
        np.testing.assert_array_equal(turned[~is_used], body.normals[~is_used])
        assert np.abs(moved - body.positions).max() > 1e-3
        np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1, atol=1e-5)
        shapes.append((moved, turned))
    np.testing.assert_allclose(shapes[0][0], shapes[1][0], atol=1e-4)
    np.testing.assert_allclose(shapes[0][1], shapes[1][1], atol=1e-4)


def test_what_is_flat_at_rest_stays() -> None:
    body, _ = make_level_body(hanging(2.0))
    flat = rest_frames(body, np.zeros((1, 3, 4), np.float32))
    assert not flat.frames.any()
    rows = np.arange(len(body), dtype=np.int32)
    moved, turned = shape_body(body, flat, rows, body.faces)
    np.testing.assert_array_equal(moved, body.positions)
    np.testing.assert_array_equal(turned, body.normals)


def test_solving_agrees_with_a_direct_solver(rng: np.random.Generator) -> None:
    from scipy.sparse import csr_array, identity
    from scipy.sparse.linalg import spsolve

    rows = csr_array(rng.normal(size=(90, 40)) * (rng.random((90, 40)) < 0.1))
    matrix = (rows.T @ rows + 0.02 * identity(40)).tocsr()
    values = rng.normal(size=(40, 3))
    values[:, 2] = 0
    found = _solve(matrix, values)
    np.testing.assert_allclose(found, spsolve(matrix.tocsc(), values), atol=1e-9)
    assert not found[:, 2].any()
