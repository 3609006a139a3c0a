"""Balls and nets that move: many nettings of one kind in one call.

    goal = make_goal()
    state = init_netting(goal, count=1, balls=1)
    shoot(state, (0.5, 0.11, 11), (3, 8, -24))
    while playing:
        step_netting(state)

A frame is 1/60 s: by default ball, ball, net, ball, ball, net. Everything is in the
space of the netting; where it stands in the world is for the caller to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Doubles, Ints, check_array
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact, threads
from flexor.stage.goal.layout import (
    BEFORE,
    BODY_NUMBERS,
    BOUND_COUNT,
    FACE,
    FIRST_BOUND,
    FRONT,
    INSIDE,
    NX,
    NZ,
    OFFSET,
    OUTSIDE,
    OWNER,
    SIDE,
    BallTables,
    FaceNodes,
    NetTables,
)
from flexor.stage.goal.netting import Netting, net_tables

__all__ = [
    "NettingState",
    "init_netting",
    "pushes",
    "shoot",
    "step_balls",
    "step_netting",
    "turn_points",
]

MOST = 10_000_000  # balls
FARTHEST, FASTEST, QUICKEST = 1e4, 200.0, 2000.0  # metres, a second, radians a second
START = 11.0  # metres before the origin: where penalties are taken
LEAST_WORK = 20_000  # nanoseconds, about, that are worth a second thread
BALL_COST, NODE_COST = 600, 25  # nanoseconds a frame, about


@dataclass(slots=True, eq=False)
class NettingState:
    """N nettings of one kind with B balls each.

    bodies: float64 (N, B, 13), place, velocity, spin and rotation (xyzw) of each ball;
    sides: int32 (N, B, 2), what each remembers (0 before the gate, 1 inside, 2 outside)
    and the row of the outside area that acts, -1 for none; events: int32 (N, B), what
    has happened to each since it was shot, bits: 1 all of it passed the gate inward, 2
    it met a rod, 4 the ground, 8 a sheet; nodes, speeds: float64 (N, M, 3), places and
    velocities of the nodes of each net.
    """

    netting: Netting
    bodies: Doubles
    sides: Ints
    events: Ints
    nodes: Doubles
    speeds: Doubles
    _tables: tuple[BallTables, NetTables, FaceNodes]  # of the netting, for the kernel
    _forces: Doubles
    _checked: tuple[Any, ...] = ()  # arrays that were looked at

    def __len__(self) -> int:
        return len(self.bodies)

    @property
    def places(self) -> Doubles:
        """Middles of the balls (N, B, 3), metres; a view. To move one, `shoot` it."""
        return self.bodies[..., :3]

    @property
    def velocities(self) -> Doubles:
        """Velocities of the balls (N, B, 3), metres a second; a view."""
        return self.bodies[..., 3:6]

    @property
    def spins(self) -> Doubles:
        """Spins of the balls (N, B, 3), radians a second; a view."""
        return self.bodies[..., 6:9]

    @property
    def rotations(self) -> Doubles:
        """How the balls are turned (N, B, 4), xyzw; a view."""
        return self.bodies[..., 9:]

    @property
    def is_inside(self) -> NDArray[np.bool_]:
        """Which balls are inside, by the gate that they passed: (N, B)."""
        found: NDArray[np.bool_] = self.sides[..., 0] == INSIDE
        return found

    def has_met(self, event: int) -> NDArray[np.bool_]:
        """To which balls (N, B) something has happened: bits of `layout`."""
        found: NDArray[np.bool_] = self.events & event != 0
        return found


def init_netting(netting: Netting, count: int = 1, balls: int = 1) -> NettingState:
    """Nets that hang at rest, and balls that lie in a row before them."""
    for name, value in (("count", count), ("balls", balls)):
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < 0:
            raise SettingError(f"{name}: {value!r}, expected 0 or more")
    for name, value in (("balls", balls), ("nodes", len(netting.hang))):
        if count * value > MOST:
            raise SettingError(
                f"count: {count} times {value} {name}, expected {MOST:,} or less in all"
            )
    bodies = np.zeros((count, balls, BODY_NUMBERS))
    radius = netting.ball.radius
    bodies[..., 0] = (np.arange(balls) - (balls - 1) / 2) * 2.5 * radius
    bodies[..., 1] = netting.ball.ground + radius
    bodies[..., 2] = START
    bodies[..., 12] = 1.0
    sides = np.zeros((count, balls, 2), np.int32)
    sides[..., 1] = -1
    nodes = np.repeat(netting.hang[None], count, 0)
    state = NettingState(
        netting,
        bodies,
        sides,
        np.zeros((count, balls), np.int32),
        nodes,
        np.zeros_like(nodes),
        _tables(netting),
        np.zeros((max(min(threads.thread_count(), count), 1), *netting.hang.shape)),
    )
    _find_sides(state, np.ones((count, balls), bool))
    return state


def _tables(own: Netting) -> tuple[BallTables, NetTables, FaceNodes]:
    """What kernels take of a netting."""
    areas = own.areas
    balls = BallTables(
        areas.areas,
        areas.marks,
        areas.bounds,
        own.rods,
        own.gates,
        own.rules,
        own.ball_numbers,
    )
    faces = FaceNodes(own.firsts, own.members, own.near_firsts, own.near)
    return (
        balls,
        net_tables(own.sheet, own.net_numbers),
        faces,
    )


def shoot(
    state: NettingState,
    place: ArrayLike,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    spin: ArrayLike = (0.0, 0.0, 0.0),
    *,
    who: Any = None,
) -> None:
    """Put balls somewhere, with a velocity and a spin.

    place, velocity, spin: (3,), or one for each ball of `who` (..., 3); who: an index
    into (N, B), such as a mask or (row, ball); None: all. A ball in a hollow behind a
    gate is inside, one behind the gate but not there is outside.
    """
    bodies = state.bodies
    rows = np.zeros(bodies.shape[:2], bool)
    try:
        rows[... if who is None else who] = True
        order = np.arange(rows.size).reshape(rows.shape)[... if who is None else who]
    except (IndexError, TypeError, ValueError) as error:
        raise ShapeError(f"who: no such balls: {error}") from None
    shape = (*np.shape(order), 3)
    numbers = [
        _vectors(value, shape, name, most)
        for value, name, most in (
            (place, "place", FARTHEST),
            (velocity, "velocity", FASTEST),
            (spin, "spin", QUICKEST),
        )
    ]
    flat = bodies.reshape(-1, BODY_NUMBERS)
    for column, values in zip((0, 3, 6), numbers, strict=True):
        flat[order, column : column + 3] = values
    state.events[rows] = 0
    _find_sides(state, rows)


def _vectors(value: ArrayLike, shape: Any, name: str, most: float) -> Doubles:
    try:
        found = np.broadcast_to(np.asarray(value, np.float64), shape)
    except (TypeError, ValueError):
        raise ShapeError(
            f"{name}: expected numbers, (3,) or one for each ball, {shape}"
        ) from None
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sqrt((found * found).sum(-1))
    if not (sizes <= most).all():
        worst = found[~(sizes <= most)][0].tolist()
        raise ShapeError(f"{name}: {worst}, expected a length of at most {most:g}")
    return found


def _find_sides(state: NettingState, who: NDArray[np.bool_]) -> None:
    """Say of balls that were put somewhere on which side they are."""
    netting, places = state.netting, state.bodies[who][:, :3]
    side = np.full(len(places), OUTSIDE)
    if len(netting.gates):
        before = (
            exact.multiply(places, netting.gates[:, :3].T) - netting.gates[:, 3] > 0
        )
        deep = np.stack(
            [
                exact.multiply(places - face.corners.mean(0), face.normal)
                for face in netting.faces
            ],
            1,
        )
        side = np.where((deep > 0).all(1), INSIDE, OUTSIDE)
        side = np.where(before.any(1), BEFORE, side)
    state.sides[who] = np.stack([side, np.full(len(places), -1)], 1)
    for row, mark in enumerate(netting.areas.marks):
        if mark[SIDE] == OUTSIDE and mark[OWNER] < 0:
            # In front of a sheet, but near it: as one who came from there.
            first = mark[FIRST_BOUND]
            own = netting.areas.bounds[first : first + mark[BOUND_COUNT]]
            is_near = (
                (own[:, 3] - exact.multiply(state.places, own[:, :3].T)) > 0
            ).all(-1)
            deep = _depths(state, row)
            is_near &= (deep > 0) & (deep <= netting.areas.areas[row, FRONT])
            state.sides[who & is_near & ~state.is_inside, 1] = row


def step_netting(state: NettingState, frames: int = 1) -> None:
    """Move balls and nets on by frames of 1/60 s."""
    from flexor.stage.goal.kernels import goal as kernel_goal

    _check_count(frames, "frames")
    _check_arrays(state)
    tables, net, faces = state._tables
    net_steps, ball_steps = state.netting.net_steps, state.netting.ball_steps
    bodies, sides, events = state.bodies, state.sides, state.events
    nodes, speeds = state.nodes, state.speeds
    count, balls = state.bodies.shape[:2]
    team = 1
    if count > 1:
        cost = frames * (BALL_COST * balls + NODE_COST * len(state.netting.hang))
        team = min(threads.thread_count(), len(state._forces), count)
        team = min(team, 1 + count * cost // LEAST_WORK)
    if team == 1:
        kernel_goal.step_frames(
            *(frames, net_steps, ball_steps, tables, net, faces),
            *(bodies, sides, events, nodes, speeds, state._forces[0]),
        )
        return

    def turn(members: slice) -> None:
        for member in range(members.start, members.stop):
            rows = slice(count * member // team, count * (member + 1) // team)
            kernel_goal.step_frames(
                *(frames, net_steps, ball_steps, tables, net, faces),
                *(bodies[rows], sides[rows], events[rows], nodes[rows], speeds[rows]),
                state._forces[member],
            )

    threads.run_slices(turn, team)


def step_balls(state: NettingState, steps: int = 1) -> None:
    """Move balls alone on by so many of their own steps: nets stay as they are.

    What a ball does depends on no net, so this is for those who count shots.
    """
    from flexor.stage.goal.kernels import goal as kernel_goal

    _check_count(steps, "steps")
    # No ball knows of another, so all are shared out alike.
    bodies = state.bodies.reshape(-1, 1, BODY_NUMBERS)
    sides = state.sides.reshape(-1, 1, 2)
    events = state.events.reshape(-1, 1)
    tables = state._tables[0]

    def turn(rows: slice) -> None:
        kernel_goal.step_balls(steps, tables, bodies[rows], sides[rows], events[rows])

    if len(bodies) * steps * BALL_COST < LEAST_WORK:
        turn(slice(0, len(bodies)))
    else:
        threads.run_slices(turn, len(bodies))


def _check_arrays(state: NettingState) -> None:
    """Refuse arrays that were put in place of others and do not fit."""
    own = state.bodies, state.sides, state.events, state.nodes, state.speeds
    if (
        all(a is b for a, b in zip(own, state._checked, strict=False))
        and state._checked
    ):
        return
    count, balls = state.bodies.shape[:2]
    nets = (count, len(state.netting.hang), 3)
    check_array(state.bodies, np.float64, (count, balls, BODY_NUMBERS), "bodies")
    check_array(state.sides, np.int32, (count, balls, 2), "sides")
    check_array(state.events, np.int32, (count, balls), "events")
    check_array(state.nodes, np.float64, nets, "nodes")
    check_array(state.speeds, np.float64, nets, "speeds")
    state._checked = own


def _check_count(value: Any, name: str) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not 0 <= value <= MOST:
        raise SettingError(f"{name}: {value!r}, expected 0 to {MOST:,}")


def pushes(
    state: NettingState, near: float = 0.0
) -> list[tuple[int, Doubles, NDArray[np.bool_]]]:
    """Where balls push nets now: for each way to push that some ball takes, the number
    of the face, the unit vector (3,) in which it is pushed, and who does (N, B).

    near: metres before an area of which those count too that are inside.
    """
    own, found = state.netting.areas, []
    for row, mark in enumerate(own.marks):
        who = _is_pushing(state, row, near)
        if who.any():
            found.append((int(mark[FACE]), -own.areas[row, :3], who))
    return found


def _is_pushing(state: NettingState, row: int, near: float) -> NDArray[np.bool_]:
    """Which balls (N, B) an area acts on, edges of sheets left out."""
    side, owner = state.netting.areas.marks[row, [SIDE, OWNER]]
    if owner >= 0:
        return np.zeros(state.places.shape[:2], bool)
    if side == INSIDE:
        who = state.is_inside & (_depths(state, row) > -near)
    else:
        who = (state.sides[..., 1] == row) & (_depths(state, row) > 0)
    found: NDArray[np.bool_] = who
    return found


def _depths(state: NettingState, row: int) -> Doubles:
    """How deep balls (N, B) are behind the plane of an area."""
    area = state.netting.areas.areas[row]
    depths: Doubles = area[OFFSET] - exact.multiply(state.places, area[NX : NZ + 1])
    return depths


def turn_points(points: Doubles, headings: Doubles, places: Doubles) -> Doubles:
    """Points (N, ..., 3) of N nettings where these stand: turned by headings (N,),
    radians about Y, +z toward +x, and moved to places (N, 3).
    """
    shape = (len(points),) + (1,) * (points.ndim - 2)
    c, s = (
        exact.cos_each(headings).reshape(shape),
        exact.sin_each(headings).reshape(shape),
    )
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    turned = np.stack([c * x + s * z, y, c * z - s * x], -1)
    found: Doubles = turned + places.reshape((*shape, 3))
    return found
