"""Names beside joints, and captions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.labels import label_points, text_strip
from flexor.scene.character.camera import Camera

CAMERA = Camera((0, 0, 10), (0, 0, 0), height=2.0)


@pytest.fixture
def picture() -> Any:
    return np.full((200, 300, 4), 128, np.uint8)


def test_text_stands_beside_its_point(picture: Any) -> None:
    assert label_points(picture, CAMERA, [(0, 0.5, 0)], ["elbow"]) == 1
    rows, columns = np.nonzero((picture != 128).any(2))
    assert 150 <= columns.min() < columns.max() < 220
    assert 40 <= rows.min() < rows.max() < 60
    inside = picture[rows.min() : rows.max(), columns.min() : columns.max(), :3]
    assert inside.min() < 60  # dark ink
    assert inside.max() > 200  # in a light halo


def test_the_nearest_comes_first_and_none_overlap(picture: Any) -> None:
    points = [(0, 0, 0), (0, 0.01, 1), (0, 0.8, 0)]
    assert label_points(picture, CAMERA, points, ["far", "near", "apart"]) == 2
    alone = np.full_like(picture, 128)
    label_points(alone, CAMERA, points[1:], ["near", "apart"])
    np.testing.assert_array_equal(picture, alone)


def test_what_is_outside_is_left_out(picture: Any) -> None:
    points = [
        (9, 0, 0),
        (-1.52, 0, 0),
        (0, 1, 0),
        (0, 0, 11),
        (np.nan, 0, 0),
        (1e30, 0, 0),
    ]
    assert label_points(picture, CAMERA, points, ["name"] * 6) == 0
    assert (picture == 128).all()
    assert label_points(picture, CAMERA, np.zeros((0, 3)), []) == 0


def test_odd_names(picture: Any) -> None:
    points = [(-1.4, y, 0) for y in np.linspace(-0.8, 0.8, 5)]
    names = ["", "\n\t", "two\nlines", "Übergröße 手 🦊", "x" * 10_000]
    # Neither nothing nor blanks; a long one is cut, and may still not fit.
    assert label_points(picture, CAMERA, points, names) in (2, 3)


@pytest.mark.parametrize("width", [10, 60, 400])
def test_captions_fit(width: int) -> None:
    strip = text_strip("a caption of some length", width, 18, (255, 255, 255, 255))
    assert strip.shape == (18, width, 4)
    _, columns = np.nonzero(strip[..., 0] < 128)
    if width > 10:
        assert columns.min() + columns.max() == pytest.approx(width, abs=8)
    assert columns.max(initial=0) < width - 1


def test_captions_can_be_read_on_dark() -> None:
    strip = text_strip("dark", 80, 18, (20, 20, 30, 255))
    assert strip[..., :3].max() > 200
    assert tuple(strip[0, 0]) == (20, 20, 30, 255)
    assert text_strip("clear", 80, 18, (0, 0, 0, 0))[..., 3].max() == 255
