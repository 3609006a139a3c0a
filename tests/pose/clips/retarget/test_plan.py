"""What is known of two skeletons: axes whatever moves, notes where they are a guess."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.maths import quaternions
from flexor.pose.clips.retarget.plan import plan_retarget
from flexor.scene.human.human import find_human
from tests.pose.clips.retarget.test_retarget import arms_down, as_mixamo
from tests.pose.ik.turned_rigs import with_axes
from tests.scenes import random_skeleton

Rng = np.random.Generator


@pytest.fixture(scope="module")
def hero() -> flexor.Character:
    return flexor.samples.mannequin()


@pytest.mark.parametrize(
    "parts",
    [
        [f"{s}{p}" for s in ("left", "right") for p in ("UpperArm", "LowerArm")],
        ["hips"]
        + [
            f"{s}{p}"
            for s in ("left", "right")
            for p in ("UpperLeg", "LowerLeg", "Foot")
        ],
        ["leftLowerLeg"],
    ],
)
def test_few_joints_turn_as_in_the_whole(
    hero: flexor.Character, rng: Rng, parts: list[str]
) -> None:
    turn = quaternions.to_matrix(np.array([0, 0.5**0.5, 0, 0.5**0.5]))
    source = arms_down(hero, 50).skeleton
    other = as_mixamo(source, rng, turn, 1.3)
    bodies = find_human(hero.skeleton), find_human(other)
    names = {
        hero.skeleton.names[bodies[0][p]]: other.names[bodies[1][p]] for p in parts
    }
    clip = hero.clips["walk"]
    whole = plan_retarget(hero.skeleton, other, clip=clip, bodies=bodies)
    plan = plan_retarget(
        hero.skeleton, other, {"*": "", **names}, clip=clip, bodies=bodies
    )
    assert set(plan.match.feeds) == {bodies[1][part] for part in parts}
    np.testing.assert_array_equal(plan.axes, whole.axes)
    assert plan.size == whole.size
    assert plan.notes == ()
    for node in plan.match.feeds.keys() & whole.limbs.keys():
        np.testing.assert_array_equal(plan.limbs[node], whole.limbs[node])


def test_a_guess_of_axes_is_told(rng: Rng) -> None:
    one = random_skeleton(rng, 12)
    two = with_axes(random_skeleton(rng, 12), rng, tuple("abcdefghijkl"))
    names = {f"node{n}": two.names[n] for n in (3, 5, 8)}
    (note,) = plan_retarget(one, two, names).notes
    assert "a guess from 3 joints" in note
    same = with_axes(one, rng, two.names)
    assert plan_retarget(one, same, names).notes == ()
