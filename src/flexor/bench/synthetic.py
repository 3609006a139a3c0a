"""Made characters of a known size, so that figures can be compared."""

from __future__ import annotations

import numpy as np

from flexor.api.character import Character
from flexor.arrays import Floats
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene

__all__ = ["make_character"]

JOINTS = 65


def _unit_quaternions(rng: np.random.Generator, *shape: int) -> Floats:
    q = rng.standard_normal((*shape, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return q.astype(np.float32)


def _skeleton(rng: np.random.Generator) -> Skeleton:
    """65 joints: a spine, four limbs, ten fingers; twelve deep."""
    parents = [-1, 0, 1, 2, 3, 4, 5]
    for start in (4, 4):  # arms, with five fingers of three joints and a tip
        parents += [start]
        for _ in range(3):
            parents.append(len(parents) - 1)
        wrist = len(parents) - 1
        for finger in range(5):
            parents.append(wrist)
            for _ in range(3 if finger else 2):
                parents.append(len(parents) - 1)
    for _ in range(2):  # legs
        parents.append(0)
        for _ in range(4):
            parents.append(len(parents) - 1)
    parents += [5] * (JOINTS - len(parents))
    return Skeleton(
        tuple(f"joint{i}" for i in range(JOINTS)),
        np.array(parents[:JOINTS], np.int32),
        rng.normal(0, 0.1, (JOINTS, 3)).astype(np.float32),
        _unit_quaternions(rng, JOINTS),
        np.ones((JOINTS, 3), np.float32),
    )


def _clip(rng: np.random.Generator, has_all: bool) -> Clip:
    """Two seconds, 30 keys a second: turns of all joints, and the root's place."""
    times = (np.arange(61) / 30).astype(np.float32)
    turns = _unit_quaternions(rng, JOINTS)[:, None].astype(np.float64)
    turns = turns + rng.normal(0, 0.1, (JOINTS, 61, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    keys = turns.astype(np.float32)
    tracks = [Track(j, "rotation", times, keys[j]) for j in range(JOINTS)]
    moved = rng.normal(0, 0.1, (JOINTS, 61, 3)).astype(np.float32)
    scaled = rng.uniform(0.9, 1.1, (JOINTS, 61, 3)).astype(np.float32)
    for j in range(JOINTS if has_all else 1):
        tracks.append(Track(j, "translation", times, moved[j]))
    for j in range(JOINTS if has_all else 0):
        tracks.append(Track(j, "scale", times, scaled[j]))
    return Clip("all" if has_all else "turns", tuple(tracks))


def make_character(vertices: int, influences: int, seed: int = 0) -> Character:
    """A character of 65 joints; each vertex hangs on a joint and the ones after it.

    Vertices stand in the order of their first joint, as those of a body do by and
    large; weights are random.
    """
    rng = np.random.default_rng(seed)
    first = np.sort(rng.integers(0, JOINTS - 4, vertices))
    joints = np.minimum(first[:, None] + np.arange(influences), JOINTS - 1)
    weights = rng.random((vertices, influences)) + 0.05
    weights /= weights.sum(1, keepdims=True)
    normals = rng.standard_normal((vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    skin = SkinWeights(joints.astype(np.uint16), weights.astype(np.float32))
    positions = rng.standard_normal((vertices, 3)).astype(np.float32)
    primitive = Primitive(positions, normals.astype(np.float32), skin=skin)
    skeleton = _skeleton(rng)
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (JOINTS, 1, 1))
    binds[:, :, 3] = rng.normal(0, 0.1, (JOINTS, 3))
    on_root = np.full(JOINTS, -1, np.int32)
    on_root[0] = 0
    clips = (_clip(rng, False), _clip(rng, True))
    return Character(
        Scene(
            skeleton,
            on_root,
            on_root.copy(),
            (Mesh("synthetic", (primitive,)),),
            (Skin("synthetic", np.arange(JOINTS, dtype=np.int32), binds),),
            {clip.name: clip for clip in clips},
        )
    )
