"""Endless textures: how they are blended, their steps, which frame is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.api.character import Character
from flexor.api.pictures.drawing import Drawer
from flexor.errors import SettingError, ShapeError
from flexor.maths.colour import linear_from_srgb, srgb_from_linear
from flexor.scene.stage.effect_settings import EndlessSettings
from flexor.stage.effects.endless import (
    blend_frame,
    blend_series,
    fade_weights,
    frame_at,
    loop_series,
    step_size,
    step_sizes,
    water_series,
)

Rng = np.random.Generator
RATE = 30


def plain_blend(one: Any, two: Any, opacity: float) -> Any:
    """One pixel (C,) of bytes over another, slowly and in plain numbers."""
    colours = 1 if len(one) <= 2 else 3
    has_alpha = len(one) > colours
    low, high = (p[colours] / 255 if has_alpha else 1.0 for p in (one, two))
    alpha = opacity * high + (1 - opacity) * low
    share = opacity * high / alpha if alpha > 0 else opacity
    light = linear_from_srgb(two[:colours]) * share
    light += linear_from_srgb(one[:colours]) * (1 - share)
    levels = srgb_from_linear(light)
    return np.append(levels, alpha * 255) if has_alpha else levels


def random_series(rng: Rng, channels: int, count: int = 5) -> Any:
    return rng.integers(0, 256, (count, 6, 7, channels), np.uint8)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_bytes_are_mixed_in_linear_light(rng: Rng, channels: int) -> None:
    first, second = random_series(rng, channels), random_series(rng, channels)
    if channels in (2, 4):
        first[:, 0, :, -1] = second[:, :2, :, -1] = 0
    loop = blend_series(first, second)
    weights = fade_weights(5)
    for spot in np.ndindex(loop.shape[:3]):
        wanted = plain_blend(first[spot], second[spot], float(weights[spot[0]]))
        np.testing.assert_allclose(loop[spot], wanted, atol=0.55)


def test_weights_fall_evenly_from_one_to_nothing() -> None:
    np.testing.assert_allclose(fade_weights(5), [1, 0.75, 0.5, 0.25, 0])
    assert fade_weights(1).tolist() == [1]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("keep", [False, True])
def test_the_loop_runs_from_the_second_to_the_first(
    rng: Rng, channels: int, keep: bool
) -> None:
    first, second = random_series(rng, channels), random_series(rng, channels)
    loop = blend_series(first, second, keep_contrast=keep)
    assert (loop[0] == second[0]).all()
    assert (loop[-1] == first[-1]).all()
    assert step_sizes(loop)[-1] == step_size(first[-1], second[0])


@pytest.mark.parametrize("keep", [False, True])
def test_blending_a_series_with_itself_changes_nothing(rng: Rng, keep: bool) -> None:
    same = random_series(rng, 4)
    assert (blend_series(same, same, keep_contrast=keep) == same).all()
    light = rng.random((3, 4, 5, 3), np.float32)
    mixed = blend_series(light, light, keep_contrast=keep)
    np.testing.assert_allclose(mixed, light, atol=1e-5)


def test_floats_are_light_already(rng: Rng) -> None:
    first, second = rng.random((2, 4, 6, 7, 3), np.float32)
    weights = fade_weights(4)[:, None, None, None]
    wanted = weights * second + (1 - weights) * first
    np.testing.assert_allclose(blend_series(first, second), wanted, atol=1e-6)


def test_results_go_where_the_caller_says(rng: Rng) -> None:
    first, second = random_series(rng, 3), random_series(rng, 3)
    wanted = blend_series(first, second)
    room = np.empty_like(first)
    assert blend_series(first, second, out=room) is room
    assert (room == wanted).all()
    assert blend_series(first, second.copy(), out=first) is first
    assert (first == wanted).all()


def test_light_stays_the_same(rng: Rng) -> None:
    """A surface seen from far away does not pulse."""
    long = water_series(24, (64, 64), rng)
    light = linear_from_srgb(long[..., :3]).mean((1, 2, 3))
    weights = fade_weights(12)
    wanted = weights * light[12:] + (1 - weights) * light[:12]
    loop = linear_from_srgb(blend_series(long[:12], long[12:])[..., :3])
    np.testing.assert_allclose(loop.mean((1, 2, 3)), wanted, rtol=1e-3)


def test_contrast_is_kept(rng: Rng) -> None:
    first, second = 0.5 + 0.1 * rng.standard_normal((2, 9, 64, 64, 1), np.float32)
    dull = blend_series(first, second).std((1, 2, 3))
    kept = blend_series(first, second, keep_contrast=True)
    assert dull[4] == pytest.approx(0.1 / np.sqrt(2), rel=0.05)
    np.testing.assert_allclose(kept.std((1, 2, 3)), 0.1, rtol=0.05)
    np.testing.assert_allclose(kept.mean((1, 2, 3)), 0.5, atol=0.01)
    grey = np.full((4, 4, 1), 0.25, np.float32)  # has none
    assert (blend_frame(grey, grey, 0.5, keep_contrast=True) == grey).all()
    edge = np.where(np.arange(4) < 2, 0.0, 1.0).astype(np.float32).reshape(1, 4, 1)
    mixed = blend_frame(edge, 1 - edge, 0.5, keep_contrast=True)
    np.testing.assert_allclose(mixed, 0.5)  # nothing is left that could be raised


@pytest.mark.parametrize("overlap", [2, 4, 6])
def test_a_loop_of_one_long_series(rng: Rng, overlap: int) -> None:
    long = random_series(rng, 3, 13)
    loop = loop_series(long, overlap)
    count = 13 - overlap
    assert len(loop) == count
    assert (loop[0] == long[count]).all()
    assert (loop[overlap - 1 : count] == long[overlap - 1 : count]).all()
    assert (loop[:overlap] == blend_series(long[:overlap], long[count:])).all()
    room = np.empty_like(loop)
    assert loop_series(long, overlap, out=room) is room
    assert (room == loop).all()
    halves = loop_series(long[:12], 6)
    assert (halves == blend_series(long[:6], long[6:12])).all()


def test_steps() -> None:
    series = np.zeros((3, 2, 2, 3), np.uint8)
    series[1], series[2] = 10, 13
    np.testing.assert_allclose(step_sizes(series), [10, 3, 13])
    solid = np.full((3, 2, 2, 4), 255, np.uint8)
    solid[..., :3] = series
    np.testing.assert_allclose(step_sizes(solid), [10, 3, 13])
    solid[..., 3] = 0  # what does not show makes no step
    assert not step_sizes(solid).any()
    light = (series / 255).astype(np.float32)
    np.testing.assert_allclose(step_sizes(light), np.array([10, 3, 13]) / 255)
    assert step_sizes(series[:1]).tolist() == [0]


@pytest.mark.parametrize("count", [12, 30])
@pytest.mark.parametrize("metres", [2.0, 4.0, 8.0])
def test_water_has_no_seam(count: int, metres: float) -> None:
    """The step from last to first is not larger than the largest inside."""
    for seed in range(4):
        long = water_series(2 * count, (48, 32), seed, metres=metres)
        first, second = long[:count], long[count:]
        steps = step_sizes(blend_series(first, second, keep_contrast=True))
        assert steps[-1] <= steps[:-1].max()
        # Without, all else moves less; the step between the series is what it was.
        plain = step_sizes(blend_series(first, second))
        assert plain[-1] == steps[-1]
        assert plain[-1] <= 1.1 * plain[:-1].max()
        assert plain[-1] < step_size(first[-1], first[0]) / 2


def test_water_fits_together_at_its_borders() -> None:
    (picture,) = water_series(1, (64, 48), 3)[..., :3].astype(np.float32)
    for axis in (0, 1):
        steps = np.abs(np.roll(picture, -1, axis) - picture).mean((1 - axis, 2))
        assert steps[-1] <= steps[:-1].max()


def test_water_does_not_repeat_and_is_the_same_again() -> None:
    series = water_series(40, (32, 32), 7)
    assert (series[..., 3] == 255).all()
    assert min(step_size(series[0], other) for other in series[1:]) > 3
    again = water_series(40, (32, 32), np.random.default_rng(7))
    assert (again == series).all()
    assert (water_series(40, (32, 32), 8) != series).any()
    assert water_series(1, (16, 8), 7).shape == (1, 8, 16, 4)


def test_which_frame() -> None:
    near, far = [0.0, 10.0], [40.0, 1e9, np.inf]
    for tick in range(90):
        shown = frame_at(tick / RATE, near + far, 30)
        assert shown.dtype == np.int32
        assert shown.tolist() == [tick % 30] * 2 + [tick % 30 // 5 * 5] * 3
    assert frame_at(-1 / RATE, [0.0], 30).tolist() == [29]
    assert frame_at(0.5, [], 30).tolist() == []
    assert frame_at(1.0, np.array([3], np.int32), 7).tolist() == [2]


def test_fewer_frames_the_farther_away() -> None:
    rule = EndlessSettings(rate=10.0, near=5.0, far=9.0, far_step=5)
    metres = np.array([4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    shown = np.array([frame_at(t / 10, metres, 60, rule) for t in range(60)])
    kinds = [len(np.unique(column)) for column in shown.T]
    assert kinds == [60, 60, 30, 20, 15, 12]
    switch = EndlessSettings(near=5.0, far=5.0, far_step=4)
    assert frame_at(7 / RATE, [5.0, 5.1], 30, switch).tolist() == [7, 4]


@settings(max_examples=60)
@given(
    seconds=st.floats(-1e4, 1e4),
    metres=st.lists(st.floats(0, 1e6), max_size=5),
    count=st.integers(1, 100),
    step=st.integers(1, 12),
)
def test_frames_are_there_and_a_little_behind(
    seconds: float, metres: list[float], count: int, step: int
) -> None:
    rule = EndlessSettings(far_step=step)
    now = int(frame_at(seconds, [0.0], count, rule)[0])
    for frame in frame_at(seconds, metres, count, rule):
        assert 0 <= frame < count
        assert 0 <= now - frame < step


def captured(assets: Path) -> Iterator[tuple[str, Character, str]]:
    """Real motions: of other people's captures, and a character of their own."""
    hero = flexor.samples.mannequin()
    for name in ("cmu_02_01", "cmu_09_01", "cmu_16_05"):
        motion = flexor.load(assets / "bvh" / f"{name}.bvh")
        yield name, flexor.retarget(hero, motion, travel=False, name="real"), "real"
    man = flexor.load(assets / "CesiumMan.glb")
    yield "CesiumMan", man, next(iter(man.clips))


