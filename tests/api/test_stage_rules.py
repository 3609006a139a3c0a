"""Rules of a stage together: their order, who walks, turns, wins and is lifted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground import flat_ground, make_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, CameraRule, Rule, StagePlan, WalkSettings
from flexor.scene.stage.settings import FightSettings, ParrySettings
from flexor.scene.stage.structure import Structure
from flexor.stage.movement.layout import PARRIED
from flexor.stage.movement.parry import push_back
from tests.api.stage_play import (
    DT,
    MOVES,
    PUNCH_LANDS,
    RING,
    fighters,
    play,
    run,
    strike,
)
from tests.api.stage_runs import cliff, go, runner

# The order of a tick.

ORDER = (
    "falls",
    "moves",
    "pads",
    "circling",
    "slopes",
    "recoil",
    "apart",
    "zones",
    "steps",
    "standing",
    "attack",
    "motion",
    "effects",
    "camera",
    "view",
)


@pytest.mark.slow
def test_rules_come_in_their_order_and_none_is_there_for_nothing() -> None:
    pillar = Structure(name="pillar", middle=(3, 3), radius=0.3)
    snow = EffectPlan(snow=10)
    whole = fighters(
        ground=cliff(2.0), zones=(RING,), structures=(pillar,), effects=snow
    )
    assert tuple(name for name, _ in play(whole).state.rules) == ORDER
    for more, missing in (
        ({"ground": flat_ground()}, {"slopes", "steps"}),
        ({"ground": cliff(0.15)}, {"steps"}),
        ({"walking": WalkSettings(step=3.0)}, {"steps"}),
        ({"zones": (), "structures": ()}, {"zones", "view"}),
        ({"effects": EffectPlan()}, {"effects"}),
        ({"moves": MoveTable(())}, {"falls", "moves", "recoil", "attack"}),
        ({"cast": whole.cast[:1]}, {"apart"}),
    ):
        names = [name for name, _ in play(replace(whole, **more)).state.rules]  # type: ignore[arg-type]
        assert names == [name for name in ORDER if name not in missing]


# Who walks, and who is in the way.


@pytest.mark.slow
@pytest.mark.parametrize("button", ["B", "C", "A"])
def test_who_is_in_a_move_does_not_walk(button: str) -> None:
    stage = play(fighters(apart=6.0))
    total = {"B": 40, "C": 58, "A": 18}[button]
    places = []
    for tick in range(total + 20):
        stage.step([button + "+right" if tick == 0 else "right"])
        places.append(stage.places[0, 0])
    assert np.ptp(places[:total]) == 0
    assert places[-1] > places[0] + 0.2
    other = runner(moves=MOVES)
    other.asked[0] = 1.0, 0.0
    for tick in range(40):
        other.step([button if tick == 0 else ""])
        if tick < 18:
            assert other.places[0, 0] == 0, "nor who is told to"
    if button == "A":
        assert other.places[0, 0] > 0.2


@pytest.mark.slow
def test_who_is_in_the_air_goes_on_and_does_not_walk() -> None:
    stage = play(fighters(apart=6.0))
    stage.places[0, 1] = 3.0
    stage.state.standing.grounded[0] = False
    start = stage.places[0, 0]
    for _ in range(100):
        is_up = not stage.state.standing.grounded[0]
        stage.step(["right"])
        if is_up:
            assert stage.places[0, 0] == start
    assert stage.places[0, 0] > start, "and then goes on"
    sheer = np.where(np.arange(300) * 0.02 > 3, -3.0, 0.0)
    ground = make_ground(np.tile(sheer, (2, 1)), (-2, -0.01), 0.02)
    for asked in (2.0, 0.0):
        told = runner(ground)
        seen = go(told, 2.0, 0.0, 30)
        seen = np.concatenate([seen, run_on(told, asked, 60)])
        falling = (seen[:-1, 1] < 0) & (seen[:-1, 1] > -3)
        assert falling.sum() > 10
        ways = np.diff(seen[:, 0])[falling]
        np.testing.assert_allclose(ways, 2 / 60, rtol=2e-3)
        assert (np.diff(seen[-5:, 0]) > 0).all() == (asked > 0), "friction again"


def run_on(stage: Stage, asked: float, ticks: int) -> Any:
    """Places (ticks, 3) of the first one, who asks for another speed."""
    stage.asked[0] = asked, 0.0
    seen = []
    for _ in range(ticks):
        stage.step()
        seen.append(stage.places[0].copy())
    return np.array(seen)


@pytest.mark.slow
def test_who_lies_is_in_nobodys_way() -> None:
    stage = play(fighters(apart=1.5))
    stage.energy[1] = 0
    stage.step()
    before = stage.places[1].copy()
    nearest = math.inf
    run(stage, 60)
    stage.state.controls[0] = 1  # free: it has no opponent to stop at
    for _ in range(150):
        stage.step(["right"])
        nearest = min(nearest, math.dist(stage.places[0], stage.places[1]))
    assert nearest < 0.05
    np.testing.assert_array_equal(stage.places[1], before)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [1.0, 2.5, 4.0])
@pytest.mark.parametrize("speed", [1.1, 3.0, 9.9])
def test_ten_turns_around_an_opponent(speed: float, radius: float) -> None:
    """The distance does not drift, whatever the camera does meanwhile."""
    cast = (
        Actor(name="red", place=(-radius, 0), heading=math.pi / 2),
        Actor(name="blue", control="none", heading=0.0),
    )
    plan = StagePlan(cast=cast, walking=WalkSettings(side=speed))
    stage = play(plan)
    angles, away = [0.0], []
    ticks = math.ceil(10 * 2 * math.pi * radius / speed / DT) + 30
    if speed / radius >= 3:
        ticks *= 4  # the camera comes to be on the other side, and directions turn
    for _ in range(ticks):
        stage.step(["up"])
        x, _, z = stage.places[0] - stage.places[1]
        away.append(math.hypot(x, z))
        angles.append(math.atan2(z, x))
    turned = np.diff(np.unwrap(angles[1:]))
    assert np.abs(turned).sum() > 10 * 2 * math.pi * 0.99
    if speed / radius < 3:
        assert (np.sign(turned) == np.sign(turned[0])).all()
    assert max(away) <= 1.01 * radius
    assert min(away) >= 0.99 * radius


# Who has won, and whom one fights.


@pytest.mark.slow
def test_a_lone_one_has_not_won() -> None:
    stage = play(StagePlan(cast=(Actor(name="one"),), moves=MOVES))
    run(stage, 5)
    assert not stage.state.has_won.any()
    assert stage.doing("one") == "stance"
    assert stage.opponents.tolist() == [-1]


def trio() -> Stage:
    """Red fights far, whoever is near."""
    cast = (
        Actor(name="red", opponent="far"),
        Actor(name="blue", place=(1, 0), control="none"),
        Actor(name="far", place=(0, 9), control="none", opponent="red"),
    )
    return play(fighters(cast=cast))


@pytest.mark.slow
def test_who_beats_its_named_opponent_has_won() -> None:
    stage = trio()
    stage.energy[1] = 0
    run(stage, 2)
    assert not stage.state.has_won.any(), "another is none of its business"
    assert stage.opponents.tolist() == [2, 0, 0]
    stage.energy[2] = 0
    run(stage, 2)
    assert stage.state.has_won.tolist() == [True, False, False]
    assert stage.opponents[0] == 2, "it is still its own"
    stage.energy[2] = 10
    run(stage, 2)
    assert not stage.state.has_won.any()


@pytest.mark.slow
def test_one_goes_back_to_its_named_opponent() -> None:
    stage = trio()
    stage.opponents[0] = 1  # for a while
    run(stage, 5)
    assert stage.opponents[0] == 1
    stage.energy[1] = 0
    run(stage, 2)
    assert stage.opponents[0] == 2
    assert not stage.state.has_won[0]


@pytest.mark.slow
def test_the_dead_do_not_win() -> None:
    stage = trio()
    stage.energy[[0, 2]] = 0
    run(stage, 3)
    assert not stage.state.has_won[[0, 2]].any()
    assert [stage.doing(name) for name in ("red", "far")] == ["beaten", "beaten"]
    pair = play(fighters())
    pair.energy[:] = 0
    run(pair, 3)
    assert not pair.state.has_won.any()


# Blows.


@pytest.mark.slow
def test_nothing_is_lifted_of_an_attacker_in_the_air() -> None:
    level, _, _ = strike(0.0, "B", "rightHand")
    ground = shape_ground((10, 10), 0.1)
    stage = play(fighters(1.1, ground=ground))
    stage.places[0, 1] += 40.0
    body = stage.state.bodies[0]
    column = list(body.plan.limbs).index("rightHand")
    seen = []
    for tick in range(62):
        stage.step(["B" if tick == 0 else ""])
        assert not body.lifts.any()
        end = body.world.matrices[0, body.ends[column], :, 3]
        seen.append(end - stage.places[0])
    assert not stage.state.standing.grounded[0]
    np.testing.assert_allclose(np.array(seen)[:40], level[:40], atol=1e-4)


CUT = MoveTable(
    (
        Move("punch", 14, 6, 20, parts=("rightHand",)),
        Move("kick", 20, 8, 30, parts=("rightFoot",)),
    ),
    singles={"B": "punch", "C": "kick"},
    combinations=(Combination("one two", "X", read_commands("B:15 B:15 C:21 B")),),
)


@pytest.mark.slow
def test_a_lift_does_not_snap_where_a_combination_cuts_a_move() -> None:
    seen = []
    for high in (0.0, 0.15):
        patch = Patch(area=(0.1, -5, 5, 5), height=high)
        ground = shape_ground((10, 10), 0.1, [patch])
        stage = play(fighters(1.6, ground=ground, moves=CUT))
        body = stage.state.bodies[0]
        places, moves = [], []
        for tick in range(120):
            stage.step(["X" if tick == 0 else ""])
            places.append(body.world.matrices[0, body.ends, :, 3].copy())
            moves.append(stage.doing("red"))
        assert moves[:52] == ["punch"] * 30 + ["kick"] * 21 + ["punch"]
        seen.append(np.array(places))
    lifts = (seen[1] - seen[0])[..., 1]
    assert lifts.max() > 0.1, "it is lifted"
    assert np.abs(np.diff(lifts, axis=0)).max() < 0.05
    assert np.abs(lifts[-5:]).max() < 1e-3


@pytest.mark.slow
def test_a_second_push_adds_up_and_slow_motion_lasts_its_own_time() -> None:
    """Who recoils from a parry is pushed aside meanwhile: both come to all they are."""
    parry = ParrySettings(amount=0.6, ticks=40)
    stage = play(fighters(fight=FightSettings(parry=parry)))
    start, met, clocks = stage.places[0].copy(), -1, []
    for tick in range(110):
        stage.step({0: ["B", ""], PUNCH_LANDS - 6: ["", "X"]}.get(tick))
        clocks.append(float(stage.state.clocks[0]))
        if stage.state.fight.outcomes[0] == PARRIED:
            met = tick
        if met >= 0 and tick == met + 10:
            push_back(stage.state.fight.recoil, 0, (0.0, 1.0), 0.3, 12)
    assert met > 0
    way = stage.places[0] - start
    np.testing.assert_allclose(way, [-0.6, 0, 0.3], atol=1e-9)
    assert clocks == [0.5 if met <= tick < met + 40 else 1.0 for tick in range(110)]


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["side", "behind"])
@pytest.mark.parametrize("held", ["up", "down", "left", "right", "up+left"])
def test_one_alone_walks_and_does_not_turn_on_the_spot(held: str, rule: Rule) -> None:
    own = Actor(name="one", control="free", opponent="none")
    stage = play(StagePlan(cast=(own,), camera=CameraRule(rule=rule)))
    turned = walked = 0.0
    for _ in range(120):
        place, heading = stage.places[0].copy(), float(stage.headings[0])
        stage.step(held)
        walked += math.dist(stage.places[0], place)
        turned += abs(math.remainder(stage.headings[0] - heading, 2 * math.pi))
    speed = stage.plan.walking.walk
    assert walked > 2 * speed - 0.5, "but for the time in which it turns"
    assert turned < 2 * math.pi
    if rule == "side":
        assert math.dist(stage.places[0], (0, 0, 0)) == pytest.approx(walked, abs=0.1)


@pytest.mark.slow
def test_who_is_held_by_a_wall_does_not_walk_on_the_spot() -> None:
    """The clip goes as far as its character: along a wall slower, against it not."""
    own = Actor(name="one", heading=math.pi / 2, control="none", opponent="none")
    stage = play(StagePlan(cast=(own,), zones=(RING,)))
    free = run_rates(stage, (1.2, 0), 60)
    assert np.ptp(free[5:]) == 0, "nothing is in its way"
    assert (np.diff(free[:5]) >= 0).all(), "it speeds up"
    run_rates(stage, (1.2, 0), 200)
    assert stage.doing(0) == "stance"
    assert stage.state.velocities[0, 0] == 0, "it has no speed that it would go on with"
    stage.headings[0] = math.pi / 4  # half of it is along the wall
    slower = run_rates(stage, (1.2, 0), 60)
    assert stage.doing(0) == "walk"
    np.testing.assert_allclose(slower[10:], free[-1] * math.sqrt(0.5), rtol=0.01)


def run_rates(stage: Stage, asked: tuple[float, float], ticks: int) -> list[float]:
    stage.asked[0] = asked
    rates = []
    for _ in range(ticks):
        stage.step()
        rates.append(float(stage.state.rates[0]))
    return rates
