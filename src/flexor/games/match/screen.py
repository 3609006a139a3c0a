"""What is seen of a game on a stage: the stage, who looks on, bars and words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor.api.stage import Stage
from flexor.games.game import RATE
from flexor.games.hud import colour_of, draw_bar, draw_text, shade, text_size
from flexor.games.match.flow import Flow
from flexor.games.match.spectators import Spectators
from flexor.games.match.title_view import TitleView
from flexor.scene.character.camera import Camera

__all__ = ["Now", "Screen", "place_words"]

RGB = tuple[int, int, int]
Box = tuple[float, float, float, float]
GOLD: RGB = (255, 214, 110)
WHITE: RGB = (255, 255, 255)
MOST_BARS = 4
TALL = 1.7  # metres: where a head is of whom no head is known
# Metres around a head that words stay clear of, and to either side of a body.
OVER, UNDER, ASIDE, BESIDE = 0.22, 0.16, 0.18, 0.28
HEAD = 20.0  # how much worse it is to cover a head than as much of a body
# Where words may be, in parts of the height of the picture, the best first.
ROWS = (0.095, 0.82, 0.76, 0.15, 0.24, 0.30)


def place_words(
    heads: list[Box], bodies: list[Box], box: tuple[int, int], size: tuple[int, int]
) -> tuple[int, int]:
    """Where words go: x of their middle and y of their upper edge, in pixels.

    heads, bodies: left, top, right and bottom of each, in pixels; box: width and height
    of the words; size: of the picture. The first row that covers nobody is taken, or
    else the one that covers the least of them, and no head if that can be.
    """
    wide, high = size
    left, right = (wide - box[0]) / 2, (wide + box[0]) / 2
    best, least = ROWS[0], math.inf
    for row in ROWS:
        top = row * high
        own = left, top, right, top + box[1]
        covered = HEAD * sum(_shared(own, head) for head in heads)
        covered += sum(_shared(own, body) for body in bodies)
        if covered < least - 1e-6:
            best, least = row, covered
    return wide // 2, round(best * high)


def _shared(one: Box, other: Box) -> float:
    """Pixels that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


@dataclass(frozen=True, slots=True)
class Now:
    """What is to be shown: where the game is, its tick, what is said, and whether it
    stands still.
    """

    flow: Flow
    tick: int
    message: str
    is_paused: bool


