"""Which pixels and samples a triangle covers: exactly, and as a share of its area."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import CLEAR, Shape, at_pixels, draw, floats, put, rectangle

SIZE = (32, 24)
OFFSETS = {1: [(0, 0)], 4: [(-2, -6), (6, -2), (-6, 2), (2, 6)]}


def covered(backend: Backend, places: Any, samples: int = 1, cull: str = "back") -> Any:
    """Samples (H, W) of each pixel that one triangle at pixels (3, 2) has."""
    shape = Shape(at_pixels(places, SIZE), [[0, 1, 2]])
    look = Look(shading="unlit", cull=cull)
    target = draw(
        backend, SIZE, put(backend, shape, look), samples=samples, background=CLEAR
    )
    return np.round(target.colour[..., 3] / 255 * samples).astype(int)


def expected(places: Any, samples: int = 1) -> Any:
    """The same by whole numbers: samples are moved right by almost nothing, and down by
    almost nothing of that, so that none is on an edge.
    """
    least = 1 << 24
    corners = [(int(x) * least**2, int(y) * least**2) for x, y in places * 256]
    count = np.zeros(SIZE[::-1], int)
    for dx, dy in OFFSETS[samples]:
        row, column = np.mgrid[: SIZE[1], : SIZE[0]]
        x = (column * 256 + 128 + dx * 16).astype(object) * least**2 + least
        y = (row * 256 + 128 + dy * 16).astype(object) * least**2 + 1
        sides = []
        for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
            sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0)
        # y is downward: counter-clockwise from the front means that all are false.
        count += ~np.logical_or.reduce(sides).astype(bool)
    return count


def counter_clockwise(places: Any) -> Any:
    """Corners (3, 2) in the order of a front face; None if there is no area."""
    (ax, ay), (bx, by), (cx, cy) = places
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0:
        return None
    return places if area < 0 else places[::-1]


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("steps", [1, 2, 16, 256])
def test_exactly_the_samples_inside(
    backend: Backend, rng: np.random.Generator, steps: int, samples: int
) -> None:
    """Corners on the pixels' corners, centres, samples and anywhere."""
    for _ in range(25):
        places = rng.integers(-4 * steps, 36 * steps, (3, 2)) / steps
        around = counter_clockwise(places)
        if around is not None:
            have = covered(backend, around, samples)
            assert (have == expected(around, samples)).all(), around * 256


@pytest.mark.parametrize("steps", [2, 256])
def test_small_ones_have_their_sample_or_none(
    backend: Backend, rng: np.random.Generator, steps: int
) -> None:
    """Hardly larger than a pixel: those without a sample are told early."""
    seen = []
    for _ in range(60):
        corner = rng.integers(0, 20, 2)
        places = corner + rng.integers(0, 2 * steps + 1, (3, 2)) / steps
        around = counter_clockwise(places)
        if around is not None:
            have = covered(backend, around)
            assert (have == expected(around)).all(), around * 256
            seen.append(have.sum())
    assert min(seen) == 0 < max(seen)


def test_pixel_centres_on_edges(backend: Backend) -> None:
    """A rectangle from centre to centre has its top and left pixels only."""
    item = put(backend, rectangle(SIZE, (2.5, 3.5, 10.5, 9.5)))
    filled = draw(backend, SIZE, item, background=CLEAR).colour[..., 3] > 0
    wanted = np.zeros_like(filled)
    wanted[3:9, 2:10] = True
    assert (filled == wanted).all()


@pytest.mark.parametrize("samples", [1, 4])
def test_count_is_the_area(
    backend: Backend, rng: np.random.Generator, samples: int
) -> None:
    """On average over triangles anywhere, the covered share is the area."""
    wrong = []
    for _ in range(60):
        places = counter_clockwise(
            rng.integers([0, 0], [SIZE[0] * 256 + 1, SIZE[1] * 256 + 1], (3, 2)) / 256
        )
        u, v = places[1] - places[0], places[2] - places[0]
        area = abs(u[0] * v[1] - u[1] * v[0]) / 2
        count = covered(backend, places, samples).sum() / samples
        length = sum(np.linalg.norm(places[n] - places[n - 1]) for n in range(3))
        assert abs(count - area) < length / 2 / samples + 1
        wrong.append(count - area)
    assert abs(np.mean(wrong)) < 0.4


