"""Orders of visit: what they cost, and whether a better one is found."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.envelope import search_trace as searcher
from flexor.convert.envelope.plan import check_trace, depth_first, plan_envelope
from flexor.convert.envelope.search_trace import (
    Lives,
    live_peak,
    placed_peak,
    search_trace,
)
from flexor.convert.envelope.split_parts import piece_lives, whole_parts
from tests.envelopes import random_parts, random_trace, random_tree

Rng = np.random.Generator
FEW = settings(max_examples=60)
SEEDS = st.integers(0, 2**32 - 1)


def ranks(trace: list[int]) -> Any:
    """The place of each model in a trace."""
    made = np.zeros(len(trace), np.intp)
    for place, model in enumerate(trace):
        made[model] = place
    return made


def walked_peak(lives: list[Lives], trace: list[int]) -> int:
    """The same as `live_peak`, visit by visit: a part is in the buffer from the first
    model that pulls it until it is complete and its owner has been visited.
    """
    most = 0
    visited: set[int] = set()
    for model in trace:
        before = set(visited)
        visited.add(model)
        used = 0
        for part in lives:
            is_begun = bool(visited & set(part.models))
            # What this very visit finishes is drawn after it.
            was_done = {*part.models, part.owner} <= before
            used += part.size if is_begun and not was_done else 0
        most = max(most, used)
    return most


def random_lives(rng: Rng, models: int, count: int) -> list[Lives]:
    """Parts that a few models pull, some by none, some empty."""
    return [
        Lives(
            int(rng.integers(models)),
            tuple(sorted(rng.permutation(models)[: rng.integers(5)].tolist())),
            int(rng.choice([0, 1, 5, 20, 100])),
        )
        for _ in range(count)
    ]


def without_unused(parts: list[Any]) -> list[Any]:
    """Joints without a weight named -1, as scenes and trees give them."""
    return [
        replace(part, joints=np.where(part.weights > 0, part.joints, -1))
        for part in parts
    ]


# What an order costs


def test_peak_of_two_parts_by_hand() -> None:
    """A chain 0 1 2 3; part A on 0 and 1, part B on 2 and 3."""
    lives = [Lives(0, (0, 1), 10), Lives(2, (2, 3), 7)]
    assert live_peak(lives, ranks([0, 1, 2, 3])) == 10
    assert live_peak(lives, ranks([0, 2, 1, 3])) == 17


def test_a_part_waits_for_its_owner() -> None:
    """Nothing pulls at the owner, but its polygons are drawn no earlier."""
    lives = [Lives(3, (0,), 10), Lives(1, (1,), 7)]
    assert live_peak(lives, ranks([0, 1, 2, 3])) == 17
    assert live_peak(lives, ranks([0, 3, 1, 2])) == 10


def test_room_is_needed_until_the_visit_is_over() -> None:
    """Model 1 finishes the first part and begins the second."""
    lives = [Lives(0, (0, 1), 10), Lives(1, (1,), 7)]
    assert live_peak(lives, ranks([0, 1])) == 17


def test_nothing_needs_no_room() -> None:
    assert live_peak([], ranks([0, 1])) == 0
    assert live_peak([Lives(1, (), 0)], ranks([0, 1])) == 0
    assert live_peak([Lives(1, (), 0), Lives(0, (1,), 3)], ranks([0, 1])) == 3


@FEW
@given(SEEDS, st.integers(1, 10), st.integers(0, 8))
def test_peak_is_that_of_a_walk(seed: int, models: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    lives = random_lives(rng, models, count)
    trace = random_trace(rng, random_tree(rng, models))
    assert live_peak(lives, ranks(trace)) == walked_peak(lives, trace)


@FEW
@given(SEEDS, st.integers(1, 12), st.integers(1, 6), st.integers(1, 5))
def test_no_plan_needs_less(
    seed: int, models: int, count: int, influences: int
) -> None:
    """Areas cannot be packed tighter than what is alive at once, only looser."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    parts = without_unused(random_parts(rng, models, count, influences))
    trace = random_trace(rng, parents)
    plan = plan_envelope(parents, parts, trace=trace)
    assert plan.peak >= live_peak(piece_lives(whole_parts(parts)), ranks(trace))


