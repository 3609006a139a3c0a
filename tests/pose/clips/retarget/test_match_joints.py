"""Which joint moves which: names, maps, parts of bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flexor
from flexor.errors import SettingError
from flexor.pose.clips.retarget.match_joints import Feed, match_joints
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import Human, find_human


def chain(*names: str) -> Skeleton:
    """Joints above each other, half a metre apart."""
    count = len(names)
    moves = np.tile([0, 0.5, 0], (count, 1))
    turns = np.tile([0.0, 0, 0, 1], (count, 1))
    parents = np.arange(-1, count - 1, dtype=np.int32)
    return Skeleton(names, parents, moves, turns, np.ones((count, 3), "f4"))


def turning(*nodes: int) -> Clip:
    time, still = np.zeros(1, "f4"), np.array([[0, 0, 0, 1]], "f4")
    return Clip("c", tuple(Track(n, "rotation", time, still) for n in nodes))


def test_equal_names() -> None:
    match = match_joints(chain("a", "b", "c"), chain("x", "c", "b"))
    assert match.how == "names"
    assert match.feeds == {1: Feed(2, 2), 2: Feed(1, 1)}
    assert match.left_source == ("a",)
    assert match.left_target == ("x",)
    assert match.bodies is None


def test_of_equal_names_in_one_skeleton_the_first_counts() -> None:
    match = match_joints(chain("a", "b", "b"), chain("b", "a", "b"))
    assert match.feeds == {0: Feed(1, 1), 1: Feed(0, 0)}
    same = match_joints(chain("a", "b", "b"), chain("a", "b", "b"))
    assert same.feeds == {n: Feed(n, n) for n in range(3)}


def test_only_what_moves_has_to_match() -> None:
    source, target = chain("a", "b", "c", "d", "e"), chain("a", "z")
    with pytest.raises(SettingError, match="1 joints have equal names"):
        match_joints(source, target)
    match = match_joints(source, target, clip=turning(0))
    assert match.feeds == {0: Feed(0, 0)}
    assert match.left_source == ()


def bodies(*counts: int) -> tuple[Human, Human]:
    """Two bodies with trunks and necks of so many joints, above each other."""
    made = []
    for trunk, necks in (counts[:2], counts[2:]):
        head = 1 + trunk + necks
        nodes = {"hips": 0, "head": head}
        for row, part in enumerate(("UpperArm", "UpperLeg"), head + 1):
            nodes |= {f"left{part}": row, f"right{part}": row + 2}
        rows = tuple(range(1, head))
        made.append(Human(nodes, rows[:trunk], rows[trunk:]))
    return made[0], made[1]


@pytest.mark.parametrize(
    ("counts", "feeds"),
    [
        ((2, 1, 2, 1), {1: Feed(1, 1), 2: Feed(2, 2), 3: Feed(3, 3)}),
        ((4, 1, 2, 1), {1: Feed(2, 2), 2: Feed(4, 4), 3: Feed(5, 5)}),
        ((1, 1, 2, 1), {1: Feed(0, 1, 0.5), 2: Feed(1, 1), 3: Feed(2, 2)}),
        ((1, 0, 1, 1), {1: Feed(1, 1), 2: Feed(1, 2, 0.5)}),
        ((1, 2, 1, 1), {1: Feed(1, 1), 2: Feed(2, 3, 0.5)}),
    ],
)
def test_trunk_and_neck_in_proportion(
    counts: tuple[int, ...], feeds: dict[int, Feed]
) -> None:
    one, two = bodies(*counts)
    source = chain(*(f"s{n}" for n in range(12)))
    target = chain(*(f"t{n}" for n in range(12)))
    match = match_joints(source, target, bodies=(one, two))
    assert match.how == "humans"
    assert match.feeds[0] == Feed(0, 0)
    assert match.feeds[two["head"]] == Feed(one["head"], one["head"])
    middle = {n: f for n, f in match.feeds.items() if 0 < n < two["head"]}
    assert middle == feeds
    assert set(match.pairs) == {n for n, f in match.feeds.items() if not f.fraction}


def test_links_are_not_matched() -> None:
    hero = flexor.samples.mannequin()
    match = match_joints(hero.skeleton, hero.skeleton)
    assert set(match.feeds) == set(range(len(hero.skeleton))) - set(hero.skeleton.links)


def test_a_map_corrects_what_is_found() -> None:
    source, target = chain("a", "b", "c", "d"), chain("a", "b", "c", "x")
    match = match_joints(source, target, {"c": "x", "b": ""})
    assert match.how == "names"
    assert match.feeds == {0: Feed(0, 0), 3: Feed(2, 2)}
    assert match.given == {3}
    assert match.left_source == ("b", "d")
    only = match_joints(source, target, {"c": "x", "*": ""})
    assert only.how == "given"
    assert only.feeds == {3: Feed(2, 2)}


def test_in_betweens_stay_beside_a_map() -> None:
    source = chain(*(f"s{n}" for n in range(12)))
    target = chain(*(f"t{n}" for n in range(12)))
    found = match_joints(source, target, bodies=bodies(1, 1, 2, 1))
    given = {source.names[one]: target.names[n] for n, one in found.pairs.items()}
    same = match_joints(source, target, given, bodies=bodies(1, 1, 2, 1))
    assert same.how == "humans"
    assert same.feeds == found.feeds


def test_a_map_is_not_folded() -> None:
    names = ("hips", "low", "high", "left", "right")
    source, target = chain(*names), chain("hips", "left", "right")
    parents = np.array([-1, 0, 1, 2, 2], np.int32)
    source = replace(source, parents=parents)
    target = replace(target, parents=np.array([-1, 0, 0], np.int32))
    given = {"hips": "hips", "left": "left", "right": "right"}
    assert match_joints(source, target, given).feeds[0] == Feed(0, 0)
    assert match_joints(source, target).feeds[0] == Feed(2, 2)


def test_a_map_makes_a_body_known(rng: np.random.Generator) -> None:
    hero = flexor.samples.mannequin().skeleton
    human = find_human(hero)
    bare = replace(hero, names=tuple(f"n{n}" for n in range(len(hero))))
    assert "hips" not in find_human(bare)
    given = {hero.names[n]: bare.names[n] for n in human.nodes.values()}
    match = match_joints(hero, bare, given)
    assert match.bodies is not None
    assert match.bodies[1].nodes == human.nodes


def test_what_the_hips_move_are_the_hips() -> None:
    source = chain(*(f"s{n}" for n in range(12)))
    target = chain(*(f"t{n}" for n in range(12)))
    match = match_joints(source, target, {"s0": "t11"}, bodies=bodies(2, 1, 2, 1))
    assert match.bodies is not None
    assert match.bodies[1]["hips"] == 11
    assert match.feeds[11] == Feed(0, 0)
    assert 0 not in match.feeds
    arm = {"s4": "t5", "s5": "t4"}  # what has a partner of its own stays what it is
    match = match_joints(source, target, arm, bodies=bodies(2, 1, 2, 1))
    assert match.bodies is not None
    assert match.bodies[1].nodes == bodies(2, 1, 2, 1)[1].nodes


def test_a_loose_foot_at_the_end_of_a_leg_is_the_foot() -> None:
    names = ["hips", "head"]
    moves, parents = [[0, 0.9, 0], [0, 0.6, 0]], [-1, 0]
    for side, sign in (("L", 1), ("R", -1)):
        row = len(names)
        names += [f"Leg1.{side}", f"Leg2.{side}", f"Leg3.{side}", f"Tip.{side}"]
        names.append(f"Foot.{side}")
        parents += [0, row, row + 1, row + 2, 0]
        moves += [[0.1 * sign, 0, 0], *[[0, -0.3, 0]] * 3, [0.1 * sign, -0.9, 0.01]]
    count = len(names)
    turns, sizes = np.tile([0.0, 0, 0, 1], (count, 1)), np.ones((count, 3), "f4")
    body = Skeleton(tuple(names), np.array(parents), np.array(moves), turns, sizes)
    human = find_human(body)
    assert names[human["leftFoot"]] == "Leg3.L"
    match = match_joints(body, body, bodies=(human, human))
    assert match.bodies is not None
    assert names[match.bodies[1]["leftFoot"]] == "Foot.L"
    assert names[match.bodies[1]["rightFoot"]] == "Foot.R"
    far = np.array(moves)
    far[-1] += [0, 0, 0.3]  # this one belongs to something else
    match = match_joints(body, replace(body, translations=far))
    assert match.bodies is not None
    assert names[match.bodies[1]["rightFoot"]] == "Leg3.R"
