"""What feet of a character stand on, and when its clips have them planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from flexor.api.character import Character
from flexor.arrays import Doubles, Ints
from flexor.maths import exact
from flexor.pose.clip_tables import pack_clip
from flexor.pose.ik.two_bone import Limb
from flexor.pose.links import follow_links
from flexor.pose.model_space import init_world, world_from_local
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip, unpacked
from flexor.stage.effects.shadows import heaviest_nodes
from flexor.stage.motion.contacts import RATE, ClipContacts, find_contacts
from flexor.stage.motion.feet import FEET_POINTS, no_soles
from flexor.stage.motion.layout import Soles

__all__ = ["contacts_of", "soles_of"]

FLAT = 0.015  # metres above the lowest of a foot that it stands on
CORNERS = ((-1, -1), (1, -1), (-1, 1), (1, 1))
# By name and whether it is a loop, with the clip that it was found for.
_Known = dict[tuple[str, bool], tuple[Clip | PackedClip, ClipContacts]]
_contacts: WeakKeyDictionary[Character, _Known] = WeakKeyDictionary()


def soles_of(
    hero: Character, limbs: Mapping[str, Limb], feet: Mapping[str, float]
) -> Soles | None:
    """Points that feet stand on, four of each node that has some; None: no feet."""
    if not feet:
        return None
    soles, rest = no_soles(len(limbs)), hero.pose().world.astype(np.float64)
    for row, (part, limb) in enumerate(limbs.items()):
        if part not in feet:
            continue
        chain = [_node(hero, own) for own in (limb.start, limb.middle, limb.end)]
        soles.starts[row] = chain[0]
        bones = np.diff(rest[chain, :, 3], axis=0)
        soles.lengths[row] = sum(exact.norm(bone) for bone in bones)
        nodes, points = _sole_points(hero, rest, chain[2])
        soles.nodes[row, : len(nodes)] = nodes
        soles.points[row, : len(nodes)] = points
    return soles


def _node(hero: Character, name: str | int) -> int:
    return hero.skeleton.index(name) if isinstance(name, str) else name


def _below(hero: Character, top: int) -> list[int]:
    """A node and all that hang on it."""
    found = [top]
    for node, parent in enumerate(hero.skeleton.parents):
        if parent in found and node not in found:
            found.append(node)
    return found


def _sole_points(
    hero: Character, rest: Doubles, end: int
) -> tuple[Sequence[int], Doubles]:
    """Nodes (P,) and points (P, 3) in their frames, of what is below a limb's end."""
    own = _below(hero, end)
    skins = hero.deform(hero.pose())
    places, nodes = [np.zeros((0, 3))], [np.zeros(0, np.int32)]
    for bind, skin in zip(hero.binds, skins, strict=True):
        heaviest = heaviest_nodes(hero.scene, bind.node, bind.primitive)
        is_own = np.isin(heaviest, own)
        places.append(skin.positions[is_own].astype(np.float64))
        nodes.append(heaviest[is_own])
    every, of_node = np.concatenate(places), np.concatenate(nodes)
    if len(every):
        is_low = every[:, 1] <= every[:, 1].min() + FLAT
        every, of_node = every[is_low], of_node[is_low]
    else:  # no skin: what is under its joints
        every, of_node = rest[own, :, 3].copy(), np.array(own, np.int32)
        every[:, 1] = min(float(every[:, 1].min()), 0.0)
    chosen = _corners(every, of_node)
    found = []
    for row in chosen:
        back = exact.invert(rest[of_node[row], :, :3])
        found.append(exact.multiply(back, every[row] - rest[of_node[row], :, 3]))
    return of_node[chosen].tolist(), np.array(found)


def _corners(places: Doubles, nodes: Ints) -> list[int]:
    """Rows of the points farthest to the four corners, of the nodes with most points,
    the farthest ahead and the farthest behind among them.
    """
    known, counts = np.unique(nodes, return_counts=True)
    order = known[np.argsort(-counts, kind="stable")]
    chosen: list[int] = []
    for x, z in CORNERS:  # of all, first
        row = int((places[:, 0] * x + places[:, 2] * z).argmax())
        if row not in chosen:
            chosen.append(row)
    for node in order.tolist():
        mine = np.flatnonzero(nodes == node)
        for x, z in CORNERS:
            row = int(mine[(places[mine, 0] * x + places[mine, 2] * z).argmax()])
            if row not in chosen and len(chosen) < FEET_POINTS:
                chosen.append(row)
    return chosen


def contacts_of(
    hero: Character,
    clips: Mapping[str, Clip | PackedClip],
    loops: Sequence[str],
    soles: Soles | None,
) -> dict[str, ClipContacts]:
    """When clips have feet planted, by their names; loops: those that are loops."""
    if soles is None:
        return {}
    known = _contacts.setdefault(hero, {})
    found = {}
    for name, clip in clips.items():
        key = name, name in loops
        if key not in known or known[key][0] is not clip:
            way = _way_of(hero, clip, soles)
            known[key] = clip, find_contacts(way, loops=key[1])
        found[name] = known[key][1]
    return found


def _way_of(hero: Character, clip: Clip | PackedClip, soles: Soles) -> Doubles:
    """Where soles are in a clip, sixty times a second: (T, M, K, 3)."""
    plain = unpacked(clip)
    count = max(int(plain.duration * RATE + 1e-6), 0) + 1
    times = (np.arange(count) / RATE).astype(np.float32)
    layout = hero.layout
    state = sample(init_sample(pack_clip(plain, layout), layout, count), times)
    follow_links(layout, state.local)
    world = world_from_local(init_world(layout, count), state.local).matrices
    frames = world[:, np.maximum(soles.nodes, 0)].astype(np.float64)
    found: Doubles = (frames[..., :3] * soles.points[..., None, :]).sum(-1)
    found += frames[..., 3]
    found[:, soles.nodes < 0] = np.nan
    return found
