"""One step of a ball near a net, for tests of reactions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from flexor.stage.goal import layout
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import BallSettings, Push, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import init_netting, step_balls
from tests.oracle.ball import INSIDE, OUTSIDE, lay

T = 1 / 240


WEIGHTLESS = BallSettings(gravity=0.0)


# A whole push; the usual one may change.
NET = Push(k1=400, k2a=220, k2b=90, k3=12, k4=0.8, k5=0.15)


def only(**given: float) -> Push:
    """A push with all coefficients 0 but those given."""
    none = dict.fromkeys(("k1", "k2a", "k2b", "k3", "k4", "k5"), 0.0)
    return Push(**{**none, **given})


@cache
def goal(push: Push, ball: BallSettings = WEIGHTLESS) -> Netting:
    return make_goal(GoalSettings(push=push), ball=ball)


def row_of(netting: Netting, name: str) -> int:
    """The row of the outside area of a face."""
    names = [face.name for face in netting.faces]
    marks = netting.areas.marks
    is_own = (marks[:, layout.FACE] == names.index(name)) & (marks[:, layout.OWNER] < 0)
    (row,) = np.flatnonzero(is_own & (marks[:, layout.SIDE] == OUTSIDE))
    return int(row)


def stepped(
    netting: Netting,
    place: Any,
    velocity: Any = (0, 0, 0),
    spin: Any = (0, 0, 0),
    *,
    outside: str = "",
) -> tuple[Any, Any, Any]:
    """Place, velocity and spin after one step of a ball that is inside, or outside in
    the area of the face named.
    """
    state = init_netting(netting)
    side = OUTSIDE if outside else INSIDE
    area = row_of(netting, outside) if outside else -1
    lay(state, place, velocity, spin, side=side, area=area)
    step_balls(state)
    assert state.sides[0, 0].tolist() == [side, area]
    return state.places[0, 0], state.velocities[0, 0], state.spins[0, 0]


def roof(netting: Netting) -> float:
    """The height at which the roof hangs."""
    (face,) = (face for face in netting.faces if face.name == "C")
    return -face.place(0)


# Faces from both sides: name, whether from outside, a place on the plane of the area,
# and the normal. The roof's height is that of the netting: NaN here.
FACES = [
    ("A", False, (-3.57, 1.5, -1.0), (1, 0, 0)),
    ("A", True, (-3.87, 1.5, -1.0), (-1, 0, 0)),
    ("B", False, (3.57, 1.5, -1.0), (-1, 0, 0)),
    ("B", True, (3.87, 1.5, -1.0), (1, 0, 0)),
    ("C", False, (1.0, np.nan, -1.0), (0, -1, 0)),
    ("C", True, (1.0, np.nan, -1.0), (0, 1, 0)),
    ("D", False, (1.0, 1.5, -1.85), (0, 0, 1)),
    ("D", True, (1.0, 1.5, -2.15), (0, 0, -1)),
]


faces = pytest.mark.parametrize(
    ("name", "is_outside", "plane", "normal"),
    FACES,
    ids=[f"{name} {'outside' if out else 'inside'}" for name, out, *_ in FACES],
)


def at(netting: Netting, plane: Any, normal: Any, depth: float) -> Any:
    """A place so deep behind a plane of FACES."""
    place = np.array(plane, float)
    if np.isnan(place[1]):
        place[1] = roof(netting) + 0.15 * normal[1]
    return place - depth * np.array(normal)


def sheet(lower: Any, upper: Any, **named: Any) -> SheetPlan:
    """A flat sheet that hangs where it is drawn."""
    return SheetPlan(lower=lower, upper=upper, hang=0.0, **named)
