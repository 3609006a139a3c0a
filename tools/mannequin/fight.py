"""Punch and kick, by keys an animator would set.

Times in seconds, angles in degrees, places in metres. Both start and end in the same
guard, left foot in front, so they can follow each other.
"""

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.guard import guard_hands
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import (
    keyed,
    place_foot,
    reach,
    toe_rest,
    turn_spine,
)


def make_punch(nodes: NodeTable) -> Sheet:
    """Right cross: wind-up to 0.15 s, hit at 0.30 s, guard again at 0.80 s."""
    sheet = new_sheet(nodes, 0.9)
    t = sheet.times
    drive = keyed(
        t, (0, 0), (0.15, -0.35), (0.29, 1), (0.36, 0.96), (0.66, -0.05), (0.9, 0)
    )
    sheet.hips += np.array([0.0, -0.066, -0.02])
    sheet.hips[:, 2] += 0.085 * drive
    sheet.hips[:, 1] += keyed(
        t, (0, 0), (0.15, -0.022), (0.30, -0.012), (0.6, 0.004), (0.9, 0)
    )
    sheet.lean("hips", y=-32.0 + 42.0 * drive, x=3.0 + 4.0 * drive)
    turn_spine(sheet, x=5.0 + 3.0 * drive, y=-4.0 + 27.0 * drive, z=-3.0 * drive)
    sheet.lean("neck", y=12.0 - 22.0 * drive, x=4.0)
    sheet.lean("head", y=18.0 - 30.0 * drive, x=-4.0)
    place_foot(sheet, "l", toe_rest(sheet, "l", 0.105, 0.29), yaw=-8.0, knee_out=6.0)
    heel = -24.0 - 26.0 * np.clip(drive, 0.0, 1.0)
    twist = -46.0 + 30.0 * np.clip(drive, 0.0, 1.0)
    back = toe_rest(sheet, "r", 0.165, -0.13)
    place_foot(sheet, "r", back, yaw=twist, pitch=heel, knee_out=4.0)
    guard, pulled, hit = (
        (-0.10, 1.36, 0.235),
        (-0.20, 1.31, 0.10),
        (-0.030, 1.400, 0.815),
    )
    wrist = keyed(
        t,
        (0, guard),
        (0.15, pulled),
        (0.22, (-0.125, 1.36, 0.42)),
        (0.295, hit),
        (0.345, (-0.030, 1.398, 0.800)),
        (0.50, (-0.09, 1.36, 0.42)),
        (0.70, guard),
        (0.9, guard),
    )
    reach(sheet, "r", wrist, (-0.45, -1.0, -0.15))
    lead = keyed(
        t,
        (0, (0.07, 1.365, 0.355)),
        (0.15, (0.06, 1.385, 0.365)),
        (0.30, (0.13, 1.365, 0.235)),
        (0.40, (0.13, 1.365, 0.240)),
        (0.70, (0.07, 1.365, 0.355)),
        (0.9, (0.07, 1.365, 0.355)),
    )
    reach(sheet, "l", lead, (0.35, -1.0, -0.05))
    guard_hands(sheet, np.clip(drive, 0.0, 1.0))
    return sheet


def make_kick(nodes: NodeTable) -> Sheet:
    """Right front kick: knee up at 0.30 s, hit at 0.45 s, guard again at 1.1 s."""
    sheet = new_sheet(nodes, 1.15)
    t = sheet.times
    up = keyed(
        t,
        (0, 0),
        (0.30, 0.8),
        (0.45, 1),
        (0.54, 0.97),
        (0.68, 0.7),
        (1.0, 0),
        (1.15, 0),
    )
    hit = keyed(
        t, (0.0, 0), (0.30, 0.0), (0.45, 1), (0.53, 0.96), (0.68, 0.0), (1.15, 0)
    )
    sheet.hips += np.array([0.0, -0.066, -0.02])
    sheet.hips += up[:, None] * np.array([0.055, 0.030, 0.135])
    sheet.hips[:, 2] += 0.045 * hit
    sheet.hips[:, 1] += keyed(
        t, (0, 0), (0.1, -0.02), (0.3, 0.0), (0.85, -0.012), (1.15, 0)
    )
    yaw = -32.0 + 40.0 * up + 10.0 * hit
    sheet.lean("hips", y=yaw, x=3.0 - 15.0 * up - 9.0 * hit, z=3.0 * up)
    turn_spine(sheet, x=5.0 + 8.0 * up - 6.0 * hit, y=-4.0 - 8.0 * hit, z=-3.0 * up)
    sheet.lean("neck", y=12.0 - 14.0 * up, x=4.0 + 6.0 * hit)
    sheet.lean("head", y=18.0 - 20.0 * up, x=-4.0 + 7.0 * hit)
    turned = -8.0 + 34.0 * up
    place_foot(sheet, "l", toe_rest(sheet, "l", 0.105, 0.29), yaw=turned, knee_out=2.0)
    _kick_leg(sheet, t, up)
    _kick_arms(sheet, t)
    guard_hands(sheet)
    return sheet


def _kick_leg(sheet: Sheet, t: Doubles, up: Doubles) -> None:
    start = toe_rest(sheet, "r", 0.165, -0.13)[0]
    shuffle, settle = np.array([0.005, 0.0, 0.0]), np.array([0.0, 0.004, 0.006])
    ball = keyed(
        t,
        (0.0, start),
        (0.09, start + shuffle),
        (0.20, (-0.130, 0.330, 0.080)),
        (0.30, (-0.075, 0.560, 0.440)),
        (0.37, (-0.050, 0.860, 0.800)),
        (0.45, (-0.040, 1.120, 1.115)),
        (0.52, (-0.040, 1.105, 1.090)),
        (0.66, (-0.080, 0.580, 0.500)),
        (0.80, (-0.140, 0.230, 0.100)),
        (0.95, start + settle),
        (1.0, start),
        (1.15, start),
    )
    pitch = keyed(
        t,
        (0, -24),
        (0.09, -34),
        (0.20, -62),
        (0.30, -30),
        (0.45, 52),
        (0.53, 50),
        (0.66, -22),
        (0.82, -44),
        (0.96, -26),
        (1.15, -24),
    )
    twist = keyed(
        t, (0, -46), (0.25, -10), (0.45, 0), (0.66, -4), (0.95, -46), (1.15, -46)
    )
    toe = np.maximum(-pitch, 0.0) * (1.0 - up) + 26.0 * up
    place_foot(sheet, "r", ball, yaw=twist, pitch=pitch, knee_out=0.0, toe=toe)


def _kick_arms(sheet: Sheet, t: Doubles) -> None:
    right = keyed(
        t,
        (0, (-0.10, 1.36, 0.235)),
        (0.25, (-0.22, 1.28, 0.22)),
        (0.45, (-0.35, 1.08, 0.02)),
        (0.55, (-0.34, 1.08, 0.02)),
        (0.95, (-0.10, 1.36, 0.235)),
        (1.15, (-0.10, 1.36, 0.235)),
    )
    left = keyed(
        t,
        (0, (0.07, 1.365, 0.355)),
        (0.30, (0.10, 1.34, 0.40)),
        (0.45, (0.14, 1.30, 0.38)),
        (0.55, (0.14, 1.30, 0.38)),
        (0.95, (0.07, 1.365, 0.355)),
        (1.15, (0.07, 1.365, 0.355)),
    )
    reach(sheet, "r", right, (-0.55, -0.90, -0.45))
    reach(sheet, "l", left, (0.35, -1.0, -0.05))
