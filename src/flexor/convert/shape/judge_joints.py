"""How good a skin looks where its joints turn: what an eye sees, not what it weighs.

Every joint is turned alone, as far as it may, and the clips are played (or all joints
turned at random where there are none). What is counted is skin that is folded, torn or
squeezed (see `strain`), as an area beside that of the skin around the joint; and what a
bend leaves of the volume there and a twist of the width, since skin that collapses is
not strained by it.
Volume alone would not do: a crumpled elbow can keep all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Doubles, Floats, Ints
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.joint_poses import JointPoses, plan_poses, random_poses
from flexor.convert.shape.joint_regions import Region, joint_regions, region_volume
from flexor.convert.shape.measure_joints import moving_joints
from flexor.convert.shape.slices import least_width, slice_region
from flexor.convert.shape.strain import Strain, StrainForm, find_strain, make_form

__all__ = [
    "JointScore",
    "JudgePlan",
    "Judged",
    "TrialScore",
    "is_better",
    "is_worse",
    "judge_body",
    "plan_judging",
]

BATCH = 16  # poses at once
# Of the volume, and of the area of a slice when a joint twists: what is left where it
# looks well.
LEFT, SLICE = 0.9, 0.8
CLIPS = 4.0  # how much more poses of clips count than those of trials
# Of the skin around a joint, and of what looked bad before: if more than this looks bad
# that did not, it is worse.
WORSE = 0.02
SPIKE = 0.22  # the same of a single trial
TWIST = 0  # the axis of trials about the bone
LESS, LEAST = 0.97, 0.005  # times a score, and less by this: what is clearly better


@dataclass(frozen=True, slots=True, eq=False)
class JudgePlan:
    """What is judged of a body; weights may change and links be added after it is made.

    form: its triangles; owners: int32 (F,), the row of the joint nearest to each, in
    thicknesses of the body there; near: bool (S, S), which joints' triangles are looked
    at when a joint is tried: its own, those of the joint above and of that one's others
    below, and of its own below; what is further away is strained by rigs whose feet do
    not hang on their legs, and is seen in clips; rows: int32 (R,), the joints that are
    judged; areas: float64 (R,), of the skin around each, square metres; poses: in which
    each is tried; regions: for the volume, by row; slices: of their points, by row.
    """

    form: StrainForm
    owners: Ints
    near: Bools
    rows: Ints
    areas: Doubles
    poses: JointPoses
    regions: Mapping[int, Region]
    slices: Mapping[int, Ints]


@dataclass(frozen=True, slots=True)
class TrialScore:
    """How bad the skin around a joint looks in one of its trials.

    axis: 0 for a twist about its bone, 1 and 2 for bends; angle: radians; bad: as
    `tried` of a JointScore, of this pose alone.
    """

    axis: int
    angle: float
    bad: float


@dataclass(frozen=True, slots=True)
class JointScore:
    """How bad the skin around a joint looks, 0 for faultless.

    row, node, name: the joint's; tried: the mean over the poses in which it is tried of
    the area that looks bad, beside that of the skin around it, and of what is missing
    of the volume, or of a slice where it twists; seen: the area alone, in poses of
    clips or at random; folds, torn, squeezed: edges and triangles, the mean over the
    trials; left: the least share of the volume in any of them, None where the skin is
    no solid; trials: each of them, in the order of the plan.
    """

    row: int
    node: int
    name: str
    tried: float
    seen: float
    folds: float
    torn: float
    squeezed: float
    left: float | None
    trials: tuple[TrialScore, ...] = ()

    @property
    def score(self) -> float:
        """All of it in one number: the less, the better."""
        return self.tried + CLIPS * self.seen


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A body judged: its joints, and edges folded, triangles torn and squeezed in a
    pose of its clips, the mean of all of them.

    hurt: float64 (F,), how bad each triangle looks: the mean over the trials of a
    joint, added up over joints, and that over the poses of clips, which count more.
    trials: float64 (N,), how bad the skin looks in each pose of the plan, as `tried`.
    """

    joints: tuple[JointScore, ...]
    folds: float
    torn: float
    squeezed: float
    hurt: Doubles
    trials: Doubles

    @property
    def strains(self) -> tuple[float, float, float]:
        """Folds, torn and squeezed."""
        return self.folds, self.torn, self.squeezed


