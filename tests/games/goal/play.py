"""Presses for tests of the goal game."""

from __future__ import annotations

import numpy as np

from flexor.games.goal.game import GoalGame
from flexor.scene.stage.moves import button_mask

NOTHING = np.zeros(2, np.uint32)


def hold(game: GoalGame, buttons: str, ticks: int = 1, pad: int = 0) -> list[str]:
    """Hold buttons for some ticks; gives what was heard."""
    held = NOTHING.copy()
    held[pad] = button_mask(buttons) if buttons else 0
    heard = []
    for _ in range(ticks):
        game.step(held)
        heard += game.sounds
    return heard


def start(game: GoalGame) -> None:
    hold(game, "")
    hold(game, "A")
    hold(game, "")


def take_shot(
    game: GoalGame, x: float, y: float, ticks: int = 20, spin: int = 0
) -> list[str]:
    """Shoot at a place, until it is said what became of it."""
    assert game.mode == "aim"
    game.aim[:] = [x, y]
    game.spin = spin
    heard = hold(game, "B", ticks) + hold(game, "")
    assert game.mode == "flight"
    while game.mode == "flight":
        heard += hold(game, "")
    return heard


def to_aim(game: GoalGame) -> None:
    while game.mode not in ("aim", "over"):
        hold(game, "A" if game.mode == "replay" else "")
    hold(game, "")
