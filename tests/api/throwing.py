"""Two who fight, with throws: what tests of throws and falls share."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.samples import fighter
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, StagePlan

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


def thrown_at(ticks: int, stage: Stage, hook: Any = None) -> tuple[Any, int]:
    """Where hips of who is thrown are, seen from the thrower, so many ticks after a
    throw can take hold, and the phase in which its victim is when the throw is over.
    """
    body, seen = stage.state.bodies[0], np.zeros(3)
    hips = body.plan.layout.skeleton.names.index("hips")
    for tick in range(GRIP + 95):
        if hook is not None:
            hook(stage, tick)
        stage.step(["C" if tick == 0 else "", ""])
        if tick == GRIP + ticks:
            seen = body.world.matrices[1, hips, :, 3] - stage.places[0]
    return seen, int(stage.state.fight.falls.phase[1])


def cast_dict(own: Any) -> dict[int, Any]:
    """A mapping of a body's plan, to be changed."""
    assert isinstance(own, dict)
    return own
