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
                "r-ball": (-0.18, 0.22, 0.74),
                "r-foot": (-20.0, 30.0, 0.0),
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
                "r-ball": (-0.20, 0.03, 0.54),
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
                "r-palm": (-0.42, 0.24, -0.14),
                "r-flat": 0.6,
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
                "r-palm": (-0.38, 0.34, 0.02),
                "l-hold": 0.0,
                "r-hold": 0.6,
                "r-flat": 0.2,
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
    end = moved(GUARD, z=-0.20)
    curves = act(
        sheet,
        (
            0.20,
            {
                "hips": (0.0, 0.12, -0.01),
                "tilt": (88.0, 0.0, 0.0),
                "spine": (-12.0, 0.0, 0.0),
                "neck": (-14.0, 8.0, 0.0),
                "head": (-14.0, 12.0, 0.0),
                "l-palm": (0.27, 0.04, 0.36),
                "r-palm": (-0.29, 0.04, 0.34),
                "l-point": (0.4, 0.7, -0.6),
                "r-point": (-0.4, 0.7, -0.6),
            },
        ),
        (
            0.48,
            {
                "hips": (0.0, 0.44, -0.30),
                "tilt": (80.0, 0.0, 0.0),
                "spine": (4.0, 0.0, 0.0),
                "neck": (-14.0, 4.0, 0.0),
                "head": (-22.0, 6.0, 0.0),
                "l-ball": (0.15, 0.05, -0.93),
                "r-ball": (-0.17, 0.05, -0.91),
                "l-knee": (0.15, -0.75, 0.6),
                "r-knee": (-0.15, -0.75, 0.6),
                "l-palm": (0.24, 0.04, 0.34),
                "r-palm": (-0.26, 0.04, 0.32),
                "l-point": (0.5, 0.1, -0.8),
                "r-point": (-0.5, 0.1, -0.8),
            },
        ),
        (
            0.68,
            {
                "hips": (-0.02, 0.56, -0.30),
                "tilt": (68.0, -6.0, -4.0),
                "spine": (14.0, -2.0, 0.0),
                "l-ball": (0.18, 0.12, -0.30),
                "l-foot": (6.0, -50.0, 0.0),
                "l-toe": 10.0,
                "l-knee": (0.5, 0.1, 0.85),
                "r-ball": (-0.17, 0.03, -0.80),
                "r-foot": (-16.0, -96.0, 0.0),
                "r-toe": 60.0,
                "r-knee": (-0.15, -0.6, 0.8),
            },
        ),
        (
            0.86,
            {
                "hips": (0.0, 0.58, -0.24),
                "tilt": (50.0, -16.0, 0.0),
                "spine": (22.0, -2.0, 0.0),
                "neck": (-10.0, 8.0, 0.0),
                "head": (-22.0, 12.0, 0.0),
                "l-ball": end["l-ball"],
                "l-foot": end["l-foot"],
                "l-toe": 0.0,
                "l-knee": (0.1, 0.2, 0.97),
                "r-foot": (-26.0, -86.0, 0.0),
                "r-ball": (-0.17, 0.03, -0.74),
                "r-knee": (-0.3, -0.4, 0.85),
                "l-palm": (0.24, 0.10, 0.30),
                "r-palm": (-0.24, 0.08, 0.30),
                "l-hold": 0.7,
                "r-hold": 0.8,
                "l-flat": 0.5,
                "r-flat": 0.6,
            },
        ),
        (
            1.08,
            {
                "hips": (0.0, 0.68, -0.20),
                "tilt": (28.0, -26.0, 0.0),
                "spine": (22.0, -4.0, 0.0),
                "neck": (-4.0, 12.0, 0.0),
                "head": (-20.0, 16.0, 0.0),
                "r-ball": (-0.17, 0.10, -0.50),
                "r-foot": (-40.0, -60.0, 0.0),
                "r-toe": 30.0,
                "r-knee": (-0.6, -0.1, 0.78),
                "l-knee": GUARD["l-knee"],
                **_FREE,
                "l-fist": 1.0,
                "r-fist": 1.0,
                "l-wrist": (0.10, 1.28, 0.36),
                "r-wrist": (-0.14, 1.26, 0.26),
            },
        ),
        (
            1.26,
            {
                **end,
                "hips": (0.0, 0.82, -0.21),
                "tilt": (12.0, -32.0, 0.0),
                "spine": (10.0, -4.0, 0.0),
                "r-foot": (-46.0, -28.0, 0.0),
                "r-toe": 28.0,
            },
        ),
        (1.5, end),
        start=start,
        late={"head": 0.02},
    )
    lies = keyed(sheet.times, (0, 1), (0.05, 1), (0.15, 0))
    keep_above(sheet, curves, lies=lies)
    return sheet
