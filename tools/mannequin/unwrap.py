"""Texture coordinates: half-shell charts, flattened by least squares and packed.

Every part of the body is cut into two shells (front and back, palm and back, sole and
top), like the two halves of a mould, so there are few charts and few doubled vertices.
Tried: xatlas gives 56 charts on this skin and doubles 1,590 vertices; this, 930.
Flattening after Levy and others, "Least Squares Conformal Maps" (2002).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Rows
from tools.mannequin.body import Skin
from tools.mannequin.field import PARTS, BodyField, nearest_part
from tools.mannequin.nodes import FINGERS, NodeTable, hand_axes

_FRINGE_ROUNDS = 12
_SMALL_CHART = 24
_RIGID_ROUNDS = 30
_GAP = 0.0100


@dataclass(frozen=True, slots=True, eq=False)
class Charts:
    """Texture coordinates; vertices on chart borders are doubled.

    source: int32 (V,), the skin vertex each vertex copies.
    texcoords: float32 (V, 2), v down as in glTF; faces: int32 (F, 3).
    """

    source: NDArray[np.int32]
    texcoords: NDArray[np.float32]
    faces: NDArray[np.int32]


def build_charts(skin: Skin, field: BodyField, nodes: NodeTable) -> Charts:
    """Unwrap the skin without overlaps into the unit square."""
    labels = _clean(skin.faces, _shells(skin, field, nodes))
    sources, flats, pieces = [], [], []
    for label in range(int(labels.max()) + 1):
        faces = skin.faces[labels == label]
        used, local = np.unique(faces, return_inverse=True)
        local = local.reshape(-1, 3)
        flats.append(_flatten(skin.positions[used], local))
        sources.append(used)
        pieces.append(local)
    placed = _pack(flats)
    starts = np.cumsum([0, *(len(s) for s in sources[:-1])])
    order = np.argsort(labels, kind="stable")
    faces = np.empty_like(skin.faces)
    faces[order] = np.concatenate(
        [local + start for local, start in zip(pieces, starts, strict=True)]
    )
    return Charts(
        source=np.concatenate(sources).astype(np.int32),
        texcoords=np.concatenate(placed).astype(np.float32),
        faces=faces.astype(np.int32),
    )


def _shells(skin: Skin, field: BodyField, nodes: NodeTable) -> Rows:
    """First cut: a label (F,) for each side, part and half shell."""
    centre = skin.positions[skin.faces].mean(axis=1)
    is_right = centre[:, 0] < 0.0
    point = centre * np.where(is_right, -1.0, 1.0)[:, None] ** [1, 0, 0]
    part = nearest_part(field, point)
    name = np.array(PARTS)[part]
    at = {n: nodes.positions[i] for i, n in enumerate(nodes.names)}
    palm = hand_axes()[:, 2]
    front = point[:, 2] > -0.004
    limb, is_leg = name == "arm", name == "leg"
    front[limb] = point[limb, 2] > at["l-arm"][2]
    along = (point[:, 1] - at["l-ankle"][1]) / (at["l-hip"][1] - at["l-ankle"][1])
    middle = at["l-ankle"][2] + along * (at["l-hip"][2] - at["l-ankle"][2])
    front[is_leg] = (point[:, 2] > middle)[is_leg]
    is_foot = name == "foot"
    front[is_foot] = point[is_foot, 1] > 0.012
    is_hand = name == "hand"
    front[is_hand] = (point[is_hand] - at["l-wrist"]) @ palm > 0.007
    for finger in FINGERS:
        pick = name == finger
        front[pick] = _palm_side(point[pick], finger, nodes)
    # Flattened fingers are wider than their gaps, so only one stays on the hand.
    group = np.where(name == "middle", PARTS.index("hand"), part)
    heel = is_foot & front & (point[:, 2] < at["l-ankle"][2])
    group[heel] = len(PARTS)
    sided = np.isin(name, ("torso", "head"))
    return np.asarray(
        group * 4 + 2 * front + np.where(sided, 0, is_right), dtype=np.intp
    )


def _palm_side(points: Doubles, finger: str, nodes: NodeTable) -> NDArray[np.bool_]:
    """Whether points (N, 3) on a finger lie on the palm side of its bones."""
    rows = nodes.indices(*(f"l-{finger}{i}" for i in range(3)))
    best, side = np.full(len(points), np.inf), np.zeros(len(points))
    for row in rows:
        away = points - nodes.positions[row]
        local = away @ nodes.frames[row]
        length = np.linalg.norm(nodes.tips[row] - nodes.positions[row])
        local[:, 0] -= np.clip(local[:, 0], 0.0, length)
        gap = np.linalg.norm(local, axis=1)
        side = np.where(gap < best, local[:, 1], side)
        best = np.minimum(best, gap)
    return np.asarray(side > 0.0)


def _neighbours(faces: NDArray[np.int32]) -> NDArray[np.intp]:
    """Faces across each face's three edges, (F, 3); the mesh is closed."""
    edges = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    key = np.sort(edges, axis=1)
    order = np.lexsort((key[:, 1], key[:, 0])).reshape(-1, 2)
    across = np.empty(len(edges), np.intp)
    across[order[:, 0]] = order[:, 1] // 3
    across[order[:, 1]] = order[:, 0] // 3
    return across.reshape(-1, 3)


