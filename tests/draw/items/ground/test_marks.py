"""Borders of zones and shadows of structures on the picture of a ground."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.draw.items.ground.marks import BRIGHT, LEFT, PAINTS, mark_ground
from flexor.draw.items.ground.picture import paint_ground
from flexor.draw.items.stonework import FOOT
from flexor.draw.items.sunlight import (
    UPRIGHT,
    in_shade,
    make_shades,
    sunless,
    wall_colours,
)
from flexor.draw.scene.lighting import light_on
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.light import DAYLIGHT
from flexor.scene.stage.ground import flat_ground, make_ground
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from tests.oracle.shadow_walls import is_under

WAY = (0.5, -1.0, -0.3)
PILLAR = Structure(name="pillar", middle=(0.0, 0.0), radius=0.4, high=2.0)
WALL = Structure(name="wall", ends=((-2.0, 1.0), (1.0, 2.0)), thickness=0.3, high=1.0)
CORNERS = ((1.0, -3.0), (3.0, -3.0), (3.0, -1.0), (2.0, -2.4))
BEAM = Structure(name="beam", corners=CORNERS, low=1.5, high=1.8)


def climb_slow(corners: Any, span: tuple[float, float], place: Any) -> bool:
    """The slow twin of `in_shade`: small steps up toward the sun."""
    x, y, z = place
    for up in np.arange(0.0005, max(span[1] - y, 0.0), 0.004):
        is_inside = is_under(corners, x - WAY[0] * up, z - WAY[2] * up)
        if span[0] < y + up < span[1] and is_inside:
            return True
    return False


@pytest.mark.parametrize("own", [PILLAR, WALL, BEAM])
def test_shade_is_where_the_way_to_the_sun_is_barred(own: Structure) -> None:
    span = own.low, own.high
    shades = make_shades([own], [span], WAY)
    rng = np.random.default_rng(4)
    low, high = shades.reach(0, 0.0)
    places = np.empty((200, 3))
    places[:, [0, 2]] = rng.uniform(low, high, (200, 2))
    places[:, 1] = rng.uniform(-0.2, 2.2, 200)
    found = in_shade(shades, 0, places)
    wanted = [climb_slow(shades.corners[0], span, place) for place in places]
    assert 10 < found.sum() < 190
    assert (found != np.array(wanted)).sum() <= 2, "but for what it grazes"
    outside = places + np.array([20, 0, 0])
    assert not in_shade(shades, 0, outside).any()


def test_who_stands_half_in_a_shadow_has_half_of_the_sun() -> None:
    tower = Structure(name="tower", ends=((-5, 0), (5, 0)), thickness=2.0, high=50.0)
    shades = make_shades([tower], [(0.0, 50.0)], WAY)
    places = np.array([[0.0, 0, -3], [0, 0, 3], [0, 0, 40], [0, 0, 1.0]])
    share = sunless(shades, places)
    assert share[:3].tolist() == [1, 0, 0]
    assert 0 < share[3] < 1
    assert sunless(make_shades([], [], WAY), places).tolist() == [0] * 4
    assert len(sunless(shades, places[:0])) == 0


def test_shadows_on_structures_have_their_colour() -> None:
    met = np.array([0, 0, 0, 1], np.int32)
    places = np.zeros((4, 3), np.float32)
    places[:, 1] = 0, 1, 2.004, 0.5
    both = [replace(PILLAR, colour=(0.4, 0.3, 0.2)), WALL]
    left = (0.3, 0.4, 0.5)
    found = wall_colours(both, [(0.0, 2.0), (0.0, 1.0)], met, places, left)
    own = np.array([0.4, 0.3, 0.2]) * left
    np.testing.assert_allclose(found[0], own * UPRIGHT * FOOT, rtol=1e-5)
    np.testing.assert_allclose(found[1], own * UPRIGHT * (1 + FOOT) / 2, rtol=1e-5)
    np.testing.assert_allclose(found[2], own, rtol=1e-5)
    other = np.array(WALL.colour) * left * UPRIGHT * (1 + FOOT) / 2
    np.testing.assert_allclose(found[3], other, rtol=1e-5)


def test_light_from_below_has_no_shadows() -> None:
    assert make_shades([PILLAR], [(0, 2)], (0.5, 1.0, 0.0)).corners == ()
    assert make_shades([PILLAR], [(0, 2)], (1.0, -0.001, 0.0)).corners == ()


def shaded(structures: Any, ground: Any = None) -> tuple[Any, Any]:
    """The picture of a ground as it was, and with shadows."""
    ground = flat_ground(10.0) if ground is None else ground
    plain = paint_ground(ground, "stone")
    spans = [(own.low, own.high) for own in structures]
    shades = make_shades(structures, spans, WAY)
    return plain, mark_ground(plain, ground, shades=shades, lights=DAYLIGHT)


def dark_part(plain: Any, marked: Any) -> Any:
    """How much darker than it was each pixel is: 0 to 1 of what shade takes."""
    up = np.array([[0.0, 1.0, 0.0]])
    left = np.array(LEFT) / light_on(DAYLIGHT, 0 * up, up)[0]
    before, after = (linear_from_srgb(one.pixels[..., :3]) for one in (plain, marked))
    return ((1 - after / before) / (1 - left)).mean(-1)


def test_a_shadow_is_as_long_as_the_sun_is_low() -> None:
    plain, marked = shaded([PILLAR])
    np.testing.assert_array_equal(plain.light, marked.light)
    dark = dark_part(plain, marked)
    fine = 64.0
    assert dark.max() == pytest.approx(1, abs=0.03)
    z, x = (np.argwhere(dark > 0.5) / fine - 5).T
    assert x.max() == pytest.approx(2 * 0.5 + 0.4, abs=0.04)
    assert z.min() == pytest.approx(-2 * 0.3 - 0.4, abs=0.04)
    # A circle moved along: its own area and a band as wide as it.
    area = (dark > 0.5).sum() / fine**2
    wanted = math.pi * 0.4**2 + 0.8 * 2 * math.hypot(0.5, 0.3)
    assert area == pytest.approx(wanted, rel=0.02)


def test_shadows_over_each_other_are_no_darker() -> None:
    near = Structure(name="other", middle=(0.3, -0.2), radius=0.4, high=2.0)
    plain, marked = shaded([PILLAR, near])
    assert dark_part(plain, marked).max() < 1.04


def test_shadows_follow_the_ground() -> None:
    heights = np.zeros((41, 41))
    heights[:, 22:] = 1.0  # from x = 0.5 on
    ground = make_ground(heights, (-5, -5), 0.25)
    plain, marked = shaded([PILLAR], ground)
    _, x = (np.argwhere(dark_part(plain, marked) > 0.5) / 64 - 5).T
    assert x.max() == pytest.approx(1 * 0.5 + 0.4, abs=0.05), "half as high"


@pytest.mark.parametrize("keeps", ["in", "out"])
def test_a_border_lies_along_the_walls_of_a_zone(keeps: Any) -> None:
    ground = flat_ground(10.0)
    corners = np.array([(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (0.0, 1.0), (-3.0, 3.0)])
    plain = paint_ground(ground, "grass")
    marked = mark_ground(plain, ground, zones=[Zone(corners, keeps)])
    changed = np.abs(marked.light - plain.light).max(-1) > 1e-6
    z, x = (np.argwhere(changed) + 0.5).T / 64 - 5
    ends = np.roll(corners, -1, 0)
    away = np.full(len(x), np.inf)
    for a, b in zip(corners, ends, strict=True):
        share = ((np.stack([x, z], 1) - a) @ (b - a) / ((b - a) @ (b - a))).clip(0, 1)
        spot = a + share[:, None] * (b - a)
        away = np.minimum(away, np.hypot(x - spot[:, 0], z - spot[:, 1]))
    assert 0.1 < away.max() < 0.25
    middle, side = marked.light[128:384, 128], marked.light[128:384, 121]
    np.testing.assert_allclose(middle.mean(0), BRIGHT, rtol=0.12)
    np.testing.assert_allclose(side.mean(0), PAINTS[keeps], atol=0.05)
    # Pixels at its edge are between paint and ground: it is smooth.
    steps = np.abs(np.diff(marked.light[200, 100:150, 1]))
    assert np.count_nonzero(steps > 0.01) >= 4


def test_without_marks_the_picture_is_as_it_was() -> None:
    ground = flat_ground(4.0)
    plain = paint_ground(ground)
    nothing = make_shades([], [], WAY)
    assert mark_ground(plain, ground, shades=nothing, lights=DAYLIGHT) is plain


def test_borders_of_large_grounds_are_a_pixel_wide_at_least() -> None:
    ground = flat_ground(500.0)
    plain = paint_ground(ground)
    corners = np.array([(-100.0, -100.0), (100.0, -100.0), (0.0, 100.0)])
    marked = mark_ground(plain, ground, zones=[Zone(corners, "in")])
    changed = np.abs(marked.light - plain.light).max(-1) > 0.05
    around = 200 + 2 * math.hypot(100, 200)
    assert changed.sum() > around * len(plain.light) / 500
