"""What a repair is said to have changed: weights put in by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexor.convert.repair.report import RepairReport, report_repair
from flexor.convert.shape.body import Pull, gather_bodies, with_pulls
from flexor.convert.shape.facts import SceneFacts
from flexor.scene.scene import Scene
from tests.convert.links.test_link_bones import two_bodies
from tests.convert.shape.test_measure_joints import tube
from tests.convert.shape.tubes import linked


def shifted(scene: Scene, moves: dict[tuple[int, int], float]) -> Scene:
    """The scene with weight moved from root to bend; moves: by body and vertex."""
    bodies = gather_bodies(scene)
    pulls = {}
    for number, body in enumerate(bodies):
        rows = [body.joints.tolist().index(node) for node in (0, 1)]
        whole = body.pull.dense(len(body.joints))
        for (_, vertex), much in ((k, v) for k, v in moves.items() if k[0] == number):
            whole[vertex, rows] += [-much, much]
        names = np.tile(np.arange(whole.shape[1], dtype=np.int32), (len(body), 1))
        pulls[number] = Pull(names, whole.astype(np.float32))
    return with_pulls(scene, pulls, bodies)


def compared(
    before: Scene, after: Scene, *, has_measures: bool = False
) -> RepairReport:
    pair = SceneFacts(before), SceneFacts(after)
    return report_repair(*pair, (), (), has_measures=has_measures)


def middle(scene: Scene, number: int = 0) -> list[int]:
    """Vertices of a body that hang on root and bend by a half each."""
    weights = gather_bodies(scene)[number].pull.weights
    return np.flatnonzero(np.abs(weights[:, 0] - 0.5) < 1e-6).tolist()


@pytest.mark.parametrize(("much", "count"), [(5e-5, 0), (2e-4, 1), (0.05, 1), (0.3, 1)])
def test_how_much_is_a_change(much: float, count: int) -> None:
    scene = tube()
    report = compared(scene, shifted(scene, {(0, middle(scene)[3]): much}))
    assert (report.vertices, report.vertex_count) == (count, 32 * 41)
    changes = {one.name: one for one in report.joints}
    for name in ("root", "bend"):
        assert changes[name].vertices == count
        assert changes[name].largest == pytest.approx(much, abs=1e-6)
    assert changes["end"].vertices == changes["end"].largest == 0


def test_weights_of_links_count_as_those_of_their_joint() -> None:
    """All that hangs on the joint goes to its last link."""
    scene = tube(links=3)
    bodies = gather_bodies(scene)
    pull = bodies[0].pull
    moved = Pull(np.where(pull.joints == 1, 5, pull.joints), pull.weights)
    report = compared(scene, with_pulls(scene, {0: moved}, bodies))
    assert report.vertices == np.count_nonzero((pull.joints == 1).any(1))
    assert [one.vertices for one in report.joints] == [0] * 6


def test_only_new_links_are_counted() -> None:
    scene = tube()
    once = linked(scene, count=2)
    assert [one.links for one in compared(scene, once).joints] == [0, 2, 2]
    assert [one.links for one in compared(once, once).joints] == [0] * 7


@pytest.mark.parametrize("much", [(0.1, 0.3), (0.3, 0.1)])
def test_a_joint_that_moves_two_bodies(much: tuple[float, float]) -> None:
    scene = two_bodies()
    one, other = (middle(scene, number) for number in (0, 1))
    moves = {(0, one[0]): much[0], (1, other[1]): much[1], (1, other[2]): 0.05}
    report = compared(scene, shifted(scene, moves))
    assert report.vertices == 3
    assert report.vertex_count == sum(len(body) for body in gather_bodies(scene))
    for change in report.joints[:2]:
        assert change.vertices == 3
        assert change.largest == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("flat", [0, 1])
def test_the_body_that_is_a_solid_is_measured(flat: int) -> None:
    scene = two_bodies()
    meshes = list(scene.meshes)
    (primitive,) = meshes[flat].primitives
    sheet = replace(
        primitive, positions=primitive.positions * np.array([1, 1, 0], "f4")
    )
    meshes[flat] = replace(meshes[flat], primitives=(sheet,))
    scene = replace(scene, meshes=tuple(meshes))
    report = compared(scene, scene, has_measures=True)
    bend = report.joints[1]
    assert bend.before is not None
    assert bend.before.is_measured
    assert bend.before == bend.after
