"""Uneven ground and the shadows on it: what is uploaded, and what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawItem, DrawList
from flexor.draw.items.ground.build import build_ground, shade_colours, upload_ground
from flexor.draw.items.shadows import build_shadow, upload_cast_shadow
from flexor.draw.target import init_target
from flexor.errors import ShapeError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.stage.ground import flat_ground

WHITE = (Light("ambient", (1.0, 1.0, 1.0)),)
QUADS = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], np.int32)


def squares(height: float = 0.01) -> Any:
    """A shadow of two squares that lie over each other by a third: (1, 8, 3)."""
    corners = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], np.float32)
    points = np.full((1, 8, 3), height, np.float32)
    points[0, :4, [0, 2]] = corners.T
    points[0, 4:, [0, 2]] = (
        corners[::-1] + np.array([0.66, 0])
    ).T  # the other way around
    return points


def seen(*items: DrawItem, backend: Any, samples: int = 1) -> Any:
    """From straight above, 2 m wide around (0.8, 0.5), 100 pixels a metre."""
    camera = Camera((0.8, 4, 0.5), (0.8, 0, 0.5), up=(0, 0, -1), height=2)
    draw_list = DrawList(camera, items, (), WHITE, (0, 0, 255, 255))
    return backend.draw(draw_list, init_target((200, 200), samples)).astype(int)


@pytest.mark.parametrize("samples", [1, 4])
def test_a_shadow_is_as_dark_where_it_lies_twice(samples: int) -> None:
    backend = open_backend("raster")
    assets = upload_ground(backend, flat_ground())
    ground = build_ground(assets)
    number = upload_cast_shadow(backend, QUADS, 8)
    bare = seen(ground, backend=backend, samples=samples)
    tints = np.array([[0.1, 0.1, 0.1, 1]], np.float32)
    for shadow in (
        build_shadow(number, squares()),
        build_shadow(number, squares(), tints=tints),
        build_shadow(number, squares(), colours=shade_colours(assets, squares()[0])),
    ):
        picture = seen(ground, shadow, backend=backend, samples=samples)[..., 1]
        once, twice, other = (picture[60:140, a : a + 24] for a in (32, 91, 150))
        # The ground's own grains are seen through it.
        assert once.mean() == pytest.approx(twice.mean(), abs=6)
        assert once.mean() == pytest.approx(other.mean(), abs=6)
        assert once.mean() < 0.85 * bare[60:140, 32:56, 1].mean()
        assert (picture[:40] == bare[:40, :, 1]).all()


def test_without_tints_half_of_the_ground_is_seen() -> None:
    backend = open_backend("raster")
    ground = build_ground(upload_ground(backend, flat_ground()))
    number = upload_cast_shadow(backend, QUADS, 8)
    bare = seen(ground, backend=backend)[60:140, 40:80]
    for opacity in (0.25, 0.5):
        shadow = build_shadow(number, squares(), opacity=opacity)
        picture = seen(ground, shadow, backend=backend)[60:140, 40:80]
        is_dark = (picture != bare).any(-1)
        assert is_dark.mean() == pytest.approx(opacity, abs=0.01)


def test_tints_are_opaque() -> None:
    tints = np.ones((1, 4), np.float32)
    assert build_shadow(0, squares(), tints=tints).look.opacity == 1  # type: ignore[union-attr]
    assert build_shadow(0, squares()).look.opacity == 0.5  # type: ignore[union-attr]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match="positions"):
        build_shadow(0, squares()[0])
    with pytest.raises(ShapeError, match="tints"):
        build_shadow(0, squares(), tints=np.ones((2, 4), np.float32))
