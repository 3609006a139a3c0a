"""Snow: how flakes fall, drift, go in circles and come again."""

from __future__ import annotations

import dataclasses
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.effect_settings import SWIRLS, SnowSettings, WindSettings
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.stage.effects import snow as module
from flexor.stage.effects.snow import Snow, init_snow, snow_quads, step_snow, stir_snow
from tests.oracle import snow as plain

Rng = np.random.Generator
FLAT = flat_ground()
RIGHT, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def hill(rng: Rng) -> Ground:
    return make_ground(rng.normal(size=(41, 41)) * 0.3, (-10.0, -10.0), 0.5)


def seen(state: Snow) -> Any:
    """Where flakes are seen, (F, 3)."""
    quads = np.empty((len(state), 4, 3), np.float32)
    return snow_quads(state, RIGHT, UP, quads).mean(1, dtype=np.float64)


def test_falls_a_centimetre_a_tick(rng: Rng) -> None:
    state = init_snow(FLAT, 1000, rng)
    before = state.places.copy()
    for _ in range(10):
        step_snow(state, FLAT)
    old = before[:, 1] > 0.1001
    fallen = before[old] - state.places[old]
    np.testing.assert_allclose(fallen[:, 1], 0.1, atol=1e-5)
    assert not fallen[:, ::2].any(), "the middles of their circles stay"
    assert old.sum() > 900


def test_wind_moves_all_alike_and_may_change(rng: Rng) -> None:
    state = init_snow(FLAT, 500, rng, SnowSettings(low=(-50, -50), high=(50, 50)))
    state.places[:, 1] = 3
    state.places[:, ::2] *= 0.5
    before = state.places.astype(np.float64)
    total = np.zeros(3)
    for tick in range(50):
        wind = np.array([0.02 * math.sin(tick / 5), 0.001, 0.01])
        step_snow(state, FLAT, wind)
        total += wind - (0, 0.01, 0)
    np.testing.assert_allclose(
        state.places - before, np.tile(total, (500, 1)), atol=1e-4
    )


def test_circles_are_those_of_the_table(rng: Rng) -> None:
    state = init_snow(FLAT, 400, rng)
    state.places[:, 1] = 5
    assert set(state.kinds.tolist()) == set(range(len(SWIRLS)))
    speeds, radii = np.array(SWIRLS).T
    first = seen(state) - state.places
    q = np.arctan2(first[:, 0], first[:, 2])
    for tick in range(1, 40):
        step_snow(state, FLAT)
        off = seen(state) - state.places
        away = np.hypot(off[:, 0], off[:, 2])
        np.testing.assert_allclose(away, radii[state.kinds], rtol=1e-3)
        now = q + tick * speeds[state.kinds]
        a = radii[state.kinds]
        wanted = np.stack([a * np.sin(now), 0 * a, a * np.cos(now)], -1)
        np.testing.assert_allclose(off, wanted, atol=1e-3)


def test_without_wind_there_is_no_drift(rng: Rng) -> None:
    """Over any time flakes have not got anywhere, in the mean."""
    state = init_snow(FLAT, 20_000, rng, SnowSettings(top=20.0))
    state.places[:, 1] = 15
    begin = seen(state)
    for tick in range(1, 600):
        step_snow(state, FLAT)
        if tick % 60 == 0:
            moved = (seen(state) - begin)[:, ::2]
            sure = 5 * moved.std(0) / math.sqrt(len(state))
            assert (np.abs(moved.mean(0)) < sure).all()
            assert sure.max() < 0.004
            assert np.abs(moved).max() <= 2 * max(r for _, r in SWIRLS) + 1e-3
    # Also of each kind of circle alone.
    for kind in range(len(SWIRLS)):
        own = moved[state.kinds == kind]
        assert (np.abs(own.mean(0)) < 5 * own.std(0) / math.sqrt(len(own))).all()


