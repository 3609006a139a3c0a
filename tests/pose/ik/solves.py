"""Solves of chains, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.pose.ik.ccd import CcdState, init_ccd, solve_ccd
from tests.pose.ik.chains import posed

DEGREE = np.radians(1)


def solved(
    layout: Any, reach: Any, rotations: Any, targets: Any, *choices: Any, **named: Any
) -> tuple[CcdState, Any]:
    """The state and the local rows after one solve from rotations (N, B, 4)."""
    local, world = posed(layout, rotations)
    state = init_ccd(reach, len(local))
    solve_ccd(state, local, world, targets, *choices, **named)
    return state, local
