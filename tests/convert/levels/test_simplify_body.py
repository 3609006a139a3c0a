"""Fewer triangles over the same vertices, and vertices that become one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from flexor.convert.levels.simplify_body import MOST_ATTRIBUTES, simplify, weld_corners
from flexor.errors import BackendMissing, ShapeError
from tests.convert.shape.tubes import tube


def sheet(size: int) -> tuple[Any, Any]:
    """A flat sheet of size x size vertices, and its triangles."""
    x, y = np.meshgrid(np.arange(size), np.arange(size))
    places = np.stack([x, y, 0 * x], 2).reshape(-1, 3).astype(np.float32)
    first = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).ravel()
    a, b, c, d = first, first + 1, first + size + 1, first + size
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return places, faces.astype(np.int32)


def plain(faces: Any, places: Any, target: int, **more: Any) -> Any:
    none = np.zeros((len(places), 0), np.float32), np.zeros(0, np.float32)
    return simplify(faces, places, *none, target, **more)


def area(places: Any, faces: Any) -> float:
    a, b, c = places[faces].astype(float).transpose(1, 0, 2)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def test_a_flat_sheet_needs_few_triangles() -> None:
    places, faces = sheet(9)
    left = plain(faces, places, 2)
    assert left.dtype == np.int32
    assert 2 <= len(left) <= 16
    assert area(places, left) == pytest.approx(64)


def test_results_are_nested_and_the_same_each_time() -> None:
    positions, normals, faces = tube(np.linspace(0, 6, 30))
    places = positions.astype(np.float32)
    looks = normals.astype(np.float32)
    weights = np.full(3, 0.1, np.float32)
    last = faces.astype(np.int32)
    for target in (900, 400, 120):
        left = simplify(last, places, looks, weights, target)
        again = simplify(last, places, looks, weights, target)
        np.testing.assert_array_equal(left, again)
        assert target * 0.8 <= len(left) <= target
        assert set(np.unique(left)) <= set(np.unique(last))
        last = left


def test_attributes_keep_vertices_where_they_change() -> None:
    """A sheet that is bent in another pose keeps the line it bends along."""
    places, faces = sheet(17)
    bent = np.abs(places[:, :1] - 8)
    weights = np.ones(1, np.float32)
    left = simplify(faces, places, bent, weights, 8)
    assert (places[np.unique(left), 0] == 8).any()
    x = places[left, 0]
    assert not ((x.min(1) < 8) & (x.max(1) > 8)).any()
    flat = simplify(faces, places, bent, 0 * weights, 8)
    x = places[flat, 0]
    assert ((x.min(1) < 8) & (x.max(1) > 8)).any()


def test_seams_stay_closed() -> None:
    """Two halves whose vertices are their own where they meet."""
    positions, _, faces = tube(np.linspace(0, 6, 31))
    both = np.concatenate([positions, positions]).astype(np.float32)
    is_far = positions[faces][:, :, 0].mean(1) > 3
    parts = np.where(is_far[:, None], faces + len(positions), faces).astype(np.int32)
    left = plain(parts, both, 400)
    assert len(left) <= 400
    is_far = left >= len(positions)
    assert (is_far == is_far[:, :1]).all()  # no triangle is of both
    rim = [
        set(map(tuple, both[np.unique(part)][both[np.unique(part), 0] == 3].tolist()))
        for part in (left[is_far[:, 0]], left[~is_far[:, 0]])
    ]
    assert rim[0] == rim[1]
    assert len(rim[0]) >= 3


def test_locked_vertices_stay() -> None:
    places, faces = sheet(9)
    locked = np.zeros(len(places), bool)
    locked[40] = True  # in the middle of a flat sheet
    assert 40 not in plain(faces, places, 8, prune=False)
    assert 40 in plain(faces, places, 8, locked=locked, prune=False)


def test_small_parts_vanish_only_if_they_may() -> None:
    """A button beside a tube, whose own vertices cannot move."""
    positions, _, faces = tube(np.linspace(0, 6, 30))
    button, more = sheet(3)
    places = np.concatenate([positions, button / 1000]).astype(np.float32)
    whole = np.concatenate([faces, more + len(positions)]).astype(np.int32)
    locked = np.arange(len(places)) >= len(positions)
    kept = plain(whole, places, 60, locked=locked, prune=False)
    assert np.count_nonzero((kept >= len(positions)).all(1)) == len(more)
    assert plain(whole, places, 60, locked=locked).max() < len(positions)


def test_nothing_to_do() -> None:
    places, faces = sheet(3)
    assert plain(faces, places, 8) is faces
    none = np.zeros((0, 3), np.int32)
    assert len(plain(none, places, 0)) == 0
    assert len(plain(none, np.zeros((0, 3), np.float32), 5)) == 0


def test_triangles_without_area_do_no_harm() -> None:
    places = np.zeros((3, 3), np.float32)
    faces = np.array([[0, 1, 2], [0, 0, 1]], np.int32)
    assert len(plain(faces, places, 0)) <= 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"faces": np.array([[0, 1, 9]], np.int32)}, "faces: must lie in 0..8"),
        ({"faces": np.array([[0, 1, -1]], np.int32)}, "faces: must lie in 0..8"),
        ({"target": -1}, "target: -1"),
        ({"places": np.full((9, 3), np.nan, np.float32)}, "must be finite"),
        ({"attributes": np.full((9, 1), np.inf, np.float32)}, "must be finite"),
        ({"attributes": np.zeros((8, 1), np.float32)}, "attributes: shape"),
        ({"weights": np.zeros(2, np.float32)}, "weights: shape"),
        ({"locked": np.zeros(3, bool)}, "locked: shape"),
    ],
)
def test_what_is_refused(change: dict[str, Any], text: str) -> None:
    places, faces = sheet(3)
    values: dict[str, Any] = {
        "faces": faces,
        "places": places,
        "attributes": np.zeros((9, 1), np.float32),
        "weights": np.ones(1, np.float32),
        "target": 0,
        **change,
    }
    with pytest.raises(ShapeError, match=text):
        simplify(**values)


def test_too_many_attributes_are_refused() -> None:
    places, faces = sheet(3)
    wide = MOST_ATTRIBUTES + 1
    looks, weights = np.zeros((9, wide), np.float32), np.zeros(wide, np.float32)
    with pytest.raises(ShapeError, match="attributes: 33, at most 32"):
        simplify(faces, places, looks, weights, 2)


def test_a_missing_package_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    places, faces = sheet(3)
    with pytest.raises(BackendMissing, match=r"pip install 'flexor\[codecs\]'"):
        plain(faces, places, 2)


# Vertices that become one


def corner(angles: Any, coords: Any = None) -> tuple[Any, Any, Any]:
    """Faces, normals and coordinates of triangles that meet at one place.

    Each has a corner of its own there, vertex 3 n, whose normal is turned by an angle.
    """
    count = len(angles)
    turns = np.deg2rad(np.repeat(angles, 3))
    normals = np.stack([np.sin(turns), 0 * turns, np.cos(turns)], 1).astype(np.float32)
    uv = np.zeros((3 * count, 2), np.float32)
    if coords is not None:
        uv[::3, 0] = coords
    return np.arange(3 * count, dtype=np.int32).reshape(-1, 3), normals, uv


def weld(angles: Any, coords: Any = None, **limits: float) -> Any:
    faces, normals, uv = corner(angles, coords)
    keys = np.arange(len(normals), dtype=np.int32)[:, None].copy()
    keys[::3] = -1
    own = {"angle": np.deg2rad(30), "reach": 0.01} | limits
    return weld_corners(faces, keys, normals, uv, **own)[:, 0].tolist()


def test_corners_whose_normals_are_near_become_one() -> None:
    assert weld([0, 10, 20]) == [3, 3, 3]  # the middle one is nearest to the mean
    assert weld([0, 20, 90, 100]) == [0, 0, 6, 6]
    assert weld([0, 90, 180]) == [0, 3, 6]
    assert len(set(weld([0, 90, 180], angle=np.pi))) == 1


def test_coordinates_must_be_near_too() -> None:
    assert weld([0, 0, 0], [0.0, 0.005, 0.5]) == [0, 0, 6]
    assert weld([0, 0, 0], [0.0, 0.005, 0.5], reach=1.0) == [0, 0, 0]


def test_others_keep_their_own_vertices() -> None:
    faces, normals, uv = corner([0, 0])
    keys = np.arange(6, dtype=np.int32)[:, None]
    kept = weld_corners(faces, keys, normals, uv, angle=np.pi, reach=9.0)
    np.testing.assert_array_equal(kept, faces)


@pytest.mark.parametrize("row", [[1, 1, 2], [1, 2, 2], [1, 2, 1], [1, 1, 1]])
def test_faces_that_become_a_line_vanish(row: list[int]) -> None:
    """Whichever two of their corners become one; the face beside them stays."""
    faces, normals, uv = corner([0, 0])
    keys = np.array([*row, 7, 8, 9], np.int32)[:, None]
    left = weld_corners(faces, keys, normals, uv, angle=1.0, reach=1.0)
    assert left.tolist() == [[3, 4, 5]]


def test_no_faces_are_welded_to_none() -> None:
    _, normals, uv = corner([0])
    keys = np.array([[1], [1], [2]], np.int32)
    none = np.zeros((0, 3), np.int32)
    assert len(weld_corners(none, keys, normals, uv, angle=1.0, reach=1.0)) == 0
