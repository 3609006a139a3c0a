"""What is under characters, and how slopes pull them and friction holds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.errors import SettingError
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.scene.stage.settings import FrictionSettings
from flexor.stage.movement.ground import Footing, find_footing, init_footing, slide_down
from tests.oracle import movement as oracle

Rng = np.random.Generator
DT = 1 / 60
SETTINGS = FrictionSettings()


def hill(rng: Rng) -> Ground:
    return make_ground(
        rng.normal(size=(5, 7)), (-2.0, 1.0), 0.5, rng.integers(0, 3, (4, 6))
    )


def slope(angle: float, surface: str = "plain") -> Ground:
    """Ground that rises along +x by an angle in radians."""
    heights = np.tile([-50.0, 50.0], (2, 1)) * math.tan(angle)
    return make_ground(heights, (-50, -50), 100, surface)


def footing(ground: Ground, places: np.ndarray) -> Footing:
    """The kernel `look_down`."""
    found = init_footing(len(places))
    find_footing(ground, places, SETTINGS, out=found)
    return found


def roll(
    ground: Ground,
    ticks: int,
    settings: FrictionSettings = SETTINGS,
    slide: tuple[float, float] = (0.0, 0.0),
    asked: tuple[float, float] = (0.0, 0.0),
    clock: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Place and slide of one character after some ticks on a ground (kernel `slip`)."""
    places, slides = np.zeros((1, 3)), np.array([slide])
    found = init_footing(1)
    for _ in range(ticks):
        find_footing(ground, places, settings, out=found)
        slide_down(
            found,
            settings,
            DT,
            np.array([clock]),
            np.ones(1, bool),
            np.array([asked]),
            slides,
            places,
        )
    return places[0], slides[0]


def test_the_ground_says_what_the_footing_finds(rng: Rng) -> None:
    ground = hill(rng)
    places = rng.uniform(-6, 6, (300, 3))
    found = footing(ground, places)
    x, z = places[:, 0], places[:, 2]
    np.testing.assert_array_equal(ground.height(x, z), found.heights)
    np.testing.assert_array_equal(ground.normal(x, z), found.normals)


def test_heights_normals_and_surfaces_are_those_of_the_twin(rng: Rng) -> None:
    ground = hill(rng)
    places = rng.uniform((-3, 0, 0), (2.5, 1, 4.5), (500, 3))
    found = footing(ground, places)
    for row, (x, _, z) in enumerate(places):
        height, normal, kind = oracle.look_down(ground, x, z)
        assert found.heights[row] == pytest.approx(height, abs=1e-12)
        np.testing.assert_allclose(found.normals[row], normal, atol=1e-12)
        assert found.surfaces[row] == kind
        assert found.paces[row] == SETTINGS.paces[kind]


