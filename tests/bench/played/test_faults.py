"""Each fault is found where it is made by hand, and none where two only stand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor import samples
from flexor.api.stage import Stage
from flexor.bench.played.faults import Found, Watch, _distances, init_watch, look
from flexor.bench.played.matches import arena_stage
from flexor.scene.stage.plan import CameraRule
from flexor.scene.stage.structure import Structure
from flexor.stage.effects.layout import CHECKED

pytestmark = pytest.mark.usefixtures("made_once")


@pytest.fixture(scope="module")
def stage() -> Stage:
    return arena_stage(samples.fighter())


def standing(stage: Stage) -> Watch:
    """Two who have stood for a second, far from each other."""
    stage.restart()
    stage.places[:, [0, 2]] = (-1.3, 1.0), (0.9, 1.0)
    for _ in range(60):
        stage.step()
    return init_watch(stage)


def test_two_who_stand_have_no_fault(stage: Stage) -> None:
    watch = standing(stage)
    for _ in range(60):
        stage.step()
        look(watch)
    found = watch.found
    assert (found.ticks, found.stood) == (60, 120)
    assert (found.slides, found.deep_limbs, found.deep_feet) == (0, 0, 0)
    assert (found.near, found.outside, found.hidden) == (0, 0, 0)
    assert (found.strayed, found.broken, found.attacks) == (0, 0, 0)
    assert found.deepest_limb == 0.0


def pushed(stage: Stage, ticks: int) -> Found:
    """What is found while one is pushed at half a metre a second, standing."""
    watch = standing(stage)
    for _ in range(ticks):
        stage.places[0, 2] += 0.5 / 60
        stage.step()
        look(watch)
    return watch.found


def test_who_is_pushed_slides_unless_its_feet_stay(stage: Stage) -> None:
    plan = replace(stage.plan, look=replace(stage.plan.look, feet=False))
    loose = pushed(Stage(plan, characters={"mannequin": samples.fighter()}), 10)
    assert loose.slides >= 8
    assert 0.3 < loose.fastest_slide < 0.8
    planted = pushed(stage, 40)  # it makes steps: one of two feet always stands
    assert planted.slides == 0
    assert planted.fastest_slide < 0.01


def test_an_attack_that_meets_is_a_contact(stage: Stage) -> None:
    watch = standing(stage)
    stage.places[:, [0, 2]] = (-0.43, 0.0), (0.43, 0.0)
    for tick in range(80):
        stage.step(["B" if 10 <= tick < 14 else "", ""])
        look(watch)
    assert (watch.found.attacks, watch.found.contacts) == (1, 1)


def test_a_limb_in_a_trunk_is_deep(stage: Stage) -> None:
    watch = standing(stage)
    stage.step()
    places, world = stage.places, stage.state.bodies[0].world.matrices
    places[1] = places[0]
    hips = stage.cast[0].plan.checked[CHECKED.index("hips")]
    hand = list(stage.cast[0].hero.skeleton.names).index("l-hand")
    world[1, :, :, 3] += world[0, hips, :, 3] - world[1, hand, :, 3]
    look(watch)
    assert 0.05 < watch.found.deepest_limb < 0.3
    assert watch.found.deep_limbs == 1


def test_a_foot_under_the_ground_is_deep(stage: Stage) -> None:
    watch = standing(stage)
    stage.step()
    for body in stage.state.bodies:
        body.world.matrices[:, :, 1, 3] -= 0.1
    look(watch)
    assert watch.found.deepest_foot == pytest.approx(0.1, abs=0.02)
    assert watch.found.deep_feet == 1


def test_who_is_outside_and_what_is_no_number(stage: Stage) -> None:
    watch = standing(stage)
    stage.step()
    stage.places[0, 0] = -7.0
    look(watch)
    assert watch.found.strayed == 1
    stage.places[0, 0] = 0.0
    stage.step()
    stage.state.bodies[0].world.matrices[0, 3, 0, 0] = np.nan
    look(watch)
    assert watch.found.broken == 1


@pytest.mark.parametrize(
    ("fault", "eye", "target"),
    [
        ("near", (0, 2, 4.5), (0, 1, 0)),
        ("outside", (0, 2, 7), (6, 1, 0)),
        ("hidden", (0, 1.2, 9), (0, 1, 0)),
    ],
)
def test_what_the_camera_misses(fault: str, eye: Any, target: Any) -> None:
    plan = arena_stage(samples.fighter()).plan
    post = Structure(name="post", middle=(0, 5.5), radius=0.3, high=3)
    plan = replace(
        plan,
        structures=(post,),
        camera=CameraRule(rule="fixed", eye=eye, target=target, fov=math.radians(38)),
    )
    stage = Stage(plan, characters={"mannequin": samples.fighter()})
    stage.places[:, [0, 2]] = (0, 0), (1.2, 0)
    watch = init_watch(stage)
    for _ in range(3):
        stage.step()
        stage.state.view.shown[:] = 1.0
        look(watch)
    own = watch.found
    others = {"near", "outside", "hidden"} - {fault}
    assert getattr(own, fault) == 3
    assert all(getattr(own, name) in (0, 3) for name in others)
    stage.state.view.shown[:] = 0.0  # it is hidden itself
    stage.step()
    stage.state.view.shown[:] = 0.0
    before = own.hidden
    look(watch)
    assert own.hidden == before


def test_distances_of_segments(rng: np.random.Generator) -> None:
    """As the least of many places on both."""
    one, other = rng.normal(size=(6, 2, 3)), rng.normal(size=(5, 2, 3))
    one[0, 1] = one[0, 0]
    share = np.linspace(0, 1, 201)[:, None]
    for a, p in enumerate(one):
        for b, q in enumerate(other):
            mine = p[0] + share * (p[1] - p[0])
            theirs = q[0] + share * (q[1] - q[0])
            least = np.sqrt(((mine[:, None] - theirs) ** 2).sum(-1)).min()
            found = _distances(one[a : a + 1], other[b : b + 1])[0, 0]
            assert found == pytest.approx(least, abs=2e-2)
            assert found <= least + 1e-9


def test_found_adds_up() -> None:
    one, other = Found(ticks=3, deepest_limb=0.2), Found(ticks=4, deepest_limb=0.1)
    one.add(other)
    assert (one.ticks, one.deepest_limb) == (7, 0.2)
