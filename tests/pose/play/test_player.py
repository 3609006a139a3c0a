"""The player against its slow twin, its clocks, and what must be exact."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import SettingError
from flexor.pose.play.kernels import travel as kernel_travel
from flexor.pose.play.layers import Layer, layer_mask, mask_nodes
from flexor.pose.play.player import advance, init_player
from flexor.pose.play.voices import Mode, play, set_weight, stop
from flexor.scene.character.clip import Clip
from tests.oracle import player as oracle
from tests.oracle.player import SlowPlayer
from tests.pose.play.players import (
    parts_of,
    player_of,
    positions,
    smooth_scene,
)
from tests.scenes import plain_scene, random_scene, random_skeleton

Rng = np.random.Generator
MODES: tuple[Mode, ...] = ("once", "loop", "ping-pong")


def layers_of(count: int) -> list[Layer]:
    return [
        Layer("base"),
        Layer("half", mask={"node[2-6]": 1, "node5": 0.3}, weight=0.75),
        Layer("rest", additive=True, reference="rest", weight=0.4),
        Layer("first", mask="node1", additive=True),
    ][:count]


def check_twin(state: Any, slow: SlowPlayer, n: int) -> None:
    """Character `n` is posed like the twin; rotations up to their sign."""
    moves, turns, sizes = (part[n] for part in parts_of(state))
    (slow_moves, slow_turns, slow_sizes), weights = slow.pose()
    np.testing.assert_allclose(moves, slow_moves, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(sizes, slow_sizes, atol=1e-5, rtol=1e-5)
    side = np.where((turns * slow_turns).sum(-1) < 0, -1, 1)[:, None]
    np.testing.assert_allclose(turns * side, slow_turns, atol=1e-5)
    np.testing.assert_allclose(state.weights[n], weights, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_a_play_of_many_acts(seed: int) -> None:
    """Clips of all kinds, layers, fades in fades, speeds, stops: as the twin has it."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, nodes=9, vertices=5)
    layers = layers_of(1 + seed % 4)
    count = 3
    state = player_of(scene, count, *layers, voices=9)
    masks = [layer_mask(layer, scene.skeleton) for layer in layers]
    slow = [SlowPlayer(scene, layers, masks) for _ in range(count)]
    clips = list(scene.clips.values())
    state.speeds[:] = [1, 0.5, -1.25]
    for n, one in enumerate(slow):
        one.speed = float(state.speeds[n])
    for _ in range(14):
        who = np.nonzero(rng.random(count) < 0.6)[0]
        layer = int(rng.integers(len(layers)))
        fade = float(rng.choice([0, 0.3, 1.0]))
        if rng.random() < 0.15:
            stop(state, layer=layer, who=who, fade=fade)
            for n in who:
                # Nothing that is faded to goes on.
                now = slow[n].fades[layer]
                if now is not None and now.voice is not None:
                    slow[n].stop(layer, fade)
        else:
            clip = clips[rng.integers(len(clips))]
            mode = MODES[rng.integers(3)]
            speed = float(rng.choice([1.0, 0.3, -0.8, 2.5]))
            start = float(rng.uniform(0, clip.duration))
            play(
                state,
                clip.name,
                layer=layer,
                who=who,
                fade=fade,
                mode=mode,
                speed=speed,
                start=start,
            )
            for n in who:
                slow[n].play(layer, clip, mode, speed, start, fade)
        if rng.random() < 0.3:
            weight = float(rng.choice([0, 0.25, 1]))
            set_weight(state, layer, weight, who=who)
            for n in who:
                slow[n].weights[layer] = weight
        for _ in range(2):
            dt = float(rng.choice([0, 1 / 60, 0.11, 0.4]))
            advance(state, dt)
            for n, one in enumerate(slow):
                one.advance(dt)
                check_twin(state, one, n)


