"""How fast the ground goes by under one that walks on the spot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.arrays import Floats
from flexor.errors import SettingError, ShapeError
from flexor.stage.crowd.ground_speed import ground_velocity

STEP = 1 / 240


def walker(
    velocity: tuple[float, float], moments: int = 40, *, stance: float = 0.6
) -> tuple[Floats, Floats]:
    """A head and two feet; of two steps each foot stands for a share of the time."""

    def at(times: Floats) -> Floats:
        vertices = np.zeros((len(times), 3, 3), np.float32)
        vertices[:, 0] = 0, 1.7, 0
        side = np.array([-velocity[1], velocity[0]])
        side = side / max(np.hypot(*side), 1e-9)
        for foot, begin in ((1, 0.0), (2, 0.5)):
            phase = (times + begin) % 1.0
            stands = phase < stance
            # Backward at the speed of the ground, then forward through the air.
            back = np.where(
                stands, phase, stance * (1 - phase) / (1 - stance)
            )  # seconds of standing
            lift = np.where(stands, 0.0, 0.2 * np.sin(np.pi * (phase - stance) / 0.4))
            place = side * (0.1 if foot == 1 else -0.1)
            vertices[:, foot, 0] = place[0] - velocity[0] * (back - stance / 2)
            vertices[:, foot, 1] = lift
            vertices[:, foot, 2] = place[1] - velocity[1] * (back - stance / 2)
        return vertices

    times = np.linspace(0, 1 - STEP, moments)
    return at(times), at(times + STEP)


@given(speed=st.floats(0.3, 8.0), turn=st.floats(-3.1, 3.1))
@settings(max_examples=40)
def test_any_way_and_speed(speed: float, turn: float) -> None:
    x, z = speed * np.sin(turn), speed * np.cos(turn)
    found = ground_velocity(*walker((x, z)), STEP)
    assert found is not None
    np.testing.assert_allclose(found, (x, 0, z), atol=0.01 * speed)


@given(size=st.floats(0.01, 100.0))
@settings(max_examples=20)
def test_any_size(size: float) -> None:
    before, after = (rows * np.float32(size) for rows in walker((0.0, 1.4)))
    found = ground_velocity(before, after, STEP)
    assert found is not None
    assert found[2] == pytest.approx(1.4 * size, rel=0.01)


def test_one_that_stands_or_slides_on_one_foot() -> None:
    before, after = walker((0.0, 1.4))
    assert ground_velocity(before, before, STEP) is None
    assert ground_velocity(*walker((0.0, 0.05)), STEP) is None
    # The second foot never comes down.
    for rows in (before, after):
        rows[:, 2, 1] += 0.5
    assert ground_velocity(before, after, STEP) is None


def test_moments_that_do_not_agree(rng: np.random.Generator) -> None:
    before, _ = walker((0.0, 1.4))
    ways = rng.normal(0, 2 * STEP, before.shape).astype(np.float32)
    ways[..., 1] = 0
    assert ground_velocity(before, before + ways, STEP) is None


def test_a_clip_that_ends_elsewhere() -> None:
    before, after = walker((0.0, 1.4))
    after[-1, 0, 0] += 0.6
    assert ground_velocity(before, after, STEP) is None


def test_one_in_the_air() -> None:
    before, after = walker((0.0, 1.4))
    flight = np.linspace(0, 3, len(before), dtype=np.float32)[:, None]
    before[..., 1] += flight
    after[..., 1] += flight
    assert ground_velocity(before, after, STEP) is None


def test_nothing_and_what_is_not_finite() -> None:
    for shape in ((0, 3, 3), (4, 0, 3)):
        none = np.zeros(shape, np.float32)
        assert ground_velocity(none, none, STEP) is None
    before, after = walker((0.0, 1.4))
    after[3, 1, 0] = np.nan
    assert ground_velocity(before, after, STEP) is None


def test_refusals() -> None:
    before, after = walker((0.0, 1.4))
    with pytest.raises(SettingError, match=r"seconds: 0, expected above 0"):
        ground_velocity(before, after, 0)
    with pytest.raises(ShapeError, match="after: "):
        ground_velocity(before, after[:-1], STEP)
    with pytest.raises(ShapeError, match="before: "):
        ground_velocity(before.astype(np.float64), after, STEP)  # type: ignore[arg-type]


# Each limit from either side: moments at which one foot stands, written by hand.


def moments(
    speeds: Any, *, aside: Any = 0.0, heights: Any = 0.0, at: Any = (-0.1, 0.1)
) -> tuple[Floats, Floats]:
    """A head 1 m up and two feet; at each moment one foot is low and goes backward.

    speeds, aside: metres a second, that the low foot goes along -z and x; heights:
    metres that it is above the ground; at: x of the low foot, again and again.
    """
    count = len(speeds)
    before = np.zeros((count, 3, 3), np.float32)
    before[:, 0, 1] = 1
    before[:, 1, 0] = np.resize(at, count)
    before[:, 1, 1] = heights
    before[:, 2] = 0, 0.8, 0
    after = before.copy()
    after[:, 1, 0] += np.float32(STEP) * np.asarray(aside, np.float32)
    after[:, 1, 2] -= np.float32(STEP) * np.asarray(speeds, np.float32)
    return before, after


def some(count: int, usual: float, other: float) -> Any:
    """Twenty numbers: the last `count` are other ones."""
    return np.where(np.arange(20) < 20 - count, usual, other)


def walks(before: Floats, after: Floats) -> bool:
    return ground_velocity(before, after, STEP) is not None


def test_moments_by_hand_are_a_walk() -> None:
    found = ground_velocity(*moments(np.ones(20)), STEP)
    assert found is not None
    np.testing.assert_allclose(found, (0, 0, 1), atol=1e-4)


def test_a_foot_that_is_hardly_above_the_ground_stands() -> None:
    """Nine of twenty moments go the other way, which counts where they stand."""
    ways = some(9, 1.0, -1.0)
    assert not walks(*moments(ways, heights=some(9, 0.0, 0.015)))
    assert walks(*moments(ways, heights=some(9, 0.0, 0.025)))


def test_a_walk_has_a_least_speed() -> None:
    assert not walks(*moments(np.full(20, 0.11)))
    assert walks(*moments(np.full(20, 0.13)))


@pytest.mark.parametrize(
    ("speed", "is_walk"), [(0.2, False), (0.3, True), (2.4, True), (2.6, False)]
)
def test_moments_that_are_much_slower_or_faster_do_not_agree(
    speed: float, is_walk: bool
) -> None:
    assert walks(*moments(some(8, 1.0, speed))) == is_walk


@pytest.mark.parametrize(
    ("aside", "is_walk"), [(0.45, True), (-0.45, True), (0.55, False), (-0.55, False)]
)
def test_moments_that_go_to_the_side_do_not_agree(aside: float, is_walk: bool) -> None:
    assert walks(*moments(np.ones(20), aside=some(8, 0.0, aside))) == is_walk


def test_most_moments_have_to_agree() -> None:
    assert walks(*moments(some(5, 1.0, -1.0)))
    assert not walks(*moments(some(7, 1.0, -1.0)))


def test_it_has_to_stand_for_a_while() -> None:
    assert walks(*moments(np.ones(20), heights=np.roll(some(15, 0.0, 0.6), -1)))
    assert not walks(*moments(np.ones(20), heights=np.roll(some(17, 0.0, 0.6), -1)))


def test_steps_are_taken_at_two_places() -> None:
    assert walks(*moments(np.ones(20), at=(-0.045, 0.045)))
    assert not walks(*moments(np.ones(20), at=(-0.035, 0.035)))


def test_a_place_where_it_does_not_walk_is_no_second_one() -> None:
    """One foot is pushed along; on the other it only stands for a moment."""
    assert not walks(*moments(some(4, 1.0, 0.0), at=some(4, 0.1, -0.1)))
    assert walks(*moments(some(4, 1.0, 1.0), at=some(4, 0.1, -0.1)))


def test_a_clip_may_end_a_little_off() -> None:
    for off, is_walk in ((0.24, True), (0.26, False)):
        before, after = moments(np.ones(20))
        after[-1, 0, 0] += off
        assert walks(before, after) == is_walk


def test_moments_that_do_not_agree_do_not_slow_it_down() -> None:
    speeds = np.concatenate([np.linspace(0.5, 1.5, 15), np.full(5, -1.0)])
    assert np.median(speeds) < 0.9
    found = ground_velocity(*moments(speeds), STEP)
    assert found is not None
    assert found[2] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(flexor.samples.mannequin().clips))
def test_clips_of_the_mannequin(name: str) -> None:
    """As fast as the maker of the clip says; those that stand are not moved."""
    hero = flexor.samples.mannequin()
    clip = hero.clips[name]
    times = np.linspace(0, clip.duration - STEP, 40)
    before, after = (
        hero.deform_many(hero.pose_many(name, moments))[0].positions
        for moments in (times, times + STEP)
    )
    found = ground_velocity(before, after, STEP)
    speed = clip.carried["extras"]["speed"]
    if speed:
        velocity = clip.carried["extras"]["velocity"]
        assert found is not None
        np.testing.assert_allclose(found, velocity, atol=0.03 * speed)
    else:
        assert found is None
