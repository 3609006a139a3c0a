"""Easing: against the oracle, what it makes better, and what it must leave."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.repair.task import BodyTask
from flexor.convert.shape.body import Pull, gather_bodies, merge_same, with_pulls
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import is_worse, judge_body, plan_judging
from flexor.convert.weights.check_weights import RogueCheck, check_weights
from flexor.convert.weights.ease_weights import ease_pass, ease_weights
from flexor.convert.weights.kernels import ease as kernel
from flexor.convert.weights.layout import ROOM, EaseMesh, EaseRules, EaseWork
from flexor.maths import quaternions
from flexor.scene.character.clip import Clip, Track
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import SIDES, skinned_scene, tube
from tests.oracle import ease as oracle
from tests.scenes import random_rotations

RULES = EaseRules(smooth=0.02, keep=0.5, step=0.08)
Rows = list[dict[int, float]]


def pull_of(rows: Rows, width: int) -> Pull:
    """The same as arrays, in the same order of joints."""
    joints = np.full((len(rows), width), -1, np.int32)
    weights = np.zeros((len(rows), width), np.float32)
    for at, row in enumerate(rows):
        joints[at, : len(row)] = list(row)
        weights[at, : len(row)] = list(row.values())
    return Pull(joints, weights)


def rows_of(pull: Pull) -> Rows:
    return [
        {int(n): float(w) for n, w in zip(names, amounts, strict=True) if n >= 0}
        for names, amounts in zip(pull.joints, pull.weights, strict=True)
    ]


def eased(
    mesh: EaseMesh, rows: Rows, order: Any, most: int, rules: EaseRules = RULES
) -> tuple[Pull, Any, float]:
    """Weights, places and the gain after each of the points was tried once."""
    pull, gained = pull_of(rows, most), np.zeros(1)
    places = oracle.all_places(mesh.bound, mesh.matrices, rows).astype(np.float32)
    work = EaseWork(
        np.zeros((3, ROOM), np.int32),
        np.zeros((5, ROOM), np.float32),
        np.zeros((2, 3), np.float32),
    )
    kernel.ease_points(
        np.array(order, np.int32),
        mesh,
        rules,
        work,
        places,
        pull.joints,
        pull.weights,
        gained,
    )
    return pull, places, float(gained[0])


def random_rows(rng: Any, count: int, joints: int, most: int) -> Rows:
    rows = []
    for _ in range(count):
        names = rng.permutation(joints)[: rng.integers(1, min(joints, most) + 1)]
        parts = 0.05 + rng.dirichlet(np.ones(len(names)))
        amounts = (parts / parts.sum()).astype(np.float32)
        rows.append(dict(zip(names.tolist(), amounts.tolist(), strict=True)))
    return rows


def random_matrices(rng: Any, poses: int, joints: int) -> Any:
    """Turns and small moves; nothing in the first pose, which is the rest."""
    turns = random_rotations(rng, poses * joints).reshape(poses, joints, 4)
    moves = rng.normal(size=(poses, joints, 3, 1)) * 0.2
    matrices = np.concatenate([quaternions.to_matrix(turns), moves], 3)
    matrices[:1] = np.eye(3, 4)
    return matrices


def random_mesh(
    seed: int, points: int, faces: int, joints: int, poses: int, most: int
) -> tuple[EaseMesh, Rows]:
    """Triangles of any points, so with edges of three, and wound either way."""
    rng = np.random.default_rng(seed)
    bound = rng.normal(size=(points, 3)).astype(np.float32).astype(float)
    picked = [rng.permutation(points)[:3] for _ in range(faces)]
    rows = random_rows(rng, points, joints, most)
    matrices = random_matrices(rng, poses, joints).astype(np.float32)
    return oracle.make_mesh(bound, picked, matrices, rows), rows


@pytest.mark.parametrize(
    ("points", "faces", "joints", "poses", "most"),
    [
        (3, 1, 2, 2, 4),
        (4, 2, 3, 1, 2),
        (6, 7, 2, 3, 4),
        (9, 12, 4, 2, 3),
        (8, 8, 5, 3, 1),
        (5, 0, 3, 2, 4),
        (7, 9, 3, 0, 4),
    ],
)
def test_a_step(points: int, faces: int, joints: int, poses: int, most: int) -> None:
    for seed in range(3):
        mesh, rows = random_mesh(seed, points, faces, joints, poses, most)
        for point in range(0, points, 2):
            pull, places, gained = eased(mesh, rows, [point], most)
            wanted = oracle.ease_point(mesh, RULES, rows, point, most)
            found = rows_of(pull)
            assert (
                found[:point] + found[point + 1 :] == rows[:point] + rows[point + 1 :]
            )
            whole = pull_of([wanted], joints).dense(joints)
            np.testing.assert_allclose(
                pull.dense(joints)[point], whole[0], rtol=0, atol=2e-4
            )
            there = oracle.all_places(mesh.bound, mesh.matrices, found)
            np.testing.assert_allclose(places, there, atol=1e-5)
            costs = [
                oracle.point_cost(mesh, RULES, rows, point, row)
                for row in (rows[point], found[point])
            ]
            assert gained == pytest.approx(
                costs[0] - costs[1], abs=1e-3 * costs[0] + 1e-6
            )


def test_no_point_is_no_work() -> None:
    mesh, rows = random_mesh(1, 5, 4, 3, 2, 4)
    pull, places, gained = eased(mesh, rows, [], 4)
    assert gained == 0
    assert (places == mesh.given).all()
    assert rows_of(pull) == rows


def test_what_hangs_on_one_joint_alone_stays() -> None:
    mesh, rows = random_mesh(2, 6, 7, 1, 3, 2)
    pull, places, gained = eased(mesh, rows, range(6), 2)
    assert gained == 0
    assert rows_of(pull) == rows
    assert (places == mesh.given).all()


@pytest.mark.parametrize("seed", range(6))
def test_each_step_costs_less(seed: int) -> None:
    """Over all points, one after the other: what each costs around itself falls."""
    mesh, rows = random_mesh(seed, 9, 11, 4, 3, 3)
    total = 0.0
    for point in range(9):
        before = oracle.point_cost(mesh, RULES, rows, point, rows[point])
        found = rows_of(eased(mesh, rows, [point], 3)[0])
        after = oracle.point_cost(mesh, RULES, rows, point, found[point])
        assert after <= before * (1 + 1e-3) + 1e-6
        total += before - after
        rows = found
    assert total > 0


def test_more_joints_than_there_is_room_for() -> None:
    """A fan whose rim hangs on more joints than are looked at."""
    count = ROOM + 6
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)
    bound = np.concatenate([[[0, 0, 0.3]], rim])
    faces = [[0, 1 + i, 1 + (i + 1) % count] for i in range(count)]
    rows: Rows = [{0: 1.0}, *({i: 1.0} for i in range(count))]
    rng = np.random.default_rng(1)
    mesh = oracle.make_mesh(bound, faces, random_matrices(rng, 2, count), rows)
    pull, _, gained = eased(mesh, rows, [0], 4)
    assert gained >= 0
    assert pull.weights[0].sum() == pytest.approx(1, abs=1e-6)
    assert pull.joints[0].max() < ROOM


# Whole bodies.


def arm_scene(width: float = 0.0, rings: int = 33, **more: Any) -> Scene:
    """A tube of radius 1 from -4 to 4 on two bones that meet at 0."""
    positions, normals, faces = tube(np.linspace(-4, 4, rings))
    x = positions[:, 0]
    child = np.clip(0.5 + x / width, 0, 1) if width else (x >= 0) * 1.0
    return skinned_scene(
        [(-4, 0, 0), (0, 0, 0), (4, 0, 0)],
        [-1, 0, 1],
        positions,
        faces,
        np.stack([1 - child, child, 0 * x], 1),
        normals=normals,
        **more,
    )


def ease(scene: Scene, most: int = 4, rigid: Any = ()) -> tuple[SceneFacts, Pull]:
    facts = SceneFacts(scene, rigid)
    (own,) = facts.bodies
    plan = plan_judging(facts, own)
    return facts, ease_weights(facts, own, plan.form, plan.poses, most=most)


def scores(facts: SceneFacts, pull: Pull) -> tuple[Any, Any]:
    (own,) = facts.bodies
    plan = plan_judging(facts, own)
    new = facts.with_pulls({0: pull})
    return judge_body(facts, own, plan), judge_body(new, new.bodies[0], plan)


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.0, 0.6])
def test_a_cut_arm_is_eased(width: float) -> None:
    facts, pull = ease(arm_scene(width))
    before, after = scores(facts, pull)
    for new, old in zip(after.joints, before.joints, strict=True):
        assert not is_worse(new, old)
    assert after.joints[0].score < 0.8 * before.joints[0].score
    assert after.hurt.sum() < 0.8 * before.hurt.sum()


@pytest.mark.slow
def test_weights_stay_weights_of_so_many_joints() -> None:
    scene = arm_scene()
    primitive = scene.meshes[0].primitives[0]
    x = primitive.positions[:, :1].astype(float)
    # A little of all three bones near the joint, which is more than is asked for.
    near = np.exp(-(x**2)) * [0.2, 0.2, 0.1]
    weights = gather_bodies(scene)[0].pull.dense(3) + near
    weights /= weights.sum(1, keepdims=True)
    weights[weights < 1e-3] = 0
    body = gather_bodies(scene)[0]
    pull = merge_same(np.tile(np.arange(3), (len(body), 1)), weights)
    mixed = with_pulls(scene, {0: pull}, [body])
    for most in (2, 3, 4):
        _, found = ease(mixed, most)
        assert np.isfinite(found.weights).all()
        assert (found.weights >= 0).all()
        assert ((found.joints >= 0) == (found.weights > 0)).all()
        np.testing.assert_allclose(found.weights.sum(1), 1, atol=1e-5)
        assert (found.dense(3) != pull.dense(3)).any()
        assert np.count_nonzero(found.weights, axis=1).max() <= most


@pytest.mark.slow
def test_far_from_the_joint_nothing_changes() -> None:
    facts, pull = ease(arm_scene(0.6))
    (own,) = facts.bodies
    far = np.abs(own.body.positions[:, 0]) > 3
    assert (pull.dense(3)[far] == own.body.pull.dense(3)[far]).all()


def assert_same(facts: SceneFacts, pull: Pull, rows: Any) -> None:
    given = facts.bodies[0].body.pull
    assert (pull.dense(3)[rows] == given.dense(3)[rows]).all()


@pytest.mark.slow
def test_rigid_meshes_stay() -> None:
    facts, pull = ease(arm_scene(), rigid=[True])
    assert_same(facts, pull, slice(None))


@pytest.mark.slow
def test_what_strains_nothing_stays() -> None:
    """All on one bone: nothing to ease, whatever turns."""
    scene = arm_scene()
    body = gather_bodies(scene)[0]
    one = Pull(np.ones((len(body), 1), np.int32), np.ones((len(body), 1), np.float32))
    facts, pull = ease(with_pulls(scene, {0: one}, [body]))
    assert_same(facts, pull, slice(None))


def with_more(scene: Scene, places: Any, faces: Any, weights: Any) -> Scene:
    """The scene with more vertices in its mesh; all of it made anew."""
    body = gather_bodies(scene)[0]
    return skinned_scene(
        body.frames[:, :, 3],
        body.parents,
        np.concatenate([body.positions, places]),
        np.concatenate([body.faces, np.asarray(faces) + len(body)]),
        np.concatenate([body.pull.dense(3), weights]),
        clips=dict(scene.clips),
    )


@pytest.mark.slow
def test_pieces_on_one_bone_stay() -> None:
    """A band around the elbow that hangs on the upper arm alone."""
    places, _, faces = tube(np.linspace(-0.6, 0.6, 5), (1.1, 1.1))
    on_first = np.tile([1.0, 0, 0], (len(places), 1))
    scene = with_more(arm_scene(), places, faces, on_first)
    facts, pull = ease(scene)
    band = slice(len(pull) - len(places), None)
    assert_same(facts, pull, band)
    assert (pull.dense(3) != facts.bodies[0].body.pull.dense(3)).any()


def split_scene(*, is_cut: bool) -> tuple[Scene, Any, Any]:
    """An arm of two halves whose vertices at the joint lie in the same places.

    is_cut: those of each half hang on its own bone; else all on both alike. Gives also
    the last ring of the first half and the first ring of the second.
    """
    x = np.linspace(-4, 4, 33)
    left, _, faces = tube(x[:17])
    right, _, more = tube(x[16:])
    child = np.repeat([0.0, 1.0], [len(left), len(right)])
    first = np.arange(len(left) - SIDES, len(left))
    if not is_cut:
        child[first] = child[first + SIDES] = 0.5
    scene = skinned_scene(
        [(-4, 0, 0), (0, 0, 0), (4, 0, 0)],
        [-1, 0, 1],
        np.concatenate([left, right]),
        np.concatenate([faces, more + len(left)]),
        np.stack([1 - child, child, 0 * child], 1),
    )
    return scene, first, first + SIDES


@pytest.mark.slow
def test_points_whose_vertices_differ_stay() -> None:
    scene, first, second = split_scene(is_cut=True)
    facts, pull = ease(scene)
    assert_same(facts, pull, np.concatenate([first, second]))


@pytest.mark.slow
def test_seams_stay_closed() -> None:
    scene, first, second = split_scene(is_cut=False)
    facts, pull = ease(scene)
    found = pull.dense(3)
    assert (found[first] == found[second]).all()
    assert (found != facts.bodies[0].body.pull.dense(3)).any()


def clip_of(node: int, kind: Any, values: Any) -> dict[str, Clip]:
    values = np.asarray(values, np.float32)
    times = np.arange(len(values), dtype=np.float32)
    return {"one": Clip("one", (Track(node, kind, times, values),))}


@pytest.mark.slow
def test_what_slides_in_clips_is_left_alone() -> None:
    """A visor: a part that clips push along; its edge is meant to be torn."""
    scene = arm_scene()
    way = scene.skeleton.translations[1]
    slides = clip_of(1, "translation", [way, way + np.array([2, 0, 0]), way])
    facts, pull = ease(dataclasses.replace(scene, clips=slides))
    body = facts.bodies[0].body
    # Its skin, and the ring next to it.
    assert_same(facts, pull, body.positions[:, 0] >= -0.26)
    turns = [[0, 0, 0, 1], [0, 0, 0.6, 0.8], [0, 0, 0, 1]]
    turning = dataclasses.replace(scene, clips=clip_of(1, "rotation", turns))
    facts, pull = ease(turning)
    assert (pull.dense(3) != body.pull.dense(3)).any()


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        found.append(ease(arm_scene(0.6))[1])
    assert (found[0].joints == found[1].joints).all()
    assert (found[0].weights == found[1].weights).all()


@pytest.mark.slow
def test_rounds_are_told() -> None:
    facts = SceneFacts(arm_scene())
    (own,) = facts.bodies
    plan = plan_judging(facts, own)
    told: list[int] = []
    ease_weights(
        facts, own, plan.form, plan.poses, most=4, advance=lambda: told.append(1)
    )
    assert 1 <= len(told) <= 12


def task_of(scene: Scene, joints: Any = None) -> tuple[BodyTask, list[str]]:
    facts, words = SceneFacts(scene), list[str]()
    return BodyTask(0, facts, facts.bodies[0], joints, 4, words.append), words


@pytest.mark.slow
def test_the_pass_says_what_it_does_and_keeps_no_joint_worse() -> None:
    task, words = task_of(arm_scene())
    mended = ease_pass(task, max_influences=None)
    assert words == ["easing 1,056 vertices"]
    assert mended.findings == ()
    before, after = scores(task.scene, mended.pull)
    assert after.joints[0].score < before.joints[0].score
    assert not is_worse(after.joints[0], before.joints[0])


@pytest.mark.slow
def test_the_pass_changes_only_what_hangs_on_chosen_joints() -> None:
    task, _ = task_of(arm_scene(), np.array([1], np.int32))
    mended = ease_pass(task, max_influences=None)
    given, found = task.body.pull.dense(3), mended.pull.dense(3)
    held = given[:, 1] > 0
    assert (found[~held] == given[~held]).all()
    assert (found[held] != given[held]).any()


@pytest.mark.parametrize("count", [0, 1])
def test_meshes_with_hardly_a_triangle(count: int) -> None:
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    faces = np.arange(3 * count).reshape(-1, 3)
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0]])
    bases = [(-1, 0, 0), (0, 0, 0), (1, 0, 0)]
    normals = np.tile([0.0, 0, 1], (3, 1))
    scene = skinned_scene(bases, [-1, 0, 1], places, faces, weights, normals=normals)
    _, pull = ease(scene)
    np.testing.assert_allclose(pull.weights.sum(1), 1, atol=1e-6)


@pytest.mark.slow
def test_easing_cuts_nothing_off(assets: Any) -> None:
    """No point hangs a little on a joint that its neighbours let go."""
    fox = flexor.load(assets / "Fox.glb")
    eased, report = flexor.repair(fox, ease=True)
    assert report.vertices > 1000
    assert find_rogues(fox.scene) == find_rogues(eased.scene) == ()


def find_rogues(scene: Scene) -> tuple[RogueCheck, ...]:
    (body,) = check_weights(scene, has_measures=False).bodies
    return body.rogues
