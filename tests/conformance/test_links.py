"""Linked characters as other engines see them: they know no links, only nodes.

Needs node, and a folder that FLEXOR_NODE names with npm's gltf-validator and three, and
reference_pose.mjs, which writes the vertices that three.js has at times of a clip.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.facts import SceneFacts
from tests.conformance.test_reference import height_of
from tests.conformance.test_validator import errors_of, validator_folder
from tests.conftest import find_assets

NAMES = ("mannequin", "CesiumMan", "RiggedFigure", "Fox", "M2M_human_male")
# Also characters whose rest is not where they were bound, or with many clips.
MORE = ("RobotExpressive", "Q_Trex", "KayKit_Knight", "M2M_snake")
MOST_CLIPS = 8
RUN_OFTEN = Path(__file__).parent / "poses.mjs"


def reference_script() -> Path:
    """The script that poses a file with three.js; it stands beside the packages."""
    folder = validator_folder()
    if not (folder / "node_modules" / "three").is_dir():
        pytest.skip("FLEXOR_NODE names no folder with npm's three")
    script = folder / "reference_pose.mjs"
    if not script.is_file():
        pytest.skip("no reference_pose.mjs in the folder of FLEXOR_NODE")
    return script


def linked_character(name: str) -> Character:
    if name == "mannequin":
        hero = flexor.samples.mannequin()
    else:
        folder = find_assets()
        if folder is None or not (folder / f"{name}.glb").is_file():
            pytest.skip("no assets: set FLEXOR_ASSETS")
        hero = flexor.load(folder / f"{name}.glb")
    bodies = gather_bodies(hero.scene)
    every = [dict.fromkeys(range(len(body.joints)), LinkSettings()) for body in bodies]
    linked, _ = link_bones(SceneFacts(hero.scene), every)
    return Character(linked.scene)


def reference(
    file: Path, moments: list[tuple[int | None, list[float]]]
) -> list[list[np.ndarray]]:
    """Positions (V, 3) of all primitives in the file's order, by clip and time.

    moments: clips, None for the rest pose, and their times.
    """
    script = reference_script()
    outs = [file.with_suffix(f".{clip}.json") for clip, _ in moments]
    runs = []
    for (clip, times), out in zip(moments, outs, strict=True):
        which = ["--rest"] if clip is None else ["--clip", str(clip)]
        listed = ",".join(repr(time) for time in times)
        runs.append([str(file), *which, "--times", listed, "--out", str(out)])
    subprocess.run(
        ["node", str(RUN_OFTEN), str(script), json.dumps(runs)],
        check=True,
        capture_output=True,
        timeout=300,
        cwd=script.parent,
    )
    return [_positions(out) for out in outs]


def _positions(out: Path) -> list[np.ndarray]:
    """What the script has written: positions (V, 3), by time."""
    moments = json.loads(out.read_text("utf-8"))["times"]
    return [
        np.concatenate(
            [np.array(mesh["positions"], float).reshape(-1, 3) for mesh in m["meshes"]]
        )
        for m in moments
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *MORE])
def test_other_engines_show_the_same(name: str, tmp_path: Path) -> None:
    reference_script()
    hero = linked_character(name)
    assert hero.skeleton.links
    compare_with_three(hero, tmp_path / f"{name}.glb")


@pytest.mark.slow
def test_a_whole_repair_is_shown_the_same(tmp_path: Path) -> None:
    reference_script()
    better, _ = flexor.repair(
        flexor.samples.mannequin(),
        regenerate=True,
        rogues=True,
        links=3,
        palette=48,
        has_measures=False,
    )
    assert len(better.scene.skins) > 1
    compare_with_three(better, tmp_path / "better.glb")


def compare_with_three(hero: Character, file: Path) -> None:
    """Write a character, validate the file, pose it with three.js."""
    flexor.save(hero, file)
    assert errors_of([file]) == {}
    clips = list(hero.clips)[:MOST_CLIPS]
    moments: list[tuple[int | None, list[float]]] = [(None, [0.0])]
    for row, clip in enumerate(clips):
        end = hero.clips[clip].duration
        times = [round(end * part, 4) for part in (0.0, 0.13, 0.37, 0.5, 0.71, 1.0)]
        moments.append((row, times))
    # three.js reads the file again for each clip: of clips it gets those it shows.
    short = replace(hero.scene, clips={clip: hero.scene.clips[clip] for clip in clips})
    shown = file.with_stem(f"{file.stem}-shown")
    flexor.save(Character(short), shown)
    (rest,), *others = reference(shown, moments)
    height = height_of(rest)
    worst = {"rest": _gap(hero, None, 0.0, rest)}
    for clip, (_, times), places in zip(clips, moments[1:], others, strict=True):
        for time, expected in zip(times, places, strict=True):
            worst[clip] = max(worst.get(clip, 0), _gap(hero, clip, time, expected))
    assert max(worst.values()) <= 1e-4 * height


def _gap(hero: Character, clip: str | None, time: float, expected: np.ndarray) -> float:
    skin = hero.deform(hero.pose(clip, time))
    got = np.concatenate([part.positions for part in skin])
    assert got.shape == expected.shape
    good = np.isfinite(expected).all(axis=1)
    return float(np.linalg.norm((got - expected)[good], axis=1).max(initial=0))
