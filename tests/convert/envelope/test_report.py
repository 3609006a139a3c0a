"""What an envelope costs and saves: numbers against counts made by hand."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.report import EnvelopeReport, report_envelope
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.draw.scenes import skeleton, square, square_scene
from tests.oracle import envelope as oracle
from tests.scenes import bound_skin, plain_scene, random_scene

Rng = np.random.Generator
PLAIN = EnvelopeSettings(split=False, search=False)
# Three triangles that hang together at vertices 2 and 4, on a chain of three joints.
FACES = [(0, 1, 2), (2, 3, 4), (4, 5, 6)]
# Whole numbers of bytes: a step is 20, a part 24, a face 12, a row of order 4; data are
# blocks of eight vertices, 192 if they are native and 224 if not.
STEP, PART, FACE, ROW, NATIVE, WEIGHTED = 20, 24, 12, 4, 192, 224


def chain(pulls: list[dict[int, float]], **more: Any) -> Scene:
    """Three triangles at the first of three nodes, weights of each vertex by node."""
    joints, weights = np.zeros((7, 2)), np.zeros((7, 2))
    for row, pull in enumerate(pulls):
        joints[row, : len(pull)] = list(pull)
        weights[row, : len(pull)] = list(pull.values())
    nodes = skeleton(3)
    primitive = Primitive(
        np.random.default_rng(1).normal(size=(7, 3)),
        np.tile([0.0, 0, 1], (7, 1)),
        indices=np.ravel(FACES),
        skin=SkinWeights(joints, weights),
        **more,
    )
    owner = np.array([0, -1, -1])
    return Scene(
        nodes,
        owner,
        owner.copy(),
        (Mesh("chain", (primitive,), np.zeros(len(primitive.targets))),),
        (bound_skin(nodes, [0, 1, 2]),),
    )


SHARP = [{0: 1.0}, {0: 1.0}, {1: 1.0}, {1: 1.0}, {2: 1.0}, {2: 1.0}, {2: 1.0}]
SOFT = [
    {0: 1.0},
    {0: 1.0},
    {0: 0.6, 1: 0.4},
    {1: 1.0},
    {1: 0.5, 2: 0.5},
    {2: 1.0},
    {2: 1.0},
]


def test_one_whole_part() -> None:
    """Vertices 2 and 4 have two influences each; drawn when the last joint is done.

    Steps: native and start of node 0; native, start and end of node 1; native and end
    of node 2; and two commands.
    """
    report = report_envelope(convert_scene(chain(SOFT), PLAIN)[0].multi)
    assert report == EnvelopeReport(
        vertices=7,
        worked=7,
        native=5,
        start=2,
        middle=0,
        end=2,
        parts=1,
        faces=3,
        draws=0,
        deferred=1,
        runs=7,
        peak=7,
        buffer_bytes=7 * 24,
        data_bytes=(
            9 * STEP + ROW + 3 * NATIVE + 4 * WEIGHTED + PART + 7 * ROW + 3 * FACE
        ),
    )


def test_one_weight() -> None:
    """Vertex 2 goes to node 0; vertex 4, torn evenly, to node 1, the first visited."""
    report = report_envelope(convert_scene(chain(SOFT), PLAIN)[0].one)
    assert report == EnvelopeReport(
        vertices=7,
        worked=7,
        native=7,
        start=0,
        middle=0,
        end=0,
        parts=1,
        faces=3,
        draws=0,
        deferred=1,
        runs=3,
        peak=7,
        buffer_bytes=7 * 24,
        data_bytes=5 * STEP + ROW + 3 * NATIVE + PART + 7 * ROW + 3 * FACE,
    )


def test_cut_into_three() -> None:
    """A triangle for each joint; vertices 2 and 4 are worked twice. The first waits for
    the second joint, the second for the third, the third is drawn at once; at most two
    of them are in the buffer.
    """
    report = report_envelope(convert_scene(chain(SHARP))[0].multi)
    assert report == EnvelopeReport(
        vertices=7,
        worked=9,
        native=9,
        start=0,
        middle=0,
        end=0,
        parts=3,
        faces=3,
        draws=1,
        deferred=2,
        runs=5,
        peak=6,
        buffer_bytes=6 * 24,
        data_bytes=(10 * STEP + 2 * ROW + 5 * NATIVE + 3 * PART + 9 * ROW + 3 * FACE),
    )


def test_a_middle() -> None:
    """Three influences: first, last, and one between."""
    scene = chain(SHARP)
    primitive = scene.meshes[0].primitives[0]
    tied = SkinWeights(np.tile([0, 1, 2], (7, 1)), np.tile([0.5, 0.25, 0.25], (7, 1)))
    primitive = replace(primitive, skin=tied)
    scene = replace(scene, meshes=(Mesh("chain", (primitive,)),))
    report = report_envelope(convert_scene(scene, PLAIN)[0].multi)
    groups = report.native, report.start, report.middle, report.end
    assert groups == (0, 7, 7, 7)
    assert report.runs == 3


def test_the_table_of_addresses_has_its_bytes() -> None:
    scene = chain(SOFT)
    places = report_envelope(convert_scene(scene, PLAIN)[0].multi)
    settings = replace(PLAIN, ids="consistent")
    table = report_envelope(convert_scene(scene, settings)[0].multi)
    assert table.data_bytes == places.data_bytes + 7 * ROW
    assert asdict(replace(table, data_bytes=0)) == asdict(replace(places, data_bytes=0))


def test_morphs_have_their_bytes() -> None:
    """One that moves vertex 5 alone: one run of node 2 has deltas."""
    moved = np.zeros((7, 3))
    moved[5] = 1
    plain = report_envelope(convert_scene(chain(SOFT), PLAIN)[0].multi)
    scene = chain(SOFT, targets=(MorphTarget(moved),))
    report = report_envelope(convert_scene(scene, PLAIN)[0].multi)
    assert report.data_bytes == plain.data_bytes + 5 * ROW + NATIVE


def test_surfaces_count_where_they_stand() -> None:
    """One square at two nodes, and twice in a mesh: rows of each are its own."""
    scene = square_scene(nodes=skeleton(2))
    report = report_envelope(convert_scene(scene)[0].multi)
    assert (report.vertices, report.worked, report.parts) == (8, 8, 2)
    assert (report.faces, report.draws, report.deferred) == (4, 2, 0)
    assert report.peak == 4, "one is drawn before the other is begun"
    twice = replace(scene, meshes=(Mesh("pair", (square(), square())),))
    report = report_envelope(convert_scene(twice)[0].multi)
    assert (report.vertices, report.worked, report.parts) == (16, 16, 4)
    assert report.peak == 8, "both of a node are begun together"


def test_nothing() -> None:
    report = report_envelope(convert_scene(plain_scene(skeleton(3)))[0].multi)
    assert set(asdict(report).values()) == {0}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("kind", ["multi", "one"])
def test_any_scene(split: bool, kind: str, rng: Rng) -> None:
    """The sums fit together, and the buffer is what a run of the steps needs."""
    scene = random_scene(rng, vertices=40)
    settings = EnvelopeSettings(split=split)
    envelope = getattr(convert_scene(scene, settings)[0], kind)
    report = report_envelope(envelope)
    meshes = [scene.meshes[row] for row in scene.node_mesh.tolist() if row >= 0]
    primitives = [primitive for mesh in meshes for primitive in mesh.primitives]
    assert report.vertices == sum(len(primitive) for primitive in primitives)
    assert report.faces == sum(len(p.triangles()) for p in primitives)
    assert report.worked == report.native + report.start >= report.vertices
    assert report.start == report.end
    assert report.draws + report.deferred == report.parts
    assert report.peak <= report.worked
    assert report.buffer_bytes == 24 * report.peak
    used: set[int] = set()
    for step in envelope.steps.tolist():
        if step[0] < 4:
            used |= set(range(step[2], step[2] + step[3]))
    assert len(used) == report.peak
    drawn = oracle.run_steps(
        envelope,
        np.tile(np.eye(3, 4), (11, 1, 1)),
        np.zeros(6),
        {0: 0, 3: 2, 4: 4},
    )
    assert sum(len(positions) for positions, _ in drawn) == report.worked
