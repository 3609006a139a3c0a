"""Slow twins of the pose kernels: plain loops in float64, one character at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from flexor.maths import transforms
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.scene import Scene


def slerp(a: Any, b: Any, u: float) -> Any:
    """Shortest-arc interpolation of quaternions a, b (4,)."""
    dot = float(a @ b)
    if dot < 0:
        a, dot = -a, -dot
    if dot > 1 - 1e-12:
        return a + (b - a) * u
    angle = math.acos(dot)
    return (a * math.sin((1 - u) * angle) + b * math.sin(u * angle)) / math.sin(angle)


def sample_track(track: Track, time: float) -> Any:
    """The track's value (C,) at `time` seconds, clamped to its first and last key.

    One channel of the kernels `sample` and `sample_weights`.
    """
    times = track.times.astype(np.float64)
    is_cubic = track.interpolation == "CUBICSPLINE"
    time = min(max(time, times[0]), times[-1])
    key = max(int(np.searchsorted(times, time, "right")) - 1, 0)
    # The key before and the one after are all that is looked at.
    is_last = key == len(times) - 1
    times, values = times[key : key + 2], track.values[key : key + 2].astype(np.float64)
    at_key = values[0, 1] if is_cubic else values[0]
    if is_last or track.interpolation == "STEP":
        value = at_key
    else:
        length = times[1] - times[0]
        u = (time - times[0]) / length
        if is_cubic:
            p0, m0 = values[0, 1], values[0, 2] * length
            p1, m1 = values[1, 1], values[1, 0] * length
            value = (
                (2 * u**3 - 3 * u**2 + 1) * p0
                + (u**3 - 2 * u**2 + u) * m0
                + (3 * u**2 - 2 * u**3) * p1
                + (u**3 - u**2) * m1
            )
        elif track.path == "rotation":
            value = slerp(at_key, values[1], u)
        else:
            value = at_key + (values[1] - at_key) * u
    if is_cubic and track.path == "rotation":
        value = value / np.linalg.norm(value)
    return value


def local_matrices(skeleton: Skeleton, clip: Clip | None, time: float) -> Any:
    """parent_from_node (J, 3, 4) of every node at `time` seconds."""
    parts = {
        "translation": skeleton.translations.astype(np.float64),
        "rotation": skeleton.rotations.astype(np.float64),
        "scale": skeleton.scales.astype(np.float64),
    }
    for track in clip.tracks if clip else ():
        if track.path != "weights":
            parts[track.path][track.node] = sample_track(track, time)
    moves, turns, sizes = parts["translation"], parts["rotation"], parts["scale"]
    follow_links(skeleton, moves, turns, sizes)
    return transforms.compose(moves, turns, sizes)


def follow_links(skeleton: Skeleton, moves: Any, turns: Any, sizes: Any) -> None:
    """Put links between their joints' rest and their joints, in place.

    moves, sizes: (J, 3), turns: (J, 4). The kernel `follow_links`.
    """
    for node, link in skeleton.links.items():
        joint, u = link.joint, link.fraction
        if link.axis is not None and not link.is_swing:
            moves[node], sizes[node] = moves[joint], sizes[joint]
            turns[node] = twist_link(link, skeleton.rotations[joint], turns[joint])
            continue
        for now, rest in (
            (moves, skeleton.translations),
            (sizes, skeleton.scales),
        ):
            start = rest[joint].astype(np.float64)
            now[node] = start + (now[joint] - start) * u
        start = skeleton.rotations[joint].astype(np.float64)
        start = start / np.linalg.norm(start)
        end = turns[joint] / np.linalg.norm(turns[joint])
        if link.is_swing:
            end = twist_link(replace(link, fraction=0), start, end)
        # `slerp` turns its first argument round: here the rest is to keep its sign.
        end = -end if float(start @ end) < 0 else end
        turns[node] = slerp(start, end, u)


def twist_link(link: Link, rest: Any, turn: Any) -> Any:
    """The rotation (4,) of a twist link whose joint stands at `rest` or `turn`."""
    q, along, w = _find_twist(link, rest, turn)
    # Of a swing of half a turn nothing is left; the floors make that no twist.
    half = math.atan2(along, max(w, 1e-6, 2e-4 - abs(along)))
    angle = -half * (1 - link.fraction)
    return product(q, [*(math.sin(angle) * np.array(link.axis)), math.cos(angle)])


def twist_size(link: Link, rest: Any, turn: Any) -> float:
    """How well a joint's twist can be told: 0 at a swing of half a turn, to 1."""
    _, along, w = _find_twist(link, rest, turn)
    return math.hypot(along, w)


def _find_twist(link: Link, rest: Any, turn: Any) -> tuple[Any, float, float]:
    """A joint's rotation (4,) on the side of its rest; sine and cosine of half of its
    twist, as far as they are not swing.
    """
    r, q = (np.asarray(a, np.float64) / np.linalg.norm(a) for a in (rest, turn))
    q = -q if float(r @ q) < 0 else q
    x, y, z, w = product([-r[0], -r[1], -r[2], r[3]], q)
    return q, x * link.axis[0] + y * link.axis[1] + z * link.axis[2], w


def product(a: Any, b: Any) -> Any:
    """The rotation b followed by a, both (4,)."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - float(a[:3] @ b[:3]))


def world_matrices(skeleton: Skeleton, local: Any) -> Any:
    """world_from_node (J, 3, 4) by walking from each node up to its root.

    The kernel `world_from_local`.
    """
    world = np.empty_like(local)
    for node in range(len(skeleton)):
        matrix, parent = local[node], int(skeleton.parents[node])
        while parent >= 0:
            matrix = transforms.multiply(local[parent], matrix)
            parent = int(skeleton.parents[parent])
        world[node] = matrix
    return world


def morph_weights(scene: Scene, clip: Clip | None, time: float) -> Any:
    """Morph weights (W,) of all nodes that have any, in node order."""
    rows = {
        node: scene.rest_weights(node).astype(np.float64)
        for node in range(len(scene.skeleton))
        if scene.node_mesh[node] >= 0
    }
    for track in clip.tracks if clip else ():
        if track.path == "weights":
            rows[track.node] = sample_track(track, time)
    return np.concatenate([np.zeros(0), *rows.values()])


def find_key(times: Any, time: float) -> int:
    """The last key not after `time`; the first where all are."""
    key = 0
    for i, at in enumerate(times):
        if at <= time:
            key = i
    return key
