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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError
from flexor.pose import kernel, kernel_blend, kernel_events
from flexor.pose import kernel_player as at
from flexor.pose.events import Event, EventTable, make_events
from flexor.pose.kernel_voice import FREE, ONCE, PING_PONG
from flexor.pose.layers import Layer, layer_mask
from flexor.pose.layout import ROWS
from flexor.pose.motion_set import MotionSet

__all__ = ["PlayerState", "advance", "init_player"]

# The most events that one step may give, the longest step (a day), the largest factor.
MOST_EVENTS = 1_000_000
LONGEST_STEP, FASTEST = 86_400.0, 1e6


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
    # Of each voice, of each layer of a character: see `kernel_player`.
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
    _acts: int = 0  # how often something began to play
    _tables: tuple[Any, ...] = ()

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
    if count < 0 or voices < 2:
        raise SettingError(
            f"count {count}, voices {voices}: expected 0 or more and 2 or more"
        )
    layout, rows = motions.layout, count * len(made)
    fades = np.zeros((rows, 4))
    fades[:, at.SILENT] = 1
    fades[:, at.AMOUNT] = [layer.weight for _ in range(count) for layer in made]
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
        np.tile(layout.rest, (count, 1)),
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
    )
    state._tables = _kernel_tables(state)
    return state


def _kernel_tables(state: PlayerState) -> tuple[Any, ...]:
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
    return (
        state.speeds,
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
        *motions.packed,
        motions.paths,
        settings,
        masks.ravel(),
        morph_masks.ravel(),
        state._targets,
        state._fades,
        state._marks,
        state._voices,
        state._steps,
        state._played,
        np.zeros((rows, ROWS * lanes), np.float32),
        np.zeros((rows, width), np.float32),
        state._cursors,
        state._held,
        state._turns,
        np.zeros(2 * motions.line_count + at.PACK_WORK, np.float32),
        np.zeros(kernel.FRACTION * lanes + lanes, np.float32),
        np.full(1, FREE, np.int32),
        np.zeros((ROWS + ROWS + kernel_blend.MIX_ROWS) * lanes + 2 * width, np.float32),
        state.places.reshape(-1, 12),
        state.travel,
        state.local,
        state.weights,
    )


def advance(state: PlayerState, dt: float) -> list[Event]:
    """Move all clocks on by `dt` seconds, and pose all characters.

    dt: 0 or more; 0 only poses them. Gives the events that were passed, in the order
    of characters, layers and time. Fills `local`, `weights`, `places` and `travel`.
    """
    if not (isinstance(dt, int | float | np.number) and 0 <= dt <= LONGEST_STEP):
        raise SettingError(
            f"dt: {dt!r}, expected seconds from 0 to {LONGEST_STEP:g}; to play "
            "backward, let a speed be below 0"
        )
    # One product settles the usual case; NaN and infinity fail both.
    is_quick = state.speeds.dot(state.speeds) <= FASTEST**2
    if not (is_quick or (np.abs(state.speeds) <= FASTEST).all()):
        raise SettingError(f"speeds: must be finite, at most {FASTEST:g}")
    if not state.count:
        return []
    if state.events is not None and dt > 1:
        _check_events(state, float(dt))
    at.play_on(float(dt), _NONE, *state._tables)
    return [] if state.events is None else _passed(state, state.events)


_NONE = np.zeros(0, np.int32)


def _check_events(state: PlayerState, dt: float) -> None:
    """Refuse a step that would give more events than can be listed."""
    assert state.events is not None
    clips, modes = state._marks[:, at.CLIP], state._marks[:, at.MODE]
    is_used = clips >= 0
    clips, modes = clips[is_used], modes[is_used]
    counts = state.events.ranges[clips, 2 * modes + 1]
    lengths = state.motions.durations[clips] * np.where(modes == PING_PONG, 2, 1)
    each = len(is_used) // state.count
    speeds = (np.repeat(state.speeds, each) * state._voices[:, at.SPEED])[is_used]
    rounds = dt * np.abs(speeds) / np.maximum(lengths, 1e-9)
    most = np.where(modes == ONCE, 1, rounds + 2) * counts
    if most.sum() > MOST_EVENTS:
        raise SettingError(
            f"dt: {dt:g} s would pass about {most.sum():.0f} events, more than "
            f"{MOST_EVENTS}; take smaller steps"
        )


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
