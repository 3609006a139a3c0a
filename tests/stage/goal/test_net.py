"""How nets swing: each term of the equations by hand, and all against the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.bench.goal_shots import random_shots
from flexor.maths.records import check_record
from flexor.stage.goal.kernels import goal as kernel_goal
from flexor.stage.goal.layout import FIXED, FREE, SPRUNG, NetTables
from flexor.stage.goal.netting import Netting, net_numbers
from flexor.stage.goal.plan import NetSettings, SheetPlan
from flexor.stage.goal.sheet import Sheet, weave_sheets
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import NettingState, init_netting, shoot, step_netting
from tests.oracle import net as oracle
from tests.oracle.net import Net

Rng = np.random.Generator
# No force at all, in steps of a tenth of a second.
STILL: dict[str, Any] = {
    **dict.fromkeys(("k11", "k12", "k13", "k14", "gravity"), 0),
    "mass": 1,
    "rate": 10,
}


def make_net(
    count: int,
    strings: Any = (),
    lengths: Any = (),
    holds: Any = None,
    anchors: Any = None,
    ground: float = -1e3,
    **settings: float,
) -> Net:
    """A net of `count` nodes on which nothing acts but what is said."""
    return Net(
        np.array(strings, np.int32).reshape(-1, 2),
        np.array(lengths, np.float64),
        np.array([FREE] * count if holds is None else holds, np.int32),
        np.zeros((count, 3)) if anchors is None else np.array(anchors, np.float64),
        NetSettings(**{**STILL, **settings}),
        ground,
    )


def net_of_sheet(sheet: Sheet, settings: NetSettings, ground: float = 0.0) -> Net:
    return Net(
        sheet.strings, sheet.lengths, sheet.holds, sheet.anchors, settings, ground
    )


def swing(net: Net, nodes: Any, speeds: Any, steps: int = 1) -> tuple[Any, Any]:
    """Places and velocities (M, 3) after steps of the kernel."""
    nodes, speeds = np.array(nodes, np.float64), np.array(speeds, np.float64)
    kernel_goal.swing_net(
        steps,
        check_record(
            NetTables(
                net_numbers(net.settings, net.ground),
                net.strings,
                1 / net.lengths,
                net.holds,
                net.anchors,
            )
        ),
        nodes,
        speeds,
        np.full_like(nodes, 1e9),  # what was there does not matter
    )
    return nodes, speeds


def check(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


def test_what_nothing_acts_on_goes_on() -> None:
    nodes, speeds = swing(make_net(1), [[1, 2, 3]], [[0.5, -1, 2]])
    check(speeds, [[0.5, -1, 2]])
    check(nodes, [[1.05, 1.9, 3.2]])


def test_gravity_is_the_same_for_every_mass() -> None:
    for mass in (0.5, 4.0):
        net = make_net(1, gravity=10, mass=mass)
        nodes, speeds = swing(net, [[1, 2, 3]], [[0, 0, 0]])
        check(speeds, [[0, -1, 0]])
        check(nodes, [[1, 1.9, 3]])


def test_k14_adds_to_the_movement_alone() -> None:
    """P' = P + (V' + K14 dV) t, of V' = V + dV."""
    net = make_net(1, gravity=10, k14=0.5)
    nodes, speeds = swing(net, [[0, 0, 0]], [[2, 4, 1]])
    check(speeds, [[2, 3, 1]])
    check(nodes, [[0.2, (3 - 0.5) * 0.1, 0.1]])
    # Along the other axes as well: two newtons of an anchor on a kilogram.
    net = make_net(1, holds=[SPRUNG], anchors=[[2, 0, -4]], k12=1, k14=0.5)
    nodes, speeds = swing(net, [[0, 0, 0]], [[0, 0, 0]])
    check(speeds, [[0.2, 0, -0.4]])
    check(nodes, [[0.03, 0, -0.06]])


