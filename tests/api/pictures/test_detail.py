"""Stages and worlds at levels of detail: what is left out, and that it is not seen."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api import detail
from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.errors import BackendMissing
from flexor.pose.crowd.level_choice import LevelRule
from flexor.samples import mannequin
from flexor.scene.stage.effect_settings import AfterimageSettings, EffectPlan
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StageLook, StagePlan
from flexor.scene.stage.structure import Structure

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]
SIZE = (240, 160)
LEG = ("rightUpperLeg", "rightLowerLeg", "rightFoot")
KICK = Move("spin-kick", 26, 9, 31, parts=("rightFoot",), afterimages=LEG)
FIXED = CameraRule(rule="fixed", eye=(0.5, 1.4, 3.6), target=(0, 0.9, 0))
WHOLE = sum(bind.vertex_count for bind in mannequin().binds)
FAR = LevelRule(by="distance", borders=(6.0, 14.0, 40.0))


@functools.cache
def bare() -> Character:
    return mannequin()


def levelled() -> Character:
    return bare().with_levels(detail.levels_of(bare(), make=True))


def make(
    places: list[tuple[float, float]],
    hero: Character | None = None,
    outfits: tuple[str, ...] = ("none",),
    **more: Any,
) -> Stage:
    """Some who stand where they are told, and kick when B is pressed."""
    cast = tuple(
        Actor(
            name=f"c{row}",
            opponent="none",
            place=place,
            outfit=outfits[row % len(outfits)],  # type: ignore[arg-type]
            colour=(0.9, 0.3, 0.2),
        )
        for row, place in enumerate(places)
    )
    plan = StagePlan(
        **{
            "cast": cast,
            "ground": shape_ground((60, 60), 1.0, rough=0.05),
            "moves": MoveTable((KICK,), singles={"B": "spin-kick"}),
            "camera": FIXED,
            **more,
        }
    )
    return Stage(plan, characters={"mannequin": hero or bare()})


def rows(count: int, apart: float, first: float = 0.0) -> list[tuple[float, float]]:
    """Places in rows of five, away from the camera."""
    return [(apart * (row % 5 - 2), first - apart * (row // 5)) for row in range(count)]


def off(one: Any, two: Any) -> Any:
    """How far pictures are apart, by pixel."""
    return np.abs(one.astype(int)[..., :3] - two.astype(int)[..., :3]).max(-1)


def test_all_near_and_in_view_look_as_without_detail() -> None:
    stage = make([(-0.6, 0), (0.6, 0.3)])
    for tick in range(40):
        stage.step(["B" if tick < 4 else "", ""])
    seen = stage.draw(SIZE).copy()
    assert (seen == stage.draw(SIZE, detail=False)).all()
    assert stage.counts.shown == 2
    assert stage.counts.vertices == 2 * WHOLE
    near = make([(-0.6, 0), (0.6, 0.3)], levelled())
    near.draw((960, 640))
    assert near.counts.vertices == 2 * WHOLE, "levels that are not needed"


def test_who_is_out_of_view_is_left_out() -> None:
    stage = make([(0, 0), (20, 0), (0, 12), (-20, -3)])
    body = stage.state.bodies[0]
    for _ in range(30):
        stage.step(["", "right", "", "left"])
    before = stage.hash()
    seen = stage.draw(SIZE).copy()
    assert body.deformed == WHOLE, "the one"
    assert stage.counts.shown == 1
    assert stage.hash() == before
    stage.draw(SIZE)
    assert body.deformed == WHOLE, "and not again"
    other = flexor.Camera(eye=(20, 1.5, 4), target=(20, 1, 0))
    beside = stage.draw(SIZE, other).copy()
    assert body.deformed == 2 * WHOLE, "the one that is seen from there"
    assert (seen == stage.draw(SIZE, detail=False)).all()
    assert body.deformed == 4 * WHOLE
    assert (beside == stage.draw(SIZE, other, detail=False)).all()
    assert stage.counts.shown == 4


def test_frames_are_whole_whatever_was_drawn() -> None:
    frames = []
    for is_drawn in (False, True):
        stage = make([(0, 0), (20, 0), (0.8, 0.3)])
        for tick in range(36):
            stage.step(["", "B" if tick < 4 else "", ""])
            if is_drawn:
                stage.draw(SIZE)
        (body,) = stage.frame.bodies
        assert body.wanted is None
        frames.append(
            [
                *body.positions,
                *body.normals,
                body.shadow,
                body.has_shadow,
                *(image.positions[0] for image in body.afterimages),
            ]
        )
        assert len(body.afterimages) > 1, "of the one out of view, too"
    one, two = frames
    assert len(one) == len(two)
    for mine, own in zip(one, two, strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(own))


def test_a_shadow_from_beyond_the_edge_is_seen() -> None:
    light = (-4.0, -1.0, 0.0)
    stage = make([(3.6, 0)], light=light)
    seen = stage.draw(SIZE).copy()
    assert stage.counts.shown == 0
    assert stage.counts.triangles == 0
    assert stage.counts.vertices == WHOLE
    assert (seen == stage.draw(SIZE, detail=False)).all()
    assert (seen != stage.draw(SIZE, style=stage.style(shadow=False))).any()
    assert stage.counts.vertices == 0, "no shadow, nothing to deform"


def test_fifty_near_and_far() -> None:
    stage = make(rows(50, 1.2), levelled(), look=StageLook(backdrop="none"))
    near = flexor.Camera(eye=(0, 1.5, 1.8), target=(0, 1.2, 0))
    far = flexor.Camera(eye=(0, 12, 55), target=(0, 0, -5))
    body, found = stage.state.bodies[0], {}
    for name, camera in (("far", far), ("near", near)):
        stage.step()
        before = body.deformed
        picture = stage.draw((640, 360), camera).copy()
        whole = body.deformed - before
        counts = stage.counts
        if name == "far":
            assert whole == 0, "none of them whole"
            assert counts.shown == 50
        else:
            assert WHOLE <= whole < 20 * WHOLE
        assert counts.vertices < 50 * WHOLE / 2.5
        found[name] = counts
        everyone = stage.draw((640, 360), camera, detail=False)
        assert stage.counts.vertices == 50 * WHOLE
        assert stage.counts.shown == 50
        assert stage.counts.triangles == 50 * bare().levels.totals(0)[2]
        assert off(picture, everyone).mean() < 2.5, "it hardly shows"
    levels = stage.cast[0].hero.levels
    last = len(levels) - 1
    nodes, _, triangles = levels.totals(last)
    assert 50 * nodes <= found["far"].nodes < 50 * (nodes + 8), "filled up to eights"
    assert found["far"].triangles == 50 * triangles
    assert found["far"].vertices < 50 * WHOLE / 10


@pytest.mark.parametrize("level", [1, 2, 3])
def test_levels_wear_outfits_colours_and_shade(level: int) -> None:
    wall = Structure(name="wall", middle=(-2.2, 0.4), radius=0.9, high=4.0)
    stage = make(
        [(-1.1, 0), (0, 0), (1.1, 0)],
        levelled(),
        ("gi", "none", "armour"),
        structures=(wall,),
        light=(0.9, -1.0, -0.2),
    )
    for _ in range(10):
        stage.step()
    rule = LevelRule(by=lambda view: np.full(len(view.distances), level))
    camera = flexor.Camera(eye=(0.2, 1.6, 6.0), target=(0, 0.9, 0))
    seen = stage.draw(SIZE, camera, rules=rule).copy()
    assert stage.counts.shown == 3
    assert stage.state.bodies[0].deformed == 0
    whole = stage.draw(SIZE, camera, detail=False)
    assert off(seen, whole).mean() < (1.5, 2.0, 3.5)[level - 1]
    empty = make([], structures=(wall,), light=(0.9, -1.0, -0.2))
    is_body = off(whole, empty.draw(SIZE, camera)) > 0
    apart = seen[is_body].astype(int).mean(0) - whole[is_body].astype(int).mean(0)
    assert np.abs(apart).max() < 6, "the same colours, all in all"


def test_afterimages_are_of_those_near_by() -> None:
    settings = EffectPlan(afterimages=AfterimageSettings(fastest=0.0))
    stage = make([(0, 0), (1.0, -20)], levelled(), effects=settings)
    asked, deformed = [], []
    for tick in range(40):
        stage.step("B" if tick < 4 else ["", "B"] if tick < 8 else "")
        stage.draw(SIZE, rules=FAR)
        asked.append(stage.counts.vertices)
        deformed.append(stage.state.bodies[0].deformed)
    assert max(asked) < 2 * WHOLE
    assert deformed[-1] == 40 * WHOLE, "of the one near by, once a tick"
    seen = stage.draw(SIZE, rules=FAR).copy()
    images = stage.frame.bodies[0].afterimages
    assert (stage.draw(SIZE, rules=FAR) == seen).all(), "all of them are made now"
    assert {row for image in images for row in image.who.tolist()} == {0, 1}


def test_many_of_one_body_get_levels_without_being_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = (make(rows(count, 1.2, -20)) for count in (7, 8))
    few.draw(SIZE)
    assert few.counts.vertices == 7 * WHOLE
    many.draw(SIZE)
    assert 0 < many.counts.vertices < 8 * WHOLE / 3
    assert many.cast[0].hero.given_levels is None, "the character stays as it is"

    def missing(*_: Any, **__: Any) -> None:
        raise BackendMissing("no meshoptimizer")

    lone = Character(replace(bare().scene))
    monkeypatch.setattr(Character, "levels", property(missing))
    lacking = make(rows(8, 1.2, -20), lone)
    lacking.places[:3, 0] += 100
    lacking.step()
    lacking.draw(SIZE)
    assert lacking.counts.shown == 5
    assert lacking.counts.vertices == 5 * WHOLE


def test_worlds_count_all_and_draw_at_levels() -> None:
    hero = levelled()
    stage = make([(0, 0), (20, 0)], hero)
    world = flexor.World(stage)
    player = world.add(flexor.Player(hero, 3))
    player.places[:, 0, 3] = -1, 1, 40
    crowd = world.add(flexor.Crowd(hero, 10))
    crowd.place[:, 0], crowd.place[:, 2] = np.arange(10) - 4.5, -30
    world.advance(1 / 60)
    seen = world.draw(SIZE, rules=FAR).copy()
    assert world.counts.shown == 1 + 2 + 10
    own = stage.counts
    assert own.shown == 1
    levels = hero.levels
    triangles = 3 * levels.totals(0)[2] + 10 * levels.totals(2)[2]
    assert world.counts.triangles == triangles
    whole = world.draw(SIZE, detail=False)
    assert world.counts.shown == 2 + 3 + 10
    assert world.counts.vertices >= 15 * WHOLE
    assert world.counts.triangles == 15 * levels.totals(0)[2]
    assert off(seen, whole).mean() < 1.0
    far = LevelRule(by=lambda view: np.full(len(view.distances), 3))
    world.draw(SIZE, rules=far)
    assert world.counts.shown == 13
    assert world.counts.triangles == 13 * levels.totals(3)[2]
