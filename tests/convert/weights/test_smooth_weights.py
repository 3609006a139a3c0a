"""Smoothing: against the oracle, what it must keep, and that it ends smooth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.shape.body import Pull, merge_same
from flexor.convert.shape.surface import Surface, make_surface
from flexor.convert.weights.kernels import smooth as kernel
from flexor.convert.weights.smooth_weights import SmoothSettings, smooth_weights
from flexor.errors import SettingError
from tests.oracle import smooth as oracle


def random_surface(rng: Any, count: int, faces: int) -> Surface:
    places = rng.normal(size=(count, 3))
    corners = rng.integers(0, max(count, 1), (faces if count else 0, 3))
    return make_surface(places, np.zeros((count, 3)), corners.astype(np.int32))


def random_pull(rng: Any, count: int, joints: int) -> Pull:
    named = rng.integers(0, joints, (count, 3))
    return merge_same(named, rng.choice([0, 0.2, 0.5, 1], (count, 3)))


def grid(side: int, size: float = 1.0) -> Surface:
    """A square of side x side points, `size` metres wide."""
    y, x = np.divmod(np.arange(side * side), side)
    places = np.stack([x, y, 0 * x], 1) * size / (side - 1)
    at = (y * side + x)[(x < side - 1) & (y < side - 1)]
    faces = np.concatenate(
        [
            np.stack([at, at + 1, at + side], 1),
            np.stack([at + 1, at + 1 + side, at + side], 1),
        ]
    )
    normals = np.tile([0.0, 0, 1], (len(places), 1))
    return make_surface(places, normals, faces.astype(np.int32))


def halves(surface: Surface) -> Pull:
    """The left half on joint 0, the right half on joint 1."""
    joints = (surface.positions[:, :1] > 0.5).astype(np.int32)
    return Pull(joints, np.ones_like(joints, np.float32))


def thick(surface: Surface, radius: float) -> Any:
    return np.full(len(surface), radius, np.float32)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("joints", [1, 2, 12])
def test_a_step(count: int, joints: int, rng: Any) -> None:
    surface = random_surface(rng, count, 2 * count)
    pull = random_pull(rng, count, joints).widened(8)
    radii = rng.choice([0.0, 0.3, 1.0], count).astype(np.float32)
    slopes = np.divide(1, 2 * radii, out=np.zeros_like(radii), where=radii > 0)
    settings = SmoothSettings(most=1, enough=0)
    found = smooth_weights(surface, pull, radii, settings)
    wanted = oracle.smooth_step(surface, slopes.astype(float), pull.dense(joints))
    np.testing.assert_allclose(found.dense(joints), wanted, atol=2e-6)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 60),
    st.integers(1, 14),
    st.integers(0, 12),
)
def test_weights_stay_weights(seed: int, count: int, joints: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    surface = random_surface(rng, count, count)
    pull = random_pull(rng, count, joints)
    radii = rng.choice([0, 1e-6, 0.1, 1e3], count).astype(np.float32)
    found = smooth_weights(surface, pull, radii, SmoothSettings(most=steps))
    assert np.isfinite(found.weights).all()
    assert (found.weights >= 0).all()
    assert ((found.joints >= 0) == (found.weights > 0)).all()
    tied = pull.weights.any(1)
    np.testing.assert_allclose(found.weights.sum(1)[tied], 1, atol=1e-5)
    assert not found.weights[~tied].any()
    still = (radii == 0) | (np.diff(surface.starts) == 0)
    before, after = pull.dense(joints), found.dense(joints)
    assert (before[still] == after[still]).all()


@pytest.mark.parametrize(
    "side", [9, *(pytest.param(n, marks=pytest.mark.slow) for n in (33, 90))]
)
def test_a_step_becomes_a_slope_on_coarse_and_fine_surfaces(side: int) -> None:
    surface = grid(side)
    radii = thick(surface, 0.2)
    smooth = smooth_weights(surface, halves(surface), radii).dense(2)
    slopes = np.full(len(surface), 2.5)
    assert oracle.steepest(surface, slopes, halves(surface).dense(2)) > 2.5
    assert oracle.steepest(surface, slopes, smooth) < 1.6
    # From 0 to 1 over about 0.4 m, in the middle between the halves.
    x = surface.positions[:, 0]
    away = x - (x[x <= 0.5].max() + x[x > 0.5].min()) / 2
    right, far = smooth[:, 1], np.abs(away)
    assert np.abs(right[far > 0.3] - (away[far > 0.3] > 0)).max() < 0.1
    assert np.abs(right[far < 0.1] - 0.5 - 2.5 * away[far < 0.1]).max() < 0.16


@pytest.mark.slow
def test_what_is_smooth_stays_as_it_is(rng: Any) -> None:
    surface = grid(40)
    right = np.clip(0.5 + 1.5 * (surface.positions[:, 0] - 0.5), 0, 1)
    joints = np.tile(np.array([0, 1], np.int32), (len(surface), 1))
    pull = merge_same(joints, np.stack([1 - right, right], 1))
    found = smooth_weights(surface, pull, thick(surface, 0.2))
    np.testing.assert_allclose(found.dense(2), pull.dense(2), atol=3e-3)


@pytest.mark.slow
def test_thin_parts_keep_sharper_steps() -> None:
    surface = grid(33)
    soft = smooth_weights(surface, halves(surface), thick(surface, 0.3)).dense(2)
    sharp = smooth_weights(surface, halves(surface), thick(surface, 0.05)).dense(2)

    def mixed(weights: Any) -> int:
        return int(np.count_nonzero((weights[:, 1] > 0.02) & (weights[:, 1] < 0.98)))

    assert mixed(sharp) * 3 < mixed(soft)


def test_points_in_one_place_end_alike() -> None:
    """A crack: two points in one place that hang on different joints."""
    places = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]], float)
    faces = np.array([[0, 1, 1], [2, 3, 3]], np.int32)
    rows = np.array([[0], [0], [1], [1]], np.int32)
    surface = make_surface(places, np.zeros((4, 3)), faces, rows)
    pull = Pull(rows, np.ones((4, 1), np.float32))
    smooth = smooth_weights(surface, pull, thick(surface, 1)).dense(2)
    np.testing.assert_allclose(smooth[1], smooth[2], atol=1e-3)


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    surface = grid(60)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        found.append(smooth_weights(surface, halves(surface), thick(surface, 0.2)))
    for other in found[1:]:
        assert (found[0].joints == other.joints).all()
        assert (found[0].weights == other.weights).all()


def test_more_joints_than_slots_keep_the_largest() -> None:
    """A star whose middle has twelve neighbours on twelve joints."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)
    places = np.concatenate([[[0, 0, 0]], rim])
    faces = np.stack([0 * np.arange(12), 1 + np.arange(12), 1 + np.arange(12)], 1)
    surface = make_surface(places, np.zeros((13, 3)), faces.astype(np.int32))
    joints = np.arange(-1, 12, dtype=np.int32)[:, None].copy()
    joints[0] = 0
    pull = Pull(joints, np.ones((13, 1), np.float32))
    found = smooth_weights(surface, pull, thick(surface, 100), SmoothSettings(most=3))
    assert np.count_nonzero(found.weights[0]) == 8
    assert found.weights[0].sum() == pytest.approx(1, abs=1e-6)


