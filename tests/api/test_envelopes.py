"""Envelopes of a character: one weight, and packages."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.envelope import make as converter
from flexor.convert.envelope.make import (
    EnvelopeSettings,
    convert_parts,
    convert_scene,
)
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.scene_parts import scene_parts
from flexor.deform.envelope import skin_envelope
from flexor.errors import SettingError, ShapeError
from flexor.pose.pose import Pose
from flexor.scene.runtime.envelope import Envelope, SomeEnvelopes
from tests.envelopes import check_drawn
from tests.oracle import envelope as oracle
from tests.same import differences
from tests.scenes import plain_scene, random_clip, random_scene, random_skeleton

Rng = np.random.Generator


@pytest.fixture
def hero(rng: Rng) -> Character:
    return Character(random_scene(rng))


@pytest.fixture(scope="module")
def mannequin() -> Character:
    return flexor.samples.mannequin()


def columns(hero: Character) -> dict[int, int]:
    return {node: first for node, (first, _) in hero.layout.morph_columns.items()}


def check_one_weight(hero: Character, pose: Pose) -> None:
    """As the twin has it, of a character whose vertices have their largest weight."""
    given, _ = scene_parts(hero.scene)
    _, trace = convert_parts(hero.skeleton.parents, given)
    parts = [one_weight(part, trace) for part in given]
    raw = oracle.moved(parts, pose.world, pose.weights, columns(hero), normalise=False)
    skins = hero.deform(pose, weights="one")
    places = [(skin.node, skin.primitive) for skin in skins]
    assert places == [(part.node, part.primitive) for part in parts]
    check_drawn([(skin.positions, skin.normals) for skin in skins], raw, 2e-5)


def same_bytes(one: Any, other: Any) -> bool:
    """Whether two skins are the same to the last bit."""
    return all(
        (a.node, a.primitive) == (b.node, b.primitive)
        and a.positions.tobytes() == b.positions.tobytes()
        and a.normals.tobytes() == b.normals.tobytes()
        for a, b in zip(one, other, strict=True)
    )


def check_same(one: Envelope, other: Envelope) -> None:
    for field in dataclasses.fields(Envelope):
        a, b = getattr(one, field.name), getattr(other, field.name)
        np.testing.assert_array_equal(a, b, err_msg=field.name)


# One weight


@pytest.mark.parametrize("scale", ["one", "even", "uneven", "negative", "mirror"])
@pytest.mark.parametrize("influences", [1, 4, 9])
def test_one_weight(scale: Any, influences: int, rng: Rng) -> None:
    """Morphs, instances, rigid and skinned meshes, at rest and in motion."""
    scene = random_scene(rng, scale=scale, influences=influences, targets=3)
    hero = Character(scene)
    for pose in (hero.pose(), hero.pose("mixed", 0.7)):
        check_one_weight(hero, pose)


def test_one_weight_is_not_all_weights(hero: Character) -> None:
    """What has several influences is elsewhere; what has none is where it was."""
    pose = hero.pose("mixed", 0.7)
    for multi, one in zip(
        hero.deform(pose), hero.deform(pose, weights="one"), strict=True
    ):
        assert np.isfinite(one.positions).all()
        is_rigid = hero.scene.node_skin[multi.node] < 0
        is_near = np.allclose(multi.positions, one.positions, atol=1e-5)
        assert is_near == is_rigid


def test_all_weights_is_what_is_usual(hero: Character) -> None:
    pose = hero.pose("mixed", 0.7)
    assert same_bytes(hero.deform(pose), hero.deform(pose, weights="multi"))


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("workers", ["1", "2", "3"])
def test_many_have_the_bits_of_each(
    hero: Character, count: int, workers: str, monkeypatch: pytest.MonkeyPatch, rng: Rng
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", workers)
    poses = hero.pose_many("mixed", rng.uniform(0, 2, count))
    many = hero.deform_many(poses, weights="one")
    for n in range(count):
        row = [
            dataclasses.replace(s, positions=s.positions[n], normals=s.normals[n])
            for s in many
        ]
        assert same_bytes(hero.deform(poses[n], weights="one"), row)


def test_no_moments(hero: Character) -> None:
    skins = hero.deform_many(hero.pose_many("mixed", []), weights="one")
    assert [len(skin.positions) for skin in skins] == [0] * 6


def test_out_is_used_again(hero: Character) -> None:
    """Also between the two kinds of weights, and after other arrays were used."""
    first = hero.deform_many(hero.pose_many("mixed", [0.1, 0.2]), weights="one")
    arrays = [(skin.positions, skin.normals) for skin in first]
    poses = hero.pose_many("linear", [0.7, 0.8])
    fresh = hero.deform_many(poses, weights="one")
    second = hero.deform_many(poses, out=first, weights="one")
    for skin, (positions, normals) in zip(second, arrays, strict=True):
        assert skin.positions is positions
        assert skin.normals is normals
    assert same_bytes(second, fresh)
    hero.deform_many(poses, out=first)
    assert same_bytes(first, hero.deform_many(poses))
    hero.deform_many(poses, out=first, weights="one")
    assert same_bytes(first, fresh)


def test_wrong_out_is_refused(hero: Character) -> None:
    poses = hero.pose_many("mixed", [0.1, 0.2, 0.3])
    out = hero.deform_many(poses, weights="one")
    with pytest.raises(ShapeError, match="out: 5 primitives, expected 6"):
        hero.deform_many(poses, out=out[:-1], weights="one")
    small = dataclasses.replace(out[-1], normals=out[-1].normals[:2].copy())
    with pytest.raises(ShapeError, match="normals"):
        hero.deform_many(poses, out=[*out[:-1], small], weights="one")


@pytest.mark.parametrize("word", ["two", "", "Multi", None, 1])
def test_weights_are_one_of_two_words(hero: Character, word: Any) -> None:
    text = r"weights: .*, expected one of \('multi', 'one'\)"
    with pytest.raises(SettingError, match=text):
        hero.deform(hero.pose(), weights=word)
    with pytest.raises(SettingError, match=text):
        hero.deform_many(hero.pose_many(None, [0.0]), weights=word)


def test_poses_may_have_any_order_and_type(hero: Character) -> None:
    poses = hero.pose_many("mixed", [0.3, 0.9])
    odd = dataclasses.replace(
        poses,
        world=np.asfortranarray(poses.world.astype(np.float64)),
        weights=poses.weights[:, ::-1][:, ::-1],
    )
    expected = hero.deform_many(poses, weights="one")
    assert same_bytes(hero.deform_many(odd, weights="one"), expected)


def test_without_meshes(rng: Rng) -> None:
    bare = Character(plain_scene(random_skeleton(rng, 4), random_clip(rng, "c", 4)))
    assert bare.deform(bare.pose("c", 1), weights="one") == []
    assert bare.envelopes.multi.peak == bare.envelopes.one.peak == 0


def test_several_threads_use_one_character(rng: Rng) -> None:
    """A fresh one, so that its envelopes are made while others wait for them."""
    scene = random_scene(rng)
    times = rng.uniform(0, 2, (5, 4))
    calm = Character(scene)
    expected = [
        calm.deform_many(calm.pose_many("mixed", t), weights="one") for t in times
    ]
    busy = Character(scene)
    made: dict[int, Any] = {}
    start = threading.Barrier(len(times))

    def call(me: int) -> None:
        poses = busy.pose_many("mixed", times[me])
        start.wait()
        for _ in range(3):
            made[me] = busy.deform_many(poses, weights="one")

    callers = [threading.Thread(target=call, args=(me,)) for me in range(len(times))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    for me, skins in enumerate(expected):
        assert same_bytes(made[me], skins)


def test_arrays_of_the_caller_are_let_go(hero: Character) -> None:
    """Results are as large as the crowd: work space that is kept must not hold them."""
    skins = hero.deform_many(hero.pose_many("mixed", [0.1, 0.2]), weights="one")
    held = [weakref.ref(skin.positions) for skin in skins]
    del skins
    gc.collect()
    assert [ref() for ref in held] == [None] * len(held)


# Envelopes and where they come from


def skin_of(hero: Character, poses: Pose, kind: Any) -> Any:
    """All surfaces through an envelope, as programs of their own would do it."""
    state = hero.envelope_state(kind)
    sizes = {(b.node, b.primitive): b.vertex_count for b in hero.binds}
    room = [
        np.zeros((2, len(poses), sizes[place], 3), np.float32)
        for place in state.surfaces
    ]
    skin_envelope(
        state,
        np.ascontiguousarray(poses.world),
        np.ascontiguousarray(poses.weights),
        positions=[both[0] for both in room],
        normals=[both[1] for both in room],
    )
    return dict(zip(state.surfaces, room, strict=True))


def test_envelopes_of_a_scene(hero: Character) -> None:
    """Made when first asked for, once."""
    expected = convert_scene(hero.scene)[0]
    assert hero.envelopes is hero.envelopes
    check_same(hero.envelopes.multi, expected.multi)
    check_same(hero.envelopes.one, expected.one)


def test_state_for_all_weights(hero: Character) -> None:
    """Its morph columns are those of the character's poses."""
    poses = hero.pose_many("mixed", [0.2, 0.7, 1.4])
    assert np.abs(poses.weights).min() > 0
    made = skin_of(hero, poses, "multi")
    for skin in hero.deform_many(poses):
        positions, normals = made[skin.node, skin.primitive]
        size = max(1, np.abs(skin.positions).max())
        np.testing.assert_allclose(positions, skin.positions, atol=1e-5 * size)
        np.testing.assert_allclose(normals, skin.normals, atol=1e-4)


