"""Packages given to the other commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.scene.runtime.envelope import SomeEnvelopes
from tests.cli.converted import fill, refused
from tests.output.moving import read_back

# Motion is packed in every conversion: too much for kernels that are not compiled.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

SMALL = ("--size", "96x72", "--samples", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("convert"))


# Packages given to other commands


@pytest.mark.jit
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--clip", "walk", "--time", 0.3),
        ("--clip", "kick", "--time", 0.5, "--weights", "one"),
        ("--clip", "run", "--sheet", 3),
        ("--style", "cel", "--bones", "--ground"),
        ("--heat", "head"),
    ],
)
def test_the_same_picture(run: Any, folder: Path, tmp_path: Path, words: Any) -> None:
    """To the last bit: of the file, and of its package."""
    pictures = []
    for name, ending in (("a.png", "flexor"), ("b.png", "glb")):
        out = tmp_path / name
        given = (folder / f"mannequin.{ending}", "-o", out, *SMALL)
        done = run("render", *given, *words)
        assert (done.code, done.err) == (0, "")
        pictures.append(read_back(out)[0])
    assert pictures[0].tobytes() == pictures[1].tobytes()
    assert len(np.unique(pictures[0].reshape(-1, 4), axis=0)) > 50


@pytest.mark.jit
def test_the_same_movie(run: Any, folder: Path, tmp_path: Path) -> None:
    words = ("--clip", "walk", "--fps", 5, *SMALL)
    for ending in ("flexor", "glb"):
        out = tmp_path / f"{ending}.npy"
        assert (
            run("render", folder / f"mannequin.{ending}", *words, "-o", out).code == 0
        )
    one, other = np.load(tmp_path / "flexor.npy"), np.load(tmp_path / "glb.npy")
    assert len(one) == 5
    np.testing.assert_array_equal(one, other)


@pytest.mark.jit
@pytest.mark.parametrize("how", [("--time", 0.5), ("--sheet", 3)])
@pytest.mark.parametrize("ending", ["glb", "flexor"])
def test_one_weight_is_another_picture(
    run: Any, folder: Path, tmp_path: Path, ending: str, how: Any
) -> None:
    """Of a bent body some pixels differ, and most do not."""
    pictures = []
    for weights in ("multi", "one"):
        out = tmp_path / f"{weights}.png"
        words = ("--clip", "kick", *how, "--weights", weights, *SMALL)
        done = run("render", folder / f"mannequin.{ending}", *words, "-o", out)
        assert (done.code, done.err) == (0, "")
        pictures.append(read_back(out)[0].astype(int))
    off = np.abs(pictures[0] - pictures[1]).max(-1) > 8
    assert 0 < off.mean() < 0.1


@pytest.mark.jit
def test_one_weight_of_named_parts(run: Any, folder: Path, tmp_path: Path) -> None:
    """Asked for when drawn, or when converted: the same picture, unlike the others."""
    made = tmp_path / "made.flexor"
    glb = folder / "mannequin.glb"
    few = ("--one-weight", "l-*", "--one-weight", "head")
    words = ("-o", made, *few, "--levels", "none", "--motion-error", 0)
    assert run("convert", glb, *words).code == 0
    seen = []
    still = ("--clip", "kick", "--time", 0.5, *SMALL, "-o", tmp_path / "a.png")
    for file, more in (
        (glb, ()),
        (glb, ("--weights", "one")),
        (glb, ("--weights", "one", *few)),
        (made, ("--weights", "one")),
    ):
        done = run("render", file, *still, *more)
        assert (done.code, done.err) == (0, "")
        seen.append((tmp_path / "a.png").read_bytes())
    assert len(set(seen[:3])) == 3
    assert seen[2] == seen[3]


def test_weights_are_one_of_two_words(run: Any, folder: Path, tmp_path: Path) -> None:
    words = ("-o", tmp_path / "a.png", "--weights", "two")
    done = run("render", folder / "mannequin.flexor", *words)
    refused(done, "--weights: 'two', expected multi or one")
    assert list(tmp_path.iterdir()) == []


def test_inspect(run: Any, folder: Path) -> None:
    """The same numbers as of the file that the package was made of."""
    reports = []
    for ending in ("flexor", "glb"):
        file = folder / f"mannequin.{ending}"
        done = run("inspect", file, "--json")
        assert (done.code, done.err) == (0, "")
        report = json.loads(done.out)
        assert report.pop("file") == str(file)
        assert report.pop("file_bytes") == file.stat().st_size
        reports.append(report)
    envelopes = reports[0].pop("envelopes")
    assert reports[0].pop("levels") == []  # it was not converted
    assert reports[0] == reports[1]
    assert list(envelopes) == ["one"]
    assert envelopes["one"]["vertices"] == 4855
    assert envelopes["one"]["native"] == envelopes["one"]["worked"]
    done = run("inspect", folder / "mannequin.flexor")
    assert done.code == 0
    for word in ("mannequin.flexor", "4,855", "walk", "envelopes", "one"):
        assert word in done.out


def test_a_broken_package(run: Any, folder: Path, tmp_path: Path) -> None:
    data = (folder / "mannequin.flexor").read_bytes()
    broken = tmp_path / "broken.flexor"
    broken.write_bytes(data[: len(data) // 2])
    for words in (
        ("inspect", broken),
        ("render", broken, "-o", tmp_path / "a.png"),
        ("convert", broken, "-o", tmp_path / "a.flexor"),
    ):
        refused(run(*words), "broken.flexor")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.flexor"]


def test_lists_of_envelopes(run: Any, folder: Path, tmp_path: Path) -> None:
    file = folder / "mannequin.flexor"
    done = run("inspect", file, "--lists")
    assert (done.code, done.err) == (0, "")
    for word in (
        "mannequin.flexor, one weight: areas of the common vertex buffer, peak ",
        "vertex lists, in trace order",
        "DRAWCP 0",
        "non-drawing table",
        "--envelopes both",
    ):
        assert word in done.out
    found = json.loads(run("inspect", file, "--lists", "--json").out)
    lists = found["lists"]["one"]
    envelope = flexor.load(file).envelopes.one
    assert list(found["lists"]) == ["one"]
    assert lists["peak"] == envelope.peak
    assert sum(len(area["vertices"]) for area in lists["areas"]) == len(envelope.order)


@pytest.mark.parametrize("name", ["mannequin.glb", "bare.flexor"])
def test_without_envelopes_it_is_said_how_to_get_them(
    run: Any, folder: Path, tmp_path: Path, name: str
) -> None:
    hero = flexor.load(folder / "mannequin.glb")
    flexor.save(hero.with_envelopes(SomeEnvelopes()), tmp_path / "bare.flexor")
    file = (folder if name.endswith("glb") else tmp_path) / name
    stem = Path(name).stem
    refused(
        run("inspect", file, "--lists"),
        f"{file} holds no envelopes; 'flexor convert {name} -o {stem}.flexor "
        "--envelopes both' puts them in",
    )
