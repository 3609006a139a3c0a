"""New weights: how long they take, how much memory, and how close they come.

Characters lose the weights that an artist gave them and get new ones; the distance of
the skin to where the artist's weights put it is the error. Beside it, where they are
installed, that of Blender's bone heat and of bounded biharmonic weights by libigl.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.character import Character
from flexor.arrays import Ints
from flexor.bench.peers.bbw import BbwTask, solve_bbw
from flexor.bench.peers.bone_heat import HeatTask, solve_bone_heat
from flexor.bench.timing import Result
from flexor.bench.weights_body import make_body
from flexor.convert.shape.body import (
    Body,
    Pull,
    gather_bodies,
    merge_same,
    with_pulls,
)
from flexor.convert.shape.bones import derive_bones
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.regenerate_weights import body_lines, regenerate_weights
from flexor.errors import BackendMissing
from flexor.maths import quaternions
from flexor.maths.threads import thread_count
from flexor.pose.pose import Pose

__all__ = ["run"]

SIZES = ((22_700, 52), (100_000, 100))  # vertices and joints
PEER_SIZE = (15_706, 64)  # the mannequin, its triangles cut into four once
MEMORY = ((100_000, 100), (200_000, 100))
ROUNDS = 3
CLIPS, TIMES = 8, 4  # at most so many clips, at so many times each
POSES, ANGLE = 8, 20.0  # of characters without clips; degrees
PEER_POINTS = 16_000  # a peer gets no larger surface
PEER_LIMIT = 120.0  # seconds
PEER_ENOUGH = 20.0  # seconds: after these a peer gets no further round
RATIO = "how many times as long as ours it takes"


def run(characters: Mapping[str, Character]) -> Iterator[Result]:
    """Large bodies, the mannequin and the characters given."""
    mannequin = samples.mannequin()
    for body in gather_bodies(mannequin.scene):
        regenerate_weights(BodyFacts(body))  # so that all is loaded and compiled
    yield from _regenerate()
    yield from _fine()
    yield from _memory()
    yield from _compare("mannequin", mannequin)
    for name, character in characters.items():
        yield from _compare(name, character)


def _regenerate() -> Iterator[Result]:
    for vertices, joints in SIZES:
        body = make_body(vertices, joints)
        seconds = min(_seconds([body])[0] for _ in range(ROUNDS))
        note = (
            f"bones, heat along the surface; {joints} joints, {len(body.faces)} "
            f"triangles, {_threads()}; the best of {ROUNDS} rounds"
        )
        yield Result(f"weights/regenerate/v{vertices}", seconds, "s", note)


def _fine() -> Iterator[Result]:
    """A body as fine as the peers can do in their time, where they are there."""
    vertices, joints = PEER_SIZE
    body = make_body(vertices, joints)
    found: dict[str, tuple[float, str]] = {}
    for end, peer in PEERS.items():
        try:
            seconds, _, note = _peer_seconds([body], peer)
            found[end] = (seconds, note)
        except BackendMissing:
            continue
    if not found:
        return
    ours = min(_seconds([body])[0] for _ in range(ROUNDS))
    name = f"weights/regenerate/v{vertices}"
    text = f"{joints} joints, {_threads()}; the best of {ROUNDS} rounds"
    yield Result(name, ours, "s", text)
    for end, (seconds, note) in found.items():
        text = f"{PEERS[end].text}, one round; {note}"
        yield Result(f"{name}{end}", seconds, "s", text)
        yield Result(f"{name}{end}/ratio", seconds / ours, "x", RATIO)


def _memory() -> Iterator[Result]:
    """Peaks of what Python and NumPy allocate; kernels allocate nothing.

    The resident memory of the process would also hold what was freed before.
    """
    for vertices, joints in MEMORY:
        body = make_body(vertices, joints)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            regenerate_weights(BodyFacts(body))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        used = peak - before
        note = (
            f"peak of all arrays beyond the body itself: {used / vertices:.0f} bytes "
            f"a vertex; {joints} joints, {_threads()}"
        )
        yield Result(f"weights/memory/v{vertices}", used / 1e6, "MB", note)


@dataclass(frozen=True, slots=True)
class _Peer:
    """Another way to weights: text: what it is; solve: weights, seconds and a note of a
    surface (P, 3), (F, 3) and bones (B, 3), (B, 3); bones: which it is handed.
    """

    text: str
    solve: Callable[
        [NDArray[np.float64], Ints, NDArray[np.float64], NDArray[np.float64]],
        tuple[NDArray[np.float64], float, str],
    ]
    bones: Callable[[BodyFacts], tuple[Ints, NDArray[np.float64], NDArray[np.float64]]]


@dataclass(slots=True)
class _Way:
    """One way to new weights: the seconds of its rounds, and what they gave."""

    taken: list[float] = field(default_factory=list)
    pulls: dict[int, Pull] = field(default_factory=dict)
    note: str = ""
    missing: str = ""


def _compare(name: str, character: Character) -> Iterator[Result]:
    """Errors and seconds of a character, ours and the peers' in turns."""
    bodies = gather_bodies(character.scene)
    if not bodies:
        return
    ours, peers = _Way(), {end: _Way() for end in PEERS}
    for _ in range(ROUNDS):
        seconds, ours.pulls = _seconds(bodies)
        ours.taken.append(seconds)
        for end, way in peers.items():
            _round(bodies, end, way)
    missing = "".join(way.missing for way in peers.values())
    ours.note = (
        f"{sum(map(len, bodies))} vertices, {len(bodies[0].joints)} joints, "
        f"{_threads()}{missing}"
    )
    poses, how = _poses(character)
    there = {end: way for end, way in peers.items() if not way.missing}
    ways = {"": ours, **there}
    for end, way in ways.items():
        other = Character(with_pulls(character.scene, way.pulls, bodies))
        mean, most = _distance(character, other, poses)
        note = f"distance to the skin by the file's own weights; {how}; {way.note}"
        yield Result(f"weights/error/{name}{end}", 100 * mean, "%", f"mean {note}")
        yield Result(f"weights/worst/{name}{end}", 100 * most, "%", f"largest {note}")
    for end, way in ways.items():
        note = f"the best of {len(way.taken)} rounds; {way.note}"
        yield Result(f"weights/seconds/{name}{end}", min(way.taken), "s", note)
    for end, way in there.items():
        ratio = min(way.taken) / min(ours.taken)
        yield Result(f"weights/seconds/{name}{end}/ratio", ratio, "x", RATIO)


