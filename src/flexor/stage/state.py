"""A stage in play: plain arrays of what its characters do, one row for each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from flexor.arrays import Bools, Bytes, Doubles, Ints, Masks
from flexor.errors import SettingError
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.plan import NEAREST, StagePlan
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.blocks import make_blocks
from flexor.stage.camera import CameraState, init_camera
from flexor.stage.cast import Body, BodyPlan, init_body
from flexor.stage.effects.scenery import Scenery, init_scenery
from flexor.stage.effects.shadow_walls import make_walls
from flexor.stage.effects.view import ViewState, init_view, make_view
from flexor.stage.hashing import Hashed, Unhashed, hashed_values
from flexor.stage.motion.layout import Strikes
from flexor.stage.motion.touch_tables import Touching, init_touching
from flexor.stage.movement.bodies import Standing, has_steps, init_standing
from flexor.stage.movement.buttons import InputRecorder, init_recorder
from flexor.stage.movement.circling import gait_of
from flexor.stage.movement.falls import lay_out_falls
from flexor.stage.movement.fight import (
    FightState,
    FightTables,
    init_fight,
    lay_out_fight,
)
from flexor.stage.movement.ground import Footing, find_footing, init_footing
from flexor.stage.movement.hits import Hits, init_hits
from flexor.stage.movement.layout import (
    CONTROLS,
    Aiming,
    FallRows,
    FallTable,
    Gait,
    Meeting,
    PadRows,
    Roles,
    Seen,
    Speeds,
    Walkers,
)
from flexor.stage.movement.moves import MoveState, MoveTables, init_moves, lay_out_moves
from flexor.stage.movement.pads import walk_speeds
from flexor.stage.movement.zones import ZoneTables, make_zones

__all__ = ["StageState", "body_of", "hash_state", "init_stage"]


@dataclass(slots=True, eq=False, kw_only=True)
class StageState:
    """N characters on a stage, and what is around them.

    tick: how many have passed; held, pressed: uint32 (N,), buttons; places: float64 (N,
    3), metres; before: where they were a tick ago; headings: (N,), radians; clocks:
    (N,), speed of each one's own time; asked: (N, 2), metres a second ahead and to the
    right; going: (N, 2), what of that is done; velocities: (N, 2), along x and z, that
    legs have given; efforts: (N,), by which legs push, metres a second squared;
    circling: bool (N,), who goes around its opponent; slides: (N, 2), what slopes have
    given, metres a second; sinks: (N,), metres that hips give way; radii: (N,), of
    bodies; opponents: int32 (N,), -1 for none; controls: uint8 (N,), numbers in
    CONTROLS; touched: bool (N,), who touches a wall, normals: (N, 2), from there;
    started: int32 (N,), moves that began in the last tick; roles: int32 (N,), what each
    is seen to do, moves behind ROLES; rates: (N,), how fast that is played; has_won:
    bool (N,); can_act, can_walk, flying, alive: bool (N,); planted: float64 (N,), how
    much of each one's feet follows the ground; stands: bool (N,), who is on its feet;
    kinds: int32 (N,), number of its body; upright: bool (N,), who is neither beaten nor
    down; looks: bool (N,), whose opponent is the nearest; teams: int32 (N,), -1 for
    none; fights, fall_table: what fights and falls know of moves and bodies; is_acting:
    whether anybody is in a move; chance: the one source of all that is random.
    """

    plan: Unhashed[StagePlan]
    tables: Unhashed[MoveTables]
    zones: Unhashed[ZoneTables]
    chance: Hashed[np.random.Generator]
    held: Hashed[Masks]
    pressed: Hashed[Masks]
    places: Hashed[Doubles]
    before: Hashed[Doubles]
    headings: Hashed[Doubles]
    clocks: Hashed[Doubles]
    asked: Hashed[Doubles]
    going: Hashed[Doubles]
    velocities: Hashed[Doubles]
    efforts: Hashed[Doubles]
    circling: Hashed[Bools]
    slides: Hashed[Doubles]
    sinks: Hashed[Doubles]
    radii: Hashed[Doubles]
    opponents: Hashed[Ints]
    controls: Hashed[Bytes]
    touched: Hashed[Bools]
    normals: Hashed[Doubles]
    started: Hashed[Ints]
    roles: Hashed[Ints]
    rates: Hashed[Doubles]
    changed: Hashed[Bools]
    has_won: Hashed[Bools]
    can_act: Hashed[Bools]
    can_walk: Unhashed[Bools]
    flying: Hashed[Bools]
    alive: Hashed[Bools]
    planted: Hashed[Doubles]
    stands: Unhashed[Bools]
    kinds: Unhashed[Ints]
    own_speeds: Unhashed[Doubles]
    upright: Hashed[Bools]
    looks: Unhashed[Bools]
    teams: Unhashed[Ints]
    fights: Unhashed[FightTables]
    fall_table: Unhashed[FallTable]
    spans: Unhashed[Doubles]
    footing: Hashed[Footing]
    standing: Hashed[Standing]
    moves: Hashed[MoveState]
    fight: Hashed[FightState]
    hits: Unhashed[Hits]
    touching: Hashed[Touching]
    view: Hashed[ViewState]
    camera: Hashed[CameraState]
    recorder: Unhashed[InputRecorder]
    scenery: Hashed[Scenery]
    tick: Hashed[int] = 0
    has_slopes: Hashed[bool] = False
    has_steps: Hashed[bool] = False
    is_acting: Hashed[bool] = False
    rules: Unhashed[tuple[tuple[str, Callable[[StageState], None]], ...]] = ()
    _sight: Hashed[Doubles] = field(
        default_factory=lambda: np.zeros((13, 3)), repr=False
    )
    _eye_footing: Hashed[Footing] = field(
        default_factory=lambda: init_footing(13), repr=False
    )
    bodies: Hashed[tuple[Body, ...]]  # last, as in the hash
    # Arrays of the above as kernels take them.
    _speeds: Unhashed[Speeds] = field(init=False, repr=False)
    _pads: Unhashed[PadRows] = field(init=False, repr=False)
    _seen: Unhashed[Seen] = field(init=False, repr=False)
    _gait: Unhashed[Gait] = field(init=False, repr=False)
    _walkers: Unhashed[Walkers] = field(init=False, repr=False)
    _shown: Unhashed[Roles] = field(init=False, repr=False)
    _strikes: Unhashed[Strikes] = field(init=False, repr=False)
    _aiming: Unhashed[Aiming] = field(init=False, repr=False)
    _meeting: Unhashed[Meeting] = field(init=False, repr=False)
    _falling: Unhashed[FallRows] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._speeds = walk_speeds(self.plan.walking)
        self._pads = PadRows(
            self.held,
            self.clocks,
            self.controls,
            self.opponents,
            self.can_walk,
            self.places,
            self.headings,
            self.asked,
            self.circling,
        )
        self._gait = gait_of(self.plan.friction)
        self._walkers = Walkers(
            self.clocks,
            self.opponents,
            self.circling,
            self.can_walk,
            self.standing.grounded,
            self.asked,
            self.footing.paces,
            self.footing.normals,
            self.footing.surfaces,
            self.velocities,
            self.efforts,
            self.going,
            self.places,
            self.headings,
        )
        self._seen = Seen(
            self.fight.energy,
            self.fight.stun,
            self.fight.struck,
            self.fight.is_new,
            self.has_won,
            self.moves.move,
            self.started,
            self.standing.grounded,
            self.standing.falls,
            self.going,
            self.footing.paces,
            self.kinds,
            self.clocks,
            self.before,
            self.places,
            self.fight.falls.phase,
            self.fight.falls.side,
        )
        self._aiming = Aiming(
            self.moves.move,
            self.moves.phase,
            self.fight.has_met,
            self.fight.energy,
            self.fight.falls.phase,
            self.fight.is_throwing,
        )
        self._meeting = _meeting_rows(self)
        self._falling = fall_rows(self)
        self._shown = Roles(self.roles, self.changed, self.rates)
        self._strikes = Strikes(
            self.moves.move,
            self.moves.at,
            self.started,
            self.opponents,
            self.fight.has_met,
            self.fight.outcomes,
            self.tables.kinds,
            self.tables.heights,
            self.tables.phases,
        )

    def __len__(self) -> int:
        return len(self.places)


def _meeting_rows(state: StageState) -> Meeting:
    """What hands that parry look at, as the kernel takes it."""
    moves, fight = state.moves, state.fight
    return Meeting(
        moves.move,
        moves.at,
        moves.phase,
        fight.has_met,
        fight.opened,
        fight.has_parried,
        fight.falls.phase,
        state.places,
        state.headings,
    )


def fall_rows(state: StageState) -> FallRows:
    """What going down and getting up takes, as the kernel takes it."""
    falls = state.fight.falls
    return FallRows(
        state.kinds,
        state.clocks,
        state.fight.energy,
        state.headings,
        state.held,
        state.pressed,
        falls.phase,
        falls.side,
        falls.at,
        falls.kept,
        state.fight.stun,
        state.places,
    )


def body_of(state: StageState, row: int) -> tuple[Body, int]:
    """The body of a character, and its row in it."""
    body = state.bodies[int(state.kinds[row])]
    return body, int(np.flatnonzero(body.rows == row)[0])


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
    own_tables, table = plan.tables()
    tables = lay_out_moves(own_tables, plan.pads)
    kept, chance = plan.effects.afterimages, np.random.default_rng(plan.seed)
    made = tuple(init_body(own, rows, tables.moves, kept) for own, rows in bodies)
    kinds = _kinds(made, count)
    _set_walls(plan, made)
    hits = init_hits([made[kind].plan.volumes for kind in kinds.tolist()])
    state = StageState(
        plan=plan,
        bodies=made,
        tables=tables,
        zones=make_zones([*plan.zones, *_walls(plan.structures)]),
        chance=chance,
        held=np.zeros(count, np.uint32),
        pressed=np.zeros(count, np.uint32),
        places=np.zeros((count, 3)),
        before=np.zeros((count, 3)),
        headings=np.array([actor.heading for actor in plan.cast], np.float64),
        clocks=np.ones(count),
        asked=np.zeros((count, 2)),
        going=np.zeros((count, 2)),
        velocities=np.zeros((count, 2)),
        efforts=np.zeros(count),
        circling=np.zeros(count, bool),
        slides=np.zeros((count, 2)),
        sinks=np.zeros(count),
        radii=_radii(plan, radii),
        opponents=np.full(count, -1, np.int32),
        controls=np.array([CONTROLS.index(a.control) for a in plan.cast], np.uint8),
        touched=np.zeros(count, bool),
        normals=np.zeros((count, 2)),
        started=np.full(count, -1, np.int32),
        roles=np.full(count, -1, np.int32),
        rates=np.ones(count),
        changed=np.zeros(count, bool),
        has_won=np.zeros(count, bool),
        can_act=np.ones(count, bool),
        can_walk=np.ones(count, bool),
        flying=np.zeros(count, bool),
        alive=np.ones(count, bool),
        planted=np.ones(count),
        stands=np.ones(count, bool),
        kinds=kinds,
        own_speeds=_own_speeds(made),
        upright=np.ones(count, bool),
        looks=np.array([actor.opponent == NEAREST for actor in plan.cast], bool),
        teams=_teams(plan),
        fights=lay_out_fight(tables, _reaches(made, len(tables)), table),
        fall_table=lay_out_falls([body.plan.travels for body in made]),
        spans=np.zeros((count, 6)),
        footing=init_footing(count),
        standing=init_standing(count),
        moves=init_moves(count, table),
        fight=init_fight(count, plan.fight),
        hits=hits,
        touching=init_touching(made, count),
        view=init_view(make_view(plan.structures), plan.view),
        camera=_camera(plan),
        recorder=init_recorder(count),
        scenery=init_scenery(plan.effects, plan.ground, count, chance),
    )
    for kind, body in enumerate(made):
        state.fight.falls.can_fall[kinds == kind] = body.plan.can_fall
    _set_out(state)
    return state


def _kinds(bodies: Sequence[Body], count: int) -> Ints:
    """The number of each one's body: int32 (N,)."""
    kinds = np.zeros(count, np.int32)
    for number, body in enumerate(bodies):
        kinds[body.rows] = number
    return kinds


