"""Primitives laid out for the kernels: runs, order, data."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.deform.bind import Bind, bind_scene
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import RootSet
from tests.scenes import (
    one_mesh_scene,
    random_primitive,
    random_scene,
    random_skeleton,
    random_skin,
    random_weights,
)

Rng = np.random.Generator


def bind_of(
    rng: Rng, weights: SkinWeights | None, targets: int = 0
) -> tuple[Any, Bind]:
    skeleton = random_skeleton(rng, 13)
    count = 11 if weights is None else len(weights.weights)
    primitive = random_primitive(rng, count, skin=weights, targets=targets)
    skin = random_skin(rng, skeleton, 12) if weights else None
    return primitive, bind_scene(one_mesh_scene(skeleton, primitive, skin))[0]


def rows_of(bind: Bind) -> list[tuple[int, Any, dict[int, float]]]:
    """Vertex, its six numbers and its weights by joint, of each place in the blocks."""
    found = []
    for count, blocks, at, block, first in bind.runs.tolist():
        joints = bind.joints[first : first + count].tolist()
        step = 40 + 8 * count
        for b in range(blocks):
            data = bind.data[0, at + b * step : at + (b + 1) * step].reshape(-1, 8)
            for lane in range(8):
                further = data[6:, lane].astype(np.float64)
                weights: dict[int, float] = {}
                for joint, weight in zip(
                    joints, [1 - further.sum(), *further], strict=True
                ):
                    weights[joint] = weights.get(joint, 0) + weight
                vertex = int(bind.order[8 * (block + b) + lane])
                found.append((vertex, data[:6, lane], weights))
    return found


@pytest.mark.parametrize("vertices", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("influences", [1, 2, 4, 9])
def test_every_vertex_is_there(vertices: int, influences: int, rng: Rng) -> None:
    weights = random_weights(rng, vertices, 12, influences)
    primitive, bind = bind_of(rng, weights)
    rows = rows_of(bind)
    assert len(rows) == len(bind.order)
    assert {vertex for vertex, _, _ in rows} == set(range(vertices))
    for vertex, numbers, pulls in rows:
        np.testing.assert_array_equal(numbers[:3], primitive.positions[vertex])
        np.testing.assert_array_equal(numbers[3:], primitive.normals[vertex])
        expected = {
            int(joint): float(weight)
            for joint, weight in zip(
                weights.joints[vertex], weights.weights[vertex], strict=True
            )
            if weight
        }
        assert set(pulls) == set(expected)
        for joint, weight in pulls.items():
            assert abs(weight - expected[joint]) < 1e-6
    assert bind.vertex_count == vertices
    assert bind.most_joints == max((len(p) for _, _, p in rows), default=1)


def test_the_order_of_joints_in_a_row_does_not_matter(rng: Rng) -> None:
    """Four vertices with the same two joints in all orders are one run."""
    joints = [[7, 2, 0, 0], [2, 7, 0, 0], [0, 0, 7, 2], [0, 7, 0, 2]]
    weights = [
        [0.75, 0.25, 0, 0],
        [0.25, 0.75, 0, 0],
        [0, 0, 0.75, 0.25],
        [0, 0.75, 0, 0.25],
    ]
    _, bind = bind_of(rng, SkinWeights(np.array(joints), np.array(weights)))
    assert bind.runs.tolist() == [[2, 1, 0, 0, 0]]
    assert bind.joints.tolist() == [2, 7]
    assert (bind.data[0, 48:56] == 0.75).all()


def test_joint_zero_counts_only_with_weight(rng: Rng) -> None:
    joints, weights = [[0, 5], [0, 5], [0, 5]], [[1, 0], [0, 1], [0.5, 0.5]]
    _, bind = bind_of(rng, SkinWeights(np.array(joints), np.array(weights)))
    named = [bind.joints[f : f + n].tolist() for n, _, _, _, f in bind.runs.tolist()]
    assert sorted(named) == [[0], [0, 5], [5]]


@pytest.mark.parametrize("influences", [1, 3, 6])
def test_no_joints_have_two_runs(influences: int, rng: Rng) -> None:
    """Many sets that begin alike: what is the same is together, in one run."""
    joints = rng.integers(0, 3, (200, influences))
    weights = np.full(joints.shape, 1 / influences)
    _, bind = bind_of(rng, SkinWeights(joints, weights))
    runs = [tuple(bind.joints[f : f + n]) for n, _, _, _, f in bind.runs.tolist()]
    assert len(set(runs)) == len(runs)


def test_runs_follow_each_other(rng: Rng) -> None:
    _, bind = bind_of(rng, random_weights(rng, 90, 12, 3))
    at = block = first = 0
    for run in bind.runs.tolist():
        assert run[2:] == [at, block, first]
        at += run[1] * (40 + 8 * run[0])
        block += run[1]
        first += run[0]
    assert (at, block * 8, first) == (bind.data.size, len(bind.order), len(bind.joints))


def test_rigid(rng: Rng) -> None:
    _, bind = bind_of(rng, None)
    assert bind.nodes.tolist() == [12]
    np.testing.assert_array_equal(bind.binds.reshape(3, 4), np.eye(3, 4))
    assert bind.runs.tolist() == [[1, 2, 0, 0, 0]]
    assert bind.order.tolist() == [*range(11), 10, 10, 10, 10, 10]


def test_morphs_are_in_block_order(rng: Rng) -> None:
    primitive, bind = bind_of(rng, random_weights(rng, 20, 12, 2), targets=3)
    deltas = bind.deltas.reshape(3, -1, 6, 8).swapaxes(2, 3).reshape(3, -1, 6)
    for m, target in enumerate(primitive.targets):
        np.testing.assert_array_equal(deltas[m, :, :3], target.positions[bind.order])
        turned = np.zeros((20, 3)) if target.normals is None else target.normals
        np.testing.assert_array_equal(deltas[m, :, 3:], turned[bind.order])


def test_missing_normals_are_made(rng: Rng) -> None:
    primitive = random_primitive(rng, 12, has_normals=False)
    bind = bind_scene(one_mesh_scene(random_skeleton(rng, 2), primitive, None))[0]
    made = vertex_normals(primitive)
    for vertex, numbers, _ in rows_of(bind):
        np.testing.assert_array_equal(numbers[3:], made[vertex])


def test_scene_order_is_by_node_then_primitive(rng: Rng) -> None:
    binds = bind_scene(random_scene(rng))
    places = [(bind.node, bind.primitive) for bind in binds]
    assert places == [(0, 0), (1, 0), (1, 1), (3, 0), (4, 0), (4, 1)]
    assert [bind.mesh for bind in binds] == [1, 0, 0, 1, 2, 2]


def test_only_the_default_scene_is_bound(rng: Rng) -> None:
    scene = random_scene(rng)
    roots = [int(n) for n in np.nonzero(scene.skeleton.parents < 0)[0]]
    sets = (RootSet("a", (roots[0],)), RootSet("b", (roots[1],)))
    both = []
    for chosen in (0, 1):
        part = dataclasses.replace(scene, root_sets=sets, default_set=chosen)
        shown = part.shown_nodes()
        mine = [bind.node for bind in bind_scene(part)]
        assert all(shown[node] for node in mine)
        both += mine
    assert sorted(both) == [bind.node for bind in bind_scene(scene)]
