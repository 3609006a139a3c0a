"""The whole numbers of packed motion, frame by frame, node by node, parents first.

Each node is fitted to where the original is, seen from where its packed parent ended
up: what the parent is off by is taken back as far as a turn can, so that errors do not
add up along a chain. A frame that is off by more than allowed is tried again with its
numbers rounded otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.convert.motion.layout import Fitted, Forms, Original
from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole

# What drives a property of a node, if not a row of the packed ones.
EXACT, STILL = -1, -2


@inline
def _multiply(
    a: Doubles,
    i: Whole,
    b: Doubles,
    j: Whole,
    out: Doubles,
    k: Whole,
) -> None:
    """The product of two quaternions of flat arrays into a third."""
    x, y, z, w = a[i], a[i + 1], a[i + 2], a[i + 3]
    p, q, r, s = b[j], b[j + 1], b[j + 2], b[j + 3]
    out[k] = w * p + x * s + y * r - z * q
    out[k + 1] = w * q - x * r + y * s + z * p
    out[k + 2] = w * r + x * q - y * p + z * s
    out[k + 3] = w * s - x * p - y * q - z * r


@inline
def _conjugate(
    a: Doubles,
    i: Whole,
    out: Doubles,
    k: Whole,
) -> None:
    out[k], out[k + 1], out[k + 2], out[k + 3] = -a[i], -a[i + 1], -a[i + 2], a[i + 3]


@inline
def _turn(
    q: Doubles,
    i: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> tuple[Real, Real, Real]:
    """A vector turned by a unit quaternion."""
    a, b, c, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    u, v, t = 2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)
    return (
        x + w * u + b * t - c * v,
        y + w * v + c * u - a * t,
        z + w * t + a * v - b * u,
    )


@inline
def _dither(
    seed: Whole,
    amount: Real,
) -> Real:
    """A number that looks random, from -amount to amount."""
    seed = (seed * 747796405 + 2891336453) & 0xFFFFFFFF
    seed = ((seed >> ((seed >> 28) + 4)) ^ seed) * 277803737 & 0xFFFFFFFF
    seed = (seed >> 22) ^ seed
    return (np.float64(seed & 0xFFFFF) / 524288.0 - 1.0) * amount


@inline
def _nudge(
    chains: Ints,
    node: Whole,
    seed: Whole,
    best: Doubles,
    trial: Doubles,
) -> None:
    """Round the numbers that move one node otherwise than before."""
    for i in range(len(trial)):
        trial[i] = best[i]
    amount = 0.35 + 0.4 * (seed & 1)
    for i in range(chains.shape[1]):
        row = np.int64(chains[node, i])
        if row < 0:
            break
        # Half of them at a time, the nearest ones more often.
        if _dither(seed + 13 * row, 1.0) < 0.3 - 0.1 * i:
            for c in range(3 * row, 3 * row + 3):
                trial[c] = _dither(seed + 31 * c + 7, amount)


@inline
def _aim(
    turned: Doubles,
    world_q: Doubles,
    up: Whole,
    gains: Doubles,
    row: Whole,
    off: tuple[Real, Real, Real],
    q: Doubles,
) -> None:
    """The local rotation that takes back what the node's place is off by, q (8,)."""
    x, y, z = off
    _conjugate(turned, 0, q, 4)
    x, y, z = _turn(q, 4, x, y, z)
    g = 12 * row
    c, d, e = gains[g + 9], gains[g + 10], gains[g + 11]
    x, y, z = d * z - e * y, e * x - c * z, c * y - d * x
    q[4] = (gains[g] * x + gains[g + 1] * y + gains[g + 2] * z) / 2
    q[5] = (gains[g + 3] * x + gains[g + 4] * y + gains[g + 5] * z) / 2
    q[6] = (gains[g + 6] * x + gains[g + 7] * y + gains[g + 8] * z) / 2
    q[7] = 1.0
    length = np.sqrt(q[4] * q[4] + q[5] * q[5] + q[6] * q[6] + 1.0)
    for c in range(4, 8):
        q[c] /= length
    _multiply(turned, 0, q, 4, q, 8)
    _conjugate(world_q, up, q, 4)
    _multiply(q, 4, q, 8, q, 0)


