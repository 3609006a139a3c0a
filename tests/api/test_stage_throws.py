"""Throws on a stage."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.bench.played.faults import init_watch, look
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor
from flexor.scene.stage.settings import FightSettings
from flexor.scene.stage.structure import Structure
from flexor.stage.movement.layout import (
    BROKEN,
    GUARDED,
    HELD,
    LYING,
    NOTHING,
    THROWN,
    UP,
)
from flexor.stage.movement.parry import push_back
from tests.api.throwing import (
    BOTH,
    GRIP,
    LANDS,
    MOVES,
    cast_dict,
    fight,
    run,
    thrown_at,
    walker,
)


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
@pytest.mark.parametrize("late", [2, 5])
def test_who_comes_into_reach_late_is_thrown_in_step_and_lies(late: int) -> None:
    def come(stage: Stage, tick: int) -> None:
        if tick == GRIP + late:
            stage.places[1, 0] = stage.places[0, 0] + 0.95

    expected, phase = thrown_at(40, fight(), None)
    assert phase == LYING
    found, phase = thrown_at(40, fight(1.6), come)
    assert phase == LYING, "it is not on its feet where the throw ends"
    np.testing.assert_allclose(found, expected, atol=0.03)


@pytest.mark.slow
def test_who_is_thrown_while_its_time_runs_slower_is_in_step() -> None:
    """As somebody is who was parried."""

    def slow(stage: Stage, tick: int) -> None:
        stage.state.clocks[1] = 0.5

    expected, _ = thrown_at(55, fight())
    found, phase = thrown_at(55, fight(), slow)
    assert phase == LYING
    np.testing.assert_allclose(found, expected, atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("early", [GRIP - 6, GRIP + 2, GRIP + 5])
@pytest.mark.parametrize("buttons", ["B", "C", "A"])
def test_what_a_thrower_types_does_not_let_go(early: int, buttons: str) -> None:
    """A throw is carried out in the return phase of its move."""
    stage = fight()
    done = run(stage, GRIP + 90, {0: ["C", ""], early: [buttons, ""]})
    assert {red for red, _ in done[: GRIP + 84]} == {"throw"}
    assert stage.doing("blue") == "lie back"
    assert stage.energy.tolist() == [100, 75]
    stage = fight(3.0)  # who has nobody goes on to what it has typed
    done = run(stage, GRIP + 60, {0: ["C", ""], GRIP - 6: ["B", ""]})
    assert "punch" in {red for red, _ in done[: GRIP + 12]}


@pytest.mark.slow
@pytest.mark.parametrize(
    "clocks", [(1, 0.35), (0.3, 1), (0.7, 0.7), (2.5, 2.5), (1, 3)]
)
def test_a_throw_hurts_once_and_ends_whatever_clocks_do(
    clocks: tuple[float, float],
) -> None:
    """From the tick on in which it hurts, as after a blow that ends a round, or in
    turns of nine ticks.
    """
    stage, phases = fight(), [UP]
    for tick in range(400):
        turn = tick // 9 % 2 if clocks[0] != 1 else int(stage.energy[1] < 100)
        stage.state.clocks[:] = clocks[turn]
        stage.step(["C" if tick == 0 else "", ""])
        phase = int(stage.state.fight.falls.phase[1])
        phases += [phase] * (phase != phases[-1])
        if phase == LYING:
            break
    assert phases == [UP, HELD, LYING]
    assert stage.energy.tolist() == [100, 75]


@pytest.mark.slow
def test_who_runs_into_a_throw_does_not_glide_on() -> None:
    def run_in(stage: Stage, tick: int) -> None:
        if tick == GRIP:
            stage.state.velocities[1] = 0.0, 3.0

    expected, _ = thrown_at(30, fight())
    found, _ = thrown_at(30, fight(), run_in)
    np.testing.assert_allclose(found, expected, atol=0.08)


@pytest.mark.slow
def test_a_push_that_a_throw_has_ended_does_not_come_with_a_later_one() -> None:
    stage = fight()
    recoil = stage.state.fight.recoil

    def push(stage: Stage, tick: int) -> None:
        if tick == GRIP:
            push_back(recoil, 1, (0.0, 1.0), 1.0, 60)

    thrown_at(0, stage, push)
    before = stage.places[1].copy()
    push_back(recoil, 1, (0.0, 1.0), 0.2, 10)
    run(stage, 12, {})
    assert stage.places[1, 2] - before[2] == pytest.approx(0.2, abs=1e-9)


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
def test_who_has_no_clip_of_being_thrown_is_seen_to_be_hit() -> None:
    stage = fight(who=walker())
    stage.state.fight.struck[1] = GUARDED  # of a blow before
    done = run(stage, GRIP + 8, {0: ["C", ""]})
    assert {one for _, one in done} == {"stance", "hit"}
    assert stage.state.changed[1] == stage.state.fight.is_new[1] == 0
    stage = fight(who=walker())
    run(stage, GRIP, {0: ["C", ""]})
    stage.step()
    assert stage.state.fight.is_new[1], "its clip begins anew"


@pytest.mark.slow
def test_nobody_takes_hold_of_two_who_are_in_a_throw() -> None:
    cast = (
        *fight().plan.cast,
        Actor(name="green", place=(-1.4, 0), heading=math.pi / 2, opponent="red"),
    )
    stage = fight(cast=cast)
    for tick in range(GRIP + 40):
        stage.step(["C" if tick == 0 else "", "", "C" if tick == 8 else ""])
        assert stage.state.fight.falls.phase[0] == UP
        assert not stage.state.fight.is_throwing[2]


@pytest.mark.slow
def test_a_thrower_turns_to_whom_it_has_taken_hold_of() -> None:
    stage = fight()
    for tick in range(GRIP + 20):
        if tick <= GRIP:
            stage.headings[0] = math.pi / 2 + 0.6
        stage.step(["C" if tick == 0 else "", ""])
    assert stage.state.fight.falls.phase[1] == HELD
    assert stage.headings[0] == pytest.approx(math.pi / 2, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("high", [0.2, 0.5])
def test_nobody_is_thrown_from_another_level(high: float) -> None:
    ground = shape_ground((10, 10), 0.1, [Patch(area=(0.1, -5, 5, 5), height=high)])
    stage = fight(ground=ground)
    run(stage, GRIP + 4, {0: ["C", ""]})
    assert stage.state.standing.grounded.all()
    assert stage.places[1, 1] == pytest.approx(high)
    assert stage.state.fight.falls.phase[1] == (HELD if high < 0.35 else UP)


@pytest.mark.slow
def test_who_is_broken_off_throws_no_more_and_who_is_beaten_lets_go() -> None:
    stage = fight()
    run(stage, GRIP + 6, {0: ["C", ""], GRIP + 4: ["", "X"]})
    assert stage.state.fight.outcomes[0] == NOTHING
    assert stage.state.moves.move[0] == -1
    stage = fight()
    run(stage, GRIP + 10, {0: ["C", ""]})
    assert stage.state.fight.falls.phase[1] == HELD
    stage.energy[0] = 0
    run(stage, 2, {})
    assert stage.state.fight.falls.phase[1] == UP
    assert not stage.state.fight.is_throwing.any()
    assert stage.energy[1] == 100


@pytest.mark.slow
def test_who_is_thrown_goes_where_its_clip_does_seen_from_where_it_looks() -> None:
    """Also to the side: here by a centimetre more in each tick."""
    ends, turn = [], 2.0
    for more in (0.0, 0.01):
        stage = fight()
        thrown = cast_dict(stage.state.bodies[0].plan.thrown)
        ((number, own),) = thrown.items()
        way = own.way + np.outer(np.arange(len(own.way)) * more, (1, 0))
        thrown[number] = replace(own, way=way)
        s, c = math.sin(turn), math.cos(turn)
        stage.places[:, [0, 2]] = (0, 0), (0.95 * s, 0.95 * c)
        stage.headings[:] = turn, turn + math.pi
        run(stage, GRIP + 30, {0: ["C", ""]})
        ends.append(stage.places[1, [0, 2]].copy())
    left = math.cos(turn + math.pi), -math.sin(turn + math.pi)
    np.testing.assert_allclose(ends[1] - ends[0], np.multiply(left, 0.3), atol=0.01)
