"""Parts of a body in skeletons with the names of many tools."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import MAIN_PARTS, PARTS, Human, find_human, other_side
from tests.bodies import body_places, make_body
from tests.scenes import random_skeleton

MIDDLE_MIXAMO = {"spine": "Spine", "chest": "Spine1", "upperChest": "Spine2"}
LIMBS = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes".split()


def digit(part: str) -> tuple[str, int] | None:
    """The finger and the number of its joint, of a part without its side."""
    match = re.match(r"(Thumb|Index|Middle|Ring|Little)(\w+)", part)
    if not match:
        return None
    joints = ["Proximal", "Intermediate", "Distal"]
    if match[1] == "Thumb":
        joints = ["Metacarpal", "Proximal", "Distal"]
    return match[1], joints.index(match[2]) + 1


def split(part: str) -> tuple[str, str]:
    side = next((s for s in ("left", "right") if part.startswith(s)), "")
    return side, part[len(side) :]


def renamed(
    middle: dict[str, str],
    limbs: str,
    limb: Callable[[str, str], str],
    finger: Callable[[str, str, int], str] | None,
) -> dict[str, str]:
    """Names by part; limbs: the words for LIMBS in their order, "-" for none."""
    words = dict(zip(LIMBS, limbs.split(), strict=True))
    names = dict(middle)
    for part in body_places():
        side, own = split(part)
        joint = digit(own)
        if joint and finger:
            names[part] = finger(side, *joint)
        elif side and words.get(own, "-") != "-":
            names[part] = limb(side, words[own])
    return names


def mixamo() -> dict[str, str]:
    def limb(side: str, word: str) -> str:
        return f"mixamorig:{side.capitalize()}{word}"

    def finger(side: str, name: str, joint: int) -> str:
        name = "Pinky" if name == "Little" else name
        return f"mixamorig:{side.capitalize()}Hand{name}{joint}"

    middle = {"hips": "Hips", "neck": "Neck", "head": "Head"} | MIDDLE_MIXAMO
    middle = {part: f"mixamorig:{word}" for part, word in middle.items()}
    words = "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase"
    return renamed(middle, words, limb, finger)


def vroid() -> dict[str, str]:
    middle = {p: p[0].upper() + p[1:] for p in ("hips", "neck", "head", "spine")}
    middle |= {"chest": "Chest", "upperChest": "UpperChest"}
    middle = {part: f"J_Bip_C_{word}" for part, word in middle.items()}
    words = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot ToeBase"
    return renamed(
        middle,
        words,
        lambda side, word: f"J_Bip_{side[0].upper()}_{word}",
        lambda side, name, joint: f"J_Bip_{side[0].upper()}_{name}{joint}",
    )


def rigify(prefix: str) -> dict[str, str]:
    """The names of a metarig, or those of its deforming joints."""
    numbers = ("hips", "spine", "chest", "upperChest", "neck", "head")
    middle = {part: f"spine.{row:03}" for row, part in enumerate(numbers)}
    middle["hips"] = "spine"
    middle = {part: prefix + word for part, word in middle.items()}

    def finger(side: str, name: str, joint: int) -> str:
        name = {"Thumb": "thumb", "Little": "f_pinky"}.get(name, f"f_{name.lower()}")
        return f"{prefix}{name}.{joint:02}.{side[0].upper()}"

    words = "shoulder upper_arm forearm hand thigh shin foot toe"
    return renamed(
        middle,
        words,
        lambda side, word: f"{prefix}{word}.{side[0].upper()}",
        finger,
    )


def unreal() -> dict[str, str]:
    middle = {"hips": "pelvis", "neck": "neck_01", "head": "head"}
    middle |= {"spine": "spine_01", "chest": "spine_02", "upperChest": "spine_03"}
    words = "clavicle upperarm lowerarm hand thigh calf foot ball"

    def finger(side: str, name: str, joint: int) -> str:
        name = "pinky" if name == "Little" else name.lower()
        return f"{name}_{joint:02}_{side[0]}"

    return renamed(middle, words, lambda side, word: f"{word}_{side[0]}", finger)


def biped() -> dict[str, str]:
    middle = {"hips": "Pelvis", "neck": "Neck", "head": "Head"} | MIDDLE_MIXAMO
    middle = {part: f"Bip01 {word}" for part, word in middle.items()}
    words = "Clavicle UpperArm Forearm Hand Thigh Calf Foot Toe0"
    fingers = ("Thumb", "Index", "Middle", "Ring", "Little")

    def finger(side: str, name: str, joint: int) -> str:
        last = "" if joint == 1 else str(joint - 1)
        return f"Bip01 {side[0].upper()} Finger{fingers.index(name)}{last}"

    return renamed(
        middle, words, lambda side, word: f"Bip01 {side[0].upper()} {word}", finger
    )


def joints_alone() -> dict[str, str]:
    """Named by the joints, not the bones between them."""
    middle = {"hips": "pelvis", "neck": "neck", "head": "head"} | MIDDLE_MIXAMO
    words = "- shoulder elbow wrist hip knee ankle toe"
    return renamed(middle, words, lambda side, word: f"{side}_{word}", None)


def numbered() -> dict[str, str]:
    middle = {"hips": "torso_1", "spine": "torso_2", "chest": "torso_3"}
    middle |= {"neck": "neck_1", "head": "neck_2"}
    words = "- arm_1 arm_2 arm_3 leg_1 leg_2 leg_3 leg_4"
    return renamed(
        middle,
        words,
        lambda side, word: f"{word[:3]}_joint_{side[0].upper()}_{word[4:]}",
        None,
    )


SCHEMES = {
    "vrm": {part: part for part in PARTS},
    "mixamo": mixamo(),
    "mixamo bare": {p: n.removeprefix("mixamorig:") for p, n in mixamo().items()},
    "mixamo glued": {p: n.replace(":", "") for p, n in mixamo().items()},
    "vroid": vroid(),
    "metarig": rigify(""),
    "rigify": rigify("DEF-"),
    "unreal": unreal(),
    "biped": biped(),
    "joints": joints_alone(),
    "numbered": numbered(),
    "a prefix": {p: f"Hero01_{n}" for p, n in unreal().items()},
    "small letters": {p: n.lower() for p, n in vroid().items()},
}


def names_of(skeleton: Skeleton, human: Human) -> dict[str, str]:
    return {part: skeleton.names[node] for part, node in human.nodes.items()}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_of_names(scheme: str) -> None:
    names = SCHEMES[scheme]
    skeleton = make_body(names)
    human = find_human(skeleton)
    assert names_of(skeleton, human) == names
    assert human.lacks == ()
    assert human.source == "names"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_rest_axes_and_stance(scheme: str, rng: np.random.Generator) -> None:
    names = SCHEMES[scheme]
    skeleton = make_body(
        names,
        drop=50,
        rotations=lambda count: rng.normal(size=(count, 4)),
        turn=rng.normal(size=4),
        size=0.01,
    )
    assert names_of(skeleton, find_human(skeleton)) == names


@pytest.mark.parametrize("missing", [p for p in MAIN_PARTS if p != "hips"])
def test_what_lacks_is_said(missing: str) -> None:
    skeleton = make_body(mixamo(), without=(missing,))
    human = find_human(skeleton)
    assert missing in human.lacks or missing == "spine"  # another of the trunk is it
    names = mixamo()
    found = names_of(skeleton, human)
    trunk = ("spine", "chest", "upperChest")
    assert all(found[part] == names[part] for part in found if part not in trunk)


def rooted(skeleton: Skeleton, names: list[str], parents: list[int]) -> Skeleton:
    """With nodes before it; the first of the skeleton's own hangs on the last."""
    extra = len(names)
    own = np.where(skeleton.parents < 0, extra - 1, skeleton.parents + extra)
    return Skeleton(
        (*names, *skeleton.names),
        np.concatenate([parents, own]),
        np.concatenate([np.zeros((extra, 3)), skeleton.translations]),
        np.concatenate([np.tile([0.0, 0, 0, 1], (extra, 1)), skeleton.rotations]),
        np.ones((extra + len(skeleton), 3)),
    )


