"""Pictures of crowds: what is deformed, in a backend, with ground and shadows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.api.pictures.field import Field, Targets
from flexor.arrays import Floats
from flexor.draw.backend import Backend, open_backend
from flexor.draw.drawlist import DrawItem, DrawList
from flexor.draw.items.crowds import (
    CrowdSurface,
    HeightAt,
    build_shadows,
    build_surface,
    lay_shadows,
    upload_ground_disc,
    upload_shadow_disc,
    upload_surface,
)
from flexor.draw.scene.build import Dress, dress_scene
from flexor.draw.scene.lighting import lights_of
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import SceneAssets, upload_scene
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera
from flexor.scene.stage.ground import Ground
from flexor.stage.crowd.crowd import CrowdState, Shown
from flexor.stage.crowd.standing import middles_of

__all__ = ["CrowdPainter"]

# By kind, level and surface; None where there are no triangles.
Surfaces = list[list[list[CrowdSurface | None]]]


class CrowdPainter:
    """Draws one crowd; its meshes are uploaded when it is made, into a backend that
    others draw with too, if one is given.
    """

    def __init__(
        self,
        characters: Sequence[Character],
        state: CrowdState,
        backend: Backend | None = None,
    ) -> None:
        self._state = state
        self.backend = open_backend("raster") if backend is None else backend
        self._assets: list[SceneAssets] = [
            upload_scene(self.backend, hero.scene)[0] for hero in characters
        ]
        self._surfaces: Surfaces = [
            [
                [
                    upload_surface(
                        assets, surface.sources[bind.blocks.order], bind.faces
                    )
                    for surface, bind in zip(kind.levels.surfaces, binds, strict=True)
                ]
                for binds in kind.binds
            ]
            for assets, kind in zip(self._assets, state.kinds, strict=True)
        ]
        self._disc = upload_shadow_disc(self.backend)
        self._ground_disc = upload_ground_disc(self.backend)
        self._field = Field(self.backend)
        self.targets = Targets()
        self._style: DrawStyle | None = None  # of the last picture
        self._dresses: list[Dress] = []

    def draw(
        self, camera: Camera, size: tuple[int, int], style: DrawStyle | str
    ) -> NDArray[np.uint8]:
        """A picture of what was deformed last."""
        style = style_of(style)
        target = self.targets.take(size, style)
        draw_list = self.draw_list(camera, style.for_height(size[1]))
        return self.backend.draw(draw_list, target)

    def draw_list(self, camera: Camera, style: DrawStyle | str) -> DrawList:
        """All that is to be drawn, in the numbers of `backend`."""
        style = style_of(style)
        kept = style.heat is not None or style.bones or style.names or style.smooth
        if kept or style.show:
            raise SettingError(
                "style: a crowd has no heat, bones, names, smooth or show"
            )
        items = [*self._ground(camera, style), *self._shadows(style)]
        return DrawList(
            camera,
            (*items, *self.surfaces(style)),
            (),
            lights_of(style, camera),
            style.paper,
            style.order,
        )

    def surfaces(self, style: DrawStyle) -> list[DrawItem]:
        """The characters alone, without what they stand on."""
        state, items = self._state, list[DrawItem]()
        if style != self._style:
            self._style = style
            self._dresses = [dress_scene(assets, style) for assets in self._assets]
        for own in state.shown:
            tints = state.colour[own.who]
            for row, surface in enumerate(self._surfaces[own.kind][own.level]):
                if surface is None:
                    continue
                part = self._dresses[own.kind].parts[surface.part]
                shape = own.positions[row], own.normals[row]
                items.append(
                    build_surface(surface, part.look, part.strokes, *shape, tints)
                )
        return items

    def shadows_on(self, ground: Ground) -> list[DrawItem]:
        """Their shadows, laid on a ground."""
        return self._discs(None, ground.height)

    def _ground(self, camera: Camera, style: DrawStyle) -> list[DrawItem]:
        soles = self._state.soles()
        stands = self._state.place[:, 1] + soles
        stands = stands[np.isfinite(stands)]
        floor = float(stands.min()) if len(stands) else 0.0
        # All may jump at once: then it stays where they stand as they are put at 0.
        floor = min(floor, max(float(soles.min()), 0.0) if len(soles) else 0.0)
        shown = [self._state.place[own.who] for own in self._state.shown]
        every = np.concatenate([np.zeros((0, 3)), *shown])
        return self._field.items(camera, style, floor, every)

    def _shadows(self, style: DrawStyle) -> list[DrawItem]:
        return self._discs(style.floor) if style.has_shadow else []

    def _discs(
        self, floor: float | None, height: HeightAt | None = None
    ) -> list[DrawItem]:
        state = self._state
        if not state.shown:
            return []
        who = np.concatenate([own.who for own in state.shown])
        wide = np.concatenate(
            [
                np.full(len(own.who), state.kinds[own.kind].footprint)
                for own in state.shown
            ]
        )
        places = np.concatenate([self._below(own) for own in state.shown])
        if floor is not None:
            places[:, 1] = floor
        reaches = (wide * state.size[who]).astype(np.float32)
        if height is None:
            return [build_shadows(self._disc, places, reaches)]
        return [lay_shadows(self._ground_disc, places, reaches, height)]

    def _below(self, own: Shown) -> Floats:
        """Places (n, 3) on the floor under the bodies of characters as they are now.

        Their middles count, not their places: a clip may show them beside those.
        """
        state, kind = self._state, self._state.kinds[own.kind]
        below = middles_of(own.positions, kind.shares[own.level])
        soles = kind.soles[state.clip[own.who]] * state.size[own.who]
        below[:, 1] = state.place[own.who, 1] + soles
        return below