def test_clusters_hold_neighbours() -> None:
    surface = grid(12)
    clusters = np.empty(len(surface), np.int32)
    count = kernel.gather_clusters(surface.starts, surface.neighbours, clusters)
    assert set(clusters.tolist()) == set(range(count))
    assert 3 * count < len(surface)
    for cluster in range(count):
        places = surface.positions[clusters == cluster]
        assert np.ptp(places, axis=0).max() <= 4.5 / 11


def test_means_of_clusters_and_changes_that_follow_them() -> None:
    """Two clusters of two: means, then a change, as far as the slope allows."""
    starts, members = np.array([0, 2, 4], np.int32), np.arange(4, dtype=np.int32)
    pull = merge_same(
        np.tile([0, 1], (4, 1)), np.array([[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]])
    )
    mean = Pull(np.empty((2, 2), np.int32), np.empty((2, 2), np.float32))
    own, marks = np.zeros(2, np.float32), np.full((2, 2), -1, np.int32)
    kernel.mean_weights(
        starts,
        members,
        pull.joints,
        pull.weights,
        own,
        marks,
        mean.joints,
        mean.weights,
    )
    np.testing.assert_allclose(mean.dense(2), [[0.75, 0.25], [0.25, 0.75]])
    now = merge_same(np.tile([0, 1], (2, 1)), np.array([[0.6, 0.4], [0.4, 0.6]]))
    slopes = np.array([1, 1, 0, 1], np.float32)
    changed = pull.widened(2)
    kernel.add_change(
        0,
        4,
        np.array([0, 0, 1, 1], np.int32),
        slopes,
        np.array([0.1, 1, 1, 1], np.float32),
        mean.joints,
        mean.weights,
        now.joints,
        now.weights,
        own,
        marks,
        changed.joints,
        changed.weights,
    )
    wanted = [[0.7, 0.3], [0.35, 0.65], [0.5, 0.5], [0.15, 0.85]]
    np.testing.assert_allclose(changed.dense(2), wanted, atol=1e-6)


@pytest.mark.parametrize(
    "words", [{"width": 0}, {"width": float("nan")}, {"most": -1}, {"enough": -0.1}]
)
def test_settings_that_are_refused(words: Any) -> None:
    with pytest.raises(SettingError, match=next(iter(words))):
        SmoothSettings(**words)


