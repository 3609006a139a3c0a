"""What an opponent knows of moves: how far ahead each comes, and how soon.

It is seen in the motion itself: where the parts that hit are while they can, of the
body that does the move. Measured once for a body and its moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.api.stage_cast import CastBody
from flexor.scene.stage.moves import RATE, Move, button_mask
from flexor.stage.cast import Playing

__all__ = ["STRIKES", "Option", "options_of", "reach_of"]

SIDE = 0.4  # metres to the side of the way ahead: what is beyond meets nobody there
TAP = 4  # ticks that a button is held
SOON = 3  # ticks before the return of a move at which the next button is typed
STRIKES = ("attack", "throw")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that a pad can do.

    presses: masks and ticks of each, in order; move: the number of the first move that
    it does; kind, height: of that; start, total: ticks until it can hit, and in all;
    until: ticks in which it can hit are over; reach: metres from its character's place
    to the furthest point of what hits, 0 for what does not attack; damage: points, of
    all that it does; can_be_parried: whether a parry stops it.
    """

    presses: tuple[tuple[int, int], ...]
    move: int
    kind: str
    height: str
    start: int
    until: int
    total: int
    reach: float
    damage: float
    can_be_parried: bool


def options_of(stage: Stage, row: int) -> tuple[Option, ...]:
    """All that a character can do by buttons, in the order of its table."""
    tables, own = stage.state.tables, int(stage.state.moves.table[row])
    table, first = tables.tables[own], tables.numbers(own).start
    reaches = reach_of(stage, row)
    taken = {one.button for one in table.combinations}

    def number(buttons: str) -> int:
        return first + table.index(table.move_of(buttons).name)

    found = [
        _option(tables.moves, reaches, buttons, [number(buttons)])
        for bound in (table.singles, table.chords)
        for buttons in bound
        if buttons not in taken
    ]
    for one in table.combinations:
        every = [table.command_move(command) for command in one.commands]
        numbers = [first + table.index(move.name) for move in every]
        found.append(_option(tables.moves, reaches, one.button, numbers))
    for text, name in table.sequences.items():
        *steps, last = text.split()
        numbers = [*map(number, steps), first + table.index(name)]
        typed = _option(tables.moves, reaches, last, numbers)
        presses = []
        for step, own_move in zip(steps, numbers, strict=False):
            wait = max(tables.moves[own_move].until_back - TAP - SOON, 1)
            presses += [(button_mask(step), TAP), (0, wait)]
        found.append(replace(typed, presses=(*presses, *typed.presses)))
    return tuple(found)


def reach_of(stage: Stage, row: int) -> dict[int, float]:
    """Metres by which each move of a character comes ahead, 0 for what hits nothing."""
    body = next(own for own in stage.cast if row in own.rows)
    state = stage.state
    return {
        number: _known_reach(body, number, state.tables.moves[number])
        for number in state.tables.numbers(int(state.moves.table[row]))
    }


# By character: metres, by the move and how its clip is played.
_measured: WeakKeyDictionary[Character, dict[tuple[Move, Playing], float]] = (
    WeakKeyDictionary()
)


def _known_reach(body: CastBody, number: int, move: Move) -> float:
    if move.kind == "throw":
        return move.reach + move.advance
    playing = body.plan.moves.get(number)
    if move.kind != "attack" or playing is None:
        return 0.0
    known = _measured.setdefault(body.hero, {})
    if (move, playing) not in known:
        known[move, playing] = _reach(body, move, playing)
    return known[move, playing]


def _reach(body: CastBody, move: Move, playing: Playing) -> float:
    """How far ahead what hits comes while it can: metres, with its thickness."""
    volumes = body.plan.volumes
    known = {part.casefold() for part in volumes.parts}
    parts = [part for part in move.parts if part.casefold() in known]
    if not parts or playing.clip not in body.hero.clips:
        return 0.0
    ticks = np.arange(move.start, move.until_back + 1)
    poses = body.hero.pose_many(playing.clip, ticks / RATE * playing.speed)
    rows = volumes.rows(parts)
    world = poses.world[:, volumes.nodes[rows]].astype(np.float64)
    ends = volumes.ends[rows]
    points = (world[:, :, None, :, :3] * ends[None, :, :, None]).sum(-1)
    points += world[:, :, None, :, 3]
    ahead = points[..., 2] + volumes.radii[rows][:, None]
    is_there = np.abs(points[..., 0]) < SIDE
    far = float(np.where(is_there, ahead, 0.0).max(initial=0.0))
    return far + move.advance if far else 0.0


def _option(
    every: tuple[Move, ...],
    reaches: dict[int, float],
    buttons: str,
    numbers: list[int],
) -> Option:
    moves = [every[number] for number in numbers]
    first = moves[0]
    return Option(
        ((button_mask(buttons), TAP),),
        numbers[0],
        first.kind,
        first.height,
        first.start,
        first.until_back,
        sum(move.until_back for move in moves[:-1]) + moves[-1].total,
        min(reaches[number] for number in numbers),
        sum(move.damage for move in moves if move.kind in STRIKES),
        all(bool(move.can_be_parried) for move in moves),
    )
