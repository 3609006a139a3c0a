"""Flat rigs hung up as chains, so that their joints can be tried as they will move.

Where all joints hang on one node, as those of hands for virtual reality do, whoever
moves them moves each with what comes after it. A joint of such a file turned alone
tears the skin, whatever its weights; so they are judged, and mended, in a tree made of
their places (see `chains`). Clips say how joints move: then nothing is made up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.convert.shape.body import Body, gather_bodies
from flexor.convert.shape.chains import find_chains, is_flat
from flexor.maths import transforms
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.scene import Scene

__all__ = ["hang_in_chains"]

FLAT = 1e-18  # of what has no volume
SAME = 1e-3  # of the size: joints no further apart stand in one place


def hang_in_chains(scene: Scene) -> Scene:
    """The scene with the joints of flat bodies hung on each other, at the same places.

    The same scene where there are none, or clips, or links. Nodes keep their numbers.
    """
    skeleton = scene.skeleton
    if scene.clips or skeleton.links:
        return scene
    parents = skeleton.parents.copy()
    for body in gather_bodies(scene):
        known = set(body.joints.tolist())
        if not is_flat(body.parents) or len(known) < len(body.joints):
            continue
        heads = np.ascontiguousarray(body.frames[:, :, 3])
        every = np.ones(len(heads), bool)
        above = find_chains(heads, body.parents, every, body.size)
        above = _from_wrist(body, heads, above)
        for row in np.flatnonzero((above >= 0) & (body.parents >= 0)).tolist():
            parents[body.joints[row]] = body.joints[above[row]]
    moved = np.flatnonzero(parents != skeleton.parents).astype(np.int32)
    if (np.abs(np.linalg.det(rest_world(skeleton)[:, :, :3])) <= FLAT).any():
        return scene  # what has no size has no place in a chain
    if not len(moved):
        return scene
    return replace(scene, skeleton=_hung(skeleton, parents, moved))


def _from_wrist(body: Body, heads: Doubles, above: Ints) -> Ints:
    """Chains that begin at a root that holds no skin, begun at the joint in its place
    that does: a hand hangs on its wrist, not on the node of the device.
    """
    holding = np.isin(np.arange(len(heads)), body.pull.joints[body.pull.weights > 0])
    above = above.copy()
    for root in np.flatnonzero((above < 0) & ~holding).tolist():
        near = np.linalg.norm(heads - heads[root], axis=1) < SAME * body.size
        found = np.flatnonzero(near & holding & (above == root))
        if len(found):
            above[(above == root) & ~near] = found[0]
    return above


def _hung(skeleton: Skeleton, parents: Ints, moved: Ints) -> Skeleton:
    """The same nodes at the same places, some of them on others."""
    world = rest_world(skeleton)
    places = skeleton.translations.copy()
    turns, sizes = skeleton.rotations.copy(), skeleton.scales.copy()
    for node in moved.tolist():
        above = transforms.invert(world[parents[node]])
        own = transforms.decompose(transforms.multiply(above, world[node]))
        places[node], turns[node], sizes[node] = own
    given = {
        node: matrix
        for node, matrix in skeleton.matrices.items()
        if node not in set(moved.tolist())
    }
    return Skeleton(skeleton.names, parents, places, turns, sizes, given)
