"""A net of nodes and strings: how it swings, and how balls push it.

All float64, in the space of the netting. nodes, speeds: (M, 3), one net. Strings only
pull.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.numbers import int64
from flexor.stage.goal.layout import FIXED, SPRUNG, FaceNodes, NetTables

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints


# Net settings.
K11, K12, K13, K14, MASS, GRAVITY, FASTEST, GROUND, STEP = range(9)


@part
def swing(net: NetTables, nodes: Doubles, speeds: Doubles, forces: Doubles) -> None:
    """One step of a net; forces: (M, 3), room to work in."""
    settings, strings, holds = net.settings, net.strings, net.holds
    inverse_lengths, anchors = net.inverse_lengths, net.anchors
    for i in range(len(nodes)):
        forces[i, 0] = forces[i, 1] = forces[i, 2] = 0.0
    k11 = settings[K11]
    for e in range(len(strings)):
        i, j = int64(strings[e, 0]), int64(strings[e, 1])
        dx = nodes[j, 0] - nodes[i, 0]
        dy = nodes[j, 1] - nodes[i, 1]
        dz = nodes[j, 2] - nodes[i, 2]
        length = max(math.sqrt(dx * dx + dy * dy + dz * dz), 1e-300)
        # K11 (|I| / L - 1) I / |I|; nothing while the string is slack.
        pull = k11 * max(inverse_lengths[e] - 1.0 / length, 0.0)
        dx, dy, dz = pull * dx, pull * dy, pull * dz
        forces[i, 0] += dx
        forces[i, 1] += dy
        forces[i, 2] += dz
        forces[j, 0] -= dx
        forces[j, 1] -= dy
        forces[j, 2] -= dz
    for i in range(len(nodes)):
        if holds[i] != FIXED:
            _move_node(settings, holds[i], anchors, nodes, speeds, forces, i)


@inline
def _move_node(
    settings: Doubles,
    hold: int,
    anchors: Doubles,
    nodes: Doubles,
    speeds: Doubles,
    forces: Doubles,
    i: int,
) -> None:
    t, k14 = settings[STEP], settings[K14]
    u, v, w = speeds[i, 0], speeds[i, 1], speeds[i, 2]
    # What moves faster is slowed as if it did not, or a step could turn it round.
    drag = settings[K13] * min(math.sqrt(u * u + v * v + w * w), settings[FASTEST])
    fx = forces[i, 0] - drag * u
    fy = forces[i, 1] - drag * v
    fz = forces[i, 2] - drag * w
    if hold == SPRUNG:
        k12 = settings[K12]
        fx += k12 * (anchors[i, 0] - nodes[i, 0])
        fy += k12 * (anchors[i, 1] - nodes[i, 1])
        fz += k12 * (anchors[i, 2] - nodes[i, 2])
    scale = t / settings[MASS]
    du, dv, dw = fx * scale, fy * scale - settings[GRAVITY] * t, fz * scale
    u, v, w = u + du, v + dv, w + dw
    nodes[i, 0] += (u + k14 * du) * t
    nodes[i, 2] += (w + k14 * dw) * t
    y = nodes[i, 1] + (v + k14 * dv) * t
    if y < settings[GROUND]:
        y, v = settings[GROUND], max(v, 0.0)
    nodes[i, 1] = y
    speeds[i, 0], speeds[i, 1], speeds[i, 2] = u, v, w


@part
def push_net(
    faces: FaceNodes,
    holds: Ints,
    face: int,
    normal: tuple[float, float, float],
    ball: Doubles,
    radius: float,
    ground: float,
    nodes: Doubles,
    speeds: Doubles,
) -> int:
    """Move the net out of the way of a ball that pushes against the normal of a face.

    ball: (13,). The node nearest to the ball, seen along the normal, moves to the front
    of the ball, its neighbours half as far. Gives the node, or -1.
    """
    nx, ny, nz = normal
    firsts, members = faces.firsts, faces.members
    x, y, z = ball[0], ball[1], ball[2]
    best, least = int64(-1), math.inf
    for m in range(firsts[face], firsts[face + 1]):
        i = members[m]
        dx, dy, dz = nodes[i, 0] - x, nodes[i, 1] - y, nodes[i, 2] - z
        up = dx * nx + dy * ny + dz * nz
        away = dx * dx + dy * dy + dz * dz - up * up
        if away < least:
            best, least = int64(i), away
    if best < 0:
        return best
    up = (
        (nodes[best, 0] - x) * nx
        + (nodes[best, 1] - y) * ny
        + (nodes[best, 2] - z) * nz
    )
    s = up + radius
    if s <= 0.0:
        return int64(-1)
    along = ball[3] * nx + ball[4] * ny + ball[5] * nz
    _shift(holds, nodes, speeds, best, nx, ny, nz, s, along, ground)
    for n in range(faces.near_firsts[best], faces.near_firsts[best + 1]):
        i = int64(faces.near[n])
        _shift(holds, nodes, speeds, i, nx, ny, nz, s / 2.0, along, ground)
    return best


@inline
def _shift(
    holds: Ints,
    nodes: Doubles,
    speeds: Doubles,
    i: int,
    nx: float,
    ny: float,
    nz: float,
    s: float,
    along: float,
    ground: float,
) -> None:
    """Move a node by `s` against a normal, not into the ground; it is no faster than
    the ball that moves it, `along` the normal.
    """
    if holds[i] == FIXED:
        return
    nodes[i, 0] -= s * nx
    nodes[i, 1] = max(nodes[i, 1] - s * ny, ground)
    nodes[i, 2] -= s * nz
    back = speeds[i, 0] * nx + speeds[i, 1] * ny + speeds[i, 2] * nz - along
    if back > 0.0:
        speeds[i, 0] -= back * nx
        speeds[i, 1] -= back * ny
        speeds[i, 2] -= back * nz
