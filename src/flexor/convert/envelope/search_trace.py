"""A better order of visits: one in which the common buffer can be smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Rows
from flexor.convert.envelope.plan import depth_first, place_areas
from flexor.scene.character.tree import children_of

__all__ = ["Lives", "live_peak", "placed_peak", "search_trace"]


MOST_STEPS = 200_000


@dataclass(frozen=True, slots=True)
class Lives:
    """What decides how long a part needs how much room: the model that owns it, those
    that pull its vertices, and how many vertices it has.
    """

    owner: int
    models: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Lives as flat arrays: models of all, where each begins, owners and sizes."""

    models: Rows
    begin: Rows
    owners: Rows
    sizes: NDArray[np.int64]


def live_peak(lives: Sequence[Lives], rank: Rows) -> int:
    """The most vertices that are in the buffer at once; rank: (M,), of each model."""
    return _cost(_table(lives), rank)[0]


def placed_peak(lives: Sequence[Lives], rank: Rows) -> int:
    """How many places the buffer needs, with the holes that remain between areas."""
    table = _table(lives)
    if not len(table.sizes):
        return 0
    first, last = _spans(table, rank)
    return place_areas(first.tolist(), last.tolist(), table.sizes.tolist())[1]


def _table(lives: Sequence[Lives]) -> _Table:
    used = [one for one in lives if one.models]
    counts = [len(one.models) for one in used]
    return _Table(
        np.array([model for one in used for model in one.models], np.intp),
        np.cumsum([0, *counts[:-1]]),
        np.array([one.owner for one in used], np.intp),
        np.array([one.size for one in used], np.int64),
    )


def _cost(table: _Table, rank: Rows) -> tuple[int, int]:
    """The most vertices at once, and their sum over all visits."""
    if not len(table.sizes):
        return 0, 0
    first, last = _spans(table, rank)
    steps = np.bincount(first, table.sizes, len(rank) + 1)
    steps -= np.bincount(last + 1, table.sizes, len(rank) + 1)
    return int(steps.cumsum().max()), int((last - first + 1) @ table.sizes)


def _spans(table: _Table, rank: Rows) -> tuple[Rows, Rows]:
    """The visit that first writes to each part, and the one that draws it."""
    ranks = rank[table.models]
    first = np.minimum.reduceat(ranks, table.begin)
    last = np.maximum.reduceat(ranks, table.begin)
    return first, np.maximum(last, rank[table.owners])


def search_trace(
    parents: ArrayLike, lives: Sequence[Lives], *, tries: int = 2000, seed: int = 0
) -> list[int]:
    """An order of visits, parents before children, with a low peak.

    Starts depth first and then tries to visit single models, or models with all that
    is below them, earlier or later; what is not worse is kept. Tried by the sum of what
    is needed at once; if holes between areas spoil what was found, depth first remains.
    """
    above = np.asarray(parents, np.intp)
    best = depth_first(above)
    table = _table(lives)
    rank = np.argsort(best)
    cost = _cost(table, rank)
    rng = np.random.default_rng(seed)
    if len(best) < 3 or cost[0] <= max((one.size for one in lives), default=0):
        return best
    # What is below a model follows it depth first.
    walk, below = list(best), _counts_below(above)
    place = np.argsort(walk)
    starts, visits = place.tolist(), np.arange(len(best))
    parent_of, children = above.tolist(), children_of(above.tolist())
    at = starts  # of each model in the best trace
    # A try takes as long as there are models.
    draws = rng.random((min(tries, MOST_STEPS // len(best)), 3))
    for what, start, to in draws.tolist():
        model = int(what * len(best))
        count = below[model] if start < 0.5 else 1
        group = walk[starts[model] : starts[model] + count]
        low = at[parent_of[model]] + 1 if parent_of[model] >= 0 else 0
        # What is below stays behind it: all of it goes along, or none.
        stay = children[model] if count < below[model] else ()
        high = min([at[child] - 1 for child in stay], default=len(best) - count)
        trace = _moved(best, group, at[model], low + int(to * (high - low + 1)))
        if trace == best:
            continue
        rank[trace] = visits
        new = _cost(table, rank)
        if new <= cost:
            best, cost, at = trace, new, rank.tolist()
    is_better = placed_peak(lives, np.argsort(best)) <= placed_peak(lives, place)
    return best if is_better else walk


def _counts_below(parents: Rows) -> list[int]:
    """Of each model: how many there are with it and all that is below it."""
    counts = [1] * len(parents)
    for model in reversed(depth_first(parents)):
        if parents[model] >= 0:
            counts[parents[model]] += counts[model]
    return counts


def _moved(trace: list[int], group: Sequence[int], first: int, to: int) -> list[int]:
    """The trace with a group, the first of which is at `first`, at another place.

    to: how many of the others then come before it.
    """
    if len(group) == 1:
        rest = trace.copy()
        rest.insert(to, rest.pop(first))
        return rest
    own = set(group)
    later = trace[first:]
    rest = trace[:first] + [model for model in later if model not in own]
    return [*rest[:to], *(model for model in later if model in own), *rest[to:]]
