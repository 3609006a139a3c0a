"""Hard parts: cuts that are meant, and what slides in clips."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.body import Pull, gather_bodies
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.hard_parts import (
    hard_joints,
    machine_joints,
    points_near,
    sliding_joints,
)
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import SIDES, skinned_scene, tube, turn


def chain_scene(child: Any = None, **more: Any) -> Scene:
    """A tube from -6 to 6 on three bones that begin at -6, -2 and 2.

    child: weights (V, 3) of the places along it; None: cut where the bones meet.
    """
    positions, normals, faces = tube(np.linspace(-6, 6, 25))
    x = positions[:, 0]
    rows = np.digitize(x, [-2, 2])
    weights = np.eye(3)[rows] if child is None else child(x)
    bases = [(-6, 0, 0), (-2, 0, 0), (2, 0, 0)]
    return skinned_scene(
        bases, [-1, 0, 1], positions, faces, weights, normals=normals, **more
    )


def hard(scene: Scene) -> list[bool]:
    own = BodyFacts(gather_bodies(scene)[0])
    pull = own.body.pull.take(own.by_place.vertex_of_point)
    found: list[bool] = hard_joints(pull, own.by_place, len(own.body.joints)).tolist()
    return found


def test_bones_that_meet_in_cuts_are_hard() -> None:
    assert hard(chain_scene()) == [True, True, True]


def test_soft_skin_is_not_hard() -> None:
    def soft(x: Any) -> Any:
        second = np.clip(x / 3 + 1, 0, 1)
        third = np.clip(x / 3, 0, 1)
        return np.stack([1 - second, second - third, third], 1)

    assert hard(chain_scene(soft)) == [False, False, False]


def machine(scene: Scene) -> list[bool]:
    own = BodyFacts(gather_bodies(scene)[0])
    pull = own.body.pull.take(own.by_place.vertex_of_point)
    count = len(own.body.joints)
    found: list[bool] = machine_joints(pull, own.by_place, count).tolist()
    return found


def test_a_machine_has_no_blends_anywhere() -> None:
    """A cut between two bones of a body that is soft elsewhere is no machine's."""

    def mostly(x: Any) -> Any:
        first = (x < -2) * 1.0
        third = np.clip(x / 6, 0, 1)
        return np.stack([first, 1 - np.maximum(first, third), third], 1)

    assert hard(chain_scene(mostly)) == [True, False, False]
    assert machine(chain_scene(mostly)) == [False, False, False]
    assert machine(chain_scene()) == [True, True, True]


def test_a_joint_that_is_soft_on_one_side_is_not_hard() -> None:
    """Cut between the first and the second bone, blended beyond."""

    def half(x: Any) -> Any:
        first = (x < -2) * 1.0
        third = np.clip((x - 1) / 2, 0, 1)
        return np.stack([first, 1 - first - third, third], 1)

    assert hard(chain_scene(half)) == [True, False, False]


@pytest.mark.parametrize(("blended", "is_hard"), [(4, True), (12, False)])
def test_a_few_points_that_are_blended_do_not_matter(
    blended: int, is_hard: bool
) -> None:
    """15 % of those along the cut may be: of two rings of 32 for the middle bone."""

    def some(x: Any) -> Any:
        weights = np.eye(3)[np.digitize(x, [-2, 2])]
        ring = np.flatnonzero(np.isclose(x, 4))[:blended]
        weights[ring] = [0, 0.5, 0.5]
        return weights

    assert SIDES == 32
    assert hard(chain_scene(some)) == [True, is_hard, is_hard]


def test_what_touches_nothing_else_is_not_hard() -> None:
    """All on one bone, so no cut; and bones that hold nothing."""

    def whole(x: Any) -> Any:
        return np.tile([0.0, 1, 0], (len(x), 1))

    assert hard(chain_scene(whole)) == [False, False, False]


def test_nothing_at_all() -> None:
    surface = BodyFacts(gather_bodies(chain_scene())[0]).by_place
    empty = Pull(
        np.full((len(surface), 1), -1, np.int32),
        np.zeros((len(surface), 1), np.float32),
    )
    assert hard_joints(empty, surface, 3).tolist() == [False] * 3


