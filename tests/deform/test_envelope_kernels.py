"""Runs that may be stored beyond their end, and kernels of envelopes alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import plan_envelope
from flexor.deform.envelope import EnvelopeState, init_envelope
from flexor.deform.kernels import envelope as kernel
from flexor.scene.runtime import layout as at
from tests.deform.envelope_skins import (
    CHAIN,
    ERROR,
    F4,
    FEW,
    SEEDS,
    Rng,
    check,
    runs_of,
)
from tests.envelopes import (
    random_matrices,
    random_part,
    random_parts,
    random_trace,
    random_tree,
    random_world,
)
from tests.oracle.deform import normal_matrix, unit

# Runs that may be stored beyond their end.


def exact_marks(state: EnvelopeState) -> Any:
    """For each step whether it is marked, by the life of every place."""
    envelope = state.envelope
    live: set[int] = set()
    marks = []
    for op, row, entry, count, _ in envelope.steps.tolist():
        is_marked = False
        if op in (at.NATIVE, at.START):
            beyond = range(entry + count, entry + -(-count // 8) * 8)
            is_marked = not live.isdisjoint(beyond)
            live |= set(range(entry, entry + count))
        elif op in (at.DRAW, at.DRAW_DEFERRED):
            part = row if op == at.DRAW else int(envelope.table[row])
            begin = int(envelope.parts[part, at.AREA])
            live -= set(range(begin, begin + int(envelope.parts[part, at.VERTICES])))
        marks.append(is_marked)
    return marks


def rigid_part(rng: Rng, model: int, vertices: int, **more: Any) -> EnvelopePart:
    """Vertices that one model pulls and owns."""
    return random_part(
        rng,
        4,
        vertices,
        1,
        owner=model,
        models=[model],
        binds=random_matrices(rng, 1),
        joints=np.zeros((vertices, 1)),
        weights=np.ones((vertices, 1)),
        node=model,
        **more,
    )


def test_room_that_is_used_again_is_no_reason_to_stop_short(rng: Rng) -> None:
    """Sixteen places that were drawn: five stored over them need no care."""
    parts = [rigid_part(rng, model, size) for model, size in enumerate([16, 5, 3, 7])]
    state = init_envelope(build_envelope(parts, plan_envelope(CHAIN, parts)))
    assert [part[at.AREA] for part in state.envelope.parts.tolist()] == [0] * 4
    assert not state._steps[:, kernel.IS_EXACT].any()
    check(parts, plan_envelope(CHAIN, parts), random_world(rng, 2, 4))


def test_room_that_is_still_needed_is_not_stored_over(rng: Rng) -> None:
    """Of the first part the last model's vertices are drawn late; they follow those of
    the others, which are stored after them.
    """
    forest = [-1, -1, -1, -1]
    part = runs_of(rng, [3, 0, 0, 5])
    other = rigid_part(rng, 1, 3)
    parts = [replace(part, node=0), other]
    plan = plan_envelope(forest, parts, trace=[3, 0, 1, 2])
    state = init_envelope(build_envelope(parts, plan))
    marks = state._steps[:, kernel.IS_EXACT].astype(bool).tolist()
    assert marks == exact_marks(state)
    check(parts, plan, random_world(rng, 2, 4))


@FEW
@given(SEEDS, st.integers(1, 10), st.integers(1, 6), st.integers(1, 4))
def test_marks_of_any_envelope(
    seed: int, models: int, count: int, influences: int
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    parts = random_parts(rng, models, count, influences)
    plan = plan_envelope(parents, parts, trace=random_trace(rng, parents))
    state = init_envelope(build_envelope(parts, plan))
    marks = state._steps[:, kernel.IS_EXACT].astype(bool).tolist()
    assert marks == exact_marks(state)


# The kernels alone.


@pytest.mark.parametrize("scale", ["one", "uneven", "mirror"])
def test_fetch_models(scale: Any, rng: Rng) -> None:
    """Matrices of those that are used, and matrices for normals where these differ."""
    world = random_world(rng, 6, scale=scale)
    models = np.array([4, 0, 5], np.uint32)
    matrices, turns = np.zeros((2, 36), F4)
    is_uneven = kernel.fetch_models(world.reshape(-1), models, matrices, turns)
    np.testing.assert_array_equal(matrices.reshape(3, 3, 4), world[models])
    assert is_uneven == (scale != "one")
    for row, model in enumerate(models):
        if is_uneven:
            made = turns.reshape(3, 3, 4)[row]
            np.testing.assert_allclose(
                made[:, :3], normal_matrix(world[model]), atol=ERROR
            )


def test_morph_data(rng: Rng) -> None:
    """Some numbers get two morphs, some none; a weight of zero is no morph."""
    data, deltas = rng.normal(size=64).astype(F4), rng.normal(size=72).astype(F4)
    morphs = np.array(
        [[0, 0, 8, 24, 0], [0, 1, 16, 32, 24], [1, 0, 56, 8, 56], [1, 1, 0, 8, 64]],
        np.int32,
    )
    weights, columns = np.array([0.5, -2, 0, 3], F4), np.array([3, 0, 2, 1], np.int32)
    out = np.full(64, np.nan, F4)
    kernel.morph_data(morphs, columns, weights, data, deltas, out)
    expected = data.astype(float)
    for (_, _, to, count, of), column in zip(morphs, columns, strict=True):
        expected[to : to + count] += float(weights[column]) * deltas[of : of + count]
    np.testing.assert_allclose(out, expected, atol=1e-6)
    np.testing.assert_array_equal(out[56:], data[56:])


@pytest.mark.parametrize("count", [0, 1, 5, 8, 11])
def test_make_units(count: int, rng: Rng) -> None:
    """Only of the places that are named."""
    buffer = rng.normal(size=(6, 20)).astype(F4)
    buffer[3:, 4] = 0
    before = buffer.copy()
    kernel.make_units(3, count, 20, buffer.reshape(-1))
    expected = before.copy()
    expected[3:, 3 : 3 + count] = unit(before[3:, 3 : 3 + count].T).T
    np.testing.assert_allclose(buffer, expected, atol=1e-6)


def test_run_to_draw(rng: Rng) -> None:
    """Gives the step that draws, and its successor goes on; then the number of all."""
    parts = [random_part(rng, 4, 9, 2, node=node) for node in range(3)]
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    state, world = init_envelope(envelope), random_world(rng, 4)
    count = len(envelope.steps)
    matrices, turns = state._matrices, state._turns
    kernel.fetch_models(world.reshape(-1), envelope.models, matrices, turns)
    found, step = [], 0
    while step < count:
        step = kernel.run_to_draw(
            step,
            state._steps,
            matrices,
            matrices,
            envelope.data,
            state.buffer.shape[1],
            state._work,
            state.buffer.reshape(-1),
        )
        found.append(step)
        step += 1
    is_draw = np.isin(envelope.steps[:, 0], [5, 6])
    assert [step for step in found if step < count] == np.nonzero(is_draw)[0].tolist()
