"""Human limits: which way joints bend, whatever the rig's axes; sides are mirrored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.maths import quaternions, transforms
from flexor.pose.ik.human_frames import bone_direction, measure_body, palm
from flexor.pose.ik.human_limits import human_limits
from flexor.pose.ik.limit_angles import measure_angles, turn_joints
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.human.human import Human, find_human, other_side
from tests.bodies import make_body

UP, FORWARD, LEFT = np.array([0.0, 1, 0]), np.array([0.0, 0, 1]), np.array([1.0, 0, 0])
SIDES = [("left", LEFT), ("right", -LEFT)]


def random_body(rng: np.random.Generator, **options: Any) -> Skeleton:
    """A body whose local axes lie anyhow."""
    return make_body(rotations=lambda count: rng.normal(size=(count, 4)), **options)


def places_of(skeleton: Skeleton, rotations: Any) -> Any:
    """Where the joints are (J, 3), with local rotations (J, 4)."""
    local = transforms.compose(skeleton.translations, rotations, skeleton.scales)
    world = local.copy()
    for node in skeleton.order:
        if skeleton.parents[node] >= 0:
            world[node] = transforms.multiply(
                world[skeleton.parents[node]], local[node]
            )
    return world[:, :, 3]


def moved(
    skeleton: Skeleton, limits: Limits, part: str, axis: str, end: str, tip: str
) -> Any:
    """Which way a tip goes when a part begins to turn to an end of its range, (3,)."""
    human = find_human(skeleton)
    column = "ZYX".index(axis)
    angles = np.zeros((len(skeleton), 3))
    angles[human[part], column] = getattr(limits, end)[human[part], column] / 4
    after = places_of(skeleton, turn_joints(limits, skeleton, angles))
    return (after - rest_world(skeleton)[:, :, 3])[human[tip]]


# Part, axis, end of the range, the tip that moves, which way (o: outward).
MOVES = [
    ("LowerArm", "Z", "high", "Hand", "forward"),
    ("LowerArm", "Y", "high", "Hand", "up"),
    ("UpperArm", "Z", "high", "Hand", "up"),
    ("UpperArm", "Z", "low", "Hand", "down"),
    ("UpperArm", "Y", "low", "Hand", "forward"),
    ("UpperArm", "Y", "high", "Hand", "back"),
    ("Shoulder", "Z", "high", "Hand", "up"),
    ("Shoulder", "Y", "low", "Hand", "forward"),
    ("Hand", "Z", "high", "MiddleDistal", "down"),
    ("Hand", "Z", "low", "MiddleDistal", "up"),
    ("Hand", "Y", "high", "MiddleDistal", "forward"),
    ("LowerArm", "X", "high", "ThumbDistal", "down"),
    ("IndexProximal", "Z", "high", "IndexDistal", "down"),
    ("IndexIntermediate", "Z", "high", "IndexDistal", "down"),
    ("LittleProximal", "Y", "high", "LittleDistal", "forward"),
    ("ThumbProximal", "Z", "high", "ThumbDistal", "down"),
    ("UpperLeg", "Z", "high", "LowerLeg", "forward"),
    ("UpperLeg", "Z", "low", "LowerLeg", "back"),
    ("UpperLeg", "Y", "high", "LowerLeg", "out"),
    ("UpperLeg", "Y", "low", "LowerLeg", "in"),
    ("UpperLeg", "X", "high", "Toes", "in"),
    ("LowerLeg", "Z", "high", "Foot", "back"),
    ("Foot", "Z", "high", "Toes", "up"),
    ("Foot", "Z", "low", "Toes", "down"),
    ("Foot", "Y", "high", "Toes", "out"),
]


@pytest.mark.parametrize(("part", "axis", "end", "tip", "way"), MOVES)
@pytest.mark.parametrize(("side", "out"), SIDES)
def test_limbs_bend_as_bodies_do(
    rng: np.random.Generator,
    side: str,
    out: Any,
    part: str,
    axis: str,
    end: str,
    tip: str,
    way: str,
) -> None:
    skeleton = random_body(rng)
    limits = human_limits(skeleton)
    ways = {"up": UP, "down": -UP, "forward": FORWARD, "back": -FORWARD}
    ways |= {"out": out, "in": -out}
    if side == "right" and axis != "Z":  # the range is mirrored
        end = {"low": "high", "high": "low"}[end]
    step = moved(skeleton, limits, side + part, axis, end, side + tip)
    assert step @ ways[way] > 0.3 * np.linalg.norm(step) > 0


@pytest.mark.parametrize(
    ("part", "axis", "end", "tip", "way"),
    [
        ("spine", "Z", "high", "head", FORWARD),
        ("spine", "Z", "low", "head", -FORWARD),
        ("chest", "Y", "high", "head", -LEFT),
        ("upperChest", "X", "high", "leftUpperArm", -FORWARD),
        ("neck", "Z", "high", "head", FORWARD),
        ("head", "Z", "high", "leftEye", -UP),
        ("head", "Y", "high", "leftEye", -LEFT),
    ],
)
def test_the_middle_bends_as_bodies_do(
    rng: np.random.Generator, part: str, axis: str, end: str, tip: str, way: Any
) -> None:
    skeleton = random_body(rng)
    step = moved(skeleton, human_limits(skeleton), part, axis, end, tip)
    assert step @ way > 0.5 * np.linalg.norm(step) > 0


@pytest.mark.parametrize("drop", [0.0, 45.0, 80.0])
def test_sides_are_mirror_images(rng: np.random.Generator, drop: float) -> None:
    """Each pose of the left, mirrored, has the right's angles, and the same limits."""
    skeleton = random_body(rng, drop=drop)
    human, limits = find_human(skeleton), human_limits(skeleton)
    for part, node in human.nodes.items():
        twin = human[other_side(part)]
        if not part.startswith("left"):
            continue
        mirror = np.array([1, -1, -1])
        low, high = limits.low[node] * mirror, limits.high[node] * mirror
        low, high = np.minimum(low, high), np.maximum(low, high)
        np.testing.assert_allclose(limits.low[twin], low, atol=1e-5)
        np.testing.assert_allclose(limits.high[twin], high, atol=1e-5)
        assert limits.rates[twin] == limits.rates[node]
        axes = [
            transforms.multiply(
                rest_world(skeleton)[one],
                transforms.compose(
                    np.zeros(3), limits.frames[one].astype(float), np.ones(3)
                ),
            )[:, :3]
            for one in (node, twin)
        ]
        flip = np.diag([-1.0, 1, 1])
        # Along and across are mirrored; the axis of a turn is also turned round.
        np.testing.assert_allclose(
            axes[1], flip @ axes[0] @ np.diag([1.0, 1, -1]), atol=1e-5
        )


