"""How thick a body is around each of its points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.convert.shape.body import Pull
from flexor.convert.shape.bones import Bones, ties
from flexor.convert.shape.sections import Sections

__all__ = ["bone_thickness", "point_thickness"]


def point_thickness(
    positions: NDArray[np.floating], pull: Pull, bones: Bones, sections: Sections
) -> NDArray[np.float64]:
    """The radius of the body around P points, float64 (P,), metres.

    positions: (P, 3), in the space of the bones; pull: of these points. The mean of
    what the bones that pull a point are thick beside it, by weight; where nothing
    pulls, the median of all bones. More than 0 unless there are no bones.
    """
    count = len(bones.lengths)
    amounts = np.zeros(len(positions))
    sums = np.zeros(len(positions))
    for bone, rows in enumerate(ties(pull, count)):
        if not len(rows):
            continue
        mine = np.where(pull.joints[rows] == bone, pull.weights[rows], 0.0).sum(1)
        along = bones.local(bone, positions[rows])[:, 0]
        sums[rows] += mine * bone_thickness(along, bones.lengths[bone], sections, bone)
        amounts[rows] += mine
    usual = float(np.median(sections.thickness)) if count else 0.0
    whole = np.full(len(positions), usual)
    np.divide(sums, amounts, out=whole, where=amounts > 0)
    return whole


def bone_thickness(
    along: NDArray[np.float64], length: float, sections: Sections, bone: int
) -> NDArray[np.float64]:
    """The radius of a bone at places along it, (P,), metres.

    along: (P,), metres from the base; before the base and beyond the tip it is that of
    the end, and for a bone without length the mean of both.
    """
    base, tip = sections.thickness[bone]
    # A length so small that to divide by it overflows is none.
    if length <= 1e-30:
        return np.full(len(along), (base + tip) / 2)
    share = np.clip(along, 0, length) / length
    out: NDArray[np.float64] = base + share * (tip - base)
    return out