@pytest.mark.parametrize("length", [3.0, 3.5, 100.0])
def test_a_string_that_is_slack_does_nothing(length: float) -> None:
    """The nodes are 3 m apart."""
    start = np.array([[0, 0, 0], [1.0, 2, 2]])
    net = make_net(2, [[0, 1]], [length], k11=50)
    nodes, speeds = swing(net, start, np.zeros((2, 3)))
    np.testing.assert_array_equal(nodes, start)
    np.testing.assert_array_equal(speeds, 0)


def test_a_stretched_string_pulls_both_ends_alike() -> None:
    """8 N at twice its length of 2 m: 4 N at 3 m, along (1, 2, 2) / 3."""
    start = np.array([[1, 1, 1], [2.0, 3, 3]])
    net = make_net(2, [[0, 1]], [2.0], k11=8, mass=2)
    nodes, speeds = swing(net, start, np.zeros((2, 3)))
    pull = 4 / 2 * 0.1 * np.array([1, 2, 2]) / 3
    check(speeds, [pull, -pull])
    check(nodes, start + np.array([pull, -pull]) * 0.1)


def test_strings_at_one_node_add_up() -> None:
    """Two against each other leave nothing; one across them does."""
    start = np.array([[0, 0, 0], [2.0, 0, 0], [-2.0, 0, 0], [0, 0, 3.0]])
    strings = [[0, 1], [2, 0], [0, 3]]
    net = make_net(4, strings[:2], [1, 1], k11=7)
    _, speeds = swing(net, start, np.zeros((4, 3)))
    check(speeds[0], 0)
    check(speeds[1], [-0.7, 0, 0])
    check(speeds[2], [0.7, 0, 0])
    net = make_net(4, strings, [1, 1, 1], k11=7)
    _, speeds = swing(net, start, np.zeros((4, 3)))
    check(speeds[0], [0, 0, 1.4])


def test_strings_give_no_momentum(rng: Rng) -> None:
    start = rng.normal(size=(6, 3))
    strings = [(i, j) for i in range(6) for j in range(i)]
    net = make_net(6, strings, rng.uniform(0.1, 2, len(strings)), k11=30)
    _, speeds = swing(net, start, np.zeros((6, 3)))
    assert np.abs(speeds).max() > 0.1
    check(speeds.sum(0), 0)


@pytest.mark.parametrize("k11", [0.0, 9.0])
def test_nodes_in_one_place_do_not_pull(k11: float) -> None:
    start = np.array([[1, 2, 3], [1.0, 2, 3]])
    net = make_net(2, [[0, 1]], [0.5], k11=k11)
    nodes, speeds = swing(net, start, np.zeros((2, 3)))
    np.testing.assert_array_equal(nodes, start)
    np.testing.assert_array_equal(speeds, 0)


def test_an_anchor_pulls_what_is_sprung_and_nothing_else() -> None:
    start = np.array([[0, 0, 0.0]] * 3)
    anchors = [[1, 2, -3]] * 3
    net = make_net(3, holds=[FREE, SPRUNG, FIXED], anchors=anchors, k12=5, mass=2)
    nodes, speeds = swing(net, start, np.zeros((3, 3)))
    wanted = np.zeros((3, 3))
    wanted[1] = 0.25, 0.5, -0.75
    check(speeds, wanted)
    check(nodes, wanted * 0.1)


def test_air_slows_by_the_square_of_the_speed() -> None:
    """At 3 m/s 0.5 * 3 * 3 N, on 2 kg for a tenth of a second."""
    start, way = [[0, 0, 0]], np.array([[1, -2, 2]]) / 3
    for speed, slowed in ((1, 0.025), (3, 0.225), (10, 2.5)):
        net = make_net(1, k13=0.5, mass=2, fastest=20)
        nodes, speeds = swing(net, start, speed * way)
        check(speeds, (speed - slowed) * way)
        check(nodes, (speed - slowed) * way * 0.1)


def test_beyond_the_fastest_air_slows_in_proportion() -> None:
    """So the same share of the speed is lost, and none is turned round."""
    way = np.array([[1, -2, 2]]) / 3
    net = make_net(1, k13=2, fastest=4)
    for speed in (4, 8, 400):
        _, speeds = swing(net, [[0, 0, 0]], speed * way)
        check(speeds, speed * way * (1 - 2 * 4 * 0.1))
    _, speeds = swing(net, [[0, 0, 0]], 2 * way)
    check(speeds, 2 * way * (1 - 2 * 2 * 0.1))