def test_the_axes_of_a_rig_and_its_stance_do_not_matter(
    rng: np.random.Generator,
) -> None:
    """The same turn in the world is the same angles, with the same ranges."""
    plain = make_body()
    turn = rng.normal(size=4)
    other = random_body(rng, turn=turn, size=0.01)
    limits, others = human_limits(plain), human_limits(other)
    np.testing.assert_allclose(others.low, limits.low, atol=1e-5)
    np.testing.assert_allclose(others.high, limits.high, atol=1e-5)
    angles = rng.uniform(limits.low, limits.high)
    assert np.nonzero(~limits.limited)[0].tolist() == [0]
    angles[0] = 0  # hips are free and keep the axes of the rig
    whole = quaternions.to_matrix(quaternions.normalise(turn))
    place = places_of(plain, turn_joints(limits, plain, angles))
    there = places_of(other, turn_joints(others, other, angles))
    np.testing.assert_allclose(there, (place @ whole.T) * 0.01, atol=1e-6)


@pytest.mark.parametrize("drop", [0.0, 45.0])
def test_the_ends_of_an_arm_do_not_depend_on_the_rest(drop: float) -> None:
    """Arms that hang lower at rest may be raised further."""
    skeleton = make_body(drop=drop)
    limits, human = human_limits(skeleton), find_human(skeleton)
    arm = human["leftUpperArm"]
    raised = human_limits(make_body()).high[arm, 0] + np.radians(drop)
    np.testing.assert_allclose(limits.high[arm, 0], raised, atol=1e-3)


