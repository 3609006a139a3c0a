"""Pictures of worlds: a stage, players, crowds and goals in one list of things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.api.crowd import Crowd
from flexor.api.goal import Goal
from flexor.api.pictures.cast import View
from flexor.api.pictures.crowd import CrowdPainter
from flexor.api.pictures.figures import FigurePainter
from flexor.api.pictures.goal import GoalPainter
from flexor.api.skins import SkinnedPrimitive
from flexor.api.stage import Stage
from flexor.api.standing import Cast
from flexor.arrays import Floats
from flexor.draw.drawlist import DrawItem, DrawLines
from flexor.draw.scene.style import DrawStyle
from flexor.pose.crowd.level_choice import LevelRule
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.stage.counts import SeenCounts
from flexor.stage.figures import see_figures, see_whole, skin_figures

__all__ = ["WorldPainter"]

Rules = LevelRule | Sequence[LevelRule] | None


class WorldPainter:
    """Draws a world with the backend of its stage; the meshes of the others are
    uploaded into it when it is made.
    """

    def __init__(
        self,
        stage: Stage,
        casts: Sequence[Cast],
        crowds: Sequence[Crowd],
        goals: Sequence[Goal],
    ) -> None:
        self._stage, backend = stage, stage.painter.backend
        self._casts = [
            (cast, FigurePainter(cast.player.hero, cast.figures, backend))
            for cast in casts
        ]
        self._crowds = [
            (crowd, CrowdPainter(crowd.characters, crowd.state, backend))
            for crowd in crowds
        ]
        self._goals = [(goal, GoalPainter(goal.netting, backend)) for goal in goals]
        self._rooms: dict[int, list[SkinnedPrimitive]] = {}

    def draw(
        self,
        size: tuple[int, int],
        camera: Camera,
        style: DrawStyle | str | None,
        rules: Rules,
        detail: bool,
    ) -> tuple[NDArray[np.uint8], SeenCounts]:
        """The picture, and what it took of all but the stage's own characters."""
        base = self._stage.painter
        own = base.style_of(style).for_height(size[1])
        view = View(camera, size, rules, base.sun if own.has_shadow else None)
        items: list[DrawItem] = []
        lines: list[DrawLines] = []
        counts = SeenCounts()
        for row in range(len(self._casts)):
            counts += self._add_cast(row, view, own, detail, items)
        for crowd, painter in self._crowds:
            if detail:
                crowd.select(camera, size, rules)
            else:
                crowd.level[:] = 0
            crowd.deform()
            if own.has_shadow:
                items += painter.shadows_on(base.ground)
            items += painter.surfaces(own)
            counts += crowd.counts
        for goal, net in self._goals:
            more, ropes = net.things(goal.state, goal.place, goal.heading, own)
            items += more
            lines += ropes
        picture = self._stage.draw(
            size, camera, style, lines, more=items, rules=rules, detail=detail
        )
        return picture, counts

    def _add_cast(
        self,
        row: int,
        view: View,
        style: DrawStyle,
        detail: bool,
        items: list[DrawItem],
    ) -> SeenCounts:
        """Add the characters of a player that are in view."""
        cast, painter = self._casts[row]
        state, player = cast.figures, cast.player
        world, base = player.world, self._stage.painter
        if detail:
            see_figures(state, world, view.camera, view.size, view.rules, sun=view.sun)
        else:
            see_whole(state)
        if not state.shown:
            return SeenCounts()
        skin_figures(state, world)
        skins: list[tuple[Floats, Floats]] = []
        counts = SeenCounts(
            int(state.is_seen.sum()), state.nodes, state.vertices, state.triangles
        )
        first = state.shown[0]
        if first.level == 0:
            skins = self._skin(row, world[first.who], first.who)
            counts += SeenCounts(
                0,
                len(first.who) * world.shape[1],
                sum(positions.size // 3 for positions, _ in skins),
                int(first.is_seen.sum()) * state.kind.levels.totals(0)[2],
            )
        if style.has_shadow:
            items += painter.shadows(base.floor, base.light, skins)
        items += painter.items(style, world, skins, cast.tints)
        return counts

    def _skin(
        self, row: int, world: Floats, who: NDArray[np.int32]
    ) -> list[tuple[Floats, Floats]]:
        """Positions and normals (n, V, 3) of each primitive, with all weights."""
        player = self._casts[row][0].player
        hero, state = player.hero, player.state
        weights = np.ascontiguousarray(state.weights[who])
        pose = Pose.from_lanes(state.local[who], hero.layout, world, weights)
        count, skins = len(who), self._rooms.get(row)
        if skins is None or any(len(own.positions) < count for own in skins):
            skins = self._rooms[row] = hero.deform_many(pose)
        else:  # a part of the room of the most that were seen at once
            skins = [
                replace(
                    own, positions=own.positions[:count], normals=own.normals[:count]
                )
                for own in skins
            ]
            hero.deform_many(pose, skins)
        return [(skin.positions, skin.normals) for skin in skins]
