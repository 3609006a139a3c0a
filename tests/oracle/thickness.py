"""Thickness of points, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.shape.body import Pull
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections


def point_thickness(
    positions: Any, pull: Pull, bones: Bones, sections: Sections
) -> Any:
    """The mean radius of the bones that pull each point (P,), by weight."""
    whole = []
    for place, joints, weights in zip(
        positions, pull.joints, pull.weights, strict=True
    ):
        total, amount = 0.0, 0.0
        for joint, weight in zip(joints, weights, strict=True):
            if weight <= 0:
                continue
            frame = bones.frames[joint]
            x = float(np.dot(place - frame[:, 3], frame[:, 0]))
            length = float(bones.lengths[joint])
            share = min(max(x / length, 0.0), 1.0) if length > 0 else 0.5
            ends = [float(np.sqrt(y * z)) for y, z in sections.radii[joint]]
            total += float(weight) * (ends[0] * (1 - share) + ends[1] * share)
            amount += float(weight)
        if amount > 0:
            whole.append(total / amount)
        else:
            products = sections.radii[..., 0] * sections.radii[..., 1]
            whole.append(float(np.median(np.sqrt(products))))
    return np.array(whole)
