"""All effects of a stage: leaves, snow, churned sand and water, afterimages.

Each is a small state of its own; what a stage has none of is None and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES
from flexor.stage.effects.churn import Churn, init_churn, step_churn
from flexor.stage.effects.gusts import gust_at
from flexor.stage.effects.leaves import Leaves, init_leaves, step_leaves
from flexor.stage.effects.snow import Snow, init_snow, step_snow
from flexor.stage.effects.wind import Wind, find_wind
from flexor.stage.hashing import Hashed, Unhashed

__all__ = ["CHECKED", "Scenery", "init_scenery", "step_scenery"]

# Parts that are looked at, and their places among those that churn and make wind.
CHECKED = ("leftFoot", "rightFoot", "head", "hips")
WINDY = slice(0, 3)  # feet and head


@dataclass(slots=True, eq=False)
class Scenery:
    """Effects of a stage with N characters.

    leaves, snow, churn: None where there are none; is_snowing: can be written to;
    parts, before: float64 (N, 4, 3), where feet, head and hips are, and were a tick
    ago; has_before: whether they were anywhere; wind: of the last tick.
    """

    plan: Unhashed[EffectPlan]
    ground: Unhashed[Ground]
    leaves: Hashed[Leaves | None]
    snow: Hashed[Snow | None]
    churn: Hashed[Churn | None]
    is_snowing: Hashed[bool]
    parts: Hashed[Doubles]
    before: Hashed[Doubles]
    has_before: Hashed[bool] = False
    wind: Unhashed[Wind | None] = None

    @property
    def is_any(self) -> bool:
        """Whether there is anything to do in a tick."""
        return not (self.leaves is None and self.snow is None and self.churn is None)


def init_scenery(
    plan: EffectPlan, ground: Ground, count: int, chance: np.random.Generator
) -> Scenery:
    """The effects of a plan, for so many characters.

    Each effect has its own generator, so that one does not change when another is
    left out.
    """
    leaf_chance, snow_chance, churn_chance = chance.spawn(3)
    leaves = snow = churn = None
    if plan.leaves:
        spots = _spots(plan, ground, leaf_chance)
        leaves = init_leaves(ground, spots, leaf_chance, plan.leaf)
    if plan.snow:
        snow = init_snow(ground, plan.snow, snow_chance, plan.flake)
    wet = ground.surfaces >= SURFACES.index("sand")
    if plan.churn and count and wet.any():
        churn = init_churn(count, churn_chance, plan.drops)
    shape = (count, len(CHECKED), 3)
    return Scenery(
        plan,
        ground,
        leaves,
        snow,
        churn,
        plan.is_snowing,
        np.zeros(shape),
        np.zeros(shape),
    )


def _spots(plan: EffectPlan, ground: Ground, chance: np.random.Generator) -> Doubles:
    """Where leaves lie: (L, 2), x and z."""
    if plan.leaf_area is not None:
        low, high = np.array(plan.leaf_area[:2]), np.array(plan.leaf_area[2:])
    else:
        low = np.array(ground.corner)
        rows, columns = ground.surfaces.shape
        high = low + ground.step * np.array([columns, rows])
    return chance.uniform(low, high, (plan.leaves, 2))


def step_scenery(state: Scenery, tick: int) -> None:
    """A tick; `parts` are where feet, heads and hips are now."""
    state.wind = None
    if state.leaves is not None:
        if state.has_before:
            own = np.ascontiguousarray(state.parts[:, WINDY])
            old = np.ascontiguousarray(state.before[:, WINDY])
            state.wind = find_wind(old, own, state.plan.wind)
        step_leaves(state.leaves, state.wind, state.ground)
    if state.snow is not None and state.is_snowing:
        step_snow(state.snow, state.ground, gust_at(tick, state.plan.gusts))
    if state.churn is not None:
        step_churn(state.churn, state.parts, state.ground, water=state.plan.water)
    state.before[:] = state.parts
    state.has_before = True