@inline
def _pack_rotation(
    turns: Doubles,
    steps: Doubles,
    row: Whole,
    nudges: Doubles,
    q: Doubles,
    numbers: Ints,
) -> None:
    """The numbers of a rotation in q[0:4], which becomes what they stand for."""
    _conjugate(turns, 8 * row, q, 4)
    _multiply(q, 4, q, 0, q, 8)
    _conjugate(turns, 8 * row + 4, q, 4)
    _multiply(q, 8, q, 4, q, 0)
    square = 0.0
    for c in range(3):
        step = steps[3 * row + c]
        number: Whole = 0
        if step > 0:
            v = q[c] / (1 + q[3])
            number = np.int64(np.rint(v / step + nudges[3 * row + c]))
        numbers[3 * row + c] = number
        q[4 + c] = number * step
        square += q[4 + c] * q[4 + c]
    for c in range(3):
        q[4 + c] *= 2 / (1 + square)
    q[7] = (1 - square) / (1 + square)
    _multiply(turns, 8 * row, q, 4, q, 8)
    _multiply(q, 8, turns, 8 * row + 4, q, 0)


@inline
def _pack_vector(
    bases: Doubles,
    steps: Doubles,
    first: Whole,
    row: Whole,
    nudges: Doubles,
    value: Doubles,
    at: Whole,
    numbers: Ints,
) -> None:
    """The numbers of a vector in value[at : at + 3], which becomes theirs."""
    for c in range(3):
        i = 3 * (first + row) + c
        number: Whole = 0
        if steps[i] > 0:
            v = (value[at + c] - bases[3 * row + c]) / steps[i]
            number = np.int64(np.rint(v + nudges[i]))
        numbers[i] = number
        value[at + c] = bases[3 * row + c] + number * steps[i]


@inline
def _compose(
    part: Doubles,
    matrix: Doubles,
    at: Whole,
) -> None:
    """The matrix (12,) of a translation, rotation and scale (10,)."""
    x, y, z, w = part[3], part[4], part[5], part[6]
    a, b, c = part[7], part[8], part[9]
    matrix[at], matrix[at + 3] = (1 - 2 * (y * y + z * z)) * a, part[0]
    matrix[at + 1], matrix[at + 2] = 2 * (x * y - z * w) * b, 2 * (x * z + y * w) * c
    matrix[at + 4], matrix[at + 7] = 2 * (x * y + z * w) * a, part[1]
    matrix[at + 5] = (1 - 2 * (x * x + z * z)) * b
    matrix[at + 6] = 2 * (y * z - x * w) * c
    matrix[at + 8], matrix[at + 11] = 2 * (x * z - y * w) * a, part[2]
    matrix[at + 9] = 2 * (y * z + x * w) * b
    matrix[at + 10] = (1 - 2 * (x * x + y * y)) * c


@inline
def _chain(
    world: Doubles,
    up: Whole,
    local: Doubles,
    at: Whole,
    to: Whole,
) -> None:
    """The product of a parent's matrix and a local one, into `world`."""
    for row in range(0, 12, 4):
        a, b, c = world[up + row], world[up + row + 1], world[up + row + 2]
        for i in range(4):
            world[to + row + i] = (
                a * local[at + i] + b * local[at + 4 + i] + c * local[at + 8 + i]
            )
        world[to + row + 3] += world[up + row + 3]


@inline
def _displacement(
    world: Doubles,
    shells: Doubles,
    at: Whole,
    place: Doubles,
) -> Real:
    """How far the points around a node are off; shells: reach of each axis (3,)."""
    x, y, z = (
        world[at + 3] - place[3],
        world[at + 7] - place[7],
        world[at + 11] - place[11],
    )
    worst = 0.0
    for axis in range(3):
        s = shells[axis]
        a = (world[at + axis] - place[axis]) * s
        b = (world[at + 4 + axis] - place[4 + axis]) * s
        c = (world[at + 8 + axis] - place[8 + axis]) * s
        worst = max(worst, (x + a) ** 2 + (y + b) ** 2 + (z + c) ** 2)
        worst = max(worst, (x - a) ** 2 + (y - b) ** 2 + (z - c) ** 2)
    return np.sqrt(worst)