def _round(bodies: list[Body], end: str, way: _Way) -> None:
    """One more round of a peer, unless it is missing or had its time."""
    if way.missing or sum(way.taken) > PEER_ENOUGH:
        return
    try:
        seconds, way.pulls, note = _peer_seconds(bodies, PEERS[end])
        way.taken.append(seconds)
        way.note = f"{PEERS[end].text}; {note}"
    except BackendMissing as error:
        way.missing = f"; no figure for {error}"


def _seconds(bodies: list[Body]) -> tuple[float, dict[int, Pull]]:
    """New weights of all bodies, by number, and how long they took."""
    started = perf_counter()
    pulls = {
        number: regenerate_weights(BodyFacts(body))
        for number, body in enumerate(bodies)
    }
    return perf_counter() - started, pulls


def _peer_seconds(
    bodies: list[Body], peer: _Peer
) -> tuple[float, dict[int, Pull], str]:
    """The same by a peer, and which versions it has.

    It is handed the surface without seams, for free.
    """
    total, pulls, note = 0.0, {}, ""
    for number, body in enumerate(bodies):
        facts = BodyFacts(body)
        surface = facts.by_place
        if len(surface) > PEER_POINTS:
            raise BackendMissing(f"{peer.text}: more than {PEER_POINTS} points")
        rows, bases, tips = peer.bones(facts)
        faces = surface.point_of_vertex[body.faces]
        is_whole = (faces != np.roll(faces, 1, axis=1)).all(1)
        weights, seconds, note = peer.solve(
            surface.positions.astype(np.float64), faces[is_whole], bases, tips
        )
        total += seconds
        joints = np.broadcast_to(rows, weights.shape)
        pulls[number] = merge_same(joints, weights).take(surface.point_of_vertex)
    return total, pulls, note


