"""Links in skins that others take the rest of bones from.

Several skins may have the same joints, bound in different poses: the clothes of a body,
each exported on its own. Programs with one rest pose for all meshes, as Blender, take
that of each bone from the last skin that has it and hang all meshes on it. A link that
only an earlier skin has would stand there elsewhere than its joint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.maths import transforms
from flexor.scene.character.weights import Skin
from flexor.scene.scene import Scene

__all__ = ["with_same_rest"]

SAME = 1e-6  # of the largest number in a bind matrix: as good as the same


def with_same_rest(
    scene: Scene, added: Iterable[int], groups: Sequence[Sequence[int]]
) -> Scene:
    """The scene with some of its links in more skins.

    added: nodes of the links; groups: rows of skins that have the same joints and are
    to keep them so. A link is put in the last skin that has its joint, and in those of
    its group, if its joint is bound there otherwise than in the skin that has the link.
    """
    links = scene.skeleton.links
    more: dict[int, list[tuple[int, NDArray[np.float64]]]] = {}
    places = [
        {node: row for row, node in reversed(list(enumerate(skin.joints.tolist())))}
        for skin in scene.skins
    ]
    for node in added:
        joint = links[node].joint
        having = [number for number, rows in enumerate(places) if joint in rows]
        own = max(number for number in having if node in places[number])
        last = having[-1]
        if last == own:
            continue
        mine, bound = (scene.skins[number].inverse_binds for number in (own, last))
        was = mine[places[own][joint]].astype(np.float64)
        now = bound[places[last][joint]].astype(np.float64)
        if np.abs(was - now).max() <= SAME * np.abs(was).max():
            continue
        try:
            from_joint = transforms.multiply(
                mine[places[own][node]].astype(np.float64), transforms.invert(was)
            )
        except np.linalg.LinAlgError:
            continue
        bind = transforms.multiply(from_joint, now)
        for number in next((one for one in groups if last in one), [last]):
            more.setdefault(number, []).append((node, bind))
    if not more:
        return scene
    skins = [
        _extended(skin, more.get(number, ())) for number, skin in enumerate(scene.skins)
    ]
    return replace(scene, skins=tuple(skins))


def _extended(skin: Skin, more: Sequence[tuple[int, NDArray[np.float64]]]) -> Skin:
    """The skin with more joints (nodes and bind matrices) that hold nothing."""
    if not more:
        return skin
    nodes = np.array([node for node, _ in more], np.int32)
    binds = np.stack([bind for _, bind in more]).astype(np.float32)
    return replace(
        skin,
        joints=np.concatenate([skin.joints, nodes]),
        inverse_binds=np.concatenate([skin.inverse_binds, binds]),
        has_inverse_binds=True,
    )
