"""Links driven by other programs: the code in docs/guide/links.md is run, and skin is
where it is here.

Needs node and a folder that FLEXOR_NODE names with npm's three; and FLEXOR_BPY, the
Python of an environment with Blender's module bpy. Whole ways through other programs
need npm's @gltf-transform/cli and gltfpack in that folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.facts import SceneFacts
from flexor.files.gltf.write import write_gltf
from flexor.maths import quaternions
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link
from tests.conformance.test_validator import errors_of, validator_folder
from tests.conftest import ROOT

HERE = Path(__file__).parent
GUIDE = ROOT / "docs" / "guide" / "links.md"
TIMES = [0, 1, 2, 3]
FPS = 24  # Blender's


def packages(*names: str) -> Path:
    folder = validator_folder()
    for name in names:
        if not (folder / "node_modules" / name).is_dir():
            pytest.skip(f"FLEXOR_NODE names no folder with npm's {name}")
    return folder


def blender() -> str:
    named = os.environ.get("FLEXOR_BPY")
    if named is None or not Path(named).is_file():
        pytest.skip("FLEXOR_BPY names no Python with Blender's module bpy")
    return named


def snippet(word: str, tmp_path: Path, ending: str) -> Path:
    """The code of a language in the guide."""
    text = GUIDE.read_text("utf-8")
    (code,) = (
        code
        for code in re.findall(rf"```{word}\n(.*?)```", text, re.DOTALL)
        if "link" in code and "flexor_link" in code
    )
    file = tmp_path / f"snippet{ending}"
    file.write_text(code, "utf-8")
    return file


def moved_hero(rng: np.random.Generator, *, has_twists: bool) -> Character:
    """The mannequin with links at its elbows, knees and neck, which a clip turns."""
    facts = SceneFacts(replace(flexor.samples.mannequin().scene, clips={}))
    every = [
        {
            row: LinkSettings()
            for row, name in enumerate(body.body.names)
            if re.search("elbow|knee|neck|shoulder|hip", name)
        }
        for body in facts.bodies
    ]
    scene = link_bones(facts, every)[0].scene
    skeleton = scene.skeleton
    if has_twists:
        axis = (0.6, 0.0, 0.8)
        made = (
            lambda link: link,
            lambda link: Link(link.joint, link.fraction - 0.25, axis),
            lambda link: Link(link.joint, link.fraction, axis, is_swing=True),
        )
        links = {
            node: made[link.joint % 3](link) for node, link in skeleton.links.items()
        }
        kinds = {(link.axis is None, link.is_swing) for link in links.values()}
        assert len(kinds) == 3
        skeleton = replace(skeleton, links=links)
    times = np.array(TIMES, np.float32)
    tracks = []
    for joint in sorted({link.joint for link in skeleton.links.values()}):
        ways = rng.normal(size=(len(times), 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        turns = quaternions.about(ways, rng.uniform(0, 1.2, len(times)))
        rest = skeleton.rotations[joint].astype(np.float64)
        keys = quaternions.multiply(rest, turns).astype(np.float32)
        tracks.append(Track(joint, "rotation", times, keys))
    clip = Clip("clip", tuple(tracks))
    return Character(replace(scene, skeleton=skeleton, clips={"clip": clip}))


def ours(hero: Character, time: float) -> np.ndarray:
    skin = hero.deform(hero.pose("clip", time))
    return np.concatenate([part.positions for part in skin])


def gap(hero: Character, shown: list[np.ndarray]) -> float:
    """The largest difference of vertices, of the figure's height."""
    rest = np.concatenate([part.positions for part in hero.deform(hero.pose())])
    height = float(np.ptp(rest, axis=0).max())
    worst = 0.0
    for time, places in zip(TIMES, shown, strict=True):
        assert places.shape == rest.shape
        off = np.linalg.norm(places - ours(hero, time), axis=1)
        worst = max(worst, float(off.max()) / height)
    return worst


