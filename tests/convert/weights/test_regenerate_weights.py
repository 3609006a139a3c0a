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
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.regenerate_weights import body_lines, regenerate_weights
from flexor.scene.character.clip import Clip
from tests.convert.shape.tubes import skinned_scene
from tests.convert.shape.tubes import tube as make_tube


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
    assert skin_error(flexor.samples.mannequin()) < 0.0012


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("CesiumMan.glb", 0.0018),
        ("RiggedFigure.glb", 0.0013),
        ("Mannequiny.glb", 0.0012),
        ("Fox.glb", 0.005),
        ("Alien.glb", 0.0035),
        ("Q_Trex.glb", 0.0025),
        ("Q_Enemy_2Legs.glb", 0.002),
        ("KayKit_Knight.glb", 0.0015),
        ("M2M_spider.glb", 0.0002),
        ("M2M_bird.glb", 0.0008),
        ("Cow_quaternius.glb", 0.0022),
    ],
)
def test_figures_get_their_weights_back(assets: Any, name: str, most: float) -> None:
    assert skin_error(flexor.load(assets / name)) < most


def test_a_figure_whose_clips_are_in_another_file(assets: Any) -> None:
    hero = flexor.load(assets / "Elf.glb")
    moving = flexor.load(assets / "Elf_animations.glb")
    rows = {name: row for row, name in enumerate(hero.skeleton.names)}
    names = moving.skeleton.names
    clips = {}
    for name, clip in moving.clips.items():
        known = [track for track in clip.tracks if names[track.node] in rows]
        assert len(known) > 15
        tracks = [dataclasses.replace(t, node=rows[names[t.node]]) for t in known]
        clips[name] = Clip(name, tuple(tracks))
    assert skin_error(hero.with_clips(clips)) < 0.003


def test_the_weights_that_were_there_are_not_looked_at() -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    one = regenerate_weights(BodyFacts(body))
    other = regenerate_weights(BodyFacts(forgotten(body)))
    assert (one.joints == other.joints).all()
    assert (one.weights == other.weights).all()


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


def test_lines_of_the_mannequin() -> None:
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    lines = body_lines(body, BodyFacts(body).by_place)
    assert len(lines.rows) > 50
    np.testing.assert_array_equal(lines.bases, body.frames[lines.rows, :, 3])


def test_a_foot_is_a_bone_if_its_twin_is() -> None:
    """Feet that hang on the root, one of them a hair's breadth further from the skin
    than may be.
    """
    up = np.array([0, 1, 0])
    leg, ways, faces = make_tube(np.linspace(0, 4, 17), (0.3, 0.3))
    places = np.concatenate([leg + up, leg - up])
    both = np.concatenate([faces, np.array(faces) + len(leg)])
    sides = np.concatenate([ways, ways])
    names, bases, parents = ["root"], [[-1.0, 0, 0]], [-1]
    for side, y, off in (("L", 1, 0.03), ("R", -1, 0.05)):
        first = len(names)
        for joint, x in enumerate((0.2, 1.2, 2.2)):
            names.append(f"leg{joint}.{side}")
            bases.append([x, y, 0])
            parents.append(first + joint - 1 if joint else 0)
        names.append(f"foot.{side}")
        bases.append([3.0, y * (1.3 + off), 0])
        parents.append(0)
    tied = np.eye(len(names))[np.zeros(len(places), int)]
    scene = skinned_scene(
        bases, parents, places, both, tied, normals=sides, names=names
    )
    body = gather_bodies(scene)[0]
    rows = body_lines(body, BodyFacts(body).by_place).rows.tolist()
    assert [names.index("foot.L") in rows, names.index("foot.R") in rows] == [True] * 2


def tube_body(gap: float = 0.0) -> Body:
    """A tube of two bones along x, 0 to 4; gap: how far its halves are apart at 2.5,
    none: one piece.
    """
    rings = np.linspace(0, 4, 33)
    positions, normals, faces = make_tube(rings, (0.4, 0.4))
    if gap:
        cut = np.flatnonzero(np.isclose(positions[:, 0], 2.5))
        copy = {int(row): len(positions) + i for i, row in enumerate(cut)}
        beyond = positions[faces].mean(1)[:, 0] > 2.5
        faces = np.array(faces)
        faces[beyond] = np.vectorize(lambda row: copy.get(row, row))(faces[beyond])
        positions = np.concatenate([positions, positions[cut] + [gap, 0, 0]])
        normals = np.concatenate([normals, normals[cut]])
    bases = [[0.0, 0, 0], [2, 0, 0]]
    tied = np.tile([1.0, 0], (len(positions), 1))
    scene = skinned_scene(bases, [-1, 0], positions, faces, tied, normals=normals)
    return gather_bodies(scene)[0]


def test_an_open_tube_passes_from_bone_to_bone() -> None:
    body = tube_body()
    weights = regenerate_weights(BodyFacts(body)).dense(2)
    x = body.positions[:, 0]
    assert (weights[x < 1, 0] > 0.99).all()
    assert (weights[x > 3, 1] > 0.99).all()
    ring = weights[np.isclose(x, 2)]
    np.testing.assert_allclose(ring, 0.5, atol=0.1)


def test_a_split_tube_is_bound_as_if_it_were_whole() -> None:
    whole = regenerate_weights(BodyFacts(tube_body())).dense(2)
    split = regenerate_weights(BodyFacts(tube_body(gap=1e-4))).dense(2)
    np.testing.assert_allclose(split[: len(whole)], whole, atol=0.05)


def test_tubes_that_cut_each_other_keep_to_their_own_bones() -> None:
    """Two crossing tubes, bones in each: heat does not pass from one to the other."""
    positions, normals, faces = make_tube(np.linspace(-2, 2, 17), (0.3, 0.3))
    turned, tilted = positions[:, [1, 0, 2]] * [1, 1, -1], normals[:, [1, 0, 2]]
    places = np.concatenate([positions, turned])
    both = np.concatenate([faces, np.array(faces) + len(positions)])
    sides = np.concatenate([normals, tilted * [1, 1, -1]])
    bases = [[-1.9, 0, 0], [1.9, 0, 0], [0, -1.9, 0], [0, 1.9, 0]]
    tied = np.tile([1.0, 0, 0, 0], (len(places), 1))
    scene = skinned_scene(bases, [-1, 0, -1, 2], places, both, tied, normals=sides)
    weights = regenerate_weights(BodyFacts(gather_bodies(scene)[0])).dense(4)
    half = len(positions)
    assert (weights[:half, :2].sum(1) > 0.999).all()
    assert (weights[half:, 2:].sum(1) > 0.999).all()


def test_three_faces_at_an_edge_and_loose_points() -> None:
    places = np.array(
        [[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0], [0.5, 0, 1], [9, 9, 9]]
    )
    faces = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 0, 1]]
    tied = np.tile([1.0, 0], (6, 1))
    scene = skinned_scene([[0, 0, 0], [1, 0, 0]], [-1, 0], places, faces, tied)
    weights = regenerate_weights(BodyFacts(gather_bodies(scene)[0])).dense(2)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)


def test_the_same_bits_on_one_thread_and_on_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = tube_body()
    pulls = []
    for count in ("1", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", count)
        pulls.append(regenerate_weights(BodyFacts(body)))
    np.testing.assert_array_equal(pulls[0].weights, pulls[1].weights)
    np.testing.assert_array_equal(pulls[0].joints, pulls[1].joints)
