"""Who fights whom: the nearest, chosen again every so often, never of one's team."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.scene.stage.settings import FightSettings
from flexor.stage.movement.kernels import opponents as kernel_opponents
from tests.api.stage_play import play
from tests.oracle import opponents as oracle

Rng = np.random.Generator


@pytest.mark.parametrize("count", [0, 1, 2, 5, 41])
def test_choices_are_those_of_the_twin(rng: Rng, count: int) -> None:
    """Kernel `choose_nearest`."""
    for every, first in ((1, 0), (3, 1), (60, 59)):
        places = rng.normal(size=(count, 3))
        looks, can_be = rng.random((2, count)) < 0.7
        teams = rng.integers(-1, 3, count).astype(np.int32)
        before = rng.integers(-1, max(count, 1), count).astype(np.int32)
        after = before.copy()
        changed = kernel_opponents.choose_nearest(
            places, looks, can_be, teams, 0.8, first, every, after
        )
        for n in range(count):
            wanted = before[n]
            if looks[n] and n % every == first:
                wanted = oracle.choose_nearest(n, places, can_be, teams, 0.8, before[n])
            assert after[n] == wanted
        assert changed == (after != before).sum()


def three(**more: object) -> StagePlan:
    """One who looks for the nearest, and two at either side, 2 m away."""
    cast = (
        Actor(name="red", control="none", team="a"),
        Actor(name="one", place=(2, 0), control="none", opponent="red", team="b"),
        Actor(name="two", place=(-2.01, 0), control="none", opponent="red", team="b"),
        Actor(name="mate", place=(0, 1), control="none", team="a"),
    )
    return StagePlan(cast=cast, fight=FightSettings(**more))  # type: ignore[arg-type]


def test_the_nearest_is_chosen_again_after_a_while_and_does_not_flicker() -> None:
    stage = play(three())
    assert stage.opponents.tolist() == [1, 0, 0, 1], "never a mate"
    for tick in range(200):  # now the one, now the other is a little nearer
        stage.places[1, 0] = 2.0 + 0.2 * (tick % 40 > 20)
        stage.step()
        assert stage.opponents[0] == 1
    stage.places[2, 0] = -1.0
    seen = []
    for _ in range(120):
        stage.step()
        seen.append(int(stage.opponents[0]))
    assert seen[-1] == 2
    assert np.count_nonzero(np.diff(seen)) == 1
    assert seen.index(2) <= stage.plan.fight.nearest_ticks


def test_it_may_be_left_alone() -> None:
    stage = play(three(nearest_ticks=0))
    assert "opponents" not in [name for name, _ in stage.state.rules]
    stage.places[2, 0] = -0.8
    for _ in range(80):
        stage.step()
    assert stage.opponents[0] == 1


def test_who_is_in_a_move_goes_on_with_the_one_it_has() -> None:
    wait = Move("wait", 200, 1, 20, "stance", kind="guard")
    moves = MoveTable((wait,), singles={"A": "wait"})
    plan = three()
    cast = (replace(plan.cast[0], moves=moves), *plan.cast[1:])
    stage = play(replace(plan, cast=cast))
    stage.step(["A"])
    stage.places[2, 0] = -1.0
    for _ in range(stage.plan.fight.nearest_ticks + 2):
        stage.step(["A"])
        assert stage.opponents[0] == 1
    for _ in range(400):
        stage.step()
    assert stage.opponents[0] == 2


def test_who_is_beaten_has_not_won() -> None:
    """Also if its opponent, whom the plan names, is beaten with it."""
    cast = (
        Actor(name="red", opponent="blue"),
        Actor(name="blue", place=(2, 0), opponent="red"),
    )
    for beaten, won in ((1, [True, False]), (None, [False, False])):
        stage = play(StagePlan(cast=cast))
        stage.energy[slice(None) if beaten is None else beaten] = 0
        stage.step()
        assert stage.state.has_won.tolist() == won
