"""Pads: ways to go as the camera sees them, toward an opponent, away or around."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.maths.records import check_record
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.plan import WalkSettings
from flexor.scene.stage.sticks import pad_mask, stick_mask, stick_of
from flexor.stage.movement.layout import CONTROLS, PadRows
from flexor.stage.movement.pads import read_pads, walk_speeds
from tests.oracle import stage as oracle

Rng = np.random.Generator
DT = 1 / 60
SETTINGS = WalkSettings()
USED = ("up", "down", "left", "right", "L", "R", "B")


def pads(
    held: list[str],
    places: Any,
    headings: Any,
    *,
    view: tuple[float, float] = (0.0, -1.0),
    control: str = "opponent",
    opponents: Any = None,
    can_walk: Any = None,
    clocks: Any = None,
    settings: WalkSettings = SETTINGS,
) -> tuple[Any, Any, Any]:
    """Headings, what is asked for, and who circles (kernel `read_pads`)."""
    count = len(held)
    masks = [pad_mask(text) for text in held]
    turned = np.array(headings, np.float64)
    asked, circling = np.full((count, 2), 9.0), np.ones(count, bool)
    rows = PadRows(
        np.array(masks, np.uint32),
        np.ones(count) if clocks is None else np.array(clocks, np.float64),
        np.full(count, CONTROLS.index(control), np.uint8),
        np.array([-1] * count if opponents is None else opponents, np.int32),
        np.ones(count, bool) if can_walk is None else np.array(can_walk, bool),
        np.array(places, np.float64),
        turned,
        asked,
        circling,
    )
    read_pads(check_record(rows), view, DT, walk_speeds(settings))
    return turned, asked, circling


def test_all_is_as_the_twin_says(rng: Rng) -> None:
    for _ in range(300):
        count = int(rng.integers(1, 6))
        held = [
            {name for name in USED if rng.random() < 0.4} & set(BUTTONS)
            for _ in range(count)
        ]
        places = rng.uniform(-2, 2, (count, 3))
        if rng.random() < 0.2:
            places[:] = places[0]
        headings = rng.uniform(-10, 10, count)
        opponents = rng.integers(-1, count, count)
        opponents[opponents == np.arange(count)] = -1
        control = str(rng.choice(["opponent", "free"]))
        can_walk = rng.random(count) < 0.8
        sticks = [""] * count
        if rng.random() < 0.5:
            tilts = np.round(rng.uniform(-1, 1, (count, 2)), 3)
            sticks = [f"stick({right},{up})" for right, up in tilts]
        clocks = rng.uniform(0, 2, count)
        turn = rng.uniform(0, 2 * math.pi)
        view = math.sin(turn), math.cos(turn)
        settings = WalkSettings(turn=float(rng.choice([0.0, 2.0, 10.0, 100.0])))
        new, asked, circling = pads(
            [
                "+".join([*sorted(one), *filter(None, [stick])])
                for one, stick in zip(held, sticks, strict=True)
            ],
            places,
            headings,
            view=view,
            control=control,
            opponents=opponents,
            can_walk=can_walk,
            clocks=clocks,
            settings=settings,
        )
        for n in range(count):
            enemy = int(opponents[n])
            wanted = oracle.read_pad(
                held[n],
                view,
                settings.turn * DT * clocks[n],
                settings,
                control,
                bool(can_walk[n]),
                places[n],
                headings[n],
                None if enemy < 0 else places[enemy],
                stick_of(pad_mask(sticks[n])),
            )
            assert new[n] == pytest.approx(wanted[0], abs=1e-9)
            np.testing.assert_allclose(asked[n], wanted[1], atol=1e-9)
            assert circling[n] == wanted[2]


@pytest.mark.parametrize(
    ("button", "way"),
    [("up", (0, -1)), ("down", (0, 1)), ("left", (-1, 0)), ("right", (1, 0))],
)
def test_directions_are_as_the_camera_sees_them(
    button: str, way: tuple[int, int]
) -> None:
    """The usual camera looks along -z: up goes away from it, right to the right."""
    heading, asked, _ = pads([button], [[0, 0, 0]], [2.5], control="free", clocks=[100])
    seen = math.sin(heading[0]), math.cos(heading[0])
    np.testing.assert_allclose(seen, way, atol=1e-12)
    assert asked.tolist() == [[SETTINGS.walk, 0]]
    # From the other side all of it is turned round.
    heading, _, _ = pads(
        [button], [[0, 0, 0]], [2.5], view=(0, 1), control="free", clocks=[100]
    )
    seen = math.sin(heading[0]), math.cos(heading[0])
    np.testing.assert_allclose(seen, (-way[0], -way[1]), atol=1e-12)


def test_opposite_directions_are_none() -> None:
    for held in ("up+down", "left+right", "up+down+left+right", "B"):
        heading, asked, _ = pads([held], [[0, 0, 0]], [2.5], control="free")
        assert heading[0] == 2.5
        assert not asked.any()


def test_slantwise_is_no_faster_and_run_is() -> None:
    _, asked, _ = pads(["up+left"], [[0, 0, 0]], [-2.4], control="free")
    assert asked[0, 0] == SETTINGS.walk
    _, asked, _ = pads(["up+left+R"], [[0, 0, 0]], [-2.4], control="free")
    assert asked[0, 0] == SETTINGS.run


def test_half_a_stick_walks_at_half_the_speed() -> None:
    """In any way, run or not, and all the way is what a button of a direction does."""
    for held, fast in (("", SETTINGS.walk), ("R+", SETTINGS.run)):
        for turn in np.linspace(0, 2 * math.pi, 9):
            way = math.sin(turn), math.cos(turn)
            view = 0.0, 1.0
            for share in (0.25, 0.5, 1.0):
                x, y = (round(share * part, 6) for part in way)
                text = f"{held}stick({-x},{y})"
                heading, asked, _ = pads(
                    [text], [[0, 0, 0]], [turn], view=view, control="free"
                )
                assert asked[0, 0] == pytest.approx(share * fast, abs=0.008 * fast)
                assert abs(math.sin(heading[0] - turn)) < 0.02
    whole = pads(["stick(1,0)"], [[0, 0, 0]], [-1.5], control="free")
    button = pads(["right"], [[0, 0, 0]], [-1.5], control="free")
    for one, other in zip(whole, button, strict=True):
        np.testing.assert_array_equal(one, other)


def test_half_a_stick_goes_around_at_half_the_speed() -> None:
    places = [[-1, 0, 0], [1, 0, 0]]
    for held, way in (
        ("stick(0,0.5)", (0, -SETTINGS.side)),
        ("stick(0.5,0)", (SETTINGS.walk, 0)),
        ("stick(-0.5,0)", (-SETTINGS.back, 0)),
        ("left+stick(0.5,0)", (SETTINGS.walk, 0)),  # the stick counts
    ):
        _, asked, circling = pads(
            [held, ""], places, [math.pi / 2, -math.pi / 2], opponents=[1, 0]
        )
        np.testing.assert_allclose(asked[0], np.multiply(way, 64 / 127), atol=1e-12)
        assert circling.tolist() == [True, False]
    _, asked, _ = pads(["R+stick(1,1)"], places[:1], [2.356], control="free")
    assert asked[0].tolist() == [SETTINGS.run, 0]  # never faster than all the way
    assert stick_mask(1, 1) == 0x7F7F0000


# Red at -1, blue at +1 on the x axis: the camera beside them looks along -z.
@pytest.mark.parametrize(
    ("held", "red", "blue"),
    [
        ("right", (SETTINGS.walk, 0), (-SETTINGS.back, 0)),
        ("left", (-SETTINGS.back, 0), (SETTINGS.walk, 0)),
        ("up", (0, -SETTINGS.side), (0, SETTINGS.side)),
        ("down", (0, SETTINGS.side), (0, -SETTINGS.side)),
    ],
)
def test_who_faces_its_opponent_goes_toward_away_or_around(
    held: str, red: tuple[float, float], blue: tuple[float, float]
) -> None:
    heading, asked, circling = pads(
        [held, held],
        [[-1, 0, 0], [1, 0, 0]],
        [math.pi / 2, -math.pi / 2],
        opponents=[1, 0],
    )
    np.testing.assert_allclose(heading, [math.pi / 2, -math.pi / 2])
    assert circling.all()
    np.testing.assert_allclose(asked, [red, blue], atol=1e-12)


def test_the_way_nearest_to_the_line_is_taken_or_between() -> None:
    places, headings = [[0, 0, 0], [0.3, 0, -1]], [math.atan2(0.3, -1), 0]
    _, asked, _ = pads(["up", ""], places, headings, opponents=[1, 0])
    assert asked[0, 0] == pytest.approx(SETTINGS.walk)
    assert asked[0, 1] == 0, "nearly toward is toward"
    _, asked, _ = pads(["up+right", ""], places, headings, opponents=[1, 0])
    assert asked[0, 0] > 0
    assert asked[0, 1] > 0


def test_l_lets_who_walks_freely_face_its_opponent() -> None:
    places = [[0, 0, 0], [0, 0, -2]]
    headings, asked, circling = pads(
        ["left", "left+L"], places, [math.pi, 0], control="free", opponents=[1, 0]
    )
    assert circling.tolist() == [False, True]
    assert headings[1] == 0
    assert asked[1].tolist() == [0, pytest.approx(SETTINGS.side)]
    assert math.sin(headings[0]) < 0, "and the other turns to the left"


@given(
    st.floats(-20, 20), st.floats(-math.pi, math.pi), st.floats(0, 50), st.floats(0, 2)
)
def test_turning_is_limited(
    heading: float, way: float, turn: float, clock: float
) -> None:
    enemy = [math.sin(way), 0, math.cos(way)]
    new, asked, circling = pads(
        ["up", ""],
        [[0, 0, 0], enemy],
        [heading, 0],
        opponents=[1, -1],
        clocks=[clock, 1],
        settings=WalkSettings(turn=turn),
    )
    before = abs(oracle.between(heading, way))
    after = abs(oracle.between(new[0], way))
    most = turn * DT * clock
    step = abs(oracle.between(heading, new[0]))
    assert step <= most + 1e-9
    assert after == pytest.approx(max(before - most, 0), abs=1e-9)
    if after > oracle.FACING + 1e-9:
        assert not asked[0].any(), "it turns before it goes"
    if after > 1e-9:
        assert not circling[0], "circling turns it the whole way at once"


def test_who_cannot_walk_asks_for_nothing_and_keeps_its_heading() -> None:
    heading, asked, circling = pads(
        ["up", ""], [[0, 0, 0], [1, 0, 0]], [2, 0], opponents=[1, 0], can_walk=[0, 1]
    )
    assert heading[0] == 2
    assert not asked[0].any()
    assert not circling[0]


def test_who_has_no_pad_is_left_as_it_is() -> None:
    heading, asked, circling = pads(["up"], [[0, 0, 0]], [2], control="none")
    assert heading[0] == 2
    assert asked.tolist() == [[9, 9]]
    assert circling.all()


def test_opponents_on_one_spot_keep_their_headings() -> None:
    heading, asked, circling = pads(
        ["", ""], [[1, 0, 1], [1, 0, 1]], [0.7, -2], opponents=[1, 0]
    )
    assert heading.tolist() == [0.7, -2]
    assert not asked.any()
    assert not circling.any()


def test_nobody() -> None:
    heading, asked, _ = pads([], np.zeros((0, 3)), [])
    assert heading.shape == (0,)
    assert asked.shape == (0, 2)
