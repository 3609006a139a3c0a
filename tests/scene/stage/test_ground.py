"""Grounds: what is refused, and how high and which way they are at places."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import FlexorError, ShapeError
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from tests.oracle import movement as oracle

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


def hill(rng: np.random.Generator) -> Ground:
    return make_ground(rng.normal(size=(5, 7)), (-2.0, 1.0), 0.5)


def test_heights_and_normals_are_those_of_the_slow_twin(
    rng: np.random.Generator,
) -> None:
    ground = hill(rng)
    x, z = rng.uniform(-4, 3, 60), rng.uniform(-1, 5, 60)  # beyond all edges, too
    heights, normals = ground.height(x, z), ground.normal(x, z)
    for row in range(len(x)):
        height, normal, _ = oracle.look_down(ground, x[row], z[row])
        assert heights[row] == pytest.approx(height, abs=1e-12)
        np.testing.assert_allclose(normals[row], normal, atol=1e-12)


def test_places_may_be_numbers_lists_or_grids(rng: np.random.Generator) -> None:
    ground = hill(rng)
    one = ground.height(0.2, 1.7)
    assert type(one) is float
    assert ground.normal(0.2, 1.7).shape == (3,)
    assert ground.height([0.2], 1.7).tolist() == [one]
    x, z = np.linspace(-2, 1, 4), np.linspace(1, 3, 3)[:, None]
    grid, normals = ground.height(x, z), ground.normal(x, z)
    assert (grid.shape, normals.shape) == ((3, 4), (3, 4, 3))
    assert grid[2, 1] == ground.height(x[1], z[2, 0])
    np.testing.assert_array_equal(normals[2, 1], ground.normal(x[1], z[2, 0]))
    assert ground.height(np.zeros((0, 2)), 1).shape == (0, 2)
    assert ground.height(np.float32(0.5), np.int32(2)) == ground.height(0.5, 2)


@pytest.mark.parametrize(
    ("x", "z", "text"),
    [
        (np.nan, 0, "x: nan, expected a finite number of metres"),
        (0, [[0, 1], [2, np.inf]], r"z\[1, 1\]: inf, expected a finite"),
        ([0, 1, 2], [0, 1], r"x, z: shapes \(3,\) and \(2,\) do not go together"),
        ("here", 0, "x: 'here', expected metres"),
        (0, None, "z: nan"),
    ],
)
def test_places_that_are_none_are_refused(x: object, z: object, text: str) -> None:
    for look in (flat_ground().height, flat_ground().normal):
        with pytest.raises(ShapeError, match=text):
            look(x, z)  # type: ignore[arg-type]
