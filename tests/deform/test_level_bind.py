"""Surfaces of levels laid out and skinned."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.deform.kernels.vertices import BLOCKS
from flexor.deform.level_bind import LevelBind, bind_level, rest_vertices, skin_level
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.level_bodies import make_hand_levels
from tests.oracle import deform as oracle
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_rotations,
    random_scene,
)

Rng = np.random.Generator


def palette_rows(scene: Scene) -> np.ndarray:
    """Every slot at its own number."""
    return np.arange(len(make_hand_levels(scene).slots), dtype=np.int32)


def matrices(scene: Scene, world: np.ndarray) -> np.ndarray:
    """world_from_mesh (n, S * 12) of every slot, filled up to eights."""
    levels = make_hand_levels(scene)
    count = -(-len(levels.slots) // 8) * 8
    made = np.zeros((len(world), count, 3, 4))
    left = world[:, levels.slots].astype(np.float64)
    made[:, : len(levels.slots), :, :3] = left[..., :3] @ levels.binds[..., :3]
    made[:, : len(levels.slots), :, 3] = (
        left[..., :3] @ levels.binds[..., 3:].astype(np.float64)
    )[..., 0] + left[..., 3]
    made[:, len(levels.slots) :] = made[:, :1]
    return made.reshape(len(world), -1).astype(np.float32)


def check_twin(scene: Scene, world: np.ndarray) -> list[LevelBind]:
    """The kernel `skin_places`: every surface with nodes at world (n, J, 3, 4) is
    where the twin has it.
    """
    palettes = matrices(scene, world)
    levels, count = make_hand_levels(scene), len(world)
    binds = []
    for row, surface in enumerate(levels.surfaces):
        bind = bind_level(scene, levels, row, 0, palette_rows(scene))
        shape = (count, bind.place_count, 3)
        positions, normals = np.full((2, *shape), np.nan, np.float32)
        touched = skin_level(bind, palettes, positions=positions, normals=normals)
        assert touched == count * bind.place_count
        node, primitive = surface.sources[0, :2].tolist()
        mesh = scene.meshes[scene.node_mesh[node]]
        skin_row = int(scene.node_skin[node])
        for n in range(count):
            wanted, turned = oracle.deform(
                mesh.primitives[primitive],
                scene.skins[skin_row] if skin_row >= 0 else None,
                world[n],
                node,
                scene.rest_weights(node),
            )
            order = bind.blocks.order
            size = max(1.0, float(np.abs(wanted).max()))
            np.testing.assert_allclose(
                positions[n] / size, wanted[order] / size, atol=2e-5
            )
            np.testing.assert_allclose(normals[n], turned[order], atol=2e-3)
        binds.append(bind)
    return binds


@pytest.mark.parametrize("scale", ["one", "even", "uneven", "mirror"])
@pytest.mark.parametrize("influences", [1, 3, 4])
def test_skin_places_does_as_its_twin(rng: Rng, scale: str, influences: int) -> None:
    scene = random_scene(rng, scale=scale, influences=influences)  # type: ignore[arg-type]
    hero = Character(scene)
    world = hero.pose_many("mixed", [0.0, 0.3, 0.7]).world
    check_twin(scene, world)


@pytest.mark.parametrize("vertices", [100, 160])
def test_runs_of_even_palettes_go_two_blocks_at_a_time(rng: Rng, vertices: int) -> None:
    """Where matrices only turn and move: runs of one, two, three and more blocks."""
    scene = random_scene(rng, scale="one", vertices=vertices, influences=2)
    skin = bound_skin(scene.skeleton, scene.skins[0].joints)
    scene = dataclasses.replace(scene, skins=(skin,))
    nodes = len(scene.skeleton)
    world = transforms.compose(
        rng.normal(size=(3, nodes, 3)),
        random_rotations(rng, 3, nodes),
        np.ones((3, nodes, 3)),
    ).astype(np.float32)
    turns = matrices(scene, world).reshape(3, -1, 3, 4)[..., :3].astype(np.float64)
    even = np.broadcast_to(np.eye(3), turns.shape)  # or the path is another one
    np.testing.assert_allclose(turns @ turns.swapaxes(2, 3), even, atol=2e-5)
    binds = check_twin(scene, world)
    runs = np.concatenate([bind.blocks.runs[:, BLOCKS] for bind in binds])
    assert {1, 2, 3} <= set(runs.tolist())
    assert runs.max() > 3


def test_a_level_touches_its_own_vertices_alone(rng: Rng) -> None:
    scene = random_scene(rng, vertices=160)
    hero = Character(scene)
    levels = make_hand_levels(scene, [range(11)], [0.25], [0.1])
    palettes = matrices(scene, hero.pose_many("mixed", [0.2]).world)
    counts = []
    for level in range(2):
        bind = bind_level(scene, levels, 1, level, palette_rows(scene))
        assert set(bind.blocks.order) == set(
            range(int(levels.surfaces[1].counts[level]))
        )
        shape = (1, bind.place_count, 3)
        positions, normals = np.empty((2, *shape), np.float32)
        counts.append(skin_level(bind, palettes, positions=positions, normals=normals))
    assert counts[1] < counts[0]


def test_faces_name_places_of_their_own_vertices(rng: Rng) -> None:
    scene = random_scene(rng)
    levels = make_hand_levels(scene)
    for row, surface in enumerate(levels.surfaces):
        bind = bind_level(scene, levels, row, 0, palette_rows(scene))
        named = bind.blocks.order[bind.faces]
        np.testing.assert_array_equal(
            np.sort(named, axis=1), np.sort(surface.faces[0], axis=1)
        )


def test_what_a_node_mirrors_is_turned_around(rng: Rng) -> None:
    """Faces go the other way where the matrix at rest turns them inside out."""
    scene = random_scene(rng)
    scales = scene.skeleton.scales.copy()
    roots = scene.skeleton.parents < 0
    scales[roots, 0] = -1
    mirrored = dataclasses.replace(
        scene, skeleton=dataclasses.replace(scene.skeleton, scales=scales)
    )
    levels = make_hand_levels(scene)
    row = next(
        row
        for row, surface in enumerate(levels.surfaces)
        if scene.node_skin[surface.sources[0, 0]] < 0  # rigid: one matrix alone
    )
    rows = palette_rows(scene)
    plain = bind_level(scene, levels, row, 0, rows).faces
    turned = bind_level(mirrored, levels, row, 0, rows).faces
    np.testing.assert_array_equal(turned, plain[:, ::-1])


@pytest.mark.parametrize("is_bind_mirrored", [False, True])
def test_blended_skin_is_turned_by_what_pulls_it_most(is_bind_mirrored: bool) -> None:
    """Two joints, one of which mirrors; each pulls one of two triangles the most."""
    flip = np.diag([-1.0, 1, 1]).astype(np.float32)
    scales = np.array([[1, 1, 1], [-1, 1, 1]], np.float32)
    skeleton = Skeleton(
        ("plain", "mirror"),
        np.array([-1, -1]),
        np.zeros((2, 3), np.float32),
        np.tile(np.array([0, 0, 0, 1], np.float32), (2, 1)),
        scales,
    )
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    if is_bind_mirrored:
        binds[:, :, :3] = flip
    names = np.tile(np.array([0, 1], np.uint16), (6, 1))
    shares = np.repeat(np.array([[0.7, 0.3], [0.3, 0.7]], np.float32), 3, axis=0)
    corners = np.random.default_rng(3).normal(size=(6, 3)).astype(np.float32)
    primitive = Primitive(corners, skin=SkinWeights(names, shares))
    skin = Skin("s", np.array([0, 1], np.int32), binds)
    scene = one_mesh_scene(skeleton, primitive, skin)
    bind = bind_level(scene, make_hand_levels(scene), 0, 0, palette_rows(scene))
    faces = bind.blocks.order[bind.faces].tolist()
    if is_bind_mirrored:  # what is mirrored twice is not
        assert faces == [[2, 1, 0], [3, 4, 5]]
    else:
        assert faces == [[0, 1, 2], [5, 4, 3]]


def test_morphs_are_added_as_they_are_at_rest(rng: Rng) -> None:
    scene = random_scene(rng)
    node = 3
    sources = np.array([[node, 0, vertex] for vertex in (4, 0, 8)], np.int32)
    positions, normals = rest_vertices(scene, sources)
    primitive = scene.meshes[scene.node_mesh[node]].primitives[0]
    wanted, turned = oracle.morph(primitive, scene.rest_weights(node))
    np.testing.assert_allclose(positions, wanted[[4, 0, 8]], atol=1e-6)
    np.testing.assert_allclose(normals, turned[[4, 0, 8]], atol=1e-6)


def test_a_level_may_have_a_shape_of_its_own(rng: Rng) -> None:
    scene = random_scene(rng, vertices=30)
    hero = Character(scene)
    levels = make_hand_levels(scene, [range(11)], [0.5], [0.1])
    surface = levels.surfaces[1]
    own = rng.normal(size=(int(surface.counts[1]), 6)).astype(np.float32)
    shaped = dataclasses.replace(surface, shapes=(np.zeros((0, 6), np.float32), own))
    surfaces = (levels.surfaces[0], shaped, *levels.surfaces[2:])
    levels = dataclasses.replace(levels, surfaces=surfaces)
    palettes = matrices(scene, hero.pose_many(None, [0.0]).world)
    for level in range(2):
        bind = bind_level(scene, levels, 1, level, palette_rows(scene))
        shape = (1, bind.place_count, 3)
        positions, normals = np.empty((2, *shape), np.float32)
        skin_level(bind, palettes, positions=positions, normals=normals)
        rest, _ = rest_vertices(scene, surface.sources[: surface.counts[level]])
        used = own[:, :3] if level else rest
        table = palettes.reshape(-1, 3, 4)
        joints, weights = surface.joints[level], surface.weights[level]
        blended = np.einsum("vk,vkij->vij", weights, table[joints])
        wanted = np.einsum("vij,vj->vi", blended[..., :3], used) + blended[..., 3]
        np.testing.assert_allclose(positions[0], wanted[bind.blocks.order], atol=1e-4)


def test_refusals(rng: Rng) -> None:
    scene = random_scene(rng)
    levels = make_hand_levels(scene)
    rows = palette_rows(scene)
    lost = rows.copy()
    lost[levels.surfaces[0].joints[0][levels.surfaces[0].weights[0] > 0][0]] = -1
    with pytest.raises(ShapeError, match="uses a slot that has no matrix"):
        bind_level(scene, levels, 0, 0, lost)
    bind = bind_level(scene, levels, 0, 0, rows)
    shape = (2, bind.place_count, 3)
    positions, normals = np.empty((2, *shape), np.float32)
    few = np.zeros((2, 12), np.float32)
    with pytest.raises(ShapeError, match="matrices: 1 a character, expected"):
        skin_level(bind, few, positions=positions, normals=normals)
    enough = np.zeros((2, 12 * bind.palette), np.float32)
    with pytest.raises(ShapeError, match="positions"):
        skin_level(bind, enough, positions=positions[:1], normals=normals)
    with pytest.raises(ShapeError, match="normals"):
        skin_level(bind, enough, positions=positions, normals=normals[:, 1:])


def test_nobody_takes_no_work(rng: Rng) -> None:
    scene = random_scene(rng)
    bind = bind_level(scene, make_hand_levels(scene), 0, 0, palette_rows(scene))
    none = np.empty((0, bind.place_count, 3), np.float32)
    empty = np.zeros((0, 12 * bind.palette), np.float32)
    assert skin_level(bind, empty, positions=none, normals=none.copy()) == 0
