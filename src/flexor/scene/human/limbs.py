"""Arms, legs and fingers among the nodes of a skeleton, by name and tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import chain, children_of, upward
from flexor.scene.human.words import FINGERS, Said

__all__ = ["FINGER", "THUMB", "Tree", "find_arm", "find_fingers", "find_leg"]

THUMB = ("Metacarpal", "Proximal", "Distal")
FINGER = ("Proximal", "Intermediate", "Distal")


class Tree:
    """Questions about who stands above whom."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.parents: list[int] = skeleton.parents.tolist()
        self.children = children_of(self.parents)
        self.places: NDArray[np.float64] = rest_world(skeleton)[:, :, 3]

    def line(self, node: int) -> list[int]:
        """From the root down to the node, both included."""
        return list(upward(self.parents, node))[::-1]

    def below(self, node: int, top: int) -> list[int]:
        """From `top` down to `node`, without `top`; empty where it is not above."""
        return chain(self.parents, top, node)[1:]

    def meet(self, nodes: Sequence[int]) -> int:
        """The lowest node that all hang on, one of them perhaps; -1: none."""
        lines = [self.line(node) for node in nodes]
        last = -1
        for level in zip(*lines, strict=False):
            if len(set(level)) > 1:
                break
            last = level[0]
        return last


def _sequences(
    tree: Tree, said: Sequence[Said], side: str, kinds: Sequence[str]
) -> list[list[int]]:
    """Nodes of such kinds that hang on each other, from the top, for each lowest."""
    among = [
        node for node, one in enumerate(said) if one.side == side and one.kind in kinds
    ]
    found = set(among)
    return [[up for up in tree.line(node) if up in found] for node in among]


def _first(said: Sequence[Said], line: Sequence[int], *kinds: str) -> int | None:
    """The first node of such a kind on a line."""
    return next((node for node in line if said[node].kind in kinds), None)


def _after(line: list[int], node: int | None) -> list[int]:
    return line if node is None else line[line.index(node) + 1 :]


def _sureness(said: Sequence[Said], parts: Mapping[str, int]) -> tuple[int, int]:
    """How much of a limb there is, and how much of it has a name of its own."""
    plain = sum(said[node].kind in ("arm", "leg") for node in parts.values())
    return len(parts), -plain


def find_arm(tree: Tree, said: Sequence[Said], side: str) -> dict[str, int]:
    """Shoulder, upper arm, lower arm and hand of a side."""
    kinds = ("shoulder", "arm", "upper arm", "lower arm", "hand")
    best: dict[str, int] = {}
    for line in _sequences(tree, said, side, kinds):
        best = max(best, _label_arm(said, line), key=lambda one: _sureness(said, one))
    return {side + part: node for part, node in best.items()}


def _label_arm(said: Sequence[Said], line: list[int]) -> dict[str, int]:
    """The parts of an arm by the kinds of the nodes on it."""
    lower = _first(said, line, "lower arm")
    upper = _first(said, line, "upper arm")
    arms = [node for node in line if said[node].kind == "arm"]
    hand = _first(said, _after(line, lower), "hand")
    if lower is not None:
        above = line[: line.index(lower)]
        upper = _first(said, above, "upper arm")
        if upper is None:
            upper = _first(said, above, "arm")
        if upper is None:  # named by joints: shoulder, elbow, wrist
            shoulders = [node for node in above if said[node].kind == "shoulder"]
            upper = shoulders[-1] if shoulders else None
    elif upper is not None:
        lower = _first(said, _after(line, upper), "arm")
    elif arms:  # numbered: the hand is one of them if there is none of that name
        if len(arms) > 3 or (len(arms) > 2 and hand is not None):
            return {}
        upper, lower = arms[0], (arms[1] if len(arms) > 1 else None)
        hand = arms[2] if len(arms) > 2 else hand
    shoulder = None
    if upper is not None:
        above = line[: line.index(upper)]
        shoulder = _first(said, above, "shoulder")
    elif lower is None:
        shoulder = _first(said, line, "shoulder")
    if upper is None and lower is not None:
        lower = hand = None  # a lower arm hangs on an upper one
    if hand is not None and lower is None and upper is not None:
        hand = None
    found = {"Shoulder": shoulder, "UpperArm": upper, "LowerArm": lower, "Hand": hand}
    return {part: node for part, node in found.items() if node is not None}


