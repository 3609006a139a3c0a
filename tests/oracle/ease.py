"""Easing as plain loops: every candidate tried whole, float64, weights as dicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.weights.layout import EaseMesh, EaseRules
from tests.oracle import strain

Weights = dict[int, float]


def make_mesh(bound: Any, faces: Any, matrices: Any, rows: list[Weights]) -> EaseMesh:
    """The records of the kernel; matrices: (N, S, 3, 4); rows: of all points."""
    faces = np.asarray(faces, np.int32).reshape(-1, 3)
    near: list[set[int]] = [set() for _ in bound]
    around: list[list[int]] = [[] for _ in bound]
    flat, areas = [], []
    for row, (a, b, c) in enumerate(faces.tolist()):
        for one in (a, b, c):
            near[one] |= {a, b, c} - {one}
            around[one].append(row)
        u, v = bound[b] - bound[a], bound[c] - bound[a]
        long, high = np.linalg.norm(u), np.linalg.norm(np.cross(u, v))
        high /= long
        flat.append((1 / long, -(u @ v) / long / (long * high), 1 / high))
        areas.append(long * high / 2)
    beside: Any = np.full((len(faces), 3), -1, np.int32)
    signs: Any = np.ones((len(faces), 3), np.float32)
    cosines: Any = np.ones((len(faces), 3), np.float32)
    for one, other, sign in strain.edges(faces).values():
        value = strain.cosine(bound, faces, (one, other, sign))
        for mine, theirs in ((one, other), (other, one)):
            column = int(np.flatnonzero(beside[mine] < 0)[0])
            beside[mine, column] = theirs
            signs[mine, column], cosines[mine, column] = sign, value
    given = all_places(bound, matrices, rows)

    def starts(lists: Any) -> Any:
        return np.cumsum([0, *(len(one) for one in lists)]).astype(np.int32)

    def joined(lists: Any) -> Any:
        return np.array([one for own in lists for one in sorted(own)], np.int32)

    return EaseMesh(
        np.asarray(bound, np.float32),
        given.astype(np.float32),
        np.full(len(bound), 0.7, np.float32),
        np.ascontiguousarray(matrices, np.float32),
        starts(near),
        joined(near),
        starts(around),
        joined(around),
        faces,
        np.array(flat, np.float32).reshape(-1, 3),
        (np.array(areas) / max(sum(areas), 1e-30)).astype(np.float32),
        beside,
        signs,
        cosines,
    )


def place(bound: Any, matrices: Any, row: Weights) -> Any:
    """Where weights put a point in each pose, (N, 3)."""
    there = np.zeros((len(matrices), 3))
    for joint, weight in row.items():
        own = np.asarray(matrices[:, joint], float)
        there += weight * (own[:, :, :3] @ bound + own[:, :, 3])
    return there


def all_places(bound: Any, matrices: Any, rows: list[Weights]) -> Any:
    """Where weights put all points, (N, P, 3)."""
    found = np.zeros((len(matrices), len(rows), 3))
    for point, row in enumerate(rows):
        found[:, point] = place(np.asarray(bound[point], float), matrices, row)
    return found


def face_cost(mesh: EaseMesh, places: Any, face: int) -> float:
    """What a triangle costs in a pose, with its folds; places: (P, 3)."""
    corners = places[mesh.faces[face]]
    k0, k1, k2 = mesh.flat[face].tolist()
    sides = np.stack([corners[1] - corners[0], corners[2] - corners[0]], 1)
    largest, least = np.linalg.svd(sides @ [[k0, k1], [0, k2]], compute_uv=False)
    cost = max(largest - 1.4, 0) ** 2 + max(0.65 - least, 0) ** 2
    for side in range(3):
        other = int(mesh.beside[face, side])
        if other < 0:
            continue
        one, two = strain.normal(corners), strain.normal(places[mesh.faces[other]])
        dot = float(one @ two) * float(mesh.signs[face, side])
        if mesh.cosines[face, side] - dot > 0.5:
            cost += 2 * max(-0.2 - dot, 0) ** 2
    return float(cost)


def star_cost(mesh: EaseMesh, rules: EaseRules, places: Any, point: int) -> float:
    """What a point costs in all poses for its triangles and for having moved."""
    faces = mesh.face_list[mesh.face_starts[point] : mesh.face_starts[point + 1]]
    total = 0.0
    for pose, given in zip(places, np.asarray(mesh.given, float), strict=True):
        for face in faces.tolist():
            total += float(mesh.areas[face]) * face_cost(mesh, pose, face)
        far = float(np.linalg.norm(pose[point] - given[point])) / mesh.thick[point]
        total += rules.keep * mesh.areas[faces].sum() * max(far - 0.45, 0) ** 2
    return float(total)


def rough_cost(
    mesh: EaseMesh, rules: EaseRules, rows: list[Weights], point: int, row: Weights
) -> float:
    """What it costs that weights of a point differ from the mean of its neighbours'."""
    mean = mean_row(mesh, rows, point)
    faces = mesh.face_list[mesh.face_starts[point] : mesh.face_starts[point + 1]]
    off = sum((row.get(n, 0) - mean.get(n, 0)) ** 2 for n in {*row, *mean})
    area = float(mesh.areas[faces].sum())
    return float(area * len(mesh.matrices) * rules.smooth * off)


