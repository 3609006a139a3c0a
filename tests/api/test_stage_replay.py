"""The same input gives the same play, to the bit."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.files.text.moves import read_log, write_log
from flexor.scene.stage.plan import (
    Actor,
    CameraRule,
)
from tests.api.stage_play import (
    busy,
    fighters,
    play,
    presses,
    run,
)


@pytest.mark.slow
def test_the_same_input_gives_the_same_play(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = []
    buttons = presses(400, 3)
    for threads in ("1", "2", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        stage = play(busy())
        own = []
        for tick, held in enumerate(buttons):
            stage.step(held)
            if tick % 50 == 49:
                own.append(stage.hash())
        hashes.append(own)
        assert len(set(own)) == len(own)
    assert hashes[0] == hashes[1] == hashes[2]
    assert stage.energy.min() < 100, "something has happened"


@pytest.mark.slow
def test_many_are_the_same_on_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(1)
    cast = [
        Actor(name=f"n{row}", place=tuple(chance.uniform(-5, 5, 2)))
        for row in range(35)
    ]
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        stage = play(replace(busy(), cast=tuple(cast)))
        for held in presses(60, 35, 4):
            stage.step(held)
        frame = stage.frame
        found.append((stage.hash(), frame.bodies[0].positions[0].copy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.slow
def test_a_log_plays_the_same_again() -> None:
    stage, again, third = play(busy()), play(busy()), play(busy())
    for held in presses(250, 3, 7):
        stage.step(held)
    log = stage.log
    assert log.length == 250
    again.replay(log)
    assert again.hash() == stage.hash()
    assert again.tick == 250
    third.replay(again.log)
    assert third.hash() == stage.hash()
    for mine, theirs in zip(
        (log.ticks, log.who, log.states),
        (third.log.ticks, third.log.who, third.log.states),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.slow
def test_a_log_has_the_cameras(tmp_path: Path) -> None:
    """Pads are as the camera sees them: without it, all would go other ways."""
    stage, again, third, blind = (play(busy()) for _ in range(4))
    changes = {
        0: CameraRule(rule="behind"),
        60: CameraRule(rule="side", of="green"),
        100: CameraRule(rule="fixed", eye=(3, 2, 0.1), target=(0, 1, 0)),
        150: CameraRule(rule="behind", distance=1 / 3),
        160: CameraRule(rule="behind", distance=1 / 3),  # as it is
        200: CameraRule(),
    }
    for tick, held in enumerate(presses(200, 3, 7)):
        if tick in changes:
            stage.set_camera(changes[tick])
        stage.step(held)
    stage.set_camera(changes[200])
    log = stage.log
    assert [own.tick for own in log.cameras] == [0, 60, 100, 150, 200]
    again.replay(log)
    assert again.hash() == stage.hash()
    assert again.log.cameras == log.cameras
    write_log(tmp_path / "match.log", log)
    third.replay(read_log(tmp_path / "match.log"))
    assert third.hash() == stage.hash()
    blind.replay(replace(log, cameras=()))
    assert not np.allclose(blind.places, stage.places)
    third.restart()
    assert third.log.cameras == ()


@pytest.mark.slow
def test_other_input_or_another_plan_gives_another_hash() -> None:
    plan = fighters()
    still, moved = play(plan), play(plan)
    assert still.hash() == moved.hash()
    moved.step(["right"])
    still.step()
    assert still.hash() != moved.hash()
    assert play(replace(plan, seed=1)).hash() != play(plan).hash()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("places", "headings", "clocks", "asked", "slides", "sinks", "held"),
        *("opponents", "has_won", "roles", "circling"),
        *("fight.energy", "fight.stun", "fight.struck", "fight.has_met"),
        *("fight.recoil.amounts", "fight.recoil.given", "fight.recoil.left"),
        *("fight.recoil.ticks", "standing.falls", "standing.grounded"),
        *("moves.move", "moves.at", "moves.buffered", "moves._marks"),
        *("camera.eye", "camera.target", "view.shown", "view.parts"),
        *("bodies.0.player.local", "bodies.0.player._voices"),
        *("bodies.0.player._marks", "bodies.0.player._targets"),
        *("bodies.0.player._fades", "bodies.0.player.weights"),
        "bodies.0.world.matrices",
    ],
)
def test_the_hash_is_of_all_that_a_later_tick_depends_on(name: str) -> None:
    stage = hashed()
    array: Any = stage.state
    for word in name.split("."):
        array = array[int(word)] if word.isdecimal() else getattr(array, word)
    if not array.size:
        return  # a mannequin has no morphs
    before, kept = stage.hash(), array.copy()
    first = array.reshape(-1)[:1]
    first[0] = not first[0] if array.dtype == bool else first[0] + 1
    assert stage.hash() != before
    array[...] = kept
    assert stage.hash() == before


@functools.cache
def hashed() -> Stage:
    stage = play(busy())
    run(stage, 3, {0: ["B", "right"]})
    return stage
