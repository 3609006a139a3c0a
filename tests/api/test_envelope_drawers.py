"""Drawers that choose how many weights a character has."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.one_weight import one_weight_error
from flexor.api.pictures.drawing import Drawer, contact_sheet
from flexor.deform.weight_choice import WeightRule
from flexor.draw.record.backend import RecordBackend
from flexor.errors import SettingError
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.skeleton import Skeleton
from tests.draw.scenes import square_scene
from tests.scenes import plain_scene, random_scene, random_skeleton

Rng = np.random.Generator

SIZE = (64, 48)


@pytest.fixture
def hero(rng: Rng) -> Character:
    return Character(random_scene(rng))


@pytest.fixture(scope="module")
def mannequin() -> Character:
    return flexor.samples.mannequin()


# Drawers


def recorded(character: Character, weights: Any) -> Drawer:
    return Drawer(character, SIZE, "unlit", backend="record", weights=weights)


def surface(drawer: Drawer, pose: Pose, camera: Camera | None) -> Any:
    """Where the vertices of the first surface were drawn."""
    drawer.draw(pose, camera)
    backend = drawer._kit.backend
    assert isinstance(backend, RecordBackend)
    return backend.lists[-1].items[0].positions


def at_distance(metres: float) -> Camera:
    """A camera that looks at the middle of the mannequin from so far."""
    return Camera((0, 1, metres), (0, 1, 0))


@pytest.fixture(scope="module")
def kicking(mannequin: Character) -> tuple[Pose, Any, Any]:
    """A pose, its vertices with all weights, and with one."""
    pose = mannequin.pose("kick", 0.5)
    (multi,), (one,) = mannequin.deform(pose), mannequin.deform(pose, weights="one")
    assert (multi.positions != one.positions).any()
    return pose, multi.positions.copy(), one.positions.copy()


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["multi", "one"])
@pytest.mark.parametrize("camera", [None, at_distance(2), at_distance(100)])
def test_a_drawer_with_a_word(
    mannequin: Character, kicking: Any, weights: str, camera: Camera | None
) -> None:
    """Wherever the camera is."""
    pose, multi, one = kicking
    drawn = surface(recorded(mannequin, weights), pose, camera)
    np.testing.assert_array_equal(drawn, multi if weights == "multi" else one)


def small_at(hero: Character, metres: float) -> WeightRule:
    """A rule by which a character is small from so many metres on."""
    points = np.concatenate([skin.positions for skin in hero.deform(hero.pose())])
    height = float(np.ptp(points, axis=0).max())
    return WeightRule(small=height * at_distance(1).scale(SIZE) / metres, band=0.1)


@pytest.mark.slow
def test_what_is_in_front_of_it(mannequin: Character, kicking: Any) -> None:
    """Something half transparent, as the caller knows."""
    pose, multi, one = kicking
    drawer = recorded(mannequin, WeightRule(small=0))
    for is_behind in (False, True, False):
        drawer.is_behind = is_behind
        drawn = surface(drawer, pose, at_distance(3))
        np.testing.assert_array_equal(drawn, one if is_behind else multi)


@pytest.mark.slow
def test_a_drawer_with_a_rule(mannequin: Character, kicking: Any) -> None:
    """Away and back: one weight beyond 12 metres, all of them again below 10.8."""
    pose, multi, one = kicking
    drawer = recorded(mannequin, small_at(mannequin, 12))
    walk = [(3, multi), (11.5, multi), (12.6, one), (11.5, one), (10.2, multi)]
    for metres, expected in walk:
        drawn = surface(drawer, pose, at_distance(metres))
        np.testing.assert_array_equal(drawn, expected, err_msg=f"{metres} m")


@pytest.mark.slow
def test_a_rule_looks_at_the_edge_of_the_picture(
    mannequin: Character, kicking: Any
) -> None:
    pose, multi, one = kicking
    drawer = recorded(mannequin, WeightRule(small=0, aside=0.8))
    camera = at_distance(6)
    for way, expected in ((0, multi), (2.4, multi), (3.2, one), (0, multi), (-40, one)):
        drawn = surface(drawer, pose, camera.moved((way, 0, 0)))
        np.testing.assert_array_equal(drawn, expected, err_msg=f"{way} m")


@pytest.mark.slow
def test_a_camera_that_is_fitted_sees_all_weights(
    mannequin: Character, kicking: Any
) -> None:
    pose, multi, one = kicking
    drawer = recorded(mannequin, WeightRule(small=1e6))
    np.testing.assert_array_equal(surface(drawer, pose, at_distance(3)), one)
    np.testing.assert_array_equal(surface(drawer, pose, None), multi)


@pytest.mark.slow
def test_drawers_choose_each_for_itself(mannequin: Character, kicking: Any) -> None:
    pose, multi, one = kicking
    rule = small_at(mannequin, 12)
    near, far = recorded(mannequin, rule), recorded(mannequin, rule)
    surface(far, pose, at_distance(13))
    inside = at_distance(11.5)
    np.testing.assert_array_equal(surface(near, pose, inside), multi)
    np.testing.assert_array_equal(surface(far, pose, inside), one)


@pytest.mark.slow
def test_a_rule_by_what_one_weight_changes(mannequin: Character) -> None:
    """The border is where skin of one weight is off by a pixel, or by three at worst;
    at 110 pixels, which was the border of all, it is off by more.
    """
    mean, worst = one_weight_error(mannequin)
    assert 0 < mean < worst < 0.5
    for moment in np.linspace(0, 0.8, 5):
        pose = mannequin.pose("kick", float(moment))
        both = [mannequin.deform(pose, weights=kind)[0] for kind in ("multi", "one")]
        apart = np.linalg.norm(both[0].positions - both[1].positions, axis=1)
        assert apart.mean() < 1.3 * mean
        assert apart.max() < 1.3 * worst
    reach = recorded(mannequin, "one")._kit.size / 2
    border = max(mean, worst / 3) * at_distance(1).scale(SIZE) + reach
    drawer = recorded(mannequin, WeightRule(aside=math.inf))
    pose = mannequin.pose("kick", 0.3)
    wanted = [
        mannequin.deform(pose, weights=kind)[0].positions.copy()
        for kind in ("multi", "one", "multi")
    ]
    for share, expected in zip((0.8, 1.3, 0.8), wanted, strict=True):
        drawn = surface(drawer, pose, at_distance(share * border))
        np.testing.assert_array_equal(drawn, expected, err_msg=f"{share}")


def test_what_is_rigid_has_one_weight_anyway(rng: Rng) -> None:
    assert one_weight_error(Character(square_scene())) == (0, 0)


@pytest.mark.slow
def test_the_middle_is_that_of_the_skin(mannequin: Character) -> None:
    """Helpers far away (cameras, lights, handles) do not move it."""
    scene = mannequin.scene
    old = scene.skeleton
    far = np.array([[400.0, 300.0, -900.0]], np.float32)
    skeleton = Skeleton(
        (*old.names, "camera"),
        np.append(old.parents, np.int32(-1)),
        np.concatenate([old.translations, far]),
        np.concatenate([old.rotations, np.float32([[0, 0, 0, 1]])]),
        np.concatenate([old.scales, np.ones((1, 3), np.float32)]),
    )
    more = {
        name: np.append(getattr(scene, name), np.int32(-1))
        for name in ("node_mesh", "node_skin")
    }
    other = Character(dataclasses.replace(scene, skeleton=skeleton, **more))
    rule = WeightRule(small=0, aside=0.8)
    for way in (0.0, 2.4, 3.2):
        camera = at_distance(6).moved((way, 0, 0))
        chosen = []
        for hero in (mannequin, other):
            drawer = recorded(hero, rule)
            drawer.draw(hero.pose("kick", 0.3), camera)
            chosen.append(bool(drawer._is_one[0]))
        assert chosen[0] == chosen[1] == (way == 3.2)


def test_a_drawer_with_a_wrong_word(hero: Character) -> None:
    with pytest.raises(SettingError, match="weights: 'two'"):
        recorded(hero, "two")


def test_a_rule_for_a_character_of_nothing(rng: Rng) -> None:
    empty = Character(plain_scene(random_skeleton(rng, 0, roots=0)))
    drawer = recorded(empty, WeightRule())
    assert drawer.draw(empty.pose(), at_distance(3)).shape == (48, 64, 4)


@pytest.mark.jit
def test_sheets_with_one_weight(mannequin: Character) -> None:
    multi = contact_sheet(mannequin, "kick", 2, size=SIZE)
    one = contact_sheet(mannequin, "kick", 2, size=SIZE, weights="one")
    assert multi.shape == one.shape
    assert (multi != one).any()
