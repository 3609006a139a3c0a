"""Pictures of a stage's effects: leaves, snow, drops and water."""

from __future__ import annotations

from functools import cache

import numpy as np

from flexor.arrays import Floats, Pixels
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
from flexor.draw.items.particles import (
    build_leaves,
    build_snow,
    build_splashes,
    upload_leaves,
    upload_snow,
    upload_splashes,
)
from flexor.draw.items.water import build_water, upload_water
from flexor.scene.character.camera import Camera
from flexor.scene.stage.moves import RATE
from flexor.stage.effects.churn import churn_quads
from flexor.stage.effects.endless import blend_series, frame_at, water_series
from flexor.stage.effects.leaves import leaf_quads
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.snow import snow_quads

__all__ = ["SceneryPainter"]

FRAMES, SIDE, TILE = 48, 128, 2.0  # of the series of water, pixels, metres


class SceneryPainter:
    """Draws the effects of one stage; uploaded when it is made."""

    def __init__(self, backend: Backend, state: Scenery) -> None:
        leaves, snow, churn = state.leaves, state.snow, state.churn
        self._leaf_room: Floats = np.zeros((0, 4, 3), np.float32)
        self._snow_room = self._drop_room = self._leaf_room
        if leaves is not None:
            self._leaves = upload_leaves(backend, leaves.kinds)
            self._leaf_room = np.zeros((len(leaves), 4, 3), np.float32)
        if snow is not None:
            self._snow = upload_snow(backend, len(snow.places))
            self._snow_room = np.zeros((len(snow.places), 4, 3), np.float32)
        if churn is not None:
            self._splashes = upload_splashes(backend)
            self._drop_room = np.zeros((len(churn.ages), 4, 3), np.float32)
            self._drop_rows = np.zeros(len(churn.ages), np.int32)
        self._water = None
        if state.plan.water is not None:
            self._water = upload_water(
                backend, state.ground, state.plan.water, _water_pictures()
            )
        self._middle = np.zeros(3)
        if self._water is not None:
            self._middle = self._water.positions.mean(0)

    def items(self, state: Scenery, camera: Camera, tick: int) -> list[DrawItem]:
        """All effects as they are now; state: of the stage that it was made for."""
        items = list[DrawItem]()
        right, up, _ = camera.axes()
        if self._water is not None:
            away = np.linalg.norm(self._middle - np.array(camera.eye))
            frame = frame_at(tick / RATE, np.array([away]), FRAMES, state.plan.ripples)
            items.append(build_water(self._water, int(frame[0])))
        if state.leaves is not None:
            quads = leaf_quads(state.leaves, self._leaf_room)
            items.append(build_leaves(self._leaves, quads))
        if state.snow is not None and state.is_snowing:
            quads = snow_quads(state.snow, right, up, self._snow_room)
            items.append(build_snow(self._snow, quads))
        churn = state.churn
        if churn is not None and churn.live_count:
            rows = self._drop_rows
            count = churn_quads(churn, right, up, self._drop_room, rows)
            own = rows[:count]
            items += build_splashes(
                self._splashes,
                self._drop_room[:count],
                churn.patterns[own],
                churn.is_water[own],
            )
        return items


@cache
def _water_pictures() -> tuple[Pixels, ...]:
    """The series of all water, without an end; to be copied, not changed."""
    long = water_series(2 * FRAMES, (SIDE, SIDE), seed=1, metres=TILE)
    return tuple(blend_series(long[:FRAMES], long[FRAMES:], keep_contrast=True))
