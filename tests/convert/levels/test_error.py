"""How far a level is from the whole skin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.levels.error import MOST_VERTICES, WholeSkin, skin_error, thin_out
from flexor.errors import ShapeError
from tests.convert.levels.test_simplify_body import sheet
from tests.oracle.closest import closest_point


@pytest.mark.parametrize(("all_of", "left_of"), [(3, 2), (2, 3), (3, 3)])
def test_against_trying_every_triangle(rng: Any, all_of: int, left_of: int) -> None:
    """Both ways, over all poses; of more triangles the way back is the larger."""
    triangles = np.array([[0, 1, 2], [2, 3, 4], [1, 4, 5]], np.int32)
    faces, few = triangles[:all_of], triangles[:left_of]
    full = rng.normal(size=(3, 6, 3)).astype(np.float32)
    own = full + rng.normal(size=full.shape).astype(np.float32) * np.float32(0.2)
    there, back = [], []
    for a, b in zip(full, own, strict=True):
        looked = np.concatenate([a[np.unique(faces)], a[faces].mean(1)])
        there.append([closest_point(b[few], point)[1] for point in looked])
        points = np.concatenate([b[np.unique(few)], b[few].mean(1)])
        back.append([closest_point(a[faces], point)[1] for point in points])
    if all_of != left_of:
        assert (np.mean(back) > np.mean(there)) == (left_of > all_of)
    mean, worst = skin_error(WholeSkin.of(full, faces), own, few)
    assert mean == pytest.approx(max(np.mean(there), np.mean(back)), rel=1e-6)
    assert worst == pytest.approx(max(np.max(there), np.max(back)), rel=1e-6)


def test_the_same_skin_is_not_off(rng: Any) -> None:
    places, faces = sheet(4)
    poses = places + rng.normal(size=(2, 1, 3)).astype(np.float32)
    mean, worst = skin_error(WholeSkin.of(poses, faces), poses, faces)
    assert mean <= worst <= 1e-6


def test_what_sticks_out_is_seen() -> None:
    """A level that has everything and a spike beside it."""
    places, faces = sheet(4)
    spike = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 5]], np.float32)
    whole = WholeSkin.of(places[None], faces)
    more = np.concatenate([faces, [[16, 17, 18]]]).astype(np.int32)
    mean, worst = skin_error(whole, np.concatenate([places, spike])[None], more)
    assert worst == pytest.approx(5)
    assert mean > 0


def test_a_pose_beyond_the_limit_is_the_last() -> None:
    places, faces = sheet(4)
    poses = np.tile(places, (3, 1, 1))
    own = poses + np.array([0, 0, 1], np.float32)
    own[1:] += np.array([0, 0, 9], np.float32)
    whole = WholeSkin.of(poses, faces)
    assert skin_error(whole, own, faces)[1] == pytest.approx(10)
    assert skin_error(whole, own, faces, limit=0.5)[1] == pytest.approx(1)


def test_each_point_is_told_how_far_it_is_off() -> None:
    places, faces = sheet(4)
    whole = WholeSkin.of(np.tile(places, (2, 1, 1)), faces)
    own = np.tile(places, (2, 1, 1))
    own[0, 15, 2], own[1, 0, 2] = 1, 2
    away = np.zeros(len(whole.rows))
    skin_error(whole, own, faces, away=away)
    assert away[5] == pytest.approx(0, abs=1e-6)
    assert 0 < away[15] <= 1
    assert 0 < away[0] <= 2


def test_nothing_on_one_side() -> None:
    places, faces = sheet(4)
    none = np.zeros((0, 3), np.int32)
    assert skin_error(WholeSkin.of(places[None], faces), places[None], none) == (3, 3)
    assert skin_error(WholeSkin.of(places[None], none), places[None], faces) == (0, 0)
    no_poses = np.zeros((0, 16, 3), np.float32)
    assert skin_error(WholeSkin.of(no_poses, faces), no_poses, faces) == (0, 0)


def test_other_poses_are_refused() -> None:
    places, faces = sheet(3)
    with pytest.raises(ShapeError, match="places: 2 poses, the whole skin has 1"):
        skin_error(WholeSkin.of(places[None], faces), np.tile(places, (2, 1, 1)), faces)


def test_of_many_vertices_some_are_looked_at() -> None:
    places, faces = sheet(70)
    whole = WholeSkin.of(places[None], faces)
    assert len(whole.rows) == 2 * MOST_VERTICES
    assert whole.points.shape == (1, 2 * MOST_VERTICES, 3)


def test_a_rod_with_vertices_at_its_ends_alone_does_not_vanish_unseen() -> None:
    """Two plates with a rod between them; without the rod both plates are all right."""
    plate, sides = sheet(4)
    rod = np.array([[3, 0, 0], [3, 0.1, 0], [20, 0, 0], [20, 0.1, 0]], np.float32)
    other = plate + np.array([20, 0, 0], np.float32)
    places = np.concatenate([plate, other, rod])
    first = 2 * len(plate)
    bridge = np.array([[0, 2, 1], [1, 2, 3]], np.int32) + np.int32(first)
    plates = np.concatenate([sides, sides + np.int32(len(plate))])
    faces = np.concatenate([plates, bridge])
    _, worst = skin_error(WholeSkin.of(places[None], faces), places[None], plates)
    assert worst > 4


def test_few_are_looked_at_as_they_are() -> None:
    rows = np.arange(10, dtype=np.int32)
    assert thin_out(rows, 10) is rows
    assert thin_out(rows, 4).tolist() == [0, 2, 5, 7]
