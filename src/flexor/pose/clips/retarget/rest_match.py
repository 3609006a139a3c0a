"""How two skeletons stand to each other at rest: axes, size, limbs, ground."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations, product

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import MAIN_PARTS, Human

__all__ = [
    "SAME_SHAPE",
    "align_limbs",
    "closest_turn",
    "common_axes",
    "is_sure",
    "leg_length",
    "size_ratio",
    "turn_between",
    "up_axis",
]


SAME_SHAPE = 0.02  # of the size: so close, and one is the other, turned
LINE = 0.02  # how far from a line points are, of its length, that are no more than one
UNSURE = 0.5  # of the size: so far off, and it is not one shape in two poses
MOST_TILT = 40.0  # degrees from an axis of the world that are a matter of pose
MOST_PITCH = 35.0  # degrees between the feet of two who stand flat
SIDES = ("left", "right")


def common_axes(source: Doubles, target: Doubles, trunk: Sequence[int] = ()) -> Doubles:
    """The turn (3, 3) from axes of the source to those of the target.

    source, target: (P, 3), where the same joints are at rest; trunk: rows of joints
    that stand as they do in any pose. The turn that brings all of one to the other, if
    one does; else the one that brings the trunk closest, at a multiple of a right angle
    if it is near one: poses differ, upright is upright.
    """
    turn, gap = closest_turn(source, target)
    if gap < SAME_SHAPE:
        return turn
    if len(trunk) > 2:
        rows = list(trunk)
        turn, _ = closest_turn(source[rows], target[rows])
    near = max(_right_angles(), key=lambda other: float((other * turn).sum()))
    angle = exact.acos(np.clip(((near * turn).sum() - 1) / 2, -1, 1))
    return near if np.degrees(angle) <= MOST_TILT else turn


def is_sure(source: Doubles, target: Doubles) -> bool:
    """Whether joints (P, 3) at rest tell how two skeletons stand to each other."""
    turn, gap = closest_turn(source, target)
    if gap < SAME_SHAPE:
        return True
    away = source - source.mean(0)
    spread = np.sqrt(exact.svd(exact.multiply(away.T, away))[1])
    is_line = spread[1] < 5 * LINE * spread[0]
    near = common_axes(source, target)
    angle = exact.acos(np.clip(((near * turn).sum() - 1) / 2, -1, 1))
    is_turned = np.degrees(angle) <= MOST_TILT
    return len(source) > 3 and gap < UNSURE and not is_line and bool(is_turned)


def closest_turn(source: Doubles, target: Doubles) -> tuple[Doubles, float]:
    """The turn (3, 3) that brings points (P, 3) closest to others, and how close.

    Whatever their sizes and places are (Kabsch 1976).
    """
    a, b = source - source.mean(0), target - target.mean(0)
    sizes = exact.norm(a), exact.norm(b)
    if not min(sizes) > 0:
        return np.eye(3), 0.0
    a, b = a / sizes[0], b / sizes[1]
    left, values, right = exact.svd(exact.multiply(b.T, a))
    # These values are squares of how far points are spread.
    if values[1] < LINE * LINE * values[0]:  # no more is known than where a line points
        turn = turn_between(right[0], left[:, 0])
    else:
        sign = np.sign(exact.det(exact.multiply(left, right)))
        turn = exact.multiply(exact.multiply(left, np.diag([1.0, 1.0, sign])), right)
    return turn, float(exact.norm(exact.multiply(a, turn.T) - b))


def _right_angles() -> Iterator[Doubles]:
    """The 24 turns that take axes to axes."""
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[range(3), order] = signs
            if exact.det(turn) > 0:
                yield turn


def turn_between(start: Doubles, end: Doubles) -> Doubles:
    """The shortest turn (3, 3) that takes direction start (3,) to end (3,)."""
    sizes = float(exact.norm(start) * exact.norm(end))
    if not sizes > 0:
        return np.eye(3)
    a, b = start / exact.norm(start), end / exact.norm(end)
    cosine = float(exact.multiply(a, b))
    if cosine < -1 + 1e-9:  # half a turn, about any axis across
        axis = np.eye(3)[int(np.argmin(np.abs(a)))]
        axis = np.cross(a, axis)
        axis /= exact.norm(axis)
        return 2 * np.outer(axis, axis) - np.eye(3)
    x, y, z = np.cross(a, b)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn: Doubles = np.eye(3) + k + exact.multiply(k, k) / (1 + cosine)
    return turn


def up_axis(places: Doubles, human: Human | None) -> Doubles:
    """The axis of the world (3,) that points from the feet of a human to its head.

    places: (J, 3), at rest. Y where there is no human.
    """
    if human is not None and "head" in human:
        feet = [human[p] for p in MAIN_PARTS if p.endswith("Leg") and p in human]
        if feet:
            way = places[human["head"]] - places[feet].mean(0)
            axis = int(np.argmax(np.abs(way)))
            up = np.zeros(3)
            up[axis] = 1.0 if way[axis] > 0 else -1.0
            return up
    return np.array([0.0, 1.0, 0.0])


def leg_length(places: Doubles, human: Human | None) -> float:
    """Metres from hip joint over knee to ankle, of both legs in the middle; or 0."""
    lengths = []
    for side in SIDES:
        parts = [f"{side}{part}" for part in ("UpperLeg", "LowerLeg", "Foot")]
        if human is None or any(part not in human for part in parts):
            return 0.0
        line = places[[human[part] for part in parts]]
        lengths.append(float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum()))
    return float(np.mean(lengths))


def size_ratio(
    places: tuple[Doubles, Doubles],
    humans: tuple[Human, Human] | None,
    pairs: Mapping[int, int],
) -> float:
    """How much larger the target is: by legs, else by the spread of the joints.

    places: (J, 3) of source and target at rest; pairs: source by target.
    """
    if humans is not None:
        legs = [leg_length(*one) for one in zip(places, humans, strict=True)]
        if min(legs) > 0:
            return legs[1] / legs[0]
    one = places[0][list(pairs.values())]
    other = places[1][list(pairs)]
    spreads = [float(exact.norm(at - at.mean(0))) for at in (one, other)]
    return spreads[1] / spreads[0] if min(spreads) > 0 else 1.0


def align_limbs(
    skeletons: tuple[Skeleton, Skeleton],
    places: tuple[Doubles, Doubles],
    humans: tuple[Human, Human],
    axes: Doubles,
    up: Doubles,
) -> dict[int, Doubles]:
    """Turns (3, 3) by which limbs of the target point as the source's do at rest.

    skeletons, places, humans: of source and target, places (J, 3) at rest; axes: (3,
    3), target from source; up: (3,), of the target. By node of the target; what is
    below takes its limb's turn along. Trunk, neck and shoulders stay: where their
    joints are is a matter of taste.
    """
    other = humans[1]
    found: dict[int, Doubles] = {}

    def ways(one: str, two: str) -> tuple[Doubles, Doubles] | None:
        a, b = (
            _way(skeletons[row], places[row], humans[row], one, two) for row in (0, 1)
        )
        return None if a is None or b is None else (exact.multiply(axes, a), b)

    for side in SIDES:
        for limb in (
            ("UpperArm", "LowerArm", "Hand", "MiddleProximal"),
            ("UpperLeg", "LowerLeg", "Foot"),
        ):
            turn = np.eye(3)
            for one, two in pairwise(limb):
                way = ways(side + one, side + two)
                if way is not None:
                    turn = exact.multiply(
                        turn_between(exact.multiply(turn, way[1]), way[0]), turn
                    )
                if side + one in other:
                    found[other[side + one]] = turn
        if f"{side}Foot" in other:
            way = ways(f"{side}Foot", f"{side}Toes")
            turn = np.eye(3) if way is None else _foot_turn(*way, up)
            found[other[f"{side}Foot"]] = turn
    target = skeletons[1]
    for node in target.order.tolist():  # what hangs on a limb goes with it
        above = int(target.parents[node])
        if node not in found and above in found:
            found[node] = found[above]
    return found


def _way(
    skeleton: Skeleton, places: Doubles, human: Human, one: str, two: str
) -> Doubles | None:
    """From a part to the next (3,), None where that is not known.

    A lower arm without a hand points to the middle of what hangs on it.
    """
    if one not in human:
        return None
    if two in human:
        end = places[human[two]]
    elif one.endswith(("LowerArm", "LowerLeg")):
        below = skeleton.children(human[one])
        if not below:
            return None
        end = places[below].mean(0)
    else:
        return None
    way: Doubles = end - places[human[one]]
    return way if exact.norm(way) > 1e-9 else None


def _foot_turn(source: Doubles, target: Doubles, up: Doubles) -> Doubles:
    """The turn of a foot: only its heading, if both stand flat.

    How far the ankle is above the toes says nothing about the sole.
    """
    pitches = [
        np.degrees(
            exact.asin(np.clip(exact.multiply(way, up) / exact.norm(way), -1, 1))
        )
        for way in (source, target)
    ]
    if abs(pitches[0] - pitches[1]) > MOST_PITCH:
        return turn_between(target, source)
    flat = [way - exact.multiply(way, up) * up for way in (target, source)]
    return turn_between(*flat)
