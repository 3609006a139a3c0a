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
from tests.scenes import random_scene


def start(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs the program in a process of its own, as a shell does."""
    command = [sys.executable, "-m", "flexor", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, **more
    )


@pytest.fixture(scope="module")
def hero_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "hero.glb"
    flexor.save(Character(random_scene(np.random.default_rng(5))), path)
    return path


def test_version_and_help(run: Any) -> None:
    assert start("--version").stdout == f"flexor {flexor.__version__}\n"
    helped = run("--help")
    assert helped.code == 0
    assert "flexor inspect hero.glb" in helped.out
    for command in ("inspect", "bench"):
        assert "Example" in run(command, "--help").out


def test_inspect_json(hero_file: Path) -> None:
    done = start("inspect", hero_file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["file_bytes"] == hero_file.stat().st_size
    assert report["nodes"] == 11
    assert [clip["name"] for clip in report["clips"]][:2] == ["linear", "step"]
    assert sum(report["meshes"][0]["influences"].values()) == 46


def test_inspect_counts_links(run: Any, hero_file: Path, tmp_path: Path) -> None:
    assert json.loads(run("inspect", hero_file, "--json").out)["links"] == 0
    assert "links" not in run("inspect", hero_file).out
    nodes = [{}, {"extras": {"flexor_link": {"joint": 0, "fraction": 0.5}}}]
    path = tmp_path / "linked.gltf"
    path.write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": nodes}))
    assert json.loads(run("inspect", path, "--json").out)["links"] == 1
    assert "2 nodes in 2 trees, 1 links" in run("inspect", path).out


def test_inspect_tables(hero_file: Path) -> None:
    done = start("inspect", hero_file)
    assert done.returncode == 0
    for word in ("hero.glb", "pair", "rigid", "mixed", "CUBICSPLINE"):
        assert word in done.stdout
    assert "\x1b[" not in done.stdout, "no colours when piped"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.glb", "No such file"),
        ("folder.glb", "is a folder"),
        ("broken.glb", "byte 4: truncated"),
        ("what.txt", "unknown kind of file"),
    ],
)
def test_bad_files_are_one_line_and_code_2(
    run: Any, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "folder.glb").mkdir()
    (tmp_path / "broken.glb").write_bytes(b"glTF\2\0\0\0")
    done = run("inspect", tmp_path / name)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert words in done.err
    assert name in done.err


def test_names_are_no_markup(run: Any, tmp_path: Path) -> None:
    scene = random_scene(np.random.default_rng(5))
    names = ["[/bold]", "[run]", "a\x1b[31mb"]
    meshes = tuple(
        dataclasses.replace(mesh, name=name)
        for mesh, name in zip(scene.meshes, names, strict=True)
    )
    path = tmp_path / "[x].glb"
    flexor.save(Character(dataclasses.replace(scene, meshes=meshes)), path)
    done = run("inspect", path)
    assert done.code == 0
    assert "[/bold]" in done.out
    assert "[run]" in done.out
    assert "[x].glb" in done.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(run: Any, hero_file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.glb"
    secret.write_bytes(hero_file.read_bytes())
    secret.chmod(0)
    done = run("inspect", secret)
    assert done.code == 2
    assert "Permission denied" in done.err


def test_a_bench_without_a_folder_for_its_file_says_so_at_once(
    run: Any, tmp_path: Path
) -> None:
    done = run("bench", "goal", "--json", str(tmp_path / "none" / "x.json"))
    assert done.code == 2
    assert "there is no folder for it" in done.err


def test_unknown_bench_names_those_there_are(run: Any) -> None:
    done = run("bench", "nothing")
    assert done.code == 2
    names = "pose, player, ik, skin, frame, envelope, weights, joints, load, motion"
    names += ", draw, crowd, goal, stage, world, effects, play"
    assert done.err == f"flexor: no bench 'nothing'; there are: {names}\n"


def test_bench_looks_at_files_first(run: Any) -> None:
    done = run("bench", "--character", "missing.glb")
    assert done.code == 2
    assert done.out == ""
    assert "missing.glb: cannot be read" in done.err


@pytest.mark.jit
def test_bench_json_is_all_there_is_on_standard_output(tmp_path: Path) -> None:
    done = start("bench", "pose", "--json", "-")
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert set(printed) == {"machine", "results"}
    names = {result["name"] for result in printed["results"]}
    assert {"pose/j65/single", "pose/j65/crowd256"} <= names
    assert all(result["value"] > 0 for result in printed["results"])


def test_a_reader_that_goes_away(hero_file: Path) -> None:
    command = f"{sys.executable} -m flexor inspect {hero_file} --json | head -1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
