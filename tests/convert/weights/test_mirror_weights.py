from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Body, Pull, gather_bodies
from flexor.convert.weights.mirror_weights import mirror_weights
from flexor.errors import SettingError
from flexor.scene.character.mirror_pairs import find_mirror, mirror_pairs, swap_side
from tests.conftest import find_assets


@pytest.fixture(scope="module")
def body() -> Body:
    (whole,) = gather_bodies(flexor.samples.mannequin().scene)
    return whole


def frames_at(*places: Any) -> Any:
    frames = np.tile(np.eye(3, 4), (len(places), 1, 1))
    frames[:, :, 3] = places
    return frames


PLACES = [(0, 1, 0), (0.5, 1, 0.1), (-0.5, 1, 0.1), (0.7, 2, 0), (-0.7, 2, 0)]


@pytest.mark.parametrize(
    "names",
    [
        ["Hips", "LeftArm", "RightArm", "LeftHand", "RightHand"],
        [
            "mixamorig:Hips",
            "mixamorig:LeftArm",
            "mixamorig:RightArm",
            "LeftX",
            "RightX",
        ],
        ["hips", "leftUpperArm", "rightUpperArm", "leftHand", "rightHand"],
        ["J_Bip_C_Hips", "J_Bip_L_Arm", "J_Bip_R_Arm", "J_Bip_L_Hand", "J_Bip_R_Hand"],
        ["spine", "upper_arm.L", "upper_arm.R", "hand.L.001", "hand.R.001"],
        ["spine", "upper_arm_l", "upper_arm_r", "hand-L", "hand-R"],
        ["spine", "l-arm", "r-arm", "l_hand", "r_hand"],
        ["Bip01", "Bip01 L Arm", "Bip01 R Arm", "Bip01 L Hand", "Bip01 R Hand"],
        ["hip", "lShldr", "rShldr", "lHand", "rHand"],
        ["hip", "ArmL", "ArmR", "Hand1L", "Hand1R"],
        ["ORIGIN", "ARM_LEFT", "ARM_RIGHT", "HAND_LEFT", "HAND_RIGHT"],
        ["hips", "左腕", "右腕", "左手", "右手"],
        ["hips_01", "arm.L_02", "arm.R_03", "hand.L_04", "hand.R_05"],
        ["hips", "arm_L__4_", "arm_R", "arm_L__3_", "arm_R__2_"],
        ["hips", "arm_L_1", "arm_R_2", "arm_L_2", "arm_R_1"],  # numbers that mislead
    ],
    ids=lambda names: names[1],
)
def test_styles_of_names(names: list[str]) -> None:
    places = list(PLACES)
    if names[-1] == "arm_R_1":
        # By name 1 goes with 4 and 3 with 2; where they stand says otherwise, and only
        # a pair that is right can tell where the plane is.
        names, places = [*names, "leg.L", "leg.R"], [*places, (0.2, 0, 0), (-0.2, 0, 0)]
        expected = [0, 2, 1, 4, 3, 6, 5]
    else:
        expected = [0, 2, 1, 4, 3]
    assert mirror_pairs(names, frames_at(*places)).tolist() == expected


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_plane_is_found(axis: int, sign: int) -> None:
    places = np.roll(np.array(PLACES) * [sign, 1, 1], axis, axis=1)
    places += [3, 4, 5]
    names = ["Hips", "LeftArm", "RightArm", "LeftHand", "RightHand"]
    mirror = find_mirror(names, frames_at(*places))
    assert (mirror.axis, mirror.sign) == (axis, sign)
    assert mirror.middle == pytest.approx(3 + axis)
    assert mirror.away(places[1:2])[0] == pytest.approx(0.5)
    np.testing.assert_allclose(mirror.reflect(places[1:2]), places[2:3])


