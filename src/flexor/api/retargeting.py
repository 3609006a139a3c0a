"""Clips of one character for another, in one call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexor.api.character import Character
from flexor.errors import SettingError
from flexor.scene.character.clip import Clip
from flexor.scene.character.tree import nearest

if TYPE_CHECKING:
    from flexor.pose.clips.retarget.plan import Plan
    from flexor.pose.clips.track_values import AnyClip

MOST_SAID = 8  # names in a note
MOST_PULL = 0.5  # a weight by which a vertex is a joint's more than any other's

__all__ = ["map_text", "plan_clips", "retarget", "retarget_clips"]


def retarget(
    hero: Character,
    other: Character,
    clip: str | Iterable[str] | None = None,
    *,
    name_map: Mapping[str, str] | None = None,
    travel: bool = True,
    name: str | None = None,
) -> Character:
    """The hero with clips of another character beside its own.

    clip: which of them, one or more names; None: all. Joints of equal names move each
    other, or the parts of human bodies; name_map: names of the hero's joints by the
    other's, for what is to be otherwise ("": moves nothing; "*": "": what the map does
    not name moves nothing). travel: whether the way over the ground is kept; else the
    hips stay over where they rest. name: what to call the clip, if it is one; a clip of
    the hero of that name is replaced.

    Examples
    --------
    >>> import flexor
    >>> hero = flexor.samples.mannequin()
    >>> more = flexor.retarget(hero, hero, "walk", travel=False, name="treadmill")
    >>> list(more.clips)[-1]
    'treadmill'
    """
    for what, value in (("hero", hero), ("other", other)):
        if not isinstance(value, Character):
            raise SettingError(f"{what}: {value!r}, expected a character; see load")
    done, _ = retarget_clips(
        hero, other, _names(other, clip), name_map=name_map, travel=travel
    )
    if name is not None:
        if len(done) != 1:
            raise SettingError(f"name: {name!r} for {len(done)} clips, expected one")
        done = {name: next(iter(done.values()))}
    return hero.with_clips(done)


def retarget_clips(
    hero: Character,
    other: Character,
    names: Iterable[str],
    *,
    name_map: Mapping[str, str] | None = None,
    travel: bool = True,
) -> tuple[dict[str, Clip], Plan]:
    """Clips of another character as clips of the hero, and how that was done."""
    from flexor.pose.clips.retarget.retarget import transfer

    clips = {name: other.clips[name] for name in names}
    plan = plan_clips(hero, other, clips, name_map)
    done = {}
    for name, clip in clips.items():
        moved = transfer(clip, plan, travel=travel)
        morphs = _morphs(hero, other, clip)
        done[name] = replace(moved, tracks=(*moved.tracks, *morphs))
    return done, plan


def plan_clips(
    hero: Character,
    other: Character,
    names: Iterable[str],
    name_map: Mapping[str, str] | None = None,
) -> Plan:
    """How clips of another character would become clips of the hero."""
    from flexor.pose.clips.retarget.plan import plan_retarget
    from flexor.scene.human.human import find_human

    clips = [other.clips[name] for name in names]
    if not clips:
        raise SettingError("there is no clip to retarget")
    source, target = other.skeleton, hero.skeleton
    bodies = (
        find_human(source, other.scene.carried),
        find_human(target, hero.scene.carried),
    )
    whole = Clip("all", tuple(track for one in clips for track in one.tracks))
    plan = plan_retarget(source, target, name_map, clip=whole, bodies=bodies)
    behind = _left_behind(hero, plan)
    if behind:
        some = ", ".join(repr(target.names[node]) for node in behind[:MOST_SAID])
        more = f" and {len(behind) - MOST_SAID} more" if len(behind) > MOST_SAID else ""
        note = (
            f"parts of the surface stay behind with {some}{more}, which nothing moves; "
            "a map of names may give them a joint"
        )
        plan = replace(plan, notes=(*plan.notes, note))
    return plan


def _left_behind(hero: Character, plan: Plan) -> list[int]:
    """Joints that pull vertices more than others do and stay where they rest.

    None unless the hips of a human move: an arm alone leaves the rest behind.
    """
    feeds = plan.match.feeds
    if plan.humans is None or plan.humans[1].nodes.get("hips") not in feeds:
        return []
    scene, found = hero.scene, set()
    for node in np.flatnonzero((scene.node_mesh >= 0) & (scene.node_skin >= 0)):
        joints = scene.skins[int(scene.node_skin[node])].joints
        for surface in scene.meshes[int(scene.node_mesh[node])].primitives:
            if surface.skin is not None and len(joints):
                rows = surface.skin.joints[surface.skin.weights > MOST_PULL]
                found |= set(joints[np.minimum(np.unique(rows), len(joints) - 1)])
    parents = scene.skeleton.parents
    links = scene.skeleton.links
    return sorted(
        int(node)
        for node in found
        if node not in links and nearest(parents, node, feeds) < 0
    )


def map_text(plan: Plan) -> str:
    """What moves what as a map of names, TOML, to be corrected and given back."""
    names, others = plan.source.names, plan.target.names
    lines = [
        "# A joint of the other file, and the joint of the character that it moves.",
        '# "" for one that is to move nothing. What is not here is found by itself.',
        "[names]",
    ]
    between = []
    for node, feed in plan.match.feeds.items():
        one, two = names[feed.one], names[feed.other]
        if feed.fraction > 0:
            text = f"{_quote(others[node])} moves between {_quote(one)} and "
            between.append(f"# {text}{_quote(two)} ({feed.fraction:.0%})")
        elif one and others[node]:
            lines.append(f"{_quote(one)} = {_quote(others[node])}")
    seen = {names[feed.one] for feed in plan.match.feeds.values()}
    left = dict.fromkeys(n for n in plan.match.left_source if n and n not in seen)
    lines += [f'{_quote(name)} = ""' for name in left]
    if plan.match.left_target:
        still = ", ".join(_quote(name) for name in plan.match.left_target)
        between.append(f"# at rest: {still}")
    return "\n".join([*lines, *between]) + "\n"


def _quote(name: str) -> str:
    """A name as a TOML string."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _names(other: Character, clip: Any) -> list[str]:
    """The clips that are asked for; refuses what is not there."""
    names = [clip] if isinstance(clip, str) else list(other.clips)
    if clip is not None and not isinstance(clip, str):
        names = list(clip)
    for name in names:
        if name not in other.clips:
            there = ", ".join(repr(one) for one in other.clips) or "none"
            raise SettingError(f"clip: no {name!r}; there are: {there}")
    return names


def _morphs(hero: Character, other: Character, clip: AnyClip) -> list[Any]:
    """Morph weights, where a node of the same name has as many of them."""
    nodes = {name: row for row, name in reversed(list(enumerate(hero.skeleton.names)))}
    columns = hero.layout.morph_columns
    found = []
    for track in clip.tracks:
        node = nodes.get(other.skeleton.names[track.node], -1)
        if track.path == "weights" and node in columns:
            if columns[node][1] == track.values.shape[-1]:
                found.append(replace(track, node=node))
    return found
