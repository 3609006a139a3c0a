"""What is to be seen of a stage at one moment: skins, shadows, structures, camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.scene.camera import Camera
from flexor.stage.camera import camera_of
from flexor.stage.cast import skin_body, whole_positions
from flexor.stage.effects.shadows import cast_shadows
from flexor.stage.state import StageState

__all__ = ["BodyFrame", "Frame", "make_frame"]


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """Characters of one body, posed and deformed.

    rows: int32 (n,), theirs on the stage; world: float32 (n, J, 3, 4), of nodes;
    positions, normals: of each surface, float32 (n, V, 3); shadow: float32 (n, P, 3),
    flat on the ground, None for none; has_shadow: bool (n,).
    """

    rows: Ints
    world: Floats
    positions: tuple[Floats, ...]
    normals: tuple[Floats, ...]
    shadow: Floats | None
    has_shadow: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A moment of a stage; its arrays are those of the stage, until its next frame.

    shown: (S,), parts: (S, 2): what is seen of structures, see stage.effects.view.
    """

    tick: int
    camera: Camera
    bodies: tuple[BodyFrame, ...]
    shown: NDArray[np.float64]
    parts: NDArray[np.float64]


def make_frame(state: StageState, *, shadows: bool = True) -> Frame:
    """Deform all skins as they are now, and cast their shadows."""
    bodies = []
    for body in state.bodies:
        skin_body(body)
        shadow = None
        cast = np.zeros(len(body), bool)
        if shadows and body.shadows is not None:
            plan = state.plan
            cast_shadows(body.shadows, plan.light, whole_positions(body), plan.ground)
            shadow, cast = body.shadows.positions, body.shadows.is_cast
        bodies.append(
            BodyFrame(
                body.rows,
                body.world.matrices,
                tuple(body.positions),
                tuple(body.normals),
                shadow,
                cast,
            )
        )
    view = state.view
    return Frame(
        state.tick, camera_of(state.camera), tuple(bodies), view.shown, view.parts
    )
