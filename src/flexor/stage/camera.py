"""Where the camera of a stage goes: fixed, beside two who fight, or behind one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.maths import exact
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Vector
from flexor.scene.stage.plan import CameraRule
from flexor.stage.blocks import make_blocks
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.layout import Blocks, Shot

if TYPE_CHECKING:
    from flexor.stage.cast import Body

__all__ = [
    "CameraState",
    "camera_of",
    "follow_rule",
    "init_camera",
    "keep_above",
    "look_over",
    "sight_points",
    "span_bodies",
    "step_camera",
    "view_of",
]

CLEAR = 0.35  # metres that the camera stays above the ground
# Where ground is looked at between eye and target, in parts of the way: as near the
# target, nothing could be done about it.
SIGHT = np.linspace(0, 0.92, 13)[1:]
_ALONG, _LEVER = SIGHT[:, None], 1 / (1 - SIGHT)
OVER = 0.3  # metres that the line from eye to target is to be above the ground
STEEPEST = 1.7  # metres that the eye is raised for a metre of that line, at most
RISE_EASE, RISE = 0.15, 4.0  # seconds in which it is raised, and metres a second
# Radians a second by which it comes behind one without an opponent, at most: directions
# of pads are as the camera sees them, so it must not turn with who turns.
COMES_BEHIND = 1.2


@dataclass(slots=True, eq=False)
class CameraState:
    """Where the camera is: eye, target: float64 (3,), metres; speeds: (2, 3), of both,
    metres a second; row: whom it is about; aim: float64 (2,), unit, where its rule has
    it look over the ground, before it is eased: directions of pads are by that, or they
    would lag behind who circles; look: (2,), the same on its way there, as it turns
    around somebody; swing: (3,), radians by which it looks from aside of that, as
    something stands there, now and soon, and whether it is on its way there;
    raised: metres by which the eye is higher than its rule says, to look over a hill;
    blocks: what it keeps clear of.
    """

    rule: Hashed[CameraRule]
    row: Hashed[int]
    eye: Hashed[Doubles]
    target: Hashed[Doubles]
    aim: Hashed[Doubles]
    look: Hashed[Doubles]
    blocks: Unhashed[Blocks]
    speeds: Hashed[Doubles] = field(default_factory=lambda: np.zeros((2, 3)))
    swing: Hashed[Doubles] = field(default_factory=lambda: np.zeros(3))
    raised: Hashed[float] = 0.0
    shot: Unhashed[Shot | None] = None
    _wanted: Unhashed[Doubles] = field(default_factory=lambda: np.zeros((5, 3)))


def init_camera(
    rule: CameraRule, row: int, blocks: Blocks | None = None
) -> CameraState:
    """A camera about a character; the first step puts it where its rule says."""
    aim = _aim(rule.eye, rule.target)
    if blocks is None:
        blocks = make_blocks((), lambda spots: spots[:, 0])
    eye, target = np.array(rule.eye), np.array(rule.target)
    return CameraState(rule, row, eye, target, np.array(aim), np.array(aim), blocks)


def _shot_of(rule: CameraRule) -> Shot:
    """What a rule asks for, as the kernel takes it."""
    return Shot(
        rule.rule == "side",
        rule.frame == "all",
        rule.distance,
        rule.height,
        rule.ease,
        exact.tan(rule.fov / 2),
    )


def _aim(eye: Vector, target: Vector) -> tuple[float, float]:
    """From above: x and z of the way from eye to target, unit."""
    dx, dz = target[0] - eye[0], target[2] - eye[2]
    size = math.sqrt(dx * dx + dz * dz)
    return (dx / size, dz / size) if size > 1e-9 else (0.0, -1.0)


def follow_rule(
    state: CameraState,
    rule: CameraRule,
    row: int,
    places: Doubles,
    headings: Doubles,
    opponents: Ints,
) -> None:
    """Another rule, or another whom the camera is about, from the next step on."""
    is_other = rule.rule != state.rule.rule or row != state.row
    state.rule, state.row, state.shot = rule, row, None
    if is_other and rule.rule != "fixed" and len(headings) and opponents[row] < 0:
        _face_alone(state, places[row], float(headings[row]))


def _face_alone(state: CameraState, place: Doubles, heading: float) -> None:
    """Aim as a rule has it of one without an opponent, who looks along a heading."""
    x, z = exact.sin(heading), exact.cos(heading)
    if state.rule.rule == "side":
        # From the side that the eye is on.
        ex, ez = (state.eye - place)[[0, 2]].tolist()
        x, z = (z, -x) if -z * ex + x * ez >= 0 else (-z, x)
    state.aim[:] = x, z


def _come_behind(state: CameraState, heading: float, dt: float) -> None:
    """Turn the aim toward a heading, slower the nearer it is, not at all if it is
    opposite: who comes toward the camera is looked at.
    """
    x, z = view_of(state)
    hx, hz = exact.sin(heading), exact.cos(heading)
    turn = COMES_BEHIND * dt * (z * hx - x * hz)
    s, c = exact.sin(turn), exact.cos(turn)
    state.aim[:] = c * x + s * z, c * z - s * x


def step_camera(
    state: CameraState,
    dt: float,
    places: Doubles,
    headings: Doubles,
    opponents: Ints,
    spans: Doubles,
    *,
    at_once: bool = False,
) -> None:
    """Move the camera on by `dt` seconds.

    places: (N, 3), headings, opponents: (N,); spans: (N, 6), from where to where each
    one's body reaches, lowest and highest x, y and z; at_once: without easing, as at
    the start. `keep_above` comes next, where there is ground, and `look_over`.
    """
    rule = state.rule
    state.eye[1] -= state.raised  # which `look_over` adds again
    if rule.rule == "fixed" or not len(places):
        state.raised = 0.0
        state.eye[:], state.target[:] = rule.eye, rule.target
        state.aim[:] = state.look[:] = _aim(rule.eye, rule.target)
        state.speeds[:], state.swing[:] = 0.0, 0.0
        return
    row = state.row
    if opponents[row] < 0:
        turn = float(headings[row])
        if at_once:
            _face_alone(state, places[row], turn)
        elif rule.rule == "behind":
            _come_behind(state, turn, dt)
    if state.shot is None:
        state.shot = _shot_of(rule)
    from flexor.stage.kernels import camera as kernel_camera

    kernel_camera.step_camera(
        dt,
        at_once,
        state.shot,
        row,
        state.blocks,
        places,
        headings,
        opponents,
        spans,
        state.eye,
        state.target,
        state.speeds,
        state.aim,
        state.look,
        state.swing,
        state._wanted,
    )


def span_bodies(bodies: Sequence[Body], out: Doubles) -> Doubles:
    """Fill `out` (N, 6) with the lowest and highest x, y and z of bodies' nodes."""
    from flexor.stage.kernels import camera as kernel_camera

    for body in bodies:
        kernel_camera.span_bodies(body.world.matrices, body.rows, out)
    return out


