"""Node tables of the mannequin and of bodies in other people's files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import flexor
from flexor.scene.human.human import SIDES, find_human
from flexor.scene.runtime.node_table import make_node_table
from tests.conformance.test_humans import BEASTS, EXPECTED, load

LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")
ARM = ("Shoulder", "UpperArm", "LowerArm", "Hand")
SPINE = ("spine", "chest", "upperChest", "neck", "head")


def side_names(side: str) -> str:
    fingers = [
        f"{finger}{n}"
        for finger in "thumb index middle ring pinky".split()
        for n in range(3)
    ]
    words = "shoulder arm arm-roll elbow elbow-roll wrist hand".split() + fingers
    return " ".join(f"{side}-{word}" for word in words)


def test_the_mannequin_has_the_default_numbers() -> None:
    names = make_node_table(flexor.samples.mannequin().skeleton).names
    leg = "hip hip-roll knee knee-roll ankle foot toe".split()
    assert " ".join(names) == " ".join(
        [
            "hips",
            *(f"l-{word}" for word in leg),
            *(f"r-{word}" for word in leg),
            "spine0 spine1 chest neck head",
            side_names("l"),
            side_names("r"),
            "mannequin",
        ]
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_bodies_in_the_order_of_their_parts(assets: Path, name: str) -> None:
    skeleton = load(assets, name).scene.skeleton
    human = find_human(skeleton)
    table = make_node_table(skeleton)
    assert sorted(table.nodes.tolist()) == list(range(len(skeleton)))
    number = {node: row for row, node in enumerate(table.nodes.tolist())}

    def numbers(*parts: str) -> list[int]:
        return [number[human[part]] for part in parts if part in human]

    groups = [numbers("hips")]
    groups += [numbers(*(side + part for part in LEG)) for side in SIDES]
    groups += [numbers(*SPINE)]
    groups += [numbers(*(side + part for part in ARM)) for side in SIDES]
    whole = [row for group in groups for row in group]
    assert len(whole) > 10
    assert whole == sorted(whole)
    assert (number[human["hips"]] == 0) == (skeleton.parents[human["hips"]] < 0)
    fingers = [
        [number[node] for part, node in human.nodes.items() if is_finger(part, side)]
        for side in SIDES
    ]
    for row in fingers:
        assert row == sorted(row)
    if all(fingers):
        assert groups[4][-1] < fingers[0][0]
        assert fingers[0][-1] < groups[5][0] < fingers[1][0]


def is_finger(part: str, side: str) -> bool:
    own = part.removeprefix(side)
    return own != part and own not in (*LEG, *ARM, "Eye")


@pytest.mark.parametrize("name", EXPECTED)
def test_rolls_stand_between_their_neighbours(assets: Path, name: str) -> None:
    skeleton = load(assets, name).scene.skeleton
    human = find_human(skeleton)
    table = make_node_table(skeleton)
    number = {node: row for row, node in enumerate(table.nodes.tolist())}
    for side in SIDES:
        for limb in (LEG, ARM):
            for part, other in pairwise([side + part for part in limb]):
                if part not in human.rolls:
                    continue
                line = [human[part], *human.rolls[part], human[other]]
                rows = [number[node] for node in line]
                assert rows == list(range(rows[0], rows[0] + len(rows)))


@pytest.mark.parametrize("name", BEASTS)
def test_other_creatures_have_each_node_once(assets: Path, name: str) -> None:
    skeleton = load(assets, f"{name}.glb").scene.skeleton
    table = make_node_table(skeleton)
    assert sorted(table.nodes.tolist()) == list(range(len(skeleton)))
    if "hips" not in find_human(skeleton):
        walked: list[int] = []
        left = skeleton.children(-1)[::-1]
        while left:
            walked.append(left.pop())
            left += skeleton.children(walked[-1])[::-1]
        assert table.nodes.tolist() == walked
