"""How much the skin around joints collapses when they bend and twist.

Every joint is turned alone from the rest pose, at its own place, and all that hangs
below it goes along; links follow. Posed and deformed by the same code as in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.convert.shape.body import Body
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.deform_body import bind_body, deform_body
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.joint_regions import Region, joint_regions, region_volume
from flexor.pose.turned import turn_from_rest
from flexor.scene.character.tree import upward
from flexor.scene.scene import Scene

__all__ = [
    "JointMeasure",
    "MeasurePlan",
    "measure_joints",
    "moving_joints",
    "plan_measures",
]

BATCH = 16  # poses at once
THIN = 0.3  # of the middle radius: vertices nearer the axis say nothing about radii
# The test poses: axis of the bone's frame (0 along it, 1 and 2 across), degrees. Bends
# go both ways: bones of the left and the right have frames that are no mirror images.
BENDS_90 = ((2, 90), (2, -90), (1, 90), (1, -90))
BENDS_150 = ((2, 150), (2, -150), (1, 150), (1, -150))
TWISTS_90 = ((0, 90), (0, -90))
POSES = (*BENDS_90, *BENDS_150, *TWISTS_90, (0, 180))


@dataclass(frozen=True, slots=True)
class JointMeasure:
    """What is left of the skin around a joint when it turns; None: not measured.

    row, node, name: the joint's, in the body and the skeleton; bend90, bend150,
    twist90, twist180: the volume of its region over that at rest, for a bend the least
    of those about Z and Y of the bone's frame, both ways, as twist90 is; radius180: the
    least distance of a vertex from the bone's axis at a twist of 180 degrees, over that
    at rest.
    """

    row: int
    node: int
    name: str
    bend90: float | None = None
    bend150: float | None = None
    twist90: float | None = None
    twist180: float | None = None
    radius180: float | None = None

    @property
    def is_measured(self) -> bool:
        """Whether the skin around the joint is a solid that can be measured."""
        return self.bend90 is not None


@dataclass(frozen=True, slots=True, eq=False)
class MeasurePlan:
    """What is measured: the bones of a body, and regions of its surface by place.

    Weights may change and links be added after it was made: so what is compared before
    and after is the same.
    """

    bones: Bones
    regions: Mapping[int, Region]


def plan_measures(scene: Scene, facts: BodyFacts) -> MeasurePlan:
    """What there is to measure of a body of a scene, links or none."""
    links = scene.skeleton.links
    facts = facts.without_links(links)
    bones, sections = facts.shape.bones, facts.shape.sections
    regions = joint_regions(facts.body, facts.by_place, bones, sections, links)
    return MeasurePlan(bones, regions)


def measure_joints(
    facts: SceneFacts, own: BodyFacts, plan: MeasurePlan | None = None
) -> list[JointMeasure]:
    """The measures of all joints of a body that have a joint above, links aside.

    own: a body of this scene; plan: None for one of this body. Joints that move no skin
    are left out; those around which the skin is no solid (cloth, a few faces) are
    there, but not measured.
    """
    scene, body = facts.scene, own.body
    if plan is None:
        plan = plan_measures(scene, own)
    measured = _measure(facts, own, plan)
    return [
        measured.get(row, JointMeasure(row, int(body.joints[row]), body.names[row]))
        for row in moving_joints(scene, body)
    ]


def moving_joints(scene: Scene, body: Body) -> list[int]:
    """Joints with a joint above that move some skin and are no links, rising."""
    used = set(np.unique(body.pull.joints[body.pull.weights > 0]).tolist())
    row_of = body.row_of
    moving: set[int] = set()
    for row in used:
        link = scene.skeleton.links.get(int(body.joints[row]))
        above = row if link is None else row_of.get(link.joint, -1)
        moving.update(upward(body.parents, above))
    links = scene.skeleton.links
    return sorted(
        row
        for row in moving
        if body.parents[row] >= 0 and int(body.joints[row]) not in links
    )


def _measure(
    facts: SceneFacts, own: BodyFacts, plan: MeasurePlan
) -> dict[int, JointMeasure]:
    """The measures of joints with regions, by row."""
    bones, regions = plan.bones, list(plan.regions.values())
    if not regions:
        return {}
    body, surface, layout = own.body, own.by_place, facts.layout
    binds = bind_body(facts.scene, body)
    turns = [(region, pose) for region in regions for pose in POSES]
    rest, matrices = deform_body(layout, binds, layout.rest[None])
    # Where the points of each region are, at rest and in each pose.
    placed = {r.joint: [rest[0, surface.vertex_of_point[r.points]]] for r in regions}
    ways = {r.joint: _ways(facts.scene, body, bones, r.joint) for r in regions}
    for start in range(0, len(turns), BATCH):
        batch = turns[start : start + BATCH]
        local = np.tile(layout.rest, (len(batch), 1))
        for row, (region, (axis, angle)) in zip(local, batch, strict=True):
            turn = _turn_about(*ways[region.joint][axis], np.radians(angle))
            turn_from_rest(layout, row, int(body.joints[region.joint]), turn)
        posed, _ = deform_body(layout, binds, local)
        for places, (region, _) in zip(posed, batch, strict=True):
            vertices = surface.vertex_of_point[region.points]
            placed[region.joint].append(places[vertices])
    found: dict[int, list[float]] = {}
    for region in regions:
        places = np.stack(placed.pop(region.joint))
        line = _line(matrices[0], body, bones, region.joint)
        found[region.joint] = [
            *_ratios(region, places),
            _least_radius(places[[0, -1]], *line),
        ]
    return {
        row: JointMeasure(row, int(body.joints[row]), body.names[row], *_worst(values))
        for row, values in found.items()
    }


def _worst(values: list[float]) -> Iterator[float | None]:
    """The fields of a measure from what was found for the poses, in their order."""
    ends = np.cumsum([0, len(BENDS_90), len(BENDS_150), len(TWISTS_90)]).tolist()
    worst = [min(values[start:stop]) for start, stop in pairwise(ends)]
    worst += values[ends[-1] :]
    for value in worst:
        yield value if np.isfinite(value) else None


def _ratios(region: Region, places: NDArray[np.floating]) -> list[float]:
    """The volumes at all places but the first over that at the first: (N, R, 3)."""
    before, *after = region_volume(region, places).tolist()
    if abs(before) <= 1e-30:
        return [float("nan")] * len(after)
    return [one / before for one in after]


def _least_radius(
    places: NDArray[np.floating], base: NDArray[np.float64], way: NDArray[np.float64]
) -> float:
    """The least distance from a line at the second places over that at the first."""
    away = places.astype(np.float64) - base
    across = away - np.multiply.outer(away @ way, way)
    before, after = np.linalg.norm(across, axis=2)
    far = before >= max(THIN * float(np.median(before)), 1e-30)
    return float((after[far] / before[far]).min()) if far.any() else float("nan")


def _line(
    world: Floats, body: Body, bones: Bones, row: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Base and unit way of a bone's axis at rest, in world space."""
    matrix = world[body.joints[row]].astype(np.float64)
    way = matrix[:, :3] @ _in_joint(body, row, bones.axes[row])
    return matrix[:, 3], way / max(float(np.linalg.norm(way)), 1e-30)


def _in_joint(body: Body, row: int, way: NDArray[np.float64]) -> NDArray[np.float64]:
    """A way in the space of the bind pose, seen from the joint."""
    turned = np.linalg.solve(body.frames[row, :, :3], way)
    return np.asarray(turned, np.float64)


def _ways(
    scene: Scene, body: Body, bones: Bones, row: int
) -> list[tuple[NDArray[np.float64], float]]:
    """The axes (3,) of a bone's frame in the joint's own axes, and their lengths."""
    # A joint is scaled before it is turned.
    scale = scene.skeleton.scales[body.joints[row]].astype(np.float64)
    axes = [_in_joint(body, row, way) * scale for way in bones.frames[row].T]
    return [(axis, max(float(np.linalg.norm(axis)), 1e-30)) for axis in axes]


def _turn_about(
    axis: NDArray[np.float64], length: float, angle: float
) -> NDArray[np.float64]:
    """The turn (4,) about an axis (3,) of some length."""
    return np.append(np.sin(angle / 2) / length * axis, np.cos(angle / 2))
