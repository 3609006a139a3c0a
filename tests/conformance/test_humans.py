"""Parts of the bodies in other people's files."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexor
from flexor.scene.human.human import MAIN_PARTS, PARTS, find_human

MIDDLE = ("hips", "spine", "chest", "upperChest", "neck", "head")
LIMBS = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes".split()
# The nodes of MIDDLE, then of LIMBS; "-": the file has none; < stands for the
# word or letter of the side.
MIXAMO = (
    "Hips Spine Spine1 Spine2 Neck Head",
    "<Shoulder <Arm <ForeArm <Hand <UpLeg <Leg <Foot <ToeBase",
)
ROBOT = (
    "Body Hips Abdomen Torso Neck Head",
    "Shoulder.< UpperArm.< LowerArm.< - UpperLeg.< LowerLeg.< - -",
)
EXPECTED: dict[str, tuple[str, str]] = {
    "mannequin": (
        "hips spine0 spine1 chest neck head",
        "<-shoulder <-arm <-elbow <-wrist <-hip <-knee <-ankle <-toe",
    ),
    "Elf.glb": MIXAMO,
    "Elf_animations.glb": MIXAMO,
    "VRM_Mint.vrm": MIXAMO,
    "Godot_player.glb": (
        "hip waist chest - neck head",
        "- <-arm <-forearm - <-thigh <-leg <-foot -",
    ),
    "KayKit_Knight.glb": (
        "hips spine chest - - head",
        "- upperarm.< lowerarm.< wrist.< upperleg.< lowerleg.< foot.< toes.<",
    ),
    "M2M_human_male.glb": (
        "pelvis spine_01 spine_02 spine_03 neck_01 head",
        "clavicle_< upperarm_< lowerarm_< hand_< thigh_< calf_< foot_< ball_<",
    ),
    "Mannequiny.glb": (
        "pelvis spine_01 spine_02 - neck_01 head",
        "clavicle.< upperarm.< lowerarm.< hand.< thigh.< calf.< foot.< ball.<",
    ),
    "Momentum_body_8inf.glb": (
        "b_root b_spine0 b_spine2 b_spine3 b_neck0 b_head",
        "b_<_shoulder b_<_arm b_<_forearm b_<_wrist "
        "b_<_upleg b_<_leg b_<_talocrural b_<_ball",
    ),
    "Q_Astronaut_Finn_draco.glb": ROBOT,
    "Q_Character_Gun.glb": (
        "Hips Abdomen Torso - Neck Head",
        "Shoulder.< UpperArm.< LowerArm.< Fist.< UpperLeg.< LowerLeg.< - -",
    ),
    "Q_men_Casual.glb": (
        "Hips Abdomen Torso Chest Neck Head",
        "Shoulder.< UpperArm.< LowerArm.< Hand.< UpperLeg.< LowerLeg.< Foot.< -",
    ),
    "RiggedFigure.glb": (
        "torso_joint_1 torso_joint_2 torso_joint_3 - neck_joint_1 neck_joint_2",
        "- arm_joint_<_1 arm_joint_<_2 arm_joint_<_3 "
        "leg_joint_<_1 leg_joint_<_2 leg_joint_<_3 leg_joint_<_5",
    ),
    "RobotExpressive.glb": ROBOT,
    "Robot_gltfpack_q.glb": ROBOT,
    **{
        f"bvh/cmu_{name}.bvh": (
            "Hips LowerBack Spine Spine1 Neck Head",
            "<Shoulder <Arm <ForeArm <Hand <UpLeg <Leg <Foot <ToeBase",
        )
        for name in ("02_01", "09_01", "16_05", "49_06")
    },
    "bvh/makehuman_tpose.bvh": (
        "root spine05 spine03 spine01 neck01 head",
        "clavicle.< upperarm01.< lowerarm01.< wrist.< "
        "upperleg01.< lowerleg01.< foot.< -",
    ),
    "bvh/makehuman_walk1.bvh": (
        "Root Spine1 Spine2 Spine3 Neck Head",
        "Clavicle_< UpArm_< LoArm_< Hand_< UpLeg_< LoLeg_< Foot_< Toe_<",
    ),
}
MAIN_CESIUM = (
    "Skeleton_torso_joint_1 Skeleton_torso_joint_2 Skeleton_neck_joint_2 "
    "Skeleton_arm_joint_L__4_ Skeleton_arm_joint_L__3_ Skeleton_arm_joint_L__2_ "
    "leg_joint_L_1 leg_joint_L_2 leg_joint_L_3 "
    "Skeleton_arm_joint_R Skeleton_arm_joint_R__2_ Skeleton_arm_joint_R__3_ "
    "leg_joint_R_1 leg_joint_R_2 leg_joint_R_3"
)
FINGERS = {"mannequin": 15, "VRM_Mint.vrm": 15, "M2M_human_male.glb": 15}
FINGERS |= {"Mannequiny.glb": 12, "Momentum_body_8inf.glb": 15, "Q_men_Casual.glb": 14}
FINGERS |= {"bvh/makehuman_tpose.bvh": 15, "bvh/makehuman_walk1.bvh": 15}
# Animals, and a robot on two legs: what they have besides, they have no arms.
BEASTS = (
    "Cow_quaternius Fox M2M_bird M2M_snake M2M_spider "
    "Q_Crab Q_Enemy_2Legs Q_Trex Q_Wolf"
).split()


def load(assets: Path, name: str) -> flexor.Character:
    if name == "mannequin":
        return flexor.samples.mannequin()
    if not (assets / name).is_file():
        pytest.skip(f"no {name} among the assets")
    return flexor.load(assets / name)


@pytest.mark.parametrize("name", EXPECTED)
def test_bodies(assets: Path, name: str) -> None:
    scene = load(assets, name).scene
    human = find_human(scene.skeleton)

    def plain(part: str) -> str:
        """The name of a part's node, without a tool's prefix and in small letters."""
        if part not in human:
            return "-"
        return scene.skeleton.names[human[part]].removeprefix("mixamorig:").lower()

    middle, limbs = EXPECTED[name]
    assert [plain(part) for part in MIDDLE] == middle.lower().split()
    for side in ("left", "right"):
        found = [plain(side + part) for part in LIMBS]
        long, short = limbs.replace("<", side), limbs.replace("<", side[0])
        assert found in (long.lower().split(), short.lower().split())
        if name in FINGERS:
            own = [part for part in PARTS if part.startswith(side)][len(LIMBS) + 1 :]
            assert sum(part in human for part in own) == FINGERS[name]


@pytest.mark.parametrize("name", ["CesiumMan.glb", "CesiumMan_draco.glb"])
def test_names_that_count_differently_left_and_right(assets: Path, name: str) -> None:
    skeleton = load(assets, name).scene.skeleton
    human = find_human(skeleton)
    found = [skeleton.names[human[part]] for part in MAIN_PARTS]
    assert found == MAIN_CESIUM.split()


def test_a_vrm_file_agrees_with_its_names(assets: Path) -> None:
    scene = load(assets, "VRM_Mint.vrm").scene
    told, named = find_human(scene.skeleton, scene.carried), find_human(scene.skeleton)
    assert told.source == "VRM"
    assert dict(told.nodes) == dict(named.nodes)
    assert (told.trunk, told.necks) == (named.trunk, named.necks)


def test_a_hand_alone(assets: Path) -> None:
    skeleton = load(assets, "Hand_left.glb").scene.skeleton
    human = find_human(skeleton)
    assert skeleton.names[human["leftHand"]] == "wrist_L"
    assert len(human.nodes) == 16


@pytest.mark.parametrize("name", BEASTS)
def test_animals_have_no_arms(assets: Path, name: str) -> None:
    human = find_human(load(assets, f"{name}.glb").scene.skeleton)
    assert not any("Arm" in part or "Hand" in part for part in human.nodes)
    assert human.lacks
