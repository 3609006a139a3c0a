"""Limbs that stop at the trunks of others, and trunks that keep apart.

Capsules are as in `movement.kernels.hits`. A limb that is in a trunk is drawn back
toward where it begins and out of the trunk, so that a fist that has come through the
middle of a body in one tick comes back to the side that it came from. It is drawn back
no farther than it folds: a fist that was brought to its own shoulder, or behind it, had
its elbow now here and now there. And no faster than limbs move.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.stage.kernels.segments import between
from flexor.stage.motion.layout import LOWER, TRUNK, Touch

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Floats, Ints

REACH = 1.7  # metres apart, over the ground: who is farther touches nobody
WIDE = 1.0  # metres from a limb's end: who stands farther has no trunk there
TALL = 2.5  # metres: nor who is higher by this
LEFT = 0.012  # metres that a limb may be in a trunk: it touches, and can hit
HALF = 0.65  # of what its end is moved, a lower arm or leg moves
LEAST = 0.3  # of a push that goes out of the trunk, at least
FASTEST = 0.06  # metres that two are pushed apart in a tick, at most
FULL = 1.1  # of the length of a folded limb: as short, it is not drawn back farther
MOVED = 1e-4  # metres that count
FAST = 0.3  # metres by which a limb is drawn back more in a tick, at most


@jit("bool(i4[::1], f8[:, ::1], out bool[::1])")
def find_near(order: Ints, places: Doubles, near: Bools) -> bool:
    """Who is so near to another that limbs can touch: bool (N,); whether anybody is.

    order: (N,), rows by their x; places: (N, 3), metres.
    """
    is_any = False
    count = len(order)
    for n in range(count):
        near[n] = False
    for i in range(count):
        n = int64(order[i])
        for j in range(i + 1, count):
            m = int64(order[j])
            # Rows may have moved a little since they were sorted.
            if places[m, 0] - places[n, 0] > REACH + 0.5:
                break
            dx, dz = places[m, 0] - places[n, 0], places[m, 2] - places[n, 2]
            if dx * dx + dz * dz > REACH * REACH:
                continue
            if abs(places[m, 1] - places[n, 1]) > TALL:
                continue
            near[n] = near[m] = is_any = True
    return is_any


@jit(
    "void(i4[::1], bool[::1], f4[:, :, :, ::1], i4[::1], f8[:, :, ::1], i4[:, ::1],"
    " out f8[:, :, :, ::1], out f8[:, :, :, ::1])"
)
def place_near(
    rows: Ints,
    near: Bools,
    world: Floats,
    nodes: Ints,
    local: Doubles,
    limbs: Ints,
    ends: Doubles,
    spans: Doubles,
) -> None:
    """Where capsules and limbs are of those who are near somebody.

    rows: (n,), characters of a kind; world: (n, J, 3, 4); nodes: (H,) and local:
    (H, 2, 3), of capsules; limbs: (L, 2), nodes at which limbs begin and end; ends:
    (N, H, 2, 3), of capsules, and spans: (N, L, 2, 3), of limbs, filled.
    """
    for k in range(len(rows)):
        n = int64(rows[k])
        if not near[n]:
            continue
        for h in range(len(nodes)):
            j = int64(nodes[h])
            for e in range(2):
                x, y, z = local[h, e, 0], local[h, e, 1], local[h, e, 2]
                for row in range(3):
                    ends[n, h, e, row] = (
                        world[k, j, row, 0] * x
                        + world[k, j, row, 1] * y
                        + world[k, j, row, 2] * z
                        + world[k, j, row, 3]
                    )
        for m in range(len(limbs)):
            for e in range(2):
                j = int64(limbs[m, e])
                for row in range(3):
                    spans[n, m, e, row] = world[k, j, row, 3]


@inline
def _push(
    touch: Touch, n: int, h: int, m: int, k: int, limb: int, deepest: float
) -> float:
    """Take the push that brings one capsule out of another, if it is the deepest of its
    limb; gives how deep the deepest is.
    """
    _, _, x, y, z = between(touch.ends, n, h, m, k)
    away = math.sqrt(x * x + y * y + z * z)
    both = touch.radii[n, h] + touch.radii[m, k]
    deep = both - away
    if deep <= max(LEFT, deepest):
        return deepest
    spans = touch.spans
    ux = spans[n, limb, 0, 0] - spans[n, limb, 1, 0]
    uy = spans[n, limb, 0, 1] - spans[n, limb, 1, 1]
    uz = spans[n, limb, 0, 2] - spans[n, limb, 1, 2]
    size = max(math.sqrt(ux * ux + uy * uy + uz * uz), 1e-9)
    is_folded = size < FULL * touch.folded[n, limb]
    ux, uy, uz = ux / size, uy / size, uz / size
    part = 1.0 / max(away, 1e-9)
    x, y, z = x * part, y * part, z * part
    along = x * ux + y * uy + z * uz
    need = deep - 0.5 * LEFT
    if is_folded and away >= 1e-6:
        pass  # out of the trunk, to whichever side is nearest
    elif away < 1e-6 or along < 0.0:  # it is past the middle
        need = both + away * max(-along, 0.0)
        x, y, z = ux, uy, uz
    else:
        x, y, z = x + ux, y + uy, z + uz
        size = 1.0 / math.sqrt(x * x + y * y + z * z)
        x, y, z = x * size, y * size, z * size
        # Of unit directions and their sum, halved: the share that goes outward.
        need /= max((1.0 + along) * size, LEAST)
    if touch.parts[n, h] == LOWER:
        need /= HALF
    touch.pushes[n, limb, 0] = need * x
    touch.pushes[n, limb, 1] = need * y
    touch.pushes[n, limb, 2] = need * z
    return deep


@inline
def _look_into(touch: Touch, n: int, limb: int, m: int, deepest: float) -> float:
    """How deep a limb of one is in trunks of another, if deeper than so far."""
    limbs, parts, ends, spans = touch.limbs, touch.parts, touch.ends, touch.spans
    most = parts.shape[1]
    for k in range(most):
        if parts[m, k] != TRUNK:
            continue
        # Far from its end, a limb does not touch.
        x = ends[m, k, 0, 0] - spans[n, limb, 1, 0]
        y = ends[m, k, 0, 1] - spans[n, limb, 1, 1]
        z = ends[m, k, 0, 2] - spans[n, limb, 1, 2]
        dx = ends[m, k, 1, 0] - ends[m, k, 0, 0]
        dy = ends[m, k, 1, 1] - ends[m, k, 0, 1]
        dz = ends[m, k, 1, 2] - ends[m, k, 0, 2]
        far = touch.longest[n, limb] + touch.radii[m, k]
        far += math.sqrt(dx * dx + dy * dy + dz * dz)
        if x * x + y * y + z * z > far * far:
            continue
        for h in range(most):
            if limbs[n, h] == limb and parts[n, h] != TRUNK:
                deepest = _push(touch, n, h, m, k, limb, deepest)
    return deepest


@jit("bool(Touch, i8, i8, i8, out f8[::1])")
def find_grip(touch: Touch, n: int, limb: int, m: int, way: Doubles) -> bool:
    """Metres (3,) that the end of a limb of one is to be moved so that it lies on the
    trunk of another: nearer if it is off, out if it, or the bone above it, is in it.
    Gives whether there is anything to lie on.
    """
    nearest = 1e30
    most = touch.parts.shape[1]
    for h in range(most):
        if touch.limbs[n, h] != limb or touch.parts[n, h] == TRUNK:
            continue
        is_lower = touch.parts[n, h] == LOWER
        for k in range(most):
            if touch.parts[m, k] != TRUNK:
                continue
            _, _, x, y, z = between(touch.ends, n, h, m, k)
            away = math.sqrt(x * x + y * y + z * z)
            gap = away - touch.radii[n, h] - touch.radii[m, k] + 0.5 * LEFT
            if gap >= nearest or (is_lower and gap >= 0.0):
                continue
            nearest = gap
            if away < 1e-6:  # in the middle: back to where the limb begins
                for row in range(3):
                    way[row] = touch.spans[n, limb, 0, row]
                    way[row] -= touch.spans[n, limb, 1, row]
                x, y, z = way[0], way[1], way[2]
                away = max(math.sqrt(x * x + y * y + z * z), 1e-9)
            part = -gap / (away * (HALF if is_lower else 1.0))
            way[0], way[1], way[2] = x * part, y * part, z * part
    return nearest < 1e30


@jit("bool(i4[::1], bool[::1], f8[:, ::1], bool[:, ::1], Touch)")
def push_limbs(
    order: Ints, near: Bools, places: Doubles, stays: Bools, touch: Touch
) -> bool:
    """How far ends of limbs are to be moved, out of trunks of others; whether any is.

    order: (N,), rows by their x; near: (N,), who is near somebody; places: (N, 3),
    metres; stays: (N, L), limbs that are not moved.
    """
    is_any = False
    count = len(order)
    for i in range(count):
        n = int64(order[i])
        for limb in range(touch.pushes.shape[1]):
            for row in range(3):
                touch.pushes[n, limb, row] = 0.0
            if stays[n, limb] or not near[n]:
                continue
            deepest = 0.0
            for side in range(2):
                way = 1 if side == 0 else -1
                j = i + way
                while 0 <= j < count:
                    m = int64(order[j])
                    j += way
                    dx = places[m, 0] - touch.spans[n, limb, 1, 0]
                    if abs(places[m, 0] - places[n, 0]) > REACH + 0.5:
                        break
                    dz = places[m, 2] - touch.spans[n, limb, 1, 2]
                    if near[m] and dx * dx + dz * dz < WIDE * WIDE:
                        deepest = _look_into(touch, n, limb, m, deepest)
            is_any = is_any or deepest > 0.0
    return is_any


@inline
def _shove(touch: Touch, n: int, m: int, dx: float, dz: float) -> float:
    """Metres along a unit way (dx, dz) that one has to go until its trunk is out of
    another's.
    """
    most, found = touch.parts.shape[1], 0.0
    for h in range(most):
        if touch.parts[n, h] != TRUNK:
            continue
        for k in range(most):
            if touch.parts[m, k] != TRUNK:
                continue
            _, _, x, y, z = between(touch.ends, n, h, m, k)
            both = touch.radii[n, h] + touch.radii[m, k] - LEFT
            square = x * x + y * y + z * z
            if square < both * both:
                along = x * dx + z * dz
                way = math.sqrt(along * along + both * both - square) - along
                found = max(found, way)
    return found


@jit("bool(i4[::1], bool[::1], f8[:, ::1], i4[::1], Touch, out f8[:, ::1])")
def shove_trunks(
    order: Ints,
    near: Bools,
    places: Doubles,
    holders: Ints,
    touch: Touch,
    shoves: Doubles,
) -> bool:
    """Metres (N, 2) over the ground that trunks are to be pushed out of each other,
    each of two by half, and at most some in a tick; whether any is.

    order: (N,), rows by their x; near: (N,), who is near somebody and in the way;
    places: (N, 3); holders: (N,), who holds each by a throw, -1: those two touch.
    """
    is_any = False
    count = len(order)
    for n in range(count):
        shoves[n, 0] = shoves[n, 1] = 0.0
    for i in range(count):
        n = int64(order[i])
        if not near[n]:
            continue
        for j in range(i + 1, count):
            m = int64(order[j])
            dx, dz = places[n, 0] - places[m, 0], places[n, 2] - places[m, 2]
            if abs(dx) > REACH + 0.5:
                break
            size = math.sqrt(dx * dx + dz * dz)
            if not near[m] or size > REACH or holders[n] == m or holders[m] == n:
                continue
            if size < 1e-9:
                dx, dz, size = 1.0, 0.0, 1.0
            dx, dz = dx / size, dz / size
            half = 0.5 * min(_shove(touch, n, m, dx, dz), FASTEST)
            if half > 0.0:
                shoves[n, 0] += half * dx
                shoves[n, 1] += half * dz
                shoves[m, 0] -= half * dx
                shoves[m, 1] -= half * dz
                is_any = True
    return is_any


@jit("bool(f8[:, :, ::1], f8[:, :, ::1], out f8[:, :, ::1], Touch)")
def draw_back(ways: Doubles, last: Doubles, drawn: Doubles, touch: Touch) -> bool:
    """Draw limbs back by their pushes, as far as they fold and as fast as they move;
    pushes become what they were moved by; whether any was.

    ways: (N, L, 3), metres from where limbs begin to where they end if they are not
    drawn back; last: (N, L, 3), how far they were in the last tick; drawn: how far they
    are, changed.
    """
    pushes = touch.pushes
    is_any = False
    for n in range(len(drawn)):
        for limb in range(drawn.shape[1]):
            x = drawn[n, limb, 0] + pushes[n, limb, 0]
            y = drawn[n, limb, 1] + pushes[n, limb, 1]
            z = drawn[n, limb, 2] + pushes[n, limb, 2]
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue
            dx, dy = x - last[n, limb, 0], y - last[n, limb, 1]
            dz = z - last[n, limb, 2]
            size = math.sqrt(dx * dx + dy * dy + dz * dz)
            if size > FAST:
                part = 1.0 - FAST / size
                x, y, z = x - part * dx, y - part * dy, z - part * dz
            ux, uy, uz = ways[n, limb, 0], ways[n, limb, 1], ways[n, limb, 2]
            size = max(math.sqrt(ux * ux + uy * uy + uz * uz), 1e-9)
            ux, uy, uz = ux / size, uy / size, uz / size
            least = min(size, touch.folded[n, limb])
            short = max(least - (size + x * ux + y * uy + z * uz), 0.0)
            x, y, z = x + short * ux, y + short * uy, z + short * uz
            pushes[n, limb, 0] = x - drawn[n, limb, 0]
            pushes[n, limb, 1] = y - drawn[n, limb, 1]
            pushes[n, limb, 2] = z - drawn[n, limb, 2]
            drawn[n, limb, 0], drawn[n, limb, 1], drawn[n, limb, 2] = x, y, z
            for row in range(3):
                is_any = is_any or abs(pushes[n, limb, row]) > MOVED
    return is_any
