"""Pictures of a goalkeeper: in the backend of a goal, with a shadow."""

from __future__ import annotations

import numpy as np

from flexor.api.character import Character
from flexor.api.pictures.kit import many
from flexor.api.skins import SkinnedPrimitive
from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines
from flexor.draw.items.floor_shadow import (
    ShadowState,
    cast_shadow,
    init_shadow,
    sample_points,
    sample_surface,
    upload_shadow,
)
from flexor.draw.scene.build import Dress, build_items, dress_scene
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import upload_scene
from flexor.pose.pose import Pose
from flexor.scene.character.standing import bounds

__all__ = ["KeeperPainter"]


class KeeperPainter:
    """Draws one character with others; its meshes are uploaded when it is made."""

    def __init__(self, backend: Backend, hero: Character, scale: float) -> None:
        self._hero = hero
        self._assets = upload_scene(backend, hero.scene)[0]
        positions = [skin.positions for skin in hero.deform(hero.pose())]
        faces = [
            part.mesh.faces[:, :3]
            for part in self._assets.parts
            if part.mesh is not None
        ]
        self._meshed = [part.mesh is not None for part in self._assets.parts]
        own = [p for p, has in zip(positions, self._meshed, strict=True) if has]
        self._samples = sample_surface(own, faces)
        self._area = self._samples.area * scale**2
        size = bounds(np.concatenate(own))[1] if own else 1.0
        self._shadow: ShadowState = init_shadow(upload_shadow(backend), size * scale)
        self._skins: list[SkinnedPrimitive] | None = None
        self._style: DrawStyle | None = None
        self._dress: Dress | None = None

    def items(
        self, pose: Pose, style: DrawStyle
    ) -> tuple[list[DrawItem], list[DrawLines]]:
        """What is drawn of a pose in the world."""
        if self._dress is None or style != self._style:
            self._style, self._dress = style, dress_scene(self._assets, style)
        self._skins = self._hero.deform_many(many(pose), self._skins)
        positions: list[Floats] = [skin.positions[0] for skin in self._skins]
        normals = [skin.normals[0] for skin in self._skins]
        items, lines = build_items(self._dress, positions, normals, pose.world)
        found = list(items)
        if style.has_shadow:
            own = [p for p, has in zip(positions, self._meshed, strict=True) if has]
            points = sample_points(self._samples, own)
            shadow = cast_shadow(self._shadow, points, self._area, 0.0)
            if shadow is not None:
                found.append(shadow)
        return found, list(lines)
