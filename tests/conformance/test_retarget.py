"""Motion captures on characters by other people; clips of theirs cut and mirrored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.retargeting import retarget_clips
from flexor.errors import SettingError
from flexor.pose.clips.cut import concatenate, trim
from flexor.pose.clips.mirror import mirror_clip
from flexor.scene.character.mirror_pairs import find_mirror
from flexor.scene.character.skeleton import rest_world
from tests.conformance.test_validator import errors_of

CAPTURES = ("cmu_02_01", "cmu_09_01", "cmu_16_05", "cmu_49_06", "makehuman_walk1")
# How far below where it stands a foot may go, of a leg: in a cartwheel short legs under
# wide hips do.
BODIES = {
    "mannequin": 0.05,
    "CesiumMan.glb": 0.05,
    "Mannequiny.glb": 0.05,
    "M2M_human_male.glb": 0.05,
    "VRM_Mint.vrm": 0.05,
    "Q_men_Casual.glb": 0.05,
    "Godot_player.glb": 0.08,
    "KayKit_Knight.glb": 0.25,
    "RobotExpressive.glb": 0.2,
    "Q_Astronaut_Finn_draco.glb": 0.2,
    "Q_Character_Gun.glb": 0.6,
}
LIMBS = (
    ("UpperArm", "LowerArm"),
    ("LowerArm", "Hand"),
    ("UpperLeg", "LowerLeg"),
    ("LowerLeg", "Foot"),
)
T_POSE = 0.02  # seconds: these captures begin with one that is not part of the motion


def body(assets: Path, name: str) -> Character:
    if name == "mannequin":
        return flexor.samples.mannequin()
    return flexor.load(assets / name)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("capture", CAPTURES)
def test_captures_on_bodies(assets: Path, name: str, capture: str) -> None:
    hero = body(assets, name)
    other = flexor.load(assets / "bvh" / f"{capture}.bvh")
    clips, plan = retarget_clips(hero, other, [capture])
    assert plan.match.how == "humans"
    assert len(plan.match.feeds) >= 15
    made = hero.with_clips(clips, only=True)
    keys = other.clips[capture].tracks[0].times
    times = keys[keys >= T_POSE][::7]  # between keys loose feet cut corners
    there = other.pose_many(capture, times).world[..., 3].astype(np.float64)
    here = made.pose_many(capture, times).world[..., 3].astype(np.float64)
    assert plan.humans is not None
    one, two = plan.humans
    for side in ("left", "right"):
        for above, below in LIMBS:
            ends = (side + above, side + below)
            if any(part not in human for part in ends for human in plan.humans):
                continue
            a = (there[:, one[ends[1]]] - there[:, one[ends[0]]]) @ plan.axes.T
            b = here[:, two[ends[1]]] - here[:, two[ends[0]]]
            a /= np.linalg.norm(a, axis=1, keepdims=True)
            b /= np.linalg.norm(b, axis=1, keepdims=True)
            assert np.degrees(np.arccos(np.clip((a * b).sum(1), -1, 1))).max() < 0.2
    rest = rest_world(hero.skeleton)[:, :, 3]
    feet = [two[f"{side}Foot"] for side in ("left", "right")]
    lows = (here[:, feet, 1] - rest[feet, 1]).min(1)
    leg = plan.size * _leg(other, one)
    assert lows.min() > -BODIES[name] * leg
    assert np.median(lows) < 0.15 * leg  # on the ground for half of the time


def _leg(other: Character, human: Any) -> float:
    places = rest_world(other.skeleton)[:, :, 3]
    line = [human[f"left{part}"] for part in ("UpperLeg", "LowerLeg", "Foot")]
    return float(np.linalg.norm(np.diff(places[line], axis=0), axis=1).sum())


def test_written_motions_are_valid(assets: Path, tmp_path: Path) -> None:
    walk = flexor.load(assets / "bvh" / "cmu_02_01.bvh")
    written = []
    for name in BODIES:
        hero = flexor.retarget(body(assets, name), walk)
        target = tmp_path / f"{Path(name).stem}.glb"
        flexor.save(hero, target)
        written.append(target)
    for name in ("BIO_01_cs_rotate.glb", "InterpolationTest.glb", "Fox.glb"):
        hero = flexor.load(assets / name)
        made = {}
        for clip in hero.clips.values():
            half = clip.duration / 2.3
            first, second = trim(clip, 0.1 * half, half), trim(clip, half)
            made[f"{clip.name} first"] = first
            made[f"{clip.name} joined"] = concatenate([second, first])
        target = tmp_path / name
        flexor.save(hero.with_clips(made), target)
        written.append(target)
    assert errors_of(written) == {}


@pytest.mark.parametrize(
    "name", ["mannequin", "CesiumMan.glb", "KayKit_Knight.glb", "Fox.glb", "Q_Wolf.glb"]
)
def test_clips_in_the_mirror(assets: Path, name: str) -> None:
    hero = body(assets, name)
    skeleton = hero.skeleton
    try:
        mirror = find_mirror(skeleton.names, rest_world(skeleton))
    except SettingError as error:
        pytest.skip(str(error))
    rest = rest_world(skeleton)[:, :, 3]
    uneven = np.linalg.norm(mirror.reflect(rest)[mirror.twins] - rest, axis=1).max()
    size = float(np.ptp(rest, axis=0).max())
    clip = next(iter(hero.clips.values()))
    other = hero.with_clips({"other": mirror_clip(clip, skeleton)})
    again = hero.with_clips({"again": mirror_clip(other.clips["other"], skeleton)})
    times = np.linspace(0, clip.duration, 9)
    before = hero.pose_many(clip.name, times).world[..., 3]
    after = other.pose_many("other", times).world[..., 3]
    for one, two in zip(before, after, strict=True):
        gap = np.linalg.norm(mirror.reflect(one)[mirror.twins] - two, axis=1).max()
        assert gap < 1e-4 * size + 3 * uneven
    back = again.pose_many("again", times).world[..., 3]
    np.testing.assert_allclose(back, before, atol=2e-5 * size)


@pytest.mark.parametrize("name", ["M2M_human_male.glb", "Mannequiny.glb"])
@pytest.mark.parametrize("capture", ["cmu_02_01", "cmu_09_01", "cmu_16_05"])
def test_soles_are_on_the_ground(assets: Path, name: str, capture: str) -> None:
    hero = flexor.load(assets / name)
    other = flexor.load(assets / "bvh" / f"{capture}.bvh")
    made = flexor.retarget(hero, other, capture)
    times = np.arange(0.05, made.clips[capture].duration, 1 / 15)
    meshes = made.deform_many(made.pose_many(capture, times))
    low = np.min([mesh.positions[..., 1].min(1) for mesh in meshes], 0)
    rest = min(float(mesh.positions[:, 1].min()) for mesh in hero.deform(hero.pose()))
    # In the middle of the time; a floor that the capture tilts stays tilted.
    assert abs(np.median(low) - rest) < 0.02
    assert np.percentile(low, 5) - rest > -0.05


def test_loose_feet_at_the_end_of_legs(assets: Path) -> None:
    hero = flexor.load(assets / "Q_Enemy_2Legs.glb")
    other = flexor.load(assets / "bvh" / "cmu_02_01.bvh")
    made = flexor.retarget(hero, other, "cmu_02_01")
    times = other.clips["cmu_02_01"].tracks[0].times[::20]
    at = made.pose_many("cmu_02_01", times).world[..., 3]
    for side in "LR":
        ends = [hero.skeleton.index(f"{name}.{side}") for name in ("Leg3", "Foot")]
        ends[0] = hero.skeleton.children(ends[0])[0]
        assert np.linalg.norm(at[:, ends[0]] - at[:, ends[1]], axis=-1).max() < 1e-4


def test_arms_alone_turn_as_in_the_whole(assets: Path) -> None:
    hero = flexor.load(assets / "M2M_human_male.glb")
    other = flexor.load(assets / "bvh" / "cmu_02_01.bvh")
    names = {"*": ""}
    for side in ("Left", "Right"):
        names |= {f"{side}Arm": f"upperarm_{side[0].lower()}"}
        names |= {f"{side}ForeArm": f"lowerarm_{side[0].lower()}"}
    made = [
        flexor.retarget(hero, other, "cmu_02_01", name_map=one) for one in (None, names)
    ]
    for time in (0.3, 0.8, 1.3, 2.0):
        ways = []
        for one in made:
            at = one.pose("cmu_02_01", time).world[..., 3]
            ends = [hero.skeleton.index(n) for n in ("upperarm_l", "lowerarm_l")]
            way = at[ends[1]] - at[ends[0]]
            ways.append(way / np.linalg.norm(way))
        np.testing.assert_allclose(ways[1], ways[0], atol=1e-4)
