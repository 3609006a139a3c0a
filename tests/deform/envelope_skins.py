"""Envelopes and rooms for their skins, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import EnvelopePlan
from flexor.deform.envelope import (
    EnvelopeState,
    init_envelope,
    skin_envelope,
    trace_envelope,
)
from tests.envelopes import check_drawn, random_matrices, random_part
from tests.oracle import envelope as oracle

Rng = np.random.Generator
F4 = np.float32
FEW = settings(max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)
CHAIN = [-1, 0, 1, 2]
ERROR = 1e-5


def room(state: EnvelopeState, count: int, sizes: list[int]) -> Any:
    """Results (count, V, 3) of each surface, not yet written."""
    assert len(sizes) == len(state.surfaces)
    return [np.full((count, size, 3), np.nan, F4) for size in sizes]


def skin(
    state: EnvelopeState, world: Any, weights: Any, sizes: list[int]
) -> tuple[Any, Any]:
    positions, normals = (room(state, len(world), sizes) for _ in range(2))
    skin_envelope(state, world, weights, positions=positions, normals=normals)
    return positions, normals


def traced(state: EnvelopeState, world: Any, weights: Any, **options: Any) -> Any:
    """Positions and normals of each part by entry number, as handed to the sink."""
    found: dict[int, Any] = {}

    def sink(part: int, area: Any) -> None:
        assert part not in found
        assert area.dtype == np.float32
        assert area.shape[0] == 6
        found[part] = area[:3].T.copy(), area[3:].T.copy()

    trace_envelope(state, world, weights, sink, **options)
    assert sorted(found) == list(range(len(state.envelope.parts)))
    return [found[part] for part in sorted(found)]


def check(
    parts: list[EnvelopePart],
    plan: EnvelopePlan,
    world: Any,
    weights: Any = None,
    columns: Any = None,
    **options: Any,
) -> None:
    """All parts, each a surface of its own, of all characters: as the twin has them.

    Whatever the common buffer held before.
    """
    count = len(world)
    weights = np.zeros((count, 0), F4) if weights is None else weights
    state = init_envelope(build_envelope(parts, plan, **options), columns or {})
    assert state.surfaces == tuple((part.node, part.primitive) for part in parts)
    state.buffer[:] = np.nan
    positions, normals = skin(state, world, weights, [len(part) for part in parts])
    rows = [area.vertices for area in plan.areas]
    for n in range(count):
        own = weights[n], columns or {}
        raw = oracle.moved(parts, world[n], *own, normalise=False)
        drawn = [(p[n], v[n]) for p, v in zip(positions, normals, strict=True)]
        check_drawn(drawn, raw, ERROR)
        state.buffer[:] = np.nan
        check_drawn(traced(state, world[n], weights[n]), raw, ERROR, rows)


def runs_of(rng: Rng, sizes: list[int]) -> EnvelopePart:
    """So many vertices of models 0 and 1, of 0, 1 and 2, of 0 and 2, of 0 and 3."""
    sets = [[0, 1, -1], [0, 1, 2], [0, 2, -1], [0, 3, -1]]
    joints = np.repeat(sets, sizes, 0)
    counts = (joints >= 0).sum(1, keepdims=True)
    return random_part(
        rng,
        4,
        len(joints),
        3,
        models=np.arange(4),
        binds=random_matrices(rng, 4),
        joints=joints,
        weights=np.where(joints >= 0, 1 / counts, 0),
    )
