"""The skin: polygonise the body field, make the triangles even, mirror the half.

Marching cubes runs on the left half only, on a rectilinear grid that is fine around
the hand, and only near the surface. The half is reduced, remeshed on the field and
mirrored with a welded seam, so left and right agree to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from tools.mannequin.field import BodyField
from tools.mannequin.nodes import FINGERS, NodeTable
from tools.mannequin.remesh import remesh
from tools.mannequin.rotation import normalize

_COARSE, _FINE = 0.006, 0.0026
_BLOCK = 4
_BAND = 0.026
_CHUNK = 100_000
_EDGE_MAX = 0.0340
_EDGE_SLOPE = 0.16
_EDGE_SCALE = 1.33


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """A closed, mirrored triangle mesh at rest.

    positions, normals: float64 (V, 3), metres; faces: int32 (F, 3), outward.
    twin: int32 (V,), the mirror image of each vertex (itself on the seam).
    """

    positions: Doubles
    normals: Doubles
    faces: Ints
    twin: NDArray[np.int32]


def build_skin(field: BodyField, nodes: NodeTable) -> Skin:
    """Make the whole skin; about 4,000 vertices, deterministic."""
    positions, faces = _polygonise(field)
    positions, faces = _reduce(positions, faces, 9000)

    def size(points: Doubles) -> Doubles:
        return edge_length(nodes, points)

    positions, faces = remesh(positions, faces, field=field, size=size)
    border = positions[:, 0] < 1e-9
    normals = _normals(field, positions, faces, border)
    return _mirror(positions, normals, faces, border)


def edge_length(nodes: NodeTable, points: Doubles) -> Doubles:
    """Wanted edge length (N,) in metres at points (N, 3): short at joints and hands."""
    centres: list[tuple[Doubles, float, float]] = []
    for name, radius, length in (
        ("l-arm", 0.070, 0.0200),
        ("l-elbow", 0.045, 0.0138),
        ("l-wrist", 0.032, 0.0120),
        ("l-hand", 0.040, 0.0105),
        ("l-hip", 0.095, 0.0230),
        ("l-knee", 0.060, 0.0175),
        ("l-ankle", 0.045, 0.0165),
        ("l-foot", 0.050, 0.0175),
        ("l-toe", 0.060, 0.0150),
        ("spine0", 0.110, 0.0240),
        ("spine1", 0.110, 0.0240),
        ("neck", 0.070, 0.0200),
    ):
        centres.append((nodes.positions[nodes.index(name)], radius, length))
    centres.append((np.array([0.0, 1.69, 0.02]), 0.110, 0.0172))
    for place, radius, length in (
        ((0.118, 0.030, -0.050), 0.040, 0.0150),
        ((0.118, 0.020, 0.165), 0.026, 0.0115),
        ((0.140, 1.380, 0.055), 0.030, 0.0135),
    ):
        centres.append((np.array(place), radius, length))
    for finger in FINGERS:
        for i in range(3):
            row = nodes.index(f"l-{finger}{i}")
            centres.append((nodes.positions[row], 0.016, 0.0078))
            centres.append((nodes.tips[row], 0.006, 0.0050))
    size = np.full(len(points), _EDGE_MAX)
    for centre, radius, length in centres:
        away = np.linalg.norm(points - centre, axis=1) - radius
        np.minimum(size, length + _EDGE_SLOPE * np.maximum(away, 0.0), out=size)
    return np.asarray(_EDGE_SCALE * size)


def _axis(low: float, high: float, fine_low: float, fine_high: float) -> Doubles:
    """Grid lines along one axis, padded to whole blocks."""
    lines = np.concatenate(
        [
            np.arange(low, fine_low, _COARSE),
            np.arange(fine_low, fine_high, _FINE),
            np.arange(fine_high, high + _COARSE, _COARSE),
        ]
    )
    more = np.arange(1, -len(lines) % _BLOCK + 1)
    return np.concatenate([lines, lines[-1] + _COARSE * more])


def _polygonise(field: BodyField) -> tuple[Doubles, Ints]:
    """Marching cubes of the left half, open at x = 0: positions, outward faces."""
    from skimage.measure import marching_cubes

    lines = (
        _axis(0.0, 0.74, 0.53, 0.71),
        _axis(-0.012, 1.82, 0.88, 1.06),
        _axis(-0.16, 0.21, -0.07, 0.08),
    )
    middles = [0.5 * (a[::_BLOCK] + a[_BLOCK - 1 :: _BLOCK]) for a in lines]
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    values = field.distance(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    for axis in range(3):
        values = np.repeat(values, _BLOCK, axis=axis)
    near = np.argwhere(np.abs(values) < _BAND)
    for start in range(0, len(near), _CHUNK):
        i, j, k = near[start : start + _CHUNK].T
        points = np.stack([lines[0][i], lines[1][j], lines[2][k]], axis=1)
        values[i, j, k] = field.distance(points)
    cubes: Callable[..., tuple[Doubles, Ints, Doubles, Doubles]] = marching_cubes
    found, faces, _, _ = cubes(values, 0.0, allow_degenerate=False)
    positions = np.stack(
        [np.interp(found[:, k], np.arange(len(a)), a) for k, a in enumerate(lines)],
        axis=1,
    )
    positions, faces = _largest(positions, np.asarray(faces, np.int32))
    corners = positions[faces]
    volume = np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2]))
    return positions, faces if volume > 0 else np.ascontiguousarray(faces[:, ::-1])


def _largest(positions: Doubles, faces: Ints) -> tuple[Doubles, Ints]:
    """Keep the largest connected component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(positions)
    i, j = faces[:, [0, 1, 2]].ravel(), faces[:, [1, 2, 0]].ravel()
    links = coo_array((np.ones(len(i)), (i, j)), shape=(count, count))
    _, label = connected_components(links, directed=False)
    keep = label == np.argmax(np.bincount(label))
    row = np.cumsum(keep) - 1
    return positions[keep], row[faces[keep[faces[:, 0]]]].astype(np.int32)


