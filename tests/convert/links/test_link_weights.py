"""Weights of links: against plain loops, sums, forks, pieces that are left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.convert.links.link_weights import (
    Chain,
    LinkSettings,
    link_chains,
    link_weights,
)
from flexor.convert.shape.body import Body, Pull, body_surface, gather_bodies
from flexor.convert.shape.bones import Bones, derive_bones
from flexor.convert.shape.sections import Sections, derive_sections
from flexor.convert.shape.surface import Surface
from flexor.errors import SettingError
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import skinned_scene, tube, tube_scene
from tests.oracle.links import link_row, wind_row

Shape = tuple[Body, Surface, Bones, Sections]


def shape_of(scene: Scene, rigid: list[bool] | None = None) -> Shape:
    body = gather_bodies(scene, rigid or [])[0]
    surface = body_surface(body, is_by_place=True)
    pull = body.pull.take(surface.vertex_of_point)
    bones = derive_bones(body, surface.positions, pull)
    sections = derive_sections(surface.positions, pull, bones, body.size)
    return body, surface, bones, sections


def linked_rows(shape: Shape, own: dict[int, LinkSettings]) -> Any:
    """Weights (V, S + links)."""
    body, surface, bones, sections = shape
    chains = link_chains(body, bones, sections, own)
    pull = link_weights(body, bones, chains, surface)
    total = len(body.joints) + sum(chain.count + chain.twists for chain in chains)
    return pull.dense(total)


def expected_rows(shape: Shape, own: dict[int, LinkSettings]) -> Any:
    body, surface, bones, sections = shape
    normals = surface.normals[surface.point_of_vertex].astype(np.float64)
    rows = []
    for v in range(len(body)):
        bent = link_row(body, bones, sections, own, normals[v], v)
        rows.append(wind_row(body, bones, sections, own, v, bent))
    return np.array(rows)


def random_scene(rng: np.random.Generator, joints: int, *, flat: bool = False) -> Scene:
    """A tangle of vertices on a random tree; flat: all joints in one place."""
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, joints))]
    # Sixty-fourths: sums along a chain are exact in any order.
    bases = np.round(rng.normal(size=(joints, 3)) * 64) / 64 * (0 if flat else 1)
    if joints > 3:
        bases[3] = bases[parents[3]]
    count = 40
    weights = rng.uniform(0, 1, (count, joints)) ** 2
    weights[rng.uniform(size=weights.shape) < 0.6] = 0
    alone = rng.integers(0, joints, count)
    weights[weights.sum(1) == 0, alone[weights.sum(1) == 0]] = 1
    weights[::5] = np.eye(joints)[alone[::5]]
    weights /= weights.sum(1, keepdims=True)
    faces = np.stack([np.arange(count - 2), np.arange(1, count - 1)], 1)
    faces = np.concatenate([faces, faces[:, :1] + 2], 1)
    return skinned_scene(bases, parents, rng.normal(size=(count, 3)), faces, weights)


@pytest.mark.parametrize("joints", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("flat", [False, True])
def test_weights_are_those_of_the_plain_loops(
    rng: np.random.Generator, joints: int, flat: bool
) -> None:
    shape = shape_of(random_scene(rng, joints, flat=flat))
    own = {
        row: LinkSettings(
            count=int(rng.integers(0, 5)),
            length=float(rng.uniform(0.3, 3)),
            fade=float(rng.uniform(0, 1)),
            twists=int(rng.integers(0, 4)),
        )
        for row in range(joints)
        if row != 2
    }
    got, want = linked_rows(shape, own), expected_rows(shape, own)
    np.testing.assert_allclose(got, want, atol=5e-6)


def test_weights_of_the_mannequin_are_those_of_the_plain_loops() -> None:
    shape = shape_of(flexor.samples.mannequin().scene)
    own = dict.fromkeys(range(len(shape[0].joints)), LinkSettings(twists=4))
    got = linked_rows(shape, own)
    body, surface, bones, sections = shape
    normals = surface.normals[surface.point_of_vertex].astype(np.float64)
    for v in range(0, len(body), 61):
        bent = link_row(body, bones, sections, own, normals[v], v)
        want = wind_row(body, bones, sections, own, v, bent)
        np.testing.assert_allclose(got[v], want, atol=5e-6)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(0, 11),
    st.floats(1e-3, 1e3),
    st.floats(0, 1),
    st.booleans(),
)
@settings(max_examples=60)
def test_sums_are_kept(
    seed: int, joints: int, count: int, length: float, fade: float, flat: bool
) -> None:
    shape = shape_of(random_scene(np.random.default_rng(seed), joints, flat=flat))
    own = LinkSettings(count=count, length=length, fade=fade)
    rows = linked_rows(shape, dict.fromkeys(range(joints), own))
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(4, 9))
@settings(max_examples=30)
def test_the_order_of_joints_does_not_matter(seed: int, joints: int) -> None:
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, joints)
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    order = rng.permutation(joints)
    place = np.argsort(order)
    parents = scene.skeleton.parents[:joints]
    bases = gather_bodies(scene)[0].frames[:, :, 3]
    other = skinned_scene(
        bases[order],
        [int(place[parents[j]]) if parents[j] >= 0 else -1 for j in order],
        primitive.positions.copy(),
        primitive.triangles(),
        primitive.skin.weights[:, order].copy(),
        names=[f"j{j}" for j in order],
    )
    own = LinkSettings(length=2)
    every = dict.fromkeys(range(joints), own)
    one, two = shape_of(scene), shape_of(other)
    # Bones of equal children may differ by order; here no two are equal.
    np.testing.assert_allclose(two[2].lengths, one[2].lengths[order], atol=1e-6)
    a, b = linked_rows(one, every), linked_rows(two, every)
    starts = dict(zip(_linked(one[0]), range(joints, 4 * joints, 3), strict=False))
    others = dict(zip(_linked(two[0]), range(joints, 4 * joints, 3), strict=False))
    for new, old in enumerate(order.tolist()):
        np.testing.assert_allclose(b[:, new], a[:, old], atol=1e-7)
        if old in starts:
            x, y = starts[old], others[new]
            np.testing.assert_allclose(b[:, y : y + 3], a[:, x : x + 3], atol=1e-7)


def _linked(body: Body) -> list[int]:
    return [row for row, parent in enumerate(body.parents) if parent >= 0]


def test_only_the_share_of_its_own_child_is_given_out() -> None:
    """A vertex at the joint of one of two children, tied to all three bones."""
    scene = skinned_scene(
        [(0, 0, 0), (4, 0, 0), (4, 0, 1), (8, 0, 0), (8, 0, 1)],
        [-1, 0, 0, 1, 2],
        [(4, 0, 0), (4, 1, 0), (4, 0, 1), (1, 0, 0)],
        [(0, 1, 2), (0, 1, 3)],
        [[0.5, 0.4, 0.1, 0, 0]] + 3 * [[0.6, 0.2, 0.2, 0, 0]],
    )
    shape = shape_of(scene)
    rows = linked_rows(shape, {1: LinkSettings(count=1, fade=0)})
    # Of the parent's half four fifths face joint 1; all of it is at the joint's middle.
    want = [0.1, 0, 0.1, 0, 0, 0.8]
    np.testing.assert_allclose(rows[0], want, atol=1e-6)


def test_a_grandparents_weight_is_given_out_by_place() -> None:
    """Tied to the first and the third of three bones: the second gets what is its."""
    rings = np.linspace(0, 12, 49)
    positions, normals, faces = tube(rings, (0.5, 0.5))
    weights = np.zeros((len(positions), 4))
    weights[:, [0, 2]] = 0.5
    scene = skinned_scene(
        [(0, 0, 0), (4, 0, 0), (8, 0, 0), (12, 0, 0)],
        [-1, 0, 1, 2],
        positions,
        faces,
        weights,
        normals=normals,
    )
    shape = shape_of(scene)
    own = dict.fromkeys((1, 2), LinkSettings(count=1, fade=0))
    rows = linked_rows(shape, own)
    x = positions[:, 0]
    # Before both joints all is the first bone's and the second's, between them the
    # second's, beyond both half is the second's (it faced that joint) and the third's.
    for at, want in (
        (0, [0.5, 0.5, 0, 0, 0, 0]),
        (6, [0, 1, 0, 0, 0, 0]),
        (12, [0, 0.5, 0.5, 0, 0, 0]),
        (4, [0, 0.5, 0, 0, 0.5, 0]),
        (8, [0, 0.5, 0, 0, 0, 0.5]),
    ):
        here = rows[np.abs(x - at) < 1e-9]
        np.testing.assert_allclose(here, np.tile(want, (len(here), 1)), atol=1e-6)
    by_ring = rows.reshape(len(rings), -1, 6).mean(1)
    assert np.abs(np.diff(by_ring, axis=0)).max() < 0.3


def test_what_hangs_on_one_bone_or_is_rigid_is_left_alone() -> None:
    scene = tube_scene(4.0)
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    # A ring of its own around the joint, wholly on the child.
    positions, normals, faces = tube(np.linspace(-0.2, 0.2, 3), (1.5, 1.5))
    count = len(primitive)
    both = skinned_scene(
        [(-8, 0, 0), (0, 0, 0), (8, 0, 0)],
        [-1, 0, 1],
        np.concatenate([primitive.positions, positions]),
        np.concatenate([primitive.triangles(), faces + count]),
        np.concatenate(
            [primitive.skin.weights[:, :3], np.tile([0, 1, 0], (len(positions), 1))]
        ),
        normals=np.concatenate([primitive.normals, normals]),
    )
    shape = shape_of(both)
    own = {1: LinkSettings()}
    rows = linked_rows(shape, own)
    np.testing.assert_array_equal(rows[count:, 1], 1)
    assert rows[:count, 3:].any()
    rigid = shape_of(both, [True])
    assert not linked_rows(rigid, own)[:, 3:].any()


def test_rows_that_nothing_changes_stay_to_the_bit() -> None:
    body, surface, bones, sections = shape_of(tube_scene(4.0))
    chains = link_chains(body, bones, sections, {1: LinkSettings()})
    pull = link_weights(body, bones, chains, surface)
    far = np.abs(body.positions[:, 0]) > 2.2
    width = body.pull.joints.shape[1]
    np.testing.assert_array_equal(pull.joints[far, :width], body.pull.joints[far])
    np.testing.assert_array_equal(pull.weights[far, :width], body.pull.weights[far])
    assert link_weights(body, bones, [], surface) is body.pull


def test_links_reach_half_of_the_way_to_the_joint_above() -> None:
    """Also at a child that stands further out than the bone above is long."""
    scene = skinned_scene(
        [(0, 0, 0), (2, 0, 0), (10, 0, 0), (4, 0, 0)],
        [-1, 0, 0, 1],
        [(0, 0, 0), (2, 1, 0), (12, 0, 1), (4, 1, 0)],
        [(0, 1, 2), (1, 2, 3)],
        np.eye(4),
    )
    body, _, bones, sections = shape_of(scene)
    assert bones.tips[0] == 1
    own = dict.fromkeys((1, 2), LinkSettings(length=100))
    near, far = link_chains(body, bones, sections, own)
    assert near.up == pytest.approx(1)
    assert far.up == pytest.approx(5)


def test_sums_that_are_a_little_off_do_not_matter() -> None:
    body, surface, bones, sections = shape_of(tube_scene(4.0))
    chains = link_chains(body, bones, sections, {1: LinkSettings(fade=0)})
    want = link_weights(body, bones, chains, surface)
    off = Pull(body.pull.joints, body.pull.weights * np.float32(1.0009))
    got = link_weights(replace(body, pull=off), bones, chains, surface)
    rows = want.dense(6)[:, 3:].any(1)
    np.testing.assert_allclose(got.dense(6)[rows], want.dense(6)[rows], atol=1e-6)


def given_out(share: float, radii: float) -> float:
    """Of a vertex at the joint that hangs on the child by `share` and stands so many
    radii to the side, the part that goes to the only link.
    """
    places = [(0, radii, 0), (0, 0, 0.1), (0, 0.1, 0)]
    scene = skinned_scene(
        [(-4, 0, 0), (0, 0, 0)],
        [-1, 0],
        places,
        [(0, 1, 2)],
        [(1 - share, share), (0.5, 0.5), (0.5, 0.5)],
    )
    body, surface, bones, _ = shape_of(scene)
    way = np.array([1.0, 0, 0])
    chain = Chain(1, 0, 2, 1, 0, np.zeros(3), way, 1.0, 1.0, 1.0, way, (0.0, 1.0), 0.0)
    return float(link_weights(body, bones, [chain], surface).dense(3)[0, 2])


@pytest.mark.parametrize(
    ("none", "little", "most", "whole"),
    [
        ((0.6, 9), (0.64, 9), (0.81, 9), (0.85, 9)),  # mostly on the child
        ((0.1, 9), (0.08, 9), (0.02, 9), (0.0, 9)),  # mostly on the parent
        ((1.0, 1.4), (1.0, 1.53), (1.0, 2.07), (1.0, 2.2)),  # far to the side
    ],
)
def test_what_stands_to_the_side_and_hangs_on_one_bone_stays(
    none: Any, little: Any, most: Any, whole: Any
) -> None:
    assert given_out(*none) == pytest.approx(1, abs=1e-5)
    assert given_out(*little) == pytest.approx(0.9, abs=0.05)
    assert given_out(*most) == pytest.approx(0.1, abs=0.05)
    assert given_out(*whole) == pytest.approx(0, abs=1e-5)


def test_vertices_that_hang_on_nothing_stay_so() -> None:
    body, surface, bones, sections = shape_of(tube_scene(4.0))
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    joints[:5], weights[:5] = -1, 0
    body = replace(body, pull=type(body.pull)(joints, weights))
    chains = link_chains(body, bones, sections, {1: LinkSettings()})
    pull = link_weights(body, bones, chains, surface)
    assert not pull.weights[:5].any()
    np.testing.assert_allclose(pull.weights[5:].sum(1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "bad",
    [
        {"count": -1},
        {"count": 65},
        {"count": 2.5},
        {"count": True},
        {"length": 0},
        {"length": float("nan")},
        {"fade": -0.1},
        {"fade": 1.1},
        {"fade": float("nan")},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=f"link {next(iter(bad))}"):
        LinkSettings(**bad)
