from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.arrays import Pixels
from flexor.errors import AssetError, SettingError, ShapeError
from flexor.output.formats.png import encode_png
from flexor.output.image import save_image
from tests.output.moving import moving

NAMES = ("a.png", "a.jpg", "a.jpeg", "a.webp", "A.PNG")


def read(path: Path) -> Pixels:
    from PIL import Image

    with Image.open(path) as picture:
        assert getattr(picture, "n_frames", 1) == 1
        return np.array(picture.convert("RGBA"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(40, 28), (1, 1), (33, 7)])
def test_what_is_written_comes_back(
    tmp_path: Path, name: str, size: tuple[int, int]
) -> None:
    pixels = moving(1, size)[0]
    save_image(tmp_path / name, pixels)
    back = read(tmp_path / name)
    assert back.shape == pixels.shape
    if name.lower().endswith(".png"):
        np.testing.assert_array_equal(back, pixels)
    assert np.abs(back.astype(int) - pixels).mean() < 6
    assert os.listdir(tmp_path) == [name]


def test_alpha(tmp_path: Path) -> None:
    pixels = np.zeros((16, 16, 4), np.uint8)
    pixels[8:] = (200, 100, 50, 255)
    for name in ("a.png", "a.webp"):
        save_image(tmp_path / name, pixels)
        assert (read(tmp_path / name)[..., 3] == pixels[..., 3]).all()
    save_image(tmp_path / "a.jpg", pixels)
    back = read(tmp_path / "a.jpg")
    assert (back[:6] >= 250).all()
    assert np.abs(back[12, 8].astype(int) - pixels[12, 8]).max() < 8


@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 99))
def test_png_is_exact(width: int, height: int, level: int, seed: int) -> None:
    from io import BytesIO

    from PIL import Image

    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)
    with Image.open(BytesIO(encode_png(pixels, level))) as picture:
        assert picture.mode == "RGBA"
        np.testing.assert_array_equal(np.array(picture), pixels)


def test_refusals(tmp_path: Path) -> None:
    pixels = moving(1)[0]
    with pytest.raises(
        SettingError, match=r"unknown ending for a picture.*\.png, \.jp"
    ):
        save_image(tmp_path / "a.tiff", pixels)
    with pytest.raises(AssetError, match=f"there is no folder {tmp_path}/none"):
        save_image(tmp_path / "none" / "a.png", pixels)
    with pytest.raises(ShapeError, match=r"pixels: shape \(4, 4\), expected"):
        save_image(tmp_path / "a.png", np.zeros((4, 4), np.uint8))
    with pytest.raises(ShapeError, match="expected"):
        save_image(tmp_path / "a.png", np.zeros((0, 4, 4), np.uint8))
    with pytest.raises(ShapeError, match="pixels: float32, expected an array of uint8"):
        save_image(tmp_path / "a.png", np.zeros((4, 4, 4), np.float32))
    with pytest.raises(AssetError, match="cannot be written"):
        save_image(tmp_path / "a\0b.png", pixels)
    assert not os.listdir(tmp_path)


def test_a_full_disk_leaves_the_old_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_image(tmp_path / "a.png", moving(1)[0])
    old = (tmp_path / "a.png").read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(AssetError, match="No space left on device"):
        save_image(tmp_path / "a.png", moving(2)[1])
    assert os.listdir(tmp_path) == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == old
