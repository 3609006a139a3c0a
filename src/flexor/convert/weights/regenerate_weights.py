"""New weights for a body from nothing but its shape and its joints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.bones import Bones, derive_bones
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.shape.sections import Sections, derive_sections
from flexor.convert.shape.thickness import point_thickness
from flexor.convert.weights.remove_rogues import remove_rogues
from flexor.convert.weights.score_bones import best_near, bones_inside, tie_scores
from flexor.convert.weights.smooth_weights import (
    DEFAULTS,
    SmoothSettings,
    smooth_weights,
)
from flexor.scene.finding import Finding

__all__ = ["assign_bones", "nearest_bones", "regenerate_pass", "regenerate_weights"]

ROUNDS = 2  # of cross-sections by who hangs where, and who hangs where by those
MINE = 0.5  # of a vertex's weight: it belongs to the joints that have as much


def regenerate_pass(
    task: BodyTask, *, smooth: int | bool, smooth_width: float, smooth_enough: float
) -> Mended:
    """New weights from shape and joints; the rest is how they are smoothed."""
    task.note(f"regenerating {len(task.body):,} vertices")
    settings = DEFAULTS
    if smooth is not False:
        settings = SmoothSettings(width=smooth_width, most=smooth, enough=smooth_enough)
    pull = regenerate_weights(task.facts, task.joints, settings)
    text = "weights were made from shape and joints"
    found = Finding("info", "weights-regenerated", task.where, text)
    return Mended(pull, (found,))


def regenerate_weights(
    facts: BodyFacts,
    joints: Ints | None = None,
    settings: SmoothSettings = DEFAULTS,
    *,
    advance: Callable[[], None] = lambda: None,
) -> Pull:
    """New weights of the body's V vertices.

    joints: rows of joints: only vertices that hang mostly on these get new weights, and
    of these alone; None: all. The best bone takes each point of the surface; what is
    cut off from the rest of its bone goes to the bones around it; then the weights are
    smoothed, but not where the body is rigid.
    """
    body, surface = facts.body, facts.by_place
    pull, bones, sections = assign_bones(body, surface.positions, joints)
    pull, _ = remove_rogues(surface, pull, tie_scores(surface, pull, bones, sections))
    thickness = point_thickness(surface.positions, pull, bones, sections)
    thickness[surface.point_of_vertex[body.rigid]] = 0
    smooth = smooth_weights(
        surface, pull, thickness.astype(np.float32), settings, advance=advance
    )
    new = smooth.take(surface.point_of_vertex)
    if joints is None:
        return new
    chosen = np.where(np.isin(body.pull.joints, joints), body.pull.weights, 0)
    is_mine = chosen.sum(1)[:, None] >= MINE
    width = max(new.joints.shape[1], body.pull.joints.shape[1])
    old, new = body.pull.widened(width), new.widened(width)
    return Pull(
        np.where(is_mine, new.joints, old.joints),
        np.where(is_mine, new.weights, old.weights),
    )


def assign_bones(
    body: Body, positions: Floats, joints: Ints | None = None
) -> tuple[Pull, Bones, Sections]:
    """The best bone of each of P points takes all of it.

    positions: float32 (P, 3); joints: rows of the joints to choose from, None: all
    whose bones lie inside the body. The weights that the body has are not looked at:
    at first each point goes to the nearest bone; that gives the bones cross-sections,
    and these scores for the nearest bone of each point and those next to it, of which
    the best takes the point.
    """
    bones = derive_bones(body, positions, None)
    if joints is None:
        inside = np.flatnonzero(bones_inside(body, bones)).astype(np.int32)
        joints = inside if len(inside) else np.arange(len(body.joints), dtype=np.int32)
    nearest = nearest_bones(positions, bones, joints)
    labels = nearest
    for _ in range(ROUNDS):
        pull = _all_to(labels)
        bones = derive_bones(body, positions, pull)
        sections = derive_sections(positions, pull, bones, body.size)
        labels = best_near(positions, bones, sections, body.parents, nearest, joints)
    return _all_to(labels), bones, sections


def nearest_bones(positions: Floats, bones: Bones, joints: Ints) -> Ints:
    """For each point (P, 3) the row of the nearest of some bones, int32 (P,)."""
    best = np.full(len(positions), np.inf)
    rows = np.zeros(len(positions), np.int32)
    for joint in joints.tolist():
        local = bones.local(joint, positions)
        local[:, 0] -= np.clip(local[:, 0], 0, bones.lengths[joint])
        squares: NDArray[np.float64] = np.einsum("pc,pc->p", local, local)
        nearer = squares < best
        best[nearer] = squares[nearer]
        rows[nearer] = joint
    return rows


def _all_to(labels: Ints) -> Pull:
    return Pull(labels[:, None], np.ones((len(labels), 1), np.float32))
