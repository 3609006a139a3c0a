"""How far one weight a vertex moves the skin of a character: measured once."""

from __future__ import annotations

from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from flexor.api.pictures.drawable import Drawable
from flexor.arrays import Floats
from flexor.pose.pose import Pose

__all__ = ["one_weight_error"]

MOST_VERTICES = 500_000  # of poses that are deformed at a time

_FOUND: WeakKeyDictionary[Drawable, tuple[float, float]] = WeakKeyDictionary()
_LOCK = Lock()


def one_weight_error(character: Drawable) -> tuple[float, float]:
    """Metres between skin of one weight and of all, in the mean and at worst.

    The mean is that of the moment in which it is largest. Moments are those in which
    levels of detail are measured: up to 32 of the clips, and with every joint swung
    where clips move little. 0 where nothing is bent.
    """
    with _LOCK:
        found = _FOUND.get(character)
    if found is None:
        found = _measure(character)
        with _LOCK:
            _FOUND[character] = found
    return found


def _measure(character: Drawable) -> tuple[float, float]:
    world = _moments(character)
    count = sum(bind.vertex_count for bind in character.binds)
    if not count or not len(world):
        return 0.0, 0.0
    rest, mean, worst = character.pose_many(None, [0.0]), 0.0, 0.0
    step = max(1, MOST_VERTICES // count)
    for first in range(0, len(world), step):
        own = world[first : first + step]
        parts = (rest.translations, rest.rotations, rest.scales, own, rest.weights)
        poses = Pose(*(np.repeat(p, len(own) // len(p), 0) for p in parts))
        apart = [
            np.linalg.norm(whole.positions - one.positions, axis=2)
            for whole, one in zip(
                character.deform_many(poses),
                character.deform_many(poses, weights="one"),
                strict=True,
            )
        ]
        off = np.concatenate(apart, 1)
        off = np.where(np.isfinite(off), off, 0.0)
        mean, worst = max(mean, float(off.mean(1).max())), max(worst, float(off.max()))
    return mean, worst


def _moments(character: Drawable) -> Floats:
    """World matrices of all nodes (N, J, 3, 4) in which it is measured."""
    from flexor.convert.levels.poses import level_poses, says_enough
    from flexor.deform.bind import pulling_nodes
    from flexor.pose.layout import make_layout
    from flexor.scene.runtime.node_table import make_node_table

    scene = character.scene
    poses = level_poses(scene, make_layout(scene))
    table = make_node_table(scene.skeleton)
    used = np.isin(table.nodes, pulling_nodes(scene))
    if says_enough(poses.clips, table, used):
        return poses.clips
    return np.concatenate([poses.clips, poses.swings])
