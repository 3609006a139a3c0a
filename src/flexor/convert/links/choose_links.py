"""Links only where they help: joints that look no better with them go without.

Links are put in by place along a joint. That is wrong where the bone above does not
hold the skin on the other side, and on meshes too coarse for it; so it is tried: each
joint with several lengths, then all that became better at once, until none is worse.
Twist links are tried then, in the same way, at joints whose bone leads to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.links.link_bones import link_bones
from flexor.convert.links.link_weights import VARIANTS, LinkSettings
from flexor.convert.shape.astray import find_astray
from flexor.convert.shape.body import Body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.judge_joints import (
    JointScore,
    JudgePlan,
    is_better,
    is_worse,
    judge_body,
    plan_judging,
)
from flexor.convert.weights.edit_weights import limit_influences
from flexor.errors import SettingError
from flexor.scene.character.mirror_pairs import mirror_pairs
from flexor.scene.finding import Finding

__all__ = ["choose_links"]

ROUNDS = 12  # of taking links away and trying again
HOLDS = 0.05  # a weight that holds skin
STEP = np.radians(30)  # of twist from link to link at most: 0.96 of the radius stays
LEAST_TWISTS = 2
WORTH = 0.05  # of a score
FAR = 1.0  # of the body's thickness: links may not move skin further in clips
SEEN = 2e-3  # of the skin around a joint, in clips: what links may cost
AT_TIP = 0.8  # of a bone: what hangs on it from here on hangs on its tip

Wanted = dict[int, LinkSettings]
Scores = list[dict[int, JointScore]]


def choose_links(
    facts: SceneFacts,
    settings: Sequence[Mapping[int, LinkSettings]],
    most: int = 0,
    *,
    given: SceneFacts | None = None,
) -> tuple[SceneFacts, list[Finding]]:
    """The scene with links at those of the wanted joints that look better with them.

    settings: as for link_bones; a length or fade of None is chosen for each joint;
    most: how many joints will pull a vertex in the end, 0 for any number; given: the
    scene before any repair, None for this one: no joint is to look worse than there.
    Joints go without links if no skin passes from the bone above to theirs, or if they
    are not clearly better with them (see `judge_joints`).
    """
    wanted: list[Wanted] = []
    linked_before: list[Wanted] = []  # left as they are, which link_bones says
    left: dict[str, list[str]] = {}
    links = facts.scene.skeleton.links
    for known, own in zip(facts.bodies, settings, strict=True):
        body, joined = known.body, _joined(known)
        is_link = np.isin(body.joints, list(links))
        has_links = np.isin(body.joints, [link.joint for link in links.values()])
        linked_before.append({row: own[row] for row in own if has_links[row]})
        is_open = (body.parents >= 0) & ~is_link & ~has_links
        below = [row for row in own if is_open[row]]
        wanted.append({row: own[row] for row in below if row in joined})
        apart = [body.names[row] for row in below if row not in joined]
        left.setdefault("no skin passes to them from the bone above", []).extend(apart)
    given = facts if given is None else given
    plans = [plan_judging(given, body) for body in given.bodies]
    before = _judge(facts, plans)
    first = before if given is facts else _judge(given, plans)
    twins = [
        _twins(own.body, asked) for own, asked in zip(facts.bodies, wanted, strict=True)
    ]
    trial = _Trial(facts, plans, twins, first, most)
    bends = [
        {row: replace(settings, twists=0) for row, settings in own.items()}
        for own in wanted
    ]
    none: list[Wanted] = [{} for _ in bends]
    chosen, scores = _settled(trial, none, _best(trial, bends, before), before)
    wound = _with_twists(trial, chosen, wanted, scores)
    if any(wound):
        # Skin that was wrung moves far when it is not: that is what they are for.
        chosen, _ = _settled(trial, chosen, wound, scores, may_move=True)
    for known, asked, own in zip(facts.bodies, wanted, chosen, strict=True):
        rest = [known.body.names[row] for row in asked if row not in own]
        left.setdefault("they would look no better", []).extend(rest)
    both = zip(chosen, linked_before, strict=True)
    linked, findings = link_bones(facts, [{**new, **old} for new, old in both])
    return linked, [*findings, *_tell(left)]


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """What links are tried on.

    plans: how each body is judged; twins: of each joint, with which it is judged as
    one, since both sides of a body are to be linked alike; first: the scores before any
    repair; most: see choose_links.
    """

    facts: SceneFacts
    plans: Sequence[JudgePlan]
    twins: Sequence[Ints]
    first: Scores
    most: int

    def scores(self, settings: Sequence[Wanted]) -> Scores:
        """The scores with links."""
        return _judge(self.linked(settings), self.plans)

    def astray(self, settings: Sequence[Wanted]) -> list[set[int]]:
        """For each body the joints whose skin links move far in clips.

        Nothing may look bad there, and yet not be what was meant: a shell that stands
        off, a straight limb with a kink.
        """
        linked = self.linked(settings)
        return [
            find_astray((self.facts, own), (linked, other), FAR)
            for own, other in zip(self.facts.bodies, linked.bodies, strict=True)
        ]

    def linked(self, settings: Sequence[Wanted]) -> SceneFacts:
        """The scene with links, as it will be."""
        linked, _ = link_bones(self.facts, settings)
        if not self.most:
            return linked
        pulls = {
            number: limit_influences(own.body.pull, self.most)
            for number, own in enumerate(linked.bodies)
        }
        return linked.with_pulls(pulls)


def _settled(
    trial: _Trial,
    plain: Sequence[Wanted],
    more: Sequence[Wanted],
    before: Scores,
    *,
    may_move: bool = False,
) -> tuple[list[Wanted], Scores]:
    """What is left of more links when joints that look no better, or spoil others, have
    gone back to what they had, and the scores with that.

    plain: the links before, with which the scores were `before`; more: other links of
    some joints; may_move: whether they may move skin far in clips.
    """
    rest = [dict(own) for own in more]
    for _ in range(ROUNDS):
        chosen = [{**old, **new} for old, new in zip(plain, rest, strict=True)]
        after = trial.scores(chosen)
        astray = [set[int]()] * len(chosen) if may_move else trial.astray(chosen)
        spoilt = [
            _spoilt(own, rest[number], (trial.first[number], before[number]), scores)
            | _behind(own, rest[number], astray[number])
            for number, (own, scores) in enumerate(
                zip(trial.facts.bodies, after, strict=True)
            )
        ]
        if not any(spoilt):
            return chosen, after
        for new, rows, pairs in zip(rest, spoilt, trial.twins, strict=True):
            for row in rows:
                new.pop(row, None)
                new.pop(int(pairs[row]), None)
    return [dict(old) for old in plain], before


def _with_twists(
    trial: _Trial, chosen: Sequence[Wanted], wanted: Sequence[Wanted], before: Scores
) -> list[Wanted]:
    """Settings with twist links, of joints that look better with them; before: the
    scores with the chosen links.
    """
    tried: list[Wanted] = []
    for own, plan, links, asked in zip(
        trial.facts.bodies, trial.plans, chosen, wanted, strict=True
    ):
        tried.append({})
        for row in _leading(own) & asked.keys():
            count = min(_twists(plan, row), asked[row].twists)
            if count:
                plain = links.get(row, LinkSettings(count=0))
                tried[-1][row] = replace(plain, twists=count)
    if not any(tried):
        return tried
    whole = [{**old, **new} for old, new in zip(chosen, tried, strict=True)]
    new, old = (_paired(one, trial.twins) for one in (trial.scores(whole), before))
    return [
        {
            row: settings
            for row, settings in own.items()
            if row in old[number] and _is_worth(new[number][row], old[number][row])
        }
        for number, own in enumerate(tried)
    ]


def _is_worth(new: JointScore, old: JointScore) -> bool:
    """Whether twist links gain what several nodes and their tracks cost."""
    return is_better(new, old) and new.score < old.score - WORTH


def _twists(plan: JudgePlan, row: int) -> int:
    """How many twist links a joint needs for how far it is tried to twist."""
    mine = (plan.poses.rows == row) & (plan.poses.axes == 0)
    angle = float(np.abs(plan.poses.angles[mine]).max(initial=0))
    return max(int(np.ceil(angle / STEP - 1e-6)), LEAST_TWISTS) if angle else 0


def _leading(own: BodyFacts) -> set[int]:
    """Joints (rows) whose bone leads to another that holds skin, with none before."""
    body, bones = own.body, own.shape_by_place.bones
    holding = set(np.unique(body.pull.joints[body.pull.weights > 0]).tolist())
    found = set()
    for row, tip in enumerate(bones.tips.tolist()):
        below = np.flatnonzero(body.parents == row)
        ends = [child for child in below.tolist() if child in holding]
        along = bones.local(row, bones.bases[ends])[:, 0]
        if tip in ends and (along >= AT_TIP * bones.lengths[row]).all():
            found.add(row)
    return found


def _judge(facts: SceneFacts, plans: Sequence[JudgePlan]) -> Scores:
    """The scores of all joints of all bodies, by row."""
    return [
        {one.row: one for one in judge_body(facts, own, plan).joints}
        for own, plan in zip(facts.bodies, plans, strict=True)
    ]


def _best(trial: _Trial, wanted: Sequence[Wanted], without: Scores) -> list[Wanted]:
    """For each joint that some links make better, the best of those tried.

    without: the scores without links.
    """
    before = _paired(without, trial.twins)
    best: Scores = [{} for _ in wanted]
    chosen: list[Wanted] = [{} for _ in wanted]
    for length, fade in VARIANTS:
        variants = [
            {row: _variant(own, length, fade) for row, own in mine.items()}
            for mine in wanted
        ]
        known = [
            {row: own for row, own in mine.items() if own is not None and own.count}
            for mine in variants
        ]
        if not any(known):
            continue
        scores = _paired(trial.scores(known), trial.twins)
        for number, mine in enumerate(known):
            for row, own in mine.items():
                new, old = scores[number].get(row), before[number].get(row)
                if new is None or old is None or not is_better(new, old):
                    continue
                least = best[number].get(row)
                if least is None or new.score < least.score:
                    best[number][row], chosen[number][row] = new, own
    return chosen


def _twins(body: Body, wanted: Wanted) -> Ints:
    """For each joint its twin on the other side, itself unless both are wanted."""
    rows = np.arange(len(body.names), dtype=np.int32)
    try:
        twins = mirror_pairs(body.names, body.frames)
    except SettingError:
        return rows
    asked = np.isin(rows, list(wanted))
    return np.where(asked & asked[twins], twins, rows)


def _paired(scores: Scores, twins: Sequence[Ints]) -> Scores:
    """Scores of which twins have the mean of both."""
    return [
        {
            row: replace(
                one,
                tried=(one.tried + mine.get(int(pairs[row]), one).tried) / 2,
                seen=(one.seen + mine.get(int(pairs[row]), one).seen) / 2,
            )
            for row, one in mine.items()
        }
        for mine, pairs in zip(scores, twins, strict=True)
    ]


def _variant(own: LinkSettings, length: float, fade: float) -> LinkSettings | None:
    """The settings with a length and fade that were left open; None: tried before."""
    first = VARIANTS[0]
    is_tried = (own.length is not None and length != first[0]) or (
        own.fade is not None and fade != first[1]
    )
    if is_tried:
        return None
    return replace(
        own,
        length=length if own.length is None else own.length,
        fade=fade if own.fade is None else own.fade,
    )


def _spoilt(
    facts: BodyFacts,
    chosen: Wanted,
    before: tuple[Mapping[int, JointScore], Mapping[int, JointScore]],
    after: Mapping[int, JointScore],
) -> set[int]:
    """Rows whose links are to go: no better, or next to a joint that is worse.

    before: the scores at first, and those without links.
    """
    spoilt = set()
    parents = facts.body.parents
    for row, new in after.items():
        first, plain = before[0].get(row), before[1].get(row)
        if first is None or plain is None:
            continue
        if row in chosen and new.score >= plain.score:
            spoilt.add(row)
        elif new.seen > plain.seen + SEEN or (
            is_worse(new, first)
            and (new.score > plain.score or not is_worse(plain, first))
        ):
            spoilt |= _nearest(parents, row, set(chosen))
    return spoilt


def _behind(own: BodyFacts, chosen: Wanted, rows: set[int]) -> set[int]:
    """The chosen of some joints; of one that is none of them, those next to it."""
    parents, every = own.body.parents, set(chosen)
    none: set[int] = set()
    found = ({row} & every or _nearest(parents, row, every) for row in rows)
    return none.union(*found)


def _nearest(parents: Ints, row: int, chosen: set[int]) -> set[int]:
    """Those of the chosen joints that are next to a joint in the tree: it, the one
    above and that one's others below, its own below; else those that are next to these.
    """
    above = int(parents[row])
    near = {row, above, *np.flatnonzero(parents == row).tolist()}
    near |= set(np.flatnonzero(parents == above).tolist())
    while chosen and not near & chosen:
        ring = np.array(sorted(near))
        wider = (
            near
            | set(parents[ring[ring >= 0]].tolist())
            | set(np.flatnonzero(np.isin(parents, ring)).tolist())
        )
        if wider == near:
            break
        near = wider
    return near & chosen


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
