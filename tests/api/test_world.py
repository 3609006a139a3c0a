"""Worlds: players, crowds, goals and stages in one picture."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.convert.levels.make import make_levels
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera
from flexor.scene.runtime.level_settings import LevelSettings
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from tests.api.pictures.test_crowd import from_middle
from tests.api.test_crowd import levelled

Rng = np.random.Generator
SIZE = (160, 90)
CAMERA = Camera(eye=(0.0, 2.0, 6.0), target=(0.0, 0.9, 0.0))


@functools.cache
def hero() -> Character:
    return flexor.samples.mannequin()


@functools.cache
def coarse() -> Character:
    """One with a second level."""
    settings = LevelSettings(heights=(60,))
    return hero().with_levels(make_levels(hero().scene, settings)[0])


@functools.cache
def hills() -> StagePlan:
    ground = shape_ground(
        (40, 40), 0.5, [Patch(middle=(3, -2), radius=3, height=0.9, edge=4)]
    )
    return StagePlan(ground=ground)


def test_all_kinds_of_things_are_in_one_picture() -> None:
    world = flexor.World()
    empty = world.draw(SIZE, CAMERA).copy()
    things: tuple[Any, ...] = (
        flexor.Player(hero(), 2),
        flexor.Crowd(hero(), 2, levels=False),
        flexor.Goal(),
    )
    things[0].places[:, 0, 3] = -0.5, 0.5
    things[1].place[:, 0] = -1.5, 1.5
    for thing in things:
        assert world.add(thing) is thing
        seen = world.draw(SIZE, CAMERA).copy()
        assert (seen != empty).any(2).sum() > 200, type(thing).__name__
        world.remove(thing)
        np.testing.assert_array_equal(world.draw(SIZE, CAMERA), empty)
    for thing in things:
        world.add(thing)
    world.draw(SIZE, CAMERA)
    assert world.counts.shown == 4
    assert "2 of players, 2 of crowds, 1 goals" in repr(world)


def test_a_stage_is_drawn_as_alone() -> None:
    red = Actor(name="red", place=(0, 0))
    stage = Stage(StagePlan(cast=(red,)), characters={"mannequin": hero()})
    world = flexor.World(stage)
    np.testing.assert_array_equal(world.draw(SIZE), stage.draw(SIZE).copy())
    world.advance(0.5, ["up"])
    assert stage.tick == 30
    assert world.camera == stage.camera


def test_things_stand_on_the_ground() -> None:
    world = flexor.World(hills())
    player = world.add(flexor.Player(hero(), 3))
    crowd = world.add(flexor.Crowd(hero(), 3, levels=False))
    x = np.array([0.0, 3.0, 5.0])
    player.places[:, 0, 3] = crowd.place[:, 0] = x
    player.places[:, 2, 3] = crowd.place[:, 2] = -2.0
    player.play("walk")
    for _ in range(60):
        world.advance(1 / 60)
    wanted = world.ground.height(crowd.place[:, 0], crowd.place[:, 2])
    np.testing.assert_allclose(crowd.place[:, 1] + crowd.soles, wanted)
    assert wanted.max() > 0.8
    # Ankles are where they are over flat ground, as far as legs reach.
    ankles = player.points(["l-ankle", "r-ankle"]).astype(float)
    flat = flexor.Player(hero())
    flat.play("walk")
    flat.advance(1.0)
    over = flat.points(["l-ankle", "r-ankle"])[0, :, 1]
    high = world.ground.height(ankles[..., 0], ankles[..., 2])
    np.testing.assert_allclose(ankles[..., 1] - high, np.tile(over, (3, 1)), atol=0.02)


def test_who_flies_is_left_where_it_is() -> None:
    world = flexor.World(hills())
    player = world.add(flexor.Player(hero()), stand=False)
    player.places[0, :, 3] = 3, 7, -2
    world.advance(1 / 60)
    assert player.places[0, 1, 3] == 7


def test_what_is_out_of_view_is_not_deformed() -> None:
    world = flexor.World()
    player = world.add(flexor.Player(hero(), 5))
    player.places[:, 2, 3] = 0, 0.5, 50, 60, -0.5
    player.places[:, 0, 3] = -1, 0, 0, 0, 1
    world.draw(SIZE, CAMERA)
    whole = sum(bind.vertex_count for bind in hero().binds)
    assert world.counts.shown == 3
    assert world.counts.vertices == 3 * whole
    assert world.casts[0].figures.level.tolist() == [0, 0, -1, -1, 0]
    away = Camera(eye=(0.0, 2.0, -20.0), target=(0.0, 2.0, -30.0))
    world.draw(SIZE, away)
    assert world.counts == type(world.counts)()


def test_colours_are_those_that_were_given() -> None:
    pictures = []
    for colour in ((1, 1, 1, 1), (1, 0.1, 0.1, 1)):
        look = StageLook(shadows=False, backdrop="none")
        world = flexor.World(StagePlan(look=look))
        world.add(flexor.Player(hero()), colour=colour)
        pictures.append(world.draw(SIZE, CAMERA).astype(int))
    changed = (pictures[0] != pictures[1]).any(2)
    assert changed.sum() > 100
    less = (pictures[0] - pictures[1])[changed]
    assert (less[:, 0] == 0).all()
    assert less[:, 1].mean() > 20


def test_worlds_are_copied_whole() -> None:
    world = flexor.World(hills())
    player = world.add(flexor.Player(hero()))
    player.play("walk")
    world.draw(SIZE, CAMERA)
    copy = pickle.loads(pickle.dumps(world))
    for one in (world, copy):
        one.advance(0.1)
    np.testing.assert_array_equal(copy.draw(SIZE, CAMERA), world.draw(SIZE, CAMERA))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda world: world.add(hero()), "Character, expected a Player, a Crowd or a"),
        (lambda world: world.add(5), "int, expected a Player"),
        (lambda world: world.remove(flexor.Player(hero())), "is not in the world"),
        (
            lambda world: [world.add(world.add(flexor.Goal()))],
            "is in the world already",
        ),
        (lambda world: world.add(flexor.Player(hero()), colour="red"), "colour: 'red'"),
        (lambda world: world.add(flexor.Player(hero()), colour=(1, 2)), "colour: "),
        (lambda world: world.draw((0, 5)), "size: "),
        (lambda world: world.draw(SIZE, "camera"), "camera: str"),
        (lambda world: world.advance(-1), "dt: -1"),
        (lambda world: flexor.World(7), "source: int"),
        (lambda world: flexor.World(world.stage, characters={}), "characters: "),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        call(flexor.World())
    assert words in str(caught.value)


@pytest.mark.parametrize("below", [3.0, -2.0])
def test_who_has_its_origin_elsewhere_stands_on_the_ground(below: float) -> None:
    """Feet are on it, whether the origin of a file is above or below them."""
    world = flexor.World(hills())
    body = from_middle(below)
    crowd = world.add(flexor.Crowd([body, levelled()], [2, 1]))
    player = world.add(flexor.Player(body, 2))
    crowd.place[:, 0] = -2, 0, 2
    crowd.size = 1, 2, 1
    player.places[:, 0, 3] = 1, 3
    world.advance(1 / 60)
    x, z = crowd.place[:, [0, 2]].T
    stands = crowd.place[:, 1] + crowd.soles
    np.testing.assert_allclose(stands, world.ground.height(x, z), atol=1e-6)
    x, y, z = player.places[:, :, 3].T
    np.testing.assert_allclose(y - below, world.ground.height(x, z), atol=1e-4)


def test_who_begins_on_a_hill_has_no_speed_from_there() -> None:
    world = flexor.World(hills())
    crowd = world.add(flexor.Crowd(levelled(), 1))
    crowd.place[0] = 3, 0, -2
    for _ in range(3):
        world.advance(1 / 60)
        assert crowd.place[0, 1] > 0.8
        assert crowd.state.pace[0] == 0


def test_shadows_of_levels_are_under_bodies_as_they_are_posed() -> None:
    """At a clip's end, three metres from the place of the player."""
    world = flexor.World()
    player = world.add(flexor.Player(from_middle(3.0, step=3.0), 1))
    player.play("step", mode="once")
    for _ in range(70):
        world.advance(1 / 60)
    world.draw(SIZE, Camera(eye=(0, 4, 300), target=(0, 2, 0)))
    (cast,) = world.casts
    (own,) = cast.figures.shown
    assert own.level > 0
    painter = world._painter
    assert painter is not None
    (_, figures) = painter._casts[0]
    (shadow,) = figures.shadows(world.stage.painter.floor, (0, -1, 0), [])
    faces = cast.figures.kind.binds[own.level][0].faces
    skin, flat = own.positions[0][0][faces], shadow.positions[0]
    for low_or_high in (np.min, np.max):
        wanted = low_or_high(skin, (0, 1))[[0, 2]]
        np.testing.assert_allclose(low_or_high(flat, 0)[[0, 2]], wanted, atol=1e-3)
    middle = skin.mean((0, 1))
    assert middle[0] > 2.5


