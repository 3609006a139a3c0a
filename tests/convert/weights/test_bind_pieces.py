"""Pieces: seams between them, eyes, and what is rigid."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.convert.weights.bind_pieces import (
    find_seams,
    is_eye,
    join_pieces,
    spare_skin,
    stiffen_pieces,
    stiffen_rigid,
)


def test_rims_that_touch_are_a_seam() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    points = np.concatenate([square, square + np.array([1.0005, 0, 0]), square + 5])
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    faces = np.concatenate([faces, faces + 4, faces + 8])
    pieces = np.repeat(np.arange(3, dtype=np.int32), 4)
    seams = find_seams(points, faces, pieces, 5.0)
    assert sorted(map(tuple, np.sort(seams, axis=1).tolist())) == [(1, 4), (2, 7)]
    joined = join_pieces(pieces, seams)
    assert joined[0] == joined[4] != joined[8]
    assert not len(find_seams(points, faces[:2], pieces, 5.0))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("EyeLeft", True), ("mixamorig:LeftEye", True), ("Eyebrow.R", False), ("Head", 0)],
)
def test_eyes_by_name(name: str, wanted: bool) -> None:
    assert is_eye(name) == bool(wanted)


def test_eyes_spare_the_skin() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.1, 0, 0], [0.2, 0, 0]])
    pieces = np.array([0, 0, 1, 1], np.int32)
    homes = np.ones((2, 2), bool)
    spare_skin(homes, ["Head", "Eye.L"], points, pieces, 1.0)
    assert homes.tolist() == [[True, False], [True, True]]


def test_a_small_piece_hangs_on_what_it_sits_on() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.95, 0.1, 0], [1.0, 0.1, 0]])
    pieces = np.array([0, 0, 1, 1], np.int32)
    weights = np.array([[1, 0], [0.2, 0.8], [1, 0], [1, 0]], np.float32)
    stiffen_pieces(weights, points, pieces, np.array([False, True]), 1.0)
    np.testing.assert_allclose(weights, [[1, 0], [0.2, 0.8], [0, 1], [0, 1]])


def test_rigid_points_have_one_bone() -> None:
    pieces = np.array([0, 0, 0, 1, 1, 2], np.int32)
    weights = np.array(
        [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [1, 0], [0, 1], [0.3, 0.7]], np.float32
    )
    stiffen_rigid(weights, pieces, np.array([1, 1, 1, 1, 1, 0], bool))
    whole = [[1, 0], [1, 0], [1, 0]]  # mostly of the first
    np.testing.assert_allclose(weights, [*whole, [1, 0], [0, 1], [0.3, 0.7]])
