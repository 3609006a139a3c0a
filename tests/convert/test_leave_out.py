"""Characters without some of their meshes."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.leave_out import leave_out_meshes
from flexor.errors import SettingError
from flexor.scene.scene import Scene
from tests.packed_clips import packed_clip
from tests.scenes import random_scene


@pytest.fixture
def scene(rng: np.random.Generator) -> Scene:
    """Meshes "pair", "rigid" at two nodes and a third; clips with morph weights."""
    return random_scene(rng)


def shown(scene: Scene) -> list[tuple[str, str]]:
    """Nodes and meshes, by their names."""
    return [
        (scene.skeleton.names[node], scene.meshes[mesh].name)
        for node, mesh in enumerate(scene.node_mesh)
        if mesh >= 0
    ]


def test_the_name_of_a_mesh_is_all_its_nodes(scene: Scene) -> None:
    left = leave_out_meshes(scene, ["rig*"])
    assert shown(left) == [pair for pair in shown(scene) if pair[1] != "rigid"]
    assert [m.name for m in left.meshes] == [
        m.name for m in scene.meshes if m.name != "rigid"
    ]
    assert left.skeleton is scene.skeleton
    assert left.skins == scene.skins
    assert list(left.clips) == list(scene.clips)


def test_the_name_of_a_node_is_that_one_alone(scene: Scene) -> None:
    first = next(node for node, mesh in shown(scene) if mesh == "rigid")
    left = leave_out_meshes(scene, [first])
    assert shown(left) == [pair for pair in shown(scene) if pair[0] != first]
    assert left.meshes == scene.meshes  # the mesh stands elsewhere, too


def test_motion_and_skins_of_the_rest_stay_as_they_are(scene: Scene) -> None:
    whole = Character(scene)
    left = whole.without("rigid")
    for clip in whole.clips:
        before, after = whole.pose(clip, 0.3), left.pose(clip, 0.3)
        np.testing.assert_array_equal(before.world, after.world)
        skins = {(s.node, s.primitive): s for s in whole.deform(before)}
        for skin in left.deform(after):
            wanted = skins.pop((skin.node, skin.primitive))
            np.testing.assert_array_equal(skin.positions, wanted.positions)
        assert all(
            scene.meshes[scene.node_mesh[node]].name == "rigid" for node, _ in skins
        )


def test_packed_clips_lose_their_morphs_too(
    scene: Scene, rng: np.random.Generator
) -> None:
    tracks = [t for clip in scene.clips.values() for t in clip.tracks]
    morphs = next(track for track in tracks if track.path == "weights")
    clip = packed_clip(rng, keyed=(morphs,))
    packed = dataclasses.replace(scene, clips={"packed": clip})
    left = leave_out_meshes(packed, ["*"])
    assert not shown(left)
    assert left.meshes == ()
    assert left.clips["packed"].words is clip.words
    assert Character(left).pose("packed", 0.5).weights.shape == (0,)


def test_what_is_left_is_saved_drawn_and_has_envelopes(
    scene: Scene, tmp_path: Path
) -> None:
    left = Character(scene).without("rigid")
    flexor.save(left, tmp_path / "left.glb")
    again = flexor.load(tmp_path / "left.glb")
    assert shown(again.scene) == shown(left.scene)
    pose = left.pose()
    assert len(left.deform(pose, weights="one")) == len(again.deform(pose))


def test_rows_stay_where_extensions_may_name_them(scene: Scene) -> None:
    kept = dataclasses.replace(scene, carried={"extensions": {"VRM": {"mesh": 2}}})
    left = leave_out_meshes(kept, ["rigid"])
    assert left.meshes == scene.meshes
    assert "rigid" not in dict(map(reversed, shown(left)))  # type: ignore[call-overload]


def test_each_pattern_must_fit(scene: Scene) -> None:
    there = re.escape("without: no mesh or node of one fits 'Rigid'; there are: '")
    with pytest.raises(SettingError, match=there + r".*\(mesh 'pair'\)"):
        leave_out_meshes(scene, ["pair", "Rigid"])
    with pytest.raises(SettingError, match="no pattern given"):
        Character(scene).without()
    with pytest.raises(SettingError, match="3, expected a pattern of names"):
        Character(scene).without(3)  # type: ignore[arg-type]


def test_a_skeleton_has_none(scene: Scene) -> None:
    bare = leave_out_meshes(scene, ["*"])
    with pytest.raises(SettingError, match=r"'shield'; there are: none"):
        leave_out_meshes(bare, ["shield"])


def test_names_with_brackets_are_found_as_they_are(scene: Scene) -> None:
    meshes = (dataclasses.replace(scene.meshes[0], name="a[1]"), *scene.meshes[1:])
    left = leave_out_meshes(dataclasses.replace(scene, meshes=meshes), ["a[1]"])
    assert "a[1]" not in [mesh.name for mesh in left.meshes]
