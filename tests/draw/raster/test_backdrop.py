"""What is behind everything: where cameras look, and what covers it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawBackdrop, DrawItem, DrawList, DrawMesh, Look
from flexor.draw.target import init_target
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera
from tests.oracle.raster.backdrop import look_far

BACKEND: Any = open_backend("raster")
SIZE = (120, 90)


def soft(wide: int = 256, high: int = 64, seed: int = 1) -> DrawBackdrop:
    """Colours that change little from pixel to pixel, around the seam too."""
    rng = np.random.default_rng(seed)
    x = np.arange(wide) * (2 * np.pi / wide)
    y = np.arange(high)[:, None] / high
    pixels = np.full((high, wide, 4), 255, np.uint8)
    for k in range(3):
        a, b, c = rng.uniform(0, 6, 3)
        value = np.sin(3 * x + a) + np.sin(5 * x + b + 4 * y) + np.sin(7 * y + c)
        # Even where all columns meet, as backdrops should be.
        fade = np.clip(6 * np.minimum(y, 1 - y), 0, 1)
        pixels[..., k] = 128 + 40 * value * fade
    return DrawBackdrop(pixels, -0.8, 1.2)


def shot(
    backdrop: DrawBackdrop, camera: Camera, items: Any = (), samples: int = 1
) -> Any:
    target = init_target(SIZE, samples)
    BACKEND.draw(DrawList(camera, items, backdrop=backdrop), target)
    return target.colour.astype(int)


def toward(heading: float, pitch: float = 0.0, fov: float = 0.8) -> Camera:
    """From a place that does not matter; heading 0 looks along -z, clockwise."""
    flat = math.cos(pitch)
    way = math.sin(heading) * flat, math.sin(pitch), -math.cos(heading) * flat
    eye = (3.0, 2.0, -5.0)
    return Camera(eye, (eye[0] + way[0], eye[1] + way[1], eye[2] + way[2]), fov=fov)


@pytest.mark.parametrize(
    "camera",
    [
        toward(0.0),
        toward(math.pi - 0.1),  # across the seam
        toward(1.0, 0.5),
        toward(-2.0, -1.2, 1.6),
        toward(0.3, 0.9, 2.4),
        replace(toward(2.0, 0.2), up=(0.5, 1.0, 0.2)),
        replace(toward(2.0, 0.2), height=3.0),
    ],
)
def test_it_is_seen_where_the_oracle_sees_it(camera: Camera) -> None:
    backdrop = soft()
    seen = shot(backdrop, camera)
    wanted = look_far(backdrop, camera, SIZE)
    assert np.abs(seen[..., :3] - wanted).max() < 3
    assert (seen[..., 3] == 255).all()


def test_straight_up_all_columns_meet() -> None:
    pixels = soft().pixels.copy()
    pixels[0] = (10, 20, 30, 255)
    seen = shot(DrawBackdrop(pixels, -0.8, 1.2), toward(0.4, 1.5))
    assert (seen == (10, 20, 30, 255)).all()


def test_one_turn_comes_back() -> None:
    backdrop = soft()
    first = shot(backdrop, toward(0.7, 0.1))
    again = shot(backdrop, toward(0.7 + 2 * math.pi, 0.1))
    assert np.abs(first - again).max() <= 1
    assert np.abs(first - shot(backdrop, toward(0.9, 0.1))).max() > 5


def test_a_turn_by_a_pixel_scrolls_by_a_pixel() -> None:
    backdrop, fov = soft(), 0.3
    scale = toward(0, fov=fov).scale(SIZE)
    still = shot(backdrop, toward(0.5, fov=fov))
    turned = shot(backdrop, toward(0.5 + math.atan(8 / scale), fov=fov))
    middle = slice(50, 70)
    moved = still[:, 58:78, :3]
    assert np.abs(turned[:, middle, :3] - moved).mean() < 0.6
    assert np.abs(turned[:, middle, :3] - still[:, middle, :3]).mean() > 2


def test_the_horizon_is_level_and_where_ground_ends() -> None:
    pixels = np.full((64, 256, 4), 255, np.uint8)
    pixels[:32] = (90, 120, 200, 255)
    pixels[32:] = (60, 80, 40, 255)
    backdrop = DrawBackdrop(pixels, -0.5, 0.5)
    for heading in (0.0, 1.3, 3.1, 4.7):
        for pitch in (0.0, 0.2, -0.2):
            camera = toward(heading, pitch)
            is_sky = shot(backdrop, camera)[..., 2] > 120
            rows = is_sky.sum(0)
            eye = np.array(camera.eye)
            far = eye + 1e6 * np.array([math.sin(heading), 0, -math.cos(heading)])
            row = camera.project(far, SIZE)[1]
            assert np.abs(rows - row).max() <= 1.0
            assert (np.diff(is_sky.astype(int), axis=0) <= 0).all()


def quad(z: float, half: float) -> DrawItem:
    mesh = BACKEND.upload(DrawMesh(4, np.array([[0, 1, 2, 3]], np.int32)))
    x, y = half * np.array([[-1, 1, 1, -1], [-1, -1, 1, 1]])
    places = np.stack([x, y, np.full(4, z)], 1).astype(np.float32)
    return DrawItem(mesh, places, None, Look((1.0, 0.0, 0.0, 1.0), shading="unlit"))


@pytest.mark.parametrize("samples", [1, 4])
def test_what_is_nearer_covers_it(samples: int) -> None:
    backdrop = soft()
    camera = Camera((0, 0, 0), (0.02, 0.01, -1), fov=0.8)
    bare = shot(backdrop, camera, (), samples)
    item = quad(-4.0, 0.613)
    seen = shot(backdrop, camera, (item,), samples)
    is_red = (seen == (255, 0, 0, 255)).all(-1)
    assert 300 < is_red.sum() < 2000
    is_bare = (np.abs(seen - bare) <= 1).all(-1)
    edge = ~is_red & ~is_bare
    assert edge.any() == (samples == 4)
    # Edges are between the two, in linear light.
    low = np.minimum(bare, (255, 0, 0, 255)) - 1
    high = np.maximum(bare, (255, 0, 0, 255)) + 1
    assert ((seen >= low) & (seen <= high)).all()
    look = replace(item.look, colour=(1.0, 0.0, 0.0, 0.5), alpha="blend")
    clear = shot(backdrop, camera, (replace(item, look=look),), samples)
    half = 255 * np.power(0.5 * (bare[is_red] / 255) ** 2.2 + [0.5, 0, 0, 1], 1 / 2.2)
    assert np.abs(clear[is_red][:, :3] - half[:, :3]).max() < 6


def test_every_level_comes_back_from_linear_light() -> None:
    pixels = np.full((8, 256, 4), 255, np.uint8)
    pixels[..., :3] = np.arange(256)[:, None]
    backdrop = DrawBackdrop(pixels, -1.0, 1.0)
    camera = Camera((0, 0, 0), (0, 0, -1), fov=0.8)
    alone = shot(backdrop, camera)
    lines = shot(backdrop, camera, (quad(-0.5, 0.004),))
    is_red = (lines == (255, 0, 0, 255)).all(-1)
    assert 0 < is_red.sum() < 40
    assert (lines[~is_red] == alone[~is_red]).all()


def test_any_number_of_threads_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for count in ("1", "3"):
        monkeypatch.setenv("FLEXOR_THREADS", count)
        found.append(shot(soft(), toward(0.4, 0.3), (quad(-4, 1.0),), 4))
    assert (found[0] == found[1]).all()


def test_smaller_levels_are_means() -> None:
    backdrop = soft(64, 33)
    assert [level.shape for level in backdrop.levels] == [(33, 64), (16, 32), (8, 16)]
    small = backdrop.levels[1][..., None].view(np.uint8)
    blocks = backdrop.pixels[:32].reshape(16, 2, 32, 2, 4).mean((1, 3))
    assert np.abs(small - blocks).max() <= 0.5


def test_what_is_no_backdrop_is_refused() -> None:
    with pytest.raises(ShapeError, match="a power of two"):
        DrawBackdrop(np.zeros((4, 12, 4), np.uint8), 0, 1)
    with pytest.raises(ShapeError, match="pixels"):
        DrawBackdrop(np.zeros((0, 16, 4), np.uint8), 0, 1)
    with pytest.raises(SettingError, match="low below high"):
        DrawBackdrop(np.zeros((4, 16, 4), np.uint8), 1, 1)
    with pytest.raises(SettingError, match="low"):
        DrawBackdrop(np.zeros((4, 16, 4), np.uint8), "1", 2)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="backdrop: 'sky'"):
        DrawList(Camera(), backdrop="sky")  # type: ignore[arg-type]
