"""How far the joints of a human body turn.

The ranges are those that textbooks of joint measurement give for healthy adults, in
round numbers, and wider where walking, running and jumping of real captures need it.
They are of the body; what a file's joints may turn from their rest follows from how
the body stands at rest: arms that hang 45 degrees below the horizontal may be raised 45
degrees further, and an elbow that is bent a little may be bent so much less.

The axes of a bone: X along it; Z such that turning about it by a positive angle bends
the joint the usual way (knee backward, elbow forward, fingers to the palm, hip, spine
and neck forward, ankle and toes upward, arms up). In words for the left side, Y and X:

| bone | Y positive | X positive |
|---|---|---|
| upper arm, shoulder | backward | turned inward |
| lower arm | upward (T-pose) | palm down and back |
| hand, fingers | to the thumb | as the lower arm |
| upper leg, foot | outward | inward; foot: outer edge up |
| lower leg | inward | turned inward |
| spine, neck, head | to the right | to the left |

On the right side the ranges about Y and X change their signs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.pose.ik.human_frames import (
    FINGERS,
    Body,
    bone_direction,
    chain_directions,
    measure_body,
    palm,
)
from flexor.scene.character.bone_frames import bone_frame, node_axes, square
from flexor.scene.character.limits import FREE, Limits
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import Human, find_human

__all__ = ["human_limits"]

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Reach:
    """Degrees about Z, Y and X, and degrees a second."""

    z: Range
    y: Range
    x: Range
    rate: float


# Of the left side and the middle, from the positions named here: arms level, legs
# straight down, elbows, knees, wrists and fingers straight, the foot as at rest.
_REACH = {
    "Shoulder": _Reach((-20, 45), (-35, 30), (-30, 30), 1000),
    "UpperArm": _Reach((-130, 105), (-90, 75), (-180, 100), 2000),
    "LowerArm": _Reach((-5, 150), (-15, 30), (-90, 90), 2000),
    "Hand": _Reach((-75, 85), (-40, 30), (-45, 45), 2000),
    "UpperLeg": _Reach((-40, 130), (-40, 60), (-55, 55), 2000),
    "LowerLeg": _Reach((-5, 155), (-15, 15), (-30, 30), 2000),
    "Foot": _Reach((-65, 45), (-35, 35), (-40, 40), 2000),
    "Toes": _Reach((-45, 85), (-20, 20), (-15, 15), 2000),
    "Eye": _Reach((-30, 30), (-40, 40), (-5, 5), 1000),
    "Proximal": _Reach((-30, 100), (-30, 30), (-25, 25), 2000),
    "Intermediate": _Reach((-10, 115), (-10, 10), (-10, 10), 2000),
    "Distal": _Reach((-15, 95), (-10, 10), (-10, 10), 2000),
    "ThumbMetacarpal": _Reach((-45, 60), (-55, 55), (-60, 60), 2000),
    "ThumbProximal": _Reach((-25, 75), (-20, 20), (-20, 20), 2000),
    "ThumbDistal": _Reach((-30, 90), (-15, 15), (-10, 10), 2000),
}
_JAW = _Reach((-3, 35), (-10, 10), (-5, 5), 1000)
# Of the whole trunk and of neck and head together; each of their joints has a share.
_TRUNK = _Reach((-40, 80), (-40, 40), (-55, 55), 1000)
_NECK = _Reach((-65, 65), (-50, 50), (-85, 85), 1000)
MORE = 1.5  # of an even share: joints of a chain do not all bend alike
# Nodes between two parts, or in the palm and the foot: they give, but do not bend.
_ROLL = _Reach((-10, 10), (-10, 10), (-70, 70), 2000)
_GIVE = _Reach((-20, 20), (-15, 15), (-15, 15), 1000)
# An arm never points along the axis about which it is raised, or two of its angles
# would be one: forward and upward lies in reach, but is seldom used.
ARM_TILT = 15.0
BENT = 5.0  # degrees: an elbow or knee bent so far shows its own axis


def human_limits(skeleton: Skeleton, human: Human | None = None) -> Limits:
    """Limits for the joints of a skeleton that are parts of a human body.

    human: which they are, None to find them by name. All other joints are free. The
    rest pose is inside, also where it is none that a body could take.
    """
    found = find_human(skeleton) if human is None else human
    nodes = [*found.nodes.values(), *found.trunk, *found.necks]
    nodes += [node for line in found.rolls.values() for node in line]
    if any(not 0 <= node < len(skeleton) for node in nodes):
        raise SettingError(f"human: names nodes beyond the {len(skeleton)} there are")
    body = measure_body(skeleton, found)
    sheet = _Sheet(skeleton)
    if body.has_axes:
        _limit_middle(sheet, body)
        for side in ("left", "right"):
            _limit_arm(sheet, body, side)
            _limit_leg(sheet, body, side)
    for side in ("left", "right"):
        _limit_hand(sheet, body, side)
    return sheet.limits()


class _Sheet:
    """Limits as they are put together."""

    def __init__(self, skeleton: Skeleton) -> None:
        count = len(skeleton)
        self.axes = node_axes(skeleton)
        self.frames = np.tile(np.array([0.0, 0, 0, 1]), (count, 1))
        self.high = np.tile(np.array(FREE), (count, 1))
        self.low = -self.high
        self.rates = np.full(count, np.inf)

    def put(
        self,
        node: int,
        along: Doubles,
        bend: Doubles,
        reach: _Reach,
        *,
        is_right: bool = False,
        z: float = 0.0,
        y: float = 0.0,
    ) -> None:
        """Limit a node; z, y: degrees of its rest in the terms of the reach.

        along: where the bone points; bend: where it goes when it bends; both (3,) of
        model space.
        """
        linear = self.axes[node]
        if not abs(exact.det(linear)) > 0:
            return  # flattened: nothing there can turn
        self.frames[node] = bone_frame(linear, along, bend)
        # In a mirrored space, as on the right side, Y and X turn the other way.
        is_flipped = is_right != (exact.det(linear) < 0)
        across, twist = _moved(reach.y, y), reach.x
        if is_flipped:
            across, twist = (-across[1], -across[0]), (-twist[1], -twist[0])
        ranges = (_moved(reach.z, z), across, twist)
        most = np.degrees(FREE)
        for column, (low, high) in enumerate(ranges):
            end = most[column]
            self.low[node, column] = math.radians(max(min(low, 0.0), -end))
            self.high[node, column] = math.radians(min(max(high, 0.0), end))
        self.rates[node] = math.radians(reach.rate)

    def limits(self) -> Limits:
        return Limits(self.frames, self.low, self.high, self.rates)


def _moved(one: Range, by: float) -> Range:
    return one[0] - by, one[1] - by


def _shared(reach: _Reach, count: int) -> _Reach:
    """What each of several joints of a chain may turn."""
    part = min(1.0, MORE / max(count, 1))
    z, y, x = ((part * low, part * high) for low, high in (reach.z, reach.y, reach.x))
    return _Reach(z, y, x, reach.rate)


def _limit_middle(sheet: _Sheet, body: Body) -> None:
    """Trunk, neck, head and jaw; the hips carry the body and are free."""
    human, up = body.human, body.up
    trunk, necks = human.trunk, list(human.necks)
    if "head" in human:
        necks.append(human["head"])
    ways = chain_directions(body, [*trunk, *necks], up)
    reaches = [_shared(_TRUNK, len(trunk))] * len(trunk)
    reaches += [_shared(_NECK, len(necks))] * len(necks)
    for node, way, reach in zip([*trunk, *necks], ways, reaches, strict=True):
        sheet.put(node, way, body.forward, reach)
    if "jaw" in human:
        sheet.put(human["jaw"], body.forward, -up, _JAW)
    for side in ("left", "right"):
        if f"{side}Eye" in human:
            part = f"{side}Eye"
            reach = _REACH["Eye"]
            sheet.put(
                human[part], body.forward, up, reach, is_right=_is_right(body, part)
            )


def _is_right(body: Body, part: str) -> bool:
    """Whether a part is on the right side, whatever it is named."""
    return part.startswith("left") == body.is_swapped


def _angle(one: Doubles, other: Doubles, axis: Doubles) -> float:
    """Degrees from one direction to another about a unit axis."""
    return math.degrees(
        exact.atan2(
            exact.multiply(np.cross(one, other), axis), exact.multiply(one, other)
        )
    )


def _limit_arm(sheet: _Sheet, body: Body, side: str) -> None:
    """Shoulder, upper arm, lower arm, and what lies between."""
    human = body.human
    is_right = _is_right(body, f"{side}Hand")
    out = body.out(f"{side}Hand")
    shoulder = bone_direction(body, f"{side}Shoulder")
    if shoulder is not None:
        node, reach = human[f"{side}Shoulder"], _REACH["Shoulder"]
        sheet.put(node, shoulder, body.up, reach, is_right=is_right)
    upper = bone_direction(body, f"{side}UpperArm")
    if upper is None:
        return
    tilt = math.radians(ARM_TILT)
    pole = exact.cos(tilt) * body.forward + exact.sin(tilt) * body.up
    raised = math.degrees(
        exact.atan2(exact.multiply(upper, body.up), exact.multiply(upper, out))
    )
    swung = math.degrees(
        exact.asin(np.clip(exact.multiply(upper, body.forward), -1, 1))
    )
    # About the pole, such that the left arm goes up: Z of the right one points back.
    bend = np.cross(square(pole, upper), upper) * (-1 if is_right else 1)
    reach = _REACH["UpperArm"]
    node = human[f"{side}UpperArm"]
    sheet.put(node, upper, bend, reach, is_right=is_right, z=raised, y=-swung)
    _limit_rolls(sheet, body, f"{side}UpperArm", upper, bend)
    lower = bone_direction(body, f"{side}LowerArm")
    if lower is not None:
        bend = _limit_hinge(
            sheet, body, f"{side}LowerArm", (upper, lower), body.forward
        )
        _limit_rolls(sheet, body, f"{side}LowerArm", lower, bend)


def _limit_hinge(
    sheet: _Sheet,
    body: Body,
    part: str,
    ways: tuple[Doubles, Doubles],
    bend: Doubles,
) -> Doubles:
    """An elbow or a knee; where it bends to (3,): as it is bent already, or `bend`.

    ways: of the bones above and below it.
    """
    upper, lower = ways
    usual = square(bend, lower)
    apart = math.degrees(exact.acos(np.clip(exact.multiply(upper, lower), -1, 1)))
    if BENT < apart < 180 - BENT:
        own = square(-upper, lower)  # away from the straight line
        if exact.multiply(own, usual) > 0.5:
            usual = own
    bent = _angle(upper, lower, np.cross(lower, usual))
    reach = _REACH[part.removeprefix("left").removeprefix("right")]
    is_right = _is_right(body, part)
    sheet.put(body.human[part], lower, usual, reach, is_right=is_right, z=bent)
    return usual


def _limit_rolls(
    sheet: _Sheet, body: Body, part: str, along: Doubles, bend: Doubles
) -> None:
    """The joints between a part and the next, which take some of its twist."""
    for node in body.human.rolls.get(part, ()):
        sheet.put(node, along, bend, _ROLL, is_right=_is_right(body, part))


def _limit_leg(sheet: _Sheet, body: Body, side: str) -> None:
    """Upper leg, lower leg, foot and toes, and what lies between."""
    human = body.human
    is_right = _is_right(body, f"{side}Foot")
    out = body.out(f"{side}Foot")
    upper = bone_direction(body, f"{side}UpperLeg")
    if upper is None:
        return
    node, reach = human[f"{side}UpperLeg"], _REACH["UpperLeg"]
    bent = math.degrees(
        exact.atan2(
            exact.multiply(upper, body.forward), -exact.multiply(upper, body.up)
        )
    )
    spread = math.degrees(exact.asin(np.clip(exact.multiply(upper, out), -1, 1)))
    sheet.put(node, upper, body.forward, reach, is_right=is_right, z=bent, y=spread)
    _limit_rolls(sheet, body, f"{side}UpperLeg", upper, body.forward)
    lower = bone_direction(body, f"{side}LowerLeg")
    if lower is None:
        return
    bend = _limit_hinge(sheet, body, f"{side}LowerLeg", (upper, lower), -body.forward)
    _limit_rolls(sheet, body, f"{side}LowerLeg", lower, bend)
    if f"{side}Foot" in human:
        foot = bone_direction(body, f"{side}Foot")
        # A foot without toes may have a child below the heel, or none.
        if foot is None or exact.multiply(foot, body.forward) < 0.3:
            foot = square(body.forward, body.up)
        sheet.put(
            human[f"{side}Foot"], foot, body.up, _REACH["Foot"], is_right=is_right
        )
        for node in human.rolls.get(f"{side}Foot", ()):
            sheet.put(node, foot, body.up, _GIVE, is_right=is_right)
    if f"{side}Toes" in human:
        toes = bone_direction(body, f"{side}Toes")
        if toes is None or exact.multiply(toes, body.forward) < 0.3:
            toes = body.forward
        sheet.put(
            human[f"{side}Toes"], toes, body.up, _REACH["Toes"], is_right=is_right
        )


def _limit_hand(sheet: _Sheet, body: Body, side: str) -> None:
    """Wrist, fingers and thumb."""
    human = body.human
    sides = palm(body, side)
    if sides is None:
        return
    inward, thumb = sides
    is_right = _is_right(body, f"{side}Hand")
    lower = bone_direction(body, f"{side}LowerArm")
    hand = bone_direction(body, f"{side}Hand")
    if hand is not None and lower is not None:
        bend = square(inward, hand)
        bent = _angle(lower, hand, np.cross(hand, bend))
        node, reach = human[f"{side}Hand"], _REACH["Hand"]
        sheet.put(node, hand, bend, reach, is_right=is_right, z=bent)
    for finger in ("Thumb", *FINGERS):
        before = hand
        joints = ("Metacarpal", "Proximal", "Intermediate", "Distal")
        for joint in joints:
            part = f"{side}{finger}{joint}"
            way = bone_direction(body, part)
            if way is None:
                way = before
            if part not in human or way is None:
                continue
            if finger == "Thumb":  # to the palm and the little finger
                bend, bent = square(inward - thumb, way), 0.0
                is_first = before is hand
                reach = _REACH["ThumbMetacarpal" if is_first else f"Thumb{joint}"]
            else:
                bend = square(inward, way)
                axis = np.cross(way, bend)
                bent = 0.0 if before is None else _angle(before, way, axis)
                reach = _REACH[joint]
            sheet.put(human[part], way, bend, reach, is_right=is_right, z=bent)
            before = way
