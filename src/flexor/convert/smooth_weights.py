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

from flexor.arrays import Floats
from flexor.convert import kernel_smooth as kernel
from flexor.convert.body import Pull
from flexor.convert.surface import Surface
from flexor.errors import SettingError
from flexor.maths import threads

__all__ = ["SmoothSettings", "smooth_weights"]

SLOTS = 8  # joints of a point while weights spread


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothSettings:
    """How weights are smoothed.

    width: over how many thicknesses (mean radii) a weight may go from 0 to 1; most: the
    most steps; enough: it ends before, when no weight changes by more than this.
    """

    width: float = 2.0
    most: int = 400
    enough: float = 1e-3

    def __post_init__(self) -> None:
        if not 0 < self.width < float("inf"):
            raise SettingError(f"width: {self.width!r}, expected a number above 0")
        if self.most < 0:
            raise SettingError(f"most: {self.most!r}, expected steps, 0 or more")
        if not 0 <= self.enough < 1:
            raise SettingError(f"enough: {self.enough!r}, expected 0 to 1")


DEFAULTS = SmoothSettings()


def smooth_weights(
    surface: Surface,
    pull: Pull,
    thickness: Floats,
    settings: SmoothSettings = DEFAULTS,
    *,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Pull, int]:
    """Smoother weights of the surface's P points, and the number of steps it took.

    thickness: float32 (P,), metres, 0 for points that are to stay as they are; pull: as
    it is after `merge_same`; advance: called after each step.
    """
    slopes = np.zeros(len(surface), np.float32)
    np.divide(1, settings.width * thickness, out=slopes, where=thickness > 0)
    width = max(SLOTS, pull.joints.shape[1])
    now = _widen(pull, width)
    then = Pull(np.empty_like(now.joints), np.empty_like(now.weights))
    count = int(pull.joints.max(initial=0)) + 1
    steps = 0
    while steps < settings.most:
        moved = _step(surface, slopes, now, then, count)
        now, then = then, now
        steps += 1
        advance()
        if moved <= settings.enough:
            break
    return now, steps


def _step(surface: Surface, slopes: Floats, now: Pull, then: Pull, count: int) -> float:
    """One step from `now` to `then`; gives the largest change."""
    changes: list[float] = []

    def work(part: slice) -> None:
        moved = np.zeros(1, np.float32)
        kernel.smooth_step(
            part.start,
            part.stop,
            surface.starts,
            surface.neighbours,
            surface.lengths,
            slopes,
            now.joints,
            now.weights,
            np.zeros((2, count), np.float32),
            np.full((2, count), -1, np.int32),
            then.joints,
            then.weights,
            moved,
        )
        changes.append(float(moved[0]))

    threads.run_slices(work, len(surface))
    return max(changes, default=0.0)


def _widen(pull: Pull, width: int) -> Pull:
    """The same in more columns."""
    joints = np.full((len(pull), width), -1, np.int32)
    weights = np.zeros((len(pull), width), np.float32)
    joints[:, : pull.joints.shape[1]] = pull.joints
    weights[:, : pull.joints.shape[1]] = pull.weights
    return Pull(joints, weights)
