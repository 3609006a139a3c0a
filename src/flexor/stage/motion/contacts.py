"""When clips have feet planted, found once from where soles go.

A clip of which the soles that are low go back steadily is one that goes, and is made to
be carried over the ground at that speed; a foot is planted while it goes along with
that ground. In all other clips a foot is planted while it is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.maths import exact
from flexor.stage.motion.layout import AHEAD, BEHIND, PLANTED, Contacts

__all__ = ["RATE", "ClipContacts", "find_contacts", "join_contacts"]

RATE = 60  # moments a second
LOW = 0.025  # metres above the lowest that soles get: a foot as low stands
GOING = 0.3  # metres a second that the ground goes by, at least
AGREE, MOST = 0.35, 0.7  # of that speed; of the moments in which a foot is low
FAST = 0.5  # of that speed by which a planted foot may differ
LONGEST = 10.0  # seconds: what does not change


@dataclass(frozen=True, slots=True, eq=False)
class ClipContacts:
    """When a clip has M feet planted.

    plans: float32 (T, M, 3), sixty times a second: 1 where a foot is planted, seconds
    until that changes and since it has; holds: float64 (M,), seconds that it is planted
    without a break; way: float64 (2,), metres a second to the left and ahead, at which
    the clip is made to be carried.
    """

    plans: Floats
    holds: Doubles
    way: Doubles


def find_contacts(soles: Doubles, *, loops: bool) -> ClipContacts:
    """Find them in soles (T, M, K, 3), metres in the character's frame, NaN for points
    that there are none; loops: whether the clip goes on at its end where it began.
    """
    count, feet = soles.shape[:2]
    high = np.where(np.isnan(soles[..., 1]), np.inf, soles[..., 1])
    low = high.argmin(2)
    rows, columns = np.arange(count)[:, None], np.arange(feet)
    lowest = high[rows, columns, low]
    is_low = lowest <= LOW + min(float(lowest.min(initial=0.0)), 0.0)
    speeds = np.zeros((count, feet, 2))
    if count > 1:
        after = np.minimum(np.arange(count) + 1, count - 1)
        ways = soles[after][rows, columns, low] - soles[rows, columns, low]
        speeds = ways[..., [0, 2]] * RATE
        speeds[-1] = speeds[0] if loops else speeds[-2]
    way = _find_way(speeds[is_low])
    if way.any():
        off = speeds + way
        size = exact.hypot(float(way[0]), float(way[1]))
        is_low &= exact.hypot_each(off[..., 0], off[..., 1]) <= FAST * size
    plans = np.zeros((count, feet, 3), np.float32)
    holds = np.zeros(feet)
    for m in range(feet):
        _fill(plans[:, m], is_low[:, m], loops)
        stays = plans[is_low[:, m], m]
        holds[m] = (
            float(np.median(stays[:, AHEAD] + stays[:, BEHIND])) if len(stays) else 0.0
        )
    return ClipContacts(plans, holds, way)


def _find_way(speeds: Doubles) -> Doubles:
    """Metres a second at which a clip is carried, of speeds (P, 2) of low soles."""
    none = np.zeros(2)
    if not len(speeds):
        return none
    middle = np.median(speeds, axis=0)
    size = exact.hypot(float(middle[0]), float(middle[1]))
    if size < GOING:
        return none
    off = speeds - middle
    agrees = exact.hypot_each(off[:, 0], off[:, 1]) <= AGREE * size
    return none if agrees.mean() < MOST else -np.median(speeds[agrees], axis=0)


def _fill(plan: Floats, is_down: NDArray[np.bool_], loops: bool) -> None:
    """Seconds until a foot is lifted or put down, and since, in a plan (T, 3)."""
    plan[:, PLANTED] = is_down
    count = len(is_down)
    if not (is_down != is_down[0]).any():
        plan[:, AHEAD] = plan[:, BEHIND] = LONGEST
        return
    for column, order in ((AHEAD, range(count - 1, -1, -1)), (BEHIND, range(count))):
        since, last = LONGEST, None
        for _ in range(2 if loops else 1):
            for t in order:
                is_same = last is None or is_down[t] == last
                since = min(since + 1 / RATE, LONGEST) if is_same else 1 / RATE
                last = is_down[t]
                plan[t, column] = since


def join_contacts(found: Sequence[ClipContacts | None], limbs: int) -> Contacts:
    """Those of all clips as kernels take them; None: of one nothing is known."""
    rows = np.zeros((len(found), 2), np.int32)
    holds, ways = np.zeros((len(found), limbs)), np.zeros((len(found), 2))
    plans, first = [np.zeros((1, limbs, 3), np.float32)], 1
    for clip, own in enumerate(found):
        if own is None:
            continue
        rows[clip] = first, len(own.plans)
        holds[clip], ways[clip] = own.holds, own.way
        plans.append(own.plans)
        first += len(own.plans)
    return Contacts(rows, np.concatenate(plans), holds, ways)
