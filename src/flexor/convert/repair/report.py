"""What a repair changed: vertices, joints and how well they bend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.convert.repair.trials import JointTrial, telling_trials
from flexor.convert.shape.body import Body
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.judge_joints import JointScore, judge_body, plan_judging
from flexor.convert.shape.measure_joints import (
    JointMeasure,
    measure_joints,
    plan_measures,
)
from flexor.convert.weights.check_flight import is_bound
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["JointChange", "RepairReport", "most_influences", "report_repair"]

CHANGED = 1e-4  # a weight that differs by less is the same
FAR_MEAN, FAR_MOST = 0.02, 0.15  # of the size: new weights that are that far off
BATCH = 8  # poses at once

Strains = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class JointChange:
    """What a repair did to one joint.

    vertices: how many of its weights changed; largest: by how much; links: how many it
    got; before, after: how well it bends, None where it has no skin or was not asked;
    looked, looks: how bad it looked before and looks now, see `judge_joints`; trial:
    the pose in which that is seen best.
    """

    node: int
    name: str
    vertices: int
    largest: float
    links: int
    before: JointMeasure | None
    after: JointMeasure | None
    looked: JointScore | None = None
    looks: JointScore | None = None
    trial: JointTrial | None = None


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair did.

    vertices: how many of vertex_count have other weights now; moved: how far the skin
    is from where it was, at times of the clips, as a share of its size: the mean, and
    the most; None without clips; strains: edges folded, triangles torn and squeezed in
    a pose of the clips, or of poses at random, before and after; None if not measured.
    """

    passes: tuple[str, ...]
    findings: tuple[Finding, ...]
    joints: tuple[JointChange, ...]
    vertices: int
    vertex_count: int
    influences_before: int
    influences_after: int
    moved: tuple[float, float] | None = None
    strains: tuple[Strains, Strains] | None = None


def report_repair(
    before: SceneFacts,
    after: SceneFacts,
    passes: Sequence[str],
    findings: Sequence[Finding],
    *,
    has_measures: bool = True,
) -> RepairReport:
    """What differs between a scene and the same scene repaired.

    after: the same nodes, meshes and skins, with links after them; has_measures:
    whether the joints are bent to see how much is left of them.
    """
    joints: dict[int, JointChange] = {}
    vertices = count = 0
    strains = np.zeros((2, 3))
    for pair in zip(before.bodies, after.bodies, strict=True):
        count += len(pair[0].body)
        vertices += _compare(before, after, pair, joints, has_measures, strains)
    most = [most_influences(facts.scene) for facts in (before, after)]
    rows = tuple(joints[node] for node in sorted(joints))
    moved = _moved(before, after) if vertices else None
    told = [*findings, *_tell_far(passes, moved)]
    old, new = ((f, t, s) for f, t, s in strains.tolist())
    return RepairReport(
        tuple(passes),
        tuple(told),
        rows,
        vertices,
        count,
        most[0],
        most[1],
        moved,
        (old, new) if has_measures else None,
    )


def _moved(before: SceneFacts, after: SceneFacts) -> tuple[float, float] | None:
    """How far the skin moves at times of the clips, of its size: mean and most."""
    layouts, poses = [before.layout, after.layout], [before.poses, after.poses]
    if not len(poses[0]):
        return None
    far: list[tuple[float, float, int]] = []
    for old, new in zip(before.bodies, after.bodies, strict=True):
        if not is_bound(old.body):
            continue
        binds = [bind_body(before.scene, old.body), bind_body(after.scene, new.body)]
        rest = deform_body(layouts[0], binds[0], layouts[0].rest[None])[0][0]
        size = max(float(np.ptp(rest, axis=0).max()), 1e-30)
        for start in range(0, len(poses[0]), BATCH):
            one, other = (
                deform_body(layout, bind, pose[start : start + BATCH])[0]
                for layout, bind, pose in zip(layouts, binds, poses, strict=True)
            )
            with np.errstate(all="ignore"):
                away = np.linalg.norm(one.astype(np.float64) - other, axis=2) / size
            away = away[np.isfinite(away)]
            far.append((float(away.mean()), float(away.max(initial=0)), away.size))
    if not far:
        return None
    whole = sum(count for *_, count in far)
    mean = sum(one * count for one, _, count in far) / max(whole, 1)
    return mean, max(most for _, most, _ in far)


