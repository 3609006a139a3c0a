"""A stage as a game: rounds for those who fight on it, or a walk for one alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor import samples
from flexor.api.character import Character
from flexor.api.load_save import load
from flexor.api.retargeting import retarget
from flexor.api.stage import Stage
from flexor.errors import AssetError
from flexor.files.text.moves import open_moves
from flexor.files.text.stage import StageFile, open_stage
from flexor.games.figure import as_tall_as
from flexor.games.game import COIN, PADS, RATE, Ticking
from flexor.games.match.flow import DRAW, Flow
from flexor.games.match.help import help_lines
from flexor.games.match.reach import STRIKES
from flexor.games.match.rival import Rival
from flexor.games.match.screen import Now, Screen
from flexor.games.match.sounds import StageEars
from flexor.scene.human.human import find_human
from flexor.scene.stage.game import Skill
from flexor.scene.stage.moves import InputLog, MoveTable, button_mask
from flexor.scene.stage.plan import CameraRule, StagePlan
from flexor.stage.movement.buttons import init_recorder, record, recorded

__all__ = ["Match", "Versus", "make_match", "sides_of"]

Versus = Literal["two", "opponent", "watch"]
START = button_mask("A") | button_mask("B") | button_mask("C")
FACE, CAMERA, SNOW = button_mask("L"), button_mask("L"), button_mask("L+R")
# That L changes to, after the stage's own.
CAMERAS = (
    CameraRule(rule="behind", distance=3.4, height=2.1, fov=math.radians(50)),
    CameraRule(rule="side", distance=7.5, height=4.2, fov=math.radians(38)),
)
# What a game that nobody plays needs to begin: ticks in which buttons are held.
DEMO_SECONDS, DEMO_START = 40, (50, 54)
SLOW, SLOW_TICKS, EASE_TICKS = 0.35, 50, 24  # after a knock-out: time goes slowly


def make_match(
    source: Path | None = None,
    character: Path | None = None,
    seed: int | None = None,
    versus: Versus | None = None,
    *,
    moves: Path | None = None,
    skill: Skill | None = None,
) -> Match:
    """A game on a stage, ready at its title.

    source: a text file of a stage, None: the arena; character: a file of a humanoid
    that takes the mannequin's place, and moves as it does; seed: of all that is left to
    chance, None: the stage's own; versus: "two" players, one against the rest
    ("opponent"), or nobody ("watch"), None: as the stage says; moves: a text file of
    other moves; skill: of all opponents, None: as the stage says.
    """
    file = open_stage(samples.arena() if source is None else source)
    plan = file.plan
    title = plan.game.title or file.path.stem
    plan = replace(plan, game=replace(plan.game, title=title[:40]))
    if moves is not None:
        other = open_moves(moves)
        everyone = tuple(replace(actor, moves=None) for actor in plan.cast)
        plan = replace(plan, moves=other.table, cast=everyone)
        file = replace(file, moves=other, own_moves={})
    if seed is not None:
        plan = replace(plan, seed=seed)
    players = _players(plan, versus)
    cast = [
        replace(actor, player=own, skill=skill or actor.skill)
        for actor, own in zip(plan.cast, players, strict=True)
    ]
    plan = replace(plan, cast=tuple(cast))
    heroes = {} if character is None else {"mannequin": _find_hero(character)}
    return Match(replace(file, plan=plan), heroes)


def _players(plan: StagePlan, versus: Versus | None) -> list[Literal[1, 2, "computer"]]:
    """Who plays each of the cast."""
    found: list[Literal[1, 2, "computer"] | None] = [a.player for a in plan.cast]
    if versus == "watch":
        found = ["computer"] * len(found)
    elif 1 not in found and None in found:
        found[found.index(None)] = 1
    if versus == "opponent":
        found = ["computer" if own == 2 else own for own in found]
    elif versus == "two" and 2 not in found:
        others = [row for row, own in enumerate(found) if own != 1]
        if others:
            found[others[0]] = 2
    return ["computer" if own is None else own for own in found]


def _find_hero(file: Path) -> Character:
    """A humanoid of a file, with the clips of the mannequin."""
    hero, wooden = load(file), samples.fighter()
    human = find_human(hero.skeleton, hero.scene.carried)
    if human.lacks:
        lacks = ", ".join(human.lacks[:4])
        raise AssetError(file, "", f"is no humanoid that can be told: no {lacks}")
    sized = as_tall_as(hero.with_clips({}, only=True), wooden)
    return retarget(sized, wooden, travel=False)


def sides_of(plan: StagePlan) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The names of those who fight each other, and the number of each one's side.

    Teams are a side each, and so is who is in none.
    """
    names = [getattr(actor, "team", "") or actor.name for actor in plan.cast]
    known = list(dict.fromkeys(names))
    return tuple(known), tuple(known.index(name) for name in names)


