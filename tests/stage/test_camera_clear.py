"""The camera keeps clear of structures, sees past them, frames all, and is smooth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.camera_rule import CameraRule
from flexor.scene.stage.structure import Structure
from flexor.stage.blocks import clear_eye, make_blocks
from flexor.stage.camera import CameraState, init_camera, step_camera
from flexor.stage.kernels import camera as kernel_camera
from flexor.stage.layout import Blocks, Shot
from tests.oracle import camera as oracle
from tests.stage.test_camera import DT, go, is_seen, put, spans_of

Rng = np.random.Generator
NEAR = 1.2  # metres that the eye stays clear of structures
RING = tuple(
    Structure(
        name=f"pillar {k}",
        middle=(4.4 * math.sin(turn), 4.4 * math.cos(turn)),
        radius=0.35,
        high=3.2,
    )
    for k, turn in enumerate(np.arange(6) * math.pi / 3)
)
HUT = Structure(
    name="hut", corners=((5, -2), (8, -2), (8, 1), (6, 1), (6, 0), (5, 0)), high=4
)
WALL = Structure(name="wall", ends=((-7, -4.5), (7, -4.5)), thickness=0.4, high=1.4)


def level(spots: Any) -> Any:
    return np.zeros(len(spots))


def gaps(structures: Any, eye: Any) -> float:
    """Metres from an eye to the nearest structure that it is not over."""
    blocks = make_blocks(structures, level)
    rows = np.flatnonzero(blocks.heights[:, 1] + NEAR > eye[1])
    return min(
        (oracle.gap(blocks, int(row), np.array(eye)[[0, 2]])[0] for row in rows),
        default=math.inf,
    )


def film(
    rule: CameraRule, structures: Any, paths: Any, opponents: Any = None
) -> tuple[list[Any], list[bool]]:
    """Eyes, and whether all were seen, while some go paths (T, N, 3)."""
    state = init_camera(rule, 0, make_blocks(structures, level))
    go(state, paths[0], opponents=opponents, at_once=True)
    eyes, seen = [state.eye.copy()], [is_seen(state, paths[0])]
    for places in paths[1:]:
        go(state, places, opponents=opponents)
        eyes.append(state.eye.copy())
        seen.append(is_seen(state, places))
    return eyes, seen


def two_who_turn(seconds: float, pace: float, middle: Any = (0, 0)) -> Any:
    """Two who go around each other, 1.2 m apart: (T, 2, 3)."""
    turn = np.arange(0, seconds, DT) * pace
    line = np.stack([np.sin(turn), 0 * turn, np.cos(turn)], 1) * 0.6
    place = np.array([middle[0], 0, middle[1]])
    return np.stack([place + line, place - line], 1)


def two_who_roam(rng: Rng, seconds: float) -> Any:
    """Two who circle each other and wander about, as fast as walking allows."""
    ticks = round(seconds / DT)
    knots = rng.uniform(-2.5, 2.5, (ticks // 120 + 2, 2))
    at = np.arange(ticks) / 120
    middle = np.stack([np.interp(at, np.arange(len(knots)), k) for k in knots.T], 1)
    paces = np.repeat(rng.uniform(-1.2, 1.2, ticks // 90 + 1), 90)[:ticks]
    turn = np.cumsum(paces) * DT
    line = 0.6 * np.stack([np.sin(turn), np.cos(turn)], 1)
    paths = np.zeros((ticks, 2, 3))
    paths[:, 0, [0, 2]], paths[:, 1, [0, 2]] = middle + line, middle - line
    return paths


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_the_eye_is_clear_and_smooth_among_pillars(rng: Rng, rule: Any) -> None:
    """Six tall pillars around a fight that roams: the eye is never near one, or in it,
    and its acceleration is bounded (but for the ticks in which a pillar stops it).
    """
    own = CameraRule(rule=rule, distance=4.6 if rule == "side" else 3.4)
    structures = (*RING, HUT, WALL)
    eyes, seen = film(own, structures, two_who_roam(rng, 20.0))
    near = [gaps(structures, eye) for eye in eyes[::3]]
    assert min(near) > NEAR
    pulls = np.linalg.norm(np.diff(eyes, 2, axis=0), axis=1) / DT**2
    assert np.quantile(pulls, 0.995) <= kernel_camera.PULL * 1.001
    assert np.linalg.norm(np.diff(eyes, axis=0), axis=1).max() < 0.2, "no jump"
    assert np.mean(seen) > 0.85, "whole bodies, however narrow it is"


def test_no_fighter_stays_behind_a_pillar() -> None:
    """The eye looks past it from the side, by as little as will do."""
    pillar = replace(RING[0], middle=(0, 3.0))
    paths = np.repeat(two_who_turn(DT, 0.0, (0, 0))[:, :, [2, 1, 0]], 300, 0)
    (*_, eye), seen = film(CameraRule(), (pillar,), paths)
    blocks = make_blocks((pillar,), level)
    spots = paths[0][:, [0, 2]]
    assert oracle.how_clear(blocks, eye[[0, 2]], eye[1], spots) == 2
    assert seen[-1]
    aside = math.degrees(math.atan2(abs(eye[0]), eye[2]))
    assert 8 < aside < 40
    # From where nothing stands, it looks as its rule says.
    (*_, free), _ = film(CameraRule(), (), paths)
    assert abs(free[0]) < 1e-6


def test_it_rises_over_low_walls() -> None:
    """And does not stand before them, or come into them."""
    paths = two_who_turn(8.0, 0.4, (0, -3))
    eyes, _ = film(CameraRule(), (WALL,), paths)
    high = np.array(eyes)[:, 1]
    assert high.max() > 1.4 + NEAR
    assert high.min() < 2.2
    assert min(gaps((WALL,), eye) for eye in eyes[::3]) > NEAR
    assert np.abs(np.diff(high)).max() < 0.06


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_three_and_more_are_in_the_picture(rng: Rng, rule: Any) -> None:
    for _ in range(100):
        count = int(rng.integers(3, 7))
        places = rng.uniform(-2.5, 2.5, (count, 3)) * (1, 0.1, 1)
        opponents = [1, 0, *[0] * (count - 2)]
        state = put(CameraRule(rule=rule), places, opponents=opponents)
        assert is_seen(state, places)
        pair = put(CameraRule(rule=rule, frame="pair"), places, opponents=opponents)
        assert (
            np.linalg.norm(pair.eye - pair.target)
            <= (np.linalg.norm(state.eye - state.target) + 1e-9)
            or rule == "behind"
        )
    far = [[0, 0, 0], [1, 0, 0], [40, 0, 0]]
    state = put(CameraRule(rule=rule), far, opponents=[1, 0, 0])
    assert math.dist(state.eye, (0, 0, 0)) < 8, "who is far away is not waited for"


def test_who_stands_before_the_two_hides_neither() -> None:
    """The eye looks over a third one's head; not over one beside them, or behind."""

    def height(x: float, z: float) -> float:
        places = [[-0.6, 0, 0], [0.6, 0, 0], [x, 0, z]]
        start = put(CameraRule(rule="side"), places[:2], opponents=[1, 0])
        side = math.copysign(1, start.eye[2])
        places[2][2] *= side
        state = put(CameraRule(rule="side"), places, opponents=[1, 0, 0])
        assert is_seen(state, places)
        return float(state.eye[1])

    plain = height(0.0, -1.5)
    over = [height(-0.5, z) for z in (1.0, 1.5, 2.0)]
    assert min(over) > plain + 0.5
    eye_line = over[1] - 0.95
    assert eye_line > 0.95, "one looks down on them"
    assert height(2.5, 1.5) == pytest.approx(plain, abs=0.2)
    # Without jumps as it walks by.
    walk = [height(x, 1.2) for x in np.linspace(-2, 2, 81)]
    assert np.abs(np.diff(walk)).max() < 0.5


