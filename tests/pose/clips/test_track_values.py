"""Tracks in double precision against the slow twin and the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.maths import quaternions
from flexor.pose.clips.track_values import (
    angles_between,
    local_rows,
    one_sign,
    sample_slopes,
    sample_track,
    slerp,
)
from flexor.scene.character.skeleton import Link, Skeleton
from tests.oracle import pose as oracle
from tests.scenes import (
    INTERPOLATIONS,
    plain_scene,
    random_clip,
    random_rotations,
    random_skeleton,
    random_times,
    random_track,
)

Rng = np.random.Generator


@pytest.mark.parametrize("kind", INTERPOLATIONS)
@pytest.mark.parametrize("path", ["translation", "rotation", "scale", "weights"])
@pytest.mark.parametrize("keys", [1, 2, 6])
def test_sampled_as_the_twin(kind: Any, path: Any, keys: int, rng: Rng) -> None:
    track = random_track(rng, 0, path, kind, random_times(rng, keys), 5)
    moments = np.linspace(-0.5, float(track.times[-1]) + 0.5, 43)
    moments = np.concatenate([moments, track.times])
    got = sample_track(track, moments.reshape(-1, 1))[:, 0]
    for value, moment in zip(got, moments.tolist(), strict=True):
        expected = oracle.sample_track(track, moment)
        if path == "rotation" and value @ expected < 0:
            expected = -expected
        np.testing.assert_allclose(value, expected, atol=1e-9)


def test_slopes_are_those_of_the_values(rng: Rng) -> None:
    track = random_track(rng, 0, "rotation", "CUBICSPLINE", random_times(rng, 4))
    first, last = float(track.times[0]), float(track.times[-1])
    moments = np.linspace(first + 0.01, last - 0.01, 31)
    step = 1e-5
    ahead, behind = (sample_slopes(track, moments + s)[0] for s in (step, -step))
    _, slopes = sample_slopes(track, moments)
    np.testing.assert_allclose(slopes, (ahead - behind) / (2 * step), atol=1e-3)
    outside = sample_slopes(track, np.array([first - 1, last, last + 1]))[1]
    assert not outside.any()


def test_local_rows_are_those_of_a_pose(rng: Rng) -> None:
    plain = random_skeleton(rng, 6)
    parent = int(np.flatnonzero(plain.parents >= 0)[0])
    parents = np.append(plain.parents, plain.parents[parent])
    skeleton = Skeleton(
        (*plain.names, "link"),
        parents,
        np.concatenate([plain.translations, plain.translations[[parent]]]),
        np.concatenate([plain.rotations, plain.rotations[[parent]]]),
        np.ones((7, 3), "f4"),
        links={6: Link(parent, 0.25)},
    )
    clip = random_clip(rng, "c", 6)
    times = np.linspace(0, clip.duration, 9)
    moves, turns, sizes = local_rows(clip, skeleton, times)
    poses = Character(plain_scene(skeleton, clip)).pose_many("c", times)
    np.testing.assert_allclose(moves, poses.translations, atol=2e-5)
    np.testing.assert_allclose(sizes, poses.scales, atol=2e-5)
    gaps = angles_between(turns, quaternions.normalise(poses.rotations.astype("f8")))
    assert gaps.max() < 1e-4
    still = local_rows(None, skeleton, times[:2])
    np.testing.assert_allclose(still[0][1], skeleton.translations, atol=1e-6)


def test_slerp_takes_the_short_way(rng: Rng) -> None:
    a, b = random_rotations(rng, 2, 20)
    for u in (0.0, 0.3, 1.0):
        got = slerp(a, b, np.full(20, u))
        for row in range(20):
            np.testing.assert_allclose(
                np.abs(got[row] @ oracle.slerp(a[row], b[row], u)), 1, atol=1e-9
            )


def test_one_sign(rng: Rng) -> None:
    rows = random_rotations(rng, 9, 3) * rng.choice([-1, 1], (9, 3, 1))
    done = one_sign(rows)
    assert ((done[1:] * done[:-1]).sum(-1) >= 0).all()
    np.testing.assert_allclose(np.abs((done * rows).sum(-1)), 1, atol=1e-12)


@pytest.mark.parametrize("degrees", [1e-3, 0.5, 30, 90, 179])
def test_angles_between_turns(rng: Rng, degrees: float) -> None:
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)

    def turn(angle: float) -> Any:
        half = np.radians(angle) / 2
        return np.append(np.sin(half) * way, np.cos(half))

    for sign in (1, -1):
        got = float(angles_between(turn(20), sign * turn(20 + degrees)))
        assert got == pytest.approx(np.radians(degrees), rel=1e-6)
