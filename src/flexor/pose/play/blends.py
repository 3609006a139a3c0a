"""Clips mixed by a value, such as walking and running by speed, kept in step.

A layer of a character that blends has a voice for each clip that is heard. Its fade is
one that never ends, so that weights stay as they are set here: by the value, by a fade
from what was played before, and by the ease with which they follow. All its voices keep
step: they are at the same part of their clips, however long these are, and go through
them at the mean of their paces.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Bools, Doubles, Longs
from flexor.pose.play.blend_space import BlendSpace, Points, blend_weights, make_space
from flexor.pose.play.kernels import player as at
from flexor.pose.play.kernels.voice import FREE, LOOP
from flexor.pose.play.player import FASTEST, PlayerState, grow_voices
from flexor.pose.play.voices import (
    HELD,
    freeze_voices,
    layer_rows,
    leaders,
    next_act,
    numbers_of,
    weights_now,
)

__all__ = ["Blend", "blend"]


@dataclass(slots=True, eq=False)
class Blend:
    """One space, and the layers of characters that blend in it, of all R rows.

    clips: (C,), rows in the set of clips; active: (R,); slots: (R, C), the voice of
    each clip; now, goal: (R, C), weights, and those they go to in `left`: (R,) seconds;
    into: (R,), seconds of the fade from what was played before, of which so many are
    `gone`; begun: (R, V), silent: (R,), shares of voices and of nothing at its start;
    is_moving: whether time changes any of this.
    """

    space: BlendSpace
    clips: Longs
    active: Bools
    slots: Longs
    now: Doubles
    goal: Doubles
    left: Doubles
    into: Doubles
    gone: Doubles
    begun: Doubles
    silent: Doubles
    is_moving: bool = False

    def ease(self, state: PlayerState, dt: float) -> None:
        """Let fades into it, and weights that follow their values, go on."""
        if not self.is_moving:
            return
        is_on = self.active & (state._fades[:, at.LENGTH] == HELD)
        rows = np.flatnonzero(is_on & _is_moving(self))
        clocks = np.abs(state.speeds[rows // len(state.layers)])
        _show(state, self, rows, dt * clocks)
        self.is_moving = bool((is_on & _is_moving(self)).any())


def blend(
    state: PlayerState,
    points: Points,
    value: ArrayLike,
    *,
    layer: str | int = 0,
    who: ArrayLike | None = None,
    fade: ArrayLike = 0.0,
    ease: ArrayLike = 0.0,
    speed: ArrayLike = 1.0,
) -> None:
    """Let characters play, in a layer, the clips around a value, mixed and in step.

    points: clips at numbers, or at pairs of numbers; value: a number or a pair, for all
    or one for each of `who`; outside of the points it is the nearest inside. It may be
    another in every frame: clips go on where they are. fade: seconds of cross-fade from
    what the layer plays, if that is no blend of these points; its step is kept. ease:
    seconds in which weights follow a value that has changed; 0: at once. speed: factor.
    """
    record = _record(state, points)
    _, rows = layer_rows(state, layer, who)
    goal = blend_weights(record.space, value, len(rows))
    fades = numbers_of(fade, len(rows), "fade", 0)
    eases = numbers_of(ease, len(rows), "ease", 0)
    speeds = numbers_of(speed, len(rows), "speed", -FASTEST)
    if not len(rows):
        return
    is_in = record.active[rows] & (state._fades[rows, at.LENGTH] == HELD)
    if not is_in.all():
        fresh = ~is_in
        _enter(state, record, rows[fresh], fades[fresh])
        record.now[rows[fresh]] = record.goal[rows[fresh]] = goal[fresh]
        record.left[rows[fresh]] = 0
    is_new = (record.goal[rows] != goal).any(1)
    record.goal[rows] = goal
    record.left[rows] = np.where(is_new, eases, record.left[rows])
    voices = len(state._voices) // len(state._targets)
    state._voices[_own(rows, voices)[_each(rows), record.slots[rows]], at.SPEED] = (
        speeds[:, None]
    )
    state._fastest = max(state._fastest, float(np.abs(speeds).max()))
    _show(state, record, rows, np.zeros(len(rows)))


def _is_moving(record: Blend) -> Bools:
    found: Bools = (record.left > 0) | (record.gone < record.into)
    return found


def _own(rows: Any, voices: int) -> Any:
    """The voices (R, V) of layers of characters."""
    return rows[:, None] * voices + np.arange(voices)


def _each(rows: Any) -> Any:
    return np.arange(len(rows))[:, None]


def _record(state: PlayerState, points: Points) -> Blend:
    """What is known of a space; made when it is first used."""
    key: Any = None
    if isinstance(points, Mapping):
        key = tuple((name, str(point)) for name, point in points.items())
    found: Blend | None = state._blends.get(key)
    if found is not None:
        return found
    space = make_space(points)
    clips = np.array([state.motions.index(name) for name in space.clips], np.int64)
    rows, count = len(state._targets), len(clips)
    # One more, for a pose that is kept.
    if rows and len(state._voices) // rows < count + 1:
        grow_voices(state, count + 1)
    voices = len(state._voices) // max(rows, 1)
    state._blends[key] = found = Blend(
        space,
        clips,
        np.zeros(rows, bool),
        np.zeros((rows, count), np.int64),
        np.zeros((rows, count)),
        np.zeros((rows, count)),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros((rows, voices)),
        np.zeros(rows),
    )
    return found


def _enter(state: PlayerState, record: Blend, rows: Any, fades: Doubles) -> None:
    """Begin to blend, from what layers of characters play now."""
    voices = len(state._voices) // len(state._targets)
    own, marks = _own(rows, voices), state._marks
    weights, silent = weights_now(state, rows, own)
    # A loop of the space that is played already goes on, that which is heard most.
    is_loop = (marks[own, at.MODE] == LOOP) & (weights > 0)
    heard = np.where(is_loop & np.isin(marks[own, at.CLIP], record.clips), weights, 0)
    lead, every = heard.argmax(1), np.arange(len(rows))
    leads = own[every, lead]
    goes_on = heard[every, lead] > 0
    clip = marks[leads, at.CLIP]
    phase = np.maximum(leaders(state, rows, own)[1], 0)
    lengths = np.where(goes_on, state.motions.durations[np.maximum(clip, 0)], 0)
    np.divide(state._voices[leads, at.POSITION], lengths, out=phase, where=lengths > 0)
    is_mine = (clip[:, None] == record.clips) & goes_on[:, None]  # (R, C)
    is_free = marks[own, at.CLIP] == FREE
    is_full = is_free.sum(1) < (~is_mine).sum(1)
    if is_full.any():
        freeze_voices(state, rows, own, weights, is_full)
        is_mine[is_full] = False
        is_free = marks[own, at.CLIP] == FREE
    taken = ~is_free
    slots = np.empty((len(rows), len(record.clips)), np.int64)
    for column in range(len(record.clips)):
        there = np.where(is_mine[:, column], lead, (~taken).argmax(1))
        slots[:, column], taken[every, there] = there, True
    marks[own, at.SYNC] = 0
    mine = own[_each(rows), slots]
    moments = phase[:, None] * state.motions.durations[record.clips]
    state._voices[mine, at.POSITION] = np.where(
        is_mine, state._voices[mine, at.POSITION], moments
    )
    is_first = np.where(is_mine, marks[mine, at.FRESH], phase[:, None] == 0)
    marks[mine, at.FRESH], marks[mine, at.SYNC] = is_first, 1
    state._voices[mine, at.LEAVE] = -1
    for other in state._blends.values():
        other.active[rows] = False
    record.active[rows], record.slots[rows] = True, slots
    record.begun[rows, :] = 0
    record.begun[rows, :voices] = weights
    record.silent[rows], record.into[rows], record.gone[rows] = silent, fades, 0
    state._targets[rows] = -1
    state._fades[rows, at.ELAPSED], state._fades[rows, at.LENGTH] = 0, HELD


def _show(state: PlayerState, record: Blend, rows: Any, spans: Doubles) -> None:
    """Set the weights of layers of characters after so many seconds (R,)."""
    now, goal, left = record.now[rows], record.goal[rows], record.left[rows]
    is_there = left <= spans
    part = np.zeros(len(rows))
    np.divide(spans, left, out=part, where=~is_there)
    now = np.where(is_there[:, None], goal, now + (goal - now) * part[:, None])
    record.now[rows], record.left[rows] = now, np.maximum(left - spans, 0)
    record.gone[rows] += spans
    gone, into = record.gone[rows], record.into[rows]
    done = np.ones(len(rows))
    np.divide(gone, into, out=done, where=gone < into * at.NEARLY)
    record.gone[rows] = np.where(done == 1, into, gone)
    voices = len(state._voices) // len(state._targets)
    own, slots = _own(rows, voices), record.slots[rows]
    shares = record.begun[rows, :voices] * (1 - done[:, None])
    shares[_each(rows), slots] += now * done[:, None]
    state._fades[rows, at.SILENT] = record.silent[rows] * (1 - done)
    _join(state, record, rows, own, shares)
    state._voices[own, at.SHARE] = state._voices[own, at.WEIGHT] = shares
    marks = state._marks
    marks[own, at.CLIP] = np.where(shares > 0, marks[own, at.CLIP], FREE)
    record.is_moving = record.is_moving or bool(_is_moving(record)[rows].any())


def _join(
    state: PlayerState, record: Blend, rows: Any, own: Any, shares: Doubles
) -> None:
    """Begin voices that are heard from now on, in step with those that are."""
    marks, slots = state._marks, record.slots[rows]
    mine = own[_each(rows), slots]
    is_new = (marks[mine, at.CLIP] == FREE) & (shares[_each(rows), slots] > 0)
    if not is_new.any():
        return
    lengths = state.motions.durations[record.clips]
    heard = np.where(marks[mine, at.CLIP] == FREE, 0, state._voices[mine, at.SHARE])
    heard = np.where(lengths > 0, heard, 0)
    lead = heard.argmax(1)
    every = np.arange(len(rows))
    leads = heard[every, lead] > 0
    phase = state._voices[mine[every, lead], at.POSITION] / np.where(
        lengths[lead] > 0, lengths[lead], 1
    )
    moments = np.where(
        leads[:, None], phase[:, None] * lengths, state._voices[mine, at.POSITION]
    )
    is_first = np.where(leads[:, None], 0, marks[mine, at.FRESH])
    for column in np.flatnonzero(is_new.any(0)):
        some = is_new[:, column]
        new = mine[some, column]
        state._voices[new, at.POSITION] = moments[some, column]
        marks[new, at.FRESH] = is_first[some, column]
        marks[new, at.CLIP], marks[new, at.MODE] = record.clips[column], LOOP
        marks[new, at.SYNC], marks[new, at.KNOWN] = 1, 0
        marks[new, at.AGE] = next_act(state)
        state._cursors[new], state._held[new, :1] = 0, -1
        state._voices[new, at.LEAVE] = -1
