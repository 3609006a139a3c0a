"""Time to sample, walk to world space and make the palette, per 65-joint character."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from flexor.api.character import Character
from flexor.bench.synthetic import make_character
from flexor.bench.timing import Result, best_seconds
from flexor.pose.moving import init_moving, move

__all__ = ["run"]

STEP = 1 / 60


def _stepper(character: Character, clip: str, count: int) -> Callable[[], object]:
    """A call that moves `count` characters on by a sixtieth of a second."""
    tables, bind = character.clip_tables(clip), character.binds[0]
    state = init_moving(tables, character.layout, count, bind.nodes, bind.binds)
    starts = np.linspace(0, tables.duration, count, endpoint=False)
    steps = np.arange(0, tables.duration, STEP)
    moments = (starts + steps[:, None]) % tables.duration
    frames = itertools.cycle(list(moments.astype(np.float32)))
    return lambda: move(state, next(frames))


def run() -> Iterator[Result]:
    """Single characters and crowds of 256, stepping forward through a clip."""
    character = make_character(8, 4)
    note = "sample + world matrices + palette, stepping 1/60 s, one thread"
    for clip, suffix, what in (
        ("turns", "", "turns of all joints, place of the root"),
        ("all", "/all_channels", "turn, place and scale of all joints"),
    ):
        steps = [_stepper(character, clip, 1), _stepper(character, clip, 256)]
        single, crowd = best_seconds(*steps)
        yield Result(f"pose/j65/single{suffix}", single * 1e6, "us", f"{what}; {note}")
        yield Result(
            f"pose/j65/crowd256{suffix}",
            crowd / 256 * 1e6,
            "us",
            f"per character; {what}; {note}",
        )
    pose = character.pose("turns", 0.3)
    new, again = best_seconds(
        lambda: character.pose("turns", 0.3),
        lambda: character.pose("turns", 0.3, out=pose),
    )
    text = "hero.pose(clip, time): new arrays, in the file's order of nodes"
    yield Result("pose/j65/hero", new * 1e6, "us", text)
    text = "hero.pose(clip, time, out=pose): into the same arrays again"
    yield Result("pose/j65/hero/out", again * 1e6, "us", text)
