"""Which tracks of a clip can be packed, and what is known of them before that."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.convert.motion.error import node_parts, shell_reach, world_of
from flexor.maths import quaternions
from flexor.pose.clip_tables import ClipTables
from flexor.pose.layout import Layout
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip, Track
from flexor.scene.runtime.packed_clip import MOST_FRAMES, MOST_VALUES

__all__ = [
    "Grid",
    "MotionPlan",
    "find_grid",
    "plan_motion",
    "rest_reach",
    "trim_tracks",
]

ON_GRID = 0.02  # share of a frame that a key may be off its frame
UNIT = 0.15  # share of the bound that rotations not of unit length may be off
MOST_TURN = 4.0  # tangent of a quarter of the largest angle from the middle
# Least cosine of half the angle from frame to frame of a movement. A rotation that goes
# further (40 degrees) is a cut: what is between such frames is no motion to keep.
CUT = float(np.cos(np.radians(20)))
SPARSE = 64  # frames for each key, beyond which a regular timeline makes no sense
MOST_NODES = 1 << 16


@dataclass(frozen=True, slots=True)
class Grid:
    """A regular timeline: seconds of its first frame, frames a second, their number."""

    start: float
    rate: float
    frames: int

    @property
    def times(self) -> Floats:
        """Seconds of the frames (F,)."""
        seconds = self.start + np.arange(self.frames) / self.rate
        return seconds.astype(np.float32)

    def holds(self, times: Floats) -> bool:
        """Whether all keys stand on frames."""
        at = (times.astype(np.float64) - self.start) * self.rate
        near = np.rint(at)
        inside = near[0] >= 0 and near[-1] <= self.frames - 1
        return bool(inside and (np.abs(at - near) <= ON_GRID).all())


@dataclass(frozen=True, slots=True, eq=False)
class MotionPlan:
    """What is to be packed, and the original in double precision at all frames.

    rotations: tracks; vectors: tracks; keyed: tracks that stay. parts: (F, J, 10),
    turned: (F, J, 4), world: (F, J, 12), shells: (F, J, 3), as the kernel wants them.
    still: (J, 10), what is held. nodes: int32 (J, 2), parents first. can_follow:
    whether errors can be taken back: no node is scaled unevenly or mirrored.
    """

    grid: Grid
    layout: Layout
    rotations: tuple[Track, ...]
    vectors: tuple[Track, ...]
    keyed: tuple[Track, ...]
    parts: Doubles
    turned: Doubles
    world: Doubles
    shells: Doubles
    still: Doubles
    nodes: NDArray[np.int32]
    can_follow: bool

    @property
    def cuts(self) -> NDArray[np.bool_]:
        """Whether a packed rotation jumps from each frame to the next: (F - 1,)."""
        nodes = [track.node for track in self.rotations]
        q = self.parts[:, nodes, 3:7]
        cosines = (q[1:] * q[:-1]).sum(2)
        is_cut: NDArray[np.bool_] = (cosines < CUT).any(1)
        return is_cut

    def without(self, rows: set[int]) -> MotionPlan:
        """The plan with some properties (rotations, then vectors) kept as they are."""
        every = [*self.rotations, *self.vectors]
        count = len(self.rotations)
        return replace(
            self,
            rotations=tuple(t for i, t in enumerate(every[:count]) if i not in rows),
            vectors=tuple(
                t for i, t in enumerate(every[count:], count) if i not in rows
            ),
            keyed=(*self.keyed, *(every[i] for i in sorted(rows))),
        )


def trim_tracks(clip: Clip, layout: Layout) -> list[Track]:
    """The tracks without what changes nothing: links, values at rest, repeated keys.

    A clip that has two tracks for one property is left as it is.
    """
    names = [(track.node, track.path) for track in clip.tracks]
    if len(set(names)) != len(names):
        return list(clip.tracks)
    kept = []
    rest = node_parts(layout, layout.rest[None])[0].astype(np.float32)
    first_of = {"translation": (0, 3), "rotation": (3, 7), "scale": (7, 10)}
    for track in clip.tracks:
        if track.node in layout.skeleton.links and track.path != "weights":
            continue
        short = _drop_repeats(track)
        if len(short.times) == 1 and short.interpolation != "CUBICSPLINE":
            if track.path == "weights":
                first, count = layout.morph_columns[track.node]
                own = layout.rest_weights[first : first + count]
            else:
                own = rest[track.node, slice(*first_of[track.path])]
            if (short.values[0] == own).all():
                continue
        kept.append(short)
    return kept


def _drop_repeats(track: Track) -> Track:
    """The same motion without keys that repeat their neighbours."""
    values, how = track.values, track.interpolation
    if how == "CUBICSPLINE":
        is_flat = not values[:, 0].any() and not values[:, 2].any()
        middle = values[:, 1]
        if not is_flat or (middle != middle[:1]).any():
            return track
        if track.path == "rotation":  # is made unit when it is sampled
            middle = quaternions.normalise(middle.astype(np.float64)).astype("f4")
        return Track(track.node, track.path, track.times[:1].copy(), middle[:1].copy())
    same = (values[1:] == values[:-1]).all(1)
    if how == "STEP":
        keep = np.concatenate([[True], ~same])
    else:
        keep = np.ones(len(values), bool)
        keep[1:-1] = ~(same[:-1] & same[1:])
        if same.all():
            keep[1:] = False
    if keep.all():
        return track
    return Track(track.node, track.path, track.times[keep], values[keep], how)


def find_grid(tracks: list[Track]) -> Grid | None:
    """The regular timeline on which most of the moving LINEAR tracks have their keys.

    The union of their keys if that is regular, else the longest of their timelines.
    """
    moving = [t for t in tracks if t.interpolation == "LINEAR" and len(t.times) > 1]
    if not moving:
        return None
    most = MOST_VALUES // (3 * len(moving))
    every = np.unique(np.concatenate([track.times for track in moving]))
    longest = max(moving, key=lambda track: len(track.times)).times
    for times in (every, longest):
        grid = _regular(times.astype(np.float64))
        if grid is not None and grid.frames <= most:
            return grid
    return None


def _regular(times: Doubles) -> Grid | None:
    gaps = np.diff(times)
    gap = float(np.median(gaps[gaps < 1.5 * gaps.min()])) if len(gaps) else 0.0
    length = float(times[-1] - times[0])
    if gap < 1e-5 or length / gap > min(MOST_FRAMES, SPARSE * len(times)):
        return None
    count = round(length / gap)
    grid = Grid(float(times[0]), count / length, count + 1)
    # Frames must differ in float32, or they could not be given as keys.
    if (np.diff(grid.times) <= 0).any() or not grid.holds(times.astype(np.float32)):
        return None
    return grid


def rest_reach(layout: Layout, shell: float) -> dict[str, Doubles]:
    """Metres that a unit of each property of a node moves what is seen, at rest."""
    skeleton = layout.skeleton
    world = world_of(layout, node_parts(layout, layout.rest[None]))[0].reshape(-1, 3, 4)
    places = world[:, :, 3]
    far = np.full(len(skeleton), shell)
    below: list[list[int]] = [[node] for node in range(len(skeleton))]
    for node in skeleton.order[::-1].tolist():
        away = places[below[node]] - places[node]
        far[node] = shell + np.sqrt((away * away).sum(1)).max()
        parent = skeleton.parents[node]
        if parent >= 0:
            below[parent] += below[node]
    size = np.sqrt((world[:, :, :3] ** 2).sum(1)).max(1)
    above = np.array([size[p] if p >= 0 else 1.0 for p in skeleton.parents])
    scaled = far / np.maximum(size, 1e-9) * np.maximum(above, 1e-9)
    return {
        "rotation": 2 * far,  # of half the angle, which quaternions differ by
        "translation": np.maximum(above, 1e-9),
        "scale": scaled,
        "weights": np.full(len(skeleton), np.inf),
    }


def plan_motion(
    tracks: list[Track], grid: Grid, tables: ClipTables, bound: float, shell: float
) -> MotionPlan:
    """Sort the tracks; tables: the original clip, laid out."""
    layout = tables.layout
    state = sample(init_sample(tables, layout, grid.frames), grid.times)
    parts = node_parts(layout, state.local)
    flips = np.where((parts[1:, :, 3:7] * parts[:-1, :, 3:7]).sum(2) < 0, -1.0, 1.0)
    parts[1:, :, 3:7] *= np.cumprod(flips, 0)[..., None]
    rotations, vectors, keyed = [], [], []
    # Packed rotations are of unit length, the original's are used as they are.
    slack = UNIT * bound / rest_reach(layout, shell)["rotation"]
    is_small = len(layout.skeleton) < MOST_NODES
    for track in tracks:
        moves = track.interpolation == "LINEAR" and len(track.times) > 1
        if not is_small or not moves or track.path == "weights":
            keyed.append(track)
        elif not grid.holds(track.times):
            keyed.append(track)
        elif track.path != "rotation":
            vectors.append(track)
        elif _can_turn(track, parts[:, track.node, 3:7], slack[track.node]):
            rotations.append(track)
        else:
            keyed.append(track)
    world = world_of(layout, parts)
    scales = parts[..., 7:]
    spread = np.ptp(scales, axis=2)
    even = (spread <= 1e-5 * np.abs(scales).max(2)).all() and (scales > 0).all()
    return MotionPlan(
        grid,
        layout,
        tuple(rotations),
        tuple(vectors),
        tuple(keyed),
        parts,
        _world_rotations(layout, parts),
        world,
        shell_reach(world, shell),
        parts[0].copy(),
        np.ascontiguousarray(layout.nodes, np.int32),
        bool(even),
    )


def _can_turn(track: Track, frames: Doubles, slack: float) -> bool:
    """Whether a rotation is of unit length and stays on one side of a middle."""
    lengths = np.sqrt((track.values.astype(np.float64) ** 2).sum(1))
    if (np.abs(lengths - 1) > slack).any():
        return False
    return bool(turn_from(middle_rotation(frames), frames).max() <= MOST_TURN)


def middle_rotation(q: Doubles) -> Doubles:
    """A unit quaternion (4,) from which none of (F, 4), one in sign, is far."""
    mean = q.mean(0)
    tried = [quaternions.normalise(mean), *q[:: max(1, len(q) // 16)]]
    return min(tried, key=lambda one: turn_from(one, q).max())


def turn_from(middle: Doubles, q: Doubles) -> Doubles:
    """Tangents (F,) of a quarter of the angle from a middle."""
    cosine = np.clip(q @ middle, -1, 1)
    return np.sqrt((1 - cosine) / np.maximum(1 + cosine, 1e-9))


def _world_rotations(layout: Layout, parts: Doubles) -> Doubles:
    turned = np.empty((*parts.shape[:2], 4))
    unit = quaternions.normalise(parts[..., 3:7])
    for node in layout.skeleton.order:
        parent = layout.skeleton.parents[node]
        turned[:, node] = (
            unit[:, node]
            if parent < 0
            else quaternions.multiply(turned[:, parent], unit[:, node])
        )
    return turned
