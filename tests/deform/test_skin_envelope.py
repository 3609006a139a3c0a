"""The drawing library against its slow twin: sizes, scales, morphs, batches, sinks."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import EnvelopePlan, plan_envelope
from flexor.deform.kernels import envelope as kernel
from flexor.deform.skin_envelope import (
    EnvelopeState,
    init_envelope,
    skin_envelope,
    trace_envelope,
)
from flexor.errors import ShapeError
from flexor.scene.character.mesh import MorphTarget
from flexor.scene.runtime import layout as at
from tests.envelopes import (
    check_drawn,
    random_matrices,
    random_part,
    random_parts,
    random_trace,
    random_tree,
    random_world,
)
from tests.oracle import envelope as oracle
from tests.oracle.deform import normal_matrix, unit

Rng = np.random.Generator
F4 = np.float32
FEW = settings(max_examples=40, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)
SCALES = st.sampled_from(["one", "even", "uneven", "negative", "mirror"])
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


@FEW
@given(
    SEEDS,
    st.integers(1, 12),
    st.integers(1, 5),
    st.integers(1, 6),
    st.sampled_from([1, 3]),
    SCALES,
    SCALES,
    st.sampled_from(["original", "joints"]),
    st.sampled_from(["places", "consistent"]),
)
def test_any_envelope(
    seed: int,
    models: int,
    count: int,
    influences: int,
    characters: int,
    bind_scale: Any,
    scale: Any,
    order: Any,
    ids: Any,
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    parts = random_parts(rng, models, count, influences, scale=bind_scale)
    trace = random_trace(rng, parents)
    plan = plan_envelope(parents, parts, trace=trace, order=order)
    check(parts, plan, random_world(rng, characters, models, scale=scale), ids=ids)


@FEW
@given(SEEDS, st.integers(1, 6), st.integers(1, 6), st.sampled_from([1, 4]), SCALES)
def test_one_weight(
    seed: int, models: int, influences: int, characters: int, scale: Any
) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    trace = random_trace(rng, parents)
    parts = [
        one_weight(part, trace) for part in random_parts(rng, models, 3, influences)
    ]
    plan = plan_envelope(parents, parts, trace=trace)
    check(parts, plan, random_world(rng, characters, models, scale=scale))


@FEW
@given(SEEDS, st.integers(1, 3), st.integers(1, 4), st.sampled_from([1, 3]), SCALES)
def test_morphs(
    seed: int, targets: int, influences: int, characters: int, scale: Any
) -> None:
    """Columns of the nodes in any order, some weights zero, one character at rest."""
    rng = np.random.default_rng(seed)
    parts = random_parts(rng, 4, 3, influences, scale="uneven", targets=targets)
    parts.append(random_part(rng, 4, 9, influences, node=3))
    plan = plan_envelope(CHAIN, parts, order="joints")
    columns = {0: targets + 1, 1: 2 * targets + 1, 2: 0}
    weights = rng.normal(size=(characters, 3 * targets + 1)).astype(F4)
    weights *= rng.integers(0, 2, weights.shape)
    weights[-1] *= characters == 1
    world = random_world(rng, characters, 4, scale=scale)
    check(parts, plan, world, weights, columns)


@pytest.mark.parametrize("vertices", [1, 5, 7, 8, 9, 16, 17, 65])
@pytest.mark.parametrize("influences", [1, 2, 3, 4])
@pytest.mark.parametrize("scale", ["one", "uneven"])
def test_chunks_of_all_sizes(
    vertices: int, influences: int, scale: Any, rng: Rng
) -> None:
    """One set of joints: each chunk has all vertices, a neighbour begins after it."""
    parts = [
        random_part(
            rng,
            4,
            vertices,
            influences,
            node=node,
            owner=0,
            models=np.arange(4),
            binds=random_matrices(rng, 4),
            joints=np.tile(np.arange(influences), (vertices, 1)),
            weights=np.full((vertices, influences), 1 / influences),
        )
        for node in range(3)
    ]
    check(parts, plan_envelope(CHAIN, parts), random_world(rng, 2, 4, scale=scale))


@pytest.mark.parametrize("first", [1, 5, 8, 9])
@pytest.mark.parametrize("second", [1, 7, 8, 17])
@pytest.mark.parametrize("is_swapped", [False, True])
def test_runs_beside_each_other(
    first: int, second: int, is_swapped: bool, rng: Rng
) -> None:
    """Native of one model, native of another, start: none writes into the next.

    The later model's run may come first in the area, or last.
    """
    pulls = [[3, -1]] * first + [[1, -1]] * second + [[2, 3]] * first + [[0, 1]] * 3
    joints = np.array(pulls)
    weights = np.where(joints < 0, 0, np.where(joints[:, 1:] < 0, 1, 0.5))
    vertices = len(joints)
    part = random_part(
        rng,
        4,
        vertices,
        2,
        models=np.arange(4),
        binds=random_matrices(rng, 4),
        joints=joints,
        weights=weights,
    )
    other = random_part(rng, 4, 9, 2, node=1)
    parts = [other, part] if is_swapped else [part, other]
    forest = [-1, -1, -1, -1]
    for trace in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        plan = plan_envelope(forest, parts, trace=trace)
        check(parts, plan, random_world(rng, 2, 4))


def test_empty_parts_and_nothing_at_all(rng: Rng) -> None:
    sizes = [0, 3, 0]
    parts = [random_part(rng, 4, size, 2, node=n) for n, size in enumerate(sizes)]
    check(parts, plan_envelope(CHAIN, parts), random_world(rng, 2, 4))
    check(parts[:1], plan_envelope(CHAIN, parts[:1]), random_world(rng, 2, 4))
    check([], plan_envelope(CHAIN, []), random_world(rng, 2, 4))


def test_no_characters(rng: Rng) -> None:
    parts = random_parts(rng, 4, 3, 2, targets=1)
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    state = init_envelope(envelope, {part.node: 0 for part in parts})
    none = np.zeros((0, 1), F4)
    skin(state, np.zeros((0, 4, 3, 4), F4), none, [len(part) for part in parts])


def test_morphs_without_a_column(rng: Rng) -> None:
    parts = random_parts(rng, 4, 3, 2, targets=1)
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    with pytest.raises(ShapeError, match="columns: node 0 has morphs but no column"):
        init_envelope(envelope)


@pytest.mark.parametrize("wild", [np.nan, np.inf])
@np.errstate(all="ignore")  # kernels that are not compiled are NumPy
def test_a_matrix_that_is_not_finite_spoils_its_own_vertices_alone(
    rng: Rng, wild: float
) -> None:
    """Blocks are worked whole: what is beyond a run's end must not be touched."""
    parts = random_parts(rng, 4, 3, 3)
    plan = plan_envelope(CHAIN, parts)
    world = random_world(rng, 2, 4)
    sizes, none = [len(part) for part in parts], np.zeros((2, 0), F4)
    clean = skin(init_envelope(build_envelope(parts, plan)), world, none, sizes)
    world[:, 2] = wild
    got = skin(init_envelope(build_envelope(parts, plan)), world, none, sizes)
    for part, before, after in zip(parts, clean[0], got[0], strict=True):
        is_used = (part.joints >= 0) & (part.weights > 0)
        is_own = (is_used & (part.models[part.joints] == 2)).any(1)
        assert not np.isfinite(after[:, is_own]).any()
        np.testing.assert_allclose(after[:, ~is_own], before[:, ~is_own], atol=1e-5)


