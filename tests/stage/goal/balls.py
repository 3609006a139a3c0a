"""Balls on a field, and nettings to throw them at."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import BallSettings, Gate, Push, Rod, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    shoot,
    step_balls,
)
from tests.oracle.ball import Ball, ball_of

UPRIGHT: Any = {"lower": ((-2, 0, 0), (2, 0, 0)), "upper": ((-2, 3, 0), (2, 3, 0))}


def far_sheet() -> SheetPlan:
    """A sheet where no ball comes by."""
    return SheetPlan(
        lower=((900, 900, 900), (901, 900, 900)),
        upper=((900, 901, 900), (901, 901, 900)),
    )


@cache
def field(ball: BallSettings, *rods: Rod) -> Netting:
    """Nothing but the ground and rods."""
    return make_netting(far_sheet(), ball=ball, rods=rods)


def thrown(own: Netting, place: Any, velocity: Any, spin: Any = (0, 0, 0)) -> Any:
    """A state with one ball."""
    state = init_netting(own)
    shoot(state, place, velocity, spin)
    return state


def ball_after(state: NettingState, steps: int = 1) -> Ball:
    step_balls(state, steps)
    return ball_of(state, 0)


# Against the oracle


def tunnel() -> Netting:
    """Two walls and a roof, open at z = 0 and z = -4, with a rod across it."""
    floor = ((-1.5, 0, 0), (-1.5, 0, -4))
    walls = [
        SheetPlan(
            lower=lower,
            upper=tuple((x, 2.5, z) for x, _, z in lower),
            names=(name,),
            left="fixed",
            right="fixed",
            hang=0.0,
        )
        for name, lower in (
            ("left", floor),
            ("right", tuple((-x, y, z) for x, y, z in reversed(floor))),
        )
    ]
    ends: Any = {"across": (1.5, 0, 0), "up": (0, 1.25, 0)}
    gates = [
        Gate(middle=(0, 1.25, 0), normal=(0, 0, 1), **ends),
        Gate(middle=(0, 1.25, -4), normal=(0, 0, -1), **ends),
    ]
    rods = [Rod((-1.5, 1, -2), (1.5, 1.2, -2), 0.05), Rod((0, 2, 0), (0, 2, 0), 0.2)]
    return make_netting(walls, rods=rods, gates=gates)


NETTINGS = {
    "goal": make_goal,
    "slanted goal": lambda: make_goal(GoalSettings(top_depth=1.0)),
    "another ball": lambda: make_goal(
        GoalSettings(push=Push(k5=2.0, k4=3.0)),
        ball=BallSettings(
            radius=0.2,
            inertia=0.4,
            gravity=4.0,
            drag=0.02,
            curl=0.005,
            ground=1.5,
            bounce=0.3,
            grip=0.1,
            rolling=0.3,
            rod_bounce=0.9,
            rod_grip=0.05,
            rate=480,
        ),
    ),
    "curtain": lambda: make_netting(
        SheetPlan(**UPRIGHT, left="fixed", top="fixed", push=Push(limit=0.6))
    ),
    "two sheets": lambda: make_netting(
        (
            SheetPlan(**UPRIGHT),
            SheetPlan(
                lower=((-2, 0.8, 1), (2, 0.8, 1)), upper=((-2, 1.2, -1), (2, 1.2, -1))
            ),
        )
    ),
    # Around three corners, two of them to the front and one to the back.
    "screen": lambda: make_netting(
        SheetPlan(
            lower=((-2, 0, 0), (-1, 0, -1), (1, 0, -1), (1, 0, 1), (2.5, 0, 1)),
            upper=((-2, 2, 0), (-1, 2, -1), (1, 2, -1), (1, 2, 1), (2.5, 2, 1)),
            push=Push(limit=0.8),
        )
    ),
    "shallow goal": lambda: make_goal(GoalSettings(width=2.0, depth=0.6)),
    "tunnel": tunnel,
}


def near_anything(rng: Any, count: int, netting: Netting) -> tuple[Any, Any, Any]:
    """Places, velocities and spins (n, 3) of shots at a netting."""
    corners = np.concatenate([face.corners for face in netting.faces])
    low, high = corners.min(0) - (0.5, 0, 0.5), corners.max(0) + 0.5
    target = rng.uniform(low, high, (count, 3))
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    places = target - way * rng.uniform(0.1, 2, (count, 1))
    places[:, 1] = np.maximum(places[:, 1], netting.ball.ground + 0.05)
    velocities = way * rng.choice([1, 5, 15, 30, 60], (count, 1))
    spins = rng.normal(size=(count, 3)) * rng.choice([0, 5, 80], (count, 1))
    return places, velocities, spins
