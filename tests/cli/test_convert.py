"""`flexor convert`: the packages it writes, its report, what it refuses; and packages
given to the other commands.
"""

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
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.report import report_envelope
from flexor.errors import ShapeError
from flexor.files.gltf.write import write_gltf
from flexor.scene.character.weights import SkinWeights
from flexor.scene.runtime import package
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.packed_clip import PackedClip
from tests.cli.conftest import Done
from tests.files import bvh_text
from tests.output.moving import read_back
from tests.packed_clips import wave_scene
from tests.same import differences
from tests.scenes import random_scene

# Motion is packed in every conversion: too much for kernels that are not compiled.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

SMALL = ("--size", "96x72", "--samples", "1")
QUICK = ("--levels", "none", "--motion-error", "0")
COLUMNS = (
    "vertices",
    "worked",
    "peak",
    "native",
    "start",
    "middle",
    "end",
    "draws",
    "deferred",
    "data_bytes",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small characters, the mannequin twice, and what is none."""
    made = tmp_path_factory.mktemp("convert")
    for name, seed in (("hero", 5), ("other", 6)):
        scene = random_scene(np.random.default_rng(seed), vertices=50)
        flexor.save(Character(scene), made / f"{name}.glb")
    mannequin = flexor.samples.mannequin()
    for ending in ("glb", "flexor"):
        flexor.save(mannequin, made / f"mannequin.{ending}")
    (made / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    (made / "twin").mkdir()
    flexor.save(flexor.load(made / "other.glb"), made / "twin" / "hero.gltf")
    return made


def check_same(one: Envelope, other: Envelope) -> None:
    """All numbers of two envelopes."""
    for field in dataclasses.fields(Envelope):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert type(a) is type(b), field.name
        np.testing.assert_array_equal(a, b, err_msg=field.name)


def refused(done: Done, text: str) -> None:
    """One line on standard error, nothing else."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("flexor: ")
    assert done.err.count("\n") == 1
    assert text in done.err


# What is written


def test_a_package_that_loads(run: Any, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "hero.flexor"
    done = run("convert", folder / "hero.glb", "-o", out)
    assert (done.code, done.err) == (0, "")
    given, made = flexor.load(folder / "hero.glb"), flexor.load(out)
    assert list(differences(given.scene, made.scene)) == []
    expected = convert_scene(given.scene)[0]
    check_same(made.envelopes.multi, expected.multi)
    check_same(made.envelopes.one, expected.one)
    assert [path.name for path in tmp_path.iterdir()] == ["hero.flexor"]


def test_what_is_said(run: Any, folder: Path, tmp_path: Path) -> None:
    out, file = tmp_path / "a.flexor", folder / "mannequin.glb"
    done = run("convert", file, "-o", out, "--motion-error", "0")
    made = flexor.load(out)
    report = report_envelope(made.envelopes.multi)
    assert made.given_levels is not None
    triangles = [f"{made.levels.totals(n)[2]:,}" for n in range(len(made.levels))]
    assert done.out == (
        f"{out}: {out.stat().st_size:,} bytes "
        f"(mannequin.glb: {file.stat().st_size:,}); {report.vertices:,} vertices, "
        f"of which a frame holds at most {report.peak:,} at once; levels of "
        f"{', '.join(triangles)} triangles\n"
    )


def test_a_skeleton_alone(run: Any, tmp_path: Path) -> None:
    """No surface, no envelope; the motion is in the package all the same."""
    file, out = tmp_path / "a.bvh", tmp_path / "a.flexor"
    file.write_text(bvh_text.SMALL)
    done = run("convert", file, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"(a.bvh: {file.stat().st_size:,})\n")
    given, made = flexor.load(file), flexor.load(out)
    assert list(differences(given.scene, made.scene)) == []
    assert len(made.envelopes.multi.parts) == 0


def test_endings_do_not_depend_on_case(run: Any, folder: Path, tmp_path: Path) -> None:
    assert run("convert", folder / "hero.glb", "-o", tmp_path / "A.Flexor").code == 0
    assert len(flexor.load(tmp_path / "A.Flexor").skeleton) == 11


def test_several_files_to_a_folder(run: Any, folder: Path, tmp_path: Path) -> None:
    names = ["hero", "other"]
    files = [folder / f"{name}.glb" for name in names]
    done = run("convert", *files, "-o", tmp_path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    for name, line in zip(names, lines, strict=True):
        assert line.startswith(f"{tmp_path / name}.flexor: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "hero.flexor",
        "other.flexor",
    ]
    for name, file in zip(names, files, strict=True):
        scene = flexor.load(tmp_path / f"{name}.flexor").scene
        assert list(differences(flexor.load(file).scene, scene)) == []


def test_one_file_to_a_folder(run: Any, folder: Path, tmp_path: Path) -> None:
    assert run("convert", folder / "hero.glb", "-o", tmp_path).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["hero.flexor"]


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ((), EnvelopeSettings()),
        (("--no-split",), EnvelopeSettings(split=False)),
        (("--no-search",), EnvelopeSettings(search=False)),
        (("--no-split", "--no-search"), EnvelopeSettings(split=False, search=False)),
        (("--ids", "places"), EnvelopeSettings()),
        (("--ids", "consistent"), EnvelopeSettings(ids="consistent")),
    ],
)
def test_ways_to_convert(
    run: Any, folder: Path, tmp_path: Path, words: Any, settings: EnvelopeSettings
) -> None:
    out = tmp_path / "a.flexor"
    assert run("convert", folder / "hero.glb", "-o", out, *words).code == 0
    made = flexor.load(out).envelopes
    expected = convert_scene(flexor.load(folder / "hero.glb").scene, settings)[0]
    check_same(made.multi, expected.multi)
    check_same(made.one, expected.one)


def test_consistent_ids_have_addresses(run: Any, folder: Path, tmp_path: Path) -> None:
    for ids in ("places", "consistent"):
        words = ("-o", tmp_path / f"{ids}.flexor", "--ids", ids)
        assert run("convert", folder / "hero.glb", *words).code == 0
    places = flexor.load(tmp_path / "places.flexor").envelopes
    table = flexor.load(tmp_path / "consistent.flexor").envelopes
    for kind in ("multi", "one"):
        plain, named = getattr(places, kind), getattr(table, kind)
        assert plain.addresses is None
        assert named.addresses is not None
        np.testing.assert_array_equal(named.addresses[named.faces], plain.faces)


def test_whole_surfaces_need_more_room(run: Any, folder: Path, tmp_path: Path) -> None:
    """So that the words do something to a character that is worth it."""
    peaks = []
    for number, words in enumerate(((), ("--no-search",), ("--no-split",))):
        out = tmp_path / f"{number}.flexor"
        words = ("-o", out, *words, *QUICK)
        assert run("convert", folder / "mannequin.glb", *words).code == 0
        peaks.append(flexor.load(out).envelopes.multi.peak)
    assert peaks[0] < peaks[1] < peaks[2]
    assert peaks[2] == 4855


# Packages again


def test_a_package_is_converted_again(run: Any, folder: Path, tmp_path: Path) -> None:
    """The same comes out; with other words, other envelopes of the same scene."""
    first, second, third = (tmp_path / f"{n}.flexor" for n in range(3))
    assert run("convert", folder / "hero.glb", "-o", first).code == 0
    assert run("convert", first, "-o", second).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert run("convert", second, "-o", third, "--no-split").code == 0
    scene = flexor.load(folder / "hero.glb").scene
    made = flexor.load(third)
    assert list(differences(scene, made.scene)) == []
    expected = convert_scene(scene, EnvelopeSettings(split=False))[0]
    check_same(made.envelopes.multi, expected.multi)


def test_a_package_is_converted_in_its_place(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    """It is mapped while it is replaced."""
    place = tmp_path / "a.flexor"
    assert run("convert", folder / "hero.glb", "-o", place, "--no-split").code == 0
    held = flexor.load(place)
    before = np.array(held.meshes[0].primitives[0].positions)
    assert run("convert", place, "-o", place).code == 0
    scene = flexor.load(folder / "hero.glb").scene
    check_same(flexor.load(place).envelopes.multi, convert_scene(scene)[0].multi)
    np.testing.assert_array_equal(held.meshes[0].primitives[0].positions, before)
    check_same(
        held.envelopes.multi,
        convert_scene(scene, EnvelopeSettings(split=False))[0].multi,
    )


# The report


def test_json(run: Any, folder: Path, tmp_path: Path) -> None:
    file, out = folder / "hero.glb", tmp_path / "a.flexor"
    done = run("convert", file, "-o", out, "--json")
    assert (done.code, done.err) == (0, "")
    (row,) = json.loads(done.out)
    envelopes = flexor.load(out).envelopes
    assert {one["name"] for one in row.pop("motion")} == set(flexor.load(out).clips)
    assert len(row.pop("levels")) == 4
    assert row == {
        "file": str(file),
        "out": str(out),
        "file_bytes": file.stat().st_size,
        "out_bytes": out.stat().st_size,
        "multi": dataclasses.asdict(report_envelope(envelopes.multi)),
        "one": dataclasses.asdict(report_envelope(envelopes.one)),
        "unit": 1.0,
    }


@pytest.mark.parametrize("words", [("--json",), ("--report", "--json")])
def test_json_of_several_and_nothing_written(
    run: Any, folder: Path, words: Any
) -> None:
    before = sorted(folder.iterdir())
    files = [folder / "other.glb", folder / "hero.glb"]
    done = run("convert", *files, "--no-split", *words)
    assert (done.code, done.err) == (0, "")
    rows = json.loads(done.out)
    assert [row["file"] for row in rows] == [str(file) for file in files]
    for row, file in zip(rows, files, strict=True):
        assert (row["out"], row["out_bytes"]) == (None, None)
        scene = flexor.load(file).scene
        expected = convert_scene(scene, EnvelopeSettings(split=False))[0]
        assert row["multi"] == dataclasses.asdict(report_envelope(expected.multi))
    assert sorted(folder.iterdir()) == before


def numbers(line: str) -> list[int]:
    """The last columns of a row of the table."""
    return [int(cell.replace(",", "")) for cell in line.split()[-len(COLUMNS) :]]


def test_the_table(run: Any, folder: Path) -> None:
    done = run("convert", folder / "mannequin.glb", folder / "hero.glb", "--report")
    assert (done.code, done.err) == (0, "")
    assert "\x1b[" not in done.out, "no colours when piped"
    lines = [line for line in done.out.splitlines() if line.strip()]
    multi = [line for line in lines if line.startswith("multi ")]
    one = [line for line in lines if line.startswith("one ")]
    assert max(len(line) for line in lines[:8]) <= 80
    assert len(multi) == len(one) == 2
    for row, name in enumerate(("mannequin", "hero")):
        envelopes = convert_scene(flexor.load(folder / f"{name}.glb").scene)[0]
        for line, made in ((multi[row], envelopes.multi), (one[row], envelopes.one)):
            report = dataclasses.asdict(report_envelope(made))
            assert numbers(line) == [report[column] for column in COLUMNS]
    head = next(line for line in lines if "vertices" in line)
    names = {"draws": "draw", "deferred": "later", "data_bytes": "bytes"}
    assert head.split() == ["weights", *(names.get(name, name) for name in COLUMNS)]
    assert [line.strip() for line in lines[::4][:2]] == ["mannequin.glb", "hero.glb"]


def test_the_table_of_a_package_is_of_what_is_in_it(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "whole.flexor"
    words = ("--no-split", "--no-search", *QUICK)
    run("convert", folder / "mannequin.glb", "-o", out, *words)
    (stored,) = json.loads(run("convert", out, "--json", *QUICK).out)
    assert stored["multi"]["parts"] == 1
    words = ("--ids", "consistent", *QUICK)
    (anew,) = json.loads(run("convert", out, "--json", *words).out)
    assert anew["multi"]["parts"] > 1


def test_rows_of_the_table_can_be_told_apart(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    """Names of files are in it as they are, also when they begin alike."""
    names = ["Adventurer_armour.glb", "Adventurer_animations.glb"]
    for name in names:
        (tmp_path / name).write_bytes((folder / "hero.glb").read_bytes())
    done = run("convert", *(tmp_path / name for name in names), "--report")
    assert done.code == 0
    for name in names:
        assert name in done.out


def test_table_and_package(run: Any, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.flexor"
    done = run("convert", folder / "hero.glb", "-o", out, "--report")
    assert done.out.startswith(f"{out}: ")
    assert "peak: the most that wait at once" in done.out
    assert out.exists()


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
        data = np.array(made.multi.data)
        data[3] = np.nan
        multi = dataclasses.replace(made.multi, data=data)
        return dataclasses.replace(made, multi=multi), findings

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
    done = run("convert", *files, "-o", out)
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

    done = call("convert", name, "-o", out, "--report")
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode()
    assert "out\\udcfe" in said
    assert "h\\udcffro.flexor" in said
    assert Path(os.fsdecode(out + b"h\xffro.flexor")).is_file()
    done = call("convert", name + b"x", "-o", out)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("flexor: ")
    assert b"Traceback" not in done.stderr


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
    assert envelopes["multi"]["vertices"] == 4855
    assert envelopes["one"]["native"] == envelopes["one"]["worked"]
    done = run("inspect", folder / "mannequin.flexor")
    assert done.code == 0
    for word in ("mannequin.flexor", "4,855", "walk", "envelopes", "multi"):
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


def moving(folder: Path) -> Path:
    """A skeleton that moves, as a file."""
    scene = wave_scene(np.random.default_rng(1))
    write_gltf(scene, folder / "wave.glb")
    return folder / "wave.glb"


def test_motion_is_packed(run: Any, tmp_path: Path) -> None:
    file, out = moving(tmp_path), tmp_path / "a.flexor"
    done = run("convert", file, "-o", out)
    assert " : 1, off by at most 0." in done.out
    made = flexor.load(out)
    assert isinstance(made.clips["wave"], PackedClip)
    moments = np.linspace(0, 1, 50)
    given = flexor.load(file).pose_many("wave", moments).world[..., 3]
    off = np.linalg.norm(made.pose_many("wave", moments).world[..., 3] - given, axis=2)
    assert off.max() <= 1.02e-4
    # Again: what is packed stays as it is.
    assert run("convert", out, "-o", tmp_path / "b.flexor").code == 0
    assert list(differences(made.scene, flexor.load(tmp_path / "b.flexor").scene)) == []


def test_every_key_is_kept_if_asked(run: Any, tmp_path: Path) -> None:
    file, out = moving(tmp_path), tmp_path / "a.flexor"
    done = run("convert", file, "-o", out, "--motion-error", "0")
    assert "motion" not in done.out
    assert list(differences(flexor.load(file).scene, flexor.load(out).scene)) == []


def test_the_report_of_motion(run: Any, tmp_path: Path) -> None:
    file = moving(tmp_path)
    tree = json.loads(run("convert", file, "--json").out)
    (clip,) = tree[0]["motion"]
    assert clip["name"] == "wave"
    assert 0 < clip["worst"] <= 1e-4
    assert clip["ratio"] == pytest.approx(clip["raw_bytes"] / clip["bytes"])
    loose = json.loads(run("convert", file, "--json", "--motion-error", "0.001").out)[
        0
    ]["motion"][0]
    assert loose["bytes"] < clip["bytes"]
    table = run("convert", file, "--report").out
    assert "worst mm" in table
    assert "wave" in table


def test_errors_of_motion_that_cannot_be(run: Any, tmp_path: Path) -> None:
    file = moving(tmp_path)
    for option, value in (("--motion-error", "-1"), ("--motion-unit", "0")):
        done = run("convert", file, "--report", option, value)
        assert done.code != 0
        assert option[9:] in done.err
