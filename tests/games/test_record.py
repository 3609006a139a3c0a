"""Games without a window: what is played, drawn, heard and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.games.record import add_sound, demo_of, play_game
from flexor.games.sounds import SOUND_RATE, mix_track
from tests.games.fake import FakeGame, make_log

LOG = make_log((3, 0, 16), (5, 0, 0), (5, 1, 4), length=20)


def test_a_log_is_played() -> None:
    game = FakeGame()
    calls: list[int] = []
    done = play_game(game, LOG, 12, advance=lambda: calls.append(1))
    assert game.held == [(0, 0)] * 3 + [(16, 0)] * 2 + [(0, 4)] * 7
    assert (done.frames, done.ticks, done.hash) == (0, 12, game.hash())
    assert done.heard[:3] == ((3, "hit"), (3, "swing"), (4, "hit"))
    assert len(calls) == 12
    assert not game.sizes


def test_without_a_log_nobody_presses() -> None:
    game = FakeGame()
    assert play_game(game, None, 5).heard == ()
    assert game.held == [(0, 0)] * 5


@pytest.mark.parametrize(("fps", "ticks", "frames"), [(30, 20, 10), (60, 7, 7)])
def test_a_movie(tmp_path: Path, fps: int, ticks: int, frames: int) -> None:
    out = tmp_path / "play.npy"
    calls: list[int] = []
    done = play_game(
        FakeGame(),
        LOG,
        ticks,
        out=out,
        size=(64, 36),
        fps=fps,
        advance=lambda: calls.append(1),
    )
    movie = np.load(out)
    assert movie.shape == (frames, 36, 64, 4)
    assert movie[:, 0, 0, 0].tolist() == [60 // fps * (n + 1) for n in range(frames)]
    assert done.frames == len(calls) == frames
    # The same presses give the same play, drawn or not.
    assert done.hash == play_game(FakeGame(), LOG, ticks).hash


def test_ticks_that_fill_no_frame(tmp_path: Path) -> None:
    for ticks, frames in ((0, 1), (1, 1), (5, 3)):
        game = FakeGame()
        out = tmp_path / f"{ticks}.npy"
        assert play_game(game, None, ticks, out=out, size=(8, 8)).frames == frames
        assert game.tick == ticks


def test_what_goes_wrong_leaves_nothing(tmp_path: Path) -> None:
    game = FakeGame()
    game.draw = None  # type: ignore[method-assign,assignment]
    with pytest.raises(TypeError):
        play_game(game, None, 5, out=tmp_path / "a.npy", size=(8, 8))
    assert not list(tmp_path.iterdir())


def test_refusals(tmp_path: Path) -> None:
    game = FakeGame()
    with pytest.raises(SettingError, match="fps: 25, expected 60, 30"):
        play_game(game, None, 5, fps=25)
    with pytest.raises(SettingError, match="ticks: -1"):
        play_game(game, None, -1)
    with pytest.raises(SettingError, match="log: of 3 pads, expected 2 or less"):
        play_game(game, make_log((0, 2, 1)), 5)
    with pytest.raises(SettingError, match="unknown ending"):
        play_game(game, None, 5, out=tmp_path / "a.txt")
    assert game.tick == 0


def test_the_demo_of_a_game() -> None:
    game = FakeGame()
    assert demo_of(game) is None
    game.demo = LOG  # type: ignore[attr-defined]
    assert demo_of(game) is LOG


def test_sound_in_a_movie(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    out = tmp_path / "play.mp4"
    done = play_game(FakeGame(), make_log((30, 0, 16), (31, 0, 0)), 90, out=out)
    with av.open(str(out)) as movie:
        before = [bytes(packet) for packet in movie.demux(video=0)]
    track = mix_track(done.heard, 90)
    add_sound(out, track)
    assert list(tmp_path.iterdir()) == [out]
    with av.open(str(out)) as movie:
        assert [bytes(packet) for packet in movie.demux(video=0)] == before
    with av.open(str(out)) as movie:
        assert movie.streams.audio[0].rate == SOUND_RATE
        parts = [frame.to_ndarray() for frame in movie.decode(audio=0)]
    heard = np.concatenate(parts, 1)
    assert heard.shape[0] == 2
    assert heard.shape[1] == pytest.approx(1.5 * SOUND_RATE, abs=3000)
    loud = np.abs(heard[0])
    first = int(np.argmax(loud > 0.1)) / SOUND_RATE
    assert first == pytest.approx(0.5, abs=0.03)
    assert loud.max() == pytest.approx(np.abs(track / 32768).max(), abs=0.15)
