"""Links in files that other programs have written again.

Made here as those programs do it: nodes are numbered anew, extras are dropped, names
that are taken get a number behind them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.character.weights import Skin
from flexor.scene.scene import RootSet, Scene

NAMES = ("root", "elbow", "elbow-link1", "elbow-link2", "elbow-link3", "wrist", "tw")
FRACTIONS = {2: 0.25, 3: 0.5, 4: 0.75}


def linked_scene(*, has_clip: bool = True) -> Scene:
    """An elbow with three links, a wrist below it, and a twist link."""
    count = len(NAMES)
    moves = np.tile([1.0, 2, 3], (count, 1))
    moves[0], moves[5] = 0, [0, 1, 0]
    turns = np.tile([0.0, 0.6, 0, 0.8], (count, 1))
    skeleton = Skeleton(
        NAMES,
        [-1, 0, 0, 0, 0, 1, 0],
        moves,
        turns,
        np.ones((count, 3)),
        links={
            **{node: Link(1, part) for node, part in FRACTIONS.items()},
            6: Link(1, 0.5, (0.0, 1.0, 0.0)),
        },
    )
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (count, 1, 1))
    skin = Skin("", np.arange(count, dtype=np.int32), binds)
    keys = np.array([[0, 0.6, 0, 0.8], [0.6, 0, 0, 0.8]], np.float32)
    clip = Clip("c", (Track(1, "rotation", np.array([0.0, 1]), keys),))
    none = np.full(count, -1)
    return Scene(
        skeleton,
        none,
        none.copy(),
        skins=(skin,),
        clips={"c": clip} if has_clip else {},
        root_sets=(RootSet("", (0,)),),
        default_set=0,
    )


def written(tmp_path: Path, scene: Scene | None = None) -> dict[str, Any]:
    write_gltf(linked_scene() if scene is None else scene, tmp_path / "in.gltf")
    made: dict[str, Any] = json.loads((tmp_path / "in.gltf").read_text())
    return made


def read_again(tmp_path: Path, gltf: dict[str, Any]) -> Scene:
    (tmp_path / "out.gltf").write_text(json.dumps(gltf))
    return read_gltf(tmp_path / "out.gltf")


def renumbered(gltf: dict[str, Any], order: list[int]) -> dict[str, Any]:
    """The file with its nodes in another order, extras as they were."""
    new = {old: row for row, old in enumerate(order)}
    nodes = [gltf["nodes"][old] for old in order]
    for node in nodes:
        if "children" in node:
            node["children"] = [new[child] for child in node["children"]]
    for skin in gltf["skins"]:
        skin["joints"] = [new[joint] for joint in skin["joints"]]
    for animation in gltf.get("animations", []):
        for channel in animation["channels"]:
            channel["target"]["node"] = new[channel["target"]["node"]]
    roots = [new[root] for root in gltf["scenes"][0]["nodes"]]
    return {**gltf, "nodes": nodes, "scenes": [{"nodes": roots}]}


def links_of(scene: Scene) -> dict[str, tuple[str, float]]:
    names = scene.skeleton.names
    return {
        names[node]: (names[link.joint], link.fraction)
        for node, link in scene.skeleton.links.items()
    }


BENT = {NAMES[node]: ("elbow", part) for node, part in FRACTIONS.items()}
ALL = {**BENT, "tw": ("elbow", 0.5)}


@pytest.mark.parametrize("order", [[6, 5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 6, 2, 4]])
@pytest.mark.parametrize("is_old", [False, True])
def test_numbers_do_not_matter(tmp_path: Path, order: Any, is_old: bool) -> None:
    """Not even where an older file said the joint's number."""
    gltf = written(tmp_path)
    if is_old:
        for node in gltf["nodes"]:
            if "extras" in node:
                node["extras"]["flexor_link"]["joint"] = 1
    scene = read_again(tmp_path, renumbered(gltf, order))
    if is_old:
        # What the name of a node does not tell cannot be known.
        assert links_of(scene).items() >= BENT.items()
        assert links_of(scene).get("tw", ("elbow", 0.5)) == ("elbow", 0.5)
        return
    assert links_of(scene) == ALL
    assert scene.findings == ()
    (twist,) = (link for link in scene.skeleton.links.values() if link.axis)
    assert twist.axis == (0, 1, 0)


def test_names_are_enough(tmp_path: Path) -> None:
    """gltfpack drops extras unless it is told not to, and so does Blender."""
    gltf = written(tmp_path)
    for node in gltf["nodes"]:
        node.pop("extras", None)
    scene = read_again(tmp_path, renumbered(gltf, [3, 0, 5, 1, 6, 2, 4]))
    assert links_of(scene) == BENT
    (finding,) = scene.findings
    assert (finding.level, finding.code) == ("info", "links-by-name")
    assert finding.text.startswith("3 links")


def test_names_that_are_not_enough(tmp_path: Path) -> None:
    """One of three links is gone: which part each takes cannot be told."""
    gltf = written(tmp_path)
    for node in gltf["nodes"]:
        node.pop("extras", None)
    gltf["nodes"][2]["name"] = "other"
    assert links_of(read_again(tmp_path, gltf)) == {}


def test_beside_twist_links_names_are_not_enough(tmp_path: Path) -> None:
    """Links leave out a twist there, about an axis that names do not tell."""
    gltf = written(tmp_path)
    for node in gltf["nodes"]:
        node.pop("extras", None)
    gltf["nodes"][6]["name"] = "elbow-twist1"
    assert links_of(read_again(tmp_path, gltf)) == {}


