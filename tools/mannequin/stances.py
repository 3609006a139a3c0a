"""What the actions share: keyed curves, planted feet, the guard and fists."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from tools.mannequin.nodes import FINGERS
from tools.mannequin.rig import SIDES, Limb, Sheet
from tools.mannequin.rotation import turn

_FIST = {"thumb": (22.0, 38.0, 48.0), "finger": (70.0, 86.0, 62.0)}


def keyed(times: Doubles, *keys: tuple[float, ArrayLike]) -> Doubles:
    """Curve (T, ...) through (time, value) keys, resting at every turning point."""
    from scipy.interpolate import PchipInterpolator

    at = np.array([key[0] for key in keys])
    values = np.array([np.asarray(key[1], np.float64) for key in keys])
    curve = PchipInterpolator(at, values, axis=0)
    return np.asarray(curve(np.clip(times, at[0], at[-1])))


def steered(times: Doubles, *keys: tuple[float, float, float]) -> Doubles:
    """Curve (T,) through (time, value, slope) keys; held beyond the ends."""
    from scipy.interpolate import CubicHermiteSpline

    at, values, slopes = np.array(keys).T
    return np.asarray(
        CubicHermiteSpline(at, values, slopes)(np.clip(times, at[0], at[-1]))
    )


def place_foot(
    sheet: Sheet,
    side: str,
    ball: Doubles,
    *,
    yaw: ArrayLike = 0.0,
    pitch: ArrayLike = 0.0,
    knee_out: ArrayLike = 0.0,
    knee_up: ArrayLike = 0.0,
    toe: ArrayLike | None = None,
) -> None:
    """Set a foot by its toe joint: ball (T, 3) metres, angles in degrees.

    yaw turns the toes to the left, pitch lifts them; below zero pitch the heel rises
    and the toes stay flat, unless `toe` gives their bend. knee_out adds to yaw for the
    knee alone; knee_up raises the way it points, for a body that lies.
    """
    nodes, count = sheet.nodes, len(sheet.times)
    ankle, toes = (
        nodes.positions[nodes.index(f"{side}-{n}")] for n in ("ankle", "toe")
    )
    spread = np.broadcast_to(np.asarray(yaw, np.float64), (count,))
    tilt = np.broadcast_to(np.asarray(pitch, np.float64), (count,))
    turned = turn("y", np.deg2rad(spread)) @ turn("x", np.deg2rad(-tilt))
    target = ball + turned @ (ankle - toes)
    knee = np.deg2rad(spread + np.asarray(knee_out))
    lift = np.deg2rad(np.maximum(np.clip(tilt, 0.0, 80.0), knee_up))
    level = np.cos(lift)
    pole = np.stack([np.sin(knee) * level, np.sin(lift), np.cos(knee) * level], axis=1)
    sheet.limbs[f"{side}-hip"] = Limb(target, pole)
    sheet.feet[f"{side}-ankle"] = turned
    sheet.bend(f"{side}-toe", z=np.maximum(-tilt, 0.0) if toe is None else toe)


def reach(sheet: Sheet, side: str, wrist: Doubles, elbow_to: ArrayLike) -> None:
    """Set an arm by its wrist (T, 3), the elbow pointing to `elbow_to` (3,)."""
    pole = np.broadcast_to(np.asarray(elbow_to, np.float64), wrist.shape)
    sheet.limbs[f"{side}-arm"] = Limb(wrist, pole)


def turn_spine(
    sheet: Sheet, x: ArrayLike = 0, y: ArrayLike = 0, z: ArrayLike = 0
) -> None:
    """Spread a bend of the trunk, degrees about model axes, over three joints."""
    for name, share in (("spine0", 0.30), ("spine1", 0.35), ("chest", 0.35)):
        sheet.lean(name, *(share * np.asarray(angle) for angle in (x, y, z)))


def close_fist(sheet: Sheet, sides: Sequence[str], amount: ArrayLike = 1.0) -> None:
    """Curl the fingers; amount 0 open to 1 closed, one number or (T,)."""
    share = np.asarray(amount, np.float64)
    for side in sides:
        for finger in FINGERS:
            kind = "thumb" if finger == "thumb" else "finger"
            for i, angle in enumerate(_FIST[kind]):
                sheet.bend(f"{side}-{finger}{i}", z=share * angle)


def toe_rest(sheet: Sheet, side: str, x: float, z: float) -> Doubles:
    """Place (T, 3) of a planted toe joint at ground coordinates x, z (metres)."""
    height = sheet.nodes.positions[sheet.nodes.index("l-toe"), 1]
    point = np.array([SIDES[side] * x, height, z])
    return np.broadcast_to(point, (len(sheet.times), 3)).copy()
