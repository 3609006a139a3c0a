"""The flow of a game, as a table of presses and phases."""

from __future__ import annotations

from typing import Any

import pytest

from flexor.games.match.flow import (
    BETWEEN,
    DRAW,
    END_SECONDS,
    MOST_CREDITS,
    OVER_SECONDS,
    READY_SECONDS,
    Flow,
)
from flexor.scene.stage.game import GameSettings

RATE = 60
READY = round(READY_SECONDS * RATE) + 1
OVER = round(OVER_SECONDS * RATE) + 1
WAIT = BETWEEN + 1


def make(sides: int = 2, payers: int = 1, **words: Any) -> Flow:
    return Flow(GameSettings(**words), sides, payers, frozenset(range(payers)))


def run(flow: Flow, what: str, ticks: int = 1) -> set[str]:
    """Let something happen: "", "coin", "start", or the side that wins, -1: nobody."""
    heard: set[str] = set()
    for _ in range(ticks):
        verdict = int(what) if what.lstrip("-").isdigit() else None
        verdict = verdict if flow.phase == "fight" else None
        heard.update(flow.step(int(what == "coin"), what == "start", verdict))
    return heard


# What happens, for how many ticks, and then: phase, credits, wins, what is heard of it.
Rows = tuple[tuple[str, int, str, int, list[int], set[str]], ...]
ARCADE: Rows = (
    ("start", WAIT, "title", 0, [0, 0], set()),  # no coin, no game
    ("coin", 1, "title", 1, [0, 0], {"coin"}),
    ("coin", 1, "title", 2, [0, 0], {"coin"}),
    ("start", 1, "ready", 1, [0, 0], {"start", "begin"}),
    ("start", READY, "fight", 1, [0, 0], {"fight"}),
    ("", 600, "fight", 1, [0, 0], set()),
    ("1", 1, "round over", 1, [0, 1], {"win"}),
    ("start", OVER, "ready", 1, [0, 1], {"begin"}),
    ("", READY, "fight", 1, [0, 1], {"fight"}),
    ("1", 1, "round over", 1, [0, 2], {"win"}),
    ("", OVER, "continue", 1, [0, 2], set()),
    ("", 3 * RATE, "continue", 1, [0, 2], {"count"}),
    ("start", 1, "ready", 0, [0, 0], {"start", "begin"}),  # the last coin goes on
    ("", READY, "fight", 0, [0, 0], {"fight"}),
    ("1", 1, "round over", 0, [0, 1], {"win"}),
    ("", OVER, "ready", 0, [0, 1], {"begin"}),
    ("", READY, "fight", 0, [0, 1], {"fight"}),
    ("1", 1, "round over", 0, [0, 2], {"win"}),
    ("", OVER, "continue", 0, [0, 2], set()),
    ("start", WAIT, "continue", 0, [0, 2], set()),  # without a coin
    ("coin", 1, "continue", 1, [0, 2], {"coin"}),
    ("start", 1, "ready", 0, [0, 0], {"start", "begin"}),
    ("", READY, "fight", 0, [0, 0], {"fight"}),
    ("0", 1, "round over", 0, [1, 0], {"win"}),
    ("", OVER + READY, "fight", 0, [1, 0], {"begin", "fight"}),
    ("0", 1, "round over", 0, [2, 0], {"win"}),
    ("", OVER, "game over", 0, [2, 0], set()),  # who has won need not go on
    ("start", WAIT, "title", 0, [0, 0], {"title"}),
)
FREE: Rows = (
    ("start", BETWEEN, "title", 0, [0, 0], set()),  # a press of before
    ("coin", 5, "title", 0, [0, 0], set()),  # nobody takes them
    ("start", 1, "ready", 0, [0, 0], {"start", "begin"}),
    ("", READY, "fight", 0, [0, 0], {"fight"}),
    ("-1", 1, "round over", 0, [0, 0], {"win"}),
    ("", OVER + READY, "fight", 0, [0, 0], {"begin", "fight"}),
    ("1", 1, "round over", 0, [0, 1], {"win"}),
    ("", OVER + READY, "fight", 0, [0, 1], {"begin", "fight"}),
    ("1", 1, "round over", 0, [0, 2], {"win"}),
    ("", OVER, "game over", 0, [0, 2], set()),
    ("", round(END_SECONDS * RATE) + 1, "title", 0, [0, 0], {"title"}),
)


