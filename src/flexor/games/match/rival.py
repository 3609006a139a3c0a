"""An opponent: it looks at others, as late as a player would, and presses buttons.

    rival = Rival(row, seed, "middle")
    held = rival.press(stage)      # in every tick

It knows the moves of its own table and how far each comes. It goes where one of them
reaches, strikes, guards and parries what it sees coming, and answers an attack that is
over before its attacker can act again. It holds a pad like any other player's, and
what it sees of others is some ticks old; skills differ in how old, how often it errs
and how well it chooses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.api.stage import Stage
from flexor.games.match.reach import STRIKES, Option, options_of, reach_of
from flexor.games.match.senses import (
    Senses,
    distance,
    is_blocked,
    is_facing,
    stick_toward,
)
from flexor.scene.stage.game import Skill
from flexor.scene.stage.moves import button_mask

__all__ = ["SKILLS", "Rival", "Traits"]

RUN = button_mask("R")
BODY = 0.1  # metres of a body in front of its place that is met before it
FAR, VERY_FAR = 0.5, 1.8  # metres beyond reach from which it walks, and runs
PATIENCE = 50  # ticks in which it wants to strike before it thinks again
CLOSE = 0.15  # metres: how much nearer than its reach it wants to be


@dataclass(frozen=True, slots=True)
class Traits:
    """What a skill is.

    delay: ticks until what happens is known; think: ticks between decisions, about;
    slip: how often it does not do what it should; guard, parry, answer: how often it
    guards, parries and answers what it could; attack: how often it decides to attack;
    wary: how often it guards before it sees anything; misjudge: metres by which it
    misjudges how far it reaches, about.
    """

    delay: int
    think: int
    slip: float
    guard: float
    parry: float
    answer: float
    attack: float
    wary: float
    misjudge: float


SKILLS: dict[str, Traits] = {
    "low": Traits(26, 26, 0.35, 0.3, 0.05, 0.2, 0.4, 0.05, 0.2),
    "middle": Traits(15, 12, 0.1, 0.6, 0.35, 0.8, 0.55, 0.25, 0.06),
    "high": Traits(10, 7, 0.03, 0.7, 0.7, 1.0, 0.6, 0.35, 0.02),
}


@dataclass(slots=True)
class Wish:
    """An attack that it wants to make as soon as it reaches: until so many ticks."""

    option: Option
    left: int


class Rival:
    """One of a stage's characters, played by sense and some chance; seeded.

    row: whom it plays; seed: of its chance; skill: "low", "middle" or "high".
    """

    def __init__(self, row: int, seed: int, skill: Skill = "middle") -> None:
        self.row = row
        self.chance = np.random.default_rng(seed)
        self.traits = SKILLS[skill]
        self._senses = Senses(self.traits.delay)
        self._options: tuple[Option, ...] | None = None
        self._reset()

    def _reset(self) -> None:
        self._held, self._left = 0, 0
        self._presses: list[tuple[int, int]] = []
        self._walk = ""  # toward, away, left, right or nothing
        self._wish: Wish | None = None
        self._threat = (-1, -1)  # whose attack, and when it began
        self._answered = (-1, -1)
        self._last: int = -1  # the option that it did last
        self._side = 1
        self._tick = -1

    def press(self, stage: Stage) -> int:
        """The mask of what its pad holds in the next tick."""
        if self._options is None:
            self._learn(stage)
        if stage.tick <= self._tick:
            self._senses = Senses(self.traits.delay)
            self._reset()
        self._tick = stage.tick
        self._senses.look(stage)
        state, row = stage.state, self.row
        other = int(state.opponents[row])
        if other < 0 or not state.alive[row] or not state.alive[other]:
            self._stand()
            return 0
        if self._presses:
            return self._go_on()
        if not self._respond(stage, other):
            self._decide(stage, other)
        if self._presses:
            return self._go_on()
        self._left -= 1
        return self._held | self._way(stage, other)

    def _learn(self, stage: Stage) -> None:
        """What it can do, and how far others come."""
        every = options_of(stage, self.row)
        self._options = every
        self._attacks = [one for one in every if one.kind in STRIKES and one.reach]
        self._guards = [one for one in every if one.kind == "guard"]
        self._parries = [one for one in every if one.kind == "parry"]
        self._reaches = [reach_of(stage, row) for row in range(len(stage))]
        self._longest = max((one.reach for one in self._attacks), default=0.0)

    # What it does now

    def _stand(self) -> None:
        self._presses.clear()
        self._wish, self._walk, self._held, self._left = None, "", 0, 0

    def _go_on(self) -> int:
        mask, ticks = self._presses[0]
        if ticks > 1:
            self._presses[0] = mask, ticks - 1
        else:
            self._presses.pop(0)
        return mask

    def _begin(self, option: Option) -> None:
        """Press what an option takes."""
        self._wish, self._walk, self._held, self._left = None, "", 0, 0
        self._presses = [*option.presses, (0, 2)]
        self._last = option.move

    def _hold(self, mask: int, ticks: int) -> None:
        self._wish, self._walk, self._held, self._left = None, "", mask, ticks

    def _go(self, way: str, ticks: int) -> None:
        self._walk, self._held, self._left = way, 0, ticks

    def _way(self, stage: Stage, other: int) -> int:
        """The stick that goes where it wants to."""
        if not self._walk:
            return 0
        places = stage.places
        dx, _, dz = (places[other] - places[self.row]).tolist()
        way = self._walk
        if way in ("toward", "run") and is_blocked(
            stage, self.row, float(places[other, 0]), float(places[other, 2])
        ):
            way = "around"
        if way == "around":
            if stage.state.touched[self.row] and self.chance.random() < 0.1:
                self._side = -self._side
            return stick_toward(stage, -self._side * dz, self._side * dx)
        if way == "away":
            if stage.state.touched[self.row]:
                return stick_toward(stage, -self._side * dz, self._side * dx)
            return stick_toward(stage, -dx, -dz)
        return stick_toward(stage, dx, dz) | (RUN if way == "run" else 0)

    # What it sees coming

    def _respond(self, stage: Stage, other: int) -> bool:
        """Guard, parry, or answer what others do; whether it has."""
        state, row = stage.state, self.row
        if not state.can_act[row]:
            return False
        is_guarding = bool(self._held) and self._left > 0
        if state.moves.move[row] >= 0 and not is_guarding:
            return False  # it is in a move of its own
        sight, age = self._senses.known, self._senses.age
        mine = state.places[row]
        for who in range(len(stage)):
            move = int(sight.moves[who])
            if who == row or move < 0 or not sight.alive[who]:
                continue
            reach = self._reaches[who].get(move, 0.0)
            at = float(sight.at[who]) + age
            if not reach or at > state.tables.phases[move, 2]:
                continue
            began = stage.tick - round(at)
            apart = distance(mine, sight.places[who])
            if at <= state.tables.phases[move, 1]:
                is_meant = apart < reach + 0.45 and is_facing(sight, who, mine)
                if is_meant and self._meet(stage, who, move, at, began):
                    return True
            elif self._answer(stage, who, move, at, began, apart):
                return True
        if not sight.can_act[other] and sight.alive[other]:
            return self._answer(
                stage, other, -1, 0.0, -2, distance(mine, sight.places[other])
            )
        return False

    def _is_new(self, key: tuple[int, int], known: tuple[int, int]) -> bool:
        return key[0] != known[0] or abs(key[1] - known[1]) > 2

    def _meet(self, stage: Stage, who: int, move: int, at: float, began: int) -> bool:
        """Parry or guard an attack that comes; decided once for each."""
        traits, chance, tables = self.traits, self.chance, stage.state.tables
        if not self._is_new((who, began), self._threat):
            return False
        soon = float(tables.phases[move, 0]) - at
        if self._parries and tables.can_be_parried[move]:
            own = self._parries[0]
            lasts = own.until - own.start
            if soon > own.start + lasts - 3:
                return False  # it waits for the right moment
            if soon >= own.start - 1 and chance.random() < traits.parry:
                self._threat = who, began
                self._begin(own)
                return True
        self._threat = who, began
        if self._guards and chance.random() < traits.guard:
            until = float(tables.phases[move, 1]) - at
            self._hold(self._guards[0].presses[0][0], max(round(until) + 6, 10))
            return True
        return False

    def _answer(
        self, stage: Stage, who: int, move: int, at: float, began: int, apart: float
    ) -> bool:
        """Strike who cannot act for a while; decided once for each chance."""
        traits, state = self.traits, stage.state
        key = (who, began)
        if began == -2:  # stunned: it is not known for how long
            rest = 20.0 - self._senses.age / 2
            key = (who, -2 - stage.tick // 40)
        else:
            rest = float(state.tables.phases[move, 2]) - at
        if not self._is_new(key, self._answered) and self._wish is None:
            return False
        if self._wish is not None or who != int(state.opponents[self.row]):
            return False
        self._answered = key
        if self.chance.random() > traits.answer:
            return False
        walk = stage.plan.walking.walk / 60
        fits = [
            one
            for one in self._attacks
            if one.start + max(apart - one.reach, 0.0) / walk < rest
        ]
        if not fits:
            return False
        best = max(fits, key=lambda one: (one.damage, -one.start))
        self._wish = Wish(best, round(rest))
        self._held, self._left = 0, 0
        return self._strike(stage, who)

    # What it wants

    def _strike(self, stage: Stage, other: int) -> bool:
        """Do the attack that it wants to, if it reaches; whether it does."""
        wish = self._wish
        if wish is None:
            return False
        if self._gap(stage, other, wish.option) <= 0:
            self._begin(wish.option)
            return True
        return False

    def _gap(self, stage: Stage, other: int, option: Option) -> float:
        """Metres that an attack would miss by, as far as it can judge."""
        mine, sight = stage.places[self.row], self._senses.known
        vx, vz = self._senses.speeds(other)
        ticks = self._senses.age + option.start
        there = sight.places[other].copy()
        # Who walks may stop: half of the way counts.
        there[0] += 0.5 * vx * ticks
        there[2] += 0.5 * vz * ticks
        apart = max(distance(mine, there), distance(mine, sight.places[other]))
        return apart - (option.reach + BODY - CLOSE)

    def _decide(self, stage: Stage, other: int) -> None:
        """What to do next, when it has nothing to do."""
        if not stage.state.can_act[self.row]:
            return
        if self._wish is not None:
            self._wish.left -= 1
            if self._wish.left <= 0:
                self._wish = None
            elif self._strike(stage, other):
                return
            else:
                gap = self._gap(stage, other, self._wish.option)
                self._go("run" if gap > VERY_FAR else "toward", 1)
                return
        if self._left > 0:
            return
        traits, chance = self.traits, self.chance
        apart = distance(stage.places[self.row], self._senses.known.places[other])
        think = int(chance.integers(traits.think, 2 * traits.think))
        if chance.random() < traits.slip:
            self._hold(0, think)
            return
        if apart > self._longest + FAR:
            is_far = apart > self._longest + VERY_FAR
            self._go("run" if is_far else "toward", min(think, 10))
            return
        roll = chance.random()
        if self._attacks and roll < traits.attack:
            self._want(apart)
            return
        roll = chance.random()
        if self._guards and roll < traits.wary:
            self._hold(self._guards[0].presses[0][0], think + 8)
        elif roll < 0.5:
            self._side = 1 if chance.random() < 0.5 else -1
            self._go("around", 2 * think)
        elif roll < 0.75 and apart < self._longest:
            self._go("away", think)
        else:
            self._hold(0, think)

    def _want(self, apart: float) -> None:
        """Choose an attack: often one that reaches now, seldom the same again."""
        weights = []
        for one in self._attacks:
            lacks = max(apart - one.reach, 0.0)
            weight = 1.0 / (1.0 + 3.0 * lacks)
            weight *= 0.35 if one.move == self._last else 1.0
            weights.append(weight)
        share = np.cumsum(weights) / sum(weights)
        number = int(np.searchsorted(share, self.chance.random()))
        chosen = self._attacks[min(number, len(self._attacks) - 1)]
        self._wish = Wish(chosen, PATIENCE)
