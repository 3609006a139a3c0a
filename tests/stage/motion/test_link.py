"""Strikes that follow a target which leaves their track."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.api.stage import Stage
from flexor.maths.records import check_record
from flexor.samples import mannequin
from flexor.scene.stage.layout import ATTACK, KINDS
from flexor.scene.stage.moves import HEIGHTS, Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.stage.motion.kernels import link as kernel_link
from flexor.stage.motion.layout import NOTHING, TRUNK, Aims, Strikes, Touch
from tests.oracle import link as oracle

Rng = np.random.Generator


@functools.cache
def hero() -> Character:
    return mannequin()


def test_heights_have_the_numbers_of_their_words() -> None:
    numbers = (kernel_link.HIGH, kernel_link.MID, kernel_link.LOW, kernel_link.JUMP)
    assert [HEIGHTS[number] for number in numbers] == ["high", "mid", "low", "jump"]


@pytest.mark.parametrize("rises", [1, -1])
@pytest.mark.parametrize(("impact", "region"), [(24, 2), (160, 10)])
def test_strikes_are_bent_as_by_the_twin(
    rng: Rng, impact: int, region: int, rises: int
) -> None:
    """Trunks that come up, and that go down."""
    bent = 0
    for height, word in enumerate(HEIGHTS):
        count, most, limbs = 3, 5, 2
        parts = rng.choice([NOTHING, TRUNK], (count, most)).astype(np.int8)
        parts[:, 0] = TRUNK
        touch = check_record(
            Touch(
                parts,
                np.full((count, most), -1, np.int32),
                np.full((count, most), 0.1),
                np.ones((count, limbs)),
                np.zeros((count, limbs)),
                rng.uniform(-1, 1, (count, most, 2, 3)),
                np.zeros((count, limbs, 2, 3)),
                np.zeros((count, limbs, 3)),
            )
        )
        aims = check_record(
            Aims(
                np.full(count, -1, np.int32),
                np.zeros((count, most, 3)),
                np.zeros((count, limbs, 3)),
            )
        )
        at, started = np.zeros(count), np.array([0, -1, 0], np.int32)
        has_met, outcomes = np.zeros(count, bool), np.zeros(count, np.int8)
        strikes = check_record(
            Strikes(
                np.array([0, -1, 0], np.int32),
                at,
                started,
                np.array([2, 0, 1], np.int32),
                has_met,
                outcomes,
                np.array([ATTACK], np.int8),
                np.array([height], np.int8),
                np.array([[impact, impact + 6, 50, 0]], np.int32),
            )
        )
        rows, lifted = np.array([2, 0, 1], np.int32), np.array([[0.0, 1.0], [0, 0]])
        places, headings = rng.uniform(-1, 1, (count, 3)), rng.uniform(-3, 3, count)
        near = np.ones(count, bool)
        marks: dict[int, Any] = {}
        for tick in range(impact + 16):
            at[:] = tick
            if tick == 0:
                for n, m in ((0, 2), (2, 1)):
                    own = touch.ends[m].mean(1)[parts[m] == TRUNK]
                    marks[n] = oracle.take_aim(own, places[n], headings[n], places[m])
            elif tick == 1:
                started[:] = -1
            else:
                has_met[2], outcomes[2] = tick >= impact + 3, tick == impact + 3
                moved = rng.uniform(-0.01, 0.015, touch.ends.shape)
                touch.ends[...] += moved * (1, rises, 1)
                places += rng.uniform(-0.005, 0.005, places.shape)
                headings += 0.003
            tips = rng.uniform(-1, 1, (count, limbs, 3)).astype(np.float32)
            before = aims.bends.copy()
            is_any = kernel_link.bend_strikes(
                rows, lifted, places, headings, near, tips, strikes, touch, aims
            )
            assert is_any == aims.bends.any()
            assert not aims.bends[:, 0].any(), "that limb does not strike"
            assert not aims.bends[1].any(), "nor does that one"
            for n, m in ((0, 2), (2, 1)):
                got = aims.bends[n, 1]
                if not impact - region < tick < impact + 6:
                    gone = np.abs(before[n, 1]).sum() * 0.8 < 1e-3
                    wanted = np.zeros(3) if gone else before[n, 1] * 0.8
                elif has_met[n] and not outcomes[n]:
                    wanted = before[n, 1]
                else:
                    wanted = oracle.bend_strike(
                        tips[int(np.flatnonzero(rows == n)[0]), 1].astype(np.float64),
                        marks[n],
                        touch.ends[m].mean(1)[parts[m] == TRUNK],
                        places[n], headings[n], places[m], tick, impact, word,
                    )  # fmt: skip
                    bent += 1
                np.testing.assert_allclose(got, wanted, atol=1e-6)
    assert bent > 45


PUNCH = Move("punch", 20, 6, 30, parts=("rightHand", "rightLowerArm"), damage=5)


def punched(
    aside: float, nearer: float = 0.0, *, after: int = 4, apart: float = 0.85
) -> tuple[Any, Any]:
    """A punch at one who goes aside, or nearer: where the fist is, tick by tick, and
    outcomes.
    """
    moves = MoveTable((PUNCH,), singles={"B": "punch"})
    cast = (
        Actor(name="red", place=(-apart / 2, 0.0), heading=np.pi / 2, control="none"),
        Actor(name="blue", place=(apart / 2, 0.0), heading=-np.pi / 2, control="none"),
    )
    stage = Stage(StagePlan(cast=cast, moves=moves), characters={"mannequin": hero()})
    body = stage.state.bodies[0]
    limb = body.goals.columns["rightHand"]
    seen, outcomes = [], 0
    for _ in range(5):
        stage.step()
    for tick in range(70):
        if after <= tick < after + 5:
            stage.places[1, 2] += aside / 5
            stage.places[1, 0] -= nearer / 5
        stage.step(["B" if tick == 0 else ""])
        heading = stage.headings[0] - np.pi / 2
        assert heading == pytest.approx(0, abs=0.5)
        seen.append(body.world.matrices[0, body.ends[limb], :, 3].copy())
        outcomes += int((stage.state.fight.outcomes != 0).sum())
    return np.array(seen), outcomes


@pytest.mark.slow
def test_a_punch_follows_one_who_goes_aside_but_not_far() -> None:
    straight, met = punched(0.0)
    assert met == 1
    for aside, most in ((0.12, 0.12), (0.6, 0.25)):
        bent, _ = punched(aside)
        off = (bent - straight)[:, 2]
        # Up to the link region, the last 2 of 20 ticks, nothing is bent.
        assert off[:18].max() < 1e-3
        assert off[20:24].max() <= most + 0.02
        assert off[20:24].max() > 0.6 * most
        assert np.abs(off[-1]) < 0.01, "it comes back"
        assert np.linalg.norm(np.diff(bent, axis=0), axis=1).max() < 0.3


@pytest.mark.slow
def test_a_punch_is_not_drawn_back_from_one_who_comes_nearer() -> None:
    """Who comes into reach is met, by a fist that is out as far as its clip has it."""
    alone, missed = punched(0.0, apart=1.6)
    assert missed == 0
    seen, met = punched(0.0, 0.4, apart=1.6)
    assert met == 1
    np.testing.assert_allclose(seen[:, 0], alone[:, 0], atol=1e-5)


@pytest.mark.slow
def test_a_fist_does_not_follow_who_it_has_struck() -> None:
    """Who is struck reels back; the fist is where it would be in the empty air."""
    straight, met = punched(0.0, apart=1.0)
    assert met == 1
    alone, missed = punched(0.0, apart=3.0)
    assert missed == 0
    np.testing.assert_allclose(straight - (1.0, 0, 0), alone, atol=1e-5)


def test_kinds_know_attacks() -> None:
    assert KINDS[ATTACK] == "attack"
