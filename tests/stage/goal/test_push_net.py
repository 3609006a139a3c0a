"""How balls push nets, and in which order balls and nets move."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from flexor.bench.goal_shots import random_shots
from flexor.errors import SettingError
from flexor.stage.goal.layout import FIXED
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import BallSettings, NetSettings, Push, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    pushes,
    shoot,
    step_balls,
    step_netting,
)
from tests.oracle import net as oracle

# A sheet that does nothing to balls, balls that nothing pulls down, and nodes on which
# nothing acts: what moves, moves because it is pushed. One step a frame.
LOOSE = Push(k1=0, k2a=0, k2b=0, k3=0, k4=0, k5=0)
FLOATING = BallSettings(gravity=0, ground=-10, rate=60)
LIMP = NetSettings(k11=0, k12=0, k13=0, k14=0, gravity=0, rate=60)
STEP = 1 / 60
RADIUS = 0.11


def make_sheet(weave: Any = "squares", **held: Any) -> Netting:
    """Five times five nodes, half a metre apart, from (-1, 0, 0) to (1, 2, 0): node 12
    is at (0, 1, 0), its front at z > 0.
    """
    plan = SheetPlan(
        lower=((-1, 0, 0), (1, 0, 0)),
        upper=((-1, 2, 0), (1, 2, 0)),
        columns=(4,),
        rows=5,
        weave=weave,
        push=LOOSE,
        **held,
    )
    return make_netting(plan, ball=FLOATING, net=LIMP)


def push_once(
    netting: Netting, place: Any, velocity: Any = (0, 0, 0), speeds: Any = None
) -> NettingState:
    """One frame with a ball that ends up at a place."""
    state = init_netting(netting)
    if speeds is not None:
        state.speeds[0] = speeds
    start = np.array(place) - np.array(velocity) * STEP
    shoot(state, start, velocity)
    step_netting(state)
    np.testing.assert_allclose(state.places[0, 0], place, atol=1e-12)
    return state


def moves(state: NettingState) -> Any:
    """How far nodes (M, 3) are from where they hung."""
    return state.nodes[0] - state.netting.hang


@pytest.mark.parametrize("sign", [1, -1])
def test_the_nearest_node_goes_to_the_front_of_the_ball(sign: int) -> None:
    """Direct neighbours half as far, others not at all; from either side."""
    state = push_once(make_sheet(), (0.1, 1.2, sign * 0.04))
    wanted = np.zeros((25, 3))
    wanted[12, 2] = -sign * 0.07
    wanted[[7, 11, 13, 17], 2] = -sign * 0.035
    np.testing.assert_allclose(moves(state), wanted, atol=1e-12)
    np.testing.assert_array_equal(state.speeds, 0)


def test_a_corner_of_the_sheet_is_pushed_as_well() -> None:
    """The very first node, and the last."""
    netting = make_sheet()
    for place, nearest, beside in (
        ((-0.95, 0.1, 0.04), 0, (1, 5)),
        ((0.95, 1.9, 0.04), 24, (19, 23)),
    ):
        wanted = np.zeros((25, 3))
        wanted[nearest, 2] = -0.07
        wanted[list(beside), 2] = -0.035
        np.testing.assert_allclose(moves(push_once(netting, place)), wanted, atol=1e-12)


def test_neighbours_are_those_that_strings_join() -> None:
    """Of hexagons these are three: on both sides, and up or down."""
    netting = make_sheet("hexagons")
    for place, nearest, beside in (
        ((0.05, 1.0, 0.04), 12, (11, 13, 7)),
        ((0.5, 1.0, 0.04), 13, (12, 14, 18)),
        ((0.95, 1.0, 0.04), 14, (13, 19, 9)),  # the border is joined both ways
    ):
        found = moves(push_once(netting, place))
        wanted = np.zeros((25, 3))
        wanted[nearest, 2] = -0.07
        wanted[list(beside), 2] = -0.035
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_ball_that_is_not_past_the_net_moves_nothing() -> None:
    """It is in the area from z = 0.15 on, and its front at the net at 0.11."""
    netting = make_sheet()
    for z in (0.149, 0.12, 0.1101):
        state = push_once(netting, (0, 1, z))
        assert pushes(state)
        np.testing.assert_array_equal(state.nodes[0], netting.hang)
    assert moves(push_once(netting, (0, 1, 0.1099)))[12, 2] < 0


def test_nearest_is_meant_along_the_face() -> None:
    """A node behind which the net hangs is the nearest, however far it is."""
    netting = make_sheet()
    state = init_netting(netting)
    state.nodes[0, 12, 2] = -0.6
    before = state.nodes.copy()
    shoot(state, (0.2, 1, 0.04))
    step_netting(state)
    np.testing.assert_array_equal(state.nodes, before)
    shoot(state, (0.3, 1, 0.04))  # nearer to node 13, and that is moved
    step_netting(state)
    moved = state.nodes[0] - before[0]
    assert moved[13, 2] == pytest.approx(-0.07)
    # Node 12, far behind as it is, moves with its neighbour.
    assert moved[12, 2] == pytest.approx(-0.035)


def test_all_is_along_a_face_that_is_turned() -> None:
    """The same on a sheet that leans: all that matters is where its face is, and how
    fast balls and nodes are along its normal.
    """
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    corners = np.array([[-1, 0, 0], [1, 0, 0], [-1, 2, 0], [1, 2, 0.0]]) @ turn.T
    a, b, c, d = (tuple(corner) for corner in corners.tolist())
    plan = SheetPlan(
        lower=(a, b), upper=(c, d), columns=(4,), rows=5, weave="squares", push=LOOSE
    )
    leaning = make_netting(plan, ball=FLOATING, net=LIMP)
    straight = make_sheet()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        place = rng.uniform((-0.9, 0.1, 0.0), (0.9, 1.9, 0.04))
        velocity = rng.uniform((-2, -2, -2), (2, 2, -0.5))
        speeds = 0.2 * rng.normal(size=(25, 3))
        found = push_once(leaning, turn @ place, turn @ velocity, speeds @ turn.T)
        wanted = push_once(straight, place, velocity, speeds)
        pushed = np.abs(wanted.speeds[0] - speeds).max(1)
        assert (pushed > 0.01).sum() in (1, 2, 3, 4, 5)
        np.testing.assert_allclose(moves(found), moves(wanted) @ turn.T, atol=1e-12)
        np.testing.assert_allclose(found.speeds, wanted.speeds @ turn.T, atol=1e-12)


def test_what_is_fixed_is_not_pushed() -> None:
    netting = make_sheet(bottom="fixed")
    # A neighbour that is fixed stays, the others go.
    found = moves(push_once(netting, (0, 0.5, 0.04)))
    wanted = np.zeros((25, 3))
    wanted[7, 2] = -0.07
    wanted[[6, 8, 12], 2] = -0.035
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    # The nearest itself is: what is above it gives way by half.
    found = moves(push_once(netting, (0, 0.1, 0.04)))
    wanted = np.zeros((25, 3))
    wanted[7, 2] = -0.035
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert (netting.sheet.holds[:5] == FIXED).all()


def test_a_node_does_not_come_back_faster_than_the_ball() -> None:
    """And keeps what it has along the face, and what it goes ahead of the ball."""
    speeds = np.zeros((25, 3))
    speeds[12] = 0.3, -0.2, 3.0  # comes against the ball
    speeds[11] = 0.1, 0.1, -1.0  # slower away from it than the ball follows
    speeds[13] = 0.1, 0.1, -9.0  # faster
    speeds[3] = 0.1, 0.1, 5.0  # no neighbour
    for along in (-2.0, 0.5):
        state = push_once(make_sheet(), (0, 1, 0.04), (0, 0, along), speeds)
        wanted = speeds.copy()
        # Those next to the ball that were slower now go as the ball does.
        near = [7, 11, 12, 13, 17]
        wanted[near, 2] = np.minimum(speeds[near, 2], along)
        np.testing.assert_allclose(state.speeds[0], wanted, atol=1e-12)
        # All had moved on before: the nearest is at the front of the ball.
        assert state.nodes[0, 12, 2] == pytest.approx(0.04 - RADIUS)
        begin = speeds[11, 2] * STEP
        half = (3.0 * STEP - (0.04 - RADIUS)) / 2
        assert state.nodes[0, 11, 2] == pytest.approx(begin - half)


def test_a_ball_that_is_gone_pushes_no_more() -> None:
    """What was in its way stays where it is pushed, since nothing else acts."""
    netting = make_sheet()
    state = init_netting(netting)
    shoot(state, (0, 1, 0.05))
    step_netting(state)
    pushed = state.nodes.copy()
    assert pushed[0, 12, 2] < -0.05
    shoot(state, (0, 1, 0.05), (0, 0, 3.0))
    step_netting(state, 10)
    assert not pushes(state)
    np.testing.assert_array_equal(state.nodes, pushed)


def test_every_ball_pushes() -> None:
    netting = make_sheet()
    state = init_netting(netting, 1, 3)
    places = np.array([[-0.5, 0.5, 0.04], [0.5, 1.5, -0.02], [0, 1, 5.0]])
    shoot(state, places[None])
    step_netting(state)
    wanted = np.zeros((25, 3))
    wanted[6, 2], wanted[18, 2] = -0.07, 0.09
    for node, move in ((6, -0.035), (18, 0.045)):
        for near in (node - 5, node + 5, node - 1, node + 1):
            wanted[near, 2] += move
    np.testing.assert_allclose(moves(state), wanted, atol=1e-12)


@pytest.fixture(scope="module")
def limp_goal() -> Netting:
    """A goal that leaves balls alone, and whose net stays where it was pushed."""
    return make_goal(
        GoalSettings(push=LOOSE),
        ball=BallSettings(gravity=0, rate=60),
        net=NetSettings(k11=0, k12=0, k13=0, k14=0, gravity=0, rate=60),
    )


def test_in_corners_a_ball_pushes_two_or_three_faces(limp_goal: Netting) -> None:
    x, y, z = 3.66 + 0.06, 2.44 + 0.06, -2.0  # left side, roof, back
    state = init_netting(limp_goal)
    inner = np.array([-x + 0.05, y - 1.2, z + 0.05])
    shoot(state, inner)
    step_netting(state)
    names = [limp_goal.faces[face].name for face, _, _ in pushes(state)]
    assert names == ["A", "D"]
    moved = moves(state)
    assert moved[:, 0].min() == pytest.approx(-0.06, abs=0.02)
    assert moved[:, 2].min() == pytest.approx(-0.06, abs=0.02)
    assert moved.max() < 1e-12
    shoot(state, (-x + 0.08, y - 0.12, z + 0.08))
    step_netting(state)
    names = [limp_goal.faces[face].name for face, _, _ in pushes(state)]
    assert names == ["A", "D", "C"]


def test_from_outside_a_corner_pushes_one_face(limp_goal: Netting) -> None:
    """The one that acts, and inward."""
    x, z = 3.66 + 0.06, -2.0
    state = init_netting(limp_goal)
    shoot(state, (-x - 0.5, 1.2, z + 0.1), (3.0, 0, 0))
    for _ in range(12):
        step_netting(state)
    (face, way, who) = pushes(state)[0]
    assert len(pushes(state)) == 1
    assert limp_goal.faces[face].name == "A"
    np.testing.assert_allclose(way, (1, 0, 0), atol=1e-12)
    assert who.tolist() == [[True]]
    moved = moves(state)
    assert moved[:, 0].max() > 0.05
    np.testing.assert_allclose(moved[:, 1:], 0, atol=1e-12)


def hand_ordered(state: NettingState, *, is_net_first: bool = False) -> NettingState:
    """A copy of one netting after a frame of the oracle: balls and net in turn."""
    made = copy.copy(state)
    for name in ("bodies", "sides", "nodes", "speeds"):
        setattr(made, name, getattr(state, name).copy())
    netting = state.netting
    for _ in range(netting.net.rate // 60):
        if not is_net_first:
            step_balls(made, netting.ball.rate // netting.net.rate)
        made.nodes[0], made.speeds[0] = oracle.step_net(
            netting, made.bodies[0], made.sides[0], made.nodes[0], made.speeds[0]
        )
        if is_net_first:
            step_balls(made, netting.ball.rate // netting.net.rate)
    return made


def check_frame(state: NettingState) -> None:
    """One frame is what the oracle says."""
    wanted = hand_ordered(state)
    step_netting(state)
    np.testing.assert_array_equal(state.bodies, wanted.bodies)
    np.testing.assert_array_equal(state.sides, wanted.sides)
    np.testing.assert_allclose(state.nodes, wanted.nodes, rtol=0, atol=1e-11)
    np.testing.assert_allclose(state.speeds, wanted.speeds, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("ball_rate", "net_rate"), [(240, 120), (480, 60), (480, 120), (240, 240)]
)
def test_a_frame_is_balls_then_net_in_turn(ball_rate: int, net_rate: int) -> None:
    """The kernel `step_frames`: by default ball, ball, net, ball, ball, net; while a
    ball is in the net.
    """
    net = NetSettings(rate=net_rate, k11=4, k13=0.05)
    goal = make_goal(ball=BallSettings(rate=ball_rate), net=net)
    assert goal.net_steps == net_rate // 60
    assert goal.ball_steps == ball_rate // net_rate
    state = init_netting(goal)
    shoot(state, (-0.4, 1.0, -1.2), (-4, 1, -15.0))
    differ = 0.0
    for _ in range(8):
        # Any other order is another frame.
        early, late = hand_ordered(state), hand_ordered(state, is_net_first=True)
        differ = max(differ, np.abs(early.nodes - late.nodes).max())
        check_frame(state)
    assert differ > 0.01
    assert np.abs(state.nodes[0] - goal.hang).max() > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_random_shots_push_as_the_oracle_says(seed: int) -> None:
    """Several balls, from inside and outside, at one net, whenever they are in it;
    every second net leans.
    """
    goal = make_goal(GoalSettings(top_depth=1.0 if seed % 2 else None))
    shots = random_shots(np.random.default_rng(seed), 6, goal)
    state = init_netting(goal, 1, 6)
    shoot(state, shots.places[None], shots.velocities[None], shots.spins[None])
    checked = 0
    for _ in range(240):
        if pushes(state) and checked < 6:
            before = {(face, tuple(way)) for face, way, who in pushes(state)}
            found = {
                (face, tuple(-normal))
                for body, (side, row) in zip(
                    state.bodies[0], state.sides[0].tolist(), strict=True
                )
                for face, normal in oracle.pushed_faces(goal, side, row, body[:3])
            }
            assert before == found
            check_frame(state)
            checked += 1
        step_netting(state)
    assert checked == 6


@pytest.mark.parametrize("top_depth", [None, 1.0])
def test_no_ball_pushes_a_net_into_the_ground(top_depth: float | None) -> None:
    goal = make_goal(GoalSettings(top_depth=top_depth))
    shots = random_shots(np.random.default_rng(8), 400, goal)
    state = init_netting(goal, 40, 10)
    shape = 40, 10, 3
    shoot(state, shots.places.reshape(shape), shots.velocities.reshape(shape))
    lowest = np.inf
    for _ in range(120):
        step_netting(state)
        lowest = min(lowest, float(state.nodes[..., 1].min()))
    assert lowest == 0


@pytest.mark.parametrize(
    ("ball", "net", "text"),
    [
        (240, 100, "rate: of the net 100, expected n times 60"),
        (240, 30, "rate: of the net 30, expected n times 60"),
        (200, 120, "rate: of balls 200, expected n times that of the net, 120"),
        (60, 120, "rate: of balls 60, expected n times that of the net, 120"),
    ],
)
def test_rates_that_do_not_divide_are_refused(ball: int, net: int, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        make_goal(
            ball=BallSettings(rate=ball), net=NetSettings(rate=net, k11=1, k13=0.01)
        )


@pytest.mark.parametrize("rate", [0, -60, 60.0, True, "60", 100_001])
@pytest.mark.parametrize("kind", [BallSettings, NetSettings])
def test_rates_that_cannot_be_are_refused(kind: Any, rate: Any) -> None:
    with pytest.raises(SettingError, match="expected whole steps a second"):
        kind(rate=rate)