def bent_arm(degrees: float) -> Skeleton:
    """A body whose elbows are bent forward at rest."""
    skeleton = make_body()
    human = find_human(skeleton)
    moves = skeleton.translations.astype(float).copy()
    turn = np.radians(degrees)
    for side, sign in (("left", 1), ("right", -1)):
        hand = human[f"{side}Hand"]
        length = np.linalg.norm(moves[hand])
        moves[hand] = length * np.array([sign * np.cos(turn), 0, np.sin(turn)])
    parts = (skeleton.rotations, skeleton.scales)
    return Skeleton(skeleton.names, skeleton.parents, moves, *parts)


def test_a_bent_rest_takes_from_the_range() -> None:
    ranges = []
    for degrees in (20.0, 50.0):
        skeleton = bent_arm(degrees)
        limits, human = human_limits(skeleton), find_human(skeleton)
        for side in ("left", "right"):
            node = human[f"{side}LowerArm"]
            ranges.append(np.degrees([limits.low[node, 0], limits.high[node, 0]]))
    np.testing.assert_allclose(ranges[0], ranges[1], atol=1e-3)
    np.testing.assert_allclose(ranges[2] - ranges[0], [-30, -30], atol=1e-3)


def test_the_rest_is_inside_even_if_no_body_could_take_it() -> None:
    skeleton = bent_arm(-60.0)
    limits, human = human_limits(skeleton), find_human(skeleton)
    node = human["leftLowerArm"]
    assert limits.low[node, 0] == 0
    assert limits.high[node, 0] > 2


def test_mirrored_spaces_bend_the_same_way() -> None:
    """A body made by scaling the right half of another by -1."""
    skeleton = make_body()
    human = find_human(skeleton)
    scales = skeleton.scales.copy()
    moves = skeleton.translations.copy()
    right = human["rightUpperArm"]
    scales[right] = (-1, 1, 1)
    for part, node in human.nodes.items():
        below = ("LowerArm", "Hand", "Thumb", "Index", "Middle", "Ring", "Little")
        if part.startswith("right") and part[5:].startswith(below):
            moves[node] *= (-1, 1, 1)
    flipped = Skeleton(
        skeleton.names, skeleton.parents, moves, skeleton.rotations, scales
    )
    np.testing.assert_allclose(
        rest_world(flipped)[:, :, 3], rest_world(skeleton)[:, :, 3], atol=1e-6
    )
    limits = human_limits(flipped)
    step = moved(flipped, limits, "rightLowerArm", "Z", "high", "rightHand")
    assert step @ FORWARD > 0.5 * np.linalg.norm(step)
    for end, way in (("low", UP), ("high", -UP)):
        both = [
            moved(one, human_limits(one), "rightHand", "Z", end, "rightMiddleDistal")
            for one in (skeleton, flipped)
        ]
        np.testing.assert_allclose(both[0], both[1], atol=1e-6)
        assert both[0] @ way > 0
    own = moved(
        skeleton, human_limits(skeleton), "rightHand", "Y", "low", "rightRingDistal"
    )
    there = moved(flipped, limits, "rightHand", "Y", "high", "rightRingDistal")
    np.testing.assert_allclose(own, there, atol=1e-6)


def test_sides_named_the_other_way_round() -> None:
    names = {part: other_side(part) for part in find_human(make_body()).nodes}
    skeleton = make_body(names)
    body = measure_body(skeleton, find_human(skeleton))
    assert body.is_swapped
    np.testing.assert_allclose(body.forward, FORWARD, atol=0.02)
    limits = human_limits(skeleton)
    step = moved(skeleton, limits, "leftLowerLeg", "Z", "high", "leftFoot")
    assert step @ FORWARD < 0
    np.testing.assert_allclose(limits.high, human_limits(make_body()).high, atol=1e-6)


def test_nobody_looks_as_the_world_does() -> None:
    body = measure_body(make_body(), Human())
    assert not body.has_axes
    for found, way in ((body.left, LEFT), (body.up, UP), (body.forward, FORWARD)):
        np.testing.assert_array_equal(found, way)


def test_only_what_is_known_is_limited() -> None:
    skeleton = make_body(without=("leftHand", "leftToes", "neck"))
    human, limits = find_human(skeleton), human_limits(skeleton)
    assert not limits.limited[human["hips"]]
    known = set(human.nodes.values()) - {human["hips"]}
    assert set(np.nonzero(limits.limited)[0].tolist()) <= known
    assert limits.limited[human["leftUpperArm"]]
    empty = human_limits(skeleton, Human())
    assert not empty.limited.any()


