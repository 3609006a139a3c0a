"""Node tables: the order of their nodes, selections by mask and by counter, bones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.human.human import Human, find_human
from flexor.scene.runtime.node_table import (
    NodeTable,
    bone_lengths,
    bones_of,
    counter_from_masks,
    make_node_table,
    masks_from_counter,
    select_by_counter,
    select_by_mask,
)
from tests.bodies import make_body
from tests.scenes import random_skeleton, rest_world

Rng = np.random.Generator


def make_tree(text: str, step: Any = (0.0, 0.5, 0.0)) -> Skeleton:
    """A skeleton of "name:parent" words, "-" for a root; each a step from its parent,
    legs the other way. Parents are row numbers, so that names may be there twice.
    """
    words = [word.split(":") for word in text.split()]
    count = len(words)
    steps = np.tile(np.array(step, float), (count, 1))
    steps[["Leg" in name or "Foot" in name for name, _ in words]] *= -1
    return Skeleton(
        tuple(name for name, _ in words),
        np.array([-1 if up == "-" else int(up) for _, up in words], np.int32),
        steps,
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)),
    )


def make_chain(count: int) -> NodeTable:
    return NodeTable(
        tuple(f"n{row}" for row in range(count)),
        np.arange(count, dtype=np.int32),
        np.arange(-1, count - 1, dtype=np.int32),
        np.full(count, 0.5, np.float32),
    )


# The order of the nodes

# Hips, legs with rolls, then the trunk and arms, in an order that a file may have: the
# arms first, the head in between, eyes and props among them.
MIXED = """
Root:- Hips:0 Spine:1 Chest:2
RightArm:3 Sword:8 RightArmRoll:4 RightForeArm:6 RightHand:7 RightHandIndex1:8
LeftArm:3 LeftArmRoll:10 LeftForeArm:11 LeftHand:12
Neck:3 Head:14 LeftEye:15 Hat:15
RightUpLeg:1 RightLeg:18 RightFoot:19
LeftUpLeg:1 LeftUpLegRoll:21 LeftLeg:22 LeftFoot:23 LeftToeBase:24
Body:0 Lamp:-
"""


def test_a_body_in_the_order_of_its_parts() -> None:
    table = make_node_table(make_tree(MIXED))
    assert " ".join(table.names) == (
        "Root Hips LeftUpLeg LeftUpLegRoll LeftLeg LeftFoot LeftToeBase "
        "RightUpLeg RightLeg RightFoot Spine Chest Neck Head "
        "LeftArm LeftArmRoll LeftForeArm LeftHand "
        "RightArm RightArmRoll RightForeArm RightHand RightHandIndex1 "
        "Body LeftEye Hat Sword Lamp"
    )
    assert table.parents[:7].tolist() == [-1, 0, 1, 2, 3, 4, 5]
    assert table.parents[-5:].tolist() == [0, 13, 13, 21, -1]


def test_all_parts_of_a_body() -> None:
    """Fingers from the thumb on; what is no part of a limb or the trunk comes last."""
    names = make_node_table(make_body()).names
    assert names[:5] == (
        "hips",
        *(f"left{p}" for p in "UpperLeg LowerLeg".split()),
        "leftFoot",
        "leftToes",
    )
    middle = ("spine", "chest", "upperChest", "neck", "head")
    assert names[9:14] == middle
    arm = "Shoulder UpperArm LowerArm Hand ThumbMetacarpal ThumbProximal".split()
    assert names[14:20] == tuple(f"left{part}" for part in arm)
    assert names[32] == "leftLittleDistal"
    assert names[33:39] == tuple(f"right{part}" for part in arm)
    assert names[-3:] == ("jaw", "leftEye", "rightEye")


def test_toes_and_fingers_that_are_no_part_belong_to_their_limb() -> None:
    """A foot with two toes, a finger with one joint too many."""
    text = """
    Hips:- LeftUpLeg:0 LeftLeg:1 LeftFoot:2 LeftToe1:3 LeftToe2:3 LeftToePin:3
    RightUpLeg:0 RightLeg:7 RightFoot:8
    Spine:0 Head:10 LeftArm:10 LeftForeArm:12 LeftHand:13
    LeftHandIndex1:14 LeftHandIndex2:15 LeftHandIndex3:16 LeftHandIndex4:17
    RightArm:10 RightForeArm:19 RightHand:20
    """
    names = make_node_table(make_tree(text)).names
    assert names[3:8] == (
        *("LeftFoot", "LeftToe1", "LeftToe2", "RightUpLeg", "RightLeg"),
    )
    row = names.index("LeftHandIndex4")
    assert names[row + 1] == "RightArm"
    assert names[-1] == "LeftToePin"


def test_fingers_of_an_arm_without_a_hand() -> None:
    text = """
    Hips:- LeftUpLeg:0 LeftLeg:1 RightUpLeg:0 RightLeg:3 Spine:0 Head:5
    LeftArm:5 LeftForeArm:7 LeftIndex1:8 LeftIndex2:9 LeftIndex3:10 LeftIndex4:11
    RightArm:5 RightForeArm:13
    """
    names = make_node_table(make_tree(text)).names
    assert names[-3:] == ("LeftIndex4", "RightArm", "RightForeArm")


def test_the_human_may_be_given() -> None:
    """Names say nothing here; what is given decides."""
    skeleton = make_tree("a:- b:0 c:0 d:2 e:1")
    assert make_node_table(skeleton).names == ("a", "b", "e", "c", "d")
    human = Human({"hips": 0, "leftUpperLeg": 2, "leftLowerLeg": 3, "spine": 1})
    assert make_node_table(skeleton, human).names == ("a", "c", "d", "b", "e")
    body = make_body()
    assert make_node_table(body, find_human(body)).names == make_node_table(body).names


def test_legs_that_do_not_hang_on_the_hips() -> None:
    """Each node comes after its parent, whatever the order of the parts is."""
    skeleton = make_tree("hips:- base:- leg:1 spine:0")
    human = Human({"hips": 0, "leftUpperLeg": 2, "spine": 3})
    assert make_node_table(skeleton, human).names == ("hips", "base", "leg", "spine")


def test_other_creatures_are_walked_depth_first() -> None:
    table = make_node_table(make_tree("tail:4 body:4 fin:1 eye:- root:- fin:1"))
    assert table.names == ("eye", "root", "tail", "body", "fin", "fin")
    assert table.nodes.tolist() == [3, 4, 0, 1, 2, 5]
    assert table.parents.tolist() == [-1, -1, 1, 1, 3, 3]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_every_node_once_with_its_parent_and_length(count: int, rng: Rng) -> None:
    skeleton = random_skeleton(rng, count, roots=min(count, 2), scale="uneven")
    table = make_node_table(skeleton)
    assert sorted(table.nodes.tolist()) == list(range(count))
    places = rest_world(skeleton)[:, :, 3]
    for row, node in enumerate(table.nodes):
        parent, up = skeleton.parents[node], table.parents[row]
        assert table.names[row] == skeleton.names[node]
        assert (parent == -1) == (up == -1)
        length = 0.0
        if parent >= 0:
            assert table.nodes[up] == parent
            length = float(np.linalg.norm(places[node] - places[parent]))
        assert table.lengths[row] == pytest.approx(length, rel=1e-5, abs=1e-6)


def test_a_long_chain() -> None:
    text = " ".join(f"n:{row - 1 if row else '-'}" for row in range(3000))
    assert make_node_table(make_tree(text)).nodes.tolist() == list(range(3000))


@pytest.mark.parametrize(
    ("human", "text"),
    [
        (Human({"hips": 3}), "human: hips is node 3, there are 3"),
        (Human({"head": -1}), "human: head is node -1, there are 3"),
        (Human({"hips": 0}, trunk=(7,)), "human: trunk is node 7"),
        (Human({"hips": 0}, necks=(8,)), "human: necks is node 8"),
        (Human(rolls={"leftFoot": (9,)}), "human: leftFoot is node 9"),
    ],
)
def test_a_human_of_another_skeleton_is_refused(human: Human, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        make_node_table(make_tree("a:- b:0 c:0"), human)


def test_lengths_that_are_no_lengths_are_refused() -> None:
    with pytest.raises(ShapeError, match="lengths: must be finite"):
        make_node_table(make_tree("a:- b:0", (0, np.nan, 0)))
    with pytest.raises(ShapeError, match="lengths: must be finite"):
        make_node_table(make_tree("a:- b:0", (0, 3e38, 3e38)))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"nodes": [0, 0]}, "nodes: must be rows"),
        ({"nodes": [0, -1]}, "nodes: must be rows"),
        ({"nodes": [0]}, "nodes: shape"),
        ({"parents": [-2, 0]}, "parents: must be -1 or above"),
        ({"parents": [-1, 1]}, "parents: must come before"),
        ({"parents": [1, -1]}, "parents: must come before"),
        ({"lengths": [0.0, -1.0]}, "lengths: must be finite and not negative"),
        ({"lengths": [0.0, np.inf]}, "lengths: must be finite"),
    ],
)
def test_tables_that_cannot_be(changes: Any, text: str) -> None:
    good = {"names": ("a", "b"), "nodes": [4, 2], "parents": [-1, 0]}
    table: Any = {**good, "lengths": [0.0, 1.0]}
    assert len(NodeTable(**table)) == 2
    with pytest.raises(ShapeError, match=text):
        NodeTable(**{**table, **changes})


# Selections

NEAR, MID, FAR = list(range(9)), [0, 1, 3, 4, 7, 8], [0, 4, 8]
ORDER = [0, 4, 8, 1, 3, 7, 2, 5, 6]


def make_masks(*rows: list[int], count: int = 9) -> Any:
    masks = np.zeros((len(rows), count), bool)
    for mask, row in zip(masks, rows, strict=True):
        mask[row] = True
    return masks


def test_the_counter_of_three_levels() -> None:
    masks = make_masks(NEAR, MID, FAR)
    counts, order = counter_from_masks(masks)
    assert counts.tolist() == [9, 6, 3]
    assert order.tolist() == ORDER
    assert order[: counts[1]].tolist() == [0, 4, 8, 1, 3, 7]
    for level, wanted in enumerate((NEAR, MID, FAR)):
        assert select_by_counter(counts, order, level).tolist() == wanted
        assert select_by_mask(masks, level).tolist() == wanted
    assert (masks_from_counter(counts, order, 9) == masks).all()


def test_nodes_of_no_level_are_not_in_the_list() -> None:
    counts, order = counter_from_masks(make_masks([2, 5], [5]))
    assert (counts.tolist(), order.tolist()) == ([2, 1], [5, 2])
    assert counts.dtype == order.dtype == np.int32


@settings(max_examples=60)
@given(st.integers(0, 30), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_both_forms_agree(nodes: int, levels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    last = rng.integers(0, levels + 1, nodes)  # the levels that select each node
    masks = last > np.arange(levels)[:, None]
    counts, order = counter_from_masks(masks)
    assert (masks_from_counter(counts, order, nodes) == masks).all()
    for level in range(levels):
        chosen = select_by_counter(counts, order, level)
        assert chosen.tolist() == select_by_mask(masks, level).tolist()
        assert chosen.tolist() == np.flatnonzero(masks[level]).tolist()
        assert chosen.dtype == np.int32


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_only_nested_levels_have_a_counter(nodes: int, levels: int, seed: int) -> None:
    masks = np.random.default_rng(seed).random((levels, nodes)) < 0.5
    sets = [set(np.flatnonzero(mask).tolist()) for mask in masks]
    if all(less <= more for more, less in pairwise(sets)):
        counter_from_masks(masks)
    else:
        with pytest.raises(SettingError, match="nested"):
            counter_from_masks(masks)


def test_what_breaks_the_nesting_is_named() -> None:
    masks = make_masks(NEAR, [0, 1, 3], [0, 4])
    with pytest.raises(SettingError, match="level 2 selects node 4, which level 1"):
        counter_from_masks(masks)
    assert select_by_mask(masks, 2).tolist() == [0, 4], "masks need not be nested"


@pytest.mark.parametrize("level", [-1, 3])
def test_levels_that_are_not_there(level: int) -> None:
    masks = make_masks(NEAR, MID, FAR)
    with pytest.raises(SettingError, match=f"level: {level}, must lie in 0..2"):
        select_by_mask(masks, level)
    with pytest.raises(SettingError, match=f"level: {level}, must lie in 0..2"):
        select_by_counter(*counter_from_masks(masks), level)


@pytest.mark.parametrize("masks", [np.ones((2, 3)), [[True]], np.ones(3, bool)])
def test_masks_that_are_none(masks: Any) -> None:
    with pytest.raises(ShapeError, match="masks: "):
        counter_from_masks(masks)
    with pytest.raises(ShapeError, match="masks: "):
        select_by_mask(masks, 0)


@pytest.mark.parametrize(
    ("counts", "order", "text"),
    [
        ([4], [0, 1, 2], r"counts: must lie in 0\.\.3"),
        ([-1], [0, 1, 2], r"counts: must lie in 0\.\.3"),
        ([1], [0, 1, 1], "order: must be numbers of nodes, each once"),
        ([1], [0, -1], "order: must be numbers of nodes"),
        ([1.0], [0], "counts: float64, expected whole numbers"),
        ([1], [[0]], r"order: shape \(1, 1\)"),
    ],
)
def test_counters_that_cannot_be(counts: Any, order: Any, text: str) -> None:
    given = np.array(counts), np.array(order)
    with pytest.raises(ShapeError, match=text):
        masks_from_counter(*given, 9)
    with pytest.raises(ShapeError, match=text):
        select_by_counter(*given, 0)


def test_a_list_of_a_larger_table() -> None:
    with pytest.raises(ShapeError, match="order: node 8, there are 8"):
        masks_from_counter(np.array([9, 6, 3]), np.array(ORDER), 8)
    with pytest.raises(ShapeError, match="counts: list, expected whole numbers"):
        masks_from_counter([1], np.array(ORDER), 9)  # type: ignore[arg-type]


# Bones


def test_bones_reach_over_dropped_nodes() -> None:
    chain = make_chain(4)
    assert bones_of(chain, np.arange(4)).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert bones_of(chain, np.array([0, 1, 3])).tolist() == [[0, 1], [1, 3]]
    assert bones_of(chain, np.array([0, 3])).tolist() == [[0, 3]]
    assert bones_of(chain, np.array([3, 0, 3])).tolist() == [[0, 3]]
    assert bones_of(chain, np.array([True, True, False, True])).tolist() == [
        [0, 1],
        [1, 3],
    ]


def test_selections_without_bones() -> None:
    chain = make_chain(4)
    for none in (np.zeros(4, bool), np.zeros(0, np.int32), np.array([2])):
        bones = bones_of(chain, none)
        assert bones.shape == (0, 2)
        assert bones.dtype == np.int32
    assert bones_of(make_chain(0), np.zeros(0, bool)).shape == (0, 2)


@settings(max_examples=40)
@given(st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_bones_begin_at_the_nearest_selected(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = make_node_table(random_skeleton(rng, count, roots=min(count, 2)))
    mask = rng.random(count) < 0.5
    wanted = []
    for end in np.flatnonzero(mask).tolist():
        up = int(table.parents[end])
        while up >= 0 and not mask[up]:
            up = int(table.parents[up])
        if up >= 0:
            wanted.append([up, end])
    assert bones_of(table, mask).tolist() == wanted
    assert bones_of(table, np.flatnonzero(mask)).tolist() == wanted


def test_lengths_of_bones_are_straight() -> None:
    """Over a dropped node: the way from end to end, not along the old bones."""
    skeleton = Skeleton(
        ("a", "b", "c"),
        np.array([-1, 0, 1], np.int32),
        np.array([[9.0, 9, 9], [3, 0, 0], [0, 4, 0]]),
        np.tile([0.0, 0, 0, 1], (3, 1)),
        np.ones((3, 3)),
    )
    table = make_node_table(skeleton)
    every = bones_of(table, np.arange(3))
    assert bone_lengths(table, skeleton, every).tolist() == [3, 4]
    assert table.lengths.tolist() == [0, 3, 4]
    coarse = bones_of(table, np.array([0, 2]))
    assert bone_lengths(table, skeleton, coarse).tolist() == [5]
    assert bone_lengths(table, skeleton, np.zeros((0, 2), np.int32)).shape == (0,)


@pytest.mark.parametrize(
    ("selected", "text"),
    [
        (np.ones(3, bool), r"selected: shape \(3,\), expected \(4,\)"),
        (np.ones((4, 1), bool), r"selected: shape \(4, 1\)"),
        (np.array([4]), r"selected: must lie in 0\.\.3"),
        (np.array([-1]), r"selected: must lie in 0\.\.3"),
        (np.array([0.5]), "selected: expected numbers of nodes"),
        (np.array([[0]]), "selected: expected numbers of nodes"),
    ],
)
def test_selections_that_cannot_be(selected: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        bones_of(make_chain(4), selected)


def test_bones_of_another_table_are_refused() -> None:
    skeleton, chain = make_tree("a:- b:0"), make_chain(4)
    table = make_node_table(skeleton)
    with pytest.raises(ShapeError, match=r"bones: must lie in 0\.\.1"):
        bone_lengths(table, skeleton, np.array([[0, 2]], np.int32))
    with pytest.raises(ShapeError, match="bones: shape"):
        bone_lengths(table, skeleton, np.array([0, 1], np.int32))
    with pytest.raises(ShapeError, match="table: node 3, the skeleton has 2"):
        bone_lengths(chain, skeleton, np.array([[0, 1]], np.int32))