def keep_above(state: CameraState, height: float) -> None:
    """Let the camera not be in the ground, which is so high under its eye."""
    if state.rule.rule != "fixed":
        state.eye[1] = max(state.eye[1], height + CLEAR)


def sight_points(state: CameraState, out: Doubles) -> None:
    """Fill places (13, 3): the eye, and 12 between it and the target."""
    out[0] = state.eye
    np.multiply(_ALONG, state.target - state.eye, out=out[1:])
    out[1:] += state.eye


def look_over(
    state: CameraState, dt: float, heights: Doubles, *, at_once: bool = False
) -> None:
    """Raise the eye until the line to its target is above the ground, bit by bit.

    heights: (12,), of the ground at all `sight_points` but the first; at_once: without
    easing, as at the start.
    """
    if state.rule.rule == "fixed":
        return
    eye, target = state.eye, state.target
    needed = (heights + OVER - SIGHT * target[1]) * _LEVER
    away = exact.hypot(target[0] - eye[0], target[2] - eye[2])
    wanted = max(min(needed.max(), target[1] + STEEPEST * away) - eye[1], 0.0)
    part = 1.0 if at_once else 1 - exact.exp(-dt / RISE_EASE)
    most = math.inf if at_once else RISE * dt
    step = min(max(part * (wanted - state.raised), -most), most)
    state.raised = float(state.raised + step) if wanted or state.raised > 1e-6 else 0.0
    eye[1] += state.raised


def view_of(state: CameraState) -> tuple[float, float]:
    """Where the camera's rule has it look over the ground: x and z, unit."""
    x, z = state.aim.tolist()
    return x, z


def camera_of(state: CameraState) -> Camera:
    """The camera as it is now."""
    ex, ey, ez = state.eye.tolist()
    tx, ty, tz = state.target.tolist()
    up = (0.0, 1.0, 0.0)
    if exact.hypot(tx - ex, tz - ez) < 1e-6:  # straight down: up is along -z
        up = (0.0, 0.0, -1.0)
    return Camera((ex, ey, ez), (tx, ty, tz), up, state.rule.fov)
