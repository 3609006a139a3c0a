"""A game of nothing much: its picture is a colour, its hash all that was held."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from flexor.scene.stage.moves import InputLog


class FakeGame:
    """Keeps what it was asked; `cost` seconds pass on `clock` with each picture."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.title = "Nothing much"
        self.sounds: list[str] = []
        self.help = ("A: nothing", "B: nothing much")
        self.held: list[tuple[int, int]] = []
        self.sizes: list[tuple[int, int]] = []
        self.restarts = 0
        self.clock, self.cost = clock, 0.0
        self._is_paused = False
        self.wants_coin = False

    @property
    def tick(self) -> int:
        return len(self.held)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def step(self, held: NDArray[np.uint32]) -> None:
        assert held.shape == (2,)
        assert held.dtype == np.uint32
        self.held.append((int(held[0]), int(held[1])))
        self.sounds = ["hit", "hit", "swing"] if held.any() else []

    def pause(self, on: bool) -> None:
        self._is_paused = on

    def restart(self) -> None:
        self.restarts += 1
        self.held.clear()
        self._is_paused = False

    def draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        self.sizes.append(size)
        if self.clock is not None:
            # A fifth for any picture, the rest by its pixels; all of it at 1280x720.
            share = size[0] * size[1] / (1280 * 720)
            self.clock.now += self.cost * (0.2 + 0.8 * share)
        picture = np.zeros((size[1], size[0], 4), np.uint8)
        picture[..., 0] = min(self.tick, 255)
        picture[..., 1] = 200
        picture[..., 3] = 128
        return picture

    def hash(self) -> str:
        return hashlib.sha256(repr(self.held).encode()).hexdigest()[:16]


class FakeClock:
    """Time that passes only when it is told to; sleeping is telling it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert 0 <= seconds < 1
        self.now += seconds


def make_log(*rows: tuple[int, int, int], length: int = -1) -> InputLog:
    """A log of rows (tick, who, mask)."""
    ticks, who, states = zip(*rows, strict=True) if rows else ((), (), ())
    return InputLog(
        np.array(ticks, np.int32),
        np.array(who, np.int32),
        np.array(states, np.uint32),
        length,
    )
