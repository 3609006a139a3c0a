"""Moves that carry who does them ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.stage import Stage
from flexor.errors import ShapeError
from flexor.samples import mannequin
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.stage.movement.moves import go_ahead, init_moves, lay_out_moves
from tests.oracle.moves import gone_ahead
from tests.stage.movement.move_ring import table_of

MOVES = (
    Move("lunge", 10, 4, 8, advance=0.6),
    Move("leap back", 7, 4, 8, advance=-0.4),
    Move("stand", 5, 4, 8),
    Move("at once", 0, 4, 8, advance=1.0),
)


def test_against_the_slow_twin() -> None:
    rng = np.random.default_rng(3)
    tables, count = lay_out_moves(MoveTable(MOVES)), 300
    state = init_moves(count)
    state.move[:] = rng.integers(-1, len(MOVES), count)
    state.at[:] = rng.choice([0.0, 0.5, 3.0, 9.9, 10.0, 10.4, 13.0, 21.0], count)
    clocks = rng.choice([0.0, 0.5, 1.0, 1.75], count)
    headings, radii = rng.uniform(-4, 4, count), rng.uniform(0.2, 0.4, count)
    opponents = rng.integers(-1, count, count).astype(np.int32)
    places = rng.uniform(-1, 1, (count, 3))
    wanted = places.copy()
    for row in range(count):
        if state.move[row] < 0:
            continue
        other, apart = None, 0.0
        if opponents[row] >= 0:
            foe = opponents[row]
            other = (wanted[foe, 0], wanted[foe, 2])
            apart = radii[row] + radii[foe]
        wanted[row, [0, 2]] = gone_ahead(
            MOVES[state.move[row]],
            state.at[row],
            clocks[row],
            headings[row],
            (wanted[row, 0], wanted[row, 2]),
            other,
            apart,
        )
    go_ahead(tables, state, clocks, headings, opponents, radii, places)
    np.testing.assert_allclose(places, wanted, atol=1e-12)


def test_arrays_that_are_refused() -> None:
    tables, state = lay_out_moves(table_of()), init_moves(2)
    own: dict[str, Any] = {
        "clocks": np.ones(2),
        "headings": np.zeros(2),
        "opponents": np.zeros(2, np.int32),
        "radii": np.ones(2),
        "places": np.zeros((2, 3)),
    }
    go_ahead(tables, state, **own)
    for name, values in own.items():
        with pytest.raises(ShapeError, match=f"{name}: shape"):
            go_ahead(tables, state, **own | {name: np.resize(values, (5, 3))})


def lunge(apart: float, advance: float, clock: float = 1.0) -> Stage:
    """Red has done a lunge toward blue."""
    move = Move("lunge", 12, 4, 8, "punch", parts=("rightHand",), advance=advance)
    cast = (
        Actor(name="red", heading=np.pi / 2, place=(-apart, 0)),
        Actor(name="blue", control="none"),
    )
    moves = MoveTable((move,), singles={"B": "lunge"})
    plan = StagePlan(cast=cast, moves=moves)
    stage = Stage(plan, characters={"mannequin": mannequin()})
    stage.state.clocks[0] = clock
    for tick in range(40):
        stage.step(["B" if tick == 0 else ""])
    return stage


@pytest.mark.parametrize("clock", [1.0, 0.5, 1.75])
def test_it_goes_as_far_as_it_says(clock: float) -> None:
    stage = lunge(4.0, 0.5, clock)
    assert stage.places[0].tolist() == pytest.approx([-3.5, 0, 0], abs=1e-9)


def test_it_stops_at_the_opponent() -> None:
    stage = lunge(1.0, 0.9)
    apart = float(stage.state.radii.sum())
    assert stage.places[0, 0] == pytest.approx(-apart - 0.02, abs=0.01)
    assert abs(stage.places[1, 0]) < 0.01


def test_moves_that_go_nowhere_cost_nothing() -> None:
    names = [name for name, _ in lunge(2.0, 0.0).state.rules]
    assert "advance" not in names
    assert "advance" in [name for name, _ in lunge(2.0, -0.1).state.rules]
