"""Strain: singular values and angles by plain loops, and what is plain to see."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.shape.body import Body, gather_bodies
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.shape.kernels import strain as kernel
from flexor.convert.shape.strain import StrainForm, find_strain, make_form
from flexor.maths import quaternions
from tests.convert.shape.tubes import skinned_scene, tube, tube_scene, turned
from tests.convert.shape.tubes import turn as about
from tests.oracle import strain as oracle
from tests.scenes import random_rotations

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
HALVES = [[0, 1, 2], [0, 2, 3]]


def body_of(places: Any, faces: Any) -> Body:
    """A mesh that hangs on one joint."""
    places, faces = np.asarray(places, float), np.asarray(faces).reshape(-1, 3)
    normals = np.tile([0.0, 0, 1], (len(places), 1))
    weights = np.ones((len(places), 1))
    scene = skinned_scene([(0, 0, 0)], [-1], places, faces, weights, normals=normals)
    return gather_bodies(scene)[0]


def form_of(places: Any, faces: Any, rest: Any = None) -> StrainForm:
    body = body_of(places, faces)
    own = BodyFacts(body)
    there = body.positions if rest is None else rest
    return make_form(body, own.by_place, np.asarray(there, np.float32))


def in_poses(*poses: Any) -> Any:
    return np.asarray(poses, np.float32)


def measured(form: StrainForm, places: Any) -> tuple[Any, Any, Any]:
    """Stretches, cosines and badness by the kernel; places: of the points."""
    count, faces = len(places), len(form.faces)
    stretches = np.full((count, faces, 2), -9, np.float32)
    cosines = np.full((count, len(form.sides)), -9, np.float32)
    bad = np.full((count, faces), -9, np.float32)
    kernel.measure_strain(
        np.asarray(places, np.float32),
        form.faces,
        form.flat,
        form.sides,
        form.cosines,
        np.empty((faces, 3), np.float32),
        stretches,
        cosines,
        bad,
    )
    return stretches, cosines, bad


def assert_as_oracle(bound: Any, faces: Any, poses: Any) -> None:
    """What the kernel finds, against plain loops; all points in places of their own."""
    form = form_of(bound, faces)
    bound = np.asarray(bound, np.float32).astype(float)
    stretches, cosines, bad = measured(form, poses)
    sides = oracle.edges(form.faces)
    assert {tuple(sorted(side[:2])) for side in form.sides.tolist()} == {
        tuple(sorted(side[:2])) for side in sides.values()
    }
    ends_of = {tuple(side): ends for ends, side in sides.items()}
    found = find_strain(form, np.asarray(poses, np.float32))
    for n, posed in enumerate(np.asarray(poses, np.float32).astype(float)):
        for row, corners in enumerate(form.faces):
            wanted = oracle.stretches(bound[corners], posed[corners])
            np.testing.assert_allclose(
                stretches[n, row], wanted, rtol=2e-4, atol=2e-4 * max(wanted)
            )
        own = [
            oracle.cosine(posed, form.faces, tuple(side))
            for side in form.sides.tolist()
        ]
        np.testing.assert_allclose(cosines[n], own, atol=3e-4)
        wanted = oracle.bad_faces(bound, form.faces, posed)
        np.testing.assert_allclose(bad[n], wanted, atol=3e-3)
        assert (found.bad[n] == bad[n]).all()
        folded = {
            ends_of[tuple(side)]
            for side, is_folded in zip(
                form.sides.tolist(), found.folded[n], strict=True
            )
            if is_folded
        }
        assert folded == oracle.folded(bound, form.faces, posed)


@pytest.mark.parametrize("faces", [0, 1, 2, 7, 33])
@pytest.mark.parametrize("poses", [0, 1, 5])
def test_random_triangles(faces: int, poses: int, rng: Any) -> None:
    """Any corners: edges of one, two and more triangles, wound either way."""
    count = max(3, faces // 2)
    bound = rng.normal(size=(count, 3))
    picked = [rng.permutation(count)[:3] for _ in range(faces)]
    posed = bound + rng.normal(size=(poses, count, 3)) * rng.choice([0, 0.2, 1])
    assert_as_oracle(bound, np.array(picked, int).reshape(-1, 3), posed)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 3))
def test_folded_fans(seed: int, size: float) -> None:
    """Triangles around a point, wound as they come, in poses that fold them."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, 7))
    rim = np.stack([np.cos(angles), np.sin(angles), 0.3 * rng.normal(size=7)], 1)
    bound = np.concatenate([[[0, 0, 0.2]], rim * rng.uniform(0.5, 1, (7, 1))])
    faces = np.stack([np.zeros(6, int), np.arange(1, 7), np.arange(2, 8)], 1)
    swap = rng.random(6) < 0.5
    faces[swap] = faces[swap][:, ::-1]
    posed = bound + rng.normal(size=(2, 8, 3)) * size
    form = form_of(bound, faces)
    for pose in posed:
        _, cosines, bad = measured(form, [pose])
        wanted = oracle.bad_faces(
            np.asarray(bound, np.float32).astype(float),
            form.faces,
            np.asarray(pose, np.float32).astype(float),
        )
        np.testing.assert_allclose(bad[0], wanted, atol=6e-3)
        assert (np.abs(cosines) <= 1 + 1e-5).all()


