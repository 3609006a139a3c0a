"""The plan of an envelope: orders of visit, runs, and where areas are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope import plan as planner
from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import (
    EnvelopePlan,
    depth_first,
    place_areas,
    plan_envelope,
)
from flexor.errors import SettingError, ShapeError
from flexor.scene.runtime.layout import END, MIDDLE, NATIVE, START
from tests.convert.envelope.worked_example import (
    M1_VERTICES,
    M5_VERTICES,
    MODELS,
    PARENTS,
    commands,
    listed,
    part_of,
    rows,
)
from tests.envelopes import random_matrices

TREE = {"M1": None, "M2": "M1", "M3": "M2", "M4": "M1", "M5": "M3"}


@pytest.fixture
def parts() -> list[EnvelopePart]:
    return [part_of("M1", M1_VERTICES, MODELS), part_of("M5", M5_VERTICES, MODELS)]


@pytest.fixture
def plan(parts: list[EnvelopePart]) -> EnvelopePlan:
    return plan_envelope(PARENTS, parts)


# Orders of visit.


def test_depth_first() -> None:
    assert depth_first(PARENTS) == [0, 1, 2, 4, 3]
    assert depth_first([2, 2, -1, 0, 1, 0]) == [2, 0, 3, 5, 1, 4]
    assert depth_first([-1, 2, -1, 0]) == [0, 3, 2, 1]
    assert depth_first([]) == []


def test_a_chosen_trace_is_used(parts: list[EnvelopePart]) -> None:
    """M4 before M2: now M4 starts V102 and V103, and M3 ends all."""
    plan = plan_envelope(PARENTS, parts, trace=[0, 3, 1, 2, 4])
    assert plan.trace == (0, 3, 1, 2, 4)
    assert listed(plan) == rows("""
        M1 native   V101 V107
        M4 native   V113
        M4 start    V102 V103
        M2 start    V104 V105 V108 V109 V110 V111 V112
        M2 middle   V102 V103
        M3 native   V106
        M3 end      V102 V103 V104 V105 V108 V109 V110 V111 V112
        M5 native   V501 V502 V503 V504 V505 V506
    """)
    assert commands(plan)["M3"] == ["DRAWDP 0"]
    assert commands(plan)["M5"] == ["DRAW 1"]
    assert [area.offset for area in plan.areas] == [0, 0]
    assert plan.peak == 13


@pytest.mark.parametrize(
    ("trace", "child", "parent"),
    [([1, 0, 2, 4, 3], 1, 0), ([0, 1, 4, 2, 3], 4, 2), ([3, 0, 1, 2, 4], 3, 0)],
)
def test_a_child_before_its_parent_is_refused(
    trace: list[int], child: int, parent: int, parts: list[EnvelopePart]
) -> None:
    with pytest.raises(SettingError, match=rf"trace: model {child} .* {parent}\b"):
        plan_envelope(PARENTS, parts, trace=trace)


@pytest.mark.parametrize(
    "trace",
    [[0, 1, 2, 4], [0, 1, 2, 4, 3, 3], [0, 1, 2, 2, 4], [0, 1, 2, 4, 5], [], [-1] * 5],
)
def test_a_trace_must_name_each_model_once(
    trace: list[int], parts: list[EnvelopePart]
) -> None:
    with pytest.raises(SettingError, match="trace: must name each of 5 models once"):
        plan_envelope(PARENTS, parts, trace=trace)


def test_a_cycle_is_refused(parts: list[EnvelopePart]) -> None:
    with pytest.raises(ShapeError, match=r"parents: model '?[123]\b.* ancestor"):
        plan_envelope([-1, 3, 1, 2, 0], parts)


def test_unknown_orders_are_refused(parts: list[EnvelopePart]) -> None:
    with pytest.raises(SettingError, match="order: 'best'"):
        plan_envelope(PARENTS, parts, order="best")  # type: ignore[arg-type]


def test_no_models_and_no_parts() -> None:
    plan = plan_envelope([], [])
    assert (plan.trace, plan.areas, plan.lists, plan.peak) == ((), (), (), 0)
    assert len(build_envelope([], plan).steps) == 0


def test_models_without_parts() -> None:
    plan = plan_envelope(PARENTS, [])
    assert [made.model for made in plan.lists] == [0, 1, 2, 4, 3]
    assert not any(made.commands for made in plan.lists)


# Chunks and runs.


def pulled_part(pulls: list[list[int]]) -> EnvelopePart:
    """A part of model 0 with a vertex for each list of models that pull it alike."""
    joints, weights = np.full((2, len(pulls), 3), -1.0)
    for row, models in enumerate(pulls):
        joints[row, : len(models)] = models
        weights[row] = np.where(joints[row] < 0, 0, 1 / len(models))
    return EnvelopePart(
        0,
        np.arange(5),
        random_matrices(np.random.default_rng(4), 5),
        np.zeros((len(pulls), 3)),
        np.zeros((len(pulls), 3)),
        joints,
        weights,
        np.zeros((0, 3)),
    )


def test_groups_of_all_parts_come_in_order() -> None:
    """Native of both parts, then start of both, middle of both, end of both."""
    parts = [
        pulled_part([[0, 1], [0, 1, 2], [1, 2], [1]]),
        pulled_part([[1], [1, 3], [0, 1, 3], [0, 1]]),
    ]
    lists = plan_envelope([-1, 0, 1, 2, 3], parts).lists
    groups = (NATIVE, START, MIDDLE, END)
    made = [(chunk.group, chunk.part) for chunk in lists[1].chunks]
    assert made == [(group, part) for group in groups for part in (0, 1)]
    for one in lists:
        order = [(chunk.group, chunk.part) for chunk in one.chunks]
        assert order == sorted(order)


def test_vertices_that_go_further_come_first() -> None:
    """What model 2 ends of those that model 0 and model 1 started is one run."""
    part = pulled_part([[0, 2], [0, 2, 3], [1, 2], [0, 2, 3], [0, 2], [1, 2]])
    plan = plan_envelope([-1, 0, 1, 2, 3], [part], order="joints")
    assert plan.areas[0].vertices.tolist() == [1, 3, 0, 4, 2, 5]
    steps = build_envelope([part], plan).steps
    assert steps[steps[:, 0] <= END][:, :4].tolist() == [
        [START, 0, 0, 4],
        [START, 1, 4, 2],
        [MIDDLE, 2, 0, 2],
        [END, 2, 2, 4],
        [END, 3, 0, 2],
    ]


# Places of areas.


def check_places(written: Any, drawn: Any, sizes: Any, made: Any) -> None:
    """Areas that are alive at the same visit are beside each other, below the peak."""
    offsets, peak = made
    ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
    assert peak == max((end for end, size in zip(ends, sizes, strict=True) if size))
    assert min(offsets) >= 0
    for one in range(len(sizes)):
        for other in range(one):
            if not sizes[one] or not sizes[other]:
                continue
            is_apart = drawn[one] < written[other] or drawn[other] < written[one]
            assert (
                is_apart or ends[one] <= offsets[other] or ends[other] <= offsets[one]
            )


def fewest_places(written: Any, drawn: Any, sizes: Any) -> int:
    """The most vertices that are alive at once: no areas can do with less."""
    spans = list(zip(written, drawn, sizes, strict=True))
    return max(
        sum(size for first, last, size in spans if first <= visit <= last)
        for visit in range(max(drawn) + 1)
    )


def test_the_largest_first_where_that_is_better() -> None:
    """By time the one that is small and stays long is put above a hole."""
    areas = [2, 3, 1], [4, 3, 2], [1, 2, 1]
    by_time = planner._place_by_time([2, 0, 1], *areas)
    assert by_time[1] == 4
    assert place_areas(*areas) == ([2, 0, 0], 3)


def test_the_order_of_time_where_that_is_better() -> None:
    rng = np.random.default_rng(1)
    is_better = [False, False]
    for _ in range(300):
        written = rng.integers(0, 6, 8)
        areas = (
            written.tolist(),
            (written + rng.integers(0, 4, 8)).tolist(),
            rng.integers(0, 6, 8).tolist(),
        )
        used = [part for part in range(8) if areas[2][part]]
        by_time = sorted(used, key=lambda part: (areas[0][part], part))
        by_size = sorted(used, key=lambda part: (-areas[2][part], areas[0][part], part))
        one = planner._place_by_time(by_time, *areas)
        other = planner._place_in_order(by_size, *areas)
        made = place_areas(*areas)
        for way in (one, other, made):
            check_places(*areas, way)
        assert made[1] == min(one[1], other[1]) >= fewest_places(*areas)
        is_better[0] |= one[1] < other[1]
        is_better[1] |= other[1] < one[1]
    assert is_better == [True, True]


def test_a_gap_that_is_just_large_enough_is_used() -> None:
    areas = [1, 2, 1], [1, 3, 3], [3, 3, 3]
    assert place_areas(*areas) == ([0, 0, 3], 6)
    assert planner._lowest_room([(3, 6)], 3) == 0
    assert planner._lowest_room([(3, 6)], 4) == 6
    assert planner._lowest_room([(0, 2), (5, 9)], 3) == 2
    assert planner._lowest_room([(0, 2), (4, 9)], 3) == 9


def test_what_is_drawn_at_a_visit_is_alive_at_it() -> None:
    """Its room is free from the next visit on."""
    assert place_areas([0, 1], [1, 1], [4, 2])[1] == 6
    assert place_areas([0, 2], [1, 2], [4, 2])[1] == 4


def test_many_areas_are_not_placed_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Placing by size takes as long as the square of how many there are."""
    calls: list[int] = []
    real = planner._place_in_order

    def counted(order: Any, *areas: Any) -> Any:
        calls.append(len(order))
        return real(order, *areas)

    monkeypatch.setattr(planner, "_place_in_order", counted)
    few = planner.FEW_AREAS
    for count in (few, few + 1):
        visits = list(range(count))
        assert place_areas(visits, visits, [3] * count) == ([0] * count, 3)
    assert calls == [few]
    # Those that need no room do not count.
    visits = list(range(few + 50))
    place_areas(visits, visits, [0] * 50 + [3] * few)
    assert calls == [few, few]


@pytest.mark.parametrize("count", [40, 41])
def test_very_many_areas_are_side_by_side(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even time is looked at; those that need no room do not count."""
    monkeypatch.setattr(planner, "MOST_AREAS", 40)
    sizes = [0, 0, *(2 + part % 3 for part in range(count))]
    visits = list(range(len(sizes)))
    made = place_areas(visits, visits, sizes)
    check_places(visits, visits, sizes, made)
    assert made[1] == (4 if count == 40 else sum(sizes))


def test_no_areas() -> None:
    assert place_areas([], [], []) == ([], 0)
    assert place_areas([3], [-1], [0]) == ([0], 0)
