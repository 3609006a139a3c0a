"""Footballs: their picture, the sphere it lies on, and many of them in one item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.balls import (
    AROUND,
    DOWN,
    BallAssets,
    ball_picture,
    build_balls,
    upload_ball,
)
from flexor.draw.target import init_target
from flexor.errors import SettingError, ShapeError
from flexor.maths.quaternions import multiply
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light

Rng = np.random.Generator
STILL = np.array([[0, 0, 0, 1]], np.float32)


def recorded() -> tuple[BallAssets, Any, Any]:
    """A ball, its mesh and its texture."""
    backend: Any = open_backend("record")
    assets = upload_ball(backend)
    return assets, backend.meshes[assets.mesh], backend.textures[assets.texture]


def patches(is_set: Any) -> int:
    """Connected areas of a picture whose left and right sides meet."""
    from scipy import ndimage

    labels, count = ndimage.label(is_set)
    pairs = {(a, b) for a, b in labels[:, [0, -1]].tolist() if a and b}
    group = list(range(count + 1))
    for a, b in pairs:
        group = [group[a] if g == group[b] else g for g in group]
    return len(set(group[1:]))


def sky(side: int) -> Any:
    """Share of the sphere that each row of a picture has, (side, 1)."""
    rows = np.sin((np.arange(side) + 0.5) / side * np.pi)
    return (rows / rows.sum() / (2 * side))[:, None]


@pytest.mark.parametrize("side", [64, 256])
def test_a_ball_has_twelve_pentagons_alike(side: int) -> None:
    from scipy import ndimage

    picture = ball_picture(side)
    assert picture.shape == (side, 2 * side, 4)
    assert picture.dtype == np.uint8
    assert (picture[..., 3] == 255).all()
    is_dark = picture[..., 0] < 90
    assert patches(is_dark) == 12
    # Rolled by half of it, other pentagons lie on the seam: none was cut or doubled.
    assert patches(np.roll(is_dark, side, 1)) == 12
    labels, count = ndimage.label(np.roll(is_dark, side // 8, 1))
    shares = (labels == np.arange(1, count + 1)[:, None, None]) * sky(side)
    sizes = np.sort(shares.sum((1, 2)))[-8:]  # those that are not on the seam
    # A pentagon of a truncated icosahedron is 2.4 % of all that is seen from within.
    np.testing.assert_allclose(sizes, sizes.mean(), rtol=0.1)
    assert 0.02 < sizes.mean() < 0.028


def test_seams_are_thin_and_close_twenty_hexagons() -> None:
    picture = ball_picture(512)[..., 0]
    is_white = picture > 225
    assert patches(is_white) == 20
    is_seam = (picture > 120) & (picture < 220)
    assert 0.005 < (is_seam * sky(512)).sum() < 0.08


def test_its_edges_are_smooth_and_its_sides_meet() -> None:
    grey = ball_picture(256)[..., 0].astype(int)
    assert len(np.unique(grey)) > 100
    # Between the last column and the first there is no more than between any two.
    steps = np.abs(np.diff(grey, axis=1))
    assert np.abs(grey[:, 0] - grey[:, -1]).max() <= steps.max()
    np.testing.assert_array_equal(grey, np.roll(grey, 256, 1))  # turned by half


def test_a_picture_without_pixels_is_refused() -> None:
    with pytest.raises(SettingError, match="side: 1"):
        ball_picture(1)


def test_the_sphere_is_closed_and_faces_outward() -> None:
    assets, mesh, _ = recorded()
    sphere = assets.sphere
    assert sphere.shape == ((AROUND + 1) * (DOWN + 1), 3)
    np.testing.assert_allclose(np.linalg.norm(sphere, axis=1), 1, atol=1e-6)
    a, b, c = sphere[mesh.faces].swapaxes(0, 1).astype(np.float64)
    outward = (np.cross(b - a, c - a) * (a + b + c)).sum(1)
    assert (outward > 0).all()
    np.testing.assert_allclose(sphere[mesh.welded], sphere, atol=1e-6)
    faces = mesh.welded[mesh.faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges)
    assert {(b, a) for a, b in there} == there


def test_texture_and_sphere_agree() -> None:
    """What the picture shows in a texel lies in that direction: pentagons first."""
    assets, mesh, texture = recorded()
    golden = (1 + 5**0.5) / 2
    pentagon = np.array([0, 1, golden]) / np.hypot(1, golden)
    a, b, c = assets.sphere[mesh.faces].swapaxes(0, 1).astype(np.float64)
    middles = (a + b + c) / 3
    face = (middles @ pentagon).argmax()
    u, v = mesh.texcoords[mesh.faces[face]].mean(0)
    side = texture.pixels.shape[0]
    assert texture.pixels[int(v * side), int(u * 2 * side), 0] < 60
    whole = np.ptp(mesh.texcoords[mesh.faces], axis=1)
    assert (whole <= np.array([1 / AROUND, 1 / DOWN]) + 1e-6).all()  # none wraps
    assert texture.wrap_s == "repeat"


def test_balls_turn_with_their_quaternions(rng: Rng) -> None:
    assets, _, _ = recorded()
    half = np.sqrt(0.5)
    # A quarter about y takes +z to +x, then a quarter about x takes +y to +z.
    about_y, about_x = np.array([0, half, 0, half]), np.array([half, 0, 0, half])
    q = np.stack([STILL[0], about_y, about_x, multiply(about_x, about_y)])
    places = rng.normal(size=(4, 3)).astype(np.float32)
    radii = np.array([0.11, 0.2, 1, 2], np.float32)
    item = build_balls(assets, places, q.astype(np.float32), radii)
    x, y, z = assets.sphere.T
    for row, way in enumerate([(x, y, z), (z, y, -x), (x, -z, y), (z, x, y)]):
        turned = np.stack(way, 1)
        assert item.normals is not None
        np.testing.assert_allclose(item.normals[row], turned, atol=1e-6)
        np.testing.assert_allclose(
            item.positions[row], places[row] + radii[row] * turned, atol=1e-6
        )


def test_tints_are_for_each_or_for_all() -> None:
    assets, _, _ = recorded()
    places, turns = np.zeros((2, 3), np.float32), np.repeat(STILL, 2, 0)
    plain = build_balls(assets, places, turns, 0.11)
    assert plain.tints is None
    assert plain.look is not None
    assert plain.look.texture == assets.texture
    one = build_balls(assets, places, turns, 0.11, (1, 0, 0, 1))
    assert one.tints is not None
    assert one.tints.tolist() == [[1, 0, 0, 1]] * 2
    each = build_balls(assets, places, turns, 0.11, np.eye(4, dtype=np.float32)[:2])
    assert each.tints is not None
    assert each.tints.tolist() == np.eye(4)[:2].tolist()
    with pytest.raises(ShapeError, match="rotations"):
        build_balls(assets, places, STILL, 0.11)


def test_a_ball_is_seen_as_its_picture() -> None:
    """Drawn: round, and dark where a pentagon faces the camera."""
    backend = open_backend("raster")
    assets = upload_ball(backend)
    golden = (1 + 5**0.5) / 2
    target = init_target((96, 96), 1)

    def seen(way: Any) -> Any:
        eye = tuple((np.array(way) / np.linalg.norm(way) * 4).tolist())
        camera = Camera(eye, (0, 0, 0), height=2.4)
        item = build_balls(assets, np.zeros((1, 3), np.float32), STILL, 1.0)
        light = (Light("ambient", (1.0, 1.0, 1.0)),)
        scene = DrawList(camera, (item,), (), light, background=(0, 0, 255, 255))
        return backend.draw(scene, target).astype(int)

    pentagon = seen((0, 1, golden))
    is_ball = pentagon[..., 2] - pentagon[..., 0] < 100
    assert is_ball.sum() == pytest.approx(np.pi * 40**2, rel=0.02)
    assert pentagon[46:50, 46:50, 0].max() < 60
    hexagon = seen((1, 1, 1))
    assert hexagon[46:50, 46:50, 0].min() > 215
    assert patches(is_ball & (pentagon[..., 0] < 60)) == 1 + 5  # it and those around it
