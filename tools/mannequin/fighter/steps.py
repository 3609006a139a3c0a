"""Steps in guard, crouch, low kick and a blow to the belly.

Times in seconds, angles in degrees, places in metres. The steps are loops on the spot;
kick and blow start and end in the guard, the crouch starts in it and is held.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from tools.mannequin.fighter.acting import GUARD, Pose, act
from tools.mannequin.gait import wave
from tools.mannequin.guard import (
    LEFT_WRIST,
    LEFT_YAW,
    RIGHT_PITCH,
    RIGHT_WRIST,
    RIGHT_YAW,
    guard_arms,
    guard_hands,
    guard_trunk,
    left_toe,
    right_toe,
)
from tools.mannequin.nodes import NodeTable
from tools.mannequin.rig import Sheet, new_sheet
from tools.mannequin.stances import keyed, place_foot

STEP_SPEED = 1.2
"""Metres a second of advance, and backwards of retreat."""

_CYCLE, _SWING = 0.5, 0.24
# When the foot that goes first leaves the ground, and the one that follows.
_FIRST, _SECOND = 0.02, 0.15


def make_advance(nodes: NodeTable) -> Sheet:
    """Step ahead in guard at 1.2 m/s, 0.5 s a step, the left foot first."""
    return _step(nodes, 1.0)


def make_retreat(nodes: NodeTable) -> Sheet:
    """Step back in guard at 1.2 m/s, 0.5 s a step, the right foot first."""
    return _step(nodes, -1.0)


def _step(nodes: NodeTable, way: float) -> Sheet:
    sheet = new_sheet(nodes, _CYCLE)
    phase = sheet.times / _CYCLE
    air = (_FIRST + _SECOND + _SWING) / 2 / _CYCLE
    bob, surge = wave(phase, 1.0, air), wave(phase, way, air - 0.25)
    none = np.zeros_like(phase)
    guard_trunk(
        sheet,
        np.stack([none, -0.030 + 0.012 * bob, 0.016 * surge + 0.01 * way], 1),
        hips=np.stack([2.0 * way + 1.5 * surge, 3.0 * surge, none], 1),
        spine=np.stack([1.5 - 1.5 * bob, -2.0 * surge, none], 1),
        neck=np.stack([-0.5 * way + none, -0.5 * surge, none], 1),
        head=np.stack([0.6 * bob - way, -0.5 * surge, none], 1),
    )
    offs = (_FIRST, _SECOND) if way > 0 else (_SECOND, _FIRST)
    planted = _CYCLE - _SWING
    for side, off, spot in zip("lr", offs, (left_toe, right_toe), strict=True):
        own = (sheet.times - off) % _CYCLE
        u = np.clip(own / _SWING, 0.0, 1.0)
        gone = STEP_SPEED * _CYCLE * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2) - 1.0)
        ahead = way * (gone - STEP_SPEED * (own - _SWING) + 0.5 * STEP_SPEED * planted)
        ball = spot(sheet)
        ball[:, 2] += ahead
        ball[:, 1] += 0.042 * np.sin(np.pi * u)
        rise = np.sin(np.pi * np.clip(own / _SWING, 0.0, 1.0)) ** 2
        carried = np.clip((own - _SWING) / planted, 0.0, 1.0)
        # The heel of the foot that is left behind comes up before it leaves.
        heel = _heel(own, side, way)
        pitch = heel - 6.0 * rise * (carried <= 0.0)
        base = 0.0 if side == "l" else RIGHT_PITCH
        yaw, out = (LEFT_YAW, 6.0) if side == "l" else (RIGHT_YAW, 4.0)
        place_foot(sheet, side, ball, yaw=yaw, pitch=base + pitch, knee_out=out)
    late = wave(phase, 1.0, air + 0.10)
    rise = np.stack([none, 0.005 - 0.007 * late, 0.004 * late], 1)
    guard_arms(sheet, np.asarray(LEFT_WRIST) + rise, np.asarray(RIGHT_WRIST) + rise)
    guard_hands(sheet)
    return sheet


def _heel(own: Doubles, side: str, way: float) -> Doubles:
    """Added pitch (T,) of a foot by the time since it left the ground."""
    if side == "l":
        before = -14.0 if way > 0 else -2.0
    else:
        before = -12.0 if way > 0 else 4.0
    return keyed(
        own,
        (-0.10, 0.5 * before),
        (0, before),
        (0.07, before),
        (0.20, 0),
        (0.34, 0),
        (0.40, 0.5 * before),
        (0.50, before),
        (0.57, before),
    )


def make_crouch(nodes: NodeTable) -> Sheet:
    """Down behind the fists at 0.2 s, head at 1.2 m; held to 0.4 s."""
    sheet = new_sheet(nodes, 0.4)
    low: Pose = {
        "hips": (0.0, 0.520, -0.080),
        "tilt": (20.0, -28.0, 0.0),
        "spine": (24.0, -4.0, 0.0),
        "neck": (-10.0, 10.0, 0.0),
        "head": (-24.0, 16.0, 0.0),
        "r-foot": (-40.0, -50.0, 0.0),
        "r-toe": 50.0,
        "l-knee": (0.05, 0.0, 1.0),
        "r-knee": (-0.62, 0.0, 0.78),
        "l-wrist": (0.06, 1.40, 0.30),
        "r-wrist": (-0.12, 1.40, 0.22),
    }
    deep: Pose = {**low, "hips": (0.0, 0.505, -0.080)}
    act(sheet, (0.20, deep), (0.28, low), (0.4, low), late={"head": 0.03, "neck": 0.02})
    return sheet


def make_low_kick(nodes: NodeTable) -> Sheet:
    """Right foot swung round to a shin: out at 0.40 s, guard again at 0.95 s."""
    sheet = new_sheet(nodes, 0.95)
    coil: Pose = {
        "hips": (0.02, 0.868, -0.005),
        "tilt": (4.0, -38.0, 0.0),
        "spine": (7.0, -10.0, 0.0),
        "head": (-4.0, 24.0, 0.0),
        "r-foot": (-46.0, -36.0, 0.0),
        "r-toe": 36.0,
    }
    lift: Pose = {
        "hips": (0.045, 0.872, 0.075),
        "tilt": (-2.0, -8.0, 7.0),
        "spine": (8.0, -14.0, -4.0),
        "neck": (4.0, 8.0, 0.0),
        "head": (-2.0, 14.0, 0.0),
        "l-foot": (20.0, 0.0, 0.0),
        "l-knee": (0.28, 0.0, 0.96),
        "r-ball": (-0.34, 0.30, 0.16),
        "r-foot": (-10.0, -52.0, 12.0),
        "r-toe": 10.0,
        "r-knee": (-0.48, 0.10, 0.86),
        "r-wrist": (-0.14, 1.33, 0.24),
    }
    out: Pose = {
        "hips": (0.050, 0.865, 0.130),
        "tilt": (-10.0, 30.0, 10.0),
        "spine": (12.0, -24.0, -8.0),
        "neck": (4.0, -6.0, 0.0),
        "head": (0.0, -4.0, -2.0),
        "l-foot": (42.0, 0.0, 0.0),
        "l-knee": (0.60, 0.0, 0.80),
        "r-ball": (0.00, 0.29, 0.93),
        "r-foot": (58.0, -18.0, 30.0),
        "r-toe": 0.0,
        "r-knee": (0.15, 0.45, 0.85),
        "r-wrist": (-0.34, 1.12, 0.05),
        "l-wrist": (0.09, 1.38, 0.30),
    }
    past: Pose = {
        **out,
        "r-ball": (0.09, 0.29, 0.90),
        "tilt": (-10.0, 34.0, 10.0),
        "hips": (0.05, 0.865, 0.128),
    }
    back: Pose = {
        **lift,
        "hips": (0.025, 0.872, 0.05),
        "tilt": (0.0, -14.0, 4.0),
        "r-ball": (-0.30, 0.22, 0.14),
        "r-wrist": (-0.20, 1.26, 0.20),
    }
    act(
        sheet,
        (0.10, coil),
        (0.25, lift),
        (0.40, out),
        (0.46, past),
        (0.66, back),
        (0.84, {**GUARD, "hips": (0.0, 0.878, -0.025)}),
        (0.95, GUARD),
        late={"r-wrist": 0.02, "head": 0.02},
    )
    return sheet


def make_hit_low(nodes: NodeTable) -> Sheet:
    """Struck in the belly at 0 s: doubled over at 0.16 s, in guard again at 0.65 s."""
    sheet = new_sheet(nodes, 0.65)
    bent: Pose = {
        "hips": (-0.015, 0.835, -0.165),
        "tilt": (16.0, -34.0, 0.0),
        "spine": (46.0, -8.0, 2.0),
        "neck": (6.0, 8.0, 0.0),
        "head": (12.0, 12.0, 2.0),
        "l-foot": (LEFT_YAW, 0.0, 0.0),
        "r-foot": (RIGHT_YAW, -14.0, 0.0),
        "r-toe": 14.0,
        "l-wrist": (0.03, 1.16, 0.26),
        "r-wrist": (-0.14, 1.14, 0.18),
        "l-elbow": (0.60, -1.0, -0.10),
        "r-elbow": (-0.70, -1.0, -0.20),
        "l-fist": 0.6,
        "r-fist": 0.6,
    }
    up: Pose = {
        **bent,
        "hips": (-0.010, 0.850, -0.130),
        "tilt": (10.0, -34.0, 0.0),
        "spine": (32.0, -8.0, 1.0),
        "neck": (-2.0, 10.0, 0.0),
        "head": (-6.0, 16.0, 0.0),
    }
    late = {"neck": 0.03, "head": 0.05, "l-wrist": 0.03, "r-wrist": 0.03}
    act(sheet, (0.14, bent), (0.28, up), (0.65, GUARD), late=late)
    return sheet
