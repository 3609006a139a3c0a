"""A slow twin of the player: one character, plain loops, float64.

It keeps fades as they are told, each fading from all that was before it, and events on
the whole line of time, where the player has weights, circles and tables. The kernels
`play_on`, `find_events` and `top_speed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.pose.play.layers import Layer
from flexor.scene.character.clip import Clip
from flexor.scene.scene import Scene
from tests.oracle import pose as oracle

PATHS = {"translation": 0, "rotation": 1, "scale": 2}


@dataclass
class Voice:
    """A clip being played; at: seconds on the line of time, not wrapped.

    turns: (J, 4), with which sides it was mixed before; None: it was alone.
    """

    clip: Clip
    mode: str
    at: float
    speed: float
    turns: Any = None

    def time(self) -> float:
        return fold(self.at, self.mode, self.clip.duration)


@dataclass
class Fade:
    """From all that was before to a voice, or to nothing (None)."""

    before: Fade | None
    voice: Voice | None
    length: float
    elapsed: float = 0.0

    def part(self) -> float:
        if self.elapsed >= self.length * (1 - 1e-9):
            return 1.0
        return self.elapsed / self.length


@dataclass
class SlowPlayer:
    """One character. weights: of layers; speed: of its clock."""

    scene: Scene
    layers: list[Layer]
    masks: list[Any]
    speed: float = 1.0
    fades: list[Fade | None] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fades = [None] * len(self.layers)
        self.weights = [layer.weight for layer in self.layers]

    def play(
        self, layer: int, clip: Clip, mode: str, speed: float, start: float, fade: float
    ) -> None:
        voice = Voice(clip, mode, start, speed)
        self.fades[layer] = Fade(self.fades[layer], voice, fade)

    def stop(self, layer: int, fade: float) -> None:
        self.fades[layer] = Fade(self.fades[layer], None, fade)

    def advance(self, dt: float) -> None:
        """Only the newest fade goes on: the ones before it stand as they were left."""
        dt = dt * self.speed
        for fade in self.fades:
            if fade is None:
                continue
            fade.elapsed += abs(dt)
            if fade.part() == 1:
                fade.before = None
            one: Fade | None = fade
            while one is not None:
                if one.voice is not None:
                    one.voice.at = step(one.voice, dt)
                one = one.before

    def shares(self, layer: int) -> list[tuple[float, Voice]]:
        """Weights of the voices of a layer, the oldest first."""
        found, left, fade = [], 1.0, self.fades[layer]
        while fade is not None:
            part = fade.part()
            if fade.voice is not None and left * part > 0:
                found.append((left * part, fade.voice))
            left *= 1 - part
            fade = fade.before
        return found[::-1]

    def pose(self) -> tuple[list[Any], Any]:
        """Local parts (J, 3), (J, 4), (J, 3) and morph weights (W,)."""
        parts, numbers = local_parts(self.scene, None, 0.0)
        columns = morph_nodes(self.scene)
        for k, layer in enumerate(self.layers):
            shares = self.shares(k)
            whole = sum(weight for weight, _ in shares)
            if whole == 0 or self.weights[k] == 0:
                for _, voice in shares:
                    voice.turns = None
                continue
            poses = []
            for weight, voice in shares:
                pose, own = local_parts(self.scene, voice.clip, voice.time())
                if layer.additive:
                    is_rest = layer.reference == "rest"
                    base = None if is_rest else voice.clip
                    pose, own = minus((pose, own), local_parts(self.scene, base, 0.0))
                poses.append((weight / whole, pose, own))
            settle_sides(poses, [voice for _, voice in shares])
            mixed, own = mix(poses)
            amount = self.masks[k].astype(np.float64) * self.weights[k] * whole
            lay = add if layer.additive else cover
            lay(parts, mixed, amount)
            share = amount[columns] if len(columns) else np.zeros(0)
            numbers = (
                numbers + share * own
                if layer.additive
                else numbers * (1 - share) + own * share
            )
        return parts, numbers


def step(voice: Voice, dt: float) -> float:
    """Where a voice is after a step; `once` ends at the ends."""
    at = voice.at + voice.speed * dt
    return min(max(at, 0.0), voice.clip.duration) if voice.mode == "once" else at


def fold(at: float, mode: str, duration: float) -> float:
    """Seconds in the clip of a moment on the line of time."""
    if mode == "once":
        return min(max(at, 0.0), duration)
    if duration <= 0:
        return 0.0
    if mode == "loop":
        return at % duration
    at = at % (2 * duration)
    return at if at <= duration else 2 * duration - at


def morph_nodes(scene: Scene) -> Any:
    """The node of each column of morph weights."""
    nodes = [
        [node] * len(scene.rest_weights(node))
        for node in range(len(scene.skeleton))
        if scene.node_mesh[node] >= 0
    ]
    return np.array([node for part in nodes for node in part], int)


def local_parts(scene: Scene, clip: Clip | None, time: float) -> tuple[list[Any], Any]:
    rest = scene.skeleton
    parts = [
        rest.translations.astype(np.float64),
        rest.rotations.astype(np.float64),
        rest.scales.astype(np.float64),
    ]
    for track in clip.tracks if clip else ():
        if track.path != "weights":
            value = oracle.sample_track(track, time)
            parts[PATHS[track.path]][track.node] = value
    return parts, oracle.morph_weights(scene, clip, time)


def multiply(a: Any, b: Any) -> Any:
    """Turn by b, then by a; (4,) each."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def mix_turns(turns: list[tuple[float, Any]]) -> Any:
    """Weighted rotations on the shortest arc, as long as they were."""
    total, square = np.zeros(4), 0.0
    for weight, q in turns:
        total = total + (weight if total @ q >= 0 else -weight) * q
        square += weight * (q @ q)
    return total * math.sqrt(square / max(total @ total, 1e-30))


