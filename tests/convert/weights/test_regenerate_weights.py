"""Weights from shape alone: how near to an artist's, and on bodies of all kinds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.api.character import Character
from flexor.convert.shape.body import Body, Pull, gather_bodies, with_pulls
from flexor.convert.shape.bones import derive_bones
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.regenerate_weights import (
    assign_bones,
    nearest_bones,
    regenerate_weights,
)
from tests.convert.shape.tubes import skinned_scene
from tests.oracle.closest import segment_distance


def skin_error(hero: Character) -> float:
    """The mean distance from where the authored weights put the skin, over height.

    At four times of each clip.
    """
    bodies = gather_bodies(hero.scene)
    pulls = {
        i: regenerate_weights(BodyFacts(forgotten(body)))
        for i, body in enumerate(bodies)
    }
    other = Character(with_pulls(hero.scene, pulls, bodies))
    rest = np.concatenate([skin.positions for skin in hero.deform(hero.pose())])
    far = []
    for name, clip in hero.clips.items():
        times = np.linspace(0, clip.duration, 4, endpoint=False)
        pairs = zip(
            hero.deform_many(hero.pose_many(name, times)),
            other.deform_many(other.pose_many(name, times)),
            strict=True,
        )
        for a, b in pairs:
            far.append(np.linalg.norm(a.positions - b.positions, axis=-1).ravel())
    return float(np.concatenate(far).mean() / np.ptp(rest, axis=0).max())


def forgotten(body: Body) -> Body:
    """The body with all its vertices on its first joint."""
    count = len(body)
    pull = Pull(np.zeros((count, 1), np.int32), np.ones((count, 1), np.float32))
    return dataclasses.replace(body, pull=pull)


def test_the_mannequin_gets_its_weights_back() -> None:
    assert skin_error(flexor.samples.mannequin()) < 0.0015


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("CesiumMan.glb", 0.0025),
        ("RiggedFigure.glb", 0.003),
        ("Mannequiny.glb", 0.003),
        ("Fox.glb", 0.008),
        ("Alien.glb", 0.002),
        ("Q_Trex.glb", 0.006),
    ],
)
def test_figures_get_their_weights_back(assets: Any, name: str, most: float) -> None:
    assert skin_error(flexor.load(assets / name)) < most


def test_the_weights_that_were_there_are_not_looked_at() -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    one = regenerate_weights(BodyFacts(body))
    other = regenerate_weights(BodyFacts(forgotten(body)))
    assert (one.joints == other.joints).all()
    assert (one.weights == other.weights).all()


def test_nearest_bones(rng: Any) -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    bones = derive_bones(body, body.positions, None)
    points = rng.uniform(-1, 2, (40, 3)).astype(np.float32)
    joints = np.array([0, 3, 7, 20, 31], np.int32)
    ends = bones.bases + bones.axes * bones.lengths[:, None]
    found = nearest_bones(points, bones, joints)
    for point, row in zip(points, found, strict=True):
        away = [segment_distance(bones.bases[j], ends[j], point) for j in joints]
        assert row == joints[int(np.argmin(away))]


def test_only_some_joints() -> None:
    """What hangs on the left leg is shared out among its joints; all else stays."""
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    names = ("l-hip", "l-hip-roll", "l-knee", "l-knee-roll")
    joints = np.array([body.names.index(name) for name in names], np.int32)
    pull = regenerate_weights(BodyFacts(body), joints)
    old, new = body.pull.dense(64), pull.dense(64)
    mine = old[:, joints].sum(1) >= 0.5
    assert mine.any()
    np.testing.assert_array_equal(old[~mine], new[~mine])
    np.testing.assert_allclose(new[mine][:, joints].sum(1), 1, atol=1e-5)
    hips = new[mine][:, joints[0]]
    assert (hips > 0.9).any()
    assert (hips < 0.1).any()


def test_rigid_meshes_hang_on_one_joint_each() -> None:
    scene = flexor.samples.mannequin().scene
    marks = [True] * len(scene.meshes)
    body = gather_bodies(scene, marks)[0]
    pull = regenerate_weights(BodyFacts(body))
    assert (pull.weights.max(1) == 1).all()


def test_a_control_outside_the_body_gets_nothing() -> None:
    hero = flexor.samples.mannequin().scene
    body = gather_bodies(hero)[0]
    outside = np.eye(3, 4)[None]
    outside[0, :, 3] = [3, 0, 3]
    more = dataclasses.replace(
        body,
        joints=np.append(body.joints, 0),
        names=(*body.names, "control"),
        parents=np.append(body.parents, -1).astype(np.int32),
        frames=np.concatenate([body.frames, outside]),
    )
    assert not (regenerate_weights(BodyFacts(more)).joints == len(body.joints)).any()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9))
def test_bodies_of_all_kinds(seed: int, count: int, joints: int) -> None:
    """Loose vertices, pieces, bones of no length, bones with nothing near them."""
    rng = np.random.default_rng(seed)
    bases = rng.choice([0.0, 0.5, 1.0, 40.0], (joints, 3))
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, joints))]
    places = rng.choice([0.0, 0.3, 1.0], (count, 3)) + rng.normal(size=(count, 3)) * 0.1
    places[rng.random(count) < 0.2] = places[0]
    faces = rng.integers(0, count, (int(rng.integers(0, 20)), 3))
    weights = np.eye(joints)[rng.integers(0, joints, count)]
    body = gather_bodies(skinned_scene(bases, parents, places, faces, weights))[0]
    pull = regenerate_weights(BodyFacts(body))
    assert np.isfinite(pull.weights).all()
    assert (pull.weights >= 0).all()
    np.testing.assert_allclose(pull.weights.sum(1), 1, atol=1e-5)
    again = regenerate_weights(BodyFacts(body))
    assert (pull.weights == again.weights).all()


def test_assigned_points_hang_on_one_joint() -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    positions = body.positions.astype(np.float32)
    pull, bones, sections = assign_bones(body, positions)
    assert pull.joints.shape == (len(body), 1)
    assert (pull.weights == 1).all()
    assert len(bones.lengths) == len(sections.radii) == len(body.joints)
    agree = pull.joints[:, 0] == body.pull.joints[:, 0]
    assert agree.mean() > 0.85
