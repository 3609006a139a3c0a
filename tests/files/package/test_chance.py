"""Packages changed by chance, their checksums made right: what is taken is right."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.package.read import read_package
from tests.conftest import ROOT
from tests.files.package.packages import forge, unlike

GOOD = (ROOT / "tests" / "data" / "packages" / "v1.flexor").read_bytes()


def rebuilt(value: Any) -> Any:
    """A value made again by the constructors, which check."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = (f.name for f in dataclasses.fields(value) if f.init)
        return type(value)(**{name: rebuilt(getattr(value, name)) for name in made})
    if isinstance(value, tuple):
        return tuple(rebuilt(item) for item in value)
    if isinstance(value, Mapping):
        return {key: rebuilt(item) for key, item in value.items()}
    return value


def changed_by_chance(chance: random.Random, value: Any) -> Any:
    """JSON with one value somewhere replaced."""
    if isinstance(value, dict | list) and value and chance.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = chance.choice(list(keys))
        value[key] = changed_by_chance(chance, value[key])
        return value
    odd = (
        0,
        1,
        2,
        3,
        -1,
        1 << 31,
        0.5,
        float("nan"),
        "x",
        "",
        None,
        True,
        [],
        {},
        [0],
        [[]],
    )
    return chance.choice(odd)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_taken_passes_all_checks_of_the_scene(
    tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "changed.flexor"
    chance = random.Random(seed)
    odd = (0, 1, 2, 3, 4, 7, -1, -2, 100, (1 << 31) - 1, -(1 << 31))

    def numbers(arrays: dict[str, Any]) -> None:
        names = [name for name in arrays if arrays[name].size and name != "envelopes"]
        for _ in range(chance.randrange(1, 3)):
            array = arrays[chance.choice(names)].reshape(-1).view()
            with np.errstate(all="ignore"):
                at = chance.randrange(len(array))
                array[at : at + 1] = np.array([chance.choice(odd)]).astype(array.dtype)

    def words(scene: dict[str, Any]) -> None:
        changed_by_chance(chance, scene)

    taken = 0
    for number in range(60):
        write = (numbers, None, None), (None, words, None), (None, None, numbers)
        arrays, scene, envelopes = write[number % 3]
        path.write_bytes(GOOD)
        forge(path, arrays=arrays, scene=scene, envelopes=envelopes)
        try:
            package = read_package(path)
            rebuilt(package.envelopes)
        except AssetError:
            continue
        taken += 1
        again = rebuilt(package.scene)
        assert list(unlike(package.scene.skeleton, again.skeleton)) == []
    assert 0 < taken < 60
