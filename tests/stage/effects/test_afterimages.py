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
    Afterimages,
    group_parts,
    init_afterimages,
    keep_afterimages,
    strength_of,
)
from flexor.stage.effects.gusts import gust_at

NAMES = ("hips", "thigh", "foot")
FACES = (np.array([[0, 1, 2], [2, 1, 3], [3, 4, 5]], np.int32),)
PART_OF_FACE = (np.array([0, 1, 2], np.int32),)


def make(**settings: Any) -> Afterimages:
    group = group_parts(PART_OF_FACE, FACES, NAMES, ("thigh", "Foot"))
    return init_afterimages(AfterimageSettings(**settings), [group])


def skin(value: float, count: int = 3) -> list[Any]:
    return [np.full((count, 6, 3), value, np.float32)]


def test_groups_have_the_faces_of_their_parts() -> None:
    group = group_parts(PART_OF_FACE, FACES, NAMES, ("thigh", "foot"))
    assert group.vertices[0].tolist() == [1, 2, 3, 4, 5]
    assert group.vertices[0][group.faces[0]].tolist() == FACES[0][1:].tolist()
    with pytest.raises(SettingError, match="no part 'arm'; there are: hips, thigh"):
        group_parts(PART_OF_FACE, FACES, NAMES, ("arm",))


def test_those_who_move_are_kept_as_they_were() -> None:
    state = make(count=2, every=3)
    who = np.array([True, False, True])
    places = [np.arange(3 * 6 * 3, dtype=np.float32).reshape(3, 6, 3)]
    keep_afterimages(state, 10, {0: who}, places, skin(1.0))
    (image,) = state.seen(11)
    assert (image.tick, image.group, image.who.tolist()) == (10, 0, [0, 2])
    wanted = places[0][[0, 2]][:, [1, 2, 3, 4, 5]]
    assert (image.positions[0] == wanted).all()
    assert (image.normals[0] == 1).all()
    places[0][:] = -1  # the next frame is deformed into the same arrays
    assert (image.positions[0] == wanted).all()
    keep_afterimages(state, 14, {0: np.zeros(3, bool)}, places, skin(1.0))
    assert len(state.kept[0]) == 1, "nothing is kept of who does not move so"


def test_the_ring_holds_so_many_some_ticks_apart() -> None:
    state = make(count=4, every=3)
    for tick in range(100):
        keep_afterimages(state, tick, {0: np.ones(3, bool)}, skin(tick), skin(0))
        seen = state.seen(tick)
        assert all(0 < tick - one.tick <= 12 for one in seen)
        assert [one.tick for one in seen] == sorted(one.tick for one in seen)
        if tick > 20:
            assert len(seen) == 4
            assert set(np.diff([one.tick for one in seen])) == {3}
    assert not state.seen(130), "and they go when nothing new comes"


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