def find_leg(tree: Tree, said: Sequence[Said], side: str) -> dict[str, int]:
    """Upper leg, lower leg, foot and toes of a side."""
    kinds = ("hips", "leg", "upper leg", "lower leg", "foot", "toe")
    best: dict[str, int] = {}
    toes: set[int] = set()
    for line in _sequences(tree, said, side, kinds):
        parts = _label_leg(said, line)
        if "Toes" in parts:
            toes.add(parts["Toes"])
        best = max(best, parts, key=lambda one: _sureness(said, one))
    if len(toes) > 1:  # one joint or more for each toe: none is all of them
        best.pop("Toes", None)
    return {side + part: node for part, node in best.items()}


def _label_leg(said: Sequence[Said], line: list[int]) -> dict[str, int]:
    """The parts of a leg by the kinds of the nodes on it."""
    lower = _first(said, line, "lower leg")
    upper = _first(said, line, "upper leg")
    legs = [node for node in line if said[node].kind == "leg"]
    if lower is not None:
        above = line[: line.index(lower)]
        upper = _first(said, above, "upper leg")
        if upper is None:
            upper = _first(said, above, "leg")
        if upper is None:  # named by joints: hip, knee, ankle
            upper = _first(said, above, "hips")
    elif upper is not None:
        lower = _first(said, _after(line, upper), "leg")
    elif 1 <= len(legs) <= 4:
        upper, lower = legs[0], (legs[1] if len(legs) > 1 else None)
    if upper is None or lower is None:
        return {} if upper is None else {"UpperLeg": upper}
    rest = _after(line, lower)
    foot, toe = _first(said, rest, "foot"), None
    if foot is None and len(legs) > 2 and lower == legs[1]:
        foot = legs[2]
        toe = legs[3] if len(legs) > 3 else None
    if foot is not None and toe is None:
        toe = _first(said, _after(line, foot), "toe")
    found = {"UpperLeg": upper, "LowerLeg": lower, "Foot": foot, "Toes": toe}
    return {part: node for part, node in found.items() if node is not None}


def find_fingers(
    tree: Tree, said: Sequence[Said], side: str, nodes: Mapping[str, int]
) -> dict[str, int]:
    """The joints of the fingers that hang on a hand, or a lower arm without one."""
    anchor = nodes.get(f"{side}Hand", nodes.get(f"{side}LowerArm"))
    if anchor is None:
        return {}
    found: dict[str, int] = {}
    for finger in FINGERS:
        order = THUMB if finger == "thumb" else FINGER
        own = [
            node
            for node, one in enumerate(said)
            if one.kind == finger and one.side == side
        ]
        word = f"{side}{finger.capitalize()}"
        worded = {said[node].joint: node for node in own if said[node].joint}
        if any(joint != "metacarpal" for joint in worded):
            joints = {
                joint: worded[joint.lower()]
                for joint in order
                if joint.lower() in worded
            }
        else:
            own = [node for node in own if not said[node].joint or finger == "thumb"]
            joints = _count_finger(tree, said, own, anchor, order)
        found |= {word + joint: node for joint, node in joints.items()}
    return found


def _count_finger(
    tree: Tree,
    said: Sequence[Said],
    own: list[int],
    anchor: int,
    order: Sequence[str],
) -> dict[str, int]:
    """The joints of a finger by their place on the way from the hand."""
    own = [node for node in own if tree.below(node, anchor)]
    if not own:
        return {}
    longest = max((tree.line(node) for node in own), key=len)
    chain = [node for node in longest if node in own]
    if len(chain) != len(own) or len(chain) > 4:
        return {}
    if len(chain) == 4:  # a bone within the palm, or a tip
        chain = chain[1:] if said[chain[0]].number == 0 else chain[:3]
    if len(chain) < 3 and order is THUMB:  # lacks the one within the palm
        return dict(zip(order[1:], chain, strict=False))
    return dict(zip(order, chain, strict=False))
