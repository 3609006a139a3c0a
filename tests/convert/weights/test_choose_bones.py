"""Which joints are bones, where their lines go, and where trunks fork."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.weights.choose_bones import BoneLines, choose_joints, make_lines
from tests.convert.shape.tubes import tube

# Hips, spine, head, two legs; a limb leaves the hips 0.3 to the side.
HEADS = np.array(
    [[0, 0, 0], [0, 0, 1], [0, 0, 2], [-0.3, 0, -0.1], [0.3, 0, -0.1]], float
)
PARENTS = np.array([-1, 0, 1, 0, 0], np.int32)
FEET = np.array([[-0.3, 0, -2], [0.3, 0, -2]])


def column(x: float, low: float, high: float, thick: float) -> Any:
    """Points of a tube along z, and its triangles' corners."""
    points, _, faces = tube(np.linspace(low, high, 21), (thick, thick))
    points = points[:, [1, 2, 0]] + np.array([x, 0, 0])
    return points, points[faces]


def figure(thick: float = 0.35) -> Any:
    """Points of a trunk and two legs."""
    parts = [column(0, -0.3, 3, thick), column(-0.3, -2, 0, 0.15)]
    parts.append(column(0.3, -2, 0, 0.15))
    return np.concatenate([points for points, _ in parts])


def lines_of(heads: Any, parents: Any, thick: float = 0.35) -> BoneLines:
    rows = np.arange(len(heads), dtype=np.int32)
    return make_lines(figure(thick), heads, parents, rows, 5.0)


def test_a_trunk_forks_to_where_its_legs_begin() -> None:
    lines = lines_of(HEADS, PARENTS)
    assert lines.rows.tolist() == [0, 1, 2, 3, 4]
    assert lines.forks.tolist() == [0, 0]
    np.testing.assert_array_equal(lines.fork_ends, HEADS[3:])
    np.testing.assert_array_equal(lines.ends[0], HEADS[1])
    bones, starts, ends = lines.with_forks()
    assert bones.tolist() == [0, 1, 2, 3, 4, 0, 0]
    np.testing.assert_array_equal(starts[5:], HEADS[[0, 0]])
    np.testing.assert_array_equal(ends[5:], HEADS[3:])


@pytest.mark.parametrize("change", ["one", "uneven", "short", "shallow"])
def test_a_trunk_forks_only_to_twin_limbs(change: str) -> None:
    """Not to a single one, nor to one as long as the way to it, as collar bones are;
    and not from a joint close to the skin.
    """
    heads, parents = HEADS.copy(), PARENTS.copy()
    if change == "one":
        heads, parents = heads[:4], parents[:4]
    elif change == "uneven":
        heads[4, 0] = 0.4
    elif change == "short":
        heads = np.concatenate([heads, heads[3:] - [0, 0, 0.3]])
        parents = np.append(parents, [3, 4]).astype(np.int32)
    else:
        heads[0, 1] = 0.33
    assert not len(lines_of(heads, parents).forks)


def test_a_bone_goes_on_into_no_twin() -> None:
    """Also where a leg goes on straighter than all else."""
    heads = np.array(
        [[0, 0, 1], [0, 0, 0], [-0.3, 0, -0.6], [0.3, 0, -0.6], [0, 0.6, 0], [0, 1, 0]],
        float,
    )
    parents = np.array([-1, 0, 1, 1, 1, 4], np.int32)
    lines = lines_of(heads, parents)
    np.testing.assert_array_equal(lines.ends[1], heads[4])
    # With nothing else to go on into, it takes one of them.
    lines = lines_of(heads[:4], parents[:4])
    assert len(lines.rows) == 4


def boot() -> Any:
    """Triangles of a boot: a shaft that begins below the middle of the shin."""
    return column(0, -0.2, 0.4, 0.2)[1]


def test_a_shin_whose_end_is_in_the_boot_is_a_bone_of_it() -> None:
    heads = np.array([[0, 0, 4], [0, 0, 2], [0, 0, 0.1], [0, 0.1, -0.1]], float)
    parents = np.array([-1, 0, 1, 2], np.int32)
    assert choose_joints(boot(), heads, parents, 4.0).tolist() == [1, 2, 3]


@pytest.mark.parametrize("tops", [1, 2])
def test_the_way_from_the_ground_to_the_hips_is_none(tops: int) -> None:
    """Whether it is one joint or several."""
    heads = np.array([[0, 0, -2], [0, 0, -1], [0, 0, 1], [0, 0, 2], [0.1, 0, 0]], float)
    parents = np.array([-1, 0, 1, 2, 2], np.int32)
    if tops == 1:
        heads, parents = heads[1:], np.maximum(parents[1:] - 1, -1)
    triangles = column(0, -0.5, 3, 0.3)[1]
    wanted = np.arange(tops, len(heads)).tolist()
    assert choose_joints(triangles, heads, parents, 5.0).tolist() == wanted
