"""Ellipses of bones as lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.draw.items.sections import SectionShapes, build_sections, trim_lines
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
CAMERA = Camera((0, 0, 5), (0, 0, 0), height=4.0)
SIZE = 400, 400


def shapes(length: float = 2.0, count: int = 24) -> SectionShapes:
    """A bone along X at node 1, 0.5 wide in Y and 0.25 in Z."""
    turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
    rings = np.zeros((1, 2, count, 3), np.float32)
    rings[..., 1], rings[..., 2] = 0.5 * np.cos(turns), 0.25 * np.sin(turns)
    rings[:, 1, :, 0] = length
    axes = np.zeros((1, 2, 3), np.float32)
    axes[:, 1, 0] = length
    colours = np.array([(0.5, 0.25, 0.125)], np.float32)
    return SectionShapes(np.array([1], np.int32), rings, axes, colours, part=7)


def world(rng: Rng) -> Any:
    moved = np.tile(np.eye(3, 4, dtype=np.float32), (3, 1, 1))
    moved[1] = rng.normal(size=(3, 4))
    return moved


def test_rings_go_with_their_node(rng: Rng) -> None:
    moved = world(rng)
    bold, faint, thin, _ = build_sections(shapes(), moved, 2.0, CAMERA, SIZE)
    assert (bold.layer, faint.layer) == (0, 1)
    assert bold.width > thin.width
    assert {line.part for line in (bold, faint, thin)} == {7}
    assert len(bold.points) == 2 * 24
    back = np.linalg.inv(moved[1, :, :3].astype(np.float64))
    local = (bold.points.astype(np.float64) - moved[1, :, 3]) @ back.T
    np.testing.assert_allclose(local[:24, :, 0], 0, atol=1e-4)
    np.testing.assert_allclose(local[24:, :, 0], 2, atol=1e-4)
    round_ = (local[..., 1] / 0.5) ** 2 + (local[..., 2] / 0.25) ** 2
    np.testing.assert_allclose(round_, 1, atol=1e-3)
    # Closed: each ends where the next begins.
    np.testing.assert_array_equal(bold.points[:23, 1], bold.points[1:24, 0])
    np.testing.assert_array_equal(bold.points[23, 1], bold.points[0, 0])
    np.testing.assert_allclose(bold.colours[:, :3], [(0.5, 0.25, 0.125)] * 48)
    assert (bold.colours[:, 3] == 1).all()
    assert (faint.colours[:, 3] < 1).all()


def test_sides_join_base_and_tip() -> None:
    still = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    _, _, thin, _ = build_sections(shapes(), still, 2.0, CAMERA, SIZE)
    np.testing.assert_allclose(thin.points[:, 0, 0], 0, atol=1e-6)
    np.testing.assert_allclose(thin.points[:, 1, 0], 2, atol=1e-6)
    np.testing.assert_allclose(thin.points[:, 0, 1:], thin.points[:, 1, 1:])
    np.testing.assert_allclose(thin.points[-1], [(0, 0, 0), (2, 0, 0)])  # the axis


def test_a_bone_without_length_has_one_ring() -> None:
    still = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    bold, _, thin, _ = build_sections(shapes(0.0), still, 2.0, CAMERA, SIZE)
    assert len(bold.points) == 24
    assert not len(thin.points)


def test_nothing_and_what_is_not_finite() -> None:
    none = SectionShapes(
        np.zeros(0, np.int32),
        np.zeros((0, 2, 8, 3), np.float32),
        np.zeros((0, 2, 3), np.float32),
        np.zeros((0, 3), np.float32),
    )
    still = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    assert build_sections(none, still, 2.0, CAMERA, SIZE) == ()
    assert len(build_sections(shapes(), still * np.nan, 2.0, CAMERA, SIZE)) == 4


def test_lines_are_trimmed_by_half_their_width() -> None:
    # 100 pixels a metre: a line of 1 m, one of 1 cm, one that points at the camera.
    points = np.array(
        [[(0, 0, 0), (1, 0, 0)], [(0, 0, 0), (0, 0.01, 0)], [(0, 0, 0), (0, 0, 1)]],
        np.float32,
    )
    cut = trim_lines(points, 8.0, CAMERA, SIZE)
    seen = CAMERA.project(cut, SIZE)[..., :2]
    long = np.linalg.norm(seen[:, 1] - seen[:, 0], axis=1)
    np.testing.assert_allclose(long[0], 92, atol=1e-3)
    assert 0 <= long[1] < 0.05
    np.testing.assert_allclose(cut.mean(1), points.mean(1), atol=1e-6)
    behind = Camera((0, 0, -5), (0, 0, -9))
    np.testing.assert_array_equal(trim_lines(points, 8.0, behind, SIZE), points)
