"""Moves that an opponent types, and combinations that name moves."""

from __future__ import annotations

from flexor.api.stage import Stage
from flexor.games.match.help import move_words
from flexor.games.match.reach import options_of
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, StagePlan

PUNCH = Move("punch", 14, 6, 20, parts=("rightHand",))
KICK = Move("kick", 20, 8, 30, parts=("rightFoot",))
THROW = Move("throw", 10, 4, 50, kind="throw", clip="punch", reach=0.9)
RUSH = Combination("rush", "X", read_commands("B throw", moves=["throw"]))


def test_what_is_typed_is_an_option_that_does_its_move() -> None:
    table = MoveTable(
        (PUNCH, KICK, THROW),
        (RUSH,),
        {"B": "punch", "C": "kick"},
        sequences={"B C B": "throw"},
    )
    assert move_words(table)[-2:] == ["X rush", "B C B throw"]
    stage = Stage(StagePlan(cast=(Actor(name="red"),), moves=table))
    options = options_of(stage, 0)
    assert len(options) == 4
    rush, typed = options[2:]
    assert (rush.move, rush.reach, rush.damage) == (0, 0.9, 20)
    assert (typed.move, typed.reach, typed.damage) == (0, 0.9, 30)
    assert typed.start == PUNCH.start
    began = []
    for mask, ticks in (*typed.presses, (0, 40)):
        for _ in range(ticks):
            stage.step([mask])
            began += stage.state.started[stage.state.started >= 0].tolist()
    assert began == [0, 1, 2]
