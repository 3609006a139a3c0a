"""How far the skin of a level of detail is from the whole one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.shape.closest_points import (
    SurfaceTree,
    closest_points,
    surface_tree,
)
from flexor.errors import ShapeError

__all__ = ["MOST_POSES", "MOST_VERTICES", "WholeSkin", "skin_error", "thin_out"]

MOST_POSES = 6
MOST_VERTICES = 2500  # that are looked at in a pose, and as many triangles


@dataclass(frozen=True, slots=True, eq=False)
class WholeSkin:
    """The skin that levels are compared with, in poses.

    rows: int32 (P,), vertices that the points that are looked at are, or are near to;
    points: float32 (N, P, 3), where they are: vertices, and middles of triangles, or a
    limb with vertices at its ends alone could vanish unseen; trees: N, of all its
    triangles, none where it has no triangles; extent: metres, of the largest pose.
    """

    rows: Ints
    points: Floats
    trees: tuple[SurfaceTree, ...]
    extent: float

    @classmethod
    def of(cls, places: Floats, faces: Ints) -> WholeSkin:
        """A skin with vertices at places (N, V, 3) and triangles (F, 3).

        Of many vertices and triangles evenly chosen ones are looked at; vertices that
        are in no triangle are not.
        """
        used = thin_out(np.unique(faces), MOST_VERTICES)
        some = faces[thin_out(np.arange(len(faces), dtype=np.int32), MOST_VERTICES)]
        if not used.size or not len(places):
            return cls(used[:0], np.zeros((len(places), 0, 3), np.float32), (), 0.0)
        return cls(
            np.concatenate([used, some[:, 0]]),
            np.concatenate([places[:, used], places[:, some].mean(2)], 1),
            tuple(surface_tree(pose[faces]) for pose in places),
            float(np.ptp(places[:, used], axis=1).max()),
        )


def skin_error(
    whole: WholeSkin,
    places: Floats,
    faces: Ints,
    *,
    limit: float = np.inf,
    away: NDArray[np.float64] | None = None,
) -> tuple[float, float]:
    """Metres that a level is off, in the mean and at worst.

    places: float32 (N, W, 3), vertices in the poses of `whole`, with the level's own
    weights; faces: int32 (F, 3), the level's triangles. In every pose: how far points
    of the whole skin are from the level's triangles, and how far corners and middles of
    these are from the whole skin; the larger of both means, and the worst of all. A
    level without triangles is as far off as the skin is large; where the whole skin has
    none, nothing is off.

    limit: metres; a pose in which something is further off is the last that is looked
    at. away: float64 (P,), raised to how far each of the points of the whole skin is
    off at worst.
    """
    if len(places) != len(whole.points):
        raise ShapeError(
            f"places: {len(places)} poses, the whole skin has {len(whole.points)}"
        )
    if not whole.trees:
        return 0.0, 0.0
    if not len(faces):
        return whole.extent, whole.extent
    used = thin_out(np.unique(faces), MOST_VERTICES)
    some = faces[thin_out(np.arange(len(faces), dtype=np.int32), MOST_VERTICES)]
    means, worst = [], 0.0
    for tree, points, pose in zip(whole.trees, whole.points, places, strict=True):
        own = np.concatenate([pose[used], pose[some].mean(1)])
        there = closest_points(pose[faces], points)[2]
        back = closest_points(tree, own)[2]
        if away is not None:
            np.maximum(away, there, out=away)
        means.append((there.mean(), back.mean()))
        worst = max(worst, float(there.max()), float(back.max()))
        if worst > limit:
            break
    return float(np.mean(means, axis=0).max()), worst


def thin_out(rows: Ints, most: int) -> Ints:
    """At most `most` of rows (R,), evenly chosen."""
    if len(rows) <= most:
        return rows
    return rows[np.arange(most) * len(rows) // most]
