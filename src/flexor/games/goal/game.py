"""The goal game: shots at a goalkeeper, a score, a time limit, replays.

    game = make_goal_game()
    while True:
        game.step(held)               # uint32 (2,), masks of the buttons of two pads
        picture = game.draw((640, 480))

The first pad shoots; the second plays the goalkeeper once it is touched, which plays by
itself otherwise. The same presses give the same game.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from flexor.arrays import check_input
from flexor.games.game import PADS, RATE, Ticking
from flexor.games.goal.demo import make_demo
from flexor.games.goal.keeper.body import KeeperBody, load_keeper
from flexor.games.goal.keeper.contact import step_with_body
from flexor.games.goal.keeper.keeper import PLANE, Keeper
from flexor.games.goal.keeper.mind import Plan, follow_plan, play_keeper, think, ways_of
from flexor.games.goal.replay import Replay, Scene
from flexor.games.goal.screen import GoalScreen, camera_of
from flexor.games.goal.shot import SPOT, Shot, make_shot, predict
from flexor.games.goal.words import Mode, Outcome, Telling, view_of, words_of
from flexor.maths import exact
from flexor.scene.stage.moves import ALL_BUTTONS, button_mask
from flexor.stage.goal.layout import MET_NET, MET_ROD, SCORED
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import BallSettings
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import init_netting, shoot, step_netting

__all__ = ["GoalGame", "make_goal_game"]

MODES: tuple[Mode, ...] = ("title", "aim", "flight", "result", "replay", "over")
LIMIT = 60 * RATE  # ticks of play
RESULT = RATE  # ticks
SLOW = 0.34  # of the speed of play, in replays
BEFORE, AFTER = 26, 34  # ticks of a replay before and after what decided it
FOLLOW = 22  # ticks in which the camera follows a shot
MOST_KEPT = 5 * RATE
LONGEST = 4 * RATE  # ticks of a flight
HELD = RATE  # ticks after a touch: a ball that does not roll on by then is saved
MOST_SPIN = 3
RISE = 44  # ticks in which the power is full
AIM_SPEED = 3.2 / RATE, 1.9 / RATE  # metres a tick
AIM_X, AIM_Y = 4.3, (0.13, 2.95)  # metres
SCATTER = 0.03, 0.45, 0.04  # metres: of any shot, of full power, of a step of spin
GENTLE = 0.8  # power from which shots scatter
AIR = BallSettings(curl=0.004, drag=0.008)
START = button_mask("A") | button_mask("C")
BUTTON_BITS = np.uint32(ALL_BUTTONS)
SHOOT, SPIN_LEFT, SPIN_RIGHT, SKIP = (button_mask(name) for name in "BXYA")
HELP = (
    "A or C: start",
    "left, right, up, down: aim",
    "X, Y: spin",
    "B: hold for power, let go to shoot",
    "A: skip a replay",
    "second pad: left, right, up, down and B: the goalkeeper",
)


def make_goal_game(character: Path | None = None, seed: int = 0) -> GoalGame:
    """A game at its title; character: a glTF file of whoever keeps the goal."""
    return GoalGame(KeeperBody(load_keeper(character)), seed)


@cache
def _netting() -> Netting:
    """The goal of all games: what is not the same in each is in their states."""
    return make_goal(ball=AIR)


class GoalGame(Ticking):
    """Shots at a goal; see `flexor.games.game`.

    mode: what is going on; outcome: of the last shot; goals, saves, shots: counted;
    aim: metres aside and up on the goal line; power: 0 to 1; spin: steps; left: ticks
    of play that are left; clock: ticks in the mode.
    """

    title = "Goal"
    help: tuple[str, ...] = HELP

    def __init__(self, body: KeeperBody, seed: int = 0) -> None:
        super().__init__()
        self._seed = seed
        self._netting = _netting()
        self.body = body
        self.keeper = Keeper(body)
        self.demo = make_demo()
        self._screen: GoalScreen | None = None
        self.restart()

    def restart(self) -> None:
        """Back to the title, as in the beginning."""
        self._rng = np.random.default_rng(self._seed)
        self._tick = 0
        self.pause(False)
        self.sounds: list[str] = []
        self._held = np.zeros(PADS, np.uint32)
        self.state = init_netting(self._netting)
        self.keeper.reset()
        self.mode: Mode = "title"
        self._replay = Replay(MOST_KEPT)
        self._to_title()
        self._see()

    # What goes on.

    def step(self, held: NDArray[np.uint32]) -> None:
        """One tick; held: uint32 (2,)."""
        check_input(held, np.uint32, (PADS,), "held")
        held = held & BUTTON_BITS  # sticks count as the directions that they hold
        self.sounds = []
        if self._is_paused:
            return
        pressed = held & ~self._held
        let_go = self._held & ~held
        self._tick += 1
        self.clock += 1
        own = int(held[0]), int(pressed[0]), int(let_go[0])
        if self.mode == "aim":
            self._step_aim(*own)
        elif self.mode == "replay":
            self._step_replay(own[1])
        elif own[1] & START and self.mode in ("title", "over"):
            if self.mode == "title":
                self._start()
            else:
                self._to_title()
        if self.mode != "replay":
            self._step_keeper(int(held[1]), int(pressed[1]))
            self._step_ball()
            self._see()
        self._held = held.copy()

    def _begin(self, mode: Mode) -> None:
        self.mode = mode
        self.clock = 0

    def _to_title(self) -> None:
        self.goals = self.saves = self.shots = 0
        self.left = LIMIT
        self.outcome: Outcome = ""
        self._is_human = False
        self._plan: Plan | None = None
        self._shot_at = -1
        self._begin("title")
        self._lay_ball()

    def _lay_ball(self) -> None:
        """The ball on its spot; the mark in the middle."""
        shoot(self.state, SPOT)
        self.aim = [0.0, 1.0]
        self.power = 0.0
        self._charge = 0
        self.spin = 0
        self._is_touched = False
        self._decided = 0
        self._moment = 0.0
        self._side = 0.0
        self._plan = None
        self._replay.clear()

    def _start(self) -> None:
        self.sounds.append("whistle")
        self._next()

    def _next(self) -> None:
        """The next shot, or the end."""
        if self.left <= 0:
            self.sounds.append("whistle")
            self._begin("over")
            return
        self._begin("aim")
        self._lay_ball()
        self.keeper.reset()  # the picture changes from the replay: nobody sees it jump

    def _step_aim(self, held: int, pressed: int, let_go: int) -> None:
        x, y = AIM_SPEED
        across, up = ways_of(held)
        self.aim[0] = min(max(self.aim[0] + x * across, -AIM_X), AIM_X)
        self.aim[1] = min(max(self.aim[1] + y * up, AIM_Y[0]), AIM_Y[1])
        turn = bool(pressed & SPIN_LEFT) - bool(pressed & SPIN_RIGHT)
        self.spin = min(max(self.spin + turn, -MOST_SPIN), MOST_SPIN)
        self.left -= 1
        self._rng.random()  # so that luck depends on when a shot is made
        if held & SHOOT and (self._charge or pressed & SHOOT):
            self._charge += 1
            part = self._charge % (2 * RISE)
            self.power = 1 - abs(part - RISE) / RISE
        elif let_go & SHOOT and self._charge:
            self._shoot()
        if self.left <= 0 and self.mode == "aim" and not self._charge:
            self.sounds.append("whistle")
            self._begin("over")

    def _shoot(self) -> None:
        rough, hard, spun = SCATTER
        spread = rough + hard * max(self.power - GENTLE, 0) / (1 - GENTLE)
        spread += spun * abs(self.spin)
        off = exact.normal(self._rng, spread, 2)
        aim = self.aim[0] + float(off[0]), max(self.aim[1] + float(off[1]), 0.12)
        shot = make_shot(self._netting, aim, self.power, self.spin)
        shoot(self.state, SPOT, shot.velocity, shot.spin)
        self.sounds.append("ball")
        self.shots += 1
        self._side = aim[0]
        true = predict(self._netting, shot, PLANE + 0.1)
        plain = predict(self._netting, Shot(shot.velocity, (0.0, 0.0, 0.0)), PLANE)
        if true is not None and plain is not None:
            self._plan = think(true, plain, self._rng)
        self._begin("flight")

    def _step_keeper(self, held: int, pressed: int) -> None:
        keeper, ball = self.keeper, self.state.bodies[0, 0]
        if held and self.mode in ("aim", "flight"):
            self._is_human = True
        is_flying = self.mode == "flight"
        if self._is_human and self.mode in ("aim", "flight"):
            play_keeper(keeper, ball, held, pressed if is_flying else 0)
        elif is_flying and self._plan is not None:
            is_new = self._shot_at != self.shots
            if follow_plan(keeper, self._plan, self.clock / RATE, is_new):
                self._shot_at = self.shots
        keeper.step(ball[:3])
        self.sounds += keeper.heard

    def _step_ball(self) -> None:
        state, body = self.state, self.state.bodies[0, 0]
        if self.mode not in ("flight", "result"):
            step_netting(state)
            return
        old, falls = int(state.events[0, 0]), float(body[4])
        met = step_with_body(state, self.keeper.before, self.keeper.capsules)
        new = int(state.events[0, 0]) & ~old
        if met and not self._is_touched:
            self.sounds.append("guard")
            self._is_touched = True
            self._decided = self.clock
        for bit, name in ((MET_ROD, "post"), (MET_NET, "net")):
            if new & bit:
                self.sounds.append(name)
        if falls < -1.2 and body[4] > 0 and body[1] < 0.2:
            self.sounds.append("ball")
        if self.mode == "flight":
            self.left -= 1
            self._judge(new)
        elif self.clock >= RESULT:
            self._begin("replay")
            first = self._decided - BEFORE
            self._moment = float(max(first, 0))

    def _judge(self, new: int) -> None:
        """Say how a shot has ended, once that is certain."""
        z, vz = float(self.state.bodies[0, 0, 2]), float(self.state.bodies[0, 0, 5])
        if new & SCORED:
            self.goals += 1
            self.sounds.append("goal")
            self._decide("GOAL")
            return
        is_slow = float(exact.norm(self.state.bodies[0, 0, 3:6])) < 0.4
        is_out = z < -0.25 and not self.state.is_inside[0, 0]
        is_back = z > 0.4 and vz > 0.05
        since = self.clock - self._decided
        is_held = self._is_touched and since > HELD and vz > -0.1
        if not (is_slow or is_out or is_back or is_held or self.clock > LONGEST):
            return
        if self._is_touched:
            self.saves += 1
            self._decide("SAVED")
        else:
            met = int(self.state.events[0, 0]) & MET_ROD
            self._decide("POST" if met else "WIDE")

    def _decide(self, outcome: Outcome) -> None:
        if outcome != "SAVED":
            self._decided = self.clock  # else it was the touch
        self.outcome = outcome
        self._begin("result")

    def _step_replay(self, pressed: int) -> None:
        self._moment += SLOW
        last = min(self._decided + AFTER, len(self._replay) - 1)
        if pressed & SKIP or self._moment >= last:
            self._next()

    # What is seen.

    def _see(self) -> None:
        """Keep what is seen now."""
        place = self.body.player.places[0]
        self._scene = Scene.of(self.state, self.body.local, place)
        if self.mode in ("flight", "result"):
            self._replay.add(self._scene)

    def draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The picture now, uint8 (H, W, 4)."""
        if self._screen is None:
            self._screen = GoalScreen(self._netting, self.body)
        scene, view = self._scene, view_of(self.mode, self.outcome)
        if self.mode == "replay" and len(self._replay):
            scene = self._replay.at(self._moment)
        near = 0.0
        if self.mode in ("flight", "result"):
            part = min(self.clock / FOLLOW, 1.0) if self.mode == "flight" else 1.0
            near = part * part * (3 - 2 * part)
        turn = 0.5 * exact.sin(self._tick / 240)
        camera = camera_of(view, size, self._side, turn, near)
        joy = 0.0
        if self.outcome == "GOAL" and self.mode in ("result", "replay"):
            joy = 1.0
        aim = (self.aim[0], self.aim[1]) if self.mode == "aim" else None
        seconds = self._tick / RATE
        written = words_of(self._telling())
        return self._screen.draw(scene, camera, size, written, aim, seconds, joy)

    def _telling(self) -> Telling:
        return Telling(
            mode=self.mode,
            outcome=self.outcome,
            clock=self.clock,
            left=self.left,
            goals=self.goals,
            saves=self.saves,
            shots=self.shots,
            power=self.power,
            spin=self.spin,
            help=self.help,
            is_paused=self.is_paused,
        )

    def hash(self) -> str:
        """A text that two games share only if their play is alike, bit for bit."""
        made = xxhash.xxh3_128()
        state, keeper = self.state, self.keeper
        for array in (
            *(state.bodies, state.sides, state.events, state.nodes, state.speeds),
            *(self.body.local, self.body.player.places),
            *(keeper.hip, keeper.speed, keeper.hands, keeper.feet, keeper.target),
            *(keeper.gaze, self._held),
        ):
            made.update(np.ascontiguousarray(array).tobytes())
        words = (
            *(self.mode, self.outcome, self._tick, self.clock, self.goals),
            *(self.saves, self.shots, self.left, self.aim, self.power, self.spin),
            *(self._charge, self._moment, self._is_paused, self._is_human),
            *(keeper.phase, keeper.clock, keeper.roll, keeper.pitch, keeper.loose),
            self._rng.bit_generator.state,
        )
        made.update(repr(words).encode())
        return made.hexdigest()
