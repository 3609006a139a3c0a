"""Motion of nodes from one point of the character, for any selection of them.

A clip is looked at 60 times a second, or more often where nodes swing fast, and what is
kept of each node is its change of direction and its place as seen from the base point:
its definition. Expanded, that is a matrix and a place. Neither needs a parent, so a
level of detail moves the nodes that it selects and no others, and all levels share one
motion.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Floats, Ints, check_array, check_input
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact, quaternions
from flexor.pose.clip_tables import ClipTables, pack_clip
from flexor.pose.crowd.layout import (
    DEFINED,
    DEFINED_ROWS,
    EXPANDED,
    EXPANDED_ROWS,
    LANES,
)
from flexor.pose.layout import Layout
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = [
    "LANES",
    "Lanes",
    "NodeMotion",
    "frame_times",
    "lay_out_lanes",
    "make_node_motion",
    "move_nodes",
]

RATE = 60  # frames a second, at least: the last frame is the clip's end
MOST_FRAMES = 1 << 16  # 18 minutes
CLOSE, FINEST = 8e-4, 8  # share of the height, and how much finer frames may get
CHUNK = 256  # frames that are made at once
EVEN = 5e-6  # a turn with a constant stretch is off by no more, relative


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Slots of levels, eight to a group, so that a level needs few groups.

    slots: int32 (G * 8,), the slot in each lane; the last is repeated to fill up;
    groups: for each level the groups that it moves, int32 (g,), rising; rows: for each
    level int32 (S,), where a slot is in those groups, -1 if it is not.
    """

    slots: Ints
    groups: tuple[Ints, ...]
    rows: tuple[Ints, ...]


