"""A tick of a stage, 1/60 s: rule after rule, each in a module of its own.

input, combination moves, circling, friction and slope, zones and steps, attacks and
parries, motion with level difference and feet, afterimages, effects, camera and what
obstructs it. Skin and shadows come with `make_frame`, when a picture is wanted. Rules
that a stage does not need, such as zones where there are none, are left out of its
ticks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Masks
from flexor.errors import ShapeError
from flexor.scene.stage.layout import JUMP, THROW
from flexor.scene.stage.settings import MOST_ENERGY
from flexor.stage.attack import (
    end_parries,
    run_attack,
    run_falls,
    run_recoil,
    solid_parts,
)
from flexor.stage.camera import (
    keep_above,
    look_over,
    sight_points,
    span_bodies,
    step_camera,
    view_of,
)
from flexor.stage.effects.afterimage_rule import leave_afterimages
from flexor.stage.effects.scenery import step_scenery
from flexor.stage.effects.view import step_view
from flexor.stage.motion.move import TICK, move_bodies
from flexor.stage.movement.bodies import hold_at_steps, push_apart, stand
from flexor.stage.movement.buttons import find_pressed, record
from flexor.stage.movement.circling import walk
from flexor.stage.movement.ground import find_footing, slide_down
from flexor.stage.movement.layout import CONTROLS, HITTING, UP
from flexor.stage.movement.moves import go_ahead, step_moves, stop_moves
from flexor.stage.movement.pads import read_pads
from flexor.stage.movement.zones import keep_in_zones
from flexor.stage.opponents import choose_opponents, run_opponents
from flexor.stage.state import StageState
from flexor.stage.throws import run_throws

__all__ = ["TICK", "begin_stage", "rules_of", "step_stage"]

FARTHEST = 1e6  # metres, and radians

Rule = Callable[[StageState], None]


def begin_stage(state: StageState) -> StageState:
    """Make a new stage ready for its first tick: posed, and seen by its camera."""
    state.rules = rules_of(state)
    choose_opponents(state)
    move_bodies(state)
    leave_afterimages(state)
    step_view_point(state, at_once=True)
    return state


def rules_of(state: StageState) -> tuple[tuple[str, Rule], ...]:
    """The rules that this stage needs, by name, in the order of a tick."""
    plan, has_any = state.plan, len(state) > 0
    has_moves = has_any and len(state.tables) > 0
    has_faint = any(body.afterimages is not None for body in state.bodies)
    has_throws = len(state) > 1 and bool((state.tables.kinds == THROW).any())
    has_choice = len(state) > 2 and plan.fight.nearest_ticks > 0
    has_choice = has_choice and bool(state.looks.any())
    has_pads = bool((state.controls != CONTROLS.index("none")).any())
    wanted: tuple[tuple[str, Rule, bool], ...] = (
        ("falls", run_falls, has_moves),
        ("moves", run_moves, has_moves),
        ("opponents", run_opponents, has_choice),
        ("pads", run_pads, has_pads),
        ("circling", run_walk, has_any),
        ("slopes", run_slopes, has_any and state.has_slopes),
        ("advance", run_advance, has_any and bool(state.tables.advance.any())),
        ("recoil", run_recoil, has_moves),
        ("throws", run_throws, has_throws),
        ("apart", run_apart, len(state) > 1),
        ("zones", run_zones, has_any and len(state.zones.sides) > 0),
        ("steps", run_steps, has_any and state.has_steps),
        ("standing", run_stand, has_any),
        ("attack", run_attack, has_moves),
        ("motion", move_bodies, has_any),
        ("afterimages", leave_afterimages, has_faint),
        ("effects", run_effects, state.scenery.is_any),
        ("camera", step_view_point, has_any),
        ("view", run_view, len(plan.structures) > 0),
    )
    return tuple((name, rule) for name, rule, is_needed in wanted if is_needed)


def step_stage(state: StageState, buttons: Masks) -> None:
    """One tick; buttons: uint32 (N,), masks of what each character's pad holds."""
    read_input(state, buttons)
    state.tick += 1  # before it is done: at tick 0 nothing has moved yet
    for _, rule in state.rules:
        rule(state)


def read_input(state: StageState, buttons: Masks) -> None:
    """Take what is held in this tick, and keep it for a replay."""
    if getattr(buttons, "shape", None) != (len(state),):
        have = getattr(buttons, "shape", type(buttons).__name__)
        raise ShapeError(f"buttons: {have}, expected uint32 ({len(state)},)")
    _check_written(state)
    record(state.recorder, buttons)
    find_pressed(buttons, state.held, out=state.pressed)
    state.held[:] = buttons
    state.before[:] = state.places
    alive = state.fight.energy > 0
    if not np.array_equal(alive, state.alive):
        choose_opponents(state)
        np.equal(state.fight.falls.phase, UP, out=state.upright)
        state.upright &= alive
        stop_moves(state.moves, ~alive)  # also of whom a program has beaten
    np.equal(state.fight.stun, 0, out=state.can_act)
    state.can_act &= state.upright


def _check_written(state: StageState) -> None:
    """Refuse what was written to arrays and means nothing: kernels do not look."""
    others, count = state.opponents, len(state)
    if count and not -1 <= others.min() <= others.max() < count:
        raise ShapeError(f"opponents: {others.tolist()}, expected -1 to {count - 1}")
    for values, name, most in (
        (state.places, "places", FARTHEST),
        (state.headings, "headings", FARTHEST),
        (state.asked, "asked", FARTHEST),
        (state.slides, "slides", FARTHEST),
        (state.clocks, "clocks", FARTHEST),
        (state.fight.energy, "energy", MOST_ENERGY),
    ):
        if not np.abs(values).max(initial=0.0) <= most:
            is_wrong = ~(np.abs(values).reshape(count, -1).max(1) <= most)
            row = int(is_wrong.argmax())
            raise ShapeError(
                f"{name}: {values[row].tolist()} of character {row}, expected numbers "
                f"of at most {most:g}"
            )


