"""Skeletons of human bodies with any names, in a T-pose or another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flexor.maths import quaternions
from flexor.scene.character.skeleton import Skeleton

# Where the joints of the middle and the left side are in a T-pose: metres, Y up, the
# face toward +Z. Each has the first of its parents that there is.
_MIDDLE: dict[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {
    "hips": ((), (0, 0.95, 0)),
    "spine": (("hips",), (0, 1.06, 0)),
    "chest": (("spine",), (0, 1.16, 0)),
    "upperChest": (("chest",), (0, 1.28, 0)),
    "neck": (("upperChest", "chest", "spine"), (0, 1.48, -0.02)),
    "head": (("neck", "upperChest", "chest", "spine"), (0, 1.58, 0)),
    "jaw": (("head",), (0, 1.6, 0.05)),
}
_SIDE: dict[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {
    "Eye": (("head",), (0.03, 1.65, 0.07)),
    "Shoulder": (("upperChest", "chest", "spine"), (0.03, 1.43, 0)),
    "UpperArm": (("Shoulder", "upperChest", "chest", "spine"), (0.18, 1.43, 0)),
    "LowerArm": (("UpperArm",), (0.46, 1.43, -0.005)),
    "Hand": (("LowerArm",), (0.71, 1.43, 0)),
    "UpperLeg": (("hips",), (0.09, 0.92, 0)),
    "LowerLeg": (("UpperLeg",), (0.1, 0.5, 0.005)),
    "Foot": (("LowerLeg",), (0.11, 0.08, -0.02)),
    "Toes": (("Foot",), (0.12, 0.02, 0.1)),
}
_REACH = {"Thumb": 0.03, "Index": 0.09, "Middle": 0.095, "Ring": 0.09, "Little": 0.08}
_ACROSS = {"Thumb": 0.04, "Index": 0.03, "Middle": 0.01, "Ring": -0.01, "Little": -0.03}
for _finger, _reach in _REACH.items():
    _joints = ("Proximal", "Intermediate", "Distal")
    if _finger == "Thumb":
        _joints = ("Metacarpal", "Proximal", "Distal")
    _above: tuple[str, ...] = ("Hand", "LowerArm")
    for _row, _joint in enumerate(_joints):
        _place = (0.71 + _reach + 0.03 * _row, 1.43, _ACROSS[_finger])
        _SIDE[_finger + _joint] = (_above, _place)
        _above = (_finger + _joint, *_above)


def body_places(drop: float = 0.0) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Parents and place (3,) by part; drop: degrees that the arms hang lower."""
    parts: dict[str, tuple[tuple[str, ...], Any]] = {
        part: (above, np.array(place)) for part, (above, place) in _MIDDLE.items()
    }
    pivot = np.array(_SIDE["UpperArm"][1])
    turn = np.radians(drop)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for part, (above, place) in _SIDE.items():
            out = np.array(place)
            if out[0] > 0.2:
                reach, height, depth = out - pivot
                cos, sin = np.cos(turn), np.sin(turn)
                x, y = cos * reach + sin * height, -sin * reach + cos * height
                out = pivot + np.array((x, y, depth))
            up = tuple(a if a in _MIDDLE else side + a for a in above)
            parts[side + part] = (up, out * [sign, 1, 1])
    return parts


def make_body(
    names: Mapping[str, str] | Callable[[str], str] = str,
    *,
    drop: float = 0.0,
    rotations: Any = None,
    turn: Any = (0.0, 0.0, 0.0, 1.0),
    size: float = 1.0,
    without: tuple[str, ...] = (),
) -> Skeleton:
    """A body whose joints have names, by part; those without a name are left out.

    rotations: a function of the number of joints that gives the world rotations of
    their local axes (J, 4), None: all along the world's; turn: of the whole body.
    """
    name = names.get if isinstance(names, Mapping) else names
    parts = {
        part: (above, place)
        for part, (above, place) in body_places(drop).items()
        if name(part) is not None and part not in without
    }
    order = list(parts)
    count = len(order)
    given = (
        np.tile([0.0, 0, 0, 1], (count, 1)) if rotations is None else rotations(count)
    )
    frames = quaternions.to_matrix(quaternions.normalise(np.asarray(given, float)))
    whole = quaternions.to_matrix(quaternions.normalise(np.array(turn, float)))
    frames = whole @ frames
    places = np.array([whole @ parts[part][1] * size for part in order]).reshape(-1, 3)
    parents, moves, turns = [], [], []
    for row, part in enumerate(order):
        above = next((order.index(a) for a in parts[part][0] if a in parts), -1)
        parents.append(above)
        base = np.eye(3) if above < 0 else frames[above]
        start = np.zeros(3) if above < 0 else places[above]
        moves.append(base.T @ (places[row] - start))
        turns.append(quaternions.from_matrix(base.T @ frames[row]))
    return Skeleton(
        tuple(str(name(part)) for part in order),
        np.array(parents, np.int32),
        np.array(moves).reshape(count, 3),
        np.array(turns).reshape(count, 4),
        np.ones((count, 3)),
    )
