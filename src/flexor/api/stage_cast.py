"""Characters made ready for a stage: which clip is which role, limbs, feet, volumes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args
from weakref import WeakKeyDictionary

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.api.falling import FALLS, find_falls, find_leans, find_reaches, find_thrown
from flexor.api.feet import contacts_of, soles_of
from flexor.api.load_save import load
from flexor.api.made_clips import mirrored, motions_of
from flexor.api.reaching import LIMBS, Limbs
from flexor.arrays import Doubles, Ints
from flexor.convert.shape.hit_volumes import make_volumes
from flexor.draw.scene.build import part_names
from flexor.draw.scene.style import Style
from flexor.errors import FlexorError, SettingError
from flexor.files.text.toml_text import Keys, name_key, say_known
from flexor.maths import exact
from flexor.pose.ik.two_bone import Limb
from flexor.scene.character.clip import Clip
from flexor.scene.checks import check_kind
from flexor.scene.human.human import find_human
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.stage.effect_settings import AfterimageSettings
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.moves import HELD, NO_PARTS, RATE, Move
from flexor.scene.stage.plan import Actor, StageLook, StagePlan, WalkSettings
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.cast import BodyPlan, Playing
from flexor.stage.crowd.ground_speed import ground_velocity
from flexor.stage.effects.afterimages import PartGroup, group_parts
from flexor.stage.effects.layout import CHECKED
from flexor.stage.effects.shadows import (
    ShadowParts,
    body_parts,
    heaviest_nodes,
    scene_parts,
)

__all__ = ["CastBody", "Refuse", "make_cast", "refuse_of", "volumes_of"]

# Names that clips of roles have, if an actor does not say others.
USUAL = {
    "stance": ("stance", "idle", "stand"),
    "walk": ("walk", "walking"),
    "run": ("run", "running"),
    "back": ("back", "walk back", "walk-back"),
    "left": ("left", "sidestep", "strafe left"),
    "right": ("right", "strafe right"),
    "air": ("air", "falling"),
    "hit": ("hit",),
    "guarded": ("guarded",),
    "recoil": ("recoil", "hit"),
    "beaten": ("beaten", "fall", "death"),
    "won": ("won", "cheer", "victory"),
    **{role: names for role, (names, _) in FALLS.items()},
}
GOING = ("walk", "run", "back", "left", "right")
ONCE = ("hit", "guarded", "recoil", "beaten")
FADES = {"hit": 0.06, "guarded": 0.06, "recoil": 0.08, "beaten": 0.12}
MOVE_FADE = 0.1  # seconds
MOMENTS = 24  # of a clip, to see how fast it goes over the ground
MOMENT = 1 / 120  # seconds
ROUND = 0.21  # of a human's height: the radius of the circle that it is for others
FEET = ("leftFoot", "rightFoot")
Refuse = Callable[[Keys, str], FlexorError]


@dataclass(frozen=True, slots=True, eq=False)
class CastBody:
    """A character on a stage, and which rows of the cast are it."""

    hero: Character
    plan: BodyPlan
    rows: tuple[int, ...]
    radius: float


def make_cast(
    plan: StagePlan,
    characters: Mapping[str, Character] | None = None,
    refuse: Refuse | None = None,
) -> list[CastBody]:
    """The bodies of a plan's cast; those of one file and the same clips are one.

    characters: by what the plan calls their file, those that need not be loaded;
    refuse: makes the error for a fault of the plan, by its keys.
    """
    given = dict(characters or {})
    heroes: dict[str, Character] = {}
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, actor in enumerate(plan.cast):
        key = (
            actor.file,
            tuple(sorted(actor.clips.items())),
            tuple(sorted(actor.speeds.items())),
            actor.control == "none",
        )
        groups.setdefault(key, []).append(row)
        if actor.file not in heroes:
            heroes[actor.file] = _find_hero(actor, row, given, refuse)
    tables, table_of = plan.tables()
    firsts = np.cumsum([0, *(len(table.moves) for table in tables)]).tolist()
    cast = []
    for (file, *_), rows in groups.items():
        hero, first = heroes[file], rows[0]
        moves: dict[int, Move] = {}  # that any of them can do, by number
        for number in dict.fromkeys(table_of[row] for row in rows):
            table = tables[number]
            who = next(row for row in rows if table_of[row] == number)
            _check_clips(hero, plan.cast[who], who, table.moves, refuse)
            moves |= enumerate(table.moves, firsts[number])
        try:
            own = _plan_body(hero, plan.cast[first], moves, plan)
        except SettingError as error:
            raise refuse_of(refuse, ("character", first), str(error)) from None
        cast.append(CastBody(hero, own, tuple(rows), _find_radius(hero)))
    for number, table in enumerate(tables if cast else ()):
        who = table_of.index(number)
        _check_parts(table.moves, plan.cast[who], who, cast, refuse)
    _check_look(plan.look, list(heroes.values()), refuse)
    return cast


def refuse_of(refuse: Refuse | None, keys: Keys, fault: str) -> FlexorError:
    """The error of a fault at some keys of a plan: of its file, where it is of one."""
    if refuse is not None:
        return refuse(keys, fault)
    return SettingError(f"{name_key(keys)}: {fault}")


def _check_clips(
    hero: Character,
    actor: Actor,
    row: int,
    moves: Sequence[Move],
    refuse: Refuse | None,
) -> None:
    """Refuse clips that a character lacks where they are named: by it or by a move."""
    known = [*ROLES, *(move.clip for move in moves)]
    for role, name in actor.clips.items():
        keys = ("character", row, "clips", role)
        if role not in known:
            raise refuse_of(refuse, keys, f"no role {role!r}; {say_known(role, known)}")
        if name not in hero.clips:
            fault = f"{actor.name!r} has no {name!r}; {say_known(name, hero.clips)}"
            raise refuse_of(refuse, keys, fault)
    for move in moves:
        name = move.clip
        if name in actor.clips or name in hero.clips:
            continue
        if actor.control != "none":  # it need not do all that others do
            fault = (
                f"{actor.name!r} has no {name!r} for the move; "
                f"{say_known(name, hero.clips)}; others can be named in clips of "
                "the character"
            )
            raise refuse_of(refuse, _keys_of(actor, row, move, "clip"), fault)


def _keys_of(actor: Actor, row: int, move: Move, word: str) -> Keys:
    """Where a word of a move is, in the plan: in the stage's moves, or in its own."""
    own: Keys = () if actor.moves is None else ("character", row, "moves")
    return (*own, "move", move.name, word)


