"""Random poses tell of skin that flies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import flexor
from flexor.convert.shape.body import Pull
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.random_poses import random_rotations
from flexor.convert.weights.check_flight import find_flight, is_bound


def test_a_head_that_hangs_on_a_foot_is_told() -> None:
    scene = replace(flexor.samples.mannequin().scene, clips={})
    facts = SceneFacts(scene)
    assert find_flight(facts, facts) == []
    body = facts.bodies[0].body
    high = body.positions[:, 1] > 1.5
    foot = next(row for row, name in enumerate(body.names) if "ankle" in name)
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    joints[high], weights[high] = -1, 0
    joints[high, 0], weights[high, 0] = foot, 1
    wrong = facts.with_pulls({0: Pull(joints, weights)})
    assert [one.code for one in find_flight(facts, wrong)] == ["weights-far"]
    assert is_bound(body)


def test_poses_are_the_same_for_one_seed() -> None:
    skeleton = flexor.samples.mannequin().skeleton
    one, other = (
        random_rotations(skeleton, 2, np.random.default_rng(5)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)
    assert one.shape == (2, len(skeleton), 4)
    np.testing.assert_allclose(np.linalg.norm(one, axis=2), 1, atol=1e-5)


def test_new_weights_without_clips_are_tried_in_poses(assets: Any) -> None:
    """A crab whose joints say nothing of its legs is told; an elf is bound well."""
    for name, is_told in (("Q_Crab.glb", True), ("Elf.glb", False)):
        hero = flexor.load(assets / name).with_clips({}, only=True)
        _, report = flexor.repair(hero, regenerate=True, has_measures=False)
        codes = [finding.code for finding in report.findings]
        assert ("weights-far" in codes) == is_told
