"""Who was parried is thrown back, part by part."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.pose.model_space import world_from_local
from flexor.scene.stage.settings import FightSettings, ParrySettings
from flexor.stage.motion.kernels import lean as kernel_lean
from flexor.stage.motion.lean import lean
from tests.api.stage_play import PUNCH_LANDS, fighters, play
from tests.oracle import lean as oracle

Rng = np.random.Generator


def test_leans_are_those_of_the_twin(rng: Rng) -> None:
    """Kernel `step_leans`."""
    count = 300
    opened = rng.integers(-1, 3, count).astype(np.int32)
    stun = rng.integers(0, 50, count).astype(np.int32)
    ticks = rng.integers(0, 50, count).astype(np.int32)
    leans = rng.choice([0.0, 0.05, 0.5, 1.0], count)
    before = leans.copy()
    is_any = kernel_lean.step_leans(opened, stun, ticks, leans)
    for n in range(count):
        wanted = oracle.step_lean(opened[n], stun[n], ticks[n], before[n])
        assert leans[n] == pytest.approx(wanted, abs=1e-12)
    assert is_any
    assert not kernel_lean.step_leans(opened - 9, stun, ticks, np.zeros(count))


@pytest.mark.parametrize("is_mirrored", [False, True])
def test_parts_are_turned_as_the_twin_turns_them(is_mirrored: bool) -> None:
    """Kernel `lean_back`: each by its own angle, and those above it by theirs too."""
    angles = {"trunk": 0.3, "head": 0.2, "arms": 0.6}
    plan = fighters(fight=FightSettings(parry=ParrySettings(**angles)))
    stage = play(plan)
    state, body = stage.state, stage.state.bodies[0]
    names = body.plan.layout.skeleton.names
    if is_mirrored:  # as a body is whose nodes are scaled by less than 0
        body.world.places[:, 0, :3] *= -1
        world_from_local(body.world, body.player.local)
    before = body.world.matrices[:, :, :, :3].astype(np.float64)
    state.fight.leans[:] = 0.0, 0.7
    lean(state, body)
    after = body.world.matrices[:, :, :, :3].astype(np.float64)
    heading = float(state.headings[1])
    np.testing.assert_array_equal(after[0], before[0])
    for part, angle in (
        ("hips", 0.0),
        ("chest", 0.3),
        ("head", 0.5),
        ("l-arm", 0.9),
        ("r-elbow", 0.9),
    ):
        j = names.index(part)
        wanted = oracle.turned(before[1, j], heading, 0.7 * angle)
        np.testing.assert_allclose(after[1, j], wanted, atol=2e-5)


@pytest.mark.slow
def test_who_is_parried_is_thrown_back_and_returns_bit_by_bit() -> None:
    leans, heads = [], {}
    for name, parry in (
        ("usual", ParrySettings()),
        ("none", ParrySettings(trunk=0.0, head=0.0, arms=0.0)),
    ):
        stage = play(fighters(fight=FightSettings(parry=parry)))
        names = stage.state.bodies[0].plan.layout.skeleton.names
        found = []
        for tick in range(110):
            stage.step({0: ["B", ""], PUNCH_LANDS - 6: ["", "X"]}.get(tick))
            found.append(
                stage.state.bodies[0]
                .world.matrices[0, names.index("head"), :, 3]
                .copy()
            )
            if name == "usual":
                leans.append(float(stage.state.fight.leans[0]))
        heads[name] = np.array(found)
    assert max(leans) > 0.9
    assert leans[-1] == 0
    assert np.abs(np.diff(leans)).max() <= 0.25
    back = heads["none"][:, 0] - heads["usual"][:, 0]  # red looks along x
    top = int(np.argmax(leans))
    assert 0.05 < back[top] < 0.3, "metres"
    assert abs(back[-1]) < 0.01
    assert math.isclose(heads["none"][0, 0], heads["usual"][0, 0])
