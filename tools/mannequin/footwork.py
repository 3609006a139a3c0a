"""Sidestep and spinning kick, by keys an animator would set.

Times in seconds, angles in degrees, places in metres. Both are done in the guard; the
kick starts and ends in it.
"""

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.gait import wave
from tools.mannequin.guard import (
    LEFT_ELBOW,
    LEFT_WRIST,
    LEFT_YAW,
    RIGHT_ELBOW,
    RIGHT_PITCH,
    RIGHT_WRIST,
    RIGHT_YAW,
    between,
    guard_arms,
    guard_hands,
    guard_trunk,
    left_toe,
    right_toe,
)
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Limb, Sheet, new_sheet
from tools.mannequin.rotation import (
    mix,
    turn,
)
from tools.mannequin.stances import keyed, place_foot

SIDESTEP_SPEED = 1.1
"""Metres a second to the left."""

_CYCLE = 0.6
# Seconds a foot is in the air, and when each leaves the ground: the right one before
# the left has landed, or the legs would be spread by a whole step.
_SWING, _LEFT_OFF, _RIGHT_OFF = 0.26, 0.06, 0.20
# Where the left foot lands, and how far from it the right foot then does.
_LEFT_LANDS, _APART = 0.36, 0.18


def make_sidestep(nodes: NodeTable) -> Sheet:
    """Skip to the left at 1.1 m/s, 0.6 s a step: left foot first, never crossed."""
    sheet = new_sheet(nodes, _CYCLE)
    phase = sheet.times / _CYCLE
    air = (_RIGHT_OFF + _LEFT_OFF + _SWING) / 2 / _CYCLE
    bob, surge = wave(phase, 1.0, air), wave(phase, 1.0, air - 0.25)
    none = np.zeros_like(phase)
    guard_trunk(
        sheet,
        np.stack([0.014 * surge, -0.024 + 0.017 * bob, none], 1),
        hips=np.stack([none, 2.0 * surge, -3.0 - 2.5 * surge], 1),
        spine=np.stack([2.0 - 2.0 * bob, -1.5 * surge, 1.0 + 3.0 * surge], 1),
        neck=np.stack([none, -0.3 * surge, none], 1),
        head=np.stack([0.6 * bob, -0.2 * surge, 1.0 + none], 1),
    )
    left, right = left_toe(sheet), right_toe(sheet)
    lag = SIDESTEP_SPEED * (_RIGHT_OFF - _LEFT_OFF)
    left[:, 0], right[:, 0] = _LEFT_LANDS, _LEFT_LANDS - lag - _APART
    left_step, left_heel = _side_step(sheet.times, _LEFT_OFF)
    right_step, right_heel = _side_step(sheet.times, _RIGHT_OFF)
    pitch = left_heel - 10.0
    place_foot(sheet, "l", left + left_step, yaw=LEFT_YAW, pitch=pitch, knee_out=8.0)
    pitch = right_heel + RIGHT_PITCH
    place_foot(sheet, "r", right + right_step, yaw=RIGHT_YAW, pitch=pitch, knee_out=2.0)
    late = wave(phase, 1.0, air + 0.08)
    rise = np.stack([none, 0.006 - 0.008 * late, none], 1)
    guard_arms(sheet, np.asarray(LEFT_WRIST) + rise, np.asarray(RIGHT_WRIST) + rise)
    guard_hands(sheet)
    return sheet


def _side_step(times: Doubles, off: float) -> tuple[Doubles, Doubles]:
    """One foot from its landing place (T, 3) and its added pitch (T,).

    Carried to the right at the clip's speed while it is down. It swings to the left
    gently at both ends, so that it does not rub over the ground it is close to.
    """
    own = (times - off) % _CYCLE
    u = np.clip(own / _SWING, 0.0, 1.0)
    gone = SIDESTEP_SPEED * _CYCLE * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2) - 1.0)
    across = gone - SIDESTEP_SPEED * (own - _SWING)
    height = 0.055 * np.sin(np.pi * u) ** 2
    # The keys overlap by a part of the cycle on either side, so that it closes.
    pitch = keyed(
        own,
        (-0.14, 8),
        (0, -8),
        (0.06, -14),
        (0.20, -2),
        (0.26, 0),
        (0.34, 10),
        (0.46, 8),
        (0.60, -8),
        (0.66, -14),
    )
    return np.stack([across, height, np.zeros_like(own)], 1), pitch


