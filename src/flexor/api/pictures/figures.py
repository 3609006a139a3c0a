"""Pictures of characters that are posed elsewhere: whole near by, else at levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.api.character import Character
from flexor.api.pictures.coarse import CoarsePainter
from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
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
    """Draws figures of one character into a backend that others draw with, too."""

    def __init__(self, hero: Character, state: FigureState, backend: Backend) -> None:
        self._state = state
        self._assets = upload_scene(backend, hero.scene)[0]
        self._coarse = CoarsePainter(self._assets, state)
        self._parts = scene_parts(hero.scene)
        self._shadow = upload_cast_shadow(
            backend, self._parts.faces, len(self._parts.sources)
        )
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
        """Surfaces of all who are seen.

        world: float32 (N, J, 3, 4); skins: of each primitive positions and normals
        (n, V, 3) of those at level 0; tints: float32 (N, 4), linear.
        """
        if self._dress is None or style != self._style:
            self._style, self._dress = style, dress_scene(self._assets, style)
        found: list[DrawItem] = []
        own = self._state.shown[0]
        if own.level == 0 and own.is_seen.any():
            found += self._whole(self._dress, world, skins, tints)
        return found + self._coarse.items(self._dress, tints)

    def _whole(
        self,
        dress: Dress,
        world: Floats,
        skins: Sequence[tuple[Floats, Floats]],
        tints: Floats,
    ) -> list[DrawItem]:
        """Those at level 0 who are seen."""
        found, own = [], self._state.shown[0]
        turned = turned_parts(dress, world[own.who[0]])
        seen = slice(None) if own.is_seen.all() else np.flatnonzero(own.is_seen)
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
                    positions[seen],
                    normals[seen] if has_normals else None,
                    part.look,
                    part.strokes,
                    tints=tints[own.who[seen]],
                )
            )
        return found

    def shadows(
        self,
        floor: GroundAssets,
        light: Sequence[float],
        skins: Sequence[tuple[Floats, Floats]],
    ) -> list[DrawItem]:
        """Shadows on the ground of all who are shown."""

        def shade(positions: Floats, _: Ints) -> tuple[Floats, Floats]:
            return positions, shade_colours(floor, positions)

        found = self._cast(floor, light, skins) if skins else []
        return found + self._coarse.shadows(light, floor.ground, shade)

    def _cast(
        self,
        floor: GroundAssets,
        light: Sequence[float],
        skins: Sequence[tuple[Floats, Floats]],
    ) -> list[DrawItem]:
        positions = np.concatenate([own for own, _ in skins], 1)
        shadows, count = self._shadows, len(positions)
        if shadows is None or len(shadows.positions) < count:
            shadows = self._shadows = init_shadows(self._parts, count)
        shadows = shadows.rows(slice(0, count))
        cast_shadows(shadows, light, positions, floor.ground)
        return [
            build_shadow(
                self._shadow,
                shadows.positions[row][None],
                colours=shade_colours(floor, shadows.positions[row]),
            )
            for row in np.flatnonzero(shadows.is_cast).tolist()
        ]
