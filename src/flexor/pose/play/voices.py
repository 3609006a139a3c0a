"""Clips that characters begin to play, and leave off: the voices of a player."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Ints, RowsLike, spell_out
from flexor.errors import SettingError
from flexor.pose.play.kernels import player as at
from flexor.pose.play.kernels.voice import FREE, KEPT, LOOP, ONCE
from flexor.pose.play.player import FASTEST, PlayerState

__all__ = [
    "HELD",
    "Mode",
    "choose",
    "freeze_voices",
    "layer_rows",
    "leaders",
    "next_act",
    "numbers_of",
    "play",
    "set_weight",
    "stop",
    "weights_now",
]

Mode = Literal["once", "loop", "ping-pong"]
Who = RowsLike | None
# The length of a fade that never ends: shares stay as they are, see `blends`.
HELD = np.inf
LAST_ACT = np.iinfo(np.int32).max  # the highest number that a voice can note


def layer_rows(state: PlayerState, layer: str | int, who: Who) -> tuple[int, Ints]:
    """The number of a layer, and its rows (R,) for some characters."""
    names = [one.name for one in state.layers]
    if isinstance(layer, str):
        if layer not in names:
            there = ", ".join(map(repr, names))
            raise SettingError(f"no layer {layer!r}; there are: {there}")
        number = names.index(layer)
    else:
        is_number = isinstance(layer, int | np.integer) and not isinstance(layer, bool)
        if not (is_number and 0 <= layer < len(names)):
            raise SettingError(
                f"layer: {layer!r}, expected a name or 0 to {len(names) - 1}"
            )
        number = int(layer)
    chosen = choose(who, state.count)
    return number, (chosen * len(names) + number).astype(np.int32)


def choose(who: Who, count: int) -> NDArray[np.int64]:
    """Numbers of characters (R,) of indices, a slice or a mask (N,); None: all.

    Indices stay in the order given, in which settings for each of them are; one that is
    there twice is refused, since it would have two.
    """
    if who is None:
        return np.arange(count)
    try:
        given = np.asarray(spell_out(who, count, "who"))
    except (TypeError, ValueError):  # rows of different lengths
        given = np.zeros((1, 1))
    if given.dtype == bool:
        if given.shape != (count,):
            raise SettingError(f"who: a mask of {given.shape}, expected ({count},)")
        return np.nonzero(given)[0]
    if given.ndim > 1 or (given.size and given.dtype.kind not in "iu"):
        raise SettingError(f"who: {who!r}, expected numbers of characters or a mask")
    if given.size and not 0 <= given.min() <= given.max() < count:
        raise SettingError(f"who: {who!r}, expected numbers from 0 to {count - 1}")
    numbers = given.astype(np.int64).reshape(-1)
    if len(np.unique(numbers)) < len(numbers):
        raise SettingError(f"who: {who!r}, expected each character once")
    return numbers


def numbers_of(value: ArrayLike, count: int, name: str, least: float) -> Any:
    """Finite numbers (R,) of one number or one for each; not below `least`."""
    try:
        given = np.asarray(value, np.float64)
        spread = np.broadcast_to(given, (count,))
    except (TypeError, ValueError, OverflowError):
        raise SettingError(
            f"{name}: {value!r}, expected a number, or one for each of {count}"
        ) from None
    if not np.isfinite(given).all() or (given < least).any() or (given > FASTEST).any():
        raise SettingError(
            f"{name}: {value!r}, expected numbers from {least:g} to {FASTEST:g}"
        )
    return spread


def play(
    state: PlayerState,
    clip: str,
    *,
    layer: str | int = 0,
    who: Who = None,
    fade: ArrayLike = 0.0,
    mode: Mode = "loop",
    speed: ArrayLike = 1.0,
    start: ArrayLike | None = None,
    sync: bool = False,
    leave: float | None = None,
) -> None:
    """Let characters play a clip in a layer, in place of what they play there.

    who: numbers of characters, or a mask (N,); None: all. fade: seconds of cross-fade
    from all that the layer shows now, also in the middle of a fade. mode: at the end,
    "loop", hold the last frame ("once") or go back and forth ("ping-pong"). speed:
    factor; below 0 backward. start: seconds in the clip; None: the start, or the end if
    it goes backward. A loop that the layer plays already goes on as it is, at the new
    speed, unless `start` is given. sync: start at the phase of what is played, and keep
    step with it while it fades: walk to run. leave: "once" only: fade out in so many
    seconds, so as to be gone at the end. fade, speed and start may be one for each of
    the characters, in the order of `who`.
    """
    number = state.motions.index(clip)
    if not isinstance(mode, str) or mode not in get_args(Mode):
        raise SettingError(f"mode: {mode!r}, expected one of {get_args(Mode)}")
    how = get_args(Mode).index(mode)
    _, rows = layer_rows(state, layer, who)
    fades = numbers_of(fade, len(rows), "fade", 0)
    speeds = numbers_of(speed, len(rows), "speed", -FASTEST)
    starts = None if start is None else numbers_of(start, len(rows), "start", 0)
    gone = -1.0 if leave is None else float(numbers_of(leave, 1, "leave", 0)[0])
    if leave is not None and how != ONCE:
        raise SettingError("leave: only with mode 'once'")
    if not len(rows):
        return
    voices = len(state._voices) // len(state._targets)
    own = rows[:, None] * voices + np.arange(voices)  # (R, V), rows of the voices
    weights, silent = weights_now(state, rows, own)
    marks, places = state._marks, np.arange(len(rows))
    is_same = (marks[own, at.CLIP] == number) & (marks[own, at.MODE] == how)
    if how == ONCE or starts is not None:
        is_same[:] = False
    again = is_same.any(1)
    slots = np.where(again, np.argmax(np.where(is_same, weights + 1, 0), 1), -1)
    leader = leaders(state, rows, own) if sync else None
    _find_room(state, rows, own, weights, slots)
    mine = own[places, slots]
    state._voices[mine, at.SPEED], state._voices[mine, at.LEAVE] = speeds, gone
    state._fastest = max(state._fastest, float(np.abs(speeds).max()))
    fresh = ~again
    new = mine[fresh]
    marks[new, at.CLIP], marks[new, at.MODE] = number, how
    state._cursors[new], state._held[new, :1] = 0, -1
    weights[places[fresh], slots[fresh]] = 0
    duration = float(state.motions.durations[number])
    if starts is None:
        begins = np.where(speeds < 0, duration, 0.0)
        if leader is not None:
            begins = np.where(leader[1] < 0, begins, leader[1] * duration)
    else:
        begins = starts
    position, is_end = _start_positions(begins[fresh], how, duration)
    state._voices[new, at.POSITION] = position
    marks[new, at.FRESH], marks[new, at.SYNC] = np.where(is_end, 2, 1), 0
    marks[new, at.KNOWN] = 0
    if leader is not None:
        marks[mine, at.SYNC] = 1
        marks[leader[0][leader[1] >= 0], at.SYNC] = 1
    is_new = fresh | (state._targets[rows] != slots)
    if is_new.any():
        marks[mine[is_new], at.AGE] = next_act(state)
    _begin_fades(state, rows, own, weights, silent, slots, fades, is_new)


def next_act(state: PlayerState) -> int:
    """The number of an act that begins, higher than those of all before it."""
    if state._acts >= LAST_ACT:
        # Only their order matters: count those that are still there anew.
        _, ranks = np.unique(state._marks[:, at.AGE], return_inverse=True)
        state._marks[:, at.AGE] = ranks
        state._acts = int(ranks.max())
    state._acts += 1
    return state._acts


def _start_positions(begins: Any, how: int, duration: float) -> tuple[Any, Any]:
    """Positions of voices that start at times in the clip, and which are at its end."""
    if how == ONCE or duration <= 0:
        return np.clip(begins, 0, duration), begins * 0 > 0
    length = duration if how == LOOP else 2 * duration
    return np.fmod(begins, length), (begins == duration) & (how == LOOP)


def weights_now(state: PlayerState, rows: Ints, own: Any) -> tuple[Any, Any]:
    """Weights (R, V) of voices and (R,) of nothing, as the layers' fades have them."""
    fades = state._fades[rows]
    elapsed, length = fades[:, at.ELAPSED], fades[:, at.LENGTH]
    done = np.ones(len(rows))
    np.divide(elapsed, length, out=done, where=elapsed < length * at.NEARLY)
    targets, voices = state._targets[rows], np.arange(own.shape[1])
    is_target = targets[:, None] == voices
    is_free = state._marks[own, at.CLIP] == FREE
    shares = np.where(is_free, 0, state._voices[own, at.SHARE])
    left = (1 - done)[:, None]
    weights = np.where(is_target, shares * left + done[:, None], shares * left)
    silent = fades[:, at.SILENT] * left[:, 0] + np.where(targets < 0, done, 0)
    return weights, silent


