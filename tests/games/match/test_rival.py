"""Opponents: what they do about others, on the arena's stage."""

from __future__ import annotations

import numpy as np
import pytest

from flexor import samples
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.bench.played.mashing import BUTTONS, play_mashing
from flexor.bench.played.matches import arena_stage
from flexor.games.match.rival import Rival
from flexor.scene.stage.game import Skill
from flexor.scene.stage.moves import button_mask
from flexor.stage.movement.layout import GUARDED, HIT, NOTHING, PARRIED

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]


@pytest.fixture(scope="module")
def hero() -> Character:
    return samples.fighter()


def facing(hero: Character, apart: float) -> Stage:
    stage = arena_stage(hero)
    stage.places[:] = [[-apart / 2, 0, 0], [apart / 2, 0, 0]]
    for _ in range(10):
        stage.step()
    return stage


def test_it_loses_to_nobody_who_mashes_one_button(hero: Character) -> None:
    """The tool `tools.match --mash` plays a hundred."""
    own = play_mashing(hero, len(BUTTONS))
    assert own.played == len(BUTTONS)
    assert own.won <= 1


def test_it_strikes_back_at_once_when_it_is_hit(hero: Character) -> None:
    """Before one who strikes again and again can do so again."""
    landed = []
    for seed in range(6):
        stage = facing(hero, 0.8)
        rival = Rival(1, seed, "high")
        was_hit = -1
        for tick in range(75):
            held = button_mask("B") if tick % 7 < 3 else 0
            if was_hit < 0:
                rival.press(stage)  # it only looks on until then
            stage.step([held, rival.press(stage) if was_hit >= 0 else 0])
            outcomes = stage.state.fight.outcomes
            if outcomes[0] == HIT and was_hit < 0:
                was_hit = tick
            if outcomes[1] == HIT:
                landed.append(tick - was_hit)
                break
    assert len(landed) >= 4
    assert max(landed) < 54, "the time of a whole punch"


@pytest.mark.parametrize("skill", ["low", "middle", "high"])
def test_what_it_sees_is_old(hero: Character, skill: Skill) -> None:
    """Nothing that happens changes what it does before its delay is over."""
    told = []
    for attack in ("", "C"):
        stage = facing(hero, 1.0)
        rival, held = Rival(1, 3, skill), []
        for tick in range(min(rival.traits.delay, 20)):  # a kick is felt later
            held.append(rival.press(stage))
            stage.step([button_mask(attack) if attack and tick < 4 else 0, 0])
        told.append(held)
    assert told[0] == told[1]


def test_the_same_seed_plays_the_same(hero: Character) -> None:
    hashes = []
    for seed in (4, 4, 5):
        stage = arena_stage(hero)
        rivals = [Rival(row, seed, "middle") for row in range(2)]
        for _ in range(240):
            stage.step([rival.press(stage) for rival in rivals])
        hashes.append(stage.hash())
    assert hashes[0] == hashes[1] != hashes[2]


def test_it_guards_or_parries_who_always_does_the_same(hero: Character) -> None:
    """One who kicks or punches as soon as it can, against one who only defends."""
    stage = facing(hero, 0.8)
    rival = Rival(1, 1, "high")
    outcomes = []
    for tick in range(1500):
        if tick % 90 == 0:
            stage.places[:, [0, 2]] = [[-0.4, 0], [0.4, 0]]
        stage.energy[:] = 100
        own = button_mask("B") if tick % 7 < 3 else 0
        held = rival.press(stage)
        rival._attacks.clear()  # it has none
        stage.step([own, held])
        came = int(stage.state.fight.outcomes[0])
        if came != NOTHING:
            outcomes.append(came)
    late = np.array(outcomes[3:])
    assert len(late) > 10
    assert np.isin(late, (GUARDED, PARRIED)).mean() > 0.5
    assert (late == PARRIED).any()


def test_what_it_holds_is_let_go_when_it_is_hit(hero: Character) -> None:
    stage = facing(hero, 0.8)
    rival = Rival(1, 0, "low")
    rival.press(stage)
    for tick in range(40):
        rival._hold(button_mask("R"), 100)
        held = rival.press(stage)
        if stage.state.fight.outcomes[0] == HIT:
            assert held != button_mask("R")
            return
        stage.step([button_mask("B") if tick < 3 else 0, 0])
    raise AssertionError("it was not hit")


def test_who_goes_away_goes_away(hero: Character) -> None:
    for way, sign in (("away", 1), ("toward", -1), ("run", -1)):
        stage = facing(hero, 2.0)
        rival = Rival(1, 0, "low")
        rival.press(stage)
        for _ in range(20):
            rival._go(way, 5)
            stage.step([0, rival._way(stage, 0)])
        assert sign * (stage.places[1, 0] - 1.0) > 0.1
