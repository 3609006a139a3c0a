"""Structures that would hide the characters from the camera.

    middle, radius = circle_of(((-1, -1), (1, -1), (1, 1), (-1, 1)))
    tables = make_view([
        Structure(name="pillar", middle=middle, radius=radius, mode="fade"),
        Structure(name="wall", ends=((-4, 3), (4, 3)), thickness=0.3),
    ])
    state = init_view(tables)
    while playing:
        step_view(state, camera, characters)

The region seen is the convex hull of the camera and all characters, looked at from
above: with two characters a triangle, with one a line, with none nothing. A structure
that reaches into it obstructs; of a long one only the part that lies in the region
does. How it is then drawn is for drawing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Bools, Doubles, check_array, freeze
from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.layout import FARTHEST
from flexor.scene.stage.moves import RATE
from flexor.scene.stage.settings import MOST_MARGIN, ViewSettings
from flexor.scene.stage.structure import Structure
from flexor.stage.hashing import Hashed, Unhashed

__all__ = [
    "ViewState",
    "ViewTables",
    "init_view",
    "make_view",
    "obstructs",
    "see_from",
    "step_view",
]


TICK = 1 / RATE  # seconds
# Metres around the region of another camera over which structures fade, and in how many
# steps: it has no ticks in which they could.
SOFT, STEPS = 0.4, 8


@dataclass(frozen=True, slots=True, eq=False)
class ViewTables:
    """Structures (S), and the same as rows (S, 6) for the kernel."""

    structures: tuple[Structure, ...]
    rows: Doubles

    def __len__(self) -> int:
        return len(self.structures)


@dataclass(slots=True, eq=False)
class ViewState:
    """What is seen of S structures.

    obstructed: bool (S,), which of them stand in the way now; shown: float64 (S,), how
    much of the way from their mode (0) to as they are (1); parts: float64 (S, 2), from
    where to where on a long one this holds, 0 to 1; the rest of it is drawn as it is.
    """

    tables: Unhashed[ViewTables]
    settings: Unhashed[ViewSettings]
    obstructed: Hashed[Bools]
    shown: Hashed[Doubles]
    parts: Hashed[Doubles]
    _found: Hashed[Doubles] = field(repr=False)  # parts of this tick


def make_view(structures: Sequence[Structure]) -> ViewTables:
    """Lay out the structures of a stage."""
    rows = np.zeros((len(structures), 6))
    names: set[str] = set()
    for number, own in enumerate(structures):
        if not isinstance(own, Structure):
            kind = type(own).__name__
            raise SettingError(f"structure {number}: {kind}, expected a Structure")
        if own.name in names:
            raise SettingError(
                f"structure {number}: name {own.name!r}, expected one of its own"
            )
        names.add(own.name)
        if own.ends is not None and own.thickness is not None:
            rows[number] = *own.ends[0], *own.ends[1], own.thickness / 2, 1
        elif own.middle is not None and own.radius is not None:
            rows[number] = *own.middle, *own.middle, own.radius, 0
    return ViewTables(tuple(structures), freeze(rows, np.float64, (None, 6), "rows"))


def obstructs(
    tables: ViewTables,
    camera: ArrayLike,
    characters: ArrayLike,
    *,
    out: Bools,
    parts: Doubles | None = None,
    margin: float = 0.0,
) -> Bools:
    """Which structures (S,) reach into the region seen, filled into `out`.

    camera: (2,), characters: (n, 2), each (x, z) in metres. parts: float64 (S, 2) to be
    filled with the part of each long structure that lies in the region, 0 to 1 from end
    to end; 0, 0: none, as where its end circle alone reaches in. margin: metres by
    which the region is larger all around.
    """
    count = len(tables)
    check_array(out, np.bool_, (count,), "out")
    if parts is None:
        parts = np.empty((count, 2))
    check_array(parts, np.float64, (count, 2), "parts")
    eye, places = np.asarray(camera), np.asarray(characters)
    if eye.shape != (2,) or eye.dtype.kind not in "fiu":
        have = f"{eye.dtype} {eye.shape}"
        raise ShapeError(f"camera: {have}, expected numbers (2,)")
    if places.size == 0:
        out[:] = False
        parts[:] = 0.0
        return out
    if places.ndim != 2 or places.shape[1] != 2 or places.dtype.kind not in "fiu":
        have = f"{places.dtype} {places.shape}"
        raise ShapeError(f"characters: {have}, expected numbers (n, 2)")
    if not 0.0 <= margin <= MOST_MARGIN:
        raise SettingError(f"margin: {margin!r}, expected 0 to {MOST_MARGIN:g} m")
    if not count:
        return out
    from flexor.stage.effects.kernels.view import find_obstructing

    points = np.empty((len(places) + 1, 2))
    points[0] = eye
    points[1:] = places
    points.view(np.complex128).ravel().sort()  # by x, then by z
    work = np.empty((2 * len(points), 7))
    corners, sides = work.ravel()[: 4 * len(points)], work.ravel()[4 * len(points) :]
    if not find_obstructing(
        points,
        tables.rows,
        float(margin),
        corners.reshape(-1, 2),
        sides.reshape(-1, 5),
        out,
        parts,
    ):
        good = (np.abs(eye) <= FARTHEST).all()
        name = "characters" if good else "camera"
        raise SettingError(f"{name}: expected numbers within {FARTHEST:g} m")
    return out


def init_view(tables: ViewTables, settings: ViewSettings | None = None) -> ViewState:
    """Everything shown."""
    count = len(tables)
    return ViewState(
        tables,
        settings or ViewSettings(),
        np.zeros(count, bool),
        np.ones(count),
        np.zeros((count, 2)),
        np.zeros((count, 2)),
    )


def step_view(state: ViewState, camera: ArrayLike, characters: ArrayLike) -> None:
    """A tick: find what obstructs the view (see `obstructs`), and fade toward it.

    A structure at the border of the region changes by a step a tick, and one that has
    vanished comes back when it is some way out of it, so that it does not flicker; the
    part of a long one is kept until it is whole again.
    """
    if not len(state.tables):
        return
    from flexor.stage.effects.kernels.view import move_shown

    settings, hits, found = state.settings, state.obstructed, state._found
    tables, margin = state.tables, settings.margin
    is_kept = hits.copy()
    obstructs(tables, camera, characters, out=hits, parts=found, margin=margin)
    is_kept &= ~hits
    if is_kept.any() and settings.keep > 0:
        near, parts = np.empty_like(hits), np.empty_like(found)
        margin = min(margin + settings.keep, MOST_MARGIN)
        obstructs(tables, camera, characters, out=near, parts=parts, margin=margin)
        is_kept &= near
        hits |= is_kept
        found[is_kept] = parts[is_kept]
    # A little more, so that steps that should add up to 1 do, however they are rounded.
    step = TICK / settings.fade * (1 + 1e-9) if settings.fade > TICK else 1.0
    move_shown(hits, found, step, state.shown, state.parts)


def see_from(
    tables: ViewTables,
    settings: ViewSettings,
    camera: ArrayLike,
    characters: ArrayLike,
) -> tuple[Doubles, Doubles]:
    """What another camera than the stage's own sees of structures: shown (S,) and parts
    (S, 2), as in `ViewState`.

    It depends on nothing that was drawn before: what reaches into the region (see
    `obstructs`) is hidden, and what comes near it fades, so that nothing jumps as the
    camera goes by.
    """
    count = len(tables)
    shown, parts = np.ones(count), np.zeros((count, 2))
    hits, found = np.zeros(count, bool), np.zeros((count, 2))
    for step in range(STEPS):
        margin = min(settings.margin + SOFT * step / STEPS, MOST_MARGIN)
        obstructs(tables, camera, characters, out=hits, parts=found, margin=margin)
        shown[hits] -= 1 / STEPS
        parts[hits] = found[hits]
        if not step:
            is_hidden = hits.copy()
    shown[is_hidden] = 0.0
    return shown, parts