def test_who_breathes_before_the_two_lifts_no_eye_over_a_pillar() -> None:
    """What it rises over is told by its rule, not by heads that lift it a little more
    and a little less, or it would bob up and down for ever.
    """
    pillar = Structure(name="pillar", middle=(0.3, 4.3), radius=0.3, high=3.0)
    blocks = make_blocks((pillar,), level)
    places = np.array([[-0.35, 0.0, 0.0], [0.35, 0.0, 0.0], [0.0, 0.0, 1.0]])
    risen = []
    for stretch in np.linspace(-0.8, 0.4, 25):  # from lower than the two to over them
        state = init_camera(CameraRule(height=1.8, distance=5), 0, blocks)
        state.eye[:] = 0.0, 1.8, 5.0
        boxes = spans_of(places)
        boxes[2, 4] += stretch
        go(state, places, opponents=[1, 0, 0], spans=boxes, at_once=True)
        eye = state.eye[[0, 2]]
        assert oracle.gap(blocks, 0, eye)[0] > NEAR, "it goes around it, however high"
        risen.append(float(state.eye[1]))
    threshold = pillar.high + 1.38 - 1.6
    assert risen[0] < threshold < risen[-1]
    assert np.abs(np.diff(risen)).max() < 0.5, "no step where that is crossed"


