"""The skeleton on top of a picture: bones, joints, and their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh, Look, Strokes
from flexor.scene.character.tree import ancestors
from flexor.scene.scene import Scene

__all__ = ["BoneAssets", "bone_points", "build_bones", "find_joints", "upload_bones"]

LOOK = Look(shading="flat")
EDGES = Strokes(0.8, (0.02, 0.02, 0.03, 1.0), silhouette=True)
BONE_COLOUR = (0.42, 0.78, 0.80, 1.0)
JOINT_COLOUR = (0.10, 0.25, 0.55, 1.0)
WAIST = 0.15  # where a bone is thickest, from its joint to the next
THICKNESS = 0.10  # half of it, in lengths of the bone
THICKEST = 0.016  # the same at most, in sizes of the character
JOINT = 0.007  # half the thickness of a joint, in sizes of the character
JOINT_SHARE = 0.16  # the same at most, in lengths of the shortest bone there

# A bone: its joint, four corners around the waist, the next joint.
START_FACES = (0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4)
END_FACES = (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1)
FACES = np.array([*START_FACES, *END_FACES], np.int32)
JOINT_CORNERS = np.array(
    [(0, 0, -1), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 1)], np.float32
)


@dataclass(frozen=True, slots=True, eq=False)
class BoneAssets:
    """A skeleton in a backend.

    mesh: number of the one shape that bones and joints have; joints: int32 (B,), nodes
    that are shown; ends: int32 (E, 2), nodes at both ends of each bone; names: B texts.
    """

    mesh: int
    joints: Ints
    ends: Ints
    names: tuple[str, ...]


def find_joints(scene: Scene) -> Ints:
    """Nodes that matter: joints of skins and what lies between them; else all shown.

    Links are left out: they are where their joints are.
    """
    shown, parents = scene.shown_nodes(), scene.skeleton.parents
    shown[list(scene.skeleton.links)] = False
    matters = np.zeros(len(shown), bool)
    for skin in scene.skins:
        matters[skin.joints] = True
    matters &= shown
    if not matters.any():
        return np.nonzero(shown)[0].astype(np.int32)
    for joint in np.nonzero(matters)[0].tolist():
        between: list[int] = []
        for above in ancestors(parents, joint):
            if matters[above]:
                matters[between] = True
                break
            between.append(above)
    return np.nonzero(matters)[0].astype(np.int32)


def upload_bones(backend: Backend, scene: Scene) -> BoneAssets:
    """Upload the shape of bones; gives it with the joints of a scene."""
    joints = find_joints(scene)
    parents = scene.skeleton.parents
    has_bone = np.isin(parents[joints], joints)
    ends = np.stack([parents[joints], joints], 1)[has_bone]
    names = tuple(scene.skeleton.names[joint] for joint in joints.tolist())
    mesh = backend.upload(DrawMesh(6, FACES.copy()))
    return BoneAssets(mesh, joints, np.ascontiguousarray(ends, np.int32), names)


def build_bones(
    assets: BoneAssets, world: Floats, size: float, *, layer: int = 1
) -> tuple[DrawItem, ...]:
    """Bones and joints of a pose for a character of `size` metres.

    world: float32 (J, 3, 4), world_from_node.
    """
    places = np.ascontiguousarray(world[..., 3])
    items = []
    for shapes, colour in (
        (_bones(places[assets.ends], size), BONE_COLOUR),
        (_joints(places, assets, size), JOINT_COLOUR),
    ):
        if len(shapes):
            tints = np.tile(np.array(colour, np.float32), (len(shapes), 1))
            positions = np.ascontiguousarray(shapes, np.float32)
            items.append(
                DrawItem(assets.mesh, positions, None, LOOK, EDGES, tints, layer=layer)
            )
    return tuple(items)


def bone_points(assets: BoneAssets, world: Floats, count: int = 12) -> Floats:
    """Points along all bones, (E * count + B, 3), for what is not drawn but cast."""
    places = world[..., 3]
    start, end = places[assets.ends[:, 0]], places[assets.ends[:, 1]]
    steps = ((np.arange(count, dtype=np.float32) + 0.5) / count)[:, None, None]
    with np.errstate(all="ignore"):  # what is not finite is left out later
        along = start + (end - start) * steps
    return np.concatenate([along.reshape(-1, 3), places[assets.joints]])


def _joints(places: Floats, assets: BoneAssets, size: float) -> NDArray[np.float64]:
    """Corners (B, 6, 3) of joints at places (J, 3): small where bones are short."""
    thick = np.full(len(places), JOINT * size)
    with np.errstate(all="ignore"):  # what is not finite is not seen
        start, end = places[assets.ends].astype(np.float64).transpose(1, 0, 2)
        length = np.linalg.norm(end - start, axis=1)
        # Joints in one place, as for a twist, are no reason to hide them.
        length[~(length > JOINT * size * 0.2)] = np.inf
        for side in range(2):
            np.minimum.at(thick, assets.ends[:, side], JOINT_SHARE * length)
        around = JOINT_CORNERS * thick[assets.joints, None, None]
        corners: NDArray[np.float64] = places[assets.joints, None] + around
    return corners


def _bones(ends: NDArray[np.float32], size: float) -> NDArray[np.float64]:
    """Corners (E, 6, 3) of bones between ends (E, 2, 3)."""
    start, end = ends[:, 0].astype(np.float64), ends[:, 1].astype(np.float64)
    with np.errstate(all="ignore"):  # a bone without length or place is not seen
        along = end - start
        length = np.linalg.norm(along, axis=1, keepdims=True)
        unit = along / np.where(length > 0, length, 1)
        # Any way across will do; the axis that the bone follows least is farthest off.
        least = np.eye(3)[np.argmin(np.abs(unit), axis=1)]
        side = np.cross(unit, least)
        side /= np.where(length > 0, np.linalg.norm(side, axis=1, keepdims=True), 1)
        other = np.cross(unit, side)
        thick = np.minimum(length * THICKNESS, size * THICKEST)
        waist = start + along * WAIST
        around = [waist + way * thick for way in (side, other, -side, -other)]
        return np.stack([start, *around, end], 1)
