"""Pictures of goals: posts, nets that wrap the balls that push them, and balls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.api.pictures.field import Field, Targets
from flexor.arrays import Doubles, Floats, Ints
from flexor.draw.backend import Backend, open_backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.items.balls import build_balls, upload_ball
from flexor.draw.items.crowds import build_shadows, upload_shadow_disc
from flexor.draw.items.nets import (
    SQUARE,
    TILE,
    NetAssets,
    NetMesh,
    border_edges,
    build_net,
    build_ropes,
    drape_net,
    make_net_mesh,
    net_picture,
    net_points,
    square_picture,
    upload_net,
)
from flexor.draw.items.rods import build_rods, upload_rods
from flexor.draw.scene.lighting import lights_of
from flexor.draw.scene.style import DrawStyle, style_of
from flexor.maths import quaternions
from flexor.scene.character.camera import Camera
from flexor.stage.goal.layout import FIXED
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.state import NettingState, pushes, turn_points

__all__ = ["GoalPainter"]

FINE, FINE_SQUARES = 4, 2  # meshes of the picture across one of the net
NEAR = 0.25  # metres before an area: there a ball may meet what another has moved
ROUNDS = 3  # of laying a net over a ball that is in a corner
ROPE = 0.6  # widths of a line, along the edges of sheets
SHADOW = 1.6  # radii of a ball, its shadow on the ground
HIGHEST = 1.5  # metres above the ground at which a ball has no shadow any more


class GoalPainter:
    """Draws goals of one kind; its meshes are uploaded when it is made, into a backend
    that others draw with too, if one is given.
    """

    def __init__(self, netting: Netting, backend: Backend | None = None) -> None:
        self.backend = open_backend("raster") if backend is None else backend
        self._netting = netting
        self._nets = self._upload_nets(netting)
        rods = netting.rods
        self._rods = upload_rods(
            self.backend, rods[:, :6].reshape(-1, 2, 3), rods[:, 6]
        )
        self._ball = upload_ball(self.backend)
        self._disc = upload_shadow_disc(self.backend)
        self._field = Field(self.backend)
        self.targets = Targets()

    def _upload_nets(self, netting: Netting) -> list[tuple[NetMesh, NetAssets, Ints]]:
        """The sheets of a net: a picture of its weave, and its edges, for each."""
        sheet, found = netting.sheet, []
        edge = float(np.median(sheet.lengths)) if len(sheet.lengths) else 1.0
        for row, flat in enumerate(sheet.flat):
            faces = sum(
                1 << number
                for number, face in enumerate(netting.faces)
                if face.sheet == row
            )
            cells = sheet.cells[sheet.sheets == row]
            is_square = bool((cells[:, 4:] < 0).all())
            mesh = make_net_mesh(
                cells,
                sheet.masks,
                flat,
                sheet.holds == FIXED,
                pitch=edge / (FINE_SQUARES if is_square else FINE),
                tile=SQUARE if is_square else TILE,
                bent=faces,
            )
            picture = square_picture() if is_square else net_picture()
            assets = upload_net(self.backend, mesh, picture)
            found.append((mesh, assets, border_edges(mesh)))
        return found

    def draw(
        self,
        state: NettingState,
        place: Doubles,
        heading: Doubles,
        camera: Camera,
        size: tuple[int, int],
        style: DrawStyle | str,
        items: Sequence[DrawItem] = (),
        lines: Sequence[DrawLines] = (),
    ) -> NDArray[np.uint8]:
        """A picture of goals as they are now: see `draw_list`."""
        style = style_of(style)
        target = self.targets.take(size, style)
        own = style.for_height(size[1])
        draw_list = self.draw_list(state, place, heading, camera, own, items, lines)
        return self.backend.draw(draw_list, target)

    def draw_list(
        self,
        state: NettingState,
        place: Doubles,
        heading: Doubles,
        camera: Camera,
        style: DrawStyle | str,
        more: Sequence[DrawItem] = (),
        lines: Sequence[DrawLines] = (),
    ) -> DrawList:
        """All that is to be drawn, in the numbers of `backend`.

        place: float64 (N, 3), metres, and heading: (N,), radians, where each goal
        stands; more, lines: what others who uploaded to the same backend have beside.
        """
        style = style_of(style)
        ground = self._netting.ball.ground
        floor = ground + float(place[:, 1].min(initial=0.0))
        field = self._field.items(camera, style, floor, place)
        items, ropes = self.things(state, place, heading, style)
        return DrawList(
            camera,
            (*field, *items, *more),
            (*ropes, *lines),
            lights_of(style, camera),
            style.paper,
            style.order,
        )

    def things(
        self, state: NettingState, place: Doubles, heading: Doubles, style: DrawStyle
    ) -> tuple[list[DrawItem], list[DrawLines]]:
        """Goals and balls alone, without what they stand on: items, and ropes."""
        items: list[DrawItem] = []
        ropes: list[DrawLines] = []
        if not len(state):
            return items, ropes
        places, headings = place.astype(np.float32), heading.astype(np.float32)
        middles = turn_points(state.places, heading, place).astype(np.float32)
        if style.has_shadow:
            items += self._shadows(middles, place[:, 1] + self._netting.ball.ground)
        if len(self._rods.positions):
            items.append(build_rods(self._rods, places, headings))
        items += self._balls(state, heading, middles)
        for mesh, assets, edges in self._nets:
            points = self._points(mesh, state).astype(np.float64)
            there = turn_points(points, heading, place).astype(np.float32)
            items.append(build_net(assets, there))
            ropes.append(build_ropes(edges, there, ROPE * (style.line_width or 1)))
        return items, ropes

    def _points(self, mesh: NetMesh, state: NettingState) -> Floats:
        """Drawn points of the nets, beyond the balls that push them."""
        points = net_points(mesh, state.nodes)
        found = pushes(state, NEAR)
        # In corners what lies over a ball for one face may be in it for the other.
        for face, way, who in found * (ROUNDS if len(found) > 1 else 1):
            drape_net(
                mesh,
                points,
                state.places,
                np.where(who[..., None], way, 0.0),
                np.full(who.shape, 1 << face),
                self._netting.ball.radius,
            )
        return points

    def _balls(
        self, state: NettingState, heading: Doubles, middles: Floats
    ) -> list[DrawItem]:
        if not middles.size:
            return []
        half = heading[:, None, None] / 2
        axis = np.concatenate([0 * half, np.sin(half), 0 * half, np.cos(half)], axis=-1)
        turns = quaternions.multiply(
            np.broadcast_to(axis, state.rotations.shape), state.rotations
        )
        radius = self._netting.ball.radius
        return [
            build_balls(
                self._ball,
                middles.reshape(-1, 3),
                turns.reshape(-1, 4).astype(np.float32),
                radius,
            )
        ]

    def _shadows(self, middles: Floats, floors: NDArray[np.float64]) -> list[DrawItem]:
        """Soft discs under balls near the ground, smaller with their height."""
        radius = self._netting.ball.radius
        high = middles[..., 1] - floors[:, None] - radius
        share = np.clip(1 - high / HIGHEST, 0, 1)
        is_near = share > 0
        if not is_near.any():
            return []
        below = middles[is_near]
        below[:, 1] = np.broadcast_to(floors[:, None], high.shape)[is_near]
        reaches = (SHADOW * radius * share[is_near]).astype(np.float32)
        return [build_shadows(self._disc, below.astype(np.float32), reaches)]
