"""A simple opponent: it looks at the distance and at what the other does, and presses
buttons like a player would.
"""

from __future__ import annotations

import math

import numpy as np

from flexor.api.stage import Stage
from flexor.scene.stage.moves import KINDS, button_mask
from flexor.stage.camera import view_of
from flexor.stage.movement.layout import HITTING, START_UP

__all__ = ["Rival"]

FAR, NEAR = 1.35, 0.95  # metres: beyond one it comes nearer, within the other it hits
REACT = 14  # ticks from one decision to the next, about
ATTACK = KINDS.index("attack")
# What it presses when it is near, each as often as it stands here.
BLOWS = ("B", "B", "B", "C", "C", "X", "B+C")
NOTICE = 6  # ticks until it sees that the other attacks
PARRY = (3, 13)  # ticks before a blow in which a parry is in time
TAP = 4  # ticks that a blow is held


class Rival:
    """One of a stage's characters, played by chance and some sense; seeded."""

    def __init__(self, row: int, seed: int) -> None:
        self.row = row
        self.chance = np.random.default_rng(seed)
        self._held = 0
        self._left = 0
        self._has_noticed = False

    def press(self, stage: Stage) -> int:
        """The mask of what its pad holds in the next tick."""
        is_threat = self._ticks_to_blow(stage) is not None
        if is_threat and not self._has_noticed:
            self._left = min(self._left, NOTICE)  # it breaks off what it does
        self._has_noticed = is_threat
        if self._left > 0:
            self._left -= 1
            return self._held
        self._held, self._left = self._decide(stage)
        return self._held

    def _decide(self, stage: Stage) -> tuple[int, int]:
        """What to hold, and for how many ticks."""
        state, row, chance = stage.state, self.row, self.chance
        other = int(state.opponents[row])
        if other < 0 or not state.alive[row] or not state.alive[other]:
            return 0, REACT
        dx, _, dz = (state.places[other] - state.places[row]).tolist()
        away = math.sqrt(dx * dx + dz * dz)
        soon = self._ticks_to_blow(stage)
        if soon is not None:
            roll = chance.random()
            if roll < 0.4 and PARRY[0] <= soon <= PARRY[1]:
                return button_mask("Y"), TAP
            if roll < 0.75:
                return button_mask("A"), 26
        if away > FAR:
            run = "+R" if away > 3.0 else ""
            return self._toward(stage, dx, dz, run), int(chance.integers(6, 14))
        roll = chance.random()
        if away < NEAR and roll < 0.2:
            return self._toward(stage, -dx, -dz, ""), int(chance.integers(8, 20))
        if roll < 0.35:  # around the other
            side = 1 if chance.random() < 0.5 else -1
            way = self._toward(stage, -side * dz, side * dx, "")
            return way, int(chance.integers(15, 40))
        if roll < 0.4:
            return button_mask("Z"), TAP
        if roll < 0.5:
            return 0, int(chance.integers(5, REACT))
        return button_mask(BLOWS[int(chance.integers(len(BLOWS)))]), TAP

    def _ticks_to_blow(self, stage: Stage) -> int | None:
        """How soon the other's attack can hit; None: there is none near."""
        state, tables = stage.state, stage.state.tables
        moves, other = state.moves, int(state.opponents[self.row])
        move = int(moves.move[other])
        dx, _, dz = (state.places[other] - state.places[self.row]).tolist()
        is_near = math.sqrt(dx * dx + dz * dz) < FAR + 0.3
        if other < 0 or move < 0 or tables.kinds[move] != ATTACK or not is_near:
            return None
        if moves.phase[other] not in (START_UP, HITTING):
            return None
        return max(int(tables.phases[move, 0] - moves.at[other]), 0)

    def _toward(self, stage: Stage, dx: float, dz: float, more: str) -> int:
        """The direction whose way in the world is nearest to (dx, dz)."""
        vx, vz = view_of(stage.state.camera)
        ways = {"up": (vx, vz), "down": (-vx, -vz)}
        ways |= {"right": (-vz, vx), "left": (vz, -vx)}
        best = max(ways, key=lambda name: ways[name][0] * dx + ways[name][1] * dz)
        return button_mask(best + more)
