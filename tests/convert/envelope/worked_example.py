"""The worked example of an envelope."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.envelope.parts import EnvelopePart, tree_part
from flexor.convert.envelope.plan import (
    EnvelopePlan,
)
from flexor.scene.runtime.layout import GROUPS
from tests.envelopes import random_matrices

TREE = {"M1": None, "M2": "M1", "M3": "M2", "M4": "M1", "M5": "M3"}

MODELS = list(TREE)

PARENTS = [-1 if parent is None else MODELS.index(parent) for parent in TREE.values()]

INFLUENCES = """
V101 V107               M1 1.0
V102 V103               M2 0.3  M3 0.3  M4 0.4
V104 V105 V110 V111     M2 0.4  M3 0.6
V106                    M3 1.0
V108 V109               M2 0.6  M3 0.4
V112                    M2 0.4  M3 0.6
V113                    M4 1.0
V501 .. V506            M5 1.0
V601 .. V6nn            M6 1.0
"""


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def influences(vertex: str) -> dict[str, float]:
    """Weights of a vertex by model, from the table."""
    for row in rows(INFLUENCES):
        named = [word for word in row if word[0] == "V"]
        is_here = vertex in named or (".." in row and vertex[:2] == named[0][:2])
        if is_here:
            at = next(i for i, word in enumerate(row) if word[0] == "M")
            return dict(zip(row[at::2], map(float, row[at + 1 :: 2]), strict=True))
    raise KeyError(vertex)


def vertices(owner: str, count: int) -> list[str]:
    return [f"V{owner[1]}{number:02}" for number in range(1, count + 1)]


M1_VERTICES, M5_VERTICES = vertices("M1", 13), vertices("M5", 6)

NAMES = [M1_VERTICES, M5_VERTICES]


def part_of(owner: str, names: list[str], models: list[str]) -> EnvelopePart:
    """The part of one model, vertices as in the table, three corners a face."""
    rng = np.random.default_rng(int(owner[1]))
    pulls = [influences(vertex) for vertex in names]
    most = max(len(pull) for pull in pulls)
    joints = np.full((len(names), most), -1)
    weights = np.zeros((len(names), most))
    for v, pull in enumerate(pulls):
        joints[v, : len(pull)] = [models.index(model) for model in pull]
        weights[v, : len(pull)] = list(pull.values())
    part, findings = tree_part(
        PARENTS + [0] * (len(models) - len(PARENTS)),
        basic_matrices(len(models)),
        models.index(owner),
        rng.normal(size=(len(names), 3)),
        rng.normal(size=(len(names), 3)),
        joints,
        weights,
        np.arange(len(names) // 3 * 3).reshape(-1, 3),
        names=models,
    )
    assert findings == []
    return part


def basic_matrices(count: int) -> Any:
    return random_matrices(np.random.default_rng(7), count, scale="uneven")


def listed(plan: EnvelopePlan) -> list[list[str]]:
    """The vertex lists in the form of the table."""
    return [
        [MODELS[made.model], group, *(NAMES[p][row] for p, row in getattr(made, group))]
        for made in plan.lists
        for group in GROUPS
        if getattr(made, group)
    ]


def commands(plan: EnvelopePlan) -> dict[str, list[str]]:
    return {
        f"M{made.model + 1}": [f"{name} {number}" for name, number in made.commands]
        for made in plan.lists
    }
