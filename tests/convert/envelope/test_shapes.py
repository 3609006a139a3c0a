"""Envelopes of odd sizes and shapes: empty parts, early and late pulls, no pulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.parts import EnvelopePart, tree_part
from flexor.convert.envelope.plan import EnvelopePlan, plan_envelope
from tests.envelopes import check_drawn, random_matrices, random_part, random_world
from tests.oracle import envelope as oracle

Rng = np.random.Generator
CHAIN = [-1, 0, 1, 2]


def check_parts(parents: Any, parts: list[EnvelopePart], rng: Rng) -> EnvelopePlan:
    """Both orders, plan and data: as moved."""
    world = random_world(rng, len(parents), scale="uneven")
    raw = oracle.moved(parts, world, normalise=False)
    for order in ("joints", "original"):
        plan = plan_envelope(parents, parts, order=order)  # type: ignore[arg-type]
        check_drawn(oracle.run_plan(plan, parts, world), raw, 1e-9)
        rows = [area.vertices for area in plan.areas]
        drawn = oracle.run_steps(build_envelope(parts, plan), world)
        check_drawn(drawn, raw, 1e-5, rows)
    return plan


@pytest.mark.parametrize("vertices", [0, 1, 5, 7, 8, 9, 16, 17, 64, 65])
@pytest.mark.parametrize("influences", [1, 2, 3, 5])
def test_chunks_of_all_sizes(vertices: int, influences: int, rng: Rng) -> None:
    """One set of joints, so that each chunk has all vertices of the part."""
    parents = [-1, 0, 1, 2, 3]
    part = random_part(
        rng,
        5,
        vertices,
        influences,
        models=np.arange(5),
        binds=random_matrices(rng, 5),
        joints=np.tile(np.arange(influences), (vertices, 1)),
        weights=np.full((vertices, influences), 1 / influences),
    )
    plan = check_parts(parents, [part], rng)
    if vertices:
        steps = build_envelope([part], plan).steps
        assert len(steps) == influences + 1 + (part.owner < influences - 1)


def test_empty_parts_only(rng: Rng) -> None:
    parts = [random_part(rng, 3, 0, 2) for _ in range(3)]
    plan = check_parts([-1, 0, 0], parts, rng)
    assert plan.peak == 0
    assert not plan.table


def test_a_part_with_no_faces(rng: Rng) -> None:
    parts = [random_part(rng, 3, 9, 2, faces=0), random_part(rng, 3, 5, 2)]
    plan = check_parts([-1, 0, 0], parts, rng)
    envelope = build_envelope(parts, plan)
    assert envelope.part_faces(0).shape == (0, 3)
    np.testing.assert_array_equal(
        plan.areas[1].vertices[envelope.part_faces(1)], parts[1].faces
    )


def owned(rng: Rng, owner: int, pullers: list[int]) -> EnvelopePart:
    """Nine vertices that `owner` has and all `pullers` pull."""
    return random_part(
        rng,
        4,
        9,
        len(pullers),
        owner=owner,
        models=pullers,
        binds=random_matrices(rng, len(pullers)),
        joints=np.tile(np.arange(len(pullers)), (9, 1)),
        weights=np.full((9, len(pullers)), 1 / len(pullers)),
    )


@pytest.mark.parametrize("pullers", [[0], [1], [0, 1], [1, 0], [0, 1, 2]])
def test_pulled_only_by_models_traced_earlier(pullers: list[int], rng: Rng) -> None:
    """Full before its owner is visited: drawn there, and never registered."""
    plan = check_parts(CHAIN, [owned(rng, 3, pullers)], rng)
    assert plan.lists[3].commands == (("DRAW", 0),)
    assert not plan.table
    assert not any(visit.commands for visit in plan.lists[:3])


@pytest.mark.parametrize("pullers", [[3], [1], [2, 3], [3, 1], [1, 2, 3]])
def test_pulled_only_by_models_traced_later(pullers: list[int], rng: Rng) -> None:
    """Registered by its owner before anything is written; drawn at the last one."""
    plan = check_parts(CHAIN, [owned(rng, 0, pullers)], rng)
    assert plan.lists[0].commands == (("DRAWCP", 0),)
    assert plan.lists[max(pullers)].commands == (("DRAWDP", 0),)
    assert plan.table == (0,)


def test_room_is_not_taken_before_the_first_write(rng: Rng) -> None:
    """Part 0 waits from the first model on, but is written by the last one only."""
    parts = [owned(rng, 0, [3]), owned(rng, 1, [1]), owned(rng, 2, [2])]
    plan = check_parts(CHAIN, parts, rng)
    assert [area.offset for area in plan.areas] == [0, 0, 0]
    assert plan.peak == 9


def test_several_parts_of_one_model(rng: Rng) -> None:
    """Each part has its own area, its own counter and its own commands."""
    parts = [owned(rng, 1, [1]), owned(rng, 1, [1, 3]), owned(rng, 1, [2])]
    plan = check_parts(CHAIN, parts, rng)
    assert sorted(plan.lists[1].commands) == [("DRAW", 0), ("DRAWCP", 0), ("DRAWCP", 1)]
    by_part = {plan.table[row]: row for row in range(2)}
    assert plan.lists[2].commands == (("DRAWDP", by_part[2]),)
    assert plan.lists[3].commands == (("DRAWDP", by_part[1]),)


def test_a_gap_that_is_too_small_is_not_used(rng: Rng) -> None:
    """Where five were drawn, nine do not fit beside areas that are still alive."""
    small = random_part(
        rng, 4, 5, 1, owner=1, models=[1], binds=random_matrices(rng, 1),
        joints=np.zeros((5, 1)), weights=np.ones((5, 1)),
    )  # fmt: skip
    parts = [small, owned(rng, 0, [1, 3]), owned(rng, 2, [2]), owned(rng, 3, [3])]
    plan = check_parts(CHAIN, parts, rng)
    assert plan.peak <= 5 + 9 + 9


def test_vertices_that_nothing_pulls_stay_with_their_owner(rng: Rng) -> None:
    basic = random_matrices(rng, 4)
    part, findings = tree_part(
        CHAIN,
        basic,
        2,
        rng.normal(size=(4, 3)),
        rng.normal(size=(4, 3)),
        [[-1, -1], [0, 3], [1, -1], [-1, -1]],
        [[0, 0], [0, 0], [1, 0], [0.3, 0]],
        [[0, 1, 2]],
    )
    assert findings == []
    assert [list(oracle.pulls(part, row)) for row in range(4)] == [[2], [2], [1], [2]]
    plan = check_parts(CHAIN, [part], rng)
    assert plan.lists[2].native == ((0, 0), (0, 1), (0, 3))


def test_no_columns_of_influences_at_all(rng: Rng) -> None:
    part, _ = tree_part(
        CHAIN,
        random_matrices(rng, 4),
        1,
        rng.normal(size=(3, 3)),
        rng.normal(size=(3, 3)),
        np.zeros((3, 0)),
        np.zeros((3, 0)),
        [[0, 1, 2]],
    )
    plan = check_parts(CHAIN, [part], rng)
    assert plan.lists[1].native == ((0, 0), (0, 1), (0, 2))


def test_the_same_model_twice_counts_once(rng: Rng) -> None:
    part, _ = tree_part(
        CHAIN,
        random_matrices(rng, 4),
        0,
        rng.normal(size=(2, 3)),
        rng.normal(size=(2, 3)),
        [[3, 3, -1], [1, 3, 1]],
        [[0.5, 0.5, 0], [0.25, 0.5, 0.25]],
        np.zeros((0, 3)),
    )
    plan = check_parts(CHAIN, [part], rng)
    assert plan.areas[0].counter == 3
    assert plan.lists[3].native == ((0, 0),)
    assert plan.lists[1].start == ((0, 1),)
    assert plan.lists[3].end == ((0, 1),)


def test_rows_of_the_primitive(rng: Rng) -> None:
    """Two parts of one surface that share a vertex: order names the file's vertices."""
    parts = [
        random_part(rng, 4, 3, 2, vertices=[5, 0, 2], node=3, primitive=1),
        random_part(rng, 4, 4, 2, vertices=[1, 2, 3, 4], node=3, primitive=1),
    ]
    plan = check_parts(CHAIN, parts, rng)
    envelope = build_envelope(parts, plan)
    for number, (part, area) in enumerate(zip(parts, plan.areas, strict=True)):
        rows = part.vertices[area.vertices]
        np.testing.assert_array_equal(envelope.part_order(number), rows)
    assert envelope.parts[:, :2].tolist() == [[3, 1], [3, 1]]
