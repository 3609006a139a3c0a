"""What the name of a node says of a human body: words, sides and numbers.

Rigs name the same few parts in many ways: `mixamorig:LeftForeArm`, `forearm.L`,
`lowerarm_l`, `Bip01 L Forearm`, `J_Bip_L_LowerArm`. A name is split into words, which
are looked up; a name with a word that is not known says nothing, so that a mesh called
`Knight_Head` is not taken for a head. Which part of the body a node is, is decided with
the tree, in `humans`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["FINGERS", "Said", "read_names"]

FINGERS = ("thumb", "index", "middle", "ring", "little")
# Other spellings of a word, and words that hold two.
_SAME = {
    "up": "upper",
    "lo": "lower",
    "low": "lower",
    "fore": "lower",
    "upperarm": "upper arm",
    "uparm": "upper arm",
    "humerus": "upper arm",
    "lowerarm": "lower arm",
    "loarm": "lower arm",
    "forearm": "lower arm",
    "elbow": "lower arm",
    "upperleg": "upper leg",
    "upleg": "upper leg",
    "thigh": "upper leg",
    "femur": "upper leg",
    "lowerleg": "lower leg",
    "loleg": "lower leg",
    "calf": "lower leg",
    "shin": "lower leg",
    "knee": "lower leg",
    "tibia": "lower leg",
    "hip": "hips",
    "pelvis": "hips",
    "torso": "spine",
    "chest": "spine",
    "upperchest": "spine",
    "abdomen": "spine",
    "waist": "spine",
    "back": "spine",
    "lowerback": "spine",
    "trunk": "spine",
    "collar": "clavicle",
    "collarbone": "clavicle",
    "shldr": "shoulder",
    "wrist": "hand",
    "fist": "hand",
    "ankle": "foot",
    "talocrural": "foot",
    "toes": "toe",
    "toebase": "toe",
    "ball": "toe",
    "pinky": "little",
    "pinkie": "little",
    "prox": "proximal",
    "int": "intermediate",
    "inter": "intermediate",
    "dist": "distal",
    "lft": "left",
    "rgt": "right",
}
# Words that say nothing of the part.
_IDLE = frozenset(
    "joint joints jnt jt bone bn bip def skeleton armature rig character "
    "mixamorig valvebiped biped cc base phalanx phalange bend bind mid".split()
)
# Words of nodes that are no part of the body, but hang on it or move it.
_ASIDE = frozenset(
    "ik fk pole target control ctrl ctl mch org vis wgt tweak roll twist end leaf null "
    "nub tip top site slot helper dummy offset master orient".split()
)
_JOINTS = ("metacarpal", "proximal", "intermediate", "distal")
_BODY = frozenset(
    "upper lower arm leg hips spine clavicle shoulder hand foot toe neck head eye jaw "
    "finger left right l r".split()
) | frozenset((*FINGERS, *_JOINTS))
_LETTERS = frozenset("bjf")  # say nothing where a name begins
_KNOWN = _BODY | _IDLE | _ASIDE | frozenset(_SAME)
_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
# What the words of a name must be, beside sides and numbers, to say a kind of part.
_KINDS: dict[frozenset[str], str] = {
    frozenset(words.split()): kind
    for words, kind in (
        ("upper arm", "upper arm"),
        ("lower arm", "lower arm"),
        ("arm", "arm"),
        ("clavicle", "shoulder"),
        ("shoulder", "shoulder"),
        ("hand", "hand"),
        ("upper leg", "upper leg"),
        ("lower leg", "lower leg"),
        ("leg", "leg"),
        ("foot", "foot"),
        ("toe", "toe"),
        ("foot toe", "toe"),
        ("hips", "hips"),
        ("spine", "spine"),
        ("upper spine", "spine"),
        ("lower spine", "spine"),
        ("neck", "neck"),
        ("upper neck", "neck"),
        ("lower neck", "neck"),
        ("head", "head"),
        ("eye", "eye"),
        ("jaw", "jaw"),
    )
}
# Letters by the case in which they stand, or a number.
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# What 3ds Max, Source, VRoid, HumanIK and Mixamo put before names.
_PREFIX = re.compile(
    r"^(?:valvebiped\W*)?(?:j_)?bip\d*(?:_c_)?|^(?:character|mixamorig)\d+",
    re.IGNORECASE,
)
MOST_LETTERS = 200  # of a name: more is no name of a joint
COMMON = 0.6  # of all names begin with a word that then says nothing


@dataclass(frozen=True, slots=True)
class Said:
    """What a name says.

    kind: "upper arm", "arm" (either), "spine", a finger such as "index" and so on, ""
    where it says nothing known; side: "left", "right" or ""; joint: of a finger,
    "proximal" and so on, or ""; number: of a finger's joint as written, -1 where there
    is none; is_deform: it is marked as one of the joints that pull the skin, among
    others of the same name (Rigify).
    """

    kind: str = ""
    side: str = ""
    joint: str = ""
    number: int = -1
    is_deform: bool = False


def read_names(names: Sequence[str]) -> list[Said]:
    """What each of the names of a skeleton says, in their order."""
    split = [_split(name) for name in names]
    firsts = Counter(pieces[0] for pieces in split if pieces)
    idle = ""
    for word, count in firsts.most_common(1):
        if count > COMMON * len(names) and count > 8 and word not in _KNOWN:
            idle = word
    return [
        _read(name, pieces, idle) for name, pieces in zip(names, split, strict=True)
    ]


def _split(name: str) -> list[str]:
    """The words and numbers of a name, small letters."""
    own = re.split(r"[:|]", name)[-1]
    if len(own) > MOST_LETTERS or own.startswith("__"):  # a spacer of MakeHuman's
        return []
    own = _PREFIX.sub("", own)
    words: list[str] = []
    for piece in _PIECE.findall(own):
        word = piece.lower()
        if word in _KNOWN or word.isdigit():
            words.append(word)
            continue
        for side in ("left", "right", "l", "r"):
            rest = word.removeprefix(side)
            if rest != word and rest in _KNOWN and len(rest) > 2:
                words += [side, rest]
                break
        else:
            words.append(word)
    return words


def _read(name: str, pieces: list[str], idle: str) -> Said:
    """What one name says."""
    numbers = [piece for piece in pieces if piece.isdigit()]
    words = [
        word
        for piece in pieces
        if not piece.isdigit()
        for word in _SAME.get(piece, piece).split()
    ]
    while words and (words[0] == idle or words[0] in _LETTERS | _IDLE):
        words = words[1:]
    sides = {_SIDES[word] for word in words if word in _SIDES}
    left = [word for word in words if word not in _SIDES and word not in _IDLE]
    if not left or len(sides) > 1 or any(word not in _BODY for word in left):
        return Said()
    side = sides.pop() if sides else ""
    is_deform = name.startswith("DEF-")
    said = frozenset(left)
    if said in _KINDS:
        kind = _KINDS[said]
        is_middle = kind in ("spine", "neck", "head", "jaw")
        if kind != "hips" and is_middle == bool(side):
            return Said()
        return Said(kind, side, is_deform=is_deform)
    return _read_finger(said, side, numbers, is_deform)


def _read_finger(
    said: frozenset[str], side: str, numbers: list[str], is_deform: bool
) -> Said:
    """What the name of a finger says, of words that are all known."""
    joints = [joint for joint in _JOINTS if joint in said]
    named = [finger for finger in FINGERS if finger in said]
    rest = said - {"hand", "finger"} - set(joints) - set(named)
    if not side or rest or len(named) > 1 or len(joints) > 1:
        return Said()
    joint = joints[0] if joints else ""
    if named:
        number = int(numbers[0]) if numbers else -1
        return Said(named[0], side, joint, number, is_deform)
    if "finger" not in said or not numbers or joint:
        return Said()
    first = numbers[0]
    if len(numbers) > 1 and len(numbers[1]) < 3:  # finger2-1: the second, its first
        finger, number = int(first) - 1, int(numbers[1])
    else:  # Finger21: the second after the thumb (0), its second joint
        finger, number = int(first[0]), int(first[1:] or 0) + 1
    if not 0 <= finger < len(FINGERS):
        return Said()
    return Said(FINGERS[finger], side, "", number, is_deform)