def _reduce(positions: Doubles, faces: Ints, count: int) -> tuple[Doubles, Ints]:
    """Quadric reduction to `count` faces; the border stays in x = 0."""
    import fast_simplification

    points, reduced = fast_simplification.simplify(
        positions.astype(np.float32), faces, target_count=count, agg=3.0
    )
    kept = np.asarray(points, np.float64)
    kept[np.abs(kept[:, 0]) < 1e-6, 0] = 0.0
    return _largest(kept, np.asarray(reduced, np.int32))


def _normals(
    field: BodyField, positions: Doubles, faces: Ints, border: NDArray[np.bool_]
) -> Doubles:
    """Take unit normals (V, 3) of the field, of the faces where it has a crease."""
    corners = positions[faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.zeros_like(positions)
    for k in range(3):
        np.add.at(flat, faces[:, k], sides)
    flat[border, 0] = 0.0
    smooth = field.gradient(positions, step=1.5e-3)
    smooth[border, 0] = 0.0
    flat, smooth = normalize(flat), normalize(smooth)
    trust = np.clip((np.sum(flat * smooth, axis=1) - 0.75) / 0.2, 0.0, 1.0)[:, None]
    return normalize(trust * smooth + (1.0 - trust) * flat)


def _mirror(
    positions: Doubles, normals: Doubles, faces: Ints, border: NDArray[np.bool_]
) -> Skin:
    """Join the half with its mirror image along the border."""
    count = len(positions)
    row = np.arange(count, dtype=np.int32)
    twin = row.copy()
    twin[~border] = count + np.arange(np.count_nonzero(~border), dtype=np.int32)
    flip = np.array([-1.0, 1.0, 1.0])
    return Skin(
        positions=np.concatenate([positions, positions[~border] * flip]),
        normals=np.concatenate([normals, normals[~border] * flip]),
        faces=np.concatenate([faces, twin[faces[:, ::-1]]]).astype(np.int32),
        twin=np.concatenate([twin, row[~border]]),
    )