def by_three(file: Path, code: Path | str) -> list[np.ndarray]:
    folder = packages("three")
    words = [str(file), str(code), str(folder), json.dumps(TIMES)]
    done = subprocess.run(
        ["node", str(HERE / "drive_links.mjs"), *words],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return [np.array(places).reshape(-1, 3) for places in json.loads(done.stdout)]


def by_blender(file: Path, code: Path | str) -> list[np.ndarray]:
    frames = json.dumps([time * FPS for time in TIMES])
    done = subprocess.run(
        [blender(), str(HERE / "drive_links.py"), str(file), str(code), frames],
        check=True,
        capture_output=True,
        timeout=300,
        text=True,
    )
    found = json.loads(done.stdout.partition("FOUND")[2].splitlines()[0])
    return [np.array(next(iter(places.values()))) for places in found]


@pytest.mark.slow
@pytest.mark.parametrize("has_twists", [False, True])
def test_three_drives_links(
    tmp_path: Path, rng: np.random.Generator, has_twists: bool
) -> None:
    """By the code in the guide, and by the tracks of a file that was saved."""
    packages("three")
    hero = moved_hero(rng, has_twists=has_twists)
    bare, saved = tmp_path / "bare.glb", tmp_path / "saved.glb"
    write_gltf(hero.scene, bare)
    flexor.save(hero, saved)
    assert errors_of([bare, saved]) == {}
    code = snippet("js", tmp_path, ".mjs")
    assert gap(hero, by_three(bare, "none")) > 1e-3
    assert gap(hero, by_three(bare, code)) <= 1e-4
    assert gap(hero, by_three(saved, "none")) <= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("has_twists", [False, True])
def test_blender_drives_links(
    tmp_path: Path, rng: np.random.Generator, has_twists: bool
) -> None:
    blender()
    hero = moved_hero(rng, has_twists=has_twists)
    bare, saved = tmp_path / "bare.glb", tmp_path / "saved.glb"
    write_gltf(hero.scene, bare)
    flexor.save(hero, saved)
    code = snippet("python", tmp_path, ".py")
    assert gap(hero, by_blender(bare, "none")) > 1e-3
    assert gap(hero, by_blender(bare, code)) <= 1e-4
    assert gap(hero, by_blender(saved, "none")) <= 1e-4


@pytest.fixture(scope="module")
def linked_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("linked") / "linked.glb"
    flexor.save(moved_hero(np.random.default_rng(1), has_twists=False), file)
    return file


def links_of(file: Path) -> dict[str, tuple[str, float]]:
    skeleton = flexor.load(file).skeleton
    names = skeleton.names
    return {
        names[node]: (names[link.joint], round(link.fraction, 6))
        for node, link in skeleton.links.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("gltf-transform", "flatten"),
        ("gltf-transform", "optimize", "--compress", "false"),
        ("gltfpack",),
        ("gltfpack", "-ke"),
    ],
    ids=" ".join,
)
def test_links_survive_other_tools(
    tmp_path: Path, linked_file: Path, words: tuple[str, ...]
) -> None:
    name = "gltfpack" if words[0] == "gltfpack" else "@gltf-transform/cli"
    program = packages(name) / "node_modules" / ".bin" / words[0]
    file, out = linked_file, tmp_path / "out.glb"
    if name == "gltfpack":
        call = [str(program), "-i", str(file), "-o", str(out), *words[1:]]
    else:
        call = [str(program), words[1], str(file), str(out), *words[2:]]
    subprocess.run(call, check=True, capture_output=True, timeout=120)
    assert links_of(out) == links_of(file)


@pytest.mark.slow
def test_links_survive_blender(tmp_path: Path, linked_file: Path) -> None:
    """Also without their extras, which Blender keeps only if it is told to."""
    file = linked_file
    lines = [
        "import bpy, sys",
        "bpy.ops.wm.read_factory_settings(use_empty=True)",
        "bpy.ops.import_scene.gltf(filepath=sys.argv[1])",
        "for name, kept in (('kept', True), ('lost', False)):",
        "    path = f'{sys.argv[2]}/{name}.glb'",
        "    bpy.ops.export_scene.gltf(filepath=path, export_extras=kept)",
    ]
    script = tmp_path / "again.py"
    script.write_text("\n".join(lines))
    subprocess.run(
        [blender(), str(script), str(file), str(tmp_path)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    for name in ("kept", "lost"):
        assert links_of(tmp_path / f"{name}.glb") == links_of(file)