def test_as_many_everywhere_after_a_storm(rng: Rng) -> None:
    ground = hill(rng)
    state = init_snow(ground, 40_000, rng)
    for tick in range(800):
        step_snow(state, ground, (0.05, 0.002, 0.03 * math.cos(tick / 40)))
    low, high = np.array((-10, -10)), np.array((10, 10))
    flat = state.places[:, ::2]
    assert (flat >= low).all()
    assert (flat <= high).all()
    counts, _, _ = np.histogram2d(*flat.T, bins=8, range=[(-10, 10)] * 2)
    mean = 40_000 / 64
    assert np.abs(counts - mean).max() < 6 * math.sqrt(mean)
    above = state.places[:, 1]
    assert above.max() <= 6
    layers, _ = np.histogram(above[above > 1.5], bins=9, range=(1.5, 6))
    assert np.abs(layers - layers.mean()).max() < 6 * math.sqrt(layers.mean())


def test_comes_again_at_the_top_where_it_reaches_the_ground(rng: Rng) -> None:
    state = init_snow(FLAT, 2000, rng)
    state.places[:, 1] = 0.005
    step_snow(state, FLAT)
    np.testing.assert_allclose(state.places[:, 1], 5.995, atol=1e-5)
    counts, _, _ = np.histogram2d(
        *state.places[:, ::2].T, bins=4, range=[(-10, 10)] * 2
    )
    assert np.abs(counts - 125).max() < 6 * math.sqrt(125)


@pytest.mark.parametrize("count", [1, 7, 1024, 1500])
def test_every_tick_is_that_of_the_twin(rng: Rng, count: int) -> None:
    """The kernels `step_flakes` and `lay_down`, and random places by `scramble`."""
    ground = hill(rng)
    settings = SnowSettings(low=(-4, -3), high=(2, 5), top=1.5, fall=0.05)
    state = init_snow(ground, count, rng, settings)
    watched = rng.choice(count, min(count, 40), replace=False)
    again = 0
    for _ in range(60):
        wind = rng.normal(size=3) * (0.2, 0.05, 0.2)
        move = wind - (0, 0.05, 0)
        before = state.places.astype(np.float64), state.rolls.astype(int)
        phases = state.phases.astype(int)
        step_snow(state, ground, wind)
        for row in watched:
            place, roll, is_new = plain.step_flakes(
                before[0][row],
                int(before[1][row]),
                move,
                settings.low,
                settings.high,
                settings.top,
                ground,
            )
            again += is_new
            assert state.rolls[row] == roll
            np.testing.assert_allclose(state.places[row], place, atol=1e-5)
            speed = SWIRLS[state.kinds[row]][0] / (2 * math.pi) * 65536
            assert state.phases[row] == (phases[row] + round(speed)) % 65536
    assert again > 0


PEOPLE = WindSettings(scale=8.0)


def test_stirred_flakes_are_those_of_the_twin(rng: Rng) -> None:
    """The kernels `find_stirs`, and `step_flakes` with drifts."""
    settings = SnowSettings(low=(-2, -2), high=(2, 2), top=4, stir=0.7, drag=0.9)
    state = init_snow(FLAT, 800, rng, settings)
    drifts = np.zeros((800, 3))
    parts = rng.uniform((-2, 0.5, -2), (2, 3, 2), (3, 5, 3))
    stirred = 0
    for tick in range(12):
        now = parts + rng.normal(size=parts.shape) * (0.04 if tick < 8 else 0.001)
        stirs = plain.find_stirs(parts, now, PEOPLE, 0.7)
        assert stir_snow(state, parts, now, PEOPLE) == len(stirs)
        before = state.places.astype(np.float64)
        step_snow(state, FLAT)
        parts = now
        for n in range(800):
            place = before[n] - (0, 0.01, 0)
            drift = plain.stir(place, drifts[n], stirs)
            stirred += (drift != drifts[n]).any()
            place = place + drift
            is_again = place[1] <= 0 or (np.abs(place[::2]) > 2).any()
            drifts[n] = 0 if place[1] <= 0 else drift * 0.9
            if not is_again:
                np.testing.assert_allclose(state.places[n], place, atol=1e-5)
        np.testing.assert_allclose(state.drifts, drifts, atol=1e-5)
    assert stirred > 100
    for _ in range(240):
        step_snow(state, FLAT)
    assert not state.drifts.any(), "and it is calm again"
    assert not state.is_stirred.any()