@pytest.mark.parametrize("ground", [0.0, -3.0])
def test_nothing_falls_below_the_ground(ground: float) -> None:
    """It stops there in height, and goes on along it."""
    start = np.array([[0, 0.1, 0], [0, 0.5, 0], [0, -0.6, 0], [0, 0, 0]])
    start[:, 1] += ground
    begin = [[2, -3, 1], [2, -3, 1], [2, 5, 1], [2, 4, 1]]
    nodes, speeds = swing(make_net(4, ground=ground), start, begin)
    np.testing.assert_array_equal(nodes[[0, 2], 1], ground)
    check(nodes[[1, 3], 1], ground + np.array([0.2, 0.4]))
    check(nodes[:, [0, 2]], [[0.2, 0.1]] * 4)
    # The second is above; the third comes up from below and goes on.
    check(speeds, [[2, 0, 1], [2, -3, 1], [2, 5, 1], [2, 4, 1]])


def test_what_lies_on_the_ground_does_so_for_good() -> None:
    nodes, speeds = swing(
        make_net(1, ground=0.5, gravity=9.81, k14=0.1), [[0, 2, 0]], [[0, 0, 0]], 200
    )
    np.testing.assert_array_equal(nodes, [[0, 0.5, 0]])
    np.testing.assert_array_equal(speeds, 0)


def random_sheet(rng: Rng) -> Sheet:
    """One or two small sheets, woven and held anyhow."""

    def pick(words: Any) -> Any:
        return str(rng.choice(words))

    plans = []
    for row in range(int(rng.integers(1, 3))):
        faces = int(rng.integers(1, 3))
        x = np.cumsum([0.0, *rng.uniform(0.3, 1.5, faces)])
        z = rng.normal(0, 0.3, faces + 1)
        held = {
            name: pick(["free", "sprung", "fixed"])
            for name in ("left", "right", "bottom", "top", "corners", "middle")
        }
        plans.append(
            SheetPlan(
                lower=tuple((a, 0.0, c + row) for a, c in zip(x, z, strict=True)),
                upper=tuple((a, 1.2, c + row) for a, c in zip(x, z, strict=True)),
                pitch=float(rng.uniform(0.15, 0.4)),
                weave=pick(["hexagons", "squares"]),
                slack=float(rng.uniform(0.9, 1.1)),
                sag=float(rng.uniform(0, 0.2)),
                **held,
            )
        )
    return weave_sheets(plans)


