"""Surfaces cut into body parts: nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.envelope import split_parts as splitter
from flexor.convert.envelope.join_pieces import join_pieces
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.search_trace import Lives
from flexor.convert.envelope.split_parts import (
    Piece,
    cut_parts,
    make_parts,
    piece_lives,
    whole_parts,
)
from flexor.scene.character.mesh import MorphTarget
from tests.envelopes import (
    random_matrices,
    random_part,
    random_parts,
    random_world,
)
from tests.oracle import envelope as oracle

Rng = np.random.Generator
FEW = settings(max_examples=60)
SEEDS = st.integers(0, 2**32 - 1)
IN_ORDER = np.arange(4)


def part_of(pulls: list[dict[int, float]], faces: Any, **more: Any) -> EnvelopePart:
    """A part on models 0 to 3, weights of each vertex by model."""
    count = len(pulls)
    joints, weights = np.full((count, 4), -1), np.zeros((count, 4))
    for row, pull in enumerate(pulls):
        joints[row, : len(pull)] = list(pull)
        weights[row, : len(pull)] = list(pull.values())
    given: dict[str, Any] = {
        "owner": 3,
        "models": np.arange(4),
        "binds": np.tile(np.eye(3, 4), (4, 1, 1)),
        "positions": np.arange(3.0 * count).reshape(count, 3),
        "normals": np.tile([0.0, 0, 1], (count, 1)),
        "joints": joints,
        "weights": weights,
        "faces": np.array(faces).reshape(-1, 3),
        **more,
    }
    return EnvelopePart(**given)


def said(pieces: list[Piece]) -> dict[int, tuple[list[int], list[int]]]:
    """Faces and vertices of each piece by its owner."""
    made = {
        piece.owner: (sorted(piece.faces.tolist()), np.flatnonzero(piece.has).tolist())
        for piece in pieces
    }
    assert len(made) == len(pieces)
    return made


# By hand


def test_faces_go_to_the_joint_that_pulls_them_most() -> None:
    """A strip of three faces along a bone that bends in the middle."""
    part = part_of(
        [{0: 1.0}, {0: 1.0}, {0: 0.6, 1: 0.4}, {0: 0.3, 1: 0.7}, {1: 1.0}],
        [(0, 1, 2), (1, 2, 3), (2, 3, 4)],
    )
    pieces = cut_parts([part], IN_ORDER)
    # Vertices 2 and 3 are on the cut: they are in both.
    assert said(pieces) == {0: ([0, 1], [0, 1, 2, 3]), 1: ([2], [2, 3, 4])}
    assert [piece.models for piece in pieces] == [{0, 1}, {0, 1}]


def test_all_corners_count_together() -> None:
    """One corner hangs wholly on model 2, but two lean more on model 1."""
    part = part_of([{2: 1.0}, {1: 0.6, 0: 0.4}, {1: 0.6, 0: 0.4}], [(0, 1, 2)])
    assert said(cut_parts([part], IN_ORDER)) == {1: ([0], [0, 1, 2])}


@pytest.mark.parametrize("rank", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_of_equal_ones_the_first_in_rank_wins(rank: Any) -> None:
    part = part_of([{1: 0.5, 2: 0.5}] * 3, [(0, 1, 2)])
    (piece,) = cut_parts([part], np.array(rank))
    assert piece.owner == (1 if rank[1] < rank[2] else 2)
    # However the columns and the models of the part are sorted.
    turned = replace(
        part,
        models=np.array([3, 2, 1, 0]),
        joints=np.where(part.joints >= 0, 3 - part.joints, -1)[:, ::-1].copy(),
        weights=part.weights[:, ::-1].copy(),
    )
    (other,) = cut_parts([turned], np.array(rank))
    assert other.owner == piece.owner


def test_a_joint_named_twice_pulls_with_both_weights() -> None:
    joints = np.array([[1, 2, 1]] * 3)
    part = part_of([{0: 1.0}] * 3, [(0, 1, 2)])
    part = replace(part, joints=joints, weights=np.array([[0.3, 0.4, 0.3]] * 3))
    assert said(cut_parts([part], IN_ORDER)) == {1: ([0], [0, 1, 2])}


def test_loose_vertices_are_kept() -> None:
    """Without a face: with a piece of their joint, or as a piece of their own."""
    pulls = [{0: 1.0}, {0: 1.0}, {0: 1.0}, {0: 0.7, 1: 0.3}, {2: 0.6, 0: 0.4}]
    part = part_of([*pulls, {1: 0.5, 2: 0.5}], [(0, 1, 2)])
    pieces = cut_parts([part], IN_ORDER)
    assert said(pieces) == {
        0: ([0], [0, 1, 2, 3]),
        1: ([], [5]),
        2: ([], [4]),
    }
    made = make_parts([part], pieces)
    rows = sorted(row for own in made for row in own.vertices.tolist())
    assert rows == list(range(6))


def test_points_and_lines_stay_whole() -> None:
    """What they join is not known, so their vertices stay together."""
    part = part_of([{0: 1.0}, {1: 1.0}, {2: 1.0}], [])
    for pieces in (cut_parts([part], IN_ORDER), whole_parts([part])):
        assert said(pieces) == {3: ([], [0, 1, 2])}
        assert pieces[0].models == {0, 1, 2}


def test_empty_parts() -> None:
    part = part_of([], [])
    for pieces in (cut_parts([part], IN_ORDER), whole_parts([part])):
        assert said(pieces) == {3: ([], [])}
        assert piece_lives(pieces) == [Lives(3, (), 0)]
        assert [len(made) for made in make_parts([part], pieces)] == [0]
    assert cut_parts([], IN_ORDER) == whole_parts([]) == make_parts([], []) == []


def test_whole_parts_keep_owner_and_faces() -> None:
    part = part_of([{0: 1.0}, {1: 1.0}, {1: 0.5, 2: 0.5}], [(0, 1, 2), (2, 1, 0)])
    (piece,) = whole_parts([part])
    assert (piece.part, piece.owner, piece.models) == (0, 3, {0, 1, 2})
    assert piece.faces.tolist() == [0, 1]
    assert piece.has.all()
    assert piece_lives([piece]) == [Lives(3, (0, 1, 2), 3)]


def test_pieces_name_their_part() -> None:
    part = part_of([{0: 1.0}] * 3 + [{1: 1.0}] * 3, [(0, 1, 2), (3, 4, 5)])
    pieces = cut_parts([part, part], IN_ORDER)
    assert [(piece.part, piece.owner) for piece in pieces] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
    ]


def test_parts_made_of_pieces() -> None:
    """Rows, faces and morphs of the second piece, with the file's rows kept."""
    moved = np.arange(15.0).reshape(5, 3)
    part = part_of(
        [{0: 1.0}, {0: 1.0}, {0: 0.6, 1: 0.4}, {0: 0.3, 1: 0.7}, {1: 1.0}],
        [(0, 1, 2), (1, 2, 3), (4, 2, 3)],
        vertices=[7, 3, 9, 1, 4],
        node=5,
        primitive=2,
        targets=(MorphTarget(moved), MorphTarget(None, moved.copy())),
    )
    _, made = make_parts([part], cut_parts([part], IN_ORDER))
    own = [2, 3, 4]
    assert (made.owner, made.node, made.primitive) == (1, 5, 2)
    assert made.vertices.tolist() == [9, 1, 4]
    assert made.faces.tolist() == [[2, 0, 1]]
    for name in ("positions", "normals", "joints", "weights"):
        np.testing.assert_array_equal(getattr(made, name), getattr(part, name)[own])
    first, second = made.targets
    np.testing.assert_array_equal(first.positions, moved[own])
    assert first.normals is None
    assert second.positions is None
    np.testing.assert_array_equal(second.normals, moved[own])


