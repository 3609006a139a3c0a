"""How much joints collapse: by hand on tubes, by plain loops on the mannequin."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Body, body_surface, gather_bodies
from flexor.convert.shape.bones import derive_bones
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.joint_regions import joint_regions, region_volume
from flexor.convert.shape.measure_joints import JointMeasure, measure_joints
from flexor.convert.shape.sections import derive_sections
from flexor.maths import transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.skeleton import Link, Skeleton, rest_world
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import turn
from tests.oracle import measure_joints as oracle
from tests.scenes import bound_skin, one_mesh_scene, random_rotations

AROUND, ALONG = 32, 41


def tube_places() -> tuple[Any, Any]:
    """Vertices (V, 3) of a tube of radius 1 along X, from -4 to 4, and faces."""
    x = np.linspace(-4, 4, ALONG)
    angles = np.arange(AROUND) * 2 * np.pi / AROUND
    ring = np.stack([np.zeros(AROUND), np.cos(angles), np.sin(angles)], 1)
    places = (ring[None] + x[:, None, None] * [1, 0, 0]).reshape(-1, 3)
    at = np.arange(ALONG * AROUND).reshape(ALONG, AROUND)
    a, b = at[:-1], np.roll(at, -1, 1)[:-1]
    c, d = np.roll(at, -1, 1)[1:], at[1:]
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    return places, faces.reshape(-1, 3)


def tube(links: int = 0, *, smooth: float = 2.0, **more: Any) -> Scene:
    """A tube on two bones that meet at 0; weights go over linearly within `smooth`.

    links: so many nodes between both, with weights by the place along the chain.
    """
    places, faces = tube_places()
    share = np.clip(places[:, 0] / smooth / 2 + 0.5, 0, 1)
    names = ("root", "bend", "end", *(f"link{i}" for i in range(links)), "mesh")
    count = len(names)
    parents = np.array([-1, 0, 1, *[0] * links, -1])
    translations = np.zeros((count, 3))
    translations[:3] = [[-4, 0, 0], [4, 0, 0], [4, 0, 0]]
    translations[3:-1] = [4, 0, 0]
    turns = np.tile([0.0, 0, 0, 1], (count, 1))
    follow = {3 + i: Link(1, (i + 1) / (links + 1)) for i in range(links)}
    skeleton = Skeleton(
        names, parents, translations, turns, np.ones((count, 3)), links=follow
    )
    # The chain: root, links, bend; each vertex between its two nearest.
    chain = np.array([0, *range(3, 3 + links), 1])
    at = share * (links + 1)
    low = np.minimum(at.astype(int), links)
    joints = np.stack([chain[low], chain[low + 1]], 1)
    weights = np.stack([1 - (at - low), at - low], 1)
    joints = np.where(weights > 0, joints, 0).astype(np.uint16)
    primitive = Primitive(
        places, indices=faces.ravel(), skin=SkinWeights(joints, weights), **more
    )
    return one_mesh_scene(
        skeleton, primitive, bound_skin(skeleton, np.arange(count - 1))
    )


def measure_all(scene: Scene) -> list[JointMeasure]:
    """The measures of the only body of a scene."""
    facts = SceneFacts(scene)
    (own,) = facts.bodies
    return measure_joints(facts, own)


def measure(scene: Scene) -> JointMeasure:
    (found,) = (m for m in measure_all(scene) if m.name == "bend")
    return found


def test_half_half_lands_on_the_axis_when_twisted_by_a_half_turn() -> None:
    found = measure(tube())
    assert found.radius180 is not None
    assert found.radius180 < 1e-6


def test_a_twist_by_hand() -> None:
    """A blend of weight w is sqrt(w^2 + (1 - w)^2 + 2 w (1 - w) cos t) from the axis.

    Area goes with the square of that; the region is where |x| <= 2, the linear part.
    """
    found = measure(tube(smooth=2.0))
    (body,) = gather_bodies(tube(smooth=2.0))
    assert body.pull.weights.max() == 1
    scene = tube()
    surface, region = region_of(scene, body)
    x = surface.positions[region.points][:, 0].astype(float)
    rings = np.unique(np.round(x, 6))
    for angle, ratio in ((90, found.twist90), (180, found.twist180)):
        w = np.clip(rings / 4 + 0.5, 0, 1)
        cos = math.cos(math.radians(angle))
        areas = w**2 + (1 - w) ** 2 + 2 * w * (1 - w) * cos
        # Rings of equal steps: between two, sides are ruled, areas go quadratically.
        radii = np.sqrt(np.maximum(areas, 0))
        whole = (radii[:-1] ** 2 + radii[1:] ** 2 + radii[:-1] * radii[1:]).sum() / 3
        assert ratio == pytest.approx(whole / (len(rings) - 1), abs=0.01)


def region_of(scene: Scene, body: Body, row: int = 1) -> tuple[Any, Any]:
    surface = body_surface(body, is_by_place=True)
    points = body_surface(body)
    pull = body.pull.take(points.vertex_of_point)
    bones = derive_bones(body, points.positions, pull)
    sections = derive_sections(points.positions, pull, bones, body.size)
    regions = joint_regions(body, surface, bones, sections, scene.skeleton.links)
    return surface, regions[row]


def test_links_keep_a_tube_open() -> None:
    found = measure(tube(links=3))
    assert found.radius180 is not None
    # Half-way between two links the radius is cos(22.5 degrees); rings are near there.
    assert found.radius180 == pytest.approx(math.cos(math.radians(22.5)), abs=5e-3)
    plain = measure(tube())
    assert found.twist180 is not None
    assert plain.twist180 is not None
    assert found.twist180 > plain.twist180 + 0.3


def test_a_tube_bends_alike_every_way() -> None:
    """Of a round tube all bends are one: so the worst is any."""
    scene = tube()
    (body,) = gather_bodies(scene)
    surface, region = region_of(scene, body)
    rest = oracle.volume(region, surface, body.positions)
    found = measure(scene)
    for axis in ([0, 0, 1], [0, 1, 0], [0, 0, -1], [0, -1, 0]):
        for angle, ratio in ((90, found.bend90), (150, found.bend150)):
            posed = oracle.posed(scene, body, 1, np.array(axis), math.radians(angle))
            after = oracle.volume(region, surface, posed)
            assert ratio == pytest.approx(after / rest, abs=1e-5)


def test_the_volume_of_a_tube() -> None:
    scene = tube()
    (body,) = gather_bodies(scene)
    surface, region = region_of(scene, body)
    places = surface.positions[region.points].astype(float)
    length = float(np.ptp(places[:, 0]))
    section = AROUND / 2 * math.sin(2 * math.pi / AROUND)
    assert region_volume(region, places[None])[0] == pytest.approx(length * section)
    assert region.rim_of.max() == 1  # two rims
    moved = places + np.array([300, -200, 700])
    assert region_volume(region, moved[None])[0] == pytest.approx(length * section)


@pytest.mark.parametrize(
    "names", [("l-knee", "r-elbow", "head"), ("l-index1", "chest")]
)
def test_the_mannequin_against_plain_loops(names: tuple[str, ...]) -> None:
    scene = flexor.samples.mannequin().scene
    (body,) = gather_bodies(scene)
    points = body_surface(body)
    pull = body.pull.take(points.vertex_of_point)
    bones = derive_bones(body, points.positions, pull)
    found = {m.name: m for m in measure_all(scene)}
    for name in names:
        row = body.names.index(name)
        surface, region = region_of(scene, body, row)
        rest = oracle.volume(region, surface, body.positions)
        frame = bones.frames[row]
        near = surface.vertex_of_point[region.points]
        bends = {90: 9.0, 150: 9.0}
        for angle in bends:
            for axis in (frame[:, 2], -frame[:, 2], frame[:, 1], -frame[:, 1]):
                turned = math.radians(angle)
                posed = oracle.posed(scene, body, row, axis, turned, near)
                after = oracle.volume(region, surface, posed)
                bends[angle] = min(bends[angle], after / rest)
        assert found[name].bend90 == pytest.approx(bends[90], abs=2e-4)
        assert found[name].bend150 == pytest.approx(bends[150], abs=2e-4)
        posed = oracle.posed(scene, body, row, frame[:, 0], math.pi, near)
        twist = oracle.volume(region, surface, posed) / rest
        assert found[name].twist180 == pytest.approx(twist, abs=2e-4)


def test_every_joint_of_the_mannequin_is_measured_left_as_right() -> None:
    scene = flexor.samples.mannequin().scene
    (body,) = gather_bodies(scene)
    found = {m.name: m for m in measure_all(scene)}
    assert set(found) == set(body.names) - {"hips"}
    for name, measured in found.items():
        assert measured.is_measured
        assert measured.bend150 is not None
        assert measured.bend150 < 1.05
        other = (
            found[name.replace("l-", "r-", 1)] if name.startswith("l-") else measured
        )
        assert other.twist180 == pytest.approx(measured.twist180, abs=0.1)
        assert other.bend90 == pytest.approx(measured.bend90, abs=0.1)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_size_and_place_do_not_matter(factor: float) -> None:
    """All of it scaled, turned and moved by a node above that is no joint."""
    rng = np.random.default_rng(3)
    scene = tube()
    bones, mesh = scene.skeleton, scene.meshes[0].primitives[0]
    count = len(bones)
    skeleton = Skeleton(
        (*bones.names, "above"),
        np.append(np.where(bones.parents < 0, count, bones.parents), -1),
        np.concatenate([bones.translations * factor, rng.normal(size=(1, 3))]),
        np.concatenate([bones.rotations, random_rotations(rng, 1)]),
        np.concatenate([bones.scales, np.full((1, 3), 2.5)]),
    )
    binds = scene.skins[0].inverse_binds.copy()
    binds[:, :, 3] *= factor
    primitive = replace(mesh, positions=mesh.positions * np.float32(factor))
    other = one_mesh_scene(
        skeleton, primitive, replace(scene.skins[0], inverse_binds=binds)
    )
    one, two = measure(scene), measure(other)
    for name in ("bend90", "bend150", "twist90", "twist180"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-3)


def test_joints_with_scales_and_binds_of_their_own() -> None:
    """The joint's own frame may be turned and scaled: the bend is that of the bone."""
    rng = np.random.default_rng(5)
    scene = tube()
    old = scene.skeleton
    turns = random_rotations(rng, len(old))
    scales = np.tile(rng.uniform(0.5, 2, (len(old), 1)), (1, 3))
    world = transforms.compose(oracle_places(old), turns, scales)
    local = world.copy()
    for node, parent in enumerate(old.parents):
        if parent >= 0:
            local[node] = transforms.multiply(
                transforms.invert(world[parent]), world[node]
            )
    parts = transforms.decompose(local)
    skeleton = Skeleton(old.names, old.parents.copy(), *parts[:3])
    skin = bound_skin(skeleton, scene.skins[0].joints.copy())
    other = one_mesh_scene(skeleton, scene.meshes[0].primitives[0], skin)
    one, two = measure(scene), measure(other)
    for name in ("bend90", "bend150", "twist90", "twist180"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-3)


