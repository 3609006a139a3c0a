"""Settings of a repair: the automatic recipe, and that it leaves no joint worse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.repair.settings import (
    AUTOMATIC,
    asked_or_automatic,
    make_settings,
    take_words,
)
from flexor.convert.shape.judge_joints import is_worse
from flexor.errors import SettingError
from tests.convert.links.test_choose_links import twisting
from tests.convert.shape.tubes import forearm_scene
from tests.convert.weights.test_ease_weights import arm_scene
from tests.same import differences


def test_nothing_asked_for_is_the_automatic_recipe() -> None:
    chosen = asked_or_automatic(make_settings({}))
    assert chosen.passes() == ("rogues", "ease", "links")
    assert {name: chosen.values[name] for name in AUTOMATIC} == AUTOMATIC
    assert AUTOMATIC == {"rogues": True, "ease": True, "links": 3, "twists": 6}


@pytest.mark.parametrize("off", [{"twists": 0}, {"links": 0}, {"ease": False}])
def test_what_is_said_to_be_off_stays_off(off: dict[str, object]) -> None:
    chosen = asked_or_automatic(make_settings(off))
    assert chosen.is_automatic
    for name, value in AUTOMATIC.items():
        assert chosen.values[name] == off.get(name, value)


def test_a_file_with_links_is_left_as_it_is() -> None:
    """By the automatic recipe; single passes say why they cannot be done."""
    hero = flexor.Character(forearm_scene(clips=twisting(120)))
    better, _ = flexor.repair(hero)
    assert better.skeleton.links
    again, report = flexor.repair(better)
    assert list(differences(better.scene, again.scene)) == []
    assert report.passes == ()
    assert [one.code for one in report.findings] == ["has-links"]
    with pytest.raises(SettingError, match="has links already"):
        flexor.repair(better, ease=True)


def test_what_is_no_pass_goes_with_the_automatic_recipe() -> None:
    chosen = asked_or_automatic(make_settings({"joints": ("l-*",), "spare": 0.1}))
    assert chosen.passes() == ("rogues", "ease", "links")
    assert chosen.values["joints"] == ("l-*",)
    assert chosen.values["spare"] == 0.1


@pytest.mark.parametrize("words", [{"rogues": True}, {"smooth": 3}, {"prune": 0.1}])
def test_what_is_asked_for_is_done_alone(words: dict[str, object]) -> None:
    settings = take_words(words)  # type: ignore[arg-type]
    assert asked_or_automatic(settings) is settings
    assert settings.passes() == (next(iter(words)),)


@pytest.mark.slow
def test_a_tube_is_repaired_without_a_word() -> None:
    hero = Character(arm_scene(0.6))
    better, report = flexor.repair(hero)
    assert report.passes == ("rogues", "ease", "links")
    (joint,) = (one for one in report.joints if one.name == "j1")
    assert joint.looked is not None
    assert joint.looks is not None
    assert joint.looks.score < 0.3 * joint.looked.score
    assert len(better.skeleton.links) in (0, 3)
    assert not list(differences(hero.scene, Character(arm_scene(0.6)).scene))


@pytest.mark.slow
def test_a_character_of_one_bone_stays_as_it_is() -> None:
    scene = arm_scene(0.6)
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    weights = np.zeros_like(primitive.skin.weights)
    weights[:, 0] = 1
    skin = dataclasses.replace(primitive.skin, weights=weights)
    whole = dataclasses.replace(primitive, skin=skin)
    mesh = dataclasses.replace(scene.meshes[0], primitives=(whole,))
    hero = Character(dataclasses.replace(scene, meshes=(mesh,)))
    better, report = flexor.repair(hero)
    assert report.vertices == 0
    assert not better.skeleton.links


@pytest.mark.slow
def test_the_mannequin_is_better_and_no_joint_of_it_worse() -> None:
    scene = flexor.samples.mannequin().scene
    walk = {"walk": scene.clips["walk"]}
    hero = Character(dataclasses.replace(scene, clips=walk))
    better, report = flexor.repair(hero)
    assert report.passes == ("rogues", "ease", "links")
    assert report.influences_after <= 4
    both = [(one.looked, one.looks) for one in report.joints]
    before = {old.name: old for old, _ in both if old is not None}
    after = {new.name: new for _, new in both if new is not None}
    assert set(before) == set(after)
    assert len(before) > 50
    assert [name for name in before if is_worse(after[name], before[name])] == []
    sums = [sum(one.score for one in own.values()) for own in (before, after)]
    assert sums[1] < 0.7 * sums[0]
    assert better.skeleton.links
    for primitive in better.scene.meshes[0].primitives:
        assert primitive.skin is not None
        np.testing.assert_allclose(primitive.skin.weights.sum(1), 1, atol=1e-5)