def _clean(faces: NDArray[np.int32], labels: Rows) -> Rows:
    """Smooth the borders, give stray islands to a neighbour, number the charts."""
    near = _neighbours(faces)
    for step in range(_FRINGE_ROUNDS):
        around = labels[near]
        a, b, c = around.T
        major = np.where(a == b, a, np.where(b == c, b, np.where(a == c, a, -1)))
        change = (major >= 0) & (major != labels)
        change &= (np.arange(len(labels)) % 2 == step % 2) | (step < 2)
        labels = np.where(change, major, labels)
    while True:
        chart = _components(near, labels)
        sizes = np.bincount(chart)
        small = int(np.argmin(sizes))
        if sizes[small] >= _SMALL_CHART:
            return chart
        inside = chart == small
        around = chart[near[inside]].ravel()
        others, counts = np.unique(around[around != small], return_counts=True)
        labels = np.where(inside, labels[chart == others[np.argmax(counts)]][0], labels)


def _components(near: NDArray[np.intp], labels: Rows) -> Rows:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    i = np.repeat(np.arange(len(near)), 3)
    j = near.ravel()
    same = labels[i] == labels[j]
    links = coo_array((np.ones(same.sum()), (i[same], j[same])), shape=(len(near),) * 2)
    return np.asarray(connected_components(links, directed=False)[1], np.intp)


def _flatten(positions: Doubles, faces: NDArray[np.intp]) -> Doubles:
    """Map (V, 2) of one chart in metres: conformal first, then as rigid as can be."""
    from scipy.sparse import coo_array, csc_array
    from scipy.sparse.linalg import splu

    p0, p1, p2 = (positions[faces[:, k]] for k in range(3))
    e1, e2 = p1 - p0, p2 - p0
    length = np.linalg.norm(e1, axis=1)
    x = np.sum(e1 * e2, axis=1) / length
    y = np.linalg.norm(np.cross(e1, e2), axis=1) / length
    root = np.sqrt(length * y)
    # Corners of each face in its own plane, as complex numbers over its area root.
    corner = np.stack([(x - length) + 1j * y, -x - 1j * y, length + 0j], axis=1)
    weight = corner / root[:, None]
    rows = np.repeat(np.arange(len(faces)), 3)
    count = len(positions)
    matrix = coo_array((weight.ravel(), (rows, faces.ravel())), (len(faces), count))
    spread = positions - positions.mean(axis=0)
    axis = np.linalg.svd(spread, full_matrices=False)[2][0]
    low, high = int(np.argmin(spread @ axis)), int(np.argmax(spread @ axis))
    pinned = np.array([low, high])
    free = np.setdiff1d(np.arange(count), pinned)
    dense = csc_array(matrix)
    a, b = dense[:, free], dense[:, pinned]
    span = float((spread[high] - spread[low]) @ axis)
    right = -(b @ np.array([0.0, span], complex))
    solver = splu(csc_array(a.conj().T @ a))
    flat = np.zeros(count, complex)
    flat[high] = span
    flat[free] = solver.solve(np.asarray(a.conj().T @ right))
    result = np.stack([flat.real, flat.imag], axis=1)
    d1 = result[faces[:, 1]] - result[faces[:, 0]]
    d2 = result[faces[:, 2]] - result[faces[:, 0]]
    area = 0.5 * np.sum(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0])
    result *= np.sqrt(0.5 * np.sum(length * y) / abs(area))
    shape = np.stack([np.zeros(len(x)), length + 0j, x + 1j * y], axis=1)
    return _keep_rigid(result[:, 0] + 1j * result[:, 1], shape, faces)