def test_other_nodes_do_not_mislead() -> None:
    others = ["Armature", "Knight_Head", "handIK.l", "Body", "Hand.L", "root"]
    skeleton = rooted(make_body(unreal()), others, [-1, 0, 0, 0, 0, 0])
    assert names_of(skeleton, find_human(skeleton)) == unreal()


def test_deforming_joints_are_taken_among_others_of_the_name() -> None:
    both = rooted(
        make_body(rigify("DEF-")), ["rig", "upper_arm.L", "forearm.L"], [-1, 0, 1]
    )
    assert names_of(both, find_human(both)) == rigify("DEF-")


def test_loose_legs_do_not_make_the_root_the_hips() -> None:
    skeleton = rooted(make_body(rigify("DEF-")), ["rig"], [-1])
    parents = skeleton.parents.copy()
    moves = skeleton.translations.copy()
    hips = skeleton.index("DEF-spine")
    for name in ("DEF-thigh.L", "DEF-thigh.R"):
        node = skeleton.index(name)
        parents[node] = 0
        moves[node] += moves[hips]
    loose = Skeleton(
        skeleton.names, parents, moves, skeleton.rotations, skeleton.scales
    )
    human = find_human(loose)
    assert loose.names[human["hips"]] == "DEF-spine"
    assert loose.names[human["spine"]] == "DEF-spine.001"


