"""Footprints in sand, and rings on water where somebody goes in.

    state = init_marks(len(crowd))
    while playing:
        step_marks(state, before, parts, headings, ground, churn)

A foot that is near the ground and hardly moves stands: on sand it leaves a print, from
its ankle to its toes, and another when it has slid on. Parts that churn water leave a
ring at each landing and each kick, and now and then as they go along in it. Marks fade
within their time; there are so many at most, and the oldest give way to new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Bytes, Doubles, Floats, Ints, Longs, check_input
from flexor.errors import SettingError
from flexor.scene.checks import check_kind
from flexor.scene.stage.effect_settings import MarkSettings
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.moves import RATE
from flexor.stage.effects.churn import Churn
from flexor.stage.effects.layout import CHECKED, PRINT, RING, TOES, MarkRows
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.layout import ground_table

__all__ = ["Marks", "init_marks", "live_marks", "step_marks"]


@dataclass(slots=True, eq=False)
class Marks:
    """Marks of N characters on a ground.

    lasts: float64 (N, 2, 3), the last print of each foot; is_down: bool (N, 2), whether
    feet stand; waits: int32 (N, 6), ticks to the next ring of each part but toes.

    The ring of C marks: places: float32 (C, 3), metres; ways: float32 (C, 2), along x
    and z, where a print points, 0 of a ring; sizes: float32 (C,), metres of a ring, 1
    of a print; ages: int32 (C,), ticks, -1: no mark here; kinds: uint8 (C,), PRINT or
    RING. live_count: how many there are; lives: int64 (2,), ticks, by kind.
    """

    settings: Unhashed[MarkSettings]
    lasts: Hashed[Doubles]
    is_down: Hashed[Bools]
    waits: Hashed[Ints]
    places: Hashed[Floats]
    ways: Hashed[Floats]
    sizes: Hashed[Floats]
    ages: Hashed[Ints]
    kinds: Hashed[Bytes]
    live_count: Hashed[int]
    lives: Unhashed[Longs]
    _serial: Hashed[NDArray[np.int64]] = field(repr=False)
    # As the kernel takes them.
    _rows: Unhashed[MarkRows] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._rows = MarkRows(
            self._serial, self.places, self.ways, self.sizes, self.ages, self.kinds
        )

    def __len__(self) -> int:
        return len(self.lasts)


def init_marks(count: int, settings: MarkSettings | None = None) -> Marks:
    """No marks yet, of `count` characters."""
    settings = MarkSettings() if settings is None else settings
    check_kind(settings, MarkSettings, "settings")
    if type(count) is not int or not 0 <= count <= 1_000_000:
        raise SettingError(f"count: {count!r}, expected 0 to 1000000")
    most = settings.most
    return Marks(
        settings,
        np.zeros((count, 2, 3)),
        np.zeros((count, 2), np.bool_),
        np.zeros((count, TOES), np.int32),
        np.zeros((most, 3), np.float32),
        np.zeros((most, 2), np.float32),
        np.zeros(most, np.float32),
        np.full(most, -1, np.int32),
        np.zeros(most, np.uint8),
        0,
        np.rint(np.array([settings.prints, settings.rings]) * RATE).astype(np.int64),
        np.zeros(1, np.int64),
    )


def step_marks(
    state: Marks,
    before: Doubles,
    now: Doubles,
    headings: Doubles,
    ground: Ground,
    churn: Churn | None,
) -> None:
    """A tick of a sixtieth of a second: marks fade, and feet leave new ones.

    before, now: float64 (N, 8, 3), parts of CHECKED a tick ago and now; headings:
    float64 (N,), radians, where characters look; churn: after its own tick, for rings,
    None: there are none.
    """
    check_kind(state, Marks, "state")
    check_kind(ground, Ground, "ground")
    check_input(now, np.float64, (len(state), len(CHECKED), 3), "now")
    check_input(before, np.float64, now.shape, "before")
    check_input(headings, np.float64, (len(state),), "headings")
    from flexor.stage.effects.kernels import marks as kernel_marks

    before_count = int(state._serial[0])
    if state.live_count:
        state.live_count = kernel_marks.age_marks(state.lives, state._rows)
    if state.lives[PRINT] > 0:
        kernel_marks.leave_prints(
            before,
            now,
            headings,
            ground_table(ground),
            state.lasts,
            state.is_down,
            state._rows,
        )
    if churn is not None and state.lives[RING] > 0:
        kernel_marks.leave_rings(
            churn.states, churn._moves, churn.lasts, state.waits, state._rows
        )
    if state._serial[0] != before_count:
        state.live_count = int(np.count_nonzero(state.ages >= 0))


def live_marks(state: Marks, kind: int) -> tuple[NDArray[np.intp], Floats]:
    """Rows of the marks of a kind, the oldest first, and how much of their time has
    passed, 0 to 1.
    """
    rows = np.flatnonzero((state.ages >= 0) & (state.kinds == kind))
    rows = rows[np.argsort(-state.ages[rows], kind="stable")]
    return rows, (state.ages[rows] / state.lives[kind]).astype(np.float32)
