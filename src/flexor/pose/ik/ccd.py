"""Inverse kinematics by cyclic coordinate descent, for one character or many."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Bytes, Floats, Ints, RowsLike, check_array, spell_out
from flexor.errors import SettingError
from flexor.pose.ik.kernels import ccd as kernel_ccd
from flexor.pose.ik.kernels.descent import BONE_WORK, PAIR_WORK
from flexor.pose.ik.layout import Chains, Memory, Work
from flexor.pose.ik.reach import Reach, as_floats, as_turns, as_weights
from flexor.pose.model_space import WorldState

__all__ = ["CcdSettings", "CcdState", "init_ccd", "solve_ccd"]


MOST_PASSES = 1_000_000


@dataclass(frozen=True, slots=True)
class CcdSettings:
    """passes: at most so many over all bones; tolerance: metres, near enough;
    incremental: start from the last solution instead of the pose that is given; home:
    then bones go that part of the way back to the pose that is given in each solve, 0
    to 1, so that they do not wander off: as far as that leaves the effector where it
    is, or before the passes that win it back, where there are several goals.
    """

    passes: int = 30
    tolerance: float = 1e-3
    incremental: bool = False
    home: float = 0.1

    def __post_init__(self) -> None:
        is_whole = isinstance(self.passes, int) and not isinstance(self.passes, bool)
        if not is_whole or not 1 <= self.passes <= MOST_PASSES:
            raise SettingError(f"passes: {self.passes!r}, expected 1 to {MOST_PASSES}")
        if not isinstance(self.incremental, bool):
            raise SettingError(f"incremental: {self.incremental!r}, expected a bool")
        if not 0 < self.tolerance < np.inf:
            raise SettingError(f"tolerance: {self.tolerance}, expected more than 0")
        if not 0 <= self.home <= 1:
            raise SettingError(f"home: {self.home}, expected 0 to 1")


@dataclass(slots=True, eq=False)
class CcdState:
    """N characters that reach: what came of the last solve."""

    reach: Reach
    _upright: Floats = field(repr=False)
    _no_poles: Floats = field(repr=False)
    _full: Floats = field(repr=False)
    _chains: Chains = field(repr=False)
    _work: Work = field(repr=False)
    _memory: Memory = field(repr=False)

    @property
    def off(self) -> Floats:
        """Metres from each effector to its target, after a solve: (N, M)."""
        return self._memory.off

    @property
    def passes(self) -> Ints:
        """How many passes were made: (N,)."""
        return self._memory.passes

    @property
    def last(self) -> Floats:
        """The rotations that the bones were left with: (N, B, 4)."""
        rows = self._memory.last
        return rows.reshape(len(rows), -1, 4)

    @property
    def started(self) -> Bytes:
        """Whether there are any such rotations: uint8 (N,)."""
        return self._memory.started

    def forget(self, which: RowsLike | None = None) -> None:
        """Start afresh: the next solve of all characters, or of the rows `which`, comes
        from the pose that it is given, as the first one does.
        """
        if which is None:
            self.started[:] = 0
            return
        rows = np.asarray(spell_out(which, len(self.started), "which"))
        if rows.dtype != bool and not np.issubdtype(rows.dtype, np.integer):
            raise SettingError(f"which: {which!r}, expected rows of characters")
        try:
            self.started[rows] = 0
        except IndexError:
            raise SettingError(
                f"which: {which!r}, expected some of {len(self.started)} characters"
            ) from None


def init_ccd(reach: Reach, count: int) -> CcdState:
    """State for `count` characters that have not reached for anything yet."""
    bones, points, goals = len(reach.bones), len(reach.points), len(reach.effectors)
    upright = np.array([0, 0, 0, 1], np.float32)
    chains = Chains(
        reach.bones,
        reach.table,
        reach.effector_table,
        reach.point_lanes,
        reach.base,
        reach.is_chain,
    )
    work = Work(
        reach.points.copy(),
        np.zeros((bones, BONE_WORK)),
        np.zeros((bones * points, PAIR_WORK)),
        np.zeros((points, 3)),
        np.zeros((points, 3)),
        np.zeros((goals, 3)),
        np.zeros((3 * points, 3 * points)),
        np.zeros(3 * points),
        np.zeros(3 * points),
    )
    memory = Memory(
        np.zeros(count, np.uint8),
        np.tile(upright, (count, bones)),
        np.zeros((count, goals), np.float32),
        np.zeros(count, np.int32),
    )
    return CcdState(
        reach,
        np.tile(upright, (count, goals)),
        np.zeros((count, 3 * goals), np.float32),
        np.ones(count, np.float32),
        chains,
        work,
        memory,
    )


def solve_ccd(
    state: CcdState,
    local: Floats,
    world: WorldState,
    targets: ArrayLike,
    settings: CcdSettings = CcdSettings(),  # noqa: B008 - frozen
    *,
    turns: ArrayLike | None = None,
    poles: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    seconds: float = np.inf,
) -> CcdState:
    """Turn the bones of N characters so that their effectors come to their targets.

    local: (N, 10 * L), changed; world: what `world_from_local` made of it before;
    targets: (N, M, 3), metres in the world; turns: (N, M, 4), orientations that
    effectors with a turn are to have, in the world; poles: (N, M, 3), directions in the
    world that elbows and knees point to, 0 for none; weights: (N,), how much of the
    turning is done, 0 to 1; seconds: since the last solve, for limits of speed; in the
    first one bones turn from the pose that is given. Without it they are there at once.
    """
    reach = state.reach
    count, goals = len(state.off), len(reach.effectors)
    check_array(local, np.float32, (count, len(reach.layout.rest)), "local")
    if world.layout is not reach.layout or len(world.flat) != count:
        raise SettingError("world: it is of another character, or of others")
    if not seconds >= 0:
        raise SettingError(f"seconds: {seconds}, expected 0 or more")
    pull = state._full if weights is None else as_weights(weights, (count,))
    at = as_floats(targets, (count, goals, 3), "targets").reshape(count, -1)
    turned, ways = state._upright, state._no_poles
    if turns is not None:
        turned = as_turns(turns, (count, goals), "turns").reshape(count, -1)
    if poles is not None:
        ways = as_floats(poles, (count, goals, 3), "poles").reshape(count, -1)
    kernel_ccd.solve_reach(
        state._chains,
        settings.passes,
        settings.tolerance,
        seconds,
        settings.home if settings.incremental else -1.0,
        world.flat,
        world.places.reshape(count, -1),
        at,
        turned,
        ways,
        pull,
        state._work,
        state._memory,
        local,
    )
    return state
