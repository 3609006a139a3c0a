"""The goalkeeper's body: hands and feet brought where they should be, within limits.

Any human body will do: its parts are found by their names, it is made as tall as the
mannequin, and the mannequin's clips are transferred to it where it has none.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.api.reaching import Limbs, Look, Reach, find_limits
from flexor.api.stage_cast import volumes_of
from flexor.arrays import Doubles, Floats
from flexor.errors import SettingError
from flexor.games.goal.keeper.contact import Capsules
from flexor.maths import exact, quaternions
from flexor.pose.ik.ccd import CcdSettings
from flexor.pose.ik.limit_angles import clamp_pose
from flexor.pose.ik.reach import Effector
from flexor.pose.layout import ROWS
from flexor.scene.human.human import find_human

__all__ = ["KeeperBody", "load_keeper"]

CLIP = "idle"  # what the body does by itself
TALL = 1.82  # metres
SIDES = ("left", "right")
NEEDED = ("hips", "head", "UpperArm", "LowerArm", "Hand")
NEEDED_BELOW = ("UpperLeg", "LowerLeg", "Foot")
GLOVE = 0.03  # metres that a glove is thicker than its hand
HAND = 0.07  # metres from wrist to palm where nothing shows it
SPINE = 0.22  # how much of each turn the trunk takes
KNEE = 0.55  # how much knees point outward
TURN_HAND = 0.25
ARMS = CcdSettings(passes=14, tolerance=4e-3, incremental=True, home=0.14)


def load_keeper(path: Path | None) -> Character:
    """The mannequin, or the character of a file with the mannequin's idle clip."""
    from flexor import samples
    from flexor.api.load_save import load
    from flexor.api.retargeting import retarget

    if path is None:
        return samples.mannequin()
    hero = load(path)
    human = find_human(hero.skeleton, hero.scene.carried)
    wanted = [n if n in ("hips", "head") else f"left{n}" for n in NEEDED + NEEDED_BELOW]
    lacks = [name for name in wanted if name not in human.nodes]
    if lacks:
        raise SettingError(
            f"{path}: no {', '.join(lacks)} was found; a goalkeeper is a human body "
            "whose joints have telling names, see docs/guide/limits.md"
        )
    return retarget(hero, samples.mannequin(), CLIP, travel=False)


