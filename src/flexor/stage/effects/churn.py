"""Sand and water that feet, heads and hips churn up as they land and as they leave.

    state = init_churn(len(crowd), rng)
    while playing:
        step_churn(state, parts, ground, water=0.2)
        count = churn_quads(state, camera_right, camera_up, quads, rows)
        patterns, is_water = state.patterns[rows[:count]], state.is_water[rows[:count]]

Each part is in the air or at the ground, on sand or on water. In the tick in which it
lands, drops fly from (old x, surface, old z): its way along x and z, turned at random
by up to 135 degrees, made longer by its radius, and its speed up or down, upward. In
the tick in which it leaves the surface they fly along its way; the steeper, the fewer.
All are slowed to a random part of a tenth. Half of the drops come in that tick, half of
those that are left in each of the next few.

With `reach` a part that has left the surface throws more while it is near and gets
faster, as feet of kicks do; with `plough` one that goes along in the surface throws
some in each tick; with `spread` each drop flies its own way, beside that of the others.

The caller owns the places of parts and the ground; the state keeps the places of the
last tick, so one call in each tick is all there is to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Bools, Bytes, Doubles, Floats, Ints, check_array, check_input
from flexor.errors import SettingError
from flexor.scene.character.light import as_vector
from flexor.scene.checks import check_kind, check_number
from flexor.scene.stage.effect_settings import ABOVE, RADII, ChurnSettings
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import FARTHEST
from flexor.stage.effects.layout import Drops, Parts
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.layout import ground_table

__all__ = [
    "Churn",
    "churn_quads",
    "init_churn",
    "step_churn",
]

MOST_DROPS = 1 << 20


@dataclass(slots=True, eq=False)
class Churn:
    """What P parts of N characters do, and the drops that they have thrown.

    lasts: float64 (N, P, 3), places a tick ago; is_aloft: bool (N, P), above the
    surface; is_wet: bool (N, P), the ground below is water; states: uint8 (N, P), NONE,
    LANDING, KICK_UP, CONTINUING or PLOUGHING; left: int32 (N, P, 2), drops that are to
    come, and ticks.

    The ring of C drops: places, speeds: float32 (C, 3), metres, metres a tick; floors:
    float32 (C,), heights at which they end; ages: int32 (C,), ticks, -1: no drop here;
    patterns: uint8 (C,), 0 to 31; is_water: bool (C,), else it is sand. live_count: how
    many there are.
    """

    settings: Unhashed[ChurnSettings]
    lasts: Hashed[Doubles]
    is_aloft: Hashed[Bools]
    is_wet: Hashed[Bools]
    states: Hashed[Bytes]
    left: Hashed[Ints]
    places: Hashed[Floats]
    speeds: Hashed[Floats]
    floors: Hashed[Floats]
    ages: Hashed[Ints]
    patterns: Hashed[Bytes]
    is_water: Hashed[Bools]
    live_count: Hashed[int]
    has_last: Hashed[bool]
    seed: Hashed[int]
    # Of what each part began last: what, where, and how it moved; see the kernel.
    _events: Hashed[Bytes] = field(repr=False)
    _origins: Hashed[Doubles] = field(repr=False)
    _moves: Hashed[Doubles] = field(repr=False)
    _peaks: Hashed[Doubles] = field(repr=False)
    _serial: Hashed[NDArray[np.int64]] = field(repr=False)
    _shapes: Hashed[Doubles] = field(repr=False)
    _numbers: Hashed[Doubles] = field(repr=False)
    _view: Unhashed[Floats] = field(repr=False)
    # As the kernel takes them.
    _parts: Unhashed[Parts] = field(init=False, repr=False)
    _drops: Unhashed[Drops] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._parts = Parts(
            self.lasts,
            self.is_aloft,
            self.is_wet,
            self.states,
            self._events,
            self.left,
            self._origins,
            self._moves,
            self._peaks,
        )
        self._drops = Drops(
            self._serial,
            self.places,
            self.speeds,
            self.floors,
            self.ages,
            self.patterns,
            self.is_water,
        )

    def __len__(self) -> int:
        return len(self.lasts)


KERNEL_SETTINGS = (
    *("base", "scale", "most", "ticks", "touch", "jump"),
    *("spread", "reach", "plough", "wet"),
)


def init_churn(
    count: int,
    rng: np.random.Generator,
    settings: ChurnSettings | None = None,
    *,
    capacity: int = 4096,
) -> Churn:
    """No drops yet, of `count` characters; capacity: C, drops at one time.

    The first tick only looks where parts are.
    """
    settings = ChurnSettings() if settings is None else settings
    check_kind(settings, ChurnSettings, "settings")
    check_kind(rng, np.random.Generator, "rng")
    for value, name, least, most in (
        (count, "count", 0, 1_000_000),
        (capacity, "capacity", 1, MOST_DROPS),
    ):
        if type(value) is not int or not least <= value <= most:
            raise SettingError(f"{name}: {value!r}, expected {least} to {most}")
    parts = (count, len(settings.parts))
    return Churn(
        settings,
        np.zeros((*parts, 3)),
        np.zeros(parts, np.bool_),
        np.zeros(parts, np.bool_),
        np.zeros(parts, np.uint8),
        np.zeros((*parts, 2), np.int32),
        np.zeros((capacity, 3), np.float32),
        np.zeros((capacity, 3), np.float32),
        np.zeros(capacity, np.float32),
        np.full(capacity, -1, np.int32),
        np.zeros(capacity, np.uint8),
        np.zeros(capacity, np.bool_),
        0,
        False,
        int(rng.integers(0, 1 << 32)),
        np.zeros(parts, np.uint8),
        np.zeros((*parts, 3)),
        np.zeros((*parts, 5)),
        np.full(parts, -1.0),
        np.zeros(1, np.int64),
        np.array([(RADII[part], ABOVE.get(part, 0.0)) for part in settings.parts]),
        np.array([float(getattr(settings, name)) for name in KERNEL_SETTINGS]),
        np.zeros(6, np.float32),
    )


def step_churn(
    state: Churn, places: Doubles, ground: Ground, *, water: float | None = None
) -> None:
    """A tick of a sixtieth of a second: drops fly on, and parts throw new ones.

    places: float64 (N, P, 3), of parts now, metres; water: metres, the height of the
    water where the ground is water; None, or below the ground: that of the ground.
    """
    check_kind(state, Churn, "state")
    check_kind(ground, Ground, "ground")
    check_input(places, np.float64, state.lasts.shape, "places")
    level = -FARTHEST
    if water is not None:
        level = check_number(water, "water", -FARTHEST, FARTHEST)
    from flexor.stage.effects.kernels import churn as kernel_churn

    settings = state.settings
    if not kernel_churn.are_near(places, FARTHEST):
        raise SettingError(f"places: expected numbers within {FARTHEST:g} m")
    if state.live_count:
        state.live_count = kernel_churn.fly(
            settings.gravity,
            settings.life,
            state.floors,
            state.places,
            state.speeds,
            state.ages,
            state.patterns,
        )
    state.live_count += kernel_churn.check_parts(
        state.has_last,
        places,
        state._shapes,
        state._numbers,
        ground_table(ground),
        level,
        state.seed,
        state._parts,
        state._drops,
    )
    state.has_last = True


def churn_quads(
    state: Churn,
    camera_right: ArrayLike,
    camera_up: ArrayLike,
    out: Floats,
    rows: Ints,
) -> int:
    """Corners of the drops that there are, into the first rows of `out`; how many.

    camera_right, camera_up: (3,), unit vectors of who looks; out: float32 (C, 4, 3),
    metres, at the lower left, lower right, upper right and upper left of what is seen;
    rows: int32 (C,), filled with the drops' rows in the state, such as for patterns.
    """
    check_kind(state, Churn, "state")
    capacity = len(state.ages)
    check_array(out, np.float32, (capacity, 4, 3), "out")
    check_array(rows, np.int32, (capacity,), "rows")
    state._view[:3] = as_vector(camera_right, "camera_right")
    state._view[3:] = as_vector(camera_up, "camera_up")
    if not state.live_count:
        return 0
    from flexor.stage.effects.kernels.churn import drop_quads

    size, life = state.settings.size, state.settings.life
    drops = state.places, state.ages
    return int(drop_quads(*drops, size, life, state._view, rows, out))
