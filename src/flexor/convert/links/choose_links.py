"""Links only where they help: joints that bend worse with them go without.

Links are put in by place along a joint. That is wrong where the bone above does not
hold the skin on the other side, and on meshes too coarse for it; so the result is
tried: joints are bent and twisted, and the clips are played, before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.links.bake_links import Baked
from flexor.convert.links.link_bones import link_bones
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.measure_joints import (
    JointMeasure,
    measure_joints,
    plan_measures,
)
from flexor.convert.shape.surface import Surface
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["choose_links"]

ROUNDS = 4  # of taking links away and trying again
HOLDS = 0.05  # a weight that holds skin
LOSS = 0.08  # of the volume: a joint that keeps so much less in any turn is worse
TORN = 3.0  # times its length at rest: an edge that is stretched more is torn,
WORSE = 2.0  # if it is that many times as long as without links
MOST_TORN = 2  # edges that may be torn at a joint
BATCH = 8  # poses at once

Wanted = dict[int, LinkSettings]


def choose_links(
    facts: SceneFacts, settings: Sequence[Mapping[int, LinkSettings]]
) -> tuple[SceneFacts, list[Finding]]:
    """The scene with links at those of the wanted joints that are better with them.

    settings: as for link_bones. Joints go without links if no skin passes from the bone
    above to theirs, if a bend or a twist leaves clearly less of their volume than
    without, or if edges around them tear at poses of the clips.
    """
    scene, bodies = facts.scene, facts.bodies
    wanted: list[Wanted] = []
    left: dict[str, list[str]] = {}
    for known, own in zip(bodies, settings, strict=True):
        body, joined = known.body, _joined(known)
        links = np.isin(body.joints, list(scene.skeleton.links))
        below = [row for row in own if body.parents[row] >= 0 and not links[row]]
        wanted.append({row: own[row] for row in below if row in joined})
        apart = [body.names[row] for row in below if row not in joined]
        left.setdefault("no skin passes to them from the bone above", []).extend(apart)
    plans = [plan_measures(scene, body) for body in bodies]
    before = [
        {one.row: one for one in measure_joints(facts, body, plan)}
        for body, plan in zip(bodies, plans, strict=True)
    ]
    baked: Baked = {}
    for turn in range(ROUNDS):
        linked, findings = link_bones(facts, wanted, baked=baked)
        lost = False
        for number, known in enumerate(linked.bodies):
            body, after = known.body, measure_joints(linked, known, plans[number])
            worse = set(_worse(before[number], after)) & set(wanted[number])
            torn = _torn(facts, linked, number) & set(wanted[number])
            idle = set(wanted[number]) - _held(linked.scene, body)
            for rows, why in (
                (worse, "they would keep less of their volume"),
                (torn - worse, "the skin would tear in clips"),
                (idle - worse - torn, "nothing would hang on them"),
            ):
                names = [body.names[row] for row in sorted(rows)]
                left.setdefault(why, []).extend(names)
                lost = lost or bool(rows)
            wanted[number] = {
                row: s
                for row, s in wanted[number].items()
                if row not in worse | torn | idle
            }
        if not lost:
            break
        if turn == ROUNDS - 1:
            linked, findings = link_bones(facts, wanted, baked=baked)
    return linked, [*findings, *_tell(left)]


def _tell(left: Mapping[str, list[str]]) -> Iterator[Finding]:
    for why, names in left.items():
        if names:
            some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            text = f"{len(names)} joints go without links, as {why}: {some}"
            yield Finding("info", "links-left-out", "links", text)


def _joined(facts: BodyFacts) -> set[int]:
    """Joints whose bone and the one above hold the same points, or neighbours."""
    body, surface = facts.body, facts.by_place
    pull = body.pull.take(surface.vertex_of_point)
    holds = np.where(pull.weights >= HOLDS, pull.joints, -1)
    holds[surface.point_of_vertex[body.rigid]] = -1
    found = {
        (int(above), int(row)) for row, above in enumerate(body.parents) if above >= 0
    }
    seen = _pairs(holds, holds)
    first, second, _ = surface.edges()
    seen |= _pairs(holds[first], holds[second]) | _pairs(holds[second], holds[first])
    return {row for above, row in found & seen}


def _pairs(
    one: NDArray[np.integer], other: NDArray[np.integer]
) -> set[tuple[int, int]]:
    """Pairs of joints that rows (R, K) of both name."""
    seen: set[tuple[int, int]] = set()
    for a in one.T:
        for b in other.T:
            both = (a >= 0) & (b >= 0)
            pairs = np.unique(np.stack([a[both], b[both]], 1), axis=0)
            seen.update(map(tuple, pairs.tolist()))
    return seen


def _worse(
    before: Mapping[int, JointMeasure], after: Sequence[JointMeasure]
) -> Iterator[int]:
    """Rows of joints that keep clearly less of their volume than before."""
    for new in after:
        old = before.get(new.row)
        if old is None or not (old.is_measured and new.is_measured):
            continue
        gains = [
            getattr(new, turn) - getattr(old, turn)
            for turn in ("bend90", "bend150", "twist180")
            if getattr(new, turn) is not None and getattr(old, turn) is not None
        ]
        if gains and (min(gains) < -LOSS or sum(gains) < 0):
            yield new.row


def _torn(plain: SceneFacts, linked: SceneFacts, number: int) -> set[int]:
    """Rows of a body's joints around which edges tear at poses of the clips."""
    surface = plain.bodies[number].by_place
    old, new = plain.bodies[number].body, linked.bodies[number].body
    first, second, _ = surface.edges()
    if not plain.scene.clips or not len(first):
        return set()
    is_torn = np.zeros(len(first), bool)
    layouts, poses = [plain.layout, linked.layout], [plain.poses, linked.poses]
    binds = [bind_body(plain.scene, old), bind_body(linked.scene, new)]
    ends = surface.vertex_of_point[first], surface.vertex_of_point[second]
    rest = _lengths(deform_body(layouts[0], binds[0], layouts[0].rest[None])[0], ends)
    sound = rest[0] > 1e-6 * old.size
    for start in range(0, len(poses[0]), BATCH):
        lengths = [
            _lengths(deform_body(lay, bind, pose[start : start + BATCH])[0], ends)
            for lay, bind, pose in zip(layouts, binds, poses, strict=True)
        ]
        long = lengths[1] > np.maximum(TORN * rest, WORSE * lengths[0])
        is_torn |= (long & sound).any(0)
    return _blamed(linked.scene, new, surface, first[is_torn], second[is_torn])


