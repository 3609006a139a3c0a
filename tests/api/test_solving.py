"""Any solver on poses and players."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import flexor
from flexor.api.solving import Solver
from flexor.errors import SettingError
from flexor.pose.ik.ccd import CcdSettings
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


def test_solvers_can_be_pickled_and_go_on_as_they_were() -> None:
    """Reach remembers its last solution, Look and Limbs how far off they were."""
    hero = flexor.samples.mannequin()
    settings = CcdSettings(incremental=True, passes=1)
    chains = {"leftHand": "leftUpperArm"}
    for solver, goals in (
        (
            flexor.Reach(hero, chains, limits="human", settings=settings),
            [0.3, 1.2, 0.3],
        ),
        (flexor.Limbs(hero, ["left arm"]), [0.3, 1.2, 0.3]),
        (flexor.Look(hero), [2.0, 1.5, 3.0]),
        (make(hero, 1), TARGETS[:1]),
    ):
        solver.solve(hero.pose("walk", 0.2), goals)
        other = pickle.loads(pickle.dumps(solver))
        assert np.array_equal(other.off, solver.off)
        pose = hero.pose("walk", 0.3)
        wanted = solver.solve(pose, goals)
        assert np.array_equal(other.solve(pose, goals).world, wanted.world)
        assert copy.deepcopy(solver).hero is not hero


def test_a_solver_and_its_player_stay_together() -> None:
    hero = flexor.samples.mannequin()
    pair = flexor.Player(hero, 2), make(hero, 2)
    player, solver = pickle.loads(pickle.dumps(pair))
    solver.apply(player, TARGETS)
    pair[1].apply(pair[0], TARGETS)
    assert np.array_equal(player.local, pair[0].local)
