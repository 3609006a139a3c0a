from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flexor.output.frames import changed_box, flatten, ticks


def test_the_box_of_what_changed() -> None:
    before = np.zeros((9, 7, 4), np.uint8)
    assert changed_box(None, before) == (0, 0, 7, 9)
    assert changed_box(before, before.copy()) == (0, 0, 1, 1)
    now = before.copy()
    now[3, 2, 1] = 1
    assert changed_box(before, now) == (2, 3, 3, 4)
    now[8, 6, 3] = 1
    assert changed_box(before, now) == (2, 3, 7, 9)
    now[0, 0] = 9
    assert changed_box(before, now) == (0, 0, 7, 9)


@given(st.integers(0, 255), st.integers(0, 255))
def test_over_white(level: int, alpha: int) -> None:
    pixels = np.full((2, 2, 4), (level, 0, 255, alpha), np.uint8)
    flat = flatten(pixels)
    assert (flat[..., 3] == 255).all()
    exact = [(n * alpha + 255 * (255 - alpha)) / 255 for n in (level, 0, 255)]
    assert np.abs(flat[0, 0, :3] - np.array(exact)).max() <= 0.5
    assert (flat is pixels) == (alpha == 255)


def test_one_clear_pixel_is_enough() -> None:
    pixels = np.full((3, 3, 4), 200, np.uint8)
    pixels[..., 3] = 255
    pixels[2, 1, 3] = 0
    assert (flatten(pixels)[2, 1] == 255).all()


@given(st.floats(0.01, 1000), st.integers(1, 2000))
def test_times_do_not_drift(fps: float, count: int) -> None:
    shown = [ticks(i, fps, 1000) for i in range(count)]
    assert abs(sum(shown) - 1000 * count / fps) <= 0.5 + 1e-6
    assert max(shown) - min(shown) <= 1
