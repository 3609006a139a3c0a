"""Which trial of a joint tells most."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from flexor.convert.repair.report import report_repair
from flexor.convert.repair.trials import JointTrial, telling_trials
from flexor.convert.shape.body import gather_bodies
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.joint_poses import JointPoses, plan_poses
from flexor.maths import quaternions
from tests.convert.shape.tubes import linked, tube_scene

SCENE = tube_scene(1.0)


@pytest.fixture(scope="module")
def poses() -> JointPoses:
    """Twists by 45 degrees, bends by 75, each way, at 0.6 of it and at all of it."""
    facts = SceneFacts(SCENE)
    (own,) = facts.bodies
    rows = np.array([1], np.int32)
    return plan_poses(facts, own.body, own.shape_by_place.bones, rows)


def chosen(poses: JointPoses, before: Any, after: Any) -> JointTrial:
    (body,) = gather_bodies(SCENE)
    found = telling_trials(body, poses, np.array(before), np.array(after))
    assert list(found) == [1]
    return found[1]


def scores(poses: JointPoses, **places: float) -> list[float]:
    found = [0.0] * len(poses)
    for place, score in places.items():
        found[int(place.removeprefix("at"))] = score
    return found


@pytest.mark.parametrize("at", range(12))
def test_the_pose_where_it_looked_worst(poses: JointPoses, at: int) -> None:
    trial = chosen(poses, scores(poses, **{f"at{at}": 0.5}), scores(poses))
    assert (trial.before, trial.after) == (0.5, 0.0)
    assert trial.axis == poses.axes[at]
    assert trial.angle == poses.angles[at]
    turn = quaternions.about(trial.way, trial.angle)
    np.testing.assert_allclose(turn, poses.turns[at], atol=1e-12)
    reach = math.radians(75 if trial.axis else 45)
    assert (trial.low, trial.high) == pytest.approx((-reach, reach))


def test_what_changed_tells_more_than_what_stays_bad(poses: JointPoses) -> None:
    before = scores(poses, at2=0.8, at7=0.9)
    trial = chosen(poses, before, scores(poses, at2=0.1, at7=0.9))
    assert (trial.before, trial.after) == (0.8, 0.1)
    worse = chosen(poses, scores(poses, at2=0.2), scores(poses, at5=0.6))
    assert (worse.before, worse.after) == (0.0, 0.6)


def test_where_nothing_is_bad_the_widest_bend(poses: JointPoses) -> None:
    trial = chosen(poses, scores(poses), scores(poses))
    assert trial.axis > 0
    assert abs(trial.angle) == pytest.approx(math.radians(75))


@pytest.mark.slow
def test_reports_have_the_trials_of_joints_that_bend() -> None:
    scene = tube_scene(1.0)
    report = report_repair(
        SceneFacts(scene), SceneFacts(linked(scene, count=3)), ("links",), ()
    )
    trials = {joint.name: joint.trial for joint in report.joints}
    assert trials["j0"] is None
    trial = trials["j1"]
    assert trial is not None
    assert trial.low < 0 < trial.high
    assert trial.telling > 0
    joint = next(joint for joint in report.joints if joint.name == "j1")
    assert joint.looked is not None
    assert joint.looks is not None
    # A score is the mean over the trials; the one that tells most is above it.
    assert max(trial.before, trial.after) >= max(joint.looked.tried, joint.looks.tried)
    assert json.loads(json.dumps(dataclasses.asdict(report)))["joints"][1]["trial"]
