"""Pictures of joints: turned through their range, seen from where there is to see."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.repair.joint_pictures import (
    JointFilm,
    choose_camera,
    draw_joints,
    frame_angles,
)
from flexor.api.repair.joint_views import joint_views, turned_poses, view_cameras
from flexor.api.repair.strained_skin import StrainedSkin, moved_skin
from flexor.convert.repair.trials import JointTrial
from flexor.convert.shape.body import Pull, gather_bodies, with_pulls
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.strain import find_strain, make_form
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import linked, tube_scene

pytestmark = pytest.mark.slow  # thousands of vertices

BENT = JointTrial(1, (0, 1, 0), 1.2, -1.2, 1.2, 0.4, 0.2)
TWISTED = JointTrial(0, (1, 0, 0), 3.0, -3.0, 3.0, 0.4, 0.2)
SIZE = (64, 56)


def behind(scene: Scene, side: float) -> Scene:
    """A tube whose vertices on one side (+1: front, -1: back) hang on another bone."""
    bodies = gather_bodies(scene)
    (body,) = bodies
    whole = body.pull.dense(3)
    away = np.abs(body.positions[:, 0])
    rows = (side * body.positions[:, 2] > 0.4) & (away < 1.5)
    whole[rows] = [0, 1, 0]
    names = np.tile(np.arange(3, dtype=np.int32), (len(body), 1))
    return with_pulls(scene, {0: Pull(names, whole.astype(np.float32))}, bodies)


def film_of(before: Scene, after: Scene, trial: JointTrial, **words: Any) -> JointFilm:
    pair = Character(before), Character(after)
    (film,) = draw_joints(*pair, {1: trial}, SIZE, 5, **words)
    return film


@pytest.mark.parametrize("angle", [1.2, -1.2, 0.72, -0.72])
@pytest.mark.parametrize("ends", [(-1.2, 1.2), (-1.2, 3.0), (-2.6, 1.2)])
def test_frames_go_from_one_end_to_the_other(
    angle: float, ends: tuple[float, float]
) -> None:
    trial = replace(BENT, angle=angle, low=ends[0], high=ends[1])
    angles, still = frame_angles(trial, 13)
    assert len(angles) == 13
    assert angles[[0, -1]].tolist() == pytest.approx(ends)
    assert (np.diff(angles) > 0).all()
    assert angles[still] == angle
    assert (angles == 0).sum() == 1


def test_frames_of_a_joint_that_turns_one_way() -> None:
    angles, still = frame_angles(replace(BENT, low=0.0), 7)
    assert angles.tolist() == pytest.approx(np.linspace(0, 1.2, 7).tolist())
    assert still == 6


@pytest.mark.jit
def test_before_after_and_difference_in_step() -> None:
    count = 0

    def advance() -> None:
        nonlocal count
        count += 1

    scene = tube_scene(1.0)
    film = film_of(scene, linked(scene, count=3), TWISTED, frames=5, advance=advance)
    assert count == 15
    assert film.largest > 0
    for pictures in (film.before, film.after, film.difference):
        assert [one.shape for one in pictures] == [(56, 64, 4)] * 5
        assert len({one.tobytes() for one in pictures}) > 1
    rest = int(np.flatnonzero(film.angles == 0)[0])
    apart = [
        np.abs(old.astype(int) - new).mean()
        for old, new in zip(film.before, film.after, strict=True)
    ]
    assert apart[rest] < 0.1 < apart[film.still]
    blue = [
        (one[..., 2].astype(int) - one[..., 0] > 60) & (one[..., 3] > 200)
        for one in film.difference
    ]
    assert blue[film.still].sum() > 20
    assert not blue[rest].any()


@pytest.mark.jit
def test_what_did_not_move_is_drawn_once() -> None:
    scene = tube_scene(1.0)
    film = film_of(scene, scene, TWISTED, frames=3)
    assert film.largest == 0
    assert len(film.before) == 3
    assert film.after == film.difference == ()


@pytest.mark.jit
def test_bad_skin_is_red_where_it_is_bad() -> None:
    """A candy wrapper: at the ends of its range, not at rest."""
    film = film_of(tube_scene(0.5), tube_scene(0.5), TWISTED, frames=3)
    red = [
        int((one[..., 0].astype(int) - one[..., 1] > 60).sum()) for one in film.before
    ]
    assert min(red[0], red[2]) > 10
    assert red[1] == 0


@pytest.mark.jit
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_camera_sees_more_of_what_changed_than_the_opposite_side(
    side: float,
) -> None:
    before = tube_scene(2.0)
    pair = Character(before), Character(behind(before, side))
    film = film_of(before, pair[1].scene, BENT, frames=3)
    poses = [turned_poses(hero, 1, BENT.way, np.array([BENT.angle])) for hero in pair]

    def seen(camera: flexor.Camera) -> int:
        pictures = [
            flexor.draw(hero, pose[0], size=(128, 112), camera=camera)
            for hero, pose in zip(pair, poses, strict=True)
        ]
        apart = np.abs(pictures[0].astype(int) - pictures[1]).max(2)
        return int((apart > 24).sum())

    eye = np.array(film.camera.eye) - film.camera.target
    assert side * eye[2] > 0
    assert seen(film.camera) > 1.5 * seen(film.camera.turned(math.pi))


@pytest.mark.parametrize("way", [None, (0.6, 0.0, 0.8), (-1.0, 0.0, 0.0)])
def test_where_nothing_differs_the_turn_decides(way: Any) -> None:
    (view,) = joint_views(Character(tube_scene(1.0)), [1], 1)
    cameras = view_cameras(view, SIZE, np.zeros((0, 3)), np.zeros(0))
    picture = np.zeros((4, 4, 4), np.uint8)
    axis = None if way is None else np.array(way)
    camera = choose_camera(cameras, lambda camera: (picture, picture), axis, view)
    back = camera.axes()[2]
    if axis is None:
        assert abs(back @ view.world[:, 0]) < 0.3
    else:
        assert abs(back @ axis) > 0.9


@pytest.mark.jit
def test_cameras_stand_outside_around_the_joint() -> None:
    hero = flexor.samples.mannequin()
    nodes = [hero.skeleton.index(name) for name in ("l-knee", "l-index1", "hips")]
    views = joint_views(hero, nodes, 5)
    assert [view.node for view in views] == nodes[:2]  # nothing is above the hips
    assert views[1].height < views[0].height  # a finger is seen from nearer
    world = hero.pose().world.astype(np.float64)
    for view in views:
        place = world[view.node, :, 3]
        np.testing.assert_allclose(view.place, place, atol=1e-6)
        cameras = [
            camera
            for camera, _ in view_cameras(view, SIZE, np.zeros((0, 3)), np.zeros(0))
        ]
        ways = np.array([camera.axes()[2] for camera in cameras])
        assert len(np.unique(ways.round(3), axis=0)) == len(ways)
        assert (ways @ ways.T < -0.7).any(1).sum() >= 24  # also from the other side
        for camera in cameras:
            assert math.dist(camera.eye, place) > view.body
            seen = camera.project(place[None], SIZE)[0]
            np.testing.assert_allclose(seen[:2], [32, 28], atol=1e-3)


def test_pictures_have_room_for_what_is_to_be_seen() -> None:
    (view,) = joint_views(Character(tube_scene(1.0)), [1], 1)
    place = view.place + view.height * np.array([0.55, 0, 0])
    near = view_cameras(view, SIZE, view.place[None], np.ones(1))
    far = view_cameras(view, SIZE, place[None], np.ones(1))
    for (one, _), (other, _) in zip(near, far, strict=True):
        seen = other.project(place[None], SIZE)[0]
        assert (seen[:2] > 0).all()
        assert (seen[:2] < SIZE).all()
        assert other.fov >= one.fov


@pytest.mark.jit
def test_turned_like_measured() -> None:
    """A joint with a scale, whose rest is not of unit length, turns about its axis."""
    hero = flexor.samples.mannequin()
    old = hero.skeleton
    node = old.index("l-knee")
    rotations, scales = old.rotations.copy(), old.scales.copy()
    rotations[node] *= 1.005
    scales[node] = 0.5
    skeleton = Skeleton(
        old.names, old.parents, old.translations.copy(), rotations, scales
    )
    other = Character(replace(hero.scene, skeleton=skeleton))
    way = (0.6, 0.0, 0.8)
    poses = turned_poses(other, node, way, np.array([0.0, math.pi / 2]))
    axis = other.pose().world[node, :, :3] @ np.array(way)
    np.testing.assert_allclose(
        poses.world[1, node, :, :3] @ np.array(way), axis, atol=2e-3
    )
    foot = old.index("l-ankle")
    moved = poses.world[:, foot, :, 3] - other.pose().world[foot, :, 3]
    assert np.abs(moved[0]).max() < 2e-3 < np.abs(moved[1]).max()


@pytest.mark.jit
def test_strain_of_vertices_is_that_of_their_triangles() -> None:
    hero = Character(tube_scene(0.5))
    poses = turned_poses(hero, 1, (1, 0, 0), np.array([0.0, 2.5]))
    skins = hero.deform_many(poses)
    (found,) = StrainedSkin(hero).strain(skins)
    facts = SceneFacts(hero.scene)
    (own,) = facts.bodies
    rest = hero.deform(hero.pose())[0].positions
    form = make_form(own.body, own.by_place, rest)
    bad = find_strain(form, skins[0].positions).bad
    for vertex in range(0, len(rest), 37):
        point = own.by_place.point_of_vertex[vertex]
        faces = (form.faces == point).any(1)
        np.testing.assert_allclose(found[:, vertex], bad[:, faces].max(1), atol=1e-6)
    assert not found[0].any()
    assert found[1].max() > 0.3


@pytest.mark.jit
def test_skin_that_was_split_is_followed() -> None:
    """Surfaces for engines with few joints have other vertices."""
    hero = flexor.samples.mannequin()
    whole, _ = flexor.repair(hero, rogues=True, smooth=True, has_measures=False)
    split, _ = flexor.repair(
        hero, rogues=True, smooth=True, palette=24, has_measures=False
    )
    node = hero.skeleton.index("l-knee")
    skins = [
        one.deform_many(turned_poses(one, node, (0, 0, 1), np.array([-1.5, 0.5])))
        for one in (hero, whole, split)
    ]
    assert len(skins[2]) > len(skins[1])
    far = moved_skin(hero, whole, skins[0], skins[1])
    other = moved_skin(hero, split, skins[0], skins[2])
    most = max(part.max() for part in far)
    assert most > 1e-3
    assert max(part.max() for part in other) == pytest.approx(most, rel=1e-3)
    assert [part.shape for part in other] == [s.positions.shape[:2] for s in skins[2]]
