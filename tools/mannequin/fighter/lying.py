"""How the mannequin lies: on the back, on the front, on the left side, limp or not.

Each pose has the hips over the origin; `acting.moved` takes it elsewhere.
"""

from __future__ import annotations

from functools import cache

from tools.mannequin.fighter.acting import GUARD, Pose, act
from tools.mannequin.fighter.floor import settled
from tools.mannequin.gait import wave
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet

_DOWN = (0.0, -1.0, 0.0)
BACK: Pose = {
    **GUARD,
    "hips": (0.0, 0.115, 0.0),
    "tilt": (-90.0, 0.0, 0.0),
    "spine": (0.0, 0.0, 0.0),
    "neck": (3.0, 4.0, 0.0),
    "head": (4.0, 14.0, 0.0),
    "l-ball": (0.14, 0.024, 0.62),
    "l-foot": (8.0, 0.0, 0.0),
    "l-toe": 0.0,
    "l-knee": (0.22, 0.95, 0.25),
    "r-ball": (-0.17, 0.19, 0.88),
    "r-foot": (-24.0, 70.0, 0.0),
    "r-toe": 0.0,
    "r-knee": (-0.25, 0.95, 0.20),
    "l-palm": (0.53, 0.04, -0.27),
    "l-point": (0.55, 0.0, -0.80),
    "l-hand": (0.85, 0.0, 0.50, *_DOWN),
    "r-palm": (-0.50, 0.04, -0.20),
    "r-point": (-0.60, 0.0, -0.75),
    "r-hand": (-0.70, 0.0, 0.70, *_DOWN),
    **{f"{s}-{name}": 1.0 for s in "lr" for name in ("hold", "flat")},
    **{f"{s}-fist": 0.25 for s in "lr"},
}
FRONT: Pose = {
    **GUARD,
    "hips": (0.0, 0.10, 0.0),
    "tilt": (90.0, 0.0, 0.0),
    "spine": (-4.0, 0.0, 0.0),
    "neck": (-10.0, 24.0, 0.0),
    "head": (-8.0, 38.0, 0.0),
    "l-ball": (0.17, 0.05, -0.985),
    "l-foot": (10.0, -160.0, 0.0),
    "l-toe": 0.0,
    "l-knee": (0.45, -0.9, 0.0),
    "r-ball": (-0.20, 0.05, -0.965),
    "r-foot": (-14.0, -160.0, 0.0),
    "r-toe": 0.0,
    "r-knee": (-0.50, -0.9, 0.0),
    "l-palm": (0.40, 0.04, 0.62),
    "l-point": (0.80, 0.05, -0.60),
    "l-hand": (-0.15, 0.0, 1.0, *_DOWN),
    "r-palm": (-0.42, 0.04, 0.55),
    "r-point": (-0.80, 0.05, -0.60),
    "r-hand": (0.10, 0.0, 1.0, *_DOWN),
    **{f"{s}-{name}": 1.0 for s in "lr" for name in ("hold", "flat")},
    **{f"{s}-fist": 0.2 for s in "lr"},
}
LEFT: Pose = {
    **GUARD,
    "hips": (0.0, 0.15, 0.0),
    "tilt": (6.0, 4.0, -84.0),
    "spine": (16.0, -4.0, 6.0),
    "neck": (8.0, 0.0, -8.0),
    "head": (10.0, 0.0, -8.0),
    "l-ball": (-0.66, 0.06, 0.32),
    "l-foot": (0.0, -10.0, -80.0),
    "l-toe": 0.0,
    "l-knee": (0.3, 0.0, 1.0),
    "r-ball": (-0.60, 0.07, 0.08),
    "r-foot": (10.0, -20.0, -72.0),
    "r-toe": 0.0,
    "r-knee": (0.3, 0.35, 0.9),
    "l-palm": (0.62, 0.05, 0.46),
    "l-point": (-0.6, 0.0, 0.8),
    "l-hand": (0.45, 0.0, 0.9, 0.0, 1.0, 0.0),
    "r-palm": (0.34, 0.05, 0.44),
    "r-point": (-0.6, 0.5, 0.6),
    "r-hand": (0.3, -0.2, 0.9, *_DOWN),
    **{f"{s}-{name}": 1.0 for s in "lr" for name in ("hold", "flat")},
    **{f"{s}-fist": 0.3 for s in "lr"},
}
LIMP_BACK: Pose = {
    **BACK,
    "neck": (2.0, -6.0, 0.0),
    "head": (2.0, -30.0, 4.0),
    "l-ball": (0.30, 0.19, 0.84),
    "l-foot": (34.0, 62.0, 0.0),
    "l-knee": (0.75, 0.55, 0.20),
    "l-palm": (0.56, 0.04, -0.42),
    "l-point": (0.45, 0.0, -0.80),
    "l-hand": (1.0, 0.05, 0.25, 0.0, 1.0, 0.0),
}
LIMP_FRONT: Pose = {
    **FRONT,
    "l-palm": (0.40, 0.04, 0.10),
    "l-point": (0.9, 0.05, 0.3),
    "l-hand": (0.2, 0.0, -1.0, 0.0, 1.0, 0.0),
    "r-palm": (-0.46, 0.04, 0.60),
}


@cache
def _cached(nodes: NodeTable, name: str) -> Pose:
    return settled(nodes, globals()[name])


def laid(nodes: NodeTable, name: str) -> Pose:
    """One of the poses above by its name, resting on the floor."""
    return _cached(nodes, name)


def make_lie_back(nodes: NodeTable) -> Sheet:
    """Lie on the back and breathe: 2 s."""
    return _breathe(nodes, "BACK", 1.0)


def make_lie_front(nodes: NodeTable) -> Sheet:
    """Lie on the front and breathe: 2 s."""
    return _breathe(nodes, "FRONT", -1.0)


def _breathe(nodes: NodeTable, name: str, side: float) -> Sheet:
    sheet = new_sheet(nodes, 2.0)
    pose = laid(nodes, name)
    act(sheet, start=pose)
    breath = 0.5 - wave(sheet.times / 2.0, 0.5, 0.0)
    # The ribs rise, the shoulders and the head stay where they lie.
    for joint, turned in (("spine0", -1.0), ("spine1", -0.6), ("chest", 1.8)):
        sheet.lean(joint, x=side * turned * breath)
    sheet.lean("neck", x=-0.2 * side * breath)
    return sheet
