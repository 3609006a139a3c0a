"""Slow twins of the kernels by which limbs stop at trunks: one limb at a time.

Kernels: `find_near`, `place_near`, `push_limbs`, `find_grip`, `shove_trunks`,
`draw_back`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TRUNK, TIP, LOWER = 1, 2, 3


def find_near(places: Any) -> Any:
    """Who is within 1.7 m of another, and not higher or lower by 2.5 m: bool (N,)."""
    near = np.zeros(len(places), bool)
    for n, one in enumerate(places):
        for m, other in enumerate(places):
            far = np.linalg.norm((one - other)[[0, 2]])
            near[n] |= n != m and far <= 1.7 and abs(one[1] - other[1]) <= 2.5
    return near


def place_near(world: Any, nodes: Any, local: Any) -> Any:
    """Points (P, 2, 3) in frames of nodes (P,), in a world (J, 3, 4)."""
    frames = world[nodes].astype(np.float64)
    turned = np.einsum("pij,pej->pei", frames[..., :3], local)
    return turned + frames[:, None, :, 3]


def way_between(one: Any, other: Any) -> Any:
    """The shortest way from a segment (2, 3) to another."""
    from scipy.optimize import minimize

    def way(shares: Any) -> Any:
        a = one[0] + shares[0] * (one[1] - one[0])
        return other[0] + shares[1] * (other[1] - other[0]) - a

    tries = [(s, t) for s in np.linspace(0, 1, 5) for t in np.linspace(0, 1, 5)]
    first = min(tries, key=lambda shares: float(np.linalg.norm(way(shares))))
    found = minimize(
        lambda shares: float((way(shares) ** 2).sum()),
        first,
        bounds=[(0, 1), (0, 1)],
        tol=1e-15,
    )
    return way(found.x)


def push_limb(
    capsules: Any,
    radii: Any,
    parts: Any,
    trunk: Any,
    thick: Any,
    span: Any,
    folded: float,
) -> tuple[Any, float]:
    """The push (3,) of one limb, and how deep it is.

    capsules: (A, 2, 3) of the limb, radii: (A,), parts: (A,); trunk: (B, 2, 3) of
    others, thick: (B,); span: (2, 3), where the limb begins and ends; folded: metres
    between those when it is folded.
    """
    deepest, push = 0.012, np.zeros(3)
    length = np.linalg.norm(span[0] - span[1])
    back = (span[0] - span[1]) / length
    for other, wide in zip(trunk, thick, strict=True):
        for own, thin, part in zip(capsules, radii, parts, strict=True):
            way = way_between(other, own)
            away = float(np.linalg.norm(way))
            deep = thin + wide - away
            if deep <= deepest:
                continue
            deepest = deep
            out = way / max(away, 1e-9)
            along = float(out @ back)
            if length < 1.1 * folded:
                push = out * (deep - 0.006)
            elif along < 0:
                push = back * (thin + wide - away * along)
            else:
                both = (out + back) / np.linalg.norm(out + back)
                push = both * (deep - 0.006) / max(float(both @ out), 0.3)
            if part == LOWER:
                push = push / 0.65
    return push, deepest


def find_grip(
    capsules: Any, radii: Any, parts: Any, trunk: Any, thick: Any, span: Any
) -> Any:
    """Metres (3,) by which the end of a limb comes to lie on a trunk; None if one of
    them has no capsules. As for `push_limb`.
    """
    nearest, way = np.inf, None
    for own, thin, part in zip(capsules, radii, parts, strict=True):
        for other, wide in zip(trunk, thick, strict=True):
            apart = way_between(other, own)
            away = float(np.linalg.norm(apart))
            gap = away - thin - wide + 0.006
            if gap < nearest and (part != LOWER or gap < 0):
                nearest = gap
                way = -gap * apart / away / (0.65 if part == LOWER else 1.0)
    return way


def shove(mine: Any, thin: Any, theirs: Any, thick: Any, way: Any) -> float:
    """Metres along a unit way (2,) over the ground by which capsules (A, 2, 3) have to
    go until none is deeper than 1.2 cm in capsules (B, 2, 3): by trying.
    """

    def is_in(metres: float) -> bool:
        step = metres * np.array([way[0], 0.0, way[1]])
        return any(
            np.linalg.norm(way_between(other, own + step)) < a + b - 0.012
            for own, a in zip(mine, thin, strict=True)
            for other, b in zip(theirs, thick, strict=True)
        )

    low, high = 0.0, 1.0
    if not is_in(0.0):
        return 0.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if is_in(middle) else (low, middle)
    return high


def draw_back(way: Any, last: Any, wanted: Any, folded: float) -> Any:
    """How far (3,) one limb is drawn back that is to be by `wanted` (3,).

    way: (3,), from where it begins to where it ends; last: (3,), how far it was in the
    last tick; folded: metres between its ends when it is folded.
    """
    step = wanted - last
    size = np.linalg.norm(step)
    drawn = last + step * min(1.0, 0.3 / size) if size else wanted
    length = np.linalg.norm(way)
    along = way / length
    least = min(length, folded)
    return drawn + along * max(least - (way + drawn) @ along, 0.0)
