"""What is to be seen of a stage at one moment: skins, shadows, structures, camera."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.scene.character.camera import Camera
from flexor.stage.camera import camera_of
from flexor.stage.cast import Body, skin_body, skin_moment, whole_positions
from flexor.stage.effects.afterimages import Afterimage, see_afterimages
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.shadows import cast_shadows
from flexor.stage.state import StageState

__all__ = ["BodyFrame", "Frame", "make_frame"]


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """Characters of one body, posed and deformed.

    rows: int32 (n,), theirs on the stage; world: float32 (n, J, 3, 4), of nodes;
    positions, normals: of each surface, float32 (n, V, 3); shadow: float32 (n, P, 3),
    flat on what it falls on, None for none; has_shadow: bool (n,); met: int32 (n, K),
    by part of the shadow, the structure that it falls on, -1 for the ground;
    afterimages: the oldest first.
    """

    rows: Ints
    world: Floats
    positions: tuple[Floats, ...]
    normals: tuple[Floats, ...]
    shadow: Floats | None
    has_shadow: NDArray[np.bool_]
    met: Ints | None = None
    afterimages: tuple[Afterimage, ...] = ()


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


def _seen(body: Body, tick: int) -> tuple[Afterimage, ...]:
    """The afterimages of a body that is deformed as it is at a tick."""
    if body.afterimages is None:
        return ()
    skin = body.positions, body.normals
    deform = partial(skin_moment, body)
    return tuple(see_afterimages(body.afterimages, tick, skin, deform))


def make_frame(state: StageState, *, shadows: bool = True) -> Frame:
    """Deform all skins as they are now, and cast their shadows.

    No tick depends on what is made here: whether and when it is called does not show.
    """
    bodies = []
    for body in state.bodies:
        skin_body(body, state.tick)
        shadow, met = None, None
        cast = np.zeros(len(body), bool)
        if shadows and body.shadows is not None:
            plan = state.plan
            cast_shadows(body.shadows, plan.light, whole_positions(body), plan.ground)
            shadow, cast = body.shadows.positions, body.shadows.is_cast
            met = body.shadows.met
        bodies.append(
            BodyFrame(
                body.rows,
                body.world.matrices,
                tuple(body.positions),
                tuple(body.normals),
                shadow,
                cast,
                met,
                _seen(body, state.tick),
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
