"""Characters that reach, step and look: inverse kinematics on poses and players.

A `Reach`, `Limbs` or `Look` is made once for a character and then used on poses
(`solve` gives a new one) or on players (`apply` changes what they show until their next
step). Each thread should have its own: what is remembered, and `off`, is of the last
solve, whoever asked for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.arrays import Floats
from flexor.errors import SettingError, ShapeError
from flexor.pose.ik.aim import Aim, init_aim, solve_aim
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.ik.two_bone import Limb, init_two_bone, solve_two_bone
from flexor.pose.layout import ROWS
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.pose.pose import Pose
from flexor.scene.character.limits import Limits
from flexor.scene.human.human import Human, find_human

__all__ = ["Limbs", "Look", "Reach", "find_limits"]

LIMBS = {
    f"{side} {name}": tuple(f"{side}{part}" for part in parts)
    for side in ("left", "right")
    for name, parts in (
        ("arm", ("UpperArm", "LowerArm", "Hand")),
        ("leg", ("UpperLeg", "LowerLeg", "Foot")),
    )
}


# Radians that a head follows to either side; further round it looks ahead again.
MOST_LOOK = np.radians(90)


class _Solver(ABC):
    """What the three have in common: poses and players to local transforms and back."""

    def __init__(self, hero: Character, count: int) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise SettingError(f"count: {count!r}, expected a number of characters")
        self.hero = hero
        self.count = count
        # The state is one: two threads that used it at once would spoil both poses.
        self._lock = Lock()

    @property
    @abstractmethod
    def off(self) -> Floats:
        """How far each goal was missed at the last solve."""

    @abstractmethod
    def _run(self, local: Floats, world: WorldState, goals: dict[str, Any]) -> None:
        """Turn joints in local transforms (N, 10 L)."""

    def _apply(self, player: Player, goals: dict[str, Any]) -> None:
        if not isinstance(player, Player):
            raise SettingError(f"{type(player).__name__}, expected a Player")
        if player.hero is not self.hero or player.count != self.count:
            raise SettingError(
                f"a player of {player.count} characters, or of another one, expected "
                f"{self.count} of {self.hero!r}"
            )
        with self._lock:
            self._run(player.local, player.world_state, goals)

    def _solve(self, pose: Pose, goals: dict[str, Any]) -> Pose:
        hero = self.hero
        if not isinstance(pose, Pose):
            raise SettingError(f"{type(pose).__name__}, expected a Pose")
        if len(pose) == 1 and self.count > 1:
            pose = _spread(pose, self.count)
        if len(pose) != self.count or pose.world.shape[-3] != len(hero.skeleton):
            raise ShapeError(
                f"a pose of {len(pose)} moments and {pose.world.shape[-3]} nodes, "
                f"expected {self.count} of {len(hero.skeleton)}"
            )
        parts = (pose.translations, pose.rotations, pose.scales)
        if not all(np.isfinite(part).all() for part in (*parts, pose.world)):
            raise ShapeError("the pose is not finite")
        layout = hero.layout
        local = np.tile(layout.rest, (self.count, 1))
        rows = local.reshape(self.count, ROWS, layout.lane_count)
        first = 0
        for part in parts:
            width = part.shape[-1]
            by_lane = part.reshape(self.count, -1, width)[:, layout.node_of_lane]
            rows[:, first : first + width, : by_lane.shape[1]] = by_lane.swapaxes(1, 2)
            first += width
        world = world_from_local(init_world(layout, self.count), local)
        # A pose may have been moved as a whole: its roots say to where.
        matrices = pose.world.reshape(self.count, -1, 3, 4)
        places = _places(world, matrices)
        world.places[:] = places
        world_from_local(world, local)
        with self._lock:
            self._run(local, world, goals)
        weights = pose.weights.reshape(self.count, -1)
        turned = hero.pose_of(local, weights)
        if not np.array_equal(places, np.broadcast_to(np.eye(3, 4), places.shape)):
            turned = turned.moved(places)
        return turned if pose.is_many else turned[0]


class Reach(_Solver):
    """Chains of bones that bring nodes to targets, by cyclic coordinate descent.

    chains: by the node that is to be somewhere, the first bone of its chain (names, or
    parts of a body such as "leftHand"); or `Effector` settings, for offsets, weights
    and orientations. limits: `Limits`, a text file of them, or "human"; willing: by
    name, how much of each turn a bone takes, 0 to 1 (joints that share a limb's twist
    take none unless they are named); settings: passes, tolerance, and
    whether to go on from the last solution; count: characters.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> arm = flexor.Reach(hero, {"leftHand": "leftUpperArm"})
    >>> pose = arm.solve(hero.pose("walk", 0.2), (0.3, 1.2, 0.3))
    >>> bool(arm.off[0, 0] < 0.001)
    True
    """

    def __init__(
        self,
        hero: Character,
        chains: Mapping[str, str] | Sequence[Effector],
        *,
        limits: Limits | str | Path | None = None,
        willing: Mapping[str, float] | None = None,
        settings: CcdSettings = CcdSettings(),  # noqa: B008 - frozen
        count: int = 1,
    ) -> None:
        super().__init__(hero, count)
        find = _Finder(hero)
        if isinstance(chains, Mapping):
            effectors = [Effector(find(n), find(root)) for n, root in chains.items()]
        elif isinstance(chains, Sequence) and all(
            isinstance(one, Effector) for one in chains
        ):
            effectors = list(chains)
        else:
            raise SettingError(
                f"chains: {chains!r}, expected names by name, or Effectors"
            )
        reach = make_reach(
            hero.layout,
            effectors,
            willing={find.name(name): part for name, part in (willing or {}).items()},
            limits=find_limits(hero, limits),
            rigid=find.rolls,
        )
        self.settings = settings
        self.state = init_ccd(reach, count)

    @property
    def off(self) -> Floats:
        """Metres from each effector to its target, (N, M), after a solve."""
        return self.state.off

    def _run(self, local: Floats, world: WorldState, goals: dict[str, Any]) -> None:
        solve_ccd(
            self.state, local, world, goals.pop("targets"), self.settings, **goals
        )

    def solve(
        self,
        pose: Pose,
        targets: ArrayLike,
        *,
        turns: ArrayLike | None = None,
        poles: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        seconds: float = np.inf,
    ) -> Pose:
        """The pose with its effectors at their targets; see pose.ik_ccd.solve_ccd.

        targets: (N, M, 3), metres in the world, or what can be spread to that.
        """
        return self._solve(pose, _goals(targets, turns, poles, weights, seconds))

    def apply(
        self,
        player: Player,
        targets: ArrayLike,
        *,
        turns: ArrayLike | None = None,
        poles: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        seconds: float = np.inf,
    ) -> None:
        """The same in what a player shows, until its next step."""
        self._apply(player, _goals(targets, turns, poles, weights, seconds))


class Limbs(_Solver):
    """Arms and legs that bring hands and feet to targets, in closed form.

    limbs: "left arm", "right leg" and so on of a human body, three names each, or
    `Limb` settings; keeps: whether hands and feet keep their orientation in the world;
    count: characters.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> legs = flexor.Limbs(hero, ["left leg", "right leg"], keeps=True)
    >>> pose = legs.solve(hero.pose(), [[(0.1, 0.3, 0.1), (-0.1, 0.1, 0)]])
    >>> bool(legs.off.max() < 0.001)
    True
    """

    def __init__(
        self,
        hero: Character,
        limbs: Sequence[str | Sequence[str] | Limb],
        *,
        keeps: bool = False,
        count: int = 1,
    ) -> None:
        super().__init__(hero, count)
        find = _Finder(hero)
        made = []
        for limb in limbs:
            if isinstance(limb, Limb):
                made.append(limb)
                continue
            if not isinstance(limb, str | Sequence):
                raise SettingError(f"limb: {limb!r}, expected a name, or three")
            names: Sequence[str] = limb
            if isinstance(limb, str):
                if limb not in LIMBS:
                    raise SettingError(
                        f"no limb {limb!r}; there are {', '.join(LIMBS)}"
                    )
                names = LIMBS[limb]
            if len(names) != 3:
                raise SettingError(f"limb: {len(names)} names, expected 3: {names!r}")
            start, middle, end = (find(name) for name in names)
            made.append(Limb(start, middle, end, keeps, find.bend(middle)))
        self.state = init_two_bone(hero.layout, made, count)

    @property
    def off(self) -> Floats:
        """Metres by which each target was out of reach, (N, M), after a solve."""
        return self.state.off

    def _run(self, local: Floats, world: WorldState, goals: dict[str, Any]) -> None:
        solve_two_bone(self.state, local, world, **goals)

    def solve(
        self,
        pose: Pose,
        targets: ArrayLike,
        *,
        poles: ArrayLike | None = None,
        tilts: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Pose:
        """The pose with its limbs at their targets; see pose.ik_two_bone.

        targets: (N, M, 3), metres in the world, or what can be spread to that.
        """
        return self._solve(pose, _limb_goals(targets, poles, tilts, weights))

    def apply(
        self,
        player: Player,
        targets: ArrayLike,
        *,
        poles: ArrayLike | None = None,
        tilts: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        """The same in what a player shows, until its next step."""
        self._apply(player, _limb_goals(targets, poles, tilts, weights))


class Look(_Solver):
    """A head that looks at a point, and the neck that helps it.

    aim: which joints, and where they look at rest; None: neck and head of a human body,
    which follow up to 90 degrees to either side and lose interest in what is behind;
    limits: as for `Reach`; count: characters.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> look = flexor.Look(hero)
    >>> pose = look.solve(hero.pose("walk", 0.2), (2, 1.5, 3))
    >>> bool(look.off[0] < 0.001)
    True
    """

    def __init__(
        self,
        hero: Character,
        aim: Aim | None = None,
        *,
        limits: Limits | str | Path | None = None,
        count: int = 1,
    ) -> None:
        super().__init__(hero, count)
        if not isinstance(aim, Aim | None):
            raise SettingError(f"aim: {aim!r}, expected an Aim")
        if aim is None:
            find = _Finder(hero)
            human = find.human
            aim = Aim([*human.necks, find("head")], most=MOST_LOOK)
        allowed = find_limits(hero, limits)
        self.state = init_aim(hero.layout, aim, count, limits=allowed)

    @property
    def off(self) -> Floats:
        """Radians between where each looks and its target, (N,), after a solve."""
        return self.state.off

    def _run(self, local: Floats, world: WorldState, goals: dict[str, Any]) -> None:
        solve_aim(self.state, local, world, **goals)

    def solve(
        self,
        pose: Pose,
        targets: ArrayLike,
        *,
        ups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Pose:
        """The pose looking at its targets: (N, 3), metres in the world."""
        return self._solve(pose, {"targets": targets, "ups": ups, "weights": weights})

    def apply(
        self,
        player: Player,
        targets: ArrayLike,
        *,
        ups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        """The same in what a player shows, until its next step."""
        self._apply(player, {"targets": targets, "ups": ups, "weights": weights})


def find_limits(hero: Character, limits: Limits | str | Path | None) -> Limits | None:
    """Limits as they are given, out of a text file, or those of a human body."""
    if limits is None or isinstance(limits, Limits):
        return limits
    if limits == "human":
        from flexor.pose.ik.human_limits import human_limits

        human = find_human(hero.skeleton, hero.scene.carried)
        if not human.nodes:
            raise SettingError(
                "limits: this is no human body known by its names; give Limits, "
                "or a file of them"
            )
        return human_limits(hero.skeleton, human)
    if not isinstance(limits, str | Path):
        raise SettingError(f"limits: {limits!r}, expected Limits, a file, or 'human'")
    from flexor.files.text.limits import read_limits

    return read_limits(limits, hero.skeleton)


def _spread(pose: Pose, count: int) -> Pose:
    """One pose as one of `count` moments that are alike."""
    if pose.is_many:
        pose = pose[0]
    parts = (pose.translations, pose.rotations, pose.scales, pose.world, pose.weights)
    return Pose(*(np.repeat(part[None], count, 0) for part in parts))


def _goals(
    targets: ArrayLike,
    turns: ArrayLike | None,
    poles: ArrayLike | None,
    weights: ArrayLike | None,
    seconds: float,
) -> dict[str, Any]:
    named = {"targets": targets, "turns": turns, "poles": poles, "weights": weights}
    return {**named, "seconds": seconds}


def _limb_goals(
    targets: ArrayLike,
    poles: ArrayLike | None,
    tilts: ArrayLike | None,
    weights: ArrayLike | None,
) -> dict[str, Any]:
    return {"targets": targets, "poles": poles, "tilts": tilts, "weights": weights}


def _places(world: WorldState, matrices: Floats) -> Floats:
    """Where poses stand as a whole, (N, 3, 4), by their first root.

    world: of the same poses at the origin; matrices: (N, J, 3, 4) as they are.
    """
    from flexor.maths import transforms

    root = int(world.layout.node_of_lane[0])
    here, there = world.matrices[:, root], matrices[:, root]
    if np.allclose(here, there, rtol=1e-5, atol=1e-6):
        return np.tile(np.eye(3, 4, dtype=np.float32), (len(here), 1, 1))
    try:
        back = transforms.invert(here.astype(np.float64))
    except np.linalg.LinAlgError:
        raise ShapeError(
            f"the root {world.layout.skeleton.names[root]!r} has no size: there is no "
            "saying where the pose stands"
        ) from None
    return transforms.multiply(there.astype(np.float64), back).astype(np.float32)


class _Finder:
    """Nodes by name, or by the part of a body that they are."""

    def __init__(self, hero: Character) -> None:
        self.hero = hero
        self._human: Human | None = None

    @property
    def human(self) -> Human:
        """The parts of the character's body, as far as they are found."""
        if self._human is None:
            self._human = find_human(self.hero.skeleton, self.hero.scene.carried)
        return self._human

    @property
    def rolls(self) -> set[int]:
        """Joints that share the twist of a limb: they do not bend."""
        return {node for rolls in self.human.rolls.values() for node in rolls}

    def __call__(self, name: str) -> int:
        skeleton = self.hero.skeleton
        if name in skeleton.names:
            return skeleton.index(name)
        node = self.human.nodes.get(name)
        if node is None:
            some = ", ".join(repr(n) for n in skeleton.names[:8])
            parts = ", ".join(self.human.nodes) or "none"
            raise SettingError(
                f"no node {name!r}; there are {some}, ...; parts of a body: {parts}"
            )
        return node

    def bend(self, node: int) -> tuple[float, float, float] | None:
        """What an elbow or a knee of a body bends about at rest, in model space."""
        human = self.human
        if node not in human.nodes.values():
            return None
        from flexor.maths import quaternions
        from flexor.pose.ik.human_limits import human_limits
        from flexor.scene.character.skeleton import rest_world

        frame = human_limits(self.hero.skeleton, human).frames[node].astype(np.float64)
        world = rest_world(self.hero.skeleton)[node, :, :3]
        axis = world @ quaternions.to_matrix(frame)[:, 2]
        length = np.linalg.norm(axis)
        if not length > 0:
            return None
        x, y, z = (axis / length).tolist()
        return x, y, z

    def name(self, name: str) -> str:
        """The name of the node."""
        return self.hero.skeleton.names[self(name)]
