"""Which joint of one skeleton moves which joint of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.pose.clips.track_values import AnyClip
from flexor.scene.character.mirror_pairs import swap_side
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import ancestors, nearest, upward
from flexor.scene.human.human import PARTS, Human, find_human

__all__ = ["Feed", "Match", "match_joints"]

How = Literal["names", "humans", "given"]

ENOUGH = 0.5  # of the joints that move: with so many names in common, names decide
_FOOT = re.compile("foot|ankle", re.IGNORECASE)
FEWEST = 6  # parts of a body that both must have
AT_END = 0.25  # of a lower leg: so near to where it ends is a foot that belongs there
EVERY = "*"  # in a map: all that it does not name


@dataclass(frozen=True, slots=True)
class Feed:
    """Where the turn of a joint comes from: between two joints of the source.

    one, other: nodes; fraction: how far from the one to the other, 0 to 1.
    """

    one: int
    other: int
    fraction: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Joints of a target and what moves them.

    feeds: by node of the target; how: by equal names, as parts of human bodies, or all
    as given; bodies: the human parts of source and target, None where one is no human;
    left_source, left_target: names of joints without a partner, of the source only
    those that the clip moves; given: nodes of the target whose feeds a map tells.
    """

    feeds: Mapping[int, Feed]
    how: How
    bodies: tuple[Human, Human] | None = None
    left_source: tuple[str, ...] = ()
    left_target: tuple[str, ...] = ()
    given: frozenset[int] = frozenset()
    pairs: Mapping[int, int] = field(init=False)

    def __post_init__(self) -> None:
        order = dict(sorted(self.feeds.items()))
        object.__setattr__(self, "feeds", MappingProxyType(order))
        direct = {n: feed.one for n, feed in order.items() if feed.fraction == 0}
        object.__setattr__(self, "pairs", MappingProxyType(direct))


