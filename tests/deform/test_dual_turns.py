"""Turns that dual quaternion skinning finds, normals, states and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.deform.bind import bind_scene
from flexor.deform.dual import init_dual, skin_blocks_dual, skin_vertices_dual
from flexor.deform.kernels import dual as kernel_dual
from flexor.deform.kernels import vertices as kernel
from flexor.errors import SettingError, ShapeError
from flexor.maths import quaternions, transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import Skin, SkinWeights
from tests.deform.dual_skins import F4, SCALES, Rng, one_mesh, run, tube
from tests.deform.test_vertices import NODES, random_world
from tests.oracle import deform_dual as oracle
from tests.scenes import (
    one_mesh_scene,
    random_rotations,
    random_scales,
    random_scene,
    random_skeleton,
)

# Turns and what is left


@pytest.mark.parametrize("scale", SCALES)
def test_split_palette(scale: Any, rng: Rng) -> None:
    """Turn times what is left is the matrix; both are the twin's."""
    for _ in range(10):
        scales = random_scales(rng, 7, scale)
        turns = random_rotations(rng, 7)
        made = transforms.compose(rng.normal(size=(7, 3)), turns, scales).astype(F4)
        left, found = np.full(84, np.nan, F4), np.full(28, np.nan, F4)
        is_uneven = kernel.normal_palette(made.reshape(-1), np.zeros(84, F4))
        args = made.reshape(-1), is_uneven, left, found
        factor = kernel_dual.split_palette(*args)
        expected, rest = oracle.split(made)
        mine = quaternions.to_matrix(found.reshape(-1, 4).astype(np.float64))
        np.testing.assert_allclose(mine, expected, atol=2e-6)
        if scale == "one":
            assert abs(factor - 1) < 1e-6
            assert np.isnan(left).all()
        else:
            assert np.isnan(factor)
            parts = left.reshape(-1, 3, 4)
            np.testing.assert_allclose(parts[:, :, :3], rest, atol=2e-6)
            assert (parts[:, :, 3] == 0).all()


def nine(matrix: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in np.ravel(matrix))


