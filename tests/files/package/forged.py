"""Packages that are changed on purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flexor.errors import AssetError
from flexor.files.package.read import read_package

Change = Callable[[Any], None]


def refuse(path: Path, match: str) -> None:
    with pytest.raises(AssetError, match=match) as caught:
        _ = read_package(path).envelopes
    assert caught.value.path == path
    assert len(str(caught.value)) < 600


def put(name: str, at: Any, value: Any) -> Change:
    """Change one number of an array."""

    def change(arrays: dict[str, Any]) -> None:
        arrays[name][at] = value

    return change


def set_array(name: str, value: Any) -> Change:
    return lambda arrays: arrays.update({name: value})


def drop(*names: str) -> Change:
    def change(arrays: dict[str, Any]) -> None:
        for name in names:
            del arrays[name]

    return change


def at(*keys: Any, to: Any) -> Change:
    """Change one value of JSON."""

    def change(tree: Any) -> None:
        for key in keys[:-1]:
            tree = tree[key]
        tree[keys[-1]] = to

    return change
