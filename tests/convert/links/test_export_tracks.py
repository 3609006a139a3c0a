"""Tracks of links for files: made of what the joints do now, as fine as can be seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.export_tracks import (
    COARSEST,
    FINEST,
    link_tolerances,
    with_link_tracks,
)
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.facts import SceneFacts
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import rest_world
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


def test_links_rest_in_clips_where_others_move_them() -> None:
    """One key, as their joint has a track there: a program that goes from one clip to
    the other would leave them where they were.
    """
    still = Clip(
        "still", (Track(1, "rotation", np.array([0.5]), bend(0).tracks[0].values[:1]),)
    )
    absent = Clip("absent", ())
    clips = {"bend": bend(60), "still": still, "absent": absent}
    scene = replace(linked_tube(), clips=clips)
    baked = with_link_tracks(scene)
    own = [node for node, link in scene.skeleton.links.items() if link.joint == 1]
    tracks = [track for track in baked.clips["still"].tracks if track.node != 1]
    assert [track.node for track in tracks] == own
    for track in tracks:
        assert track.times.tolist() == [0.5]
        rest = scene.skeleton.rotations[track.node]
        np.testing.assert_array_equal(track.values, rest[None])
    assert baked.clips["still"].duration == still.duration
    assert baked.clips["absent"].tracks == ()


def test_a_character_that_was_given_clips_is_saved_with_them(tmp_path: Path) -> None:
    """What was made in Python has no tracks of links until it is written."""
    hero = Character(linked_tube()).with_clips({"bend": bend(60)})
    assert hero.clips["bend"].nodes == {1}
    for ending in (".glb", ".gltf"):
        file = tmp_path / f"bent{ending}"
        flexor.save(hero, file)
        back = flexor.load(file)
        links = [node for node, link in hero.skeleton.links.items() if link.joint == 1]
        assert set(links) <= back.clips["bend"].nodes
        plain = replace(back.scene, skeleton=replace(back.skeleton, links={}))
        for time in (0.3, 0.7, 1.0):
            one, other = (
                its.deform(its.pose("bend", time))[0].positions
                for its in (hero, Character(plain))
            )
            assert np.abs(one - other).max() < 1e-3


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


TIMES = np.array([0.0, 1.0], np.float32)


def still(scene: Scene, node: int, path: str, times: Any = TIMES) -> Track:
    """A track that says where a node is at rest."""
    skeleton = scene.skeleton
    rest = {
        "translation": skeleton.translations,
        "rotation": skeleton.rotations,
        "scale": skeleton.scales,
    }[path][node]
    return Track(node, path, times, np.tile(rest, (len(times), 1)))


def paths_of(scene: Scene, clip: str) -> set[tuple[int, str]]:
    """What the clip moves in a file, but for links."""
    tracks = with_link_tracks(scene).clips[clip].tracks
    return {(t.node, t.path) for t in tracks if t.node not in scene.skeleton.links}


def test_tracks_of_what_never_moves_are_left_out() -> None:
    scene = linked_tube()
    bent = bend(60).tracks[0]
    resting = [
        still(scene, node, path)
        for node in range(3)
        for path in ("translation", "rotation", "scale")
        if (node, path) != (1, "rotation")
    ]
    clips = {"bend": Clip("bend", (bent, *resting))}
    assert paths_of(replace(scene, clips=clips), "bend") == {(1, "rotation")}
    # What moves in another clip is said here too.
    grown = still(scene, 2, "scale")
    grown = replace(grown, values=grown.values * np.array([[1], [1.1]], np.float32))
    clips["grow"] = Clip("grow", (grown,))
    both = replace(scene, clips=clips)
    assert paths_of(both, "bend") == {(1, "rotation"), (2, "scale")}
    assert paths_of(both, "grow") == {(2, "scale")}
    # Without links a file is what it was.
    plain = tube_scene(3, clips={"bend": clips["bend"]})
    assert len(with_link_tracks(plain).clips["bend"].tracks) == 9


def test_clips_are_as_long_as_before() -> None:
    scene = linked_tube()
    late = still(scene, 0, "scale", np.array([0.5, 3], np.float32))
    early = still(scene, 2, "scale", np.array([-0.5, 0.5], np.float32))
    other = still(scene, 2, "translation")
    clips = {
        "bend": Clip("bend", (other, *bend(60).tracks, late, early)),
        "rest": Clip("rest", (other,)),
    }
    scene = replace(scene, clips=clips)
    made = with_link_tracks(scene).clips
    assert paths_of(scene, "bend") == {(1, "rotation"), (0, "scale"), (2, "scale")}
    assert made["bend"].duration == 3
    assert min(track.times[0] for track in made["bend"].tracks) == -0.5
    # A clip that only rests is not empty.
    assert paths_of(scene, "rest") == {(2, "translation")}
    assert made["rest"].duration == 1


@pytest.mark.parametrize(
    ("path", "off", "is_kept"),
    [
        ("translation", 1e-6, False),
        ("translation", 1e-4, True),
        ("rotation", 1e-6, False),
        ("rotation", 1e-4, True),
        ("scale", 1e-6, False),
        ("scale", 1e-4, True),
    ],
)
def test_only_rounding_counts_as_rest(path: str, off: float, is_kept: bool) -> None:
    """Of the size of the skeleton, of a turn, of a scale."""
    scene = linked_tube()
    track = still(scene, 2, path)
    if path == "translation":
        off *= float(np.ptp(rest_world(scene.skeleton)[:, :, 3], axis=0).max())
    values = (
        track.values
        + np.array([[off], [0]], np.float32) * [1, 0, 0, 0][: track.values.shape[1]]
    )
    moved = replace(track, values=values.astype(np.float32))
    clips = {"bend": Clip("bend", (*bend(60).tracks, moved))}
    kept = paths_of(replace(scene, clips=clips), "bend")
    assert ((2, path) in kept) == is_kept


@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_splines_rest_where_their_tangents_do(slope: float) -> None:
    scene = linked_tube()
    rest = still(scene, 2, "scale")
    values = np.zeros((2, 3, 3), np.float32)
    values[:, 1] = rest.values
    values[0, 2] = slope
    spline = replace(rest, values=values, interpolation="CUBICSPLINE")
    clips = {"bend": Clip("bend", (*bend(60).tracks, spline))}
    kept = paths_of(replace(scene, clips=clips), "bend")
    assert ((2, "scale") in kept) == (slope > 0)


def test_a_node_with_a_matrix_keeps_its_tracks() -> None:
    scene = linked_tube()
    skeleton = scene.skeleton
    matrix = np.eye(3, 4, dtype=np.float32)
    matrix[:, 3] = skeleton.translations[2]
    skeleton = replace(skeleton, matrices={2: matrix})
    clips = {"bend": Clip("bend", (*bend(60).tracks, still(scene, 2, "scale")))}
    scene = replace(scene, skeleton=skeleton, clips=clips)
    assert (2, "scale") in paths_of(scene, "bend")
