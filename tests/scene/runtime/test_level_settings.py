"""How levels are to be made: what stands for what, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from flexor.errors import SettingError
from flexor.scene.runtime.level_settings import LevelChoice, LevelSettings


def test_without_choices_there_are_as_many_levels_as_heights() -> None:
    assert [c.height for c in LevelSettings().levels()] == [360.0, 160.0, 64.0]
    assert LevelSettings(heights=()).levels() == ()


def test_a_level_may_be_off_by_a_pixel_and_by_three_at_worst() -> None:
    settings = LevelSettings()
    assert (settings.mean, settings.worst) == (1.0, 3.0)


def test_choices_are_the_levels_and_take_the_heights_in_their_place() -> None:
    far = LevelChoice(name="far", height=40)
    settings = LevelSettings(choices=(LevelChoice(name="mid", influences=2), far))
    mid, last = settings.levels()
    assert (mid.name, mid.height, mid.influences) == ("mid", 360.0, 2)
    assert last == far


def test_what_is_given_is_kept_in_frozen_form() -> None:
    names = {"toe": "foot"}
    choice = LevelChoice(keep=["head"], carriers=names)  # type: ignore[arg-type]
    names["hand"] = "arm"
    assert choice.keep == ("head",)
    assert dict(choice.carriers) == {"toe": "foot"}
    with pytest.raises(TypeError):
        choice.carriers["x"] = "y"  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"height": 0}, "height: 0, expected pixels above 0"),
        ({"height": float("nan")}, "height: nan"),
        ({"keep": "head"}, "keep: one text"),
        ({"drop": "head"}, "drop: one text"),
        ({"triangles": -1}, "triangles: -1"),
        ({"influences": 0}, "influences: 0, expected 1 to 8"),
        ({"influences": 9}, "influences: 9"),
        ({"carriers": {"a": "a"}}, "'a' cannot carry itself"),
    ],
)
def test_choices_that_are_refused(words: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        LevelChoice(**words)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"mean": 0}, "mean: 0"),
        ({"worst": float("inf")}, "worst: inf"),
        ({"heights": (100, -1)}, "height: -1"),
        ({"heights": (100, 100)}, "level 2 takes over at 100 pixels, level 1 at 100"),
        (
            {"choices": (LevelChoice(height=100), LevelChoice(height=200))},
            "they must fall",
        ),
        (
            {"heights": (100,), "choices": (LevelChoice(), LevelChoice())},
            "level 2 has no height, and heights has 1",
        ),
    ],
)
def test_settings_that_are_refused(words: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        LevelSettings(**words)


def test_levels_are_few_and_heights_are_numbers() -> None:
    with pytest.raises(SettingError, match="expected numbers"):
        LevelSettings(heights=(10**400,))
    with pytest.raises(SettingError, match="expected numbers"):
        LevelSettings(heights=("x",))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="17 levels, expected 16 or less"):
        LevelSettings(heights=tuple(range(700, 683, -1)))