def _find_room(
    state: PlayerState, rows: Ints, own: Any, weights: Any, slots: Any
) -> None:
    """Choose a free voice where `slots` (R,) is -1; changes `weights` where it must.

    Where all voices are in use, the pose that the layer shows is kept and takes their
    place: the next one fades from it, and nothing jumps.
    """
    is_free = state._marks[own, at.CLIP] == FREE
    is_open = slots < 0
    is_full = is_open & ~is_free.any(1)
    slots[is_open] = np.argmax(is_free[is_open], 1)
    if not is_full.any():
        return
    freeze_voices(state, rows, own, weights, is_full)
    slots[is_full] = 1


def freeze_voices(
    state: PlayerState, rows: Ints, own: Any, weights: Any, is_full: Any
) -> None:
    """Keep the poses that layers of characters show, where `is_full` (R,), in place of
    all their voices; changes `weights`.
    """
    full = np.nonzero(is_full)[0]
    state._voices[own[full], at.WEIGHT] = weights[full]
    at.play_on(0.0, rows[full], *state._tables)
    state._marks[own[full], at.CLIP] = FREE
    state._marks[own[full, 0], at.CLIP] = KEPT
    state._marks[own[full], at.KNOWN] = 0
    weights[full, 0] = weights[full].sum(1)
    weights[full, 1:] = 0


