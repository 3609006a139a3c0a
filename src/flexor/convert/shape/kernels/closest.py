"""The nearest point of a surface, by a tree of boxes.

In: triangles in the order of the tree's leaves, boxes of all its nodes, points. Out:
the triangle, its barycentric weights there and the squared distance. A node n has the
children 2 n + 1 and 2 n + 2; the last level holds the leaves, of which leaf k has the
triangles starts[k] to starts[k + 1]. All in float64: points on an edge that two faces
share must not lie behind both.

The nearer child is searched first; a box is left out only if it is further than the
best so far, so that of triangles at the same distance the lowest number wins. 20,000
points near a sphere of 20,000 triangles, two threads: 80 ms, of which the tree takes
50; leaves of 2, 4 or 8 triangles make no difference beyond the noise. Points that are
as far from all triangles as from any, such as a sphere's middle, cost as much as trying
all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole

DEPTH = 64  # of the stack; trees of 2^31 triangles are 30 levels deep
ROOM = (
    3 + DEPTH
)  # weights of a triangle's corners, and how far the boxes of the stack are


@inline
def _box_distance(
    boxes: Doubles,
    node: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> Real:
    """The squared distance from a box: three least, three largest coordinates."""
    dx = max(max(boxes[node, 0] - x, x - boxes[node, 3]), 0.0)
    dy = max(max(boxes[node, 1] - y, y - boxes[node, 4]), 0.0)
    dz = max(max(boxes[node, 2] - z, z - boxes[node, 5]), 0.0)
    return dx * dx + dy * dy + dz * dz


@inline
def _along(
    px: Real,
    py: Real,
    pz: Real,
    ex: Real,
    ey: Real,
    ez: Real,
) -> Real:
    """How far along a side e its point nearest to p is, 0 to 1; both from its start."""
    square = ex * ex + ey * ey + ez * ez
    if square <= 0:
        return 0.0
    return min(max((px * ex + py * ey + pz * ez) / square, 0.0), 1.0)


@inline
def _square(
    x: Real,
    y: Real,
    z: Real,
) -> Real:
    return x * x + y * y + z * z


@inline
def _closest(
    triangle: Doubles,
    x: Real,
    y: Real,
    z: Real,
    weights: Doubles,
) -> Real:
    """The squared distance from a triangle (9,); weights (3,): where it is nearest."""
    ax, ay, az = triangle[0], triangle[1], triangle[2]
    bx, by, bz = triangle[3] - ax, triangle[4] - ay, triangle[5] - az
    cx, cy, cz = triangle[6] - ax, triangle[7] - ay, triangle[8] - az
    px, py, pz = x - ax, y - ay, z - az
    # Inside, if the triangle has an inside and the foot of the point lies in it.
    bb, cc = _square(bx, by, bz), _square(cx, cy, cz)
    bc = bx * cx + by * cy + bz * cz
    pb = px * bx + py * by + pz * bz
    pc = px * cx + py * cy + pz * cz
    area = bb * cc - bc * bc
    if area > 1e-10 * bb * cc:
        u = (cc * pb - bc * pc) / area
        v = (bb * pc - bc * pb) / area
        if u >= 0 and v >= 0 and u + v <= 1:
            weights[0], weights[1], weights[2] = 1 - u - v, u, v
            return _square(
                px - u * bx - v * cx, py - u * by - v * cy, pz - u * bz - v * cz
            )
    # Else on the nearest of the three sides.
    t = _along(px, py, pz, bx, by, bz)
    best = _square(px - t * bx, py - t * by, pz - t * bz)
    weights[0], weights[1], weights[2] = 1 - t, t, 0.0
    t = _along(px, py, pz, cx, cy, cz)
    away = _square(px - t * cx, py - t * cy, pz - t * cz)
    if away < best:
        best = away
        weights[0], weights[1], weights[2] = 1 - t, 0.0, t
    ex, ey, ez = cx - bx, cy - by, cz - bz
    qx, qy, qz = px - bx, py - by, pz - bz
    t = _along(qx, qy, qz, ex, ey, ez)
    away = _square(qx - t * ex, qy - t * ey, qz - t * ez)
    if away < best:
        best = away
        weights[0], weights[1], weights[2] = 0.0, 1 - t, t
    return best


@jit(
    "void(f8[:, ::1], f8[:, ::1], i4[::1], i4[::1], f8[:, ::1],"
    " out i4[::1], out f8[:, ::1], out f8[::1], out i4[::1], out f8[::1])"
)
def closest_points(
    points: Doubles,
    triangles: Doubles,
    faces: Ints,
    starts: Ints,
    boxes: Doubles,
    face: Ints,
    weights: Doubles,
    squares: Doubles,
    stack: Ints,
    room: Doubles,
) -> None:
    """The nearest surface point of each point.

    points: (P, 3); triangles: (F, 9), in the order of the leaves; faces: (F,), their
    numbers; starts: (L + 1,), of the L leaves; boxes: (2 L - 1, 6); face: (P,),
    weights: (P, 3), squares: (P,), squared distances; stack: (DEPTH,), room: (ROOM,).
    """
    first_leaf = len(starts) - 2
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        best, found = np.inf, -1
        stack[0], room[3] = 0, 0.0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            if room[3 + size] > best:
                continue
            if node >= first_leaf:
                leaf = node - first_leaf
                for i in range(starts[leaf], starts[leaf + 1]):
                    away = _closest(triangles[i], x, y, z, room)
                    if away < best or (away == best and faces[i] < found):
                        best, found = away, faces[i]
                        for k in range(3):
                            weights[p, k] = room[k]
                continue
            near, far = 2 * node + 1, 2 * node + 2
            away_near = _box_distance(boxes, near, x, y, z)
            away_far = _box_distance(boxes, far, x, y, z)
            if away_far < away_near:
                near, far = far, near
                away_near, away_far = away_far, away_near
            if away_far <= best:
                stack[size], room[3 + size] = far, away_far
                size += 1
            if away_near <= best:
                stack[size], room[3 + size] = near, away_near
                size += 1
        face[p] = found
        squares[p] = best
