"""What of a body is shown to people: its bones without links, their cross-sections, and
which of them pull which vertices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.shape.body import Body, body_surface, joint_parents, merge_same
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections, derive_shape
from flexor.maths import transforms
from flexor.scene.character.skeleton import Skeleton

__all__ = [
    "Anatomy",
    "Ties",
    "derive_anatomy",
    "find_ties",
    "merge_links",
    "section_rings",
    "spread_rows",
]

LEAST_TIE = 0.02  # a weight less than this is no tie to show


@dataclass(frozen=True, slots=True, eq=False)
class Anatomy:
    """A body whose links are merged into their joints.

    bones, sections: of its S joints, see there; frames: float64 (S, 3, 4),
    joint_from_bone: X along the bone, in the frame of the joint's node.
    """

    body: Body
    bones: Bones
    sections: Sections
    frames: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """T pairs of a vertex and a bone that pulls it.

    vertices: int32 (T,), rows in the body; joints: int32 (T,), rows among its joints;
    points: float64 (T, 3), the place on the bone that is nearest to the vertex in the
    bind pose, in the frame of the joint's node; weights: float32 (T,).
    """

    vertices: Ints
    joints: Ints
    points: NDArray[np.float64]
    weights: NDArray[np.float32]


def derive_anatomy(body: Body, skeleton: Skeleton) -> Anatomy:
    """Bones and cross-sections of a body without its links."""
    whole = merge_links(body, skeleton)
    shape = derive_shape(whole, body_surface(whole))
    joint_from_mesh = transforms.invert(whole.frames)
    frames = transforms.multiply(joint_from_mesh, shape.bones.frames)
    return Anatomy(whole, shape.bones, shape.sections, frames)


def merge_links(body: Body, skeleton: Skeleton) -> Body:
    """The body without links: what hangs on a link hangs on its joint."""
    rows = body.joint_rows(skeleton.links)
    kept = np.flatnonzero(rows == np.arange(len(rows)))
    if len(kept) == len(rows):
        return body
    place = np.full(len(rows), -1, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    given = body.pull.joints
    names = np.where(given >= 0, place[rows[given]], -1).astype(np.int32)
    joints = body.joints[kept]
    return replace(
        body,
        joints=joints,
        names=tuple(body.names[row] for row in kept),
        parents=joint_parents(skeleton, joints),
        frames=body.frames[kept],
        pull=merge_same(names, body.pull.weights),
    )


def section_rings(anatomy: Anatomy, count: int) -> NDArray[np.float64]:
    """Points on the ellipses of every bone, (S, 2, count, 3), at base and tip, in the
    frame of the joint's node.
    """
    turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
    around = np.stack([np.cos(turns), np.sin(turns)], 1)
    sections = anatomy.sections
    rings = np.zeros((len(anatomy.frames), 2, count, 3))
    rings[:, 1, :, 0] = anatomy.bones.lengths[:, None]
    rings[..., 1:] = sections.offsets[:, :, None] + sections.radii[:, :, None] * around
    return _placed(anatomy.frames[:, None, None], rings)


def find_ties(anatomy: Anatomy, vertices: Ints) -> Ties:
    """Every bone that pulls some vertices of the body, the strongest last."""
    pull = anatomy.body.pull.take(vertices)
    rows, columns = np.nonzero((pull.weights >= LEAST_TIE) & (pull.joints >= 0))
    weights = pull.weights[rows, columns]
    order = np.argsort(weights, kind="stable")
    rows, columns, weights = rows[order], columns[order], weights[order]
    joints = pull.joints[rows, columns]
    frames = anatomy.bones.frames[joints]
    away = anatomy.body.positions[vertices[rows]] - frames[:, :, 3]
    along = (away * frames[:, :, 0]).sum(1)
    points = np.zeros((len(rows), 3))
    points[:, 0] = np.clip(along, 0, anatomy.bones.lengths[joints])
    points = _placed(anatomy.frames[joints], points)
    return Ties(vertices[rows], joints, points, weights)


def spread_rows(points: NDArray[np.floating], most: int) -> NDArray[np.intp]:
    """At most so many of the points (P, 3), evenly spread in space, in rising order; of
    points in one place one.

    They are the first in each cell of a grid as fine as gives no more than that.
    """
    places, first = np.unique(points, axis=0, return_index=True)
    if len(first) <= most:
        return np.sort(first)
    low, size = places.min(0), float(np.ptp(places, axis=0).max())
    best, fine, coarse = first[:1], most, 1
    while coarse <= fine:  # cells along the longest side
        cells = (coarse + fine) // 2
        inside = np.floor((points[first] - low) * (cells / size)).astype(np.int64)
        _, rows = np.unique(inside, axis=0, return_index=True)
        if len(rows) <= most:
            best, coarse = first[rows], cells + 1
        else:
            fine = cells - 1
    return np.sort(best)


def _placed(
    frames: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Points (..., 3) taken by frames (..., 3, 4)."""
    turned = (frames[..., :3] * points[..., None, :]).sum(-1)
    placed: NDArray[np.float64] = turned + frames[..., 3]
    return placed
