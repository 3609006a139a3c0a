"""Tracks of links for a file that others read, no finer than can be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from flexor.arrays import Doubles
from flexor.convert.links.bake_links import bake_links
from flexor.maths import quaternions, transforms
from flexor.pose.clips.track_values import angles_between
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.runtime.packed_clip import unpacked
from flexor.scene.scene import Scene

__all__ = ["link_tolerances", "with_link_tracks"]

# How far skin may be off by one link's track, of the height of the figure.
SEEN = 5e-5
FINEST, COARSEST = 2e-5, 0.02  # radians
FLAT = 1e-3
# What is no further from the rest is rounding, of the height of the skeleton.
STILL = 1e-5
TINY = 1e-30
# Skin counts with its whole distance from here on; several links share what is left.
WHOLE_WEIGHT = 0.25


def with_link_tracks(scene: Scene) -> Scene:
    """The scene with the movement of its links in every clip.

    Links follow by themselves here; what else reads the file knows no links. Tracks
    that links had are made anew: their joints may have been given others. There are
    many of them; so tracks go that say no more than that a node stays where it is.
    """
    links = scene.skeleton.links
    if not links or not scene.clips:
        return scene
    plain = {}
    for name, clip in scene.clips.items():
        keyed = unpacked(clip)
        free = tuple(
            track
            for track in keyed.tracks
            if track.node not in links or track.path == "weights"
        )
        plain[name] = replace(keyed, tracks=free)
    tolerances = link_tolerances(scene)
    clips = {
        name: bake_links(clip, scene.skeleton, links, tolerances=tolerances)
        for name, clip in _moving(plain, scene.skeleton).items()
    }
    return replace(scene, clips=_resting(clips, scene.skeleton))


def _resting(clips: Mapping[str, Clip], skeleton: Skeleton) -> dict[str, Clip]:
    """Clips with a key at rest for links that move in other clips, where their joint
    has a track: else they would stay where the clip before has left them.
    """
    links = skeleton.links
    moves = {
        (track.node, track.path)
        for clip in clips.values()
        for track in clip.tracks
        if track.node in links and track.path != "weights"
    }
    rests = {
        "translation": skeleton.translations,
        "rotation": skeleton.rotations,
        "scale": skeleton.scales,
    }
    found = {}
    for name, clip in clips.items():
        there = {(track.node, track.path): track for track in clip.tracks}
        added = [
            Track(node, path, own.times[:1], rests[path][node][None], "STEP")
            for node, path in sorted(moves - there.keys())
            if (own := there.get((links[node].joint, path))) is not None
        ]
        found[name] = replace(clip, tracks=(*clip.tracks, *added))
    return found


def _moving(clips: Mapping[str, Clip], skeleton: Skeleton) -> dict[str, Clip]:
    """Clips without tracks of nodes that are at rest, but for rounding, in all of them.

    What moves in one clip stays in all: a program that goes from one to another needs
    to be told where it is in each. Clips are as long as before.
    """
    world = rest_world(skeleton)
    extent = np.ptp(world[:, :, 3], axis=0)
    height, length = _height(extent), float(np.linalg.norm(extent))
    units = np.linalg.norm(world[:, :, :3], axis=1).max(1)[skeleton.parents]
    units[skeleton.parents < 0] = 1
    near = STILL * height / np.maximum(units, TINY)
    turn = STILL * height / max(length, TINY)
    moves = {
        (track.node, track.path)
        for clip in clips.values()
        for track in clip.tracks
        if track.node in skeleton.matrices
        or not _stays(track, skeleton, float(near[track.node]), turn)
    }
    found = {}
    for name, clip in clips.items():
        kept = {id(t) for t in clip.tracks if (t.node, t.path) in moves}
        # The first key and the last say when a clip begins and how long it is.
        for end, outmost in ((0, min), (-1, max)):
            ends = {id(t): float(t.times[end]) for t in clip.tracks}
            most = outmost(ends.values(), default=0.0)
            there = [one for one, time in ends.items() if time == most]
            if kept.isdisjoint(there):
                kept.update(there[:1])
        tracks = tuple(t for t in clip.tracks if id(t) in kept)
        found[name] = replace(clip, tracks=tracks)
    return found


def _stays(track: Track, skeleton: Skeleton, near: float, turn: float) -> bool:
    """Whether a track says no more than its node's rest does, but for rounding.

    near: how far a place may be off, in units of the node's parent; turn: radians, and
    shares of a size.
    """
    if track.path == "weights":
        return False
    values = track.values.astype(np.float64)
    if track.interpolation == "CUBICSPLINE":
        if values[:, (0, 2)].any():
            return False
        values = values[:, 1]
    if track.path == "rotation":
        rest = quaternions.normalise(skeleton.rotations[track.node].astype(np.float64))
        unit = quaternions.normalise(values)
        return bool(angles_between(unit, rest).max() <= turn)
    if track.path == "translation":
        off = np.abs(values - skeleton.translations[track.node]).max()
        return bool(off <= near)
    rests = skeleton.scales[track.node]
    off = np.abs(values - rests).max()
    return bool(off <= turn * np.abs(rests).max())


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
    height = _height(high - low)
    return {
        joint: float(np.clip(SEEN * height / far, FINEST, COARSEST))
        for joint, far in reach.items()
        if far > 0
    }


def _height(extent: Doubles) -> float:
    """The height of what is as large as that (3,); of flat things the largest."""
    is_flat = extent[1] <= FLAT * extent.max()
    return float(extent.max() if is_flat else extent[1])


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
