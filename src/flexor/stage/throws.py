"""Throws: two parts played together, by one who takes hold and one who is held.

In the tick in which a throw can take hold it does, of the opponent if that one is in
reach, else of the nearest: in front, on its feet and on the ground, as high as the
thrower, with no wall between. Who crouches or is in a jump passes it, and who presses a
parry within some ticks of the grip breaks it; a guard does not help. Who comes into
reach only then is thrown from there on: the two are in step, whenever it takes hold,
and however fast their own times run. The place of who is thrown goes with its clip, in
the frame of the thrower, as far as walls let it; hands are put on its body by inverse
kinematics. It lands as one that was struck down. A throw that takes hold of nobody is
not played to its end, which would throw the air: arms come back as they went out, and
it returns sooner.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.pose.play.voices import play
from flexor.scene.stage.buttons import ALL_BUTTONS
from flexor.scene.stage.layout import CROUCH, JUMP, PARRY, ROLES, THROW
from flexor.scene.stage.moves import RATE
from flexor.stage.cast import Thrown
from flexor.stage.effects.layout import CHECKED
from flexor.stage.motion.goals import ask_on
from flexor.stage.motion.touch import place_touch
from flexor.stage.movement.falls import hold, lie_down, stand_up, travelled
from flexor.stage.movement.layout import (
    BROKEN,
    GUARDED,
    HELD,
    HIT,
    HITTING,
    RETURN,
    THROWN,
)
from flexor.stage.movement.moves import forget_inputs, since_hit, stop_moves
from flexor.stage.movement.parry import end_push, is_in_front, push_back
from flexor.stage.movement.zones import keep_in_zones
from flexor.stage.state import StageState, body_of

__all__ = ["run_throws"]

AHEAD = math.radians(60)  # to either side of a thrower's heading: who is in front
LEVEL = 0.35  # metres by which one may stand higher than the other
EASE = 12.0  # ticks in which the two come to where their clips have them
GRIP = 8.0  # ticks in which hands come to their grip
NEAR = 1e-6  # ticks: sums of parts of ticks that are nearer to a whole one are it
ARM = 0.45  # metres: hands let go of what is farther from where the clip has them
TURNS = 0.1  # seconds in which one who took hold of nobody turns back
HIPS = CHECKED.index("hips")
HANDS = ("leftHand", "rightHand")
APART, APART_TICKS = 0.35, 14  # metres and ticks that two are pushed whose throw broke


def run_throws(state: StageState) -> None:
    """Throws take hold, go on, are broken, and end; before walls."""
    falls, moves, fight = state.fight.falls, state.moves, state.fight
    is_trying = (moves.phase == HITTING) & ~fight.has_met & (moves.move >= 0)
    is_trying &= state.tables.kinds[moves.move] == THROW
    if is_trying.any():
        _take_hold(state, is_trying)
    has_missed = (moves.phase == RETURN) & ~fight.has_met & (moves.move >= 0)
    has_missed &= state.tables.kinds[moves.move] == THROW
    for row in np.flatnonzero(has_missed).tolist():
        _give_up(state, row)
    if not fight.is_throwing.any():
        return
    for row in np.flatnonzero(falls.phase == HELD).tolist():
        _go_on(state, row)
    is_held = np.zeros(len(state), bool)
    is_held[falls.holder[falls.holder >= 0]] = True
    fight.is_throwing &= is_held


def _take_hold(state: StageState, is_trying: NDArray[np.bool_]) -> None:
    """All who can take hold do, of whom all could before any of them did."""
    found = {
        row: victim
        for row in np.flatnonzero(is_trying & state.can_act).tolist()
        if (victim := _find_victim(state, row)) >= 0
    }
    taken: set[int] = set()
    for row, victim in found.items():
        state.fight.has_met[row] = True
        if found.get(victim, -1) >= 0:  # who would throw is not thrown: it breaks
            state.fight.outcomes[row] = BROKEN
            _push_apart(state, row, victim)
        elif victim not in taken and row not in taken:
            taken |= {row, victim}
            _grip(state, row, victim)


def _give_up(state: StageState, row: int) -> None:
    """End a throw that took hold of nobody; of a combination, what would follow."""
    moves, move = state.moves, int(state.moves.move[row])
    state.fight.has_met[row] = True
    gone, total = float(moves.at[row]), state.tables.moves[move].total
    moves.combination[row] = -1
    moves.at[row] = max(gone, float(total - state.plan.fight.miss_ticks))
    body, at = body_of(state, row)
    playing = body.playing[len(ROLES) + move]
    if playing is not None:
        own = playing.speed
        play(
            body.player,
            playing.clip,
            who=[at],
            fade=TURNS,
            mode="once",
            speed=-own,
            start=gone * own / RATE,
        )


def _find_victim(state: StageState, row: int) -> int:
    """Whom one can take hold of now, -1 for nobody."""
    reach = float(state.tables.reach[state.moves.move[row]])
    way = state.places - state.places[row]
    away = exact.hypot_each(way[:, 0], way[:, 2])
    can_be = (away <= reach) & (np.abs(way[:, 1]) <= LEVEL)
    can_be &= state.upright & state.standing.grounded & ~state.flying
    can_be &= ~state.fight.is_throwing
    can_be[row] = False
    teams = state.hits.teams
    if teams[row] >= 0:
        can_be &= teams != teams[row]
    kinds = state.tables.kinds[state.moves.move]
    passes = (kinds == CROUCH) | (kinds == JUMP)
    can_be &= ~(passes & (state.moves.move >= 0) & (state.moves.phase == HITTING))
    rows = [
        other
        for other in np.flatnonzero(can_be).tolist()
        if is_in_front(state.places, state.headings, row, other, AHEAD)
        and _is_free(state, row, other)
    ]
    mine = int(state.opponents[row])
    return mine if mine in rows else min(rows, key=lambda r: float(away[r]), default=-1)


def _is_free(state: StageState, row: int, other: int) -> bool:
    """Whether no wall is between two."""
    if not len(state.zones.sides):
        return True
    there = state.places[[other]].copy()
    keep_in_zones(state.zones, state.places[[row]], there, np.array([0.01]))
    return bool((there == state.places[[other]]).all())


def _thrown(state: StageState, row: int, victim: int) -> Thrown | None:
    """How one is thrown by the move of another."""
    body = state.bodies[int(state.kinds[victim])]
    return body.plan.thrown.get(int(state.moves.move[row]))


def _grip(state: StageState, row: int, victim: int) -> None:
    """Let one take hold of another."""
    fight = state.fight
    fight.outcomes[row] = THROWN
    thrown = _thrown(state, row, victim)
    if thrown is None:  # it has no clip for it, and nothing to fall by: it is hit
        _hurt(state, row, victim)
        fight.stun[victim] = state.plan.fight.stun
        fight.struck[victim] = HIT
        fight.is_new[victim] = True
        stop_moves(state.moves, _only(victim, len(state)))
        return
    fight.is_throwing[row] = True
    forget_inputs(state.moves, row)
    hold(fight.falls, victim, row)
    fight.stun[victim] = 0
    stop_moves(state.moves, _only(victim, len(state)))
    state.slides[victim] = state.velocities[victim] = 0.0
    end_push(fight.recoil, victim)
    # What is left to where the clips have the two, as metres and a turn.
    dx, _, dz = (state.places[victim] - state.places[row]).tolist()
    away = exact.hypot(dx, dz)
    facing = float(state.headings[row])
    if away > 1e-6:
        facing = float(exact.atan2_each(dx, dz))
    turn = math.remainder(facing + math.pi - float(state.headings[victim]), math.tau)
    fight.falls.ease[victim, 2] = turn
    fight.falls.ease[victim, 3] = math.remainder(
        facing - float(state.headings[row]), math.tau
    )
    apart = thrown.apart if thrown.apart > 0 else away
    # Who comes into reach late is where its clip has it by then.
    x0, z0 = travelled(thrown.way, 0.0)
    x1, z1 = travelled(thrown.way, since_hit(state.tables, state.moves, row))
    s, c = exact.sin(facing), exact.cos(facing)
    left, ahead = x1 - x0, apart - (z1 - z0)
    fight.falls.ease[victim, 0] = state.places[row, 0] + ahead * s
    fight.falls.ease[victim, 0] -= state.places[victim, 0] + left * c
    fight.falls.ease[victim, 1] = state.places[row, 2] + ahead * c
    fight.falls.ease[victim, 1] -= state.places[victim, 2] - left * s


def _go_on(state: StageState, victim: int) -> None:
    """A tick of one who is held."""
    falls, fight = state.fight.falls, state.fight
    row = int(falls.holder[victim])
    move = int(state.moves.move[row])
    before = float(falls.at[victim])
    is_thrower = move >= 0 and state.tables.kinds[move] == THROW
    thrown = _thrown(state, row, victim) if is_thrower else None
    if thrown is None or not state.alive[row]:  # it was let go
        stand_up(falls, victim)
        return
    if before <= state.plan.fight.break_ticks and _presses_parry(state, victim):
        stand_up(falls, victim)
        fight.outcomes[row] = BROKEN
        stop_moves(state.moves, _only(row, len(state)))
        _push_apart(state, row, victim)
        _push_apart(state, victim, row)
        return
    tick = float(state.clocks[row])
    after = before + tick
    falls.at[victim] = after
    # Clips are a tick ahead of their moves, or what goes faster would not end.
    now = since_hit(state.tables, state.moves, row) + max(tick, 1.0)
    then = now - tick
    part = min(after / EASE, 1.0) - min(before / EASE, 1.0)
    ease = falls.ease[victim]
    state.headings[victim] += ease[2] * part
    state.headings[row] += ease[3] * part
    x0, z0 = travelled(thrown.way, then)
    x1, z1 = travelled(thrown.way, now)
    # Its way is that of one who is turned already.
    heading = state.headings[victim] + ease[2] * (1.0 - min(after / EASE, 1.0))
    s, c = exact.sin(heading), exact.cos(heading)
    left, ahead = x1 - x0, z1 - z0
    state.places[victim, 0] += ease[0] * part + c * left + s * ahead
    state.places[victim, 2] += ease[1] * part + c * ahead - s * left
    lands = thrown.lands - NEAR
    if lands <= now and (then < lands or before == 0.0):
        _hurt(state, row, victim)
    _put_hands(state, row, victim, after)
    if now + NEAR >= len(thrown.way) - 1:
        lie_down(falls, victim)


def _hurt(state: StageState, row: int, victim: int) -> None:
    """What a throw takes of the energy of who is thrown."""
    damage = float(state.tables.damage[state.moves.move[row]])
    state.fight.energy[victim] = max(state.fight.energy[victim] - damage, 0.0)


def _presses_parry(state: StageState, row: int) -> bool:
    """Whether one presses a button that does a parry of its own."""
    pressed = int(state.pressed[row]) & ALL_BUTTONS
    if not pressed:
        return False
    singles = state.tables.singles[state.moves.table[row]]
    own = [int(singles[bit]) for bit in range(len(singles)) if pressed >> bit & 1]
    count = len(state.tables)
    return any(0 <= m < count and state.tables.kinds[m] == PARRY for m in own)


def _push_apart(state: StageState, who: int, other: int) -> None:
    """Push one away from another after a throw that broke."""
    dx, _, dz = (state.places[who] - state.places[other]).tolist()
    away = exact.hypot(dx, dz)
    way = (dx / away, dz / away) if away > 1e-6 else (0.0, 1.0)
    push_back(state.fight.recoil, who, way, APART, APART_TICKS)
    state.fight.stun[who] = state.plan.fight.guard_stun
    state.fight.struck[who] = GUARDED
    state.fight.is_new[who] = True


def _put_hands(state: StageState, row: int, victim: int, ticks: float) -> None:
    """Ask the hands of a thrower to lie on the trunk of who is thrown, from tick to
    tick where they lie; the frame is that of its hips.
    """
    from flexor.stage.motion.kernels import touch as kernel_touch

    mine, at = body_of(state, row)
    theirs, there = body_of(state, victim)
    hips = int(theirs.plan.checked[HIPS])
    if hips < 0:
        return
    both = _only(row, len(state)) | _only(victim, len(state))
    for body in {id(own): own for own in (mine, theirs)}.values():
        place_touch(state, body, both)
    frame = theirs.world.matrices[there, hips].astype(np.float64)
    way = np.zeros(3)
    for name in HANDS:
        column = mine.goals.columns.get(name, -1)
        if column < 0:
            continue
        end = mine.world.matrices[at, int(mine.ends[column]), :, 3].astype(np.float64)
        off = end - frame[:, 3]
        if not kernel_touch.find_grip(state.touching.touch, row, column, victim, way):
            continue
        point = _into(frame, off + way)
        ask_on(
            mine.goals,
            at,
            name,
            other=victim,
            node=hips,
            point=point,
            weight=min(ticks / GRIP, 1.0),
            leash=ARM,
        )


def _into(frame: Doubles, way: Doubles) -> list[float]:
    """A direction of the world in a frame (3, 4) that is evenly scaled."""
    square = float((frame[:, 0] * frame[:, 0]).sum())
    found: list[float] = (exact.multiply(frame[:, :3].T, way) / square).tolist()
    return found


def _only(row: int, count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, bool)
    mask[row] = True
    return mask
