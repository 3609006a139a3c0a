"""Characters repaired without options, as the validator and other engines see them.

Needs node and npm's gltf-validator and three in the folder that FLEXOR_NODE names, the
assets, and for Blender its module bpy (FLEXOR_BPY); each test is skipped without them.
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
from flexor.files.gltf.write import write_gltf
from flexor.maths import quaternions
from flexor.scene.character.clip import Clip, Track
from tests.conformance.test_link_drivers import HERE, blender, by_three, snippet
from tests.conformance.test_links import compare_with_three
from tests.conformance.test_reference import height_of
from tests.conformance.test_validator import errors_of
from tests.conftest import find_assets

FPS = 24  # Blender's
TIMES = (0, 1, 2, 3)
SAME = 1e-4  # of the height

Places = dict[str, np.ndarray]


def repaired(name: str) -> tuple[Character, Character]:
    """A character, and what the repair without options makes of it."""
    folder = find_assets()
    if folder is None or not (folder / name).is_file():
        pytest.skip("no assets: set FLEXOR_ASSETS")
    hero = flexor.load(folder / name)
    better, _ = flexor.repair(hero, has_measures=False)
    return hero, better


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CesiumMan.glb", "M2M_snake.glb", "Q_Wolf.glb"])
def test_three_shows_them_the_same(name: str, tmp_path: Path) -> None:
    """Every clip, with twist and swing links (the man), a long chain, and feet on the
    root; no errors in the validator, also where the file had some (the wolf).
    """
    _, better = repaired(name)
    assert better.skeleton.links
    compare_with_three(better, tmp_path / name)


def moved(hero: Character, like: Character, seed: int) -> Character:
    """The character with a clip that turns all joints that have links in another."""
    rng = np.random.default_rng(seed)
    skeleton, times = hero.skeleton, np.array(TIMES, np.float32)
    tracks = []
    for joint in sorted({link.joint for link in like.skeleton.links.values()}):
        ways = rng.normal(size=(len(times), 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        turns = quaternions.about(ways, rng.uniform(0, 1, len(times)))
        rest = skeleton.rotations[joint].astype(np.float64)
        keys = quaternions.multiply(rest, turns).astype(np.float32)
        tracks.append(Track(joint, "rotation", times, keys))
    return hero.with_clips({"clip": Clip("clip", tuple(tracks))}, only=True)


def by_blender(file: Path, code: Path | str) -> list[Places]:
    """The vertices of each mesh at each time, by the name of its node."""
    frames = json.dumps([time * FPS for time in TIMES])
    done = subprocess.run(
        [blender(), str(HERE / "drive_links.py"), str(file), str(code), frames],
        check=True,
        capture_output=True,
        timeout=300,
        text=True,
    )
    found = json.loads(done.stdout.partition("FOUND")[2].splitlines()[0])
    return [{name: np.array(rows) for name, rows in places.items()} for places in found]


def blender_gap(hero: Character, shown: list[Places]) -> float:
    """The largest distance from where the skin is here, of the height.

    From the nearest vertex of the node: Blender leaves out what no triangle uses.
    """
    from scipy.spatial import cKDTree

    rest = np.concatenate([part.positions for part in hero.deform(hero.pose())])
    worst = 0.0
    for time, places in zip(TIMES, shown, strict=True):
        own: dict[str, list[np.ndarray]] = {}
        for part in hero.deform(hero.pose("clip", time)):
            own.setdefault(hero.skeleton.names[part.node], []).append(part.positions)
        assert set(places) <= set(own)
        assert sum(map(len, places.values())) > 0.9 * len(rest)
        for name, points in places.items():
            away, _ = cKDTree(np.concatenate(own[name])).query(points)
            worst = max(worst, float(away.max()) / height_of(rest))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Q_men_Casual.glb", "M2M_human_male.glb"])
def test_what_has_no_clips_is_driven(name: str, tmp_path: Path) -> None:
    """By the code in the guide, and by tracks once there is a clip. The skins of the
    first were bound in different poses, of which Blender takes one for all.
    """
    hero, better = repaired(name)
    hero, better = moved(hero, better, 4), moved(better, better, 4)
    plain, bare, saved = (tmp_path / f"{word}.glb" for word in ("plain", "b", "s"))
    write_gltf(better.scene, bare)
    flexor.save(better, saved)
    still = tmp_path / "still.glb"
    flexor.save(Character(replace(better.scene, clips={})), still)
    assert errors_of([bare, saved, still]) == {}
    assert blender_gap(better, by_blender(bare, "none")) > 10 * SAME
    assert (
        blender_gap(better, by_blender(bare, snippet("python", tmp_path, ".py")))
        <= SAME
    )
    assert blender_gap(better, by_blender(saved, "none")) <= SAME
    flexor.save(hero, plain)
    assert blender_gap(hero, by_blender(plain, "none")) <= SAME  # nor is it the file
    rest = np.concatenate([part.positions for part in better.deform(better.pose())])
    for file, code in ((bare, snippet("js", tmp_path, ".mjs")), (saved, "none")):
        for time, shown in zip(TIMES, by_three(file, code), strict=True):
            skin = better.deform(better.pose("clip", time))
            ours = np.concatenate([part.positions for part in skin])
            off = np.linalg.norm(shown - ours, axis=1).max()
            assert off <= SAME * height_of(rest)


@pytest.mark.slow
def test_blender_plays_a_clip_as_it_is(tmp_path: Path) -> None:
    """The one clip of a file with bend, twist and swing links, at its keys."""
    _, better = repaired("CesiumMan.glb")
    links = better.skeleton.links.values()
    kinds = {(link.axis is None, link.is_swing) for link in links}
    assert len(kinds) == 3
    (name,) = better.clips
    better = better.with_clips({"clip": better.clips[name]}, only=True)
    saved = tmp_path / "saved.glb"
    flexor.save(better, saved)
    assert errors_of([saved]) == {}
    assert blender_gap(better, by_blender(saved, "none")) <= SAME