def test_a_world_keeps_the_buffers_that_are_asked_for() -> None:
    world = flexor.World()
    assert world.target is None
    style = flexor.DrawStyle(samples=1, buffers=("depth",))
    world.draw(SIZE, CAMERA, style)
    assert world.target is not None
    assert world.target.depth is not None
    with pytest.raises(SettingError, match="part: pictures of many"):
        world.draw(SIZE, CAMERA, flexor.DrawStyle(buffers=("part",)))


def test_discs_of_a_crowd_lie_on_the_ground() -> None:
    world = flexor.World(hills())
    crowd = world.add(flexor.Crowd(hero(), 4, levels=False))
    crowd.place[:, 0] = -1, 0.5, 2, 3.5
    world.advance(1 / 60)
    world.draw(SIZE, CAMERA)
    painter = world._painter
    assert painter is not None
    (discs,) = painter._crowds[0][1].shadows_on(world.ground)
    x, y, z = np.moveaxis(discs.positions.astype(float), -1, 0)
    over = y - world.ground.height(x, z)
    assert 0.005 < over.min() <= over.max() < 0.05
    assert np.ptp(y, axis=1).max() > 0.01, "on a slope"
    assert np.hypot(x[:, 0] - crowd.place[:, 0], z[:, 0]).max() < 0.1