def _check_parts(
    moves: Sequence[Move],
    actor: Actor,
    row: int,
    cast: Sequence[CastBody],
    refuse: Refuse | None,
) -> None:
    """Refuse attacks that hit with nothing, or with parts that nobody has."""
    there = dict.fromkeys(part for own in cast for part in own.plan.volumes.parts)
    known = {part.casefold() for part in there}
    for move in moves:
        keys = _keys_of(actor, row, move, "parts")
        if not move.can_hit:
            raise refuse_of(refuse, keys, NO_PARTS)
        for part in move.parts:
            if move.kind == "attack" and part.casefold() not in known:
                fault = f"nobody has {part!r}; {say_known(part, there)}"
                raise refuse_of(refuse, keys, fault)


def _check_look(
    look: StageLook, heroes: Sequence[Character], refuse: Refuse | None
) -> None:
    """Refuse a style that is not there, and parts that nobody has."""
    styles = set(get_args(Style)) - {"heat"}
    if look.style not in styles:
        fault = f"{look.style!r}; {say_known(look.style, sorted(styles))}"
        raise refuse_of(refuse, ("look", "style"), fault)
    known = {name for hero in heroes for name in part_names(hero.scene)}
    for name in look.smooth or ():
        if name not in known:
            fault = f"nobody has {name!r}; {say_known(name, sorted(known))}"
            raise refuse_of(refuse, ("look", "smooth"), fault)


def _find_hero(
    actor: Actor, row: int, given: Mapping[str, Character], refuse: Refuse | None
) -> Character:
    if actor.file in given:
        check_kind(given[actor.file], Character, f"characters: {actor.file}")
        return given[actor.file]
    if actor.file == "mannequin":
        return _mannequin()
    try:
        return load(Path(actor.file))
    except FlexorError as error:
        if refuse is None:
            raise
        raise refuse(("character", row, "file"), str(error)) from None


@cache
def _mannequin() -> Character:
    """One for all stages, with all clips: what is found out about it stays."""
    return samples.fighter()


_volumes: WeakKeyDictionary[Character, HitVolumes] = WeakKeyDictionary()
_shadows: WeakKeyDictionary[Character, ShadowParts] = WeakKeyDictionary()


