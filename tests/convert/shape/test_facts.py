"""What is derived from bodies and scenes: made once, and shared where it may be."""

from __future__ import annotations

import numpy as np

from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.body import Pull, body_surface, gather_bodies
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.sections import body_shape
from flexor.pose.layout import make_layout
from flexor.scene.character.skeleton import rest_world
from tests.convert.shape.tubes import tube_scene


def moved(pull: Pull) -> Pull:
    """All weights on the first joint."""
    joints = np.zeros((len(pull), 1), np.int32)
    return Pull(joints, np.ones((len(pull), 1), np.float32))


def test_facts_are_what_the_functions_give() -> None:
    scene = tube_scene(3)
    facts, (body,) = SceneFacts(scene), gather_bodies(scene)
    (own,) = facts.bodies
    for one, other in (
        (own.by_place, body_surface(body, is_by_place=True)),
        (own.surface, body_surface(body)),
    ):
        np.testing.assert_array_equal(one.point_of_vertex, other.point_of_vertex)
        np.testing.assert_array_equal(one.neighbours, other.neighbours)
    shape = body_shape(body)
    np.testing.assert_array_equal(own.shape.sections.radii, shape.sections.radii)
    np.testing.assert_array_equal(facts.world, rest_world(scene.skeleton))
    np.testing.assert_array_equal(facts.layout.rest, make_layout(scene).rest)


def test_each_is_made_once() -> None:
    facts = SceneFacts(tube_scene(3))
    (own,) = facts.bodies
    assert facts.bodies[0] is own
    assert own.surface is own.surface
    assert own.shape is own.shape
    assert own.shape_by_place is own.shape_by_place
    assert own.shape_by_place.surface is own.by_place
    assert facts.layout is facts.layout
    assert facts.poses is facts.poses


def test_other_weights_share_what_does_not_hang_on_them() -> None:
    facts = SceneFacts(tube_scene(3))
    (own,) = facts.bodies
    changed = own.with_pull(moved(own.body.pull))
    assert changed.by_place is own.by_place
    assert changed.surface is not own.surface
    scene = facts.with_pulls({0: moved(own.body.pull)})
    assert scene.world is facts.world
    assert scene.layout is facts.layout
    assert scene.bodies[0].by_place is own.by_place
    assert (scene.bodies[0].body.pull.weights[:, 0] == 1).all()


def test_the_same_weights_are_the_same_scene() -> None:
    facts = SceneFacts(tube_scene(3))
    assert facts.with_pulls({0: facts.bodies[0].body.pull}) is facts


def test_more_nodes_have_a_layout_of_their_own() -> None:
    facts = SceneFacts(tube_scene(3))
    linked, _ = link_bones(facts, [{1: LinkSettings()}])
    assert len(linked.layout.lane_of_node) == len(facts.layout.lane_of_node) + 3
    assert len(linked.world) == len(facts.world) + 3
    assert linked.bodies[0].by_place is facts.bodies[0].by_place


def test_marks_are_those_of_the_meshes() -> None:
    scene = tube_scene(3)
    assert SceneFacts(scene, [True]).bodies[0].body.rigid.all()
    assert not SceneFacts(scene).bodies[0].body.rigid.any()
    assert isinstance(SceneFacts(scene).bodies[0], BodyFacts)
