"""Vertices of a coarse surface moved so that it fills the fine one.

A simplifier picks among the vertices there are, which lie on the surface: with few of
them every limb gets thinner. Here they are moved a little, all of them together, so
that the coarse surface passes through the middle of what it stands for, and their
normals become those of what is around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints, first_same
from flexor.convert.levels.body import LevelBody
from flexor.convert.shape.closest_points import closest_points
from flexor.maths import exact, transforms

__all__ = ["RestFrames", "fit_shape", "rest_frames", "shape_body"]

ROUNDS = 3
SMOOTH = 0.1  # how much neighbours are to move alike, where a point counts 1
STILL = 0.02  # how much a vertex is to stay where it is
ALIKE = 0.3  # cosine of how far a normal may be turned from that of the triangle
KEEP = 0.5  # how much a normal is to stay as it is
CLOSE = 1e-12  # where solving ends, in parts of where it begins
MOST_STEPS = 1000  # of solving; a hundred are usual
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class RestFrames:
    """How vertices lie at rest.

    frames: float64 (V, 3, 3), world_from_mesh without its place; back: the inverses,
    zeros where there is none; is_whole: bool (V,), where there is one; turns: float64
    (V, 3), normals in the world.
    """

    frames: Doubles
    back: Doubles
    is_whole: NDArray[np.bool_]
    turns: Doubles


def rest_frames(body: LevelBody, rest: Floats) -> RestFrames:
    """Those of each vertex of a body; rest: (J, 3, 4), world_from_node."""
    matrices = transforms.multiply(rest[body.slots], body.binds)[:, :, :3]
    frames = np.zeros((len(body), 3, 3))
    for place in range(body.joints.shape[1]):
        share = body.weights[:, place, None, None]
        frames += share * matrices[body.joints[:, place]]
    is_whole = np.abs(exact.det(frames)) > 1e-30
    back = np.zeros_like(frames)
    back[is_whole] = exact.invert(frames[is_whole])
    turns = _unit(np.einsum("vji,vj->vi", back, body.normals.astype(np.float64)))
    return RestFrames(frames, back, is_whole, turns)


def shape_body(
    body: LevelBody, at_rest: RestFrames, rows: Ints, faces: Ints
) -> tuple[Floats, Floats]:
    """Positions and normals (V, 3) of the body's vertices, in the spaces of their
    meshes, with which faces (F, 3) fill it best.

    rows: (P,), the vertices that speak for the body. What stands in no face, or is flat
    at rest, stays as it is.
    """
    used = np.unique(faces)
    place = np.zeros(len(body), np.int32)
    place[used] = np.arange(len(used))
    turns = at_rest.turns.astype(np.float32)
    places, normals = fit_shape(
        body.rest[rows], turns[rows], place[faces], body.rest[used], turns[used]
    )
    moved, turned = body.positions.copy(), body.normals.copy()
    ways = (places - body.rest[used]).astype(np.float64)
    by = np.einsum("vij,vj->vi", at_rest.back[used], ways).astype(np.float32)
    frames = at_rest.frames[used]
    ways = _unit(np.einsum("vji,vj->vi", frames, normals.astype(np.float64)))
    is_whole = at_rest.is_whole[used]
    own = used[is_whole]
    moved[own] += by[is_whole]
    turned[own] = ways[is_whole]
    return moved, turned


def _unit(ways: Doubles) -> Doubles:
    length = np.linalg.norm(ways, axis=1, keepdims=True)
    return ways / np.where(length > 0, length, 1)


def fit_shape(
    points: Floats, normals: Floats, faces: Ints, places: Floats, turns: Floats
) -> tuple[Floats, Floats]:
    """Where vertices should be, and their normals: float32 (V, 3) each.

    points, normals: (P, 3), of the fine surface, spread over it; faces: int32 (F, 3) of
    the coarse one, rows of places and turns (V, 3): where its vertices are, and their
    normals; those at one place stay together, those in no face stay.
    """
    from scipy.sparse import identity

    moved, turned = places.astype(np.float64), turns.astype(np.float64)
    if not len(faces) or not len(points):
        return places, turns
    used = np.unique(faces)
    spot = np.zeros(len(places), np.intp)
    bits = np.ascontiguousarray(places[used] + np.float32(0)).view(np.int32)
    _, spot[used] = np.unique(first_same(bits), return_inverse=True)
    corners = spot[faces]
    count = int(corners.max()) + 1
    smooth = SMOOTH * _laplacian(corners, count) + STILL * identity(count, format="csr")
    for _ in range(ROUNDS):
        face, shares, _ = closest_points(moved[faces], points)
        shares = shares * _is_alike(moved[faces[face]], normals)[:, None]
        rows = _rows(corners[face], shares, count)
        whole = shares.sum(1)[:, None]
        missed = whole * points - rows @ _of_spots(moved[used], spot[used], count)
        pull = (rows.T @ rows).tocsr()
        # In parts of what an average vertex is held by, so that one that few points
        # speak for goes with its neighbours.
        level = float(pull.diagonal().mean()) or 1.0
        ways = _solve((pull + level * smooth).tocsr(), rows.T @ missed)
        moved[used] += ways[spot[used]]
    face, shares, _ = closest_points(moved[faces], points)
    shares = shares * _is_alike(moved[faces[face]], normals)[:, None]
    rows = _rows(faces[face], shares, len(places))
    heavy = np.asarray(rows.sum(0)).ravel()[:, None]
    sums = rows.T @ normals.astype(np.float64) + KEEP * turned
    sums = np.where(heavy > 0, sums, turned)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    turned = np.where(length > 1e-6, sums / np.maximum(length, 1e-6), turned)
    return moved.astype(np.float32), turned.astype(np.float32)


def _solve(matrix: Any, values: Doubles) -> Doubles:
    """What a matrix (S, S), symmetric and positive, makes `values` (S, 3) of.

    By conjugate gradients, each column for itself, in sums of one order: SciPy's direct
    solver has other last bits on other processors, and so would levels.
    """
    inverse = 1 / matrix.diagonal()[:, None]
    found, left = np.zeros_like(values), values.copy()
    way = near = inverse * left
    size = (left * near).sum(0)
    enough = CLOSE * CLOSE * size
    for _ in range(MOST_STEPS):
        if (size <= enough).all():
            break
        across = matrix @ way
        share = size / np.maximum((way * across).sum(0), TINY)
        found += share * way
        left -= share * across
        near = inverse * left
        before, size = size, (left * near).sum(0)
        way = near + size / np.maximum(before, TINY) * way
    return found


def _is_alike(triangles: Doubles, normals: Floats) -> NDArray[np.bool_]:
    """Which of points with normals (P, 3) are on the side that a triangle shows.

    triangles: (P, 3, 3). What is on another side is of another limb, or of the back.
    """
    across = np.cross(
        triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    )
    along = np.einsum("pi,pi->p", across, normals.astype(np.float64))
    alike: NDArray[np.bool_] = along > ALIKE * np.linalg.norm(across, axis=1)
    return alike


def _of_spots(places: Doubles, spot: NDArray[np.intp], count: int) -> Doubles:
    own = np.zeros((count, 3))
    own[spot] = places
    return own


def _rows(corners: NDArray[Any], shares: Doubles, count: int) -> Any:
    """Points as mixtures of three corners: sparse (P, count)."""
    from scipy.sparse import coo_matrix

    rows = np.repeat(np.arange(len(corners)), 3)
    made = coo_matrix((shares.ravel(), (rows, corners.ravel())), (len(corners), count))
    return made.tocsr()


def _laplacian(corners: NDArray[Any], count: int) -> Any:
    """What it costs that neighbours differ: sparse (count, count), symmetric."""
    from scipy.sparse import coo_matrix, diags

    ends = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    ends = np.concatenate([ends, ends[:, ::-1]])
    ends = ends[ends[:, 0] != ends[:, 1]]
    links = coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (count, count))
    links = (links.tocsr() > 0).astype(np.float64)
    sums = np.asarray(links.sum(1)).ravel()
    return (diags(sums) - links).tocsr() / max(float(sums.mean()), 1.0)
