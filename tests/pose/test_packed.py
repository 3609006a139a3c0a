"""Packed clips, sampled from their bits, against the slow twin: `sample_packed`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.pose import packed_tables
from flexor.pose.clip_tables import pack_clip
from flexor.pose.kernels import packed as kernel_packed
from flexor.pose.layout import make_layout
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Track
from flexor.scene.runtime.packed_clip import PackedClip
from tests.oracle import packed as oracle
from tests.packed_clips import arm, packed_clip
from tests.scenes import plain_scene


def sampled(clip: PackedClip, nodes: int, *rounds: Any) -> Any:
    """Parts (N, J, 10) after sampling one round of moments after another."""
    layout = make_layout(plain_scene(arm(nodes)))
    state = init_sample(pack_clip(clip, layout), layout, len(rounds[0]))
    for moments in rounds:
        sample(state, np.asarray(moments, np.float32))
    rows = state.local.reshape(len(rounds[0]), 10, -1)
    return rows[:, :, layout.lane_of_node].transpose(0, 2, 1)


def check(clip: PackedClip, nodes: int, moments: Any, got: Any) -> None:
    for moment, parts in zip(moments, got, strict=True):
        wanted = oracle.local_parts(arm(nodes), clip, float(np.float32(moment)))
        turned = (parts[:, 3:7] * wanted[:, 3:7]).sum(1, keepdims=True) < 0
        wanted[:, 3:7] = np.where(turned, -wanted[:, 3:7], wanted[:, 3:7])
        np.testing.assert_allclose(parts, wanted, atol=4e-6)


@pytest.mark.parametrize("frames", [1, 2, 4, 5, 6, 23, 70])
def test_anywhere(rng: Any, frames: int) -> None:
    clip = packed_clip(rng, frames, turning=9, moving=3)
    end = clip.duration
    moments = [-1, 0.25, end, end + 1, *rng.uniform(0.2, end + 0.05, 12)]
    check(clip, 10, moments, sampled(clip, 10, moments))


def test_any_way_there_gives_the_same_bits(rng: Any) -> None:
    clip = packed_clip(rng, 50)
    end = np.array([1.1], np.float32)
    ways = [
        [end],
        [[0.0], end],
        [[t] for t in np.arange(0, 1.1, 1 / 60)] + [end],
        [[9.0], [0.3], end],
        [[1.2], end],
        [[t] for t in np.arange(0.25, 1.1, 2 / 15)] + [end],
    ]
    made = [sampled(clip, 4, *way) for way in ways]
    for one in made[1:]:
        assert one.tobytes() == made[0].tobytes()


def test_a_crowd_is_many_single_ones(rng: Any) -> None:
    clip = packed_clip(rng, 41)
    rounds = rng.uniform(0, 2, (5, 6))
    crowd = sampled(clip, 4, *rounds)
    for n in range(6):
        alone = sampled(clip, 4, *rounds[:, n : n + 1])
        assert alone[0].tobytes() == crowd[n].tobytes()


def test_beside_tracks_with_keys(rng: Any) -> None:
    q = rng.normal(size=(3, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    times = np.array([0.3, 0.5, 0.8])
    keyed = (
        Track(5, "rotation", times, q, "STEP"),
        Track(6, "rotation", times[:1], q[:1]),
        Track(4, "translation", times, rng.normal(size=(3, 3))),
        Track(4, "scale", times[:1], np.full((1, 3), 2.0)),
    )
    clip = packed_clip(rng, 30, keyed=keyed)
    moments = [0.0, 0.4, 0.5, 0.79, 2.0]
    check(clip, 8, moments, sampled(clip, 8, moments))


def test_only_tracks_with_keys(rng: Any) -> None:
    keyed = (Track(1, "translation", np.array([0.0, 1]), rng.normal(size=(2, 3))),)
    clip = packed_clip(rng, 1, 0, 0, keyed)
    check(clip, 3, [0.0, 0.5, 3], sampled(clip, 3, [0.0, 0.5, 3]))


def test_moments_that_are_no_times_give_the_first_frame(rng: Any) -> None:
    clip = packed_clip(rng)
    got = sampled(clip, 4, [np.nan, -np.inf, 0.0])
    assert got[0].tobytes() == got[1].tobytes() == got[2].tobytes()
    late = sampled(clip, 4, [np.inf, 1e30])
    assert late[0].tobytes() == late[1].tobytes()


def test_tracks_say_the_same_as_the_sampler(rng: Any) -> None:
    clip = packed_clip(rng, 30)
    scene = plain_scene(arm(4), clip)
    hero = Character(scene)
    moments = np.linspace(0, 1.3, 40)
    packed = hero.pose_many("packed", moments)
    from flexor.scene.runtime.packed_clip import unpacked

    plain = Character(plain_scene(arm(4), unpacked(clip))).pose_many("packed", moments)
    np.testing.assert_allclose(packed.world, plain.world, atol=1e-5)
    assert hero.clips["packed"].duration == clip.duration


def test_numbers_of_the_kernel_are_those_of_the_tables() -> None:
    for name in ("WIDTH", "AS_LANES", "TURNS"):
        assert getattr(packed_tables, name) == getattr(kernel_packed, name)
