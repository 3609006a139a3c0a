"""Levels of detail of characters: given, kept, made when they are asked for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.levels import make as converter
from flexor.errors import ShapeError
from flexor.scene.character.clip import Clip
from tests.files.package.packages import (
    small_levels,
    small_package,
    small_scene,
    unlike,
)


def fail(*_: object, **__: object) -> None:
    raise AssertionError("levels are made")


@pytest.fixture
def hero() -> Character:
    return Character(small_package())


def test_levels_of_a_file_are_made_once(
    hero: Character, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a package without any, and of what is none."""
    asked = []

    def make(scene: Any, *_: Any) -> Any:
        asked.append(scene)
        return small_levels(), [], []

    monkeypatch.setattr(converter, "make_levels", make)
    for one in (hero, Character(small_scene())):
        assert one.given_levels is None
        assert one.levels is one.levels
        assert one.given_levels is None
        assert asked.pop() is one.scene
    assert asked == []


def test_those_that_are_given(hero: Character, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converter, "make_levels", fail)
    levels, envelopes = small_levels(), hero.envelopes
    given = hero.with_levels(levels)
    assert given.levels is given.given_levels is levels
    assert given.scene is hero.scene
    assert given.envelopes is envelopes
    assert hero.given_levels is None
    assert given.with_levels(None).given_levels is None
    # What is made of it has them too.
    assert given.with_envelopes(envelopes).levels is levels
    other = given.with_clips({"more": Clip("more", ())})
    assert other.levels is levels
    assert other.envelopes is envelopes


def test_of_a_scene_without_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converter, "make_levels", fail)
    bare, levels = Character(small_scene()), small_levels()
    given = bare.with_levels(levels)
    assert given.levels is levels
    assert given.with_clips({}, only=True).levels is levels
    assert bare.with_clips({}).given_levels is None


def test_saving_keeps_those_that_are_given(hero: Character, tmp_path: Path) -> None:
    path = tmp_path / "a.flexor"
    flexor.save(hero, path)
    assert flexor.load(path).given_levels is None
    flexor.save(hero.with_levels(small_levels()), path)
    loaded = flexor.load(path)
    assert list(unlike(small_levels(), loaded.levels)) == []
    flexor.save(loaded, tmp_path / "b.flexor")
    assert (tmp_path / "b.flexor").read_bytes() == path.read_bytes()
    flexor.save(loaded.with_levels(None), tmp_path / "c.flexor")
    assert flexor.load(tmp_path / "c.flexor").given_levels is None


def test_copies_have_them(hero: Character, tmp_path: Path) -> None:
    """Also when the file is gone."""
    path = tmp_path / "a.flexor"
    flexor.save(hero.with_levels(small_levels()), path)
    loaded = flexor.load(path)
    stored, twin = pickle.dumps(loaded), copy.deepcopy(loaded)
    path.unlink()
    for again in (pickle.loads(stored), twin):
        assert list(unlike(small_levels(), again.given_levels)) == []
        assert list(unlike(small_scene(), again.scene)) == []


def test_those_of_another_are_refused(hero: Character) -> None:
    levels = small_levels()
    nowhere = replace(hero.scene, default_set=1)
    with pytest.raises(ShapeError, match="sources: no vertex"):
        Character(nowhere).with_levels(levels)
    for wrong in ("levels", np.zeros(3), levels.table):
        with pytest.raises(ShapeError, match=r"levels: \w+, expected Levels"):
            hero.with_levels(wrong)  # type: ignore[arg-type]