def track(node: int, kind: Any, values: Any) -> Track:
    values = np.asarray(values, np.float32)
    return Track(node, kind, np.arange(len(values), dtype=np.float32), values)


def sliding(scene: Scene, *tracks: Track) -> list[bool]:
    clips = {"one": Clip("one", tracks)} if tracks else {}
    facts = SceneFacts(dataclasses.replace(scene, clips=clips))
    found: list[bool] = sliding_joints(facts, facts.bodies[0].body).tolist()
    return found


def test_what_clips_push_along_slides() -> None:
    scene = chain_scene()
    way = scene.skeleton.translations[2].astype(float)
    far = [way, way + np.array([0, 0.5, 0]), way]
    near = [way, way + np.array([0, 0.05, 0]), way]
    assert sliding(scene) == [False] * 3
    assert sliding(scene, track(2, "translation", far)) == [False, False, True]
    # Less than 1 % of the 8 m between the joints.
    assert sliding(scene, track(2, "translation", near)) == [False] * 3


def test_what_turns_does_not_slide() -> None:
    scene = chain_scene()
    way = scene.skeleton.translations[2].astype(float)
    far = track(2, "translation", [way, way + np.array([0, 0.5, 0]), way])
    for degrees, slides in ((5, True), (15, False)):
        turns = [turn([0, 0, 1], 0), turn([0, 0, 1], degrees), turn([0, 0, 1], 0)]
        found = sliding(scene, far, track(2, "rotation", turns))
        assert found == [False, False, slides]
    bends = track(2, "rotation", [turn([0, 0, 1], 0), turn([0, 0, 1], 90)])
    assert sliding(scene, bends) == [False] * 3


def test_the_first_joint_moves_the_whole_body() -> None:
    scene = chain_scene()
    way = scene.skeleton.translations[0].astype(float)
    found = sliding(
        scene, track(0, "translation", [way, way + np.array([9, 0, 0]), way])
    )
    assert found == [False] * 3


def test_how_far_is_counted_in_the_size_of_the_world() -> None:
    """A node above the bones that makes all of it a hundred times smaller."""
    scene = chain_scene()
    old = scene.skeleton
    skeleton = Skeleton(
        (*old.names, "above"),
        np.append(np.where(old.parents < 0, len(old), old.parents), -1),
        np.concatenate([old.translations, np.zeros((1, 3))]),
        np.concatenate([old.rotations, [[0, 0, 0, 1]]]),
        np.concatenate([old.scales, np.full((1, 3), 0.01)]),
    )
    small = dataclasses.replace(
        scene,
        skeleton=skeleton,
        node_mesh=np.append(scene.node_mesh, -1),
        node_skin=np.append(scene.node_skin, -1),
        root_sets=(),
        default_set=None,
    )
    way = old.translations[2].astype(float)
    for far, slides in ((0.5, True), (0.05, False)):
        moves = track(2, "translation", [way, way + np.array([0, far, 0]), way])
        assert sliding(small, moves) == [False, False, slides]


def test_points_near() -> None:
    own = BodyFacts(gather_bodies(chain_scene())[0])
    pull = own.body.pull.take(own.by_place.vertex_of_point)
    x = own.by_place.positions[:, 0]
    last = np.array([False, False, True])
    # Its own skin, and the ring before it.
    assert (points_near(pull, own.by_place, last) == (x > 1.4)).all()
    assert not points_near(pull, own.by_place, ~last & False).any()
    assert points_near(pull, own.by_place, last | True).all()


def test_a_little_weight_is_not_near() -> None:
    def little(x: Any) -> Any:
        return np.tile([0.96, 0.04, 0], (len(x), 1))

    own = BodyFacts(gather_bodies(chain_scene(little))[0])
    pull = own.body.pull.take(own.by_place.vertex_of_point)
    assert not points_near(pull, own.by_place, np.array([False, True, False])).any()
