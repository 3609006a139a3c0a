"""`flexor convert`: what it refuses, what is left when it stops, and names."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api import load_save
from flexor.api.character import Character
from flexor.convert.envelope import make as converter
from flexor.convert.envelope.make import convert_scene
from flexor.errors import ShapeError
from flexor.scene.character.weights import SkinWeights
from flexor.scene.runtime import package
from tests.cli.converted import fill, refused

# Motion is packed in every conversion: too much for kernels that are not compiled.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

QUICK = ("--levels", "none", "--motion-error", "0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("convert"))


# Refusals


def test_neither_a_place_nor_a_report(run: Any, folder: Path) -> None:
    done = run("convert", folder / "hero.glb")
    refused(done, "-o: give a .flexor file to write, or --report for numbers")


def test_no_files(run: Any, tmp_path: Path) -> None:
    done = run("convert", "-o", tmp_path / "a.flexor")
    assert done.code == 2
    assert "Missing argument" in done.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("hero.glb", "-o", "{}/a.glb"), "a.glb: a package ends in .flexor"),
        (("hero.glb", "-o", "{}/a"), "/a: a package ends in .flexor"),
        (("hero.glb", "-o", "{}/none/a.flexor"), "there is no folder"),
        (("hero.glb", "other.glb", "-o", "{}/a.flexor"), "expected a folder"),
        (("hero.glb", "other.glb", "-o", "{}/none/a"), "there is no folder"),
        (("hero.glb", "twin/hero.gltf", "-o", "{}"), "hero.gltf would both be"),
        (("twin", "-o", "{}/a"), "twin: is a folder; give the files in it"),
        (("hero.glb", "-o", "{}/a.flexor", "--ids", "named"), "--ids: 'named', exp"),
        (("hero.glb", "--report", "--ids", ""), "expected places or consistent"),
        (("none.glb", "-o", "{}/a.flexor"), "none.glb: cannot be read: No such file"),
        (("broken.glb", "-o", "{}/a.flexor"), "broken.glb at byte 4: truncated"),
        (("broken.glb", "--report"), "broken.glb at byte 4: truncated"),
        (("twin", "-o", "{}/a.flexor"), "twin: is a folder"),
    ],
)
def test_refusals(
    run: Any,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    text: str,
) -> None:
    monkeypatch.chdir(folder)
    refused(run("convert", *(word.format(tmp_path) for word in words)), text)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_made(run: Any, folder: Path, tmp_path: Path) -> None:
    """For several files, or where the name says so."""
    one, two = tmp_path / "one", tmp_path / "two"
    assert run("convert", folder / "hero.glb", "-o", f"{one}/").code == 0
    files = folder / "hero.glb", folder / "other.glb"
    assert run("convert", *files, "-o", two).code == 0
    assert [path.name for path in one.iterdir()] == ["hero.flexor"]
    assert {path.name for path in two.iterdir()} == {"hero.flexor", "other.flexor"}


def test_words_are_looked_at_before_work_is_done(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("too early to load")

    monkeypatch.setattr(load_save, "load", fail)
    for words in (
        ("-o", tmp_path / "a.glb"),
        ("-o", tmp_path / "none" / "a.flexor"),
        ("-o", tmp_path / "a.flexor", "--ids", "x"),
        (),
    ):
        assert run("convert", folder / "hero.glb", *words).code == 2


def test_a_broken_file_among_others(run: Any, folder: Path, tmp_path: Path) -> None:
    """No package of that name, and nothing unfinished; what was written is said."""
    files = [folder / f"{name}.glb" for name in ("hero", "broken", "other")]
    done = run("convert", *files, "-o", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"hero.flexor", "other.flexor"}
    said = [line.partition(": ")[0] for line in done.out.splitlines()]
    assert said == [str(tmp_path / f"{name}.flexor") for name in ("hero", "other")]
    assert done.code == 2
    wrong, summary = done.err.splitlines()
    assert wrong.startswith(f"flexor: {folder / 'broken.glb'} at byte 4: truncated")
    assert summary == "flexor: 1 of 3 files could not be converted"
    for name in names:
        assert len(flexor.load(tmp_path / name).envelopes.multi.parts)


def old_package(folder: Path, place: Path) -> bytes:
    data = (folder / "mannequin.flexor").read_bytes()
    place.write_bytes(data)
    return data


def test_the_old_package_stays_if_the_file_is_broken(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    old = old_package(folder, tmp_path / "a.flexor")
    refused(run("convert", folder / "broken.glb", "-o", tmp_path / "a.flexor"), "byte")
    assert (tmp_path / "a.flexor").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["a.flexor"]


def test_the_old_package_stays_if_converting_fails(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = old_package(folder, tmp_path / "a.flexor")

    def fail(*_: object) -> None:
        raise ShapeError("skin 'arm': names node 7 twice")

    monkeypatch.setattr(converter, "convert_scene", fail)
    done = run("convert", folder / "hero.glb", "-o", tmp_path / "a.flexor")
    refused(done, "skin 'arm'")
    assert (tmp_path / "a.flexor").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["a.flexor"]


def test_the_old_package_stays_if_writing_fails(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written is read again before it gets its name; here it cannot be."""
    old = old_package(folder, tmp_path / "a.flexor")
    real = convert_scene

    def spoilt(*given: Any) -> Any:
        made, findings = real(*given)
        data = np.array(made.one.data)
        data[3] = np.nan
        one = dataclasses.replace(made.one, data=data)
        return dataclasses.replace(made, one=one), findings

    monkeypatch.setattr(converter, "convert_scene", spoilt)
    monkeypatch.setattr(package, "check_envelopes", lambda *_: None)
    done = run("convert", folder / "hero.glb", "-o", tmp_path / "a.flexor")
    refused(done, "cannot be written")
    assert (tmp_path / "a.flexor").read_bytes() == old
    assert [path.name for path in tmp_path.iterdir()] == ["a.flexor"]