def _buttons(table: MoveTable) -> set[str]:
    """All buttons that do something, alone or with others."""
    runs = {one.button for one in table.combinations}
    return {*table.singles, *runs, *(b for c in table.chords for b in c.split("+"))}


class Match(Ticking):
    """A game for two pads; see `flexor.games.game.Game`.

    stage: that it is played on; flow: where the game is; players: who plays each of the
    cast, 1, 2 or "computer"; sides: the names of those who fight each other; side_of:
    the number of each one's side.
    """

    def __init__(
        self, file: StageFile, characters: dict[str, Character] | None = None
    ) -> None:
        super().__init__()
        self.stage = Stage(file, characters=characters)
        plan = self.plan = self.stage.plan
        self.title = plan.game.title.upper()
        self.players = tuple(actor.player or "computer" for actor in plan.cast)
        names, self.side_of = sides_of(plan)
        every = self.stage.state.tables.moves
        can_fight = any(move.kind in STRIKES for move in every)
        self.sides = names if can_fight else names[:1]
        pads = [row for row, own in enumerate(self.players) if own != "computer"]
        self._flow = {
            "settings": plan.game,
            "sides": len(self.sides),
            "payers": len(pads),
            "on_pads": frozenset(self.side_of[row] for row in pads),
        }
        faces = all(actor.control == "opponent" for actor in plan.cast)
        tables = [plan.moves, *(actor.moves for actor in plan.cast if actor.moves)]
        taken = {button for table in tables for button in _buttons(table)}
        self.has_cameras = faces and "L" not in taken and bool(plan.cast)
        self.has_snow = self.has_cameras and plan.effects.snow is not None
        first = plan.cast[pads[0] if pads else 0].moves if plan.cast else None
        self.help = help_lines(
            first or plan.moves,
            is_facing=faces and len(plan.cast) > 1,
            has_cameras=self.has_cameras,
            has_snow=self.has_snow,
        )
        self.sounds: list[str] = []
        self._screen = Screen(self.stage, self.title, self.help, self.side_of)
        self._recorder = init_recorder(PADS)
        self._held = np.zeros(PADS, np.uint32)
        self.restart()

    def restart(self) -> None:
        """Back to the title, as it was at first."""
        self.flow = Flow(**self._flow)  # type: ignore[arg-type]
        self.message = ""
        self._view, self._slow = 0, 0
        self._held[:] = 0
        self._seed_rivals()
        self._begin(self.plan.effects.is_snowing)

    def _seed_rivals(self) -> None:
        count = max(len(self.plan.cast), 2)
        seeds = np.random.SeedSequence(self.plan.seed).generate_state(count)
        self.rivals = {
            row: Rival(row, int(seeds[row]), self.plan.cast[row].skill)
            for row, own in enumerate(self.players)
            if own == "computer"
        }

    def _begin(self, snows: bool) -> None:
        """All to their places."""
        self.stage.restart()
        self.stage.state.scenery.is_snowing = snows
        self._set_camera()
        self._ears = StageEars(self.stage)
        self._slow = 0

    @property
    def log(self) -> InputLog:
        """What both pads have held so far."""
        return recorded(self._recorder)

    @property
    def demo(self) -> InputLog:
        """Presses that let a game begin which nobody plays, and its length."""
        first, last = DEMO_START
        return InputLog(
            np.array([first, last], np.int32),
            np.zeros(2, np.int32),
            np.array([START, 0], np.uint32),
            DEMO_SECONDS * RATE,
        )

    @property
    def wants_coin(self) -> bool:
        """Whether it takes coins, and stands where one lets it go on."""
        return self.plan.game.coins and self.phase in ("title", "continue", "game over")

    @property
    def phase(self) -> str:
        """Of the game, see `Flow`."""
        return self.flow.phase

    def step(self, held: NDArray[np.uint32]) -> None:
        """One tick; held: uint32 (2,), masks of what the pads hold."""
        self.sounds = []
        if self._is_paused:
            return
        record(self._recorder, held)
        pads = np.array(held, np.uint32)
        pressed = pads & ~self._held
        coins = int((((pads & COIN) == COIN) & ((self._held & COIN) != COIN)).sum())
        self._held[:] = pads
        pads[(pads & COIN) == COIN] &= ~np.uint32(COIN)
        self._tick += 1
        if self.has_cameras and self.phase not in ("title", "game over"):
            self._switch(pads, pressed)
        self._step_stage(pads)
        is_start = bool((pressed & START).any())
        told = self.flow.step(coins, is_start, self._verdict())
        self._follow(told)
        if self.phase not in ("title", "game over", "continue"):
            self.sounds += self._ears.listen(self.stage)

    def _step_stage(self, pads: NDArray[np.uint32]) -> None:
        """A tick of the stage; only in a fight anybody's buttons count."""
        stage = self.stage
        if self._slow:
            self._slow -= 1
            part = min(self._slow / EASE_TICKS, 1.0)
            stage.state.clocks[:] = 1.0 - (1.0 - SLOW) * part
        if self.phase != "fight":
            stage.step()
            return
        if self.has_cameras:
            pads = pads & ~np.uint32(CAMERA)
        buttons = np.zeros(len(stage), np.uint32)
        for row, own in enumerate(self.players):
            if own == "computer":
                buttons[row] = self.rivals[row].press(stage)
            else:
                buttons[row] = pads[own - 1]
        stage.step(buttons)
        if stage.state.fight.outcomes.any():
            self._screen.cheer(self._tick, 0.25)

    def _verdict(self) -> int | None:
        """The side that has won the round, DRAW, or None: it goes on."""
        if self.phase != "fight" or not self.flow.has_rounds:
            return None
        points = np.zeros(len(self.sides))
        for row, side in enumerate(self.side_of):
            points[side] += self.stage.energy[row]
        standing = np.flatnonzero(points > 0)
        if len(standing) > 1 and not self.flow.is_late:
            return None
        best = np.flatnonzero(points == points.max())
        return int(best[0]) if len(best) == 1 else DRAW

    def _follow(self, told: Sequence[str]) -> None:
        """Do what the flow of the game says."""
        for word in told:
            if word == "begin":
                self._begin(self.stage.state.scenery.is_snowing)
            elif word == "title":
                self._seed_rivals()
                self._view = 0
                self._begin(self.plan.effects.is_snowing)
            elif word == "win":
                self._end_round()
            sound = {"fight": "whistle", "begin": "", "title": ""}.get(word, word)
            self.sounds += [sound] if sound else []
        if self.phase in ("continue", "game over") and self.flow.since == 0:
            self.message = self._match_text()

    def _end_round(self) -> None:
        is_late = self.flow.left <= 0 < self.plan.game.seconds
        winner = self.flow.winner
        if winner == DRAW:
            self.message = "DRAW"
        else:
            self.message = self._win_text(winner) if is_late else "K.O."
        if not is_late:
            self._slow = SLOW_TICKS + EASE_TICKS
        self._screen.cheer(self._tick, 0.9)

    def _match_text(self) -> str:
        winner = self.flow.winner
        if winner == DRAW:
            return "DRAW"
        return f"{self._win_text(winner)} THE MATCH"

    def _win_text(self, side: int) -> str:
        """That a side wins: one fighter wins, a team of several win."""
        word = "WIN" if self.side_of.count(side) > 1 else "WINS"
        return f"{self.sides[side].upper()} {word}"

    def _switch(self, pads: NDArray[np.uint32], pressed: NDArray[np.uint32]) -> None:
        """L: another camera; L and R together: snow."""
        if not (pressed & CAMERA).any():
            return
        if self.has_snow and ((pads & SNOW) == SNOW).any():
            scenery = self.stage.state.scenery
            scenery.is_snowing = not scenery.is_snowing
            return
        self._view = (self._view + 1) % (1 + len(CAMERAS))
        self._set_camera()

    def _set_camera(self) -> None:
        own = self.plan.camera
        rule = (own, *CAMERAS)[self._view]
        first = own.of or next(
            (
                actor.name
                for actor, player in zip(self.plan.cast, self.players, strict=True)
                if player == 1
            ),
            "",
        )
        self.stage.set_camera(rule, of=first)

    def hash(self) -> str:
        """A text that two games share only if their play is alike, bit for bit."""
        found = hashlib.blake2b(self.stage.hash().encode(), digest_size=16)
        flow = self.flow
        parts = flow.phase, flow.wins, flow.round, flow.since, flow.credits
        found.update(repr((*parts, self._slow)).encode())
        for rival in self.rivals.values():
            found.update(repr(rival.chance.bit_generator.state).encode())
        return found.hexdigest()

    def draw(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """The picture now, uint8 (H, W, 4); overwritten by the next of its size."""
        now = Now(self.flow, self._tick, self.message, self._is_paused)
        return self._screen.draw(now, size)
