"""Easing: weights changed point by point where the skin is strained when joints turn.

What an artist does with a brush where an elbow crumples, and nowhere else: only points
around triangles that are folded, torn or squeezed in some pose are tried with other
weights, and only what is better for all of these poses is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from flexor.arrays import Bools, Floats, Ints
from flexor.convert.links.link_weights import rests_alone
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Body, Pull, merge_same, rows_of, same_rows
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.hard_parts import machine_joints, points_near, sliding_joints
from flexor.convert.shape.joint_poses import JointPoses, joined_poses, random_poses
from flexor.convert.shape.judge_joints import JudgePlan, judge_body, plan_judging
from flexor.convert.shape.strain import StrainForm, find_strain
from flexor.convert.shape.surface import Surface
from flexor.convert.shape.thickness import point_thickness
from flexor.convert.weights.edit_weights import limit_influences, most_joints
from flexor.convert.weights.keep_better import mended_where_better
from flexor.convert.weights.kernels import ease as kernel
from flexor.convert.weights.layout import ROOM, EaseMesh, EaseRules, EaseWork
from flexor.convert.weights.mend_rogues import mend_rogues
from flexor.maths import transforms

__all__ = ["ease_pass", "ease_weights"]

ROUNDS = 12  # of going over all points that are strained
SWEEPS = 2  # over the points of a round
ENOUGH = 0.02  # of what the strain cost at first: a round that gains less is the last
HURT = 0.02  # of how bad a triangle looks in any pose
RINGS = 2  # of neighbours around strained points that are tried, too
MOST_POSES = 72
UNSEEN = 5e-3  # of the skin around a joint, in poses of clips
RULES = EaseRules(smooth=0.02, keep=0.5, step=0.08)


def ease_pass(task: BodyTask, *, max_influences: int | None) -> Mended:
    """Weights that strain the skin less, kept where joints look no worse with them."""
    scene = task.scene.with_pulls({task.number: task.body.pull})
    own = scene.bodies[task.number]
    plan = plan_judging(task.scene, task.scene.bodies[task.number])
    most = most_joints(max_influences, task.influences)
    task.note(f"easing {len(task.body):,} vertices")
    spared = _parts(scene, own, plan)
    pull = ease_weights(scene, own, plan.form, plan.poses, most=most, spared=spared)
    pull = _whole(own, pull)
    if task.joints is not None:
        held = np.isin(task.body.pull.joints, task.joints) & (
            task.body.pull.weights > 0
        )
        pull = rows_of(pull, task.body.pull, ~np.any(held, axis=1))
    mended = mended_where_better(task, plan, pull, most)
    # Between old weights and new ones ties may be cut off again.
    return replace(mended, pull=_whole(own, mended.pull))


def _parts(scene: SceneFacts, own: BodyFacts, plan: JudgePlan) -> Bools:
    """Joints of a machine (S,) whose cuts no clip strains: they are meant; that they
    open where a trial turns them is no fault.
    """
    surface, body = own.by_place, own.body
    pull = body.pull.take(surface.vertex_of_point)
    found = machine_joints(pull, surface, len(body.joints))
    if found.any():
        scores = judge_body(scene, own, plan).joints
        if any(found[one.row] and one.seen > UNSEEN for one in scores):
            return np.zeros_like(found)
    return found


def _whole(own: BodyFacts, pull: Pull) -> Pull:
    """The weights without ties that easing cut off: of points whose neighbours do not
    hang on that joint any more.
    """
    mended = mend_rogues(own.with_pull(pull)).pull
    return rows_of(mended, pull, same_rows(pull, own.body.pull))


def ease_weights(
    facts: SceneFacts,
    own: BodyFacts,
    form: StrainForm,
    poses: JointPoses,
    *,
    most: int,
    rules: EaseRules = RULES,
    spared: Bools | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Pull:
    """Weights of a body's V vertices that strain its skin less.

    form, poses: of the body, see JudgePlan; most: joints a vertex at most;
    spared: bool (S,), joints whose skin is left alone. So are rigid vertices, pieces
    that hang on one bone, skin of joints that slide, and points whose vertices hang on
    different joints.
    """
    body, surface = own.body, own.by_place
    given = _of_most(body.pull.take(surface.vertex_of_point), most)
    if spared is None:
        spared = np.zeros(len(body.joints), bool)
    free = _free_points(facts, body, surface, spared)
    local = _poses(facts, body, poses)
    _, world = deform_body(facts.layout, bind_body(facts.scene, body), local)
    matrices = _matrices(facts, body, world)
    now = Pull(given.joints.copy(), given.weights.copy())
    places = _places(matrices, surface, now)
    mesh = _mesh(own, form, matrices, places.copy())
    work = EaseWork(
        np.zeros((3, ROOM), np.int32),
        np.zeros((5, ROOM), np.float32),
        np.zeros((2, 3), np.float32),
    )
    first = 0.0
    for _ in range(ROUNDS):
        order = _strained(form, surface, places, free)
        gained = np.zeros(1)
        for _ in range(SWEEPS if len(order) else 0):
            kernel.ease_points(
                order,
                mesh,
                rules,
                work,
                places,
                now.joints,
                now.weights,
                gained,
            )
        advance()
        first = max(first, float(gained[0]))
        if gained[0] <= ENOUGH * first:
            break
    new = merge_same(now.joints, now.weights)
    return rows_of(
        new.take(surface.point_of_vertex),
        body.pull,
        ~free[surface.point_of_vertex],
    )


def _of_most(pull: Pull, most: int) -> Pull:
    """The weights in `most` columns, as the kernel may fill all that there are."""
    if pull.joints.shape[1] > most:
        limited = limit_influences(pull, most)
        sorted_ = merge_same(limited.joints, limited.weights)
        pull = Pull(sorted_.joints[:, :most], sorted_.weights[:, :most])
    return pull.widened(most)


def _free_points(
    facts: SceneFacts, body: Body, surface: Surface, spared: Bools
) -> Bools:
    """Which points (P,) may be given other weights."""
    fixed = body.rigid | rests_alone(body.pull, surface)
    order = np.argsort(body.pull.joints, axis=1, kind="stable")
    names = np.take_along_axis(body.pull.joints, order, 1)
    amounts = np.take_along_axis(body.pull.weights, order, 1)
    first = surface.vertex_of_point[surface.point_of_vertex]
    fixed |= (names != names[first]).any(1)
    fixed |= (np.abs(amounts - amounts[first]) > 1e-3).any(1)
    fixed |= body.pull.weights.sum(1) <= 0
    pull = body.pull.take(surface.vertex_of_point)
    free = ~points_near(pull, surface, sliding_joints(facts, body) | spared)
    free[surface.point_of_vertex[fixed]] = False
    return free


def _poses(facts: SceneFacts, body: Body, poses: JointPoses) -> Floats:
    """All that is looked at: trials of joints, and clips, or poses at random."""
    clips = facts.poses if len(facts.poses) else random_poses(facts)
    trials = joined_poses(facts.layout, body, poses)
    room = max(MOST_POSES - len(trials), 8)
    if len(clips) > room:
        clips = clips[np.linspace(0, len(clips) - 1, room).astype(np.intp)]
    return np.concatenate([facts.layout.rest[None], clips, trials])


def _matrices(facts: SceneFacts, body: Body, world: Floats) -> Floats:
    """world_from_bind (N, S, 3, 4) of a body's joints."""
    binds = facts.scene.skins[body.skins[0]].inverse_binds
    matrices = transforms.multiply(world[:, body.joints], binds)
    return np.ascontiguousarray(matrices, np.float32)


