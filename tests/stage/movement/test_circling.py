"""Walking, and circling around an opponent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.stage.movement.circling import walk
from tests.oracle import movement as oracle

Rng = np.random.Generator
DT = 1 / 60


def step(
    places: np.ndarray,
    headings: np.ndarray,
    asked: np.ndarray,
    *,
    opponents: tuple[int, ...] = (1, 0),
    circling: tuple[bool, ...] = (True, False),
    clocks: tuple[float, ...] = (1.0, 1.0),
    paces: tuple[float, ...] = (1.0, 1.0),
) -> None:
    walk(
        DT,
        np.array(clocks),
        np.array(opponents, np.int32),
        np.array(circling),
        asked,
        np.array(paces),
        places,
        headings,
    )


@pytest.mark.parametrize("speed", [-9.9, -1.0, 0.3, 2.0, 9.9])
@pytest.mark.parametrize("radius", [0.5, 2.0, 7.0])
def test_the_distance_does_not_drift_in_ten_turns(speed: float, radius: float) -> None:
    places = np.array([[0.3, 0.0, radius - 0.2], [0.3, 1.0, -0.2]])
    headings, asked = np.zeros(2), np.array([[0.0, speed], [0.0, 0.0]])
    turned, before = 0.0, 0.0
    for _ in range(200_000):
        step(places, headings, asked)
        dx, dz = places[0, 0] - 0.3, places[0, 2] + 0.2
        assert abs(math.hypot(dx, dz) / radius - 1) < 1e-9
        assert headings[0] == pytest.approx(math.atan2(-dx, -dz), abs=1e-9)
        now = math.atan2(dx, dz)
        turned += (now - before + math.pi) % (2 * math.pi) - math.pi
        before = now
        if abs(turned) > 20 * math.pi:
            break
    assert abs(turned) > 20 * math.pi
    assert places[1].tolist() == [0.3, 1.0, -0.2], "the other one stays"


def test_right_is_right() -> None:
    places, headings = np.array([[0.0, 0, 2], [0, 0, 0]]), np.zeros(2)
    step(places, headings, np.array([[0.0, 1.0], [0, 0]]))
    assert places[0, 0] > 0, "who looks along -z has +x at its right"
    # Without circling the same, as seen from its heading.
    places, headings = np.array([[0.0, 0, 2], [0, 0, 0]]), np.array([math.pi, 0])
    step(places, headings, np.array([[0.0, 1.0], [0, 0]]), circling=(False, False))
    assert places[0, 0] == pytest.approx(DT)
    assert headings[0] == math.pi


def test_forward_comes_nearer_but_not_through() -> None:
    places, headings = np.array([[0.0, 0, 2], [0, 0, 0]]), np.zeros(2)
    step(places, headings, np.array([[3.0, 0.0], [0, 0]]))
    assert places[0, 2] == pytest.approx(2 - 3 * DT)
    for _ in range(100):
        step(places, headings, np.array([[3.0, 0.0], [0, 0]]))
    assert np.hypot(places[0, 0], places[0, 2]) < 0.06


def test_on_one_spot_the_heading_is_kept_and_all_is_finite() -> None:
    places, headings = np.zeros((2, 3)), np.array([0.7, -0.2])
    step(places, headings, np.array([[0.0, 2.0], [0, 0]]), circling=(True, True))
    assert headings[0] == 0.7
    assert np.isfinite(places).all()
    assert np.hypot(places[0, 0], places[0, 2]) == pytest.approx(2 * DT)


def test_clocks_and_ground_slow_down() -> None:
    whole, half = (np.array([[0.0, 0, 2], [0, 0, 0]]) for _ in range(2))
    asked = np.array([[1.0, 0.0], [0, 0]])
    step(whole, np.zeros(2), asked)
    step(half, np.zeros(2), asked, clocks=(0.5, 1.0))
    step(half, np.zeros(2), asked, paces=(0.5, 1.0))
    np.testing.assert_allclose(half, whole, atol=1e-12)


def test_every_step_is_that_of_the_twin(rng: Rng) -> None:
    count = 200
    places = rng.normal(size=(count, 3))
    headings = rng.uniform(-3, 3, count)
    asked = rng.normal(size=(count, 2)) * 3
    # Opponents stand still, so that the order in which they move does not matter.
    opponents = rng.integers(count // 2, count, count).astype(np.int32)
    opponents[::5] = -1
    asked[count // 2 :] = 0
    circling = rng.random(count) < 0.5
    circling[count // 2 :] = False
    moved, turned = places.copy(), headings.copy()
    walk(DT, np.ones(count), opponents, circling, asked, np.ones(count), moved, turned)
    for n in range(count):
        enemy = places[opponents[n]] if circling[n] and opponents[n] >= 0 else None
        place, heading = oracle.walk(DT, places[n], headings[n], enemy, asked[n])
        np.testing.assert_allclose(moved[n], place, atol=1e-12)
        assert turned[n] == pytest.approx(heading, abs=1e-9)
