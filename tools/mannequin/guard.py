"""The fighting guard: the pose in which punch, kick and the clips of a duel meet.

Left foot in front, trunk turned to the right, fists before the chin. Metres and
degrees in model space; everything here is added to the guard, so that a clip whose
additions end at nothing ends in the guard.
"""

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import (
    close_fist,
    place_foot,
    reach,
    toe_rest,
    turn_spine,
)

STILL = (0.0, 0.0, 0.0)
HIPS = (0.0, -0.066, -0.02)
# Yaw of the hips, and of the feet; pitch of the rear foot, which stands on its ball.
HIPS_YAW, LEFT_YAW, RIGHT_YAW, RIGHT_PITCH = -32.0, -8.0, -46.0, -24.0
LEFT_WRIST, RIGHT_WRIST = (0.07, 1.365, 0.355), (-0.10, 1.36, 0.235)
LEFT_ELBOW, RIGHT_ELBOW = (0.35, -1.0, -0.05), (-0.45, -1.0, -0.15)


def guard_trunk(
    sheet: Sheet,
    shift: ArrayLike = STILL,
    *,
    hips: ArrayLike = STILL,
    spine: ArrayLike = STILL,
    neck: ArrayLike = STILL,
    head: ArrayLike = STILL,
) -> None:
    """Hips, trunk and head of the guard, moved by `shift` and turned further.

    Each (3,) or (T, 3): shift in metres; the others degrees forward, left, to right.
    """
    sheet.hips += np.asarray(HIPS) + np.asarray(shift)
    _lean(sheet, "hips", (3.0, HIPS_YAW, 0.0), hips)
    turn_spine(sheet, *(np.asarray((5.0, -4.0, 0.0)) + np.asarray(spine)).T)
    _lean(sheet, "neck", (4.0, 12.0, 0.0), neck)
    _lean(sheet, "head", (-4.0, 18.0, 0.0), head)


def _lean(sheet: Sheet, name: str, guard: ArrayLike, added: ArrayLike) -> None:
    sheet.lean(name, *(np.asarray(guard) + np.asarray(added)).T)


def between(guard: ArrayLike, other: ArrayLike, share: ArrayLike) -> Doubles:
    """From (3,) to (3,) by a share (T,): the guard at 0, the other at 1; (T, 3)."""
    start = np.asarray(guard, np.float64)
    return start + np.asarray(share)[:, None] * (np.asarray(other) - start)


def left_toe(sheet: Sheet) -> Doubles:
    """Where the toe joint of the front foot stands (T, 3)."""
    return toe_rest(sheet, "l", 0.105, 0.29)


def right_toe(sheet: Sheet) -> Doubles:
    """Where the toe joint of the rear foot stands (T, 3)."""
    return toe_rest(sheet, "r", 0.165, -0.13)


def front_foot(sheet: Sheet, move: ArrayLike = STILL, pitch: ArrayLike = 0.0) -> None:
    """Front foot of the guard, its toe joint moved by (T, 3) metres."""
    place_foot(
        sheet,
        "l",
        left_toe(sheet) + np.asarray(move),
        yaw=LEFT_YAW,
        pitch=pitch,
        knee_out=6.0,
    )


def rear_foot(
    sheet: Sheet,
    move: ArrayLike = STILL,
    *,
    pitch: ArrayLike = 0.0,
    yaw: ArrayLike = 0.0,
) -> None:
    """Rear foot of the guard: toe joint moved, heel lowered by pitch, turned left."""
    place_foot(
        sheet,
        "r",
        right_toe(sheet) + np.asarray(move),
        yaw=RIGHT_YAW + np.asarray(yaw),
        pitch=RIGHT_PITCH + np.asarray(pitch),
        knee_out=4.0,
    )


def guard_arms(
    sheet: Sheet,
    left: ArrayLike = LEFT_WRIST,
    right: ArrayLike = RIGHT_WRIST,
    *,
    left_elbow: ArrayLike = LEFT_ELBOW,
    right_elbow: ArrayLike = RIGHT_ELBOW,
) -> None:
    """Both arms by wrists and the ways the elbows point, each (3,) or (T, 3).

    All as they would be were the trunk in the guard: the chest carries them along, so
    arms are not torn off their course when the trunk is thrown about. Set it first.
    """
    now, before = _chest(sheet), _chest_of_guard(sheet)
    turned = now[0] @ before[0].T
    count = len(sheet.times)
    for side, wrist, elbow in (("l", left, left_elbow), ("r", right, right_elbow)):
        away = np.broadcast_to(np.asarray(wrist) - before[1], (count, 3))
        pole = np.broadcast_to(np.asarray(elbow, np.float64), (count, 3))
        target = now[1] + np.einsum("tij,tj->ti", turned, away)
        reach(sheet, side, target, np.einsum("tij,tj->ti", turned, pole))


def _chest(sheet: Sheet) -> tuple[Doubles, Doubles]:
    """World rotations (T, 3, 3) and places (T, 3) of the chest."""
    row, solved = sheet.nodes.index("chest"), sheet.solve()
    return solved.world[:, row], solved.positions[:, row]


def _chest_of_guard(sheet: Sheet) -> tuple[Doubles, Doubles]:
    """World rotation (3, 3) and place (3,) of the chest in the guard."""
    still = new_sheet(sheet.nodes, 0.0)
    guard_trunk(still)
    world, places = _chest(still)
    return world[0], places[0]


def guard_hands(
    sheet: Sheet, punch: ArrayLike = 0.0, *, fist: ArrayLike = 1.0, lift: ArrayLike = 0
) -> None:
    """Fists of the guard and the shoulders behind them.

    punch: 0 to 1, the right fist turned over and its shoulder pushed forward; fist:
    how far the hands are closed; lift: degrees by which the shoulders are raised.
    """
    over, up = np.asarray(punch), np.asarray(lift)
    close_fist(sheet, "lr", fist)
    sheet.pronate("l", 28.0)
    sheet.pronate("r", 28.0 + 52.0 * over)
    sheet.bend("l-wrist", y=4.0, z=-4.0)
    sheet.bend("r-wrist", y=4.0 * (1.0 - over), z=-4.0)
    sheet.bend("l-shoulder", y=6.0 + up, z=6.0)
    sheet.bend("r-shoulder", y=5.0 + up, z=5.0 + 14.0 * over)
