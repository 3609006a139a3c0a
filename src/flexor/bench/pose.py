"""Time to sample, walk to world space and make the palette, per 65-joint character."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from flexor.api.character import Character
from flexor.bench.synthetic import make_character
from flexor.bench.timing import Result, best_seconds
from flexor.deform.kernels import vertices as deform_kernel
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.sample import init_sample, sample

__all__ = ["run"]

STEP = 1 / 60


def _stepper(character: Character, clip: str, count: int) -> Callable[[], None]:
    """A call that moves `count` characters on by a sixtieth of a second."""
    tables, bind = character.clip_tables(clip), character.binds[0]
    state = init_sample(tables, character.layout, count)
    world = init_world(character.layout, count)
    palette = np.zeros((count, len(bind.nodes) * 12), np.float32)
    starts = np.linspace(0, tables.duration, count, endpoint=False)
    steps = np.arange(0, tables.duration, STEP)
    moments = (starts + steps[:, None]) % tables.duration
    frames = itertools.cycle(list(moments.astype(np.float32)))
    flat = world.matrices.reshape(count, -1)

    def step() -> None:
        sample(state, next(frames))
        world_from_local(world, state.local)
        deform_kernel.palette(flat, bind.nodes, bind.binds, palette)

    return step


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
