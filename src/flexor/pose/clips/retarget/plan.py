"""What has to be known of two skeletons before clips go from one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.pose.clips.retarget import rest_match
from flexor.pose.clips.retarget.match_joints import Match, match_joints
from flexor.pose.clips.track_values import AnyClip
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import ancestors
from flexor.scene.human.human import MAIN_PARTS, Human

__all__ = ["Moves", "Plan", "plan_retarget"]

Moves = Literal["auto", "root", "all"]

SIDES = ("left", "right")
SAME_TREE = 0.9  # of the joints that match hang on partners in one rig
SAME_BONE = 0.02  # of the longest bone: so much bones of one rig may differ
# What each part of a limb hangs on, also where it does not in the tree: "" is the hips.
CHAIN = {"UpperArm": "", "LowerArm": "UpperArm", "Hand": "LowerArm"}
CHAIN |= {"UpperLeg": "", "LowerLeg": "UpperLeg", "Foot": "LowerLeg", "Toes": "Foot"}


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All that a retarget needs to know of two skeletons.

    axes: (3, 3), target from source; it may mirror; size: how much larger the target
    is; limbs: turns (3, 3) of joints of the target from its rest to the source's;
    has_moves: whether all places and sizes that the clip changes are taken over;
    follows: joints of the target that hang on another than the tree says; notes: what
    is not certain, as sentences.
    """

    source: Skeleton
    target: Skeleton
    match: Match
    axes: Doubles
    size: float
    limbs: Mapping[int, Doubles]
    has_moves: bool
    follows: Mapping[int, int]
    notes: tuple[str, ...] = ()

    @property
    def humans(self) -> tuple[Human, Human] | None:
        """The parts of both bodies, None where one is no human."""
        return self.match.bodies


def plan_retarget(
    source: Skeleton,
    target: Skeleton,
    name_map: Mapping[str, str] | None = None,
    *,
    clip: AnyClip | None = None,
    align: bool | None = None,
    moves: Moves = "auto",
    bodies: tuple[Human, Human] | None = None,
) -> Plan:
    """What to do with clips of the source; for several of them it is made once.

    The options are those of `retarget`; clip: counts in what moves at all.
    """
    if moves not in get_args(Moves):
        raise SettingError(f"moves: {moves!r}, expected one of {get_args(Moves)}")
    match = match_joints(source, target, name_map, clip=clip, bodies=bodies)
    source = _with_rest(source, target, match)
    places = rest_world(source)[:, :, 3], rest_world(target)[:, :, 3]
    for what, at in zip(("source", "target"), places, strict=True):
        if not np.isfinite(at).all():
            raise ShapeError(f"{what}: the rest pose is not finite")
    humans = match.bodies
    pairs = {node: feed.one for node, feed in match.feeds.items()}
    if humans is not None:
        # Which way a body stands is no matter of what moves: all of it tells that.
        shared = [p for p in MAIN_PARTS if p in humans[0] and p in humans[1]]
        whole = {humans[1][part]: humans[0][part] for part in shared}
        pairs = whole if len(whole) > 3 else pairs
    nodes = list(pairs)
    trunk = [nodes.index(n) for n in _trunk(humans) if n in pairs]
    points = places[0][list(pairs.values())], places[1][nodes]
    axes = rest_match.common_axes(*points, trunk)
    notes = []
    if humans is None and not rest_match.is_sure(*points):
        notes.append(
            f"how the skeletons stand to each other is a guess from {len(nodes)} "
            "joints: name more that are far apart, or see that they turn as they should"
        )
    limbs: dict[int, Doubles] = {}
    if align or (align is None and humans is not None):
        if humans is None:
            raise SettingError("align: source or target is no known human body")
        up = rest_match.up_axis(places[1], humans[1])
        limbs = rest_match.align_limbs((source, target), places, humans, axes, up)
    has_moves = moves == "all" or (moves == "auto" and match.how == "names")
    return Plan(
        source,
        target,
        match,
        axes,
        rest_match.size_ratio(places, humans, pairs),
        limbs,
        has_moves,
        _follows(source, target, match, has_moves),
        tuple(notes),
    )


def _with_rest(source: Skeleton, target: Skeleton, match: Match) -> Skeleton:
    """The source, at rest as the target is, if its own rest means nothing.

    Files of motion alone often have nodes at no place, or where the first frame has
    them. If bones match by name and are as long as the target's, or have no length at
    all, it is the same rig, and local transforms mean the same in both.
    """
    pairs = match.pairs
    if match.how == "humans" or len(pairs) < 3:
        return source
    nodes, ones = list(pairs), list(pairs.values())
    partner = {one: node for node, one in pairs.items()}
    steps = [
        (node, one)
        for node, one in pairs.items()
        if partner.get(int(source.parents[one]), -1) == target.parents[node] >= 0
    ]
    if len(steps) < SAME_TREE * (len(pairs) - 1):
        return source
    mine = source.translations[[one for _, one in steps]].astype(np.float64)
    its = target.translations[[node for node, _ in steps]].astype(np.float64)
    ratio = 1.0
    if mine.any():
        length = float((mine * mine).sum())
        ratio = float((mine * its).sum()) / length
        far = np.linalg.norm(mine * ratio - its, axis=1).max()
        if not ratio > 0 or far > SAME_BONE * np.linalg.norm(its, axis=1).max():
            return source
        places = rest_world(source)[ones, :, 3], rest_world(target)[nodes, :, 3]
        if rest_match.closest_turn(*places)[1] < rest_match.SAME_SHAPE:
            return source  # the same pose: axes may differ, places are right
    moves, turns = source.translations.copy(), source.rotations.copy()
    moves[ones] = target.translations[nodes] / np.float32(ratio)
    turns[ones] = target.rotations[nodes]
    return replace(source, translations=moves, rotations=turns, matrices={})


def _trunk(humans: tuple[Human, Human] | None) -> list[int]:
    """Joints of the target that say where a human is upright and looks to."""
    if humans is None:
        return []
    parts = (
        "hips",
        "head",
        *(f"{s}{p}" for s in SIDES for p in ("UpperArm", "UpperLeg")),
    )
    return [humans[1][part] for part in parts if part in humans[1]]


def _follows(
    source: Skeleton, target: Skeleton, match: Match, has_moves: bool
) -> dict[int, int]:
    """Parts of limbs that hang on nothing that moves, and what they are to follow.

    If all places are taken over, only those whose partners do hang on a limb: the
    clip has no places for them.
    """
    found: dict[int, int] = {}
    if match.bodies is None:
        return found
    human, feeds = match.bodies[1], match.feeds
    hips = human.nodes.get("hips")
    for side in SIDES:
        for part, above in CHAIN.items():
            node = human.nodes.get(side + part)
            on = human.nodes.get(side + above, hips) if above else hips
            if node is None or on is None or node not in feeds:
                continue
            if has_moves and on in feeds:
                if feeds[on].one not in ancestors(source.parents, feeds[node].one):
                    continue
            lines = ancestors(target.parents, node), ancestors(target.parents, on)
            if on not in lines[0] and node not in lines[1]:
                if above or not any(one in feeds for one in lines[0]):
                    found[node] = on
    return found
