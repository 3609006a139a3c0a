"""Which nodes a level has: what was planned, and what its author says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.levels.choose_nodes import (
    NodeWords,
    SlotTable,
    choose_slots,
    read_words,
)
from flexor.convert.levels.drop_nodes import DropPlan, used_nodes
from flexor.errors import SettingError, ShapeError
from flexor.maths import transforms
from flexor.scene.runtime.level_settings import LevelChoice
from flexor.scene.runtime.node_table import NodeTable

# A hip with a leg (knee, foot, toe) and an arm (hand); the root pulls nothing. Rows of
# the skeleton are not those of the table.
NAMES = ("root", "hip", "knee", "foot", "toe", "arm", "hand")
TABLE = NodeTable(
    NAMES, np.arange(7)[::-1], np.array([-1, 0, 1, 2, 3, 1, 5]), np.ones(7)
)
ROOT, HIP, KNEE, FOOT, TOE, ARM, HAND = range(7)


def rest() -> Any:
    """world_from_node of the skeleton's rows."""
    world = np.tile(np.eye(3, 4, dtype=np.float32), (7, 1, 1))
    world[:, 0, 3] = np.arange(7)
    return world


def plan(order: Any = (), heirs: Any = ()) -> DropPlan:
    """One slot for each number but the root's: slot n - 1; heirs: of each step."""
    becomes = [np.arange(6)]
    for gone, heir in zip(order, heirs, strict=True):
        last = becomes[-1].copy()
        last[last == gone - 1] = heir - 1
        becomes.append(last)
    binds = np.tile(np.eye(3, 4), (6, 1, 1))
    return DropPlan(
        np.array(order, np.int32),
        np.zeros((len(order), 2)),
        TABLE.nodes[1:].copy(),
        binds,
        np.zeros(6, np.int32),
        np.array(becomes, np.int32),
        np.arange(6, dtype=np.uint16)[:, None],
        np.ones((6, 1), np.float32),
    )


def choose(own: DropPlan, steps: int, choice: LevelChoice, **more: Any) -> Any:
    """The number that takes over from each of the numbers 1 to 6, and the slots."""
    words = read_words(TABLE, choice, more.get("before"), 1)
    slots = more.get("slots") or SlotTable(own)
    used = used_nodes(TABLE, own.slots, own.joints, own.weights)
    to = choose_slots(own, TABLE, used, steps, words, slots, rest())
    number = {node: row for row, node in enumerate(TABLE.nodes.tolist())}
    return [number[slots.slots[slot]] for slot in to.tolist()], slots


def test_without_words_it_is_the_plan() -> None:
    own = plan([TOE, HAND], [FOOT, ARM])
    assert choose(own, 0, LevelChoice())[0] == [HIP, KNEE, FOOT, TOE, ARM, HAND]
    assert choose(own, 2, LevelChoice())[0] == [HIP, KNEE, FOOT, FOOT, ARM, ARM]


def test_what_is_kept_stays() -> None:
    own = plan([TOE, HAND], [FOOT, ARM])
    found, _ = choose(own, 2, LevelChoice(keep=("to*",)))
    assert found == [HIP, KNEE, FOOT, TOE, ARM, ARM]


def test_what_is_kept_takes_what_hangs_on_it() -> None:
    """Also where the plan had handed that past it before."""
    own = plan([FOOT, TOE], [KNEE, KNEE])
    found, _ = choose(own, 2, LevelChoice(keep=("foot",)))
    assert found == [HIP, KNEE, FOOT, FOOT, ARM, HAND]


def test_an_authors_carrier_comes_before_the_plan() -> None:
    own = plan([TOE], [FOOT])
    found, _ = choose(own, 1, LevelChoice(carriers={"toe": "knee"}))
    assert found == [HIP, KNEE, FOOT, KNEE, ARM, HAND]


def test_a_carrier_that_is_flat_at_rest_is_refused() -> None:
    own = plan([TOE], [FOOT])
    slots = SlotTable(own)
    slots.spaces[KNEE - 1] = 7  # so that a slot must be made
    flat = rest()
    flat[TABLE.nodes[KNEE], :, 0] = 0
    with pytest.raises(ShapeError, match="flat at rest"):
        slots.carry(TOE - 1, int(TABLE.nodes[KNEE]), flat)


