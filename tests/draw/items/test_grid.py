"""The grid on the floor."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.draw.items.grid import grid_spacing, ground_grid


@pytest.mark.parametrize(
    ("size", "spacing"),
    [(1.8, 0.2), (4, 1), (0.04, 0.01), (150, 20), (20, 5), (19.9, 2), (1e6, 200_000)],
)
def test_spacing(size: float, spacing: float) -> None:
    assert grid_spacing(size) == pytest.approx(spacing)


def test_spacing_is_always_one_two_or_five() -> None:
    for size in np.geomspace(1e-20, 1e20, 200):
        step = grid_spacing(float(size))
        digit = step / 10 ** np.floor(np.log10(step * 1.0001))
        assert min(abs(digit - n) for n in (1, 2, 5)) < 1e-3
        assert 4 * 0.999 <= size / step <= 10 * 1.001


def test_odd_sizes() -> None:
    for size in (0, -1, np.nan, np.inf):
        assert grid_spacing(size) == 1
        assert np.isfinite(ground_grid((0, 0, 0), size).points).all()


def test_lines_lie_on_multiples_around_the_centre() -> None:
    grid = ground_grid((3.33, 7, -2.1), 1.8, 0.5)
    assert (grid.points[..., 1] == 0.5).all()
    flat = grid.points[..., [0, 2]] / 0.2
    assert np.abs(flat - np.round(flat)).max() < 1e-4
    middle = grid.points.reshape(-1, 3).mean(0)
    np.testing.assert_allclose(middle[[0, 2]], (3.33, -2.1), atol=0.2)
    # Pieces of one step, along x and along z.
    steps = np.abs(np.diff(flat, axis=1)[:, 0])
    np.testing.assert_allclose(steps.sum(1), 1, atol=1e-4)
    assert (steps > 0.5).any(0).all()
    pieces = {tuple(map(tuple, np.round(piece).astype(int))) for piece in flat}
    assert len(pieces) == len(flat)


def test_it_fades() -> None:
    grid = ground_grid((0, 0, 0), 1.8)
    away = np.linalg.norm(grid.points.mean(1)[:, [0, 2]], axis=1)
    order = np.argsort(away)
    assert (np.diff(grid.colours[order, 3]) <= 1e-6).all()
    assert grid.colours[order[0], 3] > 0.5
    assert grid.colours[order[-1], 3] < 0.05


def test_a_centre_that_is_not_finite_is_the_origin() -> None:
    odd, plain = ground_grid((np.nan, 0, np.inf), 1), ground_grid((0, 0, 0), 1)
    np.testing.assert_array_equal(odd.points, plain.points)
