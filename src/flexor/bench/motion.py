"""How small motion becomes, how far it is off, and what it costs to sample it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.bench.timing import Result, best_seconds
from flexor.convert.motion.reduce import MotionReport, MotionSettings, reduce_clip
from flexor.convert.motion.unit import guess_unit
from flexor.pose.clip_tables import ClipTables, pack_clip
from flexor.pose.layout import Layout
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["run"]

STEP = 1 / 60
CROWD = 256
MOMENTS = 120


def run(characters: Mapping[str, Character]) -> Iterator[Result]:
    """Characters given, or the mannequin walking and idling.

    Files without a mesh are captures, which do not say in what unit they are: there it
    is what the legs tell.
    """
    if not characters:
        hero = samples.mannequin()
        for name in ("walk", "idle"):
            yield from _measure(
                f"mannequin/{name}", hero, {name: hero.clips[name]}, 1.0
            )
        return
    for name, character in characters.items():
        unit = 1.0 if character.meshes else guess_unit(character.skeleton) or 1.0
        yield from _measure(name, character, dict(character.clips), unit)


def _measure(
    name: str,
    character: Character,
    clips: Mapping[str, Clip | PackedClip],
    unit: float,
) -> Iterator[Result]:
    rule = MotionSettings(unit=unit)
    done: list[tuple[Clip | PackedClip, Clip | PackedClip, MotionReport]] = []
    for clip in clips.values():
        if isinstance(clip, Clip) and clip.tracks:
            done.append((clip, *reduce_clip(character.layout, clip, rule)))
    if not done:
        return
    reports = [report for _, _, report in done]
    raw, now = sum(r.raw_bytes for r in reports), sum(r.bytes for r in reports)
    note = f"{len(reports)} clips, bound 0.1 mm at 3 cm, {unit:.4g} m a unit"
    yield Result(f"motion/ratio/{name}", raw / max(now, 1), "x", note)
    worst = max(report.worst or 0 for report in reports)
    p99 = max(report.p99 or 0 for report in reports)
    yield Result(f"motion/worst_mm/{name}", worst * 1e3, "mm", note)
    yield Result(f"motion/p99_mm/{name}", p99 * 1e3, "mm", f"of the worst clip; {note}")
    # Costs of the clip that had most bytes.
    first, second, _ = max(done, key=lambda one: one[2].raw_bytes)
    yield from _costs(name, character.layout, first, second)


def _costs(
    name: str, layout: Layout, first: Clip | PackedClip, second: Clip | PackedClip
) -> Iterator[Result]:
    plain, packed = pack_clip(first, layout), pack_clip(second, layout)
    for count, title in ((1, "single"), (CROWD, f"crowd{CROWD}")):
        calls = [
            _sampler(tables, layout, count, jumps)
            for tables in (plain, packed)
            for jumps in (False, True)
        ]
        step, _, packed_step, packed_seek = best_seconds(*calls)
        note = f"clip {first.name!r}, {count} at once, steps of 1/60 s"
        yield Result(
            f"motion/sample_ns/{title}/{name}", packed_step / count * 1e9, "ns", note
        )
        yield Result(
            f"motion/cost/{title}/{name}",
            packed_step / step,
            "x",
            f"of a raw one; {note}",
        )
        yield Result(
            f"motion/seek/{title}/{name}",
            packed_seek / packed_step,
            "x",
            f"anywhere, of a step forward; {note}",
        )


def _sampler(
    tables: ClipTables, layout: Layout, count: int, jumps: bool
) -> Callable[[], None]:
    """A call that samples `count` characters, a step on or anywhere."""
    state = init_sample(tables, layout, count)
    length = max(tables.duration, STEP)
    if jumps:
        moments = np.random.default_rng(1).uniform(0, length, (MOMENTS, count))
    else:
        starts = np.linspace(0, length, count, endpoint=False)
        moments = (starts + STEP * np.arange(MOMENTS)[:, None]) % length
    frames = itertools.cycle(list(moments.astype(np.float32)))

    def call() -> None:
        sample(state, next(frames))

    return call
