"""The window, on screens and loudspeakers that SDL makes up, by a clock of our own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from flexor.errors import BackendError, BackendMissing
from flexor.files.text.moves import read_log
from flexor.games import speaker as speaker_module
from flexor.games.game import COIN
from flexor.games.pads import Device
from flexor.games.record import play_game
from flexor.games.speaker import Speaker
from flexor.games.window import (
    Window,
    check_window,
    free_name,
    load_pygame,
    make_card,
    open_window,
)
from flexor.scene.stage.moves import button_mask
from tests.games.fake import FakeClock, FakeGame

pygame = pytest.importorskip("pygame")
Open = Callable[..., Any]


@pytest.fixture(autouse=True)
def dummy_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("SDL_AUDIODRIVER", "dummy")
    monkeypatch.setenv("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")


@contextmanager
def opened(folder: Path, **more: Any) -> Iterator[tuple[Window, FakeGame, FakeClock]]:
    clock = FakeClock()
    game = FakeGame(clock)
    more = {"size": (320, 180), "is_mute": True, "folder": folder, **more}
    with open_window(game, "fake", clock=clock, sleep=clock.sleep, **more) as window:
        pygame.event.clear()
        yield window, game, clock


def run(window: Window, clock: FakeClock, seconds: float) -> None:
    until = clock.now + seconds - 1e-4
    while clock.now < until and window.is_open:
        window.frame()


def tap(window: Window, name: str, mod: int = 0, is_held: bool = False) -> None:
    code = getattr(pygame, f"KSCAN_{name}")
    for kind in (pygame.KEYDOWN, pygame.KEYUP)[: 1 if is_held else 2]:
        pygame.event.post(pygame.event.Event(kind, scancode=code, mod=mod, key=0))


def test_ticks_go_by_the_clock(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        run(window, clock, 1.0)
        assert game.tick == pytest.approx(60, abs=1)
        assert window.frames == game.tick
        assert window.rate.shown == pytest.approx(60, abs=0.5)
        game.cost = 0.1
        before, start = game.tick, clock.now
        run(window, clock, 1.0)
        # However slow the pictures are, the game keeps its time.
        assert game.tick - before == pytest.approx((clock.now - start) * 60, abs=7)
        assert window.frames < game.tick
    assert not pygame.display.get_init()


def test_pictures_become_smaller_and_are_scaled_up(tmp_path: Path) -> None:
    with opened(tmp_path, size=(1280, 720)) as (window, game, clock):
        run(window, clock, 0.5)
        assert set(game.sizes) == {(1280, 720)}
        game.cost = 0.040
        run(window, clock, 3.0)
        small = game.sizes[-1]
        assert small[0] < 1000
        assert window.rate.shown == pytest.approx(60, abs=1)
        assert f"{small[0]}x{small[1]}" in window.rate_text()
        assert "does not reach" not in window.rate_text()
        colour = pygame.display.get_surface().get_at((640, 360))
        assert colour[1] == 200
        game.cost = 0.001
        run(window, clock, 40.0)
        assert game.sizes[-1] == (1280, 720)


def test_a_machine_that_does_not_reach_sixty_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, size=(1280, 720)) as (window, game, clock):
        game.cost = 0.2
        run(window, clock, 6.0)
        assert window.ladder.is_lowest
        assert "fps  320x180  (this machine does not reach 60)" in window.rate_text()


def test_presses_reach_the_game(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        tap(window, "RIGHT", is_held=True)
        tap(window, "G")
        run(window, clock, 0.1)
        right, punch = button_mask("right"), button_mask("B")
        assert game.held[0] == (right, punch)
        assert set(game.held[1:]) == {(right, 0)}


def test_who_plays_alone_has_all_keys(tmp_path: Path) -> None:
    with opened(tmp_path, is_alone=True) as (window, game, clock):
        tap(window, "G")
        run(window, clock, 0.1)
        assert game.held[0] == (button_mask("B"), 0)


@pytest.mark.parametrize("key", ["P", "ESCAPE"])
def test_pause(tmp_path: Path, key: str) -> None:
    with opened(tmp_path) as (window, game, clock):
        run(window, clock, 0.1)
        tap(window, key)
        tap(window, "K")
        before, shown = game.tick, window.frames
        run(window, clock, 0.5)
        assert game.is_paused
        assert game.tick == before
        assert window.frames > shown + 20
        tap(window, key)
        run(window, clock, 0.5)
        assert game.tick == pytest.approx(before + 30, abs=1)
        assert set(game.held) == {(0, 0)}  # the press in the pause is forgotten


def test_back_to_the_title_and_help(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        run(window, clock, 0.2)
        tap(window, "F1")
        run(window, clock, 0.1)
        assert window.has_help
        middle = pygame.display.get_surface().get_at((160, 80))
        tap(window, "F1")
        tap(window, "BACKSPACE")
        run(window, clock, 0.1)
        assert not window.has_help
        assert pygame.display.get_surface().get_at((160, 80)) != middle
        assert game.restarts == 1
        assert game.tick == pytest.approx(6, abs=1)


def test_coins(tmp_path: Path) -> None:
    """By keys, of each player, each once; by a gamepad's back where one is wanted."""
    with opened(tmp_path) as (window, game, clock):
        tap(window, "LEFT", is_held=True)
        for key in ("5", "6", "5"):
            tap(window, key)
        run(window, clock, 0.2)
        told = [[(pad & COIN) == COIN for pad in held] for held in game.held]
        assert [sum(own) for own in zip(*told, strict=True)] == [2, 1]
        assert told[:3] == [[True, True], [False, False], [True, False]]
        assert game.held[1] == game.held[-1] == (button_mask("left"), 0)
        window.pads.devices[7] = Device(7, is_mapped=False, player=0)
        back = SimpleNamespace(type=pygame.JOYBUTTONDOWN, instance_id=7, button=8)
        window.take(back)
        assert game.restarts == 1
        game.wants_coin = True
        window.take(back)
        run(window, clock, 0.1)
        assert sum((held[0] & COIN) == COIN for held in game.held) == 1


