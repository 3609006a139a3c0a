from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Body, Pull, gather_bodies
from flexor.convert.shape.bones import Bones, derive_bones, ties
from tests.conftest import asset_files


def make_body(places: Any, parents: Any, points: Any = ((0, 0, 0), (1, 1, 1))) -> Body:
    """A body of joints that are not turned; points give it its size."""
    count = len(parents)
    frames = np.tile(np.eye(3, 4), (count, 1, 1))
    frames[:, :, 3] = places
    positions = np.array(points, float)
    none = Pull(
        np.full((len(positions), 1), -1, np.int32),
        np.zeros((len(positions), 1), np.float32),
    )
    return Body(
        (0,),
        np.arange(count, dtype=np.int32),
        tuple(f"j{i}" for i in range(count)),
        np.array(parents, np.int32),
        frames,
        ((0, 0),),
        (0, len(positions)),
        positions,
        np.zeros_like(positions),
        np.zeros((0, 3), np.int32),
        none,
        np.zeros(len(positions), bool),
    )


def check_frames(bones: Bones) -> None:
    """Turned and moved but not scaled nor mirrored, X along the bone."""
    sides = bones.frames[:, :, :3]
    square = np.einsum("sij,sik->sjk", sides, sides)
    eye = np.broadcast_to(np.eye(3), square.shape)
    np.testing.assert_allclose(square, eye, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(sides), 1, atol=1e-9)
    assert (bones.lengths >= 0).all()
    for bone, tip in enumerate(bones.tips):
        if tip >= 0:
            reached = bones.bases[bone] + bones.lengths[bone] * bones.axes[bone]
            np.testing.assert_allclose(reached, bones.bases[tip], atol=1e-9)
            np.testing.assert_allclose(
                bones.local(bone, bones.bases[[tip]]),
                [[bones.lengths[bone], 0, 0]],
                atol=1e-9,
            )


def pull_of(rows: Any, weights: Any = None) -> Pull:
    joints = np.array(rows, np.int32).reshape(len(rows), -1)
    given = np.ones(joints.shape) if weights is None else np.array(weights)
    return Pull(joints, given.astype(np.float32).reshape(joints.shape))


def test_a_chain() -> None:
    body = make_body([[0, 0, 0], [0, 2, 0], [1, 2, 0]], [-1, 0, 1])
    bones = derive_bones(body, body.positions, None)
    check_frames(bones)
    assert bones.tips.tolist() == [1, 2, -1]
    np.testing.assert_allclose(bones.lengths, [2, 1, 0])
    np.testing.assert_allclose(
        bones.axes, [[0, 1, 0], [1, 0, 0], [1, 0, 0]], atol=1e-12
    )


def test_a_leaf_points_at_what_hangs_on_it() -> None:
    body = make_body([[0, 0, 0], [0, 2, 0]], [-1, 0])
    points = np.array([[t, 2, 0.1 * s] for t in np.linspace(0, 1, 21) for s in (-1, 1)])
    bones = derive_bones(body, points, pull_of([1] * len(points)))
    check_frames(bones)
    np.testing.assert_allclose(bones.axes[1], [1, 0, 0], atol=1e-12)
    assert 0.9 < bones.lengths[1] <= 1
    # What hangs on it little says nothing; what hangs all around it gives no way.
    faint = pull_of([[1, 0]] * len(points), [[0.25, 0.75]] * len(points))
    np.testing.assert_allclose(derive_bones(body, points, faint).axes[1], [0, 1, 0])
    around = np.concatenate([points, [0, 4, 0] - points])
    bones = derive_bones(body, around, pull_of([1] * len(around)))
    np.testing.assert_allclose(bones.axes[1], [0, 1, 0], atol=1e-12)
    assert bones.lengths[1] == 0


def test_one_joint() -> None:
    body = make_body([[1, 2, 3]], [-1])
    bones = derive_bones(body, body.positions, None)
    check_frames(bones)
    assert (bones.tips.tolist(), bones.lengths.tolist()) == ([-1], [0])
    np.testing.assert_allclose(bones.axes, [[0, 1, 0]])
    hung = derive_bones(body, np.array([[1, 2, 5.0]]), pull_of([0]))
    np.testing.assert_allclose(hung.axes, [[0, 0, 1]])
    assert hung.lengths[0] == pytest.approx(2)


def test_no_joints() -> None:
    body = make_body(np.zeros((0, 3)), [])
    bones = derive_bones(body, body.positions, None)
    assert bones.frames.shape == (0, 3, 4)
    assert ties(body.pull, 0) == []


