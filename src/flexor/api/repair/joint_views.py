"""From where joints of a character can be looked at."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.arrays import Doubles
from flexor.convert.shape.body import Body, gather_bodies
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections, body_shape
from flexor.maths import quaternions
from flexor.pose.pose import Pose
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Vector

__all__ = ["JointView", "joint_views", "turned_poses", "view_cameras"]


FOV = math.radians(22)
RADII = 7.0  # of the joint, from the bottom to the top of a picture
LEAST_HEIGHT = 0.1  # of the body
MOST_HEIGHT = 1.1
OUTSIDE = 1.2  # of the body: cameras that are so far away are not inside of it
STEEP = 0.8  # a camera that looks down this much has another up
AROUND = 12  # directions around, at each height
# How far from level cameras look down, degrees, and how well liked each is: people look
# at characters from the front and a little from above.
HEIGHTS = ((12.0, 1.0), (42.0, 0.92), (75.0, 0.75), (-22.0, 0.8))
FRONT = 0.08  # how much better the front is liked than the back
# How far from the joint there is something to see makes pictures higher or less high.
LEAST_ZOOM, MOST_ZOOM = 0.5, 1.6
SHARE, ROOM = 90, 3.0  # of what is to be seen (percent) within a third of the height
ASIDE = 0.2  # of the height: how far from the joint the middle of a picture may be
MOST_POINTS = 30_000  # to see how thick a joint is
LEAST_POINTS = 6  # fewer say nothing about a joint
SLAB = 0.3  # of a bone's length: how far along it points speak for its base


@dataclass(frozen=True, slots=True, eq=False)
class JointView:
    """How a joint is shown.

    place: (3,), where it is at rest, world space; world: (3, 3), X along its bone, Y
    and Z across, unit columns, in world space; height: metres from the bottom to the
    top of a picture of it; body: metres, the size of all.
    """

    node: int
    place: Doubles
    world: Doubles
    height: float
    body: float


def turned_poses(character: Character, node: int, way: Vector, angles: Doubles) -> Pose:
    """The rest pose with one joint turned about an axis of its own; many poses.

    angles: (N,), radians. Links of the joint follow it.
    """
    rotations = character.skeleton.rotations.astype(np.float64)
    off = np.abs(np.linalg.norm(rotations, axis=1) - 1) > 1e-3
    rotations[off] = quaternions.normalise(rotations[off])
    every = np.tile(rotations, (len(angles), 1, 1))
    turned = quaternions.multiply(rotations[node], quaternions.about(way, angles))
    every[:, node] = quaternions.normalise(turned)
    return character.pose_from(rotations=every)


def joint_views(
    character: Character, nodes: Iterable[int], most: int
) -> list[JointView]:
    """Views of the first `most` nodes that are joints of a skin with vertices.

    Joints with no joint above are left out: with them all moves, and nothing bends.
    """
    wanted = list(dict.fromkeys(nodes))
    bodies = gather_bodies(character.scene)
    views: list[JointView] = []
    if not wanted or not bodies:
        return views
    cloud = _Cloud.make(character)
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
        view = _view(body, *known[number], row, cloud)
        if view is not None:
            views.append(view)
    return views


def view_cameras(
    view: JointView, size: tuple[int, int], points: Doubles, shares: Doubles
) -> list[tuple[Camera, float]]:
    """Cameras all around a joint, and how well liked each is, 0 to 1.

    size: width and height of the pictures, pixels; points: (P, 3), what is to be seen,
    and shares: (P,), how much each is: pictures are so large, and so far aside of the
    joint, that it is in them.
    """
    away = np.linalg.norm(points - view.place, axis=1)
    is_near = np.isfinite(away) & (away < view.height) & (shares > 0)
    height, middle = view.height, view.place
    if is_near.any():
        rows, own = away[is_near], shares[is_near]
        order = np.argsort(rows)
        sums = np.cumsum(own[order])
        reach = rows[order][np.searchsorted(sums, sums[-1] * SHARE / 100)]
        least = min(max(LEAST_ZOOM * height, LEAST_HEIGHT * view.body), height)
        height = float(np.clip(ROOM * reach, least, MOST_ZOOM * height))
        aside = (points[is_near] * own[:, None]).sum(0) / own.sum() - view.place
        length = max(float(np.linalg.norm(aside)), 1e-30)
        middle = view.place + aside * min(0.5, ASIDE * height / length)
    cameras = []
    for down, liking in HEIGHTS:
        for number in range(AROUND):
            angle = 2 * math.pi * number / AROUND
            low = math.radians(down)
            side = np.array(
                [
                    math.sin(angle) * math.cos(low),
                    math.sin(low),
                    math.cos(angle) * math.cos(low),
                ]
            )
            liked = liking + FRONT * (math.cos(angle) - 1) / 2
            eye = OUTSIDE * view.body
            cameras.append((_camera(middle, height, side, size, eye), liked))
    return cameras


def _view(
    body: Body, bones: Bones, sections: Sections, row: int, cloud: _Cloud
) -> JointView | None:
    """The view of a joint of a body; None where its matrices have no inverse."""
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
    place, axes = matrix[:, 3], _columns(matrix[:, :3] @ local)
    radius = float(sections.thickness[row, 0]) * scale
    length = float(bones.lengths[row]) * scale
    # Where little hangs on the joint itself, it is as thick as what is around it.
    mine = np.isin(cloud.nodes, [node, body.joints[body.parents[row]]])
    away = (cloud.points[mine] - place) @ axes
    away = away[np.abs(away[:, 0]) <= SLAB * max(radius, length)]
    if len(away) >= LEAST_POINTS:
        radius = max(radius, float(np.median(np.linalg.norm(away[:, 1:], axis=1))))
    least = max(RADII * radius, length, LEAST_HEIGHT * cloud.size)
    height = min(least, MOST_HEIGHT * cloud.size)
    return JointView(node, place, axes, height, cloud.size)


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


@dataclass(frozen=True, slots=True, eq=False)
class _Cloud:
    """Points on the skin of a character at rest.

    nodes: int64 (P,), the node that pulls each most; rest: the pose; points: float64
    (P, 3), world space; size: metres, the longest side of the box around them.
    """

    nodes: NDArray[np.int64]
    rest: Pose
    points: Doubles
    size: float

    @staticmethod
    def make(character: Character) -> _Cloud:
        """Vertices; fewer of them if there are many."""
        scene = character.scene
        nodes = [np.zeros(0, np.int64)]
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
            nodes.append(own)
        rest = character.pose()
        skins = [skin.positions for skin in character.deform(rest)]
        every = np.concatenate([np.zeros((0, 3), np.float32), *skins])
        pulled = np.concatenate(nodes)
        step = max(1, len(every) // MOST_POINTS)
        points, pulled = every[::step].astype(np.float64), pulled[::step]
        there = points[np.isfinite(points).all(1)]
        size = float(np.ptp(there, axis=0).max()) if len(there) else 0.0
        return _Cloud(pulled, rest, points, max(size, 1e-6))


def _camera(
    middle: Doubles, height: float, side: Doubles, size: tuple[int, int], least: float
) -> Camera:
    """A close-up of a place from a side, at least so far away; side: unit, from the
    place to the camera; least: metres.
    """
    up = (0.0, 1.0, 0.0)
    if abs(side[1]) > STEEP:  # what looks away from the camera is up in the picture
        up = (-float(side[0]), 0.0, -float(side[2]))
    # Wide pictures have room at the sides; tall ones show more.
    height *= max(1.0, size[1] / size[0])
    away = max(height / (2 * math.tan(FOV / 2)), least)
    return Camera(
        _vector(middle + away * side),
        _vector(middle),
        up,
        2 * math.atan(height / (2 * away)),
        near=0.02 * away,
    )


def _columns(matrix: Doubles) -> Doubles:
    """Columns of (3, 3) made of unit length."""
    whole: Doubles = matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-30)
    return whole


def _vector(way: Doubles) -> Vector:
    return float(way[0]), float(way[1]), float(way[2])
