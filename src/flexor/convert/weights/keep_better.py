"""New weights only where they look better: joints that became worse keep the old."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flexor.arrays import Doubles
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Pull, merge_same, rows_of
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.judge_joints import (
    JointScore,
    JudgePlan,
    is_worse,
    judge_body,
)
from flexor.convert.shape.surface import Surface
from flexor.scene.finding import Finding

__all__ = ["keep_better", "mended_where_better"]

ROUNDS = 12  # of giving joints their weights back and looking again
STEPS = (0.5, 0.0)  # of the new weights: what is tried around a joint that is worse
SOFT = 3  # neighbours over which old weights become new ones
NOTHING = 1e-4  # a weight that is not worth a tie


def mended_where_better(
    task: BodyTask, plan: JudgePlan, new: Pull, most: int
) -> Mended:
    """New weights of a task's body, kept as in `keep_better`, and who kept the old."""
    scene = task.scene.with_pulls({task.number: task.body.pull})
    pull, kept = keep_better(scene, task.number, plan, new, most, given=task.scene)
    if not kept:
        return Mended(pull)
    some = ", ".join(kept[:12]) + (", ..." if len(kept) > 12 else "")
    text = f"{len(kept)} joints keep their weights, as they would look worse: {some}"
    return Mended(pull, (Finding("info", "weights-kept", task.where, text),))


def keep_better(
    scene: SceneFacts,
    number: int,
    plan: JudgePlan,
    new: Pull,
    most: int,
    *,
    given: SceneFacts | None = None,
) -> tuple[Pull, list[str]]:
    """The new weights of a body, and the old ones around joints that look worse.

    number: of the body in its scene, which has the old weights; plan: of that body;
    new: of its V vertices; most: joints a vertex at most; given: the scene before any
    repair, None for this one: joints are not to look worse than there. Gives also the
    names of the joints that kept what they had. If some stay worse all the same, all is
    left as it was.
    """
    own = scene.bodies[number]
    old = own.body.pull
    first = scene if given is None else given
    before = _scores(first, first.bodies[number], plan)
    shares: dict[int, float] = {}
    tries: dict[int, int] = {}
    pull = new
    for _ in range(ROUNDS):
        changed = scene.with_pulls({number: pull})
        after = _scores(changed, changed.bodies[number], plan)
        worse = {row for row, one in after.items() if is_worse(one, before[row])}
        if not worse:
            kept = sorted(row for row, share in shares.items() if share == 0)
            return pull, [own.body.names[row] for row in kept]
        for row in sorted(worse):
            # Where it keeps all it had, it is worse for what is next to it, or next to
            # that.
            tries[row] = tries.get(row, 0) + 1
            around = np.arange(len(plan.near)) == row
            for _ in range(tries[row] - len(STEPS)):
                around = plan.near[around].any(0)
            share = STEPS[min(tries[row], len(STEPS)) - 1]
            for other in np.flatnonzero(around).tolist():
                shares[other] = min(shares.get(other, 1.0), share)
        mask = _mask(own, plan, shares)
        pull = _mixed(old, new, mask[own.by_place.point_of_vertex], most)
    return old, [own.body.names[row] for row in plan.rows.tolist()]


def _scores(
    scene: SceneFacts, own: BodyFacts, plan: JudgePlan
) -> dict[int, JointScore]:
    return {one.row: one for one in judge_body(scene, own, plan).joints}


def _mask(own: BodyFacts, plan: JudgePlan, shares: Mapping[int, float]) -> Doubles:
    """How much of the new weights each point (P,) takes; less around some joints."""
    surface, form = own.by_place, plan.form
    share = np.ones(len(own.body.joints))
    share[list(shares)] = list(shares.values())
    mask = np.ones(len(surface))
    np.minimum.at(mask, form.faces, share[plan.owners][:, None])
    for _ in range(SOFT):
        mask = np.minimum(mask, _mean(surface, mask))
    return mask


def _mean(surface: Surface, values: Doubles) -> Doubles:
    """The mean of each point's neighbours; its own value where it has none."""
    counts = np.diff(surface.starts)
    first = np.repeat(np.arange(len(surface)), counts)
    sums = np.bincount(first, values[surface.neighbours], len(surface))
    return np.where(counts > 0, sums / np.maximum(counts, 1), values)


def _mixed(old: Pull, new: Pull, share: Doubles, most: int) -> Pull:
    """Weights between old and new ones by how much of the new each row takes, (V,)."""
    part = share[:, None].astype(np.float32)
    joints = np.concatenate([old.joints, new.joints], 1)
    weights = np.concatenate([old.weights * (1 - part), new.weights * part], 1)
    both = merge_same(joints, np.where(weights > NOTHING, weights, 0))
    width = max(most, 1)
    cut = merge_same(both.joints[:, :width], both.weights[:, :width])
    return rows_of(cut, old, share == 0)