def test_a_fork_goes_on_in_the_way_it_came() -> None:
    places = [[0, 0, 0], [0, 1, 0], [1, 1.3, 0], [0.05, 2, 0], [-1, 1.3, 0], [-2, 1, 0]]
    body = make_body(places, [-1, 0, 1, 1, 1, 4])
    bones = derive_bones(body, body.positions, None)
    check_frames(bones)
    assert bones.tips.tolist() == [1, 3, -1, -1, 5, -1]


def test_of_children_as_straight_the_one_with_more_below_then_the_furthest() -> None:
    # A roll bone halfway along an arm, and the elbow with a hand.
    places = [[0, 0, 0], [1, 0, 0], [1.5, 0, 0], [2, 0.01, 0], [3, 0, 0]]
    body = make_body(places, [-1, 0, 1, 1, 3])
    bones = derive_bones(body, body.positions, None)
    assert bones.tips.tolist() == [1, 3, -1, 4, -1]
    ends = make_body(places[:4], [-1, 0, 1, 1])
    assert derive_bones(ends, ends.positions, None).tips.tolist() == [1, 3, -1, -1]
    # A root comes from nowhere: the child with the most below it.
    root = make_body([[0, 0, 0], [0, 5, 0], [0, 0, 1], [0, 0, 2]], [-1, 0, 0, 2])
    assert derive_bones(root, root.positions, None).tips[0] == 2


def test_joints_in_one_place_are_no_tips() -> None:
    body = make_body([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]], [-1, 0, 1, 2])
    bones = derive_bones(body, body.positions, None)
    check_frames(bones)
    assert bones.tips.tolist() == [-1, -1, 3, -1]
    np.testing.assert_allclose(bones.lengths, [0, 0, 1, 0])
    assert np.isfinite(bones.frames).all()


def test_sides_are_carried_over_along_a_chain(rng: Any) -> None:
    angles = np.linspace(0, np.pi / 2, 9)
    places = np.stack([np.sin(angles), 1 - np.cos(angles), 0 * angles], 1)
    bones = derive_bones(make_body(places, range(-1, 8)), np.zeros((0, 3)), None)
    check_frames(bones)
    # A chain in a plane keeps the side that stands across it.
    across = bones.frames[:, :, 2]
    np.testing.assert_allclose(np.abs(across[:, 2]), 1, atol=1e-9)
    wild = make_body(rng.normal(size=(30, 3)), [-1, *rng.integers(0, range(1, 30))])
    check_frames(derive_bones(wild, wild.positions, None))


def test_parents_that_come_after_their_children(rng: Any) -> None:
    parents = np.array([3, 0, 3, -1, 1], np.int32)
    check_frames(
        derive_bones(
            make_body(rng.normal(size=(5, 3)), parents), np.zeros((0, 3)), None
        )
    )


def test_ties_of_each_joint() -> None:
    pull = pull_of([[0, 2], [2, -1], [0, 1]], [[0.5, 0.5], [1, 0], [1, 0]])
    assert [rows.tolist() for rows in ties(pull, 4)] == [[0, 2], [], [0, 1], []]


def test_the_mannequins_bones() -> None:
    (body,) = gather_bodies(flexor.samples.mannequin().scene)
    bones = derive_bones(body, body.positions, body.pull)
    check_frames(bones)
    tips = {
        name: body.names[tip] if tip >= 0 else None
        for name, tip in zip(body.names, bones.tips, strict=True)
    }
    assert tips["chest"] == "neck"
    assert tips["neck"] == "head"
    assert tips["head"] is None
    assert tips["spine0"] == "spine1"
    assert tips["l-shoulder"] == "l-arm"
    assert tips["l-hand"] == "l-middle0"
    assert tips["l-index2"] is None
    axes = dict(zip(body.names, bones.axes, strict=True))
    assert axes["head"][1] > 0.9
    assert axes["l-toe"][2] > 0.9
    assert (bones.lengths > 0.005).all()
    for name, way in axes.items():
        if name.startswith("l-"):
            other = axes["r-" + name[2:]]
            np.testing.assert_allclose(way * [-1, 1, 1], other, atol=1e-4)


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("file", asset_files()[1::4], ids=lambda file: file.stem)
def test_bones_of_real_characters(file: Any) -> None:
    for body in gather_bodies(flexor.load(file).scene):
        check_frames(derive_bones(body, body.positions, body.pull))
