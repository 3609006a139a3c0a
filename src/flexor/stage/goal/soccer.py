"""A soccer goal: posts, bar and net."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flexor.scene.checks import check_kind, check_number
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import (
    BallSettings,
    Gate,
    NetSettings,
    Point,
    Push,
    Rod,
    SheetPlan,
)

__all__ = ["GoalSettings", "make_goal"]

PUSH = Push()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalSettings:
    """A goal: its origin on the ground midway between the posts, the field at z > 0.

    width, height: metres, between the posts and under the bar; depth: of the net on the
    ground; top_depth: under the roof, None: the same; post: metres, radius of posts and
    bar; pitch: metres between columns of nodes; sag: metres that the anchors of the
    roof and of the upper edges are lower in their middle (the net itself hangs lower
    still); push: how the net acts on balls.
    """

    width: float = 7.32
    height: float = 2.44
    depth: float = 2.0
    top_depth: float | None = None
    post: float = 0.06
    pitch: float = 0.31
    sag: float = 0.12
    push: Push = PUSH

    def __post_init__(self) -> None:
        for name, least, most in (
            ("width", 0.5, 100),
            ("height", 0.5, 100),
            ("depth", 0.3, 100),
            ("post", 0.005, 5),
            ("pitch", 0.04, 100),
        ):
            check_number(getattr(self, name), name, least, most)
        check_kind(self.push, Push, "push")
        if self.top_depth is not None:
            check_number(self.top_depth, "top_depth", 0.3, self.depth)
        check_number(self.sag, "sag", 0, self.height / 2)


def make_goal(
    settings: GoalSettings | None = None,
    *,
    ball: BallSettings | None = None,
    net: NetSettings | None = None,
) -> Netting:
    """A goal with faces A (left), D (back), B (right) and C (top).

    The net is tied to the axes of posts and bar, which stand in the plane z = 0.
    """
    own = GoalSettings() if settings is None else settings
    check_kind(own, GoalSettings, "settings")
    ball = BallSettings() if ball is None else ball
    check_kind(ball, BallSettings, "ball")
    ground, radius = ball.ground, ball.radius
    x, y = own.width / 2 + own.post, own.height + own.post + ground
    top = own.depth if own.top_depth is None else own.top_depth
    # The roof's rows end at every second node of the sides' upper edges.
    gaps = max(1, round(top / (math.sqrt(3) * own.pitch)))
    across = max(2, round(2 * x / own.pitch))
    left, right = (-x, ground, 0.0), (x, ground, 0.0)
    far_left, far_right = (-x, ground, -own.depth), (x, ground, -own.depth)
    top_left, top_right = (-x, y, 0.0), (x, y, 0.0)
    back_left, back_right = (-x, y, -top), (x, y, -top)
    walls = SheetPlan(
        lower=(left, far_left, far_right, right),
        upper=(top_left, back_left, back_right, top_right),
        names=("A", "D", "B"),
        pitch=own.pitch,
        columns=(2 * gaps, across, 2 * gaps),
        left="fixed",
        right="fixed",
        bottom="fixed",
        top="sprung",
        corners="sprung",
        sag=own.sag,
        hang=0.0,
        push=own.push,
    )
    roof = SheetPlan(
        lower=(top_right, top_left),
        upper=(back_right, back_left),
        names=("C",),
        pitch=own.pitch,
        columns=(across,),
        rows=gaps + 1,
        left="sprung",
        right="sprung",
        bottom="fixed",
        top="sprung",
        middle="sprung",
        sag=own.sag,
        # It sags more, but a ball must not find a gap between bar and roof.
        hang=min(own.sag, own.post + 0.35 * radius),
        push=own.push,
    )
    posts = [_rod(left, top_left, own), _rod(right, top_right, own)]
    mouth = Gate(
        middle=(0.0, (y + ground) / 2, 0.0),
        normal=(0.0, 0.0, 1.0),
        across=(x, 0.0, 0.0),
        up=(0.0, (y - ground) / 2, 0.0),
    )
    return make_netting(
        (walls, roof),
        rods=[*posts, _rod(top_left, top_right, own)],
        gates=[mouth],
        ball=ball,
        net=net,
    )


def _rod(start: Point, end: Point, settings: GoalSettings) -> Rod:
    return Rod(start, end, settings.post)
