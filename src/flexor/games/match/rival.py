"""An opponent: it looks at others, as late as a player would, and presses buttons.

    rival = Rival(row, seed, "middle")
    held = rival.press(stage)      # in every tick

It knows the moves of its own table and how far each comes. It goes where one of them
reaches, strikes, guards and parries what it sees or expects, and answers an attack that
is over before its attacker can act again. It holds a pad like any other player's, and
what it sees of others is some ticks old; what it feels itself, a blow or one that its
guard has met, it knows at once. Who does the same again and again is expected to.
Skills differ in how old what they see is, how often they err, and how well they choose
and learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.api.stage import Stage
from flexor.games.match.habits import FORGET, Habits
from flexor.games.match.reach import STRIKES, Option, options_of, reach_of
from flexor.games.match.senses import (
    Senses,
    distance,
    is_blocked,
    is_facing,
    stick_toward,
)
from flexor.games.match.skills import SKILLS
from flexor.scene.stage.game import Skill
from flexor.scene.stage.layout import ATTACK, THROW
from flexor.scene.stage.moves import button_mask
from flexor.stage.movement.layout import GUARDED, HIT

__all__ = ["Rival"]

RUN = button_mask("R")
BODY = 0.1  # metres of a body in front of its place that is met before it
FAR, VERY_FAR = 0.5, 1.8  # metres beyond reach from which it walks, and runs
PATIENCE = 50  # ticks in which it wants to strike before it thinks again
CLOSE = 0.15  # metres: how much nearer than its reach it wants to be
NEAR = 0.35  # metres beyond others' reach in which it is wary of them
AGAIN = 0.35  # how likely the same attack is twice, beside others
GUESS = 0.5  # of how often it parries what it sees, without seeing anything
SURE = 0.4  # of a habit from which on it is counted on
NEVER = 1 << 30  # a tick


@dataclass(slots=True)
class Wish:
    """An attack that it wants to make as soon as it reaches: until so many ticks; off:
    metres by which it misjudges how far it is.
    """

    option: Option
    left: int
    off: float


@dataclass(frozen=True, slots=True)
class Felt:
    """A strike that it has felt, by blow or guard: whose, which move, when it began."""

    who: int
    move: int
    began: int


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
        self._habits: Habits | None = None
        self._reset()

    def _reset(self) -> None:
        self._felt: Felt | None = None
        if self._habits is not None:
            self._habits.set_back()
        self._held, self._left = 0, 0
        self._presses: list[tuple[int, int]] = []
        self._walk = ""  # toward, run, away, around or nothing
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
            self._reset()
        self._tick = stage.tick
        self._senses.look(stage)
        state, row = stage.state, self.row
        self._feel(stage)
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
        self._farthest = [max(own.values(), default=0.0) for own in self._reaches]
        self._longest = max((one.reach for one in self._attacks), default=0.0)
        kinds = stage.state.tables.kinds
        self._throws = kinds == THROW
        self._strikes = (kinds == ATTACK) | self._throws
        self._habits = Habits(len(stage))

    def _feel(self, stage: Stage) -> None:
        """What it sees and feels, into what it knows."""
        state, row, senses = stage.state, self.row, self._senses
        assert self._habits is not None
        if len(state.tables):
            self._habits.watch(
                senses.known, stage.tick - senses.age, self._strikes, self._throws
            )
        fight = state.fight
        if not fight.is_new[row] or fight.struck[row] not in (HIT, GUARDED):
            return
        self._presses.clear()
        if fight.struck[row] == HIT:
            self._stand()  # what is held in a stun is not pressed when it is over
        met = [
            who
            for who in range(len(stage))
            if who != row and fight.outcomes[who] in (HIT, GUARDED)
        ]
        if not met:
            return
        mine = state.places[row]
        who = min(met, key=lambda one: distance(mine, state.places[one]))
        move = int(state.moves.move[who])
        if move >= 0:
            began = stage.tick - round(float(state.moves.at[who]))
            self._felt = Felt(who, move, began)

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
        if state.fight.stun[row] or not state.can_act[row]:
            return False
        is_guarding = bool(self._held) and self._left > 0
        if state.moves.move[row] >= 0 and not is_guarding:
            return False  # it is in a move of its own
        if self._felt is not None and self._repay(stage, self._felt, is_guarding):
            return True
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
            else:
                rest = float(state.tables.phases[move, 2]) - at
                if self._answer(stage, (who, began), rest, apart):
                    return True
        if not sight.can_act[other] and sight.alive[other]:
            # Stunned: it is not known for how long.
            key = other, -2 - stage.tick // 40
            apart = distance(mine, sight.places[other])
            return self._answer(stage, key, 20.0 - age / 2, apart)
        return False

    def _repay(self, stage: Stage, felt: Felt, is_guarding: bool) -> bool:
        """Strike back who has just struck, if that is in time; else guard, if more is
        to come; whether it does one of them. Decided once.
        """
        self._felt = None
        state, who = stage.state, felt.who
        phases = state.tables.phases
        ends = felt.began + int(phases[felt.move, 2])
        if not state.alive[who] or state.moves.move[who] != felt.move:
            return False
        danger, move = self._next_hit(stage, felt)
        lag = 0
        if is_guarding and self._guards:
            lag = self._guards[0].total - self._guards[0].until
        apart = distance(state.places[self.row], self._senses.known.places[who])
        rest = min(ends, danger) - stage.tick - lag
        if self._answer(stage, (who, felt.began), rest, apart):
            return True
        if danger < NEVER and self._await(stage, danger, move):
            return True
        if danger < NEVER and self._guards:
            last = danger + 10 - stage.tick
            self._hold(self._guards[0].presses[0][0], max(last, 1))
            return True
        return False

    def _next_hit(self, stage: Stage, felt: Felt) -> tuple[int, int]:
        """The tick in which the next strike of somebody will hit, as it is known to go
        on, and its move; NEVER and -1 if that is not known.
        """
        assert self._habits is not None
        known = self._habits.next_after(felt.who, felt.move, felt.began)
        if known is None or self.chance.random() > self.traits.learn:
            return NEVER, -1
        move, gap = known
        hit = felt.began + gap + int(stage.state.tables.phases[move, 0])
        return (hit, move) if hit > stage.tick else (NEVER, -1)

    def _await(self, stage: Stage, hit: int, move: int) -> bool:
        """Parry a strike that is expected to hit at a tick; whether it will."""
        if not self._parries or not stage.state.tables.can_be_parried[move]:
            return False
        own = self._parries[0]
        soon = hit - stage.tick - own.start
        if not 0 <= soon < FORGET // 2 or self.chance.random() > self.traits.parry:
            return False
        wait = max(soon - (own.until - own.start) // 3, 0)
        self._begin(own)
        if wait:
            self._presses.insert(0, (0, wait))
        return True

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
        self, stage: Stage, key: tuple[int, int], rest: float, apart: float
    ) -> bool:
        """Strike who cannot act for some ticks; decided once for each chance, which has
        the key.
        """
        traits, who = self.traits, key[0]
        if not self._is_new(key, self._answered):
            return False
        if self._wish is not None or who != int(stage.state.opponents[self.row]):
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
        chosen = self._pick(fits, [one.damage for one in fits])
        self._wish = self._make_wish(chosen, round(rest))
        self._held, self._left = 0, 0
        return self._strike(stage, who)

    # What it wants

    def _make_wish(self, option: Option, ticks: int) -> Wish:
        # Of four numbers from 0 to 1, the sum less 2 is off by 0.58 about.
        off = (sum(self.chance.random(4).tolist()) - 2.0) * self.traits.misjudge / 0.58
        return Wish(option, ticks, off)

    def _strike(self, stage: Stage, other: int) -> bool:
        """Do the attack that it wants to, if it reaches; whether it does."""
        wish = self._wish
        if wish is None:
            return False
        if self._gap(stage, other, wish) <= 0:
            self._begin(wish.option)
            return True
        return False

    def _gap(self, stage: Stage, other: int, wish: Wish) -> float:
        """Metres that an attack would miss by, as far as it can judge."""
        mine, sight = stage.places[self.row], self._senses.known
        vx, vz = self._senses.speeds(other)
        ticks = self._senses.age + wish.option.start
        there = sight.places[other].copy()
        # Who walks may stop: half of the way counts.
        there[0] += 0.5 * vx * ticks
        there[2] += 0.5 * vz * ticks
        apart = max(distance(mine, there), distance(mine, sight.places[other]))
        return apart + wish.off - (wish.option.reach + BODY - CLOSE)

    def _decide(self, stage: Stage, other: int) -> None:
        """What to do next, when it has nothing to do."""
        if stage.state.fight.stun[self.row] or not stage.state.can_act[self.row]:
            return
        if self._wish is not None:
            self._wish.left -= 1
            if self._wish.left <= 0:
                self._wish = None
            elif self._strike(stage, other):
                return
            else:
                gap = self._gap(stage, other, self._wish)
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
        if self._expect(stage, other, apart, think):
            return
        if chance.random() < GUESS * traits.parry and self._guess(stage, other, apart):
            return
        if self._attacks and chance.random() < traits.attack:
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

    def _pick(self, options: list[Option], weights: list[float]) -> Option:
        """One of some attacks by chance, seldom the last one again."""
        same = [AGAIN if one.move == self._last else 1.0 for one in options]
        share = np.cumsum(np.maximum(weights, 1e-6) * same)
        number = int(np.searchsorted(share, self.chance.random() * share[-1]))
        return options[min(number, len(options) - 1)]

    def _expect(self, stage: Stage, other: int, apart: float, think: int) -> bool:
        """Be ready for one who strikes as soon as it can; whether it is."""
        habits, traits = self._habits, self.traits
        assert habits is not None
        sure = habits.pressure(other) * traits.learn
        is_near = apart < self._farthest[other] + NEAR
        if not is_near or sure < SURE or self.chance.random() > sure:
            return False
        if habits.throws(other) > 0.5:
            # A guard does not help: who strikes first is not thrown.
            quick = min(self._attacks, key=lambda one: one.start, default=None)
            if quick is not None:
                self._wish = self._make_wish(quick, PATIENCE)
            return quick is not None
        felt = Felt(other, int(habits.strikes[other]), int(habits.began[other]))
        if felt.move >= 0:
            hit, move = self._next_hit(stage, felt)
            if hit < NEVER and self._await(stage, hit, move):
                return True
        if self.chance.random() < traits.parry and self._guess(stage, other, apart):
            return True
        if self._guards:
            self._hold(self._guards[0].presses[0][0], 2 * think + 10)
            return True
        return False

    def _guess(self, stage: Stage, other: int, apart: float) -> bool:
        """Parry before anything is seen, where a strike like the last may come."""
        assert self._habits is not None
        last = int(self._habits.strikes[other])
        if not self._parries or apart > self._farthest[other] + NEAR:
            return False
        likely = [last] if last >= 0 else list(self._reaches[other])
        if not any(stage.state.tables.can_be_parried[move] for move in likely):
            return False
        self._begin(self._parries[0])
        return True

    def _want(self, apart: float) -> None:
        """Choose an attack: often one that reaches now, seldom the same again."""
        lacks = [max(apart - one.reach, 0.0) for one in self._attacks]
        weights = [
            1.0 / (1.0 + 3.0 * lack) / one.total
            for one, lack in zip(self._attacks, lacks, strict=True)
        ]
        chosen = self._pick(self._attacks, weights)
        self._wish = self._make_wish(chosen, PATIENCE)
