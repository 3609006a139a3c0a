"""Slow twins of the crowd kernels: one character, one node at a time, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.maths import quaternions
from flexor.pose.crowd.node_motion import NodeMotion


def about_y(heading: float) -> Any:
    """A turn (3, 3) about Y."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def between_frames(motion: NodeMotion, clip: int, time: float) -> Any:
    """Matrices (lanes, 3, 4) of nodes from the base point, turn and place alone for
    defined clips.
    """
    first, count, form = motion.clips[clip].tolist()
    table = (motion.frames, motion.data)[form].astype(np.float64)
    rows = table[first : first + count].swapaxes(2, 3)
    rows = rows.reshape(count, -1, rows.shape[-1])
    duration = float(motion.durations[clip])
    spot = min(max(time / duration, 0), 1) * (count - 1) if count > 1 else 0.0
    frame = min(int(spot), max(count - 2, 0))
    u = spot - frame
    a, b = rows[frame], rows[min(frame + 1, count - 1)]
    if form == 1:
        mixed = a * (1 - u) + b * u
        made = np.empty((len(a), 3, 4))
        made[..., :3] = mixed[:, :9].reshape(-1, 3, 3)
        made[..., 3] = mixed[:, 9:]
        return made
    made = np.empty((len(a), 3, 4))
    for lane in range(len(a)):
        p, q = (_quaternion(row[lane, :3]) for row in (a, b))
        if p @ q < 0:
            q = -q
        made[lane, :, :3] = quaternions.to_matrix(
            quaternions.normalise(p * (1 - u) + q * u)
        )
        made[lane, :, 3] = a[lane, 3:] * (1 - u) + b[lane, 3:] * u
    return made


def _quaternion(v: Any) -> Any:
    square = v @ v
    return np.array([*(2 * v), 1 - square]) / (1 + square)


def move_node(
    motion: NodeMotion,
    clip: int,
    time: float,
    place: Any,
    heading: float,
    size: float,
) -> Any:
    """The kernel `move_nodes`: world_from_mesh (lanes, 3, 4) of all lanes."""
    seen = between_frames(motion, clip, time)
    table = (motion.bound, motion.binds)[int(motion.clips[clip, 2])]
    binds = table.astype(np.float64).swapaxes(1, 2).reshape(-1, 3, 4)
    made = np.empty_like(seen)
    for lane in range(len(seen)):
        left = np.vstack([seen[lane], [0, 0, 0, 1]])
        right = np.vstack([binds[lane], [0, 0, 0, 1]])
        matrix = (left @ right)[:3]
        made[lane] = size * about_y(heading) @ matrix
        made[lane, :, 3] += place
    return made


def advance(
    dt: float,
    time: float,
    speed: float,
    duration: float,
    is_loop: bool,
) -> float:
    """The clock of the kernel `advance_crowd`."""
    after = time + dt * speed
    if is_loop and duration > 0:
        return after - math.floor(after / duration) * duration
    return min(max(after, 0.0), duration)