@pytest.mark.parametrize("name", ["linear", "step", "cubic", "mixed"])
def test_one_clip_is_that_clip_to_the_bit(name: str, rng: Rng) -> None:
    """Also over a layer of weight 0, under one that covers all, and beside voices that
    have faded out. How cubic spans are summed is up to the compiler, so of these only
    players are compared with players.
    """
    scene = random_scene(rng)
    hero = Character(scene)
    layers = [Layer("a"), Layer("b"), Layer("none", weight=0)]
    state, alone = player_of(scene, 4, *layers), player_of(scene)
    play(state, "cubic", layer="a", who=[0, 2])
    play(state, name, layer="a", who=[1, 3])
    play(state, name, layer="b", who=[0, 2])
    play(state, "step", layer="none")
    play(state, "linear", layer="none", fade=0.2)
    play(alone, name)
    for _ in range(40):
        advance(state, 0.07)
        advance(alone, 0.07)
        for n in range(4):
            np.testing.assert_array_equal(state.local[n], alone.local[0])
            np.testing.assert_array_equal(state.weights[n], alone.weights[0])
        pose = hero.pose(name, positions(alone)[0])
        made = (*(part[0] for part in parts_of(alone)), alone.weights[0])
        wanted = (pose.translations, pose.rotations, pose.scales, pose.weights)
        most = 4e-7 if name in ("cubic", "mixed") else 0
        for part, want in zip(made, wanted, strict=True):
            np.testing.assert_allclose(part, want, rtol=most, atol=most)


def test_masks_of_0_and_1_are_exact(rng: Rng) -> None:
    """Each node is one clip's or the other's, to the bit."""
    scene = smooth_scene(rng, 19)
    hero = Character(scene)
    layer = Layer("b", mask=mask_nodes(scene.skeleton, "node1*", "node3", below=False))
    state = player_of(scene, 1, Layer("a"), layer)
    play(state, "a")
    play(state, "b", layer="b")
    is_b = layer_mask(layer, scene.skeleton) == 1
    assert 0 < is_b.sum() < 19
    for _ in range(30):
        advance(state, 0.043)
        a = hero.pose("a", positions(state, 0)[0])
        b = hero.pose("b", positions(state, 1)[0])
        for part, of_a, of_b in zip(
            parts_of(state),
            (a.translations, a.rotations, a.scales),
            (b.translations, b.rotations, b.scales),
            strict=True,
        ):
            np.testing.assert_array_equal(part[0], np.where(is_b[:, None], of_b, of_a))


def test_keys_that_are_not_unit_fade_without_a_jump(rng: Rng) -> None:
    """They are used as stored; a mix is as long as what it is made of."""
    scene = smooth_scene(rng)
    long = [
        type(t)(
            t.node, t.path, t.times, t.values * (1.2 if t.path == "rotation" else 1)
        )
        for t in scene.clips["a"].tracks
    ]
    hero = Character(plain_scene(scene.skeleton, Clip("a", tuple(long))))
    state = player_of(hero.scene)
    play(state, "a")
    advance(state, 0.3)
    play(state, "a", start=0.3, fade=1.0)
    for _ in range(10):
        advance(state, 0.09)
        wanted = hero.pose("a", positions(state)[0]).rotations
        np.testing.assert_allclose(parts_of(state)[1][0], wanted, atol=1e-6)


def test_nothing_played_is_rest(rng: Rng) -> None:
    scene = random_scene(rng)
    state = player_of(scene, 2)
    advance(state, 1.0)
    np.testing.assert_array_equal(state.local[1], state.motions.layout.rest)
    np.testing.assert_array_equal(state.weights[1], state.motions.layout.rest_weights)
    play(state, "mixed")
    advance(state, 0.4)
    assert (state.local[1] != state.motions.layout.rest).any()
    stop(state)
    advance(state, 0.1)
    np.testing.assert_array_equal(state.local[1], state.motions.layout.rest)
    np.testing.assert_array_equal(state.weights[1], state.motions.layout.rest_weights)


def test_one_character_is_a_row_of_many(rng: Rng) -> None:
    """Whoever stands beside it, in whatever order."""
    scene = random_scene(rng)
    layers = layers_of(4)
    order = rng.permutation(6)
    many, mixed = player_of(scene, 6, *layers), player_of(scene, 6, *layers)
    ones = [player_of(scene, 1, *layers) for _ in range(6)]
    names = list(scene.clips)
    for act in range(6):
        for n in range(6):
            clip, layer = names[(n + act) % 4], (n * act) % 4
            more: Any = {"fade": 0.2 * n, "speed": 1 + n - act / 3, "layer": layer}
            play(many, clip, who=n, **more)
            play(mixed, clip, who=int(np.argsort(order)[n]), **more)
            play(ones[n], clip, **more)
        for dt in (0.05, 0.2):
            for state in (many, mixed, *ones):
                advance(state, dt)
            np.testing.assert_array_equal(mixed.local, many.local[order])
            np.testing.assert_array_equal(mixed.weights, many.weights[order])
            for n, one in enumerate(ones):
                np.testing.assert_array_equal(one.local[0], many.local[n])
                np.testing.assert_array_equal(one.weights[0], many.weights[n])


