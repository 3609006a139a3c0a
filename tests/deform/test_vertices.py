"""Skinning against the slow twin: sizes, influences, runs, scales, morphs, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.deform.bind import Bind, bind_primitive, bind_scene
from flexor.deform.kernels import vertices as kernel
from flexor.deform.vertices import GROUP, init_skin, skin_blocks, skin_vertices
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.scene.character.mesh import MorphTarget, Primitive
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.oracle import deform as oracle
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
VERTICES = [0, 1, 7, 8, 9, 16, 17, 100]
NODES = 14


def random_world(rng: Rng, count: int, nodes: int, scale: Any = "one") -> Any:
    """World matrices (count, nodes, 3, 4), each node its own; no tree needed here."""
    scales = np.array([random_scales(rng, nodes, scale) for _ in range(count)])
    turns = random_rotations(rng, count, nodes)
    moves = rng.normal(size=(count, nodes, 3))
    return transforms.compose(moves, turns, scales).astype(np.float32)


def run(bind: Bind, world: Any, weights: Any = None, **more: Any) -> tuple[Any, Any]:
    """Positions and normals (N, V, 3), the blocks agreeing with the vertices."""
    count = len(world)
    if weights is None:
        weights = np.zeros((count, len(bind.deltas)), np.float32)
    shape = (count, bind.vertex_count, 3)
    positions, normals = np.full((2, *shape), np.nan, np.float32)
    state = init_skin(bind, count)
    skin_vertices(state, world, weights, positions=positions, normals=normals, **more)
    blocks = np.full((count, len(bind.order) // 8, 6, 8), np.nan, np.float32)
    skin_blocks(state, world, weights, out=blocks, **more)
    rows = blocks.swapaxes(2, 3).reshape(count, len(bind.order), 6)
    np.testing.assert_allclose(
        rows[..., :3], positions[:, bind.order], rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(rows[..., 3:], normals[:, bind.order], atol=1e-5)
    return positions, normals


def check(scene: Scene, world: Any, weights: Any = None) -> None:
    """Every primitive at every pose is that of the twin."""
    for bind in bind_scene(scene):
        primitive = scene.meshes[bind.mesh].primitives[bind.primitive]
        row = int(scene.node_skin[bind.node])
        skin = scene.skins[row] if row >= 0 else None
        mine = np.zeros((len(world), len(bind.deltas)), np.float32)
        if weights is not None:
            mine[:] = weights
        positions, normals = run(bind, world, mine)
        for n in range(len(world)):
            expected = oracle.deform(primitive, skin, world[n], bind.node, mine[n])
            size = max(1, np.abs(expected[0]).max(initial=0))
            np.testing.assert_allclose(positions[n], expected[0], atol=2e-6 * size)
            np.testing.assert_allclose(normals[n], expected[1], atol=1e-5)


def rigid_skin(rng: Rng, count: int) -> Skin:
    """Bind matrices that turn and move only, so that palettes are even."""
    turns = random_rotations(rng, count)
    binds = transforms.compose(rng.normal(size=(count, 3)), turns, np.ones((count, 3)))
    return Skin("rigid", rng.permutation(NODES)[:count], binds)


@pytest.mark.parametrize("vertices", VERTICES)
@pytest.mark.parametrize("influences", range(1, 13))
@pytest.mark.parametrize("is_even", [True, False])
def test_sizes(vertices: int, influences: int, is_even: bool, rng: Rng) -> None:
    """Even palettes go two blocks at a time, others with matrices for normals."""
    skeleton = random_skeleton(rng, NODES)
    make = rigid_skin if is_even else random_skin_of_nodes
    weights = random_weights(rng, vertices, 13, influences)
    scene = one_mesh_scene(
        skeleton, random_primitive(rng, vertices, skin=weights), make(rng, 13)
    )
    check(scene, random_world(rng, 2, NODES, "one" if is_even else "uneven"))


def random_skin_of_nodes(rng: Rng, count: int) -> Skin:
    return random_skin(rng, random_skeleton(rng, NODES), count)


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("short", [0, 1, 7])
@pytest.mark.parametrize("is_even", [True, False])
def test_runs_of_blocks(blocks: int, short: int, is_even: bool, rng: Rng) -> None:
    """One run of odd or even length, full or not, between two others."""
    count = 8 * blocks - short
    joints = np.concatenate([[[5, 5, 2]] * 3, [[1, 4, 3]] * count, [[6, 2, 0]] * 9])
    joints = rng.permutation(joints)
    weights = rng.uniform(0.2, 1, joints.shape)
    weights /= weights.sum(1, keepdims=True)
    primitive = random_primitive(rng, len(joints), skin=SkinWeights(joints, weights))
    skin = rigid_skin(rng, 7) if is_even else random_skin_of_nodes(rng, 7)
    scene = one_mesh_scene(random_skeleton(rng, NODES), primitive, skin)
    assert len(bind_scene(scene)[0].runs) == 3
    check(scene, random_world(rng, 2, NODES, "one" if is_even else "negative"))


@pytest.mark.parametrize(
    "scale", ["one", "even", "uneven", "negative", "mirror", "zero"]
)
@pytest.mark.parametrize("influences", [1, 4])
def test_scales(scale: Any, influences: int, rng: Rng) -> None:
    weights = random_weights(rng, 40, 6, influences)
    primitive = random_primitive(rng, 40, skin=weights)
    scene = one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 6))
    check(scene, random_world(rng, 3, NODES, scale))


# A palette whose matrices only turn needs none for normals. Each of these is off in one
# way: a column's length, or the angle of two columns.
ODD = {
    "x": np.diag([3.0, 1, 1]),
    "y": np.diag([1, 3.0, 1]),
    "z": np.diag([1, 1, 3.0]),
    "small": np.diag([0.2, 0.2, 0.2]),
    "xy": np.array([[1, 0.6, 0], [0, 0.8, 0], [0, 0, 1]]),
    "xz": np.array([[1, 0, 0.6], [0, 1, 0], [0, 0, 0.8]]),
    "yz": np.array([[1, 0, 0], [0, 1, 0.6], [0, 0, 0.8]]),
    "-xy": np.array([[1, -0.6, 0], [0, 0.8, 0], [0, 0, 1]]),
    "-xz": np.array([[1, 0, -0.6], [0, 1, 0], [0, 0, 0.8]]),
    "-yz": np.array([[1, 0, 0], [0, 1, -0.6], [0, 0, 0.8]]),
}
ODD |= {f"{name} turned over": odd.T for name, odd in ODD.items()}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 1])
def test_every_way_to_be_uneven_is_seen(odd: str, place: int, rng: Rng) -> None:
    binds = np.tile(np.eye(3, 4), (2, 1, 1))
    binds[place, :, :3] = ODD[odd]
    primitive = random_primitive(rng, 12, skin=random_weights(rng, 12, 2, 2))
    scene = one_mesh_scene(
        random_skeleton(rng, 3), primitive, Skin("odd", np.array([0, 1]), binds)
    )
    check(scene, random_world(rng, 2, 3))


def test_unused_odd_joints_do_no_harm(rng: Rng) -> None:
    """The same mesh, a skin with one more joint that is flat."""
    skeleton = random_skeleton(rng, 4)
    primitive = random_primitive(rng, 30, skin=random_weights(rng, 30, 3, 3))
    binds = np.tile(np.eye(3, 4), (4, 1, 1))
    binds[3] = 0
    world = random_world(rng, 1, 4)
    results = []
    for count in (3, 4):
        skin = Skin("skin", np.arange(count), binds[:count].copy())
        bind = bind_scene(one_mesh_scene(skeleton, primitive, skin))[0]
        results.append(np.array(run(bind, world)))
    np.testing.assert_allclose(results[0], results[1], atol=1e-5)


def test_uniform_scales_of_any_size(rng: Rng) -> None:
    """A character in millimetres or kilometres has unit normals all the same."""
    primitive = random_primitive(rng, 20, skin=random_weights(rng, 20, 3, 3))
    scene = one_mesh_scene(random_skeleton(rng, 3), primitive, rigid_skin_of(rng, 3))
    world = random_world(rng, 1, 3)
    bind = bind_scene(scene)[0]
    _, expected = run(bind, world)
    for factor in (1e-6, 1e-3, 1e3, 1e6):
        _, normals = run(bind, world * np.float32(factor))
        np.testing.assert_allclose(normals, expected, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1, atol=1e-6)


def rigid_skin_of(rng: Rng, count: int) -> Skin:
    binds = transforms.compose(
        rng.normal(size=(count, 3)), random_rotations(rng, count), np.ones((count, 3))
    )
    return Skin("rigid", np.arange(count), binds)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_different_scales_of_any_size(factor: float, rng: Rng) -> None:
    """Normals of joints with different scales count by weight, not by scale."""
    primitive = random_primitive(rng, 20, skin=random_weights(rng, 20, 3, 3))
    scene = one_mesh_scene(random_skeleton(rng, 3), primitive, rigid_skin_of(rng, 3))
    world = random_world(rng, 2, 3, "even")
    world[:, 1] *= factor
    check(scene, world)


def test_all_scales_zero(rng: Rng) -> None:
    """A character shrunk to nothing: finite, and without direction."""
    scene = random_scene(rng, nodes=NODES)
    for bind in bind_scene(scene):
        positions, normals = run(bind, np.zeros((2, NODES, 3, 4), np.float32))
        assert (positions == 0).all()
        assert (normals == 0).all()


def test_normals_of_zero_stay_zero(rng: Rng) -> None:
    primitive = Primitive(rng.normal(size=(9, 3)), np.zeros((9, 3)))
    scene = one_mesh_scene(random_skeleton(rng, 2), primitive, None)
    for scale in ("one", "uneven"):
        _, normals = run(bind_scene(scene)[0], random_world(rng, 1, 2, scale))
        assert (normals == 0).all()


@pytest.mark.parametrize("scale", ["one", "uneven"])
@pytest.mark.parametrize("influences", [1, 4])
def test_normals_as_they_come(scale: Any, influences: int, rng: Rng) -> None:
    """Not scaled to unit length: places stay, lengths are those of the blend."""
    primitive = random_primitive(rng, 40, skin=random_weights(rng, 40, 6, influences))
    scene = one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 6))
    bind, world = bind_scene(scene)[0], random_world(rng, 2, NODES, scale)
    world[..., :3] *= 3
    places, units = run(bind, world)
    same, raw = run(bind, world, unit_normals=False)
    assert same.tobytes() == places.tobytes()
    length = np.linalg.norm(raw, axis=-1, keepdims=True)
    assert (np.abs(length - 1) > 1e-3).any()
    if influences == 1 and scale == "one":
        np.testing.assert_allclose(length, 3, atol=1e-5)
    np.testing.assert_allclose(raw / length, units, atol=1e-5)


@pytest.mark.parametrize("vertices", [1, 8, 21])
@pytest.mark.parametrize("scale", ["one", "uneven", "negative"])
def test_rigid_primitives(vertices: int, scale: Any, rng: Rng) -> None:
    primitive = random_primitive(rng, vertices)
    scene = one_mesh_scene(random_skeleton(rng, 3), primitive, None)
    check(scene, random_world(rng, 3, 3, scale))


def test_weights_without_a_skin_or_a_skin_without_weights_are_rigid(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 3)
    weighted = random_primitive(rng, 5, skin=random_weights(rng, 5, 2, 2))
    check(one_mesh_scene(skeleton, weighted, None), random_world(rng, 2, 3))
    plain = random_primitive(rng, 5)
    check(
        one_mesh_scene(skeleton, plain, rigid_skin_of(rng, 2)), random_world(rng, 2, 3)
    )


@pytest.mark.parametrize("count", [1, 2, 3, GROUP, GROUP + 1, GROUP + 2, 2 * GROUP + 1])
@pytest.mark.parametrize("is_skinned", [False, True])
@pytest.mark.parametrize("scale", ["one", "uneven"])
def test_morphs(count: int, is_skinned: bool, scale: Any, rng: Rng) -> None:
    """Batches larger than the group that is worked at once; some weights are zero."""
    skin = random_weights(rng, 29, 4, 3) if is_skinned else None
    primitive = random_primitive(rng, 29, skin=skin, targets=3)
    scene = one_mesh_scene(
        random_skeleton(rng, NODES),
        primitive,
        rigid_skin(rng, 4) if is_skinned else None,
    )
    weights = rng.normal(size=(count, 3)).astype(np.float32)
    weights[:, 1] *= rng.integers(0, 2, count)
    weights[count // 2] = 0
    check(scene, random_world(rng, count, NODES, scale), weights)


def test_morphs_at_rest_are_the_rest_mesh_to_the_last_bit(rng: Rng) -> None:
    """Alone, and beside another that is morphed."""
    primitive = random_primitive(rng, 20, skin=random_weights(rng, 20, 4, 3), targets=2)
    scene = one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 4))
    bind = bind_scene(scene)[0]
    world = np.repeat(random_world(rng, 1, NODES), 3, 0)
    weights = np.array([[0, 0], [1, -2], [0, 0]], np.float32)
    positions, normals = run(bind, world, weights)
    alone, turned = run(bind, world[:1], weights[:1])
    for n in (0, 2):
        assert positions[n].tobytes() == alone[0].tobytes()
        assert normals[n].tobytes() == turned[0].tobytes()
    assert not np.allclose(positions[1], positions[0])


def test_morphs_of_positions_only_and_of_nothing(rng: Rng) -> None:
    primitive = Primitive(
        rng.normal(size=(9, 3)),
        random_primitive(rng, 9).normals,
        targets=(
            MorphTarget(),
            MorphTarget(rng.normal(size=(9, 3))),
            MorphTarget(normals=rng.normal(size=(9, 3))),
        ),
    )
    scene = one_mesh_scene(random_skeleton(rng, 2), primitive, None)
    weights = rng.normal(size=(3, 3)).astype(np.float32)
    check(scene, random_world(rng, 3, 2), weights)


def test_a_state_is_used_again(rng: Rng) -> None:
    """Nothing of the last call is left: uneven, then even, morphed, then not."""
    primitive = random_primitive(rng, 30, skin=random_weights(rng, 30, 5, 4), targets=2)
    scene = one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 5))
    bind = bind_scene(scene)[0]
    state = init_skin(bind, 5)
    for scale in ("uneven", "one", "zero", "one"):
        for size in (1, 0):
            world = random_world(rng, 5, NODES, scale)
            weights = (rng.normal(size=(5, 2)) * size).astype(np.float32)
            positions, normals = np.full((2, 5, 30, 3), np.nan, np.float32)
            skin_vertices(state, world, weights, positions=positions, normals=normals)
            fresh = run(bind, world, weights)
            assert positions.tobytes() == fresh[0].tobytes()
            assert normals.tobytes() == fresh[1].tobytes()


def test_palette(rng: Rng) -> None:
    skeleton = random_skeleton(rng, NODES)
    skin = random_skin(rng, skeleton, 9)
    world = random_world(rng, 3, NODES, "uneven")
    out = np.zeros((3, 9 * 12), np.float32)
    nodes = skin.joints.astype(np.uint32)
    kernel.palette(world.reshape(3, -1), nodes, skin.inverse_binds.reshape(-1, 12), out)
    for n in range(3):
        expected = oracle.palette(skin, world[n])
        np.testing.assert_allclose(out[n].reshape(-1, 3, 4), expected, atol=1e-5)


def test_palette_is_kept_in_the_state(rng: Rng) -> None:
    skeleton = random_skeleton(rng, NODES)
    primitive = random_primitive(rng, 5, skin=random_weights(rng, 5, 4, 2))
    skin = random_skin(rng, skeleton, 4)
    bind = bind_scene(one_mesh_scene(skeleton, primitive, skin))[0]
    state, world = init_skin(bind, 2), random_world(rng, 2, NODES + 1)
    room = np.zeros((2, 2, 5, 3), np.float32)
    none = np.zeros((2, 0), np.float32)
    skin_vertices(state, world, none, positions=room[0], normals=room[1])
    made = state.palette.reshape(2, 4, 3, 4)
    np.testing.assert_allclose(made[1], oracle.palette(skin, world[1]), atol=1e-5)


def test_bind_pose_gives_the_mesh(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 7)
    primitive = random_primitive(rng, 33, skin=random_weights(rng, 33, 7, 4))
    scene = one_mesh_scene(skeleton, primitive, bound_skin(skeleton, np.arange(7)))
    world = np.array([transforms.invert(b) for b in scene.skins[0].inverse_binds])
    positions, normals = run(bind_primitive(scene, 6, 0), world[None])
    np.testing.assert_allclose(positions[0], primitive.positions, atol=1e-5)
    np.testing.assert_allclose(normals[0], primitive.normals, atol=1e-5)


F4 = np.float32


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"positions": np.zeros((2, 4, 3), F4)}, "positions: shape"),
        ({"positions": np.zeros((3, 5, 3), F4)}, "positions: shape"),
        ({"positions": np.zeros((2, 5, 3))}, "positions: float64"),
        ({"positions": np.zeros((2, 3, 5), F4).swapaxes(1, 2)}, "positions: must be"),
        ({"normals": np.zeros((2, 15), F4)}, "normals: shape"),
        ({"normals": np.zeros((1, 5, 3), F4)}, "normals: shape"),
        ({"world": np.zeros((3, 3, 3, 4), F4)}, "world: shape"),
        ({"world": np.zeros((2, 3, 4, 4), F4)}, "world: shape"),
        ({"world": np.zeros((2, 3, 3, 4))}, "world: float64"),
        ({"weights": np.zeros((2, 1), F4)}, "weights: shape"),
        ({"weights": np.zeros((1, 2), F4)}, "weights: shape"),
    ],
)
def test_refusals(changes: dict[str, Any], text: str, rng: Rng) -> None:
    primitive = random_primitive(rng, 5, targets=2)
    bind = bind_scene(one_mesh_scene(random_skeleton(rng, 3), primitive, None))[0]
    parts = {
        "world": np.zeros((2, 3, 3, 4), F4),
        "weights": np.zeros((2, 2), F4),
        "positions": np.zeros((2, 5, 3), F4),
        "normals": np.zeros((2, 5, 3), F4),
        **changes,
    }
    with pytest.raises(ShapeError, match=text):
        skin_vertices(init_skin(bind, 2), **parts)


def test_too_few_world_matrices_are_refused(rng: Rng) -> None:
    """The kernels do not check: a node beyond the last one would read wild memory."""
    bind = bind_scene(
        one_mesh_scene(random_skeleton(rng, 3), random_primitive(rng, 5), None)
    )[0]
    room = np.zeros((2, 1, 5, 3), F4)
    with pytest.raises(ShapeError, match=r"world: 2 nodes, .* on node 2"):
        skin_vertices(
            init_skin(bind, 1),
            np.zeros((1, 2, 3, 4), F4),
            np.zeros((1, 0), F4),
            positions=room[0],
            normals=room[1],
        )


def test_skin_blocks_refuses_other_shapes(rng: Rng) -> None:
    bind = bind_scene(
        one_mesh_scene(random_skeleton(rng, 3), random_primitive(rng, 9), None)
    )[0]
    state, world = init_skin(bind, 1), np.zeros((1, 3, 3, 4), F4)
    for shape in [(1, 1, 6, 8), (2, 2, 6, 8), (1, 2, 8, 6), (1, 96)]:
        with pytest.raises(ShapeError, match="out: shape"):
            skin_blocks(state, world, np.zeros((1, 0), F4), out=np.zeros(shape, F4))


def test_no_joints_and_no_vertices(rng: Rng) -> None:
    """A skin may be empty if nothing hangs on it."""
    none = SkinWeights(np.zeros((0, 4)), np.zeros((0, 4)))
    primitive = Primitive(np.zeros((0, 3)), skin=none)
    skin = Skin("none", np.zeros(0, int), np.zeros((0, 3, 4)))
    bind = bind_scene(one_mesh_scene(random_skeleton(rng, 3), primitive, skin))[0]
    positions, _ = run(bind, random_world(rng, 2, 3))
    assert positions.shape == (2, 0, 3)


def test_no_characters(rng: Rng) -> None:
    for bind in bind_scene(random_scene(rng, nodes=NODES)):
        positions, _ = run(bind, np.zeros((0, NODES, 3, 4), F4))
        assert positions.shape == (0, bind.vertex_count, 3)
