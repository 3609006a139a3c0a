"""Effects on a stage: what sets them off, what they cost, what is seen."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.samples import mannequin
from flexor.scene.character.camera import Camera
from flexor.scene.stage.effect_settings import (
    AfterimageSettings,
    EffectPlan,
    GustSettings,
    SnowSettings,
)
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan

LEG = ("rightUpperLeg", "rightLowerLeg", "rightFoot")
KICK = Move("kick", 24, 7, 38, parts=("rightFoot",), afterimages=LEG)
PUNCH = Move("punch", 15, 5, 34, parts=("rightHand",))
MOVES = MoveTable((KICK, PUNCH), singles={"C": "kick", "B": "punch"})
POOL = Patch(middle=(1.5, 0), radius=1.6, height=-0.25, edge=0.3, surface="water")
SAND = Patch(area=(-8, -8, 8, 8), surface="sand")
pytestmark = pytest.mark.slow


@functools.cache
def hero() -> Character:
    return mannequin()


def play(**more: Any) -> Stage:
    own = Actor(
        name="one",
        heading=math.pi / 2,
        control="free",
        opponent="none",
        place=(-0.8, 0),
    )
    plan: dict[str, Any] = {
        "cast": (own,),
        "moves": MOVES,
        "camera": CameraRule(rule="fixed"),
        "ground": shape_ground((12, 12), 0.25),
    }
    return Stage(StagePlan(**plan | more), characters={"mannequin": hero()})


def test_a_stage_without_effects_has_no_such_rule() -> None:
    stage = play()
    assert "effects" not in [name for name, _ in stage.state.rules]
    scenery = stage.state.scenery
    assert scenery.leaves is scenery.snow is scenery.churn is None


def test_a_kick_leaves_afterimages_and_a_punch_does_not() -> None:
    stage = play()
    body = stage.state.bodies[0]
    for button, is_faint in (("C", True), ("B", False)):
        seen = 0
        for tick in range(60):
            stage.step(button if tick < 4 else "")
            images = stage.frame.bodies[0].afterimages
            seen = max(seen, len(images))
            for image in images:
                rows = body.plan.groups[image.group].vertices[0]
                assert image.positions[0].shape == (1, len(rows), 3)
        assert seen == (4 if is_faint else 0)
        for _ in range(60):
            stage.step()
            _ = stage.frame
    group = body.plan.groups[0]
    low = hero().deform(hero().pose())[0].positions[group.vertices[0]]
    assert low[:, 0].max() < 0.02, "of the right leg alone"
    assert low[:, 1].max() < 1.05


def test_no_vertex_is_transformed_again() -> None:
    counts = []
    for parts in (LEG, ()):
        move = Move("kick", 24, 7, 38, parts=("rightFoot",), afterimages=parts)
        stage = play(moves=MoveTable((move,), singles={"C": "kick"}))
        for tick in range(60):
            stage.step("C" if tick < 4 else "")
            stage.draw((64, 48))
            _ = stage.frame  # a second look at the same tick costs nothing
        counts.append(stage.state.bodies[0].deformed)
    vertices = sum(bind.vertex_count for bind in hero().binds)
    assert counts == [60 * vertices] * 2


def test_fast_hands_and_feet_leave_afterimages() -> None:
    settings = AfterimageSettings(fastest=4.0)
    stage = play(
        effects=EffectPlan(afterimages=settings),
        moves=MoveTable((PUNCH,), singles={"B": "punch"}),
    )
    groups = set()
    for tick in range(60):
        stage.step("B" if tick < 4 else "")
        for image in stage.frame.bodies[0].afterimages:
            groups.add(stage.state.bodies[0].plan.groups[image.group].parts)
    assert ("rightUpperArm", "rightLowerArm", "rightHand") in groups
    assert ("leftUpperLeg", "leftLowerLeg", "leftFoot") not in groups


@pytest.mark.parametrize("style", ["transparent", "mesh", "lines"])
def test_afterimages_are_drawn_and_fade(style: Any) -> None:
    settings = AfterimageSettings(style=style)
    pictures = {}
    for parts in (LEG, ()):
        move = Move("kick", 24, 7, 38, parts=("rightFoot",), afterimages=parts)
        stage = play(
            moves=MoveTable((move,), singles={"C": "kick"}),
            effects=EffectPlan(afterimages=settings),
        )
        view = Camera(eye=(0, 1, 4), target=(-0.5, 0.8, 0))
        kept = []
        for tick in range(90):
            stage.step("C" if tick < 4 else "")
            if tick in (0, *range(25, 50, 4), 89):
                kept.append(stage.draw((160, 120), view).astype(int))
        pictures[bool(parts)] = kept
    apart = [
        np.abs(one - two).sum() for one, two in zip(*pictures.values(), strict=True)
    ]
    assert max(apart[1:-1]) > 2000
    assert apart[0] == 0
    assert apart[-1] == 0


def test_running_through_leaves_blows_them_about() -> None:
    effects = EffectPlan(leaves=4000, leaf_area=(-2, -1, 5, 1))
    stage = play(effects=effects)
    leaves = stage.state.scenery.leaves
    assert leaves is not None
    assert leaves.moving_count == 0
    start = leaves.places.copy()
    assert (np.abs(start[:, 2]) <= 1).all()
    for _ in range(30):
        stage.step()
    assert leaves.moving_count == 0, "who stands makes no wind"
    for _ in range(60):
        stage.step("right+R")
    assert leaves.moving_count > 20
    moved = np.linalg.norm(leaves.places - start, axis=1) > 0.01
    assert 20 < moved.sum() < 3000
    for _ in range(900):
        stage.step()
    assert leaves.moving_count == 0, "and they come to rest"


def test_a_jump_into_water_splashes() -> None:
    ground = shape_ground((12, 12), 0.25, [POOL])
    stage = play(ground=ground, effects=EffectPlan(water=-0.05))
    churn = stage.state.scenery.churn
    assert churn is not None
    for _ in range(30):
        stage.step()
    assert churn.live_count == 0, "it stands beside the pool"
    most = 0
    for _ in range(60):
        stage.step("right+R")
        most = max(most, churn.live_count)
    assert most > 20
    used = churn.ages >= 0
    assert churn.is_water[used].all()
    for _ in range(200):
        stage.step()
    assert churn.live_count == 0


def test_sand_is_thrown_as_sand_and_only_if_wanted() -> None:
    ground = shape_ground((12, 12), 0.25, [SAND])
    for wanted in (True, False):
        stage = play(ground=ground, effects=EffectPlan(churn=wanted))
        churn = stage.state.scenery.churn
        if not wanted:
            assert churn is None
            continue
        assert churn is not None
        most = 0
        for _ in range(60):
            stage.step("right+R")
            most = max(most, churn.live_count)
        assert most > 5
        assert not churn.is_water[churn.ages >= 0].any()


def test_snow_falls_drifts_in_gusts_and_can_stop() -> None:
    flake = SnowSettings(low=(-4, -4), high=(4, 4), top=4)
    gusts = GustSettings(speed=0.05, length=1.0, heading=math.pi / 2, sway=0.0)
    stage = play(effects=EffectPlan(snow=2000, flake=flake, gusts=gusts))
    scenery = stage.state.scenery
    assert scenery.snow is not None
    before = scenery.snow.places.copy()
    stage.step()
    assert (scenery.snow.places[:, 1] < before[:, 1]).mean() > 0.95
    moved = 0.0
    for _ in range(120):
        start = scenery.snow.places[:, 0].copy()
        stage.step()
        steps = scenery.snow.places[:, 0] - start
        moved += float(np.median(steps))
    assert moved > 0.5, "along +x, where the wind blows to"
    scenery.is_snowing = False
    before = scenery.snow.places.copy()
    stage.step()
    assert (scenery.snow.places == before).all()


def test_effects_are_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        stage = play(
            ground=shape_ground((12, 12), 0.25, [SAND, POOL]),
            effects=EffectPlan(
                leaves=20_000, snow=50_000, water=-0.05, gusts=GustSettings(speed=0.03)
            ),
        )
        for _ in range(60):
            stage.step("right+R")
        found.append(stage.hash())
    assert len(set(found)) == 1


def test_what_is_left_to_chance_comes_of_the_seed() -> None:
    def leaves(seed: int, **more: Any) -> Any:
        stage = play(seed=seed, effects=EffectPlan(leaves=100, **more))
        own = stage.state.scenery.leaves
        assert own is not None
        return own.places

    one = leaves(1)
    assert (one == leaves(1)).all()
    assert (one != leaves(2)).any()
    assert (one == leaves(1, snow=50)).all(), "one effect leaves others alone"


def test_all_effects_are_in_the_picture() -> None:
    view = Camera(eye=(0, 1.5, 4), target=(0.5, 0.6, 0))
    ground = shape_ground((12, 12), 0.25, [SAND, POOL])
    plans = {
        "none": EffectPlan(churn=False),
        "leaves": EffectPlan(churn=False, leaves=3000),
        "snow": EffectPlan(churn=False, snow=3000),
        "water": EffectPlan(churn=False, water=-0.05),
        "churn": EffectPlan(),
    }
    pictures = {}
    for name, effects in plans.items():
        stage = play(ground=ground, effects=effects)
        kept = []
        for tick in range(40):
            stage.step("right+R")
            if tick % 3 == 0:
                kept.append(stage.draw((160, 120), view)[..., :3].astype(int))
        pictures[name] = np.array(kept)
    for name in list(plans)[1:]:
        changed = (pictures[name] != pictures["none"]).any(-1).mean((1, 2))
        assert changed.max() > 0.002, name
