"""Sheets, rods, gates and the ground as one thing that balls fly into: a netting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.errors import SettingError
from flexor.scene.checks import check_kind
from flexor.stage.goal.areas import (
    AreaTables,
    Face,
    edge_push,
    find_faces,
    gate_tables,
    make_areas,
)
from flexor.stage.goal.layout import NetTables
from flexor.stage.goal.plan import (
    BallSettings,
    Gate,
    NetSettings,
    Rod,
    SheetPlan,
)
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.stability import check_push, check_stable, suit_net

__all__ = ["Netting", "ball_numbers", "make_netting", "net_numbers", "net_tables"]

FRAME = 60  # frames a second
ROUNDS = 300  # of a sixth of a second, in which a new net comes to rest


@dataclass(frozen=True, slots=True, eq=False)
class Netting:
    """What balls fly into; frozen, shared by all states.

    sheet: nodes and strings; hang: float64 (M, 3), where nodes hang at rest; faces;
    rods: float64 (R, 7), ends and radius; areas: reaction areas; gates, rules: see
    `kernels.ball`; members, firsts: nodes of each face; near, near_firsts: neighbours
    of each node; ball_numbers, net_numbers: settings as the kernels take them;
    ball_steps, net_steps: steps of the balls for each of the net, and of the net in a
    frame.
    """

    sheet: Sheet
    hang: Doubles
    faces: tuple[Face, ...]
    rods: Doubles
    areas: AreaTables
    gates: Doubles
    rules: Ints
    firsts: Ints
    members: Ints
    near_firsts: Ints
    near: Ints
    ball: BallSettings
    net: NetSettings
    ball_numbers: Doubles
    net_numbers: Doubles
    ball_steps: int
    net_steps: int


def make_netting(
    plans: SheetPlan | Iterable[SheetPlan],
    *,
    rods: Sequence[Rod] = (),
    gates: Sequence[Gate] = (),
    ball: BallSettings | None = None,
    net: NetSettings | None = None,
) -> Netting:
    """Weave sheets, let them hang, and find out how balls meet them.

    net: None for the usual coefficients, with strings as strong as is stable. Those
    that are not stable are refused, and the largest that are named.
    """
    ball = BallSettings() if ball is None else ball
    check_kind(ball, BallSettings, "ball")
    if net is not None:
        check_kind(net, NetSettings, "net")
    own = (
        (plans,)
        if isinstance(plans, SheetPlan)
        else _several(plans, SheetPlan, "plans")
    )
    rods, gates = _several(rods, Rod, "rods"), _several(gates, Gate, "gates")
    if not own:
        raise SettingError("plans: expected one sheet or more")
    sheet = weave_sheets(own)
    net = suit_net(sheet) if net is None else net
    net_steps, ball_steps = _steps(ball, net)
    check_stable(sheet, net)
    for plan in own:
        words = " ".join(plan.names)
        check_push(f"push of {words}", plan.push, plan.push.limit, ball.rate)
        check_push(f"edge of {words}", *edge_push(plan), ball.rate)
    nodes = _settle(sheet, net, ball.ground)
    faces = find_faces(own, sheet, nodes, ball.ground)
    members = [sheet.nodes_of(face) for face in range(len(faces))]
    firsts = np.cumsum([0, *(len(nodes) for nodes in members)])
    near_firsts, near = sheet.neighbours()
    table, rules = gate_tables(gates)
    return Netting(
        sheet,
        nodes,
        tuple(faces),
        np.array([[*r.start, *r.end, r.radius] for r in rods], float).reshape(-1, 7),
        make_areas(faces, gates, ball.radius),
        table,
        rules,
        firsts.astype(np.int32),
        np.concatenate(members),
        near_firsts,
        near,
        ball,
        net,
        ball_numbers(ball),
        net_numbers(net, ball.ground),
        ball_steps,
        net_steps,
    )


def _several(values: Any, kind: type, name: str) -> tuple[Any, ...]:
    """Things of a kind."""
    check_kind(values, Iterable, name)
    found = tuple(values)
    for value in found:
        check_kind(value, kind, name)
    return found


def _steps(ball: BallSettings, net: NetSettings) -> tuple[int, int]:
    """Steps of the net in a frame, and of balls for each of them."""
    if net.rate % FRAME:
        raise SettingError(f"rate: of the net {net.rate}, expected n times {FRAME}")
    if ball.rate % net.rate:
        raise SettingError(
            f"rate: of balls {ball.rate}, expected n times that of the net, {net.rate}"
        )
    return net.rate // FRAME, ball.rate // net.rate


def ball_numbers(ball: BallSettings) -> Doubles:
    """Settings of balls, in the columns of `kernels.ball`."""
    return np.array(
        [
            ball.radius,
            ball.inertia,
            ball.gravity,
            ball.drag,
            ball.curl,
            ball.ground,
            ball.bounce,
            ball.grip,
            ball.rolling,
            ball.rod_bounce,
            ball.rod_grip,
            1 / ball.rate,
        ]
    )


def net_numbers(net: NetSettings, ground: float) -> Doubles:
    """Settings of a net, in the columns of `kernels.net`."""
    coefficients = net.k11, net.k12, net.k13, net.k14
    rest = net.mass, net.gravity, net.fastest, ground, 1 / net.rate
    return np.array([*coefficients, *rest])


def net_tables(sheet: Sheet, numbers: Doubles) -> NetTables:
    """A net as kernels take it; numbers: of `net_numbers`."""
    inverse = 1 / sheet.lengths
    return NetTables(numbers, sheet.strings, inverse, sheet.holds, sheet.anchors)


def _settle(sheet: Sheet, net: NetSettings, ground: float) -> Doubles:
    """Where nodes (M, 3) hang when all is calm."""
    from flexor.stage.goal.kernels import goal as kernel_goal

    nodes = sheet.places.copy()
    speeds, forces = np.zeros_like(nodes), np.zeros_like(nodes)
    tables = net_tables(sheet, net_numbers(net, ground))
    for _ in range(ROUNDS):
        kernel_goal.swing_net(
            max(net.rate // 6, 1),
            tables,
            nodes,
            speeds,
            forces,
        )
        # Stopped again and again, it comes down soon: air would take minutes.
        speeds[:] = 0
    if not np.isfinite(nodes).all():
        raise SettingError("net: its nodes are not finite after they have swung")
    nodes.flags.writeable = False
    return nodes
