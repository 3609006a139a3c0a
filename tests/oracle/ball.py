"""A ball among reaction areas, rods, gates and the ground, slow and plain.

Vectors and one formula a line, after the specification of balls and goal nets. Areas
are found anew from the faces of a netting; only their order is that of its tables, so
that rows can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from flexor.stage.goal.areas import EDGE
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import BallSettings, Push
from flexor.stage.goal.state import NettingState, shoot

BEFORE, INSIDE, OUTSIDE = range(3)
SCORED, ROD, GROUND, NET = 1, 2, 4, 8
UP = np.array([0.0, 1.0, 0.0])
SLOWEST_BOUNCE = 0.35  # metres a second
STANDS_STILL = 0.02  # metres a second
TIGHT = 0.05  # metres before a fixed edge
ACROSS = 0.1  # cosine: what is turned further from a face does not end its hollow


@dataclass(frozen=True)
class Ball:
    """place, velocity, spin: (3,); rotation: (4,), xyzw; side: what it remembers; area:
    the row of the outside area that acts, -1 for none; events: what has happened.
    """

    place: Any
    velocity: Any
    spin: Any
    rotation: Any
    side: int
    area: int
    events: int = 0


@dataclass(frozen=True)
class Area:
    """The half-space behind a plane, normal . place = offset.

    limit: metres, how deep a ball gets; half: H1, or 0 where nothing climbs; side: of
    the balls on which it acts; owner: of an edge area, the row of the area with which
    it acts; sides: planes (normal, offset) that the region of an outside area lies
    behind; group: areas on one side of one sheet have the same.
    """

    normal: Any
    offset: float
    push: Push
    limit: float
    half: float
    side: int
    owner: int = -1
    sides: tuple[Any, ...] = ()
    group: tuple[int, int] = (0, 0)

    def depth(self, place: Any) -> float:
        return float(self.offset - self.normal @ place)

    def within(self, place: Any) -> float:
        """How far a place is within the sides of the region."""
        return min((float(o - n @ place) for n, o in self.sides), default=math.inf)


def ball_of(state: NettingState, ball: int, row: int = 0) -> Ball:
    """A ball of a state."""
    body = state.bodies[row, ball].copy()
    side, area = state.sides[row, ball].tolist()
    events = int(state.events[row, ball])
    return Ball(body[:3], body[3:6], body[6:9], body[9:], side, area, events)


def lay(
    state: NettingState,
    place: Any,
    velocity: Any = (0, 0, 0),
    spin: Any = (0, 0, 0),
    *,
    side: int,
    area: int = -1,
) -> None:
    """Put all balls of a state somewhere, and say what they remember."""
    shoot(state, place, velocity, spin)
    state.sides[:] = side, area


@cache
def areas_of(netting: Netting) -> tuple[Area, ...]:
    """Front and back of each face, each followed by those of its fixed edges."""
    found: list[Area] = []
    is_hollow = len(netting.gates) > 0
    for face in netting.faces:
        push, reach = face.plan.push, face.plan.reach
        for sign in (1, -1):
            side = INSIDE if is_hollow and sign > 0 else OUTSIDE
            group, owner = (face.sheet, sign), len(found)
            sides = _sides(netting, face) if side == OUTSIDE else ()
            limit = push.limit
            if is_hollow and side == OUTSIDE:
                limit = min(limit, _room(face, sides) - netting.ball.radius)
            offset = sign * face.place(0) + push.front
            normal = sign * face.normal
            found.append(
                Area(normal, offset, push, limit, face.half, side, -1, sides, group)
            )
            for *inward, place in face.edges.tolist():
                tight = reach - TIGHT if reach > 2 * TIGHT else reach / 2
                edge = face.plan.edge or EDGE
                found.append(
                    Area(np.array(inward), place + reach, edge, tight, 0, side, owner)
                )
    return tuple(found)


def _room(face: Any, sides: Any) -> float:
    """How far it is from the plane behind a face through its hollow, and out of it."""
    ways = [math.inf]
    for normal, offset in sides:
        if normal @ face.normal > ACROSS:
            ways += [
                (offset - normal @ p) / (normal @ face.normal) for p in face.corners
            ]
    return float(min(ways)) + face.plan.push.front


def _sides(netting: Netting, face: Any) -> tuple[Any, ...]:
    """Of a hollow the backs of the other faces and the gates; of a sheet its edges, and
    halfway between two of its faces.
    """
    if len(netting.gates):
        backs = [
            (-other.normal, other.plan.push.front - other.place(0))
            for other in netting.faces
            if other is not face
        ]
        return (*backs, *((gate[:3], gate[3]) for gate in netting.gates))
    planes = []
    for a, b in zip(face.corners, np.roll(face.corners, -1, 0), strict=True):
        # Away from the middle of the face, at right angles to the edge.
        out = _beside(a, b, (a + b) - face.corners.mean(0))
        for other in netting.faces:
            if other.sheet == face.sheet and _has_edge(other, b, a):
                into = _beside(a, b, other.corners.mean(0))
                if np.linalg.norm(out + into) > 1e-6:
                    out = out + into
        out = out / np.linalg.norm(out)
        planes.append((out, out @ (a + b) / 2))
    return tuple(planes)


def _beside(a: Any, b: Any, place: Any) -> Any:
    """The unit vector from the middle of an edge to a place, at right angles to it."""
    way, along = place - (a + b) / 2, (b - a) / np.linalg.norm(b - a)
    way = way - (way @ along) * along
    return way / np.linalg.norm(way)


def _has_edge(face: Any, a: Any, b: Any) -> bool:
    """Whether one of the upright edges of a face goes from a to b."""
    low_left, low_right, high_right, high_left = face.corners
    ways = ((low_right, high_right), (high_left, low_left))
    return any(np.array_equal(a, p) and np.array_equal(b, q) for p, q in ways)


def acts(areas: tuple[Area, ...], row: int, ball: Ball) -> bool:
    """Whether an area acts on a ball that is behind its plane.

    Inside all do at once, outside the one that was hit first; those of edges together
    with their owner, if the ball is beyond the sheet itself.
    """
    area = areas[row]
    owner = areas[area.owner] if area.owner >= 0 else None
    if area.side == INSIDE:
        mine = ball.side == INSIDE
    else:
        acting = area.owner if owner else row
        mine = ball.side != INSIDE and ball.area == acting
    if owner and owner.depth(ball.place) <= owner.push.front:
        return False
    return mine and area.depth(ball.place) > 0


def sliding(ball: Ball, normal: Any, radius: float) -> Any:
    """How the skin of a ball slides along a face, turned around: s."""
    s = radius * np.cross(ball.spin, normal) - ball.velocity
    return s - (s @ normal) * normal


def reaction(
    area: Area, ball: Ball, settings: BallSettings, t: float
) -> tuple[Any, Any]:
    """The acceleration of a ball in an area without gravity, and that of its spin."""
    push, n, v = area.push, area.normal, ball.velocity
    d = area.depth(ball.place)
    along_n = float(v @ n)
    k2 = push.k2a if along_n >= 0 else push.k2b
    a = push.k1 * d**2 * n
    a = a - k2 * d**2 * along_n * n
    a = a - push.k3 * d**2 * (v - along_n * n)
    height = ball.place[1] - settings.ground
    if area.half > 0 and height < area.half and along_n < 0:
        a = a + push.k4 * push.k1 * d**2 * (1 - height / area.half) ** 2 * UP
    s = sliding(ball, n, settings.radius)
    size = float(np.linalg.norm(s))
    if size == 0:
        return a, np.zeros(3)
    # Of what ends the sliding, 1 part goes into velocity and 1 / inertia into spin.
    ends = size / (1 + 1 / settings.inertia) / t
    friction = min(push.k5 * push.k1 * d**2, ends) * s / size
    return a + friction, turning(friction, n, settings)


def turning(friction: Any, normal: Any, settings: BallSettings) -> Any:
    """What a force on the skin, or an impulse, per mass does to the spin."""
    arm = -settings.radius * normal
    return np.cross(arm, friction) / (settings.inertia * settings.radius**2)


def fall_into(areas: tuple[Area, ...], ball: Ball, own: BallSettings, t: float) -> Ball:
    """Velocity, spin and place after t seconds, as if nothing rigid were there."""
    a, b, events = -own.gravity * UP, np.zeros(3), ball.events
    for row, area in enumerate(areas):
        if acts(areas, row, ball):
            more, turns = reaction(area, ball, own, t)
            a, b, events = a + more, b + turns, events | NET
    velocity = fly(ball, own, t) + a * t
    place, spin = ball.place + velocity * t, ball.spin + b * t
    return replace(ball, velocity=velocity, spin=spin, place=place, events=events)


def fly(ball: Ball, own: BallSettings, t: float) -> Any:
    """The velocity after air has bent the way, at the same speed, and then slowed it
    by drag |v| v, in which the velocity is the one that comes out.
    """
    v, speed = ball.velocity, float(np.linalg.norm(ball.velocity))
    if speed == 0:
        return v
    bent = v + own.curl * np.cross(ball.spin, v) * t
    bent = bent * speed / np.linalg.norm(bent)
    return bent / (1 + own.drag * speed * t)


def bounce(
    ball: Ball, normal: Any, own: BallSettings, restitution: float, grip: float
) -> Ball:
    """What a rigid thing does to a ball that moves into it."""
    into = -float(ball.velocity @ normal)
    if into <= 0:
        return ball
    back = into * (1 + restitution) if into > SLOWEST_BOUNCE else into
    ball = replace(ball, velocity=ball.velocity + back * normal)
    s = sliding(ball, normal, own.radius)
    size = float(np.linalg.norm(s))
    if size == 0:
        return ball
    friction = min(grip * back, size / (1 + 1 / own.inertia)) * s / size
    return replace(
        ball,
        velocity=ball.velocity + friction,
        spin=ball.spin + turning(friction, normal, own),
    )


def beside(way: Any) -> Any:
    """A direction at a right angle to a rod: z, or x for rods that run along z."""
    square = way @ way
    normal = np.array([0.0, 0.0, 1.0])
    if square > 0 and way[2] ** 2 >= 0.5 * square:
        normal = np.array([1.0, 0.0, 0.0])
    if square > 0:
        normal = normal - (normal @ way) / square * way
    return normal / np.linalg.norm(normal)


def meet_rods(rods: Any, ball: Ball, own: BallSettings) -> Ball:
    """Out of each rod in turn, and back from it."""
    for *ends, radius in rods.tolist():
        start, end = np.array(ends[:3]), np.array(ends[3:])
        way, share = end - start, 0.0
        if way @ way > 0:
            share = float(np.clip((ball.place - start) @ way / (way @ way), 0, 1))
        apart = ball.place - (start + share * way)
        far = float(np.linalg.norm(apart))
        if far >= radius + own.radius:
            continue
        normal = apart / far if far > 1e-9 else beside(way)
        out = ball.place + (radius + own.radius - far) * normal
        ball = replace(ball, place=out, events=ball.events | ROD)
        ball = bounce(ball, normal, own, own.rod_bounce, own.rod_grip)
    return ball


def meet_ground(ball: Ball, own: BallSettings, t: float) -> Ball:
    """A ball bounces off the ground, or rolls on it until it stands still."""
    x, y, z = ball.place
    low = own.ground + own.radius
    if y >= low:
        return ball
    is_landing = ball.velocity[1] < -SLOWEST_BOUNCE
    ball = bounce(ball, UP, own, own.bounce, own.grip)
    ball = replace(ball, place=np.array([x, low, z]), events=ball.events | GROUND)
    if is_landing:
        return ball
    less = own.rolling * own.gravity * t  # metres a second that rolling costs
    (vx, vy, vz), (wx, wy, wz) = ball.velocity, ball.spin
    speed, skin = math.hypot(vx, vz), own.radius * math.hypot(wx, wy, wz)
    slow = max(less, STANDS_STILL)
    if speed <= slow and skin <= 2 * slow:
        return replace(ball, velocity=vy * UP, spin=np.zeros(3))
    keep = max(1 - less / speed, 0) if speed > 0 else 1
    twist = own.radius * abs(wy)
    keep_twist = max(1 - less / twist, 0) if twist > 0 else 1
    return replace(
        ball,
        velocity=np.array([vx * keep, vy, vz * keep]),
        spin=np.array([wx * keep, wy * keep_twist, wz * keep]),
    )


def remember(gates: Any, side: int, start: Any, end: Any) -> int:
    """What a ball remembers after it went from start to end.

    It takes a side when it goes in, through the opening of a gate or beside it, and
    drops it when it comes back the same way; else it keeps what it has.
    """
    for gate in gates:
        normal, middle = gate[:3], gate[4:7]
        first, last = (float((p - middle) @ normal) for p in (start, end))
        if (first > 0) == (last > 0):
            continue
        there = start + first / (first - last) * (end - start) - middle
        is_through = (
            abs(there @ gate[7:10]) <= gate[10] and abs(there @ gate[11:14]) <= gate[14]
        )
        taken = INSIDE if is_through else OUTSIDE
        if last <= 0 and side == BEFORE:
            side = taken
        elif last > 0 and side == taken:
            side = BEFORE
    return side


def choose_area(areas: tuple[Area, ...], ball: Ball, start: Any) -> int:
    """The outside area that acts on a ball that came from start, -1 for none.

    The one that acted, until its region is left; else of the regions in which the ball
    is now one on the same side of the same sheet, if it slid out sideways; else the one
    that it entered first through the plane; else the one in which it is least deep, in
    front of the sheet.
    """
    end, group = ball.place, None
    if ball.area >= 0:
        acting = areas[ball.area]
        if acting.depth(end) > 0 and acting.within(end) > 0:
            return ball.area
        if acting.depth(end) > 0:
            group = acting.group
    next_to, passed, beside = [], [], []
    for row, area in enumerate(areas):
        depth, before = area.depth(end), area.depth(start)
        if area.side != OUTSIDE or area.owner >= 0:
            continue
        if depth <= 0 or area.within(end) <= 0:
            continue
        share = before / (before - depth) if before <= 0 else 0.0
        if area.group == group:
            next_to.append((0.0, row))
        elif before <= 0 and area.within(start + share * (end - start)) >= 0:
            passed.append((share, row))
        elif depth <= area.push.front:
            beside.append((depth / area.push.front, row))
    return min(next_to or passed or beside or [(0.0, -1)])[1]


def hold(areas: tuple[Area, ...], ball: Ball) -> Ball:
    """No deeper than the limit of each area: there the sheet is tight."""
    for row, area in enumerate(areas):
        more = area.depth(ball.place) - area.limit
        if acts(areas, row, ball) and more > 0:
            into = min(float(ball.velocity @ area.normal), 0)
            ball = replace(
                ball,
                place=ball.place + more * area.normal,
                velocity=ball.velocity - into * area.normal,
            )
    return ball


def turn(ball: Ball, t: float) -> Ball:
    """Rotation q' = q + t / 2 spin * q, as a unit again."""
    (x, y, z), w = ball.rotation[:3], ball.rotation[3]
    half = ball.spin * t / 2
    vector = np.array([x, y, z])
    moved = vector + half * w + np.cross(half, vector)
    whole = np.array([*moved, w - half @ vector])
    return replace(ball, rotation=whole / np.linalg.norm(whole))


def step_ball(netting: Netting, ball: Ball) -> Ball:
    """One step of a ball, the twin of `kernels.goal.step_balls`.

    In parts, so that a ball moves by half of its radius at most, and by 5.5 cm at most;
    64 parts at most.
    """
    own, areas = netting.ball, areas_of(netting)
    far = float(np.linalg.norm(ball.velocity)) / own.rate
    parts = min(max(math.ceil(far / min(own.radius / 2, 0.055)), 1), 64)
    t = 1 / own.rate / parts
    for _ in range(parts):
        start = ball.place
        ball = fall_into(areas, ball, own, t)
        ball = meet_rods(netting.rods, ball, own)
        ball = meet_ground(ball, own, t)
        side = remember(netting.gates, ball.side, start, ball.place)
        ball = replace(ball, side=side)
        area = -1 if side == INSIDE else choose_area(areas, ball, start)
        ball = hold(areas, replace(ball, area=area))
    far_in = [float(gate[3] - gate[:3] @ ball.place) for gate in netting.gates]
    if ball.side == INSIDE and min(far_in, default=math.inf) >= own.radius:
        ball = replace(ball, events=ball.events | SCORED)
    return turn(ball, 1 / own.rate)
