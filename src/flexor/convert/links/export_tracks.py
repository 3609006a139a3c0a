"""Tracks of links for a file that others read, no finer than can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from flexor.arrays import Doubles
from flexor.convert.links.bake_links import bake_links
from flexor.maths import transforms
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.packed_clip import unpacked
from flexor.scene.scene import Scene

__all__ = ["link_tolerances", "with_link_tracks"]

# How far skin may be off by one link's track, of the height of the figure.
SEEN = 5e-5
FINEST, COARSEST = 2e-5, 0.02  # radians
FLAT = 1e-3
# Skin counts with its whole distance from here on; several links share what is left.
WHOLE_WEIGHT = 0.25


def with_link_tracks(scene: Scene) -> Scene:
    """The scene with the movement of its links in every clip.

    Links follow by themselves here; what else reads the file knows no links. Tracks
    that links had are made anew: their joints may have been given others.
    """
    links = scene.skeleton.links
    if not links or not scene.clips:
        return scene
    tolerances = link_tolerances(scene)
    clips = {}
    for name, clip in scene.clips.items():
        keyed = unpacked(clip)
        free = tuple(
            track
            for track in keyed.tracks
            if track.node not in links or track.path == "weights"
        )
        plain = replace(keyed, tracks=free)
        clips[name] = bake_links(plain, scene.skeleton, links, tolerances=tolerances)
    return replace(scene, clips=clips)


def link_tolerances(scene: Scene) -> dict[int, float]:
    """By joint: how many radians the rotations of its links may be off.

    The further skin stands from a joint, the less: no vertex is to be off by more than
    some 5e-5 of the figure's height. Joints whose links hold no skin are left out.
    """
    links = scene.skeleton.links
    reach: dict[int, float] = {}
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for node, distance, places in _held(scene):
        low, high = np.minimum(low, places.min(0)), np.maximum(high, places.max(0))
        if node in links:
            joint = links[node].joint
            reach[joint] = max(reach.get(joint, 0.0), distance)
    if not reach:
        return {}
    extent = high - low
    # Of flat things the largest.
    height = extent[1] if extent[1] > FLAT * extent.max() else extent.max()
    return {
        joint: float(np.clip(SEEN * height / far, FINEST, COARSEST))
        for joint, far in reach.items()
        if far > 0
    }


def _held(scene: Scene) -> Iterator[tuple[int, float, Doubles]]:
    """For every joint that holds some skin: its node, the distance of the furthest
    vertex, counted less where it holds little of it, and the places of all of them
    (n, 3), in the world at rest.
    """
    world = rest_world(scene.skeleton)
    uses = set(zip(scene.node_mesh.tolist(), scene.node_skin.tolist(), strict=True))
    for mesh, row in sorted(uses):
        if mesh < 0 or row < 0:
            continue
        skin = scene.skins[row]
        binds = skin.inverse_binds.astype(np.float64)
        for primitive in scene.meshes[mesh].primitives:
            if primitive.skin is None:
                continue
            pulls = primitive.skin
            for own in np.unique(pulls.joints[pulls.weights > 0]).tolist():
                held = np.where(pulls.joints == own, pulls.weights, 0).sum(1)
                mine = np.flatnonzero(held > 0)
                points = primitive.positions[mine].astype(np.float64)
                node = int(skin.joints[own])
                matrix = transforms.multiply(world[node], binds[own])
                places = points @ matrix[:, :3].T + matrix[:, 3]
                far = np.linalg.norm(places - world[node][:, 3], axis=1)
                part = np.minimum(held[mine] / WHOLE_WEIGHT, 1)
                yield node, float((far * part).max()), places
