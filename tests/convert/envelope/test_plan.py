"""The plan of an envelope: the worked example, item by item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart, tree_part
from flexor.convert.envelope.plan import (
    EnvelopePlan,
    plan_envelope,
)
from flexor.scene.runtime.layout import GROUPS
from tests.convert.envelope.worked_example import (
    M1_VERTICES,
    M5_VERTICES,
    MODELS,
    NAMES,
    PARENTS,
    basic_matrices,
    commands,
    listed,
    part_of,
    rows,
    vertices,
)
from tests.envelopes import random_world
from tests.oracle import envelope as oracle
from tests.oracle.deform import normal_matrix

TREE = {"M1": None, "M2": "M1", "M3": "M2", "M4": "M1", "M5": "M3"}

LISTS = """
M1 native   V101 V107
M2 start    V102 V103 V104 V105 V108 V109 V110 V111 V112
M3 native   V106
M3 middle   V102 V103
M3 end      V104 V105 V108 V109 V110 V111 V112
M5 native   V501 V502 V503 V504 V505 V506
M4 native   V113
M4 end      V102 V103
"""

ONE_WEIGHT = """
M1   V101 V107
M2   V108 V109
M3   V104 V105 V106 V110 V111 V112
M4   V102 V103 V113
"""


# What the runtime does, in order: group, model, first place, how many; or a command.
STEPS = """
native M1 0 2
DRAWCP 0
start M2 4 9
native M3 2 1
middle M3 4 2
end M3 6 7
native M5 13 6
DRAW 1
native M4 3 1
end M4 4 2
DRAWDP 0
"""

OPS = [*GROUPS, "DRAWCP", "DRAW", "DRAWDP"]


@pytest.fixture
def parts() -> list[EnvelopePart]:
    return [part_of("M1", M1_VERTICES, MODELS), part_of("M5", M5_VERTICES, MODELS)]


@pytest.fixture
def plan(parts: list[EnvelopePart]) -> EnvelopePlan:
    return plan_envelope(PARENTS, parts)


def test_trace_order(plan: EnvelopePlan) -> None:
    assert [MODELS[model] for model in plan.trace] == ["M1", "M2", "M3", "M5", "M4"]


def test_common_buffer(plan: EnvelopePlan) -> None:
    """vx0 to vx18."""
    places: dict[int, str] = {}
    for area, names in zip(plan.areas, NAMES, strict=True):
        for entry, row in enumerate(area.vertices):
            places[area.offset + entry] = names[row]
    expected = (
        "V101 V107 V106 V113 V102 V103 V104 V105 V108 V109 V110 V111 V112 "
        "V501 V502 V503 V504 V505 V506"
    )
    assert [places[place] for place in range(19)] == expected.split()


def test_areas(plan: EnvelopePlan) -> None:
    assert [MODELS[area.owner] for area in plan.areas] == ["M1", "M5"]
    assert [area.offset for area in plan.areas] == [0, 13]


def test_vertex_lists(plan: EnvelopePlan) -> None:
    assert listed(plan) == rows(LISTS)


def test_counters(plan: EnvelopePlan) -> None:
    assert [area.counter for area in plan.areas] == [24, 6]


def test_commands(plan: EnvelopePlan) -> None:
    assert commands(plan) == {
        "M1": ["DRAWCP 0"],
        "M2": [],
        "M3": [],
        "M5": ["DRAW 1"],
        "M4": ["DRAWDP 0"],
    }


def test_non_drawing_table(plan: EnvelopePlan) -> None:
    assert [MODELS[plan.areas[part].owner] for part in plan.table] == ["M1"]


def test_peak(plan: EnvelopePlan) -> None:
    assert plan.peak == 19


@pytest.mark.parametrize("order", ["original", "joints"])
def test_the_example_runs(order: Any, parts: list[EnvelopePart]) -> None:
    world = random_world(np.random.default_rng(1), 5)
    drawn = oracle.run_plan(plan_envelope(PARENTS, parts, order=order), parts, world)
    for got, expected in zip(drawn, oracle.moved(parts, world), strict=True):
        np.testing.assert_allclose(got[0], expected[0], atol=1e-9)
        np.testing.assert_allclose(got[1], expected[1], atol=1e-9)


def test_steps(parts: list[EnvelopePart], plan: EnvelopePlan) -> None:
    envelope = build_envelope(parts, plan)
    made = []
    for op, model, entry, count, _ in envelope.steps.tolist():
        is_group = OPS[op] in GROUPS
        made.append([OPS[op], f"M{model + 1}" if is_group else str(model)])
        if is_group:
            made[-1] += [str(entry), str(count)]
    assert made == rows(STEPS)
    assert envelope.table.tolist() == [0]
    assert envelope.peak == 19


def test_counts_of_groups(parts: list[EnvelopePart], plan: EnvelopePlan) -> None:
    counts = build_envelope(parts, plan).group_counts()
    assert counts == {"native": 10, "start": 9, "middle": 2, "end": 9}
    assert sum(counts.values()) == 24 + 6


def test_polygons_name_vertex_ids(
    parts: list[EnvelopePart], plan: EnvelopePlan
) -> None:
    """The first face of M1 was V101 V102 V103; the first of M5 V501 V502 V503."""
    faces = build_envelope(parts, plan).faces.tolist()
    assert faces[0] == [0, 4, 5]
    assert faces[1:4] == [[6, 7, 2], [1, 8, 9], [10, 11, 12]]
    assert faces[4:] == [[13, 14, 15], [16, 17, 18]]


def test_moved_form(parts: list[EnvelopePart]) -> None:
    """V102's x is 0.3 x2 + 0.3 x3 + 0.4 x4 of its three distributed vertices."""
    world = random_world(np.random.default_rng(2), 5, scale="uneven")
    basic = basic_matrices(5)
    row = M1_VERTICES.index("V102")
    position, normal = (
        v[row].astype(float) for v in (parts[0].positions, parts[0].normals)
    )
    # The basic form to world space, then to the space of each model, then moved.
    in_world = basic[0][:, :3] @ position + basic[0][:, 3]
    turned = normal_matrix(basic[0]) @ normal
    point, direction = np.zeros(3), np.zeros(3)
    for model, weight in (("M2", 0.3), ("M3", 0.3), ("M4", 0.4)):
        number = MODELS.index(model)
        own, away = basic[number][:, :3], basic[number][:, 3]
        local = np.linalg.solve(own, in_world - away)
        point += weight * (world[number][:, :3] @ local + world[number][:, 3])
        local_normal = np.linalg.solve(normal_matrix(basic[number]), turned)
        direction += weight * (normal_matrix(world[number]) @ local_normal)
    envelope = build_envelope(parts, plan_envelope(PARENTS, parts))
    drawn = oracle.run_steps(envelope, world)[0]
    entry = 4  # vx4
    np.testing.assert_allclose(drawn[0][entry], point, atol=2e-6)
    unit = direction / np.linalg.norm(direction)
    np.testing.assert_allclose(drawn[1][entry], unit, atol=2e-6)
    np.testing.assert_allclose(oracle.moved(parts, world)[0][0][row], point, atol=1e-6)