def test_a_hand_alone_bends_to_its_palm() -> None:
    whole = make_body()
    hand = [
        p
        for p in find_human(whole).nodes
        if p.startswith("left")
        and (p == "leftHand" or p.endswith(("Proximal", "Intermediate", "Distal")))
    ]
    skeleton = make_body({part: part for part in hand})
    limits, human = human_limits(skeleton), find_human(skeleton)
    assert not limits.limited[human["leftHand"]]
    step = moved(skeleton, limits, "leftRingProximal", "Z", "high", "leftRingDistal")
    assert step @ UP < -0.5 * np.linalg.norm(step)


def test_degenerate_bodies() -> None:
    skeleton = make_body()
    parts = (skeleton.rotations, skeleton.scales)
    point = Skeleton(
        skeleton.names, skeleton.parents, np.zeros((len(skeleton), 3)), *parts
    )
    assert not human_limits(point, find_human(skeleton)).limited.any()
    flat = Skeleton(
        skeleton.names,
        skeleton.parents,
        skeleton.translations,
        skeleton.rotations,
        np.where(np.arange(len(skeleton))[:, None] == 3, 0.0, skeleton.scales),
    )
    limits = human_limits(flat, find_human(skeleton))
    assert np.isfinite(limits.frames).all()
    lost = skeleton.translations.copy()
    lost[skeleton.index("leftLowerArm")] = np.nan
    nowhere = Skeleton(skeleton.names, skeleton.parents, lost, *parts)
    limits = human_limits(nowhere, find_human(skeleton))
    assert np.isfinite(limits.frames).all()
    none = np.zeros((0, 3))
    assert (
        len(human_limits(Skeleton((), np.zeros(0), none, np.zeros((0, 4)), none))) == 0
    )
    with pytest.raises(SettingError, match="nodes beyond"):
        human_limits(skeleton, Human({"head": 9999}))


def test_rolls_may_twist_but_not_bend() -> None:
    names = {part: part for part in find_human(make_body()).nodes}
    names |= {"leftHand": "lowerarm_twist_l", "leftMiddleProximal": "hand_l"}
    kept = ("leftMiddleProximal", "leftHand")
    names = {
        part: name
        for part, name in names.items()
        if part in kept or not part.endswith(("Proximal", "Intermediate", "Distal"))
    }
    skeleton = make_body(names)
    human, limits = find_human(skeleton), human_limits(skeleton)
    roll = human.rolls["leftLowerArm"][0]
    assert limits.high[roll, 2] > 4 * limits.high[roll, 0] > 0


def test_palms_and_directions() -> None:
    skeleton = make_body()
    body = measure_body(skeleton, find_human(skeleton))
    for side in ("left", "right"):
        found = palm(body, side)
        assert found is not None
        np.testing.assert_allclose(found[0], -UP, atol=0.05)
        np.testing.assert_allclose(found[1], FORWARD, atol=0.15)
    assert bone_direction(body, "tail") is None
    assert bone_direction(body, "hips") is not None


def test_the_rest_has_no_angles(rng: np.random.Generator) -> None:
    skeleton = random_body(rng, drop=30.0)
    angles = measure_angles(human_limits(skeleton), skeleton, skeleton.rotations)
    np.testing.assert_allclose(angles, 0, atol=1e-6)


def test_a_body_without_a_trunk() -> None:
    """Legs alone, as robots have them."""
    trunk = ("spine", "chest", "upperChest", "neck")
    human = find_human(skeleton := make_body(without=trunk))
    legs = replace(human, trunk=(), necks=())
    assert human_limits(skeleton, legs).limited.any()


@pytest.mark.parametrize(
    ("without", "share"),
    [(("chest", "upperChest"), 1.0), (("upperChest",), 0.75), ((), 0.5)],
)
def test_joints_of_the_trunk_share_what_it_bends(
    without: tuple[str, ...], share: float
) -> None:
    """One joint alone bends no further than a trunk does; several a little more."""
    skeleton = make_body(without=without)
    limits, spine = human_limits(skeleton), skeleton.index("spine")
    ends = np.degrees([limits.low[spine], limits.high[spine]])
    np.testing.assert_allclose(
        ends[1] - ends[0], share * np.array([120, 80, 110]), rtol=1e-6
    )
