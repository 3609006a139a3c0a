"""The energy of nets: what it is, that none comes from nowhere, and that nets calm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.bench.goal_shots import random_shots
from flexor.stage.goal.energy import kinetic_energy, total_energy
from flexor.stage.goal.layout import FIXED
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import BallSettings, NetSettings
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    pushes,
    shoot,
    step_netting,
)
from tests.oracle import net as oracle
from tests.stage.goal.test_net import swing

SHOTS = 40
LATER = 5 * 60  # frames until a net must be calm


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


@pytest.mark.parametrize("ground", [0.0, 2.0])
def test_energies_are_those_of_the_oracle(ground: float) -> None:
    rng = np.random.default_rng(4)
    goal = make_goal(ball=BallSettings(ground=ground))
    state = init_netting(goal, 3)
    is_free = goal.sheet.holds != FIXED
    state.nodes[:, is_free] += rng.normal(0, 0.1, state.nodes[:, is_free].shape)
    state.speeds[:, is_free] = rng.normal(0, 2, state.nodes[:, is_free].shape)
    net = oracle.net_of(goal)
    wanted = [
        oracle.energies(net, nodes, speeds)
        for nodes, speeds in zip(state.nodes, state.speeds, strict=True)
    ]
    found = np.stack([kinetic_energy(state), total_energy(state)], 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_energy_is_what_forces_do(goal: Netting) -> None:
    """Its slope is the force: along any small way the two agree."""
    rng = np.random.default_rng(5)
    state = init_netting(goal)
    is_free = goal.sheet.holds != FIXED
    ways = np.zeros_like(goal.hang)
    ways[is_free] = rng.normal(size=(is_free.sum(), 3))
    begin = goal.hang + 0.05 * rng.normal(size=ways.shape) * is_free[:, None]
    energies = []
    for step in (-1e-6, 1e-6):
        state.nodes[0] = begin + step * ways
        energies.append(total_energy(state)[0])
    slope = (energies[1] - energies[0]) / 2e-6
    # What the kernel adds to speeds in a step is the force, divided by the mass.
    net = oracle.net_of(goal)
    net.ground = -1e3
    _, speeds = swing(net, begin, np.zeros_like(begin))
    forces = speeds * goal.net.mass * goal.net.rate
    assert slope == pytest.approx(-(forces * ways).sum(), rel=1e-6)


def test_energy_at_rest_is_the_least(goal: Netting) -> None:
    rng = np.random.default_rng(6)
    state = init_netting(goal, 30)
    rest = total_energy(state)
    assert not kinetic_energy(state).any()
    is_free = goal.sheet.holds != FIXED
    state.nodes[:, is_free] += rng.normal(0, 0.02, state.nodes[:, is_free].shape)
    state.nodes[..., 1] = np.maximum(state.nodes[..., 1], 0)
    assert (total_energy(state) > rest).all()


def follow(state: NettingState, frames: int, is_taken: bool) -> tuple[Any, Any, Any]:
    """Energy of motion, energy in all, and whether balls push, at the end of each
    frame: (frames, N); is_taken: balls are taken away 4 frames after they met a net.
    """
    kinetic, total, pushed = [], [], []
    for _ in range(frames):
        step_netting(state)
        kinetic.append(kinetic_energy(state))
        total.append(total_energy(state))
        who = np.zeros(state.bodies.shape[:2], bool)
        for _, _, own in pushes(state):
            who |= own
        pushed.append(who.any(1))
        met = np.array(pushed)[-4:].all(0) if len(pushed) >= 4 else who.any(1) & False
        if is_taken and met.any():
            shoot(state, (60, 0.11, 60), who=met)
    return np.array(kinetic), np.array(total), np.array(pushed)


def random_state(goal: Netting, seed: int) -> NettingState:
    shots = random_shots(np.random.default_rng(seed), SHOTS, goal)
    state = init_netting(goal, SHOTS)
    shoot(state, shots.places[:, None], shots.velocities[:, None], shots.spins[:, None])
    return state


@pytest.mark.parametrize("is_taken", [False, True])
def test_nets_calm_down_when_the_ball_is_gone(goal: Netting, is_taken: bool) -> None:
    """No energy comes from nowhere, and after five seconds hardly any motion is."""
    state = random_state(goal, 11)
    rest = float(total_energy(state)[0])
    frames = 16 * 60
    kinetic, total, pushed = follow(state, frames, is_taken)
    # The frame after the last in which a ball pushed.
    gone = frames - np.argmax(pushed[::-1], axis=0)
    followed = 0
    is_hit = kinetic.max(0) > 0.1
    for row in np.flatnonzero(is_hit & (gone + LATER < frames)):
        after = total[gone[row] :, row]
        rise = (after - np.minimum.accumulate(after)).max()
        # Of what the shot brought, which is less than what is there at rest.
        assert rise <= 0.001 * (total[:, row].max() - rest)
        peak = kinetic[:, row].max()
        assert (kinetic[gone[row] + LATER :, row] < 0.01 * peak).all()
        assert after[-1] == pytest.approx(rest, abs=0.02 * (total[:, row].max() - rest))
        followed += 1
    assert followed > SHOTS / 2


def test_energy_falls_with_every_step_of_a_free_net(goal: Netting) -> None:
    """Not only from frame to frame: after a hard shot, twice in each."""
    state = init_netting(goal)
    shoot(state, (1, 1.0, 6), (2, 3, -40))
    while not pushes(state):
        step_netting(state)
    step_netting(state, 4)
    net = oracle.net_of(goal)
    nodes, speeds = state.nodes[0], state.speeds[0]
    energies = []
    for _ in range(600):
        energies.append(oracle.energies(net, nodes, speeds)[1])
        nodes, speeds = swing(net, nodes, speeds)
    found = np.array(energies)
    brought = found[0] - found[-1]
    assert brought > 2
    assert (found - np.minimum.accumulate(found)).max() < 0.001 * brought


def test_without_anything_that_slows_a_net_it_does_not_calm_down() -> None:
    """So it is k13 and k14 that do."""
    goal = make_goal(net=NetSettings(k13=0, k14=0))
    state = init_netting(goal)
    shoot(state, (1, 1.0, 6), (2, 3, -40))
    kinetic, _, pushed = follow(state, 8 * 60, is_taken=True)
    gone = len(pushed) - int(np.argmax(pushed[::-1, 0]))
    assert kinetic[gone + LATER :, 0].max() > 0.01 * kinetic[:, 0].max()
