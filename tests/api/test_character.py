"""The character as programs hold it: poses, skins, batches, threads, refusals."""

from __future__ import annotations

import dataclasses
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.skins import SkinnedPrimitive
from flexor.deform.vertices import init_skin, skin_vertices
from flexor.errors import SettingError, ShapeError
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.pose import Pose
from flexor.pose.sample import init_sample, sample
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet
from tests.oracle import deform as deform_oracle
from tests.oracle import pose as pose_oracle
from tests.scenes import plain_scene, random_clip, random_scene, random_skeleton

Rng = np.random.Generator
PARTS = ("translations", "rotations", "scales", "world", "weights")


def same(one: Pose, two: Pose) -> bool:
    return all(getattr(one, p).tobytes() == getattr(two, p).tobytes() for p in PARTS)


@pytest.fixture
def hero(rng: Rng) -> Character:
    return Character(random_scene(rng))


def test_what_it_shows(hero: Character) -> None:
    assert repr(hero) == "Character(11 nodes, 3 meshes, 4 clips)"
    assert hero.skeleton is hero.scene.skeleton
    assert hero.meshes is hero.scene.meshes
    assert list(hero.clips) == ["linear", "step", "cubic", "mixed"]
    assert hero.findings == ()
    finding = Finding("info", "odd", "/", "text")
    scene = dataclasses.replace(hero.scene, findings=(finding,))
    assert Character(scene).findings == (finding,)


# Poses


def test_rest_pose(hero: Character) -> None:
    pose = hero.pose()
    np.testing.assert_array_equal(pose.translations, hero.skeleton.translations)
    np.testing.assert_array_equal(pose.rotations, hero.skeleton.rotations)
    np.testing.assert_array_equal(pose.scales, hero.skeleton.scales)
    np.testing.assert_array_equal(pose.weights, hero.layout.rest_weights)
    local = pose_oracle.local_matrices(hero.skeleton, None, 0)
    expected = pose_oracle.world_matrices(hero.skeleton, local)
    np.testing.assert_allclose(pose.world, expected, atol=1e-4)


@pytest.mark.parametrize("name", ["linear", "step", "cubic", "mixed"])
def test_times_are_clamped(hero: Character, name: str) -> None:
    clip = hero.clips[name]
    assert same(hero.pose(name, -3), hero.pose(name, 0))
    assert same(hero.pose(name, 0), hero.pose(name))
    assert same(hero.pose(name, clip.duration + 9), hero.pose(name, clip.duration))
    assert not same(hero.pose(name, clip.duration), hero.pose(name, 0))


def test_poses_are_new_arrays(hero: Character) -> None:
    one, two = hero.pose("mixed", 0.5), hero.pose("mixed", 0.5)
    rest = hero.pose()
    rest.world[:] = 7
    rest.weights[:] = 7
    one.world[:] = 7
    assert not (two.world == 7).any()
    assert not (hero.pose().world == 7).any()
    assert not (hero.pose().weights == 7).any()
    assert not (hero.pose("mixed", 0.5).world == 7).any()


def test_pose_many(hero: Character) -> None:
    poses = hero.pose_many("mixed", [0.2, 5, -1])
    assert len(poses) == 3
    assert same(poses[1], hero.pose("mixed", 5))
    assert len(hero.pose_many("mixed", 0.2)) == 1
    rest = hero.pose_many(None, [0.0, 1.0])
    assert same(rest[1], hero.pose())


def test_no_moments(hero: Character) -> None:
    """A batch may be empty, as a slice of one is."""
    for clip in ("mixed", None):
        poses = hero.pose_many(clip, [])
        assert len(poses) == 0
        assert poses.world.shape == (0, 11, 3, 4)
        skins = hero.deform_many(poses)
        assert [len(skin.positions) for skin in skins] == [0] * 6
    assert len(hero.pose_from(rotations=np.zeros((0, 11, 4)))) == 0


def test_unknown_clip_names_those_there_are(hero: Character) -> None:
    text = "no clip 'Walk'; there are: 'linear', 'step', 'cubic', 'mixed'"
    with pytest.raises(SettingError, match=text):
        hero.pose("Walk", 0)
    empty = Character(plain_scene(hero.skeleton))
    with pytest.raises(SettingError, match="no clip 'Walk'; there are: none"):
        empty.pose("Walk")


