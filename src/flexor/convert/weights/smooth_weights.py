"""Smoothing: weights that change no faster along the surface than its thickness bears.

Between neighbours a weight may change by at most slope * distance. The slope is 1 over
a multiple of the local thickness, so that fingers and torso both come out right: a
joint as wide as the limb is thick. Where the change is larger, the heavier point gives
to the lighter; after each step the weights of a point sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Pull
from flexor.convert.shape.surface import Surface
from flexor.convert.shape.thickness import point_thickness
from flexor.convert.weights.kernels import smooth as kernel
from flexor.errors import SettingError
from flexor.maths import threads

__all__ = ["SmoothSettings", "smooth_pass", "smooth_weights"]

SLOTS = 8  # joints of a point while weights spread
LEAST_POINTS = 200  # a surface of fewer points is not made coarser
COARSE = 0.2  # of a weight's way from 0 to 1: edges of a surface that is coarse


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothSettings:
    """How weights are smoothed.

    width: over how many thicknesses (mean radii) a weight may go from 0 to 1; most: the
    most steps, on each of the surfaces from coarse to fine; enough: these end before,
    when no weight differs from a neighbour's by more than it may and this part of that.
    """

    width: float = 2.0
    most: int = 100
    enough: float = 0.25

    def __post_init__(self) -> None:
        if not 0 < self.width < float("inf"):
            raise SettingError(f"width: {self.width!r}, expected a number above 0")
        if self.most < 0:
            raise SettingError(f"most: {self.most!r}, expected steps, 0 or more")
        if not self.enough >= 0:
            raise SettingError(f"enough: {self.enough!r}, expected 0 or more")


DEFAULTS = SmoothSettings()


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """A surface, fine or coarse.

    starts, neighbours, lengths: as of a Surface; slopes: float32 (P,), the most change
    of a weight a metre, 0 for points that stay; positions: float32 (P, 3); clusters:
    int32 (P,), the point of the next coarser level that each belongs to.
    """

    starts: Ints
    neighbours: Ints
    lengths: Floats
    slopes: Floats
    positions: Floats
    clusters: Ints

    def __len__(self) -> int:
        return len(self.slopes)


def smooth_pass(
    task: BodyTask,
    *,
    smooth: int,
    smooth_width: float,
    smooth_enough: float,
) -> Mended:
    """Smoother weights, but not where the body is rigid or hangs on other joints.

    smooth: the most steps; the others: see SmoothSettings.
    """
    task.note(f"smoothing {len(task.body):,} vertices")
    settings = SmoothSettings(width=smooth_width, most=smooth, enough=smooth_enough)
    shape = task.facts.shape
    surface, pull = shape.surface, shape.pull
    thickness = point_thickness(surface.positions, pull, shape.bones, shape.sections)
    if task.joints is not None:
        thickness[~np.isin(pull.joints, task.joints).any(1)] = 0
    thickness[surface.point_of_vertex[task.body.rigid]] = 0
    softer = smooth_weights(surface, pull, thickness.astype(np.float32), settings)
    return Mended(softer.take(surface.point_of_vertex))


def smooth_weights(
    surface: Surface,
    pull: Pull,
    thickness: Floats,
    settings: SmoothSettings = DEFAULTS,
    *,
    advance: Callable[[], None] = lambda: None,
) -> Pull:
    """Smoother weights of the surface's P points.

    thickness: float32 (P,), metres, 0 for points that are to stay as they are; pull:
    used columns first; advance: called after each step.

    Weights spread by one neighbour a step, so on a fine surface that would take
    thousands: coarser surfaces, whose points are clusters of points, are smoothed
    first, and each point is changed as its cluster was.
    """
    slopes = np.zeros(len(surface), np.float32)
    np.divide(1, settings.width * thickness, out=slopes, where=thickness > 0)
    fine = _Level(
        surface.starts,
        surface.neighbours,
        surface.lengths,
        slopes,
        surface.positions,
        _clusters(surface.starts, surface.neighbours),
    )
    levels = [fine]
    while _is_fine(levels[-1]) and settings.most:
        levels.append(_coarser(levels[-1]))
    count = int(pull.joints.max(initial=0)) + 1
    now = pull.widened(max(SLOTS, pull.joints.shape[1]))
    return _descend(levels, now, count, settings, advance)


def _is_fine(level: _Level) -> bool:
    """Whether weights go from 0 to 1 over so many points that a coarser level helps."""
    if len(level) < LEAST_POINTS or not len(level.lengths):
        return False
    first = np.repeat(np.arange(len(level)), np.diff(level.starts))
    steps = level.lengths * level.slopes[first]
    return bool(np.median(steps[steps > 0]) < COARSE) if steps.any() else False


def _clusters(starts: Ints, neighbours: Ints) -> Ints:
    clusters = np.empty(len(starts) - 1, np.int32)
    kernel.gather_clusters(starts, neighbours, clusters)
    return clusters


def _coarser(level: _Level) -> _Level:
    """The level of a level's clusters."""
    clusters, middles = level.clusters, level.positions
    count = int(clusters.max()) + 1
    sizes = np.bincount(clusters, minlength=count)
    where = np.stack(
        [np.bincount(clusters, middles[:, axis], count) / sizes for axis in range(3)], 1
    )
    changing = np.bincount(clusters, level.slopes > 0, count)
    slopes = np.bincount(clusters, level.slopes, count) / np.maximum(changing, 1)
    first = np.repeat(clusters, np.diff(level.starts)).astype(np.int64)
    keys = np.sort(first * count + clusters[level.neighbours])
    keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
    keys = keys[keys // count != keys % count]
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(keys // count, minlength=count), out=starts[1:])
    neighbours = (keys % count).astype(np.int32)
    lengths = np.linalg.norm(where[keys // count] - where[neighbours], axis=1)
    return _Level(
        starts,
        neighbours,
        lengths.astype(np.float32),
        slopes.astype(np.float32),
        where.astype(np.float32),
        _clusters(starts, neighbours),
    )


def _descend(
    levels: list[_Level],
    now: Pull,
    count: int,
    settings: SmoothSettings,
    advance: Callable[[], None],
) -> Pull:
    """Smooth on the coarser levels, if there are any, and then on the first."""
    level = levels[0]
    if len(levels) > 1:
        before = _mean(level, now, len(levels[1]), count)
        after = _descend(levels[1:], before, count, settings, advance)
        _change(level, levels[1].positions, before, after, now, count)
    then = Pull(np.empty_like(now.joints), np.empty_like(now.weights))
    for _ in range(settings.most):
        over = _step(level, now, then, count)
        now, then = then, now
        advance()
        if over <= settings.enough:
            break
    return now


def _mean(level: _Level, pull: Pull, clusters: int, count: int) -> Pull:
    """The mean weights of the clusters of a level."""
    members = np.argsort(level.clusters, kind="stable").astype(np.int32)
    starts = np.zeros(clusters + 1, np.int32)
    np.cumsum(np.bincount(level.clusters, minlength=clusters), out=starts[1:])
    width = pull.joints.shape[1]
    mean = Pull(
        np.empty((clusters, width), np.int32), np.empty((clusters, width), np.float32)
    )
    kernel.mean_weights(
        starts,
        members,
        pull.joints,
        pull.weights,
        np.zeros(count, np.float32),
        np.full((2, count), -1, np.int32),
        mean.joints,
        mean.weights,
    )
    return mean


def _change(
    level: _Level,
    middles: Floats,
    before: Pull,
    after: Pull,
    pull: Pull,
    count: int,
) -> None:
    """Change the points of a level as their clusters were changed, in place."""
    away = level.positions - middles[level.clusters]
    reaches = np.linalg.norm(away, axis=1).astype(np.float32)

    def work(part: slice) -> None:
        kernel.add_change(
            part.start,
            part.stop,
            level.clusters,
            level.slopes,
            reaches,
            before.joints,
            before.weights,
            after.joints,
            after.weights,
            np.zeros(count, np.float32),
            np.full((2, count), -1, np.int32),
            pull.joints,
            pull.weights,
        )

    threads.run_slices(work, len(level))


def _step(level: _Level, now: Pull, then: Pull, count: int) -> float:
    """One step from `now` to `then`; gives how much is too much."""
    worst: list[float] = []

    def work(part: slice) -> None:
        over = np.zeros(1, np.float32)
        kernel.smooth_step(
            part.start,
            part.stop,
            level.starts,
            level.neighbours,
            level.lengths,
            level.slopes,
            now.joints,
            now.weights,
            np.zeros((2, count), np.float32),
            np.full((2, count), -1, np.int32),
            then.joints,
            then.weights,
            over,
        )
        worst.append(float(over[0]))

    threads.run_slices(work, len(level))
    return max(worst, default=0.0)