def settle_sides(poses: list[Any], voices: list[Voice]) -> None:
    """Turn signs of rotations to where they were in the moment before, in place.

    Of a voice that is new in the mix, to the side of those before it.
    """
    if len(voices) == 1:
        voices[0].turns = None
        return
    total = np.zeros_like(poses[0][1][1])
    for (weight, parts, _), voice in zip(poses, voices, strict=True):
        near = total if voice.turns is None else voice.turns
        dots = (near * parts[1]).sum(-1, keepdims=True)
        parts[1] = np.where(dots < 0, -parts[1], parts[1])
        voice.turns = parts[1]
        total = total + weight * parts[1]


def mix(poses: list[tuple[float, list[Any], Any]]) -> tuple[list[Any], Any]:
    parts = [sum(w * pose[i] for w, pose, _ in poses) for i in range(3)]
    for node in range(len(parts[0])):
        turns = [(w, pose[1][node]) for w, pose, _ in poses]
        total, square = sum(w * q for w, q in turns), sum(w * (q @ q) for w, q in turns)
        parts[1][node] = total * math.sqrt(square / max(total @ total, 1e-30))
    return parts, sum(w * own for w, _, own in poses)


def minus(pose: Any, base: Any) -> tuple[list[Any], Any]:
    """What a pose adds to another."""
    (moves, turns, sizes), own = pose
    (from_moves, from_turns, from_sizes), from_own = base
    added = np.array(turns)
    for node, (q, p) in enumerate(zip(turns, from_turns, strict=True)):
        d = multiply(p * [-1, -1, -1, 1], q)
        d = d / max(np.linalg.norm(d), 1e-15)
        added[node] = d if d[3] >= 0 else -d
    return [moves - from_moves, added, sizes / from_sizes], own - from_own


def cover(parts: list[Any], over: list[Any], amount: Any) -> None:
    for node, w in enumerate(amount):
        for i in (0, 2):
            parts[i][node] = parts[i][node] * (1 - w) + over[i][node] * w
        pair = [(1 - w, parts[1][node]), (w, over[1][node])]
        parts[1][node] = mix_turns(pair if w < 1 else pair[::-1])


def add(parts: list[Any], over: list[Any], amount: Any) -> None:
    for node, w in enumerate(amount):
        parts[0][node] += over[0][node] * w
        parts[2][node] *= 1 + (over[2][node] - 1) * w
        short = over[1][node] if over[1][node][3] >= 0 else -over[1][node]
        part = short * w + np.array([0, 0, 0, 1 - w])
        part = part / np.linalg.norm(part)
        parts[1][node] = multiply(parts[1][node], part)


def passed(
    times: list[float],
    mode: str,
    duration: float,
    start: float,
    before: float,
    after: float,
    is_first: bool,
) -> list[tuple[float, float]]:
    """Moments on the line of time, and times in the clip, of events in one step.

    before, after: where the voice was and is on that line, not wrapped; is_first: it
    had not moved before, so that what is at `start`, its time in the clip, counts.
    """
    found = [(before, time) for time in times if is_first and time == start]
    for time in times:
        for moment in moments(
            time, mode, duration, min(before, after), max(before, after)
        ):
            if (before < moment <= after) or (after <= moment < before):
                found.append((moment, time))
    return found


def moments(
    time: float, mode: str, duration: float, low: float, high: float
) -> list[float]:
    """All moments near low to high at which a voice is at a time of its clip."""
    if mode == "once" or duration <= 0:
        return [time]
    length = duration if mode == "loop" else 2 * duration
    first, last = math.floor(low / length) - 1, math.ceil(high / length) + 1
    rounds = range(first, last + 1)
    spots = {time + k * length for k in rounds}
    if mode == "ping-pong":
        spots |= {k * length - time for k in rounds}
    return sorted(spots)


def top_speed(speeds: Any, places: Any) -> float:
    """The largest speed; -1 where one is NaN, -2 where a place is not finite."""
    for speed, place in zip(speeds, places, strict=True):
        if math.isnan(speed):
            return -1.0
        if not all(math.isfinite(number) for number in place):
            return -2.0
    return max((abs(float(speed)) for speed in speeds), default=0.0)
