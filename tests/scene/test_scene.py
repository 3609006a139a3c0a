"""The whole scene: refusals, shown nodes, rest weights; findings and materials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import Material, TextureRef
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet, Scene
from tests.scenes import random_scene

PARENTS = [2, -1, 1, -1, 3]  # 1 <- 2 <- 0 and 3 <- 4


def make(**changes: Any) -> Scene:
    count = len(PARENTS)
    skeleton = Skeleton(
        tuple("abcde"),
        np.array(PARENTS),
        np.zeros((count, 3)),
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)),
    )
    target = MorphTarget(np.zeros((3, 3)))
    mesh = Mesh("mesh", (Primitive(np.zeros((3, 3)), targets=(target,)),), [0.25])  # type: ignore[arg-type]
    parts: dict[str, Any] = {
        "skeleton": skeleton,
        "node_mesh": [0, -1, 0, -1, -1],
        "node_skin": [-1, -1, 0, -1, -1],
        "meshes": (mesh,),
        "skins": (Skin("skin", [1], np.eye(3, 4)[None]),),  # type: ignore[arg-type]
    }
    return Scene(**{**parts, **changes})


def clip(node: int) -> dict[str, Clip]:
    track = Track(node, "translation", [0], np.zeros((1, 3)))  # type: ignore[arg-type]
    return {"walk": Clip("walk", (track,))}


def weights_clip(node: int, width: int) -> dict[str, Clip]:
    track = Track(node, "weights", [0], np.zeros((1, width)))  # type: ignore[arg-type]
    return {"smile": Clip("smile", (track,))}


def skin_of(node: int) -> Skin:
    return Skin("skin", np.array([node]), np.eye(3, 4)[None])


def weighted_mesh(joint: int) -> Mesh:
    skin = SkinWeights(np.full((3, 2), joint), np.tile([1.0, 0], (3, 1)))
    target = MorphTarget(np.zeros((3, 3)))
    primitive = Primitive(np.zeros((3, 3)), skin=skin, targets=(target,))
    return Mesh("mesh", (primitive,), np.zeros(1))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"node_mesh": [0] * 4}, "node_mesh: shape"),
        ({"node_skin": [0] * 6}, "node_skin: shape"),
        ({"node_mesh": [0, -1, 1, -1, -1]}, r"node_mesh: must lie in -1..0"),
        ({"node_mesh": [0, -2, 0, -1, -1]}, r"node_mesh: must lie in -1..0"),
        ({"node_skin": [1, -1, 0, -1, -1]}, r"node_skin: must lie in -1..0"),
        ({"skins": ()}, r"node_skin: must lie in -1..-1"),
        ({"clips": clip(5)}, "clip 'walk': a track names a missing node"),
        ({"clips": clip(-1)}, "clip 'walk': a track names a missing node"),
        ({"clips": weights_clip(0, 2)}, "clip 'smile': 2 weights at node 0"),
        ({"clips": weights_clip(1, 1)}, "clip 'smile': 1 weights at node 1"),
        ({"node_weights": {0: np.zeros(2)}}, "node_weights: 2 weights at node 0"),
        ({"node_weights": {1: np.zeros(1)}}, "node_weights: 1 weights at node 1"),
        (
            {"root_sets": (RootSet("all", (0, 5)),)},
            "root_sets: 'all' names a missing node",
        ),
        (
            {"root_sets": (RootSet("all", (-1,)),)},
            "root_sets: 'all' names a missing node",
        ),
        ({"root_sets": (RootSet("all", (1,)),), "default_set": 1}, "default_set: 1"),
        ({"skins": (skin_of(5),)}, "skin 'skin': names a missing node"),
        ({"skins": (skin_of(-1),)}, "skin 'skin': names a missing node"),
        ({"meshes": (weighted_mesh(1),)}, "mesh 'mesh': hangs on missing joint 1"),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


def test_joints_without_weight_need_not_be_there() -> None:
    names = np.tile([0, 9], (3, 1))
    skin = SkinWeights(names, np.tile([1.0, 0], (3, 1)))
    mesh = Mesh("mesh", (Primitive(np.zeros((3, 3)), skin=skin),))
    assert make(meshes=(mesh,)).meshes[0] is mesh


def test_frozen() -> None:
    clips = clip(0)
    scene = make(clips=clips)
    clips.clear()
    assert list(scene.clips) == ["walk"]
    assert scene.node_mesh.dtype == scene.node_skin.dtype == np.int32
    assert not scene.node_mesh.flags.writeable
    assert not scene.node_skin.flags.writeable
    for mapping in (scene.clips, scene.node_weights, scene.node_carried):
        with pytest.raises(TypeError):
            mapping["x"] = None  # type: ignore[index]


SETS = (RootSet("first", (3,)), RootSet("second", (1,)), RootSet("none", ()))


@pytest.mark.parametrize(
    ("sets", "default", "shown"),
    [
        ((), None, [0, 1, 2, 3, 4]),
        (SETS, None, [3, 4]),
        (SETS, 0, [3, 4]),
        (SETS, 1, [0, 1, 2]),
        (SETS, 2, []),
        ((RootSet("both", (3, 1)),), 0, [0, 1, 2, 3, 4]),
    ],
)
def test_shown_nodes(sets: Any, default: int | None, shown: list[int]) -> None:
    scene = make(root_sets=sets, default_set=default)
    assert np.nonzero(scene.shown_nodes())[0].tolist() == shown


def test_rest_weights() -> None:
    scene = make(node_weights={2: np.array([0.75], np.float32)})
    assert scene.rest_weights(0).tolist() == [0.25]
    assert scene.rest_weights(2).tolist() == [0.75]


def test_finding_reads_as_a_line() -> None:
    finding = Finding("warning", "weights-sum", "/meshes/0", "rows summed to 0.5")
    assert str(finding) == "warning: weights-sum at /meshes/0: rows summed to 0.5"
    assert finding == Finding(
        "warning", "weights-sum", "/meshes/0", "rows summed to 0.5"
    )


def test_texture_refs() -> None:
    refs = [TextureRef(i) for i in range(5)]
    material = Material(
        base_texture=refs[0],
        metallic_roughness_texture=refs[1],
        normal_texture=refs[2],
        occlusion_texture=refs[3],
        emissive_texture=refs[4],
    )
    assert material.texture_refs() == refs
    assert Material(normal_texture=refs[2]).texture_refs() == [refs[2]]
    assert Material().texture_refs() == []


@pytest.mark.parametrize(
    "scale", ["one", "even", "uneven", "negative", "mirror", "zero"]
)
def test_random_scenes_are_scenes(scale: Any, rng: np.random.Generator) -> None:
    scene = random_scene(rng, scale=scale)
    assert len(scene.clips) == 4
    assert scene.shown_nodes().all()
