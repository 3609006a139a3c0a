"""A game in a window: ticks by the clock, pictures as large as the machine can draw.

    with open_window(game, "arena") as window:
        while window.is_open:
            window.frame()

The game moves in ticks of 1/60 s, whatever drawing costs; where that costs too much
the picture becomes smaller and is scaled up to the window.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import BackendError, BackendMissing, FlexorError
from flexor.files.text.moves import write_log
from flexor.games.game import PADS, RATE, Game
from flexor.games.hud import Colour, draw_text, text_size
from flexor.games.pace import FrameRate, Ladder, Ticker
from flexor.games.pads import KEY_HELP, PAD_HELP, Pads
from flexor.games.speaker import Speaker, no_chatter
from flexor.output.image import save_image
from flexor.stage.movement.buttons import (
    InputRecorder,
    init_recorder,
    record,
    recorded,
)

__all__ = [
    "COMMANDS",
    "WINDOW_HELP",
    "Window",
    "check_window",
    "free_name",
    "load_pygame",
    "make_card",
    "open_window",
]

# What keys ask of the window, by their place as those of the pads.
COMMANDS = {
    "F1": "help",
    "F9": "sound",
    "F11": "fullscreen",
    "F12": "screenshot",
    "R": "record",
    "P": "pause",
    "ESCAPE": "pause",
    "BACKSPACE": "title",
    "5": "coin 1",
    "6": "coin 2",
}
WINDOW_HELP = (
    "P or Escape: pause,  Backspace: back to the title,  Ctrl+Q: end",
    "5 and 6: a coin of player 1 and 2, where the game takes coins",
    "F1: this help,  F9: sound,  F11: whole screen",
    "F12: picture into a file,  R: record what the pads do, R again: write it",
)
NOTE_SECONDS = 4.0
RED: Colour = (255, 96, 80)
WHITE: Colour = (255, 255, 255)
PAPER = (16, 18, 24, 212)


@lru_cache(maxsize=64)
def make_card(
    lines: tuple[str, ...], height: int, colour: Colour = WHITE
) -> NDArray[np.uint8]:
    """Lines of text on a dark card, uint8 (H, W, 4), seen through a little."""
    sizes = [text_size(line, height) for line in lines]
    edge = height // 2
    wide = max(size[0] for size in sizes) + 2 * edge
    step = max(size[1] for size in sizes)
    card = np.empty((step * len(lines) + edge, wide, 4), np.uint8)
    card[:] = PAPER
    for row, line in enumerate(lines):
        draw_text(card, line, (edge, edge // 2 + row * step), height, colour)
    card.flags.writeable = False
    return card


def free_name(folder: Path, name: str, ending: str) -> Path:
    """Make an empty file whose number no file has yet, so that nothing is replaced."""
    for number in range(1, 100_000):
        path = folder / f"flexor-{name}-{number:03d}{ending}"
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            return path
    raise OSError("there are too many already")


def load_pygame() -> None:
    """Import pygame, or say what to install."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame  # noqa: F401
    except ImportError:
        raise BackendMissing(
            'playing in a window needs pygame-ce: pip install "flexor[play]"'
        ) from None


