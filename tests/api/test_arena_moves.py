"""The arena's own moves, played against somebody who stands still."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.stage import Stage
from flexor.stage.movement.layout import GUARDED, HIT, THROWN

ARENA = Path(flexor.__file__).parent / "samples" / "arena" / "arena.toml"


@pytest.fixture(scope="module")
def arena() -> Stage:
    return Stage(ARENA)


def stand(stage: Stage, apart: float) -> None:
    """Two on the middle of the ring, who have stood for a moment."""
    stage.restart()
    stage.places[:, 0] = [-apart / 2, apart / 2]
    stage.places[:, 2] = 0.8
    for _ in range(10):
        stage.step()


def play(
    stage: Stage, held: str, apart: float, ticks: int, who: int = 0
) -> tuple[list[str], int]:
    """Which moves begin as buttons are pressed that far away, and how many hit."""
    stand(stage, apart)
    state = stage.state
    began, hits = [], 0
    for tick in range(ticks):
        pads = ["", ""]
        pads[who] = held if tick < 4 else ""
        stage.step(pads)
        if state.started[who] >= 0:
            began.append(state.tables.moves[state.started[who]].name)
        hits += int(state.fight.outcomes[who] == HIT)
    return began, hits


@pytest.mark.parametrize("apart", [0.95, 1.1])
@pytest.mark.parametrize(
    ("held", "moves"),
    [
        ("X", ["punch", "punch", "kick"]),
        ("C+X", ["low-kick", "punch", "spin-kick"]),
    ],
)
def test_combinations_land_all_their_blows(
    arena: Stage, held: str, moves: list[str], apart: float
) -> None:
    """What a blow pushes the other back by leaves it within reach of the next one."""
    assert play(arena, held, apart, 95) == (moves, len(moves))


@pytest.mark.parametrize(
    ("held", "move"), [("A+C", "low-kick"), ("A+B", "throw"), ("A+Z", "crouch")]
)
def test_moves_of_the_arena(arena: Stage, held: str, move: str) -> None:
    assert play(arena, held, 2.5, 20)[0] == [move]


@pytest.mark.parametrize("apart", [0.62, 0.8, 1.0])
def test_a_spin_kick_does_not_go_through_who_guards(arena: Stage, apart: float) -> None:
    """Who is so near that the foot goes by behind is met by the thigh."""
    stand(arena, apart)
    met = []
    for tick in range(60):
        arena.step(["B+C" if tick < 4 else "", "A"])
        met.append(int(arena.state.fight.outcomes[0]))
    assert met.count(GUARDED) == 1
    assert met.index(GUARDED) < 33
    assert arena.energy[1] < 100


@pytest.mark.parametrize("apart", [0.85, 1.0, 1.1])
def test_a_throw_is_typed(arena: Stage, apart: float) -> None:
    """P, K before the punch returns, P while the kick runs: all three meet."""
    stand(arena, apart)
    state, presses = arena.state, {0: "B", 18: "C", 40: "B"}
    began, met = [], []
    for tick in range(80):
        held = next((text for t, text in presses.items() if t <= tick < t + 4), "")
        arena.step([held])
        if state.started[0] >= 0:
            began.append(arena.doing(0))
        if state.fight.outcomes[0]:
            met.append(int(state.fight.outcomes[0]))
    assert began == ["punch", "kick", "throw"]
    assert met == [HIT, HIT, THROWN]
    assert arena.doing(1) == "thrown"


def test_a_throw_and_a_kick_as_the_other_gets_up(arena: Stage) -> None:
    stand(arena, 0.9)
    state, found = arena.state, []
    for tick in range(260):
        was = arena.doing(1)
        arena.step(["A+X" if tick < 4 else ""])
        if state.fight.outcomes[0]:
            found.append((arena.doing(0), was, int(state.fight.outcomes[0])))
    assert found[0] == ("throw", "stance", THROWN)
    assert found[1][::2] == ("step-kick", HIT)
    assert arena.energy[1] == 100 - 18 - 15


@pytest.mark.parametrize("apart", [0.95, 1.1])
@pytest.mark.parametrize(
    ("held", "moves"),
    [("X", ["low-kick", "punch", "kick"]), ("C+X", ["punch", "spin-kick"])],
)
def test_blue_has_combinations_of_its_own(
    arena: Stage, held: str, moves: list[str], apart: float
) -> None:
    assert play(arena, held, apart, 95, who=1) == (moves, len(moves))


def test_reaches_have_the_way_that_a_move_carries_ahead(arena: Stage) -> None:
    tables = arena.state.tables
    number = {move.name: row for row, move in enumerate(tables.tables[0].moves)}
    reaches = arena.state.fights.reaches[0]
    kick, step = reaches[number["kick"]], reaches[number["step-kick"]]
    assert step - kick == pytest.approx(0.6)
    assert 0.8 < kick < 1.6


def test_who_is_hit_in_a_spin_comes_round_and_does_not_jump(arena: Stage) -> None:
    stand(arena, 0.9)
    (body,) = arena.state.bodies
    toes = body.plan.layout.skeleton.names.index("r-toe")
    fastest, before, done = 0.0, None, set()
    for tick in range(60):
        arena.step(["B+C" if tick < 4 else "", "B" if 10 <= tick < 14 else ""])
        now = body.world.matrices[0, toes, :, 3] - arena.places[0]
        if before is not None and arena.doing(0) == "hit":
            fastest = max(fastest, float(np.linalg.norm(now - before)))
        before = now
        done.add(arena.doing(0))
    assert done >= {"spin-kick", "hit"}
    assert fastest < 0.7, "metres in a tick, of which the kick is 0.3"
