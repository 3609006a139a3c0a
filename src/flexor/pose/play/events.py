"""Events at times of clips: which ones a crowd passed in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import SettingError
from flexor.pose.play.motion_set import MotionSet

__all__ = ["Event", "EventTable", "make_events"]

# A time that is this much after the end, in parts of the duration, is the end:
# durations are float32.
CLOSE = 1e-6


class Event(NamedTuple):
    """An event that a character passed.

    character: its number; clip, name: texts; time: seconds in the clip; layer: the name
    of the layer that played it; weight: of the clip in that layer, 0 to 1.
    """

    character: int
    clip: str
    name: str
    time: float
    layer: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class EventTable:
    """Events of all clips as the kernel wants them.

    ranges: int32 (C, 6), first row and number of rows for once, loop and ping-pong;
    spots, times: float64 (E,), position (see `kernels.voice`) and time in the clip;
    names: E texts. A ping-pong voice passes most events on two positions.
    """

    ranges: Ints
    spots: NDArray[np.float64]
    times: NDArray[np.float64]
    names: tuple[str, ...]


def make_events(
    motions: MotionSet, events: Mapping[str, Iterable[tuple[float, str]]]
) -> EventTable:
    """Lay out events, given by clip as pairs of seconds and name."""
    ranges = np.zeros((len(motions.names), 6), np.int32)
    rows: list[tuple[float, float, str]] = []
    if not isinstance(events, Mapping):
        raise SettingError(f"events: {events!r}, expected events by clip")
    for clip, given in events.items():
        number = motions.index(clip)
        if not isinstance(given, Iterable):
            raise SettingError(f"events[{clip!r}]: {given!r}, expected a list")
        duration = float(motions.durations[number])
        marks = [_checked(clip, duration, one) for one in given]
        once = sorted((time, time, name) for time, name in marks)
        # The end of a loop is its start; of both, the end is met first.
        loop = sorted(
            (time if time < duration else 0.0, -time, name) for time, name in marks
        )
        there = [(time, time, name) for time, name in marks]
        back = [
            (2 * duration - time, time, name)
            for time, name in marks
            if 0 < time < duration
        ]
        turned = [(spot, -time, name) for spot, time, name in loop]
        for mode, part in enumerate((once, turned, sorted(there + back))):
            ranges[number, 2 * mode : 2 * mode + 2] = len(rows), len(part)
            rows += part
    return EventTable(
        ranges,
        np.array([spot for spot, _, _ in rows], np.float64),
        np.array([time for _, time, _ in rows], np.float64),
        tuple(name for _, _, name in rows),
    )


def _checked(clip: str, duration: float, given: Any) -> tuple[float, str]:
    """Seconds and name of an event; refuses what is none."""
    try:
        time, name = given
        seconds = float(time)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(
            f"events[{clip!r}]: {given!r}, expected pairs of seconds and name"
        ) from None
    if not 0 <= seconds <= duration * (1 + CLOSE):  # also where it is NaN
        raise SettingError(
            f"events[{clip!r}]: {name!r} at {seconds} s; the clip is from 0 to "
            f"{duration:.6g} s"
        )
    return min(seconds, duration), str(name)
