"""Links of a file that do not fit: every command says so; tracks move the nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character

pytestmark = pytest.mark.slow

STAGE = """
[ground]
size = [10, 10]

[[zone]]
corners = [[-4, -4], [4, -4], [4, 4], [-4, 4]]

[[character]]
name = "red"
file = "hero.gltf"
place = [-1, 0]
"""


@pytest.fixture(scope="module")
def hero() -> Character:
    """The mannequin with links at its elbows, and one clip."""
    whole = flexor.samples.mannequin()
    few = whole.with_clips({"walk": whole.clips["walk"]}, only=True)
    linked, _ = flexor.repair(few, links=3, joints=["?-elbow"], has_measures=False)
    assert len(linked.skeleton.links) == 6
    return linked


@pytest.fixture(scope="module")
def file(hero: Character, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hero, whose links say joints that are not there."""
    place = tmp_path_factory.mktemp("links") / "hero.gltf"
    flexor.save(hero, place)
    gltf = json.loads(place.read_text("utf-8"))
    for node in gltf["nodes"]:
        if "flexor_link" in node.get("extras", {}):
            node["extras"]["flexor_link"]["joint"] = "tail"
            node["name"] = "bone"  # which would tell the joint
    place.write_text(json.dumps(gltf), "utf-8")
    return place


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "FILE"),
        ("render", "FILE", "--clip", "walk", "--time", "0.4", "-o", "OUT.png"),
        ("repair", "FILE", "--check"),
        ("repair", "FILE", "--prune", "0.01", "-o", "OUT.glb"),
        ("motion", "FILE", "--list"),
        ("motion", "FILE", "--mirror", "-o", "OUT.glb"),
        ("convert", "FILE", "-o", "OUT.flexor"),
        ("stage", "STAGE"),
        ("play", "arena", "--character", "FILE", "--record", "OUT/", "--seconds", "0"),
        ("play", "goal", "--character", "FILE", "--record", "OUT/", "--seconds", "0"),
    ],
    ids=" ".join,
)
def test_every_command_says_them(
    run: Any, file: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    stage = file.parent / "small.toml"
    stage.write_text(STAGE, "utf-8")
    given = {"FILE": str(file), "STAGE": str(stage)}
    done = run(*(given.get(w, w.replace("OUT", f"{tmp_path}/out")) for w in words))
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert "bad-link at /nodes/" in said
    assert "no joint 'tail' hangs beside it" in said


def test_poses_are_by_the_tracks(hero: Character, file: Path) -> None:
    """The skin is where it was: tracks say the same, and nothing follows wrongly."""
    lost = flexor.load(file)
    assert lost.skeleton.links == {}
    for time in (0.1, 0.4, 0.7):
        one, other = (h.deform(h.pose("walk", time)) for h in (hero, lost))
        for part, again in zip(one, other, strict=True):
            off = np.abs(part.positions - again.positions).max()
            assert off < 2e-4
