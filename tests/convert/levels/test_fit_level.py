"""One level: its goals, the poses it is measured in, and what is missed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.levels import fit_level as module
from flexor.convert.levels.body import make_level_body
from flexor.convert.levels.choose_nodes import SlotTable, read_words
from flexor.convert.levels.drop_nodes import plan_drops, used_nodes
from flexor.convert.levels.fit_level import (
    FittedLevel,
    LevelGoals,
    Measure,
    _attributes,
    _spread,
    _worst,
    fit_level,
    make_measure,
)
from flexor.convert.levels.poses import LevelPoses
from flexor.convert.levels.surfaces import LevelSkin
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.level_settings import LevelChoice
from flexor.scene.runtime.node_table import make_node_table
from tests.convert.levels.test_simplify_body import sheet
from tests.convert.shape.tubes import SIDES, skinned_scene, tube


@pytest.mark.parametrize(
    ("error", "share", "is_met"),
    [
        ((1.0, 3.0), 1.0, True),
        ((1.1, 3.0), 1.0, False),
        ((1.0, 3.1), 1.0, False),
        ((0.5, 1.5), 0.5, True),
        ((0.6, 1.5), 0.5, False),
    ],
)
def test_both_goals_count(error: Any, share: float, is_met: bool) -> None:
    assert LevelGoals(1.0, 3.0).is_met(error, share) == is_met


def test_poses_that_differ_most_come_first() -> None:
    places = np.zeros((5, 4, 3), np.float32)
    places[:, 0, 0] = 0, 1, 0, 10, 1
    assert _spread(places, 2).tolist() == [3, 0]
    assert sorted(_spread(places, 9).tolist()) == [0, 1, 2, 3, 4]  # each once
    assert _spread(places[:1], 8).tolist() == [0]


def test_missed_points_are_the_furthest_and_not_neighbours() -> None:
    places = np.zeros((6, 3), np.float32)
    places[:, 0] = 0, 0.1, 5, 5.1, 9, 20
    away = np.array([1.0, 2.0, 3.0, 2.5, 0.2, 1.5])
    assert _worst(places, away, 0.5).tolist() == [2, 1, 5]
    assert _worst(places, away, 9.0).tolist() == []


# Levels of small bodies that never move, so that weights cost nothing


def upright(rings: int = 41) -> tuple[Any, Any]:
    """Places and faces of a tube of radius 1 and height 16."""
    lying, _, faces = tube(np.linspace(0, 16, rings))
    return lying[:, [1, 0, 2]], faces[:, ::-1]


def measure_still(places: Any, faces: Any, joints: int = 1, **change: Any) -> Measure:
    """What a body is measured with that stands on a row of joints up the y axis.

    Each vertex hangs on the nearest joint below it. change: fields of the body.
    """
    y = np.asarray(places)[:, 1]
    bases = np.zeros((joints, 3))
    bases[:, 1] = np.linspace(y.min(), y.max(), joints, endpoint=False)
    own = np.searchsorted(bases[:, 1], y, side="right") - 1
    parents = [-1, *range(joints - 1)]
    scene = skinned_scene(bases, parents, places, faces, np.eye(joints)[own])
    body, findings = make_level_body(scene)
    assert not findings
    body = replace(body, **change)
    table = make_node_table(scene.skeleton)
    rest = rest_world(scene.skeleton).astype(np.float32)
    plan = plan_drops(
        table,
        body.slots,
        body.binds,
        body.spaces,
        body.positions,
        body.joints,
        body.weights,
        LevelPoses(rest[None].copy(), rest[None][:0].copy()),
        rest,
    )
    used = used_nodes(table, body.slots, body.joints, body.weights)
    tall = float(np.ptp(body.rest[:, 1]))
    return make_measure(body, table, plan, used, rest, rest[None], tall)


def fit(measure: Measure, goals: LevelGoals, steps: int = 0, **said: Any) -> Any:
    """The level after the whole body, of which steps of the plan were taken."""
    body, choice = measure.body, LevelChoice(**{"height": 360, **said})
    skin = LevelSkin(body.faces, body.joints, body.weights)
    before = FittedLevel(skin, steps, body.joints.shape[1], (0.0, 0.0))
    words = read_words(measure.table, choice, None, 1)
    return fit_level(measure, before, goals, choice, words, SlotTable(measure.plan))


@pytest.mark.slow
def test_a_level_has_no_node_that_the_level_before_had_not() -> None:
    """Also where its own goals would take no step."""
    measure = measure_still(*upright(9), joints=4)
    costs = np.ones((3, 2))
    measure = replace(measure, plan=replace(measure.plan, costs=costs))
    goals = LevelGoals(0.01, 0.01)
    assert fit(measure, goals).steps == 0
    assert fit(measure, goals, steps=2).steps == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "steps"),
    [((7.5, 7.5), 3), ((8.5, 7.5), 2), ((7.5, 8.5), 2)],
)
def test_steps_whose_costs_are_far_beyond_the_goals_are_not_tried(
    times: Any, steps: int
) -> None:
    """Costs tell how far vertices move; that may be along the surface."""
    goals = LevelGoals(0.1, 0.2)
    measure = measure_still(*upright(9), joints=4)
    costs = np.tile([0.1, 0.2], (3, 1))
    costs[2] *= times
    measure = replace(measure, plan=replace(measure.plan, costs=costs))
    assert fit(measure, goals).steps == steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goals", "shares"),
    [
        (LevelGoals(0.1, 9.0), (0.2, 0.3)),
        (LevelGoals(0.2, 9.0), (0.2, 0.3)),
        (LevelGoals(9.0, 0.2), (0.6, 0.8)),
        (LevelGoals(9.0, 0.3), (0.6, 0.8)),
    ],
)
def test_triangles_use_up_a_share_of_the_goals(goals: LevelGoals, shares: Any) -> None:
    """0.3 of the mean and 0.8 of the worst, and not much less of the nearer one."""
    places, faces = upright(61)
    wide = 1 + 0.3 * np.sin(1.5 * places[:, 1:2])
    measure = measure_still(places * np.hstack([wide, 0 * wide + 1, wide]), faces)
    mean, worst = fit(measure, goals).error
    nearer = mean / goals.mean if goals.mean < 1 else worst / goals.worst
    assert shares[0] < nearer <= shares[1]


def seam(last: float) -> Measure:
    """A tube whose texture goes round it once; `last`: u where it ends."""
    places, _ = upright()
    rings, wide = len(places) // SIDES, SIDES + 1
    rows = np.arange(rings)[:, None] * SIDES + np.arange(wide) % SIDES
    first = (np.arange(rings - 1)[:, None] * wide + np.arange(SIDES)).ravel()
    a, b, c, d = first, first + 1, first + wide + 1, first + wide
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])[:, ::-1]
    u = np.linspace(0, 1, wide)
    u[-1] = last
    coords = np.zeros((rings * wide, 2), np.float32)
    coords[:, 0] = np.tile(u, rings)
    normals = (places * [1, 0, 1])[rows.ravel()].astype(np.float32)
    return measure_still(places[rows.ravel()], faces, texcoords=coords, normals=normals)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "is_seam"), [(1.0, True), (0.02, True), (0.01, False)]
)
def test_a_seam_of_the_texture_stays(last: float, is_seam: bool) -> None:
    """Where its sides are further apart than 4 / 360: no triangle goes across it."""
    measure = seam(last)
    level = fit(measure, LevelGoals(0.1, 0.3))
    faces = level.skin.faces
    assert len(faces) < len(measure.body.faces) / 4
    column = np.unique(faces) % (SIDES + 1)
    assert {0, SIDES} & set(column.tolist())
    assert ({0, SIDES} <= set(column.tolist())) == is_seam


def test_movements_count_as_the_mean_of_poses() -> None:
    """What vertices move by is a length, however many poses there are."""
    measure = measure_still(*upright(3))
    rest = measure.body.rest
    for poses in (1, 2, 6, 9):
        placed = np.tile(rest, (poses, 1, 1))
        placed[..., 2] += np.float32(2.0)
        columns, weights = _attributes(measure, placed)
        weighted = (columns * weights)[:, 5:]
        assert weighted.shape[1] == 3 * min(poses, 6)
        np.testing.assert_allclose(np.linalg.norm(weighted, axis=1), 2, rtol=1e-5)


# What is missed is held: with a simplifier of flat sheets that drops what stands on
# them, by rules of the test

EDGE = 17
TALL = 3.0


class Dropper:
    """A simplifier that knows one sheet with fingers, triangles that stand on it.

    held: which corners of each finger must be locked or it is dropped, the tip first;
    least: of each, below how many triangles nothing helps; pruned: fingers that vanish
    while components may. calls: target, locked and prune of each.
    """

    def __init__(self, held: Any = (), least: Any = (), pruned: Any = ()) -> None:
        self.held, self.least, self.pruned = held, least, pruned
        self.calls: list[tuple[int, Any, bool]] = []

    def __call__(
        self,
        faces: Any,
        places: Any,
        attributes: Any,
        weights: Any,
        target: int,
        locked: Any = None,
        *,
        prune: bool = True,
    ) -> Any:
        self.calls.append((target, locked.copy(), prune))
        cells = int(np.sqrt(target / 2))
        rows = np.linspace(0, EDGE - 1, cells + 1).astype(int)
        grid = (rows[:, None] * EDGE + rows).ravel()
        flat = sheet(cells + 1)[1]
        stay = [grid[flat]]
        for finger, corners in enumerate(self.held):
            own = EDGE**2 + 3 * finger + np.arange(3)
            is_held = locked[own[:corners]].all() and target >= self.least[finger]
            if is_held and not (prune and finger in self.pruned):
                stay.append(own[None])
        return np.concatenate(stay).astype(np.int32)


def hand(fingers: int, tall: float = TALL) -> Measure:
    """A sheet of 512 triangles and fingers on it, far from each other."""
    flat, faces = sheet(EDGE)
    places = [flat]
    for finger in range(fingers):
        way = np.array([3.3 + 7 * finger, 5.4, 0])
        places.append(way + np.array([[0, 0, tall], [0.3, 0, 0], [0, 0.3, 0]]))
    rows = EDGE**2 + np.arange(3 * fingers).reshape(-1, 3)
    return measure_still(np.concatenate(places), np.concatenate([faces, rows]))


def tips(measure: Measure) -> Any:
    return np.arange(EDGE**2, len(measure.body), 3)


@pytest.mark.slow
@pytest.mark.parametrize("corners", [0, 1, 3])
def test_a_fingertip_is_held(monkeypatch: Any, corners: int) -> None:
    """If it alone does not do, what is around it too; others stay free."""
    measure, simplifier = hand(1), Dropper([corners], [0])
    monkeypatch.setattr(module, "simplify", simplifier)
    level = fit(measure, LevelGoals(1.0, 1.0))
    assert tips(measure)[0] in level.skin.faces
    assert len(level.skin.faces) == 9
    _, locked, _ = simplifier.calls[-1]
    assert not locked[: EDGE**2].any()
    assert locked.any() == (corners > 0)
    # What was held once is held in coarser trials from the beginning.
    begins = [locked.any() for _, locked, is_first in simplifier.calls if is_first]
    assert begins == [False] + [corners > 0] * (len(begins) - 1)


@pytest.mark.slow
@pytest.mark.parametrize(("tall", "stays"), [(TALL, True), (0.5, True), (0.3, False)])
def test_small_parts_come_back_where_they_are_missed(
    monkeypatch: Any, tall: float, stays: bool
) -> None:
    """By more than 0.5 of the 0.8 that triangles may use up."""
    measure, simplifier = hand(1, tall), Dropper([0], [0], [0])
    monkeypatch.setattr(module, "simplify", simplifier)
    level = fit(measure, LevelGoals(1.0, 1.0))
    assert (tips(measure)[0] in level.skin.faces) == stays
    assert len(level.skin.faces) == 8 + stays


@pytest.mark.slow
def test_what_was_held_in_vain_is_let_go(monkeypatch: Any) -> None:
    """The second finger needs no hold from 30 triangles on, and below none helps."""
    measure, simplifier = hand(2), Dropper([1, 0], [0, 30])
    monkeypatch.setattr(module, "simplify", simplifier)
    level = fit(measure, LevelGoals(1.0, 1.0))
    one, two = tips(measure)
    assert {one, two} <= set(level.skin.faces.ravel().tolist())
    assert len(level.skin.faces) == 20  # of 30: 3 x 3 cells, and the fingers
    begins = [call for call in simplifier.calls if call[2]]
    is_vain = [target < 30 for target, _, _ in begins]
    assert is_vain[:3] == [False, True, False]
    assert [locked[one] for _, locked, _ in begins] == [
        False,
        *[True] * len(begins[1:]),
    ]
    assert not any(locked[two] for _, locked, _ in begins)
    assert any(locked[two] for _, locked, _ in simplifier.calls)  # it was tried