class Screen:
    """Draws a game; what it takes is made when the first picture is asked for.

    title: of the game; lines: that say what the pads do; side_of: the number of each
    one's side.
    """

    def __init__(
        self, stage: Stage, title: str, lines: tuple[str, ...], side_of: tuple[int, ...]
    ) -> None:
        self.stage, self.title, self.lines = stage, title, lines
        self.side_of, self.plan = side_of, stage.plan
        self.crowd: Spectators | None = None
        self._cheers: list[tuple[int, float]] = []  # that the crowd does not know yet
        self.colours = [colour_of((r, g, b)) for r, g, b in stage.colours.tolist()]
        self._title = TitleView(stage)

    def cheer(self, tick: int, share: float) -> None:
        """Let a part of those who look on cheer from a tick on, 0 to 1."""
        if self.plan.game.spectators:
            self._cheers.append((tick, share))

    def draw(self, now: Now, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The picture now, uint8 (H, W, 4); overwritten by the next of its size."""
        stage = self.stage
        is_title = now.flow.phase == "title"
        camera = self._title.camera(now.tick) if is_title else stage.camera
        style = stage.style(samples=1).for_height(size[1])
        more = []
        if self.plan.game.spectators:
            if self.crowd is None:
                self.crowd = Spectators(stage.painter.backend, self.plan)
            self.crowd.follow(now.tick, self._cheers)
            self._cheers.clear()
            more = self.crowd.items(camera, size, style)
        picture = stage.draw(size, camera, style, more=more)
        if is_title:
            self._write_title(now, picture, size)
        else:
            self._write_play(now, picture, size, camera)
        if now.is_paused:
            self._write_pause(picture, size)
        return picture

    # Words

    def _write_title(
        self, now: Now, picture: NDArray[np.uint8], size: tuple[int, int]
    ) -> None:
        wide, high = size
        big, small = max(high // 8, 14), max(high // 24, 9)
        big = _fit(self.title, big, 0.92 * wide)
        top = high // 14
        shade(picture, (0, top - big // 3, wide, big + 2 * small + big // 2), 0.5)
        draw_text(picture, self.title, (wide // 2, top), big, GOLD, "middle")
        line = top + big + round(0.7 * small)
        words = _ask(now.flow)
        if words and (now.tick // (RATE // 2)) % 4 != 3:  # it blinks
            draw_text(picture, words, (wide // 2, line), small, WHITE, "middle")
        lines = self.lines
        fit = min(_fit(text, round(0.9 * small), 0.94 * wide) for text in lines)
        step = round(1.4 * fit)
        first = high - step * len(lines) - small
        shade(picture, (0, first - small // 2, wide, high - first + small), 0.5)
        for row, text in enumerate(lines):
            at = wide // 2, first + row * step
            draw_text(picture, text, at, fit, WHITE, "middle")
        _write_credits(now.flow, picture, size, top - big // 3 - round(1.5 * small))

    def _write_play(
        self,
        now: Now,
        picture: NDArray[np.uint8],
        size: tuple[int, int],
        camera: Camera,
    ) -> None:
        high, flow = size[1], now.flow
        small = max(high // 24, 9)
        if flow.has_rounds:
            self._write_bars(flow, picture, size, small)
        lines = _words(now)
        if lines and not now.is_paused:
            self._write_words(picture, size, lines, camera)
        if flow.settings.coins and flow.phase in ("continue", "game over"):
            _write_credits(flow, picture, size, high - round(1.6 * small))

    def _write_words(
        self,
        picture: NDArray[np.uint8],
        size: tuple[int, int],
        lines: list[tuple[str, float, RGB]],
        camera: Camera,
    ) -> None:
        wide, high = size
        big = max(high // 9, 14)
        heights = [
            _fit(text, max(round(big * part), 9), 0.9 * wide) for text, part, _ in lines
        ]
        sizes = [
            text_size(line[0], tall) for line, tall in zip(lines, heights, strict=True)
        ]
        box = max(own[0] for own in sizes), sum(own[1] for own in sizes)
        x, y = place_words(*self._boxes(camera, size), box, size)
        for (text, _, colour), tall, own in zip(lines, heights, sizes, strict=True):
            draw_text(picture, text, (x, y), tall, colour, "middle")
            y += own[1]

    def _boxes(
        self, camera: Camera, size: tuple[int, int]
    ) -> tuple[list[Box], list[Box]]:
        """Where heads and bodies are in the picture: left, top, right, bottom."""
        state = self.stage.state
        heads, bodies = list[Box](), list[Box]()
        for body in state.bodies:
            node = int(body.plan.checked[2])
            points = state.places[body.rows] + (0.0, TALL, 0.0)
            if node >= 0:
                points = body.world.matrices[:, node, :, 3].astype(np.float64)
            lows = camera.project(state.places[body.rows], size).tolist()
            highs = camera.project(points, size).tolist()
            for (x, y, away), (foot, low, _) in zip(highs, lows, strict=True):
                if not (math.isfinite(x) and math.isfinite(foot)):
                    continue
                metre = camera.scale(size) / away
                side, over, under = ASIDE * metre, OVER * metre, UNDER * metre
                heads.append((x - side, y - over, x + side, y + under))
                left, right = min(x, foot), max(x, foot)
                side = BESIDE * metre
                bodies.append((left - side, min(y, low), right + side, max(y, low)))
        return heads, bodies

    def _write_pause(self, picture: NDArray[np.uint8], size: tuple[int, int]) -> None:
        wide, high = size
        big, small = max(high // 8, 14), max(high // 26, 9)
        shade(picture, (0, 0, wide, high), 0.5)
        middle = wide // 2
        draw_text(picture, "PAUSE", (middle, high // 4), big, GOLD, "middle")
        lines = self.lines
        fit = min(_fit(text, small, 0.9 * wide) for text in lines)
        for row, text in enumerate(lines):
            at = middle, high // 4 + round(1.5 * big) + round(1.5 * row * fit)
            draw_text(picture, text, at, fit, WHITE, "middle")

    # Bars

    def _write_bars(
        self, flow: Flow, picture: NDArray[np.uint8], size: tuple[int, int], small: int
    ) -> None:
        """Names, energy and rounds won: sides left and right of the clock."""
        wide, high = size
        edge = max(wide // 40, 4)
        left, right = _split(self.side_of)
        is_full = max(len(left), len(right)) > 1
        tall = max(high // (44 if is_full else 30), 5)
        name = round(0.8 * small) if is_full else small
        step = tall + round(1.35 * name) + max(high // 120, 3)
        for rows, side in ((left, "left"), (right, "right")):
            for place, row in enumerate(rows):
                y = edge + place * step
                wins = flow.wins[self.side_of[row]]
                shape = edge, y, tall, name
                self._write_bar(picture, size, row, wins, side, shape)
        if flow.settings.seconds:
            clock = f"{math.ceil(flow.seconds_left)}"
            at = wide // 2, edge - 2
            draw_text(picture, clock, at, round(1.3 * small), anchor="middle")

    def _write_bar(
        self,
        picture: NDArray[np.uint8],
        size: tuple[int, int],
        row: int,
        wins: int,
        side: str,
        shape: tuple[int, int, int, int],
    ) -> None:
        """One's bar and name; shape: the edge, y, and heights of bar and name."""
        wide = size[0]
        edge, y, tall, small = shape
        is_left = side == "left"
        length = round(wide * 0.4)
        x = edge if is_left else wide - edge - length
        share = float(self.stage.energy[row]) / self.plan.fight.energy
        colour = self.colours[row]
        draw_bar(picture, (x, y, length, tall), share, colour, from_right=is_left)
        marks = "*" * wins
        name = self.plan.cast[row].name.upper()[:16]
        text = f"{name} {marks}" if is_left else f"{marks} {name}"
        at = (edge if is_left else wide - edge), y + tall + 3
        anchor: Literal["left", "right"] = "left" if is_left else "right"
        draw_text(picture, text.strip(), at, small, colour, anchor)


def _words(now: Now) -> list[tuple[str, float, RGB]]:
    """What is written over the fight: text, height in parts of the large one, and
    colour.
    """
    flow = now.flow
    if flow.phase == "ready":
        is_last = flow.round >= flow.sides * (flow.settings.rounds - 1) + 1 > 1
        name = "FINAL ROUND" if is_last else f"ROUND {flow.round}"
        return [(name, 1.0, GOLD)]
    if flow.phase == "fight":
        is_new = flow.has_rounds and flow.since < 0.8 * RATE
        return [("FIGHT!", 1.0, GOLD)] if is_new else []
    if flow.phase == "continue":
        return [
            (now.message, 0.5, WHITE),
            (f"CONTINUE?  {flow.countdown}", 1.0, GOLD),
            (_ask(flow), 0.4, WHITE),
        ]
    if flow.phase == "game over" and flow.settings.coins:
        return [("GAME OVER", 1.0, GOLD), (now.message, 0.45, WHITE)]
    return [(now.message, 1.0, GOLD)]


def _write_credits(
    flow: Flow, picture: NDArray[np.uint8], size: tuple[int, int], y: int
) -> None:
    if flow.settings.coins:
        small = max(size[1] // 28, 9)
        text = f"CREDITS {flow.credits}"
        draw_text(picture, text, (size[0] // 2, y), small, WHITE, "middle")


def _ask(flow: Flow) -> str:
    """What is to be done to begin, or to go on."""
    needed = 1 if flow.phase == "continue" else flow.cost
    if flow.settings.coins and flow.credits < needed:
        lacks = needed - flow.credits
        return "INSERT COIN" if lacks == 1 else f"INSERT {lacks} COINS"
    return "PRESS A, B OR C"


def _split(side_of: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Rows whose bars are left and right: the first side left, the others right, or
    half and half where each is on a side of its own.
    """
    rows = list(range(len(side_of)))[:MOST_BARS]
    left = [row for row in rows if side_of[row] == side_of[0]]
    right = [row for row in rows if row not in left]
    while len(right) > len(left) + 1 and len(right) > 2:
        left.append(right.pop(0))
    return left, right


def _fit(text: str, height: int, wide: float) -> int:
    """The height at which a text is at most so wide, in pixels."""
    own = text_size(text, height)[0]
    return height if own <= wide else max(int(height * wide / own), 6)
