"""One weight for each vertex: the largest that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import part_pulls

__all__ = ["one_weight"]


def one_weight(part: EnvelopePart, trace: Sequence[int]) -> EnvelopePart:
    """A part whose vertices go wholly with the model that pulls them most.

    Of equal ones the first in `trace` wins.
    """
    rank = np.empty(len(trace), np.intp)
    rank[list(trace)] = np.arange(len(trace))
    pulls = part_pulls(part, rank)
    by_weight = np.lexsort((pulls.ranks, -pulls.weights, pulls.rows))
    best = by_weight[pulls.first]  # the places of each vertex are its own in any order
    row_of_rank = np.full(len(trace), -1, np.int32)
    row_of_rank[rank[part.models]] = np.arange(len(part.models), dtype=np.int32)
    joints = row_of_rank[pulls.ranks[best]][:, None]
    return replace(part, joints=joints, weights=np.ones((len(part), 1), np.float32))
