"""Sounds to the loudspeaker; silence where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from flexor.games.sounds import NAMES, SOUND_RATE, make_sound

__all__ = ["Speaker", "no_chatter"]


class Speaker:
    """Plays sounds by their names; silent where no device can be opened."""

    def __init__(self, is_mute: bool = False) -> None:
        self.is_mute = is_mute
        self.sounds: dict[str, Any] = {}
        if not is_mute:
            self._open()

    @property
    def is_silent(self) -> bool:
        """Whether nothing can be heard."""
        return self.is_mute or not self.sounds

    def _open(self) -> None:
        import pygame

        with no_chatter():
            try:
                pygame.mixer.init(SOUND_RATE, -16, 2, 512, allowedchanges=0)
            except (pygame.error, NotImplementedError):
                return
        pygame.mixer.set_num_channels(24)
        for name in NAMES:
            data = make_sound(name).tobytes()
            self.sounds[name] = pygame.mixer.Sound(buffer=data)

    def play(self, names: Iterable[str]) -> None:
        """Let each be heard once; unknown ones are passed over."""
        if not self.is_mute:
            for name in dict.fromkeys(names):
                if name in self.sounds:
                    self.sounds[name].play()

    def toggle(self) -> None:
        """Sound on, or off."""
        self.is_mute = not self.is_mute
        if not self.is_mute and not self.sounds:
            self._open()


@contextmanager
def no_chatter() -> Iterator[None]:
    """Keep what libraries write to standard error themselves from the terminal."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nothing)
        os.close(kept)
