"""What is to be seen of a stage at one moment: skins, shadows, structures, camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.maths import threads
from flexor.scene.character.camera import Camera
from flexor.stage.camera import camera_of
from flexor.stage.cast import Body, skin_body, skin_moment, whole_positions
from flexor.stage.effects.afterimages import Afterimage, see_afterimages
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.shadows import cast_shadows
from flexor.stage.state import StageState

__all__ = ["BodyFrame", "Frame", "Wanted", "make_frame"]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What is to be seen of characters of one body, rows of the body, rising.

    whole: int32 (k,), who is drawn as it is; shaded: int32 (m,), whose shadow is cast;
    theirs is deformed as well.
    """

    whole: Ints
    shaded: Ints


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """Characters of one body, posed and deformed.

    rows: int32 (n,), theirs on the stage; world: float32 (n, J, 3, 4), of nodes;
    positions, normals: of each surface, float32 (n, V, 3); shadow: float32 (n, P, 3),
    flat on what it falls on, None for none; has_shadow: bool (n,); met: int32 (n, K),
    by part of the shadow, the structure that it falls on, -1 for the ground;
    afterimages: the oldest first; wanted: whose skins and shadows are those of the
    frame, None: everybody's; what the arrays have of others means nothing.
    """

    rows: Ints
    world: Floats
    positions: tuple[Floats, ...]
    normals: tuple[Floats, ...]
    shadow: Floats | None
    has_shadow: NDArray[np.bool_]
    met: Ints | None = None
    afterimages: tuple[Afterimage, ...] = ()
    wanted: Wanted | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A moment of a stage; its arrays are those of the stage, until its next frame.

    places: float64 (N, 3), of characters; shown: (S,), parts: (S, 2): what is seen of
    structures by the stage's own camera, see stage.effects.view (`see_from` has it for
    another); scenery: leaves, snow and drops, see stage.effects.scenery.
    """

    tick: int
    camera: Camera
    bodies: tuple[BodyFrame, ...]
    places: NDArray[np.float64]
    shown: NDArray[np.float64]
    parts: NDArray[np.float64]
    scenery: Scenery


def make_frame(
    state: StageState,
    *,
    shadows: bool = True,
    wanted: Sequence[Wanted | None] | None = None,
) -> Frame:
    """Deform all skins as they are now, and cast their shadows.

    wanted: by body, what is to be seen of it, None: all. No tick depends on what is
    made here: whether and when it is called does not show.
    """
    bodies = []
    for number, body in enumerate(state.bodies):
        own = None if wanted is None else wanted[number]
        if own is None:
            skin_body(body, state.tick)
        else:
            skin_body(body, state.tick, np.union1d(own.whole, own.shaded))
        shadow, met = None, None
        cast = np.zeros(len(body), bool)
        if shadows and body.shadows is not None:
            _cast(body, state, None if own is None else own.shaded)
            shadow, met = body.shadows.positions, body.shadows.met
            cast = body.shadows.is_cast
        bodies.append(
            BodyFrame(
                body.rows,
                body.world.matrices,
                tuple(body.positions),
                tuple(body.normals),
                shadow,
                cast,
                met,
                _seen(body, state.tick, own),
                own,
            )
        )
    view = state.view
    return Frame(
        state.tick,
        camera_of(state.camera),
        tuple(bodies),
        state.places,
        view.shown,
        view.parts,
        state.scenery,
    )


def _cast(body: Body, state: StageState, who: Ints | None) -> None:
    """Cast the shadows of those whose skin there is, once in a tick."""
    shadows, plan = body.shadows, state.plan
    behind = body.shaded_at != state.tick
    rows = np.flatnonzero(behind) if who is None else who[behind[who]]
    if shadows is None or not len(rows):
        return
    body.shaded_at[rows] = state.tick
    if len(rows) == len(body):
        cast_shadows(shadows, plan.light, whole_positions(body), plan.ground)
        return

    def work(parts: slice) -> None:
        for row in rows[parts].tolist():
            own = slice(row, row + 1)
            positions = whole_positions(body, own)
            cast_shadows(shadows.rows(own), plan.light, positions, plan.ground)

    if len(rows) > 1:
        threads.run_slices(work, len(rows))
    else:
        work(slice(0, 1))


def _seen(body: Body, tick: int, wanted: Wanted | None) -> tuple[Afterimage, ...]:
    """The afterimages of a body that is deformed as it is at a tick."""
    if body.afterimages is None:
        return ()
    skin = body.positions, body.normals
    deform = partial(skin_moment, body)
    whose = None
    if wanted is not None:
        whose = np.zeros(len(body), np.bool_)
        whose[wanted.whole] = True
    kept = body.afterimages
    return tuple(see_afterimages(kept, tick, skin, deform, wanted=whose))
