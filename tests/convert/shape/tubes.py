"""Tubes and other plain bodies on bones, and what is measured on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flexor.api.character import Character
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.facts import SceneFacts
from flexor.maths import transforms
from flexor.scene.character.clip import Clip
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet, Scene

SIDES = 32


def skinned_scene(
    bases: Any,
    parents: Any,
    positions: Any,
    faces: Any,
    weights: Any,
    *,
    normals: Any = None,
    names: Any = None,
    clips: dict[str, Clip] | None = None,
) -> Scene:
    """One mesh on joints at `bases` (S, 3), none of them turned; weights: (V, S)."""
    bases = np.asarray(bases, np.float64)
    count = len(bases)
    ways = [
        b - (bases[p] if p >= 0 else 0) for b, p in zip(bases, parents, strict=True)
    ]
    skeleton = Skeleton(
        (*(names or [f"j{i}" for i in range(count)]), "body"),
        [*parents, -1],
        np.array([*ways, np.zeros(3)]),
        np.tile([0.0, 0, 0, 1], (count + 1, 1)),
        np.ones((count + 1, 3)),
    )
    binds = transforms.invert(rest_world(skeleton)[:count])
    joints = np.tile(np.arange(count, dtype=np.uint16), (len(positions), 1))
    tied = SkinWeights(joints, np.asarray(weights, np.float32))
    primitive = Primitive(
        np.asarray(positions, np.float32),
        None if normals is None else np.asarray(normals, np.float32),
        indices=np.asarray(faces, np.uint32).ravel(),
        skin=tied,
    )
    roots = tuple(i for i, p in enumerate([*parents, -1]) if p < 0)
    return Scene(
        skeleton,
        np.array([*[-1] * count, 0]),
        np.array([*[-1] * count, 0]),
        (Mesh("body", (primitive,)),),
        (Skin("skin", np.arange(count), binds),),
        clips=clips or {},
        root_sets=(RootSet("", roots),),
        default_set=0,
    )


def tube(rings: Any, radii: Any = (1.0, 1.0)) -> tuple[Any, Any, Any]:
    """Positions, normals (R * SIDES, 3) and faces of a tube along x at `rings` (R,)."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.stack([np.zeros(SIDES), np.cos(angles), np.sin(angles)], 1)
    flat = circle * [0, *radii]
    positions = np.concatenate([flat + np.array([x, 0, 0]) for x in rings])
    normals = np.tile(circle / [1, *radii], (len(rings), 1))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    faces = []
    for ring in range(len(rings) - 1):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            faces += [(a, b, a + SIDES), (b, b + SIDES, a + SIDES)]
    return positions, normals, np.array(faces)


def tube_scene(width: float = 0.0, *, clips: dict[str, Clip] | None = None) -> Scene:
    """A tube of radius 1 from -8 to 8 on two bones that meet at 0.

    width: over how much weights change from one bone to the other, 0 for at once.
    """
    rings = np.linspace(-8, 8, 161)
    positions, normals, faces = tube(rings)
    x = positions[:, 0]
    child = np.clip(0.5 + x / width, 0, 1) if width else (x >= 0) * 1.0
    weights = np.stack([1 - child, child, 0 * x], 1)
    return skinned_scene(
        [(-8, 0, 0), (0, 0, 0), (8, 0, 0)],
        [-1, 0, 1],
        positions,
        faces,
        weights,
        normals=normals,
        clips=clips,
    )


def forearm_scene(
    *, clips: dict[str, Clip] | None = None, more: Sequence[float] = ()
) -> Scene:
    """A tube of radius 1 on an upper arm, a forearm and a hand of 8 each.

    more: where along the forearm other joints hang that hold a little of its skin.
    """
    rings = np.linspace(-8, 16, 121)
    positions, normals, faces = tube(rings)
    x = positions[:, 0]
    fore, hand = np.clip(0.5 + x / 2, 0, 1), np.clip(0.5 + (x - 8) / 2, 0, 1)
    held = [1 - fore, fore * (1 - hand), fore * hand]
    for at in more:
        own = 0.4 * np.clip(1 - np.abs(x - at), 0, 1)
        held = [*(one * (1 - own) for one in held), own]
    return skinned_scene(
        [(-8, 0, 0), (0, 0, 0), (8, 0, 0), *((at, 0, 0) for at in more)],
        [-1, 0, 1, *(1 for _ in more)],
        positions,
        faces,
        np.stack(held, 1),
        normals=normals,
        names=["arm", "forearm", "hand", *(f"more{i}" for i in range(len(more)))],
        clips=clips,
    )


