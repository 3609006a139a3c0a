"""Walking, circling around an opponent, and friction on the flat and on slopes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.maths.records import check_record
from flexor.scene.stage.settings import FrictionSettings
from flexor.stage.movement.circling import gait_of, walk
from flexor.stage.movement.layout import Walkers
from tests.oracle import movement as oracle

Rng = np.random.Generator
DT = 1 / 60
SETTINGS = FrictionSettings()
# Legs so strong that who asks is as fast at once, and stops at once.
STRONG = FrictionSettings(push=1e5, brake=1000.0)
PLAIN, SAND, WATER = range(3)


def walkers(places: Any, **more: Any) -> Walkers:
    """Some who walk; more: arrays in place of the usual ones."""
    own = np.array(places, np.float64)
    count = len(own)
    up = np.zeros((count, 3))
    up[:, 1] = 1
    usual: dict[str, Any] = {
        "clocks": np.ones(count),
        "opponents": np.full(count, -1),
        "circling": np.zeros(count),
        "can_walk": np.ones(count),
        "grounded": np.ones(count),
        "asked": np.zeros((count, 2)),
        "paces": np.ones(count),
        "normals": up,
        "surfaces": np.zeros(count),
        "velocities": np.zeros((count, 2)),
        "efforts": np.zeros(count),
        "going": np.full((count, 2), 9.0),
        "headings": np.zeros(count),
    }
    kinds = {"opponents": np.int32, "surfaces": np.uint8}
    kinds |= dict.fromkeys(("circling", "can_walk", "grounded"), np.bool_)  # type: ignore[arg-type]
    made = {
        name: np.array(more.get(name, value), kinds.get(name, np.float64), order="C")
        for name, value in usual.items()
    }
    return check_record(Walkers(places=own, **made))


def pair(asked: tuple[float, float], away: float = 2.0, **more: Any) -> Walkers:
    """The first one circles around the second, which stays."""
    rows = {"opponents": (1, 0), "circling": (True, False), "asked": (asked, (0, 0))}
    return walkers([[0.3, 0, away - 0.2], [0.3, 1, -0.2]], **rows | more)


def step(rows: Walkers, ticks: int = 1, settings: FrictionSettings = STRONG) -> Any:
    """Places of the first one, (ticks, 3)."""
    gait, seen = gait_of(settings), []
    for _ in range(ticks):
        walk(rows, gait, DT)
        seen.append(rows.places[0].copy())
    return np.array(seen)


@pytest.mark.parametrize("settings", [STRONG, SETTINGS], ids=["strong", "usual"])
@pytest.mark.parametrize("speed", [-9.9, -1.0, 0.3, 2.0, 9.9])
@pytest.mark.parametrize("radius", [0.5, 2.0, 7.0])
def test_the_distance_does_not_drift_in_ten_turns(
    speed: float, radius: float, settings: FrictionSettings
) -> None:
    rows = pair((0.0, speed), radius)
    turned, before = 0.0, 0.0
    gait = gait_of(settings)
    for _ in range(200_000):
        walk(rows, gait, DT)
        dx, dz = rows.places[0, 0] - 0.3, rows.places[0, 2] + 0.2
        assert abs(math.hypot(dx, dz) / radius - 1) < 1e-9
        assert rows.headings[0] == pytest.approx(math.atan2(-dx, -dz), abs=1e-9)
        now = math.atan2(dx, dz)
        turned += (now - before + math.pi) % (2 * math.pi) - math.pi
        before = now
        if abs(turned) > 20 * math.pi:
            break
    assert abs(turned) > 20 * math.pi
    assert rows.places[1].tolist() == [0.3, 1.0, -0.2], "the other one stays"


def test_right_is_right() -> None:
    rows = pair((0.0, 1.0))
    step(rows)
    assert rows.places[0, 0] > 0.3, "who looks along -z has +x at its right"
    # Without circling the same, as seen from its heading.
    rows = walkers([[0, 0, 2]], headings=[math.pi], asked=[[0, 1.0]])
    assert step(rows)[0, 0] == pytest.approx(DT)
    assert rows.headings[0] == math.pi


def test_forward_comes_nearer_but_not_through() -> None:
    rows = pair((3.0, 0.0))
    assert step(rows)[0, 2] == pytest.approx(1.8 - 3 * DT)
    last = step(rows, 100)[-1]
    assert math.hypot(last[0] - 0.3, last[2] + 0.2) < 0.06


def test_on_one_spot_the_heading_is_kept_and_all_is_finite() -> None:
    rows = walkers(
        np.zeros((2, 3)),
        headings=[0.7, -0.2],
        opponents=[1, 0],
        circling=[True, True],
        asked=[[0, 2.0], [0, 0]],
    )
    step(rows)
    assert rows.headings[0] == 0.7
    assert np.isfinite(rows.places).all()
    assert math.hypot(*rows.places[0, [0, 2]]) == pytest.approx(2 * DT)


def test_clocks_and_ground_slow_down() -> None:
    whole = step(pair((1.0, 0.0)))[0]
    half = step(pair((1.0, 0.0), clocks=(0.5, 1)), 2)[1]
    np.testing.assert_allclose(half, whole, atol=1e-12)
    half = step(pair((1.0, 0.0), paces=(0.5, 1)), 2)[1]
    np.testing.assert_allclose(half, whole, atol=1e-12)


def go_and_stop(
    surface: int, pace: float = 1.0, fast: float = 1.35, **more: Any
) -> tuple[Any, Any]:
    """Speeds of who asks for 50 ticks and then no more, and of what is told of it."""
    rows = walkers(
        [[0, 0, 0]], asked=[[fast, 0]], surfaces=[surface], paces=[pace], **more
    )
    gait, speeds, going = gait_of(SETTINGS), [], []
    for tick in range(100):
        if tick == 50:
            rows.asked[:] = 0
        walk(rows, gait, DT)
        speeds.append(math.hypot(*rows.velocities[0]))
        going.append(rows.going[0, 0] * pace)
    return np.array(speeds), np.array(going)


def test_static_friction_is_overcome_to_start_and_differs_by_surface() -> None:
    """Later on sand, and latest in water: legs must push harder."""
    firsts = []
    for surface, factor in enumerate(SETTINGS.factors):
        speeds, _ = go_and_stop(surface)
        first = int((speeds > 0).argmax())
        need = SETTINGS.still * SETTINGS.gravity * factor
        rise = SETTINGS.push * DT / SETTINGS.effort
        assert first == int(need // rise)
        firsts.append(first)
        up = SETTINGS.push - SETTINGS.moving * SETTINGS.gravity * factor
        assert speeds[first] == pytest.approx(up * DT)
        assert speeds[40] == 1.35
    assert firsts == [0, 1, 2]
    # Who cannot push so hard stays, whatever it asks.
    weak = FrictionSettings(push=5.0, factors=(1.0, 0.5, 3.0))
    for surface, moves in ((PLAIN, False), (SAND, True)):
        rows = walkers([[0, 0, 0]], asked=[[1.0, 0]], surfaces=[surface])
        assert bool(step(rows, 60, weak)[-1].any()) == moves


def test_dynamic_friction_brakes_and_differs_by_surface() -> None:
    """A short glide: 0.1 to 0.15 s on plain ground, shorter on sand and in water."""
    times, ways = [], []
    for surface in (PLAIN, SAND, WATER):
        speeds, going = go_and_stop(surface)
        glide = speeds[50:]
        stop = int((glide == 0).argmax())
        assert (np.diff(glide[: stop + 1]) < 0).all()
        np.testing.assert_allclose(going[50:], glide, atol=1e-12)
        times.append((stop + 1) * DT)
        ways.append(glide.sum() * DT)
    assert 0.1 <= times[PLAIN] <= 0.15
    assert times[PLAIN] > times[SAND] > times[WATER]
    assert ways[PLAIN] > 2 * ways[SAND] > 2.5 * ways[WATER]
    assert 0.04 < ways[PLAIN] < 0.1


def test_who_stands_stays_to_the_bit_and_who_may_not_walk_glides() -> None:
    rows = walkers([[0.1, 0.2, 0.3]], can_walk=[False], asked=[[3.0, 1.0]])
    assert step(rows, 30, SETTINGS)[-1].tolist() == [0.1, 0.2, 0.3]
    assert rows.going.tolist() == [[0, 0]]
    rows = walkers([[0, 0, 0]], can_walk=[False], velocities=[[1.0, 0.0]])
    seen = step(rows, 30, SETTINGS)
    assert 0.03 < seen[-1, 0] < 0.06
    assert rows.velocities.tolist() == [[0, 0]]
    # In the air nothing brakes, and nobody can steer.
    rows = walkers(
        [[0, 0, 0]], grounded=[False], velocities=[[1.0, 0.0]], asked=[[0, 2.0]]
    )
    assert step(rows, 30, SETTINGS)[-1, 0] == pytest.approx(0.5)


def test_up_is_slower_and_down_is_faster() -> None:
    tops = {}
    for degrees in (-25, -10, 0, 10, 25):
        rise = math.sin(math.radians(degrees))
        normal = [[0, math.cos(math.radians(degrees)), -rise]]
        speeds, _ = go_and_stop(PLAIN, normals=normal)
        tops[degrees] = speeds[45]
        assert speeds[45] == pytest.approx(1.35 * (1 - SETTINGS.uphill * rise))
    assert tops[-25] > tops[-10] > tops[0] > tops[10] > tops[25]
    assert tops[25] < 0.7 * tops[0]
    # Across a slope one goes as on the flat; steeper ground is a step, and climbed.
    for normal in ([[0.4, math.sqrt(0.84), 0]], [[0, 0.6, -0.8]]):
        assert go_and_stop(PLAIN, normals=normal)[0][45] == pytest.approx(1.35)


def test_every_step_is_that_of_the_twin(rng: Rng) -> None:
    count = 400
    for settings in (
        SETTINGS,
        FrictionSettings(push=9.0, effort=0.0, uphill=3.0, brake=0.2),
    ):
        # Opponents stand still, so that the order in which they move does not matter.
        opponents = rng.integers(count // 2, count, count)
        opponents[::5] = -1
        circling = rng.random(count) < 0.5
        asked = rng.normal(size=(count, 2)) * rng.choice([0, 1, 3], (count, 1))
        velocities = rng.normal(size=(count, 2)) * rng.choice([0, 1, 3], (count, 1))
        asked[count // 2 :] = velocities[count // 2 :] = 0
        circling[count // 2 :] = False
        normals = rng.normal(size=(count, 3)) * (0.4, 0, 0.4) + (0, 1, 0)
        normals[::3] = 0, 1, 0
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        rows = walkers(
            rng.normal(size=(count, 3)),
            headings=rng.uniform(-3, 3, count),
            opponents=opponents,
            circling=circling,
            asked=asked,
            velocities=velocities,
            normals=normals,
            paces=rng.choice([0.0, 0.6, 1.0], count),
            surfaces=rng.integers(0, 3, count),
            efforts=rng.uniform(0, 25, count),
            can_walk=rng.random(count) < 0.8,
            grounded=rng.random(count) < 0.8,
            clocks=rng.choice([0.0, 0.5, 1.0], count),
        )
        before: Any = Walkers(*map(np.array, rows))
        walk(rows, gait_of(settings), DT)
        for n in range(count):
            is_around = before.circling[n] and before.opponents[n] >= 0
            own = oracle.Walker(
                before.places[n],
                float(before.headings[n]),
                np.insert(before.velocities[n], 1, 0.0),
                tuple(asked[n]),
                before.places[before.opponents[n]] if is_around else None,
                float(before.efforts[n]),
                bool(before.can_walk[n]),
                bool(before.grounded[n]),
                float(before.paces[n]),
                tuple(normals[n]),
                settings.factors[before.surfaces[n]],
            )
            found = oracle.walk(own, settings, DT * float(before.clocks[n]))
            np.testing.assert_allclose(rows.places[n], found["place"], atol=1e-9)
            speeds = found["velocity"][[0, 2]]
            np.testing.assert_allclose(rows.velocities[n], speeds, atol=1e-9)
            np.testing.assert_allclose(rows.going[n], found["going"], atol=1e-9)
            assert rows.efforts[n] == pytest.approx(found["effort"], abs=1e-9)
            assert rows.headings[n] == pytest.approx(found["heading"], abs=1e-9)
