"""The pose value: parts, moments, matrices."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.pose.pose import Pose
from tests.scenes import random_scene

Rng = np.random.Generator


def test_single(rng: Rng) -> None:
    hero = Character(random_scene(rng, nodes=9))
    pose = hero.pose("mixed", 0.8)
    assert not pose.is_many
    assert len(pose) == 1
    assert pose.translations.shape == pose.scales.shape == (9, 3)
    assert pose.rotations.shape == (9, 4)
    assert pose.world.shape == pose.local.shape == (9, 3, 4)
    assert pose.weights.shape == (6,)
    with pytest.raises(TypeError, match="of one moment"):
        pose[0]


def test_many(rng: Rng) -> None:
    hero = Character(random_scene(rng, nodes=9))
    poses = hero.pose_many("mixed", [0.1, 0.5, 0.9])
    assert poses.is_many
    assert len(poses) == 3
    assert poses.world.shape == poses.local.shape == (3, 9, 3, 4)
    assert len(poses[-1]) == 1
    np.testing.assert_array_equal(poses[-1].world, poses.world[2])
    np.testing.assert_array_equal(poses[1].weights, poses.weights[1])
    assert len(list(poses)) == 3


def test_all_is_float32_and_c_ordered(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    for pose in (hero.pose(), hero.pose("mixed", 1), hero.pose_many("linear", [0, 1])):
        for name in ("translations", "rotations", "scales", "world", "weights"):
            array = getattr(pose, name)
            assert array.dtype == np.float32
            assert array.flags.c_contiguous


def test_local_and_world_agree(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    pose = hero.pose("mixed", 0.6)
    for node, parent in enumerate(hero.skeleton.parents):
        expected = pose.local[node]
        if parent >= 0:
            expected = transforms.multiply(pose.world[parent], pose.local[node])
        np.testing.assert_allclose(pose.world[node], expected, rtol=1e-4, atol=1e-4)


def test_from_lanes(rng: Rng) -> None:
    """By the kernel `nodes_from_lanes`."""
    layout = Character(random_scene(rng, nodes=13)).layout
    local = rng.normal(size=(2, len(layout.rest))).astype(np.float32)
    rows = local.reshape(2, 10, -1)[..., layout.lane_of_node]
    world, weights = np.zeros((2, 13, 3, 4), np.float32), np.zeros((2, 0), np.float32)
    pose = Pose.from_lanes(local, layout, world, weights)
    np.testing.assert_array_equal(pose.translations, rows[:, 0:3].swapaxes(1, 2))
    np.testing.assert_array_equal(pose.rotations, rows[:, 3:7].swapaxes(1, 2))
    np.testing.assert_array_equal(pose.scales, rows[:, 7:10].swapaxes(1, 2))
    assert pose.world is world
    with pytest.raises(ShapeError, match=r"local: shape \(2, \d+\), expected"):
        Pose.from_lanes(local[:, 8:].copy(), layout, world, weights)


def test_moved(rng: Rng) -> None:
    hero = Character(random_scene(rng, nodes=9))
    places = rng.normal(size=(3, 3, 4)).astype(np.float32)
    pose, poses = hero.pose("mixed", 0.8), hero.pose_many("mixed", [0.1, 0.5, 0.9])
    moved = pose.moved(places[0])
    expected = transforms.multiply(places[0].astype(float), pose.world.astype(float))
    np.testing.assert_allclose(moved.world, expected, rtol=1e-4, atol=1e-4)
    assert moved.world.dtype == np.float32
    assert moved.world.flags.c_contiguous
    assert moved.translations is pose.translations
    for row, one in enumerate(poses.moved(places)):
        alone = poses[row].moved(places[row])
        np.testing.assert_allclose(one.world, alone.world, rtol=1e-6, atol=1e-6)
    assert poses.moved(places[0]).world.shape == poses.world.shape
    for wrong in (np.eye(4), places, 1.0):
        with pytest.raises(ShapeError, match=r"place: .*expected \(3, 4\)"):
            pose.moved(wrong)
