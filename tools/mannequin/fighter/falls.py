"""Struck down, from the guard to lying; times in seconds, angles in degrees."""

from __future__ import annotations

from tools.mannequin.fighter.acting import Pose, act, moved
from tools.mannequin.fighter.floor import keep_above
from tools.mannequin.fighter.lying import laid
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed

_DOWN = (0.0, -1.0, 0.0)
_FREE: Pose = {"l-hold": 0.0, "r-hold": 0.0, "l-flat": 0.0, "r-flat": 0.0}


def make_down_back(nodes: NodeTable) -> Sheet:
    """Struck down backwards: hips on the floor at 0.58 s, all still at 1.15 s."""
    sheet = new_sheet(nodes, 1.15)
    end = moved(laid(nodes, "BACK"), z=-0.62)
    curves = act(
        sheet,
        (
            0.08,
            {
                "hips": (0.0, 0.895, -0.07),
                "tilt": (-6.0, -34.0, 0.0),
                "spine": (-20.0, -10.0, 4.0),
                "neck": (-14.0, 8.0, 0.0),
                "head": (-24.0, 6.0, 0.0),
                "l-wrist": (0.12, 1.34, 0.38),
                "r-wrist": (-0.18, 1.34, 0.28),
            },
        ),
        (
            0.24,
            {
                "hips": (0.0, 0.80, -0.26),
                "tilt": (-18.0, -26.0, 2.0),
                "spine": (-4.0, -6.0, 2.0),
                "neck": (4.0, 4.0, 0.0),
                "head": (4.0, 4.0, 0.0),
                "l-ball": (0.12, 0.10, 0.30),
                "l-foot": (-4.0, 22.0, 0.0),
                "r-foot": (-40.0, -6.0, 0.0),
                "r-toe": 6.0,
                "l-wrist": (0.34, 1.40, 0.42),
                "r-wrist": (-0.40, 1.40, 0.34),
                "l-elbow": (0.7, -0.8, -0.2),
                "r-elbow": (-0.8, -0.8, -0.2),
                "l-fist": 0.3,
                "r-fist": 0.3,
            },
        ),
        (
            0.42,
            {
                "hips": (0.0, 0.50, -0.50),
                "tilt": (-42.0, -12.0, 3.0),
                "spine": (22.0, 0.0, 0.0),
                "neck": (14.0, 0.0, 0.0),
                "head": (14.0, 0.0, 0.0),
                "l-ball": (0.14, 0.34, 0.24),
                "l-foot": (2.0, 44.0, 0.0),
                "l-knee": (0.15, 0.6, 0.8),
                "r-foot": (-30.0, 16.0, 0.0),
                "r-toe": 0.0,
                "r-ball": (-0.165, 0.06, -0.08),
                "r-knee": (-0.4, 0.5, 0.75),
                "l-wrist": (0.52, 1.30, 0.30),
                "r-wrist": (-0.56, 1.28, 0.24),
                "l-elbow": (0.9, -0.1, -0.4),
                "r-elbow": (-0.9, -0.1, -0.4),
            },
        ),
        (
            0.58,
            {
                "hips": (0.0, 0.13, -0.61),
                "tilt": (-66.0, -4.0, 1.0),
                "spine": (28.0, 0.0, 0.0),
                "neck": (16.0, 2.0, 0.0),
                "head": (16.0, 4.0, 0.0),
                "l-ball": (0.15, 0.52, 0.06),
                "l-foot": (6.0, 56.0, 0.0),
                "r-ball": (-0.17, 0.36, 0.14),
                "r-foot": (-24.0, 50.0, 0.0),
                "l-elbow": (0.7, 0.7, -0.3),
                "r-elbow": (-0.7, 0.7, -0.3),
                "l-hold": 0.3,
                "r-hold": 0.3,
            },
        ),
        (
            0.70,
            {
                **{k: v for k, v in end.items() if k[:2] not in ("l-", "r-")},
                "spine": (4.0, 0.0, 0.0),
                "neck": (18.0, 3.0, 0.0),
                "head": (12.0, 8.0, 0.0),
                "l-ball": (0.15, 0.50, 0.05),
                "r-ball": (-0.17, 0.54, 0.20),
                "r-foot": (-24.0, 66.0, 0.0),
                **{k: end[k] for k in ("l-palm", "r-palm", "l-hand", "r-hand")},
                **{k: end[k] for k in ("l-point", "r-point")},
                "l-hold": 1.0,
                "r-hold": 1.0,
                "l-flat": 1.0,
                "r-flat": 1.0,
            },
        ),
        (
            0.80,
            {
                "spine": (0.0, 0.0, 0.0),
                "neck": (2.0, 4.0, 0.0),
                "head": (2.0, 12.0, 0.0),
            },
        ),
        (0.98, {**end}),
        (1.15, end),
    )
    lies = keyed(sheet.times, (0.56, 0), (0.62, 1), (1.15, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet


def make_down_front(nodes: NodeTable) -> Sheet:
    """Struck down forwards: knees at 0.46 s, chest at 0.7 s, still at 1.1 s."""
    sheet = new_sheet(nodes, 1.1)
    end = moved(laid(nodes, "FRONT"), z=0.72)
    curves = act(
        sheet,
        (
            0.10,
            {
                "hips": (0.0, 0.875, 0.06),
                "tilt": (6.0, -28.0, 0.0),
                "spine": (-14.0, -2.0, 0.0),
                "neck": (-14.0, 10.0, 0.0),
                "head": (-22.0, 12.0, 0.0),
                "l-wrist": (0.20, 1.36, 0.34),
                "r-wrist": (-0.26, 1.36, 0.26),
            },
        ),
        (
            0.30,
            {
                "hips": (0.0, 0.72, 0.22),
                "tilt": (24.0, -18.0, 0.0),
                "spine": (6.0, 0.0, 0.0),
                "neck": (-8.0, 6.0, 0.0),
                "head": (-14.0, 8.0, 0.0),
                "l-ball": (0.11, 0.024, 0.26),
                "l-foot": (-4.0, -46.0, 0.0),
                "l-toe": 46.0,
                "r-foot": (-30.0, -56.0, 0.0),
                "r-toe": 56.0,
                "r-knee": (-0.35, -0.1, 0.93),
                "l-wrist": (0.26, 1.38, 0.50),
                "r-wrist": (-0.28, 1.38, 0.46),
                "l-fist": 0.2,
                "r-fist": 0.2,
            },
        ),
        (
            0.46,
            {
                "hips": (0.0, 0.50, 0.42),
                "tilt": (46.0, -8.0, 0.0),
                "spine": (6.0, 0.0, 0.0),
                "neck": (-14.0, 4.0, 0.0),
                "head": (-20.0, 8.0, 0.0),
                "l-ball": (0.13, 0.05, 0.08),
                "l-foot": (2.0, -96.0, 0.0),
                "l-toe": 40.0,
                "l-knee": (0.12, -0.5, 0.86),
                "r-ball": (-0.17, 0.04, -0.14),
                "r-foot": (-20.0, -92.0, 0.0),
                "r-toe": 44.0,
                "r-knee": (-0.25, -0.5, 0.83),
                "l-palm": (0.28, 0.20, 1.16),
                "r-palm": (-0.30, 0.22, 1.12),
                "l-point": (0.8, 0.2, -0.5),
                "r-point": (-0.8, 0.2, -0.5),
                "l-hand": (-0.1, 0.2, 1.0, 0.0, -1.0, 0.2),
                "r-hand": (0.1, 0.2, 1.0, 0.0, -1.0, 0.2),
                "l-hold": 0.8,
                "r-hold": 0.8,
                "l-flat": 1.0,
                "r-flat": 1.0,
            },
        ),
        (
            0.62,
            {
                "hips": (0.0, 0.24, 0.62),
                "tilt": (72.0, -2.0, 0.0),
                "spine": (-4.0, 0.0, 0.0),
                "neck": (-14.0, 10.0, 0.0),
                "head": (-16.0, 18.0, 0.0),
                "l-ball": (0.15, 0.07, -0.10),
                "l-foot": (8.0, -136.0, 0.0),
                "l-toe": 8.0,
                "r-ball": (-0.18, 0.07, -0.18),
                "r-foot": (-16.0, -136.0, 0.0),
                "r-toe": 8.0,
                "l-knee": (0.2, -0.9, 0.4),
                "r-knee": (-0.25, -0.9, 0.4),
                "l-palm": (0.36, 0.04, 1.28),
                "r-palm": (-0.38, 0.04, 1.24),
                "l-hold": 1.0,
                "r-hold": 1.0,
            },
        ),
        (0.74, {**end, "neck": (-14.0, 14.0, 0.0), "head": (-12.0, 20.0, 0.0)}),
        (0.90, {**end}),
        (1.1, end),
    )
    lies = keyed(sheet.times, (0.66, 0), (0.74, 1), (1.1, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet
