"""The bench of weights: its bodies, its figures, and whether they can be true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.bench import weights
from flexor.bench.peers.bbw import BbwTask
from flexor.bench.peers.bone_heat import HeatTask
from flexor.bench.timing import Result
from flexor.bench.weights_body import make_body
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.facts import BodyFacts
from flexor.errors import BackendMissing, SettingError
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.tree import top_down
from tests.bench.closed_tube import closed_tube
from tests.convert.shape.tubes import skinned_scene


def hero(*clips: str) -> Character:
    """A closed tube of three bones, whose second turns by a right angle in clips."""
    positions, faces = closed_tube()
    bases = [[0.0, 0, 0], [2, 0, 0], [4, 0, 0]]
    x = positions[:, 0]
    second = np.clip((x - 1.5) / 1, 0, 1)
    third = np.clip((x - 3.5) / 1, 0, 1)
    tied = np.stack([1 - second, second - third, third], 1)
    turn = np.array([[0, 0, 0, 1], [0, 0, 2**-0.5, 2**-0.5]], np.float32)
    track = Track(1, "rotation", np.array([0, 1], np.float32), turn)
    made = {name: Clip(name, (track,)) for name in clips}
    return Character(
        skinned_scene(bases, [-1, 0, 1], positions, faces, tied, clips=made)
    )


def by_name(results: Any) -> dict[str, Result]:
    listed = list(results)
    assert len({result.name for result in listed}) == len(listed)
    assert all(result.note for result in listed)
    return {result.name: result for result in listed}


@pytest.fixture
def _no_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(task: object, limit: float) -> None:
        name = "bbw" if isinstance(task, BbwTask) else "heat"
        raise BackendMissing(f"{name}: not here")

    monkeypatch.setattr(weights, "solve_bbw", missing)
    monkeypatch.setattr(weights, "solve_bone_heat", missing)


def is_closed(body: Body) -> bool:
    sides = np.concatenate([body.faces[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    there = {(a, b) for a, b in sides.tolist()}
    return len(there) == len(sides) and all((b, a) in there for a, b in there)


@pytest.mark.parametrize(
    ("vertices", "joints"), [(3928, 64), (4000, 52), (13000, 1), (22700, 100)]
)
def test_body_of_any_size(vertices: int, joints: int) -> None:
    body = make_body(vertices, joints)
    assert len(body) == vertices
    assert body.starts == (0, vertices)
    assert len(np.unique(body.positions, axis=0)) == vertices
    assert np.array_equal(np.unique(body.faces), np.arange(vertices))
    assert len(body.faces) == 2 * vertices - 4  # closed, and without holes
    assert is_closed(body)
    assert len(body.names) == len(set(body.names)) == joints
    assert body.frames.shape == (joints, 3, 4)
    assert np.count_nonzero(body.parents < 0) == 1
    assert body.parents.max(initial=-1) < joints
    assert len(top_down(body.parents)) == joints
    np.testing.assert_allclose(np.linalg.norm(body.normals, axis=1), 1, atol=1e-5)


def test_body_of_too_few_vertices() -> None:
    with pytest.raises(SettingError, match="vertices: 100, expected 3928 or more"):
        make_body(100, 64)


def test_joints_go_at_the_ends_and_come_in_the_middle() -> None:
    few, whole, many = (make_body(3928, count) for count in (52, 64, 66))
    assert set(few.names) < set(whole.names)
    at = {name: row for row, name in enumerate(whole.names)}
    for row, name in enumerate(few.names):
        np.testing.assert_array_equal(few.frames[row], whole.frames[at[name]])
        above, was = few.parents[row], whole.parents[at[name]]
        assert (few.names[above] if above >= 0 else "") == (
            whole.names[was] if was >= 0 else ""
        )
    gone = set(whole.names) - set(few.names)
    assert all(
        name[2:-1] in {"thumb", "index", "middle", "ring", "pinky"} for name in gone
    )
    np.testing.assert_array_equal(many.frames[:64], whole.frames)
    for row in (64, 65):
        (below,) = np.flatnonzero(many.parents == row)
        ends = many.frames[[many.parents[row], below], :, 3]
        np.testing.assert_allclose(many.frames[row, :, 3], ends.mean(0))


@pytest.mark.jit
@pytest.mark.usefixtures("_no_peer")
def test_names_and_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "SIZES", ((4000, 52), (4100, 66)))
    monkeypatch.setattr(weights, "MEMORY", ((5000, 64), (10000, 64)))
    monkeypatch.setattr(weights, "ROUNDS", 1)
    found = by_name(weights.run({"tube": hero("bend")}))
    assert {name: result.unit for name, result in found.items()} == {
        "weights/regenerate/v4000": "s",
        "weights/regenerate/v4100": "s",
        "weights/memory/v5000": "MB",
        "weights/memory/v10000": "MB",
        "weights/error/mannequin": "%",
        "weights/worst/mannequin": "%",
        "weights/seconds/mannequin": "s",
        "weights/error/tube": "%",
        "weights/worst/tube": "%",
        "weights/seconds/tube": "s",
    }
    assert all(result.value > 0 for result in found.values())
    less, more = (found[f"weights/memory/v{v}"].value for v in (5000, 10000))
    assert 1.5 < more / less < 2.5
    assert found["weights/error/mannequin"].value < 0.3
    assert "at 4 times of each of 8 clips" in found["weights/error/mannequin"].note
    for peer in ("bbw", "heat"):
        assert f"no figure for {peer}: not here" in found["weights/error/tube"].note
    assert "52 joints" in found["weights/regenerate/v4000"].note


def test_peers_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are the file's own have no error; others have."""
    tasks: list[BbwTask | HeatTask] = []

    def peer(task: BbwTask | HeatTask, limit: float) -> tuple[Any, float, str]:
        tasks.append(task)
        given = np.zeros((len(task.positions), len(task.bases)))
        given[:, 0] = 1
        return given, 7.0, "a peer"

    def own(facts: BodyFacts) -> Pull:
        return facts.body.pull

    monkeypatch.setattr(weights, "solve_bbw", peer)
    monkeypatch.setattr(weights, "solve_bone_heat", peer)
    monkeypatch.setattr(weights, "regenerate_weights", own)
    found = by_name(weights._compare("tube", hero("bend")))
    ends = ("", "/heat", "/bbw")
    errors = [f"{kind}/tube{end}" for end in ends for kind in ("error", "worst")]
    seconds = [f"seconds/tube{end}" for end in ends]
    ratios = [f"seconds/tube{end}/ratio" for end in ends[1:]]
    assert list(found) == [f"weights/{name}" for name in errors + seconds + ratios]
    assert found["weights/error/tube"].value == 0
    assert found["weights/error/tube/bbw"].value > 1
    worst = found["weights/worst/tube/bbw"].value
    assert worst > found["weights/error/tube/bbw"].value
    assert found["weights/seconds/tube/bbw"].value == 7
    ours = found["weights/seconds/tube"].value
    assert found["weights/seconds/tube/bbw/ratio"].value == pytest.approx(7 / ours)
    assert "a peer" in found["weights/error/tube/bbw"].note
    assert len(tasks) == 2 * weights.ROUNDS
    for task in tasks:
        assert len(task.bases) == len(task.tips) == 3
        np.testing.assert_allclose(task.tips[0], task.bases[1])
        assert task.faces.max() == len(task.positions) - 1


