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
    # Of a model that is bound in several ways, the way with the largest weight.
    is_used = (part.joints >= 0) & (part.weights > 0)
    is_best = is_used & (rank[part.models[part.joints]] == pulls.ranks[best][:, None])
    column = np.where(is_best, part.weights, -1).argmax(1)[:, None]
    joints = np.take_along_axis(part.joints, column, 1)
    return replace(part, joints=joints, weights=np.ones((len(part), 1), np.float32))
