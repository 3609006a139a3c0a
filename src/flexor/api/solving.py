"""Any solver of `pose/ik` on the poses and players of a character."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol

import numpy as np

from flexor.api.character import Character
from flexor.api.playing import Player
from flexor.arrays import Floats
from flexor.errors import SettingError, ShapeError
from flexor.pose.layout import ROWS
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.pose.pose import Pose

__all__ = ["Solver", "SolverState", "check_count"]


class SolverState(Protocol):
    """What a solver keeps for N characters."""

    @property
    def off(self) -> Floats:
        """By how much each goal was missed at the last solve: (N, ...)."""


class Solver:
    """A solver for the poses and players of a character.

    state: what the solver's `init_...` gives for N characters; run: its `solve_...`: it
    is called with the state, the local transforms (N, 10 L) in which it turns joints,
    their WorldState, and the goals that `solve` and `apply` are given.
    """

    def __init__(
        self, hero: Character, state: SolverState, run: Callable[..., object]
    ) -> None:
        self.hero = hero
        self.count = len(state.off)
        self.state = state
        self._run = run
        # The state is one: two threads that used it at once would spoil both poses.
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    @property
    def off(self) -> Floats:
        """How far each goal was missed at the last solve."""
        return self.state.off

    def apply(self, player: Player, *targets: Any, **goals: Any) -> None:
        """Turn joints in what a player shows, until its next step."""
        if not isinstance(player, Player):
            raise SettingError(f"{type(player).__name__}, expected a Player")
        if player.hero is not self.hero or player.count != self.count:
            raise SettingError(
                f"a player of {player.count} characters, or of another one, expected "
                f"{self.count} of {self.hero!r}"
            )
        with self._lock:
            self._run(self.state, player.local, player.world_state, *targets, **goals)

    def solve(self, pose: Pose, *targets: Any, **goals: Any) -> Pose:
        """The pose, with its joints turned."""
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
            self._run(self.state, local, world, *targets, **goals)
        weights = pose.weights.reshape(self.count, -1)
        turned = hero.pose_of(local, weights)
        if not np.array_equal(places, np.broadcast_to(np.eye(3, 4), places.shape)):
            turned = turned.moved(places)
        return turned if pose.is_many else turned[0]


def check_count(count: int) -> None:
    """Refuse what is no number of characters."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SettingError(f"count: {count!r}, expected a number of characters")


def _spread(pose: Pose, count: int) -> Pose:
    """One pose as one of `count` moments that are alike."""
    if pose.is_many:
        pose = pose[0]
    parts = (pose.translations, pose.rotations, pose.scales, pose.world, pose.weights)
    return Pose(*(np.repeat(part[None], count, 0) for part in parts))


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
