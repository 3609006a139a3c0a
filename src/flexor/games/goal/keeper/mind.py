"""Who moves a goalkeeper: its own mind, or a pad."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.games.goal.keeper.keeper import PLANE, Keeper
from flexor.games.goal.shot import Crossing
from flexor.maths import exact
from flexor.scene.stage.moves import button_mask

__all__ = ["Plan", "follow_plan", "play_keeper", "think", "ways_of"]

LEFT, RIGHT, UP, DOWN = (button_mask(n) for n in ("left", "right", "up", "down"))
DIVE = button_mask("B")
ASIDE, HEIGHTS, HIGHER = 2.1, (0.25, 0.95, 1.9), 0.4  # metres, of dives by a pad
QUICK = 0.42  # seconds that they take
HELP = 0.08  # metres a tick by which hands find the ball by themselves

REACTION = 0.07, 0.23  # seconds, at best and at worst
MISREAD = 0.18  # metres, of the first look
SPUN = 0.5  # share of the bend of a ball that is not seen coming
LATE = 0.07  # metres, of the last look
WRONG = 0.08  # how often it goes the wrong way at balls that are far aside
FAR = 1.0  # metres


@dataclass(frozen=True, slots=True)
class Plan:
    """When it moves, seconds after the shot; where it believes the ball will be, at
    first and at last.
    """

    reaction: float
    first: tuple[float, float]
    last: tuple[float, float]
    seconds: float  # of the shot, until the ball is there

    def guess(self, seconds: float) -> tuple[float, float]:
        """Where it believes the ball will be, so many seconds after the shot."""
        share = (seconds - self.reaction) / max(self.seconds - self.reaction, 0.1)
        s = min(max(share, 0.0), 1.0)
        s = s * s * (3 - 2 * s)
        (a, b), (c, d) = self.first, self.last
        return a + s * (c - a), b + s * (d - b)


def think(true: Crossing, straight: Crossing, rng: np.random.Generator) -> Plan:
    """A plan against a shot; true: where it passes the hands, straight: where it would
    without spin.
    """
    low, high = REACTION
    # All is drawn in any case: the next shot must not depend on how this one was.
    luck, wrong = float(rng.uniform()), float(rng.uniform())
    first, last = exact.normal(rng, MISREAD, 2), exact.normal(rng, LATE, 2)
    reaction = low + (high - low) * luck
    seen_x = true.x + SPUN * (straight.x - true.x) + float(first[0])
    seen_y = true.y + SPUN * (straight.y - true.y) + 0.6 * float(first[1])
    end = true.x + float(last[0]), max(true.y + float(last[1]), 0.11)
    if wrong < WRONG and abs(true.x) > FAR:
        seen_x = -seen_x
        end = seen_x, end[1]
    return Plan(reaction, (seen_x, max(seen_y, 0.11)), end, true.seconds)


def follow_plan(keeper: Keeper, plan: Plan, seconds: float, is_new: bool) -> bool:
    """Move a goalkeeper so many seconds after the shot; gives whether it has begun.

    is_new: whether it has not begun before.
    """
    if keeper.is_free and plan.reaction <= seconds < plan.seconds + 0.1 and is_new:
        keeper.save(*plan.first, plan.seconds - seconds)
        return True
    if keeper.is_reaching and seconds < plan.seconds:
        keeper.target[:2] = plan.guess(seconds)
    return False


def ways_of(held: int) -> tuple[int, int]:
    """Aside and up, each -1, 0 or 1, of the buttons of a pad."""
    across = bool(held & RIGHT) - bool(held & LEFT)
    return across, bool(held & UP) - bool(held & DOWN)


def play_keeper(
    keeper: Keeper, ball: NDArray[np.float64], held: int, pressed: int
) -> None:
    """Move a goalkeeper by a pad: it walks, and dives when B is pressed.

    ball: (13,), place and velocity first.
    """
    across, up = ways_of(held)
    if keeper.is_free:
        if pressed & DIVE:
            x = float(keeper.hip[0]) + ASIDE * across
            y = HEIGHTS[up + 1] + HIGHER * (up > 0 and not across)
            keeper.save(x, y, QUICK)
        else:
            keeper.walk(float(across))
    elif keeper.is_reaching and ball[2] < 4 and ball[5] < -1:
        seconds = max((ball[2] - PLANE) / -ball[5], 0.0)
        way = ball[:2] + ball[3:5] * seconds - keeper.target[:2]
        size = max(exact.hypot(*way), 1e-6)
        keeper.target[:2] += way * min(1.0, HELP / size)
