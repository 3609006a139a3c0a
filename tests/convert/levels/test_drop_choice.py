"""Who takes over from a node, and what its loss costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.levels.drop_choice import (
    DropState,
    choose_carrier,
    drop_node,
    find_misled,
    init_drops,
)
from flexor.convert.levels.poses import LevelPoses
from flexor.scene.runtime.node_table import NodeTable
from tests.convert.levels.drop_bodies import chain_body, random_body, star_body

STAR = [[0.3, 0, 0], [0, 0.5, 0], [-0.1, 0, 0], [0, -0.9, 0], [0, 0, 0.7], [1.1, 0, 0]]


def start(body: dict[str, Any]) -> DropState:
    """The state of a body whose slots are its nodes, by number."""
    given = {name: value for name, value in body.items() if name != "slots"}
    return init_drops(numbers=body["slots"].astype(np.intp), **given)


def keep_vertices(body: dict[str, Any], is_kept: Any) -> None:
    for name in ("positions", "joints", "weights"):
        body[name] = body[name][is_kept]


def test_the_nearest_above_that_pulls_takes_over() -> None:
    body = chain_body([[0.1, 0.2, 0.3, 0.4]])
    keep_vertices(body, body["joints"][:, 0] != 2)
    choice = choose_carrier(start(body), 3)
    assert choice is not None
    assert choice.carrier == 1
    assert choice.tried == [1]


def test_who_took_over_from_the_parent_stands_for_it() -> None:
    """A hip bone that went to the spine: legs go to the spine, not to their shins."""
    state = start(star_body(STAR[:3], [[0.1, 0.2, 0.3, 0.4]]))
    drop_node(state, 0, 2)
    for leg in (1, 3):
        choice = choose_carrier(state, leg)
        assert choice is not None
        assert choice.carrier == 2


def test_a_root_goes_to_the_best_of_the_nearest_below() -> None:
    angles = [[0.0, 0.5, 0.05, 0.9, 0.01, 0.6, 0.0]]
    choice = choose_carrier(start(star_body(STAR, angles)), 0)
    assert choice is not None
    assert choice.tried == [3, 1, 2, 5]  # by distance; the two farthest are left out
    assert choice.carrier == 2


def test_without_any_kin_the_nearest_in_place_takes_over() -> None:
    body = star_body(STAR[:4], [[0.0, 0.5, 0.4, 0.9, 0.3]])
    keep_vertices(body, body["joints"][:, 0] != 0)
    choice = choose_carrier(start(body), 1)
    assert choice is not None
    assert choice.tried == [3]


def test_a_node_that_nobody_can_carry_stays() -> None:
    """Two nodes without volume, each in a space of its own."""
    body = chain_body([[0.1, 0.2]])
    body["spaces"] = np.array([0, 1], np.int32)
    body["rest"] = body["rest"].copy()
    body["rest"][:, :, 1] = 0
    state = start(body)
    assert choose_carrier(state, 0) is None
    assert choose_carrier(state, 1) is None
    body["spaces"] = np.zeros(2, np.int32)  # in one space they have slots
    assert choose_carrier(start(body), 1) is not None


def test_cost_is_displacement_by_the_root_of_size() -> None:
    """The last bone of three: nothing below, so no gap."""
    body = chain_body([[0.0, 0.0, 0.3], [0.0, 0.0, -0.1]])
    choice = choose_carrier(start(body), 2)
    assert choice is not None
    along = np.arange(1, 13) / 4
    size = along[8:].std() / along.std()
    cost = 2 * np.sin(0.15) * np.sqrt(size)
    assert choice.score == pytest.approx((cost, 4, -2), rel=1e-5)


def test_a_joint_that_loses_its_place_costs_more() -> None:
    """The middle bone of three takes its end, where the last one stays, along."""
    body = chain_body([[0.0, 0.3, 0.0]])
    choice = choose_carrier(start(body), 1)
    assert choice is not None
    along = np.arange(1, 13) / 4
    size = along[4:8].std() / along.std()
    cost = (1 + 2) * 2 * np.sin(0.15) * np.sqrt(size)
    assert choice.score == pytest.approx((cost, 4, -1), rel=1e-5)


def test_gaps_are_against_where_the_parent_takes_a_joint() -> None:
    """Own ways of the last bone, such as a sword that is thrown, are no gap."""
    body = chain_body([[0.0, 0.0, 0.0]])
    world = body["poses"].clips.copy()
    world[0, 2, :, 3] += 5
    body["poses"] = LevelPoses(world, body["poses"].swings.copy())
    choice = choose_carrier(start(body), 1)
    assert choice is not None
    assert choice.score[0] == pytest.approx(0, abs=1e-6)


def test_swings_count_a_fifth_beside_clips() -> None:
    body = chain_body([[0.0, 0.3]])
    still = chain_body([[0.0, 0.0]])["poses"].clips
    moved = body["poses"].clips

    def cost(clips: Any, swings: Any) -> float:
        body["poses"] = LevelPoses(clips.copy(), swings.copy())
        choice = choose_carrier(start(body), 1)
        assert choice is not None
        return choice.score[0]

    alone = cost(moved, still)
    assert alone > 0.1
    assert cost(still, moved) == pytest.approx(0.2 * alone)
    assert cost(moved, moved) == pytest.approx(1.2 * alone)
    assert cost(moved[:0], moved) == pytest.approx(alone)


def test_a_root_that_others_hang_on_counts_twice() -> None:
    """A chain of two that is the same from both ends, seen from its joint."""
    body = chain_body([[0.0, 0.3]])
    body["positions"] -= np.float32([0.125, 0, 0])
    state = start(body)
    first, last = choose_carrier(state, 0), choose_carrier(state, 1)
    assert first is not None
    assert last is not None
    assert first.score[0] == pytest.approx(2 * last.score[0], rel=1e-5)


def test_a_single_vertex_is_not_for_nothing() -> None:
    body = chain_body([[0.0, 0.0, 0.3]])
    keep_vertices(body, [0, 1, 2, 3, 4, 5, 6, 7, 11])
    choice = choose_carrier(start(body), 2)
    assert choice is not None
    cost = 2 * np.sin(0.15) * np.sqrt(0.05)
    assert choice.score[0] == pytest.approx(cost, rel=1e-5)


def test_a_body_without_size_has_costs() -> None:
    body = chain_body([[0.0, 0.3]])
    keep_vertices(body, [0, 4])
    body["positions"][:] = 0
    choice = choose_carrier(start(body), 1)
    assert choice is not None
    assert choice.score[0] == pytest.approx(2 * np.sin(0.15), rel=1e-5)


def test_what_is_handed_over_is_added() -> None:
    body = chain_body([[0.1, 0.2, 0.3]])
    body["joints"] = np.array([[0, 1], [1, 2], [2, 0]], np.uint16)
    body["weights"] = np.array([[0.5, 0.5], [0.25, 0.75], [1, 0]], np.float32)
    body["positions"] = body["positions"][:3]
    state = start(body)
    moved, touched = drop_node(state, 2, 1)
    assert moved == [(2, 1)]
    assert touched == {1}
    assert state.rows[1].tolist() == [0, 1, 2]
    assert state.pulls[1].tolist() == [0.5, 1, 1]
    assert state.is_kept.tolist() == [True, True, False]
    assert state.heirs == {2: 1}


@pytest.mark.parametrize("flat", [-1, 0, 1, 2, 3, 4])
def test_choices_are_kept_only_while_they_hold(rng: Any, flat: int) -> None:
    """After each step those that are not said to be stale are what they would be."""
    kept_count = 0
    for _ in range(6):
        body = random_body(rng, 12, roots=2, vertices=14, flat=flat)
        table: NodeTable = body["table"]
        place = {node: number for number, node in enumerate(table.nodes.tolist())}
        given = {name: value for name, value in body.items() if name != "slots"}
        numbers = np.array([place[node] for node in body["slots"].tolist()])
        state = init_drops(numbers=numbers, **given)
        while np.count_nonzero(state.is_kept) > 1:
            kept = np.flatnonzero(state.is_kept).tolist()
            fresh = {n: choose_carrier(state, n) for n in kept}
            choices = {n: choice for n, choice in fresh.items() if choice is not None}
            if not choices:
                break
            number = min(choices, key=lambda n: choices[n].score)
            carrier = choices.pop(number).carrier
            _, touched = drop_node(state, number, carrier)
            stale = touched | find_misled(state, choices, number, carrier)
            for other in choices.keys() - stale:
                again = choose_carrier(state, other)
                assert again is not None
                assert again.carrier == choices[other].carrier
                assert again.score == pytest.approx(choices[other].score, abs=1e-6)
                kept_count += 1
    assert kept_count > 10
