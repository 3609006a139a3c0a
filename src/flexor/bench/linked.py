"""A made character with links, of the size and mix of a real one.

3,910 vertices, 24 joints of which 14 have three links each, and as many vertices with
one, two, three, four and five influences as a character of 3,934 vertices from a game
has (1,397, 1,578, 715, 212, 32). A vertex hangs on neighbours in the chain from a
joint's parent over its links to the joint.
"""

from __future__ import annotations

import numpy as np

from flexor.api.character import Character
from flexor.arrays import Floats
from flexor.maths import quaternions, transforms
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Link, Skeleton, rest_world
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene

__all__ = ["VERTICES", "make_linked"]

# Vertices by number of influences, from one on.
VERTICES = (1388, 1568, 711, 211, 32)
# Pelvis, spine, chest; neck and head; arms of five joints; legs of four.
_ARMS, _LEGS = (3, 6, 7, 8, 9, 3, 11, 12, 13, 14), (0, 16, 17, 18, 0, 20, 21, 22)
PARENTS = (-1, 0, 1, 2, 3, 4, *_ARMS, *_LEGS)
LINKED = (4, 5, 7, 8, 9, 12, 13, 14, 16, 17, 18, 20, 21, 22)
LINKS = 3  # of each
KEYS = 61


def make_linked(counts: tuple[int, ...] = VERTICES, seed: int = 0) -> Character:
    """The character, with one clip "move" of two seconds.

    counts: how many vertices have one, two, ... influences.
    """
    rng = np.random.default_rng(seed)
    skeleton = _skeleton(rng)
    count = len(skeleton)
    vertices = sum(counts)
    skin = _weights(rng, skeleton, counts)
    normals = rng.standard_normal((vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    positions = rng.normal(0, 0.3, (vertices, 3)).astype(np.float32)
    primitive = Primitive(positions, normals.astype(np.float32), skin=skin)
    binds = transforms.invert(rest_world(skeleton)).astype(np.float32)
    on_root = np.full(count, -1, np.int32)
    on_root[0] = 0
    scene = Scene(
        skeleton,
        on_root,
        on_root.copy(),
        (Mesh("linked", (primitive,)),),
        (Skin("linked", np.arange(count, dtype=np.int32), binds),),
        {"move": _clip(rng, skeleton)},
    )
    return Character(scene)


def _skeleton(rng: np.random.Generator) -> Skeleton:
    """The joints, and behind them their links."""
    joints = np.repeat(LINKED, LINKS)
    first = len(PARENTS)
    links = {
        first + row: Link(int(joint), (row % LINKS + 1) / (LINKS + 1))
        for row, joint in enumerate(joints)
    }
    turns = _turns(rng, first, 1)[:, 0]
    rows = np.append(np.arange(first), joints)
    return Skeleton(
        tuple(f"node{row}" for row in range(len(rows))),
        np.array(PARENTS, np.int32)[rows],
        rng.normal(0, 0.2, (first, 3)).astype(np.float32)[rows],
        turns[rows],
        np.ones((len(rows), 3), np.float32),
        links=links,
    )


def _turns(rng: np.random.Generator, joints: int, keys: int) -> Floats:
    """Rotations (joints, keys, 4) of up to about 60 degrees."""
    turns = np.concatenate(
        [rng.normal(0, 0.25, (joints, keys, 3)), np.ones((joints, keys, 1))], -1
    )
    return quaternions.normalise(turns).astype(np.float32)


def _clip(rng: np.random.Generator, skeleton: Skeleton) -> Clip:
    """30 keys a second: turns of all nodes, links too as files have them, and the
    root's place.
    """
    times = (np.arange(KEYS) / 30).astype(np.float32)
    turns = _turns(rng, len(PARENTS), KEYS)
    tracks = [Track(j, "rotation", times, turns[j]) for j in range(len(PARENTS))]
    moves = rng.normal(0, 0.1, (KEYS, 3)).astype(np.float32)
    tracks.append(Track(0, "translation", times, moves))
    none = np.full(len(skeleton), -1, np.int32)
    joints = Clip("joints", tuple(tracks))
    bare = Scene(skeleton, none, none.copy(), clips={"joints": joints})
    driven = Character(bare).pose_many("joints", times).rotations
    tracks += [
        Track(node, "rotation", times, np.ascontiguousarray(driven[:, node]))
        for node in skeleton.links
    ]
    return Clip("move", tuple(tracks))


def _sets(skeleton: Skeleton) -> list[list[tuple[int, ...]]]:
    """Sets of nodes that pull vertices together, by how many they are."""
    found: list[list[tuple[int, ...]]] = [[(j,) for j in range(len(PARENTS))]]
    found += [[] for _ in VERTICES[1:]]
    for number, joint in enumerate(LINKED):
        links = [n for n, link in skeleton.links.items() if link.joint == joint]
        chain = (PARENTS[joint], *links, joint)
        found[1] += [chain[i : i + 2] for i in range(4)]
        found[2] += [chain[number % 3 :][:3]]
        if number % 2:
            found[3] += [chain[number % 4 // 3 :][:4]]
        if number % 5 == 0:
            found[4] += [chain]
    return found


def _weights(
    rng: np.random.Generator, skeleton: Skeleton, counts: tuple[int, ...]
) -> SkinWeights:
    """Weights of all vertices, in the order of their sets."""
    widest = len(counts)
    joints: list[tuple[int, ...]] = []
    for number, sets in zip(counts, _sets(skeleton), strict=True):
        # Some sets are much larger than others.
        shares = rng.dirichlet(np.full(len(sets), 1.5))
        sizes = rng.multinomial(number, shares)
        for mine, size in zip(sets, sizes.tolist(), strict=True):
            joints += [mine] * size
    names = np.zeros((len(joints), widest), np.uint16)
    weights = np.zeros((len(joints), widest))
    for row, mine in enumerate(joints):
        names[row, : len(mine)] = mine
        weights[row, : len(mine)] = rng.uniform(0.1, 1, len(mine))
    weights /= weights.sum(1, keepdims=True)
    return SkinWeights(names, weights.astype(np.float32))
