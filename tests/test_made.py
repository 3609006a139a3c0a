"""What is made once and kept: the same as made anew, and made again when it must be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from tests import made
from tests.same import differences
from tests.scenes import random_scene


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(made, "folder", lambda: tmp_path)
    return tmp_path


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


def test_what_is_kept_is_what_was_made(place: Path, rng: Any) -> None:
    scene = random_scene(rng)
    calls = []

    def make(*values: Any) -> Any:
        calls.append(values)
        return convert_scene(*values)

    remembered = made.kept(make)
    first, second = remembered(scene), remembered(scene)
    assert len(calls) == 1
    assert len(files(place)) == 1
    assert list(differences(first, second)) == []
    assert not second[0].multi.data.flags.writeable
    remembered(scene, EnvelopeSettings(split=False))
    remembered(random_scene(rng))
    assert len(calls) == 3


def test_other_source_and_threads_make_it_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    remembered = made.kept(lambda value: calls.append(value))
    remembered(1)
    monkeypatch.setattr(made, "_sources", lambda: "other")
    remembered(1)
    monkeypatch.setattr(made, "thread_count", lambda: 17)
    remembered(1)
    remembered(1)
    assert calls == [1, 1, 1]
    assert len(files(place)) == 3


def test_progress_is_told_and_no_part_of_what_is_asked(place: Path) -> None:
    told: list[int] = []

    def make(value: int, each: Any) -> int:
        each()
        each()
        return value

    remembered = made.kept(make)
    assert remembered(3, each=lambda: told.append(1)) == 3
    assert remembered(3, each=lambda: told.append(2)) == 3
    assert told == [1, 1, 2]


def test_what_cannot_be_told_apart_is_made_each_time(place: Path) -> None:
    remembered = made.kept(lambda value: [value])
    assert remembered(object) == [object]
    assert files(place) == []


def test_a_failure_leaves_nothing(place: Path) -> None:
    remembered = made.kept(lambda: lambda: None)  # which cannot be stored
    with pytest.raises(
        (AttributeError, TypeError, ValueError, made.pickle.PickleError)
    ):
        remembered()
    assert files(place) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ("1", 1),
        ((1, 2), [1, 2]),
        ((1, (2,)), (1, 2)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array([1, 2]), np.array([2, 1])),
        (b"1", "1"),
    ],
)
def test_different_values_have_different_digests(one: Any, other: Any) -> None:
    assert made.digest(one) != made.digest(other)
    assert made.digest(one) == made.digest(one)


def test_arrays_stay_as_writeable_as_they_were(tmp_path: Path) -> None:
    fixed, free = np.arange(3.0), np.arange(3.0)
    fixed.flags.writeable = False
    made.store(tmp_path / "a", (fixed, free))
    again = made.load(tmp_path / "a")
    assert [one.flags.writeable for one in again] == [False, True]
    np.testing.assert_array_equal(again[0], fixed)


def test_old_things_are_forgotten(tmp_path: Path) -> None:
    own, old, new = (tmp_path / name for name in ("own", "old", "new"))
    for one in (own, old, new):
        one.mkdir()
    for one in (own, old):
        os.utime(one, (0, 0))
    made.forget_old(own)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "own"]
