"""Envelopes of whole scenes: cut or not, searched or not, they deform alike."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope import (
    EnvelopeSettings,
    convert_parts,
    convert_scene,
)
from flexor.convert.one_weight import one_weight
from flexor.convert.scene_parts import scene_parts
from flexor.scene.envelope import Envelope
from flexor.scene.scene import Scene
from tests.envelopes import random_world
from tests.oracle import deform as skin_oracle
from tests.oracle import envelope as oracle
from tests.scenes import random_scene

Rng = np.random.Generator
NODES = 11
CHOICES = [
    EnvelopeSettings(split=split, search=search, order=order, ids=ids)  # type: ignore[arg-type]
    for split, search, order, ids in product(
        [True, False], [True, False], ["joints", "original"], ["places", "consistent"]
    )
]
# First columns of the morph weights of nodes 0, 3 and 4, two each.
COLUMNS = {0: 0, 3: 2, 4: 4}


def surfaces(scene: Scene) -> list[tuple[int, int]]:
    """Node and primitive of all that is shown."""
    return [
        (node, row)
        for node, mesh in enumerate(scene.node_mesh.tolist())
        if mesh >= 0
        for row in range(len(scene.meshes[mesh].primitives))
    ]


def in_file_order(envelope: Envelope, drawn: Any) -> dict[tuple[int, int], Any]:
    """Positions and normals of each surface, rows as in the file, from its parts."""
    made: dict[tuple[int, int], dict[int, Any]] = {}
    for part, (positions, normals) in enumerate(drawn):
        node, primitive = envelope.parts[part, :2].tolist()
        rows = made.setdefault((node, primitive), {})
        for entry, row in enumerate(envelope.part_order(part).tolist()):
            vertex = np.concatenate([positions[entry], normals[entry]])
            if row in rows:
                np.testing.assert_allclose(rows[row], vertex, atol=1e-5)
            rows[row] = vertex
    for rows in made.values():
        assert sorted(rows) == list(range(len(rows)))
    return {
        place: np.array([rows[v] for v in sorted(rows)]) for place, rows in made.items()
    }


@pytest.mark.parametrize("settings", CHOICES, ids=str)
def test_all_weights(settings: EnvelopeSettings, rng: Rng) -> None:
    """As skinning does it, surface by surface and morph by morph."""
    scene = random_scene(rng, nodes=NODES, vertices=30)
    world = random_world(rng, NODES, scale="uneven")
    weights = rng.normal(size=6)
    envelope = convert_scene(scene, settings)[0].multi
    drawn = oracle.run_steps(envelope, world, weights, COLUMNS)
    made = in_file_order(envelope, drawn)
    assert sorted(made) == surfaces(scene)
    for (node, row), vertices in made.items():
        mesh = scene.meshes[scene.node_mesh[node]]
        skin = scene.skins[0] if scene.node_skin[node] >= 0 else None
        first = COLUMNS.get(node, 0)
        own = weights[first : first + len(mesh.primitives[row].targets)]
        expected = skin_oracle.deform(mesh.primitives[row], skin, world, node, own)
        np.testing.assert_allclose(vertices[:, :3], expected[0], atol=2e-5)
        np.testing.assert_allclose(vertices[:, 3:], expected[1], atol=2e-4)


@pytest.mark.parametrize("settings", CHOICES, ids=str)
def test_one_weight(settings: EnvelopeSettings, rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES, vertices=30)
    world = random_world(rng, NODES, scale="mirror")
    envelope = convert_scene(scene, settings)[0].one
    counts = envelope.group_counts()
    assert counts["native"] == sum(counts.values())
    made = in_file_order(envelope, oracle.run_steps(envelope, world))
    given, _ = scene_parts(scene)
    _, trace = convert_parts(scene.skeleton.parents, given, settings)
    parts = [one_weight(part, trace) for part in given]
    moved = oracle.moved(parts, world)
    assert sorted(made) == surfaces(scene)
    for part, expected in zip(parts, moved, strict=True):
        vertices = made[part.node, part.primitive]
        np.testing.assert_allclose(vertices, np.hstack(expected), atol=2e-5)


@pytest.mark.parametrize("settings", CHOICES, ids=str)
def test_every_face_is_in_one_part(settings: EnvelopeSettings, rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES, vertices=30)
    envelopes = convert_scene(scene, settings)[0]
    for envelope in (envelopes.multi, envelopes.one):
        faces: dict[tuple[int, int], list[Any]] = {p: [] for p in surfaces(scene)}
        for part in range(len(envelope.parts)):
            corners = envelope.part_order(part)[envelope.part_faces(part)]
            node, row = envelope.parts[part, :2].tolist()
            faces[node, row] += corners.tolist()
        for (node, row), found in faces.items():
            mesh = scene.meshes[scene.node_mesh[node]]
            assert sorted(found) == sorted(mesh.primitives[row].triangles().tolist())


def test_the_same_every_time(rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES, vertices=60)
    one, other = (convert_scene(scene)[0].multi for _ in range(2))
    for name in ("steps", "table", "data", "parts", "order", "faces", "morphs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("seed", range(5))
def test_cutting_and_searching_do_not_raise_the_peak(seed: int) -> None:
    scene = random_scene(np.random.default_rng(seed), nodes=NODES, vertices=60)
    plain = convert_scene(scene, EnvelopeSettings(split=False, search=False))[0]
    best = convert_scene(scene)[0]
    assert best.multi.peak <= plain.multi.peak
    assert best.one.peak <= plain.one.peak


def test_whole_surfaces_are_owned_by_their_nodes(rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES)
    envelope = convert_scene(scene, EnvelopeSettings(split=False))[0].multi
    assert envelope.parts[:, :2].tolist() == [list(place) for place in surfaces(scene)]
    np.testing.assert_array_equal(envelope.parts[:, 2], envelope.parts[:, 0])
