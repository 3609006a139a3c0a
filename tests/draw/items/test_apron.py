"""What is around a ground: it goes on, and fades into haze."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import open_backend
from flexor.draw.drawlist import DrawList
from flexor.draw.items.apron import (
    BLENDS,
    FEWEST,
    LAND,
    RINGS,
    build_apron,
    upload_apron,
)
from flexor.draw.items.ground.build import build_ground, upload_ground
from flexor.draw.items.ground.picture import COLOURS
from flexor.draw.target import init_target
from flexor.maths.colour import srgb_from_linear
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from flexor.scene.stage.ground import flat_ground, make_ground
from tests.oracle.movement import look_down

PAPER = (0.3, 0.45, 0.6)


def bumpy() -> Any:
    rng = np.random.default_rng(5)
    return make_ground(
        rng.normal(size=(6, 9)), (-2, 1), 0.5, rng.integers(3, size=(5, 8))
    )


def test_an_apron_is_the_ground_that_goes_on() -> None:
    ground, backend = bumpy(), open_backend("record")
    apron = upload_apron(backend, ground)
    for x, y, z in apron.positions:
        assert y == pytest.approx(look_down(ground, float(x), float(z))[0], abs=1e-5)
    low, high = apron.positions.min(0), apron.positions.max(0)
    far = RINGS[-1]
    assert far >= 60
    assert low[[0, 2]].tolist() == [-2 - far, 1 - far]
    assert high[[0, 2]].tolist() == [2 + far, 3.5 + far]


def test_an_apron_lies_all_around_and_not_on_the_ground() -> None:
    ground, backend = bumpy(), open_backend("record")
    apron = upload_apron(backend, ground)
    mesh: Any = backend.meshes[apron.mesh]  # type: ignore[attr-defined]
    corners = apron.positions[mesh.triangles][..., [0, 2]].astype(np.float64)
    a, b, c = np.moveaxis(corners, 1, 0)
    u, v = b - a, c - a
    area = (u[:, 1] * v[:, 0] - u[:, 0] * v[:, 1]) / 2
    assert (area > 0).all(), "seen from above"
    far = RINGS[-1]
    assert area.sum() == pytest.approx((4 + 2 * far) * (2.5 + 2 * far) - 4 * 2.5)
    middle = corners.mean(1)
    inside = (np.abs(middle - (0, 2.25)) < (2, 1.25)).all(1)
    assert not inside.any()
    # Every edge is one of two faces, but those of the ground and of the outer rim.
    edges: dict[Any, int] = {}
    for face in mesh.triangles.tolist():
        for one, two in zip(face, face[1:] + face[:1], strict=True):
            key = (min(one, two), max(one, two))
            edges[key] = edges.get(key, 0) + 1
    lone = [key for key, count in edges.items() if count == 1]
    rows, columns = ground.surfaces.shape
    assert len(lone) == 2 * (rows + columns) + 2 * (min(rows, FEWEST) + FEWEST)
    assert max(edges.values()) == 2


def test_an_apron_fades_into_the_paper() -> None:
    ground = flat_ground(20.0)
    apron = upload_apron(open_backend("record"), ground, "stone")
    item = build_apron(apron, DAYLIGHT, PAPER)
    assert item.colours is not None
    away = np.maximum(np.abs(apron.positions[:, [0, 2]]) - 10, 0)
    away = np.hypot(*away.T)
    is_far = away >= RINGS[-1]
    np.testing.assert_allclose(
        item.colours[is_far, :3], [PAPER] * is_far.sum(), atol=1e-6
    )
    assert (item.colours[:, 3] == 1).all()
    edge = item.colours[away == 0, :3]
    assert len(edge) == 4
    assert np.ptp(edge, axis=0).max() < 1e-6
    order = np.argsort(away)
    assert (np.diff(apron.faded[order]) >= 0).all()
    clear = build_apron(apron, DAYLIGHT, None)
    assert clear.colours is not None
    assert clear.look is not None
    assert clear.look.alpha == "blend"
    np.testing.assert_allclose(clear.colours[:, 3], 1 - apron.faded)


def test_an_apron_begins_as_what_is_at_the_edge() -> None:
    ground = make_ground(np.zeros((5, 5)), (0, 0), 1.0, np.repeat([[0, 0, 2, 1]], 4, 0))
    assert BLENDS < 10.0 in RINGS
    for is_clear, name in ((False, "water"), (True, "floor")):
        apron = upload_apron(open_backend("record"), ground, is_clear=is_clear)
        x, _, z = apron.positions.T
        for place, kind in ((0.0, "grass"), (2.0, name), (4.0, "sand")):
            for beyond, wanted in ((0.0, kind), (10.0, "grass")):
                at = np.interp(place, [0, 4], [-beyond, 4 + beyond])
                (row,) = np.flatnonzero((x == at) & (z == -beyond))
                mean = np.mean(COLOURS[wanted], 0)
                np.testing.assert_allclose(apron.colours[row], mean, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("plain", ["grass", "stone"])
@pytest.mark.parametrize("high", [0.0, 1.0])
def test_nothing_is_seen_of_the_edge(plain: Any, high: float) -> None:
    """Both sides of it are of about one colour, and the horizon is smooth."""
    backend = open_backend("raster")
    ground = make_ground(np.full((3, 3), high), (-4, -4), 4.0)
    items = (
        build_ground(upload_ground(backend, ground, plain)),
        build_apron(upload_apron(backend, ground, plain), DAYLIGHT, PAPER),
    )
    level = srgb_from_linear(np.array(PAPER)).round().astype(int)
    paper = (*level.tolist(), 255)
    camera = Camera((0, 3 + high, 0.5), (0, high, -4), fov=0.4)
    target = init_target((160, 120))
    near = backend.draw(DrawList(camera, items, (), DAYLIGHT, paper), target)
    seen = near[..., :3].astype(float)
    assert np.abs(seen[:40].mean((0, 1)) - seen[80:].mean((0, 1))).max() < 5
    assert (np.abs(seen - level).max(-1) > 8).all(), "no hole between them"
    camera = Camera((0, 2 + high, 4), (0, 1.5 + high, -40), fov=0.7)
    far = backend.draw(DrawList(camera, items, (), DAYLIGHT, paper), target)
    column = far[:, 80, :3].astype(int)
    is_sky = (column == level).all(-1)
    first = int(np.argmin(is_sky))
    assert 20 < first < 100
    assert np.abs(np.diff(column[first - 2 : first + 4], axis=0)).max() < 40


def test_land_far_away_has_its_own_colour() -> None:
    apron = upload_apron(open_backend("record"), flat_ground(20.0), "stone")
    sky = (Light("ambient", (1.0, 1.0, 1.0)),)
    own, land = (
        build_apron(apron, sky, None, colour).colours for colour in (None, PAPER)
    )
    assert own is not None
    assert land is not None
    beyond = np.maximum(np.abs(apron.positions[:, [0, 2]]) - 10, 0)
    away = np.hypot(*beyond.T)
    near, far = away <= LAND[0], away >= LAND[1]
    np.testing.assert_array_equal(own[near], land[near])
    np.testing.assert_allclose(land[far, :3], [PAPER] * far.sum(), atol=1e-6)
