"""Flat rigs hung up as chains: same places, other parents; what is mended there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.repair.recipe import repair_scene
from flexor.convert.repair.settings import asked_or_automatic, make_settings
from flexor.convert.shape.chained import hang_in_chains
from flexor.scene.character.skeleton import Link, Skeleton, rest_world
from flexor.scene.scene import Scene
from tests.convert.links.test_choose_links import twisting
from tests.convert.shape.tubes import skinned_scene, tube
from tests.same import differences


def flat_scene(**more: Any) -> Scene:
    """A tube on a root before it and four joints along it, all on the root."""
    rings = np.linspace(0, 12, 61)
    positions, normals, faces = tube(rings)
    x = positions[:, 0]
    steps = [np.clip((x - at) / 1.0 + 0.5, 0, 1) for at in (3, 6, 9)]
    held = [1 - steps[0], steps[0] - steps[1], steps[1] - steps[2], steps[2]]
    return skinned_scene(
        [(0, 0, 0), (0, 0, 0), (3, 0, 0), (6, 0, 0), (9, 0, 0)],
        [-1, 0, 0, 0, 0],
        positions,
        faces,
        np.stack([0 * x, *held], 1),
        normals=normals,
        names=["root", "a", "b", "c", "d"],
        **more,
    )


def test_joints_hang_on_each_other_at_the_same_places() -> None:
    scene = flat_scene()
    hung = hang_in_chains(scene)
    assert hung.skeleton.parents.tolist() == [-1, 0, 1, 2, 3, -1]
    np.testing.assert_allclose(
        rest_world(hung.skeleton), rest_world(scene.skeleton), atol=1e-6
    )
    assert hung.skeleton.names == scene.skeleton.names
    assert scene.skeleton.parents.tolist() == [-1, 0, 0, 0, 0, -1]


def test_trees_clips_and_links_are_left_alone() -> None:
    mannequin = flexor.samples.mannequin().scene
    still = replace(mannequin, clips={})
    assert hang_in_chains(still) is still
    moved = flat_scene(clips=twisting(30))
    assert hang_in_chains(moved) is moved
    linked = flat_scene()
    rows = [0, 1, 2, 3, 4, 5, 1]
    old = linked.skeleton
    skeleton = Skeleton(
        (*old.names, "a-link1"),
        old.parents[rows],
        old.translations[rows],
        old.rotations[rows],
        old.scales[rows],
        links={6: Link(1, 0.5)},
    )
    none = np.full(1, -1, np.int32)
    linked = replace(
        linked,
        skeleton=skeleton,
        node_mesh=np.concatenate([linked.node_mesh, none]),
        node_skin=np.concatenate([linked.node_skin, none]),
    )
    assert hang_in_chains(linked) is linked


@pytest.mark.parametrize("node", [0, 2])
def test_what_has_no_size_is_left_alone(node: int) -> None:
    """Nothing can be placed in it; it is judged and mended all the same."""
    scene = flat_scene()
    scales = scene.skeleton.scales.copy()
    scales[node] = 0
    scene = replace(scene, skeleton=replace(scene.skeleton, scales=scales))
    assert hang_in_chains(scene) is scene
    better, _ = repair_scene(scene, asked_or_automatic(make_settings({})))
    weights = better.meshes[0].primitives[0].skin
    assert weights is not None
    assert np.isfinite(weights.weights).all()


def test_a_flat_rig_is_mended_as_its_chain_is() -> None:
    """The same weights as for the same body on a chain; the file keeps its tree."""
    flat, settings = flat_scene(), asked_or_automatic(make_settings({}))
    chained = hang_in_chains(flat)
    better, report = repair_scene(flat, settings)
    others = make_settings({"rogues": True, "ease": True})
    wanted, _ = repair_scene(chained, others)
    assert better.skeleton.parents.tolist() == flat.skeleton.parents.tolist()
    assert not better.skeleton.links
    assert list(differences(better.meshes, wanted.meshes)) == []
    assert list(differences(better.meshes, flat.meshes)) != []
    told = [one.text for one in report.findings if one.code == "links-left-out"]
    assert len(told) == 1
    assert "all hang on one node" in told[0]


def test_turned_alone_joints_of_a_flat_rig_would_tear() -> None:
    """So they are not judged in the tree of the file."""
    settings = make_settings({"rogues": True})
    _, report = repair_scene(flat_scene(), settings)
    assert report.strains is not None
    assert report.strains[0][1] == 0
    skeleton = replace(flat_scene().skeleton)
    assert skeleton.parents.tolist()[1:5] == [0, 0, 0, 0]
