from __future__ import annotations

import copy
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.motion.reduce import reduce_motion
from flexor.errors import AssetError, SettingError, ShapeError
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import PackedClip
from tests.packed_clips import arm, wave
from tests.same import differences
from tests.scenes import plain_scene, random_scene


def test_load_what_was_saved(tmp_path: Path) -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    flexor.save(hero, tmp_path / "a.glb")
    again = flexor.load(str(tmp_path / "a.glb"))
    assert list(differences(hero.scene, again.scene)) == []


def test_endings_do_not_depend_on_case(tmp_path: Path) -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    flexor.save(hero, tmp_path / "a.GLB")
    assert len(flexor.load(tmp_path / "a.GLB").skeleton) == len(hero.skeleton)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.obj", "unknown kind of file, expected one of .glb, .gltf, .vrm, .bvh"),
        ("missing.glb", "No such file or directory"),
        ("", "is a folder"),
    ],
)
def test_refusals_of_load(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(AssetError, match=text) as caught:
        flexor.load(tmp_path / name)
    assert caught.value.path == tmp_path / name


def test_save_wants_a_known_ending(tmp_path: Path) -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    with pytest.raises(SettingError, match=r"\.glb, \.gltf, \.vrm or \.flexor"):
        flexor.save(hero, tmp_path / "a.fbx")
    assert list(tmp_path.iterdir()) == []


def test_a_posed_character_stands_like_that(tmp_path: Path) -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    pose = hero.pose("mixed", 0.9)
    flexor.save(hero.posed(pose), tmp_path / "posed.glb")
    again = flexor.load(tmp_path / "posed.glb")
    assert not again.clips
    for a, b in zip(hero.deform(pose), again.deform(again.pose()), strict=True):
        np.testing.assert_allclose(a.positions, b.positions, atol=1e-5)
        np.testing.assert_allclose(a.normals, b.normals, atol=1e-5)


def test_pipes_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.glb")
    with pytest.raises(AssetError, match="is not a plain file"):
        flexor.load(tmp_path / "pipe.glb")
    with pytest.raises(AssetError, match="cannot be read"):
        flexor.load(tmp_path / "a\0b.glb")


def test_a_pose_that_is_not_finite_is_not_saved() -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    pose = hero.pose()
    pose.translations[2, 1] = np.nan
    with pytest.raises(ShapeError, match="not finite"):
        hero.posed(pose)


def test_characters_can_be_pickled_and_copied() -> None:
    hero = Character(random_scene(np.random.default_rng(3)))
    pose = hero.pose("mixed", 0.4)
    for twin in (pickle.loads(pickle.dumps(hero)), copy.deepcopy(hero)):
        assert list(differences(hero.scene, twin.scene)) == []
        assert twin.pose("mixed", 0.4).world.tobytes() == pose.world.tobytes()


@pytest.mark.slow
def test_links_move_in_files_of_packed_motion(tmp_path: Path) -> None:
    """Packed clips leave links out; a .glb has tracks for them, for other engines."""
    skeleton = arm(4)
    linked = Skeleton(
        (*skeleton.names, "link"),
        np.append(skeleton.parents, 0),
        np.concatenate([skeleton.translations, skeleton.translations[1:2]]),
        np.tile(np.array([0, 0, 0, 1], np.float32), (5, 1)),
        np.ones((5, 3)),
        links={4: Link(1, 0.5)},
    )
    scene = plain_scene(linked, wave(np.random.default_rng(1), 4))
    packed, _ = reduce_motion(scene)
    assert isinstance(packed.clips["wave"], PackedClip)
    flexor.save(Character(packed), tmp_path / "a.glb")
    made = flexor.load(tmp_path / "a.glb")
    assert 4 in made.clips["wave"].nodes
    moments = np.linspace(0, 1, 31)
    a, b = (one.pose_many("wave", moments) for one in (Character(packed), made))
    np.testing.assert_allclose(a.world, b.world, atol=2e-4)


VRM_0 = {"VRM": {"specVersion": "0.0", "humanoid": {"humanBones": [{"node": 2}]}}}
VRM_1 = {
    "VRMC_vrm": {
        "specVersion": "1.0",
        "humanoid": {"humanBones": {"hips": {"node": 1}}},
    }
}


@pytest.mark.parametrize("extensions", [VRM_0, VRM_1])
def test_vrm_there_and_back(tmp_path: Path, extensions: Any) -> None:
    """What VRM says stays, and so do the numbers it says it with."""
    hero = flexor.samples.mannequin()
    nodes = hero.skeleton.names
    hero = Character(replace(hero.scene, clips={}, carried={"extensions": extensions}))
    linked, _ = flexor.repair(hero, links=3, joints=["*-elbow"], has_measures=False)
    assert linked.skeleton.links
    for one in (hero, linked):
        flexor.save(one, tmp_path / "hero.vrm")
        back = flexor.load(tmp_path / "hero.vrm")
        assert back.scene.carried["extensions"] == extensions
        assert back.skeleton.names[: len(nodes)] == nodes
        assert dict(back.skeleton.links) == dict(one.skeleton.links)
        assert [finding.level for finding in back.findings if finding] in (
            [],
            ["info"],
        )