def test_a_runner_stirs_the_snow_around_him_and_no_more(rng: Rng) -> None:
    settings = SnowSettings(low=(-8, -8), high=(8, 8), swirls=((0.1, 0.0),))
    states = [
        init_snow(FLAT, 20_000, np.random.default_rng(4), settings) for _ in range(2)
    ]
    rolls = states[0].rolls.copy()
    speed, reach = 5.0 / 60, 0.6 * 8 * 5.0 / 60  # metres a tick; metres
    way = []
    for tick in range(60):
        old = np.array([[[-2 + speed * tick, 1.0, 0.0]]])
        new = np.add(old, (speed, 0, 0))
        way.append(new[0, 0])
        stir_snow(states[0], old, new, PEOPLE)
        for state in states:
            step_snow(state, FLAT)
    moved = np.linalg.norm(states[0].places - states[1].places, axis=1)
    apart = np.linalg.norm(states[1].places[:, None] - np.array(way), axis=-1).min(1)
    same = (states[0].rolls == rolls) & (states[1].rolls == rolls) & (moved < 8)
    assert (moved[same & (apart > reach + 1.0)] < 1e-6).all()
    near = same & (apart < 0.2)
    assert near.sum() > 5
    assert np.median(moved[near]) > 0.2
    along = (states[0].places - states[1].places)[near, 0]
    assert np.median(along) > 0.1, "along with him"


def test_who_stands_stirs_nothing(rng: Rng) -> None:
    state = init_snow(FLAT, 100, rng)
    still = np.zeros((2, 6, 3))
    assert stir_snow(state, still, still, PEOPLE) == 0
    far = np.add(still, (3.0, 0, 0))
    assert stir_snow(state, still, far, PEOPLE) == 0, "put elsewhere"
    moved = np.add(still, (0.05, 0, 0))
    assert stir_snow(state, still, moved, PEOPLE) == 12
    calm = init_snow(FLAT, 100, rng, SnowSettings(stir=0.0))
    assert stir_snow(calm, still, moved, PEOPLE) == 0
    many = np.zeros((100, 6, 3))
    assert stir_snow(state, many, np.add(many, (0.05, 0, 0)), PEOPLE) == 256
    with pytest.raises(ShapeError, match="before"):
        stir_snow(state, still[:1], still, PEOPLE)
    with pytest.raises(SettingError, match="settings: int"):
        stir_snow(state, still, still, 3)  # type: ignore[arg-type]


def test_corners_are_those_of_the_twin(rng: Rng) -> None:
    """The kernel `make_quads`."""
    state = init_snow(FLAT, 300, rng)
    right, up = np.array([0.6, 0, 0.8]), np.array([-0.64, 0.6, 0.48])
    quads = np.empty((300, 4, 3), np.float32)
    assert snow_quads(state, right, up, quads) is quads
    for row in range(300):
        wanted = plain.make_quads(
            state.places[row].astype(np.float64),
            int(state.phases[row]),
            SWIRLS[state.kinds[row]][1],
            float(state.sizes[row]),
            right,
            up,
        )
        np.testing.assert_allclose(quads[row], wanted, atol=3e-4)
    sizes = np.linalg.norm(quads[:, 1] - quads[:, 0], axis=1)
    np.testing.assert_allclose(sizes, state.sizes, atol=1e-5)