def volumes_of(hero: Character) -> HitVolumes:
    """The hit volumes of a character, made once."""
    found = _volumes.get(hero)
    if found is None:
        found = _volumes[hero] = make_volumes(hero.scene)
    return found


def _shadow_of(hero: Character) -> ShadowParts:
    """The parts of a character's shadow, made once."""
    found = _shadows.get(hero)
    if found is None:
        found = _shadows[hero] = scene_parts(hero.scene)
    return found


def _plan_body(
    hero: Character, actor: Actor, moves: Mapping[int, Move], plan: StagePlan
) -> BodyPlan:
    clips: dict[str, Clip | PackedClip] = {}
    roles, travels = _find_roles(hero, actor, clips, plan.walking)
    playing = {}
    for number, move in moves.items():
        name = actor.clips.get(move.clip, move.clip)
        if name not in hero.clips:
            continue
        clips[name] = hero.clips[name]
        speed = 1.0
        if move.kind not in HELD and clips[name].duration > 0:
            speed = clips[name].duration * RATE / move.total
        playing[number] = Playing(name, "once", speed, 0.0, MOVE_FADE)
    limbs, feet = _find_limbs(hero)
    every = [move for table in plan.tables()[0] for move in table.moves]
    has_attacks = any(move.kind == "attack" for move in every)
    none = HitVolumes(np.zeros(0, np.int32), np.zeros((0, 2, 3)), np.zeros(0), ())
    volumes = volumes_of(hero) if has_attacks else none
    thrown = find_thrown(hero, actor, every, roles, clips)
    has_skin = bool(hero.binds)
    loops = [own.clip for own in roles.values() if own.mode == "loop"]
    soles = soles_of(hero, limbs, feet) if plan.look.feet else None
    return BodyPlan(
        hero.layout,
        motions_of(hero, clips.values()),
        roles,
        playing,
        limbs,
        feet,
        volumes,
        tuple(hero.binds),
        _shadow_of(hero) if plan.look.shadows and has_skin else None,
        hero.layout.morph_columns,
        _find_checked(hero),
        *_find_groups(hero, moves, plan.effects.afterimages),
        soles,
        contacts_of(hero, clips, loops, soles),
        travels,
        find_reaches(hero, volumes, moves, playing, roles),
        "down back" in roles,
        thrown,
        find_leans(hero),
    )


def _find_checked(hero: Character) -> Ints:
    """Nodes of parts that effects look at: int32 (8,), -1 where there is none.

    Feet without toes end where they begin.
    """
    nodes = find_human(hero.skeleton, hero.scene.carried).nodes
    instead = {"leftToes": "leftFoot", "rightToes": "rightFoot"}
    found = [nodes.get(p, nodes.get(instead.get(p, ""), -1)) for p in CHECKED]
    return np.array(found, np.int32)


def _find_groups(
    hero: Character, moves: Mapping[int, Move], settings: AfterimageSettings
) -> tuple[tuple[PartGroup, ...], dict[int, int], dict[str, int]]:
    """Groups of parts that leave afterimages, and which moves and limbs do."""
    wanted = {n: move.afterimages for n, move in moves.items() if move.afterimages}
    limbs = {}
    if settings.fastest:
        limbs = {parts[2]: parts for parts in LIMBS.values()}
    if not (wanted or limbs) or not hero.binds:
        return (), {}, {}
    part_of_node, names = body_parts(hero.scene)
    faces, part_of_face = [], []
    for bind in hero.binds:
        primitive = hero.scene.meshes[hero.scene.node_mesh[bind.node]].primitives[
            bind.primitive
        ]
        corners = primitive.triangles()
        part = part_of_node[heaviest_nodes(hero.scene, bind.node, bind.primitive)]
        a, b, c = part[corners].T
        faces.append(corners)
        part_of_face.append(np.where(b == c, b, a))
    known = {name.casefold() for name in names}
    groups: list[PartGroup] = []
    numbers: dict[tuple[str, ...], int] = {}

    def number(parts: Sequence[str]) -> int | None:
        own = tuple(part for part in parts if part.casefold() in known)
        if own and own not in numbers:
            numbers[own] = len(groups)
            groups.append(group_parts(part_of_face, faces, names, own))
        return numbers.get(own)

    moved = {own: number(parts) for own, parts in wanted.items()}
    by_limb = {name: number(parts) for name, parts in limbs.items()}
    return (
        tuple(groups),
        {number: row for number, row in moved.items() if row is not None},
        {name: row for name, row in by_limb.items() if row is not None},
    )


