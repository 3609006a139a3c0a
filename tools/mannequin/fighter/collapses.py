"""Beaten, the knees first; times in seconds, angles in degrees."""

from __future__ import annotations

from tools.mannequin.fighter.acting import GUARD, Pose, act, moved
from tools.mannequin.fighter.floor import keep_above
from tools.mannequin.fighter.lying import laid
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed

_DOWN = (0.0, -1.0, 0.0)
_FREE: Pose = {"l-hold": 0.0, "r-hold": 0.0, "l-flat": 0.0, "r-flat": 0.0}


def make_collapse_back(nodes: NodeTable) -> Sheet:
    """Beaten from the front: knees give, sits down, rolls on the back: 1.6 s."""
    sheet = new_sheet(nodes, 1.6)
    end = moved(laid(nodes, "LIMP_BACK"), z=-0.52)
    curves = act(
        sheet,
        (
            0.10,
            {
                "hips": (0.0, 0.87, -0.06),
                "tilt": (-2.0, -32.0, 0.0),
                "spine": (-8.0, -8.0, 2.0),
                "neck": (-10.0, 10.0, 0.0),
                "head": (-20.0, 10.0, 2.0),
                "l-wrist": (0.10, 1.30, 0.36),
                "r-wrist": (-0.14, 1.30, 0.26),
            },
        ),
        (
            0.36,
            {
                "hips": (0.02, 0.66, -0.16),
                "tilt": (2.0, -26.0, -2.0),
                "spine": (14.0, -4.0, -3.0),
                "neck": (8.0, 6.0, 0.0),
                "head": (10.0, 4.0, 4.0),
                "r-foot": (-40.0, -40.0, 0.0),
                "r-toe": 40.0,
                "l-knee": (0.25, 0.1, 0.95),
                "l-wrist": (0.24, 1.04, 0.30),
                "r-wrist": (-0.30, 1.04, 0.18),
                "l-fist": 0.4,
                "r-fist": 0.4,
            },
        ),
        (
            0.56,
            {
                "hips": (0.03, 0.36, -0.34),
                "tilt": (-14.0, -18.0, -4.0),
                "spine": (30.0, -2.0, -4.0),
                "neck": (16.0, 2.0, 0.0),
                "head": (18.0, 0.0, 6.0),
                "l-ball": (0.13, 0.024, 0.24),
                "l-foot": (2.0, 6.0, 0.0),
                "l-knee": (0.3, 0.6, 0.75),
                "r-ball": (-0.18, 0.05, -0.02),
                "r-foot": (-30.0, -10.0, 0.0),
                "r-toe": 10.0,
                "r-knee": (-0.6, 0.6, 0.5),
                "l-wrist": (0.36, 0.94, 0.22),
                "r-wrist": (-0.40, 0.92, 0.10),
            },
        ),
        (
            0.68,
            {
                "hips": (0.02, 0.12, -0.46),
                "tilt": (-32.0, -12.0, -3.0),
                "spine": (38.0, 0.0, -4.0),
                "neck": (18.0, 0.0, 0.0),
                "head": (20.0, 0.0, 6.0),
                "l-ball": (0.16, 0.03, 0.26),
                "l-foot": (10.0, 14.0, 0.0),
                "r-ball": (-0.20, 0.05, 0.16),
                "r-foot": (-26.0, 20.0, 0.0),
                "l-elbow": (0.9, 0.0, -0.5),
                "r-elbow": (-0.9, 0.0, -0.5),
                "l-hold": 0.3,
                "r-hold": 0.3,
            },
        ),
        (
            0.90,
            {
                "hips": (0.0, 0.12, -0.51),
                "tilt": (-66.0, -4.0, 0.0),
                "spine": (22.0, 0.0, -2.0),
                "neck": (6.0, 0.0, 0.0),
                "head": (8.0, -4.0, 4.0),
                "l-ball": (0.22, 0.12, 0.30),
                "l-foot": (22.0, 40.0, 0.0),
                "r-ball": (-0.18, 0.14, 0.32),
                "r-foot": (-24.0, 54.0, 0.0),
                "l-hold": 0.9,
                "r-hold": 0.9,
                "l-flat": 0.7,
                "r-flat": 0.7,
                **{k: end[k] for k in ("l-palm", "r-palm", "l-hand", "r-hand")},
                **{k: end[k] for k in ("l-point", "r-point")},
            },
        ),
        (1.02, {**end, "neck": (12.0, -2.0, 0.0), "head": (10.0, -10.0, 4.0)}),
        (1.14, {"neck": (0.0, -4.0, 0.0), "head": (0.0, -18.0, 4.0)}),
        (1.24, {"neck": (4.0, -5.0, 0.0), "head": (4.0, -24.0, 4.0)}),
        (1.38, {**end}),
        (1.6, end),
        start=GUARD,
    )
    lies = keyed(sheet.times, (0.64, 0), (0.72, 1), (1.6, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet


def make_collapse_front(nodes: NodeTable) -> Sheet:
    """Beaten from behind: down on the knees, then on the face: 1.7 s."""
    sheet = new_sheet(nodes, 1.7)
    end = moved(laid(nodes, "LIMP_FRONT"), z=0.60)
    curves = act(
        sheet,
        (
            0.10,
            {
                "hips": (0.0, 0.87, 0.0),
                "tilt": (4.0, -30.0, 0.0),
                "spine": (-6.0, -4.0, 0.0),
                "neck": (-6.0, 10.0, 0.0),
                "head": (-14.0, 14.0, 0.0),
            },
        ),
        (
            0.32,
            {
                "hips": (0.0, 0.70, 0.06),
                "tilt": (2.0, -22.0, 0.0),
                "spine": (8.0, -2.0, 0.0),
                "neck": (10.0, 6.0, 0.0),
                "head": (12.0, 8.0, 2.0),
                "l-ball": (0.11, 0.024, 0.22),
                "l-foot": (-4.0, -44.0, 0.0),
                "l-toe": 44.0,
                "r-foot": (-34.0, -60.0, 0.0),
                "r-toe": 60.0,
                "l-wrist": (0.22, 1.08, 0.28),
                "r-wrist": (-0.26, 1.06, 0.18),
                "l-fist": 0.4,
                "r-fist": 0.4,
            },
        ),
        (
            0.50,
            {
                "hips": (0.0, 0.475, 0.10),
                "tilt": (-2.0, -10.0, 0.0),
                "spine": (20.0, 0.0, 2.0),
                "neck": (18.0, 2.0, 0.0),
                "head": (22.0, 0.0, 4.0),
                "l-ball": (0.13, 0.03, -0.20),
                "l-foot": (2.0, -100.0, 0.0),
                "l-toe": 50.0,
                "l-knee": (0.15, -0.2, 0.97),
                "r-ball": (-0.16, 0.03, -0.26),
                "r-foot": (-16.0, -100.0, 0.0),
                "r-toe": 50.0,
                "r-knee": (-0.2, -0.2, 0.95),
                "l-wrist": (0.34, 0.90, 0.16),
                "r-wrist": (-0.36, 0.88, 0.06),
                "l-elbow": (0.6, -0.6, -0.6),
                "r-elbow": (-0.6, -0.6, -0.6),
            },
        ),
        (
            0.74,
            {
                "hips": (0.0, 0.475, 0.14),
                "tilt": (12.0, -6.0, 1.0),
                "spine": (32.0, 0.0, 2.0),
                "neck": (20.0, 2.0, 0.0),
                "head": (22.0, 2.0, 4.0),
                "l-ball": (0.14, 0.05, -0.34),
                "l-foot": (4.0, -140.0, 0.0),
                "l-toe": 10.0,
                "r-ball": (-0.17, 0.05, -0.36),
                "r-foot": (-14.0, -140.0, 0.0),
                "r-toe": 10.0,
            },
        ),
        (
            0.94,
            {
                "hips": (0.0, 0.37, 0.35),
                "tilt": (48.0, -2.0, 0.0),
                "spine": (24.0, 0.0, 1.0),
                "neck": (8.0, 6.0, 0.0),
                "head": (6.0, 10.0, 2.0),
                "l-ball": (0.15, 0.05, -0.39),
                "r-ball": (-0.18, 0.05, -0.40),
                "l-knee": (0.2, -0.8, 0.55),
                "r-knee": (-0.25, -0.8, 0.55),
                "l-hold": 0.4,
                "r-hold": 0.3,
            },
        ),
        (
            1.08,
            {
                **end,
                "hips": (0.0, 0.14, 0.57),
                "tilt": (82.0, 0.0, 0.0),
                "spine": (0.0, 0.0, 0.0),
                "neck": (-8.0, 14.0, 0.0),
                "head": (-6.0, 20.0, 0.0),
            },
        ),
        (1.18, {**end, "head": (-14.0, 34.0, 0.0), "neck": (-14.0, 22.0, 0.0)}),
        (1.36, {**end}),
        (1.7, end),
        late={},
    )
    lies = keyed(sheet.times, (1.02, 0), (1.12, 1), (1.7, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet


def make_collapse_left(nodes: NodeTable) -> Sheet:
    """Beaten from its right: the left knee gives, hip, shoulder and head go: 1.6 s."""
    sheet = new_sheet(nodes, 1.6)
    end = moved(laid(nodes, "LEFT"), x=0.46, z=-0.04)
    curves = act(
        sheet,
        (
            0.10,
            {
                "hips": (0.06, 0.87, -0.03),
                "tilt": (4.0, -30.0, 3.0),
                "spine": (6.0, -4.0, 6.0),
                "neck": (4.0, 10.0, -6.0),
                "head": (-2.0, 16.0, -16.0),
            },
        ),
        (
            0.34,
            {
                "hips": (0.16, 0.68, -0.04),
                "tilt": (6.0, -24.0, -8.0),
                "spine": (16.0, -2.0, -6.0),
                "neck": (12.0, 4.0, -2.0),
                "head": (12.0, 6.0, 4.0),
                "l-knee": (0.45, 0.0, 0.9),
                "r-foot": (-36.0, -44.0, 0.0),
                "r-toe": 44.0,
                "l-wrist": (0.20, 1.06, 0.30),
                "r-wrist": (-0.24, 1.04, 0.20),
                "l-fist": 0.4,
                "r-fist": 0.4,
            },
        ),
        (
            0.56,
            {
                "hips": (0.32, 0.36, -0.04),
                "tilt": (10.0, -14.0, -34.0),
                "spine": (24.0, 0.0, -2.0),
                "neck": (14.0, 2.0, 4.0),
                "head": (16.0, 2.0, 10.0),
                "l-ball": (0.08, 0.03, 0.26),
                "l-foot": (-6.0, -10.0, -40.0),
                "l-knee": (0.6, 0.0, 0.8),
                "r-ball": (-0.20, 0.03, 0.0),
                "r-foot": (-14.0, -40.0, -30.0),
                "r-toe": 30.0,
                "r-knee": (0.1, 0.1, 1.0),
                "l-wrist": (0.36, 0.96, 0.30),
                "r-wrist": (-0.28, 0.92, 0.26),
            },
        ),
        (
            0.70,
            {
                "hips": (0.43, 0.185, -0.04),
                "tilt": (10.0, -6.0, -54.0),
                "spine": (24.0, 0.0, 6.0),
                "neck": (12.0, 0.0, 6.0),
                "head": (14.0, 0.0, 12.0),
                "l-ball": (-0.08, 0.05, 0.30),
                "l-foot": (0.0, -10.0, -66.0),
                "r-ball": (-0.16, 0.06, 0.04),
                "r-foot": (4.0, -24.0, -56.0),
                "l-hold": 0.3,
                "r-hold": 0.2,
            },
        ),
        (
            0.92,
            {
                **end,
                "hips": (0.46, 0.17, -0.04),
                "tilt": (8.0, 2.0, -76.0),
                "spine": (20.0, -2.0, 6.0),
                "neck": (10.0, 0.0, 2.0),
                "head": (12.0, 0.0, 6.0),
                "r-hold": 0.6,
                "l-flat": 0.7,
                "r-flat": 0.4,
            },
        ),
        (1.04, {**end, "neck": (8.0, 0.0, -4.0), "head": (10.0, 0.0, -2.0)}),
        (1.16, {**end, "neck": (8.0, 0.0, -10.0), "head": (10.0, 0.0, -12.0)}),
        (1.32, {**end}),
        (1.6, end),
    )
    lies = keyed(sheet.times, (0.68, 0), (0.76, 1), (1.6, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet
