"""Nets of masses and strings, slow and plain: one string and one node at a time.

The formulas are those of the specification; all that is beyond them is that air slows
no node as if it were faster than `fastest`, that the ground may be at any height, and
that a node which is pushed does not come back faster than the ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.stage.goal.layout import FIXED, INSIDE, OUTSIDE, SPRUNG
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import NetSettings

UP = np.array([0.0, 1.0, 0.0])


@dataclass
class Net:
    """Strings (E, 2) between nodes, their lengths (E,), holds (M,) and anchors (M, 3)
    of nodes, coefficients, and the height of the ground.
    """

    strings: Any
    lengths: Any
    holds: Any
    anchors: Any
    settings: NetSettings
    ground: float = 0.0


def net_of(netting: Netting) -> Net:
    """The net of a netting."""
    own = netting.sheet
    return Net(
        own.strings,
        own.lengths,
        own.holds,
        own.anchors,
        netting.net,
        netting.ball.ground,
    )


def string_pulls(net: Net, nodes: Any) -> Any:
    """Newtons (M, 3) by which strings pull at nodes."""
    pulls = np.zeros((len(nodes), 3))
    for (i, j), length in zip(net.strings, net.lengths, strict=True):
        way = nodes[j] - nodes[i]
        distance = np.linalg.norm(way)
        if distance > length:
            pull = net.settings.k11 * (distance / length - 1) * way / distance
            pulls[i] += pull
            pulls[j] -= pull
    return pulls


def swing(net: Net, nodes: Any, speeds: Any) -> tuple[Any, Any]:
    """Places and velocities (M, 3) of nodes after one step."""
    own = net.settings
    t = 1 / own.rate
    pulls = string_pulls(net, nodes)
    places, velocities = np.array(nodes), np.array(speeds)
    for i in range(len(nodes)):
        if net.holds[i] == FIXED:
            continue
        speed = min(float(np.linalg.norm(speeds[i])), own.fastest)
        force = pulls[i] - own.k13 * speed * speeds[i]
        if net.holds[i] == SPRUNG:
            force = force + own.k12 * (net.anchors[i] - nodes[i])
        change = (force / own.mass - own.gravity * UP) * t
        velocities[i] = speeds[i] + change
        places[i] = nodes[i] + (velocities[i] + own.k14 * change) * t
        if places[i, 1] < net.ground:
            places[i, 1] = net.ground
            velocities[i, 1] = max(velocities[i, 1], 0)
    return places, velocities


def nearest_node(members: Any, normal: Any, place: Any, nodes: Any) -> int:
    """The node of a face that is nearest to a place, both projected on the face."""

    def project(point: Any) -> Any:
        return point - (point @ normal) * normal

    away = [np.linalg.norm(project(nodes[i]) - project(place)) for i in members]
    return int(members[int(np.argmin(away))])


def push(
    net: Net,
    members: Any,
    normal: Any,
    place: Any,
    velocity: Any,
    radius: float,
    nodes: Any,
    speeds: Any,
) -> tuple[Any, Any]:
    """Places and velocities (M, 3) of nodes after a ball pushed a face against its
    normal; members: nodes of the face.
    """
    places, velocities = np.array(nodes), np.array(speeds)
    best = nearest_node(members, normal, place, nodes)
    front = place - radius * normal
    s = (nodes[best] - front) @ normal
    if s <= 0:
        return places, velocities
    moves = {best: s}
    for i, j in net.strings.tolist():
        if best in (i, j):
            moves[i + j - best] = s / 2
    for node, move in moves.items():
        if net.holds[node] == FIXED:
            continue
        places[node] -= move * normal
        places[node, 1] = max(places[node, 1], net.ground)
        # It does not come back faster than the ball does.
        faster = (speeds[node] - velocity) @ normal
        if faster > 0:
            velocities[node] -= faster * normal
    return places, velocities


def pushed_faces(netting: Netting, side: int, row: int, place: Any) -> list[Any]:
    """Number and normal of each face that a ball pushes: if it is inside, all whose
    reference plane it has passed; if not, the one whose outside area acts, its row.
    """
    found = []
    for number, (area, mark) in enumerate(
        zip(netting.areas.areas, netting.areas.marks, strict=True)
    ):
        is_edge = mark[1] >= 0
        is_acting = side == INSIDE if mark[0] == INSIDE else number == row
        is_acting &= not (mark[0] == OUTSIDE and side == INSIDE)
        is_past = area[3] - area[:3] @ place > 0
        if is_acting and is_past and not is_edge:
            found.append((int(mark[2]), area[:3]))
    return found


def step_net(
    netting: Netting, bodies: Any, sides: Any, nodes: Any, speeds: Any
) -> tuple[Any, Any]:
    """Places and velocities (M, 3) of nodes after one step of the net of one netting:
    it swings, then each ball, bodies (B, 13) and sides (B, 2), pushes it.
    """
    net = net_of(netting)
    nodes, speeds = swing(net, nodes, speeds)
    for body, (side, row) in zip(bodies, sides.tolist(), strict=True):
        for face, normal in pushed_faces(netting, side, row, body[:3]):
            members = netting.sheet.nodes_of(face)
            nodes, speeds = push(
                net,
                members,
                normal,
                body[:3],
                body[3:6],
                netting.ball.radius,
                nodes,
                speeds,
            )
    return nodes, speeds


def energies(net: Net, nodes: Any, speeds: Any) -> tuple[float, float]:
    """Joules of motion, and of motion, strings, anchors and height together."""
    own = net.settings
    kinetic = total = 0.0
    for velocity in speeds:
        kinetic += own.mass * (velocity @ velocity) / 2
    for (i, j), length in zip(net.strings, net.lengths, strict=True):
        over = np.linalg.norm(nodes[j] - nodes[i]) - length
        if over > 0:
            # The force grows evenly from 0 to K11 over / L.
            total += own.k11 * over / length * over / 2
    for i, hold in enumerate(net.holds):
        if hold == SPRUNG:
            away = nodes[i] - net.anchors[i]
            total += own.k12 * (away @ away) / 2
        if hold != FIXED:
            total += own.mass * own.gravity * (nodes[i, 1] - net.ground)
    return kinetic, kinetic + total