def test_basic_form_is_given_back(parts: list[EnvelopePart]) -> None:
    basic = basic_matrices(5)
    for part, (positions, _) in zip(parts, oracle.moved(parts, basic), strict=True):
        own = basic[part.owner]
        expected = part.positions @ own[:, :3].T + own[:, 3]
        np.testing.assert_allclose(positions, expected, atol=1e-6)


# One weight for each vertex.


def pulled_by(part: EnvelopePart) -> list[str]:
    """The one model that pulls each vertex."""
    found = [list(oracle.pulls(part, row)) for row in range(len(part.positions))]
    assert {len(models) for models in found} == {1}
    return [MODELS[models[0]] for models in found]


def test_one_weight(parts: list[EnvelopePart]) -> None:
    made = dict(
        zip(M1_VERTICES, pulled_by(one_weight(parts[0], [0, 1, 2, 4, 3])), strict=True)
    )
    expected = {v: model for model, *names in rows(ONE_WEIGHT) for v in names}
    assert made == expected
    assert pulled_by(one_weight(parts[1], [0, 1, 2, 4, 3])) == ["M5"] * 6


def test_one_weight_is_whole_and_keeps_the_rest(parts: list[EnvelopePart]) -> None:
    part = one_weight(parts[0], [0, 1, 2, 4, 3])
    np.testing.assert_array_equal(part.weights.sum(1), 1)
    np.testing.assert_array_equal(part.positions, parts[0].positions)
    np.testing.assert_array_equal(part.faces, parts[0].faces)
    assert part.owner == parts[0].owner


def test_plan_of_one_weight(parts: list[EnvelopePart]) -> None:
    """All are native; the polygons of M1 still wait for M4."""
    ones = [one_weight(part, [0, 1, 2, 4, 3]) for part in parts]
    plan = plan_envelope(PARENTS, ones)
    made = {name: row for name, group, *row in listed(plan) if group == "native"}
    assert len(made) == len(listed(plan)) == 5
    assert made == {
        **{model: names for model, *names in rows(ONE_WEIGHT)},
        "M5": M5_VERTICES,
    }
    assert [area.counter for area in plan.areas] == [13, 6]
    assert commands(plan)["M1"] == ["DRAWCP 0"]
    assert commands(plan)["M4"] == ["DRAWDP 0"]
    assert plan.peak == 19


