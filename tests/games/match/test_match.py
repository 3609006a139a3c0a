"""The arena: whole matches by scripts, what is drawn, heard and kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor import samples
from flexor.api.stage import Stage
from flexor.errors import AssetError
from flexor.games.hud import draw_bar, draw_text, shade, text_size
from flexor.games.match.match import Match, make_match
from flexor.scene.stage.moves import button_mask
from flexor.stage.movement.layout import PARRIED
from tests.conftest import find_assets

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]
ASSETS = find_assets() or Path("no assets")


def press(game: Match, ticks: int, one: str = "", two: str = "") -> list[str]:
    """Hold buttons for some ticks; gives what was heard."""
    held = np.array(
        [button_mask(text) if text else 0 for text in (one, two)], np.uint32
    )
    heard = []
    for _ in range(ticks):
        game.step(held)
        heard += game.sounds
    return heard


def begin(seed: int = 0, versus: Any = "two") -> Match:
    """A game whose first round has begun."""
    game = make_match(seed=seed, versus=versus)
    assert game.title == "ARENA"
    press(game, 30)
    assert game.phase == "title"
    heard = press(game, 2, "A")
    assert "start" in heard
    assert game.phase == "ready"
    while game.phase == "ready":
        press(game, 1)
    assert game.phase == "fight"
    return game


def start(game: Match) -> None:
    """Past the title, into the first round."""
    press(game, 30)
    press(game, 2, "A")
    while game.phase == "ready":
        press(game, 1)


def stage_file(folder: Path, *words: str) -> Path:
    """The arena with other words in its [game], without anybody who looks on."""
    arena = samples.arena()
    text = arena.read_text("utf-8").replace("spectators = 120", "")
    for word in words:
        name = word.partition(" =")[0]
        text = re.sub(rf"(?m)^{name} = .*\n", "", text)
        text = text.replace("[game]\n", f"[game]\n{word}\n")
    for name in ("moves.toml", "blue.toml"):
        (folder / name).write_text(arena.with_name(name).read_text("utf-8"), "utf-8")
    path = folder / "own.toml"
    path.write_text(text, "utf-8")
    return path


def walk_up(game: Match) -> None:
    """Let red come near blue, who stands."""
    places = game.stage.places
    while abs(places[1, 0] - places[0, 0]) > 0.9:
        press(game, 1, "right")
    press(game, 5)


def win_round(game: Match) -> list[str]:
    """Red hits blue until blue lies."""
    heard = []
    for _ in range(60):
        if game.phase != "fight":
            break
        walk_up(game)
        heard += press(game, 4, "B")
        heard += press(game, 56)
    assert game.phase != "fight"
    return heard


def test_a_match_is_won_and_the_title_comes_again() -> None:
    game = begin()
    assert game.flow.round == 1
    heard = win_round(game)
    assert {"swing", "hit", "win", "step_plain"} <= set(heard)
    assert game.flow.wins == [1, 0]
    assert game.message == "K.O."
    assert game.stage.doing("blue") == "beaten back", "it was struck from in front"
    while game.phase != "fight":
        press(game, 1)
    assert game.flow.round == 2
    assert game.stage.energy.tolist() == [100, 100]
    win_round(game)
    assert game.flow.wins == [2, 0]
    while game.phase == "round over":
        press(game, 1)
    assert game.phase == "game over"
    assert game.message == "RED WINS THE MATCH"
    press(game, 30)
    press(game, 2, "", "C")
    assert game.phase == "title"
    assert game.flow.wins == [0, 0]


def test_the_clock_stands_after_a_knock_out() -> None:
    """It shows what was left, until the next round begins."""
    game = begin()
    press(game, 5 * 60)
    game.stage.energy[1] = 1
    while game.phase == "fight":
        before = game.flow.seconds_left
        walk_up(game)
        press(game, 1, "B")
    assert 0 < before < game.plan.game.seconds - 5
    left = game.flow.seconds_left
    assert before - 1 < left <= before
    for _ in range(60):
        press(game, 1)
        assert (game.phase, game.flow.seconds_left) == ("round over", left)
    while game.phase == "round over":
        press(game, 1)
    assert game.flow.seconds_left == game.plan.game.seconds


@pytest.mark.parametrize(
    ("place", "held", "is_heard"),
    [
        ((-0.6, -3.4), "C", True),  # a kick out of the water
        ((-0.6, -3.4), "right+R", True),
        ((-2.8, -3.4), "right", True),  # into it
        ((-0.6, -3.4), "B", False),
        ((-0.6, -3.4), "left", False),  # wading: steps in water are heard
        ((1.5, 1.0), "C", False),
        ((-3.2, -1.6), "C", False),  # sand flies in silence
    ],
)
def test_what_splashes(
    place: tuple[float, float], held: str, *, is_heard: bool
) -> None:
    game = begin()
    game.stage.places[:, [0, 2]] = place, (place[0] + 1.4, place[1])
    press(game, 60)
    assert ("splash" in press(game, 90, held)) is is_heard


def test_a_parry_slows_the_attacker_down() -> None:
    game = begin()
    walk_up(game)
    press(game, 6, "B")
    heard = press(game, 4, "", "Y")
    found = []
    for _ in range(30):
        heard += press(game, 1)
        found.append(int(game.stage.state.fight.outcomes[0]))
        if found[-1] == PARRIED:
            assert game.stage.state.clocks.tolist() == [0.5, 1.0]
    assert PARRIED in found
    assert "parry" in heard
    assert game.stage.energy.tolist() == [100, 100]


def test_a_round_ends_with_its_time(tmp_path: Path) -> None:
    game = make_match(stage_file(tmp_path, "seconds = 3"), versus="two")
    start(game)
    assert game.flow.seconds_left == pytest.approx(3, abs=0.1)
    press(game, 3 * 60 + 2)
    assert game.phase == "round over"
    assert game.message == "DRAW"
    assert game.flow.wins == [0, 0]
    for _ in range(3):
        while game.phase in ("round over", "ready"):
            press(game, 1)
        if game.phase == "fight":
            game.stage.energy[0] = 50
            press(game, 3 * 60 + 2)
            assert game.message == "BLUE WINS"
    assert game.phase == "game over"
    assert game.message == "BLUE WINS THE MATCH"


def test_cameras_snow_and_pause() -> None:
    game = begin()
    rules = set()
    for _ in range(3):
        press(game, 2, "L")
        press(game, 2)
        rule = game.stage.state.camera.rule
        rules.add((rule.rule, rule.distance))
    assert len(rules) == 3
    assert not game.stage.state.scenery.is_snowing
    press(game, 1, "R")
    press(game, 2, "L+R")
    assert game.stage.state.scenery.is_snowing
    before = game.hash()
    game.pause(True)
    assert game.is_paused
    press(game, 20, "B")
    assert game.hash() == before
    game.pause(False)
    press(game, 1)
    assert game.hash() != before


def test_the_opponent_fights_and_can_be_beaten() -> None:
    game = begin(versus="opponent")
    heard: list[str] = []
    for _ in range(60):
        heard += press(game, 10)
        if game.phase != "fight":
            break
    assert "hit" in heard
    assert game.stage.energy[0] < 100, "who does nothing is hit"


def test_the_demo_is_a_fight_of_opponents() -> None:
    """Of which the stage's own log gives the same again, without any opponents."""
    game = make_match(seed=2, versus="watch")
    log, kinds = game.demo, set()
    held = np.zeros(2, np.uint32)
    for tick in range(min(log.length, 1500)):
        held[0] = log.states[0] if log.ticks[0] <= tick < log.ticks[1] else 0
        game.step(held)
        kinds.update(game.sounds)
    assert {"hit", "swing", "whistle"} <= kinds
    assert kinds & {"guard", "parry", "throw"}
    again = Stage(game.plan)
    again.replay(game.stage.log)
    assert again.hash() == game.stage.hash()


