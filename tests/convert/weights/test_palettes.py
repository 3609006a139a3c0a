"""Palette groups of surfaces: every face once, few joints, few pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.convert.weights import palettes
from flexor.convert.weights.palettes import face_joints, palette_groups
from flexor.errors import SettingError, ShapeError
from tests.oracle import palettes as oracle


def grid(rows: int, columns: int) -> Any:
    """Triangles (F, 3) of a sheet of vertices."""
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    first, second = np.stack([a, b, c], -1), np.stack([a, c, d], -1)
    return np.concatenate([first, second], -1).reshape(-1, 3).astype(np.int32)


def strip(joints: int) -> tuple[Any, Any, Any]:
    """A ribbon: each joint holds two rows of vertices, one weight each."""
    names = np.repeat(np.arange(joints), 4)[:, None]
    return names, np.ones_like(names, np.float32), grid(2 * joints, 2)


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), joints=st.integers(1, 30), width=st.integers(1, 4))
def test_any_surface(seed: int, joints: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    vertices = int(rng.integers(1, 60))
    faces = rng.integers(0, vertices, (int(rng.integers(0, 80)), 3)).astype(np.int32)
    names = rng.integers(0, joints, (vertices, width))
    weights = np.maximum(rng.uniform(-0.5, 1, names.shape), 0).astype(np.float32)
    pulled = oracle.pulling(names, weights)
    named = [len(oracle.joints_of(face, pulled)) for face in faces.tolist()]
    least = max(named, default=1) or 1
    for most in (least, least + 3, 64):
        groups = palette_groups(names, weights, faces, most)
        assert not oracle.faults(groups, names, weights, faces, most)
        assert len(groups) >= oracle.fewest(names, weights, faces, most)
    assert len(groups) == min(len(faces), 1)
    if least > 1:
        with pytest.raises(SettingError, match=f"at least {least} are needed"):
            palette_groups(names, weights, faces, least - 1)


@pytest.mark.parametrize(("most", "pieces"), [(2, 15), (4, 5), (6, 3), (16, 1)])
def test_a_ribbon_is_cut_across_as_seldom_as_can_be(most: int, pieces: int) -> None:
    """N joints cover N - 1 steps from one joint to the next: 15 steps in all."""
    names, weights, faces = strip(16)
    groups = palette_groups(names, weights, faces, most)
    assert not oracle.faults(groups, names, weights, faces, most)
    assert len(groups) == pieces
    vertices = sum(len(group.vertices) for group in groups)
    assert vertices - len(names) <= 4 * (pieces - 1)


def test_one_joint_for_each_group() -> None:
    names = np.repeat(np.arange(3), 3)[:, None]
    faces = np.arange(9, dtype=np.int32).reshape(3, 3)
    groups = palette_groups(names, np.ones((9, 1), np.float32), faces, 1)
    assert [group.joints.tolist() for group in groups] == [[0], [1], [2]]
    assert [group.faces.tolist() for group in groups] == [[0], [1], [2]]


def test_pieces_that_do_not_touch_share_a_group() -> None:
    names = np.repeat(np.arange(8), 3)[:, None]
    faces = np.arange(24, dtype=np.int32).reshape(8, 3)
    groups = palette_groups(names, np.ones((24, 1), np.float32), faces, 4)
    assert [len(group.joints) for group in groups] == [4, 4]


@pytest.mark.parametrize(
    ("most", "pieces", "twice"),
    [(8, 19, 300), (12, 9, 172), (16, 6, 122), (24, 4, 52), (32, 3, 74), (64, 1, 0)],
)
def test_the_mannequin(most: int, pieces: int, twice: int) -> None:
    primitive = flexor.samples.mannequin().meshes[0].primitives[0]
    assert primitive.skin is not None
    joints, weights = primitive.skin.joints, primitive.skin.weights
    faces = primitive.triangles()
    groups = palette_groups(joints, weights, faces, most)
    assert not oracle.faults(groups, joints, weights, faces, most)
    least = oracle.fewest(joints, weights, faces, most)
    assert least <= len(groups) <= pieces
    total = sum(len(group.vertices) for group in groups)
    assert total - len(np.unique(faces)) <= twice


def test_the_same_groups_each_time() -> None:
    names, weights, faces = strip(24)
    one, two = (palette_groups(names, weights, faces, 5) for _ in range(2))
    assert [g.faces.tolist() for g in one] == [g.faces.tolist() for g in two]


def test_a_surface_of_many_clusters_is_grown_once(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every face with joints of its own: nothing is mended, all is in order."""
    faces = grid(20, 25)
    monkeypatch.setattr(palettes, "WORK", len(faces))
    monkeypatch.setattr(palettes, "MENDED", len(faces) // 2)
    names = rng.permuted(np.tile(np.arange(200), (500, 1)), axis=1)[:, :2]
    weights = np.full(names.shape, 0.5, np.float32)
    groups = palette_groups(names, weights, faces, 64)
    assert not oracle.faults(groups, names, weights, faces, 64)


def test_lines_and_points() -> None:
    names = np.arange(6)[:, None]
    weights = np.ones((6, 1), np.float32)
    lines = np.array([[0, 1], [1, 2], [3, 4], [4, 5]], np.int32)
    assert not oracle.faults(
        palette_groups(names, weights, lines, 3), names, weights, lines, 3
    )
    points = np.arange(6, dtype=np.int32)[:, None]
    assert len(palette_groups(names, weights, points, 3)) == 2


def test_no_faces_are_no_groups() -> None:
    nothing = np.zeros((0, 3), np.int32)
    assert palette_groups(np.zeros((4, 2), int), np.ones((4, 2)), nothing, 1) == []  # type: ignore[arg-type]


def test_faces_that_nothing_pulls() -> None:
    faces = np.array([[0, 1, 2], [0, 0, 0]], np.int32)
    names, weights = np.zeros((3, 2), int), np.zeros((3, 2), np.float32)
    (group,) = palette_groups(names, weights, faces, 1)
    assert len(group.joints) == 0
    assert group.faces.tolist() == [0, 1]


def test_joints_of_faces() -> None:
    names = np.array([[5, 2], [2, 9], [7, 0]])
    weights = np.array([[0.5, 0.5], [1, 0], [0.3, 0.7]], np.float32)
    faces = np.array([[0, 1, 2], [1, 1, 1]], np.int32)
    expected = [[0, 2, 5, 7, -1, -1], [2, -1, -1, -1, -1, -1]]
    assert face_joints(names, weights, faces).tolist() == expected


@pytest.mark.parametrize("most", [0, -3])
def test_no_joints_are_too_few(most: int) -> None:
    with pytest.raises(SettingError, match="at least 1"):
        palette_groups(*strip(2), most)


def test_arrays_that_do_not_belong_together() -> None:
    names, weights, faces = strip(2)
    with pytest.raises(ShapeError, match="not \\(V, K\\) twice"):
        palette_groups(names, weights[1:], faces, 2)
    with pytest.raises(ShapeError):
        palette_groups(names, weights, faces.ravel(), 2)
