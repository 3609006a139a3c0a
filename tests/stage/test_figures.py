"""Figures: who is in view, and at which level; against plain code, and a crowd."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.api.detail import levels_of
from flexor.arrays import Floats
from flexor.maths import transforms
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.stage.figure_shadows import cast_figures, init_figure_shadows
from flexor.stage.figures import (
    FigureState,
    init_figures,
    make_figure_kind,
    make_sun,
    see_figures,
    see_whole,
    skin_figures,
)
from tests.level_bodies import make_hand_levels
from tests.pose.crowd.test_node_motion import chain
from tests.scenes import random_scene

SIZE = (160, 90)
CAMERA = Camera(eye=(0, 4, 24), target=(0, 2, 0))
MOMENT = 12 / 60  # of the clip, a frame of its own
FLAT = shape_ground((40, 40), 1.0)
NEAR = LevelRule(by="distance", borders=(500, 1000))


@functools.cache
def hero() -> Character:
    """A chain with three levels, made by hand."""
    scene = chain(12, side=1.0)
    levels = make_hand_levels(scene, [(0, 3), (0,)], [0.5, 0.25], [0.05, 0.15])
    return Character(scene).with_levels(levels)


def figures(count: int) -> FigureState:
    levels = hero().given_levels
    assert levels is not None
    return init_figures(make_figure_kind(hero().scene, levels), count)


def standing(places: NDArray[np.float64], size: float = 1.0) -> Floats:
    """World matrices of some who bend, one at each place (n, 3)."""
    world = np.repeat(hero().pose("bend", MOMENT).world[None], len(places), 0)
    moves = np.zeros((len(places), 1, 3, 4))
    moves[..., :3] = size * np.eye(3)
    moves[:, 0, :, 3] = places
    return np.ascontiguousarray(transforms.multiply(moves, world), np.float32)


def whole_skin(world: Floats) -> Floats:
    """All vertices of one at level 0, slowly: float64 (V, 3)."""
    found = []
    levels = hero().levels
    for surface in levels.surfaces:
        for row, (node, primitive, vertex) in enumerate(surface.sources.tolist()):
            mesh = hero().scene.meshes[hero().scene.node_mesh[node]]
            point = np.append(mesh.primitives[primitive].positions[vertex], 1.0)
            place = np.zeros(3)
            for slot, weight in zip(
                surface.joints[0][row], surface.weights[0][row], strict=True
            ):
                bound = np.append(levels.binds[slot].astype(float) @ point, 1.0)
                place += weight * (world[levels.slots[slot]].astype(float) @ bound)
            found.append(place)
    return np.array(found, np.float32)


def are_inside(camera: Camera, places: Floats) -> NDArray[np.bool_]:
    """Which points (n, 3) are in the picture."""
    x, y, depth = camera.project(places, SIZE).T[:3]
    is_before = depth > 0
    found: NDArray[np.bool_] = (
        is_before & (x > 0) & (x < SIZE[0]) & (y > 0) & (y < SIZE[1])
    )
    return found


@pytest.mark.parametrize("size", [1.0, 0.02, 40.0])
def test_none_that_is_in_the_picture_is_left_out(
    rng: np.random.Generator, size: float
) -> None:
    places = rng.uniform(-40 * size, 40 * size, (60, 3))
    world, state = standing(places, size), figures(60)
    camera = Camera(eye=(0, 4 * size, 24 * size), target=(0, 2 * size, 0), near=0.01)
    see_figures(state, world, camera, SIZE)
    skins = [whole_skin(own) for own in world]
    is_inside = np.array([are_inside(camera, skin).any() for skin in skins])
    assert is_inside.any()
    assert state.is_seen[is_inside].all()
    for skin, middle, reach in zip(skins, state.middles, state.reaches, strict=True):
        away = np.linalg.norm(skin - middle, axis=1)
        assert away.max() <= reach * (1 + 1e-5)
    assert not state.is_seen.all(), "and those far outside are not seen"
    assert ((state.level >= 0) == state.is_seen).all()


def test_balls_hold_whatever_is_scaled_or_morphed(rng: np.random.Generator) -> None:
    for _ in range(5):
        own = Character(random_scene(rng, targets=2, scale="uneven"))
        rest = own.layout.rest_weights
        weights = rest + rng.uniform(-1, 1, (6, len(rest))).astype(np.float32)
        pose = own.pose_many("linear", rng.uniform(0, 2, 6))
        pose = dataclasses.replace(pose, weights=weights)
        levels = levels_of(own)
        state = init_figures(make_figure_kind(own.scene, levels), 6)
        see_figures(state, pose.world, CAMERA, SIZE)
        for skin in own.deform_many(pose):
            for number, positions in enumerate(skin.positions):
                away = np.linalg.norm(positions - state.middles[number], axis=1)
                assert away.max() <= state.reaches[number] * (1 + 1e-5)


def test_errors_choose_levels_as_for_crowds() -> None:
    places = np.array([[0, 0, -away] for away in (0.0, 60, 100, 400, 900)])
    world, state, crowd = standing(places), figures(5), Crowd(hero(), 5)
    crowd.place[:] = places
    crowd.play("bend", time=MOMENT)
    rule = LevelRule(by="distance", borders=(50, 300))
    see_figures(state, world, CAMERA, SIZE, rule)
    crowd.select(CAMERA, SIZE, rule)
    assert state.level.tolist() == crowd.level.tolist() == [0, 1, 1, 2, 2]
    assert [own.level for own in state.shown] == [0, 1, 2]
    assert [own.who.tolist() for own in state.shown] == [[0], [1, 2], [3, 4]]
    see_whole(state)
    assert [own.who.tolist() for own in state.shown] == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("level", [1, 2])
def test_a_level_is_skinned_as_that_of_a_crowd(level: int) -> None:
    places = np.array([[0.0, 0, 0], [3, 1, -2], [-4, 0, 1]])
    world, state, crowd = standing(places), figures(3), Crowd(hero(), 3)
    rule = LevelRule(by=lambda view: np.full(len(view.distances), level))
    crowd.place[:] = places
    crowd.play("bend", time=MOMENT)
    for _ in range(2):  # the second time in the same arrays
        see_figures(state, world, CAMERA, SIZE, rule)
        skin_figures(state, world)
    crowd.select(CAMERA, SIZE, rule)
    crowd.deform()
    (own,), (other,) = state.shown, crowd.state.shown
    assert own.who.tolist() == other.who.tolist() == [0, 1, 2]
    pairs = [*zip(own.positions, other.positions, strict=True)]
    pairs += zip(own.normals, other.normals, strict=True)
    for one, two in pairs:
        np.testing.assert_allclose(one, two, atol=2e-4)
    counts, levels = crowd.counts, state.kind.levels
    assert state.triangles == counts.triangles == 3 * levels.totals(level)[2]
    assert state.vertices == counts.vertices


def test_who_has_a_shadow_in_view_is_shown_but_not_seen() -> None:
    # Light that goes to the right: a shadow from beyond the left edge is in view.
    sun = make_sun((4.0, -1.0, 0.0), FLAT)
    assert make_sun((1.0, 1.0, 0.0), FLAT) is None
    places = np.array([[0.0, 0, 0], [-18, 0, 0], [18, 0, 0]])
    world, state = standing(places), figures(3)
    see_figures(state, world, CAMERA, SIZE, NEAR)
    assert state.is_seen.tolist() == [True, False, False]
    assert state.level.tolist() == [0, -1, -1]
    see_figures(state, world, CAMERA, SIZE, NEAR, sun=sun)
    assert state.is_seen.tolist() == [True, False, False]
    assert state.level.tolist() == [0, 0, -1]
    assert state.shown[0].who.tolist() == [0, 1]
    assert state.shown[0].is_seen.tolist() == [True, False]


def test_what_is_not_finite_is_not_seen() -> None:
    world, state = standing(np.zeros((4, 3))), figures(4)
    world[1, 3, 0, 3], world[2, 5], world[3] = np.nan, np.inf, 1e38
    sun = make_sun((1.0, -1.0, 0.0), FLAT)
    see_figures(state, world, CAMERA, SIZE, NEAR, sun=sun)
    assert state.level.tolist()[:3] == [0, -1, -1]
    skin_figures(state, world)


def test_nobody_can_be_seen() -> None:
    state = figures(0)
    see_figures(state, standing(np.zeros((0, 3))), CAMERA, SIZE)
    assert state.shown == []


@pytest.mark.parametrize("level", [1, 2])
def test_coarse_forms_cast_their_own_shadows(level: int) -> None:
    places = np.array([[0.0, 0, 0], [3, 0.5, -2]])
    world, state = standing(places), figures(2)
    rule = LevelRule(by=lambda view: np.full(len(view.distances), level))
    shadows = init_figure_shadows(hero().scene, state.kind)
    assert shadows.parts[0] is None
    light = np.array([0.6, -1.0, 0.3])
    see_figures(state, world, CAMERA, SIZE, rule)
    skin_figures(state, world)
    (own,) = state.shown
    found = cast_figures(shadows, own, tuple(light.tolist()), FLAT)
    assert found is not None
    assert found.is_cast.all()
    assert len(found.positions) == 2
    np.testing.assert_allclose(found.positions[..., 1], 0.004, atol=1e-5)
    points = np.concatenate(own.positions, 1)[:, found.parts.sources]
    flat = points - points[..., 1:2] / light[1] * light
    np.testing.assert_allclose(found.positions[..., ::2], flat[..., ::2], atol=4e-3)
