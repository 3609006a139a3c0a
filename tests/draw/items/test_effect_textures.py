"""Pictures of effects that are made by code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.drawlist import DrawTexture
from flexor.draw.items.effect_textures import (
    LEAF_TILES,
    SPLASH_TILES,
    leaf_atlas,
    snow_flake,
    splash_atlas,
    tile_corners,
)
from flexor.errors import SettingError


def tiles(atlas: Any, columns: int, rows: int) -> Any:
    """The tiles of an atlas, (T, h, w, 4)."""
    height, width = atlas.shape[0] // rows, atlas.shape[1] // columns
    cut = atlas.reshape(rows, height, columns, width, 4)
    return cut.swapaxes(1, 2).reshape(-1, height, width, 4)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: splash_atlas("water"), (256, 512, 4)),
        (lambda: splash_atlas("sand"), (256, 512, 4)),
        (leaf_atlas, (128, 256, 4)),
        (snow_flake, (32, 32, 4)),
    ],
)
def test_can_be_drawn_as_they_are(make: Any, shape: Any) -> None:
    picture = make()
    assert picture.shape == shape
    assert picture.dtype == np.uint8
    assert not picture.flags.writeable
    assert DrawTexture(picture, "clamp", "clamp").pixels.shape == shape


@pytest.mark.parametrize("stuff", ["water", "sand"])
def test_a_splash_rises_spreads_and_fades(stuff: Any) -> None:
    own = tiles(splash_atlas(stuff), *SPLASH_TILES).astype(np.float64)
    assert len(own) == 32
    alpha = own[..., 3] / 255
    cover = alpha.mean((1, 2))
    most = int(cover.argmax())
    assert 3 < most < 25
    assert cover[0] < 0.2 * cover[most] > cover[-1]
    assert (cover > 0).all()
    assert (np.diff(cover[: most - 3]) > -0.003).all()
    assert (np.diff(cover[most + 3 :]) < 0.003).all()
    # No jumps: a pattern is like the next.
    steps = np.abs(np.diff(alpha, axis=0)).mean((1, 2))
    assert steps.max() < 0.06
    place = (np.arange(64) - 31.5) / 32
    wide = np.sqrt((alpha * place**2).sum((1, 2)) / alpha.sum((1, 2)))
    assert wide[0] < 0.18, "and what shows it is small at first"
    assert wide[24] > 1.3 * wide[3]
    # Quads have no visible edges.
    for edge in (alpha[:, 0], alpha[:, -1], alpha[:, :, 0], alpha[:, :, -1]):
        assert edge.max() == 0


def test_water_and_sand_differ() -> None:
    water, sand = splash_atlas("water"), splash_atlas("sand")
    means = [p[p[..., 3] > 128, :3].mean(0) for p in (water, sand)]
    assert means[0][2] > means[0][0], "bluish"
    assert means[1][0] > means[1][2] + 40, "yellow"


def test_leaves_have_shapes_and_colours_of_their_own() -> None:
    own = tiles(leaf_atlas(), *LEAF_TILES)
    assert len(own) == 8
    covers = []
    for leaf in own:
        alpha = leaf[..., 3]
        covers.append((alpha > 128).mean())
        assert 0.08 < covers[-1] < 0.7
        for edge in (alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]):
            assert edge.max() == 0
        assert ((alpha < 10) | (alpha > 245)).mean() > 0.8, "edges are sharp"
    assert max(covers) > 2 * min(covers)
    colours = np.array([leaf[leaf[..., 3] > 200, :3].mean(0) for leaf in own])
    apart = np.linalg.norm(colours[:, None] - colours[None], axis=-1)
    assert apart[~np.eye(8, dtype=bool)].min() > 12


def test_a_flake_is_a_soft_dot() -> None:
    alpha = snow_flake(33)[..., 3].astype(int)
    assert alpha[16, 16] == alpha.max() > 240
    assert (np.diff(alpha[16, 16:]) <= 0).all()
    assert (alpha == alpha[::-1]).all()
    assert (alpha == alpha.T).all()
    assert max(alpha[0].max(), alpha[:, 0].max()) == 0


def test_corners_of_tiles() -> None:
    corners = tile_corners(*SPLASH_TILES)
    assert corners.shape == (32, 4, 2)
    assert corners.dtype == np.float32
    np.testing.assert_allclose(
        corners[9], [(1 / 8, 2 / 4), (2 / 8, 2 / 4), (2 / 8, 1 / 4), (1 / 8, 1 / 4)]
    )
    inner = tile_corners(2, 1, 0.25)
    np.testing.assert_allclose(
        inner[1], [(0.625, 0.75), (0.875, 0.75), (0.875, 0.25), (0.625, 0.25)]
    )


def test_the_same_again() -> None:
    before = splash_atlas("sand"), leaf_atlas(), snow_flake()
    for make in (splash_atlas, leaf_atlas, snow_flake):
        make.cache_clear()
    after = splash_atlas("sand"), leaf_atlas(), snow_flake()
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_input_that_is_refused() -> None:
    with pytest.raises(SettingError, match="stuff: 'mud', expected one of"):
        splash_atlas("mud")  # type: ignore[arg-type]
    for make in (leaf_atlas, snow_flake, lambda side: splash_atlas("sand", side)):
        for side in (0, 7, 1000, 20.5):
            with pytest.raises(SettingError, match=r"side: .*expected 8 to 512"):
                make(side)
    for columns, rows, text in ((0, 1, "columns: 0"), (1, -1, "rows: -1")):
        with pytest.raises(SettingError, match=text):
            tile_corners(columns, rows)
    with pytest.raises(SettingError, match="margin"):
        tile_corners(1, 1, 0.5)
