"""What a caller chooses: the order of visits, and which parts have one weight."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as how
from hypothesis import strategies as st

import flexor
from flexor.api.character import Character
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.plan import depth_first
from flexor.errors import SettingError
from flexor.scene.runtime.envelope import SomeEnvelopes
from flexor.scene.runtime.layout import END, MODEL, OP
from flexor.scene.scene import Scene
from tests.envelopes import random_trace
from tests.scenes import random_scene

Rng = np.random.Generator


@pytest.fixture
def scene(rng: Rng) -> Scene:
    return random_scene(rng, vertices=60)


def visits(envelope: Any) -> list[int]:
    """Models that write something, in the order in which they do."""
    lists = envelope.steps[envelope.steps[:, OP] <= END]
    return list(dict.fromkeys(lists[:, MODEL].tolist()))


# Orders


@how(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_searching_never_needs_more_room(seed: int) -> None:
    scene = random_scene(np.random.default_rng(seed), vertices=40)
    for split in (True, False):
        searched = convert_scene(scene, EnvelopeSettings(split=split))[0]
        walked = convert_scene(scene, EnvelopeSettings(split=split, search=False))[0]
        assert searched.multi.peak <= walked.multi.peak
        assert searched.one.peak <= walked.one.peak


def test_a_figure_for_which_a_found_order_is_worse(assets: Path) -> None:
    """Its pieces, joined again, need 321 places in the order best for pieces."""
    scene = flexor.load(assets / "RiggedFigure.glb").scene
    searched = convert_scene(scene)[0]
    walked = convert_scene(scene, EnvelopeSettings(search=False))[0]
    assert searched.multi.peak <= walked.multi.peak == 317


@pytest.mark.parametrize("by_name", [True, False])
def test_any_order_can_be_given(scene: Scene, rng: Rng, by_name: bool) -> None:
    parents, names = scene.skeleton.parents, scene.skeleton.names
    pose = Character(scene).pose("mixed", 0.3)
    expected = Character(scene).deform(pose)
    for trace in (depth_first(parents), *(random_trace(rng, parents) for _ in "abc")):
        order = tuple(names[node] for node in trace) if by_name else tuple(trace)
        made = convert_scene(scene, EnvelopeSettings(trace=order))[0]
        for envelope in (made.multi, made.one):
            assert visits(envelope) == [n for n in trace if n in visits(envelope)]
        drawn = Character(scene).with_envelopes(SomeEnvelopes(one=made.multi))
        for skin, wanted in zip(
            drawn.deform(pose, weights="one"), expected, strict=True
        ):
            np.testing.assert_allclose(skin.positions, wanted.positions, atol=2e-5)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda t, _: t[::-1],
            r"trace: node \d+ \('node\d+'\) comes before its parent",
        ),
        (lambda t, _: t[:-1], r"trace: lacks node \d+ \('node\d+'\)"),
        (lambda t, _: [*t, t[0]], r"trace: node \d+ \('node\d+'\) stands there twice"),
        (lambda t, _: [*t, 99], "trace: there is no node 99, only 11"),
        (lambda t, _: [*t[1:], "hips"], "trace: no node has the name 'hips'"),
    ],
)
def test_orders_that_are_none(scene: Scene, change: Any, text: str) -> None:
    trace = depth_first(scene.skeleton.parents)
    settings = EnvelopeSettings(trace=tuple(change(trace, scene)))
    with pytest.raises(SettingError, match=text):
        convert_scene(scene, settings)


# One weight for some


def main_joints(hero: Character) -> list[Any]:
    """Of each primitive: the node that pulls each vertex most, -1 for rigid ones."""
    found = []
    for bind in hero.binds:
        mesh = hero.scene.node_mesh[bind.node]
        primitive = hero.meshes[mesh].primitives[bind.primitive]
        if primitive.skin is None:
            found.append(np.full(bind.vertex_count, -1))
            continue
        joints = hero.scene.skins[hero.scene.node_skin[bind.node]].joints
        most = primitive.skin.weights.argmax(1)[:, None]
        found.append(joints[np.take_along_axis(primitive.skin.joints, most, 1)[:, 0]])
    return found


def check_mixed(hero: Character, mixed: Character, chosen: list[Any]) -> None:
    """Chosen vertices stand as with one weight, the others as with all."""
    pose = hero.pose("mixed", 0.4)
    multi, one = hero.deform(pose), hero.deform(pose, weights="one")
    made = mixed.deform(pose, weights="one")
    differ = 0
    for a, b, skin, is_one in zip(multi, one, made, chosen, strict=True):
        wanted = np.where(is_one[:, None], b.positions, a.positions)
        np.testing.assert_allclose(skin.positions, wanted, atol=2e-5)
        differ += int((np.abs(a.positions - b.positions).max(1) > 1e-3).sum())
    assert differ > 20
    for a, b in zip(multi, mixed.deform(pose), strict=True):
        np.testing.assert_array_equal(a.positions, b.positions)


def test_vertices_that_named_joints_pull_most(scene: Scene) -> None:
    hero = Character(scene)
    names = scene.skeleton.names
    mains = main_joints(hero)
    wanted = sorted(set(np.concatenate(mains).tolist()) - {-1})[:2]
    mixed = hero.with_one_weight(*(names[node] for node in wanted))
    check_mixed(hero, mixed, [np.isin(main, wanted) for main in mains])


def test_meshes_by_their_names(scene: Scene) -> None:
    hero = Character(scene)
    mixed = hero.with_one_weight("pa?r")
    chosen = [
        np.full(bind.vertex_count, hero.meshes[mesh].name == "pair")
        for bind in hero.binds
        for mesh in [hero.scene.node_mesh[bind.node]]
    ]
    check_mixed(hero, mixed, chosen)


def test_all_that_is_named_is_one_weight_alone(scene: Scene) -> None:
    """And without a name, all are."""
    plain = Character(scene).envelopes.one
    for patterns in (("*",), ()):
        made = Character(scene).with_one_weight(*patterns).envelopes.one
        assert made.peak == plain.peak
        np.testing.assert_array_equal(made.data, plain.data)


def test_it_is_kept_in_packages(scene: Scene, tmp_path: Path) -> None:
    mixed = Character(scene).with_one_weight("pair")
    flexor.save(mixed, tmp_path / "a.flexor")
    pose = mixed.pose("mixed", 0.4)
    again = flexor.load(tmp_path / "a.flexor").deform(pose, weights="one")
    for a, b in zip(mixed.deform(pose, weights="one"), again, strict=True):
        np.testing.assert_array_equal(a.positions, b.positions)


def test_names_that_fit_nothing(scene: Scene) -> None:
    hero = Character(scene)
    text = re.escape("one-weight: no joint or mesh fits 'Pair'; there are: 'node")
    with pytest.raises(SettingError, match=text + ".*'pair'"):
        hero.with_one_weight("pair", "Pair")
    with pytest.raises(SettingError, match="one-weight: 3, expected a pattern"):
        hero.with_one_weight(3)  # type: ignore[arg-type]