def is_pulled_by(part: EnvelopePart, model: int) -> Any:
    """Which vertices (V,) of a part a model pulls."""
    is_used = (part.joints >= 0) & (part.weights > 0)
    return (is_used & (part.models[part.joints] == model)).any(1)


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


@pytest.mark.parametrize("model", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "scales", [(1e20, 1, 1), (1e20, 1e20, 1), (1, 1e25, 1e-3), (1e-30, 1, 1e20)]
)
@np.errstate(all="ignore")  # kernels that are not compiled are NumPy
def test_large_uneven_scales_spoil_normals_of_no_others(
    scales: tuple[float, ...], seed: int, model: int
) -> None:
    """All numbers of the matrix are finite; those of its matrix for normals are not."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, 4).tolist()
    parts = [runs_of(rng, sizes), *random_parts(rng, 4, 3, 3)]
    parts = [replace(part, node=node) for node, part in enumerate(parts)]
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    world = random_world(rng, 2, 4, scale="uneven")
    none, counts = np.zeros((2, 0), F4), [len(part) for part in parts]
    clean = skin(init_envelope(envelope), world, none, counts)
    world[:, model, :, :3] *= np.array(scales, F4)
    assert np.isfinite(world).all()
    state = init_envelope(envelope)
    got = skin(state, world, none, counts)
    for part, before, after in zip(parts, clean[1], got[1], strict=True):
        is_other = ~is_pulled_by(part, model)
        assert np.isfinite(after[:, is_other]).all()
        np.testing.assert_allclose(after[:, is_other], before[:, is_other], atol=1e-5)
    for part, before, after in zip(parts, clean[0], got[0], strict=True):
        is_other = ~is_pulled_by(part, model)
        np.testing.assert_allclose(after[:, is_other], before[:, is_other], atol=1e-5)
    # By a sink as well.
    plan = plan_envelope(CHAIN, parts)
    for row, (_, normals) in enumerate(traced(state, world[0], none[0])):
        rows = plan.areas[row].vertices
        is_other = ~is_pulled_by(parts[row], model)[rows]
        expected = clean[1][row][0][rows][is_other]
        np.testing.assert_allclose(normals[is_other], expected, atol=1e-5)


@pytest.mark.parametrize("wild", [np.nan, np.inf])
@pytest.mark.parametrize("model", [1, 2, 3])
@np.errstate(all="ignore")  # kernels that are not compiled are NumPy
def test_wild_matrices_spoil_normals_of_no_others(
    model: int, wild: float, rng: Rng
) -> None:
    parts = [runs_of(rng, [3, 5, 2, 9])]
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    world, none = random_world(rng, 1, 4), np.zeros((1, 0), F4)
    clean = skin(init_envelope(envelope), world, none, [19])
    world[:, model] = wild
    got = skin(init_envelope(envelope), world, none, [19])
    is_other = ~is_pulled_by(parts[0], model)
    for before, after in zip(clean, got, strict=True):
        np.testing.assert_allclose(
            after[0][:, is_other], before[0][:, is_other], atol=1e-5
        )


def test_more_world_matrices_than_models(rng: Rng) -> None:
    parts = random_parts(rng, 4, 3, 3)
    check(parts, plan_envelope(CHAIN, parts), random_world(rng, 3, 9))


def cut_surface(rng: Rng) -> tuple[EnvelopePart, list[EnvelopePart]]:
    """A surface, and three parts of it that share two vertices."""
    whole = random_part(rng, 4, 21, 3, targets=1)
    rows = [[3, 0, 5, 1, 2, 4], [2, 6, 7, 8, 9, 10, 11, 12, 4], [*range(13, 21), 5]]
    parts = [
        replace(
            whole,
            owner=owner,
            positions=whole.positions[own],
            normals=whole.normals[own],
            joints=whole.joints[own],
            weights=whole.weights[own],
            faces=np.zeros((0, 3)),
            vertices=np.array(own),
            targets=tuple(
                MorphTarget(target.positions[own], target.normals[own])
                for target in whole.targets
                if target.positions is not None and target.normals is not None
            ),
        )
        for owner, own in enumerate(rows)
    ]
    return whole, parts


def test_parts_of_one_surface(rng: Rng) -> None:
    """Vertices go to their rows in the file; another surface stands in between."""
    whole, parts = cut_surface(rng)
    other = random_part(rng, 4, 7, 2, primitive=1)
    parts.insert(1, other)
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts, order="joints"))
    state = init_envelope(envelope, {0: 0})
    assert state.surfaces == ((0, 0), (0, 1))
    world = random_world(rng, 3, 4, scale="uneven")
    weights = rng.normal(size=(3, 1)).astype(F4)
    positions, normals = skin(state, world, weights, [21, 7])
    for n in range(3):
        own = weights[n], {0: 0}
        raw = oracle.moved([whole, other], world[n], *own, normalise=False)
        drawn = [(p[n], v[n]) for p, v in zip(positions, normals, strict=True)]
        check_drawn(drawn, raw, ERROR)


def test_rows_that_no_part_names_are_left_alone(rng: Rng) -> None:
    part = random_part(rng, 4, 3, 2, vertices=[4, 0, 2])
    state = init_envelope(build_envelope([part], plan_envelope(CHAIN, [part])))
    none = np.zeros((2, 0), F4)
    positions, normals = skin(state, random_world(rng, 2, 4), none, [7])
    for made in (positions[0], normals[0]):
        assert np.isnan(made[:, [1, 3, 5, 6]]).all()
        assert np.isfinite(made[:, [0, 2, 4]]).all()


def test_batches_are_the_same_to_the_last_bit(rng: Rng) -> None:
    """Each character as if it were alone; also beside one that is morphed."""
    parts = random_parts(rng, 4, 4, 3, targets=2)
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    columns = dict.fromkeys(range(4), 0)
    sizes = [len(part) for part in parts]
    world = random_world(rng, 5, 4)
    weights = rng.normal(size=(5, 2)).astype(F4)
    weights[[0, 3]] = 0
    together = skin(init_envelope(envelope, columns), world, weights, sizes)
    for n in range(5):
        own = world[n : n + 1], weights[n : n + 1]
        alone = skin(init_envelope(envelope, columns), *own, sizes)
        for made, single in zip(together, alone, strict=True):
            for surface, expected in zip(made, single, strict=True):
                assert surface[n].tobytes() == expected[0].tobytes()


def test_a_state_is_used_again(rng: Rng) -> None:
    """Nothing of the last call is left: uneven, then even, morphed, then not."""
    parts = random_parts(rng, 4, 4, 3, targets=2)
    envelope = build_envelope(parts, plan_envelope(CHAIN, parts))
    columns = dict.fromkeys(range(4), 0)
    state, sizes = init_envelope(envelope, columns), [len(part) for part in parts]
    for scale in ("uneven", "one", "zero", "one"):
        for size in (1, 0):
            world = random_world(rng, 2, 4, scale=scale)  # type: ignore[arg-type]
            weights = (rng.normal(size=(2, 2)) * size).astype(F4)
            again = skin(state, world, weights, sizes)
            fresh = skin(init_envelope(envelope, columns), world, weights, sizes)
            for made, expected in zip(again, fresh, strict=True):
                for a, b in zip(made, expected, strict=True):
                    assert a.tobytes() == b.tobytes()


def test_all_scales_zero(rng: Rng) -> None:
    """A character shrunk to nothing: finite, and without direction."""
    parts = random_parts(rng, 4, 3, 3)
    state = init_envelope(build_envelope(parts, plan_envelope(CHAIN, parts)))
    world, none = np.zeros((1, 4, 3, 4), F4), np.zeros((1, 0), F4)
    positions, normals = skin(state, world, none, [len(part) for part in parts])
    for made in (*positions, *normals):
        assert (made == 0).all()
    for made in traced(state, world[0], none[0]):
        assert (np.array(made) == 0).all()


def test_normals_of_zero_stay_zero(rng: Rng) -> None:
    part = random_part(rng, 4, 9, 3, normals=np.zeros((9, 3)))
    state = init_envelope(build_envelope([part], plan_envelope(CHAIN, [part])))
    none = np.zeros((1, 0), F4)
    for scale in ("one", "uneven"):
        world = random_world(rng, 1, 4, scale=scale)  # type: ignore[arg-type]
        assert (skin(state, world, none, [9])[1][0] == 0).all()
        assert (traced(state, world[0], none[0])[0][1] == 0).all()


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_even_scales_of_any_size(factor: float, rng: Rng) -> None:
    parts = [random_part(rng, 4, 20, 3)]
    state = init_envelope(build_envelope(parts, plan_envelope(CHAIN, parts)))
    world, none = random_world(rng, 1, 4), np.zeros((1, 0), F4)
    _, expected = skin(state, world, none, [20])
    _, normals = skin(state, world * F4(factor), none, [20])
    np.testing.assert_allclose(normals[0], expected[0], atol=ERROR)
    np.testing.assert_allclose(np.linalg.norm(normals[0], axis=-1), 1, atol=1e-6)


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
