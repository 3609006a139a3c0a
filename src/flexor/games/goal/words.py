"""What the goal game says, and from where it is seen, in each of its modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.games.game import RATE
from flexor.games.goal.hud import GOLD, GREEN, PALE, RED, WHITE, Written
from flexor.games.goal.screen import View

if TYPE_CHECKING:
    from flexor.games.goal.game import GoalGame

__all__ = ["view_of", "words_of"]

COLOURS = {"GOAL": GREEN, "SAVED": GOLD, "POST": PALE, "WIDE": RED}


def view_of(game: GoalGame) -> View:
    """Which camera shows a game."""
    if game.mode in ("title", "over"):
        return "title"
    if game.mode != "replay":
        return "front"
    return "behind" if game.outcome == "GOAL" else "beside"


def words_of(game: GoalGame) -> Written:
    """What is written over its picture."""
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