def test_the_same_bytes_again_and_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAST_WORK", 1)

    def play(seed: int) -> list[bytes]:
        rng = np.random.default_rng(seed)
        ground = hill(rng)
        state = init_snow(ground, 5003, rng, SnowSettings(top=1.0))
        for _ in range(150):
            step_snow(state, ground, rng.normal(size=3) * 0.1)
        quads = np.empty((5003, 4, 3), np.float32)
        snow_quads(state, RIGHT, UP, quads)
        arrays = state.places, state.phases, state.rolls, quads
        return [array.tobytes() for array in arrays]

    runs = []
    for threads in ("1", "2", "3", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        runs.append(play(5))
    assert runs[0] == runs[1] == runs[2] == runs[3]
    assert play(6)[0] != runs[0][0]


def test_a_tick_makes_no_arrays(rng: Rng, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "1")
    state = init_snow(FLAT, 50_000, rng)
    step_snow(state, FLAT)
    tracemalloc.start()
    for _ in range(5):
        step_snow(state, FLAT, (0.01, 0, 0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000


# Strange input.


def test_no_flakes_at_all(rng: Rng) -> None:
    state = init_snow(FLAT, 0, rng)
    step_snow(state, FLAT)
    assert snow_quads(state, RIGHT, UP, np.empty((0, 4, 3), np.float32)).size == 0


def test_ground_above_the_top_and_storms_wider_than_the_box(rng: Rng) -> None:
    high = flat_ground(height=10.0)
    state = init_snow(high, 100, rng)
    for _ in range(100):
        step_snow(state, high, (99.0, 50.0, -99.0))
        step_snow(state, high, (99.0, -50.0, -99.0))
    assert np.isfinite(state.places).all()
    assert (np.abs(state.places[:, ::2]) <= 10.001).all()
    for _ in range(600):  # and back to ground that is lower
        step_snow(state, FLAT)
    assert (state.places[:, 1] > 0).all()
    assert (state.places[:, 1] <= 6).all()


def test_input_that_is_refused(rng: Rng) -> None:
    state = init_snow(FLAT, 3, rng)
    for wind in ((0, 0), (0, math.nan, 0), "wind", None):
        with pytest.raises(SettingError, match=r"wind: .* expected three finite"):
            step_snow(state, FLAT, wind)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"wind: .* expected 100 at most"):
        step_snow(state, FLAT, (0, 0, 101))
    with pytest.raises(SettingError, match="ground: str, expected Ground"):
        step_snow(state, "ground")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="state: int, expected Snow"):
        step_snow(1, FLAT)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="out: shape"):
        snow_quads(state, RIGHT, UP, np.empty((2, 4, 3), np.float32))
    with pytest.raises(SettingError, match="camera_up"):
        snow_quads(state, RIGHT, (1,), np.empty((3, 4, 3), np.float32))
    for count in (-1, 2.5, None, 10**9):
        with pytest.raises(SettingError, match=r"count: .* expected 0 to"):
            init_snow(FLAT, count, rng)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="rng: NoneType, expected Generator"):
        init_snow(FLAT, 1, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"low": (1,)}, "low: .* expected two numbers"),
        ({"low": 3}, "low: 3, expected two numbers"),
        ({"high": (0, -20)}, "high: .* expected above low"),
        ({"high": (math.nan, 0)}, "high: nan"),
        ({"top": math.inf}, "top: inf"),
        ({"fall": -0.1}, "fall: -0.1, expected 0 to 1"),
        ({"sizes": (2, 1)}, "sizes: .* expected least and most"),
        ({"swirls": ()}, "swirls: 0 rows, expected 1 to 256"),
        ({"swirls": 3}, "swirls: 0 rows"),
        ({"swirls": ((4, 1),)}, "swirls: expected radians of at most pi"),
        ({"swirls": ((1, -1),)}, "swirls: expected"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        dataclasses.replace(SnowSettings(), **change)
