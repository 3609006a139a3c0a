"""What must hold for any envelope: vertices once, areas apart, the right place."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart, tree_part
from flexor.convert.envelope.plan import EnvelopePlan, depth_first, plan_envelope
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

Rng = np.random.Generator
FEW = settings(max_examples=60)
ORDERS = st.sampled_from(["original", "joints"])
SCALES = st.sampled_from(["one", "even", "uneven", "negative", "mirror"])


@st.composite
def envelopes(draw: Any) -> tuple[Rng, Any, list[EnvelopePart], EnvelopePlan]:
    """A tree, parts that hang on it, and a plan; the rng makes what else is needed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parents = random_tree(rng, draw(st.integers(1, 12)))
    influences = draw(st.integers(1, 6))
    parts = random_parts(
        rng, len(parents), draw(st.integers(1, 5)), influences, scale=draw(SCALES)
    )
    trace = draw(st.sampled_from([None, "any"])) and random_trace(rng, parents)
    plan = plan_envelope(parents, parts, trace=trace, order=draw(ORDERS))
    return rng, parents, parts, plan


@FEW
@given(envelopes(), SCALES)
def test_plans_can_be_run(made: Any, scale: Any) -> None:
    """The twin looks at each write and each command, and gets the moved vertices."""
    rng, _, parts, plan = made
    world = random_world(rng, len(plan.trace), scale=scale)
    drawn = oracle.run_plan(plan, parts, world)
    check_drawn(drawn, oracle.moved(parts, world, normalise=False), 1e-9)


@FEW
@given(envelopes())
def test_native_and_start_name_every_vertex_once(made: Any) -> None:
    _, _, parts, plan = made
    named = [vertex for visit in plan.lists for vertex in (*visit.native, *visit.start)]
    every = [(p, row) for p, part in enumerate(parts) for row in range(len(part))]
    assert sorted(named) == every


@FEW
@given(envelopes())
def test_counters_count_distributed_vertices(made: Any) -> None:
    _, _, parts, plan = made
    for number, (area, part) in enumerate(zip(plan.areas, parts, strict=True)):
        pulls = sum(len(oracle.pulls(part, row)) for row in range(len(part)))
        assert area.counter == pulls
        lists = [(*v.native, *v.start, *v.middle, *v.end) for v in plan.lists]
        assert sum(p == number for own in lists for p, _ in own) == pulls


@FEW
@given(envelopes())
def test_each_model_has_one_run_of_native_and_one_of_start(made: Any) -> None:
    """First all native vertices of an area, then those that start, by trace order."""
    _, _, _, plan = made
    for number, area in enumerate(plan.areas):
        runs = [
            [row for part, row in getattr(visit, group) if part == number]
            for group in ("native", "start")
            for visit in plan.lists
        ]
        assert [row for run in runs for row in run] == list(area.vertices)


