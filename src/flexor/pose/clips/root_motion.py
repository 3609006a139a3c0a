"""Root motion: how far a clip carries its character, taken out of it as a path.

A clip that walks moves its root joint through the world, and looped it jumps back. Here
the horizontal travel of that joint, and its turn about the vertical, are taken out in
model space, whatever stands above the joint (upright axes, scales), so that the clip is
played on the spot and the character's place moves instead: on and on, blended, turned.
Captures begin anywhere in their room and look anywhere: that is taken out too, so that
the character stands where its place is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, freeze
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact, quaternions, transforms
from flexor.pose.clips.track_values import angles_between, one_sign, sample_track, slerp
from flexor.scene.character.clip import Clip, Path, Track
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import ancestors, depths, upward
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["RootMotion", "extract_root_motion", "steady_motion"]


# Between keys the parts may differ from the whole by this: metres for a character of
# one metre, and radians. Keys are added until they do not, but no span is halved more
# often than this.
CLOSE, CLOSE_TURN, MOST_HALVINGS = 1e-5, 2e-5, 6
# How far a frame above the joint may be from turned and evenly scaled.
UNEVEN = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class RootMotion:
    """The way a character goes in a clip.

    times: float64 (T,), seconds, rising from 0 to the clip's end; places: float64
    (T, 3), metres; headings: float64 (T,), radians about Y, not cut at a full turn.
    Both are straight between rows: turn by the heading, then move. The first row is
    where the clip begins; players go on by differences, from any place.
    """

    times: Doubles
    places: Doubles
    headings: Doubles

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "times", freeze(self.times, np.float64, (None,), "times"))
        count = len(self.times)
        put(self, "places", freeze(self.places, np.float64, (count, 3), "places"))
        put(self, "headings", freeze(self.headings, np.float64, (count,), "headings"))
        if not count or self.times[0] != 0 or (np.diff(self.times) <= 0).any():
            raise ShapeError("times: must rise, from 0 on")
        if not all(np.isfinite(x).all() for x in (self.places, self.headings)):
            raise ShapeError("places, headings: must be finite")

    def at(self, times: Doubles) -> Doubles:
        """world_from_clip (..., 3, 4) at times (...,) in the clip, clamped to it."""
        parts = [np.interp(times, self.times, column) for column in self.places.T]
        return _movement(
            np.stack(parts, -1), np.interp(times, self.times, self.headings)
        )


def _movement(places: Doubles, headings: Doubles) -> Doubles:
    """Affine (..., 3, 4) that turn by headings (...,) about Y, then move (..., 3)."""
    m = np.zeros((*headings.shape, 3, 4))
    m[..., 0, 0] = m[..., 2, 2] = exact.cos_each(headings)
    m[..., 0, 2] = exact.sin_each(headings)
    m[..., 2, 0] = -m[..., 0, 2]
    m[..., 1, 1] = 1
    m[..., 3] = places
    return m


def _about_y(angles: Doubles) -> Doubles:
    """Rotations (..., 4) by angles (...,) about Y."""
    q = np.zeros((*angles.shape, 4))
    q[..., 1], q[..., 3] = exact.sin_each(angles / 2), exact.cos_each(angles / 2)
    return q


def _heading(turned: Doubles) -> float:
    """What of a rotation (4,) is about Y: radians from -pi to pi."""
    side = -1.0 if turned[3] < 0 else 1.0
    return 2 * exact.atan2(side * turned[1], side * turned[3])


def steady_motion(
    duration: float, velocity: tuple[float, float, float], turn: float = 0.0
) -> RootMotion:
    """The way of a clip that was made on the spot, at one speed and turn.

    duration: seconds of the clip; velocity: metres a second in the character's own
    frame; turn: radians a second about Y. A turning way is one row for every three
    degrees or so.
    """
    try:
        given = np.array([duration, *velocity, turn], np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.full(5, np.nan)
    if given.shape != (5,):
        raise ShapeError(
            f"steady_motion: velocity {velocity!r}, expected three numbers: x, y, z"
        )
    if not (np.isfinite(given).all() and duration > 0):
        raise SettingError(
            f"steady_motion: duration {duration!r}, velocity {velocity!r}, turn "
            f"{turn!r}: must be finite, and the duration more than 0"
        )
    count = 2 + int(min(abs(turn) * duration / 0.05, 10_000))
    times = np.linspace(0, duration, count)
    headings = turn * times
    # The mean frame of a straight step is its velocity turned by the heading between.
    steps = np.zeros((count, 3))
    middles = _movement(np.zeros((count - 1, 3)), (headings[1:] + headings[:-1]) / 2)
    ahead = np.asarray(velocity, np.float64) * np.diff(times)[:, None]
    steps[1:] = exact.multiply(middles[..., :3], ahead[..., None])[..., 0]
    return RootMotion(times, np.cumsum(steps, 0), headings)


def extract_root_motion(
    clip: Clip | PackedClip,
    skeleton: Skeleton,
    node: int | str | None = None,
    *,
    turn: bool = True,
    height: bool = False,
    centre: bool = True,
) -> tuple[Clip, RootMotion]:
    """Take the travel of a joint out of a clip: the clip on the spot, and the way.

    node: the joint that travels, by row or name; None: the first below the roots that
    the clip moves, or, where it moves none, the one by which it turns all; turn:
    also take out how it turns about the vertical; height: also take out how it rises
    and falls. The joint then stays over one spot of the ground,
    and what hangs below it with it; `motion.at(t)` times the world matrices of the new
    clip are those of the old. centre: that spot is where the joint is at rest, and it
    starts with the heading it has at rest, so that where the clip starts and looks is
    the first row of the way; False: the spot and the heading are those of the clip's
    start, and the way starts at 0. A packed clip is unpacked.
    """
    if isinstance(clip, PackedClip):
        clip = Clip(clip.name, clip.tracks, clip.carried)
    at = _travelling(clip, skeleton) if node is None else _named(skeleton, node)
    if at is None:
        end = max(clip.duration, 0.0)
        times = np.array([0.0, end] if end else [0.0])
        return clip, RootMotion(times, np.zeros((len(times), 3)), np.zeros(len(times)))
    chain = _chain(clip, skeleton, at)
    rest = _rest(skeleton, at) if centre else None
    tracks = {track.path: track for track in clip.tracks if track.node == at}
    keys = [np.zeros(1), np.array([clip.duration])]
    line = set(upward(skeleton.parents, at))
    keys += [track.times for track in clip.tracks if track.node in line]
    times = np.unique(np.concatenate(keys).astype(np.float32)).astype(np.float64)
    times = times[(times >= 0) & (times <= clip.duration)]
    size = np.ptp(rest_world(skeleton)[:, :, 3], axis=0).max()

    def divide(times: Doubles) -> _Parts:
        return _divide(chain, times, rest, turn, height)

    for _ in range(MOST_HALVINGS):
        more = _too_far(divide, times, CLOSE * max(float(size), 1e-3))
        if not len(more):
            break
        times = np.union1d(times, more)
    parts = divide(times)
    given: dict[Path, Doubles] = {"translation": parts.moves}
    if turn and parts.headings.any():
        given["rotation"] = parts.turns
    made = [
        Track(at, path, times.astype(np.float32), rows.astype(np.float32))
        for path, rows in given.items()
    ]
    gone = [tracks.get(path) for path in given]
    kept = [track for track in clip.tracks if not any(track is one for one in gone)]
    motion = RootMotion(times, parts.places, parts.headings)
    return Clip(clip.name, (*made, *kept), clip.carried), motion


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """A chain's joint at T times: what stays in the clip, and the way.

    moves, turns: local translation (T, 3) and rotation (T, 4) on the spot; places,
    headings: the way; world, world_turns: where the joint was, affine (T, 3, 4) and
    rotation (T, 4); above, above_turns: the same of its parent.
    """

    moves: Doubles
    turns: Doubles
    places: Doubles
    headings: Doubles
    world: Doubles
    world_turns: Doubles
    above: Doubles
    above_turns: Doubles


Chain = Callable[[Doubles], tuple[Doubles, Doubles, Doubles, Doubles, Doubles]]


def _chain(clip: Clip, skeleton: Skeleton, node: int) -> Chain:
    """What gives world and turn of a node's parent, and local parts of the node.

    At times (T,): affine (T, 3, 4), rotation (T, 4); translation, rotation, scale.
    """
    tracks = {(track.node, track.path): track for track in clip.tracks}
    rests = {
        "translation": skeleton.translations,
        "rotation": skeleton.rotations,
        "scale": skeleton.scales,
    }

    def local(one: int, path: Path, times: Doubles) -> Doubles:
        track = tracks.get((one, path))
        if track is not None:
            return sample_track(track, times)
        return np.tile(rests[path][one].astype(np.float64), (len(times), 1))

    def chain(times: Doubles) -> tuple[Doubles, Doubles, Doubles, Doubles, Doubles]:
        world = np.tile(np.eye(3, 4), (len(times), 1, 1))
        turns = np.tile([0.0, 0, 0, 1], (len(times), 1))
        for one in reversed(ancestors(skeleton.parents, node)):
            moved, turned = (local(one, p, times) for p in ("translation", "rotation"))
            size = local(one, "scale", times)
            world = transforms.multiply(world, transforms.compose(moved, turned, size))
            turns = quaternions.multiply(turns, quaternions.normalise(turned))
        moved, turned = (local(node, p, times) for p in ("translation", "rotation"))
        return world, turns, moved, turned, local(node, "scale", times)

    return chain


def _rest(skeleton: Skeleton, node: int) -> tuple[Doubles, Doubles]:
    """Place (3,) and rotation (4,) of a node at rest, in the world."""
    turned = np.array([0.0, 0, 0, 1])
    for one in reversed(list(upward(skeleton.parents, node))):
        own = quaternions.normalise(skeleton.rotations[one].astype(np.float64))
        turned = quaternions.multiply(turned, own)
    return rest_world(skeleton)[node, :, 3].astype(np.float64), turned


def _divide(
    chain: Chain,
    times: Doubles,
    rest: tuple[Doubles, Doubles] | None,
    turn: bool,
    height: bool,
) -> _Parts:
    """Divide the movement of a joint at times (T,), of which the first is the start.

    rest: place and rotation of the joint that the clip is to start with on the spot,
    over the ground and about the vertical; None: those it starts with.
    """
    above, above_turns, moved, turned, size = chain(times)
    try:
        into = transforms.invert(above)
    except np.linalg.LinAlgError:
        raise SettingError(
            "root motion: a joint above is scaled to nothing; choose another node"
        ) from None
    world = transforms.multiply(above, transforms.compose(moved, turned, size))
    world_turns = quaternions.multiply(above_turns, quaternions.normalise(turned))
    headings = np.zeros(len(times))
    if turn:
        _check_even(above)
        first = world_turns[0] * [-1, -1, -1, 1]
        since = one_sign(quaternions.multiply(world_turns, first))
        headings = np.unwrap(2 * exact.atan2_each(since[:, 1], since[:, 3]))
        headings = headings - headings[0]
        if rest is not None:
            off = quaternions.multiply(world_turns[0], rest[1] * [-1, -1, -1, 1])
            headings += _heading(off)
    went = world[:, :, 3] * [1, 1 if height else 0, 1]
    spot = went[0].copy()
    if rest is not None:
        spot[[0, 2]] = rest[0][[0, 2]]
    # The way turns about the joint, not about the origin.
    places = went - exact.multiply(_movement(went * 0, headings)[..., :3], spot)
    way = _movement(places, headings)
    still = transforms.multiply(transforms.invert(way), world)
    moves = transforms.apply(into, still[:, None, :, 3])[:, 0]
    inverse = above_turns * [-1, -1, -1, 1]
    undo = quaternions.multiply(_about_y(-headings), above_turns)
    turns = quaternions.multiply(quaternions.multiply(inverse, undo), turned)
    return _Parts(
        moves, turns, places, headings, world, world_turns, above, above_turns
    )


def _check_even(above: Doubles) -> None:
    """Refuse frames (T, 3, 4) in which a turn about Y would be no turn."""
    linear = above[..., :3]
    products = exact.multiply(np.swapaxes(linear, -1, -2), linear)
    sizes = np.trace(products, axis1=-2, axis2=-1) / 3
    off = np.abs(products - sizes[:, None, None] * np.eye(3)).max((-2, -1))
    if (off > UNEVEN * sizes).any():
        raise SettingError(
            "root motion: a joint above is scaled unevenly, so that a turn cannot be "
            "taken out; use turn=False"
        )


def _too_far(
    divide: Callable[[Doubles], _Parts], times: Doubles, close: float
) -> Doubles:
    """Times between times (T,) at which the parts put together are not the whole."""
    middles = ((times[1:] + times[:-1]) / 2).astype(np.float32).astype(np.float64)
    is_new = (middles > times[:-1]) & (middles < times[1:])
    all_times = np.concatenate([times, middles[is_new]])
    order = np.argsort(all_times, kind="stable")
    whole = divide(all_times[order])
    is_key = np.isin(all_times[order], times)
    between = np.nonzero(~is_key)[0]
    if not len(between):
        return middles[:0]
    now = all_times[order][between]
    u = (now - times[:-1][is_new]) / np.diff(times)[is_new]
    before, after = between - 1, between + 1

    def line(rows: Doubles) -> Doubles:
        v = u.reshape(-1, *[1] * (rows.ndim - 1))
        return rows[before] * (1 - v) + rows[after] * v

    way = _movement(line(whole.places), line(whole.headings))
    above = transforms.multiply(way, whole.above[between])
    place = transforms.apply(above, line(whole.moves)[:, None])[:, 0]
    turned = slerp(whole.turns[before], whole.turns[after], u)
    made = quaternions.multiply(
        _about_y(line(whole.headings)), whole.above_turns[between]
    )
    made = quaternions.normalise(quaternions.multiply(made, turned))
    far = np.linalg.norm(place - whole.world[between, :, 3], axis=-1) > close
    far |= angles_between(made, whole.world_turns[between]) > CLOSE_TURN
    missed: Doubles = now[far]
    return missed


def _named(skeleton: Skeleton, node: int | str) -> int:
    if isinstance(node, str):
        return skeleton.index(node)
    is_row = isinstance(node, int | np.integer) and not isinstance(node, bool)
    if not (is_row and 0 <= node < len(skeleton)):
        raise SettingError(
            f"node: {node!r}, expected a name or 0 to {len(skeleton) - 1}"
        )
    return int(node)


def _carries_all(skeleton: Skeleton, node: int) -> bool:
    """Whether all hangs in one line with a node, but for nodes with none below them.

    What turns only an arm does not turn the character.
    """
    line = set(upward(skeleton.parents, node))
    for one in skeleton.order:
        if skeleton.parents[one] in line and (
            one in line or node in upward(skeleton.parents, one)
        ):
            line.add(int(one))
    return {int(one) for one in skeleton.parents if one >= 0} <= line


def _travelling(clip: Clip, skeleton: Skeleton) -> int | None:
    """The joint nearest to the roots that the clip moves; of several the widest."""
    moving = [
        track
        for track in clip.tracks
        if track.path == "translation"
        and track.node not in skeleton.links
        and np.ptp(track.values, axis=0).any()
    ]
    turning = [
        track
        for track in clip.tracks
        if track.path == "rotation"
        and track.node not in skeleton.links
        and _carries_all(skeleton, track.node)
    ]
    tracks = moving or turning
    if not tracks:
        return None
    depth = depths(skeleton.parents)
    least = min(depth[track.node] for track in tracks)
    first = [track for track in tracks if depth[track.node] == least]

    def reach(track: Track) -> float:
        times = np.linspace(0, clip.duration, 33)
        parts = _chain(clip, skeleton, track.node)(times)
        places = transforms.apply(parts[0], parts[2][:, None])[:, 0]
        return float(np.ptp(places[:, [0, 2]], axis=0).sum())

    return max(first, key=reach).node