def point_cost(
    mesh: EaseMesh, rules: EaseRules, rows: list[Weights], point: int, row: Weights
) -> float:
    """All that a point costs with some weights, the others with theirs."""
    tried = [*rows[:point], row, *rows[point + 1 :]]
    places = all_places(mesh.bound, mesh.matrices, tried)
    return star_cost(mesh, rules, places, point) + rough_cost(
        mesh, rules, rows, point, row
    )


def mean_row(mesh: EaseMesh, rows: list[Weights], point: int) -> Weights:
    near = mesh.neighbours[mesh.starts[point] : mesh.starts[point + 1]].tolist()
    mean: Weights = {}
    for one in near:
        for joint, weight in rows[one].items():
            mean[joint] = mean.get(joint, 0) + weight / len(near)
    return mean


def largest(row: Weights, names: list[int], most: int) -> Weights:
    """The largest weights, of equal ones those named first, summing to 1."""
    order = sorted(names, key=lambda n: -row.get(n, 0))
    kept = [n for n in order if row.get(n, 0) > 2e-3][:most]
    total = sum(row[n] for n in kept)
    return {n: row[n] / total for n in kept}


def ease_point(
    mesh: EaseMesh, rules: EaseRules, rows: list[Weights], point: int, most: int
) -> Weights:
    """The weights of a point after one step."""
    near = mesh.neighbours[mesh.starts[point] : mesh.starts[point + 1]].tolist()
    names: list[int] = []
    for one in (point, *near):
        names += [n for n, w in rows[one].items() if w > 0 and n not in names]
    best = largest(rows[point], names, most)
    if len(names) < 2 or not best:
        return rows[point]
    own, mean = dict(rows[point]), mean_row(mesh, rows, point)
    least = star_cost(
        mesh, rules, all_places(mesh.bound, mesh.matrices, rows), point
    ) + rough_cost(mesh, rules, rows, point, best)
    for step in range(2 + len(names) ** 2):
        if step < 2:
            part = 0.5 if step == 0 else 1.0
            row = {
                n: own.get(n, 0) + part * (mean.get(n, 0) - own.get(n, 0))
                for n in names
            }
        else:
            giver, taker = (names[i] for i in divmod(step - 2, len(names)))
            row = {n: best.get(n, 0.0) for n in names}
            amount = min(rules.step, row[giver])
            if giver == taker or amount <= 0:
                continue
            row[giver] -= amount
            row[taker] += amount
        tried = largest(row, names, most)
        cost = point_cost(mesh, rules, rows, point, tried)
        if cost < least * 0.9999:
            least, best = cost, tried
    return best