@pytest.mark.slow
def test_pictures_of_real_motions_have_no_seam(assets: Path) -> None:
    """There are no series of photographs among the assets; these are drawn."""
    for name, hero, clip in captured(assets):
        count = min(30, int(hero.clips[clip].duration * RATE) // 2)
        drawer = Drawer(hero, (160, 120), "shaded")
        camera = drawer.fit(clip)
        times = np.arange(2 * count) / RATE
        poses = (hero.pose(clip, time) for time in times)
        long = np.stack([drawer.draw(pose, camera).copy() for pose in poses])
        steps = step_sizes(blend_series(long[:count], long[count:]))
        assert steps[-1] <= steps[:-1].max(), name
        assert steps[-1] < step_size(long[count - 1], long[0]), name


PLAIN = np.zeros((4, 3, 2, 3), np.uint8)


@pytest.mark.parametrize(
    ("first", "second", "wrong"),
    [
        (PLAIN[0], PLAIN, r"first: shape \(3, 2, 3\), expected \(T, H, W, C\)"),
        (PLAIN, PLAIN[:3], r"second: shape \(3, 3, 2, 3\), expected \(4, 3, 2, 3\)"),
        (PLAIN, PLAIN.astype(np.float32), "second: float32, expected uint8"),
        (PLAIN.astype(float), PLAIN, "first: float64, expected uint8 or float32"),
        ([[1]], PLAIN, "first: list, expected uint8 or float32"),
        (PLAIN[:0], PLAIN[:0], "first: shape"),
        (np.zeros((2, 3, 4, 5), np.uint8), PLAIN, "C from 1 to 4"),
        (PLAIN[..., ::-1], PLAIN, "first: must be C-ordered"),
    ],
)
def test_what_is_no_series_is_refused(first: Any, second: Any, wrong: str) -> None:
    with pytest.raises(ShapeError, match=wrong):
        blend_series(first, second)


def test_other_refusals() -> None:
    with pytest.raises(ShapeError, match="out: float32, expected uint8"):
        blend_series(PLAIN, PLAIN, out=np.zeros(PLAIN.shape, np.float32))
    with pytest.raises(ShapeError, match="out: shape"):
        loop_series(PLAIN, 2, out=PLAIN.copy())
    for overlap in (1, 3, 2.0, True, None):
        with pytest.raises(SettingError, match=r"overlap: .* a whole number, 2 to 2"):
            loop_series(PLAIN, overlap)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"frames: shape .* at least 4 frames"):
        loop_series(PLAIN[:3], 2)
    with pytest.raises(SettingError, match=r"opacity: 1\.5, expected 0 to 1"):
        blend_frame(PLAIN[0], PLAIN[0], 1.5)
    holed = np.full((2, 2, 1), np.nan, np.float32)
    with pytest.raises(SettingError, match="second: holds NaN or infinity"):
        blend_frame(np.zeros_like(holed), holed, 0.5)
    with pytest.raises(ShapeError, match="after: shape"):
        step_size(PLAIN[0], PLAIN[0, :1])
    with pytest.raises(ShapeError, match="series: shape"):
        step_sizes(PLAIN[0])


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ({"distance": [[1.0]]}, r"distance: float64 \(1, 1\), expected numbers \(N,\)"),
        ({"distance": ["a"]}, "distance: <U1"),
        ({"distance": [1.0, -1.0]}, "distance: -1.0 in row 1, expected metres from 0"),
        ({"distance": [np.nan]}, "distance: nan in row 0"),
        ({"seconds": np.nan}, "seconds: nan, expected"),
        ({"count": 0}, "count: 0, expected a whole number, 1 to"),
        ({"settings": 3}, "settings: int, expected EndlessSettings"),
    ],
)
def test_frames_that_cannot_be_chosen(words: dict[str, Any], wrong: str) -> None:
    good: dict[str, Any] = {"seconds": 0.0, "distance": [1.0], "count": 30}
    with pytest.raises((SettingError, ShapeError), match=wrong):
        frame_at(**{**good, **words})


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ({"rate": 0.0}, "rate: 0.0, expected"),
        ({"near": -1.0}, "near: -1.0, expected 0 to"),
        ({"near": 5.0, "far": 4.0}, "far: 4.0, expected 5 to"),
        ({"far_step": 0}, "far_step: 0, expected 1 to"),
        ({"far_step": 2.5}, "far_step: float, expected int"),
    ],
)
def test_settings_that_are_refused(words: dict[str, Any], wrong: str) -> None:
    with pytest.raises(SettingError, match=wrong):
        EndlessSettings(**words)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ({"count": 0}, "count: 0"),
        ({"size": 64}, r"size: 64, expected \(width, height\)"),
        ({"size": (64, 4)}, "size: height: 4, expected a whole number, 8 to 4096"),
        ({"size": (1e3, 64)}, "size: width: 1000.0"),
        ({"metres": 0.0}, "metres: 0.0"),
        ({"rate": np.inf}, "rate: inf"),
    ],
)
def test_water_that_is_refused(words: dict[str, Any], wrong: str) -> None:
    good: dict[str, Any] = {"count": 2, "size": (16, 16), "seed": 1}
    with pytest.raises(SettingError, match=wrong):
        water_series(**{**good, **words})
