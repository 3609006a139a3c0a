"""Players that blend clips by a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexor
from flexor.errors import SettingError
from flexor.pose.play.blend_space import make_space
from flexor.pose.play.blends import blend
from flexor.pose.play.kernels import player as at
from flexor.pose.play.kernels.voice import FREE
from flexor.pose.play.player import advance
from flexor.pose.play.voices import play, stop
from tests.oracle.blend_space import SlowBlend
from tests.pose.play.players import parts_of, player_of, smooth_scene

Rng = np.random.Generator
LINE = {"a": 0.0, "b": 1.4, "c": 3.6}
PLANE = {"a": (0, 0), "b": (0, 1), "c": (1, 0.2)}


def check_twin(state: Any, slow: SlowBlend, n: int) -> None:
    moves, turns, sizes = (part[n] for part in parts_of(state))
    (slow_moves, slow_turns, slow_sizes), _ = slow.pose()
    np.testing.assert_allclose(moves, slow_moves, atol=2e-5, rtol=1e-5)
    np.testing.assert_allclose(sizes, slow_sizes, atol=1e-5, rtol=1e-5)
    side = np.where((turns * slow_turns).sum(-1) < 0, -1, 1)[:, None]
    np.testing.assert_allclose(turns * side, slow_turns, atol=2e-5)


def heard(state: Any) -> list[dict[str, float]]:
    """Of each character: weights of its clips."""
    voices = len(state._voices) // len(state._targets)
    found = []
    for first in range(0, len(state._voices), voices):
        weights = {}
        for r in range(first, first + voices):
            clip = state._marks[r, at.CLIP]
            if clip != FREE:
                weights[state.motions.names[clip]] = state._voices[r, at.WEIGHT]
        found.append(weights)
    return found


@pytest.mark.parametrize("points", [LINE, PLANE])
def test_as_the_twin_has_it(points: Any, rng: Rng) -> None:
    """Values that wander, for a crowd, at different clocks and speeds."""
    scene = smooth_scene(rng)
    count, space = 4, make_space(points)
    state = player_of(scene, count)
    slow = [SlowBlend(scene, space) for _ in range(count)]
    wide = space.points.shape[1]
    value = rng.uniform(0, 2, (count, wide))
    speeds = rng.uniform(0.5, 1.5, count)
    state.speeds[:] = [1, 0.5, 2, 1]
    for _ in range(40):
        value += rng.normal(0, 0.3, value.shape)
        given = value[:, 0] if wide == 1 else value
        blend(state, points, given, speed=speeds)
        dt = float(rng.uniform(0, 0.05))
        advance(state, dt)
        for n, twin in enumerate(slow):
            twin.set(given[n])
            twin.advance(dt * state.speeds[n], speeds[n])
            check_twin(state, twin, n)


def test_at_a_point_it_is_that_clip_alone(rng: Rng) -> None:
    scene = smooth_scene(rng)
    for points in (LINE, PLANE):
        state, other = player_of(scene, 3), player_of(scene, 3)
        blend(state, points, list(points.values()))
        for n, name in enumerate(points):
            play(other, name, who=[n])
        for _ in range(30):
            for one in (state, other):
                advance(one, 1 / 60)
            np.testing.assert_array_equal(state.local, other.local)
        assert heard(state) == [{name: 1.0} for name in points]


def test_a_crowd_is_what_each_alone_is(rng: Rng) -> None:
    scene = smooth_scene(rng)
    values = rng.uniform(0, 4, 5)
    crowd = player_of(scene, 5)
    singles = [player_of(scene) for _ in values]
    for frame in range(20):
        now = values + 0.02 * frame
        blend(crowd, LINE, now)
        advance(crowd, 1 / 60)
        for n, one in enumerate(singles):
            blend(one, LINE, now[n])
            advance(one, 1 / 60)
            assert one.local[0].tobytes() == crowd.local[n].tobytes()


def test_nothing_pops_while_the_value_goes() -> None:
    """Joints of the mannequin are never faster than in its fastest clip, by a third."""
    hero = flexor.samples.mannequin()
    points = {"idle": 0.0, "walk": 1.4, "run": 3.6}

    def fastest(step: Any, frames: int) -> float:
        player, places = flexor.Player(hero), []
        for frame in range(frames):
            step(player, frame)
            player.advance(1 / 60)
            places.append(player.world[0, :, :, 3].copy())
        return float(np.linalg.norm(np.diff(places, axis=0), axis=-1).max() * 60)

    run = fastest(lambda player, _: player.play("run"), 60)
    slow = fastest(lambda p, frame: p.blend(points, 4 * frame / 300), 300)
    back = fastest(lambda p, frame: p.blend(points, 4 - 4 * frame / 300), 300)
    assert max(slow, back) < 1.33 * run
    # A value that jumps: at once, or eased.
    jump = fastest(lambda p, f: p.blend(points, 0.0 if f < 30 else 3.6), 90)
    eased = fastest(lambda p, f: p.blend(points, 0.0 if f < 30 else 3.6, ease=0.3), 90)
    assert jump > 2 * run
    assert eased < 1.5 * run


def test_feet_step_as_often_as_the_mean_of_both(rng: Rng) -> None:
    """Clips of 1 and 0.7 s, half each: a round takes the mean of their paces."""
    state = player_of(smooth_scene(rng))
    blend(state, {"a": 0.0, "b": 1.0}, 0.5)
    pace = (1 / 1.0 + 1 / 0.7) / 2
    for _ in range(100):
        advance(state, 0.013)
    voices = state._voices[:, at.POSITION], state._marks[:, at.CLIP]
    names = [state.motions.names[c] for c in voices[1] if c != FREE]
    phases = {
        name: spot / state.motions.durations[state.motions.index(name)]
        for name, spot in zip(names, voices[0], strict=False)
    }
    assert phases["a"] == pytest.approx(phases["b"], abs=1e-6)
    assert phases["a"] == pytest.approx(1.3 * pace % 1, abs=1e-6)


def test_easing_ends_where_the_value_is(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2)
    blend(state, LINE, 0.0)
    advance(state, 0.1)
    blend(state, LINE, [1.4, 0.0], ease=0.2)
    shares = []
    for _ in range(14):
        advance(state, 1 / 60)
        shares.append(heard(state)[0].get("b", 0.0))
    np.testing.assert_allclose(shares[:12], np.arange(1, 13) / 12, atol=1e-9)
    assert shares[12:] == [1.0, 1.0]
    assert heard(state)[1] == {"a": 1.0}


@pytest.mark.parametrize("fade", [0.0, 0.25])
def test_into_a_blend_and_out_of_it(rng: Rng, fade: float) -> None:
    """Nothing jumps at either end, and shares go in a straight line."""
    state = player_of(smooth_scene(rng))
    play(state, "c", mode="ping-pong")
    advance(state, 0.4)
    before = state.local.copy()
    blend(state, LINE, 0.7, fade=fade)
    advance(state, 0.0)
    if fade:
        np.testing.assert_allclose(state.local, before, atol=1e-6)
    advance(state, 0.1)
    share = 0.4 if fade else 1.0
    assert heard(state)[0]["a"] == pytest.approx(share / 2)
    advance(state, 0.2)
    assert heard(state)[0] == pytest.approx({"a": 0.5, "b": 0.5})
    before = state.local.copy()
    play(state, "c", mode="once", fade=0.2)
    advance(state, 0.0)
    np.testing.assert_allclose(state.local, before, atol=1e-6)
    advance(state, 0.3)
    assert heard(state)[0] == {"c": 1.0}


def test_a_loop_that_is_played_gives_the_step(rng: Rng) -> None:
    state = player_of(smooth_scene(rng))
    play(state, "b")
    advance(state, 0.35)  # half of it
    blend(state, LINE, 0.7, fade=0.1)
    advance(state, 0.0)
    blend(state, LINE, 0.0)
    advance(state, 0.2)
    place = state._voices[state._marks[:, at.CLIP] == 0, at.POSITION]
    assert place == pytest.approx(0.5 + 0.2 * (1 + 1 / 0.7) / 2, abs=0.08)
    # And the other way: what is played next keeps step with the blend.
    before = float(place[0])
    play(state, "c", fade=0.2, sync=True)
    spot = state._voices[state._marks[:, at.CLIP] == 2, at.POSITION]
    assert spot == pytest.approx(before * 1.3)


def test_many_clips_get_voices() -> None:
    """More than a layer has at first; what was played goes on."""
    hero = flexor.samples.mannequin()
    points = {name: (n % 3, n // 3) for n, name in enumerate(list(hero.clips)[:9])}
    player, other = flexor.Player(hero, 2), flexor.Player(hero, 2)
    for one in (player, other):
        one.play("walk")
        one.advance(0.3)
    player.blend(points, (1, 1), who=[0])
    for _ in range(5):
        for one in (player, other):
            one.advance(1 / 60)
    np.testing.assert_array_equal(player.local[1], other.local[1])
    assert heard(player.state)[0] == {list(points)[4]: 1.0}
    player.stop(fade=0.1)
    player.advance(0.2)
    assert heard(player.state)[0] == {}


def test_stop_and_two_spaces_in_turn(rng: Rng) -> None:
    state = player_of(smooth_scene(rng))
    for points, value in ((LINE, 0.5), (PLANE, (0.2, 0.3)), (LINE, 2.0)):
        before = state.local.copy()
        blend(state, points, value, fade=0.1)
        advance(state, 0.0)
        if heard(state)[0] and points is not LINE:
            np.testing.assert_allclose(state.local, before, atol=1e-6)
        advance(state, 0.2)
        assert sum(heard(state)[0].values()) == pytest.approx(1)
    stop(state, fade=0.1)
    advance(state, 0.05)
    assert sum(heard(state)[0].values()) == pytest.approx(0.5)
    advance(state, 0.1)
    assert heard(state) == [{}]


def test_events_of_clips_that_are_not_heard_are_not_passed() -> None:
    hero = flexor.samples.mannequin()
    events = {name: [(0.3, name)] for name in ("idle", "walk", "run")}
    player = flexor.Player(hero, events=events)
    player.blend({"idle": 0.0, "walk": 1.4, "run": 3.6}, 2.5)
    passed = [event for _ in range(60) for event in player.advance(1 / 60)]
    assert {event.name for event in passed} == {"walk", "run"}
    assert {event.weight for event in passed} == {0.5}


def test_root_motion_is_mixed() -> None:
    from flexor.pose.clips.root_motion import steady_motion

    hero = flexor.samples.mannequin()
    ways = {
        name: steady_motion(hero.clips[name].duration, (0, 0, speed))
        for name, speed in (("walk", 1.4), ("run", 3.6))
    }
    player = flexor.Player(hero, root_motion=ways)
    player.blend({"walk": 1.4, "run": 3.6}, 1.4)
    player.advance(0.5)
    assert player.places[0, 2, 3] == pytest.approx(0.7)


def test_refusals(rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2)
    for points, value, more, text in (
        ({"trot": 1.0}, 1.0, {}, "trot"),
        (LINE, [1, 2, 3], {}, "value: .* expected a number"),
        (LINE, 1.0, {"fade": -1}, "fade"),
        (LINE, 1.0, {"ease": np.nan}, "ease"),
        (LINE, 1.0, {"layer": "top"}, "no layer 'top'"),
        (LINE, 1.0, {"who": [2]}, "who"),
        (None, 1.0, {}, "points: None, expected clips"),
    ):
        with pytest.raises(SettingError, match=text):
            blend(state, points, value, **more)  # type: ignore[arg-type]
    assert heard(state) == [{}, {}]