def test_an_edge_of_three_triangles_is_none() -> None:
    places = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]]
    faces = [[0, 1, 2], [1, 0, 3], [0, 1, 4]]
    assert len(form_of(places, faces).sides) == 0
    assert len(form_of(places, faces[:2]).sides) == 1


@pytest.mark.parametrize("is_turned", [False, True])
def test_winding_does_not_matter_to_folds(is_turned: bool) -> None:
    """Two halves of a square, one of them folded over by 150 degrees."""
    faces = [HALVES[0], HALVES[1][::-1] if is_turned else HALVES[1]]
    form = form_of(SQUARE, faces)
    np.testing.assert_allclose(form.cosines, 1, atol=1e-6)
    hinge = np.array([1, 1, 0]) / math.sqrt(2)
    for degrees, is_folded in ((0, False), (90, False), (118, False), (122, True)):
        turn = quaternions.to_matrix(quaternions.about(hinge, math.radians(degrees)))
        posed = SQUARE.copy()
        posed[3] = turn @ SQUARE[3]
        found = find_strain(form, in_poses(posed))
        assert bool(found.folded[0, 0]) is is_folded
        cosine = measured(form, [posed])[1][0, 0]
        assert cosine == pytest.approx(math.cos(math.radians(degrees)), abs=1e-5)
        assert not found.torn.any()
        assert not found.squeezed.any()
        assert (found.bad[0] > 0.1).all() == (degrees > 110)


def test_what_is_folded_at_rest_may_be() -> None:
    """A sheet of two sides that lie on each other, as of a coat's hem."""
    places = np.array([[0, 0, 0], [1, 0, 0], [0.4, 1, 0], [0.5, 1, 0.01]], float)
    form = form_of(places, [[0, 1, 2], [1, 0, 3]])
    assert form.cosines[0] < -0.9
    found = find_strain(form, in_poses(places, places * [1, 1, 0]))
    assert not found.folded.any()
    assert not found.bad.any()


def test_triangles_without_a_shape_are_left_out() -> None:
    places = np.concatenate([SQUARE, [[2, 0, 0], [0.5, 1e-5, 0]]])
    faces = [[0, 1, 4], [0, 0, 1], [0, 1, 5], *HALVES, [2, 2, 2]]
    form = form_of(places, faces)
    assert form.faces.tolist() == HALVES
    np.testing.assert_allclose(form.areas, 0.5)
    assert len(form_of(places, faces[:3]).faces) == 0
    assert find_strain(form_of(places, faces[:3]), in_poses(places)).bad.shape == (1, 0)


def test_vertices_in_one_place_are_one_point() -> None:
    """Seams of texture neither hide folds nor stop them."""
    places = np.concatenate([SQUARE, SQUARE])
    form = form_of(places, [[0, 1, 2], [4, 6, 7]])
    assert form.points.tolist() == [0, 1, 2, 3]
    assert form.faces.tolist() == HALVES
    assert form.sides.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize("factor", [1e-3, 1.0, 50.0])
