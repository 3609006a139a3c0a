"""Weights around joints that have links: given out again by place along the joint.

A joint's links stand between the bone above it (the parent) and its own bone (the
child). What the two hold of a vertex because of this joint is its exchange; it is given
to parent, links and child by where the vertex is along the joint. Everything is counted
from the weights as they were, so the order of joints does not matter.

Of a vertex, let w be its weights, D of a bone the sum of w over it and all below it, A
what is left, B the sum of D over its children. A bone's own weight faces the joint
above it by A / (A + B) and those below it by the rest; the rest is split over the
children in proportion to their D. A vertex that hangs on one bone alone faces the
nearer end. A joint's exchange is what its parent's weight faces it with, and its own.
So bones further up need nothing of their own: where a vertex hangs on a grandparent and
on a grandchild but not on the bone between, the grandparent's weight faces the upper of
the two joints, the grandchild's the lower one, and each is given out by place; the bone
between gets its share if the vertex lies there.

What a joint then holds along its bone is given to its twist links, by place too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from flexor.convert.shape.body import Body, Pull, merge_same
from flexor.convert.shape.bones import Bones, ties
from flexor.convert.shape.sections import Sections
from flexor.convert.shape.surface import Surface
from flexor.errors import SettingError
from flexor.scene.character.tree import children_of, top_down

__all__ = [
    "VARIANTS",
    "Chain",
    "LinkSettings",
    "link_chains",
    "link_weights",
    "rests_alone",
]

NOTHING = 1e-6  # a weight that is not worth a tie, and what a sum may be off by
# What is tried: how far links reach, and how much of them the parent keeps.
VARIANTS = ((1.0, 0.0), (1.6, 0.0), (1.0, 1.0))
TINY = 1e-30
MOST_BARE = 0.3  # of a bone, at either end, that its twist leaves to links there
LEAST_HALF = 1e-4  # of the body's size: no half of a chain is shorter

# What hangs on the child or on the parent by this much (from a little to wholly) and
# is this many radii to the side is no part of the joint.
ON_CHILD, ON_PARENT, FAR = (0.6, 0.85), (0.9, 1.0), (1.4, 2.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSettings:
    """How a joint is linked.

    count: how many links around it share its bend, 0 for none; length: factor on how
    far along the bones they reach by default; fade: how much of what would be given to
    links stays with the parent where the surface lies across the bone, 0 for nothing to
    1 for all. None: what looks best, where links are chosen; else as in the first of
    VARIANTS. twists: how many links along its bone share its twist, 0 for none; bones
    that do not end in another joint get none. Where links are chosen: at most so many.
    """

    count: int = 3
    length: float | None = None
    fade: float | None = None
    twists: int = 0

    def __post_init__(self) -> None:
        for word, count in (("count", self.count), ("twists", self.twists)):
            if isinstance(count, bool) or not isinstance(count, int):
                raise SettingError(f"link {word}: {count!r}, expected a whole number")
            if not 0 <= count <= 64:
                raise SettingError(f"link {word}: {count}, expected 0 to 64")
        if self.length is not None and not 0 < self.length < 1e6:
            raise SettingError(f"link length: {self.length}, expected more than 0")
        if self.fade is not None and not 0 <= self.fade <= 1:
            raise SettingError(f"link fade: {self.fade}, expected 0 to 1")


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Where the links of one joint stand.

    joint, parent: rows of the body; first: the row of the first link; count: of links
    around the joint; twists: of links along its bone, which come after them; base,
    axis: float64 (3,), the joint and the way through it, unit; up, down: how far the
    chain reaches before and beyond the joint, metres; radius: of the limb there,
    metres; across: float64 (3,), the child's X axis; wound: where along it the child's
    twist begins and ends, metres; fade: see LinkSettings.
    """

    joint: int
    parent: int
    first: int
    count: int
    twists: int
    base: Doubles
    axis: Doubles
    up: float
    down: float
    radius: float
    across: Doubles
    wound: tuple[float, float]
    fade: float

    def along(self, points: NDArray[np.floating]) -> Doubles:
        """The part of the child's twist that belongs to points (R, 3)."""
        start, end = self.wound
        far = ((points - self.base) @ self.across - start) / max(end - start, TINY)
        placed: Doubles = np.clip(far, 0, 1)
        return placed

    def place(self, points: NDArray[np.floating]) -> Doubles:
        """Where points (R, 3) are: 0 with the parent, 0.5 at the joint, 1 with the
        child.
        """
        x = (points - self.base) @ self.axis
        half = np.where(x < 0, self.up, self.down)
        placed: Doubles = np.clip(0.5 + x / (2 * half), 0, 1)
        return placed

    def aside(self, points: NDArray[np.floating]) -> Doubles:
        """How far points (R, 3) are from the way through the joint, in radii."""
        away = points - self.base
        away = away - (away @ self.axis)[:, None] * self.axis
        far: Doubles = np.linalg.norm(away, axis=1) / self.radius
        return far