def test_one_thread_and_two_play_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        game = begin(seed=3, versus="watch")
        press(game, 300)
        found.append(game.hash())
    assert found[0] == found[1]


def test_a_picture_is_the_same_whoever_watched_before() -> None:
    pictures, hashes = [], []
    for is_watched in (True, False):
        game = begin(seed=4, versus="watch")
        for tick in range(150):
            press(game, 1)
            if is_watched and tick % 5 == 0:
                game.draw((32, 24))
        hashes.append(game.hash())
        assert len(game._screen._cheers) > 0 or is_watched, (
            "there is something to catch up with"
        )
        pictures.append(game.draw((320, 240)).copy())
        assert not game._screen._cheers
        assert game._screen.crowd is not None
        assert game._screen.crowd.tick == game.tick
        assert (game.draw((320, 240)) == pictures[-1]).all()
    assert hashes[0] == hashes[1]
    assert (pictures[0] == pictures[1]).all()


def test_pictures_of_all_phases_at_all_sizes() -> None:
    game = begin()
    for size in ((64, 48), (320, 240), (640, 480), (1280, 720)):
        picture = game.draw(size)
        assert picture.shape == (size[1], size[0], 4)
        assert (picture[..., 3] == 255).all()
    bars = game.draw((640, 480))[:40].astype(int)
    game.stage.energy[0] = 20
    less = game.draw((640, 480))[:40].astype(int)
    assert np.abs(bars - less)[:, :320].sum() > 10_000, "the bar is shorter"
    assert game._screen.crowd is not None
    if game._screen.crowd.has_levels:
        assert game._screen.crowd.count >= 100
        assert (
            len(
                set(game._screen.crowd.crowd.level[game._screen.crowd.crowd.level >= 0])
            )
            >= 1
        )
    plain = game.draw((320, 240)).copy()
    game.pause(True)
    assert (game.draw((320, 240)) != plain).any()
    game.pause(False)
    game.restart()
    assert game.draw((320, 240)).any()


