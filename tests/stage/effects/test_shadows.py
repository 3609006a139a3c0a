"""Shadows on uneven ground, against light that is cast at every triangle."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.errors import SettingError, ShapeError
from flexor.maths import threads
from flexor.scene.stage.ground import Ground, flat_ground, make_ground
from flexor.stage.effects import shadows
from flexor.stage.effects.kernels import shadows as kernel_shadows
from tests.oracle import shadows as slow

Rng = np.random.Generator
Rows = Any
SLOPE = math.tan(math.radians(15))
FACES = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4]], np.int32)


@cache
def hero() -> flexor.Character:
    return flexor.samples.mannequin()


@cache
def parts_of_hero(longest: float | None = shadows.LONGEST) -> shadows.ShadowParts:
    return shadows.scene_parts(hero().scene, longest)


def light_from(elevation: float, azimuth: float) -> Rows:
    """Light that comes from so many degrees above the horizon, and goes along +x."""
    up, around = math.radians(elevation), math.radians(azimuth)
    flat = math.cos(up)
    return np.array([flat * math.cos(around), -math.sin(up), flat * math.sin(around)])


def rough(rng: Rng, step: float = 0.25, rise: float = 0.08) -> Ground:
    return make_ground(rng.normal(size=(40, 44)) * rise, (-5, -5.5), step)


def terrain(kind: str, step: float = 0.05) -> Ground:
    """Slopes of 15 degrees and steps of 0.1 to 0.3 m, 6 m each way."""
    marks = np.arange(round(6 / step) + 1) * step - 3
    x, z = np.meshgrid(marks, marks)
    edges = ((0.35, 0.1), (0.75, 0.2), (1.15, 0.3))
    steps = sum(rise * (x > edge + 1e-6) for edge, rise in edges)
    heights = {
        "slope": SLOPE * x,
        "slope down": -SLOPE * x,
        "slope across": SLOPE * z,
        "up": steps,
        "down": -steps,
        "both": 0.3 * ((x > 0.4) & (x < 0.9))
        + 0.2 * (x + z > 1.5)
        - SLOPE * np.minimum(x, 0),
    }[kind]
    return make_ground(np.asarray(heights), (-3, -3), step)


@pytest.mark.parametrize(
    "light",
    [(0.3, -1, 0.2), (-0.9, -1, 0.4), (0.5, -2, -1), (0.0, -1, 0.6), (0, -1, 0)],
)
def test_matrices_are_those_of_the_six_steps(rng: Rng, light: Any) -> None:
    ground = rough(rng)
    middles = rng.uniform(-2, 2, (5, 7, 3))
    middles[..., 1] = rng.uniform(0.5, 2, (5, 7))
    matrices, is_cast = shadows.shadow_matrices(light, middles, ground)
    assert is_cast.all()
    places, normals = slow.meet(middles.reshape(-1, 3), light, ground)
    for row, (place, normal) in enumerate(zip(places, normals, strict=True)):
        have = matrices.reshape(-1, 3, 4)[row]
        for standing in (0.0, -0.3, 2.0):  # where the character stands cancels out
            wanted = slow.part_matrix(np.array(light), standing, place, normal)
            np.testing.assert_allclose(have, wanted, atol=1e-9)
        middle = np.append(middles.reshape(-1, 3)[row], 1)
        np.testing.assert_allclose(have @ middle, place, atol=1e-9)


def test_light_is_followed_to_what_it_meets_first(rng: Rng) -> None:
    """Over narrow, high steps, seen from all sides, as the slow way finds it."""
    heights = rng.choice([0.0, 0.3, 0.8], size=(60, 60))
    ground = make_ground(heights, (-1.5, -1.5), 0.05)
    middles = rng.uniform(-0.6, 0.6, (1, 400, 3))
    middles[..., 1] = rng.uniform(0.81, 1.5, (1, 400))
    for azimuth in np.arange(0, 360, 30):
        light = light_from(62, azimuth + 0.1)
        places, normals = slow.meet(middles[0], light, ground)
        matrices, _ = shadows.shadow_matrices(light, middles, ground)
        flat = np.einsum("kij,kj->ki", matrices[0][..., :3], middles[0])
        flat += matrices[0][..., 3]
        np.testing.assert_allclose(flat, places, atol=1e-7)
        # All of a part is on the plane that its middle's shadow is on, or on a level.
        other = middles[0] + rng.normal(size=(400, 3)) * 0.1
        there = np.einsum("kij,kj->ki", matrices[0][..., :3], other)
        there += matrices[0][..., 3] - places
        beside = np.abs((there * normals).sum(1))
        assert (np.minimum(beside, np.abs(there[:, 1])) < 1e-7).all()
        assert (beside < 1e-7).mean() > 0.5


@pytest.mark.parametrize("light", [(1, 0, 0), (0, 1, 0), (0.3, 0.01, 1), (1, -0.01, 0)])
def test_flat_light_makes_no_shadow(light: Any) -> None:
    matrices, is_cast = shadows.shadow_matrices(
        light, np.ones((2, 3, 3)), flat_ground()
    )
    assert not is_cast.any()
    assert not matrices.any()
    state = shadows.init_shadows(parts_of_hero(None), 1)
    body = hero().deform(hero().pose())[0].positions[None]
    shadows.cast_shadows(state, (0.3, -1, 0), body, flat_ground())
    assert state.is_cast.all()
    assert state.positions.any()
    shadows.cast_shadows(state, light, body, flat_ground())
    assert not state.is_cast.any()
    assert not state.positions.any()


def test_no_one_is_no_work() -> None:
    state = shadows.init_shadows(parts_of_hero(None), 0)
    empty = np.zeros((0, state.parts.vertex_count, 3), np.float32)
    shadows.cast_shadows(state, (0, -1, 0), empty, flat_ground())
    matrices, is_cast = shadows.shadow_matrices(
        (0, -1, 0), np.zeros((0, 4, 3)), flat_ground()
    )
    assert matrices.shape == (0, 4, 3, 4)
    assert is_cast.shape == (0,)


def test_shadows_are_lifted_along_the_normal() -> None:
    light, middles = light_from(55, 20), np.array([[[0.2, 1.1, 0.1]]])
    ground = terrain("slope")
    plain, _ = shadows.shadow_matrices(light, middles, ground)
    lifted, _ = shadows.shadow_matrices(light, middles, ground, lift=0.01)
    way = (lifted - plain)[0, 0, :, 3]
    normal = np.array([-SLOPE, 1, 0]) / math.hypot(SLOPE, 1)
    assert way @ normal == pytest.approx(0.01)
    np.testing.assert_allclose(np.cross(way, light), 0, atol=1e-12)


def test_beyond_the_edges_the_ground_goes_on(rng: Rng) -> None:
    ground = make_ground(np.array([[0.5, 1.0], [0.5, 1.0]]), (0, 0), 1.0)
    middles = np.array([[[-3.0, 2.0, 0.5], [4.0, 2.0, -7.0], [0.5, 2.0, 30.0]]])
    matrices, is_cast = shadows.shadow_matrices((0, -1, 0), middles, ground)
    assert is_cast.all()
    flat = (matrices[0] @ np.append(middles[0], np.ones((3, 1)), 1)[..., None])[..., 0]
    np.testing.assert_allclose(flat[:, 1], [0.5, 1.0, 0.75])
    np.testing.assert_allclose(matrices[0, :2, 1, :3], 0, atol=1e-12)  # level there


def test_a_part_below_the_ground_has_the_plane_over_it() -> None:
    ground = terrain("slope")
    middles = np.array([[[0.5, 0.5 * SLOPE - 0.2, 0.03]]])
    matrices, is_cast = shadows.shadow_matrices(light_from(60, 0), middles, ground)
    assert is_cast.all()
    flat = matrices[0, 0] @ np.append(middles[0, 0], 1)
    assert flat[1] == pytest.approx(SLOPE * flat[0])


def test_walls_along_the_light_draw_nothing_out() -> None:
    """Light that grazes a steep step would draw a part out along it, to the sky."""
    marks = np.arange(61) * 0.05 - 1.5
    ground = make_ground(np.tile(0.3 * (marks < 0.01), (61, 1)).T, (-1.5, -1.5), 0.05)
    light = np.array([0.75, -1, 0.15])
    z = np.linspace(-0.3, 0.1, 200)
    middles = np.stack([np.full(200, -0.5), np.full(200, 0.7), z], 1)[None]
    matrices, _ = shadows.shadow_matrices(light, middles, ground)
    assert np.abs(matrices[..., :3]).max() < 3.1


def test_what_is_not_finite_or_too_far_has_no_shadow() -> None:
    middles = np.ones((4, 2, 3))
    middles[1, 1, 0], middles[2, 0, 1] = np.nan, np.inf
    middles[3, 0, 1] = 1e8
    ground = make_ground(np.zeros((3, 3)), (0, 0), 0.01)
    matrices, is_cast = shadows.shadow_matrices((0.5, -1, 0.1), middles, ground)
    assert is_cast.tolist() == [True, False, False, False]
    assert not matrices[1:].any()
    assert np.isfinite(matrices).all()


def test_middles_and_vertices_are_as_in_plain_numbers(rng: Rng) -> None:
    """The kernels find_middles and flatten."""
    parts = parts_of_hero(0.2)
    body = rng.normal(size=(3, parts.vertex_count, 3)).astype(np.float32)
    middles = shadows.find_middles(parts, body)
    rows = parts.parts
    for k in (0, 7, len(parts) - 1):
        wanted = body[:, parts.sources[rows == k]].astype(np.float64).mean(1)
        np.testing.assert_allclose(middles[:, k], wanted, atol=1e-9)
    matrices = rng.normal(size=(3, len(parts), 3, 4))
    flat = shadows.apply_shadow(matrices, parts.sources, rows, body)
    own = matrices[:, rows]
    points = body[:, parts.sources].astype(np.float64)
    wanted = np.einsum("npij,npj->npi", own[..., :3], points) + own[..., 3]
    np.testing.assert_allclose(flat, wanted, rtol=1e-5, atol=1e-5)


def test_results_go_into_the_callers_arrays(rng: Rng) -> None:
    parts, ground = parts_of_hero(None), rough(rng)
    state = shadows.init_shadows(parts, 2)
    one = hero().deform(hero().pose("walk", 0.3))[0].positions
    body = np.stack([one, one + np.float32(0.4)])
    light = (0.4, -1.0, 0.2)
    shadows.cast_shadows(state, light, body, ground, lift=0.01)
    middles = shadows.find_middles(parts, body)
    matrices, cast = shadows.shadow_matrices(light, middles, ground, lift=0.01)
    assert (state.middles == middles).all()
    assert (state.matrices == matrices).all()
    assert (state.is_cast == cast).all()
    flat = shadows.apply_shadow(matrices, parts.sources, parts.parts, body)
    assert (state.positions == flat).all()
    out, room = np.empty((2, len(parts), 3, 4)), np.empty(2, bool)
    got = shadows.shadow_matrices(light, middles, ground, out=out, cast=room)
    assert got[0] is out
    assert got[1] is room


@pytest.mark.slow
def test_threads_make_no_difference(monkeypatch: pytest.MonkeyPatch, rng: Rng) -> None:
    parts, ground = parts_of_hero(), rough(rng)
    one = hero().deform(hero().pose("run", 0.2))[0].positions
    body = one + rng.uniform(-1, 1, (9, 1, 3)).astype(np.float32)
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        state = shadows.init_shadows(parts, 9)
        shadows.cast_shadows(state, (0.3, -1, 0.1), body, ground)
        found.append(state.positions.tobytes())
    assert found[0] == found[1]


def test_parts_are_whole_faces_of_one_part() -> None:
    heaviest = np.array([0, 0, 1, 1, 2], np.int32)
    parts = shadows.make_parts(FACES, heaviest, np.array([0, 1, 1]), ["a", "b"])
    assert parts.names == ("a", "b")
    assert parts.sources.tolist() == [0, 1, 2, 1, 2, 3, 4]
    assert parts.starts.tolist() == [0, 3, 7]
    assert parts.parts.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert parts.sources[parts.faces].tolist() == FACES.tolist()
    assert len(parts) == 2
    # Parts without faces are left out; without names parts are called by number.
    few = shadows.make_parts(FACES[:1], heaviest, np.array([4, 1, 1]))
    assert few.names == ("4",)


def test_a_mannequin_has_sixteen_parts() -> None:
    parts = parts_of_hero(None)
    assert set(parts.names) == set(shadows.BODY)
    assert len(parts) == 16
    scene = hero().scene
    of_node, names = shadows.body_parts(scene)
    for node, part in (
        ("l-index1", "leftHand"),
        ("r-toe", "rightFoot"),
        ("l-knee-roll", "leftLowerLeg"),
        ("spine0", "abdomen"),
        ("chest", "chest"),
        ("l-shoulder", "chest"),
        ("neck", "head"),
    ):
        assert names[of_node[scene.skeleton.index(node)]] == part
    # Every face is there once, whatever it is cut into.
    faces = np.sort(scene.meshes[0].primitives[0].triangles(), 1)
    for longest in (None, 0.1):
        own = parts_of_hero(longest)
        there = np.sort(own.sources[own.faces], 1)
        assert sorted(there.tolist()) == sorted(faces.tolist())


def test_pieces_are_no_longer_than_asked() -> None:
    parts = parts_of_hero(0.1)
    rest = hero().deform(hero().pose())[0].positions
    middles = rest[parts.sources[parts.faces]].mean(1)
    of_face = parts.parts[parts.faces[:, 0]]
    for k in range(len(parts)):
        assert np.ptp(middles[of_face == k], axis=0).max() < 0.115  # joints blend
    assert 150 < len(parts) < 400


def test_joints_of_other_bodies_are_parts_of_their_own() -> None:
    scene = hero().scene
    names = tuple(f"thing{row}" for row in range(len(scene.skeleton)))
    strange = replace(scene, skeleton=replace(scene.skeleton, names=names))
    of_node, called = shadows.body_parts(strange)
    assert of_node.tolist() == list(range(len(names)))
    assert called == names
    assert len(shadows.scene_parts(strange, None)) > 40


POSES = [
    ("walk", 0.3, 50, 0, 1.57),
    ("kick", 0.5, 60, 20, 0.3),
    ("run", 0.2, 55, 10, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("pose", POSES, ids=[pose[0] for pose in POSES])
@pytest.mark.parametrize(
    "kind", ["slope", "slope down", "slope across", "up", "down", "both"]
)
def test_outlines_are_where_light_puts_them(kind: str, pose: Any) -> None:
    """Within 2 cm in the mean with the parts of the body, 1 cm with pieces of them."""
    clip, time, elevation, azimuth, heading = pose
    ground, light = terrain(kind), light_from(elevation, azimuth)
    body = hero().deform(hero().pose(clip, time))[0].positions.astype(np.float64)
    c, s = math.cos(heading), math.sin(heading)
    body = body @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    body += slow.meet(np.array([[0.1, 9.0, 0.02]]), np.array([0.0, -1, 0]), ground)[0]
    faces = hero().scene.meshes[0].primitives[0].triangles()
    places, _ = slow.meet(slow.spread(faces, body)[1], light, ground)
    truth = slow.outline(places[np.isfinite(places[:, 1])])
    for longest, most in ((None, 0.02), (shadows.LONGEST, 0.01)):
        parts = parts_of_hero(longest)
        state = shadows.init_shadows(parts, 1)
        shadows.cast_shadows(state, light, body[None].astype(np.float32), ground)
        _, flat = slow.spread(parts.faces, state.positions[0], 0.0025)
        assert slow.outline_distance(slow.outline(flat), truth) <= most


def test_steps_show_in_the_shadow() -> None:
    for kind, sign in (("up", 1), ("down", -1)):
        state = shadows.init_shadows(parts_of_hero(), 1)
        body = hero().deform(hero().pose())[0].positions[None]
        shadows.cast_shadows(state, light_from(55, 0), body, terrain(kind), lift=0.0)
        x, y, _ = state.positions[0].T
        for level in (0.0, 0.1, 0.3):
            assert (np.abs(y - sign * level) < 1e-5).sum() > 50
        assert x.max() > 0.75


def test_arrays_that_do_not_fit_are_refused() -> None:
    ground, good = flat_ground(), np.zeros((2, 3, 3))
    with pytest.raises(ShapeError, match="middles"):
        shadows.shadow_matrices((0, -1, 0), good[0], ground)
    with pytest.raises(ShapeError, match="middles: float32"):
        shadows.shadow_matrices((0, -1, 0), good.astype(np.float32), ground)
    with pytest.raises(ShapeError, match="out"):
        shadows.shadow_matrices((0, -1, 0), good, ground, out=np.zeros((2, 3, 3, 3)))
    with pytest.raises(ShapeError, match="cast"):
        shadows.shadow_matrices((0, -1, 0), good, ground, cast=np.zeros(3, bool))
    with pytest.raises(SettingError, match="light: must not be zero"):
        shadows.shadow_matrices((0, 0, 0), good, ground)
    with pytest.raises(SettingError, match="light"):
        shadows.shadow_matrices((0, -1), good, ground)
    with pytest.raises(SettingError, match="lift"):
        shadows.shadow_matrices((0, -1, 0), good, ground, lift=math.nan)
    parts = parts_of_hero(None)
    with pytest.raises(ShapeError, match="positions"):
        shadows.find_middles(parts, np.zeros((1, 5, 3), np.float32))
    state = shadows.init_shadows(parts, 1)
    with pytest.raises(ShapeError, match="positions"):
        shadows.cast_shadows(state, (0, -1, 0), np.zeros((1, 5, 3), np.float32), ground)
    rows, body = np.array([0, 1], np.int32), np.zeros((1, 2, 3), np.float32)
    matrices = np.zeros((1, 1, 3, 4))
    with pytest.raises(ShapeError, match="parts: 0 to 1, expected 0 to 0"):
        shadows.apply_shadow(matrices, rows, rows, body)
    with pytest.raises(ShapeError, match="sources"):
        shadows.apply_shadow(matrices, rows + 1, rows * 0, body)


def test_parts_that_make_no_sense_are_refused() -> None:
    heaviest = np.array([0, 0, 1, 1, 2], np.int32)
    joints = np.array([0, 1, 1], np.int32)
    with pytest.raises(ShapeError, match="faces: shape"):
        shadows.make_parts(FACES[0], heaviest, joints)
    with pytest.raises(ShapeError, match="faces: 0 to 4"):
        shadows.make_parts(FACES, heaviest[:4], joints)
    with pytest.raises(ShapeError, match="heaviest"):
        shadows.make_parts(FACES, heaviest, joints[:2])
    with pytest.raises(ShapeError, match="part_of_joint"):
        shadows.make_parts(FACES, heaviest, joints, ["a"])
    with pytest.raises(SettingError, match="longest"):
        shadows.make_parts(FACES, heaviest, joints, places=np.ones((5, 3)), longest=0)
    with pytest.raises(ShapeError, match="places"):
        shadows.make_parts(FACES, heaviest, joints, longest=0.1)
    good = shadows.make_parts(FACES, heaviest, joints)
    with pytest.raises(ShapeError, match="starts"):
        replace(good, starts=np.array([0, 7, 7]))
    with pytest.raises(ShapeError, match="sources"):
        replace(good, vertex_count=4)
    with pytest.raises(ShapeError, match="faces"):
        replace(good, faces=good.faces + 1)


def test_kernels_take_what_the_functions_hand_on() -> None:
    """cast_parts by itself: straight down onto level ground."""
    matrices, is_cast = np.empty((1, 1, 3, 4)), np.empty(1, bool)
    kernel_shadows.cast_parts(
        *(0.0, 0.0, 0.0, np.ones((1, 1, 3)), np.full((2, 2), 0.25)),
        *(0.0, 0.0, 1.0, matrices, is_cast),
    )
    wanted = np.array([[1, 0, 0, 0], [0, 0, 0, 0.25], [0, 0, 1, 0]])
    np.testing.assert_allclose(matrices[0, 0], wanted)
    assert is_cast[0]
