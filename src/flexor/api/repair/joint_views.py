"""How the joints of a character are looked at: which way they turn, and from where."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.arrays import Doubles, Floats
from flexor.convert.shape.body import Body, gather_bodies
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections, body_shape
from flexor.maths import quaternions
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Vector
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.tree import upward

__all__ = ["JointView", "joint_views", "turned_pose"]


MOMENTS = 12  # of each clip, to see which way joints bend
MOST_CLIPS = 24
LEAST_BEND = math.radians(12)  # in clips; what bends less has no way of its own
LEAST_REST = math.radians(8)  # between two bones at rest
FOV = math.radians(22)
RADII = 5.0  # of the joint, from the bottom to the top of a picture
LEAST_HEIGHT = 0.04  # of the body
MOST_HEIGHT = 1.1
TILT = 0.22  # of the camera towards up, so that shapes are seen as round
STEEP = 0.8  # a camera that looks down this much has another up
MOST_POINTS = 30_000  # to see what stands in front
LEAST_POINTS = 6  # fewer say nothing about a joint
SLAB = 0.3  # of a bone's length: how far along it points speak for its base
GRID = 16  # cells across a picture, for the same
# Limbs that begin nearer than this are drawn too: parts of a picture's height and of
# the body.
NEAR, NEAR_BODY = 0.8, 0.08


@dataclass(frozen=True, slots=True)
class JointView:
    """How a joint is shown.

    bend, twist: unit axes across and along its bone, seen from the joint, before its
    scale; camera: looks at it at rest, the bend axis towards the viewer; kept: nodes
    whose skin is drawn with it.
    """

    node: int
    bend: Vector
    twist: Vector
    camera: Camera
    kept: frozenset[int]


def turned_pose(character: Character, node: int, axis: Vector, angle: float) -> Pose:
    """The rest pose with one joint turned by `angle` radians about an axis of its own.

    Links of the joint follow it.
    """
    rotations = character.skeleton.rotations.astype(np.float64)
    off = np.abs(np.linalg.norm(rotations, axis=1) - 1) > 1e-3
    rotations[off] = quaternions.normalise(rotations[off])
    turn = quaternions.about(axis, angle)
    rotations[node] = quaternions.normalise(quaternions.multiply(rotations[node], turn))
    return character.pose_from(rotations=rotations)


def joint_views(
    character: Character, nodes: Iterable[int], size: tuple[int, int], most: int
) -> list[JointView]:
    """Views of the first `most` nodes that are joints of a skin with vertices.

    Joints with no joint above are left out: with them all moves, and nothing bends.
    size: width and height of the pictures, pixels.
    """
    wanted = list(dict.fromkeys(nodes))
    bodies = gather_bodies(character.scene)
    views: list[JointView] = []
    if not wanted or not bodies:
        return views
    cloud = _Cloud.make(character)
    habits = _habits(character)
    homes = _homes(bodies, wanted)
    known: dict[int, tuple[Bones, Sections]] = {}
    for node in wanted:
        if len(views) >= most:
            break
        if node not in homes:
            continue
        number, row = homes[node]
        body = bodies[number]
        if body.parents[row] < 0:
            continue
        if number not in known:
            shape = body_shape(body)
            known[number] = shape.bones, shape.sections
        bones, sections = known[number]
        frame = _Frame.make(body, bones, sections, row, cloud)
        if frame is not None:
            way = _bend_way(frame, body, bones, row, habits.get(node))
            views.append(_view(cloud, frame, node, way, size))
    return views


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """A bone's frame at rest.

    place: (3,), the joint's, world space; world, in_joint: (3, 3), X Y Z of the bone as
    unit columns, in world space and seen from the joint; radius, length: metres, of the
    joint and its bone, world space; body: metres, the size of all.
    """

    place: Doubles
    world: Doubles
    in_joint: Doubles
    radius: float
    length: float
    body: float

    @property
    def height(self) -> float:
        """Metres from the bottom to the top of a picture of the joint."""
        least = max(RADII * self.radius, self.length, LEAST_HEIGHT * self.body)
        return min(least, MOST_HEIGHT * self.body)

    @staticmethod
    def make(
        body: Body, bones: Bones, sections: Sections, row: int, cloud: _Cloud
    ) -> _Frame | None:
        """The frame of a joint of a body; None where its matrices have no inverse."""
        node, rest = int(body.joints[row]), cloud.rest
        matrix = rest.world[node].astype(np.float64)
        bound = body.frames[row]
        try:
            with np.errstate(all="ignore"):
                local = np.linalg.solve(bound[:, :3], bones.frames[row, :, :3])
                growth = np.linalg.det(matrix[:, :3]) / np.linalg.det(bound[:, :3])
                scale = float(np.cbrt(abs(growth)))
        except np.linalg.LinAlgError:
            return None
        if not (np.isfinite(matrix).all() and np.isfinite(local).all()):
            return None
        if not 1e-12 < scale < 1e12:
            return None
        scales = rest.scales[node].astype(np.float64)
        axes = _columns(matrix[:, :3] @ local)
        radius, length = sections.thickness[row, 0] * scale, bones.lengths[row] * scale
        # Where little hangs on the joint itself, it is as thick as what is around it.
        mine = np.isin(cloud.nodes, [node, body.joints[body.parents[row]]])
        away = (cloud.points[mine] - matrix[:, 3]) @ axes
        away = away[np.abs(away[:, 0]) <= SLAB * max(radius, length)]
        if len(away) >= LEAST_POINTS:
            radius = max(radius, np.median(np.linalg.norm(away[:, 1:], axis=1)))
        return _Frame(
            matrix[:, 3],
            axes,
            _columns(scales[:, None] * local),
            float(radius),
            float(length),
            cloud.size,
        )


def _homes(bodies: list[Body], nodes: list[int]) -> dict[int, tuple[int, int]]:
    """For each node the body that hangs on it most, and its row there, if any."""
    homes: dict[int, tuple[int, int]] = {}
    most = dict.fromkeys(nodes, -1.0)
    for number, body in enumerate(bodies):
        is_there = body.pull.joints >= 0
        sums = np.bincount(
            body.pull.joints[is_there],
            body.pull.weights[is_there],
            minlength=len(body.joints),
        )
        for row, node in enumerate(body.joints.tolist()):
            if node in most and sums[row] > most[node]:
                homes[node], most[node] = (number, row), float(sums[row])
    return homes


def _habits(character: Character) -> dict[int, Doubles]:
    """How joints turn in clips: a rotation vector (3,) of each node that does, radians,
    seen from the joint at rest; large turns count more.
    """
    names = list(character.clips)[:MOST_CLIPS]
    rest = quaternions.normalise(character.skeleton.rotations.astype(np.float64))
    inverse = rest * [-1, -1, -1, 1]
    sums = np.zeros((len(rest), 3))
    total = np.zeros(len(rest))
    for name in names:
        times = np.linspace(0, character.clips[name].duration, MOMENTS)
        posed = character.pose_many(name, times).rotations.astype(np.float64)
        turns = quaternions.multiply(inverse, quaternions.normalise(posed))
        turns = np.where(turns[..., 3:] < 0, -turns, turns)
        sines = np.linalg.norm(turns[..., :3], axis=-1)
        angles = 2 * np.arctan2(sines, turns[..., 3])
        ways = turns[..., :3] / np.maximum(sines, 1e-12)[..., None]
        sums += (ways * (angles * angles)[..., None]).sum(0)
        total += angles.sum(0)
    means = sums / np.maximum(total, 1e-12)[:, None]
    return {node: means[node] for node in np.flatnonzero(total > 0).tolist()}


def _bend_way(
    frame: _Frame, body: Body, bones: Bones, row: int, habit: Doubles | None
) -> Doubles:
    """The axis (3,) of the bone's frame about which a joint is bent: Y or Z, or back.

    As it bends in clips; else further the way it is bent at rest; else Z.
    """
    if habit is not None:
        across = habit @ frame.in_joint
        if np.abs(across[1:]).max() > LEAST_BEND:
            return _nearest_side(across)
    above = int(body.parents[row])
    if above >= 0 and bones.tips[above] == row:
        normal = np.cross(bones.axes[above], bones.axes[row])
        if np.linalg.norm(normal) > math.sin(LEAST_REST):
            return _nearest_side(normal @ bones.frames[row, :, :3])
    return np.array([0.0, 0.0, 1.0])


def _nearest_side(way: Doubles) -> Doubles:
    """Of Y, -Y, Z and -Z the one nearest to a vector."""
    axis = 1 + int(np.argmax(np.abs(way[1:])))
    side = np.zeros(3)
    side[axis] = 1.0 if way[axis] >= 0 else -1.0
    return side


@dataclass(frozen=True, slots=True, eq=False)
class _Cloud:
    """Points on the skin of a character, to see what stands in front of what.

    corners: int64 (P, 3), vertices (numbered through all parts) whose mean a point is;
    nodes: int64 (P,), the node that pulls each most; rest: the pose; points: float64
    (P, 3), at rest; size: metres, the longest side of the box around them.
    """

    character: Character
    corners: NDArray[np.int64]
    nodes: NDArray[np.int64]
    rest: Pose
    points: Doubles
    size: float

    @staticmethod
    def make(character: Character) -> _Cloud:
        """Vertices and middles of faces; fewer of them if there are many."""
        scene = character.scene
        corners, nodes = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
        first = 0
        for bind in character.binds:
            mesh = scene.meshes[scene.node_mesh[bind.node]]
            primitive = mesh.primitives[bind.primitive]
            own = np.full(len(primitive), bind.node, np.int64)
            row = int(scene.node_skin[bind.node])
            if row >= 0 and primitive.skin is not None:
                best = np.argmax(primitive.skin.weights, axis=1)
                names = primitive.skin.joints[np.arange(len(best)), best]
                joints = scene.skins[row].joints
                own = joints[np.minimum(names, len(joints) - 1)].astype(np.int64)
            vertices = np.repeat(np.arange(len(primitive))[:, None], 3, 1)
            faces = primitive.triangles().astype(np.int64)
            rows = np.concatenate([vertices, faces])
            corners.append(rows + first)
            nodes.append(own[rows[:, 0]])
            first += len(primitive)
        every, pulled = np.concatenate(corners), np.concatenate(nodes)
        step = max(1, len(every) // MOST_POINTS)
        every, pulled = every[::step], pulled[::step]
        rest = character.pose()
        points = _middles(character, rest, every)
        there = points[np.isfinite(points).all(1)]
        size = float(np.ptp(there, axis=0).max()) if len(there) else 0.0
        return _Cloud(character, every, pulled, rest, points, max(size, 1e-6))

    def at(self, pose: Pose) -> Doubles:
        """Where the points are in a pose, (P, 3)."""
        return _middles(self.character, pose, self.corners)


def _middles(character: Character, pose: Pose, corners: NDArray[np.int64]) -> Doubles:
    """The means (P, 3) of vertices (P, 3) in a pose."""
    skins = [skin.positions for skin in character.deform(pose)]
    every = np.concatenate([np.zeros((0, 3), np.float32), *skins]).astype(np.float64)
    middles: Doubles = every[corners].mean(1)
    return middles


def _view(
    cloud: _Cloud, frame: _Frame, node: int, way: Doubles, size: tuple[int, int]
) -> JointView:
    """The view of a joint; way: the axis of the bone's frame about which it is bent.

    It is bent another way, or seen from the other side, if more is seen of it then.
    """
    hero = cloud.character
    kept = _kept(hero.skeleton, cloud.rest.world, node, frame)
    is_drawn = np.isin(cloud.nodes, list(kept))
    points, nodes = cloud.points[is_drawn], cloud.nodes[is_drawn]
    is_own = np.isin(nodes, list(_links(hero.skeleton, node)))
    if np.count_nonzero(is_own) < LEAST_POINTS:
        is_own = np.isin(nodes, list(_below(hero.skeleton, node)))
    finite = points[np.isfinite(points).all(1)]
    outward = frame.place - (finite.mean(0) if len(finite) else frame.place)
    best, chosen = -math.inf, (way, frame.world @ way)
    other = np.cross([1.0, 0.0, 0.0], way)
    for turn, liking in ((way, 0.4), (-way, 0.2), (other, 0.0), (-other, 0.0)):
        bend = _unit(frame.in_joint @ turn)
        bent = cloud.at(turned_pose(hero, node, bend, math.pi / 2))[is_drawn]
        axis = frame.world @ turn
        for side in (axis, -axis):
            seen = _seen(points, is_own, frame, side) + _seen(bent, is_own, frame, side)
            score = seen + liking + 0.2 * float(outward @ side) / frame.body
            score += 0.2 * side[1] + 0.05 * side[2]
            if score > best + 1e-9:
                best, chosen = score, (turn, side)
    turn, side = chosen
    bend, twist = _unit(frame.in_joint @ turn), _unit(frame.in_joint[:, 0])
    return JointView(node, bend, twist, _camera(frame, side, size), kept)


def _seen(
    points: Doubles, is_own: NDArray[np.bool_], frame: _Frame, side: Doubles
) -> float:
    """How much of a joint's own skin is seen from a side, 0 to 1.

    points: (P, 3), of what is drawn; is_own: bool (P,).
    """
    across, up = np.linalg.svd(side[None])[2][1:]
    away = points - frame.place
    grid = np.stack([away @ across, away @ up], 1) / frame.height * GRID + GRID / 2
    is_inside = np.isfinite(grid).all(1) & (grid >= 0).all(1) & (grid < GRID).all(1)
    columns, rows = grid[is_inside].astype(np.int64).T
    cells = rows * GRID + columns
    depths = (away @ side)[is_inside]
    front = np.full(GRID * GRID, -np.inf)
    np.maximum.at(front, cells, depths)
    is_front = depths >= front[cells] - max(frame.radius, frame.height / GRID)
    own = is_own[is_inside]
    return int(np.count_nonzero(is_front & own)) / max(int(np.count_nonzero(own)), 1)


def _links(skeleton: Skeleton, node: int) -> set[int]:
    """A node and its links."""
    return {node, *(n for n, link in skeleton.links.items() if link.joint == node)}


def _below(skeleton: Skeleton, node: int) -> set[int]:
    """A node and all below it, with its links."""
    found = _links(skeleton, node)
    for below in skeleton.order.tolist():
        if int(skeleton.parents[below]) in found:
            found.add(below)
    return found


def _kept(
    skeleton: Skeleton, world: Floats, node: int, frame: _Frame
) -> frozenset[int]:
    """Nodes whose skin is drawn with a joint: those above it, the one next above with
    all below that, limbs that begin near by, and the links of all these. Other limbs
    would only stand in the way; world: (J, 3, 4), at rest.
    """
    apart = np.linalg.norm(world[:, :, 3] - frame.place, axis=1)
    near = max(NEAR * frame.height, NEAR_BODY * frame.body)
    line = list(upward(skeleton.parents, node))
    is_in = np.zeros(len(skeleton), bool)
    is_in[line[:2]] = True
    for below in skeleton.order.tolist():
        above = int(skeleton.parents[below])
        if below not in line and above >= 0:
            is_near = above in line and apart[below] < near
            is_in[below] = is_in[above] or is_near
    is_in[line] = True
    for link, own in skeleton.links.items():
        is_in[link] = is_in[own.joint]
    return frozenset(np.flatnonzero(is_in).tolist())


def _camera(frame: _Frame, side: Doubles, size: tuple[int, int]) -> Camera:
    """A close-up from a side, tilted a little; side: unit, from joint to camera."""
    up = np.array([0.0, 1.0, 0.0])
    if abs(side[1]) > STEEP:
        up = np.array([0.0, 0.0, -1.0])
    lean = up - side * (up @ side)
    direction = side + TILT * lean / max(float(np.linalg.norm(lean)), 1e-12)
    direction = direction / np.linalg.norm(direction)
    away = frame.height / (2 * math.tan(FOV / 2))
    # Wide pictures have room at the sides; for tall ones the camera steps back.
    away *= max(1.0, size[1] / size[0])
    depth = max(1.2 * frame.height, 3 * frame.radius)
    return Camera(
        _vector(frame.place + away * direction),
        _vector(frame.place),
        _vector(up),
        FOV,
        near=max(away - depth, 0.02 * away),
    )


def _columns(matrix: Doubles) -> Doubles:
    """Columns of (3, 3) made of unit length."""
    whole: Doubles = matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-30)
    return whole


def _unit(way: Doubles) -> Vector:
    return _vector(way / max(float(np.linalg.norm(way)), 1e-30))


def _vector(way: Doubles) -> Vector:
    return float(way[0]), float(way[1]), float(way[2])