def test_the_ground_goes_through_its_points_and_its_mesh(rng: Rng) -> None:
    ground = hill(rng)
    places, faces = ground.mesh()
    np.testing.assert_allclose(footing(ground, places).heights, places[:, 1], atol=1e-9)
    middles = places[faces].mean(1)
    found = footing(ground, middles)
    np.testing.assert_allclose(found.heights, middles[:, 1], atol=1e-12)
    a, b, c = (places[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    assert (normals[:, 1] > 0).all(), "seen from above they are counter-clockwise"
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    np.testing.assert_allclose(found.normals, normals, atol=1e-12)


def test_flat_ground_is_flat() -> None:
    found = footing(flat_ground(height=1.5), np.array([[3.0, 9, 4], [1e4, 0, -1e4]]))
    np.testing.assert_array_equal(found.heights, [1.5, 1.5])
    np.testing.assert_array_equal(found.normals, [[0, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("surface", "factor"), [("plain", 1), ("sand", 2), ("water", 3)]
)
def test_one_who_stands_below_the_angle_of_friction_stays_exactly(
    surface: str, factor: float
) -> None:
    angle = math.atan(SETTINGS.still * factor)
    place, slide = roll(slope(angle - 1e-6, surface), 600)
    assert place.tolist() == [0, 0, 0]
    assert slide.tolist() == [0, 0]
    place, _ = roll(slope(angle + 1e-6, surface), 600)
    assert place[0] < -0.1, "and beyond it one slides down"


@pytest.mark.parametrize(
    ("surface", "factor"), [("plain", 1), ("sand", 2), ("water", 3)]
)
def test_slides_by_what_is_left_of_the_pull(surface: str, factor: float) -> None:
    angle = math.atan(SETTINGS.still * factor) + 0.1
    _, slide = roll(slope(angle, surface), 60)
    pull, hold = math.sin(angle), SETTINGS.moving * factor * math.cos(angle)
    # The pull is the horizontal part of the normal, as the rule has it.
    assert slide[0] == pytest.approx(-(pull - hold) * SETTINGS.gravity, rel=1e-9)
    assert slide[1] == 0


def test_steeper_slopes_pull_more_and_hold_less() -> None:
    ways = [roll(slope(angle), 60)[0][0] for angle in (0.7, 0.9, 1.1)]
    assert ways[0] > ways[1] > ways[2]


def test_friction_stops_and_never_turns_round() -> None:
    speeds = []
    for ticks in range(1, 80):
        _, slide = roll(flat_ground(), ticks, slide=(3.0, -1.0))
        speeds.append(np.hypot(*slide))
        assert slide[0] >= 0 >= slide[1]
        assert slide[0] == pytest.approx(-3 * slide[1])
    less = SETTINGS.moving * SETTINGS.gravity * DT
    start = math.hypot(3, 1)
    assert speeds[0] == pytest.approx(start - less)
    assert speeds[9] == pytest.approx(start - 10 * less)
    assert speeds[-1] == 0


def test_who_asks_for_movement_has_the_smaller_friction() -> None:
    angle = math.atan((SETTINGS.still + SETTINGS.moving) / 2)
    assert roll(slope(angle), 30)[0][0] == 0
    assert roll(slope(angle), 30, asked=(0.0, 0.1))[0][0] < 0


def test_slow_clocks_slide_slower() -> None:
    whole, _ = roll(slope(0.8), 30)
    half, _ = roll(slope(0.8), 60, clock=0.5)
    assert half[0] == pytest.approx(whole[0], rel=0.05)


def test_who_is_in_the_air_does_not_slide() -> None:
    places, slides = np.zeros((2, 3)), np.zeros((2, 2))
    found = footing(slope(1.0), places)
    slide_down(
        found,
        SETTINGS,
        DT,
        np.ones(2),
        np.array([True, False]),
        np.zeros((2, 2)),
        slides,
        places,
    )
    assert slides[0, 0] < 0 == slides[1, 0]


@given(
    st.tuples(*[st.floats(-1, 1)] * 2),
    st.tuples(*[st.floats(-5, 5)] * 2),
    st.sampled_from([(0.0, 0.0), (1.0, 0.0)]),
    st.integers(0, 2),
)
def test_every_step_is_that_of_the_twin(
    gradient: tuple[float, float],
    slide: tuple[float, float],
    asked: tuple[float, float],
    kind: int,
) -> None:
    gx, gz = gradient
    heights = np.array([[-gx - gz, gx - gz], [gz - gx, gx + gz]])
    ground = make_ground(heights, (-1, -1), 2, np.full((1, 1), kind))
    places, slides = np.array([[0.1, 0.0, 0.2]]), np.array([slide])
    found = footing(ground, places)
    wanted = oracle.slip(
        DT,
        SETTINGS.gravity,
        SETTINGS.still,
        SETTINGS.moving,
        SETTINGS.factors[kind],
        found.normals[0],
        np.array(asked),
        slides[0].copy(),
        places[0].copy(),
    )
    slide_down(
        found,
        SETTINGS,
        DT,
        np.ones(1),
        np.ones(1, bool),
        np.array([asked]),
        slides,
        places,
    )
    np.testing.assert_allclose(slides[0], wanted[0], atol=1e-12)
    np.testing.assert_allclose(places[0], wanted[1], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"still": -1}, "still: -1, expected 0 to 100"),
        ({"moving": math.nan}, "moving: nan"),
        ({"gravity": 2000}, "gravity: 2000"),
        ({"still": 0.2}, "expected at least moving"),
        ({"factors": (1, 2)}, "expected one each for plain, sand, water"),
        ({"paces": (1, 2, -1)}, "paces: -1, expected 0 to 100"),
        ({"still": "a"}, "still: 'a', expected 0 to 100"),
        ({"gravity": True}, "gravity: True, expected 0 to 1000"),
        ({"factors": 3}, "factors: 3, expected one each for plain, sand, water"),
        ({"factors": None}, "factors: None, expected one each"),
        ({"paces": (1, "x", 1)}, "paces: 'x', expected 0 to 100"),
        ({"factors": "123"}, "factors: '1', expected 0 to 100"),
    ],
)
def test_settings_that_are_refused(change: dict[str, object], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        dataclasses.replace(SETTINGS, **change)  # type: ignore[arg-type]
