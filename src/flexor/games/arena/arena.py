"""The arena: two who fight in rounds, in a ring with spectators around it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.character import Character
from flexor.api.load_save import load
from flexor.api.retargeting import retarget
from flexor.api.stage import Stage
from flexor.files.text.moves import read_moves
from flexor.files.text.stage import read_stage
from flexor.games.arena.rival import Rival
from flexor.games.arena.sounds import ArenaEars
from flexor.games.arena.spectators import Spectators
from flexor.games.figure import as_tall_as
from flexor.games.game import RATE, Ticking
from flexor.games.hud import draw_bar, draw_text, shade
from flexor.maths import exact
from flexor.scene.character.camera import Camera
from flexor.scene.human.human import find_human
from flexor.scene.stage.moves import InputLog, button_mask
from flexor.scene.stage.plan import CameraRule, StagePlan
from flexor.stage.movement.buttons import init_recorder, record, recorded

__all__ = ["Arena", "Versus", "make_arena"]

Versus = Literal["two", "opponent", "watch"]
Phase = Literal["title", "ready", "fight", "round over", "game over"]
ROUND_SECONDS, READY_SECONDS, OVER_SECONDS, END_SECONDS = 45, 1.6, 3.2, 6.0
WINS = 2  # rounds that a player needs
START = button_mask("A") | button_mask("B") | button_mask("C")
CAMERA, SNOW = button_mask("L"), button_mask("L+R")
CAMERAS = (
    CameraRule(rule="side", distance=4.6, height=1.6, fov=math.radians(38)),
    CameraRule(rule="behind", distance=3.4, height=2.1, fov=math.radians(50)),
    CameraRule(rule="side", distance=7.5, height=4.2, fov=math.radians(38)),
)
RED, BLUE, GOLD = (226, 84, 52), (70, 130, 226), (255, 214, 110)
DEMO_SECONDS = 40


def make_arena(
    character: Path | None = None,
    seed: int = 0,
    versus: Versus = "opponent",
    *,
    moves: Path | None = None,
) -> Arena:
    """An arena, ready at its title.

    character: a file of a humanoid that takes the mannequin's place, and moves as it
    does; seed: of all that is left to chance; versus: "two" players, one against an
    "opponent", or "watch" two of those; moves: a text file of other moves.
    """
    plan = read_stage(samples.arena())
    if moves is not None:
        plan = replace(plan, moves=read_moves(moves))
    plan = replace(plan, seed=seed, camera=CAMERAS[0])
    return Arena(plan, _find_hero(character), seed, versus)


@cache
def _wooden() -> Character:
    """The mannequin of all games: what is found out about it is found out once."""
    return samples.mannequin()


def _find_hero(character: Path | None) -> Character:
    """The mannequin, or another with its clips."""
    wooden = _wooden()
    if character is None:
        return wooden
    hero = load(character)
    human = find_human(hero.skeleton, hero.scene.carried)
    if human.lacks:
        from flexor.errors import AssetError

        lacks = ", ".join(human.lacks[:4])
        raise AssetError(character, "", f"is no humanoid that can be told: no {lacks}")
    sized = as_tall_as(hero.with_clips({}, only=True), wooden)
    return retarget(sized, wooden, travel=False)


class Arena(Ticking):
    """A game for two pads; see `flexor.games.game.Game`.

    phase: title, ready, fight, round over or game over; wins: rounds of each; stage:
    the stage it is played on.
    """

    title: str = "ARENA"
    help: tuple[str, ...] = (
        "direction: walk, left and right to and fro, up and down around",
        "A guard   B punch   C kick   B+C spin kick",
        "X one-two-kick   Y parry   Z jump   R run",
        "L camera   L+R snow",
    )

    def __init__(
        self, plan: StagePlan, hero: Character, seed: int, versus: Versus
    ) -> None:
        super().__init__()
        self.stage = Stage(plan, characters={"mannequin": hero})
        self.versus: Versus = versus
        self.sounds: list[str] = []
        self._seed, self._hero = seed, hero
        self._crowd: Spectators | None = None
        self._cheers: list[
            tuple[int, float]
        ] = []  # that the crowd does not know of yet
        self._recorder = init_recorder(2)
        self._held = np.zeros(2, np.uint32)
        self.restart()

    def restart(self) -> None:
        """Back to the title."""
        self.phase: Phase = "title"
        self.wins = [0, 0]
        self.round = 0
        self.message = ""
        self._since = 0
        self._view = 0
        self._left = float(ROUND_SECONDS)
        seeds = np.random.SeedSequence(self._seed).generate_state(2)
        self._rivals = [Rival(row, int(seeds[row])) for row in range(2)]
        self._held[:] = 0
        self._begin_round(self.stage.plan.effects.is_snowing)

    def _begin_round(self, snows: bool) -> None:
        self.stage.restart()
        self.stage.state.scenery.is_snowing = snows
        self.stage.set_camera(CAMERAS[self._view])
        self._ears = ArenaEars(self.stage)

    @property
    def log(self) -> InputLog:
        """What both pads have held so far, also those of opponents."""
        return recorded(self._recorder)

    @property
    def demo(self) -> InputLog:
        """Presses of a fight worth watching: for a game of two of the same seed."""
        twin = Arena(self.stage.plan, self._hero, self._seed, "watch")
        held = np.zeros(2, np.uint32)
        for tick in range(DEMO_SECONDS * RATE):
            held[0] = START if 50 <= tick < 54 else 0
            twin.step(held)
        return twin.log

    @property
    def seconds_left(self) -> float:
        """Of the round."""
        if self.phase == "fight":
            return max(ROUND_SECONDS - self._since / RATE, 0.0)
        # What was left as it was over, until the next begins.
        return self._left if "over" in self.phase else float(ROUND_SECONDS)

    def step(self, held: NDArray[np.uint32]) -> None:
        """One tick; held: uint32 (2,), masks of what the pads hold."""
        self.sounds = []
        if self._is_paused:
            return
        pads = np.array(held, np.uint32)
        if self.phase == "fight":
            pads = self._with_rivals(pads)
        record(self._recorder, pads)
        pressed = pads & ~self._held
        self._held[:] = pads
        self._tick += 1
        self._since += 1
        self._run(pads, pressed)

    def _with_rivals(self, pads: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Pads with those that opponents hold."""
        playing = {"two": (), "opponent": (1,), "watch": (0, 1)}[self.versus]
        for row in playing:
            pads[row] |= np.uint32(self._rivals[row].press(self.stage))
        return pads

    def _run(self, pads: NDArray[np.uint32], pressed: NDArray[np.uint32]) -> None:
        if self.phase in ("title", "game over"):
            is_over = self.phase == "game over" and self._since > END_SECONDS * RATE
            if (pressed & START).any() and self._since > RATE // 3:
                if self.phase == "game over":
                    self.restart()
                    return
                self._enter("ready")
                self.round = 1
                self.sounds.append("start")
            elif is_over:
                self.restart()
            self.stage.step()
            return
        if (pressed & CAMERA).any():
            self._switch(pads)
        if self.phase == "ready":
            self.stage.step()
            if self._since > READY_SECONDS * RATE:
                self._enter("fight")
                self.sounds.append("whistle")
        elif self.phase == "fight":
            self._fight(pads)
        else:
            self.stage.step()
            if self._since > OVER_SECONDS * RATE:
                self._next_round()
        self.sounds += self._ears.listen(self.stage)

    def _enter(self, phase: Phase) -> None:
        self.phase, self._since = phase, 0

    def _switch(self, pads: NDArray[np.uint32]) -> None:
        """L: another camera; L and R together: snow."""
        if ((pads & SNOW) == SNOW).any():
            scenery = self.stage.state.scenery
            scenery.is_snowing = not scenery.is_snowing
            return
        self._view = (self._view + 1) % len(CAMERAS)
        self.stage.set_camera(CAMERAS[self._view], of="red")

    def _fight(self, pads: NDArray[np.uint32]) -> None:
        stage = self.stage
        stage.step(pads & ~np.uint32(CAMERA))
        if stage.state.fight.outcomes.any():
            self._cheer(0.25)
        beaten = stage.energy <= 0
        is_late = self._since >= ROUND_SECONDS * RATE
        if not beaten.any() and not is_late:
            return
        red, blue = stage.energy.tolist()
        winner = -1 if red == blue else int(blue > red)
        if winner < 0:
            self.message = "DRAW"
        else:
            self.wins[winner] += 1
            name = stage.plan.cast[winner].name.upper()
            self.message = f"{name} WINS" if is_late else "K.O."
        self.sounds.append("win")
        self._cheer(0.9)
        self._left = self.seconds_left
        self._enter("round over")

    def _cheer(self, share: float) -> None:
        self._cheers.append((self._tick, share))

    def _next_round(self) -> None:
        if max(self.wins) >= WINS or self.round >= 2 * WINS - 1:
            best = max(self.wins)
            names = [actor.name.upper() for actor in self.stage.plan.cast]
            is_even = self.wins[0] == self.wins[1]
            self.message = (
                "DRAW" if is_even else f"{names[self.wins.index(best)]} WINS THE MATCH"
            )
            self._enter("game over")
            return
        self.round += 1
        self._begin_round(self.stage.state.scenery.is_snowing)
        self._enter("ready")

    def hash(self) -> str:
        """A text that two games share only if their play is alike, bit for bit."""
        found = hashlib.blake2b(self.stage.hash().encode(), digest_size=16)
        found.update(repr((self.phase, self.wins, self.round, self._since)).encode())
        for rival in self._rivals:
            found.update(repr(rival.chance.bit_generator.state).encode())
        return found.hexdigest()

    def draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The picture now, uint8 (H, W, 4); overwritten by the next of its size."""
        painter = self.stage.painter
        if self._crowd is None:
            self._crowd = Spectators(painter.backend, self._seed)
        self._crowd.follow(self._tick, self._cheers)
        self._cheers.clear()
        camera = self._title_camera() if self.phase == "title" else self.stage.camera
        style = self.stage.style(samples=1).for_height(size[1])
        more = self._crowd.items(camera, size, style)
        picture = painter.draw(self.stage.frame, size, camera, style, more=more)
        self._write(picture, size)
        return picture

    def _title_camera(self) -> Camera:
        """Around the ring, slowly."""
        turn = 0.35 + self._tick / RATE * 0.22
        eye = (6.2 * exact.sin(turn), 2.4, 6.2 * exact.cos(turn))
        return Camera(eye=eye, target=(0.0, 0.9, 0.0), fov=math.radians(42))

    def _write(self, picture: NDArray[np.uint8], size: tuple[int, int]) -> None:
        """Bars and words."""
        wide, high = size
        big, small = max(high // 8, 14), max(high // 24, 9)
        if self.phase == "title":
            shade(picture, (0, high // 3 - big // 4, wide, 2 * big), 0.45)
            draw_text(picture, self.title, (wide // 2, high // 3), big, GOLD, "middle")
            at = wide // 2, high // 3 + round(1.15 * big)
            draw_text(picture, "press A, B or C", at, small, anchor="middle")
            for row, line in enumerate(self.help):
                below = (len(self.help) - row + 1) * round(1.35 * small)
                fit = min(small, round(1.9 * wide / len(line)))
                draw_text(
                    picture, line, (wide // 2, high - below), fit, anchor="middle"
                )
            return
        self._write_bars(picture, size, small)
        words = ""
        if self.phase == "ready":
            words = f"ROUND {self.round}"
        elif self.phase == "fight" and self._since < 0.8 * RATE:
            words = "FIGHT!"
        elif self.phase in ("round over", "game over"):
            words = self.message
        if words:
            fit = min(big, round(1.5 * wide / max(len(words), 1)))
            draw_text(picture, words, (wide // 2, high // 3), fit, GOLD, "middle")
        if self._is_paused:
            shade(picture, (0, 0, wide, high), 0.35)
            draw_text(picture, "PAUSE", (wide // 2, high // 2), big, GOLD, "middle")

    def _write_bars(
        self, picture: NDArray[np.uint8], size: tuple[int, int], small: int
    ) -> None:
        wide, high = size
        most = self.stage.plan.fight.energy
        edge, tall = max(wide // 40, 4), max(high // 30, 6)
        length = round(wide * 0.4)
        for row, colour in enumerate((RED, BLUE)):
            share = float(self.stage.energy[row]) / most
            x = edge if row == 0 else wide - edge - length
            box = (x, edge, length, tall)
            draw_bar(picture, box, share, colour, from_right=row == 0)
            at = (edge, edge + tall + 3) if row == 0 else (wide - edge, edge + tall + 3)
            marks = "*" * self.wins[row]
            name = self.stage.plan.cast[row].name.upper()
            text = f"{name} {marks}" if row == 0 else f"{marks} {name}"
            anchor: Literal["left", "right"] = "left" if row == 0 else "right"
            draw_text(picture, text.strip(), at, small, colour, anchor)
        clock = f"{math.ceil(self.seconds_left)}"
        draw_text(
            picture, clock, (wide // 2, edge - 2), round(1.3 * small), anchor="middle"
        )
