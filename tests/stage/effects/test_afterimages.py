"""Afterimages: what is kept, for how long, and how faint it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.effect_settings import (
    AfterimageSettings,
    EffectPlan,
    GustSettings,
)
from flexor.stage.effects.afterimages import (
    Afterimage,
    Afterimages,
    Skin,
    group_parts,
    init_afterimages,
    keep_afterimages,
    see_afterimages,
    strength_of,
)
from flexor.stage.effects.gusts import gust_at

NAMES = ("hips", "thigh", "foot")
FACES = (np.array([[0, 1, 2], [2, 1, 3], [3, 4, 5]], np.int32),)
PART_OF_FACE = (np.array([0, 1, 2], np.int32),)


MORPHS = np.zeros((3, 0), np.float32)


def make(groups: int = 1, **settings: Any) -> Afterimages:
    group = group_parts(PART_OF_FACE, FACES, NAMES, ("thigh", "Foot"))
    return init_afterimages(
        AfterimageSettings(**settings), [group] * groups, poses(0), 0
    )


def poses(value: float, count: int = 3) -> Any:
    """World matrices of two nodes; the last number tells characters apart."""
    found = np.full((count, 2, 3, 4), value, np.float32)
    found[:, 1, 2, 3] = np.arange(count)
    return found


def skin_of(world: Any, weights: Any = None) -> Skin:
    """A skin that says of which pose it was made: of its value and its character."""
    values = world[:, 0, 0, 0] + 100 * world[:, 1, 2, 3]
    places = values[:, None, None] + np.arange(18, dtype=np.float32).reshape(6, 3) / 32
    return [places.astype(np.float32)], [np.full((len(world), 6, 3), 1, np.float32)]


def seen(state: Afterimages, tick: int, asked: list[Any] | None = None) -> list[Any]:
    """What is seen in a frame of a tick; asked: whose skins were made for it."""

    def deform(world: Any, weights: Any) -> Skin:
        if asked is not None:
            asked.append((float(world[0, 0, 0, 0]), int(world[0, 1, 2, 3])))
        return skin_of(world, weights)

    return see_afterimages(state, tick, skin_of(poses(tick)), deform)


def test_groups_have_the_faces_of_their_parts() -> None:
    group = group_parts(PART_OF_FACE, FACES, NAMES, ("thigh", "foot"))
    assert group.vertices[0].tolist() == [1, 2, 3, 4, 5]
    assert group.vertices[0][group.faces[0]].tolist() == FACES[0][1:].tolist()
    with pytest.raises(SettingError, match="no part 'arm'; there are: hips, thigh"):
        group_parts(PART_OF_FACE, FACES, NAMES, ("arm",))


def test_those_who_move_are_kept_as_they_were() -> None:
    state = make(count=2, every=3)
    who = np.array([True, False, True])
    world = poses(10)
    keep_afterimages(state, 10, {0: who}, world, MORPHS)
    world[:] = -1  # the next tick is posed into the same arrays
    (image,) = seen(state, 11)
    assert (image.tick, image.group, image.who.tolist()) == (10, 0, [0, 2])
    wanted = skin_of(poses(10))[0][0][[0, 2]][:, [1, 2, 3, 4, 5]]
    assert (image.positions[0] == wanted).all()
    assert (image.normals[0] == 1).all()
    keep_afterimages(state, 14, {0: np.zeros(3, bool)}, world, MORPHS)
    assert state.kept[0].ticks.count(-1) == 2, "nothing of who does not move so"
    assert (seen(state, 15)[0].positions[0] == wanted).all()


def test_a_moment_looks_the_same_whenever_it_is_first_looked_at() -> None:
    who = np.array([True, False, True])
    found: list[list[Afterimage]] = []
    for looks in ((10, 11, 12, 13, 14), (14,)):
        state = make(count=2, every=3)
        for tick in range(10, 15):
            keep_afterimages(state, tick, {0: who}, poses(tick), MORPHS)
            if tick in looks:
                images = seen(state, tick)
        found.append(images)
    assert [one.tick for one in found[0]] == [one.tick for one in found[1]] == [10, 13]
    for one, two in zip(*found, strict=True):
        assert one.who.tolist() == two.who.tolist()
        assert (one.positions[0] == two.positions[0]).all()
        assert (one.normals[0] == two.normals[0]).all()


def test_skins_are_made_once_for_those_that_are_looked_at() -> None:
    state = make(groups=2, count=4, every=3)
    one, other = np.array([True, True, False]), np.array([False, True, True])
    for tick in range(7):
        keep_afterimages(state, tick, {0: one, 1: other}, poses(tick), MORPHS)
    asked: list[Any] = []
    assert [own.tick for own in seen(state, 6, asked)] == [0, 3, 0, 3]
    # Both groups keep the character in the middle; those of tick 6 are of the frame.
    assert sorted(asked) == [(then, who) for then in (0.0, 3.0) for who in range(3)]
    asked.clear()
    seen(state, 6, asked)
    assert [own.tick for own in seen(state, 7, asked)] == [0, 3, 6, 0, 3, 6]
    assert not asked


def test_the_ring_holds_so_many_some_ticks_apart() -> None:
    state = make(count=4, every=3)
    for tick in range(100):
        keep_afterimages(state, tick, {0: np.ones(3, bool)}, poses(tick), MORPHS)
        images = seen(state, tick)
        assert all(0 < tick - one.tick <= 12 for one in images)
        assert [one.tick for one in images] == sorted(one.tick for one in images)
        if tick > 20:
            assert len(images) == 4
            assert set(np.diff([one.tick for one in images])) == {3}
        for one in images:
            assert one.positions[0][0, 0, 0] == one.tick + np.float32(3 / 32)
    assert not seen(state, 130), "and they go when nothing new comes"


def test_older_ones_are_fainter() -> None:
    settings = AfterimageSettings(count=4, every=3, strength=0.8)
    found = [strength_of(settings, age) for age in range(16)]
    assert found[0] == 0.8
    assert (np.diff(found) < 0).all()
    assert found[15] == 0
    assert strength_of(settings, 99) == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"count": 0}, "count: 0, expected 1 to 64"),
        ({"every": 1.5}, "every: float, expected int"),
        ({"style": "dots"}, "style: 'dots', expected one of transparent, mesh, lines"),
        ({"strength": 2}, "strength: 2, expected 0 to 1"),
        ({"fastest": -1}, "fastest: -1, expected 0 to 1000"),
    ],
)
def test_settings_that_are_refused(words: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        AfterimageSettings(**words)


def test_plans_of_effects_that_are_refused() -> None:
    for words, text in (
        ({"leaves": -1}, "leaves: -1"),
        ({"leaves": 1.0}, "leaves: float, expected int"),
        ({"snow": 2**40}, "snow: "),
        ({"leaf_area": (1, 2, 3)}, "leaf_area: .*four numbers"),
        ({"leaf_area": (1, 2, 3, np.nan)}, "leaf_area: nan"),
        ({"water": "deep"}, "water: 'deep'"),
        ({"is_snowing": 1}, "is_snowing: int, expected bool"),
        ({"wind": 3}, "wind: int, expected WindSettings"),
    ):
        with pytest.raises(SettingError, match=text):
            EffectPlan(**words)  # type: ignore[arg-type]


def test_gusts_come_and_go() -> None:
    settings = GustSettings(speed=0.05, length=2.0, heading=0.3, sway=0.4)
    winds = np.array([gust_at(tick, settings) for tick in range(60 * 120)])
    assert (winds[:, 1] == 0).all()
    speeds = np.hypot(winds[:, 0], winds[:, 2])
    assert 0.045 < speeds.max() <= 0.05 + 1e-12
    assert (speeds < 0.005).mean() > 0.2, "it is calm at times"
    ways = np.arctan2(winds[:, 0], winds[:, 2])[speeds > 1e-6]
    assert ((ways > 0.3 - 0.4 - 1e-9) & (ways < 0.3 + 0.4 + 1e-9)).all()
    assert np.abs(np.diff(winds, axis=0)).max() < 0.004, "and never jumps"
    assert gust_at(77, GustSettings()) == (0, 0, 0)
    assert gust_at(77, settings) == gust_at(77, settings)
