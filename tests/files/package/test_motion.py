"""Packed clips in packages: what is written is read, and lies are refused."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.errors import AssetError, FlexorError
from flexor.files.package.read import read_package
from flexor.files.package.write import write_package
from flexor.scene.character.clip import Clip, Track
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene
from tests.conftest import ROOT
from tests.files.package.packages import forge, plain_package, unlike
from tests.packed_clips import arm, packed_clip
from tests.scenes import plain_scene

KEPT = ROOT / "tests" / "data" / "packages" / "v2.flexor"


def scene() -> Scene:
    """Two packed clips, one of them with tracks that have keys, and a plain one."""
    rng = np.random.default_rng(2)
    keyed = Track(3, "scale", np.array([0.0, 1]), np.ones((2, 3)), "STEP")
    one = packed_clip(rng, 23, keyed=(keyed,))
    two = dataclasses.replace(packed_clip(rng, 9), name="two", carried={"extras": 1})
    still = packed_clip(rng, 1, 0, 0)
    plain = Clip("plain", (keyed,))
    clips = {"one": one, "plain": plain, "two": two, "still": still}
    return dataclasses.replace(plain_scene(arm(4)), clips=clips)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "motion.flexor"
    write_package(plain_package(scene()), place)
    return place


def test_everything_comes_back(path: Path) -> None:
    made = read_package(path).scene
    assert list(unlike(scene(), made)) == []
    assert isinstance(made.clips["two"], PackedClip)
    assert not made.clips["two"].words.flags.writeable


def test_the_same_bytes_again(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.flexor"
    write_package(plain_package(read_package(path).scene), again)
    assert again.read_bytes() == path.read_bytes()


def test_the_kept_file_of_this_version(path: Path) -> None:
    assert path.read_bytes() == KEPT.read_bytes()
    assert list(unlike(scene(), read_package(KEPT).scene)) == []


def test_only_what_needs_it_is_of_the_new_version(tmp_path: Path) -> None:
    plain = dataclasses.replace(scene(), clips={"plain": scene().clips["plain"]})
    versions = []
    for number, one in enumerate((plain, scene())):
        place = tmp_path / f"{number}.flexor"
        write_package(plain_package(one), place)
        versions.append(b'"version":"1"' in place.read_bytes()[:400])
    assert versions == [True, False]


def test_saved_as_tracks(path: Path, tmp_path: Path) -> None:
    hero = flexor.load(path)
    flexor.save(hero, tmp_path / "a.glb")
    plain = flexor.load(tmp_path / "a.glb")
    moments = np.linspace(0, 1, 33)
    a, b = (one.pose_many("two", moments).world for one in (hero, plain))
    np.testing.assert_allclose(a, b, atol=2e-5)


def put(name: str, at: Any, value: Any) -> Callable[[Any], None]:
    def change(arrays: Any) -> None:
        arrays[name][at] = value

    return change


def cut(name: str) -> Callable[[Any], None]:
    return lambda arrays: arrays.update({name: arrays[name][:-1].copy()})


def longer(name: str) -> Callable[[Any], None]:
    return lambda arrays: arrays.update({name: np.concatenate([arrays[name]] * 2)})


ARRAYS = (
    "packed",
    "packed_timing",
    "packed_nodes",
    "packed_paths",
    "packed_turns",
    "packed_bases",
    "packed_slots",
    "packed_steps",
    "packed_widths",
    "packed_words",
)
WRONG: list[tuple[Callable[[Any], None], str]] = [
    *((cut(name), "packed") for name in ARRAYS),
    *((longer(name), "packed") for name in ARRAYS),
    (put("packed", (0, 0), 0), "no frames"),
    (put("packed", (0, 0), 1 << 30), "more frames"),
    (put("packed", (0, 0), 24 * 4), "packed"),
    (put("packed", (0, 1), 3), "packed"),
    (put("packed", (0, 2), -1), "below 0"),
    (put("packed", (0, 4), 1 << 30), "fewer"),
    (put("packed_timing", (0, 1), 0), "rate"),
    (put("packed_timing", (0, 0), np.nan), "start"),
    (put("packed_timing", (0, 2), np.inf), "duration"),
    (put("packed_nodes", 0, 4), "does not exist"),
    (put("packed_nodes", 0, 1), "same property"),
    (put("packed_paths", 0, 2), "vector_paths"),
    (put("packed_turns", 0, 0), "without direction"),
    (put("packed_bases", 0, np.nan), "not finite"),
    (put("packed_steps", 0, -1), "steps"),
    (put("packed_slots", 0, 40), "slots"),
    (put("packed_widths", 0, 255), "words"),
]


@pytest.mark.parametrize(("change", "match"), WRONG)
def test_lies_are_refused(
    path: Path, change: Callable[[Any], None], match: str
) -> None:
    forge(path, arrays=change)
    with pytest.raises(AssetError, match=match):
        _ = read_package(path).scene


def test_a_clip_said_to_be_packed(path: Path) -> None:
    def more(tree: Any) -> None:
        tree["clips"][1]["packed"] = True

    forge(path, scene=more)
    with pytest.raises(AssetError, match="the clips name 4"):
        _ = read_package(path).scene

    def wrong(tree: Any) -> None:
        tree["clips"][1]["packed"] = 1

    forge(path, scene=wrong)
    with pytest.raises(AssetError, match="true or false"):
        _ = read_package(path).scene


@pytest.mark.parametrize("seed", range(40))
def test_changed_by_chance(path: Path, seed: int) -> None:
    """What is taken can be sampled, whatever it says."""
    chance = random.Random(seed)

    def flip(arrays: Any) -> None:
        name = chance.choice([*ARRAYS, "tracks", "times", "values"])
        bits = arrays[name].reshape(-1).view(np.uint8)
        for _ in range(chance.randrange(1, 4)):
            bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)

    forge(path, arrays=flip)
    try:
        hero = flexor.load(path)
        clips = list(hero.clips)
    except FlexorError:
        return
    with np.errstate(all="ignore"):
        for name in clips:
            pose = hero.pose_many(name, [-1.0, 0.3, 0.5, 9.0])
            assert pose.rotations.shape == (4, 4, 4)


def test_cut_anywhere(path: Path) -> None:
    data = path.read_bytes()
    for size in range(0, len(data), 131):
        path.write_bytes(data[:size])
        with pytest.raises(AssetError):
            _ = read_package(path).scene