@pytest.mark.parametrize(("coins", "rows"), [(True, ARCADE), (False, FREE)])
def test_presses_and_phases(coins: bool, rows: Rows) -> None:
    flow = make(coins=coins)
    for number, (what, ticks, *wanted) in enumerate(rows):
        heard = run(flow, what, ticks)
        found = [flow.phase, flow.credits, flow.wins, heard]
        assert found == wanted, f"row {number}"


def test_who_does_not_go_on_sees_the_title() -> None:
    flow = make(coins=True, countdown=3)
    run(flow, "coin")
    run(flow, "", WAIT)
    run(flow, "start")
    for _ in range(2):
        run(flow, "", READY)
        run(flow, "1")
        run(flow, "", OVER)
    assert flow.phase == "continue"
    seen = []
    while flow.phase == "continue":
        seen.append(flow.countdown)
        run(flow, "")
    assert list(dict.fromkeys(seen)) == [3, 2, 1]
    assert len(seen) == 3 * RATE
    assert flow.phase == "game over"
    run(flow, "", round(END_SECONDS * RATE) + 1)
    assert flow.phase == "title"


def test_two_players_pay_two_coins() -> None:
    flow = make(payers=2, coins=True)
    run(flow, "", WAIT)
    run(flow, "coin")
    run(flow, "start")
    assert flow.phase == "title"
    run(flow, "coin")
    run(flow, "start")
    assert (flow.phase, flow.credits) == ("ready", 0)
    run(flow, "coin", 200)
    assert flow.credits == MOST_CREDITS


def test_the_clock_of_a_round() -> None:
    flow = make(seconds=10)
    run(flow, "", WAIT)
    run(flow, "start")
    assert flow.seconds_left == 10
    run(flow, "", READY)
    assert not flow.is_late
    run(flow, "", 4 * RATE)
    assert flow.seconds_left == pytest.approx(6, abs=0.02)
    run(flow, "0")
    left = flow.seconds_left
    assert left == pytest.approx(6, abs=0.05), "it does not jump"
    run(flow, "", OVER - 1)
    assert (flow.phase, flow.seconds_left) == ("round over", left)
    run(flow, "", READY + 1)
    run(flow, "", 10 * RATE)
    assert flow.is_late
    endless = make(seconds=0)
    run(endless, "", WAIT)
    run(endless, "start")
    run(endless, "", READY + 10_000)
    assert endless.phase == "fight"
    assert not endless.is_late


def test_one_alone_has_no_rounds() -> None:
    flow = make(sides=1)
    run(flow, "", WAIT)
    assert run(flow, "start") == {"start", "begin"}
    assert flow.phase == "fight"
    run(flow, "", 100 * RATE)
    assert flow.phase == "fight"
    assert not flow.is_late


def test_three_sides_end_after_as_many_rounds_as_can_be_needed() -> None:
    flow = make(sides=3)
    run(flow, "", WAIT)
    run(flow, "start")
    for winner in ("0", "1", "2"):
        run(flow, "", READY)
        run(flow, winner)
        run(flow, "", OVER)
    assert (flow.phase, flow.wins, flow.round) == ("ready", [1, 1, 1], 4)
    run(flow, "", READY)
    run(flow, "2")
    run(flow, "", OVER)
    assert (flow.phase, flow.winner) == ("game over", 2)


def test_a_match_that_ends_even_is_nobodys() -> None:
    flow = make(rounds=2)
    run(flow, "start", WAIT)
    for verdict in ("0", "1", "-1"):
        run(flow, "", READY)
        run(flow, verdict)
        assert flow.phase == "round over"
        run(flow, "", OVER)
    assert (flow.phase, flow.wins, flow.winner) == ("game over", [1, 1], DRAW)
