"""New weights only where they look better: what was spoilt on purpose comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.body import Pull, merge_same
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import (
    JudgePlan,
    is_worse,
    judge_body,
    plan_judging,
)
from flexor.convert.weights.keep_better import keep_better
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import skinned_scene, tube

pytestmark = pytest.mark.slow


def chain(first: float, second: float) -> Scene:
    """A tube from -12 to 12 on bones that begin at -12, -4 and 4.

    first, second: over how much weights change at the two joints.
    """
    positions, normals, faces = tube(np.linspace(-12, 12, 97))
    x = positions[:, 0]
    upper = np.clip(0.5 + (x + 4) / first, 0, 1)
    lower = np.clip(0.5 + (x - 4) / second, 0, 1)
    return skinned_scene(
        [(-12, 0, 0), (-4, 0, 0), (4, 0, 0), (12, 0, 0)],
        [-1, 0, 1, 2],
        positions,
        faces,
        np.stack([1 - upper, upper - lower, lower, 0 * x], 1),
        normals=normals,
        names=["root", "elbow", "wrist", "end"],
    )


def known(scene: Scene) -> tuple[SceneFacts, JudgePlan]:
    facts = SceneFacts(scene)
    return facts, plan_judging(facts, facts.bodies[0])


def pull_of(scene: Scene) -> Pull:
    return SceneFacts(scene).bodies[0].body.pull


def none_worse(facts: SceneFacts, plan: JudgePlan, pull: Pull) -> bool:
    new = facts.with_pulls({0: pull})
    before = judge_body(facts, facts.bodies[0], plan).joints
    after = judge_body(new, new.bodies[0], plan).joints
    return not any(is_worse(b, a) for b, a in zip(after, before, strict=True))


def dense(pull: Pull) -> Any:
    return pull.dense(4)


def test_better_weights_are_kept_whole() -> None:
    facts, plan = known(chain(0.3, 0.3))
    new = pull_of(chain(2.5, 2.5))
    found, kept = keep_better(facts, 0, plan, new, 4)
    assert kept == []
    assert found is new


def test_the_same_weights_stay() -> None:
    facts, plan = known(chain(2.5, 2.5))
    old = facts.bodies[0].body.pull
    found, kept = keep_better(facts, 0, plan, old, 4)
    assert kept == []
    assert (dense(found) == dense(old)).all()


def test_a_joint_that_was_made_worse_gets_its_weights_back() -> None:
    """The elbow better, the wrist cut: the one stays, the other comes back."""
    facts, plan = known(chain(0.3, 2.5))
    new = pull_of(chain(2.5, 0.001))
    assert not none_worse(facts, plan, new)
    found, kept = keep_better(facts, 0, plan, new, 4)
    assert kept == ["wrist"]
    old = facts.bodies[0].body.pull
    x = facts.bodies[0].body.positions[:, 0]
    assert (dense(found)[x > 2] == dense(old)[x > 2]).all()
    np.testing.assert_allclose(dense(found)[x < -2], dense(new)[x < -2], atol=1e-6)
    assert none_worse(facts, plan, found)


def test_everything_that_is_worse_comes_back() -> None:
    facts, plan = known(chain(2.5, 2.5))
    new = pull_of(chain(0.001, 0.001))
    found, kept = keep_better(facts, 0, plan, new, 4)
    assert kept == ["elbow", "wrist"]
    old = facts.bodies[0].body.pull
    x = facts.bodies[0].body.positions[:, 0]
    near = (np.abs(x + 4) < 2) | (np.abs(x - 4) < 2)
    assert (dense(found)[near] == dense(old)[near]).all()


@pytest.mark.parametrize("most", [1, 2, 4])
def test_what_is_mixed_stays_weights(most: int) -> None:
    """A random change that spoils the wrist, in at most so many joints."""
    facts, plan = known(chain(2.5, 2.5))
    old = facts.bodies[0].body.pull
    rng = np.random.default_rng(3)
    x = facts.bodies[0].body.positions[:, :1]
    wild = dense(old) + (np.abs(x - 4) < 1) * rng.uniform(0, 1, (len(old), 4))
    new = merge_same(
        np.tile(np.arange(4), (len(old), 1)), wild / wild.sum(1, keepdims=True)
    )
    found, kept = keep_better(facts, 0, plan, new, most)
    assert kept
    np.testing.assert_allclose(found.weights.sum(1), 1, atol=1e-5)
    changed = (dense(found) != dense(old)).any(1)
    assert np.count_nonzero(found.weights, axis=1)[changed].max(initial=0) <= most
