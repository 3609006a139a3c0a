"""Crowds: what a frame of 1 to 10,000 characters costs, step by step.

All stand in the picture, at 1.6 m from each other, from 6.5 m in front of the camera on
to as far away as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.bench.synthetic import make_character
from flexor.bench.timing import Result, best_seconds, use_threads
from flexor.draw.scene.style import DrawStyle
from flexor.maths import threads
from flexor.scene.character.camera import Camera
from flexor.stage.crowd.crowd import move_crowd, skin_crowd

__all__ = ["run"]

SIZE = (1280, 720)
CAMERA = Camera(eye=(0.0, 3.0, 0.0), target=(0.0, 0.9, -14.0))
STYLES = {
    "draw720": DrawStyle(samples=1, shadow=False),
    "draw720/ground": DrawStyle(samples=1, ground=True),
    "draw720/aa": DrawStyle(samples=4, shadow=False),
}
NEAREST, APART = 6.5, 1.6
COUNTS = (1, 10, 100, 1_000, 10_000)
MOST_WHOLE = 1_000  # more characters in full would take gigabytes
STEP = 1 / 60


def fill_view(crowd: Crowd) -> None:
    """Let all play, each at its own time, and stand where the camera sees them."""
    count = len(crowd)
    rng = np.random.default_rng(7)
    slope = 0.92 * math.tan(CAMERA.fov / 2) * SIZE[0] / SIZE[1]
    farthest = math.sqrt(NEAREST**2 + count * APART**2 / slope)
    # Even over the ground: a golden spiral's angle across, the root of area along.
    share = (np.arange(count) + 0.5) / count
    away = np.sqrt(NEAREST**2 + share * (farthest**2 - NEAREST**2))
    across = (np.arange(count) * 0.6180339887498949) % 1 * 2 - 1
    crowd.place[:, 0] = across * slope * away
    crowd.place[:, 2] = -away
    crowd.heading[:] = rng.normal(0, 0.5, count)
    crowd.colour[:, :3] = rng.uniform(0.5, 1, (count, 3))
    for rows, names in zip(
        (crowd.rows(kind) for kind in range(len(crowd.characters))),
        crowd.names,
        strict=True,
    ):
        known = [names.index(n) for n in ("walk", "run", "idle") if n in names] or [0]
        crowd.clip[rows] = rng.choice(known, rows.stop - rows.start)
    crowd.time[:] = rng.random(count) * 0.7


def run(rounds: int = 12) -> Iterator[Result]:
    """Mannequins with levels and without; then one character of 4,000 vertices."""
    hero = samples.mannequin()
    yield from _full(rounds)
    for kind, levels in (("", True), ("/whole", False)):
        for count in COUNTS:
            if levels or count <= MOST_WHOLE:
                yield from _crowd(hero, count, levels, kind, rounds)


def _full(rounds: int) -> Iterator[Result]:
    crowd = Crowd(make_character(4000, 4), 256, levels=False)
    crowd.play("turns", time=np.linspace(0, 1.9, 256))
    crowd.level[:] = 0

    def frame() -> None:
        crowd.advance(STEP)
        crowd.deform()

    note = "65 joints, 4 influences, one thread, no levels; positions and normals"
    with use_threads(1):
        whole, motion, skin = best_seconds(
            frame,
            lambda: move_crowd(crowd.state),
            lambda: skin_crowd(crowd.state),
            rounds=3 * rounds,
        )
    for name, seconds, what in (
        ("crowd/256x4000/full", whole, "clock, motion, matrices and skin"),
        ("crowd/256x4000/motion", motion, "matrices alone"),
        ("crowd/256x4000/skin", skin, "vertices alone"),
    ):
        yield Result(name, seconds / 256 * 1e6, "us", f"per character; {what}; {note}")


def _crowd(
    hero: Character, count: int, levels: bool, kind: str, rounds: int
) -> Iterator[Result]:
    crowd = Crowd(hero, count, levels=levels)
    fill_view(crowd)
    crowd.draw(CAMERA, SIZE, STYLES["draw720"])
    state, counts = crowd.state, crowd.counts
    painter = crowd.painter

    def motion() -> None:
        crowd.advance(STEP)
        move_crowd(state)

    def motion_skin() -> None:
        motion()
        skin_crowd(state)

    calls: dict[str, Callable[[], object]] = {
        "motion": motion,
        "select": lambda: crowd.select(CAMERA, SIZE),
        "skin": lambda: skin_crowd(state),
        "motion_skin": motion_skin,
    }
    for name, style in STYLES.items():
        calls[name] = partial(painter.draw, CAMERA, SIZE, style)
    if count != 1000:
        calls = {name: call for name, call in calls.items() if "/" not in name}
    seen = np.bincount(crowd.level + 1, minlength=2)[1:].tolist()
    what = (
        f"{counts.shown} shown, at levels {seen}; {counts.nodes:,} nodes, "
        f"{counts.vertices:,} vertices, {counts.triangles:,} triangles"
    )
    turns = rounds if count * (1 if levels else 10) <= 1_000 else max(rounds // 4, 2)
    base = f"crowd/{count}{kind}"
    team = threads.thread_count()
    best = best_seconds(*calls.values(), rounds=turns, least=1e-3)
    for name, seconds in zip(calls, best, strict=True):
        note = f"a frame, {team} threads; {what}"
        yield Result(f"{base}/{name}", seconds * 1e3, "ms", note)
    if team > 1:
        with use_threads(1):
            best = best_seconds(*calls.values(), rounds=turns, least=1e-3)
        for name, seconds in zip(calls, best, strict=True):
            yield Result(f"{base}/{name}/threads1", seconds * 1e3, "ms", what)
    yield Result(
        f"{base}/memory",
        crowd.nbytes / 1e6,
        "MB",
        "arrays of the crowd: state, motion, matrices and vertices",
    )
