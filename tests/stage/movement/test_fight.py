"""What comes of attacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.moves import HEIGHTS, Move, MoveTable
from flexor.scene.stage.settings import FightSettings
from flexor.stage.movement.fight import FightState, begin_tick, init_fight, step_fight
from flexor.stage.movement.layout import (
    GUARDED,
    HIT,
    HITTING,
    NOTHING,
    PARRIED,
    RETURN,
    START_UP,
)
from flexor.stage.movement.moves import init_moves, lay_out_moves
from flexor.stage.movement.parry import step_recoil

MOVES = (
    Move("punch", 3, 2, 5, damage=10, push=0.4),
    Move("block", 0, 4, 2, kind="guard"),
    Move("sweep", 1, 6, 3, kind="parry"),
    Move("throw", 3, 2, 5, damage=20, can_be_parried=False),
    Move("crouch", 2, 4, 2, kind="crouch"),
    Move("jump", 2, 4, 2, kind="jump"),
    *(Move(f"{height} kick", 3, 2, 5, damage=5, height=height) for height in HEIGHTS),
)
TABLES = lay_out_moves(MoveTable(MOVES))
PUNCH, BLOCK, SWEEP, THROW, CROUCH, JUMP = range(6)
SETTINGS = FightSettings()


class Match:
    """Two, face to face, 1 m apart along z, the attacker first."""

    def __init__(self, mine: int = PUNCH, theirs: int = -1) -> None:
        self.moves = init_moves(2)
        self.moves.move[:] = mine, theirs
        self.moves.phase[:] = HITTING, HITTING if theirs >= 0 else 0
        self.places = np.array([[0.0, 0, 0], [0, 0, 1]])
        self.headings = np.array([0.0, math.pi])
        self.clocks = np.ones(2)
        self.gaps = np.array([-0.01, np.inf])
        self.targets = np.array([1, 0], np.int32)
        self.state: FightState = init_fight(2, SETTINGS)

    def tick(self, started: Any = (-1, -1)) -> int:
        begin_tick(self.state, np.array(started, np.int32))
        step_fight(
            self.state,
            SETTINGS,
            TABLES,
            self.moves,
            self.gaps,
            self.targets,
            self.places,
            self.headings,
            self.clocks,
        )
        step_recoil(self.state.recoil, self.clocks, self.places)
        return int(self.state.outcomes[0])


def test_a_hit_hurts_stuns_and_pushes() -> None:
    match = Match()
    assert match.tick() == HIT
    assert match.state.energy.tolist() == [100, 90]
    assert match.state.stun.tolist() == [0, SETTINGS.stun]
    assert match.state.can_act.tolist() == [True, False]
    for _ in range(SETTINGS.push_ticks - 1):
        assert match.tick() == NOTHING, "once a move"
    np.testing.assert_allclose(match.places, [[0, 0, 0], [0, 0, 1.4]], atol=1e-12)
    assert match.state.energy[1] == 90
    for _ in range(SETTINGS.stun - SETTINGS.push_ticks + 1):
        match.tick()
    assert match.state.can_act.all()
    assert match.clocks.tolist() == [1, 1]


def test_the_next_move_hits_again() -> None:
    match = Match()
    match.tick()
    assert match.tick(started=(PUNCH, -1)) == HIT
    assert match.state.energy[1] == 80


@pytest.mark.parametrize("phase", [0, START_UP, RETURN])
def test_only_the_hitting_phase_hits(phase: int) -> None:
    match = Match()
    match.moves.phase[0] = phase
    assert match.tick() == NOTHING


def test_what_does_not_meet_does_nothing() -> None:
    match = Match()
    match.gaps[0] = 0.001
    assert match.tick() == NOTHING
    match.gaps[0], match.targets[0] = -1, -1
    assert match.tick() == NOTHING
    assert match.state.energy.tolist() == [100, 100]


def test_a_move_that_is_no_attack_hits_nobody() -> None:
    assert Match(mine=BLOCK).tick() == NOTHING
    assert Match(mine=SWEEP).tick() == NOTHING


def test_a_guard_lets_a_part_through_and_goes_on() -> None:
    match = Match(theirs=BLOCK)
    assert match.tick() == GUARDED
    assert match.state.energy[1] == 99
    assert match.state.stun[1] == SETTINGS.guard_stun
    assert match.moves.move[1] == BLOCK


def test_a_guard_looks_the_right_way_and_is_up() -> None:
    match = Match(theirs=BLOCK)
    match.headings[1] = 0  # turns its back
    assert match.tick() == HIT
    match = Match(theirs=BLOCK)
    match.moves.phase[1] = RETURN
    assert match.tick() == HIT
    assert match.moves.move[1] == -1, "who is hit is broken off"


def test_a_parry_throws_the_attacker_back_in_slow_motion() -> None:
    match = Match(theirs=SWEEP)
    assert match.tick() == PARRIED
    assert match.state.energy.tolist() == [100, 100]
    assert match.clocks.tolist() == [0.5, 1]
    assert match.moves.move.tolist() == [-1, SWEEP]
    assert match.state.can_act.tolist() == [False, True]
    for _ in range(SETTINGS.parry.ticks - 1):
        assert match.clocks.tolist() == [0.5, 1]
        match.tick()
    np.testing.assert_allclose(
        match.places, [[0, 0, -SETTINGS.parry.amount], [0, 0, 1]], atol=1e-12
    )
    assert match.clocks.tolist() == [1, 1]


def test_some_attacks_cannot_be_parried() -> None:
    assert Match(mine=THROW, theirs=SWEEP).tick() == HIT


def test_two_attacks_at_once_both_hit() -> None:
    match = Match(theirs=PUNCH)
    match.gaps[:] = -0.01
    match.tick()
    assert match.state.outcomes.tolist() == [HIT, HIT]
    assert match.state.energy.tolist() == [90, 90]


def test_nobody_has_less_than_no_energy_and_the_beaten_cannot_act() -> None:
    match = Match()
    match.state.energy[1] = 4
    match.tick()
    assert match.state.energy[1] == 0
    match.state.stun[:] = 0
    assert match.state.can_act.tolist() == [True, False]


def test_on_one_spot_all_is_finite() -> None:
    match = Match()
    match.places[1] = 0
    match.tick()
    for _ in range(SETTINGS.push_ticks):
        match.tick()
    np.testing.assert_allclose(match.places[1], [0, 0, 0.4], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"energy": 0}, "energy"),
        ({"stun": -1}, "stun"),
        ({"stun": 1.5}, "stun: float, expected int"),
        ({"guard_share": 2}, "guard_share"),
        ({"push_ticks": 0}, "push_ticks"),
        ({"parry": None}, "parry: NoneType, expected ParrySettings"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        FightSettings(**change)


@pytest.mark.parametrize(
    ("height", "theirs", "outcome"),
    [
        ("high", CROUCH, NOTHING),
        ("jump", CROUCH, NOTHING),
        ("mid", CROUCH, HIT),
        ("low", CROUCH, HIT),
        ("low", JUMP, NOTHING),
        ("mid", JUMP, HIT),
        ("high", JUMP, HIT),
        ("low", BLOCK, GUARDED),
        ("high", BLOCK, GUARDED),
        ("high", -1, HIT),
    ],
)
def test_heights_pass_over_and_under(height: str, theirs: int, outcome: int) -> None:
    mine = JUMP + 1 + HEIGHTS.index(height)
    match = Match(mine, theirs)
    assert match.tick() == outcome
    if outcome == NOTHING:
        match.moves.phase[1] = RETURN
        assert match.tick() == HIT, "who comes up again is met"
