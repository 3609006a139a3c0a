"""Pieces of a skin that do not hang together: which bones may heat which, and which
are rigid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.arrays import Bools, Doubles, Floats, Ints
from flexor.convert.shape.solid import winding_numbers
from flexor.convert.weights.choose_bones import BoneLines

__all__ = [
    "bones_of_pieces",
    "find_seams",
    "is_eye",
    "join_pieces",
    "spare_skin",
    "stiffen_pieces",
    "stiffen_rigid",
]

INSIDE = 0.4  # turns of a piece around a place
AROUND = 0.3  # the same for a piece without bones: balls and rings are open
SHARE = 0.5  # a bone heats pieces that hold half as much of it as the one with most
LEAST = 0.05  # of a bone, or a piece does not hold it
PLACES = 10  # along each bone
TOUCH = 1e-3  # of the size: open rims no further apart are a seam
MOSTLY = 0.6  # of a rigid piece: a bone that has as much takes all of it
AROUND_EYES = ("brow", "lid", "lash")
SMALL = 0.25  # of the size: pieces without bones up to this are rigid


def bones_of_pieces(
    points: Doubles, faces: Ints, pieces: Ints, lines: BoneLines
) -> tuple[Bools, Bools]:
    """Which bones heat which piece: bool (K, B), by how much of each it holds; and
    which pieces hold bones that are theirs: bool (K,), so that others may sit on them.

    A bone is of the pieces that hold most of it, a limb from where it leaves the trunk.
    Where none of these holds it, at a gap, it heats what does; and a piece without
    bones, such as a ball at an elbow, is heated by all that pass through it. No bone at
    all passes through a button or an eye. One piece alone holds all of them.
    """
    count = int(pieces.max(initial=-1)) + 1
    if count <= 1:
        return np.ones((count, len(lines.rows)), bool), np.ones(count, bool)
    turns = _turns(points, faces, pieces, lines.bases, lines.ends)
    whole = turns > INSIDE
    inside = whole.copy()
    limbs = np.flatnonzero((lines.starts != lines.bases).any(1))
    starts, ends = lines.starts[limbs], lines.ends[limbs]
    inside[:, limbs] = _turns(points, faces, pieces, starts, ends) > INSIDE
    is_lost = inside.mean(2).max(0) <= LEAST
    inside[:, is_lost] = whole[:, is_lost]
    held = inside.mean(2)
    homes: Bools = (held >= SHARE * held.max(0)) & (held > LEAST)
    is_seat = np.asarray(homes.any(1))
    is_gap = ~(whole & homes[:, :, None]).any(0)
    homes |= (whole & is_gap).any(2)
    homes[~is_seat] |= (turns[~is_seat] > AROUND).any(2)
    return homes, is_seat


def _turns(
    points: Doubles, faces: Ints, pieces: Ints, starts: Doubles, ends: Doubles
) -> Doubles:
    """How often each piece goes around places along lines: (K, B, PLACES)."""
    along = np.linspace(LEAST, 1 - LEAST, PLACES)[None, :, None]
    places = starts[:, None] + along * (ends - starts)[:, None]
    turns = np.zeros((int(pieces.max()) + 1, len(starts), PLACES))
    of_face = pieces[faces[:, 0]]
    for piece in np.unique(of_face).tolist():
        triangles = points[faces[of_face == piece]]
        low, high = triangles.min((0, 1)), triangles.max((0, 1))
        near = ((places >= low) & (places <= high)).all(2)
        turns[piece, near] = np.abs(winding_numbers(places[near], triangles))
    return turns


def find_seams(points: Doubles, faces: Ints, pieces: Ints, size: float) -> Ints:
    """Pairs (E, 2) of points on open rims of two pieces that touch: where files split
    a skin without leaving its points in one place.
    """
    from scipy.spatial import cKDTree

    count = len(points)
    sides = np.sort(np.concatenate([faces[:, :2], faces[:, 1:], faces[:, ::2]]), axis=1)
    keys = np.sort(sides[:, 0].astype(np.int64) * count + sides[:, 1])
    # Sides that one face alone has; np.unique of rows takes five times as long.
    ends = np.ones(len(keys) + 1, bool)
    np.not_equal(keys[1:], keys[:-1], out=ends[1:-1])
    single = keys[ends[1:] & ends[:-1]]
    rim = np.unique(np.concatenate([single // count, single % count]))
    if not len(rim) or pieces.max(initial=0) == 0:
        return np.zeros((0, 2), np.int32)
    pairs = cKDTree(points[rim]).query_pairs(TOUCH * size, output_type="ndarray")
    touching = rim[pairs.reshape(-1, 2)]
    parts = pieces[touching]
    touching = touching[parts[:, 0] != parts[:, 1]]
    seams: Ints = touching[np.lexsort(touching.T[::-1])].astype(np.int32)
    return seams


def join_pieces(pieces: Ints, seams: Ints) -> Ints:
    """The pieces (P,) where those that touch along seams (E, 2) are one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = int(pieces.max(initial=-1)) + 1
    if not len(seams):
        return pieces
    one, other = pieces[seams[:, 0]], pieces[seams[:, 1]]
    touching = coo_array((np.ones(len(seams)), (one, other)), (count, count))
    labels: Ints = connected_components(touching.tocsr(), directed=False)[1]
    return labels.astype(np.int32)[pieces]


def is_eye(name: str) -> bool:
    """Whether a joint is an eye by its name: it turns a ball, never the skin around."""
    plain = name.lower()
    return "eye" in plain and not any(word in plain for word in AROUND_EYES)


def spare_skin(
    homes: Bools, names: Sequence[str], points: Doubles, pieces: Ints, size: float
) -> None:
    """Take eyes from pieces (K, B) that are more than an eye, in place.

    names: of the joints of the B bones.
    """
    eyes = np.flatnonzero([is_eye(name) for name in names])
    for piece in range(len(homes) if len(eyes) else 0):
        if np.ptp(points[pieces == piece], axis=0).max(initial=0) >= SMALL * size:
            homes[piece, eyes] = False


def stiffen_pieces(
    weights: Floats,
    points: Doubles,
    pieces: Ints,
    is_boneless: Bools,
    is_seat: Bools,
    size: float,
) -> None:
    """Give small pieces that no bone passes through to one bone each, in place.

    weights: (P, B); is_boneless, is_seat: (K,). It is the bone that has most of what a
    piece sits on: the nearest points of pieces that hold bones of their own.
    """
    from scipy.spatial import cKDTree

    held = np.flatnonzero((is_seat & ~is_boneless)[pieces])
    tree = cKDTree(points[held]) if len(held) else None
    for piece in np.flatnonzero(is_boneless).tolist():
        mine = np.flatnonzero(pieces == piece)
        if np.ptp(points[mine], axis=0).max(initial=0) < SMALL * size:
            under = mine if tree is None else held[tree.query(points[mine])[1]]
            best = int(weights[under].sum(0).argmax())
            weights[mine] = 0
            weights[mine, best] = 1


def stiffen_rigid(weights: Floats, pieces: Ints, is_rigid: Bools) -> None:
    """Give rigid points (P,) one bone each, in place.

    It is the same for a whole piece where one bone has most of it; else, as on a robot
    that is one piece, the bone that has most of each point.
    """
    for piece in np.unique(pieces[is_rigid]).tolist():
        mine = np.flatnonzero((pieces == piece) & is_rigid)
        sums = weights[mine].sum(0)
        best = weights[mine].argmax(1)
        if sums.max() >= MOSTLY * sums.sum():
            best[:] = int(sums.argmax())
        weights[mine] = 0
        weights[mine, best] = 1