def test_with_envelopes(hero: Character) -> None:
    """Another plan, the same character; the first is left as it was."""
    before = hero.envelopes
    other = convert_scene(hero.scene, EnvelopeSettings(split=False, ids="consistent"))[
        0
    ]
    changed = hero.with_envelopes(other)
    assert changed.envelopes is other
    assert hero.envelopes is before
    assert changed.scene is hero.scene
    poses = hero.pose_many("mixed", [0.2, 0.7])
    for kind in ("multi", "one"):
        one, two = skin_of(hero, poses, kind), skin_of(changed, poses, kind)
        for place, room in one.items():
            np.testing.assert_allclose(room, two[place], atol=1e-4)
    assert same_bytes(hero.deform_many(poses), changed.deform_many(poses))


@pytest.mark.parametrize("word", ["two", "", "Multi", "scene", None, 1])
def test_states_are_for_one_of_two_words(hero: Character, word: Any) -> None:
    with pytest.raises(SettingError, match=r"expected one of \('multi', 'one'\)"):
        hero.envelope_state(word)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"vertices": 20}, r"order: vertices .* lack"),
        ({"vertices": 30}, "order: a vertex that node 1 does not have"),
        ({"targets": 3}, r"morphs: node \d has no target 2"),
    ],
)
def test_envelopes_of_another_scene_are_refused(
    hero: Character, rng: Rng, change: Any, text: str
) -> None:
    other = Character(random_scene(rng, **change))
    with pytest.raises(ShapeError, match=text):
        hero.with_envelopes(other.envelopes)
    assert other.with_envelopes(other.envelopes).envelopes is other.envelopes


