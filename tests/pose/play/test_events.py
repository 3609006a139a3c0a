"""Events: each one once whenever it is passed, in any mode, direction and step."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError
from flexor.pose.play import player as player_module
from flexor.pose.play.events import Event, make_events
from flexor.pose.play.layers import Layer
from flexor.pose.play.player import PlayerState, advance
from flexor.pose.play.voices import Mode, play, stop
from flexor.scene.character.clip import Clip, Track
from tests.oracle import player as oracle
from tests.pose.play.players import player_of, positions, smooth_scene
from tests.scenes import plain_scene, random_skeleton

Rng = np.random.Generator
# Powers of two: sums of such steps are exact, so it is known what lies on an event.
EIGHTHS = st.integers(0, 8).map(lambda n: n / 8)


def tiny_player(duration: float, times: list[float], count: int = 1) -> PlayerState:
    """One node that moves along x for `duration` seconds, with events."""
    track = Track(0, "translation", np.array([0, duration]), np.eye(3)[:2])
    skeleton = random_skeleton(np.random.default_rng(0), 1, roots=1)
    clip = Clip("walk", (track,))
    named = {"walk": [(time, f"at {time}") for time in times]}
    return player_of(plain_scene(skeleton, clip), count, events=named)


def times_of(events: list[Event]) -> list[float]:
    return [event.time for event in events]


@settings(max_examples=150)
@given(
    mode=st.sampled_from(["once", "loop", "ping-pong"]),
    times=st.lists(EIGHTHS, min_size=1, max_size=4, unique=True),
    start=EIGHTHS,
    steps=st.lists(
        st.tuples(
            st.sampled_from([0, 1 / 16, 1 / 8, 0.3125, 1.0, 2.125, 7.5]),
            st.sampled_from([1.0, -1.0, 0.5, -2.0, 0.0]),
        ),
        min_size=1,
        max_size=12,
    ),
)
def test_as_on_the_line_of_time(
    mode: Mode, times: list[float], start: float, steps: list[tuple[float, float]]
) -> None:
    """None missed, none twice, in the order in which they are passed."""
    state = tiny_player(1.0, times)
    play(state, "walk", mode=mode, start=start)
    at, is_first = start, True
    for dt, speed in steps:
        state.speeds[:] = speed
        made = times_of(advance(state, dt))
        after = at + dt * speed
        if mode == "once":
            after = min(max(after, 0.0), 1.0)
        wanted = []
        if dt * speed:
            wanted = oracle.passed(times, mode, 1.0, start, at, after, is_first)
            is_first = False
        sign = -1 if speed < 0 else 1
        wanted.sort(key=lambda one: sign * one[0])
        assert sorted(made) == sorted(time for _, time in wanted)
        # Of those at one moment (end and start of a loop) any may come first.
        line = [moment for moment, _ in wanted]
        for moment in set(line):
            here = [k for k, one in enumerate(line) if one == moment]
            assert {made[k] for k in here} == {wanted[k][1] for k in here}
        at = after


@settings(max_examples=60)
@given(
    mode=st.sampled_from(["loop", "ping-pong"]),
    times=st.lists(st.floats(0, 0.7), min_size=1, max_size=3, unique=True),
    steps=st.lists(st.floats(1e-6, 2.5), min_size=1, max_size=25),
    backward=st.booleans(),
)
def test_as_often_as_it_went_round(
    mode: Mode, times: list[float], steps: list[float], backward: bool
) -> None:
    """With any numbers: as many as rounds, give or take the one that is under way."""
    state = tiny_player(0.7, times)
    play(state, "walk", mode=mode, speed=-1 if backward else 1)
    passed = [event for dt in steps for event in advance(state, dt)]
    duration = state.motions.durations[0]
    length = duration if mode == "loop" else 2 * duration
    for time in times:
        count = sum(event.name == f"at {time}" for event in passed)
        if mode == "ping-pong" and 0 < time < duration:
            rounds = 2 * sum(steps) / length
        else:
            rounds = sum(steps) / length
        slack = 1.0001 if mode == "loop" else 2.0001
        assert abs(count - rounds) <= slack


def test_start_and_end_of_a_loop() -> None:
    """At its start the start; each time round the end, then the start."""
    state = tiny_player(1.0, [0, 0.5, 1.0])
    play(state, "walk")
    assert times_of(advance(state, 0.25)) == [0]
    assert times_of(advance(state, 0.75)) == [0.5, 1, 0]
    assert times_of(advance(state, 0.25)) == []
    assert times_of(advance(state, 2.75)) == [0.5, 1, 0, 0.5, 1, 0, 0.5, 1, 0]


def test_backward_loop() -> None:
    state = tiny_player(1.0, [0, 0.5, 1.0])
    play(state, "walk", speed=-1)
    assert times_of(advance(state, 0.25)) == [1]
    assert times_of(advance(state, 0.75)) == [0.5, 0, 1]
    assert times_of(advance(state, 0.5)) == [0.5]


def test_hardly_a_step() -> None:
    """So little before the start that it is lost in rounding: not once round."""
    state = tiny_player(1.0, [0, 0.5, 1.0])
    play(state, "walk", start=0.0, speed=-1)
    assert times_of(advance(state, 1e-20)) == [0]
    assert times_of(advance(state, 1e-20)) == []
    assert positions(state)[0] == 0
    assert times_of(advance(state, 0.5)) == [0.5]


def test_once() -> None:
    state = tiny_player(1.0, [0, 0.5, 1.0])
    play(state, "walk", mode="once")
    assert times_of(advance(state, 5.0)) == [0, 0.5, 1]
    assert times_of(advance(state, 5.0)) == []
    play(state, "walk", mode="once", speed=-1)
    assert times_of(advance(state, 5.0)) == [1, 0.5, 0]


def test_the_turn_of_ping_pong_counts_once() -> None:
    state = tiny_player(1.0, [0, 1.0])
    play(state, "walk", mode="ping-pong")
    assert times_of(advance(state, 1.0)) == [0, 1]
    assert times_of(advance(state, 1.0)) == [0]
    assert times_of(advance(state, 0.5)) == []
    assert times_of(advance(state, 4.0)) == [1, 0, 1, 0]


def test_what_an_event_says(rng: Rng) -> None:
    events = {"a": [(0.25, "left"), (0.75, "right")], "b": [(0.25, "hit")]}
    layers = [Layer("legs"), Layer("arms")]
    state = player_of(smooth_scene(rng), 3, *layers, events=events)
    play(state, "a", who=[0, 2])
    play(state, "b", layer="arms", who=2, fade=0.5)
    passed = advance(state, 0.25)
    left = [Event(n, "a", "left", 0.25, "legs", 1.0) for n in (0, 2)]
    assert passed[:2] == left
    assert passed[2:] == [Event(2, "b", "hit", 0.25, "arms", 0.25)]


def test_what_has_faded_out_says_nothing(rng: Rng) -> None:
    """Also not in the step in which it goes: it is gone before the event."""
    state = tiny_player(1.0, [0.5])
    play(state, "walk")
    advance(state, 0.25)
    stop(state, fade=0.125)
    assert advance(state, 0.5) == []
    play(state, "walk")
    advance(state, 0.25)
    stop(state, fade=0.5)
    assert times_of(advance(state, 0.5)) == [0.5]


def test_many_at_once() -> None:
    """More than there was room for."""
    state = tiny_player(0.5, [0.125, 0.25], count=3)
    play(state, "walk")
    passed = advance(state, 100.0)
    assert len(passed) == 3 * 2 * 200
    assert [event.character for event in passed] == sorted([0, 1, 2] * 400)
    assert times_of(passed)[:4] == [0.125, 0.25, 0.125, 0.25]


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "MOST_EVENTS", 1000)
    state = tiny_player(0.5, [0.25], count=3)
    play(state, "walk")
    before = state._voices.copy()
    with pytest.raises(SettingError, match="take smaller steps"):
        advance(state, 1000.0)
    np.testing.assert_array_equal(state._voices, before)
    assert len(advance(state, 100.0)) == 600


@pytest.mark.parametrize(
    ("duration", "speed", "clock", "dt"),
    [
        (1e-3, 1e6, 1.0, 1.0),
        (1e-12, 1.0, 1.0, 1 / 60),
        (1.0, 1e6, 1e6, 0.1),
        (1.0, -1e6, 1e6, 86_400.0),
        (1e-12, 1e6, 1e6, 86_400.0),
        (1e-12, -1e6, 1e6, 86_400.0),
    ],
)
@pytest.mark.parametrize("mode", ["loop", "ping-pong"])
def test_too_fast(
    duration: float, speed: float, clock: float, dt: float, mode: Mode
) -> None:
    """However short the step is, what would never end is refused before it begins."""
    state = tiny_player(duration, [duration / 2])
    play(state, "walk", speed=speed, mode=mode)
    state.speeds[:] = clock
    before = state._voices.copy()
    with pytest.raises(SettingError, match="take smaller steps or lower speeds"):
        advance(state, dt)
    np.testing.assert_array_equal(state._voices, before)
    play(state, "walk", mode="once", speed=speed, start=duration / 4)
    assert len(advance(state, dt)) == (1 if speed > 0 else 0)


def test_rounds_that_cannot_be_counted() -> None:
    """Also without events: they are whole numbers of 64 bits."""
    state = tiny_player(1e-12, [])
    play(state, "walk", speed=1e6)
    state.speeds[:] = 1e6
    with pytest.raises(SettingError, match="would go round a clip more than"):
        advance(state, 86_400.0)
    state.speeds[:] = 1e-6
    advance(state, 1.0)
    assert 0 <= positions(state)[0] <= 1e-12


def test_too_many_of_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted as they are: many events of which a step passes few are no reason."""
    state = tiny_player(1.0, np.linspace(0, 1, 10_000).tolist(), 1000)
    play(state, "walk")
    with pytest.raises(SettingError, match="about 10000000 events"):
        advance(state, 1.0)
    monkeypatch.setattr(player_module, "MOST_EVENTS", 1000)
    state = tiny_player(1.0, [(2 * k + 1) / 512 for k in range(256)], 4)
    for mode, most in (("loop", 0.96875), ("ping-pong", 0.96875), ("once", 0.96875)):
        play(state, "walk", mode=mode, start=0.0)  # type: ignore[arg-type]
        with pytest.raises(SettingError, match="about 1024 events"):
            advance(state, 1.0)
        assert len(advance(state, most)) == 992
        if mode == "once":
            assert len(advance(state, 1000.0)) == 32


