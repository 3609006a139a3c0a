"""What a game is to those who show it: a window, a recorder, a test.

A game is played in ticks of 1/60 s by two pads and draws itself at any size; it knows
no window, no clock and no sound card. The same presses give the same game.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flexor.scene.stage.moves import RATE, button_mask

__all__ = ["COIN", "PADS", "RATE", "Game", "Ticking"]

PADS = 2
# A coin that is put in at a pad: all directions at once, as no pad can hold them.
COIN = button_mask("up+down+left+right")


class Game(Protocol):
    """A game in play.

    title: what it is called; sounds: names of what was heard in the last tick, see
    `flexor.games.sounds`; help: lines that say what the pads do.
    """

    title: str
    sounds: list[str]
    help: tuple[str, ...]

    @property
    def tick(self) -> int:
        """Ticks that have passed."""
        ...

    @property
    def is_paused(self) -> bool:
        """Whether it stands still until it is asked to go on."""
        ...

    @property
    def wants_coin(self) -> bool:
        """Whether a coin can be put in now that would be of use."""
        ...

    def step(self, held: NDArray[np.uint32]) -> None:
        """One tick; held: uint32 (2,), masks of what the pads hold."""
        ...

    def pause(self, on: bool) -> None:
        """Stand still, or go on."""
        ...

    def restart(self) -> None:
        """Back to the title."""
        ...

    def draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The picture now, uint8 (H, W, 4), with all that is written over it."""
        ...

    def hash(self) -> str:
        """A text that two games share only if their play is alike, bit for bit."""
        ...


class Ticking:
    """What is the same in every game: its ticks are counted, and it can stand still."""

    def __init__(self) -> None:
        self._tick = 0
        self._is_paused = False

    @property
    def tick(self) -> int:
        """Ticks that have passed."""
        return self._tick

    @property
    def is_paused(self) -> bool:
        """Whether it stands still."""
        return self._is_paused

    @property
    def wants_coin(self) -> bool:
        """Whether a coin would be of use: nothing here takes coins."""
        return False

    def pause(self, on: bool) -> None:
        """Stand still, or go on."""
        self._is_paused = bool(on)
