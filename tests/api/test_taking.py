"""One of a crowd, taken over by a player and given back."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera

CAMERA = Camera(eye=(1.0, 2.0, 8.0), target=(1.0, 0.9, 0.0))


@functools.cache
def hero() -> Character:
    return flexor.samples.mannequin()


def walkers(count: int = 3) -> Crowd:
    crowd = Crowd(hero(), count, levels=False)
    crowd.place[:, 0] = range(count)
    crowd.heading[:] = np.linspace(0.4, 2.9, count)
    crowd.size[:] = np.linspace(0.9, 1.2, count)
    crowd.play("walk", time=np.linspace(0.2, 0.6, count), speed=1.3)
    return crowd


def skin_of(crowd: Crowd, row: int) -> Any:
    """Vertices of one of a crowd, in full, in the order of the file."""
    crowd.level[:] = -1
    crowd.level[row] = 0
    crowd.deform()
    (mesh,) = crowd.meshes()
    found = np.zeros((mesh.sources[:, 2].max() + 1, 3))
    found[mesh.sources[:, 2]] = mesh.positions[0]
    return found


def test_a_player_goes_on_where_one_of_a_crowd_was() -> None:
    crowd = walkers()
    player = crowd.take(1)
    for _ in range(20):
        crowd.advance(1 / 60)
        player.advance(1 / 60)
        (skin,) = hero().deform(player.pose)
        np.testing.assert_allclose(skin.positions, skin_of(crowd, 1), atol=2e-3)


def test_who_was_taken_is_not_seen_in_the_crowd() -> None:
    crowd = walkers()
    crowd.select(CAMERA, (320, 180))
    assert (crowd.level >= 0).all()
    crowd.take(1)
    crowd.select(CAMERA, (320, 180))
    assert crowd.level.tolist() == [0, -1, 0]


def test_it_comes_back_as_its_player_has_it() -> None:
    crowd = walkers()
    player = crowd.take(2, layers=["base", "arms"])
    player.play("run", fade=0.1, speed=0.8)
    player.play("cheer", layer="arms")
    player.places[0, :, 3] = 5, 0.3, -2
    for _ in range(60):
        crowd.advance(1 / 60)
        player.advance(1 / 60)
    player.stop("arms")
    (before,) = hero().deform(player.pose)
    crowd.give_back(2, player)
    np.testing.assert_allclose(before.positions, skin_of(crowd, 2), atol=2e-3)
    assert crowd.names[0][crowd.clip[2]] == "run"
    assert crowd.speed[2] == 0.8
    assert crowd.loops[2]
    assert crowd.size[2] == pytest.approx(1.2)
    assert crowd.heading[2] == pytest.approx(2.9)
    crowd.select(CAMERA, (320, 180))
    crowd.take(2)  # it can be taken again


@pytest.mark.parametrize("mode", ["once", "ping-pong"])
def test_clips_that_end_or_turn_round(mode: Any) -> None:
    crowd = walkers()
    player = crowd.take(0)
    player.play("punch", mode=mode)
    length = hero().clips["punch"].duration
    player.advance(1.4 * length)
    crowd.give_back(0, player)
    wanted = length if mode == "once" else 0.6 * length
    assert crowd.time[0] == pytest.approx(wanted, abs=1e-6)
    assert crowd.loops[0] == (mode != "once")


def test_who_does_nothing_is_at_rest() -> None:
    crowd = Crowd(hero(), 1, levels=False)
    player = crowd.take(0)
    np.testing.assert_array_equal(player.world[0], hero().pose().world)
    crowd.give_back(0, player)
    assert crowd.clip.tolist() == [-1]


def test_kinds_and_clips_of_their_own() -> None:
    other = flexor.samples.fighter()
    crowd = Crowd([hero(), other], [2, 2], levels=False)
    crowd.play("stance", who=crowd.rows(1))
    player = crowd.take(3)
    assert player.hero is crowd.characters[1]
    with pytest.raises(SettingError, match="expected one of the character of row 0"):
        crowd.give_back(0, player)
    crowd.give_back(3, player)
    assert crowd.names[1][crowd.clip[3]] == "stance"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda crowd: crowd.take(3), "row: 3, expected 0 to 2"),
        (lambda crowd: crowd.take(True), "row: True"),
        (lambda crowd: (crowd.take(0), crowd.take(0)), "row: 0 is taken already"),
        (lambda crowd: crowd.give_back(0, flexor.Player(hero())), "was not taken"),
        (lambda crowd: crowd.give_back(0, "player"), "player: expected one"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        call(walkers())