@pytest.mark.parametrize(
    "scales",
    [
        [1, 1, 1],
        [1, 1, 0.01],
        [3, 2, 3e-3],
        [1, 1e-5, 1e-5],
        [1e3, 1, 1e-3],
        [3, 2, 0],
        [1e-20, 2e-20, 0],
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_find_turn(scales: Any, sign: int, rng: Rng) -> None:
    """Of uneven, flat and tiny matrices too; of the negative if it mirrors."""
    for _ in range(10):
        u, v = quaternions.to_matrix(random_rotations(rng, 2))
        mirrors = sign if min(scales) > 1e-4 * max(scales) else 1
        matrix = mirrors * u @ np.diag(scales) @ v
        found = kernel_dual.find_turn(nine(matrix), nine(np.zeros(9)))
        np.testing.assert_allclose(np.reshape(found, (3, 3)), u @ v, atol=1e-6)


@pytest.mark.parametrize("scales", [[0, 0, 0], [2, 0, 0], [1, 1e-8, 1e-8]])
def test_no_turn(scales: Any, rng: Rng) -> None:
    other = nine(np.arange(9))
    u, v = quaternions.to_matrix(random_rotations(rng, 2))
    assert kernel_dual.find_turn(nine(u @ np.diag(scales) @ v), other) == other


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("degrees", [0, 90, 179.9, 180, -180, 180.1, 270])
def test_every_way_to_a_quaternion(axis: int, degrees: float, rng: Rng) -> None:
    """Turns by which each of the four numbers is the largest, and both signs."""
    q = np.zeros(4)
    q[axis], q[3] = np.sin(np.radians(degrees) / 2), np.cos(np.radians(degrees) / 2)
    matrix = np.zeros((1, 3, 4), F4)
    matrix[0, :, :3] = quaternions.to_matrix(q)
    found = np.zeros(4, F4)
    kernel_dual.split_palette(matrix.reshape(-1), False, np.zeros(12, F4), found)
    np.testing.assert_allclose(found * np.sign(found @ q), q, atol=1e-6)


@pytest.mark.parametrize("near", range(3))
@pytest.mark.parametrize("tilted", range(3))
@pytest.mark.parametrize("tilt", [2e-4, -2e-4])
def test_turns_about_axes_that_are_a_little_tilted(
    near: int, tilted: int, tilt: float
) -> None:
    """The numbers of a small one would be made of rounding."""
    q = np.zeros(4)
    q[tilted] = tilt
    q[near] = 1
    q[:3] *= np.sin(np.radians(179.9) / 2) / np.linalg.norm(q)
    q[3] = np.cos(np.radians(179.9) / 2)
    matrix = np.zeros((1, 3, 4), F4)
    matrix[0, :, :3] = quaternions.to_matrix(q)
    found = np.zeros(4, F4)
    kernel_dual.split_palette(matrix.reshape(-1), False, np.zeros(12, F4), found)
    np.testing.assert_allclose(found * np.sign(found @ q), q, atol=1e-6)


def test_normals_of_uneven_joints_keep_the_lengths_of_what_is_left(rng: Rng) -> None:
    """Where normals are not scaled to unit length, neither blend does it."""
    bind = tube(np.array([0.0, 0.5]))
    shares = np.array([1, 3, 0.5])
    world = np.zeros((1, 2, 3, 4), F4)
    world[..., :3] = np.diag(shares)
    world[:, 1, :, :3] = quaternions.to_matrix(random_rotations(rng)) @ np.diag(shares)
    _, raw = run(bind, world, unit_normals=False)
    _, unit = run(bind, world)
    _, rest = run(bind, np.tile(np.eye(3, 4, dtype=F4), (1, 2, 1, 1)))
    lengths = np.linalg.norm(rest[0] / shares * np.prod(shares) ** (1 / 3), axis=1)
    np.testing.assert_allclose(np.linalg.norm(raw[0], axis=1), lengths, rtol=1e-5)
    np.testing.assert_allclose(raw[0] / lengths[:, None], unit[0], atol=1e-5)


def test_both_signs_of_a_quaternion_are_the_same_turn(rng: Rng) -> None:
    """All take the side of the first, whatever sign they were found with."""
    palette = random_world(rng, 1, 5).reshape(-1)
    found = random_rotations(rng, 5).astype(F4)
    joints = np.array([3, 0, 4, 1], np.int32)
    signs = np.array([[1, 1, 1, 1, 1], [-1, -1, 1, 1, -1], [1, 1, 1, -1, 1]], F4)
    made = np.zeros((3, 4, 8), F4)
    for mine, out in zip(found * signs[:, :, None], made, strict=True):
        args = palette, mine.reshape(-1), joints, 0, 4, out.reshape(-1)
        kernel_dual.fetch_duals(*args)
        assert ((out[1:, :4] + out[0, :4]) @ out[0, :4] >= 0).all()
    np.testing.assert_array_equal(made[1], made[0])
    made[2] *= -1  # the first turned over turns over all but its own place
    made[2, 0, 4:] *= -1
    np.testing.assert_array_equal(made[2], made[0])


# Normals, characters, words


@pytest.mark.parametrize("scale", ["one", "even", "uneven"])
def test_normals_as_they_come(scale: Any, rng: Rng) -> None:
    bind = bind_scene(one_mesh(rng, 40, 4))[0]
    world = random_world(rng, 2, NODES, scale)
    world[..., :3] *= 3
    places, units = run(bind, world)
    same, raw = run(bind, world, unit_normals=False)
    assert same.tobytes() == places.tobytes()
    length = np.linalg.norm(raw, axis=-1, keepdims=True)
    # Joints with a factor of their own turn normals, and do not scale them.
    assert (np.abs(length - 1) > 1e-3).any() == (scale != "even")
    np.testing.assert_allclose(raw / length, units, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("workers", ["1", "2", "3"])
def test_the_same_bytes_for_any_number_of_threads(
    count: int, workers: str, monkeypatch: pytest.MonkeyPatch, rng: Rng
) -> None:
    hero = Character(random_scene(rng))
    poses = hero.pose_many("mixed", rng.uniform(0, 2, count))
    monkeypatch.setenv("FLEXOR_THREADS", workers)
    many = hero.deform_many(poses, method="dual")
    for n in range(count):
        for skin, one in zip(many, hero.deform(poses[n], method="dual"), strict=True):
            assert skin.positions[n].tobytes() == one.positions.tobytes()
            assert skin.normals[n].tobytes() == one.normals.tobytes()


def test_a_state_is_used_again(rng: Rng) -> None:
    """Nothing of the last call is left: uneven, then even, morphed, then not."""
    bind = bind_scene(one_mesh(rng, 30, 4, targets=2))[0]
    state = init_dual(bind, 5)
    for scale in ("uneven", "one", "zero", "mirror", "one"):
        for size in (1, 0):
            world = random_world(rng, 5, NODES, scale)
            weights = (rng.normal(size=(5, 2)) * size).astype(F4)
            positions, normals = np.full((2, 5, 30, 3), np.nan, F4)
            skin_vertices_dual(
                state, world, weights, positions=positions, normals=normals
            )
            fresh = run(bind, world, weights)
            assert positions.tobytes() == fresh[0].tobytes()
            assert normals.tobytes() == fresh[1].tobytes()


def test_linear_is_what_is_usual(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    pose = hero.pose("mixed", 0.7)
    usual, named = hero.deform(pose), hero.deform(pose, method="linear")
    dual = hero.deform(pose, method="dual")
    for a, b, c in zip(usual, named, dual, strict=True):
        assert a.positions.tobytes() == b.positions.tobytes()
        is_rigid = hero.scene.node_skin[a.node] < 0
        assert np.allclose(a.positions, c.positions, atol=1e-5) == is_rigid


def test_one_weight_is_the_same_by_both(rng: Rng) -> None:
    hero = Character(random_scene(rng))
    pose = hero.pose("mixed", 0.7)
    linear = hero.deform(pose, weights="one")
    for a, b in zip(
        linear, hero.deform(pose, weights="one", method="dual"), strict=True
    ):
        assert a.positions.tobytes() == b.positions.tobytes()
        assert a.normals.tobytes() == b.normals.tobytes()


@pytest.mark.parametrize("word", ["quaternion", "", "Dual", None, 1])
def test_the_method_is_one_of_two_words(word: Any, rng: Rng) -> None:
    hero = Character(random_scene(rng))
    text = r"method: .*, expected one of \('linear', 'dual'\)"
    with pytest.raises(SettingError, match=text):
        hero.deform(hero.pose(), method=word)
    with pytest.raises(SettingError, match=text):
        hero.deform_many(hero.pose_many(None, [0.0]), method=word, weights="one")


def test_no_characters(rng: Rng) -> None:
    for bind in bind_scene(random_scene(rng, nodes=NODES)):
        positions, _ = run(bind, np.zeros((0, NODES, 3, 4), F4))
        assert positions.shape == (0, bind.vertex_count, 3)


def test_no_joints_and_no_vertices(rng: Rng) -> None:
    none = SkinWeights(np.zeros((0, 4)), np.zeros((0, 4)))
    primitive = Primitive(np.zeros((0, 3)), skin=none)
    skin = Skin("none", np.zeros(0, int), np.zeros((0, 3, 4)))
    bind = bind_scene(one_mesh_scene(random_skeleton(rng, 3), primitive, skin))[0]
    assert run(bind, random_world(rng, 2, 3))[0].shape == (2, 0, 3)


def test_wrong_shapes_are_refused(rng: Rng) -> None:
    bind = bind_scene(one_mesh(rng, 9, 2))[0]
    state, none = init_dual(bind, 1), np.zeros((1, 0), F4)
    world, room = random_world(rng, 1, NODES), np.zeros((1, 9, 3), F4)
    with pytest.raises(ShapeError, match="positions: shape"):
        skin_vertices_dual(state, world, none, positions=room[:, :8], normals=room)
    with pytest.raises(ShapeError, match="normals: shape"):
        skin_vertices_dual(state, world, none, positions=room, normals=room[0])
    with pytest.raises(ShapeError, match="world: 2 nodes"):
        skin_vertices_dual(state, world[:, :2], none, positions=room, normals=room)
    with pytest.raises(ShapeError, match="out: shape"):
        skin_blocks_dual(state, world, none, out=np.zeros((1, 9, 6, 8), F4))
