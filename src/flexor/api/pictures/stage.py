"""Pictures of stages: ground, structures, characters and their shadows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexor.api.pictures.cast import BodyPainter, View
from flexor.api.pictures.effects import SceneryPainter
from flexor.api.pictures.field import Targets
from flexor.api.stage_cast import CastBody
from flexor.arrays import Floats, Ints
from flexor.draw.backend import open_backend
from flexor.draw.drawlist import (
    RGB,
    DrawItem,
    DrawLines,
    DrawList,
)
from flexor.draw.items.apron import build_apron, upload_apron
from flexor.draw.items.backdrop import Backdrop, paint_backdrop, read_backdrop
from flexor.draw.items.ground.build import build_ground, shade_colours, upload_ground
from flexor.draw.items.ground.marks import LEFT, mark_ground
from flexor.draw.items.ground.mesh import flat_within
from flexor.draw.items.structures import build_structures, upload_structures
from flexor.draw.items.sunlight import make_shades, sunless, wall_colours
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.moves import RATE
from flexor.scene.stage.plan import StageLook, StagePlan
from flexor.stage.camera import camera_of
from flexor.stage.counts import SeenCounts
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.view import make_view, see_from
from flexor.stage.figures import make_sun
from flexor.stage.frame import Frame, make_frame
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.state import StageState

__all__ = ["StagePainter"]


# How much of its light is left to who stands in a structure's shadow.
IN_SHADE = (0.56, 0.59, 0.66)


class StagePainter:
    """Draws one stage; its meshes are uploaded when it is made.

    sun: what casts shadows on its ground, None for light from below; counts: what the
    last picture took of its characters.
    """

    def __init__(
        self, plan: StagePlan, cast: Sequence[CastBody], scenery: Scenery
    ) -> None:
        self.backend = open_backend("raster")
        self._look = plan.look
        self.light = plan.light
        self._lights = _sun(plan.light)
        self.sun = make_sun(plan.light, plan.ground)
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
        self._cast = [BodyPainter(self.backend, plan, own) for own in cast]
        self._scenery = SceneryPainter(self.backend, scenery, plan.light)
        self.targets = Targets()
        self._style: DrawStyle | None = None  # of the last picture
        self.counts = SeenCounts()

    def draw(
        self,
        state: StageState,
        size: tuple[int, int],
        camera: Camera | None = None,
        style: DrawStyle | str | None = None,
        more: tuple[Sequence[DrawLines], Sequence[DrawItem]] = ((), ()),
        *,
        rules: LevelRule | Sequence[LevelRule] | None = None,
        detail: bool = True,
    ) -> NDArray[np.uint8]:
        """A picture of a state of the stage that it was made for, as it is now.

        camera: None for the stage's own; more: lines and items of the same backend;
        rules: by which levels are chosen; detail: False to draw all as they are.
        """
        own = self.style_of(style)
        target = self.targets.take(size, own)
        is_own, camera = camera is None, camera or camera_of(state.camera)
        has_shadow = own.has_shadow and self._look.shadows
        sun = self.sun if has_shadow else None
        way = (state.places - state.before)[:, [0, 2]] * (RATE if state.tick else 0)
        pace = np.sqrt((way * way).sum(1))
        view = View(camera, size, rules, sun, pace) if detail else None
        wanted = [
            painter.see(body, view)
            for painter, body in zip(self._cast, state.bodies, strict=True)
        ]
        self.counts = sum((own.counts for own in self._cast), SeenCounts())
        frame = make_frame(state, shadows=has_shadow, wanted=wanted)
        if not is_own:
            frame = self._seen_from(frame, camera)
        draw_list = self.draw_list(frame, own.for_height(size[1]), *more)
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
            for painter in self._cast:
                painter.dress(style)
        items = [build_ground(self.floor), *self._around]
        things, lines = build_structures(
            self._structures, frame.shown, frame.parts, style.line_width or 1.5
        )
        shade = partial(self._shade, frame.shown >= 1)
        for painter, body in zip(self._cast, frame.bodies, strict=True):
            if style.has_shadow:
                items += painter.shadows(body, self.sun, shade)
            items += painter.items(body, self._light_left(frame.places[body.rows]))
        for painter, body in zip(self._cast, frame.bodies, strict=True):
            faint, strokes = painter.faint_items(body, frame.tick, style)
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

    def _light_left(self, places: NDArray[np.float64]) -> Floats:
        """What light the shadows of structures leave to who stands at places (n, 3):
        float32 (n, 4).
        """
        share = sunless(self._shades, places).astype(np.float32)
        left = np.ones((len(share), 4), np.float32)
        left[:, :3] += share[:, None] * (np.array(IN_SHADE, np.float32) - 1)
        return left

    def _shade(
        self, is_seen: NDArray[np.bool_], shadow: Floats, met: Ints
    ) -> tuple[Floats, Floats]:
        """Shadows (n, P, 3) and their colours (n, P, 4); is_seen: of structures.

        What falls on structures has their colour, or is not seen, as they.
        """
        colours = shade_colours(self.floor, shadow)
        if (met >= 0).any():
            on_walls = met >= 0
            own = self._structures.structures, self._structures.spans
            places = shadow[on_walls]
            colours[on_walls, :3] = wall_colours(*own, met[on_walls], places, LEFT)
            if not is_seen.all():
                shadow = shadow.copy()
                shadow[on_walls & ~is_seen[met]] = 0
        return shadow, colours


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
