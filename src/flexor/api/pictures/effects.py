"""Pictures of a stage's effects: leaves, snow, drops, marks and water."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from flexor.arrays import Floats, Pixels
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem
from flexor.draw.items.marks import (
    build_prints,
    build_rings,
    print_quads,
    ring_corners,
    upload_marks,
)
from flexor.draw.items.particles import (
    build_cloud_shadows,
    build_leaves,
    build_snow,
    build_splashes,
    upload_leaves,
    upload_snow,
    upload_splashes,
)
from flexor.draw.items.water import build_water, upload_water
from flexor.draw.scene.lighting import light_on
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light, Vector
from flexor.scene.stage.moves import RATE
from flexor.stage.effects.churn import churn_quads
from flexor.stage.effects.endless import blend_series, frame_at, water_series
from flexor.stage.effects.layout import PRINT, RING
from flexor.stage.effects.leaves import leaf_quads
from flexor.stage.effects.marks import live_marks
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.snow import snow_quads

__all__ = ["SceneryPainter"]

FRAMES, SIDE, TILE = 48, 128, 2.0  # of the series of water, pixels, metres
CLOUDS: RGB = (0.5, 0.56, 0.62)  # what water mirrors where there is no sky


class SceneryPainter:
    """Draws the effects of one stage; uploaded when it is made.

    way: along which the light of the stage travels.
    """

    def __init__(self, backend: Backend, state: Scenery, way: Vector) -> None:
        leaves, snow, churn = state.leaves, state.snow, state.churn
        self._way = way
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
        if state.marks is not None:
            self._marks = upload_marks(backend, way)
        self._water = None
        if state.plan.water is not None:
            self._water = upload_water(
                backend, state.ground, state.plan.water, _water_pictures()
            )

    def items(
        self,
        state: Scenery,
        camera: Camera,
        tick: int,
        lights: Sequence[Light],
        sky: RGB | None,
    ) -> list[DrawItem]:
        """All effects as they are now; state: of the stage that it was made for; sky:
        linear, what is behind everything, None for nothing.
        """
        items = list[DrawItem]()
        right, up, _ = camera.axes()
        light = _light(lights)
        if self._water is not None:
            eye = np.array(camera.eye)
            away = np.linalg.norm(self._water.middles - eye, axis=1)
            frames = frame_at(tick / RATE, away, FRAMES, state.plan.ripples)
            items += build_water(self._water, frames, eye, sky or CLOUDS, light)
        if state.marks is not None and state.marks.live_count:
            items += self._mark_items(state, camera, light)
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
            is_water = churn.is_water[own]
            sand, size = own[~is_water], churn.settings.size
            shade = build_cloud_shadows(
                self._splashes, churn.places[sand], churn.floors[sand], size, self._way
            )
            drops = build_splashes(
                self._splashes,
                self._drop_room[:count],
                churn.patterns[own],
                is_water,
                light,
            )
            items += [item for item in (shade, drops) if item is not None]
        return items

    def _mark_items(
        self, state: Scenery, camera: Camera, light: RGB
    ) -> Iterator[DrawItem]:
        """Footprints, and rings on water."""
        from flexor.stage.effects.kernels.leaves import lay_down

        marks, ground = state.marks, state.ground
        assert marks is not None
        rows, passed = live_marks(marks, PRINT)
        if len(rows):
            quads, numbers = print_quads(marks.places[rows], marks.ways[rows])
            corners = quads.reshape(-1, 3)
            lay_down(ground.heights, *ground.corner, 1 / ground.step, corners)
            yield build_prints(self._marks, quads, numbers, passed, camera.eye)
        rows, passed = live_marks(marks, RING)
        if len(rows):
            places, sizes = marks.places[rows], marks.sizes[rows]
            corners = ring_corners(self._marks, places, sizes, passed)
            floor = corners.reshape(-1, 3).copy()
            lay_down(ground.heights, *ground.corner, 1 / ground.step, floor)
            depths = corners[..., 1] - floor[:, 1].reshape(corners.shape[:2])
            yield build_rings(self._marks, corners, depths, passed, camera.eye, light)


def _light(lights: Sequence[Light]) -> RGB:
    """What falls on level ground."""
    up = np.array([[0, 1, 0]], np.float32)
    red, green, blue = light_on(lights, np.zeros((1, 3), np.float32), up)[0].tolist()
    return red, green, blue


@cache
def _water_pictures() -> tuple[Pixels, ...]:
    """The series of all water, without an end; to be copied, not changed."""
    long = water_series(2 * FRAMES, (SIDE, SIDE), seed=1, metres=TILE)
    return tuple(blend_series(long[:FRAMES], long[FRAMES:], keep_contrast=True))
