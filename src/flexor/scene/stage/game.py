"""How a stage is played as a game: rounds, their time, coins, and who plays whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.checks import check_kind, check_number, check_word

__all__ = ["SKILLS", "GameSettings", "Player", "Skill", "check_pads", "check_player"]

Player = Literal[1, 2, "computer"]
Skill = Literal["low", "middle", "high"]
PLAYERS: tuple[Player, ...] = get_args(Player)
SKILLS: tuple[Skill, ...] = get_args(Skill)
LONGEST_TITLE = 40
MOST_ROUNDS, LONGEST_ROUND, LONGEST_WAIT = 9, 999.0, 99
MOST_SPECTATORS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSettings:
    """A stage as a game.

    title: what it is called, the name of its file if not said; rounds: that one has to
    win, 1 to 9; seconds: of a round, 0: without end; coins: whether who plays puts in
    coins first, one for each player, and one more to go on after a match that was lost;
    countdown: seconds in which one can go on; spectators: how many look on.
    """

    title: str = ""
    rounds: int = 2
    seconds: float = 45.0
    coins: bool = False
    countdown: int = 10
    spectators: int = 0

    def __post_init__(self) -> None:
        check_kind(self.title, str, "title")
        if len(self.title) > LONGEST_TITLE or not self.title.isprintable():
            raise SettingError(
                f"title: {self.title!r}, expected a text of {LONGEST_TITLE} letters or "
                "less"
            )
        put = object.__setattr__
        for name, least, most in (
            ("rounds", 1, MOST_ROUNDS),
            ("countdown", 1, LONGEST_WAIT),
            ("spectators", 0, MOST_SPECTATORS),
        ):
            put(self, name, _whole(getattr(self, name), name, least, most))
        put(self, "seconds", check_number(self.seconds, "seconds", 0, LONGEST_ROUND))
        check_kind(self.coins, bool, "coins")


def _whole(value: Any, name: str, least: int, most: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        raise SettingError(f"{name}: {value!r}, expected {least} to {most}")
    return int(value)


def check_player(player: Any, skill: Any) -> None:
    """Refuse a player that is none, and a skill that nobody has."""
    is_kind = isinstance(player, int | str) and not isinstance(player, bool)
    if player is not None and not (is_kind and player in PLAYERS):
        raise SettingError(f"player: {player!r}, expected 1, 2 or 'computer'")
    check_word(skill, SKILLS, "skill")


def check_pads(players: Sequence[Player | None]) -> None:
    """Refuse two who are played by one pad."""
    for pad in (1, 2):
        if players.count(pad) > 1:
            raise SettingError(f"cast: two are of player {pad}, expected one")
