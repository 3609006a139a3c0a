"""A throw over the head, for two: who throws and who is thrown, 1.7 s each.

They begin in the guard, 0.75 m apart, face to face, and are made in one frame: that of
the one who throws. Its hands hold the other by the waist from 0.28 s, the other leaves
the ground at 0.45 s, is let go at 0.92 s and lands on its back behind the thrower at
1.34 s. The thrown clip is told in the frame of the one who is thrown.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.fighter.acting import GUARD, act, fill, moved
from tools.mannequin.fighter.floor import keep_above
from tools.mannequin.fighter.lying import laid
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed

APART = 0.75
"""Metres between the two when a throw begins."""
GRIPPED, OFF, LET_GO, LANDS = 0.28, 0.45, 0.92, 1.34
"""Seconds: hands on the waist, feet off the ground, let go, on the ground."""

_LENGTH = 1.7
# Where the hands hold: from the hips' joint, as if they stood upright.
_GRIP = np.array([0.155, 0.075, -0.055])


def make_thrown(nodes: NodeTable) -> Sheet:
    """Taken by the waist, over the other's right shoulder, on the back 2.1 m ahead."""
    sheet = new_sheet(nodes, _LENGTH)
    rest = moved(laid(nodes, "BACK"), z=2.10)
    end = {**rest, "tilt": (270.0, 0.0, 0.0)}
    flying = {"l-float": 1.0, "r-float": 1.0}
    curves = act(
        sheet,
        (
            GRIPPED,
            {
                "hips": (0.08, 0.885, -0.05),
                "tilt": (8.0, -22.0, 0.0),
                "spine": (16.0, 0.0, 0.0),
                "neck": (-4.0, 8.0, 0.0),
                "head": (-10.0, 10.0, 0.0),
                "l-wrist": (0.20, 1.30, 0.40),
                "r-wrist": (-0.22, 1.30, 0.34),
                "l-fist": 0.4,
                "r-fist": 0.4,
            },
        ),
        (
            OFF,
            {
                "hips": (0.14, 1.00, 0.12),
                "tilt": (34.0, -8.0, 0.0),
                "spine": (28.0, 4.0, 0.0),
                "neck": (-10.0, 0.0, 0.0),
                "head": (-18.0, 0.0, 0.0),
                "l-ball": (0.12, 0.05, 0.08),
                "l-foot": (-4.0, -60.0, 0.0),
                "l-toe": 40.0,
                "r-ball": (-0.14, 0.05, -0.16),
                "r-foot": (-30.0, -66.0, 0.0),
                "r-toe": 40.0,
                "l-drop": -50.0,
                "r-drop": -50.0,
                "l-air": (0.10, -0.78, 0.02),
                "r-air": (-0.12, -0.72, 0.12),
            },
        ),
        (
            0.62,
            {
                **flying,
                "hips": (0.17, 1.42, 0.52),
                "tilt": (84.0, 0.0, 0.0),
                "spine": (34.0, 6.0, 0.0),
                "l-air": (0.12, -0.74, 0.14),
                "r-air": (-0.12, -0.62, 0.26),
                "l-wrist": (0.28, 1.50, 0.44),
                "r-wrist": (-0.26, 1.50, 0.40),
            },
        ),
        (
            0.78,
            {
                "hips": (0.16, 1.60, 0.92),
                "tilt": (128.0, 0.0, 0.0),
                "spine": (26.0, 4.0, 0.0),
                "l-air": (0.14, -0.72, -0.02),
                "r-air": (-0.14, -0.66, 0.20),
                "l-wrist": (0.40, 1.62, 0.30),
                "r-wrist": (-0.40, 1.60, 0.28),
            },
        ),
        (
            LET_GO,
            {
                "hips": (0.12, 1.50, 1.28),
                "tilt": (170.0, 0.0, 0.0),
                "spine": (8.0, 2.0, 0.0),
                "neck": (4.0, 0.0, 0.0),
                "head": (4.0, 0.0, 0.0),
                "l-elbow": (0.9, -0.2, -0.2),
                "r-elbow": (-0.9, -0.2, -0.2),
                "l-air": (0.16, -0.76, -0.06),
                "r-air": (-0.15, -0.62, 0.22),
            },
        ),
        (
            1.14,
            {
                "hips": (0.05, 0.98, 1.76),
                "tilt": (224.0, 0.0, 0.0),
                "spine": (16.0, 0.0, 0.0),
                "neck": (16.0, 0.0, 0.0),
                "head": (18.0, 0.0, 0.0),
                "l-air": (0.16, -0.68, 0.28),
                "r-air": (-0.16, -0.56, 0.40),
                "l-wrist": (0.54, 1.42, 0.10),
                "r-wrist": (-0.54, 1.40, 0.10),
                "l-elbow": (0.7, 0.8, -0.3),
                "r-elbow": (-0.7, 0.8, -0.3),
            },
        ),
        (
            LANDS,
            {
                "hips": (0.01, 0.15, 2.08),
                "tilt": (262.0, 0.0, 0.0),
                "spine": (18.0, 0.0, 0.0),
                "neck": (16.0, 2.0, 0.0),
                "head": (14.0, 4.0, 0.0),
                "l-float": 0.7,
                "r-float": 0.7,
                **{
                    f"{s}-{n}": end[f"{s}-{n}"]
                    for s in "lr"
                    for n in ("ball", "foot", "knee", "toe", "palm", "hand", "point")
                },
                "l-hold": 0.6,
                "r-hold": 0.6,
                "l-flat": 0.5,
                "r-flat": 0.5,
            },
        ),
        (1.46, {**end, "spine": (3.0, 0.0, 0.0), "l-float": 0.25, "r-float": 0.35}),
        (1.62, {**end, "l-float": 0.0, "r-float": 0.0}),
        (_LENGTH, {**end, "l-float": 0.0, "r-float": 0.0}),
        extra={
            # Thrown up by the hands, then free: a body that nothing carries.
            "hips": [
                (0.0, GUARD["hips"]),
                (0.20, (0.05, 0.885, -0.05)),
                (GRIPPED, (0.10, 0.89, -0.05)),
                (OFF, (0.17, 1.02, 0.06)),
                (0.62, (0.18, 1.44, 0.50)),
                (0.74, (0.17, 1.58, 0.80)),
                (0.82, (0.15, 1.58, 1.00)),
                (LET_GO, (0.13, 1.52, 1.18)),
                (1.04, (0.09, 1.31, 1.50)),
                (1.14, (0.05, 1.03, 1.74)),
                (1.24, (0.03, 0.64, 1.92)),
                (LANDS, (0.01, 0.16, 2.06)),
                (1.46, end["hips"]),
                (_LENGTH, end["hips"]),
            ],
        },
    )
    lies = keyed(sheet.times, (1.33, 0), (1.42, 1), (_LENGTH, 1))
    keep_above(sheet, curves, lies=lies)
    return sheet


