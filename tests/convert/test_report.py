from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from flexor.convert.report import report_scene
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Link, rest_world
from flexor.scene.character.weights import SkinWeights
from tests.scenes import (
    one_mesh_scene,
    plain_scene,
    random_scene,
    random_skeleton,
    random_skin,
)


def test_counts_of_a_scene(rng: Any) -> None:
    scene = random_scene(rng, nodes=11, vertices=21, targets=2)
    report = report_scene(scene)
    assert (report.nodes, report.roots) == (11, 2)
    pair, rigid, face = report.meshes
    assert (pair.primitives, pair.vertices) == (2, 46)
    assert (rigid.vertices, rigid.influences, rigid.morph_targets) == (9, {0: 9}, 2)
    assert sum(face.influences.values()) == face.vertices == 26
    assert [clip.name for clip in report.clips] == ["linear", "step", "cubic", "mixed"]
    linear = scene.clips["linear"]
    assert report.clips[0].keys == sum(len(track.times) for track in linear.tracks)
    assert report.clips[0].duration == linear.duration
    assert report.clips[2].interpolations == ("CUBICSPLINE",)
    assert report.bytes["images"] == 0
    assert report.bytes["motion"] > 0


def test_links_are_counted(rng: Any) -> None:
    skeleton = random_skeleton(rng, 6, roots=3)
    joint, *others = np.flatnonzero(skeleton.parents < 0).tolist()
    links = {node: Link(joint, 0.5) for node in others}
    linked = dataclasses.replace(skeleton, links=links)
    assert report_scene(plain_scene(linked)).links == 2
    assert report_scene(plain_scene(skeleton)).links == 0


def test_histogram_and_unused_joints(rng: Any) -> None:
    skeleton = random_skeleton(rng, 6)
    skin = dataclasses.replace(random_skin(rng, skeleton, 4), joints=[1, 2, 3, 4])
    weights = SkinWeights(
        [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 2, 0]],
        [[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.5, 0.25, 0.25, 0]],
    )
    primitive = Primitive(np.eye(3), skin=weights)
    report = report_scene(one_mesh_scene(skeleton, primitive, skin))
    assert report.meshes[0].influences == {1: 1, 2: 1, 3: 1}
    below = {4}
    while not below >= {n for n in range(6) if int(skeleton.parents[n]) in below}:
        below |= {n for n in range(6) if int(skeleton.parents[n]) in below}
    holds = below & {1, 2, 3, 5}  # joints with a vertex, and the node of the mesh
    assert report.skins[0].unused == (() if holds else ("node4",))


def test_empty_triangles_are_found_and_small_ones_are_not(rng: Any) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], np.float32)
    corners = np.array([0, 1, 2, 0, 1, 3, 0, 0, 3], np.uint32)
    primitive = Primitive(points * 1e-4, indices=corners)
    report = report_scene(one_mesh_scene(random_skeleton(rng, 3), primitive, None))
    (finding,) = report.findings
    assert finding.code == "triangles-empty"
    assert finding.text.startswith("2 of 3")


def test_a_skinned_node_with_a_rigid_primitive(rng: Any) -> None:
    skeleton = random_skeleton(rng, 4)
    scene = one_mesh_scene(
        skeleton, Primitive(np.eye(3)), random_skin(rng, skeleton, 2)
    )
    codes = {finding.code for finding in report_scene(scene).findings}
    assert "skin-without-weights" in codes


def test_a_scene_without_meshes() -> None:
    scene = random_scene(np.random.default_rng(0))
    none = np.full(len(scene.skeleton), -1)
    bare = dataclasses.replace(
        scene,
        meshes=(),
        skins=(),
        clips={},
        node_mesh=none,
        node_skin=none,
        node_weights={},
    )
    report = report_scene(bare)
    assert (report.meshes, report.findings) == ((), ())
    places = rest_world(scene.skeleton)[:, :, 3]
    np.testing.assert_allclose(report.size, np.ptp(places, axis=0))


def test_shared_arrays_count_once(rng: Any) -> None:
    scene = random_scene(rng)
    twice = dataclasses.replace(
        scene, meshes=(*scene.meshes, Mesh("again", scene.meshes[0].primitives))
    )
    assert report_scene(twice).bytes == report_scene(scene).bytes
