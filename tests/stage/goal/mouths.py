"""A goal, and balls that go past its line."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from flexor.stage.goal.netting import Netting
from flexor.stage.goal.soccer import GoalSettings, make_goal


@cache
def goal(top_depth: float | None = None) -> Netting:
    return make_goal(GoalSettings(top_depth=top_depth))


def deepest(netting: Netting, places: Any) -> Any:
    """How far places are within the hollow: the least over faces and the goal line."""
    planes = [(face.normal, face.place(0.0)) for face in netting.faces]
    planes += [(-gate[:3], -gate[3]) for gate in netting.gates]
    return np.min([places @ normal - offset for normal, offset in planes], axis=0)
