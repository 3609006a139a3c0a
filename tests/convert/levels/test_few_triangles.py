"""No more triangles than are allowed, where the simplifier leaves more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.levels.few_triangles import few_triangles
from flexor.convert.levels.make import LevelChoice, LevelSettings, make_levels
from flexor.convert.levels.simplify_body import simplify
from flexor.scene.character.mesh import Primitive
from tests.convert.levels.test_simplify_body import area, sheet
from tests.scenes import one_mesh_scene, random_skeleton

NONE = np.zeros(0, np.float32)


def soup(size: int) -> tuple[Any, Any]:
    """A sheet whose triangles share no corners, and so have seams all around."""
    places, faces = sheet(size)
    return places[faces].reshape(-1, 3), np.arange(faces.size, dtype=np.int32).reshape(
        -1, 3
    )


def few(places: Any, faces: Any, target: int, kinds: Any = None) -> Any:
    if kinds is None:
        kinds = np.zeros(len(places), np.int32)
    looks = np.zeros((len(places), 0), np.float32)
    return few_triangles(faces, places, looks, NONE, target, kinds)


@pytest.mark.parametrize("target", [0, 1, 2, 7, 30, 100, 1000])
def test_never_more_than_are_allowed(target: int) -> None:
    places, faces = soup(9)
    left = few(places, faces, target)
    assert len(left) <= target
    assert set(np.unique(left)) <= set(np.unique(faces))
    if target >= 7:
        assert area(places, left) > 30  # of 64: it is no handful of crumbs
    if target >= len(faces):
        np.testing.assert_array_equal(left, faces)


def test_what_the_simplifier_can_do_is_left_to_it() -> None:
    places, faces = sheet(9)
    looks = np.zeros((len(places), 0), np.float32)
    plain = simplify(faces, places, looks, NONE, 40)
    assert len(plain) <= 40
    np.testing.assert_array_equal(few(places, faces, 40), plain)


def test_surfaces_share_what_is_allowed_and_stay_apart(
    rng: np.random.Generator,
) -> None:
    """Loose triangles in a cloud: no edge can be collapsed, and none may go across."""
    places = rng.uniform(0, 1, (300, 3)).astype(np.float32)
    faces = np.arange(300, dtype=np.int32).reshape(-1, 3)
    kinds = (np.arange(300) >= 150).astype(np.int32)
    left = few(places, faces, 20, kinds)
    assert 0 < len(left) <= 20
    assert (np.ptp(kinds[left], axis=1) == 0).all()
    assert set(kinds[left[:, 0]].tolist()) == {0, 1}


def test_authors_say_the_most_there_may_be(rng: np.random.Generator) -> None:
    places, faces = soup(12)
    normals = np.tile(np.float32([0, 0, 1]), (len(places), 1))
    normals[::2] = [1, 0, 0]  # so that corners are no longer taken for one
    primitive = Primitive(places, normals=normals, indices=faces.ravel())
    scene = one_mesh_scene(random_skeleton(rng, 1), primitive, None)
    choices = (LevelChoice(height=300, triangles=20),)
    _, reports, _ = make_levels(scene, LevelSettings(choices=choices))
    assert 0 < reports[1].triangles <= 20
