"""Snow that falls, is moved by the wind and goes in circles as it does.

    state = init_snow(ground, 10_000, rng)
    quads = np.empty((len(state), 4, 3), np.float32)
    while playing:
        stir_snow(state, before, parts, WindSettings())
        step_snow(state, ground, (0.01 * math.sin(time), 0.0, 0.0))
        snow_quads(state, camera_right, camera_up, quads)

A flake falls 0.01 m a tick and is moved by the wind; it is seen beside that place, by
(a sin q, a cos q) along x and z, with q growing in each tick. How fast, and a, come
from a table. As circles close, no flake gets anywhere by them: without wind there is no
drift. Flakes that reach the ground come again at the top, anywhere; those that wind
carries out of the box come in again on its other side. So there are as many everywhere.

Parts of bodies that move among flakes take those along that they are near to, and push
them aside; what flakes have got so they lose bit by bit, as they drift on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Bools, Doubles, Floats, check_array, check_input
from flexor.errors import SettingError
from flexor.maths import threads
from flexor.scene.character.light import as_vector
from flexor.scene.checks import check_kind
from flexor.scene.stage.effect_settings import (
    STRONGEST,
    SnowSettings,
    WindSettings,
)
from flexor.scene.stage.ground import Ground
from flexor.stage.effects.layout import FLAKES as BLOCK
from flexor.stage.effects.sines import sine_table
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.layout import ground_table

__all__ = ["Snow", "init_snow", "snow_quads", "step_snow", "stir_snow"]

LEAST_WORK = 40_000  # flakes: fewer are not worth a second thread
MOST_FLAKES = 10_000_000
CALM = (0.0, 0.0, 0.0)
MOST_STIRS = 256  # parts that stir flakes in one tick


@dataclass(slots=True, eq=False)
class Snow:
    """F flakes.

    places: float32 (F, 3), metres, the middles of their circles; phases: uint16 (F,),
    where on them they are, 65536 a turn; kinds: uint8 (F,), rows of the table; sizes:
    float32 (F,), metres; rolls: uint32 (F,), where each comes again; turns: uint16
    (K,), what is added to phases in a tick; circles: float32 (K,), radii, metres;
    drifts: float32 (F, 3), metres a tick, of flakes that are stirred, and is_stirred:
    bool (F,), which these are.
    """

    settings: Unhashed[SnowSettings]
    places: Hashed[Floats]
    phases: Hashed[NDArray[np.uint16]]
    kinds: Unhashed[NDArray[np.uint8]]
    sizes: Hashed[Floats]
    rolls: Hashed[NDArray[np.uint32]]
    turns: Hashed[NDArray[np.uint16]]
    circles: Hashed[Floats]
    drifts: Hashed[Floats]
    is_stirred: Hashed[Bools]
    _box: Hashed[Doubles] = field(repr=False)
    _move: Hashed[Doubles] = field(repr=False)
    _view: Unhashed[Floats] = field(repr=False)
    _highest: Hashed[float] = field(repr=False)  # point of the ground
    _stirs: Unhashed[Doubles] = field(repr=False)
    _stir_box: Unhashed[Doubles] = field(repr=False)
    _stir_numbers: Unhashed[Doubles] = field(repr=False)
    _stir_count: Unhashed[int] = field(default=0, repr=False)  # within a tick

    def __len__(self) -> int:
        return len(self.places)


def init_snow(
    ground: Ground,
    count: int,
    rng: np.random.Generator,
    settings: SnowSettings | None = None,
) -> Snow:
    """Flakes that are everywhere in the box above the ground."""
    check_kind(ground, Ground, "ground")
    check_kind(rng, np.random.Generator, "rng")
    settings = SnowSettings() if settings is None else settings
    check_kind(settings, SnowSettings, "settings")
    if not isinstance(count, int) or not 0 <= count <= MOST_FLAKES:
        raise SettingError(f"count: {count!r}, expected 0 to {MOST_FLAKES}")
    from flexor.stage.effects.kernels.leaves import lay_down

    places = np.zeros((count, 3), np.float32)
    places[:, ::2] = rng.uniform(settings.low, settings.high, (count, 2))
    lay_down(ground.heights, *ground.corner, 1 / ground.step, places)
    room = np.maximum(settings.top - places[:, 1], 0)
    places[:, 1] += (room * (1 - rng.random(count))).astype(np.float32)
    table = np.array(settings.swirls, np.float64)
    turns = np.rint(table[:, 0] * (32768 / math.pi)).astype(np.int64) & 0xFFFF
    (low_x, low_z), (high_x, high_z) = settings.low, settings.high
    return Snow(
        settings,
        places,
        rng.integers(0, 1 << 16, count, np.uint16),
        rng.integers(0, len(table), count, np.uint8),
        _sizes(settings, count, rng),
        rng.integers(0, 1 << 32, count, np.uint32),
        turns.astype(np.uint16),
        table[:, 1].astype(np.float32),
        np.zeros((count, 3), np.float32),
        np.zeros(count, np.bool_),
        np.array([low_x, high_x, low_z, high_z, settings.top]),
        np.zeros(3),
        np.zeros(6, np.float32),
        ground.highest,
        np.zeros((MOST_STIRS, 7)),
        np.array([math.inf] * 3 + [-math.inf] * 3),
        np.zeros(6),
    )


def _sizes(settings: SnowSettings, count: int, rng: np.random.Generator) -> Floats:
    """Breadths of flakes (F,), metres: the larger, the fewer."""
    least, most = settings.sizes
    share = rng.random(count)
    return (least + (most - least) * share * share * share).astype(np.float32)


def stir_snow(
    state: Snow, before: Doubles, now: Doubles, settings: WindSettings
) -> int:
    """Let parts that moved stir the flakes in the next tick; gives how many do.

    before, now: float64 (N, P, 3), places of P parts of N characters a tick ago and
    now, such as find_wind takes; settings: from which movement on, and how far.
    """
    check_kind(state, Snow, "state")
    check_kind(settings, WindSettings, "settings")
    check_input(now, np.float64, (None, None, 3), "now")
    check_input(before, np.float64, now.shape, "before")
    from flexor.stage.effects.kernels.snow import find_stirs

    if state.settings.stir == 0.0:
        return 0
    numbers = state._stir_numbers
    numbers[0], numbers[1], numbers[2] = (
        settings.scale,
        settings.least,
        settings.weakest,
    )
    numbers[3], numbers[4], numbers[5] = (
        settings.strongest,
        settings.jump,
        state.settings.stir,
    )
    state._stir_count = find_stirs(before, now, numbers, state._stirs, state._stir_box)
    return state._stir_count


def step_snow(state: Snow, ground: Ground, wind: ArrayLike = CALM) -> None:
    """A tick of a sixtieth of a second; wind: (3,), metres a tick, of this tick."""
    check_kind(state, Snow, "state")
    check_kind(ground, Ground, "ground")
    move = as_vector(wind, "wind")
    if max(abs(speed) for speed in move) > STRONGEST:
        raise SettingError(f"wind: {move}, expected {STRONGEST:g} at most")
    state._highest = ground.highest
    state._move[:] = move
    state._move[1] -= state.settings.fall
    from flexor.stage.effects.kernels.snow import step_flakes

    table = ground_table(ground)

    def work(blocks: slice) -> None:
        step_flakes(
            blocks.start,
            blocks.stop,
            state._move,
            state._box,
            table,
            state._highest,
            state.kinds,
            state.turns,
            state._stir_count,
            state._stirs,
            state._stir_box,
            state.settings.drag,
            state.places,
            state.phases,
            state.rolls,
            state.drifts,
            state.is_stirred,
        )

    blocks = -(-len(state) // BLOCK)
    if len(state) < LEAST_WORK:
        work(slice(0, blocks))
    else:
        threads.run_slices(work, blocks)
    state._stir_count = 0
    state._stir_box[:3] = math.inf


def snow_quads(
    state: Snow, camera_right: ArrayLike, camera_up: ArrayLike, out: Floats
) -> Floats:
    """Corners of flakes, filled into `out`, float32 (F, 4, 3), metres.

    camera_right, camera_up: (3,), unit vectors of who looks. Corners are at the lower
    left, lower right, upper right and upper left of what is seen.
    """
    check_kind(state, Snow, "state")
    check_array(out, np.float32, (len(state), 4, 3), "out")
    state._view[:3] = as_vector(camera_right, "camera_right")
    state._view[3:] = as_vector(camera_up, "camera_up")
    from flexor.stage.effects.kernels.snow import make_quads

    def work(rows: slice) -> None:
        make_quads(
            rows.start,
            rows.stop,
            state.places,
            state.phases,
            state.kinds,
            state.circles,
            state.sizes,
            sine_table(),
            state._view,
            out,
        )

    if len(state) < LEAST_WORK:
        work(slice(0, len(state)))
    else:
        threads.run_slices(work, len(state))
    return out
