"""Time to play: clocks, sampling, mixing and layers, per character of 65 joints."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from flexor.api.character import Character
from flexor.bench.synthetic import make_character
from flexor.bench.timing import Result, best_seconds
from flexor.pose.clips.root_motion import steady_motion
from flexor.pose.play.layers import Layer
from flexor.pose.play.motion_set import MotionSet, make_motion_set
from flexor.pose.play.player import PlayerState, advance, init_player
from flexor.pose.play.voices import play
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip

__all__ = ["run"]

STEP = 1 / 60
ABOVE = "joint3"  # with all below it 52 of the 65 joints
WHAT = {
    "clip": "one clip a character",
    "clips4": "four clips in turn, one a character: neighbours play others",
    "layers2": "a second clip over 52 of the joints",
    "additive": "a second clip added to all joints",
    "fade": "cross-fade of two clips, without an end",
    "events": "one clip with two events, none of them passed",
    "travel": "one clip that carries the character on",
}


def _plain(character: Character, count: int) -> Callable[[], None]:
    """A call that samples one clip a sixtieth of a second further."""
    tables = character.clip_tables("turns")
    state = init_sample(tables, character.layout, count)
    starts = np.linspace(0, tables.duration, count, endpoint=False)
    steps = np.arange(0, tables.duration, STEP)
    moments = ((starts + steps[:, None]) % tables.duration).astype(np.float32)
    frames = itertools.cycle(list(moments))

    def step() -> None:
        sample(state, next(frames))

    return step


def _player(name: str, motions: MotionSet, count: int) -> PlayerState:
    """A crowd that plays what `WHAT` says."""
    layers = [Layer("body"), Layer("above", mask=ABOVE), Layer("more", additive=True)]
    used = {"layers2": layers[:2], "additive": [layers[0], layers[2]]}
    events = None
    if name == "events":  # the clips are two seconds long; these are passed once each
        events = {"a": [(1e-9, "first"), (1e-8, "second")]}
    state = init_player(motions, count, used.get(name), events=events)
    starts = np.linspace(0.1, 1.9, count)
    play(state, "a" if name != "travel" else "travel", start=starts)
    if name == "clips4":
        for k, clip in enumerate("bcd", 1):
            who = np.arange(count)[k::4]
            play(state, clip, start=starts[who], who=who)
    elif name in ("layers2", "additive"):
        play(state, "b", start=starts, layer=1)
    elif name == "fade":
        play(state, "b", start=starts, fade=1e6)
    return state


def _stepper(state: PlayerState) -> Callable[[], None]:
    def step() -> None:
        advance(state, STEP)

    return step


def run(rounds: int = 30) -> Iterator[Result]:
    """One character and crowds of 256, beside plain sampling of a clip."""
    character = make_character(8, 4)
    turns = character.clips["turns"]
    clips = [Clip(name, turns.tracks) for name in ("a", "b", "c", "d", "travel")]
    way = {"travel": steady_motion(turns.duration, (0, 0, 1.3), 0.2)}
    motions = make_motion_set(clips, character.layout, way)
    for count, kind in ((1, "single"), (256, "crowd256")):
        calls = [_plain(character, count)]
        calls += [_stepper(_player(name, motions, count)) for name in WHAT]
        plain, *times = best_seconds(*calls, rounds=rounds)
        note = "per character, one thread, stepping 1/60 s; turns of all joints"
        yield Result(
            f"player/j65/{kind}/sample",
            plain / count * 1e6,
            "us",
            f"plain sampling of one clip, to compare with; {note}",
        )
        for (name, what), seconds in zip(WHAT.items(), times, strict=True):
            base = f"player/j65/{kind}/{name}"
            yield Result(base, seconds / count * 1e6, "us", f"{what}; {note}")
            ratio = "in parts of plain sampling in the same run"
            yield Result(f"{base}/ratio", seconds / plain, "x", f"{what}; {ratio}")
