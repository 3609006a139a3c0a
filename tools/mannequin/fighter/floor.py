"""Bodies on the floor: the skin of a sheet, and what keeps it from going through."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from tools.mannequin.fighter.acting import Pose, act, fill
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet

_ROUNDS = 6
_TURN = 6.0  # of a knee, by the metres it is too low
_WIDE = 4  # frames over which a correction comes and goes
TRUNK = (
    *("hips", "spine", "chest", "neck", "l-shoulder", "r-shoulder"),
    *("l-hip", "r-hip"),
)
ARM = ("elbow-roll", "wrist", "hand", "thumb", "index", "middle", "ring", "pinky")
ELBOW = ("arm", "arm-roll", "elbow")
KNEE = ("hip-roll", "knee", "knee-roll")
FOOT = ("ankle", "foot", "toe")


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The skin at rest: points (V, 3), their joints (V, 4) and weights (V, 4)."""

    points: Doubles
    joints: Ints
    weights: Doubles


@cache
def shipped_body() -> Body:
    """The skin of the mannequin's file, as it is shipped."""
    import flexor

    (primitive,) = flexor.samples.mannequin().meshes[0].primitives
    skin = primitive.skin
    assert skin is not None
    return Body(
        primitive.positions.astype(np.float64),
        skin.joints.astype(np.int32),
        skin.weights.astype(np.float64),
    )


def skin_of(sheet: Sheet, rows: NDArray[np.intp] | None = None) -> Doubles:
    """Places (T, V, 3) of the skin, or of some of its vertices."""
    body, nodes, solved = shipped_body(), sheet.nodes, sheet.solve()
    pick = np.arange(len(body.points)) if rows is None else rows
    turned = solved.world @ np.swapaxes(nodes.frames, -1, -2)
    moved = solved.positions - np.einsum("tjab,jb->tja", turned, nodes.positions)
    out = np.zeros((len(sheet.times), len(pick), 3))
    for k in range(4):
        joint, weight = body.joints[pick, k], body.weights[pick, k]
        place = np.einsum("tvab,vb->tva", turned[:, joint], body.points[pick])
        out += weight[:, None] * (place + moved[:, joint])
    return out


@cache
def _rows(names: tuple[str, ...], all_names: tuple[str, ...]) -> NDArray[np.intp]:
    """Vertices of which most hangs on joints of these names, numbered or not."""
    body = shipped_body()
    own = [any(re.fullmatch(f"{n}[0-9]?", name) for n in names) for name in all_names]
    is_own = np.array(own)
    share = (is_own[body.joints] * body.weights).sum(1)
    return np.nonzero(share > 0.5)[0]


def lowest(sheet: Sheet, names: tuple[str, ...]) -> Doubles:
    """Height (T,) of the lowest vertex on joints of these names."""
    rows = _rows(names, sheet.nodes.names)
    return np.asarray(skin_of(sheet, rows)[:, :, 1].min(1))


def sided(side: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of one side's joints."""
    return tuple(f"{side}-{name}" for name in names)


def keep_above(
    sheet: Sheet, curves: Mapping[str, Doubles], *, lies: Doubles | None = None
) -> dict[str, Doubles]:
    """Lift hips, hands and feet out of the floor, softly; gives the new curves.

    lies: (T,), 0 to 1, how far the trunk is to rest on the floor: it is lowered, too.
    The first and the last pose of more than one stay as they are.
    """
    c = {name: curve.copy() for name, curve in curves.items()}
    count = len(sheet.times)
    ends = np.minimum(np.arange(count), np.arange(count)[::-1]) / _WIDE
    free = np.clip(ends, 0.0, 1.0) if count > 1 else np.ones(1)
    for _ in range(_ROUNDS):
        fill(sheet, c)
        low = lowest(sheet, TRUNK)
        rise = free * _softly(np.maximum(-low, 0.0))
        if lies is not None:
            rise = rise - free * lies * np.maximum(low, 0.0)
        c["hips"][:, 1] += rise
        for side in "lr":
            fill(sheet, c)
            # Knees and elbows turn out of the floor about the line of their limb.
            under = free * _softly(np.maximum(-lowest(sheet, sided(side, KNEE)), 0.0))
            knee = c[f"{side}-knee"]
            # No further than to the side: beyond that it would bend backwards.
            level = np.maximum(knee[:, 1], np.minimum(knee[:, 1] + _TURN * under, 0.05))
            knee[:, 1] = level
            c[f"{side}-way"] += _TURN * under[:, None] * _up_in(sheet, "hips")
            under = free * _softly(np.maximum(-lowest(sheet, sided(side, ELBOW)), 0.0))
            c[f"{side}-point"][:, 1] += _TURN * under
            c[f"{side}-elbow"] += _TURN * under[:, None] * _up_in(sheet, "chest")
            fill(sheet, c)
            under = np.maximum(-lowest(sheet, sided(side, FOOT)), 0.0)
            c[f"{side}-ball"][:, 1] += free * _softly(under)
            under = np.maximum(-lowest(sheet, sided(side, ARM)), 0.0)
            under = free * _softly(under)
            # Either place of the wrist may be the one that counts.
            c[f"{side}-palm"][:, 1] += under
            c[f"{side}-wrist"] += under[:, None] * _up_in(sheet, "chest")
    fill(sheet, c)
    return c


def _up_in(sheet: Sheet, name: str) -> Doubles:
    """The way up (T, 3) as seen by a joint that was turned from its rest."""
    row = sheet.nodes.index(name)
    turned = sheet.solve().world[:, row] @ sheet.nodes.frames[row].T
    return np.asarray(turned[:, 1])


def _softly(amount: Doubles) -> Doubles:
    """At least an amount (T,), rounded off over some frames on either side."""
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    if amount.max(initial=0.0) < 1e-5:
        return np.zeros_like(amount)
    wide = maximum_filter1d(amount, 2 * _WIDE + 1, mode="nearest")
    return np.asarray(gaussian_filter1d(wide, _WIDE / 2, mode="nearest"))


def settled(nodes: NodeTable, pose: Pose) -> Pose:
    """A pose that lies, with its trunk, feet and hands laid down on the floor."""
    sheet = new_sheet(nodes, 0.0)
    curves = act(sheet, start=pose)
    c = keep_above(sheet, curves, lies=np.ones(1))
    return {name: curve[0] for name, curve in c.items()}