def test_four_legs_with_human_names_are_no_human() -> None:
    skeleton = make_body(mixamo())
    moves = skeleton.translations.copy()
    moves[skeleton.index("mixamorig:Spine")] = (0, 0.05, 0.6)
    for word in ("Spine1", "Spine2", "Neck", "Head"):
        moves[skeleton.index(f"mixamorig:{word}")] = (0, 0, 0.2)
    parts = (skeleton.rotations, skeleton.scales)
    human = find_human(Skeleton(skeleton.names, skeleton.parents, moves, *parts))
    assert not human.nodes
    assert "degrees" in human.source


def test_a_head_that_lies_above_no_arms() -> None:
    skeleton = Skeleton(
        ("Root", "Neck", "Head", "EyeLeft"),
        np.array([-1, 0, 1, 2]),
        np.zeros((4, 3)),
        np.tile([0.0, 0, 0, 1], (4, 1)),
        np.ones((4, 3)),
    )
    assert dict(find_human(skeleton).nodes) == {"neck": 1, "head": 2, "leftEye": 3}


def test_nothing_found_says_so() -> None:
    skeleton = rooted(make_body({}), ["a", "b"], [-1, 0])
    human = find_human(skeleton)
    assert not human.nodes
    assert "named" in human.source
    assert human.lacks == MAIN_PARTS


def test_a_deep_tree_of_arms_is_no_human() -> None:
    count = 20_000
    deep = Skeleton(
        ("LeftArm",) * count,
        np.arange(-1, count - 1),
        np.zeros((count, 3)),
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)),
    )
    assert "more than" in find_human(deep).source


def vrm_one(skeleton: Skeleton, names: dict[str, str]) -> dict[str, object]:
    bones = {part: {"node": skeleton.index(name)} for part, name in names.items()}
    return {"extensions": {"VRMC_vrm": {"humanoid": {"humanBones": bones}}}}


def vrm_zero(skeleton: Skeleton, names: dict[str, str]) -> dict[str, object]:
    older = {"Metacarpal": "Proximal", "Proximal": "Intermediate"}
    bones = []
    for part, name in names.items():
        side, own = split(part)
        if own.startswith("Thumb"):
            part = f"{side}Thumb{older.get(own[5:], own[5:])}"
        bones.append({"bone": part, "node": skeleton.index(name)})
    return {"extensions": {"VRM": {"humanoid": {"humanBones": bones}}}}


