"""BVH texts for tests, and the slow truth about what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.scene.scene import Scene

SMALL = """HIERARCHY
ROOT Hips
{
  OFFSET 0.0 0.9 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Left Leg
  {
    OFFSET 0.1 -0.1 0.0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 -0.8 0.0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.25
0.0 1.0 0.5 0.0 0.0 90.0 10.0 20.0 30.0
0.5 1.5 0.0 0.0 0.0 45.0 15.0 25.0 35.0
"""
AXES = "XYZ"
CHANNELS = [f"{axis}{kind}" for kind in ("position", "rotation") for axis in AXES]

Read = Callable[[str | bytes], Scene]
Matrix = list[list[float]]


def refusal(read: Read, text: str | bytes) -> AssetError:
    with pytest.raises(AssetError) as caught:
        read(text)
    assert caught.value.path.name == "walk.bvh"
    return caught.value


def attempt(read: Read, text: str | bytes) -> Scene | AssetError:
    try:
        return read(text)
    except AssetError as error:
        return error


def one_joint(channels: str, *frames: str, offset: str = "1 2 3") -> str:
    count = len(channels.split())
    head = f"HIERARCHY\nROOT a\n{{\nOFFSET {offset}\nCHANNELS {count} {channels}\n}}\n"
    motion = f"MOTION\nFrames: {len(frames)}\nFrame Time: 0.5\n"
    return head + motion + "".join(f"{line}\n" for line in frames)


def codes(scene: Scene) -> list[str]:
    return [finding.code for finding in scene.findings]


def track(scene: Scene, node: int, path: str) -> Any:
    (clip,) = scene.clips.values()
    found = [t for t in clip.tracks if (t.node, t.path) == (node, path)]
    assert len(found) == 1
    return found[0]


def same(first: Scene, second: Scene) -> bool:
    a, b = first.skeleton, second.skeleton
    if a.names != b.names or first.clips.keys() != second.clips.keys():
        return False
    pairs = [(a.parents, b.parents), (a.translations, b.translations)]
    for name, clip in first.clips.items():
        other = second.clips[name]
        if [(t.node, t.path) for t in clip.tracks] != [
            (t.node, t.path) for t in other.tracks
        ]:
            return False
        for t, u in zip(clip.tracks, other.tracks, strict=True):
            pairs += [(t.times, u.times), (t.values, u.values)]
    return all(np.array_equal(x, y) for x, y in pairs)


# The slow truth: plain matrices


def turn(axis: str, degrees: float) -> Matrix:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    turns: dict[str, Matrix] = {
        "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return turns[axis]


def times(a: Matrix, b: Matrix) -> Matrix:
    return [
        [sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)
    ]


def local_of(
    offset: list[float], channels: list[str], values: list[float], adds: bool = False
) -> tuple[list[float], Matrix]:
    """Translation and rotation of a joint; adds: positions are differences."""
    moved, turned = list(offset), turn("X", 0)
    for name, value in zip(channels, values, strict=True):
        if name.endswith("position"):
            axis = AXES.index(name[0])
            moved[axis] = value + (offset[axis] if adds else 0)
        else:
            turned = times(turned, turn(name[0], value))
    return moved, turned
