"""What is wrong with the weights of a scene; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Floats, Ints
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.chained import hang_in_chains
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.hard_parts import hard_joints, machine_joints
from flexor.convert.shape.judge_joints import JointScore, judge_body, plan_judging
from flexor.convert.shape.measure_joints import (
    JointMeasure,
    measure_joints,
    plan_measures,
)
from flexor.convert.shape.sections import Shape
from flexor.convert.shape.surface import Surface
from flexor.convert.shape.thickness import point_thickness
from flexor.convert.weights.mend_rogues import Rogues, mend_rogues
from flexor.scene.character.skeleton import Link
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = [
    "BAD",
    "BodyCheck",
    "RogueCheck",
    "StepCheck",
    "WeightCheck",
    "check_weights",
    "edge_steps",
]

USUAL = 4  # influences that every engine takes
TINY = 0.01  # a weight below this moves nothing that can be seen
WIDTH = 2.0  # thicknesses over which a weight may go from 0 to 1
SPARE = 1.25  # times what is allowed: less is no step
LEAST_STEP = 0.05  # nor is a smaller change
BAD = 0.5  # a score: half of the skin around a joint looks bad when it turns
MENDED = ("weights-mended",)  # codes of findings that readers leave about weights

Place = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class StepCheck:
    """Where the weight of a joint changes too fast along the surface.

    edges: how many are too steep; change, allowed: of the worst one; place: of its
    first end, metres, in the space of the bind pose; vertex: number of that in the
    surface at `where`.
    """

    joint: str
    edges: int
    change: float
    allowed: float
    place: Place
    where: str
    vertex: int


@dataclass(frozen=True, slots=True)
class RogueCheck:
    """Skin that hangs on a joint but is cut off from it.

    points: how many; weight: the largest; place: their middle, metres, in the space of
    the bind pose; heirs: names of the joints that it belongs to.
    """

    joint: str
    points: int
    weight: float
    place: Place
    heirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BodyCheck:
    """The weights of all surfaces on one set of joints.

    influences: vertices by number of joints that pull them; many: those of more than
    four; tiny: with a weight below 0.01; loose: that nothing pulls; steps: by joint,
    those with the most edges first; scores: how bad joints look when they turn, see
    `judge_joints`; folds, torn, squeezed: edges and triangles in a pose of the clips,
    or at random; hard: names of joints that meet others in cuts, as machines do;
    measures: how much volume is left of joints that bend.
    """

    name: str
    vertices: int
    joints: int
    influences: dict[int, int]
    many: int
    tiny: int
    loose: int
    edges: int
    steps: tuple[StepCheck, ...]
    rogues: tuple[RogueCheck, ...]
    scores: tuple[JointScore, ...]
    folds: float
    torn: float
    squeezed: float
    hard: tuple[str, ...]
    measures: tuple[JointMeasure, ...]


@dataclass(frozen=True, slots=True)
class WeightCheck:
    """All bodies of a scene, and what is odd about them in words."""

    bodies: tuple[BodyCheck, ...]
    findings: tuple[Finding, ...]


def check_weights(
    scene: Scene, rigid: Sequence[bool] = (), *, has_measures: bool = True
) -> WeightCheck:
    """Look at the weights of every skin of a scene.

    rigid: for each mesh whether it is marked as rigid, where steps are right; none: no
    mesh is. has_measures: whether joints are bent to see how much of them is left.
    """
    findings = [finding for finding in scene.findings if finding.code in MENDED]
    bodies = []
    scene = hang_in_chains(scene)
    facts = SceneFacts(scene, rigid)
    for own in facts.bodies:
        linked, plain = own.body, own.without_links(scene.skeleton.links)
        body, shape = plain.body, plain.shape
        measures: list[JointMeasure] = []
        judged = None
        if has_measures:
            plan = plan_measures(scene, plain)
            measures = measure_joints(facts, own, plan)
            judged = judge_body(facts, own, plan_judging(facts, own))
        form = shape.pull, shape.surface, len(body.joints)
        hard, machine = hard_joints(*form), machine_joints(*form)
        rogues = _without_linked(mend_rogues(plain), linked, scene.skeleton.links)
        counts = np.count_nonzero(linked.pull.weights, axis=1)
        numbers, many = np.unique(counts, return_counts=True)
        one = BodyCheck(
            scene.skins[body.skins[0]].name or scene.meshes[body.places[0][0]].name,
            len(body),
            len(body.joints),
            dict(zip(numbers.tolist(), many.tolist(), strict=True)),
            int(np.count_nonzero(counts > USUAL)),
            int(np.count_nonzero(_is_tiny(linked.pull))),
            int(np.count_nonzero(counts == 0)),
            len(shape.surface.neighbours) // 2,
            _steps(body, shape),
            _rogues(body, rogues),
            () if judged is None else _judged(judged.joints, machine),
            *((0.0, 0.0, 0.0) if judged is None else judged.strains),
            tuple(body.names[row] for row in np.flatnonzero(hard)),
            tuple(measures),
        )
        bodies.append(one)
        findings += _find_places(linked)
        findings += _find_steps(one)
        findings += rogues.findings(body.names)
        findings += _find_bad(one)
    return WeightCheck(tuple(bodies), tuple(findings))


def _judged(scores: Sequence[JointScore], machine: Bools) -> tuple[JointScore, ...]:
    """The scores; of machines, whose cuts are meant, by what clips show alone."""
    return tuple(replace(one, tried=0.0) if machine[one.row] else one for one in scores)


def _without_linked(rogues: Rogues, body: Body, links: Mapping[int, Link]) -> Rogues:
    """The patches but those on links: what these hold was given to them by place.

    body: as it is, with its links.
    """
    is_link = np.isin(body.joints, list(links))
    named = body.pull.joints
    held = is_link[np.maximum(named, 0)] & (named >= 0) & (body.pull.weights > 0)
    on_links = np.zeros(len(rogues.surface), bool)
    on_links[rogues.surface.point_of_vertex[held.any(1)]] = True
    kept = tuple(one for one in rogues.patches if not on_links[one.points].all())
    return replace(rogues, patches=kept)


def _is_tiny(pull: Pull) -> NDArray[np.bool_]:
    """Which rows have a weight that is too small to be seen, (R,)."""
    tiny = (pull.weights > 0) & (pull.weights < TINY)
    return np.asarray(tiny.any(1))


def edge_steps(
    surface: Surface, pull: Pull, thickness: NDArray[np.floating]
) -> tuple[Ints, Ints, Floats, Floats]:
    """The worst change of a weight over each edge of the surface, (E,) each.

    thickness: (P,), metres, more than 0. Gives the point where the weight is larger,
    the joint, how much larger, and how much would be allowed: length over twice the
    mean thickness of both ends. Edges come in the order of `surface.edges`.
    """
    first, second, lengths = surface.edges()
    heavier = first.copy()
    joints = np.full(len(first), -1, np.int32)
    change = np.zeros(len(first), np.float32)
    for here, there in ((first, second), (second, first)):
        names, amounts = pull.joints[there], pull.weights[there]
        for column in range(pull.joints.shape[1]):
            name = pull.joints[here, column]
            other = np.where(names == name[:, None], amounts, 0).sum(1)
            more = pull.weights[here, column] - other
            more[name < 0] = 0
            worse = more > change
            heavier[worse], joints[worse] = here[worse], name[worse]
            change[worse] = more[worse]
    both = (thickness[first] + thickness[second]) / 2
    allowed = (lengths / (WIDTH * np.maximum(both, 1e-30))).astype(np.float32)
    return heavier, joints, change, allowed


def _steps(body: Body, shape: Shape) -> tuple[StepCheck, ...]:
    surface, pull = shape.surface, shape.pull
    thickness = point_thickness(surface.positions, pull, shape.bones, shape.sections)
    heavier, joints, change, allowed = edge_steps(surface, pull, thickness)
    steep = (change > SPARE * allowed) & (change > LEAST_STEP)
    steep &= ~body.rigid[surface.vertex_of_point[heavier]]
    rows = np.flatnonzero(steep)
    # By joint, the worst first: what is too much, not how many times.
    rows = rows[np.lexsort((allowed[rows] - change[rows], joints[rows]))]
    _, firsts, edges = np.unique(joints[rows], return_index=True, return_counts=True)
    found = []
    for row, count in zip(rows[firsts].tolist(), edges.tolist(), strict=True):
        vertex = int(surface.vertex_of_point[heavier[row]])
        where, number = _where(body, vertex)
        found.append(
            StepCheck(
                body.names[joints[row]],
                count,
                float(change[row]),
                float(allowed[row]),
                _place(body.positions[vertex]),
                where,
                number,
            )
        )
    return tuple(sorted(found, key=lambda step: -step.edges))


def _rogues(body: Body, rogues: Rogues) -> tuple[RogueCheck, ...]:
    return tuple(
        RogueCheck(
            body.names[patch.joint],
            len(patch.points),
            patch.weight,
            rogues.place(patch),
            tuple(body.names[row] for row in patch.heirs),
        )
        for patch in rogues.patches
    )


def _place(position: NDArray[np.floating]) -> Place:
    x, y, z = (float(value) for value in position)
    return x, y, z


def _where(body: Body, vertex: int) -> tuple[str, int]:
    """The surface that a vertex of the body is in, and its number there."""
    row = int(np.searchsorted(body.starts, vertex, "right")) - 1
    mesh, primitive = body.places[row]
    return f"/meshes/{mesh}/primitives/{primitive}", vertex - body.starts[row]


def _find_places(body: Body) -> Iterator[Finding]:
    """What can be counted vertex by vertex, for each surface."""
    counts = np.count_nonzero(body.pull.weights, axis=1)
    tiny = _is_tiny(body.pull)
    for (mesh, row), (start, stop) in zip(
        body.places, pairwise(body.starts), strict=True
    ):
        where = f"/meshes/{mesh}/primitives/{row}"
        mine, total = counts[start:stop], stop - start
        many = int(np.count_nonzero(mine > USUAL))
        if many:
            text = f"{many} of {total} vertices hang on more than {USUAL} joints, "
            text += f"up to {int(mine.max())}; many engines drop the rest"
            yield Finding("warning", "influences-many", where, text)
        small = int(np.count_nonzero(tiny[start:stop]))
        if small:
            text = f"{small} of {total} vertices have weights below {TINY}"
            yield Finding("info", "weights-tiny", where, text)
        loose = int(np.count_nonzero(mine == 0))
        if loose:
            text = f"{loose} of {total} vertices hang on nothing"
            yield Finding("warning", "weights-none", where, text)


def _find_steps(check: BodyCheck) -> Iterator[Finding]:
    for step in check.steps:
        near = ", ".join(f"{value:.3g}" for value in step.place)
        text = (
            f"changes too fast over {step.edges} edges; at worst by {step.change:.2f} "
            f"where {step.allowed:.2f} is allowed, at vertex {step.vertex} of "
            f"{step.where} ({near})"
        )
        yield Finding("warning", "weight-step", step.joint, text)


def _find_bad(check: BodyCheck) -> Iterator[Finding]:
    for one in check.scores:
        if one.score > BAD:
            text = (
                f"looks bad when it turns: score {one.score:.2f}, {one.folds:.1f} "
                f"edges folded, {one.torn:.1f} triangles torn, {one.squeezed:.1f} "
                "squeezed"
            )
            if one.left is not None and one.left < 1:
                text += f"; {100 * max(one.left, 0):.0f} % of its volume left"
            yield Finding("warning", "joint-bad", one.name, text)
