"""What opponents learn of others, from sights that are made up."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.games.match.habits import FORGET, Habits
from flexor.games.match.senses import Sight

PUNCH, KICK, GUARD, THROW = range(4)
STRIKES = np.array([True, True, False, True])
THROWS = np.array([False, False, False, True])
LASTS = 20  # ticks of a move


def play(habits: Habits, *begun: tuple[int, int], until: int = 0) -> None:
    """Show one who begins moves (tick, move), each until its end or the next one."""
    ends = until or begun[-1][0] + LASTS + 1
    for tick in range(ends):
        own = [(at, move) for at, move in begun if at <= tick < at + LASTS]
        at, move = own[-1] if own else (tick, -1)
        sight = Sight(
            np.zeros((2, 3)),
            np.zeros(2),
            np.array([-1, move], np.int32),
            np.array([0.0, tick - at]),
            np.ones(2, bool),
            np.ones(2, bool),
            np.ones(2, bool),
        )
        habits.watch(sight, tick, STRIKES, THROWS)


def test_what_follows_is_known_by_what_was_before() -> None:
    habits = Habits(2)
    play(habits, (100, PUNCH), (112, PUNCH), (124, KICK), (300, GUARD))
    assert habits.strikes.tolist() == [-1, KICK]
    assert habits.began.tolist() == [-FORGET, 124]
    habits.set_back()
    # The same again, felt before it is seen.
    assert habits.next_after(1, PUNCH, 50) == (PUNCH, 12)
    play(habits, (50, PUNCH), until=55)
    assert habits.next_after(1, PUNCH, 50) == (PUNCH, 12)
    assert habits.next_after(1, PUNCH, 62) == (KICK, 12)
    assert habits.next_after(1, KICK, 74) is None
    assert habits.next_after(0, PUNCH, 50) is None
    # What is not known with what was before is known by itself.
    assert habits.next_after(1, PUNCH, 50 + FORGET) == (PUNCH, 12)


def test_what_comes_late_follows_on_nothing() -> None:
    habits = Habits(2)
    play(habits, (10, PUNCH), (11 + FORGET, KICK))
    assert habits.next_after(1, PUNCH, 10) is None


def test_who_strikes_as_soon_as_it_can_is_known() -> None:
    eager, calm = Habits(2), Habits(2)
    play(eager, *((22 * number, PUNCH) for number in range(8)))
    play(calm, *((70 * number, PUNCH) for number in range(8)))
    chained = Habits(2)
    play(chained, *((12 * number, PUNCH) for number in range(8)))
    assert eager.pressure(1) > 0.9
    assert chained.pressure(1) > 0.9
    assert calm.pressure(1) < 0.4
    assert eager.pressure(0) == 0
    eager.set_back()
    assert eager.pressure(1) > 0.9, "it is the same one, in another round"


def test_who_waits_for_long_is_no_longer_feared() -> None:
    """Also behind a guard; else two who pressed each other would guard for ever."""
    hits = [(22 * number, PUNCH) for number in range(8)]
    after = [(176 + LASTS * number, GUARD) for number in range(15)]
    free, guarding = Habits(2), Habits(2)
    play(free, *hits, until=hits[-1][0] + 2 * FORGET + 40)
    play(guarding, *hits, *after)
    assert free.pressure(1) < 0.45
    assert guarding.pressure(1) < 0.45
    play(free, *((900 + at, move) for at, move in hits))
    assert free.pressure(1) > 0.9, "until it does it again"


@pytest.mark.parametrize(("moves", "share"), [((THROW,), 0.9), ((PUNCH,), 0.0)])
def test_who_throws_is_known(moves: tuple[int, ...], share: float) -> None:
    habits = Habits(2)
    play(habits, *((30 * number, moves[0]) for number in range(9)))
    assert habits.throws(1) >= share
    assert habits.throws(1) <= 1 if share else habits.throws(1) == 0


def test_who_is_never_free_between_two_strikes_has_not_waited() -> None:
    """However long its strikes are."""
    chained = Habits(2)
    play(chained, *((LASTS * number, PUNCH) for number in range(8)))
    assert chained.pressure(1) > 0.9


def test_a_round_begins_with_nobody_known_to_wait() -> None:
    calm = Habits(2)
    play(calm, *((70 * number, PUNCH) for number in range(1, 8)))
    before = calm.pressure(1)
    calm.set_back()
    play(calm, (70, PUNCH))
    assert calm.pressure(1) <= before
