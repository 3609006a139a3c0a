"""Levels that are kept: made once, the same as made anew, and from nobody else."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.api import kept_levels as keeper
from flexor.api.character import Character
from flexor.api.kept_levels import kept_levels
from flexor.convert.levels import make as converter
from flexor.scene.runtime.level_settings import LevelSettings
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import tube_scene
from tests.same import differences

SETTINGS = LevelSettings(heights=(200.0,))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder."""
    monkeypatch.setenv("FLEXOR_KEEP", "1")
    monkeypatch.setattr(keeper, "user_cache", lambda: tmp_path / "flexor")
    return tmp_path / "flexor" / "levels"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Scene]:
    """The scenes that levels are made of."""
    calls: list[Scene] = []
    make = converter.make_levels

    def counted(scene: Scene, *rest: Any) -> Any:
        calls.append(scene)
        return make(scene, *rest)

    monkeypatch.setattr(converter, "make_levels", counted)
    return calls


def moved(scene: Scene) -> Scene:
    """The same with its skeleton a little higher."""
    lifted = scene.skeleton.translations + np.float32([0, 0.001, 0])
    return replace(scene, skeleton=replace(scene.skeleton, translations=lifted))


def test_they_are_made_once(place: Path, made: list[Scene]) -> None:
    """For each character and settings, whichever object says them."""
    first = kept_levels(tube_scene(2.0), SETTINGS)
    again = kept_levels(tube_scene(2.0), SETTINGS)
    assert len(made) == 1
    assert len(list(place.iterdir())) == 1
    assert list(differences(first, again)) == []
    kept_levels(tube_scene(2.0), replace(SETTINGS, mean=2.0))
    kept_levels(moved(tube_scene(2.0)), SETTINGS)
    assert len(made) == 3
    assert len(list(place.iterdir())) == 3


def test_characters_take_what_was_kept(place: Path, made: list[Scene]) -> None:
    levels = [Character(tube_scene(2.0)).levels for _ in range(2)]
    assert len(made) == 1
    assert list(differences(*levels)) == []


def test_another_source_makes_others(
    place: Path, made: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_levels(tube_scene(2.0), SETTINGS)
    monkeypatch.setattr(keeper, "_maker", lambda: "another version")
    kept_levels(tube_scene(2.0), SETTINGS)
    assert len(made) == 2


def test_what_is_damaged_is_made_again(place: Path, made: list[Scene]) -> None:
    whole = kept_levels(tube_scene(2.0), SETTINGS)
    (file,) = place.iterdir()
    data = file.read_bytes()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    for count, wrong in enumerate((b"", data[:-9], b"x" * 500, bytes(changed)), 2):
        file.write_bytes(wrong)
        again = kept_levels(tube_scene(2.0), SETTINGS)
        assert len(made) == count
        assert list(differences(whole, again)) == []
        assert file.read_bytes() == data


def test_levels_of_another_character_are_not_taken(
    place: Path, made: list[Scene]
) -> None:
    """A whole file under the wrong name."""
    kept_levels(tube_scene(2.0), SETTINGS)
    (mine,) = place.iterdir()
    kept_levels(moved(tube_scene(2.0)), SETTINGS)
    (other,) = set(place.iterdir()) - {mine}
    mine.write_bytes(other.read_bytes())
    kept_levels(tube_scene(2.0), SETTINGS)
    assert len(made) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_what_others_can_write_is_not_taken(place: Path, made: list[Scene]) -> None:
    kept_levels(tube_scene(2.0), SETTINGS)
    (file,) = place.iterdir()
    assert place.stat().st_mode & 0o022 == 0
    assert file.stat().st_mode & 0o022 == 0
    for count, (path, mode) in enumerate(
        ((file, 0o666), (file, 0o660), (place, 0o777)), 2
    ):
        before = path.stat().st_mode
        path.chmod(mode)
        kept_levels(tube_scene(2.0), SETTINGS)
        assert len(made) == count
        path.chmod(before)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner there")
def test_what_is_another_users_is_not_taken(
    place: Path, made: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_levels(tube_scene(2.0), SETTINGS)
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    kept_levels(tube_scene(2.0), SETTINGS)
    assert len(made) == 2


def test_nothing_is_kept_where_that_is_said_or_cannot_be(
    place: Path, made: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEXOR_KEEP", "0")
    kept_levels(tube_scene(2.0), SETTINGS)
    assert not place.exists()
    monkeypatch.setenv("FLEXOR_KEEP", "1")
    place.parent.mkdir()
    place.write_text("in the way")
    kept_levels(tube_scene(2.0), SETTINGS)
    monkeypatch.setattr(keeper, "user_cache", lambda: None)
    kept_levels(tube_scene(2.0), SETTINGS)
    assert len(made) == 3
