"""What the names of nodes say of a body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.scene.human.words import Said, read_names


def read(name: str) -> Said:
    return read_names([name])[0]


@pytest.mark.parametrize(
    ("name", "kind", "side"),
    [
        ("mixamorig:LeftForeArm", "lower arm", "left"),
        ("mixamorigLeftForeArm", "lower arm", "left"),
        ("mixamorig12_RightUpLeg", "upper leg", "right"),
        ("DEF-upper_arm.L", "upper arm", "left"),
        ("forearm.L.001", "lower arm", "left"),
        ("J_Bip_L_UpperArm", "upper arm", "left"),
        ("J_Bip_C_UpperChest", "spine", ""),
        ("LHipJoint", "hips", "left"),
        ("LowerBack", "spine", ""),
        ("upperarm_l", "upper arm", "left"),
        ("thigh_r", "upper leg", "right"),
        ("Bip01 L UpperArm", "upper arm", "left"),
        ("Bip001 Pelvis", "hips", ""),
        ("ValveBiped.Bip01_R_Calf", "lower leg", "right"),
        ("lShldrBend", "shoulder", "left"),
        ("rThighBend", "upper leg", "right"),
        ("CC_Base_L_Clavicle", "shoulder", "left"),
        ("Character1_RightHand", "hand", "right"),
        ("leftupperarm", "upper arm", "left"),
        ("ThighL", "upper leg", "left"),
        ("UpArm_L", "upper arm", "left"),
        ("Armature|Head", "head", ""),
        ("b_r_ball", "toe", "right"),
    ],
)
def test_kinds_and_sides(name: str, kind: str, side: str) -> None:
    said = read(name)
    assert (said.kind, said.side) == (kind, side)


@pytest.mark.parametrize(
    ("name", "kind", "number"),
    [
        ("mixamorig:LeftHandIndex2", "index", 2),
        ("DEF-f_pinky.03.L", "little", 3),
        ("finger1-3.L", "thumb", 3),
        ("finger5-1.L", "little", 1),
        ("Bip01 L Finger0", "thumb", 1),
        ("Bip01 L Finger01", "thumb", 2),
        ("Bip01 L Finger42", "little", 3),
        ("J_Bip_L_Ring1", "ring", 1),
        ("thumb_02_l", "thumb", 2),
    ],
)
def test_fingers(name: str, kind: str, number: int) -> None:
    said = read(name)
    assert (said.kind, said.side, said.number) == (kind, "left", number)


def test_joints_of_fingers_by_word() -> None:
    assert read("index_distPhalanx_R").joint == "distal"
    assert read("leftThumbMetacarpal").joint == "metacarpal"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Knight_Head",
        "Casual_Feet",
        "handslot.l",
        "upperarm_twist_01_l",
        "l-arm-roll",
        "HeadTop_End",
        "LeftToeBase end",
        "IK-foot.l",
        "PoleTarget.L",
        "ORG-upper_arm.L",
        "FrontUpLeg.L",
        "leg_a_1_l",
        "leg_b_1_l",
        "__UpLeg_L",
        "LeftRightArm",
        "Arm",
        "LeftHead",
        "LeftFingerBase",
        "LeftFinger9-1",
        "Left",
        "x" * 100_000,
    ],
)
def test_names_that_say_nothing(name: str) -> None:
    assert read(name).kind == ""


def test_a_word_that_all_begin_with_says_nothing() -> None:
    parts = "Hips Spine Chest Neck Head LeftArm LeftForeArm LeftHand RightArm RightHand"
    said = read_names([f"Hero_{part}" for part in parts.split()])
    assert all(one.kind for one in said)
    assert read("Hero_Head").kind == ""  # one alone could be a mesh's name


@given(st.lists(st.text(max_size=30), max_size=12))
def test_any_names_can_be_read(names: list[str]) -> None:
    assert len(read_names(names)) == len(names)
