"""World matrices and the layout they are worked in, against the slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import ShapeError
from flexor.maths import quaternions, transforms
from flexor.pose.layout import ROWS, make_layout
from flexor.pose.model_space import init_world, world_from_local
from flexor.scene.character.skeleton import Skeleton
from tests.oracle import pose as oracle
from tests.scenes import (
    one_mesh_scene,
    plain_scene,
    random_primitive,
    random_rotations,
    random_scene,
    random_skeleton,
    rest_world,
)

Rng = np.random.Generator
SIZES = [0, 1, 5, 8, 9, 17]


def random_locals(rng: Rng, layout: Any, count: int) -> Any:
    """Local rows (count, 10 * L), junk where no node is."""
    rows = rng.normal(size=(count, ROWS, layout.lane_count))
    rows[:, 3:7] /= np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    return rows.reshape(count, -1).astype(np.float32)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("scale", ["one", "uneven", "negative", "zero"])
def test_rest_pose(count: int, scale: Any, rng: Rng) -> None:
    skeleton = random_skeleton(rng, count, roots=min(2, count), scale=scale)
    layout = make_layout(plain_scene(skeleton))
    state = world_from_local(init_world(layout, 1), layout.rest[None].copy())
    np.testing.assert_allclose(
        state.matrices[0], rest_world(skeleton), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("count", SIZES)
def test_a_crowd(count: int, rng: Rng) -> None:
    """Each as the twin says, and with the bits it has alone; then once more."""
    skeleton = random_skeleton(rng, count, roots=min(3, count))
    layout = make_layout(plain_scene(skeleton))
    state = init_world(layout, 5)
    for _ in range(2):
        rows = random_locals(rng, layout, 5)
        world_from_local(state, rows)
        parts = rows.reshape(5, ROWS, -1)[..., layout.lane_of_node].swapaxes(1, 2)
        parts = parts.astype(np.float64)
        local = transforms.compose(parts[..., :3], parts[..., 3:7], parts[..., 7:])
        for n in range(5):
            expected = oracle.world_matrices(skeleton, local[n])
            size = max(1, np.abs(expected).max(initial=0))
            np.testing.assert_allclose(state.matrices[n], expected, atol=1e-6 * size)
            alone = world_from_local(init_world(layout, 1), rows[n : n + 1].copy())
            assert alone.matrices.tobytes() == state.matrices[n].tobytes()


def test_places_move_whole_characters(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 9)
    layout = make_layout(plain_scene(skeleton))
    state = init_world(layout, 3)
    turns = transforms.compose(
        rng.normal(size=(3, 3)), random_rotations(rng, 3), np.ones((3, 3))
    )
    state.places[:] = turns
    world_from_local(state, np.tile(layout.rest, (3, 1)))
    expected = transforms.multiply(turns[:, None], rest_world(skeleton))
    np.testing.assert_allclose(state.matrices, expected, atol=2e-6)


def test_a_deep_chain(rng: Rng) -> None:
    """Forty nodes, each the child of the next one in the file."""
    count = 40
    skeleton = Skeleton(
        tuple("x" * count),
        np.append(np.arange(1, count), -1),
        rng.normal(size=(count, 3)),
        quaternions.normalise(rng.normal(size=(count, 4))),
        np.ones((count, 3)),
    )
    layout = make_layout(plain_scene(skeleton))
    state = world_from_local(init_world(layout, 1), layout.rest[None].copy())
    np.testing.assert_allclose(state.matrices[0], rest_world(skeleton), atol=2e-5)


def test_rotations_that_are_not_unit_are_taken_as_they_are(rng: Rng) -> None:
    """The formula of the twin on any four numbers: what the file says is what moves."""
    skeleton = random_skeleton(rng, 3)
    layout = make_layout(plain_scene(skeleton))
    rows = rng.normal(size=(1, ROWS * layout.lane_count)).astype(np.float32)
    state = world_from_local(init_world(layout, 1), rows)
    parts = rows.reshape(ROWS, -1)[:, layout.lane_of_node].T.astype(np.float64)
    local = transforms.compose(parts[:, :3], parts[:, 3:7], parts[:, 7:])
    expected = oracle.world_matrices(skeleton, local)
    np.testing.assert_allclose(state.matrices[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", SIZES)
def test_layout(count: int, rng: Rng) -> None:
    skeleton = random_skeleton(rng, count, roots=min(2, count), scale="uneven")
    layout = make_layout(plain_scene(skeleton))
    assert layout.lane_count % 8 == 0
    assert count <= layout.lane_count < count + 8
    np.testing.assert_array_equal(
        layout.node_of_lane[layout.lane_of_node], np.arange(count)
    )
    rows = layout.rest.reshape(ROWS, -1)
    lanes = layout.lane_of_node
    np.testing.assert_array_equal(rows[0:3, lanes].T, skeleton.translations)
    np.testing.assert_array_equal(rows[3:7, lanes].T, skeleton.rotations)
    np.testing.assert_array_equal(rows[7:10, lanes].T, skeleton.scales)
    identity = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert rows[:, count:].T.tolist() == [identity] * (layout.lane_count - count)
    for lane, (node, parent) in enumerate(layout.nodes):
        assert node == layout.node_of_lane[lane]
        assert parent == (
            skeleton.parents[node] if skeleton.parents[node] >= 0 else count
        )
        assert parent == count or lanes[parent] < lane


def test_layout_of_morphs_of_the_first_mesh(rng: Rng) -> None:
    primitive = random_primitive(rng, 3, targets=2)
    layout = make_layout(one_mesh_scene(random_skeleton(rng, 4), primitive, None))
    assert dict(layout.morph_columns) == {3: (0, 2)}


def test_layout_of_morphs(rng: Rng) -> None:
    scene = random_scene(rng, targets=3)
    layout = make_layout(scene)
    assert dict(layout.morph_columns) == {0: (0, 3), 3: (3, 3), 4: (6, 3)}
    expected = np.concatenate([scene.rest_weights(node) for node in (0, 3, 4)])
    np.testing.assert_array_equal(layout.rest_weights, expected)
    np.testing.assert_array_equal(layout.rest_weights[3:6], scene.node_weights[3])


@pytest.mark.jit  # plain Python does not look at arrays
@pytest.mark.parametrize(
    ("local", "text"),
    [
        (np.zeros((2, 80), np.float32), r"local: shape \(2, 80\), expected \(3, 80\)"),
        (np.zeros((3, 90), np.float32), "local: shape"),
        (np.zeros((3, 80)), "local: float64"),
        (np.zeros((80, 3), np.float32).T, "local: must be"),
    ],
)
def test_refusals(local: Any, text: str, rng: Rng) -> None:
    layout = make_layout(plain_scene(random_skeleton(rng, 4)))
    with pytest.raises(ShapeError, match=text):
        world_from_local(init_world(layout, 3), local)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_moving_the_root_moves_all(seed: int, count: int) -> None:
    """world = root motion * world before, for the nodes below that root."""
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, count, roots=1)
    layout = make_layout(plain_scene(skeleton))
    before = world_from_local(init_world(layout, 1), layout.rest[None].copy())
    root = int(layout.node_of_lane[0])
    motion = transforms.compose(
        rng.normal(size=3), quaternions.normalise(rng.normal(size=4)), np.ones(3)
    )
    own = oracle.local_matrices(skeleton, None, 0)[root]
    move, turn, _ = transforms.decompose(transforms.multiply(motion, own))
    rows = layout.rest.reshape(ROWS, -1).copy()
    rows[0:3, 0], rows[3:7, 0] = move, turn
    after = world_from_local(init_world(layout, 1), rows.reshape(1, -1))
    expected = transforms.multiply(motion, before.matrices[0].astype(np.float64))
    np.testing.assert_allclose(after.matrices[0], expected, atol=2e-5)
