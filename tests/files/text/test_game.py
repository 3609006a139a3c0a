"""Games in a stage's file: what [game] and characters say of them, and faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flexor.errors import AssetError, SettingError
from flexor.files.text.stage import read_stage
from flexor.scene.stage.game import GameSettings
from flexor.scene.stage.plan import Actor, StagePlan

RED = "[[character]]\nname = 'red'\n"  # 2 lines
BLUE = "[[character]]\nname = 'blue'\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_game_is_read(tmp_path: Path) -> None:
    text = (
        '[game]\ntitle = "Dunes"\nrounds = 3\nseconds = 60.5\ncoins = true\n'
        f"countdown = 5\nspectators = 12\n{RED}player = 2\n"
        f'{BLUE}player = "computer"\nskill = "high"\n'
    )
    plan = read_stage(write(tmp_path, text))
    assert plan.game == GameSettings(
        title="Dunes", rounds=3, seconds=60.5, coins=True, countdown=5, spectators=12
    )
    found = [(actor.player, actor.skill) for actor in plan.cast]
    assert found == [(2, "middle"), ("computer", "high")]


def test_what_is_usual(tmp_path: Path) -> None:
    plan = read_stage(write(tmp_path, RED))
    assert plan.game == GameSettings()
    assert (plan.game.rounds, plan.game.coins, plan.game.spectators) == (2, False, 0)
    assert (plan.cast[0].player, plan.cast[0].skill) == (None, "middle")


@pytest.mark.parametrize(
    ("text", "place", "fault"),
    [
        ("[game]\nround = 2", "line 2", "game.round: not known; there are: title, ro"),
        ("[game]\nrounds = 0", "line 2", "game.rounds: 0, expected 1 to 9"),
        ("[game]\nrounds = 1.5", "line 2", "game.rounds: 1.5, expected a whole number"),
        ("[game]\nseconds = -1", "line 2", "game.seconds: -1.0, expected 0 to 999"),
        ("[game]\nseconds = nan", "line 2", "game.seconds: nan, expected 0 to 999"),
        ("[game]\ncoins = 1", "line 2", "game.coins: 1, expected true or false"),
        ("[game]\ncountdown = 0", "line 2", "game.countdown: 0, expected 1 to 99"),
        ("[game]\nspectators = 9999", "line 2", "spectators: 9999, expected 0 to 1000"),
        (f"[game]\ntitle = '{'a' * 41}'", "line 2", "expected a text of 40 letters"),
        ('[game]\ntitle = "a\\u0007b"', "line 2", "expected a text of 40 letters"),
        (f"{RED}player = 3", "line 3", "character 1.player: 3, expected 1, 2 or 'comp"),
        (f"{RED}player = 'me'", "line 3", "player: 'me', expected 1, 2 or 'computer'"),
        (f"{RED}player = true", "line 3", "True, expected a whole number or a text"),
        (f"{RED}player = 1.0", "line 3", "1.0, expected a whole number or a text"),
        (f"{RED}skill = 'best'", "line 3", "skill: 'best', expected one of low, middl"),
        (
            f"{RED}player = 1\n{BLUE}player = 1",
            "line 6",
            "character 2.player: 1 plays 'red', expected another",
        ),
    ],
)
def test_faults(tmp_path: Path, text: str, place: str, fault: str) -> None:
    with pytest.raises(AssetError) as caught:
        read_stage(write(tmp_path, text))
    assert place in str(caught.value)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ({"title": 3}, "title: int, expected str"),
        ({"rounds": True}, "rounds: True, expected 1 to 9"),
        ({"seconds": "long"}, "seconds: 'long', expected 0 to 999"),
        ({"coins": "yes"}, "coins: str, expected bool"),
    ],
)
def test_settings_are_checked(words: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingError, match=fault):
        GameSettings(**words)


def test_a_plan_has_one_player_a_pad() -> None:
    cast = [Actor(name=name, player=1) for name in ("red", "blue")]
    with pytest.raises(SettingError, match="two are of player 1, expected one"):
        StagePlan(cast=tuple(cast))
    with pytest.raises(SettingError, match=r"player: 1\.0, expected 1, 2"):
        Actor(name="red", player=1.0)  # type: ignore[arg-type]
