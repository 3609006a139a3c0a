"""Ticks, sizes and rates, by clocks that are made up."""

from __future__ import annotations

from itertools import pairwise

import pytest

from flexor.games.pace import MOST_TICKS, SCALES, FrameRate, Ladder, Ticker

TICK = 1 / 60


def test_one_tick_for_each_sixtieth_of_a_second() -> None:
    ticker = Ticker()
    assert ticker.wait(5.0) == 0
    assert [ticker.due(5.0 + n * TICK) for n in range(100)] == [1] * 100
    assert ticker.due(5.0 + 99.5 * TICK) == 0
    assert ticker.wait(5.0 + 99.5 * TICK) == pytest.approx(0.5 * TICK)


def test_frames_that_are_late_play_more_ticks() -> None:
    ticker = Ticker()
    times = [0.0, 0.05, 0.06, 0.1, 0.101, 0.2]
    assert sum(ticker.due(time) for time in times) == 13  # as many as began by 0.2 s
    assert ticker.due(0.2) == 0


def test_it_is_never_far_behind() -> None:
    ticker = Ticker()
    ticker.due(0.0)
    assert ticker.due(30.0) == MOST_TICKS
    assert ticker.due(30.0) == 0
    assert ticker.due(30.0 + TICK) == 1


def draw(ladder: Ladder, seconds: float, frames: int, rest: float = 0.001) -> list[int]:
    """Frames of pictures that take `seconds` at the window's size, less if smaller."""
    levels = []
    for _ in range(frames):
        wide, high = ladder.size
        share = wide * high / (ladder.window[0] * ladder.window[1])
        ladder.add(seconds * share, rest)
        levels.append(ladder.level)
    return levels


def test_sizes_fall_and_keep_the_shape() -> None:
    ladder = Ladder((1280, 720))
    sizes = []
    for ladder.level in range(len(SCALES)):
        sizes.append(ladder.size)
        assert ladder.size[0] / ladder.size[1] == pytest.approx(16 / 9, rel=0.02)
    assert sizes[0] == (1280, 720)
    assert sizes[-1] == (320, 180)
    assert sizes == sorted(sizes, reverse=True)
    assert Ladder((1, 1)).size == (96, 54)


def test_quick_pictures_stay_large() -> None:
    assert set(draw(Ladder((1280, 720)), 0.014, 600)) == {0}


def test_slow_pictures_become_smaller_and_large_again() -> None:
    ladder = Ladder((1280, 720))
    levels = draw(ladder, 0.050, 300)
    assert levels[13] == 0  # not for a few frames
    slow = levels[-1]
    assert slow > 2
    assert levels == sorted(levels)  # and not up and down
    wide, high = ladder.size
    assert 0.050 * wide * high / (1280 * 720) + 0.001 < TICK
    levels = draw(ladder, 0.005, 3000)
    assert levels[100] == slow  # up again takes longer than down
    assert levels[-1] == 0


def test_one_slow_picture_changes_nothing() -> None:
    ladder = Ladder((640, 360))
    for frame in range(200):
        assert not ladder.add(5.0 if frame % 15 == 3 else 0.004, 0.001)


def test_what_does_not_go_with_the_pixels_is_seen() -> None:
    ladder = Ladder((1280, 720))
    for _ in range(600):
        ladder.add(0.030, 0.001)  # however small
    assert ladder.is_lowest


def test_up_where_it_was_too_much_is_tried_ever_less() -> None:
    ladder = Ladder((1280, 720))
    changes = []
    for frame in range(12000):
        # The next size up looks quick enough but is not.
        was = ladder.level
        if ladder.add(0.004 if ladder.level > 3 else 0.020, 0.001):
            changes.append((frame, ladder.level - was))
    ups = [frame for frame, step in changes if step < 0]
    gaps = [later - one for one, later in pairwise(ups)]
    assert gaps == sorted(gaps)
    assert gaps[-1] > 1500


def test_another_window_starts_anew() -> None:
    ladder = Ladder((1280, 720))
    draw(ladder, 0.050, 60)
    level = ladder.level
    ladder.fit((640, 480))
    assert (ladder.level, ladder.window) == (level, (640, 480))
    draw(ladder, 0.004, 3000)
    assert ladder.size == (640, 480)


def test_frame_rate() -> None:
    rate = FrameRate()
    rate.add(10.0)
    assert rate.shown == 0
    for frame in range(1, 200):
        rate.add(10.0 + frame / 48)
    assert rate.shown == pytest.approx(48)
