"""Motion in fewer bytes, within a bound of what is seen."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.convert.motion.drop_keys import drop_keys
from flexor.convert.motion.error import MotionError, measure_motion, motion_errors
from flexor.convert.motion.fit import fit_motion, property_bytes, refit_motion
from flexor.convert.motion.plan import (
    Grid,
    MotionPlan,
    find_grid,
    plan_motion,
    trim_tracks,
)
from flexor.errors import SettingError
from flexor.maths.threads import thread_count
from flexor.pose.clip_tables import ClipTables, pack_clip
from flexor.pose.layout import Layout, make_layout
from flexor.scene.character.clip import Clip, Track
from flexor.scene.runtime.packed_clip import PackedClip, track_bytes
from flexor.scene.scene import Scene

__all__ = ["MotionReport", "MotionSettings", "reduce_clip", "reduce_motion"]

REFITS = 8  # how often frames beside a moment that is off are fitted again
INNER = 0.995  # share of the bound that is aimed at: the sampler rounds
WORTH = 0.02  # share of the bytes for which a clip is fitted once more
KEY_HEAD = 8  # bytes of a track beside its keys: node, path, where they are


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionSettings:
    """How motion is reduced.

    error: metres that a point may be off, the bound; 0 keeps every key as it is.
    shell: metres from a joint of the points that are looked at. unit: metres in one
    unit of the file; glTF is in metres, motion captures often are not.
    """

    error: float = 1e-4
    shell: float = 0.03
    unit: float = 1.0

    def __post_init__(self) -> None:
        for name in ("error", "shell", "unit"):
            value = getattr(self, name)
            least = "from 0 on" if name == "error" else "above 0"
            is_low = value < 0 or (name != "error" and value == 0)
            if not np.isfinite(value) or is_low:
                raise SettingError(f"{name}: {value}, expected metres {least}")


@dataclass(frozen=True, slots=True)
class MotionReport:
    """What became of one clip.

    raw_bytes, bytes: of the keys it had, and of all that is needed to sample it now;
    p99, worst: metres that points around the joints are off, what 99 of 100 of them at
    all moments looked at stay below, and the largest; node, moment: where and when that
    is; None for a clip that was packed before; moments: how many were looked at;
    tracks, packed, keyed: how many it had, how many of them are packed, how many have
    kept keys.
    """

    name: str
    raw_bytes: int
    bytes: int
    p99: float | None
    worst: float | None
    node: str
    moment: float
    moments: int
    tracks: int
    packed: int
    keyed: int

    @property
    def ratio(self) -> float:
        """How many times smaller it is."""
        return self.raw_bytes / self.bytes if self.bytes else 1.0


def reduce_motion(
    scene: Scene,
    settings: MotionSettings | None = None,
    *,
    each: Callable[[], None] = lambda: None,
) -> tuple[Scene, list[MotionReport]]:
    """The scene with its clips packed; `each` is called after each of them.

    Clips are shared out among threads; the result does not depend on how many.
    """
    layout = make_layout(scene)
    clips: dict[str, Clip | PackedClip] = {}
    reports = []
    one = partial(reduce_clip, layout, settings=settings)
    with ThreadPoolExecutor(thread_count()) as pool:
        done = pool.map(one, scene.clips.values())
        for key, (form, report) in zip(scene.clips, done, strict=True):
            clips[key] = form
            reports.append(report)
            each()
    return replace(scene, clips=clips), reports


def reduce_clip(
    layout: Layout,
    clip: Clip | PackedClip,
    settings: MotionSettings | None = None,
) -> tuple[Clip | PackedClip, MotionReport]:
    """One clip of a scene that is laid out, in the smallest form found in the bound.

    Every form is sampled as it is at run time, at all keys and frames of the original
    and in the middle between them, and is taken only if it is within the bound. (Not in
    the middle of a cut, where a rotation jumps by more than 40 degrees from one frame
    to the next.) A clip that cannot be made smaller is given back as it is, as is one
    that is packed.
    """
    rule = settings or MotionSettings()
    if isinstance(clip, PackedClip) or not rule.error or not clip.tracks:
        return clip, _report(layout, clip, clip, MotionError(0, 0, 0, 0, 0), 0, rule)
    bound, shell = rule.error / rule.unit, rule.shell / rule.unit
    tables = pack_clip(clip, layout)
    tracks = trim_tracks(clip, layout)
    grid = find_grid(tracks)
    moments = _moments(clip, grid)
    forms: list[Clip | PackedClip] = [clip]
    if grid is not None:
        plan = plan_motion(tracks, grid, tables, bound, shell)
        moments = _without_cuts(clip, plan, moments)
        forms += _packed_forms(clip, plan, tables, moments, (bound, shell))
    forms += _keyed_forms(clip, tracks, tables, (bound, shell))
    # The smallest first; the original is always right.
    for form in sorted(forms, key=_size):
        if form is clip:
            break
        error = measure_motion(tables, pack_clip(form, layout), moments, shell)
        if error.worst <= bound and error.weights == 0:
            return form, _report(layout, clip, form, error, len(moments), rule)
    none = MotionError(0, 0, 0, 0, 0)
    return clip, _report(layout, clip, clip, none, len(moments), rule)


def _size(clip: Clip | PackedClip) -> int:
    if isinstance(clip, PackedClip):
        return clip.nbytes
    return track_bytes(clip.tracks)


def _report(
    layout: Layout,
    clip: Clip | PackedClip,
    form: Clip | PackedClip,
    error: MotionError,
    moments: int,
    rule: MotionSettings,
) -> MotionReport:
    names = layout.skeleton.names
    packed = keyed = 0
    if isinstance(form, PackedClip):
        packed = len(form.rotation_nodes) + len(form.vector_nodes)
        keyed = len(form.keyed)
    else:
        keyed = len(form.tracks)
    tracks = clip.tracks
    is_old = isinstance(clip, PackedClip)
    return MotionReport(
        clip.name,
        track_bytes(tracks),
        _size(form),
        None if is_old else error.p99 * rule.unit,
        None if is_old else error.worst * rule.unit,
        names[error.node] if names else "",
        error.moment,
        moments,
        len(tracks),
        packed,
        keyed,
    )


def _moments(clip: Clip, grid: Grid | None) -> Floats:
    """Keys and frames, the middle between them, and just before those that step."""
    lines = [track.times for track in clip.tracks]
    times = np.unique(np.concatenate(lines if grid is None else [*lines, grid.times]))
    steps = [t.times for t in clip.tracks if t.interpolation == "STEP"]
    before = [np.nextafter(line, np.float32(-np.inf)) for line in steps]
    middles = (times[1:] + times[:-1]) / np.float32(2)
    return np.unique(np.concatenate([times, middles, *before])).astype(np.float32)


def _without_cuts(clip: Clip, plan: MotionPlan, moments: Floats) -> Floats:
    """The moments without those inside a cut that are neither keys nor frames."""
    cuts, frames = plan.cuts, plan.grid.times
    if not cuts.any():
        return moments
    span = np.clip(np.searchsorted(frames, moments, "right") - 1, 0, len(cuts) - 1)
    keys = np.concatenate([frames, *(track.times for track in clip.tracks)])
    return moments[~cuts[span] | np.isin(moments, keys)]


def _keyed_forms(
    clip: Clip, tracks: list[Track], tables: ClipTables, limits: tuple[float, float]
) -> list[PackedClip]:
    """Nothing packed: all tracks, and all tracks with keys dropped."""
    fewer = drop_keys(tracks, tables, *limits)
    return [_keyed(clip, tracks), _keyed(clip, fewer)]


def _keyed(clip: Clip, tracks: list[Track]) -> PackedClip:
    none = np.zeros(0)
    return PackedClip(
        name=clip.name,
        start=0.0,
        rate=1.0,
        frames=1,
        duration=clip.duration,
        segment=1,
        rotation_nodes=none.astype(np.uint16),
        turns=np.zeros((0, 8), np.int16),
        vector_nodes=none.astype(np.uint16),
        vector_paths=none.astype(np.uint8),
        bases=np.zeros((0, 3), np.float32),
        slots=none.astype(np.uint16),
        steps=none.astype(np.float32),
        widths=np.zeros((1, 3, 0), np.uint8),
        words=np.zeros(3, np.uint32),
        keyed=tuple(tracks),
        carried=clip.carried,
    )


def _packed_forms(
    clip: Clip,
    plan: MotionPlan,
    tables: ClipTables,
    moments: Floats,
    limits: tuple[float, float],
) -> list[PackedClip]:
    """What can be packed packed; and once more without tracks that are then larger."""
    forms = []
    for _ in range(2):
        if not plan.rotations and not plan.vectors:
            break
        made = _fit(clip, plan, tables, moments, limits)
        if made is None:
            break
        forms.append(replace(made, carried=clip.carried))
        larger = _larger_tracks(plan, made)
        if not larger:
            break
        plan = plan.without(larger)
    return forms


def _larger_tracks(plan: MotionPlan, made: PackedClip) -> set[int]:
    """Properties that take more bytes packed than with their keys."""
    sizes = property_bytes(made)
    every = (*plan.rotations, *plan.vectors)
    keys = [t.values.nbytes + t.times.nbytes + KEY_HEAD for t in every]
    saved = sizes - np.array(keys)
    rows = np.flatnonzero(saved > 0)
    # Finding the others again takes time: only for what is worth it.
    return set(rows.tolist()) if saved[rows].sum() > WORTH * made.nbytes else set()


def _fit(
    clip: Clip,
    plan: MotionPlan,
    tables: ClipTables,
    moments: Floats,
    limits: tuple[float, float],
) -> PackedClip | None:
    """A packed form that is within the bound at all moments, if one is found.

    Where two frames are apart, small errors of both can be seen more in between: those
    two are fitted more strictly.
    """
    bound, shell = limits
    aim = bound * INNER
    fit = fit_motion(plan, aim, shell, clip.name, clip.duration)
    strict = np.full(plan.grid.frames, aim)
    place = (moments.astype(np.float64) - plan.grid.start) * plan.grid.rate
    before = np.clip(np.floor(place + 1e-3), 0, len(strict) - 1).astype(int)
    after = np.clip(np.ceil(place - 1e-3), 0, len(strict) - 1).astype(int)
    for _ in range(REFITS):
        if fit is None:
            return None
        packed = pack_clip(fit.clip, plan.layout)
        off = motion_errors(tables, packed, moments, shell).max(1, initial=0.0)
        bad = off > bound
        if not bad.any():
            return fit.clip
        less: Doubles = np.maximum(0.3, 0.97 * bound / off[bad])
        for frames in (before[bad], after[bad]):
            np.minimum.at(strict, frames, strict[frames] * less)
        fit = refit_motion(plan, fit, aim, strict)
    return None
