"""Pieces of surfaces joined again, where that costs no room in the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from flexor.arrays import Rows
from flexor.convert.envelope.plan import place_areas
from flexor.convert.envelope.split_parts import Piece

__all__ = ["join_pieces"]


# How often areas may be placed to see what a join does; that takes as long as the
# square of how many pieces there are.
MOST_WORK = 2_000_000


def join_pieces(pieces: Sequence[Piece], rank: Rows) -> list[Piece]:
    """Join pieces of one part that share vertices, as long as the peak stays.

    rank: (M,), of each model in the trace. Those that share most come first. What was
    refused is tried again as long as others were joined: that may have made room.
    """
    work = _Joining(pieces, rank)
    while work.run_once():
        pass
    return [piece for piece in work.pieces if piece is not None]


class _Joining:
    """Pieces, their neighbours, and how many vertices wait at each visit.

    pieces: None for one that was joined to another; shared: for each piece how many
    vertices it shares with others, by their number.
    """

    def __init__(self, pieces: Sequence[Piece], rank: Rows) -> None:
        self.pieces: list[Piece | None] = list(pieces)
        self._rank = rank
        self._sizes = [int(piece.has.sum()) for piece in pieces]
        self._first, self._last, self._drawn = [], [], []
        for piece in pieces:
            ranks = [int(rank[model]) for model in piece.models]
            self._first.append(min(ranks, default=len(rank)))
            self._last.append(max(ranks, default=-1))
            self._drawn.append(max(self._last[-1], int(rank[piece.owner])))
        self._live = np.zeros(len(rank) + 1, np.int64)
        for number in range(len(pieces)):
            self._add(number, self._sizes[number])
        self._shared = _shared(pieces)
        self._most = self._placed()
        self._tries = max(20, MOST_WORK // max(len(pieces), 1) ** 2)

    def _add(self, number: int, size: int) -> None:
        self._live[self._first[number] : self._drawn[number] + 1] += size

    def _placed(self) -> int:
        """The peak of all pieces that are left."""
        left = [row for row, piece in enumerate(self.pieces) if piece is not None]
        spans = (self._first, self._drawn, self._sizes)
        return place_areas(*([span[row] for row in left] for span in spans))[1]

    def run_once(self) -> bool:
        """Try all neighbours; give whether any were joined."""
        heap = [
            (-count, one, other)
            for one, others in enumerate(self._shared)
            for other, count in others.items()
            if one < other
        ]
        heapify(heap)
        has_joined = False
        while heap and self._tries > 0:
            count, one, other = heappop(heap)
            if self._shared[one].get(other) != -count or not self._join(one, other):
                continue
            has_joined = True
            for third, many in self._shared[one].items():
                heappush(heap, (-many, min(one, third), max(one, third)))
        return has_joined and self._tries > 0

    def _join(self, one: int, other: int) -> bool:
        """Join two pieces under the number of the first, if the peak stays."""
        first, second = self.pieces[one], self.pieces[other]
        assert first is not None
        assert second is not None
        joined = _joined(first, second)
        before = self._first[one], self._last[one], self._drawn[one], self._sizes[one]
        self._add(one, -self._sizes[one])
        self._add(other, -self._sizes[other])
        self._first[one] = min(self._first[one], self._first[other])
        self._last[one] = max(self._last[one], self._last[other])
        self._drawn[one] = max(self._last[one], int(self._rank[joined.owner]))
        self._sizes[one] = int(joined.has.sum())
        self._add(one, self._sizes[one])
        self.pieces[one], self.pieces[other] = joined, None
        # The sum at each visit is quick and never more than what is placed.
        if self._live.max() <= self._most:
            self._tries -= 1
            if self._placed() <= self._most:
                self._move_neighbours(one, other)
                return True
        self._add(one, -self._sizes[one])
        self._first[one], self._last[one], self._drawn[one], self._sizes[one] = before
        self.pieces[one], self.pieces[other] = first, second
        self._add(one, self._sizes[one])
        self._add(other, self._sizes[other])
        return False

    def _move_neighbours(self, one: int, other: int) -> None:
        """What the second piece shared, the joined one does."""
        joined = self.pieces[one]
        assert joined is not None
        around = (self._shared[one].keys() | self._shared[other].keys()) - {one, other}
        for third in around:
            piece = self.pieces[third]
            assert piece is not None
            count = int((joined.has & piece.has).sum())
            self._shared[third].pop(other, None)
            self._shared[third][one] = self._shared[one][third] = count
        self._shared[one].pop(other, None)
        self._shared[other] = {}


def _shared(pieces: Sequence[Piece]) -> list[dict[int, int]]:
    """For each piece the vertices that it shares with others of its part."""
    shared: list[dict[int, int]] = [{} for _ in pieces]
    by_part: dict[int, list[int]] = {}
    for number, piece in enumerate(pieces):
        by_part.setdefault(piece.part, []).append(number)
    for numbers in by_part.values():
        vertices = [np.flatnonzero(pieces[number].has) for number in numbers]
        owners = np.repeat(numbers, [len(own) for own in vertices])
        rows = np.concatenate(vertices)
        order = np.lexsort((owners, rows))
        rows, owners = rows[order], owners[order]
        step = 1
        while step < len(rows) and (is_same := rows[step:] == rows[:-step]).any():
            pairs = np.stack([owners[:-step][is_same], owners[step:][is_same]], 1)
            found, counts = np.unique(pairs, axis=0, return_counts=True)
            for (one, other), count in zip(
                found.tolist(), counts.tolist(), strict=True
            ):
                many = shared[one].get(other, 0) + count
                shared[one][other] = shared[other][one] = many
            step += 1
    return shared


def _joined(one: Piece, other: Piece) -> Piece:
    larger = one if len(one.faces) >= len(other.faces) else other
    return Piece(
        one.part,
        larger.owner,
        np.sort(np.concatenate([one.faces, other.faces])),
        one.has | other.has,
        one.models | other.models,
    )