def test_progress_is_told() -> None:
    steps: list[int] = []
    surface = grid(5)
    smooth_weights(
        surface,
        halves(surface),
        thick(surface, 0.4),
        SmoothSettings(most=7, enough=0),
        advance=lambda: steps.append(1),
    )
    assert len(steps) == 7


def row_of_points(count: int) -> Surface:
    """Points a metre apart, each joined with the next."""
    places = np.zeros((count, 3))
    places[:, 0] = np.arange(count)
    at = np.arange(count - 1, dtype=np.int32)
    return make_surface(places, places * 0, np.stack([at, at + 1, at + 1], 1))


def count_steps(surface: Surface, pull: Pull, radii: Any, **words: Any) -> int:
    steps: list[int] = []
    settings = SmoothSettings(**words)
    smooth_weights(surface, pull, radii, settings, advance=lambda: steps.append(1))
    return len(steps)


def test_what_is_smooth_enough_ends_the_steps() -> None:
    surface = grid(5)
    radii = thick(surface, 0.4)
    rigid = Pull(np.zeros((25, 1), np.int32), np.ones((25, 1), np.float32))
    assert count_steps(surface, rigid, radii) == 1
    assert count_steps(surface, halves(surface), radii, enough=9) == 1
    some = count_steps(surface, halves(surface), radii, enough=0.25)
    assert 1 < some < count_steps(surface, halves(surface), radii, enough=0.05) < 100


def test_a_joint_of_one_point_alone_is_too_much_too() -> None:
    """The other point stays and hangs on four joints, each within what is allowed."""
    joints = np.array([[0, -1, -1, -1], [1, 2, 3, 4]], np.int32)
    weights = np.array([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]], np.float32)
    radii = np.array([0.5 / 0.3, 0], np.float32)
    pull = Pull(joints, weights)
    assert count_steps(row_of_points(2), pull, radii, enough=0.1, most=9) > 1


def test_a_neighbour_that_hangs_on_nothing_says_nothing() -> None:
    joints, weights = np.array([[0, 1], [-1, -1]]), np.array([[0.8, 0.2], [0, 0]])
    pull = Pull(joints.astype(np.int32), weights.astype(np.float32))
    surface = row_of_points(2)
    found = smooth_weights(surface, pull, thick(surface, 9), SmoothSettings(most=4))
    np.testing.assert_allclose(found.dense(2), pull.dense(2), atol=1e-7)


def test_small_weights_are_kept() -> None:
    surface, small = row_of_points(3), 5e-4
    joints = np.array([[0, 1], [0, 2], [3, 1]])
    weights = np.array([[1 - small, small], [1 - small, small], [1, 0]])
    pull = merge_same(joints, weights)
    found = smooth_weights(
        surface, pull, thick(surface, 50), SmoothSettings(most=1, enough=0)
    )
    wanted = oracle.smooth_step(surface, np.full(3, 0.01), pull.dense(4))
    assert (wanted[:2, 1:3].max(1) > 4e-4).all()
    np.testing.assert_allclose(found.dense(4), wanted, atol=1e-6)


def test_of_equal_weights_those_of_the_lower_joints_are_kept() -> None:
    rows = np.array([[3], [1], [2]], np.int32)
    mean = Pull(np.empty((1, 2), np.int32), np.empty((1, 2), np.float32))
    kernel.mean_weights(
        np.array([0, 3], np.int32),
        np.arange(3, dtype=np.int32),
        rows,
        np.ones((3, 1), np.float32),
        np.zeros(4, np.float32),
        np.full((2, 4), -1, np.int32),
        mean.joints,
        mean.weights,
    )
    assert mean.joints.tolist() == [[1, 2]]
    assert mean.weights.tolist() == [[0.5, 0.5]]


def test_points_that_stay_do_not_make_others_smoother() -> None:
    """On the coarser surfaces, clusters of some that change and some that do not."""
    surface = grid(40)
    stays = np.add(*np.divmod(np.arange(1600), 40)) % 2 == 0
    radii = np.where(stays, 0, 0.2).astype(np.float32)
    pull = halves(surface)
    pull.joints[stays], pull.weights[stays] = -1, 0
    right = smooth_weights(surface, pull, radii).dense(2)[~stays, 1]
    # From 0 to 1 over 0.4 m at most, so mixed on that part of the square.
    assert 0.2 < np.mean((right > 0.05) & (right < 0.95)) < 0.4


def test_smooth_step_leaves_its_work_space_clean() -> None:
    surface, room = grid(4), np.full((2, 2), -1, np.int32)
    pull = halves(surface).widened(8)
    then = Pull(np.empty_like(pull.joints), np.empty_like(pull.weights))
    kernel.smooth_step(
        0,
        len(surface),
        surface.starts,
        surface.neighbours,
        surface.lengths,
        thick(surface, 2),
        pull.joints,
        pull.weights,
        np.zeros((2, 2), np.float32),
        room,
        then.joints,
        then.weights,
        np.zeros(1, np.float32),
    )
    assert (room[0] == -1).all()
