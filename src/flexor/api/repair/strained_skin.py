"""What is seen of a repair on the skin: where it is strained, and how far it moved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.api.character import Character
from flexor.api.skins import SkinnedPrimitive
from flexor.arrays import Bools, Floats, Ints, first_same
from flexor.convert.shape.facts import BodyFacts, SceneFacts
from flexor.convert.shape.strain import StrainForm, find_strain, make_form

__all__ = ["StrainedSkin", "moved_skin"]


class StrainedSkin:
    """Finds where the skin of a character is folded, torn or squeezed."""

    def __init__(self, character: Character) -> None:
        scene = character.scene
        rest = character.deform(character.pose())
        self._counts = [len(skin.positions) for skin in rest]
        part_of: dict[tuple[int, int], int] = {}
        for part, skin in enumerate(rest):
            mesh = int(scene.node_mesh[skin.node])
            part_of.setdefault((mesh, skin.primitive), part)
        self._bodies: list[_StrainedBody] = []
        for own in SceneFacts(scene).bodies:
            parts = [part_of.get(place, -1) for place in own.body.places]
            self._bodies.append(_StrainedBody(own, parts, rest))

    def strain(self, skins: Sequence[SkinnedPrimitive]) -> list[Floats]:
        """How bad each vertex looks in N poses, 0 to 1: float32 (N, V) of each part.

        skins: of `deform_many`. What looks so at rest already is not counted.
        """
        count = len(skins[0].positions) if skins else 0
        found = [np.zeros((count, vertices), np.float32) for vertices in self._counts]
        for body in self._bodies:
            body.add_strain(skins, found)
        return found


class _StrainedBody:
    """One body; parts: for each of its surfaces the part that shows it, -1: none."""

    def __init__(
        self, own: BodyFacts, parts: list[int], rest: Sequence[SkinnedPrimitive]
    ) -> None:
        self._own, self._parts = own, parts
        single = [_many(skin.positions) for skin in rest]
        places = self._places(single)
        self._form: StrainForm = make_form(own.body, own.by_place, places[0])
        self._at_rest = find_strain(self._form, places).bad[0]

    def add_strain(
        self, skins: Sequence[SkinnedPrimitive], found: list[Floats]
    ) -> None:
        """Put the strain of its vertices into the arrays of their parts."""
        places = self._places([skin.positions for skin in skins])
        faces = np.maximum(find_strain(self._form, places).bad - self._at_rest, 0)
        points = np.zeros((len(places), len(self._own.by_place)), np.float32)
        for corner in range(3):
            for row, own in enumerate(points):
                np.maximum.at(own, self._form.faces[:, corner], faces[row])
        every = points[:, self._own.by_place.point_of_vertex]
        for part, (start, stop) in zip(
            self._parts, pairwise(self._own.body.starts), strict=True
        ):
            if part >= 0:
                found[part] = every[:, start:stop]

    def _places(self, parts: Sequence[Floats]) -> Floats:
        """Vertices (N, V, 3) of the body, of the parts that show it."""
        body = self._own.body
        count = len(parts[0]) if parts else 1
        places = np.empty((count, len(body), 3), np.float32)
        for part, (start, stop) in zip(self._parts, pairwise(body.starts), strict=True):
            # What is not shown never moves, and so is never strained.
            hidden = body.positions[start:stop]
            places[:, start:stop] = parts[part] if part >= 0 else hidden
        return places


def moved_skin(
    before: Character,
    after: Character,
    skins: Sequence[SkinnedPrimitive],
    others: Sequence[SkinnedPrimitive],
) -> list[Floats]:
    """How far vertices are from where they were, metres: float32 (N, V) of each part.

    skins, others: of both characters in the same N poses; the parts are those of after.
    Surfaces that were split are followed by where their vertices stand in the file.
    """
    olds = [_rest_bits(before, skin) for skin in skins]
    found = []
    every = None
    for part, other in enumerate(others):
        own = _rest_bits(after, other)
        if part < len(olds) and np.array_equal(own, olds[part]):
            away = other.positions - skins[part].positions
        else:
            rows, is_known = _same_places(olds, own)
            if every is None:
                every = np.concatenate([skin.positions for skin in skins], 1)
            away = other.positions - every[:, rows]
            away[:, ~is_known] = 0
        with np.errstate(all="ignore"):
            length = np.linalg.norm(away, axis=2).astype(np.float32)
        found.append(np.nan_to_num(length, posinf=0.0, copy=False))
    return found


def _rest_bits(character: Character, skin: SkinnedPrimitive) -> Ints:
    """Which vertex is which: node and places (V, 4) in the file, as integers."""
    scene = character.scene
    mesh = scene.meshes[scene.node_mesh[skin.node]]
    places = mesh.primitives[skin.primitive].positions + np.float32(0)
    bits = np.ascontiguousarray(places).view(np.int32)
    return np.concatenate([np.full((len(bits), 1), skin.node, np.int32), bits], 1)


def _same_places(olds: list[Ints], own: Ints) -> tuple[NDArray[np.int32], Bools]:
    """For each vertex the first old one in the same place, and whether there is one."""
    old = np.concatenate([np.zeros((0, 4), np.int32), *olds])
    first = first_same(np.concatenate([old, own]))[len(old) :]
    is_known = first < len(old)
    return np.where(is_known, first, 0), is_known


def _many(places: Floats) -> Floats:
    return np.ascontiguousarray(places[None])
