"""How fast a window goes: which ticks are due, how large a picture may be.

Nothing here reads a clock: times come in, in seconds, and may be made up.
"""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field

from flexor.games.game import RATE

__all__ = ["MOST_TICKS", "SCALES", "FrameRate", "Ladder", "Ticker"]

MOST_TICKS = 6  # a frame: a game on a slow machine becomes slow, it does not jump
SCALES = (1.0, 0.84, 0.7, 0.58, 0.5, 0.42, 0.35, 0.29, 0.25)  # of the window
SMALLEST = (96, 54)


@dataclass(slots=True)
class Ticker:
    """Which ticks of 1/60 s are due by a clock in seconds."""

    _next: float | None = None

    def due(self, now: float) -> int:
        """Ticks to play now, `MOST_TICKS` at most; what is beyond them is let go."""
        if self._next is None:
            self._next = now
        late = (now - self._next) * RATE + 1e-6  # clocks do not count in whole ticks
        if late < 0:
            return 0
        count = int(late) + 1
        if count > MOST_TICKS:
            self._next = now + 1 / RATE
            return MOST_TICKS
        self._next += count / RATE
        return count

    def wait(self, now: float) -> float:
        """Seconds until the next tick."""
        return 0.0 if self._next is None else max(self._next - now, 0.0)


@dataclass(slots=True)
class Ladder:
    """How large pictures are drawn: smaller when they take too long, and back.

    window: width and height; level: row of `SCALES`. One slow picture changes nothing:
    the median of some decides. Up again takes longer than down, and ever longer where
    up was too much.
    """

    window: tuple[int, int]
    level: int = 0
    _draws: list[float] = field(default_factory=list)
    _rests: list[float] = field(default_factory=list)
    _good: int = 0  # frames for which a larger picture would have been quick enough
    _since_up: int = 1 << 30
    _patience: int = 120

    SAMPLES = 15
    DOWN, UP = 0.98 / RATE, 0.82 / RATE  # seconds
    LONGEST_PATIENCE = 1920

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture to draw."""
        return self._size(self.level)

    @property
    def is_lowest(self) -> bool:
        """Whether there is no smaller picture."""
        return self.level == len(SCALES) - 1

    def _size(self, level: int) -> tuple[int, int]:
        wide, high = self.window
        if level == 0:
            return max(wide, SMALLEST[0]), max(high, SMALLEST[1])
        scale = SCALES[level]
        # Rows of whole groups of pixels are quicker to draw.
        return (
            max(round(wide * scale / 8) * 8, SMALLEST[0]),
            max(round(high * scale / 2) * 2, SMALLEST[1]),
        )

    def _share(self, level: int) -> float:
        """Pixels of a level, of those that are drawn now."""
        wide, high = self._size(level)
        return wide * high / (self.size[0] * self.size[1])

    def fit(self, window: tuple[int, int]) -> None:
        """Take another size of the window."""
        if window != self.window:
            self.window = window
            self._forget()
            self._patience = 120

    def add(self, draw: float, rest: float) -> bool:
        """Take the seconds of a frame: of its picture, and of all else it took.

        Gives whether the size has changed.
        """
        self._since_up += 1
        self._draws.append(draw)
        self._rests.append(rest)
        if len(self._draws) < self.SAMPLES:
            return False
        picture, more = statistics.median(self._draws), statistics.median(self._rests)
        if picture + more > self.DOWN and not self.is_lowest:
            self._go_down(picture, more)
            return True
        # As if all of the time went with the pixels: it is less, and none too short.
        is_good = (
            self.level > 0 and picture * self._share(self.level - 1) + more < self.UP
        )
        self._good = self._good + self.SAMPLES if is_good else 0
        self._draws.clear()
        self._rests.clear()
        if self._good < self._patience:
            return False
        self.level -= 1
        self._forget()
        self._since_up = 0
        return True

    def _go_down(self, picture: float, more: float) -> None:
        if self._since_up < 300:
            self._patience = min(2 * self._patience, self.LONGEST_PATIENCE)
        last = len(SCALES) - 1
        level = self.level + 1
        while level < last and picture * self._share(level) + more > self.DOWN:
            level += 1
        self.level = level
        self._forget()

    def _forget(self) -> None:
        self._draws.clear()
        self._rests.clear()
        self._good = 0


@dataclass(slots=True)
class FrameRate:
    """Frames a second, of about the last one."""

    shown: float = 0.0
    _times: deque[float] = field(default_factory=lambda: deque(maxlen=RATE + 1))
    _next: float = 0.0

    def add(self, now: float) -> None:
        """Take the time of a frame; what is shown changes twice a second."""
        self._times.append(now)
        span = now - self._times[0]
        if now >= self._next and span > 0:
            self.shown = (len(self._times) - 1) / span
            self._next = now + 0.5
