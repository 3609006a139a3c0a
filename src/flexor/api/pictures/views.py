"""How a skin hangs on its bones, for pictures: sections, ties and limits of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines
from flexor.draw.items.limits import (
    JointAngles,
    LimitShapes,
    build_limits,
    upload_fan,
)
from flexor.draw.items.sections import SectionShapes, build_sections
from flexor.draw.items.ties import TieShapes, build_ties
from flexor.draw.scene.areas import (
    BoneColours,
    chosen_joints,
    colour_bones,
    has_skin,
)
from flexor.draw.scene.style import DrawStyle
from flexor.draw.scene.upload import Part
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.limits import FREE, Limits
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

if TYPE_CHECKING:
    from flexor.convert.shape.anatomy import Anatomy

__all__ = ["MOST_TIED", "ViewAssets", "Views", "check_views"]

CORNERS = 36  # of an ellipse
MOST_TIED = 700  # vertices whose ties are shown
INK = 0.02  # linear, of sections over areas
OF_SKIN = ("sections", "areas", "ties")
# Of the arcs of limits: in lengths of the bone; least and most in those of the body.
ARC, LEAST_ARC, MOST_ARC = 0.5, 0.014, 0.11
LEAF = 0.6  # length of a bone that ends a chain, in that of the one before
LARGE = 0.06  # arcs of this radius have whole lines, smaller ones thinner, in the same
WIDTHS = (0.4, 0.65, 1.0)
NARROW = np.radians(0.5)  # ranges less than this are not drawn


def check_views(scene: Scene, style: DrawStyle) -> None:
    """Refuse what a scene has no skin for."""
    words = [view for view in style.show if view in OF_SKIN]
    if words and not has_skin(scene):
        what = (
            "there is no surface" if not scene.meshes else "no surface hangs on joints"
        )
        advice = "flexor repair --regenerate binds meshes that stand beside a skeleton"
        raise SettingError(
            f"show: {', '.join(words)}: {what}, so there is no skin to show"
            + (f"; {advice}" if scene.meshes and len(scene.skeleton) > 1 else "")
        )


@dataclass(slots=True, eq=False)
class ViewAssets:
    """What views need of a scene, made when first asked for; no two threads at once.

    backend: in which it is; parts: of the scene, as they were uploaded.
    """

    scene: Scene
    backend: Backend
    parts: Sequence[Part]
    _anatomies: tuple[Anatomy, ...] | None = None
    _colours: BoneColours | None = None
    _fan: int = -1

    @property
    def anatomies(self) -> tuple[Anatomy, ...]:
        """Every body of the scene, without links."""
        if self._anatomies is None:
            # Only these views need it, and other pictures need not wait for it.
            from flexor.convert.shape.anatomy import derive_anatomy
            from flexor.convert.shape.body import gather_bodies

            skeleton = self.scene.skeleton
            bodies = gather_bodies(self.scene)
            self._anatomies = tuple(derive_anatomy(body, skeleton) for body in bodies)
        return self._anatomies

    @property
    def colours(self) -> BoneColours:
        """A colour for each bone."""
        if self._colours is None:
            self._colours = colour_bones(self.scene)
        return self._colours

    @property
    def fan(self) -> int:
        """The number of the mesh of fans."""
        if self._fan < 0:
            self._fan = upload_fan(self.backend)
        return self._fan


class Views:
    """What a style shows of a scene beside its surface: lines and fans of each pose.

    size: of the character at rest, metres; findings: what there was nothing to show of.
    """

    def __init__(self, assets: ViewAssets, style: DrawStyle, size: float) -> None:
        self._width = style.line_width or 1.5
        self._assets = assets
        self.findings: tuple[Finding, ...] = ()
        self._sections: SectionShapes | None = None
        self._ties: TieShapes | None = None
        self._limits: tuple[Limits, LimitShapes] | None = None
        chosen = chosen_joints(assets.scene, style.joints)
        if "sections" in style.show:
            self._sections = _section_shapes(assets, chosen, style)
            if not len(self._sections.nodes):
                self.findings += (_no_sections(style),)
        if "ties" in style.show:
            self._ties = _tie_shapes(assets, chosen, style)
        if "limits" in style.show:
            self._limits = _limit_shapes(assets, chosen, style, size)
            if not len(self._limits[1].nodes):
                self.findings += (_no_limits(style),)

    def build(
        self,
        positions: Sequence[Floats],
        pose: Pose,
        camera: Camera,
        size: tuple[int, int],
    ) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
        """Items and lines of a pose; positions: (V, 3) of each part; size: of the
        picture.
        """
        items: tuple[DrawItem, ...] = ()
        lines: tuple[DrawLines, ...] = ()
        if self._ties is not None:
            lines += build_ties(self._ties, positions, pose.world, self._width)
        if self._sections is not None:
            lines += build_sections(
                self._sections, pose.world, self._width, camera, size
            )
        if self._limits is not None:
            limits, shapes = self._limits
            now = _angles(limits, shapes, self._assets.scene, pose)
            items, more = build_limits(shapes, now, self._width)
            lines += more
        return items, lines


def _section_shapes(
    assets: ViewAssets, chosen: NDArray[np.bool_], style: DrawStyle
) -> SectionShapes:
    """Ellipses of the bones that enough of the skin hangs on."""
    from flexor.convert.shape.anatomy import section_rings

    nodes: list[Ints] = []
    rings, axes = [np.zeros((0, 2, CORNERS, 3))], [np.zeros((0, 2, 3))]
    for anatomy in assets.anatomies:
        joints = anatomy.body.joints
        rows = np.flatnonzero(anatomy.sections.known & chosen[joints])
        frames = anatomy.frames[rows]
        tips = frames[:, :, 0] * anatomy.bones.lengths[rows, None]
        nodes.append(joints[rows])
        rings.append(section_rings(anatomy, CORNERS)[rows])
        axes.append(np.stack([frames[:, :, 3], frames[:, :, 3] + tips], 1))
    shown = np.concatenate([np.zeros(0, np.int32), *nodes])
    colours = assets.colours.of_node
    if "areas" in style.show:  # over the same colours nothing would be seen
        colours = np.full_like(colours, INK)
    elif "ties" in style.show:
        colours = assets.colours.bright
    return SectionShapes(
        shown,
        np.concatenate(rings).astype(np.float32),
        np.concatenate(axes).astype(np.float32),
        colours[shown],
        len(assets.parts),
    )


def _tie_shapes(
    assets: ViewAssets, chosen: NDArray[np.bool_], style: DrawStyle
) -> TieShapes:
    """Ties of some vertices, spread evenly, to the bones that are chosen."""
    from flexor.convert.shape.anatomy import find_ties, spread_rows

    scene = assets.scene
    if style.heat is not None and style.joints is None:
        chosen = chosen_joints(scene, (style.heat,))
    found: list[tuple[NDArray[np.generic], ...]] = []
    for anatomy in assets.anatomies:
        body = anatomy.body
        pulled = (body.pull.joints >= 0) & chosen[body.joints[body.pull.joints]]
        rows = np.flatnonzero((pulled & (body.pull.weights > 0)).any(1))
        most = max(MOST_TIED * len(body) // _vertices(assets), 1)
        rows = rows[spread_rows(body.positions[rows], most)]
        ties = find_ties(anatomy, rows.astype(np.int32))
        nodes = body.joints[ties.joints]
        for part, begin, end in _surfaces(assets, anatomy):
            own = (ties.vertices >= begin) & (ties.vertices < end) & chosen[nodes]
            parts = np.full(int(own.sum()), part, np.int32)
            vertices = ties.vertices[own] - np.int32(begin)
            found.append(
                (parts, vertices, nodes[own], ties.points[own], ties.weights[own])
            )
    if not found:
        found.append((*(np.zeros(0, np.int32),) * 3, np.zeros((0, 3)), np.zeros(0)))
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    order = np.argsort(columns[4], kind="stable")
    parts, vertices, nodes, points, weights = (column[order] for column in columns)
    colours = assets.colours.bright[nodes]
    if style.style == "heat" or "areas" in style.show:  # as of sections
        colours = np.ones_like(colours)
    return TieShapes(
        parts,
        vertices,
        nodes,
        points.astype(np.float32),
        weights.astype(np.float32),
        np.ascontiguousarray(colours),
        len(assets.parts),
    )


def _vertices(assets: ViewAssets) -> int:
    return max(sum(len(anatomy.body) for anatomy in assets.anatomies), 1)


def _surfaces(assets: ViewAssets, anatomy: Anatomy) -> list[tuple[int, int, int]]:
    """The parts that are surfaces of a body: part, first vertex in the body, end."""
    body, scene = anatomy.body, assets.scene
    place = dict(zip(body.places, pairwise(body.starts), strict=True))
    found = []
    for row, part in enumerate(assets.parts):
        key = int(scene.node_mesh[part.node]), part.primitive
        if key in place and int(scene.node_skin[part.node]) in body.skins:
            found.append((row, *place[key]))
    return found


def _limit_shapes(
    assets: ViewAssets, chosen: NDArray[np.bool_], style: DrawStyle, size: float
) -> tuple[Limits, LimitShapes]:
    """Arcs of every joint that is limited."""
    from flexor.pose.ik.human_limits import human_limits
    from flexor.scene.human.human import find_human

    scene = assets.scene
    skeleton, limits = scene.skeleton, style.limits
    human = find_human(skeleton, scene.carried)
    if limits is None:
        limits = human_limits(skeleton, human)
    if len(limits) != len(skeleton):
        have, wanted = len(limits), len(skeleton)
        raise SettingError(f"limits: of {have} joints, the character has {wanted}")
    shown = limits.limited & chosen & scene.shown_nodes()
    shown[list(skeleton.links)] = False
    nodes = np.flatnonzero(shown).astype(np.int32)
    low, high = limits.low[nodes].astype(float), limits.high[nodes].astype(float)
    free = np.array(FREE) - 1e-3
    has_ends = ~((low <= -free) & (high >= free)) & (high - low > NARROW)
    rest = quaternions.normalise(skeleton.rotations[nodes].astype(np.float64))
    frames = quaternions.multiply(rest, limits.frames[nodes].astype(np.float64))
    rolls = {node for line in human.rolls.values() for node in line}
    lengths = _bone_lengths(scene, rolls)[nodes]
    radii = np.clip(ARC * lengths, LEAST_ARC * size, MOST_ARC * size)
    part = len(assets.parts)
    shares = np.array(WIDTHS)[np.digitize(radii / (LARGE * size), WIDTHS[1:])]
    shapes = LimitShapes(
        nodes, frames, low, high, has_ends, radii, shares, assets.fan, part
    )
    return limits, shapes


def _bone_lengths(scene: Scene, rolls: set[int]) -> Doubles:
    """How far it is at rest from each node to the next of its chain, metres, (J,).

    rolls: nodes halfway, which end no bone.
    """
    from flexor.scene.character.skeleton import rest_world

    skeleton = scene.skeleton
    places = rest_world(skeleton)[:, :, 3]
    lengths = np.zeros(len(skeleton))
    for node in skeleton.order.tolist():
        below = [one for one in skeleton.children(node) if one not in skeleton.links]
        if node not in rolls:
            halfway = [one for one in below if one in rolls]
            below += [one for roll in halfway for one in skeleton.children(roll)]
        away = np.linalg.norm(places[below] - places[node], axis=1)
        lengths[node] = away.max(initial=0.0)
        above = int(skeleton.parents[node])
        if not lengths[node] > 0 and above >= 0:
            lengths[node] = LEAF * lengths[above]
    return lengths


def _angles(
    limits: Limits, shapes: LimitShapes, scene: Scene, pose: Pose
) -> JointAngles:
    """Where the joints of arcs are in a pose."""
    from flexor.pose.ik.limit_angles import measure_angles

    nodes = shapes.nodes
    angles = measure_angles(limits, scene.skeleton, pose.rotations)[nodes]
    world = pose.world[nodes].astype(np.float64)
    with np.errstate(all="ignore"):  # what is flattened has no arcs
        axes = world[:, :, :3] / pose.scales[nodes, None, :].astype(np.float64)
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        # Out of the node's own turn: as its parent stands.
        turns = quaternions.to_matrix(pose.rotations[nodes].astype(np.float64))
        axes = axes @ turns.swapaxes(1, 2)
    return JointAngles(angles, world[:, :, 3], axes)


def _no_sections(style: DrawStyle) -> Finding:
    text = "no cross-sections to show: too little of the skin hangs on each bone"
    return Finding("info", "no-sections", ", ".join(style.joints or ("joints",)), text)


def _no_limits(style: DrawStyle) -> Finding:
    if style.joints is not None:
        where, text = ", ".join(style.joints), "none of these joints is limited"
    elif style.limits is not None:
        where, text = "limits", "they limit no joint that is shown"
    else:
        where = "joints"
        text = (
            "this is no human body known by its names, so its joints are free; give "
            "limits (flexor render --limits FILE.toml, DrawStyle(limits=...))"
        )
    return Finding("info", "no-limits", where, f"no limits to show: {text}")
