"""Which nodes are which parts of a human body.

Names say what a node may be (`words`), the tree decides: a lower arm hangs on its
upper arm, the hips carry legs and trunk, trunk and neck are counted along the way from
the hips to the head. What is not certain is left out, and `Human.lacks` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from flexor.errors import SettingError
from flexor.maths import exact
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.limbs import (
    FINGER,
    THUMB,
    Tree,
    find_arm,
    find_fingers,
    find_leg,
)
from flexor.scene.human.words import FINGERS, Said, read_names

__all__ = ["MAIN_PARTS", "PARTS", "Human", "find_human", "other_side"]

SIDES = ("left", "right")
_LIMBS = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes Eye".split()
_DIGITS = [
    f"{finger.capitalize()}{joint}"
    for finger in FINGERS
    for joint in (THUMB if finger == "thumb" else FINGER)
]
# The vocabulary: the bones of a VRM humanoid.
PARTS: tuple[str, ...] = (
    *("hips", "spine", "chest", "upperChest", "neck", "head", "jaw"),
    *(f"{side}{part}" for side in SIDES for part in (*_LIMBS, *_DIGITS)),
)
MAIN_PARTS: tuple[str, ...] = (
    *("hips", "spine", "head"),
    *(
        f"{side}{part}"
        for side in SIDES
        for part in _LIMBS
        if part not in ("Shoulder", "Toes", "Eye")
    ),
)
_ARM = ("UpperArm", "LowerArm", "Hand")
_LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
MOST_NAMED = 2000  # nodes named like parts: a body has fewer, a crowd is none
MOST_LEAN = 60.0  # degrees between trunk and legs of one who stands
FAR = 1.0  # of an upper leg: hips are no further from where the legs begin


@dataclass(frozen=True, slots=True)
class Human:
    """The parts of a body and their nodes.

    nodes: node by part, a name of PARTS; trunk: every joint of the trunk above the
    hips, up to where the arms begin; necks: every joint between trunk and head;
    rolls: by part the joints between it and the next of its limb, which take a part of
    its twist; source: "names", "VRM" (the file says it), or why there is nothing.
    """

    nodes: Mapping[str, int] = field(default_factory=dict)
    trunk: tuple[int, ...] = ()
    necks: tuple[int, ...] = ()
    rolls: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    source: str = "names"

    def __post_init__(self) -> None:
        order = {part: row for row, part in enumerate(PARTS)}
        for part in (*self.nodes, *self.rolls):
            if part not in order:
                some = ", ".join(PARTS[:8])
                raise SettingError(f"no part {part!r} of a body; there are {some}, ...")
        for name in ("nodes", "rolls"):
            given = getattr(self, name)
            known = {part: given[part] for part in sorted(given, key=order.__getitem__)}
            object.__setattr__(self, name, MappingProxyType(known))

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (self.trunk, self.necks, dict(self.rolls), self.source)
        return Human, (dict(self.nodes), *rest)

    def __contains__(self, part: str) -> bool:
        return part in self.nodes

    def __getitem__(self, part: str) -> int:
        if part not in self.nodes:
            there = ", ".join(self.nodes) or "nothing"
            raise SettingError(f"no {part!r} was found; there are: {there}")
        return self.nodes[part]

    @property
    def lacks(self) -> tuple[str, ...]:
        """The main parts that were not found."""
        return tuple(part for part in MAIN_PARTS if part not in self.nodes)

    def part_of(self, node: int) -> str | None:
        """The part that a node is, None where it is none."""
        for part, other in self.nodes.items():
            if other == node:
                return part
        return None


def other_side(part: str) -> str:
    """The part across the body: `leftHand` for `rightHand`, itself for `head`."""
    if part.startswith("left"):
        return "right" + part[4:]
    if part.startswith("right"):
        return "left" + part[5:]
    return part


def find_human(skeleton: Skeleton, carried: Mapping[str, Any] | None = None) -> Human:
    """The parts of a human body among the nodes of a skeleton.

    carried: the JSON of a file's top level (`scene.carried`), in which a VRM file says
    which node is which part; that is taken before what the names say.
    """
    tree = Tree(skeleton)
    nodes = _vrm_nodes(carried, len(skeleton)) if carried else {}
    if nodes:
        return _complete(tree, nodes, "VRM")
    said = read_names(skeleton.names)
    if sum(bool(one.kind) for one in said) > MOST_NAMED:
        return Human(source=f"no human: more than {MOST_NAMED} nodes are named so")
    if any(one.is_deform and one.kind for one in said):
        said = [one if one.is_deform else Said() for one in said]
    for side in SIDES:
        nodes |= find_arm(tree, said, side)
        nodes |= find_leg(tree, said, side)
    nodes = _agreeing(said, nodes)
    nodes |= _find_middle(tree, said, nodes)
    for side in SIDES:
        nodes |= find_fingers(tree, said, side, nodes)
    if not nodes:
        return Human(source="no node is named like a part of a human body")
    human = _complete(tree, nodes, "names", said)
    lean = _lean(tree, human)
    if lean > MOST_LEAN:
        return Human(source=f"no human: trunk and legs are {lean:.0f} degrees apart")
    return human


def _find_middle(
    tree: Tree, said: Sequence[Said], limbs: Mapping[str, int]
) -> dict[str, int]:
    """Hips and head, eyes and jaw; trunk and neck lie between (`_complete`)."""
    found: dict[str, int] = {}
    arms = [limbs[part] for part in _both("UpperArm") if part in limbs]
    legs = [limbs[part] for part in _both("UpperLeg") if part in limbs]
    top = tree.meet(arms) if len(arms) == 2 else -1
    head = _find_head(tree, said, top)
    if head is not None:
        found["head"] = head
        for node, one in enumerate(said):
            part = {"eye": f"{one.side}Eye", "jaw": "jaw"}.get(one.kind)
            if part and part not in found and tree.below(node, head):
                found[part] = node
    high = top if top >= 0 else head
    named = [n for n, one in enumerate(said) if one.kind == "hips" and not one.side]
    named = [node for node in named if high is not None and tree.below(high, node)]
    if len(legs) == 2 and high is not None:
        hips = tree.meet([*legs, high])
        if hips >= 0 and _is_near_legs(tree, limbs, hips):
            found["hips"] = hips
        elif named:
            found["hips"] = named[0]
        else:  # loose legs: the lowest of the trunk stands for the hips
            trunk = [node for node in tree.line(high) if said[node].kind == "spine"]
            if len(trunk) > 2 and _is_near_legs(tree, limbs, trunk[0]):
                found["hips"] = trunk[0]
    elif named:
        found["hips"] = named[0]
    return found


def _agreeing(said: Sequence[Said], nodes: Mapping[str, int]) -> dict[str, int]:
    """Without parts whose name could be two, where the other side says which.

    A `leg` is an upper leg where it is the only one, but not where the other side has
    an upper leg of that name.
    """
    plain = {part for part, n in nodes.items() if said[n].kind in ("arm", "leg")}
    return {
        part: node
        for part, node in nodes.items()
        if part not in plain or other_side(part) not in nodes.keys() - plain
    }


def _both(part: str) -> tuple[str, str]:
    return f"left{part}", f"right{part}"


def _is_near_legs(tree: Tree, limbs: Mapping[str, int], node: int) -> bool:
    """Whether a node stands where hips do; a root on the ground does not."""
    legs = [tree.places[limbs[part]] for part in _both("UpperLeg")]
    middle = (legs[0] + legs[1]) / 2
    knees = [tree.places[limbs[p]] for p in _both("LowerLeg") if p in limbs]
    if len(knees) < 2:  # a leg in one piece tells no size
        return bool(np.allclose(tree.places[node], middle, atol=1e-3))
    leg = max(float(exact.norm(k - p)) for k, p in zip(knees, legs, strict=True))
    return float(exact.norm(tree.places[node] - middle)) <= FAR * leg


def _find_head(tree: Tree, said: Sequence[Said], top: int) -> int | None:
    """The head: called so, or else the last of two or more above the arms."""
    heads = [
        node
        for node, one in enumerate(said)
        if one.kind == "head" and (top < 0 or tree.below(node, top))
    ]
    if heads:
        upmost = min(heads, key=lambda node: len(tree.line(node)))
        # Bodies of several heads, or none: only one that is above the others is it.
        same = [node for node in heads if not tree.below(node, upmost)]
        best = [node for node in same if tree.children[node]] or same
        return best[0] if len(best) == 1 or top >= 0 else None
    if top < 0:
        return None
    line: list[int] = []
    node = top
    while True:
        ups = [n for n in tree.children[node] if said[n].kind in ("neck", "spine")]
        if len(ups) != 1:
            break
        node = ups[0]
        line.append(node)
    return line[-1] if len(line) > 1 else None


def _complete(
    tree: Tree, nodes: dict[str, int], source: str, said: Sequence[Said] = ()
) -> Human:
    """With trunk and neck counted along the tree, and the rolls between parts."""
    trunk, necks = _find_trunk(tree, nodes, said)
    if trunk and "spine" not in nodes:
        nodes["spine"] = trunk[0]
        if len(trunk) > 1:
            nodes["chest"] = trunk[len(trunk) // 2 if len(trunk) > 2 else 1]
        if len(trunk) > 2:
            nodes["upperChest"] = trunk[-1]
    if necks and "neck" not in nodes:
        nodes["neck"] = necks[0]
    rolls = {}
    for side in SIDES:
        for limb in (_ARM, _LEG):
            for part, other in pairwise(limb):
                one, two = nodes.get(side + part), nodes.get(side + other)
                if one is not None and two is not None:
                    between = tuple(tree.below(two, one)[:-1])
                    if between:
                        rolls[side + part] = between
    return Human(nodes, tuple(trunk), tuple(necks), rolls, source)


def _find_trunk(
    tree: Tree, nodes: Mapping[str, int], said: Sequence[Said]
) -> tuple[list[int], list[int]]:
    """Joints of the trunk and of the neck, from below."""
    hips, head = nodes.get("hips"), nodes.get("head")
    arms = [nodes[part] for part in _both("UpperArm") if part in nodes]
    top = tree.meet(arms) if len(arms) == 2 else -1
    spines = {n for n, one in enumerate(said) if one.kind == "spine"}
    above = set() if head is None else set(tree.line(head)[:-1])
    necks = {n for n, one in enumerate(said) if one.kind == "neck"}
    if not said:  # the file says it: those it names, and all between
        middle = ("spine", "chest", "upperChest")
        spines = {nodes[part] for part in middle if part in nodes}
        necks = {nodes["neck"]} if "neck" in nodes else set()
    if top < 0:  # no arms: names alone
        line = tree.line(head)[:-1] if head is not None else []
        start = line.index(hips) + 1 if hips in line else 0
        trunk = [node for node in line[start:] if node in spines]
        return trunk if hips is not None else [], [n for n in line if n in necks]
    trunk = tree.below(top, hips) if hips is not None else []
    between = tree.below(head, top)[:-1] if head is not None else []
    named_neck = [n for n in between if n in necks or n in spines]
    return trunk, [node for node in named_neck if node in above]


def _lean(tree: Tree, human: Human) -> float:
    """Degrees between the trunk and the legs' straight line on, 0 where unknown."""
    top = human.nodes.get("head", human.trunk[-1] if human.trunk else None)
    ends = _both("Foot" if "leftFoot" in human else "LowerLeg")
    wanted = (*_both("UpperLeg"), *ends)
    if top is None or any(part not in human for part in wanted):
        return 0.0
    places = [tree.places[human[part]] for part in wanted]
    middle = (places[0] + places[1]) / 2
    up, leg = tree.places[top] - middle, middle - (places[2] + places[3]) / 2
    sizes = float(exact.norm(up) * exact.norm(leg))
    if not sizes > 0:
        return 0.0
    return float(
        np.degrees(exact.acos(np.clip(exact.multiply(up, leg) / sizes, -1, 1)))
    )


