"""The slow drawing libraries notice what is wrong: plans and steps broken by hand."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.build import build_envelope
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import plan_envelope
from flexor.scene.runtime.layout import DRAW, END, NATIVE, START
from tests.envelopes import random_matrices, random_world
from tests.oracle import envelope as oracle

CHAIN = [-1, 0, 1]


def part_of(owner: int, pulls: list[list[int]]) -> EnvelopePart:
    """A part with a vertex for each list of models that pull it, all alike."""
    rng = np.random.default_rng(len(pulls))
    joints, weights = np.full((2, len(pulls), 3), -1.0)
    for row, models in enumerate(pulls):
        joints[row, : len(models)] = models
        weights[row] = np.where(joints[row] < 0, 0, 1 / len(models))
    return EnvelopePart(
        owner,
        np.arange(3),
        random_matrices(rng, 3),
        rng.normal(size=(len(pulls), 3)),
        rng.normal(size=(len(pulls), 3)),
        joints,
        weights,
        np.zeros((0, 3)),
    )


# Part 0: vertices 0 and 1 of model 0, 2 and 3 of all; drawn at model 2.
# Part 1: of model 1, drawn there. Part 2: of model 2, drawn there.
PARTS = [
    part_of(0, [[0], [0], [0, 1, 2], [0, 1, 2]]),
    part_of(1, [[1], [1]]),
    part_of(2, [[2], [2], [1, 2]]),
]
WORLD = random_world(np.random.default_rng(0), 3)


def loose_plan() -> Any:
    """The plan, as things that can be changed."""
    plan = plan_envelope(CHAIN, PARTS)
    names = ("model", "native", "start", "middle", "end")
    return SimpleNamespace(
        trace=plan.trace,
        areas=[
            SimpleNamespace(
                owner=area.owner,
                offset=area.offset,
                vertices=area.vertices.copy(),
                counter=area.counter,
            )
            for area in plan.areas
        ],
        lists=[
            SimpleNamespace(
                **{
                    name: list(value) if isinstance(value, tuple) else value
                    for name in names
                    for value in [getattr(made, name)]
                },
                commands=list(made.commands),
            )
            for made in plan.lists
        ],
        table=list(plan.table),
        peak=plan.peak,
    )


def caught(plan: Any, text: str) -> None:
    with pytest.raises(AssertionError, match=text):
        oracle.run_plan(plan, PARTS, WORLD)


def test_the_plan_is_as_told() -> None:
    plan = loose_plan()
    assert [area.offset for area in plan.areas] == [0, 4, 6]
    assert [made.commands for made in plan.lists] == [
        [("DRAWCP", 0)],
        [("DRAW", 1)],
        [("DRAW", 2), ("DRAWDP", 0)],
    ]
    drawn = oracle.run_plan(plan, PARTS, WORLD)
    for got, expected in zip(drawn, oracle.moved(PARTS, WORLD), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_areas_that_overlap_while_both_are_alive() -> None:
    plan = loose_plan()
    plan.areas[1].offset = 3
    caught(plan, "place 3 of part 1 is part 0's")


def test_an_area_that_begins_where_one_is_not_yet_drawn() -> None:
    """Part 2 is first written at model 1, where part 1 is still alive."""
    plan = loose_plan()
    plan.areas[2].offset = 5
    caught(plan, "place 5 of part 2 is part 1's")


def test_an_area_beyond_the_peak() -> None:
    plan = loose_plan()
    plan.peak -= 1
    caught(plan, "place 8 of 8")


def test_a_missing_draw() -> None:
    plan = loose_plan()
    plan.lists[1].commands = []
    caught(plan, "part 1: no command of its owner")


def test_a_missing_deferred_draw() -> None:
    plan = loose_plan()
    plan.lists[2].commands.pop()
    caught(plan, "part 0 is full and not drawn")


def test_a_missing_registration() -> None:
    plan = loose_plan()
    plan.lists[0].commands = []
    caught(plan, "part 0: no command of its owner")


def test_a_deferred_draw_of_what_is_not_registered() -> None:
    plan = loose_plan()
    plan.table.append(0)
    plan.lists[2].commands[1] = ("DRAWDP", 1)
    caught(plan, "1 was not registered")


def test_registered_when_full() -> None:
    plan = loose_plan()
    plan.table.append(1)
    plan.lists[1].commands = [("DRAWCP", 1), ("DRAWDP", 1)]
    caught(plan, "part 1 is full")


def test_drawn_too_early() -> None:
    plan = loose_plan()
    plan.lists[1].commands.append(("DRAWDP", 0))
    caught(plan, "part 0 is drawn after 6 of 8")


def test_a_counter_that_is_too_low() -> None:
    plan = loose_plan()
    plan.areas[0].counter = 6
    plan.lists[1].commands.append(("DRAWDP", 0))
    plan.lists[2].commands.pop()
    caught(plan, "part 0 was drawn too early")


def test_drawn_twice() -> None:
    plan = loose_plan()
    plan.lists[1].commands.append(("DRAW", 1))
    caught(plan, "part 1 is drawn twice")


def test_a_vertex_stored_twice() -> None:
    plan = loose_plan()
    plan.lists[0].native.append((0, 0))
    caught(plan, "place 0 is stored twice")


def test_a_vertex_that_is_left_out() -> None:
    plan = loose_plan()
    plan.lists[1].native.pop()
    caught(plan, "part 1 is drawn after 1 of 2")


def test_added_before_it_is_stored() -> None:
    plan = loose_plan()
    plan.lists[0].start.remove((0, 3))
    caught(plan, "added to place 3 before it is stored")


def test_a_vertex_in_the_wrong_group() -> None:
    plan = loose_plan()
    plan.lists[1].end.append(plan.lists[1].middle.pop())
    caught(plan, "vertex 3 of part 0 is middle, not end")


def test_a_vertex_that_the_model_does_not_pull() -> None:
    plan = loose_plan()
    plan.lists[1].native[0] = (0, 0)
    caught(plan, "model 1 does not pull vertex 0")


# Steps. Each row of the table is a step of `envelope()`, so the test says which.


def envelope(change: Any = None) -> Any:
    """The same as arrays, with other steps; an `Envelope` would refuse most of them."""
    made = build_envelope(PARTS, plan_envelope(CHAIN, PARTS))
    loose = {field.name: getattr(made, field.name) for field in fields(made)}
    loose["steps"], loose["data"] = made.steps.tolist(), made.data.copy()
    if change is not None:
        change(loose["steps"], loose["data"])
    loose["steps"] = np.array(loose["steps"])
    return SimpleNamespace(**loose)


def step_at(steps: Any, op: int, model: int) -> int:
    return next(i for i, step in enumerate(steps) if step[:2] == [op, model])


def caught_in_steps(change: Any, text: str) -> None:
    broken = envelope(change)
    with pytest.raises(AssertionError, match=text):
        oracle.run_steps(broken, WORLD)


def test_the_steps_are_right() -> None:
    drawn = oracle.run_steps(envelope(), WORLD)
    rows = [area.vertices for area in plan_envelope(CHAIN, PARTS).areas]
    for got, expected, own in zip(drawn, oracle.moved(PARTS, WORLD), rows, strict=True):
        np.testing.assert_allclose(got[0], expected[0][own], atol=1e-6)
        np.testing.assert_allclose(got[1], expected[1][own], atol=1e-6)


def test_steps_stored_over_each_other() -> None:
    def change(steps: Any, _: Any) -> None:
        steps[step_at(steps, NATIVE, 1)][2] = 3

    caught_in_steps(change, "place 3 is stored twice")


def test_steps_added_before_they_are_stored() -> None:
    def change(steps: Any, _: Any) -> None:
        del steps[step_at(steps, START, 0)]

    caught_in_steps(change, "added to place 2 before it is stored")


def test_steps_with_an_end_in_the_middle() -> None:
    def change(steps: Any, _: Any) -> None:
        steps[step_at(steps, 2, 1)][0] = END

    caught_in_steps(change, "was finished")


def test_steps_without_an_end() -> None:
    def change(steps: Any, _: Any) -> None:
        del steps[step_at(steps, END, 2)]

    caught_in_steps(change, "is drawn too early")


def test_steps_without_a_draw() -> None:
    def change(steps: Any, _: Any) -> None:
        del steps[step_at(steps, DRAW, 1)]

    caught_in_steps(change, "drawn: ")


def test_steps_without_a_registration() -> None:
    def change(steps: Any, _: Any) -> None:
        del steps[step_at(steps, 4, 0)]

    caught_in_steps(change, "0 was not registered")


def test_steps_that_visit_a_model_twice() -> None:
    def change(steps: Any, _: Any) -> None:
        at = step_at(steps, NATIVE, 2)
        steps.insert(at + 1, [NATIVE, 0, 0, 0, 0])

    caught_in_steps(change, "model 0 is visited twice")


def test_blocks_with_something_in_their_rest() -> None:
    def change(steps: Any, data: Any) -> None:
        data[steps[0][4] + 7] = 1

    caught_in_steps(change, "not filled up with zeros")


def test_weights_that_do_not_add_up() -> None:
    def change(steps: Any, data: Any) -> None:
        at = steps[step_at(steps, START, 0)][4]
        data[at + 48] += 0.1

    caught_in_steps(change, "Not equal to tolerance")
