"""Characters that have moves of their own, in play."""

from __future__ import annotations

import pytest

from flexor.api.stage import Stage
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from tests.api.stage_play import MOVES

JAB = Move("jab", 4, 4, 4, clip="punch", parts=("rightHand",), damage=3)
BOW = Move("bow", 1, 20, 1, clip="cheer", kind="other")
OWN = MoveTable((JAB, BOW), singles={"B": "jab", "R": "bow"})


def own_plan() -> StagePlan:
    """Red has the moves of all, blue and green their own; red is also a puppet."""
    return StagePlan(
        cast=(
            Actor(name="blue", place=(-0.5, 0), heading=1.5708, moves=OWN),
            Actor(name="red", place=(0.5, 0), heading=-1.5708),
            Actor(name="green", place=(3, 0), moves=OWN),
            Actor(name="puppet", place=(-3, 0), control="none"),
        ),
        moves=MOVES,
    )


def test_each_does_its_own_moves() -> None:
    stage = Stage(own_plan())
    tables = stage.state.tables
    assert [move.name for move in tables.moves[:3]] == ["jab", "bow", "punch"]
    assert tables.numbers(1) == range(2, 2 + len(MOVES.moves))
    assert stage.state.moves.table.tolist() == [0, 1, 0, 1]
    stage.step(["B", "B", "R", "B"])
    assert [stage.doing(row) for row in range(4)] == ["jab", "punch", "bow", "punch"]
    assert stage.state.started.tolist() == [0, 2, 1, 2]
    # One body for all who are the same but for their moves.
    assert [body.rows.tolist() for body in stage.state.bodies] == [[0, 1, 2], [3]]
    playing = stage.state.bodies[0].plan.moves
    assert playing[0].clip == playing[2].clip == "punch"
    assert playing[0].speed > 2 * playing[2].speed


def test_their_damage_is_that_of_their_own_moves() -> None:
    stage = Stage(own_plan())
    for tick in range(60):
        stage.step(["B" if tick == 0 else ""])
    assert stage.energy.tolist() == [100, 97, 100, 100]
    stage = Stage(own_plan())
    for tick in range(60):
        stage.step(["", "B" if tick == 0 else ""])
    assert stage.energy.tolist() == [88, 100, 100, 100]


def test_who_stands_beside_whom_makes_no_difference() -> None:
    """Played with tables of their own or with one that has the same moves: the same."""
    one = Stage(StagePlan(cast=own_plan().cast[:2], moves=MOVES))
    cast = (own_plan().cast[0], Actor(name="red", place=(0.5, 0), heading=-1.5708))
    cast = (cast[0], Actor(name="red", place=(0.5, 0), heading=-1.5708, moves=MOVES))
    two = Stage(StagePlan(cast=cast, moves=MoveTable(())))
    for tick in range(90):
        pads = ["B" if tick % 30 == 0 else "", "C" if tick == 5 else ""]
        one.step(pads)
        two.step(pads)
    assert one.places.tolist() == two.places.tolist()
    assert one.energy.tolist() == two.energy.tolist()
    assert one.hash() == two.hash()


@pytest.mark.parametrize("row", [0, 2])
def test_a_lone_table_needs_no_moves_of_the_stage(row: int) -> None:
    stage = Stage(StagePlan(cast=(own_plan().cast[row],)))
    stage.step(["R"])
    assert stage.doing(0) == "bow"
