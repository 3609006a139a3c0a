"""Clips of one character for another, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flexor.app.character import Character
from flexor.errors import SettingError
from flexor.scene.clip import Clip

if TYPE_CHECKING:
    from flexor.pose.retarget_plan import Plan
    from flexor.pose.track_values import AnyClip

__all__ = ["plan_clips", "retarget", "retarget_clips"]


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

    clip: which of them, one or more names; None: all. name_map: names of the hero's
    joints by the other's; None: equal names, or the parts of human bodies. travel:
    whether the way over the ground is kept; else the hips stay over where they rest.
    name: what to call the clip, if it is one; a clip of the hero of that name is
    replaced.

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
    from flexor.pose.retarget import transfer

    clips = {name: other.clips[name] for name in names}
    plan = plan_clips(hero, other, clips, name_map)
    done = {}
    for name, clip in clips.items():
        moved = transfer(clip, plan, travel=travel)
        morphs = _morphs(hero, other, clip)
        done[name] = _with_links(replace(moved, tracks=(*moved.tracks, *morphs)), hero)
    return done, plan


def plan_clips(
    hero: Character,
    other: Character,
    names: Iterable[str],
    name_map: Mapping[str, str] | None = None,
) -> Plan:
    """How clips of another character would become clips of the hero."""
    from flexor.pose.retarget_plan import plan_retarget
    from flexor.scene.humans import find_human

    clips = [other.clips[name] for name in names]
    if not clips:
        raise SettingError("there is no clip to retarget")
    source, target = other.skeleton, hero.skeleton
    bodies = (
        find_human(source, other.scene.carried),
        find_human(target, hero.scene.carried),
    )
    whole = Clip("all", tuple(track for one in clips for track in one.tracks))
    return plan_retarget(source, target, name_map, clip=whole, bodies=bodies)


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


def _with_links(clip: Clip, hero: Character) -> Clip:
    """The clip with the movement of links, for programs that know none."""
    if not hero.skeleton.links:
        return clip
    from flexor.convert.bake_links import bake_links

    return bake_links(clip, hero.skeleton, hero.skeleton.links)
