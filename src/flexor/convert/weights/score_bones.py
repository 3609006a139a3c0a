"""Scores: how well a point of the skin fits each bone, by the bones' cross-sections.

Inside a bone's tapered elliptic cylinder a score is good, better near the axis; beyond
the ends it falls fast, outwards gently: skins have bumps, but what lies beyond an end
belongs to the next bone. Nothing is changed here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections
from flexor.convert.shape.surface import Surface
from flexor.convert.weights.kernels import score as kernel
from flexor.maths import threads, transforms

__all__ = ["best_bones", "best_near", "bones_inside", "tie_scores"]

FALL = 4.0  # a thickness beyond an end divides the score by 1 + this
LEAF_FALL = 0.25  # beyond the tip of a leaf there is no other bone
SLAB = 2.0  # lengths: a bone thicker than this and than others counts as no thicker
BRANCH = 0.5  # thicknesses: how far out of its parent a limb begins
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


def best_near(
    positions: Floats,
    bones: Bones,
    sections: Sections,
    parents: Ints,
    labels: Ints,
    joints: Ints,
) -> Ints:
    """For each point the best of its bone, the one above and those below: int32 (P,).

    positions: float32 (P, 3); parents: int32 (S,); labels: int32 (P,), the bone that
    each has, of `joints`: rows of the joints to choose from. A limb that leaves another
    begins where it comes out of that, half its own thickness along.
    """
    around: list[list[int]] = [[] for _ in parents]
    for row in joints.tolist():
        above = int(parents[row])
        for other in {row, above} - {-1}:
            around[other].append(row)
        if above >= 0 and above in joints:
            around[row].append(above)
    starts = np.zeros(len(around) + 1, np.int32)
    np.cumsum([len(rows) for rows in around], out=starts[1:])
    rows = np.array([row for near in around for row in sorted(near)], np.int32)
    moved = _branches_out(bones, sections, parents)
    table = _table(moved, sections)
    best = np.empty(len(positions), np.int32)

    def work(part: slice) -> None:
        kernel.best_near(positions[part], table, labels[part], starts, rows, best[part])

    threads.run_slices(work, len(positions))
    return best


def _branches_out(bones: Bones, sections: Sections, parents: Ints) -> Bones:
    """The bones, those that do not continue their parents begun further out."""
    is_branch = (parents >= 0) & (bones.tips[parents] != np.arange(len(parents)))
    way = np.minimum(BRANCH * sections.thickness[:, 0], bones.lengths / 2)
    way = np.where(is_branch, way, 0)
    frames = bones.frames.copy()
    frames[:, :, 3] += way[:, None] * bones.axes
    return replace(bones, frames=frames, lengths=bones.lengths - way)


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
    faces = body.faces[:: -(-len(body.faces) // MOST_FACES) or 1]
    share = len(body.faces) / max(len(faces), 1)
    triangles = np.ascontiguousarray(body.positions[faces], np.float32)
    inside = np.zeros(len(bones.lengths), bool)
    for fraction in (0.5, 0.25, 0.75):
        left = np.flatnonzero(~inside)
        along = fraction * bones.lengths[left, None] * bones.axes[left]
        points = np.ascontiguousarray(bones.bases[left] + along, np.float32)
        inside[left] = np.abs(_windings(points, triangles) * share) > INSIDE
    return inside


def _windings(points: Floats, triangles: Floats) -> Floats:
    turns = np.empty(len(points), np.float32)

    def work(part: slice) -> None:
        kernel.winding_numbers(points[part], triangles, turns[part])

    threads.run_slices(work, len(points))
    return turns


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