def test_envelopes_of_more_and_of_less_are_refused(hero: Character, rng: Rng) -> None:
    """Of a scene that has no surface, or none that this one shows."""
    bare = Character(plain_scene(random_skeleton(rng, 11)))
    with pytest.raises(ShapeError, match=r"order: vertices .* lack"):
        hero.with_envelopes(bare.envelopes)
    with pytest.raises(ShapeError, match="parts: primitive"):
        bare.with_envelopes(hero.envelopes)


def test_what_are_no_envelopes_is_refused(hero: Character) -> None:
    made = convert_scene(hero.scene)
    for wrong in (made, made[0].multi, None):
        with pytest.raises(ShapeError, match=r"envelopes: .*, expected Envelopes"):
            hero.with_envelopes(wrong)  # type: ignore[arg-type]


def test_each_of_both_envelopes_is_looked_at(hero: Character, rng: Rng) -> None:
    other = Character(random_scene(rng, vertices=30)).envelopes
    for name in ("multi", "one"):
        mixed = dataclasses.replace(hero.envelopes, **{name: getattr(other, name)})
        with pytest.raises(ShapeError, match="order"):
            hero.with_envelopes(mixed)


@pytest.fixture
def package(hero: Character, tmp_path: Path) -> Path:
    path = tmp_path / "hero.flexor"
    flexor.save(hero.with_envelopes(hero.envelopes), path)
    return path


def test_what_is_kept_stays_when_it_is_saved_again(
    hero: Character, tmp_path: Path
) -> None:
    """Without a word, that of one weight; else what was given, be it nothing."""
    path = tmp_path / "a.flexor"
    flexor.save(hero, path)
    stored = flexor.load(path).given_envelopes
    assert isinstance(stored, SomeEnvelopes)
    assert stored.multi is None
    assert stored.one is not None
    for given in (SomeEnvelopes(), SomeEnvelopes(hero.envelopes.multi), hero.envelopes):
        flexor.save(hero.with_envelopes(given), path)
        flexor.save(flexor.load(path).with_clips({}), tmp_path / "b.flexor")
        again = flexor.load(tmp_path / "b.flexor").given_envelopes
        assert again is not None
        for name in ("multi", "one"):
            before, after = getattr(given, name), getattr(again, name)
            assert (before is None) == (after is None)
            if before is not None:
                check_same(before, after)


