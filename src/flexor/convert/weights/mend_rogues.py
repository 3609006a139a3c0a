"""Rogue patches of a body: which there are, and its weights without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.bones import derive_bones
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.shape.judge_joints import plan_judging
from flexor.convert.shape.sections import derive_sections
from flexor.convert.shape.surface import Surface
from flexor.convert.weights.keep_better import mended_where_better
from flexor.convert.weights.remove_rogues import Patch, remove_rogues
from flexor.convert.weights.score_bones import tie_scores
from flexor.scene.finding import Finding, Level

__all__ = ["SPARE", "Rogues", "mend_rogues", "rogues_pass"]

# A patch that fits its bone this well, as a share of the bone's surest point, is its
# other side, as of a flat body, and no rogue.
SEEN = 2e-3  # the largest weight of a patch: with less it moves nothing anyone sees
SPARE = 0.3
TRACE = 0.05  # a patch of less weight than this is hardly seen
TURNS = 8  # of mending the worst and looking again; then all
LEAST = 0.01  # patches that fit worse than this are all equally bad


@dataclass(frozen=True, slots=True, eq=False)
class Rogues:
    """What was found: patches of the surface's points, and the V vertices' new pull."""

    surface: Surface
    patches: tuple[Patch, ...]
    pull: Pull

    def place(self, patch: Patch) -> tuple[float, float, float]:
        """The middle of a patch, metres, in the space of the bind pose."""
        x, y, z = (
            self.surface.positions[patch.points].mean(0, dtype=np.float64).tolist()
        )
        return x, y, z

    def findings(self, names: Sequence[str]) -> list[Finding]:
        """A finding for each patch; names: of the body's joints."""
        return [self._finding(patch, names) for patch in self.patches]

    def _finding(self, patch: Patch, names: Sequence[str]) -> Finding:
        count = len(patch.points)
        place = ", ".join(f"{x:.3g}" for x in self.place(patch))
        heirs = ", ".join(names[row] for row in patch.heirs)
        points = "point hangs" if count == 1 else "points hang"
        text = (
            f"{count} {points} on it with up to {patch.weight:.2g} around ({place}), "
            f"cut off from the rest; that belongs to {heirs}"
        )
        level: Level = "warning" if patch.weight >= TRACE else "info"
        return Finding(level, "rogue-patch", names[patch.joint], text)


def rogues_pass(task: BodyTask, *, spare: float) -> Mended:
    """Free what hangs on a bone that it is cut off from; spare: see SPARE."""
    task.note(f"looking for rogue patches in {len(task.body):,} vertices")
    chosen = None if task.joints is None else task.joints.tolist()
    rogues = mend_rogues(task.facts, chosen, spare=spare)
    found = tuple(rogues.findings(task.body.names))
    if not rogues.patches:
        return Mended(task.body.pull, found)
    plan = plan_judging(task.scene, task.scene.bodies[task.number])
    most = rogues.pull.joints.shape[1]
    mended = mended_where_better(task, plan, rogues.pull, most)
    return Mended(mended.pull, (*found, *mended.findings))


def mend_rogues(
    facts: BodyFacts, joints: Sequence[int] | None = None, *, spare: float = SPARE
) -> Rogues:
    """Find what hangs on a bone but is cut off from it, and give it to those around.

    joints: rows of the bones to look at, None for all; spare: see SPARE; 0: none are.
    """
    body, surface = facts.body, facts.surface
    pull = body.pull.take(surface.vertex_of_point)
    scores = _scores(body, surface, pull, pull)
    # A patch far away makes its bone look thick, and so itself fit well: bones are
    # judged by what is left without it.
    sound, _ = remove_rogues(surface, pull, scores, joints=joints)
    mended, patches = pull, list[Patch]()
    for turn in range(TURNS):
        scores = _scores(body, surface, mended, sound)
        _, found = remove_rogues(
            surface, mended, scores, joints=joints, spare=spare or None
        )
        if not found:
            break
        # The worst first: once they are mended, what they cut off may be whole again.
        most = max(2 * min(_fit(patch) for patch in found), LEAST)
        is_last = turn == TURNS - 1
        bones = {patch.joint for patch in found if is_last or _fit(patch) <= most}
        mended, done = remove_rogues(
            surface, mended, scores, joints=sorted(bones), spare=spare or None
        )
        patches += done
    patches = [patch for patch in patches if patch.weight >= SEEN]
    patches.sort(key=lambda patch: (patch.joint, int(patch.points[0])))
    is_changed = np.zeros(len(surface), bool)
    for patch in patches:
        is_changed[patch.points] = True
    rows = is_changed[surface.point_of_vertex, None]
    width = max(mended.joints.shape[1], body.pull.joints.shape[1])
    new = mended.take(surface.point_of_vertex).widened(width)
    old = body.pull.widened(width)
    whole = Pull(
        np.where(rows, new.joints, old.joints), np.where(rows, new.weights, old.weights)
    )
    return Rogues(surface, tuple(patches), whole)


def _fit(patch: Patch) -> float:
    """How well a patch fits its bone, of what the bone's surest point does."""
    return patch.score / patch.best if patch.best > 0 else 0.0


def _scores(body: Body, surface: Surface, pull: Pull, judge: Pull) -> Floats:
    """How well ties fit bones whose cross-sections come from another pull."""
    bones = derive_bones(body, surface.positions, judge)
    sections = derive_sections(surface.positions, judge, bones, body.size)
    return tie_scores(surface, pull, bones, sections)
