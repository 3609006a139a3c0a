"""Colours of bones, such that neighbours differ, and of skin by what pulls it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.mirror_pairs import find_mirror
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import nearest
from flexor.scene.scene import Scene

__all__ = [
    "CLAY",
    "DARK_CLAY",
    "BoneColours",
    "area_colours",
    "chosen_joints",
    "colour_bones",
    "has_skin",
    "own_joints",
]

CLAY = (0.62, 0.60, 0.57)  # linear: skin of which nothing is said
DARK_CLAY = (0.10, 0.10, 0.11)  # the same below bright lines
# sRGB: each hue light, usual and dark. Twins have one hue, light on the left and dark
# on the right, so that pairs are seen as pairs and yet can be told apart.
HUES = (
    ((247, 158, 150), (226, 98, 92), (160, 44, 50)),  # red
    ((250, 194, 130), (236, 150, 58), (172, 92, 18)),  # orange
    ((244, 226, 128), (222, 192, 54), (150, 122, 8)),  # yellow
    ((190, 224, 128), (136, 182, 58), (78, 120, 20)),  # leaf
    ((140, 222, 164), (66, 176, 108), (18, 112, 64)),  # green
    ((132, 222, 218), (48, 174, 174), (8, 106, 112)),  # teal
    ((146, 200, 246), (72, 146, 214), (24, 84, 150)),  # blue
    ((184, 178, 248), (128, 116, 218), (74, 62, 158)),  # violet
    ((224, 170, 240), (184, 106, 206), (122, 48, 144)),  # purple
    ((248, 172, 210), (222, 106, 162), (156, 42, 98)),  # pink
)
LIGHT, USUAL, DARK = range(3)
LEAST = 0.05  # a weight less than this makes no neighbours
# How much further apart others seem, in Oklab: bones with the same parent, and
# neighbours of neighbours.
SIBLINGS, NEXT = 0.06, 0.12
FAR = 0.25  # no pair of colours need be further apart
SWEEPS = 4  # over all bones: the first find few neighbours that have a colour
LIKE = 0.002  # what each use of a hue takes from its distance


@dataclass(frozen=True, slots=True, eq=False)
class BoneColours:
    """of_node: float32 (J, 3), linear, of every node: of the bone that it is, or is
    below; bright: the same, light for all, for lines on what is dark; joints: bool
    (J,), the nodes that are bones of a skin.
    """

    of_node: Floats
    bright: Floats
    joints: NDArray[np.bool_]


def has_skin(scene: Scene) -> bool:
    """Whether a surface that is shown hangs on joints."""
    shown = scene.shown_nodes() & (scene.node_mesh >= 0) & (scene.node_skin >= 0)
    return any(
        primitive.skin is not None and len(primitive) > 0
        for node in np.flatnonzero(shown).tolist()
        for primitive in scene.meshes[scene.node_mesh[node]].primitives
    )


def own_joints(scene: Scene) -> Ints:
    """For each node (J,) the joint it is a link of, else itself."""
    own = np.arange(len(scene.skeleton), dtype=np.int32)
    for node, link in scene.skeleton.links.items():
        own[node] = link.joint
    return own


def chosen_joints(scene: Scene, patterns: tuple[str, ...] | None) -> NDArray[np.bool_]:
    """Which nodes (J,) have one of the names, or a name of one of the patterns.

    A link that has one stands for its joint. None: all of them.
    """
    names = scene.skeleton.names
    if patterns is None:
        return np.ones(len(names), bool)
    chosen = np.zeros(len(names), bool)
    own = own_joints(scene)
    for pattern in patterns:
        rows = [
            row
            for row, name in enumerate(names)
            if name == pattern or fnmatchcase(name, pattern)
        ]
        if not rows:
            raise SettingError(f"joints: no joint is called {pattern!r}")
        chosen[own[rows]] = True
    return chosen


def colour_bones(scene: Scene) -> BoneColours:
    """A colour for every bone: clearly another one than those of its neighbours.

    Neighbours are bones that pull the same vertices or faces that touch, parents and
    children, and those who share a parent. Links have the colour of their joint.
    """
    count = len(scene.skeleton)
    joints = np.zeros(count, bool)
    for skin in scene.skins:
        joints[own_joints(scene)[skin.joints]] = True
    near, siblings = _neighbours(scene, joints)
    next_ = near.astype(np.float32) @ near > 0
    kinds = (near, 0.0), (siblings, SIBLINGS), (next_, NEXT)
    twins, is_left = _twins(scene, joints)
    rows = np.arange(count)
    tones = np.where(twins == rows, USUAL, np.where(is_left, LIGHT, DARK))
    palette = np.array(HUES)
    lab = _oklab(linear_from_srgb(palette))
    hues = np.full(count, -1)
    bones = scene.skeleton.order[joints[scene.skeleton.order]].tolist()
    for node in bones * SWEEPS:
        pair = [node, int(twins[node])]
        hues[pair] = -1
        used = np.bincount(hues[hues >= 0], minlength=len(palette))
        least = np.full(len(palette), FAR)
        for one in pair:
            mine = lab[:, tones[one]]
            for others, more in kinds:
                known = np.flatnonzero(others[one] & (hues >= 0))
                theirs = lab[hues[known], tones[known]]
                apart = np.linalg.norm(mine[:, None] - theirs, axis=2)
                least = np.minimum(least, apart.min(1, initial=np.inf) + more)
        hues[pair] = int(np.argmax(least - LIKE * used))
    colours = np.tile(np.array(CLAY, np.float32), (2, count, 1))
    colours[0, joints] = linear_from_srgb(palette[hues[joints], tones[joints]])
    colours[1, joints] = linear_from_srgb(palette[hues[joints], LIGHT])
    own, known_bones = own_joints(scene), set(bones)
    for node in np.flatnonzero(~joints).tolist():
        above = nearest(scene.skeleton.parents, int(own[node]), known_bones)
        if above >= 0:
            colours[:, node] = colours[:, above]
    return BoneColours(colours[0], colours[1], joints)


def area_colours(
    scene: Scene,
    node: int,
    primitive: int,
    colours: BoneColours,
    chosen: NDArray[np.bool_],
) -> Floats:
    """Linear colours (V, 4) of a primitive at a node: those of its bones, by weight.

    chosen: bool (J,), bones that are shown; what hangs on others is like clay, and so
    is what hangs on none. A primitive without a skin has the colour of the bone that
    its node is, or is below.
    """
    shown = np.where(chosen[:, None], colours.of_node, np.array(CLAY, np.float32))
    surface = scene.meshes[scene.node_mesh[node]].primitives[primitive]
    out = np.ones((len(surface), 4), np.float32)
    skin_row = int(scene.node_skin[node])
    if skin_row < 0 or surface.skin is None:
        bones = set(np.flatnonzero(colours.joints).tolist())
        above = nearest(scene.skeleton.parents, node, bones)
        out[:, :3] = shown[above] if above >= 0 else CLAY
        return out
    nodes = own_joints(scene)[scene.skins[skin_row].joints]
    # Rows of joints without weight may be of no joint at all.
    rows = np.minimum(surface.skin.joints, len(nodes) - 1)
    weights = surface.skin.weights
    mixed = (shown[nodes[rows]] * weights[..., None]).sum(1)
    out[:, :3] = mixed
    return out


def _neighbours(
    scene: Scene, joints: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which nodes (J, J) are bones that meet, and which have the same parent."""
    count = len(joints)
    near, siblings = np.zeros((2, count, count), bool)
    own = own_joints(scene)
    bones = set(np.flatnonzero(joints).tolist())
    parents = scene.skeleton.parents
    above = np.array([-1] * count)
    for node in bones:
        above[node] = nearest(parents, int(parents[node]), bones)
    for node in bones:
        if above[node] >= 0:
            near[node, above[node]] = True
            siblings[node] = joints & (above == above[node])
    for node in np.flatnonzero(scene.node_skin >= 0).tolist():
        if scene.node_mesh[node] < 0:
            continue
        nodes = own[scene.skins[scene.node_skin[node]].joints]
        for primitive in scene.meshes[scene.node_mesh[node]].primitives:
            if primitive.skin is None or not len(primitive) or not len(nodes):
                continue
            weights = primitive.skin.weights
            names = nodes[np.minimum(primitive.skin.joints, len(nodes) - 1)]
            for one in range(names.shape[1]):
                for other in range(one):
                    both = (weights[:, one] > LEAST) & (weights[:, other] > LEAST)
                    near[names[both, one], names[both, other]] = True
            first = names[np.arange(len(names)), np.argmax(weights, axis=1)]
            corners = first[primitive.triangles()]
            for one in range(3):
                near[corners[:, one], corners[:, one - 1]] = True
    near |= near.T
    near[np.arange(count), np.arange(count)] = False
    return near, siblings


def _twins(scene: Scene, joints: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
    """For each node (J,) its twin, else itself; and which are the left ones."""
    twins = np.arange(len(joints), dtype=np.int32)
    is_left = np.zeros(len(joints), bool)
    rows = np.flatnonzero(joints)
    frames = rest_world(scene.skeleton)[rows]
    names = [scene.skeleton.names[row] for row in rows]
    try:
        mirror = find_mirror(names, frames)
    except SettingError:  # no joints by whose names sides are known
        return twins, is_left
    twins[rows] = rows[mirror.twins]
    across = frames[:, mirror.axis, 3] * mirror.sign
    is_left[rows] = across > across[mirror.twins]
    return twins, is_left


def _oklab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear colours (..., 3) in Oklab, in which distances are as they look."""
    to_cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    out: NDArray[np.float64] = np.cbrt(linear @ to_cones.T) @ to_lab.T
    return out
