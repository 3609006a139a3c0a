from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.convert.shape.body import Body, Pull, body_surface, gather_bodies
from flexor.convert.shape.bones import derive_bones
from flexor.convert.shape.sections import derive_sections
from flexor.convert.shape.surface import Surface, make_surface
from flexor.convert.weights.remove_rogues import remove_rogues
from flexor.convert.weights.score_bones import tie_scores
from tests.conftest import find_assets
from tests.oracle import rogues as oracle


def plain_surface(count: int, edges: Any, lengths: Any = None) -> Surface:
    """A surface of points 0 to count - 1 and some edges; pieces by the oracle."""
    ways: dict[int, dict[int, float]] = {point: {} for point in range(count)}
    for row, (a, b) in enumerate(edges):
        length = 1.0 if lengths is None else float(np.float32(lengths[row]))
        ways[a][b] = ways[b][a] = length
    pieces = np.zeros(count, np.int32)
    for number, piece in enumerate(oracle.pieces(ways)):
        pieces[list(piece)] = number
    each = [sorted(ways[point].items()) for point in range(count)]
    flat = [pair for row in each for pair in row]
    starts = np.cumsum([0, *map(len, each)], dtype=np.int32)
    return Surface(
        np.arange(count, dtype=np.int32),
        np.arange(count, dtype=np.int32),
        np.zeros((count, 3), np.float32),
        np.zeros((count, 3), np.float32),
        starts,
        np.array([b for b, _ in flat], np.int32),
        np.array([length for _, length in flat], np.float32),
        pieces,
    )


def ways_of(surface: Surface) -> dict[int, dict[int, float]]:
    spans = zip(surface.starts[:-1], surface.starts[1:], strict=True)
    return {
        point: dict(
            zip(
                surface.neighbours[a:b].tolist(),
                surface.lengths[a:b].tolist(),
                strict=True,
            )
        )
        for point, (a, b) in enumerate(spans)
    }


def rows_of(pull: Pull, values: Any) -> list[dict[int, float]]:
    return [
        {int(j): float(v) for j, w, v in zip(*row, strict=True) if j >= 0 and w > 0}
        for row in zip(pull.joints, pull.weights, values, strict=True)
    ]


def pull_of(*rows: dict[int, float], width: int = 3) -> Pull:
    joints = np.full((len(rows), width), -1, np.int32)
    weights = np.zeros((len(rows), width), np.float32)
    for at, row in enumerate(rows):
        joints[at, : len(row)] = list(row)
        weights[at, : len(row)] = list(row.values())
    return Pull(joints, weights)


def random_case(seed: int, least: int = 0) -> tuple[Surface, Pull, Any]:
    """A sparse graph, few bones, `least` a row or more; scores (P, S) of few values."""
    rng = np.random.default_rng(seed)
    count, bones = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    chosen = rng.random(len(pairs)) < rng.uniform(0.5, 2.5) / count
    edges = [pair for pair, is_in in zip(pairs, chosen, strict=True) if is_in]
    surface = plain_surface(count, edges, rng.integers(0, 3, len(edges)) * 0.7)
    width = int(rng.integers(1, 4))
    rows = []
    for _ in range(count):
        most = min(width, bones)
        names = rng.permutation(bones)[: rng.integers(least, most + 1)]
        amounts = rng.uniform(0.1, 1, len(names))
        rows.append(dict(zip(names.tolist(), amounts / amounts.sum(), strict=True)))
    return surface, pull_of(*rows, width=width), rng.integers(0, 4, (count, bones))


