"""Going down, lying and getting up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.settings import FightSettings
from flexor.stage.movement.falls import (
    collapse,
    init_falls,
    knock_down,
    lay_out_falls,
    side_of,
    step_falls,
)
from flexor.stage.movement.layout import COLLAPSED, FALLING, LYING, RISING, UP, FallRows
from tests.oracle import falls as oracle

Rng = np.random.Generator
PHASES = ("up", "falling", "lying", "rising", "held", "collapsed")
SIDES = ("back", "front", "left", "right")
SETTINGS = FightSettings(lie_ticks=10, rise_after=4)
ALONG = np.linspace(0, 1, 13)[:, None] * [0.2, -0.9]  # of a fall of 12 ticks
TABLE = lay_out_falls([{"down back": ALONG, "down front": -ALONG}])


def rows_of(falls: object, count: int) -> FallRows:
    """Arrays of so many, as the kernel takes them."""
    return FallRows(
        np.zeros(count, np.int32),
        np.ones(count),
        np.full(count, 50.0),
        np.zeros(count),
        np.zeros(count, np.uint32),
        np.zeros(count, np.uint32),
        falls.phase,  # type: ignore[attr-defined]
        falls.side,  # type: ignore[attr-defined]
        falls.at,  # type: ignore[attr-defined]
        falls.kept,  # type: ignore[attr-defined]
        np.full(count, 30, np.int32),
        np.zeros((count, 3)),
    )


def role_of(phase: str, side: str) -> str:
    if phase == "collapsed":
        return f"beaten {side}"
    word = {"falling": "down", "lying": "lie", "rising": "rise"}[phase]
    return f"{word} {'back' if side in ('back', 'left') else 'front'}"


def test_ticks_are_those_of_the_twin(rng: Rng) -> None:
    """Kernel `step_falls`, all phases, sides, clocks and buttons."""
    count = 600
    names = [role for role in ROLES if role.split()[0] in ("down", "beaten", "rise")]
    travels = [
        {
            role: rng.normal(size=(rng.integers(2, 20), 2))
            for role in names
            if " " in role and rng.random() < 0.8
        }
        for _ in range(2)
    ]
    table = lay_out_falls(travels)
    falls = init_falls(count)
    falls.phase[:] = rng.integers(0, 6, count)
    falls.side[:] = rng.integers(0, 4, count)
    falls.at[:] = rng.choice([0, 3, 9.5, 15], count)
    falls.kept[:] = rng.choice([0, 0, 1 << 4, 2], count)
    falls.is_any = True
    rows = rows_of(falls, count)
    rows.kinds[:] = rng.integers(0, 2, count)
    rows.clocks[:] = rng.choice([1, 0.5, 0.7], count)
    rows.energy[:] = rng.choice([0, 20], count)
    rows.headings[:] = rng.uniform(-9, 9, count)
    rows.held[:] = rng.integers(0, 1 << 12, count)
    rows.pressed[:] = rng.choice([0, 0, 1, 1 << 5, 0x30], count)
    rows.places[:] = rng.normal(size=(count, 3))
    before = [np.copy(part) for part in rows]
    step_falls(falls, table, SETTINGS, rows)
    for n in range(count):
        phase, side = PHASES[before[6][n]], SIDES[before[7][n]]
        span, way = 0.0, None
        if phase not in ("up", "held"):
            column = ROLES.index(role_of(phase, side))
            span = table.spans[rows.kinds[n], column]
            way = travels[rows.kinds[n]].get(ROLES[column])
        wanted = oracle.step_fall(
            phase,
            before[8][n],
            rows.clocks[n],
            rows.energy[n],
            span,
            way,
            int(before[5][n]),
            int(rows.held[n]),
            int(before[9][n]),
            rows.headings[n],
            before[11][n],
            SETTINGS.lie_ticks,
            SETTINGS.rise_after,
        )
        assert PHASES[rows.phase[n]] == wanted[0]
        assert rows.at[n] == wanted[1]
        assert (rows.kept[n], rows.pressed[n]) == wanted[2:4]
        np.testing.assert_allclose(rows.places[n], wanted[4], atol=1e-12)
    assert falls.is_any


def test_a_fall_goes_where_its_clip_goes_and_ends_on_its_feet() -> None:
    falls = init_falls(2)
    assert knock_down(falls, 1, (0.0, 1.0), math.pi), "hit from where it looks"
    rows = rows_of(falls, 2)
    rows.headings[1] = math.pi
    phases = []
    while falls.is_any:
        step_falls(falls, TABLE, SETTINGS, rows)
        phases.append(int(falls.phase[1]))
    assert phases.count(FALLING) == 11
    assert phases.count(LYING) == SETTINGS.lie_ticks
    assert phases[-1] == UP
    # 0.9 m backward of one who looks back along z is along z.
    np.testing.assert_allclose(rows.places[1], [-0.2, 0, 0.9], atol=1e-12)
    assert not rows.places[0].any()
    assert rows.stun.tolist() == [30, 0]


def test_a_button_gets_up_sooner_and_is_pressed_again_then() -> None:
    kick = 1 << 6
    waits = {}
    for button in (0, kick):
        falls = init_falls(1)
        knock_down(falls, 0, (0.0, -1.0), 0.0)
        rows = rows_of(falls, 1)
        ticks = 0
        while falls.is_any:
            rows.pressed[0] = button if ticks == 14 else 0
            rows.held[0] = rows.pressed[0]
            step_falls(falls, TABLE, SETTINGS, rows)
            ticks += 1
        waits[button] = ticks
        assert rows.pressed[0] == button, "in the tick in which it is up"
        assert falls.kept[0] == 0
    assert waits[0] - waits[kick] == SETTINGS.lie_ticks - SETTINGS.rise_after


@pytest.mark.parametrize(
    ("way", "heading", "side"),
    [
        ((0, 1), 0.0, "front"),
        ((0, -1), 0.0, "back"),
        ((1, 0), 0.0, "left"),
        ((-1, 0), 0.0, "right"),
        ((1, 0), math.pi / 2, "front"),
        ((0, 1), math.pi / 2, "right"),
    ],
)
def test_sides(way: tuple[float, float], heading: float, side: str) -> None:
    assert SIDES[side_of(way, heading)] == side


def test_who_is_beaten_stays_down_and_who_is_revived_gets_up() -> None:
    falls = init_falls(1)
    collapse(falls, 0, (1.0, 0.0), 0.0)
    rows = rows_of(falls, 1)
    rows.energy[0] = 0
    for _ in range(100):
        step_falls(falls, TABLE, SETTINGS, rows)
    assert falls.phase[0] == COLLAPSED
    rows.energy[0] = 5
    seen = set()
    while falls.is_any:
        step_falls(falls, TABLE, SETTINGS, rows)
        seen.add(int(falls.phase[0]))
    assert seen == {LYING, RISING, UP}


def test_who_is_beaten_while_it_lies_goes_on_lying() -> None:
    falls = init_falls(1)
    knock_down(falls, 0, (0.0, 1.0), 0.0)
    falls.phase[0] = RISING
    collapse(falls, 0, (0.0, 1.0), 0.0)
    assert falls.phase[0] == LYING
    assert not knock_down(falls, 0, (0.0, 1.0), 0.0)


def test_who_is_beaten_by_a_program_while_it_gets_up_lies_again() -> None:
    falls = init_falls(1)
    knock_down(falls, 0, (0.0, 1.0), 0.0)
    falls.phase[0] = RISING
    rows = rows_of(falls, 1)
    rows.energy[0] = 0
    for _ in range(100):
        step_falls(falls, TABLE, SETTINGS, rows)
        assert falls.phase[0] == LYING