def make_throw(nodes: NodeTable) -> Sheet:
    """Duck in, take the other by the waist, lift it and throw it back over the head."""
    sheet = new_sheet(nodes, _LENGTH)
    curves = act(
        sheet,
        (
            0.14,
            {
                "hips": (0.01, 0.74, 0.06),
                "tilt": (18.0, -24.0, 0.0),
                "spine": (16.0, 0.0, 0.0),
                "neck": (-8.0, 10.0, 0.0),
                "head": (-18.0, 12.0, 0.0),
                "l-ball": (0.15, 0.07, 0.36),
                "l-foot": (6.0, 4.0, 0.0),
                "l-wrist": (0.20, 1.22, 0.42),
                "r-wrist": (-0.22, 1.22, 0.34),
                "l-fist": 0.1,
                "r-fist": 0.1,
            },
        ),
        (
            GRIPPED,
            {
                "hips": (0.10, 0.65, 0.11),
                "tilt": (38.0, -12.0, -4.0),
                "spine": (14.0, 0.0, -10.0),
                "neck": (-12.0, 0.0, -14.0),
                "head": (-26.0, 0.0, -14.0),
                "l-ball": (0.17, 0.024, 0.42),
                "l-foot": (10.0, 0.0, 0.0),
                "l-knee": (0.3, 0.1, 0.95),
                "r-foot": (-44.0, -44.0, 0.0),
                "r-toe": 44.0,
                "l-fist": 0.6,
                "r-fist": 0.6,
                "l-hold": 1.0,
                "r-hold": 1.0,
            },
        ),
        (
            OFF,
            {
                "hips": (0.11, 0.69, 0.13),
                "tilt": (30.0, -12.0, -4.0),
                "spine": (10.0, 0.0, -12.0),
                "r-foot": (-44.0, -36.0, 0.0),
                "r-toe": 36.0,
            },
        ),
        (
            0.64,
            {
                "hips": (0.10, 0.88, 0.16),
                "tilt": (-2.0, -14.0, -2.0),
                "spine": (-6.0, 0.0, -12.0),
                "head": (-16.0, 8.0, -14.0),
                "l-lift": 16.0,
                "r-lift": 16.0,
            },
        ),
        (
            0.80,
            {
                "hips": (0.07, 0.885, 0.17),
                "tilt": (-12.0, -12.0, 0.0),
                "spine": (-22.0, 6.0, -8.0),
                "neck": (-8.0, 4.0, -6.0),
                "head": (-20.0, 6.0, -10.0),
                "r-foot": (-44.0, -26.0, 0.0),
                "r-toe": 26.0,
            },
        ),
        (
            LET_GO,
            {
                "hips": (0.05, 0.87, 0.15),
                "tilt": (-18.0, -10.0, 0.0),
                "spine": (-34.0, 4.0, -6.0),
                "l-wrist": (0.24, 1.90, -0.02),
                "r-wrist": (-0.24, 1.92, -0.04),
            },
        ),
        (
            1.06,
            {
                "hips": (0.03, 0.83, 0.18),
                "tilt": (-10.0, -22.0, 0.0),
                "spine": (-20.0, 0.0, -2.0),
                "neck": (-2.0, 8.0, 0.0),
                "head": (-10.0, 12.0, 0.0),
                "l-hold": 0.0,
                "r-hold": 0.0,
                "l-fist": 0.3,
                "r-fist": 0.3,
                "l-wrist": (0.30, 1.86, 0.05),
                "r-wrist": (-0.34, 1.86, 0.02),
                "l-elbow": (0.8, -0.2, 0.5),
                "r-elbow": (-0.8, -0.2, 0.5),
                "l-lift": 10.0,
                "r-lift": 10.0,
            },
        ),
        (
            1.30,
            {
                "hips": (0.02, 0.83, 0.06),
                "tilt": (8.0, -30.0, 0.0),
                "spine": (12.0, -4.0, 0.0),
                "neck": (4.0, 12.0, 0.0),
                "head": (0.0, 16.0, 0.0),
                "l-ball": (0.14, 0.05, 0.36),
                "l-foot": (0.0, -8.0, 0.0),
                "l-wrist": (0.22, 1.36, 0.40),
                "r-wrist": (-0.22, 1.34, 0.30),
                "l-elbow": GUARD["l-elbow"],
                "r-elbow": GUARD["r-elbow"],
                "l-lift": 0.0,
                "r-lift": 0.0,
            },
        ),
        (1.48, {**GUARD, "hips": (0.0, 0.87, -0.02)}),
        (_LENGTH, GUARD),
    )
    grips = grip_points(nodes)
    # Its left hand holds the other's right side: they stand face to face.
    for side, other, out in (("l", "r", 1.0), ("r", "l", -1.0)):
        curves[f"{side}-palm"] = grips[other]
        way = np.stack(
            [np.full(len(sheet.times), out), 0 * sheet.times, 0 * sheet.times], 1
        )
        way[:, 1] = keyed(sheet.times, (0, -0.6), (0.45, -0.6), (0.7, 0.1), (1.0, 0.4))
        way[:, 2] = keyed(sheet.times, (0, -0.2), (0.45, -0.2), (0.7, 0.6), (1.0, 0.6))
        curves[f"{side}-point"] = way
    fill(sheet, curves)
    return sheet


def grip_points(nodes: NodeTable) -> dict[str, Doubles]:
    """Where the thrown one is held, by its sides, in the thrower's frame: (T, 3)."""
    thrown = make_thrown(nodes)
    turned = thrown.deltas["hips"]
    found = {}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        from_hips = _GRIP * np.array([sign, 1.0, 1.0])
        place = thrown.hips + np.einsum("tij,j->ti", turned, from_hips)
        # Face to face: the other's frame turned by half a circle, APART ahead.
        found[side] = place * np.array([-1.0, 1.0, -1.0]) + np.array([0.0, 0.0, APART])
    return found
