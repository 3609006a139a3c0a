"""Matches of some seeds, briefly, in hard limits; `tools.match` plays them long."""

from __future__ import annotations

import pytest

from flexor import samples
from flexor.bench.played.faults import Found
from flexor.bench.played.matches import arena_stage, play_match
from flexor.bench.played.parries import play_parries

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

DEEPEST_LIMB, DEEPEST_FOOT = 0.12, 0.09  # metres


@pytest.fixture(scope="module")
def found() -> Found:
    hero, found = samples.fighter(), Found()
    for seed in range(3):
        found.add(play_match(hero, seed, 12))
    return found


def test_nobody_leaves_the_ring_and_all_numbers_are_finite(found: Found) -> None:
    assert found.ticks > 2000
    assert (found.strayed, found.broken) == (0, 0)


def test_limbs_and_feet_stay_out(found: Found) -> None:
    assert found.deepest_limb < DEEPEST_LIMB
    assert found.deepest_foot < DEEPEST_FOOT


def test_fighters_are_in_the_picture(found: Found) -> None:
    assert found.outside <= 0.02 * found.ticks
    assert found.hidden <= 0.02 * found.ticks


def test_attacks_are_made(found: Found) -> None:
    assert found.attacks >= 10
    assert found.contacts > 0
    assert found.throws > 0
    assert found.falls > 0


def test_parries_are_played() -> None:
    parries = play_parries(arena_stage(samples.fighter()))
    assert parries.met >= 0.9 * parries.tried > 0
    assert parries.answered >= 0.9 * parries.met
