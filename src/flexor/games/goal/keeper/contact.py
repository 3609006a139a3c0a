"""A ball and the capsules of a body: no ball passes through between two ticks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.maths import exact
from flexor.stage.goal.layout import BEFORE, INSIDE, SCORED
from flexor.stage.goal.netting import FRAME
from flexor.stage.goal.state import NettingState, step_balls, step_netting

__all__ = ["Capsules", "Contact", "find_contact", "step_with_body"]

LONGEST = 0.03  # metres that a ball moves between two looks at it
BOUNCE, GRIP = 0.25, 0.55  # restitution, and the share of sliding that a touch ends
FARTHEST = 4.0  # metres from a body at which nobody looks


@dataclass(slots=True, eq=False)
class Capsules:
    """A body now: ends float64 (C, 2, 3), metres in the world; radii (C,)."""

    ends: Doubles
    radii: Doubles


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Where a ball met a body.

    moment: 0 to 1 of the way; row: of the capsule; place: middle of the ball; normal:
    from the capsule to it; speed: (3,), velocity of the capsule there, a way.
    """

    moment: float
    row: int
    place: Doubles
    normal: Doubles
    speed: Doubles


def find_contact(
    start: Doubles, end: Doubles, radius: float, before: Capsules, after: Capsules
) -> Contact | None:
    """The first touch of a ball that goes from start to end while a body moves.

    Both are looked at in steps of at most 3 cm of the way between them, which is less
    than the thinnest finger and the ball together: nothing is passed.
    """
    middle = (after.ends.min((0, 1)) + after.ends.max((0, 1))) / 2
    if exact.norm(end - middle) > FARTHEST + exact.norm(end - start):
        return None
    way = exact.norm(end - start)
    moved = np.linalg.norm(after.ends - before.ends, axis=-1).max(initial=0.0)
    steps = max(int(np.ceil((way + moved) / LONGEST)), 1)
    share = np.linspace(0, 1, steps + 1)
    balls = start + share[:, None] * (end - start)
    ends = before.ends + share[:, None, None, None] * (after.ends - before.ends)
    first, along = ends[:, :, 0], ends[:, :, 1] - ends[:, :, 0]
    square = np.maximum((along * along).sum(-1), 1e-12)
    from_first = balls[:, None] - first
    part = np.clip((from_first * along).sum(-1) / square, 0, 1)
    apart = from_first - part[..., None] * along
    away = np.sqrt((apart * apart).sum(-1))
    deep = radius + after.radii - away
    is_met = (deep > 0).any(1)
    if not is_met.any():
        return None
    step = int(np.argmax(is_met))
    row = int(np.argmax(deep[step]))
    gap = float(away[step, row])
    normal = np.array([0.0, 0.0, 1.0])
    if gap > 1e-6:
        normal = apart[step, row] / gap
    shift = after.ends[row] - before.ends[row]
    u = float(part[step, row])
    speed: Doubles = (1 - u) * shift[0] + u * shift[1]
    place = balls[step] + normal * float(deep[step, row])
    return Contact(float(share[step]), row, place, normal, speed)


def bounce_off(velocity: Doubles, normal: Doubles, speed: Doubles) -> Doubles:
    """Velocity of a ball after a touch; speed: of what it touches."""
    own = velocity - speed
    inward = float(exact.multiply(own, normal))
    if inward >= 0:
        return velocity
    across = own - inward * normal
    found: Doubles = speed + (1 - GRIP) * across - BOUNCE * inward * normal
    return found


def step_with_body(state: NettingState, before: Capsules, after: Capsules) -> list[int]:
    """One frame of a ball and a net, and of a body that goes from before to after.

    state: of one netting with one ball. Gives the rows of the capsules that were met.
    """
    body, sides, events = state.bodies[0, 0], state.sides[0, 0], state.events
    old = body.copy(), sides.copy(), int(events[0, 0])
    step_netting(state)
    radius = state.netting.ball.radius
    if find_contact(old[0][:3], body[:3], radius, before, after) is None:
        return []
    # Once more, in the ball's own small steps; the net has moved on already.
    body[:], sides[:], events[0, 0] = old
    steps, met = state.netting.ball.rate // FRAME, []
    rate = float(state.netting.ball.rate)
    for step in range(steps):
        held = _between(before, after, step / steps)
        then = _between(before, after, (step + 1) / steps)
        start, side = body[:3].copy(), sides.copy()
        step_balls(state)
        touch = find_contact(start, body[:3], radius, held, then)
        if touch is not None:
            met.append(touch.row)
            _put(state, touch.place, start, side)
            body[3:6] = bounce_off(body[3:6], touch.normal, touch.speed * rate)
            body[6:9] *= 1 - GRIP
    return met


def _between(before: Capsules, after: Capsules, share: float) -> Capsules:
    ends = before.ends + share * (after.ends - before.ends)
    return Capsules(ends, after.radii)


def _put(state: NettingState, place: Doubles, start: Doubles, side: Ints) -> None:
    """Put the ball elsewhere than its step took it: it remembers what it passed."""
    body, sides = state.bodies[0, 0], state.sides[0, 0]
    radius, ground = state.netting.ball.radius, state.netting.ball.ground
    is_before = place[2] > 0
    if is_before != (body[2] > 0):
        if is_before == (start[2] > 0):
            sides[:] = side
        else:
            sides[:] = BEFORE if is_before else INSIDE, -1
    if place[2] > -radius:
        state.events[0, 0] &= ~SCORED
    body[:3] = place
    body[1] = max(body[1], ground + radius)
