"""Tracks of links for files: made of what the joints do now, as fine as can be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexor.convert.links.export_tracks import (
    COARSEST,
    FINEST,
    link_tolerances,
    with_link_tracks,
)
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.facts import SceneFacts
from flexor.scene.character.clip import Clip, Track
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import tube_scene, turn
from tests.packed_clips import packed_clip


def linked_tube() -> Scene:
    """A tube on three bones with three links at each joint, and no clips."""
    facts = SceneFacts(tube_scene(3))
    rows = range(len(facts.bodies[0].body.joints))
    return link_bones(facts, [dict.fromkeys(rows, LinkSettings())])[0].scene


def bend(degrees: float) -> Clip:
    keys = np.array([turn([0, 0, 1], 0), turn([0, 0, 1], degrees)], np.float32)
    return Clip("bend", (Track(1, "rotation", np.array([0.0, 1]), keys),))


def test_clips_that_came_later_get_tracks() -> None:
    scene = replace(linked_tube(), clips={"bend": bend(60)})
    baked = with_link_tracks(scene)
    own = [node for node, link in scene.skeleton.links.items() if link.joint == 1]
    assert [track.node for track in baked.clips["bend"].tracks] == [1, *own]


def test_tracks_that_links_had_are_made_anew() -> None:
    """Their joint may have been given another movement."""
    scene = replace(linked_tube(), clips={"bend": bend(60)})
    old = with_link_tracks(scene).clips["bend"]
    changed = replace(old, tracks=(bend(90).tracks[0], *old.tracks[1:]))
    baked = with_link_tracks(replace(scene, clips={"bend": changed}))
    wanted = with_link_tracks(replace(scene, clips={"bend": bend(90)}))
    for one, other in zip(
        baked.clips["bend"].tracks, wanted.clips["bend"].tracks, strict=True
    ):
        np.testing.assert_array_equal(one.values, other.values)


def test_nothing_to_do() -> None:
    scene = linked_tube()
    assert with_link_tracks(scene) is scene
    plain = tube_scene(3, clips={"bend": bend(60)})
    assert with_link_tracks(plain) is plain


def test_packed_clips_are_taken_apart(rng: np.random.Generator) -> None:
    scene = linked_tube()
    packed = packed_clip(rng, 5, 2, 0)
    made = with_link_tracks(replace(scene, clips={"c": packed})).clips["c"]
    assert isinstance(made, Clip)


def test_what_stands_far_from_a_joint_is_finer() -> None:
    scene = linked_tube()
    near = link_tolerances(scene)
    assert set(near) == {1, 2}
    assert all(FINEST <= value <= COARSEST for value in near.values())
    # A size makes no difference.
    mesh = scene.meshes[0]
    parts = [replace(p, positions=p.positions * 10) for p in mesh.primitives]
    skins = tuple(
        replace(
            skin,
            inverse_binds=skin.inverse_binds * np.array([1, 1, 1, 10], np.float32),
        )
        for skin in scene.skins
    )
    skeleton = scene.skeleton
    large = replace(
        scene,
        meshes=(replace(mesh, primitives=tuple(parts)),),
        skins=skins,
        skeleton=replace(skeleton, translations=skeleton.translations * 10),
    )
    for joint, value in link_tolerances(large).items():
        np.testing.assert_allclose(value, near[joint], rtol=1e-4)
    # Links that hold no skin are not looked at.
    bare = replace(scene, node_mesh=np.full(len(skeleton), -1))
    assert link_tolerances(bare) == {}