# How many pieces


def strip(sizes: list[int]) -> EnvelopePart:
    """A strip of faces; so many vertices in turn hang on model 0, 1, 2, 3 alone."""
    pulls = [{model: 1.0} for model, size in enumerate(sizes) for _ in range(size)]
    corners = np.arange(len(pulls) - 2)[:, None] + np.arange(3)
    return part_of(pulls, corners)


@pytest.mark.parametrize(
    ("most", "counts"),
    [
        (9, [2, 3, 4]),
        (8, [1, 3, 4]),
        (7, [1, 3, 4]),
        (6, [1, 1, 4]),
        (4, [1, 1, 4]),
        (3, [1, 1, 1]),
        (0, [1, 1, 1]),
    ],
)
def test_the_largest_are_cut_first(
    most: int, counts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes beyond the budget stays whole; pieces are in the order of parts."""
    monkeypatch.setattr(splitter, "MOST_PIECES", most)
    parts = [strip([3] * models) for models in (2, 3, 4)]
    pieces = cut_parts(parts, IN_ORDER)
    rows = [piece.part for piece in pieces]
    assert rows == sorted(rows)
    assert [rows.count(row) for row in range(3)] == counts
    check_pieces(parts, pieces)
    for piece in pieces:
        if counts[piece.part] == 1:
            assert piece.owner == parts[piece.part].owner
            assert piece.has.all()


def test_of_parts_of_one_size_the_first_is_cut_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splitter, "MOST_PIECES", 5)
    pieces = cut_parts([strip([3, 3])] * 4, IN_ORDER)
    assert [piece.part for piece in pieces] == [0, 0, 1, 1, 2, 3]


# Any surface


def random_limb(rng: Rng, models: int) -> EnvelopePart:
    """A strip along all models, most vertices on one of them alone: worth cutting."""
    count = int(rng.integers(2, 12)) * models
    part = random_part(rng, models, count, 2, node=3, targets=1)
    place = np.arange(count) * models / count
    low = place.astype(int)
    blend = np.clip((place - low - 0.7) / 0.3, 0, 0.9) * (low < models - 1)
    return replace(
        part,
        models=rng.permutation(models),
        binds=random_matrices(rng, models),
        joints=np.stack([low, np.where(blend > 0, low + 1, -1)], 1),
        weights=np.stack([1 - blend, blend], 1),
        faces=np.arange(count - 2)[:, None] + np.arange(3) if count > 2 else part.faces,
    )


def random_surfaces(rng: Rng, models: int) -> list[EnvelopePart]:
    """A limb, and parts of some vertices with faces between neighbours; joints without
    a weight are -1, as scenes and trees give them.
    """
    parts = random_parts(rng, models, 3, int(rng.integers(1, 5)), targets=1)
    made = [random_limb(rng, models)]
    for part in parts:
        begin = rng.integers(0, max(len(part) - 3, 1), len(part))
        faces = begin[:, None] + np.array([0, 1, 2]) if len(part) > 3 else part.faces
        joints = np.where(part.weights > 0, part.joints, -1)
        made.append(replace(part, faces=faces, joints=joints))
    return made


def is_pulled_most(part: EnvelopePart, rows: Any, owner: int) -> bool:
    """Whether no model pulls these vertices more than `owner`."""
    sums = dict.fromkeys(part.models.tolist(), 0.0)
    for row in rows:
        for model, shares in oracle.pulls(part, int(row)).items():
            sums[model] += sum(weight for weight, _ in shares)
    return sums[owner] > max(sums.values()) - 1e-5


def check_pieces(parts: list[EnvelopePart], pieces: list[Piece]) -> None:
    """Each face once, its corners with it, each vertex somewhere, models as said."""
    for row, part in enumerate(parts):
        own = [piece for piece in pieces if piece.part == row]
        faces = np.concatenate([piece.faces for piece in own])
        assert sorted(faces.tolist()) == list(range(len(part.faces)))
        assert np.logical_or.reduce([piece.has for piece in own]).all()
        for piece in own:
            assert piece.has[part.faces[piece.faces]].all()
            pulls = [oracle.pulls(part, v) for v in np.flatnonzero(piece.has)]
            assert piece.models == {model for pull in pulls for model in pull}


@FEW
@given(SEEDS, st.integers(1, 10))
def test_any_cut(seed: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    parts = random_surfaces(rng, models)
    rank = rng.permutation(models)
    pieces = cut_parts(parts, rank)
    check_pieces(parts, pieces)
    for piece in pieces:
        part = parts[piece.part]
        corners = set(part.faces[piece.faces].ravel().tolist())
        if not len(part.faces):
            assert piece.owner == part.owner
            continue
        for face in piece.faces:
            assert is_pulled_most(part, part.faces[face], piece.owner)
        used = set(part.faces.ravel().tolist())
        for vertex in np.flatnonzero(piece.has).tolist():
            if vertex not in corners:
                assert vertex not in used
                assert is_pulled_most(part, [vertex], piece.owner)
    owners = [(piece.part, piece.owner) for piece in pieces]
    assert len(set(owners)) == len(owners)


@FEW
@given(SEEDS, st.integers(1, 8), st.booleans())
def test_vertices_are_where_they_were(seed: int, models: int, is_joined: bool) -> None:
    """Cut or joined, each copy of a vertex is moved as the vertex itself."""
    rng = np.random.default_rng(seed)
    parts = random_surfaces(rng, models)
    rank = np.arange(models)
    pieces = cut_parts(parts, rank)
    pieces = join_pieces(pieces, rank) if is_joined else pieces
    world, weights = random_world(rng, models), rng.normal(size=4)
    columns = {node: node for node in range(4)}
    wholes = oracle.moved(parts, world, weights, columns)
    made = make_parts(parts, pieces)
    for piece, own, moved in zip(
        pieces, made, oracle.moved(made, world, weights, columns), strict=True
    ):
        assert own.owner == piece.owner
        positions, normals = wholes[piece.part]
        np.testing.assert_allclose(moved[0], positions[own.vertices], atol=1e-12)
        np.testing.assert_allclose(moved[1], normals[own.vertices], atol=1e-9)
        np.testing.assert_array_equal(
            own.vertices[own.faces], parts[piece.part].faces[piece.faces]
        )