def test_one_that_is_there_is_used_alone(
    hero: Character, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("converted again")

    flexor.save(hero, tmp_path / "a.flexor")
    poses = hero.pose_many("mixed", [0.2, 0.7])
    expected = hero.deform_many(poses, weights="one")
    monkeypatch.setattr(converter, "convert_scene", fail)
    loaded = flexor.load(tmp_path / "a.flexor")
    assert same_bytes(expected, loaded.deform_many(poses, weights="one"))


def test_a_package_brings_its_envelopes(
    hero: Character, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is converted when they are used."""

    def fail(*_: object) -> None:
        raise AssertionError("converted again")

    expected = hero.envelopes
    monkeypatch.setattr(converter, "convert_scene", fail)
    loaded = flexor.load(package)
    check_same(loaded.envelopes.multi, expected.multi)
    check_same(loaded.envelopes.one, expected.one)
    poses = hero.pose_many("mixed", [0.2, 0.7])
    assert same_bytes(
        hero.deform_many(poses, weights="one"),
        loaded.deform_many(loaded.pose_many("mixed", [0.2, 0.7]), weights="one"),
    )


def test_a_package_keeps_envelopes_of_another_kind(
    hero: Character, tmp_path: Path
) -> None:
    other = convert_scene(hero.scene, EnvelopeSettings(search=False, ids="consistent"))[
        0
    ]
    flexor.save(hero.with_envelopes(other), tmp_path / "a.flexor")
    loaded = flexor.load(tmp_path / "a.flexor")
    check_same(loaded.envelopes.multi, other.multi)
    assert loaded.envelopes.one.addresses is not None
    flexor.save(loaded, tmp_path / "b.flexor")
    check_same(flexor.load(tmp_path / "b.flexor").envelopes.one, other.one)


def test_a_package_moves_like_its_file(hero: Character, package: Path) -> None:
    loaded = flexor.load(package)
    assert list(loaded.clips) == list(hero.clips)
    for clip in (None, *hero.clips):
        one, other = (c.pose_many(clip, [0.1, 0.9]) for c in (hero, loaded))
        assert one.world.tobytes() == other.world.tobytes()
        assert one.weights.tobytes() == other.weights.tobytes()
        assert same_bytes(hero.deform_many(one), loaded.deform_many(other))


def test_pickling_a_character_from_a_package(hero: Character, package: Path) -> None:
    """Copies stand alone: the file may go."""
    loaded = flexor.load(package)
    pose = loaded.pose("mixed", 0.4)
    expected = loaded.deform(pose, weights="one")
    stored = pickle.dumps(loaded)
    twin = copy.deepcopy(loaded)
    package.unlink()
    for again in (pickle.loads(stored), twin):
        assert list(differences(hero.scene, again.scene)) == []
        check_same(again.envelopes.multi, hero.envelopes.multi)
        assert same_bytes(
            again.deform(again.pose("mixed", 0.4), weights="one"), expected
        )


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_a_package_saved_as_gltf(
    hero: Character, package: Path, tmp_path: Path, ending: str
) -> None:
    """Nothing is lost on the detour."""
    place = tmp_path / f"detour{ending}"
    flexor.save(flexor.load(package), place)
    detour = flexor.load(place)
    assert list(differences(hero.scene, detour.scene)) == []
    for clip in hero.clips:
        one, other = (c.pose(clip, 0.7) for c in (hero, detour))
        assert same_bytes(hero.deform(one), detour.deform(other))


def test_the_mannequin_keeps_its_looks(mannequin: Character, tmp_path: Path) -> None:
    """Pictures, materials, names: a package holds the whole scene."""
    flexor.save(mannequin, tmp_path / "a.flexor")
    loaded = flexor.load(tmp_path / "a.flexor")
    assert list(differences(mannequin.scene, loaded.scene)) == []
    flexor.save(loaded, tmp_path / "a.glb")
    again = flexor.load(tmp_path / "a.glb")
    assert list(differences(mannequin.scene, again.scene)) == []


def test_posed_from_a_package(package: Path) -> None:
    """A statue has a scene of its own, so it does not have the package's envelopes."""
    loaded = flexor.load(package)
    statue = loaded.posed(loaded.pose("mixed", 0.4))
    check_one_weight(statue, statue.pose())
