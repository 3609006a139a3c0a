"""New weights: how long they take, how much memory, and how close they come.

Characters lose the weights that an artist gave them and get new ones; the distance of
the skin to where the artist's weights put it is the error. Beside it, where libigl and
tetgen are installed, that of bounded biharmonic weights.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.character import Character
from flexor.bench.peers.bbw import BbwTask, solve_bbw
from flexor.bench.timing import Result
from flexor.bench.weights_body import make_body
from flexor.convert.shape.body import (
    Body,
    Pull,
    body_surface,
    gather_bodies,
    merge_same,
    with_pulls,
)
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.regenerate_weights import assign_bones, regenerate_weights
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
RATIO = "how many times as long as ours bounded biharmonic weights take"


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
            f"assign, remove rogues, smooth; {joints} joints, {len(body.faces)} "
            f"triangles, {_threads()}; the best of {ROUNDS} rounds"
        )
        yield Result(f"weights/regenerate/v{vertices}", seconds, "s", note)


def _fine() -> Iterator[Result]:
    """A body as fine as the peer can do in its time, where it is there."""
    vertices, joints = PEER_SIZE
    body = make_body(vertices, joints)
    try:
        theirs, _, note = _peer_seconds([body])
    except BackendMissing:
        return
    ours = min(_seconds([body])[0] for _ in range(ROUNDS))
    name = f"weights/regenerate/v{vertices}"
    text = f"{joints} joints, {_threads()}; the best of {ROUNDS} rounds"
    yield Result(name, ours, "s", text)
    text = f"bounded biharmonic weights for the same bones, one round; {note}"
    yield Result(f"{name}/bbw", theirs, "s", text)
    yield Result(f"{name}/ratio", theirs / ours, "x", RATIO)


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


@dataclass(slots=True)
class _Way:
    """One way to new weights: the seconds of its rounds, and what they gave."""

    taken: list[float] = field(default_factory=list)
    pulls: dict[int, Pull] = field(default_factory=dict)
    note: str = ""


def _compare(name: str, character: Character) -> Iterator[Result]:
    """Errors and seconds of a character, ours and the peer's in turns."""
    bodies = gather_bodies(character.scene)
    if not bodies:
        return
    ours, peer, missing = _Way(), _Way(), ""
    for _ in range(ROUNDS):
        seconds, ours.pulls = _seconds(bodies)
        ours.taken.append(seconds)
        if missing or sum(peer.taken) > PEER_ENOUGH:
            continue
        try:
            seconds, peer.pulls, peer.note = _peer_seconds(bodies)
            peer.taken.append(seconds)
        except BackendMissing as error:
            missing = f"; no figure for {error}"
    ours.note = (
        f"{sum(map(len, bodies))} vertices, {len(bodies[0].joints)} joints, "
        f"{_threads()}{missing}"
    )
    peer.note = f"bounded biharmonic weights for the same bones; {peer.note}"
    poses, how = _poses(character)
    ways = {"": ours} if missing else {"": ours, "/bbw": peer}
    for end, way in ways.items():
        other = Character(with_pulls(character.scene, way.pulls, bodies))
        value = 100 * _distance(character, other, poses)
        note = f"mean distance to the skin by the file's own weights; {how}; {way.note}"
        yield Result(f"weights/error/{name}{end}", value, "%", note)
    for end, way in ways.items():
        note = f"the best of {len(way.taken)} rounds; {way.note}"
        yield Result(f"weights/seconds/{name}{end}", min(way.taken), "s", note)
    if not missing:
        ratio = min(peer.taken) / min(ours.taken)
        yield Result(f"weights/seconds/{name}/ratio", ratio, "x", RATIO)


def _seconds(bodies: list[Body]) -> tuple[float, dict[int, Pull]]:
    """New weights of all bodies, by number, and how long they took."""
    started = perf_counter()
    pulls = {
        number: regenerate_weights(BodyFacts(body))
        for number, body in enumerate(bodies)
    }
    return perf_counter() - started, pulls


def _peer_seconds(bodies: list[Body]) -> tuple[float, dict[int, Pull], str]:
    """The same by the peer, and which versions it has.

    It is handed the surface without seams, and the bones that ours come to, for free.
    """
    total, pulls, note = 0.0, {}, ""
    for number, body in enumerate(bodies):
        surface = body_surface(body, is_by_place=True)
        if len(surface) > PEER_POINTS:
            raise BackendMissing(f"bbw: more than {PEER_POINTS} points")
        pull, bones, _ = assign_bones(body, surface.positions)
        rows = np.unique(pull.joints)
        faces = surface.point_of_vertex[body.faces]
        is_whole = (faces != np.roll(faces, 1, axis=1)).all(1)
        bases = bones.bases[rows]
        task = BbwTask(
            surface.positions.astype(np.float64),
            faces[is_whole],
            bases,
            bases + bones.axes[rows] * bones.lengths[rows, None],
        )
        weights, seconds, note = solve_bbw(task, PEER_LIMIT)
        total += seconds
        joints = np.broadcast_to(rows, weights.shape)
        pulls[number] = merge_same(joints, weights).take(surface.point_of_vertex)
    return total, pulls, note


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


def _distance(one: Character, other: Character, poses: list[Pose]) -> float:
    """The mean distance of their skins' vertices, as a part of the height: the longest
    side of the box around them at rest.
    """
    rest = _skin(one, one.pose())
    height = float(np.ptp(rest, axis=0).max())
    means = [
        np.linalg.norm(_skin(one, pose) - _skin(other, pose), axis=1).mean()
        for pose in poses
    ]
    return float(np.mean(means)) / height


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
