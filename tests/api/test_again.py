"""Poses and skins into arrays of earlier calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import flexor
from flexor.api.again import Again
from flexor.api.character import Character
from flexor.errors import SettingError, ShapeError
from flexor.pose.pose import Pose
from tests.scenes import random_scene

Rng = np.random.Generator
PARTS = ("translations", "rotations", "scales", "world", "weights")


@pytest.fixture
def hero(rng: Rng) -> Character:
    return Character(random_scene(rng, nodes=13))


def assert_same(pose: Pose, other: Pose) -> None:
    for name in PARTS:
        np.testing.assert_array_equal(getattr(pose, name), getattr(other, name))


def test_a_pose_again(hero: Character) -> None:
    """As one of many, to the bit, whatever was there before."""
    for clip in hero.clips:
        times = [0.9, 0.1, 0.5, -3.0, 99.0, 1e300]
        many = hero.pose_many(clip, times)
        pose = hero.pose(clip)
        for row, time in enumerate(times):
            assert hero.pose(clip, time, out=pose) is pose
            assert_same(pose, many[row])
            assert_same(hero.pose(clip, time), many[row])
    assert_same(hero.pose(out=pose), hero.pose())


def test_new_poses_share_nothing(hero: Character) -> None:
    first = hero.pose("mixed", 0.1)
    kept = {name: getattr(first, name).copy() for name in PARTS}
    second = hero.pose("mixed", 0.9)
    for name in PARTS:
        np.testing.assert_array_equal(getattr(first, name), kept[name])
        assert not np.shares_memory(getattr(first, name), getattr(second, name))


def test_a_skin_again(hero: Character) -> None:
    """As one of many, to the bit: with and without morphs."""
    for clip in (None, *hero.clips):
        many = hero.deform_many(hero.pose_many(clip, [0.3, 0.7]))
        skin = hero.deform(hero.pose())
        for row, time in enumerate((0.3, 0.7)):
            pose = hero.pose(clip, time)
            assert hero.deform(pose, out=skin) is skin
            for own, plain, other in zip(skin, hero.deform(pose), many, strict=True):
                assert (own.node, own.primitive) == (other.node, other.primitive)
                np.testing.assert_array_equal(own.positions, other.positions[row])
                np.testing.assert_array_equal(own.normals, other.normals[row])
                np.testing.assert_array_equal(own.positions, plain.positions)
                np.testing.assert_array_equal(own.normals, plain.normals)


@pytest.mark.parametrize("words", [{"weights": "one"}, {"method": "dual"}])
def test_other_skins_again(hero: Character, words: dict[str, str]) -> None:
    pose = hero.pose("mixed", 0.4)
    skin = hero.deform(hero.pose())
    hero.deform(pose, skin, **words)  # type: ignore[arg-type]
    expected = hero.deform(pose, **words)  # type: ignore[arg-type]
    for own, other in zip(skin, expected, strict=True):
        np.testing.assert_array_equal(own.positions, other.positions)
        np.testing.assert_array_equal(own.normals, other.normals)


def test_the_mannequin_takes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """What programs call uses it: counted."""
    hero = flexor.samples.mannequin()
    done: list[bool] = []
    short = Again.skin

    def counted(self: Again, *args: object) -> bool:
        done.append(short(self, *args))  # type: ignore[arg-type]
        return done[-1]

    monkeypatch.setattr(Again, "skin", counted)
    pose = hero.pose("walk", 0.2)
    skin = hero.deform(pose)
    hero.deform(pose, out=skin)
    assert done == [True, True]


def test_many_threads(hero: Character) -> None:
    times = np.linspace(0, 1, 40)
    many = hero.pose_many("mixed", times)
    skins = hero.deform_many(many)

    def work(row: int) -> bool:
        pose = hero.pose("mixed", times[row])
        skin = hero.deform(pose)
        return np.array_equal(pose.world, many.world[row]) and all(
            np.array_equal(own.positions, other.positions[row])
            for own, other in zip(skin, skins, strict=True)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


@pytest.mark.jit  # plain Python does not look at arrays
def test_poses_that_do_not_fit(hero: Character, rng: Rng) -> None:
    pose, other = hero.pose("mixed"), Character(random_scene(rng, nodes=9)).pose()
    with pytest.raises(ShapeError, match="out: expected one pose of this character"):
        hero.pose("mixed", 0, out=other)
    with pytest.raises(ShapeError, match="out: expected one pose of this character"):
        hero.pose("mixed", 0, out=hero.pose_many("mixed", [0, 1]))
    doubles = replace(pose, rotations=pose.rotations.astype(np.float64))
    with pytest.raises(ShapeError, match=r"out\.rotations: float64, expected float32"):
        hero.pose("mixed", 0, out=doubles)
    locked = replace(pose, world=pose.world.copy())
    locked.world.flags.writeable = False
    for clip in ("mixed", None):
        with pytest.raises(ShapeError, match=r"out\.world: must be a plain C-ordered"):
            hero.pose(clip, 0, out=locked)
    for time in (np.nan, np.inf, -np.inf):
        with pytest.raises(SettingError, match="time: must be a finite number"):
            hero.pose("mixed", time, out=pose)
    with pytest.raises(SettingError, match="time: 'soon' is no number of seconds"):
        hero.pose("mixed", "soon", out=pose)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no clip 'none'"):
        hero.pose("none", 0, out=pose)


@pytest.mark.jit
def test_skins_that_do_not_fit(hero: Character) -> None:
    pose = hero.pose("mixed", 0.3)
    skin = hero.deform(pose)
    with pytest.raises(ShapeError, match=r"out: .* primitives, expected"):
        hero.deform(pose, out=skin[1:])
    short = [replace(skin[0], positions=skin[0].positions[1:].copy()), *skin[1:]]
    with pytest.raises(ShapeError, match=r"out\.positions: shape"):
        hero.deform(pose, out=short)
    doubles = [replace(skin[0], normals=skin[0].normals.astype(float)), *skin[1:]]
    with pytest.raises(ShapeError, match=r"out\.normals: float64"):
        hero.deform(pose, out=doubles)
