"""Lines: width in pixels, ends, depth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawLines, Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import CLEAR, at_pixels, draw, floats, put, rectangle

SIZE = (40, 32)
WHITE = floats([1, 1, 1, 1])


def line(start: Any, end: Any, width: float = 1.0, z: Any = 0.0, **more: Any) -> Any:
    points = at_pixels([[start, end]], SIZE, z)
    return DrawLines(points, more.pop("colours", WHITE), width, **more)


def filled(backend: Backend, *lines: DrawLines, samples: int = 1, **more: Any) -> Any:
    """How much of each pixel is covered, 0 to 1."""
    more = {"background": CLEAR, **more}
    picture = draw(backend, SIZE, lines=lines, samples=samples, **more).colour
    return picture[..., 3] / 255


@pytest.mark.parametrize("width", [1, 2, 3, 4, 6])
def test_level_line_has_its_width(backend: Backend, width: int) -> None:
    """Between whole pixels, with half the width beyond each end."""
    y = 16 + (width % 2) / 2
    have = filled(backend, line((10, y), (20, y), width)) > 0
    rows, columns = np.nonzero(have)
    assert have.sum() == len(np.unique(rows)) * len(np.unique(columns))
    assert len(np.unique(rows)) == width
    assert abs(rows.mean() + 0.5 - y) < 1e-6
    assert len(np.unique(columns)) == 10 + width
    assert abs(columns.mean() + 0.5 - 15) <= 0.5


@pytest.mark.parametrize("width", [2, 4])
def test_upright_line_has_its_width(backend: Backend, width: int) -> None:
    have = filled(backend, line((12, 25), (12, 6), width)) > 0
    wanted = np.zeros(SIZE[::-1], bool)
    half = width // 2
    wanted[6 - half : 25 + half, 12 - half : 12 + half] = True
    assert (have == wanted).all()


def test_line_across_the_whole_picture(backend: Backend) -> None:
    have = filled(backend, line((-100, 16), (200, 16), 2)) > 0
    assert have[15:17].all()
    assert have.sum() == 2 * 40


@pytest.mark.parametrize("width", [1.0, 1.5, 2.7, 5.0])
@pytest.mark.parametrize("angle", [0.2, 0.7, 1.1, 2.0, 2.9])
def test_slanted_line_has_its_area(
    backend: Backend, angle: float, width: float
) -> None:
    """Length and width as they are measured along the line."""
    way = np.array([math.cos(angle), math.sin(angle)]) * 10
    ends = np.array([20.3, 15.6]) + np.outer([-1, 1], way)
    have = filled(backend, line(*ends, width), samples=4)
    area = width * (20 + width)
    assert abs(have.sum() - area) < 0.08 * area + 1
    y, x = np.nonzero(have)
    across = abs((x + 0.5 - 20.3) * way[1] - (y + 0.5 - 15.6) * way[0]) / 10
    along = abs((x + 0.5 - 20.3) * way[0] + (y + 0.5 - 15.6) * way[1]) / 10
    assert across.max() < width / 2 + 0.8
    assert along.max() < 10 + width / 2 + 0.8


def test_thin_line_has_no_gap(backend: Backend) -> None:
    """A line one pixel wide touches every column it goes through."""
    have = filled(backend, line((3, 4), (37, 21), 1)) > 0
    assert have[:, 3:37].any(0).all()


def test_line_of_no_length_is_a_square(backend: Backend) -> None:
    have = filled(backend, line((10, 10), (10, 10), 4)) > 0
    wanted = np.zeros(SIZE[::-1], bool)
    wanted[8:12, 8:12] = True
    assert (have == wanted).all()


def test_line_along_the_view_is_a_square(backend: Backend) -> None:
    """Seen from its end, and as near as its nearer end."""
    along = line((10, 10), (10, 10), 4, z=[0.0, 9.0])
    target = draw(backend, SIZE, lines=[along], buffers=("part",))
    assert (target.part >= 0).sum() == 16


def test_lines_of_a_chain_join(backend: Backend) -> None:
    """No notch at a corner: its square belongs to both."""
    chain = [line((5, 5), (25, 5), 4), line((25, 5), (25, 25), 4)]
    have = filled(backend, *chain) > 0
    assert have[3:7, 23:27].all()


def test_each_line_has_its_colour(backend: Backend) -> None:
    points = at_pixels([[(5, 4), (35, 4)], [(5, 12), (35, 12)]], SIZE)
    colours = floats([(1, 0, 0, 1), (0, 0, 1, 1)])
    two = DrawLines(points, colours, 2, part=4)
    target = draw(backend, SIZE, lines=[two], buffers=("part", "normal", "heat"))
    assert target.colour[4, 20].tolist() == [255, 0, 0, 255]
    assert target.colour[12, 20].tolist() == [0, 0, 255, 255]
    assert (target.part[[4, 12], 20] == 4).all()
    assert (target.part[8] == -1).all()
    assert not target.normal.any()
    assert np.isnan(target.heat).all()


def test_each_line_has_its_alpha(backend: Backend) -> None:
    """A line that is seen through does not make those beside it so."""
    points = at_pixels([[(5, 4), (35, 4)], [(5, 12), (35, 12)]], SIZE)
    colours = floats([(1, 0, 0, 1), (0, 0, 1, 0.5)])
    target = draw(
        backend, SIZE, lines=[DrawLines(points, colours, 2)], buffers=("part",)
    )
    assert target.colour[4, 20].tolist() == [255, 0, 0, 255]
    assert target.part[4, 20] == 0
    assert target.part[12, 20] == -1
    assert abs(target.colour[12, 20].astype(int) - [0, 0, 188, 255]).max() <= 1


def test_lines_are_not_lit(backend: Backend) -> None:
    target = draw(backend, SIZE, lines=[line((5, 4), (35, 4), 2)], lights=())
    assert target.colour[4, 20].tolist() == [255] * 4


def test_depth_hides_lines_and_lines_hide(backend: Backend) -> None:
    wall = put(
        backend,
        rectangle(SIZE, (10, 0, 30, 32)),
        Look(shading="unlit", colour=(1, 0, 0, 1)),
        part=1,
    )
    behind = line((0, 10), (40, 10), 2, z=-1.0, part=2)
    before = line((0, 20), (40, 20), 2, z=1.0, part=3)
    target = draw(
        backend, SIZE, [wall], lines=[behind, before], buffers=("part", "depth")
    )
    assert (target.part[10, 10:30] == 1).all()
    assert (target.part[10, :10] == 2).all()
    assert (target.part[20] == 3).all()
    assert (target.colour[10, 10:30] == [255, 0, 0, 255]).all()
    assert (target.colour[20] == 255).all()
    np.testing.assert_allclose(target.depth[10, :10], 101, rtol=1e-6)
    np.testing.assert_allclose(target.depth[20], 99, rtol=1e-6)


def test_line_through_a_wall(backend: Backend) -> None:
    """A line that comes out of a wall is seen from there on."""
    wall = put(backend, rectangle(SIZE), Look(shading="unlit", colour=(1, 0, 0, 1)))
    slanted = line((0, 16), (40, 16), 2, z=[-20.0, 20.0])
    row = draw(backend, SIZE, [wall], lines=[slanted]).colour[16, :, 1]
    assert not row[:19].any()
    assert (row[21:] == 255).all()


def test_depth_along_a_line_with_perspective(backend: Backend) -> None:
    size = (64, 48)
    camera = Camera((0, 0, 2), (0, 0, 0), fov=1.0)
    points = floats([[(-1, 0.3, 0.5), (1, -0.2, -6)]])
    lines = DrawLines(points, WHITE, 3, part=0)
    target = draw(backend, size, lines=[lines], camera=camera, buffers=("depth",))
    seen = camera.project(points[0], size)
    for share in (0.1, 0.4, 0.8):
        x, y = seen[0, :2] + (seen[1, :2] - seen[0, :2]) * share
        wanted = 1 / (1 / seen[0, 2] + (1 / seen[1, 2] - 1 / seen[0, 2]) * share)
        have = target.depth[int(y), int(x)]
        assert abs(have / wanted - 1) < 0.05


def test_prolonged_ends_keep_their_depth(backend: Backend) -> None:
    """Beyond its points a steep line goes on at the distance of the point."""
    steep = line((10, 16), (30, 16), 4, z=[0.0, 40.0])
    depth = draw(backend, SIZE, lines=[steep], buffers=("depth",)).depth[16]
    np.testing.assert_allclose(depth[8:10], 100, atol=1e-3)
    np.testing.assert_allclose(depth[30:32], 60, atol=1e-3)
    np.testing.assert_allclose(depth[10:30], 100 - 2 * (np.arange(20) + 0.5), atol=0.01)


def test_near_cuts_lines(backend: Backend) -> None:
    """From behind the camera to before it: what is before is drawn."""
    size = (64, 48)
    camera = Camera((0, 0, 0), (0, 0, -1), fov=1.0, near=0.5)
    points = floats([[(0.3, -0.5, 4), (0.1, 0.1, -4)]])
    lines = DrawLines(points, WHITE, 2)
    target = draw(backend, size, lines=[lines], camera=camera, buffers=("depth",))
    depth = target.depth[np.isfinite(target.depth)]
    assert len(depth) > 8
    assert depth.min() >= 0.5 - 1e-4
    assert depth.max() <= 4 + 1e-4
    behind = DrawLines(floats([[(0, 0, 3), (0, 1, 4)]]), WHITE, 2)
    empty = draw(backend, size, lines=[behind], camera=camera, buffers=("part",))
    assert (empty.part == -1).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_lines_that_are_not_finite_are_left_out(backend: Backend, bad: float) -> None:
    points = at_pixels([[(5, 4), (35, 4)], [(5, 12), (35, 12)]], SIZE)
    points[0, 1, 0] = bad
    target = draw(backend, SIZE, lines=[DrawLines(points, WHITE, 2)], buffers=("part",))
    assert (target.part[4] == -1).all()
    assert (target.part[12, 5:35] == 0).all()


@pytest.mark.parametrize("far", [1e4, 1e6, 1e9])
def test_ends_far_outside(backend: Backend, far: float) -> None:
    have = filled(backend, line((20 - far, 16), (20 + far, 16), 2)) > 0
    assert have[15:17].all()
    assert have.sum() == 2 * 40


def test_no_lines(backend: Backend) -> None:
    none = DrawLines(floats(np.zeros((0, 2, 3))), floats(np.zeros((0, 4))), 2)
    one_colour = DrawLines(floats(np.zeros((0, 2, 3))), WHITE, 2)
    assert not filled(backend, none, one_colour).any()


def test_layer_1_is_over_all(backend: Backend) -> None:
    wall = put(backend, rectangle(SIZE, z=50), Look(shading="unlit"), part=1)
    over = line((0, 16), (40, 16), 2, z=-50.0, layer=1, colours=floats([1, 0, 0, 1]))
    target = draw(backend, SIZE, [wall], lines=[over], buffers=("part",))
    assert (target.colour[16] == [255, 0, 0, 255]).all()
    assert (target.part == 1).all()


def test_width_in_pixels_at_any_distance(backend: Backend) -> None:
    """Perspective makes lines shorter, not thinner."""
    size = (64, 64)
    camera = Camera((0, 0, 0), (0, 0, -1), fov=1.0)
    for distance in (1.0, 10.0, 300.0):
        points = floats([[(-distance, 0, -distance), (distance, 0, -distance)]])
        have = draw(
            backend, size, lines=[DrawLines(points, WHITE, 4)], camera=camera
        ).colour[..., 0]
        assert ((have > 0).sum(0) == 4).all()
