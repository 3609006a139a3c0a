"""Plans of dropped nodes, against the slow twin and by what must hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.levels import drop_nodes
from flexor.convert.levels.drop_nodes import (
    DropPlan,
    fewer_influences,
    plan_drops,
    used_nodes,
    weights_after,
)
from flexor.convert.levels.poses import LevelPoses
from flexor.errors import SettingError, ShapeError
from flexor.maths import transforms
from flexor.scene.runtime.node_table import NodeTable
from tests.convert.levels.drop_bodies import chain_body, random_body
from tests.oracle import drop_nodes as oracle


def skinned(body: dict[str, Any], plan: DropPlan, steps: int) -> Any:
    """Vertices (P, V, 3) of the poses reported, after so many steps."""
    joints, weights = weights_after(plan, steps)
    poses = body["poses"].clips if len(body["poses"].clips) else body["poses"].swings
    places = np.concatenate(
        [body["positions"], np.ones((len(joints), 1))], 1, dtype=np.float64
    )
    whole = transforms.multiply(poses[:, plan.slots].astype(float), plan.binds)
    blended = np.einsum("vk,pvkij->pvij", weights, whole[:, joints])
    return np.einsum("pvij,vj->pvi", blended, places)


@pytest.mark.parametrize("clips", [0, 3])
@pytest.mark.parametrize("nodes", [2, 5, 9, 14])
@pytest.mark.parametrize("roots", [1, 2])
def test_plans_are_those_of_the_twin(
    rng: Any, nodes: int, roots: int, clips: int
) -> None:
    body = random_body(rng, nodes, roots=roots, clips=clips)
    plan = plan_drops(**body)
    order, costs, steps = oracle.plan_drops(oracle.make_body(**body))
    assert plan.order.tolist() == order
    np.testing.assert_allclose(plan.costs, costs, rtol=1e-4, atol=1e-5)
    for step, (other, pulls) in enumerate(steps):
        joints, weights = weights_after(plan, step + 1)
        have = [
            {
                (int(plan.slots[slot]), int(plan.spaces[slot])): share
                for slot, share in zip(names, shares, strict=True)
                if share > 0
            }
            for names, shares in zip(joints.tolist(), weights.tolist(), strict=True)
        ]
        for vertex, own in enumerate(pulls):
            wanted: dict[tuple[int, int], float] = {}
            for slot, share in own.items():
                number, space, _ = other.slots[slot]
                key = int(body["table"].nodes[number]), space
                wanted[key] = wanted.get(key, 0.0) + share
            if len(wanted) == len(own):  # no two slots of one node in one space
                assert have[vertex] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("flat", range(7))
def test_nodes_without_volume_are_given_no_slots(rng: Any, flat: int) -> None:
    body = random_body(rng, 7, flat=flat)
    plan = plan_drops(**body)
    order, costs, _ = oracle.plan_drops(oracle.make_body(**body))
    assert plan.order.tolist() == order
    np.testing.assert_allclose(plan.costs, costs, rtol=1e-4, atol=1e-5)
    made = plan.slots[len(body["slots"]) :]
    assert body["table"].nodes[flat] not in made


@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 8), roots=st.integers(1, 3))
@settings(max_examples=60)
def test_what_holds_for_every_plan(seed: int, nodes: int, roots: int) -> None:
    rng = np.random.default_rng(seed)
    body = random_body(rng, max(nodes, roots, 3), roots=roots)
    plan = plan_drops(**body)
    table = body["table"]
    used = used_nodes(table, body["slots"], body["joints"], body["weights"])
    assert len(plan) == np.count_nonzero(used) - 1
    assert len(set(plan.order.tolist())) == len(plan)
    assert used[plan.order].all()
    full = skinned(body, plan, 0)
    for steps in range(len(plan) + 1):
        joints, weights = weights_after(plan, steps)
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
        left = used.copy()
        left[plan.order[:steps]] = False
        now = used_nodes(table, plan.slots, joints, weights)
        np.testing.assert_array_equal(now, left)
        if steps:
            apart = np.linalg.norm(skinned(body, plan, steps) - full, axis=2)
            rms, worst = plan.costs[steps - 1]
            assert worst == pytest.approx(apart.max(), rel=1e-4, abs=1e-5)
            assert rms == pytest.approx(np.sqrt((apart**2).mean()), rel=1e-4, abs=1e-5)


def test_fingers_go_before_arms() -> None:
    """A chain of bones that all turn as far: tips first."""
    body = chain_body([[0.5, 0.5, 0.5, 0.5], [-0.4, 0.3, -0.5, 0.2]])
    order = plan_drops(**body).order.tolist()
    assert [number for number in order if number] == [3, 2]


def test_a_bone_that_never_moves_goes_first_and_costs_nothing() -> None:
    plan = plan_drops(**chain_body([[0.3, 0.4, 0.0, 0.5], [0.1, -0.4, 0.0, -0.5]]))
    assert plan.order[0] == 2
    assert plan.costs[0].max() < 1e-6
    assert (plan.costs[1:, 1] > 0.1).all()


def test_equal_costs_go_by_vertices_then_by_the_higher_number() -> None:
    body = chain_body(np.zeros((1, 3)))
    # The middle one has taken over from the last and has more vertices than the first.
    assert plan_drops(**body).order.tolist() == [2, 0]
    rows = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11]  # two vertices of the middle bone
    for name in ("positions", "joints", "weights"):
        body[name] = body[name][rows]
    assert plan_drops(**body).order[0] == 1


def test_new_slots_move_nothing_at_rest(rng: Any) -> None:
    """The tip is alone in a space of its own: each carrier gets a slot in it."""
    body = chain_body([[0.5, 0.4, 0.3]])
    body["spaces"] = np.array([0, 0, 1], np.int32)
    plan = plan_drops(**body)
    assert plan.slots[:3].tolist() == [0, 1, 2]
    assert plan.spaces[3:].tolist() == [1] * (len(plan.slots) - 3)
    assert len(plan.slots) > 3
    rest = body["rest"][None]
    at_rest = {**body, "poses": LevelPoses(rest.copy(), rest.copy())}
    for steps in range(3):
        np.testing.assert_allclose(
            skinned(at_rest, plan, steps)[0], body["positions"], atol=1e-6
        )


def test_the_full_skin_is_compared_with_not_the_step_before() -> None:
    """Two turns that cancel: of the last bone only its place is lost in the end.

    From the step before its tip would be twice as far.
    """
    plan = plan_drops(**chain_body([[0.0, 0.4, -0.4]]))
    assert plan.order.tolist() == [2, 1]
    np.testing.assert_allclose(plan.costs[:, 1], 2 * np.sin(0.2), rtol=1e-4)


def test_without_clips_swings_count_alone(rng: Any) -> None:
    body = random_body(rng, 8, clips=0, swings=3)
    poses = body["poses"]
    as_clips = LevelPoses(poses.swings.copy(), poses.clips.copy())
    one, two = plan_drops(**body), plan_drops(**{**body, "poses": as_clips})
    np.testing.assert_array_equal(one.order, two.order)
    np.testing.assert_array_equal(one.costs, two.costs)


def test_the_arrays_of_the_caller_stay_as_they_are(rng: Any) -> None:
    body = random_body(rng, 6)
    names = ("slots", "binds", "spaces", "positions", "joints", "weights", "rest")
    before = {name: body[name].copy() for name in names}
    plan_drops(**body)
    for name in names:
        assert body[name].flags.writeable
        np.testing.assert_array_equal(body[name], before[name])


def test_nothing_to_drop(rng: Any) -> None:
    alone = chain_body([[0.3]])
    assert len(plan_drops(**alone)) == 0
    none = {
        **chain_body([[0.3, 0.2]]),
        "positions": np.zeros((0, 3), np.float32),
        "joints": np.zeros((0, 1), np.uint16),
        "weights": np.zeros((0, 1), np.float32),
    }
    plan = plan_drops(**none)
    assert plan.costs.shape == (0, 2)
    joints, weights = weights_after(plan, 0)
    assert joints.shape == weights.shape == (0, 1)
    nowhere = {
        **none,
        "slots": np.zeros(0, np.int32),
        "spaces": np.zeros(0, np.int32),
        "binds": np.zeros((0, 3, 4), np.float32),
        "table": NodeTable((), [], [], []),
    }
    plan = plan_drops(**nowhere)
    assert weights_after(plan, 0)[0].shape == (0, 1)
    assert not used_nodes(
        nowhere["table"], plan.slots, nowhere["joints"], nowhere["weights"]
    ).size


def test_weights_are_merged_heaviest_first() -> None:
    plan = plan_drops(**chain_body(np.zeros((1, 4))))
    joints = np.array([[3, 0, 2, 1], [1, 1, 0, 0]], np.uint16)
    weights = np.array([[0.2, 0.25, 0.25, 0.3], [0.5, 0.5, 0, 0]], np.float32)
    plan = replace(plan, joints=joints, weights=weights)
    assert plan.order.tolist() == [3, 1, 2]
    names, shares = weights_after(plan, 0)
    assert names.tolist() == [[1, 0, 2, 3], [1, 0, 0, 0]]
    np.testing.assert_allclose(shares, [[0.3, 0.25, 0.25, 0.2], [1, 0, 0, 0]])
    names, shares = weights_after(plan, 1)
    assert names.tolist() == [[2, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(shares, [[0.45, 0.3, 0.25], [1, 0, 0]])
    names, shares = weights_after(plan, 2)
    assert names.tolist() == [[0, 2], [0, 0]]
    np.testing.assert_allclose(shares, [[0.55, 0.45], [1, 0]])
    names, shares = weights_after(plan, 3)
    assert names.tolist() == [[0], [0]]
    assert names.dtype == np.uint16
    assert shares.dtype == np.float32


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_fewer_influences_keeps_the_largest(rng: Any, most: int) -> None:
    joints = np.array([rng.permutation(9)[:4] for _ in range(30)], np.uint16)
    weights = rng.uniform(0.05, 1, (30, 4)).astype(np.float32)
    weights[::3, 2:] = 0
    weights /= weights.sum(1, keepdims=True)
    names, shares = fewer_influences(joints, weights, most)
    assert names.shape[1] == min(most, 4)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    for vertex in range(30):
        ranked = sorted(zip(-weights[vertex], joints[vertex].tolist(), strict=True))[
            :most
        ]
        wanted = {name: -share for share, name in ranked if share < 0}
        whole = sum(wanted.values())
        have = {
            name: share
            for name, share in zip(names[vertex].tolist(), shares[vertex], strict=True)
            if share > 0
        }
        assert have.keys() == wanted.keys()
        for name, share in wanted.items():
            assert have[name] == pytest.approx(share / whole, rel=1e-5)


def test_of_equal_weights_the_lower_slot_is_kept() -> None:
    joints = np.array([[7, 3, 5]], np.uint16)
    weights = np.array([[0.25, 0.375, 0.375]], np.float32)
    assert fewer_influences(joints, weights, 1)[0].tolist() == [[3]]
    weights = np.array([[0.375, 0.25, 0.375]], np.float32)
    assert fewer_influences(joints, weights, 1)[0].tolist() == [[5]]
    assert fewer_influences(joints, weights, 2)[0].tolist() == [[5, 7]]


def test_one_influence_is_that_of_envelopes(rng: Any) -> None:
    joints = np.array([rng.permutation(6)[:3] for _ in range(40)], np.uint16)
    weights = np.rint(rng.uniform(1, 4, (40, 3))).astype(np.float32)  # many are equal
    weights /= weights.sum(1, keepdims=True)
    points = np.zeros((40, 3), np.float32)
    part = EnvelopePart(
        0,
        np.arange(6),
        np.tile(np.eye(3, 4), (6, 1, 1)),
        points,
        points.copy(),
        joints.astype(np.int32),
        weights.copy(),
        np.zeros((0, 3), np.int32),
    )
    names, shares = fewer_influences(joints, weights, 1)
    np.testing.assert_array_equal(names, one_weight(part, range(6)).joints)
    assert (shares == 1).all()


def test_used_nodes_are_those_with_weight() -> None:
    table = NodeTable(("a", "b", "c"), [5, 2, 9], [-1, 0, 1], np.zeros(3))
    slots = np.array([9, 5, 2], np.int32)
    joints = np.array([[0, 2], [1, 0]], np.uint16)
    weights = np.array([[1, 0], [0.5, 0.5]], np.float32)
    assert used_nodes(table, slots, joints, weights).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("slots", np.array([0, 7], np.int32), "slots: node 7 is not in the table"),
        ("binds", np.zeros((1, 3, 4), np.float32), r"binds: shape \(1, 3, 4\)"),
        ("binds", np.full((2, 3, 4), np.nan, np.float32), "binds: must be finite"),
        ("spaces", np.zeros(3, np.int32), r"spaces: shape \(3,\), expected \(2,\)"),
        ("positions", np.zeros((8, 2), np.float32), r"positions: shape \(8, 2\)"),
        ("rest", np.zeros((3, 3, 4), np.float32), r"rest: shape \(3, 3, 4\)"),
        ("weights", np.ones((8, 2), np.float32), r"weights: shape \(8, 2\)"),
        ("weights", np.full((8, 1), 0.9, np.float32), "weights: rows must sum to 1"),
        ("weights", np.full((8, 1), 1.05, np.float32), "weights: rows must sum to 1"),
        ("weights", np.full((8, 1), 0.998, np.float32), "weights: rows must sum to 1"),
        ("weights", np.full((8, 1), -1, np.float32), "finite and not negative"),
        ("weights", np.full((8, 1), np.inf, np.float32), "finite and not negative"),
        ("joints", np.full((8, 1), 2, np.uint16), r"joints: must lie in 0\.\.1"),
        (
            "poses",
            LevelPoses(np.zeros((0, 2, 3, 4)), np.zeros((0, 2, 3, 4))),
            "poses: at least one",
        ),
        (
            "table",
            NodeTable(("a", "b", "c"), [0, 1, 2], [-1, 0, 1], np.zeros(3)),
            "table: node 2, poses have 2",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: Any, text: str) -> None:
    body = chain_body([[0.1, 0.2]])
    with pytest.raises(ShapeError, match=text):
        plan_drops(**{**body, name: value})


@pytest.mark.parametrize("total", [0.9992, 1.0008])
def test_sums_may_be_off_by_rounding(total: float) -> None:
    body = chain_body([[0.1, 0.2]])
    plan = plan_drops(**{**body, "weights": np.full((8, 1), total, np.float32)})
    assert len(plan) == 1


def test_a_vertex_of_two_spaces_is_refused() -> None:
    body = chain_body([[0.1, 0.2]])
    body["joints"] = np.tile(np.array([[0, 1]], np.uint16), (8, 1))
    body["weights"] = np.tile(np.array([[1, 0]], np.float32), (8, 1))
    body["spaces"] = np.array([0, 1], np.int32)
    plan_drops(**body)  # the second has no weight
    body["weights"][5] = 0.5
    with pytest.raises(ShapeError, match="vertex 5 has slots of two mesh spaces"):
        plan_drops(**body)


def test_more_slots_than_can_be_named_are_refused(monkeypatch: Any) -> None:
    body = chain_body([[0.5, 0.4, 0.3]])
    body["spaces"] = np.array([0, 0, 1], np.int32)
    monkeypatch.setattr(drop_nodes, "MOST_SLOTS", 3)
    with pytest.raises(ShapeError, match="slots: carriers need more than 3"):
        plan_drops(**body)


@pytest.mark.parametrize("steps", [-1, 3])
def test_steps_that_are_not_in_the_plan_are_refused(steps: int) -> None:
    plan = plan_drops(**chain_body(np.zeros((1, 3))))
    with pytest.raises(SettingError, match=f"steps: {steps}, expected 0 to 2"):
        weights_after(plan, steps)


def test_no_influences_at_all_are_refused() -> None:
    one = np.ones((1, 1), np.float32)
    with pytest.raises(SettingError, match="most: 0, expected at least 1"):
        fewer_influences(np.zeros((1, 1), np.uint16), one, 0)
    with pytest.raises(ShapeError, match="rows must sum to 1"):
        fewer_influences(np.zeros((1, 1), np.uint16), one * 0, 1)


def test_a_plan_whose_arrays_do_not_fit_is_refused() -> None:
    plan = plan_drops(**chain_body(np.zeros((1, 3))))
    with pytest.raises(ShapeError, match="becomes"):
        replace(plan, becomes=plan.becomes[:-1].copy())
    with pytest.raises(ShapeError, match="costs"):
        replace(plan, costs=np.zeros((3, 2)))
