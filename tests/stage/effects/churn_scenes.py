"""A foot that goes in and out of sand and water."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.scene.stage.effect_settings import ChurnSettings
from flexor.scene.stage.ground import Ground, make_ground
from flexor.stage.effects.churn import Churn, init_churn, step_churn


def level(surface: str = "sand", height: float = 0.0) -> Ground:
    return make_ground(np.full((2, 2), height), (-20, -20), 40.0, surface)


def foot(
    *way: Any, surface: str = "sand", water: float | None = None, **rules: Any
) -> Churn:
    """A foot that goes from place to place, a tick each."""
    settings = ChurnSettings(parts=("foot",), **rules)
    state = init_churn(1, np.random.default_rng(3), settings)
    for place in way:
        step_churn(
            state, np.array(place, float)[None, None], level(surface), water=water
        )
    return state


def live(state: Churn) -> Any:
    return np.flatnonzero(state.ages >= 0)
