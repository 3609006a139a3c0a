"""Errors: the tree, the texts, and the way through a process border."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from flexor import errors
from flexor.errors import (
    AssetError,
    BackendMissing,
    FlexorError,
    SettingError,
    ShapeError,
    VersionError,
)


def test_tree_in_the_docstring_is_the_tree() -> None:
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, FlexorError)
        assert name in (errors.__doc__ or "")
        assert kind.__doc__


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (VersionError, AssetError),
        (ShapeError, ValueError),
        (SettingError, ValueError),
        (BackendMissing, FlexorError),
        (FlexorError, Exception),
    ],
)
def test_bases(kind: type[Exception], base: type[Exception]) -> None:
    assert issubclass(kind, base)


def test_asset_error_names_file_and_place() -> None:
    error = AssetError("folder/hero.glb", "/accessors/3/count", "is -1, expected >= 1")
    assert str(error) == (
        f"{Path('folder/hero.glb')} at /accessors/3/count: is -1, expected >= 1"
    )
    assert error.path == Path("folder/hero.glb")
    assert (error.pointer, error.text) == ("/accessors/3/count", "is -1, expected >= 1")


def test_asset_error_without_a_place() -> None:
    assert str(AssetError(Path("hero.glb"), "", "is empty")) == "hero.glb: is empty"


@pytest.mark.parametrize("kind", [AssetError, VersionError])
def test_asset_errors_can_be_pickled(kind: type[AssetError]) -> None:
    error = kind("hero.glb", "byte 12", "wrong magic")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert (again.path, again.pointer, again.text) == (
        error.path,
        error.pointer,
        error.text,
    )
