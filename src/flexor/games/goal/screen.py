"""Pictures of the goal game: everything in one draw list, and words over it."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor.api.goal import Goal
from flexor.draw.scene.style import DrawStyle
from flexor.games.goal.hud import Written, write_over
from flexor.games.goal.keeper.body import KeeperBody
from flexor.games.goal.keeper.drawing import KeeperPainter
from flexor.games.goal.pitch import Pitch
from flexor.games.goal.replay import Scene, show
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Vector
from flexor.stage.goal.netting import Netting

__all__ = ["GoalScreen", "View", "camera_of"]

View = Literal["front", "title", "behind", "beside"]
SKY = (122, 156, 196, 255)
MARK = 0.16  # metres, radius of the mark


class GoalScreen:
    """Draws the game; made when the first picture is asked for."""

    def __init__(self, netting: Netting, body: KeeperBody) -> None:
        self._view = Goal(netting)
        painter = self._view.painter
        self._painter = painter
        self._hero = body.hero
        self._keeper = KeeperPainter(painter.backend, body.hero, body.scale)
        self._pitch = Pitch(painter.backend)

    def draw(
        self,
        scene: Scene,
        camera: Camera,
        size: tuple[int, int],
        written: Written,
        aim: tuple[float, float] | None = None,
        seconds: float = 0.0,
        joy: float = 0.0,
    ) -> NDArray[np.uint8]:
        """A picture (H, W, 4); aim: where the mark is on the goal line, metres."""
        style = DrawStyle(ground=True, background=SKY, samples=1)
        show(scene, self._view.state)
        items, lines = self._keeper.items(self._pose(scene), style.for_height(size[1]))
        items += self._pitch.items(seconds, joy)
        view = self._view
        picture = self._painter.draw(
            view.state,
            view.place,
            view.heading,
            camera,
            size,
            style,
            items,
            lines,
        )
        if aim is not None:
            x, y, far = camera.project((aim[0], aim[1], 0.0), size).tolist()
            written.mark = x, y, max(MARK * camera.scale(size) / far, 4.0)
        write_over(picture, written)
        return picture

    def _pose(self, scene: Scene) -> Pose:
        hero = self._hero
        weights = hero.layout.rest_weights[None].copy()
        pose = hero.pose_of(scene.local[None].copy(), weights)
        return pose.moved(scene.place[None])[0]


def camera_of(
    view: View, size: tuple[int, int], side: float, turn: float, near: float = 0.0
) -> Camera:
    """A camera for pictures of (width, height).

    side: where the ball goes, metres aside; turn: radians that the title's has moved;
    near: 0 to 1, how far the one in front has followed the ball.
    """
    eye: Vector
    target: Vector
    least = 0.25  # slope from the middle of the picture to its upper edge
    sign = 1.0 if side >= 0 else -1.0
    if view == "front":
        eye, target = (0.0, 1.7, 19.0 - 5.0 * near), (0.0, 0.7 + 0.3 * near, 0.0)
        half, least = 4.5 - 0.1 * near, 0.175 + 0.04 * near
    elif view == "title":
        eye = (7.5 * math.sin(turn), 1.7, 8.5 * math.cos(turn))
        target, half = (0.0, 1.25, 0.0), 3.6
    elif view == "behind":
        eye = (-1.2 * sign, 2.1, -6.2)
        target, half = (0.55 * side, 0.95, -0.3), 3.9
    else:
        eye = (0.45 * side + 3.6 * sign, 1.35, 5.2)
        target, half = (0.62 * side, 1.05, 0.4), 2.1
    # half: metres to either side of the target that must be in the picture.
    away = math.dist(eye, target)
    slope = max(least, half / away * size[1] / size[0])
    return Camera(eye=eye, target=target, fov=2 * math.atan(slope), near=0.2)
