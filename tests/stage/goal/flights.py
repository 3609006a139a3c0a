"""Goals and balls that fly at them, for tests of sides."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import BallSettings, Push, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal


@cache
def goal(top_depth: float | None = None) -> Netting:
    return make_goal(GoalSettings(top_depth=top_depth))


def deepest(netting: Netting, places: Any) -> Any:
    """How far places are within the hollow: the least over faces and the goal line."""
    planes = [(face.normal, face.place(0.0)) for face in netting.faces]
    planes += [(-gate[:3], -gate[3]) for gate in netting.gates]
    return np.min([places @ normal - offset for normal, offset in planes], axis=0)


@cache
def curtain() -> Netting:
    """A sheet 8 m wide and 3 m high at z = 0, held above, with no gate."""
    return make_netting(
        SheetPlan(
            lower=((-4, 0, 0), (4, 0, 0)),
            upper=((-4, 3, 0), (4, 3, 0)),
            top="sprung",
            hang=0.0,
            push=Push(k4=0.0),
        ),
        ball=BallSettings(gravity=0.0),
    )
