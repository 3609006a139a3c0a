"""Those who play, body by body: their motion, limbs, volumes, skin and shadows.

Characters of one body are posed and deformed in one call, whatever their number. Rows
of the stage need not stand together: a body knows which are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Floats, Ints
from flexor.deform.bind import Bind
from flexor.deform.vertices import SkinState, init_skin, skin_vertices
from flexor.maths import threads
from flexor.pose.ik.two_bone import Limb, TwoBoneState, init_two_bone
from flexor.pose.layout import Layout
from flexor.pose.model_space import WorldState, init_world
from flexor.pose.play.motion_set import MotionSet
from flexor.pose.play.player import PlayerState, init_player
from flexor.scene.stage.effect_settings import AfterimageSettings
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.moves import Move
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.effects.afterimages import (
    Afterimages,
    PartGroup,
    Skin,
    init_afterimages,
)
from flexor.stage.effects.shadows import ShadowParts, Shadows, init_shadows
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.motion.contacts import ClipContacts
from flexor.stage.motion.feet import Footwork, init_footwork, no_soles
from flexor.stage.motion.goals import Goals, init_goals
from flexor.stage.motion.layout import Soles
from flexor.stage.movement.layout import Feet

__all__ = [
    "Body",
    "BodyPlan",
    "Leans",
    "Playing",
    "Thrown",
    "init_body",
    "skin_body",
    "skin_moment",
    "whole_positions",
]

Mode = Literal["loop", "once"]
# What parries, where a move does not say it.
PARRIES = ("leftHand", "rightHand", "leftLowerArm", "rightLowerArm")
SLICE = 16  # characters that are deformed by one thread at a time
EVERY = slice(None)


@dataclass(frozen=True, slots=True)
class Playing:
    """How a role or a move is played.

    clip: its name; mode: whether it begins again at its end; speed: factor, below 0
    backward; own_speed: metres a second at which it carries who plays it over the
    ground, 0 for none; fade: seconds in which it is faded in.
    """

    clip: str
    mode: Mode = "loop"
    speed: float = 1.0
    own_speed: float = 0.0
    fade: float = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Thrown:
    """How one is thrown by a move.

    playing: what it plays; start: seconds in the clip at the grip; way: float64 (T, 2),
    metres to the left and ahead, a row for each tick of the thrower's clock since the
    grip; lands: ticks until it hits the ground; apart: metres that it then stands
    before the thrower by the clips, 0: as far as it does.
    """

    playing: Playing
    start: float
    way: Doubles
    lands: float
    apart: float


@dataclass(frozen=True, slots=True, eq=False)
class Leans:
    """Joints by which a body is thrown back.

    joints: int32 (P, 2), nodes and lanes; shares: float64 (P, 3), of the angles of
    trunk, head and arms.
    """

    joints: Ints
    shares: Doubles


NO_LEANS = Leans(np.zeros((0, 2), np.int32), np.zeros((0, 3)))


@dataclass(frozen=True, slots=True, eq=False)
class BodyPlan:
    """What bodies of one kind are made of.

    motions: its clips, laid out; roles: how they are played, by role; moves: how, by
    the number of a move; what is not there shows what was before; limbs: by the part
    that ends each, such as "rightHand"; feet: those that are put on the ground, and how
    high the end node is above the floor at rest, metres; volumes: that hit and are hit;
    binds: its surfaces; parts: of its shadow, None for none; columns: of morph weights
    by node; checked: int32 (8,), nodes of the parts of CHECKED, -1 where there is none;
    groups: of parts that leave afterimages; moved: by the number of a move, that of its
    group; limb_groups: by limb; travels: by role, float64 (T, 2), metres to the left
    and ahead that its clip carries who plays it, a row for each tick; reaches: by the
    number of a move, metres within which it meets one who stands; can_fall: whether
    there is a clip of going down; thrown: how it is thrown, by the number of a throw of
    anybody; leans: joints by which it is thrown back.
    """

    layout: Layout
    motions: MotionSet
    roles: Mapping[str, Playing]
    moves: Mapping[int, Playing]
    limbs: Mapping[str, Limb]
    feet: Mapping[str, float]
    volumes: HitVolumes
    binds: tuple[Bind, ...]
    parts: ShadowParts | None
    columns: Mapping[int, tuple[int, int]]
    checked: Ints
    groups: tuple[PartGroup, ...]
    moved: Mapping[int, int]
    limb_groups: Mapping[str, int]
    soles: Soles | None = None
    contacts: Mapping[str, ClipContacts] = field(default_factory=dict)
    travels: Mapping[str, Doubles] = field(default_factory=dict)
    reaches: Mapping[int, float] = field(default_factory=dict)
    can_fall: bool = True
    thrown: Mapping[int, Thrown] = field(default_factory=dict)
    leans: Leans = NO_LEANS


@dataclass(slots=True, eq=False)
class Body:
    """Characters of one kind.

    rows: int32 (n,), theirs on the stage; playing: by role, then by move, None where
    there is nothing to play; attacks, shields: bool (M + 1, H), volumes that hit, and
    that parry, in each move, none in the last row; strikes: int32 (M + 1,), the node
    that each move strikes with first, -1 for none; lifted: float64 (M + 1, L), which
    limbs a move lifts; ends: int32 (L,), nodes of limbs; spans: int32 (L, 2), those at
    which they begin and end; flats: float64 (L,), metres of feet above the floor at
    rest, -1 for hands; lifts, targets, tilts, weights: of limbs, (n, L, ...);
    has_lifts: whether any lift may be other than 0; last_moves: int32 (n,), of the last
    tick, and last_left: (n,), ticks that they had left; carried: (n, L), metres of
    lifts of moves that were cut; afterimages: None for none; group_moves: by group of
    parts, bool (M + 1,), which moves leave afterimages of them, none the last;
    last_ends: float32 (n, L, 3), where ends of limbs were in the last tick; goals:
    where rules ask ends of limbs to be in this tick; footwork: how feet stand;
    skinned_at: int64 (n,), the tick whose skin there is of each, and shaded_at: (n,),
    whose shadow; deformed: vertices that were so far; positions, normals: of each
    surface, float32 (n, V, 3); shadows: None for none.
    """

    plan: Unhashed[BodyPlan]
    rows: Unhashed[Ints]
    player: Hashed[PlayerState]
    world: Hashed[WorldState]
    playing: Unhashed[tuple[Playing | None, ...]]
    attacks: Unhashed[Bools]
    shields: Unhashed[Bools]
    strikes: Unhashed[Ints]
    lifted: Unhashed[Doubles]
    limbs: Unhashed[TwoBoneState | None]
    ends: Unhashed[Ints]
    spans: Unhashed[Ints]
    flats: Unhashed[Doubles]
    lifts: Hashed[Doubles]
    targets: Unhashed[Floats]
    tilts: Unhashed[Floats]
    weights: Unhashed[Floats]
    positions: Unhashed[list[Floats]]
    normals: Unhashed[list[Floats]]
    shadows: Unhashed[Shadows | None]
    _skins: Unhashed[list[tuple[slice, list[SkinState]]]]
    _alone: Unhashed[list[SkinState]]
    _whole: Unhashed[Floats | None]
    last_moves: Hashed[Ints]
    last_left: Unhashed[Doubles]
    carried: Hashed[Doubles]
    afterimages: Unhashed[Afterimages | None]
    group_moves: Unhashed[dict[int, Bools]]
    last_ends: Unhashed[Floats]
    goals: Unhashed[Goals]
    footwork: Hashed[Footwork]
    has_lifts: Unhashed[bool] = False
    deformed: Unhashed[int] = 0
    # Limbs as the kernel takes them.
    feet: Unhashed[Feet] = field(init=False, repr=False)
    skinned_at: Unhashed[NDArray[np.int64]] = field(init=False, repr=False)
    shaded_at: Unhashed[NDArray[np.int64]] = field(init=False, repr=False)

    # Of player and world, which know no hash, these belong to it.
    hash_order: ClassVar[tuple[str, ...]] = (
        *("player.local", "player.weights", "world.matrices", "player._marks"),
        *("player._voices", "player._targets", "player._fades"),
        *("lifts", "carried", "last_moves", "footwork"),
    )

    def __post_init__(self) -> None:
        self.feet = Feet(
            self.ends,
            self.flats,
            self.lifts,
            self.targets,
            self.tilts,
            self.weights,
        )
        self.skinned_at = np.full(len(self), -1, np.int64)
        self.shaded_at = np.full(len(self), -1, np.int64)

    def __len__(self) -> int:
        return len(self.rows)


def init_body(
    plan: BodyPlan,
    rows: Sequence[int],
    moves: Sequence[Move],
    settings: AfterimageSettings,
) -> Body:
    """State for characters of one kind, on some rows of a stage.

    moves: of all tables of the stage, by their numbers.
    """
    count = len(rows)
    names = list(plan.limbs)
    limbs = [plan.limbs[name] for name in names]
    state = init_two_bone(plan.layout, limbs, count) if limbs else None
    ends = [] if state is None else state._table[:, 2].tolist()
    attacks, shields, strikes, lifted = _find_strikes(plan, moves, names)
    shapes = [(count, bind.vertex_count, 3) for bind in plan.binds]
    skins = [
        (
            slice(first, min(first + SLICE, count)),
            [init_skin(bind, min(SLICE, count - first)) for bind in plan.binds],
        )
        for first in range(0, count, SLICE)
    ]
    vertices = sum(bind.vertex_count for bind in plan.binds)
    is_joined = plan.parts is not None and len(plan.binds) > 1
    player, world = init_player(plan.motions, count), init_world(plan.layout, count)
    kept = None
    if plan.groups:
        morphs = player.weights.shape[1]
        kept = init_afterimages(settings, plan.groups, world.matrices, morphs)
    return Body(
        plan,
        np.array(rows, np.int32),
        player,
        world,
        (
            *(plan.roles.get(role) for role in ROLES),
            *(plan.moves.get(number) for number in range(len(moves))),
        ),
        attacks,
        shields,
        strikes,
        lifted,
        state,
        np.array(ends, np.int32),
        np.zeros((0, 2), np.int32) if state is None else state._table[:, [0, 2]].copy(),
        np.array([plan.feet.get(name, -1.0) for name in names], np.float64),
        np.zeros((count, len(names))),
        np.zeros((count, len(names), 3), np.float32),
        np.zeros((count, len(names), 4), np.float32),
        np.zeros((count, len(names)), np.float32),
        [np.zeros(shape, np.float32) for shape in shapes],
        [np.zeros(shape, np.float32) for shape in shapes],
        None if plan.parts is None else init_shadows(plan.parts, count),
        skins,
        [init_skin(bind, 1) for bind in plan.binds] if plan.groups else [],
        np.zeros((count, vertices, 3), np.float32) if is_joined else None,
        np.full(count, -1, np.int32),
        np.zeros(count),
        np.zeros((count, len(names))),
        kept,
        _group_moves(plan, len(moves)),
        np.zeros((count, len(names), 3), np.float32),
        init_goals(count, names),
        init_footwork(player, plan.soles or no_soles(len(names)), plan.contacts),
    )


def _find_strikes(
    plan: BodyPlan, moves: Sequence[Move], limbs: Sequence[str]
) -> tuple[Bools, Bools, Ints, Doubles]:
    """What attacks and parries in each move, the node that strikes first, and which
    limbs are lifted: see `Body`.
    """
    count, known = len(moves) + 1, {name.casefold() for name in plan.volumes.parts}
    attacks = np.zeros((count, len(plan.volumes)), bool)
    shields, strikes = attacks.copy(), np.full(count, -1, np.int32)
    lifted = np.zeros((count, len(limbs)))
    for row, move in enumerate(moves):
        if move.kind == "parry":
            shields[row] = _shield(plan.volumes, move.parts or PARRIES)
        if move.kind != "attack":
            continue
        # Bodies of other shapes have other parts; that some have them is checked.
        own = [part for part in move.parts if part.casefold() in known]
        attacks[row, plan.volumes.rows(own)] = True
        if own:
            strikes[row] = plan.volumes.nodes[plan.volumes.rows(own[:1])[0]]
        for part in own:
            for column, name in enumerate(limbs):
                if name.casefold() == part.casefold():
                    lifted[row, column] = 1.0
    return attacks, shields, strikes, lifted


def _shield(volumes: HitVolumes, parts: Sequence[str]) -> Bools:
    """Which capsules parry: those of some parts, as far as a body has them; all, where
    it has none of them.
    """
    known = {name.casefold() for name in parts}
    found = np.array([part.casefold() in known for part in volumes.parts], bool)
    return found if found.any() else ~found


def _group_moves(plan: BodyPlan, count: int) -> dict[int, Bools]:
    """By group of parts, bool (M + 1,), which moves leave afterimages of them."""
    found: dict[int, Bools] = {}
    for number, group in plan.moved.items():
        found.setdefault(group, np.zeros(count + 1, bool))[number] = True
    return found


def skin_body(body: Body, tick: int, who: Ints | None = None) -> None:
    """Deform all surfaces where the nodes are at a tick, once.

    who: rows of the body that are to be seen, None: all of them.
    """
    behind = body.skinned_at != tick
    rows = np.flatnonzero(behind) if who is None else who[behind[who]]
    if not len(rows):
        return
    body.skinned_at[rows] = tick
    body.deformed += len(rows) * sum(part.shape[1] for part in body.positions)

    def skin(own: slice, states: Sequence[SkinState]) -> None:
        _skin_rows(
            body,
            states,
            body.world.matrices[own],
            body.player.weights[own],
            [part[own] for part in body.positions],
            [part[own] for part in body.normals],
        )

    def work(parts: slice) -> None:
        for own, states in body._skins[parts]:
            skin(own, states)

    def work_alone(parts: slice) -> None:
        states = [init_skin(bind, 1) for bind in body.plan.binds]
        for row in rows[parts].tolist():
            skin(slice(row, row + 1), states)

    if len(rows) == len(body):
        if len(body._skins) > 1:
            threads.run_slices(work, len(body._skins))
        else:
            work(slice(0, len(body._skins)))
    elif len(rows) > 1:  # they need not stand together
        threads.run_slices(work_alone, len(rows))
    else:
        work_alone(slice(0, 1))


def skin_moment(body: Body, world: Floats, weights: Floats) -> Skin:
    """The skin of one character at some other moment, in arrays of its own.

    world: float32 (1, J, 3, 4), of nodes; weights: float32 (1, M), of all morphs.
    """
    shapes = [(1, bind.vertex_count, 3) for bind in body.plan.binds]
    positions = [np.empty(shape, np.float32) for shape in shapes]
    normals = [np.empty(shape, np.float32) for shape in shapes]
    body.deformed += sum(part.size // 3 for part in positions)
    _skin_rows(body, body._alone, world, weights, positions, normals)
    return positions, normals


def _skin_rows(
    body: Body,
    states: Sequence[SkinState],
    world: Floats,
    weights: Floats,
    positions: Sequence[Floats],
    normals: Sequence[Floats],
) -> None:
    """Deform all surfaces of some characters."""
    for row, state in enumerate(states):
        first, width = body.plan.columns.get(state.bind.node, (0, 0))
        skin_vertices(
            state,
            world,
            np.ascontiguousarray(weights[:, first : first + width]),
            positions=positions[row],
            normals=normals[row],
        )


def whole_positions(body: Body, rows: slice = EVERY) -> Floats:
    """Vertices of all surfaces, one behind the other: float32 (n, V, 3)."""
    if body._whole is None:
        return body.positions[0][rows]
    first = 0
    for part in body.positions:
        body._whole[rows, first : first + part.shape[1]] = part[rows]
        first += part.shape[1]
    return body._whole[rows]
