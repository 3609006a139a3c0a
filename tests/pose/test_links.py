"""Links against the slow twin: any number, any joint, any turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.errors import ShapeError
from flexor.pose.kernels import links as kernel_links
from flexor.pose.layout import ROWS, Layout, make_layout
from flexor.pose.links import follow_links
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from tests.oracle import pose as oracle
from tests.scenes import plain_scene, random_clip, random_rotations, random_skeleton

Rng = np.random.Generator
NO_TURN = (0.0, 0, 0, 1)


def linked(rng: Rng, plain: Skeleton, counts: list[int]) -> Skeleton:
    """The skeleton with counts[i] links for node i, at numbers of all sorts."""
    joints = np.repeat(np.arange(len(counts)), counts)
    fractions = np.concatenate([np.arange(1, n + 1) / (n + 1) for n in counts])
    joints, fractions = joints[p := rng.permutation(len(joints))], fractions[p]
    total = len(plain) + len(joints)
    place = rng.permutation(total)  # where each node goes
    parents, parts = np.full(total, -1), {}
    whole = np.append(plain.parents, plain.parents[joints])
    parents[place] = np.where(whole < 0, -1, place[whole])
    for name in ("translations", "rotations", "scales"):
        rest = getattr(plain, name)
        both = np.concatenate([rest, rest[joints]])
        parts[name] = np.empty_like(both)
        parts[name][place] = both
    links = {
        int(place[len(plain) + i]): Link(int(place[joint]), float(fraction))
        for i, (joint, fraction) in enumerate(zip(joints, fractions, strict=True))
    }
    names = tuple(f"n{i}" for i in range(total))
    return Skeleton(names, parents, **parts, links=links)


def with_axes(rng: Rng, skeleton: Skeleton, part: float = 0.5) -> Skeleton:
    """The skeleton with that part of its links of twist or swing, about axes of all
    sorts.
    """
    links = dict(skeleton.links)
    for node, link in links.items():
        if rng.random() < part:
            axis = rng.normal(size=3)
            axis = tuple((axis / np.linalg.norm(axis)).tolist())
            is_swing = bool(rng.random() < 0.4)
            fraction = link.fraction if is_swing or rng.random() < 0.7 else 0.0
            links[node] = Link(link.joint, fraction, axis, is_swing)
    return replace(skeleton, links=links)


def one_joint(
    rotation: Any,
    fraction: float,
    rest: Any = NO_TURN,
    axis: Any = None,
    *,
    is_swing: bool = False,
) -> Any:
    """The link's rotation for one of a joint; the rest's length is left as it is."""
    skeleton = Skeleton(
        ("joint", "link"),
        [-1, -1],
        np.zeros((2, 3)),
        np.array([rest, rest]),
        np.ones((2, 3)),
        links={1: Link(0, fraction, axis, is_swing)},
    )
    layout = make_layout(plain_scene(skeleton))
    local = layout.rest[None].copy()
    rows = local.reshape(ROWS, -1)
    rows[3:7, layout.lane_of_node[0]] = rotation
    follow_links(layout, local)
    return rows[3:7, layout.lane_of_node[1]]


def random_locals(rng: Rng, layout: Layout, count: int) -> Any:
    """Local rows (count, 10 * L), junk in the lanes of links too."""
    rows = rng.normal(size=(count, ROWS, layout.lane_count))
    rows[:, 3:7] *= rng.uniform(0.5, 2, (count, 1, layout.lane_count))
    return rows.reshape(count, ROWS * layout.lane_count).astype(np.float32)


def check(skeleton: Skeleton, count: int, rng: Rng) -> None:
    """Many poses as the twin says, each with the bits it has alone; others stay."""
    layout = make_layout(plain_scene(skeleton))
    before = random_locals(rng, layout, count)
    after = before.copy()
    assert follow_links(layout, after) is after
    for n in range(count):
        rows = before[n].reshape(ROWS, -1)[:, layout.lane_of_node].T
        moves, turns, sizes = (
            rows[:, part].astype(np.float64)
            for part in (slice(0, 3), slice(3, 7), slice(7, 10))
        )
        oracle.follow_links(skeleton, moves, turns, sizes)
        got = after[n].reshape(ROWS, -1)[:, layout.lane_of_node].T
        mine = list(skeleton.links)
        expected = np.concatenate([moves, turns, sizes], 1)
        most = np.full(got.shape, 1e-6)
        for node, link in skeleton.links.items():
            if link.axis is not None:
                # Near a swing of half a turn, rounding turns the twist by more.
                rest, turn = skeleton.rotations[link.joint], turns[link.joint]
                told = max(oracle.twist_size(link, rest, turn), 1e-4)
                most[node, 3:7] = 7e-7 + 1e-7 / told
        assert (np.abs(got - expected) <= most)[mine].all()
        others = [node for node in range(len(skeleton)) if node not in skeleton.links]
        assert got[others].tobytes() == rows[others].tobytes()
        alone = follow_links(layout, before[n : n + 1].copy())
        assert alone.tobytes() == after[n].tobytes()


@pytest.mark.parametrize(
    "counts",
    [
        [1],
        [0, 3],
        [7],
        [1, 2, 3],
        [3] * 8,
        [3] * 9,
        [0, 1, 0, 5, 2, 9, 1, 1, 3, 3, 0],
        [3] * 20,
        [17, 1],
    ],
)
@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("twisted", [0, 0.5, 1])
def test_any_number_of_links(
    counts: list[int], count: int, twisted: float, rng: Rng
) -> None:
    plain = random_skeleton(rng, len(counts) + 2, scale="negative")
    check(with_axes(rng, linked(rng, plain, counts), twisted), count, rng)


@settings(max_examples=40)
@example(240, [4, 0, 0, 3, 4, 4])  # a swing of nearly half a turn: 1.46e-6 off
@example(1515, [4, 0, 2, 3, 4, 4])  # another: 3.1e-6
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), min_size=3, max_size=20))
def test_any_tree(seed: int, counts: list[int]) -> None:
    """Also lanes: each once, parents first; and whole poses."""
    rng = np.random.default_rng(seed)
    skeleton = with_axes(rng, linked(rng, random_skeleton(rng, len(counts)), counts))
    layout = make_layout(plain_scene(skeleton))
    assert sorted(layout.node_of_lane) == list(range(len(skeleton)))
    lanes = layout.lane_of_node
    for node, parent in enumerate(skeleton.parents):
        assert parent < 0 or lanes[parent] < lanes[node]
    check(skeleton, 2, rng)


def test_links_below_links(rng: Rng) -> None:
    """A link that carries a joint with links of its own, and other nodes."""
    parents = [-1, 0, 0, 2, 2, 2, 4, 0, 4, 3, 3, 3]
    count = len(parents)
    links = {2: Link(1, 0.5), 4: Link(3, 0.25), 5: Link(3, 0.75), 10: Link(9, 0.3)}
    skeleton = Skeleton(
        ("n",) * count,
        parents,
        rng.normal(size=(count, 3)),
        random_rotations(rng, count),
        rng.uniform(0.5, 2, (count, 3)),
        links={**links, 7: Link(1, 0.2)},
    )
    layout = make_layout(plain_scene(skeleton))
    for node, parent in enumerate(parents):
        assert parent < 0 or layout.lane_of_node[parent] < layout.lane_of_node[node]
    check(skeleton, 3, rng)
    check(with_axes(rng, skeleton), 3, rng)
    hero = Character(plain_scene(skeleton, random_clip(rng, "c", count)))
    local = oracle.local_matrices(skeleton, hero.clips["c"], 0.7)
    expected = oracle.world_matrices(skeleton, local)
    np.testing.assert_allclose(hero.pose("c", 0.7).world, expected, atol=2e-5)


def test_no_links(rng: Rng) -> None:
    """Lanes stay in the order they had, and nothing is written."""
    skeleton = random_skeleton(rng, 9)
    layout = make_layout(plain_scene(skeleton))
    assert layout.links is None
    np.testing.assert_array_equal(layout.node_of_lane, skeleton.order)
    local = random_locals(rng, layout, 2)
    before = local.tobytes()
    assert follow_links(layout, local).tobytes() == before


@pytest.mark.parametrize("fraction", [1e-6, 0.25, 1 / 3, 0.5, 0.75, 1 - 1e-6])
def test_turns(fraction: float) -> None:
    """About one axis: a link turns by its fraction of the angle, up to 180 degrees."""
    for degrees in (0, 1e-6, 1e-3, 0.1, 1, 45, 90, 120, 179, 179.999, 180):
        half = np.radians(degrees) / 2
        got = one_joint([0, np.sin(half), 0, np.cos(half)], fraction)
        angle = half * fraction
        expected = [0, np.sin(angle), 0, np.cos(angle)]
        np.testing.assert_allclose(got, expected, atol=3e-7)
        # The same turn said the other way round.
        if degrees < 180:
            again = one_joint([0, -np.sin(half), 0, -np.cos(half)], fraction)
            np.testing.assert_allclose(again, expected, atol=3e-7)


def test_half_a_turn_is_finite() -> None:
    """Both ways are as long: one of them is gone."""
    for sign in (1, -1):
        for w in (0.0, -0.0, 1e-30, -1e-30, 1e-8, -1e-8):
            got = one_joint([sign, 0, 0, w], 0.5)
            np.testing.assert_allclose(
                np.abs(got), [0.5**0.5, 0, 0, 0.5**0.5], atol=3e-7
            )


def test_the_shortest_way(rng: Rng) -> None:
    """Beyond 180 degrees, the other way round."""
    got = one_joint([0, 0, np.sin(2.0), np.cos(2.0)], 0.5)
    back = (2 * np.pi - 4) / 4
    np.testing.assert_allclose(got, [0, 0, -np.sin(back), np.cos(back)], atol=3e-7)


def test_lengths_do_not_matter(rng: Rng) -> None:
    rest, turn = random_rotations(rng, 2)
    wanted = one_joint(turn, 0.3, rest)
    for size in (1e-6, 0.7, 1.01, 1e6):
        got = one_joint(turn * size, 0.3, rest)
        np.testing.assert_allclose(got, wanted, atol=3e-7)
        got = one_joint(turn, 0.3, rest * size)
        np.testing.assert_allclose(got, wanted, atol=3e-7)


def test_no_rotation_at_all_is_finite() -> None:
    zero = np.zeros(4)
    for turn, rest in ((zero, NO_TURN), (NO_TURN, zero), (zero, zero)):
        assert np.isfinite(one_joint(turn, 0.5, rest)).all()


AXIS = (0.0, 0.6, 0.8)


def turned(axis: Any, degrees: float) -> Any:
    half = np.radians(degrees) / 2
    return np.append(np.sin(half) * np.asarray(axis), np.cos(half))


def across(axis: Any) -> Any:
    """A unit vector at right angles."""
    way = np.cross(axis, [1.0, 0.2, 0])
    return way / np.linalg.norm(way)


@pytest.mark.parametrize("fraction", [0, 0.25, 0.5, 0.75, 1 - 1e-6])
@pytest.mark.parametrize("twist", [-179.9, -120, -30, 0, 1e-3, 60, 90, 179.9])
def test_a_twist_link_takes_a_part_of_the_twist(
    fraction: float, twist: float, rng: Rng
) -> None:
    """All of the swing, whatever the rest is, and the fraction of the twist."""
    (rest,) = random_rotations(rng, 1)
    for degrees in (0, 30, 90, 150, 175):
        swing = turned(across(AXIS), degrees)
        joint = oracle.product(rest, oracle.product(swing, turned(AXIS, twist)))
        part = oracle.product(swing, turned(AXIS, twist * fraction))
        wanted = oracle.product(rest, part)
        for sign in (1, -1):
            got = one_joint(sign * joint, fraction, rest, AXIS)
            side = np.sign(got @ wanted)
            np.testing.assert_allclose(side * got, wanted, atol=6e-6)


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75, 1 - 1e-6])
@pytest.mark.parametrize("twist", [-170, -30, 0, 1e-3, 60, 170])
def test_a_swing_link_takes_a_part_of_the_swing(
    fraction: float, twist: float, rng: Rng
) -> None:
    """And none of the twist, whatever the rest is."""
    (rest,) = random_rotations(rng, 1)
    for degrees in (0, 30, 90, 150, 175):
        swing = turned(across(AXIS), degrees)
        joint = oracle.product(rest, oracle.product(swing, turned(AXIS, twist)))
        wanted = oracle.product(rest, turned(across(AXIS), degrees * fraction))
        for sign in (1, -1):
            got = one_joint(sign * joint, fraction, rest, AXIS, is_swing=True)
            side = np.sign(got @ wanted)
            np.testing.assert_allclose(side * got, wanted, atol=6e-6)


def test_swing_links_are_finite_and_unit(rng: Rng) -> None:
    for rotation in ([0, 0, 0, 0], [0, 0.6, 0.8, 0], [1, 0, 0, 0], [1, 0, 0, 1e-8]):
        for rest in (NO_TURN, [0, 0.6, 0.8, 0]):
            got = one_joint(rotation, 0.5, rest, AXIS, is_swing=True)
            assert np.isfinite(got).all()
            if any(rotation):
                np.testing.assert_allclose(np.linalg.norm(got), 1, atol=1e-6)


NEAR_HALF = (1e-3, 45, 170, 179.9, 179.98, 179.999, 180, 180.001, 200)


def check_swing_alone(axis: Any, rest: Any, rng: Rng) -> None:
    for degrees in NEAR_HALF:
        joint = oracle.product(rest, turned(across(axis), degrees))
        got = one_joint(joint, 0.25, rest, axis)
        np.testing.assert_allclose(np.abs(got @ joint), 1, atol=1e-6)
        if degrees == 180:
            # What rounding leaves of a twist there does not turn it about.
            noise = rng.normal(scale=1e-8, size=4)
            near = one_joint(joint + noise, 0.25, rest, axis)
            np.testing.assert_allclose(np.abs(near @ got), 1, atol=1e-6)


def test_a_swing_alone_is_the_joint(rng: Rng) -> None:
    """However far, and also at half a turn, where no twist can be told."""
    # Where rounding was once taken for a twist: 7e-4 radians, and 0.01 at half a turn.
    check_swing_alone(AXIS, np.array(NO_TURN), rng)
    for rest in random_rotations(rng, 40):
        axis = rng.normal(size=3)
        axis = tuple((axis / np.linalg.norm(axis)).tolist())
        check_swing_alone(axis, np.array(NO_TURN), rng)
        check_swing_alone(axis, rest, rng)


def test_a_swing_link_goes_the_way_of_its_joint(rng: Rng) -> None:
    """A swing link goes that way on which its joint went, up to half a turn."""
    for rest in random_rotations(rng, 40):
        axis = rng.normal(size=3)
        axis = tuple((axis / np.linalg.norm(axis)).tolist())
        for degrees in (170, 179.9, 179.98, 179.999, 180):
            joint = oracle.product(rest, turned(across(axis), degrees))
            got = one_joint(joint, 0.5, rest, axis, is_swing=True)
            ways = [
                oracle.product(rest, turned(across(axis), side * degrees / 2))
                for side in (1, -1)
            ]
            nearer = max(
                float(np.abs(got @ way)) for way in ways[: 1 + (degrees > 179.99)]
            )
            assert nearer == pytest.approx(1, abs=2e-6)
            np.testing.assert_allclose(np.linalg.norm(got), 1, atol=1e-6)


def test_twist_links_are_finite_and_unit(rng: Rng) -> None:
    for rotation in ([0, 0, 0, 0], [0, 0.6, 0.8, 0], [1, 0, 0, 0], [1, 0, 0, 1e-8]):
        for rest in (NO_TURN, [0, 0, 0, 0], [0, 0.6, 0.8, 0]):
            got = one_joint(rotation, 0.5, rest, AXIS)
            assert np.isfinite(got).all()
            if any(rotation):
                np.testing.assert_allclose(np.linalg.norm(got), 1, atol=1e-6)


def test_a_twist_link_stands_where_its_joint_does(rng: Rng) -> None:
    skeleton = with_axes(rng, linked(rng, random_skeleton(rng, 3), [1, 1, 1]), 1)
    node, link = next(iter(skeleton.links.items()))
    moves, sizes = skeleton.translations.copy(), skeleton.scales.copy()
    moves[link.joint] += [2, -4, 6]
    sizes[link.joint] *= [3, 1, 0]
    pose = Character(plain_scene(skeleton)).pose_from(moves, None, sizes)
    np.testing.assert_array_equal(pose.translations[node], moves[link.joint])
    np.testing.assert_array_equal(pose.scales[node], sizes[link.joint])


def test_at_rest_a_link_is_its_joint(rng: Rng) -> None:
    skeleton = linked(rng, random_skeleton(rng, 6), [3, 2, 0, 1])
    skeleton = with_axes(rng, skeleton)
    pose = Character(plain_scene(skeleton)).pose()
    for node, link in skeleton.links.items():
        np.testing.assert_allclose(
            pose.rotations[node], pose.rotations[link.joint], atol=3e-7
        )
        for part in (pose.translations, pose.scales):
            np.testing.assert_array_equal(part[node], part[link.joint])
        np.testing.assert_allclose(pose.world[node], pose.world[link.joint], atol=2e-6)


def test_a_link_goes_on_a_straight_line(rng: Rng) -> None:
    skeleton = linked(rng, random_skeleton(rng, 3), [1, 1, 1])
    node, link = next(iter(skeleton.links.items()))
    moves, sizes = skeleton.translations.copy(), skeleton.scales.copy()
    moves[link.joint] += [2, -4, 6]
    sizes[link.joint] *= [3, 1, 0]
    pose = Character(plain_scene(skeleton)).pose_from(moves, None, sizes)
    wanted = skeleton.translations[link.joint] + np.array([1, -2, 3])
    np.testing.assert_allclose(pose.translations[node], wanted, atol=1e-6)
    wanted = skeleton.scales[link.joint] * [2, 1, 0.5]
    np.testing.assert_allclose(pose.scales[node], wanted, atol=1e-6)


def test_poses_of_clips_and_of_ones_own(rng: Rng) -> None:
    """The pose shows driven values, whatever a track or the caller says of the link."""
    skeleton = with_axes(rng, linked(rng, random_skeleton(rng, 7), [2, 3, 1, 0, 2]))
    clip = random_clip(rng, "c", len(skeleton))
    said = {track.node for track in clip.tracks}
    assert said & skeleton.links.keys()  # also tracks of links
    hero = Character(plain_scene(skeleton, clip))
    poses = hero.pose_many("c", [0.2, 1.1, 0.7])
    for n, time in enumerate((0.2, 1.1, 0.7)):
        local = oracle.local_matrices(skeleton, clip, time)
        np.testing.assert_allclose(poses.local[n], local, atol=5e-6)
        expected = oracle.world_matrices(skeleton, local)
        np.testing.assert_allclose(poses.world[n], expected, atol=5e-5)
    own = hero.pose_from(rotations=(turns := random_rotations(rng, len(skeleton))))
    moves, sizes = skeleton.translations.copy(), skeleton.scales.copy()
    oracle.follow_links(skeleton, moves, turns, sizes)
    np.testing.assert_allclose(own.rotations, turns, atol=1e-6)


def test_a_link_turns_a_part_of_the_way(rng: Rng) -> None:
    """The concept: an elbow bent by 120 degrees, three links at 30, 60 and 90."""
    half = np.radians(60)
    bent = np.array([[0, 0, 0, 1], [np.sin(half), 0, 0, np.cos(half)]])
    track = Track(0, "rotation", np.array([0, 1], np.float32), bent)
    skeleton = Skeleton(
        tuple("abcd"),
        np.full(4, -1),
        np.tile([1.0, 2, 3], (4, 1)),
        np.tile(NO_TURN, (4, 1)),
        np.ones((4, 3)),
        links={k: Link(0, k / 4) for k in (1, 2, 3)},
    )
    hero = Character(plain_scene(skeleton, Clip("bend", (track,))))
    turns = hero.pose("bend", 1).rotations
    angles = np.degrees(2 * np.arctan2(turns[:, 0], turns[:, 3]))
    np.testing.assert_allclose(angles, [120, 30, 60, 90], atol=1e-4)


def test_posed_characters_have_no_links(rng: Rng) -> None:
    """At rest is then the pose: the nodes stay where it put them."""
    skeleton = linked(rng, random_skeleton(rng, 5), [2, 0, 1])
    hero = Character(plain_scene(skeleton))
    pose = hero.pose_from(rotations=random_rotations(rng, len(skeleton)))
    stands = hero.posed(pose)
    assert not stands.skeleton.links
    np.testing.assert_array_equal(stands.skeleton.rotations, pose.rotations)
    np.testing.assert_allclose(stands.pose().world, pose.world, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda local: local.astype(np.float64), "local: float64"),
        (lambda local: local[:, :-10], "local: shape"),
        (lambda local: np.asfortranarray(local), "local: must be"),
    ],
)
def test_refusals(change: Any, text: str, rng: Rng) -> None:
    layout = make_layout(plain_scene(linked(rng, random_skeleton(rng, 4), [2])))
    with pytest.raises(ShapeError, match=text):
        follow_links(layout, change(random_locals(rng, layout, 2)))


def test_a_posed_array_cannot_be_read_only(rng: Rng) -> None:
    layout = make_layout(plain_scene(linked(rng, random_skeleton(rng, 4), [2])))
    local = random_locals(rng, layout, 1)
    local.flags.writeable = False
    with pytest.raises(ShapeError, match="can be written"):
        follow_links(layout, local)


def test_tables_fit_the_kernel(rng: Rng) -> None:
    """Joints in as few columns as there are."""
    layout = make_layout(plain_scene(linked(rng, random_skeleton(rng, 22), [3] * 20)))
    links = layout.links
    assert links is not None
    assert len(links.joints) == 24
    assert len(links.blocks) == 9
    assert len(links.curves) == 9 * 8 * kernel_links.BLOCK
    assert links.blocks[:-1, kernel_links.WIDTH].tolist() == [8] * 8


def test_a_tree_without_its_links(rng: Rng) -> None:
    """`replace` takes them away, and then nothing follows."""
    skeleton = linked(rng, random_skeleton(rng, 5), [2, 2])
    plain = replace(skeleton, links={})
    turns = random_rotations(rng, len(skeleton)).astype(np.float32)
    pose = Character(plain_scene(plain)).pose_from(rotations=turns)
    np.testing.assert_array_equal(pose.rotations, turns)
