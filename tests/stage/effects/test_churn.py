"""Churned sand and water: what parts do, and the drops that they throw."""

from __future__ import annotations

import dataclasses
import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.effect_settings import RADII, ChurnSettings
from flexor.scene.stage.ground import make_ground
from flexor.scene.stage.layout import SURFACES
from flexor.stage.effects.churn import churn_quads, init_churn, step_churn
from flexor.stage.effects.layout import CONTINUING, KICK_UP, LANDING, NONE, PLOUGHING
from tests.oracle import churn as plain
from tests.stage.effects.churn_scenes import foot, level, live

Rng = np.random.Generator
STATES = {
    "": NONE,
    "landing": LANDING,
    "kick-up": KICK_UP,
    "continuing": CONTINUING,
    "ploughing": PLOUGHING,
}
MORE = {"spread": 0.6, "reach": 0.15, "plough": 0.3, "wet": 1.5}
RIGHT, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


# What can be worked out by hand.


def test_parts_have_their_radii() -> None:
    seed = {"foot": 0.10, "head": 0.15, "hips": 0.20}
    assert RADII == seed | {"hand": 0.08, "toes": 0.06}
    assert ChurnSettings().parts == ("foot", "foot", "head", "hips")
    assert SURFACES == ("plain", "sand", "water")


@pytest.mark.parametrize("surface", ["sand", "water"])
def test_landing(surface: str) -> None:
    state = foot((1, 0.03, 2), (1.03, -0.01, 2.04), surface=surface, base=1000, scale=1)
    assert state.states[0, 0] == LANDING
    assert not state.is_aloft[0, 0]
    assert state.is_wet[0, 0] == (surface == "water")
    rows = live(state)
    amount = 1000 * math.sqrt(0.03**2 + 0.04**2 + 0.04**2)
    assert len(rows) == math.ceil(round(amount) / 2) == 32
    np.testing.assert_array_equal(state.places[rows], [[1, 0, 2]] * len(rows))
    assert (state.is_water[rows] == (surface == "water")).all()
    assert not state.patterns[rows].any()
    speeds = state.speeds[rows].astype(np.float64)
    # (0.05 + 0.10) along the ground and 0.04 up, all times random / 10.
    sides = np.hypot(speeds[:, 0], speeds[:, 2])
    np.testing.assert_allclose(speeds[:, 1] / sides, 0.04 / 0.15, rtol=1e-5)
    shares = sides / 0.15
    assert 0 <= shares.min() < shares.max() <= 0.1


def test_drops_of_a_landing_fly_within_135_degrees() -> None:
    state = foot((0, 5e-3, 0), (0.6, -0.01, 0.8), most=8000, base=1e6)
    assert state.live_count == 4000
    speeds = state.speeds[live(state)].astype(np.float64)
    along = speeds[:, 0] * 0.6 + speeds[:, 2] * 0.8
    across = speeds[:, 0] * 0.8 - speeds[:, 2] * 0.6
    angles = np.degrees(np.arctan2(across, along))
    assert np.abs(angles).max() <= 135.01
    assert np.abs(angles).max() > 134
    counts, _ = np.histogram(angles, bins=10, range=(-135, 135))
    assert np.abs(counts - 400).max() < 6 * 20
    shares = np.hypot(speeds[:, 0], speeds[:, 2]) / (5 * 1.0 + 0.10)
    counts, _ = np.histogram(shares, bins=10, range=(0, 0.1))
    assert np.abs(counts - 400).max() < 6 * 20
    # Which way a drop flies does not say how fast.
    assert abs(np.corrcoef(angles, shares)[0, 1]) < 0.08


def test_who_lands_straight_down_splashes_all_round() -> None:
    state = foot((0, 0.5, 0), (0, -0.1, 0), most=8000, base=1e6)
    speeds = state.speeds[live(state)].astype(np.float64)
    angles = np.degrees(np.arctan2(speeds[:, 0], speeds[:, 2]))
    counts, _ = np.histogram(angles, bins=8, range=(-180, 180))
    assert np.abs(counts - 500).max() < 6 * math.sqrt(500)
    sides = np.hypot(speeds[:, 0], speeds[:, 2])
    np.testing.assert_allclose(speeds[:, 1] / sides, 5 * 0.6 / 0.10, rtol=1e-4)


