"""Churned sand and water as stages have it: kicks that get faster,
drops that spread, parts that go along in it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.stage.effects.layout import KICK_UP, LANDING, NONE, PLOUGHING
from tests.stage.effects.churn_scenes import foot, live


def test_a_kick_through_sand_throws_by_its_speed() -> None:
    """A foot that leaves slowly, as those of kicks do, and then gets faster."""
    counts = []
    for speed in (1.0, 3.0, 6.0):  # metres a second
        way = [(0, 0.05, 0), (0.001, 0.11, 0)]
        way += [(0.001 + speed / 60 * n, 0.12 + 0.02 * n, 0) for n in range(1, 5)]
        few = foot(*way, touch=1.0, base=600)
        state = foot(*way, *[way[-1]] * 8, touch=1.0, base=600, reach=0.3, life=100)
        assert few.live_count <= 1, "without reach nothing"
        counts.append(int(state._serial[0] + state.left[0, 0, 0]))
    np.testing.assert_allclose(counts, [10, 30, 60], atol=2)
    far = [(0, 0.05, 0), (0.001, 0.5, 0), (0.2, 0.5, 0)]
    assert foot(*far, touch=1.0, reach=0.3).live_count == 0, "it is too high by then"


@pytest.mark.parametrize("event", [LANDING, KICK_UP])
@pytest.mark.parametrize("move", [(0.3, 0.3, 0.1), (0.3, 0.05, 0), (1e-12, 0.4, 0)])
def test_drops_spread_within_a_cone(event: int, move: Any) -> None:
    """Each its own way, none of them down, about one that is no lower than the cone."""
    spread = 0.5
    ways = [(0, -0.01, 0), (move[0], move[1] - 0.01, move[2])]
    if event == LANDING:
        if move[0] > 0:
            return  # these fly in all directions, see above
        ways = [(0, 0.2, 0), (move[0], 0.2 - move[1], move[2])]
    state = foot(*ways, base=1e5, most=4000, spread=spread)
    if move[0] < 1e-9 and event == KICK_UP:
        assert state.live_count == 0, "straight up throws none"
        return
    speeds = state.speeds[live(state)].astype(np.float64)
    speeds = speeds[np.linalg.norm(speeds, axis=1) > 1e-5]
    assert len(speeds) > 1900
    ways = speeds / np.linalg.norm(speeds, axis=1)[:, None]
    assert (ways[:, 1] > -1e-6).all()
    middle = ways.mean(0) / np.linalg.norm(ways.mean(0))
    if event == KICK_UP:
        flat, rise = math.hypot(move[0], move[2]), math.atan2(move[1], 0.3)
        rise = max(math.atan2(move[1], flat), spread)
        wanted = np.array([move[0] / flat, math.tan(rise), move[2] / flat])
        wanted /= np.linalg.norm(wanted)
        assert np.degrees(np.arccos(middle @ wanted)) < 2
        off = np.arccos(np.clip(ways @ wanted, -1, 1))
        assert off.max() <= spread + 1e-5
        # As many in the inner half of the area of the cone as in the outer.
        assert abs((off < spread / math.sqrt(2)).mean() - 0.5) < 0.05
    else:
        assert np.degrees(np.arccos(middle[1])) < 4
        assert np.arccos(ways[:, 1]).max() <= 2 * spread + 1e-5
    assert len(np.unique(ways.round(6), axis=0)) > 0.99 * len(ways), "all different"


def test_who_goes_along_in_it_ploughs() -> None:
    for speed, wanted in ((0.05, 15), (0.1, 30), (0.01, 0)):
        way = [(speed * n, 0.02, 0) for n in range(4)]
        state = foot(*way, base=1000, plough=0.1, touch=1.0, gravity=0.0, life=100)
        assert state.live_count == wanted
        assert state.states[0, 0] == (PLOUGHING if wanted else NONE)
        assert not foot(*way, base=1000, touch=1.0).live_count


def test_a_leg_goes_through_water_with_its_foot_below() -> None:
    for deep, wanted in ((0.3, True), (0.6, False)):
        way = [(0.05 * n, -deep, 0) for n in range(4)]
        state = foot(*way, surface="water", water=0.0, plough=0.1, base=1000)
        assert (state.live_count > 0) == wanted
        assert (state.places[live(state), 1] >= 0).all(), "from the surface"


def test_water_is_thrown_faster_than_sand() -> None:
    way = (0, 0.1, 0), (0.1, -0.1, 0.1)
    sand, water = (
        foot(*way, surface=name, spread=0.4, wet=1.5) for name in ("sand", "water")
    )
    sizes = [np.linalg.norm(own.speeds[live(own)], axis=1) for own in (sand, water)]
    # What is pushed out by the radius is as fast.
    assert (sizes[1] > 1.2 * sizes[0]).all()
    assert (sizes[1] <= 1.5 * sizes[0] + 1e-7).all()
