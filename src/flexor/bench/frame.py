"""A whole frame of a character with links, and the five steps it is made of."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from flexor.api.character import Character
from flexor.bench.linked import make_linked
from flexor.bench.timing import Result, best_seconds
from flexor.deform.kernels import vertices as kernel
from flexor.deform.vertices import init_skin, skin_blocks
from flexor.pose.links import follow_links
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.sample import init_sample, sample

__all__ = ["run"]

STEP = 1 / 60
CROWD = 256
ROUNDS = 150
WHAT = {
    "motion": "sample a clip with tracks for joints and links",
    "links": "links after their joints",
    "matrices": "world matrices and palette",
    "vertices": "positions and normals blended",
    "normals": "scaling normals to unit length: what it adds to the step before; "
    "0 where that is less than can be told on a busy machine",
    "total": "all of it in one loop, not the sum of the steps",
}
# The figures that such a frame had on a processor of its time.
ONCE = (
    "on a 500 MHz Pentium III the five steps took 70, 110, 90, 2040 and 920 us, "
    "in all 3200 us"
)

Call = Callable[[], object]


@dataclass(slots=True)
class _Steps:
    """Calls that do one step each of a frame of N characters, and all of them.

    palette: also a part of `blended` and `unit`.
    """

    motion: Call
    links: Call
    world: Call
    palette: Call
    blended: Call
    unit: Call
    total: Call


def _steps(character: Character, count: int) -> _Steps:
    tables, (bind,) = character.clip_tables("move"), character.binds
    layout = character.layout
    state = init_sample(tables, layout, count)
    world, skin = init_world(layout, count), init_skin(bind, count)
    weights = np.zeros((count, 0), np.float32)
    out = np.zeros((count, len(bind.order) // 8, 6, 8), np.float32)
    starts = np.linspace(0, tables.duration, count, endpoint=False)
    steps = np.arange(0, tables.duration, STEP)
    moments = (starts + steps[:, None]) % tables.duration
    frames = itertools.cycle(list(moments.astype(np.float32)))
    matrices, flat = world.matrices, world.flat

    def total() -> None:
        sample(state, next(frames))
        follow_links(layout, state.local)
        world_from_local(world, state.local)
        skin_blocks(skin, matrices, weights, out=out)

    total()  # so that every step finds what it works on
    return _Steps(
        lambda: sample(state, next(frames)),
        lambda: follow_links(layout, state.local),
        lambda: world_from_local(world, state.local),
        lambda: kernel.palette(flat, bind.nodes, bind.binds, skin.palette),
        lambda: skin_blocks(skin, matrices, weights, out=out, unit_normals=False),
        lambda: skin_blocks(skin, matrices, weights, out=out),
        total,
    )


def run() -> Iterator[Result]:
    """Characters in a crowd, and one alone; one thread."""
    character = make_linked()
    (bind,) = character.binds
    links = len(character.skeleton.links)
    size = (
        f"{bind.vertex_count} vertices in {len(bind.runs)} runs, "
        f"{len(character.skeleton) - links} joints and {links} links, one thread"
    )
    many = f"a character in a crowd of {CROWD}"
    one = "one character alone: calls from Python are most of the first three steps"
    for count, name, what in ((CROWD, "", many), (1, "alone/", one)):
        made = _steps(character, count)
        calls = (made.motion, made.links, made.world, made.palette)
        skins = (made.blended, made.unit, made.total)
        # Many rounds: one figure is the small difference of two large ones.
        seconds = best_seconds(*calls, *skins, rounds=ROUNDS)
        motion, followed, world, palette, blended, unit, total = seconds
        values = {
            "motion": motion,
            "links": followed,
            "matrices": world + palette,
            "vertices": blended - palette,
            "normals": max(unit - blended, 0.0),
            "total": total,
        }
        for step, value in values.items():
            note = f"{WHAT[step]}; {what}; {size}; {ONCE}"
            yield Result(f"frame/{name}{step}", value / count * 1e6, "us", note)
