"""Jump and fall, by keys an animator would set.

Times in seconds, angles in degrees, places in metres. The jump starts and ends
standing; the fall starts standing and ends on the back.
"""

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import (
    keyed,
    place_foot,
    steered,
    toe_rest,
    turn_spine,
)

_GRAVITY = 9.81


# When the jump leaves the ground and comes down again, seconds.
_OFF, _DOWN = 0.50, 1.00


def make_jump(nodes: NodeTable) -> Sheet:
    """Jump straight up: off at 0.50 s, 0.31 m high, down again at 1.00 s."""
    sheet = new_sheet(nodes, 1.75)
    t = sheet.times
    speed = 0.5 * _GRAVITY * (_DOWN - _OFF)
    air = np.clip(t, _OFF, _DOWN) - _OFF
    rise = speed * air - 0.5 * _GRAVITY * air**2
    before = steered(t, (0, -0.005, 0), (0.32, -0.285, 0), (_OFF, 0.072, speed))
    after = steered(
        t,
        (_DOWN, 0.025, -speed),
        (1.16, -0.215, 0),
        (1.48, -0.012, 0.10),
        (1.75, -0.005, 0),
    )
    ease = np.clip((t - _OFF) / (_DOWN - _OFF), 0.0, 1.0)
    flying = 0.072 + (0.025 - 0.072) * ease + rise
    height = np.where(t < _OFF, before, np.where(t < _DOWN, flying, after))
    sheet.hips[:, 1] += height
    _jump_body(sheet, t)
    for side in "lr":
        _jump_leg(sheet, t, side, rise)
        _jump_arm(sheet, t, side)
    return sheet


def _jump_body(sheet: Sheet, t: Doubles) -> None:
    sheet.hips[:, 2] += keyed(
        t,
        (0, 0),
        (0.32, -0.10),
        (0.5, 0.02),
        (1.0, 0.005),
        (1.16, -0.07),
        (1.6, 0),
        (1.75, 0),
    )
    lean = keyed(
        t,
        (0, 0.5),
        (0.32, 30),
        (0.5, 2),
        (0.75, 5),
        (1.0, 8),
        (1.16, 24),
        (1.6, 0.5),
        (1.75, 0.5),
    )
    sheet.lean("hips", x=lean)
    arch = keyed(
        t,
        (0, 1),
        (0.32, 24),
        (0.52, -9),
        (0.75, 4),
        (1.0, 6),
        (1.18, 20),
        (1.6, 1),
        (1.75, 1),
    )
    turn_spine(sheet, x=arch)
    sheet.lean("neck", x=1.5 - 0.30 * (lean + arch) * 0.5)
    sheet.lean("head", x=-1.0 - 0.55 * (lean + arch) * 0.6)


def _jump_leg(sheet: Sheet, t: Doubles, side: str, rise: Doubles) -> None:
    tuck = keyed(t, (_OFF, 0), (0.74, 0.075), (_DOWN, 0))
    pitch = keyed(
        t,
        (0, 0),
        (0.36, 0),
        (0.5, -58),
        (0.60, -52),
        (0.76, -34),
        (0.94, -30),
        (1.0, -26),
        (1.06, 0),
        (1.75, 0),
    )
    ball = toe_rest(sheet, side, 0.125, 0.100)
    ball[:, 1] += rise + tuck
    ball[:, 2] += keyed(t, (_OFF, 0), (0.66, -0.045), (0.84, -0.025), (_DOWN, 0))
    yaw = 7.0 if side == "l" else -7.0
    flat = np.where(t < _OFF, 1.0, np.clip(1.0 - (t - _OFF) / 0.12, 0.0, 1.0))
    toe = np.maximum(-pitch, 0.0) * np.where(t > 0.93, (t - 0.93) / 0.07, flat).clip(
        0, 1
    )
    place_foot(sheet, side, ball, yaw=yaw, pitch=pitch, knee_out=0.25 * yaw, toe=toe)


