"""Envelopes of whole scenes: cut or not, searched or not, they deform alike."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope import join_pieces as joiner
from flexor.convert.envelope import plan as planner
from flexor.convert.envelope import search_trace as searcher
from flexor.convert.envelope import split_parts as splitter
from flexor.convert.envelope.make import (
    EnvelopeSettings,
    convert_parts,
    convert_scene,
)
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.scene_parts import scene_parts
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import END
from flexor.scene.scene import Scene
from tests.draw.scenes import skeleton
from tests.envelopes import random_world
from tests.oracle import deform as skin_oracle
from tests.oracle import envelope as oracle
from tests.scenes import bound_skin, random_scene

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


# Ties


def tied_scene() -> Scene:
    """A star of five nodes, two sheets of cloth between branches that are no
    neighbours; of each vertex two joints pull alike.
    """
    nodes = skeleton(5, parents=[-1, 0, 0, 0, 0])
    count = 12
    strips = []
    for joints in ((1, 3), (2, 4)):
        strips.append(
            Primitive(
                np.random.default_rng(joints[0]).normal(size=(count, 3)),
                np.tile([0.0, 0, 1], (count, 1)),
                indices=(np.arange(count - 2)[:, None] + np.arange(3)).ravel(),
                skin=SkinWeights(np.tile(joints, (count, 1)), np.full((count, 2), 0.5)),
            )
        )
    owner = np.array([0, -1, -1, -1, -1])
    mesh = Mesh("cloth", tuple(strips))
    skin = bound_skin(nodes, [0, 1, 2, 3, 4])
    return Scene(nodes, owner, owner.copy(), (mesh,), (skin,))


def test_ties_go_to_the_first_in_the_trace_of_all_weights() -> None:
    """The search visits 3 before 1, or 4 before 2, for all weights; one weight follows,
    whatever order it is worked in itself.
    """
    scene = tied_scene()
    parts, _ = scene_parts(scene)
    _, trace = convert_parts(scene.skeleton.parents, parts)
    _, walk = convert_parts(
        scene.skeleton.parents, parts, EnvelopeSettings(search=False)
    )
    winners = [min(pair, key=trace.index) for pair in ((1, 3), (2, 4))]
    assert winners != [1, 2], "the search must have changed something"
    assert walk == [0, 1, 2, 3, 4]
    for settings, expected in (
        (EnvelopeSettings(), winners),
        (EnvelopeSettings(search=False), [1, 2]),
    ):
        one = convert_scene(scene, settings)[0].one
        assert one.models.tolist() == sorted(expected)


def test_the_trace_is_the_order_of_the_steps(rng: Rng) -> None:
    scene = random_scene(rng, nodes=NODES, vertices=60)
    parts, findings = scene_parts(scene)
    assert findings == []
    for settings in CHOICES[:4]:
        envelope, trace = convert_parts(scene.skeleton.parents, parts, settings)
        assert sorted(trace) == list(range(NODES))
        used = [step[1] for step in envelope.steps.tolist() if step[0] <= END]
        visits = [trace.index(model) for model in used]
        assert visits == sorted(visits)
        multi = convert_scene(scene, settings)[0].multi
        np.testing.assert_array_equal(multi.steps, envelope.steps)


# How much work


class Work:
    """Counts how often areas are placed, of how many, and orders are tried."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.placed: list[int] = []
        self.tried: list[int] = []
        self.joins = 0
        for module in (planner, joiner, searcher):
            self._count(monkeypatch, module, "place_areas", self.placed)
        self._count(monkeypatch, searcher, "_moved", self.tried)
        join = joiner._Joining._join

        def counted(own: Any, *given: Any) -> bool:
            self.joins += 1
            return join(own, *given)

        monkeypatch.setattr(joiner._Joining, "_join", counted)

    @staticmethod
    def _count(
        monkeypatch: pytest.MonkeyPatch, module: Any, name: str, log: list[int]
    ) -> None:
        real = getattr(module, name)

        def counted(first: Any, *given: Any) -> Any:
            log.append(len(first))
            return real(first, *given)

        monkeypatch.setattr(module, name, counted)


def limb(
    vertices: int, models: Any, primitive: int, rng: Rng | None = None
) -> EnvelopePart:
    """A strip along models; or, with rng, four of them at random for each vertex."""
    count = len(models)
    place = np.arange(vertices) * count / vertices
    low = place.astype(int)
    blend = np.clip(place - low, 0, 0.9) * (low < count - 1)
    joints = np.stack([low, np.where(blend > 0, low + 1, -1)], 1)
    weights = np.stack([1 - blend, blend], 1)
    if rng is not None:
        joints = np.stack([rng.permutation(count)[:4] for _ in range(vertices)])
        weights = rng.dirichlet(np.ones(4), vertices)
    return EnvelopePart(
        int(models[0]),
        models,
        np.tile(np.eye(3, 4), (count, 1, 1)),
        np.zeros((vertices, 3)),
        np.zeros((vertices, 3)),
        joints,
        weights,
        np.arange(vertices - 2)[:, None] + np.arange(3),
        primitive=primitive,
    )


@pytest.fixture(scope="module")
def small_surfaces() -> tuple[Any, list[EnvelopePart], Work, Envelope]:
    """100 of 16 vertices, four of 100 joints at random for each; how they are worked
    on, and what is made of them.
    """
    rng = np.random.default_rng(20260101)
    parents = np.array([-1, *(rng.integers(0, n) for n in range(1, 100))])
    parts = [limb(16, np.arange(100), number, rng) for number in range(100)]
    with (
        pytest.MonkeyPatch.context() as patch,
        np.errstate(all="raise", under="ignore"),
    ):
        work = Work(patch)
        envelope, _ = convert_parts(parents, parts)
    return parents, parts, work, envelope


def test_work_of_many_small_surfaces(small_surfaces: Any) -> None:
    _, parts, work, envelope = small_surfaces
    most = splitter.MOST_PIECES + len(parts)
    assert max(work.placed) <= most
    # Each takes as long as the square of how many there are: of most twenty tries for
    # each of two orders, what the search compares, and the plan.
    assert sum(n * n for n in work.placed) <= 2 * joiner.MOST_WORK + 50 * most**2
    assert sum(work.tried) <= searcher.MOST_STEPS
    assert work.joins <= 40 * most
    assert len(envelope.parts) <= most


def test_many_small_surfaces_need_no_more_room_than_whole_ones(
    small_surfaces: Any,
) -> None:
    """Where there are too many pieces to join them all, cutting must not cost room."""
    parents, parts, _, envelope = small_surfaces
    whole, _ = convert_parts(parents, parts, EnvelopeSettings(split=False))
    assert whole.peak <= 1600
    assert envelope.peak <= whole.peak


@pytest.mark.parametrize("joints", [1, 10, 100, 2000])
def test_work_of_a_long_chain(joints: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 nodes below each other, in surfaces along so many of them."""
    work = Work(monkeypatch)
    count = 2000
    parents = np.arange(-1, count - 1)
    parts = [
        limb(max(3 * joints, 4), np.arange(first, first + joints), first)
        for first in range(0, count, joints)
    ]
    envelope, trace = convert_parts(parents, parts)
    assert trace == list(range(count))
    most = splitter.MOST_PIECES + len(parts)
    assert sum(n * n for n in work.placed) <= joiner.MOST_WORK + 25 * most**2
    assert sum(work.tried) <= searcher.MOST_STEPS
    assert work.joins <= 20 * most
    sizes = [len(part) for part in parts]
    assert envelope.peak <= 2 * max(sizes)
