"""Walks through trees that are given by parents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.scene.character.tree import (
    ancestors,
    chain,
    children_of,
    depths,
    descendants,
    find_cycle,
    is_above,
    nearest,
    top_down,
    upward,
)

# 3 is a root, with 0 and 2 below it, 1 below 0, 4 below 1; 5 stands alone.
PARENTS = [3, 0, 3, -1, 1, -1]


@pytest.fixture(params=["list", "array"])
def parents(request: pytest.FixtureRequest) -> Any:
    return PARENTS if request.param == "list" else np.array(PARENTS, np.int32)


def test_upward(parents: Any) -> None:
    assert list(upward(parents, 4)) == [4, 1, 0, 3]
    assert list(upward(parents, 3)) == [3]
    assert list(upward(parents, -1)) == []
    assert all(type(node) is int for node in upward(parents, 4))


def test_ancestors(parents: Any) -> None:
    assert ancestors(parents, 4) == [1, 0, 3]
    assert ancestors(parents, 2) == [3]
    assert ancestors(parents, 5) == []


def test_nearest(parents: Any) -> None:
    assert nearest(parents, 4, {0, 3}) == 0
    assert nearest(parents, 4, {4: "itself", 0: ""}) == 4
    assert nearest(parents, 4, [2, 5]) == -1
    assert nearest(parents, -1, {0}) == -1


def test_chain(parents: Any) -> None:
    assert chain(parents, 3, 4) == [3, 0, 1, 4]
    assert chain(parents, 0, 1) == [0, 1]
    assert chain(parents, 1, 1) == [1]
    assert chain(parents, 4, 3) == []
    assert chain(parents, 5, 4) == []


def test_is_above(parents: Any) -> None:
    assert is_above(parents, 3, 4)
    assert is_above(parents, 1, 4)
    assert not is_above(parents, 4, 3)
    assert not is_above(parents, 4, 4)
    assert not is_above(parents, 2, 4)
    assert not is_above(parents, 5, 4)


def test_children(parents: Any) -> None:
    assert children_of(parents) == [[1], [4], [], [0, 2], [], []]
    assert children_of([]) == []


def test_depths_and_orders(parents: Any) -> None:
    assert depths(parents).tolist() == [1, 2, 1, 0, 3, 0]
    assert top_down(parents).tolist() == [3, 5, 0, 2, 1, 4]
    assert descendants(parents).tolist() == [2, 1, 0, 4, 0, 0]
    for own in (depths(parents), top_down(parents)):
        assert own.dtype == np.int32
    assert len(depths([])) == len(top_down([])) == len(descendants([])) == 0


@given(st.data())
def test_trees_of_any_shape(data: st.DataObject) -> None:
    """All answers agree with children that are found one by one."""
    count = data.draw(st.integers(1, 12))
    names = data.draw(st.permutations(range(count)))
    parents = [-1] * count
    for place in range(1, count):
        above = data.draw(st.integers(-1, place - 1))
        parents[names[place]] = names[above] if above >= 0 else -1
    below: list[set[int]] = [set() for _ in parents]
    for node in reversed(names):
        for child in range(count):
            if parents[child] == node:
                below[node] |= {child, *below[child]}
    assert descendants(parents).tolist() == [len(own) for own in below]
    order = top_down(parents).tolist()
    assert sorted(order) == list(range(count))
    assert find_cycle(parents) is None
    for node in range(count):
        line = ancestors(parents, node)
        assert depths(parents)[node] == len(line)
        assert set(line) == {one for one in range(count) if node in below[one]}
        assert all(order.index(one) < order.index(node) for one in line)
        for one in range(count):
            assert is_above(parents, one, node) == (node in below[one])
            way = chain(parents, one, node)
            assert bool(way) == (one == node or node in below[one])
            if way:
                assert (way[0], way[-1]) == (one, node)
                assert [parents[n] for n in way[1:]] == way[:-1]


@pytest.mark.parametrize(
    ("parents", "cycle"),
    [
        ([], {None}),
        ([-1], {None}),
        ([0], {0}),
        ([1, 2, -1], {None}),
        ([1, 2, 0], {0, 1, 2}),
        ([-1, 0, 3, 4, 2], {2, 3, 4}),
        ([1, 2, 3, 2], {2, 3}),  # the walk to the cycle is not part of it
        ([-1, 0, 1, 1, 0], {None}),
    ],
)
def test_find_cycle(parents: list[int], cycle: set[int | None]) -> None:
    assert find_cycle(parents) in cycle


@given(st.lists(st.integers(-1, 7), min_size=8, max_size=8))
def test_find_cycle_is_right(parents: list[int]) -> None:
    def above(node: int) -> set[int]:
        seen: set[int] = set()
        while (node := parents[node]) >= 0 and node not in seen:
            seen.add(node)
        return seen

    on_cycle = {node for node in range(8) if node in above(node)}
    found = find_cycle(parents)
    assert found in on_cycle if on_cycle else found is None
