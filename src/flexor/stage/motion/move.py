"""The motion of a tick: what each body plays by what it does, where it stands, limbs
that meet who stands at another height, and feet on uneven ground.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from flexor.pose.ik.correct import level_offset
from flexor.pose.ik.two_bone import solve_two_bone
from flexor.pose.links import follow_links
from flexor.pose.model_space import world_from_local
from flexor.pose.play.player import advance
from flexor.pose.play.voices import play, stop
from flexor.scene.stage.layout import ATTACK, ROLES, THROWN
from flexor.scene.stage.moves import RATE
from flexor.stage.cast import Body, Playing
from flexor.stage.layout import ground_table
from flexor.stage.motion.goals import forget
from flexor.stage.motion.lean import lean, step_leans
from flexor.stage.motion.reach import reach_goals
from flexor.stage.motion.touch import find_stays, keep_limbs_out, keep_trunks_apart
from flexor.stage.movement.moves import since_hit
from flexor.stage.state import StageState

__all__ = ["TICK", "move_bodies"]

TICK = 1 / RATE  # seconds
STANCE = ROLES.index("stance")
# Roles in which nobody stands on its feet; moves come behind them.
OFF_FEET = ("air", "beaten", "down", "lie", "rise", "thrown")
_OFF_FEET = np.array([*(role.split()[0] in OFF_FEET for role in ROLES), False])
# Seconds in which one comes out of a move of its own, at least: who was on one leg with
# its back to the other stood on both and faced it in three ticks.
OUT = 0.12
CLEAR = 0.2  # metres above the floor down to which a foot may be bent
CUT = 1.5  # ticks that were left of a move that did not run to its end
CARRIED, LEAST = 0.75, 1e-4  # of a lift that is kept in a tick, and metres that count
EASE = 0.1  # of following the ground that feet take up or leave in a tick


def move_bodies(state: StageState) -> None:
    """Clips of what each does, limbs that reach up or down, feet on the ground."""
    from flexor.stage.movement.kernels import roles as kernel_roles

    before = state.roles.copy()
    kernel_roles.choose_roles(
        state.plan.walking.walk,
        TICK,
        state._seen,
        state.own_speeds,
        state._shown,
    )
    is_changed = bool(state.changed.any())
    # Feet leave the ground, and come to it, in some ticks, or they would jump.
    wanted = state.standing.grounded & state.upright
    state.planted += np.clip(wanted - state.planted, -EASE, EASE)
    np.logical_and(wanted, ~state.flying, out=state.stands)
    state.stands &= ~_OFF_FEET[np.minimum(state.roles, len(ROLES))]
    is_leaning = step_leans(state)
    clocks = state.clocks
    if state.fight.is_throwing.any():  # who is held is in step with who holds it
        holder = state.fight.falls.holder
        clocks = np.where(holder >= 0, clocks[holder], clocks)
    for body in state.bodies:
        if is_changed:
            _play_changed(state, body, before)
        rows, player = body.rows, body.player
        np.multiply(clocks[rows], state.rates[rows], out=player.speeds)
        _place(state, body)
        advance(player, TICK if state.tick else 0.0)
        follow_links(body.plan.layout, player.local)
        world_from_local(body.world, player.local)
        if is_leaning:
            lean(state, body)
    touching = state.touching
    can_touch = touching.touch.parts.size > 0 and len(state) > 1
    if can_touch:
        keep_trunks_apart(state)
    # Limbs when all are posed: some reach for others.
    for body in state.bodies:
        if body.limbs is not None:
            _move_limbs(state, body)
            find_stays(state, body)
            forget(body.goals)
    touching.is_bent = bool(touching.is_bent and touching.bends.any())
    if can_touch:
        keep_limbs_out(state)


def _place(state: StageState, body: Body) -> None:
    from flexor.stage.movement.kernels import roles as kernel_roles

    kernel_roles.put_places(
        body.rows, state.places, state.headings, state.sinks, body.player.places
    )
    body.world.places[:] = body.player.places


def _play_changed(state: StageState, body: Body, before: Ints) -> None:
    """Let who does something else be seen to; before: int32 (N,), what each did."""
    changed, roles = state.changed[body.rows], state.roles[body.rows]
    was_in_move = before[body.rows] >= len(ROLES)
    for role in np.unique(roles[changed]).tolist():
        who = np.flatnonzero(changed & (roles == role))
        playing = body.playing[role]
        if role == THROWN:
            _play_thrown(state, body, who)
        elif playing is not None:
            # Who comes onto the stage has nothing to fade from.
            fade = np.full(len(who), playing.fade if state.tick else 0.0)
            if role < len(ROLES):
                fade[was_in_move[who]] = max(playing.fade, OUT)
            _play(body, playing, who, fade)
        elif role == STANCE:
            stop(body.player, who=who, fade=0.2)


def _play_thrown(state: StageState, body: Body, who: NDArray[np.intp]) -> None:
    """Let those who are held play their part of the throw, from the grip on."""
    for row in who.tolist():
        holder = int(state.fight.falls.holder[body.rows[row]])
        thrown = body.plan.thrown.get(int(state.moves.move[holder]))
        if holder >= 0 and thrown is not None:
            own = thrown.playing
            late = since_hit(state.tables, state.moves, holder) / RATE
            play(
                body.player,
                own.clip,
                who=[row],
                fade=own.fade,
                mode=own.mode,
                speed=own.speed,
                start=thrown.start + late * own.speed,
            )


def _play(body: Body, playing: Playing, who: NDArray[np.intp], fade: Doubles) -> None:
    play(
        body.player,
        playing.clip,
        who=who,
        fade=fade,
        mode=playing.mode,
        speed=playing.speed,
    )


def _move_limbs(state: StageState, body: Body) -> None:
    """Level difference, feet that stand, goals of limbs."""
    from flexor.stage.motion.kernels import feet as kernel_feet
    from flexor.stage.motion.kernels import plant as kernel_plant

    has_feet = state.plan.look.feet and (state.has_slopes or body.footwork.has_feet)
    has_lifts = _find_lifts(state, body)
    is_bent = state.is_acting or state.touching.is_bent
    if not (has_feet or has_lifts or is_bent or body.goals.is_any):
        return
    world, footwork = body.world, body.footwork
    if footwork.has_feet:
        kernel_feet.lock_feet(
            TICK,
            state.tick == 0,
            body.rows,
            state.before,
            state.places,
            state.headings,
            state.sinks,
            state.stands,
            body.ends,
            world.matrices,
            footwork.heard,
            footwork.contacts,
            footwork.soles,
            footwork.own,
        )
    is_any = kernel_plant.plant_feet(
        ground_table(state.plan.ground),
        body.rows,
        state.places,
        state.planted if has_feet else np.zeros_like(state.planted),
        footwork.offsets,
        footwork.phases,
        footwork.soles,
        body.feet,
        state.sinks,
        world.matrices,
    )
    if is_bent and _bend_strikes(state, body):
        is_any = True
    if body.goals.is_any:
        reach_goals(state, body)
        is_any = True
    if not is_any or body.limbs is None:
        return
    solve_two_bone(
        body.limbs,
        body.player.local,
        world,
        body.targets,
        tilts=body.tilts,
        weights=body.weights,
    )
    _place(state, body)
    world_from_local(world, body.player.local)


def _bend_strikes(state: StageState, body: Body) -> bool:
    """Limbs that strike follow a target that leaves their track."""
    from flexor.stage.motion.kernels import link as kernel_link

    own = state.touching
    if not kernel_link.bend_strikes(
        body.rows,
        body.lifted,
        state.places,
        state.headings,
        own.near,
        body.targets,
        state._strikes,
        own.touch,
        own.aims,
    ):
        return False
    bends = own.bends[body.rows, : len(body.ends)]
    # Feet are not bent into the ground.
    is_foot = body.flats >= 0
    before = body.targets[:, is_foot, 1]
    body.targets += bends.astype(np.float32)
    floor = state.places[body.rows, 1][:, None] + body.flats[is_foot]
    body.targets[:, is_foot, 1] = np.maximum(
        body.targets[:, is_foot, 1], np.minimum(before, floor + CLEAR)
    )
    body.weights[bends.any(2)] = 1.0
    own.is_bent = True
    return True


def _find_lifts(state: StageState, body: Body) -> bool:
    """Metres that limbs of attackers are lifted to meet who stands at another height;
    gives whether any is.
    """
    if not state.is_acting and not body.has_lifts:
        return False
    before = body.lifts.copy()
    _set_lifts(state, body)
    moves = state.moves.move[body.rows]
    is_other = (moves != body.last_moves) | (state.started[body.rows] >= 0)
    is_cut = is_other & (body.last_left > CUT)
    body.last_moves[:] = moves
    left = state.tables.phases[moves, 2] - state.moves.at[body.rows]
    body.last_left[:] = np.where(moves >= 0, left, 0.0)
    # Where a move was cut, its lift goes in some ticks; while one runs it is exact.
    body.carried *= CARRIED
    body.carried[is_cut] += (before - body.lifts)[is_cut]
    body.carried[np.abs(body.carried) < LEAST] = 0.0
    body.lifts += body.carried
    body.has_lifts = bool(body.lifts.any())
    return body.has_lifts


def _set_lifts(state: StageState, body: Body) -> None:
    """The lifts that attacks ask for now."""
    moves, rows = state.moves.move[body.rows], body.rows
    opponents = state.opponents[rows]
    is_attack = (moves >= 0) & (opponents >= 0)
    body.lifts[:] = 0.0
    if is_attack.any():
        is_attack &= state.tables.kinds[moves] == ATTACK
        high = state.places[:, 1]
        apart = np.where(is_attack, high[opponents] - high[rows], 0.0)
        if apart.any():
            grounded = state.standing.grounded
            phases = state.tables.phases[np.where(is_attack, moves, 0)]
            offset = level_offset(
                apart,
                state.moves.at[rows],
                phases[:, 0],
                np.maximum(phases[:, 2], phases[:, 0] + 1),
                grounded[rows] & grounded[opponents],
            )
            np.multiply(body.lifted[moves], offset[:, None], out=body.lifts)
