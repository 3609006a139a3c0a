"""Capsules of bodies: where they are, and which meet."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.convert.shape.hit_volumes import make_volumes
from flexor.errors import ShapeError
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.hits import Hits, find_hits, init_hits, place_volumes
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


def test_gaps_are_those_of_the_twin(rng: Rng) -> None:
    volumes = body(rng, 4)
    for _ in range(30):
        hits = init_hits([volumes] * 3)
        hits.ends[:] = rng.normal(size=hits.ends.shape)
        hits.radii[2, 3] = 0
        attacks = rng.random((3, 4)) < 0.6
        targets = np.array([2, 0, -1], np.int32)
        find_hits(hits, attacks, targets)
        for row, target in ((0, 2), (1, 0)):
            wanted = oracle.find_hits(
                hits.ends[row],
                hits.radii[row],
                attacks[row],
                hits.ends[target],
                hits.radii[target],
            )
            assert hits.gaps[row] == pytest.approx(wanted, abs=1e-6)
        assert hits.gaps[2] == np.inf
        assert hits.pairs[2].tolist() == [-1, -1]


def two(one: list, other: list) -> Hits:
    """Two bodies of one capsule of 0.1 m each, by the ends of their segments."""
    volumes = HitVolumes(np.zeros(1, int), np.zeros((1, 2, 3)), np.array([0.1]), ("a",))
    hits = init_hits([volumes, volumes])
    hits.ends[0, 0], hits.ends[1, 0] = one, other
    find_hits(hits, np.ones((2, 1), bool), np.array([1, 0], np.int32))
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
    hits = two(one, other)
    np.testing.assert_allclose(hits.gaps, apart - 0.2, atol=1e-12)
    if apart > 0:  # the point lies on the target's surface
        away = np.linalg.norm(hits.points[0] - hits.points[1])
        assert away == pytest.approx(apart - 0.2, abs=1e-9)


def test_a_kick_of_the_mannequin_meets_one_who_is_near(rng: Rng) -> None:
    hero = flexor.samples.mannequin()
    volumes = make_volumes(hero.scene)
    foot = np.zeros((2, len(volumes)), bool)
    foot[0, volumes.rows(["rightFoot", "leftFoot"])] = True
    gaps = {}
    for away in (0.7, 3.0):
        hits = init_hits([volumes, volumes])
        nearest = np.inf
        for time in np.linspace(0, hero.clips["kick"].duration, 24):
            world = np.stack([hero.pose("kick", time).world, hero.pose().world])
            world[1, :, 2, 3] += away
            place_volumes(hits, rows(0, 1), volumes, world.astype(np.float32))
            find_hits(hits, foot, np.array([1, -1], np.int32))
            nearest = min(nearest, float(hits.gaps[0]))
        gaps[away] = nearest
    assert gaps[0.7] < 0 < gaps[3.0]


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
    with pytest.raises(ShapeError, match="targets: expected -1 to 1"):
        find_hits(hits, np.ones((2, 4), bool), np.array([2, 0], np.int32))
    with pytest.raises(ShapeError, match="attacks"):
        find_hits(hits, np.ones((2, 3), bool), np.array([1, 0], np.int32))