def test_behind_it_goes_around_two_who_change_sides() -> None:
    """As in a throw: not over their heads, nor through them."""
    ticks = np.arange(240)
    over = np.clip((ticks - 60) / 40.0, 0, 1)
    paths = np.zeros((240, 2, 3))
    paths[:, 1, 2] = 1.0 - 2.0 * over
    eyes, seen = film(CameraRule(rule="behind", distance=3.4, height=2.1), (), paths)
    away = np.linalg.norm(np.array(eyes)[:, None, [0, 2]] - paths[:, :, [0, 2]], axis=2)
    assert away.min() > 1.2
    assert eyes[0][2] < -2 < 2 < eyes[-1][2]
    assert np.mean(seen) > 0.75


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_who_lies_and_who_is_thrown_is_in_the_picture(rng: Rng, rule: Any) -> None:
    """Bodies count as they are, not as if they stood where they fight."""
    places = np.array([[-0.5, 0, 0], [0.5, 0, 0]])
    for _ in range(60):
        boxes = spans_of(places)
        way = rng.uniform(0, 2 * math.pi)
        tip = places[1, [0, 2]] + 1.7 * np.array([math.sin(way), math.cos(way)])
        if rng.random() < 0.5:  # thrown over the other's head
            boxes[1, 4] = 2.5
        boxes[1, [0, 2]] = np.minimum(boxes[1, [0, 2]], tip)
        boxes[1, [3, 5]] = np.maximum(boxes[1, [3, 5]], tip)
        state = init_camera(CameraRule(rule=rule), 0)
        for tick in range(120):
            go(state, places, spans=boxes, at_once=tick == 0)
        corners = np.array(
            [
                (x, y, z)
                for x in boxes[1, ::3]
                for y in boxes[1, 1::3]
                for z in boxes[1, 2::3]
            ]
        )
        assert is_seen_all(state, corners)


def is_seen_all(state: CameraState, points: Any) -> bool:
    from flexor.stage.camera import camera_of

    x, y, away = camera_of(state).project(points, (640, 480)).T
    inside = (x >= 0) & (x <= 640) & (y >= 0) & (y <= 480) & (away > 0)
    return bool(inside.all())


def test_every_step_is_that_of_the_twin(rng: Rng) -> None:
    """Pillars, a hut that is not convex, a wall that it rises over; one to four."""
    moved = turned = risen = 0
    for case in range(20):
        count = int(rng.integers(1, 5))
        structures = (*RING, HUT, WALL) if case % 3 and case < 5 else ()
        rule = CameraRule(
            rule=("side", "behind")[case % 2],
            frame="all" if rng.random() < 0.7 else "pair",
            distance=float(rng.uniform(3, 7)),
            ease=float(rng.choice([0.0, 0.1, 0.25, 0.5])),
        )
        blocks = make_blocks(structures, level)
        state = init_camera(rule, 0, blocks)
        places = rng.uniform(-3, 3, (count, 3)) * (1, 0.1, 1)
        if case % 4 == 2 and count > 2:  # one stands before the two
            places[:3] = [[-0.6, 0, 0], [0.6, 0, 0], [-0.5, 0, 1.3]]
        headings = rng.uniform(-3, 3, count)
        opponents = np.array([1, 0, 0, 1][:count] if count > 1 else [-1], np.int32)
        step = rng.normal(size=(count, 3)) * (0.03, 0, 0.03) * (1 + 3 * (case % 4 == 1))
        for tick in range(8):
            places = places + step
            boxes = spans_of(places) + rng.normal(size=(count, 6)) * 0.1
            own = oracle.Eye(
                state.eye.copy(),
                state.target.copy(),
                state.aim.copy(),
                state.look.copy(),
                state.speeds[0].copy(),
                state.speeds[1].copy(),
                state.swing.copy(),
            )
            shot = state.shot
            if shot is not None and (count > 1 or rule.rule == "side"):
                words = rule.rule, 0, blocks, places, headings, opponents, boxes
                oracle.step(own, DT, shot, *words[1:])
            step_camera(state, DT, places, headings, opponents, boxes, at_once=not tick)
            if shot is None or (count == 1 and rule.rule == "behind"):
                continue  # who is alone is followed by a rule of its own
            np.testing.assert_allclose(state.eye, own.eye, atol=1e-9)
            np.testing.assert_allclose(state.target, own.target, atol=1e-9)
            np.testing.assert_allclose(state.aim, own.view, atol=1e-9)
            np.testing.assert_allclose(state.look, own.look, atol=1e-9)
            turned += abs(state.look @ state.aim) < 1 - 1e-6
            risen += state.eye[1] > np.max(places[:, 1]) + rule.height + 0.1
            np.testing.assert_allclose(state.speeds[0], own.speed, atol=1e-7)
            np.testing.assert_allclose(state.swing, own.swing, atol=1e-9)
            moved += state.swing[0] != 0
    assert min(moved, turned, risen) > 5


