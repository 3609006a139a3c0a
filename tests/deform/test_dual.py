"""Skinning by dual quaternions against the slow twin, and what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.deform.bind import Bind, bind_scene
from flexor.deform.dual import init_dual, skin_blocks_dual, skin_vertices_dual
from flexor.deform.kernels import dual as kernel_dual
from flexor.deform.kernels import vertices as kernel
from flexor.deform.vertices import GROUP, init_skin, skin_vertices
from flexor.errors import SettingError, ShapeError
from flexor.maths import quaternions, transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.deform.test_vertices import NODES, random_world, rigid_skin
from tests.oracle import deform_dual as oracle
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_primitive,
    random_rotations,
    random_scales,
    random_scene,
    random_skeleton,
    random_skin,
    random_weights,
)

Rng = np.random.Generator
F4 = np.float32
VERTICES = [0, 1, 7, 8, 9, 17, 100]
SCALES = ["one", "even", "uneven", "negative", "mirror", "zero"]
FEW = settings(max_examples=30, deadline=None)


def run(bind: Bind, world: Any, weights: Any = None, **more: Any) -> tuple[Any, Any]:
    """Positions and normals (N, V, 3), the blocks agreeing with the vertices."""
    count = len(world)
    if weights is None:
        weights = np.zeros((count, len(bind.deltas)), F4)
    positions, normals = np.full((2, count, bind.vertex_count, 3), np.nan, F4)
    state = init_dual(bind, count)
    skin_vertices_dual(
        state, world, weights, positions=positions, normals=normals, **more
    )
    blocks = np.full((count, len(bind.order) // 8, 6, 8), np.nan, F4)
    skin_blocks_dual(state, world, weights, out=blocks, **more)
    rows = blocks.swapaxes(2, 3).reshape(count, len(bind.order), 6)
    np.testing.assert_allclose(
        rows[..., :3], positions[:, bind.order], rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(
        rows[..., 3:], normals[:, bind.order], rtol=1e-5, atol=1e-5
    )
    return positions, normals


def run_linear(bind: Bind, world: Any) -> tuple[Any, Any]:
    positions, normals = np.zeros((2, len(world), bind.vertex_count, 3), F4)
    none = np.zeros((len(world), len(bind.deltas)), F4)
    state = init_skin(bind, len(world))
    skin_vertices(state, world, none, positions=positions, normals=normals)
    return positions, normals


def check(scene: Scene, world: Any, weights: Any = None) -> None:
    """Every primitive at every pose is that of the twin."""
    for bind in bind_scene(scene):
        primitive = scene.meshes[bind.mesh].primitives[bind.primitive]
        row = int(scene.node_skin[bind.node])
        skin = scene.skins[row] if row >= 0 else None
        mine = np.zeros((len(world), len(bind.deltas)), F4)
        if weights is not None:
            mine[:] = weights
        positions, normals = run(bind, world, mine)
        for n in range(len(world)):
            expected = oracle.deform(primitive, skin, world[n], bind.node, mine[n])
            size = max(1, np.abs(expected[0]).max(initial=0))
            np.testing.assert_allclose(positions[n], expected[0], atol=1e-5 * size)
            np.testing.assert_allclose(normals[n], expected[1], atol=2e-5)


def one_mesh(rng: Rng, vertices: int, influences: int, **more: Any) -> Scene:
    """A mesh on 13 joints whose bind matrices turn and move only."""
    weights = random_weights(rng, vertices, 13, influences)
    primitive = random_primitive(rng, vertices, skin=weights, **more)
    return one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 13))


@pytest.mark.parametrize("vertices", VERTICES)
@pytest.mark.parametrize("influences", range(1, 13))
@pytest.mark.parametrize("scale", ["one", "uneven"])
def test_sizes(vertices: int, influences: int, scale: Any, rng: Rng) -> None:
    """The kernels skin_vertices_dual and skin_blocks_dual, both of their ways."""
    scene = one_mesh(rng, vertices, influences)
    check(scene, random_world(rng, 2, NODES, scale))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("influences", [1, 2, 4])
def test_scales(scale: Any, influences: int, rng: Rng) -> None:
    check(one_mesh(rng, 40, influences), random_world(rng, 3, NODES, scale))


@pytest.mark.parametrize("factor", [1e-6, 0.01, 3, 1000, -1, -0.2])
def test_one_factor_for_all(factor: float, rng: Rng) -> None:
    """Also a mirror of all: what is left is one factor."""
    world = random_world(rng, 2, NODES)
    world[..., :3] *= factor
    check(one_mesh(rng, 40, 4), world)


def test_mirrors_beside_others(rng: Rng) -> None:
    """Even in size, but some joints mirror."""
    world = random_world(rng, 3, NODES)
    world[:, ::3, :, 0] *= -1
    check(one_mesh(rng, 40, 4), world)


def test_shear_and_bind_matrices_of_all_sorts(rng: Rng) -> None:
    skeleton = random_skeleton(rng, NODES)
    primitive = random_primitive(rng, 60, skin=random_weights(rng, 60, 9, 4))
    scene = one_mesh_scene(skeleton, primitive, random_skin(rng, skeleton, 9))
    check(scene, random_world(rng, 2, NODES, "uneven"))
    world = random_world(rng, 2, NODES)
    world[..., :3] += rng.normal(size=(2, NODES, 3, 3)) * 0.2
    check(scene, world)


@pytest.mark.parametrize("flat", [[1, 1, 0], [0, 1, 2], [0, 0, 1], [0, 0, 0]])
def test_flat_joints(flat: Any, rng: Rng) -> None:
    """Scales of zero, along one axis or more: places as in the twin, all finite."""
    scene = one_mesh(rng, 40, 4)
    world = random_world(rng, 1, NODES)
    world[:, ::2, :, :3] *= np.array(flat, F4)
    bind, primitive = bind_scene(scene)[0], scene.meshes[0].primitives[0]
    positions, normals = run(bind, world)
    none = np.zeros(0)
    expected, _ = oracle.deform(primitive, scene.skins[0], world[0], 0, none)
    np.testing.assert_allclose(positions[0], expected, atol=2e-5)
    length = np.linalg.norm(normals[0], axis=1)
    assert ((np.abs(length - 1) < 1e-5) | (length == 0)).all()


def test_all_scales_zero(rng: Rng) -> None:
    """A character shrunk to nothing: finite, and without direction."""
    for bind in bind_scene(random_scene(rng, nodes=NODES)):
        positions, normals = run(bind, np.zeros((2, NODES, 3, 4), F4))
        assert (positions == 0).all()
        assert (normals == 0).all()


def test_large_and_small_scales_are_finite(rng: Rng) -> None:
    bind = bind_scene(one_mesh(rng, 40, 4))[0]
    world = random_world(rng, 2, NODES)
    for factor in (1e-30, 1e-12, 1e6, 1e10):
        for step in (1, 2):
            many = world.copy()
            many[:, ::step, :, :3] *= F4(factor)
            positions, normals = run(bind, many)
            assert np.isfinite(positions).all()
            assert np.isfinite(normals).all()


@pytest.mark.parametrize("count", [1, GROUP, GROUP + 1, 2 * GROUP + 1])
@pytest.mark.parametrize("scale", ["one", "uneven"])
def test_morphs(count: int, scale: Any, rng: Rng) -> None:
    weights = rng.normal(size=(count, 3)).astype(F4)
    weights[:, 1] *= rng.integers(0, 2, count)
    weights[count // 2] = 0
    world = random_world(rng, count, NODES, scale)
    check(one_mesh(rng, 29, 3, targets=3), world, weights)


def test_scenes_with_one_of_everything(rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES)
    check(scene, random_world(rng, 2, NODES, "uneven"))
    check(scene, random_world(rng, 2, NODES))


@pytest.mark.parametrize("scale", SCALES)
def test_one_joint_is_linear(scale: Any, rng: Rng) -> None:
    """With one joint there is nothing to blend."""
    rigid = random_primitive(rng, 21)
    for scene in (
        one_mesh(rng, 60, 1),
        one_mesh_scene(random_skeleton(rng, NODES), rigid, None),
    ):
        bind = bind_scene(scene)[0]
        world = random_world(rng, 3, NODES, scale)
        for mine, other in zip(run(bind, world), run_linear(bind, world), strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-6)


@pytest.mark.parametrize("scale", ["one", "uneven", "mirror"])
def test_joints_that_move_alike_are_linear(scale: Any, rng: Rng) -> None:
    skin = Skin("alike", np.arange(6), np.tile(np.eye(3, 4), (6, 1, 1)))
    primitive = random_primitive(rng, 30, skin=random_weights(rng, 30, 6, 4))
    bind = bind_scene(one_mesh_scene(random_skeleton(rng, 6), primitive, skin))[0]
    world = np.repeat(random_world(rng, 2, 1, scale), 6, 1)
    for mine, other in zip(run(bind, world), run_linear(bind, world), strict=True):
        np.testing.assert_allclose(mine, other, atol=5e-6)


# A tube along x whose ends are turned against each other.


def tube(shares: Any) -> Bind:
    """Rings of radius 1, each with its share of the second joint."""
    angles = np.arange(16) * np.pi / 8
    ring = np.stack([np.zeros(16), np.cos(angles), np.sin(angles)], 1)
    positions = np.concatenate([ring + np.array([x, 0, 0]) for x in shares])
    share = np.repeat(shares, 16)
    weights = SkinWeights(
        np.tile([0, 1], (len(share), 1)), np.stack([1 - share, share], 1)
    )
    primitive = Primitive(positions, np.tile(ring, (len(shares), 1)), skin=weights)
    skin = Skin("tube", np.array([0, 1]), np.tile(np.eye(3, 4), (2, 1, 1)))
    skeleton = random_skeleton(np.random.default_rng(0), 2)
    return bind_scene(one_mesh_scene(skeleton, primitive, skin))[0]


def twisted(angle: float) -> Any:
    turn = np.array([np.sin(angle / 2), 0, 0, np.cos(angle / 2)])
    turned = transforms.compose(np.zeros(3), turn, np.ones(3))
    return np.stack([np.eye(3, 4), turned])[None].astype(F4)


@pytest.mark.parametrize("degrees", [0, 30, 90, 150, 179, 180, 181, 270, 359])
def test_a_twisted_tube_keeps_its_radius(degrees: float) -> None:
    bind = tube(np.linspace(0, 1, 9))
    positions, normals = run(bind, twisted(np.radians(degrees)))
    np.testing.assert_allclose(
        np.linalg.norm(positions[..., 1:], axis=-1), 1, atol=1e-5
    )
    np.testing.assert_allclose(np.linalg.norm(normals[..., 1:], axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(positions[..., 1:], normals[..., 1:], atol=1e-5)


def test_linear_skinning_does_not() -> None:
    """What the other way is for: half and half of 180 degrees is a point."""
    bind = tube(np.array([0.5]))
    linear, _ = run_linear(bind, twisted(np.pi))
    assert np.abs(linear[..., 1:]).max() < 1e-6


def test_the_middle_of_a_twist_is_turned_half_as_far() -> None:
    bind = tube(np.array([0.5]))
    rest, _ = run(bind, twisted(0))
    mine, _ = run(bind, twisted(np.radians(120)))
    half = twisted(np.radians(60))[0, 1]
    np.testing.assert_allclose(mine[0], transforms.apply(half, rest[0]), atol=1e-6)


# What must hold for any character


def bound_character(seed: int, vertices: int, influences: int, scale: Any) -> Character:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 8, roots=1, scale=scale)
    weights = random_weights(rng, vertices, 8, influences)
    primitive = random_primitive(rng, vertices, skin=weights)
    return Character(
        one_mesh_scene(skeleton, primitive, bound_skin(skeleton, rng.permutation(8)))
    )


SEEDS = st.integers(0, 2**32 - 1)


@FEW
@given(SEEDS, st.integers(1, 30), st.integers(1, 8), st.sampled_from(["one", "uneven"]))
def test_rest_in_rest_out(
    seed: int, vertices: int, influences: int, scale: str
) -> None:
    hero = bound_character(seed, vertices, influences, scale)
    primitive = hero.meshes[0].primitives[0]
    pose = hero.pose()
    skin = hero.deform(pose, method="dual")[0]
    binds = np.abs(hero.scene.skins[0].inverse_binds).max()
    error = 5e-6 * max(1, np.abs(pose.world).max() * binds)
    np.testing.assert_allclose(skin.positions, primitive.positions, atol=error)
    np.testing.assert_allclose(skin.normals, primitive.normals, atol=10 * error)


@FEW
@given(SEEDS, st.integers(1, 30), st.integers(1, 4), st.sampled_from(SCALES))
def test_moving_the_world_moves_the_skin(
    seed: int, vertices: int, influences: int, scale: Any
) -> None:
    """Turns, moves and turns by which the quaternions of joints change their signs."""
    rng = np.random.default_rng(seed)
    bind = bind_scene(one_mesh(rng, vertices, influences))[0]
    world = random_world(rng, 1, NODES, "one" if scale == "zero" else scale)
    motion = transforms.compose(
        rng.normal(size=3), quaternions.normalise(rng.normal(size=4)), np.ones(3)
    )
    before, turned = run(bind, world)
    moved = transforms.multiply(motion, world.astype(np.float64)).astype(F4)
    after, turned_after = run(bind, moved)
    expected = transforms.apply(motion, before[0].astype(np.float64))
    is_sound = _is_clear(bind, world)
    error = 1e-4 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(after[0][is_sound], expected[is_sound], atol=error)
    normals = turned[0] @ motion[:, :3].T
    np.testing.assert_allclose(turned_after[0][is_sound], normals[is_sound], atol=5e-3)


def _is_clear(bind: Bind, world: Any) -> Any:
    """Vertices whose joints are not about 180 degrees from their first, (V,)."""
    is_clear = np.ones(bind.vertex_count, bool)
    palette = transforms.multiply(
        world[0].astype(np.float64)[bind.nodes], bind.binds.reshape(-1, 3, 4)
    )
    turns = quaternions.from_matrix(oracle.split(palette)[0])
    for count, blocks, _, block, first in bind.runs.tolist():
        own = turns[bind.joints[first : first + count]]
        if (np.abs(own @ own[0]) < 0.02).any():
            is_clear[bind.order[8 * block : 8 * (block + blocks)]] = False
    return is_clear


def test_far_from_the_origin_little_is_lost(rng: Rng) -> None:
    bind = bind_scene(one_mesh(rng, 60, 4))[0]
    world = random_world(rng, 1, NODES)
    near, _ = run(bind, world)
    world[..., 3] += F4(1024)
    far, _ = run(bind, world)
    np.testing.assert_allclose(far - 1024, near, atol=4e-4)


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