def _mesh(
    own: BodyFacts, form: StrainForm, matrices: Floats, places: Floats
) -> EaseMesh:
    """The arrays of the kernel; places: of all points as they were given."""
    shape, faces = own.shape_by_place, form.faces
    surface, count = shape.surface, len(shape.surface)
    thick = point_thickness(surface.positions, shape.pull, shape.bones, shape.sections)
    growth = np.sqrt(form.areas.sum() / max(own.area, 1e-30))
    corners = np.argsort(faces.ravel(), kind="stable")
    face_starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(faces.ravel(), minlength=count), out=face_starts[1:])
    beside = np.full((len(faces), 3), -1, np.int32)
    signs = np.ones((len(faces), 3), np.float32)
    cosines = np.ones((len(faces), 3), np.float32)
    filled = np.zeros(len(faces), np.intp)
    for one, other in ((0, 1), (1, 0)):
        mine, theirs = form.sides[:, one], form.sides[:, other]
        order = np.argsort(mine, kind="stable")
        starts = np.searchsorted(mine[order], mine[order])
        columns = filled[mine[order]] + np.arange(len(order)) - starts
        beside[mine[order], columns] = theirs[order]
        signs[mine[order], columns] = form.sides[order, 2]
        cosines[mine[order], columns] = form.cosines[order]
        filled += np.bincount(mine, minlength=len(faces))
    return EaseMesh(
        np.ascontiguousarray(surface.positions),
        places,
        (thick * growth).astype(np.float32),
        matrices,
        surface.starts,
        surface.neighbours,
        face_starts,
        (corners // 3).astype(np.int32),
        faces,
        form.flat,
        (form.areas / max(float(form.areas.sum()), 1e-30)).astype(np.float32),
        beside,
        signs,
        cosines,
    )


def _places(matrices: Floats, surface: Surface, pull: Pull) -> Floats:
    """Where weights put all points: (N, P, 3)."""
    places = np.zeros((len(matrices), len(pull), 3), np.float32)
    for column in range(pull.joints.shape[1]):
        own = matrices[:, np.maximum(pull.joints[:, column], 0)]
        moved = np.einsum("npij,pj->npi", own[..., :3], surface.positions)
        places += pull.weights[:, column, None] * (moved + own[..., 3])
    return places


def _strained(form: StrainForm, surface: Surface, places: Floats, free: Bools) -> Ints:
    """The points to try: those around triangles that look bad, and neighbours."""
    bad = np.zeros(len(form.faces), np.float32)
    vertices = np.zeros((1, int(form.points.max(initial=0)) + 1, 3), np.float32)
    base = None
    for one in places:
        vertices[0, form.points] = one
        found = find_strain(form, vertices).bad[0]
        base = found if base is None else base
        np.maximum(bad, found - base, out=bad)
    hurt = np.zeros(len(surface), bool)
    hurt[form.faces[bad > HURT]] = True
    first = np.repeat(np.arange(len(surface)), np.diff(surface.starts))
    for _ in range(RINGS):
        grown = hurt.copy()
        grown[surface.neighbours[hurt[first]]] = True
        hurt = grown
    return np.flatnonzero(hurt & free).astype(np.int32)