def test_ways_around_structures_are_those_of_the_twin(rng: Rng) -> None:
    """An eye on its way to the other side of something; over or under it, too."""
    arch = Structure(name="arch", middle=(0, 0), radius=1.0, low=4.2, high=6.0)
    around = under = 0
    for case in range(60):
        own = replace(RING[0], middle=(0, 0), high=1.2 if case % 3 == 2 else 4.0)
        blocks = make_blocks((arch if case % 3 == 1 else own,), level)
        state = init_camera(CameraRule(rule="side", ease=0.25), 0, blocks)
        turn = rng.uniform(0, 2 * math.pi)
        way = np.array([math.sin(turn), 0, math.cos(turn)])
        places = np.array([-8 * way + (0.6, 0, 0), -8 * way - (0.6, 0, 0)])
        headings, opponents = np.zeros(2), np.array([1, 0], np.int32)
        boxes = spans_of(places)
        step_camera(state, DT, places, headings, opponents, boxes, at_once=True)
        aside = rng.uniform(-0.4, 0.4)
        state.eye[:] = 2.1 * way + aside * way[[2, 1, 0]] * (1, 0, -1) + (0, 1.9, 0)
        state.speeds[0] = -6.0 * way
        assert state.shot is not None
        twin = oracle.Eye(
            state.eye.copy(),
            state.target.copy(),
            state.aim.copy(),
            state.look.copy(),
            state.speeds[0].copy(),
            state.speeds[1].copy(),
            state.swing.copy(),
        )
        words = 0, blocks, places, headings, opponents, boxes
        oracle.step(twin, DT, state.shot, *words)
        step_camera(state, DT, places, headings, opponents, boxes)
        np.testing.assert_allclose(state.eye, twin.eye, atol=1e-9)
        np.testing.assert_allclose(state.speeds[0], twin.speed, atol=1e-7)
        beside = way[[2, 1, 0]] * (1, 0, -1)
        if case % 3 == 0:
            around += bool((state.speeds[0] @ beside) * aside > 0.01)
        under += case % 3 == 1 and state.speeds[0] @ way < -4
    assert around > 5
    assert under == 20


def test_spans_are_those_of_the_twin(rng: Rng) -> None:
    world = rng.normal(size=(3, 20, 3, 4)).astype(np.float32)
    found = np.full((5, 6), 9.0)
    rows = np.array([4, 0, 2], np.int32)
    kernel_camera.span_bodies(world, rows, found)
    np.testing.assert_array_equal(found[rows], oracle.spans(world))
    assert (found[[1, 3]] == 9).all()


# Any eye, made clear.


def test_any_eye_can_be_made_clear(rng: Rng) -> None:
    structures = (*RING, HUT, WALL)
    blocks = make_blocks(structures, level)
    is_hidden = 0
    for _ in range(60):
        turn, away = rng.uniform(0, 2 * math.pi), rng.uniform(3.0, 8.0)
        eye = away * math.sin(turn), rng.uniform(1, 3), away * math.cos(turn)
        spots = rng.uniform(-1.5, 1.5, (int(rng.integers(1, 3)), 2))
        found = clear_eye(blocks, eye, spots, before=float(rng.uniform(-0.3, 0.3)))
        assert gaps(structures, found) > NEAR
        is_hidden += (
            oracle.how_clear(blocks, np.array(found)[[0, 2]], found[1], spots) < 2
        )
    assert is_hidden < 8
    free = 1.0, 9.0, 2.0  # over all of them
    assert clear_eye(blocks, free, [(0, 0)]) == pytest.approx(free)


def test_clear_eyes_are_those_of_the_twin(rng: Rng) -> None:
    blocks = make_blocks((*RING, HUT, WALL), level)
    for _ in range(12):
        eye = rng.uniform(-8, 8, 3) * (1, 0.2, 1) + (0, 1.5, 0)
        spots = rng.uniform(-2, 2, (2, 2))
        before = float(rng.uniform(-0.5, 0.5))
        wanted = oracle.clear_eye(blocks, spots, before, eye)
        x, y, z = eye.tolist()
        found = clear_eye(blocks, (x, y, z), spots, before=before)
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_eyes_that_are_refused() -> None:
    blocks: Blocks = make_blocks(RING, level)
    for eye, spots, kind, words in (
        ((0, math.nan, 0), [(0, 0)], SettingError, "eye: "),
        ((0, 1, 5), [], ShapeError, "spots: shape"),
        ((0, 1, 5), [(0, 0)] * 3, ShapeError, "spots: shape"),
        ((0, 1, 5), [(0, math.inf)], SettingError, "spots: expected numbers within"),
    ):
        with pytest.raises(kind, match=words):
            clear_eye(blocks, eye, spots)
    with pytest.raises(SettingError, match="frame: 'three', expected one of all, pair"):
        CameraRule(frame="three")  # type: ignore[arg-type]
    assert Shot._fields[:2] == ("is_side", "takes_all")
