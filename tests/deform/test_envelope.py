"""Skins of envelopes against their slow twin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import plan_envelope
from flexor.deform.envelope import (
    init_envelope,
)
from flexor.errors import ShapeError
from flexor.scene.character.mesh import MorphTarget
from tests.deform.envelope_skins import (
    CHAIN,
    ERROR,
    F4,
    FEW,
    SEEDS,
    Rng,
    check,
    runs_of,
    skin,
    traced,
)
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

SCALES = st.sampled_from(["one", "even", "uneven", "negative", "mirror"])


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
