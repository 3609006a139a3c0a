"""Clips that stages make of a character's own, each made once for a character."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from flexor.api.character import Character
from flexor.pose.clips.mirror import mirror_clip
from flexor.pose.clips.root_motion import RootMotion, extract_root_motion
from flexor.pose.play.motion_set import MotionSet, make_motion_set
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip, unpacked

__all__ = ["mirrored", "motions_of", "on_the_spot"]


@dataclass(slots=True, eq=False)
class _Made:
    """What was made of a character.

    mirrored, still: by the name of its own clip, and whether that is mirrored; laid,
    motions: the clips that were laid out last, and how.
    """

    mirrored: dict[str, Clip] = field(default_factory=dict)
    still: dict[tuple[str, bool], tuple[Clip, RootMotion]] = field(default_factory=dict)
    laid: tuple[Clip | PackedClip, ...] = ()
    motions: MotionSet | None = None


_made: WeakKeyDictionary[Character, _Made] = WeakKeyDictionary()


def mirrored(hero: Character, name: str) -> Clip:
    """A clip of a character with left for right, "NAME (mirrored)"."""
    known = _made.setdefault(hero, _Made()).mirrored
    if name not in known:
        turned = mirror_clip(unpacked(hero.clips[name]), hero.skeleton)
        known[name] = replace(turned, name=f"{name} (mirrored)")
    return known[name]


def on_the_spot(
    hero: Character, name: str, is_mirrored: bool = False
) -> tuple[Clip, RootMotion]:
    """A clip of a character without its way over the ground, and that way;
    "NAME (on the spot)", or "NAME (mirrored, on the spot)".
    """
    known = _made.setdefault(hero, _Made()).still
    key = name, is_mirrored
    if key not in known:
        clip = mirrored(hero, name) if is_mirrored else hero.clips[name]
        still, way = extract_root_motion(clip, hero.skeleton, turn=False)
        title = f"{name} ({'mirrored, ' if is_mirrored else ''}on the spot)"
        known[key] = replace(still, name=title), way
    return known[key]


def motions_of(hero: Character, clips: Iterable[Clip | PackedClip]) -> MotionSet:
    """Clips laid out for a character; those of the last stage are kept for the next."""
    made, wanted = _made.setdefault(hero, _Made()), tuple(clips)
    is_same = len(wanted) == len(made.laid) and all(
        own is other for own, other in zip(wanted, made.laid, strict=True)
    )
    if made.motions is None or not is_same:
        made.motions, made.laid = make_motion_set(wanted, hero.layout), wanted
    return made.motions
