"""Scores: how well a point of the skin fits each bone, by the bones' cross-sections.

Inside a bone's tapered elliptic cylinder a score is good, better near the axis; beyond
the ends it falls fast, outwards gently: skins have bumps, but what lies beyond an end
belongs to the next bone. Nothing is changed here.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.convert.shape.body import Pull
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections
from flexor.convert.shape.surface import Surface
from flexor.convert.weights.kernels import score as kernel
from flexor.maths import threads, transforms

__all__ = ["best_bones", "tie_scores"]

FALL = 4.0  # a thickness beyond an end divides the score by 1 + this
LEAF_FALL = 0.25  # beyond the tip of a leaf there is no other bone
SLAB = 2.0  # lengths: a bone thicker than this and than others counts as no thicker


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
