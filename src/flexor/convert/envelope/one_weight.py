"""One weight for each vertex, or for those of named parts: the largest that it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from flexor.arrays import Bools
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import part_pulls
from flexor.errors import SettingError
from flexor.scene.scene import Scene

__all__ = ["named_parts", "one_weight"]

MOST_NAMES = 40  # that an error lists


def named_parts(scene: Scene, patterns: Sequence[str]) -> tuple[Bools, Bools]:
    """What patterns of names choose: joints, bool (J,), for the vertices that they pull
    most, and nodes, bool (J,), for all vertices of the meshes that stand there.

    A pattern fits names of joints, of meshes, or of nodes that have one.
    """
    names = scene.skeleton.names
    of_mesh = [scene.meshes[m].name if m >= 0 else None for m in scene.node_mesh]
    joints = set().union(*(skin.joints.tolist() for skin in scene.skins))
    pulls, nodes = np.zeros(len(names), bool), np.zeros(len(names), bool)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise SettingError(f"one-weight: {pattern!r}, expected a pattern of names")
        fits = np.array([_fits(name, pattern) for name in names], bool)
        mesh_fits = [m is not None and _fits(m, pattern) for m in of_mesh]
        own_pulls = fits & np.isin(np.arange(len(names)), list(joints))
        own_nodes = (fits & (scene.node_mesh >= 0)) | np.array(mesh_fits, bool)
        if not (own_pulls | own_nodes).any():
            known = [names[joint] for joint in sorted(joints)]
            known += [name for name in of_mesh if name is not None]
            some = ", ".join(repr(name) for name in known[:MOST_NAMES]) or "none"
            more = len(known) - MOST_NAMES
            raise SettingError(
                f"one-weight: no joint or mesh fits {pattern!r}; there are: {some}"
                + (f" and {more} more" if more > 0 else "")
            )
        pulls |= own_pulls
        nodes |= own_nodes
    return pulls, nodes


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)


def one_weight(
    part: EnvelopePart, trace: Sequence[int], models: Bools | None = None
) -> EnvelopePart:
    """A part whose vertices go wholly with the model that pulls them most.

    Of equal ones the first in `trace` wins. models: bool (M,), only vertices that one
    of these pulls most; without it all.
    """
    rank = np.empty(len(trace), np.intp)
    rank[list(trace)] = np.arange(len(trace))
    pulls = part_pulls(part, rank)
    by_weight = np.lexsort((pulls.ranks, -pulls.weights, pulls.rows))
    best = by_weight[pulls.first]  # the places of each vertex are its own in any order
    # Of a model that is bound in several ways, the way with the largest weight.
    is_used = (part.joints >= 0) & (part.weights > 0)
    is_best = is_used & (rank[part.models[part.joints]] == pulls.ranks[best][:, None])
    column = np.where(is_best, part.weights, -1).argmax(1)[:, None]
    joints = np.take_along_axis(part.joints, column, 1)
    if models is None:
        return replace(part, joints=joints, weights=np.ones((len(part), 1), np.float32))
    kept = ~models[part.models[joints[:, 0]]]
    if kept.all():
        return part
    wide, weights = np.full_like(part.joints, -1), np.zeros_like(part.weights)
    wide[:, :1], weights[:, 0] = joints, 1
    wide[kept], weights[kept] = part.joints[kept], part.weights[kept]
    return replace(part, joints=wide, weights=weights)
