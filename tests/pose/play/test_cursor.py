"""Key cursors: any way through a clip gives the same bits, and steps cost little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.pose.clip_tables import pack_clip
from flexor.pose.kernels import sample as kernel
from flexor.pose.layout import make_layout
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip, Track
from tests.oracle import pose as oracle
from tests.scenes import (
    INTERPOLATIONS,
    plain_scene,
    random_clip,
    random_scene,
    random_skeleton,
)

Rng = np.random.Generator


def ways(rng: Rng, keys: Any) -> dict[str, Any]:
    """Sequences of moments, all on and between keys."""
    forward = np.linspace(0, keys[-1] + 0.3, 23)
    on_and_off = np.sort(np.concatenate([keys, (keys[1:] + keys[:-1]) / 2]))
    mixed = np.concatenate([forward, on_and_off])
    return {
        "forward": forward,
        "through keys": on_and_off,
        "backward": on_and_off[::-1],
        "random": rng.permutation(mixed),
        "ping-pong": np.concatenate([on_and_off, on_and_off[::-1], on_and_off]),
        "loop": np.tile(forward, 2),
        "still": np.full(4, keys[1]),
    }


@pytest.mark.parametrize("kind", [*INTERPOLATIONS, None])
@pytest.mark.parametrize(
    "way",
    ["forward", "through keys", "backward", "random", "ping-pong", "loop", "still"],
)
def test_any_way_gives_the_bits_of_a_fresh_state(kind: Any, way: str, rng: Rng) -> None:
    clip = random_clip(rng, "clip", 9, interpolation=kind, keys=11)
    scene = plain_scene(random_skeleton(rng, 9), clip)
    layout = make_layout(scene)
    tables = pack_clip(clip, layout)
    keys = max((track.times for track in clip.tracks), key=len)
    state = init_sample(tables, layout, 1)
    for moment in ways(rng, keys)[way]:
        now = np.array([moment], np.float32)
        sample(state, now)
        fresh = sample(init_sample(tables, layout, 1), now)
        assert state.local.tobytes() == fresh.local.tobytes()
        np.testing.assert_array_equal(state.cursors, fresh.cursors)


def test_zeros_keep_their_sign(rng: Rng) -> None:
    """Turns about one axis have zeros in their keys, and -0 where a key is flipped."""
    times = np.arange(12, dtype=np.float32)
    angles = rng.uniform(0, 3, 12)
    keys = np.stack([0 * angles, np.sin(angles), 0 * angles, np.cos(angles)], 1)
    keys *= rng.choice([-1, 1], (12, 1))
    clip = Clip("clip", (Track(1, "rotation", times, keys),))
    layout = make_layout(plain_scene(random_skeleton(rng, 3)))
    tables = pack_clip(clip, layout)
    state = init_sample(tables, layout, 1)
    for moment in rng.permutation(np.repeat(np.arange(0, 12, 0.5), 3)):
        now = np.array([moment], np.float32)
        fresh = sample(init_sample(tables, layout, 1), now)
        assert sample(state, now).local.tobytes() == fresh.local.tobytes()


def test_cursors_are_the_last_keys(rng: Rng) -> None:
    clip = random_clip(rng, "clip", 6, keys=9)
    layout = make_layout(plain_scene(random_skeleton(rng, 6)))
    tables = pack_clip(clip, layout)
    state = init_sample(tables, layout, 1)
    for moment in rng.permutation(np.linspace(0, 4, 30)).astype(np.float32):
        sample(state, np.array([moment]))
        for line, (start, count) in enumerate(tables.timelines):
            times = tables.times[start : start + count]
            assert state.cursors[0, line] == oracle.find_key(times, moment)


@pytest.mark.parametrize("name", ["linear", "step", "cubic", "mixed"])
def test_a_crowd_has_the_bits_of_each_alone(name: str, rng: Rng) -> None:
    hero = Character(random_scene(rng, nodes=9))
    times = np.concatenate([track.times for track in hero.clips[name].tracks])
    moments = rng.permutation(np.concatenate([times[:20], rng.uniform(0, 3, 20)]))
    many = hero.pose_many(name, moments)
    assert len(many) == 40
    for n, moment in enumerate(moments):
        one = hero.pose(name, moment)
        for part in ("translations", "rotations", "scales", "world", "weights"):
            assert getattr(one, part).tobytes() == getattr(many[n], part).tobytes(), (
                part
            )


def test_each_character_of_a_crowd_has_its_own_cursor(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    tables = hero.clip_tables("mixed")
    state = init_sample(tables, hero.layout, 3)
    for step in range(20):
        moments = np.array([0.1 * step, 2 - 0.1 * step, 0.7], np.float32)
        sample(state, moments)
        for n in range(3):
            fresh = sample(init_sample(tables, hero.layout, 1), moments[n : n + 1])
            assert state.local[n].tobytes() == fresh.local[0].tobytes()
            assert state.weights[n].tobytes() == fresh.weights[0].tobytes()


class Counter:
    """Stands in for `take` and counts the key times that are looked at."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, array: Any, at: int) -> Any:
        self.count += 1
        assert 0 <= at < len(array)
        return array[at]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter:
    counter = Counter()
    monkeypatch.setattr(kernel, "take", counter)
    return counter


def find_key(times: Any, start: int, count: int, cursor: int, time: float) -> int:
    plain = getattr(kernel._find_key, "py_func", kernel._find_key)
    return int(plain(times, start, count, cursor, np.float32(time)))


@pytest.mark.parametrize("count", [10, 1000, 100_000])
def test_a_step_forward_looks_at_few_keys(count: int, looks: Counter) -> None:
    """Within the span, into the next one, and at the end: the same for any length."""
    times = np.arange(count, dtype=np.float32)
    for cursor in (0, count // 2, count - 2, count - 1):
        for step in (0, 0.5, 1.0, 1.5):
            looks.count = 0
            key = find_key(times, 0, count, cursor, cursor + step)
            assert key == min(cursor + int(step), count - 1)
            assert looks.count <= 3


@pytest.mark.parametrize("count", [10, 1000, 100_000])
def test_a_jump_looks_at_few_keys(count: int, looks: Counter, rng: Rng) -> None:
    """Back or far forward: the logarithm of the number of keys."""
    times = np.arange(count, dtype=np.float32)
    for _ in range(50):
        looks.count = 0
        cursor, time = int(rng.integers(count)), float(rng.uniform(-2, count + 2))
        key = find_key(times, 0, count, cursor, time)
        assert key == min(max(int(np.floor(time)), 0), count - 1)
        assert looks.count <= 6 + np.ceil(np.log2(count))


@pytest.mark.parametrize("count", range(1, 14))
def test_find_key_is_right_from_everywhere(
    count: int, looks: Counter, rng: Rng
) -> None:
    """All cursors, on keys and between, in the middle of a longer array."""
    own = np.sort(rng.uniform(0, 9, count)).astype(np.float32)
    times = np.concatenate([[-7, 3], own, [0.5, 99]]).astype(np.float32)
    middles = (own[1:] + own[:-1]) / 2
    for cursor in range(count):
        for time in (*own, *middles, -1, 20):
            key = find_key(times, 2, count, cursor, time)
            assert key == oracle.find_key(own, np.float32(time))
