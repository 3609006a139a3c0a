"""What goes wrong in a stage that is played: looked at tick by tick.

    watch = init_watch(stage)
    while playing:
        stage.step(buttons)
        look(watch)
    print(watch.found.slides, watch.found.deepest_limb)

Nothing here changes the stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.api.stage import Stage
from flexor.arrays import Doubles, Ints
from flexor.maths import exact
from flexor.scene.human.human import find_human
from flexor.scene.stage.layout import ATTACK, JUMP, ROLES, THROW
from flexor.scene.stage.moves import RATE
from flexor.scene.stage.structure import Structure
from flexor.stage.cast import Body, skin_body
from flexor.stage.effects.shadows import body_parts, heaviest_nodes
from flexor.stage.movement.ground import find_footing, init_footing
from flexor.stage.movement.layout import GUARDED, HIT, PARRIED, THROWN, UP
from flexor.stage.movement.zones import keep_in_zones

__all__ = ["Found", "Watch", "init_watch", "look"]

SLIDE = 0.15  # metres a second: a planted foot that moves faster slides
SOLE = 0.015  # metres above the lowest point of a foot that belong to what it stands on
PLANTED = 0.05  # metres above the ground up to which a foot can be planted
AIRBORNE = 0.08  # metres: both feet of a runner are this high in the air
NEAR = 1.2  # metres that the eye is to stay clear of structures
SIGHT = 64  # places between the eye and what is looked at
HIDES = 0.6  # how much of a structure has to be seen, for it to hide what is behind
PICTURE = (640, 480)
SIDES = 24  # of a round structure
DEEP = 0.03  # metres: who is deeper in another is seen to be
OUT = 1e-4  # metres: who is farther outside of walls is outside
TRUNK = ("hips", "spine", "chest", "upperChest", "neck", "head")
LIMB = ("Hand", "LowerArm", "Foot", "LowerLeg")
# What comes of attacks that touched anybody, and of throws that took hold.
CONTACTS = (HIT, GUARDED, PARRIED, THROWN)
# Roles in which nobody stands on its feet.
OFF_FEET = ("air", "beaten", "down", "lie", "rise", "thrown")


@dataclass(slots=True)
class Found:
    """What was seen, added up over ticks.

    ticks: that were looked at; attacks: that began; contacts: of attacks that met
    somebody, whatever came of it; parries, throws, falls: attacks that were parried,
    throws that took hold, and how often somebody went down; stood: pairs of ticks and
    characters on their feet; slides: of those, in which the slower planted foot moves;
    fastest_slide: metres a second; near: ticks with the eye near or in a structure;
    outside: ticks with a head or a chest outside of the picture; hidden: ticks with one
    hidden by a structure;
    deepest_limb: metres of one's limb in another's trunk, by capsules; deep_limbs:
    ticks with more than 3 cm; deepest_trunk, deep_trunks: the same of one's trunk in
    another's; deepest_foot: metres under the ground; deep_feet: ticks
    with more than 2 cm; strayed: pairs of ticks and characters outside of walls;
    broken: ticks with a number that is not finite.
    """

    ticks: int = 0
    attacks: int = 0
    contacts: int = 0
    parries: int = 0
    throws: int = 0
    falls: int = 0
    stood: int = 0
    slides: int = 0
    fastest_slide: float = 0.0
    near: int = 0
    outside: int = 0
    hidden: int = 0
    deepest_limb: float = 0.0
    deep_limbs: int = 0
    deepest_trunk: float = 0.0
    deep_trunks: int = 0
    deepest_foot: float = 0.0
    deep_feet: int = 0
    strayed: int = 0
    broken: int = 0

    def add(self, other: Found) -> None:
        """Take what was seen elsewhere along."""
        for name in self.__slots__:
            mine, own = getattr(self, name), getattr(other, name)
            is_most = isinstance(mine, float)
            setattr(self, name, max(mine, own) if is_most else mine + own)


@dataclass(slots=True, eq=False)
class _Parts:
    """Of a kind of body: vertices of each foot, by surface; capsules of limbs and of
    the trunk; nodes of chest and head; where soles were a tick ago.
    """

    soles: tuple[tuple[Ints, ...], ...]
    limbs: Ints
    trunk: Ints
    seen: Ints
    before: list[Doubles] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Watch:
    """A stage that is looked at, and what was found so far; structures: corners (n, 2)
    of what each covers, and from which height to which it reaches, metres.
    """

    stage: Stage
    found: Found
    parts: list[_Parts]
    structures: list[tuple[Doubles, float, float]]
    last_tick: int
    was_down: NDArray[np.bool_]


def init_watch(stage: Stage) -> Watch:
    """Ready to look at a stage, from its next tick on."""
    parts = [_find_parts(stage, number) for number in range(len(stage.state.bodies))]
    structures = [_stands(stage, own) for own in stage.plan.structures]
    is_down = stage.state.fight.falls.phase != UP
    watch = Watch(stage, Found(), parts, structures, stage.tick, is_down)
    _keep_soles(watch)
    return watch


def look(watch: Watch) -> None:
    """Take a tick into account that has just been played."""
    stage, found = watch.stage, watch.found
    state = stage.state
    if state.tick != watch.last_tick + 1:  # it was set back
        watch.last_tick = state.tick
        _keep_soles(watch)
        return
    watch.last_tick = state.tick
    found.ticks += 1
    worlds = [body.world.matrices for body in state.bodies]
    numbers: list[NDArray[Any]] = [
        state.places,
        state.headings,
        state.camera.eye,
        *worlds,
    ]
    if not all(bool(np.isfinite(values).all()) for values in numbers):
        found.broken += 1
        return
    if len(state.tables):
        kinds = state.tables.kinds[state.started]
        is_attack = (state.started >= 0) & ((kinds == ATTACK) | (kinds == THROW))
        found.attacks += int(is_attack.sum())
        outcomes = state.fight.outcomes
        found.contacts += int(np.isin(outcomes, CONTACTS).sum())
        found.parries += int((outcomes == PARRIED).sum())
        found.throws += int((outcomes == THROWN).sum())
        is_down = state.fight.falls.phase != UP
        found.falls += int((is_down & ~watch.was_down).sum())
        watch.was_down = is_down
    _look_at_feet(watch)
    _look_at_limbs(watch)
    _look_through_camera(watch)
    _look_at_walls(watch)


def _find_parts(stage: Stage, number: int) -> _Parts:
    own, body = stage.cast[number], stage.state.bodies[number]
    scene = own.hero.scene
    part_of_node, names = body_parts(scene)
    known = [name.casefold() for name in names]
    soles = []
    for side in ("left", "right"):
        wanted = [
            row for row, name in enumerate(known)
            if name in (f"{side}foot", f"{side}toes")
        ]  # fmt: skip
        rows = []
        for bind in body.plan.binds:
            nodes = heaviest_nodes(scene, bind.node, bind.primitive)
            is_foot = np.isin(part_of_node[nodes], wanted)
            rows.append(np.flatnonzero(is_foot).astype(np.int32))
        soles.append(tuple(rows))
    parts = body.plan.volumes.parts
    limbs = [row for row, name in enumerate(parts) if name.endswith(LIMB)]
    trunk = [row for row, name in enumerate(parts) if name in TRUNK]
    human = find_human(own.hero.skeleton, scene.carried).nodes
    chest = next((human[part] for part in TRUNK[3:0:-1] if part in human), -1)
    seen = [node for node in (chest, human.get("head", -1)) if node >= 0]
    return _Parts(
        tuple(soles),
        np.array(limbs, np.int32),
        np.array(trunk, np.int32),
        np.array(seen, np.int32),
    )


def _soles(body: Body, parts: _Parts) -> list[Doubles]:
    """Vertices of the left and of the right foot: float64 (n, P, 3) each."""
    found = []
    for rows in parts.soles:
        own = [part[:, row] for part, row in zip(body.positions, rows, strict=True)]
        empty = np.zeros((len(body), 0, 3))
        found.append(np.concatenate([empty, *own], 1, dtype=np.float64))
    return found


def _keep_soles(watch: Watch) -> None:
    for body, parts in zip(watch.stage.state.bodies, watch.parts, strict=True):
        skin_body(body, watch.stage.tick)
        parts.before = _soles(body, parts)


def _look_at_feet(watch: Watch) -> None:
    """Whether the slower planted foot moves, and how deep feet are in the ground."""
    found, state = watch.found, watch.stage.state
    roles = np.array([role.split()[0] in OFF_FEET for role in ROLES])
    is_off = (state.roles < len(roles)) & roles[np.minimum(state.roles, len(roles) - 1)]
    move = state.moves.move
    jumps = (move >= 0) & (
        state.tables.kinds[move] == JUMP if len(state.tables) else False
    )
    stands = state.standing.grounded & state.alive & ~is_off & ~jumps
    deepest, is_deep = 0.0, False
    for body, parts in zip(state.bodies, watch.parts, strict=True):
        skin_body(body, state.tick)
        before, soles = parts.before, _soles(body, parts)
        parts.before = soles
        if not all(sole.shape[1] for sole in soles):
            continue
        clear = [_clearance(watch, sole) for sole in soles]
        for row, who in enumerate(body.rows.tolist()):
            if not stands[who]:
                continue
            lowest = [float(own[row].min()) for own in clear]
            deep = -min(lowest)
            deepest, is_deep = max(deepest, deep), is_deep or deep > 0.02
            if min(lowest) > AIRBORNE:
                continue
            speeds = [
                _sole_speed(own[row], last[row], high[row])
                for own, last, high in zip(soles, before, clear, strict=True)
            ]
            planted = [
                speed
                for speed, low in zip(speeds, lowest, strict=True)
                if low <= max(PLANTED, min(lowest))
            ]
            found.stood += 1
            found.slides += min(planted) > SLIDE
            found.fastest_slide = max(found.fastest_slide, min(planted))
    found.deepest_foot = max(found.deepest_foot, deepest)
    found.deep_feet += is_deep


def _sole_speed(now: Doubles, before: Doubles, clear: Doubles) -> float:
    """Metres a second over the ground of the slowest point that a foot stands on: who
    rolls over its ball or turns on it stands.
    """
    under = clear <= clear.min() + SOLE
    way = (now - before)[under][:, [0, 2]]
    return float(np.sqrt((way * way).sum(1)).min()) * RATE


def _clearance(watch: Watch, points: Doubles) -> Doubles:
    """Metres (n, P) that points (n, P, 3) are above the ground."""
    plan = watch.stage.plan
    flat = np.ascontiguousarray(points.reshape(-1, 3))
    below = init_footing(len(flat))
    find_footing(plan.ground, flat, plan.friction, out=below)
    found: Doubles = points[..., 1] - below.heights.reshape(points.shape[:2])
    return found


def _capsules(watch: Watch, who: int) -> tuple[Doubles, Doubles, _Parts] | None:
    """Ends (H, 2, 3) in the world and radii (H,) of a character's capsules."""
    for body, parts in zip(watch.stage.state.bodies, watch.parts, strict=True):
        at = np.flatnonzero(body.rows == who)
        if len(at) and len(body.plan.volumes):
            volumes = body.plan.volumes
            world = body.world.matrices[at[0]].astype(np.float64)[volumes.nodes]
            ends = (world[:, None, :, :3] * volumes.ends[:, :, None, :]).sum(-1)
            return ends + world[:, None, :, 3], volumes.radii, parts
    return None


