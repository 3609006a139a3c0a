"""Leaves that lie on the ground and are blown up by the wind of moving characters.

    state = init_leaves(ground, rng.uniform(-8, 8, (1000, 2)), rng)
    quads = np.empty((len(state), 4, 3), np.float32)
    while playing:
        step_leaves(state, find_wind(before, now), ground)
        leaf_quads(state, quads)

A tick of a leaf: wind sets its speed along x and z and adds to its upward speed, the
more the nearer it is and the lower the leaf; the air, or the ground, changes its speed;
it moves by its speed, flutters on by one of 32 steps about X and by an angle about Y;
and if it is at or below the ground it has landed. On the ground it goes on turning
until it is flat, which is its step 0, and rests. Leaves at rest cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Bools, Doubles, Floats, Ints, check_array
from flexor.errors import SettingError, ShapeError
from flexor.maths import threads
from flexor.scene.checks import check_kind
from flexor.scene.stage.effect_settings import LeafSettings
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import FARTHEST
from flexor.stage.effects.layout import LEAVES as BLOCK
from flexor.stage.effects.layout import LeafRows
from flexor.stage.effects.sines import sine_table
from flexor.stage.effects.wind import Wind
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.layout import ground_table

__all__ = ["Leaves", "init_leaves", "leaf_quads", "step_leaves"]

CLEAR = 0.006  # metres that quads are above the ground
LEAST_WORK = 8000  # leaves that move: fewer are not worth a second thread
MOST_LEAVES = 10_000_000


@dataclass(slots=True, eq=False)
class Leaves:
    """L leaves; those that stand next to each other here are neighbours at the start.

    places: float32 (L, 3), metres; speeds: float32 (L, 3), metres a tick; steps: uint8
    (L,), of the flutter about X, 0 to 31, 0 is flat; angles: uint16 (L,), about Y,
    65536 a turn; spins: uint16 (L,), what is added to them in a tick; is_aloft: bool
    (L,), in the air; is_moving: bool (L,), not at rest; sizes: float32 (L,), metres;
    kinds: uint8 (L,), for drawing. Change them by `step_leaves` alone.
    """

    settings: Unhashed[LeafSettings]
    places: Hashed[Floats]
    speeds: Hashed[Floats]
    steps: Hashed[NDArray[np.uint8]]
    angles: Hashed[NDArray[np.uint16]]
    spins: Hashed[NDArray[np.uint16]]
    is_aloft: Hashed[Bools]
    is_moving: Hashed[Bools]
    sizes: Hashed[Floats]
    kinds: Unhashed[NDArray[np.uint8]]
    # By block: how many move, which (L,), and a box around all of them.
    _counts: Hashed[Ints] = field(repr=False)
    _listed: Hashed[Ints] = field(repr=False)
    _boxes: Hashed[Floats] = field(repr=False)
    _numbers: Hashed[Doubles] = field(repr=False)  # settings for the kernel
    _wind: Hashed[Doubles] = field(repr=False)
    _highest: Hashed[float] = field(repr=False)  # point of the ground, see `_above`
    # As the kernel takes them.
    _rows: Unhashed[LeafRows] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._rows = LeafRows(
            self.spins,
            self._counts,
            self._listed,
            self._boxes,
            self.places,
            self.speeds,
            self.steps,
            self.angles,
            self.is_aloft,
            self.is_moving,
        )

    def __len__(self) -> int:
        return len(self.places)

    @property
    def moving_count(self) -> int:
        """How many are not at rest."""
        return int(self._counts.sum())


def init_leaves(
    ground: Ground,
    spots: ArrayLike,
    rng: np.random.Generator,
    settings: LeafSettings | None = None,
) -> Leaves:
    """Leaves at rest on the ground; spots: (L, 2), x and z, metres, in any order."""
    check_kind(ground, Ground, "ground")
    check_kind(rng, np.random.Generator, "rng")
    settings = LeafSettings() if settings is None else settings
    check_kind(settings, LeafSettings, "settings")
    flat = _order(_check_spots(spots))
    count = len(flat)
    from flexor.stage.effects.kernels.leaves import fit_boxes, lay_down

    places = np.zeros((count, 3), np.float32)
    places[:, ::2] = flat
    lay_down(ground.heights, *ground.corner, 1 / ground.step, places)
    boxes = np.zeros((-(-count // BLOCK), 4), np.float32)
    fit_boxes(places, boxes)
    spins = rng.uniform(-settings.turn, settings.turn, count) * (32768 / math.pi)
    return Leaves(
        settings,
        places,
        np.zeros((count, 3), np.float32),
        np.zeros(count, np.uint8),
        rng.integers(0, 1 << 16, count, np.uint16),
        (np.rint(spins).astype(np.int64) & 0xFFFF).astype(np.uint16),
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        rng.uniform(*settings.sizes, count).astype(np.float32),
        rng.integers(0, settings.kinds, count, np.uint8),
        np.zeros(len(boxes), np.int32),
        np.zeros(count, np.int32),
        boxes,
        np.array([getattr(settings, name) for name in KERNEL_SETTINGS]),
        np.zeros(6),
        _above(ground),
    )


KERNEL_SETTINGS = ("lift", "drag", "grip", "weight", "fastest")


def _above(ground: Ground) -> float:
    """The highest point, metres; no less in float32, in which leaves have places."""
    return float(np.nextafter(np.float32(ground.highest), np.float32(np.inf)))


def _check_spots(spots: ArrayLike) -> Doubles:
    try:
        flat = np.array(spots, np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"spots: cannot be made numbers: {error}") from None
    if flat.ndim != 2 or flat.shape[1] != 2 or len(flat) > MOST_LEAVES:
        raise ShapeError(f"spots: shape {flat.shape}, expected (L, 2)")
    if not (np.abs(flat) <= FARTHEST).all():
        raise SettingError(f"spots: expected numbers within {FARTHEST:g} m")
    return flat


def _order(spots: Doubles) -> Doubles:
    """Spots so that those of a block are close: in strips along x, by their z."""
    blocks = max(len(spots) // BLOCK, 1)
    strip = BLOCK * max(round(math.sqrt(blocks)), 1)
    rows = np.argsort(spots[:, 1], kind="stable")
    numbers = np.empty(len(rows), np.int64)
    numbers[rows] = np.arange(len(rows)) // strip
    return spots[np.lexsort((spots[:, 0], numbers))]


def step_leaves(state: Leaves, wind: Wind | None, ground: Ground) -> None:
    """A tick of a sixtieth of a second; wind: that of this tick, or None."""
    check_kind(state, Leaves, "state")
    check_kind(ground, Ground, "ground")
    count = state.moving_count
    if wind is not None:
        check_kind(wind, Wind, "wind")
        state._wind[:3], state._wind[3:] = wind.place, wind.speed
    elif count == 0:
        return
    from flexor.stage.effects.kernels.leaves import step_blocks

    state._highest = _above(ground)
    has_wind, table, leaves = wind is not None, ground_table(ground), state._rows

    def work(blocks: slice) -> None:
        step_blocks(
            blocks.start,
            blocks.stop,
            has_wind,
            state._wind,
            state._numbers,
            table,
            state._highest,
            leaves,
        )

    if count < LEAST_WORK:
        work(slice(0, len(state._counts)))
    else:
        threads.run_slices(work, len(state._counts))


def leaf_quads(state: Leaves, out: Floats) -> Floats:
    """Corners of leaves, filled into `out`, float32 (L, 4, 3), metres.

    Seen from above, a leaf that lies with angle 0 has them at its lower left (-x, +z),
    lower right, upper right and upper left: counter-clockwise.
    """
    check_kind(state, Leaves, "state")
    check_array(out, np.float32, (len(state), 4, 3), "out")
    from flexor.stage.effects.kernels.leaves import make_quads

    def work(rows: slice) -> None:
        make_quads(
            rows.start,
            rows.stop,
            state.places,
            state.sizes,
            state.steps,
            state.angles,
            sine_table(),
            CLEAR,
            out,
        )

    if len(state) < LEAST_WORK:
        work(slice(0, len(state)))
    else:
        threads.run_slices(work, len(state))
    return out