class KeeperBody:
    """A body that is posed anew in each tick.

    hip: metres, height of the hips when it stands; leg: length of a leg; ankle: height
    of an ankle; span: from the hips to hands held high; shoulder: height of shoulders
    over hips; wide: between the legs.
    """

    def __init__(self, hero: Character) -> None:
        self.hero = hero
        human = find_human(hero.skeleton, hero.scene.carried)
        self._nodes = dict(human.nodes)
        self.player = Player(hero)
        self.player.play(CLIP)
        self.limits = find_limits(hero, "human")
        self._volumes = volumes_of(hero)
        self._measure()
        is_hand = np.array([part.endswith("Hand") for part in self._volumes.parts])
        self._radii = self._volumes.radii * self.scale + GLOVE * is_hand
        spine = [hero.skeleton.names[node] for node in human.trunk]
        root = "spine" if "spine" in human.nodes else "leftUpperArm"
        self.arms = self._make_arms(root, dict.fromkeys(spine, SPINE))
        self.legs = Limbs(hero, ["left leg", "right leg"], keeps=True)
        self.look = Look(hero, limits=self.limits)
        self._leg_nodes = [
            self._nodes[f"{side}{part}"] for side in SIDES for part in NEEDED_BELOW
        ]
        self._leg_lanes = hero.layout.lane_of_node[self._leg_nodes]
        self._last: Doubles | None = None
        rates = np.full(hero.layout.lane_count, np.inf)
        if self.limits is not None:
            rates[hero.layout.lane_of_node] = self.limits.rates
        self._rates = rates

    def _measure(self) -> None:
        """Size and shape at rest, facing along +z."""
        rest = self.hero.pose()
        skins = self.hero.deform(rest)
        heights = np.concatenate([skin.positions[:, 1] for skin in skins])
        heights = heights[np.isfinite(heights)]
        low, high = float(heights.min()), float(heights.max())
        at = {
            name: rest.world[n, :, 3].astype(float) for name, n in self._nodes.items()
        }
        left = at["leftUpperArm"] - at["rightUpperArm"]
        yaw = exact.atan2(left[2], left[0])  # +x is left of who looks along +z
        c, s = exact.cos(yaw), exact.sin(yaw)
        self.scale = TALL / max(high - low, 1e-6)
        turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        self._own = turn * self.scale  # a body's own space to metres, facing +z
        middle = at["hips"].copy()
        self._middle = middle

        def metres(name: str) -> Doubles:
            found: Doubles = exact.multiply(self._own, at[name] - middle)
            return found

        self.hip = float(middle[1] - low) * self.scale
        feet = [metres(f"{side}Foot") for side in SIDES]
        self.ankle = float(feet[0][1]) + self.hip
        hips = [metres(f"{side}UpperLeg") for side in SIDES]
        knees = [metres(f"{side}LowerLeg") for side in SIDES]
        self.wide = float(abs(hips[0][0] - hips[1][0]))
        self.leg = float(
            exact.norm(hips[0] - knees[0]) + exact.norm(knees[0] - feet[0])
        )
        self.drop = float(hips[0][1])  # of the legs' joints below the hips
        arm, elbow, hand = (
            metres(f"left{n}") for n in ("UpperArm", "LowerArm", "Hand")
        )
        self.shoulder = float(arm[1])
        self.arm = float(exact.norm(arm - elbow) + exact.norm(elbow - hand))
        self.span = self.shoulder + self.arm + HAND
        self._rest_turns = quaternions.from_matrix(
            np.stack(
                [
                    exact.multiply(
                        turn, _rotation(rest.world[self._nodes[f"{side}Hand"], :, :3])
                    )
                    for side in SIDES
                ]
            )
        )
        self._fingers = [
            _unit(metres(f"{side}Hand") - metres(f"{side}LowerArm")) for side in SIDES
        ]
        self._hand_frames = [
            _frame(along, sign * np.cross(along, [0.0, 0.0, 1.0]))
            for along, sign in zip(self._fingers, (1.0, -1.0), strict=True)
        ]
        self._rest_world = rest.world

    def _palm(self, side: str) -> tuple[float, float, float]:
        """The middle of a hand in the space of its node."""
        node = self._nodes[f"{side}Hand"]
        fingers = self._fingers[SIDES.index(side)] * HAND
        inverse = exact.invert(
            exact.multiply(self._own, self._rest_world[node, :, :3].astype(np.float64))
        )
        x, y, z = exact.multiply(inverse, fingers).tolist()
        return x, y, z

    def _make_arms(self, root: str, willing: dict[str, float]) -> Reach:
        nodes = self._nodes
        effectors = [
            Effector(
                nodes[f"{side}Hand"],
                nodes[root if root == "spine" else f"{side}UpperArm"],
                self._palm(side),
                turn=TURN_HAND,
            )
            for side in SIDES
        ]
        return Reach(
            self.hero,
            effectors,
            limits=self.limits,
            willing=willing if root == "spine" else None,
            settings=ARMS,
        )

    def forget(self) -> None:
        """Begin anew: the next pose may be any."""
        self.arms.state.forget()
        self.player.play(CLIP, start=0.0)
        self._last = None

    def pose(
        self,
        hip: Doubles,
        turn: Doubles,
        hands: Doubles,
        fingers: Doubles,
        palms: Doubles,
        feet: Doubles,
        feet_turn: Doubles,
        gaze: Doubles,
        seconds: float,
    ) -> None:
        """Take a pose.

        hip: (3,), middle of the hips; turn: (3, 3), of the trunk; hands, feet: (2, 3),
        palms and ankles, left first, all in the world; fingers, palms: (2, 3), where
        fingers point and palms face; feet_turn: (2, 3, 3), of feet from flat on the
        ground; gaze: what is looked at; seconds: since the last pose.
        """
        player = self.player
        player.advance(seconds)
        self._place(hip, turn)
        aside, down, forward = turn[:, 0], -turn[:, 1], turn[:, 2]
        # Feet are turned with the trunk: back, and then as they should be. With them,
        # in one go, how hands are turned; thumbs point forward at rest.
        matrices = np.empty((4, 3, 3))
        matrices[:2] = exact.multiply(feet_turn, turn.T)
        for row, at_rest in enumerate(self._hand_frames):
            matrices[2 + row] = exact.multiply(
                _frame(fingers[row], palms[row]), at_rest.T
            )
        found = quaternions.from_matrix(matrices)
        tilts = found[:2]
        hand_turns = quaternions.multiply(found[2:], self._rest_turns)
        self.legs.apply(
            player,
            feet[None],
            poles=np.stack([forward + KNEE * aside, forward - KNEE * aside])[None],
            tilts=tilts[None],
        )
        self._clamp()
        poles = np.stack([0.6 * aside + 0.4 * down, 0.4 * down - 0.6 * aside])
        self.arms.apply(
            player,
            hands[None],
            turns=hand_turns[None],
            poles=poles[None],
            # The first pose may be any: it is no turn from the one before.
            seconds=np.inf if self._last is None else seconds,
        )
        self.look.apply(player, gaze[None])
        self._slow(seconds)

    def _clamp(self) -> None:
        """Bring the joints of the legs inside their limits."""
        if self.limits is None:
            return
        layout, skeleton = self.hero.layout, self.hero.skeleton
        rows = self.player.local.reshape(ROWS, layout.lane_count)[3:7]
        turns = rows[:, layout.lane_of_node].T.astype(np.float64)
        rows[:, self._leg_lanes] = clamp_pose(self.limits, skeleton, turns)[
            self._leg_nodes
        ].T

    def _place(self, hip: Doubles, turn: Doubles) -> None:
        place = np.zeros((3, 4))
        place[:, :3] = exact.multiply(turn, self._own)
        place[:, 3] = hip - exact.multiply(place[:, :3], self._middle)
        self.player.places[0] = place

    def lift(self, height: float) -> None:
        """Move the body up, in the pose that it has."""
        self.player.places[0, 1, 3] += height

    def _slow(self, seconds: float) -> None:
        """No joint turns faster than it may, whatever moved it."""
        layout = self.hero.layout
        local = self.player.local
        rows = local.reshape(ROWS, layout.lane_count)[3:7]
        new = rows.T.astype(np.float64)
        if self._last is not None:
            dot = (new * self._last).sum(1)
            new[dot < 0] *= -1
            dot = np.clip(np.abs(dot), 0, 1)
            angle = 2 * exact.acos_each(dot)
            most = self._rates * seconds
            fast = angle > most
            if fast.any():
                part = most[fast] / angle[fast]
                half = angle[fast] / 2
                a = exact.sin_each((1 - part) * half) / exact.sin_each(half)
                b = exact.sin_each(part * half) / exact.sin_each(half)
                mixed = a[:, None] * self._last[fast] + b[:, None] * new[fast]
                new[fast] = quaternions.normalise(mixed)
                rows[:, fast] = new[fast].T
        self._last = new

    @property
    def local(self) -> Floats:
        """Transforms (1, 10 L) of the pose, by lanes."""
        return self.player.local

    def capsules(self) -> Capsules:
        """The body as capsules in the world."""
        own = self._volumes
        world = self.player.world[0, own.nodes].astype(np.float64)
        ends = exact.multiply(own.ends, world[:, :, :3].swapaxes(1, 2))
        ends += world[:, None, :, 3]
        return Capsules(ends, self._radii)

    @property
    def parts(self) -> tuple[str, ...]:
        """The part of the body of each capsule."""
        return self._volumes.parts

    def points(self, *names: str) -> Doubles:
        """Where parts of the body are in the world, (n, 3)."""
        rows = [self._nodes[name] for name in names]
        found: Doubles = self.player.world[0, rows, :, 3].astype(np.float64)
        return found


def _unit(way: Doubles) -> Doubles:
    x, y, z = way.tolist()
    found: Doubles = way / max(math.sqrt(x * x + y * y + z * z), 1e-9)
    return found


def _frame(along: Doubles, face: Doubles) -> Doubles:
    """Columns: a direction, another across it, and what is across both."""
    x = _unit(along)
    y = _unit(face - x * float(exact.multiply(face, x)))
    (a, b, c), (d, e, f) = x.tolist(), y.tolist()
    z = b * f - c * e, c * d - a * f, a * e - b * d
    return np.array([x, y, z]).T.copy()


def _rotation(matrix: Floats) -> Doubles:
    """The rotation of a matrix with scale."""
    own = matrix.astype(np.float64)
    found: Doubles = own / np.maximum(np.linalg.norm(own, axis=0), 1e-12)
    return found
