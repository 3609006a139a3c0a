"""Shapes that a goalkeeper's body takes: trunk, legs in the air, hands."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.games.goal.keeper.body import KeeperBody
from flexor.maths import exact

__all__ = [
    "AHEAD",
    "DOWN",
    "INWARD",
    "UP",
    "foot_turn",
    "smooth",
    "trailing_feet",
    "trunk_turn",
]

# Where fingers of both hands point, and palms face, in the frame of the trunk.
UP = np.array([[0.25, 0.75, 0.6], [-0.25, 0.75, 0.6]])
DOWN = np.array([[0.0, -1.0, 0.3], [0.0, -1.0, 0.3]])
AHEAD = np.array([[0.0, -0.5, 0.86], [0.0, -0.5, 0.86]])
INWARD = np.array([[-0.2, 0.0, 1.0], [0.2, 0.0, 1.0]])
POINT = 0.7  # radians by which toes point in the air


def smooth(share: float) -> float:
    """From 0 to 1 without a jerk."""
    s = min(max(share, 0.0), 1.0)
    return s * s * (3 - 2 * s)


def trunk_turn(roll: float, pitch: float) -> Doubles:
    """The trunk in the world, (3, 3): bent forward, then rolled to its left."""
    c, s = exact.cos(roll), exact.sin(roll)
    d, t = exact.cos(pitch), exact.sin(pitch)
    rolled = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    bent = np.array([[1.0, 0.0, 0.0], [0.0, d, -t], [0.0, t, d]])
    turn: Doubles = exact.multiply(rolled, bent)
    return turn


def trailing_feet(body: KeeperBody, kind: str, side: float) -> Doubles:
    """Where ankles are in the air, (2, 3), from the hips in the frame of the trunk."""
    trail = np.zeros((2, 3))
    if kind == "jump":
        trail[:, 0] = 0.14, -0.14
        trail[:, 1], trail[:, 2] = body.drop - 0.9 * body.leg, -0.06
        return trail
    near, far = (0, 1) if side > 0 else (1, 0)
    out = side * body.wide / 2
    trail[near] = out, body.drop - 0.94 * body.leg, -0.08
    trail[far] = -1.4 * out, body.drop - 0.8 * body.leg, -0.02
    return trail


def foot_turn(turn: Doubles, loose: float) -> Doubles:
    """How both feet are turned from flat on the ground, (2, 3, 3); loose: 0 to 1, how
    much they go with the trunk.
    """
    if loose == 0:
        return np.stack([np.eye(3), np.eye(3)])
    mixed = (1 - loose) * np.eye(3) + loose * turn
    x = mixed[:, 0] / exact.norm(mixed[:, 0])
    z = np.cross(x, mixed[:, 1])
    z /= exact.norm(z)
    c, s = exact.cos(loose * POINT), exact.sin(loose * POINT)
    toes = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    flat = exact.multiply(np.stack([x, np.cross(z, x), z], 1), toes)
    return np.stack([flat, flat])
