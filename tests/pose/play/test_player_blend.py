"""Layers over layers: masks share joints out, and additive ones add."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.maths import quaternions
from flexor.pose.play.layers import Layer, mask_nodes
from flexor.pose.play.player import advance
from flexor.pose.play.voices import play, set_weight
from flexor.scene.character.clip import Clip, Track
from tests.pose.play.players import parts_of, player_of, positions, shown, smooth_scene
from tests.scenes import plain_scene, random_scene, random_skeleton

Rng = np.random.Generator


def test_a_mask_and_its_complement_give_the_clip(rng: Rng) -> None:
    """The same clip in both, in step: wherever the border is, it is that clip."""
    scene = smooth_scene(rng, 12)
    hero = Character(scene)
    mask = mask_nodes(scene.skeleton, {"node[0-5]": 1, "node2": 0.3, "node9": 0.6})
    layers = [Layer("a"), Layer("b", mask=mask), Layer("c", mask=1 - mask)]
    state = player_of(scene, 1, *layers)
    for layer in layers:
        play(state, "a", layer=layer.name)
    for _ in range(20):
        advance(state, 0.037)
        wanted = hero.pose("a", positions(state)[0]).local
        np.testing.assert_allclose(shown(state)[0], wanted, atol=2e-6)


def test_two_whole_masks_part_the_body(rng: Rng) -> None:
    """In which order the two lie makes no difference, to the bit."""
    scene = smooth_scene(rng, 12)
    mask = mask_nodes(scene.skeleton, "node[0-5]", below=False)
    made = []
    for layers in (
        [Layer("a", mask=mask), Layer("b", mask=1 - mask)],
        [Layer("b", mask=1 - mask), Layer("a", mask=mask)],
        [Layer("b"), Layer("a", mask=mask)],
    ):
        state = player_of(scene, 1, *layers)
        play(state, "a", layer="a")
        play(state, "b", layer="b")
        advance(state, 0.3)
        made.append(state.local.copy())
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])


def test_weights_count_once(rng: Rng) -> None:
    """Mask, layer and fade are multiplied: 0.5 of 0.5 of 0.5 is an eighth."""
    scene = smooth_scene(rng, 4)
    layer = Layer("b", mask=np.full(4, 0.5), weight=0.5)
    state = player_of(scene, 1, Layer("a"), layer)
    play(state, "a")
    play(state, "b", layer="b", fade=1.0)
    advance(state, 0.5)
    a, b = (Character(scene).pose(name, 0.5).translations for name in "ab")
    np.testing.assert_allclose(parts_of(state)[0][0], a + (b - a) / 8, atol=1e-6)


@pytest.mark.parametrize("reference", ["first", "rest"])
def test_a_clip_minus_itself_adds_nothing(reference: str, rng: Rng) -> None:
    """A clip that stands still at its reference, added to anything, at any weight."""
    scene = random_scene(rng, scale="uneven")
    pose = Character(scene).pose("linear", 0.0)
    rest = scene.skeleton
    parts = {
        "first": (pose.translations, pose.rotations, pose.scales),
        "rest": (rest.translations, rest.rotations, rest.scales),
    }[reference]
    tracks = [
        Track(node, path, np.array([0, 1.0]), np.stack([part[node]] * 2))
        for path, part in zip(("translation", "rotation", "scale"), parts, strict=True)
        for node in range(len(rest))
    ]
    still = Clip("still", tuple(tracks))
    clips = {"still": still, "mixed": scene.clips["mixed"]}
    hero = dataclasses.replace(scene, clips=clips)
    layers = [Layer("a"), Layer("b", additive=True, reference=reference)]  # type: ignore[arg-type]
    state, alone = player_of(hero, 1, *layers), player_of(hero)
    for one in (state, alone):
        play(one, "mixed")
    play(state, "still", layer="b")
    for weight in (1, 0.3, 0):
        set_weight(state, "b", weight)
        for one in (state, alone):
            advance(one, 0.21)
        np.testing.assert_allclose(state.local, alone.local, atol=2e-6, rtol=2e-6)
    np.testing.assert_array_equal(state.local, alone.local)  # at weight 0


def test_added_to_its_reference_it_is_the_clip(rng: Rng) -> None:
    """Rest pose below, a clip's difference from it above: that clip."""
    scene = random_scene(rng, scale="uneven")
    hero = Character(scene)
    state = player_of(scene, 1, Layer("a", additive=True, reference="rest"))
    play(state, "linear")
    for _ in range(10):
        advance(state, 0.17)
        pose = hero.pose("linear", positions(state)[0])
        np.testing.assert_allclose(shown(state)[0], pose.local, atol=3e-6, rtol=3e-6)
        np.testing.assert_allclose(state.weights[0], pose.weights, atol=1e-6)


