"""Grounds that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import FlexorError
from flexor.scene.stage.ground import Ground, flat_ground, make_ground

FLAT = np.zeros((3, 4))


def test_a_ground_is_frozen() -> None:
    ground = make_ground(FLAT, (0, 0), 1.0, "sand")
    assert ground.surfaces.tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(ValueError, match="read-only"):
        ground.heights[0, 0] = 1
    assert flat_ground(10).corner == (-5, -5)


@pytest.mark.parametrize(
    ("heights", "corner", "step", "surfaces", "text"),
    [
        (np.zeros((1, 4)), (0, 0), 1.0, "plain", "1 x 4, expected 2 to"),
        (FLAT[0], (0, 0), 1.0, np.zeros((2, 3)), "heights: shape"),
        (FLAT * np.nan, (0, 0), 1.0, "plain", "heights: expected metres"),
        (FLAT, (0, 0), 0.0, "plain", "step: 0.0, expected metres"),
        (FLAT, (0,), 1.0, "plain", "corner: \\(0,\\), expected x and z"),
        (FLAT, (0, 1e9), 1.0, "plain", "corner"),
        (FLAT, (0, 0), 1.0, "ice", "'ice', expected one of plain, sand, water"),
        (FLAT, (0, 0), 1.0, np.zeros((3, 4)), "surfaces: shape"),
        (FLAT, (0, 0), 1.0, np.full((2, 3), 7), "surfaces: 7, expected 0 to 2"),
    ],
)
def test_refused(
    heights: np.ndarray, corner: tuple, step: float, surfaces: object, text: str
) -> None:
    with pytest.raises(FlexorError, match=text):
        make_ground(heights, corner, step, surfaces)  # type: ignore[arg-type]


def test_a_ground_knows_its_highest_point() -> None:
    heights = np.array([[-3.0, 0.5], [2.25, -1.0], [0.0, 2.0]])
    assert make_ground(heights, (0, 0), 1.0).highest == 2.25
    assert make_ground(heights - 5, (0, 0), 1.0).highest == -2.75


def test_a_ground_made_by_hand_is_checked_too() -> None:
    with pytest.raises(FlexorError, match="surfaces"):
        Ground(np.zeros((2, 2)), (0, 0), 1.0, np.zeros((2, 2), np.uint8))
