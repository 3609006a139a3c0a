"""Shadows of characters on walls and roofs of structures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.scene.stage.ground import flat_ground
from flexor.scene.stage.plan import Actor, StageLook, StagePlan
from flexor.scene.stage.structure import Structure
from flexor.stage.effects.shadow_walls import make_walls
from flexor.stage.effects.shadows import climb_walls, shadow_matrices
from tests.oracle.shadow_walls import meet_slow

LIGHT = (0.6, -1.0, -0.5)
PILLAR = Structure(name="pillar", middle=(1.0, -0.5), radius=0.4, high=2.0)
WALL = Structure(name="wall", ends=((-1.0, -1.5), (1.5, -1.2)), thickness=0.3, high=0.8)
ELL = Structure(
    name="ell",
    corners=(
        (2.0, 0.0),
        (3.0, 0.0),
        (3.0, -1.5),
        (2.6, -1.5),
        (2.6, -0.4),
        (2.0, -0.4),
    ),
    high=0.4,
)
BEAM = Structure(name="beam", ends=((-2, 0), (-2, 2)), thickness=0.5, low=1, high=1.2)
EVERY = [PILLAR, WALL, ELL, BEAM]


def cast(structures: list[Structure], middles: Any, lift: float = 0.0) -> Any:
    """Matrices and what was met of parts (K, 3), on level ground."""
    ground = flat_ground(20.0)
    matrices, _ = shadow_matrices(LIGHT, middles[None], ground, lift=lift)
    met = np.full((1, len(middles)), -9, np.int32)
    walls = make_walls(structures, ground)
    climb_walls(LIGHT, middles[None], walls, matrices, met, lift)
    return matrices[0], met[0]


def test_parts_fall_on_what_their_light_meets_first() -> None:
    rng = np.random.default_rng(6)
    middles = rng.uniform((-3.0, 0.05, -1.5), (3.2, 2.5, 2.0), (400, 3))
    matrices, met = cast(EVERY, middles)
    step, wrong = 0.002, 0
    for middle, matrix, own in zip(middles, matrices, met, strict=True):
        wanted, down = meet_slow(EVERY, (0.6, -0.5), middle, middle[1], step)
        if down < 0.02:
            continue  # inside of one, or at its wall
        if own != wanted:
            wrong += 1
            continue
        spot = matrix[:, :3] @ middle + matrix[:, 3]
        fell = middle[1] - spot[1]
        assert fell == pytest.approx(down if own >= 0 else middle[1], abs=2 * step)
        np.testing.assert_allclose(
            spot - middle, fell * np.array([0.6, -1, -0.5]), atol=1e-9
        )
    assert wrong <= 4, "but at corners, and where it grazes"
    assert set(met.tolist()) == {-1, 0, 1, 2, 3}


def test_a_part_lies_flat_on_the_wall_that_it_met() -> None:
    middles = np.array([[0.2, 0.7, -0.95], [0.5, 1.9, 1.5]])
    matrices, met = cast([WALL], middles, lift=0.01)
    assert met.tolist() == [0, -1]
    rng = np.random.default_rng(1)
    points = middles[0] + rng.uniform(-0.05, 0.05, (20, 3))
    flat = points @ matrices[0, :, :3].T + matrices[0, :, 3]
    ways = np.cross(flat - points, LIGHT)
    np.testing.assert_allclose(ways, 0, atol=1e-9)
    a, b = np.array([-1.0, -1.5]), np.array([1.5, -1.2])
    along = (b - a) / np.linalg.norm(b - a)
    away = (flat[:, [0, 2]] - a) @ [-along[1], along[0]]
    np.testing.assert_allclose(away, 0.15 + 0.01, atol=1e-9)


def test_without_structures_nothing_changes() -> None:
    middles = np.random.default_rng(2).uniform(0, 2, (5, 3))
    plain, _ = shadow_matrices(LIGHT, middles[None], flat_ground(20.0))
    matrices, met = cast([], middles)
    np.testing.assert_array_equal(matrices, plain[0])
    assert (met == -1).all()
    far = [replace(PILLAR, middle=(50.0, 0.0))]
    matrices, met = cast(far, middles)
    np.testing.assert_array_equal(matrices, plain[0])
    assert (met == -1).all()


def test_structures_stand_on_their_ground() -> None:
    walls = make_walls(EVERY, flat_ground(20.0, 1.5))
    assert len(walls) == 4
    np.testing.assert_allclose(walls.boxes[:, 5], [3.5, 2.3, 1.9, 2.7])
    assert walls.boxes[3, 4] == 2.5
    assert (walls.boxes[:3, 4] < -1000).all()
    normals = walls.edges[:, 4:]
    np.testing.assert_allclose(np.hypot(*normals.T), 1)
    first, last = walls.rows[0].tolist()
    away = walls.edges[first:last, :2] - (1.0, -0.5)
    assert ((away * normals[first:last]).sum(1) > 0.3).all(), "outward"


def play(*structures: Structure, **look: Any) -> flexor.Stage:
    own = Actor(name="own", place=(0.0, 0.0), heading=0.4)
    plan = StagePlan(
        cast=(own,),
        structures=structures,
        light=(0.5, -1.0, -1.0),
        look=StageLook(plain="stone", **look),
    )
    stage = flexor.Stage(plan)
    stage.step()
    return stage


@pytest.mark.slow
def test_a_shadow_is_seen_on_the_wall_behind() -> None:
    wall = Structure(name="w", ends=((-2, -0.9), (3, -0.9)), thickness=0.2, high=2.0)
    camera = flexor.Camera((0.6, 1.0, 5.0), (0.6, 0.8, 0.0), fov=0.6)
    lit, dark = (
        play(wall, shadows=shadows).draw((200, 150), camera).astype(float)
        for shadows in (False, True)
    )
    # Right of who stands there, over the foot of the wall.
    fell = lit[..., 1] - dark[..., 1]
    points = np.array([[x, y, -0.8] for x in (0.35, 0.4, 0.45) for y in (0.3, 0.45)])
    pixels = camera.project(points, (200, 150))[:, :2].astype(int)
    assert max(fell[y, x] for x, y in pixels) > 25
    # What is higher than the shadow is lit as it was.
    points = np.array([[x, 1.8, -0.8] for x in (-1.5, 0.0, 1.0, 2.5)])
    pixels = camera.project(points, (200, 150))[:, :2].astype(int)
    assert max(abs(fell[y, x]) for x, y in pixels) < 3


@pytest.mark.slow
def test_who_stands_in_a_shadow_is_darker() -> None:
    tower = Structure(name="t", middle=(-1.0, 2.0), radius=0.6, high=6.0)
    camera = flexor.Camera((3.0, 1.2, -3.0), (0.0, 1.0, 0.0), fov=0.5)
    lit, dark = (
        play(tower, shadows=shadows).draw((120, 120), camera).astype(float)
        for shadows in (False, True)
    )
    middle = np.s_[52:66, 56:63, :3]
    share = dark[middle].mean() / lit[middle].mean()
    assert 0.5 < share < 0.9
