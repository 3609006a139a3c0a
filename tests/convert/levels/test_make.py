"""Levels of detail made from scenes: goals, prefixes, nodes, and authors' words."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.levels import fit_level
from flexor.convert.levels.body import make_level_body, skin_body
from flexor.convert.levels.error import WholeSkin, skin_error
from flexor.convert.levels.fit_level import LevelGoals
from flexor.convert.levels.make import (
    LevelChoice,
    LevelReport,
    LevelSettings,
    make_levels,
)
from flexor.convert.levels.poses import level_poses, says_enough
from flexor.errors import BackendMissing, SettingError
from flexor.maths import quaternions
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import Material
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.levels import Levels, check_levels
from flexor.scene.runtime.node_table import make_node_table
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import skinned_scene, tube, tube_scene
from tests.level_checks import check_made
from tests.scenes import one_mesh_scene, random_skeleton

Rng = np.random.Generator


def arm(joints: int = 5, rings: int = 41) -> Scene:
    """An upright tube of radius 1 and height 16 on a row of bones."""
    lying, ways, faces = tube(np.linspace(0, 16, rings))
    positions, normals = lying[:, [1, 0, 2]], ways[:, [1, 0, 2]]
    bases = np.linspace(0, 16, joints, endpoint=False)
    along = positions[:, 1, None] / 16 * joints - 0.5
    weights = np.clip(1 - np.abs(along - np.arange(joints)), 0, 1)
    weights /= weights.sum(1, keepdims=True)
    places = np.stack([0 * bases, bases, 0 * bases], 1)
    parents = [-1, *range(joints - 1)]
    return skinned_scene(
        places, parents, positions, faces[:, ::-1], weights, normals=normals
    )


def names_of(levels: Levels, level: int) -> list[str]:
    return [levels.table.names[row] for row in np.flatnonzero(levels.masks[level])]


@pytest.fixture(scope="module")
def made() -> tuple[Scene, Levels, list[LevelReport]]:
    with np.errstate(all="raise", under="ignore"):
        scene = arm()
        levels, reports, findings = make_levels(scene)
    assert not findings
    return scene, levels, reports


@pytest.mark.slow
def test_levels_get_coarser_within_the_goals(made: Any) -> None:
    scene, levels, reports = made
    check_made(scene, levels, reports)
    assert [report.height for report in reports] == [720, 360, 160, 64]
    assert all(report.is_met for report in reports)
    triangles = [report.triangles for report in reports]
    assert triangles[0] == 2 * 32 * 40
    assert triangles[3] < triangles[1] < triangles[0] / 2
    assert levels.height == pytest.approx(16)


@pytest.mark.slow
def test_level_0_is_the_whole_character(made: Any) -> None:
    scene, levels, reports = made
    body, _ = make_level_body(scene)
    (surface,) = levels.surfaces
    assert set(map(tuple, surface.sources.tolist())) == set(
        map(tuple, body.sources.tolist())
    )
    rows = surface.sources[:, 2][surface.faces[0]]
    np.testing.assert_array_equal(rows, scene.meshes[0].primitives[0].triangles())
    assert names_of(levels, 0) == ["j0", "j1", "j2", "j3", "j4"]
    assert not levels.errors[0].any()
    assert reports[0].is_met


@pytest.mark.slow
def test_nothing_moves_at_rest_but_by_fewer_triangles(made: Any) -> None:
    """Weights that were handed over hold the vertices where they are."""
    scene, levels, _ = made
    body, _ = make_level_body(scene)
    world = rest_world(scene.skeleton).astype(np.float32)[None]
    (surface,) = levels.surfaces
    for level in range(len(levels)):
        rows = surface.sources[: surface.counts[level], 2]
        influences = surface.joints[level], surface.weights[level]
        placed = skin_body(
            world, levels.slots, levels.binds, body.positions[rows], *influences
        )
        np.testing.assert_allclose(placed[0], body.rest[rows], atol=1e-4)


@pytest.mark.slow
def test_errors_are_those_of_the_skin(made: Any) -> None:
    """A level bent as no clip bends it is off by pixels, not by limbs."""
    scene, levels, _ = made
    body, _ = make_level_body(scene)
    world = level_poses(scene, make_layout(scene)).swings
    own = body.slots, body.binds, body.positions, body.joints, body.weights
    whole = WholeSkin.of(skin_body(world, *own), body.faces)
    (surface,) = levels.surfaces
    for level in range(1, len(levels)):
        rows = surface.sources[: surface.counts[level], 2]
        influences = surface.joints[level], surface.weights[level]
        shape = surface.shapes[level][:, :3].copy()
        assert np.abs(shape - body.positions[rows]).max() > 0
        placed = skin_body(world, levels.slots, levels.binds, shape, *influences)
        mean, worst = skin_error(whole, placed, surface.faces[level])
        assert mean <= 1.5 * levels.errors[level, 0] + 1e-6
        assert worst <= 2 * levels.errors[level, 1] + 1e-6


@pytest.mark.slow
def test_a_clip_that_stands_still_makes_no_statue(made: Any) -> None:
    """Others may be played later: levels keep joints, as those without clips do."""
    scene, levels, _ = made
    turn = np.array([[0, 0, 0, 1], [0, 0, 0, 1]], np.float32)
    track = Track(0, "rotation", np.array([0, 1], np.float32), turn)
    still, _, _ = make_levels(replace(scene, clips={"still": Clip("still", (track,))}))
    for level in range(len(levels)):
        assert abs(still.totals(level)[0] - levels.totals(level)[0]) <= 1
    assert still.totals(1)[0] > 2


@pytest.mark.parametrize("degrees", [0, 90])
def test_a_joint_that_is_flattened_turns_nothing(degrees: float) -> None:
    """Joints of no size are not divided by it; the others say whether they turn."""
    skeleton = arm(joints=4).skeleton
    table = make_node_table(skeleton)
    used = np.ones(len(table.nodes), np.bool_)
    clips = np.tile(np.eye(3, 4, dtype=np.float32), (2, len(skeleton), 1, 1))
    for step, node in enumerate(table.nodes):
        way = quaternions.about([0, 0, 1], np.radians(step * degrees))
        clips[1, node, :, :3] = quaternions.to_matrix(way)
    clips[:, table.nodes[-1], :, :3] = 0
    assert says_enough(clips, table, used) == (degrees > 0)


@pytest.mark.slow
def test_errors_are_measured_in_all_poses(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A level is looked for in one pose, but what is told holds for all."""
    scene, _, _ = made
    monkeypatch.setattr(fit_level, "MOST_POSES", 1)
    levels, reports, _ = make_levels(scene)
    body, _ = make_level_body(scene)
    world = level_poses(scene, make_layout(scene)).swings
    own = body.slots, body.binds, body.positions, body.joints, body.weights
    whole = WholeSkin.of(skin_body(world, *own), body.faces)
    (surface,) = levels.surfaces
    for level in range(1, len(levels)):
        shape = surface.shapes[level][:, :3].copy()
        influences = surface.joints[level], surface.weights[level]
        placed = skin_body(world, levels.slots, levels.binds, shape, *influences)
        error = skin_error(whole, placed, surface.faces[level])
        np.testing.assert_allclose(levels.errors[level], error, rtol=0.02)
    assert all(report.is_met for report in reports)