@pytest.mark.parametrize("seed", range(12))
def test_random_sheets_swing_as_the_oracle_says(seed: int) -> None:
    """Every step from where the kernel is, so that nothing can add up."""
    rng = np.random.default_rng(seed)
    sheet = random_sheet(rng)
    settings = NetSettings(
        k11=float(rng.uniform(0, 40)),
        k12=float(rng.uniform(0, 20)),
        k13=float(rng.uniform(0, 0.3)),
        k14=float(rng.uniform(0, 0.5)),
        mass=float(rng.uniform(0.02, 0.2)),
        gravity=float(rng.uniform(0, 15)),
        fastest=float(rng.uniform(2, 8)),
        rate=240,
    )
    net = net_of_sheet(sheet, settings, ground=float(rng.uniform(0, 0.4)))
    nodes = sheet.places + rng.normal(0, 0.1, sheet.places.shape)
    speeds = rng.normal(0, 3, nodes.shape)
    for _ in range(10):
        wanted = oracle.swing(net, nodes, speeds)
        nodes, speeds = swing(net, nodes, speeds)
        np.testing.assert_allclose(nodes, wanted[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(speeds, wanted[1], rtol=1e-11, atol=1e-11)


def test_many_steps_are_steps_one_by_one(rng: Rng) -> None:
    sheet = random_sheet(rng)
    net = net_of_sheet(sheet, NetSettings())
    begin = sheet.places + rng.normal(0, 0.05, sheet.places.shape)
    nodes, speeds = begin, np.zeros_like(begin)
    for _ in range(25):
        nodes, speeds = swing(net, nodes, speeds)
    at_once = swing(net, begin, np.zeros_like(begin), 25)
    np.testing.assert_array_equal(at_once[0], nodes)
    np.testing.assert_array_equal(at_once[1], speeds)


def test_the_goal_swings_as_the_oracle_says(goal: Netting, rng: Rng) -> None:
    net = oracle.net_of(goal)
    nodes = goal.hang + rng.normal(0, 0.05, goal.hang.shape)
    speeds = rng.normal(0, 4, nodes.shape)
    is_fixed = goal.sheet.holds == FIXED
    nodes[is_fixed], speeds[is_fixed] = goal.hang[is_fixed], 0
    for _ in range(4):
        wanted = oracle.swing(net, nodes, speeds)
        nodes, speeds = swing(net, nodes, speeds)
        np.testing.assert_allclose(nodes, wanted[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(speeds, wanted[1], rtol=1e-11, atol=1e-11)


def shot_at(goal: Netting, count: int, balls: int, seed: int = 3) -> NettingState:
    """Nettings with random shots at each."""
    shots = random_shots(np.random.default_rng(seed), count * balls, goal)
    state = init_netting(goal, count, balls)
    shape = count, balls, 3
    shoot(
        state,
        shots.places.reshape(shape),
        shots.velocities.reshape(shape),
        shots.spins.reshape(shape),
    )
    return state


def bits(state: NettingState) -> list[bytes]:
    arrays = state.bodies, state.sides, state.nodes, state.speeds
    return [array.tobytes() for array in arrays]


def test_what_is_fixed_does_not_move_by_a_bit(goal: Netting) -> None:
    state = shot_at(goal, 4, 10)
    is_fixed = goal.sheet.holds == FIXED
    step_netting(state, 90)
    assert np.abs(state.nodes - goal.hang).max(axis=(1, 2)).min() > 0.2
    hang = np.broadcast_to(goal.hang[is_fixed], state.nodes[:, is_fixed].shape)
    assert state.nodes[:, is_fixed].tobytes() == hang.tobytes()
    assert not state.speeds[:, is_fixed].any()
    others = np.linalg.norm(state.speeds[:, ~is_fixed], axis=2)
    assert (others.max(1) > 0.1).all()


def test_the_same_bits_again_and_with_any_number_of_threads(
    goal: Netting, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for count in (1, 2, 3, 2):
        monkeypatch.setenv("FLEXOR_THREADS", str(count))
        state = shot_at(goal, 5, 2)
        step_netting(state, 60)
        found.append(bits(state))
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0] != bits(shot_at(goal, 5, 2))


def test_threads_may_be_fewer_or_more_than_when_it_was_made(
    goal: Netting, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for made, used in ((1, 3), (3, 1)):
        monkeypatch.setenv("FLEXOR_THREADS", str(made))
        state = shot_at(goal, 3, 1)
        monkeypatch.setenv("FLEXOR_THREADS", str(used))
        step_netting(state, 30)
        found.append(bits(state))
    assert found[0] == found[1]


def test_many_at_once_are_each_as_one_alone(goal: Netting) -> None:
    many = shot_at(goal, 5, 2)
    begin = many.bodies.copy()
    step_netting(many, 60)
    for row in range(5):
        one = init_netting(goal, 1, 2)
        body = begin[row]
        shoot(one, body[None, :, :3], body[None, :, 3:6], body[None, :, 6:9])
        step_netting(one, 60)
        for name in ("bodies", "sides", "nodes", "speeds"):
            alone, among = getattr(one, name)[0], getattr(many, name)[row]
            assert alone.tobytes() == among.tobytes()


def test_frames_at_once_are_frames_one_by_one(goal: Netting) -> None:
    one, other = shot_at(goal, 2, 1), shot_at(goal, 2, 1)
    step_netting(one, 40)
    for _ in range(40):
        step_netting(other)
    assert bits(one) == bits(other)
    before = bits(one)
    step_netting(one, 0)
    assert bits(one) == before
