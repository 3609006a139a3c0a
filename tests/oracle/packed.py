"""Slow, plain twins of the kernels of packed motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import quaternions, transforms
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.runtime.packed_clip import BITS, PATHS, PackedClip
from tests.oracle.pose import sample_track, slerp


def read_numbers(clip: PackedClip) -> Any:
    """The whole numbers (frames, D), bit by bit."""
    bits = "".join(f"{word:032b}"[::-1] for word in clip.words.tolist())
    count, at = len(clip.slots), 0
    codes = np.stack([clip.widths & 15, clip.widths >> 4], -1)
    codes = codes.reshape(clip.segments, 3, -1)

    def row(part: int, level: int) -> list[int]:
        nonlocal at
        out = []
        for column in range(count):
            wide = int(BITS[codes[part, level, column]])
            field = bits[at : at + wide][::-1]
            out.append(int(field, 2) - (1 << wide >> 1) if wide else 0)
            at += wide
        return out

    stored, inner = [], []
    for block in range(clip.blocks + 1):
        part = block // clip.segment
        stored.append(row(part, 0))
        if block < clip.blocks:
            inner.append([row(part, level) for level in (1, 2, 2)])
    frames = []
    for block in range(clip.blocks):
        a, b = stored[block], stored[block + 1]
        before, after = stored[max(block - 1, 0)], stored[min(block + 2, clip.blocks)]
        middle = [
            inner[block][0][i] + ((9 * (a[i] + b[i]) - before[i] - after[i] + 8) >> 4)
            for i in range(count)
        ]
        early = [inner[block][1][i] + ((a[i] + middle[i]) >> 1) for i in range(count)]
        late = [inner[block][2][i] + ((middle[i] + b[i]) >> 1) for i in range(count)]
        frames += [a, early, middle, late]
    frames.append(stored[-1])
    return np.array(frames).reshape(len(frames), count)[: clip.frames]


def local_parts(skeleton: Skeleton, clip: PackedClip, time: float) -> Any:
    """Translations, rotations and scales (J, 10) at a time, double."""
    parts = np.concatenate(
        [skeleton.translations, skeleton.rotations, skeleton.scales], 1
    ).astype(np.float64)
    first = {"translation": 0, "rotation": 3, "scale": 7}
    for track in clip.keyed:
        at = first[track.path]
        value = sample_track(track, time)
        parts[track.node, at : at + len(value)] = value
    numbers = read_numbers(clip)
    values = np.zeros((2, 3 * (len(clip.turns) + len(clip.bases))))
    place = min(max((time - clip.start) * clip.rate, 0), clip.frames - 1)
    frame = int(place)
    u = place - frame
    pair = [frame, min(frame + 1, clip.frames - 1)]
    values[:, clip.slots] = numbers[pair] * clip.steps.astype(np.float64)
    for row, node in enumerate(clip.rotation_nodes.tolist()):
        left, right = quaternions.normalise(
            clip.turns[row].reshape(2, 4).astype(np.float64)
        )
        ends = []
        for v in values[:, 3 * row : 3 * row + 3]:
            angle = 4 * np.arctan(np.linalg.norm(v))
            axis = v / max(np.linalg.norm(v), 1e-30)
            turn = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
            ends.append(quaternions.multiply(quaternions.multiply(left, turn), right))
        parts[node, 3:7] = slerp(ends[0], ends[1], u)
    begin = 3 * len(clip.turns)
    for row, node in enumerate(clip.vector_nodes.tolist()):
        a, b = values[:, begin + 3 * row : begin + 3 * row + 3]
        at = first[PATHS[clip.vector_paths[row]]]
        parts[node, at : at + 3] = clip.bases[row] + a + (b - a) * u
    return parts


def displacements(skeleton: Skeleton, one: Any, two: Any, shell: float) -> Any:
    """How far points around each node are off, one frame: parts (J, 10) of both."""
    worlds = []
    for parts in (one, two):
        world: dict[int, Any] = {}
        for node in skeleton.order.tolist():
            local = transforms.compose(
                parts[node, :3], parts[node, 3:7], parts[node, 7:]
            )
            parent = int(skeleton.parents[node])
            world[node] = (
                transforms.multiply(world[parent], local) if parent >= 0 else local
            )
        worlds.append(world)
    off = []
    for node in range(len(skeleton)):
        a, b = worlds[0][node], worlds[1][node]
        worst = 0.0
        for axis in range(3):
            length = np.linalg.norm(a[:, axis])
            for sign in (-1, 1):
                point = np.zeros(3)
                point[axis] = sign * shell / length
                apart = transforms.apply(b, point) - transforms.apply(a, point)
                worst = max(worst, float(np.linalg.norm(apart)))
        off.append(worst)
    return np.array(off)
