"""Palette groups, checked face by face; a bound that no split can beat."""

from __future__ import annotations

import math
from typing import Any

from flexor.convert.weights.palettes import PaletteGroup


def pulling(joints: Any, weights: Any) -> list[set[int]]:
    """Of each vertex the joints that pull it."""
    return [
        {joint for joint, weight in zip(*both, strict=True) if weight > 0}
        for both in zip(joints.tolist(), weights.tolist(), strict=True)
    ]


def joints_of(face: Any, pulled: list[set[int]]) -> set[int]:
    """The joints that pull any corner of a face; pulled: of `pulling`."""
    return set().union(*(pulled[vertex] for vertex in face))


def faults(
    groups: list[PaletteGroup], joints: Any, weights: Any, faces: Any, most: int
) -> list[str]:
    """What is wrong with groups of a surface; nothing, if they are right."""
    found = []
    seen: list[int] = []
    pulled, corners_of = pulling(joints, weights), faces.tolist()
    for number, group in enumerate(groups):
        rows = group.faces.tolist()
        seen += rows
        if not rows or rows != sorted(rows):
            found.append(f"group {number}: faces empty or out of order")
        if len(group.joints) > most:
            found.append(f"group {number}: {len(group.joints)} joints")
        used: set[int] = set()
        for row in rows:
            used |= joints_of(corners_of[row], pulled)
        if group.joints.tolist() != sorted(used):
            found.append(f"group {number}: joints are not those of its faces")
        corners = {vertex for row in rows for vertex in corners_of[row]}
        if group.vertices.tolist() != sorted(corners):
            found.append(f"group {number}: vertices are not those of its faces")
    if sorted(seen) != list(range(len(faces))):
        found.append("not every face once")
    firsts = [int(group.faces[0]) for group in groups if len(group.faces)]
    if firsts != sorted(firsts):
        found.append("groups out of order")
    return found


def fewest(joints: Any, weights: Any, faces: Any, most: int) -> int:
    """No split has fewer groups than this: every joint must be in one."""
    used: set[int] = set()
    pulled = pulling(joints, weights)
    for face in faces.tolist():
        used |= joints_of(face, pulled)
    return max(math.ceil(len(used) / most), min(len(faces), 1))
