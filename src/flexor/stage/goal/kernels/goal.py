"""Frames of balls and nets, many nettings in one call; and balls or nets alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import jit, part
from flexor.maths.kernels.numbers import int64
from flexor.stage.goal.kernels.ball import (
    RADIUS,
    acting,
    move_ball,
)
from flexor.stage.goal.kernels.net import GROUND, push_net, swing
from flexor.stage.goal.layout import (
    FACE,
    NX,
    NY,
    NZ,
    OWNER,
    BallTables,
    FaceNodes,
    NetTables,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints


__all__ = ["step_balls", "step_frames", "swing_net"]


@jit("void(i8, BallTables, out f8[:, :, ::1], out i4[:, :, ::1], out i4[:, ::1])")
def step_balls(
    steps: int, tables: BallTables, bodies: Doubles, sides: Ints, events: Ints
) -> None:
    """Balls alone: bodies (N, B, 13), sides (N, B, 2), events (N, B), bits of what has
    happened; see `kernels.ball`.
    """
    for n in range(len(bodies)):
        for b in range(bodies.shape[1]):
            for _ in range(steps):
                events[n, b] |= move_ball(tables, bodies[n, b], sides[n, b])


@jit("void(i8, NetTables, out f8[:, ::1], out f8[:, ::1], out f8[:, ::1])")
def swing_net(
    steps: int, net: NetTables, nodes: Doubles, speeds: Doubles, forces: Doubles
) -> None:
    """One net alone, nodes and speeds (M, 3); see `kernels.net`."""
    for _ in range(steps):
        swing(net, nodes, speeds, forces)


@part
def push_by_balls(
    tables: BallTables,
    net: NetTables,
    faces: FaceNodes,
    bodies: Doubles,
    sides: Ints,
    nodes: Doubles,
    speeds: Doubles,
) -> None:
    """Let every ball of one netting push its net, in each area that acts on it."""
    areas, marks = tables.areas, tables.marks
    radius, ground = tables.settings[RADIUS], net.settings[GROUND]
    for b in range(len(bodies)):
        for row in range(len(areas)):
            if marks[row, OWNER] >= 0:
                continue
            x, y, z = bodies[b, 0], bodies[b, 1], bodies[b, 2]
            side, face = int64(sides[b, 0]), int64(sides[b, 1])
            if acting(areas, marks, row, side, face, x, y, z) > 0.0:
                normal = (areas[row, NX], areas[row, NY], areas[row, NZ])
                push_net(
                    faces, net.holds, marks[row, FACE], normal, bodies[b], radius,
                    ground, nodes, speeds,
                )  # fmt: skip


@jit(
    "void(i8, i8, i8, BallTables, NetTables, FaceNodes, out f8[:, :, ::1],"
    " out i4[:, :, ::1], out i4[:, ::1], out f8[:, :, ::1], out f8[:, :, ::1],"
    " out f8[:, ::1])",
)
def step_frames(
    frames: int,
    net_steps: int,
    ball_steps: int,
    tables: BallTables,
    net: NetTables,
    faces: FaceNodes,
    bodies: Doubles,
    sides: Ints,
    events: Ints,
    nodes: Doubles,
    speeds: Doubles,
    forces: Doubles,
) -> None:
    """Frames of N nettings: in each `net_steps` times `ball_steps` steps of the balls,
    and one of the net.

    bodies: (N, B, 13), sides: (N, B, 2), events: (N, B); nodes, speeds: (N, M, 3);
    forces: (M, 3), room to work in.
    """
    for n in range(len(bodies)):
        for _ in range(frames * net_steps):
            for _ in range(ball_steps):
                for b in range(bodies.shape[1]):
                    events[n, b] |= move_ball(tables, bodies[n, b], sides[n, b])
            swing(net, nodes[n], speeds[n], forces)
            push_by_balls(tables, net, faces, bodies[n], sides[n], nodes[n], speeds[n])
