"""A goalkeeper: stands, shuffles, dives, jumps, crouches, lies and gets up.

The hips are moved as a mass is, pushed off and then falling; hands and feet have goals
of their own, in the frame of the trunk or on the ground, and inverse kinematics brings
them there, within the limits of the joints and how fast they turn.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from flexor.arrays import Doubles
from flexor.games.game import RATE
from flexor.games.goal.keeper.body import KeeperBody
from flexor.games.goal.keeper.contact import Capsules
from flexor.games.goal.keeper.shape import (
    AHEAD,
    DOWN,
    INWARD,
    UP,
    foot_turn,
    smooth,
    trailing_feet,
    trunk_turn,
)
from flexor.maths import exact

__all__ = ["PLANE", "STAND", "Keeper", "Phase"]

Phase = Literal["ready", "crouch", "leap", "down", "rise"]
DT = 1 / RATE
GRAVITY = 9.81
STAND = 0.45  # metres before the line
PLANE = STAND + 0.3  # where the hands meet balls
FARTHEST = 2.9  # metres to either side that it walks
# A stance in parts of the height of the hips; feet to either side, metres; radians.
READY, LOW, FEET, LEAN = 0.8, 0.5, 0.3, 0.3
SIDE = 0.72  # metres beside the body from which a dive is better than a catch
PUSH = 0.12  # seconds in which the feet push off
FASTEST, HIGHEST = 4.6, 3.6  # metres a second of the hips, aside and up
SLIDE = 13.0  # metres a second squared: what slows a body on grass
WALK = 1.7  # metres a second
STEP, STRIDE = 0.16, 0.13  # seconds of a step; metres that a foot lags behind
LIE, RISE, HOLD = 0.7, 1.0, 0.5  # seconds
HAND_SPEED, HAND_SHARE = 11.0, 0.34  # metres a second; part of the way a tick
LATE = 0.06  # seconds after the ball in which hands stay where it was
TOES = 0.14  # metres that toes are below the ankle when they point
APART = 0.1  # metres of each palm from the middle of the ball
BALL = 0.11


class Keeper:
    """A goalkeeper before a goal whose middle is the origin; it looks along +z.

    phase: what it does; clock: seconds since it began that; hip: (3,), metres; speed:
    (3,), of the hips; roll, pitch: radians, to its left and forward; hands: (2, 3) in
    the frame of the trunk, from the hips; feet: (2, 3), where they stand or swing.
    """

    def __init__(self, body: KeeperBody) -> None:
        self.body = body
        parts = body.parts
        self._rests = np.array([not p.endswith(("Hand", "LowerArm")) for p in parts])
        self._legs = np.array([p.endswith(("Foot", "Leg")) for p in parts])
        self.reset()

    def reset(self, x: float = 0.0) -> None:
        """Stand ready at x metres beside the middle."""
        self.phase: Phase = "ready"
        self.clock = 0.0
        self.home = x
        self.hip = np.array([x, READY * self.body.hip, STAND])
        self.speed = np.zeros(3)
        self.roll = 0.0
        self.pitch = LEAN
        self.feet = np.array([self._spot(0, x), self._spot(1, x)])
        self.loose = 0.0  # how much the legs trail rather than stand
        self.hands = self._ready_hands()
        self.target = np.array([x, 1.0, PLANE])
        self.gaze = np.array([x, 0.2, 11.0])
        self.side = 1.0  # of a dive: +1 to +x
        self.kind = "stand"
        self.seconds = 0.5  # from the push to the ball
        self.lean = 0.0  # radians of roll that a leap ends with
        self.is_down = False  # whether the trunk has met the ground
        self.heard: list[str] = []
        self._swing = np.full(2, -1.0)  # seconds of a step, -1 on the ground
        self._from = self.feet.copy()
        self._to = self.feet.copy()
        self._held = np.zeros(3)  # hips at the start of a phase
        self._rolled = self._bent = 0.0
        self.body.forget()
        self._pose()
        self.capsules: Capsules = self.body.capsules()
        self.before: Capsules = self.capsules

    def _spot(self, row: int, x: float) -> Doubles:
        sign = 1.0 if row == 0 else -1.0
        return np.array([x + sign * FEET, self.body.ankle, STAND + 0.02])

    def _ready_hands(self) -> Doubles:
        """Hands before the body, in the frame of the trunk."""
        high = 0.5 * self.body.shoulder
        return np.array([[0.33, high, 0.36], [-0.33, high, 0.36]])

    @property
    def is_free(self) -> bool:
        """Whether it can begin something."""
        return self.phase == "ready"

    @property
    def is_reaching(self) -> bool:
        """Whether its hands are on their way to the ball, or just there."""
        if self.phase == "crouch":
            return True
        return self.phase == "leap" and self.clock < self.seconds + LATE

    def walk(self, way: float) -> None:
        """Shuffle aside; way: -1 to 1."""
        self.home = float(
            np.clip(self.hip[0] + way * 0.3, -FARTHEST, FARTHEST)
            if way
            else np.clip(self.home, self.hip[0] - 0.12, self.hip[0] + 0.12)
        )

    def go_home(self, x: float = 0.0) -> None:
        """Shuffle to a place before the line."""
        self.home = x

    def save(self, x: float, y: float, seconds: float) -> None:
        """Try to have both hands at x, y when so many seconds have passed."""
        if not self.is_free:
            return
        y = max(y, BALL)
        self.target = np.array([x, y, PLANE])
        aside = x - self.hip[0]
        self.side = 1.0 if aside >= 0 else -1.0
        self.seconds = max(seconds, PUSH + 0.1)
        self._held = self.hip.copy()
        self._rolled = self.roll
        self.clock = 0.0
        high = self.body.hip + self.body.shoulder + 0.45 * self.body.arm
        if abs(aside) < SIDE and y < high:
            self.phase = "crouch"
            self.kind = "low" if y < 0.6 else "stand"
            return
        self.phase = "leap"
        self.kind = "dive" if abs(aside) >= SIDE else "jump"
        self.is_down = False
        self._push_off(aside, y)

    def _push_off(self, aside: float, y: float) -> None:
        """How fast the hips must leave the ground, and how far they roll."""
        body = self.body
        span = 0.93 * body.span
        if self.kind == "jump":
            there = np.array([self.hip[0] + 0.7 * aside, y - span])
        else:
            high = float(np.clip(0.22 + 0.42 * y, 0.24, 1.2))
            across = math.sqrt(max(span * span - (y - high) * (y - high), 0.1))
            there = np.array([self.hip[0] + aside - self.side * across, high])
            # Who is near enough already does not jump back.
            there[0] = self.hip[0] + self.side * max(
                self.side * (there[0] - self.hip[0]), 0.15
            )
        fly = self.seconds - PUSH
        way = PUSH / 2 + fly
        vx = (there[0] - self.hip[0]) / way
        vy = (there[1] - self.hip[1] + GRAVITY * fly * fly / 2) / way
        self._leave = np.array(
            [np.clip(vx, -FASTEST, FASTEST), np.clip(vy, -0.5, HIGHEST), 0.0]
        )
        end = self.hip[:2] + self._leave[:2] * way
        end[1] -= GRAVITY * fly * fly / 2
        to_ball = self.hip[0] + aside - end[0], y - end[1]
        self.lean = float(np.clip(exact.atan2(*to_ball), -1.62, 1.62))

    def step(self, ball: Doubles) -> None:
        """One tick; ball: (3,), where it is."""
        self.heard = []
        self.clock += DT
        self.before = self.capsules
        getattr(self, f"_step_{self.phase}")()
        self._step_feet()
        self._step_hands()
        # A head does not follow what passes it in no time.
        goal = np.array([ball[0], max(ball[1], 0.1), max(ball[2], self.hip[2] + 0.8)])
        self.gaze += 0.3 * (goal - self.gaze)
        self._pose()
        self._touch_down()

    def _begin(self, phase: Phase) -> None:
        self.phase = phase
        self.clock = 0.0
        self._held = self.hip.copy()
        self._rolled, self._bent = self.roll, self.pitch

    def _step_ready(self) -> None:
        goal = self.home + 0.03 * exact.sin(2.6 * self.clock)
        way = np.clip(goal - self.hip[0], -WALK * DT, WALK * DT)
        bob = 0.012 * exact.sin(5.2 * self.clock)
        self.hip[0] += way
        self.hip[1] += 0.12 * (READY * self.body.hip + bob - self.hip[1])
        self.hip[2] += 0.1 * (STAND - self.hip[2])
        self.roll *= 0.85
        self.pitch += 0.12 * (LEAN - self.pitch)
        self.loose = max(self.loose - 0.1, 0.0)

    def _step_crouch(self) -> None:
        share = smooth(self.clock / min(self.seconds, 0.3))
        aside = 0.55 * (self.target[0] - self._held[0])
        deep = LOW if self.kind == "low" else READY + 0.04
        there = np.array([self._held[0] + aside, deep * self.body.hip, self._held[2]])
        self.hip[:] = self._held + share * (there - self._held)
        self.pitch = LEAN + share * (0.45 if self.kind == "low" else -0.12)
        self.roll = 0.25 * aside * share
        if self.clock > self.seconds + HOLD:
            self.home = float(self.hip[0])
            self._begin("ready")

    def _step_leap(self) -> None:
        if self.clock <= PUSH:
            self.speed = self._leave * (self.clock / PUSH)
        elif not self.is_down:
            self.speed[1] -= GRAVITY * DT
            self.loose = min(self.loose + DT / 0.14, 1.0)
        else:
            slower = max(abs(self.speed[0]) - SLIDE * DT, 0.0)
            self.speed[0] = math.copysign(slower, self.speed[0])
            self.speed[1] = max(self.speed[1] - GRAVITY * DT, -3.0)
        self.hip += self.speed * DT
        flat = self.side * math.pi / 2 * 0.97
        if self.kind == "dive" and (self.clock > self.seconds or self.is_down):
            self.roll += float(np.clip(flat - self.roll, -4.5 * DT, 4.5 * DT))
        else:
            share = smooth(self.clock / self.seconds)
            self.roll = self._rolled + share * (self.lean - self._rolled)
        self.pitch += 0.1 * (0.0 - self.pitch)
        if self.kind == "jump":
            self._land_on_feet()
        elif self.is_down and not self.speed[0] and abs(flat - self.roll) < 0.05:
            self._begin("down")

    def _land_on_feet(self) -> None:
        low = READY * self.body.hip
        if self.clock <= PUSH or self.speed[1] >= 0:
            return
        if self.hip[1] < self.body.hip + 0.05 and self.loose == 1.0:
            for row in range(2):
                self.feet[row] = self._spot(row, float(self.hip[0]))
            self.loose = 0.999  # from here on they stand again
        if self.loose < 1.0:
            self.loose = max(self.loose - 0.25, 0.0)
        if self.hip[1] <= low:
            self.heard.append("land")
            self.home = float(self.hip[0])
            self.speed[:] = 0
            self._begin("ready")

    def _step_down(self) -> None:
        self.speed[:] = 0
        self.hip[1] -= DT  # lies on whatever is lowest
        if self.clock > LIE:
            self._begin("rise")
            x = float(self.hip[0])
            self.feet = np.array([self._spot(row, x) for row in range(2)])

    def _step_rise(self) -> None:
        share = min(self.clock / RISE, 1.0)
        up = smooth((share - 0.15) / 0.85)
        self.roll = self._rolled * (1 - smooth(share / 0.75))
        bow = LEAN + 0.7 * exact.sin(math.pi * min(share * 1.1, 1.0))
        self.pitch = self._bent + smooth(share / 0.4) * (bow - self._bent)
        self.loose = 1 - smooth((share - 0.05) / 0.5)
        there = np.array([self._held[0], READY * self.body.hip, STAND])
        self.hip[:] = self._held + up * (there - self._held)
        if share >= 1:
            self.is_down = False
            self.home = float(self.hip[0])
            self._begin("ready")

    def _step_feet(self) -> None:
        """Feet that stand stay where they are until the body has left them behind."""
        if self.phase != "ready":
            self._swing[:] = -1
            self.feet[:, 1] = self.body.ankle
            return
        goals = np.array([self._spot(row, float(self.hip[0])) for row in range(2)])
        lag = np.linalg.norm(goals - self.feet, axis=1)
        if (self._swing < 0).all() and lag.max() > STRIDE:
            row = int(np.argmax(lag))
            ahead = np.clip(self.home - self.hip[0], -0.18, 0.18)
            self._from[row], self._to[row] = self.feet[row], goals[row]
            self._to[row, 0] += ahead
            self._swing[row] = 0.0
        for row in range(2):
            if self._swing[row] >= 0:
                self._swing[row] += DT / STEP
                share = min(float(self._swing[row]), 1.0)
                way = self._to[row] - self._from[row]
                self.feet[row] = self._from[row] + smooth(share) * way
                self.feet[row, 1] += 0.06 * exact.sin(math.pi * share)
                if share >= 1:
                    self._swing[row] = -1

    def _hand_goals(self) -> Doubles:
        """Where hands should be, in the world."""
        across = self._turn()[:, 0]
        ball = self.target - np.array([0.0, 0.0, 0.02])
        goals = np.stack([ball + APART * across, ball - APART * across])
        goals[:, 1] = np.maximum(goals[:, 1], 0.07)
        return goals

    def _step_hands(self) -> None:
        ready = self._ready_hands()
        goals = ready
        if self.is_reaching:
            turn = self._turn()
            goals = exact.multiply(self._hand_goals() - self.hip, turn)
            most = self.body.span + 0.1
            size = np.linalg.norm(goals, axis=1, keepdims=True)
            goals = goals * np.minimum(1, most / np.maximum(size, 1e-6))
        elif self.kind == "dive" and self.phase in ("leap", "down"):
            # Past the ball: arms stay stretched, a little before the head.
            high = self.body.shoulder + 0.72 * self.body.arm
            goals = np.array([[0.14, high, 0.24], [-0.14, high, 0.24]])
        way = HAND_SHARE * (goals - self.hands)
        size = np.linalg.norm(way, axis=1, keepdims=True)
        most = HAND_SPEED * DT
        self.hands += way * np.minimum(1, most / np.maximum(size, 1e-9))

    def _turn(self) -> Doubles:
        return trunk_turn(self.roll, self.pitch)

    def _pose(self) -> None:
        turn, loose = self._turn(), smooth(self.loose)
        trail = trailing_feet(self.body, self.kind, self.side)
        feet = (1 - loose) * self.feet + loose * (
            self.hip + exact.multiply(trail, turn.T)
        )
        # Toes that point down must not reach the ground before the foot does.
        least = self.body.ankle + TOES * loose * exact.cos(self.roll)
        feet[:, 1] = np.maximum(feet[:, 1], least)
        hands = self.hip + exact.multiply(self.hands, turn.T)
        hands[:, 1] = np.maximum(hands[:, 1], 0.06)
        ways = UP, AHEAD
        if self.phase in ("leap", "crouch", "down"):
            ways = self.hands - np.array([0.0, self.body.shoulder, 0.0]), INWARD
            if self.kind == "low" and self.phase == "crouch":
                ways = DOWN, INWARD
        fingers, palms = (exact.multiply(way, turn.T) for way in ways)
        flat = foot_turn(turn, loose)
        self.body.pose(self.hip, turn, hands, fingers, palms, feet, flat, self.gaze, DT)

    def _touch_down(self) -> None:
        """No part of the body but the arms may be below the ground."""
        self.capsules = self.body.capsules()
        ends, radii = self.capsules.ends, self.capsules.radii
        lows = ends[:, :, 1].min(1) - radii
        rests = self._rests.copy()
        if self.loose < 1.0 and self.phase != "rise":
            rests &= ~self._legs  # they stand by themselves
        deep = -float(lows[rests].min())
        if deep <= 0:
            return
        self.hip[1] += deep
        self.body.lift(deep)
        ends[:, :, 1] += deep
        if self.phase == "leap" and self.clock > PUSH and not self.is_down:
            self.is_down = True
            self.heard.append("land")
            self.speed[1] = 0.0