def _jump_arm(sheet: Sheet, t: Doubles, side: str) -> None:
    forward = keyed(
        t,
        (0, 1),
        (0.30, -52),
        (0.36, -46),
        (0.54, 148),
        (0.62, 152),
        (0.84, 70),
        (1.02, 34),
        (1.20, -16),
        (1.50, 4),
        (1.75, 1),
    )
    out = keyed(
        t,
        (0, 10),
        (0.32, 16),
        (0.56, 16),
        (0.84, 40),
        (1.02, 34),
        (1.5, 11),
        (1.75, 10),
    )
    elbow = keyed(
        t,
        (0, 15),
        (0.32, 24),
        (0.44, 46),
        (0.56, 22),
        (0.84, 34),
        (1.2, 34),
        (1.6, 15),
        (1.75, 15),
    )
    sheet.swing_arm(side, forward, out, elbow, 5.0)
    lift = np.clip(forward, 0.0, 150.0) / 150.0
    sheet.bend(f"{side}-shoulder", y=-2.0 + 16.0 * lift, z=4.0 * lift)
    sheet.pronate(side, 8.0)
    sheet.bend(f"{side}-wrist", y=4.0)


def make_fall(nodes: NodeTable) -> Sheet:
    """Hit in the chest, stagger two steps back, fall and lie on the back at 2 s."""
    sheet = new_sheet(nodes, 2.25)
    t = sheet.times
    sheet.hips[:, 1] = keyed(
        t,
        (0, 0.950),
        (0.18, 0.915),
        (0.42, 0.880),
        (0.66, 0.875),
        (0.86, 0.800),
        (1.06, 0.560),
        (1.22, 0.240),
        (1.31, 0.120),
        (1.40, 0.140),
        (1.50, 0.118),
        (2.25, 0.115),
    )
    sheet.hips[:, 2] = keyed(
        t,
        (0, 0.0),
        (0.10, -0.015),
        (0.40, -0.26),
        (0.66, -0.52),
        (0.90, -0.80),
        (1.10, -1.00),
        (1.31, -1.09),
        (1.6, -1.10),
        (2.25, -1.10),
    )
    sheet.hips[:, 0] = keyed(
        t, (0, 0), (0.3, 0.02), (0.6, -0.02), (1.0, 0.0), (2.25, 0.0)
    )
    sheet.lean(
        "hips",
        x=keyed(
            t,
            (0, 0.5),
            (0.12, -9),
            (0.4, -10),
            (0.66, -16),
            (0.9, -26),
            (1.1, -44),
            (1.31, -68),
            (1.48, -90),
            (2.25, -90),
        ),
        y=keyed(
            t, (0, 0), (0.12, 12), (0.4, -10), (0.66, 9), (1.0, 3), (1.5, 0), (2.25, 0)
        ),
        z=keyed(t, (0, 0), (0.3, 3), (0.6, -4), (1.0, 2), (1.5, 0), (2.25, 0)),
    )
    turn_spine(
        sheet,
        x=keyed(
            t,
            (0, 1),
            (0.10, 18),
            (0.24, -8),
            (0.45, 14),
            (0.7, 6),
            (0.95, 26),
            (1.2, 34),
            (1.36, 22),
            (1.52, -2),
            (1.60, 3),
            (1.75, 0),
            (2.25, 0),
        ),
        y=keyed(t, (0, 0), (0.12, 10), (0.4, -8), (0.7, 8), (1.2, 0), (2.25, 0)),
    )
    _fall_head(sheet, t)
    _fall_feet(sheet, t)
    _fall_arms(sheet, t)
    return sheet


def _fall_head(sheet: Sheet, t: Doubles) -> None:
    head = keyed(
        t,
        (0, 0),
        (0.09, -10),
        (0.22, 20),
        (0.45, -4),
        (0.8, 10),
        (1.2, 24),
        (1.42, 22),
        (1.62, -3),
        (1.72, 5),
        (1.9, 0),
        (2.25, 0),
    )
    sheet.lean("neck", x=0.45 * head)
    sheet.lean(
        "head", x=0.55 * head, y=keyed(t, (0, 0), (1.5, 0), (1.95, 14), (2.25, 16))
    )


