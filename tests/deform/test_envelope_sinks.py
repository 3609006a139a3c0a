"""Sinks of envelopes, and what is refused."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.plan import plan_envelope
from flexor.deform.envelope import (
    EnvelopeState,
    init_envelope,
    skin_envelope,
    trace_envelope,
)
from flexor.errors import ShapeError
from tests.deform.envelope_skins import CHAIN, ERROR, F4, Rng, skin, traced
from tests.envelopes import random_matrices, random_part, random_parts, random_world
from tests.oracle import envelope as oracle

# Sinks.


@pytest.mark.parametrize("scale", ["one", "uneven", "negative", "mirror"])
def test_normals_as_they_add_up(scale: Any, rng: Rng) -> None:
    """normalise=False: the weighted sum; positions do not change."""
    parts = random_parts(rng, 4, 4, 3, scale="uneven")
    plan = plan_envelope(CHAIN, parts, order="joints")
    state = init_envelope(build_envelope(parts, plan))
    world, none = random_world(rng, 4, scale=scale), np.zeros(0, F4)
    drawn = traced(state, world, none, normalise=False)
    expected = oracle.moved(parts, world, normalise=False)
    lengths = np.concatenate([np.linalg.norm(v, axis=1) for _, v in expected])
    assert lengths.min() < 0.9
    for (positions, normals), (places, sums), area in zip(
        drawn, expected, plan.areas, strict=True
    ):
        np.testing.assert_allclose(positions, places[area.vertices], atol=2 * ERROR)
        np.testing.assert_allclose(normals, sums[area.vertices], atol=ERROR)


def test_the_sink_is_called_in_the_order_of_the_commands(rng: Rng) -> None:
    parts = random_parts(rng, 4, 5, 3)
    plan = plan_envelope(CHAIN, parts)
    expected = [
        number if name == "DRAW" else plan.table[number]
        for visit in plan.lists
        for name, number in visit.commands
        if name != "DRAWCP"
    ]
    order: list[int] = []
    trace_envelope(
        init_envelope(build_envelope(parts, plan)),
        random_world(rng, 4),
        np.zeros(0, F4),
        lambda part, _: order.append(part),
    )
    assert order == expected


def test_the_sink_gets_a_view_of_the_common_buffer(rng: Rng) -> None:
    parts = random_parts(rng, 4, 5, 3)
    plan = plan_envelope(CHAIN, parts)
    state = init_envelope(build_envelope(parts, plan))

    def sink(part: int, area: Any) -> None:
        count, offset = len(parts[part]), plan.areas[part].offset
        assert area.shape == (6, count)
        if count:
            assert np.shares_memory(area, state.buffer)
            own = state.buffer[:, offset : offset + count]
            assert own.ctypes.data == area.ctypes.data

    trace_envelope(state, random_world(rng, 4), np.zeros(0, F4), sink)
    assert plan.peak <= state.buffer.shape[1] < plan.peak + 128


def test_what_a_sink_does_to_its_area_changes_no_other(rng: Rng) -> None:
    """Room is released when the part is drawn, and all of it is stored anew."""
    parts = random_parts(rng, 4, 5, 3)
    plan = plan_envelope(CHAIN, parts)
    state, world = init_envelope(build_envelope(parts, plan)), random_world(rng, 4)
    expected = traced(state, world, np.zeros(0, F4))

    def sink(part: int, area: Any) -> None:
        np.testing.assert_array_equal(area[:3].T, expected[part][0])
        np.testing.assert_array_equal(area[3:].T, expected[part][1])
        area[:] = np.nan

    trace_envelope(state, world, np.zeros(0, F4), sink)


def test_a_sink_that_fails_does_no_harm(rng: Rng) -> None:
    parts = [random_part(rng, 4, 9, 3, node=node) for node in range(3)]
    state = init_envelope(build_envelope(parts, plan_envelope(CHAIN, parts)))
    world, none = random_world(rng, 4), np.zeros(0, F4)
    expected = traced(state, world, none)

    def sink(part: int, area: Any) -> None:
        raise RuntimeError("no more paper")

    with pytest.raises(RuntimeError, match="no more paper"):
        trace_envelope(state, world, none, sink)
    for made, whole in zip(traced(state, world, none), expected, strict=True):
        np.testing.assert_array_equal(made, whole)


# Refusals.


def results(count: int, first: int, second: int, dtype: Any = F4) -> list[Any]:
    return [np.zeros((count, size, 3), dtype) for size in (first, second)]


@pytest.fixture
def morphed(rng: Rng) -> EnvelopeState:
    """Surfaces of 5 and 9 vertices, model 3 pulls; node 1 has morphs, columns 2, 3."""
    parts = [
        random_part(
            rng,
            4,
            5,
            1,
            models=[3],
            binds=random_matrices(rng, 1),
            joints=np.zeros((5, 1)),
        ),
        random_part(rng, 4, 9, 3, node=1, targets=2),
    ]
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    return init_envelope(envelope, {1: 2})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"world": np.zeros((2, 4, 4, 4), F4)}, "world: shape"),
        ({"world": np.zeros((4, 3, 4), F4)}, "world: shape"),
        ({"world": np.zeros((2, 4, 3, 4))}, "world: float64"),
        ({"world": np.zeros((2, 3, 3, 4), F4)}, "world: 3 nodes, .* node 3"),
        ({"world": np.zeros((2, 4, 4, 3), F4).swapaxes(2, 3)}, "world: must be C"),
        ({"weights": np.ones((3, 4), F4)}, "weights: shape"),
        ({"weights": np.ones((2, 3), F4)}, "weights: 3, .* column 3"),
        ({"weights": np.ones((2, 4))}, "weights: float64"),
        ({"positions": [np.zeros((2, 5, 3), F4)]}, "positions: 1 .* 2"),
        ({"normals": [np.zeros((2, 5, 3), F4)]}, "normals: 1 .* 2"),
        ({"positions": results(2, 5, 8), "normals": results(2, 5, 8)}, "positions.* 9"),
        ({"normals": results(2, 5, 8)}, "normals.* 9"),
        ({"normals": results(2, 6, 9)}, "normals.* 5"),
        ({"positions": results(1, 5, 9)}, "positions.*shape"),
        ({"positions": results(2, 5, 9, np.float64)}, "positions.*float64"),
    ],
)
def test_refusals(changes: Any, text: str, morphed: EnvelopeState) -> None:
    given = {
        "world": np.zeros((2, 4, 3, 4), F4),
        "weights": np.ones((2, 4), F4),
        "positions": results(2, 5, 9),
        "normals": results(2, 5, 9),
        **changes,
    }
    with pytest.raises(ShapeError, match=text):
        skin_envelope(morphed, **given)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", range(4))
def test_morph_weights_that_are_not_finite_are_refused(
    wild: float, column: int, morphed: EnvelopeState, rng: Rng
) -> None:
    """Of any column and character, whether it is used here or not."""
    world, weights = random_world(rng, 2, 4), np.zeros((2, 4), F4)
    weights[1, column] = wild
    positions, normals = results(2, 5, 9), results(2, 5, 9)
    with pytest.raises(ShapeError, match="weights: must be finite"):
        skin_envelope(morphed, world, weights, positions=positions, normals=normals)
    with pytest.raises(ShapeError, match="weights: must be finite"):
        trace_envelope(morphed, world[1], weights[1], lambda *_: None)
    # The state is as good as it was.
    weights[1, column] = 0
    fresh = init_envelope(morphed.envelope, {1: 2})
    for one, other in zip(
        skin(morphed, world, weights, [5, 9]),
        skin(fresh, world, weights, [5, 9]),
        strict=True,
    ):
        for a, b in zip(one, other, strict=True):
            assert a.tobytes() == b.tobytes()


def test_results_are_looked_at_on_every_call(morphed: EnvelopeState, rng: Rng) -> None:
    """Nothing about arrays is remembered: others, smaller ones, ones of other size."""
    world, weights = random_world(rng, 2, 4), np.ones((2, 4), F4)
    first = skin(morphed, world, weights, [5, 9])
    for sizes in ([7, 12], [5, 9]):
        again = skin(morphed, world, weights, sizes)
        for one, other in zip(first, again, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b[:, : a.shape[1]])
                assert np.isnan(b[:, a.shape[1] :]).all()
    positions, normals = results(2, 5, 9), results(2, 5, 9)
    skin_envelope(morphed, world, weights, positions=positions, normals=normals)
    positions[1] = np.zeros((2, 8, 3), F4)
    normals[1] = np.zeros((2, 8, 3), F4)
    with pytest.raises(ShapeError, match="positions"):
        skin_envelope(morphed, world, weights, positions=positions, normals=normals)
    # The same list with other arrays in it gets the results.
    positions[1], normals[1] = (np.zeros((2, 9, 3), F4) for _ in range(2))
    skin_envelope(morphed, world, weights, positions=positions, normals=normals)
    np.testing.assert_array_equal(positions[1], first[0][1])
    np.testing.assert_array_equal(normals[1], first[1][1])


def test_a_state_holds_no_results(morphed: EnvelopeState, rng: Rng) -> None:
    positions, normals = results(1, 5, 9), results(1, 5, 9)
    world, weights = random_world(rng, 1, 4), np.ones((1, 4), F4)
    skin_envelope(morphed, world, weights, positions=positions, normals=normals)
    held = [weakref.ref(array) for array in (*positions, *normals)]
    del positions, normals
    gc.collect()
    assert [ref() for ref in held] == [None] * 4


def test_results_that_cannot_be_written_are_refused(morphed: EnvelopeState) -> None:
    positions, normals = results(1, 5, 9), results(1, 5, 9)
    positions[1].flags.writeable = False
    world, weights = np.zeros((1, 4, 3, 4), F4), np.zeros((1, 4), F4)
    with pytest.raises(ShapeError, match=r"positions.*must be"):
        skin_envelope(morphed, world, weights, positions=positions, normals=normals)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"world": np.zeros((1, 4, 3, 4), F4)}, "world: shape"),
        ({"world": np.zeros((4, 3, 4))}, "world: float64"),
        ({"world": np.zeros((3, 3, 4), F4)}, "world: 3 nodes, .* node 3"),
        ({"weights": np.ones((1, 4), F4)}, "weights: shape"),
        ({"weights": np.ones(3, F4)}, "weights: 3, .* column 3"),
        ({"weights": np.ones(4)}, "weights: float64"),
    ],
)
def test_refusals_of_a_trace(changes: Any, text: str, morphed: EnvelopeState) -> None:
    given = {
        "world": np.zeros((4, 3, 4), F4),
        "weights": np.ones(4, F4),
        "sink": lambda *_: None,
        **changes,
    }
    with pytest.raises(ShapeError, match=text):
        trace_envelope(morphed, **given)