def test_closing_and_ending_by_key(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, _, clock):
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        run(window, clock, 1.0)
        assert not window.is_open
        assert window.frames == 0
    with opened(tmp_path) as (window, _, clock):
        tap(window, "Q")
        run(window, clock, 0.1)
        assert window.is_open
        tap(window, "Q", pygame.KMOD_LCTRL)
        run(window, clock, 0.1)
        assert not window.is_open


def test_the_size_of_the_window_may_change(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        run(window, clock, 0.1)
        pygame.display.set_mode((500, 300), pygame.RESIZABLE)
        run(window, clock, 0.1)
        assert game.sizes[-1] == (500, 300)
        tap(window, "F11")
        run(window, clock, 0.1)
        assert pygame.display.is_fullscreen()
        assert game.sizes[-1] == pygame.display.get_surface().get_size() != (500, 300)
        tap(window, "F11")
        run(window, clock, 0.1)
        assert not pygame.display.is_fullscreen()
        assert game.sizes[-1] == (500, 300)


def test_a_minimised_window_pauses(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        pygame.event.post(pygame.event.Event(pygame.WINDOWMINIMIZED))
        run(window, clock, 0.1)
        assert game.is_paused


def test_pictures_are_whole_and_replace_nothing(tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "flexor-fake-002.png").write_bytes(b"mine")
    with opened(tmp_path) as (window, _, clock):
        window.ladder.level = 3
        run(window, clock, 0.2)
        tap(window, "F12")
        tap(window, "F12")
        run(window, clock, 0.1)
        assert window.note == "flexor-fake-003.png is written"
        assert [path.name[-7:-4] for path in window.written] == ["001", "003"]
    assert (tmp_path / "flexor-fake-002.png").read_bytes() == b"mine"
    assert len(list(tmp_path.iterdir())) == 3
    with Image.open(tmp_path / "flexor-fake-001.png") as picture:
        assert picture.size == (320, 180)  # of the window, whatever is drawn
        pixels = np.asarray(picture.convert("RGBA"))
    assert set(pixels[..., 1].ravel()) == {200}  # the game without cards
    assert set(pixels[..., 3].ravel()) == {255}


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with opened(tmp_path / "nowhere") as (window, _, clock):
        tap(window, "F12")
        run(window, clock, 0.1)
        assert window.note.startswith("nothing was written: ")
        assert not window.written
        assert window.is_open


def test_a_file_that_cannot_be_finished_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, log: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("flexor.games.window.write_log", fail)
    with opened(tmp_path) as (window, _, clock):
        tap(window, "R")
        tap(window, "R")
        run(window, clock, 0.1)
        assert window.note == "nothing was written: the disk is full"
    assert not list(tmp_path.iterdir())


def test_logs_give_the_same_play_again(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        tap(window, "LEFT", is_held=True)
        run(window, clock, 0.3)
        tap(window, "R")
        tap(window, "J", is_held=True)
        run(window, clock, 0.3)
        assert window.is_recording
        tap(window, "P")
        run(window, clock, 0.3)
        tap(window, "P")
        run(window, clock, 0.1)
        tap(window, "R")
        window.frame()
        assert window.note == "flexor-fake-001.log is written"
        ticks = read_log(tmp_path / "flexor-fake-001.log").length
        held = list(game.held[:ticks])
    log = read_log(tmp_path / "flexor-fake-001.log")
    again = FakeGame()
    play_game(again, log, log.length)
    assert again.held == held
    assert len(held) > 35


def test_what_is_recorded_is_written_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, _, clock):
        run(window, clock, 0.2)
        tap(window, "R")
        run(window, clock, 0.2)
        tap(window, "BACKSPACE")  # the title: a new play, and a new log
        run(window, clock, 0.1)
        assert not window.is_recording
        tap(window, "R")
        run(window, clock, 0.1)
    assert [path.name for path in window.written] == [
        "flexor-fake-001.log",
        "flexor-fake-002.log",
    ]
    lengths = [read_log(path).length for path in window.written]
    assert lengths[0] == pytest.approx(24, abs=2)
    assert lengths[1] == pytest.approx(12, abs=2)


def test_an_error_of_the_game_closes_the_window(tmp_path: Path) -> None:
    def fall(size: tuple[int, int]) -> Any:
        raise ZeroDivisionError

    def go() -> None:
        with opened(tmp_path) as (window, game, clock):
            game.draw = fall  # type: ignore[method-assign]
            run(window, clock, 0.1)

    with pytest.raises(ZeroDivisionError):
        go()
    assert not pygame.display.get_init()


class VirtualPad:
    """A gamepad that SDL itself pretends to have, so that all of the way is real."""

    def __init__(self) -> None:
        found = list(
            Path(pygame.__file__).parent.parent.glob("pygame_ce.libs/libSDL2-2*")
        )
        if not found:
            pytest.skip("the library of SDL is not found")
        self.sdl = ctypes.CDLL(str(found[0]))
        self.sdl.SDL_JoystickFromInstanceID.restype = ctypes.c_void_p

    def plug(self) -> None:
        index = self.sdl.SDL_JoystickAttachVirtual(1, 6, 15, 1)
        if index < 0:
            pytest.skip("this SDL pretends nothing")
        self.index = index

    def press(self, number: int, button: int, is_down: bool) -> None:
        stick = ctypes.c_void_p(self.sdl.SDL_JoystickFromInstanceID(number))
        assert self.sdl.SDL_JoystickSetVirtualButton(stick, button, int(is_down)) == 0

    def unplug(self) -> None:
        assert self.sdl.SDL_JoystickDetachVirtual(self.index) == 0


def test_a_gamepad_that_disappears_pauses(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        pad = VirtualPad()
        pad.plug()
        run(window, clock, 0.1)
        (number,) = window.pads.devices
        assert window.pads.devices[number].is_mapped
        pad.press(number, pygame.CONTROLLER_BUTTON_B, True)
        pygame.event.pump()
        run(window, clock, 0.1)
        assert game.held[-1] == (button_mask("B"), 0)
        assert not game.is_paused
        pad.unplug()
        run(window, clock, 0.1)
        assert window.pads.lost == {0}
        assert game.is_paused
        before = game.tick
        run(window, clock, 0.2)
        assert game.tick == before
        pad.plug()
        run(window, clock, 0.1)
        assert not window.pads.lost
        assert game.is_paused  # until someone asks for it
        (number,) = window.pads.devices
        pad.press(number, pygame.CONTROLLER_BUTTON_START, True)
        pygame.event.pump()
        run(window, clock, 0.2)
        assert not game.is_paused
        assert game.tick > before
        pad.unplug()
        run(window, clock, 0.1)


def test_going_on_without_the_gamepad(tmp_path: Path) -> None:
    with opened(tmp_path) as (window, game, clock):
        window.pads.lost.add(0)
        game.pause(True)
        tap(window, "P")
        run(window, clock, 0.1)
        assert not window.pads.lost
        assert not game.is_paused


class FakeSound:
    played: list[FakeSound] = []  # noqa: RUF012

    def __init__(self, buffer: bytes) -> None:
        self.size = len(buffer)

    def play(self) -> None:
        self.played.append(self)


def test_sounds_are_played_once_a_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeSound, "played", [])
    monkeypatch.setattr(pygame.mixer, "Sound", FakeSound)
    with opened(tmp_path, is_mute=False) as (window, _, clock):
        assert not window.speaker.is_silent
        tap(window, "K")
        run(window, clock, 0.2)
        kinds = [window.speaker.sounds[name] for name in ("hit", "swing")]
        assert FakeSound.played == kinds
        tap(window, "F9")
        tap(window, "K")
        run(window, clock, 0.1)
        assert window.note == "no sound"
        assert FakeSound.played == kinds
        tap(window, "F9")
        tap(window, "K")
        run(window, clock, 0.1)
        assert window.note == "sound"
        assert len(FakeSound.played) == 4
        window.speaker.play(["no such sound"])


def test_without_a_device_it_is_silent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_AUDIODRIVER", "no such driver")
    speaker = Speaker()
    assert speaker.is_silent
    speaker.play(["hit"])
    speaker.toggle()
    speaker.toggle()
    assert speaker.is_silent
    assert capfd.readouterr().err == ""


def test_a_speaker_that_is_mute_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speaker_module, "make_sound", None)
    assert Speaker(is_mute=True).is_silent
    assert pygame.mixer.get_init() is None


def test_without_standard_error() -> None:
    with speaker_module.no_chatter():
        pass


def test_cards() -> None:
    card = make_card(("short", "a longer line"), 14)
    assert card.dtype == np.uint8
    assert card.shape[0] > 28
    assert card[..., :3].max() > 200
    assert card is make_card(("short", "a longer line"), 14)


def test_free_names(tmp_path: Path) -> None:
    names = [free_name(tmp_path, "a", ".log").name for _ in range(3)]
    assert names == [f"flexor-a-00{n}.log" for n in (1, 2, 3)]


def test_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(
        BackendError, match=r"there is no display .* without a window: x"
    ):
        check_window("x")


def test_a_display_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    with pytest.raises(
        BackendError, match=r"no window can be opened: .*; without.*: x"
    ):
        check_window("x")
    monkeypatch.delenv("SDL_VIDEODRIVER")
    monkeypatch.setenv("DISPLAY", ":987")
    monkeypatch.setattr(pygame.display, "get_driver", lambda: "offscreen")
    monkeypatch.setattr(pygame.display, "init", lambda: None)
    with pytest.raises(BackendError, match=r"opened: the display does not answer$"):
        check_window()


def test_a_size_that_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(size: Any, flags: int) -> None:
        raise pygame.error("too large")

    monkeypatch.setattr(pygame.display, "set_mode", refuse)
    with (
        pytest.raises(BackendError, match="too large; without a window: y"),
        opened(tmp_path, instead="y"),
    ):
        pass


def test_pygame_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pygame", None)
    with pytest.raises(BackendMissing, match=r'pip install "flexor\[play\]"'):
        load_pygame()