def test_rigid_motion_is_no_strain(factor: float, rng: Any) -> None:
    places, _, faces = tube(np.linspace(-1, 1, 5))
    places = places * factor
    turns = quaternions.to_matrix(random_rotations(rng, 4))
    moved = places @ turns.transpose(0, 2, 1) + rng.normal(size=(4, 1, 3)) * factor
    form = form_of(places, faces)
    stretches, cosines, bad = measured(form, moved)
    np.testing.assert_allclose(stretches, 1, atol=3e-4)
    np.testing.assert_allclose(cosines, np.tile(form.cosines, (4, 1)), atol=3e-4)
    assert not bad.any()
    found = find_strain(form, in_poses(*moved))
    for suffered in (found.folded, found.torn, found.squeezed):
        assert not suffered.any()


def test_stretching_along_an_axis_tears_and_flattening_squeezes() -> None:
    places, _, faces = tube(np.linspace(-1, 1, 5))
    form = form_of(places, faces)
    longer, shorter = places * [3, 1, 1], places * [0.25, 1, 1]
    stretches, _, bad = measured(form, [longer, shorter])
    np.testing.assert_allclose(stretches[0], [[3, 1]] * len(faces), atol=1e-4)
    np.testing.assert_allclose(stretches[1], [[1, 0.25]] * len(faces), atol=1e-4)
    found = find_strain(form, in_poses(longer, shorter))
    assert found.torn.tolist() == [[True] * len(faces), [False] * len(faces)]
    assert found.squeezed.tolist() == [[False] * len(faces), [True] * len(faces)]
    np.testing.assert_allclose(bad[0], 1)
    np.testing.assert_allclose(bad[1], 0.5)


def test_a_body_that_is_bound_in_another_size_is_not_strained() -> None:
    """Centimetres in the mesh, metres in the skeleton."""
    places, _, faces = tube(np.linspace(-1, 1, 5))
    form = form_of(places * 100, faces, rest=places)
    stretches, _, bad = measured(form, [places])
    np.testing.assert_allclose(stretches, 1, atol=1e-4)
    assert not bad.any()
    whole = form_of(places, faces)
    assert form.areas.sum() == pytest.approx(whole.areas.sum(), rel=1e-5)


def test_what_shrinks_to_a_point_is_squeezed_whole() -> None:
    form = form_of(SQUARE, HALVES)
    stretches, _, bad = measured(form, [SQUARE * 0])
    assert not stretches.any()
    assert (bad >= 0.5).all()
    # At rest, too: nothing tells its size then.
    still = form_of(SQUARE, HALVES, rest=SQUARE * 0)
    np.testing.assert_allclose(measured(still, [SQUARE])[0], 1, atol=1e-6)


@pytest.mark.parametrize("width", [0.0, 1.0, 3.0])
def test_a_tube_that_is_twisted_by_a_half_turn(width: float) -> None:
    """The candy wrapper: all rings between the bones shrink, the middle to nothing."""
    scene = tube_scene(width)
    (body,) = gather_bodies(scene)
    form = make_form(body, BodyFacts(body).by_place, body.positions.astype(np.float32))
    rest, twisted = body.positions, turned(scene, 1, about([1, 0, 0], 180))
    found = find_strain(form, in_poses(rest, twisted))
    assert not found.bad[0].any()
    assert found.torn[1].any() or found.squeezed[1].any() or found.folded[1].any()
    middles = body.positions[form.faces].mean(1)[:, 0]
    assert found.bad[1][np.abs(middles) > width / 2 + 0.2].max() == 0
    # Without a width, the rings at -0.1 and 0 hang on different bones.
    assert found.bad[1][(middles > -0.1) & (middles < 0)].min() > 0.4


@pytest.mark.jit
def test_any_number_of_threads_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, rng: Any
) -> None:
    places, _, faces = tube(np.linspace(-4, 4, 40))
    form = form_of(places, faces)
    poses = in_poses(*(places + rng.normal(size=(21, len(places), 3)) * 0.05))
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        found.append(find_strain(form, poses))
    for other in found[1:]:
        assert (found[0].bad == other.bad).all()
        assert (found[0].folded == other.folded).all()
