"""Shots at a goal: from where a player aims to how a ball is struck, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flexor.maths import exact
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.state import init_netting, shoot, step_balls

__all__ = ["SPOT", "Crossing", "Shot", "make_shot", "predict", "speed_of"]

SPOT = (0.0, 0.11, 11.0)  # where the ball lies
SLOWEST, FASTEST = 14.0, 31.0  # metres a second
SPIN = 22.0  # radians a second, of each step of spin
NEAR = 0.35  # metres before the line up to which a ball meets no post
ROUNDS = 5
LATEST = 3.0  # seconds
FASTER = 40.0  # metres a second, more than falls and spin may add to a ball's speed


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where and when a ball passes a plane before the goal: metres and seconds; vx, vy:
    how fast it moves aside and up then.
    """

    x: float
    y: float
    seconds: float
    vx: float = 0.0
    vy: float = 0.0


@dataclass(frozen=True, slots=True)
class Shot:
    """How a ball is struck: metres a second, radians a second."""

    velocity: tuple[float, float, float]
    spin: tuple[float, float, float]


def speed_of(power: float) -> float:
    """Metres a second of a shot; power: 0 to 1."""
    return SLOWEST + (FASTEST - SLOWEST) * power


def predict(netting: Netting, shot: Shot, plane: float) -> Crossing | None:
    """Where a ball that is struck so passes z = plane; None if it never does."""
    state = init_netting(netting)
    shoot(state, SPOT, shot.velocity, shot.spin)
    body, rate = state.bodies[0, 0], netting.ball.rate
    last = int(LATEST * rate)
    step = 0
    while step < last:
        # So many steps at once as cannot bring it there, however fast it becomes.
        speed = math.sqrt(float(exact.multiply(body[3:6], body[3:6]))) + FASTER
        many = min(int((float(body[2]) - plane) / speed * rate), last - step) - 1
        if many > 0:
            step_balls(state, many)
            step += many
            continue
        old = body[:3].copy()
        step_balls(state)
        if body[2] <= plane:
            part = float((old[2] - plane) / max(old[2] - body[2], 1e-9))
            x, y = (old[:2] + part * (body[:2] - old[:2])).tolist()
            vx, vy = body[3:5].tolist()
            return Crossing(x, y, (step + part) / rate, vx, vy)
        step += 1
    return None


def make_shot(
    netting: Netting, aim: tuple[float, float], power: float, spin: int
) -> Shot:
    """A shot that passes the goal line at `aim`, metres aside and up.

    spin: steps, above 0 the ball bends to the left. The way of a ball in air is not
    solved but tried: each try is put right by what the last one was off.
    """
    speed = speed_of(power)
    turning = (0.0, spin * SPIN, 0.0)
    seconds = SPOT[2] / speed
    x, y = aim[0] / seconds, (aim[1] - SPOT[1]) / seconds + 9.81 * seconds / 2
    for _ in range(ROUNDS):
        flat = math.sqrt(max(speed * speed - x * x - y * y, 1.0))
        shot = Shot((x, y, -flat), turning)
        found = predict(netting, shot, NEAR)
        if found is None:
            break
        # From there to the line a ball goes on as it came.
        more = NEAR / flat
        x += (aim[0] - found.x - found.vx * more) / found.seconds
        y += (aim[1] - found.y - found.vy * more) / found.seconds
    flat = math.sqrt(max(speed * speed - x * x - y * y, 1.0))
    return Shot((float(x), float(y), -float(flat)), turning)