@pytest.mark.parametrize("at", range(4))
def test_a_stop_says_what_is_true(
    at: int, run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at one of three files, or never: those before it are there, and named."""
    names = ["hero", "other", "mannequin"]
    real = load_save.load

    def stopped(path: Path) -> Character:
        if path.stem in names[at : at + 1]:
            raise KeyboardInterrupt
        return real(path)

    monkeypatch.setattr(load_save, "load", stopped)
    files = [folder / f"{name}.glb" for name in names]
    out = tmp_path / "new"
    quick = ("--levels", "none", "--motion-error", "0")
    done = run("convert", *files, "-o", out, *quick)
    assert done.code == (130 if at < 3 else 0)
    written = [out / f"{name}.flexor" for name in names[:at]]
    assert sorted(tmp_path.glob("**/*.flexor")) == sorted(written)
    if at == 0:
        assert done.err == "flexor: stopped, nothing was written\n"
        assert not out.exists()
    elif at < 3:
        said = ", ".join(map(str, written))
        assert done.err == f"flexor: stopped; written: {said}\n"
    else:
        assert done.err == ""


# Folders, sizes, names


def test_no_folder_is_made_for_nothing(run: Any, folder: Path, tmp_path: Path) -> None:
    """Neither where no file can be converted, nor where nothing is to be written."""
    broken = folder / "broken.glb"
    (tmp_path / "more.glb").write_bytes(b"glTF")
    files = broken, tmp_path / "more.glb"
    for given in ((broken,), files):
        done = run("convert", *given, "-o", f"{tmp_path}/new/")
        assert done.code == 2
        assert not (tmp_path / "new").exists()
    done = run("convert", folder / "hero.glb", "--report")
    assert done.code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["more.glb"]


def test_a_folder_is_made_for_the_first_that_is_good(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    files = folder / "broken.glb", folder / "hero.glb"
    done = run("convert", *files, "-o", tmp_path / "new")
    assert done.code == 2
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["hero.flexor"]


def test_a_folder_that_cannot_be_made(run: Any, folder: Path, tmp_path: Path) -> None:
    """A file has its name; each file that would go there is named."""
    (tmp_path / "new").write_text("in the way")
    for files in (("hero.glb",), ("hero.glb", "other.glb")):
        given = [folder / name for name in files]
        done = run("convert", *given, "-o", f"{tmp_path}/new/")
        assert done.code == 2
        assert done.out == ""
        for line in done.err.splitlines():
            assert line.startswith("flexor: ")
        assert "cannot be written" in done.err
    assert (tmp_path / "new").read_text() == "in the way"


def test_sizes_are_those_from_before(run: Any, folder: Path, tmp_path: Path) -> None:
    """Also of a package that is replaced by what was made of it."""
    place = tmp_path / "a.flexor"
    words = ("--no-split", "--no-search", *QUICK)
    assert run("convert", folder / "mannequin.glb", "-o", place, *words).code == 0
    before = place.stat().st_size
    done = run("convert", place, "-o", place, *QUICK)
    after = place.stat().st_size
    assert before != after
    assert done.out.startswith(f"{place}: {after:,} bytes (a.flexor: {before:,})")
    assert run("convert", folder / "mannequin.glb", "-o", place, *words).code == 0
    done = run("convert", place, "-o", place, "--json", *QUICK)
    (row,) = json.loads(done.out)
    assert (row["file_bytes"], row["out_bytes"]) == (before, after)


def test_all_that_are_broken_are_named(run: Any, folder: Path, tmp_path: Path) -> None:
    files = [
        folder / "broken.glb",
        folder / "hero.glb",
        tmp_path / "none.glb",
        folder / "other.glb",
    ]
    done = run("convert", *files, "-o", tmp_path / "new", "--json")
    assert done.code == 2
    first, second, last = done.err.splitlines()
    assert "broken.glb" in first
    assert "none.glb" in second
    assert last == "flexor: 2 of 4 files could not be converted"
    rows = json.loads(done.out)
    assert [row["file"] for row in rows] == [str(files[1]), str(files[3])]
    assert all(Path(row["out"]).is_file() for row in rows)


def test_an_error_that_names_no_file_gets_one(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ShapeError("skin 'arm': names node 7 twice")

    monkeypatch.setattr(converter, "convert_scene", fail)
    files = folder / "hero.glb", folder / "other.glb"
    done = run("convert", *files, "-o", tmp_path / "new")
    lines = [f"flexor: {file}: skin 'arm': names node 7 twice" for file in files]
    last = "flexor: 2 of 2 files could not be converted"
    assert done.err.splitlines() == [*lines, last]
    assert list(tmp_path.iterdir()) == []


def test_weights_that_were_mended_are_said(
    run: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, with the name of the file; the package is written."""
    hero = flexor.load(folder / "hero.glb")
    mesh = hero.meshes[0]
    tie = mesh.primitives[0].skin
    assert tie is not None
    off = SkinWeights(tie.joints, tie.weights * np.float32(1.0005))
    own = (dataclasses.replace(mesh.primitives[0], skin=off), *mesh.primitives[1:])
    meshes = (dataclasses.replace(mesh, primitives=own), *hero.meshes[1:])
    odd = Character(dataclasses.replace(hero.scene, meshes=meshes))
    monkeypatch.setattr(load_save, "load", lambda _: odd)
    done = run("convert", folder / "hero.glb", "-o", tmp_path / "a.flexor")
    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith(f"flexor: hero.glb: warning: weights-not-1 at {mesh.name}: ")
    assert (tmp_path / "a.flexor").is_file()


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_no_utf_8(folder: Path, tmp_path: Path) -> None:
    """Printed with backslashes, and converted like others."""
    name = os.fsencode(tmp_path) + b"/h\xffro.glb"
    out = os.fsencode(tmp_path) + b"/out\xfe/"
    Path(os.fsdecode(name)).write_bytes((folder / "hero.glb").read_bytes())
    program = (sys.executable, "-m", "flexor.cli.main")
    env = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}

    def call(*words: bytes | str) -> Any:
        return subprocess.run(
            [*program, *words], capture_output=True, env=env, timeout=120
        )

    quick = ("--levels", "none", "--motion-error", "0")
    done = call("convert", name, "-o", out, "--report", *quick)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode()
    assert "out\\udcfe" in said
    assert "h\\udcffro.flexor" in said
    assert Path(os.fsdecode(out + b"h\xffro.flexor")).is_file()
    done = call("convert", name + b"x", "-o", out)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("flexor: ")
    assert b"Traceback" not in done.stderr
