"""The flow of a game: title, coins, rounds, and the chance to go on.

    flow = Flow(settings, sides=2, payers=1)
    heard = flow.step(coins=0, is_start=False, verdict=None)

It knows nothing of stages: who plays tells it what was pressed and who has won, and
does what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from flexor.games.game import RATE
from flexor.scene.stage.game import GameSettings

__all__ = ["DRAW", "Flow", "Phase"]

Phase = Literal["title", "ready", "fight", "round over", "continue", "game over"]
READY_SECONDS, OVER_SECONDS, END_SECONDS = 1.6, 3.2, 6.0
BETWEEN = RATE // 3  # ticks until a press counts after another screen has come
MOST_CREDITS = 99
DRAW = -1  # nobody's round


@dataclass(slots=True)
class Flow:
    """Where a game is.

    sides: how many fight each other, less than 2: there are no rounds; payers: players
    who need a coin each, where the game takes coins; on_pads: sides that a player is
    on. phase: of the game; since: ticks that it has lasted; round: from 1 on; wins: of
    each side; winner: of the last round or match, DRAW for nobody; credits: coins that
    were put in and not used; left: seconds of the round that were left at its end.
    """

    settings: GameSettings
    sides: int = 2
    payers: int = 1
    on_pads: frozenset[int] = frozenset()
    phase: Phase = "title"
    since: int = 0
    round: int = 0
    winner: int = DRAW
    credits: int = 0
    left: float = 0.0
    wins: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wins = [0] * self.sides

    @property
    def has_rounds(self) -> bool:
        """Whether there is anybody to win against."""
        return self.sides > 1

    @property
    def cost(self) -> int:
        """Coins that it takes to begin."""
        return self.payers if self.settings.coins else 0

    @property
    def is_late(self) -> bool:
        """Whether the time of the round is over."""
        limit = self.settings.seconds * RATE
        return self.has_rounds and limit > 0 and self.since >= limit

    @property
    def seconds_left(self) -> float:
        """Of the round; what was left stands until the next begins."""
        if self.phase == "fight":
            return max(self.settings.seconds - self.since / RATE, 0.0)
        is_over = self.phase in ("round over", "continue", "game over")
        return self.left if is_over else self.settings.seconds

    @property
    def countdown(self) -> int:
        """Seconds in which one can go on, from the first number down to 0."""
        return max(self.settings.countdown - self.since // RATE, 0)

    def step(self, coins: int, is_start: bool, verdict: int | None) -> list[str]:
        """One tick; gives what happens: "coin", "start", "begin" (a round: all go to
        their places), "fight", "win", "count" (of the countdown) and "title".

        coins: put in just now; is_start: whether a button to begin was pressed;
        verdict: of a fight, the side that has won, DRAW, or None: it goes on.
        """
        self.since += 1
        told = list[str]()
        if coins and self.settings.coins:
            self.credits = min(self.credits + coins, MOST_CREDITS)
            told.append("coin")
        is_start = is_start and self.since > BETWEEN
        if self.phase == "title":
            if is_start and self.credits >= self.cost:
                self.credits -= self.cost
                told += ["start", *self._begin_match()]
        elif self.phase == "ready":
            if self.since > READY_SECONDS * RATE:
                self._enter("fight")
                told.append("fight")
        elif self.phase == "fight":
            if verdict is not None:
                told += self._end_round(verdict)
        elif self.phase == "round over":
            if self.since > OVER_SECONDS * RATE:
                told += self._next_round()
        elif self.phase == "continue":
            told += self._count_down(is_start)
        elif is_start or self.since > END_SECONDS * RATE:
            self._enter("title")
            self._forget()
            told.append("title")
        return told

    def _enter(self, phase: Phase) -> None:
        self.phase, self.since = phase, 0

    def _forget(self) -> None:
        self.wins, self.round, self.winner = [0] * self.sides, 0, DRAW

    def _begin_match(self) -> list[str]:
        self._forget()
        self.round = 1
        self._enter("ready" if self.has_rounds else "fight")
        return ["begin"]

    def _end_round(self, verdict: int) -> list[str]:
        self.left, self.winner = self.seconds_left, verdict
        if verdict != DRAW:
            self.wins[verdict] += 1
        self._enter("round over")
        return ["win"]

    def _next_round(self) -> list[str]:
        most = max(self.wins)
        if most < self.settings.rounds and self.round < self._most_rounds:
            self.round += 1
            self._enter("ready")
            return ["begin"]
        is_even = self.wins.count(most) > 1
        self.winner = DRAW if is_even else self.wins.index(most)
        has_lost = bool(self.on_pads - {self.winner})
        self._enter("continue" if self.settings.coins and has_lost else "game over")
        return []

    @property
    def _most_rounds(self) -> int:
        """Rounds after which a match is over, whoever has won them."""
        return max(self.sides * (self.settings.rounds - 1) + 1, 1)

    def _count_down(self, is_start: bool) -> list[str]:
        if is_start and self.credits > 0:
            self.credits -= 1
            return ["start", *self._begin_match()]
        if self.since >= self.settings.countdown * RATE:
            self._enter("game over")
            return []
        return ["count"] if self.since % RATE == 0 else []