def run_moves(state: StageState) -> None:
    """Single moves, chords and combinations; who throws has no hand free for others."""
    state.pressed[state.fight.is_throwing] = 0
    step_moves(
        state.tables,
        state.moves,
        state.pressed,
        state.held,
        state.clocks,
        state.can_act,
        out=state.started,
    )
    end_parries(state)
    state.is_acting = bool((state.moves.move >= 0).any())


def run_advance(state: StageState) -> None:
    """Moves that carry ahead do; before zones, so that walls hold them."""
    if state.is_acting:
        go_ahead(
            state.tables,
            state.moves,
            state.clocks,
            state.headings,
            state.opponents,
            state.radii,
            state.places,
        )


def run_pads(state: StageState) -> None:
    """What pads ask for; who is in a move, in the air or stunned does not walk."""
    _find_walkers(state)
    read_pads(state._pads, view_of(state.camera), TICK, state._speeds)


def _find_walkers(state: StageState) -> None:
    """Who can walk in this tick."""
    np.less(state.moves.move, 0, out=state.can_walk)
    state.can_walk &= state.can_act
    state.can_walk &= state.standing.grounded


def run_walk(state: StageState) -> None:
    """Walking and circling, of those who can; others glide until friction holds."""
    _find_walkers(state)
    walk(state._walkers, state._gait, TICK)


def run_slopes(state: StageState) -> None:
    """Slopes pull, friction holds; by the ground where each began the tick."""
    slide_down(
        state.footing,
        state.plan.friction,
        TICK,
        state.clocks,
        state.standing.grounded,
        state.going,
        state.slides,
        state.places,
    )


def run_apart(state: StageState) -> None:
    """Bodies keep apart; one that lies is in nobody's way, one that gets up comes to be
    so bit by bit.
    """
    radii, is_solid = state.radii, state.upright
    if state.fight.falls.is_any:
        radii, is_solid = solid_parts(state)
    push_apart(state.standing, radii, is_solid, state.places)


def run_zones(state: StageState) -> None:
    """Walls; who slides into one stops there."""
    keep_in_zones(
        state.zones,
        state.before,
        state.places,
        state.radii,
        touched=state.touched,
        normals=state.normals,
    )
    if state.touched.any():
        _stop_slides(state, state.normals)


def _stop_slides(state: StageState, normals: NDArray[np.float64]) -> None:
    """A wall takes what legs and slopes have given toward it, or that would be kept for
    later.
    """
    for speeds in (state.velocities, state.slides):
        into = np.minimum((speeds * normals).sum(1), 0.0)
        speeds -= into[:, None] * normals


def run_steps(state: StageState) -> None:
    """Steep ground is a wall to who is below it."""
    plan, normals = state.plan, np.zeros((len(state), 2))
    if not hold_at_steps(
        plan.ground, plan.walking.step, state.before, state.places, normals=normals
    ):
        return
    _stop_slides(state, normals)
    if len(state.zones.sides):
        # Who would go along steep ground into a wall stays.
        again = state.places.copy()
        keep_in_zones(state.zones, state.before, again, state.radii)
        is_stuck = normals.any(1) & (again != state.places).any(1)
        state.places[is_stuck] = state.before[is_stuck]


def run_stand(state: StageState) -> None:
    """On the ground, falling to it, or held in the air by a jump."""
    plan, moves = state.plan, state.moves
    find_footing(plan.ground, state.places, plan.friction, out=state.footing)
    state.flying[:] = False
    if state.is_acting:
        state.flying[:] = (state.tables.kinds[moves.move] == JUMP) & (moves.move >= 0)
        state.flying &= moves.phase == HITTING
    stand(
        state.standing,
        TICK,
        plan.friction.gravity,
        plan.walking.climb,
        state.clocks,
        state.footing.heights,
        state.flying,
        state.places,
    )


def run_effects(state: StageState) -> None:
    """Wind, leaves, snow, sand, water, marks, by where feet and heads are now."""
    from flexor.stage.effects.kernels.marks import place_parts

    scenery = state.scenery
    for body in state.bodies:
        place_parts(
            body.world.matrices,
            body.plan.checked,
            body.rows,
            state.places,
            scenery.parts,
        )
    step_scenery(scenery, state.tick, state.headings)


def step_view_point(state: StageState, *, at_once: bool = False) -> None:
    """The camera follows its rule, above the ground, and looks over hills."""
    camera, below = state.camera, state._eye_footing
    step_camera(
        camera,
        TICK,
        state.places,
        state.headings,
        state.opponents,
        span_bodies(state.bodies, state.spans),
        at_once=at_once,
    )
    if not state.has_slopes or camera.rule.rule == "fixed":
        keep_above(camera, float(below.heights[0]))
        return
    sight_points(camera, state._sight)
    find_footing(state.plan.ground, state._sight, state.plan.friction, out=below)
    keep_above(camera, float(below.heights[0]))
    look_over(camera, TICK, below.heights[1:], at_once=at_once)


def run_view(state: StageState) -> None:
    """What stands in the way of the camera is hidden, or comes back."""
    step_view(state.view, state.camera.eye[[0, 2]], state.places[:, [0, 2]])
