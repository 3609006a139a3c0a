"""Records of arrays that the reaching kernel takes.

N characters, B bones, K points that are drawn to goals, M effectors.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles, Floats, Ints

__all__ = ["Chains", "Memory", "Work"]


class Chains(NamedTuple):
    """What reaches: bones: (B, 5), table: (B, 19), effectors: (M, 5), columns in
    `kernels.descent`; point_lanes: (K,), the lane whose translation a point is, or -1;
    base: the node whose frame the first bone is in, -1 for the character's place;
    is_chain: one point, free bones in a row, the first willing.
    """

    bones: Annotated[Ints, "[:, ::1]"]
    table: Annotated[Doubles, "[:, ::1]"]
    effectors: Annotated[Ints, "[:, ::1]"]
    point_lanes: Annotated[Ints, "[::1]"]
    base: int
    is_chain: bool


class Work(NamedTuple):
    """pulls: (K, 4), points in the frames of their bones, and weights; then work space:
    bones: (B, 44) and pairs: (B * K, 15), columns in `kernels.descent`; ends, goals:
    (K, 3); ways: (M, 3); system: (3 K, 3 K); right, homeward: (3 K,).
    """

    pulls: Annotated[Doubles, "out [:, ::1]"]
    bones: Annotated[Doubles, "out [:, ::1]"]
    pairs: Annotated[Doubles, "out [:, ::1]"]
    ends: Annotated[Doubles, "out [:, ::1]"]
    goals: Annotated[Doubles, "out [:, ::1]"]
    ways: Annotated[Doubles, "out [:, ::1]"]
    system: Annotated[Doubles, "out [:, ::1]"]
    right: Annotated[Doubles, "out [::1]"]
    homeward: Annotated[Doubles, "out [::1]"]


class Memory(NamedTuple):
    """What is left of a call: started: (N,), whether there was one; last: (N, 4 B),
    rotations; off: (N, M), metres; passes: (N,).
    """

    started: Annotated[Bytes, "out [::1]"]
    last: Annotated[Floats, "out [:, ::1]"]
    off: Annotated[Floats, "out [:, ::1]"]
    passes: Annotated[Ints, "out [::1]"]