def test_kick_up() -> None:
    """Count = base * movement * cos(angle), along the movement, origin by speed."""
    state = foot((0, -0.01, 0), (0.3, 0.39, 0), base=100, scale=1)
    assert state.states[0, 0] == KICK_UP
    assert state.is_aloft[0, 0]
    # 100 * 0.5 * cos = 100 * 0.5 * 0.6 = 30, half of them now.
    rows = live(state)
    assert len(rows) == 15
    assert state.left[0, 0, 0] == 15
    speeds = state.speeds[rows].astype(np.float64)
    shares = speeds[:, 0] / 0.3
    assert 0 <= shares.min() < 0.03 < 0.07 < shares.max() <= 0.1
    np.testing.assert_allclose(speeds, shares[:, None] * (0.3, 0.4, 0), atol=1e-7)
    np.testing.assert_allclose(state.places[rows], speeds - (0, 0.01, 0), atol=1e-7)


def test_who_leaves_straight_up_throws_none() -> None:
    state = foot((0, -0.01, 0), (0, 0.4, 0))
    assert state.states[0, 0] == KICK_UP
    assert state.live_count == 0


def test_half_of_what_is_left_in_each_tick() -> None:
    state = foot((0, 0.1, 0), base=1e6, most=64, life=100, gravity=0.0)
    counts, states = [], []
    for _ in range(9):
        before = state.live_count
        step_churn(state, np.array([[[0.1, -0.1, 0]]]), level())
        counts.append(state.live_count - before)
        states.append(int(state.states[0, 0]))
    assert counts == [32, 16, 8, 4, 2, 1, 0, 0, 0], "for six ticks"
    assert states == [LANDING, *[CONTINUING] * 5, NONE, NONE, NONE]
    few = foot((0, 0.1, 0), (0.1, -0.1, 0), base=1e6, most=5, life=100, gravity=0.0)
    for _ in range(5):
        step_churn(few, few.lasts.copy(), level())
    assert few.live_count == 5, "all come if there is time"


def test_what_goes_on_comes_from_where_it_began() -> None:
    state = foot((0, 0.1, 0), (0.1, -0.1, 0), base=1e6, gravity=0.0, life=100)
    for tick in range(4):
        step_churn(state, np.array([[[0.5 + tick, -0.1, 0.3]]]), level())
    fresh = np.flatnonzero(state.ages == 0)
    assert len(fresh) == 2
    assert (state.places[fresh] == 0).all()


def test_a_new_event_ends_what_went_on() -> None:
    state = foot((0, 0.1, 0), (0.1, -0.1, 0), (0.2, 0.1, 0), base=50)
    assert state.states[0, 0] == KICK_UP
    assert state.left[0, 0].tolist() == [2, 5], "of five"


def test_plain_ground_gives_nothing() -> None:
    state = foot((0, 0.1, 0), (0.1, -0.1, 0), (0.2, 0.1, 0), surface="plain")
    assert state.live_count == 0
    assert state.states[0, 0] == NONE
    assert state.is_aloft[0, 0], "but who is in the air is known"


def test_water_has_a_level_and_sand_has_none() -> None:
    way = (0, 0.5, 0), (0.1, 0.25, 0)
    for surface, water, lands in (
        ("water", 0.3, True),
        ("water", 0.2, False),
        ("water", None, False),
        ("sand", 0.3, False),
        ("plain", 0.3, False),
    ):
        state = foot(*way, surface=surface, water=water)
        assert (state.states[0, 0] == LANDING) == lands
        if lands:
            assert (state.places[live(state), 1] == np.float32(0.3)).all()


def test_parts_may_reach_down_by_their_radius() -> None:
    way = (0, 0.5, 0), (0.1, 0.12, 0)
    for part, touch, lands in (
        ("foot", 0.0, False),
        ("foot", 1.0, False),
        ("head", 1.0, True),
        ("head", 0.5, False),
        ("hips", 1.0, True),
    ):
        state = init_churn(
            1, np.random.default_rng(3), ChurnSettings(parts=(part,), touch=touch)
        )
        for place in way:
            step_churn(state, np.array(place, float)[None, None], level())
        assert (state.states[0, 0] == LANDING) == lands


def test_who_is_put_elsewhere_throws_nothing() -> None:
    state = foot((0, 0.1, 0), (5, -0.1, 0))
    assert state.live_count == 0
    assert not state.is_aloft[0, 0]


def test_the_first_tick_only_looks() -> None:
    state = foot((0, -0.1, 0))
    assert state.live_count == 0
    assert state.states[0, 0] == NONE
    assert not state.is_aloft[0, 0]


