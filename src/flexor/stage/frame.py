"""What is to be seen of a stage at one moment: skins, shadows, structures, camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.scene.character.camera import Camera
from flexor.scene.stage.moves import RATE
from flexor.stage.camera import camera_of
from flexor.stage.cast import Body, skin_body, whole_positions
from flexor.stage.effects.afterimages import Afterimage, keep_afterimages
from flexor.stage.effects.scenery import Scenery
from flexor.stage.effects.shadows import cast_shadows
from flexor.stage.state import StageState

__all__ = ["BodyFrame", "Frame", "make_frame"]

LONGEST = 12  # ticks from frame to frame over which the speed of a hand can be told


@dataclass(frozen=True, slots=True, eq=False)
class BodyFrame:
    """Characters of one body, posed and deformed.

    rows: int32 (n,), theirs on the stage; world: float32 (n, J, 3, 4), of nodes;
    positions, normals: of each surface, float32 (n, V, 3); shadow: float32 (n, P, 3),
    flat on the ground, None for none; has_shadow: bool (n,); afterimages: the oldest
    first.
    """

    rows: Ints
    world: Floats
    positions: tuple[Floats, ...]
    normals: tuple[Floats, ...]
    shadow: Floats | None
    has_shadow: NDArray[np.bool_]
    afterimages: tuple[Afterimage, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A moment of a stage; its arrays are those of the stage, until its next frame.

    shown: (S,), parts: (S, 2): what is seen of structures, see stage.effects.view;
    scenery: leaves, snow and drops, see stage.effects.scenery.
    """

    tick: int
    camera: Camera
    bodies: tuple[BodyFrame, ...]
    shown: NDArray[np.float64]
    parts: NDArray[np.float64]
    scenery: Scenery


def _keep(state: StageState, body: Body) -> None:
    """Keep what those look like who leave afterimages: by their move, or as a hand or
    foot of theirs is fast.
    """
    if body.afterimages is None:
        return
    moves = state.moves.move[body.rows]
    active = {group: own[moves] for group, own in body.group_moves.items()}
    settings = body.afterimages.settings
    if settings.fastest and len(body.ends):
        ends = body.world.matrices[..., 3][:, body.ends]
        ticks = state.tick - body.ends_at
        if 0 < ticks <= LONGEST and body.last_ends is not None:
            ways = np.linalg.norm(ends - body.last_ends, axis=2)
            is_fast = ways * (RATE / ticks) > settings.fastest
            for column, name in enumerate(body.plan.limbs):
                group = body.plan.limb_groups.get(name)
                if group is not None and is_fast[:, column].any():
                    before = active.get(group, np.zeros(len(body), bool))
                    active[group] = before | is_fast[:, column]
        if ticks:
            body.last_ends, body.ends_at = ends.copy(), state.tick
    keep_afterimages(body.afterimages, state.tick, active, body.positions, body.normals)


def _seen(state: StageState, body: Body) -> tuple[Afterimage, ...]:
    if body.afterimages is None:
        return ()
    return tuple(body.afterimages.seen(state.tick))


def make_frame(state: StageState, *, shadows: bool = True) -> Frame:
    """Deform all skins as they are now, and cast their shadows."""
    bodies = []
    for body in state.bodies:
        skin_body(body, state.tick)
        _keep(state, body)
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
                _seen(state, body),
            )
        )
    view = state.view
    return Frame(
        state.tick,
        camera_of(state.camera),
        tuple(bodies),
        view.shown,
        view.parts,
        state.scenery,
    )