def _set_walls(plan: StagePlan, bodies: Sequence[Body]) -> None:
    """Let shadows fall on structures."""
    walls = make_walls(plan.structures, plan.ground)
    for body in bodies:
        if body.shadows is not None:
            body.shadows.walls = walls


def _teams(plan: StagePlan) -> Ints:
    """Numbers of teams, -1 for none: int32 (N,)."""
    names = [actor.team for actor in plan.cast]
    return np.array([names.index(name) if name else -1 for name in names], np.int32)


def _reaches(bodies: Sequence[Body], count: int) -> Doubles:
    """Metres within which each of so many moves of each kind of body meets: (K, M)."""
    found = np.zeros((max(len(bodies), 1), count))
    for row, body in enumerate(bodies):
        for number, reach in body.plan.reaches.items():
            found[row, number] = reach
    return found


def _radii(plan: StagePlan, radii: Sequence[float]) -> Doubles:
    """Metres of the circle that each is: as the plan says, or by its body."""
    own = [
        wide if actor.radius is None else actor.radius
        for actor, wide in zip(plan.cast, radii, strict=True)
    ]
    return np.array(own, np.float64)


def _own_speeds(bodies: Sequence[Body]) -> Doubles:
    """Metres a second at which clips of roles carry each kind of body: (K, R)."""
    found = np.zeros((max(len(bodies), 1), len(ROLES)))
    for number, body in enumerate(bodies):
        for column, playing in enumerate(body.playing[: len(ROLES)]):
            if playing is not None:
                found[number, column] = playing.own_speed
    return found


