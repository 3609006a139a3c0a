"""Any solver on poses and players."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.api.solving import Solver
from flexor.errors import SettingError
from flexor.pose.ik.two_bone import Limb, init_two_bone, solve_two_bone

LEG = Limb("l-hip", "l-knee", "l-ankle")
TARGETS = [[(0.15, 0.4, 0.1)], [(0.1, 0.3, 0.2)]]


def make(hero: flexor.Character, count: int) -> Solver:
    return Solver(hero, init_two_bone(hero.layout, [LEG], count), solve_two_bone)


def test_poses_as_a_face_of_its_own_gives_them() -> None:
    hero = flexor.samples.mannequin()
    pose = hero.pose_many("walk", [0.2, 0.4])
    legs = flexor.Limbs(hero, [LEG], count=2)
    wanted = legs.solve(pose, TARGETS)
    solver = make(hero, 2)
    posed = solver.solve(pose, TARGETS)
    assert solver.count == 2
    assert np.array_equal(posed.world, wanted.world)
    assert np.array_equal(solver.off, legs.off)
    assert not np.array_equal(posed.world, pose.world)


def test_goals_by_name() -> None:
    hero = flexor.samples.mannequin()
    pose = hero.pose("walk", 0.2)
    still = make(hero, 1).solve(pose, targets=TARGETS[:1], weights=0.0)
    assert np.allclose(still.world, pose.world, atol=1e-5)


def test_players() -> None:
    hero = flexor.samples.mannequin()
    player, solver = flexor.Player(hero, 2), make(hero, 2)
    before = player.local.copy()
    solver.apply(player, TARGETS)
    assert not np.array_equal(player.local, before)
    with pytest.raises(SettingError, match="a player of 3 characters"):
        solver.apply(flexor.Player(hero, 3), TARGETS)
