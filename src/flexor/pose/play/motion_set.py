"""All clips of a character in one set of tables, so that one call can sample any.

A kernel that plays a crowd meets another clip with each character. Here the tables of
all clips lie behind one another, and a row per clip says which part is whose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError, ShapeError
from flexor.pose.clip_tables import ClipTables, pack_clip
from flexor.pose.clips.root_motion import RootMotion
from flexor.pose.kernels import packed as kernel_packed
from flexor.pose.layout import Layout
from flexor.pose.play.kernels import voice as kernel_voice
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip

__all__ = ["MotionSet", "make_motion_set"]

CLOSE = 1e-4  # seconds that a way may end before or after its clip


@dataclass(frozen=True, slots=True, eq=False)
class MotionSet:
    """The clips of a character as the playing kernels want them.

    names: C texts; layout: the lanes they are laid out for; clips: int32 (C, 11), the
    kind of each and its parts of the tables (columns in `kernels.voice`); durations:
    float64 (C,), seconds; times, timelines, rotations, vectors, morphs, values: as in
    ClipTables, numbers of timelines counted within a clip, offsets over all; paths:
    float64 (P, 5), root motion: seconds, x, y, z in metres, heading in radians;
    line_count: the most timelines that a clip has, at least 1; starts, start_weights:
    float32 (C + 1, 10 * L) and (C + 1, W), each clip's first frame, and the rest pose;
    packed: what of clips is packed, see `kernels.voice.sample_bits`; pack_width:
    numbers that a voice holds of them, 0 where no clip is packed.
    """

    names: tuple[str, ...]
    layout: Layout
    clips: Ints
    durations: NDArray[np.float64]
    times: Floats
    timelines: Ints
    rotations: Ints
    vectors: Ints
    morphs: Ints
    values: Floats
    paths: NDArray[np.float64]
    line_count: int
    starts: Floats
    start_weights: Floats
    packed: tuple[NDArray[Any], ...]
    pack_width: int

    def index(self, name: str) -> int:
        """The number of a clip."""
        if not isinstance(name, str) or name not in self.names:
            there = ", ".join(repr(clip) for clip in self.names) or "none"
            raise SettingError(f"no clip {name!r}; there are: {there}")
        return self.names.index(name)


def make_motion_set(
    clips: Iterable[Clip | PackedClip],
    layout: Layout,
    root_motion: Mapping[str, RootMotion] | None = None,
) -> MotionSet:
    """Lay clips out for a skeleton's lanes, one behind the other.

    root_motion: by clip, how it carries the character on (see pose.clips.root_motion).
    """
    given = list(clips)
    for clip in given:
        if not isinstance(clip, Clip | PackedClip):
            raise SettingError(f"clips: {type(clip).__name__}, expected clips")
    names = tuple(clip.name for clip in given)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingError(f"clips: two are called {twice!r}")
    travels = dict(root_motion or {})
    for name in travels:
        if name not in names:
            there = ", ".join(map(repr, names)) or "none"
            raise SettingError(f"root_motion: no clip {name!r}; there are: {there}")
        if not isinstance(travels[name], RootMotion):
            raise SettingError(
                f"root_motion[{name!r}]: {type(travels[name]).__name__}, expected "
                "RootMotion"
            )
        end, duration = travels[name].times[-1], given[names.index(name)].duration
        if abs(end - duration) > CLOSE:
            raise SettingError(
                f"root_motion[{name!r}]: {end:.6g} s long, expected the clip's "
                f"{duration:.6g} s"
            )
    tables = [pack_clip(clip, layout) for clip in given]
    paths = [_path(travels.get(name)) for name in names]
    rows = np.zeros((len(given), kernel_voice.COLUMNS), np.int32)
    is_packed = [table.packed is not None for table in tables]
    kinds = np.where(is_packed, kernel_voice.PACKED, kernel_voice.PLAIN)
    rows[:, kernel_voice.KIND] = kinds
    for column, parts in (
        (kernel_voice.LINE, [table.timelines for table in tables]),
        (kernel_voice.ROTATION, [table.rotations for table in tables]),
        (kernel_voice.VECTOR, [table.vectors for table in tables]),
        (kernel_voice.MORPH, [table.morphs for table in tables]),
        (kernel_voice.PATH, paths),
    ):
        counts = np.array([len(part) for part in parts], np.int64)
        rows[:, column] = np.cumsum(counts) - counts
        rows[:, column + 1] = counts
    lines = rows[:, kernel_voice.LINE + 1]
    return MotionSet(
        names,
        layout,
        rows,
        np.array([clip.duration for clip in given], np.float64),
        _joined([table.times for table in tables], np.float32, ()),
        _shifted(tables, "timelines", "times", 0, 2),
        _shifted(tables, "rotations", "values", 4, 5),
        _shifted(tables, "vectors", "values", 4, 5),
        _shifted(tables, "morphs", "values", 4, 5),
        _joined([table.values for table in tables], np.float32, ()),
        _joined(paths, np.float64, (kernel_voice.PATH_WIDTH,)),
        max(1, int(lines.max(initial=0))),
        *_starts(tables, layout),
        *_packed(tables),
    )


def _starts(tables: list[ClipTables], layout: Layout) -> tuple[Floats, Floats]:
    """First frames of all clips, and the rest pose."""
    poses = np.tile(layout.rest, (len(tables) + 1, 1))
    weights = np.tile(layout.rest_weights, (len(poses), 1))
    start = np.zeros(1, np.float32)
    for number, table in enumerate(tables):
        first = sample(init_sample(table, layout, 1), start)
        poses[number], weights[number] = first.local[0], first.weights[0]
    return poses, weights


def _packed(tables: list[ClipTables]) -> tuple[tuple[NDArray[Any], ...], int]:
    """Packed clips behind one another, and the most numbers that a voice holds."""
    packs = np.zeros((len(tables), kernel_voice.PACK_COLUMNS), np.int64)
    kinds = (np.int32, np.int64, np.uint8, np.float32)
    parts: list[list[NDArray[Any]]] = [[np.zeros(0, kind)] for kind in kinds]
    ends, width = [0] * len(parts), 0
    timing = np.zeros(2 * len(tables))
    for number, table in enumerate(tables):
        if table.packed is None:
            continue
        packed = table.packed
        timing[2 * number : 2 * number + 2] = packed.timing
        width = max(width, 1 + kernel_packed.ROWS * packed.width)
        for column, to, array in (
            (kernel_voice.WHOLE, 0, packed.whole),
            (kernel_voice.PARTS, 1, packed.parts),
            (kernel_voice.CODES, 2, packed.codes),
            (kernel_voice.WORDS, 2, packed.words),
            (kernel_voice.FLOATS, 3, packed.floats),
        ):
            packs[number, column : column + 2] = ends[to], len(array)
            parts[to].append(array)
            ends[to] += len(array)
    return (packs, timing, *(np.concatenate(part) for part in parts)), width


def _path(motion: RootMotion | None) -> NDArray[np.float64]:
    """Root motion as rows of seconds, place and heading; no rows without any."""
    if motion is None:
        return np.zeros((0, kernel_voice.PATH_WIDTH))
    heading = motion.headings[:, None]
    return np.concatenate([motion.times[:, None], motion.places, heading], 1)


def _joined(parts: Sequence[Any], dtype: Any, width: tuple[int, ...]) -> NDArray[Any]:
    return np.concatenate([np.zeros((0, *width), dtype), *parts])


def _shifted(
    tables: list[ClipTables], name: str, into: str, column: int, width: int
) -> Ints:
    """Tables behind one another, their offsets moved on to where their clip begins."""
    parts, first = [np.zeros((0, width), np.int64)], 0
    for table in tables:
        part = getattr(table, name).astype(np.int64)
        part[:, column] += first
        parts.append(part)
        first += len(getattr(table, into))
    whole = np.concatenate(parts)
    if first > np.iinfo(np.int32).max:
        raise ShapeError(f"clips: {first} numbers in all, more than 2**31 - 1")
    return whole.astype(np.int32)
