"""Whether an opponent is beaten by who goes at it and mashes one button."""

from __future__ import annotations

from typing import NamedTuple

from flexor.api.character import Character
from flexor.bench.played.matches import arena_stage
from flexor.games.match.rival import Rival
from flexor.games.match.senses import stick_toward
from flexor.scene.stage.game import Skill
from flexor.scene.stage.moves import RATE, button_mask

__all__ = ["BUTTONS", "Mashed", "play_mashing"]

BUTTONS = ("B", "C", "X", "B+C", "A+B")
HELD, LET_GO = 3, 4  # ticks of a press, and between two
CLOSE = 0.75  # metres to which it goes
ROUNDS, SECONDS = 2, 45.0  # that win a match, and of a round


class Mashed(NamedTuple):
    """Matches that were played, and how many who mashes has won and not lost."""

    played: int
    won: int
    even: int


def play_mashing(
    hero: Character, seeds: int, skill: Skill = "middle", first: int = 0
) -> Mashed:
    """Matches of one who mashes against an opponent of a skill; the button goes by the
    seed, in turn.
    """
    won = even = 0
    for seed in range(first, first + seeds):
        mine, theirs = _play_match(hero, seed, skill)
        won += mine > theirs
        even += mine == theirs
    return Mashed(seeds, won, even)


def _play_match(hero: Character, seed: int, skill: Skill) -> tuple[int, int]:
    """Rounds that who mashes, and that the opponent has won."""
    stage = arena_stage(hero, seed)
    rival = Rival(1, seed, skill)
    button = button_mask(BUTTONS[seed % len(BUTTONS)])
    wins = [0, 0]
    for _ in range(2 * ROUNDS - 1):
        stage.restart()
        for tick in range(round(SECONDS * RATE)):
            own = button if tick % (HELD + LET_GO) < HELD else 0
            way = stage.places[1] - stage.places[0]
            if way[0] ** 2 + way[2] ** 2 > CLOSE**2:
                own |= stick_toward(stage, float(way[0]), float(way[2]))
            stage.step([own, rival.press(stage)])
            if (stage.energy <= 0).any():
                break
        mine, theirs = stage.energy.tolist()
        wins[0] += mine > theirs
        wins[1] += theirs > mine
        if max(wins) == ROUNDS:
            break
    return wins[0], wins[1]
