"""`flexor convert`: the packages it writes, and its report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.report import report_envelope
from flexor.files.gltf.write import write_gltf
from flexor.scene.runtime.envelope import Envelope, Envelopes
from flexor.scene.runtime.packed_clip import PackedClip
from tests.cli.converted import fill, refused
from tests.files import bvh_text
from tests.packed_clips import wave_scene
from tests.same import differences

# Motion is packed in every conversion: too much for kernels that are not compiled.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

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
    return fill(tmp_path_factory.mktemp("convert"))


def check_same(one: Envelope, other: Envelope) -> None:
    """All numbers of two envelopes."""
    for field in dataclasses.fields(Envelope):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert type(a) is type(b), field.name
        np.testing.assert_array_equal(a, b, err_msg=field.name)


BOTH = ("--envelopes", "both")

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
    report = report_envelope(made.envelopes.one)
    assert made.given_levels is not None
    triangles = [f"{made.levels.totals(n)[2]:,}" for n in range(len(made.levels))]
    assert done.out == (
        f"{out}: {out.stat().st_size:,} bytes "
        f"(mannequin.glb: {file.stat().st_size:,}); {report.vertices:,} vertices, "
        f"of which a frame holds at most {report.peak:,} at once with one weight; "
        f"levels of "
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
    assert run("convert", folder / "hero.glb", "-o", out, *words, *BOTH).code == 0
    made = flexor.load(out).given_envelopes
    assert isinstance(made, Envelopes)
    expected = convert_scene(flexor.load(folder / "hero.glb").scene, settings)[0]
    check_same(made.multi, expected.multi)
    check_same(made.one, expected.one)


def test_consistent_ids_have_addresses(run: Any, folder: Path, tmp_path: Path) -> None:
    for ids in ("places", "consistent"):
        words = ("-o", tmp_path / f"{ids}.flexor", "--ids", ids, *BOTH)
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
        words = ("-o", out, *words, *BOTH, *QUICK)
        assert run("convert", folder / "mannequin.glb", *words).code == 0
        peaks.append(flexor.load(out).envelopes.multi.peak)
    assert peaks[0] < peaks[1] < peaks[2]
    assert peaks[2] == 4855


@pytest.mark.parametrize("kept", ["none", "one", "both"])
def test_envelopes_that_are_kept(
    run: Any, folder: Path, tmp_path: Path, kept: str
) -> None:
    """What lacks is made when it is asked for, and is the same."""
    out = tmp_path / "a.flexor"
    words = ("-o", out, "--envelopes", kept)
    done = run("convert", folder / "hero.glb", *words)
    assert (done.code, done.err) == (0, "")
    assert ("with one weight" in done.out) == (kept == "one")
    assert ("with all weights" in done.out) == (kept == "both")
    made, given = flexor.load(out), flexor.load(folder / "hero.glb")
    stored = made.given_envelopes
    assert stored is not None
    assert (stored.one is None, stored.multi is None) == (
        kept == "none",
        kept != "both",
    )
    expected = convert_scene(given.scene)[0]
    check_same(made.envelopes.multi, expected.multi)
    check_same(made.envelopes.one, expected.one)
    assert made.given_levels is not None
    assert len(made.levels) == 4
    pose = made.pose("mixed", 0.4)
    for skin, other in zip(
        made.deform(pose, weights="one"), given.deform(pose, weights="one"), strict=True
    ):
        np.testing.assert_array_equal(skin.positions, other.positions)


def test_envelopes_are_the_larger_part(run: Any, folder: Path, tmp_path: Path) -> None:
    sizes = []
    for kept in ("none", "one", "both"):
        out = tmp_path / f"{kept}.flexor"
        words = ("-o", out, "--envelopes", kept, *QUICK)
        assert run("convert", folder / "mannequin.glb", *words).code == 0
        sizes.append(out.stat().st_size)
        said = run("inspect", out).out
        assert ("no envelopes: they are made when" in said) == (kept == "none")
        assert ("\nmulti " in said) == (kept == "both")
        assert ("\none " in said) == (kept != "none")
    assert sizes[0] < 0.8 * sizes[1]
    assert sizes[1] < 0.8 * sizes[2]
    words = ("-o", out, *QUICK)
    assert run("convert", folder / "mannequin.glb", *words).code == 0
    assert out.stat().st_size == sizes[1]


def test_other_words_for_envelopes_are_refused(run: Any, folder: Path) -> None:
    done = run("convert", folder / "hero.glb", "--json", "--envelopes", "all")
    refused(done, "--envelopes: 'all', expected none, one or both")


# Packages again


def test_a_package_is_converted_again(run: Any, folder: Path, tmp_path: Path) -> None:
    """The same comes out; with other words, other envelopes of the same scene."""
    first, second, third = (tmp_path / f"{n}.flexor" for n in range(3))
    assert run("convert", folder / "hero.glb", "-o", first).code == 0
    assert run("convert", first, "-o", second).code == 0
    assert first.read_bytes() == second.read_bytes()
    assert run("convert", second, "-o", third, "--no-split", *BOTH).code == 0
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
    words = ("-o", place, "--no-split", *BOTH)
    assert run("convert", folder / "hero.glb", *words).code == 0
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
        "kept": "one",
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
    words = ("--no-split", "--no-search", *BOTH, *QUICK)
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