def test_a_joint_that_is_scaled_along_one_axis() -> None:
    """Its own axes lie across those of the bone; binds take the scale away again."""
    scene = tube()
    old = scene.skeleton
    turns, scales = old.rotations.copy(), old.scales.copy()
    turns[1] = turn([1, 2, 3], 50)
    scales[1] = [1, 2, 1]
    skeleton = Skeleton(old.names, old.parents, old.translations, turns, scales)
    ends = old.translations.copy()
    ends[2] = np.linalg.solve(rest_world(skeleton)[1, :, :3], [4.0, 0, 0])
    skeleton = replace(skeleton, translations=ends)
    skin = bound_skin(skeleton, scene.skins[0].joints.copy())
    other = one_mesh_scene(skeleton, scene.meshes[0].primitives[0], skin)
    one, two = measure(scene), measure(other)
    for name in ("bend90", "bend150", "twist90", "twist180"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-3)


@pytest.mark.parametrize(
    ("radius", "counts"), [(0.0, False), (0.25, False), (0.4, True)]
)
def test_what_is_near_the_axis_says_nothing_about_radii(
    radius: float, counts: bool
) -> None:
    """One vertex more, which a half turn puts on the axis."""
    scene = tube(links=3)
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    assert mesh.skin is not None
    middle = ALONG // 2 * AROUND
    faces = [*mesh.indices.tolist(), middle, middle + 1, len(mesh)]
    primitive = Primitive(
        np.concatenate([mesh.positions, [[0, radius, 0]]]),
        indices=np.array(faces, np.uint32),
        skin=SkinWeights(
            np.concatenate([mesh.skin.joints, [[0, 1]]]),
            np.concatenate([mesh.skin.weights, [[0.5, 0.5]]]),
        ),
    )
    found = measure(one_mesh_scene(scene.skeleton, primitive, scene.skins[0]))
    want = 0 if counts else measure(scene).radius180
    assert found.radius180 == pytest.approx(want, abs=1e-5)


