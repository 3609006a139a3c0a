"""Words and bars: sharp at any size, evenly spaced, in colours that can be read."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.games.hud import colour_of, draw_bar, draw_text, shade, text_size
from flexor.maths.colour import linear_from_srgb


def paper(wide: int = 400, high: int = 120, level: int = 110) -> np.ndarray:
    return np.full((high, wide, 4), level, np.uint8)


@pytest.mark.parametrize("height", [8, 11, 20, 45, 80])
def test_letters_are_sharp_at_any_size(height: int) -> None:
    picture = paper(60 + 6 * height, 3 * height)
    draw_text(picture, "HELLO", (20, height // 2), height)
    grey = picture[..., 1].astype(int)
    is_ink, is_rim = grey > 235, grey < 40
    assert is_ink.any()
    assert is_rim.any()
    # From ink to rim is a pixel or two at any size: fewer pixels are between the two
    # than lie along the outline.
    between = (grey >= 40) & (grey <= 235) & (grey != 110)
    outline = np.abs(np.diff(is_ink.astype(int), axis=1)).sum()
    outline += np.abs(np.diff(is_ink.astype(int), axis=0)).sum()
    assert between.sum() < 6 * outline
    rows = np.flatnonzero(is_ink.any(1))
    assert rows[-1] - rows[0] == pytest.approx(0.72 * height, abs=2 + 0.06 * height)


def test_texts_are_as_wide_at_any_size() -> None:
    wide = [text_size("ROUND 3 WINS", tall)[0] / tall for tall in (8, 13, 40, 120)]
    assert max(wide) - min(wide) < 0.13
    assert text_size("A B", 40)[0] > text_size("AB", 40)[0] + 8
    assert text_size("", 20)[0] == 1
    assert len({text_size(text, 30)[1] for text in ("a", "Ag", ".")}) == 1


@pytest.mark.parametrize("anchor", ["left", "middle", "right"])
def test_texts_are_where_they_are_asked_to_be(anchor: str) -> None:
    picture = paper()
    draw_text(picture, "HH", (200, 40), 30, anchor=anchor)  # type: ignore[arg-type]
    columns = np.flatnonzero((picture[..., 0] > 235).any(0))
    wide = text_size("HH", 30)[0]
    left = {"left": 200, "middle": 200 - wide // 2, "right": 200 - wide}[anchor]
    assert abs(columns[0] - left) <= 4
    assert abs(columns[-1] - left - wide) <= 5


def test_what_is_beyond_the_picture_is_cut_off() -> None:
    whole, part = paper(), paper()[:40, :90]
    for picture in (whole, part):
        for at in ((-30, -10), (80, 30), (1000, 1000), (-900, 0)):
            draw_text(picture, "FIGHT!", at, 30)
            draw_bar(picture, (*at, 60, 12), 0.5, (200, 40, 40))
    np.testing.assert_array_equal(whole[:40, :90], part)
    draw_bar(part, (0, 0, 0, 5), 1.0, (1, 2, 3))


@pytest.mark.parametrize("from_right", [False, True])
@pytest.mark.parametrize("share", [-1.0, 0.0, 0.3, 1.0, 2.0])
def test_bars_are_as_full_as_they_are_told(share: float, from_right: bool) -> None:
    picture = paper()
    draw_bar(picture, (50, 40, 200, 20), share, (220, 60, 40), from_right=from_right)
    inside = picture[40:60, 50:250].astype(int)
    is_full = (inside[..., 0] - inside[..., 2] > 60).all(0)
    assert is_full.sum() == 200 * min(max(share, 0), 1)
    if 0 < share < 1:
        assert is_full[-1 if from_right else 0]
        assert not is_full[0 if from_right else -1]
    frame = picture[37:63, 47:253]
    assert (picture[:30] == 110).all()
    assert (frame != 110).any()


@pytest.mark.parametrize(
    "own", [(0.5, 0.1, 0.05), (0.1, 0.2, 0.45), (0.0, 0.0, 0.02), (9.0, 3.0, 1.0)]
)
def test_names_have_the_hue_of_who_they_name(own: tuple[float, float, float]) -> None:
    seen = linear_from_srgb(np.array(colour_of(own)))
    assert np.argsort(seen).tolist()[-1] == int(np.argmax(own))
    assert seen @ [0.2126, 0.7152, 0.0722] > 0.16
    assert seen.max() <= 1


def test_black_is_written_in_a_colour_that_can_be_read() -> None:
    assert min(colour_of((0.0, 0.0, 0.0))) > 90


def test_a_rectangle_is_darkened() -> None:
    picture = paper()
    shade(picture, (-5, 10, 20, 10), 0.5)
    assert (picture[10:20, :15, :3] == 55).all()
    assert (picture[:10] == 110).all()
    assert (picture[..., 3] == 110).all()