def test_a_known_addition() -> None:
    """A turn of 60 degrees, 0.2 m and a scale of 2, added by half to a turn of 90."""

    def about_y(degrees: float) -> list[float]:
        half = np.radians(degrees) / 2
        return [0, np.sin(half), 0, np.cos(half)]

    times = np.array([0, 1.0])
    below = Track(0, "rotation", times, np.array([about_y(90)] * 2))
    added = (
        Track(0, "rotation", times, np.array([about_y(10), about_y(70)])),
        Track(0, "translation", times, np.array([[1, 0, 0], [1, 0.2, 0]])),
        Track(0, "scale", times, np.array([[3, 1, 1], [6, 1, 1]])),
    )
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    scene = plain_scene(skeleton, Clip("a", (below,)), Clip("b", added))
    layers = [Layer("a"), Layer("b", additive=True, weight=0.5)]
    state = player_of(scene, 1, *layers)
    play(state, "a")
    play(state, "b", layer="b", mode="once")
    advance(state, 2.0)
    moves, turns, sizes = (part[0, 0] for part in parts_of(state))
    np.testing.assert_allclose(moves - skeleton.translations[0], [0, 0.1, 0], atol=1e-6)
    np.testing.assert_allclose(sizes / skeleton.scales[0], [1.5, 1, 1], atol=1e-6)
    wanted = quaternions.to_matrix(np.array(about_y(120)))
    np.testing.assert_allclose(quaternions.to_matrix(turns), wanted, atol=1e-6)


def test_a_scale_of_nothing_adds_nothing(rng: Rng) -> None:
    """A reference scaled to 0 has no quotient: finite, and left as it is."""
    times = np.array([0, 1.0])
    track = Track(0, "scale", times, np.array([[0, 1, 1], [1.0, 2, 2]]))
    scene = plain_scene(random_skeleton(rng, 1, roots=1), Clip("a", (track,)))
    state = player_of(scene, 1, Layer("a", additive=True))
    play(state, "a", mode="once")
    advance(state, 1.0)
    sizes = parts_of(state)[2][0, 0] / scene.skeleton.scales[0]
    np.testing.assert_allclose(sizes, [1, 2, 2])


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-8, 1e-12, 1e-18])
def test_small_scales_are_added_as_others(size: float, rng: Rng) -> None:
    """Quotients of small numbers, and small quotients, to the last digits."""
    times = np.array([0, 1.0])
    keys = np.array([[1, 1, 2], [3.0, 1, 0.5]]) * [size, size, 1]
    grows = Track(0, "scale", times, keys)
    shrinks = Track(0, "scale", times, np.array([[1, 1, 1], [size, 1, 1]]))
    clips = Clip("grows", (grows,)), Clip("shrinks", (shrinks,))
    scene = plain_scene(random_skeleton(rng, 1, roots=1), *clips)
    rest = scene.skeleton.scales[0]
    for clip, wanted in (("grows", [3, 1, 0.25]), ("shrinks", [size, 1, 1])):
        state = player_of(scene, 1, Layer("a", additive=True))
        play(state, clip, mode="once")
        advance(state, 1.0)
        np.testing.assert_allclose(parts_of(state)[2][0, 0] / rest, wanted, rtol=1e-6)
        set_weight(state, "a", 0.3)
        advance(state, 0.0)
        part = 0.7 + 0.3 * np.array(wanted)
        np.testing.assert_allclose(parts_of(state)[2][0, 0] / rest, part, rtol=1e-6)


def test_morph_weights_follow_the_mask_of_their_node(rng: Rng) -> None:
    scene = random_scene(rng)  # nodes 0, 3 and 4 have two targets each
    hero = Character(scene)
    mask = np.zeros(11, np.float32)
    mask[3], mask[4] = 1, 0.25
    state = player_of(scene, 1, Layer("a"), Layer("b", mask=mask))
    play(state, "linear")
    play(state, "step", layer="b")
    advance(state, 0.9)
    times = [positions(state, k)[0] for k in range(2)]
    a, b = hero.pose("linear", times[0]).weights, hero.pose("step", times[1]).weights
    share = np.array([0, 0, 1, 1, 0.25, 0.25])
    np.testing.assert_allclose(state.weights[0], a + (b - a) * share, atol=1e-6)
    np.testing.assert_array_equal(state.weights[0, :4], [*a[:2], *b[2:4]])


def test_opposite_turns_stay_finite() -> None:
    """Halfway between two turns that are 180 degrees apart, and between zeros."""
    times = np.array([0, 1.0])
    for other in ([1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 0, 0]):
        clips = [
            Clip(name, (Track(0, "rotation", times, np.array([q, q], np.float32)),))
            for name, q in (("a", [0, 0, 0, 1]), ("b", other))
        ]
        scene = plain_scene(
            random_skeleton(np.random.default_rng(1), 1, roots=1), *clips
        )
        for layers in ([Layer("a")], [Layer("a"), Layer("b", additive=True)]):
            state = player_of(scene, 1, *layers)
            play(state, "a")
            play(state, "b", layer=len(layers) - 1, fade=1.0)
            for _ in range(5):
                advance(state, 0.25)
                assert np.isfinite(state.local).all()