def test_drops_fly_along_a_parabola_through_32_patterns() -> None:
    state = foot((0, 0.2, 0), (0.1, -0.1, 0), base=1e6, ticks=1, life=64)
    begin, speed = state.places.astype(np.float64), state.speeds.astype(np.float64)
    rows = live(state)
    assert len(rows) == 32
    g = ChurnSettings().gravity
    assert g * 3600 == pytest.approx(9.81)
    for tick in range(1, 65):
        step_churn(state, state.lasts.copy(), level())
        left = live(state)
        wanted = begin + speed * tick - np.array([0, g / 2 * tick * tick, 0])
        np.testing.assert_allclose(state.places[left], wanted[left], atol=1e-5)
        assert (state.patterns[left] == tick // 2).all()
        gone = np.setdiff1d(rows, left)
        under = wanted[gone, 1] < 1e-5
        assert under.all() or tick == 64
        assert state.live_count == len(left)
    assert len(live(state)) == 0


def test_every_pattern_is_seen_once_in_a_life_of_32_ticks() -> None:
    state = foot((0, 0.2, 0), (0.1, -0.1, 0), gravity=0.0, ticks=1)
    found = [int(state.patterns[0])]
    while state.live_count:
        step_churn(state, state.lasts.copy(), level())
        if state.ages[0] >= 0:
            found.append(int(state.patterns[0]))
    assert found == list(range(32))


def test_the_ring_keeps_the_newest(rng: Rng) -> None:
    settings = ChurnSettings(parts=("foot",), base=1e6, ticks=1, gravity=0.0)
    state = init_churn(1, rng, settings, capacity=50)
    for tick in range(6):
        y = 0.1 if tick % 2 == 0 else -0.1
        step_churn(state, np.array([[[tick * 0.1, y, 0.0]]]), level())
        assert state.live_count == min(tick * 32, 50) == len(live(state))
    ages = np.bincount(state.ages, minlength=2)
    assert ages[0] == 32
    assert ages[1] == 18


# The twin.


@pytest.mark.parametrize("water", [None, 0.1])
@pytest.mark.parametrize(
    ("touch", "more"), [(0.0, {}), (1.0, {}), (0.0, MORE), (1.0, MORE)]
)
def test_every_drop_is_that_of_the_twin(
    rng: Rng, water: float | None, touch: float, more: dict[str, float]
) -> None:
    """The kernels `check_parts`, `fly` and `are_near`."""
    ground = make_ground(
        rng.normal(size=(9, 9)) * 0.05, (-2, -2), 0.5, rng.integers(0, 3, (8, 8))
    )
    settings = ChurnSettings(touch=touch, base=60.0, **more)  # type: ignore[arg-type]
    state = init_churn(3, rng, settings, capacity=5000)
    stage = plain.Stage(
        settings, state.seed, [[plain.Part() for _ in range(4)] for _ in range(3)]
    )
    places = rng.uniform((-2, 0, -2), (2, 0.5, 2), (3, 4, 3))
    events = []
    for _ in range(80):
        places[..., ::2] += rng.normal(size=(3, 4, 2)) * 0.05
        places[..., 1] = np.abs(rng.normal(size=(3, 4))) * 0.2 - 0.1 + touch * 0.15
        step_churn(state, places, ground, water=water)
        plain.step(stage, places, ground, water)
        for row in range(3):
            for part in range(4):
                twin = stage.parts[row][part]
                assert state.states[row, part] == STATES[twin.state]
                assert state.is_aloft[row, part] == twin.is_aloft
                assert state.left[row, part, 0] == twin.left
                events.append(twin.state)
        assert live(state).tolist() == sorted(stage.drops)
        if not stage.drops:
            continue
        rows = list(stage.drops)
        drops = [(*drop.place, *drop.speed) for drop in stage.drops.values()]
        own = np.concatenate([state.places[rows], state.speeds[rows]], 1)
        np.testing.assert_allclose(own, drops, atol=1e-5)
        ages = [drop.age for drop in stage.drops.values()]
        assert state.ages[rows].tolist() == state.patterns[rows].tolist() == ages
        waters = [drop.is_water for drop in stage.drops.values()]
        assert state.is_water[rows].tolist() == waters
    for name in set(STATES) - ({"ploughing"} if not more else set()):
        assert events.count(name) > 20
    assert any(waters)
    assert not all(waters)


def test_corners_face_who_looks(rng: Rng) -> None:
    """The kernel `drop_quads`."""
    state = foot((0, 0.2, 0), (0.1, -0.1, 0), (0.1, -0.1, 0), size=0.4)
    right, up = np.array([0.6, 0, 0.8]), np.array([0, 1.0, 0])
    quads, rows = np.empty((4096, 4, 3), np.float32), np.empty(4096, np.int32)
    count = churn_quads(state, right, up, quads, rows)
    assert count == state.live_count > 10
    assert rows[:count].tolist() == live(state).tolist()
    ways = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    sizes = [
        plain.drop_size(row, state.ages[row], 0.4) for row in rows[:count].tolist()
    ]
    assert len({size for size, _ in sizes}) > 5
    assert 0 < sum(is_mirrored for _, is_mirrored in sizes) < count
    for quad, row, (size, is_mirrored) in zip(quads, rows[:count], sizes, strict=False):
        for corner, (a, b) in enumerate(ways):
            way = (-a if is_mirrored else a) * right + b * up
            wanted = state.places[row] + size / 2 * way
            np.testing.assert_allclose(quad[corner], wanted, atol=1e-6)
    none = init_churn(1, rng)
    assert churn_quads(none, right, up, quads, rows) == 0


def test_the_same_bytes_again_and_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(seed: int) -> list[bytes]:
        rng = np.random.default_rng(seed)
        state = init_churn(20, rng, capacity=500)
        for _ in range(60):
            places = rng.uniform(-0.2, 0.2, (20, 4, 3))
            step_churn(state, places, level("water"))
        arrays = state.places, state.speeds, state.ages, state.patterns, state.left
        return [array.tobytes() for array in arrays]

    runs = []
    for threads in ("1", "2", "1"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        runs.append(play(5))
    assert runs[0] == runs[1] == runs[2]
    assert play(6)[0] != runs[0][0]


def test_a_tick_makes_no_arrays(rng: Rng) -> None:
    state = init_churn(2, rng, capacity=50_000)
    ways = [rng.uniform(-0.2, 0.2, (2, 4, 3)) for _ in range(20)]
    step_churn(state, ways[0], level())
    ground = level()
    tracemalloc.start()
    for places in ways:
        step_churn(state, places, ground)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert state.live_count > 100
    assert peak < 20_000


# Strange input.


def test_nobody_churns_nothing(rng: Rng) -> None:
    state = init_churn(0, rng)
    step_churn(state, np.zeros((0, 4, 3)), level())
    assert len(state) == state.live_count == 0


def test_input_that_is_refused(rng: Rng) -> None:
    state = init_churn(2, rng)
    good = np.zeros((2, 4, 3))
    for bad in (good[:1], good.astype(np.float32), good[:, :, ::-1], None):
        with pytest.raises(ShapeError, match="places"):
            step_churn(state, bad, level())  # type: ignore[arg-type]
    for value in (math.nan, math.inf, -2e5):
        bad = good.copy()
        bad[1, 3, 2] = value
        with pytest.raises(SettingError, match="places: expected numbers within"):
            step_churn(state, bad, level())
    assert not state.has_last, "what is refused changes nothing"
    with pytest.raises(SettingError, match="water: nan"):
        step_churn(state, good, level(), water=math.nan)
    with pytest.raises(SettingError, match="ground: int, expected Ground"):
        step_churn(state, good, 3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="state: int, expected Churn"):
        step_churn(3, good, level())  # type: ignore[arg-type]
    quads, rows = np.empty((4096, 4, 3), np.float32), np.empty(4096, np.int32)
    with pytest.raises(ShapeError, match="out"):
        churn_quads(state, RIGHT, UP, quads[:5], rows)
    with pytest.raises(ShapeError, match="rows"):
        churn_quads(state, RIGHT, UP, quads, rows[:5])
    with pytest.raises(SettingError, match="camera_right"):
        churn_quads(state, (0, 1), UP, quads, rows)
    for count, capacity in ((-1, 10), (2.0, 10), (1, 0), (1, (1 << 20) + 1)):
        with pytest.raises(SettingError, match=r"count|capacity"):
            init_churn(count, rng, capacity=capacity)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="rng"):
        init_churn(1, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"parts": ()}, "parts: .* expected some of foot, head, hips"),
        ({"parts": "foot"}, "parts: 'foot', expected"),
        ({"parts": ("elbow",)}, "parts: .* expected some of"),
        ({"base": -1}, "base: -1, expected 0 to"),
        ({"scale": math.nan}, "scale: nan"),
        ({"touch": 2}, "touch: 2, expected 0 to 1"),
        ({"jump": -1}, "jump: -1"),
        ({"gravity": 2}, "gravity: 2"),
        ({"spread": 0.8}, "spread: 0.8, expected 0 to"),
        ({"reach": -1}, "reach: -1"),
        ({"plough": math.nan}, "plough: nan"),
        ({"wet": "much"}, "wet: 'much'"),
        ({"size": 0}, "size: 0"),
        ({"most": 0}, "most: 0, expected 1 to"),
        ({"ticks": 1.5}, "ticks: 1.5, expected 1 to"),
        ({"life": True}, "life: True, expected 1 to"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        dataclasses.replace(ChurnSettings(), **change)