def _vrm_nodes(carried: Mapping[str, Any], count: int) -> dict[str, int]:
    """What the VRM extension of a file says, 1.0 or 0.x; what is no good is left."""

    def inside(value: Any, *keys: str) -> Any:
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    given: dict[Any, Any] = {}
    bones = inside(carried, "extensions", "VRMC_vrm", "humanoid", "humanBones")
    if isinstance(bones, Mapping):
        given = {part: inside(bone, "node") for part, bone in bones.items()}
    else:
        bones = inside(carried, "extensions", "VRM", "humanoid", "humanBones")
        for bone in bones if isinstance(bones, list) else []:
            part = inside(bone, "bone")
            if isinstance(part, str):
                given[_new_name(part)] = inside(bone, "node")
    found = {
        part: node
        for part, node in given.items()
        if part in PARTS and type(node) is int and 0 <= node < count
    }
    once = len(set(found.values())) == len(found)  # a node is one part
    return found if once else {}


def _new_name(part: str) -> str:
    """The name in VRM 1.0 of a bone of 0.x, which counts thumbs otherwise."""
    if "Thumb" not in part:
        return part
    side, _, joint = part.partition("Thumb")
    newer = {"Proximal": "Metacarpal", "Intermediate": "Proximal", "Distal": "Distal"}
    return f"{side}Thumb{newer.get(joint, joint)}"
