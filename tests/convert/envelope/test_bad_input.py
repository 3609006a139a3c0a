"""Trees that are wrong: each is refused, or mended with a warning, and named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.parts import EnvelopePart, tree_part
from flexor.convert.envelope.plan import plan_envelope
from flexor.errors import ShapeError
from flexor.scene.finding import Finding
from tests.envelopes import random_matrices
from tests.oracle import envelope as oracle

NAMES = ["hips", "spine", "head", "arm"]
WEIGHTS = [[0.5, 0.5], [1, 0], [0.25, 0.75], [0.9, 0.1], [1, 0]]
JOINTS = [[0, 1], [2, -1], [1, 2], [3, 0], [0, 0]]


def make(**changes: Any) -> tuple[EnvelopePart, list[Finding]]:
    """Five vertices of the spine, with other values."""
    return tree_part(
        **{
            "parents": [-1, 0, 1, 1],
            "basic": random_matrices(np.random.default_rng(5), 4),
            "owner": 1,
            "positions": np.ones((5, 3)),
            "normals": np.ones((5, 3)),
            "joints": JOINTS,
            "weights": WEIGHTS,
            "faces": [[0, 1, 2], [2, 3, 4]],
            "names": NAMES,
            **changes,
        }
    )


def other(rows: Any, row: int, column: int, value: float) -> Any:
    """A copy with one other number."""
    changed = np.array(rows, np.float64 if isinstance(value, float) else None)
    changed[row, column] = value
    return changed


def refused(text: str, **changes: Any) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


def test_good_input_has_no_findings() -> None:
    part, findings = make()
    assert findings == []
    np.testing.assert_array_equal(part.weights, np.array(WEIGHTS, np.float32))


# Sums.


@pytest.mark.parametrize(("weight", "total"), [(0.498, "0.998"), (0.52, "1.02")])
def test_weights_that_do_not_add_up_to_1(weight: float, total: str) -> None:
    refused(rf"vertex 0 .*\b{total}\b", weights=other(WEIGHTS, 0, 1, weight))


def test_the_vertex_is_named_not_the_first() -> None:
    refused(r"vertex 3 .*\b1\.4\b", weights=other(WEIGHTS, 3, 1, 0.5))


def test_a_single_weight_that_is_not_1() -> None:
    refused(r"vertex 1 .*\b0\.7\b", weights=other(WEIGHTS, 1, 0, 0.7))


@pytest.mark.parametrize("off", [0.0009, -0.0009, 0.00002])
def test_small_differences_are_mended(off: float) -> None:
    weights = other(WEIGHTS, 0, 1, 0.5 + off)
    weights[2] *= 1 + off
    part, findings = make(weights=weights)
    (finding,) = findings
    assert (finding.level, finding.code) == ("warning", "weights-not-1")
    assert "2 vertices" in finding.text
    np.testing.assert_allclose(part.weights.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(part.weights[0, 0], 0.5 / (1 + off), atol=1e-6)
    np.testing.assert_allclose(part.weights[2], [0.25, 0.75], atol=1e-6)
    np.testing.assert_array_equal(part.weights[3], np.array(WEIGHTS[3], np.float32))


def test_one_warning_for_all() -> None:
    _, findings = make(weights=np.array(WEIGHTS) * 1.0005)
    assert len(findings) == 1
    assert "5 vertices" in findings[0].text


def test_rounding_of_float32_is_no_warning() -> None:
    thirds = np.full((5, 3), 1 / 3, np.float32)
    _, findings = make(weights=thirds, joints=[[0, 1, 2]] * 5)
    assert findings == []


# Single weights.


def test_negative_weights() -> None:
    """Also where the sum is right."""
    weights = other(WEIGHTS, 3, 0, 1.5)
    weights[3, 1] = -0.5
    refused(r"vertex 3 .*-0\.5", weights=weights)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers(wrong: float) -> None:
    refused(f"vertex 2 .*{wrong}", weights=other(WEIGHTS, 2, 1, wrong))


# Models.


@pytest.mark.parametrize("model", [4, 99, -2])
def test_influence_of_a_missing_model(model: int) -> None:
    refused(rf"vertex 2 .*model {model}\b.* 4", joints=other(JOINTS, 2, 1, model))


def test_missing_models_without_weight_do_no_harm() -> None:
    part, _ = make(joints=other(JOINTS, 4, 1, 77))
    assert list(oracle.pulls(part, 4)) == [0]


@pytest.mark.parametrize("owner", [-1, 4])
def test_missing_owner(owner: int) -> None:
    refused(rf"model {owner}\b", owner=owner)


@pytest.mark.parametrize("parent", [4, -2])
def test_missing_parent(parent: int) -> None:
    refused(f"'head' is {parent}", parents=[-1, 0, parent, 1])


@pytest.mark.parametrize(
    ("parents", "named"),
    [([-1, 2, 1, 0], "'(spine|head)'"), ([-1, 0, 1, 3], "'arm'"), ([3, 0, 1, 2], "")],
)
def test_a_cycle_in_the_tree(parents: list[int], named: str) -> None:
    refused(f"model {named}.*ancestor", parents=parents)


def test_models_without_names_are_named_by_number() -> None:
    refused(r"model '?3\b", names=None, parents=[-1, 0, 1, 3])
    refused(r"vertex 0 of model '?1\b", names=None, weights=np.ones((5, 2)))


# Polygons.


@pytest.mark.parametrize("vertex", [5, -1, 1000])
@pytest.mark.parametrize("column", range(3))
def test_a_polygon_of_a_missing_vertex(vertex: int, column: int) -> None:
    faces = other([[0, 1, 2], [2, 3, 4]], 1, column, vertex)
    refused(rf"face 1 .*'spine'.*{vertex}\b.* 5", faces=faces)


# Matrices.


def flattened(model: int, kind: str) -> Any:
    basic = random_matrices(np.random.default_rng(5), 4)
    if kind == "zero":
        basic[model] = 0
    elif kind == "flat":
        basic[model, :, 1] = 0
    elif kind == "nearly flat":
        basic[model, :, 1] *= 1e-14
    elif kind == "two axes in one":
        basic[model, :, 2] = basic[model, :, 0]
    else:
        basic[model, 1, 1] = float(kind)
    return basic


KINDS = ["zero", "flat", "nearly flat", "two axes in one", "nan", "inf"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [0, 2, 3])
def test_singular_matrices(model: int, kind: str) -> None:
    """Of a model that pulls: its space cannot be reached."""
    refused(f"'{NAMES[model]}' is singular", basic=flattened(model, kind))


def test_singular_matrices_of_models_that_pull_nothing_do_no_harm() -> None:
    joints = np.where(np.array(JOINTS) == 3, 2, JOINTS)
    make(basic=flattened(3, "flat"), joints=joints)


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_small_and_large_matrices_are_not_singular(factor: float) -> None:
    basic = random_matrices(np.random.default_rng(5), 4) * factor
    part, _ = make(basic=basic)
    places = oracle.moved([part], basic)[0][0]
    own = basic[1]
    expected = own[:, :3].sum(1) + own[:, 3]
    np.testing.assert_allclose(places, np.tile(expected, (5, 1)), rtol=1e-5)


# Shapes.


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"positions": np.ones((5, 2))}, "positions"),
        ({"positions": np.ones(15)}, "positions"),
        ({"normals": np.ones((4, 3))}, "normals"),
        ({"normals": np.ones((3, 5))}, "normals"),
        ({"joints": np.zeros((2, 5), int)}, "joints"),
        ({"joints": np.zeros(10, int)}, "joints"),
        ({"weights": np.ones((5, 3)) / 3}, "weights"),
        ({"weights": np.ones((2, 5))}, "weights"),
        ({"joints": np.array(JOINTS) + 0.5}, "joints"),
        ({"faces": np.zeros((3, 4), int)}, "faces"),
        ({"faces": np.full((1, 3), 0.5)}, "faces"),
        ({"basic": np.zeros((3, 3, 4))}, "basic"),
        ({"basic": np.zeros((4, 4, 4))}, "basic"),
        ({"parents": [[-1, 0, 1, 1]]}, "parents"),
        ({"names": ["hips"]}, "names"),
    ],
)
def test_wrong_shapes(changes: Any, name: str) -> None:
    """Not read as if they had the right one."""
    refused(name, **changes)


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_no_vertices(columns: int) -> None:
    none = np.zeros((0, 3))
    part, findings = make(
        positions=none,
        normals=none,
        joints=np.zeros((0, columns), int),
        weights=np.zeros((0, columns)),
        faces=np.zeros((0, 3), int),
    )
    assert findings == []
    plan = plan_envelope([-1, 0, 1, 1], [part])
    assert plan.peak == 0
    assert plan.areas[0].counter == 0
