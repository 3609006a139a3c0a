"""What of a body is shown: rings on sections, links merged, ties, spread vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.anatomy import (
    Anatomy,
    derive_anatomy,
    find_ties,
    merge_links,
    section_rings,
    spread_rows,
)
from flexor.convert.shape.body import Body, gather_bodies
from flexor.maths import transforms
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import linked, tube_scene

Rng = np.random.Generator


def only(scene: Scene) -> Anatomy:
    (body,) = gather_bodies(scene)
    return derive_anatomy(body, scene.skeleton)


@pytest.fixture(scope="module")
def mannequin() -> Scene:
    return flexor.samples.mannequin().scene


def test_rings_lie_on_the_sections(mannequin: Scene) -> None:
    for scene in (tube_scene(2.0), mannequin):
        anatomy = only(scene)
        rings = section_rings(anatomy, 16)
        assert rings.shape == (len(anatomy.frames), 2, 16, 3)
        for row, frame in enumerate(anatomy.frames):
            bone_from_joint = transforms.invert(frame)
            for end in range(2):
                local = transforms.apply(bone_from_joint, rings[row, end])
                x = end * anatomy.bones.lengths[row]
                np.testing.assert_allclose(local[:, 0], x, atol=1e-6)
                away = local[:, 1:] - anatomy.sections.offsets[row, end]
                share = away / anatomy.sections.radii[row, end]
                np.testing.assert_allclose((share**2).sum(1), 1, rtol=1e-4)


def test_rings_of_a_round_tube_are_around_it() -> None:
    # In the scene's own space: a circle of radius 1 around the X axis.
    anatomy = only(tube_scene(2.0))
    for row, frame in enumerate(anatomy.body.frames):
        for ring in section_rings(anatomy, 24)[row]:
            places = transforms.apply(frame, ring)
            away = np.hypot(places[:, 1], places[:, 2])
            np.testing.assert_allclose(away, 1, atol=0.06)
            assert np.ptp(places[:, 0]) < 1e-6


def test_what_hangs_on_links_hangs_on_their_joints() -> None:
    scene = tube_scene(2.0)
    (before,) = gather_bodies(scene)
    more = linked(scene, count=2)
    assert more.skeleton.links
    (body,) = gather_bodies(more)
    merged = merge_links(body, more.skeleton)
    assert merged.names == before.names
    assert merged.parents.tolist() == before.parents.tolist()
    own = set(more.skeleton.links)
    assert not own & set(merged.joints.tolist())
    whole = body.pull.dense(len(body.joints))
    rows = body.joint_rows(more.skeleton.links)
    for row, node in enumerate(merged.joints.tolist()):
        mine = [i for i, to in enumerate(rows) if int(body.joints[to]) == node]
        pulled = merged.pull.dense(len(merged.joints))[:, row]
        np.testing.assert_allclose(pulled, whole[:, mine].sum(1), atol=1e-6)


def test_a_body_without_links_stays_as_it_is() -> None:
    scene = tube_scene(2.0)
    (body,) = gather_bodies(scene)
    assert merge_links(body, scene.skeleton) is body


def nearest_on_bone(body: Body, anatomy: Anatomy, vertex: int, bone: int) -> Any:
    frame, length = anatomy.bones.frames[bone], anatomy.bones.lengths[bone]
    steps = np.linspace(0, length, 2001)[:, None]
    line = frame[:, 3] + steps * frame[:, 0]
    away = np.linalg.norm(line - body.positions[vertex], axis=1)
    return line[np.argmin(away)]


def test_ties_end_where_the_bone_is_nearest() -> None:
    anatomy = only(tube_scene(4.0))
    body = anatomy.body
    rows = np.arange(0, len(body), 7, dtype=np.int32)
    ties = find_ties(anatomy, rows)
    dense = body.pull.dense(len(body.joints))
    pairs = set(zip(ties.vertices.tolist(), ties.joints.tolist(), strict=True))
    wanted = {(v, j) for v in rows.tolist() for j in np.flatnonzero(dense[v] >= 0.02)}
    assert pairs == wanted
    assert len(pairs) == len(ties.weights)
    assert (np.diff(ties.weights) >= 0).all()
    assert {2} & set(np.bincount(ties.vertices).tolist())
    for i in range(0, len(ties.weights), 5):
        vertex, joint = int(ties.vertices[i]), int(ties.joints[i])
        assert ties.weights[i] == pytest.approx(dense[vertex, joint], abs=1e-6)
        (place,) = transforms.apply(body.frames[joint], ties.points[i : i + 1])
        expected = nearest_on_bone(body, anatomy, vertex, joint)
        np.testing.assert_allclose(place, expected, atol=0.01)


def test_few_points_are_all_taken_once(rng: Rng) -> None:
    points = rng.normal(size=(20, 3))
    twice = np.concatenate([points, points[5:]])
    assert spread_rows(twice, 20).tolist() == list(range(20))
    assert spread_rows(points[:0], 20).tolist() == []


@pytest.mark.parametrize("most", [1, 10, 100, 399])
def test_many_points_are_spread_evenly(rng: Rng, most: int) -> None:
    # Nine of ten points are in a tenth of the box.
    points = rng.uniform(0, 1, (2000, 3))
    points[200:] *= [0.1, 1, 1]
    rows = spread_rows(points, most)
    assert 0.4 * most <= len(rows) <= most
    assert (np.diff(rows) > 0).all()
    if most == 399:
        # 9 of 100 points there, were they taken as they come 91.
        assert (points[rows, 0] < 0.1).mean() < 0.6
