"""Colours of bones and of the skin that they pull."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.draw.scene.areas import (
    CLAY,
    area_colours,
    chosen_joints,
    colour_bones,
    has_skin,
    own_joints,
)
from flexor.errors import SettingError
from flexor.maths.colour import srgb_from_linear
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Link
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import RootSet, Scene
from tests.draw.scenes import skeleton


def chain() -> Scene:
    """Six nodes in a row; 1 to 3 are joints; meshes at 4 (rigid) and 5 (skinned)."""
    weights = SkinWeights(
        [[0, 1], [1, 2], [2, 0], [0, 0]], [[1, 0], [0.25, 0.75], [1, 0], [1, 0]]
    )
    places = np.zeros((4, 3), np.float32)
    meshes = (
        Mesh("rigid", (Primitive(places.copy()),)),
        Mesh("skinned", (Primitive(places.copy(), skin=weights),)),
    )
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (3, 1, 1))
    return Scene(
        skeleton(6),
        [-1, -1, -1, -1, 0, 1],
        [-1, -1, -1, -1, -1, 0],
        meshes,
        (Skin("skin", [1, 2, 3], binds),),
    )


@pytest.fixture(scope="module")
def mannequin() -> Scene:
    return flexor.samples.mannequin().scene


def lab(colours: Any) -> Any:
    """CIE Lab of linear colours (..., 3): another measure than the code's own."""
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    x, y, z = np.cbrt((colours @ np.array(to_xyz).T) / [0.95047, 1, 1.08883]).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


def test_skin_has_the_colours_of_its_bones_by_weight() -> None:
    scene = chain()
    colours = colour_bones(scene)
    assert colours.joints.tolist() == [False, True, True, True, False, False]
    every = chosen_joints(scene, None)
    skin = area_colours(scene, 5, 0, colours, every)
    one, two, three = colours.of_node[1:4]
    np.testing.assert_allclose(skin[0, :3], one, atol=1e-6)
    np.testing.assert_allclose(skin[1, :3], 0.25 * two + 0.75 * three, atol=1e-6)
    np.testing.assert_allclose(skin[2, :3], three, atol=1e-6)
    assert (skin[:, 3] == 1).all()


def test_rigid_parts_have_the_colour_of_the_bone_above() -> None:
    scene = chain()
    colours = colour_bones(scene)
    part = area_colours(scene, 4, 0, colours, chosen_joints(scene, None))
    np.testing.assert_allclose(part[:, :3], np.tile(colours.of_node[3], (4, 1)))
    alone = replace(scene, skeleton=skeleton(6, parents=np.array([-1, 0, 1, 2, 0, 0])))
    part = area_colours(alone, 4, 0, colour_bones(alone), chosen_joints(alone, None))
    np.testing.assert_allclose(part[:, :3], np.tile(CLAY, (4, 1)), atol=1e-6)


def test_only_some_joints() -> None:
    scene = chain()
    colours = colour_bones(scene)
    skin = area_colours(scene, 5, 0, colours, chosen_joints(scene, ("node3",)))
    np.testing.assert_allclose(skin[0, :3], CLAY, atol=1e-6)
    np.testing.assert_allclose(skin[2, :3], colours.of_node[3], atol=1e-6)


def test_joints_are_chosen_by_names_and_patterns() -> None:
    scene = chain()
    assert chosen_joints(scene, None).all()
    assert np.flatnonzero(chosen_joints(scene, ("node2", "*5"))).tolist() == [2, 5]
    assert chosen_joints(scene, ("node[1-3]",)).sum() == 3
    with pytest.raises(SettingError, match="joints: no joint is called 'nose'"):
        chosen_joints(scene, ("node1", "nose"))


def test_links_are_their_joints() -> None:
    scene = chain()
    parents = np.array([-1, 0, 0, 1, 0, 0])
    nodes = replace(skeleton(6, parents=parents), links={2: Link(1, 0.5)})
    scene = replace(scene, skeleton=nodes)
    assert own_joints(scene).tolist() == [0, 1, 1, 3, 4, 5]
    assert np.flatnonzero(chosen_joints(scene, ("node2",))).tolist() == [1]
    colours = colour_bones(scene)
    assert not colours.joints[2]
    skin = area_colours(scene, 5, 0, colours, chosen_joints(scene, None))
    mixed = 0.25 * colours.of_node[1] + 0.75 * colours.of_node[3]
    np.testing.assert_allclose(skin[1, :3], mixed, atol=1e-6)


def test_neighbours_are_clearly_different(mannequin: Scene) -> None:
    colours = colour_bones(mannequin)
    seen = lab(colours.of_node.astype(np.float64))
    parents, joints = mannequin.skeleton.parents, colours.joints
    for node in np.flatnonzero(joints).tolist():
        if joints[parents[node]]:
            assert np.linalg.norm(seen[node] - seen[parents[node]]) > 35
    names = mannequin.skeleton.names
    for one, other in pairwise(["index", "middle", "ring", "pinky"]):
        apart = [
            np.linalg.norm(seen[row] - seen[names.index(name.replace(one, other))])
            for row, name in enumerate(names)
            if one in name
        ]
        assert apart
        assert min(apart) > 20


def test_twins_have_one_hue_and_are_told_apart(mannequin: Scene) -> None:
    colours = colour_bones(mannequin)
    names = mannequin.skeleton.names
    for part in ("knee", "elbow", "hip", "shoulder"):
        left = colours.of_node[names.index(f"l-{part}")]
        right = colours.of_node[names.index(f"r-{part}")]
        light, _, _ = lab(left)
        dark, _, _ = lab(right)
        assert light > dark + 25
        # Of one hue: they differ in lightness far more than in which way colours lean.
        ways = [np.array(lab(colour))[1:] for colour in (left, right)]
        units = [way / np.linalg.norm(way) for way in ways]
        assert units[0] @ units[1] > 0.8
        np.testing.assert_array_equal(
            colours.bright[names.index(f"l-{part}")],
            colours.bright[names.index(f"r-{part}")],
        )


def test_left_is_left_whichever_way_it_faces(mannequin: Scene) -> None:
    def turned(names: tuple[str, ...]) -> Scene:
        return replace(mannequin, skeleton=replace(mannequin.skeleton, names=names))

    swap = {"l": "r", "r": "l"}
    names = tuple(
        swap[name[0]] + name[1:] if name[1:2] == "-" else name
        for name in mannequin.skeleton.names
    )
    for scene in (mannequin, turned(names)):
        colours, known = colour_bones(scene), scene.skeleton.names
        light = [lab(colours.of_node[known.index(f"{side}-knee")])[0] for side in "lr"]
        assert light[0] > light[1] + 25


def test_the_same_colours_every_time(mannequin: Scene) -> None:
    one, other = colour_bones(mannequin), colour_bones(mannequin)
    np.testing.assert_array_equal(one.of_node, other.of_node)
    assert (srgb_from_linear(one.of_node) <= 255.5).all()


def test_whether_there_is_a_skin(mannequin: Scene) -> None:
    scene = chain()
    assert has_skin(scene)
    assert has_skin(mannequin)
    assert not has_skin(replace(scene, node_mesh=np.array([-1, -1, -1, -1, 0, -1])))
    roots = (RootSet("one", (5,)), RootSet("two", (0,)))
    apart = skeleton(6, parents=np.array([-1, 0, 1, 2, 3, -1]))
    shown = replace(scene, skeleton=apart, root_sets=roots, default_set=0)
    assert has_skin(shown)
    assert not has_skin(replace(shown, default_set=1))