def link_chains(
    body: Body,
    bones: Bones,
    sections: Sections,
    settings: Mapping[int, LinkSettings],
) -> list[Chain]:
    """The chains of all joints (rows of the body) that have settings and a parent.

    Rows of links begin after the body's S joints, joint by joint in rising order.
    """
    chains = []
    first = len(body.joints)
    for joint in sorted(settings):
        own, parent = settings[joint], int(body.parents[joint])
        if bones.tips[joint] < 0:
            own = replace(own, twists=0)
        if (own.count or own.twists) and parent >= 0:
            chains.append(_chain(body, bones, sections, joint, first, own))
            first += own.count + own.twists
    by_joint = {chain.joint: chain for chain in chains}
    return [
        replace(chain, wound=_wound(chain, by_joint, bones)) if chain.twists else chain
        for chain in chains
    ]


def _wound(
    chain: Chain, chains: Mapping[int, Chain], bones: Bones
) -> tuple[float, float]:
    """Where a bone's twist begins and ends: between the links at both of its ends.

    Those at its base have none of it, those at its tip all.
    """
    length = float(bones.lengths[chain.joint])
    after = chains.get(int(bones.tips[chain.joint]))
    start = chain.down if chain.count else 0.0
    stop = after.up if after is not None and after.count else 0.0
    return min(start, MOST_BARE * length), length - min(stop, MOST_BARE * length)


def _chain(
    body: Body,
    bones: Bones,
    sections: Sections,
    joint: int,
    first: int,
    settings: LinkSettings,
) -> Chain:
    parent = int(body.parents[joint])
    bases, axes, lengths = bones.bases, bones.axes, bones.lengths
    radius = float(sections.thickness[joint, 0])
    if bones.tips[parent] == joint:
        # The thinner: a head on a neck must not bend as far up as it is wide.
        radius = min(radius, float(sections.thickness[parent, 1]))
    factor = VARIANTS[0][0] if settings.length is None else settings.length
    half = factor * (0.3 * float(lengths[joint]) + 1.5 * radius) / 2
    apart = float(np.linalg.norm(bases[joint] - bases[parent]))
    reach = max(float(lengths[parent]), apart)
    least = LEAST_HALF * body.size
    # Where the rest pose is bent, the way through the joint lies between both bones.
    axis = axes[joint] + max(0.0, float(axes[parent] @ axes[joint])) * axes[parent]
    return Chain(
        joint,
        parent,
        first,
        settings.count,
        settings.twists,
        bases[joint].copy(),
        axis / np.linalg.norm(axis),
        max(min(half, reach / 2), least),
        max(min(half, float(lengths[joint]) / 2), least),
        max(radius, least),
        axes[joint].copy(),
        (0.0, float(lengths[joint])),
        VARIANTS[0][1] if settings.fade is None else settings.fade,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """The weights of a body by joint, S entries each: rows and amounts.

    rows, own: the vertices that a joint pulls and how much; facing: how much of that
    faces the joint above; shares: of what its parent's weight faces downwards, the part
    that faces this joint, for the rows of the parent; none for roots.
    """

    rows: list[NDArray[np.intp]]
    own: list[Doubles]
    facing: list[Doubles]
    shares: list[Doubles]


def link_weights(
    body: Body, bones: Bones, chains: list[Chain], surface: Surface
) -> Pull:
    """The pull of all vertices with the links' rows in it.

    surface: of the body by place, for normals and pieces. Vertices of rigid meshes and
    pieces that hang on one bone are left alone; rows that nothing changes stay as they
    were, to the bit.
    """
    count = len(body)
    pull = merge_same(body.pull.joints, body.pull.weights)
    free = ~(body.rigid | rests_alone(pull, surface)) & (pull.weights.sum(1) > 0)
    tied = _gather_ties(body, bones, pull)
    changes: list[tuple[NDArray[np.intp], Ints, Doubles]] = []
    for chain in chains:
        if not chain.count:
            continue
        up, own = _exchange(tied, chain, count)
        rows = np.flatnonzero((up + own > 0) & free)
        if not len(rows):
            continue
        moving = _moving(chain, body.positions[rows], up[rows], own[rows])
        up[rows] *= moving
        own[rows] *= moving
        normals = surface.normals[surface.point_of_vertex[rows]]
        given = _give_out(chain, body.positions[rows], normals, up[rows] + own[rows])
        given[0] -= up[rows]
        given[-1] -= own[rows]
        names = [chain.parent, *range(chain.first, chain.first + chain.count)]
        for name, amounts in zip([*names, chain.joint], given, strict=True):
            some = np.abs(amounts) > 1e-9
            rows_of = rows[some]
            named = np.full(len(rows_of), name, np.int32)
            changes.append((rows_of, named, amounts[some]))
    bent = _changed(body.pull, changes)
    return _changed(bent, list(_wind(body, chains, bent, free)))


def _wind(
    body: Body, chains: list[Chain], pull: Pull, free: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], Ints, Doubles]]:
    """What joints hold along their bones goes to their twist links: see `_changed`.

    At the base of a bone none of the joint's twist is left, at its tip all of it is.
    """
    sums = np.maximum(pull.weights.sum(1, np.float64), TINY)
    for chain in chains:
        if not chain.twists:
            continue
        is_own = pull.joints == chain.joint
        held = np.where(is_own, pull.weights, 0).sum(1, np.float64) / sums
        rows = np.flatnonzero((held > NOTHING) & free)
        steps = chain.along(body.positions[rows]) * chain.twists
        lower = np.minimum(steps.astype(np.int32), chain.twists - 1)
        part = steps - lower
        first = chain.first + chain.count
        above = np.where(lower + 1 < chain.twists, first + lower + 1, chain.joint)
        own = np.full(len(rows), chain.joint, np.int32)
        yield rows, own, -held[rows]
        yield rows, (first + lower).astype(np.int32), (1 - part) * held[rows]
        yield rows, above.astype(np.int32), part * held[rows]


