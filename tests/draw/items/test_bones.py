"""The skeleton on top of a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.draw.items.bones import (
    BoneAssets,
    bone_points,
    build_bones,
    find_joints,
    upload_bones,
)
from flexor.draw.record.backend import RecordBackend
from flexor.scene.character.skeleton import Link
from flexor.scene.character.weights import Skin
from flexor.scene.scene import RootSet, Scene
from tests.draw.scenes import skeleton

Rng = np.random.Generator


def scene(joints: list[int], parents: Any = None, count: int = 6) -> Scene:
    """Nodes in a chain, some of them joints of a skin."""
    none = np.full(count, -1)
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (len(joints), 1, 1))
    skins = (Skin("skin", joints, binds),) if joints else ()
    return Scene(skeleton(count, parents=parents), none, none.copy(), skins=skins)


def test_joints_and_what_lies_between() -> None:
    assert find_joints(scene([1, 3, 4])).tolist() == [1, 2, 3, 4]
    # Roots above all joints are no bones, nor are branches beside them.
    parents = np.array([-1, 0, 1, 2, 1, 4])
    assert find_joints(scene([2, 5], parents)).tolist() == [2, 5]
    assert find_joints(scene([1, 2, 5], parents)).tolist() == [1, 2, 4, 5]


def test_all_nodes_where_there_is_no_skin() -> None:
    assert find_joints(scene([])).tolist() == [0, 1, 2, 3, 4, 5]


def test_only_what_is_shown() -> None:
    parents = np.array([-1, 0, 1, -1, 3, 4])
    two = scene([], parents)
    roots = (RootSet("one", (0,)), RootSet("two", (3,)))
    shown = Scene(two.skeleton, two.node_mesh, two.node_skin, root_sets=roots)
    assert find_joints(shown).tolist() == [0, 1, 2]


@pytest.mark.parametrize("joints", [[], [0, 1, 2, 3, 4, 5]])
def test_links_are_no_bones(joints: list[int]) -> None:
    plain = scene(joints, np.array([-1, 0, 0, 0, 1, 4]))
    links = {2: Link(1, 0.25), 3: Link(1, 0.5)}
    linked = replace(plain, skeleton=replace(plain.skeleton, links=links))
    assert find_joints(linked).tolist() == [0, 1, 4, 5]


@pytest.fixture
def chain() -> tuple[BoneAssets, RecordBackend]:
    store = RecordBackend()
    return upload_bones(store, scene([])), store


def placed(places: Any) -> Any:
    world = np.tile(np.eye(3, 4, dtype=np.float32), (len(places), 1, 1))
    world[..., 3] = places
    return world


def test_bones_go_from_joint_to_joint(
    chain: tuple[BoneAssets, RecordBackend], rng: Rng
) -> None:
    assets, store = chain
    assert assets.ends.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert assets.names == tuple(f"node{i}" for i in range(6))
    places = rng.normal(size=(6, 3)).astype(np.float32)
    bones, joints = build_bones(assets, placed(places), 2.0)
    assert bones.positions.shape == (5, 6, 3)
    assert joints.positions.shape == (6, 6, 3)
    np.testing.assert_allclose(bones.positions[:, 0], places[:-1], atol=1e-6)
    np.testing.assert_allclose(bones.positions[:, 5], places[1:], atol=1e-6)
    np.testing.assert_allclose(joints.positions.mean(1), places, atol=1e-6)
    assert (bones.layer, joints.layer) == (1, 1)
    # Closed, with all faces outward, whatever the direction.
    faces = store.meshes[assets.mesh].faces
    for item in (bones, joints):
        for corners in item.positions.astype(np.float64):
            a, b, c = np.moveaxis(corners[faces], 1, 0)
            outward = np.cross(b - a, c - a)
            middle = (a + b + c) / 3 - corners.mean(0)
            assert ((outward * middle).sum(1) > 0).all()


def test_axes_of_bones(chain: tuple[BoneAssets, RecordBackend]) -> None:
    # Along every axis there is a way across.
    places = np.cumsum(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0)], 0
    )
    bones, _ = build_bones(chain[0], placed(places), 10.0)
    assert np.isfinite(bones.positions).all()
    wide = np.linalg.norm(bones.positions[:, 1] - bones.positions[:, 3], axis=1)
    np.testing.assert_allclose(wide, wide[0], rtol=1e-5)


def test_small_bones_have_small_joints(
    chain: tuple[BoneAssets, RecordBackend],
) -> None:
    places = np.zeros((6, 3))
    places[:, 0] = 0, 1, 2, 2.01, 2.02, 3
    _, joints = build_bones(chain[0], placed(places), 2.0)
    wide = np.ptp(joints.positions[..., 0], axis=1)
    assert wide[3] < 0.006 < wide[0]


def test_odd_bones(chain: tuple[BoneAssets, RecordBackend]) -> None:
    places = np.zeros((6, 3))
    places[3] = np.nan
    places[5] = 1e30
    items = build_bones(chain[0], placed(places), 1.0)
    assert len(items) == 2
    points = bone_points(chain[0], placed(places))
    assert points.shape == (5 * 12 + 6, 3)


def test_points_lie_on_the_bones(chain: tuple[BoneAssets, RecordBackend]) -> None:
    places = np.zeros((6, 3))
    places[:, 1] = np.arange(6)
    points = bone_points(chain[0], placed(places), 4)
    assert (points[:, [0, 2]] == 0).all()
    np.testing.assert_allclose(
        np.sort(points[:20, 1]), (np.arange(20) + 0.5) / 4, atol=1e-6
    )


def test_nothing_at_all() -> None:
    none = np.zeros(0, np.int32)
    empty = Scene(skeleton(0), none, none.copy())
    assets = upload_bones(RecordBackend(), empty)
    assert build_bones(assets, np.zeros((0, 3, 4), np.float32), 1.0) == ()
    assert bone_points(assets, np.zeros((0, 3, 4), np.float32)).shape == (0, 3)
