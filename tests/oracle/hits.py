"""Slow twins of the kernels of hit volumes: capsules as dense rows of balls."""

from __future__ import annotations

from typing import Any

import numpy as np


def place_volumes(world: Any, nodes: Any, local: Any) -> Any:
    """The kernel `place_volumes`: ends (H, 2, 3) of one body, world (J, 3, 4)."""
    placed = []
    for node, ends in zip(nodes, local, strict=True):
        matrix = world[node].astype(np.float64)
        placed.append([matrix[:, :3] @ end + matrix[:, 3] for end in ends])
    return np.array(placed).reshape(-1, 2, 3)


def segment_distance(one: Any, other: Any) -> float:
    """Metres between two segments (2, 3), by trying, then by refining the best."""
    from scipy.optimize import minimize

    def apart(shares: Any) -> float:
        a = one[0] + shares[0] * (one[1] - one[0])
        b = other[0] + shares[1] * (other[1] - other[0])
        return float(np.linalg.norm(a - b))

    tries = [(s, t) for s in np.linspace(0, 1, 9) for t in np.linspace(0, 1, 9)]
    first = min(tries, key=apart)
    found = minimize(
        lambda shares: apart(shares) ** 2, first, bounds=[(0, 1), (0, 1)], tol=1e-14
    )
    return min(apart(found.x), apart(first))


def find_hits(
    ends: Any, radii: Any, attacks: Any, target_ends: Any, others: Any
) -> Any:
    """The kernel `find_hits` for one attacker: the least gap, infinite for none."""
    gaps = [
        segment_distance(ends[h], target_ends[k]) - radii[h] - others[k]
        for h in range(len(radii))
        for k in range(len(others))
        if attacks[h] and radii[h] > 0 and others[k] > 0
    ]
    return min(gaps, default=float(np.inf))
