"""Pieces: seams between them, eyes, and what is rigid."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.convert.weights.bind_pieces import (
    bones_of_pieces,
    find_seams,
    is_eye,
    join_pieces,
    spare_skin,
    stiffen_pieces,
    stiffen_rigid,
)
from flexor.convert.weights.choose_bones import BoneLines


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
    is_boneless = np.array([False, True])
    stiffen_pieces(weights, points, pieces, is_boneless, ~is_boneless, 1.0)
    np.testing.assert_allclose(weights, [[1, 0], [0.2, 0.8], [0, 1], [0, 1]])


def test_rigid_points_have_one_bone() -> None:
    pieces = np.array([0, 0, 0, 1, 1, 2], np.int32)
    weights = np.array(
        [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [1, 0], [0, 1], [0.3, 0.7]], np.float32
    )
    stiffen_rigid(weights, pieces, np.array([1, 1, 1, 1, 1, 0], bool))
    whole = [[1, 0], [1, 0], [1, 0]]  # mostly of the first
    np.testing.assert_allclose(weights, [*whole, [1, 0], [0, 1], [0.3, 0.7]])


def box(low: float, high: float, wide: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and faces of a closed box along x."""
    points = np.array(
        [[x, y, z] for x in (low, high) for y in (-wide, wide) for z in (-wide, wide)]
    )
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4)]
    sides.append((1, 5, 7, 3))
    faces = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    return points, np.array(faces, np.int32)


def homes_in(
    boxes: list[tuple[float, float, float]], starts: list[float]
) -> tuple[list[list[bool]], list[bool]]:
    """Homes of two bones along x, 0 to 1 and 1 to 2, in boxes; starts: of the bones."""
    parts = [box(*given) for given in boxes]
    points = np.concatenate([points for points, _ in parts])
    faces = np.concatenate([faces + 8 * i for i, (_, faces) in enumerate(parts)])
    pieces = np.repeat(np.arange(len(parts), dtype=np.int32), 8)
    bases = np.array([[0.0, 0, 0], [1, 0, 0]])
    lines = BoneLines(
        rows=np.arange(2, dtype=np.int32),
        bases=bases,
        starts=np.array([[x, 0, 0] for x in starts]),
        ends=bases + np.array([1.0, 0, 0]),
        forks=np.zeros(0, np.int32),
        fork_ends=np.zeros((0, 3)),
    )
    homes, is_seat = bones_of_pieces(points, faces.astype(np.int32), pieces, lines)
    return homes.tolist(), is_seat.tolist()


def test_bones_heat_the_pieces_that_hold_most_of_them() -> None:
    homes, is_seat = homes_in([(-0.1, 0.99, 0.2), (1.01, 2.1, 0.2)], [0, 1])
    assert homes == [[True, False], [False, True]]
    assert is_seat == [True, True]


def test_a_ball_at_a_joint_is_heated_by_both_bones_and_nothing_sits_on_it() -> None:
    upper, lower = (-0.1, 0.99, 0.2), (1.01, 2.1, 0.2)
    homes, is_seat = homes_in([upper, lower, (0.8, 1.2, 0.3)], [0, 1])
    assert homes[2] == [True, True]
    assert homes[:2] == [[True, False], [False, True]]
    assert is_seat == [True, True, False]
    # A button on the skin, which no bone passes through, has none.
    homes, is_seat = homes_in([(-0.1, 2.1, 0.2), (5, 5.1, 0.1)], [0, 1])
    assert homes == [[True, True], [False, False]]
    assert is_seat == [True, False]


def test_a_piece_that_fills_a_gap_is_heated_too() -> None:
    """Trousers hold the lower end of the bone above, where nothing else does."""
    homes, _ = homes_in([(-0.1, 0.7, 0.2), (0.72, 2.1, 0.2)], [0, 1])
    assert homes == [[True, False], [True, True]]
    # Where its own piece goes on below, they are not.
    homes, _ = homes_in([(-0.1, 1.1, 0.2), (0.72, 2.1, 0.2)], [0, 1])
    assert homes == [[True, False], [False, True]]


def test_a_limb_is_held_from_where_it_leaves_the_trunk() -> None:
    trunk, limb = (-0.1, 1.6, 0.4), (1.0, 2.1, 0.2)
    assert homes_in([trunk, limb], [0, 1])[0] == [[True, True], [False, True]]
    assert homes_in([trunk, limb], [0, 1.5])[0] == [[True, False], [False, True]]


def test_a_limb_that_nothing_holds_further_out_is_of_what_holds_its_base() -> None:
    homes, _ = homes_in([(-0.1, 1.3, 0.2), (5, 5.1, 0.1)], [0, 1.5])
    assert homes[0] == [True, True]
