"""Buttons as data: recorded in changes, played back, and what was pressed just now.

    recorder = init_recorder(2)
    record(recorder, states)          # in every tick
    log = recorded(recorder)

    replay = init_replay(log, 2)
    for tick in range(log.length):
        buttons_at(replay, tick, out=states)
        find_pressed(states, before, out=pressed)
        before[:] = states

States are masks, one bit a button, and above them how far a stick is tilted (see
`scene.stage.sticks`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from flexor.arrays import Ints, Masks, check_array, check_input
from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.buttons import ALL_BUTTONS
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from flexor.scene.stage.input_log import InputLog
from flexor.scene.stage.sticks import are_pad_masks, check_pad_mask

__all__ = [
    "InputLog",
    "InputRecorder",
    "InputReplay",
    "buttons_at",
    "cameras_at",
    "find_pressed",
    "init_recorder",
    "init_replay",
    "record",
    "record_camera",
    "recorded",
]

MOST = 1_000_000  # characters
LAST_TICK = 2**31 - 2
BUTTON_BITS = np.uint32(ALL_BUTTONS)


@dataclass(slots=True, eq=False)
class InputReplay:
    """A log that is being played back, for N characters.

    tick: up to which it was played, -1 before the first; states: uint32 (N,), held
    since then; row: the first change that is still to come.
    """

    log: InputLog
    states: Masks
    tick: int = -1
    row: int = 0
    _next: int = 0  # the tick of the change that is still to come


@dataclass(slots=True, eq=False)
class InputRecorder:
    """States as they come, of N characters; only changes are kept.

    tick: how many were taken; states: uint32 (N,), the last ones; cameras: changes of
    the camera.
    """

    states: Masks
    tick: int = 0
    cameras: list[CameraChange] = field(default_factory=list)
    _ticks: list[int] = field(default_factory=list)
    _who: list[Ints] = field(default_factory=list)
    _states: list[Masks] = field(default_factory=list)


def init_replay(log: InputLog, count: int) -> InputReplay:
    """A log at its start, for so many characters."""
    if not isinstance(log, InputLog):
        raise SettingError(f"log: {type(log).__name__}, expected an InputLog")
    _check_count(count)
    if log.count > count:
        raise SettingError(
            f"count: {count}, expected {log.count} or more, as many as the log is of"
        )
    replay = InputReplay(log, np.zeros(count, np.uint32))
    _rewind(replay)
    return replay


def _rewind(replay: InputReplay) -> None:
    replay.states[:] = 0
    replay.tick, replay.row = -1, 0
    replay._next = int(replay.log.ticks[0]) if len(replay.log) else LAST_TICK + 1


def buttons_at(replay: InputReplay, tick: int, *, out: Masks) -> Masks:
    """Fill `out`, uint32 (N,), with the buttons that are held at a tick.

    Later ticks cost as much as there are changes up to them; an earlier one is looked
    for from the start.
    """
    check_array(out, np.uint32, replay.states.shape, "out")
    _check_tick(tick)
    if tick < replay.tick:
        _rewind(replay)
    replay.tick = tick
    if tick >= replay._next:
        log, first = replay.log, replay.row
        last = int(np.searchsorted(log.ticks, tick, "right"))
        # Of several changes of one character the last one stays.
        replay.states[log.who[first:last]] = log.states[first:last]
        replay.row = last
        replay._next = int(log.ticks[last]) if last < len(log) else LAST_TICK + 1
    out[:] = replay.states
    return out


def find_pressed(states: Masks, before: Masks, *, out: Masks) -> Masks:
    """Fill `out` with the buttons that are held now and were not before: (N,)."""
    shape = np.shape(out)
    check_array(out, np.uint32, (None,), "out")
    check_input(states, np.uint32, shape, "states")
    check_input(before, np.uint32, shape, "before")
    if out is states:
        raise ShapeError("out: is states, expected an array of its own")
    np.invert(before, out=out)
    np.bitwise_and(out, states, out=out)
    np.bitwise_and(out, BUTTON_BITS, out=out)  # a stick is not pressed
    return out


def init_recorder(count: int) -> InputRecorder:
    """A recorder for so many characters, of whom nobody holds a button yet."""
    _check_count(count)
    return InputRecorder(np.zeros(count, np.uint32))


def record(recorder: InputRecorder, states: Masks) -> None:
    """Take what is held in the next tick: uint32 (N,)."""
    check_input(states, np.uint32, recorder.states.shape, "states")
    _check_tick(recorder.tick)
    who = np.flatnonzero(states != recorder.states)
    if len(who):
        held = states[who]
        is_good = are_pad_masks(held)
        if not is_good.all():
            row = int(is_good.argmin())
            check_pad_mask(int(held[row]), f"states of character {int(who[row])}")
        recorder._ticks.append(recorder.tick)
        recorder._who.append(who.astype(np.int32))
        recorder._states.append(held)
        recorder.states[:] = states
    recorder.tick += 1


def record_camera(recorder: InputRecorder, rule: CameraRule, row: int) -> None:
    """Take another rule of the camera, about a row, before the next tick."""
    recorder.cameras.append(CameraChange(recorder.tick, row, rule))


def cameras_at(log: InputLog, tick: int) -> tuple[CameraChange, ...]:
    """Changes of the camera that come before a tick."""
    first = bisect_left(log.cameras, tick, key=_tick_of)
    return log.cameras[first : bisect_right(log.cameras, tick, key=_tick_of)]


def _tick_of(change: CameraChange) -> int:
    return change.tick


def recorded(recorder: InputRecorder) -> InputLog:
    """The log of all that was recorded up to now; recording may go on."""
    sizes = [len(who) for who in recorder._who]
    return InputLog(
        np.repeat(np.array(recorder._ticks, np.int32), sizes),
        np.concatenate([np.zeros(0, np.int32), *recorder._who]),
        np.concatenate([np.zeros(0, np.uint32), *recorder._states]),
        recorder.tick,
        tuple(recorder.cameras),
    )


def _check_count(count: Any) -> None:
    is_whole = isinstance(count, Integral) and not isinstance(count, bool)
    if not is_whole or not 0 <= count <= MOST:
        raise SettingError(f"count: {count!r}, expected 0 to {MOST:,} characters")


def _check_tick(tick: Any) -> None:
    is_whole = isinstance(tick, Integral) and not isinstance(tick, bool)
    if not is_whole or not 0 <= tick <= LAST_TICK:
        raise SettingError(f"tick: {tick!r}, expected 0 to {LAST_TICK}")
