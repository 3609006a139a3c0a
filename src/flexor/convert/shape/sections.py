"""Cross-sections: how thick a body is around the base and the tip of each bone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.convert.shape.body import Body, Pull, body_surface
from flexor.convert.shape.bones import Bones, derive_bones, ties
from flexor.convert.shape.surface import Surface
from flexor.maths import exact

__all__ = ["Sections", "Shape", "body_shape", "derive_sections", "derive_shape"]

LEAST_TIES = 6  # fewer vertices say nothing about an ellipse
LEAST_WEIGHT = 0.3  # what hangs on a bone less than this is not around it
NEAR = 0.35  # of the bone's length: how far from an end vertices speak for that end
SPREAD = (0.08, 0.92)  # quantiles between which an ellipse spans


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """Ellipses around the S bones of a body, across their X axis.

    radii, offsets: float64 (S, 2, 2), at base and tip, along Y and Z of the bone's
    frame, metres; an offset is where the middle of the ellipse is. known: bool (S,),
    False where a bone has no vertices around it and took its neighbours' thickness.
    """

    radii: NDArray[np.float64]
    offsets: NDArray[np.float64]
    known: NDArray[np.bool_]

    @property
    def thickness(self) -> NDArray[np.float64]:
        """The mean radius at base and tip, (S, 2), metres."""
        return np.sqrt(self.radii[..., 0] * self.radii[..., 1])


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A body as its weights make it: pull: of the surface's points."""

    surface: Surface
    pull: Pull
    bones: Bones
    sections: Sections


def body_shape(body: Body) -> Shape:
    """Surface, bones and cross-sections of a body."""
    return derive_shape(body, body_surface(body))


def derive_shape(body: Body, surface: Surface) -> Shape:
    """Bones and cross-sections of a body; surface: of the body, by place or not."""
    pull = body.pull.take(surface.vertex_of_point)
    bones = derive_bones(body, surface.positions, pull)
    sections = derive_sections(surface.positions, pull, bones, body.size)
    return Shape(surface, pull, bones, sections)


def derive_sections(
    positions: NDArray[np.floating], pull: Pull, bones: Bones, size: float
) -> Sections:
    """Cross-sections by the R positions (R, 3) and what pulls them.

    size: of the body, metres: no radius is less than 1e-3 of it.
    """
    count = len(bones.lengths)
    radii = np.zeros((count, 2, 2))
    offsets = np.zeros((count, 2, 2))
    known = np.zeros(count, bool)
    for bone, rows in enumerate(ties(pull, count)):
        mine = np.where(pull.joints[rows] == bone, pull.weights[rows], 0).sum(1)
        rows = rows[mine >= LEAST_WEIGHT]
        if len(rows) < LEAST_TIES:
            continue
        local = bones.local(bone, positions[rows])
        known[bone] = True
        for end in range(2):
            near = _near_end(local[:, 0], bones.lengths[bone], end)
            low, high = _quantiles(local[near, 1:])
            # A circle between these quantiles of a coordinate is that much larger.
            radii[bone, end] = (high - low) / 2 / exact.cos(np.pi * SPREAD[0])
            offsets[bone, end] = (high + low) / 2
    _fill(radii, known, bones)
    return Sections(np.maximum(radii, 1e-3 * size), offsets, known)


def _quantiles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quantiles of SPREAD of each column of (R, C), (2, C), to the bit as those of
    np.quantile, which takes three times as long.
    """
    ordered = np.sort(values, axis=0)
    at = np.array(SPREAD)[:, None] * (len(values) - 1)
    before = np.floor(at).astype(np.intp)[:, 0]
    low, high = ordered[before], ordered[np.minimum(before + 1, len(values) - 1)]
    share, step = at - before[:, None], high - low
    out: NDArray[np.float64] = np.where(
        share < 0.5, low + step * share, high - step * (1 - share)
    )
    return out


def _near_end(along: NDArray[np.float64], length: float, end: int) -> NDArray[np.bool_]:
    """Which of the vertices, by their X, speak for an end: those close to it, else the
    closest.
    """
    away = np.abs(along - end * length)
    near = away <= NEAR * length
    if np.count_nonzero(near) >= LEAST_TIES:
        return near
    few: NDArray[np.bool_] = away <= np.partition(away, LEAST_TIES - 1)[LEAST_TIES - 1]
    return few


def _fill(radii: NDArray[np.float64], known: NDArray[np.bool_], bones: Bones) -> None:
    """Give bones without vertices a quarter of their length, or what bones have."""
    usual = np.median(radii[known]) if known.any() else 0.0
    for bone in np.flatnonzero(~known):
        radii[bone] = 0.25 * bones.lengths[bone] or usual
