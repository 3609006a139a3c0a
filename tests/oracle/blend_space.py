"""A slow twin of blends: weights in exact fractions, and one character that is mixed.

Triangles are those of the space: which ones there are is tested by their circles.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flexor.pose.play.blend_space import BlendSpace
from flexor.scene.character.clip import Clip
from flexor.scene.scene import Scene
from tests.oracle.player import Voice, local_parts, mix, settle_sides

Spot = tuple[Fraction, ...]


def weights(space: BlendSpace, value: Any) -> list[float]:
    """Weights of the clips of a space at a number or a pair."""
    spots = [tuple(Fraction(n) for n in row) for row in space.points.tolist()]
    if len(spots[0]) == 1:
        return along([spot[0] for spot in spots], Fraction(float(value)))
    return across(space, spots, tuple(Fraction(float(n)) for n in value))


def along(spots: list[Fraction], value: Fraction) -> list[float]:
    found = [0.0] * len(spots)
    value = min(max(value, spots[0]), spots[-1])
    for row, spot in enumerate(spots):
        if spot == value:
            found[row] = 1.0
            return found
    row = max(r for r, spot in enumerate(spots) if spot < value)
    share = (value - spots[row]) / (spots[row + 1] - spots[row])
    found[row], found[row + 1] = float(1 - share), float(share)
    return found


def side(a: Spot, b: Spot, p: Spot) -> Fraction:
    """Twice the area of a triangle; its sign is the side of a line p is on."""
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])


def across(space: BlendSpace, spots: list[Spot], value: Spot) -> list[float]:
    found = [0.0] * len(spots)
    for corners in space.triangles.tolist():
        a, b, c = (spots[row] for row in corners)
        whole = side(a, b, c)
        shares = [side(b, c, value), side(c, a, value), side(a, b, value)]
        shares = [share / whole for share in shares]
        if min(shares) >= 0:
            for row, share in zip(corners, shares, strict=True):
                found[row] = float(share)
            return found
    best = None
    for i, j in hull(spots):
        a, b = spots[i], spots[j]
        way = (b[0] - a[0], b[1] - a[1])
        length = way[0] ** 2 + way[1] ** 2
        share = ((value[0] - a[0]) * way[0] + (value[1] - a[1]) * way[1]) / length
        share = min(max(share, Fraction(0)), Fraction(1))
        off = [value[k] - a[k] - share * way[k] for k in (0, 1)]
        far = off[0] ** 2 + off[1] ** 2
        if best is None or far < best[0]:
            best = far, i, j, share
    assert best is not None
    _, i, j, share = best
    found[i], found[j] = float(1 - share), float(share)
    return found


def hull(spots: list[Spot]) -> list[tuple[int, int]]:
    """Pairs of points that all others are on one side of, or between."""
    found = []
    for i, a in enumerate(spots):
        for j, b in enumerate(spots):
            sides = [side(a, b, p) for p in spots]
            if i == j or min(sides) < 0:
                continue
            # Of several on one line those that follow each other.
            between = [
                p
                for p, s in zip(spots, sides, strict=True)
                if s == 0 and p not in (a, b) and min(a, b) < p < max(a, b)
            ]
            if not between:
                found.append((i, j))
    return found


@dataclass
class SlowBlend:
    """One character that blends; phase: parts of a clip, on the line of time."""

    scene: Scene
    space: BlendSpace
    phase: float = 0.0
    weights: Any = None
    voices: Any = None

    def set(self, value: Any) -> None:
        self.weights = weights(self.space, value)

    def clip(self, row: int) -> Clip:
        clip = self.scene.clips[self.space.clips[row]]
        assert isinstance(clip, Clip)
        return clip

    def advance(self, dt: float, speed: float = 1.0) -> None:
        """At the mean of the paces of the clips that have one."""
        pace = total = 0.0
        for row, weight in enumerate(self.weights):
            length = self.clip(row).duration
            if weight and length:
                pace += weight * speed / length
                total += weight
        if total:
            self.phase += pace / total * dt

    def pose(self) -> tuple[list[Any], Any]:
        """Parts and morph weights, as of a slow player."""
        poses, voices = [], []
        self.voices = self.voices or {}
        for row, weight in enumerate(self.weights):
            clip = self.clip(row)
            if not weight:
                self.voices.pop(row, None)
                continue
            voice = self.voices.setdefault(row, Voice(clip, "loop", 0.0, 1.0))
            moment = self.phase % 1.0 * clip.duration
            poses.append((weight, *local_parts(self.scene, clip, moment)))
            voices.append(voice)
        settle_sides(poses, voices)
        return mix(poses)
