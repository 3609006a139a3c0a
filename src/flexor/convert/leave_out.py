"""A scene without some of its meshes: shields, helmets, what lies in another hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from flexor.arrays import Bools, Ints
from flexor.errors import SettingError
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["leave_out_meshes"]

MOST_NAMES = 40  # that an error lists


def leave_out_meshes(scene: Scene, patterns: Sequence[str]) -> Scene:
    """The scene without the meshes that patterns of names fit.

    A pattern fits the name of a mesh, which is then left out wherever it stands, or of
    the node at which it stands. Nodes, skins, clips, links and materials stay, with
    their numbers; tracks and weights of morph targets that are gone go with them.
    """
    if not patterns:
        raise SettingError("without: no pattern given")
    lost = np.zeros(len(scene.skeleton), bool)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise SettingError(f"without: {pattern!r}, expected a pattern of names")
        nodes = _fitting(scene, pattern)
        if not nodes:
            raise SettingError(
                f"without: no mesh or node of one fits {pattern!r}; there are: "
                f"{_said(scene)}"
            )
        lost[nodes] = True
    node_mesh = np.where(lost, -1, scene.node_mesh).astype(np.int32)
    kept, node_mesh = _kept_meshes(scene, node_mesh)
    return replace(
        scene,
        node_mesh=node_mesh,
        node_skin=np.where(lost, -1, scene.node_skin).astype(np.int32),
        meshes=tuple(scene.meshes[row] for row in kept),
        node_weights={n: own for n, own in scene.node_weights.items() if not lost[n]},
        clips={name: _without_morphs(c, lost) for name, c in scene.clips.items()},
    )


def _fitting(scene: Scene, pattern: str) -> list[int]:
    """The nodes whose mesh, or whose own name, a pattern fits."""
    return [
        node
        for node, names in _names(scene).items()
        if any(name == pattern or fnmatchcase(name, pattern) for name in names)
    ]


def _names(scene: Scene) -> dict[int, tuple[str, str]]:
    """By node that has a mesh: its name and its mesh's."""
    return {
        node: (scene.skeleton.names[node], scene.meshes[mesh].name)
        for node, mesh in enumerate(scene.node_mesh.tolist())
        if mesh >= 0
    }


def _said(scene: Scene) -> str:
    """The names there are, of nodes with those of their meshes."""
    names = [
        f"{node!r}" if node == mesh else f"{node!r} (mesh {mesh!r})"
        for node, mesh in _names(scene).values()
    ]
    more = len(names) - MOST_NAMES
    some = ", ".join(names[:MOST_NAMES]) or "none"
    return some + (f" and {more} more" if more > 0 else "")


def _kept_meshes(scene: Scene, node_mesh: Ints) -> tuple[list[int], Ints]:
    """Rows of the meshes that stay, and those of nodes among these."""
    rows = range(len(scene.meshes))
    if scene.carried.get("extensions"):
        return list(rows), node_mesh  # what is kept unread may name meshes by number
    gone = set(scene.node_mesh.tolist()) - set(node_mesh.tolist())
    kept = [row for row in rows if row not in gone]
    new = np.full(len(scene.meshes) + 1, -1, np.int32)  # the last row is that of -1
    new[kept] = np.arange(len(kept))
    return kept, new[node_mesh]


def _without_morphs(clip: Clip | PackedClip, lost: Bools) -> Clip | PackedClip:
    """A clip without the morph weights of nodes, bool (J,)."""
    tracks = clip.keyed if isinstance(clip, PackedClip) else clip.tracks
    kept = tuple(t for t in tracks if t.path != "weights" or not lost[t.node])
    if len(kept) == len(tracks):
        return clip
    if isinstance(clip, PackedClip):
        return replace(clip, keyed=kept)
    return replace(clip, tracks=kept)