def test_a_step_of_0_changes_nothing(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2, Layer("x"), events={"a": [(0, "e")]})
    play(state, "a")
    play(state, "b", fade=0.5, who=1)
    assert advance(state, 0) == []
    before = state.local.copy()
    for _ in range(3):
        assert advance(state, 0.0) == []
    np.testing.assert_array_equal(state.local, before)
    assert [event.name for event in advance(state, 0.1)] == ["e", "e"]


@pytest.mark.parametrize("dt", [np.nan, np.inf, -np.inf, -0.1, 1e9, "x", None])
def test_bad_steps_are_refused(dt: Any, rng: Rng) -> None:
    state = player_of(smooth_scene(rng))
    play(state, "a", start=0.25)
    advance(state, 0.0)
    before = state.local.copy()
    with pytest.raises(SettingError, match="dt"):
        advance(state, dt)
    assert positions(state)[0] == 0.25
    np.testing.assert_array_equal(state.local, before)


@pytest.mark.parametrize("speed", [np.nan, np.inf, 1e7, -1e7, 1e200])
def test_bad_clocks_are_refused(speed: float, rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2)
    state.speeds[1] = speed
    with pytest.raises(SettingError, match="speeds"):
        advance(state, 0.1)


def test_top_speed(rng: Rng) -> None:
    for count in (0, 1, 2, 7):
        for odd in (1e300, -1e300, np.inf, -np.inf, np.nan):
            speeds, places = rng.normal(0, 3, count), rng.normal(0, 1, (count, 12))
            speed = oracle.top_speed(speeds, places)
            assert kernel_travel.top_speed(speeds, places) == speed
            for part in (speeds, places.reshape(-1)):
                if count:
                    part[rng.integers(len(part))] = odd
                speed = oracle.top_speed(speeds, places)
                assert kernel_travel.top_speed(speeds, places) == speed


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_places_are_refused(bad: float, rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2)
    state.places[1, 0, 3] = 1e200  # far, but somewhere
    advance(state, 0.1)
    state.places[1, 0, 3] = bad
    with pytest.raises(SettingError, match="places: must be finite"):
        advance(state, 0.1)


def test_clocks_of_their_own(rng: Rng) -> None:
    """Everything a character plays goes by its clock, fades too."""
    scene = smooth_scene(rng)
    slow, plain = player_of(scene), player_of(scene)
    slow.speeds[:] = 0.5
    for state in (slow, plain):
        play(state, "a")
        advance(state, 0.0)
        play(state, "b", fade=0.4)
    for _ in range(30):
        advance(slow, 0.05)
        advance(plain, 0.025)
        np.testing.assert_array_equal(slow.local, plain.local)


def test_loops_do_not_drift(rng: Rng) -> None:
    """Two hours, in part in steps over many rounds at once."""
    state = player_of(smooth_scene(rng))
    play(state, "b")
    duration = state.motions.durations[1]
    step = 1 / 60
    for _ in range(200):
        advance(state, step)
    for _ in range(120):
        advance(state, 60.0)
    exact = (Fraction(step) * 200 + 60 * 120) % Fraction(float(duration))
    off = abs(float(exact) - positions(state)[0])
    assert min(off, duration - off) < 1e-12


@pytest.mark.slow
def test_loops_do_not_drift_step_by_step(rng: Rng) -> None:
    state = player_of(smooth_scene(rng, 2))
    play(state, "b")
    duration, steps = state.motions.durations[1], 3600 * 60
    for _ in range(steps):
        advance(state, 1 / 60)
    exact = Fraction(1 / 60) * steps % Fraction(float(duration))
    off = abs(float(exact) - positions(state)[0])
    assert min(off, duration - off) < 1e-10


def test_once_holds_the_last_frame(rng: Rng) -> None:
    scene = smooth_scene(rng)
    state = player_of(scene, 2)
    play(state, "a", mode="once")
    play(state, "a", mode="once", speed=-1, who=1)
    hero = Character(scene)
    np.testing.assert_array_equal(positions(state), [0, 1])
    for _ in range(15):
        advance(state, 0.1)
    np.testing.assert_array_equal(positions(state), [1, 0])
    for n, end in ((0, 1.0), (1, 0.0)):
        wanted = hero.pose("a", end).rotations
        np.testing.assert_array_equal(parts_of(state)[1][n], wanted)