def make_spin_kick(nodes: NodeTable) -> Sheet:
    """Once round to the right on the left foot, right heel in front at 0.50 s.

    The leg is out from 0.42 s, on the character's left, to 0.57 s, on its right; the
    foot is down again at 0.90 s, the guard is reached at 1.1 s.
    """
    sheet = new_sheet(nodes, 1.1)
    t = sheet.times
    # Everything is set as if the body did not turn, then turned about the left foot.
    _spin_trunk(sheet, t)
    _spin_arms(sheet, t)
    lag = keyed(t, (0, 0), (0.12, 8), (0.30, 26), (0.52, 30), (0.75, 8), (0.92, 0))
    heel = keyed(t, (0, 0), (0.10, -4), (0.20, -22), (0.58, -20), (0.80, -3), (0.92, 0))
    stand = left_toe(sheet)
    place_foot(sheet, "l", stand, yaw=LEFT_YAW + lag, pitch=heel, knee_out=6.0)
    _spin_leg(sheet, t)
    angle = keyed(
        t,
        (0, 0),
        (0.10, 0),
        (0.20, -52),
        (0.32, -145),
        (0.42, -212),
        (0.50, -268),
        (0.58, -312),
        (0.70, -344),
        (0.88, -360),
        (1.1, -360),
    )
    _spin(sheet, stand[0], turn("y", np.deg2rad(angle)))
    _hang_foot(sheet, t)
    guard_hands(sheet)
    return sheet


def _spin_trunk(sheet: Sheet, t: Doubles) -> None:
    over = keyed(
        t, (0, 0), (0.08, 0.06), (0.24, 0.85), (0.36, 1), (0.58, 1), (0.92, 0), (1.1, 0)
    )
    dip = keyed(t, (0, 0), (0.10, -0.030), (0.24, 0), (0.92, -0.020), (1.1, 0))
    shift = over[:, None] * np.array([0.030, 0.070, 0.235])
    shift[:, 1] += dip
    hips = keyed(
        t,
        (0, (0, 0, 0)),
        (0.09, (3, 8, 0)),
        (0.22, (2, -8, -5)),
        (0.36, (-2, 20, -20)),
        (0.50, (-4, 32, -36)),
        (0.58, (-3, 30, -36)),
        (0.75, (3, 10, -10)),
        (0.94, (2, 0, 0)),
        (1.1, (0, 0, 0)),
    )
    spine = keyed(
        t,
        (0, (0, 0, 0)),
        (0.09, (4, 7, 0)),
        (0.25, (3, -16, -3)),
        (0.50, (0, -14, -10)),
        (0.62, (4, 8, -6)),
        (0.90, (3, 0, 0)),
        (1.1, (0, 0, 0)),
    )
    # The eyes stay on the other as long as they can, then come round before the body.
    look = keyed(
        t,
        (0, 0),
        (0.09, -4),
        (0.18, 24),
        (0.30, -72),
        (0.50, -84),
        (0.62, -70),
        (0.86, 0),
        (1.1, 0),
    )
    tilt = keyed(t, (0, 0), (0.30, 4), (0.50, 14), (0.60, 12), (0.86, 0), (1.1, 0))
    neck = np.stack([0 * t, 0.4 * look, 0.4 * tilt], 1)
    head = np.stack([0 * t, 0.6 * look, 0.6 * tilt], 1)
    guard_trunk(sheet, shift, hips=hips, spine=spine, neck=neck, head=head)