def _look_at_limbs(watch: Watch) -> None:
    """How deep limbs and trunks are in the trunks of others."""
    found, state = watch.found, watch.stage.state
    deepest = {"limb": 0.0, "trunk": 0.0}
    reach = 2.5  # metres: who is farther away touches nobody
    for one in range(len(state)):
        for other in range(len(state)):
            away = np.abs(state.places[other] - state.places[one]).max()
            if one == other or away > reach:
                continue
            mine, theirs = _capsules(watch, one), _capsules(watch, other)
            if mine is None or theirs is None:
                continue
            ends, radii, parts = mine
            others, thick, trunk = theirs[0], theirs[1], theirs[2].trunk
            for name, rows in (("limb", parts.limbs), ("trunk", parts.trunk)):
                gaps = _distances(ends[rows], others[trunk])
                gaps -= radii[rows][:, None] + thick[trunk]
                # One in the middle of the other cannot be deeper than that is thick.
                deepest[name] = max(deepest[name], float(-gaps.min(initial=0.0)))
    found.deepest_limb = max(found.deepest_limb, deepest["limb"])
    found.deep_limbs += deepest["limb"] > DEEP
    found.deepest_trunk = max(found.deepest_trunk, deepest["trunk"])
    found.deep_trunks += deepest["trunk"] > DEEP


