"""Cross-fades: nothing jumps, whatever interrupts what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.pose.play.kernels.player import CLIP, POSITION, WEIGHT
from flexor.pose.play.kernels.voice import FREE, KEPT
from flexor.pose.play.layers import Layer
from flexor.pose.play.player import PlayerState, advance
from flexor.pose.play.voices import Mode, play, set_weight, stop
from flexor.scene.character.clip import Clip, Track
from tests.pose.play.players import (
    parts_of,
    player_of,
    positions,
    run,
    shown,
    smooth_scene,
)
from tests.scenes import plain_scene, random_scene, random_skeleton

Rng = np.random.Generator
DT = 1 / 120


def largest_step(rows: Any) -> float:
    """The largest change from one moment to the next."""
    return float(np.abs(np.diff(rows, axis=0)).max())


def own_step(state: PlayerState) -> float:
    """The largest change of any of the clips played alone, at twice the speed."""
    steps = []
    for name in state.motions.names:
        alone = player_of(state_scene(state))
        play(alone, name)
        steps.append(largest_step(run(alone, 200, 2 * DT)))
    return max(steps)


SCENES: dict[int, Any] = {}


def state_scene(state: PlayerState) -> Any:
    return SCENES[id(state)]


def smooth_player(rng: Rng, *layers: Layer, **more: Any) -> PlayerState:
    scene = smooth_scene(rng)
    state = player_of(scene, 1, *layers, **more)
    SCENES[id(state)] = scene
    return state


def spread(state: PlayerState) -> float:
    """The largest difference between any two moments of any clips."""
    rows = []
    for name in state.motions.names:
        alone = player_of(state_scene(state))
        play(alone, name)
        rows.append(run(alone, 40, 0.04))
    whole = np.concatenate([*rows, [shown(player_of(state_scene(state)))]])
    return float(np.ptp(whole, axis=0).max())


def test_a_clip_faded_into_itself_is_that_clip(rng: Rng) -> None:
    scene = smooth_scene(rng)
    hero = Character(scene)
    state = player_of(scene)
    play(state, "a")
    for frame in range(50):
        advance(state, 0.021)
        if frame % 6 == 0:
            play(state, "a", start=float(positions(state)[0]), fade=0.1)
        pose = hero.pose("a", positions(state)[0])
        np.testing.assert_allclose(shown(state)[0], pose.local, atol=1e-6)


def test_loops_have_no_jump(rng: Rng) -> None:
    """A round later the step over the end is no larger than the others."""
    for mode in ("loop", "ping-pong"):
        state = smooth_player(rng)
        play(state, "b", mode=mode)  # type: ignore[arg-type]
        rows = run(state, 400, DT)
        assert largest_step(rows) < 1.2 * largest_step(rows[:50])
        assert largest_step(rows) > 0


@pytest.mark.parametrize("voices", [2, 3, 9])
def test_interrupted_fades_do_not_jump(voices: int, rng: Rng) -> None:
    """Each act begins from what is shown, also when there are more than voices."""
    state = smooth_player(rng, voices=voices)
    own, far = own_step(state), spread(state)
    play(state, "a")
    rows, fade = [run(state, 1, DT)[0]], 0.25
    for act in range(60):
        if act % 11 == 10:
            stop(state, fade=fade)
        else:
            clip = ("a", "b", "c")[act % 3]
            play(state, clip, fade=fade, start=0.2 * (act % 4), mode="loop")
        before = shown(state)
        advance(state, 0)
        np.testing.assert_allclose(shown(state), before, atol=3e-6)
        rows.extend(run(state, 3 + act % 7, DT))
    assert largest_step(np.stack(rows)) < own + 2.5 * far * DT / fade


def test_kept_poses(rng: Rng) -> None:
    """When all voices are in use, the pose of the moment is kept, in every layer."""
    scene = random_scene(rng)
    layers = [Layer("a"), Layer("b", mask="node1", additive=True)]
    state = player_of(scene, 2, *layers, voices=2)
    names = list(scene.clips)
    play(state, names[0])
    play(state, names[3], layer="b")
    for act in range(6):
        advance(state, 0.03)
        for layer in ("a", "b"):
            play(state, names[act % 4], layer=layer, who=1, fade=1.0, start=0.1 * act)
        before = shown(state), state.weights.copy()
        advance(state, 0)
        np.testing.assert_allclose(shown(state), before[0], atol=5e-6, rtol=5e-6)
        np.testing.assert_allclose(state.weights, before[1], atol=3e-6, rtol=3e-6)
    assert (state._marks[:, CLIP] == KEPT).sum() == 2
    advance(state, 1.0)
    assert (state._marks[:, CLIP] == KEPT).sum() == 0
    alone = player_of(scene, 1, *layers)
    last = {"start": 0.5, "fade": 0.0}
    play(alone, names[5 % 4], layer="a", **last)  # type: ignore[arg-type]
    play(alone, names[5 % 4], layer="b", **last)  # type: ignore[arg-type]
    advance(alone, 1.0)
    np.testing.assert_array_equal(state.local[1], alone.local[0])


def turner(spans: dict[str, tuple[float, float]], flips: int = 0) -> Any:
    """Clips of a second in which one node turns about X from an angle to another.

    flips: from which key on the rotations have the other sign, which shows nowhere.
    """
    times = np.linspace(0, 1, 33)
    clips = []
    for name, span in spans.items():
        half = np.radians(np.linspace(*span, 33)) / 2
        turns = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], 1)
        if flips:
            turns[flips:] *= -1
        clips.append(Clip(name, (Track(0, "rotation", times.copy(), turns),)))
    return plain_scene(random_skeleton(np.random.default_rng(1), 3), *clips)


def angles_of(state: PlayerState) -> Any:
    """How far node 0 is turned about X, degrees: (N,)."""
    turns = parts_of(state)[1][:, 0].astype(float)
    return np.degrees(2 * np.arctan2(turns[:, 0], turns[:, 3]))


def farthest(angles: Any) -> float:
    """The largest step of angles (T, N), round the circle."""
    return float(np.abs((np.diff(angles, axis=0) + 180) % 360 - 180).max())


@pytest.mark.parametrize("flips", [0, 9, 17])
def test_past_half_a_turn_a_fade_keeps_its_side(flips: int) -> None:
    """From 150 to 230 degrees apart, in a crowd that fades at different times.

    It goes back to the first clip in the middle, which makes that the newer voice.
    """
    state = player_of(turner({"stay": (0, 0), "turn": (150, 230)}, flips), 3)
    play(state, "stay")
    advance(state, DT)
    angles = [angles_of(state)]
    for frame in range(135):
        for n in range(3):
            if frame == 5 * n:
                play(state, "turn", fade=1.5, who=n)
            if frame == 60 + 5 * n:
                play(state, "stay", fade=0.5, who=n)
        advance(state, DT)
        angles.append(angles_of(state))
    assert farthest(np.stack(angles)) < 2
    assert np.stack(angles).max() > 50
    np.testing.assert_allclose(angles[-1], 0, atol=1e-3)


@pytest.mark.parametrize("act", ["hidden", "anew"])
def test_a_new_fade_takes_the_short_way(act: str) -> None:
    """What a voice did in an earlier fade does not count, nor what is not shown."""
    state = player_of(turner({"stay": (0, 0), "turn": (100, 260)}))
    play(state, "stay")
    play(state, "turn", fade=2.0)
    for _ in range(100):
        advance(state, DT)
    assert 20 < angles_of(state)[0] < 180  # the long way: the short one is below 0
    if act == "hidden":
        set_weight(state, 0, 0)
        advance(state, 0)
        set_weight(state, 0, 1)
    else:  # the voices are used for others
        play(state, "stay", start=0.0)
        play(state, "turn", start=0.8, fade=1.0)
    for _ in range(8):
        advance(state, DT)
    turned = (angles_of(state)[0] + 180) % 360 - 180
    assert -175 < turned < -1


def test_a_fade_is_what_it_says(rng: Rng) -> None:
    """Halfway both count half; then the first is gone for good, to the bit."""
    scene = smooth_scene(rng)
    state, alone = player_of(scene), player_of(scene)
    play(state, "a")
    advance(state, 0.2)
    play(state, "b", fade=0.2)
    play(alone, "b")
    for frame in range(1, 25):
        advance(state, 0.02)
        advance(alone, 0.02)
        weights = state._voices[:2, WEIGHT]
        np.testing.assert_allclose(weights[1], min(frame / 10, 1), atol=1e-12)
        assert weights[0] + weights[1] == pytest.approx(1) or frame >= 10
        assert ((state.local == alone.local).all()) == (frame >= 10)


def test_a_layer_fades_in_and_out(rng: Rng) -> None:
    scene = smooth_scene(rng)
    state, below = player_of(scene, 1, Layer("a"), Layer("b")), player_of(scene)
    for one in (state, below):
        play(one, "a")
    play(state, "b", layer="b", fade=0.1)
    advance(state, 0)
    advance(below, 0)
    np.testing.assert_array_equal(state.local, below.local)
    for _ in range(12):
        advance(state, 0.01)
        advance(below, 0.01)
    assert (state.local != below.local).any()
    stop(state, layer="b", fade=0.1)
    for _ in range(10):
        assert (state.local != below.local).any()
        advance(state, 0.01)
        advance(below, 0.01)
    np.testing.assert_array_equal(state.local, below.local)


def test_what_is_played_already_goes_on(rng: Rng) -> None:
    """Asked for in every frame, a loop neither starts again nor stays in its fade."""
    state = smooth_player(rng)
    play(state, "a")
    advance(state, 0.3)
    for _ in range(30):
        play(state, "b", fade=0.2)
        advance(state, 1 / 60)
    assert positions(state)[0] == pytest.approx(0.5)
    assert state._voices[1, WEIGHT] == 1
    play(state, "b", fade=0.2, speed=-1)
    advance(state, 0.1)
    assert positions(state)[0] == pytest.approx(0.4)


def test_back_to_a_clip_that_fades_out(rng: Rng) -> None:
    """It goes on where it is: walk, a moment of run, walk."""
    state = smooth_player(rng)
    play(state, "a")
    advance(state, 0.3)
    play(state, "b", fade=0.2)
    advance(state, 0.05)
    play(state, "a", fade=0.2)
    assert positions(state)[0] == pytest.approx(0.35)
    assert (state._marks[:, CLIP] != FREE).sum() == 2
    advance(state, 0.05)
    assert state._voices[0, WEIGHT] == pytest.approx(0.75 + 0.25 * 0.25)


def test_once_starts_again(rng: Rng) -> None:
    state = smooth_player(rng)
    play(state, "a", mode="once")
    advance(state, 0.4)
    play(state, "a", mode="once", fade=0.1)
    assert positions(state)[0] == 0


def test_in_step(rng: Rng) -> None:
    """Phases stay alike in a fade, and go at a pace between both."""
    state = smooth_player(rng)
    play(state, "a")
    advance(state, 0.6)
    play(state, "b", fade=0.5, sync=True)
    durations = state.motions.durations[:2]
    last = 0.6
    for _ in range(100):
        advance(state, 0.004)
        phases = state._voices[:2, POSITION] / durations
        assert phases[0] == pytest.approx(phases[1], abs=1e-9)
        pace = ((phases[0] - last) % 1) / 0.004
        assert 1 / durations[0] - 1e-9 <= pace <= 1 / durations[1] + 1e-9
        last = phases[0]
    assert pace > 1.3  # nearly that of b by now
    advance(state, 0.2)
    before = positions(state)[0]
    advance(state, 0.1)
    assert (positions(state)[0] - before) % durations[1] == pytest.approx(0.1)


def test_in_step_with_nothing(rng: Rng) -> None:
    state = smooth_player(rng)
    play(state, "b", fade=0.5, sync=True)
    advance(state, 0.1)
    assert positions(state)[0] == pytest.approx(0.1)


def test_leave_is_gone_at_the_end(rng: Rng) -> None:
    scene = smooth_scene(rng)
    layers = [Layer("a"), Layer("b", mask="node1")]
    state, below = player_of(scene, 1, *layers), player_of(scene, 1, *layers)
    for one in (state, below):
        play(one, "a")
    play(state, "b", layer="b", mode="once", fade=0.1, leave=0.2)
    weights = []
    for _ in range(80):
        advance(state, 0.01)
        advance(below, 0.01)
        weights.append(
            state._voices[4:8, WEIGHT][state._marks[4:8, CLIP] != FREE].sum()
        )
    assert max(weights) == 1
    assert np.abs(np.diff(weights)).max() < 0.11
    assert weights[48] == 1
    assert weights[60] == pytest.approx(0.5, abs=0.08)
    assert weights[68] > 0
    assert weights[69] == 0
    np.testing.assert_array_equal(state.local, below.local)


@pytest.mark.parametrize("leave", [0.0, 0.05, 0.2, 50.0])
@pytest.mark.parametrize("dt", [1 / 60, 0.05, 0.3, 0.7, 1.4, 50.0])
@pytest.mark.parametrize(("speed", "clock"), [(1, 1), (-1, 1), (2, 0.5), (1, 3)])
def test_leave_of_any_length(
    leave: float, dt: float, speed: float, clock: float, rng: Rng
) -> None:
    """Gone in the step that reaches the end of the clip, in none before; no rise."""
    state = player_of(smooth_scene(rng))
    state.speeds[:] = clock
    play(state, "b", mode="once", speed=speed, leave=leave)
    duration = state.motions.durations[1]
    pace, weight = abs(speed * clock), 1.0
    for step in range(1, 100):
        advance(state, dt)
        now = state._voices[:, WEIGHT][state._marks[:, CLIP] != FREE].sum()
        assert now <= weight
        weight = now
        left = duration - step * dt * pace
        if left <= 1e-6:
            break
        assert weight > 0
        if left > leave * abs(speed):
            assert weight == 1
    assert weight == 0
    assert not (state._marks[:, CLIP] != FREE).any()
    np.testing.assert_array_equal(state.local[0], state.motions.layout.rest)
    play(state, "a", fade=0.5)  # from nothing
    advance(state, 0.25 / clock)
    assert state._voices[0, WEIGHT] == pytest.approx(0.5)


def test_leave_passes_the_events_before_it(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), events={"b": [(0.5, "hit"), (0.7, "end")]})
    play(state, "b", mode="once", leave=0.1)
    assert [event.name for event in advance(state, 5.0)] == ["hit", "end"]
    assert advance(state, 5.0) == []


@settings(max_examples=25)
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", None]),
            st.sampled_from(["once", "loop", "ping-pong"]),
            st.sampled_from([0.05, 0.2, 0.5]),
            st.integers(1, 12),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_any_acts_are_continuous(
    acts: list[tuple[str | None, Mode, float, int]],
) -> None:
    state = smooth_player(np.random.default_rng(3), voices=3)
    far = spread(state)
    play(state, "a")
    rows = [run(state, 1, DT)[0]]
    least = 0.5
    for clip, mode, fade, steps in acts:
        least = min(least, fade)
        if clip is None:
            stop(state, fade=fade)
        else:
            play(state, clip, mode=mode, fade=fade)
        rows.extend(run(state, steps, DT))
    assert largest_step(np.stack(rows)) < 0.2 + 2.5 * far * DT / least
