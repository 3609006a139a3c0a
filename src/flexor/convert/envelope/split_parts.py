"""Body parts: surfaces cut into pieces that can be drawn early.

A surface that is one part is drawn when the last of all its joints has been visited,
and needs room for all its vertices until then. Cut by the joint that pulls most, the
foot is drawn and forgotten before the arm begins. Vertices on a cut are worked once for
each piece, so pieces are joined again where that costs no room (join_pieces.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Floats, Ints, Rows
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.scene_parts import take_vertices
from flexor.convert.envelope.search_trace import Lives

__all__ = [
    "Piece",
    "cut_parts",
    "make_parts",
    "piece_lives",
    "whole_parts",
]


MOST_PIECES = 500


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some faces of a part.

    part: its row; owner: model; faces: (F,), rows of the part's faces; has: bool (V,),
    the part's vertices that are in it; models: those that pull them.
    """

    part: int
    owner: int
    faces: Rows
    has: Bools
    models: frozenset[int]


def cut_parts(parts: Sequence[EnvelopePart], rank: Rows) -> list[Piece]:
    """Every part cut by the model that pulls each face most.

    Of equal ones the first in rank. A vertex without a face goes where it is pulled to
    most itself. The largest come first; what would give more than MOST_PIECES in all
    stays whole.
    """
    left = MOST_PIECES
    cut: dict[int, list[Piece]] = {}
    for row in sorted(range(len(parts)), key=lambda row: (-len(parts[row]), row)):
        own = _cut(row, parts[row], rank) if left > 0 else []
        if not 0 < len(own) <= left:
            own = [_whole(row, parts[row])]
        left -= len(own)
        cut[row] = own
    return [piece for row in range(len(parts)) for piece in cut[row]]


def whole_parts(parts: Sequence[EnvelopePart]) -> list[Piece]:
    """Every part as one piece."""
    return [_whole(row, part) for row, part in enumerate(parts)]


def _whole(row: int, part: EnvelopePart) -> Piece:
    has = np.ones(len(part), bool)
    return Piece(row, part.owner, np.arange(len(part.faces)), has, _models(part, has))


def _cut(row: int, part: EnvelopePart, rank: Rows) -> list[Piece]:
    if not len(part.faces):
        # Points and lines: what they join is not known here.
        return [_whole(row, part)]
    place = rank[part.models]
    of_faces = _strongest(part.joints[part.faces], part.weights[part.faces], place)
    of_vertices = _strongest(part.joints[:, None], part.weights[:, None], place)
    is_loose = np.ones(len(part), bool)
    is_loose[part.faces] = False
    pieces = []
    for joint in np.union1d(of_faces, of_vertices[is_loose]).tolist():
        faces = np.flatnonzero(of_faces == joint)
        has = is_loose & (of_vertices == joint)
        has[part.faces[faces]] = True
        owner = int(part.models[joint])
        pieces.append(Piece(row, owner, faces, has, _models(part, has)))
    return pieces


def _strongest(joints: Ints, weights: Floats, place: Rows) -> Rows:
    """The joint that pulls each of n things most; of equal ones the first in place.

    joints, weights: (n, vertices, K), -1 for none; place: (S,), of each joint.
    """
    count = len(joints)
    joints = joints.reshape(count, -1)
    things, columns = np.nonzero(joints >= 0)
    own = joints[things, columns].astype(np.intp)
    pull = weights.reshape(count, -1)[things, columns]
    # Sums for each thing and joint, then the first of each thing by falling sum.
    order = np.lexsort((place[own], things))
    things, own, pull = things[order], own[order], pull[order]
    is_new = np.ones(len(own), bool)
    is_new[1:] = (np.diff(things) != 0) | (np.diff(own) != 0)
    begin = np.flatnonzero(is_new)
    sums = np.add.reduceat(pull, begin) if len(begin) else pull
    things, own = things[begin], own[begin]
    best = np.lexsort((place[own], -sums, things))
    _, first = np.unique(things[best], return_index=True)
    return own[best][first]


def _models(part: EnvelopePart, has: Bools) -> frozenset[int]:
    joints = part.joints[has]
    return frozenset(part.models[np.unique(joints[joints >= 0])].tolist())


def piece_lives(pieces: Sequence[Piece]) -> list[Lives]:
    """What decides how long each piece needs how much room."""
    return [
        Lives(piece.owner, tuple(sorted(piece.models)), int(piece.has.sum()))
        for piece in pieces
    ]


def make_parts(
    parts: Sequence[EnvelopePart], pieces: Sequence[Piece]
) -> list[EnvelopePart]:
    """The pieces as parts of their own."""
    return [
        take_vertices(
            parts[piece.part],
            np.flatnonzero(piece.has),
            parts[piece.part].faces[piece.faces],
            piece.owner,
        )
        for piece in pieces
    ]