def leaders(state: PlayerState, rows: Ints, own: Any) -> tuple[Any, Any]:
    """The voices (R,) that others keep step with, and their phases; -1: none."""
    targets = state._targets[rows]
    # Of a blend the one that is heard most.
    is_held = state._fades[rows, at.LENGTH] == HELD
    is_free = state._marks[own, at.CLIP] == FREE
    most = np.where(is_free, -1, state._voices[own, at.SHARE]).argmax(1)
    targets = np.where(is_held, most, targets)
    voice = own[np.arange(len(rows)), np.maximum(targets, 0)]
    clip = state._marks[voice, at.CLIP]
    durations = np.append(state.motions.durations, 0.0)[np.maximum(clip, -1)]
    has_phase = (targets >= 0) & (clip >= 0) & (durations > 0)
    phase = np.full(len(rows), -1.0)
    np.divide(state._voices[voice, at.POSITION], durations, out=phase, where=has_phase)
    return voice, phase


def _begin_fades(
    state: PlayerState,
    rows: Ints,
    own: Any,
    weights: Any,
    silent: Any,
    slots: Any,
    lengths: Any,
    is_new: Any,
) -> None:
    """Fade from weights (R, V) and (R,) to the voices `slots` (R,), where is_new."""
    some = rows[is_new]
    state._voices[own[is_new], at.SHARE] = weights[is_new]
    state._voices[own[is_new], at.WEIGHT] = weights[is_new]
    state._targets[some] = slots[is_new]
    state._fades[some, at.ELAPSED] = 0
    state._fades[some, at.LENGTH] = lengths[is_new]
    state._fades[some, at.SILENT] = silent[is_new]


def stop(
    state: PlayerState,
    *,
    layer: str | int = 0,
    who: Who = None,
    fade: ArrayLike = 0.0,
) -> None:
    """Let characters play nothing in a layer: what is below it shows again.

    fade: seconds, one number or one for each of `who`; who: numbers of characters, or a
    mask (N,); None: all.
    """
    _, rows = layer_rows(state, layer, who)
    fades = numbers_of(fade, len(rows), "fade", 0)
    voices = len(state._voices) // len(state._targets) if len(rows) else 0
    own = rows[:, None] * voices + np.arange(voices)
    weights, silent = weights_now(state, rows, own)
    nothing = np.full(len(rows), -1)
    is_new = (state._targets[rows] >= 0) | (state._fades[rows, at.LENGTH] == HELD)
    _begin_fades(state, rows, own, weights, silent, nothing, fades, is_new)


def set_weight(
    state: PlayerState, layer: str | int, weight: ArrayLike, *, who: Who = None
) -> None:
    """Set how much a layer counts, 0 to 1: one number, or one for each of `who`."""
    _, rows = layer_rows(state, layer, who)
    weights = numbers_of(weight, len(rows), "weight", 0)
    if (weights > 1).any():
        raise SettingError(f"weight: {weight!r}, expected numbers from 0 to 1")
    state._fades[rows, at.AMOUNT] = weights
