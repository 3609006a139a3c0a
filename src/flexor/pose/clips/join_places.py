"""Clips that go on where the one before ended: place over the ground and heading.

A clip that walks ends metres from where it began, and the next begins where it was
recorded. Before they are joined the next is moved over the ground and turned about the
vertical as a whole, so that in the middle of the fade both stand at one place and face
one way. Its keys stay its keys: the movement is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.errors import SettingError
from flexor.maths import exact, quaternions, transforms
from flexor.pose.clips.joint_motion import Motion, from_rest, in_motion
from flexor.scene.character.clip import Clip, Path, Track
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import ancestors, nearest
from flexor.scene.human.human import find_human

__all__ = ["go_on"]


TRAVELS = 0.2  # of the size of the skeleton: so far a clip goes that goes anywhere
TURNS = 0.7  # radians by which a clip turns that turns anywhere
EVEN = 1e-3  # how far a frame may be from turned and evenly scaled


def go_on(
    clips: Sequence[Clip],
    widths: Sequence[float],
    skeleton: Skeleton,
    is_always: bool = False,
) -> list[Clip]:
    """The clips, each moved to where the one before it ends.

    widths: seconds of overlap at each seam. Only at seams where one of the two travels
    or turns, or where they are far apart, if not always: who fights on the spot stays
    there.
    """
    for clip in clips:
        for track in clip.tracks:
            if not 0 <= track.node < len(skeleton):
                raise SettingError(
                    f"skeleton: has no node {track.node}, which a clip moves"
                )
    tops = _tops(clips, skeleton)
    if not tops:
        return list(clips)
    lead = _lead(tops, skeleton)
    size = float(np.ptp(rest_world(skeleton)[:, :, 3], axis=0).max())
    done = [clips[0]]
    for clip, width in zip(clips[1:], widths, strict=True):
        before = done[-1]
        ends = np.array([0.0, before.duration - width / 2, before.duration])
        starts = np.array([0.0, width / 2, clip.duration])
        one = in_motion(before, skeleton, ends)
        two = in_motion(clip, skeleton, starts)
        way, turn = _between(two, 1, one, 1, lead)
        gaps = [(way, turn), *(_between(m, 0, m, 2, lead) for m in (one, two))]
        goes = any(exact.norm(w) > TRAVELS * size or abs(t) > TURNS for w, t in gaps)
        if goes or is_always:
            heading = turn if _is_even(tops, skeleton) else 0.0
            clip = _moved(clip, skeleton, tops, _movement(one, two, lead, heading))
        done.append(clip)
    return done


def _tops(clips: Sequence[Clip], skeleton: Skeleton) -> list[int]:
    """Nodes that clips move and above which they move nothing."""
    moved = {t.node for clip in clips for t in clip.tracks if t.path != "weights"}
    moved -= skeleton.links.keys()
    return sorted(n for n in moved if not moved & set(ancestors(skeleton.parents, n)))


def _lead(tops: list[int], skeleton: Skeleton) -> int:
    """The joint that tells where a body is: hips, else what carries most."""
    hips = find_human(skeleton).nodes.get("hips")
    if hips is not None and nearest(skeleton.parents, hips, tops) >= 0:
        return hips
    counts = dict.fromkeys(tops, 0)
    for node in range(len(skeleton)):
        for above in ancestors(skeleton.parents, node):
            if above in counts:
                counts[above] += 1
    return max(tops, key=lambda node: counts[node])


def _between(
    one: Motion, start: int, two: Motion, end: int, lead: int
) -> tuple[Doubles, float]:
    """From a joint at a moment to another: metres over the ground (3,), radians."""
    way = two.worlds[lead][end, :, 3] - one.worlds[lead][start, :, 3]
    turn = exact.multiply(from_rest(two, lead)[end], from_rest(one, lead)[start].T)
    q = quaternions.from_matrix(turn)
    angle = 2 * exact.atan2(q[1], q[3])
    return way * [1, 0, 1], (angle + np.pi) % (2 * np.pi) - np.pi


def _movement(one: Motion, two: Motion, lead: int, heading: float) -> Doubles:
    """The movement (3, 4) of the second, in the middle of the seam, to the first."""
    c, s = exact.cos(heading), exact.sin(heading)
    move = np.zeros((3, 4))
    move[:, :3] = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    place, at = one.worlds[lead][1, :, 3], two.worlds[lead][1, :, 3]
    move[:, 3] = (place - exact.multiply(move[:, :3], at)) * [1, 0, 1]
    return move


def _is_even(tops: list[int], skeleton: Skeleton) -> bool:
    """Whether a turn of the world is one in all frames that the tops stand in."""
    world = rest_world(skeleton)
    for node in tops:
        parent = int(skeleton.parents[node])
        if parent >= 0:
            product = exact.multiply(world[parent, :, :3].T, world[parent, :, :3])
            size = float(np.trace(product)) / 3
            if np.abs(product - size * np.eye(3)).max() > EVEN * size:
                return False
    return True


def _moved(clip: Clip, skeleton: Skeleton, tops: list[int], move: Doubles) -> Clip:
    """The clip with all that it moves, moved; above the tops nothing moves itself."""
    world = rest_world(skeleton)
    given = {(track.node, track.path): track for track in clip.tracks}
    made: dict[tuple[int, Path], Track] = {}
    for node in tops:
        parent = int(skeleton.parents[node])
        frame = world[parent] if parent >= 0 else np.eye(3, 4)
        if abs(exact.det(frame[:, :3])) < 1e-30:
            continue  # of no size: nothing below it is seen
        inside = transforms.multiply(
            transforms.multiply(transforms.invert(frame), move), frame
        )
        rests: tuple[tuple[Path, Floats], ...] = (
            ("translation", skeleton.translations),
            ("rotation", skeleton.rotations),
        )
        for path, rest in rests:
            track = given.get((node, path))
            if track is None:
                track = Track(node, path, np.zeros(1, "f4"), rest[node][None].copy())
            values = track.values.astype(np.float64)
            if path == "rotation":
                turn = quaternions.from_matrix(inside[:, :3])
                values = quaternions.multiply(
                    np.broadcast_to(turn, values.shape), values
                )
            else:
                values = exact.multiply(values, inside[:, :3].T)
                shift = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
                shift += inside[:, 3]
            made[node, path] = replace(track, values=values.astype(np.float32))
    kept = [made.pop((track.node, track.path), track) for track in clip.tracks]
    return replace(clip, tracks=(*kept, *made.values()))
