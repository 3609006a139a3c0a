"""Pictures of stages: ground, structures, characters and their shadows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.pictures.effects import SceneryPainter
from flexor.api.pictures.field import Targets
from flexor.api.stage_cast import CastBody
from flexor.draw.backend import Backend, open_backend
from flexor.draw.drawlist import (
    RGB,
    DrawItem,
    DrawLines,
    DrawList,
    DrawTexture,
    Look,
)
from flexor.draw.items.afterimages import build_afterimage, upload_afterimages
from flexor.draw.items.apron import build_apron, upload_apron
from flexor.draw.items.backdrop import Backdrop, paint_backdrop, read_backdrop
from flexor.draw.items.ground.build import build_ground, shade_colours, upload_ground
from flexor.draw.items.ground.marks import LEFT, mark_ground
from flexor.draw.items.ground.mesh import flat_within
from flexor.draw.items.shadows import build_shadow, upload_cast_shadow
from flexor.draw.items.structures import build_structures, upload_structures
from flexor.draw.items.sunlight import make_shades, sunless, wall_colours
from flexor.draw.scene.build import Dress, dress_scene, part_names, turned_parts
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.draw.scene.upload import upload_scene
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.samples.outfits import paint_outfit
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.scene import Scene
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.plan import WHITE, StageLook, StagePlan
from flexor.stage.effects.afterimages import strength_of
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.view import make_view, see_from
from flexor.stage.frame import BodyFrame, Frame
from flexor.stage.movement.ground import find_footing, init_footing

__all__ = ["StagePainter"]


# How much of its light is left to who stands in a structure's shadow.
IN_SHADE = (0.56, 0.59, 0.66)


class StagePainter:
    """Draws one stage; its meshes are uploaded when it is made."""

    def __init__(
        self, plan: StagePlan, cast: Sequence[CastBody], scenery: Scenery
    ) -> None:
        self.backend = open_backend("raster")
        self._look = plan.look
        self.light = plan.light
        self._lights = _sun(plan.light)
        self._structures = upload_structures(
            self.backend, plan.structures, lambda spots: _heights(plan, spots)
        )
        self._shades = make_shades((), (), plan.light)
        if plan.look.shadows:
            spans = self._structures.spans
            self._shades = make_shades(plan.structures, spans, plan.light)
        is_clear = plan.effects.water is not None
        self.floor = upload_ground(
            self.backend,
            plan.ground,
            plan.look.plain,
            is_clear=is_clear,
            mark=lambda picture: mark_ground(
                picture,
                plan.ground,
                zones=plan.zones if plan.look.zones else (),
                shades=self._shades,
                lights=self._lights,
            ),
            within=flat_within(plan.ground, plan.zones),
        )
        self._backdrop = _find_backdrop(plan.look)
        self._apron = upload_apron(
            self.backend, plan.ground, plan.look.plain, is_clear=is_clear
        )
        self._around: list[DrawItem] = []
        self._view, self._view_settings = make_view(plan.structures), plan.view
        self._assets = [upload_scene(self.backend, own.hero.scene)[0] for own in cast]
        colours = [(*actor.colour, 1.0) for actor in plan.cast]
        tints = np.array(colours, np.float32).reshape(-1, 4)
        self._tints = [tints[list(own.rows)] for own in cast]
        self._worn = [_find_worn(self.backend, plan, own) for own in cast]
        self._shadows = [
            -1
            if own.plan.parts is None
            else upload_cast_shadow(
                self.backend, own.plan.parts.faces, len(own.plan.parts.sources)
            )
            for own in cast
        ]
        self._part_rows = [
            np.zeros(0, np.int32) if own.plan.parts is None else own.plan.parts.parts
            for own in cast
        ]
        self._scenery = SceneryPainter(self.backend, scenery, plan.light)
        self._kept = [
            [
                upload_afterimages(assets, group.vertices, group.faces)
                for group in own.plan.groups
            ]
            for assets, own in zip(self._assets, cast, strict=True)
        ]
        self._afterimages = plan.effects.afterimages
        self._targets = Targets()
        self._style: DrawStyle | None = None  # of the last picture
        self._dresses: list[Dress] = []

    def draw(
        self,
        frame: Frame,
        size: tuple[int, int],
        camera: Camera | None,
        style: DrawStyle | str | None,
        lines: Sequence[DrawLines] = (),
        more: Sequence[DrawItem] = (),
    ) -> NDArray[np.uint8]:
        """A picture of a frame of the stage that it was made for.

        camera: None for the frame's own; more: items of the same backend.
        """
        own = self.style_of(style)
        target = self._targets.take(size, own)
        if camera is not None:
            frame = self._seen_from(frame, camera)
        draw_list = self.draw_list(frame, own.for_height(size[1]), lines, more)
        return self.backend.draw(draw_list, target)

    def _seen_from(self, frame: Frame, camera: Camera) -> Frame:
        """A frame as a camera sees it: what is in the way of this one is hidden."""
        (x, _, z), (own_x, _, own_z) = camera.eye, frame.camera.eye
        if (x, z) == (own_x, own_z) or not len(self._view):
            return replace(frame, camera=camera)
        spots = frame.places[:, [0, 2]]
        shown, parts = see_from(self._view, self._view_settings, (x, z), spots)
        return replace(frame, camera=camera, shown=shown, parts=parts)

    def _behind(self, style: DrawStyle) -> Backdrop | None:
        """The backdrop, if a style asks for no background of its own."""
        own = (*self._look.background, 255)
        return self._backdrop if style.background == own else None

    @property
    def ground(self) -> Ground:
        """What all stand on."""
        return self.floor.ground

    def style_of(self, style: DrawStyle | str | None) -> DrawStyle:
        """A style as it was given, or else that of the stage's look."""
        return look_style(self._look) if style is None else style_of(style)

    def draw_list(
        self,
        frame: Frame,
        style: DrawStyle,
        beside: Sequence[DrawLines] = (),
        more: Sequence[DrawItem] = (),
    ) -> DrawList:
        """All that is to be drawn, in the numbers of `backend`."""
        if style.heat is not None or style.bones or style.names or style.show:
            raise SettingError("style: a stage has no heat, bones, names or show")
        lights = self._lights if style.lights is None else style.lights
        behind = self._behind(style)
        if style != self._style:
            self._style = style
            haze, land = _paper(style), None
            if behind is not None:
                haze, land = behind.haze, behind.land
            self._around = [build_apron(self._apron, lights, haze, land)]
            self._dresses = [
                dress_scene(assets, _own_style(style, assets.scene))
                for assets in self._assets
            ]
        items = [build_ground(self.floor), *self._around]
        things, lines = build_structures(
            self._structures, frame.shown, frame.parts, style.line_width or 1.5
        )
        for row, body in enumerate(frame.bodies):
            if style.has_shadow:
                items += self._shadow_items(row, body, frame.shown)
            items += self._body_items(row, body, frame.places)
        for row, body in enumerate(frame.bodies):
            faint, strokes = self._faint_items(row, body, frame.tick, style)
            items += faint
            lines += strokes
        effects = self._scenery.items(
            frame.scenery, frame.camera, frame.tick, lights, _paper(style)
        )
        return DrawList(
            frame.camera,
            (*items, *things, *more, *effects),
            (*lines, *beside),
            lights,
            style.paper,
            style.order,
            None if behind is None else behind.picture,
        )

    def _body_items(
        self, row: int, body: BodyFrame, places: NDArray[np.float64]
    ) -> list[DrawItem]:
        dress = self._dresses[row]
        if not len(body.rows):
            return []
        turned = turned_parts(dress, body.world[0])
        share = sunless(self._shades, places[body.rows]).astype(np.float32)
        shaded = np.ones((len(share), 4), np.float32)
        shaded[:, :3] += share[:, None] * (np.array(IN_SHADE, np.float32) - 1)
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
            for who, texture, tints in self._worn[row]:
                items.append(
                    DrawItem(
                        number,
                        positions[who],
                        normals[who] if has_normals else None,
                        _with_texture(part.look, texture),
                        part.strokes,
                        tints=tints * shaded[who],
                    )
                )
        return items

    def _faint_items(
        self, row: int, body: BodyFrame, tick: int, style: DrawStyle
    ) -> tuple[list[DrawItem], list[DrawLines]]:
        """Afterimages of characters of one body."""
        items: list[DrawItem] = []
        lines: list[DrawLines] = []
        settings = self._afterimages
        for image in body.afterimages:
            strength = strength_of(settings, tick - image.tick)
            more, strokes = build_afterimage(
                self._kept[row][image.group],
                image.positions,
                image.normals,
                self._tints[row][image.who],
                strength,
                settings.style,
                (style.line_width or 1.5) / 2,
            )
            items += more
            lines += strokes
        return items, lines

    def _shadow_items(
        self, row: int, body: BodyFrame, shown: NDArray[np.float64]
    ) -> list[DrawItem]:
        """Shadows as ground that the sun does not reach, one for each who has one."""
        shadow = body.shadow
        if shadow is None:
            return []
        colours = shade_colours(self.floor, shadow)
        if body.met is not None and (body.met >= 0).any():
            # What falls on structures has their colour, or is not seen, as they.
            met = body.met[:, self._part_rows[row]]
            is_seen = shown >= 1
            on_walls = met >= 0
            own = self._structures.structures, self._structures.spans
            places = shadow[on_walls]
            colours[on_walls, :3] = wall_colours(*own, met[on_walls], places, LEFT)
            if not is_seen.all():
                shadow = shadow.copy()
                shadow[on_walls & ~is_seen[met]] = 0
        return [
            build_shadow(self._shadows[row], shadow[n][None], colours=colours[n])
            for n in np.flatnonzero(body.has_shadow).tolist()
        ]


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


