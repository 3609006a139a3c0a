"""Whole poses one after the other: clips that leave the guard, lie or are held.

A pose is a mapping of channels to values, metres and degrees in model space:

- hips: place of the hips; tilt, spine, neck, head: degrees forward, left, to right;
- l-ball: place of the toe joint; l-foot: yaw, pitch and roll of the foot; l-toe: bend
  of the toes; l-knee: the way the knee points;
- l-air: place of the ankle from the hips, carried by them as if they stood upright;
  l-way: the way of the knee, l-drop: pitch of the foot, both carried like that;
  l-float: how much these three count rather than the four before;
- l-wrist, l-elbow: place and way as `guard_arms` takes them, carried by the chest;
- l-palm, l-point: the same on the ground, not carried; l-hold: how much these count;
- l-hand: the ways of the fingers and of the palm; l-flat: how much that counts;
- l-fist: how far the hand is closed; l-lift: degrees by which the shoulder is raised;

and the same with "r-". What a pose does not name stays as in the pose before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from tools.mannequin.guard import (
    HIPS,
    HIPS_YAW,
    LEFT_ELBOW,
    LEFT_WRIST,
    LEFT_YAW,
    RIGHT_ELBOW,
    RIGHT_PITCH,
    RIGHT_WRIST,
    RIGHT_YAW,
    guard_arms,
)
from tools.mannequin.rig import Limb, Sheet
from tools.mannequin.rotation import frame, mix, turn
from tools.mannequin.stances import close_fist, keyed, turn_spine

Pose = Mapping[str, ArrayLike]

_L_KNEE, _R_KNEE = np.deg2rad(LEFT_YAW + 6.0), np.deg2rad(RIGHT_YAW + 4.0)
GUARD: Pose = {
    "hips": (HIPS[0], 0.955 + HIPS[1], HIPS[2] - 0.005),
    "tilt": (3.0, HIPS_YAW, 0.0),
    "spine": (5.0, -4.0, 0.0),
    "neck": (4.0, 12.0, 0.0),
    "head": (-4.0, 18.0, 0.0),
    "l-ball": (0.105, 0.024, 0.29),
    "r-ball": (-0.165, 0.024, -0.13),
    "l-foot": (LEFT_YAW, 0.0, 0.0),
    "r-foot": (RIGHT_YAW, RIGHT_PITCH, 0.0),
    "l-toe": 0.0,
    "r-toe": -RIGHT_PITCH,
    "l-knee": (np.sin(_L_KNEE), 0.0, np.cos(_L_KNEE)),
    "r-knee": (np.sin(_R_KNEE), 0.0, np.cos(_R_KNEE)),
    "l-air": (0.11, -0.80, 0.05),
    "r-air": (-0.11, -0.80, 0.05),
    "l-way": (0.05, 0.0, 1.0),
    "r-way": (-0.05, 0.0, 1.0),
    "l-drop": -30.0,
    "r-drop": -30.0,
    "l-float": 0.0,
    "r-float": 0.0,
    "l-wrist": LEFT_WRIST,
    "r-wrist": RIGHT_WRIST,
    "l-elbow": LEFT_ELBOW,
    "r-elbow": RIGHT_ELBOW,
    "l-palm": (0.45, 0.05, 0.0),
    "r-palm": (-0.45, 0.05, 0.0),
    "l-point": (1.0, 0.0, 0.0),
    "r-point": (-1.0, 0.0, 0.0),
    "l-hold": 0.0,
    "r-hold": 0.0,
    "l-hand": (0.0, 0.0, 1.0, 0.0, -1.0, 0.0),
    "r-hand": (0.0, 0.0, 1.0, 0.0, -1.0, 0.0),
    "l-flat": 0.0,
    "r-flat": 0.0,
    "l-fist": 1.0,
    "r-fist": 1.0,
    "l-lift": 0.0,
    "r-lift": 0.0,
}
# Toe joints below this, metres, stand; what goes less far between two keys stays.
_LOW, _STANDS = 0.08, 0.004
_PLACES = ("hips", "l-ball", "r-ball", "l-palm", "r-palm")


def moved(pose: Pose, x: float = 0.0, z: float = 0.0) -> Pose:
    """A pose with all that stands or lies on the ground moved over it."""
    shift = np.array([x, 0.0, z])
    return {
        name: np.asarray(value) + shift if name in _PLACES else value
        for name, value in pose.items()
    }


def mirrored(pose: Pose) -> Pose:
    """A pose with left and right changed over."""
    found: dict[str, ArrayLike] = {}
    flip = np.array([-1.0, 1.0, 1.0])
    for name, value in pose.items():
        side, _, part = name.partition("-")
        other = {"l": "r", "r": "l"}.get(side)
        own = np.asarray(value, np.float64)
        if part in ("ball", "knee", "wrist", "elbow", "palm", "point", "air", "way"):
            own = own * flip
        elif part == "hand":
            own = own * np.tile(flip, 2)
        elif part == "foot":
            own = own * (-1.0, 1.0, -1.0)
        elif name == "hips":
            own = own * flip
        elif other is None:
            own = own * (1.0, -1.0, -1.0)
        found[name if not part else f"{other}-{part}"] = own
    return found


def act(
    sheet: Sheet,
    *keys: tuple[float, Pose],
    start: Pose = GUARD,
    late: Mapping[str, float] | None = None,
    extra: Mapping[str, Sequence[tuple[float, ArrayLike]]] | None = None,
) -> dict[str, Doubles]:
    """Fill a sheet from poses at their times; the first is `start` at 0 s.

    late: by channel, seconds by which all but its first and last keys come later, so
    that one part follows the other; extra: keys of single channels in place of those
    of the poses. Gives the curves by channel.
    """
    t, late = sheet.times, dict(late or {})
    rows: list[tuple[float, dict[str, ArrayLike]]] = [(0.0, dict(start))]
    for at, pose in keys:
        unknown = set(pose) - set(GUARD)
        if unknown:
            raise KeyError(f"no such channels: {sorted(unknown)}")
        rows.append((at, {**rows[-1][1], **pose}))
    _reach_early(rows)
    curves = {}
    end = rows[-1][0]
    for name in GUARD:
        own = list(dict(extra or {}).get(name, ()))
        if not own:
            delay = late.get(name, 0.0)
            own = [
                (at if row in (0, len(rows) - 1) else at + delay, pose[name])
                for row, (at, pose) in enumerate(rows)
            ]
            own = [key for key in own[:-1] if key[0] < end - 1e-3] + own[-1:]
        curves[name] = keyed(t, *own) if len(own) > 1 else _held(t, own[0][1])
        if name.endswith("-ball"):
            _step(t, own, curves[name])
    fill(sheet, curves)
    return curves


def _reach_early(rows: list[tuple[float, dict[str, ArrayLike]]]) -> None:
    """Where hands will be on the ground counts before it counts: nothing swings."""
    for side in "lr":
        names = [f"{side}-{part}" for part in ("palm", "point", "hand")]
        for (_, pose), (_, after) in reversed(list(pairwise(rows))):
            if not pose[f"{side}-hold"] and not pose[f"{side}-flat"]:
                pose.update({name: after[name] for name in names})


def _step(t: Doubles, keys: Sequence[tuple[float, ArrayLike]], ball: Doubles) -> None:
    """Lift a foot that goes from one place on the ground to another on its way."""
    for (start, a), (end, b) in pairwise(keys):
        one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
        far = float(np.hypot(*(other - one)[[0, 2]]))
        if max(one[1], other[1]) > _LOW or far < _STANDS:
            continue
        own = (t >= start) & (t <= end)
        u = np.clip(((t[own] - start) / (end - start) - 0.06) / 0.88, 0.0, 1.0)
        gone = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
        ball[own] = one + gone[:, None] * (other - one)
        ball[own, 1] += (0.012 + min(0.22 * far, 0.05)) * np.sin(np.pi * u)


def _held(t: Doubles, value: ArrayLike) -> Doubles:
    own = np.asarray(value, np.float64)
    return np.broadcast_to(own, (len(t), *own.shape)).copy()


def fill(sheet: Sheet, curves: Mapping[str, Doubles]) -> None:
    """Set all of a sheet, which is emptied first, from curves by channel (T, ...)."""
    for store in (sheet.deltas, sheet.limbs, sheet.feet, sheet.hands):
        store.clear()
    c = curves
    sheet.hips = c["hips"].copy()
    for name in ("neck", "head"):
        sheet.lean(name, *c[name].T)
    sheet.lean("hips", *c["tilt"].T)
    turn_spine(sheet, *c["spine"].T)
    for side in "lr":
        _leg(sheet, side, c)
        lift, fist = c[f"{side}-lift"], c[f"{side}-fist"]
        flat = c[f"{side}-flat"]
        close_fist(sheet, side, fist)
        base = (6.0, 6.0) if side == "l" else (5.0, 5.0)
        sheet.bend(f"{side}-shoulder", y=base[0] + lift, z=base[1])
        sheet.pronate(side, 28.0)
        sheet.bend(f"{side}-wrist", y=4.0, z=-4.0)
        sign = 1.0 if side == "l" else -1.0
        ways = c[f"{side}-hand"]
        along, palm = ways[:, :3], sign * ways[:, 3:]
        across = np.cross(palm, along)
        sheet.hands[f"{side}-wrist"] = (frame(along, across), flat)
    wrists = {s: c[f"{s}-wrist"] for s in "lr"}
    elbows = {s: c[f"{s}-elbow"] for s in "lr"}
    guard_arms(
        sheet,
        wrists["l"],
        wrists["r"],
        left_elbow=elbows["l"],
        right_elbow=elbows["r"],
    )
    for side in "lr":
        carried, hold = sheet.limbs[f"{side}-arm"], c[f"{side}-hold"][:, None]
        palm, point = c[f"{side}-palm"], c[f"{side}-point"]
        sheet.limbs[f"{side}-arm"] = Limb(
            carried.target + hold * (palm - carried.target),
            carried.pole + hold * (point - carried.pole),
        )


def _leg(sheet: Sheet, side: str, c: Mapping[str, Doubles]) -> None:
    """One leg by its toe joint, the turn of its foot and the way of its knee."""
    nodes = sheet.nodes
    ankle, toes = (
        nodes.positions[nodes.index(f"{side}-{n}")] for n in ("ankle", "toe")
    )
    yaw, pitch, roll = np.deg2rad(c[f"{side}-foot"]).T
    turned = turn("y", yaw) @ turn("x", -pitch) @ turn("z", roll)
    target = c[f"{side}-ball"] + turned @ (ankle - toes)
    knee, carried = c[f"{side}-knee"], sheet.deltas["hips"]
    share = c[f"{side}-float"]
    air = c["hips"] + np.einsum("tij,tj->ti", carried, c[f"{side}-air"])
    way = np.einsum("tij,tj->ti", carried, c[f"{side}-way"])
    part = share[:, None]
    target, knee = target + part * (air - target), knee + part * (way - knee)
    hangs = carried @ turn("x", -np.deg2rad(c[f"{side}-drop"]))
    sheet.limbs[f"{side}-hip"] = Limb(target, knee)
    sheet.feet[f"{side}-ankle"] = mix(turned, hangs, share)
    sheet.bend(f"{side}-toe", z=c[f"{side}-toe"])
