"""Limbs that stop at the trunks of others."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.bench.played.faults import init_watch, look
from flexor.maths.records import check_record
from flexor.samples import mannequin
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.scene.stage.zone import Zone
from flexor.stage.motion import touch
from flexor.stage.motion.kernels import link as kernel_link
from flexor.stage.motion.kernels import touch as kernel_touch
from flexor.stage.motion.layout import LOWER, NOTHING, TIP, TRUNK, Touch
from tests.oracle import touch as oracle

Rng = np.random.Generator


@functools.cache
def hero() -> Character:
    return mannequin()


def test_who_is_near_is_as_by_the_twin(rng: Rng) -> None:
    for _ in range(20):
        places = rng.uniform(-3, 3, (8, 3))
        order = places[:, 0].argsort().astype(np.int32)
        near = np.ones(8, bool)
        is_any = kernel_touch.find_near(order, places, near)
        np.testing.assert_array_equal(near, oracle.find_near(places))
        assert is_any == near.any()


def random_touch(rng: Rng, count: int, most: int, limbs: int) -> Touch:
    parts = rng.choice([NOTHING, TRUNK, TIP, LOWER], (count, most)).astype(np.int8)
    of_limb = rng.integers(0, limbs, (count, most)).astype(np.int32)
    of_limb[(parts == NOTHING) | (parts == TRUNK)] = -1
    return check_record(
        Touch(
            parts,
            of_limb,
            rng.uniform(0.02, 0.12, (count, most)),
            np.full((count, limbs), 2.0),
            rng.uniform(0.05, 0.3, (count, limbs)),
            np.zeros((count, most, 2, 3)),
            np.zeros((count, limbs, 2, 3)),
            rng.normal(size=(count, limbs, 3)),
        )
    )


def test_limbs_are_pushed_as_by_the_twin(rng: Rng) -> None:
    pushed = 0
    for _ in range(15):
        count, most, limbs, nodes = 3, 7, 2, 9
        touch = random_touch(rng, count, most, limbs)
        places = rng.uniform(-0.2, 0.2, (count, 3))
        near = np.array([True, True, bool(rng.integers(0, 2))])
        order = places[:, 0].argsort().astype(np.int32)
        stays = rng.random((count, limbs)) < 0.2
        for n in range(count):
            world = rng.uniform(-0.3, 0.3, (1, nodes, 3, 4)).astype(np.float32)
            own = rng.integers(0, nodes, most).astype(np.int32)
            local = rng.uniform(-0.3, 0.3, (most, 2, 3))
            spans = np.array(
                [rng.permutation(nodes)[:2] for _ in range(limbs)], np.int32
            )
            kernel_touch.place_near(
                np.array([n], np.int32), near, world, own, local, spans,
                touch.ends, touch.spans,
            )  # fmt: skip
            if near[n]:
                wanted = oracle.place_near(world[0], own, local)
                np.testing.assert_allclose(touch.ends[n], wanted, atol=1e-6)
                np.testing.assert_array_equal(
                    touch.spans[n], world[0, spans, :, 3].astype(np.float64)
                )
        is_any = kernel_touch.push_limbs(order, near, places, stays, touch)
        assert is_any == touch.pushes.any()
        for n in range(count):
            for limb in range(limbs):
                got = touch.pushes[n, limb]
                if stays[n, limb] or not near[n]:
                    assert not got.any()
                    continue
                mine = touch.limbs[n] == limb
                others = [m for m in range(count) if m != n and near[m]]
                trunk = [(m, k) for m in others for k in range(most)]
                trunk = [at for at in trunk if touch.parts[at] == TRUNK]
                wanted, _ = oracle.push_limb(
                    touch.ends[n][mine],
                    touch.radii[n][mine],
                    touch.parts[n][mine],
                    np.array([touch.ends[at] for at in trunk]).reshape(-1, 2, 3),
                    np.array([touch.radii[at] for at in trunk]),
                    touch.spans[n, limb],
                    touch.folded[n, limb],
                )
                np.testing.assert_allclose(got, wanted, atol=2e-4)
                pushed += bool(got.any())
    assert pushed > 10


def test_hands_come_to_lie_on_trunks_as_by_the_twin(rng: Rng) -> None:
    moved = 0
    for _ in range(12):
        touch = random_touch(rng, 2, 6, 2)
        touch.ends[:] = rng.uniform(-0.4, 0.4, touch.ends.shape)
        touch.spans[:] = rng.uniform(-0.4, 0.4, touch.spans.shape)
        for limb in range(2):
            mine = touch.limbs[0] == limb
            trunk = touch.parts[1] == TRUNK
            wanted = oracle.find_grip(
                touch.ends[0][mine], touch.radii[0][mine], touch.parts[0][mine],
                touch.ends[1][trunk], touch.radii[1][trunk], touch.spans[0, limb],
            )  # fmt: skip
            way = np.zeros(3)
            is_any = kernel_touch.find_grip(touch, 0, limb, 1, way)
            assert is_any == (wanted is not None)
            if wanted is not None:
                np.testing.assert_allclose(way, wanted, atol=2e-4)
                moved += 1
    assert moved > 6


def test_a_hand_in_the_middle_of_a_trunk_comes_back_toward_its_shoulder() -> None:
    touch = random_touch(np.random.default_rng(0), 2, 1, 1)
    touch.parts[:, 0], touch.limbs[:, 0] = (TIP, TRUNK), (0, -1)
    touch.radii[:] = 0.1
    touch.ends[:] = 0.0
    touch.spans[0, 0] = (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)
    way = np.zeros(3)
    assert kernel_touch.find_grip(touch, 0, 0, 1, way)
    np.testing.assert_allclose(way, (0.0, 0.194, 0.0), atol=1e-9)


def test_trunks_are_pushed_apart_as_by_the_twin(rng: Rng) -> None:
    pushed = 0
    for _ in range(15):
        touch = random_touch(rng, 2, 4, 1)
        touch.parts[:, 1:3] = TRUNK
        places = rng.uniform(-0.15, 0.15, (2, 3))
        ends = rng.uniform(-0.1, 0.1, touch.ends.shape)
        touch.ends[:] = ends + places[:, None, None]
        order = places[:, 0].argsort().astype(np.int32)
        shoves, free = np.ones((2, 2)), np.full(2, -1, np.int32)
        near = np.ones(2, bool)
        own = [touch.parts[n] == TRUNK for n in range(2)]
        way = (places[0] - places[1])[[0, 2]]
        way /= np.linalg.norm(way)
        wanted = oracle.shove(
            touch.ends[0][own[0]], touch.radii[0][own[0]],
            touch.ends[1][own[1]], touch.radii[1][own[1]], way,
        )  # fmt: skip
        is_any = kernel_touch.shove_trunks(order, near, places, free, touch, shoves)
        # The nearest points of two capsules are others when they have moved: the rest
        # is left to the next tick.
        size = 2 * float(np.linalg.norm(shoves[0]))
        assert 0.7 * min(wanted, 0.06) - 1e-4 <= size <= min(wanted, 0.06) + 1e-4
        np.testing.assert_allclose(shoves[0], 0.5 * size * way, atol=1e-9)
        np.testing.assert_array_equal(shoves[1], -shoves[0])
        assert is_any == shoves.any()
        pushed += is_any
        # Not those of a throw, nor who is in nobody's way.
        held = np.array([-1, 0], np.int32)
        args = touch, shoves
        assert not kernel_touch.shove_trunks(order, near, places, held, *args)
        near[0] = False
        assert not kernel_touch.shove_trunks(order, near, places, free, *args)
        assert not shoves.any()
    assert pushed > 4


def test_limbs_are_drawn_back_as_by_the_twin(rng: Rng) -> None:
    touch = random_touch(rng, 40, 1, 2)
    ways = rng.normal(size=(40, 2, 3)) * 0.3
    last, drawn = rng.normal(size=(2, 40, 2, 3)) * 0.1
    touch.pushes[:] = rng.normal(size=(40, 2, 3)) * 0.2
    last[0], drawn[0], touch.pushes[0] = 0.0, 0.0, 0.0
    before, wanted = drawn.copy(), drawn + touch.pushes
    assert kernel_touch.draw_back(ways, last, drawn, touch)
    np.testing.assert_allclose(drawn, before + touch.pushes, atol=1e-12)
    assert not drawn[0].any()
    for n in range(1, 40):
        for limb in range(2):
            found = oracle.draw_back(
                ways[n, limb], last[n, limb], wanted[n, limb], touch.folded[n, limb]
            )
            np.testing.assert_allclose(drawn[n, limb], found, atol=1e-9)
            along = ways[n, limb] / np.linalg.norm(ways[n, limb])
            left = (ways[n, limb] + drawn[n, limb]) @ along
            least = min(np.linalg.norm(ways[n, limb]), touch.folded[n, limb])
            assert left > least - 1e-9, "it folds no farther"


def test_who_is_drawn_back_no_more_is_done(rng: Rng) -> None:
    touch = random_touch(rng, 1, 1, 1)
    ways = np.array([[[touch.folded[0, 0], 0.0, 0.0]]])
    drawn = np.zeros((1, 1, 3))
    touch.pushes[:] = (-0.1, 0.0, 0.0)
    assert not kernel_touch.draw_back(ways, drawn.copy(), drawn, touch)
    assert not drawn.any()


PUNCH = Move("punch", 15, 5, 30, parts=("rightHand", "rightLowerArm"), damage=5)
KICK = Move("kick", 24, 7, 38, parts=("rightFoot", "rightLowerLeg"), damage=5)


def pair(apart: float) -> Stage:
    moves = MoveTable((PUNCH, KICK), singles={"B": "punch", "C": "kick"})
    cast = (
        Actor(name="red", place=(-apart / 2, 0.0), heading=np.pi / 2),
        Actor(name="blue", place=(apart / 2, 0.0), heading=-np.pi / 2),
    )
    return Stage(StagePlan(cast=cast, moves=moves), characters={"mannequin": hero()})


@pytest.mark.slow
@pytest.mark.parametrize(("button", "part"), [("B", "rightHand"), ("C", "rightFoot")])
@pytest.mark.parametrize("apart", [0.72, 0.85])
def test_a_strike_stops_at_the_surface_and_still_hits(
    button: str, part: str, apart: float
) -> None:
    stage, outcomes, jumps = pair(apart), 0, [0.0]
    watch, body = init_watch(stage), stage.state.bodies[0]
    limb = body.goals.columns[part]
    before: Any = None
    for tick in range(60):
        stage.step([button if tick == 0 else ""])
        look(watch)
        outcomes += int((stage.state.fight.outcomes != 0).sum())
        end = body.world.matrices[0, body.ends[limb], :, 3].astype(np.float64)
        end -= stage.places[0]
        if before is not None:
            jumps.append(float(np.linalg.norm(end - before)))
        before = end
    assert outcomes == 1
    assert watch.found.deepest_limb < 0.03
    assert max(jumps) < 0.25, "it is not thrown back"


@pytest.mark.slow
def test_hands_of_two_who_stand_close_stay_out_of_each_other() -> None:
    stage = pair(0.7)
    stage.state.radii[:] = 0.2
    stage.places[:, 0] = -0.2, 0.2
    watch = init_watch(stage)
    for _ in range(30):
        stage.step()
        look(watch)
    assert 0 < watch.found.deepest_limb < 0.03
    assert stage.state.touching.is_drawn, "they would be in each other"


@pytest.mark.slow
def test_who_leans_into_another_is_pushed_off_but_not_through_a_wall() -> None:
    corners = np.array([(-0.2, -1), (0.6, -1), (0.6, 1), (-0.2, 1)])
    stage = pair(0.7)
    plan = replace(stage.plan, zones=(Zone(corners),))
    stage = Stage(plan, characters={"mannequin": hero()})
    stage.state.radii[:] = 0.1  # much less than their heads and chests take
    stage.places[:, 0] = -0.1, 0.08
    watch = init_watch(stage)
    for tick in range(40):
        stage.step()
        look(watch)
        if tick == 3:
            watch.found.deepest_trunk = 0.0
    assert watch.found.deepest_trunk < 0.02
    assert stage.places[0, 0] == pytest.approx(-0.1, abs=1e-6), "there is a wall"
    assert stage.places[1, 0] > 0.12
    assert watch.found.strayed == 0


@pytest.mark.slow
def test_feet_are_pushed_aside_but_not_into_the_ground() -> None:
    stage = pair(3.0)
    for _ in range(5):
        stage.step()
    body = stage.state.bodies[0]
    pushes = np.zeros_like(stage.state.touching.drawn)
    pushes[0, :] = 0.05, -0.1, 0.0
    before = body.world.matrices[0, body.ends, :, 3].astype(np.float64)
    touch._push(body, pushes)
    moved = body.world.matrices[0, body.ends, :, 3] - before
    is_foot = body.flats >= 0
    np.testing.assert_allclose(moved[~is_foot, 1], -0.1, atol=0.01)
    np.testing.assert_allclose(moved[is_foot, 1], 0.0, atol=0.01)
    assert (moved[:, 0] > 0.03).all()


@pytest.mark.slow
def test_strikes_are_not_bent_into_the_ground(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who stands on a foot goes on doing so, whatever its strike follows."""

    def down(*given: Any) -> bool:
        given[-1].bends[0] = 0.0, -0.25, 0.0
        return True

    stage = pair(3.0)
    for _ in range(5):
        stage.step()
    body = stage.state.bodies[0]
    is_foot = body.flats >= 0
    monkeypatch.setattr(kernel_link, "bend_strikes", down)
    for tick in range(30):
        stage.step(["C" if tick == 0 else ""])
        high = body.world.matrices[0, body.ends[is_foot], 1, 3] - body.flats[is_foot]
        assert high.min() > -0.02
