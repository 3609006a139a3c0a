"""Limbs that rules ask to be somewhere."""

from __future__ import annotations

import numpy as np
import pytest

import flexor
from flexor.errors import SettingError
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.stage.cast import Body
from flexor.stage.motion.goals import ask, ask_on


@pytest.fixture(scope="module")
def stage() -> flexor.Stage:
    one = Actor(name="one")
    other = Actor(name="other", place=(0.0, 0.7), heading=np.pi)
    return flexor.Stage(StagePlan(cast=(one, other)))


def hand(body: Body, row: int) -> np.ndarray:
    node = body.ends[body.goals.columns["rightHand"]]
    return body.world.matrices[row, node, :, 3].astype(np.float64)


def test_hand_is_where_it_is_asked_to_be(stage: flexor.Stage) -> None:
    stage.restart()
    (body,) = stage.state.bodies
    rest = hand(body, 0)
    goal = rest + np.array([0.05, 0.1, 0.1])
    assert ask(body.goals, 0, "rightHand", goal)
    stage.step()
    assert np.abs(hand(body, 0) - goal).max() < 1e-4
    assert not body.goals.weights.any()
    assert not body.goals.is_any
    stage.step()  # not asked for again
    assert np.abs(hand(body, 0) - goal).max() > 0.05


def test_half_the_way(stage: flexor.Stage) -> None:
    stage.restart()
    (body,) = stage.state.bodies
    stage.step()
    rest = hand(body, 0)
    ask(body.goals, 0, "rightHand", rest + np.array([0, 0.1, 0]), 0.5)
    stage.step()
    assert hand(body, 0)[1] - rest[1] == pytest.approx(0.05, abs=0.01)


def test_hand_holds_another_where_that_one_is_now(stage: flexor.Stage) -> None:
    stage.restart()
    (body,) = stage.state.bodies
    skeleton = flexor.samples.mannequin().skeleton
    node = skeleton.index("l-hand")
    for _ in range(5):
        stage.state.places[1, 0] += 0.02
        assert ask_on(body.goals, 0, "rightHand", other=1, node=node, point=(0, 0, 0.1))
        stage.step()
        frame = body.world.matrices[1, node].astype(np.float64)
        wanted = frame[:, 2] * 0.1 + frame[:, 3]
        assert np.abs(hand(body, 0) - wanted).max() < 1e-3


def test_a_limb_lets_go_of_what_is_too_far_from_where_its_clip_has_it(
    stage: flexor.Stage,
) -> None:
    """Held for long, it holds as much as at first."""
    stage.restart()
    (body,) = stage.state.bodies
    stage.step()
    rest, node = hand(body, 0), flexor.samples.mannequin().skeleton.index("hips")
    frame = body.world.matrices[1, node].astype(np.float64)
    for away, share in ((0.05, 1.0), (0.15, 0.5), (0.19, 0.1), (0.3, 0.0)):
        goal = rest + np.array([0.0, away, 0.0])
        point = frame[:, :3].T @ (goal - frame[:, 3])
        for _ in range(4):
            asked = ask_on(
                body.goals, 0, "rightHand", other=1, node=node, point=point, leash=0.2
            )
            assert asked
            stage.step()
        raised = hand(body, 0)[1] - rest[1]
        assert raised == pytest.approx(share * away, abs=0.015)


def test_refusals(stage: flexor.Stage) -> None:
    (body,) = stage.state.bodies
    assert not ask(body.goals, 0, "tail", (0, 0, 0))
    with pytest.raises(SettingError, match="weight: 2"):
        ask(body.goals, 0, "rightHand", (0, 0, 0), 2)
    with pytest.raises(SettingError, match="leash: 0"):
        ask_on(body.goals, 0, "rightHand", other=1, node=0, leash=0)
    with pytest.raises(SettingError, match=r"point: .*finite"):
        ask(body.goals, 0, "rightHand", (0, np.nan, 0))
