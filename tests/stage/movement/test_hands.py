"""Hands that come to meet attacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.scene.stage.layout import KINDS
from flexor.stage import hands
from flexor.stage.movement.kernels import hands as kernel_hands
from flexor.stage.movement.layout import Meeting
from tests.api.stage_play import PUNCH_LANDS, fighters, play
from tests.oracle import hits as oracle

Rng = np.random.Generator
PHASES = ("none", "start", "hit", "return")


def test_whose_attack_is_met_is_that_of_the_twin(rng: Rng) -> None:
    """Kernel `find_meeting`."""
    count, rest, ahead = 120, 6.0, math.cos(1.3)
    kinds = np.array([KINDS.index(k) for k in ("attack", "parry", "guard")], np.int8)
    phases = np.array([[10, 14, 30, 0], [4, 18, 25, 0], [2, 8, 9, 1]], np.int32)
    can_be = np.array([True, True, False])
    who = Meeting(
        rng.integers(-1, 3, count).astype(np.int32),
        rng.uniform(0, 20, count),
        rng.integers(0, 4, count).astype(np.int8),
        rng.random(count) < 0.2,
        rng.integers(-1, count, count).astype(np.int32),
        rng.random(count) < 0.7,
        rng.choice([0, 0, 0, 2], count).astype(np.uint8),
        rng.uniform(-1.2, 1.2, (count, 3)),
        rng.uniform(-4, 4, count),
    )
    others, shares = np.empty(count, np.int32), np.empty(count)
    is_any = kernel_hands.find_meeting(
        kinds, phases, can_be, who, rest, ahead, others, shares
    )
    assert is_any
    assert np.count_nonzero(others >= 0) > 5
    for n in range(count):
        is_ready = who.move[n] == 1 and who.down[n] == 0
        is_ready &= PHASES[who.phase[n]] in ("start", "hit")
        found = [
            oracle.meeting_share(
                {0: "attack", 1: "parry", 2: "guard"}.get(who.move[m]),
                PHASES[who.phase[m]],
                phases[who.move[m], 0] - who.at[m],
                bool(can_be[who.move[m]]),
                bool(who.has_met[m]),
                bool(who.opened[m] == n and who.has_parried[n]),
                phases[1, 1] - who.at[n],
                rest,
                who.places[m] - who.places[n],
                who.headings[n],
                ahead,
            )
            if m != n and is_ready
            else 0.0
            for m in range(count)
        ]
        assert shares[n] == pytest.approx(max(found), abs=1e-12)
        assert others[n] == (int(np.argmax(found)) if max(found) > 0 else -1)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.8, 1.0])
def test_a_hand_is_at_the_fist_when_it_is_met(apart: float) -> None:
    stage = play(fighters(apart=apart))
    body = stage.state.bodies[0]
    names = body.plan.layout.skeleton.names
    fist, both = names.index("r-wrist"), [names.index(f"{s}-wrist") for s in "lr"]
    gaps, steps, last = [], [], None
    for tick in range(40):
        stage.step({0: ["B", ""], PUNCH_LANDS - 8: ["", "X"]}.get(tick))
        at = body.world.matrices[..., 3].astype(np.float64)
        gaps.append(np.linalg.norm(at[1, both] - at[0, fist], axis=1).min())
        now = at[1, both]
        if last is not None:
            steps.append(np.linalg.norm(now - last, axis=1).max())
        last = now.copy()
        if stage.state.fight.outcomes[0]:
            break
    assert gaps[-1] < 0.2
    assert max(steps) < 0.16, "and does not jump there"


@pytest.mark.slow
def test_a_hand_stops_before_what_it_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hand's breadth, on the side that it comes from."""
    stage = play(fighters(apart=0.9))
    body = stage.state.bodies[0]
    asked = 0

    def look(
        goals: Any, row: int, part: str, *, node: int, point: Any, **more: Any
    ) -> None:
        nonlocal asked
        hand = body.world.matrices[row, int(body.ends[goals.columns[part]]), :, 3]
        fist = body.world.matrices[0, node].astype(np.float64)
        off = fist[:, :3] @ point
        way = hand - fist[:, 3]
        size = float(np.linalg.norm(way))
        assert row == more["other"] + 1
        np.testing.assert_allclose(off, way / size * min(0.06, size), atol=1e-5)
        asked += 1

    monkeypatch.setattr(hands, "ask_on", look)
    for tick in range(PUNCH_LANDS):
        stage.step({0: ["B", ""], PUNCH_LANDS - 8: ["", "X"]}.get(tick))
    assert asked > 3


def test_a_second_parry_reaches_for_nobody_who_is_open_to_the_first() -> None:
    stage = play(fighters(apart=0.9))
    body = stage.state.bodies[0]
    names = body.plan.layout.skeleton.names
    hands = [names.index(f"{side}-wrist") for side in "lr"]
    script, steps, last = {0: ["B", ""], PUNCH_LANDS - 8: ["", "X"]}, [], None
    for tick in range(60):
        if stage.state.fight.outcomes[0]:
            script[tick + 20] = ["", "X"]
        stage.step(script.get(tick))
        now = body.world.matrices[1, hands, :, 3] - stage.places[1]
        if last is not None:
            steps.append(float(np.linalg.norm(now - last, axis=1).max()))
        last = now
        is_again = tick > min(script) + 20 and stage.doing(1) == "parry"
        if is_again and int(stage.state.fight.stun[0]) > 0:
            assert stage.state.hits.met[1] < 0
    assert len(script) == 3, "it was parried"
    assert max(steps) < 0.2
