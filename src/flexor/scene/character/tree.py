"""Questions about a tree that is given by the parent of each node.

In all of these `parents` has one entry per node: the row of its parent, -1 for a root.
Entries are in range and no node is its own ancestor; `find_cycle` tells whether.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints

__all__ = [
    "Parents",
    "ancestors",
    "chain",
    "children_of",
    "depths",
    "descendants",
    "find_cycle",
    "is_above",
    "nearest",
    "top_down",
    "upward",
]

Parents = Sequence[int] | NDArray[np.integer[Any]]


def upward(parents: Parents, node: int) -> Iterator[int]:
    """A node, its parent and so on to the root; nothing for -1."""
    while node >= 0:
        yield node
        node = int(parents[node])


def ancestors(parents: Parents, node: int) -> list[int]:
    """All nodes above a node, the nearest first."""
    return list(upward(parents, int(parents[node])))


def nearest(parents: Parents, node: int, among: Container[int]) -> int:
    """The first of `among` on the way up from a node, itself perhaps; -1: none."""
    return next((one for one in upward(parents, node) if one in among), -1)


def chain(parents: Parents, top: int, node: int) -> list[int]:
    """From `top` down to `node`, both included; empty where `top` is not above it."""
    line = list(upward(parents, node))
    return line[line.index(top) :: -1] if top in line else []


def is_above(parents: Parents, node: int, other: int) -> bool:
    """Whether a node is an ancestor of another; it is none of its own."""
    return node in upward(parents, int(parents[other]))


def children_of(parents: Parents) -> list[list[int]]:
    """For each node those that hang on it, in rising order."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(np.asarray(parents).tolist()):
        if parent >= 0:
            children[parent].append(node)
    return children


def depths(parents: Parents) -> Ints:
    """How many nodes are above each: int32 (J,)."""
    above: list[int] = np.asarray(parents).tolist()
    depth = [-1] * len(above)
    for start in range(len(above)):
        walk, node = [], start
        while node >= 0 and depth[node] < 0:
            walk.append(node)
            node = above[node]
        level = depth[node] + 1 if node >= 0 else 0
        for below in reversed(walk):
            depth[below] = level
            level += 1
    return np.array(depth, np.int32)


def top_down(parents: Parents) -> Ints:
    """Nodes ordered by depth, then by number: int32 (J,); parents before children."""
    return np.argsort(depths(parents), kind="stable").astype(np.int32)


def descendants(parents: Parents) -> NDArray[np.int64]:
    """How many nodes hang below each: (J,)."""
    below = np.zeros(len(parents), np.int64)
    for node in reversed(top_down(parents).tolist()):
        if parents[node] >= 0:
            below[parents[node]] += below[node] + 1
    return below


def find_cycle(parents: Parents) -> int | None:
    """A node that is its own ancestor, or None. Every entry must be in range."""
    state = np.zeros(len(parents), np.int8)  # 0 unseen, 1 on this walk, 2 known good
    for start in range(len(parents)):
        walk = []
        node = start
        while node >= 0 and state[node] == 0:
            state[node] = 1
            walk.append(node)
            node = int(parents[node])
        if node >= 0 and state[node] == 1:
            return node
        state[walk] = 2
    return None
