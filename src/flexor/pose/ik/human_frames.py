"""How a body lies in space at rest: its axes, the way its bones point and bend.

All of it is taken from where the joints are, nothing from how a rig's local axes lie:
those differ from tool to tool, the places do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.scene.character.bone_frames import square
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import children_of
from flexor.scene.human.human import Human

__all__ = [
    "Body",
    "bone_direction",
    "chain_directions",
    "measure_body",
    "palm",
]

FINGERS = ("Index", "Middle", "Ring", "Little")
# The part toward which a bone points.
_NEXT = {
    "Shoulder": "UpperArm",
    "UpperArm": "LowerArm",
    "LowerArm": "Hand",
    "UpperLeg": "LowerLeg",
    "LowerLeg": "Foot",
    "Foot": "Toes",
    "ThumbMetacarpal": "ThumbProximal",
    "ThumbProximal": "ThumbDistal",
    **{f"{one}Proximal": f"{one}Intermediate" for one in FINGERS},
    **{f"{one}Intermediate": f"{one}Distal" for one in FINGERS},
}
_STRAIGHT_ON = {
    after: one
    for one, after in _NEXT.items()
    if after.endswith(("Hand", "Proximal", "Intermediate", "Distal"))
}
SURE = 0.01  # of a body's size: toes or knees so far in front tell where that is
UPRIGHT = 30.0  # degrees between trunk and legs of one who stands
SHORT = 1e-6  # of a body's size: joints nearer to each other stand in one place


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A body at rest.

    places: float64 (J, 3), metres; children: of each node; left, up, forward: unit
    vectors (3,), at right angles; has_axes: whether they come from the body, not from
    the world; is_swapped: what is named left is where the right side is; size: metres.
    """

    human: Human
    places: NDArray[np.float64]
    children: tuple[tuple[int, ...], ...]
    left: Doubles
    up: Doubles
    forward: Doubles
    has_axes: bool
    is_swapped: bool
    size: float

    def place(self, part: str) -> Doubles | None:
        """Where a part is (3,), None where there is none."""
        node = self.human.nodes.get(part)
        return None if node is None else self.places[node]

    def out(self, part: str) -> Doubles:
        """From the middle of the body to the side of a part (3,)."""
        return self.left if part.startswith("left") != self.is_swapped else -self.left


def measure_body(skeleton: Skeleton, human: Human) -> Body:
    """The body at the skeleton's rest."""
    places = rest_world(skeleton)[:, :, 3]
    children = children_of(skeleton.parents)
    known = places[list(human.nodes.values())] if human.nodes else np.zeros((1, 3))
    size = float(exact.norm(np.ptp(known, axis=0)))
    left, up, has_axes = _axes(human, places, size)
    forward = np.cross(left, up)
    # Some files name left what is left of the picture.
    is_swapped = bool(exact.multiply(_front(human, places), forward) < -SURE * size)
    if is_swapped:
        left, forward = -left, -forward
    below = tuple(tuple(one) for one in children)
    axes = (left, up, forward, has_axes)
    return Body(human, places, below, *axes, is_swapped, size)


def _front(human: Human, places: NDArray[np.float64]) -> Doubles:
    """What lies in front on a body (3,): toes of feet, else knees of legs, else 0."""
    for low, high, tip in (
        ("Foot", "Foot", "Toes"),
        ("Foot", "UpperLeg", "LowerLeg"),
    ):
        way = np.zeros(3)
        for side in ("left", "right"):
            parts = [side + part for part in (low, high, tip)]
            if any(part not in human for part in parts):
                break
            start, end, there = (places[human[part]] for part in parts)
            way += there - (start + end) / 2
        else:
            return way
    return np.zeros(3)


