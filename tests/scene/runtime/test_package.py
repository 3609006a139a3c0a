"""Packages: what is made when, and envelopes that are not of their scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import ShapeError
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.runtime.envelope import Envelope, Envelopes
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.package import Package, check_envelope, check_envelopes
from flexor.scene.scene import Scene
from tests.files.package.packages import (
    plain_envelope,
    small_envelope,
    small_envelopes,
    small_levels,
    small_scene,
)

Change = Callable[[dict[str, Any]], None]


def changed(change: Change) -> Envelope:
    """The small envelope with other arrays."""
    names = [own.name for own in fields(Envelope) if own.init]
    given = {name: getattr(small_envelope(), name) for name in names}
    arrays = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    change(arrays)
    return Envelope(**arrays)


def put(name: str, at: Any, value: Any) -> Change:
    """Change one number of an array."""

    def change(arrays: dict[str, Any]) -> None:
        arrays[name][at] = value

    return change


def empty_scene() -> Scene:
    none = np.zeros(0, np.int32)
    parts = np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3))
    return Scene(Skeleton((), none, *parts), none.copy(), none.copy())


def no_envelopes() -> Envelopes:
    return Envelopes(plain_envelope(empty_scene()), plain_envelope(empty_scene()))


def test_each_is_made_once_and_when_it_is_asked_for() -> None:
    asked: list[str] = []

    def scene() -> Scene:
        asked.append("scene")
        return small_scene()

    def envelopes(given: Scene) -> Envelopes:
        assert given is package.scene
        asked.append("envelopes")
        return small_envelopes()

    def levels(given: Scene) -> Levels:
        assert given is package.scene
        asked.append("levels")
        return small_levels()

    package = Package(scene, envelopes, levels)
    assert asked == []
    assert package.envelopes is package.envelopes
    assert package.scene is package.scene
    assert asked == ["scene", "envelopes"]
    assert package.levels is not None
    assert package.levels is package.levels
    assert asked == ["scene", "envelopes", "levels"]


def test_levels_need_not_be_there() -> None:
    assert Package(small_scene(), small_envelopes()).levels is None
    asked: list[Scene] = []
    # A list of one scene is asked once: `append` gives None.
    package = Package(small_scene(), small_envelopes(), asked.append)
    assert package.levels is None
    assert package.levels is None
    assert asked == [package.scene]
    levels = small_levels()
    assert Package(small_scene(), small_envelopes(), levels).levels is levels


def test_those_of_the_scene_are_taken() -> None:
    check_envelopes(small_envelopes(), small_scene())
    check_envelope(plain_envelope(small_scene()), small_scene())
    check_envelopes(no_envelopes(), empty_scene())


@pytest.mark.parametrize("wrong", [None, "multi", small_envelope()])
def test_what_is_no_envelopes(wrong: Any) -> None:
    text = f"envelopes: {type(wrong).__name__}, expected Envelopes"
    with pytest.raises(ShapeError, match=text):
        check_envelopes(wrong, small_scene())


def test_both_are_looked_at() -> None:
    good, none = small_envelope(), plain_envelope(empty_scene())
    for pair in (Envelopes(good, none), Envelopes(none, good)):
        with pytest.raises(ShapeError, match="order: vertices of the scene lack"):
            check_envelopes(pair, small_scene())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (put("data", 0, np.nan), "data, deltas: must be finite"),
        (put("deltas", 3, np.inf), "data, deltas: must be finite"),
        (put("steps", (0, 1), 3), r"steps: model: must lie in 0\.\.2"),
        (put("parts", (0, 2), 3), r"parts: owner: must lie in 0\.\.2"),
        (put("parts", (0, 0), 3), r"parts: node: must lie in 0\.\.2"),
        (put("morphs", (0, 0), 3), r"morphs: node: must lie in 0\.\.2"),
        (put("parts", (0, 0), 0), "parts: primitive 0 at node 0"),
        (put("parts", (1, 1), 1), "parts: primitive 1 at node 2"),
        (put("order", 0, 4), "order: a vertex that node 1 does not have"),
        (put("order", 6, 3), "order: a vertex that node 2 does not have"),
        (put("order", ..., 0), "order: vertices of primitive 0 at node 1 lack"),
        (put("order", 3, 0), "order: vertices of primitive 0 at node 1 lack"),
        (put("order", 6, 0), "order: vertices of primitive 0 at node 2 lack"),
        (put("morphs", (0, 0), 0), "morphs: node 0 has no target 1"),
        (put("morphs", (0, 0), 2), "morphs: node 2 has no target 1"),
        (put("morphs", (0, 1), 2), "morphs: node 1 has no target 2"),
    ],
)
def test_what_the_scene_does_not_have(change: Change, text: str) -> None:
    envelope = changed(change)
    with pytest.raises(ShapeError, match=text):
        check_envelope(envelope, small_scene())


def test_places_for_blocks_of_each_vertex_and_part() -> None:
    roomy = changed(lambda arrays: arrays.update(peak=72))
    check_envelope(roomy, small_scene())


def test_a_vertex_may_be_in_several_parts() -> None:
    """Vertices at a cut are; every one must be in some part."""

    def cut(arrays: dict[str, Any]) -> None:
        again = [[0, 2, 0, 3, 256], [5, 2, 0, 0, 0]]
        arrays["steps"] = np.concatenate([arrays["steps"], again])
        arrays["data"] = np.concatenate([arrays["data"], np.zeros(48)])
        arrays["parts"] = np.concatenate([arrays["parts"], [[2, 0, 2, 0, 3, 0]]])
        arrays["order"] = np.concatenate([arrays["order"], [2, 1, 2]])

    check_envelope(changed(cut), small_scene())


def test_what_is_not_shown_needs_no_part() -> None:
    scene = replace(small_scene(), default_set=1)
    check_envelope(plain_envelope(empty_scene()), scene)
    with pytest.raises(ShapeError, match="parts: primitive 0 at node 1"):
        check_envelope(small_envelope(), scene)


def test_a_primitive_of_nothing_needs_no_part() -> None:
    nothing = Mesh("", (Primitive(np.zeros((0, 3))),))
    scene = replace(small_scene(), meshes=(nothing, nothing), node_weights={}, clips={})
    check_envelope(plain_envelope(empty_scene()), scene)


# Characters


@pytest.mark.parametrize("wrong", [None, small_envelope()])
def test_a_character_with_what_is_no_envelopes(wrong: Any) -> None:
    with pytest.raises(ShapeError, match="expected Envelopes"):
        Character(small_scene()).with_envelopes(wrong)


def test_a_character_with_envelopes_of_another() -> None:
    character = Character(small_scene())
    with pytest.raises(ShapeError, match="order: vertices of the scene lack"):
        character.with_envelopes(no_envelopes())
    with pytest.raises(ShapeError, match="steps: model"):
        Character(empty_scene()).with_envelopes(small_envelopes())
    envelopes = small_envelopes()
    assert character.with_envelopes(envelopes).envelopes is envelopes
