"""What the goal game says, and from where it is seen, in each of its modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flexor.games.game import RATE
from flexor.games.goal.hud import GOLD, GREEN, PALE, RED, WHITE, Written
from flexor.games.goal.screen import View

__all__ = ["Mode", "Outcome", "Telling", "view_of", "words_of"]

Mode = Literal["title", "aim", "flight", "result", "replay", "over"]
Outcome = Literal["", "GOAL", "SAVED", "POST", "WIDE"]
COLOURS = {"GOAL": GREEN, "SAVED": GOLD, "POST": PALE, "WIDE": RED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What there is to say of a game.

    clock: ticks in the mode; left: ticks of play that are left; power: 0 to 1; spin:
    steps; help: lines that say what the pads do.
    """

    mode: Mode
    outcome: Outcome
    clock: int
    left: int
    goals: int
    saves: int
    shots: int
    power: float
    spin: int
    help: tuple[str, ...]
    is_paused: bool


def view_of(mode: Mode, outcome: Outcome) -> View:
    """Which camera shows a game."""
    if mode in ("title", "over"):
        return "title"
    if mode != "replay":
        return "front"
    return "behind" if outcome == "GOAL" else "beside"


def words_of(game: Telling) -> Written:
    """What is written over the picture of a game."""
    what = Written()
    if game.mode == "title":
        what.message, what.colour, what.dark = "GOAL", GOLD, 0.35
        what.below = ("press A", *game.help[1:4], game.help[5])
    elif game.mode == "over":
        score = f"goals {game.goals}, saves {game.saves}, shots {game.shots}"
        what.message, what.dark, what.below = "FULL TIME", 0.5, (score, "press A")
    else:
        what.goals, what.saves = game.goals, game.saves
        what.seconds = max(game.left, 0) / RATE
    if game.mode == "aim":
        what.power, what.spin = game.power, game.spin
    elif game.mode == "result":
        what.message, what.colour = game.outcome, COLOURS[game.outcome]
        what.flash = max(1 - game.clock / 14, 0.0)
    elif game.mode == "replay":
        is_lit = game.clock // 30 % 2 == 0
        what.corner = "REPLAY   A: skip" if is_lit else "A: skip"
    if game.is_paused:
        what.message, what.colour, what.below = "PAUSED", WHITE, ()
        what.dark = 0.5
    return what
