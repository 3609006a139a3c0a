"""Chains of joints by place."""

from __future__ import annotations

import numpy as np

import flexor
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.chains import find_chains, is_flat


def hand() -> tuple[np.ndarray, list[int]]:
    """A wrist and four fingers of three joints, and the parents these should have."""
    heads, parents = [[0.0, 0, 0]], [-1]
    for finger in range(4):
        way = np.array([0.3 * (finger - 1.5), 1, 0])
        for number in range(3):
            parents.append(0 if number == 0 else len(heads) - 1)
            heads.append((way * (0.5 + 0.25 * number)).tolist())
    return np.array(heads), parents


def test_fingers_of_a_flat_rig() -> None:
    heads, wanted = hand()
    flat = np.array([-1] + [0] * 12, np.int32)
    assert is_flat(flat)
    found = find_chains(heads, flat, np.ones(13, bool), 1.0)
    assert found.tolist() == wanted


def test_a_tree_stays_as_it_is() -> None:
    heads, parents = hand()
    given = np.array(parents, np.int32)
    assert not is_flat(given)
    assert find_chains(heads, given, np.ones(13, bool), 1.0).tolist() == parents
    body = gather_bodies(flexor.samples.mannequin().scene)[0]
    inside = np.ones(len(body.joints), bool)
    heads = body.frames[:, :, 3]
    found = find_chains(heads, body.parents, inside, body.size)
    assert found.tolist() == body.parents.tolist()


def test_a_foot_on_the_root_hangs_on_its_leg() -> None:
    # Root on the ground, hips, thigh, shin; a foot and a target on the root.
    heads = np.array(
        [
            [0, 0, 0],
            [0, 1, 0],
            [0.2, 0.9, 0],
            [0.2, 0.5, 0],
            [0.2, 0.1, 0],
            [0.2, 0.5, 2],
        ]
    )
    parents = np.array([-1, 0, 1, 2, 0, 0], np.int32)
    inside = np.array([False, True, True, True, True, False])
    assert find_chains(heads, parents, inside, 1.0).tolist() == [-1, 0, 1, 2, 3, 0]
    # In the place of the shin it is a control of that, and no foot.
    heads[4] = heads[3]
    assert find_chains(heads, parents, inside, 1.0).tolist() == parents.tolist()


def test_two_trees_do_not_hang_on_each_other() -> None:
    heads = np.array([[-2.0, 0, 0], [2, 0, 0], [0, -2, 0], [0, 2, 0]])
    parents = np.array([-1, 0, -1, 2], np.int32)
    found = find_chains(heads, parents, np.ones(4, bool), 4.0)
    assert found.tolist() == parents.tolist()