def _fall_feet(sheet: Sheet, t: Doubles) -> None:
    left = keyed(
        t,
        (0, (0.125, 0.024, 0.100)),
        (0.42, (0.125, 0.024, 0.100)),
        (0.54, (0.13, 0.13, -0.20)),
        (0.68, (0.13, 0.026, -0.50)),
        (0.90, (0.13, 0.024, -0.50)),
        (1.10, (0.13, 0.10, -0.42)),
        (1.30, (0.14, 0.12, -0.40)),
        (1.50, (0.14, 0.026, -0.44)),
        (2.25, (0.14, 0.024, -0.44)),
    )
    pitch = keyed(
        t,
        (0, 0),
        (0.38, -4),
        (0.46, -30),
        (0.60, -18),
        (0.68, -8),
        (0.80, 0),
        (1.0, 12),
        (1.25, 22),
        (1.5, 0),
        (2.25, 0),
    )
    place_foot(
        sheet,
        "l",
        left,
        yaw=8.0,
        pitch=pitch,
        knee_out=keyed(t, (0, 2), (1.2, 2), (1.9, 14), (2.25, 16)),
        knee_up=keyed(t, (0, 0), (0.8, 0), (1.2, 58), (1.6, 75), (2.25, 75)),
    )
    right = keyed(
        t,
        (0, (-0.125, 0.024, 0.100)),
        (0.14, (-0.125, 0.024, 0.100)),
        (0.26, (-0.13, 0.12, -0.10)),
        (0.40, (-0.13, 0.026, -0.33)),
        (0.72, (-0.13, 0.024, -0.33)),
        (0.90, (-0.13, 0.10, -0.30)),
        (1.10, (-0.13, 0.36, -0.20)),
        (1.30, (-0.14, 0.52, -0.26)),
        (1.48, (-0.15, 0.40, -0.27)),
        (1.68, (-0.16, 0.190, -0.205)),
        (1.76, (-0.16, 0.205, -0.205)),
        (1.86, (-0.16, 0.190, -0.205)),
        (2.25, (-0.16, 0.190, -0.205)),
    )
    pitch = keyed(
        t,
        (0, 0),
        (0.10, 2),
        (0.20, -24),
        (0.34, -12),
        (0.50, 0),
        (0.78, 4),
        (1.0, 40),
        (1.30, 74),
        (1.68, 70),
        (2.25, 72),
    )
    place_foot(
        sheet,
        "r",
        right,
        yaw=keyed(t, (0, -7), (1.2, -8), (1.8, -22), (2.25, -24)),
        pitch=pitch,
    )


def _fall_arms(sheet: Sheet, t: Doubles) -> None:
    for side, late in (("l", 0.0), ("r", 0.05)):
        s = t - late
        forward = keyed(
            s,
            (0, 1),
            (0.16, 42),
            (0.36, 22),
            (0.60, 58),
            (0.86, 40),
            (1.12, 48),
            (1.40, 30),
            (1.62, -8),
            (1.72, -3),
            (1.86, -7),
            (2.25, -7),
        )
        out = keyed(
            s,
            (0, 10),
            (0.18, 26),
            (0.40, 40),
            (0.62, 46),
            (0.90, 62),
            (1.20, 58),
            (1.55, 46),
            (2.25, 44),
        )
        elbow = keyed(
            s,
            (0, 15),
            (0.18, 48),
            (0.45, 40),
            (0.9, 26),
            (1.2, 36),
            (1.55, 18),
            (2.25, 20),
        )
        inward = keyed(s, (0, 5), (0.5, 5), (1.2, -20), (1.7, -78), (2.25, -80))
        sheet.swing_arm(side, forward, out, elbow, inward)
        sheet.bend(
            f"{side}-shoulder",
            y=keyed(s, (0, -2), (0.2, 8), (1.0, 8), (1.6, 0), (2.25, 0)),
        )
        sheet.pronate(side, keyed(s, (0, 8), (1.2, 8), (1.7, 4), (2.25, 4)))
        sheet.bend(
            f"{side}-wrist",
            y=4.0,
            z=keyed(s, (0, 0), (0.3, -20), (1.3, -16), (1.7, 0), (2.25, 0)),
        )
