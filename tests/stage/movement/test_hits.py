"""Capsules of bodies: where they are, and which meet."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.convert.shape.hit_volumes import make_volumes
from flexor.errors import ShapeError
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.hits import (
    Hits,
    find_hits,
    find_near,
    init_hits,
    keep_strikes,
    place_volumes,
)
from flexor.stage.movement.kernels import hits as kernel_hits
from flexor.stage.movement.kernels.hits import NEAR
from flexor.stage.movement.layout import HITTING, PARRIABLE, STANDS, Aiming
from tests.oracle import hits as oracle

Rng = np.random.Generator


def body(rng: Rng, count: int) -> HitVolumes:
    return HitVolumes(
        rng.integers(0, 4, count).astype(np.int32),
        rng.normal(size=(count, 2, 3)) * 0.3,
        rng.uniform(0.05, 0.2, count),
        tuple(f"part{row % 3}" for row in range(count)),
    )


def posed(rng: Rng, count: int) -> np.ndarray:
    world = rng.normal(size=(count, 4, 3, 4)).astype(np.float32)
    return world


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def test_capsules_go_with_their_nodes(rng: Rng) -> None:
    kinds = [body(rng, 5), body(rng, 3)]
    hits = init_hits([kinds[0], kinds[0], kinds[1]])
    worlds = [posed(rng, 2), posed(rng, 1)]
    place_volumes(hits, rows(0, 1), kinds[0], worlds[0])
    place_volumes(hits, rows(2), kinds[1], worlds[1])
    for row in range(2):
        wanted = oracle.place_volumes(worlds[0][row], kinds[0].nodes, kinds[0].ends)
        np.testing.assert_allclose(hits.ends[row], wanted, atol=1e-6)
    wanted = oracle.place_volumes(worlds[1][0], kinds[1].nodes, kinds[1].ends)
    np.testing.assert_allclose(hits.ends[2, :3], wanted, atol=1e-6)
    assert hits.radii[2].tolist() == [*kinds[1].radii.tolist(), 0, 0]


def test_boxes_hold_all_capsules(rng: Rng) -> None:
    volumes = body(rng, 6)
    hits = init_hits([volumes] * 20)
    place_volumes(hits, rows(*range(20)), volumes, posed(rng, 20))
    for row in range(20):
        box = oracle.place_box(hits.ends[row], hits.radii[row])
        assert (hits.boxes[row, :3] <= box[:3] + 1e-6).all()
        assert (hits.boxes[row, 3:] >= box[3:] - 1e-6).all()


def test_gaps_are_those_of_the_twin(rng: Rng) -> None:
    volumes = body(rng, 3)
    for _ in range(12):
        hits = init_hits([volumes] * 4, rows(0, -1, 0, -1))
        hits.ends[:] = rng.normal(size=hits.ends.shape) * 0.5
        hits.radii[2, 2] = 0
        hits._aims.bodies[2, 2] = False
        hits.boxes[:, :3], hits.boxes[:, 3:] = -9, 9
        hits.attacks[:] = rng.random((4, 3)) < 0.6
        hits.shields[:] = rng.random((4, 3)) < 0.4
        hits.meets[:] = rng.integers(0, 16, 4) | rng.choice([0, PARRIABLE], 4)
        hits.shows[:] = rng.choice([0, 1, 2, 4, 8], 4)
        find_hits(hits, 0.07)
        for n in range(4):
            found = []
            for m in range(4):
                if not oracle.may_meet(n, m, hits.meets, hits.shows, hits.teams):
                    continue
                mine = hits.ends[n], hits.radii[n], hits.attacks[n]
                gap = oracle.find_hits(*mine, hits.ends[m], hits.radii[m])
                gap = gap if gap < NEAR else np.inf
                shield = hits.radii[m] * hits.shields[m]
                held = oracle.find_hits(*mine, hits.ends[m], shield)
                held = held - 0.07 if held < NEAR else np.inf
                held = held if hits.meets[n] & PARRIABLE else np.inf
                found.append((min(gap, held), m, gap, held))
            best = min(found, default=(np.inf, -1, np.inf, np.inf))
            if best[0] == np.inf:
                assert hits.targets[n] == -1
                continue
            assert hits.targets[n] == best[1]
            np.testing.assert_allclose(hits.gaps[n], best[2:], atol=1e-6)


def test_who_is_met_by_what_is_that_of_the_twin(rng: Rng) -> None:
    kinds = ("attack", "guard", "parry", "jump", "other", "crouch", "throw")
    downs = ("up", "falling", "lying", "rising", "held", "collapsed")
    count = 400
    hits = init_hits([body(rng, 1)] * count)
    met = rng.integers(0, 32, 7).astype(np.uint8)
    doing = Aiming(
        rng.integers(-1, 7, count).astype(np.int32),
        rng.integers(0, 4, count).astype(np.int8),
        rng.random(count) < 0.3,
        rng.choice([0.0, 5.0], count),
        rng.integers(0, 6, count).astype(np.uint8),
        rng.random(count) < 0.2,
    )
    is_any = kernel_hits.aim(np.arange(7, dtype=np.int8), met, doing, hits._aims)
    for n in range(count):
        move = doing.move[n]
        wanted = oracle.aim(
            kinds[move] if move >= 0 else None,
            doing.phase[n] == HITTING and move >= 0,
            bool(doing.has_met[n]),
            int(met[move]),
            doing.energy[n] == 0 or bool(doing.is_throwing[n]),
            downs[doing.down[n]],
        )
        assert (hits.meets[n], hits.shows[n]) == wanted
    assert is_any == hits.meets.any()


def test_only_those_who_are_near_are_put_in_place(rng: Rng) -> None:
    volumes = body(rng, 3)
    hits = init_hits([volumes] * 4)
    world = posed(rng, 4)
    world[:, :, :, 3] = 0.1 * world[:, :, :, 3] + [
        [[0, 0, 0]],
        [[9, 0, 0]],
        [[0, 0, 0]],
        [[9, 1, 0]],
    ]
    hits.meets[0] = STANDS
    assert find_near(hits, [(rows(0, 1, 2, 3), volumes, world)])
    assert hits.is_near.tolist() == [True, False, True, False]
    assert hits.ends.any((1, 2, 3)).tolist() == [True, False, True, False]
    hits.shows[2] = 0
    assert not find_near(hits, [(rows(0, 1, 2, 3), volumes, world)])
    assert not hits.is_near.any()


def two(one: np.ndarray, other: np.ndarray) -> Hits:
    """Two bodies of one capsule of 1 cm each, by the ends of their segments."""
    thick = np.array([0.01])
    volumes = HitVolumes(np.zeros(1, int), np.zeros((1, 2, 3)), thick, ("a",))
    hits = init_hits([volumes, volumes])
    hits.ends[0, 0], hits.ends[1, 0] = one, other
    hits.boxes[:, :3], hits.boxes[:, 3:] = -9, 9
    hits.attacks[:] = True
    hits.meets[:] = STANDS
    find_hits(hits)
    return hits


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ([[0, 0, 0], [1, 0, 0]], [[0.5, 1, -1], [0.5, 1, 1]], 1.0),  # crossing
        ([[0, 0, 0], [1, 0, 0]], [[0, 2, 0], [1, 2, 0]], 2.0),  # parallel
        ([[0, 0, 0], [1, 0, 0]], [[3, 0, 0], [4, 0, 0]], 2.0),  # in a line
        ([[0, 0, 0], [0, 0, 0]], [[3, 4, 0], [3, 4, 0]], 5.0),  # points
        ([[0, 0, 0], [0, 0, 0]], [[-1, 1, 0], [1, 1, 0]], 1.0),  # a point, a segment
        ([[-1, 1, 0], [1, 1, 0]], [[0, 0, 0], [0, 0, 0]], 1.0),
        ([[0, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0]], 0.0),  # the same
    ],
)
def test_segments_of_all_kinds(one: list, other: list, apart: float) -> None:
    hits = two(0.05 * np.array(one), 0.05 * np.array(other))
    apart *= 0.05
    np.testing.assert_allclose(hits.gaps[:, 0], apart - 0.02, atol=1e-12)
    if apart > 0:  # the point lies on the target's surface
        away = np.linalg.norm(hits.points[0] - hits.points[1])
        assert away == pytest.approx(apart - 0.02, abs=1e-9)


def test_what_went_through_somebody_in_a_tick_meets(rng: Rng) -> None:
    """From where it was a tick ago: as the twin finds it in many places on the way."""
    volumes = body(rng, 3)
    met = passed = 0
    for case in range(60):
        hits = init_hits([volumes] * 3)
        hits.radii[:] = 0.05
        hits.ends[:] = rng.normal(size=hits.ends.shape) * 0.1
        hits.ends[:] += rng.normal(size=(3, 3, 1, 3)) * 0.3
        hits.boxes[:, :3], hits.boxes[:, 3:] = -9, 9
        hits.attacks[0] = [True, False, True]
        hits.meets[0] = STANDS
        hits.before[0] = hits.ends[0] + rng.normal(size=3) * 0.3
        if case % 4 == 0:  # what is not struck with may have been anywhere
            hits.before[0, 1] += 7
        find_hits(hits)
        there = hits.targets[0], hits.gaps[0].tolist(), hits.pairs[0].tolist()
        hits.swept[0] = True
        ends, before = hits.ends.copy(), hits.before.copy()
        find_hits(hits)
        np.testing.assert_array_equal(hits.ends, ends)
        np.testing.assert_array_equal(hits.before, before)
        now = hits.targets[0], hits.gaps[0].tolist(), hits.pairs[0].tolist()
        first, *others = (
            min(
                oracle.find_hits(
                    before[0] + share * (ends[0] - before[0]),
                    hits.radii[0],
                    hits.attacks[0],
                    ends[m],
                    hits.radii[m],
                )
                for m in (1, 2)
            )
            for share in np.linspace(0, 1, 21)
        )
        if first <= 0:
            continue  # it has met a tick ago
        least = min(others)
        if there[1][0] <= 0 or now[1][0] > 0:
            assert now == there, "it meets at its end, or not at all"
            assert there[1][0] <= 0 or least > -0.02
            passed += there[1][0] > 0
        else:
            assert least < 0.02
            met += 1
    assert min(met, passed) > 3


def test_strikes_are_kept_for_a_tick(rng: Rng) -> None:
    volumes = body(rng, 2)
    hits = init_hits([volumes] * 3)
    hits.ends[:] = rng.normal(size=hits.ends.shape)
    hits.meets[:2], hits.is_near[1:] = STANDS, True
    keep_strikes(hits)
    assert hits.swept.tolist() == [False, True, False], "attacks, with somebody near"
    np.testing.assert_array_equal(hits.before[1], hits.ends[1])
    far = hits.ends[1] + [2.0, 0, 0]  # put elsewhere: it goes through nobody
    hits.ends[1], hits.ends[0] = far, far - [1.0, 0, 0]
    hits.ends[2] = 9
    hits.boxes[:, :3], hits.boxes[:, 3:] = -9, 9
    hits.attacks[:] = True
    hits.meets[:] = [0, STANDS, 0]
    find_hits(hits)
    assert hits.gaps[1, 0] > 0


def test_a_kick_of_the_mannequin_meets_one_who_is_near(rng: Rng) -> None:
    hero = flexor.samples.mannequin()
    volumes = make_volumes(hero.scene)
    feet = volumes.rows(["rightFoot", "leftFoot"])
    gaps = {}
    for away in (0.7, 3.0):
        hits = init_hits([volumes, volumes])
        nearest = np.inf
        for time in np.linspace(0, hero.clips["kick"].duration, 24):
            world = np.stack([hero.pose("kick", time).world, hero.pose().world])
            world[1, :, 2, 3] += away
            place_volumes(hits, rows(0, 1), volumes, world.astype(np.float32))
            hits.attacks[0, feet] = True
            hits.meets[0] = STANDS
            find_hits(hits)
            nearest = min(nearest, float(hits.gaps[0, 0]))
        gaps[away] = nearest
    assert gaps[0.7] < 0
    assert gaps[3.0] == np.inf, "too far to look"


def test_what_does_not_fit_is_refused(rng: Rng) -> None:
    volumes = body(rng, 4)
    hits = init_hits([volumes] * 2)
    with pytest.raises(ShapeError, match="rows: expected 0 to 1"):
        place_volumes(hits, rows(1, 2), volumes, posed(rng, 2))
    with pytest.raises(ShapeError, match="world"):
        place_volumes(hits, rows(1), volumes, posed(rng, 2))
    with pytest.raises(ShapeError, match="volumes: 5, room for 4"):
        place_volumes(hits, rows(1), body(rng, 5), posed(rng, 1))
    with pytest.raises(ShapeError, match="volumes: node"):
        place_volumes(hits, rows(0, 1), volumes, posed(rng, 2)[:, :1].copy())
