"""Pictures of crowds: colours, shadows, ground and lines, item by item."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.api.pictures.field import CHALK, GRASS, NEAREST
from flexor.draw.drawlist import DrawItem, DrawList
from flexor.draw.scene.style import DrawStyle
from flexor.errors import SettingError
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.clip import Clip, Track
from tests.api.test_crowd import CAMERA, SIZE, levelled

Rng = np.random.Generator


def shown(crowd: Crowd, style: DrawStyle | str) -> DrawList:
    """What is drawn of the crowd, as it stands."""
    crowd.select(CAMERA, SIZE)
    crowd.deform()
    return crowd.draw_list(CAMERA, style)


def bodies(draw_list: DrawList) -> list[DrawItem]:
    """Items of the characters: those with tints."""
    return [item for item in draw_list.items if item.tints is not None]


def test_each_has_its_own_colour_whoever_is_out_of_view(rng: Rng) -> None:
    crowd = Crowd([levelled(), levelled(5)], [4, 3])
    crowd.place[:, 0] = np.arange(7) - 3
    crowd.place[[0, 4], 2] = 300  # the first of each kind is behind the camera
    crowd.colour = rng.random((7, 4))
    items = bodies(shown(crowd, DrawStyle()))
    whose = [own.who for own in crowd.state.shown]
    assert np.concatenate(whose).tolist() == [1, 2, 3, 5, 6]
    for item, who in zip(items, whose, strict=True):
        np.testing.assert_array_equal(item.tints, crowd.colour[who])


def test_shadows_are_as_large_as_their_characters() -> None:
    crowd = Crowd([levelled(), levelled(5)], [3, 2])
    crowd.place[:, 0] = np.arange(5) * 2 - 4
    crowd.size = [1, 0.5, 3, 1, 2]
    item = shown(crowd, DrawStyle(shadow=True)).items[0]
    who = np.concatenate([own.who for own in crowd.state.shown])
    assert sorted(who.tolist()) == list(range(5))
    away = np.linalg.norm(item.positions[:, 1:] - item.positions[:, :1], axis=2)
    kinds = crowd.state.kinds
    wide = np.repeat([kinds[0].footprint, kinds[1].footprint], [3, 2])
    assert wide[0] > 0
    wanted = (wide * crowd.size)[who]
    np.testing.assert_allclose(away, np.tile(wanted[:, None], (1, 12)), rtol=1e-4)


def test_a_footprint_is_between_half_the_width_and_half_the_length() -> None:
    """The chain at rest: triangles of a metre, along x and z alike."""
    footprint = Crowd(levelled(), 1).state.kinds[0].footprint
    assert footprint == pytest.approx(0.5, abs=1e-4)


def test_rules_are_those_of_the_picture() -> None:
    crowd = Crowd(levelled(), 3)
    for level in (2, 0, 1):

        def by_hand(view: Any, level: int = level) -> Any:
            return np.full(len(view.places), level)

        crowd.draw(CAMERA, SIZE, rules=LevelRule(by=by_hand))
        assert crowd.level.tolist() == [level] * 3
        assert [own.level for own in crowd.state.shown] == [level]


@pytest.mark.parametrize("size", [0.5, 1.0, 6.0])
def test_a_fitting_camera_sees_heads_and_feet(size: float) -> None:
    """All of one who stands alone, and not much more than that."""
    crowd = Crowd(levelled(), 1)
    crowd.place[:] = 3, 1, -7
    crowd.size = size
    camera = crowd.fit(SIZE, (0, 0, 1))
    tall = crowd.state.kinds[0].levels.height * size
    ends = np.array([[3, 1, -7], [3, 1 + tall, -7]])
    feet, head = camera.project(ends, SIZE)
    for spot in (feet, head):
        assert (spot[:2] >= 0).all()
        assert (spot[:2] <= SIZE).all()
    assert head[1] < feet[1]
    assert feet[1] - head[1] > 0.6 * SIZE[1]


@pytest.mark.slow
@pytest.mark.parametrize("height", [90, 500, 1000])
def test_lines_suit_the_height_of_the_picture(
    height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = Crowd(levelled(), 1)
    drawn: list[DrawList] = []
    own = crowd.painter.backend.draw

    def keep(draw_list: DrawList, target: Any) -> Any:
        drawn.append(draw_list)
        return own(draw_list, target)

    monkeypatch.setattr(crowd.painter.backend, "draw", keep)
    crowd.draw(CAMERA, (30, height), DrawStyle(style="lines", samples=1))
    crowd.draw(CAMERA, (30, height), DrawStyle(style="cel", samples=1, line_width=7))
    widths = [item.strokes.width for d in drawn for item in bodies(d) if item.strokes]
    wanted = min(max(height / 250, 1.2), 6.0)
    assert widths == pytest.approx([wanted, 7])


def field_of(crowd: Crowd, **style: Any) -> DrawItem:
    return shown(crowd, DrawStyle(ground=True, **style)).items[0]


def test_the_ground_lies_under_the_lowest() -> None:
    crowd = Crowd(levelled(), 3)
    for heights, floor in (((0, 2, 5), 0), ((0, -2, -1.5), -2), ((-3, np.nan, 0), -3)):
        crowd.place[:, 1] = heights
        assert (field_of(crowd).positions[:, 1] == floor).all()
    assert (field_of(crowd, floor=0.25).positions[:, 1] == 0.25).all()


def from_middle(below: float, *, step: float = 0.0) -> Character:
    """The chain, its origin so many metres over its lowest point; clip "step" puts it
    so many metres to the side in a second, and "sit" lets it down by nine.
    """
    hero = levelled()
    scene = hero.scene
    low = min(float(skin.positions[:, 1].min()) for skin in hero.deform(hero.pose()))
    root = np.array([0, -below - low, 0], np.float32) + scene.skeleton.translations[0]
    steps = scene.skeleton.translations.copy()
    steps[0] = root
    times = np.array([0.0, 1.0], np.float32)

    def shifted(name: str, *places: Any) -> Clip:
        return Clip(name, (Track(0, "translation", times, np.stack(places)),))

    clips = {
        "step": shifted("step", root, root + np.float32([step, 0, 0])),
        "sit": shifted("sit", *2 * [root - np.float32([0, 9, 0])]),
    }
    skeleton = dataclasses.replace(scene.skeleton, translations=steps)
    made = dataclasses.replace(scene, skeleton=skeleton, clips=clips)
    return Character(made).with_levels(hero.levels)


@pytest.mark.parametrize("below", [3.0, -2.0])
def test_the_ground_is_at_the_feet_wherever_a_file_has_its_origin(below: float) -> None:
    crowd = Crowd([from_middle(below), levelled()], [2, 1])
    crowd.size = 1, 2, 1
    np.testing.assert_allclose(crowd.soles, [-below, -2 * below, 0], atol=1e-5)
    floor = min(-below, -2 * below, 0)
    assert field_of(crowd).positions[:, 1] == pytest.approx(floor, abs=1e-5)
    crowd.place[:, 1] = -crowd.soles
    assert field_of(crowd).positions[:, 1] == pytest.approx(0, abs=1e-5)


def test_the_ground_stays_while_all_jump() -> None:
    for below in (0.0, -2.0):
        crowd = Crowd(from_middle(below), 2)
        crowd.place[:, 1] = 1
        assert field_of(crowd).positions[:, 1] == pytest.approx(-below, abs=1e-5)


def test_the_ground_is_at_the_feet_of_the_clip() -> None:
    crowd = Crowd(from_middle(3.0), 1)
    crowd.play("sit")
    np.testing.assert_allclose(crowd.soles, -12, atol=1e-5)


@pytest.mark.parametrize("below", [3.0, -2.0])
def test_a_fitting_camera_sees_feet_below_the_origin(below: float) -> None:
    crowd = Crowd(from_middle(below), 1)
    camera = crowd.fit(SIZE, (0, 0, 1))
    tall = crowd.state.kinds[0].levels.height
    spots = camera.project(np.array([[0, -below, 0], [0, tall - below, 0]]), SIZE)
    assert (spots[:, :2] >= 0).all()
    assert (spots[:, :2] <= SIZE).all()


@pytest.mark.parametrize("level", [0, 1, 2])
def test_shadows_are_under_bodies_as_they_are_posed(level: int) -> None:
    """At both ends of a clip that goes 3 m aside, and turned; not at its middle."""
    crowd = Crowd(from_middle(3.0, step=3.0), 3)
    crowd.place[:, 0] = -4, 0, 1
    crowd.heading[:] = 0, 0, 0.8
    crowd.play("step", time=(0, 1, 0.5), loop=False)
    crowd.level = level
    crowd.deform()
    (mesh,) = crowd.meshes()
    item = crowd.draw_list(CAMERA, DrawStyle(shadow=True)).items[0]
    # Triangles are all alike: their mean is the middle of the surface.
    wanted = mesh.positions[:, mesh.faces].mean((1, 2))
    found = item.positions[:, 0]
    np.testing.assert_allclose(found[:, [0, 2]], wanted[:, [0, 2]], atol=1e-4)
    np.testing.assert_allclose(found[:, 1], -3, atol=0.01)


def test_the_ground_reaches_well_past_what_the_camera_looks_at() -> None:
    item = field_of(Crowd(levelled(), 1))
    away = math.dist(CAMERA.eye, CAMERA.target)
    for axis in (0, 2):
        places = item.positions[:, axis] - CAMERA.target[axis]
        assert places.min() < -0.9 * NEAREST * away
        assert places.max() > 0.9 * NEAREST * away
        assert places.max() < 3 * NEAREST * away
    assert NEAREST > 1.5


def test_the_ground_is_grass_or_chalk() -> None:
    crowd = Crowd(levelled(), 1)
    for style, stripes in (("shaded", GRASS), ("lines", CHALK)):
        item = field_of(crowd, style=style, background=(0, 0, 0, 0))
        assert item.colours is not None
        low, high = item.colours[:, :3].min(0), item.colours[:, :3].max(0)
        np.testing.assert_allclose([low, high], stripes, rtol=1e-5)


def test_the_ground_fades_into_the_paper_or_into_nothing() -> None:
    crowd = Crowd(levelled(), 1)
    edges = []
    for background in ((255, 0, 0, 255), (0, 0, 0, 0)):
        item = field_of(crowd, background=background)
        assert item.colours is not None
        assert item.look is not None
        places = item.positions[:, [0, 2]] - np.array([0, 0])
        edge = np.hypot(*places.T).argmax()
        edges.append((item.look.alpha, item.colours[edge].tolist()))
    assert edges[0] == ("opaque", [1, 0, 0, 1])
    assert edges[1][0] == "blend"
    assert edges[1][1][3] == 0


@pytest.mark.slow
def test_a_picture_without_paper_is_empty_at_the_horizon() -> None:
    """Alpha: all of the ground near, nothing above the horizon, less far away."""
    crowd = Crowd(levelled(), 1)
    camera = flexor.Camera(eye=(0, 3, 20), target=(0, 3, 0))
    style = DrawStyle(samples=1, ground=True, background=(0, 0, 0, 0))
    alpha = crowd.draw(camera, SIZE, style)[:, 3, 3].astype(int)
    assert alpha[-1] == 255
    assert (alpha[:44] == 0).all()
    assert (np.diff(alpha[46:]) >= 0).all()
    assert ((alpha > 0) & (alpha < 255)).any()


def test_buffers_are_given_or_refused() -> None:
    crowd = Crowd(levelled(), 1)
    assert crowd.target is None
    crowd.draw(CAMERA, SIZE, DrawStyle(samples=1, buffers=("depth", "normal")))
    target = crowd.target
    assert target is not None
    assert target.depth is not None
    assert target.normal is not None
    assert np.isfinite(target.depth).any()
    picture = crowd.draw(CAMERA, (20, 10))
    assert crowd.target is not None
    assert crowd.target.colour is picture
    with pytest.raises(SettingError, match="part: pictures of many have depth and"):
        crowd.draw(CAMERA, SIZE, DrawStyle(buffers=("depth", "part")))
