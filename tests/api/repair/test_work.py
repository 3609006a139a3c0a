"""What `flexor.repair` makes: no surface, layout or rest pose twice."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.repair.passes import TABLE
from flexor.convert.shape.surface import make_surface
from flexor.pose.layout import make_layout
from flexor.scene.character.skeleton import Skeleton, rest_world

pytestmark = pytest.mark.slow  # thousands of vertices


def skeleton_key(skeleton: Skeleton) -> Any:
    return skeleton.names, skeleton.parents.tobytes(), skeleton.translations.tobytes()


def surface_key(places: Any, normals: Any, faces: Any, rows: Any = None) -> Any:
    return places.tobytes(), None if rows is None else rows.tobytes()


KEYS: dict[Callable[..., Any], Callable[..., Any]] = {
    make_surface: surface_key,
    make_layout: lambda scene: skeleton_key(scene.skeleton),
    rest_world: skeleton_key,
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counter[Any]]:
    """How often each function is called with the same, wherever it is called from."""
    for row in TABLE.passes.values():
        row.load()
    found: dict[str, Counter[Any]] = {}
    for function, key in KEYS.items():
        name, seen = function.__name__, Counter[Any]()
        found[name] = seen

        def count(
            *given: Any,
            function: Callable[..., Any] = function,
            key: Callable[..., Any] = key,
            seen: Counter[Any] = seen,
        ) -> Any:
            seen[key(*given)] += 1
            return function(*given)

        for module in list(sys.modules.values()):
            is_ours = getattr(module, "__name__", "").startswith("flexor")
            if is_ours and getattr(module, name, None) is function:
                monkeypatch.setattr(module, name, count)
    return found


ALL = {
    "regenerate": True,
    "rogues": True,
    "smooth": True,
    "mirror": "left",
    "links": 3,
    "prune": 0.01,
    "max_influences": 4,
    "palette": 40,
}


@pytest.mark.parametrize("words", [ALL, ALL | {"regenerate": False}])
def test_nothing_is_made_twice(counts: dict[str, Counter[Any]], words: Any) -> None:
    scene = flexor.samples.mannequin().scene
    one = {"walk": scene.clips["walk"]}  # each clip gets tracks for links: seconds
    hero = Character(dataclasses.replace(scene, clips=one))
    skeleton = hero.skeleton
    beside = dataclasses.replace(
        skeleton, translations=skeleton.translations + np.float32(1e-4)
    )
    other = Character(dataclasses.replace(hero.scene, skeleton=beside))
    for seen in counts.values():
        seen.clear()
    _, report = flexor.repair(hero, **words, weights_from=other)
    assert report.vertices > 0
    for name, seen in counts.items():
        assert seen, name
        # Layouts and rest poses with links are made for each that is tried.
        tried = np.inf if name == "make_surface" else len(skeleton.names)
        often = {times for key, times in seen.items() if len(key[0]) <= tried}
        # Finding the parts of a human body, and how far they turn, looks at its rest.
        assert max(often) <= (4 if name == "rest_world" else 1), name
    # By place once; as given, between passes and before links.
    assert len(counts["make_surface"]) <= 5
    by_place = [rows for _, rows in counts["make_surface"] if rows is None]
    assert len(by_place) == 1
