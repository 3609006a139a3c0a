"""Pieces joined again: as many as possible, and never for a single place more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.convert.envelope import join_pieces as joiner
from flexor.convert.envelope.join_pieces import join_pieces
from flexor.convert.envelope.plan import check_trace, depth_first
from flexor.convert.envelope.search_trace import Lives, live_peak, placed_peak
from flexor.convert.envelope.split_parts import (
    Piece,
    cut_parts,
    piece_lives,
    whole_parts,
)
from tests.convert.envelope.test_split_parts import (
    FEW,
    IN_ORDER,
    SEEDS,
    check_pieces,
    part_of,
    random_surfaces,
    said,
    strip,
)
from tests.envelopes import random_trace, random_tree

# By hand


def test_pieces_that_live_at_the_same_time_are_joined() -> None:
    """Both hang on both models: neither can be drawn before the other is complete."""
    part = part_of(
        [{0: 0.6, 1: 0.4}, {0: 0.4, 1: 0.6}] * 3, [(0, 2, 4), (1, 3, 5), (0, 1, 2)]
    )
    pieces = cut_parts([part], IN_ORDER)
    assert len(pieces) == 2
    (joined,) = join_pieces(pieces, IN_ORDER)
    assert joined.owner == 0, "that of the piece with more faces"
    assert joined.faces.tolist() == [0, 1, 2]
    assert joined.has.all()
    assert joined.models == {0, 1}


def test_pieces_that_save_room_stay_apart() -> None:
    part = strip([30, 30, 30, 30])
    pieces = cut_parts([part], IN_ORDER)
    assert len(pieces) == 4
    before = live_peak(piece_lives(pieces), IN_ORDER)
    after = join_pieces(pieces, IN_ORDER)
    assert len(after) > 1
    assert live_peak(piece_lives(after), IN_ORDER) <= before < len(part)


def test_joining_must_not_cost_a_single_place_more() -> None:
    """Three triangles in a row: two at a time are in the buffer, six places. Any two
    of them joined are five, beside the third eight.
    """
    pulls = [{0: 1.0}, {0: 1.0}, {1: 1.0}, {1: 1.0}, {2: 1.0}, {2: 1.0}, {2: 1.0}]
    pieces = cut_parts([part_of(pulls, [(0, 1, 2), (2, 3, 4), (4, 5, 6)])], IN_ORDER)
    assert live_peak(piece_lives(pieces), IN_ORDER) == 6
    assert said(join_pieces(pieces, IN_ORDER)) == said(pieces)
    # One more part of the character that needs room meanwhile, and they may be joined.
    other = part_of([{0: 1.0}] * 9, np.arange(9).reshape(3, 3), owner=0)
    both = [*pieces, *whole_parts([other])]
    crowded = [replace(piece, part=1) if piece is both[-1] else piece for piece in both]
    assert live_peak(piece_lives(crowded), IN_ORDER) == 12
    joined = join_pieces(crowded, IN_ORDER)
    assert live_peak(piece_lives(joined), IN_ORDER) <= 12
    assert len(joined) < len(crowded)


def test_pieces_of_different_parts_are_never_joined() -> None:
    part = part_of([{0: 1.0}] * 3, [(0, 1, 2)])
    pieces = cut_parts([part, part], IN_ORDER)
    assert [p.part for p in join_pieces(pieces, IN_ORDER)] == [0, 1]


def test_pieces_without_a_common_vertex_stay_apart() -> None:
    part = part_of([{0: 1.0}] * 3 + [{1: 1.0}] * 3, [(0, 1, 2), (3, 4, 5)])
    pieces = cut_parts([part], IN_ORDER)
    assert len(join_pieces(pieces, IN_ORDER)) == 2


def test_nothing_to_join() -> None:
    assert join_pieces([], IN_ORDER) == []


# Pieces made up: which of them is joined to which


def piece_of(
    vertices: Any, model: int, faces: int = 1, *, part: int = 0, owner: int = -1
) -> Piece:
    """So many faces on these vertices of a part, on one model that also owns them."""
    has = np.zeros(200, bool)
    has[list(vertices)] = True
    own = model if owner < 0 else owner
    return Piece(part, own, np.arange(faces), has, frozenset([model]))


def crowd(size: int, model: int) -> Piece:
    """Another part, that sets how much room there is in any case."""
    return piece_of(range(size), model, part=1)


def groups(pieces: list[Piece], left: list[Piece]) -> list[list[int]]:
    """Numbers of the pieces of part 0 that each of those that are left is made of."""
    made = [
        [
            number
            for number, piece in enumerate(pieces)
            if piece.part == 0 and not (piece.has & ~one.has).any()
        ]
        for one in left
        if one.part == 0
    ]
    assert sorted(n for own in made for n in own) == list(range(len(pieces) - 1))
    return sorted(made)


@pytest.mark.parametrize("shares", [(1, 4), (4, 1)])
def test_those_that_share_most_come_first(shares: tuple[int, int]) -> None:
    """The second can be joined to the first or the third, not to both."""
    a, b = shares
    pieces = [
        piece_of(range(10), 0),
        piece_of(range(10 - a, 20 - a), 1),
        piece_of(range(20 - a - b, 30 - a - b), 2),
        crowd(20, 3),
    ]
    left = join_pieces(pieces, IN_ORDER)
    assert groups(pieces, left) == ([[0], [1, 2]] if b > a else [[0, 1], [2]])


@pytest.mark.parametrize(
    ("faces", "owner"), [((1, 2), 1), ((2, 1), 0), ((2, 2), 0), ((0, 1), 1)]
)
def test_the_owner_is_that_with_more_faces(faces: Any, owner: int) -> None:
    pieces = [
        piece_of(range(9), 2, faces[0], owner=0),
        piece_of(range(3, 12), 2, faces[1], owner=1),
    ]
    (joined,) = join_pieces(pieces, IN_ORDER)
    assert joined.owner == owner
    assert len(joined.faces) == sum(faces)


def test_a_joined_piece_waits_for_its_owner() -> None:
    """That of more faces is visited last: both would wait for it beside a third."""
    pieces = [
        piece_of(range(9), 0, owner=0),
        piece_of(range(3, 12), 0, 5, owner=2),
        piece_of(range(20, 35), 1),
    ]
    # Apart: 18 places, then 9 beside 15. Joined: 12 beside 15.
    assert placed_peak(piece_lives(pieces), IN_ORDER) == 24
    assert len(join_pieces(pieces, IN_ORDER)) == 3
    soon = [pieces[0], replace(pieces[1], owner=0), pieces[2]]
    assert len(join_pieces(soon, IN_ORDER)) == 2


def test_what_two_share_with_a_third_counts_once() -> None:
    """The first two are joined. Both share the same five vertices with the third, which
    shares seven with the fourth.
    """
    third = [*range(8, 13), *range(30, 45)]
    pieces = [
        piece_of([*range(12), *range(12, 20)], 0),
        piece_of([*range(8, 20), *range(20, 28)], 0),
        piece_of(third, 1),
        piece_of([*range(38, 45), *range(50, 63)], 2),
        crowd(45, 3),
    ]
    left = join_pieces(pieces, IN_ORDER)
    assert groups(pieces, left) == [[0, 1], [2, 3]]


def test_what_two_share_with_a_third_is_added_up() -> None:
    """Three vertices and four others: more than the five that the fourth shares."""
    third = [0, 1, 2, 24, 25, 26, 27, *range(30, 43)]
    pieces = [
        piece_of(range(20), 0),
        piece_of(range(8, 28), 0),
        piece_of(third, 1),
        piece_of([*range(38, 43), *range(50, 65)], 2),
        crowd(45, 3),
    ]
    left = join_pieces(pieces, IN_ORDER)
    assert groups(pieces, left) == [[0, 1, 2], [3]]


def test_neighbours_of_the_second_are_those_of_both() -> None:
    """The third shares nothing with the first, the number of which both then have."""
    pieces = [
        piece_of(range(20), 0),
        piece_of(range(8, 28), 0),
        piece_of(range(26, 46), 0),
        crowd(60, 3),
    ]
    (joined,) = (one for one in join_pieces(pieces, IN_ORDER) if one.part == 0)
    assert np.flatnonzero(joined.has).tolist() == list(range(46))
    assert joined.models == {0}


def test_what_was_refused_is_tried_again() -> None:
    """The first two share more and are tried first; there is room for them only when
    the others have been joined.
    """
    pieces = [
        piece_of(range(10), 0),
        piece_of(range(5, 15), 2),
        piece_of(range(20, 40), 1),
        piece_of(range(36, 56), 1),
        crowd(52, 3),
    ]
    left = join_pieces(pieces, IN_ORDER)
    assert groups(pieces, left) == [[0, 1], [2, 3]]
    # With one place less there is none.
    pieces[-1] = crowd(50, 3)
    left = join_pieces(pieces, IN_ORDER)
    assert groups(pieces, left) == [[0], [1], [2, 3]]


def test_holes_count() -> None:
    """Some stay apart though no more would be alive at once: joined, they would find no
    gap of their size.
    """
    refused = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        pieces = []
        for number in range(8):
            begin, size = rng.integers(0, 30), rng.integers(2, 14)
            models = frozenset(rng.permutation(6)[: rng.integers(1, 3)].tolist())
            made = piece_of(range(begin, begin + size), min(models), part=number % 2)
            pieces.append(replace(made, models=models))
        rank = np.arange(6)
        most = placed_peak(piece_lives(pieces), rank)
        left = join_pieces(pieces, rank)
        assert placed_peak(piece_lives(left), rank) <= most
        for both in pairs(left):
            is_low = live_peak(both, rank) <= live_peak(piece_lives(pieces), rank)
            refused += is_low and placed_peak(both, rank) > most
    assert refused > 0


def pairs(left: list[Piece]) -> list[list[Lives]]:
    """What would be there if two that share vertices were joined, for all of them."""
    made = []
    for i, one in enumerate(left):
        for other in left[i + 1 :]:
            if one.part != other.part or not (one.has & other.has).any():
                continue
            larger = one if len(one.faces) >= len(other.faces) else other
            both = Lives(
                larger.owner,
                tuple(sorted(one.models | other.models)),
                int((one.has | other.has).sum()),
            )
            rest = piece_lives([p for p in left if p is not one and p is not other])
            made.append([*rest, both])
    return made


def test_the_pieces_given_are_left_alone() -> None:
    pieces = [piece_of(range(9), 0), piece_of(range(3, 12), 0)]
    before = [(one.has.copy(), one.faces.copy(), one.models) for one in pieces]
    join_pieces(pieces, IN_ORDER)
    assert len(pieces) == 2
    for one, (has, faces, models) in zip(pieces, before, strict=True):
        np.testing.assert_array_equal(one.has, has)
        np.testing.assert_array_equal(one.faces, faces)
        assert one.models == models


# How much work


@pytest.mark.parametrize(
    ("work", "count", "most"),
    [(2_000_000, 8, 31_250), (2_000_000, 100, 200), (0, 8, 20), (640, 4, 40)],
)
def test_areas_are_placed_so_often(
    work: int, count: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that falls with the square of how many there are, and at least 20."""
    monkeypatch.setattr(joiner, "MOST_WORK", work)
    pieces = [piece_of([number], 0) for number in range(count)]
    assert joiner._Joining(pieces, IN_ORDER)._tries == most


def test_when_the_work_is_done_the_rest_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty that could all be joined: 20 are, each at one try."""
    calls: list[int] = []
    real = joiner.place_areas

    def counted(written: Any, *areas: Any) -> Any:
        calls.append(len(written))
        return real(written, *areas)

    monkeypatch.setattr(joiner, "place_areas", counted)
    monkeypatch.setattr(joiner, "MOST_WORK", 0)
    pieces = [piece_of([number, number + 1], 0) for number in range(40)]
    left = join_pieces(pieces, IN_ORDER)
    assert len(left) == 20
    assert len(calls) == 21
    assert np.logical_or.reduce([one.has for one in left]).sum() == 41


# Any surface


@FEW
@given(SEEDS, st.integers(1, 10))
def test_any_join(seed: int, models: int) -> None:
    """Faces and vertices are all there; no more room; fewer copies of vertices."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    rank = check_trace(np.asarray(parents), random_trace(rng, parents))
    parts = random_surfaces(rng, models)
    pieces = cut_parts(parts, rank)
    joined = join_pieces(pieces, rank)
    check_pieces(parts, joined)
    before, after = piece_lives(pieces), piece_lives(joined)
    assert placed_peak(after, rank) <= placed_peak(before, rank)
    assert len(joined) <= len(pieces)
    assert sum(one.size for one in after) <= sum(one.size for one in before)
    owners = {(piece.part, piece.owner) for piece in pieces}
    assert {(piece.part, piece.owner) for piece in joined} <= owners


@pytest.mark.parametrize("seed", range(30))
def test_nothing_more_could_be_joined(seed: int) -> None:
    """Any two pieces left that share vertices would raise the peak together: vertices
    are worked twice only where that saves room.
    """
    rng = np.random.default_rng(seed)
    models = int(rng.integers(1, 9))
    parents = random_tree(rng, models)
    rank = check_trace(np.asarray(parents), depth_first(parents))
    pieces = cut_parts(random_surfaces(rng, models), rank)
    most = placed_peak(piece_lives(pieces), rank)
    left = join_pieces(pieces, rank)
    for both in pairs(left):
        assert placed_peak(both, rank) > most