def _axes(
    human: Human, places: NDArray[np.float64], size: float
) -> tuple[Doubles, Doubles, bool]:
    """Left and up (3,), and whether both come from the body."""
    left = np.zeros(3)
    for pairs in (("UpperArm", "UpperLeg"), ("Shoulder", "LowerLeg", "Eye", "Hand")):
        for part in pairs:
            one, two = f"left{part}", f"right{part}"
            if one in human and two in human:
                left += places[human[one]] - places[human[two]]
        if exact.norm(left) > SHORT * size:
            break
    low = _middle(human, places, ("leftUpperLeg", "rightUpperLeg"), ("hips", "spine"))
    arms = ("leftUpperArm", "rightUpperArm")
    high = _middle(human, places, arms, ("neck", "head", "upperChest", "chest"))
    up = np.zeros(3) if low is None or high is None else high - low
    feet = _middle(human, places, ("leftFoot", "rightFoot"), ())
    if feet is not None and low is not None and high is not None:
        # Of one who stands, the longer line: trunks of captures lean.
        legs = low - feet
        sizes = exact.norm(legs) * exact.norm(up)
        if exact.multiply(legs, up) > exact.cos(math.radians(UPRIGHT)) * sizes:
            up = high - feet
    has_left = bool(exact.norm(left) > SHORT * size)
    if not has_left:
        left = np.array([1.0, 0, 0])
    left /= exact.norm(left)
    up = up - exact.multiply(up, left) * left
    has_up = bool(exact.norm(up) > SHORT * size)
    if not has_up:
        up = square(np.array([0.0, 1, 0]), left)
    up /= exact.norm(up)
    return left, up, has_left and has_up and size > 0


def _middle(
    human: Human,
    places: NDArray[np.float64],
    pair: Sequence[str],
    others: Sequence[str],
) -> Doubles | None:
    """Between two parts, or where the first of others is (3,)."""
    if all(part in human for part in pair):
        middle: Doubles = (places[human[pair[0]]] + places[human[pair[1]]]) / 2
        return middle
    for part in others:
        if part in human:
            place: Doubles = places[human[part]]
            return place
    return None


def bone_direction(body: Body, part: str) -> Doubles | None:
    """The way a bone points at rest, a unit vector (3,); None where nothing tells."""
    human = body.human
    if part not in human:
        return None
    node = human[part]
    side = "left" if part.startswith("left") else "right"
    own = part.removeprefix(side)
    if own == "Hand":
        roots = [
            human[f"{side}{one}Proximal"]
            for one in FINGERS
            if f"{side}{one}Proximal" in human
        ]
        middle = f"{side}MiddleProximal"
        tips = [human[middle]] if middle in human else roots
    elif own in _NEXT and side + _NEXT[own] in human:
        tips = [human[side + _NEXT[own]]]
    else:
        tips = []
    for among in (tips, body.children[node]):
        way = _toward(body, node, among)
        if way is not None:
            return way
    # The last of a finger and a hand without any go on straight; elbows, knees do not.
    before = _STRAIGHT_ON.get(own)
    return None if before is None else bone_direction(body, side + before)


def chain_directions(body: Body, chain: Sequence[int], last: Doubles) -> list[Doubles]:
    """The ways that joints of trunk or neck point; last: the way after the end (3,)."""
    ways = []
    for row, node in enumerate(chain):
        after = chain[row + 1 : row + 2]
        way = _toward(body, node, after) if after else None
        ways.append(last if way is None else way)
    return ways


def _toward(body: Body, node: int, others: Iterable[int]) -> Doubles | None:
    """From a node to the middle of others that stand elsewhere (3,)."""
    ways = [body.places[other] - body.places[node] for other in others]
    ways = [way for way in ways if exact.norm(way) > SHORT * body.size]
    if not ways:
        return None
    way: Doubles = np.mean(ways, axis=0)
    length = float(exact.norm(way))
    return way / length if length > SHORT * body.size else None


def palm(body: Body, side: str) -> tuple[Doubles, Doubles] | None:
    """Where the palm of a hand faces, and toward the thumb's side of it (3,) each.

    From the row of the fingers; where there are fewer than two, from the body: palms
    of arms that are spread face down, of arms that hang inward, and thumbs forward.
    """
    human = body.human
    along = bone_direction(body, f"{side}Hand")
    if along is None:
        along = bone_direction(body, f"{side}LowerArm")
    if along is None:
        return None
    roots = [
        human[f"{side}{one}Proximal"]
        for one in FINGERS
        if f"{side}{one}Proximal" in human
    ]
    row = _toward(body, roots[-1], roots[:1]) if len(roots) > 1 else None
    if row is None:
        if not body.has_axes:
            return None
        row = body.forward
    thumb = square(row, along)
    # Which hand it is, is a matter of where it is, not of its name.
    sign = 1.0 if (side == "left") != body.is_swapped else -1.0
    return sign * np.cross(along, thumb), thumb
