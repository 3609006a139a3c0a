"""Weights of joints on vertices, and colours for them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Floats
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.tree import nearest
from flexor.scene.scene import Scene

__all__ = ["colour_ramp", "joint_weights"]

# sRGB from dark blue over green to light red: each lighter than the one before, so that
# the order can be seen without seeing hues.
RAMP = np.array(
    [
        (52, 62, 138),
        (40, 92, 165),
        (18, 118, 140),
        (40, 138, 85),
        (140, 148, 45),
        (212, 138, 48),
        (255, 118, 84),
    ]
)


def joint_weights(
    scene: Scene, node: int, primitive: int, joints: Iterable[int]
) -> Floats:
    """How much some joints together pull each vertex of a primitive at a node: (V,).

    A primitive without a skin hangs on its node, or on the joint of a skin that is next
    above it, with all its weight.
    """
    wanted = set(joints)
    surface = scene.meshes[scene.node_mesh[node]].primitives[primitive]
    skin_row = int(scene.node_skin[node])
    if skin_row >= 0 and surface.skin is not None:
        nodes = scene.skins[skin_row].joints
        named = np.isin(nodes, list(wanted))
        if not len(named):
            return np.zeros(len(surface), np.float32)
        # Rows of joints without weight may be of no joint at all.
        rows = np.minimum(surface.skin.joints, len(named) - 1)
        pull = np.where(named[rows], surface.skin.weights, 0)
        sums: Floats = pull.sum(1, dtype=np.float64).astype(np.float32)
        return sums
    skinned = {int(joint) for skin in scene.skins for joint in skin.joints}
    above = nearest(scene.skeleton.parents, node, wanted | skinned)
    return np.full(len(surface), above in wanted, np.float32)


def colour_ramp(values: ArrayLike) -> Floats:
    """Linear colours (V, 4) for numbers 0 to 1, (V,): blue, green, red."""
    places = np.clip(np.nan_to_num(np.asarray(values, np.float64)), 0, 1)
    stops = np.linspace(0, 1, len(RAMP))
    mixed = np.stack([np.interp(places, stops, RAMP[:, c]) for c in range(3)], -1)
    colours = np.ones((*places.shape, 4), np.float32)
    colours[..., :3] = linear_from_srgb(mixed)
    return colours
