"""The steps between passes of descent as kernels of their own.

Within the library they are stages of one large kernel. Called from Python they would be
compiled in every run anew, which takes much longer than to test them; kernels are kept.
"""

from __future__ import annotations

from typing import Any

from flexor.maths.kernels.jit import jit
from flexor.pose.ik.kernels import descent, least, steps

__all__ = [
    "bend",
    "centre",
    "clamp",
    "is_balanced",
    "measure",
    "step_all",
    "step_home",
    "step_within",
    "stretch",
    "swing",
]


@jit(
    "f8(i4[:, ::1], f8[:, ::1], i8, out f8[:, ::1], out f8[:, ::1], out f8[:, ::1],"
    " f8[:, ::1])"
)
def measure(
    bones: Any, pulls: Any, at: int, work: Any, pairs: Any, ends: Any, goals: Any
) -> float:
    return descent.measure(bones, pulls, at, work, pairs, ends, goals)


@jit("void(f8[:, ::1], i8, f8, f8, f8, f8, out f8[::1])")
def clamp(
    table: Any, b: int, x: float, y: float, z: float, w: float, turn: Any
) -> None:
    turn[0], turn[1], turn[2], turn[3] = descent.clamp(table, b, x, y, z, w)


@jit(
    "bool(i4[:, ::1], f8[:, ::1], f8[:, ::1], f8, out f8[:, ::1], out f8[:, ::1],"
    " out f8[:, ::1], f8[:, ::1], out f8[:, ::1], out f8[::1])"
)
def step_all(
    bones: Any,
    table: Any,
    pulls: Any,
    damping: float,
    work: Any,
    pairs: Any,
    ends: Any,
    goals: Any,
    system: Any,
    right: Any,
) -> bool:
    return least.step_all(
        bones, table, pulls, damping, work, pairs, ends, goals, system, right
    )


@jit(
    "i8(i4[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, f8, out f8[:, ::1],"
    " out f8[:, ::1], out f8[:, ::1], f8[:, ::1], out f8[:, ::1], out f8[::1],"
    " out f8[::1])"
)
def step_home(
    bones: Any,
    table: Any,
    pulls: Any,
    part_of: float,
    slack: float,
    damping: float,
    work: Any,
    pairs: Any,
    ends: Any,
    goals: Any,
    system: Any,
    right: Any,
    homeward: Any,
) -> int:
    return least.step_home(
        bones,
        table,
        pulls,
        part_of,
        slack,
        damping,
        work,
        pairs,
        ends,
        goals,
        system,
        right,
        homeward,
    )


@jit(
    "i8(i4[:, ::1], f8[:, ::1], f8[:, ::1], f8, out f8[:, ::1], out f8[:, ::1],"
    " out f8[:, ::1], f8[:, ::1], out f8[:, ::1], out f8[::1])"
)
def step_within(
    bones: Any,
    table: Any,
    pulls: Any,
    damping: float,
    work: Any,
    pairs: Any,
    ends: Any,
    goals: Any,
    system: Any,
    right: Any,
) -> int:
    return least.step_within(
        bones, table, pulls, damping, work, pairs, ends, goals, system, right
    )


@jit("i8(i4[:, ::1], f8[:, ::1], out f8[:, ::1], out f8[:, ::1], f8[:, ::1])")
def stretch(bones: Any, table: Any, work: Any, pairs: Any, goals: Any) -> int:
    return steps.stretch(bones, table, work, pairs, goals)


@jit("void(i4[:, ::1], f8[:, ::1], f8, out f8[:, ::1])")
def bend(bones: Any, table: Any, angle: float, work: Any) -> None:
    steps.bend(bones, table, angle, work)


@jit("bool(i4[:, ::1], f8[:, ::1], out f8[:, ::1])")
def centre(bones: Any, table: Any, work: Any) -> bool:
    return steps.centre(bones, table, work)


@jit(
    "bool(i4[:, ::1], f8[:, ::1], f8[:, ::1], out f8[:, ::1], out f8[:, ::1],"
    " out f8[:, ::1], f8[:, ::1])"
)
def is_balanced(
    bones: Any, table: Any, pulls: Any, work: Any, pairs: Any, ends: Any, goals: Any
) -> bool:
    return steps.is_balanced(bones, table, pulls, work, pairs, ends, goals)


@jit(
    "bool(i4[:, ::1], f8[:, ::1], i4[:, ::1], i8, f8[:, ::1], i8, out f8[:, ::1],"
    " out f8[:, ::1])"
)
def swing(
    bones: Any,
    table: Any,
    effectors: Any,
    m: int,
    poles: Any,
    count: int,
    work: Any,
    pairs: Any,
) -> bool:
    return steps.swing(bones, table, effectors, m, poles, count, work, pairs)
