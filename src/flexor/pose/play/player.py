"""A crowd that plays clips: cross-fades, layers, clocks, events, root motion.

    motions = make_motion_set(hero.clips.values(), hero.layout)
    state = init_player(motions, 100, [Layer("body"), Layer("arms", mask="spine*")])
    play(state, "run")
    play(state, "wave", layer="arms", fade=0.2, who=[3, 4])
    while playing:
        advance(state, 1 / 60)
        follow_links(hero.layout, state.local)
        world_from_local(world, state.local)

A *voice* is a clip that a layer of a character plays: its clock, how it goes on at the
end, and its weight. Nothing is allocated by `advance`, and Python's part of it does not
grow with the number of characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError
from flexor.pose.kernels import sample as kernel
from flexor.pose.layout import ROWS
from flexor.pose.play.events import Event, EventTable, make_events
from flexor.pose.play.kernels import blend as kernel_blend
from flexor.pose.play.kernels import events as kernel_events
from flexor.pose.play.kernels import player as at
from flexor.pose.play.kernels import travel as kernel_travel
from flexor.pose.play.kernels.voice import FREE, ONCE, PING_PONG
from flexor.pose.play.layers import Layer, layer_mask
from flexor.pose.play.layout import (
    Cast,
    Fades,
    Kept,
    Layers,
    Motion,
    Packs,
    Room,
    Travel,
    Voices,
)
from flexor.pose.play.motion_set import MotionSet

__all__ = ["PlayerState", "advance", "grow_voices", "init_player"]

# The most events that one step may give, the most rounds of a clip (float64 counts them
# one by one up to there), the longest step (a day), the largest factor.
MOST_EVENTS, MOST_ROUNDS = 1_000_000, 2.0**53
LONGEST_STEP, FASTEST = 86_400.0, 1e6
MOST_VOICES = np.iinfo(np.int32).max  # rows of tables are numbered in 32 bits

Tables = tuple[Motion, Layers, Fades, Voices, Kept, Room, Travel, Cast]


@dataclass(slots=True, eq=False)
class PlayerState:
    """N characters that play clips of one set, in K layers.

    motions: the clips; layers: their settings; speeds: float64 (N,), factor of each
    character's clock, to be written to: 0.5 is slow motion, -1 backward; places:
    float64 (N, 3, 4), world_from_character, moved by root motion, to be written to;
    travel: float64 (N, 4), what the last step's root motion was: x, y, z and heading in
    the character's own frame; local: float32 (N, 10 * L), transforms, and weights:
    float32 (N, W), morph weights, both filled by `advance`.
    """

    motions: MotionSet
    layers: tuple[Layer, ...]
    speeds: NDArray[np.float64]
    places: NDArray[np.float64]
    travel: NDArray[np.float64]
    local: Floats
    weights: Floats
    events: EventTable | None
    # Of each voice, of each layer of a character: see `kernels.player`.
    _marks: Ints
    _voices: NDArray[np.float64]
    _steps: NDArray[np.float64]
    _played: Ints
    _targets: Ints
    _fades: NDArray[np.float64]
    _cursors: Ints
    _held: Ints
    _turns: Floats
    _found: Ints
    _places: NDArray[np.float64]  # (N, 12), the same numbers as in places
    # How often something began to play, the highest speed that was ever asked for,
    # seconds of the shortest clip that has any, and the most events of a clip.
    _acts: int = 0
    _fastest: float = 0.0
    _shortest: float = 1.0
    _busiest: int = 0
    # What is blended, by the points of its space: of each a `blends.Blend`.
    _blends: dict[Any, Any] = field(default_factory=dict)
    _tables: Tables = field(init=False, repr=False)

    @property
    def count(self) -> int:
        """Number of characters."""
        return len(self.local)


def init_player(
    motions: MotionSet,
    count: int,
    layers: Sequence[Layer] | None = None,
    *,
    events: Mapping[str, Iterable[tuple[float, str]]] | None = None,
    voices: int = 4,
) -> PlayerState:
    """State for `count` characters that play nothing, at rest at the origin.

    layers: each lies over those before it; None: one, called "base"; events: by clip,
    pairs of seconds and name; voices: how many clips a layer can mix before those that
    are fading out are frozen together, at least 2.
    """
    made = tuple(layers) if layers is not None else (Layer("base"),)
    for layer in made:
        if not isinstance(layer, Layer):
            raise SettingError(f"layers: {layer!r}, expected Layer settings")
    names = [layer.name for layer in made]
    if not made or len(set(names)) != len(names):
        raise SettingError(
            f"layers: {names}, expected one or more with names of their own"
        )
    for number, least, name in ((count, 0, "count"), (voices, 2, "voices")):
        is_number = isinstance(number, int | np.integer) and number is not True
        if not (is_number and number >= least):
            raise SettingError(f"{name}: {number!r}, expected {least} or more")
    if count * len(made) * voices > MOST_VOICES:
        raise SettingError(
            f"count: {count} of {len(made)} layers and {voices} voices are more than "
            f"{MOST_VOICES}"
        )
    try:
        return _make_state(motions, int(count), made, events, int(voices))
    except MemoryError:
        raise SettingError(f"count: {count}, more than there is memory for") from None


def _make_state(
    motions: MotionSet,
    count: int,
    made: tuple[Layer, ...],
    events: Mapping[str, Iterable[tuple[float, str]]] | None,
    voices: int,
) -> PlayerState:
    """What `init_player` gives."""
    layout, rows = motions.layout, count * len(made)
    # The largest first: if there is no room for it, that is known at once.
    local = np.tile(layout.rest, (count, 1))
    fades = np.zeros((rows, 4))
    fades[:, at.SILENT] = 1
    fades[:, at.AMOUNT] = np.tile([layer.weight for layer in made], count)
    marks = np.zeros((rows * voices, 6), np.int32)
    marks[:, at.CLIP] = FREE
    places = np.tile(np.eye(3, 4), (count, 1, 1))
    table = make_events(motions, events) if events else None
    state = PlayerState(
        motions,
        made,
        np.ones(count),
        places,
        np.zeros((count, 4)),
        local,
        np.tile(layout.rest_weights, (count, 1)),
        table if table is not None and table.names else None,
        marks,
        np.zeros((rows * voices, 5)),
        np.zeros((rows * voices, 4)),
        np.full(rows * voices, FREE, np.int32),
        np.full(rows, -1, np.int32),
        fades,
        np.zeros((rows * voices, motions.line_count), np.int32),
        np.full((rows * voices, motions.pack_width), -1, np.int32),
        np.zeros((rows * voices, 4 * layout.lane_count), np.float32),
        np.zeros((256, 2), np.int32),
        places.reshape(-1, 12),
    )
    lengths = motions.durations[motions.durations > 0]
    state._shortest = float(lengths.min(initial=LONGEST_STEP))
    if state.events is not None:
        state._busiest = int(state.events.ranges[:, 1::2].max())
    state._tables = _kernel_tables(state)
    return state


def _kernel_tables(state: PlayerState) -> Tables:
    """What the kernel takes after the step: the same arrays in every frame."""
    motions, layout = state.motions, state.motions.layout
    lanes, width = layout.lane_count, len(layout.rest_weights)
    rows = len(state._targets)
    settings = np.zeros((len(state.layers), 3), np.int32)
    masks = np.zeros((len(state.layers), lanes), np.float32)
    morph_masks = np.zeros((len(state.layers), width), np.float32)
    for k, layer in enumerate(state.layers):
        mask = layer_mask(layer, layout.skeleton)
        masks[k, : len(mask)] = mask[layout.node_of_lane]
        for node, (first, number) in layout.morph_columns.items():
            morph_masks[k, first : first + number] = mask[node]
        settings[k, at.ADDITIVE] = layer.additive
        settings[k, at.REFERENCE] = layer.reference == "rest"
        settings[k, at.IS_WHOLE] = bool((mask == 1).all())
    motion = Motion(
        motions.clips,
        motions.durations,
        motions.times,
        motions.timelines,
        motions.rotations,
        motions.vectors,
        motions.morphs,
        motions.values,
        motions.starts,
        motions.start_weights,
        Packs(*motions.packed),
    )
    of_layers = Layers(settings, masks.ravel(), morph_masks.ravel())
    kept = Kept(
        np.zeros((rows, ROWS * lanes), np.float32), np.zeros((rows, width), np.float32)
    )
    room = Room(
        state._cursors,
        state._held,
        state._turns,
        np.zeros(2 * motions.line_count + at.PACK_WORK, np.float32),
        np.zeros(kernel.FRACTION * lanes + lanes, np.float32),
        np.full(1, FREE, np.int32),
    )
    work = (ROWS + ROWS + kernel_blend.MIX_ROWS) * lanes + 2 * width
    cast = Cast(state.speeds, state.local, state.weights, np.zeros(work, np.float32))
    return (
        motion,
        of_layers,
        Fades(state._targets, state._fades),
        Voices(state._marks, state._voices, state._steps, state._played),
        kept,
        room,
        Travel(motions.paths, state._places, state.travel),
        cast,
    )


def grow_voices(state: PlayerState, voices: int) -> None:
    """Give every layer of a character more voices; what is played stays."""
    rows = len(state._targets)
    before = len(state._marks) // rows
    if rows * voices > MOST_VOICES:
        raise SettingError(f"{rows} rows of {voices} voices, more than {MOST_VOICES}")
    for name in (
        "_marks",
        "_voices",
        "_steps",
        "_played",
        "_cursors",
        "_held",
        "_turns",
    ):
        old = getattr(state, name)
        free = FREE if name == "_played" else -1 if name == "_held" else 0
        new = np.full((rows, voices, *old.shape[1:]), free, old.dtype)
        new[:, :before] = old.reshape(rows, before, *old.shape[1:])
        if name == "_marks":
            new[:, before:, at.CLIP] = FREE
        setattr(state, name, new.reshape(rows * voices, *old.shape[1:]))
    for record in state._blends.values():
        wide = np.zeros((rows, voices))
        wide[:, :before] = record.begun
        record.begun = wide
    kept = state._tables[4]
    state._tables = _kernel_tables(state)
    for old, new in zip(kept, state._tables[4], strict=True):
        new[:] = old


def advance(state: PlayerState, dt: float) -> list[Event]:
    """Move all clocks on by `dt` seconds, and pose all characters.

    dt: 0 or more; 0 only poses them. Gives the events that were passed, in the order
    of characters, layers and time. Fills `local`, `weights`, `places` and `travel`. A
    step that would pass more than a million events is refused, and changes nothing.
    """
    if not (
        isinstance(dt, int | float | np.floating | np.integer)
        and 0 <= dt <= LONGEST_STEP
    ):
        raise SettingError(
            f"dt: {dt!r}, expected seconds from 0 to {LONGEST_STEP:g}; to play "
            "backward, let a speed be below 0"
        )
    if not state.count:
        return []
    speed = kernel_travel.top_speed(state.speeds, state._places)
    if speed == kernel_travel.NO_PLACE:
        raise SettingError("places: must be finite")
    if not 0 <= speed <= FASTEST:
        raise SettingError(f"speeds: must be finite, at most {FASTEST:g}")
    _check_rounds(state, float(dt), speed)
    for own in state._blends.values():
        own.ease(state, float(dt))
    at.play_on(float(dt), _NONE, *state._tables)
    return [] if state.events is None else _passed(state, state.events)


_NONE = np.zeros(0, np.int32)


def _check_rounds(state: PlayerState, dt: float, speed: float) -> None:
    """Refuse a step of more rounds than can be counted, or events than can be listed.

    speed: of the fastest of the characters' clocks. What no clip can reach is settled
    by one product; only else all voices are looked at.
    """
    rounds = dt * speed * state._fastest / state._shortest
    if (
        rounds > MOST_ROUNDS
        and (
            (np.abs(_rounds(state, dt)) > MOST_ROUNDS)
            & (state._marks[:, at.MODE] != ONCE)
        ).any()
    ):
        raise SettingError(
            f"dt: {dt:g} s would go round a clip more than {MOST_ROUNDS:g} times; take "
            "smaller steps or lower speeds"
        )
    if state.events is None:
        return
    if (rounds + 2) * state._busiest * len(state._marks) > MOST_EVENTS:
        count = _count_events(state, state.events, _rounds(state, dt))
        if count > MOST_EVENTS:
            raise SettingError(
                f"dt: {dt:g} s would pass about {count:.0f} events, more than "
                f"{MOST_EVENTS}; take smaller steps or lower speeds"
            )


def _rounds(state: PlayerState, dt: float) -> NDArray[np.float64]:
    """How often each voice would go through its clip in a step, signed: (V,).

    At most: voices in step go on by a mean, here by the fastest of them.
    """
    clips, own = state._marks[:, at.CLIP], len(state._marks) // len(state._targets)
    lengths = np.append(state.motions.durations, 0.0)[np.maximum(clips, -1)]
    pace = np.zeros(len(clips))
    is_moving = (clips >= 0) & (lengths > 0)
    np.divide(state._voices[:, at.SPEED], lengths, out=pace, where=is_moving)
    paces = pace.reshape(-1, own)
    fastest = paces[np.arange(len(paces)), np.abs(paces).argmax(1)]
    pace = np.where(state._marks[:, at.SYNC] != 0, np.repeat(fastest, own), pace)
    spans = dt * np.repeat(state.speeds, len(state.layers))[:, None]
    # What fades out is gone at the end of the fade.
    left = (state._fades[:, at.LENGTH] - state._fades[:, at.ELAPSED])[:, None]
    is_target = np.arange(own) == state._targets[:, None]
    spans = np.where(is_target, spans, np.clip(spans, -left, left))
    found: NDArray[np.float64] = np.where(is_moving, pace * spans.reshape(-1), 0.0)
    return found


def _count_events(
    state: PlayerState, table: EventTable, rounds: NDArray[np.float64]
) -> float:
    """How many events voices would pass that go through their clips so often."""
    total = 0.0
    clips, modes = state._marks[:, at.CLIP], state._marks[:, at.MODE]
    for clip, mode in np.unique(np.stack([clips, modes], 1)[clips >= 0], axis=0):
        first, count = table.ranges[clip, 2 * mode : 2 * mode + 2]
        duration = float(state.motions.durations[clip])
        if not count or duration <= 0:
            continue
        mine = np.nonzero((clips == clip) & (modes == mode))[0]
        before = state._voices[mine, at.POSITION]
        after = before + rounds[mine] * duration
        spots = table.spots[first : first + count]
        length = duration
        if mode == ONCE:
            after = np.clip(after, 0, duration)
            length = np.inf
        elif mode == PING_PONG:
            length = 2 * duration
        total += float(
            np.abs(
                _spots_up_to(spots, after, length) - _spots_up_to(spots, before, length)
            ).sum()
        )
    return total


def _spots_up_to(
    spots: NDArray[np.float64], places: NDArray[np.float64], length: float
) -> NDArray[np.float64]:
    """How many spots of a circle lie from 0 to places on the line: whole rounds too."""
    whole = np.floor(places / length)
    rest = places if length == np.inf else places - whole * length
    found: NDArray[np.float64] = whole * len(spots) + np.searchsorted(
        spots, rest, "right"
    )
    return found


def _passed(state: PlayerState, table: EventTable) -> list[Event]:
    """The events of the last step."""
    while True:
        count = kernel_events.find_events(
            table.ranges,
            table.spots,
            table.times,
            state.motions.durations,
            state._played,
            state._voices,
            state._steps,
            state._marks,
            state._found,
        )
        if count <= len(state._found):
            break
        state._found = np.zeros((2 * count, 2), np.int32)
    levels = len(state.layers)
    voices = len(state._voices) // len(state._targets)
    passed = []
    for voice, event in state._found[:count].tolist():
        row = voice // voices
        passed.append(
            Event(
                row // levels,
                state.motions.names[state._played[voice]],
                table.names[event],
                float(table.times[event]),
                state.layers[row % levels].name,
                float(state._steps[voice, at.MEAN]),
            )
        )
    return passed