def _tell_far(
    passes: Sequence[str], moved: tuple[float, float] | None
) -> Iterator[Finding]:
    """A warning where new weights move the skin far from where it was."""
    if "regenerate" in passes and moved is not None:
        if moved[0] > FAR_MEAN or moved[1] > FAR_MOST:
            text = (
                f"in clips the skin is {moved[0]:.1%} of its size from where it was on "
                f"average, {moved[1]:.0%} at most: look at it, part of it may hang on "
                "wrong bones"
            )
            yield Finding("warning", "weights-far", "clips", text)


def _compare(
    before: SceneFacts,
    after: SceneFacts,
    bodies: tuple[BodyFacts, BodyFacts],
    joints: dict[int, JointChange],
    has_measures: bool,
    strains: Doubles,
) -> int:
    """Add the changes of a body's joints, and to strains (2, 3), before and after.

    Gives how many vertices changed.
    """
    old, new = bodies[0].body, bodies[1].body
    measures: list[dict[int, JointMeasure]] = [{}, {}]
    looks: list[dict[int, JointScore]] = [{}, {}]
    trials: dict[int, JointTrial] = {}
    if has_measures:
        # What had no weights moved no skin that could tell what is to be measured.
        is_new = not is_bound(old)
        told, one = (after, bodies[1]) if is_new else (before, bodies[0])
        plan, judge_plan = plan_measures(told.scene, one), plan_judging(told, one)
        tried = []
        for at, facts in enumerate((before, after)):
            judged = judge_body(facts, bodies[at], judge_plan)
            strains[at] += judged.strains
            tried.append(judged.trials)
            if is_new and not at:
                continue
            found = measure_joints(facts, bodies[at], plan)
            measures[at] = {one.node: one for one in found}
            looks[at] = {one.node: one for one in judged.joints}
        trials = telling_trials(old, judge_plan.poses, tried[0], tried[1])
    links = after.scene.skeleton.links
    own, of_joint = np.arange(len(new.joints)), new.joint_rows(links)
    difference = (_sparse(new, own) - _sparse(old, own)).tocoo()
    rows = np.unique(difference.row[np.abs(difference.data) > CHANGED])
    moved = abs(_sparse(new, of_joint) - _sparse(old, of_joint)).tocsc()
    own_links = set(links) - set(before.scene.skeleton.links)
    added = [links[link].joint for link in own_links]
    for row, node in enumerate(old.joints.tolist()):
        changes = moved.data[moved.indptr[row] : moved.indptr[row + 1]]
        change = JointChange(
            node,
            old.names[row],
            int(np.count_nonzero(changes > CHANGED)),
            float(changes.max(initial=0)),
            added.count(node),
            measures[0].get(node),
            measures[1].get(node),
            looks[0].get(node),
            looks[1].get(node),
            trials.get(node),
        )
        joints[node] = _both(joints[node], change) if node in joints else change
    return len(rows)


def _both(one: JointChange, other: JointChange) -> JointChange:
    """A joint that moves two bodies: all changes, and the measures of the first that
    has any.
    """
    measured = one if one.after is not None and one.after.is_measured else other
    return replace(
        one,
        vertices=one.vertices + other.vertices,
        largest=max(one.largest, other.largest),
        before=measured.before,
        after=measured.after,
        looked=max(one.looked, other.looked, key=_score),
        looks=max(one.looks, other.looks, key=_score),
        trial=max(one.trial, other.trial, key=_telling),
    )


def _score(look: JointScore | None) -> float:
    return -1.0 if look is None else look.score


def _telling(trial: JointTrial | None) -> float:
    return -1.0 if trial is None else trial.telling


def _sparse(body: Body, columns: NDArray[np.integer]) -> csr_array[Any, Any]:
    """Weights (V, S) of a body; columns: where the weights of each joint go."""
    from scipy.sparse import csr_array

    rows, places = np.nonzero(body.pull.weights > 0)
    names = columns[body.pull.joints[rows, places]]
    amounts = body.pull.weights[rows, places].astype(np.float64)
    return csr_array((amounts, (rows, names)), (len(body), len(columns)))


def most_influences(scene: Scene) -> int:
    """The most joints that pull any vertex of a scene."""
    counts = [
        int(primitive.skin.influence_counts().max(initial=0))
        for mesh in scene.meshes
        for primitive in mesh.primitives
        if primitive.skin is not None
    ]
    return max(counts, default=0)