def test_who_is_nowhere_is_not_seen() -> None:
    world = flexor.World()
    crowd = world.add(flexor.Crowd(hero(), 3, levels=False))
    crowd.place[:, 0] = -1, np.nan, 1
    world.advance(1 / 60)
    world.draw(SIZE, CAMERA)
    assert world.counts.shown == 2


def test_levels_by_speed() -> None:
    """Of a stage's own, of players and of crowds."""
    red = Actor(name="red", place=(-2, 0))
    world = flexor.World(StagePlan(cast=(red,)), characters={"mannequin": coarse()})
    player, crowd = flexor.Player(coarse(), 2), flexor.Crowd(coarse(), 2)
    world.add(player)
    world.add(crowd)
    rule = flexor.LevelRule(by="speed", borders=(1.0,))
    for fast in (0.0, 3.0):
        for _ in range(3):
            player.places[0, 0, 3] += fast / 60
            crowd.place[0, 0] += fast / 60
            world.advance(1 / 60)
        world.draw(SIZE, CAMERA, rules=rule)
        assert world.casts[0].figures.level.tolist() == [int(fast > 1), 0]
        assert crowd.level.tolist() == [int(fast > 1), 0]
    assert world.casts[0].figures.pace == pytest.approx([3, 0])
    assert world.counts.shown == 5


def test_there_is_one_room_for_skins_however_many_are_seen() -> None:
    world = flexor.World()
    player = world.add(flexor.Player(hero(), 4))
    player.places[:, 0, 3] = 0, 1, 2, 3
    counts = set()
    for x in (-1.5, 1.5, 4.5, 1.5, 5.5):
        camera = Camera(eye=(x, 1.0, 3.0), target=(x, 1.0, 0.0))
        world.draw(SIZE, camera, flexor.DrawStyle(samples=1, shadow=False))
        counts.add(len(world.casts[0].figures.shown[0].who))
    assert len(counts) > 1
    assert world._painter is not None
    (skins,) = world._painter._rooms.values()
    assert {len(skin.positions) for skin in skins} == {max(counts)}
