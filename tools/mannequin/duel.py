"""What two who fight do besides striking, by keys an animator would set.

Times in seconds, angles in degrees, places in metres. All start and end in the guard of
punch and kick, but for the guard that is held, and for the recoil, which takes over
from a punch on its way.
"""

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.gait import wave
from tools.mannequin.guard import (
    LEFT_ELBOW,
    LEFT_WRIST,
    RIGHT_ELBOW,
    RIGHT_WRIST,
    STILL,
    between,
    front_foot,
    guard_arms,
    guard_hands,
    guard_trunk,
    rear_foot,
)
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed, place_foot, reach, toe_rest


def make_stance(nodes: NodeTable) -> Sheet:
    """Ready to fight: 1.6 s, one breath and two bounces; begins as the punch does."""
    sheet = new_sheet(nodes, 1.6)
    phase = sheet.times / 1.6
    # Each is nothing at the first key, so that punch and kick follow without a jump.
    sink = 0.5 - wave(phase, 0.5, 0.0, 2)
    breath = 0.5 - wave(phase, 0.5, 0.0)
    sway = wave(phase, 1.0, 0.25)
    none = np.zeros_like(phase)
    shift = np.stack([0.007 * sway, -0.016 * sink, 0.010 * sink - 0.005 * sway], 1)
    guard_trunk(
        sheet,
        shift,
        hips=np.stack([none, 1.5 * sway, none], 1),
        spine=np.stack([1.2 * sink - 2.6 * breath, -1.2 * sway, none], 1),
        neck=np.stack([1.0 * breath - 0.6 * sink, none, none], 1),
        head=np.stack([1.0 * breath - 0.4 * sink, -0.4 * sway, none], 1),
    )
    front_foot(sheet)
    rear_foot(sheet, pitch=5.0 * sink)
    late = wave(phase, 1.0, 0.32) - wave(np.zeros(1), 1.0, 0.32)
    rise = np.stack([0.003 * sway, 0.006 * breath + 0.006 * sink, 0.006 * late], 1)
    guard_arms(sheet, np.asarray(LEFT_WRIST) + rise, np.asarray(RIGHT_WRIST) + rise)
    guard_hands(sheet, lift=2.0 * breath)
    return sheet


def make_guard(nodes: NodeTable) -> Sheet:
    """Forearms up before face and chest at 0.12 s, then held to 0.4 s."""
    sheet = new_sheet(nodes, 0.4)
    t = sheet.times
    up = keyed(t, (0, 0), (0.12, 1), (0.4, 1))
    sunk = keyed(t, (0, 0), (0.13, 1), (0.24, 0.92), (0.4, 0.92))
    share = up[:, None]
    guard_trunk(
        sheet,
        sunk[:, None] * np.array([0.0, -0.042, -0.008]),
        hips=share * np.array([3.0, 4.0, 0.0]),
        spine=sunk[:, None] * np.array([9.0, 6.0, 0.0]),
        neck=share * np.array([5.0, -4.0, 0.0]),
        head=share * np.array([7.0, -6.0, 0.0]),
    )
    front_foot(sheet)
    rear_foot(sheet, pitch=6.0 * sunk)
    left = keyed(
        t,
        (0, LEFT_WRIST),
        (0.07, (0.050, 1.46, 0.36)),
        (0.12, (-0.005, 1.525, 0.320)),
        (0.4, (-0.005, 1.52, 0.315)),
    )
    right = keyed(
        t,
        (0, RIGHT_WRIST),
        (0.07, (-0.18, 1.43, 0.235)),
        (0.12, (-0.190, 1.505, 0.225)),
        (0.4, (-0.190, 1.50, 0.22)),
    )
    guard_arms(
        sheet,
        left,
        right,
        left_elbow=between(LEFT_ELBOW, (0.15, -1.0, 0.20), up),
        right_elbow=between(RIGHT_ELBOW, (-0.80, -1.0, -0.30), up),
    )
    guard_hands(sheet, lift=6.0 * up)
    return sheet


