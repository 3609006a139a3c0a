"""Characters that reach, step and look: inverse kinematics on poses and players.

A `Reach`, `Limbs` or `Look` is made once for a character and then used on poses
(`solve` gives a new one) or on players (`apply` changes what they show until their next
step). Each thread should have its own: what is remembered, and `off`, is of the last
solve, whoever asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.api.solving import Solver, check_count
from flexor.arrays import Floats, RowsLike
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.pose.ik.aim import Aim, AimState, init_aim, solve_aim
from flexor.pose.ik.ccd import CcdSettings, CcdState, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.ik.two_bone import Limb, TwoBoneState, init_two_bone, solve_two_bone
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


class Reach(Solver):
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

    state: CcdState

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
        check_count(count)
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
        super().__init__(hero, init_ccd(reach, count), solve_ccd)

    @property
    def off(self) -> Floats:
        """Metres from each effector to its target, (N, M), after a solve."""
        return self.state.off

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
        """The pose with its effectors at their targets; see pose.ik.ccd.solve_ccd.

        targets: (N, M, 3), metres in the world, or what can be spread to that; seconds:
        since the last solve, for the rates of limits, in the first one from the pose
        that is given; without it joints are there at once.
        """
        return super().solve(
            pose, **self._goals(targets, turns, poles, weights, seconds)
        )

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
        goals = self._goals(targets, turns, poles, weights, seconds)
        super().apply(player, **goals)

    def forget(self, which: RowsLike | None = None) -> None:
        """Begin anew: the next solve comes from the pose that it is given.

        For what was not used for a while, or characters that were put elsewhere; which:
        rows of characters, all without.
        """
        with self._lock:
            self.state.forget(which)

    def _goals(
        self,
        targets: ArrayLike,
        turns: ArrayLike | None,
        poles: ArrayLike | None,
        weights: ArrayLike | None,
        seconds: float,
    ) -> dict[str, Any]:
        named = {"targets": targets, "turns": turns, "poles": poles, "weights": weights}
        return {**named, "settings": self.settings, "seconds": seconds}


class Limbs(Solver):
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

    state: TwoBoneState

    def __init__(
        self,
        hero: Character,
        limbs: Sequence[str | Sequence[str] | Limb],
        *,
        keeps: bool = False,
        count: int = 1,
    ) -> None:
        check_count(count)
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
        super().__init__(hero, init_two_bone(hero.layout, made, count), solve_two_bone)

    @property
    def off(self) -> Floats:
        """Metres by which each target was out of reach, (N, M), after a solve."""
        return self.state.off

    def solve(
        self,
        pose: Pose,
        targets: ArrayLike,
        *,
        poles: ArrayLike | None = None,
        tilts: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Pose:
        """The pose with its limbs at their targets; see pose.ik.two_bone.

        targets: (N, M, 3), metres in the world, or what can be spread to that.
        """
        goals = {"poles": poles, "tilts": tilts, "weights": weights}
        return super().solve(pose, targets, **goals)

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
        goals = {"poles": poles, "tilts": tilts, "weights": weights}
        super().apply(player, targets, **goals)


class Look(Solver):
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

    state: AimState

    def __init__(
        self,
        hero: Character,
        aim: Aim | None = None,
        *,
        limits: Limits | str | Path | None = None,
        count: int = 1,
    ) -> None:
        check_count(count)
        if not isinstance(aim, Aim | None):
            raise SettingError(f"aim: {aim!r}, expected an Aim")
        if aim is None:
            find = _Finder(hero)
            human = find.human
            aim = Aim([*human.necks, find("head")], most=MOST_LOOK)
        allowed = find_limits(hero, limits)
        state = init_aim(hero.layout, aim, count, limits=allowed)
        super().__init__(hero, state, solve_aim)

    @property
    def off(self) -> Floats:
        """Radians between where each looks and its target, (N,), after a solve."""
        return self.state.off

    def solve(
        self,
        pose: Pose,
        targets: ArrayLike,
        *,
        ups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Pose:
        """The pose looking at its targets: (N, 3), metres in the world."""
        return super().solve(pose, targets, ups=ups, weights=weights)

    def apply(
        self,
        player: Player,
        targets: ArrayLike,
        *,
        ups: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        """The same in what a player shows, until its next step."""
        super().apply(player, targets, ups=ups, weights=weights)


def find_limits(hero: Character, limits: Limits | str | Path | None) -> Limits | None:
    """Limits as they are given, out of a text file, or those of a human body."""
    if limits is None or isinstance(limits, Limits):
        return limits
    if limits == "human":
        if not _human_of(hero).nodes:
            raise SettingError(
                "limits: this is no human body known by its names; give Limits, "
                "or a file of them"
            )
        return _limits_of(hero)
    if not isinstance(limits, str | Path):
        raise SettingError(f"limits: {limits!r}, expected Limits, a file, or 'human'")
    from flexor.files.text.limits import read_limits

    return read_limits(limits, hero.skeleton)


# What is found once for a character, which does not change.
_humans: WeakKeyDictionary[Character, Human] = WeakKeyDictionary()
_limits: WeakKeyDictionary[Character, Limits] = WeakKeyDictionary()


def _human_of(hero: Character) -> Human:
    """The parts of a character's body, as far as they are found."""
    found = _humans.get(hero)
    if found is None:
        found = _humans[hero] = find_human(hero.skeleton, hero.scene.carried)
    return found


def _limits_of(hero: Character) -> Limits:
    """The limits of a human body."""
    from flexor.pose.ik.human_limits import human_limits

    found = _limits.get(hero)
    if found is None:
        found = _limits[hero] = human_limits(hero.skeleton, _human_of(hero))
    return found


class _Finder:
    """Nodes by name, or by the part of a body that they are."""

    def __init__(self, hero: Character) -> None:
        self.hero = hero

    @property
    def human(self) -> Human:
        """The parts of the character's body, as far as they are found."""
        return _human_of(self.hero)

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
        if node not in self.human.nodes.values():
            return None
        from flexor.maths import quaternions
        from flexor.scene.character.skeleton import rest_world

        frame = _limits_of(self.hero).frames[node].astype(np.float64)
        world = rest_world(self.hero.skeleton)[node, :, :3]
        axis = exact.multiply(world, quaternions.to_matrix(frame)[:, 2])
        length = exact.norm(axis)
        if not length > 0:
            return None
        x, y, z = (axis / length).tolist()
        return x, y, z

    def name(self, name: str) -> str:
        """The name of the node."""
        return self.hero.skeleton.names[self(name)]
