"""Frames of balls and nets, many nettings in one call; and balls or nets alone."""

import numpy as np

from flexor.maths.kernels.jit import jit, part
from flexor.stage.goal.kernels.ball import RADIUS, acting, move_ball
from flexor.stage.goal.kernels.net import GROUND, push_net, swing
from flexor.stage.goal.layout import FACE, NX, NY, NZ, OWNER

__all__ = ["step_balls", "step_frames", "swing_net"]


@jit(
    "void(i8, f8[:, ::1], i4[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1],"
    " i4[:, ::1], f8[::1], out f8[:, :, ::1], out i4[:, :, ::1], out i4[:, ::1])"
)
def step_balls(
    steps, areas, marks, bounds, rods, gates, rules, settings, bodies, sides, events
):
    """Balls alone: bodies (N, B, 13), sides (N, B, 2), events (N, B), bits of what has
    happened; see `kernels.ball`.
    """
    for n in range(len(bodies)):
        for b in range(bodies.shape[1]):
            for _ in range(steps):
                events[n, b] |= move_ball(
                    areas,
                    marks,
                    bounds,
                    rods,
                    gates,
                    rules,
                    settings,
                    bodies[n, b],
                    sides[n, b],
                )


@jit(
    "void(i8, f8[::1], i4[:, ::1], f8[::1], i4[::1], f8[:, ::1],"
    " out f8[:, ::1], out f8[:, ::1], out f8[:, ::1])"
)
def swing_net(
    steps,
    settings,
    strings,
    inverse_lengths,
    holds,
    anchors,
    nodes,
    speeds,
    forces,
):
    """One net alone, nodes and speeds (M, 3); see `kernels.net`."""
    for _ in range(steps):
        swing(
            settings,
            strings,
            inverse_lengths,
            holds,
            anchors,
            nodes,
            speeds,
            forces,
        )


@part
def push_by_balls(
    areas, marks, firsts, members, near_firsts, near, holds, radius, ground, bodies,
    sides, nodes, speeds,
):  # fmt: skip
    """Let every ball of one netting push its net, in each area that acts on it."""
    for b in range(len(bodies)):
        for row in range(len(areas)):
            if marks[row, OWNER] >= 0:
                continue
            x, y, z = bodies[b, 0], bodies[b, 1], bodies[b, 2]
            side, face = np.int64(sides[b, 0]), np.int64(sides[b, 1])
            if acting(areas, marks, row, side, face, x, y, z) > 0.0:
                push_net(
                    firsts,
                    members,
                    near_firsts,
                    near,
                    holds,
                    marks[row, FACE],
                    areas[row, NX],
                    areas[row, NY],
                    areas[row, NZ],
                    bodies[b],
                    radius,
                    ground,
                    nodes,
                    speeds,
                )


@jit(
    "void(i8, i8, i8, f8[:, ::1], i4[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1],"
    " i4[:, ::1], f8[::1], f8[::1], i4[:, ::1], f8[::1], i4[::1], f8[:, ::1],"
    " i4[::1], i4[::1], i4[::1], i4[::1],"
    " out f8[:, :, ::1], out i4[:, :, ::1], out i4[:, ::1], out f8[:, :, ::1],"
    " out f8[:, :, ::1], out f8[:, ::1])"
)
def step_frames(
    frames, net_steps, ball_steps, areas, marks, bounds, rods, gates, rules,
    ball_settings, net_settings, strings, inverse_lengths, holds, anchors,
    firsts, members, near_firsts, near, bodies, sides, events, nodes, speeds, forces,
):  # fmt: skip
    """Frames of N nettings: in each `net_steps` times `ball_steps` steps of the balls,
    and one of the net.

    bodies: (N, B, 13), sides: (N, B, 2), events: (N, B); nodes, speeds: (N, M, 3);
    forces: (M, 3), room to work in.
    """
    for n in range(len(bodies)):
        for _ in range(frames * net_steps):
            for _ in range(ball_steps):
                for b in range(bodies.shape[1]):
                    events[n, b] |= move_ball(
                        areas,
                        marks,
                        bounds,
                        rods,
                        gates,
                        rules,
                        ball_settings,
                        bodies[n, b],
                        sides[n, b],
                    )
            swing(
                net_settings,
                strings,
                inverse_lengths,
                holds,
                anchors,
                nodes[n],
                speeds[n],
                forces,
            )
            push_by_balls(
                areas,
                marks,
                firsts,
                members,
                near_firsts,
                near,
                holds,
                ball_settings[RADIUS],
                net_settings[GROUND],
                bodies[n],
                sides[n],
                nodes[n],
                speeds[n],
            )
