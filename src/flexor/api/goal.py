"""Balls that fly into nets: `flexor.Goal`."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera
from flexor.stage.crowd.crowd import check_view
from flexor.stage.goal.layout import MET_GROUND, MET_NET, MET_ROD, SCORED
from flexor.stage.goal.netting import FRAME, Netting
from flexor.stage.goal.plan import BallSettings, NetSettings
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import turn_points

if TYPE_CHECKING:
    from flexor.api.pictures.goal import GoalPainter
    from flexor.draw.drawlist import DrawList
    from flexor.draw.scene.style import DrawStyle
    from flexor.draw.target import Target
    from flexor.stage.goal.state import NettingState

__all__ = ["Goal"]

LONGEST = 3600.0  # seconds


class Goal:
    """A goal with balls, or many of them: net, posts and balls move and are drawn.

    settings: of a soccer goal, None for the usual one; or a netting of any other shape,
    see `flexor.stage.goal.netting.make_netting`; count: how many, each with its own
    net; balls: how many each has; ball, net: their coefficients.

    Balls are shot, and are, in the space of their goal: its origin on the ground midway
    between the posts, x right, y up, z toward the field. `place` (N, 3) and `heading`
    (N,) say where each goal is drawn in the world, and may be written to.

    Examples
    --------
    >>> import flexor
    >>> goal = flexor.Goal()
    >>> goal.shoot((0, 0.11, 11), (2.5, 6, -24))
    >>> goal.advance(1.0)
    60
    >>> bool(goal.scored[0, 0]), bool(goal.met_post[0, 0])
    (True, False)
    >>> goal.draw(flexor.Camera(eye=(4, 2, 9), target=(0, 1, -1)), (320, 180)).shape
    (180, 320, 4)
    """

    def __init__(
        self,
        settings: GoalSettings | Netting | None = None,
        count: int = 1,
        *,
        balls: int = 1,
        ball: BallSettings | None = None,
        net: NetSettings | None = None,
    ) -> None:
        from flexor.stage.goal.state import init_netting

        if isinstance(settings, Netting):
            if ball is not None or net is not None:
                raise SettingError("ball, net: a netting has its own")
            self.netting = settings
        elif settings is None or isinstance(settings, GoalSettings):
            self.netting = make_goal(settings, ball=ball, net=net)
        else:
            what = type(settings).__name__
            raise SettingError(f"settings: {what}, expected GoalSettings or a Netting")
        self.state: NettingState = init_netting(self.netting, count, balls)
        self._place: Doubles = np.zeros((count, 3))
        self._heading: Doubles = np.zeros(count)
        self._late = 0.0  # seconds that are less than a frame
        self._painter: GoalPainter | None = None

    def __repr__(self) -> str:
        count, balls = self.state.bodies.shape[:2]
        return f"Goal({count} of {len(self.netting.hang)} nodes, {balls} balls each)"

    def __len__(self) -> int:
        return len(self.state)

    def __getstate__(self) -> dict[str, Any]:
        # What draws it is made again where it is needed.
        return {**self.__dict__, "_painter": None}

    @property
    def place(self) -> Doubles:
        """Where each goal stands in the world: float64 (N, 3), metres."""
        return self._place

    @place.setter
    def place(self, values: ArrayLike) -> None:
        self._place[:] = values

    @property
    def heading(self) -> Doubles:
        """Which way each goal looks: float64 (N,), radians about Y, 0 along +z."""
        return self._heading

    @heading.setter
    def heading(self, values: ArrayLike) -> None:
        self._heading[:] = values

    @property
    def balls(self) -> Doubles:
        """Middles of the balls: float64 (N, B, 3), metres; a view."""
        return self.state.places

    @property
    def velocities(self) -> Doubles:
        """Velocities of the balls: float64 (N, B, 3), metres a second; a view."""
        return self.state.velocities

    @property
    def spins(self) -> Doubles:
        """Spins of the balls: float64 (N, B, 3), radians a second; a view."""
        return self.state.spins

    @property
    def nodes(self) -> Doubles:
        """Nodes of the nets: float64 (N, M, 3), metres; a view."""
        return self.state.nodes

    @property
    def is_in(self) -> NDArray[np.bool_]:
        """Which balls came in by the mouth, and have not come out of it: (N, B)."""
        return self.state.is_inside

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which balls were wholly in the goal since they were shot: (N, B)."""
        return self.state.has_met(SCORED)

    @property
    def met_post(self) -> NDArray[np.bool_]:
        """Which balls met a post, the bar or another rod since they were shot."""
        return self.state.has_met(MET_ROD)

    @property
    def met_ground(self) -> NDArray[np.bool_]:
        """Which balls met the ground since they were shot: (N, B)."""
        return self.state.has_met(MET_GROUND)

    @property
    def met_net(self) -> NDArray[np.bool_]:
        """Which balls met a net since they were shot: (N, B)."""
        return self.state.has_met(MET_NET)

    def in_world(self, points: ArrayLike) -> Doubles:
        """Points (N, ..., 3) of the goals' own space, such as `balls`, in the world."""
        own = np.asarray(points, np.float64)
        if own.ndim < 2 or own.shape[0] != len(self) or own.shape[-1] != 3:
            raise ShapeError(f"points: {own.shape}, expected ({len(self)}, ..., 3)")
        return turn_points(own, self.heading, self.place)

    def fit(
        self,
        size: tuple[int, int] = (1280, 720),
        direction: ArrayLike | None = None,
        **settings: Any,
    ) -> Camera:
        """A camera that has all goals in the picture; settings: see draw.fit."""
        from flexor.draw.scene.fit import THREE_QUARTER, fit_camera

        rods = np.broadcast_to(
            self.netting.rods[:, :6].reshape(-1, 3),
            (len(self), 2 * len(self.netting.rods), 3),
        )
        points = self.in_world(np.concatenate([self.nodes, rods], 1)).reshape(-1, 3)
        way = THREE_QUARTER if direction is None else direction
        return fit_camera(points, size, direction=way, **settings)

    def shoot(
        self,
        place: ArrayLike,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        spin: ArrayLike = (0.0, 0.0, 0.0),
        *,
        who: Any = None,
    ) -> None:
        """Put balls somewhere, with a velocity and a spin.

        place, velocity, spin: (3,) or one for each (..., 3), metres, metres a second
        and radians a second; who: an index into (N, B), None for all.
        """
        from flexor.stage.goal.state import shoot

        shoot(self.state, place, velocity, spin, who=who)

    def advance(self, dt: float = 1 / FRAME) -> int:
        """Move on by `dt` seconds, in whole frames of 1/60 s: gives how many.

        What is less than a frame is kept for the next call.
        """
        from flexor.stage.goal.state import step_netting

        is_number = isinstance(dt, Real) and not isinstance(dt, bool)
        if not is_number or not 0 <= dt <= LONGEST:
            raise SettingError(f"dt: {dt!r}, expected 0 to {LONGEST:g} seconds")
        whole = (self._late + float(dt)) * FRAME
        frames = math.floor(whole + 1e-6)
        self._late = max(whole - frames, 0.0) / FRAME
        step_netting(self.state, frames)
        return frames

    def draw_list(self, camera: Camera, style: DrawStyle | str = "shaded") -> DrawList:
        """All there is, as things to draw; see docs/guide/draw.md."""
        check_view(camera, (1, 1))
        return self.painter.draw_list(
            self.state, self.place, self.heading, camera, style
        )

    def draw(
        self,
        camera: Camera,
        size: tuple[int, int] = (1280, 720),
        style: DrawStyle | str = "shaded",
    ) -> NDArray[np.uint8]:
        """A picture (H, W, 4); overwritten by the next of its size."""
        check_view(camera, size)
        return self.painter.draw(
            self.state, self.place, self.heading, camera, size, style
        )

    @property
    def target(self) -> Target | None:
        """Where the last picture is, with the buffers ("depth", "normal") that its
        style asked for; None before the first.
        """
        return None if self._painter is None else self._painter.targets.last

    @property
    def painter(self) -> GoalPainter:
        """What draws it; made when first asked for."""
        if self._painter is None:
            from flexor.api.pictures.goal import GoalPainter

            self._painter = GoalPainter(self.netting)
        return self._painter
