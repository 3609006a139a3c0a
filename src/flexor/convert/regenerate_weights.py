"""New weights for a body from nothing but its shape and its joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.body import Body, Pull
from flexor.convert.bones import Bones, derive_bones
from flexor.convert.score_bones import best_bones, bones_inside
from flexor.convert.sections import Sections, derive_sections

__all__ = ["assign_bones", "nearest_bones"]

ROUNDS = 2  # of cross-sections by who hangs where, and who hangs where by those


def assign_bones(
    body: Body, positions: Floats, joints: Ints | None = None
) -> tuple[Pull, Bones, Sections]:
    """The best bone of each of P points takes all of it.

    positions: float32 (P, 3); joints: rows of the joints to choose from, None: all
    whose bones lie inside the body. The weights that the body has are not looked at:
    at first each point goes to the nearest bone; that gives the bones cross-sections,
    and these a score for every point and bone.
    """
    bones = derive_bones(body, positions, None)
    if joints is None:
        inside = np.flatnonzero(bones_inside(body, bones)).astype(np.int32)
        joints = inside if len(inside) else np.arange(len(body.joints), dtype=np.int32)
    labels = nearest_bones(positions, bones, joints)
    for _ in range(ROUNDS):
        pull = _all_to(labels)
        bones = derive_bones(body, positions, pull)
        sections = derive_sections(positions, pull, bones, body.size)
        best, _ = best_bones(positions, bones, sections, joints=joints, most=1)
        labels = best[:, 0]
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
