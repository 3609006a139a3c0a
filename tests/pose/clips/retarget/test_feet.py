"""Feet on the ground, soles flat, whatever the rest of a capture is like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.maths import quaternions
from flexor.pose.clips.joint_motion import from_rest, in_motion
from flexor.pose.clips.retarget.retarget import retarget
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.human.human import Human, find_human

SIDES = ("left", "right")
TIMES = np.linspace(0, 1, 6, dtype=np.float32)


@pytest.fixture(scope="module")
def body() -> Skeleton:
    return replace(flexor.samples.mannequin().skeleton, links={}, matrices={})


def turned(skeleton: Skeleton, turns: dict[int, tuple[int, float]]) -> Any:
    """Local rotations (J, 4) with joints turned about axes of the world, degrees."""
    rotations = skeleton.rotations.astype(float)
    world = rest_world(skeleton)[:, :, :3]
    for node, (axis, degrees) in turns.items():
        above = quaternions.from_matrix(world[int(skeleton.parents[node])])
        half = np.radians(degrees) / 2
        q = np.append(np.sin(half) * np.eye(3)[axis], np.cos(half))
        back = above * [-1, -1, -1, 1]
        inside = quaternions.multiply(quaternions.multiply(back, q), above)
        rotations[node] = quaternions.multiply(inside, rotations[node])
    return rotations


def standing(skeleton: Skeleton, human: Human, pose: Any, height: float) -> Clip:
    """A clip that holds a pose, rotations (J, 4), hips at a height."""
    hips = human["hips"]
    ones = np.ones((len(TIMES), 1))
    tracks = [
        Track(n, "rotation", TIMES, (ones * pose[n]).astype("f4"))
        for n in range(len(skeleton))
    ]
    move = skeleton.translations[hips].astype(float)
    parent = rest_world(skeleton)[int(skeleton.parents[hips])]
    move = move + np.linalg.inv(parent[:, :3]) @ [0, height, 0]
    return Clip(
        "c", (*tracks, Track(hips, "translation", TIMES, (ones * move).astype("f4")))
    )


def check_feet(target: Skeleton, clip: Clip) -> None:
    """Feet as at rest but for their heading: as high, soles flat."""
    human = find_human(target)
    motion = in_motion(clip, target, TIMES.astype(float))
    for side in SIDES:
        for part in ("Foot", "Toes"):
            node = human[side + part]
            height = motion.worlds[node][:, 1, 3] - motion.rest[node, 1, 3]
            np.testing.assert_allclose(height, 0, atol=2e-3)
            upright = from_rest(motion, node) @ [0, 1, 0]
            np.testing.assert_allclose(upright[:, 1], 1, atol=1e-4)


@pytest.mark.parametrize("pitch", [0.0, 12.0, -12.0])
def test_a_capture_that_rests_with_legs_apart(body: Skeleton, pitch: float) -> None:
    human = find_human(body)
    turns = {
        human[f"{s}UpperLeg"]: (2, d) for s, d in zip(SIDES, (20.0, -20.0), strict=True)
    }
    rest = turned(body, turns)
    foot = turned(body, {human[f"{s}Foot"]: (0, pitch) for s in SIDES})
    for side in SIDES:
        rest[human[f"{side}Foot"]] = foot[human[f"{side}Foot"]]
    moves = body.translations.copy()
    drop = 3.0
    moves[human["hips"]] -= np.linalg.inv(
        rest_world(body)[int(body.parents[human["hips"]])][:, :3]
    ).astype("f4") @ np.array([0, drop, 0], "f4")
    source = replace(body, rotations=rest.astype("f4"), translations=moves)
    clip = standing(source, human, body.rotations, drop)
    # By other names: bones of equal names and lengths would be one rig, rests ignored.
    names = tuple(f"x{n}" for n in range(len(body)))
    source = replace(source, names=names)
    check_feet(body, retarget(clip, source, body, bodies=(human, human)))


def test_other_legs_with_bent_knees(body: Skeleton) -> None:
    human = find_human(body)
    bends = {"UpperLeg": -35.0, "LowerLeg": 60.0, "Foot": -25.0}
    pose = body.rotations.astype(float)
    for part, degrees in bends.items():
        nodes = {human[side + part]: (0, degrees) for side in SIDES}
        one = turned(body, nodes)
        for node in nodes:
            pose[node] = one[node]
    clip = standing(body, human, pose, 0.0)
    at = in_motion(clip, body, TIMES.astype(float))
    ankle = human["leftFoot"]
    drop = float(at.rest[ankle, 1, 3] - at.worlds[ankle][0, 1, 3])
    clip = standing(body, human, pose, drop)  # on the ground again
    check_feet(body, clip)
    moves = body.translations.copy()
    for side in SIDES:
        moves[human[f"{side}LowerLeg"]] *= np.float32(1.2)
        moves[human[f"{side}Foot"]] *= np.float32(0.7)
    other = replace(body, translations=moves)
    done = retarget(clip, body, other, moves="root")
    check_feet(other, done)
