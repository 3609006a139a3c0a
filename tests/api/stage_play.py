"""Fights for tests of stages."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.samples import mannequin
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone

DT = 1 / 60


MOVES = MoveTable(
    (
        Move("punch", 14, 6, 20, parts=("rightHand",), damage=12, push=0.3),
        Move("kick", 20, 8, 30, parts=("rightFoot",), damage=20, push=0.4),
        Move("guard", 2, 10, 6, kind="guard"),
        Move("parry", 2, 20, 10, kind="parry"),
        Move("jump", 4, 30, 10, kind="jump"),
        Move("slam", 14, 6, 20, clip="punch", parts=("rightHand",), damage=150),
    ),
    singles={
        "B": "punch",
        "C": "kick",
        "A": "guard",
        "X": "parry",
        "Y": "jump",
        "Z": "slam",
    },
)


RING = Zone(np.array([[-4.0, -3], [4, -3], [4, 3], [-4, 3]]), "in", "ring")


PUNCH_LANDS = 14  # ticks before its hand can hit


@functools.cache
def hero() -> Character:
    return mannequin()


def fighters(apart: float = 1.0, **more: Any) -> StagePlan:
    """Red and blue, face to face along x, and what they can do."""
    cast = (
        Actor(name="red", place=(-apart / 2, 0), heading=math.pi / 2),
        Actor(name="blue", place=(apart / 2, 0), heading=-math.pi / 2),
    )
    return StagePlan(**{"cast": cast, "moves": MOVES, **more})


def play(plan: StagePlan) -> Stage:
    return Stage(plan, characters={"mannequin": hero()})


def run(
    stage: Stage,
    ticks: int,
    script: Mapping[int, Sequence[str]] | Sequence[str] = (),
) -> list[list[str]]:
    """Some ticks; script: buttons by tick, or those of all ticks. Gives what each one
    did in each.
    """
    done = []
    for tick in range(ticks):
        stage.step(script.get(tick) if isinstance(script, Mapping) else script)
        done.append([stage.doing(row) for row in range(len(stage))])
    return done


def node(stage: Stage, row: int, name: str) -> Any:
    """Where a node of one of the first body is, (3,)."""
    body = stage.state.bodies[0]
    index = hero().skeleton.index(name)
    return body.world.matrices[row, index, :, 3].astype(np.float64)


def busy() -> StagePlan:
    """Three fighters of one kind on rough ground with a wall around, and a pillar."""
    cast = (
        *fighters().cast,
        Actor(name="green", place=(0, 1.5), heading=3.0, control="free"),
    )
    return fighters(
        cast=cast,
        ground=shape_ground((12, 12), 0.25, rough=0.1, seed=3),
        zones=(RING,),
        structures=(Structure(name="pillar", middle=(1.5, 1), radius=0.3),),
        seed=5,
    )


def presses(ticks: int, count: int, seed: int = 0) -> list[list[str]]:
    """Buttons at random, each held for some ticks."""
    chance = np.random.default_rng(seed)
    words = ["", "", "left", "right", "up", "down", "B", "C", "A", "X", "Y", "right+R"]
    held = [""] * count
    found = []
    for _ in range(ticks):
        for row in range(count):
            if chance.random() < 0.1:
                held[row] = str(chance.choice(words))
        found.append(list(held))
    return found


@functools.cache
def hashed_pair() -> Stage:
    return play(fighters())


def walker(ground: Ground, **more: Any) -> Stage:
    """One alone who looks along +x, seen by a camera that stays."""
    own = Actor(name="one", heading=math.pi / 2, control="free", opponent="none")
    camera = CameraRule(rule="fixed")
    return play(StagePlan(cast=(own,), ground=ground, camera=camera, **more))


def strike(
    high: float, button: str, part: str, *, drop: float = 0.0
) -> tuple[Any, Any, Stage]:
    """An attack on one who stands higher: where the hand or foot is in each tick, seen
    from the attacker's place, and metres that it could not reach. What it is bent by
    toward one who moves (see `stage.motion.kernels.link`) is taken off.
    """
    ground = shape_ground((10, 10), 0.1, [Patch(area=(0.1, -5, 5, 5), height=high)])
    stage = play(fighters(1.1, ground=ground))
    stage.places[1, 1] += drop
    body = stage.state.bodies[0]
    assert body.limbs is not None
    column = list(body.plan.limbs).index(part)
    seen, off = [], []
    for tick in range(62):
        stage.step([button if tick == 0 else ""])
        end = body.world.matrices[0, body.ends[column], :, 3]
        bend = stage.state.touching.bends[0, column]
        seen.append(end - stage.places[0] - bend)
        drawn = stage.state.touching.drawn[0, column]  # the other is in the way
        off.append(float(body.limbs.off[0, column] + np.sqrt((drawn**2).sum())))
    return np.array(seen), np.array(off), stage