def is_worse(new: JointScore, old: JointScore) -> bool:
    """Whether a joint looks worse than before, by what can be seen.

    Altogether, or in a single trial: what is gained in one pose does not pay for what
    is spoilt in another.
    """
    if new.seen > old.seen + WORSE / CLIPS:
        return True
    if new.score > old.score + WORSE * max(old.score, 1.0):
        return True
    return any(
        mine.bad > was.bad + SPIKE * max(was.bad, 1.0)
        for mine, was in zip(new.trials, old.trials, strict=False)
    )


def is_better(new: JointScore, old: JointScore) -> bool:
    """Whether a joint looks clearly better than before, and in clips not worse."""
    is_less = new.score < LESS * old.score - LEAST
    is_kept = new.seen <= old.seen + LEAST / CLIPS
    return is_less and is_kept and not is_worse(new, old)


def plan_judging(facts: SceneFacts, own: BodyFacts) -> JudgePlan:
    """What there is to judge of a body of a scene, links or none."""
    links = facts.scene.skeleton.links
    rest = _deform(facts, own, facts.layout.rest[None])[0]
    own = own.without_links(links)
    body, shape = own.body, own.shape_by_place
    bones, sections = shape.bones, shape.sections
    rows = np.array(moving_joints(facts.scene, body), np.int32)
    form = make_form(body, own.by_place, rest)
    thick = np.maximum(sections.thickness[:, 0], 1e-30)
    owners = np.zeros(len(form.faces), np.int32)
    if len(rows):
        middles = own.by_place.positions[form.faces].mean(1)
        away = np.linalg.norm(middles[:, None] - bones.bases[rows], axis=2)
        owners = rows[np.argmin(away / thick[rows], axis=1)]
    growth = np.sqrt(form.areas.sum() / max(own.area, 1e-30))
    owned = np.bincount(owners, form.areas, len(body.joints))[rows]
    regions = joint_regions(body, own.by_place, bones, sections, links)
    return JudgePlan(
        form,
        owners,
        _near(body.parents),
        rows,
        # More than nothing, also where the skin has no area.
        np.maximum(np.maximum(4 * np.pi * (thick[rows] * growth) ** 2, owned), 1e-30),
        plan_poses(facts, body, bones, rows),
        regions,
        {row: slice_region(one, own.by_place, bones) for row, one in regions.items()},
    )


def judge_body(facts: SceneFacts, own: BodyFacts, plan: JudgePlan) -> Judged:
    """How the body of a scene looks; plan: of this body, with or without links."""
    rest = _deform(facts, own, facts.layout.rest[None])
    base = find_strain(plan.form, rest)
    tried = _try_joints(facts, own, plan, (rest, base))
    seen, totals = _see_poses(facts, own, plan, base)
    hurt = tried.hurt + CLIPS * seen
    owned = np.bincount(plan.owners, seen * plan.form.areas, len(own.body.joints))
    scores = tuple(
        JointScore(
            row,
            int(own.body.joints[row]),
            own.body.names[row],
            float(tried.joints[at, 0]),
            float(owned[row] / plan.areas[at]),
            float(tried.joints[at, 1]),
            float(tried.joints[at, 2]),
            float(tried.joints[at, 3]),
            float(tried.left[at]) if np.isfinite(tried.left[at]) else None,
            tuple(
                TrialScore(
                    int(plan.poses.axes[one]),
                    float(plan.poses.angles[one]),
                    float(tried.trials[one]),
                )
                for one in np.flatnonzero(plan.poses.rows == row).tolist()
            ),
        )
        for at, row in enumerate(plan.rows.tolist())
    )
    folds, torn, squeezed = totals.tolist()
    return Judged(scores, folds, torn, squeezed, hurt, tried.trials)


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """What the trials of R joints came to.

    joints: float64 (R, 4), what looks bad, edges folded, triangles torn and squeezed,
    the mean over a joint's trials; left: float64 (R,), the least share of the volume,
    infinite where it has none; trials, hurt: see Judged, `hurt` of trials alone.
    """

    joints: Doubles
    left: Doubles
    trials: Doubles
    hurt: Doubles