@pytest.mark.parametrize("version", [vrm_one, vrm_zero])
def test_what_a_vrm_file_says_is_taken(
    version: Callable[[Skeleton, dict[str, str]], dict[str, object]],
) -> None:
    names = {part: f"n{row}" for row, part in enumerate(PARTS)}
    skeleton = make_body(names)
    human = find_human(skeleton, version(skeleton, names))
    assert human.source == "VRM"
    assert names_of(skeleton, human) == names
    middle = ("spine", "chest", "upperChest")
    assert human.trunk == tuple(human[part] for part in middle)
    assert human.necks == (human["neck"],)


@pytest.mark.parametrize(
    "humanoid",
    [
        None,
        7,
        {},
        {"humanBones": None},
        {"humanBones": [None, 3, {"bone": 5, "node": 1}, {"bone": [], "node": 0}]},
        {"humanBones": {"hips": {"node": 10_000}, "head": 3, "neck": {"node": True}}},
        {"humanBones": {"hips": {"node": 0}, "spine": {"node": 0}}},
    ],
)
@pytest.mark.parametrize("extension", ["VRM", "VRMC_vrm"])
def test_bad_metadata_falls_back_to_names(extension: str, humanoid: object) -> None:
    skeleton = make_body(unreal())
    carried = {"extensions": {extension: {"humanoid": humanoid}}}
    assert find_human(skeleton, carried).source == "names"


def test_rolls_lie_between() -> None:
    names = unreal() | {"leftHand": "lowerarm_twist_l", "leftMiddleProximal": "hand_l"}
    names = {
        p: n
        for p, n in names.items()
        if "left" not in p or digit(split(p)[1]) is None or n == "hand_l"
    }
    skeleton = make_body(names)
    human = find_human(skeleton)
    assert skeleton.names[human["leftHand"]] == "hand_l"
    assert human.rolls["leftLowerArm"] == (skeleton.index("lowerarm_twist_l"),)


def test_a_human_can_be_looked_at_and_kept() -> None:
    skeleton = make_body()
    human = find_human(skeleton)
    assert human.part_of(human["leftHand"]) == "leftHand"
    assert human.part_of(-1) is None
    assert "head" in human
    with pytest.raises(SettingError, match="tail"):
        human["tail"]
    with pytest.raises(SettingError, match="tail"):
        Human({"tail": 0})
    assert pickle.loads(pickle.dumps(human)) == human
    assert list(human.nodes) == [part for part in PARTS if part in human.nodes]


def test_other_side() -> None:
    assert other_side("leftHand") == "rightHand"
    assert other_side("rightThumbDistal") == "leftThumbDistal"
    assert other_side("head") == "head"
    assert {other_side(part) for part in PARTS} == set(PARTS)


WORDS = [n for names in SCHEMES.values() for n in names.values()]


@settings(max_examples=60)
@given(st.integers(0, 12), st.integers(0, 2**31), st.data())
def test_any_tree_with_such_names(count: int, seed: int, data: st.DataObject) -> None:
    """No tree breaks it, and what it says holds in the tree."""
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, count)
    names = tuple(data.draw(st.sampled_from(WORDS)) for _ in range(count))
    parts = (skeleton.translations, skeleton.rotations, skeleton.scales)
    human = find_human(Skeleton(names, skeleton.parents, *parts))
    assert len(set(human.nodes.values())) == len(human.nodes)
    for side in ("left", "right"):
        for upper, lower in (("UpperArm", "LowerArm"), ("LowerLeg", "Foot")):
            if side + lower in human:
                node = human[side + lower]
                while node != human[side + upper]:
                    node = int(skeleton.parents[node])
                    assert node >= 0
