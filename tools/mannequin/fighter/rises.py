"""Up again, from lying to the guard further on; times in seconds, angles in degrees."""

from __future__ import annotations

from tools.mannequin.fighter.acting import GUARD, Pose, act, moved
from tools.mannequin.fighter.floor import keep_above
from tools.mannequin.fighter.lying import laid
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed

_DOWN = (0.0, -1.0, 0.0)
_FREE: Pose = {"l-hold": 0.0, "r-hold": 0.0, "l-flat": 0.0, "r-flat": 0.0}


def make_rise_back(nodes: NodeTable) -> Sheet:
    """From the back: sit up, weight on right hand and left foot, stand: 1.5 s.

    The left foot stays where it lies; the right one is drawn back under the body.
    """
    sheet = new_sheet(nodes, 1.5)
    start = laid(nodes, "BACK")
    end = moved(GUARD, x=0.035, z=0.33)
    curves = act(
        sheet,
        (
            0.22,
            {
                "tilt": (-80.0, 0.0, 0.0),
                "spine": (26.0, -6.0, 0.0),
                "neck": (18.0, 2.0, 0.0),
                "head": (12.0, 4.0, 0.0),
                "r-ball": (-0.18, 0.10, 0.80),
                "r-foot": (-20.0, 40.0, 0.0),
                "l-palm": (0.34, 0.36, 0.05),
                "l-point": (0.8, -0.2, -0.3),
                "l-flat": 0.3,
                "r-palm": (-0.42, 0.04, -0.24),
                "r-point": (-0.6, 0.2, -0.8),
            },
        ),
        (
            0.46,
            {
                "hips": (-0.02, 0.115, 0.0),
                "tilt": (-32.0, -8.0, 0.0),
                "spine": (34.0, -10.0, 0.0),
                "neck": (4.0, 4.0, 0.0),
                "head": (-4.0, 8.0, 0.0),
                "r-ball": (-0.20, 0.03, 0.56),
                "r-foot": (-16.0, 6.0, 0.0),
                "r-knee": (-0.4, 0.85, 0.3),
                "l-palm": (0.16, 0.66, 0.40),
                "l-flat": 0.0,
                "l-fist": 0.6,
                "r-palm": (-0.38, 0.04, -0.24),
                "r-hand": (-0.5, 0.0, -0.86, *_DOWN),
                "r-point": (-0.8, 0.3, -0.5),
            },
        ),
        (
            0.70,
            {
                "hips": (-0.03, 0.34, 0.10),
                "tilt": (-2.0, -20.0, 6.0),
                "spine": (32.0, -8.0, 4.0),
                "neck": (-4.0, 6.0, 0.0),
                "head": (-10.0, 12.0, 0.0),
                "l-knee": (0.10, 0.5, 0.86),
                "l-foot": (2.0, 0.0, 0.0),
                "r-ball": (-0.20, 0.10, 0.34),
                "r-foot": (-30.0, -20.0, 0.0),
                "r-toe": 20.0,
                "r-knee": (-0.6, 0.4, 0.7),
                "l-hold": 0.5,
                "l-fist": 1.0,
            },
        ),
        (
            0.92,
            {
                "hips": (0.0, 0.54, 0.22),
                "tilt": (22.0, -28.0, 2.0),
                "spine": (26.0, -6.0, 0.0),
                "neck": (-6.0, 10.0, 0.0),
                "head": (-20.0, 16.0, 0.0),
                "l-knee": (0.04, 0.0, 1.0),
                "l-foot": (-4.0, 0.0, 0.0),
                "r-ball": (-0.13, 0.024, 0.22),
                "r-foot": (-44.0, -48.0, 0.0),
                "r-toe": 48.0,
                "r-knee": (-0.65, 0.0, 0.76),
                "r-palm": (-0.38, 0.14, -0.10),
                "l-hold": 0.0,
                "r-hold": 0.7,
                "r-flat": 0.5,
            },
        ),
        (
            1.14,
            {
                **end,
                "hips": (0.035, 0.76, 0.27),
                "tilt": (14.0, -32.0, 0.0),
                "spine": (16.0, -4.0, 0.0),
                "head": (-14.0, 18.0, 0.0),
                "r-foot": (-46.0, -32.0, 0.0),
                "r-toe": 32.0,
                "r-wrist": (-0.16, 1.26, 0.22),
            },
        ),
        (1.5, end),
        start=start,
        late={"head": 0.02},
    )
    lies = keyed(sheet.times, (0, 1), (0.42, 1), (0.52, 0))
    keep_above(sheet, curves, lies=lies)
    return sheet