# The search


@FEW
@given(SEEDS, st.integers(1, 14), st.integers(0, 10))
def test_search_is_never_worse_and_always_an_order(
    seed: int, models: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    lives = random_lives(rng, models, count)
    found = search_trace(parents, lives, tries=150)
    check_trace(np.asarray(parents), found)
    for place, model in enumerate(found):
        assert parents[model] < 0 or parents[model] in found[:place]
    first = depth_first(parents)
    assert walked_peak(lives, found) <= walked_peak(lives, first)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_every_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, 12)
    lives = random_lives(rng, 12, 8)
    one, other = (search_trace(parents, lives) for _ in range(2))
    assert one == other
    assert search_trace(parents.tolist(), tuple(lives)) == one


# Four models that can be visited in any order after the first.
STAR = [-1, 0, 0, 0, 0]


def test_a_better_order_is_found() -> None:
    """Each part hangs on two branches of a star that are not neighbours."""
    lives = [Lives(1, (1, 3), 100), Lives(2, (2, 4), 100)]
    assert walked_peak(lives, depth_first(STAR)) == 200
    found = search_trace(STAR, lives)
    assert walked_peak(lives, found) == 100


def test_models_move_with_all_that_is_below_them() -> None:
    """Three arms of two joints, each with a sleeve of its own, and a belt from the
    first to the third. The second had better be visited last; but any joint alone that
    goes elsewhere keeps its sleeve in the buffer for longer, beside the belt or another
    sleeve.
    """
    parents = [-1, 0, 1, 0, 3, 0, 5]
    lives = [
        Lives(1, (1, 2), 60),
        Lives(3, (3, 4), 100),
        Lives(5, (5, 6), 60),
        Lives(0, (2, 5), 50),
    ]
    assert walked_peak(lives, depth_first(parents)) == 150
    assert walked_peak(lives, [0, 1, 2, 5, 6, 3, 4]) == 110
    found = search_trace(parents, lives)
    check_trace(np.array(parents), found)
    assert walked_peak(lives, found) == 110


