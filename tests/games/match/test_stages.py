"""Any stage is a game: of one, two and three, of teams, with and without moves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from flexor import samples
from flexor.errors import AssetError
from flexor.games.match.match import Match, Versus, make_match
from flexor.scene.stage.moves import button_mask

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

HEAD = "[ground]\nsize = [16, 16]\n[look]\nshadows = false\n"
MOVES = """
[move.punch]
button = "B"
start = 12
hit = 5
back = 24
parts = ["rightHand", "rightLowerArm"]
damage = 20

[move.guard]
button = "A"
kind = "guard"
start = 4
hit = 8
back = 6
"""


def one(name: str, x: float, z: float = 0.0, *words: str) -> str:
    heading = -90 if x > 0 else 90
    more = "\n".join(words)
    return (
        f'[[character]]\nname = "{name}"\nplace = [{x}, {z}]\nheading = {heading}\n'
        f"{more}\n"
    )


def make(
    folder: Path, *parts: str, versus: Versus | None = None, game: str = ""
) -> Match:
    path = folder / "three-hills.toml"
    path.write_text(f"{HEAD}[game]\n{game}\n{MOVES}{''.join(parts)}", "utf-8")
    return make_match(path, versus=versus)


def press(game: Match, ticks: int, first: str = "", second: str = "") -> list[str]:
    held = np.array(
        [button_mask(text) if text else 0 for text in (first, second)], np.uint32
    )
    heard = []
    for _ in range(ticks):
        game.step(held)
        heard += game.sounds
    return heard


def begin(game: Match) -> None:
    press(game, 30)
    press(game, 2, "A")
    while game.phase == "ready":
        press(game, 1)
    assert game.phase == "fight"


def test_one_alone_walks_about(tmp_path: Path) -> None:
    game = make(tmp_path, one("red", -1, 0, 'opponent = "none"', 'control = "free"'))
    assert game.title == "THREE-HILLS"
    assert game.players == (1,)
    assert not game.flow.has_rounds
    assert not game.has_cameras, "L is for facing"
    begin(game)
    before = game.stage.places[0].copy()
    press(game, 120, "up")
    assert np.abs(game.stage.places[0] - before).max() > 1
    press(game, 50 * 60)
    assert game.phase == "fight", "there is no end"
    assert game.draw((160, 120)).any()


def test_two_without_moves_only_walk(tmp_path: Path) -> None:
    path = tmp_path / "calm.toml"
    path.write_text(HEAD + one("red", -1) + one("blue", 1), "utf-8")
    game = make_match(path)
    assert not game.flow.has_rounds
    assert game.players == (1, "computer")
    begin(game)
    press(game, 100, "left")
    assert game.phase == "fight"
    assert game.draw((160, 120)).any()
    assert any("walk" in line for line in game.help)


def test_three_of_whom_the_last_wins(tmp_path: Path) -> None:
    game = make(tmp_path, one("red", -1.5), one("blue", 1.5), one("green", 1.5, 2))
    assert game.sides == ("red", "blue", "green")
    assert game.players == (1, "computer", "computer")
    begin(game)
    game.stage.energy[1] = 0
    press(game, 2)
    assert game.phase == "fight", "two are left"
    game.stage.energy[2] = 0
    press(game, 1)
    assert (game.phase, game.flow.wins) == ("round over", [1, 0, 0])
    assert game.message == "K.O."
    assert game.draw((320, 240)).any()
    while game.phase != "fight":
        press(game, 1)
    assert game.stage.energy.tolist() == [100, 100, 100]


def test_a_team_of_two_win_and_one_wins(tmp_path: Path) -> None:
    pair = 'team = "reds"'
    cast = one("red", -2, 0, pair), one("rose", -2, 2, pair), one("blue", 2)
    for lost, words in (((2,), "REDS WIN"), ((0, 1), "BLUE WINS")):
        game = make(tmp_path, *cast, versus="watch", game="rounds = 1")
        begin(game)
        game.stage.energy[list(lost)] = 0
        while game.phase != "game over":
            press(game, 1)
        assert game.message == f"{words} THE MATCH"


def test_three_opponents_come_and_hit(tmp_path: Path) -> None:
    game = make(
        tmp_path,
        *(one(name, x) for name, x in (("red", -1.5), ("blue", 1.5), ("green", 3))),
        versus="watch",
    )
    assert set(game.rivals) == {0, 1, 2}
    begin(game)
    heard: list[str] = []
    for _ in range(40):
        heard += press(game, 30)
        if game.phase != "fight":
            break
    assert {"hit", "swing"} <= set(heard)
    assert game.stage.energy.min() < 100


@pytest.mark.parametrize(
    ("versus", "pads"),
    [
        (None, (2, 1, "computer")),
        ("two", (2, 1, "computer")),
        ("opponent", ("computer", 1, "computer")),
        ("watch", ("computer", "computer", "computer")),
    ],
)
def test_who_plays_whom(
    tmp_path: Path, versus: Versus | None, pads: tuple[object, ...]
) -> None:
    cast = [
        one("red", -2, 0, "player = 2"),
        one("blue", 2, 0, "player = 1"),
        one("green", 0, 2, 'skill = "low"'),
    ]
    game = make(tmp_path, *cast, versus=versus)
    assert game.players == pads
    assert game.plan.cast[2].skill == "low"
    begin(game)
    if versus == "watch":
        return
    before = game.stage.places.copy()
    press(game, 60, "up")
    moved = np.abs(game.stage.places - before).max(1)
    assert moved[1] > 0.3
    if versus == "two":
        assert moved[0] == 0


def test_two_without_a_word_are_the_first_two(tmp_path: Path) -> None:
    cast = one("red", -1.5), one("blue", 1.5), one("green", 0, 2)
    assert make(tmp_path, *cast, versus="two").players == (1, 2, "computer")
    assert make(tmp_path, *cast).players == (1, "computer", "computer")


def test_coins_are_put_in_by_pads(tmp_path: Path) -> None:
    game = make(tmp_path, one("red", -1.5), one("blue", 1.5), game="coins = true")
    assert game.wants_coin
    press(game, 30)
    press(game, 2, "A")
    assert game.phase == "title"
    coin = "up+down+left+right"
    assert press(game, 3, coin) == ["coin"]
    assert press(game, 3) == []
    assert press(game, 3, "", coin) == ["coin"]
    assert game.flow.credits == 2
    picture = game.draw((320, 240)).copy()
    assert "start" in press(game, 2, "A")
    assert (game.phase, game.flow.credits) == ("ready", 1)
    assert not game.wants_coin
    while game.phase == "ready":
        press(game, 1)
    before = game.stage.places[0].copy()
    game.rivals[1]._stand()
    assert "coin" in press(game, 1, coin)
    assert np.abs(game.stage.places[0] - before).max() < 0.01, "nobody walks by it"
    while game.phase != "continue":
        game.stage.energy[0] = 0
        press(game, 1)
    assert game.message == "BLUE WINS THE MATCH"
    assert (game.draw((320, 240)) != picture).any()
    assert game.draw((320, 240)).any()
    assert "count" in press(game, 70)
    press(game, 1, "B")
    assert game.phase == "ready"
    assert game.stage.energy.tolist() == [100, 100]
    game.restart()
    assert (game.phase, game.flow.credits) == ("title", 0)


def test_time_goes_slowly_after_a_knock_out(tmp_path: Path) -> None:
    game = make(tmp_path, one("red", -1.5), one("blue", 1.5), versus="two")
    begin(game)
    game.stage.energy[1] = 0
    press(game, 2)
    assert game.phase == "round over"
    speeds = []
    for _ in range(150):
        press(game, 1)
        speeds.append(float(game.stage.state.clocks[1]))
    assert speeds[0] == pytest.approx(0.35, abs=0.01)
    assert speeds[-1] == 1.0
    assert all(a <= b for a, b in pairwise(speeds))


def test_what_is_wrong_is_said_by_line(tmp_path: Path) -> None:
    path, own = tmp_path / "own.toml", tmp_path / "moves.toml"
    path.write_text('[[character]]\nname = "red"\nclips = { walk = "Fly" }\n')
    with pytest.raises(AssetError, match=r"own\.toml at line 3: character 1\.clips"):
        make_match(path)
    move = '[move.fly]\nbutton = "B"\nkind = "other"\nstart = 8\nhit = 1\nback = 1\n'
    own.write_text(move)
    with pytest.raises(AssetError, match=r"moves\.toml at line 1: move\.fly\.clip"):
        make_match(samples.arena(), moves=own)
