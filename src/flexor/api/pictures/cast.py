"""The characters of a stage as things to draw: whole near by, else at levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.detail import kind_of
from flexor.api.pictures.coarse import CoarsePainter, Shade, with_texture
from flexor.api.stage_cast import CastBody
from flexor.arrays import Doubles, Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawLines, DrawTexture
from flexor.draw.items.afterimages import build_afterimage, upload_afterimages
from flexor.draw.items.shadows import build_shadow, upload_cast_shadow
from flexor.draw.scene.build import Dress, dress_scene, part_names, turned_parts
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import upload_scene
from flexor.pose.crowd.level_choice import LevelRule
from flexor.samples.outfits import paint_outfit
from flexor.scene.character.camera import Camera
from flexor.scene.scene import Scene
from flexor.scene.stage.plan import WHITE, StagePlan
from flexor.stage.cast import Body
from flexor.stage.counts import SeenCounts
from flexor.stage.effects.afterimages import strength_of
from flexor.stage.figures import (
    FigureState,
    Sun,
    init_figures,
    see_figures,
    skin_figures,
)
from flexor.stage.frame import BodyFrame, Wanted

__all__ = ["BodyPainter", "View"]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a picture is seen with: camera, size in pixels, rules by which levels are
    chosen, the sun, None without shadows, and how fast those of the stage are: (N,),
    metres a second.
    """

    camera: Camera
    size: tuple[int, int]
    rules: LevelRule | Sequence[LevelRule] | None
    sun: Sun | None
    pace: Doubles | None = None


class BodyPainter:
    """Draws the characters of one body; its meshes are uploaded when it is made, those
    of its levels with the first picture that is drawn with detail.

    counts: what the last picture took of them.
    """

    def __init__(self, backend: Backend, plan: StagePlan, own: CastBody) -> None:
        self._own, self._plan = own, plan
        self._assets = upload_scene(backend, own.hero.scene)[0]
        self._colours = _colours(plan, own)
        self._worn = _find_worn(backend, plan, own)
        # The same, one behind the other.
        self._wears = np.zeros(len(own.rows), np.int32)
        self._tints = np.ones((len(own.rows), 4), np.float32)
        for number, (who, _, tints) in enumerate(self._worn):
            self._wears[who], self._tints[who] = number, tints
        parts = own.plan.parts
        self._shadow, self._part_rows = -1, np.zeros(0, np.int32)
        if parts is not None:
            count = len(parts.sources)
            self._shadow = upload_cast_shadow(backend, parts.faces, count)
            self._part_rows = parts.parts
        self._kept = [
            upload_afterimages(self._assets, group.vertices, group.faces)
            for group in own.plan.groups
        ]
        self._dress: Dress | None = None
        self._figures: FigureState | None = None
        self._coarse: CoarsePainter | None = None
        self._is_coarse = False  # whether the last picture has any at levels above 0
        self._triangles = sum(
            0
            if part.mesh is None
            else len(_triangles(own.hero.scene, part.node, part.primitive))
            for part in self._assets.parts
        )
        self.counts = SeenCounts()

    def see(self, body: Body, view: View | None) -> Wanted | None:
        """Choose who is seen how, and deform those of coarser levels; gives who is to
        be deformed whole, None for all; view: None: all are.
        """
        world, count = body.world.matrices, len(body)
        self._is_coarse = False
        if view is None:
            every = np.arange(count, dtype=np.int32)
            self._count(body, every, every)
            return None
        figures = self._figures
        if figures is None:
            kind = kind_of(self._own.hero, count)
            figures = self._figures = init_figures(kind, count)
            if len(kind.levels) > 1:
                walls = None if body.shadows is None else body.shadows.walls
                self._coarse = CoarsePainter(self._assets, figures, walls)
        if view.pace is not None:
            figures.pace[:] = view.pace[body.rows]
        see_figures(figures, world, view.camera, view.size, view.rules, sun=view.sun)
        skin_figures(figures, world)
        self._is_coarse = any(own.level > 0 for own in figures.shown)
        whole = shaded = np.zeros(0, np.int32)
        if figures.shown and figures.shown[0].level == 0:
            first = figures.shown[0]
            whole = first.who[first.is_seen]
            shaded = whole[:0] if view.sun is None else first.who
        self._count(body, whole, np.union1d(whole, shaded))
        self.counts += SeenCounts(
            int(figures.is_seen.sum()) - len(whole),
            figures.nodes,
            figures.vertices,
            figures.triangles,
        )
        if len(whole) == count:
            return None
        return Wanted(whole, shaded)

    def _count(self, body: Body, whole: Ints, skinned: Ints) -> None:
        vertices = sum(part.shape[1] for part in body.positions)
        self.counts = SeenCounts(
            len(whole),
            len(skinned) * body.world.matrices.shape[1],
            len(skinned) * vertices,
            len(whole) * self._triangles,
        )

    def dress(self, style: DrawStyle) -> None:
        """Put on what a style has them look like."""
        own = _own_style(style, self._assets.scene)
        self._dress = dress_scene(self._assets, own)

    def shadows(self, body: BodyFrame, sun: Sun | None, shade: Shade) -> list[DrawItem]:
        """Shadows as ground that the sun does not reach, one for each who has one."""
        found = list[DrawItem]()
        if body.shadow is not None:
            shadow, is_cast, met = body.shadow, body.has_shadow, body.met
            if body.wanted is not None:
                rows = body.wanted.shaded
                shadow, is_cast = shadow[rows], is_cast[rows]
                met = None if met is None else met[rows]
            if len(shadow):
                on = np.full((1, 1), -1, np.int32)
                if met is not None and (met >= 0).any():
                    on = met[:, self._part_rows]
                shadow, colours = shade(shadow, on)
                found += [
                    build_shadow(self._shadow, shadow[n][None], colours=colours[n])
                    for n in np.flatnonzero(is_cast).tolist()
                ]
        if sun is not None and self._coarse is not None and self._is_coarse:
            found += self._coarse.shadows(self._plan.light, sun.ground, shade)
        return found

    def items(self, body: BodyFrame, shaded: Floats) -> list[DrawItem]:
        """Surfaces; shaded: float32 (n, 4), what light is left to each."""
        dress = self._dress
        if not len(body.rows) or dress is None:
            return []
        items = self._whole(dress, body, shaded)
        if self._coarse is not None and self._is_coarse:
            textures = self._wears, [texture for _, texture, _ in self._worn]
            items += self._coarse.items(dress, self._tints * shaded, textures)
        return items

    def _whole(self, dress: Dress, body: BodyFrame, shaded: Floats) -> list[DrawItem]:
        """Those at level 0."""
        turned = turned_parts(dress, body.world[0])
        worn = self._worn
        if body.wanted is not None:
            whole = body.wanted.whole
            wears = self._wears[whole]
            worn = [
                (who, texture, self._tints[who])
                for number, (_, texture, _) in enumerate(worn)
                if len(who := whole[wears == number])
            ]
        items = []
        for part, positions, normals, is_turned in zip(
            dress.parts, body.positions, body.normals, turned, strict=True
        ):
            if part.mesh is None:
                continue
            number = part.number
            if is_turned:
                number = dress.assets.turned(number, part.mesh)
            has_normals = part.look.shading != "flat"
            for who, texture, tints in worn:
                items.append(
                    DrawItem(
                        number,
                        positions[who],
                        normals[who] if has_normals else None,
                        with_texture(part.look, texture),
                        part.strokes,
                        tints=tints * shaded[who],
                    )
                )
        return items

    def faint_items(
        self, body: BodyFrame, tick: int, style: DrawStyle
    ) -> tuple[list[DrawItem], list[DrawLines]]:
        """Afterimages of those at level 0."""
        items: list[DrawItem] = []
        lines: list[DrawLines] = []
        settings = self._plan.effects.afterimages
        for image in body.afterimages:
            strength = strength_of(settings, tick - image.tick)
            more, strokes = build_afterimage(
                self._kept[image.group],
                image.positions,
                image.normals,
                self._colours[image.who],
                strength,
                settings.style,
                (style.line_width or 1.5) / 2,
            )
            items += more
            lines += strokes
        return items, lines


