"""Fights on a stage: hits, guards, parries, opponents, and who has won."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from flexor.scene.stage.moves import Height, Move, MoveTable
from flexor.scene.stage.plan import (
    Actor,
    WalkSettings,
)
from flexor.scene.stage.settings import FightSettings, ParrySettings
from flexor.stage.movement.layout import GUARDED, HIT, NOTHING, PARRIED
from tests.api.stage_play import (
    DT,
    MOVES,
    PUNCH_LANDS,
    fighters,
    node,
    play,
    run,
)

# Fights.


@pytest.mark.slow
def test_a_punch_hits_and_hurts() -> None:
    stage = play(fighters())
    done = run(stage, 60, {0: ["B", ""]})
    assert stage.energy.tolist() == [100, 88]
    assert [red for red, _ in done].count("punch") == 40
    first = [blue for _, blue in done].index("hit")
    assert PUNCH_LANDS <= first <= PUNCH_LANDS + 6, "while the hand can hit"
    stun = stage.plan.fight.stun
    assert [blue for _, blue in done][first : first + stun] == ["hit"] * stun
    assert done[-1] == ["stance", "stance"]
    assert stage.places[:, 0].tolist() == [-0.5, pytest.approx(0.8)], "and pushes"


@pytest.mark.slow
def test_a_punch_from_afar_misses() -> None:
    stage = play(fighters(apart=2.0))
    run(stage, 60, {0: ["B"]})
    assert stage.energy.tolist() == [100, 100]


@pytest.mark.slow
@pytest.mark.parametrize("phases", [(20, 7, 24), (16, 5, 19)])
def test_a_kick_that_spins_fast_passes_through_nobody(
    phases: tuple[int, int, int],
) -> None:
    """Its foot goes from one side of a body to the other within a tick."""
    kick = Move("kick", *phases, "spin-kick", parts=("rightFoot", "rightLowerLeg"))
    table = MoveTable((kick,), singles={"B": "kick"})
    for apart in np.arange(0.84, 1.44, 0.06).tolist():
        stage = play(fighters(apart=apart, moves=table))
        run(stage, 40, {0: ["B"]})
        assert stage.energy.tolist() == [100, 90], apart


@pytest.mark.slow
def test_a_guard_lets_a_part_through() -> None:
    stage = play(fighters())
    outcomes = []
    for tick in range(40):
        stage.step(["B" if tick == 0 else "", "A"])
        outcomes.append(int(stage.state.fight.outcomes[0]))
    assert outcomes.count(GUARDED) == 1
    assert outcomes.count(NOTHING) == 39
    assert stage.energy.tolist() == [100, pytest.approx(100 - 12 * 0.1)]
    assert stage.doing("blue") == "guard", "still held"
    stage = play(fighters())
    run(stage, 40, {0: ["B", "A"]})
    assert stage.energy[1] == 88, "a guard that was let go is none"


@pytest.mark.slow
@pytest.mark.parametrize("amount", [0.6, 0.25])
def test_a_parry_throws_the_attacker_back_in_slow_motion(amount: float) -> None:
    """Its own time runs at half the speed; that of the defender, whose hand meets the
    fist and who is free soon after, does not change.
    """
    parry = ParrySettings(amount=amount, ticks=40)
    plan = fighters(fight=FightSettings(parry=parry))
    stage = play(plan)
    script = {0: ["B", ""], PUNCH_LANDS - 6: ["", "X"]}
    places, clocks, outcomes, rates, doing = [], [], [], [], []
    for tick in range(90):
        stage.step(script.get(tick))
        places.append(stage.places.copy())
        clocks.append(stage.state.clocks.tolist())
        outcomes.append(int(stage.state.fight.outcomes[0]))
        rates.append(float(stage.state.bodies[0].player.speeds[0]))
        doing.append(stage.doing("blue"))
    assert outcomes.count(PARRIED) == 1
    assert stage.energy.tolist() == [100, 100]
    met = outcomes.index(PARRIED)
    assert clocks == [
        [0.5 if met <= tick < met + 40 else 1.0, 1.0] for tick in range(90)
    ]
    assert rates[met : met + 40] == [0.5] * 40
    assert doing[met : met + parry.rest] == ["parry"] * parry.rest
    assert doing[met + parry.rest + 1] == "stance", "and it is free"
    red = np.array(places)[:, 0]
    steps = np.diff(red[met : met + 41], axis=0)
    np.testing.assert_allclose(steps, [[-amount / 40, 0, 0]] * 40, atol=1e-12)
    np.testing.assert_allclose(red[-1] - red[0], [-amount, 0, 0], atol=1e-12)
    np.testing.assert_array_equal(np.array(places)[:, 1], [places[0][1]] * 90)
    assert stage.doing("red") == "stance"


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.8, 1.0])
@pytest.mark.parametrize("start", [6, 14, 45])
def test_a_parry_opens_the_attacker_whatever_the_moves_are(
    apart: float, start: int
) -> None:
    """The quickest move, pressed as soon as the parry is over, lands in time."""
    moves = tuple(
        replace(move, start=start, can_be_parried=None)
        if move.name == "punch"
        else move
        for move in MOVES.moves
        if move.name in ("punch", "parry")
    )
    table = MoveTable(moves, singles={"B": "punch", "X": "parry"})
    stage = play(fighters(apart=apart, moves=table))
    met, outcome = -1, NOTHING
    for tick in range(200):
        is_over = met >= 0 and stage.doing("blue") != "parry"
        red = "B" if tick == 30 or met >= 0 else ""
        blue = "X" if tick == 30 + start - 4 else "B" if is_over else ""
        stage.step([red, blue])
        if stage.state.fight.outcomes[0] == PARRIED:
            met = tick
        if met >= 0 and stage.state.fight.outcomes[1]:
            outcome = int(stage.state.fight.outcomes[1])
            break
        assert met < 0 or stage.doing("red") == "recoil", "it cannot act before"
    assert met > 0
    assert outcome == HIT


@pytest.mark.slow
def test_a_kick_is_not_parried() -> None:
    stage = play(fighters())
    run(stage, 50, {0: ["C", ""], 14: ["", "X"]})
    assert stage.energy[1] == 80


@pytest.mark.slow
def test_hits_count_on_whoever_is_in_the_way() -> None:
    cast = (
        Actor(name="red", heading=0.0, opponent="far", team="a"),
        Actor(name="far", place=(0, 3), team="b", opponent="none"),
        Actor(name="near", place=(0, 0.95), heading=math.pi, opponent="none"),
        Actor(name="behind", place=(0, -1), opponent="none"),
    )
    stage = play(fighters(cast=cast))
    run(stage, 40, {0: ["B"]})
    assert stage.energy.tolist() == [100, 100, 88, 100]
    for friendly in (False, True):
        mates = tuple(replace(actor, team="a") for actor in cast)
        stage = play(fighters(cast=mates, fight=FightSettings(friendly=friendly)))
        run(stage, 40, {0: ["B"]})
        assert stage.energy.tolist() == [100, 100, 88 if friendly else 100, 100]


@pytest.mark.slow
def test_who_recoils_does_nothing_else() -> None:
    stage = play(fighters())
    done = run(
        stage,
        70,
        {0: ["B", ""], 8: ["", "X"], **{tick: ["C+left"] for tick in range(20, 50)}},
    )
    red = [red for red, _ in done]
    assert red.count("recoil") == 40
    assert "kick" not in red, "held while it could not"


@pytest.mark.slow
def test_who_is_beaten_lies_and_the_other_has_won() -> None:
    stage = play(fighters())
    standing = node(stage, 1, "head")[1]
    run(stage, 30, {0: ["Z"]})
    assert stage.energy.tolist() == [100, 0]
    done = run(stage, 150, {tick: ["", "B+right"] for tick in range(0, 150, 3)})
    assert {blue for _, blue in done} == {"beaten back"}, "and does not get up"
    assert done[-1][0] == "won"
    assert node(stage, 1, "head")[1] < standing / 3
    assert not stage.asked[1].any()


@pytest.mark.slow
def test_who_has_no_pad_walks_if_told_to_and_not_if_beaten() -> None:
    cast = fighters().cast
    stage = play(fighters(cast=(cast[0], replace(cast[1], control="none"))))
    stage.asked[1] = -1.2, 0.0
    run(stage, 5)
    before = stage.places[1].copy()
    run(stage, 10)
    assert stage.places[1, 0] - before[0] == pytest.approx(10 * 1.2 * DT)
    assert stage.doing("blue") == "back"
    stage.asked[1] = 0
    run(stage, 180, {0: ["Z"]})
    assert stage.energy[1] == 0
    before = stage.places[1].copy()
    stage.asked[1] = -1.2, 0.0
    run(stage, 10)
    np.testing.assert_array_equal(stage.places[1], before)


@pytest.mark.slow
def test_the_next_opponent_is_the_nearest_who_can_fight() -> None:
    cast = (
        Actor(name="red", heading=0.0),
        Actor(name="blue", place=(0, 1), heading=math.pi),
        Actor(name="far", place=(0, -6), control="none"),
        Actor(name="near", place=(0, -1.2), control="none"),
    )
    stage = play(fighters(cast=cast))
    names = [actor.name for actor in cast]
    assert names[stage.opponents[0]] == "blue"
    run(stage, 60, {0: ["Z"]})
    assert stage.energy.tolist() == [100, 0, 100, 100]
    assert names[stage.opponents[0]] == "near"
    assert stage.doing("red") == "stance", "it has not won yet"
    assert abs(math.remainder(stage.headings[0] - math.pi, 2 * math.pi)) < 1e-6
    for _ in range(2):
        run(stage, 60, {0: ["Z"]})
        stage.places[2] = stage.places[0] + (0, 0, -1.1)  # brought near
    run(stage, 60)
    assert stage.energy.tolist() == [100, 0, 0, 0]
    assert stage.doing("red") == "won"


@pytest.mark.slow
def test_named_opponents_and_none() -> None:
    cast = (
        Actor(name="red", opponent="far"),
        Actor(name="blue", place=(1, 0), opponent="none"),
        Actor(name="far", place=(0, 9)),
    )
    stage = play(fighters(cast=cast))
    assert stage.opponents.tolist() == [2, -1, 0]


@pytest.mark.slow
def test_turning_is_no_faster_than_it_may_be() -> None:
    """Also when what is left is little: circling turns it the rest of the way."""
    turn = 4.0
    cast = (
        Actor(name="red", heading=-2.0),
        Actor(name="blue", place=(0, 2), control="none"),
    )
    stage = play(fighters(cast=cast, walking=WalkSettings(turn=turn)))
    before, steps = float(stage.headings[0]), []
    for _ in range(60):
        stage.step(["left"])
        steps.append(float(stage.headings[0]) - before)
        before = float(stage.headings[0])
    around = WalkSettings().side / 2 * DT * 1.1  # of who goes around
    assert max(map(abs, steps)) <= turn * DT + around
    assert sum(steps) > 1.5


# What goes on after a fight.


@pytest.mark.slow
def test_a_second_blow_is_seen_too() -> None:
    fight = FightSettings(stun=200)
    stage = play(fighters(fight=fight, moves=MoveTable(QUICK, singles={"B": "jab"})))
    voices = []
    for tick in range(80):
        stage.step(["B" if tick % 20 == 0 else "", ""])
        voices.append(stage.state.bodies[0].player._acts)
        stage.places[1, 0] = 0.5  # it is not pushed away
    assert stage.energy[1] < 100 - 2 * 3
    starts = np.diff(voices)
    assert np.count_nonzero(starts) >= 2 * 3, "jabs and as many that are hit"
    assert stage.doing("blue") == "hit"


QUICK = (Move("jab", 5, 4, 9, clip="punch", parts=("rightHand",), damage=3),)


@pytest.mark.slow
def test_who_gets_up_again_is_fought_again() -> None:
    stage = play(fighters())
    stage.energy[1] = 0
    run(stage, 30)
    assert [stage.doing(row) for row in range(2)] == ["won", "beaten"]
    stage.energy[1] = 50
    run(stage, 30)
    assert [stage.doing(row) for row in range(2)] == ["stance", "stance"]
    assert stage.opponents.tolist() == [1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("height", ["high", "mid"])
def test_high_attacks_pass_over_who_crouches(height: Height) -> None:
    """As long as the button is held, and by the rule alone: its clip stands."""
    moves = (
        Move("punch", 14, 6, 20, parts=("rightHand",), damage=12, height=height),
        Move("crouch", 4, 1, 6, clip="stance", kind="crouch"),
    )
    table = MoveTable(moves, singles={"B": "punch", "A": "crouch"})
    stage = play(fighters(moves=table))
    done = run(stage, 50, {tick: ["B" if tick == 5 else "", "A"] for tick in range(50)})
    if height == "high":
        assert [blue for _, blue in done] == ["crouch"] * 50
    assert stage.energy.tolist() == [100, 100 if height == "high" else 88]


@pytest.mark.slow
def test_who_answers_a_parry_turns_to_who_is_open() -> None:
    """Also if it fights somebody else."""
    aside = math.radians(40)
    place = (0.9 * math.sin(aside), 0.9 * math.cos(aside))
    cast = (
        Actor(name="red", place=place, heading=aside + math.pi, opponent="blue"),
        Actor(name="blue", opponent="green"),
        Actor(name="green", place=(0, 3), opponent="none", control="none"),
    )
    stage = play(fighters(cast=cast))
    outcomes, met = [], -1
    for tick in range(120):
        is_over = met >= 0 and stage.doing("blue") != "parry"
        red = "B" if tick == 0 else ""
        blue = "X" if tick == PUNCH_LANDS - 6 else "B" if is_over else ""
        stage.step([red, blue, ""])
        if stage.state.fight.outcomes[0] == PARRIED:
            met = tick
        outcomes.append(int(stage.state.fight.outcomes[1]))
        if stage.doing("blue") == "punch":
            way = stage.places[0] - stage.places[1]
            turn = math.atan2(way[0], way[2]) - float(stage.headings[1])
            assert abs(math.remainder(turn, math.tau)) < 0.1
    assert met > 0
    assert HIT in outcomes


@pytest.mark.slow
def test_a_parry_after_one_that_was_broken_off_lasts_as_long_as_any() -> None:
    stage = play(fighters())
    run(stage, 5)
    stage.state.fight.has_parried[1] = stage.state.fight.is_parried = True
    done = run(stage, 60, {3: ["", "X"]})
    (parry,) = (move for move in MOVES.moves if move.name == "parry")
    assert [blue for _, blue in done].count("parry") == parry.total


@pytest.mark.slow
def test_whom_a_program_beats_in_a_move_does_no_more_of_it() -> None:
    stage = play(fighters())
    run(stage, PUNCH_LANDS - 2, {0: ["B", ""]})
    stage.energy[0] = 0
    done = run(stage, 40)
    assert {red for red, _ in done} == {"beaten"}
    assert (stage.state.moves.move == -1).all()
    assert stage.energy.tolist() == [0, 100]
