"""What pads ask for: ways to go, as the camera sees them, and whom to face.

All float64; headings in radians about Y, 0 looks along +z.
"""

from __future__ import annotations

import math

from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float64, int64
from flexor.scene.stage.layout import BUTTON_DOWN as DOWN
from flexor.scene.stage.layout import BUTTON_L as CIRCLE
from flexor.scene.stage.layout import BUTTON_LEFT as LEFT
from flexor.scene.stage.layout import BUTTON_R as RUN
from flexor.scene.stage.layout import BUTTON_RIGHT as RIGHT
from flexor.scene.stage.layout import BUTTON_UP as UP
from flexor.scene.stage.layout import STICK_FULL, STICK_RIGHT, STICK_UP
from flexor.stage.movement.layout import NEAR_SPOT as NEAR
from flexor.stage.movement.layout import NONE, OPPONENT, PadRows, Speeds

FACING = 0.6  # radians: who looks further away from its way turns before it goes
SLANT = 0.5  # a way that is less than this along one axis goes along the other alone


@inline
def turn_toward(heading: float, wanted: float, most: float) -> tuple[float, float]:
    """A heading turned toward another by no more than `most`, and what is left."""
    turn = wanted - heading
    turn -= 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)
    step = min(max(turn, -most), most)
    if step == turn:
        return wanted, 0.0
    return heading + step, turn - step


@inline
def tilt(pad: int, first: int) -> float:
    """How far a stick is tilted along one axis, -1 to 1: a signed byte of a mask."""
    byte = int64(pad) >> first & 0xFF
    return float64(byte - 256 if byte > STICK_FULL else byte) / STICK_FULL


@inline
def way_of(pad: int) -> tuple[float, float, float]:
    """Where a pad points, unit, and how far, 0 to 1: by its stick, or its buttons."""
    right, ahead = tilt(pad, STICK_RIGHT), tilt(pad, STICK_UP)
    if right != 0.0 or ahead != 0.0:
        size = math.sqrt(right * right + ahead * ahead)
        return ahead / size, right / size, min(size, 1.0)
    ahead = float64((pad & UP) != 0) - float64((pad & DOWN) != 0)
    right = float64((pad & RIGHT) != 0) - float64((pad & LEFT) != 0)
    if ahead != 0.0 and right != 0.0:
        ahead, right = ahead * math.sqrt(0.5), right * math.sqrt(0.5)
    return ahead, right, 1.0


@jit("void(f8, f8, f8, Speeds, PadRows)")
def read_pads(
    view_x: float, view_z: float, dt: float, speeds: Speeds, rows: PadRows
) -> None:
    """Turn characters, and say what each asks for: metres a second ahead and to the
    right (N, 2), and whether it goes around its opponent (N,).

    view: where the camera looks over the ground, unit; dt: seconds. Who has no pad is
    left as it is.
    """
    clocks, controls, places = rows.clocks, rows.controls, rows.places
    headings, asked, circling = rows.headings, rows.asked, rows.circling
    for n in range(len(places)):
        if controls[n] == NONE:
            continue
        asked[n, 0], asked[n, 1], circling[n] = 0.0, 0.0, False
        if not rows.can_walk[n]:
            continue
        pad = rows.held[n]
        ahead, right, much = way_of(pad)
        # The way in the world: right of who looks along (x, z) is (-z, x).
        wx = ahead * view_x - right * view_z
        wz = ahead * view_z + right * view_x
        most = speeds.turn * dt * clocks[n]
        fast = speeds.run if pad & RUN else speeds.walk
        enemy = int64(rows.opponents[n])
        if enemy >= 0 and (controls[n] == OPPONENT or pad & CIRCLE):
            dx = places[enemy, 0] - places[n, 0]
            dz = places[enemy, 2] - places[n, 2]
            away = math.sqrt(dx * dx + dz * dz)
            if away > NEAR:
                dx, dz = dx / away, dz / away
                headings[n], left = turn_toward(headings[n], atan2(dx, dz), most)
                if abs(left) > FACING:
                    continue
                toward, around = wx * dx + wz * dz, wz * dx - wx * dz
                if abs(around) < SLANT * abs(toward):
                    around = 0.0
                elif abs(toward) < SLANT * abs(around):
                    toward = 0.0
                size = math.sqrt(toward * toward + around * around)
                if size > 0.0:
                    # Who goes around faces the middle: not before it has turned there.
                    # Who stands is left where it is, to the bit.
                    circling[n] = left == 0.0
                    asked[n, 0] = (
                        toward / size * (fast if toward > 0.0 else speeds.back) * much
                    )
                    asked[n, 1] = around / size * speeds.side * much
                continue
        if wx != 0.0 or wz != 0.0:
            headings[n], left = turn_toward(headings[n], atan2(wx, wz), most)
            if abs(left) <= FACING:
                asked[n, 0] = fast * much
