"""Clips of going down and getting up, and how far attacks reach, of a stage's cast."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flexor.api.character import Character
from flexor.api.made_clips import on_the_spot
from flexor.arrays import Doubles
from flexor.scene.character.clip import Clip
from flexor.scene.human.human import find_human
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.stage.moves import RATE, Move
from flexor.scene.stage.plan import Actor
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.cast import Leans, Playing, Thrown
from flexor.stage.movement.reaches import find_reach

__all__ = ["FALLS", "find_falls", "find_leans", "find_reaches", "find_thrown"]

# Roles of going down and getting up, what their clips are called, and what else they
# are played by where there are none; "": the last pose of the role before stays.
FALLS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "beaten back": (("beaten back", "collapse-back"), "beaten"),
    "beaten front": (("beaten front", "collapse-front"), "beaten"),
    "beaten left": (("beaten left", "collapse-left"), "beaten"),
    "beaten right": (("beaten right", "collapse-right"), "beaten"),
    "down back": (("down back", "down-back"), "beaten"),
    "down front": (("down front", "down-front"), "beaten"),
    "lie back": (("lie back", "lie-back"), ""),
    "lie front": (("lie front", "lie-front"), ""),
    "rise back": (("rise back", "rise-back"), "stance"),
    "rise front": (("rise front", "rise-front"), "stance"),
    "thrown": (("thrown",), "down back"),
}
MIRRORS = {"beaten left": "beaten right", "beaten right": "beaten left"}
SLOW = 0.4  # seconds in which who has no clip for it gets up
APART = 0.75  # metres from a thrower to who is thrown, where their clips begin
LANDED = 0.05  # metres above the lowest that hips come to: there one has landed
# Parts of trunk, head and arms that are thrown back.
BACKWARD = (
    ("spine", "chest", "upperChest"),
    ("neck", "head"),
    ("leftUpperArm", "rightUpperArm"),
)
ARMS = 2
MOST = 600  # ticks of a clip that carries who plays it


def find_falls(
    hero: Character,
    named: Mapping[str, str],
    roles: dict[str, Playing],
    clips: dict[str, Clip | PackedClip],
) -> dict[str, Doubles]:
    """Fill in the roles of going down and getting up, and their clips; gives by role
    where those carry who plays them: float64 (T, 2), metres to the left and ahead, a
    row a tick.

    named: clips that an actor, or their names, have for roles.
    """
    ways: dict[str, Doubles] = {}
    for role, (_, other) in FALLS.items():
        name, is_turned = named.get(role, ""), False
        if not name and role in MIRRORS:
            name, is_turned = named.get(MIRRORS[role], ""), True
        if name:
            _add(hero, role, name, is_turned, roles, clips, ways)
        elif other == "stance" and other in roles:
            roles[role] = replace(roles[other], own_speed=0.0, fade=SLOW)
        elif other and other in roles:
            if other == "beaten" and other not in named:
                continue
            roles[role] = roles[other]
            if other in ways:
                ways[role] = ways[other]
            else:
                _add(hero, role, named[other], False, roles, clips, ways)
    return ways


def _add(
    hero: Character,
    role: str,
    name: str,
    is_turned: bool,
    roles: dict[str, Playing],
    clips: dict[str, Clip | PackedClip],
    ways: dict[str, Doubles],
) -> None:
    """A role by a clip whose way over the ground is taken out of it."""
    still, motion = on_the_spot(hero, name, is_turned)
    fade = 0.1 if role.startswith(("lie", "rise", "thrown")) else 0.06
    roles[role] = Playing(still.name, "once", 1.0, 0.0, fade)
    clips[still.name] = still
    duration = hero.clips[name].duration
    ticks = min(max(math.ceil(duration * RATE), 1), MOST)
    moved = motion.at(np.arange(ticks + 1) / RATE)[:, [0, 2], 3]
    ways[role] = np.ascontiguousarray(moved - moved[0])


def find_thrown(
    hero: Character,
    actor: Actor,
    moves: Sequence[Move],
    roles: Mapping[str, Playing],
    clips: dict[str, Clip | PackedClip],
) -> dict[int, Thrown]:
    """By the number of a throw, how it throws one; puts clips into `clips`. Who has not
    its clip goes down from where it stands, if it has one for that.
    """
    found: dict[int, Thrown] = {}
    for number, move in enumerate(moves):
        if move.kind != "throw":
            continue
        name = actor.clips.get(move.thrown, move.thrown)
        left = move.total - move.start
        if name in hero.clips:
            still, motion = on_the_spot(hero, name)
            own = still.name
            clips[own] = still
            speed = hero.clips[name].duration * RATE / move.total
            start, apart = move.start * speed / RATE, APART
            high = _heights(hero, name, start, speed, left)
        elif "down back" in roles:
            own, name = roles["down back"].clip, ""
            motion = None
            speed, start, apart = clips[own].duration * RATE / left, 0.0, 0.0
            high = _heights(hero, "", start, speed, left)
        else:
            continue
        times = start + np.arange(left + 1) * speed / RATE
        way = np.zeros((left + 1, 2))
        if motion is not None:
            way = motion.at(times)[:, [0, 2], 3] - motion.at(np.zeros(1))[0, [0, 2], 3]
        low = np.flatnonzero(high <= high.min() + LANDED)
        top = int(high.argmax())
        lands = int(low[low >= top][0]) if (low >= top).any() else left
        playing = Playing(own, "once", speed, 0.0, 0.1)
        found[number] = Thrown(playing, start, way, max(lands, 1), apart)
    return found


def _heights(
    hero: Character, name: str, start: float, speed: float, ticks: int
) -> Doubles:
    """Metres that the hips are high in each tick of a throw; without a clip falling."""
    human = find_human(hero.skeleton, hero.scene.carried).nodes
    if not name or "hips" not in human:
        return np.linspace(1, 0, ticks + 1)
    times = start + np.arange(ticks + 1) * speed / RATE
    world = hero.pose_many(name, times).world
    return world[:, human["hips"], 1, 3].astype(np.float64)


def find_leans(hero: Character) -> Leans:
    """Joints by which a character is thrown back: trunk and head share theirs."""
    human = find_human(hero.skeleton, hero.scene.carried).nodes
    nodes, shares = [], []
    for column, parts in enumerate(BACKWARD):
        own = [human[part] for part in parts if part in human]
        share = 1.0 if column == ARMS else 1.0 / max(len(own), 1)
        nodes += own
        shares += [share * np.eye(3)[column]] * len(own)
    rows = np.array(nodes, np.int32)
    joints = np.stack([rows, hero.layout.lane_of_node[rows]], 1).astype(np.int32)
    return Leans(np.ascontiguousarray(joints), np.array(shares).reshape(-1, 3))


def find_reaches(
    hero: Character,
    volumes: HitVolumes,
    moves: Mapping[int, Move],
    playing: Mapping[int, Playing],
    roles: Mapping[str, Playing],
) -> dict[int, float]:
    """By the number of an attack, metres within which it meets one who stands."""
    found: dict[int, float] = {}
    parts = {part.casefold() for part in volumes.parts}
    stance = roles["stance"].clip if "stance" in roles else None
    still = None
    for number, move in moves.items():
        if move.kind != "attack" or number not in playing:
            continue
        own = [part for part in move.parts if part.casefold() in parts]
        times = np.arange(move.start, move.until_back) / RATE * playing[number].speed
        if still is None:
            still = hero.pose_many(stance, 0.0).world[0]
        strikes = hero.pose_many(playing[number].clip, times).world
        far = find_reach(volumes, volumes.rows(own), strikes, still)
        found[number] = far + move.advance if far else 0.0
    return found
