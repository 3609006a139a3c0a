"""Even triangles on a distance field: split, collapse, flip, relax.

Enters: an open half mesh whose border lies in the plane x = 0, a field to project on
and the wanted edge length at each point. Leaves: the same surface with triangles of
that size, border still in the plane, topology unchanged.
After Botsch and Kobbelt, "A Remeshing Approach to Multiresolution Modeling" (2004).
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from tools.mannequin.field import BodyField
from tools.mannequin.rotation import normalize

_SPLIT_OVER = 1.38
_COLLAPSE_UNDER = 0.74


class _Net:
    """Triangles with neighbour look-up, editable one edge at a time."""

    def __init__(self, positions: Doubles, faces: Ints, border: NDArray[np.bool_]):
        self.positions = [np.array(p) for p in positions]
        self.border = [bool(b) for b in border]
        self.faces: dict[int, tuple[int, int, int]] = {}
        self.around: list[set[int]] = [set() for _ in positions]
        self._next = 0
        for face in faces:
            self.add((int(face[0]), int(face[1]), int(face[2])))

    def add(self, face: tuple[int, int, int]) -> None:
        self.faces[self._next] = face
        for vertex in face:
            self.around[vertex].add(self._next)
        self._next += 1

    def remove(self, key: int) -> None:
        for vertex in self.faces.pop(key):
            self.around[vertex].discard(key)

    def edges(self) -> list[tuple[int, int]]:
        pairs = {
            (min(a, b), max(a, b))
            for f in self.faces.values()
            for a, b in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))
        }
        return sorted(pairs)

    def sides(self, a: int, b: int) -> list[int]:
        return sorted(self.around[a] & self.around[b])

    def ring(self, a: int) -> set[int]:
        return {v for key in self.around[a] for v in self.faces[key]} - {a}

    def normal(self, face: Iterable[int], moved: int = -1, to: int = -1) -> Doubles:
        p, q, r = (self.positions[to if v == moved else v] for v in face)
        u, v = q - p, r - p
        return np.array(
            [
                u[1] * v[2] - u[2] * v[1],
                u[2] * v[0] - u[0] * v[2],
                u[0] * v[1] - u[1] * v[0],
            ]
        )

    def arrays(self) -> tuple[Doubles, Ints, NDArray[np.bool_]]:
        used = sorted({v for f in self.faces.values() for v in f})
        row = {v: i for i, v in enumerate(used)}
        faces = [[row[v] for v in self.faces[k]] for k in sorted(self.faces)]
        positions = np.stack([self.positions[v] for v in used])
        border = np.array([self.border[v] for v in used])
        return positions, np.array(faces, np.int32), border


def remesh(
    positions: Doubles,
    faces: Ints,
    *,
    field: BodyField,
    size: Callable[[Doubles], Doubles],
    rounds: int = 8,
    polish: int = 5,
) -> tuple[Doubles, Ints]:
    """Remesh positions (V, 3), faces (F, 3) to edges of length `size(points)`.

    field: the surface to stay on.
    rounds: split, collapse, flip and relax; polish: flip and relax only.
    """
    border = positions[:, 0] < 1e-9
    for step in range(rounds + polish):
        net = _Net(positions, faces, border)
        if step < rounds:
            _split_long(net, size(positions))
            positions, faces, border = net.arrays()
            net = _Net(positions, faces, border)
            _collapse_short(net, size(positions))
        _flip(net)
        positions, faces, border = net.arrays()
        for _ in range(3):
            normal = normalize(field.gradient(positions))
            moved = _relax(positions, faces, border, size(positions)) - positions
            along = np.sum(moved * normal, axis=1, keepdims=True)
            positions = project(field, positions + moved - along * normal, border)
    for _ in range(4):
        positions = project(field, positions, border)
    return positions, faces


def project(field: BodyField, points: Doubles, border: NDArray[np.bool_]) -> Doubles:
    """One Newton step (N, 3) onto the surface, at most 4 mm; border stays in plane."""
    inside = points.copy()
    inside[:, 0] = np.maximum(inside[:, 0], 0.0)
    slope = field.gradient(inside)
    slope[border, 0] = 0.0
    distance = field.distance(inside) / np.maximum(np.sum(slope**2, axis=1), 0.05)
    moved = inside - np.clip(distance, -4e-3, 4e-3)[:, None] * slope
    moved[border, 0] = 0.0
    moved[~border, 0] = np.maximum(moved[~border, 0], 1e-4)
    return np.asarray(moved)


def _lengths(net: _Net, edges: list[tuple[int, int]]) -> Doubles:
    p = np.stack(net.positions)
    e = np.array(edges)
    return np.asarray(np.linalg.norm(p[e[:, 0]] - p[e[:, 1]], axis=1))


def _split_long(net: _Net, size: Doubles) -> None:
    edges = net.edges()
    e = np.array(edges)
    ratio = _lengths(net, edges) / (0.5 * (size[e[:, 0]] + size[e[:, 1]]))
    for i in np.argsort(-ratio, kind="stable"):
        if ratio[i] < _SPLIT_OVER:
            break
        a, b = edges[i]
        sides = net.sides(a, b)
        middle = len(net.positions)
        net.positions.append(0.5 * (net.positions[a] + net.positions[b]))
        net.border.append(len(sides) == 1)
        net.around.append(set())
        for key in sides:
            face = net.faces[key]
            net.remove(key)
            net.add(_swap(face, a, middle))
            net.add(_swap(face, b, middle))


def _swap(face: tuple[int, int, int], old: int, new: int) -> tuple[int, int, int]:
    a, b, c = (new if v == old else v for v in face)
    return a, b, c


def _collapse_short(net: _Net, size: Doubles) -> None:
    edges = net.edges()
    e = np.array(edges)
    ratio = _lengths(net, edges) / (0.5 * (size[e[:, 0]] + size[e[:, 1]]))
    for i in np.argsort(ratio, kind="stable"):
        if ratio[i] > _COLLAPSE_UNDER:
            break
        keep, lose = edges[i]
        if net.border[lose] and not net.border[keep]:
            keep, lose = lose, keep
        if _can_collapse(net, keep, lose, float(size[keep])):
            both = not net.border[keep] and not net.border[lose]
            if both or (net.border[keep] and net.border[lose]):
                net.positions[keep] = 0.5 * (net.positions[keep] + net.positions[lose])
            for key in sorted(net.around[lose]):
                face = net.faces[key]
                net.remove(key)
                if keep not in face:
                    net.add(_swap(face, lose, keep))


def _can_collapse(net: _Net, keep: int, lose: int, size: float) -> bool:
    """Refuse what would change the topology, fold a face or make a long edge."""
    sides = net.sides(keep, lose)
    if not sides or len(net.ring(keep) & net.ring(lose)) != len(sides):
        return False
    if net.border[keep] and net.border[lose] and len(sides) != 1:
        return False
    target = net.positions[keep]
    for vertex in net.ring(lose):
        if np.linalg.norm(net.positions[vertex] - target) > _SPLIT_OVER * size:
            return False
    for key in net.around[lose] - set(sides):
        before = net.normal(net.faces[key])
        after = net.normal(net.faces[key], lose, keep)
        if before @ after < 0.3 * np.sqrt((before @ before) * (after @ after)):
            return False
    return True


def _flip(net: _Net) -> None:
    """Turn edges where that brings valences nearer to six (four on the border)."""
    for a, b in net.edges():
        sides = net.sides(a, b)
        if len(sides) != 2:
            continue
        first, second = net.faces[sides[0]], net.faces[sides[1]]
        if first[(first.index(a) + 1) % 3] != b:
            first, second = second, first
        c = next(v for v in first if v not in (a, b))
        d = next(v for v in second if v not in (a, b))
        if net.around[c] & net.around[d]:
            continue
        change = 0
        for vertex, step in ((a, -1), (b, -1), (c, 1), (d, 1)):
            want = 4 if net.border[vertex] else 6
            # A fan of triangles has a vertex more than triangles.
            have = len(net.around[vertex]) + net.border[vertex]
            change += (have + step - want) ** 2 - (have - want) ** 2
        if change >= 0:
            continue
        across = np.linalg.norm(net.positions[c] - net.positions[d])
        if across > 1.6 * np.linalg.norm(net.positions[a] - net.positions[b]):
            continue
        old = [net.normal(first), net.normal(second)]
        new = [net.normal((a, d, c)), net.normal((d, b, c))]
        if all(_agree(n, o) for n in new for o in old):
            net.remove(sides[0])
            net.remove(sides[1])
            net.add((a, d, c))
            net.add((d, b, c))


def _agree(a: Doubles, b: Doubles) -> bool:
    return bool(a @ b > 0.5 * np.sqrt((a @ a) * (b @ b)))


def _relax(
    positions: Doubles, faces: Ints, border: NDArray[np.bool_], size: Doubles
) -> Doubles:
    """Move vertices to the weighted centre of their faces, along the border on it."""
    corners = positions[faces]
    centre = corners.mean(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(normal, axis=1) / size[faces].mean(axis=1) ** 3
    total, pull = np.zeros(len(positions)), np.zeros_like(positions)
    for k in range(3):
        np.add.at(total, faces[:, k], weight)
        np.add.at(pull, faces[:, k], weight[:, None] * centre)
    moved = positions + 0.6 * (pull / total[:, None] - positions)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    pairs, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    rim = pairs[counts == 1]
    sums = np.zeros_like(positions)
    np.add.at(sums, rim[:, 0], positions[rim[:, 1]])
    np.add.at(sums, rim[:, 1], positions[rim[:, 0]])
    moved[border] = 0.5 * positions[border] + 0.25 * sums[border]
    return np.asarray(moved)
