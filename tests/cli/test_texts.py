from __future__ import annotations

import math

import pytest

from flexor.cli.texts import (
    VIEWS,
    close_names,
    parse_colour,
    parse_size,
    parse_view,
    say_lost_links,
    say_names,
)
from flexor.errors import SettingError
from flexor.scene.finding import Finding


@pytest.mark.parametrize("text", ["640x480", " 640 X 480 ", "640×480"])  # noqa: RUF001
def test_sizes(text: str) -> None:
    assert parse_size(text) == (640, 480)


@pytest.mark.parametrize("text", ["", "640", "640x", "-1x4", "6.5x4", "1x2x3", "axb"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(SettingError, match=r"expected such as 640x480"):
        parse_size(text)


def test_views() -> None:
    assert parse_view("0,0") == (0, 0)
    assert parse_view("front") == (0, math.radians(6))
    assert parse_view("Back") == (math.pi, math.radians(6))
    assert parse_view("-30, 10.5") == (math.radians(-30), math.radians(10.5))
    for name in VIEWS:
        parse_view(name)


@pytest.mark.parametrize("text", ["", "up", "1", "1,2,3", "nan,0", "0,91", "inf,0"])
def test_no_views(text: str) -> None:
    with pytest.raises(SettingError, match="expected one of three-quarter"):
        parse_view(text)


def test_colours() -> None:
    assert parse_colour("#102030") == (16, 32, 48, 255)
    assert parse_colour("A0B0C080") == (160, 176, 192, 128)
    assert parse_colour("transparent")[3] == 0
    for text in ("", "#12", "sky", "#12345g"):
        with pytest.raises(SettingError, match="expected one of transparent"):
            parse_colour(text)


def test_names_that_may_be_meant() -> None:
    names = ["Hips", "LeftArm", "RightArm", "mixamorig:LeftHand", "", "LeftArm"]
    assert close_names("hip", names)[0] == "Hips"
    assert close_names("leftarm", names)[0] == "LeftArm"
    assert close_names("hand", names) == ["mixamorig:LeftHand"]
    assert close_names("zzz", names) == []
    assert close_names("", names) == []


def test_not_all_names_are_said() -> None:
    names = ["", *(f"clip{n}" for n in range(50))]
    said = say_names("zzzz", names)
    assert said.startswith("there are: 'clip0', 'clip1', ")
    assert said.endswith("'clip19' and 30 more")
    assert "more" not in say_names("zzzz", names[:21])
    assert say_names("Clip7", names).startswith("did you mean 'clip7'")
    assert say_names("zzzz", []) == "there are: none"


def test_links_that_do_not_fit_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    bad = Finding("warning", "bad-link", "/nodes/2", "joint 4 has another parent")
    other = Finding("warning", "clip-name", "/", "odd")
    say_lost_links("a.glb", [other])
    assert capsys.readouterr().err == ""
    say_lost_links("a.glb", [other, bad])
    assert capsys.readouterr().err == f"flexor: a.glb: {bad}\n"
    say_lost_links("a.glb", [bad] * 9)
    assert (
        capsys.readouterr()
        .err.splitlines()[3]
        .startswith("flexor: a.glb: and 6 more links")
    )
