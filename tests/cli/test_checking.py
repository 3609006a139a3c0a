"""`flexor repair --check`: a gate for files, and advice that is worth following."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from tests.convert.shape.tubes import tube_scene

pytestmark = pytest.mark.slow  # joints are turned


@pytest.fixture
def sharp(tmp_path: Path) -> Path:
    """A tube whose weights change in one step: bad where it bends."""
    file = tmp_path / "sharp.glb"
    flexor.save(Character(tube_scene(0.5)), file)
    return file


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_gate_opens_by_the_scores_of_joints(
    run: Any, sharp: Path, words: tuple[str, ...]
) -> None:
    told = json.loads(run("repair", sharp, "--check", "--json").out)
    scores = {one["name"]: one["score"] for one in told["bodies"][0]["scores"]}
    worst = max(scores.values())
    assert worst == scores["j1"] > 0.05
    shut = run("repair", sharp, "--check", "--strict", "--most", worst * 0.99, *words)
    assert shut.code == 1
    assert "score more than" in shut.err
    assert "j1" in shut.err
    open_ = run("repair", sharp, "--check", "--strict", "--most", worst * 1.01, *words)
    assert (open_.code, open_.err) == (0, "")
    # Nothing but the JSON is on standard output, also where the gate is shut.
    if words:
        assert json.loads(shut.out) == json.loads(open_.out) == told


def test_the_gate_goes_with_a_check(run: Any, sharp: Path, tmp_path: Path) -> None:
    done = run("repair", sharp, "--strict", "-o", tmp_path / "out.glb")
    assert (done.code, done.out) == (2, "")
    assert "--strict: goes with --check" in done.err


def test_scores_are_the_mean_of_trials_and_of_clips(run: Any, sharp: Path) -> None:
    told = json.loads(run("repair", sharp, "--check", "--json").out)
    for one in told["bodies"][0]["scores"]:
        assert one["score"] == pytest.approx(one["tried"] + 4 * one["seen"])


def test_what_was_repaired_is_checked_by_what_it_was(
    run: Any, assets: Any, tmp_path: Path
) -> None:
    """Links hang on less skin than their joints did: that is no reason to call these
    bad, nor rogue.
    """
    file = tmp_path / "better.glb"
    done = run("repair", assets / "CesiumMan.glb", "-o", file, "--json")
    after = {one["name"]: one["looks"] for one in json.loads(done.out)["joints"]}
    (body,) = json.loads(run("repair", file, "--check", "--json").out)["bodies"]
    for one in body["scores"]:
        assert one["score"] == pytest.approx(after[one["name"]]["score"], abs=0.1)
    assert max(rogue["weight"] for rogue in body["rogues"]) < 0.05
    assert run("repair", file, "--check", "--strict").code == 0


def test_a_hand_without_clips_is_advised_what_helps_it(
    run: Any, assets: Any, tmp_path: Path
) -> None:
    """Its joints all hang on one node: links would change nothing, weights do."""
    file, out = assets / "Hand_left.glb", tmp_path / "out.glb"
    said = run("repair", file, "--check").out
    assert "try flexor repair with nothing but -o" in said
    assert "--links" not in said
    done = run("repair", file, "-o", out, "--json")
    report = json.loads(done.out)
    assert report["vertices"] > 100
    gains = [
        one["looked"]["score"] - one["looks"]["score"]
        for one in report["joints"]
        if one["looks"] is not None
    ]
    assert sum(gains) > 0.3
    assert min(gains) > -0.02
    assert flexor.load(out).skeleton.links == {}


def test_a_machine_is_left_as_it_is(run: Any, assets: Any, tmp_path: Path) -> None:
    """Its parts are cut where they meet; that the cuts open is meant."""
    file, out = assets / "Q_Enemy_2Legs.glb", tmp_path / "out.glb"
    done = run("repair", file, "--check", "--strict")
    assert done.code == 0
    assert "2 joints meet others in cuts" in done.out
    for word in ("try flexor", "smooth", "look bad"):
        assert word not in done.out
    run("repair", file, "-o", out)
    before, after = flexor.load(file), flexor.load(out)
    for one, other in zip(before.meshes, after.meshes, strict=True):
        for old, new in zip(one.primitives, other.primitives, strict=True):
            np.testing.assert_array_equal(old.skin.weights, new.skin.weights)


def test_a_knight_of_hard_parts_is_not_told_to_smooth(run: Any, assets: Any) -> None:
    for name in ("KayKit_Knight.glb", "RobotExpressive.glb"):
        done = run("repair", assets / name, "--check", "--strict")
        assert done.code == 0
        assert "smooth" not in done.out
        assert "look bad" not in done.out