def test_four_samples_are_nearer_the_area(
    backend: Backend, rng: np.random.Generator
) -> None:
    wrong = {1: 0.0, 4: 0.0}
    for _ in range(40):
        places = counter_clockwise(rng.integers(0, 20 * 256, (3, 2)) / 256)
        u, v = places[1] - places[0], places[2] - places[0]
        area = abs(u[0] * v[1] - u[1] * v[0]) / 2
        for samples in wrong:
            count = covered(backend, places, samples).sum() / samples
            wrong[samples] += (count - area) ** 2
    assert wrong[4] < wrong[1] / 2


def test_half_covered_pixel(backend: Backend) -> None:
    """White over black to the middle of a pixel: half of the light, and half there."""
    item = put(backend, rectangle(SIZE, (0, 0, 4.5, 24)))
    over = draw(backend, SIZE, item, samples=4).colour
    assert over[5, 3:6, 0].tolist() == [255, 188, 0]
    alone = draw(backend, SIZE, item, samples=4, background=CLEAR).colour
    assert alone[5, 3:6].tolist() == [[255] * 4, [255, 255, 255, 128], [0] * 4]


@pytest.mark.parametrize("samples", [1, 4])
def test_back_faces_are_left_out(backend: Backend, samples: int) -> None:
    places = np.array([(2.0, 2.0), (20.0, 3.0), (5.0, 20.0)])
    assert not covered(backend, places, samples).any()
    both = covered(backend, places, samples, cull="none")
    assert (both == covered(backend, places[::-1], samples)).all()
    assert both.any()


@pytest.mark.parametrize(
    "places",
    [
        [(3, 3), (3, 3), (9, 9)],
        [(3, 3), (9, 9), (15, 15)],
        [(3, 3), (9, 3), (20, 3)],
        [(3, 3), (3.001, 3), (3, 3.001)],
        [(5, 5), (5, 5), (5, 5)],
    ],
    ids=["two corners", "slanted line", "flat line", "below a step", "point"],
)
def test_no_area_no_pixel(backend: Backend, places: Any) -> None:
    for order in (places, places[::-1]):
        assert not covered(backend, np.array(order), 4, cull="none").any()


@pytest.mark.parametrize("far", [40, 1e3, 1e6, 2e7, 1e12, 1e15])
def test_corner_far_outside(backend: Backend, far: float) -> None:
    """Half of the picture, however far away the corners are."""
    # From the middle of the picture, so that these are exact in float32.
    places = np.array(
        [(16 - far, 12 - far), (16 - far, 12 + far), (16 + far, 12 + far)]
    )
    have = covered(backend, places)
    row, column = np.mgrid[: SIZE[1], : SIZE[0]] - np.array([12, 16])[:, None, None]
    near_edge = abs(row - column) <= (0 if far < 1e6 else 1)
    assert ((have > 0) == (row > column))[~near_edge].all()
    if far < 1e6:
        assert (have == expected(places)).all()


@pytest.mark.parametrize("far", [1e20, 1e30, 3e38])
def test_corner_farther_than_can_be_told(backend: Backend, far: float) -> None:
    """Nothing stops, and what is beside it is drawn."""
    wide = np.array([(-far, -far), (-far, far), (far, far)])
    shape = Shape(floats(np.insert(wide, 2, -50.0, 1)), [[0, 1, 2]])
    items = [put(backend, shape), put(backend, rectangle(SIZE, (4, 4, 9, 9)))]
    target = draw(backend, SIZE, items, buffers=("part",))
    assert (target.part[4:9, 4:9] == 0).all()
    draw(backend, SIZE, items, camera=Camera((0, 0, 3), (0, 0, 0)))


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (65, 33), (3, 130), (129, 2)])
@pytest.mark.parametrize("samples", [1, 4])
def test_odd_sizes(backend: Backend, size: tuple[int, int], samples: int) -> None:
    """The whole picture is filled, to the last row and column."""
    item = put(backend, rectangle(size))
    assert (draw(backend, size, item, samples=samples).colour == 255).all()
    width, height = size
    inner = put(backend, rectangle(size, (0, 0, width - 0.5, height - 0.5)))
    alpha = draw(backend, size, inner, background=CLEAR).colour[..., 3]
    assert (alpha[:-1, :-1] == 255).all()
    assert not alpha[-1].any()
    assert not alpha[:, -1].any()
