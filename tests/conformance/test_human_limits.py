"""Natural motion stays inside the human limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.pose.ik.human_limits import human_limits
from flexor.pose.ik.limit_angles import measure_excess, turn_joints
from flexor.scene.human.human import find_human

RATE = 60.0  # looks a second
FIRST = 0.05  # seconds: the first frame of CMU's files is no motion but a T-pose
# File, clip (None: the first), and the degrees by which the worst angle may be outside.
NATURAL = [
    *[("mannequin", clip, 0.1) for clip in ("idle", "walk", "run", "jump", "fall")],
    *[("mannequin", clip, 0.1) for clip in ("punch", "kick", "spin-kick", "guard")],
    *[("mannequin", clip, 0.1) for clip in ("parry", "hit", "recoil", "stance")],
    *[("mannequin", clip, 0.1) for clip in ("sidestep", "cheer")],
    ("bvh/cmu_02_01.bvh", None, 0.1),  # walk
    ("bvh/cmu_09_01.bvh", None, 1.0),  # run
    ("bvh/cmu_16_05.bvh", None, 0.1),  # jump
    ("bvh/makehuman_walk1.bvh", None, 0.1),
    ("RiggedFigure.glb", None, 0.1),
    ("CesiumMan.glb", None, 6.0),  # the far end of a leg's backward swing
    ("KayKit_Knight.glb", "Running_A", 0.1),
    ("KayKit_Knight.glb", "Walking_B", 0.1),
    ("Godot_player.glb", "falling", 0.1),
    ("Mannequiny.glb", "idle_root.001", 0.1),
    ("RobotExpressive.glb", "WalkJump", 0.1),
]
# Beyond what the legs, arms and trunk of a body allow; of all joints' moments, outside.
MOST_OUT = {"bvh/cmu_49_06.bvh": 0.08}  # a cartwheel whose thumbs were not captured


def load(assets: Path, name: str) -> Character:
    if name == "mannequin":
        return flexor.samples.mannequin()
    if not (assets / name).is_file():
        pytest.skip(f"no {name} among the assets")
    return flexor.load(assets / name)


def excess_of(character: Character, clip: str | None) -> np.ndarray:
    """Degrees (N, S) by which limited joints are outside, at N moments of a clip."""
    name = next(iter(character.clips)) if clip is None else clip
    end = max(float(track.times[-1]) for track in character.clips[name].tracks)
    rotations = character.pose_many(name, np.arange(FIRST, end, 1 / RATE)).rotations
    limits = human_limits(character.skeleton)
    excess = np.degrees(measure_excess(limits, character.skeleton, rotations))
    assert limits.limited.sum() > 10
    return excess[:, limits.limited].max(axis=-1)


@pytest.mark.parametrize(("name", "clip", "most"), NATURAL)
def test_natural_motion_is_inside(
    assets: Path, name: str, clip: str | None, most: float
) -> None:
    assert excess_of(load(assets, name), clip).max() <= most


@pytest.mark.parametrize("name", MOST_OUT)
def test_acrobatics_are_mostly_inside(assets: Path, name: str) -> None:
    excess = excess_of(load(assets, name), None)
    assert (excess > 1).mean() < MOST_OUT[name]


@pytest.mark.parametrize(
    "name", ["mannequin", "VRM_Mint.vrm", "M2M_human_male.glb", "Q_men_Casual.glb"]
)
def test_knees_bend_backward_and_elbows_forward(assets: Path, name: str) -> None:
    character = load(assets, name)
    skeleton, human = character.skeleton, find_human(character.skeleton)
    limits = human_limits(skeleton, human)
    rest = character.pose_from(rotations=skeleton.rotations).world[:, :, 3]
    left = rest[human["leftUpperLeg"]] - rest[human["rightUpperLeg"]]
    forward = np.cross(left, rest[human["head"]] - rest[human["hips"]])
    for side in ("left", "right"):
        for part, tip, sign in (("LowerLeg", "Foot", -1), ("LowerArm", "Hand", 1)):
            node = human[side + part]
            angles = np.zeros((len(skeleton), 3))
            angles[node, 0] = limits.high[node, 0] / 2
            assert angles[node, 0] > 1
            turned = turn_joints(limits, skeleton, angles).astype(np.float32)
            there = character.pose_from(rotations=turned).world[:, :, 3]
            step = (there - rest)[human[side + tip]]
            assert sign * (step @ forward) > 0


def test_bodies_that_lack_parts_have_limits_too(assets: Path) -> None:
    """Whatever is found of a body, none of the files is too odd for it."""
    files = sorted(assets.glob("*.glb"))
    if not files:
        pytest.skip("no assets")
    found = 0
    for file in files:
        skeleton = flexor.load(file).skeleton
        found += bool(human_limits(skeleton).limited.any())
    assert found > 10
