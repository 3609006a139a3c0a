"""`flexor render --show`: views of skin and bones, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.cli.texts import parse_view
from flexor.draw.scene.fit import direction_of
from flexor.draw.scene.style import DrawStyle
from flexor.output.image import save_image
from tests.files import bvh_text
from tests.scenes import random_scene

MANNEQUIN = Path(flexor.__file__).parent / "samples" / "mannequin.glb"
SMALL = ("--size", "64x48", "--samples", "1")
LIMITS = """
[joint."l-knee"]
z = [-5, 100]
"""


@pytest.fixture
def run(run: Any) -> Any:
    """Runs `flexor render`."""
    return lambda *words: run("render", *words)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("--show", "sections"), {"show": ("sections",)}),
        (("--show", "areas"), {"show": ("areas",)}),
        (("--show", " Ties,areas,ties"), {"show": ("areas", "ties")}),
        (
            ("--show", "limits", "--joints", "l-*,head"),
            {"show": ("limits",), "joints": ("l-*", "head")},
        ),
        (
            ("--show", "ties", "--heat", "l-knee"),
            {"show": ("ties",), "style": "heat", "heat": "l-knee"},
        ),
        (
            ("--show", "sections,limits", "--style", "cel", "--bones"),
            {"show": ("sections", "limits"), "style": "cel", "bones": True},
        ),
    ],
)
def test_it_draws_what_the_library_draws(
    run: Any, tmp_path: Path, words: Any, settings: Any
) -> None:
    out = tmp_path / "a.png"
    done = run(
        MANNEQUIN,
        "--clip",
        "run",
        "--time",
        0.3,
        *SMALL,
        *words,
        "-o",
        out,
        "--camera",
        "three-quarter",
    )
    assert (done.code, done.err) == (0, "")
    hero = flexor.load(MANNEQUIN)
    pose = hero.pose("run", 0.3)
    drawer = flexor.Drawer(hero, (64, 48), DrawStyle(samples=1, **settings))
    camera = drawer.fit(pose, direction=direction_of(*parse_view("three-quarter")))
    other = tmp_path / "b.png"
    save_image(other, drawer.draw(pose, camera))
    assert out.read_bytes() == other.read_bytes()


@pytest.mark.jit
@pytest.mark.parametrize(
    "words",
    [
        ("--sheet", 3, "-o", "a.png"),
        ("--turntable", "--seconds", 0.2, "-o", "a.webp"),
        ("--seconds", 0.2, "-o", "a.npy"),
    ],
)
def test_sheets_and_movies(
    run: Any, tmp_path: Path, words: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    views = "sections,areas,ties,limits"
    done = run(MANNEQUIN, "--clip", "run", *SMALL, "--show", views, *words)
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / words[-1]).stat().st_size > 0


@pytest.mark.jit
def test_limits_out_of_a_file(run: Any, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(LIMITS)
    pictures = []
    for words in ((), ("--limits", tmp_path / "own.toml")):
        out = tmp_path / "a.npy"
        done = run(
            MANNEQUIN,
            "--time",
            0,
            *SMALL,
            "--seconds",
            0.03,
            "--show",
            "limits",
            *words,
            "-o",
            out,
        )
        assert (done.code, done.err) == (0, "")
        pictures.append(np.load(out).astype(int))
    assert (pictures[0] != pictures[1]).any()


def test_words_that_are_wrong(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "a.png"
    for words, text in (
        (
            ("--show", "area"),
            "'area', expected one or more of sections, areas, ties,",
        ),
        (("--show", ""), "--show: '', expected one or more of sections, areas, ties, "),
        (("--joints", "l-*"), "--joints: is for --show"),
        (("--show", "areas", "--joints", ","), "--joints: nothing"),
        (("--show", "areas", "--joints", "knie"), "--joints: no joint 'knie'; did you"),
        (("--show", "areas", "--limits", "a.toml"), "--limits: is for --show limits"),
        (("--show", "areas", "--heat", "l-knee"), "both colour the skin"),
        (("--show", "areas", "--crowd", 3), "--crowd and --show: a crowd has none"),
        (("--show", "limits", "--limits", tmp_path / "no.toml"), "No such file"),
    ):
        done = run(MANNEQUIN, *words, "-o", out)
        assert done.code != 0
        assert text in done.err
        assert "Traceback" not in done.err
    assert not out.exists()


@pytest.mark.jit
def test_a_file_without_limits_says_so(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "some.glb"
    flexor.save(Character(random_scene(np.random.default_rng(5))), file)
    for words in (("--time", 0), ("--sheet", 2)):
        done = run(file, *words, *SMALL, "--show", "limits", "-o", tmp_path / "a.png")
        assert done.code == 0
        assert done.err.startswith("flexor: info: no-limits")
        assert done.err.count("no limits to show") == 1
        assert "--limits FILE.toml" in done.err
        assert (tmp_path / "a.png").exists()


def test_a_file_without_a_skin_is_refused(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "walk.bvh"
    file.write_text(bvh_text.SMALL)
    done = run(file, "--show", "sections,ties", "-o", tmp_path / "a.png", "--time", 0)
    assert done.code != 0
    assert "show: sections, ties: there is no surface" in done.err
    assert not (tmp_path / "a.png").exists()