def test_fine_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PEER_SIZE", (4000, 52))
    monkeypatch.setattr(weights, "_seconds", lambda _: (0.5, {}))
    monkeypatch.setattr(weights, "_peer_seconds", lambda *_: (20.0, {}, "a peer"))
    found = by_name(weights._fine())
    name = "weights/regenerate/v4000"
    values = {key: (result.value, result.unit) for key, result in found.items()}
    assert values == {
        name: (0.5, "s"),
        f"{name}/heat": (20, "s"),
        f"{name}/heat/ratio": (40, "x"),
        f"{name}/bbw": (20, "s"),
        f"{name}/bbw/ratio": (40, "x"),
    }


def test_slow_peer_gets_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [weights.PEER_ENOUGH + 1] * 2
    monkeypatch.setattr(weights, "_peer_seconds", lambda *_: (taken.pop(), {}, "slow"))
    found = by_name(weights._compare("tube", hero("bend")))
    assert not taken
    assert "the best of 1 rounds" in found["weights/seconds/tube/bbw"].note


def test_distance_is_a_part_of_the_height() -> None:
    """All that hangs on the first joint stays: the rest moved away by a right angle."""
    one = hero("bend")
    bodies = weights.gather_bodies(one.scene)
    count = len(bodies[0])
    to_first = Pull(np.zeros((count, 1), np.int32), np.ones((count, 1), np.float32))
    other = Character(weights.with_pulls(one.scene, {0: to_first}, bodies))
    pose = one.pose("bend", 1.0)
    rest = weights._skin(one, one.pose())
    away = np.linalg.norm(weights._skin(one, pose) - rest, axis=1).mean()
    expected = away / np.ptp(rest[:, 0])
    mean, most = weights._distance(one, other, [pose])
    assert mean == pytest.approx(expected)
    assert most > mean
    half, same = weights._distance(one, other, [pose, one.pose()])
    assert half == pytest.approx(expected / 2)
    assert same == most


def test_poses_of_clips() -> None:
    poses, how = weights._poses(hero(*(f"clip{i}" for i in range(10))))
    assert len(poses) == 32
    assert how == "at 4 times of each of 8 clips"
    # From the clip's start up to its end, which is not taken.
    angles = [2 * np.arcsin(pose.rotations[1, 2]) for pose in poses[:4]]
    np.testing.assert_allclose(np.degrees(angles)[[0, 2]], [0, 45], atol=1e-3)


def test_random_poses_without_clips() -> None:
    poses, how = weights._poses(hero())
    assert how == "in 8 random poses of about 20 degrees a joint"
    again, _ = weights._poses(hero())
    turned = np.stack([pose.rotations for pose in poses])
    np.testing.assert_array_equal(turned, [pose.rotations for pose in again])
    angles = np.degrees(2 * np.arccos(np.clip(np.abs(turned[..., 3]), 0, 1)))
    assert 10 < angles.mean() < 25  # the mean of such angles is 16


def test_character_without_skin() -> None:
    none = np.full(4, -1, np.int32)
    bare = replace(hero().scene, node_skin=none, node_mesh=none, skins=())
    assert list(weights._compare("bare", Character(bare))) == []