def on_links_alone(scene: Scene) -> Scene:
    """What the joint pulls of a tube with links hangs on its last link instead."""
    mesh = scene.meshes[0].primitives[0]
    assert mesh.skin is not None
    last = max(scene.skeleton.links)
    joints = np.where(mesh.skin.joints == 1, last, mesh.skin.joints)
    skin = SkinWeights(joints.astype(np.uint16), mesh.skin.weights)
    return one_mesh_scene(scene.skeleton, replace(mesh, skin=skin), scene.skins[0])


def test_a_joint_that_moves_the_skin_through_links_alone() -> None:
    scene = on_links_alone(tube(links=3))
    (body,) = gather_bodies(scene)
    assert not (body.pull.joints == 1).any()
    (found,) = measure_all(scene)
    assert found.name == "bend"
    assert found.is_measured
    # Neighbours in the chain are 45 degrees apart, as with weights on the joint.
    assert found.radius180 == pytest.approx(math.cos(math.radians(22.5)), abs=5e-3)


def test_skin_on_links_of_the_joint_above_is_part_of_a_region() -> None:
    """Before the last joint all hangs on a link of the one above it."""
    places, faces = tube_places()
    skeleton = Skeleton(
        ("root", "bend", "end", "link", "mesh"),
        [-1, 0, 1, 0, -1],
        [(-4, 0, 0), (2, 0, 0), (2, 0, 0), (2, 0, 0), (0, 0, 0)],
        np.tile([0.0, 0, 0, 1], (5, 1)),
        np.ones((5, 3)),
        links={3: Link(1, 0.5)},
    )
    joints = np.where(places[:, :1] < 0, 3, 2).astype(np.uint16)
    primitive = Primitive(
        places,
        indices=faces.ravel(),
        skin=SkinWeights(joints, np.ones((len(places), 1))),
    )
    scene = one_mesh_scene(skeleton, primitive, bound_skin(skeleton, np.arange(4)))
    (body,) = gather_bodies(scene)
    surface, region = region_of(scene, body, 2)
    x = surface.positions[region.points][:, 0]
    assert x.min() < -1
    assert x.max() > 1