@pytest.mark.parametrize("time", [np.nan, np.inf, -np.inf])
def test_times_must_be_finite(hero: Character, time: float) -> None:
    with pytest.raises(SettingError, match="time: must be a finite number"):
        hero.pose("mixed", time)
    with pytest.raises(SettingError, match="times: must be finite"):
        hero.pose_many("mixed", [0, time])


def test_times_must_be_a_row(hero: Character) -> None:
    with pytest.raises(ShapeError, match=r"times: shape \(1, 2\), expected \(N,\)"):
        hero.pose_many("mixed", [[0, 1]])


def test_pose_from_is_the_rest_pose_without_arguments(hero: Character) -> None:
    assert same(hero.pose_from(), hero.pose())


def test_pose_from_the_parts_of_a_pose(hero: Character) -> None:
    pose = hero.pose("mixed", 0.9)
    again = hero.pose_from(pose.translations, pose.rotations, pose.scales, pose.weights)
    assert same(pose, again)
    poses = hero.pose_many("mixed", [0.3, 0.6, 0.9])
    many = hero.pose_from(
        poses.translations, poses.rotations, poses.scales, poses.weights
    )
    assert same(many, poses)


def test_pose_from_spreads_what_is_single(hero: Character, rng: Rng) -> None:
    moves = rng.normal(size=(3, 11, 3))
    weights = rng.normal(size=6)
    poses = hero.pose_from(moves, weights=weights)
    assert len(poses) == 3
    for n in range(3):
        assert same(poses[n], hero.pose_from(moves[n], weights=weights))
    assert len(hero.pose_from(moves[:1])) == 1
    assert hero.pose_from(moves[:1]).is_many


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            {"translations": np.zeros((10, 3))},
            r"translations: shape \(10, 3\), expected \(11, 3\)",
        ),
        ({"rotations": np.zeros((11, 3))}, r"rotations: shape .* or \(N, 11, 4\)"),
        ({"scales": np.zeros((1, 1, 11, 3))}, "scales: shape"),
        ({"scales": 2.0}, "scales: shape"),
        ({"weights": np.zeros(5)}, "weights: shape"),
        (
            {"translations": np.zeros((2, 11, 3)), "scales": np.ones((3, 11, 3))},
            "scales: 3 poses, others have 2",
        ),
        ({"translations": np.full((11, 3), np.nan)}, "translations: must be finite"),
        ({"weights": np.full(6, np.inf)}, "weights: must be finite"),
    ],
)
def test_pose_from_refusals(hero: Character, parts: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        hero.pose_from(**parts)


def test_posed_stands_in_the_pose(hero: Character) -> None:
    pose = hero.pose("mixed", 0.8)
    statue = hero.posed(pose)
    assert not statue.clips
    np.testing.assert_array_equal(statue.pose().world, pose.world)
    np.testing.assert_array_equal(statue.pose().weights, pose.weights)
    for one, two in zip(statue.deform(statue.pose()), hero.deform(pose), strict=True):
        assert one.positions.tobytes() == two.positions.tobytes()
    with pytest.raises(ShapeError, match="posed: expected one pose"):
        hero.posed(hero.pose_many("mixed", [0, 1]))


def test_posed_leaves_the_pose_to_its_owner(hero: Character) -> None:
    """The statue has arrays of its own: the pose can be written to, and has no say."""
    pose = hero.pose("mixed", 0.8)
    statue = hero.posed(pose)
    before = statue.pose().world.copy()
    for part in PARTS:
        getattr(pose, part)[...] = 0
    np.testing.assert_array_equal(statue.pose().world, before)
    np.testing.assert_array_equal(statue.skeleton.scales.min() > 0, True)


# Skins


def check_skins(hero: Character, pose: Pose) -> None:
    skins = hero.deform(pose)
    places = []
    for skin in skins:
        places.append((skin.node, skin.primitive))
        mesh = hero.meshes[hero.scene.node_mesh[skin.node]]
        row = int(hero.scene.node_skin[skin.node])
        first, count = hero.layout.morph_columns.get(skin.node, (0, 0))
        positions, normals = deform_oracle.deform(
            mesh.primitives[skin.primitive],
            hero.scene.skins[row] if row >= 0 else None,
            pose.world,
            skin.node,
            pose.weights[first : first + count],
        )
        size = max(1, np.abs(positions).max())
        np.testing.assert_allclose(skin.positions, positions, atol=3e-6 * size)
        np.testing.assert_allclose(skin.normals, normals, atol=2e-5)
        assert skin.positions.flags.c_contiguous
    assert places == [(0, 0), (1, 0), (1, 1), (3, 0), (4, 0), (4, 1)]


@pytest.mark.parametrize("scale", ["one", "even", "uneven", "negative", "mirror"])
@pytest.mark.parametrize("influences", [1, 4, 9])
def test_deform(scale: Any, influences: int, rng: Rng) -> None:
    """From time to skin: clips, morphs, instances, rigid and skinned meshes."""
    hero = Character(random_scene(rng, scale=scale, influences=influences, targets=3))
    for pose in (hero.pose(), hero.pose("mixed", 0.7), hero.pose("linear", 1.1)):
        check_skins(hero, pose)


def test_instances_move_with_their_own_nodes_and_weights(hero: Character) -> None:
    skins = {
        skin.node: skin for skin in hero.deform(hero.pose()) if skin.node in (0, 3)
    }
    assert not np.allclose(skins[0].positions, skins[3].positions)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_deform_many_has_the_bits_of_each(
    hero: Character, count: int, workers: str, monkeypatch: pytest.MonkeyPatch, rng: Rng
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", workers)
    poses = hero.pose_many("mixed", rng.uniform(0, 2, count))
    many = hero.deform_many(poses)
    for n in range(count):
        for one, all_of_them in zip(hero.deform(poses[n]), many, strict=True):
            assert (one.node, one.primitive) == (
                all_of_them.node,
                all_of_them.primitive,
            )
            assert one.positions.tobytes() == all_of_them.positions[n].tobytes()
            assert one.normals.tobytes() == all_of_them.normals[n].tobytes()
    for skin in many:
        assert (
            skin.positions.shape
            == skin.normals.shape
            == (count, *skin.positions.shape[1:])
        )


def test_out_is_used_again(hero: Character) -> None:
    first = hero.deform_many(hero.pose_many("mixed", [0.1, 0.2, 0.3]))
    arrays = [(skin.positions, skin.normals) for skin in first]
    poses = hero.pose_many("linear", [0.7, 0.8, 1.9])
    second = hero.deform_many(poses, out=first)
    fresh = hero.deform_many(poses)
    for skin, (positions, normals), new in zip(second, arrays, fresh, strict=True):
        assert skin.positions is positions
        assert skin.normals is normals
        assert positions.tobytes() == new.positions.tobytes()
        assert normals.tobytes() == new.normals.tobytes()


def changed(skins: list[SkinnedPrimitive], **parts: Any) -> list[SkinnedPrimitive]:
    return [*skins[:-1], dataclasses.replace(skins[-1], **parts)]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_wrong_out_is_refused(
    hero: Character, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", workers)
    poses = hero.pose_many("mixed", [0.1, 0.2, 0.3])
    out = hero.deform_many(poses)
    with pytest.raises(ShapeError, match="out: 5 primitives, expected 6"):
        hero.deform_many(poses, out=out[:-1])
    last = out[-1].positions
    for wrong in (
        np.zeros((3, last.shape[1] + 1, 3), np.float32),
        np.zeros((2, *last.shape[1:]), np.float32),
        np.zeros((4, *last.shape[1:]), np.float32),
        np.zeros(last.shape),
    ):
        with pytest.raises(ShapeError, match="positions"):
            hero.deform_many(poses, out=changed(out, positions=wrong))
        with pytest.raises(ShapeError, match="normals"):
            hero.deform_many(poses, out=changed(out, normals=wrong))


def test_one_and_many_are_not_mixed_up(hero: Character) -> None:
    with pytest.raises(ShapeError, match="a pose of 2 moments; use deform_many"):
        hero.deform(hero.pose_many(None, [0, 1]))
    with pytest.raises(ShapeError, match="a pose of one moment; use deform "):
        hero.deform_many(hero.pose())


def test_a_pose_of_another_character_is_refused(hero: Character, rng: Rng) -> None:
    other = Character(plain_scene(random_skeleton(rng, 12)))
    with pytest.raises(ShapeError, match="a pose of 12 nodes for a character with 11"):
        hero.deform(other.pose())
    twin = Character(plain_scene(random_skeleton(rng, 11)))
    with pytest.raises(ShapeError, match="weights"):
        hero.deform(twin.pose())


def test_poses_may_be_read_only(hero: Character) -> None:
    """What is only read need not be writable: poses from a file or another process."""
    poses = hero.pose_many("mixed", [0.3, 0.9])
    expected = hero.deform_many(poses)
    for part in PARTS:
        getattr(poses, part).flags.writeable = False
    for one, two in zip(hero.deform_many(poses), expected, strict=True):
        assert one.positions.tobytes() == two.positions.tobytes()
    for pose in (poses[1], hero.pose_from(poses.translations[1], poses.rotations[1])):
        assert len(hero.deform(pose)) == 6


def test_poses_may_have_any_order_and_type(hero: Character) -> None:
    poses = hero.pose_many("mixed", [0.3, 0.9])
    world = np.asfortranarray(poses.world.astype(np.float64))
    odd = dataclasses.replace(
        poses, world=world, weights=poses.weights[:, ::-1][:, ::-1]
    )
    for one, two in zip(hero.deform_many(odd), hero.deform_many(poses), strict=True):
        assert one.positions.tobytes() == two.positions.tobytes()


def test_without_meshes(rng: Rng) -> None:
    hero = Character(plain_scene(random_skeleton(rng, 4), random_clip(rng, "c", 4)))
    assert hero.deform(hero.pose("c", 1)) == []
    assert hero.deform_many(hero.pose_many("c", [0, 1])) == []


def test_without_anything() -> None:
    hero = Character(plain_scene(random_skeleton(np.random.default_rng(0), 0, roots=0)))
    assert hero.pose().world.shape == (0, 3, 4)
    assert hero.deform(hero.pose()) == []


def test_only_the_default_scene_is_deformed(hero: Character) -> None:
    scene = dataclasses.replace(hero.scene, root_sets=(RootSet("none", ()),))
    shown = Character(scene)
    assert shown.deform(shown.pose()) == []


def test_several_threads_use_one_character(rng: Rng) -> None:
    """A fresh one, so that its tables are made while others wait for them."""
    scene = random_scene(rng)
    times = rng.uniform(0, 2, (6, 4))
    names = ["linear", "step", "cubic", "mixed", "linear", "mixed"]
    calm = Character(scene)
    expected = [
        [
            skin.positions.tobytes()
            for skin in calm.deform_many(calm.pose_many(name, row))
        ]
        for name, row in zip(names, times, strict=True)
    ]
    for _ in range(3):
        busy = Character(scene)
        made: dict[int, list[bytes]] = {}
        start = threading.Barrier(len(names))

        def call(
            me: int,
            busy: Character = busy,
            made: dict[int, list[bytes]] = made,
            start: threading.Barrier = start,
        ) -> None:
            start.wait()
            skins = busy.deform_many(busy.pose_many(names[me], times[me]))
            made[me] = [skin.positions.tobytes() for skin in skins]

        callers = [
            threading.Thread(target=call, args=(me,)) for me in range(len(names))
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(60)
        assert [made[me] for me in range(len(names))] == expected


@pytest.mark.parametrize("factor", [0.0, 0.9, 3.0])
def test_rotations_of_your_own_must_be_unit(hero: Character, factor: float) -> None:
    turns = np.array(hero.skeleton.rotations)
    turns[4] *= factor
    with pytest.raises(ShapeError, match=r"unit quaternions \(x, y, z, w\); at node 4"):
        hero.pose_from(rotations=turns)
    many = np.stack([hero.skeleton.rotations, turns])
    with pytest.raises(ShapeError, match="at node 4"):
        hero.pose_from(rotations=many)


@pytest.mark.jit
def test_frames_make_no_memory() -> None:
    """After the first frames a loop like example 02 keeps what it has."""
    hero = flexor.samples.mannequin()
    clip, (bind,) = hero.clip_tables("walk"), hero.binds
    states, world = init_sample(clip, hero.layout, 8), init_world(hero.layout, 8)
    skin, weights = init_skin(bind, 8), np.zeros((8, 0), np.float32)
    room = np.zeros((2, 8, bind.vertex_count, 3), np.float32)
    moments = np.linspace(0, 1, 8, dtype=np.float32)

    def frame() -> None:
        sample(states, moments)
        world_from_local(world, states.local)
        skin_vertices(skin, world.matrices, weights, positions=room[0], normals=room[1])

    for _ in range(3):
        frame()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        frame()
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert now - before < 2_000
    assert peak - before < 20_000, "nothing of the size of a skin, ever"
