"""A pose sheet for authoring motion: many frames at once, limbs by target or angle.

Angles are degrees here, as an animator thinks; everything else is metres and model
space. All arrays carry the frame axis T first. `Sheet.solve` turns the sheet into
local joint rotations, sharing twist with the roll joints.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rotation import (
    matrix_from_quaternion,
    mix,
    normalize,
    split_twist,
    transpose,
    turn,
)

FRAMES_PER_SECOND = 60
_REACH = 0.9993
SIDES = {"l": 1.0, "r": -1.0}
# Two-bone limbs by their root: middle, end, side the pole is on, twist handed on.
_LIMBS = {"hip": ("knee", "ankle", 1.0, 0.6), "arm": ("elbow", "wrist", -1.0, 0.5)}


@dataclass(slots=True, eq=False)
class Limb:
    """Where a two-bone limb goes: target (T, 3) of its end, pole (T, 3) direction.

    The pole is the way the knee or elbow points, in model space.
    """

    target: Doubles
    pole: Doubles


@dataclass(slots=True, eq=False)
class Solved:
    """World rotations (T, J, 3, 3), positions (T, J, 3), local rotations, shortfall.

    shortfall: the most by which any limb target was out of reach, metres.
    """

    world: Doubles
    positions: Doubles
    local: Doubles
    shortfall: float


@dataclass(slots=True, eq=False)
class Sheet:
    """All frames of one clip while it is being authored.

    hips: (T, 3), metres; deltas: turns from rest by joint; limbs: see `Limb`; feet:
    turns (T, 3, 3) from rest in model space, by ankle; hands: by wrist the frames
    (T, 3, 3) they have in model space, and how much these count (T,), 0 to 1.
    """

    nodes: NodeTable
    times: Doubles
    hips: Doubles
    deltas: dict[str, Doubles] = field(default_factory=dict)
    limbs: dict[str, Limb] = field(default_factory=dict)
    feet: dict[str, Doubles] = field(default_factory=dict)
    hands: dict[str, tuple[Doubles, Doubles]] = field(default_factory=dict)

    def bend(
        self, name: str, x: ArrayLike = 0, y: ArrayLike = 0, z: ArrayLike = 0
    ) -> None:
        """Turn a joint in its own rest axes by degrees: x twist, y side, z hinge.

        For "r-" nodes x and y are turned over, so both sides take the same numbers.
        """
        side = -1.0 if name.startswith("r-") else 1.0
        rest = self.nodes.frames[self.nodes.index(name)]
        local = self._turn("y", y, side) @ self._turn("z", z, 1.0)
        local = local @ self._turn("x", x, side)
        self._append(name, rest @ local @ rest.T)

    def lean(
        self, name: str, x: ArrayLike = 0, y: ArrayLike = 0, z: ArrayLike = 0
    ) -> None:
        """Turn a joint about model axes by degrees: x forward, y left, z to right."""
        both = self._turn("y", y, 1.0) @ self._turn("x", x, 1.0)
        self._append(name, both @ self._turn("z", z, 1.0))

    def swing_arm(
        self,
        side: str,
        forward: ArrayLike,
        out: ArrayLike,
        elbow: ArrayLike,
        inward: ArrayLike = 0.0,
    ) -> None:
        """Hang an arm: degrees forward, out from the body, bend, inward turn."""
        sign = SIDES[side]
        rest = self.nodes.frames[self.nodes.index(f"{side}-arm")]
        hang = self._turn("x", -np.asarray(forward, np.float64), 1.0)
        hang = hang @ self._turn("z", np.asarray(out, np.float64) - 45.0, sign)
        twist = self._turn("x", inward, sign)
        self._append(f"{side}-arm", hang @ rest @ twist @ rest.T)
        self.bend(f"{side}-elbow", z=elbow)

    def pronate(self, side: str, angle: ArrayLike) -> None:
        """Turn the lower arm by degrees, palm backwards or down."""
        self.bend(f"{side}-elbow-roll", x=0.75 * np.asarray(angle))
        self.bend(f"{side}-wrist", x=0.25 * np.asarray(angle))

    def solve(self) -> Solved:
        """Evaluate every joint of every frame."""
        nodes, count = self.nodes, len(self.times)
        rest_local = matrix_from_quaternion(nodes.rotations)
        local = np.broadcast_to(rest_local, (count, *rest_local.shape)).copy()
        world = np.empty_like(local)
        positions = np.empty((count, len(nodes.names), 3))
        shortfall = 0.0
        for row, name in enumerate(nodes.names):
            parent = int(nodes.parents[row])
            delta = self.deltas.get(name)
            if delta is not None:
                above = nodes.frames[parent] if parent >= 0 else np.eye(3)
                local[:, row] = above.T @ delta @ nodes.frames[row]
            if parent < 0:
                world[:, row], positions[:, row] = local[:, row], self.hips
                continue
            offset = world[:, parent] @ nodes.translations[row]
            positions[:, row] = positions[:, parent] + offset
            side, _, kind = name.partition("-")
            if kind in _LIMBS and name in self.limbs:
                middle, end, sign, _ = _LIMBS[kind]
                chain = (name, f"{side}-{middle}", f"{side}-{end}")
                above, start = world[:, parent], positions[:, row]
                missing = self._limb(chain, sign, local, above, start)
                shortfall = max(shortfall, missing)
            if kind in _LIMBS:
                self._share_twist(row, _LIMBS[kind][3], local, rest_local)
            if kind == "ankle" and name in self.feet:
                aim = self.feet[name] @ nodes.frames[row]
                local[:, row] = transpose(world[:, parent]) @ aim
            if name in self.hands:
                aim, share = self.hands[name]
                aimed = transpose(world[:, parent]) @ aim
                local[:, row] = mix(local[:, row], aimed, share)
            world[:, row] = world[:, parent] @ local[:, row]
        return Solved(world, positions, local, shortfall)

    def _turn(self, axis: str, degrees: ArrayLike, sign: float) -> Doubles:
        angle = np.broadcast_to(
            np.deg2rad(np.asarray(degrees)) * sign, self.times.shape
        )
        return turn(axis, angle)

    def _append(self, name: str, delta: Doubles) -> None:
        before = self.deltas.get(name)
        self.deltas[name] = delta if before is None else before @ delta

    def _limb(
        self,
        chain: tuple[str, str, str],
        sign: float,
        local: Doubles,
        above: Doubles,
        start: Doubles,
    ) -> float:
        """Closed-form two-bone reach; fills the root and middle rows of `local`."""
        nodes, limb = self.nodes, self.limbs[chain[0]]
        r, m, e = nodes.indices(*chain)
        upper = float(np.linalg.norm(nodes.positions[m] - nodes.positions[r]))
        lower = float(np.linalg.norm(nodes.positions[e] - nodes.positions[m]))
        away = limb.target - start
        reach = np.linalg.norm(away, axis=1)
        longest = (upper + lower) * _REACH
        length = np.minimum(reach, longest)
        direct = away / reach[:, None]
        pole = limb.pole - np.sum(limb.pole * direct, axis=1, keepdims=True) * direct
        pole = normalize(pole)
        cosine = (upper**2 + length**2 - lower**2) / (2 * upper * length)
        sine = np.sqrt(np.maximum(1.0 - cosine**2, 0.0))
        joint = start + upper * (cosine[:, None] * direct + sine[:, None] * pole)
        tip = start + length[:, None] * direct
        hinge = normalize(np.cross(direct, sign * pole))
        first, second = _hinged(joint - start, hinge), _hinged(tip - joint, hinge)
        local[:, r] = transpose(above) @ first
        local[:, m] = transpose(first) @ second
        return float(np.max(reach - longest))

    def _share_twist(
        self, row: int, share: float, local: Doubles, rest_local: Doubles
    ) -> None:
        """Hand `share` of the twist about the bone on to the roll joint below."""
        swing, angle = split_twist(rest_local[row].T @ local[:, row])
        local[:, row] = rest_local[row] @ swing @ turn("x", (1.0 - share) * angle)
        local[:, row + 1] = rest_local[row + 1] @ turn("x", share * angle)


def _hinged(along: Doubles, hinge: Doubles) -> Doubles:
    """Frames (T, 3, 3) with x along a bone and z on the hinge, both (T, 3)."""
    x = normalize(along)
    return np.stack([x, np.cross(hinge, x), hinge], axis=-1)


def new_sheet(nodes: NodeTable, duration: float) -> Sheet:
    """Blank sheet at rest: 60 frames a second, both ends included."""
    count = round(duration * FRAMES_PER_SECOND) + 1
    times = np.arange(count) / FRAMES_PER_SECOND
    hips = np.broadcast_to(nodes.positions[0], (count, 3)).copy()
    return Sheet(nodes=nodes, times=times, hips=hips)
