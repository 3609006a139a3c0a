"""Hit volumes of a character, from the cross-sections of its bones."""

from __future__ import annotations

import numpy as np

from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.sections import body_shape
from flexor.maths import exact, transforms
from flexor.scene.character.tree import nearest
from flexor.scene.human.human import find_human
from flexor.scene.scene import Scene
from flexor.scene.stage.volumes import HitVolumes

__all__ = ["make_volumes"]

THINNEST = 0.003  # of the body's size: what is thinner does not count
LEAST = 1e-3  # metres


def make_volumes(scene: Scene) -> HitVolumes:
    """A capsule for each bone that is thick enough to count.

    Parts of human bodies have their names (`leftHand`, `head`, ...; fingers and toes
    belong to hands and feet, roll joints to their limbs), other nodes their own.
    """
    named = _names(scene)
    nodes, ends, radii, parts = [], [], [], []
    for body in gather_bodies(scene):
        shape = body_shape(body)
        bones, sections = shape.bones, shape.sections
        thick = sections.thickness
        for row, node in enumerate(body.joints.tolist()):
            radius = float(thick[row].mean())
            if not sections.known[row] or radius < THINNEST * body.size:
                continue
            length = float(bones.lengths[row])
            local = np.zeros((2, 3))
            local[:, 1:] = sections.offsets[row]
            # Round ends reach a radius beyond: the straight part is as much shorter.
            short = min(radius, length / 2)
            local[:, 0] = short, length - short
            frame = bones.frames[row]
            placed = exact.multiply(local, frame[:, :3].T) + frame[:, 3]
            inverse = transforms.invert(body.frames[row])
            ends.append(exact.multiply(placed, inverse[:, :3].T) + inverse[:, 3])
            nodes.append(node)
            radii.append(max(radius, LEAST))
            parts.append(named[node])
    return HitVolumes(
        np.array(nodes, np.int32),
        np.array(ends, np.float64).reshape(-1, 2, 3),
        np.array(radii, np.float64),
        tuple(parts),
    )


def _names(scene: Scene) -> list[str]:
    """The part that each node counts as."""
    skeleton = scene.skeleton
    human = find_human(skeleton)
    names = list(skeleton.names)
    part_of = {node: part for part, node in human.nodes.items()}
    for part, rolls in human.rolls.items():
        part_of.update(dict.fromkeys(rolls, part))
    part_of.update(dict.fromkeys(human.trunk, "spine"))
    part_of.update(dict.fromkeys(human.necks, "neck"))
    for node in range(len(names)):
        above = nearest(skeleton.parents, node, part_of)
        if above >= 0:
            names[node] = _whole(part_of[above])
    return names


def _whole(part: str) -> str:
    """Fingers are of hands, toes of feet."""
    for side in ("left", "right"):
        rest = part.removeprefix(side)
        if rest != part:
            if rest.startswith(("Thumb", "Index", "Middle", "Ring", "Little")):
                return f"{side}Hand"
            if rest == "Toes":
                return f"{side}Foot"
    return part