def test_ping_pong_goes_back_and_forth(rng: Rng) -> None:
    scene = smooth_scene(rng)
    hero = Character(scene)
    state = player_of(scene)
    play(state, "a", mode="ping-pong")
    for frame in range(1, 100):
        advance(state, 0.0625)
        at = frame * 0.0625 % 2
        wanted = hero.pose("a", at if at <= 1 else 2 - at).translations
        np.testing.assert_array_equal(parts_of(state)[0][0], wanted)


def test_backward(rng: Rng) -> None:
    scene = smooth_scene(rng)
    hero = Character(scene)
    state = player_of(scene)
    play(state, "a", speed=-0.5)
    for frame in range(1, 40):
        advance(state, 0.125)
        wanted = hero.pose("a", -frame * 0.0625 % 1).translations
        np.testing.assert_array_equal(parts_of(state)[0][0], wanted)


def test_clips_of_no_length(rng: Rng) -> None:
    """One key at 0: there for ever, in all modes."""
    scene = random_scene(rng)
    track = scene.clips["linear"].tracks[0]
    still = type(track)(track.node, track.path, np.zeros(1), track.values[:1])
    empty = Clip("empty", ())
    hero = plain_scene(random_skeleton(rng, 11), Clip("still", (still,)), empty)
    state = player_of(hero, 2, events={"still": [(0, "there")]})
    for mode in MODES:
        play(state, "still", mode=mode, fade=0.1)
        play(state, "empty", mode=mode, who=1, sync=True)
        passed = [advance(state, 0.3) for _ in range(3)]
        assert [len(part) for part in passed] == [1, 0, 0]
        assert np.isfinite(state.local).all()
    np.testing.assert_array_equal(state.local[1], state.motions.layout.rest)


@pytest.mark.jit
def test_nothing_is_allocated(rng: Rng) -> None:
    """After the first frame, whatever is played, for one or for many."""
    grown = []
    for count in (2, 200):
        state = player_of(
            smooth_scene(rng), count, Layer("a"), Layer("b", mask="node1")
        )
        play(state, "a")
        play(state, "b", layer="b", fade=0.5)
        for _ in range(3):
            advance(state, 0.01)
        tracemalloc.start()
        begin = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(5):
            advance(state, 0.01)
        grown.append(tracemalloc.get_traced_memory()[1] - begin)
        tracemalloc.stop()
    # What is left is a mask of speeds: 9 bytes a character, given back at once.
    assert grown[1] - grown[0] < 200 * 32
    assert grown[0] < 30_000


def test_no_characters(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 0, events={"a": [(0.1, "e")]})
    play(state, "a")
    stop(state)
    set_weight(state, 0, 0.5)
    assert advance(state, 5.0) == []
    assert state.local.shape[0] == 0


def test_players_that_cannot_be(rng: Rng) -> None:
    motions = player_of(smooth_scene(rng)).motions
    for layers in ([], [Layer("a"), Layer("a")]):
        with pytest.raises(SettingError, match="layers"):
            init_player(motions, 1, layers)
    with pytest.raises(SettingError, match="expected Layer settings"):
        init_player(motions, 1, ["a"])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="count"):
        init_player(motions, -1)
    for count in (None, "x", 1.5, True, 10**13, 10**30, np.nan):
        with pytest.raises(SettingError, match="count"):
            init_player(motions, count)  # type: ignore[arg-type]
    for voices in (1, None, 2.5, 10**13):
        with pytest.raises(SettingError, match="voices"):
            init_player(motions, 1, voices=voices)  # type: ignore[arg-type]


def test_more_than_there_is_memory_for(rng: Rng, monkeypatch: Any) -> None:
    motions = player_of(smooth_scene(rng)).motions

    def tile(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(np, "tile", tile)
    with pytest.raises(SettingError, match="count: 5, more than there is memory for"):
        init_player(motions, 5)


def test_weights_of_layers(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 3, Layer("a"), Layer("b"))
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(SettingError, match="weight"):
            set_weight(state, "b", bad)
    play(state, "a")
    play(state, "b", layer="b")
    set_weight(state, "b", [0, 0.5, 1])
    advance(state, 0.2)
    for n, clip in ((0, "a"), (2, "b")):
        alone = init_player(state.motions, 1)
        play(alone, clip)
        advance(alone, 0.2)
        np.testing.assert_array_equal(state.local[n], alone.local[0])
    middle = parts_of(state)[0]
    np.testing.assert_allclose(middle[1], (middle[0] + middle[2]) / 2, atol=1e-6)
