"""Pictures of characters that are posed elsewhere: whole near by, else at levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.api.character import Character
from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
from flexor.draw.items.crowds import (
    DARKER,
    CrowdSurface,
    build_shadows,
    build_surface,
    upload_shadow_disc,
    upload_surface,
)
from flexor.draw.items.ground.build import GroundAssets, shade_colours
from flexor.draw.items.shadows import build_shadow, upload_cast_shadow
from flexor.draw.scene.build import Dress, dress_scene, turned_parts
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import upload_scene
from flexor.stage.effects.shadows import (
    Shadows,
    cast_shadows,
    init_shadows,
    scene_parts,
)
from flexor.stage.figures import FigureState

__all__ = ["FigurePainter"]


class FigurePainter:
    """Draws figures of one character into a backend that others draw with, too.

    drawn: how many triangles the last items have.
    """

    def __init__(self, hero: Character, state: FigureState, backend: Backend) -> None:
        self._state, self._hero = state, hero
        self._assets = upload_scene(backend, hero.scene)[0]
        kind = state.kind
        self._surfaces: list[list[CrowdSurface | None]] = [
            [
                upload_surface(
                    self._assets, surface.sources[bind.blocks.order], bind.faces
                )
                for surface, bind in zip(kind.levels.surfaces, binds, strict=True)
            ]
            for binds in kind.binds
        ]
        self._parts = scene_parts(hero.scene)
        self._shadow = upload_cast_shadow(
            backend, self._parts.faces, len(self._parts.sources)
        )
        self._disc = upload_shadow_disc(backend, DARKER)
        self._shadows: Shadows | None = None
        self._style: DrawStyle | None = None  # of the last picture
        self._dress: Dress | None = None

    def items(
        self,
        style: DrawStyle,
        world: Floats,
        skins: Sequence[tuple[Floats, Floats]],
        tints: Floats,
    ) -> list[DrawItem]:
        """Surfaces of all who are shown.

        world: float32 (N, J, 3, 4); skins: of each primitive positions and normals
        (n, V, 3) of those at level 0; tints: float32 (N, 4), linear.
        """
        if self._dress is None or style != self._style:
            self._style, self._dress = style, dress_scene(self._assets, style)
        found: list[DrawItem] = []
        for own in self._state.shown:
            if own.level == 0:
                found += self._whole(
                    self._dress, world[own.who[0]], skins, tints[own.who]
                )
                continue
            for row, surface in enumerate(self._surfaces[own.level]):
                if surface is not None:
                    part = self._dress.parts[surface.part]
                    shape = own.positions[row], own.normals[row]
                    item = build_surface(
                        surface, part.look, part.strokes, *shape, tints[own.who]
                    )
                    found.append(item)
        return found

    def _whole(
        self,
        dress: Dress,
        world: Floats,
        skins: Sequence[tuple[Floats, Floats]],
        tints: Floats,
    ) -> list[DrawItem]:
        """Those at level 0; world: (J, 3, 4), of one of them."""
        found = []
        turned = turned_parts(dress, world)
        for part, (positions, normals), is_turned in zip(
            dress.parts, skins, turned, strict=True
        ):
            if part.mesh is None:
                continue
            number = part.number
            if is_turned:
                number = dress.assets.turned(number, part.mesh)
            has_normals = part.look.shading != "flat"
            found.append(
                DrawItem(
                    number,
                    positions,
                    normals if has_normals else None,
                    part.look,
                    part.strokes,
                    tints=tints,
                )
            )
        return found

    def shadows(
        self,
        floor: GroundAssets,
        light: Sequence[float],
        skins: Sequence[tuple[Floats, Floats]],
    ) -> list[DrawItem]:
        """Shadows on the ground: of those at level 0 as they are, soft discs of others,
        under the middle of each.
        """
        state, found = self._state, []
        for own in state.shown:
            if own.level == 0:
                found += self._cast(floor, light, skins)
                continue
            places = state.middles[own.who].copy()
            reaches = np.full(len(places), state.kind.footprint, np.float32)
            height = floor.ground.height
            found.append(build_shadows(self._disc, places, reaches, height))
        return found

    def _cast(
        self,
        floor: GroundAssets,
        light: Sequence[float],
        skins: Sequence[tuple[Floats, Floats]],
    ) -> list[DrawItem]:
        positions = np.concatenate([own for own, _ in skins], 1)
        shadows = self._shadows
        if shadows is None or len(shadows.positions) != len(positions):
            shadows = self._shadows = init_shadows(self._parts, len(positions))
        cast_shadows(shadows, light, positions, floor.ground)
        return [
            build_shadow(
                self._shadow,
                shadows.positions[row][None],
                colours=shade_colours(floor, shadows.positions[row]),
            )
            for row in np.flatnonzero(shadows.is_cast).tolist()
        ]