@FEW
@given(envelopes())
def test_all_chunks_are_in_the_order_of_the_area(made: Any) -> None:
    _, _, _, plan = made
    entries = [{row: e for e, row in enumerate(a.vertices)} for a in plan.areas]
    for visit in plan.lists:
        for group in ("native", "start", "middle", "end"):
            places = [(part, entries[part][row]) for part, row in getattr(visit, group)]
            assert places == sorted(places)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_original_order_is_kept(seed: int, models: int, influences: int) -> None:
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    plan = plan_envelope(parents, random_parts(rng, models, 3, influences))
    for visit in plan.lists:
        assert list(visit.native) == sorted(visit.native)
        assert list(visit.start) == sorted(visit.start)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_order_by_joints_makes_runs(seed: int, models: int, influences: int) -> None:
    """Vertices that the same models pull are side by side, in original order."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    parts = random_parts(rng, models, 3, influences)
    plan = plan_envelope(parents, parts, order="joints")
    for part, area in zip(parts, plan.areas, strict=True):
        sets = [frozenset(oracle.pulls(part, row)) for row in area.vertices]
        changes = sum(a != b for a, b in pairwise(sets))
        assert changes == max(len(set(sets)) - 1, 0)
        for a, b in pairwise(range(len(sets))):
            if sets[a] == sets[b]:
                assert area.vertices[a] < area.vertices[b]


@FEW
@given(envelopes())
def test_the_peak_is_the_end_of_an_area(made: Any) -> None:
    _, _, parts, plan = made
    ends = [area.offset + len(area.vertices) for area in plan.areas]
    assert plan.peak == max(ends)
    assert plan.peak <= sum(map(len, parts))
    assert plan.peak >= max(map(len, parts))


@FEW
@given(envelopes())
def test_the_peak_is_no_less_than_what_is_alive(made: Any) -> None:
    """And a plan in which no two areas are alive together has the largest as peak."""
    _, _, parts, plan = made
    alive: list[set[int]] = []
    done: set[int] = set()
    for visit in plan.lists:
        lists = (*visit.native, *visit.start, *visit.middle, *visit.end)
        mine = (alive[-1] - done if alive else set()) | {part for part, _ in lists}
        alive.append(mine)
        for name, number in visit.commands:
            if name != "DRAWCP":
                done.add(number if name == "DRAW" else plan.table[number])
    sizes = [sum(len(parts[part]) for part in mine) for mine in alive]
    assert plan.peak >= max(sizes)
    if max(map(len, alive)) <= 1:
        assert plan.peak == max(sizes)


@FEW
@given(envelopes(), SCALES, st.sampled_from(["places", "consistent"]))
def test_the_data_give_the_same(made: Any, scale: Any, ids: Any) -> None:
    rng, _, parts, plan = made
    world = random_world(rng, len(plan.trace), scale=scale)
    envelope = build_envelope(parts, plan, ids=ids)
    drawn = oracle.run_steps(envelope, world)
    rows = [area.vertices for area in plan.areas]
    check_drawn(drawn, oracle.moved(parts, world, normalise=False), 1e-5, rows)


@FEW
@given(envelopes(), st.sampled_from(["places", "consistent"]))
def test_faces_order_and_table(made: Any, ids: Any) -> None:
    _, _, parts, plan = made
    envelope = build_envelope(parts, plan, ids=ids)
    assert envelope.table.tolist() == list(plan.table)
    assert envelope.peak == plan.peak
    for number, (part, area) in enumerate(zip(parts, plan.areas, strict=True)):
        node, primitive, owner, offset, vertices, faces = envelope.parts[number]
        assert (node, primitive, owner) == (part.node, part.primitive, part.owner)
        assert (offset, vertices, faces) == (area.offset, len(part), len(part.faces))
        rows = np.asarray(area.vertices)
        np.testing.assert_array_equal(envelope.part_order(number), rows)
        corners = rows[envelope.part_faces(number)] if len(part.faces) else part.faces
        np.testing.assert_array_equal(corners, part.faces)
    if ids == "consistent":
        assert envelope.addresses is not None
        assert len(envelope.addresses) == sum(map(len, parts))


@FEW
@given(envelopes())
def test_groups_are_counted(made: Any) -> None:
    _, _, parts, plan = made
    counts = build_envelope(parts, plan).group_counts()
    assert sum(counts.values()) == sum(area.counter for area in plan.areas)
    assert counts["native"] + counts["start"] == sum(map(len, parts))
    assert counts["start"] == counts["end"]


@FEW
@given(envelopes(), SCALES)
def test_one_weight(made: Any, scale: Any) -> None:
    """Every vertex goes wholly with a model whose weight is the largest."""
    rng, parents, parts, plan = made
    ones = [one_weight(part, plan.trace) for part in parts]
    for part, one in zip(parts, ones, strict=True):
        for row in range(len(part)):
            sums = {
                model: sum(weight for weight, _ in shares)
                for model, shares in oracle.pulls(part, row).items()
            }
            (winner,) = oracle.pulls(one, row)
            assert sums[winner] >= max(sums.values()) - 1e-6
    again = plan_envelope(parents, ones, trace=plan.trace)
    world = random_world(rng, len(parents), scale=scale)
    raw = oracle.moved(ones, world, normalise=False)
    check_drawn(oracle.run_plan(again, ones, world), raw, 1e-9)
    envelope = build_envelope(ones, again)
    assert envelope.group_counts() == {
        "native": sum(map(len, parts)),
        "start": 0,
        "middle": 0,
        "end": 0,
    }
    rows = [area.vertices for area in again.areas]
    check_drawn(oracle.run_steps(envelope, world), raw, 1e-5, rows)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 30), SCALES)
def test_basic_form_in_basic_form_out(
    seed: int, models: int, vertices: int, scale: Any
) -> None:
    """A tree in its basic form has its vertices where its owner's matrix puts them."""
    rng = np.random.default_rng(seed)
    parents = random_tree(rng, models)
    basic = random_matrices(rng, models, scale=scale)
    owner = int(rng.integers(models))
    part = tree_of(rng, parents, basic, owner, vertices)
    plan = plan_envelope(parents, [part], order="joints")
    drawn = oracle.run_steps(build_envelope([part], plan), basic)
    own = basic[owner]
    expected = part.positions @ own[:, :3].T + own[:, 3]
    rows = [area.vertices for area in plan.areas]
    np.testing.assert_allclose(drawn[0][0], expected[rows[0]], atol=2e-5)


def tree_of(
    rng: Rng, parents: Any, basic: Any, owner: int, vertices: int
) -> EnvelopePart:
    models = len(parents)
    weights = rng.uniform(0, 1, (vertices, 3)) * rng.integers(0, 2, (vertices, 3))
    sums = weights.sum(1, keepdims=True)
    part, findings = tree_part(
        parents,
        basic,
        owner,
        rng.normal(size=(vertices, 3)),
        rng.normal(size=(vertices, 3)),
        rng.integers(0, models, (vertices, 3)),
        weights / np.where(sums > 0, sums, 1),
        np.zeros((0, 3)),
    )
    assert findings == []
    return part


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4), SCALES)
def test_morphs(seed: int, targets: int, influences: int, scale: Any) -> None:
    """Numbers are added to the data before the models pull; one node has no morphs."""
    rng = np.random.default_rng(seed)
    parts = random_parts(rng, 4, 3, influences, scale=scale, targets=targets)
    parts.append(random_part(rng, 4, 9, influences, node=3))
    plan = plan_envelope([-1, 0, 1, 2], parts, order="joints")
    columns = {0: targets, 1: 2 * targets, 2: 0}
    weights = rng.normal(size=3 * targets)
    world = random_world(rng, 4)
    raw = oracle.moved(parts, world, weights, columns, normalise=False)
    drawn = oracle.run_steps(build_envelope(parts, plan), world, weights, columns)
    check_drawn(drawn, raw, 1e-5, [area.vertices for area in plan.areas])


def test_depth_first_is_a_trace(rng: Rng) -> None:
    for models in range(1, 13):
        parents = random_tree(rng, models)
        trace = depth_first(parents)
        assert sorted(trace) == list(range(models))
        for model, parent in enumerate(parents):
            assert parent < 0 or trace.index(parent) < trace.index(model)