def _distances(one: Doubles, other: Doubles) -> Doubles:
    """Metres (A, B) between segments (A, 2, 3) and (B, 2, 3)."""
    p, u = one[:, None, 0], (one[:, 1] - one[:, 0])[:, None]
    q, v = other[None, :, 0], (other[:, 1] - other[:, 0])[None]
    w = p - q
    a, b, c = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    d, e = (u * w).sum(-1), (v * w).sum(-1)
    cross = a * c - b * b
    tiny = 1e-12
    s = np.where(cross > tiny, (b * e - c * d) / np.maximum(cross, tiny), 0.0)
    s = np.clip(s, 0, 1)
    t = np.clip((b * s + e) / np.maximum(c, tiny), 0, 1)
    s = np.clip((b * t - d) / np.maximum(a, tiny), 0, 1)
    t = np.clip((b * s + e) / np.maximum(c, tiny), 0, 1)
    apart = w + s[..., None] * u - t[..., None] * v
    found: Doubles = np.sqrt((apart * apart).sum(-1))
    return found


def _footprint(own: Structure) -> Doubles:
    """Corners (n, 2) of what a structure covers, in order."""
    if own.ends is not None and own.thickness is not None:
        ends = np.array(own.ends)
        along = ends[1] - ends[0]
        along /= exact.hypot(*along.tolist())
        across = np.array([-along[1], along[0]]) * own.thickness / 2
        return np.array(
            [ends[0] + across, ends[0] - across, ends[1] - across, ends[1] + across]
        )
    assert own.middle is not None
    assert own.radius is not None
    turn = np.arange(SIDES) * 2 * np.pi / SIDES
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    return np.array(own.middle) + own.radius * circle