def test_too_many_in_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long clip in step with a short one goes as fast as that."""
    monkeypatch.setattr(player_module, "MOST_EVENTS", 1000)
    scene = smooth_scene(np.random.default_rng(0))
    clips = dict(scene.clips)
    track = Track(0, "translation", np.array([0, 1e-3]), np.eye(3)[:2])
    clips["short"] = Clip("short", (track,))
    scene = dataclasses.replace(scene, clips=clips)
    state = player_of(scene, events={"c": [(0.5, "x")]})
    play(state, "short")
    play(state, "c", fade=100.0, sync=True)
    with pytest.raises(SettingError, match="events"):
        advance(state, 10.0)
    stop(state, fade=0.25)
    assert len(advance(state, 10.0)) < 1000  # gone in a quarter of a second


def test_without_events_there_are_none(rng: Rng, monkeypatch: Any) -> None:
    """And nothing is looked for."""
    monkeypatch.setattr(player_module.kernel_events, "find_events", None)
    for events in (None, {}, {"a": []}):
        state = player_of(smooth_scene(rng), events=events)
        play(state, "a")
        assert advance(state, 3.0) == []


def test_bad_events(rng: Rng) -> None:
    motions = player_of(smooth_scene(rng)).motions
    for given_events, text in (
        ({"walk": [(0.1, "x")]}, "no clip 'walk'; there are: 'a', 'b', 'c'"),
        ({"a": [(1.1, "x")]}, "'x' at 1.1 s; the clip is from 0 to 1 s"),
        ({"a": [(-0.1, "x")]}, "at -0.1 s"),
        ({"a": [(np.nan, "x")]}, "at nan s"),
        ({"a": [("x", 0.1)]}, "expected pairs of seconds and name"),
        ({"a": [0.1]}, "expected pairs"),
        ({"a": [(10**400, "x")]}, "expected pairs"),
        ({"a": 0.1}, "expected a list"),
        ([(0.1, "x")], "expected events by clip"),
    ):
        with pytest.raises(SettingError, match=text):
            make_events(motions, given_events)  # type: ignore[arg-type]


def test_the_end_of_a_clip_of_odd_length() -> None:
    """0.7 s is a little more or less than what float32 has for it."""
    for duration in (0.7, 0.1, 0.9, 1.3):
        state = tiny_player(duration, [duration])
        play(state, "walk", mode="once")
        assert len(advance(state, 5.0)) == 1