def test_what_is_dropped_goes_to_the_nearest_above() -> None:
    own = plan([TOE], [FOOT])
    found, slots = choose(own, 1, LevelChoice(drop=("foot", "knee")))
    assert found == [HIP, HIP, HIP, HIP, ARM, HAND]
    assert len(slots) == 6


def test_keep_wins_over_drop() -> None:
    found, _ = choose(plan(), 0, LevelChoice(drop=("*",), keep=("hip", "arm")))
    assert found == [HIP, HIP, HIP, HIP, ARM, ARM]


def test_without_one_above_it_goes_to_the_nearest_below() -> None:
    found, _ = choose(plan(), 0, LevelChoice(drop=("hip",)))
    assert found == [KNEE, KNEE, FOOT, TOE, ARM, HAND]
    found, _ = choose(plan(), 0, LevelChoice(drop=("knee", "foot", "hip", "a*", "h*")))
    assert found == [TOE] * 6


def test_the_author_says_who_takes_over() -> None:
    found, _ = choose(plan(), 0, LevelChoice(carriers={"toe": "hand", "foot": "toe"}))
    assert found == [HIP, KNEE, HAND, HAND, ARM, HAND]


def test_what_went_before_stays_away_unless_it_is_kept() -> None:
    first = read_words(
        TABLE, LevelChoice(drop=("toe",), carriers={"hand": "hip"}), None, 1
    )
    found, _ = choose(plan(), 0, LevelChoice(), before=first)
    assert found == [HIP, KNEE, FOOT, FOOT, ARM, HIP]
    found, _ = choose(plan(), 0, LevelChoice(keep=("toe", "hand")), before=first)
    assert found == [HIP, KNEE, FOOT, TOE, ARM, HAND]


def test_a_carrier_without_a_slot_is_given_one_that_moves_nothing_at_rest() -> None:
    own = plan()
    slots = SlotTable(own)
    slots.spaces[TOE - 1] = 1  # the toe has a mesh of its own
    found, _ = choose(own, 0, LevelChoice(drop=("toe",)), slots=slots)
    assert found == [HIP, KNEE, FOOT, FOOT, ARM, HAND]
    assert len(slots) == 7
    assert slots.spaces[6] == 1
    world = rest()
    np.testing.assert_allclose(
        transforms.multiply(world[slots.slots[6]], slots.binds[6]),
        transforms.multiply(world[slots.slots[TOE - 1]], slots.binds[TOE - 1]),
    )
    choose(own, 0, LevelChoice(drop=("toe",)), slots=slots)
    assert len(slots) == 7  # found again


def test_slots_that_pull_nothing_stay_as_they_are() -> None:
    """No slot is made for a toe that nothing hangs on, whatever is said of others."""
    own = plan([TOE], [FOOT])
    idle = own.joints.copy()
    idle[idle == TOE - 1] = HIP - 1
    own = replace(own, joints=idle)
    slots = SlotTable(own)
    slots.spaces[TOE - 1] = 1
    found, _ = choose(own, 0, LevelChoice(drop=("hand", "foot")), slots=slots)
    assert found == [HIP, KNEE, KNEE, TOE, ARM, ARM]
    assert len(slots) == 6


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"keep": ("tail*",)}, "level 1: keep: no node 'tail\\*'; there are 'root'"),
        ({"drop": ("x",)}, "level 1: drop: no node 'x'"),
        ({"carriers": {"x": "hip"}}, "level 1: carriers: no node 'x'"),
        ({"carriers": {"toe": "f*"}}, "level 1: carriers: no node 'f\\*'"),
        ({"drop": ("*",)}, "no node is left"),
        ({"carriers": {"toe": "foot", "foot": "toe"}}, "'foot' is handed round"),
    ],
)
def test_words_that_are_refused(choice: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        choose(plan(), 0, LevelChoice(**choice))


def test_more_slots_than_a_weight_can_name_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("flexor.convert.levels.choose_nodes.MOST_SLOTS", 6)
    slots = SlotTable(plan())
    slots.spaces[TOE - 1] = 1
    with pytest.raises(ShapeError, match="more than 6"):
        choose(plan(), 0, LevelChoice(drop=("toe",)), slots=slots)


def test_words_are_true_where_something_is_said() -> None:
    none = np.zeros(7, bool)
    assert not NodeWords(none, none, {})
    assert NodeWords(none, ~none, {})
