"""Painted backdrops, and those of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.draw.items.backdrop import (
    FINE,
    HIGH,
    LOW,
    WIDE,
    paint_backdrop,
    read_backdrop,
)
from flexor.errors import AssetError
from flexor.maths.colour import linear_from_srgb

SKY = (150, 178, 205)


@pytest.mark.parametrize("name", ["hills", "city"])
def test_a_painted_backdrop_closes_and_ends_in_haze(name: Any) -> None:
    backdrop = paint_backdrop(name, SKY)
    picture = backdrop.picture
    assert picture.pixels.shape == (round((HIGH - LOW) * FINE), WIDE, 4)
    pixels = picture.pixels[..., :3].astype(int)
    haze = linear_from_srgb(pixels[-1]).mean(0)
    np.testing.assert_allclose(haze, backdrop.haze, atol=0.005)
    tangents = HIGH - (np.arange(len(pixels)) + 0.5) / FINE
    below = pixels[tangents < 0]
    assert (below == below[0, 0]).all(), "haze alone below the horizon"
    assert (pixels[0] == pixels[0, 0]).all(), "one colour where columns meet"
    # From the last column to the first is as from any to the next.
    steps = np.abs(np.diff(pixels, axis=1, append=pixels[:, :1])).mean((0, 2))
    assert steps[-1] < 2 * np.quantile(steps, 0.99)
    # A skyline stands out from the sky over it, all around.
    rows = slice(int((HIGH - 0.3) * FINE), int(HIGH * FINE))
    assert (np.ptp(pixels[rows], axis=0).max(-1) > 40).all()
    assert paint_backdrop(name, SKY) is backdrop


def test_the_sky_has_the_colour_that_is_asked_for() -> None:
    blue, red = (paint_backdrop("hills", sky) for sky in (SKY, (210, 120, 90)))
    assert blue.haze[2] > blue.haze[0]
    assert red.haze[0] > red.haze[2]
    top = red.picture.pixels[0, 0].astype(int)
    assert top[0] > top[2]


def test_a_picture_is_read(tmp_path: Path) -> None:
    from PIL import Image

    pixels = np.zeros((100, 300, 3), np.uint8)
    pixels[:50], pixels[50:] = (0, 0, 200), (0, 150, 0)
    Image.fromarray(pixels).save(tmp_path / "far.png")
    backdrop = read_backdrop(tmp_path / "far.png")
    picture = backdrop.picture
    assert picture.pixels.shape == (85, 256, 4)
    assert picture.high == -picture.low == pytest.approx(85 * np.pi / 256)
    assert tuple(picture.pixels[0, 0]) == (0, 0, 200, 255)
    assert tuple(picture.pixels[-1, 0]) == (0, 150, 0, 255)
    assert backdrop.land is None
    assert read_backdrop(tmp_path / "far.png") is backdrop


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    from PIL import Image

    with pytest.raises(AssetError, match="is not a plain file"):
        read_backdrop(tmp_path / "none.png")
    with pytest.raises(AssetError, match="is not a plain file"):
        read_backdrop(tmp_path)
    bad = tmp_path / "bad.png"
    for data in (b"", b"\x89PNG\r\n\x1a\n", b"GIF89a" + bytes(40), bytes(100)):
        bad.write_bytes(data)
        with pytest.raises(AssetError, match=r"bad\.png"):
            read_backdrop(bad)
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(bad)
    whole = bad.read_bytes()
    bad.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AssetError, match="cannot be read"):
        read_backdrop(bad)