def _try_joints(
    facts: SceneFacts, own: BodyFacts, plan: JudgePlan, at_rest: tuple[Floats, Strain]
) -> _Tried:
    """Turn each joint as planned; at_rest: the vertices (1, V, 3) and their strain."""
    rest, base = at_rest
    row_at = {row: at for at, row in enumerate(plan.rows.tolist())}
    counts = np.maximum(np.bincount(plan.poses.rows, minlength=len(own.body.joints)), 1)
    found = _Tried(
        np.zeros((len(plan.rows), 4)),
        np.full(len(plan.rows), np.inf),
        np.zeros(len(plan.poses)),
        np.zeros(len(plan.form.faces)),
    )
    volumes = {
        row: float(_volumes(own, region, rest)[0])
        for row, region in plan.regions.items()
    }
    for start in range(0, len(plan.poses), BATCH):
        part = slice(start, start + BATCH)
        places = _deform(facts, own, plan.poses.local(facts.layout, own.body, part))
        strain = find_strain(plan.form, places)
        tried = plan.poses.rows[part]
        is_near = plan.near[tried][:, plan.owners]
        bad = np.where(is_near, np.maximum(strain.bad - base.bad[0], 0), 0)
        found.hurt[:] += (1 / counts[tried]) @ bad
        folded = strain.folded & ~base.folded & is_near[:, plan.form.sides[:, 0]]
        sums = (
            bad @ plan.form.areas,
            np.count_nonzero(folded, axis=1),
            np.count_nonzero(strain.torn & ~base.torn & is_near, axis=1),
            np.count_nonzero(strain.squeezed & ~base.squeezed & is_near, axis=1),
        )
        for at, row in enumerate(tried.tolist()):
            here, share = row_at[row], 1 / counts[row]
            left = _volume_left(own, plan, row, volumes, places[at : at + 1])
            found.left[here] = min(found.left[here], left)
            missing = max(LEFT - left, 0.0)
            if plan.poses.axes[start + at] == TWIST:
                missing = max(_slice_lost(own, plan, row, rest[0], places[at]), missing)
            found.trials[start + at] = sums[0][at] / plan.areas[here] + missing
            found.joints[here, 0] += found.trials[start + at] * share
            for column in range(1, 4):
                found.joints[here, column] += sums[column][at] * share
    return found


def _volume_left(
    own: BodyFacts,
    plan: JudgePlan,
    row: int,
    volumes: Mapping[int, float],
    places: Floats,
) -> float:
    """The share of the volume around a joint that is left; infinite without any.

    volumes: at rest, by row; places: of all vertices, (1, V, 3).
    """
    volume = volumes.get(row, 0.0)
    if abs(volume) <= 1e-30:
        return float("inf")
    return float(_volumes(own, plan.regions[row], places)[0] / volume)


def _slice_lost(
    own: BodyFacts, plan: JudgePlan, row: int, rest: Floats, places: Floats
) -> float:
    """What is missing of the slice around a joint that has lost most of its area.

    rest, places: of all vertices, (V, 3).
    """
    if row not in plan.slices:
        return 0.0
    points = own.by_place.vertex_of_point[plan.regions[row].points]
    width = least_width(plan.slices[row], rest[points], places[points])
    return max(SLICE - width * width, 0.0)


def _see_poses(
    facts: SceneFacts, own: BodyFacts, plan: JudgePlan, base: Strain
) -> tuple[Doubles, Doubles]:
    """How bad each triangle (F,) looks in poses of clips, or at random, and edges
    folded, triangles torn and squeezed (3,); all the mean of the poses.

    base: the strain at rest.
    """
    poses = facts.poses if len(facts.poses) else random_poses(facts)
    seen, totals = np.zeros(len(plan.form.faces)), np.zeros(3)
    for start in range(0, len(poses), BATCH):
        places = _deform(facts, own, poses[start : start + BATCH])
        strain = find_strain(plan.form, places)
        seen += np.maximum(strain.bad - base.bad[0], 0).sum(0, np.float64)
        totals += (
            np.count_nonzero(strain.folded & ~base.folded),
            np.count_nonzero(strain.torn & ~base.torn),
            np.count_nonzero(strain.squeezed & ~base.squeezed),
        )
    count = max(len(poses), 1)
    return seen / count, totals / count


def _near(parents: Ints) -> Bools:
    """Which joints are next to each other in the tree (S, S): see JudgePlan."""
    count = len(parents)
    above = np.zeros((count, count + 1), bool)
    above[np.arange(count), parents] = True  # a root's parent is the last column
    above = above[:, :count]
    siblings = (parents[:, None] == parents[None]) & (parents >= 0)[:, None]
    near: Bools = np.eye(count, dtype=bool) | above | above.T | siblings
    return near


def _deform(facts: SceneFacts, own: BodyFacts, local: Floats) -> Floats:
    return deform_body(facts.layout, bind_body(facts.scene, own.body), local)[0]


def _volumes(own: BodyFacts, region: Region, places: Floats) -> Doubles:
    """The volume (N,) of a region; places: of all vertices, (N, V, 3)."""
    vertices = own.by_place.vertex_of_point[region.points]
    return region_volume(region, places[:, vertices])