@pytest.mark.parametrize("joint", [2, "elbow-link1"])
def test_what_follows_a_link_that_its_name_saved_is_refused(
    tmp_path: Path, joint: Any
) -> None:
    """The link is known by its name, as its number is another node's: a finding for the
    one that follows it, and no file that cannot be read.
    """
    gltf = written(tmp_path)
    gltf["nodes"][2]["extras"] = {"flexor_link": {"joint": 0, "fraction": 0.25}}
    gltf["nodes"][3]["name"] = "b"
    gltf["nodes"][3]["extras"] = {"flexor_link": {"joint": joint, "fraction": 0.5}}
    scene = read_again(tmp_path, gltf)
    assert "b" not in links_of(scene)
    assert links_of(scene)["elbow-link1"] == ("elbow", 0.25)
    assert "bad-link" in {one.code for one in scene.findings}


def test_names_that_were_taken(tmp_path: Path) -> None:
    """Blender puts .001 behind the second of two."""
    gltf = written(tmp_path)
    for row in (1, 2, 3, 4):
        gltf["nodes"][row]["name"] += ".001"
    assert set(links_of(read_again(tmp_path, gltf)).values()) == {
        ("elbow.001", part) for part in (0.25, 0.5, 0.75)
    }
    for node in gltf["nodes"]:
        node.pop("extras", None)
    assert len(links_of(read_again(tmp_path, gltf))) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n: n[1].update(name="arm"), "no joint 'elbow' hangs beside it"),
        (lambda n: n[1].update(translation=[1, 2, 4]), "stands elsewhere at rest"),
        (lambda n: n[1].update(rotation=[0, 0, 0, 1]), "stands elsewhere at rest"),
        (lambda n: n[1].update(scale=[1, 1, 2]), "stands elsewhere at rest"),
        (lambda n: n.append({**n[1]}), "2 nodes beside it are called 'elbow'"),
    ],
)
def test_links_that_do_not_fit_are_plain_nodes(
    tmp_path: Path, change: Any, words: str
) -> None:
    """They say so, and move by their tracks."""
    gltf = written(tmp_path)
    change(gltf["nodes"])
    if len(gltf["nodes"]) > len(NAMES):
        gltf["nodes"][-1].pop("children")
        gltf["nodes"][0]["children"].append(len(NAMES))
        gltf["skins"][0]["joints"].append(len(NAMES))
        gltf["skins"][0].pop("inverseBindMatrices")
    scene = read_again(tmp_path, gltf)
    assert links_of(scene) == {}
    bad = [finding for finding in scene.findings if finding.code == "bad-link"]
    assert len(bad) == 4
    assert all(f.level == "warning" and words in f.text for f in bad)


def test_joints_of_other_skins(tmp_path: Path) -> None:
    gltf = written(tmp_path)
    gltf["skins"][0]["joints"].remove(1)
    scene = read_again(tmp_path, gltf)
    assert links_of(scene) == {}
    assert "not in all skins" in scene.findings[0].text


def test_a_little_off_is_the_same_place(tmp_path: Path) -> None:
    """As after a way through Blender's bones."""
    gltf = written(tmp_path)
    gltf["nodes"][1]["rotation"] = [1e-6, -0.6, 2e-6, -0.8]
    gltf["nodes"][1]["translation"] = [1.00001, 2, 3]
    assert links_of(read_again(tmp_path, gltf)) == ALL


def test_without_clips_constraints_drive_links(tmp_path: Path) -> None:
    gltf = written(tmp_path, linked_scene(has_clip=False))
    assert gltf["extensionsUsed"] == ["VRMC_node_constraint"]
    assert "extensionsRequired" not in gltf
    for row, weight in ((2, 0.25), (3, 0.5), (4, 0.75), (6, 1.0)):
        body = gltf["nodes"][row]["extensions"]["VRMC_node_constraint"]
        assert body == {
            "specVersion": "1.0",
            "constraint": {"rotation": {"source": 1, "weight": weight}},
        }
    scene = read_gltf(tmp_path / "in.gltf")
    assert links_of(scene) == ALL
    assert [finding.code for finding in scene.findings] == ["links-undriven"]
    assert not scene.node_carried
    # With clips they are not needed.
    assert "extensionsUsed" not in written(tmp_path)
    # And they are links where nothing else says so.
    for row, node in enumerate(gltf["nodes"]):
        node.pop("extras", None)
        node["name"] = f"n{row}"
    scene = read_again(tmp_path, gltf)
    assert dict(scene.skeleton.links) == {n: Link(1, f) for n, f in FRACTIONS.items()}
    assert 6 in scene.node_carried


@pytest.mark.parametrize(
    "constraint",
    [
        3,
        {"constraint": 3},
        {"constraint": {"rotation": {"source": 99}}},
        {"constraint": {"rotation": {"source": 1, "weight": "x"}}},
        {"constraint": {"rotation": {"source": 0, "weight": 0.5}}},
        {"constraint": {"roll": {"source": 1, "rollAxis": "X", "weight": 0.5}}},
    ],
)
def test_other_constraints_are_carried(tmp_path: Path, constraint: Any) -> None:
    gltf = written(tmp_path)
    body = {"VRMC_node_constraint": constraint}
    gltf["nodes"][2] = {**gltf["nodes"][2], "name": "x", "extensions": body}
    del gltf["nodes"][2]["extras"]
    scene = read_again(tmp_path, gltf)
    assert 2 not in scene.skeleton.links
    if isinstance(constraint, dict):
        assert scene.node_carried[2] == {"extensions": body}