def test_goals_are_narrowed_by_what_was_missed() -> None:
    goals = LevelGoals(1.0, 3.0)
    tried = goals.narrowed(goals, (0.5, 6.0))
    assert tried.mean == pytest.approx(0.475)
    assert tried.worst == pytest.approx(1.425)
    assert not goals.is_met((0.5, 6.0))
    assert goals.is_met((1.0, 3.0))
    assert not goals.is_met((1.0, 3.0), 0.9)


@pytest.mark.slow
def test_a_level_without_triangles_is_told() -> None:
    settings = LevelSettings(choices=(LevelChoice(height=100, triangles=0),))
    levels, _, findings = make_levels(arm(2), settings)
    assert levels.totals(1)[2] == 0
    assert [finding.code for finding in findings] == ["empty-level"]


@pytest.mark.slow
def test_the_same_scene_gives_the_same_levels(made: Any) -> None:
    _, levels, reports = made
    again, same, _ = make_levels(arm())
    assert same == reports
    for one, other in zip(levels.surfaces, again.surfaces, strict=True):
        np.testing.assert_array_equal(one.sources, other.sources)
        for level in range(len(levels)):
            np.testing.assert_array_equal(one.faces[level], other.faces[level])
            np.testing.assert_array_equal(one.weights[level], other.weights[level])


@pytest.mark.slow
def test_progress_is_told_after_each_level() -> None:
    calls: list[int] = []
    settings = LevelSettings(heights=(100, 50))
    make_levels(arm(2, 9), settings, each=lambda: calls.append(1))
    assert len(calls) == 3


