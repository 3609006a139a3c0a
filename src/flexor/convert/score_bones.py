"""Scores: how well a point of the skin fits each bone, by the bones' cross-sections.

Inside a bone's tapered elliptic cylinder a score is good, better near the axis; beyond
the ends it falls fast, outwards gently: skins have bumps, but what lies beyond an end
belongs to the next bone. Nothing is changed here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert import kernel_score as kernel
from flexor.convert.body import Body, Pull
from flexor.convert.bones import Bones
from flexor.convert.sections import Sections
from flexor.convert.surface import Surface
from flexor.maths import threads, transforms

__all__ = ["best_bones", "bones_inside", "tie_scores"]

FALL = 4.0  # a thickness beyond an end divides the score by 1 + this
LEAF_FALL = 0.25  # beyond the tip of a leaf there is no other bone
SLAB = 2.0  # lengths: a bone thicker than this and than others counts as no thicker
MOST_FACES = 40_000  # more say no more about what is inside
INSIDE = 0.4  # turns; skins have holes and open ends


def best_bones(
    positions: Floats,
    bones: Bones,
    sections: Sections,
    *,
    joints: Ints | None = None,
    most: int = 4,
) -> tuple[Ints, Floats]:
    """The best `most` joints of each point and their scores, the best first.

    positions: float32 (P, 3); joints: rows of the joints to choose from, None: all;
    gives int32 (P, most), -1 where there are no more, and float32 (P, most).
    """
    rows = np.arange(len(bones.lengths)) if joints is None else joints
    rows = np.ascontiguousarray(rows, np.int32)
    table = np.ascontiguousarray(_table(bones, sections)[rows])
    best = np.empty((len(positions), most), np.int32)
    scores = np.empty((len(positions), most), np.float32)

    def work(part: slice) -> None:
        kernel.best_bones(positions[part], table, rows, best[part], scores[part])

    threads.run_slices(work, len(positions))
    return best, scores


def tie_scores(
    surface: Surface, pull: Pull, bones: Bones, sections: Sections
) -> Floats:
    """How well each tie of the surface's points fits its bone: float32 (P, K)."""
    table = _table(bones, sections)
    scores = np.empty(pull.joints.shape, np.float32)

    def work(part: slice) -> None:
        kernel.tie_scores(
            surface.positions[part], table, pull.joints[part], scores[part]
        )

    threads.run_slices(work, len(pull))
    return scores


def bones_inside(body: Body, bones: Bones) -> NDArray[np.bool_]:
    """Which bones lie inside the body at least in part, (S,).

    Others are no bones of it: controls, or the way from the ground to the hips.
    """
    fractions = np.array([0.25, 0.5, 0.75])
    along = bones.lengths[:, None] * fractions
    points = bones.bases[:, None] + along[..., None] * bones.axes[:, None]
    faces = body.faces[:: -(-len(body.faces) // MOST_FACES) or 1]
    share = len(body.faces) / max(len(faces), 1)
    triangles = np.ascontiguousarray(body.positions[faces], np.float32)
    flat = np.ascontiguousarray(points.reshape(-1, 3), np.float32)
    turns = np.empty(len(flat), np.float32)

    def work(part: slice) -> None:
        kernel.winding_numbers(flat[part], triangles, turns[part])

    threads.run_slices(work, len(flat))
    inside: NDArray[np.bool_] = np.abs(turns * share).reshape(-1, 3).max(1) > INSIDE
    return inside


def _table(bones: Bones, sections: Sections) -> Floats:
    """The bones as the kernel sees them: float32 (S, 23)."""
    count = len(bones.lengths)
    # A short bone in a thick body would have a say far out to its sides.
    usual = np.median(sections.radii[sections.known]) if sections.known.any() else 0.0
    most = np.maximum(SLAB * bones.lengths, usual)[:, None, None]
    radii = np.where(most > 0, np.minimum(sections.radii, most), sections.radii)
    table = np.empty((count, kernel.WIDTH), np.float32)
    table[:, : kernel.LENGTH] = transforms.invert(bones.frames).reshape(count, 12)
    table[:, kernel.LENGTH] = bones.lengths
    table[:, kernel.RADII : kernel.OFFSETS] = radii.reshape(count, 4)
    table[:, kernel.OFFSETS : kernel.FALLS] = sections.offsets.reshape(count, 4)
    table[:, kernel.FALLS] = FALL
    table[:, kernel.FALLS + 1] = np.where(bones.tips < 0, LEAF_FALL, FALL)
    return table