def make_parry(nodes: NodeTable) -> Sheet:
    """Right forearm sweeps a punch to the left: meets it at 0.15 s, done at 0.20 s."""
    sheet = new_sheet(nodes, 0.5)
    t = sheet.times
    sweep = keyed(t, (0, 0), (0.07, -0.25), (0.20, 1), (0.26, 0.95), (0.5, 0))
    share = sweep[:, None]
    guard_trunk(
        sheet,
        share * np.array([-0.025, -0.022, -0.030]),
        hips=share * np.array([-1.0, 13.0, 2.0]),
        spine=share * np.array([-2.0, 20.0, 5.0]),
        neck=share * np.array([0.0, -14.0, 0.0]),
        head=share * np.array([2.0, -15.0, 3.0]),
    )
    front_foot(sheet)
    rear_foot(sheet, pitch=8.0 * np.clip(sweep, 0.0, 1.0))
    right = keyed(
        t,
        (0, RIGHT_WRIST),
        (0.07, (-0.230, 1.42, 0.22)),
        (0.14, (-0.190, 1.43, 0.285)),
        (0.20, (-0.143, 1.413, 0.28)),
        (0.26, (-0.140, 1.41, 0.27)),
        (0.5, RIGHT_WRIST),
    )
    left = keyed(
        t,
        (0, LEFT_WRIST),
        (0.10, (0.12, 1.28, 0.33)),
        (0.20, (0.09, 1.22, 0.28)),
        (0.28, (0.09, 1.22, 0.28)),
        (0.5, LEFT_WRIST),
    )
    swept = np.clip(sweep, 0.0, 1.0)
    guard_arms(
        sheet,
        left,
        right,
        left_elbow=between(LEFT_ELBOW, (0.45, -1.0, -0.20), swept),
        right_elbow=between(RIGHT_ELBOW, (-0.90, -1.0, 0.0), swept),
    )
    guard_hands(sheet)
    return sheet


def make_hit(nodes: NodeTable) -> Sheet:
    """Struck in the face at 0 s: furthest back at 0.15 s, in guard again at 0.55 s."""
    sheet = new_sheet(nodes, 0.55)
    t = sheet.times
    # One part after the other, from the head down, as the blow goes through the body.
    whip = keyed(
        t, (0, 0), (0.06, 1), (0.12, 0.85), (0.25, -0.15), (0.40, 0.08), (0.55, 0)
    )
    bow = keyed(t, (0, 0), (0.10, 1), (0.18, 0.85), (0.36, -0.12), (0.55, 0))
    back = keyed(t, (0, 0), (0.15, 1), (0.22, 0.95), (0.45, 0.02), (0.55, 0))
    guard_trunk(
        sheet,
        back[:, None] * np.array([-0.030, -0.034, -0.095]),
        hips=back[:, None] * np.array([-9.0, -6.0, 2.0]),
        spine=bow[:, None] * np.array([-23.0, -12.0, 5.0]),
        neck=whip[:, None] * np.array([-15.0, -12.0, 3.0]),
        head=whip[:, None] * np.array([-22.0, -20.0, 6.0]),
    )
    front_foot(sheet, pitch=-10.0 * back)
    rear_foot(sheet, pitch=18.0 * back)
    left = keyed(
        t,
        (0, LEFT_WRIST),
        (0.06, (0.075, 1.34, 0.365)),
        (0.16, (0.13, 1.26, 0.38)),
        (0.25, (0.15, 1.20, 0.33)),
        (0.38, (0.11, 1.29, 0.35)),
        (0.55, LEFT_WRIST),
    )
    right = keyed(
        t,
        (0, RIGHT_WRIST),
        (0.06, (-0.13, 1.34, 0.25)),
        (0.16, (-0.23, 1.26, 0.26)),
        (0.25, (-0.27, 1.16, 0.18)),
        (0.38, (-0.17, 1.28, 0.22)),
        (0.55, RIGHT_WRIST),
    )
    guard_arms(
        sheet,
        left,
        right,
        left_elbow=between(LEFT_ELBOW, (0.60, -1.0, -0.10), back),
        right_elbow=between(RIGHT_ELBOW, (-0.70, -1.0, -0.35), back),
    )
    loose = keyed(t, (0, 1), (0.12, 0.45), (0.25, 0.45), (0.48, 1), (0.55, 1))
    guard_hands(sheet, fist=loose, lift=9.0 * bow)
    return sheet


