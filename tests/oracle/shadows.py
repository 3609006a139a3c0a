"""Shadows, slowly: light cast against every triangle, and the six steps one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground

Rows = Any  # float64 arrays


def _slide(points: Rows, light: Rows) -> Rows:
    """Where light through points (..., 3) crosses the level 0: x and z (..., 2)."""
    return points[..., [0, 2]] - points[..., 1:2] * light[[0, 2]] / light[1]


def _cross(a: Rows, b: Rows) -> Rows:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def meet(points: Rows, light: Rows, ground: Ground) -> tuple[Rows, Rows]:
    """Where light through points (n, 3) first meets the ground below them: places
    (n, 3), and normals (n, 3); NaN where it does not: below the ground, or beyond its
    edges.

    Seen along the light, the ground's triangles are triangles in a plane, and a point
    is in some of them: the highest below it is the one that is met.
    """
    points, light = np.asarray(points, np.float64), np.asarray(light, np.float64)
    corners, faces = ground.mesh()
    flat, seen = _slide(corners, light), _slide(points, light)
    order = np.argsort(seen[:, 0], kind="stable")
    sorted_x = seen[order, 0]
    heights = np.full(len(points), -np.inf)
    normals = np.full((len(points), 3), np.nan)
    least, most = flat[faces].min(1) - 1e-9, flat[faces].max(1) + 1e-9
    is_near = (most >= seen.min(0)).all(1) & (least <= seen.max(0)).all(1)
    for row in np.flatnonzero(is_near):
        face = faces[row]
        a, b, c = flat[face]
        first, last = np.searchsorted(sorted_x, [least[row, 0], most[row, 0]])
        rows = order[first:last]
        area = _cross(b - a, c - a)
        is_in = (seen[rows, 1] >= least[row, 1]) & (seen[rows, 1] <= most[row, 1])
        rows = rows[is_in]
        if not len(rows) or abs(area) < 1e-12:
            continue
        way = seen[rows] - a
        v = _cross(way, c - a) / area
        w = _cross(b - a, way) / area
        inside = (v >= -1e-9) & (w >= -1e-9) & (v + w <= 1 + 1e-9)
        rows, v, w = rows[inside], v[inside], w[inside]
        one, two, three = corners[face]
        y = one[1] + v * (two - one)[1] + w * (three - one)[1]
        is_better = (y <= points[rows, 1] + 1e-9) & (y > heights[rows])
        normal = np.cross(two - one, three - one)
        heights[rows[is_better]] = y[is_better]
        normals[rows[is_better]] = normal / np.linalg.norm(normal)
    # A point below the ground sees a triangle behind it, or none.
    is_met = np.isfinite(heights)
    height = np.where(is_met, heights, np.nan)
    down = points[:, 1] - height
    places = points - down[:, None] * light / light[1]
    return places, normals


def _shift(x: float, y: float, z: float) -> Rows:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def part_matrix(
    light: Rows,
    standing: float,
    place: Rows,
    normal: Rows,
    *,
    is_rigid: bool = False,
) -> Rows:
    """The matrix of a part (3, 4), step by step.

    standing: the ground's height under the character; place, normal: (3,), where the
    shadow of the part's middle falls, and the ground there. is_rigid: moved straight up
    and turned as stiff things are; otherwise both along the light.
    """
    light, place, normal = (np.asarray(v, np.float64) for v in (light, place, normal))
    down = _shift(0, -standing, 0)
    project = np.eye(4)
    project[:3, 1] -= light / light[1]
    rise = np.array([0.0, place[1], 0.0])
    if not is_rigid:
        rise[[0, 2]] = light[[0, 2]] / light[1] * (place[1] - standing)
    turn = np.eye(4)
    if is_rigid:
        up = np.array([0.0, 1.0, 0.0])
        axis, cosine = np.cross(up, normal), normal[1]
        cross = np.array(
            [
                [0, -axis[2], axis[1]],
                [axis[2], 0, -axis[0]],
                [-axis[1], axis[0], 0],
            ]
        )
        turn[:3, :3] += cross + cross @ cross / (1 + cosine)
    else:
        # Of a level plane, along the light, onto the slope.
        turn[:3, :3] -= np.outer(light, normal) / (light @ normal)
    to_origin, from_origin = _shift(*-place), _shift(*place)
    whole = from_origin @ turn @ to_origin @ _shift(*rise) @ project @ down
    return whole[:3]


def spread(faces: Rows, positions: Rows, gap: float = 0.003) -> tuple[Rows, Rows]:
    """Points spread over a surface, about `gap` metres apart: the face of each (n,),
    and where it is (n, 3).
    """
    a, b, c = np.moveaxis(positions[faces].astype(np.float64), 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    rows = np.repeat(np.arange(len(faces)), np.ceil(areas / gap**2).astype(int))
    # A sequence that fills the unit square evenly, folded into a triangle.
    u = np.arange(len(rows)) * 0.7548776662466927 % 1
    v = np.arange(len(rows)) * 0.5698402909980532 % 1
    over = u + v > 1
    u, v = np.where(over, 1 - u, u)[:, None], np.where(over, 1 - v, v)[:, None]
    return rows, a[rows] * (1 - u - v) + b[rows] * u + c[rows] * v


def outline(points: Rows, cell: float = 0.005) -> Rows:
    """The outline, seen from above, of a shadow of dense points (n, 3): x and z."""
    from scipy import ndimage

    marks = np.floor(points[:, [0, 2]] / cell).astype(int)
    low = marks.min(0) - 3
    mask = np.zeros(marks.max(0) - low + 4, bool)
    mask[tuple((marks - low).T)] = True
    mask = ndimage.binary_closing(mask)
    rim = mask & ~ndimage.binary_erosion(mask)
    return (np.argwhere(rim) + low + 0.5) * cell


def outline_distance(a: Rows, b: Rows) -> float:
    """Metres from an outline to another, and back, in the mean."""
    from scipy.spatial import cKDTree

    there, back = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    return float(np.concatenate([there, back]).mean())
