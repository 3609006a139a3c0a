"""All effects of a stage: leaves, snow, churned sand and water, marks of feet.

Each is a small state of its own; what a stage has none of is None and costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError
from flexor.scene.stage.effect_settings import EffectPlan
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES
from flexor.stage.effects.churn import Churn, init_churn, step_churn
from flexor.stage.effects.gusts import gust_at
from flexor.stage.effects.layout import CHECKED
from flexor.stage.effects.leaves import Leaves, init_leaves, step_leaves
from flexor.stage.effects.marks import Marks, init_marks, step_marks
from flexor.stage.effects.snow import Snow, init_snow, step_snow, stir_snow
from flexor.stage.effects.wind import Wind, find_wind
from flexor.stage.hashing import Hashed, Unhashed

__all__ = ["Scenery", "init_scenery", "step_scenery"]

# Places, among the parts that are looked at, of those that make wind and stir snow.
WINDY = slice(0, 3)  # feet and head
STIRRING = slice(0, 6)  # these, hips and hands


@dataclass(slots=True, eq=False)
class Scenery:
    """Effects of a stage with N characters.

    leaves, snow, churn, marks: None where there are none; is_snowing: can be written
    to; parts, before: float64 (N, 8, 3), where the parts of CHECKED are, and were a
    tick ago; has_before: whether they were anywhere; wind: of the last tick.
    """

    plan: Unhashed[EffectPlan]
    ground: Unhashed[Ground]
    leaves: Hashed[Leaves | None]
    snow: Hashed[Snow | None]
    churn: Hashed[Churn | None]
    marks: Hashed[Marks | None]
    is_snowing: Hashed[bool]
    parts: Hashed[Doubles]
    before: Hashed[Doubles]
    has_before: Hashed[bool] = False
    wind: Unhashed[Wind | None] = None

    @property
    def is_any(self) -> bool:
        """Whether there is anything to do in a tick."""
        own = self.leaves, self.snow, self.churn, self.marks
        return any(effect is not None for effect in own)


def init_scenery(
    plan: EffectPlan, ground: Ground, count: int, chance: np.random.Generator
) -> Scenery:
    """The effects of a plan, for so many characters.

    Each effect has its own generator, so that one does not change when another is
    left out.
    """
    leaf_chance, snow_chance, churn_chance = chance.spawn(3)
    leaves = snow = churn = marks = None
    if plan.leaves:
        spots = _spots(plan, ground, leaf_chance)
        leaves = init_leaves(ground, spots, leaf_chance, plan.leaf)
    if plan.snow:
        snow = init_snow(ground, plan.snow, snow_chance, plan.flake)
    wet = ground.surfaces >= SURFACES.index("sand")
    if plan.churn and count and wet.any():
        if len(plan.drops.parts) > len(CHECKED):
            raise SettingError(
                f"drops: parts: {len(plan.drops.parts)}, expected {len(CHECKED)} at "
                f"most, of {', '.join(CHECKED)}"
            )
        churn = init_churn(count, churn_chance, plan.drops)
    if (plan.marks.prints or plan.marks.rings) and count and wet.any():
        marks = init_marks(count, plan.marks)
    shape = (count, len(CHECKED), 3)
    return Scenery(
        plan,
        ground,
        leaves,
        snow,
        churn,
        marks,
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


def step_scenery(state: Scenery, tick: int, headings: Doubles) -> None:
    """A tick; `parts` are where feet, heads and others are now; headings: (N,)."""
    state.wind = None
    plan, parts, before = state.plan, state.parts, state.before
    if state.leaves is not None:
        if state.has_before:
            own = np.ascontiguousarray(parts[:, WINDY])
            old = np.ascontiguousarray(before[:, WINDY])
            state.wind = find_wind(old, own, plan.wind)
        step_leaves(state.leaves, state.wind, state.ground)
    if state.snow is not None and state.is_snowing:
        if state.has_before:
            own = np.ascontiguousarray(parts[:, STIRRING])
            old = np.ascontiguousarray(before[:, STIRRING])
            stir_snow(state.snow, old, own, plan.wind)
        step_snow(state.snow, state.ground, gust_at(tick, plan.gusts))
    if state.churn is not None:
        own = parts
        if state.churn.lasts.shape[1] < len(CHECKED):
            own = np.ascontiguousarray(parts[:, : state.churn.lasts.shape[1]])
        step_churn(state.churn, own, state.ground, water=plan.water)
    if state.marks is not None and state.has_before:
        step_marks(state.marks, before, parts, headings, state.ground, state.churn)
    state.before[:] = parts
    state.has_before = True
