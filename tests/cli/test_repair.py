"""`flexor repair`: files it writes, what it says, what it refuses; `flexor.repair`."""

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
from flexor.api.character import Character
from flexor.convert.shape.body import Pull, gather_bodies, with_pulls
from tests.same import differences
from tests.scenes import random_scene

pytestmark = pytest.mark.slow  # thousands of vertices


@pytest.fixture(scope="module")
def hero() -> Character:
    """The mannequin; of its clips two, as links are baked into each."""
    whole = flexor.samples.mannequin()
    few = {name: whole.clips[name] for name in ("walk", "kick")}
    return whole.with_clips(few, only=True)


@pytest.fixture(scope="module")
def file(hero: Character, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mannequin with a finger on the other leg."""
    body = gather_bodies(hero.scene)[0]
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    middle = body.frames[body.names.index("l-ring2"), :, 3]
    rows = np.linalg.norm(body.positions - middle, axis=1) < 0.012
    joints[rows, 0], weights[rows, 0] = body.names.index("r-knee"), 1
    joints[rows, 1:], weights[rows, 1:] = -1, 0
    bad = with_pulls(hero.scene, {0: Pull(joints, weights)}, [body])
    place = tmp_path_factory.mktemp("repair") / "hero.glb"
    flexor.save(Character(bad), place)
    return place


def weights_of(character: Character) -> Any:
    body = gather_bodies(character.scene)[0]
    return body.pull.dense(len(body.joints))


def test_rogues_and_links(
    run: Any, file: Path, hero: Character, tmp_path: Path
) -> None:
    out = tmp_path / "out.glb"
    done = run("repair", file, "-o", out, "--rogues", "--links", 3)
    assert done.code == 0
    assert "rogues, links" in done.out
    assert "rogue-patch at r-knee" in done.out
    assert f"wrote {out}" in done.out
    assert done.err == ""
    better = flexor.load(out)
    # Only those that look better with them, which the spine does not.
    names = {better.skeleton.names[one.joint] for one in better.skeleton.links.values()}
    assert {"l-knee", "r-knee", "l-arm", "r-arm"} <= names
    assert not {"spine0", "l-shoulder", "r-shoulder"} & names
    assert "they would look no better" in done.out
    assert list(better.clips) == list(hero.clips)
    walk = better.clips["walk"]
    links = set(better.skeleton.links)
    assert {track.node for track in walk.tracks} & links
    assert np.isfinite(better.deform(better.pose("walk", 0.4))[0].positions).all()


@pytest.mark.parametrize("ending", ["gltf", "vrm", "flexor"])
def test_other_endings(run: Any, file: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    done = run("repair", file, "-o", out, "--rogues")
    assert done.code == 0
    assert len(flexor.load(out).findings) == 0


def test_only_what_was_wrong_is_changed(
    run: Any, file: Path, hero: Character, tmp_path: Path
) -> None:
    out = tmp_path / "out.glb"
    run("repair", file, "-o", out, "--rogues")
    bad, mended = flexor.load(file), flexor.load(out)
    changed = (weights_of(bad) != weights_of(mended)).any(1)
    planted = (weights_of(bad) != weights_of(hero)).any(1)
    assert (changed == planted).all()
    assert planted.any()


@pytest.mark.parametrize(
    "words",
    [
        ("--smooth",),
        ("--smooth", "7"),
        ("--smooth", "--rogues"),
    ],
)
def test_smooth_takes_a_number_or_none(
    run: Any, file: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    out = tmp_path / "out.glb"
    assert run("repair", *words, "-o", out, file).code == 0
    assert run("repair", file, *words, "-o", out).code == 0
    assert out.exists()


def test_what_was_done_as_json(run: Any, file: Path, tmp_path: Path) -> None:
    words = ("-o", tmp_path / "o.glb", "--links", 2, "--joints", "?-elbow", "--json")
    done = run("repair", file, *words)
    told = json.loads(done.out)
    assert told["passes"] == ["links"]
    linked = {one["name"]: one for one in told["joints"] if one["links"]}
    assert set(linked) == {"l-elbow", "r-elbow"}
    elbow = linked["l-elbow"]
    assert elbow["after"]["twist180"] > elbow["before"]["twist180"] + 0.1


def test_check_changes_nothing_and_says_what_is_wrong(run: Any, file: Path) -> None:
    before = file.read_bytes()
    done = run("repair", file, "--check")
    assert done.code == 0
    assert "1 rogue patches" in done.out
    assert "rogue-patch at r-knee" in done.out
    assert "l-elbow" in done.out
    assert file.read_bytes() == before
    told = json.loads(run("repair", file, "--check", "--json").out)
    (body,) = told["bodies"]
    assert [rogue["joint"] for rogue in body["rogues"]] == ["r-knee"]
    assert {measure["name"] for measure in body["measures"]} >= {"l-elbow", "r-knee"}


def test_links_are_no_faults(run: Any, hero: Character, tmp_path: Path) -> None:
    """What links hold counts as their joint's, and nothing more is advised."""
    before, after = tmp_path / "before.glb", tmp_path / "after.glb"
    flexor.save(hero, before)
    flexor.save(flexor.repair(hero, links=3, has_measures=False)[0], after)
    assert "try flexor repair" in run("repair", before, "--check").out
    done = run("repair", after, "--check")
    assert "0 rogue patches" in done.out
    assert "-link" not in done.out
    assert "try flexor" not in done.out


def test_a_settings_file_and_words_that_win(
    run: Any, file: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "repair.toml"
    settings.write_text(
        'rogues = true\n[links]\ncount = 3\n[joint."*"]\ncount = 0\n'
        '[joint."?-knee"]\ncount = 2\n'
    )
    out = tmp_path / "out.glb"
    done = run("repair", file, "-o", out, "--settings", settings)
    assert done.code == 0
    assert len(flexor.load(out).skeleton.links) == 4
    settings.write_text("rogues = true\n[links]\ncount = 3\n")
    run("repair", file, "-o", out, "--settings", settings, "--links", 0)
    assert not flexor.load(out).skeleton.links


def test_weights_from_a_file(
    run: Any, file: Path, hero: Character, tmp_path: Path
) -> None:
    source, out = tmp_path / "good.glb", tmp_path / "out.glb"
    flexor.save(hero, source)
    assert run("repair", file, "-o", out, "--weights-from", source).code == 0
    np.testing.assert_allclose(
        weights_of(flexor.load(out)), weights_of(hero), atol=2e-3
    )


def test_a_report_page(run: Any, file: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "out.glb", tmp_path / "out.html"
    words = ("--links", 3, "--joints", "l-elbow", "-o", out, "--report", page)
    done = run("repair", file, *words)
    assert done.code == 0
    text = page.read_text("utf-8")
    assert "l-elbow" in text
    assert text.count("data:image/") >= 8
    assert text.count("<section") == text.count('type="range"') == 1
    assert f"wrote {page}" in done.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "-o: give a .glb"),
        (("--rogues",), "-o: give a .glb"),
        (("--rogues", "-o", "out.fbx"), "out.fbx: expected a file ending in"),
        (("--rogues", "-o", "no/where/out.glb"), "no/where"),
        (("--rogues", "-o", "out.glb", "--report", "out.pdf"), "--report out.pdf"),
        (("--mirror", "up", "-o", "out.glb"), "mirror: 'up', expected left or right"),
        (("--rogues", "--joints", "tail", "-o", "out.glb"), "none fits 'tail'"),
        (("--settings", "none.toml", "-o", "out.glb"), "none.toml"),
        (("--weights-from", "none.glb", "-o", "out.glb"), "none.glb"),
        (("--palette", "2", "-o", "out.glb"), "joints"),
        (("--check", "-o", "out.glb"), "--check: writes nothing"),
    ],
)
def test_what_is_refused(
    run: Any,
    file: Path,
    words: tuple[str, ...],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("repair", file, *words)
    assert done.code == 2
    assert text in " ".join(done.err.split())
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_leaves_the_file(
    run: Any, file: Path, tmp_path: Path
) -> None:
    out, page = tmp_path / "out.glb", tmp_path / "page.html"
    out.write_bytes(b"before")
    page.mkdir()
    done = run("repair", file, "--rogues", "-o", out, "--report", page)
    assert done.code == 2
    assert "page.html" in done.err
    assert out.read_bytes() == b"before"


def test_names_cannot_move_the_cursor(
    run: Any, hero: Character, tmp_path: Path
) -> None:
    names = tuple(f"{name}\x1b[2J" for name in hero.skeleton.names)
    skeleton = dataclasses.replace(hero.skeleton, names=names)
    wild = tmp_path / "wild.glb"
    flexor.save(Character(dataclasses.replace(hero.scene, skeleton=skeleton)), wild)
    for words in (("--check",), ("--links", "3", "-o", tmp_path / "out.glb")):
        done = run("repair", wild, *words)
        assert "\x1b" not in done.out
        assert "\\x1b[2J" in done.out
    assert "\x1b" not in run("inspect", wild).out


def test_a_full_disk_behind_standard_output(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full")
    file = tmp_path / "small.glb"  # there is as much to say of one as of many
    flexor.save(Character(random_scene(np.random.default_rng(5))), file)
    with full.open("wb") as stream:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "flexor.cli.main",
                "repair",
                str(file),
                "--check",
            ],
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("flexor: standard output: No space")
    assert "Traceback" not in done.stderr


def test_files_that_cannot_be_repaired(run: Any, tmp_path: Path) -> None:
    missing = run("repair", tmp_path / "none.glb", "--rogues", "-o", tmp_path / "o.glb")
    assert missing.code == 2
    assert "none.glb" in missing.err
    motion = tmp_path / "motion.bvh"
    motion.write_text(
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation"
        "\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n"
    )
    done = run("repair", motion, "--rogues", "-o", tmp_path / "o.glb")
    assert done.code == 2
    assert "has no skin that hangs on joints" in done.err
    checked = run("repair", motion, "--check")
    assert checked.code == 0


def test_meshes_without_weights_are_bound(
    run: Any, hero: Character, tmp_path: Path
) -> None:
    """By --regenerate; and what has nothing to bind is refused, or told in Python."""
    meshes = tuple(
        dataclasses.replace(
            mesh,
            primitives=tuple(
                dataclasses.replace(part, skin=None) for part in mesh.primitives
            ),
        )
        for mesh in hero.meshes
    )
    scene = dataclasses.replace(
        hero.scene,
        meshes=meshes,
        skins=(),
        node_skin=np.full_like(hero.scene.node_skin, -1),
    )
    bare, out = tmp_path / "bare.glb", tmp_path / "out.glb"
    flexor.save(Character(scene), bare)
    refused = run("repair", bare, "--rogues", "-o", out)
    assert (refused.code, out.exists()) == (2, False)
    assert "has no skin that hangs on joints" in refused.err
    done = run("repair", bare, "--regenerate", "-o", out, "--json")
    told = json.loads(done.out)
    assert told["passes"] == ["regenerate"]
    assert told["vertices"] > 4000
    assert "mesh-bound" in {finding["code"] for finding in told["findings"]}
    scores = [one["looks"]["score"] for one in told["joints"] if one["looks"]]
    assert len(scores) > 40
    bound = flexor.load(out)
    moved = bound.deform(bound.pose("walk", 0.4))[0].positions
    rest = bound.deform(bound.pose())[0].positions
    assert np.abs(moved - rest).max() > 0.2
    _, report = flexor.repair(Character(scene), rogues=True)
    assert (report.passes, report.vertices) == ((), 0)
    assert [finding.code for finding in report.findings] == ["no-skin"]


def test_the_same_bytes_again_and_on_any_number_of_threads(
    run: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here and in a process of its own, whose sets have another order."""
    one, two = tmp_path / "1.glb", tmp_path / "2.glb"
    words = ("repair", str(file), "--regenerate", "--links", "2", "-o")
    monkeypatch.setenv("FLEXOR_THREADS", "1")
    assert run(*words, one).code == 0
    subprocess.run(
        [sys.executable, "-m", "flexor.cli.main", *words, str(two)],
        check=True,
        capture_output=True,
        env={**os.environ, "FLEXOR_THREADS": "2"},
    )
    assert one.read_bytes() == two.read_bytes()


def test_a_text_is_one_pattern(hero: Character) -> None:
    better, _ = flexor.repair(hero, links=1, joints="*-elbow", has_measures=False)
    assert len(better.skeleton.links) == 2


@pytest.mark.parametrize(
    "words",
    [
        {"max_influences": 2.5},
        {"max_influences": True},
        {"smooth": 0},
        {"smooth": None},
        {"smooth": 2.5},
        {"prune": None},
        {"prune": "much"},
        {"joints": 3},
        {"joints": [1]},
        {"rigid": None},
        {"links": -1},
        {"palette": "4"},
        {"weights_from": "hero.glb"},
    ],
)
def test_arguments_that_are_refused(hero: Character, words: Any) -> None:
    with pytest.raises(flexor.FlexorError, match=f"{next(iter(words))}: "):
        flexor.repair(hero, has_measures=False, **words)


def test_what_is_no_character_is_refused() -> None:
    with pytest.raises(flexor.FlexorError, match=r"character: .*expected a character"):
        flexor.repair("hero.glb", rogues=True)  # type: ignore[arg-type]


def test_repair_in_python(hero: Character) -> None:
    better, report = flexor.repair(
        hero, smooth=20, links=1, joints=["l-knee"], max_influences=0
    )
    assert report.passes == ("smooth", "links")
    assert len(better.skeleton.links) == 1
    same, report = flexor.repair(hero, rogues=True)
    assert report.vertices == 0
    assert not list(differences(same.scene, hero.scene))