def _find_roles(
    hero: Character,
    actor: Actor,
    clips: dict[str, Clip | PackedClip],
    walking: WalkSettings,
) -> tuple[dict[str, Playing], dict[str, Doubles]]:
    """How each role is played, and where clips of going down carry who plays them; puts
    clips into `clips`.
    """
    # Clips of which it cannot be told are taken to be made for the usual speeds.
    speeds = {
        "walk": walking.walk,
        "run": walking.run,
        "back": walking.back,
        "left": walking.side,
        "right": walking.side,
    }
    by_name = {_plain(name): name for name in reversed(list(hero.clips))}
    found: dict[str, str] = {}
    for role in ROLES:
        if role in actor.clips:
            found[role] = actor.clips[role]
            continue
        for usual in USUAL[role]:
            if usual in by_name:
                found[role] = by_name[usual]
                break
    roles: dict[str, Playing] = {}
    for role, name in found.items():
        if role in FALLS:
            continue
        clips[name] = hero.clips[name]
        speed = actor.speeds.get(role, 0.0)
        if role in GOING and not speed:
            speed = _ground_speed(hero, name) or speeds[role]
        mode = "once" if role in ONCE else "loop"
        roles[role] = Playing(name, mode, 1.0, speed, FADES.get(role, 0.2))  # type: ignore[arg-type]
    if "walk" in roles and "back" not in roles:
        roles["back"] = replace(roles["walk"], speed=-1.0)
    if "left" in roles and "right" not in roles:
        turned = mirrored(hero, roles["left"].clip)
        clips[turned.name] = turned
        roles["right"] = replace(roles["left"], clip=turned.name)
    travels = find_falls(hero, found, roles, clips)
    for role in ROLES:
        # Who has guarded goes on with its guard; who lies is in its last pose.
        is_kept = role == "guarded" or role.startswith(("down", "lie"))
        if role not in roles and not is_kept and "stance" in roles:
            roles[role] = replace(roles["stance"], own_speed=0.0)
    return roles, travels


def _plain(name: str) -> str:
    """A clip's name without what exporters put around it: "Armature|Walk_root.001" is
    "walk".
    """
    last = name.casefold().split("|")[-1].strip()
    last = re.sub(r"\.\d+$", "", last)
    return re.sub(r"[ _-](root|loop|inplace|in place)$", "", last)


def _ground_speed(hero: Character, clip: str) -> float:
    """Metres a second at which a clip on the spot would carry it; 0: not certain."""
    length = hero.clip_tables(clip).duration
    if length <= 2 * MOMENT or not hero.binds:
        return 0.0
    times = np.linspace(0, length - MOMENT, MOMENTS)
    before, after = (
        np.concatenate([skin.positions for skin in hero.deform_many(poses)], 1)
        for poses in (
            hero.pose_many(clip, times),
            hero.pose_many(clip, times + MOMENT),
        )
    )
    way = ground_velocity(before, after, MOMENT)
    return 0.0 if way is None else exact.hypot(way[0], way[2])


def _find_limbs(hero: Character) -> tuple[dict[str, Limb], dict[str, float]]:
    """Arms and legs by what ends them, and how high feet are over the floor at rest."""
    limbs: dict[str, Limb] = {}
    for name, parts in LIMBS.items():
        try:
            own = Limbs(hero, [name], keeps=name.endswith("leg"))
        except SettingError:  # it has none
            continue
        limbs[parts[2]] = own.state.limbs[0]
    feet = {}
    rest = hero.pose().world
    for part in FEET:
        if part in limbs:
            end = limbs[part].end
            node = hero.skeleton.index(end) if isinstance(end, str) else end
            feet[part] = max(float(rest[node, 1, 3]), 0.0)
    return limbs, feet


def _find_radius(hero: Character) -> float:
    """Metres of the circle that a character is for walls and for others."""
    skins = [skin.positions for skin in hero.deform(hero.pose())]
    points = np.concatenate([np.zeros((0, 3)), *skins])
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return 0.3
    wide = np.ptp(points, axis=0)
    is_human = not find_human(hero.skeleton, hero.scene.carried).lacks
    size = ROUND * wide[1] if is_human else min(wide[0], wide[2]) / 2
    return float(np.clip(size, 0.05, 10.0))
