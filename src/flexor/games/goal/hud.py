"""What is written over the goal: score, time, power, spin, the mark and messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Pixels
from flexor.games.hud import Colour, draw_bar, draw_text, shade, text_size

__all__ = ["Written", "write_over"]

WHITE: Colour = (255, 255, 255)
GOLD: Colour = (255, 214, 84)
RED: Colour = (255, 96, 80)
GREEN: Colour = (112, 232, 128)
PALE: Colour = (205, 214, 224)
MOST_SPIN = 3
NARROW = 0.94  # of the width that a text may take


@dataclass(slots=True)
class Written:
    """What is to be written; None or "" for nothing.

    mark: pixels of the middle of the mark, and its size; power: 0 to 1; spin: steps;
    goals, saves, seconds: of the game; message: large; below: lines under it; corner:
    small, in a corner; flash: 0 to 1, how new the message is; dark: 0 to 1, of all that
    is behind.
    """

    mark: tuple[float, float, float] | None = None
    power: float | None = None
    spin: int | None = None
    goals: int | None = None
    saves: int = 0
    seconds: float = 0.0
    message: str = ""
    colour: Colour = WHITE
    below: tuple[str, ...] = ()
    corner: str = ""
    flash: float = 0.0
    dark: float = 0.0


def write_over(picture: Pixels, what: Written) -> None:
    """Write all of it into a picture (H, W, 4)."""
    high, wide = picture.shape[:2]
    unit = min(wide / 320, high / 240)
    if what.dark:
        shade(picture, (0, 0, wide, high), what.dark)
    if what.mark is not None:
        _draw_mark(picture, *what.mark)
    if what.goals is not None:
        _draw_score(picture, what, unit)
    if what.power is not None:
        _draw_power(picture, what, unit)
    if what.message:
        _draw_message(picture, what, unit)
    if what.corner:
        at = (round(7 * unit), round(25 * unit))
        _fit(picture, what.corner, at, max(round(14 * unit), 9), GOLD, "left")


def _fit(
    picture: Pixels,
    text: str,
    at: tuple[int, int],
    height: int,
    colour: Colour,
    anchor: str,
) -> int:
    """Write a text as large as it may be without being cut off; gives its height."""
    room = NARROW * picture.shape[1]
    while height > 6 and text_size(text, height)[0] > room:
        height -= 1
    draw_text(picture, text, at, height, colour, anchor)  # type: ignore[arg-type]
    return text_size(text, height)[1]


def _draw_score(picture: Pixels, what: Written, unit: float) -> None:
    wide = picture.shape[1]
    shade(picture, (0, 0, wide, round(21 * unit)), 0.5)
    height, top = max(round(13 * unit), 9), round(2 * unit)
    edge = round(7 * unit)
    draw_text(picture, f"GOALS {what.goals}", (edge, top), height, GREEN, "left")
    seconds = int(np.ceil(what.seconds))
    colour = RED if seconds <= 10 else WHITE
    clock = f"{seconds // 60}:{seconds % 60:02d}"
    draw_text(picture, clock, (wide // 2, top), height, colour, "middle")
    draw_text(picture, f"SAVES {what.saves}", (wide - edge, top), height, GOLD, "right")


def _draw_power(picture: Pixels, what: Written, unit: float) -> None:
    high, wide = picture.shape[:2]
    bar, tall = round(140 * unit), max(round(7 * unit), 4)
    y = high - round(12 * unit)
    power = what.power or 0.0
    warm = (255, round(210 - 150 * power), 70)
    draw_bar(picture, ((wide - bar) // 2, y, bar, tall), power, warm)
    small = max(round(9 * unit), 7)
    text_y = y - round(2 * unit)
    left = (wide - bar) // 2 - round(6 * unit)
    draw_text(picture, "POWER", (left, text_y), small, PALE, "right")
    if what.spin is None:
        return
    right = (wide + bar) // 2 + round(8 * unit)
    draw_text(picture, "SPIN", (right, text_y), small, PALE, "left")
    right += text_size("SPIN", small)[0] + round(3 * unit)
    step, middle = round(4 * unit), y + tall // 2
    for n in range(-MOST_SPIN, MOST_SPIN + 1):
        is_on = n == 0 or (what.spin < 0 and what.spin <= n < 0)
        is_on = is_on or (what.spin > 0 and 0 < n <= what.spin)
        size = max(round((3.4 if n == 0 else 2.6) * unit), 2)
        colour = (GOLD if what.spin else WHITE) if is_on else (70, 76, 86)
        # Spin above 0 bends to the left: drawn where the ball will go.
        x = right + (MOST_SPIN - n) * step
        _box(picture, (x, middle - size // 2, max(step - 1, 2), size), colour)


def _box(picture: Pixels, box: tuple[int, int, int, int], colour: Colour) -> None:
    x, y, wide, high = box
    picture[max(y, 0) : max(y + high, 0), max(x, 0) : max(x + wide, 0), :3] = colour


def _draw_message(picture: Pixels, what: Written, unit: float) -> None:
    high, wide = picture.shape[:2]
    size = round((34 + 14 * what.flash) * unit)
    top = round(0.2 * high) if what.below else round(0.66 * high)
    tall = _fit(picture, what.message, (wide // 2, top), size, what.colour, "middle")
    y = top + tall + round(2 * unit)
    # All lines below must fit above the lower edge.
    room = (high - y - round(4 * unit)) / max(len(what.below), 1)
    small = max(min(round(13 * unit), int(room / 1.35)), 6)
    for n, line in enumerate(what.below):
        colour = WHITE if n == 0 else PALE
        y += _fit(picture, line, (wide // 2, y), small, colour, "middle")


def _draw_mark(picture: Pixels, x: float, y: float, size: float) -> None:
    """A ring with a cross: where the ball is meant to go."""
    high, wide = picture.shape[:2]
    reach = int(size * 1.6) + 3
    left, right = max(int(x) - reach, 0), min(int(x) + reach + 1, wide)
    top, bottom = max(int(y) - reach, 0), min(int(y) + reach + 1, high)
    if left >= right or top >= bottom:
        return
    across = np.arange(left, right)[None] + 0.5 - x
    down = np.arange(top, bottom)[:, None] + 0.5 - y
    far = np.hypot(across, down)
    thick = max(size * 0.13, 0.9)
    ring = np.clip(thick + 0.5 - np.abs(far - size), 0, 1)
    bars = np.minimum(np.abs(across), np.abs(down))
    is_bar = (far > size * 0.45) & (far < size * 1.5)
    cross = np.clip(thick * 0.8 + 0.5 - bars, 0, 1) * is_bar
    share = np.maximum(ring, cross)[..., None]
    rim = np.clip(thick + 1.7 - np.abs(far - size), 0, 1)[..., None] * 0.5
    part = picture[top:bottom, left:right, :3]
    dark = part * (1 - rim)
    part[:] = (dark + share * (np.array(RED, np.float64) - dark)).astype(np.uint8)
