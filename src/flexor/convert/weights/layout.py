"""Records of arrays that the easing kernel takes.

P points, F triangles, N poses, S joints.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Floats, Ints

__all__ = ["ROOM", "EaseMesh", "EaseRules", "EaseWork"]

ROOM = 24  # joints that pull a point or its neighbours; more are left aside


class EaseMesh(NamedTuple):
    """What does not change: bound: (P, 3), places in the bind pose; given: (N,
    P, 3), where the weights that were given put each point; thick: (P,), how thick the
    body is around it, metres; matrices: (N, S, 3,
    4), world_from_bind of each joint; starts: (P + 1,), neighbours: those of each point
    along the surface; face_starts: (P + 1,), face_list: triangles around each point;
    faces: (F, 3); flat: (F, 3), areas: (F,), see StrainForm; beside: (F, 3), the
    triangle beyond each side, or -1; signs, cosines: (F, 3), see StrainForm.
    """

    bound: Annotated[Floats, "[:, ::1]"]
    given: Annotated[Floats, "[:, :, ::1]"]
    thick: Annotated[Floats, "[::1]"]
    matrices: Annotated[Floats, "[:, :, :, ::1]"]
    starts: Annotated[Ints, "[::1]"]
    neighbours: Annotated[Ints, "[::1]"]
    face_starts: Annotated[Ints, "[::1]"]
    face_list: Annotated[Ints, "[::1]"]
    faces: Annotated[Ints, "[:, ::1]"]
    flat: Annotated[Floats, "[:, ::1]"]
    areas: Annotated[Floats, "[::1]"]
    beside: Annotated[Ints, "[:, ::1]"]
    signs: Annotated[Floats, "[:, ::1]"]
    cosines: Annotated[Floats, "[:, ::1]"]


class EaseRules(NamedTuple):
    """smooth, keep: what it costs that weights differ from the mean of the neighbours',
    and that a point is a thickness away from where it was; step: how much of a weight
    is given away at once.
    """

    smooth: float
    keep: float
    step: float


class EaseWork(NamedTuple):
    """Work space: names: (3, ROOM); amounts: (5, ROOM); normals: (2, 3)."""

    names: Annotated[Ints, "out [:, ::1]"]
    amounts: Annotated[Floats, "out [:, ::1]"]
    normals: Annotated[Floats, "out [:, ::1]"]
