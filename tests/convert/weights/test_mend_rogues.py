"""Rogue patches of whole bodies: the worst first, other sides spared, what is told."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Body, Pull, gather_bodies
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.mend_rogues import mend_rogues
from flexor.convert.weights.remove_rogues import remove_rogues


@pytest.fixture(scope="module")
def body() -> Body:
    return gather_bodies(flexor.samples.mannequin().scene)[0]


def tied(body: Body, joint: str, rows: Any, share: float = 1.0) -> Body:
    """The body with some vertices on one joint by a share."""
    width = body.pull.joints.shape[1] + 1
    pull = body.pull.widened(width)
    pull.weights[rows] *= np.float32(1 - share)
    pull.joints[rows, -1], pull.weights[rows, -1] = body.names.index(joint), share
    if share == 1:
        pull.joints[rows, :-1] = -1
    return dataclasses.replace(body, pull=pull)


def near(body: Body, joint: str, reach: float) -> Any:
    middle = body.frames[body.names.index(joint), :, 3]
    return np.linalg.norm(body.positions - middle, axis=1) < reach


def test_a_sound_body_has_none_and_keeps_its_bits(body: Body) -> None:
    found = mend_rogues(BodyFacts(body))
    assert found.patches == ()
    assert found.findings(body.names) == []
    assert (found.pull.weights == body.pull.weights).all()
    assert (found.pull.joints == body.pull.joints).all()


def test_what_a_patch_cuts_off_is_whole_again_without_it(body: Body) -> None:
    """A ring around a finger: the finger's own end is no rogue."""
    ring = near(body, "l-ring2", 0.012)
    found = mend_rogues(BodyFacts(tied(body, "r-knee", ring)))
    assert [body.names[patch.joint] for patch in found.patches] == ["r-knee"]
    before, after = body.pull.dense(64), found.pull.dense(64)
    assert (before[~ring] == after[~ring]).all()
    assert after[ring, body.names.index("r-knee")].max() == 0


@pytest.mark.parametrize(
    ("share", "level"), [(0.6, "warning"), (0.06, "warning"), (0.04, "info")]
)
def test_what_is_told(body: Body, share: float, level: str) -> None:
    rows = near(body, "head", 0.06)
    assert rows.any()
    bad = tied(body, "l-ankle", rows, share)
    found = mend_rogues(BodyFacts(bad))
    for patch, finding in zip(found.patches, found.findings(body.names), strict=True):
        assert body.names[patch.joint] == "l-ankle"
        assert (finding.level, finding.where) == (level, "l-ankle")
        assert finding.code == "rogue-patch"
        middle = np.array(found.place(patch))
        assert (
            np.linalg.norm(middle - body.frames[body.names.index("head"), :, 3]) < 0.1
        )
    assert found.patches


def test_other_joints_can_be_left_alone(body: Body) -> None:
    bad = tied(body, "r-knee", near(body, "l-ring2", 0.012))
    knee = body.names.index("r-knee")
    others = [row for row in range(64) if row != knee]
    found = mend_rogues(BodyFacts(bad), others).patches
    assert all(patch.joint != knee for patch in found)
    found = mend_rogues(BodyFacts(bad), [knee]).patches
    assert [patch.joint for patch in found] == [knee]


def test_sparing_is_a_choice(body: Body) -> None:
    """With all spared nothing is a rogue."""
    bad = tied(body, "r-knee", near(body, "l-ring2", 0.012))
    assert len(mend_rogues(BodyFacts(bad), spare=0).patches) >= 1
    nearly = tied(body, "spine1", near(body, "chest", 0.01), 0.5)
    assert len(mend_rogues(BodyFacts(nearly), spare=1e-9).patches) == 0


def names_of(body: Body, bad: Body, **words: Any) -> list[str]:
    """The joints of the patches that are found."""
    found = mend_rogues(BodyFacts(bad), **words).patches
    return [body.names[patch.joint] for patch in found]


def test_a_patch_does_not_speak_for_itself(body: Body) -> None:
    """One so heavy that its bone looks thick enough to reach it."""
    bad = tied(body, "l-ankle", near(body, "r-ankle", 0.12))
    assert names_of(body, bad) == ["l-ankle"]


def test_patches_of_several_bones_come_by_joint(body: Body) -> None:
    """Whichever is mended first; that on the hips fits it by a fifth."""
    bad = tied(body, "hips", near(body, "l-thumb0", 0.05))
    bad = tied(bad, "r-pinky1", near(body, "l-ring0", 0.03), 0.5)
    assert names_of(body, bad) == ["hips", "r-pinky1"]
    patch, _ = mend_rogues(BodyFacts(bad)).patches
    assert 0.16 < patch.score / patch.best < 0.29


def test_patches_that_fit_well_enough_are_spared(body: Body) -> None:
    bad = tied(body, "l-middle1", near(body, "l-middle2", 0.03), 0.5)
    assert names_of(body, bad) == []
    found = mend_rogues(BodyFacts(bad), spare=0.5).patches
    assert {body.names[patch.joint] for patch in found} == {"l-middle1"}
    assert max(patch.score / patch.best for patch in found) < 0.45


def test_what_the_third_turn_finds_whole_is_left(body: Body) -> None:
    """A patch on the hand's rest cuts the hand in two, and is not among the worst."""
    bad = tied(body, "l-index1", near(body, "r-ankle", 0.05), 0.5)
    bad = tied(bad, "l-pinky0", near(body, "l-arm-roll", 0.08), 0.5)
    bad = tied(bad, "l-hip", near(body, "l-thumb2", 0.08))
    assert names_of(body, bad) == ["l-hip", "l-index1", "l-pinky0"]


def test_all_that_fit_badly_are_mended_in_one_turn(
    body: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def look(*args: Any, **words: Any) -> Any:
        looks.append(1)
        return remove_rogues(*args, **words)

    monkeypatch.setattr("flexor.convert.weights.mend_rogues.remove_rogues", look)
    bad = tied(body, "l-ankle", near(body, "head", 0.06))
    bad = tied(bad, "r-knee", near(body, "chest", 0.1))
    found = mend_rogues(BodyFacts(bad)).patches
    fits = [patch.score / patch.best for patch in found]
    assert 2 * min(fits) < max(fits) < 0.01
    # Which there are without them; then find and mend; then find no more.
    assert len(looks) == 4


def test_wild_weights_come_to_an_end(rng: Any, body: Body) -> None:
    joints = rng.integers(0, 64, (len(body), 2)).astype(np.int32)
    joints[:, 1] = (joints[:, 0] + 1) % 64
    weights = np.full((len(body), 2), 0.5, np.float32)
    wild = dataclasses.replace(body, pull=Pull(joints, weights))
    found = mend_rogues(BodyFacts(wild))
    assert len(found.patches) > 1000
    assert np.isfinite(found.pull.weights).all()
    np.testing.assert_allclose(found.pull.weights.sum(1), 1, atol=1e-5)
