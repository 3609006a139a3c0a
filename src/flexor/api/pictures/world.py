"""Pictures of worlds: a stage, players, crowds and goals in one list of things."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.api.crowd import Crowd
from flexor.api.goal import Goal
from flexor.api.pictures.crowd import CrowdPainter
from flexor.api.pictures.figures import FigurePainter
from flexor.api.pictures.goal import GoalPainter
from flexor.api.pictures.stage import StagePainter
from flexor.api.skins import SkinnedPrimitive
from flexor.api.standing import Cast
from flexor.arrays import Floats
from flexor.draw.drawlist import DrawItem, DrawLines
from flexor.draw.scene.style import DrawStyle
from flexor.pose.crowd.level_choice import LevelRule
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.stage.figures import see_figures, skin_figures
from flexor.stage.frame import Frame

__all__ = ["WorldPainter"]

Rules = LevelRule | Sequence[LevelRule] | None
Numbers = tuple[int, int, int, int]


class WorldPainter:
    """Draws a world with the backend of its stage; the meshes of the others are
    uploaded into it when it is made.
    """

    def __init__(
        self,
        base: StagePainter,
        casts: Sequence[Cast],
        crowds: Sequence[Crowd],
        goals: Sequence[Goal],
    ) -> None:
        self._base, backend = base, base.backend
        self._casts = [
            (cast, FigurePainter(cast.player.hero, cast.figures, backend))
            for cast in casts
        ]
        self._crowds = [
            (crowd, CrowdPainter(crowd.characters, crowd.state, backend))
            for crowd in crowds
        ]
        self._goals = [(goal, GoalPainter(goal.netting, backend)) for goal in goals]
        self._rooms: dict[tuple[int, int], list[SkinnedPrimitive]] = {}

    def draw(
        self,
        frame: Frame,
        size: tuple[int, int],
        camera: Camera,
        style: DrawStyle | str | None,
        rules: Rules,
    ) -> tuple[NDArray[np.uint8], Numbers]:
        """The picture, and how many characters were shown, and nodes, vertices and
        triangles touched for them.
        """
        own = self._base.style_of(style).for_height(size[1])
        items: list[DrawItem] = []
        lines: list[DrawLines] = []
        numbers = np.zeros(4, np.int64)
        for row in range(len(self._casts)):
            numbers += self._add_cast(row, size, camera, own, rules, items)
        for crowd, painter in self._crowds:
            crowd.select(camera, size, rules)
            crowd.deform()
            if own.has_shadow:
                items += painter.shadows_on(self._base.ground)
            items += painter.surfaces(own)
            counts = crowd.counts
            numbers += counts.shown, counts.nodes, counts.vertices, counts.triangles
        for goal, net in self._goals:
            more, ropes = net.things(goal.state, goal.place, goal.heading, own)
            items += more
            lines += ropes
        picture = self._base.draw(frame, size, camera, style, lines, items)
        shown, nodes, vertices, triangles = numbers.tolist()
        return picture, (shown, nodes, vertices, triangles)

    def _add_cast(
        self,
        row: int,
        size: tuple[int, int],
        camera: Camera,
        style: DrawStyle,
        rules: Rules,
        items: list[DrawItem],
    ) -> Numbers:
        """Add the characters of a player that are in view."""
        cast, painter = self._casts[row]
        state, player = cast.figures, cast.player
        world = player.world
        see_figures(state, world, camera, size, rules)
        if not state.shown:
            return 0, 0, 0, 0
        skin_figures(state, world)
        skins: list[tuple[Floats, Floats]] = []
        nodes, vertices, triangles = state.nodes, state.vertices, state.triangles
        if state.shown[0].level == 0:
            who = state.shown[0].who
            skins = self._skin(row, world[who], who)
            nodes += len(who) * world.shape[1]
            vertices += sum(positions.size // 3 for positions, _ in skins)
            triangles += len(who) * state.kind.levels.totals(0)[2]
        if style.has_shadow:
            items += painter.shadows(self._base.floor, self._base.light, skins)
        items += painter.items(style, world, skins, cast.tints)
        shown = sum(len(own.who) for own in state.shown)
        return shown, nodes, vertices, triangles

    def _skin(
        self, row: int, world: Floats, who: NDArray[np.int32]
    ) -> list[tuple[Floats, Floats]]:
        """Positions and normals (n, V, 3) of each primitive, with all weights."""
        player, key = self._casts[row][0].player, (row, len(who))
        hero, state = player.hero, player.state
        weights = np.ascontiguousarray(state.weights[who])
        pose = Pose.from_lanes(state.local[who], hero.layout, world, weights)
        skins = self._rooms[key] = hero.deform_many(pose, self._rooms.get(key))
        return [(skin.positions, skin.normals) for skin in skins]
