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


def place_box(ends: Any, radii: Any) -> Any:
    """What the kernel `place_boxes` must not be smaller than: low and high (6,)."""
    low = [(ends[h] - radii[h]).min(0) for h in range(len(radii))]
    high = [(ends[h] + radii[h]).max(0) for h in range(len(radii))]
    return np.concatenate([np.min(low, 0), np.max(high, 0)])


def aim(
    kind: str | None, is_hitting: bool, has_met: bool, met: int, is_out: bool, down: str
) -> tuple[int, int]:
    """The kernel `aim` for one: bits of whom its attack meets, and how it shows itself.

    kind: of its move; met: bits of that; is_out: beaten, or in a throw; down: "up" on
    its feet.
    """
    stands, crouches, jumps, lies = 1, 2, 4, 8
    shows = stands if down == "up" else lies
    if is_hitting and down == "up":
        shows = {"crouch": crouches, "jump": jumps}.get(kind or "", stands)
    meets = met if kind == "attack" and is_hitting and not has_met else 0
    return meets, 0 if is_out or down == "held" else shows


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


def may_meet(n: int, m: int, meets: Any, shows: Any, teams: Any) -> bool:
    """Whether an attack of n would meet m, if m were in its way."""
    is_mate = teams[n] >= 0 and teams[n] == teams[m]
    return n != m and bool(meets[n] & shows[m]) and not is_mate


def meeting_share(
    kind: str | None,
    phase: str,
    wait: float,
    can_be: bool,
    has_met: bool,
    is_opened: bool,
    left: float,
    rest: float,
    way: Any,
    heading: float,
    ahead: float,
) -> float:
    """The kernel `find_meeting` for one pair: how much of the way to an attack a hand
    is to go.

    kind, phase: of the other's move; wait: ticks until that can hit; is_opened: whether
    it was parried by this one's parry that runs; left: ticks that the parry holds; way:
    to the other.
    """
    away = float(np.hypot(way[0], way[2]))
    if away > 1.8:
        return 0.0
    if is_opened:
        return float(np.clip(left / rest, 0, 1))
    is_attack = kind == "attack" and can_be and not has_met
    if not is_attack or phase not in ("start", "hit"):
        return 0.0
    look = np.array([np.sin(heading), 0, np.cos(heading)])
    if float(look @ (way * (1, 0, 1))) < ahead * away:
        return 0.0
    return float(np.clip(1 - wait / 8, 0, 1))
