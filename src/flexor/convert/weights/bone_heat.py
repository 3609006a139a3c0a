"""Weights as the equilibrium of heat along a surface, with bones as its sources.

Baran and Popovic, "Automatic Rigging and Animation of 3D Characters", 2007: each point
is heated by the nearest bone that it sees, and heat flows along the skin. So bones
compete along the body and never through the air.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flexor.arrays import Bools, Doubles, Floats, Ints
from flexor.convert.shape.solid import Solid, list_faces
from flexor.convert.weights.choose_bones import BoneLines
from flexor.convert.weights.kernels import heat as kernel
from flexor.maths import threads

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = [
    "Heat",
    "face_normals",
    "find_heat",
    "largest_weights",
    "make_laplacian",
    "solve_heat",
    "turn_outward",
]

STRENGTH = 4.0  # of H = strength / distance^2; the paper's 1 blends wider than artists
TIE = 1e-4  # bones no further than the nearest and this part of it share a point
SHARED = 4  # bones at most that share a point
NEAREST = 1e-4  # of the size: no bone is nearer to the skin
SLIVER = 1e-3  # of its longest side: no triangle counts as flatter
LOST = 1e-9  # of 1 / area: what keeps a piece without heat from being singular
MOST = 8  # bones a point
ROWS = 8192  # points whose weights are sorted at once
COLD = 0.01  # a sum of weights below this is no answer
BLOCK = 32  # bones that are solved for at once
DROP, FADE = 0.025, 0.05  # weights below the first are dropped, up to the second faded


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """What heats each of P points: sources: int32 (P, M), of the bones, -1 for none;
    amounts: float64 (P,), 1 / square metres, 0 where there is no source; nearest: int32
    (P,), the nearest bone, in sight or not.
    """

    sources: Ints
    amounts: Doubles
    nearest: Ints


def find_heat(
    points: Doubles,
    faces: Ints,
    normals: Doubles,
    pieces: Ints,
    homes: Bools,
    lines: BoneLines,
    solid: Solid,
) -> Heat:
    """The bones that heat each point: the nearest, if it is in sight.

    points, normals: (P, 3); faces: (F, 3), turned outward; pieces: (P,), rows of homes:
    (K, B), which bones may heat which piece. A piece that sees none of its bones is
    heated by those nearest to each of its points.
    """
    size = max(float(np.ptp(points, axis=0).max(initial=0)), 1e-30)
    cells = np.ascontiguousarray((points - solid.low) / solid.step)
    bones, starts, ends = lines.with_forks()
    axes = np.ascontiguousarray((ends - starts) / solid.step)
    starts = np.ascontiguousarray((starts - solid.low) / solid.step)
    in_cells = list_faces(solid, points, faces)
    sources = np.empty((len(points), SHARED), np.int32)
    nearest, far = np.empty(len(points), np.int32), np.empty(len(points))

    def work(part: slice) -> None:
        kernel.find_sources(
            part.start,
            cells,
            normals,
            pieces,
            homes,
            bones,
            starts,
            axes,
            solid.filled,
            faces,
            *in_cells,
            TIE,
            sources[part],
            nearest[part],
            far[part],
        )

    threads.run_slices(work, len(points))
    count = np.count_nonzero(sources >= 0, axis=1)
    is_lost = (np.bincount(pieces, count, len(homes)) == 0)[pieces]
    sources[is_lost, 0] = nearest[is_lost]
    count[is_lost] = 1
    metres = np.maximum(far * solid.step, NEAREST * size)
    return Heat(sources, count * STRENGTH / metres**2, nearest)


def make_laplacian(
    points: Doubles, faces: Ints, seams: Ints
) -> tuple[csc_array[Any, Any], Doubles]:
    """Stiffness (P, P) by cotangents, and the area of each point (P,), square metres.

    faces: (F, 3), no corner twice; seams: (E, 2), points that touch and are not joined
    by a face: heat passes there as along a side of well-shaped triangles.

    The stiffness is the energy of what is linear on each triangle, so it has no
    negative eigenvalue whatever the triangles are: many at an edge, none behind it, cut
    by others, without area. Areas are of what is nearest to each corner (Meyer and
    others, "Discrete Differential-Geometry Operators", 2003).
    """
    from scipy.sparse import coo_array, diags_array

    count = len(points)
    corners = points[faces]
    across = [corners[:, (k + 2) % 3] - corners[:, (k + 1) % 3] for k in range(3)]
    squares = np.stack([np.einsum("fc,fc->f", way, way) for way in across])
    double = np.linalg.norm(np.cross(across[0], across[1]), axis=1)
    # All three by one number, or a triangle without area could take energy away.
    least = np.maximum(double, SLIVER * squares.max(0, initial=0)) + 1e-300
    cotangents = np.stack(
        [
            -np.einsum("fc,fc->f", across[(k + 1) % 3], across[(k + 2) % 3]) / least
            for k in range(3)
        ]
    )
    is_obtuse = (cotangents < 0).any(0)
    areas = np.zeros(count)
    for k in range(3):
        one, other = (k + 1) % 3, (k + 2) % 3
        round_corner = (
            cotangents[one] * squares[one] + cotangents[other] * squares[other]
        ) / 8
        halved = np.where(cotangents[k] < 0, double / 4, double / 8)
        mine = np.where(is_obtuse, halved, round_corner)
        areas += np.bincount(faces[:, k], mine, count)
    first = np.concatenate([faces[:, 1], faces[:, 2], faces[:, 0]])
    second = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    first = np.concatenate([first, seams[:, 0]])
    second = np.concatenate([second, seams[:, 1]])
    flows = np.concatenate([cotangents.ravel() / 2, np.ones(len(seams))])
    half = coo_array((flows, (first, second)), (count, count)).tocsr()
    edges = half + half.T
    whole = diags_array(np.asarray(edges.sum(1)).ravel()) - edges
    usual = float(areas.mean()) if areas.any() else 1.0
    return whole.tocsc(), np.maximum(areas, 1e-9 * usual)


def turn_outward(points: Doubles, faces: Ints, normals: Doubles) -> Ints:
    """The triangles (F, 3), all turned over where most look inward.

    normals: (P, 3), those of the file: they only say which side is outward, for the
    surface as a whole.
    """
    flat = _flat_normals(points, faces)
    is_inward = bool((flat * normals[faces].sum(1)).sum() < 0)
    turned = faces[:, ::-1] if is_inward else faces
    out: Ints = np.ascontiguousarray(turned, np.int32)
    return out


def face_normals(points: Doubles, faces: Ints) -> Doubles:
    """The normal of each point by the triangles around it, (P, 3), unit or zero.

    Each triangle counts alike; normals of a file may be bent for the sake of shading.
    """
    flat = _flat_normals(points, faces)
    sums = np.zeros_like(points)
    for axis in range(3):
        for k in range(3):
            sums[:, axis] += np.bincount(faces[:, k], flat[:, axis], len(points))
    return _unit(sums)


def _flat_normals(points: Doubles, faces: Ints) -> Doubles:
    a, b, c = (points[faces[:, k]] for k in range(3))
    return _unit(np.cross(b - a, c - a))


def _unit(ways: Doubles) -> Doubles:
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    out: Doubles = np.zeros_like(ways)
    np.divide(ways, lengths, out=out, where=lengths > 1e-30)
    return out


def solve_heat(
    stiffness: csc_array[Any, Any], areas: Doubles, heat: Heat, bone_count: int
) -> Floats:
    """How warm each bone makes each point: float32 (P, B), rows sum to about 1."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    weights = np.zeros((len(areas), bone_count), np.float32)
    held = areas * (heat.amounts + LOST / max(float(areas.sum()), 1e-30))
    system = (stiffness + diags_array(held)).tocsc()
    # It is symmetric and positive, so any order of elimination is sound.
    factor = splu(
        system,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    shares = np.count_nonzero(heat.sources >= 0, axis=1)
    flow = areas * heat.amounts / np.maximum(shares, 1)
    for start in range(0, bone_count, BLOCK):
        width = min(BLOCK, bone_count - start)
        given = np.zeros((len(areas), width))
        rows, places = np.nonzero(
            (heat.sources >= start) & (heat.sources < start + width)
        )
        given[rows, heat.sources[rows, places] - start] = flow[rows]
        weights[:, start : start + width] = factor.solve(given)
    # What no heat has reached, such as a part that hangs on by a hair, takes the
    # nearest bone.
    is_cold = ~(weights.sum(1) >= COLD)
    weights[is_cold] = 0
    weights[is_cold, heat.nearest[is_cold]] = 1
    return weights


def largest_weights(weights: Floats) -> tuple[Ints, Doubles]:
    """Of each row of (P, B) the largest: bones int32 and weights float64, (P, K).

    What is too small to be seen is left out, and what is little more faded; rows sum
    to 1, largest first, 0 where there are no more. At most MOST bones a point.
    """
    most = min(MOST, weights.shape[1])
    bones = np.empty((len(weights), most), np.int32)
    amounts = np.empty((len(weights), most))
    for start in range(0, len(weights), ROWS):
        part = slice(start, start + ROWS)
        whole = np.maximum(weights[part].astype(np.float64), 0)
        whole /= np.maximum(whole.sum(1, keepdims=True), 1e-300)
        order = np.argsort(-whole, axis=1, kind="stable")[:, :most]
        kept = np.take_along_axis(whole, order, 1)
        faded = np.where(kept < FADE, np.maximum(kept - DROP, 0) * 2, kept)
        faded = np.where(faded.any(1, keepdims=True), faded, kept)
        bones[part] = order
        amounts[part] = faded / np.maximum(faded.sum(1, keepdims=True), 1e-300)
    return bones, amounts
