"""Throws, knock-downs and getting up on a stage."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.bench.played.faults import init_watch, look
from flexor.samples import fighter
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.scene.stage.settings import FightSettings
from flexor.scene.stage.structure import Structure
from flexor.stage.movement.layout import BROKEN, HELD, LYING, THROWN, UP

GRIP, LANDS = 17, 80  # ticks of the throw
MOVES = MoveTable(
    (
        Move("punch", 14, 6, 20, parts=("rightHand",), damage=12, push=0.3),
        Move("throw", GRIP, 6, 79, kind="throw", damage=25, reach=1.1),
        Move("trip", 20, 6, 30, "low-kick", parts=("rightFoot",), knocks_down=True),
        Move("guard", 2, 10, 6, kind="guard"),
        Move("parry", 4, 14, 10, kind="parry"),
        Move("crouch", 4, 1, 6, kind="crouch"),
        Move("jump", 4, 40, 10, kind="jump"),
    ),
    singles={
        "B": "punch",
        "C": "throw",
        "Z": "trip",
        "A": "guard",
        "X": "parry",
        "L": "crouch",
        "Y": "jump",
    },
)


BOTH = Combination("throw and punch", "R", read_commands("C:120 B:40"))


@functools.cache
def hero() -> Character:
    return fighter()


@functools.cache
def walker() -> Character:
    """One that can stand and walk and do its moves, and nothing else."""
    kept = ("stance", "walk", *{move.clip for move in MOVES.moves})
    own = {name: hero().clips[name] for name in kept}
    return Character(replace(hero().scene, clips=own))


def fight(apart: float = 0.95, who: Character | None = None, **more: Any) -> Stage:
    """Red and blue, face to face along x."""
    cast = (
        Actor(name="red", place=(-apart / 2, 0), heading=math.pi / 2),
        Actor(name="blue", place=(apart / 2, 0), heading=-math.pi / 2),
    )
    plan = StagePlan(**{"cast": cast, "moves": MOVES, **more})
    return Stage(plan, characters={"mannequin": who or hero()})


def run(stage: Stage, ticks: int, script: dict[int, Any]) -> list[list[str]]:
    done = []
    for tick in range(ticks):
        stage.step(script.get(tick))
        done.append([stage.doing(row) for row in range(len(stage))])
    return done


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.8, 0.95, 1.08])
def test_a_throw_carries_the_other_over_and_puts_it_on_its_back(apart: float) -> None:
    stage, hands, waist = fight(apart), [], []
    watch = init_watch(stage)
    for tick in range(150):
        stage.step(["C", "A"] if tick == 0 else ["", "A"])  # a guard does not help
        look(watch)
        falls = stage.state.fight.falls
        if tick == GRIP:
            assert falls.phase.tolist() == [UP, HELD]
            assert stage.state.fight.outcomes[0] == THROWN
            assert stage.doing("blue") == "thrown"
        if GRIP + 10 <= tick < GRIP + 30:
            body = stage.state.bodies[0]
            names = stage.state.bodies[0].plan.layout.skeleton.names
            wrist = body.world.matrices[0, names.index("r-wrist"), :, 3]
            hips = body.world.matrices[1, names.index("hips"), :, 3]
            hands.append(wrist.copy())
            waist.append(hips.copy())
        if tick < LANDS - 5:
            assert stage.energy[1] == 100, "it hurts when it lands"
    gaps = np.linalg.norm(np.array(hands) - waist, axis=1)
    assert gaps.max() < 0.35, "hands are on the other's body"
    assert watch.found.deepest_limb < 0.05, "and not in it"
    assert stage.energy.tolist() == [100, 75]
    assert falls.phase[1] == LYING
    assert stage.doing("blue") == "lie back"
    assert stage.places[1, 0] < stage.places[0, 0] - 1.0, "behind the thrower"
    head = names.index("head")
    assert body.world.matrices[1, head, 1, 3] < 0.4
    assert stage.doing("red") == "stance"


@pytest.mark.slow
def test_who_throws_does_nothing_else_until_it_has_let_go() -> None:
    stage = fight()
    for tick in range(120):
        stage.step(["C" if tick % 5 == 0 else "", ""])
        if tick == GRIP:
            assert stage.state.fight.is_throwing.tolist() == [True, False]
        if stage.state.fight.is_throwing[0]:
            assert stage.state.moves.at[0] == tick, "it is not begun again"
    assert stage.energy.tolist() == [100, 75]


@pytest.mark.slow
def test_who_is_taken_hold_of_from_aside_is_thrown_as_from_in_front() -> None:
    ends = []
    for turn in (0.0, 1.4, -1.4):
        stage = fight()
        run(stage, GRIP - 2, {0: ["C", ""]})
        stage.opponents[1] = -1  # it looks elsewhere
        stage.headings[1] += turn
        while stage.state.fight.falls.phase[1] != LYING:
            stage.step()
        ends.append(stage.places[1].copy())
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "script"),
    [
        ("out of reach", {}),
        ("behind", {}),
        ("in a jump", {8: ["", "Y"]}),
        ("crouching", {tick: ["", "L"] for tick in range(1, 60)}),
        ("behind a wall", {}),
        ("higher", {}),
        ("a team mate", {}),
    ],
)
def test_who_cannot_be_taken_hold_of(case: str, script: dict[int, Any]) -> None:
    more: dict[str, Any] = {}
    if case == "behind a wall":
        wall = Structure(name="w", ends=((0, -3), (0, 3)), thickness=0.1, high=0.4)
        more = {"structures": (wall,)}
    if case == "a team mate":
        mates = tuple(replace(actor, team="a") for actor in fight().plan.cast)
        more = {"cast": mates}
    stage = fight(1.3 if case == "out of reach" else 0.95, **more)
    if case == "behind a wall":
        stage.places[:, 0] = -0.45, 0.45
    if case == "behind":
        stage.headings[0] += math.pi
    for tick in range(70):
        if case == "behind":
            stage.headings[0] = -math.pi / 2
        if case == "higher":
            stage.places[1, 1] = 0.5
        buttons = script.get(tick, ["", ""])
        stage.step(["C" if tick == 0 else buttons[0], buttons[1]])
        assert stage.state.fight.falls.phase[1] == UP
    assert stage.energy[1] == 100


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.62, 0.8, 1.0])
def test_arms_of_the_two_neither_flail_nor_jump_when_hands_let_go(apart: float) -> None:
    stage, before = fight(apart), None
    (body,) = stage.state.bodies
    names = body.plan.layout.skeleton.names
    nodes = [
        names.index(f"{side}-{part}") for side in "lr" for part in ("elbow", "wrist")
    ]
    fastest = 0.0
    for tick in range(130):
        stage.step(["C", ""] if tick == 0 else None)
        now = body.world.matrices[:, nodes][..., 3] - stage.places[:, None]
        if before is not None:
            fastest = max(fastest, float(np.linalg.norm(now - before, axis=2).max()))
        before = now
    assert stage.state.fight.falls.phase[1] == LYING
    assert fastest < 0.36, "metres in a tick"


@pytest.mark.slow
def test_a_throw_of_nobody_comes_back_soon_and_ends_its_combination() -> None:
    moves = replace(MOVES, combinations=(BOTH,))
    stage = fight(1.6, moves=moves)
    (body,) = stage.state.bodies
    hand = body.plan.layout.skeleton.names.index("r-wrist")
    highest, done = 0.0, []
    for tick in range(90):
        stage.step(["R", ""] if tick == 0 else None)
        highest = max(highest, float(body.world.matrices[0, hand, 1, 3]))
        done.append(stage.doing("red"))
    missed = stage.plan.fight.miss_ticks
    assert done[GRIP : GRIP + 6 + missed - 1] == ["throw"] * (5 + missed)
    assert set(done[GRIP + 6 + missed + 2 :]) == {"stance"}, "no punch follows"
    assert highest < 1.6, "nobody is thrown over its head"


@pytest.mark.slow
def test_a_parry_pressed_soon_breaks_a_throw_and_later_does_not() -> None:
    for late, is_broken in ((4, True), (FightSettings().break_ticks + 5, False)):
        stage = fight()
        outcomes = []
        for tick in range(120):
            stage.step({0: ["C", ""], GRIP + late: ["", "X"]}.get(tick))
            outcomes.append(int(stage.state.fight.outcomes[0]))
        assert (BROKEN in outcomes) == is_broken
        assert stage.energy[1] == (100 if is_broken else 75)
        if is_broken:
            assert math.dist(*stage.places[:, [0, 2]]) > 0.95, "they are pushed apart"
            assert [stage.doing(row) for row in range(2)] == ["stance", "stance"]


@pytest.mark.slow
def test_two_throws_at_once_break_each_other() -> None:
    stage = fight()
    run(stage, GRIP + 1, {0: ["C", "C"]})
    assert stage.state.fight.outcomes.tolist() == [BROKEN, BROKEN]
    run(stage, 100, {})
    assert stage.energy.tolist() == [100, 100]


@pytest.mark.slow
def test_a_wall_stops_who_is_thrown() -> None:
    wall = Structure(name="w", ends=((-1.3, -3), (-1.3, 3)), thickness=0.1)
    stage = fight(structures=(wall,))
    run(stage, 140, {0: ["C", ""]})
    assert stage.energy[1] == 75
    assert stage.places[1, 0] > -1.3 + 0.04 + stage.state.radii[1]


@pytest.mark.slow
def test_who_is_struck_down_is_in_nobodys_way_gets_up_and_kicks() -> None:
    stage = fight()
    done = run(stage, 90, {0: ["Z", ""]})
    blue = [one for _, one in done]
    assert blue.index("down back") < blue.index("lie back")
    assert stage.energy[1] == 90
    hit = run(stage, 40, {0: ["B", ""]})
    assert stage.energy[1] == 90, "ordinary moves pass over it"
    assert all(one == "lie back" for _, one in hit[:10])
    stage.places[0] = stage.places[1]
    stage.step()
    assert (stage.places[0] == stage.places[1]).all(), "one may stand where it lies"
    stage.places[0] -= (1.5, 0, 0)
    done = run(stage, 110, {0: ["", "Z"]})
    blue = [one for _, one in done]
    assert "rise back" in blue
    after = blue[blue.index("rise back") :]
    assert next(one for one in after if one != "rise back") == "trip", "at once"


@pytest.mark.slow
def test_from_behind_one_falls_on_its_front() -> None:
    stage = fight(0.75)
    for tick in range(60):
        stage.headings[1] = math.pi / 2
        stage.step(["Z" if tick == 0 else "", ""])
    assert stage.doing("blue") == "down front"


@pytest.mark.slow
def test_who_has_no_clips_for_it_still_plays() -> None:
    stage = fight(who=walker())
    done = run(stage, 100, {0: ["Z", ""]})
    assert {one for _, one in done} == {"stance", "hit"}
    done = run(stage, 120, {0: ["C", ""]})
    assert stage.energy[1] < 90, "a throw hits it where it stands"
    assert np.isfinite(stage.places).all()
    stage.energy[1] = 3
    stage.places[:, 0] = -0.4, 0.4
    run(stage, 100, {0: ["B", ""]})
    assert stage.doing("blue") == "beaten back"