def make_recoil(nodes: NodeTable) -> Sheet:
    """Own punch struck aside: arm flung out at 0.15 s, one step back, guard at 0.7 s.

    Begins with the right arm half stretched, as a parried punch is.
    """
    sheet = new_sheet(nodes, 0.7)
    t = sheet.times
    drive = keyed(t, (0, 0.5), (0.10, 0), (0.7, 0))
    off = keyed(t, (0, 0), (0.16, 1), (0.26, 0.92), (0.56, 0), (0.7, 0))
    fling = keyed(t, (0, 0), (0.13, 1), (0.22, 0.9), (0.46, -0.06), (0.7, 0))
    shift = drive[:, None] * np.array([0.0, -0.012, 0.085])
    shift = shift + off[:, None] * np.array([-0.055, -0.030, -0.165])
    yaw = 42.0 * drive - 20.0 * off
    hips = np.stack([4.0 * drive - 9.0 * off, yaw, 5.0 * off], 1)
    twist = 27.0 * drive - 20.0 * fling
    look = -26.0 * drive + 16.0 * fling
    guard_trunk(
        sheet,
        shift,
        hips=hips,
        spine=np.stack([3.0 * drive - 20.0 * fling, twist, 7.0 * fling], 1),
        neck=np.stack([-6.0 * fling, look, 0 * t], 1),
        head=np.stack([-5.0 * fling, look, 3.0 * fling], 1),
    )
    front_foot(sheet, pitch=-14.0 * off)
    _recoil_step(sheet, t)
    right = keyed(
        t,
        (0, (-0.33, 1.40, 0.33)),
        (0.06, (-0.50, 1.46, 0.16)),
        (0.14, (-0.62, 1.46, -0.10)),
        (0.23, (-0.60, 1.32, -0.16)),
        (0.38, (-0.42, 1.18, 0.02)),
        (0.54, (-0.18, 1.30, 0.19)),
        (0.7, RIGHT_WRIST),
    )
    left = keyed(
        t,
        (0, (0.00, 1.365, 0.33)),
        (0.12, (0.13, 1.33, 0.36)),
        (0.22, (0.20, 1.25, 0.33)),
        (0.45, (0.12, 1.32, 0.35)),
        (0.62, LEFT_WRIST),
        (0.7, LEFT_WRIST),
    )
    guard_arms(
        sheet,
        left,
        right,
        left_elbow=between(LEFT_ELBOW, (0.55, -1.0, -0.10), off),
        right_elbow=between(RIGHT_ELBOW, (-0.30, -1.0, -0.60), off),
    )
    loose = keyed(t, (0, 1), (0.14, 0.5), (0.30, 0.5), (0.55, 1), (0.7, 1))
    guard_hands(sheet, drive, fist=loose, lift=8.0 * np.clip(fling, 0.0, 1.0))
    return sheet


def _recoil_step(sheet: Sheet, t: Doubles) -> None:
    """The rear foot catches the body further back, and later comes in again."""
    far = (-0.05, 0.0, -0.20)
    move = keyed(
        t,
        (0, STILL),
        (0.03, STILL),
        (0.10, (-0.025, 0.045, -0.11)),
        (0.17, far),
        (0.40, far),
        (0.49, (-0.025, 0.040, -0.10)),
        (0.58, STILL),
        (0.7, STILL),
    )
    pitch = keyed(
        t, (0, 0), (0.10, -8), (0.24, 14), (0.36, 4), (0.46, -16), (0.60, 0), (0.7, 0)
    )
    rear_foot(sheet, move, pitch=pitch)


def make_cheer(nodes: NodeTable) -> Sheet:
    """The winner: right fist thrust up twice in 2 s, the left on the hip."""
    sheet = new_sheet(nodes, 2.0)
    phase = sheet.times / 2.0
    beat = 2.0 * phase % 1.0
    up = keyed(beat, (0, 0), (0.12, -0.12), (0.34, 1), (0.50, 0.94), (0.80, 0), (1, 0))
    sway = wave(phase, 1.0, 0.25)
    sheet.hips += np.stack([0.014 * sway, -0.030 + 0.030 * up, 0.006 * up], 1)
    sheet.lean("hips", x=1.0 - 2.0 * up, y=6.0 + 3.0 * sway, z=-1.5 * sway)
    for name, share in (("spine0", 0.3), ("spine1", 0.35), ("chest", 0.35)):
        arch, side = 2.0 - 11.0 * up, -4.0 - 5.0 * up + 2.0 * sway
        sheet.lean(name, x=share * arch, y=share * 8.0 * up, z=share * side)
    sheet.lean("neck", x=1.0 - 4.0 * up, y=2.0 * sway)
    sheet.lean("head", x=-5.0 - 7.0 * up, y=-5.0 + 4.0 * sway, z=3.0)
    heel = -14.0 * np.clip(up, 0.0, 1.0)
    place_foot(sheet, "l", toe_rest(sheet, "l", 0.165, 0.115), yaw=14.0, pitch=heel)
    place_foot(sheet, "r", toe_rest(sheet, "r", 0.165, 0.095), yaw=-16.0, pitch=heel)
    low, high = np.array([-0.335, 1.700, 0.150]), np.array([-0.205, 2.030, 0.040])
    reach(sheet, "r", low + up[:, None] * (high - low), (-1.0, -0.25, 0.25))
    hand = np.stack([0.235 + 0.014 * sway, 1.000 + 0.020 * up, 0.035 + 0 * up], 1)
    reach(sheet, "l", hand, (1.0, 0.0, -0.55))
    guard_hands(sheet, lift=0.0)
    sheet.bend("r-shoulder", y=8.0 + 14.0 * up)
    return sheet
