"""What an eye sees of skin that deforms badly: folds, and triangles torn or squeezed.

A triangle is torn where it is stretched to more than twice its length at rest along any
way of it, and squeezed where less than half of that is left; an edge is folded where
its two triangles turn away from each other by more than 120 degrees. What stands so at
rest already is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Doubles, Floats, Ints
from flexor.convert.shape.body import Body
from flexor.convert.shape.kernels import strain as kernel
from flexor.convert.shape.surface import Surface
from flexor.maths import threads

__all__ = ["Strain", "StrainForm", "find_strain", "make_form"]

TORN, SQUEEZED = 2.0, 0.5  # stretches beyond which a triangle is
FOLDED = -0.5  # cosine of the angle beyond which an edge is: 120 degrees
FLAT = 1e-4  # of its longest side: a triangle that is less high has no shape


@dataclass(frozen=True, slots=True, eq=False)
class StrainForm:
    """The triangles of a body as strain is measured on them; F of them, E edges.

    points: int32 (P,), the vertices that stand for points; faces: int32 (F, 3), rows
    among points; flat: float32 (F, 3), see the kernel; areas: float64 (F,), at rest,
    square metres; sides: int32 (E, 3), see the kernel; cosines: float32 (E,), at rest.
    """

    points: Ints
    faces: Ints
    flat: Floats
    areas: Doubles
    sides: Ints
    cosines: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Strain:
    """What the skin suffers in N poses.

    folded: bool (N, E); torn, squeezed: bool (N, F); bad: float32 (N, F), from 0 for a
    triangle that is as it should be to 1 for one that is wholly spoilt.
    """

    folded: Bools
    torn: Bools
    squeezed: Bools
    bad: Floats


def make_form(body: Body, surface: Surface, rest: Floats) -> StrainForm:
    """The form of a body; surface: its own, by place; rest: (V, 3), deformed at rest.

    Triangles are measured against those of the bind pose, in the size that the body has
    at rest: files whose rest is not their bind pose may stand strained at rest.
    """
    faces = surface.point_of_vertex[body.faces]
    bound = surface.positions.astype(np.float64)
    u, v = (
        bound[faces[:, 1]] - bound[faces[:, 0]],
        bound[faces[:, 2]] - bound[faces[:, 0]],
    )
    long = np.sqrt(np.maximum((u * u).sum(1), ((v * v).sum(1))))
    double = np.linalg.norm(np.cross(u, v), axis=1)
    has_shape = double > FLAT * np.maximum(long, 1e-30) ** 2
    faces, u, v = faces[has_shape], u[has_shape], v[has_shape]
    size = _growth(faces, rest[surface.vertex_of_point], double[has_shape])
    length = np.linalg.norm(u, axis=1)
    along = (u * v).sum(1) / length
    high = double[has_shape] / length
    flat = np.stack([1 / length, -along / (length * high), 1 / high], 1) / size
    sides, cosines = _sides(faces, bound)
    return StrainForm(
        surface.vertex_of_point,
        np.ascontiguousarray(faces, np.int32),
        flat.astype(np.float32),
        double[has_shape] / 2 * size**2,
        sides,
        cosines,
    )


def find_strain(form: StrainForm, places: Floats) -> Strain:
    """The strain of a body whose vertices are at `places`, float32 (N, V, 3)."""
    count, faces = len(places), len(form.faces)
    stretches = np.empty((count, faces, 2), np.float32)
    cosines = np.empty((count, len(form.sides)), np.float32)
    bad = np.empty((count, faces), np.float32)
    own = np.ascontiguousarray(places[:, form.points])

    def work(part: slice) -> None:
        kernel.measure_strain(
            own[part],
            form.faces,
            form.flat,
            form.sides,
            form.cosines,
            np.empty((faces, 3), np.float32),
            stretches[part],
            cosines[part],
            bad[part],
        )

    threads.run_slices(work, count)
    folded = (cosines < FOLDED) & (form.cosines - cosines > kernel.MORE)
    return Strain(folded, stretches[..., 0] > TORN, stretches[..., 1] < SQUEEZED, bad)


def _growth(faces: Ints, rest: Floats, double: Doubles) -> float:
    """How much longer the body is at rest than in its bind pose: of the median face."""
    corners = rest[faces].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    with np.errstate(all="ignore"):
        ratios = np.sqrt(np.linalg.norm(across, axis=1) / double)
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.median(ratios)) if len(ratios) else 1.0


def _sides(faces: Ints, places: Doubles) -> tuple[Ints, Floats]:
    """Pairs of triangles that share an edge with no third, and their cosines there."""
    begin, end = faces.ravel().astype(np.int64), np.roll(faces, -1, 1).ravel()
    count = int(faces.max(initial=0)) + 1
    keys = np.minimum(begin, end) * count + np.maximum(begin, end)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    is_first = np.diff(keys, prepend=-1) != 0
    starts = np.flatnonzero(is_first)
    two = starts[np.diff(np.append(starts, len(keys))) == 2]
    one, other = order[two], order[two + 1]
    sign = np.where(begin[one] == begin[other], -1, 1)
    sides = np.stack([one // 3, other // 3, sign], 1).astype(np.int32)
    corners = places[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-30)
    cosines = (across[sides[:, 0]] * across[sides[:, 1]]).sum(1) * sign
    return sides, cosines.astype(np.float32)