def _spin_arms(sheet: Sheet, t: Doubles) -> None:
    left = keyed(
        t,
        (0, LEFT_WRIST),
        (0.10, (0.05, 1.34, 0.36)),
        (0.28, (0.07, 1.33, 0.33)),
        (0.50, (0.14, 1.29, 0.33)),
        (0.60, (0.14, 1.29, 0.33)),
        (0.92, LEFT_WRIST),
        (1.1, LEFT_WRIST),
    )
    right = keyed(
        t,
        (0, RIGHT_WRIST),
        (0.10, (-0.09, 1.33, 0.25)),
        (0.28, (-0.12, 1.33, 0.23)),
        (0.50, (-0.38, 1.16, 0.05)),
        (0.60, (-0.38, 1.14, 0.03)),
        (0.92, RIGHT_WRIST),
        (1.1, RIGHT_WRIST),
    )
    out = keyed(t, (0, 0), (0.10, 0), (0.45, 1), (0.60, 1), (0.92, 0), (1.1, 0))
    guard_arms(
        sheet,
        left,
        right,
        left_elbow=between(LEFT_ELBOW, (0.5, -1.0, -0.1), out),
        right_elbow=between(RIGHT_ELBOW, (-0.6, -0.8, -0.5), out),
    )


def _spin_leg(sheet: Sheet, t: Doubles) -> None:
    """The kicking leg by its ankle, and its foot as it stands before and after."""
    pitch = keyed(
        t, (0, -24), (0.05, -26), (0.12, -56), (0.76, -56), (0.86, -40), (0.96, -24)
    )
    place_foot(
        sheet,
        "r",
        right_toe(sheet),
        yaw=RIGHT_YAW,
        pitch=pitch,
        knee_out=4.0,
        toe=-pitch * keyed(t, (0.09, 1), (0.22, 0), (0.74, 0), (0.86, 1)),
    )
    stands, knee_stands = sheet.limbs["r-hip"].target, sheet.limbs["r-hip"].pole[0]
    swings = keyed(
        t,
        (0.08, (-0.12, 0.27, -0.17)),
        (0.18, (-0.17, 0.38, 0.00)),
        (0.28, (-0.15, 0.55, 0.20)),
        (0.36, (-0.40, 0.74, 0.48)),
        (0.43, (-0.70, 0.96, 0.44)),
        (0.50, (-0.855, 1.07, 0.20)),
        (0.56, (-0.81, 0.98, 0.05)),
        (0.64, (-0.53, 0.86, -0.06)),
        (0.76, (-0.22, 0.42, -0.15)),
        (0.88, (-0.11, 0.22, -0.19)),
    )
    ankle = stands + _in_air(t)[:, None] * (swings - stands)
    knee = keyed(
        t,
        (0, knee_stands),
        (0.10, knee_stands),
        (0.28, (-0.45, 0.35, 0.80)),
        (0.43, (-0.10, 0.30, 0.90)),
        (0.50, (0, 0.20, 1)),
        (0.64, (-0.40, 0.20, 0.90)),
        (0.90, knee_stands),
        (1.1, knee_stands),
    )
    sheet.limbs["r-hip"] = Limb(ankle, knee)


def _in_air(t: Doubles) -> Doubles:
    """How far the kicking foot is on its way rather than on the ground, 0 to 1."""
    return keyed(t, (0.085, 0), (0.17, 1), (0.80, 1), (0.90, 0))


def _spin(sheet: Sheet, pivot: Doubles, turned: Doubles) -> None:
    """Turn the whole figure about the vertical through `pivot`, by (T, 3, 3)."""

    def around(vectors: Doubles) -> Doubles:
        return np.asarray(np.einsum("tij,tj->ti", turned, vectors))

    sheet.hips = pivot + around(sheet.hips - pivot)
    sheet.deltas["hips"] = turned @ sheet.deltas["hips"]
    for name, limb in sheet.limbs.items():
        target = pivot + around(limb.target - pivot)
        sheet.limbs[name] = Limb(target, around(limb.pole))
    for name, foot in sheet.feet.items():
        sheet.feet[name] = turned @ foot


def _hang_foot(sheet: Sheet, t: Doubles) -> None:
    """Let the kicking foot follow its shin, toes stretched, while it is in the air."""
    stands = sheet.feet.pop("r-ankle")
    row = sheet.nodes.index("r-ankle")
    shin = sheet.solve().world[:, row] @ sheet.nodes.frames[row].T
    stretch = keyed(t, (0.1, 30), (0.3, 30), (0.48, 12), (0.6, 35), (0.9, 25))
    hangs = shin @ turn("x", np.deg2rad(stretch))
    share = keyed(t, (0.10, 0), (0.24, 1), (0.68, 1), (0.86, 0))
    sheet.feet["r-ankle"] = mix(stands, hangs, share)
