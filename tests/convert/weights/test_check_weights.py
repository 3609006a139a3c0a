"""The read-only check of weights: each thing it looks for, put there by hand."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import body_surface, gather_bodies, merge_same
from flexor.convert.shape.judge_joints import JointScore, Judged
from flexor.convert.shape.surface import make_surface
from flexor.convert.weights.check_weights import BAD, check_weights, edge_steps
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene
from tests.convert.shape.test_measure_joints import tube
from tests.oracle import check_weights as oracle
from tests.same import differences
from tests.scenes import one_mesh_scene, plain_scene, random_skeleton


def codes(scene: Scene, **more: Any) -> list[str]:
    return sorted({finding.code for finding in check_weights(scene, **more).findings})


def with_weights(scene: Scene, joints: Any, weights: Any) -> Scene:
    primitive = replace(
        scene.meshes[0].primitives[0], skin=SkinWeights(joints, weights)
    )
    return one_mesh_scene(scene.skeleton, primitive, scene.skins[0])


def columns(scene: Scene, width: int) -> tuple[Any, Any]:
    """Joints and weights of the tube, in `width` columns."""
    skin = scene.meshes[0].primitives[0].skin
    assert skin is not None
    joints = np.zeros((len(skin.joints), width), np.uint16)
    weights = np.zeros((len(skin.joints), width), np.float32)
    joints[:, :2], weights[:, :2] = skin.joints, skin.weights
    return joints, weights


def test_a_good_tube_has_no_findings() -> None:
    """Linked joints whose weights change over two thicknesses."""
    found = check_weights(tube(links=3, smooth=4.0))
    assert found.findings == ()
    (body,) = found.bodies
    assert body.vertices == 32 * 41
    assert body.many == body.tiny == body.loose == 0
    assert set(body.influences) <= {1, 2}
    assert sum(body.influences.values()) == body.vertices


def test_what_the_reader_mended_is_carried_over() -> None:
    mended = Finding("warning", "weights-mended", "/meshes/0", "3 vertices: negative")
    other = Finding("info", "clip-name", "/animations/0", "named twice")
    scene = replace(tube(links=3, smooth=4.0), findings=(mended, other))
    assert check_weights(scene).findings == (mended,)


def test_a_step_is_found_where_it_is() -> None:
    """One bone, then at once the other: between x = 0 and 0.2."""
    scene = tube(smooth=0.05)
    found = check_weights(scene, has_measures=False)
    step = found.bodies[0].steps[0]
    assert step.change == pytest.approx(0.5)
    assert step.change > step.allowed
    assert abs(step.place[0]) < 0.21
    assert step.where == "/meshes/0/primitives/0"
    primitive = scene.meshes[0].primitives[0]
    np.testing.assert_allclose(primitive.positions[step.vertex], step.place)
    assert found.findings[0].code == "weight-step"
    assert check_weights(scene, [True], has_measures=False).bodies[0].steps == ()


def test_too_many_influences_and_tiny_ones() -> None:
    scene = tube(links=3, smooth=4.0)
    joints, weights = columns(scene, 8)
    joints[5, :5], weights[5, :5] = range(5), [0.6, 0.2, 0.1, 0.095, 0.005]
    found = check_weights(with_weights(scene, joints, weights), has_measures=False)
    (body,) = found.bodies
    assert (body.many, body.tiny) == (1, 1)
    assert body.influences[5] == 1
    by_code = {finding.code: finding for finding in found.findings}
    assert by_code["influences-many"].text.startswith("1 of 1312 vertices")
    assert by_code["influences-many"].level == "warning"
    assert by_code["weights-tiny"].level == "info"
    assert by_code["weights-tiny"].where == "/meshes/0/primitives/0"


@pytest.mark.parametrize(("least", "tiny"), [(0.0099, 1), (0.0101, 0)])
def test_which_weights_are_tiny(least: float, tiny: int) -> None:
    scene = tube(links=3, smooth=4.0)
    joints, weights = columns(scene, 4)
    joints[5], weights[5] = 0, 0
    joints[5, :2], weights[5, :2] = [0, 1], [1 - least, least]
    found = check_weights(with_weights(scene, joints, weights), has_measures=False)
    assert found.bodies[0].tiny == tiny
    is_told = "weights-tiny" in {finding.code for finding in found.findings}
    assert is_told == bool(tiny)


@pytest.mark.parametrize(("count", "many"), [(4, 0), (5, 1)])
def test_how_many_influences_are_too_many(count: int, many: int) -> None:
    scene = tube(links=3, smooth=4.0)
    joints, weights = columns(scene, 8)
    joints[5, :count], weights[5, :count] = range(count), 1 / count
    found = check_weights(with_weights(scene, joints, weights), has_measures=False)
    assert found.bodies[0].many == many
    is_told = "influences-many" in {finding.code for finding in found.findings}
    assert is_told == bool(many)


@pytest.mark.parametrize(
    ("change", "thickness", "is_step"),
    [
        (0.1, 1.22, False),  # of the change, 1 / 1.22 is allowed
        (0.1, 1.28, True),
        (0.048, 1e3, False),
        (0.052, 1e3, True),
    ],
)
def test_which_changes_are_steps(
    monkeypatch: pytest.MonkeyPatch, change: float, thickness: float, is_step: bool
) -> None:
    """Rings 0.2 apart, each with so much more weight than the one before."""
    monkeypatch.setattr(
        "flexor.convert.weights.check_weights.point_thickness",
        lambda positions, *_: np.full(len(positions), thickness),
    )
    (body,) = check_weights(tube(smooth=0.1 / change), has_measures=False).bodies
    assert bool(body.steps) == is_step
    for step in body.steps:
        assert step.change == pytest.approx(change, abs=1e-5)
        assert step.allowed == pytest.approx(0.1 / thickness, rel=1e-4)


def test_a_step_at_the_first_vertex_of_a_surface() -> None:
    scene = tube(links=3, smooth=4.0)
    joints = np.array([[2], [0], [0]], np.uint16)
    face = Primitive(
        np.array([[0, 9, 0], [0, 9, 0.1], [0, 9.1, 0]]),
        indices=np.arange(3, dtype=np.uint32),
        skin=SkinWeights(joints, np.ones((3, 1))),
    )
    mesh = replace(scene.meshes[0], primitives=(*scene.meshes[0].primitives, face))
    found = check_weights(replace(scene, meshes=(mesh,)), has_measures=False)
    (step,) = (step for step in found.bodies[0].steps if step.joint == "end")
    assert (step.where, step.vertex) == ("/meshes/0/primitives/1", 0)
    assert step.place == (0, 9, 0)


def test_a_rogue_patch_is_found() -> None:
    scene = tube(links=0, smooth=2.0)
    joints, weights = columns(scene, 4)
    positions = scene.meshes[0].primitives[0].positions
    patch = (positions[:, 0] < -3) & (positions[:, 1] > 0.5)
    joints[patch], weights[patch] = 0, 0
    joints[patch, 0], weights[patch, 0] = 1, 1
    found = check_weights(with_weights(scene, joints, weights), has_measures=False)
    (rogue,) = found.bodies[0].rogues
    assert rogue.joint == "bend"
    assert rogue.points == patch.sum()
    assert rogue.weight == 1
    assert rogue.heirs == ("root",)
    assert rogue.place[0] < -3
    assert "rogue-patch" in {finding.code for finding in found.findings}


def with_score(monkeypatch: pytest.MonkeyPatch, tried: float, left: Any) -> Any:
    """What is found of a tube whose joint scores so."""
    score = JointScore(1, 1, "bend", tried, 0.0, 1.5, 2.0, 3.0, left)
    judged = Judged((score,), 4.0, 5.0, 6.0, np.zeros(0), np.zeros(0))
    monkeypatch.setattr(
        "flexor.convert.weights.check_weights.judge_body", lambda *_: judged
    )
    return check_weights(tube())


@pytest.mark.parametrize(("tried", "is_told"), [(BAD, False), (BAD + 0.01, True)])
def test_joints_that_look_bad_are_told(
    monkeypatch: pytest.MonkeyPatch, tried: float, is_told: bool
) -> None:
    found = with_score(monkeypatch, tried, 0.25)
    (body,) = found.bodies
    assert (body.folds, body.torn, body.squeezed) == (4.0, 5.0, 6.0)
    told = [one for one in found.findings if one.code == "joint-bad"]
    assert len(told) == is_told
    for finding in told:
        assert (finding.level, finding.where) == ("warning", "bend")
        assert "1.5 edges folded, 2.0 triangles torn, 3.0 squeezed" in finding.text
        assert finding.text.endswith("25 % of its volume left")


def test_a_volume_that_is_not_known_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = with_score(monkeypatch, 9.0, None)
    (told,) = (one.text for one in found.findings if one.code == "joint-bad")
    assert "volume" not in told


def test_joints_are_not_bent_if_that_is_not_wanted() -> None:
    assert check_weights(tube(), has_measures=False).bodies[0].measures == ()


def test_the_mannequin_is_not_changed_and_fits_in_json() -> None:
    scene = flexor.samples.mannequin().scene
    before = flexor.samples.mannequin().scene
    found = check_weights(scene)
    assert not list(differences(before, scene))
    (body,) = found.bodies
    assert body.name
    assert len(body.measures) == 63
    text = json.dumps(dataclasses.asdict(found))
    assert json.loads(text)["bodies"][0]["vertices"] == 4855


def test_scenes_without_skins() -> None:
    rng = np.random.default_rng(1)
    found = check_weights(plain_scene(random_skeleton(rng, 4)))
    assert (found.bodies, found.findings) == ((), ())


@pytest.mark.parametrize("seed", range(6))
def test_steps_against_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 40))
    places = rng.integers(0, 3, (count, 3)).astype(np.float32)
    faces = rng.integers(0, count, (int(rng.integers(0, 50)), 3)).astype(np.int32)
    names = rng.integers(-1, 6, (count, 4))
    pull = merge_same(names, rng.uniform(-0.2, 1, (count, 4)))
    rows = np.arange(count, dtype=np.int32)[:, None]
    surface = make_surface(places, np.ones((count, 3)), faces, rows)
    thickness = rng.uniform(0.1, 2, count)
    own = pull.take(surface.vertex_of_point)
    heavier, joints, change, allowed = edge_steps(surface, own, thickness)
    slow = oracle.edge_steps(surface, own, thickness)
    assert len(slow) == len(change)
    for edge, (first, second, worst, most) in enumerate(slow):
        assert change[edge] == pytest.approx(worst, abs=1e-6)
        assert allowed[edge] == pytest.approx(most, rel=1e-5, abs=1e-7)
        assert heavier[edge] in (first, second)
        if worst > 0:
            here = own.weights[heavier[edge]][own.joints[heavier[edge]] == joints[edge]]
            assert here.sum() >= worst - 1e-6


def test_points_in_one_place_with_other_weights_are_a_step() -> None:
    """A tear: both ends of an edge without length."""
    scene = tube(links=3, smooth=4.0)
    joints, weights = columns(scene, 4)
    mesh = scene.meshes[0].primitives[0]
    assert mesh.indices is not None
    loose = replace(
        mesh,
        positions=mesh.positions[mesh.indices],
        indices=None,
        skin=SkinWeights(joints[mesh.indices], weights[mesh.indices]),
    )
    torn = one_mesh_scene(scene.skeleton, loose, scene.skins[0])
    assert codes(torn) == []
    joints, weights = joints[mesh.indices], weights[mesh.indices]
    joints[900], weights[900] = [2, 0, 0, 0], [1, 0, 0, 0]
    torn = with_weights(torn, joints, weights)
    found = check_weights(torn, has_measures=False)
    assert any(step.allowed == 0 for step in found.bodies[0].steps)
    (body,) = gather_bodies(torn)
    assert len(body_surface(body)) == 32 * 41 + 1