def _keep_rigid(
    flat: NDArray[np.complex128],
    shape: NDArray[np.complex128],
    faces: NDArray[np.intp],
) -> Doubles:
    """Let faces keep their size: flat (V,) improved to (V, 2), metres.

    shape: (F, 3) each face in its own plane. A step that would turn a face over is
    not taken. After Liu and others, "A Local/Global Approach to Mesh
    Parameterization" (2008).
    """
    from scipy.sparse import coo_array, csc_array
    from scipy.sparse.linalg import splu

    count = len(flat)
    sides, weights = [], []
    for k in range(3):
        i, j, far = k, (k + 1) % 3, (k + 2) % 3
        u, v = shape[:, i] - shape[:, far], shape[:, j] - shape[:, far]
        product = np.conj(u) * v
        weights.append(np.clip(0.5 * product.real / product.imag, 0.05, 5.0))
        sides.append((faces[:, i], faces[:, j], shape[:, j] - shape[:, i]))
    starts = np.concatenate([s[0] for s in sides])
    ends = np.concatenate([s[1] for s in sides])
    w = np.concatenate(weights)
    links = coo_array((w, (starts, ends)), (count, count)).tocsc()
    links = csc_array(links + links.T)
    degree = np.asarray(links.sum(axis=1)).ravel()
    degree[0] += 1.0
    diagonal = coo_array((degree, (np.arange(count),) * 2), (count, count))
    solver = splu(csc_array(diagonal - links))
    for _ in range(_RIGID_ROUNDS):
        fit = sum(
            wk * (flat[b] - flat[a]) * np.conj(side)
            for wk, (a, b, side) in zip(weights, sides, strict=True)
        )
        spin = np.tile(fit / np.abs(fit), 3)
        pull = w * spin * np.concatenate([s[2] for s in sides])
        right = np.zeros(count, complex)
        np.add.at(right, starts, -pull)
        np.add.at(right, ends, pull)
        right[0] += flat[0]
        better = solver.solve(right.real) + 1j * solver.solve(right.imag)
        flat = _without_folds(flat, better, faces)
    flat = flat * np.exp(-1j * _long_axis(flat))
    return np.stack([flat.real, flat.imag], axis=1)


def _without_folds(
    old: NDArray[np.complex128],
    new: NDArray[np.complex128],
    faces: NDArray[np.intp],
) -> NDArray[np.complex128]:
    """Go as far from old to new as turns no more faces over."""
    step, allowed = 1.0, _folds(old, faces)
    while step > 0.02:
        flat = old + step * (new - old)
        if _folds(flat, faces) <= allowed:
            return flat
        step *= 0.6
    return old


def _folds(flat: NDArray[np.complex128], faces: NDArray[np.intp]) -> int:
    a, b, c = (flat[faces[:, k]] for k in range(3))
    return int(np.count_nonzero((np.conj(b - a) * (c - a)).imag <= 0.0))


def _long_axis(flat: NDArray[np.complex128]) -> float:
    away = flat - flat.mean()
    return float(0.5 * np.angle(np.sum(away * away)))


def _pack(flats: list[Doubles]) -> list[Doubles]:
    """Put charts on shelves, tallest first, in the smallest square that holds them."""
    boxes = []
    for flat in flats:
        low = flat.min(axis=0)
        boxes.append((flat - low, flat.max(axis=0) - low))
    order = sorted(range(len(boxes)), key=lambda i: -float(boxes[i][1][1]))
    side = float(np.sqrt(sum(float(b[1].prod()) for b in boxes)))
    while True:
        spots = _shelve([boxes[i][1] for i in order], side)
        if spots is not None:
            break
        side *= 1.01
    placed: list[Doubles] = [np.empty(0)] * len(flats)
    for i, spot in zip(order, spots, strict=True):
        placed[i] = (boxes[i][0] + spot) / side
    return placed


def _shelve(sizes: list[Doubles], side: float) -> list[Doubles] | None:
    """Lower corners of boxes on shelves of a square; None where they do not fit."""
    gap = _GAP * side
    shelves: list[list[float]] = []
    spots, top = [], gap
    for width, height in sizes:
        for shelf in shelves:
            if shelf[0] + width + gap <= side and height <= shelf[2]:
                break
        else:
            if top + height + gap > side or width + 2 * gap > side:
                return None
            shelf = [gap, top, float(height)]
            shelves.append(shelf)
            top += float(height) + gap
        spots.append(np.array([shelf[0], shelf[1]]))
        shelf[0] += float(width) + gap
    return spots
