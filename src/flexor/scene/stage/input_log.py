"""Logs of what pads held, and of what the camera was told, tick by tick."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.checks import check_kind
from flexor.scene.stage.camera_rule import CameraChange
from flexor.scene.stage.sticks import ALL_STICK, are_pad_masks, check_pad_mask

__all__ = ["InputLog"]


@dataclass(frozen=True, slots=True, eq=False)
class InputLog:
    """Which buttons were held, told by changes.

    ticks: int32 (R,), rising, when each change came; who: int32 (R,), whose buttons,
    rising within a tick; states: uint32 (R,), masks of what is held from then on (see
    `sticks`);
    length: ticks that were recorded, -1: up to the last change; cameras: what
    `Stage.set_camera` has changed, in order. Before the first change nothing is held.
    """

    ticks: Ints
    who: Ints
    states: NDArray[np.uint32]
    length: int = -1
    cameras: tuple[CameraChange, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "ticks", freeze(self.ticks, np.int32, (None,), "ticks"))
        count = len(self.ticks)
        put(self, "who", freeze(self.who, np.int32, (count,), "who"))
        put(self, "states", freeze(self.states, np.uint32, (count,), "states"))
        for name in ("ticks", "who"):
            values = getattr(self, name)
            if count and int(values.min()) < 0:
                raise ShapeError(f"{name}: {int(values.min())}, expected 0 or more")
        is_good = are_pad_masks(self.states)
        if not is_good.all():
            check_pad_mask(int(self.states[is_good.argmin()]), "states")
        step = np.diff(self.ticks.astype(np.int64))
        is_wrong = (step < 0) | ((step == 0) & (np.diff(self.who) <= 0))
        if is_wrong.any():
            row = int(np.argmax(is_wrong)) + 1
            raise ShapeError(
                f"ticks: change {row} is at tick {self.ticks[row]} of character "
                f"{self.who[row]}, expected later ticks, or a higher character"
            )
        least = int(self.ticks[-1]) + 1 if count else 0
        put(self, "cameras", tuple(self.cameras))
        for row, change in enumerate(self.cameras):
            check_kind(change, CameraChange, f"cameras[{row}]")
            if row and change.tick < self.cameras[row - 1].tick:
                raise SettingError(
                    f"cameras[{row}]: of tick {change.tick}, expected them to rise"
                )
            least = max(least, change.tick)
        length = self.length
        is_whole = isinstance(length, Integral) and not isinstance(length, bool)
        if not is_whole or not (length == -1 or least <= length < 2**31):
            raise SettingError(
                f"length: {length!r}, expected whole ticks, {least} or more"
            )
        put(self, "length", least if length == -1 else int(length))

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def has_sticks(self) -> bool:
        """Whether a stick was tilted in it."""
        return bool((self.states & np.uint32(ALL_STICK)).any())

    @property
    def count(self) -> int:
        """The least number of characters that it can be of."""
        held = int(self.who.max()) + 1 if len(self.who) else 0
        return max(held, *(own.row + 1 for own in self.cameras), 0)
