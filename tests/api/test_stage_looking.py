"""Looking at a stage changes nothing of it, and costs only what is looked at."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from flexor import samples
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.files.text.stage import read_stage
from flexor.samples import mannequin
from flexor.scene.stage.effect_settings import AfterimageSettings, EffectPlan
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StageLook, StagePlan
from flexor.stage import frame as frame_module
from flexor.stage.frame import Frame

LEG = ("rightUpperLeg", "rightLowerLeg", "rightFoot")
KICK = Move("spin-kick", 26, 9, 31, parts=("rightFoot",), afterimages=LEG)
SIZE = (240, 240)
MIDST = 34  # ticks after the press: the leg is at its fastest
Looks = Literal["never", "frame", "draw", "at times"]
pytestmark = pytest.mark.slow


@functools.cache
def hero() -> Character:
    return mannequin()


def make(count: int = 1, fastest: float = 0.0, **more: Any) -> Stage:
    """Some who stand side by side, and kick when B is pressed."""
    plan = StagePlan(
        cast=tuple(
            Actor(name=f"c{row}", opponent="none", place=(1.2 * row, 0.3 * row))
            for row in range(count)
        ),
        ground=shape_ground((12, 12), 0.5),
        moves=MoveTable((KICK,), singles={"B": "spin-kick"}),
        camera=CameraRule(rule="fixed", eye=(0.5, 1.4, 3.6), target=(0, 0.9, 0)),
        effects=EffectPlan(afterimages=AfterimageSettings(fastest=fastest)),
        **more,
    )
    return Stage(plan, characters={"mannequin": hero()})


def play(stage: Stage, looks: Looks, ticks: int = MIDST) -> Stage:
    """All kick, each some ticks after the one before, watched or not."""
    for tick in range(ticks):
        held = [
            "B" if 2 * row <= tick < 2 * row + 4 else "" for row in range(len(stage))
        ]
        stage.step(held)
        if looks == "frame":
            _ = stage.frame
        elif looks == "draw":
            stage.draw(SIZE)
        elif looks == "at times" and tick % 7 < 2:
            _ = stage.frame
    return stage


def arrays_of(frame: Frame) -> list[Any]:
    """Every array of a frame, and what its afterimages are of."""
    found: list[Any] = []
    for body in frame.bodies:
        found += [body.world, *body.positions, *body.normals, body.shadow]
        for image in body.afterimages:
            found += [image.tick, image.group, image.who]
            found += [*image.positions, *image.normals]
    return [np.array(value) for value in found]


def are_same(one: list[Any], two: list[Any]) -> bool:
    return len(one) == len(two) and all(
        a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True)
    )


@pytest.mark.parametrize("fastest", [0.0, 4.0])
def test_a_kick_looks_the_same_whoever_watched_before(fastest: float) -> None:
    pictures, hashes, frames = [], [], []
    looks: tuple[Looks, ...] = ("never", "frame", "draw", "at times")
    for own in looks:
        stage = play(make(fastest=fastest), own)
        hashes.append(stage.hash())
        frames.append(arrays_of(stage.frame))
        pictures.append(stage.draw(SIZE).copy())
        assert stage.hash() == hashes[-1]
    assert len(frames[0]) > 6, "there are afterimages to compare"
    for picture, frame in zip(pictures, frames, strict=True):
        assert (picture != pictures[0]).any(-1).sum() == 0
        assert are_same(frame, frames[0])
    assert len(set(hashes)) == 1


def test_many_look_the_same_whoever_watched_before() -> None:
    # More than one thread deforms at a time, and they begin at different ticks.
    frames = []
    looks: tuple[Looks, ...] = ("never", "frame", "at times")
    for own in looks:
        frames.append(arrays_of(play(make(20), own, 60).frame))
    assert len(frames[0]) > 6
    assert are_same(frames[0], frames[1])
    assert are_same(frames[0], frames[2])


def test_looking_twice_gives_the_same() -> None:
    stage = play(make(2, fastest=4.0), "never")
    one = arrays_of(stage.frame)
    first = stage.draw(SIZE).copy()
    assert are_same(one, arrays_of(stage.frame))
    assert (stage.draw(SIZE) == first).all()
    made = stage.state.bodies[0].deformed
    stage.draw(SIZE)
    assert stage.state.bodies[0].deformed == made


def test_the_arena_looks_the_same_whoever_watched_before() -> None:
    plan = replace(read_stage(samples.arena()), seed=3)
    cast = {"mannequin": samples.fighter()}
    pictures, hashes = [], []
    for is_watched in (False, True):
        stage = Stage(plan, characters=cast)
        for tick in range(100):
            stage.step(["right+R", "left" if tick < 40 else "B+C"])
            if is_watched:
                stage.draw((96, 54))
        hashes.append(stage.hash())
        pictures.append(stage.draw((320, 180)).copy())
    assert hashes[0] == hashes[1]
    assert (pictures[0] == pictures[1]).all()


def test_a_picture_casts_shadows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, calls = play(make(2), "never", 3), []
    cast = frame_module.cast_shadows

    def count(*words: Any) -> None:
        calls.append(words[0])
        cast(*words)

    monkeypatch.setattr(frame_module, "cast_shadows", count)
    stage.draw(SIZE)
    assert len(calls) == 1, "of its one body"
    stage.draw(SIZE, stage.camera)
    assert len(calls) == 1, "and not again in the same tick"
    stage.step()
    stage.draw(SIZE)
    assert len(calls) == 2


def test_only_what_is_looked_at_is_deformed() -> None:
    stage = play(make(3, fastest=4.0), "never")
    body = stage.state.bodies[0]
    assert body.deformed == 0, "nobody has looked yet"
    images = stage.frame.bodies[0].afterimages
    assert len({image.group for image in images}) > 1
    seen = {(image.tick, who) for image in images for who in image.who.tolist()}
    vertices = sum(bind.vertex_count for bind in hero().binds)
    wanted = (len(stage) + len(seen)) * vertices
    assert body.deformed == wanted, "each of them once, also where groups share it"
    stage.step()
    again = stage.frame.bodies[0].afterimages
    assert len(again) > 2
    new = {(one.tick, who) for one in again for who in one.who.tolist()} - seen
    assert all(tick == stage.tick - 1 for tick, _ in new)
    assert body.deformed == wanted + len(stage) * vertices, "none of the old ones again"


def test_fast_limbs_are_told_by_ticks_not_by_frames() -> None:
    found = []
    for every in (1, 2, 5):
        stage = make(fastest=4.0)
        seen = set()
        for tick in range(60):
            stage.step("B" if tick < 4 else "")
            if tick % every == 0:
                stage.draw((16, 12))
            if tick == 40:
                seen = {
                    (one.tick, one.group) for one in stage.frame.bodies[0].afterimages
                }
        found.append(seen)
    assert found[0]
    assert found == [found[0]] * 3


def test_walking_in_a_circle_is_not_changed_by_drawing() -> None:
    # Drawing with other cameras and styles leaves the play alone.
    one, two = make(2), make(2)
    for tick in range(30):
        for stage in (one, two):
            stage.step(["right", "up" if tick % 2 else "left+B"])
        two.draw((32, 24), replace(two.camera, eye=(3.0, 1.0 + tick / 60, math.pi)))
        two.draw((24, 24), style="lines")
    assert one.hash() == two.hash()
    assert (one.draw(SIZE) == two.draw(SIZE)).all()


def test_the_style_of_a_look_can_be_had_and_changed() -> None:
    look = StageLook(style="flat", order="sort", background=(1, 2, 3), shadows=False)
    own = make(look=look).style(samples=1)
    assert (own.style, own.order, own.samples) == ("flat", "sort", 1)
    assert own.background == (1, 2, 3, 255)
    assert not own.has_shadow