@pytest.mark.parametrize("seed", range(6))
def test_small_trees_are_solved(seed: int) -> None:
    """As good as the best of all orders, or nearly so."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, 6)
    lives = random_lives(rng, 6, 6)
    orders = [
        list(order)
        for order in permutations(range(6))
        if all(
            parents[model] < 0 or order.index(parents[model]) < place
            for place, model in enumerate(order)
        )
    ]
    best = min(walked_peak(lives, order) for order in orders)
    assert best <= walked_peak(lives, search_trace(parents, lives)) <= 1.1 * best


def test_where_nothing_can_be_won_the_order_stays() -> None:
    parents = [-1, 0, 0, 0]
    for lives in ([], [Lives(0, (1, 3), 9)], [Lives(1, (1,), 9), Lives(2, (2,), 9)]):
        assert search_trace(parents, lives) == depth_first(parents)
    assert search_trace([], []) == []
    assert search_trace([-1], [Lives(0, (0,), 4)]) == [0]
    assert search_trace([1, -1], [Lives(0, (0,), 4), Lives(1, (0, 1), 4)]) == [1, 0]


def test_no_tries_no_change() -> None:
    lives = [Lives(1, (1, 3), 100), Lives(2, (2, 4), 100)]
    assert search_trace(STAR, lives, tries=0) == depth_first(STAR)


def walked_sum(lives: list[Lives], trace: list[int]) -> int:
    """Vertices in the buffer, summed over all visits."""
    place = {model: at for at, model in enumerate(trace)}
    total = 0
    for part in lives:
        ranks = [place[model] for model in part.models]
        last = max([*ranks, place[part.owner]])
        total += part.size * (last - min(ranks) + 1)
    return total


def one_step_away(parents: list[int], trace: list[int]) -> list[list[int]]:
    """All orders with one model, or one and all that is below it, elsewhere."""
    found = []
    for model in range(len(trace)):
        below = {model}
        for other in depth_first(parents):
            if parents[other] in below:
                below.add(other)
        for group in ({model}, below):
            own = [m for m in trace if m in group]
            rest = [m for m in trace if m not in group]
            for at in range(len(rest) + 1):
                order = [*rest[:at], *own, *rest[at:]]
                if all(
                    parents[m] < 0 or parents[m] in order[: order.index(m)]
                    for m in order
                ):
                    found.append(order)
    return found


def test_orders_that_cost_the_same_are_gone_through() -> None:
    """No single change of depth first is better: two are needed, and the first of them
    changes nothing of what it costs.
    """
    parents = [-1, 0, 1, 1, 1]
    lives = [Lives(0, (0, 3, 4), 30), Lives(0, (0,), 10), Lives(2, (2, 3), 30)]
    first = depth_first(parents)
    cost = walked_peak(lives, first), walked_sum(lives, first)
    around = [
        (walked_peak(lives, order), walked_sum(lives, order))
        for order in one_step_away(parents, first)
    ]
    assert min(around) == cost == (60, 220)
    found = search_trace(parents, lives)
    assert (walked_peak(lives, found), walked_sum(lives, found)) == (60, 190)


# Holes between areas


def test_nothing_is_placed_nowhere() -> None:
    rank = ranks([0, 1, 2])
    assert placed_peak([], rank) == placed_peak([Lives(1, (), 4)], rank) == 0
    assert placed_peak([Lives(1, (), 4), Lives(0, (1,), 3)], rank) == 3


@FEW
@given(SEEDS, st.integers(1, 12), st.integers(1, 6), st.integers(1, 5))
def test_placed_peak_is_that_of_the_plan(
    seed: int, models: int, count: int, influences: int
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    parts = without_unused(random_parts(rng, models, count, influences))
    trace = random_trace(rng, parents)
    plan = plan_envelope(parents, parts, trace=trace)
    assert plan.peak == placed_peak(piece_lives(whole_parts(parts)), ranks(trace))


HOLES = [
    Lives(2, (2, 4, 5), 3),
    Lives(5, (5,), 5),
    Lives(0, (0, 4), 1),
    Lives(1, (1, 3, 4), 1),
    Lives(3, (3,), 4),
]


def test_what_holes_spoil_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less is alive at once by what is found, but areas do not fit into each other."""
    parents = [-1, 0, 1, 0, 1, 3]
    first = depth_first(parents)
    with monkeypatch.context() as patch:
        patch.setattr(searcher, "placed_peak", lambda *_: 0)
        found = search_trace(parents, HOLES)
    assert walked_sum(HOLES, found) < walked_sum(HOLES, first)
    assert live_peak(HOLES, ranks(found)) < placed_peak(HOLES, ranks(found))
    assert placed_peak(HOLES, ranks(found)) > placed_peak(HOLES, ranks(first))
    assert search_trace(parents, HOLES) == first


@FEW
@given(SEEDS, st.integers(3, 14), st.integers(1, 10))
def test_the_buffer_is_never_larger_than_depth_first(
    seed: int, models: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    lives = random_lives(rng, models, count)
    found = search_trace(parents, lives, tries=100)
    first = depth_first(parents)
    assert placed_peak(lives, ranks(found)) <= placed_peak(lives, ranks(first))


# Large trees


@pytest.mark.parametrize(
    ("models", "most"), [(50, 2000), (100, 2000), (400, 500), (2000, 100)]
)
def test_large_trees_get_fewer_tries(
    models: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A try takes as long as there are models."""
    calls: list[int] = []
    real = searcher._moved

    def counted(trace: Any, *given: Any) -> Any:
        calls.append(len(trace))
        return real(trace, *given)

    monkeypatch.setattr(searcher, "_moved", counted)
    parents = [-1] + [0] * (models - 1)
    half = models // 2
    lives = [Lives(1, (1, half), 10), Lives(2, (2, models - 1), 10)]
    found = search_trace(parents, lives)
    check_trace(np.array(parents), found)
    assert calls == [models] * most
    assert len(calls) * models <= searcher.MOST_STEPS
    calls.clear()
    search_trace(parents, lives, tries=7)
    assert len(calls) == 7