@lru_cache(64)
def _with_texture(look: Look, texture: int) -> Look:
    """A look with another texture, where it has one and another is given."""
    is_same = texture < 0 or look.texture < 0
    return look if is_same else replace(look, texture=texture)


def _own_style(style: DrawStyle, scene: Scene) -> DrawStyle:
    """The style for one of several characters: each has some of the smooth parts."""
    if style.smooth is None:
        return style
    known = part_names(scene)
    return replace(style, smooth=tuple(n for n in style.smooth if n in known))


def _paper(style: DrawStyle) -> RGB | None:
    """What is behind everything, linear; None for nothing."""
    if style.paper[3] < 255:
        return None
    red, green, blue = linear_from_srgb(style.paper[:3]).tolist()
    return red, green, blue


def _find_backdrop(look: StageLook) -> Backdrop | None:
    """The backdrop that a look asks for."""
    if look.backdrop == "none":
        return None
    if look.backdrop == "hills" or look.backdrop == "city":
        return paint_backdrop(look.backdrop, look.background)
    return read_backdrop(look.backdrop)


def look_style(look: StageLook) -> DrawStyle:
    """The style that a look asks for."""
    return style_of(
        DrawStyle(
            style=look.style,  # type: ignore[arg-type]
            smooth=look.smooth,
            order=look.order,
            background=(*look.background, 255),
            shadow=look.shadows,
        )
    )


def _heights(plan: StagePlan, spots: NDArray[np.float64]) -> NDArray[np.float64]:
    """How high the ground is at spots (n, 2), x and z: (n,)."""
    places = np.zeros((len(spots), 3))
    places[:, [0, 2]] = spots
    below = init_footing(len(places))
    find_footing(plan.ground, places, plan.friction, out=below)
    return below.heights


def _sun(way: tuple[float, float, float]) -> tuple[Light, ...]:
    """Daylight whose sun stands where the shadows say."""
    sky, sun, _ = DAYLIGHT
    x, y, z = way
    back = Light("directional", DAYLIGHT[2].colour, direction=(-x, y, -z))
    return sky, replace(sun, direction=way), back