def _triangles(scene: Scene, node: int, primitive: int) -> Ints:
    found: Ints = scene.meshes[scene.node_mesh[node]].primitives[primitive].triangles()
    return found


def _colours(plan: StagePlan, own: CastBody) -> NDArray[np.float32]:
    """The colour of each character of a body: (n, 4), linear."""
    colours = [(*plan.cast[row].colour, 1.0) for row in own.rows]
    return np.array(colours, np.float32).reshape(-1, 4)


def _find_worn(
    backend: Backend, plan: StagePlan, own: CastBody
) -> list[tuple[Any, int, NDArray[np.float32]]]:
    """Who of one body wears what: rows of the body, the texture's number, tints (N, 4).

    Without an outfit the number is -1, and the tint is the colour, as it is for the
    wood; an outfit has its colour in its texture.
    """
    is_wooden = own.hero.scene.meshes is samples.mannequin().scene.meshes
    groups: dict[tuple[str, RGB], list[int]] = {}
    for number, row in enumerate(own.rows):
        actor = plan.cast[row]
        is_bare = actor.outfit == "none" or not is_wooden
        key = ("none", WHITE) if is_bare else (actor.outfit, actor.colour)
        groups.setdefault(key, []).append(number)
    found: list[tuple[Any, int, NDArray[np.float32]]] = []
    for (outfit, colour), rows in groups.items():
        who: Any = np.array(rows)
        if rows == list(range(rows[0], rows[-1] + 1)):
            who = slice(rows[0], rows[-1] + 1)  # nothing is copied
        texture, tints = -1, np.ones((len(rows), 4), np.float32)
        if outfit != "none":
            pixels = paint_outfit(own.hero.scene, outfit, colour)
            texture = backend.upload(DrawTexture(pixels))
        else:
            tints[:, :3] = [plan.cast[own.rows[n]].colour for n in rows]
        found.append((who, texture, tints))
    return found


def _own_style(style: DrawStyle, scene: Scene) -> DrawStyle:
    """The style for one of several characters: each has some of the smooth parts."""
    if style.smooth is None:
        return style
    known = part_names(scene)
    return replace(style, smooth=tuple(n for n in style.smooth if n in known))
