"""Trunks that keep apart, and limbs that stop at the trunks of others."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools, Doubles
from flexor.pose.ik.two_bone import limb_ends, solve_two_bone
from flexor.pose.model_space import world_from_local
from flexor.stage.cast import Body
from flexor.stage.motion.layout import LOCKED
from flexor.stage.movement.bodies import hold_at_steps
from flexor.stage.movement.layout import RISING, UP
from flexor.stage.movement.zones import keep_in_zones
from flexor.stage.state import StageState

__all__ = ["find_stays", "keep_limbs_out", "keep_trunks_apart", "place_touch"]

BACK, LEAST = 0.85, 1e-3  # of a push that is kept in a tick, and metres that count
PASSES = 8  # the most that limbs are solved anew


def keep_trunks_apart(state: StageState) -> None:
    """Push those apart who lean into each other, as soon as all are posed: places, and
    with them whole bodies, but not through walls. Feet that stand stay where they are.
    """
    from flexor.stage.motion.kernels import touch as kernel_touch

    own, order, falls = state.touching, state.standing.order, state.fight.falls
    near, shoves, places = own.near, own.shoves, state.places
    if not kernel_touch.find_near(order, places, near):
        return
    near &= (falls.phase == UP) | (falls.phase == RISING)
    near &= state.standing.grounded
    if near.sum() < 2:
        return
    for body in state.bodies:
        place_touch(state, body, near)
    if not kernel_touch.shove_trunks(
        order, near, places, falls.holder, own.touch, shoves
    ):
        return
    before = places.copy()
    places[:, [0, 2]] += shoves
    if state.has_steps:
        plan = state.plan
        hold_at_steps(
            plan.ground,
            plan.walking.step,
            before,
            places,
            normals=np.zeros_like(shoves),
        )
    if len(state.zones.sides):
        keep_in_zones(state.zones, before, places, state.radii)
    moved = (places - before).astype(np.float32)
    for body in state.bodies:
        own_way = moved[body.rows]
        body.world.matrices[..., 3] += own_way[:, None]
        body.world.places[..., 3] += own_way
        body.player.places[..., 3] += own_way


def find_stays(state: StageState, body: Body) -> None:
    """Find limbs that are not moved: feet that stand, and hands that have taken hold of
    somebody, as long as their goals are known.
    """
    stays = state.touching.stays[:, : len(body.ends)]
    stays[body.rows] = body.footwork.phases == LOCKED
    if body.goals.is_any:
        is_holding = state.fight.is_throwing[body.rows]
        stays[body.rows] |= is_holding[:, None] & (body.goals.weights >= 1)


def keep_limbs_out(state: StageState) -> None:
    """Bring limbs that are in trunks of others back to their surface.

    A limb stays drawn back as it was in the last tick, and comes back bit by bit. Those
    that `find_stays` has found are left where they are, and what cannot fold so far
    stays in the trunk.
    """
    from flexor.stage.motion.kernels import touch as kernel_touch

    own = state.touching
    touch, near, stays, drawn = own.touch, own.near, own.stays, own.drawn
    order = state.standing.order
    is_near = kernel_touch.find_near(order, state.places, near)
    if not (is_near or own.is_drawn):
        return
    for body in state.bodies:
        world, spans = body.world.matrices[..., 3], body.spans
        own.ways[body.rows, : len(spans)] = (
            world[:, spans[:, 1]] - world[:, spans[:, 0]]
        )
    last = drawn.copy()
    if own.is_drawn:
        drawn *= BACK
        drawn[np.abs(drawn).max(2) < LEAST] = 0.0
        touch.pushes[:] = 0.0
        kernel_touch.draw_back(own.ways, last, drawn, touch)
        own.is_drawn = bool(drawn.any())
        if own.is_drawn:
            for body in state.bodies:
                _push(body, drawn)
    if not is_near:
        return
    for _ in range(PASSES):
        for body in state.bodies:
            place_touch(state, body, near)
        if not kernel_touch.push_limbs(order, near, state.places, stays, touch):
            return
        if not kernel_touch.draw_back(own.ways, last, drawn, touch):
            return
        own.is_drawn = True
        for body in state.bodies:
            _push(body, touch.pushes)


def place_touch(state: StageState, body: Body, near: Bools) -> None:
    """Where capsules and limbs are of those of a body among some characters, (N,)."""
    from flexor.stage.motion.kernels import touch as kernel_touch

    if body.limbs is not None:
        touch, volumes = state.touching.touch, body.plan.volumes
        kernel_touch.place_near(
            body.rows,
            near,
            body.world.matrices,
            volumes.nodes,
            volumes.ends,
            body.spans,
            touch.ends,
            touch.spans,
        )


def _push(body: Body, pushes: Doubles) -> None:
    """Solve limbs of those of a body that are pushed, by metres (N, L, 3)."""
    limbs = body.limbs
    if limbs is None:
        return
    own = pushes[body.rows, : len(body.ends)]
    is_pushed = own.any(2)
    if not is_pushed.any():
        return
    # Feet are not pushed down: there is the ground.
    is_foot = body.flats >= 0
    own[:, is_foot, 1] = np.maximum(own[:, is_foot, 1], 0.0)
    targets = limb_ends(limbs, body.world)
    targets += own.astype(np.float32)
    solve_two_bone(limbs, body.player.local, body.world, targets, weights=is_pushed)
    world_from_local(body.world, body.player.local)