def rests_alone(pull: Pull, surface: Surface) -> NDArray[np.bool_]:
    """Which of the vertices (V,) are in a piece that wholly hangs on one bone."""
    piece = surface.pieces[surface.point_of_vertex]
    if not len(pull):
        return np.zeros(0, bool)
    count = int(piece.max()) + 1
    low = np.full(count, np.iinfo(np.int32).max, np.int32)
    high = np.full(count, -1, np.int32)
    np.minimum.at(low, piece, pull.joints[:, 0])
    np.maximum.at(high, piece, pull.joints[:, 0])
    blended = np.zeros(count, bool)
    blended[piece[pull.weights[:, 0] < 1 - NOTHING]] = True
    alone: NDArray[np.bool_] = ((low == high) & ~blended)[piece]
    return alone


def _gather_ties(body: Body, bones: Bones, pull: Pull) -> _Ties:
    """The weights joint by joint; pull: rows with the largest weight first."""
    count, joints = len(body), len(body.parents)
    rows = ties(pull, joints)
    own = [
        np.where(pull.joints[mine] == joint, pull.weights[mine], 0).sum(1, np.float64)
        for joint, mine in enumerate(rows)
    ]
    sums = pull.weights.sum(1, np.float64)
    own = [w / sums[mine] for w, mine in zip(own, rows, strict=True)]
    children = children_of(body.parents)
    # Of each bone the vertices pulled by it or anything below it, and D; kept until
    # the bone above has been counted.
    below: dict[int, tuple[NDArray[np.intp], Doubles]] = {}
    facing, shares = [np.zeros(0)] * joints, [np.zeros(0)] * joints
    for joint in reversed(top_down(body.parents).tolist()):
        mine, lower = rows[joint], np.zeros(count)
        for child in children[joint]:
            lower[below[child][0]] += below[child][1]
        under = lower[mine]
        for child in children[joint]:
            whole = np.zeros(count)
            there, deep = below.pop(child)
            whole[there] = deep
            # Where no child pulls, an only child takes it; at a fork nothing tells.
            untold = np.full(len(mine), float(len(children[joint]) == 1))
            shares[child] = np.divide(whole[mine], under, out=untold, where=under > 0)
        lower[mine] += own[joint]
        there = np.flatnonzero(lower)
        below[joint] = there, lower[there]
        if body.parents[joint] < 0:
            facing[joint] = np.zeros(len(mine))
            continue
        above = 1 - lower[mine]
        above[above < NOTHING] = 0
        both = above + under
        # A vertex that hangs on this bone alone faces the nearer end.
        x = bones.local(joint, body.positions[mine])[:, 0]
        is_near = (x < bones.lengths[joint] / 2) | (not children[joint])
        facing[joint] = np.divide(above, both, out=is_near * 1.0, where=both > 0)
    return _Ties(rows, own, facing, shares)