def test_drawing_does_not_change_the_play() -> None:
    seen, unseen = begin(), begin()
    for _ in range(20):
        press(seen, 3, "right")
        press(unseen, 3, "right")
        seen.draw((64, 48))
    assert seen.hash() == unseen.hash()


def test_another_humanoid_takes_the_place() -> None:
    file = ASSETS / "characters" / "CesiumMan.glb"
    found = sorted(ASSETS.rglob("CesiumMan.glb")) or [file]
    if not found[0].exists():
        pytest.skip("there are no assets")
    game = make_match(character=found[0], versus="two")
    press(game, 30)
    press(game, 2, "A")
    press(game, 120)
    assert game.phase == "fight"
    press(game, 30, "right")
    assert game.stage.doing("red") == "walk"
    assert game.draw((160, 120)).any()


def test_what_is_no_humanoid_is_refused() -> None:
    found = sorted(ASSETS.rglob("Fox.glb"))
    if not found:
        pytest.skip("there are no assets")
    with pytest.raises(AssetError, match="is no humanoid that can be told: no "):
        make_match(character=found[0])


def test_moves_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "moves.toml"
    own.write_text(
        '[move.jab]\nbutton = "B"\nclip = "punch"\nstart = 8\nhit = 4\nback = 10\n'
        'parts = ["rightHand"]\ndamage = 3\n'
    )
    game = make_match(versus="two", moves=own)
    assert [move.name for move in game.stage.plan.moves.moves] == ["jab"]


def test_words_and_bars() -> None:
    picture = np.full((60, 200, 4), 128, np.uint8)
    draw_text(picture, "READY", (100, 10), 20, (255, 255, 0), "middle")
    changed = (picture[..., 0] != 128).any(0)
    wide, high = text_size("READY", 20)
    assert 0 < wide < 200
    assert 10 < high < 40
    columns = np.flatnonzero(changed)
    assert abs((columns[0] + columns[-1]) / 2 - 100) < 4
    for at in ((-50, -5), (190, 55), (500, 500)):
        draw_text(picture, "READY", at, 20)  # what is beyond is cut off
    draw_bar(picture, (10, 40, 100, 8), 0.5, (200, 0, 0))
    row = picture[44, 10:110, 0] > 100
    assert row[:49].all()
    assert not row[52:].any()
    draw_bar(picture, (10, 40, 100, 8), 0.25, (200, 0, 0), from_right=True)
    assert (picture[44, 86:109, 0] > 100).all()
    assert not (picture[44, 12:80, 0] > 100).any()
    before = picture.copy()
    shade(picture, (-10, -10, 20, 20), 0.5)
    assert (picture[:10, :10, :3] == before[:10, :10, :3] // 2).mean() > 0.9
    assert (picture[20:] == before[20:]).all()
