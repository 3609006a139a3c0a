"""Packed clips made of numbers, and scenes whose motion can be packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.motion.pack_numbers import pack_numbers
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene
from tests.scenes import plain_scene

Rng = np.random.Generator


def packed_clip(
    rng: Rng,
    frames: int = 23,
    turning: int = 3,
    moving: int = 2,
    keyed: tuple[Track, ...] = (),
    size: int = 300,
) -> PackedClip:
    """Rotations of nodes 0, 1, ..., then vectors of the same nodes, some columns left
    out, wandering by whole numbers.
    """
    columns = 3 * (turning + moving)
    slots = np.flatnonzero(rng.random(columns) < 0.8)
    walk = rng.integers(-size // 9, size // 9 + 1, (frames, len(slots)))
    numbers = np.cumsum(walk, 0) // 3
    made = pack_numbers(numbers)
    assert made is not None
    segment, widths, words = made
    factors = rng.normal(size=(turning, 2, 4))
    factors /= np.linalg.norm(factors, axis=2, keepdims=True)
    return PackedClip(
        name="packed",
        start=0.25,
        rate=30.0,
        frames=frames,
        duration=0.25 + (frames - 1) / 30,
        segment=segment,
        rotation_nodes=np.arange(turning),
        turns=np.rint(factors.reshape(-1, 8) * 32767),
        vector_nodes=np.arange(moving),
        vector_paths=np.arange(moving) % 2,
        bases=rng.normal(size=(moving, 3)),
        slots=slots,
        steps=rng.uniform(0.5, 1, len(slots)) * 1e-3,
        widths=widths,
        words=words,
        keyed=keyed,
    )


def arm(count: int = 6, size: float = 1.0) -> Skeleton:
    """A chain of bones, each a quarter of a metre (times size) long."""
    places = np.tile(np.array([[0.25 * size, 0, 0]], np.float32), (count, 1))
    places[:1] = 0
    return Skeleton(
        tuple(f"bone{n}" for n in range(count)),
        np.arange(count) - 1,
        places,
        np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
        np.ones((count, 3)),
    )


def wave(rng: Rng, count: int = 6, frames: int = 61, start: float = 0.0) -> Clip:
    """Smooth turns of all bones and a wandering root, 60 frames a second."""
    times = (start + np.arange(frames) / 60).astype(np.float32)
    u = np.arange(frames)[:, None] / 60
    tracks = []
    for node in range(count):
        speed, phase = rng.uniform(2, 9, (1, 3)), rng.uniform(0, 6, (1, 3))
        angles = 0.4 * np.sin(speed * u + phase)
        values = np.concatenate([angles, np.ones((frames, 1))], 1)
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        tracks.append(Track(node, "rotation", times, values))
    places = np.concatenate([u, np.sin(3 * u), 0 * u], 1)
    tracks.append(Track(0, "translation", times, places))
    return Clip("wave", tuple(tracks))


def wave_scene(rng: Rng, **more: Any) -> Scene:
    return plain_scene(arm(), wave(rng, **more))