@inline
def _fit_node(
    node: Whole,
    parent: Whole,
    frame: Whole,
    original: Original,
    forms: Forms,
    steps: Doubles,
    nudges: Doubles,
    q: Doubles,
    part: Doubles,
    world: Doubles,
    world_q: Doubles,
    numbers: Ints,
) -> Real:
    """Fit one node of a frame whose parent is fitted; how far it is off."""
    drivers, local, places = original.drivers, original.local[frame], original.places
    still, bases, follows = original.still, forms.bases, forms.follows
    rotation, vector, scale = drivers[node, 0], drivers[node, 1], drivers[node, 2]
    for i in range(10):
        driver = vector if i < 3 else rotation if i < 7 else scale
        part[i] = still[node, i] if driver == STILL else local[node, i]
    turning = np.int64(forms.turning)
    if vector >= 0:
        _pack_vector(bases, steps, turning, vector, nudges, part, 0, numbers)
    if scale >= 0:
        _pack_vector(bases, steps, turning, scale, nudges, part, 7, numbers)
    up = 12 * parent
    if rotation >= 0:
        for i in range(4):
            q[i] = part[3 + i]
        if follows:
            x, y, z = part[0], part[1], part[2]
            place = places[frame, node]
            off = (
                place[3]
                - (world[up] * x + world[up + 1] * y + world[up + 2] * z)
                - world[up + 3],
                place[7]
                - (world[up + 4] * x + world[up + 5] * y + world[up + 6] * z)
                - world[up + 7],
                place[11]
                - (world[up + 8] * x + world[up + 9] * y + world[up + 10] * z)
                - world[up + 11],
            )
            turned = original.turned[frame, node]
            _aim(turned, world_q, 4 * parent, forms.gains, rotation, off, q)
            same = q[0] * part[3] + q[1] * part[4] + q[2] * part[5] + q[3] * part[6]
            if same < 0:
                for i in range(4):
                    q[i] = -q[i]
        _pack_rotation(forms.turns, steps, rotation, nudges, q, numbers)
        for i in range(4):
            part[3 + i] = q[i]
    _compose(part, q, 12)
    _chain(world, up, q, 12, 12 * node)
    if follows:
        _multiply(world_q, 4 * parent, part, 3, world_q, 4 * node)
    shell = original.shells[frame, node]
    return _displacement(world, shell, 12 * node, places[frame, node])


@jit("i8(i4[::1], Original, Forms, f8[::1], i8, bool, Fitted)")
def fit_frames(
    frames: Ints,
    original: Original,
    forms: Forms,
    steps: Doubles,
    tries: int,
    stops: bool,
    fitted: Fitted,
) -> int:
    """Find the numbers of frames; give a frame over its limit, or -1.

    frames: which; steps: of the numbers, (columns,); tries: how often a frame over its
    limit is tried again; stops: whether to give up at the first that stays over it.
    """
    nodes, trial, found = original.nodes, fitted.trial, fitted.found
    work, nudges = fitted.work, fitted.nudges
    total = len(nodes)
    world, world_q = work[: 12 * total + 12], work[12 * total + 12 : 16 * total + 16]
    q, part = work[16 * total + 16 : 16 * total + 46], work[16 * total + 46 :]
    for i in range(12):
        world[12 * total + i] = 1.0 if i % 5 == 0 else 0.0
    for i in range(4):
        world_q[4 * total + i] = 1.0 if i == 3 else 0.0
    over: Whole = np.int64(-1)
    for f in range(len(frames)):
        frame = np.int64(frames[f])
        limit = original.limits[frame]
        best, at = np.inf, np.int64(0)
        for i in range(len(trial)):
            nudges[0, i] = 0.0
            nudges[1, i] = 0.0
        for attempt in range(tries + 1):
            if attempt > 0:
                seed = (frame * 7919 + attempt) * 4099
                _nudge(original.chains, at, seed, nudges[0], nudges[1])
            worst, where = 0.0, np.int64(0)
            for lane in range(total):
                node, parent = np.int64(nodes[lane, 0]), np.int64(nodes[lane, 1])
                found[node] = _fit_node(
                    node,
                    parent,
                    frame,
                    original,
                    forms,
                    steps,
                    nudges[1],
                    q,
                    part,
                    world,
                    world_q,
                    trial,
                )
                if found[node] > worst:
                    worst, where = found[node], node
                    if worst >= best:
                        break
            if worst < best:
                best, at = worst, where
                for i in range(len(trial)):
                    fitted.numbers[frame, i] = trial[i]
                    nudges[0, i] = nudges[1, i]
                for i in range(total):
                    fitted.errors[frame, i] = found[i]
            if best <= limit:
                break
        if best > limit:
            over = frame
            if stops:
                break
    return over
