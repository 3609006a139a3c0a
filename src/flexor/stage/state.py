"""A stage in play: plain arrays of what its characters do, one row for each."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import SettingError
from flexor.scene.stage_plan import NEAREST, NOBODY, ROLES, StagePlan
from flexor.scene.structure import Structure
from flexor.scene.zone import Zone
from flexor.stage.camera import CameraState, init_camera
from flexor.stage.cast import Body, BodyPlan, init_body
from flexor.stage.effects.scenery import Scenery, init_scenery
from flexor.stage.effects.view import ViewState, init_view, make_view
from flexor.stage.movement.bodies import Standing, init_standing
from flexor.stage.movement.buttons import InputRecorder, Masks, init_recorder
from flexor.stage.movement.fight import FightState, init_fight
from flexor.stage.movement.ground import Footing, find_footing, init_footing
from flexor.stage.movement.hits import Hits, init_hits
from flexor.stage.movement.moves import MoveState, MoveTables, init_moves, lay_out_moves
from flexor.stage.movement.pads import CONTROLS
from flexor.stage.movement.zones import ZoneTables, make_zones

__all__ = ["StageState", "choose_opponents", "hash_state", "init_stage"]

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROUND = 16  # corners of a round structure, as a wall


@dataclass(slots=True, eq=False)
class StageState:
    """N characters on a stage, and what is around them.

    tick: how many have passed; held, pressed: uint32 (N,), buttons; places: float64
    (N, 3), metres; before: where they were a tick ago; headings: (N,), radians;
    clocks: (N,), speed of each one's own time; asked: (N, 2), metres a second ahead and
    to the right; circling: bool (N,), who goes around its opponent; slides: (N, 2),
    what slopes have given, metres a second; sinks: (N,), metres that hips give way;
    radii: (N,), of bodies; opponents: int32 (N,), -1 for none; controls: uint8 (N,),
    numbers in CONTROLS; touched: bool (N,), who touches a wall; started: int32 (N,),
    moves that began in the last tick; roles: int32 (N,), what each is seen to do, moves
    behind ROLES; rates: (N,), how fast that is played; has_won: bool (N,); can_act,
    flying, solid, alive: bool (N,); planted: float64 (N,), how much of each one's feet
    follows the ground; kinds: int32 (N,), number of its body; is_acting: whether
    anybody is in a move; chance: the one source of all that is random.
    """

    plan: StagePlan
    bodies: tuple[Body, ...]
    tables: MoveTables
    zones: ZoneTables
    chance: np.random.Generator
    held: Masks
    pressed: Masks
    places: Doubles
    before: Doubles
    headings: Doubles
    clocks: Doubles
    asked: Doubles
    circling: Bools
    slides: Doubles
    sinks: Doubles
    radii: Doubles
    opponents: Ints
    controls: NDArray[np.uint8]
    touched: Bools
    started: Ints
    roles: Ints
    rates: Doubles
    changed: Bools
    has_won: Bools
    can_act: Bools
    flying: Bools
    solid: Bools
    alive: Bools
    planted: Doubles
    kinds: Ints
    own_speeds: Doubles
    attacks: Bools
    footing: Footing
    standing: Standing
    moves: MoveState
    fight: FightState
    hits: Hits
    view: ViewState
    camera: CameraState
    recorder: InputRecorder
    scenery: Scenery
    tick: int = 0
    has_slopes: bool = False
    is_acting: bool = False
    rules: tuple[tuple[str, Callable[[StageState], None]], ...] = ()
    _eye_footing: Footing = field(default_factory=lambda: init_footing(1), repr=False)

    def __len__(self) -> int:
        return len(self.places)


def init_stage(
    plan: StagePlan,
    bodies: Sequence[tuple[BodyPlan, Sequence[int]]],
    radii: Sequence[float],
) -> StageState:
    """A stage before its first tick.

    bodies: what characters are made of, and which of the cast have that body; radii:
    metres, of the circle that each of the cast is, unless the plan says so.
    """
    count = len(plan.cast)
    every = sorted(row for _, rows in bodies for row in rows)
    if every != list(range(count)):
        raise SettingError(f"bodies: of rows {every}, expected each of {count} once")
    moves = plan.moves.moves
    kept, chance = plan.effects.afterimages, np.random.default_rng(plan.seed)
    made = tuple(init_body(own, rows, moves, kept) for own, rows in bodies)
    kinds = np.zeros(count, np.int32)
    for number, body in enumerate(made):
        kinds[body.rows] = number
    hits = init_hits([made[kind].plan.volumes for kind in kinds.tolist()])
    camera = plan.camera
    state = StageState(
        plan,
        made,
        lay_out_moves(plan.moves, plan.pads),
        make_zones([*plan.zones, *_walls(plan.structures)]),
        chance,
        np.zeros(count, np.uint32),
        np.zeros(count, np.uint32),
        np.zeros((count, 3)),
        np.zeros((count, 3)),
        np.array([actor.heading for actor in plan.cast], np.float64),
        np.ones(count),
        np.zeros((count, 2)),
        np.zeros(count, bool),
        np.zeros((count, 2)),
        np.zeros(count),
        np.array(
            [
                wide if actor.radius is None else actor.radius
                for actor, wide in zip(plan.cast, radii, strict=True)
            ],
            np.float64,
        ),
        np.full(count, -1, np.int32),
        np.array([CONTROLS.index(actor.control) for actor in plan.cast], np.uint8),
        np.zeros(count, bool),
        np.full(count, -1, np.int32),
        np.full(count, -1, np.int32),
        np.ones(count),
        np.zeros(count, bool),
        np.zeros(count, bool),
        np.ones(count, bool),
        np.zeros(count, bool),
        np.ones(count, bool),
        np.ones(count, bool),
        np.ones(count),
        kinds,
        _own_speeds(made),
        np.zeros(hits.radii.shape, bool),
        init_footing(count),
        init_standing(count),
        init_moves(count),
        init_fight(count, plan.fight),
        hits,
        init_view(make_view(plan.structures), plan.view),
        init_camera(camera, plan.row(camera.of) if camera.of else 0),
        init_recorder(count),
        init_scenery(plan.effects, plan.ground, count, chance),
    )
    _set_out(state)
    return state


def _own_speeds(bodies: Sequence[Body]) -> Doubles:
    """Metres a second at which clips of roles carry each kind of body: (K, 12)."""
    found = np.zeros((max(len(bodies), 1), len(ROLES)))
    for number, body in enumerate(bodies):
        for column, playing in enumerate(body.playing[: len(ROLES)]):
            if playing is not None:
                found[number, column] = playing.own_speed
    return found


def _set_out(state: StageState) -> None:
    """Put all where the plan says, on the ground, each with an opponent."""
    plan = state.plan
    heights = plan.ground.heights
    state.has_slopes = bool((heights != heights[0, 0]).any())
    state._eye_footing.heights[:] = heights[0, 0]
    for row, actor in enumerate(plan.cast):
        state.places[row, [0, 2]] = actor.place
    find_footing(plan.ground, state.places, plan.friction, out=state.footing)
    state.places[:, 1] = state.footing.heights
    state.before[:] = state.places
    choose_opponents(state)


def _walls(structures: Sequence[Structure]) -> Iterator[Zone]:
    """Zones that keep characters out of what is solid."""
    for own in structures:
        if not own.solid:
            continue
        if own.ends is not None and own.thickness is not None:
            (ax, az), (bx, bz) = own.ends
            size = math.hypot(bx - ax, bz - az)
            ux, uz = (bx - ax) / size, (bz - az) / size
            half = own.thickness / 2
            nx, nz = -uz * half, ux * half
            corners = [
                (ax + nx, az + nz),
                (ax - nx, az - nz),
                (bx - nx, bz - nz),
                (bx + nx, bz + nz),
            ]
        elif own.middle is not None and own.radius is not None:
            turn = 2 * math.pi / ROUND
            corners = [
                (
                    own.middle[0] + own.radius * math.cos(turn * side),
                    own.middle[1] + own.radius * math.sin(turn * side),
                )
                for side in range(ROUND)
            ]
        yield Zone(np.array(corners), keeps="out", name=own.name)


def choose_opponents(state: StageState) -> None:
    """Give an opponent that can still fight to all who have none, as the plan says."""
    plan, alive = state.plan, state.fight.energy > 0
    state.alive[:] = alive
    rows = {actor.name: row for row, actor in enumerate(plan.cast)}
    for row, actor in enumerate(plan.cast):
        mine = int(state.opponents[row])
        state.has_won[row] = False
        if actor.opponent == NOBODY or (mine >= 0 and alive[mine]):
            continue
        if actor.opponent != NEAREST:
            other = rows[actor.opponent]
            state.has_won[row] = mine >= 0 and bool(alive[row])
            state.opponents[row] = other
            continue
        can_be = alive.copy()
        can_be[row] = False
        if not can_be.any():
            state.has_won[row] = mine >= 0 and bool(alive[row])
            continue
        away = state.places[:, [0, 2]] - state.places[row, [0, 2]]
        far = np.where(can_be, (away * away).sum(1), np.inf)
        state.opponents[row] = int(far.argmin())


def hash_state(state: StageState) -> str:
    """A number, as a text, that two stages share only if all of their play is alike.

    It is of every array that a later tick depends on, bit for bit.
    """
    found = hashlib.blake2b(digest_size=16)
    found.update(repr((state.tick, state.chance.bit_generator.state)).encode())
    for array in _every_array(state):
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _every_array(state: StageState) -> Iterator[NDArray[Any]]:
    fight, moves, standing = state.fight, state.moves, state.standing
    yield from (state.held, state.places, state.headings, state.clocks, state.asked)
    yield from (state.circling, state.slides, state.sinks, state.planted)
    yield from (state.opponents, state.roles, state.has_won, state.touched)
    yield from (moves.move, moves.at, moves.phase, moves.combination, moves.step)
    yield from (moves.left, moves.buffered, moves._marks)
    yield from (fight.energy, fight.stun, fight.struck, fight.has_met, fight.outcomes)
    recoil, camera, view = fight.recoil, state.camera, state.view
    yield from (recoil.amounts, recoil.given, recoil.ticks, recoil.left, recoil.slowed)
    yield from (standing.falls, standing.grounded, standing.order)
    yield from (camera.eye, camera.target, view.shown, view.parts)
    scenery = state.scenery
    if scenery.leaves is not None:
        leaves = scenery.leaves
        yield from (leaves.places, leaves.speeds, leaves.steps, leaves.angles)
    if scenery.snow is not None:
        yield from (scenery.snow.places, scenery.snow.phases)
    if scenery.churn is not None:
        churn = scenery.churn
        yield from (churn.places, churn.speeds, churn.ages, churn.left)
    for body in state.bodies:
        player = body.player
        yield from (player.local, player.weights, body.world.matrices)
        yield from (player._marks, player._voices, player._targets, player._fades)