def test_a_limb_beside_the_joint_is_no_part_of_its_region() -> None:
    """Another tube that hangs on a joint below, joined by one face."""
    scene = tube()
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    assert mesh.skin is not None
    count, middle = len(mesh), ALONG // 2 * AROUND
    bridge = [middle, middle + 1, count + middle + AROUND // 2]
    below = np.zeros((count, 2), np.uint16)
    below[:, 0] = 2
    primitive = Primitive(
        np.concatenate([mesh.positions, mesh.positions + np.array([0, 4, 0], "f4")]),
        indices=np.concatenate([mesh.indices, mesh.indices + count, bridge]),
        skin=SkinWeights(
            np.concatenate([mesh.skin.joints, below]),
            np.concatenate([mesh.skin.weights, np.tile([1.0, 0], (count, 1))]),
        ),
    )
    both = one_mesh_scene(scene.skeleton, primitive, scene.skins[0])
    (body,) = gather_bodies(both)
    surface, region = region_of(both, body)
    assert surface.positions[region.points][:, 1].max() < 1.001
    assert measure(both).bend90 == pytest.approx(measure(scene).bend90, abs=1e-3)


def test_a_small_solid_far_away_keeps_its_volume() -> None:
    scene = tube()
    (body,) = gather_bodies(scene)
    surface, region = region_of(scene, body)
    places = surface.positions[region.points].astype(float)[None]
    want = region_volume(region, places)[0] * 1e-6
    far = places * 0.01 + np.array([1000, -1000, 1000])
    assert region_volume(region, far)[0] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("faces", "is_measured"), [(8, True), (7, False)])