def tied(joints: list[int], weights: list[float], trace: list[int]) -> str:
    """The model that gets a vertex with these influences."""
    part, _ = tree_part(
        PARENTS,
        basic_matrices(5),
        0,
        np.zeros((1, 3)),
        np.zeros((1, 3)),
        [joints],
        [weights],
        np.zeros((0, 3)),
    )
    return pulled_by(one_weight(part, trace))[0]


@pytest.mark.parametrize(
    ("joints", "weights", "winner"),
    [
        ([1, 2], [0.5, 0.5], "M2"),
        ([2, 1], [0.5, 0.5], "M2"),
        ([3, 4], [0.5, 0.5], "M5"),
        ([4, 3], [0.5, 0.5], "M5"),
        ([0, 3, 4], [0.2, 0.4, 0.4], "M5"),
        ([3, 2, 1, 0], [0.25, 0.25, 0.25, 0.25], "M1"),
        ([1, 2, 2], [0.4, 0.3, 0.3], "M3"),
    ],
)
def test_of_equal_weights_the_first_in_trace_order_wins(
    joints: list[int], weights: list[float], winner: str
) -> None:
    assert tied(joints, weights, [0, 1, 2, 4, 3]) == winner


def test_another_trace_has_another_winner() -> None:
    assert tied([1, 3], [0.5, 0.5], [0, 1, 2, 4, 3]) == "M2"
    assert tied([1, 3], [0.5, 0.5], [0, 3, 1, 2, 4]) == "M4"


# One more model.


def with_m6(count: int, trace: list[str] | None = None) -> EnvelopePlan:
    """The example with a model M6, a later child of M1, that owns `count` vertices."""
    models = [*MODELS, "M6"]
    names = [*NAMES, vertices("M6", count)]
    parts = [
        part_of(owner, own, models)
        for owner, own in zip(("M1", "M5", "M6"), names, strict=True)
    ]
    visits = None if trace is None else [models.index(model) for model in trace]
    made = plan_envelope([*PARENTS, 0], parts, trace=visits)
    oracle.run_plan(made, parts, random_world(np.random.default_rng(3), 6))
    return made


@pytest.mark.parametrize("count", [1, 13, 19, 40])
@pytest.mark.parametrize("trace", [None, ["M1", "M2", "M3", "M5", "M4", "M6"]])
def test_m6_after_m4_begins_at_0_again(count: int, trace: Any) -> None:
    plan = with_m6(count, trace)
    assert plan.trace == (0, 1, 2, 4, 3, 5)
    assert [area.offset for area in plan.areas] == [0, 13, 0]
    assert plan.peak == max(19, count)
    assert commands(plan)["M6"] == ["DRAW 2"]


@pytest.mark.parametrize(("count", "peak"), [(4, 19), (6, 19), (10, 23)])
def test_m6_before_m4_takes_the_room_of_m5(count: int, peak: int) -> None:
    plan = with_m6(count, ["M1", "M2", "M3", "M5", "M6", "M4"])
    assert [area.offset for area in plan.areas] == [0, 13, 13]
    assert plan.peak == peak


def test_m6_before_m5_keeps_out_of_the_way() -> None:
    """M6 is done before M5 begins, so both may use the room after M1's."""
    plan = with_m6(2, ["M1", "M6", "M2", "M3", "M5", "M4"])
    assert [area.offset for area in plan.areas] == [0, 13, 13]
    assert plan.peak == 19


def test_consistent_ids() -> None:
    """vx0 to vx18 and on for M6; the table says where each is."""
    models = [*MODELS, "M6"]
    names = [*NAMES, vertices("M6", 6)]
    parts = [part_of(f"M{own[0][1]}", own, models) for own in names]
    plan = plan_envelope([*PARENTS, 0], parts)
    envelope = build_envelope(parts, plan, ids="consistent")
    assert envelope.addresses is not None
    assert envelope.addresses.tolist() == [*range(19), *range(6)]
    assert envelope.faces.tolist()[-2:] == [[19, 20, 21], [22, 23, 24]]
    assert envelope.peak == 19
    places = build_envelope(parts, plan)
    assert places.addresses is None
    np.testing.assert_array_equal(envelope.addresses[envelope.faces], places.faces)
    np.testing.assert_array_equal(envelope.steps, places.steps)