def match_joints(
    source: Skeleton,
    target: Skeleton,
    name_map: Mapping[str, str] | None = None,
    *,
    clip: AnyClip | None = None,
    bodies: tuple[Human, Human] | None = None,
) -> Match:
    """Find what moves what.

    Joints of equal names if most that the clip moves have one, else parts of human
    bodies. name_map: target name by source name, for what is to be otherwise: "" for a
    joint of the source that is to move nothing; "*": "" for all that the map does not
    name. bodies: those of source and target if they are known better than names say
    (`find_human` with what a VRM file carries).
    """
    humans = (find_human(source), find_human(target)) if bodies is None else bodies
    humans = _with_feet(source, humans[0]), _with_feet(target, humans[1])
    told = _Told.read(source, target, {} if name_map is None else name_map)
    humans = _filled(humans, told.feeds)
    known = all(_is_body(human) for human in humans)
    moved = _moved(source, clip)
    how: How
    feeds, how = _equal_names(source, target), "names"
    common = {feed.one for feed in feeds.values()} & moved
    if told.is_all:
        feeds, how = {}, "given"
    elif len(common) < max(ENOUGH * len(moved), 1):
        if not known and not told.feeds:
            raise SettingError(_say_why(source, target, humans, len(common)))
        feeds, how = (_as_humans(*humans), "humans") if known else ({}, "given")
    feeds = told.correct(feeds)
    if not feeds:
        raise SettingError("no joint of the source has a partner in the target")
    if how == "names":
        hips = {humans[1]["hips"]} if known else set()
        feeds = _folded(feeds, source, target, {*told.feeds, *hips})
    used = {node for feed in feeds.values() for node in (feed.one, feed.other)}
    links = source.links.keys()
    return Match(
        {node: feed for node, feed in feeds.items() if node not in target.links},
        how,
        humans if known else None,
        tuple(source.names[n] for n in sorted(moved - used - links)),
        tuple(
            name
            for node, name in enumerate(target.names)
            if node not in feeds and node not in target.links
        ),
        frozenset(told.feeds.keys() - target.links.keys()),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What a map of names says.

    feeds: by node of the target; still: nodes of the source that move nothing else;
    is_all: whether there is nothing beside it.
    """

    feeds: dict[int, Feed]
    still: set[int]
    is_all: bool

    @classmethod
    def read(
        cls, source: Skeleton, target: Skeleton, name_map: Mapping[str, str]
    ) -> _Told:
        """Nodes as a map of names has them; refuses names that are not there."""
        feeds: dict[int, Feed] = {}
        still: set[int] = set()
        is_all = EVERY in name_map and EVERY not in source.names
        if is_all and name_map[EVERY]:
            raise SettingError(f'name map: "{EVERY}" may only be "", to leave the rest')
        for one, other in name_map.items():
            if is_all and one == EVERY:
                continue
            start = _row(source, "source", one)
            still.add(start)
            if other == "":
                continue
            node = _row(target, "target", other)
            if node in feeds:
                raise SettingError(f"name map: two joints move {other!r}")
            feeds[node] = Feed(start, start)
        return cls(feeds, still, is_all)

    def correct(self, feeds: dict[int, Feed]) -> dict[int, Feed]:
        """Feeds as found, but for what the map says."""
        kept = {
            node: feed
            for node, feed in feeds.items()
            if feed.fraction > 0 or feed.one not in self.still
        }
        return kept | self.feeds


def _row(skeleton: Skeleton, what: str, name: str) -> int:
    if name not in skeleton.names:
        close = get_close_matches(str(name), skeleton.names, 3, 0.5)
        some = ", ".join(map(repr, close or skeleton.names[:8]))
        raise SettingError(f"name map: {what} has no joint {name!r}; there are {some}")
    return skeleton.index(name)


def _filled(
    humans: tuple[Human, Human], feeds: Mapping[int, Feed]
) -> tuple[Human, Human]:
    """Bodies, with parts that only the other has where a map tells the partner.

    What both have stays, because a map may have one arm move the other; but what the
    hips move is the hips: it carries the body.
    """
    more: tuple[dict[str, int], dict[str, int]] = {}, {}
    for node, feed in feeds.items():
        parts = humans[0].part_of(feed.one), humans[1].part_of(node)
        if parts[0] == "hips" and parts[1] is None:
            more[1]["hips"] = node
            continue
        if parts[0] is not None and parts[1] is None and parts[0] not in humans[1]:
            more[1][parts[0]] = node
        elif parts[1] is not None and parts[0] is None and parts[1] not in humans[0]:
            more[0][parts[1]] = feed.one
    one, two = (
        replace(human, nodes={**human.nodes, **found}) if found else human
        for human, found in zip(humans, more, strict=True)
    )
    return one, two


def _is_body(human: Human) -> bool:
    """Whether enough of a human is known: what carries it, and some of the rest."""
    return "hips" in human and len(human.nodes) >= FEWEST


def _moved(source: Skeleton, clip: AnyClip | None) -> set[int]:
    """Nodes that a clip turns, but for links, which follow; without a clip all."""
    if clip is None:
        return set(range(len(source))) - source.links.keys()
    if any(not 0 <= track.node < len(source) for track in clip.tracks):
        raise ShapeError(f"clip {clip.name!r}: moves a node that the source lacks")
    turned = {track.node for track in clip.tracks if track.path == "rotation"}
    moved = turned or {track.node for track in clip.tracks}
    return moved - source.links.keys()


def _equal_names(source: Skeleton, target: Skeleton) -> dict[int, Feed]:
    """Nodes of the same name; of several in one skeleton the first."""
    if source.names == target.names:
        return {node: Feed(node, node) for node in range(len(target))}
    rows = {name: row for row, name in reversed(list(enumerate(source.names)))}
    first = {name: row for row, name in reversed(list(enumerate(target.names)))}
    return {
        node: Feed(rows[name], rows[name])
        for name, node in first.items()
        if name and name in rows
    }


def _as_humans(source: Human, target: Human) -> dict[int, Feed]:
    """Parts to parts; trunk and neck, of any number of joints, in proportion."""
    middle = ("spine", "chest", "upperChest", "neck")
    feeds = {
        target[part]: Feed(source[part], source[part])
        for part in PARTS
        if part in source and part in target and part not in middle
    }
    if "hips" in source and source.trunk:
        feeds |= _proportion((source["hips"], *source.trunk), target.trunk, 0)
    tops = source.trunk[-1:] or ((source["hips"],) if "hips" in source else ())
    if "head" in source and tops:
        line = (tops[0], *source.necks, source["head"])
        feeds |= _proportion(line, target.necks, 1)
    return feeds


def _proportion(
    line: tuple[int, ...], nodes: tuple[int, ...], after: int
) -> dict[int, Feed]:
    """Nodes spread over a line of the source whose first one is not among theirs.

    after: how many joints of the line's kind follow the nodes.
    """
    feeds = {}
    steps = len(line) - 1
    for row, node in enumerate(nodes, 1):
        place = row * steps / (len(nodes) + after)
        below = min(int(place + 1e-9), steps)
        above = min(below + 1, steps)
        fraction = place - below
        if fraction < 1e-6:
            above, fraction = below, 0.0
        feeds[node] = Feed(line[below], line[above], fraction)
    return feeds


def _with_feet(skeleton: Skeleton, human: Human) -> Human:
    """With feet that do not hang on the legs but are put to their ends by clips."""
    found: dict[str, int] = {}
    places, parents = rest_world(skeleton)[:, :, 3], skeleton.parents

    def gap(one: int, two: int) -> float:
        return float(exact.norm(places[one] - places[two]))

    for side in ("left", "right"):
        knee = human.nodes.get(f"{side}LowerLeg")
        hip = human.nodes.get(f"{side}UpperLeg")
        foot = human.nodes.get(f"{side}Foot")
        if knee is None or hip is None:
            continue
        if foot is not None and _is_foot(skeleton.names[foot], side):
            continue
        feet = [n for n, name in enumerate(skeleton.names) if _is_foot(name, side)]
        tops = [n for n in feet if not set(ancestors(parents, n)) & set(feet)]
        loose = [n for n in tops if knee not in upward(parents, n)]
        if foot is None:
            near = [n for n in loose if gap(n, knee) < 2 * gap(knee, hip)]
        else:  # a part of the leg was taken for it: the foot is where that ends
            ends = [foot, *skeleton.children(foot)]
            most = AT_END * gap(knee, foot)
            near = [n for n in loose if min(gap(n, end) for end in ends) < most]
        if len(near) == 1:
            found[f"{side}Foot"] = near[0]
    return replace(human, nodes={**human.nodes, **found}) if found else human


def _is_foot(name: str, side: str) -> bool:
    """Whether a node is called the foot of a side."""
    sides = {"left" if is_left else "right" for _, is_left in swap_side(name)}
    return sides == {side} and _FOOT.search(name) is not None


def _folded(
    feeds: dict[int, Feed], source: Skeleton, target: Skeleton, fixed: set[int]
) -> dict[int, Feed]:
    """Feeds that take along joints of the source without a partner, but for fixed ones.

    A trunk of four joints moves one of two: its last joint, which carries neck and
    arms, has to turn as the last of the four. So a joint from which several others
    branch off is moved by the joint of the source from which those branch off.
    """
    branches: dict[int, list[int]] = {}
    for node in feeds:
        above = nearest(target.parents, int(target.parents[node]), feeds)
        if above >= 0:
            branches.setdefault(above, []).append(feeds[node].one)
    partners = {feed.one for feed in feeds.values()}
    folded = dict(feeds)
    for node, nodes in branches.items():
        if len(nodes) < 2 or node in fixed:
            continue
        lines = [ancestors(source.parents, start) for start in nodes]
        shared = [one for one in lines[0] if all(one in line for line in lines[1:])]
        start = feeds[node].one
        if shared and shared[0] not in partners and start in shared:
            folded[node] = Feed(shared[0], shared[0])
    return folded


def _say_why(
    source: Skeleton, target: Skeleton, humans: tuple[Human, Human], common: int
) -> str:
    """Why no pairs were found, and what would help."""
    whose = []
    for what, skeleton, human in zip(
        ("source", "target"), (source, target), humans, strict=True
    ):
        if not _is_body(human):
            some = ", ".join(repr(name) for name in skeleton.names[:4])
            whose.append(f"the {what} ({some}, ...) is no known human body")
    return (
        f"{common} joints have equal names, and {' and '.join(whose)}; give a map of "
        "names, source to target"
    )