def tied(scores: Any, pull: Pull) -> Any:
    """Scores (P, S) as those of ties (P, K)."""
    points = np.arange(len(pull))[:, None]
    return scores[points, np.maximum(pull.joints, 0)].astype(np.float32)


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_random_graphs_against_the_oracle(seed: int) -> None:
    surface, pull, scores = random_case(seed)
    mine = tied(scores, pull)
    ways, before = ways_of(surface), rows_of(pull, pull.weights)
    some = None if seed % 3 else {0, 2}
    rogue = oracle.find_rogues(ways, before, rows_of(pull, mine), some)
    expected = oracle.mend(ways, before, rogue)
    out, patches = remove_rogues(surface, pull, mine, joints=some and sorted(some))
    assert {(p, x.joint) for x in patches for p in x.points.tolist()} == rogue
    touched = {point for point, _ in rogue}
    for point, row in enumerate(rows_of(out, out.weights)):
        assert row == pytest.approx(expected[point], abs=1e-6)
        if point not in touched:
            assert out.joints[point].tobytes() == pull.joints[point].tobytes()
            assert out.weights[point].tobytes() == pull.weights[point].tobytes()
    for patch in patches:
        lost = [before[point][patch.joint] for point in patch.points.tolist()]
        assert patch.weight == max(lost)
        heirs = {bone for p in patch.points.tolist() for bone in expected[p]}
        assert patch.heirs == tuple(sorted(heirs))
    assert patches == sorted(patches, key=lambda x: (x.joint, x.points[0]))


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_what_was_mended_has_nothing_to_mend(seed: int) -> None:
    # Points that nothing pulls may lie between a patch and what it takes over.
    surface, pull, scores = random_case(seed, least=1)
    once, _ = remove_rogues(surface, pull, tied(scores, pull))
    twice, patches = remove_rogues(surface, once, tied(scores, once))
    assert patches == []
    assert twice is once
    np.testing.assert_allclose(once.weights.sum(1), 1, atol=1e-6)


def chain(count: int) -> Surface:
    return plain_surface(count, [(i, i + 1) for i in range(count - 1)])


def test_a_patch_takes_the_weights_of_its_nearest_neighbour() -> None:
    surface = chain(5)
    pull = pull_of({0: 1}, {1: 0.75, 0: 0.25}, {1: 1}, {0: 1}, {1: 1})
    scores = np.array([[9], [1], [9], [1], [5]], np.float32).repeat(3, 1)
    out, (patch, island) = remove_rogues(surface, pull, scores)
    assert (patch.joint, patch.points.tolist(), patch.weight) == (0, [3], 1)
    assert (patch.heirs, patch.score, patch.best) == ((1,), 1, 9)
    assert (island.joint, island.points.tolist(), island.heirs) == (1, [4], (1,))
    assert rows_of(out, out.weights)[3:] == [{1: 1}, {1: 1}]


def test_a_point_with_a_sound_tie_keeps_it() -> None:
    pull = pull_of({0: 1}, {1: 1}, {0: 0.3, 1: 0.5, 2: 0.2}, {1: 1})
    scores = np.array([9, 1, 1, 1], np.float32)[:, None].repeat(3, 1)
    out, (patch,) = remove_rogues(chain(4), pull, scores)
    assert patch.weight == np.float32(0.3)
    assert rows_of(out, out.weights)[2] == pytest.approx({1: 5 / 7, 2: 2 / 7})


def test_of_equally_sure_points_the_first_counts() -> None:
    pull = pull_of({0: 1}, {1: 1}, {0: 1})
    _, (patch,) = remove_rogues(chain(3), pull, np.zeros((3, 3), np.float32))
    assert patch.points.tolist() == [2]


def test_a_piece_that_hangs_on_one_bone_is_never_rogue() -> None:
    surface = plain_surface(4, [(0, 1), (2, 3)])
    pull = pull_of({0: 1}, {0: 1}, {0: 0.5, 1: 0.5}, {0: 1})
    scores = np.array([9, 9, 0, 0], np.float32)[:, None].repeat(3, 1)
    assert remove_rogues(surface, pull, scores)[0] is pull


