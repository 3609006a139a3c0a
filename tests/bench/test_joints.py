"""The bench of joints: its figures, and whether they can be true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexor import samples
from flexor.api.character import Character
from flexor.bench import joints
from flexor.convert.shape.facts import SceneFacts
from tests.convert.links.test_choose_links import twisting
from tests.convert.shape.tubes import forearm_scene, linked, tube_scene


def test_a_forearm_that_is_wrung_out() -> None:
    """Half and half is at cos(85 degrees); six links keep steps of 28 degrees."""
    scene = forearm_scene()
    left = joints.forearm_left(SceneFacts(scene), 1)
    assert left is not None
    assert left < 0.5
    wound = joints.forearm_left(SceneFacts(linked(scene, count=3, twists=6)), 1)
    assert wound is not None
    assert wound > 0.95


def test_folds_of_an_elbow() -> None:
    narrow = joints.elbow_folds(SceneFacts(tube_scene(0.2)), 1)
    assert narrow[0] > 0
    assert narrow[1] == 0
    # Weights over a wide part fold nothing.
    assert joints.elbow_folds(SceneFacts(tube_scene(8.0)), 1)[0] < narrow[0]


def test_figures_of_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    hero = Character(forearm_scene(clips=twisting(120)))
    monkeypatch.setattr(samples, "mannequin", lambda: hero)
    found = {one.name: one for one in joints.run({})}
    assert all(one.note for one in found.values())
    before, after = (
        found[f"joints/score/mannequin/{word}"].value for word in ("before", "after")
    )
    assert after < before
    assert found["joints/worse/mannequin"].value == 0
    assert found["joints/growth/mannequin"].value > 1
    assert {name.split("/")[1] for name in found} >= {"strain", "seconds"}
    # Its joints have no names of a human's.
    assert not [name for name in found if "170" in name]


def test_a_human_has_its_forearm_tried() -> None:
    """The mannequin's, without its clips, which take long."""
    scene = replace(samples.mannequin().scene, clips={})
    found = {one.name: one.value for one in joints._forearm("m", Character(scene))}
    assert {name.partition("/m")[0] for name in found} == {
        "joints/twist170",
        "joints/elbow150",
    }
    assert np.isfinite(list(found.values())).all()
    assert found["joints/elbow150/m/after"] == 0