def _lengths(
    places: NDArray[np.float32], ends: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> NDArray[np.float64]:
    """Lengths (N, E) of edges between vertices at `places` (N, V, 3)."""
    across = places[:, ends[0]].astype(np.float64) - places[:, ends[1]]
    lengths: NDArray[np.float64] = np.linalg.norm(across, axis=2)
    return lengths


def _held(linked: Scene, body: Body) -> set[int]:
    """Rows of joints whose links hold something."""
    used = np.unique(body.pull.joints[body.pull.weights > 0])
    return set(_joint_of(linked, body)[used[used >= 0]].tolist()) - {-1}


def _joint_of(linked: Scene, body: Body) -> Ints:
    """For each row the row of the joint that it is a link of, or -1."""
    rows = body.joint_rows(linked.skeleton.links)
    return np.where(rows == np.arange(len(rows)), -1, rows).astype(np.int32)


def _blamed(
    linked: Scene,
    body: Body,
    surface: Surface,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
) -> set[int]:
    """Joints whose links hold an end of more than a few of some edges."""
    joint_of = _joint_of(linked, body)
    pull: Pull = body.pull.take(surface.vertex_of_point)
    held = np.where(pull.weights >= HOLDS, pull.joints, -1)
    held = np.where(held >= 0, joint_of[held], -1)
    both = np.sort(np.concatenate([held[first], held[second]], 1), axis=1)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = -1  # once for each edge
    counts = np.bincount(both[both >= 0], minlength=len(body.joints))
    return set(np.flatnonzero(counts > MOST_TORN).tolist())
