"""The node tree: refusals, order, lookup."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.character.skeleton import Link, Skeleton
from tests.scenes import random_skeleton


def make(count: int = 3, **changes: Any) -> Skeleton:
    parts: dict[str, Any] = {
        "names": [f"n{i}" for i in range(count)],
        "parents": np.arange(-1, count - 1),
        "translations": np.zeros((count, 3)),
        "rotations": np.tile([0.0, 0, 0, 1], (count, 1)),
        "scales": np.ones((count, 3)),
    }
    return Skeleton(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"parents": [-1, 0]}, r"parents: shape \(2,\), expected \(3,\)"),
        ({"parents": [-1, 0, 3]}, r"parents: must lie in -1..2"),
        ({"parents": [-2, 0, 1]}, r"parents: must lie in -1..2"),
        ({"parents": [1, 0, -1]}, "parents: node . is its own ancestor"),
        ({"parents": [-1, 1, 0]}, "parents: node 1 is its own ancestor"),
        ({"parents": ["a", "b", "c"]}, "parents: cannot be made int32"),
        ({"translations": np.zeros((3, 4))}, "translations: shape"),
        ({"translations": np.zeros((2, 3))}, "translations: shape"),
        ({"rotations": np.zeros((3, 3))}, "rotations: shape"),
        ({"scales": np.zeros(3)}, "scales: shape"),
        ({"matrices": {1: np.eye(4)}}, r"matrices\[1\]: shape \(4, 4\)"),
        ({"links": {3: Link(0, 0.5)}}, r"links\[3\]: there is no such node"),
        ({"links": {-1: Link(0, 0.5)}}, r"links\[-1\]: there is no such node"),
        ({"links": {1: Link(3, 0.5)}}, r"links\[1\]: joint 3: must lie in 0..2"),
        ({"links": {1: Link(-1, 0.5)}}, r"joint -1: must lie in 0..2"),
        ({"links": {1: Link(1, 0.5)}}, "cannot follow itself"),
        ({"links": {2: Link(1, 0.5)}}, "joint 1 has another parent"),
        (
            {"parents": [-1, 0, 0], "links": {2: Link(1, 0.5), 1: Link(2, 0.5)}},
            "is a link itself",
        ),
        *(
            ({"parents": [-1, 0, 0], "links": {2: Link(1, bad)}}, "fraction .*: must")
            for bad in (0, 1, -0.5, 1.5, float("nan"), float("inf"))
        ),
        *(
            (
                {"parents": [-1, 0, 0], "links": {2: Link(1, bad, (0, 1, 0))}},
                "fraction .*: must be 0 or more",
            )
            for bad in (1, -0.5, 1.5, float("nan"))
        ),
        *(
            ({"parents": [-1, 0, 0], "links": {2: Link(1, 0.5, bad)}}, text)
            for bad, text in (
                ((0, 0, 0), "axis .*: must be of length 1"),
                ((0, 2, 0), "axis .*: must be of length 1"),
                ((0, float("nan"), 0), "axis .*: must be of length 1"),
                ((0, float("inf"), 0), "axis .*: must be of length 1"),
                ((0, 1), "axis .*: must be three numbers"),  # type: ignore[arg-type]
            )
        ),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


def test_arrays_are_frozen() -> None:
    skeleton = make(matrices={1: np.eye(3, 4)})
    arrays = [skeleton.parents, skeleton.translations, skeleton.rotations]
    arrays += [skeleton.scales, skeleton.order, skeleton.matrices[1]]
    for array in arrays:
        assert not array.flags.writeable
    assert skeleton.parents.dtype == skeleton.order.dtype == np.int32
    assert skeleton.translations.dtype == skeleton.matrices[1].dtype == np.float32
    assert isinstance(skeleton.names, tuple)
    with pytest.raises(TypeError):
        skeleton.matrices[2] = np.eye(3, 4)  # type: ignore[index]
    with pytest.raises(AttributeError):
        skeleton.parents = skeleton.order  # type: ignore[misc]


def test_links() -> None:
    """Also of roots; frozen, copied and replaced like all else."""
    given = {2: Link(np.int64(0), np.float32(0.25)), 1: Link(0, 0.5)}  # type: ignore[arg-type]
    skeleton = make(parents=[-1, -1, -1], links=given)
    del given[1]
    wanted = {2: Link(0, 0.25), 1: Link(0, 0.5)}
    for made in (
        skeleton,
        copy.deepcopy(skeleton),
        pickle.loads(pickle.dumps(skeleton)),
    ):
        assert dict(made.links) == wanted
        assert type(made.links[2].joint) is int
        assert type(made.links[2].fraction) is float
    with pytest.raises(TypeError):
        skeleton.links[0] = Link(1, 0.5)  # type: ignore[index]
    assert dict(make().links) == {}
    axis = np.array([0, 0.6, 0.8], np.float64)
    twist = {1: Link(0, 0, axis)}  # type: ignore[arg-type]
    skeleton = make(parents=[-1, -1, -1], links=twist)
    assert pickle.loads(pickle.dumps(skeleton)).links[1] == Link(0, 0, (0, 0.6, 0.8))


def test_no_nodes() -> None:
    skeleton = make(0)
    assert len(skeleton) == 0
    assert len(skeleton.order) == 0


@pytest.mark.parametrize("count", [1, 2, 5, 9, 40])
@pytest.mark.parametrize("roots", [1, 3])
def test_order_has_parents_first(
    count: int, roots: int, rng: np.random.Generator
) -> None:
    skeleton = random_skeleton(rng, count, roots=min(roots, count))
    place = np.argsort(skeleton.order)
    assert sorted(skeleton.order) == list(range(count))
    for node, parent in enumerate(skeleton.parents):
        assert parent < 0 or place[parent] < place[node]


def test_order_is_by_depth_then_by_number() -> None:
    parents = [2, -1, 1, -1, 3, 1]
    assert make(6, parents=parents).order.tolist() == [1, 3, 2, 4, 5, 0]


def test_random_skeletons_are_not_parent_first(rng: np.random.Generator) -> None:
    """What the other tests rely on."""
    for count in (5, 9, 17):
        skeleton = random_skeleton(rng, count)
        assert (skeleton.parents > np.arange(count)).any()
        assert np.count_nonzero(skeleton.parents < 0) == 2


def test_a_deep_chain_is_quick() -> None:
    """A hostile file may nest very many nodes: the work must not grow with depth."""
    count = 20_000
    skeleton = make(count)
    assert (skeleton.order == np.arange(count)).all()


def test_index() -> None:
    skeleton = make(names=["hip", "knee", "knee"])
    assert skeleton.index("knee") == 1
    with pytest.raises(
        SettingError, match=r"no node 'toe'; there are 'hip', 'knee', 'knee'$"
    ):
        skeleton.index("toe")
    with pytest.raises(SettingError, match=r"'n7', \.\.\.$"):
        make(9).index("toe")


def test_children() -> None:
    skeleton = make(5, parents=[-1, 4, 4, 0, -1])
    assert skeleton.children(4) == [1, 2]
    assert skeleton.children(0) == [3]
    assert skeleton.children(1) == []