def test_names_that_are_no_twins_stay_alone() -> None:
    names = ["Hips", "LeftArm", "RightArm", "LeftHand", "RightHand", "LeftSword", "l"]
    places = [*PLACES, (2, 0, 0), (0.1, 0, 0)]
    assert mirror_pairs(names, frames_at(*places)).tolist() == [0, 2, 1, 4, 3, 5, 6]
    # A pair by name that stands elsewhere, and words in which the letters say nothing.
    names[5:] = ["rope.L", "rope.R"]
    places[5:] = [(2, 0, 0), (0.4, 3, 1)]
    assert mirror_pairs(names, frames_at(*places)).tolist() == [0, 2, 1, 4, 3, 5, 6]
    plain = ["bright", "roll", "Lrl", "wheel", "pillar"]
    assert mirror_pairs(plain, frames_at(*PLACES)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_two_that_may_be_a_twin_the_nearer_is(order: list[int]) -> None:
    names = ["leg.L", "leg.R", "arm_R_9", "arm_L_1", "arm_L_2"]
    two = [(0.5, 1, 0), (0.5, 1.02, 0)]
    places = [(0.2, 0, 0), (-0.2, 0, 0), (-0.5, 1, 0), two[order[0]], two[order[1]]]
    expected = [1, 0, 3, 2, 4] if order[0] == 0 else [1, 0, 4, 3, 2]
    assert mirror_pairs(names, frames_at(*places)).tolist() == expected


def test_of_two_planes_the_one_with_the_least_squares_is_taken() -> None:
    """Three pairs each: off by 3, 0 and 3, and by 0, 0 and 4.5."""
    names, places = [], []
    for row, middle in enumerate([-1.5, 0, 1.5, 40, 40, 42.25]):
        names += [f"bone{row}.L", f"bone{row}.R"]
        places += [(middle + 10, 20 * row, 0), (middle - 10, 20 * row, 0)]
    mirror = find_mirror(names, frames_at(*places))
    assert (mirror.axis, mirror.middle) == (0, pytest.approx(0))
    assert mirror.twins.tolist() == [1, 0, 3, 2, 5, 4, 6, 7, 8, 9, 10, 11]


def flat_body(body: Body, positions: Any, faces: Any, joints: Any) -> Body:
    """Vertices that hang on one joint each, left (0) or right (1)."""
    count = len(positions)
    rows = np.array(joints, np.int32)[:, None]
    return replace(
        body,
        names=("arm.L", "arm.R"),
        frames=frames_at((1, 0, 0), (-1, 0, 0)),
        positions=np.array(positions, float),
        normals=np.tile([0.0, 0, 1], (count, 1)),
        faces=np.array(faces, np.int32),
        pull=Pull(rows, np.ones((count, 1), np.float32)),
        rigid=np.zeros(count, bool),
    )


def test_faces_across_the_plane_give_nothing(body: Body) -> None:
    """The image of the last vertex lies in one of these."""
    positions = [(0.2, 0, 0), (1, 0, 0), (1, 1, 0), (-0.1, 0, 0)]
    flat = flat_body(body, positions, [[0, 1, 2], [0, 2, 3]], [0, 0, 0, 0])
    mirrored = mirror_weights(flat, flat.pull, source="left").dense(2)
    np.testing.assert_array_equal(mirrored, [[1, 0], [1, 0], [1, 0], [0, 1]])
    flat = flat_body(body, positions, [[0, 1, 2], [0, 2, 3]], [0, 0, 0, 1])
    mirrored = mirror_weights(flat, flat.pull, source="left").dense(2)
    np.testing.assert_array_equal(mirrored[3], [0, 1])


def test_vertices_in_the_plane_give_what_they_get(body: Body) -> None:
    """The first hangs on the left alone; the last is halfway to it."""
    positions = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (-0.5, 0, 0)]
    flat = flat_body(body, positions, [[0, 1, 2]], [0, 0, 0, 1])
    mirrored = mirror_weights(flat, flat.pull, source="left").dense(2)
    expected = [[0.5, 0.5], [1, 0], [1, 0], [0.25, 0.75]]
    np.testing.assert_allclose(mirrored, expected, atol=1e-6)


def test_swapped_names_keep_their_case() -> None:
    assert swap_side("LeftArm") == [("RightArm", True)]
    assert swap_side("RIGHT_arm") == [("LEFT_arm", False)]
    assert swap_side("arm.l.003") == [("arm.r.003", True)]
    assert swap_side("chest") == []


def test_the_mannequin_is_its_own_mirror_image(body: Body) -> None:
    dense = body.pull.dense(len(body.names))
    for source in ("left", "right"):
        mirrored = mirror_weights(body, body.pull, source=source)  # type: ignore[arg-type]
        assert np.abs(mirrored.dense(len(body.names)) - dense).max() < 1e-5
    twins = mirror_pairs(body.names, body.frames)
    for row, name in enumerate(body.names):
        swapped = {"l-": "r-", "r-": "l-"}.get(name[:2], name[:2]) + name[2:]
        assert body.names[twins[row]] == swapped


@pytest.mark.parametrize("source", ["left", "right"])
def test_a_lost_side_comes_back(body: Body, source: Any) -> None:
    mirror = find_mirror(body.names, body.frames)
    away = mirror.away(body.positions) * (1 if source == "left" else -1)
    lost = away < -1e-4 * body.size
    assert 0.3 < lost.mean() < 0.6
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    joints[lost], weights[lost] = -1, 0
    joints[lost, 0], weights[lost, 0] = 0, 1
    mirrored = mirror_weights(body, Pull(joints, weights), source=source)
    gap = mirrored.dense(len(body.names)) - body.pull.dense(len(body.names))
    assert np.abs(gap).max() < 1e-5
    width = joints.shape[1]
    kept = away > 1e-4 * body.size
    assert mirrored.joints[kept, :width].tobytes() == joints[kept].tobytes()
    assert mirrored.weights[kept, :width].tobytes() == weights[kept].tobytes()
    assert not mirrored.weights[kept, width:].any()