def _stands(stage: Stage, own: Structure) -> tuple[Doubles, float, float]:
    """What a structure covers, and between which heights."""
    corners = _footprint(own)
    middle = np.array([[corners[:, 0].mean(), 0.0, corners[:, 1].mean()]])
    below = init_footing(1)
    find_footing(stage.plan.ground, middle, stage.plan.friction, out=below)
    under = float(below.heights[0])
    return corners, own.low + under, own.high + under


def _is_inside(corners: Doubles, at: Doubles) -> NDArray[np.bool_]:
    """Which places (n, 2) a footprint covers: bool (n,)."""
    after = np.concatenate([corners[1:], corners[:1]])
    x, z = at[:, :1], at[:, 1:]
    is_crossed = (corners[:, 1] > z) != (after[:, 1] > z)
    rise = np.where(is_crossed, after[:, 1] - corners[:, 1], 1.0)
    level = corners[:, 0] + (after - corners)[:, 0] * (z - corners[:, 1]) / rise
    found: NDArray[np.bool_] = (is_crossed & (x < level)).sum(1) % 2 == 1
    return found


def _gap(corners: Doubles, at: Doubles) -> float:
    """Metres from a place to a footprint, 0 in it."""
    if _is_inside(corners, at[None])[0]:
        return 0.0
    way = np.roll(corners, -1, 0) - corners
    foot = ((at - corners) * way).sum(1) / np.maximum((way * way).sum(1), 1e-12)
    off = at - corners - np.clip(foot, 0, 1)[:, None] * way
    return float(np.sqrt((off * off).sum(1)).min())


def _look_through_camera(watch: Watch) -> None:
    """Whether the eye is clear of structures, and heads and chests are seen."""
    found, stage = watch.found, watch.stage
    state = stage.state
    camera = stage.camera
    eye = np.array(camera.eye)
    points: list[NDArray[np.float64]] = []
    for body, parts in zip(state.bodies, watch.parts, strict=True):
        own = body.world.matrices[:, parts.seen, :, 3].astype(np.float64)
        points += list(own.reshape(-1, 3))
    if points:
        x, y, away = np.array(camera.project(np.array(points), PICTURE)).T
        is_out = (x < 0) | (y < 0) | (x > PICTURE[0]) | (y > PICTURE[1]) | (away <= 0)
        found.outside += bool(is_out.any())
    is_near = is_hidden = False
    for number, (corners, low, high) in enumerate(watch.structures):
        if low - NEAR < eye[1] < high + NEAR:
            is_near = is_near or _gap(corners, eye[[0, 2]]) < NEAR
        if is_hidden or state.view.shown[number] < HIDES or not points:
            continue
        way = np.array(points)[:, None] - eye
        sight = (eye + np.linspace(0, 1, SIGHT)[:, None] * way).reshape(-1, 3)
        is_level = (sight[:, 1] > low) & (sight[:, 1] < high)
        is_hidden = bool(_is_inside(corners, sight[is_level][:, [0, 2]]).any())
    found.near += is_near
    found.hidden += is_hidden


def _look_at_walls(watch: Watch) -> None:
    state = watch.stage.state
    if len(state.zones.sides):
        places = state.places.copy()
        keep_in_zones(state.zones, places.copy(), places, state.radii)
        away = np.abs(places - state.places).max(1)
        watch.found.strayed += int((away > OUT).sum())
