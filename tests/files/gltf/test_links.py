"""Links in glTF: the extras of their nodes, there and back, and those that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from flexor.scene.character.skeleton import Link
from tests.files.gltf.reading import read
from tests.same import differences
from tests.scenes import plain_scene, random_clip, random_skeleton


def node(link: Any = None, **more: Any) -> dict[str, Any]:
    """A node with a link in its extras, and whatever else they hold."""
    extras = more if link is None else {"flexor_link": link, **more}
    return {"extras": extras} if extras else {}


def body(joint: Any, fraction: Any) -> dict[str, Any]:
    return {"joint": joint, "fraction": fraction}


def tree(*below: dict[str, Any]) -> dict[str, Any]:
    """Node 0 with the given children, and node -1 with nothing."""
    children = list(range(1, len(below) + 1))
    nodes = [{"children": children}, *below, {}]
    return {"asset": {"version": "2.0"}, "nodes": nodes}


def refused(scene: Any) -> list[str]:
    """Where links were refused."""
    return [f.where for f in scene.findings if f.code == "bad-link"]


def test_links_are_read(tmp_path: Path) -> None:
    gltf = tree({}, node(body(1, 0.25)), node(body(1.0, 1 / 3), mine=[1]), node(mine=2))
    scene = read(tmp_path, gltf, b"")
    assert [finding.code for finding in scene.findings] == ["links-undriven"]
    assert dict(scene.skeleton.links) == {2: Link(1, 0.25), 3: Link(1, 1 / 3)}
    assert type(scene.skeleton.links[3].joint) is int
    # What else the extras hold stays.
    assert dict(scene.node_carried) == {
        3: {"extras": {"mine": [1]}},
        4: {"extras": {"mine": 2}},
    }


def test_links_of_roots_are_read(tmp_path: Path) -> None:
    gltf = {"asset": {"version": "2.0"}, "nodes": [node(body(1, 0.5)), {}]}
    assert dict(read(tmp_path, gltf, b"").skeleton.links) == {0: Link(1, 0.5)}


@pytest.mark.parametrize(
    ("link", "pointer", "words"),
    [
        (None, "", "expected an object, got null"),
        (3, "", "expected an object, got 3"),
        ([1, 0.5], "", "expected an object"),
        ({}, "", "'joint' is missing"),
        ({"joint": 1}, "", "'fraction' is missing"),
        ({"fraction": 0.5}, "", "'joint' is missing"),
        (body("1", 0.5), "", "no joint '1' hangs beside it"),
        (body(True, 0.5), "/joint", "expected a whole number"),
        (body(None, 0.5), "/joint", "expected a whole number"),
        (body(1.5, 0.5), "/joint", "expected a whole number"),
        (body(-1, 0.5), "/joint", "out of range"),
        (body(4, 0.5), "/joint", "does not exist"),
        (body(10**30, 0.5), "/joint", "out of range"),
        (body(1, "0.5"), "/fraction", "expected a number"),
        (body(1, False), "/fraction", "expected a number"),
        (body(1, [0.5]), "/fraction", "expected a number"),
        (body(1, 1e300), "/fraction", "too large"),
        (body(1, 0), "", "fraction 0.0: must be"),
        (body(1, 1), "", "fraction 1.0: must be"),
        (body(1, -0.25), "", "must be more than 0"),
        (body(2, 0.5), "", "cannot follow itself"),
        (body(0, 0.5), "", "has another parent"),
        (body(3, 0.5), "", "has another parent"),
    ],
)
def test_bad_links_are_plain_nodes(
    tmp_path: Path, link: Any, pointer: str, words: str
) -> None:
    bad = {"extras": {"flexor_link": link, "mine": 1}}
    scene = read(tmp_path, tree({}, bad), b"")
    (finding,) = scene.findings
    assert (finding.level, finding.code) == ("warning", "bad-link")
    assert finding.where == f"/nodes/2/extras/flexor_link{pointer}"
    assert words in finding.text
    assert "does not follow a joint" in finding.text
    assert not scene.skeleton.links
    # Not written back: in a file with more nodes its number may mean one of them.
    assert dict(scene.node_carried) == {2: {"extras": {"mine": 1}}}
    write_gltf(scene, tmp_path / "again.gltf")
    out = json.loads((tmp_path / "again.gltf").read_text())
    assert out["nodes"][2]["extras"] == {"mine": 1}
    assert list(differences(scene, read_gltf(tmp_path / "again.gltf"))) == []


def test_a_bad_link_alone_leaves_no_extras(tmp_path: Path) -> None:
    bad = {"extras": {"flexor_link": 3}}
    scene = read(tmp_path, tree(bad, {**bad, "extensions": {"X": {}}}), b"")
    assert dict(scene.node_carried) == {2: {"extensions": {"X": {}}}}


def test_links_of_links(tmp_path: Path) -> None:
    """Only the one that follows a link is refused; of two in a ring, both are."""
    chain = tree({}, node(body(1, 0.5)), node(body(2, 0.5)))
    scene = read(tmp_path, chain, b"")
    assert dict(scene.skeleton.links) == {2: Link(1, 0.5)}
    assert refused(scene) == ["/nodes/3/extras/flexor_link"]
    assert "joint 2 is a link itself" in scene.findings[0].text
    ring = tree(node(body(2, 0.5)), node(body(1, 0.5)))
    scene = read(tmp_path, ring, b"")
    assert not scene.skeleton.links
    assert len(scene.findings) == 2


def test_a_bad_link_can_be_followed(tmp_path: Path) -> None:
    gltf = tree(node(body(9, 0.5)), node(body(1, 0.5)))
    scene = read(tmp_path, gltf, b"")
    assert dict(scene.skeleton.links) == {2: Link(1, 0.5)}
    assert refused(scene) == ["/nodes/1/extras/flexor_link/joint"]
    # The same with one that names a node, but not one beside it.
    gltf = tree(node(body(3, 0.5)), node(body(1, 0.5)))
    scene = read(tmp_path, gltf, b"")
    assert dict(scene.skeleton.links) == {2: Link(1, 0.5)}
    assert refused(scene) == ["/nodes/1/extras/flexor_link"]
    assert "has another parent" in scene.findings[0].text


@pytest.mark.parametrize("extras", [None, 3, "flexor_link", ["flexor_link"], {}])
def test_other_extras_are_no_links(tmp_path: Path, extras: Any) -> None:
    scene = read(tmp_path, tree({}, {"extras": extras}), b"")
    assert scene.findings == ()
    assert not scene.skeleton.links


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_links_come_back(tmp_path: Path, ending: str, rng: np.random.Generator) -> None:
    plain = random_skeleton(rng, 9, roots=4)
    joint, *others = np.flatnonzero(plain.parents < 0).tolist()
    rows = np.arange(9)
    rows[others] = joint
    parts = {
        name: getattr(plain, name)[rows]
        for name in ("translations", "rotations", "scales")
    }
    plain = replace(plain, **parts)
    links = {node: Link(joint, float(rng.uniform(0.01, 0.99))) for node in others}
    links[others[0]] = Link(joint, 0.0, (0.0, 0.6, 0.8))
    links[others[2]] = Link(joint, 0.3, (0.0, 0.6, 0.8), is_swing=True)
    carried: dict[int, Any] = {
        joint: {"extras": "text"},
        others[1]: {"extras": {"b": 1}},
    }
    scene = replace(
        plain_scene(replace(plain, links=links), random_clip(rng, "c", 9)),
        node_carried=dict(sorted(carried.items())),
    )
    path = tmp_path / f"linked.{ending}"
    write_gltf(scene, path)
    back = read_gltf(path)
    # Rotations of links are written in 16 bits.
    places = [place for place in differences(scene, back) if "values" not in place]
    assert places == []
    for one, other in zip(scene.clips["c"].tracks, back.clips["c"].tracks, strict=True):
        near = 2e-5 if one.node in links and one.path == "rotation" else 0
        np.testing.assert_allclose(one.values, other.values, atol=near)


def test_what_is_written(tmp_path: Path) -> None:
    scene = read(tmp_path, tree({}, node(body(1, 0.25), mine=[1])), b"")
    write_gltf(scene, tmp_path / "out.gltf")
    out = json.loads((tmp_path / "out.gltf").read_text())
    assert out["nodes"][2]["extras"] == {"mine": [1], "flexor_link": body(1, 0.25)}
    named = replace(scene, skeleton=replace(scene.skeleton, names=tuple("abcd")))
    write_gltf(named, tmp_path / "out.gltf")
    out = json.loads((tmp_path / "out.gltf").read_text())
    assert out["nodes"][2]["extras"]["flexor_link"] == body("b", 0.25)
    # A link that is taken away leaves nothing behind, and a new one replaces all
    # that cannot hold it.
    free = replace(scene, skeleton=replace(scene.skeleton, links={}))
    write_gltf(free, tmp_path / "out.gltf")
    out = json.loads((tmp_path / "out.gltf").read_text())
    assert out["nodes"][2]["extras"] == {"mine": [1]}
    odd = replace(scene, node_carried={2: {"extras": "text"}})
    write_gltf(odd, tmp_path / "out.gltf")
    out = json.loads((tmp_path / "out.gltf").read_text())
    assert out["nodes"][2]["extras"] == {"flexor_link": body(1, 0.25)}
