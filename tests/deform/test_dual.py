"""Skinning by dual quaternions against the slow twin, and what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.deform.bind import Bind, bind_scene
from flexor.deform.vertices import GROUP, init_skin, skin_vertices
from flexor.maths import quaternions, transforms
from flexor.scene.character.weights import Skin
from flexor.scene.scene import Scene
from tests.deform.dual_skins import F4, SCALES, Rng, one_mesh, run, tube
from tests.deform.test_vertices import NODES, random_world
from tests.oracle import deform_dual as oracle
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_primitive,
    random_scene,
    random_skeleton,
    random_skin,
    random_weights,
)

VERTICES = [0, 1, 7, 8, 9, 17, 100]
FEW = settings(max_examples=30)


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