def make_rise_front(nodes: NodeTable) -> Sheet:
    """From the front: on hands and knees, left foot ahead, stand: 1.5 s."""
    sheet = new_sheet(nodes, 1.5)
    start = laid(nodes, "FRONT")
    curves = act(
        sheet,
        (
            0.20,
            {
                "hips": (0.0, 0.12, -0.01),
                "neck": (-14.0, 8.0, 0.0),
                "head": (-16.0, 12.0, 0.0),
                "l-palm": (0.27, 0.04, 0.46),
                "r-palm": (-0.29, 0.04, 0.44),
                "l-point": (0.5, 0.6, -0.6),
                "r-point": (-0.5, 0.6, -0.6),
            },
        ),
        (
            0.50,
            {
                "hips": (0.0, 0.42, -0.10),
                "tilt": (72.0, 0.0, 0.0),
                "spine": (0.0, 0.0, 0.0),
                "neck": (-14.0, 4.0, 0.0),
                "head": (-22.0, 6.0, 0.0),
                "l-ball": (0.14, 0.07, -0.62),
                "r-ball": (-0.15, 0.07, -0.60),
                "l-foot": (6.0, -150.0, 0.0),
                "r-foot": (-8.0, -150.0, 0.0),
                "l-knee": (0.1, -0.6, 0.8),
                "r-knee": (-0.1, -0.6, 0.8),
                "l-palm": (0.24, 0.04, 0.44),
                "r-palm": (-0.26, 0.04, 0.42),
                "l-point": (0.5, 0.1, -0.8),
                "r-point": (-0.5, 0.1, -0.8),
            },
        ),
        (
            0.72,
            {
                "hips": (0.02, 0.56, -0.06),
                "tilt": (60.0, -6.0, 2.0),
                "spine": (10.0, -2.0, 0.0),
                "l-ball": (0.17, 0.10, 0.02),
                "l-foot": (4.0, -40.0, 0.0),
                "l-toe": 10.0,
                "l-knee": (0.5, 0.2, 0.85),
                "r-ball": (-0.16, 0.03, -0.52),
                "r-foot": (-16.0, -96.0, 0.0),
                "r-toe": 60.0,
                "l-hold": 1.0,
            },
        ),
        (
            0.90,
            {
                "hips": (0.0, 0.56, 0.0),
                "tilt": (44.0, -16.0, 0.0),
                "spine": (18.0, -2.0, 0.0),
                "neck": (-10.0, 8.0, 0.0),
                "head": (-22.0, 12.0, 0.0),
                "l-ball": GUARD["l-ball"],
                "l-foot": GUARD["l-foot"],
                "l-toe": 0.0,
                "l-knee": (0.1, 0.2, 0.97),
                "r-ball": (-0.165, 0.024, -0.36),
                "r-foot": (-30.0, -76.0, 0.0),
                "r-toe": 62.0,
                "r-knee": (-0.4, -0.2, 0.9),
                "l-palm": (0.24, 0.12, 0.44),
                "l-hold": 0.7,
                "l-flat": 0.5,
            },
        ),
        (
            1.12,
            {
                "hips": (0.0, 0.70, 0.0),
                "tilt": (22.0, -28.0, 0.0),
                "spine": (18.0, -4.0, 0.0),
                "neck": (-4.0, 12.0, 0.0),
                "head": (-18.0, 16.0, 0.0),
                "r-ball": (-0.165, 0.07, -0.20),
                "r-foot": (-42.0, -50.0, 0.0),
                "r-toe": 36.0,
                "r-knee": GUARD["r-knee"],
                "l-knee": GUARD["l-knee"],
                **_FREE,
                "l-fist": 1.0,
                "r-fist": 1.0,
            },
        ),
        (1.28, {**GUARD, "hips": (0.0, 0.83, -0.01), "tilt": (10.0, -32.0, 0.0)}),
        (1.5, GUARD),
        start=start,
        late={"head": 0.02},
    )
    lies = keyed(sheet.times, (0, 1), (0.05, 1), (0.15, 0))
    keep_above(sheet, curves, lies=lies)
    return sheet
