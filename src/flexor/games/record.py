"""A game without a window: played from a log of buttons, and drawn into a movie."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from flexor.arrays import Shorts
from flexor.errors import SettingError
from flexor.files.replace import new_file, writing
from flexor.games.game import PADS, RATE, Game
from flexor.games.sounds import SOUND_RATE
from flexor.output.movie import open_movie
from flexor.scene.stage.moves import InputLog
from flexor.stage.movement.buttons import buttons_at, init_replay

__all__ = ["Played", "add_sound", "demo_of", "play_game"]

PIECE = 1024  # samples that the encoder takes at once


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a game.

    frames: drawn; ticks: played; hash: of the game; heard: tick and name of all sounds.
    """

    frames: int
    ticks: int
    hash: str
    heard: tuple[tuple[int, str], ...] = ()


def demo_of(game: Game) -> InputLog | None:
    """The presses that a game brings to show itself, if it brings any."""
    demo = getattr(game, "demo", None)
    return demo if isinstance(demo, InputLog) else None


def play_game(
    game: Game,
    log: InputLog | None,
    ticks: int,
    *,
    out: str | os.PathLike[str] | None = None,
    size: tuple[int, int] = (960, 540),
    fps: int = 30,
    advance: Callable[[], None] = lambda: None,
) -> Played:
    """Play so many ticks with the presses of a log, None: nobody presses anything.

    out: a movie or a folder, see `open_movie`, None: nothing is drawn; fps: frames a
    second, which divides 60; advance: called after each frame, or each tick if nothing
    is drawn. The movie is there when all is done, or not at all.
    """
    if fps < 1 or RATE % fps:
        raise SettingError(f"fps: {fps}, expected 60, 30, 20, 15, 12, 10 or less")
    if ticks < 0:
        raise SettingError(f"ticks: {ticks}, expected 0 or more")
    if log is not None and log.count > PADS:
        raise SettingError(f"log: of {log.count} pads, expected {PADS} or less")
    replay = None if log is None else init_replay(log, PADS)
    held = np.zeros(PADS, np.uint32)
    heard: list[tuple[int, str]] = []

    def step(tick: int) -> None:
        if replay is not None:
            buttons_at(replay, tick, out=held)
        game.step(held)
        heard.extend((tick, name) for name in dict.fromkeys(game.sounds))

    if out is None:
        for tick in range(ticks):
            step(tick)
            advance()
        return Played(0, ticks, game.hash(), tuple(heard))
    each = RATE // fps
    frames = max(-(-ticks // each), 1)
    with open_movie(out, size, fps) as movie:
        for frame in range(frames):
            for tick in range(frame * each, min((frame + 1) * each, ticks)):
                step(tick)
            movie.add(game.draw(size))
            advance()
    return Played(frames, ticks, game.hash(), tuple(heard))


def add_sound(path: Path, track: Shorts) -> None:
    """Give an MP4 a track, int16 (n, 2), see `mix_track`; its pictures are kept.

    The file has it when this is done; what goes wrong leaves the file without.
    """
    import av
    from av.audio.frame import AudioFrame

    with new_file(path) as temporary, writing(path):
        with (
            av.open(str(path)) as source,
            av.open(
                str(temporary),
                "w",
                format="mp4",
                container_options={"movflags": "faststart"},
            ) as target,
        ):
            seen = source.streams.video[0]
            pictures = target.add_stream_from_template(seen)
            sound = target.add_stream("aac", SOUND_RATE)
            sound.bit_rate = 128_000
            first = 0
            for packet in source.demux(seen):
                if packet.dts is None or packet.time_base is None:
                    continue  # the mark of the end
                # Sound up to the picture goes first, so that players need not search.
                until = round(packet.dts * packet.time_base * SOUND_RATE) + SOUND_RATE
                while first < min(until, len(track)):
                    part = np.ascontiguousarray(track[first : first + PIECE])
                    heard = AudioFrame.from_ndarray(part.reshape(1, -1), "s16")
                    heard.sample_rate = SOUND_RATE
                    heard.time_base = Fraction(1, SOUND_RATE)
                    heard.pts = first
                    target.mux(sound.encode(heard))
                    first += len(part)
                packet.stream = pictures
                target.mux(packet)
            target.mux(sound.encode(None))
