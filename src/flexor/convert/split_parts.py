"""Body parts: surfaces cut into pieces that can be drawn early.

A surface that is one part is drawn when the last of all its joints has been visited,
and needs room for all its vertices until then. Cut by the joint that pulls most, the
foot is drawn and forgotten before the arm begins. Vertices on a cut are worked once for
each piece, so pieces are joined again where that costs no room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from flexor.convert.envelope_parts import EnvelopePart
from flexor.convert.scene_parts import take_vertices
from flexor.convert.search_trace import Lives, live_peak

__all__ = [
    "Piece",
    "cut_parts",
    "join_pieces",
    "make_parts",
    "piece_lives",
    "whole_parts",
]

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some faces of a part.

    part: its row; owner: model; faces: (F,), rows of the part's faces; has: bool (V,),
    the part's vertices that are in it; models: those that pull them.
    """

    part: int
    owner: int
    faces: Rows
    has: Mask
    models: frozenset[int]


def cut_parts(parts: Sequence[EnvelopePart], rank: Rows) -> list[Piece]:
    """Every part cut by the model that pulls each face most.

    Of equal ones the first in rank. A vertex without a face goes where it is pulled to
    most itself.
    """
    return [piece for row, part in enumerate(parts) for piece in _cut(row, part, rank)]


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
    pull = np.zeros((len(part), len(part.models)), np.float32)
    vertices, columns = np.nonzero(part.joints >= 0)
    np.add.at(
        pull,
        (vertices, part.joints[vertices, columns]),
        part.weights[vertices, columns],
    )
    by_rank = np.argsort(rank[part.models], kind="stable")
    pull = pull[:, by_rank]
    of_faces = by_rank[pull[part.faces].sum(1).argmax(1)]
    of_vertices = by_rank[pull.argmax(1)]
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


def _models(part: EnvelopePart, has: Mask) -> frozenset[int]:
    joints = part.joints[has]
    return frozenset(part.models[np.unique(joints[joints >= 0])].tolist())


def piece_lives(pieces: Sequence[Piece]) -> list[Lives]:
    """What decides how long each piece needs how much room."""
    return [
        Lives(piece.owner, tuple(sorted(piece.models)), int(piece.has.sum()))
        for piece in pieces
    ]


def join_pieces(pieces: Sequence[Piece], rank: Rows) -> list[Piece]:
    """Join pieces of one part that share vertices, as long as the peak stays.

    Those that share most come first. What was refused is tried again as long as others
    were joined: that may have made room.
    """
    left = list(pieces)
    most = live_peak(piece_lives(left), rank)
    shared: dict[tuple[Piece, Piece], int] = {}
    count = len(left) + 1
    while len(left) < count:
        count = len(left)
        refused: set[tuple[Piece, Piece]] = set()
        while pairs := _neighbours(left, shared, refused):
            one, other = pairs[0]
            joined = _join(one, other)
            rest = [joined if piece is one else piece for piece in left]
            rest.remove(other)
            if live_peak(piece_lives(rest), rank) <= most:
                left = rest
            else:
                refused.add((one, other))
    return left


def _neighbours(
    pieces: Sequence[Piece],
    shared: dict[tuple[Piece, Piece], int],
    refused: set[tuple[Piece, Piece]],
) -> list[tuple[Piece, Piece]]:
    """Pairs that share vertices and were not refused, those that share most first."""
    pairs = []
    for one, other in combinations(pieces, 2):
        pair = one, other
        if one.part == other.part and pair not in refused:
            if pair not in shared:
                shared[pair] = int((one.has & other.has).sum())
            if shared[pair]:
                pairs.append(pair)
    return sorted(pairs, key=lambda pair: -shared[pair])


def _join(one: Piece, other: Piece) -> Piece:
    larger = one if len(one.faces) >= len(other.faces) else other
    return Piece(
        one.part,
        larger.owner,
        np.sort(np.concatenate([one.faces, other.faces])),
        one.has | other.has,
        one.models | other.models,
    )


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