def _exchange(tied: _Ties, chain: Chain, count: int) -> tuple[Doubles, Doubles]:
    """What parent and child hold of each vertex because of this joint, (V,) each."""
    joint, parent = chain.joint, chain.parent
    up, own = np.zeros(count), np.zeros(count)
    downwards = (1 - tied.facing[parent]) * tied.own[parent]
    up[tied.rows[parent]] = tied.shares[joint] * downwards
    own[tied.rows[joint]] = tied.facing[joint] * tied.own[joint]
    return up, own


def _moving(chain: Chain, points: Doubles, up: Doubles, own: Doubles) -> Doubles:
    """The part (R,) of what parent and child hold that is given out.

    All, but what hangs mostly on one of both and stands far out to the side, as a head
    on a thin neck does, is no part of the joint and stays as it is.
    """
    share = own / (up + own)
    pure = np.maximum(_rise(share, *ON_CHILD), _rise(1 - share, *ON_PARENT))
    moving: Doubles = 1 - pure * _rise(chain.aside(points), *FAR)
    return moving


def _rise(values: Doubles, low: float, high: float) -> Doubles:
    """From 0 at `low` to 1 at `high`, smoothly."""
    part = np.clip((values - low) / (high - low), 0, 1)
    risen: Doubles = part * part * (3 - 2 * part)
    return risen


def _give_out(
    chain: Chain,
    points: Doubles,
    normals: NDArray[np.floating],
    amounts: Doubles,
) -> Doubles:
    """Amounts (R,) over parent, links and child: (count + 2, R), by place."""
    steps = chain.place(points) * (chain.count + 1)
    lower = np.minimum(steps.astype(np.intp), chain.count)
    part = steps - lower
    given = np.zeros((chain.count + 2, len(points)))
    columns = np.arange(len(points))
    given[lower, columns] = (1 - part) * amounts
    given[lower + 1, columns] += part * amounts
    fade = chain.fade * np.minimum(np.abs(normals @ chain.across), 1)
    kept = given[1:-1] * fade
    given[1:-1] -= kept
    given[0] += kept.sum(0)
    return given


def _changed(pull: Pull, changes: list[tuple[NDArray[np.intp], Ints, Doubles]]) -> Pull:
    """The pull with changes (rows, joints, amounts) added to it."""
    none = (np.zeros(0, np.intp), np.zeros(0, np.int32), np.zeros(0))
    rows, joints, amounts = (
        np.concatenate(part) for part in zip(*[none, *changes], strict=True)
    )
    touched = np.unique(rows)
    if not len(touched):
        return pull
    sums = pull.weights[touched].sum(1, np.float64)
    old, columns = np.nonzero(pull.weights[touched] > 0)
    was = pull.weights[touched[old], columns] / sums[old]
    rows = np.concatenate([np.searchsorted(touched, rows), old])
    joints = np.concatenate([joints, pull.joints[touched[old], columns]])
    new = _summed(len(touched), rows, joints, np.concatenate([amounts, was]))
    width = max(new.joints.shape[1], pull.joints.shape[1])
    out = Pull(
        np.full((len(pull), width), -1, np.int32),
        np.zeros((len(pull), width), np.float32),
    )
    out.joints[:, : pull.joints.shape[1]] = pull.joints
    out.weights[:, : pull.joints.shape[1]] = pull.weights
    out.joints[touched], out.weights[touched] = -1, 0
    out.joints[touched, : new.joints.shape[1]] = new.joints
    out.weights[touched, : new.joints.shape[1]] = new.weights
    return out


def _summed(count: int, rows: NDArray[np.intp], joints: Ints, amounts: Doubles) -> Pull:
    """A pull of `count` rows by loose entries, which are summed by row and joint."""
    order = np.lexsort((joints, rows))
    rows, joints, amounts = rows[order], joints[order], amounts[order]
    is_first = np.ones(len(rows), bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (joints[1:] != joints[:-1])
    amounts = np.add.reduceat(amounts, np.flatnonzero(is_first))
    rows, joints = rows[is_first], joints[is_first]
    some = amounts > NOTHING
    rows, joints, amounts = rows[some], joints[some], amounts[some]
    starts = np.searchsorted(rows, np.arange(count))
    column = np.arange(len(rows)) - starts[rows]
    width = int(column.max(initial=0)) + 1
    names = np.full((count, width), -1, np.int32)
    weights = np.zeros((count, width))
    names[rows, column], weights[rows, column] = joints, amounts
    return merge_same(names, weights)
