"""Retargeted clips: to the same rig, to one built otherwise, to another body."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import flexor
from flexor.errors import SettingError, ShapeError
from flexor.maths import quaternions
from flexor.pose.clips.retarget.plan import plan_retarget
from flexor.pose.clips.retarget.retarget import SAME_TIME, retarget
from flexor.pose.clips.track_values import as_keys
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import find_human
from tests.pose.ik.turned_rigs import from_world, places_at, with_axes
from tests.scenes import (
    random_clip,
    random_skeleton,
    random_times,
    random_track,
    rest_world,
)

Rng = np.random.Generator
FEW = settings(max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)
LIMBS = (
    ("UpperArm", "LowerArm"),
    ("LowerArm", "Hand"),
    ("UpperLeg", "LowerLeg"),
    ("LowerLeg", "Foot"),
)


def turning_clip(rng: Rng, nodes: int, *, moved: tuple[int, ...] = ()) -> Clip:
    """Rotations of all nodes and translations of some, LINEAR, on one timeline."""
    times = random_times(rng, 5)
    tracks = [random_track(rng, n, "rotation", "LINEAR", times) for n in range(nodes)]
    tracks += [random_track(rng, n, "translation", "LINEAR", times) for n in moved]
    return Clip("turning", tuple(tracks))


@pytest.fixture(scope="module")
def hero() -> flexor.Character:
    return flexor.samples.mannequin()


@FEW
@given(SEEDS, st.sampled_from(["one", "even", "uneven", "negative", "mirror"]))
@example(11057677, "negative")  # keys of two tracks 5e-6 s apart, in a quick turn
def test_to_itself_is_the_clip(seed: int, scale: Any) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 7, scale=scale)
    clip = random_clip(rng, "c", 7, interpolation="LINEAR")
    same = retarget(clip, skeleton, skeleton)
    assert same.duration == clip.duration
    for moment in np.linspace(0, clip.duration + 0.1, 11):
        expected = places_at(skeleton, clip, float(moment))
        size = max(1, np.abs(expected).max())
        # Keys that are so close become one.
        before, after = (
            places_at(skeleton, clip, float(moment + late))
            for late in (-SAME_TIME, SAME_TIME)
        )
        moved = np.abs(after - before).max()
        got = places_at(skeleton, same, float(moment))
        np.testing.assert_allclose(got, expected, atol=2e-5 * size + moved)


@FEW
@given(SEEDS, st.booleans())
def test_local_axes_do_not_matter(seed: int, is_moved: bool) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 8)
    clip = turning_clip(rng, 8, moved=(0, 3, 5) if is_moved else ())
    other = with_axes(skeleton, rng)
    done = retarget(clip, skeleton, other)
    for moment in clip.tracks[0].times.tolist():
        expected = places_at(skeleton, clip, moment)
        got = places_at(other, done, moment)
        np.testing.assert_allclose(got, expected, atol=1e-4)


@FEW
@given(SEEDS, st.floats(0.01, 100))
def test_sizes_do_not_matter(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 8)
    clip = turning_clip(rng, 8, moved=(0, 3))
    other = replace(skeleton, translations=skeleton.translations * np.float32(factor))
    done = retarget(clip, skeleton, other)
    for moment in clip.tracks[0].times.tolist():
        expected = places_at(skeleton, clip, moment) * factor
        got = places_at(other, done, moment)
        np.testing.assert_allclose(got, expected, atol=1e-4 * max(1, factor))


@FEW
@given(SEEDS)
@example(8875)  # seven times as long as wide
def test_which_way_a_rig_stands_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, 8)
    clip = turning_clip(rng, 8, moved=(0, 3))
    turn = quaternions.to_matrix(quaternions.normalise(rng.normal(size=4)))
    places = rest_world(skeleton)[:, :, 3] @ turn.T + [3, 0, 1]
    turns = quaternions.to_matrix(quaternions.normalise(rng.normal(size=(8, 4))))
    other = from_world(skeleton, places, turns)
    done = retarget(clip, skeleton, other)
    for moment in clip.tracks[0].times.tolist():
        expected = places_at(skeleton, clip, moment) @ turn.T + [3, 0, 1]
        np.testing.assert_allclose(places_at(other, done, moment), expected, atol=1e-4)


def test_a_name_map_and_what_is_left_out(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 6)
    clip = turning_clip(rng, 6)
    other = with_axes(skeleton, rng, tuple("abcdef"))
    whole = dict(zip(skeleton.names, other.names, strict=True))
    done = retarget(clip, skeleton, other, whole)
    for moment in clip.tracks[0].times.tolist():
        expected = places_at(skeleton, clip, moment)
        np.testing.assert_allclose(places_at(other, done, moment), expected, atol=1e-4)
    part = retarget(clip, skeleton, other, {"node2": "c"})
    assert {track.node for track in part.tracks} == {2}


def test_bad_maps_are_refused(rng: Rng) -> None:
    one, two = (
        random_skeleton(rng, 4),
        with_axes(random_skeleton(rng, 4), rng, tuple("abcd")),
    )
    clip = turning_clip(rng, 4)
    with pytest.raises(SettingError, match="source has no joint 'node9'; there are"):
        retarget(clip, one, two, {"node9": "a"})
    with pytest.raises(SettingError, match="target has no joint 'z'"):
        retarget(clip, one, two, {"node1": "z"})
    with pytest.raises(SettingError, match="two joints move 'a'"):
        retarget(clip, one, two, {"node1": "a", "node2": "a"})
    with pytest.raises(SettingError, match="no joint of the source"):
        retarget(clip, one, one, {"*": ""})
    with pytest.raises(SettingError, match='may only be ""'):
        retarget(clip, one, two, {"*": "a"})
    with pytest.raises(SettingError, match="give a map of names"):
        retarget(clip, one, two, {"node1": ""})
    with pytest.raises(SettingError, match="give a map of names"):
        retarget(clip, one, two)
    with pytest.raises(SettingError, match="moves"):
        retarget(clip, one, one, moves="some")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="align"):
        retarget(clip, one, one, align=True)
    lost = Clip(
        "lost", (random_track(rng, 9, "rotation", "LINEAR", random_times(rng, 2)),)
    )
    with pytest.raises(ShapeError, match="lacks"):
        retarget(lost, one, one, {"node1": "node1"})


def test_a_clip_of_nothing(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 3)
    done = retarget(Clip("none", ()), skeleton, skeleton, {"node0": "node0"})
    assert done.tracks == ()


def trunk_of(count: int) -> Skeleton:
    """A hip, `count` joints above each other, a neck and two arms on the last."""
    names = ["hip", *(f"back{i}" for i in range(count)), "neck", "left", "right"]
    parents = [-1, *range(count), count, count, count]
    moves = np.zeros((count + 4, 3), "f4")
    moves[1 : count + 2, 1] = 1 / (count + 1)
    moves[-2:] = [[0.5, 0, 0], [-0.5, 0, 0]]
    turns = np.tile([0.0, 0, 0, 1], (count + 4, 1))
    return Skeleton(
        tuple(names), np.array(parents), moves, turns, np.ones((count + 4, 3), "f4")
    )


def test_joints_without_partners_are_folded_in(rng: Rng) -> None:
    source, target = trunk_of(4), trunk_of(2)
    clip = turning_clip(rng, len(source))
    done = retarget(clip, source, target)
    plan = plan_retarget(source, target, clip=clip)
    assert plan.match.feeds[2].one == 4  # the joint that carries neck and arms
    assert plan.match.left_source == ("back1", "back2")
    # The last of the trunk turns with all four: the shoulders stand as the source's do.
    for moment in clip.tracks[0].times.tolist():
        ways = []
        for skeleton, one in ((source, clip), (target, done)):
            places = places_at(skeleton, one, moment)
            ways.append(
                places[skeleton.index("left")] - places[skeleton.index("right")]
            )
        np.testing.assert_allclose(ways[0], ways[1], atol=1e-5)


def test_steps_stay_steps(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 3)
    times = random_times(rng, 4)
    kinds = [random_track(rng, n, "rotation", "STEP", times) for n in range(3)]
    done = retarget(Clip("c", tuple(kinds)), skeleton, with_axes(skeleton, rng))
    assert {track.interpolation for track in done.tracks} == {"STEP"}
    keys = np.zeros((4, 3, 4), "f4")  # small turns: the curve is not far from straight
    keys[:, 1] = quaternions.normalise(rng.normal(size=(4, 4)) * 0.2 + [0, 0, 0, 1])
    curve = Track(2, "rotation", times, keys, "CUBICSPLINE")
    clip = Clip("c", (*kinds[:2], curve))
    done = retarget(clip, skeleton, skeleton)
    for moment in np.linspace(float(times[0]), float(times[-1]), 50).tolist():
        if np.abs(times - moment).min() > 2e-3:
            expected = places_at(skeleton, clip, moment)
            got = places_at(skeleton, done, moment)
            np.testing.assert_allclose(got, expected, atol=0.03)


def arms_down(hero: flexor.Character, degrees: float) -> flexor.Character:
    """The character with its arms lowered at rest."""
    rotations = hero.skeleton.rotations.copy()
    human = find_human(hero.skeleton)
    world = hero.pose().world.astype(float)
    for part, sign in (("leftUpperArm", -1), ("rightUpperArm", 1)):
        node = human[part]
        axis = world[node, :, :3].T @ [0, 0, sign]
        half = np.radians(degrees) / 2
        turn = np.append(np.sin(half) * axis / np.linalg.norm(axis), np.cos(half))
        rotations[node] = quaternions.multiply(rotations[node].astype(float), turn)
    return hero.posed(hero.pose_from(rotations=rotations))


def limb_angles(one: Any, two: Any, human: Any, other: Any) -> list[float]:
    """Degrees between limbs in places (J, 3) of two bodies."""
    angles = []
    for side in ("left", "right"):
        for above, below in LIMBS:
            a = one[human[side + below]] - one[human[side + above]]
            b = two[other[side + below]] - two[other[side + above]]
            cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
            angles.append(float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))))
    return angles


@pytest.mark.slow
def test_limbs_point_the_same_way_from_another_rest(
    hero: flexor.Character, rng: Rng
) -> None:
    low = with_axes(arms_down(hero, 40).skeleton, rng)
    clip = hero.clips["punch"]
    body = find_human(hero.skeleton)
    done = retarget(clip, hero.skeleton, low)
    loose = retarget(clip, hero.skeleton, low, align=False)
    for moment in np.linspace(0, clip.duration, 7).tolist():
        there = places_at(hero.skeleton, clip, moment)
        angles = limb_angles(there, places_at(low, done, moment), body, body)
        assert max(angles) < 0.1
        angles = limb_angles(there, places_at(low, loose, moment), body, body)
        assert max(angles) > 30


MIXAMO = {
    "hips": "Hips",
    "neck": "Neck",
    "head": "Head",
    "leftShoulder": "LeftShoulder",
    "leftUpperArm": "LeftArm",
    "leftLowerArm": "LeftForeArm",
    "leftHand": "LeftHand",
    "leftUpperLeg": "LeftUpLeg",
    "leftLowerLeg": "LeftLeg",
    "leftFoot": "LeftFoot",
    "leftToes": "LeftToeBase",
}


def as_mixamo(skeleton: Skeleton, rng: Rng, turn: Any, size: float) -> Skeleton:
    """The same body with other names, axes, size and facing; legs a quarter longer."""
    human = find_human(skeleton)
    names = [f"x{n}" for n in range(len(skeleton))]
    for part, word in MIXAMO.items():
        for side, other in (("left", "Left"), ("right", "Right")):
            place = part.replace("left", side)
            if place in human:
                names[human[place]] = "mixamorig:" + word.replace("Left", other)
    for row, node in enumerate(human.trunk):
        names[node] = f"mixamorig:Spine{row or ''}"
    places = rest_world(skeleton)[:, :, 3]
    hips = places[human["hips"]].copy()
    parts = [f"{s}{p}" for s in ("left", "right") for p in ("UpperLeg", "LowerLeg")]
    legs = [human[part] for part in parts]
    legs += [node for part in parts for node in human.rolls.get(part, ())]
    stretched = places.copy()
    for node in range(len(skeleton)):
        line = [node]
        while skeleton.parents[line[-1]] >= 0:
            line.append(int(skeleton.parents[line[-1]]))
        for one, above in pairwise(line):
            if above in legs:
                stretched[node] += (places[one] - places[above]) * 0.25
    lift = places[human["leftFoot"], 1] - stretched[human["leftFoot"], 1]
    stretched[:, 1] += lift
    turns = quaternions.to_matrix(
        quaternions.normalise(rng.normal(size=(len(names), 4)))
    )
    assert hips[1] > 0
    return from_world(
        skeleton, stretched @ np.asarray(turn).T * size, turns, tuple(names)
    )


Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
BACK = np.diag([-1.0, 1, -1])


@pytest.mark.slow
@pytest.mark.parametrize("turn", [np.eye(3), Z_UP, BACK], ids=["same", "z up", "back"])
@pytest.mark.parametrize("size", [1.0, 100.0])
@pytest.mark.parametrize("clip_name", ["walk", "kick"])
def test_another_body(
    hero: flexor.Character, rng: Rng, turn: Any, size: float, clip_name: str
) -> None:
    clip = hero.clips[clip_name]
    target = as_mixamo(hero.skeleton, rng, turn, size)
    plan = plan_retarget(hero.skeleton, target, clip=clip)
    assert plan.match.how == "humans"
    np.testing.assert_allclose(plan.axes, turn, atol=1e-9)
    assert plan.size == pytest.approx(1.25 * size, rel=1e-3)
    done = retarget(clip, hero.skeleton, target)
    human, other = find_human(hero.skeleton), find_human(target)
    rest = places_at(target, None, 0) @ turn / size
    start = places_at(hero.skeleton, None, 0)
    for moment in clip.tracks[0].times[::4].tolist():
        here = places_at(hero.skeleton, clip, moment)
        there = places_at(target, done, moment) @ turn / size
        assert max(limb_angles(here, there, human, other)) < 0.1
        for side in ("left", "right"):  # a quarter more, above where it stands
            foot = here[human[f"{side}Foot"], 1] - start[human[f"{side}Foot"], 1]
            its = there[other[f"{side}Foot"], 1] - rest[other[f"{side}Foot"], 1]
            assert its == pytest.approx(1.25 * foot, abs=0.01)


def test_travel_can_be_left_out(hero: flexor.Character) -> None:
    hips = find_human(hero.skeleton)["hips"]
    times = np.array([0, 1], np.float32)
    rest = hero.skeleton.translations[hips]
    steps = (rest + np.array([[0, 0, 0], [1, 0.2, 3]])).astype(np.float32)
    track = Track(hips, "translation", times, steps)
    turn = Track(hips, "rotation", times[:1], hero.skeleton.rotations[[hips]])
    clip = Clip("go", (track, turn))
    start = places_at(hero.skeleton, None, 0)[hips]
    for travel in (True, False):
        done = retarget(clip, hero.skeleton, hero.skeleton, travel=travel)
        end = places_at(hero.skeleton, done, 1.0)[hips]
        wanted = places_at(hero.skeleton, clip, 1.0)[hips] - start
        if not travel:
            wanted[[0, 2]] = 0
        np.testing.assert_allclose(end - start, wanted, atol=1e-5)


def test_an_arm_alone_stays_at_its_shoulder(hero: flexor.Character) -> None:
    human = find_human(hero.skeleton)
    clip, names = hero.clips["walk"], hero.skeleton.names
    arm = [names[human[f"left{part}"]] for part in ("UpperArm", "LowerArm", "Hand")]
    only = {"*": ""} | {name: name for name in arm}
    done = retarget(clip, hero.skeleton, hero.skeleton, only)
    assert {track.path for track in done.tracks} == {"rotation"}
    assert len(done.tracks) == 3


def test_keys_that_differ_by_rounding_are_one(hero: flexor.Character) -> None:
    clip = hero.clips["walk"]
    tracks = [
        replace(track, times=np.nextafter(track.times, np.float32(9)))
        if row % 2
        else track
        for row, track in enumerate(clip.tracks)
    ]
    done = retarget(Clip("walk", tuple(tracks)), hero.skeleton, hero.skeleton)
    most = max(len(track.times) for track in clip.tracks)
    assert max(len(track.times) for track in done.tracks) <= most + 1
    # Side by side in one track they stay.
    values = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")[[0, 0, 1, 1]]
    times = np.array([0, np.nextafter(np.float32(1), 0), 1, 2], "f4")
    jump = Clip("jump", (Track(5, "rotation", times, values),))
    done = retarget(jump, hero.skeleton, hero.skeleton)
    np.testing.assert_array_equal(done.tracks[0].times, times)


def test_what_leaves_float32_is_refused(rng: Rng) -> None:
    small = random_skeleton(rng, 4)
    clip = turning_clip(rng, 4, moved=(0,))
    large = replace(small, translations=small.translations * np.float32(1e38))
    tiny = replace(small, translations=small.translations * np.float32(1e-6))
    with pytest.raises(ShapeError, match="beyond float32"):
        retarget(clip, tiny, large)


def test_signs_of_neighbours_are_the_same(hero: flexor.Character, rng: Rng) -> None:
    done = retarget(
        turning_clip(rng, len(hero.skeleton)),
        hero.skeleton,
        with_axes(hero.skeleton, rng),
    )
    for track in done.tracks:
        if track.path == "rotation":
            assert ((track.values[1:] * track.values[:-1]).sum(1) >= 0).all()


def test_feet_that_hang_on_nothing_follow_the_legs(hero: flexor.Character) -> None:
    human = find_human(hero.skeleton)
    parents = hero.skeleton.parents.copy()
    root = int(np.flatnonzero(parents < 0)[0])
    names = list(hero.skeleton.names)
    for side in ("left", "right"):
        parents[human[f"{side}Foot"]] = root
        names[human[f"{side}Foot"]] = f"Foot.{side[0].upper()}"
    world = rest_world(hero.skeleton)
    loose = from_world(
        replace(hero.skeleton, parents=parents, links={}, matrices={}),
        world[:, :, 3],
        world[:, :, :3],
        tuple(names),
    )
    names_map = dict(zip(hero.skeleton.names, names, strict=True))
    clip = hero.clips["walk"]
    done = retarget(clip, hero.skeleton, loose, names_map)
    for moment in clip.tracks[0].times[::6].tolist():
        expected = places_at(hero.skeleton, clip, moment)
        got = places_at(loose, done, moment)
        for side in ("left", "right"):
            node = human[f"{side}Foot"]
            np.testing.assert_allclose(got[node], expected[node], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("is_bare", [True, False], ids=["no rest", "first frame"])
def test_files_of_motion_alone(hero: flexor.Character, is_bare: bool) -> None:
    clip, skeleton = hero.clips["run"], hero.skeleton
    if is_bare:  # nodes without transforms, in another order
        order = np.arange(len(skeleton))[::-1]
        row = {int(node): at for at, node in enumerate(order)}
        parents = [row.get(int(skeleton.parents[n]), -1) for n in order]
        count = len(order)
        bare = Skeleton(
            tuple(skeleton.names[n] for n in order),
            np.array(parents),
            np.zeros((count, 3), "f4"),
            np.tile([0.0, 0, 0, 1], (count, 1)),
            np.ones((count, 3), "f4"),
        )
        tracks = [replace(track, node=row[track.node]) for track in clip.tracks]
        source, moved = bare, Clip("run", tuple(tracks))
    else:
        source = hero.posed(hero.pose("run", 0.2)).skeleton
        moved = as_keys(clip)
    done = retarget(moved, source, skeleton)
    for moment in np.linspace(0, clip.duration, 6).tolist():
        expected = places_at(skeleton, clip, moment)
        np.testing.assert_allclose(
            places_at(skeleton, done, moment), expected, atol=1e-4
        )
