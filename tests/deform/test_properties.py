"""What must hold for any character: rest in, rest out; the root moves all rigidly."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.maths import quaternions, transforms
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_primitive,
    random_rotations,
    random_skeleton,
    random_weights,
    rest_world,
)

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 12)
FEW = settings(max_examples=30)


def bound_character(
    seed: int, nodes: int, vertices: int, influences: int, scale: Any
) -> Character:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, nodes, roots=1, scale=scale)
    weights = random_weights(rng, vertices, nodes, min(influences, nodes))
    primitive = random_primitive(rng, vertices, skin=weights)
    skin = bound_skin(skeleton, rng.permutation(nodes))
    return Character(one_mesh_scene(skeleton, primitive, skin))


@FEW
@given(
    SEEDS,
    SIZES,
    st.integers(0, 40),
    SIZES,
    st.sampled_from(["one", "uneven", "mirror"]),
)
def test_rest_in_rest_out(
    seed: int, nodes: int, vertices: int, influences: int, scale: str
) -> None:
    hero = bound_character(seed, nodes, vertices, influences, scale)
    primitive = hero.meshes[0].primitives[0]
    skin = hero.deform(hero.pose())[0]
    world = rest_world(hero.skeleton)
    binds = np.abs(hero.scene.skins[0].inverse_binds).max()
    error = 3e-6 * max(1, np.abs(world).max() * binds)
    np.testing.assert_allclose(skin.positions, primitive.positions, atol=error)
    np.testing.assert_allclose(skin.normals, primitive.normals, atol=10 * error)


@FEW
@given(SEEDS, SIZES, st.integers(1, 40), SIZES, st.sampled_from(["one", "even"]))
def test_moving_the_root_moves_the_skin(
    seed: int, nodes: int, vertices: int, influences: int, scale: str
) -> None:
    """In any pose: the skin after is the motion applied to the skin before."""
    hero = bound_character(seed, nodes, vertices, influences, scale)
    rng = np.random.default_rng(seed + 1)
    turns = random_rotations(rng, nodes).astype(np.float32)
    root = int(hero.skeleton.order[0])
    move, turn = rng.normal(size=3), quaternions.normalise(rng.normal(size=4))
    motion = transforms.compose(move, turn, np.ones(3))
    own = transforms.compose(hero.skeleton.translations[root], turns[root], np.ones(3))
    after_move, after_turn, _ = transforms.decompose(transforms.multiply(motion, own))
    moves = hero.skeleton.translations.copy()
    before = hero.deform(hero.pose_from(moves, turns))[0]
    moves[root], turns[root] = after_move, after_turn
    after = hero.deform(hero.pose_from(moves, turns))[0]
    expected = transforms.apply(motion, before.positions.astype(np.float64))
    size = max(1, np.abs(expected).max())
    np.testing.assert_allclose(after.positions, expected, atol=2e-5 * size)
    turned = before.normals @ motion[:, :3].T
    unit = np.linalg.norm(before.normals, axis=1) > 0.5
    np.testing.assert_allclose(after.normals[unit], turned[unit], atol=2e-3)


@FEW
@given(SEEDS, st.integers(1, 30), SIZES)
def test_normals_are_unit_and_all_is_finite(
    seed: int, vertices: int, influences: int
) -> None:
    hero = bound_character(seed, 12, vertices, influences, "uneven")
    rng = np.random.default_rng(seed + 1)
    skin = hero.deform(hero.pose_from(rotations=random_rotations(rng, 12)))[0]
    assert np.isfinite(skin.positions).all()
    length = np.linalg.norm(skin.normals, axis=1)
    np.testing.assert_allclose(length, 1, atol=1e-5)


@FEW
@given(SEEDS, st.floats(-3, 3), st.floats(-3, 3))
def test_morphs_are_linear(seed: int, a: float, b: float) -> None:
    rng = np.random.default_rng(seed)
    primitive = random_primitive(rng, 9, targets=2)
    hero = Character(one_mesh_scene(random_skeleton(rng, 2), primitive, None))

    def at(*weights: float) -> Any:
        return hero.deform(hero.pose_from(weights=weights))[0].positions.astype(float)

    both = at(a, b) - at(0, 0)
    np.testing.assert_allclose(
        both, a * (at(1, 0) - at(0, 0)) + b * (at(0, 1) - at(0, 0)), atol=2e-5
    )
