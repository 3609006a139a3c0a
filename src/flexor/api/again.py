"""One pose and one skin after another, into the same arrays: what a game does.

A character keeps work space between such calls, a set for each thread that is in one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from flexor.api.skins import SkinnedPrimitive
from flexor.arrays import Floats, check_array
from flexor.errors import SettingError, ShapeError
from flexor.pose.clip_tables import ClipTables
from flexor.pose.layout import Layout
from flexor.pose.pose import Pose

if TYPE_CHECKING:
    from flexor.deform.bind import Bind
    from flexor.deform.kernels.layout import Skin, SkinRoom
    from flexor.pose.moving import MovingState

__all__ = ["Again", "copy_pose"]


class Again:
    """What a character keeps for the next pose and the next skin."""

    def __init__(self) -> None:
        self._movers: dict[ClipTables, list[_Mover]] = {}
        self._skinners: list[_Skinner] = []

    def pose(self, clip: ClipTables, time: float, out: Pose | None) -> Pose:
        """`Character.pose` into a pose that is there, or a new one."""
        if out is None:
            out = _new_pose(clip.layout)
        movers = self._movers.setdefault(clip, [])
        try:
            mover = movers.pop()
        except IndexError:
            mover = _Mover(clip)
        mover.move(time, out)
        movers.append(mover)
        return out

    def skin(
        self, binds: Sequence[Bind], pose: Pose, out: list[SkinnedPrimitive]
    ) -> bool:
        """`Character.deform` into arrays that are there; False: not that simple."""
        try:
            skinner = self._skinners.pop()
        except IndexError:
            skinner = _Skinner(binds)
        is_done = skinner.skin(pose, out)
        self._skinners.append(skinner)
        return is_done


class _Mover:
    """One character in one clip."""

    def __init__(self, clip: ClipTables) -> None:
        from flexor.pose.kernels.nodes import nodes_from_lanes
        from flexor.pose.moving import init_moving, move

        layout = clip.layout
        count = len(layout.skeleton)
        self._state: MovingState = init_moving(clip, layout, 1)
        self._moment = np.zeros(1, np.float32)
        self._local, self._lanes = self._state.sampled.local, layout.lane_of_node
        self._world: Floats = self._state.world.matrices[0]
        self._weights: Floats = self._state.sampled.weights[0]
        self._shapes = (count, 3), (count, 4), (count, 3), (count, 3, 4)
        self._move, self._hand_out = move, nodes_from_lanes

    def move(self, time: float, out: Pose) -> None:
        """Fill a pose at a moment."""
        try:
            is_finite = math.isfinite(time)
        except TypeError:
            raise SettingError(f"time: {time!r} is no number of seconds") from None
        if not is_finite:
            raise SettingError("time: must be a finite number of seconds")
        parts = out.translations, out.rotations, out.scales, out.world
        if (
            tuple([part.shape for part in parts]) != self._shapes
            or out.weights.shape != self._weights.shape
        ):
            raise ShapeError("out: expected one pose of this character")
        self._moment[0] = min(max(time, -1e30), 1e30)
        self._move(self._state, self._moment)
        try:
            self._hand_out(self._local, self._lanes, *parts[:3])
            out.world[:] = self._world
            if len(self._weights):
                out.weights[:] = self._weights
        except (TypeError, ValueError):
            _check_pose(out)
            raise


class _Skinner:
    """The skin of one character, primitive by primitive."""

    def __init__(self, binds: Sequence[Bind]) -> None:
        from flexor.deform.kernels.file_order import skin_character
        from flexor.deform.kernels.layout import Skin, SkinRoom

        self._skin = skin_character
        self._parts: list[tuple[Skin, SkinRoom, tuple[int, int]]] = []
        for bind in binds:
            skin = Skin(
                *(bind.nodes, bind.binds, bind.runs, bind.joints, bind.data, bind.order)
            )
            size = 12 * len(bind.nodes)
            room = SkinRoom(
                np.zeros(size, np.float32),
                np.zeros(size, np.float32),
                np.zeros(24 * bind.most_joints + 96, np.float32),
            )
            self._parts.append((skin, room, (bind.vertex_count, 3)))
        self._has_morphs = any(len(bind.deltas) for bind in binds)

    def skin(self, pose: Pose, out: list[SkinnedPrimitive]) -> bool:
        """Whether all primitives could be skinned; the pose is one of the character."""
        if len(out) != len(self._parts):
            return False
        if self._has_morphs and pose.weights.any():
            return False
        world, skin = pose.world, self._skin
        try:
            for (what, room, shape), one in zip(self._parts, out, strict=True):
                positions, normals = one.positions, one.normals
                if positions.shape != shape or normals.shape != shape:
                    return False
                skin(world, what, room, positions, normals)
        except TypeError:  # arrays of another kind or order
            return False
        return True


def _new_pose(layout: Layout) -> Pose:
    """Room for one pose."""
    count = len(layout.skeleton)
    return Pose(
        np.empty((count, 3), np.float32),
        np.empty((count, 4), np.float32),
        np.empty((count, 3), np.float32),
        np.empty((count, 3, 4), np.float32),
        np.empty(len(layout.rest_weights), np.float32),
    )


def copy_pose(pose: Pose, out: Pose) -> Pose:
    """The numbers of one pose in the arrays of another."""
    for name in ("translations", "rotations", "scales", "world", "weights"):
        own: Any = getattr(pose, name)
        check_array(getattr(out, name), np.float32, own.shape, f"out.{name}")
        getattr(out, name)[:] = own
    return out


def _check_pose(out: Pose) -> None:
    """Say what is wrong with the arrays of a pose."""
    for name in ("translations", "rotations", "scales", "world", "weights"):
        part: Any = getattr(out, name)
        check_array(part, np.float32, part.shape, f"out.{name}")