def test_joints_that_are_not_looked_at_keep_their_patches() -> None:
    pull = pull_of({0: 1}, {1: 1}, {0: 1}, {1: 1})
    scores = np.zeros((4, 3), np.float32)
    assert len(remove_rogues(chain(4), pull, scores)[1]) == 2
    _, (patch,) = remove_rogues(chain(4), pull, scores, joints=[1])
    assert (patch.joint, patch.points.tolist(), patch.heirs) == (1, [3], (0,))
    assert remove_rogues(chain(4), pull, scores, joints=[])[1] == []


def test_patches_that_are_nearly_as_sure_can_be_spared() -> None:
    pull = pull_of({0: 1}, {1: 1}, {0: 1})
    scores = np.array([[0.8], [0.5], [0.4]], np.float32).repeat(3, 1)
    assert remove_rogues(chain(3), pull, scores, spare=0.5)[0] is pull
    assert len(remove_rogues(chain(3), pull, scores, spare=0.6)[1]) == 1


def test_nothing_and_one_point() -> None:
    empty = np.zeros((0, 2), np.float32)
    pull = Pull(np.zeros((0, 2), np.int32), empty)
    none = make_surface(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    assert remove_rogues(none, pull, empty) == (pull, [])
    one = pull_of({3: 1})
    assert remove_rogues(plain_surface(1, []), one, np.ones((1, 3), "f4")) == (one, [])
    loose = pull_of({}, {})
    assert remove_rogues(chain(2), loose, np.ones((2, 3), "f4")) == (loose, [])


def test_scores_that_are_no_numbers_are_the_least_sure() -> None:
    pull = pull_of({0: 1}, {1: 1}, {0: 1})
    scores = np.array([np.nan, 0, -5], np.float32)[:, None].repeat(3, 1)
    _, (patch,) = remove_rogues(chain(3), pull, scores)
    assert patch.points.tolist() == [0]


# Planted patches in real skins.


@dataclass(frozen=True)
class Plant:
    """A patch: the vertices nearest to one of a joint, tied to another joint.

    near, way: around which joint, and how far from it, in half sizes; count: of
    places; to, weight: the wrong joint and what it is given.
    """

    near: str
    way: tuple[float, float, float]
    count: int
    to: str
    weight: float = 1.0


MANNEQUIN = [
    Plant("head", (0.3, 0.2, 0), 12, "l-shoulder"),  # the side of the head
    Plant("l-index2", (0.1, -0.1, 0), 6, "l-hip"),
    Plant("r-toe", (0, 0, 0.2), 8, "l-knee"),
    Plant("r-knee", (0, 0, 0.2), 1, "l-wrist"),
    Plant("hips", (0, 0, -0.3), 5, "l-hand"),
    Plant("chest", (0, 0, 0.3), 9, "r-ankle", 0.3),
    Plant("l-elbow", (0, 0.1, -0.2), 4, "r-elbow", 0.3),
    Plant("l-ankle", (0.2, 0, 0), 1, "r-toe", 0.05),
    Plant("r-wrist", (0, 0.2, 0), 3, "head"),
    Plant("l-knee", (0, 0, -0.2), 7, "neck", 0.6),
]
CESIUM = [
    Plant("Skeleton_neck_joint_2", (0, 0, 0.4), 8, "leg_joint_L_3"),
    Plant("leg_joint_R_3", (0, 0, -0.1), 5, "leg_joint_L_3"),
    Plant("Skeleton_torso_joint_2", (0.3, 0, 0), 1, "leg_joint_R_5", 0.3),
    Plant("Skeleton_arm_joint_L__2_", (0, 0, 0), 6, "leg_joint_L_2"),
]
TREX = [
    Plant("Head", (0, 0.1, 0.1), 9, "BackLowLeg.L"),
    Plant("Tail3", (0, 0.1, 0), 4, "Head", 0.5),
    Plant("BackFoot.R", (0, -0.1, 0), 1, "Tail5", 0.3),
]


def plant(body: Body, plants: list[Plant]) -> tuple[Pull, list[set[int]]]:
    """The pull of all vertices with the patches in it, and the vertices of each.

    All vertices in one place are planted alike: they may be split at a seam.
    """
    base = body.pull
    width = base.joints.shape[1] + 1
    joints = np.full((len(base), width), -1, np.int32)
    weights = np.zeros((len(base), width), np.float32)
    joints[:, :-1], weights[:, :-1] = base.joints, base.weights
    places, place = np.unique(body.positions, axis=0, return_inverse=True)
    planted = []
    for one in plants:
        row, to = body.names.index(one.near), body.names.index(one.to)
        spot = body.frames[row, :, 3] + np.array(one.way) * body.size / 2
        nearest = np.argsort(np.linalg.norm(places - spot, axis=1), kind="stable")
        surface = body_surface(body, is_by_place=True)
        chosen = grow(surface, int(surface.point_of_vertex[place == nearest[0]][0]))
        at = np.isin(surface.point_of_vertex, chosen[: one.count])
        assert not (joints[at] == to).any(), "a plant must be new"
        assert not any(set(np.flatnonzero(at)) & other for other in planted)
        weights[at] *= 1 - one.weight
        joints[at] = np.where(weights[at] > 0, joints[at], -1)
        joints[at, -1], weights[at, -1] = to, one.weight
        planted.append(set(np.flatnonzero(at).tolist()))
    return Pull(joints, weights), planted


def grow(surface: Surface, start: int) -> list[int]:
    """Points around one, nearest by steps first."""
    found = [start]
    for point in found:
        span = slice(surface.starts[point], surface.starts[point + 1])
        found += [p for p in surface.neighbours[span].tolist() if p not in found]
        if len(found) > 50:
            break
    return found


def clean(body: Body, pull: Pull) -> tuple[Surface, Pull, list[Any], Pull]:
    """Surface, points' pull, patches and the pull of all vertices after removal."""
    surface = body_surface(replace(body, pull=pull))
    points = pull.take(surface.vertex_of_point)
    bones = derive_bones(body, body.positions, pull)
    sections = derive_sections(body.positions, pull, bones, body.size)
    scores = tie_scores(surface, points, bones, sections)
    out, patches = remove_rogues(surface, points, scores)
    return surface, points, patches, out.take(surface.point_of_vertex)


def check_planted(body: Body, plants: list[Plant], is_clean: bool) -> None:
    pull, planted = plant(body, plants)
    surface, _, patches, mended = clean(body, pull)
    found = {
        (int(vertex), patch.joint)
        for patch in patches
        for vertex in np.flatnonzero(np.isin(surface.point_of_vertex, patch.points))
    }
    for one, vertices in zip(plants, planted, strict=True):
        to = body.names.index(one.to)
        assert {(vertex, to) for vertex in vertices} <= found
        rows = sorted(vertices)
        assert not (mended.joints[rows] == to).any()
        np.testing.assert_allclose(mended.weights[rows].sum(1), 1, atol=1e-6)
        if one.weight < 0.9:  # what else pulled there pulls again
            before = body.pull.take(np.array(rows)).dense(len(body.names))
            after = mended.take(np.array(rows)).dense(len(body.names))
            np.testing.assert_allclose(after, before, atol=1e-6)
    rest = np.setdiff1d(np.arange(len(body)), sorted(set().union(*planted)))
    touched = np.unique(sorted(vertex for vertex, _ in found))
    if is_clean:
        assert not np.isin(rest, touched).any()
    rest = np.setdiff1d(rest, touched)
    assert mended.joints[rest].tobytes() == pull.joints[rest].tobytes()
    assert mended.weights[rest].tobytes() == pull.weights[rest].tobytes()


def test_the_mannequin_has_no_rogues_and_planted_ones_are_removed() -> None:
    (body,) = gather_bodies(flexor.samples.mannequin().scene)
    assert clean(body, body.pull)[2] == []
    check_planted(body, MANNEQUIN, is_clean=True)


def test_planted_patches_join_their_surroundings() -> None:
    (body,) = gather_bodies(flexor.samples.mannequin().scene)
    pull, planted = plant(body, MANNEQUIN)
    *_, mended = clean(body, pull)
    gap = np.abs(mended.dense(len(body.names)) - body.pull.dense(len(body.names)))
    assert gap.sum(1).max() < 0.8  # a vertex takes the weights of one some edges away
    assert np.median(gap.sum(1)[sorted(set().union(*planted))]) < 0.1


def test_a_patch_across_a_seam_is_one() -> None:
    (body,) = gather_bodies(flexor.samples.mannequin().scene)
    surface = body_surface(body)
    counts = np.bincount(surface.point_of_vertex)
    assert counts.max() > 1
    split = int(np.argmax(counts))
    twins = np.flatnonzero(surface.point_of_vertex == split)
    far = np.linalg.norm(body.frames[:, :, 3] - body.positions[twins[0]], axis=1)
    to = int(np.argmax(far))
    joints, weights = body.pull.joints.copy(), body.pull.weights.copy()
    joints[twins], weights[twins] = -1, 0
    joints[twins, 0], weights[twins, 0] = to, 1
    *_, patches, mended = clean(body, Pull(joints, weights))
    assert [(p.joint, len(p.points)) for p in patches] == [(to, 1)]
    assert (mended.joints[twins] == mended.joints[twins[0]]).all()
    # On one side of the seam alone: the other side, at distance 0, is taken over.
    joints[twins[1:]], weights[twins[1:]] = (
        body.pull.joints[twins[1:]],
        body.pull.weights[twins[1:]],
    )
    *_, mended = clean(body, Pull(joints, weights))
    np.testing.assert_allclose(
        mended.dense(len(body.names)), body.pull.dense(len(body.names)), atol=1e-6
    )


def sure_rogues(body: Body, pull: Pull, spare: float) -> list[Any]:
    """Patches that are rogue also by scores of the skin without any patches."""
    surface, points, _, mended = clean(body, pull)
    bones = derive_bones(body, body.positions, mended)
    sections = derive_sections(body.positions, mended, bones, body.size)
    scores = tie_scores(surface, points, bones, sections)
    return remove_rogues(surface, points, scores, spare=spare)[1]


def test_planted_patches_are_not_spared() -> None:
    (body,) = gather_bodies(flexor.samples.mannequin().scene)
    pull, planted = plant(body, MANNEQUIN)
    patches = sure_rogues(body, pull, 0.3)
    assert len(patches) == len(planted)
    assert {body.names[patch.joint] for patch in patches} == {p.to for p in MANNEQUIN}


def test_two_sides_of_a_bone_are_spared() -> None:
    # The root pulls the toes of both feet alike: neither is more of a fault.
    folder = find_assets()
    if folder is None or not (folder / "Q_Trex.glb").exists():
        pytest.skip("no assets folder: set FLEXOR_ASSETS")
    (body,) = gather_bodies(flexor.load(folder / "Q_Trex.glb").scene)
    assert [body.names[patch.joint] for patch in clean(body, body.pull)[2]] == ["root"]
    assert sure_rogues(body, body.pull, 0.3) == []
    pull, planted = plant(body, TREX)
    assert len(sure_rogues(body, pull, 0.3)) == len(planted)


@pytest.mark.parametrize(
    ("name", "plants", "is_clean"),
    [("CesiumMan.glb", CESIUM, False), ("Q_Trex.glb", TREX, False)],
)
def test_planted_patches_in_real_characters(
    name: str, plants: list[Plant], is_clean: bool
) -> None:
    folder = find_assets()
    if folder is None or not (folder / name).exists():
        pytest.skip("no assets folder: set FLEXOR_ASSETS")
    body = gather_bodies(flexor.load(folder / name).scene)[0]
    check_planted(body, plants, is_clean)
