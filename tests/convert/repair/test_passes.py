"""The table of passes, and that Python, the command and the settings file follow it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer

import flexor
from flexor.cli.main import app
from flexor.cli.repair_settings import file_words
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.links.place_links import JointRule
from flexor.convert.repair.passes import TABLE, RepairWords
from flexor.convert.repair.rows import Setting
from flexor.convert.repair.settings import make_settings, take_words
from flexor.convert.weights.mend_rogues import SPARE
from flexor.convert.weights.smooth_weights import SmoothSettings
from flexor.errors import SettingError

DOCS = Path(__file__).parents[3] / "docs" / "guide" / "repair.md"
# What the command has beside the table, and flexor.repair.
OWN_OPTIONS = {
    *("file", "out", "check", "strict", "most", "as_json"),
    *("weights_from", "settings", "report"),
}
OWN_KEYWORDS = ["weights_from", "has_measures"]


def options() -> dict[str, Any]:
    """The options of `flexor repair`, by name."""
    command: Any = typer.main.get_command(app)
    return {one.name: one for one in command.commands["repair"].params}


def test_python_has_the_keywords_of_the_table() -> None:
    first, *shown = inspect.signature(flexor.repair).parameters.values()
    assert first.name == "character"
    assert [one.name for one in shown] == [*TABLE.types, *OWN_KEYWORDS]
    for one in shown[: -len(OWN_KEYWORDS)]:
        assert one.default == TABLE.settings[one.name].default
        assert one.annotation == TABLE.types[one.name]
    assert {one.kind for one in shown} == {inspect.Parameter.KEYWORD_ONLY}
    for name in [*TABLE.types, *OWN_KEYWORDS]:
        assert re.search(rf"^    {name}[ :]", str(flexor.repair.__doc__), re.MULTILINE)


def test_the_keywords_are_those_that_programs_use() -> None:
    expected = {
        "regenerate": False,
        "rogues": False,
        "smooth": False,
        "ease": False,
        "mirror": None,
        "links": 0,
        "twists": 0,
        "always": False,
        "prune": 0.0,
        "max_influences": None,
        "palette": 0,
        "joints": (),
        "rigid": (),
        "weights_from": None,
        "has_measures": True,
    }
    shown = inspect.signature(flexor.repair).parameters
    assert {n: one.default for n, one in shown.items() if n != "character"} == expected
    with pytest.raises(TypeError, match="unexpected keyword argument 'smoth'"):
        flexor.repair(flexor.samples.mannequin(), smoth=3)  # type: ignore[call-arg]


def test_the_command_has_the_options_of_the_table() -> None:
    asked = {name: s.option for name, s in TABLE.settings.items() if s.option}
    shown = options()
    assert set(shown) == OWN_OPTIONS | set(asked)
    for name, option in asked.items():
        assert option is not None
        assert shown[name].opts == [option.spelling]
        assert shown[name].help == (option.text or TABLE.settings[name].text)
        kind = shown[name].type
        bounds = getattr(kind, "min", None), getattr(kind, "max", None)
        assert bounds == (option.low, option.high)


def test_the_settings_file_has_the_words_of_the_table() -> None:
    words = file_words()
    told = {
        f"{table}.{word}".removeprefix("."): name
        for table, inner in words.items()
        for word, (_, name) in inner.items()
        if word not in words
    }
    assert told == {setting.word: name for name, setting in TABLE.settings.items()}
    text = DOCS.read_text("utf-8")
    example = text[text.index("```toml") :]
    for word in told:
        assert re.search(
            rf"^(# )?\[?{word.rpartition('.')[2]}\b", example, re.MULTILINE
        )


def test_every_row_has_a_function_that_asks_for_settings_of_the_table() -> None:
    for keyword, row in TABLE.passes.items():
        first, *rest = inspect.signature(row.load()).parameters.values()
        task = "BodyTask" if row.stage in ("weights", "limits") else "SceneTask"
        assert first.annotation == task, keyword
        assert {one.name for one in rest} <= set(TABLE.settings), keyword
        assert {one.kind for one in rest} <= {inspect.Parameter.KEYWORD_ONLY}


def test_every_row_says_what_it_is() -> None:
    for name, setting in TABLE.settings.items():
        assert setting.name == name
        assert setting.text.endswith(".")
        assert setting.word
    assert set(TABLE.types) == set(RepairWords.__annotations__)


def test_defaults_are_those_of_the_functions() -> None:
    values = make_settings({}).values
    smooth, links = SmoothSettings(), LinkSettings()
    assert values["spare"] == SPARE
    assert (values["smooth_width"], values["smooth_enough"]) == (
        smooth.width,
        smooth.enough,
    )
    assert TABLE.settings["smooth"].usual == smooth.most
    assert (values["links_length"], values["links_fade"]) == (links.length, links.fade)
    assert TABLE.settings["links"].usual == links.count


def test_which_passes_are_asked_for() -> None:
    def asked(**values: Any) -> tuple[str, ...]:
        return make_settings(values).passes()

    assert asked() == ()
    assert asked(smooth=0) == ("smooth",)
    assert asked(max_influences=0, prune=0.0, palette=0, links=0) == ()
    assert asked(max_influences=3) == ("limit",)
    assert asked(rules=(JointRule(pattern="a", count=2),)) == ("links",)
    assert asked(rules=(JointRule(pattern="a", fade=0.5),)) == ()


def test_what_programs_may_give() -> None:
    words = take_words({"smooth": True, "joints": "arm", "rigid": ["a", "b"]}).values
    assert (words["smooth"], words["joints"], words["rigid"]) == (
        100,
        ("arm",),
        ("a", "b"),
    )
    assert take_words({"smooth": False}).values["smooth"] is False
    assert make_settings({"smooth": 0}).passes() == ("smooth",)
    with pytest.raises(SettingError, match="smooth: 0, expected a whole number from 1"):
        take_words({"smooth": 0})
    with pytest.raises(SettingError, match="links: 65, expected 0 to 64"):
        take_words({"links": 65})


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("prune", (0, 1, 0.5), (-0.1, 1.5, float("nan"))),
        ("smooth_width", (0.1, 9), (0, -1, float("inf"))),
        ("smooth_enough", (0, 3), (-1, float("nan"))),
        ("links_length", (0.1,), (0, 1e6, float("nan"))),
        ("links_fade", (0, 1), (-0.1, 2)),
        ("links", (0, 64), (-1, 65)),
    ],
)
def test_bounds(name: str, good: tuple[float, ...], bad: tuple[float, ...]) -> None:
    setting: Setting = TABLE.settings[name]
    for value in good:
        setting.check(value)
    for value in bad:
        with pytest.raises(SettingError, match=f"{name}: .*, expected "):
            setting.check(value)
