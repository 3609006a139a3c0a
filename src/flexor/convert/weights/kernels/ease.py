"""Weights of single points changed where that eases the strain of the skin around them.

In: places of points in poses, their weights, and the triangles around each. A point is
tried with other weights: nearer to those of its neighbours, or with a little of one
joint's given to another's. What is best for the triangles around it in all poses, for
how smoothly weights run, and for how near it stays to where it was, is kept; so no step
makes the sum worse. The neighbours of a point see its new place at once.

A point of six triangles, four joints and 60 poses takes about 0.2 ms to be tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.convert.weights.layout import EaseMesh, EaseRules, EaseWork
from flexor.maths.kernels.jit import inline, jit, part

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

TINY = np.float32(1e-30)
ZERO, ONE, HALF = np.float32(0), np.float32(1), np.float32(0.5)
# From where on a triangle costs: stretched to more, squeezed to less, folded beyond.
STRETCH, SQUEEZE, FOLD = np.float32(1.4), np.float32(0.65), np.float32(-0.2)
MORE = np.float32(0.5)  # than at rest: what is folded there may be
SPARE = np.float32(0.45)  # thicknesses that a point may move for nothing
DEAR = np.float32(2)  # how much a fold costs beside a triangle stretched to twice


@part
def _corner_normal(
    places: Floats, n: Whole, faces: Ints, f: Whole, out: Floats
) -> Real:
    """The unit normal of a triangle in a pose, into `out`; gives twice its area."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ux = places[n, b, 0] - places[n, a, 0]
    uy = places[n, b, 1] - places[n, a, 1]
    uz = places[n, b, 2] - places[n, a, 2]
    vx = places[n, c, 0] - places[n, a, 0]
    vy = places[n, c, 1] - places[n, a, 1]
    vz = places[n, c, 2] - places[n, a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    scale = ONE / max(length, TINY)
    out[0], out[1], out[2] = nx * scale, ny * scale, nz * scale
    return length


@part
def _strain_cost(
    places: Floats, n: Whole, mesh: EaseMesh, f: Whole, twice: Real
) -> Real:
    """What a triangle costs for how it is stretched and squeezed."""
    a, b, c = mesh.faces[f, 0], mesh.faces[f, 1], mesh.faces[f, 2]
    k0, k1, k2 = mesh.flat[f, 0], mesh.flat[f, 1], mesh.flat[f, 2]
    pp, qq, pq = ZERO, ZERO, ZERO
    for axis in range(3):
        u = places[n, b, axis] - places[n, a, axis]
        v = places[n, c, axis] - places[n, a, axis]
        p, q = u * k0, u * k1 + v * k2
        pp += p * p
        qq += q * q
        pq += p * q
    middle, apart = HALF * (pp + qq), HALF * (pp - qq)
    largest = np.sqrt(middle + np.sqrt(apart * apart + pq * pq))
    least = twice * k0 * k2 / max(largest, TINY)
    long = max(largest - STRETCH, ZERO)
    short = max(SQUEEZE - least, ZERO)
    return long * long + short * short


@part
def _star_cost(
    places: Floats,
    n: Whole,
    point: Whole,
    mesh: EaseMesh,
    own: Floats,
    next_to: Floats,
    keep: Real,
) -> Real:
    """What the triangles around a point cost in a pose."""
    cost, area = ZERO, ZERO
    for at in range(mesh.face_starts[point], mesh.face_starts[point + 1]):
        f = mesh.face_list[at]
        twice = _corner_normal(places, n, mesh.faces, f, own)
        mine = _strain_cost(places, n, mesh, f, twice)
        for side in range(3):
            other = mesh.beside[f, side]
            if other < 0:
                continue
            _corner_normal(places, n, mesh.faces, other, next_to)
            dot = own[0] * next_to[0] + own[1] * next_to[1] + own[2] * next_to[2]
            dot *= mesh.signs[f, side]
            if mesh.cosines[f, side] - dot > MORE:
                far = max(FOLD - dot, ZERO)
                mine += DEAR * far * far
        cost += mesh.areas[f] * mine
        area += mesh.areas[f]
    away = ZERO
    for axis in range(3):
        far = places[n, point, axis] - mesh.given[n, point, axis]
        away += far * far
    far = max(np.sqrt(away) / max(mesh.thick[point], TINY) - SPARE, ZERO)
    return cost + keep * area * far * far


@inline
def _put_point(
    places: Floats,
    n: Whole,
    point: Whole,
    bound: Floats,
    matrices: Floats,
    joints: Ints,
    weights: Floats,
    count: Whole,
) -> None:
    """Put a point where some weights want it in a pose."""
    x, y, z = bound[point, 0], bound[point, 1], bound[point, 2]
    for axis in range(3):
        total = ZERO
        for k in range(count):
            m = matrices[n, joints[k]]
            total += weights[k] * (
                m[axis, 0] * x + m[axis, 1] * y + m[axis, 2] * z + m[axis, 3]
            )
        places[n, point, axis] = total


@part
def _roughness(
    names: Ints,
    amounts: Floats,
    count: Whole,
    union: Ints,
    mean: Floats,
    size: Whole,
    rules: EaseRules,
) -> Real:
    """How far weights are from the mean of their neighbours'."""
    total = ZERO
    for i in range(size):
        own = ZERO
        for k in range(count):
            if names[k] == union[i]:
                own = amounts[k]
        total += (own - mean[i]) * (own - mean[i])
    return np.float32(rules.smooth) * total


@part
def _largest(
    union: Ints, values: Floats, size: Whole, most: Whole, names: Ints, amounts: Floats
) -> Whole:
    """The largest of some weights, summing to 1; gives how many."""
    count = 0
    for _ in range(most):
        best = -1
        for i in range(size):
            taken = False
            for k in range(count):
                taken = taken or names[k] == union[i]
            if not taken and values[i] > np.float32(2e-3):
                if best < 0 or values[i] > values[best]:
                    best = i
        if best < 0:
            break
        names[count], amounts[count] = union[best], values[best]
        count += 1
    total = ZERO
    for k in range(count):
        total += amounts[k]
    for k in range(count):
        amounts[k] /= max(total, TINY)
    return count


@part
def _gather(
    point: Whole,
    mesh: EaseMesh,
    joints: Ints,
    weights: Floats,
    union: Ints,
    own: Floats,
    mean: Floats,
) -> Whole:
    """The joints that pull a point or its neighbours; gives how many.

    own: weights of the point; mean: of its neighbours.
    """
    size = 0
    begin, end = mesh.starts[point], mesh.starts[point + 1]
    share = ONE / max(np.float32(end - begin), ONE)
    for at in range(begin - 1, end):
        row = point if at < begin else np.int64(mesh.neighbours[at])
        for k in range(joints.shape[1]):
            name, amount = joints[row, k], weights[row, k]
            if name < 0 or amount <= ZERO:
                continue
            place = -1
            for i in range(size):
                if union[i] == name:
                    place = i
            if place < 0:
                if size == len(union):
                    continue
                place = size
                union[size] = name
                own[size], mean[size] = ZERO, ZERO
                size += 1
            if at < begin:
                own[place] = amount
            else:
                mean[place] += share * amount
    return size


@jit(
    "void(i4[::1], EaseMesh, EaseRules, EaseWork,"
    " out f4[:, :, ::1], out i4[:, ::1], out f4[:, ::1], out f8[::1])",
)
def ease_points(
    order: Ints,
    mesh: EaseMesh,
    rules: EaseRules,
    work: EaseWork,
    places: Floats,
    joints: Ints,
    weights: Floats,
    gained: Doubles,
) -> None:
    """Try each point once, in order, with other weights.

    order: (M,), points; places: (N, P, 3), where the weights put all points, kept up to
    date; joints, weights: (P, K), changed; gained: (1,), what the points cost less than
    before is added.
    """
    poses, most = len(places), joints.shape[1]
    union, names, best_names = work.names[0], work.names[1], work.names[2]
    own, mean, trial = work.amounts[0], work.amounts[1], work.amounts[2]
    amounts, best_amounts = work.amounts[3], work.amounts[4]
    one, other = work.normals[0], work.normals[1]
    keep = np.float32(rules.keep)
    for m in range(len(order)):
        point = np.int64(order[m])
        size = _gather(point, mesh, joints, weights, union, own, mean)
        area = ZERO
        for at in range(mesh.face_starts[point], mesh.face_starts[point + 1]):
            area += mesh.areas[mesh.face_list[at]]
        count = _largest(union, own, size, most, best_names, best_amounts)
        if size < 2 or count == 0:
            continue
        rough = _roughness(best_names, best_amounts, count, union, mean, size, rules)
        least = area * poses * rough
        for n in range(poses):
            least += _star_cost(places, n, point, mesh, one, other, keep)
        begun = least
        # Nearer to the neighbours, then from each joint to each other.
        for step in range(2 + size * size):
            if step < 2:
                for i in range(size):
                    part_way = HALF if step == 0 else ONE
                    trial[i] = own[i] + part_way * (mean[i] - own[i])
            else:
                giver, taker = (step - 2) // size, (step - 2) % size
                if giver == taker:
                    continue
                for i in range(size):
                    trial[i] = ZERO
                for i in range(size):
                    for k in range(count):
                        if best_names[k] == union[i]:
                            trial[i] = best_amounts[k]
                amount = min(np.float32(rules.step), trial[giver])
                if amount <= ZERO:
                    continue
                trial[giver] -= amount
                trial[taker] += amount
            tried = _largest(union, trial, size, most, names, amounts)
            cost = (
                area
                * poses
                * _roughness(names, amounts, tried, union, mean, size, rules)
            )
            for n in range(poses):
                if cost >= least:
                    break
                _put_point(
                    places, n, point, mesh.bound, mesh.matrices, names, amounts, tried
                )
                cost += _star_cost(places, n, point, mesh, one, other, keep)
            if cost < least * np.float32(0.9999):
                least, count = cost, tried
                for k in range(tried):
                    best_names[k], best_amounts[k] = names[k], amounts[k]
        for n in range(poses):
            _put_point(
                places,
                n,
                point,
                mesh.bound,
                mesh.matrices,
                best_names,
                best_amounts,
                count,
            )
        gained[0] += np.float64(begun - least)
        for k in range(most):
            joints[point, k] = best_names[k] if k < count else np.int32(-1)
            weights[point, k] = best_amounts[k] if k < count else ZERO
