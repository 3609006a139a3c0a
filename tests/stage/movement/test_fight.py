"""What comes of attacks."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.moves import HEIGHTS, Move, MoveTable
from flexor.scene.stage.settings import FightSettings
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.fight import (
    FightState,
    begin_tick,
    init_fight,
    lay_out_fight,
    step_fight,
)
from flexor.stage.movement.hits import init_hits
from flexor.stage.movement.kernels import hits as kernel_hits
from flexor.stage.movement.layout import (
    COLLAPSED,
    FALLING,
    GUARDED,
    HIT,
    HITTING,
    LYING,
    NOTHING,
    PARRIABLE,
    PARRIED,
    RETURN,
    START_UP,
    UP,
    Aiming,
)
from flexor.stage.movement.moves import init_moves, lay_out_moves
from flexor.stage.movement.parry import step_recoil

MOVES = (
    Move("punch", 3, 2, 5, damage=10, push=0.4),
    Move("block", 0, 4, 2, kind="guard"),
    Move("sweep", 1, 6, 3, kind="parry"),
    Move("shove", 3, 2, 5, damage=20, can_be_parried=False),
    Move("crouch", 2, 4, 2, kind="crouch"),
    Move("jump", 2, 4, 2, kind="jump"),
    *(Move(f"{height} kick", 3, 2, 5, damage=5, height=height) for height in HEIGHTS),
    Move("trip", 3, 2, 5, damage=5, knocks_down=True),
    Move("stamp", 3, 2, 5, damage=5, hits_down=True),
)
TABLES = lay_out_moves(MoveTable(MOVES))
PUNCH, BLOCK, SWEEP, SHOVE, CROUCH, JUMP = range(6)
TRIP, STAMP = len(MOVES) - 2, len(MOVES) - 1
SETTINGS = FightSettings()
NO_VOLUMES = HitVolumes(np.zeros(0, np.int32), np.zeros((0, 2, 3)), np.zeros(0), ())
FIGHTS = lay_out_fight(TABLES, np.ones((1, len(MOVES))), [0, 0])


class Match:
    """Two, face to face, 1 m apart along z, the attacker first."""

    def __init__(self, mine: int = PUNCH, theirs: int = -1) -> None:
        self.moves = init_moves(2)
        self.moves.move[:] = mine, theirs
        self.moves.phase[:] = HITTING, HITTING if theirs >= 0 else 0
        self.places = np.array([[0.0, 0, 0], [0, 0, 1]])
        self.headings = np.array([0.0, math.pi])
        self.clocks = np.ones(2)
        self.gaps = np.array([[-0.01, -0.01], [np.inf, np.inf]])  # to bodies, to hands
        self.targets = np.array([1, 0], np.int32)
        self.state: FightState = init_fight(2, SETTINGS)
        self.hits = init_hits([NO_VOLUMES] * 2)

    def tick(self, started: Any = (-1, -1)) -> int:
        begin_tick(self.state, np.array(started, np.int32))
        self._meet()
        step_fight(
            self.state,
            SETTINGS,
            TABLES,
            FIGHTS,
            self.moves,
            self.hits,
            self.places,
            self.headings,
            self.clocks,
        )
        step_recoil(self.state.recoil, self.clocks, self.places)
        return int(self.state.outcomes[0])

    def _meet(self) -> None:
        """Gaps as they were said, of those who may meet each other."""
        state, hits = self.state, self.hits
        doing = Aiming(
            self.moves.move,
            self.moves.phase,
            state.has_met,
            state.energy,
            state.falls.phase,
            state.is_throwing,
        )
        kernel_hits.aim(TABLES.kinds, FIGHTS.meets, doing, hits._aims)
        hits.targets[:] = self.targets
        for row, target in enumerate(self.targets.tolist()):
            may = bool(hits.meets[row] & hits.shows[target]) and target >= 0
            hits.gaps[row] = self.gaps[row] if may else np.inf
            if not hits.meets[row] & PARRIABLE or self.moves.move[target] != SWEEP:
                hits.gaps[row, 1] = np.inf


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
    match.gaps[0] = 0.001, 0.001
    assert match.tick() == NOTHING
    match.gaps[0], match.targets[0] = (-1, -1), -1
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
    assert Match(mine=SHOVE, theirs=SWEEP).tick() == HIT


def test_a_parry_is_met_by_hands_not_by_the_body() -> None:
    match = Match(theirs=SWEEP)
    match.gaps[0] = -0.01, 0.02
    assert match.tick() == HIT
    match = Match(theirs=SWEEP)
    match.gaps[0] = 0.05, -0.01  # before it comes to the body
    assert match.tick() == PARRIED
    match = Match(theirs=SWEEP)
    match.headings[1] = 0  # its hands are where it does not look
    assert match.tick() == HIT


def test_who_is_parried_cannot_act_before_the_quickest_answer_has_hit() -> None:
    match = Match(theirs=SWEEP)
    quickest = min(move.until_back for move in MOVES if move.kind == "attack")
    slow = 100 * quickest
    for ticks, least in ((quickest, SETTINGS.parry.ticks), (slow, slow)):
        fights = dataclasses.replace(FIGHTS, quickest=np.full(2, ticks, np.int32))
        match = Match(theirs=SWEEP)
        begin_tick(match.state, np.full(2, -1, np.int32))
        match._meet()
        step_fight(
            *(match.state, SETTINGS, TABLES, fights, match.moves, match.hits),
            *(match.places, match.headings, match.clocks),
        )
        assert match.state.stun[0] >= least
        assert match.state.stun[0] >= SETTINGS.parry.rest + ticks
        assert match.state.opened.tolist() == [1, -1]
        assert match.state.recoil.left[0] == match.state.stun[0]


def test_who_has_parried_in_slow_time_is_waited_for() -> None:
    """Its answer takes twice as many ticks; some are left for waiting buttons."""
    stuns = []
    for clock in (1.0, 0.5):
        match = Match(theirs=SWEEP)
        match.clocks[1] = clock
        fights = dataclasses.replace(FIGHTS, quickest=np.full(2, 70, np.int32))
        begin_tick(match.state, np.full(2, -1, np.int32))
        match._meet()
        step_fight(
            *(match.state, SETTINGS, TABLES, fights, match.moves, match.hits),
            *(match.places, match.headings, match.clocks),
        )
        stuns.append(int(match.state.stun[0]))
    assert stuns[0] > SETTINGS.parry.rest + 70 + 2, "a chord's window beside"
    assert stuns[1] == 2 * stuns[0]


def test_who_is_struck_is_not_open_any_more() -> None:
    match = Match()
    match.state.opened[1] = 0
    assert match.tick() == HIT
    assert match.state.opened.tolist() == [-1, -1]


def test_who_is_struck_down_is_met_by_few_moves() -> None:
    match = Match(mine=TRIP)
    assert match.tick() == HIT
    falls = match.state.falls
    assert falls.phase.tolist() == [UP, FALLING]
    for phase in (FALLING, LYING):
        falls.phase[1] = phase
        assert match.tick(started=(TRIP, -1)) == NOTHING
        match.moves.move[0] = STAMP
        assert match.tick(started=(STAMP, -1)) == HIT
        assert falls.phase[1] == phase, "who lies is not struck down again"
        match.moves.move[0] = TRIP


def test_who_guards_is_not_struck_down() -> None:
    match = Match(mine=TRIP, theirs=BLOCK)
    assert match.tick() == GUARDED
    assert match.state.falls.phase[1] == UP


def test_who_has_no_clip_for_it_stays_up() -> None:
    match = Match(mine=TRIP)
    match.state.falls.can_fall[:] = False
    assert match.tick() == HIT
    assert match.state.falls.phase[1] == UP
    assert match.state.stun[1] == SETTINGS.stun


@pytest.mark.parametrize(
    ("degrees", "side"), [(180, 0), (170, 0), (0, 1), (90, 3), (-90, 2), (100, 3)]
)
def test_the_beaten_fall_to_where_the_blow_sends_them(degrees: int, side: int) -> None:
    """The blow goes along z; onto the back 0, onto the front 1, left 2, right 3."""
    match = Match()
    match.state.energy[1] = 4
    match.headings[1] = math.radians(degrees)
    match.tick()
    assert match.state.falls.phase[1] == COLLAPSED
    assert match.state.falls.side[1] == side
    assert match.tick(started=(PUNCH, -1)) == NOTHING, "and is met by nothing more"


def test_two_attacks_at_once_both_hit() -> None:
    match = Match(theirs=PUNCH)
    match.gaps[:, 0] = -0.01
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
        ({"friendly": 1}, "friendly: int, expected bool"),
        ({"nearest_ticks": -1}, "nearest_ticks"),
        ({"nearest_share": 1.5}, "nearest_share"),
        ({"lie_ticks": 0}, "lie_ticks"),
        ({"rise_after": 0.5}, "rise_after"),
        ({"break_ticks": -2}, "break_ticks"),
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
