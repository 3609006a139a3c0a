"""Whether a parry opens the attacker: what is pressed at once after it lands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flexor.api.stage import Stage
from flexor.scene.stage.moves import KINDS, MoveTable
from flexor.stage.movement.layout import HIT, PARRIED

__all__ = ["Parries", "buttons_of", "play_parries"]

APART = (0.8, 0.86, 0.92, 0.98, 1.04, 1.1)  # metres at which attacks are parried
EARLY = (2, 5, 9)  # ticks before the attack can hit at which the parry begins to hold
TAP, LONGEST = 4, 150  # ticks
ATTACK, PARRY = KINDS.index("attack"), KINDS.index("parry")


def buttons_of(table: MoveTable) -> dict[str, str]:
    """By the name of a move what does it, where that is no combination's."""
    taken = {one.button for one in table.combinations}
    found = {name: buttons for buttons, name in table.chords.items()}
    found |= {
        name: button for button, name in table.singles.items() if button not in taken
    }
    return found


class Parries(NamedTuple):
    """Parries that were tried: how many met, and how many of those the quickest attack
    followed that landed before the attacker could act again.
    """

    tried: int
    met: int
    answered: int


def play_parries(stage: Stage) -> Parries:
    """Parries of the second character against attacks of the first.

    Each attack that can be parried, at some distances, met at some moments.
    """
    tables = stage.state.tables
    buttons, moves = buttons_of(tables.tables[0]), tables.tables[0].moves
    bound = [number for number, own in enumerate(moves) if own.name in buttons]
    attacks = [row for row in bound if tables.kinds[row] == ATTACK]
    parries = [row for row in bound if tables.kinds[row] == PARRY]
    if not attacks or not parries:
        return Parries(0, 0, 0)
    quick = min(attacks, key=lambda row: int(tables.phases[row, 0]))
    words = [buttons[moves[row].name] for row in (parries[0], quick)]
    tried = met = answered = 0
    for row in attacks:
        if not tables.can_be_parried[row]:
            continue
        start, ready = int(tables.phases[row, 0]), int(tables.phases[parries[0], 0])
        for apart in APART:
            for early in EARLY:
                wait = max(start - ready - early, 0)
                _set_out(stage, apart)
                is_met, has_landed = _play_one(
                    stage, buttons[moves[row].name], words[0], words[1], wait
                )
                tried += 1
                met += is_met
                answered += has_landed
    return Parries(tried, met, answered)


def _set_out(stage: Stage, apart: float) -> None:
    """Two on the middle of the stage, who have stood for a moment."""
    stage.restart()
    stage.places[:, 0] = np.array([-apart / 2, apart / 2])
    stage.places[:, 2] = 0.0
    for _ in range(20):
        stage.step()


def _play_one(
    stage: Stage, attack: str, parry: str, answer: str, wait: int
) -> tuple[bool, bool]:
    """Whether a parry met an attack, and whether the answer landed in time."""
    state = stage.state
    met_at = pressed_at = -1
    kinds = state.tables.kinds
    for tick in range(LONGEST):
        first = attack if tick < TAP else ""
        second = parry if wait <= tick < wait + TAP else ""
        if met_at >= 0:
            second = ""
            move = int(state.moves.move[1])
            is_over = move < 0 or kinds[move] != PARRY
            if pressed_at < 0 and is_over:
                pressed_at = tick
            if 0 <= tick - pressed_at < TAP and pressed_at >= 0:
                second = answer
        stage.step([first, second])
        if met_at < 0 and state.fight.outcomes[0]:
            if state.fight.outcomes[0] != PARRIED:
                return False, False
            met_at = tick
        elif met_at >= 0 and state.fight.outcomes[1] == HIT:
            return True, True
        elif met_at >= 0 and tick > met_at + 1 and state.can_act[0]:
            return True, False
    return met_at >= 0, False
