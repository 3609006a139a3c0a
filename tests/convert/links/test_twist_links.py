"""Twist links in scenes: bones that are wound up evenly, and what is left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.facts import SceneFacts
from flexor.maths import quaternions
from flexor.scene.character.skeleton import Link
from tests.convert.shape.tubes import (
    linked,
    smallest_radius,
    tube_scene,
    turn,
    turned,
    volume,
)


@pytest.mark.parametrize("degrees", [-170, 90, 170])
def test_a_bone_with_twist_links_keeps_its_radius(degrees: float) -> None:
    """All along, also with links at its base, and whatever it bends as well."""
    twist = turn([1, 0, 0], degrees)
    wound = linked(tube_scene(4.0), count=3, twists=6)
    assert smallest_radius(turned(wound, 1, twist)) >= 0.96
    plain = linked(tube_scene(4.0), count=3)
    bend = turn([0, 0, 1], 90)
    both = quaternions.multiply(bend, twist)
    rings = slice(40, 121)
    rest = volume(turned(plain, 1, [0, 0, 0, 1]), rings)
    alone, also = (volume(turned(wound, 1, way), rings) / rest for way in (bend, both))
    assert alone == pytest.approx(
        volume(turned(plain, 1, bend), rings) / rest, abs=0.01
    )
    assert also >= alone - 0.03


def test_twist_links_stand_along_their_bone() -> None:
    """Their names, fractions and axes; bends beside them leave out the twist."""
    scene = linked(tube_scene(4.0), count=2, twists=3)
    skeleton = scene.skeleton
    axis = (1.0, 0.0, 0.0)
    names = {skeleton.names[node]: link for node, link in skeleton.links.items()}
    assert names == {
        "j1-link1": Link(1, 1 / 3, axis, is_swing=True),
        "j1-link2": Link(1, 2 / 3, axis, is_swing=True),
        "j1-twist1": Link(1, 0, axis),
        "j1-twist2": Link(1, 1 / 3, axis),
        "j1-twist3": Link(1, 2 / 3, axis),
        # A leaf has no bone to wind.
        "j2-link1": Link(2, 1 / 3),
        "j2-link2": Link(2, 2 / 3),
    }


def test_a_joint_of_no_size_gets_links_that_do_nothing() -> None:
    scene = tube_scene(4.0)
    scales = scene.skeleton.scales.copy()
    scales[1] = 0
    flat = replace(scene, skeleton=replace(scene.skeleton, scales=scales))
    skeleton = linked(flat, count=1, twists=2).skeleton
    assert {link.axis for link in skeleton.links.values() if link.joint == 1} == {
        (1.0, 0.0, 0.0)
    }


def test_rigid_meshes_are_not_wound() -> None:
    scene = tube_scene(4.0)
    facts = SceneFacts(scene, [True])
    wound, _ = link_bones(facts, [{1: LinkSettings(count=0, twists=4)}])
    before, after = facts.bodies[0].body.pull, wound.bodies[0].body.pull
    np.testing.assert_array_equal(before.dense(3), after.dense(7)[:, :3])


def test_a_bone_that_twists_alone_is_wound() -> None:
    """Without links for its bend: what it holds is given out by place, no more."""
    scene = tube_scene(4.0)
    wound = linked(scene, count=0, twists=4)
    before = scene.meshes[0].primitives[0]
    held = [
        gather_bodies(one)[0].pull.dense(len(one.skins[0].joints))
        for one in (scene, wound)
    ]
    np.testing.assert_allclose(held[1][:, 0], held[0][:, 0], atol=1e-6)
    np.testing.assert_allclose(
        held[1][:, 1] + held[1][:, 3:].sum(1), held[0][:, 1], atol=1e-6
    )
    x = np.clip(before.positions[:, 0] / 8, 0, 1)
    turns = held[1][:, 3:] @ [0, 0.25, 0.5, 0.75] + held[1][:, 1]
    np.testing.assert_allclose(turns, x * held[0][:, 1], atol=1e-5)