def lay_out_lanes(levels: Levels) -> Lanes:
    """Order slots by the levels that use them: those of more levels first."""
    count = len(levels.slots)
    is_used = np.zeros((len(levels), count), bool)
    for surface in levels.surfaces:
        for level, joints in enumerate(surface.joints):
            is_used[level, np.unique(joints)] = True
    keys = [np.arange(count), *is_used, -np.count_nonzero(is_used, axis=0)]
    order = np.lexsort(keys)[: int(np.count_nonzero(is_used.any(0)))]
    lanes = -(-len(order) // LANES) * LANES
    fill = order[np.minimum(np.arange(lanes), max(len(order) - 1, 0))]
    groups, rows = [], []
    for level in range(len(levels)):
        is_in = is_used[level][fill].reshape(-1, LANES).any(1)
        own = np.flatnonzero(is_in)
        row = np.full(count, -1, np.int32)
        inside = fill.reshape(-1, LANES)[own].ravel()
        row[inside[::-1]] = np.arange(len(inside) - 1, -1, -1)
        groups.append(own.astype(np.int32))
        rows.append(row)
    return Lanes(fill.astype(np.int32), tuple(groups), tuple(rows))


@dataclass(frozen=True, slots=True, eq=False)
class NodeMotion:
    """All clips of a character as motion of nodes, and its rest pose.

    names: C texts; clips: int32 (C + 1, 3), first row in the tables of its form, number
    of frames, and form (0 defined, 1 expanded); the last row is the rest pose;
    durations: float64 (C + 1,), seconds; frames: float32 (F, G, 6, 8), of each frame
    and lane the turn (axis times the tangent of a quarter of the angle) and the place,
    metres; data: float32 (E, G, 12, 8), three rows of a matrix, then the place; bound:
    float32 (G, 12, 8), what a turn and place are multiplied by: the stretch at rest
    times the bind matrix; binds: the same without the stretch; lanes: the slots.
    """

    names: tuple[str, ...]
    clips: Ints
    durations: Doubles
    frames: Floats
    data: Floats
    bound: Floats
    binds: Floats
    lanes: Lanes

    @property
    def nbytes(self) -> int:
        """Bytes of the tables of motion."""
        return self.frames.nbytes + self.data.nbytes

    def index(self, name: str) -> int:
        """The number of a clip."""
        if not isinstance(name, str) or name not in self.names:
            there = ", ".join(repr(clip) for clip in self.names) or "none"
            raise SettingError(f"no clip {name!r}; there are: {there}")
        return self.names.index(name)


def make_node_motion(
    clips: Mapping[str, Clip | PackedClip],
    layout: Layout,
    levels: Levels,
    *,
    expand: Collection[str] = (),
) -> NodeMotion:
    """Look at all clips from the base point.

    expand: clips to be kept expanded, which takes twice the memory; those in which a
    node stretches always are.
    """
    if isinstance(expand, str):
        raise SettingError(f"expand: {expand!r}, expected names of clips")
    for name in expand:
        if name not in clips:
            there = ", ".join(map(repr, clips)) or "none"
            raise SettingError(f"expand: no clip {name!r}; there are: {there}")
    lanes = lay_out_lanes(levels)
    nodes = levels.slots[lanes.slots]
    rest = _world(layout, layout.rest[None].copy())[:, nodes]
    stretch = _stretch(rest[0, :, :, :3])
    tables: tuple[list[Floats], list[Floats]] = ([], [])
    ends, rows = [0, 0], []
    for name, clip in [*clips.items(), ("", None)]:
        world = rest
        if clip is not None:
            try:
                world = _look_close(clip, layout, nodes, CLOSE * levels.height)
            except ShapeError as error:
                raise ShapeError(f"clip {name!r}: {error}") from None
        made = None if name in expand else _define(world, stretch)
        form = DEFINED if made is not None else EXPANDED
        tables[form].append(_as_lanes(_expand(world) if made is None else made))
        rows.append((ends[form], len(world), form))
        ends[form] += len(world)
    binds = levels.binds[lanes.slots].astype(np.float64)
    groups = len(nodes) // LANES
    return NodeMotion(
        tuple(clips),
        np.array(rows, np.int32),
        np.array([*(float(clip.duration) for clip in clips.values()), 0.0]),
        np.concatenate(
            [np.zeros((0, groups, DEFINED_ROWS, LANES), np.float32), *tables[DEFINED]]
        ),
        np.concatenate(
            [np.zeros((0, groups, EXPANDED_ROWS, LANES), np.float32), *tables[EXPANDED]]
        ),
        _as_lanes(exact.multiply(stretch, binds).reshape(1, -1, 12))[0],
        _as_lanes(binds.reshape(1, -1, 12))[0],
        lanes,
    )


def frame_times(duration: float, finer: int = 1) -> Floats:
    """When a clip is looked at, float32 (F,): its start, its end, evenly between.

    finer: how often as often as 60 times a second.
    """
    if not duration > 0:
        return np.zeros(1, np.float32)
    steps = finer * max(1, int(np.ceil(duration * RATE - 1e-3)))
    if steps >= MOST_FRAMES:
        most = (MOST_FRAMES - 1) / RATE / finer
        raise ShapeError(f"{duration:.0f} s long, expected {most:.0f} s or less")
    return np.linspace(0, duration, steps + 1).astype(np.float32)


def _look_close(
    clip: Clip | PackedClip, layout: Layout, nodes: Ints, close: float
) -> Doubles:
    """Where a clip has nodes (F, lanes, 3, 4), in frames so near to each other that
    half way between them no node is further than `close` from the straight line.
    """
    finer = 1
    times = frame_times(clip.duration)
    tables = pack_clip(clip, layout)
    world = _look(tables, layout, nodes, times)
    while finer < FINEST and 1 < len(world) <= MOST_FRAMES // 2:
        times = frame_times(clip.duration, 2 * finer)
        more = _look(tables, layout, nodes, times)
        straight = (world[1:, ..., 3] + world[:-1, ..., 3]) / 2
        with np.errstate(all="ignore"):  # what is not finite is looked at as it is
            off = np.linalg.norm(more[1::2, ..., 3] - straight, axis=-1)
        if not np.nanmax(off, initial=0.0) > close:
            break
        finer, world = 2 * finer, more
    return world


def _look(tables: ClipTables, layout: Layout, nodes: Ints, times: Floats) -> Doubles:
    """Where a clip has nodes at times (F,): (F, lanes, 3, 4)."""
    from flexor.pose.sample import init_sample, sample

    parts = []
    for first in range(0, len(times), CHUNK):
        some = times[first : first + CHUNK]
        local = sample(init_sample(tables, layout, len(some)), some).local
        parts.append(_world(layout, local)[:, nodes])
    return np.concatenate(parts)


def _world(layout: Layout, local: Floats) -> Doubles:
    """Nodes as seen from the base point (N, J, 3, 4), of local transforms."""
    from flexor.pose.links import follow_links
    from flexor.pose.model_space import init_world, world_from_local

    follow_links(layout, local)
    state = world_from_local(init_world(layout, len(local)), local)
    return state.matrices.astype(np.float64)


def _stretch(matrices: Doubles) -> Doubles:
    """What matrices (n, 3, 3) do but for a turn: symmetric (n, 3, 3)."""
    if not np.isfinite(matrices).all():
        raise ShapeError("the rest pose is not finite")
    left, sizes, right = exact.svd(matrices)
    sign = np.sign(exact.det(exact.multiply(left, right)))
    # What mirrors is a turn too, of something mirrored.
    sizes = sizes * np.where(sign == 0, 1, sign)[:, None]
    made: Doubles = exact.multiply(np.swapaxes(right, 1, 2), sizes[:, :, None] * right)
    return made


def _define(world: Doubles, stretch: Doubles) -> Doubles | None:
    """Turns and places (F, lanes, 6); None where it takes more to say."""
    is_whole = np.abs(exact.det(stretch)) > 1e-30
    if not is_whole.all() or not np.isfinite(world).all():
        return None
    inverse = exact.invert(stretch)
    turns = exact.multiply(world[..., :3], inverse)
    product = exact.multiply(turns, np.swapaxes(turns, -1, -2))
    if (np.abs(product - np.eye(3)) > 2 * EVEN).any():
        return None
    if (exact.det(turns) < 0).any():
        return None
    q = quaternions.from_matrix(turns)
    q = np.where(q[..., 3:] < 0, -q, q)
    return np.concatenate([q[..., :3] / (1 + q[..., 3:]), world[..., 3]], -1)


def _expand(world: Doubles) -> Doubles:
    """Matrices and places (F, lanes, 12)."""
    shape = (*world.shape[:2], 9)
    return np.concatenate([world[..., :3].reshape(shape), world[..., 3]], -1)


def _as_lanes(rows: Doubles) -> Floats:
    """Rows (F, lanes, C) as float32 (F, G, C, 8)."""
    count, lanes, wide = rows.shape
    shape = (count, lanes // LANES, LANES, wide)
    return np.ascontiguousarray(rows.reshape(shape).swapaxes(2, 3), np.float32)


def move_nodes(
    motion: NodeMotion,
    level: int,
    who: Ints,
    clip: Ints,
    time: Doubles,
    place: Doubles,
    heading: Doubles,
    size: Doubles,
    *,
    out: Floats,
) -> int:
    """Matrices of the nodes of a level, for some of N characters.

    who: int32 (n,), rows of the rest; clip: int32 (N,), -1 for the rest pose; time:
    float64 (N,), seconds in the clip; place: float64 (N, 3), metres; heading: (N,),
    radians about Y; size: (N,), factor; out: float32 (n, 12 * 8 * groups), results,
    world_from_mesh by rows of `lanes.rows[level]`. Gives how many nodes were touched.
    """
    from flexor.pose.crowd.kernels import nodes as kernel

    groups, count = motion.lanes.groups[level], len(clip)
    check_input(who, np.int32, (None,), "who")
    check_input(clip, np.int32, (count,), "clip")
    check_input(time, np.float64, (count,), "time")
    check_input(place, np.float64, (count, 3), "place")
    check_input(heading, np.float64, (count,), "heading")
    check_input(size, np.float64, (count,), "size")
    check_array(out, np.float32, (len(who), 12 * LANES * len(groups)), "out")
    if who.size and not 0 <= who.min() <= who.max() < count:
        raise ShapeError(f"who: must lie in 0..{count - 1}")
    most = int(clip[who].max(initial=-1))  # others may be of another kind
    if most >= len(motion.names):
        last = len(motion.names) - 1
        raise ShapeError(f"clip: {most}, expected -1 to {last}")
    return int(
        kernel.move_nodes(
            who,
            clip,
            time,
            place,
            heading,
            size,
            motion.clips,
            motion.durations,
            groups,
            len(motion.bound),
            motion.frames.reshape(-1),
            motion.data.reshape(-1),
            motion.bound.reshape(-1),
            motion.binds.reshape(-1),
            out,
        )
    )
