"""Small random envelopes: trees, orders of visit, parts, and worlds to put them in."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.envelope.parts import EnvelopePart
from flexor.maths import transforms
from flexor.scene.character.mesh import MorphTarget
from tests.scenes import ScaleKind, random_parents, random_rotations, random_scales

Rng = np.random.Generator


def random_tree(rng: Rng, models: int) -> Any:
    """Parents (models,), of one tree or two."""
    return random_parents(rng, models, roots=min(models, int(rng.integers(1, 3))))


def random_trace(rng: Rng, parents: Any) -> list[int]:
    """Any order in which parents come before their children."""
    trace: list[int] = []
    while len(trace) < len(parents):
        ready = [
            model
            for model, parent in enumerate(parents)
            if model not in trace and (parent < 0 or parent in trace)
        ]
        trace.append(ready[rng.integers(len(ready))])
    return trace


def random_matrices(rng: Rng, *shape: int, scale: ScaleKind = "one") -> Any:
    """Affine (*shape, 3, 4), each on its own; no tree needed here."""
    count = int(np.prod(shape))
    scales = random_scales(rng, count, scale)
    turns = random_rotations(rng, count)
    made = transforms.compose(rng.normal(size=(count, 3)), turns, scales)
    return made.reshape(*shape, 3, 4)


def random_world(rng: Rng, *shape: int, scale: ScaleKind = "one") -> Any:
    """World matrices (*shape, 3, 4) as characters have them."""
    return random_matrices(rng, *shape, scale=scale).astype(np.float32)


def random_pulls(rng: Rng, vertices: int, rows: int, influences: int) -> Any:
    """Joints and weights (vertices, influences).

    Few different sets of joints, so that there are runs. Some columns name no joint,
    some have no weight, some name a joint twice.
    """
    sets = [rng.integers(0, rows, influences) for _ in range(3)]
    joints = np.full((vertices, influences), -1, np.int32)
    weights = np.zeros((vertices, influences))
    for v in range(vertices):
        mine = sets[rng.integers(len(sets))]
        used = rng.integers(1, influences + 1) if v % 3 == 0 else influences
        columns = rng.permutation(influences)[:used]
        joints[v, columns] = mine[:used]
        weights[v, columns] = rng.uniform(0.1, 1, used)
        zeros = columns[1:][rng.random(used - 1) < 0.2]
        weights[v, zeros] = 0
        weights[v] /= weights[v].sum()
    return joints, weights


def random_part(
    rng: Rng,
    models: int,
    vertices: int,
    influences: int,
    /,
    *,
    scale: ScaleKind = "one",
    faces: int = 4,
    targets: int = 0,
    **changes: Any,
) -> EnvelopePart:
    """A cloud of vertices, owned by any model and pulled by any; the second target has
    no normals.
    """
    rows = int(rng.integers(1, models + 1))
    joints, weights = random_pulls(rng, vertices, rows, influences)
    normals = rng.normal(size=(vertices, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    morphs = [
        MorphTarget(
            rng.normal(size=(vertices, 3)),
            None if number == 1 else rng.normal(size=(vertices, 3)) * 0.3,
        )
        for number in range(targets)
    ]
    corners = rng.integers(0, vertices, (faces, 3)) if vertices else np.zeros((0, 3))
    return EnvelopePart(
        **{
            "owner": int(rng.integers(models)),
            "models": rng.permutation(models)[:rows],
            "binds": random_matrices(rng, rows, scale=scale),
            "positions": rng.normal(size=(vertices, 3)),
            "normals": normals,
            "joints": joints,
            "weights": weights,
            "faces": corners,
            "targets": tuple(morphs),
            **changes,
        }
    )


def random_parts(
    rng: Rng, models: int, count: int, influences: int, **options: Any
) -> list[EnvelopePart]:
    """Parts of different size, some empty, each a surface of its own."""
    sizes = rng.choice([0, 1, 5, 7, 8, 9, 17], count)
    return [
        random_part(rng, models, int(size), influences, node=number, **options)
        for number, size in enumerate(sizes)
    ]


def check_drawn(
    drawn: Any, raw: Any, error: float, rows: list[Any] | None = None
) -> None:
    """Positions and unit normals are those of the twin.

    raw: what `moved` gives with normalise=False; rows: its vertices at each entry. A
    normal that is what two opposite ones leave over is less certain than others.
    """
    assert len(drawn) == len(raw)
    for part, ((positions, normals), (places, sums)) in enumerate(
        zip(drawn, raw, strict=True)
    ):
        own = slice(None) if rows is None else rows[part]
        size = max(1, np.abs(places).max(initial=0))
        np.testing.assert_allclose(positions, places[own], atol=error * size)
        lengths = np.linalg.norm(sums[own], axis=1, keepdims=True)
        is_sure = lengths[:, 0] > 1e-3
        units = sums[own][is_sure] / lengths[is_sure]
        off = np.abs(normals[is_sure] - units) * np.minimum(lengths[is_sure], 1)
        assert off.max(initial=0) < error
