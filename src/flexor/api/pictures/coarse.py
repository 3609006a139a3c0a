"""Characters at levels of detail above 0, as things to draw: surfaces and shadows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawItem, Look
from flexor.draw.items.crowds import CrowdSurface, build_surface, upload_surface
from flexor.draw.items.shadows import build_shadow, upload_cast_shadow
from flexor.draw.scene.build import Dress
from flexor.draw.scene.upload import SceneAssets
from flexor.scene.stage.ground import Ground
from flexor.stage.effects.shadow_walls import ShadowWalls
from flexor.stage.figure_shadows import cast_figures, init_figure_shadows
from flexor.stage.figures import FigureState

__all__ = ["CoarsePainter", "Shade", "Textures", "with_texture"]

# Gives where shadows (n, P, 3) are seen, and their colours (n, P, 4), of the structures
# that places are on, int32 (n, P), -1 for the ground.
Shade = Callable[[Floats, Ints], tuple[Floats, Floats]]
# Who wears what: int32 (N,), rows of the list of numbers of textures, -1 for their own.
Textures = tuple[Ints, Sequence[int]]


class CoarsePainter:
    """Draws those who are shown at levels above 0 into the backend of the assets."""

    def __init__(
        self, assets: SceneAssets, state: FigureState, walls: ShadowWalls | None = None
    ) -> None:
        kind, backend = state.kind, assets.backend
        self._state = state
        self._surfaces: list[list[CrowdSurface | None]] = [
            [
                upload_surface(assets, surface.sources[bind.blocks.order], bind.faces)
                for surface, bind in zip(kind.levels.surfaces, binds, strict=True)
            ]
            for binds in kind.binds[1:]
        ]
        self._shadows = init_figure_shadows(assets.scene, kind, walls)
        self._meshes = [
            -1
            if parts is None
            else upload_cast_shadow(backend, parts.faces, len(parts.sources))
            for parts in self._shadows.parts
        ]

    def items(
        self, dress: Dress, tints: Floats, textures: Textures | None = None
    ) -> list[DrawItem]:
        """Surfaces; tints: float32 (N, 4), linear."""
        found = []
        for own in self._state.shown:
            if not own.level or not own.is_seen.any():
                continue
            for rows, texture in _worn(own.who, own.is_seen, textures):
                colours = tints[own.who[rows]]
                for row, surface in enumerate(self._surfaces[own.level - 1]):
                    if surface is None:
                        continue
                    part = dress.parts[surface.part]
                    item = build_surface(
                        surface,
                        with_texture(part.look, texture),
                        part.strokes,
                        own.positions[row][rows],
                        own.normals[row][rows],
                        colours,
                    )
                    found.append(item)
        return found

    def shadows(
        self, light: Sequence[float], ground: Ground, shade: Shade
    ) -> list[DrawItem]:
        """Their shadows, on the ground and on walls."""
        found: list[DrawItem] = []
        for own in self._state.shown:
            mesh = self._meshes[own.level]
            cast = (
                cast_figures(self._shadows, own, light, ground) if own.level else None
            )
            if cast is None or mesh < 0:
                continue
            positions, colours = shade(cast.positions, cast.met[:, cast.part_rows])
            found += [
                build_shadow(mesh, positions[row][None], colours=colours[row])
                for row in np.flatnonzero(cast.is_cast).tolist()
            ]
        return found


def _worn(
    who: Ints, is_seen: NDArray[np.bool_], textures: Textures | None
) -> list[tuple[slice | NDArray[np.intp], int]]:
    """Rows of those who wear the same, and its texture."""
    if textures is None or len(textures[1]) == 1:
        texture = -1 if textures is None else textures[1][0]
        if is_seen.all():
            return [(slice(0, len(who)), texture)]
        return [(np.flatnonzero(is_seen), texture)]
    wears, numbers = textures
    found: list[tuple[slice | NDArray[np.intp], int]] = []
    for group in np.unique(wears[who[is_seen]]).tolist():
        rows = np.flatnonzero(is_seen & (wears[who] == group))
        found.append((rows, numbers[group]))
    return found


@lru_cache(64)
def with_texture(look: Look, texture: int) -> Look:
    """A look with another texture, where it has one and another is given."""
    is_same = texture < 0 or look.texture < 0
    return look if is_same else replace(look, texture=texture)
