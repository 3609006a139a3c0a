"""What characters are seen to do, where they stand, and feet on uneven ground."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.samples import mannequin
from flexor.scene.stage.layout import ROLES
from flexor.stage.movement.kernels import roles as kernel_roles
from flexor.stage.movement.layout import Roles, Seen
from tests.oracle import stage as oracle

Rng = np.random.Generator
WALK = 1.35
DT = 1 / 60
DOWN = ("up", "falling", "lying", "rising", "held", "collapsed")
SIDES = ("back", "front", "left", "right")


@functools.cache
def hero() -> Character:
    return mannequin()


def roles_of(**given: Any) -> tuple[str, float, bool]:
    """Role, rate and whether it begins, of one (kernel `choose_roles`)."""
    own = {
        "energy": 100.0,
        "stun": 0,
        "struck": 0,
        "is_new": False,
        "has_won": False,
        "move": -1,
        "started": -1,
        "grounded": True,
        "fall": 0.0,
        "asked": (0.0, 0.0),
        "pace": 1.0,
        "before": 0,
        "speed": 1.2,
        "clock": 1.0,
        "gone": None,
        "down": 0,
        "side": 0,
    }
    assert set(given) <= set(own)
    own |= given
    roles = np.array([own["before"]], np.int32)
    changed, rates = np.zeros(1, bool), np.zeros(1)
    gone = own["gone"]
    if gone is None:  # as far as it asks
        gone = math.hypot(*own["asked"]) * own["pace"]
    kernel_roles.choose_roles(
        WALK,
        DT,
        Seen(
            np.array([own["energy"]], np.float64),
            np.array([own["stun"]], np.int32),
            np.array([own["struck"]], np.uint8),
            np.array([own["is_new"]]),
            np.array([own["has_won"]]),
            np.array([own["move"]], np.int32),
            np.array([own["started"]], np.int32),
            np.array([own["grounded"]]),
            np.array([own["fall"]], np.float64),
            np.array([own["asked"]], np.float64),
            np.array([own["pace"]]),
            np.zeros(1, np.int32),
            np.array([own["clock"]]),
            np.array([[2.0, 1.0, 3.0]]),
            np.array([[2.0, 5.0, 3.0 + gone * DT * own["clock"]]]),
            np.array([own["down"]], np.uint8),
            np.array([own["side"]], np.uint8),
        ),
        np.full((1, len(ROLES)), own["speed"], np.float64),
        Roles(roles, changed, rates),
    )
    role = int(roles[0])
    name = ROLES[role] if role < len(ROLES) else f"move {role - len(ROLES)}"
    return name, float(rates[0]), bool(changed[0])


def test_roles_are_those_of_the_twin(rng: Rng) -> None:
    count = 2000
    energy = rng.choice([0.0, 0.5, 100.0], count)
    stun = rng.choice([0, 0, 5], count).astype(np.int32)
    struck = rng.integers(0, 4, count).astype(np.uint8)
    is_new, has_won, grounded = rng.random((3, count)) < [[0.3], [0.2], [0.7]]
    moves = rng.integers(-3, 4, count).clip(-1).astype(np.int32)
    started = np.where(rng.random(count) < 0.5, moves, -1).astype(np.int32)
    falls = rng.uniform(0, 3, count)
    asked = rng.uniform(-3, 3, (count, 2)) * (rng.random((count, 2)) < 0.6)
    paces = rng.choice([1.0, 0.8, 0.6], count)
    kinds = rng.integers(0, 3, count).astype(np.int32)
    own_speeds = rng.uniform(-1, 3, (3, len(ROLES))).clip(0)
    clocks, begun = rng.uniform(0.3, 2, count), rng.normal(size=(count, 3))
    gone = np.hypot(*asked.T) * paces * rng.choice([0, 0.05, 0.5, 0.97, 1, 2], count)
    ways = rng.uniform(0, 2 * math.pi, count)
    steps = np.stack([np.sin(ways), rng.normal(size=count), np.cos(ways)], 1)
    places = begun + steps * (gone * DT * clocks)[:, None]
    downs = np.where(rng.random(count) < 0.7, 0, rng.integers(0, 6, count))
    sides = rng.integers(0, 4, count)
    roles = rng.integers(-1, 30, count).astype(np.int32)
    before, changed, rates = roles.copy(), np.zeros(count, bool), np.zeros(count)
    kernel_roles.choose_roles(
        WALK,
        DT,
        Seen(
            *(energy, stun, struck, is_new, has_won, moves, started, grounded),
            *(falls, asked, paces, kinds, clocks, begun, places),
            *(downs.astype(np.uint8), sides.astype(np.uint8)),
        ),
        own_speeds,
        Roles(roles, changed, rates),
    )
    for n in range(count):
        role, rate = oracle.choose_role(
            WALK,
            energy[n],
            stun[n],
            struck[n],
            has_won[n],
            moves[n],
            grounded[n],
            falls[n],
            asked[n],
            paces[n],
            own_speeds[kinds[n]],
            gone[n],
            DOWN[downs[n]],
            SIDES[sides[n]],
        )
        assert roles[n] == role
        assert rates[n] == pytest.approx(rate, abs=1e-12)
        is_again = started[n] >= 0 and role >= len(ROLES)
        is_again |= is_new[n] and role in map(ROLES.index, ("hit", "guarded", "recoil"))
        assert changed[n] == (role != before[n] or is_again)


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ({}, "stance"),
        ({"asked": (1.35, 0)}, "walk"),
        ({"asked": (3.5, 0)}, "run"),
        ({"asked": (-1, 0)}, "back"),
        ({"asked": (0.1, -1)}, "left"),
        ({"asked": (0.1, 1)}, "right"),
        ({"grounded": False, "fall": 3}, "air"),
        ({"grounded": False, "fall": 0.5}, "stance"),
        ({"stun": 3, "struck": 1}, "hit"),
        ({"stun": 3, "struck": 2}, "guarded"),
        ({"stun": 3, "struck": 3}, "recoil"),
        ({"stun": 0, "struck": 3}, "stance"),
        ({"move": 2, "asked": (1, 0)}, "move 2"),
        ({"move": 2, "stun": 1, "struck": 1}, "hit"),
        ({"has_won": True}, "won"),
        ({"has_won": True, "asked": (1, 0)}, "walk"),
        ({"has_won": True, "move": 0}, "move 0"),
        ({"energy": 0, "stun": 4, "move": 1, "has_won": True}, "beaten"),
        ({"down": 1, "side": 1, "stun": 4}, "down front"),
        ({"down": 2, "energy": 0}, "lie back"),
        ({"down": 3, "side": 3}, "rise front"),
        ({"down": 4}, "thrown"),
        ({"down": 5, "side": 2, "energy": 0}, "beaten left"),
    ],
)
def test_what_is_seen_of_whom(given: dict[str, Any], role: str) -> None:
    assert roles_of(**given)[0] == role


def test_clips_go_as_fast_as_feet_would() -> None:
    assert roles_of(asked=(1.2, 0))[1] == pytest.approx(1)
    assert roles_of(asked=(1.2, 0), pace=0.6)[1] == pytest.approx(0.6)
    assert roles_of(asked=(0.01, 0))[1] == 0.25, "never so slow that it stands"
    assert roles_of(asked=(0, 99))[1] == 2.5
    assert roles_of(asked=(1.2, 0), speed=0)[1] == 1, "a clip of no known speed"
    assert roles_of(stun=3, asked=(3, 0))[1] == 1


def test_clips_go_as_far_as_one_really_goes() -> None:
    """Against a wall, along it, pushing another, down a slope; at any clock."""
    for clock in (0.5, 1.0):
        same = {"asked": (1.2, 0), "clock": clock}
        assert roles_of(**same, gone=0.6)[:2] == ("walk", pytest.approx(0.5))
        assert roles_of(**same, gone=1.8)[:2] == ("walk", pytest.approx(1.5))
        assert roles_of(**same, gone=1.18)[:2] == ("walk", 1.0), "about the same"
        assert roles_of(**same, gone=0.2)[:2] == ("walk", 0.25)
        assert roles_of(**same, gone=0.1)[0] == "stance", "it is held"
    assert roles_of(asked=(0, -1), gone=0)[0] == "stance"
    assert roles_of(asked=(1, 0), clock=0.0, gone=0)[0] == "walk"


def test_a_move_begins_again_and_a_role_does_not() -> None:
    stance, first = 0, len(ROLES)
    assert not roles_of(before=stance)[2]
    assert roles_of(before=1)[2]
    assert not roles_of(before=first, move=0)[2]
    assert roles_of(before=first, move=0, started=0)[2]


def test_places_are_those_of_the_twin(rng: Rng) -> None:
    places, headings = rng.normal(size=(9, 3)), rng.uniform(-9, 9, 9)
    sinks, rows = rng.uniform(-0.3, 0, 9), np.array([4, 0, 8], np.int32)
    out = np.full((3, 3, 4), 7.0)
    kernel_roles.put_places(rows, places, headings, sinks, out)
    for own, row in zip(out, rows, strict=True):
        wanted = oracle.put_place(places[row], headings[row], sinks[row])
        np.testing.assert_allclose(own, wanted, atol=1e-15)
