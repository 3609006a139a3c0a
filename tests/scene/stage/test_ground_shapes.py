"""Grounds made of shapes, against a slow walk over every point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage import ground_shapes
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.layout import SURFACES


def slow_ground(ground: Ground, patches: list[Patch]) -> tuple[Any, Any]:
    """Heights and surfaces of patches on a flat ground, point by point."""
    rows, columns = ground.heights.shape
    heights = np.zeros((rows, columns))
    surfaces = np.zeros((rows - 1, columns - 1), int)
    (x0, z0), step = ground.corner, ground.step
    for patch in patches:
        mx, mz = patch.centre
        for row, column in np.ndindex(rows, columns):
            x, z = x0 + column * step, z0 + row * step
            away = slow_distance(patch, x, z)
            part = float(away <= 1e-9)
            if patch.edge:
                part = min(max(1 - away / patch.edge, 0), 1)
            old = heights[row, column]
            new = old if patch.height is None else patch.height
            new += patch.rise + patch.tilt[0] * (x - mx) + patch.tilt[1] * (z - mz)
            heights[row, column] = old + part * part * (3 - 2 * part) * (new - old)
        for row, column in np.ndindex(rows - 1, columns - 1):
            x, z = x0 + (column + 0.5) * step, z0 + (row + 0.5) * step
            if patch.surface and slow_distance(patch, x, z) <= 0:
                surfaces[row, column] = SURFACES.index(patch.surface)
    return heights, surfaces


def slow_distance(patch: Patch, x: float, z: float) -> float:
    if patch.area is None:
        assert patch.middle is not None
        assert patch.radius is not None
        return math.dist(patch.middle, (x, z)) - patch.radius
    a, b, c, d = patch.area
    near = min(max(x, a), c), min(max(z, b), d)
    away = math.dist(near, (x, z))
    return away or -min(x - a, c - x, z - b, d - z)


# On quarters of metres, so that points and rims meet; sizes are of eighths.
quarters = st.integers(-30, 30).map(lambda n: n / 4)
sizes = st.integers(0, 20).map(lambda n: n / 4 + 0.125)
looks = st.fixed_dictionaries(
    {
        "height": st.none() | quarters,
        "rise": quarters,
        "tilt": st.tuples(quarters, quarters),
        "edge": st.sampled_from([0.0, 0.3, 2.0]),
        "surface": st.sampled_from(["", *SURFACES]),
    }
)
circles = st.builds(
    lambda x, z, radius, look: Patch(middle=(x, z), radius=radius, **look),
    *(quarters, quarters, sizes, looks),
)
areas = st.builds(
    lambda x, z, w, h, look: Patch(area=(x, z, x + w, z + h), **look),
    *(quarters, quarters, sizes, sizes, looks),
)


@settings(max_examples=60)
@given(st.lists(circles | areas, max_size=3), st.sampled_from([0.5, 0.75, 2.0]))
def test_patches_are_laid_in_order(patches: list[Patch], step: float) -> None:
    ground = shape_ground((6, 4.5), step, patches)
    heights, surfaces = slow_ground(ground, patches)
    assert np.allclose(ground.heights, heights, atol=1e-9)
    assert (ground.surfaces == surfaces).all()


def test_size_is_around_the_origin() -> None:
    ground = shape_ground((24, 18), 0.5)
    assert ground.heights.shape == (37, 49)
    assert ground.corner == (-12, -9)
    assert not ground.heights.any()
    usual = shape_ground()
    assert usual.heights.shape == (81, 81)
    near = shape_ground((1.1, 0.9), 0.5)  # of whole cells
    assert near.surfaces.shape == (2, 2)


def test_bumps_are_by_chance_and_no_higher() -> None:
    one, same, other = (shape_ground((9, 9), rough=0.2, seed=s) for s in (3, 3, 4))
    assert (one.heights == same.heights).all()
    assert (one.heights != other.heights).any()
    assert 0.05 < np.abs(one.heights).max() <= 0.2
    flat = shape_ground((9, 9), 0.5, [Patch(area=(-5, -5, 5, 5), height=1)], rough=0.2)
    assert np.allclose(flat.heights, 1, atol=1e-12)


def test_areas_may_begin_at_any_corner() -> None:
    assert Patch(area=(3, 2, 1, 4)).area == (1, 2, 3, 4)
    assert Patch(area=(3, 2, 1, 4)).centre == (2, 3)
    assert Patch(middle=(1, 2), radius=3).centre == (1, 2)


def test_an_edge_next_to_nothing_is_none() -> None:
    sheer, thin = (
        shape_ground((4, 4), 0.5, [Patch(area=(-1, -1, 1, 1), rise=1, edge=edge)])
        for edge in (0, 5e-324)
    )
    assert (sheer.heights == thin.heights).all()
    assert sheer.heights.sum() == 25


def test_patches_off_the_ground_change_nothing() -> None:
    for middle in ((99, 0), (-99, 0), (0, 99), (0, -99)):
        patch = Patch(middle=middle, radius=5, rise=1, surface="water")
        ground = shape_ground((4, 4), 0.5, [patch])
        assert not ground.heights.any()
        assert not ground.surfaces.any()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({}, "area: missing, expected area, or middle and radius"),
        ({"middle": (0, 0)}, "area: missing"),
        ({"radius": 1}, "area: missing"),
        ({"area": (0, 0, 1, 1), "radius": 1}, "area: expected area, or middle and"),
        ({"area": (0, 0, 1, 1), "middle": (0, 0)}, "area: expected area, or middle"),
        ({"area": (0, 0, 0, 1)}, "area: .*, expected corners apart"),
        ({"area": (0, 0, 1)}, "area: .*, expected 4 numbers"),
        ({"area": 3}, "area: 3, expected 4 numbers"),
        ({"area": (0, 0, 1, "1")}, "area: '1', expected -100000 to 100000"),
        ({"area": (0, 0, 1, math.nan)}, "area: nan, expected"),
        ({"middle": (0, 0), "radius": 0}, "radius: 0, expected above 0"),
        ({"middle": (0, 1e9), "radius": 1}, "middle: 1000000000.0, expected"),
        ({"height": math.inf}, "height: inf, expected -1000 to 1000"),
        ({"rise": 2000}, "rise: 2000, expected"),
        ({"tilt": (0, 101)}, "tilt: 101, expected -100 to 100"),
        ({"edge": -1}, "edge: -1, expected 0 to"),
        ({"surface": "mud"}, "surface: 'mud', expected one of plain, sand, water"),
    ],
)
def test_patches_that_are_none(words: dict[str, Any], fault: str) -> None:
    if not {"area", "middle", "radius"} & words.keys() and words:
        words = {"area": (0, 0, 1, 1)} | words
    with pytest.raises(SettingError, match=fault):
        Patch(**words)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"size": (1,)}, "size: .*, expected 2 numbers"),
        ({"size": (-4, 4)}, "size: -8 by 8 cells of 0.5 m, expected 1 to 4096"),
        ({"size": (0.1, 4)}, "size: 0 by 8 cells"),
        ({"size": (4000, 4)}, "size: 8000 by 8 cells"),
        ({"step": 0}, "step: 0, expected 0.001 to"),
        ({"step": math.nan}, "step: nan, expected"),
        ({"rough": -1}, "rough: -1, expected 0 to 1000"),
        ({"seed": -1}, "seed: -1, expected a whole number from 0"),
        ({"seed": 0.5}, "seed: 0.5, expected a whole number from 0"),
        ({"patches": [3]}, r"patches\[0\]: int, expected Patch"),
    ],
)
def test_grounds_that_are_none(words: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingError, match=fault):
        shape_ground(**words)


def test_grounds_that_are_too_high() -> None:
    steep = Patch(area=(-20, -20, 20, 20), tilt=(100, 0))
    with pytest.raises(ShapeError, match="heights: expected metres of at most"):
        shape_ground(patches=[steep] * 99)


def test_patches_on_very_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that a patch can change count, and one around."""
    small = Patch(middle=(0, 0), radius=0.5)
    monkeypatch.setattr(ground_shapes, "MOST_POINTS", 500)
    shape_ground((40, 40), 0.5, [small] * 10)
    with pytest.raises(SettingError, match=r"of the ground in 1 patches, expected 500"):
        shape_ground((40, 40), 0.5, [Patch(area=(-20, -20, 20, 20))])