@pytest.mark.slow
def test_materials_are_surfaces_of_their_own_and_stay_closed() -> None:
    scene = arm()
    whole = scene.meshes[0].primitives[0]
    faces = whole.triangles()
    is_far = whole.positions[faces][:, :, 1].mean(1) > 8
    parts = tuple(
        replace(whole, indices=faces[own].ravel().astype(np.uint32), material=row)
        for row, own in enumerate((is_far, ~is_far))
    )
    scene = replace(
        scene, meshes=(Mesh("body", parts),), materials=(Material(), Material())
    )
    levels, reports, _ = make_levels(scene, LevelSettings(heights=(200,)))
    check_made(scene, levels, reports)
    assert [surface.material for surface in levels.surfaces] == [0, 1]
    assert reports[1].triangles < reports[0].triangles / 2
    rims = []
    for row, surface in enumerate(levels.surfaces):
        used = surface.sources[np.unique(surface.faces[1]), 2]
        places = parts[row].positions[used]
        rims.append(set(map(tuple, places[places[:, 1] == 8].tolist())))
    assert rims[0] == rims[1]
    assert len(rims[0]) >= 3


# What authors say


@pytest.mark.slow
def test_authors_drop_and_keep_nodes() -> None:
    choices = (
        LevelChoice(name="mid", height=300, drop=("j3",), keep=("j4", "body")),
        LevelChoice(name="far", height=60, keep=("j[0-4]",), carriers={"j1": "j2"}),
    )
    scene = arm(rings=21)
    levels, reports, _ = make_levels(scene, LevelSettings(choices=choices))
    check_made(scene, levels, reports, is_nested=False)
    assert [report.name for report in reports] == ["", "mid", "far"]
    mid = names_of(levels, 1)
    assert "j3" not in mid
    assert {"j4", "body"} <= set(mid)  # kept though it pulls nothing
    assert names_of(levels, 2) == ["j0", "j1", "j2", "j3", "j4"]  # keep wins


@pytest.mark.slow
def test_authors_say_how_many_triangles_and_influences() -> None:
    choices = (LevelChoice(height=300, triangles=300, influences=1),)
    levels, reports, _ = make_levels(arm(), LevelSettings(choices=choices))
    assert 200 <= reports[1].triangles <= 300
    assert reports[1].influences == 1
    (surface,) = levels.surfaces
    assert (surface.weights[1] == 1).all()


@pytest.mark.slow
def test_goals_that_an_author_makes_impossible_are_not_met() -> None:
    choices = (LevelChoice(height=300, drop=("j[1-4]",)),)
    scene = arm(rings=21)
    levels, reports, _ = make_levels(scene, LevelSettings(choices=choices))
    assert names_of(levels, 1) == ["j0"]
    assert not reports[1].is_met
    assert reports[1].triangles < reports[0].triangles


def test_words_about_nodes_that_are_not_there_are_refused() -> None:
    settings = LevelSettings(choices=(LevelChoice(height=300, drop=("tail",)),))
    with pytest.raises(SettingError, match="level 1: drop: no node 'tail'"):
        make_levels(tube_scene(2.0), settings)


# Little or nothing


def test_no_triangles_make_one_level(rng: Rng) -> None:
    scene = Scene(random_skeleton(rng, 3), np.full(3, -1), np.full(3, -1))
    levels, reports, findings = make_levels(scene)
    assert len(levels) == len(reports) == 1
    assert levels.totals(0) == (0, 0, 0)
    assert [f.code for f in findings] == ["one-level"]
    assert "no triangles" in findings[0].text


def test_a_character_without_size_makes_one_level(rng: Rng) -> None:
    point = Primitive(np.ones((3, 3)))
    scene = one_mesh_scene(random_skeleton(rng, 2), point, None)
    levels, _, findings = make_levels(scene)
    assert len(levels) == 1
    assert levels.totals(0) == (1, 3, 1)
    assert levels.height == 0
    assert "no size" in findings[0].text
    check_levels(levels, scene)


@pytest.mark.slow
@pytest.mark.parametrize("flat", [0, 1, 2])
def test_few_triangles_are_kept_as_they_are(rng: Rng, flat: int) -> None:
    """Two triangles in a plane, one of them lying on the ground."""
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
    square = Primitive(
        np.insert(corners, flat, 0, axis=1), indices=np.array([0, 1, 2, 0, 2, 3])
    )
    scene = one_mesh_scene(random_skeleton(rng, 2), square, None)
    levels, reports, _ = make_levels(scene)
    check_made(scene, levels, reports)
    assert [report.triangles for report in reports] == [2, 2, 2, 2]
    assert all(report.is_met for report in reports)


def test_no_heights_need_no_package(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    levels, _, findings = make_levels(tube_scene(2.0), LevelSettings(heights=()))
    assert len(levels) == 1
    assert not findings


@pytest.mark.slow
def test_a_missing_package_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    with pytest.raises(BackendMissing, match="flexor\\[codecs\\]"):
        make_levels(tube_scene(2.0))