def _set_out(state: StageState) -> None:
    """Put all where the plan says, on the ground."""
    plan = state.plan
    heights = plan.ground.heights
    state.has_slopes = bool((heights != heights[0, 0]).any())
    state.has_steps = has_steps(plan.ground, plan.walking.step)
    state._eye_footing.heights[:] = heights[0, 0]
    if not plan.fight.friendly:
        state.hits.teams[:] = state.teams
    for row, actor in enumerate(plan.cast):
        state.places[row, [0, 2]] = actor.place
    find_footing(plan.ground, state.places, plan.friction, out=state.footing)
    state.places[:, 1] = state.footing.heights
    state.before[:] = state.places


def _walls(structures: Sequence[Structure]) -> Iterator[Zone]:
    """Zones that keep characters out of what is solid."""
    for own in structures:
        if own.solid:
            yield Zone(own.footprint, keeps="out", name=own.name)


def _camera(plan: StagePlan) -> CameraState:
    rule = plan.camera
    blocks = make_blocks(plan.structures, partial(_heights_at, plan))
    return init_camera(rule, plan.row(rule.of) if rule.of else 0, blocks)


def _heights_at(plan: StagePlan, spots: Doubles) -> Doubles:
    """How high the ground is at spots (n, 2), x and z."""
    places = np.zeros((len(spots), 3))
    places[:, [0, 2]] = spots
    below = init_footing(len(places))
    find_footing(plan.ground, places, plan.friction, out=below)
    return below.heights


def hash_state(state: StageState) -> str:
    """A number, as a text, that two stages share only if all of their play is alike.

    It is of every array and number that a later tick may depend on, bit for bit: of the
    fields that say so, see `flexor.stage.hashing`.
    """
    found = hashlib.blake2b(digest_size=16)
    for value in hashed_values(state):
        if isinstance(value, np.random.Generator):
            found.update(repr((state.tick, value.bit_generator.state)).encode())
        elif isinstance(value, np.ndarray):
            found.update(np.ascontiguousarray(value).data)
        else:
            found.update(repr(value).encode())
    return found.hexdigest()