def test_the_least_number_of_faces(faces: int, is_measured: bool) -> None:
    """Four sides of a box are a tube; with one triangle less they are not."""
    scene = tube()
    ring = np.array([[0, 1, 1], [0, -1, 1], [0, -1, -1], [0, 1, -1]])
    places = np.concatenate([ring - np.array([1, 0, 0]), ring + np.array([1, 0, 0])])
    a = np.arange(4)
    b = (a + 1) % 4
    sides = np.concatenate([np.stack([a, b, b + 4], 1), np.stack([a, b + 4, a + 4], 1)])
    primitive = Primitive(
        places,
        indices=sides[:faces].ravel().astype(np.uint32),
        skin=SkinWeights(
            np.tile(np.array([0, 1], np.uint16), (8, 1)), np.full((8, 2), 0.5)
        ),
    )
    box = one_mesh_scene(scene.skeleton, primitive, scene.skins[0])
    assert measure(box).is_measured == is_measured


def oracle_places(skeleton: Skeleton) -> Any:
    places = np.zeros((len(skeleton), 3))
    for node in skeleton.order:
        parent = skeleton.parents[node]
        above = places[parent] if parent >= 0 else 0
        places[node] = above + skeleton.translations[node]
    return places


def test_a_surface_turned_inside_out_measures_the_same() -> None:
    scene = tube()
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    turned = replace(mesh, indices=mesh.indices.reshape(-1, 3)[:, ::-1].ravel())
    skin = scene.skins[0]
    other = one_mesh_scene(scene.skeleton, turned, skin)
    assert measure(other).bend150 == pytest.approx(measure(scene).bend150, abs=1e-6)


def test_seams_do_not_matter() -> None:
    """Each triangle with vertices of its own is the same solid."""
    scene = tube()
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    assert mesh.skin is not None
    rows = mesh.indices
    skin = SkinWeights(mesh.skin.joints[rows], mesh.skin.weights[rows])
    loose = Primitive(mesh.positions[rows], skin=skin)
    other = one_mesh_scene(scene.skeleton, loose, scene.skins[0])
    one, two = measure(scene), measure(other)
    assert two.bend90 == pytest.approx(one.bend90, abs=0.02)
    assert two.radius180 == pytest.approx(0, abs=1e-6)


def sheet(scene: Scene) -> Scene:
    """A flat cloth instead of the tube."""
    mesh = scene.meshes[0].primitives[0]
    flat = mesh.positions * np.array([1, 1, 0], np.float32)
    return one_mesh_scene(scene.skeleton, replace(mesh, positions=flat), scene.skins[0])


def test_what_is_no_solid_is_not_measured() -> None:
    found = measure(sheet(tube()))
    assert not found.is_measured
    assert found == JointMeasure(1, 1, "bend")
    scene = tube()
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    few = replace(mesh, indices=mesh.indices[3 * 600 : 3 * 605].copy())
    few_scene = one_mesh_scene(scene.skeleton, few, scene.skins[0])
    assert not measure(few_scene).is_measured
    none = replace(mesh, indices=mesh.indices[:0].copy())
    none_scene = one_mesh_scene(scene.skeleton, none, scene.skins[0])
    assert not measure(none_scene).is_measured


def test_joints_that_move_nothing_are_left_out() -> None:
    scene = tube()
    assert [m.name for m in measure_all(scene)] == ["bend"]
    linked = tube(links=2)
    assert [m.name for m in measure_all(linked)] == ["bend"]


def test_binds_without_an_inverse_are_measured_or_not_but_no_error() -> None:
    scene = tube()
    binds = scene.skins[0].inverse_binds.copy()
    binds[1] = 0
    skin = replace(scene.skins[0], inverse_binds=binds)
    other = one_mesh_scene(scene.skeleton, scene.meshes[0].primitives[0], skin)
    found = measure(other)
    assert found.bend90 is None or np.isfinite(found.bend90)
