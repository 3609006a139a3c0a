"""How well points fit the tapered elliptic cylinders around bones.

A bone is a row of 23 numbers: bone_from_mesh (12), its length, the radii along Y and Z
and the offsets along Y and Z at the base, the same at the tip (8), how fast the score
falls beyond base and tip (2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Real

LENGTH, RADII, OFFSETS, FALLS, WIDTH = 12, 13, 17, 21, 23


@inline
def _score(
    bone: Floats,
    x: Real,
    y: Real,
    z: Real,
) -> Real:
    """The score of a point (x, y, z): 1 on the axis, 0.5 on the ellipse, above 0.

    Inside it falls with the square of the distance from the axis, outside gently with
    the distance, beyond the ends fast: with the square of the way in thicknesses.
    """
    u = bone[0] * x + bone[1] * y + bone[2] * z + bone[3]
    v = bone[4] * x + bone[5] * y + bone[6] * z + bone[7]
    w = bone[8] * x + bone[9] * y + bone[10] * z + bone[11]
    length = bone[LENGTH]
    t = np.float32(0)
    if length > 0:
        t = min(max(u / length, np.float32(0)), np.float32(1))
    ry = bone[RADII] + (bone[RADII + 2] - bone[RADII]) * t
    rz = bone[RADII + 1] + (bone[RADII + 3] - bone[RADII + 1]) * t
    dy = (v - bone[OFFSETS] - (bone[OFFSETS + 2] - bone[OFFSETS]) * t) / ry
    dz = (w - bone[OFFSETS + 1] - (bone[OFFSETS + 3] - bone[OFFSETS + 1]) * t) / rz
    square = dy * dy + dz * dz
    if square <= 1:
        score = np.float32(1) - np.float32(0.5) * square
    else:
        score = np.float32(0.5) / np.float32(math.sqrt(square))
    if u < 0:
        score /= np.float32(1) + bone[FALLS] * u * u / (ry * rz)
    elif u > length:
        over = u - length
        score /= np.float32(1) + bone[FALLS + 1] * over * over / (ry * rz)
    return score


@jit("void(f4[:, ::1], f4[:, ::1], i4[::1], out i4[:, ::1], out f4[:, ::1])")
def best_bones(
    points: Floats,
    bones: Floats,
    rows: Ints,
    joints: Ints,
    scores: Floats,
) -> None:
    """The best bones of each point, the best first.

    points: (P, 3); bones: (B, 23); rows: (B,), the joint of each; joints: (P, K), -1
    where there are fewer than K bones; scores: (P, K). Of equal ones the first counts.
    """
    most = joints.shape[1]
    for p in range(len(points)):
        for k in range(most):
            joints[p, k] = -1
            scores[p, k] = np.float32(0)
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        for b in range(len(bones)):
            score = _score(bones[b], x, y, z)
            k = most
            while k > 0 and (joints[p, k - 1] < 0 or score > scores[p, k - 1]):
                k -= 1
            if k == most:
                continue
            for i in range(most - 1, k, -1):
                joints[p, i] = joints[p, i - 1]
                scores[p, i] = scores[p, i - 1]
            joints[p, k] = rows[b]
            scores[p, k] = score


@jit("void(f4[:, ::1], f4[:, ::1], i4[::1], i4[::1], i4[::1], out i4[::1])")
def best_near(
    points: Floats,
    bones: Floats,
    labels: Ints,
    starts: Ints,
    rows: Ints,
    best: Ints,
) -> None:
    """The best of the bones around the one that each point was given before.

    points: (P, 3); bones: (S, 23), of all joints; labels: (P,), joints; starts: (S +
    1,), rows: those around joint j are rows[starts[j] : starts[j + 1]]; best: (P,). Of
    equal ones the first counts; where there are none, the label stays.
    """
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        most, chosen = np.float32(-1), labels[p]
        for i in range(starts[labels[p]], starts[labels[p] + 1]):
            score = _score(bones[rows[i]], x, y, z)
            if score > most:
                most, chosen = score, rows[i]
        best[p] = chosen


@jit("void(f4[:, ::1], f4[:, ::1], i4[:, ::1], out f4[:, ::1])")
def tie_scores(
    points: Floats,
    bones: Floats,
    joints: Ints,
    scores: Floats,
) -> None:
    """The score of every tie: points: (P, 3); bones: (S, 23), of all joints; joints:
    (P, K), -1 for none; scores: (P, K), 0 for none.
    """
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        for k in range(joints.shape[1]):
            scores[p, k] = np.float32(0)
            if joints[p, k] >= 0:
                scores[p, k] = _score(bones[joints[p, k]], x, y, z)


@jit("void(f4[:, ::1], f4[:, :, ::1], out f4[::1])")
def winding_numbers(
    points: Floats,
    triangles: Floats,
    turns: Floats,
) -> None:
    """How often a surface goes around each point: 0 outside, 1 inside, or between.

    points: (P, 3); triangles: (F, 3, 3), corners; turns: (P,). The solid angle of each
    triangle: van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983.
    """
    for p in range(len(points)):
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        total = 0.0
        for f in range(len(triangles)):
            ax, ay = triangles[f, 0, 0] - x, triangles[f, 0, 1] - y
            az = triangles[f, 0, 2] - z
            bx, by = triangles[f, 1, 0] - x, triangles[f, 1, 1] - y
            bz = triangles[f, 1, 2] - z
            cx, cy = triangles[f, 2, 0] - x, triangles[f, 2, 1] - y
            cz = triangles[f, 2, 2] - z
            a = math.sqrt(ax * ax + ay * ay + az * az)
            b = math.sqrt(bx * bx + by * by + bz * bz)
            c = math.sqrt(cx * cx + cy * cy + cz * cz)
            volume = ax * (by * cz - bz * cy)
            volume += ay * (bz * cx - bx * cz)
            volume += az * (bx * cy - by * cx)
            rest = a * b * c + (ax * bx + ay * by + az * bz) * c
            rest += (bx * cx + by * cy + bz * cz) * a
            rest += (cx * ax + cy * ay + cz * az) * b
            total += atan2(volume, rest)
        turns[p] = np.float32(total / (2 * math.pi))
