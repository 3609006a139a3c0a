"""How well points fit the tapered elliptic cylinders around bones.

A bone is a row of 23 numbers: bone_from_mesh (12), its length, the radii along Y and Z
and the offsets along Y and Z at the base, the same at the tip (8), how fast the score
falls beyond base and tip (2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

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