def link(
    scene: Scene, settings: Sequence[Mapping[int, LinkSettings]]
) -> tuple[Scene, list[Finding]]:
    """The scene with links at joints of its bodies, and what was odd."""
    facts, findings = link_bones(SceneFacts(scene), settings)
    return facts.scene, findings


def linked(scene: Scene, **settings: Any) -> Scene:
    """The scene with links at every joint."""
    bodies = gather_bodies(scene)
    own = LinkSettings(**settings)
    every = [dict.fromkeys(range(len(body.joints)), own) for body in bodies]
    return link(scene, every)[0]


def turn(axis: Any, degrees: float) -> Any:
    """A quaternion (4,)."""
    half = np.radians(degrees) / 2
    way = np.asarray(axis, np.float64)
    return np.array([*np.sin(half) * way / np.linalg.norm(way), np.cos(half)])


def turned(scene: Scene, node: int, quaternion: Any) -> Any:
    """Positions (V, 3) with one joint turned, and links following."""
    hero = Character(scene)
    rotations = scene.skeleton.rotations.copy()
    rotations[node] = quaternion
    skin = hero.deform(hero.pose_from(rotations=rotations))
    return np.concatenate([part.positions for part in skin]).astype(np.float64)


def smallest_radius(points: Any) -> float:
    """The smallest distance of a tube's surface from the middle of its cross-section.

    Looked at are the rings and, as faces are flat, the places halfway between them.
    """
    rings = points.reshape(-1, SIDES, 3)
    both = np.concatenate([rings, (rings[1:] + rings[:-1]) / 2])
    return float(np.linalg.norm(both - both.mean(1, keepdims=True), axis=2).min())


def volume(points: Any, rings: slice) -> float:
    """The signed volume of some rings of a tube, closed by caps (divergence)."""
    some = points.reshape(-1, SIDES, 3)[rings]
    _, _, faces = tube(np.arange(len(some)))
    flat = np.concatenate([some.reshape(-1, 3), some[[0, -1]].mean(1)])
    first, last = len(flat) - 2, len(flat) - 1
    start = (len(some) - 1) * SIDES
    caps = []
    for side in range(SIDES):
        after = (side + 1) % SIDES
        caps.append((first, after, side))
        caps.append((last, start + side, start + after))
    corners = flat[np.concatenate([faces, caps])]
    return float(
        np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    )


def armpit_scene() -> tuple[Scene, Any]:
    """A torso with an arm to its side, and which vertices of the flank hang on both.

    Joints: torso, arm, neck. The torso is an ellipse 3 wide and 2 deep around y.
    """
    along, across, sides = tube(np.linspace(-4, 4, 41), (1.5, 1.0))
    torso = along[:, [1, 0, 2]]
    out = across[:, [1, 0, 2]]
    arm, ways, more = tube(np.linspace(1.5, 6.5, 26), (0.6, 0.6))
    arm += np.array([0, 3, 0])
    positions = np.concatenate([torso, arm])
    base = np.array([1.5, 3, 0])
    reach = np.linalg.norm(torso - base, axis=1)
    tied = np.where(torso[:, 0] > 0, 0.6 * np.clip(1 - reach / 3, 0, 1), 0)
    onto = np.clip(0.6 + (arm[:, 0] - 1.5), 0, 1)
    weight = np.concatenate([tied, onto])
    scene = skinned_scene(
        [(0, -4, 0), base, (0, 4, 0)],
        [-1, 0, 0],
        positions,
        np.concatenate([sides[:, ::-1], more + len(torso)]),
        np.stack([1 - weight, weight, 0 * weight], 1),
        normals=np.concatenate([out, ways]),
        names=["torso", "arm", "neck"],
    )
    below = np.concatenate([(tied > 0.05) & (torso[:, 1] < 2.4), onto < 0])
    return scene, below