def test_vertices_in_the_plane_get_the_mean(body: Body) -> None:
    mirror = find_mirror(body.names, body.frames)
    row = int(np.argmin(np.abs(mirror.away(body.positions))))
    left, right = body.names.index("l-hip"), body.names.index("r-hip")
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    joints[row], weights[row] = -1, 0
    joints[row, :2], weights[row, :2] = (left, 0), (0.75, 0.25)
    mirrored = mirror_weights(body, Pull(joints, weights), source="left")
    found = mirrored.dense(len(body.names))[row]
    np.testing.assert_allclose(found[[left, right, 0]], [0.375, 0.375, 0.25])


def test_a_body_that_stands_elsewhere_and_looks_another_way(body: Body) -> None:
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)
    frames = np.einsum("ij,sjk->sik", turn, body.frames)
    frames[:, :, 3] += [1, 2, 3]
    moved = replace(body, positions=body.positions @ turn.T + [1, 2, 3], frames=frames)
    mirror = find_mirror(moved.names, moved.frames)
    assert (mirror.axis, mirror.middle) == (1, pytest.approx(2))
    mirrored = mirror_weights(moved, moved.pull, source="left")
    gap = mirrored.dense(len(body.names)) - body.pull.dense(len(body.names))
    assert np.abs(gap).max() < 1e-5


def test_many_influences_are_kept(body: Body) -> None:
    rng = np.random.default_rng(3)
    joints = np.argsort(rng.random((len(body), len(body.names))), axis=1)[:, :12]
    weights = rng.dirichlet(np.ones(12), len(body)).astype(np.float32)
    pull = Pull(joints.astype(np.int32), weights)
    mirrored = mirror_weights(body, pull, source="right")
    np.testing.assert_allclose(mirrored.weights.sum(1), 1, atol=1e-5)
    source = find_mirror(body.names, body.frames).away(body.positions) < -1e-3
    assert mirrored.weights[source].tobytes() == weights[source].tobytes()


def test_refusals(body: Body) -> None:
    with pytest.raises(SettingError, match="expected 'left' or 'right'"):
        mirror_weights(body, body.pull, source="up")  # type: ignore[arg-type]
    nameless = replace(body, names=tuple(f"bone{i}" for i in range(len(body.names))))
    with pytest.raises(SettingError, match=r"no left and right joints: .*LeftArm"):
        mirror_weights(nameless, body.pull, source="left")
    names, frames = ["a.L", "a.R", "b"], frames_at((0, 0, 0), (3, 2, 1), (0, 1, 0))
    with pytest.raises(
        SettingError, match=r"^0 of 2 joints such as 'a.L' and 'a.R' mir"
    ):
        find_mirror(names, frames)
    with pytest.raises(
        SettingError, match="not stand in one place"
    ):  # all in one place
        find_mirror(["a.L", "a.R"], frames_at((0, 0, 0), (0, 0, 0)))
    posed = [(0, 1, 0), (0.5, 1, 1), (-1, 1, 0), (0.7, 2, 0), (-0.7, 2, 0), (2, 0, 0)]
    names = ["c", "a.L", "a.R", "b.L", "b.R", "d.L", "d.R", "e.L", "e.R"]
    with pytest.raises(SettingError, match="2 of 8 joints"):  # bound in some pose
        find_mirror(names, frames_at(*posed, (-1, 0, 1), (3, 0, 0), (-2, 2, 0)))
    bare = replace(body, faces=body.faces[:0])
    with pytest.raises(SettingError, match="no triangles on its left side"):
        mirror_weights(bare, body.pull, source="left")


def test_joints_numbered_differently_on_both_sides() -> None:
    folder = find_assets()
    if folder is None or not (folder / "CesiumMan.glb").exists():
        pytest.skip("no assets folder: set FLEXOR_ASSETS")
    (body,) = gather_bodies(flexor.load(folder / "CesiumMan.glb").scene)
    twins = mirror_pairs(body.names, body.frames)
    names = {name: body.names[twins[row]] for row, name in enumerate(body.names)}
    assert names["Skeleton_arm_joint_L__4_"] == "Skeleton_arm_joint_R"
    assert names["Skeleton_arm_joint_L__3_"] == "Skeleton_arm_joint_R__2_"
    assert names["leg_joint_R_5"] == "leg_joint_L_5"
    assert np.array_equal(twins[twins], np.arange(len(twins)))
