from __future__ import annotations

import numpy as np
import pytest

from flexor.cli.turntable import fit_turning

Rng = np.random.Generator


@pytest.mark.parametrize("is_flat", [False, True])
@pytest.mark.parametrize("view", [(0.0, 0.0), (0.5, 0.2), (2.0, -0.6), (0.0, 1.57)])
@pytest.mark.parametrize("size", [(640, 480), (90, 300)])
def test_everything_stays_in_the_picture(
    rng: Rng, is_flat: bool, view: tuple[float, float], size: tuple[int, int]
) -> None:
    points = rng.normal(size=(3, 200, 3)) * (0.3, 1.0, 0.8) + (5, 1, -2)
    camera = fit_turning(points, size, view, is_flat)
    largest = 0.0
    for angle in np.linspace(0, 2 * np.pi, 50):
        seen = camera.turned(angle).project(points, size)
        assert (seen[..., :2] >= 0).all()
        assert (seen[..., :2] <= size).all()
        share = np.abs(seen[..., :2] / size - 0.5).max()
        largest = max(largest, float(share))
    assert largest > 0.36, "and is not far away"


@pytest.mark.parametrize(
    "points", [np.zeros((0, 3)), np.zeros((1, 3)), [[0, np.nan, 0]]]
)
def test_next_to_nothing(points: np.ndarray) -> None:
    camera = fit_turning(np.asarray(points), (64, 48), (0.3, 0.2))
    assert np.isfinite(camera.turned(1.0).eye).all()