def _our_bones(
    facts: BodyFacts,
) -> tuple[Ints, NDArray[np.float64], NDArray[np.float64]]:
    """Joints, bases and tips of the bones that ours come to."""
    lines = body_lines(facts.body, facts.by_place)
    return lines.rows, lines.bases, lines.ends


def _all_bones(
    facts: BodyFacts,
) -> tuple[Ints, NDArray[np.float64], NDArray[np.float64]]:
    """Those of all joints, as they come into Blender with a file: each ends at the
    child that continues the chain, a leaf where what is nearest to it does.
    """
    body, points = facts.body, facts.by_place.positions.astype(np.float64)
    bones = derive_bones(body, points, None)
    far = np.full(len(points), np.inf)
    label = np.zeros(len(points), np.int32)
    for row in range(len(body.joints)):
        local = bones.local(row, points)
        local[:, 0] -= np.clip(local[:, 0], 0, bones.lengths[row])
        away = np.linalg.norm(local, axis=1)
        label[away < far] = row
        far = np.minimum(far, away)
    pull = Pull(label[:, None], np.ones((len(points), 1), np.float32))
    bones = derive_bones(body, points, pull)
    tips = bones.bases + bones.axes * bones.lengths[:, None]
    return np.arange(len(body.joints), dtype=np.int32), bones.bases, tips


PEERS = {
    "/heat": _Peer(
        "bone heat for the bones of all joints",
        lambda *given: solve_bone_heat(HeatTask(*given), PEER_LIMIT),
        _all_bones,
    ),
    "/bbw": _Peer(
        "bounded biharmonic weights for the bones that ours come to",
        lambda *given: solve_bbw(BbwTask(*given), PEER_LIMIT),
        _our_bones,
    ),
}


def _poses(character: Character) -> tuple[list[Pose], str]:
    """Poses to compare weights in, and what they are."""
    clips = list(character.clips.items())[:CLIPS]
    if clips:
        poses = [
            character.pose(name, float(time))
            for name, clip in clips
            for time in np.linspace(0, clip.duration, TIMES, endpoint=False)
        ]
        return poses, f"at {TIMES} times of each of {len(clips)} clips"
    rng = np.random.default_rng(0)
    rest = quaternions.to_matrix(character.skeleton.rotations.astype(np.float64))
    turn = partial(_turns, rng, len(rest))
    poses = [
        character.pose_from(rotations=quaternions.from_matrix(rest @ turn()))
        for _ in range(POSES)
    ]
    return poses, f"in {POSES} random poses of about {ANGLE:g} degrees a joint"


def _turns(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Rotations (count, 3, 3) about any axes, by angles of a normal distribution."""
    axes = rng.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.radians(ANGLE) * rng.standard_normal(count)
    matrices: NDArray[np.float64] = quaternions.to_matrix(
        quaternions.about(axes, angles)
    )
    return matrices


def _distance(
    one: Character, other: Character, poses: list[Pose]
) -> tuple[float, float]:
    """The mean and the largest distance of their skins' vertices, as parts of the
    height: the longest side of the box around them at rest. Vertices that the file
    itself puts nowhere are left out.
    """
    rest = _skin(one, one.pose())
    height = float(np.ptp(rest[np.isfinite(rest).all(1)], axis=0).max())
    with np.errstate(invalid="ignore"):
        far = np.stack(
            [
                np.linalg.norm(_skin(one, pose) - _skin(other, pose), axis=1)
                for pose in poses
            ]
        )
    far = far[:, np.isfinite(far).all(0)]
    return float(far.mean()) / height, float(far.max()) / height


def _skin(character: Character, pose: Pose) -> NDArray[np.float64]:
    """Positions (V, 3) of all vertices that hang on joints."""
    is_skinned = character.scene.node_skin >= 0
    parts = [
        part.positions.astype(np.float64)
        for part in character.deform(pose)
        if is_skinned[part.node]
    ]
    return np.concatenate(parts)


def _threads() -> str:
    count = thread_count()
    return f"{count} thread{'s' * (count > 1)}"
