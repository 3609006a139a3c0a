"""Spaces of clips: which weights a value gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.errors import SettingError
from flexor.pose.play.blend_space import BlendSpace, blend_weights, make_space
from tests.oracle import blend_space as oracle

SPEEDS = {"run": 3.6, "idle": 0.0, "walk": 1.4}
GRID = {f"{x},{y}": (float(x), float(y)) for x in range(3) for y in range(3)}
SEEDS = st.integers(0, 2**32 - 1)


def random_plane(rng: np.random.Generator) -> BlendSpace:
    count = int(rng.integers(3, 9))
    return make_space({str(n): rng.normal(size=2) for n in range(count)})


def check(space: BlendSpace, values: Any) -> np.ndarray:
    """Weights are the slow twin's, not negative, and add up to 1."""
    found = blend_weights(space, values, len(values))
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(1), 1, rtol=0, atol=1e-15)
    for row, value in enumerate(values):
        wanted = oracle.weights(space, value)
        np.testing.assert_allclose(found[row], wanted, rtol=0, atol=1e-9)
    return found


def test_a_line() -> None:
    space = make_space(SPEEDS)
    assert space.clips == ("idle", "walk", "run")
    found = check(space, [0.7, 2.5, -3, 99])
    np.testing.assert_allclose(found[:2], [(0.5, 0.5, 0), (0, 0.5, 0.5)])
    assert found[2:].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert blend_weights(space, [2.5], 1).shape == (1, 3)
    assert blend_weights(space, 2.5, 4).shape == (4, 3)


@given(SEEDS)
def test_lines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 7))
    space = make_space({str(n): rng.normal() for n in range(count)})
    check(space, rng.normal(0, 1.5, 20))


@given(SEEDS)
def test_planes(seed: int) -> None:
    """Inside the hull the weighted mean of the points is the value."""
    rng = np.random.default_rng(seed)
    space = random_plane(rng)
    values = rng.normal(0, 1.5, (20, 2))
    found = check(space, values)
    assert ((found > 0).sum(1) <= 3).all()
    shares = rng.dirichlet(np.ones(len(space.clips)), 20)
    inside = shares @ space.points
    mean = check(space, inside) @ space.points
    np.testing.assert_allclose(mean, inside, rtol=0, atol=1e-9)


@pytest.mark.parametrize("points", [SPEEDS, GRID])
def test_at_a_point_it_is_exactly_that_clip(points: Any) -> None:
    space = make_space(points)
    at = space.points[:, 0] if space.points.shape[1] == 1 else space.points
    found = blend_weights(space, at, len(at))
    np.testing.assert_array_equal(found, np.eye(len(at)))


@given(SEEDS)
def test_weights_do_not_jump(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = random_plane(rng)
    ends = rng.normal(0, 2, (2, 2))
    way = ends[0] + np.linspace(0, 1, 20_001)[:, None] * (ends[1] - ends[0])
    found = blend_weights(space, way, len(way))
    step = np.abs(ends[1] - ends[0]).max() / 20_000
    a, b, c = (space.points[space.triangles[:, k]] for k in range(3))
    area = np.abs(oracle.side(a.T, b.T, c.T))
    sides = [np.linalg.norm(u - v, axis=1) for u, v in ((a, b), (b, c), (c, a))]
    steepest = (np.max(sides, 0) / area).max()  # one over the least height
    ends_of = space.points[space.edges]
    steepest = max(
        steepest, 1 / np.linalg.norm(ends_of[:, 0] - ends_of[:, 1], axis=1).min()
    )
    assert np.abs(np.diff(found, axis=0)).max() <= 2 * step * steepest + 1e-12


@given(SEEDS)
def test_no_point_is_in_the_circle_of_a_triangle(seed: int) -> None:
    space = random_plane(np.random.default_rng(seed))
    points = (space.points - space.points.min(0)) / np.ptp(space.points, 0)
    for corners in space.triangles:
        a, b, c = points[corners]
        ways = 2 * np.array([b - a, c - a])
        middle = np.linalg.solve(ways, [b @ b - a @ a, c @ c - a @ a])
        radius = np.linalg.norm(a - middle)
        away = np.linalg.norm(points - middle, axis=1)
        assert (away >= radius * (1 - 1e-7)).all()
    used = np.unique(space.triangles)
    assert used.tolist() == list(range(len(points)))


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ({}, "expected clips at numbers or pairs"),
        ([("walk", 1)], "expected clips at numbers or pairs"),
        ({"walk": "fast"}, r"points\['walk'\]: 'fast', expected a number or two"),
        ({"walk": math.nan}, r"points\['walk'\]: nan"),
        ({"walk": (1, 2, 3)}, r"points\['walk'\]"),
        ({"walk": 1.0, "run": 1.0}, "'walk' and 'run' are at the same point"),
        ({"walk": 1.0, "run": (1.0, 0)}, "some are numbers and some are pairs"),
        ({"walk": (0, 0), "run": (1, 0)}, "2 pairs, expected 3 or more"),
        ({"a": (0, 0), "b": (1, 1), "c": (2, 2)}, "on one line"),
        ({str(n): n for n in range(65)}, "65, expected at most 64"),
    ],
)
def test_spaces_that_are_none(points: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        make_space(points)


def test_values_that_are_none() -> None:
    line, plane = make_space(SPEEDS), make_space(GRID)
    for space, value in ((line, [1, 2]), (line, "x"), (plane, 1.0), (plane, [1, 2, 3])):
        with pytest.raises(SettingError, match=r"value: .*, expected"):
            blend_weights(space, value, 3)
    with pytest.raises(SettingError, match="expected finite numbers"):
        blend_weights(line, math.inf, 3)