class Window:
    """A game that is being played; `open_window` makes it.

    is_open: until it is closed; frames: that were shown; written: files; notes of what
    was done are on the screen for some seconds.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        *,
        is_mute: bool,
        is_alone: bool,
        folder: Path,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        import pygame

        self.game, self.name, self.folder = game, name, folder
        self.clock, self.sleep = clock, sleep
        self.is_open, self.has_help, self.is_recording = True, False, False
        self.frames = 0
        self.written: list[Path] = []
        self.pads = Pads(is_alone)
        self.speaker = Speaker(is_mute)
        self.ticker, self.rate = Ticker(), FrameRate()
        self.ladder = Ladder(self._screen().get_size())
        # Games name buttons; who has only keys must know where they are.
        self.note = "A B C are the keys J K L,  F1: all of them"
        self._note_until = clock() + 2 * NOTE_SECONDS
        self._recorder: InputRecorder = init_recorder(PADS)
        self._size = self.ladder.window  # when it is not the whole screen
        self._commands = {
            getattr(pygame, f"KSCAN_{key}"): command
            for key, command in COMMANDS.items()
        }

    @staticmethod
    def _screen() -> Any:
        import pygame

        screen = pygame.display.get_surface()
        if screen is None:
            raise BackendError("the window is gone")
        return screen

    def frame(self) -> None:
        """Take what has come, play the ticks that are due, and show a picture."""
        import pygame

        before = self.pads.lost.copy()
        for event in pygame.event.get():
            self.take(event)
        if not self.is_open:
            return
        if self.pads.lost - before:
            self.game.pause(True)
        start = self.clock()
        due = self.ticker.due(start)
        if not due:
            self.sleep(self.ticker.wait(start))
            return
        self._play(due)
        self.ladder.fit(self._screen().get_size())
        drawing = self.clock()
        picture = self.game.draw(self.ladder.size)
        drawn = self.clock()
        self._show(picture)
        end = self.clock()
        self.rate.add(start)
        self.frames += 1
        self.ladder.add(drawn - drawing, end - start - (drawn - drawing))

    def _play(self, count: int) -> None:
        heard: list[str] = []
        for _ in range(count):
            if self.game.is_paused:
                self.pads.read()  # a press during the pause is not one after it
                break
            held = self.pads.read()
            record(self._recorder, held)
            self.game.step(held)
            heard += self.game.sounds
        self.speaker.play(heard)

    def take(self, event: Any) -> None:
        """Take an event of pygame."""
        import pygame

        if event.type == pygame.QUIT:
            self.is_open = False
            return
        wish: str | None = self.pads.take(event)
        if wish == "title" and self.game.wants_coin:
            wish = "coin 1"
        if event.type == pygame.KEYDOWN:
            if event.scancode == pygame.KSCAN_Q and event.mod & pygame.KMOD_CTRL:
                self.is_open = False
            wish = self._commands.get(event.scancode)
        elif event.type == pygame.WINDOWMINIMIZED:
            self.game.pause(True)
        if wish is not None:
            self.do(wish)

    def do(self, command: str) -> None:
        """Do what a key or a gamepad asks of the window, a value of `COMMANDS`."""
        if command == "pause":
            is_on = not self.game.is_paused
            if not is_on:
                self.pads.go_on()
            self.game.pause(is_on)
        elif command == "title":
            if self.is_recording:
                self.toggle_record()
            self._recorder = init_recorder(PADS)
            self.game.restart()
        elif command in ("coin 1", "coin 2"):
            self.pads.insert_coin(int(command[-1]) - 1)
        elif command == "help":
            self.has_help = not self.has_help
        elif command == "sound":
            self.speaker.toggle()
            self.say("no sound" if self.speaker.is_silent else "sound")
        elif command == "fullscreen":
            self.toggle_fullscreen()
        elif command == "screenshot":
            self.take_picture()
        elif command == "record":
            self.toggle_record()

    def say(self, note: str) -> None:
        """Show a line for some seconds."""
        self.note, self._note_until = note, self.clock() + NOTE_SECONDS

    def toggle_fullscreen(self) -> None:
        """Fill the screen, or become a window of the size before."""
        import pygame

        if pygame.display.is_fullscreen():
            pygame.display.set_mode(self._size, pygame.RESIZABLE)
        else:
            self._size = self._screen().get_size()
            pygame.display.set_mode((0, 0), pygame.FULLSCREEN)

    def take_picture(self) -> None:
        """Draw the game once at the size of the window, into a file of its own."""
        picture = self.game.draw(self._screen().get_size()).copy()
        picture[..., 3] = 255  # what is behind the game is nothing that shows through
        self._write(".png", lambda path: save_image(path, picture))

    def toggle_record(self) -> None:
        """Begin to record, or write what the pads did.

        It is written from the title on, so that the file gives the same play again.
        """
        self.is_recording = not self.is_recording
        if self.is_recording:
            self.say("recording the pads: R writes them")
            return
        log = recorded(self._recorder)
        self._write(".log", lambda path: write_log(path, log))

    def _write(self, ending: str, write: Callable[[Path], None]) -> None:
        """Write a file with a number, or say why it cannot be."""
        path: Path | None = None
        try:
            path = free_name(self.folder, self.name, ending)
            write(path)
            self.written.append(path)
            self.say(f"{path.name} is written")
        except (OSError, FlexorError) as error:
            if path is not None:
                path.unlink(missing_ok=True)
            self.say(f"nothing was written: {error}")

    def _show(self, picture: NDArray[np.uint8]) -> None:
        import pygame

        screen = self._screen()
        high, wide = picture.shape[:2]
        shown = pygame.image.frombuffer(
            np.ascontiguousarray(picture).data, (wide, high), "RGBX"
        )
        if (wide, high) == screen.get_size():
            screen.blit(shown, (0, 0))
        else:
            pygame.transform.smoothscale(
                shown.convert(screen), screen.get_size(), screen
            )
        self._lay_cards(screen)
        pygame.display.flip()

    def _lay_cards(self, screen: Any) -> None:
        """Lay over what the window has to say, at its own sharpness."""
        import pygame

        wide, high = screen.get_size()
        text = max(high // 36, 11)

        def lay(
            lines: tuple[str, ...], x: float, y: float, colour: Colour = WHITE
        ) -> None:
            """Lay a card; x, y: 0 is left and top, 1 right and bottom."""
            card = make_card(lines, text, colour)
            size = card.shape[1], card.shape[0]
            made = pygame.image.frombuffer(card.data, size, "RGBA")
            screen.blit(made, ((wide - size[0]) * x, (high - size[1]) * y))

        lay((self.rate_text(),), 0, 1)
        if self.is_recording:
            seconds = self._recorder.tick // RATE
            lay((f"REC {seconds // 60}:{seconds % 60:02d}",), 1, 1, RED)
        if self.pads.lost:
            who = " and ".join(str(player + 1) for player in sorted(self.pads.lost))
            lost = (
                f"the gamepad of player {who} is gone",
                "plug it in again; P or start goes on",
            )
            lay(lost, 0.5, 0.74, RED)
        elif self.note and self.clock() < self._note_until:
            lay((self.note,), 0.5, 0.92 if self.has_help else 0.74)
        if self.has_help:
            parts = self.game.help, KEY_HELP, PAD_HELP, WINDOW_HELP
            # An empty line between what is about different things.
            lines = tuple(line for part in parts for line in (*part, ""))[:-1]
            lay(lines, 0.5, 0.45)

    def rate_text(self) -> str:
        """Frames a second and the size that is drawn."""
        wide, high = self.ladder.size
        text = f"{self.rate.shown:.0f} fps  {wide}x{high}"
        is_slow = self.ladder.is_lowest and 0 < self.rate.shown < 0.95 * RATE
        return f"{text}  (this machine does not reach {RATE})" if is_slow else text

    def close(self) -> None:
        """Write what is being recorded, and let go of screen, sound and gamepads."""
        if self.is_recording:
            self.toggle_record()
        self.is_open = False
        self.pads.devices.clear()
        _quit()


@contextmanager
def open_window(
    game: Game,
    name: str,
    *,
    size: tuple[int, int] = (1280, 720),
    is_mute: bool = False,
    is_alone: bool = False,
    folder: Path | None = None,
    instead: str = "",
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Window]:
    """Open a window on a game, and close it when the block ends.

    name: of the game, for files; size: of the window; is_alone: one player has all
    keys and gamepads; folder: where pictures and logs go, None: the current one;
    instead: what to type where no window can be opened; clock, sleep: seconds.
    """
    check_window(instead)
    import pygame
    from pygame._sdl2 import controller

    try:
        pygame.display.set_mode(size, pygame.RESIZABLE)
    except pygame.error as error:
        pygame.quit()
        raise BackendError(_say_no_window(error, instead)) from None
    try:
        pygame.display.set_caption(game.title)
        pygame.joystick.init()
        controller.init()
        window = Window(
            game,
            name,
            is_mute=is_mute,
            is_alone=is_alone,
            folder=Path() if folder is None else folder,
            clock=clock,
            sleep=sleep,
        )
        try:
            yield window
        finally:
            window.close()
    finally:
        _quit()


def _quit() -> None:
    """Let go of all that was begun."""
    import pygame
    from pygame._sdl2 import controller

    # pygame ends these by itself, but not where it was begun more than once.
    controller.quit()
    pygame.joystick.quit()
    pygame.quit()


def check_window(instead: str = "") -> None:
    """Refuse to go on where no window can be opened; instead: what to type then."""
    load_pygame()
    import pygame

    is_asked = any(os.environ.get(n) for n in ("SDL_VIDEODRIVER", "SDL_VIDEO_DRIVER"))
    has_display = any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.platform.startswith("linux") and not is_asked and not has_display:
        # SDL would look at everything there could be, and complain of each.
        reason = "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"
        raise BackendError(_say_no_window(reason, instead))
    try:
        with no_chatter():
            pygame.display.init()
        # Where nothing else is left, SDL draws to where nobody sees it.
        if pygame.display.get_driver() in ("offscreen", "dummy") and not is_asked:
            raise pygame.error("the display does not answer")
    except pygame.error as error:
        pygame.quit()
        raise BackendError(_say_no_window(error, instead)) from None


def _say_no_window(reason: object, instead: str) -> str:
    hint = f"; without a window: {instead}" if instead else ""
    return f"no window can be opened: {reason}{hint}"
